//! The configuration of a search: arguments, `config` and settings.

use std::collections::BTreeSet;

use docsearch_core::answer::delivery::{Dedup, Fields, Format, MAX_OFFSET, Syntax, Thresholds, known_fields};
use docsearch_core::answer::grade::{MAX_CONTEXTS, Minimum};
use docsearch_core::answer::order::Order;
use docsearch_core::ranking::weight::{WEIGHTS, Weight, Weights};
use docsearch_core::ranking::wording::{MAX_WORDING_CHARS, MAX_WORDINGS, WordingError};
use docsearch_core::values::bounds;
use pgrx::pg_sys::panic::ErrorReport;
use serde_json::{Map, Value};

use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, invalid};
use crate::settings;
use crate::tables::project::Project;

/// Results of one search, at most.
const MAX_RESULTS: i64 = 1000;

/// Documents that are put into another order than that of their scores: the best ones.
const MAX_ORDERED: usize = 1000;

/// Results of a search without `max_results`.
const DEFAULT_RESULTS: i64 = 5;

/// Keys of `config` that are not weights.
const CALL_KEYS: [&str; 11] = [
    "limit",
    "max_results",
    "offset",
    "min_score",
    "dedup",
    "fields",
    "format",
    "grade",
    "order",
    "syntax",
    "transform",
];

/// How a query is transformed before it is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transform {
    None,
    /// By rules and documents.
    Rules,
    /// By the language model.
    Model,
}

/// The arguments of a call with `config` and settings applied.
#[derive(Clone, Debug)]
pub(crate) struct SearchConfig {
    /// Results to find.
    pub(crate) max_results: usize,
    /// Results to show of them.
    pub(crate) shown: usize,
    /// The order of the results, if not that of their scores.
    pub(crate) order: Option<Order>,
    pub(crate) offset: usize,
    pub(crate) min_score: f32,
    /// The format of `search_docs_text`, if `config` has one.
    pub(crate) format: Option<Format>,
    pub(crate) dedup: Dedup,
    /// The fields of JSON; `None` for all.
    pub(crate) fields: Option<Fields>,
    /// The syntax of calls in notices.
    pub(crate) syntax: Syntax,
    pub(crate) weights: Weights,
    /// Keys of `config`: a project does not override them.
    overridden: BTreeSet<String>,
    /// Maximum share of the vector score, which settings and projects cannot exceed.
    max_hybrid: f32,
    /// Whether this search is one of several whose results are merged.
    is_part: bool,
    /// Results that may be removed afterwards, and have to be replaced.
    replaced: usize,
    pub(crate) thresholds: Thresholds,
    pub(crate) transform: Transform,
    /// Whether the answer is graded.
    pub(crate) grade: bool,
    /// The thresholds of a grade.
    pub(crate) minimum: Minimum,
}

