//! The table of all weights of ranking. Keys of `config` and of projects, some settings `docsearch.*`,
//! `docsearch.settings()` and the reference come from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::index::bm25::Bm25;
use crate::query::lookup::TermWeights;
use crate::query::understanding::Class;
use crate::ranking::rank::{Mix, QuestionMix};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// Its key in `config` and in projects; with `docsearch.` before it, the name of the setting.
    pub name: &'static str,
    /// Whether it is also a setting, for a session, role or database. A weight that depends on the pages of a project
    /// is none: no value is right for all projects of a database.
    pub is_setting: bool,
    /// How `docsearch.tune` varies it; `None` if it leaves it alone.
    pub tuned: Option<Scale>,
    /// Whether it is a whole number.
    pub is_whole: bool,
    /// Default value.
    pub default: f64,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
    /// Unit.
    pub unit: &'static str,
    /// Its effect, in a sentence.
    pub help: &'static str,
    /// Source of the default: a measurement on development sets, a behaviour of the specification, or a decision.
    pub source: &'static str,
}

/// How a weight is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By sums, between its bounds.
    Linear,
    /// By factors, from a quarter of its default to four times it.
    Logarithmic,
}

/// Types of numbers that a weight can have.
trait Number {
    const IS_WHOLE: bool;
}

impl Number for f32 {
    const IS_WHOLE: bool = false;
}

impl Number for i64 {
    const IS_WHOLE: bool = true;
}

/// Whether the marks before a row have `#[setting]`.
macro_rules! is_setting {
    () => {
        false
    };
    (setting $($other:ident)*) => {
        true
    };
    ($mark:ident $($other:ident)*) => {
        is_setting!($($other)*)
    };
}

/// The scale that the marks before a row name: `#[tuned]` or `#[tuned_by_factors]`.
macro_rules! tuned {
    () => {
        None
    };
    (tuned $($other:ident)*) => {
        Some(Scale::Linear)
    };
    (tuned_by_factors $($other:ident)*) => {
        Some(Scale::Logarithmic)
    };
    ($mark:ident $($other:ident)*) => {
        tuned!($($other)*)
    };
}

