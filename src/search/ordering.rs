//! Results in the order of a date, a field or a key of the metadata.

use docsearch_core::answer::order::Order;
use docsearch_core::query::filter::spellings;
use docsearch_core::values::id::{DocumentId, Map};
use pgrx::datum::DatumWithOid;
use serde_json::Value;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::search::config::SearchConfig;
use crate::search::matching::{Words, documents_with};
use crate::search::retrieval::Retrieval;
use crate::tables::keys::{self, WANTED_DOCUMENTS};

impl Retrieval<'_> {
    /// If `config` has an order, keeps the documents that match by words and puts them into it. What only vectors find has no place among
    /// them: it would come before better results.
    pub(super) fn order(&mut self, caller: &mut Caller, config: &SearchConfig) -> Result<()> {
        let Some(order) = &config.order else {
            return Ok(());
        };
        let _settings = LocalSettings::by_index()?;
        for group in &self.groups {
            if let Some(matching) = documents_with(caller, group, Words::All)? {
                self.found.ranked.retain(|ranked| {
                    let id = ranked.document.document;
                    !group.projects.contains(id.project) || matching.contains(&id)
                });
            }
        }
        let ranked: Vec<DocumentId> = self
            .found
            .ranked
            .iter()
            .map(|ranked| ranked.document.document)
            .collect();
        let mut values = values(caller, order, &ranked)?;
        let documents: Vec<(DocumentId, Value)> = ranked
            .into_iter()
            .map(|id| (id, values.remove(&id).unwrap_or_default()))
            .collect();
        self.found.places = order.places(&documents).collect();
        Ok(())
    }
}

/// The values that decide the place of documents.
fn values(caller: &Caller, order: &Order, documents: &[DocumentId]) -> Result<Map<DocumentId, Value>> {
    let mut arguments = Vec::from(keys::document_arguments(documents));
    let column = match order.field() {
        Some(time) if time.ends_with("_at") => {
            format!("CASE WHEN isfinite(d.{time}) THEN to_jsonb(extract(epoch FROM d.{time})) END")
        }
        Some(field) => format!("to_jsonb(d.{field})"),
        None => {
            arguments.extend(spellings(&order.key).map(DatumWithOid::from));
            "coalesce(d.metadata -> $3::text, d.metadata -> $4::text)".to_owned()
        }
    };
    let found = statement::lookup(
        caller,
        &format!(
            "SELECT d.project_id, d.id, {column}
             FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)"
        ),
        &arguments,
        |row| {
            let value = row.optional(3)?.map(|StoredJson(value)| value);
            Ok((keys::document_id(row)?, value.unwrap_or_default()))
        },
    )?;
    Ok(found.into_iter().collect())
}
