//! Retrieval data sets in the BEIR layout, as they are published.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use docsearch_core::evaluation::exchange::{self, BeirId, Problem, SetQuery, reference};
use docsearch_core::evaluation::judgment::Judgment;
use docsearch_readers::document::Document;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::loading::index;
use crate::process::error::Error;

/// The documents, one a line.
const CORPUS_FILE: &str = "corpus.jsonl";
/// The first bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
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
        match first_file(directory, &[CORPUS_FILE, FOLDER_FILE]) {
            path if path.ends_with(FOLDER_FILE) => Self::read_folder(directory),
            path => Self::read_file(&path),
        }
    }

    fn read_file(path: &Path) -> Result<Self, Error> {
        let mut documents: Vec<Document> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for line in read_documents(path)? {
            let document = line.into_document(CORPUS_FILE);
            match places.get(&document.slug).and_then(|&place| documents.get(place)) {
                // Some sets repeat documents.
                Some(known) if known.body == document.body && known.title == document.title => {}
                Some(_) => {
                    return Err(Error::Usage(format!(
                        "{CORPUS_FILE} has two documents with the _id \"{}\"",
                        document.slug
                    )));
                }
                None => {
                    places.insert(document.slug.clone(), documents.len());
                    documents.push(document);
                }
            }
        }
        Ok(Self {
            documents,
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

    /// References of judged documents that are not in the corpus.
    pub(crate) fn missing<'a>(&self, judged: impl Iterator<Item = &'a Judgment>) -> Vec<String> {
        let slugs: HashSet<&str> = self.documents.iter().map(|document| document.slug.as_str()).collect();
        let missing = judged.filter(|judgment| !slugs.contains(judgment.slug.as_str()));
        // A slug may contain the sign that separates an anchor.
        let references = missing.map(|judgment| reference(&judgment.slug, &judgment.anchor));
        references
            .filter(|reference| !slugs.contains(reference.as_str()))
            .collect()
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
    id: BeirId,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    text: Value,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

impl CorpusDocument {
    /// The document to index: the id is the slug, `metadata.category` the category.
    fn into_document(self, source_root: &str) -> Document {
        let metadata = self.metadata.unwrap_or_default();
        let category = metadata.get("category").and_then(Value::as_str).map(str::to_owned);
        let slug = String::from(self.id);
        let title = texts(&self.title).join(" ");
        Document {
            title: if title.trim().is_empty() { slug.clone() } else { title },
            body: texts(&self.text).join("\n\n"),
            slug,
            category,
            source_root: source_root.to_owned(),
            metadata,
            ..Document::default()
        }
    }
}

/// The texts of a value in order: itself, or those of its elements.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(elements) => elements.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The first of these files that a folder has, also compressed; the first one if it has none.
pub(crate) fn first_file(directory: &Path, names: &[&str]) -> PathBuf {
    let present = names
        .iter()
        .flat_map(|name| [directory.join(name), directory.join(format!("{name}.gz"))])
        .find(|path| path.exists());
    present.unwrap_or_else(|| directory.join(names.first().unwrap_or(&"")))
}

/// A query and the judgments of documents for it.
#[derive(Debug, Clone)]
pub(crate) struct JudgedQuery {
    pub(crate) query: SetQuery,
    pub(crate) judgments: Vec<Judgment>,
}

/// Reads queries of BEIR or TREC.
pub(crate) fn read_queries(path: &Path) -> Result<Vec<SetQuery>, Error> {
    let text = read_text(path)?;
    exchange::read_queries(&text).map_err(problem_in(path))
}

/// Reads the queries with a relevant document, and their judgments.
pub(crate) fn read_judged(queries: &Path, judgments: &Path) -> Result<Vec<JudgedQuery>, Error> {
    let text = read_text(judgments)?;
    let mut by_query: HashMap<String, Vec<Judgment>> = HashMap::new();
    for (query, judgment) in exchange::read_judgments(&text).map_err(problem_in(judgments))? {
        by_query.entry(query).or_default().push(judgment);
    }
    let judged = read_queries(queries)?.into_iter().filter_map(|query| {
        let judgments = by_query.remove(&query.id)?;
        let is_judged = judgments.iter().any(|judgment| judgment.grade > 0);
        is_judged.then_some(JudgedQuery { query, judgments })
    });
    Ok(judged.collect())
}

fn problem_in(path: &Path) -> impl FnOnce(Problem) -> Error {
    move |problem| Error::Line {
        path: path.to_owned(),
        line: problem.line,
        reason: problem.kind.to_string(),
    }
}

/// Reads the documents of a corpus; blank lines are allowed.
fn read_documents(path: &Path) -> Result<Vec<CorpusDocument>, Error> {
    let mut documents = Vec::new();
    for (number, line) in open(path)?.lines().enumerate() {
        let line = line.map_err(Error::file(path))?;
        if line.trim().is_empty() {
            continue;
        }
        let document = serde_json::from_str(&line).map_err(|error| Error::Line {
            path: path.to_owned(),
            line: number + 1,
            reason: error.to_string(),
        })?;
        documents.push(document);
    }
    Ok(documents)
}

fn read_text(path: &Path) -> Result<String, Error> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).map_err(Error::file(path))?;
    Ok(text)
}

/// Opens a file that may be compressed with gzip.
fn open(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    let mut file = File::open(path).map(BufReader::new).map_err(Error::file(path))?;
    let is_gzip = file.fill_buf().map_err(Error::file(path))?.starts_with(&GZIP);
    Ok(match is_gzip {
        true => Box::new(BufReader::new(MultiGzDecoder::new(file))),
        false => Box::new(file),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

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
    fn two_different_documents_of_one_id_are_refused() {
        let same = file("{\"_id\":\"a\",\"text\":\"x\"}\n{\"_id\":\"a\",\"text\":\"x\"}\n");
        assert_eq!(Corpus::read_file(same.path()).unwrap().documents.len(), 1);
        let corpus = file("{\"_id\":\"a\",\"text\":\"x\"}\n{\"_id\":\"a\",\"text\":\"y\"}\n");
        assert!(matches!(Corpus::read_file(corpus.path()), Err(Error::Usage(_))));
    }

    #[test]
    fn published_sets_are_read_as_they_are() {
        let place = tempfile::tempdir().unwrap();
        let set = place.path();
        let mut corpus = GzEncoder::new(File::create(set.join("corpus.jsonl.gz")).unwrap(), Compression::fast());
        let documents = [
            "{\"_id\": 7, \"title\": null, \"text\": [\"one\", {\"paragraph\": \"two\"}], \"metadata\": null}",
            "{\"_id\": \"docs/a b#c.ipynb_0_2000\", \"text\": \"three\"}",
            "{\"_id\": 7, \"title\": \"\", \"text\": [\"one\", \"two\"]}",
        ];
        corpus.write_all(documents.join("\r\n").as_bytes()).unwrap();
        corpus.finish().unwrap();
        fs::write(
            set.join("queries.jsonl"),
            "{\"_id\": 1, \"text\": \"x\"}\n{\"_id\": 2, \"text\": \"y\"}\n",
        )
        .unwrap();
        fs::create_dir(set.join("qrels")).unwrap();
        let judged = "query-id\tcorpus-id\tscore\n1\tdocs/a b#c.ipynb_0_2000\t1\n1\t7\t0\n";
        fs::write(set.join("qrels/test.tsv"), judged).unwrap();
        let corpus = Corpus::read(set).unwrap();
        let found: Vec<(&str, &str, &str)> = corpus
            .documents
            .iter()
            .map(|document| (document.slug.as_str(), document.title.as_str(), document.body.as_str()))
            .collect();
        let named = "docs/a b#c.ipynb_0_2000";
        assert_eq!(found, [("7", "7", "one\n\ntwo"), (named, named, "three")]);
        let judgments = first_file(set, &["qrels.tsv", "qrels/test.tsv"]);
        let judged = read_judged(&first_file(set, &["queries.jsonl"]), &judgments).unwrap();
        assert_eq!((judged.len(), judged[0].query.id.as_str()), (1, "1"));
        assert!(corpus.missing(judged[0].judgments.iter()).is_empty());
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
        let judged = ["view", "view.md"].map(|slug| Judgment {
            slug: slug.to_owned(),
            anchor: "frame".to_owned(),
            grade: 1,
        });
        assert_eq!(corpus.missing(judged.iter()), ["view.md#frame"]);
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
            let queries = read_judged(&set.join("queries.jsonl"), &set.join("qrels.tsv")).unwrap();
            assert!(
                corpus
                    .missing(queries.iter().flat_map(|judged| &judged.judgments))
                    .is_empty()
            );
            assert!(queries.len() >= at_least);
            assert_eq!(queries.len(), read_queries(&set.join("queries.jsonl")).unwrap().len());
        }
    }

    #[test]
    fn queries_without_a_relevant_document_are_left_out() {
        let queries = file("{\"_id\":\"1\",\"text\":\"x\"}\n{\"_id\":\"2\",\"text\":\"y\"}\n");
        let judgments = file("query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n2\tc\t0\n3\tc\t1\n");
        let judged = read_judged(queries.path(), judgments.path()).unwrap();
        assert_eq!(judged.len(), 1);
        assert_eq!((judged[0].query.id.as_str(), judged[0].judgments.len()), ("1", 2));
    }

    #[test]
    fn errors_in_judgments_have_the_line() {
        let queries = file("1\tx\n");
        let bad = file("query-id\tcorpus-id\tscore\nq1\ta\tgood\n");
        let read = read_judged(queries.path(), bad.path());
        assert!(matches!(read, Err(Error::Line { line: 2, path, .. }) if path == bad.path()));
    }
}
