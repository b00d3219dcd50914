//! The task of an assistant: it searches, reads what is shown, and searches again until it has the section that answers.
//!
//! The assistant is a fixed policy without a language model, so that equal answers have equal measures:
//!
//! 1. It searches for the query, then for each further wording, then for the next pages of the query.
//! 2. It loads the best result that it has not loaded, unless the confidence of the answer is low.
//! 3. If that is not the right section, and a shown result is, it recognises and loads that result.
//! 4. It stops when it has the right section, when its calls are used up, when the query has no further page, or when
//!    there are no further wordings and the query had low confidence.

use std::collections::HashSet;

use serde::Serialize;

use crate::evaluation::measures::percentile;

/// Calls of an assistant unless the caller says how many.
pub const CALLS: usize = 5;

/// A result as an answer shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownResult {
    /// What `load_doc` takes.
    pub reference: String,
    /// Whether it is what the task looks for.
    pub is_right: bool,
}

/// An answer as the assistant reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownAnswer {
    /// Estimated tokens of its text.
    pub tokens: usize,
    /// Whether its confidence is low.
    pub is_low: bool,
    /// The results that the text has, best first.
    pub results: Vec<ShownResult>,
}

/// A document or section as the assistant reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedText {
    /// Estimated tokens.
    pub tokens: usize,
    /// Whether it has what the task looks for.
    pub is_right: bool,
}

/// What an assistant can call.
pub trait Documentation {
    /// Why a call failed.
    type Error;

    /// Searches for a wording, from 0, without the first `offset` results.
    ///
    /// # Errors
    ///
    /// The search failed.
    fn search(&mut self, wording: usize, offset: usize) -> Result<ShownAnswer, Self::Error>;

    /// Loads a result.
    ///
    /// # Errors
    ///
    /// The result cannot be loaded.
    fn load(&mut self, reference: &str) -> Result<LoadedText, Self::Error>;
}

/// A call and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum Step {
    /// A search.
    Search {
        /// Index of the wording; 0 is the query.
        wording: usize,
        /// Results that were skipped.
        offset: usize,
        /// Estimated tokens of the answer.
        tokens: usize,
        /// Whether the confidence was low.
        low_confidence: bool,
        /// References of the results that were shown.
        results: Vec<String>,
    },
    /// A result was loaded.
    Load {
        /// Its reference.
        reference: String,
        /// Estimated tokens of the text.
        tokens: usize,
        /// Whether it was the right one.
        right: bool,
    },
}

impl Step {
    fn tokens(&self) -> usize {
        match self {
            Self::Search { tokens, .. } | Self::Load { tokens, .. } => *tokens,
        }
    }
}

/// What an assistant did for a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Its calls in order.
    pub steps: Vec<Step>,
}

impl Trace {
    /// Whether it had the right section in the end.
    pub fn found(&self) -> bool {
        matches!(self.steps.last(), Some(Step::Load { right: true, .. }))
    }

    /// Estimated tokens of all that it read.
    pub fn tokens(&self) -> usize {
        self.steps.iter().map(Step::tokens).sum()
    }

    /// Number of results that its searches showed.
    pub fn shown(&self) -> usize {
        self.shown_references().count()
    }

    /// Number of these that an earlier search of the task had shown.
    pub fn shown_twice(&self) -> usize {
        let mut seen = HashSet::new();
        self.shown_references()
            .filter(|reference| !seen.insert(*reference))
            .count()
    }

    /// Whether no answer had more than low confidence, which says that nothing is there.
    pub fn low_confidence(&self) -> bool {
        self.steps.iter().all(|step| {
            !matches!(
                step,
                Step::Search {
                    low_confidence: false,
                    ..
                }
            )
        })
    }

    fn shown_references(&self) -> impl Iterator<Item = &str> {
        let results = self.steps.iter().filter_map(|step| match step {
            Step::Search { results, .. } => Some(results),
            Step::Load { .. } => None,
        });
        results.flatten().map(String::as_str)
    }

    fn has_loaded(&self, wanted: &str) -> bool {
        let is_load = |step: &Step| matches!(step, Step::Load { reference, .. } if reference == wanted);
        self.steps.iter().any(is_load)
    }
}

