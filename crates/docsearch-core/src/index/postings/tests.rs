use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::index::bm25::Bm25;
use crate::index::corpus::ChunkTerms;
use crate::index::lexical::Lexical;
use crate::index::statistics::{ChunkFrequencies, Totals};
use crate::postgres::tsvector::{TsVector, Weight, encode};
use crate::query::lookup::LookupTerm;
use crate::ranking::rank::chunk_lexical;
use crate::values::id::{ChunkId, DocumentId, Map, Set};

const BM25: Bm25 = Bm25 {
    k1: 1.2,
    b: 0.75,
    title: 2.0,
    heading: 1.5,
    keyword: 1.0,
    proximity: 0.4,
};

/// Words of a section: their positions, each with its field.
type Words = BTreeMap<String, Vec<(u16, u8)>>;

fn weight(field: u8) -> Weight {
    [Weight::D, Weight::C, Weight::B, Weight::A][usize::from(field % 4)]
}

fn vector(words: &Words) -> Vec<u8> {
    let words: Vec<(&str, Vec<(u16, Weight)>)> = words
        .iter()
        .map(|(word, places)| {
            (
                word.as_str(),
                places.iter().map(|&(at, field)| (at, weight(field))).collect(),
            )
        })
        .collect();
    let words: Vec<(&str, &[(u16, Weight)])> = words.iter().map(|(word, places)| (*word, places.as_slice())).collect();
    encode(&words)
}

fn words() -> impl Strategy<Value = Words> {
    let places = proptest::collection::btree_map(1u16..60, 0u8..4, 1..40);
    let places = places.prop_map(|places| places.into_iter().collect());
    proptest::collection::btree_map("[ab]{1,3}|é[a-c]", places, 0..8)
}

/// Documents with the words of their sections.
fn documents() -> impl Strategy<Value = Vec<Vec<Words>>> {
    proptest::collection::vec(proptest::collection::vec(words(), 1..4), 1..60)
}

fn sections(documents: &[Vec<Words>]) -> impl Iterator<Item = (Section, &Words)> {
    (0i64..).zip(documents).flat_map(|(document, chunks)| {
        (0i32..).zip(chunks).map(move |(chunk, words)| {
            let section = Section {
                document: document * 3,
                chunk,
                words: 10 + words.len() as u32,
                document_words: 30,
            };
            (section, words)
        })
    })
}

fn segment(documents: &[Vec<Words>]) -> Segment {
    segment_of(documents, |_| true)
}

/// Of some of the documents, by their numbers.
fn segment_of(documents: &[Vec<Words>], is_wanted: impl Fn(usize) -> bool) -> Segment {
    let mut builder = SegmentBuilder::new();
    let wanted = sections(documents).filter(|(section, _)| is_wanted(section.document as usize / 3));
    for (section, words) in wanted {
        let bytes = vector(words);
        builder.add(section, &TsVector::new(&bytes).expect("a vector"));
    }
    builder.finish()
}

fn reader(segment: &Segment, superseded: Vec<i64>, lexemes: &[&str]) -> SegmentReader {
    let mut reader = SegmentReader::new(segment.bucket_count, superseded);
    let buckets = lexemes.iter().map(|lexeme| bucket_of(lexeme, segment.bucket_count));
    let wanted: Vec<i32> = buckets.chain([SECTIONS_BUCKET]).collect();
    for block in segment.blocks.iter().filter(|block| wanted.contains(&block.bucket)) {
        reader.push(block.bucket, &block.bytes);
    }
    reader
}

fn term(lexemes: &[&str], expansions: &[(&str, f32)]) -> LookupTerm {
    LookupTerm {
        lexemes: lexemes.iter().map(|&lexeme| lexeme.to_owned()).collect(),
        spellings: Vec::new(),
        expansions: expansions
            .iter()
            .map(|&(lexeme, closeness)| (lexeme.to_owned(), closeness))
            .collect(),
        weight: 1.0,
        whole: true,
        written: true,
        text: lexemes[0].to_owned(),
        stop_word: false,
        name: false,
    }
}

