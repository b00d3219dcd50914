//! The meaning of the styles of a document.

use std::collections::HashMap;

use crate::bytes::xml::Element;

/// Maximum chain of styles that are based on each other.
const MAX_CHAIN: usize = 10;
const OUTLINE_LEVELS: usize = 9;

#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Style>);

#[derive(Debug, Default)]
struct Style {
    /// In lower case.
    name: String,
    based_on: Option<String>,
    level: Option<usize>,
    list: Option<(String, usize)>,
    is_monospaced: bool,
}

/// The kind of a paragraph, by its style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Title,
    Heading(usize),
    Code,
    Quote,
    /// A line of a table of contents.
    Contents,
    Text,
}

impl Styles {
    pub(super) fn read(root: &Element) -> Self {
        let styles = root
            .elements()
            .filter(|style| style.name == "style")
            .filter_map(|style| {
                let value = |name: &str| style.child(name).and_then(|child| child.attribute("val"));
                let paragraph = style.child("pPr");
                let read = Style {
                    name: value("name").unwrap_or_default().to_lowercase(),
                    based_on: value("basedOn").map(str::to_owned),
                    level: paragraph.and_then(outline_level),
                    list: paragraph.and_then(list),
                    is_monospaced: style.child("rPr").is_some_and(is_monospaced),
                };
                Some((style.attribute("styleId")?.to_owned(), read))
            });
        Self(styles.collect())
    }

    fn chain<'a>(&'a self, id: &str) -> impl Iterator<Item = &'a Style> {
        let first = self.0.get(id);
        std::iter::successors(first, |style| self.0.get(style.based_on.as_ref()?)).take(MAX_CHAIN)
    }

    pub(super) fn role(&self, id: &str) -> Role {
        // A file without this style has its id, which is its English name.
        let name = self
            .0
            .get(id)
            .map_or_else(|| id.to_lowercase(), |style| style.name.clone());
        if name == "title" {
            return Role::Title;
        }
        if name.starts_with("toc ") || name == "toc heading" || name == "table of figures" {
            return Role::Contents;
        }
        let own = name.strip_prefix("heading").and_then(|level| level.trim().parse().ok());
        if let Some(level) = own.or_else(|| self.chain(id).find_map(|style| style.level)) {
            return Role::Heading(level);
        }
        if is_code(&name) || self.chain(id).any(|style| style.is_monospaced || is_code(&style.name)) {
            return Role::Code;
        }
        match name.contains("quote") || name == "block text" {
            true => Role::Quote,
            false => Role::Text,
        }
    }

    /// Whether a character style is code.
    pub(super) fn is_code(&self, id: &str) -> bool {
        self.role(id) == Role::Code
    }

    /// The list of a paragraph style, and its level.
    pub(super) fn list(&self, id: &str) -> Option<(String, usize)> {
        self.chain(id).find_map(|style| style.list.clone())
    }
}

fn is_code(name: &str) -> bool {
    let names = [
        "source code",
        "sourcecode",
        "preformatted",
        "verbatim",
        "plain text",
        "listing",
        "macro text",
    ];
    names.iter().any(|known| name.contains(known))
        || name
            .split(|character: char| !character.is_alphanumeric())
            .any(|word| word == "code")
}

/// The outline level in the properties of a paragraph, from 1.
pub(super) fn outline_level(properties: &Element) -> Option<usize> {
    let level: usize = properties.child("outlineLvl")?.attribute("val")?.parse().ok()?;
    (level < OUTLINE_LEVELS).then_some(level + 1)
}

/// The list and its level; list 0 is none.
pub(super) fn list(properties: &Element) -> Option<(String, usize)> {
    let numbers = properties.child("numPr")?;
    let value = |name: &str| numbers.child(name).and_then(|child| child.attribute("val"));
    let level = value("ilvl").and_then(|level| level.parse().ok()).unwrap_or(0);
    Some((value("numId")?.to_owned(), level))
}

pub(super) fn is_monospaced(properties: &Element) -> bool {
    const FONTS: [&str; 9] = [
        "courier",
        "consolas",
        "menlo",
        "monaco",
        "mono",
        "lucida console",
        "source code",
        "fira code",
        "cascadia",
    ];
    let font = properties.child("rFonts").and_then(|fonts| fonts.attribute("ascii"));
    let font = font.unwrap_or_default().to_lowercase();
    FONTS.iter().any(|known| font.contains(known))
}
