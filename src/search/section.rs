//! The section of a document that a query asks for: the target of an address, or the definition of a name.

use docsearch_core::documents::chunk_section::{ChunkText, SectionEntry};
use docsearch_core::documents::definition::{anchor_names, defines, heading_defines};
use docsearch_core::documents::grouped_page::GroupedPage;
use docsearch_core::documents::outline::Outline;
use docsearch_core::index::question::FIRST;
use docsearch_core::query::understanding::NameRole;
use docsearch_core::ranking::fusion::{SectionPlace, TargetSection};
use docsearch_core::ranking::page::Page;
use docsearch_core::ranking::rank::ScoredDocument;
use docsearch_core::ranking::rerank::RankedDocument;
use docsearch_core::ranking::retrievers::RetrieverResults;
use docsearch_core::values::address::{Address, address_key};
use docsearch_core::values::id::{ChunkId, DocumentId, Map};
use pgrx::datum::DatumWithOid;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::search::group::Group;
use crate::tables::keys::{self, WANTED_CHUNKS};
use crate::tables::{chunk_sections, document};

/// The best documents whose sections are looked up, however many results are requested: readers look at few of them.
const MAX_DOCUMENTS: usize = 20;
/// Documents that are parsed for the target of a fragment, at most.
const MAX_OUTLINED: usize = 3;
/// Bytes of such a document, at most.
const MAX_OUTLINED_BYTES: i32 = 4 << 20;
/// Small sections of one chunk that are searched, at most.
const MAX_SECTIONS_OF_CHUNK: usize = 32;
/// Chunks whose text is read, at most.
const MAX_CHUNKS_READ: usize = 40;

/// A document that defines a name: the keys that the name may have, likeliest first, and the sections with the query's
/// words, best first.
struct DefiningDocument {
    document: DocumentId,
    title: String,
    keys: Vec<String>,
    sections: Vec<ChunkId>,
}

impl DefiningDocument {
    fn of(shown: &ScoredDocument, pages: &Map<DocumentId, Page>, keys: Vec<String>) -> Self {
        Self {
            document: shown.document,
            title: pages
                .get(&shown.document)
                .map(|page| page.title.clone())
                .unwrap_or_default(),
            keys,
            sections: shown.chunks.iter().map(|chunk| chunk.id).collect(),
        }
    }

    /// The index of the first matching key.
    fn first_key(&self, is: impl Fn(&str) -> bool) -> Option<usize> {
        self.keys.iter().position(|key| is(key))
    }
}

/// The sections that the query asks for, in the best documents.
pub(crate) fn target_sections(
    caller: &mut Caller,
    group: &Group<'_>,
    retrieved: &RetrieverResults,
    pages: &Map<DocumentId, Page>,
    shown: &[RankedDocument],
) -> Result<Map<DocumentId, TargetSection>> {
    let shown = || shown.iter().take(MAX_DOCUMENTS).map(|ranked| &ranked.document);
    let role = |id: &DocumentId| {
        retrieved
            .names
            .get(id)
            .map(|found| group.candidate_names[found.candidate].role)
    };
    let is_addressed = |id: &DocumentId| matches!(role(id), Some(NameRole::Address | NameRole::AddressPath));
    let mut documents: Vec<DocumentId> = shown().map(|shown| shown.document).filter(is_addressed).collect();
    let address = Address::read(&group.understanding.text);
    let anchor = address.and_then(|address| address.anchor);
    let target_pages = match address {
        Some(address) if !documents.is_empty() => sections_of_page(caller, address, &documents)?,
        _ => Map::default(),
    };
    documents.retain(|id| !target_pages.contains_key(id));
    let mut sections = match (documents.as_slice(), anchor) {
        ([], _) | (_, None) => Map::default(),
        (documents, Some(anchor)) => {
            let mut found = sections_with_anchor(caller, anchor, documents)?;
            let others = documents.iter().filter(|id| !found.contains_key(*id)).copied();
            let others: Vec<DocumentId> = others.take(MAX_OUTLINED).collect();
            for id in others {
                found.extend(section_of_fragment(caller, anchor, id)?.map(|section| (id, section)));
            }
            found
        }
    };
    sections.extend(target_pages);
    // Anchors are made of names: `json.loads`, `GUC-WORK-MEM`.
    let keys = anchor.map(anchor_names).unwrap_or_default();
    let anchored =
        shown().filter(|shown| documents.contains(&shown.document) && !sections.contains_key(&shown.document));
    let anchored = anchored.filter(|_| !keys.is_empty());
    let anchored: Vec<DefiningDocument> = anchored
        .map(|shown| DefiningDocument::of(shown, pages, keys.clone()))
        .collect();
    let defines = shown().filter(|shown| pages.get(&shown.document).is_some_and(|page| page.definition > 0.0));
    let defines = defines.filter_map(|shown| {
        let mut defined = retrieved
            .defining
            .iter()
            .filter(|(document, _)| *document == shown.document);
        let (_, name) = defined.next()?;
        Some(DefiningDocument::of(
            shown,
            pages,
            vec![group.candidate_names[*name].key.clone()],
        ))
    });
    // Options of the command that the page is about.
    let options = group.understanding.command_options();
    let commanded = shown().filter(|shown| !options.is_empty() && role(&shown.document) == Some(NameRole::Subject));
    let commanded = commanded.map(|shown| DefiningDocument::of(shown, pages, options.clone()));
    let defines: Vec<DefiningDocument> = defines.chain(anchored).chain(commanded).collect();
    for (document, found) in definitions(caller, &defines)? {
        sections.entry(document).or_insert(found.section);
    }
    Ok(sections)
}

