//! Sets of judgments as text: queries and judgments in the forms of BEIR and of TREC, and runs in that of TREC.
//!
//! A judged section is written `slug#anchor`, a judged document `slug`.

use std::collections::HashMap;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::evaluation::judgment::Judgment;

/// Most bytes of the id of a query.
pub const ID_BYTES: usize = 256;

/// Header of judgments without grades.
const UNGRADED_HEADER: &str = "query-id\tcorpus-id";

/// A form of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Form {
    /// Queries are JSON lines with `_id`, `text` and `metadata`; judgments are query, document and grade between tabs below a
    /// header.
    Beir,
    /// Queries are id and text between tabs, or `<top>` elements; judgments are query, iteration, document and grade between
    /// blanks.
    Trec,
}

/// A query of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetQuery {
    /// Unique in its set.
    pub id: String,
    /// What is searched for.
    pub text: String,
    /// Group that it is reported in; empty for none.
    pub group: String,
    /// Further wordings.
    pub also: Vec<String>,
    /// Whether it is known that no document answers it.
    pub unanswerable: bool,
}

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// What is wrong with it.
    pub kind: ProblemKind,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    /// It is no query.
    #[error("expected a JSON object with _id and text, or an id and a text with a tab between them: {0}")]
    NoQuery(String),
    /// The id of a query is blank, too long or has white space.
    #[error("an id has 1 to {ID_BYTES} bytes, without white space")]
    Id,
    /// Two queries have one id.
    #[error("there is an earlier query with the id \"{0}\"")]
    RepeatedId(String),
    /// It is no judgment.
    #[error(
        "expected query, document and a whole grade with tabs between them, or query, iteration, document and grade"
    )]
    NoJudgment,
}

/// A query as BEIR writes it.
#[derive(Debug, Deserialize)]
struct BeirQuery {
    #[serde(rename = "_id")]
    id: BeirId,
    text: String,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

/// The id of a query or document as BEIR writes it. Some sets have numbers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum BeirId {
    /// As most sets have it.
    Text(String),
    /// A number, which judgments write with the same digits.
    Number(serde_json::Number),
}

impl From<BeirId> for String {
    fn from(id: BeirId) -> Self {
        match id {
            BeirId::Text(text) => text,
            BeirId::Number(number) => number.to_string(),
        }
    }
}

/// Queries of either form, in the order of the text.
pub fn read_queries(text: &str) -> Result<Vec<SetQuery>, Problem> {
    let queries = match text.trim_start().starts_with("<top>") {
        true => topics(text),
        false => lines(text).map(|(line, text)| Ok((line, query(line, text)?))).collect(),
    }?;
    let mut read: Vec<SetQuery> = Vec::with_capacity(queries.len());
    let mut places: HashMap<String, usize> = HashMap::new();
    for (line, query) in queries {
        let problem = |kind| Err(Problem { line, kind });
        if query.id.is_empty() || query.id.len() > ID_BYTES || query.id.contains(char::is_whitespace) {
            return problem(ProblemKind::Id);
        }
        match places.get(&query.id) {
            // A line that is repeated as it is does no harm.
            Some(&place) if read[place] == query => {}
            Some(_) => return problem(ProblemKind::RepeatedId(query.id)),
            None => {
                places.insert(query.id.clone(), read.len());
                read.push(query);
            }
        }
    }
    Ok(read)
}

/// Judgments of either form with the id of their query, in the order of the text. A first line without a grade is a header. One of
/// two columns says that every document below is relevant. JSON lines have the keys of BEIR's header.
pub fn read_judgments(text: &str) -> Result<Vec<(String, Judgment)>, Problem> {
    let mut judgments = Vec::new();
    let has_grades = lines(text)
        .next()
        .is_none_or(|(_, first)| first.trim() != UNGRADED_HEADER);
    for (line, text) in lines(text) {
        let read = match (text.trim_start().starts_with('{'), has_grades) {
            (true, _) => json_judgment(text),
            (false, true) => judgment(text),
            (false, false) if line == 1 => None,
            (false, false) => judgment(&format!("{text}\t1")),
        };
        match read {
            Some(judgment) => judgments.push(judgment),
            None if line == 1 => {}
            None => {
                return Err(Problem {
                    line,
                    kind: ProblemKind::NoJudgment,
                });
            }
        }
    }
    Ok(judgments)
}

