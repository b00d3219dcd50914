//! The macros of `mdoc`, which give the meaning of the words after them.

use super::Header;
use super::mdoc_name::{
    CLOSINGS, ENCLOSURES, OPENINGS, font_of, full_name, has_full_names, is_inline, is_macro, is_opening,
    is_punctuation, phrase, status, system,
};
use super::page::{Node, Page, Term};
use super::part::{Part, parts};
use super::request::Line;
use super::request_name;
use super::text::{Font, Fonts, Text};

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

/// Lists, by their kind of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Tagged,
    Bulleted,
    Numbered,
    Columns,
}

#[derive(Debug, Default)]
struct Reader {
    header: Header,
    page: Page,
    paragraph: Text,
    /// Whether no space precedes the next word.
    is_joined: bool,
    /// Whether no space precedes the words after the next one, after `.Sm off`.
    is_unspaced: bool,
    is_first_unspaced: bool,
    code: Option<Vec<String>>,
    /// Open lists, each with the number of containers around it and the number of its last item.
    lists: Vec<(List, usize, u32)>,
    rows: Vec<Vec<String>>,
    /// The name that `.Nm` without arguments repeats.
    name: String,
    is_synopsis: bool,
    /// Whether a block is open whose words are on one line: `.Fo` to `.Fc`.
    arguments: Option<Vec<String>>,
    ids: std::collections::HashSet<String>,
}

impl Reader {
    fn macro_line(&mut self, name: &str, arguments: &[String]) {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match name {
            "Dt" => {
                let word = |at: usize| words.get(at).copied().unwrap_or_default();
                self.header = Header::of(word(0), word(1));
            }
            "Sh" | "Ss" => {
                self.end_code();
                self.end_paragraph();
                self.lists.clear();
                let text = plain(&words);
                self.is_synopsis = name == "Sh" && text.eq_ignore_ascii_case("synopsis");
                let level = if name == "Sh" { 2 } else { 3 };
                self.page.heading(level, Text::of(Font::Roman, &text));
            }
            "Nd" => {
                self.word(Font::Roman, "-");
                self.words(&words, Font::Roman);
            }
            "Pp" | "Lp" | "sp" => match &mut self.code {
                Some(code) => code.push(String::new()),
                None => self.end_paragraph(),
            },
            "br" => self.line_break(),
            "Bd" => {
                self.end_paragraph();
                let is_filled = words
                    .iter()
                    .any(|word| matches!(*word, "-ragged" | "-filled" | "-centered"));
                if !is_filled {
                    self.code = Some(Vec::new());
                }
            }
            "Ed" => {
                self.end_code();
                self.end_paragraph();
            }
            "Dl" | "D1" => {
                self.end_paragraph();
                self.words(&words, Font::Roman);
                let line = std::mem::take(&mut self.paragraph).plain();
                self.page.push(Node::Code(line.trim().to_owned()));
            }
            "Bl" => self.begin_list(&words),
            "It" => self.item(&words),
            "El" => self.end_list(),
            "Fo" => {
                self.synopsis_break(name);
                self.word(Font::Bold, &plain(&words));
                self.arguments = Some(Vec::new());
            }
            "Fa" if self.arguments.is_some() => {
                let argument = plain(&words);
                self.arguments.get_or_insert_default().push(argument);
            }
            "Fc" => {
                let arguments = self.arguments.take().unwrap_or_default().join(", ");
                self.is_joined = true;
                self.word(Font::Roman, &format!("({arguments})"));
                self.punctuation(&words);
            }
            "Ex" | "Rv" => self.standard(name, &words),
            "Sm" => {
                self.is_unspaced = words.first().map_or(!self.is_unspaced, |word| *word == "off");
                self.is_first_unspaced = true;
            }
            "Dd" | "Os" | "Bk" | "Ek" | "Rs" | "Re" | "Bf" | "Ef" | "Es" | "Hf" => {}
            _ if request_name::is_without_text(name) => {}
            _ if name.starts_with('%') => {
                let mut text = plain(&words);
                text.push(',');
                self.word(Font::Roman, &text);
            }
            _ if !is_macro(name) => {
                self.page.unknown.add("macro", name);
                self.words(&words, Font::Roman);
            }
            _ => {
                self.synopsis_break(name);
                let mut line = vec![name];
                line.extend(words);
                self.words(&line, Font::Roman);
            }
        }
        if self.code.is_some() && !matches!(name, "Bd" | "Pp" | "Lp" | "sp") {
            self.end_code_line();
        }
    }

