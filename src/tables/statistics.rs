//! Document frequencies and sizes of projects. Changes are appended and summed up when read, so that indexing calls
//! never wait for each other's rows.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use docsearch_core::index::question::FIRST;
use docsearch_core::index::statistics::{ChunkFrequencies, Delta, Totals};
use docsearch_core::values::id::Map;
use pgrx::datum::DatumWithOid;

use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Owner;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::merging;
use crate::tables::project::Projects;

pub(crate) mod by_hand;

/// Number of unmerged rows of `term_stat` at which an indexing call merges them, if they are also more than twice the
/// merged ones: writing them again then costs no more than writing them did.
const MERGE_AT: i64 = 20_000;

/// Appends a change.
pub(crate) fn write(owner: &Owner<'_>, delta: Delta, project: i64) -> Result<()> {
    let Some(delta) = delta.into_rows() else {
        return Ok(());
    };
    let rows = i64::try_from(delta.lexemes.len()).map_err(internal)?;
    statement::execute(
        owner,
        "INSERT INTO docsearch.term_stat (project_id, lexeme, chunks, documents)
         SELECT $1, t.lexeme, t.chunks, t.documents
         FROM unnest($2::text[], $3::int[], $4::int[]) AS t(lexeme, chunks, documents)",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(delta.lexemes),
            DatumWithOid::from(delta.lexeme_chunks),
            DatumWithOid::from(delta.lexeme_documents),
        ],
    )?;
    statement::execute(
        owner,
        "INSERT INTO docsearch.project_stat
             (project_id, documents, document_words, chunks, chunk_words, term_rows, merged)
         VALUES ($1, $2, $3, $4, $5, $6, false)",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(delta.documents),
            DatumWithOid::from(delta.document_words),
            DatumWithOid::from(delta.chunks),
            DatumWithOid::from(delta.chunk_words),
            DatumWithOid::from(rows),
        ],
    )?;
    merge_if_due(owner, project)
}

fn merge_if_due(owner: &Owner<'_>, project: i64) -> Result<()> {
    let due = statement::one(
        owner,
        "SELECT coalesce(sum(s.term_rows) FILTER (WHERE NOT s.merged), 0)
                > greatest($2, 2 * coalesce(sum(s.term_rows) FILTER (WHERE s.merged), 0))
         FROM docsearch.project_stat s WHERE s.project_id = $1",
        &[DatumWithOid::from(project), DatumWithOid::from(MERGE_AT)],
        |row| row.required(1),
    )?;
    if due == Some(true) {
        merge(owner, project)
    } else {
        Ok(())
    }
}

