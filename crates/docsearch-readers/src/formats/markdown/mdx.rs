//! Converts MDX, and Markdown with components, to Markdown: import and export statements and the tags of components are
//! removed. Their text and all code blocks stay.

mod attribute;
mod attributes;
mod fence;
pub(crate) mod indentation;
mod module;
pub(crate) mod partial;
mod tag;
#[cfg(test)]
mod tests;

use std::iter::Peekable;
use std::str::Lines;

use crate::draft::unknown_names::UnknownNames;
use crate::text::fence::block;
use fence::Fence;
use indentation::Indentation;
use tag::{Tag, tag};

/// Elements whose content is not text of the page.
const UNSHOWN: [&str; 2] = ["script", "style"];
/// Elements that may be within a word. What other elements hold are words of their own.
const WITHIN_WORDS: [&str; 27] = [
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q",
    "s", "samp", "small", "span", "strong", "sub", "sup", "tt", "u", "var",
];
const LITERAL_SPACES: [&str; 3] = ["{' '}", "{\" \"}", "{` `}"];
/// Maximum tags and comments of a page without an end. Looking for the end of more would take time quadratic in the
/// size of the page.
const MAX_UNCLOSED: usize = 100;
/// Maximum nesting of elements in attributes.
const MAX_NESTING: usize = 4;
/// Columns of indentation that make a line code in Markdown.
const CODE_INDENTATION: usize = 4;

/// The syntax of a page with components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Indentation has no meaning outside lists.
    Mdx,
    /// Markdown with tags of components; lines indented by four columns are code.
    Components,
}

/// The syntax of `text`: MDX has statements or comments in braces; Markdown with components has tags of components on
/// lines of their own. `None` for other Markdown.
pub(crate) fn dialect(text: &str) -> Option<Dialect> {
    let mut indentation = Indentation::default();
    let mut open: Option<Fence<'_>> = None;
    let mut after_blank = true;
    let mut found = None;
    for line in text.lines() {
        if let Some(block) = &open {
            match block.line(line) {
                Some((_, false)) => continue,
                Some((_, true)) => {
                    open = None;
                    continue;
                }
                None => open = None,
            }
        }
        if let Some((block, _)) = Fence::open(line, &mut indentation) {
            open = Some(block);
            continue;
        }
        if after_blank && module::is_statement(line) || line.contains("{/*") {
            return Some(Dialect::Mdx);
        }
        let (column, text) = indentation::split(line);
        let is_component = column < CODE_INDENTATION
            && text.starts_with('<')
            && tag(text).is_some_and(|tag| {
                tag.name.starts_with(|first: char| first.is_ascii_uppercase()) || UNSHOWN.contains(&tag.name)
            });
        if is_component {
            found = Some(Dialect::Components);
        }
        after_blank = text.is_empty();
    }
    found
}

/// Converts a page with components to Markdown; counts the components.
pub(crate) fn convert(text: &str, dialect: Dialect, components: &mut UnknownNames) -> String {
    nested(text, dialect, 0, components)
}

/// The same for elements in attributes, at their depth.
fn nested(text: &str, dialect: Dialect, nesting: usize, components: &mut UnknownNames) -> String {
    let mut page = Converter {
        components,
        nesting,
        dialect,
        output: String::with_capacity(text.len()),
        prose: String::new(),
        indentation: Indentation::default(),
        depth: 0,
        is_blank: true,
        endless: Vec::new(),
    };
    page.read(&mut text.lines().peekable());
    while page.output.ends_with("\n\n") {
        page.output.pop();
    }
    page.output
}

struct Converter<'a> {
    components: &'a mut UnknownNames,
    /// Depth of attributes that contain elements with attributes.
    nesting: usize,
    dialect: Dialect,
    output: String,
    /// Lines whose tags are not yet removed.
    prose: String,
    indentation: Indentation,
    /// Open components.
    depth: usize,
    /// Whether the last output line was blank, or there was none.
    is_blank: bool,
    /// Elements without an end in the lines whose tags are not yet removed.
    endless: Vec<&'static str>,
}

