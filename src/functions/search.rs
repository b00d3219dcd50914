//! `search_docs`, `search_docs_json`, `search_docs_text` and `search_answer`.

use docsearch_core::answer::delivery::{
    Answer, Budget, BudgetError, DEFAULT_MAX_CHARS, Format, MIN_MAX_CHARS, MIN_MAX_TOKENS, Notice, deliver,
    excerpt_marks,
};
use pgrx::prelude::*;

use crate::postgres::argument::{Json, Number, Text, Texts, Whole, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, internal, invalid};
use crate::postgres::role::Caller;
use crate::search::arguments::Arguments;
use crate::search::config;
use crate::search::retrieval::Detail;

/// Returns the documents that best answer a query, best first.
#[pg_extern(volatile, parallel_unsafe, cost = 10000)]
#[search_path(pg_catalog, pg_temp)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
fn search_docs(
    query: Option<Text<'_>>,
    project: default!(Option<Text<'_>>, "NULL"),
    category: default!(Option<Text<'_>>, "NULL"),
    filter: default!(Option<Json<'_>>, "NULL"),
    max_results: default!(Option<Whole>, "NULL"),
    min_score: default!(Option<Number>, "NULL"),
    dedup: default!(Option<Text<'_>>, "NULL"),
    config: default!(Option<Json<'_>>, "NULL"),
    also: default!(Option<Texts<'_>>, "NULL"),
    projects: default!(Option<Texts<'_>>, "NULL"),
) -> Result<
    TableIterator<
        'static,
        (
            name!(rank, i32),
            name!(slug, String),
            name!(title, String),
            name!(section, String),
            name!(project, String),
            name!(category, Option<String>),
            name!(score, f32),
            name!(similarity, Option<f32>),
            name!(keyword_score, f32),
            name!(confidence, String),
            name!(snippet, String),
            name!(url, Option<String>),
            name!(document_id, i64),
            name!(chunk_no, i32),
            name!(chunk_count, i32),
            name!(additional_chunk, bool),
            name!(notice, Option<String>),
            name!(source_key, Option<String>),
            name!(metadata, JsonB),
            name!(duplicates, i32),
            name!(anchor, String),
            name!(section_tokens, Option<i32>),
            name!(version, Option<String>),
            name!(highlights, JsonB),
            name!(snippet_html, String),
        ),
    >,
> {
    let caller = &mut Caller::of_call()?;
    let arguments = arguments!(Arguments {
        query,
        project,
        category,
        filter,
        dedup,
        config,
        max_results,
        min_score,
        also,
        projects
    });
    let answer = arguments.resolve(caller)?.answer_reader(caller, Detail::Rows)?;
    let notice = Notice::in_one_text(&answer.notices);
    if answer.results.is_empty()
        && let Some(notice) = &notice
    {
        notice!("{notice}");
    }
    let rows = answer.results.into_iter().map(move |result| {
        Ok((
            result.rank as i32,
            result.slug,
            result.title,
            result.section,
            result.project,
            result.category,
            result.score,
            result.similarity,
            result.keyword_score,
            result.confidence.as_str().to_owned(),
            result.snippet,
            result.url,
            result.document_id,
            result.chunk_no,
            result.chunk_count,
            result.additional_chunk,
            notice.clone(),
            result.source_key,
            JsonB(result.metadata),
            i32::try_from(result.duplicates).unwrap_or(i32::MAX),
            result.anchor,
            result.section_tokens.and_then(|tokens| i32::try_from(tokens).ok()),
            result.version,
            JsonB(serde_json::to_value(result.highlights).map_err(internal)?),
            result.snippet_html.unwrap_or_default(),
        ))
    });
    Ok(TableIterator::new(rows.collect::<Result<Vec<_>>>()?))
}

/// Returns the answer of search_docs as a JSON object.
#[pg_extern(volatile, parallel_unsafe, cost = 10000)]
#[search_path(pg_catalog, pg_temp)]
#[allow(clippy::too_many_arguments)]
fn search_docs_json(
    query: Option<Text<'_>>,
    project: default!(Option<Text<'_>>, "NULL"),
    category: default!(Option<Text<'_>>, "NULL"),
    filter: default!(Option<Json<'_>>, "NULL"),
    max_results: default!(Option<Whole>, "NULL"),
    min_score: default!(Option<Number>, "NULL"),
    dedup: default!(Option<Text<'_>>, "NULL"),
    config: default!(Option<Json<'_>>, "NULL"),
    also: default!(Option<Texts<'_>>, "NULL"),
    projects: default!(Option<Texts<'_>>, "NULL"),
) -> Result<JsonB> {
    let caller = &mut Caller::of_call()?;
    let arguments = arguments!(Arguments {
        query,
        project,
        category,
        filter,
        dedup,
        config,
        max_results,
        min_score,
        also,
        projects
    });
    Ok(JsonB(
        arguments
            .resolve(caller)?
            .answer_reader(caller, Detail::Sections)?
            .to_json(),
    ))
}

/// Returns the answer of search_docs as text for a terminal or a language model.
#[pg_extern(volatile, parallel_unsafe, cost = 10000)]
#[search_path(pg_catalog, pg_temp)]
#[allow(clippy::too_many_arguments)]
fn search_docs_text(
    query: Option<Text<'_>>,
    project: default!(Option<Text<'_>>, "NULL"),
    category: default!(Option<Text<'_>>, "NULL"),
    filter: default!(Option<Json<'_>>, "NULL"),
    max_results: default!(Option<Whole>, "NULL"),
    min_score: default!(Option<Number>, "NULL"),
    dedup: default!(Option<Text<'_>>, "NULL"),
    config: default!(Option<Json<'_>>, "NULL"),
    format: default!(Option<Text<'_>>, "NULL"),
    max_chars: default!(Option<Whole>, "NULL"),
    max_tokens: default!(Option<Whole>, "NULL"),
    also: default!(Option<Texts<'_>>, "NULL"),
    projects: default!(Option<Texts<'_>>, "NULL"),
) -> Result<String> {
    arguments!(format, max_chars, max_tokens);
    let caller = &mut Caller::of_call()?;
    let writing = Writing::new(format, max_chars, max_tokens)?;
    let arguments = arguments!(Arguments {
        query,
        project,
        category,
        filter,
        dedup,
        config,
        max_results,
        min_score,
        also,
        projects
    });
    Ok(writing.answer(caller, arguments)?.0)
}

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the text of search_docs_text with the number of results, the confidence and the codes of notices.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::too_many_arguments, clippy::type_complexity)]
    fn search_answer(
        query: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        category: default!(Option<Text<'_>>, "NULL"),
        filter: default!(Option<Json<'_>>, "NULL"),
        max_results: default!(Option<Whole>, "NULL"),
        min_score: default!(Option<Number>, "NULL"),
        dedup: default!(Option<Text<'_>>, "NULL"),
        config: default!(Option<Json<'_>>, "NULL"),
        format: default!(Option<Text<'_>>, "NULL"),
        max_chars: default!(Option<Whole>, "NULL"),
        max_tokens: default!(Option<Whole>, "NULL"),
        also: default!(Option<Texts<'_>>, "NULL"),
        projects: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(content, String),
                name!(results, i32),
                name!(confidence, String),
                name!(notices, Vec<String>),
                name!(search_token, Option<String>),
                name!(highlights, JsonB),
            ),
        >,
    > {
        arguments!(format, max_chars, max_tokens);
        let caller = &mut Caller::of_call()?;
        let writing = Writing::new(format, max_chars, max_tokens)?;
        let arguments = arguments!(Arguments {
            query,
            project,
            category,
            filter,
            dedup,
            config,
            max_results,
            min_score,
            also,
            projects
        });
        let (content, answer) = writing.answer(caller, arguments)?;
        let codes = answer.notices.iter().map(|notice| notice.code.as_str().to_owned());
        let codes = codes.collect();
        let marks = excerpt_marks(&answer, &content);
        Ok(TableIterator::once((
            content,
            i32::try_from(answer.results.len()).unwrap_or(i32::MAX),
            answer.confidence.as_str().to_owned(),
            codes,
            answer.search_token,
            JsonB(serde_json::to_value(marks).map_err(internal)?),
        )))
    }
}

/// How to write an answer as text.
struct Writing {
    /// The argument; `config` may name another.
    format: Option<Format>,
    budget: Budget,
}

impl Writing {
    fn new(format: Option<&str>, max_chars: Option<i32>, max_tokens: Option<i32>) -> Result<Self> {
        Ok(Self {
            format: format.map(config::format).transpose()?,
            budget: budget(max_chars, max_tokens)?,
        })
    }

    /// The answer as text, and as a value.
    fn answer(&self, caller: &mut Caller, arguments: Arguments<'_>) -> Result<(String, Answer)> {
        let request = arguments.resolve(caller)?;
        let format = self.format.or(request.config.format).unwrap_or(Format::Compact);
        let answer = request.answer_reader(caller, Detail::Sections)?;
        Ok((deliver(&answer, format, self.budget), answer))
    }
}

fn budget(max_chars: Option<i32>, max_tokens: Option<i32>) -> Result<Budget> {
    let size = |value: i32| usize::try_from(value).unwrap_or_default();
    // max_tokens alone is the only limit.
    let default = if max_tokens.is_some() {
        usize::MAX
    } else {
        DEFAULT_MAX_CHARS
    };
    let max_chars = max_chars.map_or(default, size);
    Budget::new(max_chars, max_tokens.map(size)).map_err(|problem| {
        let least = match problem {
            BudgetError::Chars(_) => format!("{MIN_MAX_CHARS} characters"),
            BudgetError::Tokens(_) => format!("{MIN_MAX_TOKENS} tokens"),
        };
        invalid(
            problem.to_string(),
            format!("Allow at least {least}, or omit the limit."),
        )
    })
}
