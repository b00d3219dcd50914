//! The lines of a page for the macros, after expansion of strings, registers, conditions and its own macros.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use super::expansion::{MAX_LINE_BYTES, MAX_NAMES, Names};
use super::line::{arguments, braces, without_brace, without_comment};
use super::translation::Translation;

/// Maximum lines that one line expands to, by recursive macros, and maximum lines in total.
const MAX_LINES_FROM_MACROS: usize = 20_000;
/// Maximum bytes that macros, strings and the like add to a page, for each byte of it and in addition.
const MAX_GROWTH: usize = 8;
const MAX_ADDED_BYTES: usize = 64 * 1024;
/// Maximum length of a chain of aliases.
const MAX_ALIASES: usize = 8;

/// A line of text, or a macro with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    Macro { name: String, arguments: Vec<String> },
}

/// The lines of `source`, without requests that only affect the layout.
pub(super) fn lines(source: &str) -> Vec<Line> {
    let mut interpreter = Interpreter::new(source);
    while let Some(pending) = interpreter.pending.pop_front() {
        interpreter.arguments = pending.arguments;
        interpreter.loop_line = pending.line.contains("while").then(|| pending.line.clone());
        let line = interpreter.with_arguments(pending.line);
        interpreter.line(line);
    }
    interpreter.output
}

type Arguments = Rc<RefCell<VecDeque<String>>>;

/// A line that is not yet interpreted, and the arguments of the macro that it is part of.
#[derive(Debug)]
struct Pending {
    line: String,
    arguments: Option<Arguments>,
}

struct Interpreter {
    pending: VecDeque<Pending>,
    /// Those of the current line.
    arguments: Option<Arguments>,
    /// The current line as it is in the page, if it may begin a loop.
    loop_line: Option<String>,
    names: Names,
    macros: HashMap<String, Vec<String>>,
    /// Other names of macros.
    aliases: HashMap<String, String>,
    translation: Translation,
    /// Whether a backslash is a character like others, as between `.eo` and `.ec`.
    has_no_escapes: bool,
    /// Results of `.ie` requests that wait for their `.el`.
    conditions: Vec<bool>,
    lines_from_macros: usize,
    /// Bytes that may still be added.
    budget: usize,
    output: Vec<Line>,
}

impl Interpreter {
    fn new(source: &str) -> Self {
        let mut pending: VecDeque<Pending> = VecDeque::new();
        let mut continued = String::new();
        let of_page = |line| Pending { line, arguments: None };
        for line in source.lines() {
            let backslashes = line.len() - line.trim_end_matches('\\').len();
            // A trailing backslash joins the next line.
            if backslashes % 2 == 1 && continued.len() < MAX_LINE_BYTES {
                continued.push_str(&line[..line.len() - 1]);
                continue;
            }
            continued.push_str(line);
            pending.push_back(of_page(std::mem::take(&mut continued)));
        }
        if !continued.is_empty() {
            pending.push_back(of_page(continued));
        }
        Self {
            pending,
            arguments: None,
            loop_line: None,
            names: Names::default(),
            macros: HashMap::new(),
            aliases: HashMap::new(),
            translation: Translation::default(),
            has_no_escapes: false,
            conditions: Vec::new(),
            lines_from_macros: 0,
            budget: MAX_GROWTH * source.len() + MAX_ADDED_BYTES,
            output: Vec::new(),
        }
    }

