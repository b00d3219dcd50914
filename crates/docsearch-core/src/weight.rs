//! How much each rule counts, and how the legs are mixed for each class of query.

use serde::{Deserialize, Serialize};

use crate::understanding::Class;

/// Share of the dense score in the base score, 0 to 1, for each class of queries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HybridWeights {
    /// Of [`Class::Identifier`].
    pub identifier: f32,
    /// Of [`Class::InPattern`].
    pub in_pattern: f32,
    /// Of [`Class::Question`].
    pub question: f32,
    /// Of [`Class::Words`].
    pub words: f32,
    /// Of [`Class::Generic`].
    pub generic: f32,
}

impl HybridWeights {
    /// The share of a class.
    pub fn of(&self, class: Class) -> f32 {
        match class {
            Class::Identifier => self.identifier,
            Class::InPattern => self.in_pattern,
            Class::Question => self.question,
            Class::Words => self.words,
            Class::Generic => self.generic,
        }
    }

    /// The same shares where they are not greater than this.
    pub fn at_most(self, share: f32) -> Self {
        Self {
            identifier: self.identifier.min(share),
            in_pattern: self.in_pattern.min(share),
            question: self.question.min(share),
            words: self.words.min(share),
            generic: self.generic.min(share),
        }
    }

    /// The same share for every class.
    pub fn same(share: f32) -> Self {
        Self {
            identifier: share,
            in_pattern: share,
            question: share,
            words: share,
            generic: share,
        }
    }
}

impl Default for HybridWeights {
    fn default() -> Self {
        // Measured with the settings docsearch.hybrid_weight_*, whose defaults these are.
        Self {
            identifier: 0.5,
            in_pattern: 0.5,
            question: 0.5,
            words: 0.4,
            generic: 0.2,
        }
    }
}

/// How much each rule counts. Boosts are shares of the score: 0.5 makes a small score half as high
/// again. 0 switches a rule off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleWeights {
    /// How the legs are mixed.
    pub hybrid: HybridWeights,
    /// "X in Y", X is the name of a page inside Y; 0 to 1. Three quarters of it if parent and child
    /// stand in its path, half if the words of X stand in its name.
    pub in_pattern: f32,
    /// The page lies in the framework that the query names; 0 to 1.
    pub framework: f32,
    /// The query is the last segment of the slug; 0 to 1.
    pub filename_exact: f32,
    /// All words of the query stand in the title or the last segment of the slug; 0 to 1.
    pub filename_all_words: f32,
    /// All words of the name stand in the query, among pages that are named by verbs; 0 to 1. With some
    /// of them, the square of their share. (tools-azure-mcp: P@1 .851 without it, .863 with it;
    /// tools-livemcp .839 and .871. Among other pages it misleads: postgres-docs index-sub loses .05.)
    pub name_words: f32,
    /// The query is the title or its symbol; 0 to 1. Three quarters of it if it is written
    /// differently or stands in a longer query.
    pub api_name: f32,
    /// Factor of the boosts of generic terms that the rules give; 0 to 2.
    pub generic_term: f32,
    /// A verb of the query stands in the name; 0 to 1.
    pub action_name: f32,
    /// A verb of the query stands in the description; 0 to 1.
    pub action_description: f32,
    /// Another word of the query stands in the name; 0 to 1.
    pub object_name: f32,
    /// Another word of the query stands in the description; 0 to 1.
    pub object_description: f32,
    /// Factor of a verb that stands for the query's verb, times its closeness; 0 to 2.
    pub synonym_factor: f32,
    /// Factor of the second of several matches, squared for the third; 0 to 1.
    pub diminishing: f32,
    /// Words of at most so many characters earn nothing for verbs and objects; 0 to 20.
    pub minimum_term_length: usize,
    /// A word of the query stands in the category; 0 to 1.
    pub category_context: f32,
    /// The page is for a platform that the query names; 0 to 1.
    pub platform: f32,
    /// A quoted phrase stands in the title or the description; 0 to 1.
    pub phrase: f32,
    /// The page was published today, if recent ones are asked for; 0 to 1.
    pub recency: f32,
    /// Days in which the boost of recency halves; 1 to 3,650.
    pub recency_half_life: f32,
    /// Factor of the penalties of conflicting intents that the rules give; 0 to 2.
    pub intent_conflict: f32,
    /// Share of the score that a page loses which states that it belongs elsewhere than to the Y of "X in Y".
    pub elsewhere: f32,
    /// Share of the score that a page loses of which a newer version was found.
    pub older_version: f32,
    /// Strength of the only section of a project that defines a name which the query asks for; 0 to 1.
    pub definition: f32,
    /// Slope of the decay of the dense score with its distance from 1; 0 to 10, 0 is off.
    pub decay_slope: f32,
    /// Least factor of the decay; 0 to 1.
    pub decay_floor: f32,
    /// Greatest factor that all boosts together have on a small score; 1 to 10.
    pub max_boost: f32,
}

impl Default for RuleWeights {
    fn default() -> Self {
        Self {
            hybrid: HybridWeights::default(),
            in_pattern: 0.8,
            framework: 0.25,
            filename_exact: 0.5,
            filename_all_words: 0.4,
            name_words: 0.25,
            api_name: 0.4,
            generic_term: 1.0,
            action_name: 0.4,
            action_description: 0.2,
            object_name: 0.2,
            object_description: 0.1,
            synonym_factor: 1.2,
            diminishing: 0.8,
            minimum_term_length: 2,
            category_context: 0.1,
            platform: 0.1,
            phrase: 0.2,
            recency: 0.3,
            recency_half_life: 90.0,
            intent_conflict: 1.0,
            elsewhere: 0.25,
            older_version: 0.05,
            definition: 0.6,
            decay_slope: 0.0,
            decay_floor: 0.1,
            max_boost: 2.0,
        }
    }
}
