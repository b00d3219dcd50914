//! The lines of a page for the macros, after expansion of strings, registers, conditions and its own macros.

use std::collections::{HashMap, VecDeque};

use super::text;

/// Maximum lines that one line expands to, by recursive macros, and maximum lines in total.
const MAX_LINES_FROM_MACROS: usize = 20_000;
/// Maximum nesting of strings.
const MAX_DEPTH: usize = 8;
/// Maximum length of a line after expansion.
const MAX_LINE_BYTES: usize = 16 * 1024;
const MAX_NAMES: usize = 2_000;

/// A line of text, or a macro with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    Macro { name: String, arguments: Vec<String> },
}

/// The lines of `source`, without requests that only affect the layout.
pub(super) fn lines(source: &str) -> Vec<Line> {
    let mut interpreter = Interpreter::new(source);
    while let Some(line) = interpreter.pending.pop_front() {
        interpreter.line(line);
    }
    interpreter.output
}

struct Interpreter {
    pending: VecDeque<String>,
    strings: HashMap<String, String>,
    registers: HashMap<String, i64>,
    macros: HashMap<String, Vec<String>>,
    /// Results of `.ie` requests that wait for their `.el`.
    conditions: Vec<bool>,
    from_macros: usize,
    output: Vec<Line>,
}

impl Interpreter {
    fn new(source: &str) -> Self {
        let mut pending: VecDeque<String> = VecDeque::new();
        let mut continued = String::new();
        for line in source.lines() {
            let backslashes = line.len() - line.trim_end_matches('\\').len();
            // A trailing backslash joins the next line.
            if backslashes % 2 == 1 && continued.len() < MAX_LINE_BYTES {
                continued.push_str(&line[..line.len() - 1]);
                continue;
            }
            continued.push_str(line);
            pending.push_back(std::mem::take(&mut continued));
        }
        if !continued.is_empty() {
            pending.push_back(continued);
        }
        let known = [
            ("R", "®"),
            ("Tm", "™"),
            ("lq", "\""),
            ("rq", "\""),
            ("Aq", "'"),
            ("C'", ""),
            ("--", "-"),
        ];
        Self {
            pending,
            strings: known
                .iter()
                .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
                .collect(),
            registers: HashMap::from([(".g".to_owned(), 1)]),
            macros: HashMap::new(),
            conditions: Vec::new(),
            from_macros: 0,
            output: Vec::new(),
        }
    }

    fn line(&mut self, line: String) {
        let line = without_brace(&line);
        let is_control = line.starts_with('.') || line.starts_with('\'') && !line.starts_with("''");
        if !is_control {
            let text = self.expanded(&without_comment(&line), 0);
            self.output.push(Line::Text(text));
            return;
        }
        let control = line[1..].trim_start();
        if control.is_empty() || control.starts_with("\\\"") {
            return;
        }
        let end = control.find([' ', '\t']).unwrap_or(control.len());
        let (name, rest) = control.split_at(end);
        // Arguments may directly follow an escape: `.if
        // (.g`.
        let name = name.split('\\').next().unwrap_or_default();
        let rest = if name.len() < end { &control[name.len()..] } else { rest };
        self.control(name, rest.trim_start_matches([' ', '\t']));
    }

    fn control(&mut self, name: &str, rest: &str) {
        match name {
            "if" => self.condition(rest, false),
            "ie" => self.condition(rest, true),
            "el" => {
                let holds = !self.conditions.pop().unwrap_or(false);
                self.branch(rest, holds);
            }
            "ds" | "ds1" => self.define(rest, false),
            "as" | "as1" => self.define(rest, true),
            "nr" => self.number(rest),
            "de" | "de1" | "am" | "dei" => self.record(rest),
            "ig" => {
                self.body_until(rest);
            }
            _ => self.call(name, rest),
        }
    }

    fn call(&mut self, name: &str, rest: &str) {
        let rest = self.expanded(&without_comment(rest), 0);
        let arguments = arguments(&rest);
        if let Some(body) = self.macros.get(name) {
            let lines: Vec<String> = body.iter().map(|line| with_arguments(line, &arguments)).collect();
            self.from_macros += lines.len() + 1;
            if self.from_macros <= MAX_LINES_FROM_MACROS {
                for line in lines.into_iter().rev() {
                    self.pending.push_front(line);
                }
            }
            return;
        }
        self.output.push(Line::Macro {
            name: name.to_owned(),
            arguments,
        });
    }

    fn condition(&mut self, rest: &str, has_else: bool) {
        let (holds, rest) = self.holds(rest);
        if has_else && self.conditions.len() < MAX_NAMES {
            self.conditions.push(holds);
        }
        self.branch(rest, holds);
    }

