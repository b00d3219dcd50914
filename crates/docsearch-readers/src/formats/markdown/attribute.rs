//! Attributes in braces, which style elements.

/// Prefixes of the icon names of themes.
const ICONS: [&str; 5] = [":material-", ":octicons-", ":fontawesome-", ":simple-", ":lucide-"];

/// The identifier in attributes on a line of their own (`{: #id .class }`), if any; `None` if `text` is not such a
/// line. `(label)=` of MyST and `[](){#id}` mark a link target in the same way.
pub(super) fn of_block(text: &str) -> Option<Option<&str>> {
    let text = text.trim_end();
    if let Some(label) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(")=")) {
        return is_id(label).then_some(Some(label));
    }
    let inner = text
        .strip_prefix("{:")
        .or_else(|| text.strip_prefix("[](){"))
        .or_else(|| text.strip_prefix("[]{"))?;
    let inner = inner.strip_suffix('}')?;
    if inner.contains(['{', '}']) {
        return None;
    }
    let id = inner.split_whitespace().find_map(|word| word.strip_prefix('#'));
    Some(id.filter(|id| is_id(id)))
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_.:=".contains(c))
}

/// `line` without the attributes of links, images, code and emphasis, and without the icons of themes. Headings keep
/// their attributes, which may contain an identifier.
pub(super) fn without(line: &str) -> String {
    let has_attributes = line.contains(['{']) && !line.trim_start().starts_with('#');
    let has_icons = ICONS.iter().any(|icon| line.contains(icon));
    if !has_attributes && !has_icons {
        return line.to_owned();
    }
    let mut output = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        let length = match character {
            '`' => code_span(rest),
            '{' if has_attributes && output.ends_with([')', ']', '`', '*', '_']) => match attributes(rest) {
                Some(length) => {
                    rest = &rest[length..];
                    continue;
                }
                None => 1,
            },
            ':' => match icon(rest) {
                Some(length) => {
                    rest = rest[length..].strip_prefix(' ').unwrap_or(&rest[length..]);
                    continue;
                }
                None => 1,
            },
            other => other.len_utf8(),
        };
        output.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    output
}

/// Length of the attributes that `text` opens with.
fn attributes(text: &str) -> Option<usize> {
    let (inner, _) = text[1..].split_once('}')?;
    let listed = inner.strip_prefix(':').unwrap_or(inner).trim();
    let is_attribute = |word: &str| word.starts_with(['.', '#']) && word.len() > 1 || word.contains('=');
    let marked = inner.starts_with(':') || listed.starts_with(['.', '#']) || listed.contains('=');
    let all = !listed.is_empty() && (listed.contains('"') || listed.split_whitespace().all(is_attribute));
    (marked && all).then_some(inner.len() + 2)
}

fn icon(text: &str) -> Option<usize> {
    if !ICONS.iter().any(|icon| text.starts_with(icon)) {
        return None;
    }
    let length = text[1..].find(|c: char| !(c.is_alphanumeric() || "-_".contains(c)))?;
    text[1 + length..].starts_with(':').then_some(length + 2)
}

/// Length of the code span that `text` opens, or of its backticks when it does not close.
pub(super) fn code_span(text: &str) -> usize {
    let ticks = text.bytes().take_while(|&byte| byte == b'`').count();
    let mut at = ticks;
    while let Some(offset) = text[at..].find('`') {
        let start = at + offset;
        let run = text[start..].bytes().take_while(|&byte| byte == b'`').count();
        at = start + run;
        if run == ticks {
            return at;
        }
    }
    ticks
}
