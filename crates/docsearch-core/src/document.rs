//! A document as a person, a language model or a program reads it: whole or a section of it, within a length.

mod json;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::address::section_url;
use crate::markdown;
use crate::outline::{Neighbours, Outline};

pub use json::to_json;

/// Section names that an error lists, at most.
const LISTED_SECTIONS: usize = 20;

/// A document.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Name of its project.
    pub project: String,
    /// Slug.
    pub slug: String,
    /// Title.
    pub title: String,
    /// Category, with `/` between levels.
    pub category: Option<String>,
    /// Sort of page.
    pub kind: Option<String>,
    /// Version of what is documented.
    pub version: Option<String>,
    /// The address to show.
    pub url: Option<String>,
    /// Where it is published.
    pub source_urls: Vec<String>,
    /// Keywords.
    pub keywords: Vec<String>,
    /// Anything else, as an object.
    pub metadata: Value,
    /// When it was published, in ISO 8601 as the two below.
    pub published_at: Option<String>,
    /// When it was first indexed.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
    /// Summary.
    pub summary: Option<String>,
    /// Markdown.
    pub body: String,
    /// Further fragments that lead into it, with the anchors of the sections where they lie.
    pub anchors: BTreeMap<String, String>,
}

impl Document {
    /// What `load_doc` takes: `project/slug`, with `#anchor` for a section.
    fn reference(&self, anchor: Option<&str>) -> String {
        let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        format!("{}/{}{anchor}", self.project, self.slug)
    }

    /// The address to show, of a section if it has an anchor.
    fn url(&self, anchor: &str) -> Option<String> {
        let url = self.url.as_deref().filter(|url| !url.is_empty());
        url.map(|url| section_url(url, anchor))
    }

    /// Where it is published: first the address to show.
    fn sources(&self, anchor: &str) -> Vec<String> {
        let shown = self.url.as_ref();
        let others = self.source_urls.iter().filter(|source| Some(*source) != shown);
        self.url(anchor).into_iter().chain(others.cloned()).collect()
    }

    /// The day when it last changed.
    fn day(&self) -> &str {
        self.updated_at
            .split_once('T')
            .map_or(self.updated_at.as_str(), |(day, _)| day)
    }
}

/// Which parts of a document are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The text, and not only the summary.
    pub sections: bool,
    /// Category, sources and date.
    pub metadata: bool,
    /// Greatest length in characters, if there is one.
    pub max_chars: Option<usize>,
}

/// That a document has no section of a name; the anchors of those that it has, not all if they are many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchSection {
    /// Anchors, in order.
    pub anchors: Vec<String>,
    /// How many there are.
    pub all: usize,
}

/// The text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendering {
    /// Markdown.
    pub markdown: String,
    /// Whether something was left out to keep the length.
    pub is_cut: bool,
}

/// Writes a document, or one section of it with references to those around it, see [`Outline::find_with`].
///
/// # Errors
///
/// If the document has no such section.
pub fn render(document: &Document, section: Option<&str>, shape: Shape) -> Result<Rendering, NoSuchSection> {
    let outline = Outline::new(&document.body);
    let section = find(document, &outline, section)?;
    Ok(write(document, &outline, section, shape))
}

/// The place of the section that is wanted, if one is.
fn find(document: &Document, outline: &Outline<'_>, section: Option<&str>) -> Result<Option<usize>, NoSuchSection> {
    let alias = |fragment: &str| document.anchors.get(fragment).map(String::as_str);
    let found = section.map(|wanted| {
        outline
            .find_with(wanted, alias)
            .ok_or_else(|| NoSuchSection::of(outline))
    });
    found.transpose()
}

