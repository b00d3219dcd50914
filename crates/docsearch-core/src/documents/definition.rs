//! Names that a page defines, in its headings and in lines like signatures.
//!
//! Reference manuals describe many functions on one page. A query for one of them should find the page that defines
//! it, not those that call it.

use std::collections::BTreeMap;

use crate::documents::markdown::{BlockKind, Section, blocks, sections};
use crate::text::identifier::is_identifier;
use crate::text::name::key;
use crate::text::title::unqualified;
use crate::text::token::qualified_segments;
use crate::values::interrupt::Interruptible;

/// Most documents of a project that may define a name: more do not identify one (docs/decisions/0008-ranking.md). The
/// weights up to there, see [`share`], are chosen.
pub const MAX_DEFINING_DOCUMENTS: usize = 3;
/// Most names that one page may define: more are a list, or an attack.
const MAX_DEFINITIONS: usize = 5_000;
/// Longest signature, in bytes. Like the next, chosen: prose is longer.
const MAX_SIGNATURE_BYTES: usize = 300;
/// Most words before the name of a signature.
const MAX_DECLARED: usize = 6;
/// Fewest words of a sentence. Chosen.
const MIN_SENTENCE_WORDS: usize = 3;

/// Least share of rows with code in the first cell, in percent, of a table that defines names.
const MIN_CODE_ROWS_PERCENT: usize = 80;

/// Most names that an anchor may be made of.
const MAX_ANCHOR_NAMES: usize = 4;

/// Words before a defined name. They are keywords of programming languages and words of manuals, not of queries, so
/// they are no rules: documents are read without them.
const DECLARING: [&str; 46] = [
    "abstract",
    "async",
    "attribute",
    "bool",
    "char",
    "class",
    "classmethod",
    "const",
    "constant",
    "coroutine",
    "data",
    "def",
    "double",
    "enum",
    "event",
    "exception",
    "export",
    "extern",
    "float",
    "fn",
    "func",
    "function",
    "inline",
    "int",
    "interface",
    "let",
    "long",
    "macro",
    "method",
    "module",
    "object",
    "private",
    "property",
    "protected",
    "protocol",
    "pub",
    "public",
    "short",
    "signed",
    "static",
    "staticmethod",
    "struct",
    "trait",
    "type",
    "unsigned",
    "void",
];

/// Where a page defines a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// The name as it is written; a heading that is no name, whole.
    pub name: String,
    /// Heading of the section; empty before the first heading.
    pub section: String,
    /// Anchor of the section; empty before the first heading.
    pub anchor: String,
}

/// The names that the text of a page with this title defines, by their keys (see [`key`]), each where it is first
/// defined, at most 5,000.
///
/// A heading defines itself and the name in it: `attrs.define(maybe_cls=None)` defines `attrs.define`. A heading that
/// begins with a dot is also a member of the page, by its title and its first heading. A line of text defines a name
/// if it looks like its signature. Code blocks are examples and define nothing.
pub fn definitions(title: &str, markdown: &str) -> BTreeMap<String, Definition> {
    let mut found = Definitions::default();
    let sections = sections(markdown);
    for section in &sections {
        let Some(heading) = section.heading_path.last() else {
            continue;
        };
        found.enter(section);
        found.heading(heading);
        let first = section.heading_path.first().map_or("", String::as_str);
        found.member(title, heading);
        found.member(first, heading);
    }
    let blocks = blocks(markdown);
    let section_at = |at: usize| {
        let after = sections.partition_point(|section| section.range.start <= at);
        sections.get(after.saturating_sub(1))
    };
    for table in blocks.iter().filter(|block| block.kind == BlockKind::Table) {
        section_at(table.range.start).inspect(|section| found.enter(section));
        found.rows(&markdown[table.range.clone()]);
    }
    for (at, block) in blocks
        .iter()
        .enumerate()
        .interruptible()
        .filter(|(_, block)| block.kind == BlockKind::Prose)
    {
        section_at(block.range.start).inspect(|section| found.enter(section));
        let lines: Vec<&str> = markdown[block.range.clone()].lines().map(str::trim).collect();
        // The next paragraph may describe a line of its own.
        let after = blocks
            .get(at + 1)
            .filter(|after| lines.len() == 1 && after.kind == BlockKind::Prose);
        let after = after.and_then(|after| markdown[after.range.clone()].lines().next());
        for (at, line) in lines.iter().enumerate().interruptible() {
            found.name(signature(
                line,
                lines.get(at + 1).copied().or(after).unwrap_or_default().trim(),
            ));
        }
    }
    found.found
}

/// Whether a section with this heading defines the name with this key, or a short option as it is written, with its
/// dash: such options are no names, but are in headings. `owners` are the title of the page and the first heading
/// above, of which a heading that begins with a dot may be a member.
pub fn heading_defines<'a>(owners: impl IntoIterator<Item = &'a str>, heading: &str, key: &str) -> bool {
    if key.starts_with('-') {
        return has_option(heading, key);
    }
    let mut found = Definitions::default();
    found.heading(heading);
    for owner in owners {
        found.member(owner, heading);
    }
    found.found.contains_key(key)
}

