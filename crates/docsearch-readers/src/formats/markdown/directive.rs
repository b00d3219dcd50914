//! MyST directives, which have the syntax of code blocks: ```` ```{note} ````.

use super::container;

/// What a directive shows.
#[derive(Debug, PartialEq)]
pub(super) enum Directive<'a> {
    /// Code in a language.
    Code(&'a str),
    /// reStructuredText.
    Rst,
    /// Markdown below a label, which may be empty.
    Container(&'a str),
    /// Nothing: navigation, and the output of other programs.
    Nothing,
}

/// The directive in the info string of a code block.
pub(super) fn of(info: &str) -> Option<Directive<'_>> {
    let (name, argument) = info.strip_prefix('{')?.split_once('}')?;
    let argument = argument.trim();
    Some(match name {
        "code-block" | "code" | "sourcecode" | "code-cell" | "code-cell ipython3" => Directive::Code(argument),
        "math" | "mermaid" | "graphviz" | "doctest" | "console" | "prompt" => Directive::Code(name),
        "eval-rst" => Directive::Rst,
        "toctree" | "contents" | "tableofcontents" | "include" | "literalinclude" | "image" | "raw" | "index" => {
            Directive::Nothing
        }
        "versionadded" | "versionchanged" | "deprecated" | "figure" | "grid" | "grid-item" | "grid-item-card"
        | "card" | "dropdown" | "tab-set" | "tab-item" | "sidebar" | "topic" | "admonition" | "margin" | "tabbed" => {
            Directive::Container(if name == "figure" { "" } else { argument })
        }
        _ if name.starts_with("auto") => Directive::Nothing,
        _ => Directive::Container(match argument {
            "" => container::label(name)?,
            title => container::label(name).map(|_| title)?,
        }),
    })
}

/// `:name: value`.
pub(super) fn is_option(line: &str) -> bool {
    line.strip_prefix(':')
        .and_then(|rest| rest.split_once(':'))
        .is_some_and(|(name, _)| !name.is_empty() && !name.contains(char::is_whitespace))
}