impl Converter<'_> {
    fn read(&mut self, lines: &mut Peekable<Lines<'_>>) {
        let mut after_blank = true;
        while let Some(line) = lines.next() {
            if is_fence(line) {
                self.flush();
                if let Some((fence, opening)) = Fence::open(line, &mut self.indentation) {
                    self.push_code(&opening);
                    self.read_fence(&fence, lines);
                }
                after_blank = true;
            } else if after_blank && self.is_indented_code(line) {
                self.push_code(line);
            } else if after_blank && module::is_statement(line) {
                module::statement(line, lines);
            } else if let Some(first) = preformatted(line) {
                self.flush();
                let code = preformatted_code(first, lines);
                self.push_code(&block("", &code));
                after_blank = true;
            } else {
                after_blank = line.trim().is_empty();
                push_line(&mut self.prose, line);
            }
        }
        self.flush();
    }

    fn read_fence(&mut self, fence: &Fence<'_>, lines: &mut Peekable<Lines<'_>>) {
        while let Some((line, closes)) = lines.peek().and_then(|line| fence.line(line)) {
            lines.next();
            self.push_code(&line);
            if closes {
                return;
            }
        }
    }

    /// Whether a line is code in Markdown, after a blank line or other such code.
    fn is_indented_code(&mut self, line: &str) -> bool {
        let (column, text) = indentation::split(line);
        if self.dialect == Dialect::Mdx || text.is_empty() || column < CODE_INDENTATION {
            return false;
        }
        self.flush();
        self.indentation.within(column);
        self.depth == 0 && column >= self.indentation.content() + CODE_INDENTATION
    }

    fn push_code(&mut self, line: &str) {
        push_line(&mut self.output, line);
        self.is_blank = false;
    }

    /// Writes the lines so far without tags, and with at most one blank line in a row: tags leave many behind.
    fn flush(&mut self) {
        let prose = std::mem::take(&mut self.prose);
        self.endless.clear();
        let plain = self.without_tags(&prose);
        let mut fences: Option<&str> = None;
        for line in plain.lines() {
            let mark = line.trim();
            // A fence that a template literal has become.
            match fences {
                None if mark.len() >= 3 && mark.bytes().all(|byte| byte == b'`') => fences = Some(mark),
                Some(open) if mark == open => fences = None,
                _ => {}
            }
            let line = if fences.is_some() { line } else { line.trim_end() };
            if fences.is_none() && line.is_empty() && self.is_blank {
                continue;
            }
            self.is_blank = line.is_empty();
            push_line(&mut self.output, line);
        }
    }

    fn without_tags(&mut self, prose: &str) -> String {
        let mut plain = String::with_capacity(prose.len());
        let mut rest = prose;
        let mut unclosed = 0;
        let mut line_start = true;
        // Where the line begins, and its indentation if text is left.
        let mut pending = (0, 0);
        while let Some(character) = rest.chars().next() {
            if line_start {
                let (column, text) = indentation::split(rest);
                let line = text.split('\n').next().unwrap_or_default();
                line_start = false;
                rest = text;
                if !line.is_empty() {
                    let is_tag = line.starts_with('<') || line.starts_with("{/*");
                    let kept = match is_tag {
                        true => self.indentation.within(column),
                        false => self.indentation.line(column, line),
                    };
                    pending = (plain.len(), kept);
                }
                continue;
            }
            let length = match character {
                '`' => code_span(rest),
                '{' | '<' if unclosed < MAX_UNCLOSED => match self.element(rest, &mut plain) {
                    Some(length) => {
                        rest = &rest[length..];
                        continue;
                    }
                    None => {
                        unclosed += usize::from(opens_without_end(rest));
                        1
                    }
                },
                other => other.len_utf8(),
            };
            let span = &rest[..length];
            if span == "\n" {
                indent(&mut plain, std::mem::take(&mut pending));
            }
            plain.push_str(span);
            line_start = span == "\n";
            rest = &rest[length..];
        }
        indent(&mut plain, pending);
        plain
    }

    /// Renders the tag, comment or expression that `text` opens with; returns its length.
    fn element(&mut self, text: &str, output: &mut String) -> Option<usize> {
        if text.starts_with('{') {
            return expression(text, output);
        }
        if let Some(comment) = text.strip_prefix("<!--") {
            return Some("<!--".len() + comment.find("-->")? + "-->".len());
        }
        let tag = tag(text)?;
        if let Some(length) = self.unshown(text, &tag) {
            return Some(length);
        }
        self.apply(&tag, output);
        if divides(&tag, &text[tag.length..]) && output.ends_with(|last: char| !last.is_whitespace()) {
            output.push(' ');
        }
        Some(tag.length)
    }

    /// Length of the element that `text` opens with this tag, if its content is not shown. If one has no end, later
    /// ones of its name have none either.
    fn unshown(&mut self, text: &str, tag: &Tag<'_>) -> Option<usize> {
        let name = UNSHOWN.into_iter().find(|name| *name == tag.name)?;
        if tag.closing || tag.self_closing || self.endless.contains(&name) {
            return None;
        }
        let end = format!("</{name}>");
        let Some(at) = text[tag.length..].find(&end) else {
            self.endless.push(name);
            return None;
        };
        Some(tag.length + at + end.len())
    }

    fn apply(&mut self, tag: &Tag<'_>, output: &mut String) {
        if tag.closing {
            self.depth = self.depth.saturating_sub(1);
            return;
        }
        if !tag.self_closing {
            self.depth += 1;
        }
        let line_start = output.rfind('\n').map_or(0, |end| end + 1);
        let line = &output[line_start..];
        let owner = match module::starts_upper(tag.name) {
            true => attributes::Owner::Component {
                has_children: !tag.self_closing,
            },
            false => attributes::Owner::Html,
        };
        if module::starts_upper(tag.name) {
            self.components.add("component", tag.name);
        }
        let dialect = self.dialect;
        let nesting = self.nesting + 1;
        let mut element = |text: &str| match nesting <= MAX_NESTING {
            true => nested(text, dialect, nesting, self.components),
            false => String::new(),
        };
        let text = attributes::text(tag.attributes, owner, &mut element);
        if line.trim().is_empty() && !text.is_empty() {
            output.push_str(&text);
            output.push_str("\n\n");
        } else if !text.is_empty() {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if line.ends_with(char::is_alphanumeric) {
                output.push(' ');
            }
            output.push_str(&text);
            if !tag.self_closing {
                output.push(' ');
            }
        } else if let Some(target) = tag.target() {
            output.push_str(&target);
        } else if tag.self_closing && line.starts_with('|') && module::starts_upper(tag.name) {
            // In a table cell, a component such as `<Check />` conveys something by its name alone.
            output.push_str(tag.name);
        }
    }
}

