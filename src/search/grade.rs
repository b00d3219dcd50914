//! The features and contexts of grades.

use docsearch_core::answer::delivery::SearchResult;
use docsearch_core::answer::grade::{Features, GradedContext, GradedTerm};
use docsearch_core::index::bm25::idf;
use docsearch_core::index::statistics::Totals;
use docsearch_core::models::prompt::PromptContext;
use docsearch_core::postgres::tsvector::TsVector;
use docsearch_core::query::lookup::LookupTerm;
use docsearch_core::ranking::score::EVIDENCE_CAP;
use docsearch_core::ranking::weight::Weights;
use docsearch_core::values::address::Address;
use docsearch_core::values::cosine::dense_score;
use docsearch_core::values::id::{ChunkId, Map};

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::postgres::tsvector::TsVectorBytes;
use crate::search::group::Group;
use crate::search::{language, newest};
use crate::tables::keys::{self, WANTED_CHUNKS};

/// A section of a result, as a context for grades and prompts.
pub(crate) struct Context {
    /// The URL, or else the reference that `load_doc` takes.
    pub(crate) source: String,
    /// Title and heading path.
    pub(crate) title: String,
    pub(crate) text: String,
}

impl Context {
    pub(crate) fn as_source(&self) -> PromptContext<'_> {
        PromptContext {
            source: &self.source,
            title: &self.title,
            text: &self.text,
        }
    }
}

/// The texts of results, up to `max_chars` characters each, without empty ones.
pub(crate) fn contexts(caller: &mut Caller, results: &[SearchResult], max_chars: usize) -> Result<Vec<Context>> {
    let ids: Vec<ChunkId> = results.iter().map(chunk_id).collect();
    let texts: Map<ChunkId, String> = {
        let owner = &caller.as_owner()?;
        statement::rows(
            owner,
            &format!(
                "SELECT c.project_id, c.document_id, c.chunk_no, c.body
             FROM {WANTED_CHUNKS} JOIN docsearch.chunk c USING (project_id, document_id, chunk_no)"
            ),
            &keys::chunk_arguments(&ids),
            |row| Ok((keys::chunk_id(row)?, row.required::<String>(4)?)),
        )?
        .into_iter()
        .collect()
    };
    let contexts = results.iter().filter_map(|result| {
        let text = texts.get(&chunk_id(result))?.trim();
        let end = text.char_indices().nth(max_chars).map_or(text.len(), |(end, _)| end);
        let title = match result.section.as_str() {
            "" => result.title.clone(),
            section => format!("{} > {section}", result.title),
        };
        (!text.is_empty()).then(|| Context {
            source: result.url.clone().unwrap_or_else(|| result.reference()),
            title,
            text: text[..end].to_owned(),
        })
    });
    Ok(contexts.collect())
}

/// The features of an answer. `named` is whether the query is the title or slug of the first result.
pub(crate) fn features(
    caller: &mut Caller,
    groups: &[Group<'_>],
    results: &[SearchResult],
    named: bool,
    weights: &Weights,
) -> Result<Features> {
    let (Some(group), first) = (groups.first(), results.first()) else {
        return Ok(Features::default());
    };
    let is_new = match first {
        Some(first) => newest::answers_what_is_new(caller, group, first, weights)?,
        None => false,
    };
    let terms = if is_new {
        Vec::new()
    } else {
        informative_terms(caller, group.terms.iter().filter(|term| term.whole).collect())?
    };
    let held = contained_terms(caller, &terms, results)?;
    let contexts: Vec<GradedContext> = results
        .iter()
        .map(|result| GradedContext {
            score: result.of_text.score,
            dense: result
                .of_text
                .similarity
                .map(|similarity| dense_score(similarity, group.model.baseline)),
            keyword: result.of_text.keyword_score,
            holds: held.get(&chunk_id(result)).cloned().unwrap_or_default(),
        })
        .collect();
    let (terms, sections) = graded_terms(caller, groups, &terms)?;
    Ok(Features {
        named: named || is_new || first.is_some_and(|first| is_addressed(group, first)),
        ..Features::of(&terms, &contexts, sections)
    })
}

/// Whether the query is an address of the first result. Only names and addresses score above the cap of evidence.
fn is_addressed(group: &Group<'_>, first: &SearchResult) -> bool {
    first.score > EVIDENCE_CAP && !first.of_text.guessed && Address::read(&group.understanding.text).is_some()
}

/// The terms without stop words: words of questions, and stop words of the query's language. All terms if no other is
/// left.
fn informative_terms<'a>(caller: &Caller, terms: Vec<&'a LookupTerm>) -> Result<Vec<&'a LookupTerm>> {
    let words: Vec<String> = terms.iter().map(|term| term.text.to_lowercase()).collect();
    let stop_words = language::stop_words(caller, &words)?;
    let informative: Vec<&LookupTerm> = terms
        .iter()
        .zip(&words)
        .filter(|(term, word)| !term.stop_word && !stop_words.contains(*word))
        .map(|(term, _)| *term)
        .collect();
    Ok(if informative.is_empty() { terms } else { informative })
}

/// The rarity of the terms in the visible documents of all groups, and the number of their sections.
fn graded_terms(caller: &mut Caller, groups: &[Group<'_>], terms: &[&LookupTerm]) -> Result<(Vec<GradedTerm>, f64)> {
    let mut chunks = 0.0;
    let mut sums = vec![0.0; terms.len()];
    for group in groups {
        let lexemes = terms
            .iter()
            .flat_map(|term| term.looked_up().map(|(lexeme, _)| lexeme.to_owned()));
        let frequencies = group
            .visibility
            .frequencies(caller, &group.projects, lexemes.collect())?;
        chunks += Totals::all_chunks(&group.visibility.totals(caller, &group.projects)?);
        for (sum, term) in sums.iter_mut().zip(terms) {
            *sum += term.frequency(|lexeme| frequencies.sum(lexeme));
        }
    }
    let graded = sums.into_iter().zip(terms).map(|(sum, term)| GradedTerm {
        idf: idf(chunks, sum),
        known: sum > 0.0,
        name: term.name,
    });
    Ok((graded.collect(), chunks))
}

/// How well the sections of results contain each term, from 0 to 1.
fn contained_terms(
    caller: &mut Caller,
    terms: &[&LookupTerm],
    results: &[SearchResult],
) -> Result<Map<ChunkId, Vec<f32>>> {
    let ids: Vec<ChunkId> = results.iter().map(chunk_id).collect();
    let owner = &caller.as_owner()?;
    let held = statement::rows(
        owner,
        &format!(
            "SELECT c.project_id, c.document_id, c.chunk_no, c.terms
         FROM {WANTED_CHUNKS} JOIN docsearch.chunk c USING (project_id, document_id, chunk_no)"
        ),
        &keys::chunk_arguments(&ids),
        |row| {
            let bytes: TsVectorBytes = row.required(4)?;
            let vector = TsVector::new(bytes.as_bytes());
            let holds = |term: &&LookupTerm| {
                let vector = vector.as_ref()?;
                let held = term
                    .looked_up()
                    .filter(|(lexeme, _)| vector.positions(lexeme).next().is_some());
                held.map(|(_, closeness)| closeness).reduce(f32::max)
            };
            let holds = terms.iter().map(|term| holds(term).unwrap_or(0.0)).collect();
            Ok((keys::chunk_id(row)?, holds))
        },
    )?;
    Ok(held.into_iter().collect())
}

fn chunk_id(result: &SearchResult) -> ChunkId {
    ChunkId {
        document: result.document(),
        chunk: result.chunk_no,
    }
}