/// The first section with an anchor, in any case, of each document.
fn sections_with_anchor(
    caller: &mut Caller,
    anchor: &str,
    documents: &[DocumentId],
) -> Result<Map<DocumentId, TargetSection>> {
    let owner = &caller.as_owner()?;
    let sections = chunk_sections::column();
    let found = statement::lookup(
        owner,
        &format!(
            "SELECT DISTINCT ON (c.project_id, c.document_id) c.project_id, c.document_id, c.chunk_no, s.section
             FROM unnest($1::bigint[], $2::bigint[]) AS wanted(project_id, document_id)
                  JOIN docsearch.chunk c USING (project_id, document_id)
                  CROSS JOIN LATERAL (
                      SELECT c.anchor, NULL::jsonb UNION ALL SELECT e ->> 'anchor', e FROM jsonb_array_elements({sections}) AS e
                  ) AS s(anchor, section)
             WHERE lower(s.anchor) = lower($3)
             ORDER BY c.project_id, c.document_id, s.anchor <> $3, c.chunk_no, s.section IS NOT NULL"
        ),
        &[
            DatumWithOid::from(documents.iter().map(|id| id.project).collect::<Vec<i64>>()),
            DatumWithOid::from(documents.iter().map(|id| id.document).collect::<Vec<i64>>()),
            DatumWithOid::from(anchor),
        ],
        |row| {
            let section: Option<StoredJson> = row.optional(4)?;
            let entry: Option<SectionEntry> =
                section.and_then(|StoredJson(section)| serde_json::from_value(section).ok());
            Ok((keys::chunk_id(row)?, entry))
        },
    )?;
    let target = |(id, entry): (ChunkId, Option<SectionEntry>)| TargetSection {
        chunk: id.chunk,
        place: entry.map_or(SectionPlace::Beginning, SectionPlace::Entry),
    };
    Ok(found
        .into_iter()
        .map(|found| (found.0.document, target(found)))
        .collect())
}

/// The sections that hold the grouped page with this address, or the target of the anchor in that page.
fn sections_of_page(
    caller: &mut Caller,
    address: Address<'_>,
    documents: &[DocumentId],
) -> Result<Map<DocumentId, TargetSection>> {
    let wanted = address_key(address.text);
    let is_meant = |page: &&GroupedPage| page.source_url.as_deref().is_some_and(|url| address_key(url) == wanted);
    let mut found = Map::default();
    for (id, pages) in document::grouped_pages(caller, documents)? {
        let Some(page) = pages.iter().find(is_meant) else {
            continue;
        };
        let below = address.anchor.map(|anchor| format!("{}.{anchor}", page.anchor));
        for anchor in below.iter().chain([&page.anchor]) {
            if !found.contains_key(&id) {
                found.extend(sections_with_anchor(caller, anchor, &[id])?);
            }
            if !found.contains_key(&id) {
                found.extend(section_of_fragment(caller, anchor, id)?.map(|section| (id, section)));
            }
        }
    }
    Ok(found)
}

/// The section that a fragment points to, if it is no anchor of a chunk.
fn section_of_fragment(caller: &mut Caller, fragment: &str, id: DocumentId) -> Result<Option<TargetSection>> {
    let Some((body, aliases)) = document::body_and_anchors(caller, id, MAX_OUTLINED_BYTES)? else {
        return Ok(None);
    };
    let outline = Outline::new(&body);
    let alias = |fragment: &str| aliases.get(fragment).map(String::as_str);
    let Some(index) = outline.find_with(fragment, alias) else {
        return Ok(None);
    };
    // A section without a chunk of its own is in that of one before it, or else in the first, which may hold all.
    let before = outline.sections()[..=index]
        .iter()
        .rev()
        .map(|section| section.anchor.clone());
    let anchors: Vec<String> = before.take(MAX_SECTIONS_OF_CHUNK).collect();
    let found = {
        let owner = &caller.as_owner()?;
        let sections = chunk_sections::column();
        statement::one(
            owner,
            &format!(
                "SELECT c.chunk_no FROM docsearch.chunk c
                      LEFT JOIN unnest($3::text[]) WITH ORDINALITY AS wanted(anchor, place)
                      ON wanted.anchor = c.anchor
                         OR EXISTS (SELECT FROM jsonb_array_elements({sections}) AS e WHERE e ->> 'anchor' = wanted.anchor)
                 WHERE c.project_id = $1 AND c.document_id = $2 AND (wanted.place IS NOT NULL OR c.chunk_no = 0)
                 ORDER BY wanted.place, c.chunk_no LIMIT 1"
            ),
            &[
                DatumWithOid::from(id.project),
                DatumWithOid::from(id.document),
                DatumWithOid::from(anchors),
            ],
            |row| row.required::<i32>(1),
        )?
    };
    let section = &outline.sections()[index];
    let entry = SectionEntry {
        path: section.heading_path.clone(),
        anchor: section.anchor.clone(),
    };
    Ok(found.map(|chunk| TargetSection {
        chunk,
        place: match entry.path.is_empty() {
            true => SectionPlace::Beginning,
            false => SectionPlace::Entry(entry),
        },
    }))
}

