//! Groups lines into headings, paragraphs, tables and code.

use super::arrangement::{self, Item};
use super::heading::{self, Headings};
use super::outline::OutlineEntry;
use super::page::{Line, Page};
use super::paragraph::{self, Words};
use super::running;
use crate::text::{fence, markdown_text};

const MAX_HEADING_CHARACTERS: usize = 150;
/// Lines over which a title of the outline may run.
const MAX_TITLE_LINES: usize = 3;

/// The title of the document, and the Markdown of its pages. If neither outline nor fonts give headings, every page is
/// a section.
pub(super) fn markdown(
    mut pages: Vec<Page>,
    outline: &[OutlineEntry],
    title: Option<String>,
) -> (Option<String>, String) {
    let body = heading::body_size(&pages);
    running::remove(&mut pages, body);
    let headings = Headings::of(&pages, body, title.as_deref());
    let title = title.or_else(|| pages.first().and_then(|first| headings.title(first)));
    let mut writer = Writer {
        title: title.as_deref().map(words).unwrap_or_default(),
        words: Words::of(&pages),
        ..Writer::default()
    };
    if let Some(title) = &title {
        writer
            .blocks
            .push(markdown_text::heading(1, &markdown_text::escape(title), None));
    }
    let is_by_pages = outline.is_empty() && headings.is_empty();
    let is_single = pages.len() <= 1;
    for page in pages {
        let entries = outline.iter().filter(|entry| entry.page == page.number).collect();
        if is_by_pages && !is_single && !(page.lines.is_empty() && page.turned.is_empty()) {
            writer.heading(2, &format!("Page {}", page.number), page.number, None);
        }
        let number = page.number;
        let items = arrangement::arrange(page.lines);
        match outline.is_empty() {
            true => writer.page(items, &headings, number),
            false => writer.page_of_outline(items, entries, number),
        }
        for line in &page.turned {
            writer.end_block();
            writer.line(line);
        }
        writer.end_page();
    }
    writer.end_block();
    (title, markdown_text::page(&writer.blocks))
}

/// Whether a heading can be the title.
pub(super) fn has_heading(pages: &[Page], outline: &[OutlineEntry]) -> bool {
    let headings = Headings::of(pages, heading::body_size(pages), None);
    !outline.is_empty() || pages.first().and_then(|first| headings.title(first)).is_some()
}

fn letters(text: &str) -> String {
    text.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The words with a blank before and after each.
fn words(text: &str) -> String {
    let words: Vec<String> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    format!(" {} ", words.join(" "))
}

/// The outline entry with this title, with or without its number, after the previous entries.
fn take_entries<'a>(entries: &mut Vec<&'a OutlineEntry>, text: &str) -> Option<Vec<&'a OutlineEntry>> {
    let text = letters(text);
    if text.is_empty() {
        return None;
    }
    let bare = text.trim_start_matches(|character: char| character.is_ascii_digit());
    let at = entries.iter().position(|entry| {
        let title = letters(&entry.title);
        let title_bare = title.trim_start_matches(|character: char| character.is_ascii_digit());
        title == text || !bare.is_empty() && title_bare == bare
    })?;
    Some(entries.drain(..=at).collect())
}

#[derive(Default)]
struct Writer {
    blocks: Vec<String>,
    /// Words of the title, which is written already.
    title: String,
    words: Words,
    paragraph: Vec<Line>,
    code: Vec<Line>,
    /// Entries of a table of contents.
    contents: Vec<String>,
    /// Page of the last heading.
    page: usize,
    /// The level and the page of the last block, if it is a heading, and its line.
    last_heading: Option<(usize, usize, Option<Line>)>,
}

impl Writer {
    fn page(&mut self, items: Vec<Item>, headings: &Headings, number: usize) {
        let mut above: Option<Line> = None;
        for item in items {
            match item {
                Item::Table(rows) => self.table(&rows),
                Item::Line(line) => {
                    match headings.level(&line, above.as_ref()) {
                        Some(level) => self.heading(level, line.text.trim(), number, Some(&line)),
                        None => self.line(&line),
                    }
                    above = Some(line);
                }
            }
        }
    }

    fn page_of_outline(&mut self, items: Vec<Item>, mut entries: Vec<&OutlineEntry>, number: usize) {
        let mut at = 0;
        while at < items.len() {
            let taken = (1..=MAX_TITLE_LINES).find_map(|count| {
                let text = joined(items.get(at..at + count)?)?;
                Some((take_entries(&mut entries, &text)?, text, count))
            });
            match (taken, &items[at]) {
                (Some((mut taken, text, count)), _) => {
                    let own = taken.pop();
                    for before in taken {
                        self.unplaced(before, number);
                    }
                    self.heading(own.map_or(2, |own| own.level + 1), &text, number, None);
                    at += count;
                    continue;
                }
                (None, Item::Table(rows)) => self.table(rows),
                (None, Item::Line(line)) => self.line(line),
            }
            at += 1;
        }
        // An outline title that is not on its page, such as that of a part, still begins there.
        for entry in entries {
            self.unplaced(entry, number);
        }
    }

    fn heading(&mut self, level: usize, text: &str, page: usize, line: Option<&Line>) {
        self.end_block();
        if letters(text).is_empty() || self.repeats_title(text) {
            return;
        }
        let escaped = markdown_text::escape(text);
        if self.continues_heading(level, text, page, line) {
            self.extend_heading(&escaped);
            self.last_heading = Some((level, page, line.cloned()));
            return;
        }
        // Only the first heading of a page can have the anchor of its page.
        let id = (self.page != page).then(|| format!("page={page}"));
        self.page = page;
        self.blocks.push(markdown_text::heading(level, &escaped, id.as_deref()));
        self.last_heading = Some((level, page, line.cloned()));
    }

