//! Prepares the text for the parser: rewrites syntax that it does not know, and checks limits.

use std::collections::HashSet;

use super::MAX_BYTES;
use super::delimiter::{Delimiters, is_compound, is_table, is_verbatim};
use crate::draft::Unreadable;

/// Limits on constructs for which the parser takes quadratic time.
const MAX_PARAGRAPH_BYTES: usize = 64 * 1024;
const MAX_CALLOUTS: usize = 5_000;
/// Maximum nesting of blocks and lists.
const MAX_NESTING: usize = 24;
/// The parser tries every number for sections of the same name.
const MAX_SECTIONS_WITH_IDS: usize = 3_000;
/// The deepest level of a section.
const MAX_LEVEL: i32 = 5;
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

/// Where a text is included.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Position {
    /// Whether the first heading may be the title of the document.
    pub(super) may_have_title: bool,
    /// Levels that its headings go down, by `leveloffset` of the includes around it.
    pub(super) offset: i32,
}

/// The option of an include in a prepared text that has the sum of all `leveloffset`: the parser would put attribute
/// entries around the included text, which are text below a paragraph and in a table.
pub(super) const OFFSET: &str = "x-offset";

/// Rewrites underlined titles, parts of books, and the offsets of levels for the parser.
pub(super) fn prepare(text: &str, position: Position) -> Result<Source, Unreadable> {
    if text.len() > MAX_BYTES {
        return Err(refusal("larger than 4 MB with what it includes"));
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut source = Source {
        text: String::with_capacity(text.len() + 64),
        ..Source::default()
    };
    // The parser follows no attributes of a header below a comment.
    let lines = &lines[comments(&lines)..];
    if lines.len() < text.lines().count() && !position.may_have_title {
        source.push("");
    }
    let (mut verbatim, mut table) = (None::<&str>, None::<&str>);
    let (mut paragraph, mut callouts, mut sections) = (0, 0, 0);
    let mut enclosing: Vec<&str> = Vec::new();
    let mut has_content = false;
    let mut offset = position.offset;
    let delimiters = Delimiters::of(lines);
    let mut verbatim_end = usize::MAX;
    let mut is_attached = false;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim_end();
        let previous = at.checked_sub(1).map_or("", |before| lines[before]);
        if at >= verbatim_end
            && let Some(delimiter) = verbatim.take()
        {
            source.push(delimiter);
        }
        at += 1;
        if let Some(delimiter) = verbatim {
            callouts += usize::from(line.ends_with('>'));
            if line == delimiter {
                verbatim = None;
            } else if let Some((target, _)) = include(line) {
                source.verbatim_includes.insert(target.to_owned());
            }
            source.push(&with_offset(line, None));
            continue;
        }
        if let Some(value) = level_offset(line) {
            offset = match value {
                "" => 0,
                value => moved(offset, value),
            };
            source.push("");
            continue;
        }
        if let Some(delimiter) = table {
            callouts += usize::from(line.ends_with('>'));
            if line == delimiter {
                table = None;
            } else if is_verbatim(line) {
                verbatim = Some(line);
                verbatim_end = delimiters.end(line, &[delimiter], at);
            }
            source.push(&linkgit(&with_offset(line, Some(offset))));
            continue;
        }
        // The parser takes items below an attached paragraph for its text.
        if is_attached && paragraph > 1 && is_item(line) {
            source.push("");
            is_attached = false;
        }
        is_attached = line == "+" || is_attached && !line.is_empty();
        paragraph = match line {
            "" => 0,
            "+" => 1,
            line => paragraph + line.len() + 1,
        };
        if paragraph > MAX_PARAGRAPH_BYTES {
            return Err(refusal("a paragraph of more than 64 KB"));
        }
        let underlined = underlined(line, lines.get(at).copied(), previous);
        let marked = marked(line);
        // The text that was included before a heading need not end with a blank line.
        if include(previous).is_some() && (underlined.is_some() || marked.is_some()) {
            source.push("");
        }
        let moves = line.starts_with("= ") || offset != 0;
        if let Some((level, title)) = underlined.or(marked.filter(|_| moves)) {
            at += usize::from(underlined.is_some());
            sections += 1;
            let level = level as i32 + offset;
            let is_title = level <= 0 && offset == 0 && position.may_have_title && !has_content;
            source.has_title |= is_title;
            source.push_heading(
                if is_title {
                    0
                } else {
                    level.clamp(1, MAX_LEVEL) as usize
                },
                title,
            );
            has_content = true;
            continue;
        }
        if is_compound(line) {
            match enclosing.iter().rposition(|open| *open == line) {
                Some(open) => enclosing.truncate(open),
                None => enclosing.push(line),
            }
        }
        if enclosing.len() > MAX_NESTING || list_level(line) > MAX_NESTING {
            return Err(refusal("blocks or lists nested more than 24 levels deep"));
        }
        if is_table(line) {
            table = Some(line);
        } else if is_verbatim(line) {
            let delimiter = line
                .split_at_checked(3)
                .filter(|_| line.starts_with("```"))
                .map_or(line, |(fence, _)| fence);
            verbatim = Some(delimiter);
            verbatim_end = delimiters.end(delimiter, &enclosing, at);
        } else {
            sections += usize::from(line.starts_with("=="));
            has_content |= is_content(line);
        }
        match conditional_entry(line) {
            Some((condition, entry)) => {
                source.push(&condition);
                source.push(entry);
                source.push("endif::[]");
            }
            None => source.push(&linkgit(&with_offset(line, Some(offset)))),
        }
    }
    if let Some(delimiter) = verbatim {
        source.push(delimiter);
    }
    if callouts > MAX_CALLOUTS {
        return Err(refusal("more than 5,000 callouts"));
    }
    source.has_section_ids = sections <= MAX_SECTIONS_WITH_IDS;
    Ok(source)
}