impl SearchConfig {
    /// Precedence: the arguments, then `config`, then the settings of session, role, database and
    /// server.
    pub(crate) fn resolve(
        max_results: Option<i32>,
        min_score: Option<f32>,
        dedup: Option<&str>,
        config: Option<JsonB>,
    ) -> Result<Self> {
        let overrides = Overrides::read(config)?;
        let of_config = overrides.max_results()?;
        let max_results = max_results.map(i64::from).or(of_config).unwrap_or(DEFAULT_RESULTS);
        if !(1..=MAX_RESULTS).contains(&max_results) {
            return Err(invalid(
                format!("max_results is {max_results}"),
                format!("Use 1 to {MAX_RESULTS}."),
            ));
        }
        let offset = overrides.integer("offset")?.unwrap_or(0);
        let offset = usize::try_from(offset)
            .ok()
            .filter(|offset| *offset <= MAX_OFFSET)
            .ok_or_else(|| invalid(format!("offset is {offset}"), format!("Use 0 to {MAX_OFFSET}.")))?;
        let of_config = overrides.number("min_score")?.map(|given| given as f32);
        let min_score = min_score.or(of_config).unwrap_or(0.0);
        if !(0.0..=1.0).contains(&min_score) {
            return Err(invalid(format!("min_score is {min_score}"), "Use 0 to 1."));
        }
        let format = overrides.text("format")?.map(format).transpose()?;
        let weights = Weights::from_fn(|place, row| overrides.weight(place, row))?;
        let is_graded = overrides.flag("grade")?.unwrap_or(false);
        let max_results = usize::try_from(max_results).unwrap_or(usize::MAX);
        let config = Self {
            max_results,
            shown: max_results,
            order: overrides.text("order")?.map(order).transpose()?,
            offset,
            min_score,
            format,
            dedup: dedup
                .or(overrides.text("dedup")?)
                .map(parse_dedup)
                .transpose()?
                .unwrap_or(Dedup::Document),
            fields: overrides.fields()?,
            syntax: overrides.text("syntax")?.map(syntax).transpose()?.unwrap_or_default(),
            thresholds: thresholds(&weights, min_score),
            transform: overrides.transform()?,
            grade: false,
            minimum: minimum(&weights),
            weights,
            overridden: overrides.0.into_iter().map(|(key, _)| key).collect(),
            max_hybrid: 1.0,
            is_part: false,
            replaced: 0,
        };
        Ok(if is_graded { config.graded() } else { config })
    }

    /// The configuration of a graded answer: finds as many results as a grade reads, however few are shown.
    #[must_use]
    pub(crate) fn graded(self) -> Self {
        Self {
            grade: true,
            max_results: self.max_results.max(MAX_CONTEXTS),
            ..self
        }
    }

    /// The configuration for searches of a project: its weights replace those that the call does not give.
    pub(crate) fn of_project(&self, project: &Project) -> Self {
        if project.weights.is_empty() {
            return self.clone();
        }
        let mut own = project.weights.clone();
        own.retain(|name, _| !self.overridden.contains(name));
        let weights = self.weights.with_own(&own).with_hybrid_at_most(self.max_hybrid);
        Self {
            weights,
            thresholds: thresholds(&weights, self.min_score),
            minimum: minimum(&weights),
            ..self.clone()
        }
    }

    /// Whether the call has weights of its own, with which scores are others than those of the project.
    pub(crate) fn overrides_weights(&self) -> bool {
        WEIGHTS.iter().any(|row| self.overridden.contains(row.name))
    }

    /// The configuration with a maximum share of the vector score.
    pub(crate) fn with_max_hybrid(&self, share: f32) -> Self {
        Self {
            weights: self.weights.with_hybrid_at_most(share),
            max_hybrid: share,
            ..self.clone()
        }
    }

    /// Sections for the vector retriever to find: the window times its share of the score, or what `documents` of the
    /// keyword retriever leave of the window.
    pub(crate) fn vector_window(&self, hybrid: f32, window: i64, documents: usize) -> i64 {
        let share = (window as f64 * f64::from(hybrid)).ceil() as i64;
        let free = window.saturating_sub(i64::try_from(documents).unwrap_or(i64::MAX));
        share.max(free)
    }

    /// Characters of a snippet.
    pub(crate) fn snippet_length(&self) -> usize {
        usize::try_from(self.weights.snippet_length).unwrap_or_default()
    }

    /// The configuration of a search whose results are merged with those of others.
    pub(crate) fn as_part(&self) -> Self {
        Self {
            is_part: true,
            ..self.clone()
        }
    }

    /// The configuration of a search of whose results up to this number are removed afterwards.
    pub(crate) fn replacing(self, replaced: usize) -> Self {
        Self { replaced, ..self }
    }

    pub(crate) fn is_part(&self) -> bool {
        self.is_part
    }