fn id(section: Section) -> ChunkId {
    ChunkId {
        document: DocumentId {
            project: 1,
            document: section.document,
        },
        chunk: section.chunk,
    }
}

/// A query of several words, with the results of reading every section's own vector.
fn searched<T>(documents: &[Vec<Words>], search: impl FnOnce(&Lexical<'_>, Map<ChunkId, ChunkTerms>) -> T) -> T {
    let terms = [
        term(&["a", "ab"], &[("ba", 0.8)]),
        term(&["b"], &[]),
        term(&["éa"], &[]),
        term(&["aa"], &[("bb", 0.5)]),
    ];
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for word in sections(documents).flat_map(|(_, words)| words.keys()) {
        *counts.entry(word).or_default() += 1.0;
    }
    let rows = counts.into_iter().map(|(word, count)| (1, word.to_owned(), count));
    let totals = Map::from_iter([(1, Totals::new(100, 3_000, 200, 4_000))]);
    let frequencies = ChunkFrequencies::of_rows(rows.collect());
    let lexical = Lexical::new(&totals, &terms, &frequencies);
    let all = sections(documents).map(|(section, words)| {
        let bytes = vector(words);
        let vector = TsVector::new(&bytes).expect("a vector");
        (
            id(section),
            lexical.read(&vector, section.words as f32, section.document_words as f32),
        )
    });
    let all = all.collect();
    search(&lexical, all)
}

fn assert_same(found: &ChunkTerms, wanted: &ChunkTerms) {
    assert_eq!(format!("{found:?}"), format!("{wanted:?}"));
}

fn everything(_: &[DocumentId]) -> Result<Option<Set<DocumentId>>, ()> {
    Ok(None)
}

const LEXEMES: [&str; 7] = ["a", "ab", "ba", "b", "éa", "aa", "bb"];

proptest! {
    #[test]
    fn sections_with_a_lexeme_are_those_of_documents_that_count(
        documents in documents(), superseded in proptest::collection::vec(0i64..60, 0..9), most in 1usize..9,
    ) {
        let superseded: Vec<i64> = superseded.into_iter().map(|document| document * 3).collect();
        let segment = segment(&documents);
        for lexeme in ["a", "ab", "éa", "zz"] {
            let reader = reader(&segment, superseded.clone(), &[lexeme]);
            let having = sections(&documents).filter(|(section, words)| {
                words.contains_key(lexeme) && !superseded.contains(&section.document)
            });
            let expected: Vec<Section> = having.map(|(section, _)| section).take(most).collect();
            let mut found = Vec::new();
            reader.sections_with(lexeme, |&section| {
                found.push(section);
                found.len() < most
            });
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_is_built_is_read(documents in documents()) {
        let segment = segment(&documents);
        prop_assert!(segment.blocks.iter().all(|block| block.bytes.len() <= BLOCK_BYTES));
        prop_assert!(segment.blocks.is_sorted_by_key(|block| (block.bucket, block.part)));
        let rows = segment.blocks.iter().map(|block| (block.bucket, block.bytes.as_slice()));
        prop_assert!(super::are_in_their_buckets(rows.clone(), segment.bucket_count));
        let all = read_all(rows).expect("a segment");
        let wanted = sections(&documents).map(|(section, words)| {
            let words = words.iter().map(|(word, places)| {
                let mut counts = Counts::default();
                for (_, field) in places {
                    *[&mut counts.body, &mut counts.keyword, &mut counts.heading, &mut counts.title][usize::from(*field)] += 1;
                }
                (word.clone(), counts, places.iter().map(|(at, _)| *at).collect())
            });
            (section, words.collect())
        });
        let wanted: Vec<(Section, super::SectionWords)> = wanted.collect();
        prop_assert_eq!(all, wanted);
    }

    #[test]
    fn sections_have_of_a_query_what_their_own_vectors_have(documents in documents()) {
        let segment = segment(&documents);
        searched(&documents, |lexical, all| {
            let segments = vec![(1, reader(&segment, Vec::new(), &LEXEMES))];
            let postings = Postings::new(lexical, segments, Set::default());
            let found = postings.of_sections(all.keys().copied());
            assert_eq!(found.len(), all.len());
            found.iter().for_each(|(id, found)| assert_same(found, &all[id]));
        });
    }

    #[test]
    fn the_best_documents_are_those_of_scoring_everything(
        documents in documents(), window in 1usize..30, budget in 0i64..60, cut in 0usize..60,
        superseded in proptest::collection::btree_set(0i64..60, 0..10),
        pending in proptest::collection::btree_set(0i64..60, 0..10),
    ) {
        let segments = [segment_of(&documents, |number| number < cut), segment_of(&documents, |number| number >= cut)];
        let superseded: Vec<i64> = superseded.into_iter().map(|number| number * 3).collect();
        let pending: Set<DocumentId> =
            pending.into_iter().map(|number| DocumentId { project: 1, document: number * 3 }).collect();
        searched(&documents, |lexical, all| {
            let segments = segments.map(|segment| (1, reader(&segment, superseded.clone(), &LEXEMES)));
            let postings = Postings::new(lexical, segments, pending.clone());
            let found = postings.best(&BM25, window, budget, everything).expect("no error");
            let by_words = Bm25 { proximity: 0.0, ..BM25 };
            let rarer = lexical.within_budget(budget);
            let words: Map<ChunkId, &Words> = sections(&documents).map(|(section, words)| (id(section), words)).collect();
            let has_rarer = |id: &ChunkId| rarer.iter().any(|&word| words[id].contains_key(word));
            let score = |id: &ChunkId, terms: &ChunkTerms| match has_rarer(id) {
                true => chunk_lexical(terms, &lexical.corpora[&1], &by_words),
                false => 0.0,
            };
            let counts = |id: &DocumentId| !pending.contains(id) && !superseded.contains(&id.document);
            let mut best: BTreeMap<DocumentId, f32> = BTreeMap::new();
            for (id, terms) in all.iter().filter(|(id, _)| counts(&id.document)) {
                let known = best.entry(id.document).or_default();
                *known = known.max(score(id, terms));
            }
            let mut order: Vec<(DocumentId, f32)> = best.into_iter().filter(|(_, score)| *score > 0.0).collect();
            order.sort_by(|a, b| b.1.total_cmp(&a.1));
            // But for rounding.
            let least = order.get(window).map_or(0.0, |next| next.1 + 1e-5);
            let taken: Set<DocumentId> = found.keys().map(|id| id.document).collect();
            assert_eq!(taken.len(), order.len().min(window));
            for (document, score) in order.iter().take_while(|(_, score)| *score > least) {
                assert!(taken.contains(document), "{document:?} with {score}");
            }
            for (id, terms) in &all {
                match found.get(id) {
                    Some(found) => assert_same(found, terms),
                    None => assert!(!taken.contains(&id.document) || score(id, terms) == 0.0),
                }
            }
        });
    }

    #[test]
    fn documents_that_are_not_seen_take_no_place(documents in documents(), window in 1usize..10, budget in 0i64..60, seen in any::<u64>()) {
        let segment = segment(&documents);
        let is_seen = |id: &DocumentId| seen & 1 << (id.document / 3) != 0;
        searched(&documents, |lexical, _| {
            let postings = |pending| {
                Postings::new(lexical, vec![(1, reader(&segment, Vec::new(), &LEXEMES))], pending)
            };
            let checked = postings(Set::default()).best(&BM25, window, budget, |ids| {
                Ok::<_, ()>(Some(ids.iter().copied().filter(is_seen).collect()))
            });
            let hidden = sections(&documents).map(|(section, _)| id(section).document).filter(|id| !is_seen(id));
            let left_out = postings(hidden.collect()).best(&BM25, window, budget, everything);
            let ids = |found: Result<Map<ChunkId, ChunkTerms>, ()>| {
                let mut ids: Vec<ChunkId> = found.expect("no error").into_keys().collect();
                ids.sort();
                ids
            };
            assert_eq!(ids(checked), ids(left_out));
        });
    }

    #[test]
    fn sections_with_every_word_are_known(documents in documents()) {
        let segment = segment(&documents);
        searched(&documents, |lexical, all| {
            let segments = vec![(1, reader(&segment, Vec::new(), &LEXEMES))];
            let mut found = Postings::new(lexical, segments, Set::default()).with_every_word();
            found.sort();
            let occurring: Vec<usize> =
                (0..4).filter(|&term| lexical.of_term(term).any(|lexeme| lexeme.closeness >= 1.0)).collect();
            let has = |found: &&ChunkTerms| occurring.iter().all(|&term| found.frequencies[term].closeness >= 1.0);
            let mut wanted: Vec<ChunkId> = all.iter().filter(|(_, found)| has(found)).map(|(&id, _)| id).collect();
            wanted.sort();
            assert_eq!(found, if occurring.is_empty() { Vec::new() } else { wanted });
        });
    }

    #[test]
    fn broken_rows_are_survived(rows in proptest::collection::vec((-1i32..3, proptest::collection::vec(any::<u8>(), 0..60)), 0..6)) {
        let _ = read_all(rows.iter().map(|(bucket, bytes)| (*bucket, bytes.as_slice())));
        searched(&[vec![Words::from([("a".to_owned(), vec![(1, 0)])])]], |lexical, _| {
            let mut reader = SegmentReader::new(3, Vec::new());
            rows.iter().for_each(|(bucket, bytes)| reader.push(*bucket, bytes));
            let postings = Postings::new(lexical, vec![(1, reader)], Set::default());
            let _ = postings.best(&BM25, 3, 100, everything);
            let _ = postings.of_sections([id(Section::default())]);
        });
    }

    /// Broken within: the frame is whole, and one byte differs.
    #[test]
    fn changed_bytes_are_survived(documents in documents(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut segment = segment(&documents);
        let block = at.index(segment.blocks.len());
        let bytes = &mut segment.blocks[block].bytes;
        let place = at.index(bytes.len());
        bytes[place] = byte;
        let _ = read_all(segment.blocks.iter().map(|block| (block.bucket, block.bytes.as_slice())));
        searched(&documents, |lexical, all| {
            let segments = vec![(1, reader(&segment, Vec::new(), &LEXEMES))];
            let postings = Postings::new(lexical, segments, Set::default());
            let _ = postings.best(&BM25, 20, 100, everything);
            let _ = postings.of_sections(all.into_keys());
        });
    }
}

#[test]
fn long_lists_are_cut_into_runs_and_rows() {
    let places: Vec<(u16, u8)> = (1..100).map(|at| (at * 2, 0)).collect();
    let documents: Vec<Vec<Words>> = (0..1_000)
        .map(|_| vec![Words::from([("a".to_owned(), places.clone())])])
        .collect();
    let segment = segment(&documents);
    assert!(segment.blocks.iter().filter(|block| block.bucket >= 0).count() > 12);
    searched(&documents, |lexical, all| {
        let postings = Postings::new(lexical, vec![(1, reader(&segment, Vec::new(), &["a"]))], Set::default());
        let far: Vec<ChunkId> = all
            .keys()
            .copied()
            .filter(|id| id.document.document % 900 == 0)
            .collect();
        let found = postings.of_sections(far.iter().copied());
        assert_eq!(found.len(), far.len());
        found.iter().for_each(|(id, found)| assert_same(found, &all[id]));
    });
}

#[test]
fn a_lexeme_stays_in_its_bucket() {
    // Computed by another implementation.
    let buckets = ["button", "é", ""].map(|lexeme| bucket_of(lexeme, 1_000));
    assert_eq!(buckets, [846, 776, 890]);
    assert_eq!(bucket_of("button", 0), 0);
}
