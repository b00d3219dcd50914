//! The keyword leg: sections that hold the query's words.

use std::collections::{BTreeMap, HashMap};

use docsearch_core::bm25::{Frequencies, idf};
use docsearch_core::query::{self, Query, Term};
use docsearch_core::rank::{ChunkId, ChunkTerms, Corpus, TermWeight};
use docsearch_core::tsvector::TsVector;
use pgrx::datum::DatumWithOid;

use crate::report::{Result, internal};
use crate::statement::{self, Row};
use crate::statistics::{Totals, chunk_frequencies};
use crate::tsvector::TsVectorBytes;

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
    /// The lexemes of each term that occur in the project.
    lexemes: Vec<Vec<&'a str>>,
    frequencies: BTreeMap<String, f64>,
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
        let occurs = |lexeme: &&'a str| frequencies.get(*lexeme).is_some_and(|&count| count > 0.0);
        let lexemes = terms
            .iter()
            .map(|term| term.lexemes.iter().map(String::as_str).filter(occurs).collect())
            .collect();
        Ok(Self {
            project,
            lexemes,
            frequencies,
            corpus,
        })
    }

    /// Sections that hold the rarest words, until their number reaches the budget: a common word
    /// can never make a query slow. All words count in the score. Runs as the owner.
    pub(crate) fn candidates(&self, budget: i64, documents: Option<&[i64]>) -> Result<HashMap<ChunkId, ChunkTerms>> {
        let query = query::any_of(self.within_budget(budget));
        if query.is_empty() {
            return Ok(HashMap::new());
        }
        let (project, limit) = (DatumWithOid::from(self.project), DatumWithOid::from(budget));
        let rows = match documents {
            None => statement::rows(
                "SELECT c.document_id, c.chunk_no, c.term_count, c.terms FROM docsearch.chunk c
                 WHERE c.project_id = $1 AND c.terms @@ $2::tsquery LIMIT $3",
                &[project, DatumWithOid::from(query), limit],
                |row| self.read(row),
            ),
            Some(documents) => statement::rows(
                "SELECT c.document_id, c.chunk_no, c.term_count, c.terms FROM docsearch.chunk c
                 WHERE c.project_id = $1 AND c.terms @@ $2::tsquery AND c.document_id = ANY ($4) LIMIT $3",
                &[
                    project,
                    DatumWithOid::from(query),
                    limit,
                    DatumWithOid::from(documents.to_vec()),
                ],
                |row| self.read(row),
            ),
        }?;
        Ok(rows.into_iter().collect())
    }

    /// The terms of certain sections. Runs as the owner.
    pub(crate) fn of_chunks(&self, chunks: &[ChunkId]) -> Result<HashMap<ChunkId, ChunkTerms>> {
        let (documents, numbers): (Vec<i64>, Vec<i32>) = chunks.iter().map(|id| (id.document, id.chunk)).unzip();
        let rows = statement::rows(
            "SELECT c.document_id, c.chunk_no, c.term_count, c.terms
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

    fn read(&self, row: &Row<'_, '_>) -> Result<(ChunkId, ChunkTerms)> {
        let id = ChunkId {
            document: row.required(1)?,
            chunk: row.required(2)?,
        };
        let length = row.required::<i32>(3)? as f32;
        let bytes: TsVectorBytes = row.required(4)?;
        let vector = TsVector::new(bytes.as_bytes()).ok_or_else(|| internal("broken tsvector"))?;
        let frequencies = self.lexemes.iter().map(|lexemes| {
            let found = lexemes.iter().map(|lexeme| Frequencies::of(lexeme, &vector));
            found.fold(Frequencies::default(), |sum, found| sum.plus(&found))
        });
        Ok((
            id,
            ChunkTerms {
                length,
                frequencies: frequencies.collect(),
            },
        ))
    }
}
