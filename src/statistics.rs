//! Document frequencies and sizes of projects: changes are appended and added up when read, so that
//! indexing never waits for a row that everybody changes.

use std::collections::{BTreeMap, BTreeSet};

use docsearch_core::rank::Map;
use docsearch_core::tsvector::TsVector;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::lock::Lock;
use crate::owner::{AsOwner, require_writer};
use crate::project::{self, Projects};
use crate::report::{Result, internal};
use crate::{schema, statement};

/// Unmerged rows of `term_stat` beyond which an indexing call merges them, if they are also more
/// than twice the merged ones: so writing them again costs no more than writing them did.
const MERGE_AT: i64 = 20_000;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Adds up the changes of a project's statistics. Indexing does it by itself now and then.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn merge_statistics(project: &str) -> Result<()> {
        let project = project::by_name(project)?;
        require_writer()?;
        let _owner = AsOwner::enter()?;
        merge(project.id)
    }

    /// Ends a load: merges the project's statistics and those of the planner.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn finish_load(project: &str) -> Result<()> {
        let project = project::by_name(project)?;
        require_writer()?;
        schema::require_current()?;
        let _owner = AsOwner::enter()?;
        merge(project.id)?;
        let vectors = project.model.vector_table();
        Spi::run(&format!(
            "ANALYZE docsearch.document, docsearch.chunk, docsearch.document_name, docsearch.definition, docsearch.term_stat,
                     {vectors}"
        ))
        .map_err(internal)
    }
}

/// What an indexing call changes in a project's statistics.
#[derive(Debug, Default)]
pub(crate) struct Delta {
    documents: i64,
    document_words: i64,
    chunks: i64,
    chunk_words: i64,
    /// Chunks and documents for each lexeme.
    terms: BTreeMap<String, (i32, i32)>,
}

impl Delta {
    /// Counts a document: `sign` is 1 when it comes and -1 when it goes. Chunks are given by their
    /// words and the bytes of their terms.
    pub(crate) fn count(&mut self, sign: i32, words: i64, chunks: &[(i64, Vec<u8>)]) {
        self.documents += i64::from(sign);
        self.document_words += i64::from(sign) * words;
        let mut in_document = BTreeSet::new();
        for (chunk_words, terms) in chunks {
            self.chunks += i64::from(sign);
            self.chunk_words += i64::from(sign) * chunk_words;
            let lexemes = TsVector::new(terms).into_iter().flat_map(|terms| terms.lexemes());
            for lexeme in lexemes {
                in_document.insert(lexeme);
                match self.terms.get_mut(lexeme) {
                    Some(counts) => counts.0 += sign,
                    None => {
                        self.terms.insert(lexeme.to_owned(), (sign, 0));
                    }
                }
            }
        }
        for lexeme in in_document {
            if let Some(counts) = self.terms.get_mut(lexeme) {
                counts.1 += sign;
            }
        }
    }

    /// Adds another change.
    pub(crate) fn add(&mut self, other: Delta) {
        self.documents += other.documents;
        self.document_words += other.document_words;
        self.chunks += other.chunks;
        self.chunk_words += other.chunk_words;
        for (lexeme, (chunks, documents)) in other.terms {
            let counts = self.terms.entry(lexeme).or_default();
            counts.0 += chunks;
            counts.1 += documents;
        }
    }

