//! Retrieval data sets in BEIR layout.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::Error;
use crate::metrics::Judgments;

/// Group of queries that name none.
const NO_GROUP: &str = "-";

/// A line of `corpus.jsonl`.
#[derive(Debug, Deserialize)]
pub(crate) struct CorpusDocument {
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
    pub(crate) fn into_document(self, source_root: &str) -> Document {
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
pub(crate) struct Query {
    #[serde(rename = "_id")]
    pub(crate) id: String,
    pub(crate) text: String,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

impl Query {
    /// The group it is reported in.
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

fn judgment(line: &str) -> Option<(&str, &str, i64)> {
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
        let documents: Vec<CorpusDocument> = read_lines(corpus.path()).unwrap();
        let documents: Vec<Document> = documents.into_iter().map(|line| line.into_document("eval")).collect();
        assert_eq!(documents[0].slug, "a/b");
        assert_eq!(documents[0].title, "a/b");
        assert_eq!(documents[0].category.as_deref(), Some("ref"));
        assert_eq!(documents[0].metadata.len(), 2);
        assert_eq!(documents[1].title, "C");
    }

    #[test]
    fn queries_without_a_group_share_one() {
        let queries =
            file("{\"_id\":\"1\",\"text\":\"x\",\"metadata\":{\"group\":\"faq\"}}\n{\"_id\":\"2\",\"text\":\"y\"}\n");
        let queries: Vec<Query> = read_lines(queries.path()).unwrap();
        assert_eq!(queries.iter().map(Query::group).collect::<Vec<_>>(), ["faq", "-"]);
    }

    #[test]
    fn judgments_by_query_with_the_line_of_a_mistake() {
        let good = file("query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq2\tc\t1\n");
        let judgments = read_judgments(good.path()).unwrap();
        assert_eq!(judgments["q1"]["a"], 2);
        assert_eq!(judgments.len(), 2);

        let bad = file("query-id\tcorpus-id\tscore\nq1\ta\tgood\n");
        assert!(matches!(read_judgments(bad.path()), Err(Error::Line { line: 2, .. })));
    }
}
