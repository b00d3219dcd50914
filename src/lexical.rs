//! The keyword leg: sections that hold the query's words.

use std::collections::BTreeMap;

use docsearch_core::bm25::{Frequencies, idf};
use docsearch_core::query::{self, Query, Term};
use docsearch_core::rank::{ChunkId, ChunkTerms, Corpus, Map, TermWeight};
use docsearch_core::tsvector::TsVector;
use pgrx::datum::DatumWithOid;

use crate::report::{Result, internal};
use crate::statement::{self, Row};
use crate::statistics::{Totals, chunk_frequencies};
use crate::tsvector::TsVectorBytes;

/// Where a filter or policies list documents, so many times the keyword budget are read: words
/// say less there of how many sections are left to read.
const LISTED_BUDGET: i64 = 8;

/// The terms of a query under a text search configuration.
pub(crate) fn terms(query: &Query, text_config: &str, part_weight: f32) -> Result<Vec<Term>> {
    let tokens = query.terms();
    let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    let kinds: Vec<i32> = tokens.iter().map(|token| token.kind as i32).collect();
    let lexemes = lexemes(text_config, &kinds, &words)?;
    Ok(query::terms(&tokens, &lexemes, part_weight))
}

/// What the dictionaries of a configuration make of each word, given by the kind of its token.
pub(crate) fn lexemes(text_config: &str, kinds: &[i32], words: &[&str]) -> Result<Vec<Vec<String>>> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let found = statement::rows(
        "SELECT (SELECT x.lexemes FROM (
                     SELECT m.mapseqno, ts_lexize(m.mapdict, w.word) AS lexemes
                     FROM pg_ts_config_map m
                     WHERE m.mapcfg = $1::regconfig AND m.maptokentype = w.kind
                 ) x WHERE x.lexemes IS NOT NULL ORDER BY x.mapseqno LIMIT 1)
         FROM unnest($2::int[], $3::text[]) WITH ORDINALITY AS w(kind, word, place) ORDER BY w.place",
        &[
            DatumWithOid::from(text_config),
            DatumWithOid::from(kinds.to_vec()),
            DatumWithOid::from(words),
        ],
        |row| Ok(row.optional::<Vec<String>>(1)?.unwrap_or_default()),
    )?;
    Ok(found)
}

/// A query's terms with the statistics of one project.
pub(crate) struct Lexical<'a> {
    project: i64,
    /// The lexemes that occur in the project, ascending, with the numbers of their terms.
    lexemes: Vec<(&'a str, usize)>,
    frequencies: BTreeMap<String, f64>,
    sections_per_document: f64,
    /// What scores are measured against.
    pub(crate) corpus: Corpus,
}

impl<'a> Lexical<'a> {
    /// Reads the statistics. Runs as the owner.
    pub(crate) fn prepare(project: i64, totals: Totals, terms: &'a [Term]) -> Result<Self> {
        let lexemes: Vec<String> = terms.iter().flat_map(|term| term.lexemes.iter().cloned()).collect();
        let frequencies = chunk_frequencies(project, lexemes)?;
        let frequency = |lexeme: &String| frequencies.get(lexeme).copied().unwrap_or(0.0);
        let weights = terms
            .iter()
            .map(|term| {
                let sum: f64 = term.lexemes.iter().map(frequency).sum();
                TermWeight {
                    idf: idf(totals.chunks, sum) * term.weight,
                }
            })
            .collect();
        let corpus = Corpus {
            terms: weights,
            average_chunk: totals.average_chunk(),
            average_document: totals.average_document(),
        };
        let mut lexemes: Vec<(&str, usize)> = terms
            .iter()
            .enumerate()
            .flat_map(|(number, term)| term.lexemes.iter().map(move |lexeme| (lexeme.as_str(), number)))
            .filter(|&(lexeme, _)| frequencies.get(lexeme).is_some_and(|&count| count > 0.0))
            .collect();
        lexemes.sort_unstable();
        Ok(Self {
            project,
            lexemes,
            frequencies,
            sections_per_document: totals.chunks / totals.documents.max(1.0),
            corpus,
        })
    }

