//! Lists and definition lists.

use asciidoc_parser::blocks::{Block, IsBlock, ListBlock, ListItem, ListItemMarker};

use super::inline;
use super::scope::Scope;
use crate::text::{fence, markdown_text, target, term};

/// Maximum length of a term with an id that opens a section.
const MAX_WORD_CHARACTERS: usize = 60;

/// Converts the blocks of an item.
pub(super) type ItemReader = for<'a> fn(&'a ListItem<'a>, Scope) -> Vec<String>;

/// The kind of an item. A list may have items of several kinds, since those of the parser do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bullet,
    Number,
    Term,
}

impl Kind {
    fn of(item: &ListItem<'_>) -> Self {
        match item.list_item_marker() {
            ListItemMarker::DefinedTerm { .. } => Self::Term,
            ListItemMarker::Hyphen(_) | ListItemMarker::Asterisks(_) | ListItemMarker::Bullet(_) => Self::Bullet,
            _ => Self::Number,
        }
    }
}

/// Converts a list to Markdown blocks.
pub(super) fn blocks<'a>(list: &'a ListBlock<'a>, scope: Scope, read: ItemReader) -> Vec<String> {
    let all: Vec<&ListItem<'_>> = list_items(list).collect();
    let mut number = list.start().unwrap_or(1).clamp(0, 1_000_000);
    let mut id = list.id().map(str::to_owned);
    let mut output = Vec::new();
    for items in all.chunk_by(|item, next| Kind::of(item) == Kind::of(next)) {
        match Kind::of(items[0]) {
            Kind::Term => output.extend(definitions(items, id.take(), scope, read)),
            Kind::Bullet => output.push(self::items(items, None, scope, read)),
            Kind::Number => {
                output.push(self::items(items, Some(number), scope, read));
                number = number.saturating_add(items.len().try_into().unwrap_or_default());
            }
        }
    }
    output
}

/// A list with numbers from `first`, or with bullets.
fn items<'a>(items: &[&'a ListItem<'a>], first: Option<i64>, scope: Scope, read: ItemReader) -> String {
    let mut output = Vec::new();
    for (offset, item) in (0..).zip(items) {
        let marker = match (first, item.checkbox()) {
            (Some(first), _) => format!("{}. ", first.saturating_add(offset)),
            (None, Some(true)) => "- [x] ".to_owned(),
            (None, Some(false)) => "- [ ] ".to_owned(),
            (None, None) => "- ".to_owned(),
        };
        let width = if first.is_some() { marker.len() } else { 2 };
        output.push(format!(
            "{marker}{}",
            markdown_text::hang(&body(item, scope, read), width)
        ));
    }
    markdown_text::list(&output)
}

/// The blocks of an item. A list directly below its text makes it tight.
fn body<'a>(item: &'a ListItem<'a>, scope: Scope, read: ItemReader) -> String {
    let blocks = read(item, scope.enclosed());
    let mut output = String::new();
    for block in blocks {
        if !output.is_empty() {
            let is_list = !block.contains("\n\n") && block.starts_with(['-', '1']) && !output.contains("\n\n");
            output.push_str(if is_list && is_item(&block) { "\n" } else { "\n\n" });
        }
        output.push_str(&block);
    }
    output
}

fn is_item(block: &str) -> bool {
    block.starts_with("- ") || block.starts_with("1. ")
}

/// Whether a text cannot follow a label on the same line.
fn opens_block(text: &str) -> bool {
    let number = text.bytes().take_while(u8::is_ascii_digit).count();
    text.is_empty()
        || number > 0 && text[number..].starts_with(". ")
        || text.starts_with(['#', '|', '>'])
        || text.starts_with("- ")
        || text.starts_with("```")
}

fn list_items<'a>(list: &'a ListBlock<'a>) -> impl Iterator<Item = &'a ListItem<'a>> {
    list.child_blocks().filter_map(|block| match block {
        Block::ListItem(item) => Some(item),
        _ => None,
    })
}

/// Terms and their definition.
#[derive(Default)]
struct Definition {
    names: Vec<term::Name>,
    /// Markdown.
    terms: Vec<String>,
    id: Option<String>,
}

