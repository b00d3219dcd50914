//! The answer to a search, as `docsearch.search_answer` returns it.

use serde::Deserialize;

/// What a page shows of an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    pub(super) results: Vec<Hit>,
    pub(super) notices: Vec<Notice>,
    pub(super) tips: Vec<String>,
    pub(super) suggestions: Vec<Suggestion>,
    pub(super) confidence: Option<String>,
    pub(super) search_token: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Hit {
    pub(super) project: String,
    pub(super) slug: String,
    pub(super) title: String,
    pub(super) section: Option<String>,
    pub(super) anchor: Option<String>,
    pub(super) category: Option<String>,
    pub(super) version: Option<String>,
    pub(super) snippet: Option<String>,
    pub(super) confidence: Option<String>,
    pub(super) url: Option<String>,
    pub(super) highlights: Highlights,
}

/// Matched words: characters from and up to.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Highlights {
    pub(super) title: Vec<(usize, usize)>,
    pub(super) section: Vec<(usize, usize)>,
    pub(super) snippet: Vec<(usize, usize)>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Notice {
    pub(super) code: String,
    pub(super) message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Suggestion {
    pub(super) suggestion: String,
    pub(super) kind: String,
}

impl Answer {
    /// Whether something that is probably relevant was found.
    pub(super) fn is_relevant(&self) -> bool {
        !self.results.is_empty() && self.confidence.as_deref() != Some("low")
    }
}

impl Hit {
    pub(super) fn reference(&self) -> String {
        let anchor = self.anchor.as_deref().filter(|anchor| !anchor.is_empty());
        let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        format!("{}/{}{anchor}", self.project, self.slug)
    }
}

/// A text in parts, and whether each is matched. Ranges that are not in the text, or overlap, are ignored.
pub(super) fn parts<'t>(text: &'t str, matched: &[(usize, usize)]) -> Vec<(&'t str, bool)> {
    let byte = |characters: usize| {
        text.char_indices()
            .map(|(at, _)| at)
            .chain([text.len()])
            .nth(characters)
    };
    let mut parts = Vec::new();
    let mut done = 0;
    for (start, end) in matched {
        let (Some(start), Some(end)) = (byte(*start), byte(*end)) else {
            continue;
        };
        if start < done || end <= start {
            continue;
        }
        parts.extend([(&text[done..start], false), (&text[start..end], true)]);
        done = end;
    }
    parts.push((&text[done..], false));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn matched_words_are_parts() {
        assert_eq!(
            parts("Größe ändern", &[(0, 5), (6, 12)]),
            [("Größe", true), (" ", false), ("ändern", true)]
        );
        assert!(parts("", &[(0, 1)]).is_empty());
    }

    proptest! {
        #[test]
        fn the_parts_are_the_text(text in "\\PC{0,20}", matched in prop::collection::vec((0usize..24, 0usize..24), 0..5)) {
            let joined: String = parts(&text, &matched).into_iter().map(|(part, _)| part).collect();
            prop_assert_eq!(joined, text);
        }
    }
}
