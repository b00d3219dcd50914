//! Suggestions: completions, corrections, plainer phrasings and topics.

use std::collections::HashMap;

use docsearch_core::answer::delivery::SearchResult;
use docsearch_core::index::vocabulary::is_word;
use docsearch_core::query::lookup::LookupTerm;
use docsearch_core::query::suggestion::{self, Suggestion, SuggestionKind, SuggestionSource, TitledPage};
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::search::group::Group;
use crate::search::vocabulary;
use crate::tables::keys::{self, WANTED_DOCUMENTS};
use crate::tables::names;

/// Newest documents whose keywords are read for topics.
const TOPIC_DOCUMENTS: i64 = 500;
/// Most frequent keywords that are grouped by their stems for topics.
const STEMMED_KEYWORDS: i64 = 60;
/// Documents with a word that are read, at least.
const MIN_DOCUMENTS_READ: i64 = 200;
/// Documents that are read for the spelling of a word.
const SPELLING_DOCUMENTS: usize = 5;

/// Whether suggestions need the results of a search.
pub(crate) fn needs_results(groups: &[Group<'_>]) -> bool {
    let first = groups.first();
    first.is_some_and(|group| suggestion::is_vague(&group.understanding, group.rules()))
}

/// Suggestions for the query of the groups, from visible documents. `results` are those of a search for the query, if
/// [`needs_results`].
pub(crate) fn suggestions(
    caller: &mut Caller,
    groups: &[Group<'_>],
    results: &[SearchResult],
    limit: usize,
) -> Result<Vec<Suggestion>> {
    let Some(first) = groups.first() else {
        return Ok(Vec::new());
    };
    let typed = first.understanding.name();
    let mut named: Vec<(String, String, String)> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for group in groups {
        let mut found: Set<DocumentId> =
            names::matches(caller, &group.projects, &group.candidate_names, &group.visibility)?
                .into_keys()
                .collect();
        if let Some(typed) = group.typed() {
            found.extend(names::near(caller, &group.projects, &typed, &group.visibility)?);
        }
        let titles = titles(caller, &found)?.into_iter();
        named.extend(titles.map(|(document, (title, slug))| (title, slug, group.name_of(document.project))));
        words.extend(near_words(caller, group)?);
    }
    let names = named
        .iter()
        .map(|(name, slug, project)| SuggestionSource::Name { name, slug, project });
    let words = words.iter().map(|word| SuggestionSource::Word(word));
    let mut found = suggestion::suggestions(typed, names, limit);
    found.extend(suggestion::suggestions(&first.understanding.topic, words, limit));
    suggestion::without_named(&mut found);
    if first.understanding.terms.is_empty() {
        // Many names begin like a stop word.
        found.retain(|suggestion| suggestion.kind == SuggestionKind::Name);
    }
    let pages = results.iter().map(|result| TitledPage {
        title: &result.title,
        slug: &result.slug,
        project: &result.project,
        score: result.score,
    });
    let orders = match needs_results(groups) {
        true => suggestion::orders(&first.understanding, first.rules(), pages, limit),
        false => Vec::new(),
    };
    found.retain(|known| orders.iter().all(|order| order.slug != known.slug));
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(limit - orders.len());
    if orders.is_empty() {
        let room = limit.saturating_sub(found.len());
        found.extend(suggestion::phrasings(&first.understanding, first.rules(), room));
    }
    found.extend(orders);
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(found)
}

/// The most frequent keywords of the newest visible documents.
pub(crate) fn topics(caller: &Caller, groups: &[Group<'_>], limit: usize) -> Result<Vec<Suggestion>> {
    let mut topics = Vec::new();
    for group in groups {
        topics.extend(statement::rows(
            caller,
            &format!(
                "SELECT min(f.keyword COLLATE \"C\"), count(DISTINCT d.id)
                 FROM (SELECT k.keyword, array_agg(d.id) AS documents
                       FROM (SELECT d.id, d.keywords FROM docsearch.document d WHERE {} ORDER BY d.id DESC LIMIT $2) d,
                            unnest(d.keywords) AS k(keyword)
                       GROUP BY k.keyword ORDER BY count(*) DESC, k.keyword LIMIT $4) f,
                      ts_lexize('pg_catalog.english_stem', lower(f.keyword)) AS s(stems),
                      unnest(f.documents) AS d(id)
                 WHERE cardinality(s.stems) > 0
                 GROUP BY s.stems[1] ORDER BY 2 DESC, 1 LIMIT $3",
                group.projects.condition("d")
            ),
            &[
                group.projects.argument(),
                DatumWithOid::from(TOPIC_DOCUMENTS),
                DatumWithOid::from(limit as i64),
                DatumWithOid::from(STEMMED_KEYWORDS),
            ],
            |row| Ok((row.required::<i64>(2)?, row.required::<String>(1)?)),
        )?);
    }
    topics.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let topics = topics.into_iter().take(limit).map(|(_, suggestion)| Suggestion {
        suggestion,
        kind: SuggestionKind::Topic,
        slug: None,
        project: None,
        score: 0.0,
    });
    Ok(topics.collect())
}

/// Titles and slugs of the visible ones among the documents.
pub(super) fn titles(caller: &Caller, documents: &Set<DocumentId>) -> Result<Map<DocumentId, (String, String)>> {
    let rows = statement::lookup(
        caller,
        &format!(
            "SELECT d.project_id, d.id, d.title, d.slug
             FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)"
        ),
        &keys::document_arguments(documents),
        |row| Ok((keys::document_id(row)?, (row.required(3)?, row.required(4)?))),
    )?;
    Ok(rows.into_iter().collect())
}

/// Words of visible documents that are near to words of the query that no document has.
fn near_words(caller: &mut Caller, group: &Group<'_>) -> Result<Vec<String>> {
    let (projects, visibility) = (&group.projects, &group.visibility);
    let lexemes = group.terms.iter().flat_map(|term| term.itself().map(str::to_owned));
    let known = visibility.frequencies(caller, projects, lexemes.collect())?;
    let unknown = |term: &&LookupTerm| {
        term.whole
            && term.itself().all(|lexeme| known.sum(lexeme) == 0.0)
            && term.lexemes.last().is_some_and(|word| is_word(word))
    };
    let unknown = group.terms.iter().filter(unknown);
    let words: Vec<&[String]> = unknown.map(|term| term.lexemes.as_slice()).collect();
    let found = vocabulary::nearest(caller, visibility, projects, &words)?;
    let mut near: HashMap<String, Vec<DocumentId>> = HashMap::new();
    for found in found.into_iter().flat_map(|(found, _)| found) {
        let read = |owner: &Owner<'_>, limit: i64| {
            visibility.documents_with(owner, projects, &found.lexeme, limit.max(MIN_DOCUMENTS_READ))
        };
        let documents = visibility.first(caller, SPELLING_DOCUMENTS, read, |id| *id)?;
        near.insert(found.lexeme, documents);
    }
    let documents: Set<DocumentId> = near.values().flatten().copied().collect();
    let titles = titles(caller, &documents)?;
    let owner = &caller.as_owner()?;
    let mut words = Vec::new();
    for (lexeme, documents) in near {
        let visible: Vec<DocumentId> = documents
            .into_iter()
            .filter(|id| titles.contains_key(id))
            .take(SPELLING_DOCUMENTS)
            .collect();
        words.extend(full_word(owner, &lexeme, &visible)?);
    }
    words.sort_unstable();
    Ok(words)
}

/// The most frequent word of the documents that begins with a lexeme, whose ending a dictionary may have removed.
fn full_word(owner: &Owner<'_>, lexeme: &str, documents: &[DocumentId]) -> Result<Option<String>> {
    let (projects, ids): (Vec<i64>, Vec<i64>) = documents.iter().map(|id| (id.project, id.document)).unzip();
    statement::one(
        owner,
        "SELECT lower(found.word[1])
         FROM unnest($1::bigint[], $2::bigint[]) AS wanted(project_id, document_id)
         JOIN docsearch.chunk c ON c.project_id = wanted.project_id AND c.document_id = wanted.document_id,
              regexp_matches(c.body, '\\m' || $3 || '[[:alpha:]]*', 'gi') AS found(word)
         GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1",
        &[
            DatumWithOid::from(projects),
            DatumWithOid::from(ids),
            DatumWithOid::from(suggestion::beginning(lexeme)),
        ],
        |row| row.required(1),
    )
}
