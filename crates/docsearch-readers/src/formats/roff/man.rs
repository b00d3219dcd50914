//! The macros of `man`, additions by `pod2man` and others, and requests that format paragraphs.

use std::collections::HashSet;

use super::Header;
use super::page::{Node, Page, Term};
use super::part::{Part, parts};
use super::request::Line;
use super::request_name;
use super::text::{Font, Fonts, Text};

/// The supported macros and requests; pages must not redefine them.
pub(super) const MACROS: [&str; 53] = [
    "TH", "SH", "SS", "PP", "P", "LP", "TP", "TQ", "IP", "HP", "RS", "RE", "B", "I", "R", "BR", "RB", "BI", "IB", "IR",
    "RI", "SB", "SM", "UR", "UE", "MT", "ME", "MR", "SY", "YS", "OP", "EX", "EE", "nf", "fi", "br", "sp", "TS", "TE",
    "EQ", "EN", "Sp", "Vb", "Ve", "IX", "CS", "CE", "ft", "so", "PD", "DT", "UC", "AT",
];

/// Builds a page from its lines.
pub(super) fn page(lines: &[Line]) -> (Header, Page) {
    let mut reader = Reader::default();
    for part in parts(lines) {
        match part {
            Part::Table(node) => {
                reader.end_paragraph();
                reader.page.push(node);
            }
            Part::Macro { name, arguments } => reader.macro_line(name, arguments),
            Part::Text(text) => reader.text_line(text),
        }
    }
    reader.end_code();
    reader.end_paragraph();
    (reader.header, reader.page)
}

/// The role of the next line of text.
#[derive(Debug, Default, PartialEq, Eq)]
enum Expected {
    #[default]
    Text,
    Heading(usize),
    /// The term of a new entry, or another term of the same entry.
    Term {
        is_further: bool,
    },
}

#[derive(Debug, Default)]
struct Reader {
    header: Header,
    page: Page,
    paragraph: Text,
    fonts: Fonts,
    expected: Expected,
    /// The font from a macro without arguments, for the next line.
    next_font: Option<Font>,
    /// Whether filling is off.
    code: Option<Vec<String>>,
    /// Number of containers around each one that `.RS` opened.
    margins: Vec<usize>,
    ids: HashSet<String>,
    /// Whether the line before ends in `\c`.
    continues: bool,
    /// The URL of an open link, and the piece of the paragraph at which its text begins.
    address: Option<String>,
    link_text: Option<usize>,
}

impl Reader {
    fn macro_line(&mut self, name: &str, arguments: &[String]) {
        let first = arguments.first().map_or("", String::as_str);
        match name {
            "TH" => self.header = Header::of(first, arguments.get(1).map_or("", String::as_str)),
            "SH" | "Sh" => self.section(2, arguments),
            "SS" | "Ss" => self.section(3, arguments),
            "PP" | "P" | "LP" | "HP" | "Pp" => {
                let is_code = self.blank_code_line();
                if !is_code {
                    self.end_paragraph();
                    self.close_to_margin();
                }
            }
            "sp" | "Sp" => {
                let is_code = self.blank_code_line();
                if !is_code {
                    self.end_paragraph();
                }
            }
            "TP" | "TQ" => {
                self.begin();
                let is_further = name == "TQ";
                if !is_further {
                    self.close_to_margin();
                }
                self.expected = Expected::Term { is_further };
            }
            "IP" => self.indented(arguments),
            "RS" => {
                self.begin();
                if self.margins.len() < 1_000 {
                    self.margins.push(self.page.depth());
                    self.page.open_indented();
                    self.margins.push(self.page.depth());
                }
            }
            "RE" => self.end_margin(),
            "br" => self.line_break(),
            "nf" | "EX" | "Vb" | "CS" => self.begin_code(),
            "fi" | "EE" | "Ve" | "CE" => self.end_code(),
            "B" | "SB" => self.set(Font::Bold, arguments),
            "I" => self.set(Font::Italic, arguments),
            "SM" | "R" => self.set(Font::Roman, arguments),
            "BR" | "RB" | "BI" | "IB" | "IR" | "RI" => self.alternate(name, arguments),
            "MR" => self.reference(arguments),
            "UR" | "MT" => {
                self.next_font = None;
                self.address = Some(Text::parse(first, &mut Fonts::default()).plain());
                self.link_text = Some(self.paragraph.pieces.len());
            }
            "UE" | "ME" => self.end_link(first),
            "SY" => {
                self.begin_code();
                let text = Text::parse(first, &mut Fonts::default()).plain();
                self.code_line(&text);
            }
            "OP" => {
                let words: Vec<String> = arguments
                    .iter()
                    .map(|word| Text::parse(word, &mut Fonts::default()).plain())
                    .collect();
                self.add_to_code(&format!("[{}]", words.join(" ")));
            }
            "YS" => self.end_code(),
            "ft" => self.fonts.set(first),
            "EQ" | "PS" | "DS" => self.begin_code(),
            "EN" | "PE" | "DE" => self.end_code(),
            "PD" | "DT" | "UC" | "AT" | "IX" | "so" => {}
            _ if request_name::is_without_text(name) => {}
            _ => self.unknown(name, arguments),
        }
    }

