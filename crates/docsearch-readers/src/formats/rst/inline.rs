//! Converts inline markup to Markdown.

use super::label::Title;
use super::reference::References;
use super::role;
use crate::text::markdown_text::code;
use crate::text::target::mark;

/// Pages that Sphinx makes, and their titles.
const MADE_PAGES: [(&str, &str); 3] = [
    ("genindex", "Index"),
    ("modindex", "Module Index"),
    ("search", "Search Page"),
];

/// Longer names of roles and substitutions are text.
const MAX_NAME: usize = 100;

/// Converts a paragraph or heading to Markdown.
pub(super) fn to_markdown(text: &str, references: &References) -> String {
    let piece = |rest: &str, character: char, opens: bool| match character {
        '\\' => Some(escape(rest)),
        '`' if rest.starts_with("``") => literal(rest),
        '`' if opens => interpreted(rest, references),
        ':' if opens => role_piece(rest, references),
        '|' if opens => substitution(rest, references),
        '<' => html_like(rest),
        '[' if rest.starts_with("[#") => footnote_reference(rest, references),
        ']' if rest.starts_with("]_") => Some((2, "]".to_owned())),
        '_' if opens && rest.starts_with("_`") => inline_target(rest, references),
        '_' if opens => dunder(rest),
        _ if opens && character.is_alphanumeric() => bare_reference(rest, references),
        _ => None,
    };
    converted(text, piece, append)
}

/// The text with its pieces of markup converted. `piece` gets the rest of the text, its first character, and whether
/// markup may open there.
fn converted(
    text: &str,
    piece: impl Fn(&str, char, bool) -> Option<Piece>,
    append: impl Fn(&mut String, &str),
) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    let mut previous = ' ';
    while let Some(character) = rest.chars().next() {
        let opens = !(previous.is_alphanumeric() || previous == '_');
        let length = match piece(rest, character, opens) {
            Some((length, shown)) => {
                append(&mut output, &shown);
                length
            }
            None => {
                let length = match opens && character.is_alphanumeric() {
                    true => word_length(rest),
                    false => character.len_utf8(),
                };
                append(&mut output, &rest[..length]);
                length
            }
        };
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
fn role_piece(text: &str, references: &References) -> Option<Piece> {
    let (name, name_end) = role_name(text)?;
    let start = name_end + 1;
    let end = start + closing_backtick(&text[start..])?;
    let content = &text[start..end];
    Some((end + 1, role_markdown(name, content, references)))
}

pub(super) fn role_markdown(name: &str, content: &str, references: &References) -> String {
    let role = name.rsplit(':').next().unwrap_or(name);
    if let Some(base) = references.role(name) {
        return match base {
            "" => to_markdown(&single_line(content), references),
            "raw" => without_tags(content),
            base if references.role(base).is_none() => role_markdown(base, content, references),
            _ => code(content),
        };
    }
    let (title, target) = titled(content);
    let external = references.external_link(name);
    if external.is_none() && !role::is_known(name) {
        references.unknown.borrow_mut().add("role", name);
    }
    if let Some(external) = external {
        let part = target.unwrap_or(&title);
        let text = match target {
            Some(_) => title.clone(),
            None => external.caption(part),
        };
        return link(&text, Some(&external.address(part)));
    }
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
        let is_code = !role::is_prose(role) && target != title && !title.contains(' ');
        return if is_code {
            code(&title)
        } else {
            to_markdown(&title, &References::default())
        };
    }
    match role {
        "ref" | "numref" => match references.label(&title) {
            Some((Some(heading), address)) => link(&title_markdown(heading), Some(&address)),
            _ => match MADE_PAGES.iter().find(|(name, _)| *name == title) {
                Some((_, shown)) => (*shown).to_owned(),
                None => title.replace(['-', '_'], " "),
            },
        },
        "doc" => match references.title(&title) {
            Some(name) => link(&title_markdown(name), Some(&title)),
            None => link(title.trim_start_matches('/'), Some(&title)),
        },
        "sub-ref" => {
            let value = references.substituted(&title, |text| to_markdown(text, references));
            value.unwrap_or(title)
        }
        "pep" => format!("PEP {title}"),
        "rfc" => format!("RFC {title}"),
        "ticket" => format!("#{title}"),
        "cve" => format!("CVE-{title}"),
        "commit" => title.chars().take(12).collect(),
        "emphasis" => format!("*{title}*"),
        "strong" => format!("**{title}**"),
        "samp" | "file" => code(&title.replace(['{', '}'], "")),
        _ if role::is_prose(role) => title,
        _ if title.contains(' ') && !name.contains(':') && !role::is_code(role) => to_markdown(&title, references),
        _ => code(code_name(&title)),
    }
}

pub(super) fn title_markdown(title: &Title) -> String {
    match title {
        Title::ReStructuredText(text) => to_markdown(text, &References::default()),
        Title::Markdown(text) => text.clone(),
    }
}

/// The name in `:name:` before a backtick, and the place of the backtick.
fn role_name(text: &str) -> Option<(&str, usize)> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || "-_.:+".contains(character);
    let mut start = text.char_indices().take(MAX_NAME + 2);
    let (name_end, _) = start.find(|(_, character)| !is_name(*character))?;
    let name = text[1..name_end].strip_suffix(':').filter(|name| !name.is_empty())?;
    text[name_end..].starts_with('`').then_some((name, name_end))
}

/// Shows `!name` and `~package.name` as Sphinx does.
fn code_name(name: &str) -> &str {
    let name = name.trim_start_matches('!');
    match name.strip_prefix('~') {
        Some(path) => path.rsplit('.').next().unwrap_or(path),
        None => name.trim_start_matches('.'),
    }
}

