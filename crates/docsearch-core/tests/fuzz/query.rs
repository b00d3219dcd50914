use std::collections::BTreeMap;
use std::sync::LazyLock;

use docsearch_core::documents::page_keys::PageKeys;
use docsearch_core::query::container::{KnownNames, possible_container_keys};
use docsearch_core::query::input::{MAX_QUERY_CHARS, Query};
use docsearch_core::query::lookup::{TermWeights, any_of, query_tokens, terms};
use docsearch_core::query::rule::{Row, Rules};
use docsearch_core::query::suggestion::{self, SuggestionSource};
use docsearch_core::query::transformation::{Transformation, Usage, need, related, telling, transform};
use docsearch_core::query::understanding::Understanding;
use docsearch_core::query::{exclusion, mention};
use docsearch_core::ranking::news;
use docsearch_core::ranking::version::{DocumentVersion, Version, superseded};
use docsearch_core::text::documented_name::TitleWords;
use docsearch_core::text::language::Language;
use docsearch_core::text::{identifier, name, similarity, title, word};
use docsearch_core::values::address;
use docsearch_core::values::bounds::{LABEL_BYTES, SLUG_BYTES};
use docsearch_core::values::calendar::Day;
use docsearch_fuzz::text;

use crate::fields;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::english);
static KNOWN: LazyLock<KnownNames> = LazyLock::new(|| ["SwiftUI", "std", "a", "日本"].into_iter().collect());

fn understood(input: &[u8]) -> Option<Understanding> {
    let query = Query::parse(&text(input))?;
    assert!(query.text.chars().count() <= MAX_QUERY_CHARS);
    Some(Understanding::read(&query.text, &RULES, &KNOWN))
}

pub(crate) fn understanding(input: &[u8]) {
    let Some(understood) = understood(input) else { return };
    let text = &understood.text;
    understood.name();
    understood.has_action();
    understood.container_keys(&RULES);
    understood.embedded();
    understood.candidate_names();
    let tokens = query_tokens(text, Some(&understood), &RULES);
    // Synonyms are counted beside the words; the rules have a few for each.
    assert!(
        tokens.len() <= 40 * text.chars().count() + 1000,
        "{} tokens",
        tokens.len()
    );
    let lexemes: Vec<Vec<String>> = tokens
        .iter()
        .map(|token| vec![word::stem(&token.text.to_lowercase()).into_owned()])
        .collect();
    let weights = TermWeights {
        part: 0.5,
        stop_word: 0.1,
        framed: false,
    };
    let terms = terms(&tokens, &lexemes, weights);
    any_of(terms.iter().flat_map(|term| term.looked_up().map(|(lexeme, _)| lexeme)));
    possible_container_keys(text, &RULES);
}

pub(crate) fn identifiers(input: &[u8]) {
    let text = &*text(input);
    let mut end = 0;
    for range in identifier::words(text) {
        assert!(range.start >= end && text.get(range.clone()).is_some_and(|word| !word.is_empty()));
        end = range.end;
    }
    assert!(identifier::split_identifier(text).len() <= 2 * text.len() + 1);
    identifier::is_identifier(text);
    identifier::uncontracted(text);
    word::stem(text);
    mention::identifiers(text);
    mention::quoted_phrases(text);
    mention::Exclusion::read(text, |word| word.len() > 2);
    address::address_key(text);
    address::Address::read(text);
    exclusion::ExcludedText::new(text).is_in(text);
    RULES.news().is_news(text, text);
    news::is_news_query(text, RULES.tables());
    mention::Identifier::read(text).map(|found| found.qualifiers().count());
}

pub(crate) fn names(input: &[u8]) {
    let text = &*text(input);
    let [title, slug, alias] = fields(text);
    for part in [text, title, slug] {
        let key = name::key(part);
        assert!(key.len() <= name::MAX_KEY_BYTES);
        assert!(name::has_key(part, &key), "{part:?} has its own key");
        assert_eq!(name::key(&key), key, "the key of {part:?} is its own key");
        title::symbol(part);
        title::unqualified(part);
        name::slug_leaf(part);
        name::slug_parent(part);
    }
    let words = [alias.to_owned(), "class".to_owned()].into();
    let words = TitleWords {
        kinds: &words,
        articles: &words,
    };
    name::page_names(title, slug, alias.split(','), [text], words);
    name::unique_names([(title, slug, vec![alias]), (slug, title, vec![])], words);
    name::containers(Some(text), None);
    let keys = PageKeys::of(title, slug, Some(alias));
    if let Some(stored) = keys.stored() {
        assert_eq!(PageKeys::read(stored.to_vec()), Some(keys.clone()));
    }
    PageKeys::read(input.to_vec());
}

