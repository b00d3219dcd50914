//! The keyword leg: sections that hold the query's words.

use std::collections::BTreeMap;

use docsearch_core::bm25::{Frequencies, Lexeme, idf};
use docsearch_core::query::{self, Term};
use docsearch_core::rank::{ChunkId, ChunkTerms, Corpora, Corpus, DocumentId, Map, Set, TermWeight};
use docsearch_core::rule::Rules;
use docsearch_core::tsvector::TsVector;
use docsearch_core::understanding::Understanding;
use pgrx::datum::DatumWithOid;

use crate::project::Projects;
use crate::report::{Result, internal};
use crate::sight::Sight;
use crate::statement::WANTED_CHUNKS;
use crate::statement::{self, Row};
use crate::statistics::{ChunkFrequencies, Totals};
use crate::tsvector::TsVectorBytes;

/// Where a filter or policies list documents, so many times the keyword budget are read: words
/// say less there of how many sections are left to read.
const LISTED_BUDGET: i64 = 8;
/// Most documents that a phrase may bring, see [`docsearch_core::score::phrase_strength`].
pub(crate) const MAX_HOLDING: i64 = 3;

/// The terms of a text under a text search configuration.
pub(crate) fn terms(
    text: &str,
    understood: Option<&Understanding>,
    rules: &Rules,
    text_config: &str,
    part_weight: f32,
) -> Result<Vec<Term>> {
    let tokens = query::query_tokens(text, understood, rules);
    let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    let kinds: Vec<i32> = tokens.iter().map(|token| token.kind as i32).collect();
    let lexemes = lexemes(text_config, &kinds, &words)?;
    Ok(query::terms(&tokens, &lexemes, part_weight))
}

/// Sorts what a call has written into the index of terms. One after the other, chunks would be sorted in
/// with five times the work, and a list that nobody sorts makes searches slow. Runs as the owner.
pub(crate) fn tidy_index() -> Result<()> {
    statement::execute(
        "SELECT gin_clean_pending_list(to_regclass('docsearch.chunk_terms'))",
        &[],
    )
}

/// What the dictionaries of a configuration make of each word, given by the kind of its token.
pub(crate) fn lexemes(text_config: &str, kinds: &[i32], words: &[&str]) -> Result<Vec<Vec<String>>> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let found = statement::lookup(
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

/// A query's terms with the statistics of the projects.
pub(crate) struct Lexical<'a> {
    projects: &'a Projects,
    /// How many terms there are.
    terms: usize,
    /// Those that stand in the query.
    written: Vec<usize>,
    /// The lexemes that occur, ascending.
    lexemes: Vec<Lexeme<'a>>,
    /// How many chunks of the projects together are read to find each.
    frequencies: BTreeMap<&'a str, f64>,
    sections_per_document: f64,
    /// Whether no document has one of the query's words as it is written.
    pub(crate) lacks_a_word: bool,
    /// What scores are measured against.
    pub(crate) corpora: Corpora,
}

