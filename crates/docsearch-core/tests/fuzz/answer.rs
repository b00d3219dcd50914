use std::collections::BTreeMap;

use docsearch_core::answer::delivery::{
    Answer, Budget, Confidence, Format, SearchResult, SectionMatch, Syntax, deliver,
};
use docsearch_core::answer::grade::{Grade, Minimum, OfText};
use docsearch_core::answer::highlight::{Highlights, Mark, SectionHighlights};
use docsearch_core::models::prompt::{PromptContext, answer_prompt, grade_prompt, questions_prompt, wording_prompt};
use docsearch_core::models::wording_reply::{MAX_NEW_WORDING_CHARS, MAX_NEW_WORDINGS};
use docsearch_core::models::{json_object, question_reply};
use docsearch_core::query::transformation::Transformation;
use docsearch_fuzz::text;
use serde_json::{Value, json};

use crate::fields;

pub(crate) fn delivery(input: &[u8]) {
    let text = &*text(input);
    let answer = answer(text);
    for format in [Format::Compact, Format::Detailed, Format::Raw] {
        for max_chars in [200, 2000, 20_000] {
            let budget = Budget::new(max_chars, None).expect("a budget");
            let delivered = deliver(&answer, format, budget);
            if format == Format::Raw {
                assert!(serde_json::from_str::<Value>(&delivered).is_ok_and(|value| value.is_object()));
                continue;
            }
            assert!(
                delivered.chars().count() <= max_chars,
                "{format:?} in {max_chars}: {delivered}"
            );
            let control = |c: char| c.is_control() && c != '\n';
            assert!(!delivered.contains(control), "{format:?}: {delivered:?}");
        }
    }
    assert!(answer.to_json().is_object());
}

fn answer(text: &str) -> Answer {
    let [query, title, section, slug, url, snippet] = fields(text);
    let score = text.len() as f32 / 16_384.0;
    let result = |rank| SearchResult {
        rank,
        project: title.to_owned(),
        slug: slug.to_owned(),
        title: title.to_owned(),
        section: section.to_owned(),
        anchor: section.to_owned(),
        category: Some(section.to_owned()),
        version: Some(section.to_owned()),
        url: Some(url.to_owned()),
        score,
        similarity: Some(score),
        keyword_score: score,
        confidence: Confidence::High,
        snippet: snippet.to_owned(),
        project_id: 1,
        document_id: i64::from(rank),
        chunk_no: 0,
        chunk_count: i32::MAX,
        of_text: OfText::default(),
        additional_chunk: rank == 2,
        section_tokens: Some(u32::MAX),
        updated_at: Some(url.to_owned()),
        duplicates: rank,
        also_at: vec![slug.to_owned()],
        other_versions: vec![slug.to_owned()],
        source_key: Some(slug.to_owned()),
        metadata: serde_json::json!({ title: section }),
        highlights: Some(Highlights {
            snippet: vec![Mark(0, u32::MAX)],
            ..Highlights::default()
        }),
        snippet_html: Some(snippet.to_owned()),
        section_matches: vec![SectionMatch {
            id: section.to_owned(),
            title: title.to_owned(),
            url: Some(url.to_owned()),
            snippet: snippet.to_owned(),
            highlights: SectionHighlights::default(),
            score,
        }],
        breakdown: None,
    };
    let mut answer = Answer {
        query: query.to_owned(),
        understood: json!({"symbol": title}),
        executed_query: section.to_owned(),
        transformation: None,
        results: (1..4).map(result).collect(),
        notices: Vec::new(),
        tips: Vec::new(),
        suggestions: Vec::new(),
        confidence: Confidence::Low,
        candidates: 3,
        vector_recalled: false,
        probability: None,
        search_token: None,
        grade: None,
        timings: BTreeMap::new(),
        offset: 0,
        syntax: Syntax::Sql,
        fields: None,
    };
    answer.conclude(title.is_empty(), &[section.to_owned()]);
    answer
}

pub(crate) fn prompts(input: &[u8]) {
    let text = &*text(input);
    let [question, title, source, body] = fields(text);
    let question = &question[..question.floor_char_boundary(400)];
    let context = PromptContext {
        source,
        title,
        text: body,
    };
    for max_tokens in [500, 4000] {
        let prompt = answer_prompt(question, [context, context], Some("German"), max_tokens);
        assert!(
            prompt.chars().count() <= 4 * max_tokens + 200,
            "{} characters",
            prompt.chars().count()
        );
    }
    assert!(grade_prompt(question, [context]).len() <= 4 * 2 * text.len() + 2000);
    assert!(questions_prompt(title, &[source.to_owned()], body).len() <= 3 * text.len() + 2000);
    // The source is in it twice. The backticks around a text are more than any run in it.
    assert!(wording_prompt(question, title, source, Some((source, body))).len() <= 2 * 3 * text.len() + 2000);
}

pub(crate) fn of_models(input: &[u8]) {
    let text = &*text(input);
    let minimum = Minimum {
        score: 0.5,
        relevance: 0.5,
        completeness: 0.5,
    };
    if let Some(object) = json_object::find(text)
        && let Some(grade) = Grade::by_model(&object, &minimum)
    {
        assert!(grade.score.is_finite());
    }
    if let Some(made) = Transformation::by_model("query", &["further"], &["earlier".to_owned()], text, false) {
        assert!((2..=1 + MAX_NEW_WORDINGS).contains(&made.wordings.len()));
        assert!(
            made.wordings
                .iter()
                .all(|wording| wording.chars().count() <= MAX_NEW_WORDING_CHARS)
        );
    }
    let reply = question_reply::read(text, ["title"]);
    assert!(reply.questions.len() <= question_reply::MAX_QUESTIONS);
    let is_within = |question: &String| question.chars().count() <= question_reply::MAX_QUESTION_CHARS;
    assert!(reply.questions.iter().all(is_within));
}