    /// Continues with the rest of the line and the block that it opens, or skips both.
    fn branch(&mut self, rest: &str, holds: bool) {
        let rest = rest.trim_start();
        if holds {
            let rest = rest.strip_prefix("\\{").unwrap_or(rest).trim_start();
            if !rest.is_empty() {
                self.pending.push_front(rest.to_owned());
            }
            return;
        }
        let mut open = braces(rest);
        while open > 0 {
            let Some(line) = self.pending.pop_front() else { return };
            open += braces(&line);
        }
    }

    /// Whether a condition holds, and the text after it. Of alternatives for terminals and paper, the one for paper is
    /// better: its code has a font.
    fn holds<'a>(&self, rest: &'a str) -> (bool, &'a str) {
        let (negated, rest) = match rest.trim_start().strip_prefix('!') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, rest.trim_start()),
        };
        let first = rest.chars().next().unwrap_or(' ');
        let (holds, rest) = match first {
            't' | 'o' => (true, &rest[1..]),
            'n' | 'e' | 'v' => (false, &rest[1..]),
            'd' | 'r' | 'c' | 'm' | 'F' | 'S' => {
                let named = rest[1..].trim_start();
                let end = named.find([' ', '\t']).unwrap_or(named.len());
                let name = &named[..end];
                let is_known = self.strings.contains_key(name) || self.registers.contains_key(name);
                (is_known, &named[end..])
            }
            '\'' | '"' => {
                let mut parts = rest[1..].splitn(3, first);
                let (left, right) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                let is_equal = self.expanded(left, 0) == self.expanded(right, 0);
                (is_equal, parts.next().unwrap_or_default())
            }
            _ => {
                let end = rest
                    .find([' ', '\t'])
                    .or_else(|| rest.find("\\{"))
                    .unwrap_or(rest.len());
                (self.number_of(&rest[..end]) > 0, &rest[end..])
            }
        };
        (holds != negated, rest)
    }

    /// The value of an expression such as `
    /// (.g`, `
    /// F>1` or `(
    /// (rF:(
    /// (.g==0))`; with several operators, only the first is applied.
    fn number_of(&self, expression: &str) -> i64 {
        let text = self.expanded(expression, 0);
        let text = text.trim_matches(['(', ')', ' ']);
        let digits = |text: &str| -> i64 {
            let text = text.trim_matches(['(', ')', '=', ' ']);
            let end = text
                .char_indices()
                .find(|(at, character)| !(character.is_ascii_digit() || *at == 0 && *character == '-'))
                .map_or(text.len(), |(at, _)| at);
            text[..end].parse().unwrap_or(0)
        };
        let first = text.split([':', '&']).next().unwrap_or_default();
        for (sign, compare) in [("=", i64::eq as fn(&i64, &i64) -> bool), (">", i64::gt), ("<", i64::lt)] {
            if let Some((left, right)) = first.split_once(sign) {
                return i64::from(compare(&digits(left), &digits(right)));
            }
        }
        digits(first)
    }

    fn define(&mut self, rest: &str, appends: bool) {
        let end = rest.find([' ', '\t']).unwrap_or(rest.len());
        let (name, text) = rest.split_at(end);
        let text = text.trim_start_matches([' ', '\t']);
        let text = without_comment(text.strip_prefix('"').unwrap_or(text));
        if self.strings.len() >= MAX_NAMES {
            return;
        }
        let string = self.strings.entry(name.to_owned()).or_default();
        if !appends {
            string.clear();
        }
        if string.len() + text.len() <= MAX_LINE_BYTES {
            string.push_str(&text);
        }
    }

    fn number(&mut self, rest: &str) {
        let mut words = rest.split_whitespace();
        let (Some(name), Some(value)) = (words.next(), words.next()) else {
            return;
        };
        let number = self.number_of(value.trim_start_matches('+'));
        let before = self.registers.get(name).copied().unwrap_or(0);
        let number = match value.starts_with('+') {
            true => before.saturating_add(number),
            false => number,
        };
        if self.registers.len() < MAX_NAMES {
            self.registers.insert(name.to_owned(), number);
        }
    }

    fn record(&mut self, rest: &str) {
        let mut words = rest.split_whitespace();
        let name = words.next().unwrap_or_default().to_owned();
        let end = words.next().unwrap_or_default().to_owned();
        let body = self.body_until(&end);
        // A page cannot redefine known names.
        let is_known = super::is_known_macro(&name);
        if !is_known && self.macros.len() < MAX_NAMES {
            self.macros.insert(name, body);
        }
    }

    fn body_until(&mut self, end: &str) -> Vec<String> {
        let end = end.split_whitespace().next().unwrap_or_default();
        let mut body = Vec::new();
        while let Some(line) = self.pending.pop_front() {
            let control = line.trim_end().strip_prefix(['.', '\'']).map(str::trim_start);
            if control.is_some_and(|control| control == "." || !end.is_empty() && control == end) {
                break;
            }
            body.push(line);
        }
        body
    }

    /// Expands strings and registers.
    fn expanded(&self, text: &str, depth: usize) -> String {
        if !text.contains("\\*") && !text.contains("\\n") || depth > MAX_DEPTH {
            return text.to_owned();
        }
        let mut output = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            output.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            match rest.chars().next() {
                Some('*') => {
                    let (name, after) = text::name(&rest[1..]);
                    let string = self.strings.get(name).map_or("", String::as_str);
                    output.push_str(&self.expanded(string, depth + 1));
                    rest = after;
                }
                Some('n') => {
                    let (name, after) = text::name(&rest[1..]);
                    output.push_str(&self.registers.get(name).copied().unwrap_or(0).to_string());
                    rest = after;
                }
                Some(other) => {
                    output.push('\\');
                    output.push(other);
                    rest = &rest[other.len_utf8()..];
                }
                None => output.push('\\'),
            }
            if output.len() > MAX_LINE_BYTES {
                break;
            }
        }
        if output.len() <= MAX_LINE_BYTES {
            output.push_str(rest);
        }
        output
    }
}

