//! Queries that no page answers, and the confidence of the answers to them.

use std::collections::BTreeMap;

use docsearch_core::answer::delivery::Confidence;
use fastrand::Rng;
use serde::Serialize;
use strum::Display;

/// Fixed, so that all configurations get the same queries.
const SEED: u64 = 20_240_502;
/// Number of words of a query. A single real word may be in the corpus.
const WORDS: std::ops::RangeInclusive<usize> = 2..=6;
/// Number of syllables of an invented word.
const SYLLABLES: std::ops::RangeInclusive<usize> = 2..=4;
const ONSETS: [&str; 20] = [
    "b", "br", "d", "dr", "f", "g", "gl", "k", "kl", "l", "m", "n", "p", "pl", "r", "sk", "t", "tr", "v", "z",
];
const NUCLEI: [&str; 8] = ["a", "e", "i", "o", "u", "ai", "ou", "y"];
const CODAS: [&str; 8] = ["", "", "", "l", "m", "n", "r", "sk"];
/// Words of kitchen, farm and sea, which are rare in documentation of software and science.
const HOUSEHOLD_WORDS: [&str; 96] = [
    "anchovy",
    "apricot",
    "apron",
    "barley",
    "barnacle",
    "basil",
    "blanket",
    "bonnet",
    "brandy",
    "broth",
    "buttermilk",
    "candle",
    "caramel",
    "wheelbarrow",
    "cauldron",
    "cellar",
    "cheddar",
    "chestnut",
    "chimney",
    "cardamom",
    "clover",
    "cobbler",
    "cradle",
    "cushion",
    "custard",
    "dumpling",
    "embroidery",
    "fennel",
    "ferry",
    "violin",
    "galleon",
    "garlic",
    "ginger",
    "duckling",
    "gravy",
    "hammock",
    "harbour",
    "hayloft",
    "hawthorn",
    "hedgehog",
    "honey",
    "lilac",
    "kettle",
    "ladle",
    "lavender",
    "leek",
    "lemonade",
    "lantern",
    "linen",
    "lobster",
    "marmalade",
    "meadow",
    "mitten",
    "mulberry",
    "mustard",
    "nutmeg",
    "oatmeal",
    "orchard",
    "oyster",
    "parsley",
    "pastry",
    "plum",
    "pewter",
    "pheasant",
    "sauerkraut",
    "pillow",
    "plough",
    "porridge",
    "pudding",
    "pumpkin",
    "eiderdown",
    "raisin",
    "rhubarb",
    "rooster",
    "rudder",
    "bridle",
    "sailor",
    "scarf",
    "shepherd",
    "sparrow",
    "spinach",
    "piglet",
    "teacup",
    "thimble",
    "thistle",
    "trout",
    "turnip",
    "umbrella",
    "vinegar",
    "violet",
    "waistcoat",
    "walnut",
    "wardrobe",
    "weasel",
    "willow",
    "yoghurt",
];

/// The origin of a query without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Display)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QueryKind {
    /// Invented words.
    #[strum(serialize = "invented words")]
    Invented,
    /// Real words in random order.
    #[strum(serialize = "household words")]
    Words,
    /// Questions about another domain.
    #[strum(serialize = "another domain")]
    Foreign,
}

/// A query without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnanswerableQuery {
    pub(crate) kind: QueryKind,
    pub(crate) text: String,
}

/// `count` queries of random words, alternately invented and real; the same on each call.
pub(crate) fn random_queries(count: usize) -> Vec<UnanswerableQuery> {
    let mut random = Rng::with_seed(SEED);
    let queries = (0..count).map(|number| {
        let kind = if number % 2 == 0 {
            QueryKind::Invented
        } else {
            QueryKind::Words
        };
        let words: Vec<String> = (0..random.usize(WORDS))
            .map(|_| match kind {
                QueryKind::Invented => invented_word(&mut random),
                QueryKind::Words | QueryKind::Foreign => pick(&mut random, &HOUSEHOLD_WORDS).to_owned(),
            })
            .collect();
        UnanswerableQuery {
            kind,
            text: words.join(" "),
        }
    });
    queries.collect()
}

