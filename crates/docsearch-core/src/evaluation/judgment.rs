//! Judgments: which documents and sections answer a query, and how well.

use std::collections::HashSet;

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

/// A result as judgments see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JudgedResult<'a> {
    /// Slug of the document.
    pub slug: &'a str,
    /// Anchor of the section that is shown.
    pub anchor: &'a str,
}

/// The gain of each result in order: the highest grade of the judgments that it satisfies and no result before it did.
///
/// A judgment of a document is satisfied by any of its sections. Results that repeat an earlier one are left out: sections
/// where a judgment names sections, documents otherwise.
pub fn gains(results: &[JudgedResult<'_>], judgments: &[Judgment]) -> Vec<i32> {
    let by_section = judgments.iter().any(|judgment| !judgment.anchor.is_empty());
    let mut seen = HashSet::new();
    let mut open: Vec<&Judgment> = judgments.iter().collect();
    open.sort_by_key(|judgment| std::cmp::Reverse(judgment.grade));
    let mut gains = Vec::with_capacity(results.len());
    for result in results {
        let repeats = !seen.insert((result.slug, if by_section { result.anchor } else { "" }));
        if repeats {
            continue;
        }
        let satisfied = open.iter().position(|judgment| {
            judgment.slug == result.slug && (judgment.anchor.is_empty() || judgment.anchor == result.anchor)
        });
        gains.push(satisfied.map_or(0, |place| open.remove(place).grade));
    }
    gains
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judged(judgments: &[(&str, &str, i32)]) -> Vec<Judgment> {
        let judgment = |&(slug, anchor, grade): &(&str, &str, i32)| Judgment {
            slug: slug.to_owned(),
            anchor: anchor.to_owned(),
            grade,
        };
        judgments.iter().map(judgment).collect()
    }

    fn results<'a>(shown: &[(&'a str, &'a str)]) -> Vec<JudgedResult<'a>> {
        let result = |&(slug, anchor)| JudgedResult { slug, anchor };
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

    proptest! {
        /// No ranking gains what was not judged, or more than was.
        #[test]
        fn gains_are_some_of_the_grades(
            shown in prop::collection::vec(("[ab]", "[xy]?"), 0..8),
            judgments in prop::collection::hash_map(("[ab]", "[xy]?"), 0..4, 0..5),
        ) {
            let judgments: Vec<Judgment> = judgments
                .into_iter()
                .map(|((slug, anchor), grade)| Judgment { slug, anchor, grade })
                .collect();
            let shown: Vec<JudgedResult<'_>> =
                shown.iter().map(|(slug, anchor)| JudgedResult { slug, anchor }).collect();
            let mut grades: Vec<i32> = judgments.iter().map(|judgment| judgment.grade).collect();
            for gain in gains(&shown, &judgments).into_iter().filter(|&gain| gain != 0) {
                let place = grades.iter().position(|&grade| grade == gain);
                prop_assert!(place.is_some());
                grades.remove(place.unwrap());
            }
        }
    }
}
