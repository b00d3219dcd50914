//! The addresses of sections that are shown.

use std::collections::{BTreeSet, HashMap};

use docsearch_core::answer::delivery::SearchResult;
use docsearch_core::documents::grouped_page::{GroupedPage, url_at};
use docsearch_core::values::id::DocumentId;
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::tables::keys;
use crate::tables::schema::Part;

/// Where a document is published.
pub(crate) struct Publication<'a> {
    pub(crate) url: Option<&'a str>,
    /// The pages that it groups, if any.
    pub(crate) pages: &'a [GroupedPage],
}

impl Publication<'_> {
    fn has_address(&self) -> bool {
        self.url.is_some() || !self.pages.is_empty()
    }
}

/// Sets the addresses of results, and of their further sections.
pub(crate) fn set<'a>(
    caller: &Caller,
    results: &mut [SearchResult],
    publication: impl Fn(DocumentId) -> Option<Publication<'a>>,
) -> Result<()> {
    let has_address = |id| publication(id).is_some_and(|publication| publication.has_address());
    let unpublished = unpublished(caller, results, has_address)?;
    for result in results {
        let document = result.document();
        let Some(publication) = publication(document) else {
            continue;
        };
        let unpublished = unpublished.get(&document);
        let is_published = |anchor: &str| !unpublished.is_some_and(|anchors| anchors.contains(anchor));
        let url = |anchor: &str| url_at(publication.pages, publication.url, anchor, is_published(anchor));
        result.url = url(&result.anchor);
        for section in &mut result.section_matches {
            section.url = url(&section.id);
        }
    }
    Ok(())
}

/// The anchors of sections that the pages of their documents do not have, see [`is_published`].
///
/// [`is_published`]: docsearch_core::documents::grouped_page::is_published
fn unpublished(
    caller: &Caller,
    results: &[SearchResult],
    has_address: impl Fn(DocumentId) -> bool,
) -> Result<HashMap<DocumentId, BTreeSet<String>>> {
    let mut wanted: HashMap<DocumentId, BTreeSet<&str>> = HashMap::new();
    for result in results.iter().filter(|result| has_address(result.document())) {
        let further = result.section_matches.iter().map(|section| section.id.as_str());
        let anchors = further
            .chain([result.anchor.as_str()])
            .filter(|anchor| !anchor.is_empty());
        wanted.entry(result.document()).or_default().extend(anchors);
    }
    wanted.retain(|_, anchors| !anchors.is_empty());
    if wanted.is_empty() || !Part::EntryShare.exists() {
        return Ok(HashMap::new());
    }
    let documents: Vec<DocumentId> = wanted.keys().copied().collect();
    let (places, anchors): (Vec<i64>, Vec<&str>) = (1..)
        .zip(&documents)
        .flat_map(|(place, document)| wanted[document].iter().map(move |anchor| (place, *anchor)))
        .unzip();
    let [projects, ids] = keys::document_arguments(&documents);
    let found: Vec<(DocumentId, String)> = statement::lookup(
        caller,
        "SELECT d.project_id, d.id, wanted.anchor
         FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS shown(project_id, id, place)
              JOIN docsearch.document d USING (project_id, id)
              JOIN unnest($3::bigint[], $4::text[]) AS wanted(place, anchor) USING (place)
         WHERE d.anchors ->> wanted.anchor <> wanted.anchor",
        &[projects, ids, DatumWithOid::from(places), DatumWithOid::from(anchors)],
        |row| {
            let document = DocumentId {
                project: row.required(1)?,
                document: row.required(2)?,
            };
            Ok((document, row.required(3)?))
        },
    )?;
    let mut unpublished: HashMap<DocumentId, BTreeSet<String>> = HashMap::new();
    for (document, anchor) in found {
        unpublished.entry(document).or_default().insert(anchor);
    }
    Ok(unpublished)
}
