//! Compares codes with the vectors that they were made from.

use std::collections::HashMap;

use docsearch_core::index::vector_code::{Code, Codes};
use pgrx::datum::DatumWithOid;

use super::CodeSet;
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::statement;

/// The problems of the codes of a project and a model.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    /// Rows that do not hold codes of the model's vectors.
    pub(crate) broken: i64,
    /// Chunks with a vector and no code: searches do not find them by their vector.
    pub(crate) missing: Vec<(i64, i32)>,
    /// Chunks whose codes are all of other vectors.
    pub(crate) differing: Vec<(i64, i32)>,
}

impl Differences {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Compares the codes with the existing vectors; with `deep` also with their values.
pub(crate) fn differences(owner: &Owner<'_>, of: CodeSet, deep: bool) -> Result<Differences> {
    let mut differences = Differences::default();
    let mut known: HashMap<(i64, i32), Vec<Code>> = HashMap::new();
    let dimension = statement::one(
        owner,
        &format!(
            "SELECT cardinality(v.embedding::real[]) FROM {} v WHERE v.project_id = $1 LIMIT 1",
            of.vector_table()
        ),
        &[DatumWithOid::from(of.project)],
        |row| row.required::<i32>(1),
    )?;
    let dimension = dimension.and_then(|dimension| usize::try_from(dimension).ok());
    statement::rows(
        owner,
        "SELECT c.bytes, c.codes FROM docsearch.vector_code c WHERE c.project_id = $1 AND c.model_id = $2",
        &of.arguments(),
        |row| {
            pgrx::check_for_interrupts!();
            let counted = usize::try_from(row.required::<i32>(2)?).unwrap_or_default();
            let codes = Codes::read(row.required::<&[u8]>(1)?).filter(|codes| {
                dimension.is_none_or(|dimension| codes.have_dimension(dimension)) && codes.keys().count() == counted
            });
            let Some(codes) = codes else {
                differences.broken += 1;
                return Ok(());
            };
            if deep {
                for (document, chunk, code) in codes.iter() {
                    known.entry((document, chunk)).or_default().push(code);
                }
            } else {
                known.extend(codes.keys().map(|key| (key, Vec::new())));
            }
            Ok(())
        },
    )?;
    let _settings = LocalSettings::by_index()?;
    statement::rows(
        owner,
        &format!(
            "SELECT v.document_id, v.chunk_no, CASE WHEN $2 THEN v.embedding::real[] END FROM {} v
             WHERE v.project_id = $1 ORDER BY v.document_id, v.chunk_no",
            of.vector_table()
        ),
        &[DatumWithOid::from(of.project), DatumWithOid::from(deep)],
        |row| {
            pgrx::check_for_interrupts!();
            let key = (row.required(1)?, row.required(2)?);
            match (known.get(&key), row.optional::<Vec<f32>>(3)?) {
                (None, _) => differences.missing.push(key),
                (Some(codes), Some(vector)) => {
                    if !codes.iter().any(|code| code.resembles(&vector)) {
                        differences.differing.push(key);
                    }
                }
                (Some(_), None) => {}
            }
            Ok(())
        },
    )?;
    Ok(differences)
}
