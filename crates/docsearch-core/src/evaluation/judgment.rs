//! Judgments: which documents and sections answer a query, and how well.

use std::collections::{HashMap, HashSet};

/// That a document, or a section of it, answers a query.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Judgment {
    /// Slug of the document.
    pub slug: String,
    /// Anchor of the section; empty for the document as a whole.
    pub anchor: String,
    /// How well it answers the query. Above 0 is relevant.
    pub grade: i32,
}

/// What satisfies a judgment, once it is known which document and section it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The document, as results name it.
    pub document: String,
    /// The section; `None` for the document as a whole.
    pub section: Option<JudgedSection>,
    /// Grade of the judgment.
    pub grade: i32,
}

/// A section that is judged, or several of one chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedSection {
    /// Anchors of what is judged.
    pub anchors: Vec<String>,
    /// Anchor of the chunk that they are in.
    pub chunk: String,
}

impl Target {
    /// Whether a result shows what is judged: the result leads to the section, or to the chunk that it is in.
    pub fn is_shown_by(&self, result: &JudgedResult<'_>) -> bool {
        let is_of = |section: &JudgedSection| {
            section.chunk == result.anchor || section.anchors.iter().any(|anchor| anchor == result.anchor)
        };
        self.document == result.document && self.section.as_ref().is_none_or(is_of)
    }

    /// Anchors of what is judged; none for a document as a whole.
    pub fn anchors(&self) -> &[String] {
        self.section.as_ref().map_or(&[], |section| &section.anchors)
    }
}

/// Targets without those that no result can show apart from another: sections of one chunk are one target with the highest grade.
pub fn distinct(targets: impl IntoIterator<Item = Target>) -> Vec<Target> {
    let mut distinct: Vec<Target> = Vec::new();
    let mut places: HashMap<(String, Option<String>), usize> = HashMap::new();
    for target in targets {
        let chunk = target.section.as_ref().map(|section| section.chunk.clone());
        let Some(&place) = places.get(&(target.document.clone(), chunk.clone())) else {
            places.insert((target.document.clone(), chunk), distinct.len());
            distinct.push(target);
            continue;
        };
        let known = &mut distinct[place];
        known.grade = known.grade.max(target.grade);
        if let (Some(known), Some(section)) = (&mut known.section, target.section) {
            let further = section.anchors.into_iter();
            let further: Vec<String> = further.filter(|anchor| !known.anchors.contains(anchor)).collect();
            known.anchors.extend(further);
        }
    }
    distinct
}

/// A result as judgments see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JudgedResult<'a> {
    /// The document: its slug, or `project/slug` if several projects are searched.
    pub document: &'a str,
    /// Anchor of the section that is shown.
    pub anchor: &'a str,
}

