//! Sentences that introduce an example of code.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};
use unicode_segmentation::UnicodeSegmentation;

use super::{events, plain};

/// A sentence that ends with a colon, before a block or a line of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Introduction {
    /// Byte range in the source.
    pub(crate) range: Range<usize>,
    /// The sentence without markup and without its colon.
    pub(crate) text: String,
}

/// The sentences that introduce examples, in order.
pub(crate) fn introductions(markdown: &str) -> Vec<Introduction> {
    let mut found = Vec::new();
    let mut run: Vec<(Event<'_>, Range<usize>)> = Vec::new();
    let mut before: Option<Introduction> = None;
    let mut is_prose = true;
    // Whether the next paragraph may end a sentence that code is part of.
    let mut is_after_code = false;
    for (event, range) in events(markdown) {
        if is_inline(&event) {
            run.push((event, range));
            continue;
        }
        match std::mem::take(&mut run) {
            ended if ended.is_empty() => {}
            _ if !is_prose => before = None,
            ended if is_code(&ended) => found.extend(before.take()),
            ended => {
                let is_whole = |found: &Introduction| !is_after_code || !found.text.starts_with(char::is_lowercase);
                let introducing = before_last_line_of_code(&ended);
                let last = introduction(markdown, introducing.unwrap_or(&ended)).filter(is_whole);
                before = match introducing {
                    Some(_) => {
                        found.extend(last);
                        None
                    }
                    None => last,
                };
                is_after_code = false;
            }
        }
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                found.extend(before.take());
                is_prose = false;
            }
            Event::Start(Tag::Heading { .. } | Tag::Table(_)) => {
                before = None;
                is_prose = false;
                is_after_code = false;
            }
            Event::End(TagEnd::CodeBlock) => {
                is_prose = true;
                is_after_code = true;
            }
            Event::End(TagEnd::Heading(_) | TagEnd::Table) => is_prose = true,
            _ => {}
        }
    }
    found
}

/// Whether an event is within a paragraph, or within a list item without paragraphs.
fn is_inline(event: &Event<'_>) -> bool {
    match event {
        Event::Start(Tag::Emphasis | Tag::Strong | Tag::Link { .. } | Tag::Image { .. })
        | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link | TagEnd::Image) => true,
        Event::Start(_) | Event::End(_) | Event::Rule | Event::Html(_) => false,
        _ => true,
    }
}

fn is_code(run: &[(Event<'_>, Range<usize>)]) -> bool {
    matches!(run, [(Event::Code(_), _)])
}

/// What is before the last line of a paragraph, if that is nothing but code.
fn before_last_line_of_code<'e, 'a>(run: &'e [(Event<'a>, Range<usize>)]) -> Option<&'e [(Event<'a>, Range<usize>)]> {
    match run {
        [
            before @ ..,
            (Event::SoftBreak | Event::HardBreak, _),
            (Event::Code(_), _),
        ] => Some(before),
        _ => None,
    }
}

/// The last sentence of a paragraph, if it ends with a colon.
fn introduction(markdown: &str, run: &[(Event<'_>, Range<usize>)]) -> Option<Introduction> {
    let (start, end) = (run.first()?.1.start, run.last()?.1.end);
    let source = markdown.get(start..end)?;
    let start = start + last_sentence(source, start, run);
    let mut renderer = plain::Renderer::fragment(markdown);
    for (event, range) in run {
        match event {
            Event::Text(text) if range.start < start && range.end > start => {
                let rest = text.get(start - range.start..).filter(|_| text.len() == range.len())?;
                renderer.event(&Event::Text(rest.into()), &(start..range.end));
            }
            _ if range.start >= start => renderer.event(event, range),
            _ => {}
        }
    }
    let text = renderer.finish();
    let text = text
        .trim_end()
        .strip_suffix([':', '：'])?
        .trim_end_matches([':', '：'])
        .trim();
    (!text.is_empty()).then(|| Introduction {
        range: start..end,
        text: text.split_whitespace().collect::<Vec<&str>>().join(" "),
    })
}

/// Where the last sentence of a paragraph begins. Sentences do not end within markup.
fn last_sentence(source: &str, start: usize, run: &[(Event<'_>, Range<usize>)]) -> usize {
    let mut masked = source.as_bytes().to_vec();
    let mut depth = 0usize;
    for (event, range) in run {
        let mask = match event {
            Event::Start(_) => {
                depth += 1;
                depth == 1
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                false
            }
            Event::Text(_) => false,
            _ => depth == 0,
        };
        if mask {
            let letter = if matches!(event, Event::SoftBreak | Event::HardBreak) {
                b' '
            } else {
                b'x'
            };
            if let Some(masked) = masked.get_mut(range.start - start..range.end - start) {
                masked.fill(letter);
            }
        }
    }
    let masked = String::from_utf8(masked).unwrap_or_default();
    masked
        .split_sentence_bound_indices()
        .map(|(at, _)| at)
        .last()
        .unwrap_or_default()
}
