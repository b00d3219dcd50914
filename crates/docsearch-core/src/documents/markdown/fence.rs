//! Closes fences that are never closed.

use super::events;
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};
use std::borrow::Cow;
use std::ops::Range;

/// The document with a closing line after every fenced code block without one.
///
/// Such a block extends to the end of the document, or of its list item or quotation. Once closed, every range of
/// whole blocks is balanced.
pub fn close_fences(markdown: &str) -> Cow<'_, str> {
    let open = unclosed_fences(markdown);
    if open.is_empty() {
        return Cow::Borrowed(markdown);
    }
    let mut closed = String::with_capacity(markdown.len() + 8 * open.len());
    let mut copied = 0;
    for block in open {
        let text_end = block.start + markdown[block.clone()].trim_end().len();
        let end = markdown[text_end..]
            .find(['\r', '\n'])
            .map_or(markdown.len(), |line_end| text_end + line_end);
        closed.push_str(&markdown[copied..end]);
        closed.push('\n');
        closed.push_str(&closing_line(markdown, block.start));
        copied = end;
    }
    closed.push_str(&markdown[copied..]);
    Cow::Owned(closed)
}

fn unclosed_fences(markdown: &str) -> Vec<Range<usize>> {
    let mut open = Vec::new();
    let mut content_end = None;
    for (event, range) in events(markdown) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                let block = &markdown[range.clone()];
                content_end = Some(range.start + block.find(['\r', '\n']).unwrap_or(block.len()));
            }
            Event::Text(_) if content_end.is_some() => content_end = Some(range.end),
            Event::End(TagEnd::CodeBlock) => {
                if let Some(end) = content_end.take() {
                    let fence_char = &markdown[range.start..=range.start];
                    let tail = markdown.get(end..range.end).unwrap_or_default();
                    if !tail.contains(fence_char) {
                        open.push(range);
                    }
                }
            }
            _ => {}
        }
    }
    open
}

/// The fence of the opening line, after the prefix of the containers around it, whose list markers become spaces.
fn closing_line(markdown: &str, fence_start: usize) -> String {
    let line_start = markdown[..fence_start].rfind(['\r', '\n']).map_or(0, |end| end + 1);
    let continued = |c: char| if c == '>' || c.is_whitespace() { c } else { ' ' };
    let mut line: String = markdown[line_start..fence_start].chars().map(continued).collect();
    let fence = &markdown[fence_start..];
    let fence_char = if fence.starts_with('~') { '~' } else { '`' };
    line.extend(fence.chars().take_while(|c| *c == fence_char));
    line
}
