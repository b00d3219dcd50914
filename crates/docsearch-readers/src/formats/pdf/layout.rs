//! Groups lines into headings, paragraphs and code.

use std::collections::HashMap;

use super::outline::OutlineEntry;
use super::page::{Line, Page};
use crate::text::{fence, markdown_text};

/// A font that is larger than that of the text by this factor is one of headings.
const HEADING_SIZE: f64 = 1.15;
const MAX_HEADING_CHARACTERS: usize = 150;
/// Maximum heading levels by font size.
const MAX_SIZES: usize = 4;
/// Lines at the top and at the bottom that may be running titles.
const MARGIN_LINES: usize = 3;

/// The title of the document, and the Markdown of its pages. If neither outline nor fonts give headings, every page is
/// a section.
pub(super) fn markdown(
    mut pages: Vec<Page>,
    outline: &[OutlineEntry],
    title: Option<String>,
) -> (Option<String>, String) {
    remove_running_titles(&mut pages);
    let body_size = body_size(&pages);
    let sizes = heading_sizes(&pages, body_size);
    let title = title.or_else(|| largest(&pages, body_size));
    let mut writer = Writer {
        title: title.as_deref().map(letters).unwrap_or_default(),
        ..Writer::default()
    };
    if let Some(title) = &title {
        writer
            .blocks
            .push(markdown_text::heading(1, &markdown_text::escape(title), None));
    }
    let is_by_pages = outline.is_empty() && sizes.is_empty();
    for page in &pages {
        let mut entries: Vec<&OutlineEntry> = outline.iter().filter(|entry| entry.page == page.number).collect();
        if is_by_pages && !page.lines.is_empty() && pages.len() > 1 {
            writer.heading(2, &format!("Page {}", page.number), page.number);
        }
        for line in &page.lines {
            let level = match outline.is_empty() {
                true => sizes.iter().position(|&size| same(size, line.size)).map(|at| at + 2),
                false => take_entries(&mut entries, line).map(|mut taken| {
                    let own = taken.pop();
                    for before in taken {
                        writer.unplaced(before, page.number);
                    }
                    own.map_or(2, |own| own.level + 1)
                }),
            };
            match level.filter(|_| line.pitch.is_none() || !outline.is_empty()) {
                Some(level) => writer.heading(level, line.text.trim(), page.number),
                None => writer.line(line),
            }
        }
        // An outline title that is not on its page, such as that of a part, still begins there.
        for entry in entries {
            writer.unplaced(entry, page.number);
        }
        writer.end_page();
    }
    writer.end_block();
    (title, markdown_text::page(&writer.blocks))
}

/// Whether a heading can be the title.
pub(super) fn has_heading(pages: &[Page], outline: &[OutlineEntry]) -> bool {
    !outline.is_empty() || largest(pages, body_size(pages)).is_some()
}

fn letters(text: &str) -> String {
    text.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn same(left: f64, right: f64) -> bool {
    (left - right).abs() < 0.05 * left.max(right)
}

/// The outline entry with the title of the line, with or without its number, after the previous entries.
fn take_entries<'a>(entries: &mut Vec<&'a OutlineEntry>, line: &Line) -> Option<Vec<&'a OutlineEntry>> {
    let text = letters(&line.text);
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

/// The font size of most characters.
fn body_size(pages: &[Page]) -> f64 {
    let mut sizes: HashMap<i64, usize> = HashMap::new();
    for line in pages
        .iter()
        .flat_map(|page| &page.lines)
        .filter(|line| line.pitch.is_none())
    {
        *sizes.entry((line.size * 10.0).round() as i64).or_default() += line.text.len();
    }
    let most = sizes.into_iter().max_by_key(|&(size, count)| (count, size));
    most.map_or(10.0, |(size, _)| size as f64 / 10.0)
}

/// The font sizes of headings, largest first.
fn heading_sizes(pages: &[Page], body: f64) -> Vec<f64> {
    let mut sizes: Vec<f64> = Vec::new();
    let lines = pages
        .iter()
        .flat_map(|page| &page.lines)
        .filter(|line| is_heading(line, body));
    for line in lines {
        if !sizes.iter().any(|&size| same(size, line.size)) && sizes.len() < 100 {
            sizes.push(line.size);
        }
    }
    sizes.sort_by(|left, right| right.total_cmp(left));
    // The largest is the title, if only one line has it.
    let is_title = |size: f64| {
        pages
            .iter()
            .flat_map(|page| &page.lines)
            .filter(|line| same(line.size, size))
            .count()
            <= 2
    };
    if sizes.len() > 1 && is_title(sizes[0]) {
        sizes.remove(0);
    }
    sizes.truncate(MAX_SIZES);
    sizes
}

fn is_heading(line: &Line, body: f64) -> bool {
    let letters = line.text.chars().filter(|character| character.is_alphabetic()).count();
    line.size > HEADING_SIZE * body
        && letters >= 2
        && line.text.chars().count() <= MAX_HEADING_CHARACTERS
        && line.pitch.is_none()
}

/// The largest lines of the first page.
fn largest(pages: &[Page], body: f64) -> Option<String> {
    let lines = || {
        pages
            .first()
            .into_iter()
            .flat_map(|page| &page.lines)
            .filter(|line| is_heading(line, body))
    };
    let size = lines().map(|line| line.size).max_by(f64::total_cmp)?;
    let title: Vec<&str> = lines()
        .filter(|line| same(line.size, size))
        .take(3)
        .map(|line| line.text.trim())
        .collect();
    Some(title.join(" "))
}

