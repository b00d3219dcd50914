//! Questions that readers asked and that a section answered.

use std::collections::BTreeMap;

use crate::usage::sessions::{Observation, Outcome};
use crate::values::id::Map;

/// A query that a page answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderQuestion {
    /// Number of the query.
    pub query: u32,
    /// Number of the page.
    pub page: u32,
    /// The part that most sessions opened.
    pub part: u32,
    /// Sessions that were shown the page for it.
    pub shown: u32,
    /// Sessions that opened it and asked nothing else at once, or said that it helped.
    pub answered: u32,
    /// Sessions that said that it helped.
    pub helped: u32,
}

#[derive(Default)]
struct Count {
    shown: u32,
    answered: u32,
    helped: u32,
    unanswered: u32,
    parts: BTreeMap<u32, u32>,
}

/// Queries that a page answered in at least `min_sessions` sessions, and in more than it left unanswered. The one with the most
/// sessions is first.
pub fn reader_questions(observations: &[Observation], min_sessions: u32) -> Vec<ReaderQuestion> {
    // Few of the pages that are shown are opened.
    let is_opened = |observation: &&Observation| matches!(observation.outcome, Outcome::Opened | Outcome::Helped);
    let opened = observations.iter().filter(is_opened);
    let mut counts: Map<(u32, u32), Count> = opened.map(|seen| ((seen.query, seen.page), Count::default())).collect();
    for observation in observations {
        let Some(count) = counts.get_mut(&(observation.query, observation.page)) else {
            continue;
        };
        count.shown += 1;
        match observation.outcome {
            Outcome::Passed => {}
            Outcome::Left | Outcome::DidNotHelp => count.unanswered += 1,
            Outcome::Opened | Outcome::Helped => {
                count.answered += 1;
                count.helped += u32::from(observation.outcome == Outcome::Helped);
                if let Some(part) = observation.part {
                    *count.parts.entry(part).or_default() += 1;
                }
            }
        }
    }
    let is_answered = |count: &Count| count.answered >= min_sessions.max(1) && count.answered > count.unanswered;
    let mut questions: Vec<ReaderQuestion> = counts
        .into_iter()
        .filter(|(_, count)| is_answered(count))
        .map(|((query, page), count)| ReaderQuestion {
            query,
            page,
            // The least of equal ones, so that the order of the log does not matter.
            part: count
                .parts
                .iter()
                .rev()
                .max_by_key(|(_, times)| **times)
                .map_or(0, |(&part, _)| part),
            shown: count.shown,
            answered: count.answered,
            helped: count.helped,
        })
        .collect();
    questions.sort_unstable_by_key(|question| {
        let by_sessions = std::cmp::Reverse((question.answered, question.helped));
        (by_sessions, question.query, question.page)
    });
    questions
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn observation() -> impl Strategy<Value = Observation> {
        let outcome = prop_oneof![
            Just(Outcome::Passed),
            Just(Outcome::Opened),
            Just(Outcome::Left),
            Just(Outcome::Helped),
            Just(Outcome::DidNotHelp),
        ];
        (0..3_u32, 0..3_u32, 0..3_u32, outcome).prop_map(|(query, page, part, outcome)| Observation {
            query,
            page,
            place: 0,
            part: (!matches!(outcome, Outcome::Passed | Outcome::DidNotHelp)).then_some(part),
            outcome,
        })
    }

    proptest! {
        #[test]
        fn a_question_has_enough_sessions(seen in prop::collection::vec(observation(), 0..60), least in 1..5_u32) {
            for question in reader_questions(&seen, least) {
                let of_page = seen.iter().filter(|seen| (seen.query, seen.page) == (question.query, question.page));
                let outcomes: Vec<Outcome> = of_page.map(|seen| seen.outcome).collect();
                let count = |wanted: &[Outcome]| outcomes.iter().filter(|outcome| wanted.contains(outcome)).count();
                let answered = count(&[Outcome::Opened, Outcome::Helped]);
                prop_assert!(answered >= least as usize);
                prop_assert!(answered > count(&[Outcome::Left, Outcome::DidNotHelp]));
                prop_assert_eq!(answered, question.answered as usize);
                prop_assert_eq!(outcomes.len(), question.shown as usize);
            }
        }

        #[test]
        fn order_does_not_matter(mut seen in prop::collection::vec(observation(), 0..60)) {
            let questions = reader_questions(&seen, 1);
            prop_assert!(questions.is_sorted_by(|a, b| (a.answered, a.helped) >= (b.answered, b.helped)));
            seen.reverse();
            prop_assert_eq!(reader_questions(&seen, 1), questions);
        }
    }
}