/// Writes a document, or the section at a place of its outline.
fn write(document: &Document, outline: &Outline<'_>, section: Option<usize>, shape: Shape) -> Rendering {
    // A line of the head each, whatever rows hold that were written by hand.
    let mut text = format!("# {}\n", in_one_line(&document.title));
    if shape.metadata {
        if let Some(category) = &document.category {
            text.push_str(&format!("\n**Category:** {}", in_one_line(category)));
        }
        let anchor = section.and_then(|place| outline.sections().get(place));
        let sources = document.sources(anchor.map_or("", |section| &section.anchor));
        if !sources.is_empty() {
            text.push_str(&format!("\n**Sources:** {}", in_one_line(&sources.join(", "))));
        }
        text.push_str(&format!("\n**Last Updated:** {}\n", document.day()));
    }
    let mut is_cut = false;
    let room = |text: &str| {
        let taken = text.chars().count();
        shape.max_chars.map_or(usize::MAX, |most| most.saturating_sub(taken))
    };
    match section {
        Some(found) => {
            let around = around(document, outline.neighbours(found));
            let cut = outline.cut(
                outline.range(found),
                room(&text).saturating_sub(around.chars().count() + 2),
            );
            is_cut = matches!(cut, Cow::Owned(_));
            text.push_str(&format!("\n{}\n{around}", cut.trim()));
        }
        None => {
            if let Some(summary) = document.summary.as_deref().filter(|summary| !summary.is_empty()) {
                text.push_str(&format!("\n## Summary\n\n{summary}\n"));
            }
            if shape.sections {
                text.push_str("\n## Sections\n\n");
                let rest = markdown::without_title(&document.body, &document.title);
                let cut = outline.cut(rest, room(&text).saturating_sub(1));
                is_cut = matches!(cut, Cow::Owned(_));
                text.push_str(&cut);
                text.push('\n');
            }
        }
    }
    match shape.max_chars {
        Some(most) if text.chars().count() > most => Rendering {
            markdown: shortened(&text, most),
            is_cut: true,
        },
        _ => Rendering { markdown: text, is_cut },
    }
}

/// The text with a blank in place of what breaks lines.
fn in_one_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    match text.contains(breaks) {
        true => Cow::Owned(text.replace(breaks, " ")),
        false => Cow::Borrowed(text),
    }
}

impl NoSuchSection {
    fn of(outline: &Outline<'_>) -> Self {
        let anchors = outline.sections().iter().map(|section| section.anchor.as_str());
        let anchors = anchors.filter(|anchor| !anchor.is_empty());
        Self {
            all: anchors.clone().count(),
            anchors: anchors.take(LISTED_SECTIONS).map(str::to_owned).collect(),
        }
    }
}

/// The sections around one, as references that can be loaded.
fn around(document: &Document, neighbours: Neighbours<'_>) -> String {
    let parts: Vec<String> = [
        ("parent", neighbours.parent),
        ("previous", neighbours.previous),
        ("next", neighbours.next),
    ]
    .into_iter()
    .filter_map(|(label, anchor)| Some(format!("{label}: {}", document.reference(Some(anchor?)))))
    .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("\n[{}]\n", parts.join("; "))
    }
}

