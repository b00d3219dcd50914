//! Prepares the text for the parser: rewrites syntax that it does not know, and checks limits.

use std::collections::HashSet;

use super::MAX_BYTES;
use crate::draft::Unreadable;

/// Limits on constructs for which the parser takes quadratic time.
const MAX_PARAGRAPH_BYTES: usize = 64 * 1024;
const MAX_CALLOUTS: usize = 5_000;
/// Maximum nesting of blocks and lists.
const MAX_NESTING: usize = 24;
/// The parser tries every number for sections of the same name.
const MAX_SECTIONS_WITH_IDS: usize = 3_000;
/// Underline characters of titles, by level.
const UNDERLINES: [char; 5] = ['=', '-', '~', '^', '+'];

/// A text that the parser can read.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) text: String,
    /// Targets of includes in code blocks, whose text is left unchanged.
    pub(super) verbatim_includes: HashSet<String>,
    /// Whether sections can get the ids that Asciidoctor gives them.
    pub(super) has_section_ids: bool,
    pub(super) has_title: bool,
}

/// Rewrites underlined titles, and parts of books, for the parser. `may_have_title`: whether the first heading may be
/// the title of the document.
pub(super) fn prepare(text: &str, may_have_title: bool) -> Result<Source, Unreadable> {
    if text.len() > MAX_BYTES {
        return Err(refusal("larger than 4 MB with what it includes"));
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut source = Source {
        text: String::with_capacity(text.len() + 64),
        ..Source::default()
    };
    let (mut verbatim, mut paragraph, mut callouts, mut sections) = (None::<&str>, 0, 0, 0);
    let mut enclosing: Vec<&str> = Vec::new();
    let mut has_content = false;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim_end();
        at += 1;
        if let Some(delimiter) = verbatim {
            callouts += usize::from(line.ends_with('>'));
            if line == delimiter {
                verbatim = None;
            } else if let Some(target) = include_target(line) {
                source.verbatim_includes.insert(target.to_owned());
            }
            source.push(line);
            continue;
        }
        paragraph = if line.is_empty() { 0 } else { paragraph + line.len() + 1 };
        if paragraph > MAX_PARAGRAPH_BYTES {
            return Err(refusal("a paragraph of more than 64 KB"));
        }
        let previous = at.checked_sub(2).map_or("", |before| lines[before]);
        if let Some((level, title)) = underlined(line, lines.get(at).copied(), previous) {
            sections += 1;
            let is_title = level == 0 && may_have_title && !has_content;
            source.has_title |= is_title;
            source.push_heading(if level == 0 && !is_title { 1 } else { level }, title);
            has_content = true;
            at += 1;
            continue;
        }
        if is_compound_delimiter(line) {
            match enclosing.iter().rposition(|open| *open == line) {
                Some(open) => enclosing.truncate(open),
                None => enclosing.push(line),
            }
        }
        if enclosing.len() > MAX_NESTING || list_level(line) > MAX_NESTING {
            return Err(refusal("blocks or lists nested more than 24 levels deep"));
        }
        if is_verbatim_delimiter(line) {
            verbatim = Some(
                line.split_at_checked(3)
                    .filter(|_| line.starts_with("```"))
                    .map_or(line, |(fence, _)| fence),
            );
        } else if let Some(title) = line.strip_prefix("= ") {
            sections += 1;
            let is_title = may_have_title && !has_content;
            source.has_title |= is_title;
            source.push_heading(usize::from(!is_title), title);
            has_content = true;
            continue;
        } else {
            sections += usize::from(line.starts_with("=="));
            has_content |= is_content(line);
        }
        source.push(&linkgit(line));
    }
    if callouts > MAX_CALLOUTS {
        return Err(refusal("more than 5,000 callouts"));
    }
    source.has_section_ids = sections <= MAX_SECTIONS_WITH_IDS;
    Ok(source)
}

impl Source {
    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn push_heading(&mut self, level: usize, title: &str) {
        let line = format!("{} {}", "=".repeat(level + 1), linkgit(title.trim()));
        self.push(&line);
    }
}

pub(super) fn refusal(reason: &str) -> Unreadable {
    Unreadable::Malformed {
        format: "AsciiDoc",
        reason: reason.to_owned(),
    }
}

/// Whether a line ends the header, so that no title can follow.
fn is_content(line: &str) -> bool {
    !(line.is_empty()
        || line.starts_with("//")
        || line.starts_with(':')
        || line.starts_with('[')
        || line.starts_with("ifdef::")
        || line.starts_with("ifndef::")
        || line.starts_with("endif::")
        || line.starts_with("include::"))
}

