//! Properties of every answer, whatever documents contain.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::answer::highlight::{Highlights, SectionHighlights};
use crate::query::suggestion::{Suggestion, SuggestionKind};
use crate::ranking::score::Step;

mod chosen_fields;
mod rest;
mod score_line;
mod structure;

use score_line::is_score_line;

fn step(matched: &str, after: f32) -> Step {
    Step {
        step: "boost",
        rule: "filename_exact",
        matched: matched.to_owned(),
        raw: 0.5,
        weight: 1.0,
        before: 0.1,
        after,
        contribution: after - 0.1,
    }
}

pub(super) fn result(rank: u32, document_id: i64, score: f32) -> SearchResult {
    SearchResult {
        rank,
        project: "swiftui".into(),
        slug: "documentation/button".into(),
        title: "Button".into(),
        section: "Button > Creating a button".into(),
        anchor: "creating-a-button".into(),
        category: Some("Controls".into()),
        version: Some("2.1".into()),
        url: Some("https://example.org/button".into()),
        score,
        similarity: Some(0.71),
        keyword_score: 0.5,
        confidence: Confidence::of(
            score,
            0.0,
            &Thresholds {
                lead: 0.0,
                high: 0.7,
                medium: 0.35,
                min_score: 0.0,
            },
        ),
        snippet: "A control that initiates an action.".into(),
        project_id: 1,
        document_id,
        chunk_no: 2,
        chunk_count: 7,
        of_text: crate::answer::grade::OfText::default(),
        additional_chunk: false,
        section_tokens: Some(1240),
        updated_at: Some("2025-11-01".into()),
        duplicates: 0,
        also_at: Vec::new(),
        other_versions: Vec::new(),
        source_key: None,
        highlights: None,
        snippet_html: None,
        metadata: Value::Null,
        section_matches: vec![SectionMatch {
            id: "styling".into(),
            title: "Styling buttons".into(),
            url: Some("https://kit.test/button#styling".into()),
            snippet: "Change the style.".into(),
            highlights: SectionHighlights::default(),
            score: 0.6,
        }],
        breakdown: Some(vec![step("button", score)]),
    }
}

pub(super) fn answer(results: Vec<SearchResult>) -> Answer {
    Answer {
        query: "button".into(),
        understood: json!({"class": "identifier"}),
        executed_query: "button".into(),
        transformation: None,
        results,
        notices: Vec::new(),
        tips: Vec::new(),
        suggestions: Vec::new(),
        confidence: Confidence::High,
        candidates: 200,
        vector_recalled: false,
        probability: None,
        search_token: None,
        grade: None,
        timings: BTreeMap::from([("total_ms".into(), 4.2)]),
        offset: 0,
        syntax: Syntax::Sql,
        fields: None,
    }
}

fn budget(max_chars: usize) -> Budget {
    Budget::new(max_chars, None).expect("enough characters")
}

const TIPS: [&str; 4] = [
    "name what it belongs to: Button in SwiftUI",
    "add context to a generic term: frame modifier",
    "include the framework",
    "include the parent: View frame",
];

fn tips() -> Vec<String> {
    TIPS.map(str::to_owned).to_vec()
}

#[test]
fn s4_2_compact_has_score_source_and_excerpt() {
    let mut second = result(2, 1, 0.31);
    second.additional_chunk = true;
    second.section = "Styling".into();
    second.anchor = String::new();
    let text = deliver(
        &answer(vec![result(1, 1, 0.93), second]),
        Format::Compact,
        budget(2_000),
    );
    assert_eq!(
        text,
        "1. Button > Creating a button [swiftui/documentation/button#creating-a-button]\n   \
            0.93 high | 1240 tokens to load | https://example.org/button\n   \
            A control that initiates an action.\n\
         2. Button > Styling [swiftui/documentation/button]\n   \
            0.31 low (weak match) | 1240 tokens to load | same document as 1 | https://example.org/button\n   \
            A control that initiates an action."
    );
}

#[test]
fn s4_4_detailed_has_everything() {
    let text = deliver(&answer(vec![result(1, 1, 0.93)]), Format::Detailed, budget(2_000));
    assert_eq!(
        text,
        "1. Button > Creating a button [swiftui/documentation/button#creating-a-button]\n   \
            score: 0.9300 high (similarity 0.7100, keywords 0.5000)\n   \
            - filename_exact button: 0.1000 to 0.9300\n   \
            document: 1240 tokens to load, chunk 3 of 7\n   \
            category: Controls\n   \
            url: https://example.org/button\n   \
            updated: 2025-11-01\n   \
            excerpt: A control that initiates an action.\n   \
            section: Styling buttons [#styling] 0.60: Change the style."
    );
}

