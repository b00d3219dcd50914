//! Finds code that a browser shows as a block although it is not in a `pre`.

use dom_query::{NodeRef, Selection};

use super::block::is_block;
use super::vocabulary::Vocabulary;
use super::{escape, unwrap};
use crate::site::GENERATORS;

/// The attribute of a block whose white space is not code: its lines are its elements and breaks.
pub(super) const LINES: &str = "data-lines";

/// Elements that are blocks of code as `pre` is.
const BLOCKS: &str = "listing, xmp, plaintext";
const CODE: &str = "code, samp, kbd, tt, var";
/// Classes that generators and highlighters give a block of code.
const HIGHLIGHTED: [&str; 14] = [
    "div.highlight",
    "div.code",
    "div.code-block",
    "div.codeblock",
    "div.listing",
    "div.lstlisting",
    "div.verbatim",
    "div.source",
    "div.sourceCode",
    "div.prettyprint",
    "div.syntaxhighlighter",
    "div.geshi",
    "p.code",
    "table.highlight",
];
/// Elements that no code contains.
const PROSE: [&str; 13] = [
    "p",
    "ul",
    "dl",
    "table",
    "blockquote",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "figure",
    "pre",
];
/// Elements whose content is one line.
const ON_ONE_LINE: [&str; 11] = ["td", "th", "dt", "caption", "h1", "h2", "h3", "h4", "h5", "h6", "a"];
/// Characters that most lines of code have, and few lines of prose.
const SIGNS: &str = "(){}[]<>=;$_/\\|";
const MONOSPACED: [&str; 5] = ["mono", "courier", "consolas", "menlo", "monaco"];

/// Makes a `pre` of each such block, and `code` of other typewriter text.
pub(super) fn mark(main: &NodeRef<'_>, vocabulary: &Vocabulary) {
    let all = Selection::from(*main);
    for block in all.select(BLOCKS).nodes() {
        block.rename("pre");
    }
    for code in all.select(CODE).nodes() {
        if code.descendants_it().any(|inner| inner.has_name("pre")) {
            unwrap(code);
            continue;
        }
        if is_in_block(code) {
            continue;
        }
        let keeps_space = style(code).keeps_space;
        if keeps_space && has_lines(&code.text()) || breaks_lines(code) {
            let is_in_line = code
                .ancestors_it(None)
                .any(|outer| ON_ONE_LINE.iter().any(|name| outer.has_name(name)));
            match is_in_line {
                true => split(code),
                false => name_block(code, keeps_space),
            }
        } else if code.has_name("samp") || code.has_name("tt") {
            code.rename("code");
        }
    }
    for block in all.select("[style*='white-space']").nodes() {
        let style = style(block);
        let is_code = style.keeps_space && (style.is_exact || style.is_monospaced) && has_lines(&block.text());
        if is_code
            && (is_block(block) || style.is_monospaced)
            && !is_in_block(block)
            && !is_prose(block)
            && !block.has_name("td")
        {
            name_block(block, true);
        }
    }
    let of_generators = GENERATORS.iter().flat_map(|generator| generator.code).copied();
    if let Some(code) = vocabulary.selector(of_generators) {
        let blocks = all.select(&code);
        let blocks = blocks.nodes().iter().filter(|block| !is_in_block(block));
        blocks.for_each(|block| name_block(block, false));
    }
    if let Some(highlighted) = vocabulary.selector(HIGHLIGHTED) {
        for block in all.select(&highlighted).nodes() {
            if is_in_block(block) || is_prose(block) {
                continue;
            }
            let text = block.text();
            if breaks_lines(block) {
                name_block(block, false);
            } else if has_lines(&text) && (is_only_code(block) || looks_like_code(&text)) {
                name_block(block, true);
            }
        }
    }
}

fn name_block(block: &NodeRef<'_>, keeps_space: bool) {
    block.rename("pre");
    if !keeps_space {
        block.set_attr(LINES, "");
    }
}