fn is_verbatim_delimiter(line: &str) -> bool {
    let Some(first) = line.chars().next() else {
        return false;
    };
    let is_uniform = line.len() >= 4 && line.chars().all(|character| character == first);
    "-.+/".contains(first) && is_uniform || line.starts_with("```") && !line[3..].contains('`') || line == "|==="
}

fn is_compound_delimiter(line: &str) -> bool {
    let first = line.chars().next().unwrap_or(' ');
    line == "--" || line.len() >= 4 && "=*_".contains(first) && line.chars().all(|character| character == first)
}

/// Level of an item such as `*** text`.
fn list_level(line: &str) -> usize {
    let item = line.trim_start();
    let level = ["*", ".", ">"]
        .iter()
        .map(|marker| item.len() - item.trim_start_matches(marker).len())
        .max()
        .unwrap_or(0);
    if item[level..].starts_with(' ') { level } else { 0 }
}

/// Level and text of a title with this underline, which is as long as the title, give or take one character.
fn underlined<'a>(line: &'a str, next: Option<&str>, previous: &str) -> Option<(usize, &'a str)> {
    let next = next?.trim_end();
    let first = next.chars().next()?;
    let level = UNDERLINES.iter().position(|&underline| underline == first)?;
    let length = line.chars().count();
    let is_title = next.len() >= 2
        && next.chars().all(|character| character == first)
        && next.len().abs_diff(length) <= 1
        && !line.starts_with(['.', ' ', '\t', '|', '[', ':', '*'])
        && line.chars().any(char::is_alphanumeric)
        && (previous.trim().is_empty()
            || previous.starts_with('[')
            || previous.starts_with("//")
            || previous.starts_with(':'));
    // A line that ends in a colon above four hyphens introduces the code between them.
    let introduces = next.len() == 4 && line.ends_with(':');
    (is_title && !introduces).then_some((level, line))
}

fn include_target(line: &str) -> Option<&str> {
    let (target, _) = line.strip_prefix("include::")?.split_once('[')?;
    Some(target)
}

/// Git's macro for its manual pages, `linkgit:git-add[1]`.
fn linkgit(line: &str) -> String {
    const MACRO: &str = "linkgit:";
    let mut output = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(MACRO) {
        let (before, found) = rest.split_at(start);
        output.push_str(before);
        let page = found[MACRO.len()..].split_once('[').and_then(|(name, after)| {
            let (section, after) = after.split_once(']')?;
            let is_name = !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.{}".contains(&byte));
            is_name.then_some((name, section, after))
        });
        match page {
            Some((name, section, after)) => {
                output.push_str(&format!("link:{name}.html[{name}({section})]"));
                rest = after;
            }
            None => {
                output.push_str(MACRO);
                rest = &found[MACRO.len()..];
            }
        }
    }
    output.push_str(rest);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(text: &str) -> String {
        prepare(text, true).unwrap().text
    }

    #[test]
    fn underlined_titles_get_their_level() {
        assert_eq!(
            prepared("Title\n=====\n\nPart\n----\n\nDeep\n~~~~~\n\nText\n.....\nno title\n.....\n"),
            "= Title\n\n== Part\n\n=== Deep\n\nText\n.....\nno title\n.....\n"
        );
    }

    #[test]
    fn code_is_no_title() {
        let code = "Run:\n----\nfoo\n---\n----\n\n.Block\n------\na\nb\n------\n";
        assert_eq!(prepared(code), code);
    }

    #[test]
    fn parts_of_books_are_sections() {
        let source = prepare("= Book\n\n= Part\n\n== Chapter\n", true).unwrap();
        assert_eq!(source.text, "= Book\n\n== Part\n\n== Chapter\n");
        assert!(source.has_title);
        assert_eq!(prepare("= Part\n", false).unwrap().text, "== Part\n");
    }

    #[test]
    fn includes_in_code_are_listed() {
        let source = prepare("----\ninclude::a.txt[]\n----\ninclude::b.txt[]\n", true).unwrap();
        assert_eq!(source.verbatim_includes, HashSet::from(["a.txt".to_owned()]));
    }

    #[test]
    fn manual_pages_of_git_are_links() {
        assert_eq!(
            prepared("See linkgit:git-add[1], linkgit:x y."),
            "See link:git-add.html[git-add(1)], linkgit:x y.\n"
        );
    }

    #[test]
    fn quadratic_input_is_refused() {
        assert!(prepare(&"word ".repeat(20_000), true).is_err());
        assert!(prepare(&"word word\n\n".repeat(20_000), true).is_ok());
    }
}