pub(crate) fn near_names(input: &[u8]) {
    let text = &*text(input);
    let (typed, known) = match text.split_once('\n') {
        Some(pair) => pair,
        None => text.split_at(text.floor_char_boundary(text.len() / 2)),
    };
    // Longer names have no key.
    let cut = |text: &str| text[..text.floor_char_boundary(name::MAX_KEY_BYTES)].to_owned();
    let (typed, known) = (cut(typed), cut(known));
    for strength in [
        similarity::near(&typed, &known).map(|near| near.strength),
        similarity::prefix(&typed, &known),
        similarity::typo(&typed, &known),
        similarity::vocabulary(&typed, &known),
        similarity::humps(&typed, &known),
        similarity::part(&typed, &name::key(&known), &known),
        Some(similarity::trigram_similarity(&typed, &known)),
    ] {
        assert!(
            strength.is_none_or(|strength| (0.0..=1.0).contains(&strength)),
            "{strength:?}"
        );
    }
}

pub(crate) fn versions(input: &[u8]) {
    let text = &*text(input);
    // The bounds of the tables.
    let cut = |text: &'_ str, bytes| text[..text.floor_char_boundary(bytes)].to_owned();
    let slug = cut(text, SLUG_BYTES);
    let lines: Vec<String> = text.lines().take(20).map(|line| cut(line, LABEL_BYTES)).collect();
    let versions: Vec<Version> = lines.iter().filter_map(|line| Version::parse(line)).collect();
    for version in &versions {
        version.page(&slug);
        assert_eq!(version.cmp(version), std::cmp::Ordering::Equal);
    }
    let mut sorted = versions;
    sorted.sort();
    let documents: Vec<DocumentVersion<'_, usize>> = lines
        .iter()
        .enumerate()
        .map(|(document, line)| DocumentVersion {
            document,
            project: 1,
            slug: "a/b",
            version: line,
        })
        .collect();
    assert!(superseded(&documents).len() <= documents.len());
}

pub(crate) fn suggestions(input: &[u8]) {
    let text = &*text(input);
    let [first, second, rest] = fields(text);
    let cut = &text[..text.floor_char_boundary(2000)];
    let sources = [
        SuggestionSource::Name {
            name: first,
            slug: second,
            project: rest,
        },
        SuggestionSource::Name {
            name: second,
            slug: first,
            project: rest,
        },
        SuggestionSource::Word(first),
        SuggestionSource::Word(rest),
    ];
    assert!(suggestion::suggestions(cut, sources, 3).len() <= 3);
    suggestion::beginning(text);
    if let Some(understood) = understood(input) {
        suggestion::phrasings(&understood, &RULES, 5);
    }
}

pub(crate) fn languages(input: &[u8]) {
    let text = &*text(input);
    Language::detect(text, &BTreeMap::new());
    Language::detect(
        text,
        &BTreeMap::from([("de".to_owned(), 2), ("en".to_owned(), i64::MAX)]),
    );
    Language::of(text);
}

pub(crate) fn transformations(input: &[u8]) {
    let Some(asked) = understood(input) else { return };
    need(&asked, &RULES);
    let keywords: Vec<String> = asked.text.split(' ').map(str::to_owned).collect();
    let related = related(&asked, &RULES, [keywords.as_slice(), keywords.as_slice()]);
    let idf: Vec<f32> = related.iter().map(|_| 1.0).collect();
    let usage = Usage {
        used: asked.text.split(' ').map(str::to_owned).collect(),
        ..Usage::default()
    };
    for day in [Day(i32::MIN), Day(0), Day(i32::MAX)] {
        transform(&asked, &RULES, &telling(related.clone(), &idf), &usage, day);
    }
    Transformation::by_model("a", &[], &[], &asked.text, true);
}

pub(crate) fn rules(input: &[u8]) {
    let [kind, first, second] = fields(&text(input)).map(|part| serde_json::Value::from(part.to_owned()));
    let number = serde_json::Value::from(0.5);
    let rows = [
        "action",
        "action_synonym",
        "generic_term",
        "synonym",
        "framework_alias",
        "platform",
        "kind_word",
        "recency_word",
        "question_word",
        "stop_word",
    ];
    for row in rows.map(serde_json::Value::from).iter().chain([&kind]) {
        let row = serde_json::json!({
            "kind": row, "verb": first, "synonym": second, "term": first, "expansion": second, "alias": first,
            "framework": second, "word": first, "platform": second, "phrase": first, "closeness": number, "boost": number,
            "intent": null, "enabled": true, "disabled": false,
        });
        if let Ok(row) = serde_json::from_value::<Row>(row)
            && let Ok(rules) = RULES.overlay([row])
        {
            Understanding::read(&text(input)[..text(input).floor_char_boundary(500)], &rules, &KNOWN);
        }
    }
}
