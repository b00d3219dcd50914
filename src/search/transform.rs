//! Transforms a query by rules and documents, or by a language model.

use std::cell::RefCell;

use docsearch_core::answer::delivery::Notice;
use docsearch_core::index::bm25::idf;
use docsearch_core::index::statistics::Totals;
use docsearch_core::models::prompt;
use docsearch_core::query::input::Query;
use docsearch_core::query::transformation::{self, Need, Transformation, Usage, has_acronym, need, related, telling};
use docsearch_core::query::understanding::Class;
use docsearch_core::ranking::rerank::RankedDocument;
use docsearch_core::ranking::score::EVIDENCE_CAP;
use docsearch_core::text::name;
use docsearch_core::values::calendar::Day;
use docsearch_inference::Purpose;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::models::language_model::{self, Calls};
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::search::config::Transform;
use crate::search::group::Group;
use crate::search::retrieval::Retrieval;
use crate::search::suggest;
use crate::tables::project::{Project, Projects};

/// Best documents whose keywords are read.
const KEYWORD_DOCUMENTS: usize = 10;
/// Titles, categories and topics that describe the documentation to a language model, at most.
const MAX_TITLES: usize = 5;
const MAX_CATEGORIES: i64 = 8;
const MAX_TOPICS: usize = 8;
/// Newest documents whose categories are counted.
const CATEGORY_DOCUMENTS: i64 = 500;

/// A query to transform.
pub(crate) struct TransformInput<'a> {
    pub(crate) query: &'a str,
    /// Further wordings by the caller.
    pub(crate) also: &'a [Query],
    /// Earlier wordings by a language model.
    pub(crate) earlier: &'a [String],
    pub(crate) projects: &'a [Project],
    pub(crate) transform: Transform,
    /// Calls of the language model that the search may still make.
    pub(crate) calls: &'a RefCell<Calls>,
}

/// Transforms the query of a search that was run, with a notice if the language model failed and the rules did it.
/// `poor` is the query of an answer that was not good enough, with the reasoning of its grade.
pub(crate) fn transform(
    caller: &mut Caller,
    input: &TransformInput<'_>,
    retrieval: &Retrieval<'_>,
    poor: Option<(&str, &str)>,
) -> Result<(Transformation, Option<Notice>)> {
    let now = day(caller, None)?;
    let rules = |caller: &mut Caller| by_rules(caller, retrieval, input.projects, now);
    if input.transform != Transform::Model || is_page_name(retrieval) {
        return Ok((rules(caller)?, None));
    }
    let recency = retrieval.groups.first().is_some_and(|group| group.understanding.recent);
    let query = input.query;
    let also: Vec<&str> = input.also.iter().map(|wording| wording.text.as_str()).collect();
    let user = prompt::wording_prompt(
        query,
        &now.date(),
        &description(caller, retrieval, input.projects)?,
        poor,
    );
    let transformed = language_model::ask(
        &mut input.calls.borrow_mut(),
        Purpose::Transform,
        prompt::WORDINGS,
        &user,
        |answer| Transformation::by_model(query, &also, input.earlier, answer, recency),
    );
    let reason = match transformed {
        Ok(Some(transformation)) => return Ok((transformation, None)),
        Ok(None) => "the language model gave no new wording".to_owned(),
        Err(failure) => failure.message().to_owned(),
    };
    Ok((rules(caller)?, Some(Notice::transform_fallback(&reason))))
}

/// Whether the query is the name of a page.
fn is_page_name(retrieval: &Retrieval<'_>) -> bool {
    retrieval
        .found
        .ranked
        .first()
        .is_some_and(|first| first.score > EVIDENCE_CAP)
}

