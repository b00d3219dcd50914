//! Pages that are pinned for a query.

use docsearch_core::query::input::Query;
use docsearch_core::query::pinned_query::normal_form;
use docsearch_core::ranking::page::Page;
use docsearch_core::ranking::pin::{PinSteps, PinnedPage, Pins};
use docsearch_core::values::id::{DocumentId, Map};
use pgrx::datum::DatumWithOid;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::search::conditions::{condition, conditions, superseded_by};
use crate::search::exclusion::{Excluded, exclude};
use crate::search::request::Request;
use crate::search::retrieval::Retrieval;
use crate::tables::pins::{self, PinRow};
use crate::tables::project::Projects;
use crate::tables::schema::Part;

/// The pins of the query and of the caller's further wordings, in this order, also for pages that policies hide.
pub(super) fn of_request(
    caller: &mut Caller,
    projects: &Projects,
    query: &Query,
    also: &[Query],
) -> Result<Vec<PinRow>> {
    let texts = std::iter::once(query).chain(also).map(|query| query.text.as_str());
    let keys: Vec<String> = texts.filter_map(normal_form).collect();
    if keys.is_empty() || projects.ids().is_empty() || !Part::Pins.exists() {
        return Ok(Vec::new());
    }
    let _settings = LocalSettings::by_index()?;
    let owner = &caller.as_owner()?;
    let mut rows = pins::of_queries(owner, projects, &keys)?;
    rows.sort_by_key(|row| keys.iter().position(|key| *key == row.key));
    Ok(rows)
}

row_type! {
    /// A page that is pinned.
    struct PinnedRow {
        project: i64 = "d.project_id",
        document: i64 = "d.id",
        slug: String = "d.slug",
        title: String = "d.title",
        category: Option<String> = "d.category",
        metadata: StoredJson = "d.metadata",
        text_digest: Option<i64> = Part::TextDigest.or_else("d.text_digest", "NULL::bigint"),
    }
}

/// Pages by project and slug.
type PagesBySlug = Map<(i64, String), (DocumentId, Option<i64>)>;

impl Retrieval<'_> {
    /// Puts the pinned pages of a search first, and removes those that are no results. The caller has to see them, and they have to match
    /// category, filter and excluded words. If the caller orders the results, no page is put first.
    pub(super) fn pin(&mut self, caller: &mut Caller, request: &Request<'_>, steps: PinSteps) -> Result<()> {
        if request.pins.is_empty() {
            return Ok(());
        }
        let pages = self.pinned_pages(caller, request)?;
        let listed = |slugs: fn(&PinRow) -> &Vec<String>| -> Vec<PinnedPage> {
            let slugs = request
                .pins
                .iter()
                .flat_map(|row| slugs(row).iter().map(move |slug| (row, slug)));
            let pages = slugs.filter_map(|(row, slug)| {
                let &(document, text_digest) = pages.get(&(row.project, slug.clone()))?;
                Some(PinnedPage {
                    document,
                    query: row.query.clone(),
                    text_digest,
                })
            });
            pages.collect()
        };
        let pins = Pins {
            first: match request.config.order {
                Some(_) => Vec::new(),
                None => listed(|row| &row.first),
            },
            never: listed(|row| &row.never),
        };
        self.found.pin(&pins, steps);
        Ok(())
    }

    fn pinned_pages(&self, caller: &mut Caller, request: &Request<'_>) -> Result<PagesBySlug> {
        let _settings = LocalSettings::by_index()?;
        let named = request.pins.iter().flat_map(|row| {
            let slugs = row.first.iter().chain(&row.never);
            slugs.map(move |slug| (row.project, slug.clone()))
        });
        let (projects, slugs): (Vec<i64>, Vec<String>) = named.unzip();
        let superseded = superseded_by(caller, &Projects::new(&request.projects), &request.filter)?;
        let of_projects = DatumWithOid::from(projects);
        let mut arguments = conditions(of_projects, request.category, &request.filter, superseded.as_deref());
        arguments.push(DatumWithOid::from(slugs));
        let rows = statement::lookup(
            caller,
            &format!(
                "SELECT {} FROM unnest($1::bigint[], $8::text[]) AS pinned(project_id, slug)
                      JOIN docsearch.document d USING (project_id, slug)
                 WHERE {}",
                PinnedRow::select_list(),
                condition(&request.filter)
            ),
            &arguments,
            PinnedRow::read,
        )?;
        let mut found = PagesBySlug::default();
        let mut pages: Map<DocumentId, Page> = Map::default();
        for row in rows {
            let id = DocumentId {
                project: row.project,
                document: row.document,
            };
            found.insert((row.project, row.slug.clone()), (id, row.text_digest));
            let page = Page {
                title: row.title,
                slug: row.slug,
                category: row.category,
                metadata: Some(row.metadata.0),
                ..Page::default()
            };
            pages.insert(id, page);
        }
        let own = self.groups.iter().flat_map(|group| group.excluded.clone());
        let excluded: Vec<Excluded> = own.chain(self.excluded_by_wordings()).collect();
        exclude(caller, &excluded, &mut pages)?;
        found.retain(|_, (id, _)| pages.contains_key(id));
        Ok(found)
    }
}
