//! Questions that sections of documents answer: `set_questions`, `write_questions`, `questions`, and those of readers.

use docsearch_core::evaluation::exchange::reference;
use docsearch_core::index::question::{self, Question};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::indexing::indexer;
use crate::indexing::question_writing::{self, Limits};
use crate::postgres::argument::{Json, Text, Texts, Whole, arguments};
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, internal, invalid, refuse_read_only};
use crate::postgres::role::{Caller, Role};
use crate::reports::question_candidates;
use crate::reports::scope::{Scope, least_sessions};
use crate::tables::project::Project;
use crate::tables::questions::{self, AUTHOR, READER};
use crate::tables::{document, project, rejected_questions};

#[pg_schema]
mod docsearch {
    use super::*;

    /// Replaces the questions of a document from one source, and returns their number.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn set_questions(
        project: Option<Text<'_>>,
        slug: Option<Text<'_>>,
        questions: Option<Json<'_>>,
        source: default!(Option<Text<'_>>, "'author'"),
    ) -> Result<i64> {
        arguments!(project, slug, questions, source);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"set_questions()");
        let project = project::given(caller, project)?;
        let slug = document::checked_slug(slug)?;
        let source = source.unwrap_or(AUTHOR);
        if !questions::is_source(source) {
            return Err(invalid(
                format!("unknown source \"{}\"", docsearch_core::values::bounds::shown(source)),
                "Use author, reader, or model followed by its name, such as \"model gpt-5\".",
            ));
        }
        let JsonB(questions) =
            questions.ok_or_else(|| invalid("questions must not be null", question::Problem::NoArray.hint()))?;
        let questions = question::read(questions).map_err(|problem| questions::refused(&problem))?;
        let count = indexer::set_questions(caller, &project, slug, questions, source)?;
        i64::try_from(count).map_err(internal)
    }

    /// Has the language model write questions for sections that have none, or only stale ones.
    #[pg_extern(volatile, parallel_unsafe, cost = 1000000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn write_questions(
        project: Option<Text<'_>>,
        max_tokens: default!(Option<Whole>, 20000),
        slugs: default!(Option<Texts<'_>>, "NULL"),
        max_sections: default!(Option<Whole>, "NULL"),
        requests_per_minute: default!(Option<Whole>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(sections_done, i64),
                name!(sections_left, i64),
                name!(questions_written, i64),
                name!(dropped, i64),
                name!(tokens_estimated, i64),
                name!(tokens_spent, Option<i64>),
            ),
        >,
    > {
        arguments!(project, max_tokens, slugs, max_sections, requests_per_minute);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"write_questions()");
        let max_tokens = max_tokens.ok_or_else(|| invalid("max_tokens must not be null", TOKENS_HINT))?;
        let max_tokens = u64::try_from(max_tokens).map_err(|_| {
            invalid(
                format!("max_tokens is {max_tokens}, and must not be negative"),
                TOKENS_HINT,
            )
        })?;
        let limits = Limits {
            tokens: max_tokens,
            sections: at_least_one("max_sections", max_sections)?,
            requests_per_minute: at_least_one("requests_per_minute", requests_per_minute)?,
        };
        let project = project::given(caller, project)?;
        let slugs = slugs.map(|slugs| slugs.into_iter().flatten().collect());
        let written = question_writing::write(caller, &project, slugs, limits)?;
        let tokens = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        Ok(TableIterator::once((
            written.sections_done,
            written.sections_left,
            written.questions_written,
            written.dropped,
            tokens(written.tokens_estimated),
            written.tokens_spent.map(tokens),
        )))
    }

    /// Returns questions that readers asked and that a section of a project answered for several of them.
    #[pg_extern(stable, parallel_unsafe, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn question_candidates(
        project: Option<Text<'_>>,
        since: default!(Option<TimestampWithTimeZone>, "NULL"),
        max_rows: default!(Option<Whole>, "NULL"),
        min_sessions: default!(Option<Whole>, 3),
        readers: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(reference, String),
                name!(question, String),
                name!(sessions, i64),
                name!(answered, i64),
                name!(helped, i64),
            ),
        >,
    > {
        arguments!(project, max_rows, min_sessions, readers);
        let caller = &mut Caller::of_call()?;
        let scope = Scope::of_project(caller, since, project, max_rows, readers)?;
        let min_sessions = least_sessions(min_sessions)?;
        let name = project.unwrap_or_default().to_owned();
        let rows = question_candidates::candidates(caller, &scope, min_sessions)?;
        let rows = rows.into_iter().map(move |row| {
            (
                reference(&format!("{name}/{}", row.slug), &row.anchor),
                row.question,
                i64::from(row.counts.shown),
                i64::from(row.counts.answered),
                i64::from(row.counts.helped),
            )
        });
        Ok(TableIterator::new(rows.collect::<Vec<_>>()))
    }

    /// Adds a question of readers to a section, and returns whether it is new.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn accept_question(reference: Option<Text<'_>>, question: Option<Text<'_>>) -> Result<bool> {
        arguments!(reference, question);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"accept_question()");
        let (project, slug, question) = reader_question(caller, reference, question)?;
        indexer::add_question(caller, &project, &slug, question, READER)
    }

    /// Keeps a question from being proposed again for a page, and returns whether that is new.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn reject_question(reference: Option<Text<'_>>, question: Option<Text<'_>>) -> Result<bool> {
        arguments!(reference, question);
        let caller = &mut Caller::of_call()?;
        refuse_read_only(c"reject_question()");
        let (project, slug, question) = reader_question(caller, reference, question)?;
        let (id, _) = indexer::lock(caller, &project, &slug)?;
        let role = caller.name();
        let owner = &caller.as_owner()?;
        rejected_questions::add(owner, id, &question::normal_form(&question.question), &role)
    }

    /// Returns the questions that the documents of a project answer.
    #[pg_extern(stable, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn questions(
        project: Option<Text<'_>>,
        slug: default!(Option<Text<'_>>, "NULL"),
    ) -> Result<
        TableIterator<
            'static,
            (
                name!(slug, String),
                name!(anchor, String),
                name!(question, String),
                name!(source, String),
                name!(stale, bool),
                name!(created_at, TimestampWithTimeZone),
            ),
        >,
    > {
        arguments!(project, slug);
        let caller = &mut Caller::of_call()?;
        let project = project::given(caller, project)?;
        Ok(TableIterator::new(questions::listed(caller, &project, slug)?))
    }
}

