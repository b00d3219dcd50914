//! Titles as queries: what they say, and where they are repeated.

use std::collections::HashMap;
use std::ops::Range;

use super::SourcePage;
use super::hiding::Edit;
use super::phrase::{Corpus, MAX_WORDS, MIN_CONTENT_WORDS, normalized, unnumbered};
use super::sides::stable_hash;
use crate::documents::markdown::Section;
use crate::text::identifier::split_identifier;
use crate::text::token::is_unspaced;

/// One of this number of pages may lose its title: the others have names, and compete with theirs.
const PAGES_OF_ONE: u64 = 3;
/// Marks between a name and what it is.
const DASHES: [&str; 5] = [" — ", " – ", " - ", " -- ", ": "];

/// Whether the title of a page may be hidden. That depends on nothing but its slug.
pub(super) fn may_be_hidden(page: &SourcePage) -> bool {
    !page.is_grouped && stable_hash(&["title", &page.slug]).is_multiple_of(PAGES_OF_ONE)
}

/// What a title says: the description behind a name, the whole of it, or the words of a name. `None` if that are
/// too few words.
pub(super) fn query(title: &str, corpus: &Corpus) -> Option<String> {
    let title = unnumbered(title);
    let described = DASHES
        .iter()
        .filter_map(|dash| title.split_once(dash))
        .map(|(_, rest)| rest);
    let is_split = !title.contains(|c: char| c.is_whitespace() || is_unspaced(c));
    let split = is_split.then(|| split_identifier(title).to_lowercase());
    let texts = described
        .map(str::to_owned)
        .chain([split.unwrap_or_else(|| title.to_owned())]);
    let mut said = texts.filter(|text| corpus.distinct_content_words(text).len() >= MIN_CONTENT_WORDS);
    said.next()
}

/// The lines of all pages by their words.
pub(super) struct Lines(HashMap<String, Vec<(usize, Range<usize>)>>);

impl Lines {
    pub(super) fn of(pages: &[SourcePage], wanted: impl Fn(&str) -> bool) -> Self {
        let mut lines: HashMap<String, Vec<(usize, Range<usize>)>> = HashMap::new();
        for (place, page) in pages.iter().enumerate() {
            let mut start = 0;
            for line in page.body.split_inclusive('\n') {
                let text = unnumbered(line);
                // Marks go in front of it, and white space around it.
                let at = start + line.trim_end().len() - text.len();
                start += line.len();
                if text.split(' ').nth(MAX_WORDS).is_some() {
                    continue;
                }
                let phrase = normalized(text);
                if wanted(&phrase) {
                    lines.entry(phrase).or_default().push((place, at..at + text.len()));
                }
            }
        }
        Self(lines)
    }

    /// What hides the title of a page, wherever it is: there, in lines that say nothing else, and in keywords and questions of
    /// the page.
    pub(super) fn edits(
        &self,
        place: usize,
        page: &SourcePage,
        query: &str,
        sections: &[Section],
    ) -> Vec<(usize, Edit)> {
        let phrases = phrases(page, query);
        let mut edits = vec![(place, Edit::Title)];
        for (other, range) in phrases.iter().filter_map(|phrase| self.0.get(phrase)).flatten() {
            // The headings of the page itself are hidden as such; another page with such a heading is about the same.
            let is_heading = *other == place
                && sections
                    .iter()
                    .any(|section| (section.range.start..section.body_start).contains(&range.start));
            if !is_heading {
                edits.push((
                    *other,
                    Edit::Text {
                        start: range.start,
                        end: range.end,
                    },
                ));
            }
        }
        let headings = sections.iter().filter(|section| {
            let heading = section.heading_path.last();
            heading.is_some_and(|heading| phrases.contains(&normalized(unnumbered(heading))))
        });
        edits.extend(headings.map(|section| (place, Edit::of_heading(&page.body, section))));
        let has_title = |text: &str| {
            let text = format!(" {} ", normalized(text));
            phrases.iter().any(|phrase| text.contains(&format!(" {phrase} ")))
        };
        let keywords = page
            .keywords
            .iter()
            .enumerate()
            .filter(|(_, keyword)| has_title(keyword));
        edits.extend(keywords.map(|(number, _)| (place, Edit::Keyword(number))));
        let questions = page.questions.iter().enumerate();
        let questions = questions.filter(|(_, question)| has_title(&question.question));
        edits.extend(questions.map(|(number, _)| (place, Edit::Question(number))));
        if page.summary.as_deref().is_some_and(has_title) {
            edits.push((place, Edit::Summary));
        }
        edits
    }
}

/// The words of a title, and of the query.
pub(super) fn phrases(page: &SourcePage, query: &str) -> Vec<String> {
    let mut phrases = vec![normalized(unnumbered(&page.title)), normalized(query)];
    phrases.retain(|phrase| !phrase.is_empty());
    phrases.dedup();
    phrases
}
