//! Which of several sections in a chunk has the words of a query.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::answer::snippet::{Match, Snippet, TextMatches, around, beginning_at};
use crate::documents::chunk_section::ChunkText;
use crate::text::form::Form;
use crate::text::token::{TokenKind, tokens};

/// How much more a word counts in a heading than in the text below it. Chosen, not measured.
const HEADING_WEIGHT: f32 = 1.5;

/// Words of the query in the title of a document and in the headings of a chunk that its text does not have.
#[derive(Clone, Debug, Default)]
pub struct MatchesAbove {
    /// In the title: the index of each query term, and its weight.
    pub title: Vec<(usize, f32)>,
    /// In the headings.
    pub headings: Vec<(usize, f32)>,
    /// Share of the words of the last heading, or else of the title, 0 to 1.
    pub share: f32,
}

impl MatchesAbove {
    /// The matches in a title, and in the headings of a chunk, of which `last` is the last.
    pub fn of(title: &str, in_title: &[Match], last: Option<&str>, in_headings: &[Match]) -> Self {
        let terms = |found: &[Match]| found.iter().map(|found| (found.term, found.weight)).collect();
        let (text, found) = last.map_or((title, in_title), |last| (last, in_headings));
        let places: BTreeSet<u16> = found.iter().map(|found| found.position).collect();
        let form = Form::of(text);
        let words = tokens(form.text()).filter(|token| token.kind != TokenKind::Gap).count();
        Self {
            title: terms(in_title),
            headings: terms(in_headings),
            share: (places.len() as f32 / words.max(1) as f32).min(1.0),
        }
    }
}

/// A [`Snippet`] of a section of a chunk: around the matches that it has, or else its beginning.
pub fn section_snippet(text: &ChunkText, section: usize, matches: &TextMatches, max_chars: usize) -> Snippet {
    let whole = || around(&text.plain, &matches.spans, matches, max_chars);
    let Some(range) = text.sections.get(section).map(|section| section.range.clone()) else {
        return whole();
    };
    let own = matches.spans.iter().filter(|(place, _)| range.contains(&place.start));
    let own: Vec<(Range<usize>, Match)> = own.cloned().collect();
    match own.is_empty() && section > 0 {
        true => beginning_at(&text.plain, range.start, matches, max_chars),
        false if own.is_empty() => whole(),
        false => around(&text.plain, &own, matches, max_chars),
    }
}

/// Weights of query terms.
type Terms = BTreeMap<usize, f32>;

/// What a section has of a query.
struct Evidence {
    /// Sum of the weights of its terms.
    weight: f32,
    /// Share of the words of its heading.
    heading_share: f32,
}

/// The index of the section that has most of the query: in its heading, in the text below, and, if it has any, in the
/// headings above. Of equal ones, that whose heading says least beside the query, or else the first.
pub fn best_section(text: &ChunkText, matches: &TextMatches, above: &MatchesAbove) -> usize {
    let is_summary = text.sections.first().is_some_and(|first| first.entry.path.is_empty());
    let mut above_terms = Terms::new();
    add(&mut above_terms, in_heading(above.title.iter().copied()));
    if !is_summary {
        add(&mut above_terms, in_heading(above.headings.iter().copied()));
    }
    // The terms of the headings above a section, with the lengths of their paths.
    let mut headings: Vec<(usize, Terms)> = vec![(0, above_terms)];
    let mut best: Option<(usize, Evidence)> = None;
    let mut rest = matches.spans.as_slice();
    for (index, section) in text.sections.iter().enumerate() {
        let (own, after) = rest.split_at(rest.partition_point(|(range, _)| range.start < section.range.end));
        rest = after;
        let (heading, body) = own.split_at(own.partition_point(|(range, _)| range.start < section.heading.end));
        let depth = section.entry.path.len();
        while headings.len() > 1 && headings.last().is_some_and(|(length, _)| *length >= depth) {
            headings.pop();
        }
        let mut of_heading = Terms::new();
        add(
            &mut of_heading,
            in_heading(heading.iter().map(|(_, found)| (found.term, found.weight))),
        );
        let is_beginning = section.entry.path.is_empty() || index == 0 && section.heading.is_empty();
        if is_summary && !is_beginning && section.heading.is_empty() {
            add(&mut of_heading, in_heading(above.headings.iter().copied()));
        }
        let mut terms = of_heading.clone();
        add(&mut terms, body.iter().map(|(_, found)| (found.term, found.weight)));
        if is_beginning || !terms.is_empty() {
            let known = headings.iter().flat_map(|(_, known)| known);
            add(&mut terms, known.map(|(term, weight)| (*term, *weight)));
        }
        let own_share = share(&text.plain[section.heading.clone()], heading);
        let evidence = Evidence {
            weight: terms.values().sum(),
            heading_share: if is_beginning {
                own_share.max(above.share)
            } else {
                own_share
            },
        };
        if best.as_ref().is_none_or(|(_, known)| evidence.is_more_than(known)) {
            best = Some((index, evidence));
        }
        headings.push((depth, of_heading));
    }
    best.map_or(0, |(index, _)| index)
}