#[test]
fn s4_5_detailed_becomes_compact_when_it_does_not_fit() {
    let five = answer((1..=5).map(|rank| result(rank, rank.into(), 0.9)).collect());
    let text = deliver(&five, Format::Detailed, budget(1_000));
    assert!(text.chars().count() <= 1_000);
    assert!(
        text.contains("\n5. Button") && text.contains("note (switched_to_compact): Switched to compact"),
        "{text}"
    );
    let raw = deliver(&five, Format::Raw, budget(3_000));
    assert!(raw.contains("switched_to_compact") && !raw.contains("filename_exact"));
}

#[test]
fn s4_32_results_that_do_not_fit_are_counted() {
    let mut ten = answer((1..=10).map(|rank| result(rank, rank.into(), 0.9)).collect());
    ten.offset = 20;
    let text = deliver(&ten, Format::Compact, budget(700));
    let shown = text.lines().filter(|line| line.contains(". Button")).count();
    let left_out = 10 - shown;
    let said = format!(
        "note (results_left_out): {left_out} of 10 results left out to fit 700 characters: \
         max_results => {left_out}, config => '{{\"offset\": {}}}' gives them",
        20 + shown
    );
    assert!(shown > 2 && text.contains(&said), "{text}");
}

#[test]
fn the_json_object_has_the_published_keys() {
    let json = answer(vec![result(1, 1, 0.93)]).to_json();
    let keys: Vec<&str> = json
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let mut published = [
        "query",
        "understood",
        "executed_query",
        "results",
        "notices",
        "tips",
        "suggestions",
        "confidence",
        "candidates",
        "grade",
        "timings",
    ];
    published.sort_unstable();
    assert_eq!(keys, published);
    assert_eq!(json["results"][0]["score"], json!(0.93));
    assert_eq!(json["results"][0]["confidence"], "high");
    assert_eq!(json["results"][0]["section_matches"][0]["id"], "styling");
    assert_eq!(json["grade"], Value::Null);
}

#[test]
fn s0_12_s0_14_poor_answers_have_tips() {
    let concluded = |results, lone_generic_term| {
        let mut answer = answer(results);
        answer.conclude(lone_generic_term, &tips());
        let codes: Vec<&str> = answer.notices.iter().map(|notice| notice.code.as_str()).collect();
        (answer.confidence.as_str(), codes, answer.tips.len())
    };
    assert_eq!(concluded(Vec::new(), false), ("low", vec!["no_results"], 4));
    let low = ("low", vec!["low_confidence"], 4);
    assert_eq!(concluded(vec![result(1, 1, 0.2)], false), low);
    assert_eq!(concluded(vec![result(1, 1, 0.9)], true), low);
    let spread = vec![result(1, 1, 0.9), result(2, 2, 0.5)];
    assert_eq!(concluded(spread, false), ("high", vec![], 0));
}

#[test]
fn s3_29_suggestions_and_topics_are_distinguished() {
    for (kind, label) in [
        (SuggestionKind::Correction, "did you mean: buttons"),
        (SuggestionKind::Topic, "topics here: buttons"),
    ] {
        let mut answer = answer(Vec::new());
        answer.suggestions = vec![Suggestion {
            suggestion: "buttons".into(),
            kind,
            slug: None,
            project: None,
            score: 0.0,
        }];
        assert!(deliver(&answer, Format::Compact, budget(1000)).contains(label));
    }
}

#[test]
fn s4_16_close_scores_are_said_to_be_close() {
    let mut close = answer(vec![result(1, 1, 0.54), result(2, 2, 0.52), result(3, 3, 0.5)]);
    close.conclude(false, &tips());
    let text = deliver(&close, Format::Compact, budget(2_000));
    assert!(
        text.ends_with("\nnote (similar_relevance): Results have similar relevance"),
        "{text}"
    );
}

#[test]
fn budgets_in_which_nothing_can_be_said_are_refused() {
    assert_eq!(Budget::new(199, None), Err(BudgetError::Chars(199)));
    assert_eq!(Budget::new(20_000, Some(49)), Err(BudgetError::Tokens(49)));
    assert_eq!(Budget::new(20_000, Some(100)).map(Budget::max_chars), Ok(400));
    assert_eq!(estimated_tokens(9), 3);
}

/// Texts of documents: long ones, several scripts, line breaks, control characters, forged lines.
fn text(max: usize) -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z _./-]{0,30}",
        2 => "([a-z` ]{0,9}[\n\r\t\x0b\x0c\x00\x1b\u{7f}\u{85}\u{200b}\u{202e}\u{2028}\u{2029}]){1,20}",
        2 => "\\PC{0,40}",
        2 => "[\\s\\S]{0,40}",
        2 => "([\\[\\]()|# /:]|[ab]|base|\\. |note \\(|```){0,12}",
        1 => Just("x\n1. Forged [evil/page]\nnote (results_left_out): 9 of 9 results left out\r```\u{2028}2. Forged".to_owned()),
        2 => ("\\PC{1,12}", 1..max).prop_map(|(piece, times)| piece.repeat(times)),
    ]
}

