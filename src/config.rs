//! What one call of a search asks for: arguments, `config` and settings in one place.

use docsearch_core::bm25::Bm25;
use docsearch_core::delivery::{Dedup, Format, Thresholds};
use docsearch_core::grade::Minimum;
use docsearch_core::rank::Weights;
use docsearch_core::understanding::Class;
use docsearch_core::weight::{HybridWeights, RuleWeights};
use serde_json::{Map, Value};

use crate::jsonb::JsonB;
use crate::report::{Result, invalid};
use crate::settings::{self, Int, Real};

/// Greatest number of results of one search.
const MAX_RESULTS: i64 = 1000;

/// Keys of `config` that are not settings.
const CALL_KEYS: [&str; 8] = [
    "limit",
    "max_results",
    "offset",
    "min_score",
    "dedup",
    "format",
    "grade",
    "transform",
];

/// What becomes of a query before it is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transform {
    /// Nothing.
    None,
    /// What the rules and the documents add.
    Rules,
    /// What the language model makes of it.
    Model,
}

/// A call's arguments after `config` and the settings have been applied.
#[derive(Clone, Debug)]
pub(crate) struct SearchConfig {
    pub(crate) max_results: usize,
    pub(crate) offset: usize,
    pub(crate) min_score: f32,
    /// How `search_docs_text` writes, if `config` says so.
    pub(crate) format: Option<Format>,
    pub(crate) dedup: Dedup,
    pub(crate) dedup_similarity: f32,
    weights: Weights,
    pub(crate) rules: RuleWeights,
    pub(crate) part_weight: f32,
    pub(crate) candidates: i64,
    pub(crate) keyword_budget: i64,
    pub(crate) exact_search_limit: i64,
    pub(crate) snippet_length: usize,
    pub(crate) thresholds: Thresholds,
    pub(crate) transform: Transform,
    /// Share of what the transformed query adds to a score.
    pub(crate) transform_share: f32,
    /// Whether the answer is graded.
    pub(crate) grade: bool,
    /// What a grade has to reach.
    pub(crate) minimum: Minimum,
}

impl SearchConfig {
    /// Precedence: `config`, then the arguments, then the settings of session, role, database and
    /// server.
    pub(crate) fn resolve(max_results: i32, min_score: f32, dedup: &str, config: Option<JsonB>) -> Result<Self> {
        let overrides = Overrides::read(config)?;
        let max_results = match overrides.integer("max_results")?.or(overrides.integer("limit")?) {
            Some(given) => given,
            None => max_results.into(),
        };
        if !(1..=MAX_RESULTS).contains(&max_results) {
            return Err(invalid(
                format!("max_results is {max_results}"),
                format!("Ask for 1 to {MAX_RESULTS} results."),
            ));
        }
        let offset = overrides.integer("offset")?.unwrap_or(0);
        if !(0..=MAX_RESULTS).contains(&offset) {
            return Err(invalid(
                format!("offset is {offset}"),
                format!("Use 0 to {MAX_RESULTS}."),
            ));
        }
        let min_score = overrides.number("min_score")?.unwrap_or(min_score.into());
        if !(0.0..=1.0).contains(&min_score) {
            return Err(invalid(format!("min_score is {min_score}"), "Scores go from 0 to 1."));
        }
        let format = overrides.text("format")?.map(format).transpose()?;
        let real = |setting: &Real| overrides.real(setting);
        let int = |setting: &Int| overrides.int(setting);
        let wanted = usize::try_from(max_results + offset).unwrap_or(usize::MAX);
        Ok(Self {
            max_results: usize::try_from(max_results).unwrap_or(usize::MAX),
            offset: usize::try_from(offset).unwrap_or(usize::MAX),
            min_score: min_score as f32,
            format,
            dedup: parse_dedup(overrides.text("dedup")?.unwrap_or(dedup))?,
            dedup_similarity: real(&settings::DEDUP_SIMILARITY)?,
            rules: overrides.rules()?,
            weights: Weights {
                hybrid: 0.0,
                document_share: real(&settings::DOCUMENT_SHARE)?,
                background: 0.0,
                bm25: Bm25 {
                    k1: real(&settings::BM25_K1)?,
                    b: real(&settings::BM25_B)?,
                    title: real(&settings::WEIGHT_TITLE)?,
                    heading: real(&settings::WEIGHT_HEADING)?,
                    keyword: real(&settings::WEIGHT_KEYWORD)?,
                },
            },
            part_weight: real(&settings::PART_WEIGHT)?,
            candidates: int(&settings::CANDIDATES)?.max(2 * wanted as i64),
            keyword_budget: int(&settings::KEYWORD_BUDGET)?,
            exact_search_limit: int(&settings::EXACT_SEARCH_LIMIT)?,
            snippet_length: usize::try_from(int(&settings::SNIPPET_LENGTH)?).unwrap_or(0),
            thresholds: Thresholds {
                high: real(&settings::CONFIDENCE_HIGH)?,
                medium: real(&settings::CONFIDENCE_MEDIUM)?,
                lead: real(&settings::CONFIDENCE_LEAD)?,
                min_score: min_score as f32,
            },
            transform: overrides.transform()?,
            transform_share: real(&settings::TRANSFORM_SHARE)?,
            grade: overrides.flag("grade")?.unwrap_or(false),
            minimum: Minimum {
                score: real(&settings::GRADE_MIN_SCORE)?,
                relevance: real(&settings::GRADE_MIN_RELEVANCE)?,
                completeness: real(&settings::GRADE_MIN_COMPLETENESS)?,
            },
        })
    }

