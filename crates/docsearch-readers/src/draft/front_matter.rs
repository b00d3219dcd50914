//! Front matter: the YAML (`---`) or TOML (`+++`) block that opens a page.

use serde::Deserialize;
use serde_json::{Map, Value};

/// Front matter keys that become columns of the document; the first that is present counts.
const SUMMARY_KEYS: [&str; 2] = ["summary", "description"];
const DATE_KEYS: [&str; 4] = ["published_at", "published", "date", "pubDate"];
const SOURCE_URL_KEYS: [&str; 2] = ["source_urls", "source_url"];

/// The front matter of a page. `metadata` has the keys that have no field here.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct FrontMatter {
    pub(crate) title: Option<String>,
    pub(crate) slug: Option<String>,
    pub(crate) category: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) keywords: Vec<String>,
    pub(crate) source_urls: Vec<String>,
    /// ISO 8601, starting with a calendar date.
    pub(crate) published_at: Option<String>,
    /// Unparsed: the headings of the page are needed to read them.
    pub(crate) questions: Option<Value>,
    pub(crate) metadata: Map<String, Value>,
}

impl FrontMatter {
    /// Takes over what an element for search engines says of the page, unless something else says so. Its name may have
    /// attributes: `description lang=en`.
    pub(crate) fn describe(&mut self, name: &str, content: &str) {
        let content = content.split_whitespace().collect::<Vec<_>>().join(" ");
        match name.split_whitespace().next() {
            Some("description") if !content.is_empty() => {
                self.summary.get_or_insert(content);
            }
            Some("keywords") if self.keywords.is_empty() => {
                let keywords = content.split(',').map(|keyword| keyword.trim().to_owned());
                self.keywords = keywords.filter(|keyword| !keyword.is_empty()).collect();
            }
            _ => {}
        }
    }
}

/// A page split at the end of its front matter. `problem` is why front matter could not be read; the body is without it
/// all the same.
#[derive(Debug)]
pub(crate) struct SplitPage<'a> {
    pub(crate) front_matter: FrontMatter,
    pub(crate) body: &'a str,
    pub(crate) problem: Option<String>,
}

/// Scalars keep their spelling: `version: 1.10` is not the number 1.1.
#[derive(Deserialize)]
struct Verbatim {
    version: Option<String>,
}

/// Splits the front matter off `text`. A text that opens with a thematic break is all body.
pub(crate) fn split(text: &str) -> SplitPage<'_> {
    let all_body = SplitPage {
        front_matter: FrontMatter::default(),
        body: text,
        problem: None,
    };
    let parsed = if let Some((block, body)) = delimited(text, "---", &["---", "..."]) {
        (yaml_table(block), body)
    } else if let Some((block, body)) = delimited(text, "+++", &["+++"]) {
        (toml_table(block).map(Some), body)
    } else {
        return all_body;
    };
    match parsed {
        (Ok(Some(table)), body) if table.values().any(holds_nul) => SplitPage {
            front_matter: FrontMatter::default(),
            body,
            problem: Some("a value contains a NUL character".to_owned()),
        },
        (Ok(Some(table)), body) => SplitPage {
            front_matter: fields(table),
            body,
            problem: None,
        },
        (Ok(None), _) => all_body,
        (Err(reason), body) => SplitPage {
            front_matter: FrontMatter::default(),
            body,
            problem: Some(reason),
        },
    }
}

fn delimited<'a>(text: &'a str, open: &str, close: &[&str]) -> Option<(&'a str, &'a str)> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != open {
        return None;
    }
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        if close.contains(&line.trim_end()) {
            return Some((&rest[..length], &rest[length + line.len()..]));
        }
        length += line.len();
    }
    None
}

