//! What a query could have said: by the rules and the documents, or by a language model.

use std::cell::RefCell;

use docsearch_core::bm25::idf;
use docsearch_core::delivery::Notice;
use docsearch_core::prompt;
use docsearch_core::rerank::Ranked;
use docsearch_core::score::EVIDENCE_CEILING;
use docsearch_core::statistics::Totals;
use docsearch_core::transformation::{self, Month, Need, Transformation, need, related, telling};
use docsearch_inference::Purpose;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::models::language_model::{self, Calls};
use crate::postgres::report::Result;
use crate::postgres::statement;
use crate::search::config::Transform;
use crate::search::group::Group;
use crate::search::retrieval::Retrieval;
use crate::tables::project::{Project, Projects};

/// Documents whose keywords are read.
const READ: usize = 10;

/// The query that is to be transformed, and how.
pub(crate) struct Question<'a> {
    pub(crate) query: &'a str,
    pub(crate) projects: &'a [Project],
    pub(crate) transform: Transform,
    /// Questions that the search may ask a language model.
    pub(crate) calls: &'a RefCell<Calls>,
}

/// What the configuration makes of the query of a search that was run, and why the language model did not, if it was
/// to. `poor` are the query of an answer that was not good enough, and why.
pub(crate) fn of(
    asked: &Question<'_>,
    retrieval: &Retrieval<'_>,
    poor: Option<(&str, &str)>,
) -> Result<(Transformation, Option<Notice>)> {
    let now = this_month()?;
    let rules = || by_rules(retrieval, asked.projects, now);
    if asked.transform != Transform::Model || names_what_it_means(retrieval) {
        return Ok((rules()?, None));
    }
    let recency = retrieval.groups.first().is_some_and(|group| group.understanding.recent);
    let query = asked.query;
    let user = prompt::rewrite_prompt(query, &now.name(), poor);
    let made = language_model::ask(
        &mut asked.calls.borrow_mut(),
        Purpose::Transform,
        prompt::REWRITE,
        &user,
        |answer| Transformation::by_model(query, answer, recency),
    );
    let reason = match made {
        Ok(Some(made)) => return Ok((made, None)),
        Ok(None) => "the language model said nothing new".to_owned(),
        Err(failure) => failure.message().to_owned(),
    };
    Ok((rules()?, Some(Notice::transform_fallback(&reason))))
}

/// Whether the query is a page's name.
fn names_what_it_means(retrieval: &Retrieval<'_>) -> bool {
    retrieval
        .found
        .ranked
        .first()
        .is_some_and(|first| first.score > EVIDENCE_CEILING)
}

/// What the rules, and the documents that a search found, add to its query. The name of a page says what it means.
pub(crate) fn by_rules(retrieval: &Retrieval<'_>, projects: &[Project], now: Month) -> Result<Transformation> {
    let Some(group) = retrieval.groups.first() else {
        return Ok(Transformation::unchanged("", false, "there is no project"));
    };
    let asked = &group.understanding;
    let need = need(asked, group.rules());
    if names_what_it_means(retrieval) || need == Need::Nothing {
        return Ok(Transformation::unchanged(
            &asked.text,
            asked.recent,
            "names what it means",
        ));
    }
    let keywords = match need {
        Need::Context if is_known(group)? => keywords(projects, Some(&retrieval.found.ranked))?,
        Need::Topics => keywords(projects, None)?,
        Need::Nothing | Need::Synonyms | Need::Context => Vec::new(),
    };
    let related = telling_words(group, &keywords)?;
    Ok(transformation::transform(
        &group.understanding,
        group.rules(),
        &related,
        now,
    ))
}

/// Whether the documents hold a word of the query: what else was found for it has nothing to do with it.
fn is_known(group: &Group<'_>) -> Result<bool> {
    let lexemes: Vec<String> = group
        .terms
        .iter()
        .flat_map(|term| term.looked_up().map(|(lexeme, _)| lexeme.to_owned()))
        .collect();
    let frequencies = group.sight.frequencies(&group.projects, lexemes.clone())?;
    Ok(lexemes.iter().any(|lexeme| frequencies.sum(lexeme) > 0.0))
}

/// The keywords that tell most of the documents that have them.
fn telling_words(group: &Group<'_>, keywords: &[Vec<String>]) -> Result<Vec<String>> {
    let related = related(&group.understanding, keywords.iter().map(Vec::as_slice));
    if related.is_empty() {
        return Ok(Vec::new());
    }
    let words: Vec<String> = related.iter().map(|(keyword, _)| keyword.clone()).collect();
    let lexemes = statement::rows(
        "SELECT tsvector_to_array(to_tsvector($1::regconfig, k.word))
         FROM unnest($2::text[]) WITH ORDINALITY AS k(word, place) ORDER BY k.place",
        &[DatumWithOid::from(group.text_config), DatumWithOid::from(words)],
        |row| row.required::<Vec<String>>(1),
    )?;
    let looked_up = lexemes.iter().flatten().cloned().collect();
    let frequencies = group.sight.frequencies(&group.projects, looked_up)?;
    let chunks = Totals::all_chunks(&group.sight.totals(&group.projects)?);
    let rarest = |lexemes: &Vec<String>| {
        let rarities = lexemes.iter().map(|lexeme| idf(chunks, frequencies.sum(lexeme)));
        rarities.fold(0.0, f32::max)
    };
    let rarities: Vec<f32> = lexemes.iter().map(rarest).collect();
    Ok(telling(related, &rarities))
}

/// Keywords of the best documents, or of the newest, of those that the caller sees.
fn keywords(projects: &[Project], ranked: Option<&[Ranked]>) -> Result<Vec<Vec<String>>> {
    let projects = Projects::new(projects);
    let best = ranked.map(|ranked| ranked.iter().take(READ));
    let best: Option<Vec<i64>> = best.map(|best| best.map(|ranked| ranked.document.document.document).collect());
    statement::rows(
        &format!(
            "SELECT ARRAY(SELECT k.keyword FROM unnest(d.keywords) AS k(keyword)
                          WHERE cardinality(ts_lexize('pg_catalog.english_stem', lower(k.keyword))) > 0)
             FROM docsearch.document d
             WHERE {} AND ($2::bigint[] IS NULL OR d.id = ANY ($2))
             ORDER BY CASE WHEN $2 IS NULL THEN coalesce(d.published_at, d.updated_at) END DESC LIMIT $3",
            projects.condition("d")
        ),
        &[
            projects.argument(),
            DatumWithOid::from(best),
            DatumWithOid::from(READ as i64),
        ],
        |row| row.required(1),
    )
}

/// The month in the time zone of the session.
pub(crate) fn this_month() -> Result<Month> {
    month(None)
}

/// The month of a time, or the present one, in the time zone of the session.
pub(crate) fn month(now: Option<TimestampWithTimeZone>) -> Result<Month> {
    let parts = statement::one(
        "SELECT date_part('year', coalesce($1, now()))::int, date_part('month', coalesce($1, now()))::int",
        &[DatumWithOid::from(now)],
        |row| Ok((row.required::<i32>(1)?, row.required::<i32>(2)?)),
    )?;
    let (year, month) = parts.unwrap_or((1970, 1));
    Ok(Month {
        year,
        month: u8::try_from(month).unwrap_or(1),
    })
}
