//! A document as a caller passes it.

use std::collections::BTreeMap;

use docsearch_core::documents::grouped_page::{self, GroupedPage};
use docsearch_core::index::question::{self, Question};
use docsearch_core::values::bounds::{self, LABEL_BYTES, LIST_LENGTH, TEXT_BYTES};
use docsearch_core::values::digest::analysis_digest;
use pgrx::pg_sys::panic::ErrorReport;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::postgres::report::{Result, in_one_line, invalid};
use crate::tables::questions;

/// The arguments of `index_doc`, which are also the keys of an element of `index_docs`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentInput {
    pub(crate) slug: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) title: String,
    pub(crate) body: Option<String>,
    #[serde(default)]
    pub(crate) category: Option<String>,
    #[serde(default)]
    pub(crate) metadata: Option<Value>,
    #[serde(default)]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) version: Option<String>,
    #[serde(default)]
    pub(crate) summary: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) keywords: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) source_urls: Vec<String>,
    #[serde(default)]
    pub(crate) source_path: Option<String>,
    #[serde(default)]
    pub(crate) source_root: Option<String>,
    #[serde(default)]
    pub(crate) published_at: Option<String>,
    /// Omitted from the hash where there are none, so that documents without anchors keep theirs.
    #[serde(
        default,
        deserialize_with = "anchors_or_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub(crate) anchors: BTreeMap<String, String>,
    /// The pages that the document groups, if it does.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) pages: Vec<GroupedPage>,
    /// Questions that replace the earlier ones of its author; `None` keeps those. They are compared on their own, and
    /// are not part of the hash.
    #[serde(default, deserialize_with = "given_questions", skip_serializing)]
    pub(crate) questions: Option<Vec<Question>>,
}

/// Keys of [`DocumentInput`] that hold a text.
const TEXTS: [&str; 10] = [
    "slug",
    "title",
    "body",
    "category",
    "kind",
    "version",
    "summary",
    "source_path",
    "source_root",
    "published_at",
];
/// Keys that hold an array of texts.
const LISTS: [&str; 2] = ["keywords", "source_urls"];

/// The error for other anchors.
const ANCHORS_PROBLEM: &str = "anchors must be a JSON object of texts";

fn anchors_or_default<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<String, String>, D::Error> {
    let given: Value = or_default(deserializer)?;
    anchors_of(given).ok_or_else(|| serde::de::Error::custom(ANCHORS_PROBLEM))
}

fn anchors_of(given: Value) -> Option<BTreeMap<String, String>> {
    match given {
        Value::Null => Some(BTreeMap::new()),
        given => serde_json::from_value(given).ok(),
    }
}

fn given_questions<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Vec<Question>>, D::Error> {
    let given = Option::<Value>::deserialize(deserializer)?;
    let questions = given.filter(|given| !given.is_null()).map(question::read).transpose();
    questions.map_err(|problem| serde::de::Error::custom(format!("questions cannot be used: {problem}")))
}

fn or_default<'de, D: serde::Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> std::result::Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The problem with the first key of an element of `index_docs` that has a value of the wrong type.
fn unusable_key(document: &Value) -> Option<String> {
    let is_text = |value: &Value| value.is_string() || value.is_null();
    let problem = |(key, value): (&String, &Value)| {
        let (is_usable, kind) = match key.as_str() {
            "slug" => (value.is_string(), "a text"),
            "pages" => (value.is_array() || value.is_null(), "an array of objects"),
            text if TEXTS.contains(&text) => (is_text(value), "a text"),
            list if LISTS.contains(&list) => {
                let holds_texts = |values: &Vec<Value>| values.iter().all(Value::is_string);
                (
                    value.as_array().map_or(value.is_null(), holds_texts),
                    "an array of texts",
                )
            }
            _ => return None,
        };
        (!is_usable).then(|| format!("{key} must be {kind}"))
    };
    document.as_object()?.iter().find_map(problem)
}

impl DocumentInput {
    /// The keys of a document.
    pub(crate) const KEYS_HINT: &'static str = "A document is an object with slug, title and body, and if you like category, metadata, kind, version, \
         summary, keywords, source_urls, source_path, source_root, published_at, anchors, pages and questions.";

