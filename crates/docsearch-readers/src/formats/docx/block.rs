//! Paragraphs and tables as Markdown.

use std::collections::HashSet;
use std::mem;

use super::inline::{self, Anchored, Inline};
use super::marker::Marker;
use super::numbering::{Counters, Label};
use super::part::Parts;
use super::style::{self, ListReference, Role};
use super::{code, field, table};
use crate::bytes::xml::Element;
use crate::text::{fence, markdown_text, target};

const MAX_LIST_LEVEL: usize = 8;
/// Signs of boxes, and whether they are checked.
const BOXES: [(char, bool); 5] = [('☐', false), ('☑', true), ('☒', true), ('🗷', true), ('🗹', true)];

/// The text of a document.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The text in the style `Title`.
    pub(super) title: Option<String>,
    pub(super) body: String,
}

pub(super) fn page(body: &Element, parts: &Parts) -> Page {
    let mut linked = HashSet::new();
    gather_linked(body, &mut linked);
    let mut writer = Writer {
        parts,
        linked,
        title: None,
        blocks: Vec::new(),
        pending: None,
        typed: Vec::new(),
        items: Vec::new(),
        levels: Vec::new(),
        counters: Counters::default(),
        bookmarks: Vec::new(),
    };
    writer.blocks(body);
    writer.end();
    Page {
        title: writer.title,
        body: markdown_text::page(&writer.blocks),
    }
}

struct Writer<'a> {
    parts: &'a Parts,
    /// Bookmarks to which links of the document lead.
    linked: HashSet<String>,
    title: Option<String>,
    blocks: Vec<String>,
    /// What the next paragraph continues: a dropped capital, or a paragraph whose end is deleted.
    pending: Option<Inline<'a>>,
    /// Lines of an open code block.
    typed: Vec<TypedLine>,
    /// Items of an open list.
    items: Vec<String>,
    /// The marker of the last item at each level.
    levels: Vec<Marker>,
    counters: Counters,
    /// Bookmarks before the next paragraph.
    bookmarks: Vec<String>,
}

/// A paragraph that is a line of code, unless its font alone says so and it is prose.
struct TypedLine {
    text: String,
    /// Its Markdown as prose.
    prose: String,
    is_code: bool,
}

impl<'a> Writer<'a> {
    fn blocks(&mut self, parent: &'a Element) {
        for child in parent.elements() {
            match child.name.as_str() {
                "p" => self.paragraph(child),
                "tbl" => self.table(child),
                "bookmarkStart" => self.bookmarks.extend(child.attribute("name").map(str::to_owned)),
                "AlternateContent" => {
                    if let Some(shown) = inline::shown(child) {
                        self.blocks(shown);
                    }
                }
                "altChunk" => {
                    if let Some(blocks) = child.attribute("id").and_then(|id| self.parts.embedded(id)) {
                        self.anchored(Anchored::Blocks(blocks));
                    }
                }
                "sdt" if is_contents(child) => {}
                "del" | "moveFrom" | "Fallback" | "sectPr" | "sdtPr" | "sdtEndPr" => {}
                _ => self.blocks(child),
            }
        }
    }

    fn paragraph(&mut self, paragraph: &'a Element) {
        let properties = paragraph.child("pPr");
        let style = properties.and_then(|properties| properties.child("pStyle")?.attribute("val"));
        let style = style.unwrap_or_default();
        if self.parts.styles.is_hidden(style) {
            return;
        }
        let Some(mut inline) = self.whole(paragraph) else {
            return;
        };
        let outline = properties.and_then(style::outline_level);
        let role = outline.map_or_else(|| self.parts.styles.role(style), Role::Heading);
        let (before, after): (Vec<_>, Vec<_>) = mem::take(&mut inline.anchored)
            .into_iter()
            .partition(|(is_after, _)| !is_after && !matches!(role, Role::Title | Role::Heading(_)));
        for (_, one) in before {
            self.anchored(one);
        }
        self.text(properties, style, role, inline);
        for (_, one) in after {
            self.anchored(one);
        }
    }

