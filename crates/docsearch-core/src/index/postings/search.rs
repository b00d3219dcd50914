//! Searches postings: the sections with words of a query, and their terms.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use super::list::List;
use super::reader::ListPlace;
use super::{Section, SegmentReader};
use crate::index::bm25::{Bm25, Frequencies, Lexeme};
use crate::index::corpus::{ChunkTerms, Corpus};
use crate::index::lexical::{Lexical, NEAR_WORDS};
use crate::values::id::{ChunkId, DocumentId, Map, Set};
use crate::values::interrupt;

/// The postings of the words of a query in some projects.
#[derive(Debug)]
pub struct Postings<'a> {
    lexical: &'a Lexical<'a>,
    segments: Rc<[(i64, SegmentReader)]>,
    /// Of each segment, where the lists of the query's lexemes are.
    places: Vec<Map<&'a str, ListPlace>>,
    /// Documents written since. Their postings in segments do not count.
    pending: Rc<Set<DocumentId>>,
}

/// Positions of a word, by section.
type Occurrences = Vec<(usize, u16)>;

/// A document in a segment.
struct SegmentDocument {
    /// The score of its best section.
    score: f32,
    best: ChunkId,
    segment: usize,
    /// Range of its sections among those of the segment with a score.
    sections: Range<usize>,
}

/// Sections of a segment, ascending, with their scores.
#[derive(Default)]
struct Scores {
    numbers: Vec<u32>,
    scores: Vec<f32>,
}

impl<'a> Postings<'a> {
    /// Combines segments, with their projects, and pending documents. Several queries may share them.
    pub fn new(
        lexical: &'a Lexical<'a>,
        segments: impl Into<Rc<[(i64, SegmentReader)]>>,
        pending: impl Into<Rc<Set<DocumentId>>>,
    ) -> Self {
        let segments = segments.into();
        let lexemes: BTreeSet<&str> = lexical.occurring().collect();
        let places = |(_, reader): &(i64, SegmentReader)| {
            let lexemes = lexemes.iter().copied();
            lexemes
                .filter_map(|lexeme| Some((lexeme, reader.place(lexeme)?)))
                .collect()
        };
        Self {
            lexical,
            places: segments.iter().map(places).collect(),
            segments,
            pending: pending.into(),
        }
    }

