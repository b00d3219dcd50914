//! Searches from their arguments to an answer, with a line in the log of queries for those of readers.

use std::time::Instant;

use docsearch_core::answer::delivery::Answer;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::search::logging;
use crate::search::request::Request;
use crate::search::retrieval::Detail;

impl Request<'_> {
    /// Searches, and reads what is shown of the results.
    pub(crate) fn answer(&self, caller: &mut Caller, detail: Detail) -> Result<Answer> {
        self.searched(caller, detail, false)
    }

    /// The same for a reader, whose call the log of queries has.
    pub(crate) fn answer_reader(&self, caller: &mut Caller, detail: Detail) -> Result<Answer> {
        self.searched(caller, detail, true)
    }

    fn searched(&self, caller: &mut Caller, detail: Detail, is_logged: bool) -> Result<Answer> {
        let begun = Instant::now();
        let mut retrieval = self.run(caller, self.explained(detail), None)?;
        let logged = match is_logged {
            true => logging::begin(caller, &self.projects, self.filter_keys(), &retrieval),
            false => None,
        };
        let (mut answer, _) = self.present(caller, &mut retrieval, detail, begun)?;
        answer.probability = self.probability(&answer);
        if detail == Detail::Sections {
            retrieval.suggest(caller, &mut answer)?;
        }
        if let Some(logged) = logged {
            logged.end(caller, &mut answer);
        }
        Ok(answer)
    }

    /// The probability that the first result is right, if the scores of its project are calibrated. With weights of the call
    /// they are others.
    fn probability(&self, answer: &Answer) -> Option<f32> {
        let ([project], Some(first)) = (self.projects.as_slice(), answer.results.first()) else {
            return None;
        };
        let is_usual = self.config.offset == 0 && !self.config.overrides_weights();
        let calibration = project.calibration.as_ref().filter(|_| is_usual)?;
        Some(calibration.probability(first.score.into()) as f32)
    }
}