/// The gain of each result in order: the highest grade of the targets that it shows and no result before it did.
///
/// Any section of a document shows the document. Results that repeat an earlier one are left out: sections where a target is a
/// section, documents otherwise.
pub fn gains(results: &[JudgedResult<'_>], targets: &[Target]) -> Vec<i32> {
    let by_section = targets.iter().any(|target| target.section.is_some());
    let mut seen = HashSet::new();
    let mut open: Vec<&Target> = targets.iter().collect();
    open.sort_by_key(|target| std::cmp::Reverse(target.grade));
    let mut gains = Vec::with_capacity(results.len());
    for result in results {
        let repeats = !seen.insert((result.document, if by_section { result.anchor } else { "" }));
        if repeats {
            continue;
        }
        let satisfied = open.iter().position(|target| target.is_shown_by(result));
        gains.push(satisfied.map_or(0, |place| open.remove(place).grade));
    }
    gains
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judged(judgments: &[(&str, &str, i32)]) -> Vec<Target> {
        let target = |&(document, anchor, grade): &(&str, &str, i32)| target(document, anchor, anchor, grade);
        judgments.iter().map(target).collect()
    }

    /// A document as a whole if the anchor is empty.
    fn target(document: &str, anchor: &str, chunk: &str, grade: i32) -> Target {
        let section = || JudgedSection {
            anchors: vec![anchor.to_owned()],
            chunk: chunk.to_owned(),
        };
        Target {
            document: document.to_owned(),
            section: (!anchor.is_empty()).then(section),
            grade,
        }
    }

    fn results<'a>(shown: &[(&'a str, &'a str)]) -> Vec<JudgedResult<'a>> {
        let result = |&(document, anchor)| JudgedResult { document, anchor };
        shown.iter().map(result).collect()
    }

    #[test]
    fn further_sections_of_a_judged_document_count_once() {
        let shown = results(&[("a", "x"), ("b", ""), ("a", "y"), ("c", "")]);
        assert_eq!(gains(&shown, &judged(&[("a", "", 2), ("c", "", 1)])), [2, 0, 1]);
    }

    #[test]
    fn a_judged_section_is_satisfied_by_that_section_only() {
        let shown = results(&[("a", "x"), ("a", "y"), ("a", "y")]);
        assert_eq!(gains(&shown, &judged(&[("a", "y", 1)])), [0, 1]);
    }

    #[test]
    fn a_section_with_a_better_grade_than_its_document_gains_that() {
        let shown = results(&[("a", "x"), ("a", "y")]);
        assert_eq!(gains(&shown, &judged(&[("a", "", 1), ("a", "x", 3)])), [3, 1]);
    }

    #[test]
    fn sections_of_one_chunk_are_one_target() {
        let small = distinct([
            target("a", "x", "", 1),
            target("a", "y", "", 3),
            target("a", "z", "z", 1),
            target("a", "", "", 1),
        ]);
        assert_eq!(small.len(), 3);
        assert_eq!((small[0].anchors().join(","), small[0].grade), ("x,y".to_owned(), 3));
        assert_eq!(gains(&results(&[("a", "")]), &small[..2]), [3]);
        assert_eq!(gains(&results(&[("a", "y"), ("a", "z")]), &small[..2]), [3, 1]);
    }

    proptest! {
        /// Merged targets stay as they are, and show what any of their parts shows.
        #[test]
        fn merging_loses_nothing(given in prop::collection::vec(("[ab]", "[xyz]?", "[xy]?", 0..4i32), 0..8)) {
            let targets: Vec<Target> =
                given.iter().map(|(document, anchor, chunk, grade)| target(document, anchor, chunk, *grade)).collect();
            let once = distinct(targets.clone());
            prop_assert_eq!(&distinct(once.clone()), &once);
            for document in ["a", "b"] {
                for anchor in ["", "x", "y", "z"] {
                    let shows = |targets: &[Target]| {
                        let result = JudgedResult { document, anchor };
                        targets.iter().filter(|target| target.is_shown_by(&result)).map(|target| target.grade).max()
                    };
                    prop_assert!(shows(&once) >= shows(&targets));
                    prop_assert_eq!(shows(&once).is_some(), shows(&targets).is_some());
                }
            }
        }

        /// No ranking gains what was not judged, or more than was.
        #[test]
        fn gains_are_some_of_the_grades(
            shown in prop::collection::vec(("[ab]", "[xy]?"), 0..8),
            judgments in prop::collection::hash_map(("[ab]", "[xy]?"), 0..4, 0..5),
        ) {
            let judgments: Vec<Target> = judgments
                .iter()
                .map(|((document, anchor), grade)| target(document, anchor, anchor, *grade))
                .collect();
            let shown: Vec<JudgedResult<'_>> =
                shown.iter().map(|(document, anchor)| JudgedResult { document, anchor }).collect();
            let mut grades: Vec<i32> = judgments.iter().map(|judgment| judgment.grade).collect();
            for gain in gains(&shown, &judgments).into_iter().filter(|&gain| gain != 0) {
                let place = grades.iter().position(|&grade| grade == gain);
                prop_assert!(place.is_some());
                grades.remove(place.unwrap());
            }
        }
    }
}
