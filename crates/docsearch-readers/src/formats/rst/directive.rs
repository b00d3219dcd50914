//! Explicit markup: directives, targets, footnotes, comments.

use super::block::{PageReader, Scope, Step, is_item};
use super::line::{adornment, dedent, fence, indentation, indented_extent};
use super::{identifier, reference, table};
use crate::text::{markdown_text, target};

/// A parsed directive.
struct Directive {
    /// Lower case, without its domain.
    name: String,
    /// Its domain; empty for the default one.
    domain: String,
    /// Lines of the argument.
    arguments: Vec<String>,
    options: Vec<(String, String)>,
    content: Vec<String>,
    /// Whether a blank line separates the argument from the content.
    is_content_apart: bool,
}

impl Directive {
    fn argument(&self) -> String {
        self.arguments.join(" ")
    }

    fn option(&self, name: &str) -> Option<&str> {
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
    let extent = 1 + indented_extent(lines, 1, 1);
    if let Some(directive) = parse(markup, &lines[1..extent]) {
        return (extent, render(reader, &directive, &lines[extent..], scope));
    }
    if let Some((label, text)) = footnote(markup) {
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
    let (name, argument) = markup.split_once("::")?;
    let name = name.trim_end();
    let valid = !name.is_empty()
        && name
            .chars()
            .all(|character| character.is_alphanumeric() || "-_+:.".contains(character))
        && (argument.is_empty() || argument.starts_with(' '));
    if !valid {
        return None;
    }
    let mut arguments: Vec<String> = Vec::new();
    if !argument.trim().is_empty() {
        arguments.push(argument.trim().to_owned());
    }
    let mut options = Vec::new();
    let head = following.iter().take_while(|line| !line.is_empty()).count();
    let mut content_start = 0;
    for line in &following[..head] {
        let text = line.trim();
        if let Some((key, value)) = option(text) {
            options.push((key.to_owned(), value.to_owned()));
        } else if options.is_empty() && !arguments.is_empty() && takes_signatures(name) {
            arguments.push(text.to_owned());
        } else {
            break;
        }
        content_start += 1;
    }
    Some(Directive {
        name: name.rsplit(':').next().unwrap_or(name).to_lowercase(),
        domain: name.rsplit_once(':').map_or("", |(domain, _)| domain).to_lowercase(),
        arguments,
        options,
        content: dedent(&following[content_start..]),
        is_content_apart: following.get(content_start).is_some_and(String::is_empty),
    })
}

fn option(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.strip_prefix(':')?.split_once(':')?;
    let valid = !key.is_empty() && !key.contains('`') && (value.is_empty() || value.starts_with(' '));
    valid.then(|| (key, value.trim()))
}

fn takes_signatures(name: &str) -> bool {
    is_definition(&name.rsplit(':').next().unwrap_or(name).to_lowercase())
}

/// Label and text of `[1] text`, `[#name] text`, `[CIT2002] text`.
fn footnote(markup: &str) -> Option<(&str, &str)> {
    let (label, text) = markup.strip_prefix('[')?.split_once(']')?;
    Some((label.trim_start_matches('#'), text.trim()))
}

fn render(reader: &mut PageReader, directive: &Directive, following: &[String], scope: &Scope) -> Vec<String> {
    let name = directive.name.as_str();
    match name {
        "code-block" | "code" | "sourcecode" | "highlight-block" => code(directive, &directive.argument()),
        "console" | "doctest" | "testcode" | "prompt" | "math" | "productionlist" | "parsed-literal" | "csv-table"
        | "graphviz" | "mermaid" => code(directive, language_of(name)),
        "highlight" => {
            reader.language = directive.argument();
            Vec::new()
        }
        "toctree" | "contents" | "index" | "image" | "include" | "literalinclude" | "raw" | "meta"
        | "sectionauthor" | "moduleauthor" | "tabularcolumns" | "default-role" | "todo" | "role" | "highlightlang"
        | "testsetup" | "testcleanup" | "rst-class" => Vec::new(),
        "currentmodule" => {
            reader.definition_context.module =
                Some(directive.argument()).filter(|name| !name.is_empty() && name != "None");
            Vec::new()
        }
        "program" => {
            let words: Vec<&str> = directive
                .arguments
                .iter()
                .flat_map(|line| line.split_whitespace())
                .collect();
            reader.definition_context.program = Some(words.join("-")).filter(|name| !name.is_empty() && name != "None");
            Vec::new()
        }
        "module" => {
            reader.definition_context.module = Some(directive.argument()).filter(|name| !name.is_empty());
            module(reader, directive)
        }
        "rubric" | "centered" => vec![format!("**{}**", reader.inline(&directive.argument()))],
        "list-table" => table::from_lists(reader, &directive.content),
        "figure" => reader.blocks(&directive.content, &scope.nested()),
        _ if admonition_label(name).is_some() => admonition(reader, directive, scope),
        _ if is_definition(name) => definition(reader, directive, following, scope),
        _ => container(reader, directive, scope),
    }
}

fn code(directive: &Directive, language: &str) -> Vec<String> {
    let language = if matches!(language, "text" | "none" | "default") {
        ""
    } else {
        language
    };
    let mut lines = directive.content.clone();
    if lines.is_empty() && directive.name == "math" {
        lines = directive.arguments.clone();
    }
    if lines.is_empty() {
        Vec::new()
    } else {
        vec![fence(language, &lines)]
    }
}

fn language_of(directive: &str) -> &str {
    match directive {
        "doctest" => "pycon",
        "testcode" => "python",
        "prompt" => "console",
        "productionlist" | "parsed-literal" | "csv-table" => "",
        other => other,
    }
}

fn module(reader: &PageReader, directive: &Directive) -> Vec<String> {
    let name = markdown_text::code(&directive.argument());
    let synopsis = directive
        .option("synopsis")
        .map(|text| format!(": {}", reader.inline(text)));
    vec![format!("Module {name}{}", synopsis.unwrap_or_default())]
}

fn admonition_label(name: &str) -> Option<&'static str> {
    Some(match name {
        "note" => "Note",
        "warning" => "Warning",
        "tip" => "Tip",
        "hint" => "Hint",
        "important" => "Important",
        "caution" => "Caution",
        "danger" => "Danger",
        "attention" => "Attention",
        "error" => "Error",
        "seealso" => "See also",
        "admonition" | "topic" | "sidebar" | "dropdown" | "tab-item" => "",
        "versionadded" => "New in version",
        "versionchanged" => "Changed in version",
        "deprecated" => "Deprecated since version",
        "versionremoved" | "deprecated-removed" => "Removed in version",
        _ => return None,
    })
}

/// A bold label and the text, in one paragraph if the text starts with one.
fn admonition(reader: &mut PageReader, directive: &Directive, scope: &Scope) -> Vec<String> {
    let label = admonition_label(&directive.name).unwrap_or_default();
    let is_version = label.ends_with("version");
    let argument = directive.argument();
    let (version, lead) = match argument.split_once(' ') {
        Some((version, text)) if is_version => (version, text),
        _ if is_version => (argument.as_str(), ""),
        _ => ("", argument.as_str()),
    };
    if label.is_empty() {
        let mut blocks = vec![format!("**{}**", reader.inline(lead))];
        blocks.extend(reader.blocks(&directive.content, &scope.nested()));
        return blocks;
    }
    let mut content = directive.content.clone();
    if !lead.is_empty() {
        if directive.is_content_apart {
            content.insert(0, String::new());
        }
        content.insert(0, lead.to_owned());
    }
    let mut blocks = reader.blocks(&content, &scope.nested());
    let label = format!("**{}:**", format!("{label} {version}").trim_end());
    match blocks.first_mut() {
        Some(first) if is_paragraph(first) => {
            *first = format!("{label} {first}");
        }
        _ => blocks.insert(0, label),
    }
    blocks
}

fn is_paragraph(block: &str) -> bool {
    !is_item(block)
        && !["```", "| ", "# ", "##"]
            .iter()
            .any(|opening| block.starts_with(opening))
}

fn is_definition(name: &str) -> bool {
    matches!(
        name,
        "class"
            | "function"
            | "method"
            | "attribute"
            | "exception"
            | "data"
            | "classmethod"
            | "staticmethod"
            | "property"
            | "decorator"
            | "decoratormethod"
            | "setting"
            | "templatetag"
            | "templatefilter"
            | "fieldlookup"
            | "django-admin"
            | "django-admin-option"
            | "option"
            | "cmdoption"
            | "envvar"
            | "describe"
            | "object"
            | "type"
            | "macro"
            | "member"
            | "var"
            | "enum"
            | "enumerator"
            | "struct"
            | "union"
            | "confval"
            | "opcode"
            | "variable"
            | "pdbcommand"
            | "2to3fixer"
            | "audit-event"
            | "directive"
            | "constant"
    )
}

/// Kinds that are shown before a signature; others are clear without.
fn is_named_kind(name: &str) -> bool {
    matches!(
        name,
        "class" | "exception" | "classmethod" | "staticmethod" | "property" | "decorator" | "enum" | "struct"
    )
}

fn definition(reader: &mut PageReader, directive: &Directive, following: &[String], scope: &Scope) -> Vec<String> {
    let Some(first) = directive.arguments.first() else {
        return reader.blocks(&directive.content, &scope.nested());
    };
    let name = qualified(definition_name(first), scope.owner.as_deref());
    let id = identifier::of(&reader.definition_context, &directive.domain, &directive.name, &name);
    let mark = id.as_deref().map(target::mark).unwrap_or_default();
    if directive.content.is_empty() && heading_follows(following, first) {
        return vec![mark];
    }
    let signatures: Vec<String> = directive
        .arguments
        .iter()
        .map(|signature| signature.trim_end_matches('\\').trim())
        .map(|signature| {
            if is_named_kind(&directive.name) {
                format!("{} {signature}", directive.name)
            } else {
                signature.to_owned()
            }
        })
        .collect();
    if directive.content.is_empty() || !scope.allows_headings {
        let mut blocks: Vec<String> = signatures
            .iter()
            .map(|signature| markdown_text::code(signature))
            .collect();
        if let Some(first) = blocks.first_mut() {
            first.insert_str(0, &mark);
        }
        blocks.extend(reader.blocks(&directive.content, &scope.nested()));
        return blocks;
    }
    let anchor = id.map(|id| format!(" {{#{id}}}")).unwrap_or_default();
    let heading = format!("{}{anchor}", markdown_text::code(&name));
    let mut blocks = vec![reader.heading(&heading, scope.definitions + 1)];
    if signatures.len() > 1 || !name.ends_with(&signatures[0]) {
        blocks.extend(signatures.iter().map(|signature| markdown_text::code(signature)));
    }
    let inner = scope.inside(name);
    blocks.extend(reader.blocks(&directive.content, &inner));
    blocks
}

/// The name in a signature, without parameters, annotations and values of options.
fn definition_name(signature: &str) -> &str {
    if signature.starts_with('-') {
        return signature;
    }
    let end = ["(", "=", "[", ": "]
        .iter()
        .filter_map(|stop| signature.find(stop))
        .min();
    let end = end.unwrap_or(signature.len());
    let name = signature[..end].trim();
    if name.is_empty() { signature } else { name }
}

fn qualified(name: &str, owner: Option<&str>) -> String {
    match owner {
        Some(owner) if !name.contains('.') && !name.starts_with('-') && !owner.contains(' ') => {
            format!("{owner}.{name}")
        }
        _ => name.to_owned(),
    }
}

/// Whether a heading with the name follows: then the definition is only its anchor.
fn heading_follows(lines: &[String], signature: &str) -> bool {
    let name = definition_name(signature);
    let mut candidates = lines
        .iter()
        .filter(|line| !line.is_empty() && !line.starts_with("..") && indentation(line) == 0);
    let (Some(text), Some(underline)) = (candidates.next(), candidates.next()) else {
        return false;
    };
    let heading = text.trim_matches('`');
    adornment(underline).is_some() && (text.contains(name) || name.ends_with(heading))
}

fn container(reader: &mut PageReader, directive: &Directive, scope: &Scope) -> Vec<String> {
    let argument = directive.argument();
    let mut blocks = Vec::new();
    if directive.name.starts_with("auto") {
        blocks.push(markdown_text::code(&argument));
    }
    blocks.extend(reader.blocks(&directive.content, &scope.nested()));
    blocks
}
