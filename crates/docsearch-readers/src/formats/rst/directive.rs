//! Explicit markup: directives, targets, footnotes, comments.

mod admonition;
pub(crate) mod code;
mod definition;
pub(crate) mod vocabulary;

use std::path::Path;

use super::block::{PageReader, Scope, Step};
use super::line::{dedent, fence, indentation, indented_extent};
use super::{reference, table};
use crate::formats::html;
use crate::text::{markdown_text, target, term};
use vocabulary::Kind;

/// A parsed directive.
pub(super) struct Directive {
    /// Lower case, without its domain.
    name: String,
    /// Its domain; empty for the default one.
    domain: String,
    kind: Option<Kind>,
    is_known: bool,
    /// Lines of the argument.
    arguments: Vec<String>,
    options: Vec<(String, String)>,
    pub(super) content: Vec<String>,
    /// Whether a blank line separates the argument from the content.
    is_content_apart: bool,
}

impl Directive {
    pub(super) fn argument(&self) -> String {
        self.arguments.join(" ")
    }

    fn full_name(&self) -> String {
        match &*self.domain {
            "" => self.name.clone(),
            domain => format!("{domain}:{}", self.name),
        }
    }

    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.options
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Converts the element that starts with `..` on the first of `lines`.
pub(super) fn explicit_markup(reader: &mut PageReader, lines: &[String], scope: &Scope) -> Step {
    let markup = lines[0].get(3..).unwrap_or_default().trim_start();
    if lines[0] == ".." && lines.get(1).is_none_or(|next| next.is_empty()) {
        return (1, Vec::new());
    }
    let extent = match markup.starts_with('_') {
        // The text after a target may be indented, too.
        true => lines.iter().take_while(|line| !line.is_empty()).count(),
        false => lines.len(),
    };
    let extent = 1 + indented_extent(&lines[..extent], 1, 1);
    if let Some(directive) = parse(markup, &lines[1..extent]) {
        return (extent, render(reader, &directive, &lines[extent..], scope));
    }
    if let Some((label, text)) = footnote(markup) {
        let label = reader.references.footnote_label(label, false);
        let mut content = vec![text.to_owned()];
        content.extend(dedent(&lines[1..extent]));
        let text = reader.blocks(&content, &scope.nested()).join("\n\n");
        return (extent, vec![format!("[{label}] {text}")]);
    }
    let marks: String = reference::target_names(markup)
        .iter()
        .map(|name| target::mark(name))
        .collect();
    (extent, vec![marks])
}

fn parse(markup: &str, following: &[String]) -> Option<Directive> {
    let (name, argument) = directive_parts(markup)?;
    let name = name.to_lowercase();
    let (kind, is_known) = (vocabulary::kind(&name), vocabulary::is_known(&name));
    let mut arguments: Vec<String> = Vec::new();
    if !argument.trim().is_empty() {
        arguments.push(argument.trim().to_owned());
    }
    let takes_lines = matches!(
        kind,
        Some(Kind::Definition | Kind::Titled(_) | Kind::Line | Kind::Table | Kind::ListTable | Kind::CsvTable)
    );
    let mut options: Vec<(String, String)> = Vec::new();
    let head = following.iter().take_while(|line| !line.is_empty()).count();
    let mut content_start = 0;
    let mut column = 0;
    for line in &following[..head] {
        let text = line.trim();
        if let Some((key, value)) = option(text) {
            options.push((key.to_owned(), value.to_owned()));
            column = indentation(line);
        } else if let Some((_, value)) = options.last_mut().filter(|_| indentation(line) > column) {
            value.push('\n');
            value.push_str(text);
        } else if options.is_empty() && !arguments.is_empty() && takes_lines {
            arguments.push(text.to_owned());
        } else {
            break;
        }
        content_start += 1;
    }
    let (domain, name) = name.split_once(':').unwrap_or(("", &name));
    Some(Directive {
        name: name.to_owned(),
        domain: domain.to_owned(),
        kind,
        is_known,
        arguments,
        options,
        content: dedent(&following[content_start..]),
        is_content_apart: following.get(content_start).is_some_and(String::is_empty),
    })
}

/// The name of a directive and its argument, if `markup` is one.
fn directive_parts(markup: &str) -> Option<(&str, &str)> {
    let (name, argument) = markup.split_once("::")?;
    let name = name.trim_end();
    let is_name = |character: char| character.is_alphanumeric() || "-_+:.".contains(character);
    let valid = !name.is_empty()
        && !name.starts_with('_')
        && name.chars().all(is_name)
        && (argument.is_empty() || argument.starts_with(' '));
    valid.then_some((name, argument))
}

fn option(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.strip_prefix(':')?.split_once(':')?;
    let valid = !key.is_empty() && !key.contains('`') && (value.is_empty() || value.starts_with(' '));
    valid.then(|| (key, value.trim()))
}

/// Label and text of `[1] text`, `[#name] text`, `[CIT2002] text`.
fn footnote(markup: &str) -> Option<(&str, &str)> {
    let (label, text) = markup.strip_prefix('[')?.split_once(']')?;
    Some((label, text.trim()))
}

fn render(reader: &mut PageReader, directive: &Directive, following: &[String], scope: &Scope) -> Vec<String> {
    let name = Some(directive.argument()).filter(|name| !name.is_empty() && name != "None");
    match directive.name.as_str() {
        "highlight" => reader.language = directive.argument(),
        "currentmodule" => reader.definition_context.module = name,
        "module" => {
            reader.definition_context.module = name;
            return module(reader, directive, scope);
        }
        "program" => {
            let words = name.map(|name| name.split_whitespace().collect::<Vec<_>>().join("-"));
            reader.definition_context.program = words;
        }
        _ => {}
    }
    if !directive.is_known {
        reader
            .references
            .unknown
            .borrow_mut()
            .add("directive", &directive.full_name());
    }
    let Some(kind) = directive.kind else {
        return unknown(reader, directive, following, scope);
    };
    match kind {
        Kind::Silent => Vec::new(),
        Kind::Metadata => {
            metadata(reader, directive);
            Vec::new()
        }
        Kind::Code => code::block_in_argument(reader, directive),
        Kind::CodeIn(language) => code::block(reader, directive, language),
        Kind::CodeTab => code::tab(reader, directive),
        Kind::ParsedLiteral => code::parsed_literal(reader, directive),
        Kind::Math => code::math(directive),
        Kind::Labelled(label) => admonition::labelled(reader, directive, label, scope),
        Kind::Change(label) => admonition::change(reader, directive, label, scope),
        Kind::Titled(label) => admonition::titled(reader, directive, label, scope),
        Kind::Line => {
            let mut blocks = vec![format!("**{}**", reader.inline(&directive.argument()))];
            blocks.extend(reader.blocks(&directive.content, &scope.nested()));
            blocks
        }
        Kind::Layout => reader.blocks(&directive.content, &scope.nested()),
        Kind::Text => admonition::text(reader, directive, scope),
        Kind::Button if directive.content.is_empty() => vec![reader.inline(&directive.argument())],
        Kind::Button => reader.blocks(&directive.content, &scope.nested()),
        Kind::Table => {
            let mut blocks = title(reader, directive);
            blocks.extend(reader.blocks(&directive.content, &scope.nested()));
            blocks
        }
        Kind::ListTable => {
            let mut blocks = title(reader, directive);
            blocks.extend(table::list::blocks(reader, directive, scope));
            blocks
        }
        Kind::CsvTable => {
            let mut blocks = title(reader, directive);
            blocks.extend(table::csv::blocks(reader, directive, scope));
            blocks
        }
        Kind::Raw => raw(reader, directive),
        Kind::Image | Kind::Figure => {
            let mut blocks = image(directive);
            blocks.extend(reader.blocks(&directive.content, &scope.nested()));
            blocks
        }
        Kind::Definition => definition::blocks(reader, directive, following, scope),
        Kind::Automatic => {
            let mut blocks = argument(directive);
            blocks.extend(reader.blocks(&directive.content, &scope.nested()));
            blocks
        }
    }
}

/// A directive of an extension that is not known: its argument, its options and its text.
fn unknown(reader: &mut PageReader, directive: &Directive, following: &[String], scope: &Scope) -> Vec<String> {
    let is_code = code::is_code(&directive.content);
    let first = directive.arguments.first();
    if !is_code && first.is_some_and(|argument| term::is_name(argument)) {
        return definition::blocks(reader, directive, following, scope);
    }
    let mut blocks = match first {
        Some(first) if first.contains(' ') => vec![reader.inline(first)],
        _ => argument(directive),
    };
    blocks.extend(option_fields(reader, directive));
    match is_code {
        true => blocks.push(fence("", &directive.content)),
        false => blocks.extend(reader.blocks(&directive.content, &scope.nested())),
    }
    blocks
}

fn argument(directive: &Directive) -> Vec<String> {
    let argument = directive.argument();
    match argument.is_empty() {
        true => Vec::new(),
        false => vec![markdown_text::code(&argument)],
    }
}

/// The title of a table.
fn title(reader: &PageReader, directive: &Directive) -> Vec<String> {
    let title = directive.argument();
    match title.is_empty() {
        true => Vec::new(),
        false => vec![format!("**{}**", reader.inline(&title))],
    }
}

/// The text of HTML. A page of HTML shows no other raw text.
fn raw(reader: &mut PageReader, directive: &Directive) -> Vec<String> {
    if !directive.argument().split(' ').any(|format| format == "html") {
        return Vec::new();
    }
    let file = directive.option("file").map(Path::new);
    let text = match file {
        Some(file) => reader.file(file).unwrap_or_default(),
        None => directive.content.join("\n"),
    };
    let Ok(draft) = html::read(Path::new("raw.html"), &text, None, &html::Frame::default()) else {
        return Vec::new();
    };
    reader.references.unknown.borrow_mut().extend(&draft.unknown);
    vec![draft.body]
}

/// Takes over what the author says of the page, with or without a blank line before.
fn metadata(reader: &mut PageReader, directive: &Directive) {
    let mut fields = directive.options.clone();
    for line in &directive.content {
        // A name may contain colons: `:og:title: text`.
        let field = line.strip_prefix(':').and_then(|field| field.split_once(": "));
        match (field, fields.last_mut()) {
            (Some((name, content)), _) => fields.push((name.to_owned(), content.trim().to_owned())),
            (None, Some((_, content))) => {
                content.push(' ');
                content.push_str(line.trim());
            }
            (None, None) => {}
        }
    }
    for (name, content) in &fields {
        reader.matter.describe(name, content);
    }
}

/// An image with its text; without a text, nothing.
fn image(directive: &Directive) -> Vec<String> {
    let text = directive.option("alt").unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "![{}]({})",
            markdown_text::escape(&text),
            directive.argument().replace(' ', "%20")
        )],
    }
}

/// The options that readers see, as a list.
fn option_fields(reader: &PageReader, directive: &Directive) -> Vec<String> {
    let shown = directive.options.iter();
    let shown: Vec<String> = shown
        .filter(|(name, value)| vocabulary::is_shown(name, value))
        .map(|(name, value)| format!("- **{name}:** {}", markdown_text::hang(&reader.inline(value), 2)))
        .collect();
    match shown.is_empty() {
        true => Vec::new(),
        false => vec![shown.join("\n")],
    }
}

fn module(reader: &mut PageReader, directive: &Directive, scope: &Scope) -> Vec<String> {
    let name = markdown_text::code(&directive.argument());
    let synopsis = directive
        .option("synopsis")
        .map(|text| format!(": {}", reader.inline(text)));
    let mut blocks = vec![format!("Module {name}{}", synopsis.unwrap_or_default())];
    blocks.extend(reader.blocks(&directive.content, &scope.nested()));
    blocks
}
