//! SVG drawings: their labels are text of the page, their shapes are not.

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind, Token};

/// Elements that end an open drawing in browsers.
const ENDS_DRAWING: [&str; 20] = [
    "body",
    "blockquote",
    "div",
    "dl",
    "dd",
    "dt",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
];
/// Elements whose text browsers do not show.
const SILENT: [&str; 12] = [
    "title", "desc", "metadata", "style", "script", "defs", "symbol", "clippath", "mask", "pattern", "marker",
    "template",
];
/// Attributes that put a part of a label in a place of its own.
const PLACES: [&str; 4] = ["x", "y", "dx", "dy"];

/// What a token of a page belongs to.
pub(super) enum Part {
    Page,
    /// A shape, or text that no browser shows.
    Shape,
    Label(StrTendril),
}

/// The drawings that are open.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    open: usize,
    /// Whether assistive programs pass over it: what it says is beside it.
    is_decoration: bool,
    labels: usize,
    /// Open parts with HTML.
    foreign: usize,
    silent: usize,
    /// Open elements that show the first of their parts, and whether it has been shown.
    choices: usize,
    is_chosen: bool,
}

impl Drawing {
    pub(super) fn part(&mut self, token: &Token) -> Part {
        match token {
            Token::TagToken(tag) => self.tag(tag),
            _ if self.open == 0 => Part::Page,
            Token::EOFToken => Part::Page,
            Token::CharacterTokens(text) if self.shows_text() => Part::Label(text.clone()),
            _ => Part::Shape,
        }
    }

    fn shows_text(&self) -> bool {
        self.labels + self.foreign > 0 && self.silent == 0 && !self.is_decoration
    }

    fn tag(&mut self, tag: &Tag) -> Part {
        let is_start = tag.kind == TagKind::StartTag;
        let name: &str = &tag.name;
        if name == "svg" {
            if is_start && self.open == 0 {
                self.is_decoration = has(tag, "aria-hidden", "true");
            }
            step(&mut self.open, tag);
            if self.open == 0 {
                *self = Self::default();
            }
            return Part::Shape;
        }
        if self.open == 0 {
            return Part::Page;
        }
        if is_start && self.foreign == 0 && ENDS_DRAWING.contains(&name) {
            *self = Self::default();
            return Part::Page;
        }
        let was_text = self.shows_text();
        match name {
            "foreignobject" => {
                step(&mut self.foreign, tag);
                self.is_chosen |= self.choices > 0 && !is_start;
            }
            "switch" => {
                step(&mut self.choices, tag);
                self.is_chosen &= self.choices > 0;
            }
            "text" if !self.is_chosen => step(&mut self.labels, tag),
            silent if SILENT.contains(&silent) => step(&mut self.silent, tag),
            _ => {}
        }
        let is_apart = match name {
            "tspan" | "textpath" => tag
                .attrs
                .iter()
                .any(|attribute| PLACES.contains(&&*attribute.name.local)),
            "foreignobject" | "text" | "br" | "td" => true,
            other => self.foreign > 0 && ENDS_DRAWING.contains(&other),
        };
        match is_apart && (was_text || self.shows_text()) {
            true => Part::Label(StrTendril::from_slice(" ")),
            false => Part::Shape,
        }
    }
}

fn step(count: &mut usize, tag: &Tag) {
    *count = match tag.kind {
        TagKind::StartTag => *count + usize::from(!tag.self_closing),
        TagKind::EndTag => count.saturating_sub(1),
    };
}

fn has(tag: &Tag, name: &str, value: &str) -> bool {
    let mut attributes = tag.attrs.iter();
    attributes.any(|attribute| &*attribute.name.local == name && &*attribute.value == value)
}

#[cfg(test)]
mod tests {
    use crate::formats::html::{collapse, tree};

    fn text(html: &str) -> String {
        collapse(&tree::parse(html).unwrap().text())
    }

    #[test]
    fn labels_are_text_and_shapes_are_not() {
        for (html, expected) in [
            (
                "<svg><title>t</title><defs><text>d</text></defs><rect/><text>one<title>x</title> two</text><text>three</text></svg>",
                "one two three",
            ),
            ("<svg><text>syn<tspan>tax</tspan></text></svg>", "syntax"),
            (
                "<svg><text><tspan x=0>one</tspan><tspan x=0 dy=9>two</tspan></text></svg>",
                "one two",
            ),
            (
                "<svg><foreignObject><div>one</div><div>t<b>w</b>o</div></foreignObject></svg>",
                "one two",
            ),
            (
                "<svg><switch><foreignObject><p>once</p></foreignObject><text>once</text></switch><text>more</text></svg>",
                "once more",
            ),
            ("<svg aria-hidden=true><text>icon</text></svg>", ""),
            ("<svg><style>a{}</style><path d='M0'/></svg>", ""),
        ] {
            let around = |inner: &str| format!("a {inner} b");
            assert_eq!(text(&around(html)), collapse(&around(expected)), "{html}");
        }
    }

    #[test]
    fn a_drawing_ends_before_the_next_block() {
        assert_eq!(text("<svg><path d='M0'><text>x<h2>b</h2><p>c</p>"), "xbc");
        assert_eq!(text("<h2><svg/>b</h2><p>c</p>"), "bc");
    }
}