impl<'a> Lexical<'a> {
    pub(crate) fn new(
        projects: &'a Projects,
        totals: &Map<i64, Totals>,
        terms: &'a [Term],
        frequencies: &ChunkFrequencies,
    ) -> Self {
        let corpus = |totals: &Totals, project: i64| Corpus {
            terms: terms
                .iter()
                .map(|term| {
                    let own: f64 = term.lexemes.iter().map(|lexeme| frequencies.of(project, lexeme)).sum();
                    let stand_ins = term.stand_ins.iter().map(|(lexeme, _)| frequencies.of(project, lexeme));
                    let sum = if own > 0.0 { own } else { stand_ins.sum() };
                    TermWeight {
                        idf: idf(totals.chunks, sum) * term.weight,
                    }
                })
                .collect(),
            average_chunk: totals.average_chunk(),
            average_document: totals.average_document(),
        };
        let mut lexemes: Vec<Lexeme<'_>> = Vec::new();
        let mut sums = BTreeMap::new();
        for (number, term) in terms.iter().enumerate() {
            for (text, closeness) in term.looked_up() {
                let sum = frequencies.sum(text);
                if sum > 0.0 {
                    lexemes.push(Lexeme {
                        text,
                        term: number,
                        closeness,
                    });
                    sums.insert(text, frequencies.cost(text));
                }
            }
        }
        lexemes.sort_by(|a, b| (a.text, a.term).cmp(&(b.text, b.term)));
        let documents: f64 = totals.values().map(|totals| totals.documents).sum();
        let chunks = Totals::chunks(totals);
        Self {
            projects,
            terms: terms.len(),
            written: (0..terms.len()).filter(|&term| terms[term].written).collect(),
            lexemes,
            frequencies: sums,
            lacks_a_word: terms.iter().any(|term| {
                let known = |lexeme: &String| frequencies.sum(lexeme) > 0.0;
                term.whole && !term.lexemes.iter().any(known)
            }),
            sections_per_document: chunks / documents.max(1.0),
            corpora: totals
                .iter()
                .map(|(&project, totals)| (project, corpus(totals, project)))
                .collect(),
        }
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
            self.projects.argument(),
            DatumWithOid::from(query::any_of(lexemes)),
            DatumWithOid::from(limit),
        ];
        if !condition.is_empty() {
            args.push(DatumWithOid::from(documents.to_vec()));
        }
        let projects = if documents.is_empty() {
            self.projects.check("c")
        } else {
            self.projects.condition("c")
        };
        let rows = statement::rows(
            &format!(
                "SELECT c.project_id, c.document_id, c.chunk_no, c.term_count, c.document_term_count, c.terms
                 FROM docsearch.chunk c
                 WHERE {projects} AND (c.terms @@ $2::tsquery) {condition} LIMIT $3"
            ),
            &args,
            |row| self.read(row),
        )?;
        Ok(rows.into_iter().collect())
    }

    /// The terms of certain sections. Runs as the owner.
    pub(crate) fn of_chunks(&self, chunks: &[ChunkId]) -> Result<Map<ChunkId, ChunkTerms>> {
        let rows = statement::lookup(
            &format!(
                "SELECT c.project_id, c.document_id, c.chunk_no, c.term_count, c.document_term_count, c.terms
             FROM {WANTED_CHUNKS} JOIN docsearch.chunk c USING (project_id, document_id, chunk_no)"
            ),
            &statement::chunk_arguments(chunks),
            |row| self.read(row),
        )?;
        Ok(rows.into_iter().collect())
    }

    /// The sections that have every word of the query, of those that [`Self::candidates`] read; `None` if there
    /// may be others.
    pub(crate) fn with_every_word(&self, read: &Map<ChunkId, ChunkTerms>, budget: i64) -> Option<Vec<ChunkId>> {
        let looked_up = self.within_budget(budget);
        let sections: f64 = looked_up.iter().map(|lexeme| self.frequencies[lexeme]).sum();
        let read_whole = |&term: &usize| {
            let mut own = self
                .lexemes
                .iter()
                .filter(|own| own.term == term && own.closeness >= 1.0);
            own.all(|own| looked_up.contains(&own.text))
        };
        if sections > budget as f64 || !self.written.iter().any(read_whole) {
            return None;
        }
        let every_word = |found: &ChunkTerms| {
            self.written
                .iter()
                .all(|&term| found.frequencies[term].closeness >= 1.0)
        };
        Some(
            read.iter()
                .filter(|(_, found)| every_word(found))
                .map(|(&id, _)| id)
                .collect(),
        )
    }

    /// Documents that hold a phrase word for word, in one of these sections if they are given, or none if more
    /// than a few do, or than some where policies may hide most of them. Runs as the owner.
    pub(crate) fn holding(
        &self,
        phrase: &str,
        text_config: &str,
        among: Option<Vec<ChunkId>>,
        sight: &Sight,
    ) -> Result<Set<DocumentId>> {
        let most = sight.most(MAX_HOLDING);
        let known = among.is_some();
        let (sections, mut args) = match among {
            Some(sections) if sections.is_empty() => return Ok(Set::default()),
            Some(sections) => (
                format!("{WANTED_CHUNKS} JOIN docsearch.chunk c USING (project_id, document_id, chunk_no) WHERE true"),
                statement::chunk_arguments(&sections).into(),
            ),
            None => (
                format!("docsearch.chunk c WHERE {}", self.projects.check("c")),
                vec![self.projects.argument()],
            ),
        };
        let seen = sight.condition("c.document_id", &mut args);
        let before = args.len();
        let sql = format!(
            "SELECT DISTINCT c.project_id, c.document_id FROM {sections} {seen}
             AND (c.terms @@ phraseto_tsquery(${}::text::regconfig, ${})) LIMIT ${}",
            before + 1,
            before + 2,
            before + 3
        );
        args.extend([
            DatumWithOid::from(text_config),
            DatumWithOid::from(phrase),
            DatumWithOid::from(most + 1),
        ]);
        let found = if known {
            statement::lookup(&sql, &args, statement::document_id)?
        } else {
            statement::rows(&sql, &args, statement::document_id)?
        };
        let few = i64::try_from(found.len()).is_ok_and(|count| count <= most);
        Ok(if few {
            found.into_iter().collect()
        } else {
            Set::default()
        })
    }

    /// Those of the documents that have none of the lexemes. Runs as the owner.
    pub(crate) fn without(&self, documents: &Set<DocumentId>, lexemes: &[String]) -> Result<Set<DocumentId>> {
        let with: Set<DocumentId> = statement::rows(
            &format!(
                "SELECT DISTINCT c.project_id, c.document_id FROM docsearch.chunk c
                 WHERE {} AND c.document_id = ANY ($2) AND c.terms @@ $3::tsquery",
                self.projects.condition("c")
            ),
            &[
                self.projects.argument(),
                DatumWithOid::from(documents.iter().map(|id| id.document).collect::<Vec<i64>>()),
                DatumWithOid::from(query::any_of(lexemes.iter().map(String::as_str))),
            ],
            statement::document_id,
        )?
        .into_iter()
        .collect();
        Ok(documents.difference(&with).copied().collect())
    }

    /// Lexemes to look up: rarest first while their sections fit the budget, at least one.
    fn within_budget(&self, budget: i64) -> Vec<&str> {
        let mut known: Vec<(&str, f64)> = self
            .frequencies
            .iter()
            .map(|(&lexeme, &count)| (lexeme, count))
            .collect();
        known.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(b.0)));
        let mut sum = 0.0;
        known
            .into_iter()
            .take_while(|&(_, count)| {
                let first = sum == 0.0;
                sum += count;
                first || sum <= budget as f64
            })
            .map(|(lexeme, _)| lexeme)
            .collect()
    }

    fn read(&self, row: &Row) -> Result<(ChunkId, ChunkTerms)> {
        let id = statement::chunk_id(row)?;
        let bytes: TsVectorBytes = row.required(6)?;
        let vector = TsVector::new(bytes.as_bytes()).ok_or_else(|| internal("broken tsvector"))?;
        Ok((
            id,
            ChunkTerms {
                length: row.required::<i32>(4)? as f32,
                document_length: row.required::<i32>(5)? as f32,
                frequencies: Frequencies::of_terms(self.terms, &self.lexemes, &vector),
            },
        ))
    }
}
