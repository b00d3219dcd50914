//! Puts what a page imports where the page uses it: parts in Markdown, sources of programs, texts and components that
//! the page defines itself.

mod scope;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::attribute::{self, Value};
use super::indentation::{self, Indentation};
use super::module::{self, Import, Names};
use super::tag::{Tag, tag};
use super::{Fence, MAX_UNCLOSED, code_span};
use crate::draft::front_matter;
use crate::file::Folder;
use crate::folder::include_reader::{IncludeReader, IncludedFile};
use crate::text::fence;
use scope::{CHILDREN, MARK, Properties, Scope};

/// Elements that include the file in their text or attribute, in the languages of Fumadocs and Mintlify.
const INCLUDE_ELEMENT: &str = "include";
const SNIPPET_ELEMENT: &str = "Snippet";
/// Maximum bytes of values and of components of a page that are put into it, for each byte of it.
const MAX_GROWTH: usize = 8;
/// Maximum components of a page that are put into it.
const MAX_COMPONENTS: usize = 1_000;
/// Maximum bytes of an expression that may be a value.
const MAX_EXPRESSION_BYTES: usize = 200;

/// The page with the parts that it uses, and a warning if some are missing.
pub(crate) fn expand(folder: Option<&Folder>, path: &Path, text: &str) -> (String, Option<String>) {
    let marks = ["import ", "export ", "<include", "<Snippet"];
    if !marks.iter().any(|mark| text.contains(mark)) {
        return (text.to_owned(), None);
    }
    let includes = text.contains("<include") || text.contains("<Snippet");
    if !includes && names(text).is_empty() {
        return (text.to_owned(), None);
    }
    let mut expansion = Expansion {
        reader: folder.map(IncludeReader::new),
        room: Rc::new(Cell::new(MAX_GROWTH * text.len())),
        components: 0,
        unclosed: 0,
    };
    let properties = HashMap::new();
    let text = expansion.page(text, path, &properties, 0);
    let warning = expansion.reader.as_ref().and_then(IncludeReader::warning);
    (text, warning)
}

struct Expansion<'a> {
    /// `None` outside a folder.
    reader: Option<IncludeReader<'a>>,
    /// Bytes that values and components may still take.
    room: Rc<Cell<usize>>,
    components: usize,
    /// Template strings without an end.
    unclosed: usize,
}

/// A component that is open: what follows its children.
struct Open {
    name: String,
    rest: String,
}

