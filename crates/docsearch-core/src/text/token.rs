//! The tokens of technical text, of documents and queries alike.
//!
//! The text search parser `docsearch.code_parser` runs this, on texts in the form in which they are compared (see
//! [`crate::text::form::Form`]). An identifier is emitted whole and then in its parts: `UITableView` gives a
//! [`TokenKind::Identifier`], then `UI`, `Table` and `View`. A run of a script without spaces gives its characters and
//! their pairs. A word with accents is followed by its [`TokenKind::Folded`] form. All other tokens, put together, are
//! the text again, so that headlines can be cut from them.

mod character;
mod kind;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use crate::text::form::{APOSTROPHES, FOLDED_MARK, Form, INNER_SIGNS, folded, is_mark};
use crate::text::identifier::Words;
use crate::values::interrupt::Steps;
pub(crate) use character::is_unspaced;
use character::{begins_word, is_bracket, is_operator, is_word, joins_at_apostrophe};
pub use kind::TokenKind;

/// Longest token, in bytes, that is emitted for indexing; a lexeme of a tsvector ends at 2,046.
pub const MAX_TOKEN_BYTES: usize = 255;

/// A token: its kind and its range in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Kind.
    pub kind: TokenKind,
    /// Bytes of the text.
    pub range: Range<usize>,
    /// Whether it is part of a name that was emitted before.
    pub inside_whole: bool,
}

impl Token {
    /// The token as it is indexed.
    pub fn word<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let word = &text[self.range.clone()];
        match self.kind {
            TokenKind::Folded => Cow::Owned(folded_token(word)),
            _ => Cow::Borrowed(word),
        }
    }
}

/// The folded form of a word as it is indexed, also if that is the word itself.
pub(crate) fn folded_token(word: &str) -> String {
    let folded = folded(word).unwrap_or_else(|| word.to_lowercase());
    format!("{FOLDED_MARK}{folded}")
}

/// The tokens of a text, lazily, in order.
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    queue: VecDeque<Token>,
    /// Tokens before `at` that are still to be emitted, the last first: a name may be as long as the text.
    rest: Vec<Rest<'a>>,
    steps: Steps,
}

/// Tokens of a name or run that are still to be emitted.
enum Rest<'a> {
    Gap(Range<usize>),
    /// The segments of a qualified name from `next` on; `at` is the end of the one before.
    Segments {
        at: usize,
        next: usize,
        end: usize,
    },
    /// The words of an identifier, counted from `start`.
    Words {
        words: Words<'a>,
        start: usize,
        at: usize,
        end: usize,
    },
    /// The characters of an unspaced run from `at` on, and their pairs.
    Run {
        at: usize,
        end: usize,
    },
}

/// Splits a text into tokens, in linear time. Texts are compared if they are in their [`Form`].
pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens {
        text,
        at: 0,
        queue: VecDeque::new(),
        rest: Vec::new(),
        steps: Steps::default(),
    }
}

/// Number of words of a text, without parts of identifiers.
pub fn word_count(text: &str) -> usize {
    tokens(Form::of(text).text())
        .filter(|token| token.kind.is_counted(token.inside_whole))
        .count()
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.steps.next();
        loop {
            if let Some(token) = self.queue.pop_front() {
                return Some(token);
            }
            if let Some(rest) = self.rest.pop() {
                self.go_on(rest);
            } else if self.at < self.text.len() {
                self.scan();
            } else {
                return None;
            }
        }
    }
}

impl<'a> Tokens<'a> {
    fn push(&mut self, kind: TokenKind, range: Range<usize>, inside_whole: bool) {
        if range.is_empty() {
            return;
        }
        let fits = range.len() <= MAX_TOKEN_BYTES || kind == TokenKind::Gap;
        if fits {
            let is_folded = kind.is_folded() && folded(&self.text[range.clone()]).is_some();
            self.queue.push_back(Token {
                kind,
                range: range.clone(),
                inside_whole,
            });
            if is_folded {
                self.queue.push_back(Token {
                    kind: TokenKind::Folded,
                    range,
                    inside_whole: true,
                });
            }
        } else if !kind.is_whole() {
            let mut cut = range.start + MAX_TOKEN_BYTES;
            while !self.text.is_char_boundary(cut) {
                cut -= 1;
            }
            self.queue.push_back(Token {
                kind,
                range: range.start..cut,
                inside_whole,
            });
            self.push(TokenKind::Gap, cut..range.end, inside_whole);
        }
    }