/// The number of blocks that the text opens, less those that it closes.
fn braces(text: &str) -> isize {
    text.matches("\\{").count() as isize - text.matches("\\}").count() as isize
}

/// The line without the end of the block that was entered.
fn without_brace(line: &str) -> String {
    match line.contains("\\}") {
        true => line.replace("\\}", "").trim_end().to_owned(),
        false => line.to_owned(),
    }
}

fn without_comment(text: &str) -> String {
    let mut from = 0;
    while let Some(at) = text[from..].find("\\\"").map(|at| from + at) {
        let backslashes = text[..at].len() - text[..at].trim_end_matches('\\').len();
        if backslashes.is_multiple_of(2) {
            return text[..at].to_owned();
        }
        from = at + 2;
    }
    text.to_owned()
}

/// Splits a line into words; quotation marks enclose words with spaces, and `""` in them is one.
pub(super) fn arguments(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut characters = text.chars().peekable();
    loop {
        while characters
            .next_if(|character| matches!(character, ' ' | '\t'))
            .is_some()
        {}
        if characters.peek().is_none() {
            return arguments;
        }
        let mut argument = String::new();
        let is_quoted = characters.next_if_eq(&'"').is_some();
        while let Some(character) = characters.next() {
            match character {
                '"' if is_quoted => {
                    if characters.next_if_eq(&'"').is_none() {
                        break;
                    }
                    argument.push('"');
                }
                ' ' | '\t' if !is_quoted => break,
                '\\' => {
                    argument.push('\\');
                    argument.extend(characters.next());
                }
                other => argument.push(other),
            }
        }
        arguments.push(argument);
    }
}

/// The line of a macro with its arguments in place of `\\$1`, `\\$2` and `\\$*`.
fn with_arguments(line: &str, arguments: &[String]) -> String {
    let mut line = line.replace("\\\\", "\\");
    if line.contains("\\$") {
        for (at, number) in ('1'..='9').enumerate() {
            let argument = arguments.get(at).map_or("", String::as_str);
            line = line.replace(&format!("\\${number}"), argument);
        }
        line = line.replace("\\$*", &arguments.join(" "));
        line = line.replace("\\$@", &arguments.join(" "));
    }
    line.truncate(line.floor_char_boundary(MAX_LINE_BYTES));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Vec<String> {
        lines(source)
            .into_iter()
            .map(|line| match line {
                Line::Text(text) => text,
                Line::Macro { name, arguments, .. } => format!(".{name} {}", arguments.join("|")),
            })
            .collect()
    }

    #[test]
    fn arguments_are_separated_by_spaces_or_quoted() {
        assert_eq!(arguments(r#"a "b ""c""" d\ e"#), ["a", "b \"c\"", "d\\ e"]);
    }

    #[test]
    fn strings_and_registers_are_expanded() {
        assert_eq!(
            read(".ds X a b\\\" comment\n.nr n 3\nIt is \\*X, \\*(Aq, \\n(.g\\nn"),
            ["It is a b, ', 13"]
        );
        assert_eq!(read(".ds A \\*A\\*A\n\\*A").len(), 1);
    }

    #[test]
    fn conditions_choose_paper() {
        let page = ".ie n \\{\\\nterminal\n.\\}\n.el \\{\\\n.IP \\(bu 2\n.\\}\ntext\n.if t on paper\n.if \\n(.g groff\n.if !\\nx no\n";
        assert_eq!(read(page), [".IP \\(bu|2", "text", "on paper", "groff", "no"]);
    }

    #[test]
    fn macros_of_the_page_are_expanded_up_to_the_limit() {
        assert_eq!(
            read(".de opt\n.B \\\\$1\n\\\\$2\n..\n.opt -a all\n.ig\nno\n..\nend"),
            [".B -a", "all", "end"]
        );
        assert!(read(".de x\n.x\n.x\n..\n.x").is_empty());
    }
}