/// Each line as code of its own.
fn split(code: &NodeRef<'_>) {
    let text = lines(code);
    let parts: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("<code>{}</code>", escape(line)))
        .collect();
    code.set_html(parts.join("<br>"));
    code.rename("span");
}

/// The text of a block whose lines are its elements and breaks. Within an element, spaces are those of the code; between
/// breaks they are collapsed, as browsers do.
pub(super) fn lines(block: &NodeRef<'_>) -> String {
    let mut text = String::new();
    let mut open = vec![(*block, false, false)];
    while let Some((node, is_in_line, is_end)) = open.pop() {
        let is_whole_line = node.id != block.id && (is_block(&node) || is_line(&node));
        if is_whole_line && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if is_end {
            continue;
        }
        if node.has_name("br") {
            text.push('\n');
        } else if node.is_text() && is_in_line {
            text.push_str(&node.text());
        } else if node.is_text() {
            push_collapsed(&mut text, &node.text());
        } else {
            let is_in_line = is_in_line || is_whole_line;
            open.push((node, is_in_line, true));
            open.extend(node.children_it(true).map(|child| (child, is_in_line, false)));
        }
    }
    text
}

/// Appends text with its white space collapsed, which leaves no-break spaces.
fn push_collapsed(text: &mut String, more: &str) {
    for character in more.chars() {
        match character.is_ascii_whitespace() {
            false => text.push(character),
            true if text.is_empty() || text.ends_with(['\n', ' ']) => {}
            true => text.push(' '),
        }
    }
}

/// Whether an element is a line of code by its class.
pub(super) fn is_line(node: &NodeRef<'_>) -> bool {
    node.has_name("span")
        && node.class().is_some_and(|class| {
            let mut classes = class.split_whitespace();
            classes.any(|class| class == "line" || class.ends_with("-line"))
        })
}

fn breaks_lines(node: &NodeRef<'_>) -> bool {
    let ends_line = |inner: &NodeRef<'_>| inner.has_name("br") || is_block(inner) || is_line(inner);
    node.descendants_it().any(|inner| ends_line(&inner)) && has_lines(&lines(node))
}

fn is_in_block(node: &NodeRef<'_>) -> bool {
    node.ancestors_it(None).any(|outer| outer.has_name("pre"))
        || node.descendants_it().any(|inner| inner.has_name("pre"))
}

fn is_prose(node: &NodeRef<'_>) -> bool {
    node.descendants_it()
        .any(|inner| PROSE.iter().any(|name| inner.has_name(name)))
}

/// Whether all text of a block is that of its code.
fn is_only_code(block: &NodeRef<'_>) -> bool {
    let mut children = block.children_it(false);
    children.all(|child| child.has_name("code") || child.is_text() && !child.is_nonempty_text())
}

fn has_lines(text: &str) -> bool {
    text.trim().contains('\n')
}

fn looks_like_code(text: &str) -> bool {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    lines().filter(|line| line.contains(|c| SIGNS.contains(c))).count() * 2 >= lines().count()
}

struct Style {
    keeps_space: bool,
    /// Long lines are not wrapped: prose would be.
    is_exact: bool,
    is_monospaced: bool,
}

fn style(node: &NodeRef<'_>) -> Style {
    let style = node.attr("style").unwrap_or_default().to_lowercase();
    let value = |name: &str| {
        let mut properties = style.split(';').filter_map(|property| property.split_once(':'));
        properties
            .find(|(key, _)| key.trim() == name)
            .map_or("", |(_, value)| value.trim())
    };
    let space = value("white-space");
    let font = [value("font-family"), value("font")].concat();
    Style {
        keeps_space: space.starts_with("pre") || space.starts_with("break-spaces"),
        is_exact: space == "pre" || space.starts_with("pre "),
        is_monospaced: MONOSPACED.iter().any(|name| font.contains(name)),
    }
}