    fn text(&mut self, properties: Option<&Element>, style: &str, role: Role, mut inline: Inline<'a>) {
        let list = self.list(properties, style);
        let is_line = match role {
            Role::Code => true,
            Role::Typed => list.is_none(),
            Role::Text if list.is_none() && inline.is_blank() => {
                !self.typed.is_empty() && properties.is_some_and(is_typed)
            }
            Role::Text => list.is_none() && inline.is_typed(),
            _ => false,
        };
        if is_line {
            self.end_items();
            let (text, is_code) = (inline.raw(), role == Role::Code || inline.is_code());
            inline.ignore_fonts();
            let prose = markdown_text::paragraph(&inline.markdown(false));
            self.typed.push(TypedLine { text, prose, is_code });
            return;
        }
        self.end_code();
        let label = match (role, &list) {
            (Role::Contents | Role::Title, _) | (_, None) => Label::None,
            (_, Some((list, level))) => self.counters.next(&self.parts.numbering, list, *level),
        };
        if inline.is_blank() {
            self.bookmarks.append(&mut inline.bookmarks);
            return;
        }
        let mut bookmarks = mem::take(&mut self.bookmarks);
        bookmarks.append(&mut inline.bookmarks);
        let is_heading = matches!(role, Role::Heading(_) | Role::Title);
        if inline.is_typed() && (is_heading || code::is_prose(inline.raw().lines())) {
            inline.ignore_fonts();
        }
        match (role, list) {
            (Role::Contents, _) => {}
            (Role::Title, _) => {
                self.end_items();
                let text = inline.markdown(true);
                self.title.get_or_insert_with(|| collapsed(&inline.raw()));
                self.heading(1, &text, &bookmarks);
            }
            (Role::Heading(level), _) => {
                self.end_items();
                let level = level + usize::from(self.title.is_some());
                let number = match label {
                    Label::Number(number) => format!("{} ", markdown_text::escape(&number)),
                    _ => String::new(),
                };
                let text = format!("{number}{}", inline.markdown(true));
                self.heading(level, &text, &bookmarks);
            }
            (_, Some((_, level))) if label != Label::None => {
                let marks = self.marks(&bookmarks);
                self.item(&label, level.min(MAX_LIST_LEVEL), &inline, &marks);
            }
            (role, _) => {
                self.end_items();
                let text = markdown_text::paragraph(&inline.markdown(false));
                let text = format!("{}{text}", self.marks(&bookmarks));
                self.blocks.push(match role {
                    Role::Quote => format!("> {}", text.replace('\n', "\n> ")),
                    _ => text,
                });
            }
        }
    }