/// Whether a text defines the name with this key, or has a heading with this short option.
pub fn defines(markdown: &str, key: &str) -> bool {
    if key.starts_with('-') {
        let mut headings = sections(markdown)
            .into_iter()
            .filter_map(|mut section| section.heading_path.pop());
        return headings.any(|heading| has_option(&heading, key));
    }
    definitions("", markdown).contains_key(key)
}

/// Keys of the names that an anchor may be made of, likeliest first: all of it, and the rest without its first parts.
pub fn anchor_names(anchor: &str) -> Vec<String> {
    let starts = anchor
        .match_indices(['-', '.', ':', '/'])
        .map(|(at, mark)| at + mark.len());
    let names = std::iter::once(0).chain(starts).take(MAX_ANCHOR_NAMES);
    let keys = names.map(|start| key(&anchor[start..]));
    keys.filter(|key| key.contains(char::is_alphanumeric)).collect()
}

/// Share of the strength of a definition, by the number of documents of a project that define the name.
pub fn share(documents: usize) -> f32 {
    match documents {
        1 => 1.0,
        2 => 0.75,
        3 => 0.5,
        _ => 0.0,
    }
}

#[derive(Default)]
struct Definitions {
    found: BTreeMap<String, Definition>,
    /// Heading and anchor of the section that is read.
    section: (String, String),
}

impl Definitions {
    fn enter(&mut self, section: &Section) {
        let heading = section.heading_path.last();
        self.section = (heading.cloned().unwrap_or_default(), section.anchor.clone());
    }

    fn add(&mut self, text: &str) {
        if self.found.len() < MAX_DEFINITIONS {
            let key = key(text);
            if !key.is_empty() {
                let (section, anchor) = &self.section;
                self.found.entry(key).or_insert_with(|| Definition {
                    name: text.to_owned(),
                    section: section.clone(),
                    anchor: anchor.clone(),
                });
            }
        }
    }

    fn heading(&mut self, heading: &str) {
        self.add(heading);
        self.name(heading_name(heading));
        if let Some(member) = member(heading).filter(|member| is_identifier(member)) {
            self.add(member);
        }
        let parts: Vec<&str> = heading.split([',', '|']).map(str::trim).collect();
        for option in parts.iter().filter_map(|part| option(part)) {
            self.add(option);
        }
    }

    /// `.code(status)` on a page with the title `Reply` is `reply.code` elsewhere.
    fn member(&mut self, owner: &str, heading: &str) {
        let owner = unqualified(owner);
        if let Some(member) = member(heading).filter(|_| is_name(owner)) {
            self.add(&format!("{owner}.{member}"));
        }
    }

    /// The names of a table whose first column has names of code.
    fn rows(&mut self, table: &str) {
        let cells = table.lines().skip(2).map(|row| {
            let row = row.trim().trim_start_matches('|');
            row.split('|').next().unwrap_or_default().trim()
        });
        let is_code = |cell: &&str| cell.len() > 2 && cell.starts_with('`') && cell.ends_with('`');
        let rows = cells.clone().interruptible().count();
        let names: Vec<&str> = cells.filter(is_code).collect();
        if names.len() * 100 < rows * MIN_CODE_ROWS_PERCENT {
            return;
        }
        for cell in names.into_iter().interruptible() {
            let name = cell
                .trim_matches('`')
                .split(['`', ' ', '(', '='])
                .next()
                .unwrap_or_default();
            match option(name) {
                Some(option) => self.add(option),
                None => self.name(Some(name).filter(|name| is_name(name) && is_identifier(name))),
            }
        }
    }

    /// A name, and the last part of a qualified one if that is no ordinary word.
    fn name(&mut self, name: Option<&str>) {
        let Some(name) = name else { return };
        self.add(name);
        if let Some(member) = qualified_segments(name).last().map(|range| &name[range.clone()])
            && is_identifier(member)
        {
            self.add(member);
        }
    }
}

/// The member in a heading that begins with a dot: `.code(statusCode)`.
fn member(heading: &str) -> Option<&str> {
    let rest = heading.trim_start_matches('`').strip_prefix('.')?;
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || "_.$".contains(c)))
        .unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| is_name(name))
}

/// The name of an option without its dashes. Short options have no name.
fn option(text: &str) -> Option<&str> {
    let text = text.trim_matches('`');
    let name = text.trim_start_matches('-');
    let end = name
        .find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)))
        .unwrap_or(name.len());
    let is_option = name.len() < text.len() && text.len() - name.len() <= 2;
    Some(&name[..end]).filter(|name| is_option && name.chars().count() > 1 && name.starts_with(char::is_alphanumeric))
}