/// Whether a tag is between two words, the second at the beginning of `rest`. A component may be within a word.
fn divides(tag: &Tag<'_>, rest: &str) -> bool {
    match tag.name.starts_with(|first: char| first.is_ascii_lowercase()) {
        true => {
            rest.starts_with(|next: char| !next.is_whitespace())
                && tag.name != "wbr"
                && !tag.name.contains('-')
                && !WITHIN_WORDS.contains(&tag.name)
        }
        false => tag.closing && rest.starts_with('<') && !rest.starts_with("</"),
    }
}

fn push_line(output: &mut String, line: &str) {
    output.push_str(line);
    output.push('\n');
}

/// Indents the line that begins at an offset, unless it is empty.
fn indent(text: &mut String, (start, columns): (usize, usize)) {
    if columns > 0 && !text[start..].trim().is_empty() {
        text.insert_str(start, &" ".repeat(columns));
    }
}

fn is_fence(line: &str) -> bool {
    // The real list must not change by a look ahead.
    Fence::open(line, &mut Indentation::default()).is_some()
}

/// The text after `<pre>` at the start of a line.
fn preformatted(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("<pre")?;
    let (attributes, rest) = rest.split_once('>')?;
    (attributes.is_empty() || attributes.starts_with(' ')).then_some(rest)
}

