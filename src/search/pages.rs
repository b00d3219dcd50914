//! Reads the pages of candidates: what rules and excluded words need.

use docsearch_core::documents::page_keys::PageKeys;
use docsearch_core::ranking::page::{DESCRIPTION_BYTES, Page};
use docsearch_core::ranking::score::Needs;
use docsearch_core::values::calendar::Day;
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::search::basis::{GroupQuery, Search};
use crate::search::conditions::condition;
use crate::search::newest::{AGE, DAY};
use crate::tables::document;
use crate::tables::schema::Part;

impl Search<'_> {
    /// The pages of visible documents that match the filter.
    pub(super) fn pages(
        &self,
        caller: &Caller,
        query: &GroupQuery<'_>,
        documents: &Set<DocumentId>,
        needs: Needs,
    ) -> Result<Map<DocumentId, Page>> {
        let superseded = query.basis.superseded.as_deref();
        let (projects, documents): (Vec<i64>, Vec<i64>) = documents.iter().map(|id| (id.project, id.document)).unzip();
        let mut args = self.conditions(DatumWithOid::from(projects), superseded);
        args.push(DatumWithOid::from(documents));
        args.push(DatumWithOid::from(
            needs.description.then_some(DESCRIPTION_BYTES as i32),
        ));
        args.push(DatumWithOid::from(needs.metadata));
        args.push(DatumWithOid::from(needs.age));
        // Conditions on NULL parameters took 0.125 ms for 200 documents.
        let is_filtered = self.category.is_some() || !self.filter.is_empty() || superseded.is_some();
        let conditions = if is_filtered { condition(self.filter) } else { "true" };
        statement::lookup(
            caller,
            &format!(
                "SELECT {}
                 FROM unnest($1::bigint[], $8::bigint[]) AS found(project_id, id)
                      JOIN docsearch.document d USING (project_id, id)
                 WHERE {conditions}",
                PageRow::select_list()
            ),
            &args,
            |row| {
                let row = PageRow::read(row)?;
                let page = Page {
                    project: query.group.name_of(row.project),
                    title: row.title,
                    slug: row.slug,
                    category: row.category,
                    description: row.description.unwrap_or_default(),
                    metadata: row.metadata.map(|metadata| metadata.0),
                    age_days: row.age_days,
                    day: row.day.map(Day),
                    version: row.version,
                    kind: row.kind,
                    entry_share: row.entry_share,
                    text_digest: row.text_digest,
                    boost: row.boost,
                    keys: row.keys.and_then(PageKeys::read),
                    ..Page::default()
                };
                let id = DocumentId {
                    project: row.project,
                    document: row.document,
                };
                Ok((id, page))
            },
        )
        .map(|pages| pages.into_iter().collect())
    }
}

row_type! {
    /// The columns of a page that rules use, as [`Search::pages`] selects them.
    struct PageRow {
        project: i64 = "d.project_id",
        document: i64 = "d.id",
        title: String = "d.title",
        slug: String = "d.slug",
        category: Option<String> = "d.category",
        description: Option<String> = "left(d.summary, $9)",
        metadata: Option<StoredJson> = "CASE WHEN $10 THEN d.metadata END",
        age_days: Option<f32> = format!("CASE WHEN $11 THEN {AGE} END"),
        day: Option<i32> = format!("CASE WHEN $11 THEN {DAY} END"),
        version: Option<String> = "d.version",
        kind: Option<String> = "d.kind",
        entry_share: f32 = Part::EntryShare.or_else("d.entry_share", "0::real"),
        text_digest: Option<i64> = Part::TextDigest.or_else("d.text_digest", "NULL::bigint"),
        boost: Option<f32> = Part::PageBoost.or_else("d.boost", "NULL::real"),
        keys: Option<Vec<u8>> = document::page_keys_column(),
    }
}