/// Adds terms to a query, by the rules and the documents that a search for it found. The name of a page stays as it is.
pub(crate) fn by_rules(
    caller: &mut Caller,
    retrieval: &Retrieval<'_>,
    projects: &[Project],
    now: Day,
) -> Result<Transformation> {
    let Some(group) = retrieval.groups.first() else {
        return Ok(Transformation::unchanged("", false, "there is no project"));
    };
    let understanding = &group.understanding;
    let need = need(understanding, group.rules());
    // A question with an acronym is not a page name, even if a page has the name of the acronym.
    let is_written_out = understanding.class == Class::Question && has_acronym(understanding, group.rules());
    if is_page_name(retrieval) && !is_written_out || need == Need::Nothing {
        return Ok(Transformation::unchanged(
            &understanding.text,
            understanding.recent,
            "is already specific",
        ));
    }
    let keywords = match need {
        Need::Context if is_known(caller, group)? => keywords(caller, projects, &retrieval.found.ranked)?,
        // The newest documents rank first.
        Need::Topics => keywords(caller, projects, &retrieval.found.ranked)?,
        Need::Nothing | Need::Synonyms | Need::Context => Vec::new(),
    };
    let related = informative_keywords(caller, group, projects, &keywords)?;
    Ok(transformation::transform(
        &group.understanding,
        group.rules(),
        &related,
        &usage(caller, group)?,
        now,
    ))
}

/// Whether the documents contain a word of the query. If none does, the keywords of what was found are unrelated to it.
fn is_known(caller: &mut Caller, group: &Group<'_>) -> Result<bool> {
    let lexemes = group.lexemes();
    let frequencies = group.visibility.frequencies(caller, &group.projects, lexemes.clone())?;
    Ok(lexemes.iter().any(|lexeme| frequencies.sum(lexeme) > 0.0))
}

/// The keywords that distinguish best the documents that have them.
fn informative_keywords(
    caller: &mut Caller,
    group: &Group<'_>,
    projects: &[Project],
    keywords: &[Vec<String>],
) -> Result<Vec<String>> {
    let mut related = related(&group.understanding, group.rules(), keywords.iter().map(Vec::as_slice));
    // The name of the project distinguishes no document.
    let is_project = |word: &str| {
        projects
            .iter()
            .any(|project| name::has_key(word, &name::key(&project.name)))
    };
    related.retain(|(keyword, _)| !keyword.split_whitespace().any(is_project));
    if related.is_empty() {
        return Ok(Vec::new());
    }
    let words: Vec<String> = related.iter().map(|(keyword, _)| keyword.clone()).collect();
    let lexemes = lexemes(caller, group, words)?;
    let looked_up = lexemes.iter().flatten().cloned().collect();
    let frequencies = group.visibility.frequencies(caller, &group.projects, looked_up)?;
    let chunks = Totals::all_chunks(&group.visibility.totals(caller, &group.projects)?);
    let rarest = |lexemes: &Vec<String>| {
        let rarities = lexemes.iter().map(|lexeme| idf(chunks, frequencies.sum(lexeme)));
        rarities.fold(0.0, f32::max)
    };
    let rarities: Vec<f32> = lexemes.iter().map(rarest).collect();
    Ok(telling(related, &rarities))
}

/// The lexemes of each text.
fn lexemes(caller: &Caller, group: &Group<'_>, texts: Vec<String>) -> Result<Vec<Vec<String>>> {
    statement::rows(
        caller,
        "SELECT tsvector_to_array(to_tsvector($1::regconfig, k.word))
         FROM unnest($2::text[]) WITH ORDINALITY AS k(word, place) ORDER BY k.place",
        &[DatumWithOid::from(group.text_config), DatumWithOid::from(texts)],
        |row| row.required::<Vec<String>>(1),
    )
}

