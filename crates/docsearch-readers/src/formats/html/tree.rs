//! Parses HTML to a tree of bounded depth and size.

use std::cell::{Cell, RefCell};

use dom_query::{Document, LocalName, NodeId};
use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::{QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use super::drawing::{Drawing, Part};
use crate::draft::Unreadable;

/// Maximum nesting of elements; browsers stop at 512. Deeper elements become text of the last one.
const MAX_DEPTH: usize = 256;
/// Maximum nesting of inline formatting.
const MAX_FORMATTING: usize = 32;
/// Maximum nesting of lists and quotations: Markdown indents each line by four spaces per level.
const MAX_INDENTING: usize = 12;
/// Maximum elements of a page.
const MAX_ELEMENTS: usize = 500_000;
/// Maximum bytes of consecutive tags without text: the parser compares every attribute of a tag with those before it.
const MAX_TAG_BYTES: usize = 4 << 20;

/// Elements without content.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
];
/// Elements whose content is text for the tokenizer, which has to see all of them.
const RAW: [&str; 9] = [
    "script",
    "style",
    "textarea",
    "title",
    "xmp",
    "iframe",
    "noembed",
    "noframes",
    "plaintext",
];
/// Elements that the next of the same name closes: pages have many without an end tag.
const SELF_ENDING: [&str; 23] = [
    "html", "head", "body", "a", "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup",
    "caption", "option", "optgroup", "rt", "rp", "rb", "rtc", "button",
];
/// Elements that the parser reopens in every following block until they are closed.
const FORMATTING: [&str; 13] = [
    "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// Elements whose lines are indented in Markdown.
const INDENTING: [&str; 6] = ["ul", "ol", "menu", "dir", "dl", "blockquote"];

/// Parses a page. Comments are left out.
pub(super) fn parse(text: &str) -> Result<Document, Unreadable> {
    let malformed = |reason: &str| Unreadable::Malformed {
        format: "HTML",
        reason: reason.to_owned(),
    };
    if longest_tag(text) > MAX_TAG_BYTES {
        return Err(malformed("a tag is longer than 4 MiB"));
    }
    let options = TreeBuilderOpts {
        scripting_enabled: false,
        drop_doctype: true,
        ..TreeBuilderOpts::default()
    };
    let document = Document::default();
    document.set_quirks_mode(QuirksMode::NoQuirks);
    let bounded = BoundedSink {
        builder: TreeBuilder::new(document, options),
        is_xhtml: text.trim_start().starts_with("<?xml"),
        depth: Cell::new(0),
        formatting: Cell::new(0),
        indenting: Cell::new(0),
        elements: Cell::new(0),
        drawing: RefCell::default(),
        templates: RefCell::default(),
    };
    let tokenizer = Tokenizer::new(bounded, Default::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(text));
    // Scripts and declarations of the encoding hand control back in between.
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    if tokenizer.sink.elements.get() > MAX_ELEMENTS {
        return Err(malformed("more than 500,000 elements"));
    }
    let document = tokenizer.sink.builder.sink.finish();
    if depth(&document) > 2 * MAX_DEPTH {
        return Err(malformed("elements are nested too deeply"));
    }
    Ok(document)
}

fn longest_tag(text: &str) -> usize {
    text.split('>')
        .filter_map(|piece| Some(piece.len() - piece.find('<')?))
        .max()
        .unwrap_or(0)
}

fn depth(document: &Document) -> usize {
    let mut deepest = 0;
    let mut open = vec![(document.root(), 0)];
    while let Some((node, depth)) = open.pop() {
        deepest = deepest.max(depth);
        open.extend(node.children_it(false).map(|child| (child, depth + 1)));
    }
    deepest
}

/// Sits between the tokenizer and the tree builder, which limits neither depth nor size.
struct BoundedSink {
    builder: TreeBuilder<NodeId, Document>,
    /// `<a/>` is an element without content.
    is_xhtml: bool,
    depth: Cell<usize>,
    formatting: Cell<usize>,
    indenting: Cell<usize>,
    elements: Cell<usize>,
    drawing: RefCell<Drawing>,
    /// Whether each open template is shown.
    templates: RefCell<Vec<bool>>,
}

impl BoundedSink {
    /// Whether to pass the tag to the tree builder.
    fn admits(&self, tag: &Tag) -> bool {
        let is_admitted = self.is_shallow(tag);
        if is_admitted && tag.kind == TagKind::StartTag {
            let opened_again = self.formatting.get().min(MAX_FORMATTING);
            self.elements.set(self.elements.get() + 1 + opened_again);
        }
        is_admitted
    }

    fn is_shallow(&self, tag: &Tag) -> bool {
        let name: &str = &tag.name;
        if VOID.contains(&name) || RAW.contains(&name) || SELF_ENDING.contains(&name) {
            return true;
        }
        let step = |count: &Cell<usize>, limit: usize| match tag.kind {
            TagKind::StartTag => {
                count.set(count.get() + 1);
                count.get() <= limit
            }
            TagKind::EndTag => {
                let before = count.get();
                count.set(before.saturating_sub(1));
                before <= limit
            }
        };
        if FORMATTING.contains(&name) {
            return step(&self.formatting, MAX_FORMATTING);
        }
        if INDENTING.contains(&name) {
            return step(&self.indenting, MAX_INDENTING);
        }
        step(&self.depth, MAX_DEPTH)
    }

    /// Makes a block of a template that is the content of the element around it.
    fn show_template(&self, tag: &mut Tag) {
        if &*tag.name != "template" {
            return;
        }
        let is_shown = match tag.kind {
            TagKind::StartTag => {
                let mut names = tag.attrs.iter().map(|attribute| &*attribute.name.local);
                let is_shown = names.any(|name| name == "shadowrootmode");
                self.templates.borrow_mut().push(is_shown);
                is_shown
            }
            TagKind::EndTag => self.templates.borrow_mut().pop().unwrap_or_default(),
        };
        if is_shown {
            tag.name = LocalName::from("div");
        }
    }

    fn closes_itself(&self, tag: &Tag) -> bool {
        self.is_xhtml && tag.kind == TagKind::StartTag && tag.self_closing && !VOID.contains(&&*tag.name)
    }

    fn end_of(name: LocalName) -> Token {
        Token::TagToken(Tag {
            kind: TagKind::EndTag,
            name,
            self_closing: false,
            attrs: Vec::new(),
            had_duplicate_attributes: false,
        })
    }
}

impl TokenSink for BoundedSink {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        let part = self.drawing.borrow_mut().part(&token);
        let mut token = match part {
            Part::Page => token,
            Part::Label(text) => Token::CharacterTokens(text),
            Part::Shape => return TokenSinkResult::Continue,
        };
        if let Token::TagToken(tag) = &mut token {
            self.show_template(tag);
        }
        let mut end = None;
        match &token {
            Token::EOFToken => {}
            _ if self.elements.get() > MAX_ELEMENTS => return TokenSinkResult::Continue,
            Token::CommentToken(_) | Token::ParseError(_) => return TokenSinkResult::Continue,
            Token::TagToken(tag) if !self.admits(tag) => return TokenSinkResult::Continue,
            Token::TagToken(tag) if self.closes_itself(tag) => end = Some(Self::end_of(tag.name.clone())),
            _ => {}
        }
        let result = self.builder.process_token(token, line);
        match end {
            Some(Token::TagToken(tag)) => {
                self.admits(&tag);
                self.builder.process_token(Token::TagToken(tag), line)
            }
            _ => result,
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(html: &str) -> String {
        parse(html).unwrap().text().to_string()
    }

    #[test]
    fn nesting_is_cut_and_the_text_stays() {
        for tag in ["div", "blockquote", "ul", "b", "span", "object"] {
            let bomb = format!(
                "<p>start</p>{}deep{}<p>end</p>",
                format!("<{tag}>").repeat(100_000),
                format!("</{tag}>").repeat(100_000)
            );
            let document = parse(&bomb).unwrap();
            assert!(depth(&document) <= MAX_DEPTH + 10);
            assert_eq!(document.text().as_ref(), "startdeepend", "{tag}");
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        let bomb = format!("<math>{}", "<a>".repeat(100_000));
        assert!(matches!(parse(&bomb), Err(Unreadable::Malformed { .. })));
    }

    #[test]
    fn the_content_of_an_element_may_be_in_a_template() {
        let page = parse(
            "<my-card><template shadowrootmode=open><p>a<template>b</template><slot></slot></p></template>c</my-card><template>d</template>",
        )
        .unwrap();
        page.select("template").remove();
        assert_eq!(page.text().as_ref(), "ac");
    }

    #[test]
    fn formatting_that_is_opened_again_and_again_is_bounded() {
        let fonts: String = (0..400).map(|number| format!("<font size={number}>")).collect();
        let bomb = format!("{fonts}{}", "<p>x".repeat(100_000));
        assert!(matches!(parse(&bomb), Err(Unreadable::Malformed { .. })));
        assert!(matches!(
            parse(&"<br>".repeat(600_000)),
            Err(Unreadable::Malformed { .. })
        ));
    }

    #[test]
    fn one_tag_of_megabytes_is_refused_before_it_is_parsed() {
        let attributes: String = (0..900_000).map(|number| format!(" a{number}")).collect();
        assert!(matches!(
            parse(&format!("<p{attributes}>x")),
            Err(Unreadable::Malformed { .. })
        ));
    }

    #[test]
    fn a_line_of_fifty_megabytes_is_read() {
        let line = "word ".repeat(10_000_000);
        assert_eq!(text(&format!("<p>{line}</p>")).len(), line.len());
    }

    #[test]
    fn empty_elements_of_xhtml_end_at_once() {
        let page = parse(
            "<?xml version=\"1.0\"?><html><body><div id=\"x\"/><p>a</p><script src=\"s\"/><p>b</p></body></html>",
        )
        .unwrap();
        assert_eq!(page.text().as_ref(), "ab");
        assert!(page.select("div p").is_empty());
    }
}
