//! Strings and registers of a page: their definition, and their values in lines and conditions.

use std::collections::HashMap;

use super::escape;
use super::line::without_comment;
use super::register::Register;

/// Maximum nesting of strings.
const MAX_DEPTH: usize = 8;
/// Maximum length of a line after expansion.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024;
/// Maximum number of names of each kind that a page defines.
pub(super) const MAX_NAMES: usize = 2_000;

/// The strings that the sets of macros define.
const PREDEFINED: [(&str, &str); 25] = [
    ("R", "®"),
    ("Tm", "™"),
    ("lq", "“"),
    ("rq", "”"),
    ("Lq", "“"),
    ("Rq", "”"),
    ("Aq", "'"),
    ("C'", ""),
    ("--", "-"),
    ("lp", "("),
    ("rp", ")"),
    ("Ba", "|"),
    ("Am", "&"),
    ("q", "\""),
    ("Lt", "<"),
    ("Gt", ">"),
    ("Le", "≤"),
    ("Ge", "≥"),
    ("Ne", "≠"),
    ("Pm", "±"),
    ("If", "∞"),
    ("Na", "NaN"),
    ("Pi", "π"),
    ("Ai", "ANSI"),
    ("Px", "POSIX"),
];

#[derive(Debug)]
pub(super) struct Names {
    strings: HashMap<String, String>,
    registers: HashMap<String, Register>,
}

impl Default for Names {
    fn default() -> Self {
        let strings = PREDEFINED.map(|(name, text)| (name.to_owned(), text.to_owned()));
        Self {
            strings: HashMap::from(strings),
            registers: HashMap::from([(".g".to_owned(), Register::of(1))]),
        }
    }
}

impl Names {
    pub(super) fn string(&self, name: &str) -> Option<&String> {
        self.strings.get(name)
    }

    pub(super) fn set_string(&mut self, name: &str, text: String) {
        if self.strings.len() < MAX_NAMES {
            self.strings.insert(name.to_owned(), text);
        }
    }

    pub(super) fn remove_string(&mut self, name: &str) -> Option<String> {
        self.strings.remove(name)
    }

    /// Whether a condition holds, and the text after it. Of alternatives for terminals and paper, the one for paper is
    /// better: its code has a font.
    pub(super) fn holds<'a>(&mut self, rest: &'a str) -> (bool, &'a str) {
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
                let is_equal = self.expanded(left) == self.expanded(right);
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

    /// The value of an expression such as `\n(.g`, `\nF>1` or `(\n(rF:(\n(.g==0))`; with several operators, only the
    /// first is applied.
    fn number_of(&mut self, expression: &str) -> i64 {
        // Formats of registers do not count.
        let text = self.expanded_at(expression, 0, |register| register.value.to_string());
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

    pub(super) fn define(&mut self, rest: &str, appends: bool) {
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

    /// `.nr name value step`, where a value with a sign is added.
    pub(super) fn number(&mut self, rest: &str) {
        let mut words = rest.split_whitespace();
        let (Some(name), Some(value)) = (words.next(), words.next()) else {
            return;
        };
        let number = self.number_of(value.trim_start_matches('+'));
        let step = words.next().map(|step| self.number_of(step));
        let Some(register) = self.register(name) else { return };
        register.value = match value.starts_with(['+', '-']) {
            true => register.value.saturating_add(number),
            false => number,
        };
        register.step = step.unwrap_or(register.step);
    }

    /// `.af name example`.
    pub(super) fn format(&mut self, rest: &str) {
        let mut words = rest.split_whitespace();
        if let (Some(name), Some(example)) = (words.next(), words.next())
            && let Some(register) = self.register(name)
        {
            register.set_format(example);
        }
    }

    /// The register of a name, which is 0 before; `None` if there are too many.
    fn register(&mut self, name: &str) -> Option<&mut Register> {
        let is_new = !self.registers.contains_key(name);
        (!is_new || self.registers.len() < MAX_NAMES).then(|| self.registers.entry(name.to_owned()).or_default())
    }

    /// The text of a register, and the text after its name. `\n+x` and `\n-x` first change it by its step.
    fn interpolated<'a>(&mut self, text: &'a str, show: fn(&Register) -> String) -> (String, &'a str) {
        let steps = match text.chars().next() {
            Some('+') => 1,
            Some('-') => -1,
            _ => 0,
        };
        let (name, after) = escape::name(if steps == 0 { text } else { &text[1..] });
        match self.registers.get_mut(name) {
            Some(register) => {
                register.advance(steps);
                (show(register), after)
            }
            None => ("0".to_owned(), after),
        }
    }

    /// Expands strings and registers.
    pub(super) fn expanded(&mut self, text: &str) -> String {
        self.expanded_at(text, 0, Register::to_string)
    }

    fn expanded_at(&mut self, text: &str, depth: usize, show: fn(&Register) -> String) -> String {
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
                    let (name, after) = escape::name(&rest[1..]);
                    let string = self.strings.get(name).cloned().unwrap_or_default();
                    output.push_str(&self.expanded_at(&string, depth + 1, show));
                    rest = after;
                }
                Some('n') => {
                    let (number, after) = self.interpolated(&rest[1..], show);
                    output.push_str(&number);
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