    /// Number of the best documents that need an exact score. Confidence compares the first with the second. If results
    /// are merged, or sections are results of their own, any document may come first.
    pub(crate) fn exactly_scored(&self) -> usize {
        if self.is_part || self.order.is_some() || self.dedup == Dedup::None {
            usize::MAX
        } else {
            (self.wanted() + self.replaced).max(2)
        }
    }

    /// Number of the best documents to explain.
    pub(crate) fn explained(&self) -> usize {
        self.order.as_ref().map_or(self.wanted(), |_| usize::MAX)
    }

    /// Documents to find before the retrievers stop widening their limits. A search whose results are merged does not
    /// widen them: its first results must not depend on max_results.
    pub(crate) fn min_found(&self) -> usize {
        match (self.is_part, &self.order) {
            (true, _) => 0,
            (false, None) => self.wanted() + self.replaced,
            (false, Some(_)) => self.wanted().max(MAX_ORDERED),
        }
    }

    /// Whether the tokens of loading each result are counted, for which pages are read.
    pub(crate) fn counts_tokens(&self, has_sections: bool) -> bool {
        self.fields.as_ref().map_or(has_sections, Fields::has_tokens)
    }

    /// Results to rank, including those before the offset.
    pub(crate) fn wanted(&self) -> usize {
        self.max_results + self.offset
    }
}

/// The error for further wordings that exceed the bounds.
pub(super) fn wording_error(problem: WordingError) -> ErrorReport {
    match problem {
        WordingError::TooMany(given) => invalid(
            format!("also has {given} elements"),
            format!("Use at most {MAX_WORDINGS} further wordings."),
        ),
        WordingError::TooLong => invalid(
            "also is too long",
            format!("Use at most {MAX_WORDING_CHARS} characters in total."),
        ),
    }
}

fn thresholds(weights: &Weights, min_score: f32) -> Thresholds {
    Thresholds {
        high: weights.confidence_high,
        medium: weights.confidence_medium,
        lead: weights.confidence_lead,
        min_score,
    }
}

fn minimum(weights: &Weights) -> Minimum {
    Minimum {
        score: weights.grade_min_score,
        relevance: weights.grade_min_relevance,
        completeness: weights.grade_min_completeness,
    }
}

/// The `config` argument.
struct Overrides(Map<String, Value>);

impl Overrides {
    fn read(config: Option<JsonB>) -> Result<Self> {
        let map = match config {
            None | Some(JsonB(Value::Null)) => Map::new(),
            Some(JsonB(Value::Object(map))) => map,
            Some(_) => return Err(invalid("config must be a JSON object", known_keys(""))),
        };
        let unknown = map.keys().find(|key| !is_known(key));
        match unknown {
            Some(key) => Err(invalid(
                format!("unknown config key \"{}\"", bounds::shown(key)),
                known_keys(key),
            )),
            None => Ok(Self(map)),
        }
    }

    fn number(&self, key: &str) -> Result<Option<f64>> {
        let wrong = || {
            invalid(
                format!("config key \"{key}\" must be a number"),
                "Use a number without quotation marks: {\"candidates\": 100}.",
            )
        };
        self.0
            .get(key)
            .map(|value| value.as_f64().ok_or_else(wrong))
            .transpose()
    }

    fn integer(&self, key: &str) -> Result<Option<i64>> {
        let wrong = || {
            invalid(
                format!("config key \"{key}\" must be a whole number"),
                "Use a whole number without quotation marks: {\"limit\": 5}.",
            )
        };
        self.0
            .get(key)
            .map(|value| value.as_i64().ok_or_else(wrong))
            .transpose()
    }

    fn text(&self, key: &str) -> Result<Option<&str>> {
        let wrong = || {
            invalid(
                format!("config key \"{key}\" must be a string"),
                "Use a string: {\"dedup\": \"none\"}.",
            )
        };
        self.0
            .get(key)
            .map(|value| value.as_str().ok_or_else(wrong))
            .transpose()
    }