    /// The list of one of the query's lexemes in a segment.
    fn list(&self, segment: usize, lexeme: &str) -> Option<List<'_>> {
        let place = self.places[segment].get(lexeme)?;
        Some(self.segments[segment].1.at(place))
    }

    /// The `window` documents with the best sections, with the terms of all their sections that have one of the
    /// query's rarer words: those within `budget`, see [`Lexical::within_budget`]. (If sections with common words
    /// also count, long pages gain: ray-docs-pages lost .013 of nDCG@10.) The nearness of words does not affect the
    /// choice. `seen` returns which documents count; `None` means all.
    pub fn best<E>(
        &self,
        bm25: &Bm25,
        window: usize,
        budget: i64,
        mut seen: impl FnMut(&[DocumentId]) -> Result<Option<Set<DocumentId>>, E>,
    ) -> Result<Map<ChunkId, ChunkTerms>, E> {
        let rarer: Set<&str> = self.lexical.within_budget(budget).into_iter().collect();
        let mut found: Vec<SegmentDocument> = Vec::new();
        let mut scores: Vec<Scores> = Vec::new();
        for (segment, (project, reader)) in self.segments.iter().enumerate() {
            let of_segment = match self.lexical.corpora.get(project) {
                Some(corpus) => self.scores((segment, reader), corpus, bm25, &rarer),
                None => Scores::default(),
            };
            self.documents(segment, &of_segment, &mut found);
            scores.push(of_segment);
        }
        let mut wanted: Vec<Vec<u32>> = vec![Vec::new(); self.segments.len()];
        let (mut rest, mut left) = (found.as_mut_slice(), window);
        while left > 0 && !rest.is_empty() {
            let count = best_first(rest, window);
            let next;
            (next, rest) = rest.split_at_mut(count);
            let ids: Vec<DocumentId> = next.iter().map(|found| found.best.document).collect();
            let seen = seen(&ids)?;
            let is_seen =
                |found: &&mut SegmentDocument| seen.as_ref().is_none_or(|seen| seen.contains(&found.best.document));
            for document in next.iter_mut().filter(is_seen).take(left) {
                let of_segment = &scores[document.segment];
                let with_words = document
                    .sections
                    .clone()
                    .filter(|&index| of_segment.scores[index] > 0.0);
                wanted[document.segment].extend(with_words.map(|index| of_segment.numbers[index]));
                left -= 1;
            }
        }
        Ok(self.read(wanted))
    }

    /// The sections of documents that are not pending and that have every word of the query as it is written, as far
    /// as it occurs.
    pub fn with_every_word(&self) -> Vec<ChunkId> {
        let mut all = Vec::new();
        for (segment, (project, reader)) in self.segments.iter().enumerate() {
            let words = self.lexical.written().iter().filter_map(|&term| {
                let own = self.lexical.of_term(term).filter(|lexeme| lexeme.closeness >= 1.0);
                let mut own = own
                    .map(|lexeme| self.list(segment, lexeme.text).unwrap_or_default())
                    .peekable();
                own.peek().is_some().then(|| own.collect::<Vec<List<'_>>>())
            });
            let mut words: Vec<Vec<List<'_>>> = words.collect();
            // The rarest first: runs of the others without it are skipped.
            words.sort_by_key(|lists| lists.iter().map(|list| list.0.len()).sum::<usize>());
            let mut left: Option<Vec<u32>> = None;
            for lists in words {
                let mut found: Vec<u32> = Vec::new();
                for list in &lists {
                    match &left {
                        None => list.each(|number, _| found.push(number)),
                        Some(left) => list.each_of(left, false, |index, _, _| found.push(left[index])),
                    }
                }
                if lists.len() > 1 {
                    found.sort_unstable();
                    found.dedup();
                }
                left = Some(found);
            }
            let sections = left.unwrap_or_default().into_iter();
            let sections = sections.filter_map(|number| reader.sections().get(number));
            let ids = sections.map(|section| section_id(*project, &section));
            all.extend(ids.filter(|id| !self.pending.contains(&id.document) && reader.counts(id.document.document)));
        }
        all
    }

    /// The pending documents.
    pub fn pending(&self) -> &Set<DocumentId> {
        &self.pending
    }

    /// The terms of some sections. Sections that are in no segment or do not count are left out.
    pub fn of_sections(&self, ids: impl IntoIterator<Item = ChunkId>) -> Map<ChunkId, ChunkTerms> {
        let mut wanted: Vec<Vec<u32>> = vec![Vec::new(); self.segments.len()];
        for id in ids {
            let DocumentId { project, document } = id.document;
            if self.pending.contains(&id.document) {
                continue;
            }
            for (wanted, (_, reader)) in wanted
                .iter_mut()
                .zip(self.segments.iter())
                .filter(|(_, (of, reader))| *of == project && reader.counts(document))
            {
                let number = reader.number(document, id.chunk);
                wanted.extend(number.and_then(|number| u32::try_from(number).ok()));
            }
        }
        self.read(wanted)
    }

    /// The sections of a segment with one of the `rarer` lexemes, ascending, with their scores. These are those of
    /// [`crate::ranking::rank::chunk_lexical`] without nearness and without the cap at 1, but for rounding.
    fn scores(
        &self,
        (segment, reader): (usize, &SegmentReader),
        corpus: &Corpus,
        bm25: &Bm25,
        rarer: &Set<&str>,
    ) -> Scores {
        let mut numbers: Vec<u32> = Vec::new();
        for list in rarer.iter().filter_map(|lexeme| self.list(segment, lexeme)) {
            list.each(|number, _| numbers.push(number));
        }
        numbers.retain(|&number| (number as usize) < reader.sections().len());
        numbers.sort_unstable();
        numbers.dedup();
        let mut scores = vec![0.0f32; numbers.len()];
        let attainable: f32 = corpus.terms.iter().map(|term| bm25.attainable(term.idf)).sum();
        if attainable <= 0.0 {
            return Scores { numbers, scores };
        }
        let sections = numbers.iter().map(|&number| reader.sections().at(number));
        let norms: Vec<f32> = sections
            .map(|section| bm25.norm(section.words as f32, corpus.average_chunk))
            .collect();
        let mut several: Vec<(usize, bool, Frequencies)> = Vec::new();
        for (term, weight) in corpus.terms.iter().enumerate() {
            interrupt::check();
            let most = bm25.attainable(weight.idf) / attainable;
            let mut add = |index: usize, share: f32, frequency: f32| {
                scores[index] += share * frequency / (frequency + norms[index]);
            };
            let lists = self.lexical.of_term(term);
            let mut lists = lists.filter_map(|lexeme| Some((lexeme, self.list(segment, lexeme.text)?)));
            let Some((first_lexeme, first)) = lists.next() else {
                continue;
            };
            let Some(second) = lists.next() else {
                let share = first_lexeme.closeness * most;
                first.each_of(&numbers, false, |index, counts, _| {
                    add(index, share, counts.weighted(bm25))
                });
                continue;
            };
            several.clear();
            for (lexeme, list) in [(first_lexeme, first), second].into_iter().chain(lists) {
                let is_folded = lexeme.is_folded();
                list.each_of(&numbers, false, |index, counts, _| {
                    several.push((index, is_folded, counts.frequencies(lexeme.closeness)));
                });
            }
            several.sort_unstable_by_key(|(index, is_folded, _)| (*index, *is_folded));
            for same in several.chunk_by(|a, b| a.0 == b.0) {
                let mut sum = Frequencies::default();
                for (_, is_folded, found) in same {
                    if *is_folded {
                        sum.fold(found);
                    } else {
                        sum.add(found);
                    }
                }
                add(same[0].0, sum.closeness * most, sum.weighted(bm25));
            }
        }
        Scores { numbers, scores }
    }

    /// The documents of a segment that count and have one of the words.
    fn documents(&self, segment: usize, of_segment: &Scores, found: &mut Vec<SegmentDocument>) {
        let (project, reader) = &self.segments[segment];
        let section = |number: u32| reader.sections().at(number);
        let mut from = 0;
        for numbers in of_segment
            .numbers
            .chunk_by(|&a, &b| section(a).document == section(b).document)
        {
            let sections = from..from + numbers.len();
            from = sections.end;
            let own = of_segment.scores[sections.clone()].iter().enumerate();
            let best = own.reduce(|a, b| if *b.1 > *a.1 { b } else { a });
            let Some((index, &score)) = best.filter(|(_, score)| **score > 0.0) else {
                continue;
            };
            let best = section_id(*project, &section(numbers[index]));
            if self.pending.contains(&best.document) || !reader.counts(best.document.document) {
                continue;
            }
            found.push(SegmentDocument {
                score: score.min(1.0),
                best,
                segment,
                sections,
            });
        }
    }

    /// The terms of the sections with these numbers, by segment.
    fn read(&self, wanted: Vec<Vec<u32>>) -> Map<ChunkId, ChunkTerms> {
        let mut all = Map::default();
        for ((segment, (project, reader)), mut wanted) in self.segments.iter().enumerate().zip(wanted) {
            wanted.sort_unstable();
            wanted.dedup();
            for (&number, terms) in wanted.iter().zip(self.terms((segment, reader), &wanted)) {
                all.insert(section_id(*project, &reader.sections().at(number)), terms);
            }
        }
        all
    }

    /// The terms of sections of a segment, as [`Lexical::read`] computes them.
    fn terms(&self, (segment, reader): (usize, &SegmentReader), wanted: &[u32]) -> Vec<ChunkTerms> {
        let sections = wanted.iter().map(|&number| reader.sections().at(number));
        let mut found: Vec<ChunkTerms> = sections
            .map(|section| ChunkTerms {
                length: section.words as f32,
                document_length: section.document_words as f32,
                near: 0.0,
                frequencies: vec![Frequencies::default(); self.lexical.term_count()],
            })
            .collect();
        // Positions of a term and of the one before it in the query, by section, ascending.
        let (mut occurrences, mut before) = (Occurrences::new(), Occurrences::new());
        let mut written = self.lexical.written().iter().copied().peekable();
        let pairs = self.lexical.written().len().saturating_sub(1);
        for term in 0..self.lexical.term_count() {
            interrupt::check();
            occurrences.clear();
            let is_written = written.next_if_eq(&term).is_some();
            let mut lists = 0;
            let lexemes = self.lexical.of_term(term);
            let (folded, others): (Vec<&Lexeme<'_>>, Vec<_>) = lexemes.partition(|lexeme| lexeme.is_folded());
            for lexeme in others.into_iter().chain(folded) {
                let Some(list) = self.list(segment, lexeme.text) else {
                    continue;
                };
                lists += 1;
                list.each_of(wanted, is_written && pairs > 0, |index, counts, positions| {
                    let counts = counts.frequencies(lexeme.closeness);
                    let of_term = &mut found[index].frequencies[term];
                    if lexeme.is_folded() {
                        of_term.fold(&counts);
                    } else {
                        of_term.add(&counts);
                    }
                    occurrences.extend(positions.iter().map(|&position| (index, position)));
                });
            }
            if !is_written {
                continue;
            }
            if lists > 1 {
                occurrences.sort_unstable();
            }
            each_near(&before, &occurrences, |index| found[index].near += 1.0);
            std::mem::swap(&mut occurrences, &mut before);
        }
        if pairs > 0 {
            found.iter_mut().for_each(|found| found.near /= pairs as f32);
        }
        found
    }
}

fn section_id(project: i64, section: &Section) -> ChunkId {
    ChunkId {
        document: DocumentId {
            project,
            document: section.document,
        },
        chunk: section.chunk,
    }
}

/// Moves the best to the front, in order. Returns their number: `most`, or all.
fn best_first(found: &mut [SegmentDocument], most: usize) -> usize {
    let order = |a: &SegmentDocument, b: &SegmentDocument| b.score.total_cmp(&a.score).then(a.best.cmp(&b.best));
    let count = most.clamp(1, found.len());
    if count < found.len() {
        found.select_nth_unstable_by(count - 1, order);
    }
    found[..count].sort_unstable_by(order);
    count
}

/// Calls back with each section where two words are near each other. Both lists are ascending.
fn each_near(before: &[(usize, u16)], occurrences: &[(usize, u16)], mut call: impl FnMut(usize)) {
    let mut others = before.chunk_by(|a, b| a.0 == b.0).peekable();
    for own in occurrences.chunk_by(|a, b| a.0 == b.0) {
        let section = own[0].0;
        while others.next_if(|others| others[0].0 < section).is_some() {}
        let Some(others) = others.next_if(|others| others[0].0 == section) else {
            continue;
        };
        let mut from = 0;
        let is_near = own.iter().any(|&(_, position)| {
            while others
                .get(from)
                .is_some_and(|&(_, other)| other + NEAR_WORDS < position)
            {
                from += 1;
            }
            others
                .get(from)
                .is_some_and(|&(_, other)| other <= position + NEAR_WORDS)
        });
        if is_near {
            call(section);
        }
    }
}
