//! Keywords of a document: words and identifiers that distinguish it from its neighbours.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde_json::Value;

use crate::documents::markdown::plain_text;
use crate::text::form::Form;
use crate::text::identifier::is_identifier;
use crate::text::token::{TokenKind, tokens};

/// A word of a document that may be a keyword.
#[derive(Clone, Debug, PartialEq)]
pub struct KeywordCandidate {
    /// Kind of its token, which decides the dictionaries it goes through.
    pub kind: TokenKind,
    /// Its most frequent spelling, the first of equals.
    pub word: String,
    /// Number of occurrences in any case.
    pub frequency: u32,
}

/// Generic English words that the stop words of PostgreSQL lack, and placeholders of examples. They are no rules:
/// rules may differ between projects and change, and a document's keywords are stored.
const GENERIC_WORDS: &str = "
    able above access actual actually additional allow allowed allows along already also although always amount another
    anything applies apply appropriate available away back based basic become becomes begin below best better big bit
    bring call called calls case cases causes certain change changed changes come comes common complete consider contain contained
    contains corresponding could course create created creates current currently define defined defines depending describe
    described describes desired detail details different directly done easily easy either else end ensure entire equal especially etc
    even every everything exactly example examples existing expect expected far feature features find first follow followed following
    follows found full fully general generally get gets getting give given gives go goes going good got great happen happens
    hence however identical important include included includes including information initial inside instead just keep kind know known
    large last later least less let lets level like likely list little long look looks lot made main make makes making
    manner many may maybe mean means mentioned might more most much multiple must name named namely necessary need needed needs never
    new next none normal normally note noted nothing now null number numbers occur occurs often okay old one ones only optional
    order original otherwise outside overview part particular people perform place please point possible previous probably proper provide
    provided provides purpose put quite rather read real really recommended refer reference related remain remains require
    required requires respectively result results return returned returns right run same say says second section see seen
    separate set sets setting several shall should show shown shows similar simple simply since single small some
    something sometimes soon special specific specified specify start still stuff such suppose supported supports sure take takes
    tell thank thanks thing things think third though three thus time times together true false try turn two type types typical
    typically undefined unless unlike upon use used useful user users uses using usual usually value values various version
    want wanted wants way ways well whatever whenever whether whole within without word words work working works would write wrong yes yet
    alice bar baz bob example.com foo foobar ipsum jane john localhost lorem nil spam test tests www.example.com";

static GENERIC_WORD_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| GENERIC_WORDS.split_whitespace().collect());

/// Whether a word is generic in English, beside the stop words of PostgreSQL.
pub fn is_stop_word(word: &str) -> bool {
    GENERIC_WORD_SET.contains(lower_case(word).as_ref())
}

/// Most candidates, and their fewest letters; rarer words are rarely keywords.
const MAX_CANDIDATES: usize = 60;
const MIN_KEYWORD_LETTERS: usize = 3;
/// Most changes between letters and digits in a word that is a name: `Base64Encoder`.
const MAX_TURNS: usize = 2;

/// Words of a plain text that may be keywords, most frequent first.
pub fn candidates(text: &str) -> Vec<KeywordCandidate> {
    let form = Form::of(text);
    let text = form.text();
    let mut counts: HashMap<Cow<'_, str>, (u32, usize, &str, TokenKind)> = HashMap::new();
    for (order, token) in tokens(text).enumerate() {
        let counted = matches!(
            token.kind,
            TokenKind::Word | TokenKind::NumberWord | TokenKind::Identifier | TokenKind::Qualified
        ) && !token.inside_whole;
        let word = &text[token.range];
        if counted && !is_made_up(word) && word.chars().filter(|c| c.is_alphabetic()).count() >= MIN_KEYWORD_LETTERS {
            counts.entry(lower_case(word)).or_insert((0, order, word, token.kind)).0 += 1;
        }
    }
    let mut found: Vec<_> = counts.into_values().collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    found
        .into_iter()
        .take(MAX_CANDIDATES)
        .map(|(frequency, _, word, kind)| KeywordCandidate {
            kind,
            word: word.to_owned(),
            frequency,
        })
        .collect()
}

/// Metadata keys whose texts are tags of the document. Those of `taxonomies` are objects of such lists.
const TAG_KEYS: [&str; 3] = ["tags", "tag", "taxonomies"];

/// The keywords that an author gives a document, and the tags in its metadata, a line for each.
pub fn given(keywords: &[String], metadata: Option<&Value>) -> String {
    let tags = TAG_KEYS.iter().filter_map(|key| metadata?.get(key));
    let tags = tags.flat_map(|value| match value {
        Value::Object(lists) => lists.values().collect(),
        one => vec![one],
    });
    let tags = tags.flat_map(|value| match value {
        Value::Array(tags) => tags.as_slice(),
        one => std::slice::from_ref(one),
    });
    let mut seen = HashSet::new();
    let texts = keywords
        .iter()
        .map(String::as_str)
        .chain(tags.filter_map(Value::as_str));
    let texts: Vec<&str> = texts.filter(|text| seen.insert(*text)).collect();
    texts.join("\n")
}