/// `|name|`, also as a reference: `|name|_`.
fn substitution(text: &str, references: &References) -> Option<Piece> {
    let (name, after) = text[1..]
        .split_once('|')
        .filter(|(name, _)| is_substitution_name(name))?;
    let shown = references.substituted(name, |text| to_markdown(text, references))?;
    let underscores = after.bytes().take(2).take_while(|&byte| byte == b'_').count();
    let address = references.url(name).filter(|_| underscores > 0);
    Some((name.len() + 2 + underscores, link(&shown, address)))
}

fn is_substitution_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && !name.contains('\n') && name.trim() == name
}

/// `` _`text` ``.
fn inline_target(text: &str, references: &References) -> Option<Piece> {
    let end = closing_backtick(&text[2..])?;
    let content = single_line(&text[2..2 + end]);
    Some((
        end + 3,
        format!("{}{}", mark(&content), to_markdown(&content, references)),
    ))
}

/// The text of HTML.
fn without_tags(html: &str) -> String {
    let mut output = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        output.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    output.push_str(rest);
    output
}

/// `[#]_` and `[#name]_`.
fn footnote_reference(text: &str, references: &References) -> Option<Piece> {
    let is_label = |character: char| character.is_alphanumeric() || "#-_.:+".contains(character);
    let end = 1 + text[1..].find(|character| !is_label(character))?;
    let label = &text[1..end];
    let is_reference = text[end..].starts_with("]_");
    is_reference.then(|| (end + 2, format!("[{}]", references.footnote_label(label, true))))
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

/// A reference `name_` or, with a target without a name, `name__`, if the page has the target.
fn bare_reference(text: &str, references: &References) -> Option<Piece> {
    let length = word_length(text);
    let word = text[..length].strip_suffix('_')?;
    let name = word.trim_end_matches('_');
    let is_anonymous = word.len() == name.len() + 1 && references.has_anonymous();
    match references.url(name) {
        Some(url) => Some((length, link(name, Some(url)))),
        None if is_anonymous || word == name && references.is_internal(name) => Some((length, name.to_owned())),
        None => None,
    }
}

fn word_length(text: &str) -> usize {
    text.find(|character: char| !(character.is_alphanumeric() || matches!(character, '_' | '-')))
        .unwrap_or(text.len())
}

/// The text without its markup, for literal blocks.
pub(super) fn plain(text: &str, references: &References) -> String {
    let piece = |rest: &str, character: char, opens: bool| match character {
        '\\' => plain_escape(rest),
        '`' if rest.starts_with("``") => {
            let end = rest[2..].find("``").filter(|&end| end > 0);
            end.map(|end| (end + 4, rest[2..2 + end].to_owned()))
        }
        '`' if opens => plain_interpreted(rest),
        ':' if opens => plain_role(rest),
        '|' if opens => plain_substitution(rest, references),
        '*' if opens => emphasis(rest),
        _ if opens && character.is_alphanumeric() => {
            let (length, _) = bare_reference(rest, references)?;
            Some((length, rest[..length - 1].to_owned()))
        }
        _ => None,
    };
    converted(text, piece, String::push_str)
}

fn plain_escape(text: &str) -> Option<Piece> {
    let next = text[1..].chars().next()?;
    let shown = if next.is_whitespace() {
        String::new()
    } else {
        next.to_string()
    };
    Some((1 + next.len_utf8(), shown))
}

/// The line with its substitutions, which is code otherwise.
pub(super) fn substituted(line: &str, references: &References) -> String {
    let mut output = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('|') {
        output.push_str(&rest[..at]);
        let (length, shown) = plain_substitution(&rest[at..], references).unwrap_or((1, "|".to_owned()));
        output.push_str(&shown);
        rest = &rest[at + length..];
    }
    output.push_str(rest);
    output
}

fn plain_substitution(text: &str, references: &References) -> Option<Piece> {
    let (name, _) = text[1..]
        .split_once('|')
        .filter(|(name, _)| is_substitution_name(name))?;
    let shown = references.substituted(name, |text| plain(text, references))?;
    Some((name.len() + 2, shown))
}

fn plain_interpreted(text: &str) -> Option<Piece> {
    let end = 1 + closing_backtick(&text[1..])?;
    let (label, target) = titled(&text[1..end]);
    let underscores = text[end + 1..].bytes().take(2).take_while(|&byte| byte == b'_').count();
    let shown = if label.is_empty() {
        target.unwrap_or_default().to_owned()
    } else {
        label
    };
    Some((end + 1 + underscores, shown))
}

fn plain_role(text: &str) -> Option<Piece> {
    let (name, name_end) = role_name(text)?;
    let end = closing_backtick(&text[name_end + 1..]).filter(|_| !name.is_empty())?;
    let (label, target) = titled(&text[name_end + 1..name_end + 1 + end]);
    let shown = match target {
        Some(_) if !label.is_empty() => label,
        _ => code_name(&label).to_owned(),
    };
    Some((name_end + end + 2, shown))
}

/// The text between asterisks.
fn emphasis(text: &str) -> Option<Piece> {
    let marker = if text.starts_with("**") { "**" } else { "*" };
    let inner = &text[marker.len()..];
    let end = inner.find(marker)?;
    let content = &inner[..end];
    let is_closed = !content.is_empty() && content.trim() == content && !content.contains('\n');
    is_closed.then(|| (end + 2 * marker.len(), content.to_owned()))
}
