//! The meaning of the styles of a document.

use std::collections::HashMap;

use crate::bytes::xml::Element;

/// Maximum chain of styles that are based on each other.
const MAX_CHAIN: usize = 10;
const OUTLINE_LEVELS: usize = 9;

#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: HashMap<String, Style>,
    /// The style of paragraphs that name none.
    default: String,
    /// Whether the font of text that has no other is monospaced. Then it says nothing.
    is_typed: bool,
}

#[derive(Debug, Default)]
struct Style {
    /// In lower case.
    name: String,
    based_on: Option<String>,
    level: Option<usize>,
    list: ListReference,
    is_monospaced: Option<bool>,
    is_hidden: bool,
}

/// The list that a paragraph or style names, and the level in it. Either may come from another style.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct ListReference {
    pub(super) list: Option<String>,
    pub(super) level: Option<usize>,
}

/// The kind of a paragraph, by its style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Title,
    Heading(usize),
    Code,
    /// In a monospaced font: code, unless it reads like prose.
    Typed,
    Quote,
    /// A line of a table of contents.
    Contents,
    Text,
}

impl Styles {
    pub(super) fn read(root: &Element) -> Self {
        let mut read = Self::default();
        let defaults = root
            .child("docDefaults")
            .and_then(|defaults| defaults.child("rPrDefault")?.child("rPr"));
        for style in root.elements().filter(|style| style.name == "style") {
            let Some(id) = style.attribute("styleId") else {
                continue;
            };
            let value = |name: &str| style.child(name).and_then(|child| child.attribute("val"));
            let (paragraph, run) = (style.child("pPr"), style.child("rPr"));
            let is_default = matches!(style.attribute("default"), Some("1" | "true" | "on"));
            if is_default && style.attribute("type") == Some("paragraph") {
                id.clone_into(&mut read.default);
            }
            let style = Style {
                name: value("name").unwrap_or_default().to_lowercase(),
                based_on: value("basedOn").map(str::to_owned),
                level: paragraph.and_then(outline_level),
                list: paragraph.map(list).unwrap_or_default(),
                is_monospaced: run.and_then(is_monospaced),
                is_hidden: run.is_some_and(|run| is_on(run, "vanish")),
            };
            read.styles.insert(id.to_owned(), style);
        }
        let of_style = read.chain(&read.default).find_map(|style| style.is_monospaced);
        read.is_typed = of_style.or_else(|| defaults.and_then(is_monospaced)).unwrap_or(false);
        read
    }

    fn chain<'a>(&'a self, id: &str) -> impl Iterator<Item = &'a Style> {
        let first = self.styles.get(id);
        std::iter::successors(first, |style| self.styles.get(style.based_on.as_ref()?)).take(MAX_CHAIN)
    }

    pub(super) fn role(&self, id: &str) -> Role {
        // A file without this style has its id, which is its English name.
        let name = self
            .styles
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
        if is_code(&name) || self.chain(id).any(|style| is_code(&style.name)) {
            return Role::Code;
        }
        if self.is_monospaced(id) || name == "plain text" {
            return Role::Typed;
        }
        match name.contains("quote") || name == "block text" {
            true => Role::Quote,
            false => Role::Text,
        }
    }

    /// Whether the font of a style is monospaced and that of other text is not.
    pub(super) fn is_monospaced(&self, id: &str) -> bool {
        !self.is_typed && self.chain(id).find_map(|style| style.is_monospaced).unwrap_or(false)
    }

    /// Whether a monospaced font shows code in this document.
    pub(super) fn has_proportional_text(&self) -> bool {
        !self.is_typed
    }

    /// Whether a style is one of code by its name.
    pub(super) fn is_code(&self, id: &str) -> bool {
        self.role(id) == Role::Code
    }

    /// Whether text in the style is not shown.
    pub(super) fn is_hidden(&self, id: &str) -> bool {
        self.chain(id).any(|style| style.is_hidden)
    }

    /// The list of a paragraph style.
    pub(super) fn list(&self, id: &str) -> ListReference {
        let id = if id.is_empty() { &self.default } else { id };
        ListReference {
            list: self.chain(id).find_map(|style| style.list.list.clone()),
            level: self.chain(id).find_map(|style| style.list.level),
        }
    }
}

fn is_code(name: &str) -> bool {
    let names = [
        "source code",
        "sourcecode",
        "preformatted",
        "verbatim",
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

/// The list in the properties of a paragraph.
pub(super) fn list(properties: &Element) -> ListReference {
    let value = |name: &str| properties.child("numPr")?.child(name)?.attribute("val");
    ListReference {
        list: value("numId").map(str::to_owned),
        level: value("ilvl").and_then(|level| level.parse().ok()),
    }
}

/// Whether properties switch something on.
pub(super) fn is_on(properties: &Element, name: &str) -> bool {
    let found = properties.child(name);
    found.is_some_and(|one| !matches!(one.attribute("val"), Some("0" | "false" | "off" | "none")))
}

/// The font that the properties of text name.
pub(super) fn font(properties: &Element) -> Option<&str> {
    let fonts = properties.child("rFonts")?;
    fonts.attribute("ascii").or_else(|| fonts.attribute("hAnsi"))
}

/// Whether the font that the properties of text name is monospaced; `None` if they name none.
pub(super) fn is_monospaced(properties: &Element) -> Option<bool> {
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
    let font = font(properties)?.to_lowercase();
    Some(FONTS.iter().any(|known| font.contains(known)))
}