/// Terms as those of a heading.
fn in_heading(terms: impl Iterator<Item = (usize, f32)>) -> impl Iterator<Item = (usize, f32)> {
    terms.map(|(term, weight)| (term, HEADING_WEIGHT * weight))
}

impl Evidence {
    fn is_more_than(&self, other: &Self) -> bool {
        let order = self.weight.total_cmp(&other.weight);
        order.then(self.heading_share.total_cmp(&other.heading_share)).is_gt()
    }
}

/// Adds terms; each counts once, with its greatest weight.
fn add(terms: &mut Terms, found: impl Iterator<Item = (usize, f32)>) {
    for (term, weight) in found {
        let known = terms.entry(term).or_default();
        *known = known.max(weight);
    }
}

/// The share of the words of a heading that are those of the query.
fn share(heading: &str, found: &[(Range<usize>, Match)]) -> f32 {
    let form = Form::of(heading);
    let indexed = tokens(form.text()).filter(|token| token.kind != TokenKind::Gap);
    // The parts of an identifier follow it.
    let words: BTreeSet<usize> = indexed.map(|token| token.range.start).collect();
    let matched: BTreeSet<usize> = found.iter().map(|(range, _)| range.start).collect();
    match words.len() {
        0 => 0.0,
        words => matched.len() as f32 / words as f32,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::documents::chunk::{ChunkLimits, chunk_document};
    use crate::documents::chunk_section::SectionEntry;

    /// The words of a text as they are indexed, with their positions.
    fn words_of(text: &str) -> impl Iterator<Item = (u16, String)> {
        let indexed = tokens(text).filter(|token| token.kind != TokenKind::Gap);
        (1..).zip(indexed.map(|token| text[token.range].to_lowercase()))
    }

    /// The section that is shown for a query in the chunk that has most of its words.
    fn found(title: &str, page: &str, query: &str) -> (String, String) {
        let words = |text: &str| text.split_whitespace().count();
        let chunks = chunk_document(title, page, None, &words, &ChunkLimits::default()).chunks;
        let read = chunks.iter().map(|chunk| {
            let start = SectionEntry {
                path: chunk.heading_path.clone(),
                anchor: chunk.anchor.clone(),
            };
            let text = ChunkText::of(&chunk.body, start, chunk.sections.clone());
            let terms: Vec<String> = words_of(query).map(|(_, word)| word).collect();
            let places = |text: &str| {
                let found = words_of(text).filter_map(|(position, word)| {
                    let term = terms.iter().position(|term| *term == word)?;
                    let weight = word.len() as f32;
                    Some(Match { position, term, weight })
                });
                found.collect::<Vec<Match>>()
            };
            let matches = places(&text.plain);
            let headings = chunk.heading_path.iter().chain(chunk.also_under.iter().flatten());
            let headings = headings.map(String::as_str).collect::<Vec<_>>().join("\n");
            let last = chunk.heading_path.last().map(String::as_str);
            let above = MatchesAbove::of(title, &places(title), last, &places(&headings));
            let different = matches.iter().map(|found| found.term);
            let different = different.chain(above.title.iter().chain(&above.headings).map(|(term, _)| *term));
            let different: BTreeSet<usize> = different.collect();
            let in_text = TextMatches::of(&text.plain, &matches, &[]);
            let section = text.sections[best_section(&text, &in_text, &above)].clone();
            (different.len(), section)
        });
        let best = read.rev().max_by_key(|(terms, _)| *terms);
        let SectionEntry { path, anchor } = best.expect("a chunk").1.entry;
        (path.join(" > "), anchor)
    }

    const ERRORS: &str = "# Errors of the kit\n\nWhat they mean.\n\n## ORA-01127\n\nThe name is too long.\n\n\
        ## ORA-01386\n\nThe cluster has expired.\n\n## ORA-02829\n\nThe cursor cannot be dropped.\n\n## Errors\n\nMore.";

    #[test]
    fn the_section_with_the_words_is_shown() {
        for (query, section) in [
            ("ORA-01127", "ora-01127"),
            ("cluster expired", "ora-01386"),
            ("kit errors expired", "ora-01386"),
            ("cursor cannot be dropped", "ora-02829"),
            ("Errors of the kit", ""),
            ("what they mean", ""),
            ("errors", "errors"),
            ("nothing here", ""),
        ] {
            assert_eq!(found("Errors of the kit", ERRORS, query).1, section, "{query}");
        }
    }

    #[test]
    fn a_query_for_a_page_leads_to_its_beginning() {
        let page = "## Options\n\nThe kiln has options.\n\n## Kiln lid\n\nShut it.";
        assert_eq!(found("Kiln", page, "kiln").1, "");
        assert_eq!(found("Kiln", page, "kiln lid").1, "kiln-lid");
        assert_eq!(found("Kiln", page, "options").1, "options");
    }

    #[test]
    fn words_of_headings_above_count_with_those_of_the_section() {
        let page = "Text.\n\n## Linux\n\n### Install\n\nApt.\n\n## Windows\n\n### Install\n\nThe setup.";
        assert_eq!(
            found("Guide", page, "install windows"),
            ("Windows > Install".to_owned(), "install-1".to_owned())
        );
        assert_eq!(found("Guide", page, "windows").1, "windows");
        assert_eq!(found("Guide", page, "install").1, "install");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn s3_53_the_name_or_a_word_of_a_section_leads_to_it(
            levels in proptest::collection::vec(1u8..5, 1..30),
            lengths in proptest::collection::vec(0usize..80, 30),
            intro in any::<bool>(),
            wanted in any::<proptest::sample::Index>(),
            by_heading in any::<bool>(),
        ) {
            let numbered = |name: &str, number: usize| {
                let letter = |value: usize| char::from(b'a' + u8::try_from(value % 26).expect("a letter"));
                format!("{name}{}{}", letter(number / 26), letter(number))
            };
            let mut page = if intro { "It begins here.\n\n".to_owned() } else { String::new() };
            for (number, level) in levels.iter().enumerate() {
                let text = vec!["some words"; lengths[number]].join(" ");
                page += &format!(
                    "{} Part {}\n\nThe {} is here. {text}\n\n",
                    "#".repeat((*level).into()), numbered("name", number), numbered("word", number)
                );
            }
            let number = wanted.index(levels.len());
            let query = match by_heading {
                true => format!("part {}", numbered("name", number)),
                false => numbered("word", number),
            };
            let (path, anchor) = found("A title", &page, &query);
            let heading = format!("Part {}", numbered("name", number));
            prop_assert_eq!(path.rsplit(" > ").next(), Some(heading.as_str()), "{}", page);
            prop_assert_eq!(anchor, heading.to_lowercase().replace(' ', "-"));
        }
    }
}