    /// The mix of the legs for a class of queries; without the model's background.
    pub(crate) fn weights(&self, class: Class) -> Weights {
        Weights {
            hybrid: self.rules.hybrid.of(class),
            ..self.weights
        }
    }

    /// Sections that the dense leg brings, of a window that the keyword leg filled with so many
    /// documents: its share of the score, or what is free.
    pub(crate) fn nearest(&self, hybrid: f32, window: i64, documents: usize) -> i64 {
        let share = (window as f64 * f64::from(hybrid)).ceil() as i64;
        let free = window.saturating_sub(i64::try_from(documents).unwrap_or(i64::MAX));
        share.max(free).max(2 * self.wanted() as i64)
    }

    /// Results to rank: those before the offset, too.
    pub(crate) fn wanted(&self) -> usize {
        self.max_results + self.offset
    }
}

/// The `config` argument.
struct Overrides(Map<String, Value>);

impl Overrides {
    fn read(config: Option<JsonB>) -> Result<Self> {
        let map = match config {
            None | Some(JsonB(Value::Null)) => Map::new(),
            Some(JsonB(Value::Object(map))) => map,
            Some(_) => return Err(invalid("config must be a JSON object", known_keys())),
        };
        let unknown = map.keys().find(|key| !is_known(key));
        match unknown {
            Some(key) => Err(invalid(format!("unknown config key \"{key}\""), known_keys())),
            None => Ok(Self(map)),
        }
    }

    fn number(&self, key: &str) -> Result<Option<f64>> {
        let wrong = || invalid(format!("config key \"{key}\" must be a number"), known_keys());
        self.0
            .get(key)
            .map(|value| value.as_f64().ok_or_else(wrong))
            .transpose()
    }

    fn integer(&self, key: &str) -> Result<Option<i64>> {
        let wrong = || invalid(format!("config key \"{key}\" must be a whole number"), known_keys());
        self.0
            .get(key)
            .map(|value| value.as_i64().ok_or_else(wrong))
            .transpose()
    }

    fn text(&self, key: &str) -> Result<Option<&str>> {
        let wrong = || invalid(format!("config key \"{key}\" must be a text"), known_keys());
        self.0
            .get(key)
            .map(|value| value.as_str().ok_or_else(wrong))
            .transpose()
    }

