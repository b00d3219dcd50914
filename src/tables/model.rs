//! The registered models.

use pgrx::datum::DatumWithOid;

use crate::postgres::report::{Result, internal};
use crate::postgres::role::Role;
use crate::postgres::statement;

/// A row of `docsearch.model`.
#[derive(Clone, Debug)]
pub(crate) struct ModelRow {
    pub(crate) id: i32,
    pub(crate) name: String,
    /// Below `docsearch.model_directory`.
    pub(crate) directory: String,
    /// Similarity of unrelated texts.
    pub(crate) baseline: f32,
    pub(crate) digest: String,
    /// Longest text that it reads, in tokens, special tokens included.
    pub(crate) max_tokens: usize,
    pub(crate) passage_prefix: String,
    /// Whether an endpoint runs it.
    pub(crate) remote: bool,
}

impl ModelRow {
    /// Columns of a table `m`, in the order that [`ModelRow::read`] expects.
    pub(crate) const COLUMNS: &'static str =
        "m.id, m.name, coalesce(m.directory, m.name), m.background, m.digest, m.max_tokens, m.passage_prefix, m.remote";

    /// Reads the columns from number `first` on.
    pub(crate) fn read(row: &statement::Row, first: usize) -> Result<Self> {
        Ok(Self {
            id: row.required(first)?,
            name: row.required(first + 1)?,
            directory: row.required(first + 2)?,
            baseline: row.required(first + 3)?,
            digest: row.required(first + 4)?,
            max_tokens: usize::try_from(row.required::<i32>(first + 5)?).map_err(internal)?,
            passage_prefix: row.required(first + 6)?,
            remote: row.required(first + 7)?,
        })
    }

    /// The table of its vectors.
    pub(crate) fn vector_table(&self) -> String {
        vector_table(self.id)
    }
}

/// The table of a model's vectors: the number comes from the catalog.
pub(crate) fn vector_table(id: i32) -> String {
    format!("docsearch.vector_{id}")
}

/// The model of this number.
pub(crate) fn by_id(role: &dyn Role, id: i32) -> Result<ModelRow> {
    let row = statement::one(
        role,
        &format!("SELECT {} FROM docsearch.model m WHERE m.id = $1", ModelRow::COLUMNS),
        &[DatumWithOid::from(id)],
        |row| ModelRow::read(row, 1),
    )?;
    row.ok_or_else(|| internal(format_args!("there is no model {id}")))
}