/// Whether keywords may be those that were chosen from a text in Markdown: each is a word of it.
pub fn may_be_chosen(keywords: &[String], body: &str) -> bool {
    let plain = plain_text(body);
    let form = Form::of(&plain);
    keywords
        .iter()
        .all(|keyword| form.text().contains(Form::of(keyword).text()))
}

/// Whether a word is no name: a placeholder (`test1`), part of an expression (`.format`), or random letters and
/// digits (`oHg5SJYRHA0`).
fn is_made_up(word: &str) -> bool {
    let unnumbered = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    let numbered = unnumbered.len() < word.len()
        && (unnumbered.len() == 1 || GENERIC_WORD_SET.contains(lower_case(unnumbered).as_ref()));
    let mixed = || word.contains(char::is_uppercase) && word.contains(char::is_lowercase);
    let turns = || {
        let mut digits = word.chars().filter(|c| c.is_alphanumeric()).map(|c| c.is_ascii_digit());
        let mut last = digits.next();
        digits.filter(|&digit| last.replace(digit) != Some(digit)).count()
    };
    numbered || word.starts_with('.') || !word.contains(['_', '.', ':']) && mixed() && turns() > MAX_TURNS
}

fn lower_case(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}

/// The best candidates by `tf * idf`, identifiers in code first. `idf` has a value for each candidate, `code` has the
/// code spans of the document.
pub fn select(candidates: &[KeywordCandidate], idf: &[f32], code: &[String], count: usize) -> Vec<String> {
    let in_code: HashMap<String, usize> = code.iter().fold(HashMap::new(), |mut seen, span| {
        *seen.entry(span.trim().to_lowercase()).or_default() += 1;
        seen
    });
    let mut scored: Vec<(f32, &str)> = candidates
        .iter()
        .zip(idf)
        .map(|(candidate, idf)| {
            let named = is_identifier(&candidate.word) || in_code.contains_key(&candidate.word.to_lowercase());
            let factor = if named { 2.0 } else { 1.0 };
            (
                (1.0 + candidate.frequency as f32).ln() * idf * factor,
                candidate.word.as_str(),
            )
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    // A word that all documents have is no keyword, even if there is no other.
    scored
        .into_iter()
        .filter(|(score, _)| *score > 0.0)
        .take(count)
        .map(|(_, word)| word.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keywords_and_tags_of_authors_are_searched() {
        let keywords = ["kubectl rollout".to_owned(), "pods".to_owned()];
        for (metadata, expected) in [
            (json!({"tags": ["pods", "designer"]}), "kubectl rollout\npods\ndesigner"),
            (json!({"tag": "one", "author": "ada"}), "kubectl rollout\npods\none"),
            (
                json!({"taxonomies": {"tags": ["a"], "topics": ["b", 1]}}),
                "kubectl rollout\npods\na\nb",
            ),
            (json!({"tags": 3}), "kubectl rollout\npods"),
        ] {
            assert_eq!(given(&keywords, Some(&metadata)), expected);
        }
        assert_eq!(given(&[], None), "");
    }

    #[test]
    fn a_keyword_that_is_no_word_of_the_text_was_not_chosen_from_it() {
        let may_be = |keywords: &[&str]| {
            let keywords: Vec<String> = keywords.iter().map(|&keyword| keyword.to_owned()).collect();
            may_be_chosen(&keywords, "Call **`VACUUM`** for the *table*.")
        };
        assert!(may_be(&["VACUUM", "table"]) && may_be(&[]));
        assert!(!may_be(&["VACUUM", "bloat"]));
    }

    #[test]
    fn what_examples_are_made_of_is_no_keyword() {
        let text = "oHg5SJYRHA0 test1 x1 .format base64 Base64Encoder UTF8 sha256_hash user_2 OAuth2Client";
        let words: Vec<String> = candidates(text).into_iter().map(|candidate| candidate.word).collect();
        assert_eq!(
            words,
            ["base64", "Base64Encoder", "UTF8", "sha256_hash", "OAuth2Client"]
        );
        assert!(["None", "sure", "John", "get"].into_iter().all(is_stop_word));
        assert!(!is_stop_word("cursor"));
    }

    #[test]
    fn s3_9_keywords_are_frequent_here_and_rare_elsewhere() {
        let text = "The UITableView shows rows. A UITableView reloads rows of the table, and the rows scroll.";
        let candidates = candidates(text);
        assert_eq!(
            candidates[0],
            KeywordCandidate {
                kind: TokenKind::Word,
                word: "The".into(),
                frequency: 3
            }
        );
        let idf: Vec<f32> = candidates
            .iter()
            .map(|c| if c.word == "The" { 0.1 } else { 2.0 })
            .collect();
        let chosen = select(&candidates, &idf, &["UITableView".into()], 2);
        assert_eq!(chosen, ["UITableView", "rows"]);
        let nothing = vec![0.0; candidates.len()];
        assert!(select(&candidates, &nothing, &["UITableView".into()], 2).is_empty());
    }
}