/// Removes page numbers, and lines that repeat at the top or bottom of many pages apart from their numbers.
fn remove_running_titles(pages: &mut [Page]) {
    let key = |line: &Line| -> String {
        line.text
            .chars()
            .filter(|character| !character.is_ascii_digit() && !character.is_whitespace())
            .collect()
    };
    let is_marginal = |page: &Page, at: usize| {
        let y = page.lines[at].y;
        let above = page.lines.iter().filter(|line| line.y < y - 1.0).count();
        let below = page.lines.iter().filter(|line| line.y > y + 1.0).count();
        (above < MARGIN_LINES && y < 0.15 * page.height) || (below < MARGIN_LINES && y > 0.85 * page.height)
    };
    let mut counts: HashMap<String, usize> = HashMap::new();
    for page in pages.iter() {
        let mut keys: Vec<String> = (0..page.lines.len())
            .filter(|&at| is_marginal(page, at))
            .map(|at| key(&page.lines[at]))
            .collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            *counts.entry(key).or_default() += 1;
        }
    }
    let count = pages.len();
    // Left and right pages may have different titles, as may chapters.
    let is_running = |key: &str, times: usize| times >= 3 && (times * 4 >= count || key.is_empty());
    for page in pages {
        let keep: Vec<bool> = (0..page.lines.len())
            .map(|at| {
                let key = key(&page.lines[at]);
                let times = counts.get(&key).copied().unwrap_or(0);
                !(is_marginal(page, at) && is_running(&key, times))
            })
            .collect();
        let mut keep = keep.into_iter();
        page.lines.retain(|_| keep.next().unwrap_or(true));
    }
}

#[derive(Default)]
struct Writer {
    blocks: Vec<String>,
    /// Letters of the title, which is written already.
    title: String,
    paragraph: Vec<Line>,
    code: Vec<Line>,
    /// Page of the last heading, and whether the last block is a heading.
    page: usize,
    follows_heading: Option<(usize, usize)>,
}

impl Writer {
    fn heading(&mut self, level: usize, text: &str, page: usize) {
        self.end_block();
        if letters(text).is_empty() || self.repeats_title(text) {
            return;
        }
        // A heading may have several lines.
        let escaped = markdown_text::escape(text);
        if let (Some((last_level, last_page)), Some(last)) = (self.follows_heading, self.blocks.last_mut())
            && last_level == level
            && last_page == page
            && !text.starts_with(|first: char| first.is_ascii_digit())
            && level < 6
        {
            let (heading, id) = match last.rsplit_once(" {#") {
                Some((heading, id)) => (heading.to_owned(), format!(" {{#{id}")),
                None => (last.clone(), String::new()),
            };
            if heading.chars().count() + text.chars().count() <= MAX_HEADING_CHARACTERS {
                *last = format!("{heading} {escaped}{id}");
                return;
            }
        }
        // Only the first heading of a page can have the anchor of its page.
        let id = (self.page != page).then(|| format!("page={page}"));
        self.page = page;
        self.blocks.push(markdown_text::heading(level, &escaped, id.as_deref()));
        self.follows_heading = Some((level, page));
    }

    /// Whether a line at the beginning repeats the heading of the page.
    fn repeats_title(&self, text: &str) -> bool {
        let text = letters(text);
        let is_beginning = self.blocks.len() <= 1 && self.paragraph.is_empty() && self.code.is_empty();
        is_beginning && text.len() >= 3 && self.title.contains(&text)
    }

    fn unplaced(&mut self, entry: &OutlineEntry, page: usize) {
        let is_title = letters(&entry.title) == self.title;
        if !is_title {
            self.heading(entry.level + 1, &entry.title, page);
            self.follows_heading = None;
        }
    }

    fn line(&mut self, line: &Line) {
        self.follows_heading = None;
        if self.repeats_title(&line.text) {
            return;
        }
        if line.pitch.is_some() {
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
            && !continues(last, line, self.paragraph.first().unwrap_or(last))
        {
            self.end_paragraph();
        }
        self.paragraph.push(line.clone());
    }

    /// A paragraph may continue on the next page, code may not.
    fn end_page(&mut self) {
        self.end_code();
        let ends = self
            .paragraph
            .last()
            .is_some_and(|line| line.text.trim_end().ends_with(['.', ':', '!', '?', ';']));
        if ends {
            self.end_paragraph();
        }
    }

    fn end_block(&mut self) {
        self.end_paragraph();
        self.end_code();
    }

    fn end_paragraph(&mut self) {
        let mut text = String::new();
        for line in std::mem::take(&mut self.paragraph) {
            let next = line.text.trim();
            let begins_small = next.starts_with(char::is_lowercase);
            let hyphen = text
                .strip_suffix('-')
                .filter(|before| begins_small && before.ends_with(char::is_alphabetic));
            match hyphen.map(str::len) {
                Some(length) => text.truncate(length),
                None if text.is_empty() => {}
                None => text.push(' '),
            }
            text.push_str(next);
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return;
        }
        self.blocks
            .push(match text.strip_prefix(['•', '◦', '▪', '–', '‣', '●']) {
                Some(item) if item.starts_with(' ') => format!("- {}", markdown_text::escape(item.trim())),
                _ => markdown_text::paragraph(&markdown_text::escape(&text)),
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

/// Whether a line continues the paragraph whose last line is `last` and whose first is `first`.
fn continues(last: &Line, line: &Line, first: &Line) -> bool {
    let distance = line.y - last.y;
    let is_new_column = distance < -line.size;
    let opens = line.text.trim_start().starts_with(['•', '◦', '▪', '‣', '●']);
    let is_indented = line.x > first.x + 0.8 * line.size && last.x <= first.x + 0.3 * line.size && first.y != last.y;
    same(last.size, line.size) && !opens && (is_new_column || distance < 1.7 * line.size) && !is_indented
}