    fn line(&mut self, line: String) {
        let line = without_brace(&line);
        let is_control = line.starts_with('.') || line.starts_with('\'') && !line.starts_with("''");
        if !is_control {
            let text = match self.has_no_escapes {
                true => line.replace('\\', "\\e"),
                false => {
                    let text = self.expanded(&line);
                    self.translated(text)
                }
            };
            self.output.push(Line::Text(text));
            return;
        }
        let control = line[1..].trim_start();
        if control.is_empty() || control.starts_with("\\\"") {
            return;
        }
        let end = control.find([' ', '\t']).unwrap_or(control.len());
        let (name, rest) = control.split_at(end);
        // Arguments may directly follow an escape: `.if\n(.g`.
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
            "while" => self.repeat(rest),
            "nop" | "do" => self.push_front(rest.to_owned()),
            "ds" | "ds1" => self.names.define(rest, false),
            "as" | "as1" => self.names.define(rest, true),
            "nr" => self.names.number(rest),
            "af" => self.names.format(rest),
            "de" | "de1" | "dei" | "dei1" => self.record(rest, false),
            "am" | "am1" | "ami" | "ami1" => self.record(rest, true),
            "als" => self.alias(rest, false),
            "rn" => self.alias(rest, true),
            "rm" => self.remove(rest),
            "tr" | "trin" | "trnt" => {
                let pairs = self.expanded(rest);
                self.translation.translate(&pairs);
            }
            "char" | "schar" | "fchar" | "fschar" => {
                let definition = self.expanded(rest);
                self.translation.define(&definition, name.starts_with('f'));
            }
            "rchar" => self.translation.remove(rest),
            "eo" => self.has_no_escapes = true,
            "ec" => self.has_no_escapes = false,
            "shift" => self.shift(rest),
            "return" => self.end_macro(),
            // A loop with either is taken once.
            "break" | "continue" => {}
            "ig" => {
                self.body_until(rest);
            }
            _ => self.call(name, rest),
        }
    }

    /// The line with the arguments of its macro in place of `\$1`, `\$2` and `\$*`.
    fn with_arguments(&mut self, mut line: String) -> String {
        let Some(arguments) = self.arguments.as_ref().map(|arguments| arguments.borrow()) else {
            return line;
        };
        for number in ["\\n(.$", "\\n[.$]"] {
            if line.contains(number) {
                line = line.replace(number, &arguments.len().to_string());
            }
        }
        if !line.contains("\\$") {
            return line;
        }
        let before = line.len();
        for (at, number) in ('1'..='9').enumerate() {
            let argument = arguments.get(at).map_or("", String::as_str);
            line = line.replace(&format!("\\${number}"), argument);
        }
        if line.contains("\\$*") || line.contains("\\$@") {
            let all = Vec::from_iter(arguments.iter().map(String::as_str)).join(" ");
            line = line.replace("\\$*", &all).replace("\\$@", &all);
        }
        line.truncate(line.floor_char_boundary(MAX_LINE_BYTES));
        let added = line.len().saturating_sub(before);
        drop(arguments);
        if self.affords(added) { line } else { String::new() }
    }

    /// Takes bytes from the budget, if they are left.
    fn affords(&mut self, bytes: usize) -> bool {
        let is_affordable = bytes <= self.budget;
        if is_affordable {
            self.budget -= bytes;
        }
        is_affordable
    }

    /// A line without its comment and with the values of strings and registers.
    fn expanded(&mut self, line: &str) -> String {
        let line = without_comment(line);
        let expanded = self.names.expanded(&line);
        let added = expanded.len().saturating_sub(line.len());
        if self.affords(added) { expanded } else { line }
    }

    /// A line with characters as the page writes them.
    fn translated(&mut self, line: String) -> String {
        match self.translation.apply(&line) {
            Some(text) if self.affords(text.len().saturating_sub(line.len())) => text,
            _ => line,
        }
    }

    /// Interprets a line next, as part of the current macro.
    fn push_front(&mut self, line: String) {
        let arguments = self.arguments.clone();
        self.pending.push_front(Pending { line, arguments });
    }

    fn call(&mut self, name: &str, rest: &str) {
        let rest = self.expanded(rest);
        let arguments = arguments(&rest);
        let name = self.original(name).to_owned();
        if let Some(body) = self.macros.get(&name) {
            let bytes: usize = body.iter().map(String::len).sum();
            self.lines_from_macros += body.len() + 1;
            if self.lines_from_macros <= MAX_LINES_FROM_MACROS && bytes <= self.budget {
                self.budget -= bytes;
                let arguments = Rc::new(RefCell::new(VecDeque::from(arguments)));
                for line in body.iter().rev() {
                    self.pending.push_front(Pending {
                        line: line.clone(),
                        arguments: Some(Rc::clone(&arguments)),
                    });
                }
            }
            return;
        }
        if let Some(text) = self.full_name(&name, &arguments) {
            self.output.push(Line::Text(text));
            return;
        }
        let arguments = arguments
            .into_iter()
            .map(|argument| self.translated(argument))
            .collect();
        self.output.push(Line::Macro { name, arguments });
    }

    /// The full name of a library, standard or system that the page defines, beside those that `mdoc` knows.
    fn full_name(&mut self, name: &str, arguments: &[String]) -> Option<String> {
        let argument = arguments.first().filter(|_| matches!(name, "Lb" | "St" | "At"))?;
        let text = self.names.string(&format!("doc-str-{name}-{argument}"))?.clone();
        Some(self.expanded(&text))
    }

    /// The macro that a name is an alias of, or the name.
    fn original<'a>(&'a self, name: &'a str) -> &'a str {
        let mut name = name;
        for _ in 0..MAX_ALIASES {
            match self.aliases.get(name).filter(|_| !self.macros.contains_key(name)) {
                Some(original) => name = original,
                None => break,
            }
        }
        name
    }

    /// Gives a macro or string another name; `renames` removes the old one.
    fn alias(&mut self, rest: &str, renames: bool) {
        let mut words = rest.split_whitespace();
        let (Some(first), Some(second)) = (words.next(), words.next()) else {
            return;
        };
        let (new, old) = if renames { (second, first) } else { (first, second) };
        if super::is_known_macro(new) {
            return;
        }
        let string = match renames {
            true => self.names.remove_string(old),
            false => self.names.string(old).cloned(),
        };
        if let Some(string) = string {
            self.names.set_string(new, string);
            return;
        }
        let body = match renames {
            true => self.macros.remove(old),
            false => self.macros.get(old).cloned(),
        };
        match body {
            Some(body) if self.macros.len() < MAX_NAMES => {
                self.macros.insert(new.to_owned(), body);
            }
            None if self.aliases.len() < MAX_NAMES => {
                self.aliases.insert(new.to_owned(), old.to_owned());
            }
            _ => {}
        }
    }

    fn remove(&mut self, rest: &str) {
        for name in rest.split_whitespace() {
            self.macros.remove(name);
            self.aliases.remove(name);
            self.names.remove_string(name);
        }
    }

    fn shift(&mut self, rest: &str) {
        let number = rest.split_whitespace().next().and_then(|number| number.parse().ok());
        if let Some(arguments) = &self.arguments {
            let mut arguments = arguments.borrow_mut();
            let number: usize = arguments.len().min(number.unwrap_or(1));
            arguments.drain(..number);
        }
    }

    /// Leaves out the rest of the current macro.
    fn end_macro(&mut self) {
        let Some(current) = self.arguments.take() else { return };
        let is_of_macro = |pending: &Pending| {
            pending
                .arguments
                .as_ref()
                .is_some_and(|arguments| Rc::ptr_eq(arguments, &current))
        };
        while self.pending.front().is_some_and(is_of_macro) {
            self.pending.pop_front();
        }
    }

    fn condition(&mut self, rest: &str, has_else: bool) {
        let (holds, rest) = self.names.holds(rest);
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
                self.push_front(rest.to_owned());
            }
            return;
        }
        self.block(rest);
    }

    /// Takes the lines of the block that `rest` opens.
    fn block(&mut self, rest: &str) -> Vec<Pending> {
        let mut lines = Vec::new();
        let mut open = braces(rest);
        while open > 0 {
            let Some(pending) = self.pending.pop_front() else { break };
            open += braces(&pending.line);
            lines.push(pending);
        }
        lines
    }

    /// `.while`: the block, and then the request again. A block that may leave the loop is taken once.
    fn repeat(&mut self, rest: &str) {
        let (holds, first) = self.names.holds(rest);
        let block = self.block(first);
        self.lines_from_macros += block.len() + 2;
        let bytes: usize = block.iter().map(|pending| pending.line.len()).sum();
        if !holds || self.lines_from_macros > MAX_LINES_FROM_MACROS || !self.affords(bytes) {
            return;
        }
        let leaves = |line: &str| line.contains("break") || line.contains("continue");
        let leaves = block.iter().any(|pending| leaves(&pending.line));
        if !leaves {
            for pending in block.iter().rev() {
                self.pending.push_front(Pending {
                    line: pending.line.clone(),
                    arguments: pending.arguments.clone(),
                });
            }
            let line = self.loop_line.take();
            self.push_front(line.unwrap_or_else(|| format!(".while {rest}")));
        }
        for pending in block.into_iter().rev() {
            self.pending.push_front(pending);
        }
        let first = first.trim_start();
        let first = first.strip_prefix("\\{").unwrap_or(first).trim_start();
        if !first.is_empty() {
            self.push_front(first.to_owned());
        }
    }

    fn record(&mut self, rest: &str, appends: bool) {
        let mut words = rest.split_whitespace();
        let name = words.next().unwrap_or_default().to_owned();
        let end = words.next().unwrap_or_default().to_owned();
        let body = self.body_until(&end);
        // A page cannot redefine known names.
        let is_known = super::is_known_macro(&name);
        if !is_known && self.macros.len() < MAX_NAMES {
            let lines = self.macros.entry(name).or_default();
            if !appends {
                lines.clear();
            }
            lines.extend(body);
        }
    }

    /// The lines until `end`, as they are in a macro: with single backslashes.
    fn body_until(&mut self, end: &str) -> Vec<String> {
        let end = end.split_whitespace().next().unwrap_or_default();
        let mut body = Vec::new();
        while let Some(Pending { line, .. }) = self.pending.pop_front() {
            let control = line.trim_end().strip_prefix(['.', '\'']).map(str::trim_start);
            if control.is_some_and(|control| control == "." || !end.is_empty() && control == end) {
                break;
            }
            body.push(line.replace("\\\\", "\\"));
        }
        body
    }
}

#[cfg(test)]
mod tests;