/// Does a task with this number of wordings, the query included, in at most `max_calls` calls.
///
/// # Errors
///
/// A call failed.
pub fn simulate<D: Documentation>(documentation: &mut D, wordings: usize, max_calls: usize) -> Result<Trace, D::Error> {
    let mut trace = Trace::default();
    // Results of the query that were shown, while it has further pages.
    let mut next_page = None;
    let mut searches = 0..wordings;
    while trace.steps.len() < max_calls {
        let (wording, offset) = match (searches.next(), next_page) {
            (Some(wording), _) => (wording, 0),
            (None, Some(offset)) => (0, offset),
            (None, None) => break,
        };
        let answer = documentation.search(wording, offset)?;
        if wording == 0 {
            let goes_on = !answer.is_low && !answer.results.is_empty();
            next_page = goes_on.then_some(offset + answer.results.len());
        }
        trace.steps.push(Step::Search {
            wording,
            offset,
            tokens: answer.tokens,
            low_confidence: answer.is_low,
            results: answer.results.iter().map(|result| result.reference.clone()).collect(),
        });
        let is_new = |result: &&ShownResult| !trace.has_loaded(&result.reference);
        let best = answer.results.iter().find(is_new).filter(|_| !answer.is_low);
        let right = answer.results.iter().filter(is_new).filter(|result| result.is_right);
        let mut wanted: Vec<&ShownResult> = best.into_iter().chain(right).collect();
        wanted.dedup();
        for result in wanted {
            if trace.steps.len() == max_calls {
                break;
            }
            let text = documentation.load(&result.reference)?;
            trace.steps.push(Step::Load {
                reference: result.reference.clone(),
                tokens: text.tokens,
                right: text.is_right,
            });
            if text.is_right {
                return Ok(trace);
            }
        }
    }
    Ok(trace)
}

/// A task in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskRun {
    /// Whether the documentation has the answer.
    pub is_answerable: bool,
    /// Whether the assistant had the right section in the end.
    pub found: bool,
    /// Estimated tokens that it read.
    pub tokens: usize,
    /// Number of its calls.
    pub calls: usize,
    /// Number of results that its searches showed.
    pub shown: usize,
    /// Number of these that it had seen before.
    pub shown_twice: usize,
    /// Whether no answer had more than low confidence.
    pub low_confidence: bool,
}

impl TaskRun {
    /// A task that the documentation answers or does not.
    pub fn of(trace: &Trace, is_answerable: bool) -> Self {
        Self {
            is_answerable,
            found: trace.found(),
            tokens: trace.tokens(),
            calls: trace.steps.len(),
            shown: trace.shown(),
            shown_twice: trace.shown_twice(),
            low_confidence: trace.low_confidence(),
        }
    }
}

/// The tasks of a run in numbers. Shares are from 0 to 1; without a task to count, there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TaskSummary {
    /// Number of tasks.
    pub tasks: usize,
    /// Number of those that the documentation does not answer.
    pub unanswerable: usize,
    /// Share of the answerable tasks whose right section was found.
    pub found: Option<f64>,
    /// Mean tokens until the right section was in hand, of the tasks where it was found.
    pub mean_tokens: Option<f64>,
    /// Their median.
    pub median_tokens: Option<f64>,
    /// Mean number of their calls.
    pub mean_calls: Option<f64>,
    /// Share of the shown results that the task had shown before.
    pub shown_twice: Option<f64>,
    /// Share of the unanswerable tasks in which no answer had more than low confidence.
    pub rightly_low: Option<f64>,
    /// The same share of the answerable tasks.
    pub wrongly_low: Option<f64>,
}

impl TaskSummary {
    /// The summary of these tasks.
    pub fn of(tasks: &[TaskRun]) -> Self {
        let (answerable, unanswerable): (Vec<TaskRun>, Vec<TaskRun>) =
            tasks.iter().partition(|task| task.is_answerable);
        let found: Vec<TaskRun> = answerable.iter().copied().filter(|task| task.found).collect();
        let tokens: Vec<f64> = found.iter().map(|task| task.tokens as f64).collect();
        let total = |of: fn(&TaskRun) -> usize| tasks.iter().map(of).sum();
        let low = |tasks: &[TaskRun]| share(tasks.iter().filter(|task| task.low_confidence).count(), tasks.len());
        Self {
            tasks: tasks.len(),
            unanswerable: unanswerable.len(),
            found: share(found.len(), answerable.len()),
            mean_tokens: share(found.iter().map(|task| task.tokens).sum(), found.len()),
            median_tokens: (!tokens.is_empty()).then(|| percentile(&tokens, 0.5)),
            mean_calls: share(found.iter().map(|task| task.calls).sum(), found.len()),
            shown_twice: share(total(|task| task.shown_twice), total(|task| task.shown)),
            rightly_low: low(&unanswerable),
            wrongly_low: low(&answerable),
        }
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests;
