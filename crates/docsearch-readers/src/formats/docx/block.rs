//! Paragraphs and tables as Markdown.

use std::mem;

use super::inline::Inline;
use super::part::Parts;
use super::style::{self, Role};
use crate::bytes::xml::Element;
use crate::text::{fence, markdown_text};

const MAX_LIST_LEVEL: usize = 8;
/// Maximum columns that a cell spans.
const MAX_SPAN: usize = 64;

/// The text of a document.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The text in the style `Title`.
    pub(super) title: Option<String>,
    pub(super) body: String,
}

pub(super) fn page(body: &Element, parts: &Parts) -> Page {
    let mut writer = Writer {
        parts,
        title: None,
        blocks: Vec::new(),
        code: Vec::new(),
        items: Vec::new(),
        numbers: Vec::new(),
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
    title: Option<String>,
    blocks: Vec<String>,
    /// Lines of an open code block.
    code: Vec<String>,
    /// Items of an open list.
    items: Vec<String>,
    /// For each level, the last item: its list, number and width of its marker.
    numbers: Vec<(String, usize, usize)>,
    /// Bookmarks before the next paragraph.
    bookmarks: Vec<String>,
}

impl Writer<'_> {
    fn blocks(&mut self, parent: &Element) {
        for child in parent.elements() {
            match child.name.as_str() {
                "p" => self.paragraph(child),
                "tbl" => self.table(child),
                "bookmarkStart" => self.bookmarks.extend(child.attribute("name").map(str::to_owned)),
                "del" | "moveFrom" | "Fallback" | "sectPr" => {}
                _ => self.blocks(child),
            }
        }
    }

    fn paragraph(&mut self, paragraph: &Element) {
        let properties = paragraph.child("pPr");
        let style = properties.and_then(|properties| properties.child("pStyle")?.attribute("val"));
        let style = style.unwrap_or_default();
        let mut inline = Inline::read(paragraph, self.parts);
        let outline = properties.and_then(style::outline_level);
        let role = outline.map_or_else(|| self.parts.styles.role(style), Role::Heading);
        if role == Role::Code || role == Role::Text && inline.is_code() {
            self.end_items();
            self.code.push(inline.raw());
            return;
        }
        self.end_code();
        if inline.is_blank() {
            self.bookmarks.append(&mut inline.bookmarks);
            return;
        }
        let mut bookmarks = mem::take(&mut self.bookmarks);
        bookmarks.append(&mut inline.bookmarks);
        let list = properties
            .and_then(style::list)
            .or_else(|| self.parts.styles.list(style))
            .filter(|(list, _)| list != "0");
        match (role, list) {
            (Role::Contents, _) => {}
            (Role::Title, _) => {
                self.end_list();
                let text = inline.markdown(true);
                self.title.get_or_insert_with(|| collapsed(&inline.raw()));
                self.blocks.push(markdown_text::heading(1, &text, anchor(&bookmarks)));
            }
            (Role::Heading(level), _) => {
                self.end_list();
                let level = level + usize::from(self.title.is_some());
                let text = inline.markdown(true);
                self.blocks
                    .push(markdown_text::heading(level, &text, anchor(&bookmarks)));
            }
            (_, Some((list, level))) => self.item(&list, level.min(MAX_LIST_LEVEL), &inline),
            (role, None) => {
                self.end_list();
                let text = markdown_text::paragraph(&inline.markdown(false));
                self.blocks.push(match role {
                    Role::Quote => format!("> {}", text.replace('\n', "\n> ")),
                    _ => text,
                });
            }
        }
    }

    fn item(&mut self, list: &str, level: usize, inline: &Inline) {
        let number = match self.numbers.get(level) {
            Some((last, number, _)) if last == list => number + 1,
            _ => 1,
        };
        let marker = match self.parts.is_numbered(list, level) {
            true => format!("{number}. "),
            false => "- ".to_owned(),
        };
        // An item without a parent is at the level of its missing parent.
        self.numbers.truncate(level);
        let indent: usize = self.numbers.iter().map(|(_, _, width)| width).sum();
        self.numbers.resize(level, (String::new(), 0, 0));
        self.numbers.push((list.to_owned(), number, marker.len()));
        let text = markdown_text::paragraph(&inline.markdown(false));
        let item = format!(
            "{}{marker}{}",
            " ".repeat(indent),
            markdown_text::hang(&text, indent + marker.len())
        );
        self.items.push(item);
    }

    fn table(&mut self, table: &Element) {
        self.end_code();
        self.end_list();
        let rows: Vec<Vec<&Element>> = named(table, "tr").map(|row| named(row, "tc").collect()).collect();
        // A single-cell table is a frame, as people put around code.
        if let [row] = rows.as_slice()
            && let [cell] = row.as_slice()
        {
            self.blocks(cell);
            self.end();
            return;
        }
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().flat_map(|cell| self.cells(cell)).collect())
            .filter(|row: &Vec<String>| row.iter().any(|cell| !cell.is_empty()))
            .collect();
        let table = markdown_text::table(&rows);
        if !table.is_empty() {
            self.blocks.push(table);
        }
    }

    /// A cell, and empty ones for those that it covers.
    fn cells(&self, cell: &Element) -> Vec<String> {
        let span = cell
            .child("tcPr")
            .and_then(|properties| properties.child("gridSpan")?.attribute("val"));
        let span = span.and_then(|span| span.parse().ok()).unwrap_or(1).clamp(1, MAX_SPAN);
        let mut texts = Vec::new();
        self.gather(cell, &mut texts);
        let mut cells = vec![texts.join(" ")];
        cells.resize(span, String::new());
        cells
    }

    fn gather(&self, element: &Element, texts: &mut Vec<String>) {
        for child in element.elements() {
            if child.name != "p" {
                self.gather(child, texts);
                continue;
            }
            let style = child
                .child("pPr")
                .and_then(|properties| properties.child("pStyle")?.attribute("val"));
            let inline = Inline::read(child, self.parts);
            let is_code = style.is_some_and(|style| self.parts.styles.is_code(style));
            match is_code {
                _ if inline.is_blank() => {}
                true => texts.push(markdown_text::code(&inline.raw())),
                false => texts.push(inline.markdown(false).trim().to_owned()),
            }
        }
    }

    fn end_code(&mut self) {
        let lines = mem::take(&mut self.code);
        if lines.iter().any(|line| !line.trim().is_empty()) {
            self.blocks.push(fence::block("", &lines.join("\n")));
        }
    }

    /// Writes the items of the list.
    fn end_items(&mut self) {
        let items = mem::take(&mut self.items);
        if !items.is_empty() {
            self.blocks.push(markdown_text::list(&items));
        }
    }

    fn end_list(&mut self) {
        self.end_items();
        self.numbers.clear();
    }

    fn end(&mut self) {
        self.end_code();
        self.end_list();
    }
}

fn named<'a>(parent: &'a Element, name: &'static str) -> impl Iterator<Item = &'a Element> {
    parent.elements().filter(move |child| child.name == name)
}

/// A name by the author takes precedence over those by Word.
fn anchor(bookmarks: &[String]) -> Option<&str> {
    let names = || bookmarks.iter().map(String::as_str).filter(|name| *name != "_GoBack");
    names().find(|name| !name.starts_with('_')).or_else(|| names().next())
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
