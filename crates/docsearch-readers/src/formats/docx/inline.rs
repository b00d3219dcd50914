//! Converts runs of text in a paragraph to Markdown.

use super::field::{self, Fields};
use super::part::Parts;
use super::style::{self, is_on};
use super::{math, symbol};
use crate::bytes::xml::{Element, Node};
use crate::draft::file_properties;
use crate::text::markdown_text;

/// Text of one style.
#[derive(Debug, Default, Clone, PartialEq)]
struct Look {
    is_bold: bool,
    is_italic: bool,
    code: Code,
    address: Option<String>,
    /// Whether the text is Markdown already.
    is_markdown: bool,
}

/// Why text is code.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Code {
    #[default]
    No,
    ByFont,
    ByStyle,
}

/// What a paragraph anchors: it has blocks of its own.
#[derive(Debug)]
pub(super) enum Anchored<'a> {
    /// A text box.
    Text(&'a Element),
    /// Text that is drawn as a picture.
    Drawn(&'a str),
    /// Blocks of another part.
    Blocks(&'a [String]),
}

/// The content of a paragraph.
#[derive(Debug, Default)]
pub(super) struct Inline<'a> {
    runs: Vec<(Look, String)>,
    has_text: bool,
    pub(super) bookmarks: Vec<String>,
    /// Whether it is the first letter of the next paragraph.
    pub(super) is_dropped_capital: bool,
    /// Each with whether text of the paragraph precedes it.
    pub(super) anchored: Vec<(bool, Anchored<'a>)>,
    fields: Fields,
}

impl<'a> Inline<'a> {
    pub(super) fn read(paragraph: &'a Element, parts: &'a Parts) -> Self {
        let mut inline = Self::default();
        inline.walk(paragraph, None, parts);
        inline
    }

    /// Continues with the text of another paragraph.
    pub(super) fn append(&mut self, next: Self) {
        let had_text = self.has_text;
        let ends_apart = self
            .runs
            .last()
            .is_none_or(|(_, text)| text.ends_with(char::is_whitespace));
        let begins_apart = next
            .runs
            .first()
            .is_none_or(|(_, text)| text.starts_with(char::is_whitespace));
        if had_text && !self.is_dropped_capital && !ends_apart && !begins_apart {
            self.push(&Look::default(), " ");
        }
        self.has_text |= next.has_text;
        self.runs.extend(next.runs);
        self.bookmarks.extend(next.bookmarks);
        let anchored = next.anchored.into_iter();
        self.anchored
            .extend(anchored.map(|(is_after, one)| (is_after || had_text, one)));
    }

    fn walk(&mut self, parent: &'a Element, address: Option<&str>, parts: &'a Parts) {
        for child in parent.elements() {
            self.element(child, address, parts);
        }
    }

    fn element(&mut self, child: &'a Element, address: Option<&str>, parts: &'a Parts) {
        match child.name.as_str() {
            "r" => self.run(child, address, parts),
            "hyperlink" => {
                let target = child.attribute("id").and_then(|id| parts.links.get(id)).cloned();
                let anchor = child.attribute("anchor").map(|anchor| format!("#{anchor}"));
                self.walk(child, target.or(anchor).as_deref().or(address), parts);
            }
            "fldSimple" => {
                let target = child.attribute("instr").and_then(field::target);
                self.walk(child, target.as_deref().or(address), parts);
            }
            "bookmarkStart" => self.bookmarks.extend(child.attribute("name").map(str::to_owned)),
            // Deleted text, properties, and fallbacks for older programs.
            "del" | "moveFrom" | "Fallback" | "pPr" | "rPr" | "sdtPr" | "sdtEndPr" => {}
            "AlternateContent" => {
                if let Some(shown) = shown(child) {
                    self.walk(shown, address, parts);
                }
            }
            "oMath" => self.push(&Look::default(), &math::line(child)),
            "drawing" => {
                self.picture(child);
                self.walk(child, address, parts);
            }
            "txbxContent" | "txBody" => self.anchor(Anchored::Text(child)),
            "textpath" => {
                if let Some(text) = child.attribute("string") {
                    self.anchor(Anchored::Drawn(text));
                }
            }
            "relIds" => self.embedded(child.attribute("dm"), parts),
            "chart" => self.embedded(child.attribute("id"), parts),
            _ => self.walk(child, address, parts),
        }
    }

    fn anchor(&mut self, one: Anchored<'a>) {
        let is_after = !self.is_blank();
        self.anchored.push((is_after, one));
    }

    fn embedded(&mut self, id: Option<&str>, parts: &'a Parts) {
        if let Some(blocks) = id.and_then(|id| parts.embedded(id)) {
            self.anchor(Anchored::Blocks(blocks));
        }
    }

    /// The description of a picture.
    fn picture(&mut self, drawing: &Element) {
        let Some(frame) = drawing.elements().find(|child| child.child("docPr").is_some()) else {
            return;
        };
        let description = frame
            .child("docPr")
            .and_then(|properties| properties.attribute("descr"));
        let is_picture = frame
            .child("graphic")
            .and_then(|graphic| graphic.child("graphicData")?.child("pic"))
            .is_some();
        let Some(text) = description.filter(|text| is_picture && !file_properties::is_default(text, &[])) else {
            return;
        };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_apart = self
            .runs
            .last()
            .is_some_and(|(_, before)| !before.ends_with(char::is_whitespace));
        self.push(&Look::default(), &format!("{}{text} ", if is_apart { " " } else { "" }));
    }

    fn run(&mut self, run: &'a Element, address: Option<&str>, parts: &'a Parts) {
        let properties = run.child("rPr");
        let is_on = |name: &str| properties.is_some_and(|properties| is_on(properties, name));
        let style = properties.and_then(|properties| properties.child("rStyle")?.attribute("val"));
        if is_on("vanish") || style.is_some_and(|style| parts.styles.is_hidden(style)) {
            return;
        }
        let typed = properties
            .and_then(style::is_monospaced)
            .filter(|_| parts.styles.has_proportional_text());
        let code = match style {
            Some(style) if parts.styles.is_code(style) => Code::ByStyle,
            Some(style) if typed.unwrap_or_else(|| parts.styles.is_monospaced(style)) => Code::ByFont,
            None if typed == Some(true) => Code::ByFont,
            _ => Code::No,
        };
        let look = Look {
            is_bold: is_on("b"),
            is_italic: is_on("i"),
            code,
            address: address.or_else(|| self.fields.address()).map(str::to_owned),
            is_markdown: false,
        };
        let font = properties.and_then(style::font);
        for child in run.elements() {
            match child.name.as_str() {
                "t" => {
                    for node in &child.children {
                        if let Node::Text(text) = node
                            && !self.fields.hide_text()
                        {
                            self.push(&look, &symbol::shown(font, text));
                        }
                    }
                }
                "tab" | "ptab" => self.push(&look, "\t"),
                "br" | "cr" => self.push(&look, "\n"),
                "noBreakHyphen" => self.push(&look, "-"),
                "sym" => {
                    let code = child
                        .attribute("char")
                        .and_then(|code| u32::from_str_radix(code, 16).ok());
                    let font = child.attribute("font").unwrap_or_default();
                    let character =
                        code.and_then(|code| symbol::character(font, code).or_else(|| char::from_u32(code)));
                    if let Some(character) = character {
                        self.push(&look, character.encode_utf8(&mut [0; 4]));
                    }
                }
                "ruby" => {
                    for (name, open, close) in [("rubyBase", "", ""), ("rt", "(", ")")] {
                        if let Some(part) = child.child(name) {
                            self.push(&look, open);
                            self.walk(part, address, parts);
                            self.push(&look, close);
                        }
                    }
                }
                "instrText" => {
                    if let Some(Node::Text(text)) = child.children.first() {
                        self.fields.instruct(text);
                    }
                }
                "fldChar" => self.field(child, &look),
                "footnoteReference" => self.note(&look, 'f', child, parts),
                "endnoteReference" => self.note(&look, 'e', child, parts),
                "delText" | "delInstrText" => {}
                _ => self.element(child, address, parts),
            }
        }
    }

    fn push(&mut self, look: &Look, text: &str) {
        self.has_text |= !text.trim().is_empty();
        match self.runs.last_mut() {
            Some((last, own)) if last == look => own.push_str(text),
            _ => self.runs.push((look.clone(), text.to_owned())),
        }
    }

    fn field(&mut self, mark: &Element, look: &Look) {
        match mark.attribute("fldCharType").unwrap_or_default() {
            "begin" => self.fields.begin(mark),
            "separate" => self.fields.separate(),
            _ => {
                if let Some(text) = self.fields.end() {
                    self.push(look, &text);
                }
            }
        }
    }

    fn note(&mut self, look: &Look, kind: char, reference: &Element, parts: &Parts) {
        let id = reference.attribute("id").unwrap_or_default();
        if let Some(text) = parts.note(kind, id) {
            let look = Look {
                address: look.address.clone(),
                is_markdown: true,
                ..Look::default()
            };
            self.push(&look, &format!(" ({text})"));
        }
    }

    /// The plain text.
    pub(super) fn raw(&self) -> String {
        self.runs.iter().map(|(_, text)| text.as_str()).collect()
    }

    pub(super) fn is_blank(&self) -> bool {
        !self.has_text
    }

    /// Whether all of it is code by its style.
    pub(super) fn is_code(&self) -> bool {
        self.is_all(|code| code == Code::ByStyle)
    }

    /// Whether all of it is in a monospaced font.
    pub(super) fn is_typed(&self) -> bool {
        self.is_all(|code| code != Code::No)
    }

    fn is_all(&self, test: impl Fn(Code) -> bool) -> bool {
        !self.is_blank()
            && self
                .runs
                .iter()
                .all(|(look, text)| test(look.code) || text.trim().is_empty())
    }

    /// Makes text in a monospaced font ordinary text.
    pub(super) fn ignore_fonts(&mut self) {
        for (look, _) in &mut self.runs {
            if look.code == Code::ByFont {
                look.code = Code::No;
            }
        }
    }

    /// Its Markdown; `plain` without emphasis, as in a heading.
    pub(super) fn markdown(&self, plain: bool) -> String {
        let mut output = String::new();
        let mut runs = self.runs.as_slice();
        while let Some((first, _)) = runs.first() {
            let count = runs
                .iter()
                .take_while(|(look, _)| look.address == first.address)
                .count();
            let (same, rest) = runs.split_at(count);
            let mut label = String::new();
            for (at, (look, text)) in same.iter().enumerate() {
                let before = at.checked_sub(1).and_then(|at| same[at].1.chars().next_back());
                let after = same.get(at + 1).and_then(|(_, text)| text.chars().next());
                // Marks within a word would cut it, but code has endings: `kite`s.
                let is_within = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
                let begins_within = is_within(before) && !text.starts_with(char::is_whitespace);
                let ends_within = is_within(after) && !text.ends_with(char::is_whitespace);
                let is_code = look.code != Code::No && !begins_within;
                label.push_str(&marked(look, text, is_code, plain || begins_within || ends_within));
            }
            match &first.address {
                Some(address) if !label.trim().is_empty() => {
                    let (start, end) = outer_blanks(&label);
                    output.push_str(&format!("{start}{}{end}", markdown_text::link(label.trim(), address)));
                }
                _ => output.push_str(&label),
            }
            runs = rest;
        }
        output.replace('\t', " ")
    }
}

/// The content that Word shows of several: the first, unless only the fallback has text.
pub(super) fn shown(alternatives: &Element) -> Option<&Element> {
    let mut all = alternatives
        .elements()
        .filter(|one| matches!(one.name.as_str(), "Choice" | "Fallback"));
    let first = alternatives
        .elements()
        .find(|one| matches!(one.name.as_str(), "Choice" | "Fallback"));
    all.find(|one| has_content(one)).or(first)
}

fn has_content(element: &Element) -> bool {
    element.elements().any(|child| match child.name.as_str() {
        "t" => child.text().is_some(),
        "relIds" | "chart" | "pic" | "textpath" => true,
        _ => has_content(child),
    })
}

fn marked(look: &Look, text: &str, is_code: bool, plain: bool) -> String {
    let inner = text.trim();
    if inner.is_empty() || look.is_markdown {
        return text.to_owned();
    }
    let content = match is_code {
        true => markdown_text::code(inner),
        false => markdown_text::escape(inner),
    };
    let marker = match (look.is_bold, look.is_italic) {
        _ if plain || is_code => "",
        (true, true) => "***",
        (true, false) => "**",
        (false, true) => "*",
        (false, false) => "",
    };
    let (start, end) = outer_blanks(text);
    format!("{start}{marker}{content}{marker}{end}")
}

/// The white space at both ends of a text that has other characters.
fn outer_blanks(text: &str) -> (&str, &str) {
    let start = text.len() - text.trim_start().len();
    (&text[..start], &text[text.trim_end().len()..])
}
