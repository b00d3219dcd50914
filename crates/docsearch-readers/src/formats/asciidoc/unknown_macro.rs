//! Macros that nothing defines, `name::target[]` and `name:target[]`. As in Asciidoctor, the page shows their source.

use asciidoc_parser::blocks::{
    Block, BlockSelector, ContentModel, FindBlocks, IsBlock, ListItemMarker, TableCellContent,
};
use asciidoc_parser::document::Document;
use asciidoc_parser::inlines::{InlineNode, StyleVariant};

use crate::draft::unknown_names::UnknownNames;

/// Macros of AsciiDoc, some of which need an attribute of the page to be more than text, and schemes of addresses.
const KNOWN: [&str; 32] = [
    "anchor",
    "asciimath",
    "audio",
    "btn",
    "endif",
    "file",
    "footnote",
    "footnoteref",
    "ftp",
    "http",
    "https",
    "icon",
    "ifdef",
    "ifeval",
    "ifndef",
    "image",
    "include",
    "indexterm",
    "indexterm2",
    "irc",
    "kbd",
    "latexmath",
    "link",
    "linkgit",
    "mailto",
    "menu",
    "pass",
    "stem",
    "tag",
    "toc",
    "video",
    "xref",
];
/// Maximum nesting of inline text in which macros are looked for.
const MAX_DEPTH: usize = 24;

/// Counts the uses in a page.
pub(super) fn count<'a>(document: &'a Document<'a>) -> UnknownNames {
    let mut names = UnknownNames::default();
    for block in document.find_blocks(&BlockSelector::new().traverse_documents(true)) {
        if block.content_model() == ContentModel::Simple {
            let nodes = block.inlines().unwrap_or_default();
            if let Some(name) = nodes.first().and_then(block_macro) {
                names.add("macro", name);
            }
            count_inline(nodes, 0, &mut names);
        }
        match block {
            Block::ListItem(item) => {
                if let ListItemMarker::DefinedTerm { term, .. } = item.list_item_marker() {
                    count_inline(term.inlines(), 0, &mut names);
                }
            }
            Block::Table(table) => {
                let rows = table.header_row().into_iter().chain(table.body_rows());
                for cell in rows.chain(table.footer_row()).flat_map(|row| row.cells()) {
                    if let TableCellContent::Simple(content) = cell.content() {
                        count_inline(content.inlines(), 0, &mut names);
                    }
                }
            }
            _ => {}
        }
    }
    names
}

fn count_inline(nodes: &[InlineNode<'_>], depth: usize, names: &mut UnknownNames) {
    if depth > MAX_DEPTH {
        return;
    }
    let last_end = nodes
        .iter()
        .rposition(|node| matches!(node, InlineNode::Text { value, .. } if value.contains(']')));
    for (at, node) in nodes.iter().enumerate() {
        match node {
            InlineNode::Text { value, .. } => {
                let ends_later = last_end.is_some_and(|end| end > at);
                inline_macros(value, ends_later).for_each(|name| names.add("macro", name));
            }
            InlineNode::Styled(styled) if styled.variant != StyleVariant::Code => {
                count_inline(&styled.children, depth + 1, names);
            }
            InlineNode::Ref(reference) => count_inline(&reference.children, depth + 1, names),
            InlineNode::Footnote(footnote) => count_inline(&footnote.children, depth + 1, names),
            _ => {}
        }
    }
}

/// The name of the block macro that a paragraph is.
fn block_macro<'a>(first: &'a InlineNode<'_>) -> Option<&'a str> {
    let InlineNode::Text { value, .. } = first else {
        return None;
    };
    let line = value.lines().next()?.trim_end();
    let (name, rest) = line.split_once("::")?;
    let (target, attributes) = rest.strip_suffix(']')?.split_once('[')?;
    (is_unknown(name) && !target.contains(char::is_whitespace) && !attributes.contains(']')).then_some(name)
}

/// The names of the inline macros that begin in a text, and end in it or, if `ends_later`, after it.
fn inline_macros(text: &str, ends_later: bool) -> impl Iterator<Item = &str> {
    text.match_indices('[').filter_map(move |(at, _)| {
        let before = &text[..at];
        let word = before.rsplit(char::is_whitespace).next()?;
        let (head, target) = word.split_once(':')?;
        let name = head.rsplit(|character| !is_of_name(character)).next()?;
        let is_escaped = head[..head.len() - name.len()].ends_with('\\');
        let is_closed = ends_later || text[at..].contains(']');
        let is_target = !target.starts_with([':', '/']) && !target.contains([']', ':']);
        (is_target && is_closed && !is_escaped && is_unknown(name)).then_some(name)
    })
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || "-_".contains(character)
}

fn is_unknown(name: &str) -> bool {
    let is_name = name.len() > 1 && name.starts_with(|first: char| first.is_ascii_lowercase());
    is_name && name.chars().all(is_of_name) && !KNOWN.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_macros_begin_with_their_name() {
        for (text, expected) in [
            (
                "See issue:12[], (jira:KIT-1[the *issue*]) and config:[sail].",
                vec!["issue", "jira", "config"],
            ),
            (
                "a[0], kit::sail[1], x:y[2], https://kit.test/[3], \\issue:12[], kbd:[Ctrl], At 12:30[4], open:it[",
                vec![],
            ),
            ("Set the mast:\n[one]", vec![]),
        ] {
            assert_eq!(inline_macros(text, false).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