/// Sums up the rows that this transaction sees; does nothing while another merge runs.
pub(crate) fn merge(owner: &Owner<'_>, project: i64) -> Result<()> {
    if !merging::try_lock(Lock::Statistics(project)) {
        return Ok(());
    }
    statement::execute(
        owner,
        // Most words have one row, which stays.
        "WITH several AS (
             SELECT s.lexeme FROM docsearch.term_stat s WHERE s.project_id = $1
             GROUP BY s.lexeme HAVING count(*) > 1 OR sum(s.chunks) = 0 AND sum(s.documents) = 0
         ), old AS (
             DELETE FROM docsearch.term_stat s USING several WHERE s.project_id = $1 AND s.lexeme = several.lexeme
             RETURNING s.lexeme, s.chunks, s.documents
         )
         INSERT INTO docsearch.term_stat (project_id, lexeme, chunks, documents)
         SELECT $1, o.lexeme, sum(o.chunks), sum(o.documents) FROM old o
         GROUP BY o.lexeme HAVING sum(o.chunks) <> 0 OR sum(o.documents) <> 0",
        &[DatumWithOid::from(project)],
    )?;
    statement::execute(
        owner,
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

/// The differences between the statistics of a project and its tables.
pub(crate) struct Drift {
    /// Number of lexemes with different frequencies.
    pub(crate) lexemes: i64,
    /// The one that differs most: its chunks and documents as recorded, and as counted.
    pub(crate) worst: Option<(String, [i64; 4])>,
    /// The sizes that differ: name, recorded, counted.
    pub(crate) sizes: Vec<(&'static str, i64, i64)>,
}

/// The frequencies of the lexemes in the chunks of the project `$1`.
const FREQUENCIES: &str = "SELECT l.lexeme, sum(l.chunks)::bigint AS chunks, count(*) AS documents
     FROM (SELECT c.document_id, t.lexeme COLLATE \"C\" AS lexeme, count(*) AS chunks
           FROM docsearch.chunk c, unnest(tsvector_to_array(c.terms)) AS t(lexeme)
           WHERE c.project_id = $1 GROUP BY 1, 2) l
     GROUP BY l.lexeme";

/// The sizes of the documents and chunks of the project `$1`; questions do not count.
fn sizes_sql() -> String {
    format!(
        "SELECT d.documents, d.words, c.chunks, c.words
         FROM (SELECT count(*), coalesce(sum(d.term_count), 0)::bigint FROM docsearch.document d
               WHERE d.project_id = $1) AS d(documents, words),
              (SELECT count(*), coalesce(sum(c.term_count), 0)::bigint FROM docsearch.chunk c
               WHERE c.project_id = $1 AND c.chunk_no < {FIRST}) AS c(chunks, words)"
    )
}

row_type! {
    /// The lexeme that differs most.
    struct DriftRow {
        lexemes: i64 = "count(*) OVER ()",
        lexeme: String = "p.lexeme",
        recorded_chunks: i64 = "p.recorded_chunks",
        recorded_documents: i64 = "p.recorded_documents",
        chunks: i64 = "p.chunks",
        documents: i64 = "p.documents",
    }
}

row_type! {
    /// The sizes of a project, as recorded and as counted.
    struct SizesRow {
        recorded_documents: i64 = "coalesce(sum(s.documents), 0)::bigint",
        recorded_document_words: i64 = "coalesce(sum(s.document_words), 0)::bigint",
        recorded_chunks: i64 = "coalesce(sum(s.chunks), 0)::bigint",
        recorded_chunk_words: i64 = "coalesce(sum(s.chunk_words), 0)::bigint",
        documents: i64 = "m.documents",
        document_words: i64 = "m.document_words",
        chunks: i64 = "m.chunks",
        chunk_words: i64 = "m.chunk_words",
    }
}

/// Compares the statistics of a project with its tables.
pub(crate) fn drift(owner: &Owner<'_>, project: i64) -> Result<Option<Drift>> {
    let worst = statement::one(
        owner,
        &format!(
            "WITH counted AS ({FREQUENCIES}),
             recorded AS (
                 SELECT s.lexeme, sum(s.chunks)::bigint AS chunks, sum(s.documents)::bigint AS documents
                 FROM docsearch.term_stat s WHERE s.project_id = $1 GROUP BY s.lexeme
             ),
             compared AS (
                 SELECT lexeme, coalesce(r.chunks, 0) AS recorded_chunks, coalesce(r.documents, 0) AS recorded_documents,
                        coalesce(c.chunks, 0) AS chunks, coalesce(c.documents, 0) AS documents
                 FROM counted c FULL JOIN recorded r USING (lexeme)
             )
             SELECT {} FROM compared p
             WHERE (p.recorded_chunks, p.recorded_documents) <> (p.chunks, p.documents)
             ORDER BY abs(p.recorded_chunks - p.chunks) + abs(p.recorded_documents - p.documents) DESC, p.lexeme
             LIMIT 1",
            DriftRow::select_list()
        ),
        &[DatumWithOid::from(project)],
        DriftRow::read,
    )?;
    let sizes = statement::one(
        owner,
        &format!(
            "SELECT {} FROM ({}) AS m(documents, document_words, chunks, chunk_words)
             LEFT JOIN docsearch.project_stat s ON s.project_id = $1
             GROUP BY m.documents, m.document_words, m.chunks, m.chunk_words",
            SizesRow::select_list(),
            sizes_sql()
        ),
        &[DatumWithOid::from(project)],
        |row| {
            let row = SizesRow::read(row)?;
            Ok([
                ("documents", row.recorded_documents, row.documents),
                ("words of documents", row.recorded_document_words, row.document_words),
                ("chunks", row.recorded_chunks, row.chunks),
                ("words of chunks", row.recorded_chunk_words, row.chunk_words),
            ])
        },
    )?;
    let sizes: Vec<_> = sizes.into_iter().flatten().filter(|size| size.1 != size.2).collect();
    let (lexemes, worst) = worst.map_or((0, None), |row| {
        let counts = [row.recorded_chunks, row.recorded_documents, row.chunks, row.documents];
        (row.lexemes, Some((row.lexeme, counts)))
    });
    Ok((lexemes > 0 || !sizes.is_empty()).then_some(Drift { lexemes, worst, sizes }))
}

/// Counts the statistics of a project again. The owner holds its merges and has locked the documents, so that nothing
/// else changes them.
pub(crate) fn recount(owner: &Owner<'_>, project: i64) -> Result<()> {
    for table in ["term_stat", "project_stat"] {
        statement::execute(
            owner,
            &format!("DELETE FROM docsearch.{table} s WHERE s.project_id = $1"),
            &[DatumWithOid::from(project)],
        )?;
    }
    statement::execute(
        owner,
        &format!(
            "INSERT INTO docsearch.term_stat (project_id, lexeme, chunks, documents)
             SELECT $1, c.lexeme, c.chunks, c.documents FROM ({FREQUENCIES}) c"
        ),
        &[DatumWithOid::from(project)],
    )?;
    statement::execute(
        owner,
        &format!(
            "INSERT INTO docsearch.project_stat
                 (project_id, documents, document_words, chunks, chunk_words, term_rows, merged)
             SELECT $1, m.*, (SELECT count(*) FROM docsearch.term_stat t WHERE t.project_id = $1), true
             FROM ({}) m",
            sizes_sql()
        ),
        &[DatumWithOid::from(project)],
    )
}

row_type! {
    /// The sizes of a project.
    struct TotalsRow {
        project: i64 = "t.project_id",
        documents: f64 = "t.documents",
        document_words: f64 = "t.document_words",
        chunks: f64 = "t.chunks",
        chunk_words: f64 = "t.chunk_words",
    }
}

impl TotalsRow {
    fn totals(self) -> (i64, Totals) {
        let totals = Totals {
            documents: self.documents,
            document_words: self.document_words,
            chunks: self.chunks,
            chunk_words: self.chunk_words,
        };
        (self.project, totals)
    }
}

row_type! {
    /// The sizes of a project, or the number of its chunks with a lexeme.
    struct StatisticsRow {
        project: i64 = "t.project_id",
        chunks: f64 = "t.chunks",
        lexeme: Option<String> = "t.lexeme",
        documents: Option<f64> = "t.documents",
        document_words: Option<f64> = "t.document_words",
        chunk_words: Option<f64> = "t.chunk_words",
    }
}

/// The start of a statement that sums up the sizes of projects.
const SUMMED_SIZES: &str = "SELECT s.project_id, sum(s.documents)::float8 AS documents,
            sum(s.document_words)::float8 AS document_words, sum(s.chunks)::float8 AS chunks,
            sum(s.chunk_words)::float8 AS chunk_words
     FROM docsearch.project_stat s";

/// The sizes of each project.
pub(crate) fn totals(owner: &Owner<'_>, projects: &Projects) -> Result<Map<i64, Totals>> {
    let totals = statement::lookup(
        owner,
        &format!(
            "SELECT {} FROM ({SUMMED_SIZES} WHERE {} GROUP BY s.project_id) t",
            TotalsRow::select_list(),
            projects.condition("s")
        ),
        &[projects.argument()],
        TotalsRow::read,
    )?;
    Ok(totals.into_iter().map(TotalsRow::totals).collect())
}

/// The sizes of certain documents, by project.
pub(crate) fn totals_of_documents(
    owner: &Owner<'_>,
    projects: &Projects,
    documents: Vec<i64>,
) -> Result<Map<i64, Totals>> {
    let totals = statement::lookup(
        owner,
        &format!(
            "SELECT {}
             FROM (SELECT c.project_id, count(*) FILTER (WHERE c.chunk_no = 0)::float8 AS documents,
                          coalesce(sum(c.document_term_count) FILTER (WHERE c.chunk_no = 0), 0)::float8 AS document_words,
                          count(*)::float8 AS chunks, sum(c.term_count)::float8 AS chunk_words
                   FROM docsearch.chunk c WHERE {} AND c.document_id = ANY ($2) AND c.chunk_no < {FIRST}
                   GROUP BY c.project_id) t",
            TotalsRow::select_list(),
            projects.condition("c")
        ),
        &[projects.argument(), DatumWithOid::from(documents)],
        TotalsRow::read,
    )?;
    Ok(totals.into_iter().map(TotalsRow::totals).collect())
}

/// The number of chunks in which each lexeme occurs, by project.
pub(crate) fn frequencies(owner: &Owner<'_>, projects: &Projects, lexemes: Vec<String>) -> Result<ChunkFrequencies> {
    let lexemes: BTreeSet<String> = lexemes.into_iter().collect();
    // One lookup each: for a list of lexemes, PostgreSQL 16 reads all lexemes of a project that is not analyzed.
    let rows = statement::lookup(
        owner,
        &format!(
            "SELECT s.project_id, wanted.lexeme, s.chunks
             FROM unnest($2::text[]) AS wanted(lexeme),
                  LATERAL (SELECT s.project_id, sum(s.chunks)::float8 AS chunks FROM docsearch.term_stat s
                           WHERE {} AND s.lexeme = wanted.lexeme COLLATE \"C\" GROUP BY s.project_id) s",
            projects.condition("s")
        ),
        &[projects.argument(), DatumWithOid::from(Vec::from_iter(lexemes))],
        frequency,
    )?;
    Ok(ChunkFrequencies::of_rows(rows))
}

/// [`totals`] and [`frequencies`] in one statement.
pub(crate) fn totals_and_frequencies(
    owner: &Owner<'_>,
    projects: &Projects,
    lexemes: Vec<String>,
) -> Result<(Map<i64, Totals>, ChunkFrequencies)> {
    let lexemes: BTreeSet<String> = lexemes.into_iter().collect();
    let condition = projects.condition("s");
    let mut totals = Map::default();
    let mut frequencies = Vec::new();
    statement::lookup(
        owner,
        &format!(
            "SELECT {}
             FROM (SELECT s.*, NULL::text AS lexeme FROM ({SUMMED_SIZES} WHERE {condition} GROUP BY s.project_id) s
                   UNION ALL
                   SELECT s.project_id, NULL, NULL, s.chunks, NULL, wanted.lexeme
                   FROM unnest($2::text[]) AS wanted(lexeme),
                        LATERAL (SELECT s.project_id, sum(s.chunks)::float8 AS chunks FROM docsearch.term_stat s
                                 WHERE {condition} AND s.lexeme = wanted.lexeme COLLATE \"C\" GROUP BY s.project_id) s) t",
            StatisticsRow::select_list()
        ),
        &[projects.argument(), DatumWithOid::from(Vec::from_iter(lexemes))],
        |row| {
            let row = StatisticsRow::read(row)?;
            match row.lexeme {
                Some(lexeme) => frequencies.push((row.project, lexeme, row.chunks)),
                None => {
                    let of_project = Totals {
                        documents: row.documents.unwrap_or_default(),
                        document_words: row.document_words.unwrap_or_default(),
                        chunks: row.chunks,
                        chunk_words: row.chunk_words.unwrap_or_default(),
                    };
                    totals.insert(row.project, of_project);
                }
            }
            Ok(())
        },
    )?;
    Ok((totals, ChunkFrequencies::of_rows(frequencies)))
}

/// A range of the vocabulary: words between two texts, with a number of characters in `lengths`.
pub(crate) struct VocabularyRange {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) lengths: RangeInclusive<i32>,
}

/// The number of chunks of each project in which the words of some ranges of the vocabulary occur: of each range, the
/// words that `wanted` accepts.
pub(crate) fn frequencies_between(
    owner: &Owner<'_>,
    projects: &Projects,
    parts: &[VocabularyRange],
    wanted: impl Fn(usize, &str) -> bool,
) -> Result<Vec<ChunkFrequencies>> {
    let texts = |of: fn(&VocabularyRange) -> &String| {
        DatumWithOid::from(parts.iter().map(of).cloned().collect::<Vec<String>>())
    };
    let lengths = |of: fn(&RangeInclusive<i32>) -> i32| {
        DatumWithOid::from(parts.iter().map(|part| of(&part.lengths)).collect::<Vec<i32>>())
    };
    let mut found: Vec<Vec<(i64, String, f64)>> = parts.iter().map(|_| Vec::new()).collect();
    statement::lookup(
        owner,
        &format!(
            "SELECT s.project_id, s.lexeme, s.chunks, w.place
             FROM unnest($2::text[], $3::text[], $4::int[], $5::int[]) WITH ORDINALITY AS w(begins, ends, shortest, longest, place),
                  LATERAL (SELECT s.project_id, s.lexeme, sum(s.chunks)::float8 AS chunks FROM docsearch.term_stat s
                           WHERE {} AND s.lexeme >= w.begins COLLATE \"C\" AND s.lexeme < w.ends COLLATE \"C\"
                             AND length(s.lexeme) BETWEEN w.shortest AND w.longest
                           GROUP BY s.project_id, s.lexeme OFFSET 0) s",
            projects.condition("s")
        ),
        &[
            projects.argument(),
            texts(|part| &part.from),
            texts(|part| &part.to),
            lengths(|lengths| *lengths.start()),
            lengths(|lengths| *lengths.end()),
        ],
        |row| {
            let part = usize::try_from(row.required::<i64>(4)? - 1).unwrap_or_default();
            let lexeme: &str = row.required(2)?;
            if wanted(part, lexeme)
                && let Some(found) = found.get_mut(part)
            {
                found.push((row.required(1)?, lexeme.to_owned(), row.required(3)?));
            }
            Ok(())
        },
    )?;
    Ok(found.into_iter().map(ChunkFrequencies::of_rows).collect())
}

fn frequency(row: &statement::Row) -> Result<(i64, String, f64)> {
    Ok((row.required(1)?, row.required(2)?, row.required(3)?))
}