/// The code in `<pre>` from its first line to `</pre>`.
fn preformatted_code<'a>(first: &'a str, lines: &mut impl Iterator<Item = &'a str>) -> String {
    let mut code = String::new();
    let mut line = first;
    loop {
        if let Some((last, _)) = line.split_once("</pre>") {
            code.push_str(last);
            break;
        }
        push_line(&mut code, line);
        match lines.next() {
            Some(next) => line = next,
            None => break,
        }
    }
    let code = code.trim_matches('\n').trim_end();
    let code = match code.strip_prefix("<code").and_then(|rest| rest.split_once('>')) {
        Some((_, rest)) => rest.strip_suffix("</code>").unwrap_or(rest),
        None => code,
    };
    let literal = code.strip_prefix("{`").and_then(|rest| rest.strip_suffix("`}"));
    match literal {
        Some(literal) => unescape_template(literal).trim_matches('\n').to_owned(),
        None => code
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&amp;", "&")
            .trim_matches('\n')
            .to_owned(),
    }
}

fn unescape_template(text: &str) -> String {
    text.replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\")
}

/// Length of the code span that `text` opens, or of its backticks when it does not close.
fn code_span(text: &str) -> usize {
    let run_length = |at: usize| text[at..].bytes().take_while(|&byte| byte == b'`').count();
    let ticks = run_length(0);
    let mut at = ticks;
    while let Some(offset) = text[at..].find('`') {
        let start = at + offset;
        if text[at..start].contains("\n\n") {
            break;
        }
        at = start + run_length(start);
        if at - start == ticks {
            return at;
        }
    }
    ticks
}

/// Renders `{/* comment */}`, a literal space `{' '}`, a string and a template literal; returns its length. Keeps an
/// identifier of a heading in a comment.
fn expression(text: &str, output: &mut String) -> Option<usize> {
    if let Some(comment) = text.strip_prefix("{/*") {
        let close = comment.find("*/}")?;
        let line_start = output.rfind('\n').map_or(0, |end| end + 1);
        let id = comment[..close].trim().trim_start_matches('#');
        let is_id =
            !id.is_empty() && !id.contains(|character: char| character.is_whitespace() || "{}*".contains(character));
        if is_id && output[line_start..].trim_start().starts_with('#') {
            output.push_str(&format!("{{#{id}}}"));
        }
        return Some("{/*".len() + close + "*/}".len());
    }
    if let Some(literal) = LITERAL_SPACES.iter().find(|literal| text.starts_with(**literal)) {
        output.push(' ');
        return Some(literal.len());
    }
    if text.starts_with("{\"") || text.starts_with("{'") {
        let line = text.lines().next().unwrap_or_default();
        let length = attribute::braces(line);
        output.push_str(&attribute::literal(line[1..length].strip_suffix('}')?)?);
        return Some(length);
    }
    let literal = text.strip_prefix("{`")?;
    let close = literal.find("`}")?;
    let shown = unescape_template(&literal[..close]);
    match shown.trim_matches('\n').contains('\n') {
        true => output.push_str(&format!("\n\n{}\n\n", block("", shown.trim_matches('\n')))),
        false => output.push_str(&shown),
    }
    Some("{`".len() + close + "`}".len())
}

/// Whether `text`, which opens neither a tag nor a complete comment, looks like one.
fn opens_without_end(text: &str) -> bool {
    text.starts_with("{/*")
        || ["{`", "{\"", "{'"].iter().any(|start| text.starts_with(start))
        || text.starts_with("<!--")
        || text[1..].starts_with(|next: char| next.is_ascii_alphabetic() || next == '/')
}
