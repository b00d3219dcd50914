//! A query as a sentence: its words, and the names in it, such as `Grid` of `what are the downsides of Grid`.
//! Documents decide which are names.

use std::ops::Range;

use crate::query::mention::Identifier;
use crate::query::rule::Rules;
use crate::text::identifier::uncontracted;
use crate::text::name;
use crate::text::token::is_unspaced;
use crate::text::word::folded;

/// Most words of a name.
const MAX_NAME_WORDS: usize = 4;
/// Most words of a query that are searched for names. A longer one is prose. Chosen, not measured.
const MAX_SENTENCE_WORDS: usize = 24;
/// Most words between two names that are compared.
const MAX_BETWEEN: usize = 3;
/// Stop words of the rules that a sentence in their language has at least: a single one may be a word of another
/// language. Chosen.
const STOP_WORDS_OF_SENTENCE: usize = 2;
/// Signs that end a part of a sentence. No name goes across them.
const ENDS: [char; 9] = [',', ';', ':', '?', '!', '.', '。', '？', '、'];
/// Signs around a quoted name.
const QUOTES: [char; 7] = ['"', '\'', '`', '“', '”', '‘', '’'];

/// Consecutive words of a query that may be a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WordRun {
    /// As written, without punctuation around it.
    pub(crate) text: String,
    /// Its [`name::key`].
    pub(crate) key: String,
    /// Range of its words.
    pub(crate) words: Range<usize>,
}

/// A query as a list of words.
#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    /// Possible names. None begins or ends with a stop word.
    pub(crate) runs: Vec<WordRun>,
    /// The words, in lower case.
    words: Vec<String>,
    /// Indexes of words that are written as code.
    code: Vec<usize>,
}

impl Sentence {
    pub(crate) fn read(text: &str, rules: &Rules) -> Self {
        let written: Vec<&str> = text
            .split_whitespace()
            .flat_map(by_script)
            .take(MAX_SENTENCE_WORDS)
            .collect();
        let bare: Vec<&str> = written.iter().map(|word| bare(word)).collect();
        let words: Vec<String> = bare.iter().map(|word| folded(word)).collect();
        let is_shouted = !text.contains(char::is_lowercase);
        let is_stop = |at: usize| {
            let is_name = Identifier::read(bare[at]).is_some() || (!is_shouted && is_capital(bare[at]));
            !is_name && rules.is_stop_word(&words[at])
        };
        let before_container = &rules.tables().before_container;
        let mut runs = Vec::new();
        for from in 0..written.len() {
            if is_stop(from) || from > 0 && before_container.contains(&words[from - 1]) {
                continue;
            }
            for to in from + 1..=written.len().min(from + MAX_NAME_WORDS) {
                let last = bare[to - 1];
                if last.is_empty() {
                    break;
                }
                if !is_stop(to - 1) {
                    let mut name = bare[from..to].to_vec();
                    name[to - from - 1] = uncontracted(last);
                    let text = name.join(" ");
                    let key = name::key(&text);
                    runs.extend((!key.is_empty()).then_some(WordRun {
                        text,
                        key,
                        words: from..to,
                    }));
                }
                if written[to - 1].ends_with(ENDS) {
                    break;
                }
            }
        }
        let code = (0..words.len()).filter(|&at| is_code(bare[at], written[at]));
        Self {
            runs,
            code: code.collect(),
            words,
        }
    }

    /// Whether the query compares the first of two names with the second. It has a comparing word, and between the
    /// names is a single word, or a few stop words and comparing words.
    pub(crate) fn compares(&self, first: &str, second: &str, rules: &Rules) -> bool {
        let is_comparing = |word: &String| rules.tables().comparing_words.contains(word);
        let between = self.between(first, second);
        let joins = |word: &String| is_comparing(word) || rules.is_stop_word(word);
        self.words.iter().any(is_comparing)
            && (1..=MAX_BETWEEN).contains(&between.len())
            && (between.len() == 1 || between.iter().all(joins))
    }

    /// Whether a word outside of a name and of the query's container is code: `\g` of `\g in regular expressions`.
    pub(crate) fn has_code_beside(&self, key: &str, place: Option<&str>) -> bool {
        let own = self.run(key).map_or(0..0, |run| run.words.clone());
        let place = place.map(folded).unwrap_or_default();
        let is_place = |at: usize| place.split_whitespace().any(|word| word == self.words[at]);
        self.code.iter().any(|&at| !own.contains(&at) && !is_place(at))
    }