    /// The paragraph with what it continues; `None` if the next one continues it.
    fn whole(&mut self, paragraph: &'a Element) -> Option<Inline<'a>> {
        let mut inline = Inline::read(paragraph, self.parts);
        if let Some(mut first) = self.pending.take() {
            first.append(inline);
            inline = first;
        }
        let properties = paragraph.child("pPr");
        inline.is_dropped_capital = properties.is_some_and(is_dropped_capital);
        if inline.is_dropped_capital || properties.is_some_and(is_joined) {
            self.pending = Some(inline);
            return None;
        }
        Some(inline)
    }

    /// The list of a paragraph, and its level.
    fn list(&self, properties: Option<&Element>, style: &str) -> Option<(String, usize)> {
        let own = properties.map(style::list).unwrap_or_default();
        let ListReference { list, level } = self.parts.styles.list(style);
        // List 0 is none.
        let list = own.list.or(list).filter(|list| list != "0")?;
        let of_style = || self.parts.numbering.level_of_style(&list, style);
        let level = own.level.or_else(of_style).or(level).unwrap_or(0);
        Some((list, level))
    }

    /// Writes a heading. Links may lead to other bookmarks than the one that is its anchor.
    fn heading(&mut self, level: usize, text: &str, bookmarks: &[String]) {
        let own = anchor(bookmarks);
        let others = bookmarks.iter().filter(|name| Some(name.as_str()) != own).cloned();
        let marks = self.marks(&others.collect::<Vec<_>>());
        self.blocks.extend((!marks.is_empty()).then_some(marks));
        self.blocks.push(markdown_text::heading(level, text, own));
    }

    /// Marks of the bookmarks to which links lead.
    fn marks(&self, bookmarks: &[String]) -> String {
        let linked = bookmarks.iter().filter(|name| self.linked.contains(*name));
        linked.map(|name| target::mark(name)).collect()
    }

    fn item(&mut self, label: &Label, level: usize, inline: &Inline<'_>, marks: &str) {
        let text = markdown_text::paragraph(&inline.markdown(false));
        let (marker, text) = match label {
            Label::Number(number) => match Marker::after(self.levels.get(level), number) {
                Some(marker) => (marker, text),
                None => (Marker::Bullet, format!("{} {text}", markdown_text::escape(number))),
            },
            Label::Bullet(sign) => (Marker::Bullet, task(sign, &text)),
            Label::None => (Marker::Bullet, text),
        };
        let text = format!("{marks}{text}");
        // An item without a parent is at the level of its missing parent.
        self.levels.truncate(level);
        let indent: usize = self.levels.iter().map(Marker::width).sum();
        self.levels.resize(level, Marker::Missing);
        let item = format!(
            "{}{marker}{}",
            " ".repeat(indent),
            markdown_text::hang(&text, indent + marker.width())
        );
        self.levels.push(marker);
        self.items.push(item);
    }

    fn table(&mut self, table: &'a Element) {
        self.end();
        let rows: Vec<_> = table::rows(table).into_iter().map(table::cells).collect();
        // A single-cell table is a frame, as people put around code.
        if let [row] = rows.as_slice()
            && let [(Some(cell), _)] = row.as_slice()
        {
            self.blocks(cell);
            self.end();
            return;
        }
        let mut texts: Vec<Vec<String>> = Vec::new();
        for row in rows {
            let mut cells = Vec::new();
            for (cell, span) in row {
                let mut pieces = Vec::new();
                if let Some(cell) = cell {
                    self.gather(cell, &mut pieces);
                    pieces.extend(self.pending.take().map(|rest| rest.markdown(false)));
                }
                cells.push(pieces.join(" "));
                cells.resize(cells.len() + span - 1, String::new());
            }
            texts.push(cells);
        }
        texts.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let table = markdown_text::table(&texts);
        if !table.is_empty() {
            self.blocks.push(table);
        }
    }

    /// The texts of the paragraphs in a cell, in which nothing can be a block.
    fn gather(&mut self, element: &'a Element, texts: &mut Vec<String>) {
        for child in element.elements() {
            match child.name.as_str() {
                "p" => self.gather_paragraph(child, texts),
                "AlternateContent" => {
                    if let Some(shown) = inline::shown(child) {
                        self.gather(shown, texts);
                    }
                }
                "del" | "moveFrom" | "Fallback" | "tcPr" | "sdtPr" | "sdtEndPr" => {}
                _ => self.gather(child, texts),
            }
        }
    }

    fn gather_paragraph(&mut self, paragraph: &'a Element, texts: &mut Vec<String>) {
        let properties = paragraph.child("pPr");
        let style = properties.and_then(|properties| properties.child("pStyle")?.attribute("val"));
        let style = style.unwrap_or_default();
        let Some(mut inline) = self.whole(paragraph) else {
            return;
        };
        let role = self.parts.styles.role(style);
        let list = self.list(properties, style);
        let label = list.map(|(list, level)| self.counters.next(&self.parts.numbering, &list, level));
        if role == Role::Title && !inline.is_blank() {
            self.title.get_or_insert_with(|| collapsed(&inline.raw()));
        }
        let mut text = match role {
            Role::Code => markdown_text::code(&inline.raw()),
            _ => inline.markdown(false).trim().to_owned(),
        };
        match label {
            Some(Label::Number(number)) if !text.is_empty() => {
                text = format!("{} {text}", markdown_text::escape(&number))
            }
            Some(Label::Bullet(sign)) => text = task(&sign, &text),
            _ => {}
        }
        let text = match text.is_empty() {
            true => text,
            false => format!("{}{text}", self.marks(&inline.bookmarks)),
        };
        let (before, after): (Vec<_>, Vec<_>) = mem::take(&mut inline.anchored)
            .into_iter()
            .partition(|(is_after, _)| !is_after);
        for (_, one) in before {
            self.gather_anchored(one, texts);
        }
        texts.extend((!text.is_empty()).then_some(text));
        for (_, one) in after {
            self.gather_anchored(one, texts);
        }
    }

    fn gather_anchored(&mut self, one: Anchored<'a>, texts: &mut Vec<String>) {
        match one {
            Anchored::Text(element) => self.gather(element, texts),
            Anchored::Drawn(text) => texts.push(markdown_text::escape(text)),
            Anchored::Blocks(blocks) => texts.extend_from_slice(blocks),
        }
    }

    fn anchored(&mut self, one: Anchored<'a>) {
        self.end();
        match one {
            Anchored::Text(element) => self.blocks(element),
            Anchored::Drawn(text) => self.blocks.push(markdown_text::paragraph(&markdown_text::escape(text))),
            Anchored::Blocks(blocks) => self.blocks.extend_from_slice(blocks),
        }
        self.end();
    }

    /// Writes the lines of code, or the paragraphs if they are prose.
    fn end_code(&mut self) {
        let lines = mem::take(&mut self.typed);
        if lines.iter().all(|line| line.text.trim().is_empty()) {
            return;
        }
        let is_code = lines.iter().any(|line| line.is_code);
        if !is_code && code::is_prose(lines.iter().map(|line| line.text.as_str())) {
            let paragraphs = lines.into_iter().map(|line| line.prose);
            self.blocks.extend(paragraphs.filter(|text| !text.is_empty()));
            return;
        }
        let mut lines: Vec<String> = lines.into_iter().map(|line| line.text).collect();
        if !is_code {
            let last = lines.iter().rposition(|line| !line.trim().is_empty());
            lines.truncate(last.map_or(0, |last| last + 1));
        }
        self.blocks.push(fence::block("", &lines.join("\n")));
    }

    /// Writes the items of the list. The next item begins a list in the text, whatever its level.
    fn end_items(&mut self) {
        let items = mem::take(&mut self.items);
        self.levels.clear();
        if !items.is_empty() {
            self.blocks.push(markdown_text::list(&items));
        }
    }

    fn end(&mut self) {
        self.end_code();
        self.end_items();
        if let Some(rest) = self.pending.take().filter(|rest| !rest.is_blank()) {
            self.blocks.push(markdown_text::paragraph(&rest.markdown(false)));
        }
    }
}

/// The bookmarks to which links lead.
fn gather_linked(element: &Element, linked: &mut HashSet<String>) {
    for child in element.elements() {
        let address = match child.name.as_str() {
            "hyperlink" => child.attribute("anchor").map(str::to_owned),
            "fldSimple" => child.attribute("instr").and_then(field::target),
            "instrText" => child.text().as_deref().and_then(field::target),
            _ => None,
        };
        linked.extend(address.map(|address| address.trim_start_matches('#').to_owned()));
        gather_linked(child, linked);
    }
}

/// The first letter of the next paragraph.
fn is_dropped_capital(properties: &Element) -> bool {
    let frame = properties.child("framePr").and_then(|frame| frame.attribute("dropCap"));
    matches!(frame, Some("drop" | "margin"))
}

/// Whether the end of a paragraph is deleted.
fn is_joined(properties: &Element) -> bool {
    properties.child("rPr").is_some_and(|mark| mark.child("del").is_some())
}

/// Whether the mark at the end of a paragraph is monospaced.
fn is_typed(properties: &Element) -> bool {
    properties.child("rPr").and_then(style::is_monospaced) == Some(true)
}

/// Whether a control holds the table of contents.
fn is_contents(control: &Element) -> bool {
    let gallery = control
        .child("sdtPr")
        .and_then(|properties| properties.child("docPartObj")?.child("docPartGallery"));
    gallery.and_then(|gallery| gallery.attribute("val")) == Some("Table of Contents")
}

/// The text of an item that is a task: by its bullet, or by the box at its beginning.
fn task(sign: &str, text: &str) -> String {
    let state = |text: &str| {
        let first = text.chars().next()?;
        BOXES
            .iter()
            .find(|(sign, _)| *sign == first)
            .map(|(sign, is_checked)| (sign.len_utf8(), *is_checked))
    };
    let (rest, is_checked) = match (state(sign), state(text)) {
        (Some((_, is_checked)), _) => (text, is_checked),
        (None, Some((length, is_checked))) => (&text[length..], is_checked),
        (None, None) => return text.to_owned(),
    };
    format!("[{}] {}", if is_checked { "x" } else { " " }, rest.trim_start())
}

/// A name by the author takes precedence over those by Word.
fn anchor(bookmarks: &[String]) -> Option<&str> {
    let names = || bookmarks.iter().map(String::as_str).filter(|name| *name != "_GoBack");
    names().find(|name| !name.starts_with('_')).or_else(|| names().next())
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