/// The number of blank lines and of comments at the beginning, up to a tag that an include may name.
fn comments(lines: &[&str]) -> usize {
    let mut at = 0;
    while let Some(line) = lines.get(at).map(|line| line.trim_end()) {
        let is_block = line.len() >= 4 && line.bytes().all(|byte| byte == b'/');
        if is_block {
            let rest = lines[at + 1..].iter().position(|end| end.trim_end() == line);
            at += rest.map_or(lines.len() - at, |length| length + 2);
        } else if line.is_empty() || line.starts_with("//") && !line.starts_with("///") && !line.contains("::") {
            at += 1;
        } else {
            break;
        }
    }
    at
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

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let Some((mark, text)) = line.split_once(' ') else {
        return line.ends_with("::") || line.ends_with(";;");
    };
    let all =
        |mark: &str, of: char| !mark.is_empty() && mark.len() <= 5 && mark.chars().all(|character| character == of);
    let number = mark.strip_suffix('.').unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_callout = mark.starts_with('<') && mark.ends_with('>') && mark.len() > 2;
    let is_term = mark.ends_with("::") || mark.ends_with(";;") || text.contains(":: ") || text.ends_with("::");
    mark == "-" || all(mark, '*') || all(mark, '.') || is_number || is_letter || is_callout || is_term
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

/// Target and options of an include.
fn include(line: &str) -> Option<(&str, &str)> {
    let (target, options) = line.trim_end().strip_prefix("include::")?.split_once('[')?;
    Some((target, options.strip_suffix(']')?))
}

/// An include with the sum of all offsets in place of its own; in code without any.
fn with_offset(line: &str, offset: Option<i32>) -> String {
    let Some((target, options)) = include(line) else {
        return line.to_owned();
    };
    let own = options
        .split(',')
        .find_map(|option| option.trim().strip_prefix("leveloffset="));
    let sum = offset.map(|offset| own.map_or(offset, |own| moved(offset, own.trim_matches(['"', '\'']))));
    let mut kept: Vec<String> = options
        .split(',')
        .filter(|option| !option.trim().starts_with("leveloffset=") && !option.is_empty())
        .map(str::to_owned)
        .collect();
    kept.extend(sum.filter(|&sum| sum != 0).map(|sum| format!("{OFFSET}={sum}")));
    format!("include::{target}[{}]", kept.join(","))
}

/// The offset after an assignment, which is relative if it has a sign.
fn moved(offset: i32, value: &str) -> i32 {
    let number = value.trim().parse().unwrap_or(0_i32).clamp(-MAX_LEVEL, MAX_LEVEL);
    match value.trim().starts_with(['+', '-']) {
        true => (offset + number).clamp(-MAX_LEVEL, MAX_LEVEL),
        false => number,
    }
}

/// The value that a line assigns to `leveloffset`; empty if it removes it.
fn level_offset(line: &str) -> Option<&str> {
    match line {
        ":leveloffset!:" | ":!leveloffset:" => Some(""),
        _ => Some(line.strip_prefix(":leveloffset:")?.trim()),
    }
}

/// The condition and the attribute entry of `ifndef::name[:other: value]`, which the parser reads on lines of their
/// own only.
fn conditional_entry(line: &str) -> Option<(String, &str)> {
    let is_condition = line.starts_with("ifdef::") || line.starts_with("ifndef::");
    let (condition, entry) = line.strip_suffix(']')?.split_once('[').filter(|_| is_condition)?;
    entry.starts_with(':').then(|| (format!("{condition}[]"), entry))
}

/// Level and text of a title with marks before it.
fn marked(line: &str) -> Option<(usize, &str)> {
    let first = line.chars().next().filter(|first| "=#".contains(*first))?;
    let marks = line.chars().take_while(|&mark| mark == first).count();
    let title = line[marks..].strip_prefix(' ').map(str::trim)?;
    (marks as i32 <= MAX_LEVEL + 1 && !title.is_empty()).then_some((marks - 1, title))
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

    const TITLED: Position = Position {
        may_have_title: true,
        offset: 0,
    };

    fn prepared(text: &str) -> String {
        prepare(text, TITLED).unwrap().text
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
        let source = prepare("= Book\n\n= Part\n\n== Chapter\n", TITLED).unwrap();
        assert_eq!(source.text, "= Book\n\n== Part\n\n== Chapter\n");
        assert!(source.has_title);
        assert_eq!(prepare("= Part\n", Position::default()).unwrap().text, "== Part\n");
    }

    #[test]
    fn offsets_move_headings_and_are_handed_to_includes() {
        let text = "= Part\n\nDeep\n~~~~\n\n:leveloffset: +1\n== Two\n:leveloffset!:\n# Zero\n\ninclude::a.adoc[leveloffset=+1,lines=1..2]\n== Next\n";
        let position = Position {
            may_have_title: true,
            offset: 1,
        };
        assert_eq!(
            prepare(text, position).unwrap().text,
            "== Part\n\n==== Deep\n\n\n==== Two\n\n# Zero\n\ninclude::a.adoc[lines=1..2,x-offset=1]\n\n== Next\n"
        );
        assert_eq!(
            prepared("----\ninclude::a.adoc[leveloffset=+1]\n----\n|===\ninclude::b.adoc[leveloffset=\"2\"]\n|===\n"),
            "----\ninclude::a.adoc[]\n----\n|===\ninclude::b.adoc[x-offset=2]\n|===\n"
        );
    }

    #[test]
    fn code_without_an_end_ends_with_the_block_around_it() {
        assert_eq!(prepared("----\na\n"), "----\na\n----\n");
        assert_eq!(
            prepared("====\n----\na\n====\n\nb\n"),
            "====\n----\na\n----\n====\n\nb\n"
        );
        let closed = "====\n----\na\n----\n====\n";
        assert_eq!(prepared(closed), closed);
    }

    #[test]
    fn items_end_an_attached_paragraph() {
        assert_eq!(prepared("* a\n+\nb\nc\n** d\n"), "* a\n+\nb\nc\n\n** d\n");
        for text in ["* a\n+\n* b\n", "a\n* b\n", "* a\n+\nb\n\n* c\n"] {
            assert_eq!(prepared(text), text);
        }
    }

    #[test]
    fn comments_above_the_title_go() {
        assert_eq!(prepared("////\nlicence\n////\n\n// note\n\n= Title\n"), "= Title\n");
        let part = prepare("// note\n\nText\n", Position::default()).unwrap();
        assert_eq!(part.text, "\nText\n");
    }

    #[test]
    fn conditions_of_entries_are_lines_of_their_own() {
        assert_eq!(
            prepared("ifndef::a[:a: b]\nifdef::a[text]\n"),
            "ifndef::a[]\n:a: b\nendif::[]\nifdef::a[text]\n"
        );
    }

    #[test]
    fn includes_in_code_are_listed() {
        let source = prepare("----\ninclude::a.txt[]\n----\ninclude::b.txt[]\n", TITLED).unwrap();
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
        assert!(prepare(&"word ".repeat(20_000), TITLED).is_err());
        assert!(prepare(&"word word\n\n".repeat(20_000), TITLED).is_ok());
    }
}
