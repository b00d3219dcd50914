//! Retrieval data sets in the BEIR layout.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use docsearch_readers::document::Document;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::evaluation::metrics::Judgments;
use crate::loading::index;
use crate::process::error::Error;

/// The group of queries without one.
const NO_GROUP: &str = "-";
/// The documents, one a line.
const CORPUS_FILE: &str = "corpus.jsonl";
/// Names the folder with the documents.
const FOLDER_FILE: &str = "corpus.toml";

/// The documents of a data set.
#[derive(Debug)]
pub(crate) struct Corpus {
    /// Documents with distinct slugs.
    pub(crate) documents: Vec<Document>,
    /// The source root of the documents, wherever the data set is.
    pub(crate) source_root: &'static str,
    /// Number of files in the folder that could not be read; each was reported.
    pub(crate) skipped: usize,
}

impl Corpus {
    /// The documents of `corpus.jsonl`, or of the folder that `corpus.toml` names.
    pub(crate) fn read(directory: &Path) -> Result<Self, Error> {
        if directory.join(CORPUS_FILE).exists() || !directory.join(FOLDER_FILE).exists() {
            Self::read_file(&directory.join(CORPUS_FILE))
        } else {
            Self::read_folder(directory)
        }
    }

    fn read_file(path: &Path) -> Result<Self, Error> {
        let lines: Vec<CorpusDocument> = read_lines(path)?;
        let mut slugs = HashSet::with_capacity(lines.len());
        if let Some(line) = lines.iter().find(|line| !slugs.insert(&line.id)) {
            return Err(Error::Usage(format!(
                "{CORPUS_FILE} has two documents with the _id \"{}\"",
                line.id
            )));
        }
        Ok(Self {
            documents: lines.into_iter().map(|line| line.into_document(CORPUS_FILE)).collect(),
            source_root: CORPUS_FILE,
            skipped: 0,
        })
    }

    fn read_folder(directory: &Path) -> Result<Self, Error> {
        let path = directory.join(FOLDER_FILE);
        let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
        let named: CorpusFolder =
            toml::from_str(&text).map_err(|error| Error::Usage(format!("{}: {}", path.display(), error.message())))?;
        let root = directory.join(&named.folder);
        let root = fs::canonicalize(&root).map_err(Error::file(root))?;
        let (documents, skipped) = index::read_folder(&root, FOLDER_FILE)?;
        Ok(Self {
            documents,
            source_root: FOLDER_FILE,
            skipped,
        })
    }

    /// The judged documents that are not in the corpus.
    pub(crate) fn missing<'a>(&self, judged: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
        let slugs: HashSet<&str> = self.documents.iter().map(|document| document.slug.as_str()).collect();
        judged.map(String::as_str).filter(|id| !slugs.contains(id)).collect()
    }
}

/// The contents of `corpus.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CorpusFolder {
    /// Relative to the data set.
    folder: PathBuf,
}