    /// Whether nothing was counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.documents == 0 && self.chunks == 0
    }

    /// Appends the change. Runs as the owner of the tables.
    pub(crate) fn write(mut self, project: i64) -> Result<()> {
        self.terms.retain(|_, counts| *counts != (0, 0));
        if self.is_empty() {
            return Ok(());
        }
        let rows = i64::try_from(self.terms.len()).map_err(internal)?;
        let (mut lexemes, mut chunks, mut documents) = (Vec::new(), Vec::new(), Vec::new());
        for (lexeme, counts) in self.terms {
            lexemes.push(lexeme);
            chunks.push(counts.0);
            documents.push(counts.1);
        }
        statement::execute(
            "INSERT INTO docsearch.term_stat (project_id, lexeme, chunks, documents)
             SELECT $1, t.lexeme, t.chunks, t.documents
             FROM unnest($2::text[], $3::int[], $4::int[]) AS t(lexeme, chunks, documents)",
            &[
                DatumWithOid::from(project),
                DatumWithOid::from(lexemes),
                DatumWithOid::from(chunks),
                DatumWithOid::from(documents),
            ],
        )?;
        statement::execute(
            "INSERT INTO docsearch.project_stat
                 (project_id, documents, document_words, chunks, chunk_words, term_rows, merged)
             VALUES ($1, $2, $3, $4, $5, $6, false)",
            &[
                DatumWithOid::from(project),
                DatumWithOid::from(self.documents),
                DatumWithOid::from(self.document_words),
                DatumWithOid::from(self.chunks),
                DatumWithOid::from(self.chunk_words),
                DatumWithOid::from(rows),
            ],
        )?;
        merge_if_due(project)
    }
}

fn merge_if_due(project: i64) -> Result<()> {
    let due = statement::one(
        "SELECT coalesce(sum(s.term_rows) FILTER (WHERE NOT s.merged), 0)
                > greatest($2, 2 * coalesce(sum(s.term_rows) FILTER (WHERE s.merged), 0))
         FROM docsearch.project_stat s WHERE s.project_id = $1",
        &[DatumWithOid::from(project), DatumWithOid::from(MERGE_AT)],
        |row| row.required(1),
    )?;
    if due == Some(true) { merge(project) } else { Ok(()) }
}

/// Adds up what this transaction sees; a second merge at the same time does nothing.
fn merge(project: i64) -> Result<()> {
    if !Lock::Statistics(project).try_acquire() {
        return Ok(());
    }
    statement::execute(
        "WITH old AS (
             DELETE FROM docsearch.term_stat s WHERE s.project_id = $1
             RETURNING s.lexeme, s.chunks, s.documents
         )
         INSERT INTO docsearch.term_stat (project_id, lexeme, chunks, documents)
         SELECT $1, o.lexeme, sum(o.chunks), sum(o.documents) FROM old o
         GROUP BY o.lexeme HAVING sum(o.chunks) <> 0 OR sum(o.documents) <> 0",
        &[DatumWithOid::from(project)],
    )?;
    statement::execute(
        "WITH old AS (
             DELETE FROM docsearch.project_stat s WHERE s.project_id = $1
             RETURNING s.documents, s.document_words, s.chunks, s.chunk_words
         )
         INSERT INTO docsearch.project_stat
             (project_id, documents, document_words, chunks, chunk_words, term_rows, merged)
         SELECT $1, coalesce(sum(o.documents), 0), coalesce(sum(o.document_words), 0),
                coalesce(sum(o.chunks), 0), coalesce(sum(o.chunk_words), 0),
                (SELECT count(*) FROM docsearch.term_stat t WHERE t.project_id = $1), true
         FROM old o",
        &[DatumWithOid::from(project)],
    )
}

