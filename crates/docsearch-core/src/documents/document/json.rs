//! A document as JSON.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::Value;

use super::{AnsweredQuestion, Document, NoSuchSection, Shape, find, write};
use crate::documents::grouped_page::page_at;
use crate::documents::outline::Outline;
use crate::text::token_estimate::estimated_tokens;

/// Fields of a document, and its text.
#[derive(Serialize)]
struct Record<'a> {
    project: &'a str,
    slug: &'a str,
    reference: String,
    title: &'a str,
    summary: Option<&'a str>,
    #[serde(flatten)]
    metadata: Option<Metadata<'a>>,
    /// Tokens of the whole text.
    tokens: usize,
    sections: Vec<Heading<'a>>,
    section: Option<LoadedSection<'a>>,
    content: String,
    truncated: bool,
}

#[derive(Serialize)]
struct Metadata<'a> {
    category: Option<&'a str>,
    kind: Option<&'a str>,
    version: Option<&'a str>,
    url: Option<String>,
    source_urls: &'a [String],
    keywords: &'a [String],
    metadata: &'a Value,
    published_at: Option<&'a str>,
    created_at: &'a str,
    updated_at: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<&'a AnsweredQuestion>,
}

/// A section in the list of sections. Its path is the headings of lower levels before it: full paths would let one
/// long heading fill the list.
#[derive(Serialize)]
struct Heading<'a> {
    anchor: &'a str,
    level: u8,
    title: &'a str,
    /// With subsections.
    tokens: usize,
}

/// The wanted section, with references to its neighbours.
#[derive(Serialize)]
struct LoadedSection<'a> {
    #[serde(flatten)]
    heading: Heading<'a>,
    /// Source path of its page, if the document groups pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_path: Option<&'a str>,
    parent: Option<String>,
    previous: Option<String>,
    next: Option<String>,
}

/// A document as an object:
///
/// - `project`, `slug`, `reference` (of the wanted section, if any), `title` and `summary`;
/// - with [`Shape::metadata`], also `category`, `kind`, `version`, `url` (of the wanted section, if any), `source_urls`,
///   `keywords`, `metadata`, `published_at`, `created_at`, `updated_at`, and `questions`, if there are any, of the document
///   or of the wanted section with its subsections;
/// - `tokens` of its text, 4 characters each;
/// - `sections` in order, with `anchor`, `level`, `title` and `tokens`, subsections included;
/// - `section`, if one is wanted, with the same, the references `parent`, `previous` and `next`, and the `source_path` of a
///   grouped page;
/// - `content`, the Markdown of [`super::render`], and whether it is `truncated`.
///
/// # Errors
///
/// If the document has no such section.
pub fn to_json(document: &Document, section: Option<&str>, shape: Shape) -> Result<Value, NoSuchSection> {
    let outline = Outline::new(&document.body);
    let section = find(document, &outline, section)?;
    let rendering = write(document, &outline, section, shape);
    let loaded = section.and_then(|index| {
        let around = outline.neighbours(index);
        let reference = |anchor: Option<&str>| anchor.map(|anchor| document.reference(Some(anchor)));
        let heading = Heading::of(&outline, index)?;
        let page = page_at(&document.pages, heading.anchor);
        Some(LoadedSection {
            source_path: page.and_then(|(page, _)| page.source_path.as_deref()),
            heading,
            parent: reference(around.parent),
            previous: reference(around.previous),
            next: reference(around.next),
        })
    });
    let anchor = loaded.as_ref().map(|loaded| loaded.heading.anchor);
    let record = Record {
        project: &document.project,
        slug: &document.slug,
        reference: document.reference(anchor),
        title: &document.title,
        summary: document.summary.as_deref().filter(|summary| !summary.is_empty()),
        metadata: shape.metadata.then(|| Metadata {
            questions: answered(document, &outline, section),
            ..Metadata::of(document, anchor)
        }),
        tokens: estimated_tokens(document.body.chars().count()),
        sections: (0..outline.sections().len())
            .filter_map(|index| Heading::of(&outline, index))
            .collect(),
        section: loaded,
        content: rendering.markdown,
        truncated: rendering.is_cut,
    };
    Ok(serde_json::to_value(record).expect("a document has nothing that JSON cannot hold"))
}

/// The questions of a document, or of a section and its subsections.
fn answered<'a>(document: &'a Document, outline: &Outline<'_>, section: Option<usize>) -> Vec<&'a AnsweredQuestion> {
    let Some(index) = section else {
        return document.questions.iter().collect();
    };
    let range = outline.range(index);
    let within = outline
        .sections()
        .iter()
        .filter(|section| range.contains(&section.range.start));
    let within: HashSet<&str> = within.map(|section| section.anchor.as_str()).collect();
    let is_within =
        |question: &&AnsweredQuestion| !question.anchor.is_empty() && within.contains(question.anchor.as_str());
    document.questions.iter().filter(is_within).collect()
}

