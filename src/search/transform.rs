//! What a query could have said: by the rules and the documents, or by a language model.

use std::cell::RefCell;

use docsearch_core::answer::delivery::Notice;
use docsearch_core::index::bm25::idf;
use docsearch_core::index::statistics::Totals;
use docsearch_core::models::prompt;
use docsearch_core::query::input::Query;
use docsearch_core::query::transformation::{self, Need, Transformation, Usage, has_acronym, need, related, telling};
use docsearch_core::query::understanding::Class;
use docsearch_core::ranking::rerank::Ranked;
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

/// Documents whose keywords are read.
const KEYWORD_DOCUMENTS: usize = 10;
/// Of what says what the documentation is about: titles, categories and keywords.
const TITLES: usize = 5;
const CATEGORIES: i64 = 8;
const TOPICS: usize = 8;
/// Documents whose categories are counted.
const READ_FOR_CATEGORIES: i64 = 500;

/// The query that is to be transformed, and how.
pub(crate) struct Question<'a> {
    pub(crate) query: &'a str,
    /// Further wordings that the caller has given.
    pub(crate) also: &'a [Query],
    /// Those that a language model has given before.
    pub(crate) earlier: &'a [String],
    pub(crate) projects: &'a [Project],
    pub(crate) transform: Transform,
    /// Questions that the search may ask a language model.
    pub(crate) calls: &'a RefCell<Calls>,
}

/// What the configuration makes of the query of a search that was run, and why the language model did not, if it was
/// to. `poor` are the query of an answer that was not good enough, and why.
pub(crate) fn of(
    caller: &mut Caller,
    asked: &Question<'_>,
    retrieval: &Retrieval<'_>,
    poor: Option<(&str, &str)>,
) -> Result<(Transformation, Option<Notice>)> {
    let now = day(caller, None)?;
    let rules = |caller: &mut Caller| by_rules(caller, retrieval, asked.projects, now);
    if asked.transform != Transform::Model || names_what_it_means(retrieval) {
        return Ok((rules(caller)?, None));
    }
    let recency = retrieval.groups.first().is_some_and(|group| group.understanding.recent);
    let query = asked.query;
    let also: Vec<&str> = asked.also.iter().map(|wording| wording.text.as_str()).collect();
    let user = prompt::wording_prompt(query, &now.date(), &about(caller, retrieval, asked.projects)?, poor);
    let made = language_model::ask(
        &mut asked.calls.borrow_mut(),
        Purpose::Transform,
        prompt::WORDINGS,
        &user,
        |answer| Transformation::by_model(query, &also, asked.earlier, answer, recency),
    );
    let reason = match made {
        Ok(Some(made)) => return Ok((made, None)),
        Ok(None) => "the language model said nothing new".to_owned(),
        Err(failure) => failure.message().to_owned(),
    };
    Ok((rules(caller)?, Some(Notice::transform_fallback(&reason))))
}

/// Whether the query is a page's name.
fn names_what_it_means(retrieval: &Retrieval<'_>) -> bool {
    retrieval
        .found
        .ranked
        .first()
        .is_some_and(|first| first.score > EVIDENCE_CAP)
}

/// What the rules, and the documents that a search found, add to its query. The name of a page says what it means.
pub(crate) fn by_rules(
    caller: &mut Caller,
    retrieval: &Retrieval<'_>,
    projects: &[Project],
    now: Day,
) -> Result<Transformation> {
    let Some(group) = retrieval.groups.first() else {
        return Ok(Transformation::unchanged("", false, "there is no project"));
    };
    let asked = &group.understanding;
    let need = need(asked, group.rules());
    // A question with an acronym is no name, though a page is called like the acronym.
    let is_written_out = asked.class == Class::Question && has_acronym(asked, group.rules());
    if names_what_it_means(retrieval) && !is_written_out || need == Need::Nothing {
        return Ok(Transformation::unchanged(
            &asked.text,
            asked.recent,
            "names what it means",
        ));
    }
    let keywords = match need {
        Need::Context if is_known(caller, group)? => keywords(caller, projects, &retrieval.found.ranked)?,
        // Those that are new come first.
        Need::Topics => keywords(caller, projects, &retrieval.found.ranked)?,
        Need::Nothing | Need::Synonyms | Need::Context => Vec::new(),
    };
    let related = telling_words(caller, group, projects, &keywords)?;
    Ok(transformation::transform(
        &group.understanding,
        group.rules(),
        &related,
        &usage(caller, group)?,
        now,
    ))
}

/// Whether the documents hold a word of the query: what else was found for it has nothing to do with it.
fn is_known(caller: &mut Caller, group: &Group<'_>) -> Result<bool> {
    let lexemes: Vec<String> = group
        .terms
        .iter()
        .flat_map(|term| term.looked_up().map(|(lexeme, _)| lexeme.to_owned()))
        .collect();
    let frequencies = group.visibility.frequencies(caller, &group.projects, lexemes.clone())?;
    Ok(lexemes.iter().any(|lexeme| frequencies.sum(lexeme) > 0.0))
}

/// The keywords that tell most of the documents that have them.
fn telling_words(
    caller: &mut Caller,
    group: &Group<'_>,
    projects: &[Project],
    keywords: &[Vec<String>],
) -> Result<Vec<String>> {
    let mut related = related(&group.understanding, group.rules(), keywords.iter().map(Vec::as_slice));
    // What all documents are about does not distinguish any.
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

/// The lexemes of texts, one after the other.
fn lexemes(caller: &Caller, group: &Group<'_>, texts: Vec<String>) -> Result<Vec<Vec<String>>> {
    statement::rows(
        caller,
        "SELECT tsvector_to_array(to_tsvector($1::regconfig, k.word))
         FROM unnest($2::text[]) WITH ORDINALITY AS k(word, place) ORDER BY k.place",
        &[DatumWithOid::from(group.text_config), DatumWithOid::from(texts)],
        |row| row.required::<Vec<String>>(1),
    )
}

/// What the documents that the caller sees have of the abbreviations of the query.
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

/// What the documents that the caller sees are about: the titles of the best of them, categories and keywords.
fn about(caller: &Caller, retrieval: &Retrieval<'_>, projects: &[Project]) -> Result<String> {
    let ranked = retrieval.found.ranked.iter().take(TITLES);
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
            DatumWithOid::from(READ_FOR_CATEGORIES),
            DatumWithOid::from(CATEGORIES),
        ],
        |row| row.required(1),
    )?;
    let topics = suggest::topics(caller, &retrieval.groups, TOPICS)?;
    texts.extend(topics.into_iter().map(|topic| topic.suggestion));
    Ok(texts.join("; "))
}

/// Keywords of the best documents, of those that the caller sees.
fn keywords(caller: &Caller, projects: &[Project], ranked: &[Ranked]) -> Result<Vec<Vec<String>>> {
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

/// The day of a time, or the present one, in the time zone of the session.
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
    day.ok_or_else(|| invalid("now cannot be used", "Give a time of the years 1 to 9999, or omit it."))
}
