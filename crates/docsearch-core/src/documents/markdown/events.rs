//! The parser events of a document, which is parsed in parts.
//!
//! A parser reads all its text before the first event, and keeps up to 96 bytes for each byte of it. So a long
//! document is parsed in parts, each from the end of the last whole block before. Blocks, inline markup and ranges
//! are those of the whole document. The exception is a block that alone is longer than a part: unless it is fenced
//! code, it ends with the part.

mod definitions;

use std::ops::Range;
use std::rc::Rc;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, OffsetIter, Options, Parser, Tag, TagEnd};

use crate::values::interrupt::{Steps, check};
use definitions::{Definitions, Lookup};

/// Only tables go beyond CommonMark: every other extension drops or joins words of text that is no Markdown.
const OPTIONS: Options = Options::ENABLE_TABLES;
/// Longest text of one parser, in bytes: an eighth of a second, and up to 100 MB of memory.
const PARSED_PART_BYTES: usize = 1 << 20;
/// Longest piece of code in one event, in bytes, after the first part of its block.
const CODE_BYTES: usize = 64 << 10;

/// The events of a document with their byte ranges.
pub(crate) fn events(markdown: &str) -> Events<'_> {
    Events::in_parts(markdown, PARSED_PART_BYTES)
}

/// See [`events`].
pub(crate) struct Events<'a> {
    text: &'a str,
    part_bytes: usize,
    /// The text of `parser`.
    part: Range<usize>,
    /// From where it has only link definitions and blanks.
    tail: usize,
    parser: OffsetIter<'a, Lookup>,
    definitions: Option<Rc<Definitions>>,
    /// Blocks and inline markup around the next event.
    depth: usize,
    /// End of the last whole block.
    done: usize,
    code: Option<LongCode>,
    steps: Steps,
}

/// A block of fenced code that is longer than its part.
struct LongCode {
    block: Range<usize>,
    /// The rest of the code, after the end of the part.
    rest: Range<usize>,
    /// Spaces before the fence; as many are removed from each line of the code.
    indent: usize,
}

impl<'a> Events<'a> {
    fn in_parts(text: &'a str, part_bytes: usize) -> Self {
        let definitions = (text.len() > part_bytes).then(|| Rc::new(Definitions::of(text)));
        let part = part(text, 0, part_bytes);
        Self {
            text,
            part_bytes,
            parser: parser(&text[part.clone()], definitions.as_ref()),
            tail: tail(text, &part),
            part,
            definitions,
            depth: 0,
            done: 0,
            code: None,
            steps: Steps::default(),
        }
    }

    fn read_from(&mut self, start: usize) {
        check();
        self.part = part(self.text, start, self.part_bytes);
        self.tail = tail(self.text, &self.part);
        self.done = start;
        self.parser = parser(&self.text[self.part.clone()], self.definitions.as_ref());
    }

    /// Whether the block may continue after the part: no other follows it there. Link definitions after a list may
    /// belong to it.
    fn is_last(&self, block: &Range<usize>) -> bool {
        let mut rest = self.text.as_bytes()[block.end.min(self.tail)..self.tail].iter();
        self.part.end < self.text.len() && rest.all(u8::is_ascii_whitespace)
    }