    fn text_line(&mut self, text: &str) {
        if self.code.is_none() && text.trim().is_empty() {
            self.end_paragraph();
            return;
        }
        let font = self.next_font.take();
        let continues = text.ends_with("\\c");
        // A leading space breaks the line before.
        if text.starts_with(' ') && self.code.is_none() && self.expected == Expected::Text {
            self.line_break();
        }
        let parsed = match font {
            Some(font) => Text::parse(text, &mut Fonts::starting(font)),
            None => Text::parse(text, &mut self.fonts),
        };
        self.say(parsed);
        self.continues = continues;
    }

    /// Adds a line to what is expected.
    fn say(&mut self, text: Text) {
        match std::mem::take(&mut self.expected) {
            Expected::Heading(level) => self.page.heading(level, text),
            Expected::Term { is_further } => {
                let term = self.term(text);
                match is_further {
                    true => self.page.add_term(term),
                    false => self.page.open_entry(term),
                }
            }
            Expected::Text if self.code.is_some() => {
                let text = text.plain();
                match self.continues {
                    true => self.extend_code(&text),
                    false => self.code_line(&text),
                }
            }
            Expected::Text => {
                let is_joined = self.continues || self.paragraph.ends_line();
                if !self.paragraph.pieces.is_empty() && !is_joined {
                    self.paragraph.push(Font::Roman, " ");
                }
                self.paragraph.append(text);
            }
        }
        self.continues = false;
    }

    fn term(&mut self, text: Text) -> Term {
        let id = text.is_code().then(|| super::id_of(&text.plain())).flatten();
        let id = id.filter(|id| self.ids.insert(id.clone()));
        Term { text, id }
    }

    fn section(&mut self, level: usize, arguments: &[String]) {
        self.end_code();
        self.begin();
        self.fonts = Fonts::default();
        self.margins.clear();
        while self.page.close() {}
        match arguments.is_empty() {
            true => self.expected = Expected::Heading(level),
            false => {
                let text = Text::parse(&arguments.join(" "), &mut Fonts::default());
                self.page.heading(level, text);
            }
        }
    }

    /// Ends the current paragraph.
    fn begin(&mut self) {
        self.end_paragraph();
        self.expected = Expected::Text;
        self.next_font = None;
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        if !paragraph.is_empty() {
            self.page.push(Node::Text(paragraph));
        }
        self.address = None;
        self.continues = false;
    }

    fn line_break(&mut self) {
        if self.code.is_none() && !self.paragraph.is_empty() && !self.paragraph.ends_line() {
            self.paragraph.push(Font::Roman, "\n");
        }
    }

    /// Closes the current entry or item, but not containers of `.RS`.
    fn close_to_margin(&mut self) {
        let margin = self.margins.last().copied().unwrap_or(0);
        while self.page.depth() > margin && self.page.close() {}
    }

    fn end_margin(&mut self) {
        self.end_code();
        self.begin();
        self.margins.pop();
        if let Some(outer) = self.margins.pop() {
            while self.page.depth() > outer && self.page.close() {}
        }
    }

    fn indented(&mut self, arguments: &[String]) {
        self.begin();
        let tag = arguments.first().map_or("", String::as_str);
        let text = Text::parse(tag, &mut Fonts::default());
        let plain = text.plain();
        if plain.trim().is_empty() {
            return;
        }
        self.close_to_margin();
        match bullet(plain.trim()) {
            Some(number) => self.page.open_item(number),
            None => {
                let term = self.term(text);
                self.page.open_entry(term);
            }
        }
    }