    /// The argument `anchors`.
    pub(crate) fn anchors(given: Option<Value>) -> Result<BTreeMap<String, String>> {
        anchors_of(given.unwrap_or_default()).ok_or_else(|| {
            invalid(
                ANCHORS_PROBLEM,
                "Give the anchor of the section for each fragment, such as {\"setup\": \"install\"}, or omit it.",
            )
        })
    }

    /// The argument `pages`.
    pub(crate) fn pages(given: Option<Value>) -> Result<Vec<GroupedPage>> {
        let given = given.unwrap_or_default();
        let hint =
            "Give an array of objects with anchor, and if you like slug, source_path and source_url, or omit it.";
        if !given.is_array() && !given.is_null() {
            return Err(invalid("pages must be a JSON array of objects", hint));
        }
        let pages: std::result::Result<Option<Vec<GroupedPage>>, _> = serde_json::from_value(given);
        pages
            .map(Option::unwrap_or_default)
            .map_err(|problem| invalid(format!("pages cannot be used: {problem}"), hint))
    }

    /// The argument `questions`.
    pub(crate) fn questions(given: Vec<String>) -> Result<Vec<Question>> {
        let given = given.into_iter().map(|question| Question {
            anchor: String::new(),
            question,
        });
        question::checked(given).map_err(|problem| questions::refused(&problem))
    }

    /// Reads an element of `index_docs`. The error is the slug, if there is one, and the problem.
    pub(crate) fn parse(value: Value) -> std::result::Result<Self, (Option<String>, String)> {
        if !value.is_object() {
            return Err((None, "a document must be a JSON object".to_owned()));
        }
        let slug = value.get("slug").and_then(Value::as_str).map(str::to_owned);
        let unusable = unusable_key(&value);
        let input: Self = match serde_json::from_value(value) {
            Ok(input) => input,
            Err(problem) => {
                let document = slug
                    .as_deref()
                    .map(|slug| format!("document \"{}\": ", bounds::shown(slug)));
                let named = unusable.map(|problem| document.unwrap_or_default() + &problem);
                return Err((slug, named.unwrap_or_else(|| problem.to_string())));
            }
        };
        input.checked().map_err(|problem| (slug, in_one_line(&problem)))
    }

    /// The document as it is stored, after all checks. The tables have the same bounds as constraints.
    pub(crate) fn checked(mut self) -> Result<Self> {
        self.check_slug()?;
        self.title = bounds::title_in_one_line(&self.title);
        if self.title.trim().is_empty() {
            return Err(self.refuse("title must not be null or blank", "Give the page's title."));
        }
        if self.body.is_none() {
            return Err(self.refuse("body must not be null", "Give the page's markdown; it may be empty."));
        }
        self.check_category()?;
        self.check_lengths()?;
        self.check_list("keywords", &self.keywords)?;
        self.check_list("source_urls", &self.source_urls)?;
        self.check_metadata()?;
        self.check_anchors()?;
        if let Some(hint) = grouped_page::problem(&self.pages) {
            return Err(self.refuse("pages cannot be used", &hint));
        }
        if self.published_at.as_deref().is_some_and(is_beyond_years) {
            return Err(self.refuse(
                "published_at cannot be used",
                "Give a time of the years 1 to 9999, or omit it.",
            ));
        }
        Ok(self)
    }

    fn check_slug(&self) -> Result<()> {
        let hint = format!(
            "A slug has 1 to {} bytes and no control or invisible characters, such as guides/install.",
            bounds::SLUG_BYTES
        );
        if self.slug.trim().is_empty() {
            return Err(invalid("slug must not be null or blank", hint));
        }
        if self.slug.len() > bounds::SLUG_BYTES || !bounds::is_plain(&self.slug) {
            return Err(self.refuse("slug cannot be used", &hint));
        }
        Ok(())
    }