/// Where the statistics of a project differ from its tables.
pub(crate) struct Drift {
    /// Number of lexemes whose frequencies differ.
    pub(crate) lexemes: i64,
    /// The one that differs most, with its chunks and documents as recorded and as counted.
    pub(crate) worst: Option<(String, [i64; 4])>,
    /// The sizes that differ: which, as recorded, as counted.
    pub(crate) sizes: Vec<(&'static str, i64, i64)>,
}

/// What the chunks of the project `$1` say of its lexemes.
const COUNTED: &str = "SELECT l.lexeme, sum(l.chunks)::bigint AS chunks, count(*) AS documents
     FROM (SELECT c.document_id, t.lexeme COLLATE \"C\" AS lexeme, count(*) AS chunks
           FROM docsearch.chunk c, unnest(tsvector_to_array(c.terms)) AS t(lexeme)
           WHERE c.project_id = $1 GROUP BY 1, 2) l
     GROUP BY l.lexeme";

/// What documents and chunks of the project `$1` say of its size.
const MEASURED: &str = "SELECT d.documents, d.words, c.chunks, c.words
     FROM (SELECT count(*), coalesce(sum(d.term_count), 0)::bigint FROM docsearch.document d
           WHERE d.project_id = $1) AS d(documents, words),
          (SELECT count(*), coalesce(sum(c.term_count), 0)::bigint FROM docsearch.chunk c
           WHERE c.project_id = $1) AS c(chunks, words)";

/// Compares the statistics of a project with its tables. Runs as the owner of the tables.
pub(crate) fn drift(project: i64) -> Result<Option<Drift>> {
    let worst = statement::one(
        &format!(
            "WITH counted AS ({COUNTED}),
             recorded AS (
                 SELECT s.lexeme, sum(s.chunks)::bigint AS chunks, sum(s.documents)::bigint AS documents
                 FROM docsearch.term_stat s WHERE s.project_id = $1 GROUP BY s.lexeme
             ),
             compared AS (
                 SELECT lexeme, coalesce(r.chunks, 0) AS recorded_chunks, coalesce(r.documents, 0) AS recorded_documents,
                        coalesce(c.chunks, 0) AS chunks, coalesce(c.documents, 0) AS documents
                 FROM counted c FULL JOIN recorded r USING (lexeme)
             )
             SELECT count(*) OVER (), p.lexeme, p.recorded_chunks, p.recorded_documents, p.chunks, p.documents
             FROM compared p
             WHERE (p.recorded_chunks, p.recorded_documents) <> (p.chunks, p.documents)
             ORDER BY abs(p.recorded_chunks - p.chunks) + abs(p.recorded_documents - p.documents) DESC, p.lexeme
             LIMIT 1"
        ),
        &[DatumWithOid::from(project)],
        |row| {
            let counts = [row.required(3)?, row.required(4)?, row.required(5)?, row.required(6)?];
            Ok((row.required::<i64>(1)?, (row.required::<String>(2)?, counts)))
        },
    )?;
    let sizes = statement::one(
        &format!(
            "SELECT coalesce(sum(s.documents), 0)::bigint, coalesce(sum(s.document_words), 0)::bigint,
                    coalesce(sum(s.chunks), 0)::bigint, coalesce(sum(s.chunk_words), 0)::bigint, m.*
             FROM ({MEASURED}) AS m(documents, document_words, chunks, chunk_words)
             LEFT JOIN docsearch.project_stat s ON s.project_id = $1
             GROUP BY m.documents, m.document_words, m.chunks, m.chunk_words"
        ),
        &[DatumWithOid::from(project)],
        |row| {
            let names = ["documents", "words of documents", "chunks", "words of chunks"];
            let sizes = (1..)
                .zip(names)
                .map(|(column, name)| Ok((name, row.required::<i64>(column)?, row.required::<i64>(column + 4)?)));
            sizes.collect::<Result<Vec<_>>>()
        },
    )?;
    let sizes: Vec<_> = sizes.into_iter().flatten().filter(|size| size.1 != size.2).collect();
    let (lexemes, worst) = worst.map_or((0, None), |(lexemes, worst)| (lexemes, Some(worst)));
    Ok((lexemes > 0 || !sizes.is_empty()).then_some(Drift { lexemes, worst, sizes }))
}

/// Waits for a merge that is under way, and keeps others from running until the transaction ends.
pub(crate) fn hold_merges(project: i64) {
    Lock::Statistics(project).acquire();
}

/// Makes the statistics of a project anew. Runs as the owner of the tables, who holds its merges and has
/// locked the documents: nobody else changes them.
pub(crate) fn recount(project: i64) -> Result<()> {
    for table in ["term_stat", "project_stat"] {
        statement::execute(
            &format!("DELETE FROM docsearch.{table} s WHERE s.project_id = $1"),
            &[DatumWithOid::from(project)],
        )?;
    }
    statement::execute(
        &format!(
            "INSERT INTO docsearch.term_stat (project_id, lexeme, chunks, documents)
             SELECT $1, c.lexeme, c.chunks, c.documents FROM ({COUNTED}) c"
        ),
        &[DatumWithOid::from(project)],
    )?;
    statement::execute(
        &format!(
            "INSERT INTO docsearch.project_stat
                 (project_id, documents, document_words, chunks, chunk_words, term_rows, merged)
             SELECT $1, m.*, (SELECT count(*) FROM docsearch.term_stat t WHERE t.project_id = $1), true
             FROM ({MEASURED}) m"
        ),
        &[DatumWithOid::from(project)],
    )
}

/// Size of a project.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) documents: f64,
    pub(crate) document_words: f64,
    pub(crate) chunks: f64,
    pub(crate) chunk_words: f64,
}