    fn begin_code(&mut self) {
        if self.code.is_none() {
            self.begin();
            self.code = Some(Vec::new());
        }
    }

    fn end_code(&mut self) {
        let Some(lines) = self.code.take() else { return };
        self.continues = false;
        let first = lines.iter().position(|line| !line.trim().is_empty());
        let last = lines.iter().rposition(|line| !line.trim().is_empty());
        if let (Some(first), Some(last)) = (first, last) {
            self.page.push(Node::Code(lines[first..=last].join("\n")));
        }
    }

    fn blank_code_line(&mut self) -> bool {
        if let Some(code) = &mut self.code {
            code.push(String::new());
        }
        self.code.is_some()
    }

    fn code_line(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.push(text.trim_end().to_owned());
        }
    }

    fn extend_code(&mut self, text: &str) {
        if let Some(line) = self.code.as_mut().and_then(|code| code.last_mut()) {
            line.push_str(text);
        }
    }

    fn add_to_code(&mut self, text: &str) {
        match self.code.is_some() {
            true => self.extend_code(&format!(" {text}")),
            false => self.say(Text::of(Font::Code, text)),
        }
    }

    fn set(&mut self, font: Font, arguments: &[String]) {
        if arguments.is_empty() {
            self.next_font = Some(font);
            return;
        }
        let line = arguments.join(" ");
        let text = Text::parse(&line, &mut Fonts::starting(font));
        self.say(text);
        self.continues = line.ends_with("\\c");
    }

    fn alternate(&mut self, name: &str, arguments: &[String]) {
        let fonts: Vec<Font> = name
            .chars()
            .map(|letter| match letter {
                'B' => Font::Bold,
                'I' => Font::Italic,
                _ => Font::Roman,
            })
            .collect();
        if arguments.is_empty() {
            self.next_font = fonts.first().copied();
            return;
        }
        let mut text = Text::default();
        for (at, argument) in arguments.iter().enumerate() {
            text.append(Text::parse(argument, &mut Fonts::starting(fonts[at % 2])));
        }
        self.say(text);
        self.continues = arguments.last().is_some_and(|last| last.ends_with("\\c"));
    }

    /// The text of a macro that is not known, as of one line.
    fn unknown(&mut self, name: &str, arguments: &[String]) {
        self.page.unknown.add("macro", name);
        let text = Text::parse(&arguments.join(" "), &mut self.fonts);
        if !text.is_empty() {
            self.say(text);
        }
    }

    /// `.MR name section punctuation`.
    fn reference(&mut self, arguments: &[String]) {
        let part = |at: usize| {
            let text = arguments.get(at).map_or("", String::as_str);
            Text::parse(text, &mut Fonts::default()).plain()
        };
        let section = part(1);
        let section = if section.is_empty() {
            section
        } else {
            format!("({section})")
        };
        self.say(Text::of(Font::Roman, &format!("{}{section}{}", part(0), part(2))));
    }

    /// Adds the URL after the text between `.UR` and `.UE`, unless they are the same.
    fn end_link(&mut self, punctuation: &str) {
        let Some(address) = self.address.take() else { return };
        let start = self.link_text.take().unwrap_or(0).min(self.paragraph.pieces.len());
        let label: String = self.paragraph.pieces[start..]
            .iter()
            .map(|piece| piece.text.as_str())
            .collect();
        let shown = match label.trim().is_empty() {
            true => address,
            false => format!("<{address}>"),
        };
        let punctuation = Text::parse(punctuation, &mut Fonts::default()).plain();
        self.say(Text::of(Font::Roman, &format!("{shown}{punctuation}")));
    }
}

/// The number of a numbered item; `None` if the tag is a term.
fn bullet(tag: &str) -> Option<Option<u32>> {
    if matches!(tag, "•" | "*" | "-" | "o" | "—" | "–" | "+" | "·" | "□" | "°") {
        return Some(None);
    }
    let inner = tag
        .trim_start_matches('(')
        .trim_end_matches([')', '.', ']'])
        .trim_start_matches('[');
    let is_number = inner.len() < tag.len() && inner.len() <= 4 && inner.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| inner.parse().ok())
}