impl Expansion<'_> {
    fn page(&mut self, text: &str, path: &Path, properties: &Properties, depth: usize) -> String {
        let names = names(text);
        let scope = Scope {
            path,
            names: &names,
            properties,
            depth,
            is_part: depth > 0,
            room: Rc::clone(&self.room),
        };
        let mut output = String::with_capacity(text.len());
        let mut prose = String::new();
        let mut open = Vec::new();
        for part in parts(text) {
            match part {
                Part::Prose(line) => {
                    prose.push_str(line);
                    prose.push('\n');
                }
                Part::Code(line) => {
                    self.prose(&std::mem::take(&mut prose), &scope, &mut open, &mut output);
                    output.push_str(line);
                    output.push('\n');
                }
                // The converter removes the statements of a page, and knows its syntax by them.
                Part::Statement(lines) if depth == 0 => {
                    self.prose(&std::mem::take(&mut prose), &scope, &mut open, &mut output);
                    for line in lines {
                        output.push_str(line);
                        output.push('\n');
                    }
                }
                Part::Statement(_) => {}
            }
        }
        self.prose(&prose, &scope, &mut open, &mut output);
        output
    }

    /// Replaces elements and expressions.
    fn prose(&mut self, prose: &str, scope: &Scope<'_>, open: &mut Vec<Open>, output: &mut String) {
        let mut rest = prose;
        let mut unclosed = 0;
        while let Some(at) = rest.find(['`', '<', '{']) {
            output.push_str(&rest[..at]);
            rest = &rest[at..];
            let length = match rest.as_bytes()[0] {
                b'`' => {
                    let length = code_span(rest);
                    output.push_str(&rest[..length]);
                    length
                }
                b'{' => self.expression(rest, scope, output),
                _ if unclosed < MAX_UNCLOSED => match tag(rest) {
                    Some(tag) => self.element(rest, &tag, scope, open, output),
                    None => {
                        unclosed += 1;
                        output.push('<');
                        1
                    }
                },
                _ => {
                    output.push('<');
                    1
                }
            };
            rest = &rest[length..];
        }
        output.push_str(rest);
    }

    /// Writes the element or the tag that `text` opens with; returns its length.
    fn element(
        &mut self,
        text: &str,
        tag: &Tag<'_>,
        scope: &Scope<'_>,
        open: &mut Vec<Open>,
        output: &mut String,
    ) -> usize {
        let after = &text[tag.length..];
        if tag.closing {
            match open.iter().rposition(|element| element.name == tag.name) {
                Some(at) => {
                    let element = open.swap_remove(at);
                    open.truncate(at);
                    insert(output, &element.rest, after);
                }
                None => output.push_str(&text[..tag.length]),
            }
            return tag.length;
        }
        if let Some((target, length)) = included_file(text, tag) {
            let shown = self.include(&target, scope, &HashMap::new());
            insert(output, &shown.replace(CHILDREN, ""), &text[length..]);
            return length;
        }
        let shown = match (scope.names.imports.get(tag.name), scope.names.components.get(tag.name)) {
            (Some(Import::Page(target)), _) => {
                let properties = scope.properties_of(tag.attributes);
                self.include(target, scope, &properties)
            }
            (_, Some(component)) => self.own_component(component, tag, scope),
            _ => {
                output.push_str(&scope.with_values(&text[..tag.length]));
                return tag.length;
            }
        };
        let (before, rest) = shown.split_once(CHILDREN).unwrap_or((&shown, ""));
        let rest = rest.replace(CHILDREN, "");
        if tag.self_closing {
            insert(output, &format!("{before}{rest}"), after);
            return tag.length;
        }
        insert(output, before, after);
        open.push(Open {
            name: tag.name.to_owned(),
            rest,
        });
        tag.length
    }

    /// What a component shows that the page defines.
    fn own_component(&mut self, component: &str, tag: &Tag<'_>, scope: &Scope<'_>) -> String {
        self.components += 1;
        if self.components > MAX_COMPONENTS || !scope::take(&self.room, component.len()) {
            return String::new();
        }
        let properties = scope.properties_of(tag.attributes);
        let names = Names::default();
        let inner = Scope {
            path: scope.path,
            names: &names,
            properties: &properties,
            depth: scope.depth + 1,
            is_part: true,
            room: Rc::clone(&self.room),
        };
        let mut output = String::new();
        self.prose(component, &inner, &mut Vec::new(), &mut output);
        one_line(&output)
    }

    /// The text of a file with what it uses itself, or nothing.
    fn include(&mut self, target: &str, scope: &Scope<'_>, properties: &Properties) -> String {
        let target = target.split(['?', '#']).next().unwrap_or_default();
        let Some((text, path)) = self.read(target, scope) else {
            return String::new();
        };
        match module::is_page(target) {
            true => {
                let body = front_matter::split(&text).body;
                self.page(body, &path, properties, scope.depth + 1).trim().to_owned()
            }
            false => source(&text, target),
        }
    }

    fn read(&mut self, target: &str, scope: &Scope<'_>) -> Option<(String, PathBuf)> {
        let IncludedFile { text, path } = self.reader.as_mut()?.file(target, target, scope.path, scope.depth)?;
        Some((text, path))
    }

    /// Writes the expression in braces that `text` opens with; returns its length.
    fn expression(&mut self, text: &str, scope: &Scope<'_>, output: &mut String) -> usize {
        if text.starts_with("{`") && self.unclosed < MAX_UNCLOSED {
            let Some(end) = text.find("`}") else {
                self.unclosed += 1;
                output.push('{');
                return 1;
            };
            output.push_str(&scope.with_values(&text[..end + 2]));
            return end + 2;
        }
        let end = text
            .bytes()
            .take(MAX_EXPRESSION_BYTES)
            .position(|byte| matches!(byte, b'}' | b'\n'));
        let Some(length) = end.filter(|&end| text[end..].starts_with('}')).map(|end| end + 1) else {
            output.push('{');
            return 1;
        };
        let inner = text[1..length - 1].trim();
        if let Some(Import::Source(target)) = scope.names.imports.get(inner)
            && let Some((code, _)) = self.read(&target.clone(), scope)
        {
            insert(output, &source(&code, target), &text[length..]);
            return length;
        }
        match scope.value(inner) {
            Some(value) => {
                output.push_str(&value);
                length
            }
            None => {
                output.push('{');
                1
            }
        }
    }
}

