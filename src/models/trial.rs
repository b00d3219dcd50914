//! Tests a model before it is registered.

use docsearch_core::models::self_test::{PAIRS, SelfTest};
use docsearch_core::values::cosine::cosine;
use docsearch_inference::Embedder;
use pgrx::prelude::*;

use crate::models::batch;
use crate::postgres::report::{Result, error_with_hint, inference, warn};

/// Least cosine similarity of two vectors of the same text. An endpoint may compute in another order. With 8-bit
/// products that saturate, the same model has 0.984 to 0.998.
pub(crate) const MIN_SAME_SIMILARITY: f32 = 0.999;

/// How a model that fails the self-test is treated.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Unfit {
    Refused,
    /// With a warning: an endpoint runs it, or the test is not in its language.
    Warned,
}

/// Runs the self-test and returns the similarity of unrelated texts.
pub(crate) fn try_out(name: &str, model: &dyn Embedder, dimension: usize, unfit: Unfit) -> Result<f32> {
    let unusable = |problem: &str, hint: &str| {
        error_with_hint(
            PgSqlErrorCode::ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
            format!("model \"{name}\" cannot be used: {problem}"),
            hint,
        )
    };
    let trial = Trial::of(model)?;
    if let Some(problem) = trial.contradiction(dimension) {
        return Err(unusable(problem, "Check how the model was exported."));
    }
    let test = trial.result();
    if !test.is_passed() {
        if unfit == Unfit::Refused {
            let hint = format!("{RIGHT_FILES} If it reads another language than English: {UNTESTED}.");
            return Err(unusable(&outcome(test), &hint));
        }
        warn_of(name, test);
    }
    baseline(model)
}

const RIGHT_FILES: &str =
    "Use the float graph of the model's release, and the tokenizer, pooling and prefixes of the same release.";
const UNTESTED: &str = "SELECT docsearch.add_model(..., self_test => false)";

/// The result of the self-test, as a clause.
pub(crate) fn outcome(test: SelfTest) -> String {
    format!(
        "it finds the passages of {} of {} test questions",
        test.found,
        PAIRS.len()
    )
}

/// Warns of a model that fails the self-test.
pub(crate) fn warn_of(name: &str, test: SelfTest) {
    let message = format!("model \"{name}\" does not distinguish texts: {}", outcome(test));
    warn(PgSqlErrorCode::ERRCODE_WARNING, message, RIGHT_FILES);
}

/// The vectors of the self-test.
pub(crate) struct Trial {
    questions: Vec<Vec<f32>>,
    passages: Vec<Vec<f32>>,
    /// A second vector of the first passage.
    again: Vec<f32>,
}

impl Trial {
    pub(crate) fn of(model: &dyn Embedder) -> Result<Self> {
        let texts: Vec<String> = PAIRS
            .iter()
            .chain(&PAIRS[..1])
            .map(|(_, passage)| (*passage).to_owned())
            .collect();
        let mut passages = vec![Vec::new(); texts.len()];
        let mut batch = model.embed_passages(texts).map_err(|failure| inference(&failure))?;
        while let Some((place, vector)) = batch::next_vector(batch.as_mut())? {
            passages[place] = vector?;
        }
        Ok(Self {
            questions: queries(model, PAIRS.map(|(question, _)| question))?,
            again: passages.pop().unwrap_or_default(),
            passages,
        })
    }

    pub(crate) fn result(&self) -> SelfTest {
        SelfTest::of(&self.questions, &self.passages)
    }

    fn contradiction(&self, dimension: usize) -> Option<&'static str> {
        let mut vectors = self.questions.iter().chain(&self.passages);
        if vectors.any(|vector| vector.len() != dimension) {
            return Some("its vectors differ in length");
        }
        (cosine(&self.passages[0], &self.again) < MIN_SAME_SIMILARITY).then_some("the same text has two vectors")
    }
}

/// Mean cosine similarity of unrelated sentences, 0 to 0.9.
fn baseline(model: &dyn Embedder) -> Result<f32> {
    const UNRELATED: [&str; 8] = [
        "The ferry to the island leaves twice a day in winter.",
        "Create an index concurrently to avoid blocking writes.",
        "She whisked the egg whites until they formed stiff peaks.",
        "The enzyme is inhibited by high concentrations of calcium.",
        "Press the button to show the next page of the form.",
        "The treaty was signed after eleven years of negotiations.",
        "A tenor saxophone plays the melody over a walking bass.",
        "Tighten the bolts crosswise before you lower the car.",
    ];
    let vectors = queries(model, UNRELATED)?;
    let mut similarities = Vec::new();
    for (i, a) in vectors.iter().enumerate() {
        for b in &vectors[i + 1..] {
            similarities.push(cosine(a, b));
        }
    }
    let mean = similarities.iter().sum::<f32>() / similarities.len() as f32;
    Ok(mean.clamp(0.0, 0.9))
}

fn queries<const N: usize>(model: &dyn Embedder, texts: [&str; N]) -> Result<Vec<Vec<f32>>> {
    texts
        .iter()
        .map(|text| model.embed_query(text).map_err(|failure| inference(&failure)))
        .collect()
}