    /// Whether a heading is the next line of the last one.
    fn continues_heading(&self, level: usize, text: &str, page: usize, line: Option<&Line>) -> bool {
        let (Some((last_level, last_page, Some(last))), Some(line)) = (&self.last_heading, line) else {
            return false;
        };
        let length = self.blocks.last().map_or(0, |block| block.chars().count());
        *last_level == level
            && *last_page == page
            && level < 6
            && !text.starts_with(|first: char| first.is_ascii_digit())
            && (0.0..1.5 * line.size).contains(&(line.y - last.y))
            && length + text.chars().count() <= MAX_HEADING_CHARACTERS
    }

    fn extend_heading(&mut self, text: &str) {
        if let Some(last) = self.blocks.last_mut() {
            *last = match last.rsplit_once(" {#") {
                Some((heading, id)) => format!("{heading} {text} {{#{id}"),
                None => format!("{last} {text}"),
            };
        }
    }

    /// Whether a line at the beginning repeats the heading of the page, or words of it.
    fn repeats_title(&self, text: &str) -> bool {
        let text = words(text);
        let is_beginning = self.blocks.len() <= 1 && self.paragraph.is_empty() && self.code.is_empty();
        is_beginning && text.len() >= 5 && self.title.contains(&text)
    }

    fn unplaced(&mut self, entry: &OutlineEntry, page: usize) {
        let is_title = words(&entry.title) == self.title;
        if !is_title {
            self.heading(entry.level + 1, &entry.title, page, None);
        }
    }

    fn table(&mut self, rows: &[Vec<String>]) {
        self.end_block();
        self.last_heading = None;
        let escaped: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|cell| markdown_text::escape(cell)).collect())
            .collect();
        self.blocks.push(markdown_text::table(&escaped));
    }

    fn line(&mut self, line: &Line) {
        self.last_heading = None;
        if self.repeats_title(&line.text) {
            return;
        }
        if let Some(entry) = paragraph::contents_entry(&line.text) {
            self.end_paragraph();
            self.end_code();
            self.contents.push(format!("- {}", markdown_text::escape(&entry)));
            return;
        }
        self.end_contents();
        let is_within = line.pitch.is_some() && self.is_within_paragraph(line);
        if line.pitch.is_some() && !is_within {
            self.end_paragraph();
            if self
                .code
                .last()
                .is_some_and(|last| line.y - last.y > 3.0 * line.size || line.y < last.y)
            {
                self.end_code();
            }
            self.code.push(line.clone());
            return;
        }
        self.end_code();
        if let Some(last) = self.paragraph.last()
            && !is_within
            && !paragraph::continues(last, line, self.paragraph.first().unwrap_or(last))
        {
            self.end_paragraph();
        }
        self.paragraph.push(line.clone());
    }

    /// Whether a line of code is the rest of a sentence, which only happens to have no other word.
    fn is_within_paragraph(&self, line: &Line) -> bool {
        let (Some(first), Some(last)) = (self.paragraph.first(), self.paragraph.last()) else {
            return false;
        };
        let is_open = !last.text.trim_end().ends_with(['.', ':', '!', '?', ';']);
        let is_close = (0.0..1.35 * line.size).contains(&(line.y - last.y));
        let starts_there = (line.x - first.x).abs() < 0.3 * line.size || (line.x - last.x).abs() < 0.3 * line.size;
        is_open && is_close && starts_there && line.end < last.end
    }

    /// A paragraph may continue on the next page, code may not.
    fn end_page(&mut self) {
        self.end_code();
        self.end_contents();
        if self.paragraph.last().is_some_and(paragraph::is_closed) {
            self.end_paragraph();
        }
    }

    fn end_block(&mut self) {
        self.end_paragraph();
        self.end_code();
        self.end_contents();
    }

    fn end_contents(&mut self) {
        let entries = std::mem::take(&mut self.contents);
        if !entries.is_empty() {
            self.blocks.push(entries.join("\n"));
        }
    }

    fn end_paragraph(&mut self) {
        let lines = std::mem::take(&mut self.paragraph);
        let text = paragraph::join(&lines, &self.words);
        if text.is_empty() {
            return;
        }
        self.blocks.push(match paragraph::list_item(&text) {
            Some(item) => format!("- {}", markdown_text::escape(item)),
            None => markdown_text::paragraph(&markdown_text::escape(&text)),
        });
    }

    /// Lines of code keep their indentation.
    fn end_code(&mut self) {
        let lines = std::mem::take(&mut self.code);
        let left = lines.iter().map(|line| line.x).fold(f64::INFINITY, f64::min);
        let mut code: Vec<String> = Vec::new();
        let mut previous: Option<&Line> = None;
        for line in &lines {
            let pitch = line.pitch.unwrap_or(1.0).max(0.5);
            let column = (((line.x - left) / pitch).round().max(0.0) as usize).min(200);
            // A blank line.
            if previous.is_some_and(|previous| line.y - previous.y > 1.9 * line.size) {
                code.push(String::new());
            }
            code.push(format!("{}{}", " ".repeat(column), line.text.trim_end()));
            previous = Some(line);
        }
        if !code.is_empty() {
            self.blocks.push(fence::block("", &code.join("\n")));
        }
    }
}

/// The text of lines that follow each other; `None` if one is a table.
fn joined(items: &[Item]) -> Option<String> {
    let texts: Option<Vec<&str>> = items
        .iter()
        .map(|item| match item {
            Item::Line(line) => Some(line.text.trim()),
            Item::Table(_) => None,
        })
        .collect();
    texts.map(|texts| texts.join(" "))
}