/// A page in pieces.
enum Part<'a> {
    Prose(&'a str),
    Code(&'a str),
    Statement(Vec<&'a str>),
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut indentation = Indentation::default();
    let mut open: Option<Fence<'_>> = None;
    let mut lines = text.lines();
    let mut after_blank = true;
    while let Some(line) = lines.next() {
        if let Some(block) = &open
            && let Some((_, closes)) = block.line(line)
        {
            parts.push(Part::Code(line));
            if closes {
                open = None;
            }
            continue;
        }
        open = Fence::open(line, &mut indentation).map(|(block, _)| block);
        if open.is_some() {
            parts.push(Part::Code(line));
        } else if after_blank && module::is_statement(line) {
            parts.push(Part::Statement(module::statement(line, &mut lines)));
            continue;
        } else {
            parts.push(Part::Prose(line));
        }
        after_blank = open.is_some() || line.trim().is_empty() || line.trim_start().starts_with("<script");
    }
    parts
}

fn names(text: &str) -> Names {
    let mut names = Names::default();
    for part in parts(text) {
        if let Part::Statement(lines) = part {
            names.add(&lines.join("\n"));
        }
    }
    names
}

/// The file that an element includes, and the length of the element.
fn included_file(text: &str, tag: &Tag<'_>) -> Option<(String, usize)> {
    match tag.name {
        SNIPPET_ELEMENT => {
            let file = attribute::all(tag.attributes)
                .into_iter()
                .find(|(name, _)| *name == "file")?;
            let (_, Value::Text(file)) = file else { return None };
            let name = match module::is_page(file) {
                true => file.to_owned(),
                false => format!("{file}.mdx"),
            };
            Some((format!("/snippets/{name}"), tag.length))
        }
        INCLUDE_ELEMENT if !tag.self_closing => {
            let line = text[tag.length..].split('\n').next()?;
            let end = line.find("</include>")?;
            let file = line[..end].trim();
            let is_file = !file.is_empty() && !file.contains(['<', '{']);
            is_file.then(|| (file.to_owned(), tag.length + end + "</include>".len()))
        }
        _ => None,
    }
}

/// The text of elements as React shows it: a line break beside a tag is no space.
fn one_line(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(char::is_whitespace) {
        output.push_str(&rest[..at]);
        let after = rest[at..].trim_start();
        let space = &rest[at..rest.len() - after.len()];
        let is_beside_tag =
            output.is_empty() || output.ends_with(['>', MARK]) || after.is_empty() || after.starts_with(['<', MARK]);
        if !(space.contains('\n') && is_beside_tag) {
            output.push(' ');
        }
        rest = after;
    }
    output.push_str(rest);
    output
}

fn source(text: &str, target: &str) -> String {
    let language = Path::new(target).extension().unwrap_or_default().to_string_lossy();
    fence::block(&language, text.trim_end_matches('\n'))
}

/// Writes `shown` at the end of `output`: within its line, or as blocks with the indentation of this line. `after`
/// follows.
fn insert(output: &mut String, shown: &str, after: &str) {
    let inline = shown;
    let shown = shown.trim();
    if shown.is_empty() {
        return;
    }
    let start = output.rfind('\n').map_or(0, |end| end + 1);
    let line = &output[start..];
    let (column, text) = indentation::split(line);
    let mut marks = 0;
    while let Some(width) = indentation::mark(&text[marks..]).filter(|width| marks + width <= text.len()) {
        marks += width;
    }
    let rest = after.split('\n').next().unwrap_or_default().trim();
    let is_alone = is_tags(&text[marks..]) && is_tags(rest);
    let is_block = is_alone || shown.contains('\n');
    if !is_block {
        let space = |has: bool| if has { " " } else { "" };
        let (before, after) = (
            inline.starts_with(char::is_whitespace),
            inline.ends_with(char::is_whitespace),
        );
        output.push_str(&format!("{}{shown}{}", space(before), space(after)));
        return;
    }
    if text.starts_with('|') {
        output.push_str(&shown.split_whitespace().collect::<Vec<_>>().join(" "));
        return;
    }
    let indent = " ".repeat(column + marks);
    let opens_item = marks > 0 && text[marks..].is_empty();
    if !opens_item {
        output.truncate(start + line.trim_end().len());
        if !output.is_empty() && !output.ends_with("\n\n") {
            output.push_str(if output.ends_with('\n') { "\n" } else { "\n\n" });
        }
    }
    for (number, line) in shown.lines().enumerate() {
        if number > 0 || !opens_item {
            output.push_str(if line.is_empty() { "" } else { &indent });
        }
        output.push_str(line);
        output.push('\n');
    }
    if !rest.is_empty() {
        output.push('\n');
        output.push_str(&indent);
    }
}

/// Whether a part of a line consists of tags alone.
fn is_tags(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.starts_with('<') && text.ends_with('>')
}
