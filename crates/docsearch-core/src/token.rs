//! The tokens of technical text, for documents and queries alike.
//!
//! This is what the text search parser `docsearch.code_parser` runs. An identifier is emitted whole
//! and then in its parts: `UITableView` gives an [`TokenKind::Identifier`], then `UI`, `Table` and
//! `View`. Every other token, put one after the other, is the text again, so that a headline can be
//! cut from them.

use std::ops::Range;

use crate::identifier;

/// Longest token, in bytes, that is emitted for indexing; a lexeme of a tsvector ends at 2,046.
pub const MAX_TOKEN_BYTES: usize = 255;

/// Kinds of tokens. The numbers are those that the headline function of Postgres' default parser
/// knows: 15 to 17 are left out of headlines, 12 is never a match, the rest is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum TokenKind {
    /// A word of a language.
    Word = 1,
    /// Letters and digits in one piece: `sha256`, `42P01`.
    NumberWord = 3,
    /// A version: `15.4.1`, `v2.0`, `1.0.0-rc.15`.
    Version = 8,
    /// A part of an identifier that holds digits.
    NumberPart = 9,
    /// A part of an identifier that is a word.
    Part = 10,
    /// What stands between tokens.
    Gap = 12,
    /// Names joined by qualifiers: `os.path.join`, `std::vector`.
    Qualified = 15,
    /// A name of several parts or with a mark: `UITableView`, `--long-flag`, `C++`, `@State`.
    Identifier = 16,
    /// Two neighbouring characters of a script that is written without spaces.
    Bigram = 17,
    /// A number.
    Number = 22,
    /// An operator: `@>`, `||`, `[[`.
    Operator = 24,
}

impl TokenKind {
    /// Every kind, in the order of the numbers.
    pub const ALL: [TokenKind; 11] = [
        Self::Word,
        Self::NumberWord,
        Self::Version,
        Self::NumberPart,
        Self::Part,
        Self::Gap,
        Self::Qualified,
        Self::Identifier,
        Self::Bigram,
        Self::Number,
        Self::Operator,
    ];

    /// The kind with this number. `None` if no kind has it.
    pub fn from_id(id: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as i32 == id)
    }

    /// The alias that text search configurations name the kind by.
    pub fn alias(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::NumberWord => "numword",
            Self::Version => "version",
            Self::NumberPart => "numpart",
            Self::Part => "part",
            Self::Gap => "gap",
            Self::Qualified => "qualified",
            Self::Identifier => "identifier",
            Self::Bigram => "bigram",
            Self::Number => "number",
            Self::Operator => "operator",
        }
    }

    /// What `ts_token_type` says of the kind.
    pub fn description(self) -> &'static str {
        match self {
            Self::Word => "Word",
            Self::NumberWord => "Word with digits",
            Self::Version => "Version number",
            Self::NumberPart => "Part of an identifier, with digits",
            Self::Part => "Part of an identifier",
            Self::Gap => "Space and punctuation",
            Self::Qualified => "Qualified name, whole",
            Self::Identifier => "Identifier, whole",
            Self::Bigram => "Two characters of Chinese, Japanese or Korean",
            Self::Number => "Number",
            Self::Operator => "Operator",
        }
    }

    /// Whether tokens of this kind repeat text that follows again in parts.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Qualified | Self::Identifier | Self::Bigram)
    }

    /// Whether tokens of this kind count for the length of a text: original words only, no parts.
    pub fn is_counted(self, inside_whole: bool) -> bool {
        match self {
            Self::Gap => false,
            kind if kind.is_whole() => true,
            _ => !inside_whole,
        }
    }
}

/// A token: its kind and where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What the token is.
    pub kind: TokenKind,
    /// Bytes of the text.
    pub range: Range<usize>,
    /// Whether an enclosing name was emitted whole before.
    pub inside_whole: bool,
}

/// The tokens of a text, lazily, in order.
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    queue: std::collections::VecDeque<Token>,
}

/// Cuts a text into tokens. Linear in the length of the text.
pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens {
        text,
        at: 0,
        queue: std::collections::VecDeque::new(),
    }
}

/// How many original words a text has: parts of identifiers are not counted.
pub fn word_count(text: &str) -> usize {
    tokens(text)
        .filter(|token| token.kind.is_counted(token.inside_whole))
        .count()
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        if self.queue.is_empty() && self.at < self.text.len() {
            self.scan();
        }
        self.queue.pop_front()
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_operator(c: char) -> bool {
    matches!(
        c,
        '+' | '-' | '*' | '/' | '<' | '>' | '=' | '~' | '!' | '@' | '#' | '%' | '^' | '&' | '|' | '?' | ':' | '$'
    )
}

fn is_bracket(c: char) -> bool {
    matches!(c, '[' | ']' | '{' | '}')
}

/// Scripts written without spaces between words, and Hangul, whose words are long.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3100..=0x312F | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0xFF66..=0xFF9F
        | 0x20000..=0x323AF)
}

