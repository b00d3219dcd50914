//! The leg of names: pages that bear the very name a query asks for.

use docsearch_core::name::{self, NameKind};
use docsearch_core::query::Query;
use docsearch_core::rank::{Map, name_strength};
use pgrx::datum::DatumWithOid;

use crate::report::Result;
use crate::{catalog, statement};

/// Most documents that one name may bring; a name that many pages bear tells little.
const MAX_BEARERS: i64 = 200;

/// A document that bears a name of the query.
#[derive(Clone, Debug)]
pub(crate) struct NameMatch {
    pub(crate) kind: NameKind,
    /// The query says `X in Y`, and the name is X.
    pub(crate) of_symbol: bool,
}

/// Documents of a project that bear the query, or X of "X in Y", as a name. Runs as the owner.
pub(crate) fn matches(project: i64, query: &Query) -> Result<Map<i64, NameMatch>> {
    let whole = name::key(&query.text);
    let symbol = query.symbol.as_deref().map(name::key).unwrap_or_default();
    let keys: Vec<String> = [&whole, &symbol]
        .into_iter()
        .filter(|key| !key.is_empty())
        .cloned()
        .collect();
    let rows = statement::rows(
        "SELECT n.document_id, n.key, n.kind FROM docsearch.document_name n
         WHERE n.project_id = $1 AND n.key = ANY ($2) LIMIT $3",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(keys),
            DatumWithOid::from(MAX_BEARERS),
        ],
        |row| {
            Ok((
                row.required::<i64>(1)?,
                row.required::<String>(2)?,
                row.required::<String>(3)?,
            ))
        },
    )?;
    let mut found: Map<i64, NameMatch> = Map::default();
    for (document, key, kind) in rows {
        let Some(kind) = NameKind::parse(&kind) else {
            continue;
        };
        let this = NameMatch {
            kind,
            of_symbol: key != whole,
        };
        let rank = |found: &NameMatch| (found.of_symbol, found.kind);
        match found.get(&document) {
            Some(known) if rank(known) <= rank(&this) => {}
            _ => {
                found.insert(document, this);
            }
        }
    }
    Ok(found)
}

impl NameMatch {
    /// How much the match lifts the document, see [`name_strength`].
    pub(crate) fn strength(&self, query: &Query, title: &str, in_container: bool) -> f32 {
        let asked = if self.of_symbol {
            query.symbol.as_deref()
        } else {
            Some(query.text.as_str())
        };
        let as_written = asked == Some(title) || asked == name::symbol(title);
        name_strength(self.kind, as_written, !self.of_symbol || in_container)
    }
}

/// The schema of pg_trgm, quoted.
pub(crate) fn trigram_schema() -> Result<String> {
    catalog::extension_schema(c"pg_trgm")
}