    /// Macros that start a line of the synopsis.
    fn synopsis_break(&mut self, name: &str) {
        if self.is_synopsis && matches!(name, "Nm" | "Fn" | "Fo" | "Ft" | "In" | "Fd" | "Vt" | "Cd") {
            let after_type = name.starts_with('F') && name != "Ft" && name != "Fd";
            match after_type {
                true => self.line_break(),
                false => self.end_paragraph_in_synopsis(),
            }
        }
    }

    fn end_paragraph_in_synopsis(&mut self) {
        match self.paragraph.is_empty() {
            true => {}
            false => self.line_break(),
        }
    }

    fn text_line(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.push(Text::parse(text, &mut Fonts::default()).plain().trim_end().to_owned());
        } else if text.trim().is_empty() {
            self.end_paragraph();
        } else {
            self.space();
            self.paragraph.append(Text::parse(text, &mut Fonts::default()));
        }
    }

    /// Words of a line, some of which are macros.
    fn words(&mut self, words: &[&str], font: Font) {
        let mut closing: Vec<&str> = Vec::new();
        let mut font = font;
        let mut at = 0;
        while at < words.len() {
            let word = words[at];
            at += 1;
            let next = words.get(at).copied();
            match word {
                "Ns" => self.is_joined = true,
                "Xo" | "Xc" => {}
                "Ap" => {
                    self.is_joined = true;
                    self.word(Font::Roman, "'");
                    self.is_joined = true;
                }
                "Pf" => {
                    self.word(Font::Roman, &plain(&words[at..(at + 1).min(words.len())]));
                    self.is_joined = true;
                    at += 1;
                }
                "Fl" => at += self.flags(&words[at..]),
                "Nm" => {
                    if next.is_none_or(|next| is_inline(next) || is_punctuation(next)) {
                        let name = self.name.clone();
                        self.word(Font::Bold, &name);
                    } else if self.name.is_empty() {
                        self.name = plain(&words[at..=at]);
                    }
                    font = Font::Bold;
                }
                "Ar" if next.is_none_or(is_inline) => self.word(Font::Italic, "file ..."),
                "Xr" => {
                    let page = plain(&words[at..(at + 1).min(words.len())]);
                    let section = words
                        .get(at + 1)
                        .filter(|section| crate::file::manual_page::is_section(section));
                    at += 1 + usize::from(section.is_some());
                    self.word(
                        Font::Roman,
                        &section.map_or(page.clone(), |section| format!("{page}({section})")),
                    );
                }
                "Fn" => {
                    let function = plain(&words[at..(at + 1).min(words.len())]);
                    let end = (at + 1..words.len())
                        .find(|&end| is_punctuation(words[end]))
                        .unwrap_or(words.len());
                    let arguments: Vec<String> = words[(at + 1).min(end)..end]
                        .iter()
                        .map(|word| plain(&[word]))
                        .collect();
                    self.word(Font::Code, &format!("{function}({})", arguments.join(", ")));
                    at = end;
                }
                "In" => {
                    let file = plain(&words[at..(at + 1).min(words.len())]);
                    at += 1;
                    self.word(Font::Code, &format!("#include <{file}>"));
                }
                "Mt" => font = Font::Roman,
                "Lk" => {
                    at += self.link(&words[at..]);
                    font = Font::Roman;
                }
                "An" if next.is_some_and(|next| matches!(next, "-split" | "-nosplit")) => at += 1,
                "Eo" => {
                    let opening = next.filter(|next| !is_inline(next));
                    at += usize::from(opening.is_some());
                    self.word(Font::Roman, opening.unwrap_or_default());
                    self.is_joined = true;
                }
                "Ec" | "En" | "Ta" => font = Font::Roman,
                _ if has_full_names(word) => {
                    let argument = next.filter(|next| !is_inline(next) && !is_punctuation(next));
                    at += usize::from(argument.is_some());
                    self.word(Font::Roman, &full_name(word, argument.unwrap_or_default()));
                    font = Font::Roman;
                }
                "Bx" => {
                    at += self.berkeley(&words[at..]);
                    font = Font::Roman;
                }
                _ => {
                    if let Some((_, open, close)) = ENCLOSURES.iter().find(|(name, ..)| *name == word) {
                        self.word(Font::Roman, open);
                        self.is_joined = true;
                        closing.push(close);
                        font = Font::Roman;
                    } else if let Some((_, open)) = OPENINGS.iter().find(|(name, _)| *name == word) {
                        self.word(Font::Roman, open);
                        self.is_joined = true;
                        font = Font::Roman;
                    } else if let Some((_, close)) = CLOSINGS.iter().find(|(name, _)| *name == word) {
                        self.is_joined = true;
                        self.word(Font::Roman, close);
                        font = Font::Roman;
                    } else if let Some(text) = system(word).or_else(|| phrase(word)) {
                        self.word(Font::Roman, text);
                        font = Font::Roman;
                    } else if let Some(own) = font_of(word) {
                        font = own;
                    } else if is_punctuation(word) {
                        // The closing delimiter is before the full stop.
                        if words[at..].iter().all(|word| is_punctuation(word)) {
                            self.close(&mut closing);
                        }
                        self.is_joined = !is_opening(word);
                        self.word(Font::Roman, word);
                        self.is_joined = is_opening(word);
                    } else {
                        self.word(font, &plain(&[word]));
                    }
                }
            }
        }
        self.close(&mut closing);
    }

    /// `Lk address text`; returns the number of words.
    fn link(&mut self, words: &[&str]) -> usize {
        let end = words.iter().position(|word| is_inline(word)).unwrap_or(words.len());
        let text_end = words[..end]
            .iter()
            .rposition(|word| !is_punctuation(word))
            .map_or(0, |last| last + 1);
        let (address, text) = match &words[..text_end] {
            [] => return 0,
            [address, text @ ..] => (plain(&[address]), plain(text)),
        };
        match text.is_empty() {
            true => self.word(Font::Roman, &address),
            false => self.word(Font::Roman, &format!("{text}: {address}")),
        }
        text_end
    }

    /// `Bx 4.3 Reno` is 4.3BSD-Reno; returns the number of words.
    fn berkeley(&mut self, words: &[&str]) -> usize {
        let is_word = |word: &&&str| !is_inline(word) && !is_punctuation(word);
        let own: Vec<&str> = words.iter().take_while(is_word).take(2).copied().collect();
        let version = own.first().map_or(String::new(), |version| plain(&[version]));
        let variant = own
            .get(1)
            .map_or(String::new(), |variant| format!("-{}", plain(&[variant])));
        self.word(Font::Roman, &format!("{version}BSD{variant}"));
        own.len()
    }

    fn close(&mut self, closing: &mut Vec<&str>) {
        while let Some(close) = closing.pop() {
            self.is_joined = true;
            self.word(Font::Roman, close);
        }
    }

    fn punctuation(&mut self, words: &[&str]) {
        for word in words.iter().filter(|word| is_punctuation(word)) {
            self.is_joined = true;
            self.word(Font::Roman, word);
        }
    }

    /// The options after `Fl`; returns the number of words.
    fn flags(&mut self, words: &[&str]) -> usize {
        let end = words
            .iter()
            .position(|word| is_inline(word) || is_punctuation(word))
            .unwrap_or(words.len());
        if end == 0 {
            self.word(Font::Bold, "-");
            self.is_joined = words.first().is_some_and(|next| *next == "Ns" || *next == "Fl");
        }
        for word in &words[..end] {
            self.word(Font::Bold, &format!("-{}", plain(&[word])));
        }
        end
    }

    fn word(&mut self, font: Font, text: &str) {
        if text.is_empty() {
            return;
        }
        self.space();
        self.paragraph.push(font, text);
    }

    fn space(&mut self) {
        let is_first = std::mem::take(&mut self.is_first_unspaced);
        let is_joined = std::mem::take(&mut self.is_joined) || self.is_unspaced && !is_first;
        if !is_joined && !self.paragraph.pieces.is_empty() && !self.paragraph.ends_line() {
            // Words of one font are joined: `-m msg`.
            let font = Font::Roman;
            self.paragraph.push(font, " ");
        }
    }

    fn line_break(&mut self) {
        if !self.paragraph.is_empty() {
            self.paragraph.push(Font::Roman, "\n");
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        self.is_joined = false;
        if self.code.is_some() {
            return;
        }
        if !paragraph.is_empty() {
            self.page.push(Node::Text(paragraph));
        }
    }

    fn end_code_line(&mut self) {
        let line = std::mem::take(&mut self.paragraph).plain();
        self.is_joined = false;
        if let Some(code) = self.code.as_mut().filter(|_| !line.is_empty()) {
            code.push(line.trim_end().to_owned());
        }
    }

    fn end_code(&mut self) {
        let Some(lines) = self.code.take() else { return };
        let code = lines.join("\n");
        if !code.trim().is_empty() {
            self.page.push(Node::Code(code.trim_matches('\n').to_owned()));
        }
    }

    fn begin_list(&mut self, words: &[&str]) {
        self.end_paragraph();
        let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
        let list = if has(&["-bullet", "-dash", "-hyphen", "-item"]) {
            List::Bulleted
        } else if has(&["-enum"]) {
            List::Numbered
        } else if has(&["-column"]) {
            List::Columns
        } else {
            List::Tagged
        };
        if self.lists.len() < 1_000 {
            self.lists.push((list, self.page.depth(), 0));
        }
    }

    fn item(&mut self, words: &[&str]) {
        self.end_code();
        self.end_paragraph();
        let Some((list, around, number)) = self.lists.last_mut() else {
            self.words(words, Font::Roman);
            return;
        };
        let (list, around) = (*list, *around);
        *number += 1;
        let number = *number;
        if list != List::Columns {
            while self.page.depth() > around && self.page.close() {}
        }
        match list {
            List::Bulleted => self.page.open_item(None),
            List::Numbered => self.page.open_item(Some(number)),
            List::Columns => {
                let cells = words.split(|word| *word == "Ta");
                let row = cells.map(|cell| {
                    self.words(cell, Font::Roman);
                    self.is_joined = false;
                    std::mem::take(&mut self.paragraph).markdown().trim().to_owned()
                });
                let row: Vec<String> = row.collect();
                self.rows.push(row);
            }
            List::Tagged => {
                self.words(words, Font::Roman);
                self.is_joined = false;
                let text = std::mem::take(&mut self.paragraph);
                let id = text.is_code().then(|| super::id_of(&text.plain())).flatten();
                let id = id.filter(|id| self.ids.insert(id.clone()));
                // An item without a text shares that of the next one.
                self.page.open_entry(Term { text, id });
            }
        }
    }

    fn end_list(&mut self) {
        self.end_code();
        self.end_paragraph();
        let Some((list, around, _)) = self.lists.pop() else {
            return;
        };
        while self.page.depth() > around && self.page.close() {}
        if list == List::Columns {
            let mut rows = vec![Vec::new()];
            rows.append(&mut self.rows);
            self.page.push(Node::Table(crate::text::markdown_text::table(&rows)));
        }
    }

    /// The sentence about the status of programs (`Ex`) or the value of functions (`Rv`), of this page or those named.
    fn standard(&mut self, name: &str, words: &[&str]) {
        let named = words.iter().filter(|word| **word != "-std").map(|word| plain(&[word]));
        let mut names: Vec<String> = named.collect();
        if names.is_empty() && name == "Ex" {
            names.push(self.name.clone());
        }
        if name == "Rv" {
            names.iter_mut().for_each(|name| name.push_str("()"));
        }
        self.word(Font::Roman, &status(name, names));
    }
}

fn plain(words: &[&str]) -> String {
    Text::parse(&words.join(" "), &mut Fonts::default()).plain()
}
