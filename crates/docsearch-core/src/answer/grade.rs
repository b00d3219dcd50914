//! Grades an answer: whether its contexts are about the query, and how much of it they cover.
//!
//! Features of the answer that need no language model go into logistic models. Their coefficients are in
//! `data/grade.json`, which `scripts/fit_grade.py` fits to development sets.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::values::decimal::decimal;

/// Most contexts that a grade uses (S1.15).
pub const MAX_CONTEXTS: usize = 15;
/// Characters of each context that a grade uses (S1.15).
pub const CONTEXT_CHARS: usize = 500;
/// Contexts whose best values count: those that a reader sees. The models were fitted with this number.
const MAX_GRADED_CONTEXTS: usize = 5;
/// Sections of the smallest and the largest documentation that the models were fitted on. Beyond them nothing is
/// known.
const FITTED_SECTIONS: (f64, f64) = (777.0, 9667.0);
/// Number of the rarest terms.
const RAREST: usize = 2;
/// Share of [`Grade::score`] that is relevance; the rest is completeness. Chosen, not measured.
const RELEVANCE_SHARE: f32 = 0.6;

/// A term of the query, with its use in the documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradedTerm {
    /// Inverse document frequency, at least 0.
    pub idf: f32,
    /// Whether any document has it.
    pub known: bool,
    /// Whether it is spelled as a name.
    pub name: bool,
}

/// A context of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GradedContext {
    /// Final score, 0 to 1.
    pub score: f32,
    /// Calibrated dense score, 0 to 1, if there is a vector.
    pub dense: Option<f32>,
    /// Keyword score, 0 to 1.
    pub keyword: f32,
    /// How well it has each term of the query, 0 to 1.
    pub holds: Vec<f32>,
}

/// Scores of the text alone, by which answers are graded: a question that a page answers shows that it is the right
/// page, and not that its text has the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OfText {
    /// Mean of the score and the text's share of it. Of 380 questions about other things, 90 counted as answered by
    /// scores with questions, 31 by the text's share alone and 43 by this mean, the same number as without questions.
    pub score: f32,
    /// Cosine similarity, if a section was compared.
    pub similarity: Option<f32>,
    /// Keyword score, 0 to 1.
    pub keyword_score: f32,
    /// Whether only an exact name in an untrusted wording puts it first.
    pub guessed: bool,
}

/// Names of the features of an answer, in the order of [`Features::values`].
pub const FEATURES: [&str; 16] = [
    "coverage",
    "best_coverage",
    "score",
    "mean_score",
    "lead",
    "spread",
    "dense",
    "mean_dense",
    "keyword",
    "agreement",
    "unknown",
    "terms",
    "unknown_name",
    "rarest",
    "together",
    "sections",
];

/// Features of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    /// Values by [`FEATURES`].
    pub values: [f32; FEATURES.len()],
    /// Whether the best page is certainly the right one: the query is its name or address, or asks for nothing but
    /// what is new and the page is new.
    pub named: bool,
    /// Whether any context has a vector.
    pub has_vectors: bool,
}

impl Features {
    /// Features of contexts, best first, from this number of sections. Without contexts, only those of the query are
    /// not 0.
    pub fn of(terms: &[GradedTerm], contexts: &[GradedContext], sections: f64) -> Self {
        let contexts = &contexts[..contexts.len().min(MAX_CONTEXTS)];
        let read = &contexts[..contexts.len().min(MAX_GRADED_CONTEXTS)];
        let score = read.first().map_or(0.0, |first| first.score);
        let last = read.last().map_or(0.0, |last| last.score);
        let next = read.get(1).map_or(0.0, |next| next.score);
        let dense = read.iter().filter_map(|context| context.dense);
        let best = |values: &mut dyn Iterator<Item = f32>| values.fold(0.0, f32::max);
        let covered = |context: &GradedContext| coverage(terms, std::slice::from_ref(context));
        let total: f32 = terms.iter().map(|term| term.idf).sum();
        let unknown: f32 = terms.iter().filter(|term| !term.known).map(|term| term.idf).sum();
        Self {
            values: [
                coverage(terms, read),
                best(&mut read.iter().map(covered)),
                score,
                mean(read.iter().map(|context| context.score)),
                score - next,
                score - last,
                best(&mut dense.clone()),
                mean(dense),
                best(&mut read.iter().map(|context| context.keyword)),
                agreement(contexts),
                if total > 0.0 { unknown / total } else { 0.0 },
                (terms.len() as f32).ln_1p(),
                if terms.iter().any(|term| term.name && !term.known) {
                    1.0
                } else {
                    0.0
                },
                rarest(terms, read),
                // Vectors without words are weak evidence, and so are words in different contexts.
                best(
                    &mut read
                        .iter()
                        .map(|context| context.dense.unwrap_or(0.0) * covered(context)),
                ),
                // The more sections, the nearer the nearest one, whatever the query.
                (sections.clamp(FITTED_SECTIONS.0, FITTED_SECTIONS.1).ln_1p() / 10.0) as f32,
            ],
            named: false,
            has_vectors: contexts.iter().any(|context| context.dense.is_some()),
        }
    }