impl Totals {
    /// Reads the size of each project. Runs as the owner of the tables.
    pub(crate) fn read(projects: &Projects) -> Result<Map<i64, Self>> {
        let totals = statement::lookup(
            &format!(
                "SELECT s.project_id, sum(s.documents)::float8, sum(s.document_words)::float8, sum(s.chunks)::float8,
                        sum(s.chunk_words)::float8
                 FROM docsearch.project_stat s WHERE {} GROUP BY s.project_id",
                projects.condition("s")
            ),
            &[projects.argument()],
            totals_of_project,
        )?;
        Ok(totals.into_iter().collect())
    }

    /// The same of certain documents.
    pub(crate) fn of_documents(projects: &Projects, documents: Vec<i64>) -> Result<Map<i64, Self>> {
        let totals = statement::lookup(
            &format!(
                "SELECT c.project_id, count(*) FILTER (WHERE c.chunk_no = 0)::float8,
                        coalesce(sum(c.document_term_count) FILTER (WHERE c.chunk_no = 0), 0)::float8,
                        count(*)::float8, sum(c.term_count)::float8
                 FROM docsearch.chunk c WHERE {} AND c.document_id = ANY ($2) GROUP BY c.project_id",
                projects.condition("c")
            ),
            &[projects.argument(), DatumWithOid::from(documents)],
            totals_of_project,
        )?;
        Ok(totals.into_iter().collect())
    }

    /// How many chunks all the projects have.
    pub(crate) fn chunks(totals: &Map<i64, Self>) -> f64 {
        totals.values().map(|totals| totals.chunks).sum()
    }

    /// Mean number of words of a document, at least 1.
    pub(crate) fn average_document(&self) -> f32 {
        (self.document_words / self.documents.max(1.0)).max(1.0) as f32
    }

    /// Mean number of words of a chunk, at least 1.
    pub(crate) fn average_chunk(&self) -> f32 {
        (self.chunk_words / self.chunks.max(1.0)).max(1.0) as f32
    }
}

fn totals_of_project(row: &statement::Row) -> Result<(i64, Totals)> {
    let totals = Totals {
        documents: row.required(2)?,
        document_words: row.required(3)?,
        chunks: row.required(4)?,
        chunk_words: row.required(5)?,
    };
    Ok((row.required(1)?, totals))
}

/// In how many chunks of each project lexemes occur.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkFrequencies {
    chunks: BTreeMap<String, Map<i64, f64>>,
    /// In how many chunks the index has those lexemes of which the caller sees fewer.
    indexed: BTreeMap<String, f64>,
}

impl ChunkFrequencies {
    /// Reads them for these lexemes. Runs as the owner of the tables.
    pub(crate) fn read(projects: &Projects, lexemes: Vec<String>) -> Result<Self> {
        let mut frequencies = Self::default();
        frequencies.add(statement::lookup(
            &format!(
                "SELECT s.project_id, s.lexeme, sum(s.chunks)::float8 FROM docsearch.term_stat s
                 WHERE {} AND s.lexeme = ANY ($2) GROUP BY s.project_id, s.lexeme",
                projects.condition("s")
            ),
            &[projects.argument(), DatumWithOid::from(lexemes)],
            frequency,
        )?);
        Ok(frequencies)
    }

