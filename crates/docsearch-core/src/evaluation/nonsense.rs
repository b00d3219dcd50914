//! Queries that no page answers.

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
pub enum QueryKind {
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
pub struct UnanswerableQuery {
    /// Its origin.
    pub kind: QueryKind,
    /// What is searched for.
    pub text: String,
}

/// `count` queries of random words, alternately invented and real; the same on each call.
pub fn random_queries(count: usize) -> Vec<UnanswerableQuery> {
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
}
