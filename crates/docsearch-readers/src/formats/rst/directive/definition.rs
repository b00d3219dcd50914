//! Directives that describe something with a name: a function, a setting, an option, a route.

use super::{Directive, option_fields};
use crate::formats::rst::block::{PageReader, Scope};
use crate::formats::rst::identifier;
use crate::formats::rst::line::{adornment, indentation};
use crate::text::{markdown_text, target};

/// Maximum lines between a definition and the heading that it is the anchor of.
const HEADING_REACH: usize = 50;

/// A heading with the name, the signatures, the fields and the text. Without text, only the signatures.
pub(super) fn blocks(
    reader: &mut PageReader,
    directive: &Directive,
    following: &[String],
    scope: &Scope,
) -> Vec<String> {
    let signatures: Vec<String> = directive
        .arguments
        .iter()
        .map(|signature| shown_signature(reader, directive, scope, signature.trim_end_matches('\\').trim()))
        .collect();
    let Some(first) = signatures.first() else {
        return reader.blocks(&directive.content, &scope.nested());
    };
    let bare = directive.arguments[0].trim_end_matches('\\').trim();
    let name = match &*directive.domain {
        "http" | "rst" => first.clone(),
        _ => qualified(definition_name(bare), scope.owner.as_deref()),
    };
    let id = identifier::of(&reader.definition_context, &directive.domain, &directive.name, &name);
    let mark = id.as_deref().map(target::mark).unwrap_or_default();
    if directive.content.is_empty() && heading_follows(following, bare) {
        let mut blocks = vec![mark];
        blocks.extend(option_fields(reader, directive));
        return blocks;
    }
    if directive.content.is_empty() || !scope.allows_headings {
        let mut blocks: Vec<String> = signatures
            .iter()
            .map(|signature| markdown_text::code(signature))
            .collect();
        if let Some(first) = blocks.first_mut() {
            first.insert_str(0, &mark);
        }
        blocks.extend(option_fields(reader, directive));
        blocks.extend(reader.blocks(&directive.content, &scope.nested()));
        return blocks;
    }
    let anchor = id.map(|id| format!(" {{#{id}}}")).unwrap_or_default();
    let heading = format!("{}{anchor}", markdown_text::code(&name));
    let mut blocks = vec![reader.heading(&heading, scope.definitions + 1)];
    if signatures.len() > 1 || !name.ends_with(&signatures[0]) {
        blocks.extend(signatures.iter().map(|signature| markdown_text::code(signature)));
    }
    blocks.extend(option_fields(reader, directive));
    let inner = scope.inside(name);
    blocks.extend(reader.blocks(&directive.content, &inner));
    blocks
}

/// The signature as Sphinx shows it. That of Python begins with the module, except in a description.
fn shown_signature(reader: &PageReader, directive: &Directive, scope: &Scope, signature: &str) -> String {
    let module = reader.definition_context.module.as_deref();
    let module = module.filter(|_| scope.owner.is_none() && identifier::is_python(&directive.domain, &directive.name));
    let module = module.filter(|module| !signature.starts_with(&format!("{module}.")));
    let signature = &module.map_or_else(|| signature.to_owned(), |module| format!("{module}.{signature}"));
    match (&*directive.domain, &*directive.name) {
        ("http", method) => format!("{} {signature}", method.to_uppercase()),
        ("rst", "directive") => {
            let (name, argument) = signature.split_once("::").unwrap_or((signature, ""));
            format!(".. {}::{argument}", name.trim_start_matches('.').trim())
        }
        ("rst", "role" | "directive:option") => format!(":{}:", signature.trim_matches(':')),
        (_, "staticmethod") => format!("static {signature}"),
        (_, "decorator" | "decoratormethod") => format!("@{signature}"),
        (_, kind) if is_shown_kind(kind) => format!("{kind} {signature}"),
        _ => signature.clone(),
    }
}

/// Kinds that are shown before a signature; others are clear without.
fn is_shown_kind(name: &str) -> bool {
    matches!(
        name,
        "class" | "exception" | "classmethod" | "property" | "enum" | "struct" | "union"
    )
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
        .take(HEADING_REACH)
        .filter(|line| !line.is_empty() && !line.starts_with("..") && indentation(line) == 0);
    let (Some(text), Some(underline)) = (candidates.next(), candidates.next()) else {
        return false;
    };
    let heading = text.trim_matches('`');
    adornment(underline).is_some() && (text.contains(name) || name.ends_with(heading))
}