/// Queries as text, a line each. TREC's form has no groups, no further wordings, and does not say which are unanswerable.
pub fn write_queries(form: Form, queries: &[SetQuery]) -> String {
    let mut text = String::new();
    for query in queries {
        let line = match form {
            Form::Beir => {
                let mut metadata = Map::new();
                if !query.group.is_empty() {
                    metadata.insert("group".to_owned(), query.group.clone().into());
                }
                if !query.also.is_empty() {
                    metadata.insert("also".to_owned(), query.also.clone().into());
                }
                let mut fields = json!({ "_id": query.id, "text": query.text });
                if query.unanswerable {
                    metadata.insert("unanswerable".to_owned(), true.into());
                }
                if !metadata.is_empty() {
                    fields["metadata"] = metadata.into();
                }
                fields.to_string()
            }
            Form::Trec => {
                let words: Vec<&str> = query.text.split_whitespace().collect();
                format!("{}\t{}", query.id, words.join(" "))
            }
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Judgments as text, a line each.
pub fn write_judgments<'a>(form: Form, judgments: impl IntoIterator<Item = &'a (String, Judgment)>) -> String {
    let mut text = match form {
        Form::Beir => "query-id\tcorpus-id\tscore\n".to_owned(),
        Form::Trec => String::new(),
    };
    for (query, judgment) in judgments {
        let document = reference(&judgment.slug, &judgment.anchor);
        let grade = judgment.grade;
        // Writing to a String does not fail.
        let _ = match form {
            Form::Beir => writeln!(text, "{query}\t{document}\t{grade}"),
            Form::Trec => writeln!(text, "{query} 0 {document} {grade}"),
        };
    }
    text
}

/// `slug`, or `slug#anchor`.
pub fn reference(slug: &str, anchor: &str) -> String {
    match anchor {
        "" => slug.to_owned(),
        anchor => format!("{slug}#{anchor}"),
    }
}

/// What [`reference()`] wrote, as slug and anchor. A `#` without an anchor belongs to the slug.
pub fn read_reference(reference: &str) -> (String, String) {
    let section = reference.split_once('#').filter(|(_, anchor)| !anchor.is_empty());
    let (slug, anchor) = section.unwrap_or((reference, ""));
    (slug.to_owned(), anchor.to_owned())
}

/// Lines that are not blank, with their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.trim_start_matches('\u{feff}').lines().zip(1..);
    numbered
        .map(|(line, number)| (number, line))
        .filter(|(_, line)| !line.trim().is_empty())
}

fn query(line: usize, text: &str) -> Result<SetQuery, Problem> {
    let problem = |reason: String| Problem {
        line,
        kind: ProblemKind::NoQuery(reason),
    };
    if text.trim_start().starts_with('{') {
        let given: BeirQuery = serde_json::from_str(text).map_err(|error| problem(error.to_string()))?;
        let metadata = given.metadata.unwrap_or_default();
        let also = metadata.get("also").and_then(Value::as_array);
        let strings = also.into_iter().flatten().filter_map(Value::as_str);
        let group = metadata.get("group").and_then(Value::as_str);
        let unanswerable = metadata.get("unanswerable").and_then(Value::as_bool);
        return Ok(SetQuery {
            unanswerable: unanswerable.unwrap_or(false),
            group: group.unwrap_or_default().to_owned(),
            also: strings.map(str::to_owned).collect(),
            id: given.id.into(),
            text: given.text,
        });
    }
    let (id, text) = text
        .split_once('\t')
        .ok_or_else(|| problem("there is no tab".to_owned()))?;
    Ok(SetQuery {
        id: id.trim().to_owned(),
        text: text.trim().to_owned(),
        ..SetQuery::default()
    })
}

/// Queries of `<top>` elements: the number and the title of each.
fn topics(text: &str) -> Result<Vec<(usize, SetQuery)>, Problem> {
    let mut queries = Vec::new();
    let mut line = 1;
    for topic in text.split_inclusive("</top>") {
        let field = |name: &str| {
            let (_, rest) = topic.split_once(name)?;
            Some(rest.split('<').next().unwrap_or_default().trim())
        };
        if let Some(number) = field("<num>") {
            let title = field("<title>").ok_or_else(|| Problem {
                line,
                kind: ProblemKind::NoQuery("the topic has no title".to_owned()),
            })?;
            let query = SetQuery {
                id: number.trim_start_matches("Number:").trim().to_owned(),
                text: title.split_whitespace().collect::<Vec<_>>().join(" "),
                ..SetQuery::default()
            };
            queries.push((line, query));
        }
        line += topic.matches('\n').count();
    }
    Ok(queries)
}

fn judgment(line: &str) -> Option<(String, Judgment)> {
    let by_tabs: Vec<&str> = line.trim_end().split('\t').collect();
    let fields = match by_tabs.len() {
        3 | 4 => by_tabs,
        _ => line.split_whitespace().collect(),
    };
    let (query, document, grade) = match fields[..] {
        [query, document, grade] | [query, _, document, grade] => (query, document, grade),
        _ => return None,
    };
    let (slug, anchor) = read_reference(document.trim());
    let judgment = Judgment {
        slug,
        anchor,
        grade: whole(grade.trim())?,
    };
    (!query.trim().is_empty() && !judgment.slug.is_empty()).then(|| (query.trim().to_owned(), judgment))
}

/// A judgment as JSON, relevant unless it has a score.
#[derive(Debug, Deserialize)]
struct JsonJudgment {
    #[serde(rename = "query-id")]
    query: BeirId,
    #[serde(rename = "corpus-id")]
    document: BeirId,
    #[serde(default)]
    score: Option<serde_json::Number>,
}

fn json_judgment(line: &str) -> Option<(String, Judgment)> {
    let given: JsonJudgment = serde_json::from_str(line).ok()?;
    let (query, document) = (String::from(given.query), String::from(given.document));
    let grade = given.score.map_or_else(|| "1".to_owned(), |score| score.to_string());
    // Tabs separate columns, and nothing else does.
    judgment(&format!(
        "{}\t{}\t{grade}",
        query.replace('\t', " "),
        document.replace('\t', " ")
    ))
}

/// A whole number; some sets write `1.0`.
fn whole(text: &str) -> Option<i32> {
    let (digits, zeros) = text.split_once('.').unwrap_or((text, ""));
    let is_whole = zeros.chars().all(|digit| digit == '0');
    digits.parse().ok().filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn queries_in_each_form() {
        let beir = read_queries("{\"_id\": \"1\", \"text\": \"a b\", \"metadata\": {\"group\": \"g\"}}\n\n").unwrap();
        assert_eq!(
            (beir[0].id.as_str(), beir[0].text.as_str(), beir[0].group.as_str()),
            ("1", "a b", "g")
        );
        let tabs = read_queries("7\thow to sort\n8\tmerge").unwrap();
        assert_eq!((tabs[0].text.as_str(), tabs[1].id.as_str()), ("how to sort", "8"));
        let topics = "<top>\n<num> Number: 301\n<title> International\nOrganized Crime\n<desc> Description:\n</top>\n\
                      <top>\n<num>302</num>\n<title>Polio</title>\n</top>\n";
        let topics = read_queries(topics).unwrap();
        assert_eq!(
            (topics[0].id.as_str(), topics[0].text.as_str()),
            ("301", "International Organized Crime")
        );
        assert_eq!((topics[1].id.as_str(), topics[1].text.as_str()), ("302", "Polio"));
    }

    #[test]
    fn published_sets_vary() {
        let queries = read_queries(
            "\u{feff}{\"_id\": 75864073, \"text\": \"a\", \"metadata\": null}\r\n{\"_id\": \"b\", \"text\": \"c\", \"metadata\": {\"n\": [1]}}\r\n\
             {\"_id\": \"b\", \"text\": \"c\"}\r\n",
        )
        .unwrap();
        assert_eq!(
            queries.iter().map(|query| query.id.as_str()).collect::<Vec<_>>(),
            ["75864073", "b"]
        );
        let judgments =
            read_judgments("query-id\tcorpus-id\tscore\r\n75864073\tdocs/a b.ipynb_0_2000\t1.0\r\nb\tC#\t0\r\n")
                .unwrap();
        assert_eq!(judgments[0].1.slug, "docs/a b.ipynb_0_2000");
        assert_eq!(judgments[0].1.grade, 1);
        assert_eq!((judgments[1].1.slug.as_str(), judgments[1].1.grade), ("C#", 0));
        assert_eq!(read_judgments("q a 1\nq a 0.5").unwrap_err().line, 2);
        let grades = |text: &str| -> Vec<(String, i32)> {
            let judgments = read_judgments(text).unwrap().into_iter();
            judgments
                .map(|(query, judgment)| (format!("{query} {}", judgment.slug), judgment.grade))
                .collect()
        };
        let both = [("1 a b".to_owned(), 1), ("2 c".to_owned(), 1)];
        assert_eq!(grades("query-id\tcorpus-id\n1\ta b\n2\tc\n"), both);
        assert_eq!(
            grades(
                "{\"query-id\": 1, \"corpus-id\": \"a b\"}\n{\"query-id\": \"2\", \"corpus-id\": \"c\", \"score\": 1.0}"
            ),
            both
        );
    }

    #[test]
    fn judgments_in_each_form() {
        let expected = |anchor: &str| Judgment {
            slug: "a/b".to_owned(),
            anchor: anchor.to_owned(),
            grade: 2,
        };
        let beir = read_judgments("query-id\tcorpus-id\tscore\nq1\ta/b#x\t2\n").unwrap();
        assert_eq!(beir, [("q1".to_owned(), expected("x"))]);
        assert_eq!(read_judgments("q1 0 a/b 2").unwrap(), [("q1".to_owned(), expected(""))]);
    }

    #[test]
    fn problems_name_their_line() {
        let said = |text: &str| read_queries(text).unwrap_err().to_string();
        assert!(said("1\ta\n{\"text\": \"b\"}").starts_with("line 2: expected a JSON object with _id"));
        assert_eq!(
            said("1\ta\n1\tb"),
            "line 2: there is an earlier query with the id \"1\""
        );
        assert!(said("\ta").contains("1 to 256 bytes"));
        assert_eq!(read_judgments("q a 1\nq a x").unwrap_err().line, 2);
    }

    fn name() -> impl Strategy<Value = String> {
        "[a-z0-9/._-]{1,12}"
    }

    proptest! {
        /// No character of a reference is lost.
        #[test]
        fn references_read_back(text in "[a-c/#%]{1,9}") {
            let (slug, anchor) = read_reference(&text);
            prop_assert_eq!(reference(&slug, &anchor), text);
        }

        /// What was written is read back as it was.
        #[test]
        fn judgments_read_back(all in prop::collection::vec((name(), name(), "[a-z-]{0,6}", -1..4i32), 0..20)) {
            let judgments: Vec<(String, Judgment)> = all
                .into_iter()
                .map(|(query, slug, anchor, grade)| (query, Judgment { slug, anchor, grade }))
                .collect();
            for form in Form::VARIANTS {
                prop_assert_eq!(&read_judgments(&write_judgments(*form, &judgments)).unwrap(), &judgments);
            }
        }

        #[test]
        fn queries_read_back(texts in prop::collection::vec(("[^\\s].{0,30}[^\\s]", "[a-z]{0,4}"), 0..20)) {
            let queries: Vec<SetQuery> = texts
                .into_iter()
                .enumerate()
                .map(|(number, (text, group))| SetQuery {
                    unanswerable: number % 3 == 0,
                    id: number.to_string(),
                    text,
                    group,
                    also: Vec::new(),
                })
                .collect();
            prop_assert_eq!(&read_queries(&write_queries(Form::Beir, &queries)).unwrap(), &queries);
            let trec = read_queries(&write_queries(Form::Trec, &queries)).unwrap();
            prop_assert_eq!(trec.len(), queries.len());
        }

        #[test]
        fn no_text_panics(text in ".{0,200}") {
            let _ = (read_queries(&text), read_judgments(&text));
        }
    }
}