macro_rules! weights {
    ($($(#[$mark:ident])* $name:ident: $number:ty = $default:literal in $min:literal..=$max:literal, $unit:literal, $help:literal, $source:literal;)*) => {
        /// The table, in the order of the reference.
        pub const WEIGHTS: &[Weight] = &[$(Weight {
            name: stringify!($name),
            is_setting: is_setting!($($mark)*),
            tuned: tuned!($($mark)*),
            is_whole: <$number as Number>::IS_WHOLE,
            default: $default as f64,
            min: $min as f64,
            max: $max as f64,
            unit: $unit,
            help: $help,
            source: $source,
        }),*];

        /// A value for each row of [`WEIGHTS`].
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Weights {
            $(#[doc = $help] pub $name: $number,)*
        }

        impl Default for Weights {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl Weights {
            /// Reads the value of each row, by its index in [`WEIGHTS`].
            ///
            /// # Errors
            ///
            /// The first error of `value`.
            pub fn from_fn<E>(mut value: impl FnMut(usize, &'static Weight) -> Result<f64, E>) -> Result<Self, E> {
                let mut rows = WEIGHTS.iter().enumerate();
                Ok(Self {
                    $($name: rows.next().map_or(Ok($default as f64), |(place, row)| value(place, row))? as $number,)*
                })
            }

            /// The same weights, with those in `own` replaced by name. Values are clamped to their bounds.
            #[must_use]
            pub fn with_own(self, own: &BTreeMap<String, f64>) -> Self {
                Self {
                    $($name: own.get(stringify!($name))
                        .map_or(self.$name, |value| value.clamp($min as f64, $max as f64) as $number),)*
                }
            }
        }
    };
}

weights! {
    #[setting]
    hybrid_weight: f32 = -1.0 in -1.0..=1.0, "share",
        "Share of vectors in the base score: 0 is keywords alone, 1 vectors alone, -1 the share for the class of the query.",
        "off: classes of queries differ";
    #[tuned]
    hybrid_weight_identifier: f32 = 0.5 in 0.0..=1.0, "share",
        "Share of vectors in the base score where the query is an identifier of code.",
        "from 0.2 over 0.3 and 0.4 to 0.5, P@1 of python-docs symbol rises from .875 to .911 and of postgres-docs identifier from .776 to .816; at 0.6 the latter is .803";
    #[tuned]
    hybrid_weight_in_pattern: f32 = 0.5 in 0.0..=1.0, "share",
        "Share of vectors in the base score where the query is X in Y, and Y is known.",
        "chosen, as for names of code; not measured alone";
    #[tuned]
    hybrid_weight_question: f32 = 0.5 in 0.0..=1.0, "share",
        "Share of vectors in the base score where the query is a question.",
        "decision 28: at .6, .7 and .8 ray-docs-pages loses .003, .018 and .035 of nDCG@10, tools-bfcl-live .001, .007 and .011";
    #[tuned]
    hybrid_weight_words: f32 = 0.4 in 0.0..=1.0, "share",
        "Share of vectors in the base score where the query is other words.",
        "with weight_keyword 0: tldr-commands unnamed .539 (0.5: .524), tools-azure-mcp .928 (.914), python-docs index-concept .799 (.807), postgres-docs and scifact (train) the same within .004";
    #[tuned]
    hybrid_weight_generic: f32 = 0.2 in 0.0..=1.0, "share",
        "Share of vectors in the base score where the query is a generic term alone.",
        "chosen: a generic term alone is to be found as it is written";
    #[tuned]
    document_share: f32 = 0.5 in 0.0..=1.0, "share",
        "Share of the document as a whole in the keyword score; the rest is its best section.",
        "decision 28: at .25 how-questions gain .029 of nDCG@10, symptoms lose .031 and ray-docs-pages .010";
    #[tuned_by_factors]
    bm25_k1: f32 = 1.0 in 0.0..=10.0, "factor",
        "BM25F k1: saturation of the term frequency; at 0 only the first occurrence of a word counts.",
        "tools-azure-mcp: P@1 .839 at 0.9 and 1.0, .827 at 1.2; python-docs symbol: .821, .839, .857";
    #[tuned]
    bm25_b: f32 = 0.4 in 0.0..=1.0, "share",
        "BM25F b: how much scores are normalised by the length of the text; 0 is not at all.",
        "python-docs: nDCG@10 .770 to .774 from 0.2 to 0.4, .754 at 0.75; scifact does not tell them apart";
    weight_title: f32 = 2.0 in 0.0..=100.0, "factor",
        "BM25F: weight of a word in the title; a word in the body weighs 1.",
        "chosen: twice the body";
    weight_heading: f32 = 1.5 in 0.0..=100.0, "factor",
        "BM25F: weight of a word in a heading.",
        "chosen: between title and body";
    weight_keyword: f32 = 2.0 in 0.0..=100.0, "factor",
        "BM25F: weight of a keyword that the author of the document gives.",
        "chosen: as a title; keywords that indexing chooses are not counted";
    weight_question: f32 = 2.0 in 0.0..=100.0, "factor",
        "BM25F: number of occurrences that a word counts for if any question that the page answers has it.",
        "questions of hatch, fastify and npm (57): 48, 50, 51 first pages at 0, 1 and 2, 51 up to 4";
    question_word_share: f32 = 1.0 in 0.0..=1.0, "share",
        "Share of the words of a page's best question in its keyword score, where they match better than its text.",
        "the same: 50, 50, 51 first pages at .6, .8, 1.0";
    question_vector_share: f32 = 0.7 in 0.0..=1.0, "share",
        "Share of the similarity of a page's best question in its vector score, where it is nearer than its text.",
        "the same: 50, 51, 51, 48 at .6, .7, .8, 1.0";
    question_allowance: f32 = 0.06 in 0.0..=1.0, "score",
        "Deduction from the scores of a page with questions, so that pages without can compete.",
        "decision 36: with questions on every other page, those without lose 1 of 47 first pages at .05 to .07 and 3 to 10 below; with questions on all it changes none";
    #[tuned]
    part_weight: f32 = 0.3 in 0.0..=1.0, "share",
        "Weight of the parts of an identifier, relative to the whole identifier.",
        "chosen: a part says less than the identifier whole";
    #[tuned]
    weight_stop_word: f32 = 0.1 in 0.0..=1.0, "share",
        "Weight of stop words and question words in queries of more than six words, relative to other words.",
        "decision 8: 0 to 0.3 are alike";
    boost_in_pattern: f32 = 0.8 in 0.0..=1.0, "share of the score",
        "Boost of the page that X in Y names; 0.75 of it for the path alone, 0.5 for words of the name.",
        "S0.6: 40 to 80 % of the score";
    #[tuned]
    boost_framework: f32 = 0.25 in 0.0..=1.0, "share of the score",
        "Boost of pages that belong to the Y of X in Y.",
        "chosen: less than the boosts of names";
    boost_filename_exact: f32 = 0.5 in 0.0..=1.0, "share of the score",
        "Boost of a page whose file name is the query.",
        "S0.7: 50 %";
    boost_filename_all_words: f32 = 0.4 in 0.0..=1.0, "share of the score",
        "Boost of a page that has all words of the query in its name.",
        "S0.8: 40 %";
    boost_name_words: f32 = 0.25 in 0.0..=1.0, "share of the score",
        "Boost of a page whose name has no word but those of the query, among pages that are named by verbs.",
        "tools-azure-mcp: P@1 .851 without it, .863 with it; tools-livemcp .839 and .871; among pages that are not named by verbs it misleads: postgres-docs index-sub loses .05";
    boost_api_name: f32 = 0.4 in 0.0..=1.0, "share of the score",
        "Boost of a page whose name the query is or mentions; 0.75 of it if not as written.",
        "S0.9: 30 to 40 %";
    #[tuned_by_factors]
    boost_generic_term: f32 = 1.0 in 0.0..=10.0, "factor",
        "Factor of the boosts in the table generic_term.",
        "S0.10: the rules give 5 to 10 %";
    boost_action_name: f32 = 0.4 in 0.0..=1.0, "share of the score",
        "Boost of a page with the query's verb in its name.",
        "S2.17";
    boost_action_description: f32 = 0.2 in 0.0..=1.0, "share of the score",
        "Boost of a page with the query's verb in its summary.",
        "S2.6";
    weight_task: f32 = 0.75 in 0.0..=1.0, "score",
        "Strength of a page whose name has only the verb and objects of a query of up to four significant words.",
        "tools-azure-mcp; decision 8";
    boost_object_name: f32 = 0.2 in 0.0..=1.0, "share of the score",
        "Boost of a page with another word of a query with a verb in its name.",
        "S2.17";
    boost_object_description: f32 = 0.1 in 0.0..=1.0, "share of the score",
        "Boost of a page with another word of a query with a verb in its summary.",
        "S2.17";
    modifier_factor: f32 = 0.5 in 0.0..=1.0, "factor",
        "Factor of the boosts of an object for a word that only says which objects are meant: large of large files.",
        "S2.14: 10 of 20 %";
    scope_factor: f32 = 0.5 in 0.0..=1.0, "factor",
        "Factor of boost_object_name for a page whose name and the query both say how many objects are meant.",
        "decision 8";
    synonym_factor: f32 = 1.2 in 0.0..=10.0, "factor",
        "Factor of a verb's boost where the page has a synonym of the verb.",
        "S2.4: 120 %";
    diminishing_factor: f32 = 0.8 in 0.0..=1.0, "factor",
        "Factor of all boosts of words for each further word found.",
        "S2.17";
    #[tuned]
    boost_category_context: f32 = 0.1 in 0.0..=1.0, "share of the score",
        "Boost of a page whose category a query with a verb names.",
        "S2.16: 10 %";
    boost_platform: f32 = 0.1 in 0.0..=1.0, "share of the score",
        "Boost of a page for the platform that the query names.",
        "chosen, as for a category";
    boost_phrase: f32 = 0.2 in 0.0..=1.0, "share of the score",
        "Boost of a page with a quoted phrase in its title or summary.",
        "chosen, as for an object in a name";
    boost_recency: f32 = 0.3 in 0.0..=1.0, "share of the score",
        "Boost of a page published today, where the query asks for what is new.",
        "chosen, for S1.8";
    recency_half_life: f32 = 90.0 in 1.0..=36500.0, "days",
        "Age in days at which the boost for recency is half.",
        "chosen: a quarter of a year";
    penalty_intent_conflict: f32 = 1.0 in 0.0..=10.0, "factor",
        "Factor of the penalties in the table intent_conflict.",
        "S2.9: the rules give 20 to 30 %";
    penalty_elsewhere: f32 = 0.25 in 0.0..=1.0, "share of the score",
        "Share of the score that a page loses if it says that it belongs to another framework than the Y of X in Y.",
        "decision 8";
    penalty_other_word: f32 = 0.25 in 0.0..=1.0, "share of the score",
        "Share of the score that a page loses if its title and summary have, for all words of a short query, only other words with the same stem, as integration for integrity.",
        "chosen, as for another framework";
    penalty_older_version: f32 = 0.05 in 0.0..=1.0, "share of the score",
        "Share of the score that a page loses if a newer version of it was found.",
        "chosen: it decides between pages that are equal otherwise";
    #[tuned]
    penalty_list: f32 = 0.5 in 0.0..=1.0, "share of the score",
        "Share of the score that indexes, tables of contents and other lists of names lose, unless the query is their own name.",
        "chosen: what they list is explained elsewhere";
    #[tuned]
    penalty_news: f32 = 0.2 in 0.0..=1.0, "share of the score",
        "Share of the score that release notes, changelogs and blogs lose, unless the query asks for what is new or for a version.",
        "chosen: they name what other pages explain";
    #[tuned]
    weight_proximity: f32 = 0.4 in 0.0..=2.0, "share of the keyword score",
        "Increase of a section's keyword score where all words that are neighbours in the query are near each other in it.",
        "of 0, .2 and .4 the last is best on postgres-docs, python-docs and tldr-commands (nDCG@10 +.005, +.012 and +.006), and no set loses significantly; names lose by it";
    weight_definition: f32 = 0.6 in 0.0..=1.0, "share of the score",
        "Strength of the only section of a project that defines a name which the query asks for; 0 is off.",
        "decision 8";
    decay_slope: f32 = 0.0 in 0.0..=10.0, "factor",
        "Share of its vector score that a distant page loses for each unit of distance (1 minus the vector score).",
        "S0.11, decision 17: off, since the curve belongs to other embedding spaces";
    decay_floor: f32 = 0.1 in 0.0..=1.0, "factor",
        "Minimum share of its vector score that a distant page keeps.",
        "S0.11";
    max_boost: f32 = 2.0 in 1.0..=10.0, "factor",
        "Maximum factor of all boosts together.",
        "S2.19";
    transform_share: f32 = 0.5 in 0.0..=1.0, "share",
        "Share of what a transformed query scores above the query itself that is added to a score.",
        "decision 14";
    question_share: f32 = 0.5 in 0.0..=1.0, "share",
        "Share of what a question in a query of several sentences scores above the whole query that is added to a score.",
        "decision 8";
    grade_min_score: f32 = 0.6 in 0.0..=1.0, "grade",
        "Score of a grade below which an answer is to be refined.",
        "S1.14";
    grade_min_relevance: f32 = 0.65 in 0.0..=1.0, "grade",
        "Relevance below which an answer is to be refined.",
        "S1.14";
    grade_min_completeness: f32 = 0.55 in 0.0..=1.0, "grade",
        "Completeness below which an answer is to be refined.",
        "S1.14";
    dedup_similarity: f32 = 0.8 in 0.0..=1.0, "cosine similarity",
        "Maximum cosine similarity of a further section to those of its document above it, with dedup similar.",
        "S4.12";
    #[setting]
    confidence_high: f32 = 0.85 in 0.0..=1.0, "trust",
        "Minimum trust in a result with high confidence.",
        "decision 8: all development sets";
    #[setting]
    confidence_medium: f32 = 0.35 in 0.0..=1.0, "trust",
        "Minimum trust in a result with medium confidence.",
        "decision 8: all development sets";
    #[setting]
    confidence_lead: f32 = 2.0 in 0.0..=10.0, "factor",
        "Factor with which the lead of the first result over the next document adds to the trust in it.",
        "decision 8: all development sets";
    max_distance: f32 = 2.0 in 0.0..=2.0, "cosine distance",
        "Maximum cosine distance from the query of sections that vectors retrieve; 2 is no limit.",
        "S1.41: off, since distances differ between models";
    #[setting]
    #[tuned_by_factors]
    candidates: i64 = 200 in 10..=10_000, "documents",
        "Number of documents that keywords retrieve in the first pass; vectors retrieve their share of it in sections.",
        "scifact, python-docs, postgres-docs and tldr-commands: nDCG@10 the same within .001 whether vectors retrieve all of them or half";
    #[setting]
    #[tuned_by_factors]
    keyword_budget: i64 = 800 in 10..=1_000_000, "sections",
        "Keyword search retrieves by the rarest words that together are in no more than this many sections.",
        "600 to 1200 give the same quality on scifact and python-docs";
    #[setting]
    exact_search_limit: i64 = 1000 in 0..=10_000_000, "sections",
        "Number of sections up to which all vectors are compared; beyond it, those nearest by their codes.",
        "some 700 vectors are compared in the time in which 150 are read by their keys";
    minimum_term_length: i64 = 2 in 0..=100, "characters",
        "Length in characters up to which words earn no boost.",
        "S2.10";
    #[setting]
    snippet_length: i64 = 240 in 20..=10_000, "characters",
        "Length of snippets in characters.",
        "chosen: some lines of a terminal";
}

impl Weights {
    /// Share of the dense score in the base score for a class of queries, 0 to 1.
    pub fn hybrid(mut self, class: Class) -> f32 {
        if self.hybrid_weight >= 0.0 {
            return self.hybrid_weight;
        }
        *self.hybrid_of(class)
    }

    /// The share for a class of queries.
    fn hybrid_of(&mut self, class: Class) -> &mut f32 {
        match class {
            Class::Identifier => &mut self.hybrid_weight_identifier,
            Class::InPattern => &mut self.hybrid_weight_in_pattern,
            Class::Question => &mut self.hybrid_weight_question,
            Class::Words => &mut self.hybrid_weight_words,
            Class::Generic => &mut self.hybrid_weight_generic,
        }
    }

    /// Weights of the words of a query.
    pub fn terms(&self) -> TermWeights {
        TermWeights {
            part: self.part_weight,
            stop_word: self.weight_stop_word,
            framed: false,
        }
    }

    /// The same weights, with shares of the dense score capped at this.
    #[must_use]
    pub fn with_hybrid_at_most(mut self, share: f32) -> Self {
        self.hybrid_weight = self.hybrid_weight.min(share);
        for &class in Class::ALL {
            let own = self.hybrid_of(class);
            *own = own.min(share);
        }
        self
    }

    /// How both retrievers are combined for a class of queries, with this share of the dense score and the
    /// [`Mix::baseline`] of the model.
    pub fn mix(&self, class: Class, hybrid: f32, baseline: f32) -> Mix {
        Mix {
            hybrid,
            document_share: self.document_share,
            baseline,
            bm25: Bm25 {
                k1: self.bm25_k1,
                b: self.bm25_b,
                title: self.weight_title,
                heading: self.weight_heading,
                keyword: self.weight_keyword,
                proximity: match class {
                    Class::Words => self.weight_proximity,
                    Class::Question => self.weight_proximity / 2.0,
                    Class::Identifier | Class::InPattern | Class::Generic => 0.0,
                },
            },
            questions: QuestionMix {
                dense: self.question_vector_share,
                lexical: self.question_word_share,
                frequency: self.weight_question,
                allowance: self.question_allowance,
            },
        }
    }
}

#[cfg(test)]
mod tests;