impl Tokens<'_> {
    fn push(&mut self, kind: TokenKind, range: Range<usize>, inside_whole: bool) {
        if range.is_empty() {
            return;
        }
        let fits = range.len() <= MAX_TOKEN_BYTES || kind == TokenKind::Gap;
        if fits {
            self.queue.push_back(Token {
                kind,
                range,
                inside_whole,
            });
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
        let Some(first) = self.peek(start) else {
            return;
        };
        self.at = if is_unspaced(first) {
            self.scan_unspaced(start)
        } else if is_word(first) || self.name_after_mark(start).is_some() {
            self.scan_name(start)
        } else if is_operator(first) || is_bracket(first) {
            self.scan_operator(start, first)
        } else {
            self.scan_gap(start)
        };
    }

    fn scan_gap(&mut self, start: usize) -> usize {
        let mut end = start;
        while let Some(c) = self.peek(end) {
            let opens_token =
                is_word(c) || is_operator(c) || is_bracket(c) || (end > start && self.name_after_mark(end).is_some());
            if end > start && opens_token {
                break;
            }
            end += c.len_utf8();
        }
        self.push(TokenKind::Gap, start..end, false);
        end
    }

    fn scan_unspaced(&mut self, start: usize) -> usize {
        let end = self.end_of_run(start, is_unspaced);
        let starts: Vec<usize> = self.text[start..end]
            .char_indices()
            .map(|(offset, _)| start + offset)
            .chain([end])
            .collect();
        if starts.len() == 2 {
            self.push(TokenKind::Word, start..end, false);
            return end;
        }
        for pair in starts.windows(3) {
            self.push(TokenKind::Bigram, pair[0]..pair[2], false);
        }
        self.push(TokenKind::Gap, start..end, true);
        end
    }

    /// Where the name begins when a mark that belongs to it stands at `at`: `--flag`, `-f`,
    /// `@State`, `$HOME`, `.gitignore`. The mark has to open a word.
    fn name_after_mark(&self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        let mark = if rest.starts_with("--") {
            2
        } else if rest.starts_with(['-', '@', '$', '.']) {
            1
        } else {
            return None;
        };
        let opens = self.text[..at]
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | '[' | '{' | ',' | '|' | '/'));
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

    /// End of the name that starts at `start`: words joined by `.`, `::` and `-`.
    fn end_of_name(&self, start: usize) -> usize {
        let segment = |from| self.end_of_run(from, |c| is_word(c) && !is_unspaced(c));
        let mut end = segment(start);
        loop {
            let rest = &self.text[end..];
            let joiner = if rest.starts_with("::") {
                2
            } else if rest.starts_with(['.', '-']) {
                1
            } else {
                return end;
            };
            let next = segment(end + joiner);
            if next == end + joiner {
                return end;
            }
            end = next;
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
        let end = name_end + self.suffix_mark(name, name_end);
        let marked = start < name_start || end > name_end;
        if marked {
            self.push(TokenKind::Identifier, start..end, false);
            self.push(TokenKind::Gap, start..name_start, true);
        }
        self.push_qualified(name_start..name_end, marked);
        self.push(TokenKind::Gap, name_end..end, true);
        end
    }

    /// Bytes of a mark that ends a name: `C++`, `C#`.
    fn suffix_mark(&self, name: &str, at: usize) -> usize {
        let rest = &self.text[at..];
        let ends = |length: usize| {
            rest[length..]
                .chars()
                .next()
                .is_none_or(|c| !is_word(c) && !is_operator(c))
        };
        if rest.starts_with("++") && ends(2) {
            2
        } else if rest.starts_with('#') && ends(1) && name.len() == 1 && name.starts_with(char::is_alphabetic) {
            1
        } else {
            0
        }
    }

    fn push_qualified(&mut self, range: Range<usize>, inside: bool) {
        let name = &self.text[range.clone()];
        let segments = qualified_segments(name);
        if segments.len() == 1 {
            self.push_identifier(range, inside);
            return;
        }
        if is_decimal(name) {
            self.push(TokenKind::Number, range, inside);
            return;
        }
        self.push(TokenKind::Qualified, range.clone(), inside);
        let mut at = range.start;
        for segment in segments {
            let segment = range.start + segment.start..range.start + segment.end;
            self.push(TokenKind::Gap, at..segment.start, true);
            at = segment.end;
            self.push_identifier(segment, true);
        }
    }

    fn push_identifier(&mut self, range: Range<usize>, inside: bool) {
        let name = &self.text[range.clone()];
        let words = identifier::words(name);
        let several = words.len() > 1 || words.first().is_some_and(|word| word.len() < name.len());
        if !several {
            let digits = name.chars().any(|c| c.is_ascii_digit());
            let kind = match (inside, digits) {
                _ if words.is_empty() => TokenKind::Gap,
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
        let mut at = range.start;
        for word in words {
            let word = range.start + word.start..range.start + word.end;
            self.push(TokenKind::Gap, at..word.start, true);
            at = word.end;
            let digits = self.text[word.clone()].contains(|c: char| c.is_ascii_digit());
            let kind = if digits { TokenKind::NumberPart } else { TokenKind::Part };
            self.push(kind, word, true);
        }
        self.push(TokenKind::Gap, at..range.end, true);
    }
}

/// The segments of a qualified name: what stands between `.` and `::`.
pub(crate) fn qualified_segments(name: &str) -> Vec<Range<usize>> {
    let mut segments = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < name.len() {
        let rest = &name[at..];
        let qualifier = if rest.starts_with("::") {
            2
        } else if rest.starts_with('.') {
            1
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        segments.push(start..at);
        at += qualifier;
        start = at;
    }
    segments.push(start..name.len());
    segments
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