    /// Sections that hold the rarest words, until their number reaches the budget: a common word
    /// can never make a query slow. All words count in the score. With `documents`, sections of
    /// those only. Runs as the owner.
    pub(crate) fn candidates(&self, budget: i64, documents: Option<&[i64]>) -> Result<Map<ChunkId, ChunkTerms>> {
        let Some(documents) = documents else {
            return self.matching("", self.within_budget(budget), budget, &[]);
        };
        let budget = budget.saturating_mul(LISTED_BUDGET);
        if documents.len() as f64 * self.sections_per_document <= budget as f64 {
            // `IS TRUE` keeps the index of words away.
            let condition = "IS TRUE AND c.document_id = ANY ($4)";
            self.matching(condition, self.within_budget(i64::MAX), budget, documents)
        } else {
            let condition = "AND c.document_id = ANY ($4)";
            self.matching(condition, self.within_budget(budget), budget, documents)
        }
    }

    fn matching(
        &self,
        condition: &str,
        lexemes: Vec<&str>,
        limit: i64,
        documents: &[i64],
    ) -> Result<Map<ChunkId, ChunkTerms>> {
        if lexemes.is_empty() {
            return Ok(Map::default());
        }
        let mut args = vec![
            DatumWithOid::from(self.project),
            DatumWithOid::from(query::any_of(lexemes)),
            DatumWithOid::from(limit),
        ];
        if !condition.is_empty() {
            args.push(DatumWithOid::from(documents.to_vec()));
        }
        let rows = statement::rows(
            &format!(
                "SELECT c.document_id, c.chunk_no, c.term_count, c.document_term_count, c.terms
                 FROM docsearch.chunk c
                 WHERE c.project_id = $1 AND (c.terms @@ $2::tsquery) {condition} LIMIT $3"
            ),
            &args,
            |row| self.read(row),
        )?;
        Ok(rows.into_iter().collect())
    }

    /// The terms of certain sections. Runs as the owner.
    pub(crate) fn of_chunks(&self, chunks: &[ChunkId]) -> Result<Map<ChunkId, ChunkTerms>> {
        let (documents, numbers): (Vec<i64>, Vec<i32>) = chunks.iter().map(|id| (id.document, id.chunk)).unzip();
        let rows = statement::rows(
            "SELECT c.document_id, c.chunk_no, c.term_count, c.document_term_count, c.terms
             FROM unnest($2::bigint[], $3::int[]) AS wanted(document_id, chunk_no)
             JOIN docsearch.chunk c ON c.project_id = $1
              AND c.document_id = wanted.document_id AND c.chunk_no = wanted.chunk_no",
            &[
                DatumWithOid::from(self.project),
                DatumWithOid::from(documents),
                DatumWithOid::from(numbers),
            ],
            |row| self.read(row),
        )?;
        Ok(rows.into_iter().collect())
    }

    /// Lexemes to look up: rarest first while their sections fit the budget, at least one.
    fn within_budget(&self, budget: i64) -> Vec<&str> {
        let mut known: Vec<(&String, f64)> = self
            .frequencies
            .iter()
            .map(|(lexeme, &count)| (lexeme, count))
            .collect();
        known.retain(|&(_, count)| count > 0.0);
        known.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(b.0)));
        let mut sum = 0.0;
        known
            .into_iter()
            .take_while(|&(_, count)| {
                let first = sum == 0.0;
                sum += count;
                first || sum <= budget as f64
            })
            .map(|(lexeme, _)| lexeme.as_str())
            .collect()
    }

    fn read(&self, row: &Row) -> Result<(ChunkId, ChunkTerms)> {
        let id = ChunkId {
            document: row.required(1)?,
            chunk: row.required(2)?,
        };
        let bytes: TsVectorBytes = row.required(5)?;
        let vector = TsVector::new(bytes.as_bytes()).ok_or_else(|| internal("broken tsvector"))?;
        Ok((
            id,
            ChunkTerms {
                length: row.required::<i32>(3)? as f32,
                document_length: row.required::<i32>(4)? as f32,
                frequencies: Frequencies::of_terms(self.corpus.terms.len(), &self.lexemes, &vector),
            },
        ))
    }
}
