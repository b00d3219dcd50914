//! Projects that are written and merged by plans have few segments, little work, and each document counted once.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{FAN_OUT, FULL, SegmentState, plan};
use crate::index::postings::MAX_SEGMENT_SECTIONS;

/// Segments with their documents.
#[derive(Default)]
struct Project {
    segments: Vec<(SegmentState, Vec<i64>)>,
    /// Number of sections of every document that is not deleted.
    sections: BTreeMap<i64, usize>,
    /// Number of sections that were written.
    work: usize,
}

impl Project {
    fn sections_of(&self, documents: &[i64]) -> usize {
        documents
            .iter()
            .filter_map(|document| self.sections.get(document))
            .sum()
    }

    /// Writes documents to a new segment, as a merge does.
    fn merge(&mut self, written: &[i64]) {
        let states = self.segments.iter().map(|(state, _)| state.clone()).collect();
        let plan = plan(states, written, self.sections_of(written));
        let mut documents = written.to_vec();
        for state in &plan.rewritten {
            let (_, held) = self
                .segments
                .iter()
                .find(|(old, _)| old.segment == state.segment)
                .unwrap();
            let counted = |document: &&i64| state.superseded.binary_search(document).is_err();
            documents.extend(held.iter().filter(counted));
        }
        documents.sort_unstable();
        documents.dedup();
        documents.retain(|document| self.sections.contains_key(document));
        self.segments.retain(|(state, _)| {
            plan.rewritten
                .iter()
                .all(|rewritten| rewritten.segment != state.segment)
        });
        for (number, superseded) in plan.superseded {
            let (state, _) = self
                .segments
                .iter_mut()
                .find(|(state, _)| state.segment == number)
                .unwrap();
            state.superseded = superseded;
        }
        let mut number = self.segments.iter().map(|(state, _)| state.segment).max().unwrap_or(0);
        let mut rest = documents.as_slice();
        while !rest.is_empty() {
            let mut sections = 0;
            let fits = rest.iter().take_while(|document| {
                sections += self.sections[document];
                sections <= MAX_SEGMENT_SECTIONS
            });
            let (held, later) = rest.split_at(fits.count());
            rest = later;
            number += 1;
            let state = SegmentState {
                segment: number,
                sections: self.sections_of(held),
                documents: held.len(),
                first_document: held[0],
                last_document: held[held.len() - 1],
                superseded: Vec::new(),
            };
            self.work += state.sections;
            self.segments.push((state, held.to_vec()));
        }
    }

    /// Number of segments in which each document counts.
    fn counted(&self) -> BTreeMap<i64, usize> {
        let mut counted = BTreeMap::new();
        for (state, held) in &self.segments {
            for document in held {
                if state.superseded.binary_search(document).is_err() {
                    *counted.entry(*document).or_default() += 1;
                }
            }
        }
        counted
    }

    fn assert_right(&self) {
        let wanted: BTreeMap<i64, usize> = self.sections.keys().map(|document| (*document, 1)).collect();
        assert_eq!(self.counted(), wanted);
        let mut sections = 0;
        for (state, _) in &self.segments {
            assert!(state.is_possible(), "{state:?}");
            assert!(!state.is_mostly_superseded(), "{state:?}");
            sections += state.sections;
        }
        // Up to 50,000 sections there are three tiers.
        let most = 3 * (FAN_OUT - 1) + sections / FULL + 1;
        assert!(self.segments.len() <= most, "{} of {sections}", self.segments.len());
    }
}

proptest! {
    #[test]
    fn every_document_counts_once(
        steps in proptest::collection::vec(
            proptest::collection::vec((0i64..400, 0usize..60), 1..40), 1..40)
    ) {
        let mut project = Project::default();
        for step in steps {
            let mut written: Vec<i64> = step.iter().map(|(document, _)| *document).collect();
            written.sort_unstable();
            written.dedup();
            for (document, sections) in step {
                if sections == 0 {
                    project.sections.remove(&document);
                } else {
                    project.sections.insert(document, sections);
                }
            }
            project.merge(&written);
            project.assert_right();
        }
    }
}

/// A load of documents of ten sections, `at_once` at a time.
fn load(documents: i64, at_once: i64) -> Project {
    let mut project = Project::default();
    for first in (0..documents).step_by(at_once as usize) {
        let written: Vec<i64> = (first..(first + at_once).min(documents)).collect();
        project.sections.extend(written.iter().map(|document| (*document, 10)));
        project.merge(&written);
    }
    project
}

#[test]
fn a_load_writes_each_section_a_few_times() {
    for (documents, most_work, most_segments) in [(1_000, 2.2, 8), (10_000, 3.2, 14), (50_000, 4.2, 24)] {
        let project = load(documents, 32);
        project.assert_right();
        let work = project.work as f64 / (documents as f64 * 10.0);
        assert!(work <= most_work, "{documents}: {work}");
        assert!(
            project.segments.len() <= most_segments,
            "{documents}: {}",
            project.segments.len()
        );
    }
}

#[test]
fn changes_of_single_documents_are_cheap() {
    let mut project = load(4_000, 64);
    let before = project.work;
    for document in 0..800 {
        project.merge(&[document * 5]);
    }
    project.assert_right();
    let work = (project.work - before) as f64 / 8_000.0;
    assert!(work < 12.0, "{work}");
}

#[test]
fn what_is_deleted_leaves_no_segment() {
    let mut project = load(2_000, 64);
    let all: Vec<i64> = (0..2_000).collect();
    project.sections.clear();
    project.merge(&all);
    assert!(project.segments.is_empty());
}

#[test]
fn a_large_load_makes_full_segments() {
    let project = load(20_000, 20_000);
    assert_eq!(project.segments.len(), 4);
    assert_eq!(project.work, 200_000);
}
