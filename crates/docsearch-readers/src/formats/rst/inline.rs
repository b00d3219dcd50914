//! Converts inline markup to Markdown.

use super::reference::References;
use crate::text::markdown_text::code;

/// Roles whose content is prose; others contain code.
const PROSE_ROLES: [&str; 16] = [
    "ref",
    "doc",
    "term",
    "any",
    "numref",
    "abbr",
    "sup",
    "sub",
    "menuselection",
    "guilabel",
    "kbd",
    "title",
    "emphasis",
    "strong",
    "dfn",
    "download",
];

/// Converts a paragraph or heading to Markdown.
pub(super) fn to_markdown(text: &str, references: &References) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    let mut previous = ' ';
    while let Some(character) = rest.chars().next() {
        let opens = !(previous.is_alphanumeric() || previous == '_');
        let piece = match character {
            '\\' => Some(escape(rest)),
            '`' if rest.starts_with("``") => literal(rest),
            '`' if opens => interpreted(rest, references),
            ':' if opens => role(rest, references),
            '|' if opens => substitution(rest, references),
            '<' => html_like(rest),
            ']' if rest.starts_with("]_") => Some((2, "]".to_owned())),
            '_' if opens => dunder(rest),
            _ if opens && character.is_alphanumeric() => bare_reference(rest, references),
            _ => None,
        };
        let (length, markdown) = match piece {
            Some(piece) => piece,
            None if opens && character.is_alphanumeric() => {
                let length = word_length(rest);
                (length, rest[..length].to_owned())
            }
            None => (character.len_utf8(), character.to_string()),
        };
        append(&mut output, &markdown);
        previous = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
    }
    output
}

/// Appends a piece. Two adjacent code spans would read as one with two backticks in it.
fn append(output: &mut String, markdown: &str) {
    let ends_code = output.ends_with('`') && !output.ends_with("``") && !output.ends_with("\\`");
    match markdown.strip_prefix('`') {
        Some(code) if ends_code && !code.starts_with('`') => {
            output.pop();
            output.push_str(code);
        }
        _ => output.push_str(markdown),
    }
}

/// Consumed bytes, and their Markdown.
type Piece = (usize, String);

fn single_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A backslash before white space joins the text around it. Before punctuation that Markdown escapes, too, it stays;
/// otherwise it is removed.
fn escape(text: &str) -> Piece {
    let Some(next) = text[1..].chars().next() else {
        return (1, "\\\\".to_owned());
    };
    let length = 1 + next.len_utf8();
    if next.is_whitespace() {
        (length, String::new())
    } else if "*_`<[]\\#".contains(next) {
        (length, text[..length].to_owned())
    } else {
        (length, next.to_string())
    }
}

fn literal(text: &str) -> Option<Piece> {
    let end = 2 + text[2..].find("``")?;
    // The closing pair is the last two backticks of a run: ``a` `` contains a backtick.
    let run = text[end..].bytes().take_while(|&byte| byte == b'`').count();
    let end = end + run - 2;
    let content = &text[2..end];
    (!content.trim().is_empty()).then(|| (end + 2, code(content)))
}

/// `` `text` ``, `` `text`_ ``, `` `text <url>`_ ``, `` `text`:role: ``.
fn interpreted(text: &str, references: &References) -> Option<Piece> {
    let end = 1 + closing_backtick(&text[1..])?;
    let content = &text[1..end];
    let after = &text[end + 1..];
    let underscores = after.bytes().take(2).take_while(|&byte| byte == b'_').count();
    let length = end + 1 + underscores;
    if underscores == 0 {
        return Some((length, code(content)));
    }
    let (label, target) = titled(content);
    let address = target.map_or_else(
        || references.url(&label),
        |target| match target.strip_suffix('_') {
            Some(name) if !target.contains("://") => references.url(name),
            _ => Some(target),
        },
    );
    let section = references.heading(&label).filter(|_| address.is_none());
    let address = address.or(section.as_deref());
    let label = if label.is_empty() {
        address.unwrap_or_default().to_owned()
    } else {
        label
    };
    Some((length, link(&label, address)))
}

fn link(label: &str, address: Option<&str>) -> String {
    match address {
        Some(address) => format!("[{label}]({})", address.replace(' ', "")),
        None => label.to_owned(),
    }
}