fn definitions<'a>(items: &[&'a ListItem<'a>], id: Option<String>, scope: Scope, read: ItemReader) -> Vec<String> {
    let mut output = Vec::new();
    let mut entry = Definition {
        id,
        ..Definition::default()
    };
    let mut items = items.iter().copied().peekable();
    while let Some(item) = items.next() {
        entry.add(item);
        // Terms without a definition share that of the next one.
        if item.child_blocks().next().is_some() || items.peek().is_none() {
            output.extend(std::mem::take(&mut entry).blocks(item, scope, read));
        }
    }
    match scope.allows_headings {
        true => output,
        false => vec![markdown_text::list(&output)],
    }
}

impl Definition {
    fn add<'a>(&mut self, item: &'a ListItem<'a>) {
        let ListItemMarker::DefinedTerm { term: content, .. } = item.list_item_marker() else {
            return;
        };
        let nodes = content.inlines();
        let id = item.id().or_else(|| inline::anchor(nodes));
        if self.id.is_none() {
            self.id = id.map(str::to_owned);
        }
        let plain = unquoted(&inline::plain(nodes));
        let markdown = inline::markdown(nodes);
        let is_code = inline::is_code(nodes) || is_quoted(&inline::plain(nodes));
        let is_word = plain
            .chars()
            .all(|character| character.is_alphabetic() || " -'/".contains(character));
        // A term with an id is meant to be found, and a single word may be a glossary entry.
        let is_glossary = id.is_some() && is_word && plain.chars().count() <= MAX_WORD_CHARACTERS;
        let name = match !is_code && (is_glossary || term::is_question(&plain)) {
            true => Some(term::Name {
                heading: markdown.trim().to_owned(),
                synopsis: None,
            }),
            false => term::name(&plain, is_code),
        };
        self.names.extend(name);
        self.terms.push(markdown);
    }

    fn blocks<'a>(self, item: &'a ListItem<'a>, scope: Scope, read: ItemReader) -> Vec<String> {
        let is_heading = scope.allows_headings
            && !self.names.is_empty()
            && self.names.len() == self.terms.len()
            && markdown_text::has_level_below(scope.level);
        if is_heading {
            let level = scope.level + 1;
            let mut output = vec![markdown_text::heading(
                level,
                &term::heading(&self.names),
                self.id.as_deref(),
            )];
            let synopses: Vec<&str> = self.names.iter().filter_map(|name| name.synopsis.as_deref()).collect();
            if !synopses.is_empty() {
                output.push(fence::block("", &synopses.join("\n")));
            }
            output.extend(read(item, scope.below(level)));
            return output;
        }
        let names = match self.names.len() == self.terms.len() {
            true => term::heading(&self.names),
            false => self.terms.join(", "),
        };
        let mark = self.id.as_deref().map(target::mark).unwrap_or_default();
        let label = match names.starts_with('`') && names.ends_with('`') {
            true => names,
            false => format!("**{}**", names.trim().trim_matches('*')),
        };
        let label = format!("{mark}{label}");
        if scope.allows_headings {
            let mut output = vec![label];
            output.extend(read(item, scope.below(scope.level)));
            return output;
        }
        let text = body(item, scope, read);
        let item = match text.contains("\n\n") || opens_block(&text) {
            true => format!("{label}\n\n{text}"),
            false => format!("{label}: {text}"),
        };
        vec![format!("- {}", markdown_text::hang(item.trim_end(), 2))]
    }
}

/// Older pages quote literals: `'add'`.
fn is_quoted(plain: &str) -> bool {
    let plain = plain.trim();
    plain.len() > 2 && plain.starts_with('\'') && plain.ends_with('\'')
}

fn unquoted(plain: &str) -> String {
    let plain = plain.trim();
    match is_quoted(plain) {
        true => plain.replace('\'', ""),
        false => match plain.strip_prefix('\'').and_then(|rest| rest.split_once('\'')) {
            Some((quoted, rest)) => format!("{quoted}{rest}"),
            None => plain.to_owned(),
        },
    }
}
