//! The links of a document, and what their texts say.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Tag, TagEnd};

use super::{events, plain};

/// A link with a text of its own, outside of headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Byte range in the source, from the bracket on.
    pub(crate) range: Range<usize>,
    /// Its text without markup.
    pub(crate) text: String,
    /// Where it leads, as written.
    pub(crate) target: String,
}

/// The links of a document, in order. Addresses in angle brackets are their own text, and are left out.
pub(crate) fn links(markdown: &str) -> Vec<Link> {
    let mut found = Vec::new();
    let mut in_heading = false;
    let mut open: Option<(String, plain::Renderer<'_>)> = None;
    for (event, range) in events(markdown) {
        match &event {
            Event::Start(Tag::Heading { .. }) => in_heading = true,
            Event::End(TagEnd::Heading(_)) => in_heading = false,
            Event::Start(Tag::Link {
                link_type, dest_url, ..
            }) if !in_heading && !matches!(link_type, LinkType::Autolink | LinkType::Email) => {
                open = Some((dest_url.to_string(), plain::Renderer::fragment(markdown)));
            }
            Event::End(TagEnd::Link) => {
                if let Some((target, renderer)) = open.take() {
                    found.push(Link {
                        range,
                        text: renderer.finish(),
                        target,
                    });
                }
            }
            _ => {
                if let Some((_, renderer)) = &mut open {
                    renderer.event(&event, &range);
                }
            }
        }
    }
    found
}