/// The page and the question that a reader's question is about.
fn reader_question(
    caller: &mut Caller,
    reference: Option<&str>,
    question: Option<&str>,
) -> Result<(Project, String, Question)> {
    let reference = document::checked_slug(reference)?;
    let named = document::named(caller, reference, None)?;
    let given = Question {
        anchor: named.anchor,
        question: question.unwrap_or_default().to_owned(),
    };
    let mut checked = question::checked([given]).map_err(|problem| questions::refused(&problem))?;
    let question = checked.pop().ok_or_else(|| {
        invalid(
            "question must not be null or blank",
            "docsearch.question_candidates() proposes some.",
        )
    })?;
    Ok((project::by_name(caller, &named.project)?, named.slug, question))
}

/// An optional limit, which must be at least 1.
fn at_least_one(name: &str, given: Option<i32>) -> Result<Option<u64>> {
    let checked = |limit| u64::try_from(limit).ok().filter(|limit| *limit > 0);
    given
        .map(|limit| {
            checked(limit).ok_or_else(|| {
                invalid(
                    format!("{name} is {limit}, and must be at least 1"),
                    "Omit it for no limit.",
                )
            })
        })
        .transpose()
}

const TOKENS_HINT: &str = "Give the maximum number of tokens to spend, or 0 for an estimate for all sections.";