    fn flag(&self, key: &str) -> Result<Option<bool>> {
        let wrong = || invalid(format!("config key \"{key}\" must be true or false"), known_keys());
        self.0
            .get(key)
            .map(|value| value.as_bool().ok_or_else(wrong))
            .transpose()
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

    /// What each rule counts.
    fn rules(&self) -> Result<RuleWeights> {
        let real = |setting: &Real| self.real(setting);
        let hybrid = real(&settings::HYBRID_WEIGHT)?;
        Ok(RuleWeights {
            hybrid: if hybrid < 0.0 {
                HybridWeights {
                    identifier: real(&settings::HYBRID_WEIGHT_IDENTIFIER)?,
                    in_pattern: real(&settings::HYBRID_WEIGHT_IN_PATTERN)?,
                    question: real(&settings::HYBRID_WEIGHT_QUESTION)?,
                    words: real(&settings::HYBRID_WEIGHT_WORDS)?,
                    generic: real(&settings::HYBRID_WEIGHT_GENERIC)?,
                }
            } else {
                HybridWeights::same(hybrid)
            },
            in_pattern: real(&settings::BOOST_IN_PATTERN)?,
            framework: real(&settings::BOOST_FRAMEWORK)?,
            filename_exact: real(&settings::BOOST_FILENAME_EXACT)?,
            name_words: real(&settings::BOOST_NAME_WORDS)?,
            filename_all_words: real(&settings::BOOST_FILENAME_ALL_WORDS)?,
            api_name: real(&settings::BOOST_API_NAME)?,
            generic_term: real(&settings::BOOST_GENERIC_TERM)?,
            action_name: real(&settings::BOOST_ACTION_NAME)?,
            action_description: real(&settings::BOOST_ACTION_DESCRIPTION)?,
            object_name: real(&settings::BOOST_OBJECT_NAME)?,
            object_description: real(&settings::BOOST_OBJECT_DESCRIPTION)?,
            synonym_factor: real(&settings::SYNONYM_FACTOR)?,
            diminishing: real(&settings::DIMINISHING_FACTOR)?,
            minimum_term_length: usize::try_from(self.int(&settings::MINIMUM_TERM_LENGTH)?).unwrap_or(0),
            category_context: real(&settings::BOOST_CATEGORY_CONTEXT)?,
            platform: real(&settings::BOOST_PLATFORM)?,
            phrase: real(&settings::BOOST_PHRASE)?,
            recency: real(&settings::BOOST_RECENCY)?,
            recency_half_life: real(&settings::RECENCY_HALF_LIFE)?,
            intent_conflict: real(&settings::PENALTY_INTENT_CONFLICT)?,
            elsewhere: real(&settings::PENALTY_ELSEWHERE)?,
            older_version: real(&settings::PENALTY_OLDER_VERSION)?,
            definition: real(&settings::WEIGHT_DEFINITION)?,
            decay_slope: real(&settings::DECAY_SLOPE)?,
            decay_floor: real(&settings::DECAY_FLOOR)?,
            max_boost: real(&settings::MAX_BOOST)?,
        })
    }

    fn real(&self, setting: &Real) -> Result<f32> {
        let key = name(setting.name);
        let value = self.number(&key)?.unwrap_or_else(|| setting.guc.get());
        if (setting.min..=setting.max).contains(&value) {
            Ok(value as f32)
        } else {
            Err(out_of_bounds(&key, value, setting.min, setting.max))
        }
    }

    fn int(&self, setting: &Int) -> Result<i64> {
        let key = name(setting.name);
        let value = self.integer(&key)?.unwrap_or_else(|| setting.guc.get().into());
        if (i64::from(setting.min)..=i64::from(setting.max)).contains(&value) {
            Ok(value)
        } else {
            Err(out_of_bounds(
                &key,
                value,
                i64::from(setting.min),
                i64::from(setting.max),
            ))
        }
    }
}

/// The format of this name.
pub(crate) fn format(name: &str) -> Result<Format> {
    Format::parse(name).ok_or_else(|| invalid(format!("unknown format \"{name}\""), "Use compact, detailed or raw."))
}

fn parse_dedup(name: &str) -> Result<Dedup> {
    Dedup::parse(name).ok_or_else(|| {
        invalid(
            format!("unknown dedup mode \"{name}\""),
            "Use document, none or similar.",
        )
    })
}

fn out_of_bounds<T: std::fmt::Display>(key: &str, value: T, min: T, max: T) -> pgrx::pg_sys::panic::ErrorReport {
    invalid(
        format!("config key \"{key}\" is {value}"),
        format!("Use {min} to {max}."),
    )
}

fn name(name: &std::ffi::CStr) -> std::borrow::Cow<'_, str> {
    name.to_string_lossy()
}

fn setting_names() -> impl Iterator<Item = std::borrow::Cow<'static, str>> {
    let reals = settings::REALS.iter().map(|setting| name(setting.name));
    reals.chain(settings::INTS.iter().map(|setting| name(setting.name)))
}

fn is_known(key: &str) -> bool {
    CALL_KEYS.contains(&key) || setting_names().any(|name| name == key)
}

fn known_keys() -> String {
    let mut keys: Vec<_> = CALL_KEYS
        .iter()
        .map(|key| (*key).into())
        .chain(setting_names())
        .collect();
    keys.sort();
    format!("Known keys: {}.", keys.join(", "))
}
