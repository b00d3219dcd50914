//! The marks of list items and headings: how each level counts, and what comes next.

use std::collections::{HashMap, HashSet};

use super::number::{self, Format};
use super::symbol;
use crate::bytes::xml::Element;

const MAX_LEVELS: usize = 9;
/// Every paragraph of a list has the text of its level.
const MAX_LABEL_CHARACTERS: usize = 60;

/// The lists of a document.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    /// By the number that paragraphs name.
    lists: HashMap<String, List>,
    /// Levels by the number of their definition.
    definitions: HashMap<String, Vec<Level>>,
}

#[derive(Debug, Default)]
struct List {
    definition: String,
    /// First numbers and levels that differ from the definition.
    starts: HashMap<usize, u32>,
    levels: HashMap<usize, Level>,
}

#[derive(Debug, Clone)]
struct Level {
    start: u32,
    format: Format,
    /// `%1.%2)`, with the number of each level, or the sign of a bullet.
    text: String,
    /// The level, from 1, that begins the count again; 0 is none, and any higher one if not given.
    restart: Option<usize>,
    /// Whether the numbers of all levels are decimal.
    is_legal: bool,
    /// The paragraph style of this level.
    style: Option<String>,
}

impl Default for Level {
    fn default() -> Self {
        Self {
            start: 1,
            format: Format::Bullet,
            text: String::new(),
            restart: None,
            is_legal: false,
            style: None,
        }
    }
}

/// The mark of a paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Label {
    /// The sign is empty if it is not known.
    Bullet(String),
    Number(String),
    /// Nothing is shown.
    None,
}

/// The last numbers of every definition, which all its lists share.
#[derive(Debug, Default)]
pub(super) struct Counters {
    numbers: HashMap<String, [Option<u32>; MAX_LEVELS]>,
    /// Lists and levels that have begun with a first number of their own.
    begun: HashSet<(String, usize)>,
}

impl Numbering {
    /// `styles` gives the list of a paragraph style.
    pub(super) fn read(root: &Element, list_of_style: impl Fn(&str) -> Option<String>) -> Self {
        let mut read = Self::default();
        let mut links = Vec::new();
        for one in root.elements().filter(|one| one.name == "abstractNum") {
            let id = one.attribute("abstractNumId").unwrap_or_default().to_owned();
            let mut levels = vec![Level::default(); MAX_LEVELS];
            for level in one.elements().filter(|level| level.name == "lvl") {
                if let Some(own) = place(level).and_then(|at| levels.get_mut(at)) {
                    *own = Level::read(level);
                }
            }
            if let Some(style) = value(one, "numStyleLink") {
                links.push((id.clone(), style.to_owned()));
            }
            read.definitions.insert(id, levels);
        }
        for one in root.elements().filter(|one| one.name == "num") {
            let mut list = List {
                definition: value(one, "abstractNumId").unwrap_or_default().to_owned(),
                ..List::default()
            };
            for change in one.elements().filter(|change| change.name == "lvlOverride") {
                let Some(at) = place(change) else { continue };
                if let Some(start) = value(change, "startOverride").and_then(|start| start.parse().ok()) {
                    list.starts.insert(at, start);
                }
                if let Some(level) = change.child("lvl") {
                    list.levels.insert(at, Level::read(level));
                }
            }
            read.lists
                .insert(one.attribute("numId").unwrap_or_default().to_owned(), list);
        }
        for (id, style) in links {
            let linked =
                list_of_style(&style).and_then(|list| read.definitions.get(&read.lists.get(&list)?.definition));
            if let Some(levels) = linked.cloned() {
                read.definitions.insert(id, levels);
            }
        }
        read
    }

    /// The level of a list that belongs to a paragraph style.
    pub(super) fn level_of_style(&self, list: &str, style: &str) -> Option<usize> {
        let levels = self.definitions.get(&self.lists.get(list)?.definition)?;
        levels.iter().position(|level| level.style.as_deref() == Some(style))
    }

    fn level(&self, list: &List, at: usize) -> Level {
        let own = list.levels.get(&at);
        let own = own.or_else(|| self.definitions.get(&list.definition)?.get(at));
        own.cloned().unwrap_or_default()
    }
}

impl Level {
    fn read(level: &Element) -> Self {
        let font = level.child("rPr").and_then(super::style::font);
        let format = Format::named(value(level, "numFmt").unwrap_or("decimal"));
        let default = format!("%{}.", place(level).unwrap_or(0) + 1);
        let text = value(level, "lvlText").unwrap_or(if format == Format::Bullet { "" } else { &default });
        let text: String = text.chars().take(MAX_LABEL_CHARACTERS).collect();
        Self {
            start: value(level, "start").and_then(|start| start.parse().ok()).unwrap_or(1),
            format,
            text: match format {
                Format::Bullet => symbol::shown(font, &text),
                _ => text,
            },
            restart: value(level, "lvlRestart").and_then(|restart| restart.parse().ok()),
            is_legal: level.child("isLgl").is_some(),
            style: value(level, "pStyle").map(str::to_owned),
        }
    }
}

impl Counters {
    /// The mark of the next paragraph of a list.
    pub(super) fn next(&mut self, numbering: &Numbering, id: &str, at: usize) -> Label {
        let at = at.min(MAX_LEVELS - 1);
        let Some(list) = numbering.lists.get(id) else {
            return Label::Bullet(String::new());
        };
        let levels: Vec<Level> = (0..MAX_LEVELS).map(|level| numbering.level(list, level)).collect();
        let numbers = self.numbers.entry(list.definition.clone()).or_default();
        let own_start = list.starts.get(&at).filter(|_| self.begun.insert((id.to_owned(), at)));
        numbers[at] = Some(match (own_start, numbers[at]) {
            (Some(start), _) => *start,
            (None, Some(last)) => last.saturating_add(1),
            (None, None) => levels[at].start,
        });
        for (above, level) in levels[..at].iter().enumerate() {
            numbers[above].get_or_insert(level.start);
        }
        for (below, level) in levels.iter().enumerate().skip(at + 1) {
            if level.restart.is_none_or(|restart| at < restart) {
                numbers[below] = None;
            }
        }
        match levels[at].format {
            Format::Bullet => Label::Bullet(levels[at].text.clone()),
            _ => match label(&levels, at, numbers) {
                text if text.is_empty() => Label::None,
                text => Label::Number(text),
            },
        }
    }
}

/// The text of a level with its numbers.
fn label(levels: &[Level], at: usize, numbers: &[Option<u32>]) -> String {
    let mut text = String::new();
    let mut rest = levels[at].text.as_str();
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        let digit = after.chars().next().and_then(|digit| digit.to_digit(10));
        let level = digit
            .and_then(|digit| (digit as usize).checked_sub(1))
            .filter(|&level| level < levels.len());
        rest = match level {
            Some(level) => {
                let is_decimal = levels[at].is_legal && levels[level].format != Format::None;
                let format = if is_decimal {
                    Format::Decimal
                } else {
                    levels[level].format
                };
                text.push_str(&number::text(format, numbers[level].unwrap_or(levels[level].start)));
                &after[1..]
            }
            None => {
                text.push('%');
                after
            }
        };
    }
    text.push_str(rest);
    text.trim().to_owned()
}

fn place(level: &Element) -> Option<usize> {
    level.attribute("ilvl")?.parse().ok()
}

fn value<'a>(parent: &'a Element, name: &str) -> Option<&'a str> {
    parent.child(name)?.attribute("val")
}