/// Whether visible documents use the abbreviations of the query, and their long forms.
fn usage(caller: &mut Caller, group: &Group<'_>) -> Result<Usage> {
    let terms = group.understanding.terms.iter();
    let (short, long): (Vec<String>, Vec<String>) = terms
        .filter_map(|term| Some((term.word.text.clone(), term.written_out()?.to_owned())))
        .unzip();
    if short.is_empty() {
        return Ok(Usage::default());
    }
    let (of_short, of_long) = (lexemes(caller, group, short.clone())?, lexemes(caller, group, long)?);
    let looked_up = of_short.iter().chain(&of_long).flatten().cloned().collect();
    let frequencies = group.visibility.frequencies(caller, &group.projects, looked_up)?;
    let has = |lexemes: &Vec<String>| !lexemes.is_empty() && lexemes.iter().all(|lexeme| frequencies.sum(lexeme) > 0.0);
    let those = |lexemes: &[Vec<String>]| {
        let words = short.iter().zip(lexemes);
        words
            .filter(|(_, lexemes)| has(lexemes))
            .map(|(word, _)| word.clone())
            .collect()
    };
    Ok(Usage {
        used: those(&of_short),
        written_out: those(&of_long),
    })
}

/// Describes the visible documents to a language model: titles of the best ones, categories and keywords.
fn description(caller: &Caller, retrieval: &Retrieval<'_>, projects: &[Project]) -> Result<String> {
    let ranked = retrieval.found.ranked.iter().take(MAX_TITLES);
    let best: Vec<i64> = ranked.map(|ranked| ranked.document.document.document).collect();
    let projects = Projects::new(projects);
    let mut texts: Vec<String> = statement::rows(
        caller,
        &format!(
            "(SELECT d.title FROM docsearch.document d WHERE {0} AND d.id = ANY ($2) ORDER BY d.id)
             UNION ALL
             (SELECT n.category
              FROM (SELECT d.category FROM docsearch.document d WHERE {0} AND d.category IS NOT NULL ORDER BY d.id DESC LIMIT $3) n
              GROUP BY n.category ORDER BY count(*) DESC, n.category LIMIT $4)",
            projects.condition("d")
        ),
        &[
            projects.argument(),
            DatumWithOid::from(best),
            DatumWithOid::from(CATEGORY_DOCUMENTS),
            DatumWithOid::from(MAX_CATEGORIES),
        ],
        |row| row.required(1),
    )?;
    let topics = suggest::topics(caller, &retrieval.groups, MAX_TOPICS)?;
    texts.extend(topics.into_iter().map(|topic| topic.suggestion));
    Ok(texts.join("; "))
}

/// Keywords of the best visible documents.
fn keywords(caller: &Caller, projects: &[Project], ranked: &[RankedDocument]) -> Result<Vec<Vec<String>>> {
    let projects = Projects::new(projects);
    let best = ranked.iter().take(KEYWORD_DOCUMENTS);
    let best: Vec<i64> = best.map(|ranked| ranked.document.document.document).collect();
    statement::rows(
        caller,
        &format!(
            "SELECT ARRAY(SELECT k.keyword FROM unnest(d.keywords) AS k(keyword)
                          WHERE cardinality(ts_lexize('pg_catalog.english_stem', lower(k.keyword))) > 0)
             FROM docsearch.document d
             WHERE {} AND d.id = ANY ($2)",
            projects.condition("d")
        ),
        &[projects.argument(), DatumWithOid::from(best)],
        |row| row.required(1),
    )
}

/// The day of a time, or today, in the time zone of the session.
pub(crate) fn day(caller: &Caller, now: Option<TimestampWithTimeZone>) -> Result<Day> {
    let days: Option<Option<i32>> = statement::one(
        caller,
        "SELECT CASE WHEN isfinite(t.now) AND extract(year FROM t.now) BETWEEN 1 AND 9999
                     THEN t.now::date - date '1970-01-01' END
         FROM coalesce($1, now()) AS t(now)",
        &[DatumWithOid::from(now)],
        |row| row.optional(1),
    )?;
    let day = days.flatten().map(Day);
    day.ok_or_else(|| {
        invalid(
            "now is out of range",
            "Use a time from the years 1 to 9999, or omit it.",
        )
    })
}