fn closing_backtick(text: &str) -> Option<usize> {
    let end = text.find('`')?;
    (end > 0 && !text.starts_with(char::is_whitespace)).then_some(end)
}

/// The parts of `text <target>`.
fn titled(content: &str) -> (String, Option<&str>) {
    match content.strip_suffix('>').and_then(|inner| inner.rsplit_once('<')) {
        Some((title, target)) => (single_line(title), Some(target)),
        None => (single_line(content), None),
    }
}

/// `` :role:`content` ``.
fn role(text: &str, references: &References) -> Option<Piece> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || "-_.:+".contains(character);
    let name_end = text.find(|character| !is_name(character))?;
    let name = text[1..name_end].strip_suffix(':').filter(|name| !name.is_empty())?;
    if !text[name_end..].starts_with('`') {
        return None;
    }
    let start = 1 + name.len() + 2;
    let end = start + closing_backtick(&text[start..])?;
    let content = &text[start..end];
    let short = name.rsplit(':').next().unwrap_or(name);
    Some((end + 1, role_markdown(short, content, references)))
}

fn role_markdown(role: &str, content: &str, references: &References) -> String {
    let (title, target) = titled(content);
    if let Some(target) = target
        && !title.is_empty()
    {
        let place = match role {
            "ref" => references.label(target).map(|(_, address)| address),
            "doc" => Some(target.to_owned()),
            _ => None,
        };
        if place.is_some() {
            return link(&to_markdown(&title, &References::default()), place.as_deref());
        }
        let is_code = !PROSE_ROLES.contains(&role) && target != title && !title.contains(' ');
        return if is_code {
            code(&title)
        } else {
            to_markdown(&title, &References::default())
        };
    }
    match role {
        "ref" | "numref" => match references.label(&title) {
            Some((Some(heading), address)) => link(&to_markdown(heading, &References::default()), Some(&address)),
            _ => title.replace(['-', '_'], " "),
        },
        "doc" => match references.title(&title) {
            Some(name) => link(&to_markdown(name, &References::default()), Some(&title)),
            None => link(title.trim_start_matches('/'), Some(&title)),
        },
        "pep" => format!("PEP {title}"),
        "rfc" => format!("RFC {title}"),
        "ticket" => format!("#{title}"),
        "cve" => format!("CVE-{title}"),
        "commit" => title.chars().take(12).collect(),
        "emphasis" => format!("*{title}*"),
        "strong" => format!("**{title}**"),
        _ if PROSE_ROLES.contains(&role) => title,
        _ => code(code_name(&title)),
    }
}

/// Shows `!name` and `~package.name` as Sphinx does.
fn code_name(name: &str) -> &str {
    let name = name.trim_start_matches('!');
    match name.strip_prefix('~') {
        Some(path) => path.rsplit('.').next().unwrap_or(path),
        None => name.trim_start_matches('.'),
    }
}

fn substitution(text: &str, references: &References) -> Option<Piece> {
    let (name, _) = text[1..].split_once('|')?;
    let replacement = references.substitution(name)?;
    Some((name.len() + 2, replacement.to_owned()))
}

/// Escapes text that Markdown would take for an HTML tag.
fn html_like(text: &str) -> Option<Piece> {
    let next = text[1..].chars().next()?;
    (next.is_ascii_alphabetic() || matches!(next, '/' | '!')).then(|| (1, "\\<".to_owned()))
}

/// Escapes names such as `__init__` in prose, which are not strong emphasis.
fn dunder(text: &str) -> Option<Piece> {
    let length = word_length(text);
    let word = &text[..length];
    let inner = word.strip_prefix("__")?.strip_suffix("__")?;
    (!inner.is_empty()).then(|| (length, code(word)))
}

/// A reference `name_`, if the page has this target.
fn bare_reference(text: &str, references: &References) -> Option<Piece> {
    let length = word_length(text);
    let name = text[..length].strip_suffix('_')?.trim_end_matches('_');
    let url = references.url(name)?;
    Some((length, link(name, Some(url))))
}

fn word_length(text: &str) -> usize {
    text.find(|character: char| !(character.is_alphanumeric() || matches!(character, '_' | '-')))
        .unwrap_or(text.len())
}
