//! Containers such as admonitions and tabs: readers see a label and the text.

/// Admonitions whose kind is shown if they have no title.
const BOXES: [&str; 24] = [
    "note",
    "tip",
    "info",
    "warning",
    "danger",
    "caution",
    "important",
    "hint",
    "success",
    "question",
    "failure",
    "bug",
    "example",
    "quote",
    "abstract",
    "summary",
    "seealso",
    "attention",
    "error",
    "admonition",
    "todo",
    "faq",
    "check",
    "help",
];
/// Containers for layout, and collapsed ones.
const GROUPS: [&str; 24] = [
    "details",
    "code-group",
    "tabs",
    "tab",
    "tab-item",
    "tab-set",
    "steps",
    "columns",
    "column",
    "grid",
    "card",
    "cards",
    "dropdown",
    "spoiler",
    "raw",
    "v-pre",
    "only",
    "div",
    "file-tree",
    "callout",
    "accordion",
    "expander",
    "right",
    "center",
];

/// The label of `!!! note "Title"`, `??? tip` and `=== "Tab"` of Python-Markdown, whose content is indented; empty if
/// there is none. `None` if `text` opens no container.
pub(super) fn indented(text: &str) -> Option<&str> {
    if let Some(title) = text.strip_prefix("===") {
        let title = title.trim_start_matches(['!', '+']).strip_prefix(' ')?.trim();
        return quoted(title);
    }
    let rest = text.strip_prefix("!!!").or_else(|| text.strip_prefix("???"))?;
    let rest = rest.trim_start_matches('+').strip_prefix(' ')?.trim();
    let (kinds, title) = match rest.find(['"', '\'']) {
        Some(start) => (&rest[..start], Some(quoted(&rest[start..])?)),
        None => (rest, None),
    };
    let is_kind = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
    let kind = kinds.split_whitespace().next()?;
    kinds
        .split_whitespace()
        .all(is_kind)
        .then(|| title.unwrap_or_else(|| label(kind).unwrap_or(kind)))
}

/// The label of `::: tip Title`, `:::note[Title]` or `:::{note} Title`; empty if there is none, and for the closing
/// mark. `None` if `text` is not a mark.
pub(super) fn fenced(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(":::")?.trim_start_matches(':').trim();
    if rest.is_empty() {
        return Some("");
    }
    let rest = rest.strip_prefix('{').unwrap_or(rest);
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let end = rest.find(|c: char| !(c.is_alphanumeric() || "-_".contains(c)));
    let (kind, title) = rest.split_at(end.unwrap_or(rest.len()));
    let is_known = is_known(kind);
    let ends = title.is_empty() || title.starts_with([' ', '[', '}', '{', '=']);
    if kind.is_empty() || !ends || !is_known && (kind.contains('_') || kind.starts_with(|c: char| c.is_uppercase())) {
        return None;
    }
    let title = match title.strip_prefix('[') {
        Some(title) => title.split_once(']').map_or("", |(title, _)| title),
        None => title.trim_start_matches(['}', ' ']),
    };
    let title = match title.find('{') {
        Some(attributes) => &title[..attributes],
        None => title,
    };
    let title = title.trim();
    Some(match title {
        "" => label(kind).unwrap_or_default(),
        "open" if kind == "details" => "",
        title => title,
    })
}

/// Whether a container has a label or a layout of its own.
pub(super) fn is_known(kind: &str) -> bool {
    BOXES.contains(&kind) || GROUPS.contains(&kind)
}

/// The name in `::: package.module`, which another program documents.
pub(super) fn object(text: &str) -> Option<&str> {
    let name = text.strip_prefix("::: ")?.trim();
    let is_name = |c: char| c.is_alphanumeric() || "._".contains(c);
    (!name.is_empty() && name.chars().all(is_name) && name.starts_with(|c: char| !c.is_ascii_digit())).then_some(name)
}

/// The label of an admonition without a title.
pub(super) fn label(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "note" | "admonition" => "Note",
        "tip" | "hint" => "Tip",
        "info" => "Info",
        "warning" | "attention" => "Warning",
        "danger" | "error" => "Danger",
        "caution" => "Caution",
        "important" => "Important",
        "seealso" => "See also",
        "success" | "check" => "Success",
        "question" | "faq" | "help" => "Question",
        "failure" => "Failure",
        "bug" => "Bug",
        "example" => "Example",
        "quote" => "Quote",
        "abstract" | "summary" => "Summary",
        "todo" => "To do",
        _ => return None,
    })
}

/// The text between quotation marks.
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    text[1..].strip_suffix(quote)
}
