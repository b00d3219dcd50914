//! The version of the tables, what earlier versions lack, and who may change them.

use std::ffi::CStr;

use pgrx::prelude::*;

use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::role::{Caller, Role};
use crate::postgres::{catalog, statement};

/// The version of the tables that this extension reads and writes.
pub(crate) const NEWEST: usize = 18;

/// What tables of earlier versions lack until their owner migrates them. Reading or writing a part checks first whether
/// it exists: searching and writing documents go on meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Attached tables.
    AttachedTables,
    /// Their changes.
    Changes,
    /// Which sections define a name.
    Definitions,
    /// Roles that may send texts to a remote model.
    ModelGrants,
    /// The share of a document that is a list of names, and its further fragments.
    EntryShare,
    /// How often an attached view is read.
    PollEvery,
    /// Tables that views are made of.
    WatchedTables,
    /// When the row of an attached table is tried again.
    Attempts,
    /// The pages that a document groups.
    Pages,
    /// The keys of a page that ranking rules compare.
    PageKeys,
    /// The packed words of sections.
    Postings,
    /// Codes of vectors.
    VectorCodes,
    /// The column with questions of an attached table.
    QuestionsColumn,
    /// Questions that sections answer.
    Questions,
    /// The log of queries.
    QueryLog,
    /// Tunings of projects.
    Tunings,
    /// Digests of the texts of documents.
    TextDigest,
    /// Whether indexing chose the keywords of a document.
    KeywordsChosen,
    /// The sections that share a chunk.
    ChunkSections,
    /// How defined names are written, and where.
    DefinedNames,
    /// Weights of pages.
    PageBoost,
    /// Pages that are pinned for queries.
    Pins,
    /// Centroids of rows of codes.
    Centroids,
}

impl Part {
    /// Its table and, if the table is older, its column.
    fn place(self) -> (&'static CStr, Option<&'static CStr>) {
        match self {
            // Version 3.
            Self::AttachedTables => (c"attached_table", None),
            Self::Changes => (c"table_change", None),
            // 4
            Self::Definitions => (c"definition", None),
            // 9
            Self::ModelGrants => (c"model_grant", None),
            // 10
            Self::EntryShare => (c"document", Some(c"entry_share")),
            Self::PollEvery => (c"attached_table", Some(c"poll_every")),
            Self::WatchedTables => (c"watched_table", None),
            // 12
            Self::Attempts => (c"table_change", Some(c"attempts")),
            Self::Pages => (c"document", Some(c"pages")),
            // 13
            Self::PageKeys => (c"document", Some(c"page_keys")),
            Self::Postings => (c"posting_pending", None),
            // 14
            Self::VectorCodes => (c"vector_code", None),
            // 15
            Self::QuestionsColumn => (c"attached_table", Some(c"questions_column")),
            Self::Questions => (c"question", None),
            // 17
            Self::QueryLog => (c"query_log", None),
            Self::Tunings => (c"tuning", None),
            Self::TextDigest => (c"document", Some(c"text_digest")),
            Self::KeywordsChosen => (c"document", Some(c"keywords_chosen")),
            Self::ChunkSections => (c"chunk", Some(c"sections")),
            Self::DefinedNames => (c"definition", Some(c"anchor")),
            Self::PageBoost => (c"document", Some(c"boost")),
            Self::Pins => (c"pin", None),
            // 18
            Self::Centroids => (c"vector_code", Some(c"centroid")),
        }
    }

    /// Whether the tables have it. The system caches know it also in the transaction that migrates.
    pub(crate) fn exists(self) -> bool {
        match self.place() {
            (table, None) => catalog::table(table).is_some(),
            (table, Some(column)) => catalog::has_column(table, column),
        }
    }

    /// `column` if the part exists, else `otherwise`.
    pub(crate) fn or_else(self, column: &'static str, otherwise: &'static str) -> &'static str {
        if self.exists() { column } else { otherwise }
    }
}

/// Whether the tables exist.
pub(crate) fn exists() -> bool {
    catalog::table(c"schema_version").is_some()
}

/// Whether the tables are those of this version of the extension.
pub(crate) fn is_current(role: &dyn Role) -> Result<bool> {
    Ok(behind(role)?.is_none())
}

/// Raises an error if the tables are of an older version.
pub(crate) fn require_current(role: &dyn Role) -> Result<()> {
    if is_current(role)? {
        return Ok(());
    }
    Err(outdated())
}

/// The error for tables of an older version.
pub(crate) fn outdated() -> pg_sys::panic::ErrorReport {
    error_with_hint(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "the tables of pg_docsearch are of an older version",
        "Bring them up to date: SELECT docsearch.migrate().",
    )
}

/// The version of the tables; 0 if there are none.
pub(crate) fn version(role: &dyn Role) -> Result<usize> {
    if !exists() {
        return Ok(0);
    }
    let version: Option<i32> = statement::one(
        role,
        "SELECT pg_catalog.max(v.version) FROM docsearch.schema_version v",
        &[],
        |row| row.optional(1),
    )?
    .flatten();
    Ok(usize::try_from(version.unwrap_or(0)).unwrap_or(0))
}

/// The version of the tables and that of the extension, if the tables are behind.
pub(crate) fn behind(role: &dyn Role) -> Result<Option<(usize, usize)>> {
    let applied = version(role)?;
    Ok((applied < NEWEST).then_some((applied, NEWEST)))
}

/// Raises an error if the caller does not own the schema; `call` is what its owner can run.
pub(crate) fn require_owner(caller: &Caller, call: &str) -> Result<()> {
    let owner = statement::one(
        caller,
        "SELECT pg_catalog.pg_has_role(n.nspowner, 'USAGE'), pg_catalog.pg_get_userbyid(n.nspowner)::text
         FROM pg_catalog.pg_namespace n WHERE n.nspname = 'docsearch'",
        &[],
        |row| Ok((row.required::<bool>(1)?, row.required::<String>(2)?)),
    )?;
    match owner {
        Some((false, owner)) => Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            "the tables of pg_docsearch are managed by the owner of schema docsearch",
            format!("Ask \"{owner}\" to run: {call}."),
        )),
        _ => Ok(()),
    }
}