    fn fields(&self) -> Result<Option<Fields>> {
        let Some(value) = self.0.get("fields") else {
            return Ok(None);
        };
        let names = value
            .as_array()
            .and_then(|names| names.iter().map(Value::as_str).collect());
        let names: Vec<&str> = names.ok_or_else(|| {
            invalid(
                "config key \"fields\" must be a list of strings",
                "Use a list of fields: {\"fields\": [\"slug\", \"title\", \"snippet\"]}.",
            )
        })?;
        let chosen = Fields::new(names).map_err(|unknown| {
            let known: Vec<&str> = known_fields().collect();
            invalid(
                format!("unknown field \"{}\"", bounds::shown(unknown)),
                format!("Use {}.", known.join(", ")),
            )
        });
        chosen.map(Some)
    }

    fn flag(&self, key: &str) -> Result<Option<bool>> {
        let wrong = || {
            invalid(
                format!("config key \"{key}\" must be true or false"),
                "Use true or false without quotation marks: {\"grade\": true}.",
            )
        };
        self.0
            .get(key)
            .map(|value| value.as_bool().ok_or_else(wrong))
            .transpose()
    }

    /// `max_results`, or its other name `limit`.
    fn max_results(&self) -> Result<Option<i64>> {
        match (self.integer("max_results")?, self.integer("limit")?) {
            (Some(most), Some(limit)) if most != limit => Err(invalid(
                format!("config has max_results {most} and limit {limit}"),
                "Both are names of the same key: use one of them.",
            )),
            (most, limit) => Ok(most.or(limit)),
        }
    }

    fn transform(&self) -> Result<Transform> {
        match self.text("transform")? {
            None | Some("none") => Ok(Transform::None),
            Some("rules") => Ok(Transform::Rules),
            Some("model") => Ok(Transform::Model),
            Some(other) => Err(invalid(
                format!("unknown transformation \"{other}\""),
                "Use none, rules or model.",
            )),
        }
    }

    /// The value of a weight: from the call, or else from the session.
    fn weight(&self, place: usize, row: &Weight) -> Result<f64> {
        let value = match row.is_whole {
            true => self.integer(row.name)?.map(|given| given as f64),
            false => self.number(row.name)?,
        };
        let value = value.unwrap_or_else(|| settings::weight(place, row));
        if (row.min..=row.max).contains(&value) {
            return Ok(value);
        }
        Err(invalid(
            format!("config key \"{}\" is {value}", row.name),
            format!("Use {} to {}.", row.min, row.max),
        ))
    }
}

/// The format with this name.
pub(crate) fn format(name: &str) -> Result<Format> {
    Format::parse(name).ok_or_else(|| invalid(format!("unknown format \"{name}\""), "Use compact, detailed or raw."))
}

fn order(text: &str) -> Result<Order> {
    Order::parse(text).map_err(|problem| {
        invalid(
            problem.to_string(),
            "Name published_at, updated_at, created_at, title, slug, category, kind, version or a key of the metadata: \
             {\"order\": \"updated_at desc\"}.",
        )
    })
}

fn syntax(name: &str) -> Result<Syntax> {
    Syntax::parse(name).ok_or_else(|| {
        invalid(
            format!("unknown syntax \"{name}\""),
            "Use sql, command_line, mcp or http.",
        )
    })
}

fn parse_dedup(name: &str) -> Result<Dedup> {
    Dedup::parse(name).ok_or_else(|| {
        invalid(
            format!("unknown dedup mode \"{name}\""),
            "Use document, none or similar.",
        )
    })
}

fn is_known(key: &str) -> bool {
    CALL_KEYS.contains(&key) || WEIGHTS.iter().any(|row| row.name == key)
}

fn known_keys(wrong: &str) -> String {
    let keys = WEIGHTS.iter().map(|row| row.name).chain(CALL_KEYS);
    format!("The nearest known keys: {}.", bounds::nearest(wrong, keys))
}