    /// Features by name.
    pub fn named(&self) -> BTreeMap<&'static str, f32> {
        FEATURES.into_iter().zip(self.values).collect()
    }

    fn coverage(&self) -> f32 {
        self.values[0]
    }
}

/// Share of the query's terms, by idf, that the contexts together have; 1 without terms.
pub fn coverage(terms: &[GradedTerm], contexts: &[GradedContext]) -> f32 {
    let total: f32 = terms.iter().map(|term| term.idf).sum();
    if total <= 0.0 {
        return if contexts.is_empty() { 0.0 } else { 1.0 };
    }
    let held = terms.iter().enumerate().map(|(place, term)| {
        let holds = contexts.iter().filter_map(|context| context.holds.get(place));
        term.idf * holds.copied().fold(0.0, f32::max)
    });
    (held.sum::<f32>() / total).clamp(0.0, 1.0)
}

/// How well one context has the rarest terms together, 0 to 1; 0 without terms.
fn rarest(terms: &[GradedTerm], contexts: &[GradedContext]) -> f32 {
    let mut order: Vec<usize> = (0..terms.len()).collect();
    order.sort_by(|&a, &b| terms[b].idf.total_cmp(&terms[a].idf).then(a.cmp(&b)));
    order.truncate(RAREST);
    if order.is_empty() {
        return 0.0;
    }
    let held = |context: &GradedContext| {
        let holds = order
            .iter()
            .map(|&place| context.holds.get(place).copied().unwrap_or(0.0));
        holds.fold(1.0, f32::min)
    };
    contexts.iter().map(held).fold(0.0, f32::max)
}

/// Share of the best contexts by vectors that are also among the best by keywords, 0 to 1.
fn agreement(contexts: &[GradedContext]) -> f32 {
    let best = |value: &dyn Fn(&GradedContext) -> f32| {
        let mut order: Vec<usize> = (0..contexts.len())
            .filter(|&place| value(&contexts[place]) > 0.0)
            .collect();
        order.sort_by(|&a, &b| value(&contexts[b]).total_cmp(&value(&contexts[a])).then(a.cmp(&b)));
        order.truncate(MAX_GRADED_CONTEXTS);
        order
    };
    let (dense, keyword) = (
        best(&|context| context.dense.unwrap_or(0.0)),
        best(&|context| context.keyword),
    );
    if dense.is_empty() {
        return 0.0;
    }
    dense.iter().filter(|place| keyword.contains(place)).count() as f32 / dense.len() as f32
}

fn mean(values: impl Iterator<Item = f32>) -> f32 {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 0.0 } else { sum / count as f32 }
}

/// A logistic model: `1 / (1 + e^-(bias + sum of weight * feature))`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logistic {
    /// Value if all features are 0.
    pub bias: f32,
    /// Weights by feature; missing ones are 0.
    pub weights: BTreeMap<String, f32>,
}

impl Logistic {
    /// The probability, 0 to 1.
    pub fn probability(&self, features: &Features) -> f32 {
        let weighed = FEATURES.iter().zip(features.values);
        let weighed = weighed.map(|(name, value)| self.weights.get(*name).copied().unwrap_or(0.0) * value);
        1.0 / (1.0 + (-(self.bias + weighed.sum::<f32>())).exp())
    }
}

/// The logistic models of grades.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grader {
    /// Probability that one of the first five contexts answers the query, if the documents are about it.
    pub relevance: Logistic,
    /// Probability that the documents are about the query.
    pub grounded: Logistic,
    /// The same without vectors.
    pub grounded_by_words: Logistic,
    /// Least probability at which the documents count as being about the query.
    pub least_grounded: f32,
    /// The same without vectors.
    pub least_grounded_by_words: f32,
    /// Embedding model that the models were fitted with. They are unreliable with others.
    pub model: String,
}

impl Grader {
    /// The models that were fitted on development sets.
    pub fn fitted() -> &'static Self {
        static GRADER: OnceLock<Grader> = OnceLock::new();
        GRADER.get_or_init(|| {
            serde_json::from_str(include_str!("../../data/grade.json")).expect("the shipped file is valid")
        })
    }

    /// Grades an answer with these features. `contexts` is their number; without any, the grade is 0.
    pub fn grade(&self, features: &Features, contexts: usize, minimum: &Minimum) -> Grade {
        if contexts == 0 {
            return Grade::new(0.0, 0.0, false, minimum, "no contexts".to_owned());
        }
        let (supported, least) = match (features.named, features.has_vectors) {
            (true, _) => (1.0, 0.0),
            (false, true) => (self.grounded.probability(features), self.least_grounded),
            (false, false) => (
                self.grounded_by_words.probability(features),
                self.least_grounded_by_words,
            ),
        };
        // The model of relevance was fitted on questions that the documents are about. So the probability of that is
        // a factor.
        let mut relevance = supported * self.relevance.probability(features);
        let mut completeness = features.coverage();
        if features.named {
            let score = features.values[2];
            relevance = relevance.max(score);
            completeness = completeness.max(score);
        }
        let grounded = supported >= least;
        let reasoning = reasoning(features, relevance, completeness, grounded);
        Grade::new(relevance, completeness, grounded, minimum, reasoning)
    }
}