impl<'a> Metadata<'a> {
    fn of(document: &'a Document, anchor: Option<&str>) -> Self {
        Self {
            category: document.category.as_deref(),
            kind: document.kind.as_deref(),
            version: document.version.as_deref(),
            url: document.url(anchor.unwrap_or_default()),
            source_urls: &document.source_urls,
            keywords: &document.keywords,
            metadata: &document.metadata,
            published_at: document.published_at.as_deref(),
            created_at: &document.created_at,
            updated_at: &document.updated_at,
            questions: Vec::new(),
        }
    }
}

impl<'a> Heading<'a> {
    /// The section at an index of the outline; `None` for the text before the first heading.
    fn of(outline: &'a Outline<'_>, index: usize) -> Option<Self> {
        let section = outline.sections().get(index).filter(|section| section.level > 0)?;
        Some(Self {
            anchor: &section.anchor,
            level: section.level,
            title: section.heading_path.last().map_or("", String::as_str),
            tokens: estimated_tokens(outline.text(index).chars().count()),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::documents::document::render;
    use crate::documents::document::tests::{WHOLE, guide as markdown_guide};

    fn guide() -> Document {
        Document {
            url: Some("https://example.org/a".to_owned()),
            metadata: json!({"platform": "linux"}),
            created_at: "2025-10-01T00:00:00Z".to_owned(),
            summary: None,
            body: "Intro.\n\n# On Linux\n\nUse the package.\n\n## Debian\n\nUse apt.\n\n# On macOS\n\nUse brew.\n"
                .to_owned(),
            ..markdown_guide()
        }
    }

    #[test]
    fn s3_20_a_document_is_an_object() {
        let document = to_json(&guide(), None, WHOLE).expect("no section is asked for");
        assert_eq!(document["reference"], "kit/guides/install");
        assert_eq!(document["updated_at"], "2025-11-01T08:30:00Z");
        assert_eq!(document["metadata"]["platform"], "linux");
        // 82 characters; from "# On Linux" to the end of "apt.", 49; 20; 22.
        assert_eq!(document["tokens"], 21);
        assert_eq!(
            document["sections"],
            json!([
                {"anchor": "on-linux", "level": 1, "title": "On Linux", "tokens": 13},
                {"anchor": "debian", "level": 2, "title": "Debian", "tokens": 6},
                {"anchor": "on-macos", "level": 1, "title": "On macOS", "tokens": 6},
            ])
        );
        assert_eq!(
            (&document["section"], &document["truncated"]),
            (&Value::Null, &json!(false))
        );
    }

    #[test]
    fn s3_20_without_metadata_its_keys_are_left_out() {
        let shape = Shape {
            metadata: false,
            sections: false,
            ..WHOLE
        };
        let document = to_json(&guide(), None, shape).expect("no section is asked for");
        assert!(document.get("category").is_none() && document.get("updated_at").is_none());
        assert_eq!(document["content"], "# Install\n");
        assert_eq!(document["sections"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn a_section_has_references_to_those_around_it() {
        let document = to_json(&guide(), Some("Debian"), WHOLE).expect("a section that is there");
        assert_eq!(document["reference"], "kit/guides/install#debian");
        let section = &document["section"];
        assert_eq!(section["parent"], "kit/guides/install#on-linux");
        assert_eq!(section["next"], "kit/guides/install#on-macos");
        assert!(to_json(&guide(), Some("Windows"), WHOLE).is_err());
    }

    #[test]
    fn questions_are_those_of_the_section_and_below() {
        let question = |anchor: &str| AnsweredQuestion {
            anchor: anchor.to_owned(),
            question: format!("about {anchor}"),
            source: "author".to_owned(),
            stale: false,
        };
        let document = Document {
            questions: ["", "on-linux", "debian", "on-macos", "gone"].map(question).to_vec(),
            ..guide()
        };
        let anchors = |section| {
            let loaded = to_json(&document, section, WHOLE).expect("a section that is there");
            let questions = loaded["questions"].as_array().cloned().unwrap_or_default();
            questions
                .iter()
                .map(|question| question["anchor"].as_str().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(anchors(None), ["", "on-linux", "debian", "on-macos", "gone"]);
        assert_eq!(anchors(Some("on-linux")), ["on-linux", "debian"]);
        assert_eq!(anchors(Some("debian")), ["debian"]);
        let shape = Shape {
            metadata: false,
            ..WHOLE
        };
        let plain = to_json(&document, None, shape).expect("no section is asked for");
        assert!(plain.get("questions").is_none());
        let without = to_json(&guide(), None, WHOLE).expect("no section is asked for");
        assert!(without.get("questions").is_none());
    }

    proptest! {
        #[test]
        fn the_content_is_what_is_rendered(most in proptest::option::of(0usize..400), section in proptest::option::of(0usize..3), sections in any::<bool>(), metadata in any::<bool>()) {
            let shape = Shape { sections, metadata, skip: 0, max_chars: most };
            let section = section.map(|section| ["on-linux", "debian", "on-macos"][section]);
            let document = to_json(&guide(), section, shape).expect("a section that is there");
            let rendering = render(&guide(), section, shape).expect("a section that is there");
            prop_assert_eq!(document["content"].as_str(), Some(rendering.markdown.as_str()));
            prop_assert_eq!(document["truncated"].as_bool(), Some(rendering.is_cut));
        }
    }
}
