use std::collections::HashMap;
use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

/// Answers for each wording: confidence, and results in pages of 5. The names of right results are capital letters.
#[derive(Clone, Debug)]
struct Prepared {
    answers: Vec<(bool, Vec<char>)>,
    /// Right results whose text does not have the section.
    hollow: Vec<char>,
    searched: HashMap<(usize, usize), usize>,
}

impl Prepared {
    fn new(answers: &[(bool, &str)]) -> Self {
        let answers = answers
            .iter()
            .map(|(is_low, results)| (*is_low, results.chars().collect()));
        Self {
            answers: answers.collect(),
            hollow: Vec::new(),
            searched: HashMap::new(),
        }
    }

    fn simulate(mut self, max_calls: usize) -> Trace {
        let wordings = self.answers.len();
        let Ok(trace) = simulate(&mut self, wordings, max_calls);
        assert!(self.searched.values().all(|&times| times == 1), "a search is repeated");
        trace
    }
}

impl Documentation for Prepared {
    type Error = Infallible;

    fn search(&mut self, wording: usize, offset: usize) -> Result<ShownAnswer, Infallible> {
        *self.searched.entry((wording, offset)).or_default() += 1;
        let (is_low, results) = &self.answers[wording];
        let results: Vec<ShownResult> = results
            .iter()
            .skip(offset)
            .take(5)
            .map(|name| ShownResult {
                reference: name.to_string(),
                is_right: name.is_uppercase(),
            })
            .collect();
        Ok(ShownAnswer {
            tokens: 100,
            is_low: *is_low || results.is_empty(),
            results,
        })
    }

    fn load(&mut self, reference: &str) -> Result<LoadedText, Infallible> {
        let name = reference.chars().next().unwrap();
        Ok(LoadedText {
            tokens: 10,
            is_right: name.is_uppercase() && !self.hollow.contains(&name),
        })
    }
}

/// Found, calls, tokens.
fn simulated(answers: &[(bool, &str)]) -> (bool, usize, usize) {
    let trace = Prepared::new(answers).simulate(CALLS);
    (trace.found(), trace.steps.len(), trace.tokens())
}

#[test]
fn the_best_result_is_loaded_first() {
    assert_eq!(simulated(&[(false, "Abcde")]), (true, 2, 110));
    assert_eq!(simulated(&[(false, "aBcde")]), (true, 3, 120));
    assert_eq!(simulated(&[(true, "aBcde")]), (true, 2, 110));
}

#[test]
fn further_wordings_come_before_further_pages() {
    assert_eq!(simulated(&[(false, "abcdeF"), (false, "Gh")]), (true, 4, 220));
    assert_eq!(simulated(&[(false, "abcdeF")]), (true, 4, 220));
    assert_eq!(simulated(&[(false, "abcde")]), (false, 3, 210));
    assert_eq!(simulated(&[(true, "abcdeF")]), (false, 1, 100));
}

#[test]
fn one_confident_answer_says_that_something_is_there() {
    let is_low = |answers: &[(bool, &str)]| Prepared::new(answers).simulate(CALLS).low_confidence();
    assert!(is_low(&[(true, "abc"), (true, "")]));
    assert!(!is_low(&[(true, "abc"), (false, "d")]));
}

#[test]
fn a_result_that_looks_right_and_is_not_is_no_end() {
    let mut prepared = Prepared::new(&[(false, "ABc")]);
    prepared.hollow = vec!['A'];
    let trace = prepared.simulate(CALLS);
    assert_eq!((trace.found(), trace.steps.len()), (true, 3));
}

#[test]
fn tasks_in_numbers() {
    let task = |is_answerable, found, tokens, low_confidence| TaskRun {
        is_answerable,
        found,
        tokens,
        calls: 2,
        shown: 5,
        shown_twice: 1,
        low_confidence,
    };
    let summary = TaskSummary::of(&[
        task(true, true, 100, false),
        task(true, true, 300, true),
        task(true, false, 900, false),
        task(true, false, 900, false),
        task(false, false, 500, true),
    ]);
    assert_eq!((summary.tasks, summary.unanswerable, summary.found), (5, 1, Some(0.5)));
    assert_eq!((summary.mean_tokens, summary.median_tokens), (Some(200.0), Some(100.0)));
    assert_eq!((summary.shown_twice, summary.rightly_low), (Some(0.2), Some(1.0)));
    assert_eq!(summary.wrongly_low, Some(0.25));
    assert_eq!(TaskSummary::of(&[]).found, None);
}

fn answers() -> impl Strategy<Value = Vec<(bool, String)>> {
    prop::collection::vec((any::<bool>(), "[a-hA-C]{0,12}"), 1..5)
}

fn prepared(answers: &[(bool, String)]) -> Prepared {
    let distinct = |text: &String| {
        let mut seen = HashSet::new();
        text.chars().filter(|name| seen.insert(*name)).collect::<String>()
    };
    let answers: Vec<(bool, String)> = answers.iter().map(|(low, text)| (*low, distinct(text))).collect();
    let borrowed: Vec<(bool, &str)> = answers.iter().map(|(low, text)| (*low, text.as_str())).collect();
    Prepared::new(&borrowed)
}

proptest! {
    #[test]
    fn a_task_ends_within_its_calls(answers in answers(), max_calls in 1usize..6, hollow in prop::collection::vec(prop::char::range('A', 'C'), 0..3)) {
        let mut world = prepared(&answers);
        world.hollow.clone_from(&hollow);
        let trace = world.simulate(max_calls);
        prop_assert!((1..=max_calls).contains(&trace.steps.len()));
        prop_assert!(trace.shown_twice() <= trace.shown());
        let mut loaded = HashSet::new();
        for (number, step) in trace.steps.iter().enumerate() {
            if let Step::Load { reference, right, .. } = step {
                prop_assert!(loaded.insert(reference.clone()), "{reference} is loaded twice");
                prop_assert_eq!(*right, reference.chars().all(|name| name.is_uppercase() && !hollow.contains(&name)));
                // Nothing follows the right section.
                prop_assert!(!*right || number + 1 == trace.steps.len());
            }
        }
    }

    /// More calls never lose what was found, and find it with the same calls.
    #[test]
    fn more_calls_begin_alike(answers in answers(), max_calls in 1usize..6) {
        let few = prepared(&answers).simulate(max_calls);
        let more = prepared(&answers).simulate(max_calls + 1);
        prop_assert!(more.steps.starts_with(&few.steps));
        prop_assert!(!few.found() || few == more);
    }

    /// A right result that comes first in the first answer is found at least as soon.
    #[test]
    fn a_better_answer_costs_no_more(answers in answers()) {
        let before = prepared(&answers).simulate(CALLS);
        let mut better = answers.clone();
        better[0].0 = false;
        better[0].1.insert(0, 'Z');
        let after = prepared(&better).simulate(CALLS);
        prop_assert!(after.found() && after.steps.len() == 2);
        prop_assert!(!before.found() || before.tokens() >= after.tokens());
    }

    /// Without a right result nothing is found, and only what is not low is loaded.
    #[test]
    fn nothing_right_is_never_found(answers in answers()) {
        let lower: Vec<(bool, String)> = answers.iter().map(|(low, text)| (*low, text.to_lowercase())).collect();
        let trace = prepared(&lower).simulate(CALLS);
        prop_assert!(!trace.found());
        if trace.low_confidence() {
            let has_loaded = trace.steps.iter().any(|step| matches!(step, Step::Load { .. }));
            prop_assert!(!has_loaded);
        }
    }
}
