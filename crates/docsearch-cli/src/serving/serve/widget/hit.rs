//! Results in the form of DocSearch's records: the headings above a section as levels, and its text.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::marked_text::{MarkedText, Tags, escaped};
use crate::serving::serve::page::escape::{document_path, fragment};

/// Level 0 is the category, level 1 the page.
const LEVELS: usize = 7;
const HEADINGS: usize = LEVELS - 2;
const SEPARATOR: &str = " > ";

/// What is read of the answer to a search.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Found {
    pub(super) results: Vec<Hit>,
    pub(super) search_token: Option<String>,
    candidates: u32,
}

impl Found {
    /// How many results there are, as far as that is known: a full page may be followed by another.
    pub(super) fn count(&self, offset: u32, page_size: u32) -> u32 {
        let shown = u32::try_from(self.results.len()).unwrap_or(u32::MAX);
        match shown {
            0 => 0,
            _ if shown < page_size => offset + shown,
            _ => self.candidates.max(offset + shown),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Hit {
    project: String,
    slug: String,
    title: String,
    category: Option<String>,
    section: Option<String>,
    anchor: Option<String>,
    url: Option<String>,
    version: Option<String>,
    snippet: Option<String>,
    highlights: Highlights,
}

/// Matched words: characters from and up to.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Highlights {
    title: Vec<(usize, usize)>,
    section: Vec<(usize, usize)>,
    snippet: Vec<(usize, usize)>,
}

/// How hits of a query are written.
pub(super) struct Layout {
    pub(super) tags: Tags,
    pub(super) ellipsis: String,
    /// Words of a snippet, by attribute.
    pub(super) snippets: HashMap<String, usize>,
    pub(super) are_projects_shown: bool,
    /// The address of this server.
    pub(super) server: String,
}

impl Layout {
    fn highlight(&self, text: &MarkedText) -> Value {
        json!({
            "value": text.html(&self.tags),
            "matchLevel": text.match_level(),
            "fullyHighlighted": text.match_level() == "full",
            "matchedWords": text.words(),
        })
    }

    fn snippet(&self, attribute: &str, text: &MarkedText) -> Value {
        let value = match self.snippets.get(attribute) {
            Some(words) => text.excerpt(*words, &self.ellipsis).html(&self.tags),
            None => text.html(&self.tags),
        };
        json!({"value": value, "matchLevel": text.match_level()})
    }
}

impl Hit {
    /// All texts in it are HTML: where a client finds no snippet, as in its list of recent searches, it shows the text itself
    /// as HTML.
    pub(super) fn to_json(&self, layout: &Layout) -> Value {
        let levels = self.levels(layout.are_projects_shown);
        let deepest = levels.len() - 1;
        let snippet = self.snippet.as_deref().filter(|text| !text.trim().is_empty());
        let content = snippet.map(|text| MarkedText::new(text, &self.highlights.snippet));
        let is_content = content.is_some() && !levels[deepest].is_marked();
        let mut hierarchy = Map::new();
        let (mut highlighted, mut snippets) = (Map::new(), Map::new());
        for level in 0..LEVELS {
            let name = format!("lvl{level}");
            if let Some(text) = levels.get(level) {
                highlighted.insert(name.clone(), layout.highlight(text));
                snippets.insert(name.clone(), layout.snippet(&format!("hierarchy.{name}"), text));
            }
            hierarchy.insert(name, levels.get(level).map(|text| escaped(text.text())).into());
        }
        let mut highlighted = json!({ "hierarchy": highlighted });
        let mut snippets = json!({ "hierarchy": snippets });
        if let Some(content) = &content {
            highlighted["content"] = layout.highlight(content);
            snippets["content"] = layout.snippet("content", content);
        }
        let (page, anchor) = self.address(&layout.server);
        json!({
            "objectID": self.reference(),
            "type": if is_content { "content".to_owned() } else { format!("lvl{deepest}") },
            "url": match &anchor {
                Some(anchor) => format!("{page}#{anchor}"),
                None => page.clone(),
            },
            "url_without_anchor": page,
            "anchor": anchor,
            "content": content.map(|content| escaped(content.text())),
            "hierarchy": hierarchy,
            "project": escaped(&self.project),
            "category": self.category.as_deref().map(escaped),
            "version": self.version.as_deref().map(escaped),
            "_highlightResult": highlighted,
            "_snippetResult": snippets,
        })
    }

    /// The category, the title of the page, and the headings above the section, outermost first.
    fn levels(&self, is_project_shown: bool) -> Vec<MarkedText> {
        let category = self.category.as_deref().filter(|category| !category.is_empty());
        let top = match (category, is_project_shown) {
            (Some(category), true) => format!("{} / {category}", self.project),
            (Some(category), false) => category.to_owned(),
            (None, _) => self.project.clone(),
        };
        let mut levels = vec![
            MarkedText::new(&top, &[]),
            MarkedText::new(&self.title, &self.highlights.title),
        ];
        let section = self.section.as_deref().unwrap_or_default();
        if !section.is_empty() && section != self.title {
            let mut at = 0;
            for heading in section.splitn(HEADINGS, SEPARATOR) {
                let length = heading.chars().count();
                let marks = self.highlights.section.iter();
                let marks: Vec<_> = marks
                    .map(|(from, to)| (from.saturating_sub(at), to.saturating_sub(at).min(length)))
                    .collect();
                levels.push(MarkedText::new(heading, &marks));
                at += length + SEPARATOR.len();
            }
        }
        levels
    }

    /// The address of the page, and its anchor. A document that is not published is shown by the page of this server.
    fn address(&self, server: &str) -> (String, Option<String>) {
        let url = self.url.as_deref().and_then(|url| Url::parse(url).ok());
        match url.filter(|url| matches!(url.scheme(), "http" | "https")) {
            Some(mut url) => {
                let anchor = url.fragment().filter(|anchor| !anchor.is_empty()).map(str::to_owned);
                url.set_fragment(None);
                (url.into(), anchor)
            }
            None => {
                let anchor = self.anchor.as_deref().filter(|anchor| !anchor.is_empty());
                (
                    format!("{server}{}", document_path(&self.project, &self.slug)),
                    anchor.map(fragment),
                )
            }
        }
    }

    fn reference(&self) -> String {
        let anchor = self.anchor.as_deref().filter(|anchor| !anchor.is_empty());
        let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        format!("{}/{}{anchor}", self.project, self.slug)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout {
            tags: Tags::allowed("<mark>", "</mark>"),
            ellipsis: "…".to_owned(),
            snippets: HashMap::new(),
            are_projects_shown: false,
            server: "https://docs.kit.test".to_owned(),
        }
    }

    fn hit(section: &str, marks: &[(usize, usize)]) -> Hit {
        Hit {
            project: "kit".to_owned(),
            slug: "guides/retry".to_owned(),
            title: "Retry".to_owned(),
            section: Some(section.to_owned()),
            snippet: Some("A pause.".to_owned()),
            highlights: Highlights {
                section: marks.to_vec(),
                ..Highlights::default()
            },
            ..Hit::default()
        }
    }

    #[test]
    fn headings_are_levels() {
        let written = hit("One > Two & two", &[(6, 9)]).to_json(&layout());
        assert_eq!(written["type"], "lvl3");
        assert_eq!(written["hierarchy"]["lvl0"], "kit");
        assert_eq!(written["hierarchy"]["lvl2"], "One");
        assert_eq!(
            written["_highlightResult"]["hierarchy"]["lvl3"]["value"],
            "<mark>Two</mark> &amp; two"
        );
        assert_eq!(written["hierarchy"]["lvl4"], Value::Null);
        // The last level has what is left.
        let deep = hit("2 > 3 > 4 > 5 > 6 > 7", &[]).to_json(&layout());
        assert_eq!(deep["hierarchy"]["lvl6"], "6 &gt; 7");
        // Without a word of the query in its heading, a section is its text.
        assert_eq!(deep["type"], "content");
    }

    #[test]
    fn only_addresses_of_the_web_are_links() {
        let published = |url: &str| {
            let written = Hit {
                url: Some(url.to_owned()),
                anchor: Some("a b".to_owned()),
                ..hit("", &[])
            };
            let written = written.to_json(&layout());
            (written["url"].clone(), written["url_without_anchor"].clone())
        };
        assert_eq!(
            published("https://kit.test/retry#back"),
            ("https://kit.test/retry#back".into(), "https://kit.test/retry".into())
        );
        for hostile in ["javascript:alert(1)", "data:text/html,x", "//evil.test", "/relative"] {
            assert_eq!(
                published(hostile).0,
                "https://docs.kit.test/doc/kit/guides/retry#a%20b",
                "{hostile}"
            );
        }
    }

    #[test]
    fn a_full_page_may_be_followed_by_another() {
        let found = |results: usize, candidates| Found {
            results: (0..results).map(|_| Hit::default()).collect(),
            candidates,
            ..Found::default()
        };
        assert_eq!(found(3, 50).count(20, 20), 23);
        assert_eq!(found(20, 50).count(20, 20), 50);
        assert_eq!(found(20, 7).count(20, 20), 40);
        assert_eq!(found(0, 50).count(60, 20), 0);
    }
}