/// Where a document defines a name.
struct Definition {
    /// Index of the key.
    key: usize,
    section: TargetSection,
}

/// A chunk that may define a name.
struct NamedChunk {
    id: ChunkId,
    /// The section in which it starts.
    start: SectionEntry,
    sections: Vec<SectionEntry>,
    body: String,
}

impl NamedChunk {
    /// The section whose heading defines a name, or else the one with the words of the query.
    fn place(&self, key: &str, title: &str) -> SectionPlace {
        let text = ChunkText::of(&self.body, self.start.clone(), self.sections.clone());
        let defines = |entry: &SectionEntry| {
            let (Some(first), Some(heading)) = (entry.path.first(), entry.path.last()) else {
                return false;
            };
            heading_defines([title, first], heading, key)
        };
        let mut entries = text.sections.into_iter().map(|section| section.entry);
        entries.find(defines).map_or(SectionPlace::ByWords, SectionPlace::Entry)
    }
}

/// The sections that define the names, by their headings or else by a line of their text.
fn definitions(caller: &mut Caller, wanted: &[DefiningDocument]) -> Result<Map<DocumentId, Definition>> {
    let mut found: Map<DocumentId, Definition> = Map::default();
    if wanted.is_empty() {
        return Ok(found);
    }
    let owner = &caller.as_owner()?;
    let headings = statement::lookup(
        owner,
        "SELECT c.project_id, c.document_id, c.chunk_no, c.heading_path[cardinality(c.heading_path)], c.heading_path[1]
         FROM unnest($1::bigint[], $2::bigint[]) AS wanted(project_id, document_id)
              JOIN docsearch.chunk c USING (project_id, document_id)
         WHERE cardinality(c.heading_path) > 0 AND c.chunk_no < $3 ORDER BY c.chunk_no",
        &[
            DatumWithOid::from(wanted.iter().map(|of| of.document.project).collect::<Vec<i64>>()),
            DatumWithOid::from(wanted.iter().map(|of| of.document.document).collect::<Vec<i64>>()),
            DatumWithOid::from(FIRST),
        ],
        |row| {
            Ok((
                keys::chunk_id(row)?,
                row.required::<String>(4)?,
                row.required::<String>(5)?,
            ))
        },
    )?;
    for (id, heading, first) in headings {
        for of in wanted.iter().filter(|of| of.document == id.document) {
            let owners = [of.title.as_str(), &first];
            if let Some(key) = of.first_key(|key| heading_defines(owners, &heading, key)) {
                let section = TargetSection {
                    chunk: id.chunk,
                    place: SectionPlace::Beginning,
                };
                record(&mut found, of, key, section);
            }
        }
    }
    let unnamed = wanted.iter().filter(|of| !found.contains_key(&of.document));
    let read: Vec<ChunkId> = unnamed
        .flat_map(|of| of.sections.iter().copied())
        .take(MAX_CHUNKS_READ)
        .collect();
    let chunks = statement::lookup(
        owner,
        &format!(
            "SELECT c.project_id, c.document_id, c.chunk_no, c.body, c.anchor, c.heading_path, {}
             FROM {WANTED_CHUNKS} JOIN docsearch.chunk c USING (project_id, document_id, chunk_no)",
            chunk_sections::column()
        ),
        &keys::chunk_arguments(&read),
        |row| {
            Ok(NamedChunk {
                id: keys::chunk_id(row)?,
                body: row.required(4)?,
                start: SectionEntry {
                    anchor: row.required(5)?,
                    path: row.required(6)?,
                },
                sections: chunk_sections::read(row.required(7)?),
            })
        },
    )?;
    for chunk in chunks {
        for of in wanted.iter().filter(|of| of.document == chunk.id.document) {
            if let Some(key) = of.first_key(|key| defines(&chunk.body, key)) {
                let section = TargetSection {
                    chunk: chunk.id.chunk,
                    place: chunk.place(&of.keys[key], &of.title),
                };
                record(&mut found, of, key, section);
            }
        }
    }
    Ok(found)
}

/// Records where a document defines a name, unless a likelier name is recorded.
fn record(found: &mut Map<DocumentId, Definition>, of: &DefiningDocument, key: usize, section: TargetSection) {
    if found.get(&of.document).is_none_or(|known| key < known.key) {
        found.insert(of.document, Definition { key, section });
    }
}