/// `None` when the block is not a mapping: prose between two thematic breaks.
fn yaml_table(block: &str) -> Result<Option<Map<String, Value>>, String> {
    if block.trim().is_empty() {
        return Ok(Some(Map::new()));
    }
    let looks_like_mapping = block.lines().any(|line| {
        line.split_once(':')
            .is_some_and(|(key, _)| !key.is_empty() && !key.trim_start().starts_with('#') && !key.contains(' '))
    });
    let value = match serde_saphyr::from_str::<Value>(block) {
        Ok(value) => value,
        Err(error) if looks_like_mapping => return Err(first_line(&error.to_string())),
        Err(_) => return Ok(None),
    };
    let Value::Object(mut table) = value else {
        return Ok(None);
    };
    if let Ok(Verbatim { version: Some(version) }) = serde_saphyr::from_str(block) {
        table.insert("version".to_owned(), Value::String(version));
    }
    Ok(Some(table))
}

fn toml_table(block: &str) -> Result<Map<String, Value>, String> {
    let table: toml::Table = block
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    Ok(table.into_iter().map(|(key, value)| (key, json(value))).collect())
}

fn json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(items) => items.into_iter().map(json).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, json(value))).collect(),
    }
}

fn fields(mut table: Map<String, Value>) -> FrontMatter {
    FrontMatter {
        title: take_text(&mut table, &["title"]),
        slug: take_text(&mut table, &["slug"]),
        category: take_text(&mut table, &["category"]),
        kind: take_text(&mut table, &["kind"]),
        version: take_text(&mut table, &["version"]),
        summary: take_text(&mut table, &SUMMARY_KEYS),
        keywords: take_list(&mut table, &["keywords"], true),
        source_urls: take_list(&mut table, &SOURCE_URL_KEYS, false),
        published_at: take_date(&mut table),
        questions: take_questions(&mut table),
        metadata: table,
    }
}

fn scalar_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Removes the first of `keys` with a scalar value from the table, and returns the value.
fn take_text(table: &mut Map<String, Value>, keys: &[&str]) -> Option<String> {
    let (key, text) = keys
        .iter()
        .find_map(|key| Some((key, scalar_text(table.get(*key)?)?)))?;
    table.remove(*key);
    Some(text)
}

fn take_list(table: &mut Map<String, Value>, keys: &[&str], split_commas: bool) -> Vec<String> {
    let Some(key) = keys.iter().find(|key| table.contains_key(**key)) else {
        return Vec::new();
    };
    let items: Vec<String> = match table.get(*key) {
        Some(Value::Array(items)) => items.iter().filter_map(scalar_text).collect(),
        Some(Value::String(text)) if split_commas => text.split(',').map(|item| item.trim().to_owned()).collect(),
        Some(Value::String(text)) => vec![text.trim().to_owned()],
        _ => return Vec::new(),
    };
    table.remove(*key);
    items.into_iter().filter(|item| !item.is_empty()).collect()
}

/// A value that is not a list stays in the metadata.
fn take_questions(table: &mut Map<String, Value>) -> Option<Value> {
    match table.get("questions")? {
        Value::Array(_) | Value::Null => table.remove("questions"),
        other => Some(other.clone()),
    }
}

/// Dates that PostgreSQL might read differently ("05/01/2024", "Jan 5") stay in the metadata.
fn take_date(table: &mut Map<String, Value>) -> Option<String> {
    let (key, date) = DATE_KEYS.iter().find_map(|key| {
        let text = scalar_text(table.get(*key)?)?;
        is_iso_date(&text).then_some((key, text))
    })?;
    table.remove(*key);
    Some(date)
}