    fn peek(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    fn end_of_run(&self, from: usize, belongs: impl Fn(char) -> bool) -> usize {
        self.text[from..]
            .char_indices()
            .find(|&(_, c)| !belongs(c))
            .map_or(self.text.len(), |(offset, _)| from + offset)
    }

    fn scan(&mut self) {
        let start = self.at;
        if let Some(end) = self.end_of_plain_word(start) {
            self.push(TokenKind::Word, start..end, false);
            self.at = end;
            return;
        }
        let Some(first) = self.peek(start) else {
            return;
        };
        self.at = if is_mark(first) {
            self.scan_gap(start)
        } else if is_unspaced(first) {
            self.scan_unspaced(start)
        } else if is_word(first) || self.name_after_mark(start).is_some() {
            self.scan_name(start)
        } else if is_operator(first) || is_bracket(first) {
            self.scan_operator(start, first)
        } else {
            self.scan_gap(start)
        };
    }

    /// The end of a word of small English letters that is no part of a longer token. Most words are such, and this is
    /// faster than the general case.
    fn end_of_plain_word(&self, start: usize) -> Option<usize> {
        let rest = &self.text.as_bytes()[start..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let ends = matches!(rest.get(length), None | Some(b' ' | b'\n' | b',' | b';' | b')'));
        (length > 0 && ends).then_some(start + length)
    }

    fn scan_gap(&mut self, start: usize) -> usize {
        let mut end = start;
        while let Some(c) = self.peek(end) {
            let opens_token = begins_word(c)
                || is_operator(c)
                || is_bracket(c)
                || (end > start && self.name_after_mark(end).is_some());
            if end > start && opens_token {
                break;
            }
            end += c.len_utf8();
        }
        self.push(TokenKind::Gap, start..end, false);
        end
    }

    fn scan_unspaced(&mut self, start: usize) -> usize {
        let end = self.end_of_run(start, |c| is_unspaced(c) || is_mark(c));
        if self.end_of_character(start) == end {
            self.push(TokenKind::Word, start..end, false);
        } else {
            self.rest.push(Rest::Run { at: start, end });
        }
        end
    }

    /// The end of a character with its marks.
    fn end_of_character(&self, start: usize) -> usize {
        let base = self.peek(start).map_or(0, char::len_utf8);
        self.end_of_run(start + base, is_mark)
    }

    /// Where a name begins whose first mark is at `at`: `--flag`, `-f`, `@State`, `$HOME`, `.gitignore`, `:has`,
    /// `%in%`. The mark has to begin a word.
    fn name_after_mark(&self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        let mark = match rest.as_bytes() {
            [b'-', b'-', ..] | [b':', b':', ..] => 2,
            [b'-' | b'@' | b'$' | b'.' | b':' | b'%' | b'!' | b'#' | b'&', ..] => 1,
            _ => return None,
        };
        let mut before = self.text[..at].chars().rev();
        let opens = before.next().is_none_or(|c| match c {
            // "'1'::int": the quotation ends here.
            '`' | '"' | '\'' => before.next().is_none_or(|c| !is_word(c)),
            _ => c.is_whitespace() || matches!(c, '(' | '[' | '{' | ',' | '|' | '/'),
        });
        let names = rest[mark..]
            .chars()
            .next()
            .is_some_and(|c| c.is_alphabetic() && !is_unspaced(c));
        (opens && names).then_some(at + mark)
    }

    fn scan_operator(&mut self, start: usize, first: char) -> usize {
        let end = if is_bracket(first) {
            self.end_of_run(start, |c| c == first)
        } else {
            self.end_of_run(start, is_operator)
        };
        let run = &self.text[start..end];
        let length = end - start;
        let rule = length > 2 && run.chars().all(|c| c == first) && !matches!(first, '.' | '>' | '<');
        let alone = {
            let before = self.text[..start].chars().next_back();
            let after = self.peek(end);
            [before, after]
                .into_iter()
                .all(|c| c.is_none_or(|c| c.is_whitespace() || matches!(c, '`' | '"' | '\'')))
        };
        let dash = matches!(run, "-" | "*" | "#" | ":" | "--");
        let emitted = !rule && length <= 8 && (if length == 1 { alone && !dash } else { alone || !dash });
        let kind = if emitted { TokenKind::Operator } else { TokenKind::Gap };
        self.push(kind, start..end, false);
        end
    }

    /// End of the name that starts at `start`: words joined by `.`, `::`, `-`, and signs within words.
    fn end_of_name(&self, start: usize) -> usize {
        let segment = |from: usize| match self.peek(from) {
            Some(first) if begins_word(first) => self.end_of_run(from, |c| is_word(c) && !is_unspaced(c)),
            _ => from,
        };
        let mut end = segment(start);
        loop {
            let joiner = self.joiner(end);
            let next = segment(end + joiner);
            if next == end + joiner {
                return end;
            }
            end = next;
        }
    }

    /// Bytes of the sign at `at` that may join two words of a name; 0 if there is none.
    fn joiner(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let Some(sign) = self.peek(at) else { return 0 };
        let of_word = || {
            let before = self.text[..at].chars().rev().find(|&c| !is_mark(c));
            let after = rest.chars().nth(1);
            INNER_SIGNS.contains(&sign) && [before, after].into_iter().all(|c| c.is_some_and(char::is_alphabetic))
                || APOSTROPHES.contains(&sign)
                    && [before, after].into_iter().all(|c| c.is_some_and(joins_at_apostrophe))
        };
        match sign {
            '.' | '-' => 1,
            ':' if rest.starts_with("::") => 2,
            _ if of_word() => sign.len_utf8(),
            _ => 0,
        }
    }

    fn scan_name(&mut self, start: usize) -> usize {
        let name_start = self.name_after_mark(start).unwrap_or(start);
        let mut name_end = self.end_of_name(name_start);
        if name_end == name_start {
            name_end += self.peek(name_start).map_or(0, char::len_utf8);
        }
        let name = &self.text[name_start..name_end];
        if is_version(name) && name_start == start {
            self.push(TokenKind::Version, start..name_end, false);
            return name_end;
        }
        let end = name_end + self.suffix_mark(&self.text[start..name_start], name, name_end);
        let marked = start < name_start || end > name_end;
        if marked {
            self.push(TokenKind::Identifier, start..end, false);
            self.push(TokenKind::Gap, start..name_start, true);
        }
        self.rest.push(Rest::Gap(name_end..end));
        self.push_qualified(name_start..name_end, marked);
        end
    }

    /// Bytes of a mark that ends a name: `C++`, `C#`, `%in%`. `mark` is the one before the name.
    fn suffix_mark(&self, mark: &str, name: &str, at: usize) -> usize {
        let rest = &self.text[at..];
        let ends = |length: usize| {
            rest[length..]
                .chars()
                .next()
                .is_none_or(|c| !is_word(c) && !is_operator(c))
        };
        if mark == "%" && rest.starts_with('%') && ends(1) {
            1
        } else if rest.starts_with("++") && ends(2) {
            2
        } else if rest.starts_with('#') && ends(1) && name.len() == 1 && name.starts_with(char::is_alphabetic) {
            1
        } else {
            0
        }
    }

    fn push_qualified(&mut self, range: Range<usize>, inside: bool) {
        let name = &self.text[range.clone()];
        if next_qualifier(name).is_none() {
            self.push_identifier(range, inside);
            return;
        }
        if is_decimal(name) {
            self.push(TokenKind::Number, range, inside);
            return;
        }
        self.push(TokenKind::Qualified, range.clone(), inside);
        self.rest.push(Rest::Segments {
            at: range.start,
            next: range.start,
            end: range.end,
        });
    }

    fn push_identifier(&mut self, range: Range<usize>, inside: bool) {
        let name = &self.text[range.clone()];
        let words = Words::of(name);
        let mut first = words.clone();
        let (word, is_several) = (first.next(), first.next().is_some());
        let several = is_several || word.as_ref().is_some_and(|word| word.len() < name.len());
        if !several {
            let digits = name.chars().any(|c| c.is_ascii_digit());
            let kind = match (inside, digits) {
                _ if word.is_none() => TokenKind::Gap,
                _ if name.chars().all(|c| c.is_ascii_digit()) && !inside => TokenKind::Number,
                (false, true) => TokenKind::NumberWord,
                (false, false) => TokenKind::Word,
                (true, true) => TokenKind::NumberPart,
                (true, false) => TokenKind::Part,
            };
            self.push(kind, range, inside);
            return;
        }
        self.push(TokenKind::Identifier, range.clone(), inside);
        self.rest.push(Rest::Words {
            words,
            start: range.start,
            at: range.start,
            end: range.end,
        });
    }

    /// Emits the next tokens.
    fn go_on(&mut self, rest: Rest<'a>) {
        match rest {
            Rest::Gap(range) => self.push(TokenKind::Gap, range, true),
            Rest::Segments { at, next, end } => {
                self.push(TokenKind::Gap, at..next, true);
                let qualifier = next_qualifier(&self.text[next..end]);
                let segment = next..qualifier.as_ref().map_or(end, |qualifier| next + qualifier.start);
                if let Some(qualifier) = qualifier {
                    self.rest.push(Rest::Segments {
                        at: segment.end,
                        next: next + qualifier.end,
                        end,
                    });
                }
                self.push_identifier(segment, true);
            }
            Rest::Words {
                mut words,
                start,
                at,
                end,
            } => match words.next() {
                Some(word) => {
                    let word = start + word.start..start + word.end;
                    self.push(TokenKind::Gap, at..word.start, true);
                    let digits = self.text[word.clone()].contains(|c: char| c.is_ascii_digit());
                    let kind = if digits { TokenKind::NumberPart } else { TokenKind::Part };
                    let at = word.end;
                    self.push(kind, word, true);
                    self.rest.push(Rest::Words { words, start, at, end });
                }
                None => self.push(TokenKind::Gap, at..end, true),
            },
            Rest::Run { at, end } => {
                let next = self.end_of_character(at);
                let second = self.end_of_character(next).min(end);
                self.push(TokenKind::Part, at..next, true);
                if next < end {
                    self.push(TokenKind::Bigram, at..second, false);
                    self.rest.push(Rest::Run { at: next, end });
                }
            }
        }
    }
}

/// The first `.` or `::` of a name.
fn next_qualifier(name: &str) -> Option<Range<usize>> {
    let bytes = name.as_bytes();
    let is_qualifier = |at: &usize| bytes[*at] == b'.' || bytes[*at..].starts_with(b"::");
    let at = (0..bytes.len()).find(is_qualifier)?;
    Some(at..at + if bytes[at] == b'.' { 1 } else { 2 })
}

/// The segments of a qualified name, between `.` and `::`.
pub(crate) fn qualified_segments(name: &str) -> Vec<Range<usize>> {
    let mut segments = Vec::new();
    let mut start = 0;
    while let Some(qualifier) = next_qualifier(&name[start..]) {
        segments.push(start..start + qualifier.start);
        start += qualifier.end;
    }
    segments.push(start..name.len());
    segments
}

/// Whether a text is a name of code with what it belongs to: `io::Write`, `os.path.join`.
pub(crate) fn is_qualified(text: &str) -> bool {
    let mut own = tokens(text).filter(|token| token.kind.is_whole());
    own.next()
        .is_some_and(|token| token.kind == TokenKind::Qualified && token.range == (0..text.len()))
}

fn is_decimal(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// `15.4.1`, `v2.0`, `1.0.0-rc.15`: digits and a dot first, and two dots, a `v` or a suffix.
fn is_version(name: &str) -> bool {
    let digits = name.strip_prefix(['v', 'V']).unwrap_or(name);
    let mut segments = digits.splitn(3, '.');
    let numeric =
        |segment: Option<&str>| segment.is_some_and(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()));
    let major = numeric(segments.next());
    let minor = segments.next();
    let minor_number = minor.map(|s| s.split('-').next().unwrap_or(s));
    let suffixed = minor.is_some_and(|s| s.contains('-')) || segments.next().is_some();
    major && numeric(minor_number) && (suffixed || digits.len() < name.len())
}

#[cfg(test)]
mod tests;