fn invented_word(random: &mut Rng) -> String {
    (0..random.usize(SYLLABLES))
        .flat_map(|_| [pick(random, &ONSETS), pick(random, &NUCLEI), pick(random, &CODAS)])
        .collect()
}

fn pick<'a>(random: &mut Rng, words: &[&'a str]) -> &'a str {
    words[random.usize(..words.len())]
}

/// The first result of a query without an answer.
#[derive(Debug)]
pub(crate) struct FirstResult {
    pub(crate) query: UnanswerableQuery,
    /// Empty if nothing was found.
    pub(crate) slug: String,
    pub(crate) confidence: Option<Confidence>,
}

/// The number of queries, and of answers with confidence `high`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct HighShare {
    pub(crate) queries: usize,
    pub(crate) high: usize,
}

impl HighShare {
    /// In 0..=1; 0 for no query.
    fn of_high(self) -> f64 {
        self.high as f64 / self.queries.max(1) as f64
    }
}

/// An answer of confidence `high` to a query that has none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FalseAnswer {
    pub(crate) query: String,
    pub(crate) slug: String,
}

/// The report on queries without an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Nonsense {
    pub(crate) kinds: BTreeMap<QueryKind, HighShare>,
    pub(crate) overall: HighShare,
    pub(crate) false_answers: Vec<FalseAnswer>,
}

impl Nonsense {
    /// Counts the queries whose first result has confidence `high`.
    pub(crate) fn new(results: &[FirstResult]) -> Self {
        let mut kinds: BTreeMap<QueryKind, HighShare> = BTreeMap::new();
        let mut overall = HighShare::default();
        let mut false_answers = Vec::new();
        for result in results {
            let kind = kinds.entry(result.query.kind).or_default();
            kind.queries += 1;
            overall.queries += 1;
            if result.confidence == Some(Confidence::High) {
                kind.high += 1;
                overall.high += 1;
                false_answers.push(FalseAnswer {
                    query: result.query.text.clone(),
                    slug: result.slug.clone(),
                });
            }
        }
        Self {
            kinds,
            overall,
            false_answers,
        }
    }

    /// One line for a terminal.
    pub(crate) fn line(&self) -> String {
        let share = |share: &HighShare| format!("{:.1} % of {}", 100.0 * share.of_high(), share.queries);
        let kinds: Vec<String> = self
            .kinds
            .iter()
            .map(|(kind, of_kind)| format!("{kind} {}", share(of_kind)))
            .collect();
        format!(
            "nonsense with confidence high: {} ({})",
            share(&self.overall),
            kinds.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_queries_are_reproducible() {
        let queries = random_queries(200);
        assert_eq!(queries, random_queries(200));
        assert_eq!(queries[..50], random_queries(50));
        let of_kind = |kind| queries.iter().filter(|query| query.kind == kind).count();
        assert_eq!((of_kind(QueryKind::Invented), of_kind(QueryKind::Words)), (100, 100));
        assert!(
            queries
                .iter()
                .all(|query| (2..=6).contains(&query.text.split(' ').count()))
        );
    }

    #[test]
    fn only_high_answers_are_false_answers() {
        let result = |kind, text: &str, confidence| FirstResult {
            query: UnanswerableQuery {
                kind,
                text: text.to_owned(),
            },
            slug: "page".to_owned(),
            confidence,
        };
        let report = Nonsense::new(&[
            result(QueryKind::Invented, "brai skon", Some(Confidence::Low)),
            result(QueryKind::Words, "duckling mitten", Some(Confidence::High)),
            result(QueryKind::Words, "leek sailor", Some(Confidence::Medium)),
            result(QueryKind::Foreign, "who?", None),
        ]);
        assert_eq!(report.overall, HighShare { queries: 4, high: 1 });
        assert_eq!(report.false_answers[0].query, "duckling mitten");
        assert_eq!(
            report.line(),
            "nonsense with confidence high: 25.0 % of 4 \
             (invented words 0.0 % of 1, household words 50.0 % of 2, another domain 0.0 % of 1)"
        );
    }
}