/// Whether a heading has an option as it is written, with its dash: `-i` of `-i, --interactive`.
fn has_option(heading: &str, option: &str) -> bool {
    let parts = heading
        .split([',', '|'])
        .map(|part| part.trim().trim_start_matches('`'));
    let mut written = parts.map(|part| part.split(['`', ' ', '=', '<', '[']).next().unwrap_or_default());
    written.any(|written| written == option)
}

/// The name in a heading: the last word before parameters or the dash of a description.
fn heading_name(heading: &str) -> Option<&str> {
    let end = ["(", " — ", " – ", " - ", ": "]
        .iter()
        .filter_map(|mark| heading.find(mark))
        .filter(|&at| at > 0)
        .min();
    let head = heading[..end.unwrap_or(heading.len())].trim_end();
    let name = bare(head.split_whitespace().next_back()?);
    let alone = name.len() == head.len() && end.is_some();
    (is_name(name) && (alone || is_identifier(name))).then_some(name)
}

/// The name that a line defines, if it looks like a signature: `PyObject *PyList_New(Py_ssize_t len)`, `exception
/// subprocess.CalledProcessError`, `to_jsonb ( anyelement ) → jsonb`. `next` is the line after it.
fn signature<'a>(line: &'a str, next: &str) -> Option<&'a str> {
    let line = line.trim_matches('`');
    if line.len() > MAX_SIGNATURE_BYTES {
        return None;
    }
    let Some((head, parameters, rest)) = parenthesised(line) else {
        let (declared, name) = last_word(line)?;
        let typed = declared.len() == 1 && is_identifier(declared[0]) && is_identifier(name);
        return (is_name(name) && (typed || is_keyword_declaration(&declared))).then_some(name);
    };
    let (declared, name) = last_word(head)?;
    let returns = |text: &str| ["→", "->"].iter().any(|arrow| text.starts_with(arrow));
    let arrow = returns(rest) || rest.is_empty() && returns(next);
    let spaced = head.ends_with(' ');
    let ended = rest.is_empty() || rest == ";" || rest == ":" || rest == "const" || arrow;
    // `work_mem (integer)`, before a sentence that describes it.
    let typed = declared.is_empty() && is_identifier(name) && rest.is_empty() && is_sentence(next);
    if !is_name(name) || !ended || spaced && !arrow && !typed {
        return None;
    }
    let defines = match declared.as_slice() {
        [] => arrow || are_parameters(parameters) && is_sentence(next),
        declared if is_declaration(declared) => is_identifier(name) || is_keyword_declaration(declared),
        // No list has the words of all languages: `awaitable asyncio.gather(*aws)`.
        [word] => {
            let is_word = word.chars().all(char::is_lowercase);
            is_word && name.contains(['.', ':']) && are_parameters(parameters) && is_sentence(next)
        }
        _ => false,
    };
    defines.then_some(name)
}

/// The text before the first parenthesis, in it, and after its closing one.
fn parenthesised(line: &str) -> Option<(&str, &str, &str)> {
    let open = line.find('(')?;
    let mut depth = 0usize;
    for (at, c) in line[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let close = open + at;
            return Some((&line[..open], &line[open + 1..close], line[close + 1..].trim()));
        }
    }
    None
}

/// The words before the last one, and the last one without marks of a pointer.
fn last_word(head: &str) -> Option<(Vec<&str>, &str)> {
    let mut words: Vec<&str> = head.split_whitespace().collect();
    let name = words.pop()?;
    (words.len() <= MAX_DECLARED).then_some((words, bare(name)))
}

fn bare(word: &str) -> &str {
    word.trim_start_matches(['*', '&', '`']).trim_end_matches('`')
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || "_.:$".contains(c))
        && !text.ends_with(['.', ':'])
}

/// Whether every word can be in a declaration: a keyword or a type.
fn is_declaration(words: &[&str]) -> bool {
    let is_type = |word: &str| word.ends_with('*') || is_name(word) && is_identifier(word);
    words.iter().all(|word| DECLARING.contains(word) || is_type(word))
}

fn is_keyword_declaration(words: &[&str]) -> bool {
    !words.is_empty() && words.iter().all(|word| DECLARING.contains(word))
}

/// Whether the text in parentheses is parameters: names, and no plural ending of the word before it.
fn are_parameters(text: &str) -> bool {
    let is_parameter = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_,*/=[]|:.'<>".contains(c);
    !matches!(text.trim(), "" | "s" | "es")
        && text.chars().all(is_parameter)
        && text.starts_with(|c| !char::is_numeric(c))
}

/// Whether a line begins like a sentence that describes the line above it.
fn is_sentence(line: &str) -> bool {
    line.starts_with(char::is_uppercase) && line.split_whitespace().count() >= MIN_SENTENCE_WORDS
}

#[cfg(test)]
mod tests;
