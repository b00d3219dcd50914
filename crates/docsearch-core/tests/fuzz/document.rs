use std::collections::HashSet;

use docsearch_core::answer::snippet::{Match, TextMatches, snippet};
use docsearch_core::documents::chunk::{ChunkLimits, DocumentChunks, chunk_document};
use docsearch_core::documents::outline::Outline;
use docsearch_core::documents::passage::{context, document_passage, embedded_text, passage};
use docsearch_core::documents::{definition, keyword, markdown as core};
use docsearch_core::text::token;
use docsearch_fuzz::text;

use crate::fields;

/// How much a text may grow when it is split into overlapping pieces with repeated headings.
const GROWTH: usize = 24;
const CONSTANT: usize = 16 * 1024;
/// The shortest length of a cut text with a note.
const LEAST_CUT: usize = 60;

pub(crate) fn markdown(input: &[u8]) {
    let text = &*text(input);
    let plain = core::plain_text(text);
    assert_bounded(plain.len(), text, 4);
    assert_eq!(plain, core::plain_text(text), "the same text twice");
    let mut end = 0;
    let mut anchors = HashSet::new();
    for section in core::sections(text) {
        assert!(section.range.start >= end && text.get(section.range.clone()).is_some());
        assert!((section.range.start..=section.range.end).contains(&section.body_start));
        assert!(text.is_char_boundary(section.body_start));
        assert!(section.level == 0 || anchors.insert(section.anchor), "an anchor twice");
        end = section.range.end;
    }
    assert!(core::lead_paragraph(text).is_none_or(|lead| lead.len() <= 4 * text.len() + 64));
    let code: usize = core::code_identifiers(text).iter().map(String::len).sum();
    assert_bounded(code, text, 4);
    let [title, body] = fields(text);
    assert!(body.get(core::without_title(body, title)).is_some());
}

pub(crate) fn chunks(input: &[u8]) {
    let text = &*text(input);
    let [title, body] = fields(text);
    let limits = ChunkLimits::default();
    // About the number of tokens of a model for English.
    let tokens = |text: &str| text.len().div_ceil(4);
    let DocumentChunks { chunks, .. } = chunk_document(title, body, None, &tokens, &limits);
    assert!(!chunks.is_empty());
    let mut size = 0;
    for (number, chunk) in chunks.iter().enumerate() {
        assert_eq!(chunk.chunk_no as usize, number);
        size += chunk.body.len() + chunk.heading_path.iter().map(String::len).sum::<usize>();
    }
    assert!(
        size <= GROWTH * text.len() + CONSTANT,
        "{} bytes give {size}",
        text.len()
    );
    let again = chunk_document(
        title,
        body,
        Some(title),
        &tokens,
        &ChunkLimits {
            max_tokens: 16,
            ..limits
        },
    );
    assert!(!again.chunks.is_empty());
}

pub(crate) fn outline(input: &[u8]) {
    let text = &*text(input);
    let outline = Outline::new(text);
    let [first, second] = fields(text);
    for wanted in [first, second, "#", "a > b"] {
        if let Some(section) = outline.find(wanted) {
            let range = outline.range(section);
            assert!(text.get(range.clone()).is_some());
            outline.neighbours(section);
            let _ = outline.cut(range, 0, 200);
        }
    }
    for section in (0..outline.sections().len()).take(20) {
        assert!(text.get(outline.range(section)).is_some());
        outline.neighbours(section);
    }
    for max_chars in [0, LEAST_CUT, 1000, text.len()] {
        let cut = outline.cut(0..text.len(), 0, max_chars).text;
        assert!(cut.chars().count() <= max_chars.max(LEAST_CUT), "cut to {max_chars}");
    }
}

pub(crate) fn passages(input: &[u8]) {
    let text = &*text(input);
    let [title, heading, inner, body] = fields(text);
    let path = [heading.to_owned(), inner.to_owned()];
    for made in [
        passage(title, &path, body),
        context(title, &path),
        document_passage(title, body),
        embedded_text(0, true, title, &path, body),
        embedded_text(1, false, title, &path, body),
    ] {
        assert_bounded(made.len(), text, 8);
    }
}

pub(crate) fn definitions(input: &[u8]) {
    let text = &*text(input);
    let size: usize = definition::definitions(text, text).keys().map(String::len).sum();
    assert_bounded(size, text, 8);
}

pub(crate) fn tokens(input: &[u8]) {
    let text = &*text(input);
    let mut whole = 0;
    let mut count = 0;
    for token in token::tokens(text) {
        assert!(text.get(token.range.clone()).is_some_and(|part| !part.is_empty()));
        if !token.inside_whole {
            assert!(token.range.start >= whole, "tokens in order");
            whole = token.range.start;
        }
        count += 1;
    }
    // Parts of names, and pairs of letters of scripts without spaces, are counted beside the whole.
    assert_bounded(count, text, 6);
    assert!(token::word_count(text) <= count);
}

pub(crate) fn keywords(input: &[u8]) {
    let text = &*text(input);
    let candidates = keyword::candidates(text);
    let idf: Vec<f32> = (0..candidates.len()).map(|place| place as f32).collect();
    let code = core::code_identifiers(text);
    assert!(keyword::select(&candidates, &idf, &code, 8).len() <= 8);
}

pub(crate) fn snippets(input: &[u8]) {
    let text = &*text(input);
    let matches: Vec<Match> = input
        .chunks(2)
        .take(64)
        .map(|pair| Match {
            position: u16::from(pair[0]) * u16::from(*pair.last().unwrap_or(&1)),
            term: usize::from(pair[0] % 8),
            weight: f32::from(pair[0]),
        })
        .collect();
    let marked: Vec<(u16, bool)> = matches.iter().map(|found| (found.position, found.term > 1)).collect();
    let matches = TextMatches::of(text, &matches, &marked);
    for max_chars in [0, 1, 40, 400] {
        let cut = snippet(text, &matches, max_chars);
        let length = cut.text.chars().count();
        assert!(length <= max_chars + 8, "{max_chars} characters: {cut:?}");
        let mut before = 0;
        for mark in &cut.marks {
            assert!(
                before <= mark.0 && mark.0 < mark.1 && mark.1 as usize <= length,
                "{cut:?}"
            );
            before = mark.1;
        }
    }
}

fn assert_bounded(size: usize, text: &str, times: usize) {
    assert!(
        size <= times * text.len() + CONSTANT,
        "{} bytes give {size}",
        text.len()
    );
}
