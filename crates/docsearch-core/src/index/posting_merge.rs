//! Plans which segments of postings are rewritten, so that a project has few and writing stays near linear.
//!
//! Segments have tiers by their number of sections, each [`FAN_OUT`] times as large as the one below. [`FAN_OUT`]
//! segments of a tier are merged into one of the next, as in a log-structured merge tree: a section is written once
//! for each tier.

use std::ops::RangeInclusive;

use crate::index::postings::MAX_SEGMENT_SECTIONS;

/// Segments of a tier that are merged into one.
pub const FAN_OUT: usize = 8;
/// Sections of a segment in the first tier.
const FIRST_TIER: usize = 512;
/// Sections from which on a segment is not merged: two of them may not fit into one.
const FULL: usize = MAX_SEGMENT_SECTIONS / 2;
/// Share of superseded documents from which on a segment is rewritten: searches still read them.
const MAX_SUPERSEDED: f64 = 0.25;

/// A segment, as merging sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentState {
    /// Its number.
    pub segment: i32,
    /// Number of its sections.
    pub sections: usize,
    /// Number of its documents.
    pub documents: usize,
    /// Its first document.
    pub first_document: i64,
    /// Its last document.
    pub last_document: i64,
    /// Documents whose entries do not count any more, ascending. Some may have no section in it.
    pub superseded: Vec<i64>,
}

impl SegmentState {
    /// Whether it is consistent, as every stored segment is.
    pub fn is_possible(&self) -> bool {
        (1..=self.sections).contains(&self.documents)
            && self.sections <= MAX_SEGMENT_SECTIONS
            && self.first_document <= self.last_document
            && self.superseded.is_sorted_by(|a, b| a < b)
    }

    fn range(&self) -> RangeInclusive<i64> {
        self.first_document..=self.last_document
    }

    /// Estimated number of sections that count.
    fn live(&self) -> usize {
        let documents = self.documents.max(1);
        let live = documents.saturating_sub(self.superseded.len());
        self.sections.saturating_mul(live).div_ceil(documents)
    }

    fn is_mostly_superseded(&self) -> bool {
        self.superseded.len() as f64 > self.documents as f64 * MAX_SUPERSEDED
    }
}

/// Changes to the segments of a project when documents are written to a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergePlan {
    /// The segments whose documents go to the new one, too.
    pub rewritten: Vec<SegmentState>,
    /// Other segments with documents of the new one, and all that is superseded in them.
    pub superseded: Vec<(i32, Vec<i64>)>,
}

/// Plans a merge. `written` are the documents of the new segment, ascending; `sections` is the number of their
/// sections.
pub fn plan(segments: Vec<SegmentState>, written: &[i64], sections: usize) -> MergePlan {
    let (mut rewritten, mut left): (Vec<_>, Vec<_>) = segments
        .into_iter()
        .map(|mut segment| (supersede(&mut segment, written), segment))
        .partition(|(_, segment)| segment.is_mostly_superseded());
    let live = rewritten.iter().map(|(_, segment)| segment.live()).sum::<usize>();
    let mut total = sections.saturating_add(live);
    left.sort_by_key(|(_, segment)| segment.live());
    // Nothing is written if all was deleted.
    while total > 0 && total < FULL {
        let tier = tier(total);
        let small = left.partition_point(|(_, segment)| self::tier(segment.live()) < tier);
        let same = left.partition_point(|(_, segment)| self::tier(segment.live()) <= tier);
        let taken = if same - small + 1 < FAN_OUT { small } else { same };
        let mut fitting = 0;
        for (_, segment) in &left[..taken] {
            if total + segment.live() > MAX_SEGMENT_SECTIONS {
                break;
            }
            total += segment.live();
            fitting += 1;
        }
        rewritten.extend(left.drain(..fitting));
        if fitting == 0 || fitting < taken {
            break;
        }
    }
    MergePlan {
        rewritten: rewritten.into_iter().map(|(_, segment)| segment).collect(),
        superseded: left
            .into_iter()
            .filter_map(|(changed, segment)| changed.then_some((segment.segment, segment.superseded)))
            .collect(),
    }
}

/// The tier of a segment. Full ones are above all tiers.
fn tier(sections: usize) -> usize {
    if sections >= FULL {
        return usize::MAX;
    }
    let mut tier = 0;
    let mut bound = FIRST_TIER;
    while sections >= bound {
        tier += 1;
        bound = bound.saturating_mul(FAN_OUT);
    }
    tier
}

/// Marks written documents as superseded in a segment that may have them. Returns whether any are new.
fn supersede(segment: &mut SegmentState, written: &[i64]) -> bool {
    let range = segment.range();
    let from = written.partition_point(|document| document < range.start());
    let to = written.partition_point(|document| document <= range.end());
    let before = segment.superseded.len();
    segment.superseded.extend(written.get(from..to).unwrap_or_default());
    segment.superseded.sort_unstable();
    segment.superseded.dedup();
    segment.superseded.len() > before
}

#[cfg(test)]
mod tests;