    /// Number of significant words outside of a name, in a sentence with at least two stop words of the rules. 0 for
    /// other sentences: in other languages, articles and verbs would count.
    pub(crate) fn words_beside(&self, key: &str, rules: &Rules) -> usize {
        let own = self.run(key).map_or(0..0, |run| run.words.clone());
        let beside = self.words.iter().enumerate();
        let beside = beside.filter(|(at, word)| !own.contains(at) && !word.is_empty());
        let (stop, others): (Vec<&str>, Vec<&str>) = beside
            .map(|(_, word)| word.as_str())
            .partition(|word| rules.is_stop_word(word));
        if stop.len() < STOP_WORDS_OF_SENTENCE {
            return 0;
        }
        others.iter().filter(|word| !frames(word, rules)).count()
    }

    /// Whether the query begins with a verb, and at most an article is between it and a name.
    pub(crate) fn has_verb_before(&self, key: &str, rules: &Rules) -> bool {
        let before = self.run(key).map_or(0, |run| run.words.start);
        let is_verb = |word: &str| rules.verb(word).is_some() && !frames(word, rules);
        match &self.words[..before] {
            [verb] => is_verb(verb),
            [verb, article] => rules.tables().articles.contains(article) && is_verb(verb),
            _ => false,
        }
    }

    /// Whether the query is nothing but two names with stop words between: neither comes before the other.
    pub(crate) fn is_pair(&self, first: &str, second: &str, rules: &Rules) -> bool {
        let of = |key: &str| self.run(key).map_or(0, |run| run.words.len());
        let between = self.between(first, second);
        of(first) + between.len() + of(second) == self.words.len()
            && between.iter().all(|word| rules.is_stop_word(word))
    }

    fn run(&self, key: &str) -> Option<&WordRun> {
        self.runs.iter().find(|run| run.key == key)
    }

    fn between(&self, first: &str, second: &str) -> &[String] {
        let (Some(first), Some(second)) = (self.run(first), self.run(second)) else {
            return &[];
        };
        self.words.get(first.words.end..second.words.start).unwrap_or_default()
    }
}

/// Whether a text is about a name without letters, such as an operator: all its other words only frame it.
pub(super) fn is_about_sign(text: &str, rules: &Rules) -> bool {
    let (signs, words): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(|word| is_sign(word));
    let frames = |word: &&str| {
        let word = folded(word);
        rules.is_stop_word(&word) || frames(&word, rules)
    };
    !signs.is_empty() && words.iter().all(frames)
}

/// Whether a word, in lower case, is a framing word, a comparing word or a kind of thing.
pub(crate) fn frames(word: &str, rules: &Rules) -> bool {
    let tables = rules.tables();
    [&tables.framing_words, &tables.comparing_words, &tables.kind_words]
        .iter()
        .any(|set| set.contains(word))
}