    fn check_category(&self) -> Result<()> {
        let category = self.category.as_deref().unwrap_or_default();
        let levels = category.split('/').count();
        if category.len() <= bounds::CATEGORY_BYTES && levels <= bounds::CATEGORY_LEVELS && bounds::is_plain(category) {
            return Ok(());
        }
        let hint = format!(
            "A category has at most {} bytes and {} levels, without control characters and invisible ones, such as \
             guides/setup.",
            bounds::CATEGORY_BYTES,
            bounds::CATEGORY_LEVELS
        );
        Err(self.refuse("category cannot be used", &hint))
    }

    fn check_lengths(&self) -> Result<()> {
        let texts = [
            ("title", Some(&self.title), TEXT_BYTES),
            ("kind", self.kind.as_ref(), LABEL_BYTES),
            ("version", self.version.as_ref(), LABEL_BYTES),
            ("summary", self.summary.as_ref(), TEXT_BYTES),
            ("source_path", self.source_path.as_ref(), bounds::PATH_BYTES),
            ("source_root", self.source_root.as_ref(), LABEL_BYTES),
            ("body", self.body.as_ref(), bounds::BODY_BYTES),
        ];
        match texts
            .into_iter()
            .find(|(_, text, most)| text.is_some_and(|text| text.len() > *most))
        {
            Some((name, _, most)) => {
                Err(self.refuse(&format!("{name} is too long"), &format!("Give at most {most} bytes.")))
            }
            None => Ok(()),
        }
    }

    fn check_list(&self, name: &str, texts: &[String]) -> Result<()> {
        let bytes: usize = texts.iter().map(String::len).sum();
        if texts.len() <= LIST_LENGTH && bytes <= TEXT_BYTES {
            return Ok(());
        }
        Err(self.refuse(
            &format!("{name} are too many"),
            &format!("Give at most {LIST_LENGTH}, of {TEXT_BYTES} bytes in all."),
        ))
    }

    fn check_metadata(&self) -> Result<()> {
        let metadata = match &self.metadata {
            None | Some(Value::Null) => return Ok(()),
            Some(metadata) if metadata.is_object() => metadata,
            Some(_) => return Err(self.refuse("metadata must be a JSON object", "Give an object, or omit it.")),
        };
        if let Some(problem) = bounds::json_problem(metadata) {
            return Err(self.refuse(
                &format!("metadata cannot be used, {problem}"),
                &format!(
                    "Objects nest at most {} levels deep; numbers lie between -1e308 and 1e308.",
                    bounds::JSON_LEVELS
                ),
            ));
        }
        if metadata.to_string().len() > bounds::METADATA_BYTES {
            return Err(self.refuse(
                "metadata is too large",
                &format!("Give at most {} bytes.", bounds::METADATA_BYTES),
            ));
        }
        Ok(())
    }

    fn check_anchors(&self) -> Result<()> {
        let (most, bytes) = (bounds::ANCHORS, bounds::ANCHORS_BYTES);
        if self.anchors.len() <= most
            && (self.anchors.is_empty() || serde_json::json!(self.anchors).to_string().len() <= bytes)
        {
            return Ok(());
        }
        Err(self.refuse(
            "anchors are too many",
            &format!("Give at most {most}, of {bytes} bytes in all."),
        ))
    }

    fn refuse(&self, problem: &str, hint: &str) -> ErrorReport {
        invalid(format!("document \"{}\": {problem}", bounds::shown(&self.slug)), hint)
    }

    /// SHA-256, in hexadecimal, of everything that affects how the document is split and stored.
    pub(crate) fn content_hash(&self, max_tokens: usize) -> String {
        // Keys of a JSON object are written in order, so equal documents have equal text.
        analysis_digest(&[&max_tokens.to_string(), &serde_json::json!(self).to_string()])
    }
}

/// Whether a text that may be a time is before the year 1 or after the year 9999.
fn is_beyond_years(time: &str) -> bool {
    let time = time.trim().to_ascii_lowercase();
    let year = time.find(|letter: char| !letter.is_ascii_digit());
    let long = year.is_some_and(|end| end > 4 && time[end..].starts_with('-'));
    long || time.ends_with("bc") || time.trim_start_matches(['+', '-']) == "infinity"
}