/// Minima of a grade.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minimum {
    /// Of [`Grade::score`].
    pub score: f32,
    /// Of [`Grade::relevance`].
    pub relevance: f32,
    /// Of [`Grade::completeness`].
    pub completeness: f32,
}

/// The grade of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// Relevance and completeness together, 0 to 1.
    #[serde(serialize_with = "decimal")]
    pub score: f32,
    /// Probability that one of the first five contexts answers the query.
    #[serde(serialize_with = "decimal")]
    pub relevance: f32,
    /// Share of the query that the contexts cover, 0 to 1.
    #[serde(serialize_with = "decimal")]
    pub completeness: f32,
    /// Whether the documents are about the query.
    pub grounded: bool,
    /// The reasons, in words.
    pub reasoning: String,
    /// Whether a better query should be tried.
    pub should_refine: bool,
}

impl Grade {
    /// Combines the parts of a grade.
    pub fn new(relevance: f32, completeness: f32, grounded: bool, minimum: &Minimum, reasoning: String) -> Self {
        let score = RELEVANCE_SHARE * relevance + (1.0 - RELEVANCE_SHARE) * completeness;
        Self {
            score,
            relevance,
            completeness,
            grounded,
            reasoning,
            should_refine: should_refine(score, relevance, completeness, grounded, minimum),
        }
    }

    /// Adds to the reasoning that the models were not fitted with the project's embedding model.
    #[must_use]
    pub fn not_fitted(mut self) -> Self {
        self.reasoning.push_str("; not fitted to this embedding model");
        self
    }

    /// The grade in the answer of a language model. `None` if relevance, completeness or grounded is missing or
    /// invalid.
    pub fn by_model(answer: &Map<String, Value>, minimum: &Minimum) -> Option<Self> {
        let share = |key: &str| {
            let value = answer.get(key)?.as_f64()? as f32;
            (0.0..=1.0).contains(&value).then_some(value)
        };
        let reasoning = answer.get("reasoning").and_then(Value::as_str).unwrap_or_default();
        let (relevance, completeness) = (share("relevance")?, share("completeness")?);
        let grounded = answer.get("grounded")?.as_bool()?;
        Some(Self::new(
            relevance,
            completeness,
            grounded,
            minimum,
            reasoning.to_owned(),
        ))
    }

    /// Whether this answer is better than another: grounded before not grounded, then by score. With a `margin`,
    /// which is not negative, the score has to exceed the other by more than that.
    pub fn is_better_than(&self, other: &Self, margin: f32) -> bool {
        let better = (self.grounded, self.score) > (other.grounded, other.score);
        better && (margin == 0.0 || self.score > other.score + margin)
    }
}

/// Whether an answer is to be refined: it is below a minimum, or not grounded.
pub fn should_refine(score: f32, relevance: f32, completeness: f32, grounded: bool, minimum: &Minimum) -> bool {
    score < minimum.score || relevance < minimum.relevance || completeness < minimum.completeness || !grounded
}

/// Words for a value between 0 and 1 (S1.16).
pub fn band(value: f32) -> &'static str {
    match value {
        value if value >= 0.9 => "excellent",
        value if value >= 0.7 => "good",
        value if value >= 0.5 => "partial",
        _ => "poor",
    }
}

fn reasoning(features: &Features, relevance: f32, completeness: f32, grounded: bool) -> String {
    let named = features.named();
    let percent = |value: f32| (value * 100.0).round();
    let mut reasons = vec![
        format!(
            "{} relevance: best score {:.2}, nearest meaning {:.2}",
            band(relevance),
            named["score"],
            named["dense"]
        ),
        if features.named {
            format!(
                "{} completeness: the first page is the one that the query asks for",
                band(completeness)
            )
        } else {
            format!(
                "{} completeness: the contexts hold {} % of the query's words by weight",
                band(completeness),
                percent(completeness)
            )
        },
    ];
    if named["unknown"] > 0.0 && !features.named {
        reasons.push(format!("no document holds {} % of them", percent(named["unknown"])));
    }
    if !grounded {
        reasons.push("the documents do not seem to be about it".to_owned());
    }
    reasons.join("; ")
}

#[cfg(test)]
mod tests;