/// The parts of a word by script. In scripts without spaces, names in Latin letters have none around them:
/// `Gridの使い方`.
fn by_script(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest
            .char_indices()
            .find(|&(_, c)| is_unspaced(c) != is_unspaced(first))
            .map_or(rest.len(), |(at, _)| at);
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

/// Whether a word has signs that prose does not have: `\g`, `[]`, `lc_messages`.
fn is_code(bare: &str, written: &str) -> bool {
    let of_prose = |c: char| c.is_alphanumeric() || "-–—'’/&.,…".contains(c);
    match bare.contains(char::is_alphanumeric) {
        true => bare.chars().any(|c| !of_prose(c)),
        false => {
            written
                .chars()
                .any(|c| !of_prose(c) && !ENDS.contains(&c) && !QUOTES.contains(&c))
                || written == ":"
        }
    }
}

/// Whether a word is written in capitals.
fn is_capital(word: &str) -> bool {
    word.len() > 1 && !word.contains(char::is_lowercase) && word.contains(char::is_alphabetic)
}

/// Whether a word is a name without letters, such as an operator: `->>`, `:=`.
fn is_sign(word: &str) -> bool {
    let sign = word.trim_matches(QUOTES);
    !sign.contains(char::is_alphanumeric) && sign.chars().count() > 1 && !sign.chars().all(|c| "?!.,…-–—".contains(c))
}

/// A word without quotation marks and punctuation around it.
fn bare(word: &str) -> &str {
    if is_sign(word) {
        // A question mark is no part of an operator, as a rule.
        return word.trim_matches(QUOTES).trim_end_matches(['?', ',']);
    }
    word.trim_matches([
        '"', '\'', '`', '“', '”', '‘', ',', ';', '?', '!', '¿', '¡', '(', ')', '？', '。', '、',
    ])
    .trim_end_matches(['.', ':'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn runs(text: &str) -> Vec<String> {
        let runs = Sentence::read(text, &Rules::english()).runs;
        runs.into_iter().map(|run| run.text).collect()
    }

    fn compares(text: &str) -> bool {
        let rules = Rules::english();
        Sentence::read(text, &rules).compares("grid", "table", &rules)
    }

    #[test]
    fn every_run_of_words_may_be_a_name() {
        assert_eq!(runs("downsides of Grid"), ["downsides", "downsides of Grid", "Grid"]);
        assert_eq!(runs("Grid's cost"), ["Grid", "Grid's cost", "cost"]);
        assert_eq!(runs("SwiftUI's Grid"), ["SwiftUI", "SwiftUI's Grid", "Grid"]);
        assert_eq!(runs("Grid, tables"), ["Grid", "tables"]);
        assert_eq!(
            runs("macaddr (data type)"),
            [
                "macaddr",
                "macaddr data",
                "macaddr data type",
                "data",
                "data type",
                "type"
            ]
        );
        assert!(runs("the `NOT` operator").contains(&"NOT".to_owned()));
        assert!(runs("what is ->>?").contains(&"->>".to_owned()));
        assert!(runs("what is it?").is_empty());
    }

    #[test]
    fn a_name_in_a_sentence_without_spaces_is_found() {
        for question in ["Gridの使い方を教えてください", "Grid와 다른 것", "怎么使用Grid"] {
            assert!(runs(question).contains(&"Grid".to_owned()), "{question}");
        }
    }

    #[test]
    fn a_container_is_no_name_of_the_query() {
        assert!(!runs("lists in Grid").contains(&"Grid".to_owned()));
    }

    #[test]
    fn names_are_compared_by_words_between_them() {
        for question in [
            "which is better, Grid or Table",
            "Grid compared to Table",
            "how is Grid different from Table?",
            "difference between Grid and the Table",
            "when should I use Grid instead of Table?",
            "Unterschied zwischen Grid und Table",
            "differenza tra Grid e Table",
        ] {
            assert!(compares(question), "{question}");
        }
        for question in [
            "Grid with Table",
            "Grid of the Table",
            "Table or Grid",
            "Grid alignment or Table",
        ] {
            assert!(!compares(question), "{question}");
        }
    }

    #[test]
    fn words_beside_a_name_count_in_a_known_language() {
        let rules = Rules::english();
        let beside = |text: &str| Sentence::read(text, &rules).words_beside("grid", &rules);
        assert_eq!(beside("notice that the browser went away before the grid was drawn"), 6);
        assert_eq!(beside("quels sont les inconvénients de Grid"), 0);
        assert_eq!(beside("was muss ich bei Grid beachten"), 0);
    }

    #[test]
    fn code_beside_a_name_is_distinguished_from_prose() {
        let has_code = |text: &str| Sentence::read(text, &Rules::english()).has_code_beside("grid", Some("tide_kit"));
        for query in ["\\g in Grid", "[] of Grid", ": in Grid", "lc_messages of Grid"] {
            assert!(has_code(query), "{query}");
        }
        for query in [
            "Grid - how does it work?",
            "the so-called \"Grid\" (new)",
            "¿qué es Grid?",
            "Grid's cost, in short",
            "Grid in tide_kit",
        ] {
            assert!(!has_code(query), "{query}");
        }
    }

    #[test]
    fn words_around_a_sign_ask_about_it() {
        let rules = Rules::english();
        assert!(is_about_sign("what is ->>", &rules) && is_about_sign("what does `:=` mean", &rules));
        assert!(!is_about_sign("what is Grid", &rules) && !is_about_sign("read a key with ->>", &rules));
    }

    proptest! {
        #[test]
        fn however_long_a_text_is_few_names_are_looked_for(text in "([a-zü一の]{0,3}[ ,.?]{0,2}){0,200}") {
            let sentence = Sentence::read(&text, &Rules::english());
            prop_assert!(sentence.runs.len() <= MAX_SENTENCE_WORDS * MAX_NAME_WORDS);
            prop_assert!(sentence.runs.iter().all(|run| run.words.end <= sentence.words.len()));
        }
    }
}
