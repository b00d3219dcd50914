//! Packs units into bodies up to the budget.

use super::ChunkLimits;
use super::measure::Measure;
use super::prose;
use super::unit::Unit;
use crate::values::interrupt::Interruptible;
use std::borrow::Cow;

/// The markdown of a chunk, and its tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct Body {
    pub(super) text: String,
    pub(super) tokens: usize,
}

/// Fills bodies with units in order; a new body starts with the last sentences of the one before.
pub(super) fn pack(units: Vec<Unit<'_>>, budget: usize, limits: &ChunkLimits, measure: Measure<'_>) -> Vec<Body> {
    let mut packer = Packer {
        budget,
        limits,
        measure,
        bodies: Vec::new(),
        open: Vec::new(),
        tokens: 0,
        fresh: false,
    };
    for unit in units.into_iter().interruptible() {
        packer.add(unit);
    }
    packer.close();
    packer.bodies
}

/// The Markdown of consecutive units.
pub(super) fn joined(units: &[Unit<'_>]) -> Body {
    let mut text = String::new();
    for unit in units {
        if text.is_empty() && unit.inner {
            text.push_str(&literal_start(unit.text.trim_start()));
            continue;
        }
        if !unit.inner && !text.is_empty() && !text.ends_with('\n') {
            text.push_str("\n\n");
        }
        text.push_str(&unit.text);
    }
    text.truncate(text.trim_end().len());
    let blank = text.len() - text.trim_start().len();
    let first_line = text[..blank].rfind('\n').map_or(0, |newline| newline + 1);
    text.drain(..first_line);
    Body {
        text,
        tokens: units.iter().map(|unit| unit.tokens).sum(),
    }
}

struct Packer<'a, 'l> {
    budget: usize,
    limits: &'l ChunkLimits,
    measure: Measure<'l>,
    bodies: Vec<Body>,
    open: Vec<Unit<'a>>,
    tokens: usize,
    /// Whether `open` has more than the overlap.
    fresh: bool,
}

impl<'a> Packer<'a, '_> {
    fn add(&mut self, unit: Unit<'a>) {
        if self.fresh && self.tokens + unit.tokens > self.budget {
            if self.tokens < self.limits.min_tokens {
                if unit.tokens > self.budget {
                    // A block that exceeds the budget anyway takes its lead-in along.
                    return self.push(unit);
                }
                if unit.prose && self.add_sentences(&unit) {
                    return;
                }
            }
            self.close();
        }
        if self.tokens + unit.tokens > self.budget {
            self.open.clear();
            self.tokens = 0;
        }
        self.push(unit);
    }

    /// Adds a block of prose by sentences; false if it is a single one.
    fn add_sentences(&mut self, unit: &Unit<'a>) -> bool {
        let sentences = self.sentences(unit);
        let divisible = sentences.len() > 1;
        if divisible {
            for sentence in sentences {
                self.add(sentence);
            }
        }
        divisible
    }

    fn sentences(&self, unit: &Unit<'a>) -> Vec<Unit<'a>> {
        prose::split(&unit.text, self.budget, self.measure)
            .into_iter()
            .map(|(range, tokens)| Unit {
                inner: unit.inner || range.start > 0,
                text: match &unit.text {
                    Cow::Borrowed(text) => Cow::Borrowed(&text[range]),
                    Cow::Owned(text) => Cow::Owned(text[range].to_owned()),
                },
                tokens,
                prose: true,
            })
            .collect()
    }

    fn push(&mut self, unit: Unit<'a>) {
        self.tokens += unit.tokens;
        self.open.push(unit);
        self.fresh = true;
    }

    fn close(&mut self) {
        if !self.fresh {
            return;
        }
        self.bodies.push(joined(&self.open));
        self.open = self.overlap();
        self.tokens = self.open.iter().map(|unit| unit.tokens).sum();
        self.fresh = false;
    }

    /// The last sentences of the open body, up to the overlap and less than half of the budget.
    fn overlap(&self) -> Vec<Unit<'a>> {
        let room = self.limits.overlap_tokens.min(self.budget / 2);
        let mut tail = Vec::new();
        let mut tokens = 0;
        for unit in self.open.iter().rev().take_while(|unit| unit.prose) {
            let sentences = if unit.tokens <= room {
                vec![unit.clone()]
            } else {
                self.sentences(unit)
            };
            let whole = sentences.len();
            let kept = sentences
                .into_iter()
                .rev()
                .take_while(|sentence| {
                    tokens += sentence.tokens;
                    tokens <= room
                })
                .collect::<Vec<_>>();
            let stop = kept.len() < whole;
            tail.extend(kept);
            if stop {
                break;
            }
        }
        tail.reverse();
        tail
    }
}

/// Escapes the middle of a paragraph at the beginning of a body, so that it is not parsed as a heading, list, fence
/// or link definition: words would disappear from its plain text.
fn literal_start(text: &str) -> Cow<'_, str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let after_digits = text.as_bytes().get(digits);
    if digits > 0 && matches!(after_digits, Some(b'.' | b')')) {
        return Cow::Owned(format!("{}\\{}", &text[..digits], &text[digits..]));
    }
    let block_like = match text.as_bytes().first() {
        Some(b'#' | b'>' | b'-' | b'+' | b'=' | b'|') => true,
        Some(b'*') => text[1..].starts_with(char::is_whitespace),
        Some(b'~') => text.starts_with("~~~"),
        Some(b'`') => text.starts_with("```"),
        Some(b'[') => text.contains("]:"),
        _ => false,
    };
    if block_like {
        Cow::Owned(format!("\\{text}"))
    } else {
        Cow::Borrowed(text)
    }
}