/// Whether PostgreSQL reads `text` as the date that the author meant.
pub(crate) fn is_iso_date(text: &str) -> bool {
    let Some((date, time)) = text.split_at_checked(10) else {
        return false;
    };
    let shape = date.bytes().enumerate().all(|(place, byte)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let in_range =
        |part: &str, range: std::ops::RangeInclusive<u8>| part.parse().is_ok_and(|number| range.contains(&number));
    shape
        && in_range(&date[5..7], 1..=12)
        && in_range(&date[8..], 1..=31)
        && (time.is_empty() || time.starts_with(['T', ' ']))
}

/// `jsonb` cannot store U+0000, which a YAML escape can smuggle in.
fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(table) => table.iter().any(|(key, value)| key.contains('\0') || holds_nul(value)),
        _ => false,
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn yaml_fields_and_metadata() {
        let page = split(
            "---\ntitle: 'Streaming: a guide'\ncategory: Guides\nversion: 1.10\nkeywords: [stream, sse]\n\
             date: 2024-03-01\ndescription: How tokens arrive.\nplatforms:\n  - ios\n  - macos\nweight: 3\n---\n# Body\n",
        );
        let matter = page.front_matter;
        assert_eq!(page.body, "# Body\n");
        assert_eq!(matter.title.as_deref(), Some("Streaming: a guide"));
        assert_eq!(matter.category.as_deref(), Some("Guides"));
        assert_eq!(matter.version.as_deref(), Some("1.10"));
        assert_eq!(matter.keywords, ["stream", "sse"]);
        assert_eq!(matter.published_at.as_deref(), Some("2024-03-01"));
        assert_eq!(matter.summary.as_deref(), Some("How tokens arrive."));
        assert_eq!(
            Value::Object(matter.metadata),
            json!({"platforms": ["ios", "macos"], "weight": 3})
        );
    }

    #[test]
    fn toml_dates_become_text() {
        let page = split(
            "+++\ntitle = \"News\"\ndate = 2024-03-01T10:00:00Z\nkeywords = \"a, b\"\n[extra]\nauthor = \"Ada\"\n+++\ntext",
        );
        assert_eq!(page.body, "text");
        assert_eq!(page.front_matter.published_at.as_deref(), Some("2024-03-01T10:00:00Z"));
        assert_eq!(page.front_matter.keywords, ["a", "b"]);
        assert_eq!(
            Value::Object(page.front_matter.metadata),
            json!({"extra": {"author": "Ada"}})
        );
    }

    #[test]
    fn a_thematic_break_is_not_front_matter() {
        for text in [
            "---\nJust prose.\n---\nmore",
            "---\nnever closed: true\n",
            "text\n---\na: 1\n---\n",
        ] {
            let page = split(text);
            assert_eq!(page.body, text);
            assert_eq!(page.front_matter, FrontMatter::default());
        }
    }

    #[test]
    fn broken_yaml_is_reported_and_not_in_the_body() {
        let page = split("---\ntitle: [unclosed\n---\nBody");
        assert_eq!(page.body, "Body");
        assert!(page.problem.is_some());
    }

    #[test]
    fn a_nul_character_is_reported() {
        let page = split("---\nauthor:\n  name: \"a\\0b\"\n---\nBody");
        assert_eq!(page.front_matter, FrontMatter::default());
        assert!(page.problem.is_some());
    }

    #[test]
    fn a_list_of_questions_is_no_metadata() {
        let of = |text| {
            let matter = split(text).front_matter;
            (matter.questions, Value::Object(matter.metadata))
        };
        let questions = json!(["why", {"heading": "Setup", "question": "how: so"}]);
        let yaml = of("---\nquestions:\n- why\n- heading: Setup\n  question: 'how: so'\n---\n");
        assert_eq!(yaml, (Some(questions.clone()), json!({})));
        let toml = of("+++\nquestions = [\"why\", { heading = \"Setup\", question = \"how: so\" }]\n+++\n");
        assert_eq!(toml, (Some(questions), json!({})));
        assert_eq!(
            of("---\nquestions: 12\n---\n"),
            (Some(json!(12)), json!({"questions": 12}))
        );
        assert_eq!(of("---\nquestions:\n---\n"), (Some(Value::Null), json!({})));
        assert_eq!(of("---\ntitle: A\n---\n"), (None, json!({})));
    }

    #[test]
    fn a_date_in_no_standard_form_stays_metadata() {
        let page = split("---\ndate: Jan 5, 2024\npublished: 2024-13-01\n---\n");
        assert_eq!(page.front_matter.published_at, None);
        assert_eq!(page.front_matter.metadata.len(), 2);
    }
}