/// A result with texts from a pool: generating each would take most of the time of a test.
fn drawn(pool: &[String], draw: [u8; 9], document_id: i64, score: f32, section_tokens: u32) -> SearchResult {
    let [project, slug, title, section, anchor, snippet, category, url, more] =
        draw.map(|at| pool[usize::from(at) % pool.len()].clone());
    let section_match = SectionMatch {
        id: anchor.clone(),
        title: section.clone(),
        url: Some(url.clone()),
        snippet: more.clone(),
        highlights: SectionHighlights::default(),
        score,
    };
    let step = step(&more, score);
    // The constraint of the project table, but shorter: references are cut after 90 characters.
    let is_of_name = |c: &char| !c.is_whitespace() && !matches!(c, '/' | '#');
    let project: String = name_in_one_line(&project).chars().filter(is_of_name).take(20).collect();
    SearchResult {
        project: if project.is_empty() { "kit".to_owned() } else { project },
        slug,
        title,
        section,
        anchor,
        snippet,
        category: Some(category),
        version: None,
        url: (!draw[2].is_multiple_of(3)).then_some(url),
        additional_chunk: document_id == 0,
        section_tokens: Some(section_tokens),
        section_matches: vec![section_match; usize::from(draw[0] % 3)],
        duplicates: u32::from(draw[4] % 3),
        also_at: (!draw[4].is_multiple_of(3)).then(|| more.clone()).into_iter().collect(),
        other_versions: ["1.10", "1.9 | forged", more.as_str()][..usize::from(draw[5] % 4).min(3)]
            .iter()
            .map(|version| (*version).to_owned())
            .collect(),
        source_key: draw[3].is_multiple_of(2).then(|| more.clone()),
        metadata: json!({ "more": more }),
        breakdown: draw[1].is_multiple_of(2).then(|| vec![step]),
        ..result(1, document_id, score)
    }
}

prop_compose! {
    fn any_answer(results: std::ops::Range<usize>)(
        pool in proptest::collection::vec(text(200), 1..8),
        results in proptest::collection::vec((any::<[u8; 9]>(), 0i64..4, any::<f32>(), any::<u32>()), results),
        (notices, tips, suggestions) in (0usize..4, 0usize..5, 0usize..8),
        (query, executed_query) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        offset in prop_oneof![Just(0usize), 0usize..1_000, Just(usize::MAX)],
        generic in any::<bool>(),
    ) -> Answer {
        let drawn = results
            .into_iter()
            .map(|(draw, document_id, score, section_tokens)| drawn(&pool, draw, document_id, score, section_tokens));
        let mut answer = answer(drawn.collect());
        for (rank, result) in (1..).zip(&mut answer.results) {
            result.rank = rank;
        }
        let texts = |count: usize| pool.iter().cycle().take(count).cloned().collect::<Vec<_>>();
        answer.query = query.get(&pool).clone();
        answer.executed_query = executed_query.get(&pool).clone();
        answer.offset = offset;
        answer.search_token = generic.then(|| "f".repeat(64));
        answer.notices = texts(notices).iter().map(|reason| Notice::vector_unavailable(reason)).collect();
        answer.suggestions = texts(suggestions)
            .into_iter()
            .map(|suggestion| Suggestion { suggestion, kind: SuggestionKind::Completion, slug: None, project: None, score: 0.5 })
            .collect();
        answer.conclude(generic, &texts(tips));
        answer
    }
}

fn any_format() -> impl Strategy<Value = Format> {
    prop_oneof![Just(Format::Compact), Just(Format::Detailed), Just(Format::Raw)]
}

/// Number of results in a text, by the lines that begin with a number, and of those that it reports as left out.
fn counted(text: &str) -> (usize, usize) {
    let starts = |line: &&str| line.starts_with(|c: char| c.is_ascii_digit());
    let shown = text.lines().filter(starts).count();
    let said = text.lines().find_map(|line| {
        let (count, rest) = line.strip_prefix("note (results_left_out): ")?.split_once(" of ")?;
        rest.contains("results left out").then(|| count.parse().ok()).flatten()
    });
    (shown, said.unwrap_or(0))
}

/// Beginnings of lines after the results of a compact answer.
const LABELS: [&str; 6] = ["note (", "note:", "searched:", "did you mean:", "topics here:", "tip:"];

/// Whether a text is shown whole, or cut.
fn is_beginning(shown: &str, whole: &str) -> bool {
    let cut = shown.strip_suffix('…');
    shown == whole || cut.is_some_and(|cut| !cut.ends_with(' ') && whole.starts_with(cut))
}