    fn rest_of_code(&mut self) -> Option<(Event<'a>, Range<usize>)> {
        let code = self.code.as_mut()?;
        if code.rest.is_empty() {
            let block = code.block.clone();
            self.code = None;
            self.depth = 0;
            self.read_from(block.end);
            return Some((Event::End(TagEnd::CodeBlock), block));
        }
        let limit = code.rest.end.min(code.rest.start + CODE_BYTES);
        let text = &self.text[code.rest.start..self.text.floor_char_boundary(limit)];
        let line_end = if code.indent > 0 {
            text.find('\n')
        } else {
            text.rfind('\n')
        };
        let text = &text[..line_end.map_or(text.len(), |at| at + 1)];
        let spaces = text.bytes().take(code.indent).take_while(|byte| *byte == b' ').count();
        let range = code.rest.start + spaces..code.rest.start + text.len();
        code.rest.start = range.end;
        Some((Event::Text(CowStr::Borrowed(&self.text[range.clone()])), range))
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = (Event<'a>, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        self.steps.next();
        loop {
            if self.depth == 0 && self.code.is_some() {
                return self.rest_of_code();
            }
            let Some((event, range)) = self.parser.next() else {
                if self.part.end == self.text.len() {
                    return None;
                }
                // The rest of the part has only link definitions and blanks.
                let next = if self.done > self.part.start {
                    self.done
                } else {
                    self.part.end
                };
                self.read_from(next);
                continue;
            };
            let mut range = range.start + self.part.start..range.end + self.part.start;
            if self.depth == 0 && self.is_last(&range) {
                let start = line_start(self.text, range.start).max(self.part.start);
                if start > self.part.start {
                    self.read_from(start);
                    continue;
                }
                if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) = &event {
                    let (code_end, block_end) = end_of_code(self.text, range.start, self.part.end);
                    range.end = block_end;
                    self.code = Some(LongCode {
                        block: range.clone(),
                        rest: self.part.end..code_end,
                        indent: range.start - start,
                    });
                }
            }
            match &event {
                Event::Start(_) => self.depth += 1,
                Event::End(_) => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.depth == 0 {
                self.done = range.end;
                if self.code.is_some() {
                    continue;
                }
            }
            return Some((event, range));
        }
    }
}

fn parser<'a>(part: &'a str, definitions: Option<&Rc<Definitions>>) -> OffsetIter<'a, Lookup> {
    let lookup = definitions.map(|definitions| Lookup(Rc::clone(definitions)));
    Parser::new_with_broken_link_callback(part, OPTIONS, lookup).into_offset_iter()
}

/// The part that begins at a position. It ends with a line, or else after white space, if there is any.
fn part(text: &str, start: usize, bytes: usize) -> Range<usize> {
    if text.len() - start <= bytes {
        return start..text.len();
    }
    let limit = text.floor_char_boundary(start + bytes);
    let part = &text[start..limit];
    let end = part.rfind('\n').map(|at| at + 1).or_else(|| {
        let space = part.char_indices().rev().find(|(_, letter)| letter.is_whitespace());
        space.map(|(at, letter)| at + letter.len_utf8())
    });
    start..end.map_or(limit, |end| start + end)
}

/// From where a part has only blank lines and lines that look like link definitions; its end, if it is the last.
fn tail(text: &str, part: &Range<usize>) -> usize {
    let mut tail = part.end;
    while part.end < text.len() && tail > part.start {
        let line = &text[part.start..tail];
        let line = &line[line
            .strip_suffix('\n')
            .unwrap_or(line)
            .rfind('\n')
            .map_or(0, |at| at + 1)..];
        if !line.trim().is_empty() && !definitions::looks_like_one(line) {
            break;
        }
        tail -= line.len();
    }
    tail
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// The ends of the code and of the block of the fence that opens at `start`. Neither is before `from`.
fn end_of_code(text: &str, start: usize, from: usize) -> (usize, usize) {
    let fence = text[start..].chars().next().unwrap_or('`');
    let length = text[start..].chars().take_while(|letter| *letter == fence).count();
    let mut at = from;
    let mut steps = Steps::default();
    for line in text[from..].split_inclusive('\n') {
        steps.next();
        let unindented = line.trim_start_matches(' ');
        let rest = unindented.trim_start_matches(fence);
        let closes = line.len() - unindented.len() < 4
            && unindented.len() - rest.len() >= length
            && rest.trim_matches([' ', '\t', '\r', '\n']).is_empty();
        if closes {
            return (at, at + line.trim_end_matches(['\r', '\n']).len());
        }
        at += line.len();
    }
    (text.len(), text.len())
}

#[cfg(test)]
mod tests;
