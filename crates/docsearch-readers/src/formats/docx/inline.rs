//! Converts runs of text in a paragraph to Markdown.

use super::part::Parts;
use super::style::is_monospaced;
use crate::bytes::xml::{Element, Node};
use crate::text::markdown_text;

/// Text of one style.
#[derive(Debug, Default, Clone, PartialEq)]
struct Look {
    is_bold: bool,
    is_italic: bool,
    is_code: bool,
    address: Option<String>,
}

/// The content of a paragraph.
#[derive(Debug, Default)]
pub(super) struct Inline {
    runs: Vec<(Look, String)>,
    pub(super) bookmarks: Vec<String>,
    /// The instruction of an open field, and the URL of a field whose text is being read.
    instruction: Option<String>,
    field: Option<String>,
}

impl Inline {
    pub(super) fn read(paragraph: &Element, parts: &Parts) -> Self {
        let mut inline = Self::default();
        inline.walk(paragraph, None, parts);
        inline
    }

    fn walk(&mut self, element: &Element, address: Option<&str>, parts: &Parts) {
        for child in element.elements() {
            match child.name.as_str() {
                "r" => self.run(child, address, parts),
                "hyperlink" => {
                    let target = child.attribute("id").and_then(|id| parts.links.get(id)).cloned();
                    let anchor = child.attribute("anchor").map(|anchor| format!("#{anchor}"));
                    self.walk(child, target.or(anchor).as_deref().or(address), parts);
                }
                "fldSimple" => {
                    let target = child.attribute("instr").and_then(target);
                    self.walk(child, target.as_deref().or(address), parts);
                }
                "bookmarkStart" => self.bookmarks.extend(child.attribute("name").map(str::to_owned)),
                // Deleted text, and fallbacks for older programs.
                "del" | "moveFrom" | "Fallback" | "pPr" => {}
                _ => self.walk(child, address, parts),
            }
        }
    }

    fn run(&mut self, run: &Element, address: Option<&str>, parts: &Parts) {
        let properties = run.child("rPr");
        let is_on = |name: &str| {
            let found = properties.and_then(|properties| properties.child(name));
            found.is_some_and(|one| !matches!(one.attribute("val"), Some("0" | "false" | "off" | "none")))
        };
        if is_on("vanish") {
            return;
        }
        let style = properties.and_then(|properties| properties.child("rStyle")?.attribute("val"));
        let look = Look {
            is_bold: is_on("b"),
            is_italic: is_on("i"),
            is_code: properties.is_some_and(is_monospaced) || style.is_some_and(|style| parts.styles.is_code(style)),
            address: address.map(str::to_owned).or_else(|| self.field.clone()),
        };
        for child in run.elements() {
            match child.name.as_str() {
                "t" => {
                    for node in &child.children {
                        if let Node::Text(text) = node {
                            self.push(&look, text);
                        }
                    }
                }
                "tab" | "ptab" => self.push(&look, "\t"),
                "br" | "cr" => self.push(&look, "\n"),
                "noBreakHyphen" => self.push(&look, "-"),
                "instrText" => {
                    if let (Some(instruction), Some(Node::Text(text))) = (&mut self.instruction, child.children.first())
                    {
                        instruction.push_str(text);
                    }
                }
                "fldChar" => self.field(child.attribute("fldCharType").unwrap_or_default()),
                "footnoteReference" => self.note(&look, 'f', child, parts),
                "endnoteReference" => self.note(&look, 'e', child, parts),
                // Text boxes.
                "AlternateContent" | "pict" | "drawing" => self.walk(child, address, parts),
                _ => {}
            }
        }
    }

    fn push(&mut self, look: &Look, text: &str) {
        match self.runs.last_mut() {
            Some((last, own)) if last == look => own.push_str(text),
            _ => self.runs.push((look.clone(), text.to_owned())),
        }
    }

    fn field(&mut self, kind: &str) {
        match kind {
            "begin" => self.instruction = Some(String::new()),
            "separate" => self.field = self.instruction.take().as_deref().and_then(target),
            _ => {
                self.instruction = None;
                self.field = None;
            }
        }
    }

    fn note(&mut self, look: &Look, kind: char, reference: &Element, parts: &Parts) {
        let id = reference.attribute("id").unwrap_or_default();
        if let Some(text) = parts.notes.get(&format!("{kind}{id}")) {
            let look = Look {
                is_code: false,
                ..look.clone()
            };
            self.push(&look, &format!(" ({text})"));
        }
    }

    /// The plain text.
    pub(super) fn raw(&self) -> String {
        self.runs.iter().map(|(_, text)| text.as_str()).collect()
    }

    pub(super) fn is_blank(&self) -> bool {
        self.runs.iter().all(|(_, text)| text.trim().is_empty())
    }

    /// Whether all of it is code.
    pub(super) fn is_code(&self) -> bool {
        !self.is_blank()
            && self
                .runs
                .iter()
                .all(|(look, text)| look.is_code || text.trim().is_empty())
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
            let label: String = same.iter().map(|(look, text)| marked(look, text, plain)).collect();
            match &first.address {
                Some(address) if !label.trim().is_empty() => {
                    output.push_str(&markdown_text::link(label.trim(), address))
                }
                _ => output.push_str(&label),
            }
            runs = rest;
        }
        output.replace('\t', " ")
    }
}

/// The target of a field: `HYPERLINK "address"`, with `\l` before a bookmark.
fn target(instruction: &str) -> Option<String> {
    let rest = instruction.trim().strip_prefix("HYPERLINK")?.trim_start();
    let (is_local, rest) = rest
        .strip_prefix("\\l")
        .map_or((false, rest), |rest| (true, rest.trim_start()));
    let address = rest.strip_prefix('"')?.split('"').next()?;
    Some(if is_local {
        format!("#{address}")
    } else {
        address.to_owned()
    })
}

fn marked(look: &Look, text: &str, plain: bool) -> String {
    let inner = text.trim();
    if inner.is_empty() {
        return text.to_owned();
    }
    let content = match look.is_code {
        true => markdown_text::code(inner),
        false => markdown_text::escape(inner),
    };
    let marker = match (look.is_bold, look.is_italic) {
        _ if plain || look.is_code => "",
        (true, true) => "***",
        (true, false) => "**",
        (false, true) => "*",
        (false, false) => "",
    };
    let start = &text[..text.len() - text.trim_start().len()];
    let end = &text[text.trim_end().len()..];
    format!("{start}{marker}{content}{marker}{end}")
}