    /// The vocabulary between two texts, in words of so many characters, as in [`Self::read`].
    pub(crate) fn between(
        projects: &Projects,
        (from, to): (&str, &str),
        length: std::ops::RangeInclusive<i32>,
    ) -> Result<Self> {
        let mut frequencies = Self::default();
        frequencies.add(statement::rows(
            &format!(
                "SELECT s.project_id, s.lexeme, sum(s.chunks)::float8 FROM docsearch.term_stat s
                 WHERE {} AND s.lexeme >= $2 AND s.lexeme < $3 AND length(s.lexeme) BETWEEN $4 AND $5
                 GROUP BY s.project_id, s.lexeme",
                projects.condition("s")
            ),
            &[
                projects.argument(),
                DatumWithOid::from(from),
                DatumWithOid::from(to),
                DatumWithOid::from(*length.start()),
                DatumWithOid::from(*length.end()),
            ],
            frequency,
        )?);
        Ok(frequencies)
    }

    fn add(&mut self, found: Vec<(i64, String, f64)>) {
        for (project, lexeme, chunks) in found.into_iter().filter(|found| found.2 > 0.0) {
            self.chunks.entry(lexeme).or_default().insert(project, chunks);
        }
    }

    /// Counts one more chunk.
    pub(crate) fn count(&mut self, project: i64, lexeme: &str) {
        if !self.chunks.contains_key(lexeme) {
            self.chunks.insert(lexeme.to_owned(), Map::default());
        }
        if let Some(known) = self.chunks.get_mut(lexeme) {
            *known.entry(project).or_default() += 1.0;
        }
    }

    /// Replaces what is known of a lexeme: the caller sees it in a chunk of each of these projects.
    pub(crate) fn correct(&mut self, lexeme: &str, seen: Vec<i64>) {
        let indexed = self.sum(lexeme);
        self.chunks.remove(lexeme);
        if !seen.is_empty() {
            self.indexed.insert(lexeme.to_owned(), indexed);
        }
        for project in seen {
            self.count(project, lexeme);
        }
    }

    /// Takes what is known of a lexeme from another.
    pub(crate) fn take(&mut self, other: &Self, lexeme: &str) {
        if let Some(known) = other.chunks.get(lexeme) {
            self.chunks.insert(lexeme.to_owned(), known.clone());
        }
    }

    /// The part between two texts, in words of so many characters.
    pub(crate) fn part(&self, (from, to): (&str, &str), length: &std::ops::RangeInclusive<i32>) -> Self {
        let part = self.chunks.range(from.to_owned()..to.to_owned());
        let fits = |lexeme: &str| i32::try_from(lexeme.chars().count()).is_ok_and(|count| length.contains(&count));
        let part = part.filter(|(lexeme, _)| fits(lexeme));
        Self {
            chunks: part.map(|(lexeme, known)| (lexeme.clone(), known.clone())).collect(),
            indexed: BTreeMap::new(),
        }
    }

    /// Takes everything that another knows.
    pub(crate) fn join(&mut self, other: Self) {
        self.chunks.extend(other.chunks);
    }

    /// In how many chunks of a project.
    pub(crate) fn of(&self, project: i64, lexeme: &str) -> f64 {
        self.chunks
            .get(lexeme)
            .and_then(|known| known.get(&project))
            .copied()
            .unwrap_or(0.0)
    }

    /// In how many chunks of all the projects.
    pub(crate) fn sum(&self, lexeme: &str) -> f64 {
        self.chunks.get(lexeme).map_or(0.0, |known| known.values().sum())
    }

    /// How many chunks are read to find a lexeme.
    pub(crate) fn cost(&self, lexeme: &str) -> f64 {
        let indexed = self.indexed.get(lexeme).copied();
        indexed.unwrap_or_else(|| self.sum(lexeme))
    }

    /// The lexemes that occur.
    pub(crate) fn lexemes(&self) -> impl Iterator<Item = &str> {
        self.chunks.keys().map(String::as_str)
    }
}

fn frequency(row: &statement::Row) -> Result<(i64, String, f64)> {
    Ok((row.required(1)?, row.required(2)?, row.required(3)?))
}
