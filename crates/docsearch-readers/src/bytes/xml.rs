//! XML of packed documents as a tree of bounded depth and size. Of entities, only those of HTML are expanded, not those that a file declares.

use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::bytes::encoding;
use crate::draft::Unreadable;

const MAX_DEPTH: usize = 256;
const MAX_NODES: usize = 1_000_000;

/// An element; names have no namespace prefix.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Node>,
}

#[derive(Debug)]
pub(crate) enum Node {
    Element(Element),
    Text(String),
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn elements(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|child| match child {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.elements().find(|child| child.name == name)
    }

    /// Its text, with white space collapsed; `None` if there is none.
    pub(crate) fn text(&self) -> Option<String> {
        let mut text = String::new();
        self.gather(&mut text);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    }

    fn gather(&self, text: &mut String) {
        for child in &self.children {
            match child {
                Node::Element(element) => element.gather(text),
                Node::Text(own) => text.push_str(own),
            }
        }
    }
}

/// The root element of `bytes`, which is part of a document of `format`.
pub(crate) fn parse(bytes: Vec<u8>, format: &'static str) -> Result<Element, Unreadable> {
    let malformed = |reason: String| Unreadable::Malformed { format, reason };
    let text = encoding::decode_html(bytes, None)?;
    let mut reader = Reader::from_str(&text);
    reader.config_mut().allow_dangling_amp = true;
    let mut open = vec![Element::default()];
    let mut nodes = 0;
    loop {
        nodes += 1;
        if nodes > MAX_NODES {
            return Err(malformed(format!("more than {MAX_NODES} XML nodes")));
        }
        match reader.read_event().map_err(|error| malformed(error.to_string()))? {
            Event::Start(tag) if open.len() > MAX_DEPTH => {
                let name = tag.local_name();
                return Err(malformed(format!(
                    "<{}> is in more than {MAX_DEPTH} elements",
                    name.as_ref()
                )));
            }
            Event::Start(tag) => open.push(element(&tag)),
            Event::Empty(tag) => push(&mut open, Node::Element(element(&tag))),
            Event::End(_) => {
                if let Some(closed) = open.pop() {
                    push(&mut open, Node::Element(closed));
                }
            }
            Event::Text(text) => push_text(&mut open, &text),
            Event::CData(text) => push_text(&mut open, &text),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(character)) => push_text(&mut open, character.encode_utf8(&mut [0; 4])),
                _ => push_text(&mut open, resolve_html5_entity(&reference).unwrap_or_default()),
            },
            Event::Eof => break,
            _ => {}
        }
    }
    let [root] = <[Element; 1]>::try_from(open).map_err(|_| malformed("an element is not closed".to_owned()))?;
    let root = root.children.into_iter().find_map(|child| match child {
        Node::Element(element) => Some(element),
        Node::Text(_) => None,
    });
    root.ok_or_else(|| malformed("XML without an element".to_owned()))
}

fn element(tag: &BytesStart<'_>) -> Element {
    let mut attributes = Vec::new();
    for attribute in tag.attributes().with_checks(false).flatten() {
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let name = attribute.key.local_name().as_ref().to_owned();
        attributes.push((name, value.map(Into::into).unwrap_or_default()));
    }
    Element {
        name: tag.local_name().as_ref().to_owned(),
        attributes,
        children: Vec::new(),
    }
}

fn push(open: &mut [Element], node: Node) {
    if let Some(parent) = open.last_mut() {
        parent.children.push(node);
    }
}

fn push_text(open: &mut [Element], text: &str) {
    let Some(parent) = open.last_mut() else {
        return;
    };
    match parent.children.last_mut() {
        Some(Node::Text(last)) => last.push_str(text),
        _ => parent.children.push(Node::Text(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Element, Unreadable> {
        parse(text.as_bytes().to_vec(), "test")
    }

    #[test]
    fn elements_have_names_without_prefix_and_their_texts() {
        let root =
            read("<?xml version='1.0'?><w:a r:id='x&amp;y'><w:b> one &lt;\n<![CDATA[&two]]> &eacute;</w:b><c/></w:a>")
                .unwrap();
        assert_eq!((root.name.as_str(), root.attribute("id")), ("a", Some("x&y")));
        assert_eq!(root.child("b").unwrap().text().unwrap(), "one < &two é");
        assert_eq!(root.child("c").unwrap().text(), None);
    }

    #[test]
    fn entities_of_the_file_are_not_expanded_and_depth_is_bounded() {
        let bomb = "<!DOCTYPE a [<!ENTITY b 'cc'><!ENTITY d '&b;&b;'>]><a>x&d;</a>";
        assert_eq!(read(bomb).unwrap().text().unwrap(), "x");
        assert!(read(&"<a>".repeat(100_000)).is_err());
        for broken in ["", "<a>", "<a></b>", "text"] {
            assert!(read(broken).is_err(), "{broken}");
        }
    }
}