/// A line of `corpus.jsonl`.
#[derive(Debug, Deserialize)]
struct CorpusDocument {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

impl CorpusDocument {
    /// The document to index: the id is the slug, `metadata.category` the category.
    fn into_document(self, source_root: &str) -> Document {
        let metadata = self.metadata.unwrap_or_default();
        let category = metadata.get("category").and_then(Value::as_str).map(str::to_owned);
        Document {
            title: if self.title.trim().is_empty() {
                self.id.clone()
            } else {
                self.title
            },
            slug: self.id,
            body: self.text,
            category,
            source_root: source_root.to_owned(),
            metadata,
            ..Document::default()
        }
    }
}

/// A line of `queries.jsonl`.
#[derive(Debug, Deserialize)]
pub(crate) struct TestQuery {
    #[serde(rename = "_id")]
    pub(crate) id: String,
    pub(crate) text: String,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

impl TestQuery {
    /// The group in the report.
    pub(crate) fn group(&self) -> &str {
        let group = self.metadata.as_ref().and_then(|metadata| metadata.get("group"));
        group.and_then(Value::as_str).unwrap_or(NO_GROUP)
    }
}

/// Reads a file of JSON lines; blank lines are allowed.
pub(crate) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Error> {
    let mut records = Vec::new();
    for (number, line) in open(path)?.lines().enumerate() {
        let line = line.map_err(Error::file(path))?;
        if line.trim().is_empty() {
            continue;
        }
        let record = serde_json::from_str(&line).map_err(|error| Error::Line {
            path: path.to_owned(),
            line: number + 1,
            reason: error.to_string(),
        })?;
        records.push(record);
    }
    Ok(records)
}

/// Reads judgments: a header line, then `query-id`, `corpus-id` and `score` between tabs.
pub(crate) fn read_judgments(path: &Path) -> Result<HashMap<String, Judgments>, Error> {
    let mut judgments: HashMap<String, Judgments> = HashMap::new();
    for (number, line) in open(path)?.lines().enumerate() {
        let line = line.map_err(Error::file(path))?;
        if number == 0 || line.trim().is_empty() {
            continue;
        }
        let (query, document, grade) = judgment(&line).ok_or_else(|| Error::Line {
            path: path.to_owned(),
            line: number + 1,
            reason: "expected query-id, corpus-id and a whole score between tabs".to_owned(),
        })?;
        judgments
            .entry(query.to_owned())
            .or_default()
            .insert(document.to_owned(), grade);
    }
    Ok(judgments)
}

fn judgment(line: &str) -> Option<(&str, &str, i32)> {
    let mut fields = line.trim_end().split('\t');
    let (query, document, score) = (fields.next()?, fields.next()?, fields.next()?);
    Some((query, document, score.trim().parse().ok()?))
}

fn open(path: &Path) -> Result<BufReader<File>, Error> {
    File::open(path).map(BufReader::new).map_err(Error::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn corpus_lines_become_documents() {
        let corpus = file(
            "{\"_id\":\"a/b\",\"title\":\"\",\"text\":\"body\",\"metadata\":{\"category\":\"ref\",\"n\":1}}\n\n{\"_id\":\"c\",\"title\":\"C\",\"text\":\"\"}\n",
        );
        let documents = Corpus::read_file(corpus.path()).unwrap().documents;
        assert_eq!(documents[0].slug, "a/b");
        assert_eq!(documents[0].title, "a/b");
        assert_eq!(documents[0].category.as_deref(), Some("ref"));
        assert_eq!(documents[0].metadata.len(), 2);
        assert_eq!(documents[1].title, "C");
    }

    #[test]
    fn two_documents_of_one_id_are_refused() {
        let corpus = file("{\"_id\":\"a\"}\n{\"_id\":\"a\"}\n");
        assert!(matches!(Corpus::read_file(corpus.path()), Err(Error::Usage(_))));
    }

    #[test]
    fn a_folder_of_pages_is_a_corpus_whose_ids_are_slugs() {
        let place = tempfile::tempdir().unwrap();
        let set = place.path().join("set");
        fs::create_dir_all(&set).unwrap();
        fs::create_dir_all(place.path().join("pages/view")).unwrap();
        fs::write(place.path().join("pages/view/frame.md"), "# frame(width:)\n").unwrap();
        fs::write(place.path().join("pages/view.md"), "---\ntitle: View\n---\n").unwrap();
        fs::write(place.path().join("pages/broken.md"), b"\xff").unwrap();
        fs::write(set.join(FOLDER_FILE), "folder = \"../pages\"\n").unwrap();
        let corpus = Corpus::read(&set).unwrap();
        let pages: Vec<(&str, &str)> = corpus
            .documents
            .iter()
            .map(|document| (document.slug.as_str(), document.title.as_str()))
            .collect();
        assert_eq!(pages, [("view/frame", "frame(width:)"), ("view", "View")]);
        assert_eq!(corpus.skipped, 1);
        let judged = ["view".to_owned(), "view.md".to_owned()];
        assert_eq!(corpus.missing(judged.iter()), ["view.md"]);
    }

    #[test]
    fn a_folder_file_with_another_key_is_refused() {
        let set = tempfile::tempdir().unwrap();
        fs::write(set.path().join(FOLDER_FILE), "directory = \"../pages\"\n").unwrap();
        assert!(matches!(Corpus::read(set.path()), Err(Error::Usage(_))));
    }

    #[test]
    fn the_shipped_judgments_name_pages_that_are_there() {
        let sets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/judgments");
        for (name, at_least) in [("api-lookup", 120), ("intent", 60)] {
            let set = sets.join(name);
            let corpus = Corpus::read(&set).unwrap();
            assert_eq!(corpus.skipped, 0);
            let judgments = read_judgments(&set.join("qrels.tsv")).unwrap();
            assert!(corpus.missing(judgments.values().flat_map(HashMap::keys)).is_empty());
            let queries: Vec<TestQuery> = read_lines(&set.join("queries.jsonl")).unwrap();
            assert!(queries.len() >= at_least);
            assert!(queries.iter().all(|query| judgments.contains_key(&query.id)));
        }
    }

    #[test]
    fn queries_without_a_group_share_one() {
        let queries =
            file("{\"_id\":\"1\",\"text\":\"x\",\"metadata\":{\"group\":\"faq\"}}\n{\"_id\":\"2\",\"text\":\"y\"}\n");
        let queries: Vec<TestQuery> = read_lines(queries.path()).unwrap();
        assert_eq!(queries.iter().map(TestQuery::group).collect::<Vec<_>>(), ["faq", "-"]);
    }

    #[test]
    fn errors_in_judgments_have_the_line() {
        let good = file("query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq2\tc\t1\n");
        let judgments = read_judgments(good.path()).unwrap();
        assert_eq!(judgments["q1"]["a"], 2);
        assert_eq!(judgments.len(), 2);

        let bad = file("query-id\tcorpus-id\tscore\nq1\ta\tgood\n");
        assert!(matches!(read_judgments(bad.path()), Err(Error::Line { line: 2, .. })));
    }
}