/// The beginning of a text whose head alone is longer than what may be shown.
fn shortened(text: &str, most: usize) -> String {
    const MARK: &str = "[…]";
    let kept = most.saturating_sub(MARK.chars().count());
    let start: String = text.chars().take(kept).collect();
    start.chars().chain(MARK.chars()).take(most).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(super) const WHOLE: Shape = Shape {
        sections: true,
        metadata: true,
        max_chars: None,
    };

    pub(super) fn guide() -> Document {
        Document {
            project: "kit".to_owned(),
            slug: "guides/install".to_owned(),
            title: "Install".to_owned(),
            category: Some("guides".to_owned()),
            source_urls: vec!["https://example.org/a".to_owned(), "https://example.org/b".to_owned()],
            updated_at: "2025-11-01T08:30:00Z".to_owned(),
            summary: Some("How to install.".to_owned()),
            body: "# Install\n\nFirst words.\n\n## On Linux\n\nUse the package.\n\n### Debian\n\nUse apt.\n\n## On macOS\n\nUse brew.\n"
                .to_owned(),
            ..Document::default()
        }
    }

    fn rendered(section: Option<&str>, shape: Shape) -> Rendering {
        render(&guide(), section, shape).expect("a section that is there")
    }

    fn loaded(section: Option<&str>, shape: Shape) -> String {
        rendered(section, shape).markdown
    }

    #[test]
    fn s3_21_a_document_has_its_title_its_place_and_its_text() {
        let text = loaded(None, WHOLE);
        assert!(text.starts_with(
            "# Install\n\n**Category:** guides\n**Sources:** https://example.org/a, https://example.org/b\n\
             **Last Updated:** 2025-11-01\n\n## Summary\n\nHow to install.\n\n## Sections\n\nFirst words."
        ));
        assert!(text.ends_with("Use brew.\n"));
    }

    #[test]
    fn s3_20_parts_that_are_not_wanted_are_left_out() {
        let text = loaded(
            None,
            Shape {
                sections: false,
                metadata: false,
                ..WHOLE
            },
        );
        assert_eq!(text, "# Install\n\n## Summary\n\nHow to install.\n");
    }

    #[test]
    fn a_section_names_those_around_it() {
        let text = loaded(Some("debian"), WHOLE);
        assert!(text.contains("### Debian\n\nUse apt."), "{text}");
        assert!(!text.contains("Use brew") && !text.contains("Use the package"));
        assert!(text.ends_with(
            "[parent: kit/guides/install#on-linux; previous: kit/guides/install#on-linux; \
             next: kit/guides/install#on-macos]\n"
        ));
    }

    #[test]
    fn s3_40_a_section_is_loaded_with_its_url() {
        let published = Document {
            url: Some("https://example.org/a".to_owned()),
            anchors: BTreeMap::from([("apt".to_owned(), "debian".to_owned())]),
            ..guide()
        };
        let of_section = "**Sources:** https://example.org/a#debian, https://example.org/b\n";
        for wanted in ["debian", "apt"] {
            let text = render(&published, Some(wanted), WHOLE).expect(wanted).markdown;
            assert!(text.contains(of_section), "{text}");
        }
        let elsewhere = Document {
            source_urls: Vec::new(),
            ..published
        };
        let text = render(&elsewhere, None, WHOLE).expect("all").markdown;
        assert!(text.contains("**Sources:** https://example.org/a\n"), "{text}");
    }

    #[test]
    fn an_unknown_section_is_an_error_that_names_others() {
        let problem = render(&guide(), Some("windows"), WHOLE).expect_err("no such section");
        assert_eq!(problem.anchors, ["install", "on-linux", "debian", "on-macos"]);
        let plain = Document {
            body: "words".to_owned(),
            ..guide()
        };
        assert_eq!(
            render(&plain, Some("x"), WHOLE).expect_err("none").anchors,
            Vec::<String>::new()
        );
    }

    #[test]
    fn nothing_of_the_head_forges_a_line_of_it() {
        let forged = Document {
            title: "A\n\n**Category:** b".to_owned(),
            category: Some("c\r## Sections".to_owned()),
            source_urls: vec!["x\n**Last Updated:** 2099-01-01\u{2028}".to_owned()],
            ..guide()
        };
        let text = render(&forged, None, WHOLE).expect("all").markdown;
        assert!(
            text.starts_with(
                "# A  **Category:** b\n\n**Category:** c ## Sections\n**Sources:** x **Last Updated:** 2099-01-01 \n\
                 **Last Updated:** 2025-11-01\n\n## Summary"
            ),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn nothing_is_longer_than_asked(most in 0usize..400, section in proptest::option::of(0usize..4), sections in any::<bool>(), metadata in any::<bool>()) {
            let names = ["install", "on-linux", "debian", "on-macos"];
            let shape = Shape { sections, metadata, max_chars: Some(most) };
            let Rendering { markdown: text, is_cut } = rendered(section.map(|section| names[section]), shape);
            prop_assert!(text.chars().count() <= most);
            let whole = loaded(section.map(|section| names[section]), Shape { max_chars: None, ..shape });
            // White space at the end of a section takes room and is not shown.
            prop_assert!(whole.chars().count() + 4 > most || whole == text);
            prop_assert!(is_cut || whole == text);
        }
    }
}