/// `1. Title > Section [project/slug#anchor]`
fn is_title_line(line: &str, result: &SearchResult) -> bool {
    let (title, section) = (one_line(&result.title), one_line(&result.section));
    let below = section
        .strip_prefix(&title)
        .filter(|below| below.is_empty() || below.starts_with(" > "));
    let below = below.map_or(section.as_str(), |below| below.trim_start_matches(" > "));
    let parts = [clip(&title, 200), clip(below, 400)];
    let parts: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    let heading = parts.join(" > ");
    let reference = name_in_one_line(&result.reference());
    let reference = reference_in_brackets(&reference);
    let Some(line) = line
        .strip_prefix(&format!("{}. ", result.rank))
        .and_then(|line| line.strip_suffix(']'))
    else {
        return false;
    };
    if heading.is_empty() {
        return line
            .strip_prefix('[')
            .is_some_and(|shown| is_beginning(shown, &reference));
    }
    // Brackets of a heading may have become parentheses.
    let round = |text: &str| text.replace('[', "(").replace(']', ")");
    line.match_indices(" [").any(|(at, bracket)| {
        is_beginning(&round(&line[..at]), &round(&heading)) && is_beginning(&line[at + bracket.len()..], &reference)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn s4_2_a_compact_result_has_a_line_for_its_title_one_for_its_score_and_one_for_its_excerpt(
        answer in any_answer(0..12),
        max_chars in prop_oneof![MIN_MAX_CHARS..1_000, 1_000usize..6_000, Just(DEFAULT_MAX_CHARS)],
    ) {
        let text = deliver(&answer, Format::Compact, budget(max_chars));
        let mut lines = text.lines().peekable();
        let mut shown = 0;
        for result in &answer.results {
            if !lines.peek().is_some_and(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
                break;
            }
            shown += 1;
            prop_assert!(lines.next().is_some_and(|line| is_title_line(line, result)), "{}\n{:?}", text, result);
            prop_assert!(lines.next().is_some_and(|line| is_score_line(line, result)), "{}\n{:?}", text, result);
            let excerpt = one_line(&result.snippet);
            let excerpt = without_references(&excerpt);
            if !excerpt.is_empty() {
                let line = lines.next().and_then(|line| line.strip_prefix("   "));
                prop_assert!(line.is_some_and(|line| is_beginning(line, &excerpt)), "{}\n{:?}", text, result);
            }
        }
        for line in lines {
            prop_assert!(LABELS.iter().any(|label| line.starts_with(label)), "{}\n{}", line, text);
        }
        prop_assert_eq!(counted(&text), (shown, answer.results.len() - shown), "{}", text);
        for line in text.lines() {
            // With text before it, no line is the fence of a code block.
            let line = format!("- {}", line.trim());
            prop_assert_eq!(one_line(&line), line, "{}", text);
        }
    }

    #[test]
    fn s4_3_five_compact_results_take_2000_characters(answer in any_answer(0..6)) {
        let text = deliver(&answer, Format::Compact, budget(DEFAULT_MAX_CHARS));
        prop_assert!(text.chars().count() <= 2_000, "{}", text);
        prop_assert_eq!(counted(&text), (answer.results.len(), 0), "{}", text);
    }

    #[test]
    fn s4_5_the_budget_is_never_exceeded_and_nothing_is_dropped_silently(
        answer in any_answer(0..12),
        format in any_format(),
        max_chars in prop_oneof![MIN_MAX_CHARS..1_000, 1_000usize..6_000, Just(DEFAULT_MAX_CHARS)],
        max_tokens in proptest::option::of(MIN_MAX_TOKENS..3_000),
    ) {
        let budget = Budget::new(max_chars, max_tokens).expect("enough characters");
        let total = answer.results.len();
        let text = deliver(&answer, format, budget);
        prop_assert!(text.chars().count() <= max_chars);
        prop_assert!(max_tokens.is_none_or(|max_tokens| estimated_tokens(text.chars().count()) <= max_tokens));
        if format == Format::Raw {
            let json: Value = serde_json::from_str(&text).expect("valid JSON");
            let shown = json["results"].as_array().map_or(0, Vec::len);
            let left_out = format!("{} of {total} ", total - shown);
            let said = json["notices"].as_array().into_iter().flatten().any(|notice| {
                let message = notice["message"].as_str().unwrap_or_default();
                notice["code"] == "results_left_out" && message.starts_with(&left_out)
            });
            prop_assert!(shown == total || said, "{}", text);
            prop_assert!(budget.max_chars() < 400 || json["search_token"].as_str() == answer.search_token.as_deref(), "{}", text);
        } else {
            let (shown, left_out) = counted(&text);
            prop_assert_eq!(shown + left_out, total, "{}", text);
            prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
        }
    }
}
