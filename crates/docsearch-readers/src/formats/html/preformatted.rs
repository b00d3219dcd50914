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
/// Parts of the names that other elements with code have.
const NAMES: [&str; 12] = [
    "code",
    "highlight",
    "hilite",
    "listing",
    "verbatim",
    "snippet",
    "prettyprint",
    "syntax",
    "console",
    "terminal",
    "shiki",
    "prism",
];
/// Elements of such names that can be a block of code.
const NAMED_BLOCKS: [&str; 6] = ["div", "p", "figure", "section", "ol", "table"];
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
        let has_lines = has_lines(&code.text());
        let is_block_of_lines = has_lines && (keeps_space || names_language(code) || is_alone(code));
        if is_block_of_lines || breaks_lines(code) {
            let is_in_line = code
                .ancestors_it(None)
                .any(|outer| ON_ONE_LINE.iter().any(|name| outer.has_name(name)));
            match is_in_line {
                true => split(code),
                false => name_block(code, is_block_of_lines),
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
    for block in all.select("[style*='font'], font[face]").nodes() {
        let face = block.attr("face").unwrap_or_default().to_lowercase();
        let is_typewriter = style(block).is_monospaced || MONOSPACED.iter().any(|name| face.contains(name));
        if is_typewriter
            && breaks_lines(block)
            && !is_in_block(block)
            && !is_prose(block)
            && looks_like_code(&lines(block))
        {
            name_block(block, false);
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
    mark_others(main);
}

/// Makes blocks of lines of code between breaks, and of code in elements that are named so.
fn mark_others(main: &NodeRef<'_>) {
    let others: Vec<NodeRef<'_>> = main
        .descendants_it()
        .filter(|node| has_code_lines(node) || is_named_code(node))
        .collect();
    for block in others.iter().filter(|block| !is_in_block(block) && !is_prose(block)) {
        let is_only_code = is_only_code(block);
        if breaks_lines(block) {
            if is_only_code || looks_like_code(&lines(block)) {
                name_block(block, false);
            }
        } else if has_lines(&block.text()) && (is_only_code || looks_like_code(&block.text())) {
            name_block(block, true);
        }
    }
}

/// Whether the text of a paragraph is several pieces of code, each on a line.
fn has_code_lines(node: &NodeRef<'_>) -> bool {
    (node.has_name("p") || node.has_name("div"))
        && node.children_it(false).filter(|child| child.has_name("br")).count() > 0
        && node.children_it(false).filter(|child| child.has_name("code")).count() > 1
        && is_only_code(node)
}

fn is_named_code(node: &NodeRef<'_>) -> bool {
    let Some(name) = node.node_name() else {
        return false;
    };
    let names = |text: &str| NAMES.iter().any(|part| text.contains(part));
    if name.contains('-') {
        return names(&name);
    }
    if !NAMED_BLOCKS.contains(&&*name) || !node.class().is_some_and(|class| names(&class.to_lowercase())) {
        return false;
    }
    // Lists and tables are of code only if they have nothing else, in one column.
    let has_one_cell = |row: &NodeRef<'_>| {
        row.children_it(false)
            .filter(|cell| !cell.text().trim().is_empty())
            .count()
            < 2
    };
    match &*name {
        "ol" | "table" => {
            is_only_code(node)
                && node
                    .descendants_it()
                    .filter(|inner| inner.has_name("tr"))
                    .all(|row| has_one_cell(&row))
        }
        _ => true,
    }
}

/// Whether lines that all look like code are a paragraph of their own.
fn is_alone(code: &NodeRef<'_>) -> bool {
    let text = code.text();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let is_block_of =
        |block: &NodeRef<'_>| (block.has_name("p") || block.has_name("div")) && block.text().trim() == text.trim();
    lines.all(is_like_code)
        && code
            .ancestors_it(None)
            .find(is_block)
            .is_some_and(|block| is_block_of(&block))
}

/// Whether a class of an element names a language: highlighters show it with its white space.
fn names_language(code: &NodeRef<'_>) -> bool {
    code.class()
        .is_some_and(|class| class.split_whitespace().any(|class| class.starts_with("language-")))
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
    let is_code = |node: &NodeRef<'_>| {
        let mut around = node.ancestors_it(None).take_while(|outer| outer.id != block.id);
        around.any(|outer| outer.has_name("code"))
    };
    let mut texts = block.descendants_it().filter(NodeRef::is_nonempty_text).peekable();
    texts.peek().is_some() && texts.all(|text| is_code(&text))
}

fn has_lines(text: &str) -> bool {
    text.trim().contains('\n')
}

fn looks_like_code(text: &str) -> bool {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    lines().filter(|line| is_like_code(line)).count() * 2 >= lines().count()
}

fn is_like_code(line: &str) -> bool {
    line.contains(|c| SIGNS.contains(c))
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
