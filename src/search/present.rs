//! Reads what is shown of results: documents as the caller, sections as the owner.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use docsearch_core::answer::chunk_match::{MatchesAbove, best_section, section_snippet};
use docsearch_core::answer::delivery::{Confidence, Dedup, SearchResult, SectionMatch};
use docsearch_core::answer::hit::{Hit, SECTION_MATCHES};
use docsearch_core::answer::snippet::Match;
use docsearch_core::documents::chunk_section::{ChunkText, SectionEntry};
use docsearch_core::documents::document::LoadCost;
use docsearch_core::documents::grouped_page::{GroupedPage, url_at};
use docsearch_core::postgres::tsvector::{TsVector, Weight};
use docsearch_core::query::lookup::LookupTerm;
use docsearch_core::ranking::fusion::SectionPlace;
use docsearch_core::text::token_estimate::estimated_tokens;
use docsearch_core::values::id::{ChunkId, DocumentId};
use pgrx::datum::DatumWithOid;
use serde_json::Value;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::postgres::tsvector::TsVectorBytes;
use crate::search::config::SearchConfig;
use crate::search::duplicates::has_duplicates_column;
use crate::search::retrieval::{Detail, Retrieval};
use crate::tables::chunk_sections;
use crate::tables::document::{self, addressed_pages, pages_column};
use crate::tables::document_list::as_iso;
use crate::tables::keys::{self, WANTED_CHUNKS, WANTED_DOCUMENTS};
use crate::tables::project::{self, Project};
use crate::tables::schema::Part;

/// Bytes of documents that one search reads to count the tokens of loading them: 4 MB take some 80 ms.
const MAX_COUNTED_BYTES: usize = 4 << 20;
/// Documents that are read at once.
const BATCH_SIZE: usize = 32;

/// Reads what is shown of the chosen results, and which of them have duplicates in the searched projects.
pub(crate) fn present(
    caller: &mut Caller,
    projects: &[Project],
    retrieval: &Retrieval<'_>,
    chosen: Vec<Hit>,
    config: &SearchConfig,
    detail: Detail,
) -> Result<(Vec<SearchResult>, Vec<DocumentId>)> {
    let _settings = LocalSettings::by_index()?;
    let mut chunks: BTreeMap<i64, Vec<ChunkId>> = BTreeMap::new();
    let mut wordings: HashMap<DocumentId, usize> = HashMap::new();
    for result in &chosen {
        wordings.insert(result.chunk.document, result.wording);
        let wanted = chunks.entry(result.chunk.document.project).or_default();
        wanted.push(result.chunk);
        wanted.extend(result.question);
        let further = result.sections.iter().map(|(chunk, _)| *chunk);
        wanted.extend(further.filter(|chunk| *chunk != result.chunk));
    }
    let places: HashMap<ChunkId, SectionPlace> = chosen
        .iter()
        .map(|result| (result.chunk, result.place.clone()))
        .collect();
    let terms = |id: &ChunkId| {
        let wording = wordings.get(&id.document).copied().unwrap_or_default();
        let mut groups = retrieval.groups_of(wording).iter();
        let group = groups.find(|group| group.projects.contains(id.document.project));
        group.map_or(&[][..], |group| &group.terms)
    };
    let (mut documents, mut sections) = (HashMap::new(), HashMap::new());
    let folded: Vec<i64> = match config.dedup {
        Dedup::None => Vec::new(),
        Dedup::Document | Dedup::Similar => projects.iter().map(|project| project.id).collect(),
    };
    for project in projects {
        let Some(chunks) = chunks.get(&project.id) else {
            continue;
        };
        let visible_documents = document_views(caller, project, chunks, &folded)?;
        let visible = chunks
            .iter()
            .filter(|chunk| visible_documents.contains_key(&chunk.document));
        let wanted = |id: &ChunkId| WantedSection {
            title: visible_documents
                .get(&id.document)
                .map_or("", |document| &document.title),
            terms: terms(id),
            place: places.get(id).cloned().unwrap_or_default(),
        };
        sections.extend(section_views(caller, visible, wanted, config.snippet_length())?);
        documents.extend(visible_documents);
    }
    let results = chosen.into_iter().filter_map(|result| {
        let document = documents.get(&result.chunk.document)?;
        let mut section = sections.get(&result.chunk).cloned().unwrap_or_default();
        let question = result.question.and_then(|question| sections.get(&question));
        let is_named = matches!(result.place, SectionPlace::Entry(_));
        if let Some(question) = question.filter(|question| !is_named && !question.anchor.is_empty()) {
            // Of several small sections in the chunk, the one that answers the question.
            section.path.clone_from(&question.path);
            section.anchor.clone_from(&question.anchor);
        }
        let matches = result.sections.iter();
        let matches = matches.filter_map(|(chunk, score)| Some((sections.get(chunk)?, *score)));
        // Of several chunks of a section, the best one is shown.
        let mut anchors = BTreeSet::new();
        let matches = matches.filter(|(section, _)| anchors.insert(section.anchor.as_str()));
        let matches = matches.take(SECTION_MATCHES);
        Some(SearchResult {
            rank: 0,
            project: document.project.clone(),
            slug: document.slug.clone(),
            title: document.title.clone(),
            section: section.path,
            category: document.category.clone(),
            url: url_at(&document.pages, document.url.as_deref(), &section.anchor, true),
            score: result.score,
            similarity: result.similarity,
            keyword_score: result.keyword_score,
            confidence: match Confidence::of(result.score, result.lead, &config.thresholds) {
                Confidence::High if result.of_text.guessed => Confidence::Medium,
                confidence => confidence,
            },
            anchor: section.anchor,
            snippet: section.snippet,
            project_id: result.chunk.document.project,
            document_id: result.chunk.document.document,
            chunk_no: result.chunk.chunk,
            chunk_count: document.chunk_count,
            of_text: result.of_text,
            additional_chunk: result.additional,
            load_tokens: None,
            updated_at: Some(document.updated_at.clone()),
            duplicates: 0,
            also_at: Vec::new(),
            other_versions: Vec::new(),
            source_key: document.source_key.clone(),
            metadata: document.metadata.clone(),
            section_matches: matches.map(|(section, score)| section.as_match(score)).collect(),
            breakdown: result.steps,
        })
    });
    let mut results: Vec<SearchResult> = results.collect();
    let first = u32::try_from(config.offset).unwrap_or(u32::MAX).saturating_add(1);
    for (rank, result) in (first..).zip(&mut results) {
        result.rank = rank;
    }
    for place in unpublished(caller, &results)? {
        let result = &mut results[place];
        if let Some(document) = documents.get(&result.document()) {
            result.url = url_at(&document.pages, document.url.as_deref(), &result.anchor, false);
        }
    }
    if detail == Detail::Sections {
        let bytes: HashMap<DocumentId, usize> = documents.iter().map(|(id, document)| (*id, document.bytes)).collect();
        count_load_tokens(caller, &mut results, &bytes)?;
    }
    let with_duplicates = documents.iter().filter(|(_, document)| document.has_duplicates);
    let mut with_duplicates: Vec<DocumentId> = with_duplicates.map(|(id, _)| *id).collect();
    with_duplicates.sort_unstable();
    Ok((results, with_duplicates))
}

/// The places of results whose anchors their pages do not have, see [`is_published`].
///
/// [`is_published`]: docsearch_core::documents::grouped_page::is_published
fn unpublished(caller: &Caller, results: &[SearchResult]) -> Result<Vec<usize>> {
    let sections: Vec<(usize, &SearchResult)> = (0..)
        .zip(results)
        .filter(|(_, result)| result.url.is_some() && !result.anchor.is_empty())
        .collect();
    if sections.is_empty() || !Part::EntryShare.exists() {
        return Ok(Vec::new());
    }
    let documents: Vec<DocumentId> = sections.iter().map(|(_, result)| result.document()).collect();
    let anchors: Vec<&str> = sections.iter().map(|(_, result)| result.anchor.as_str()).collect();
    let [projects, ids] = keys::document_arguments(&documents);
    let places: Vec<i64> = statement::lookup(
        caller,
        "SELECT wanted.place
         FROM unnest($1::bigint[], $2::bigint[], $3::text[]) WITH ORDINALITY AS wanted(project_id, id, anchor, place)
              JOIN docsearch.document d USING (project_id, id)
         WHERE d.anchors ->> wanted.anchor <> wanted.anchor",
        &[projects, ids, DatumWithOid::from(anchors)],
        |row| row.required(1),
    )?;
    let found = places
        .into_iter()
        .filter_map(|place| usize::try_from(place).ok()?.checked_sub(1));
    Ok(found.filter_map(|place| Some(sections.get(place)?.0)).collect())
}

/// Counts the tokens of loading each result.
fn count_load_tokens(caller: &Caller, results: &mut [SearchResult], bytes: &HashMap<DocumentId, usize>) -> Result<()> {
    let mut bytes_left = MAX_COUNTED_BYTES;
    let mut readable = BTreeSet::new();
    let mut anchors: HashMap<DocumentId, BTreeMap<String, Option<u32>>> = HashMap::new();
    for result in results.iter() {
        let id = result.document();
        let bytes = bytes.get(&id).copied().unwrap_or_default();
        if !anchors.contains_key(&id) && bytes <= bytes_left {
            bytes_left -= bytes;
            readable.insert(id);
        }
        // If a page is too large to read, its size gives an estimate.
        let estimate = u32::try_from(estimated_tokens(bytes)).ok();
        let known = anchors.entry(id).or_default();
        known.insert(result.anchor.clone(), estimate.filter(|_| result.anchor.is_empty()));
    }
    let readable: Vec<DocumentId> = readable.into_iter().collect();
    for batch in readable.chunks(BATCH_SIZE) {
        for (id, document) in document::by_ids(caller, batch)? {
            let cost = LoadCost::new(&document);
            for (anchor, tokens) in anchors.get_mut(&id).into_iter().flatten() {
                *tokens = cost.tokens(anchor).and_then(|tokens| u32::try_from(tokens).ok());
            }
        }
    }
    for result in results {
        let known = anchors.get(&result.document());
        result.load_tokens = known.and_then(|known| known.get(&result.anchor).copied()).flatten();
    }
    Ok(())
}

struct DocumentView {
    project: String,
    slug: String,
    title: String,
    category: Option<String>,
    url: Option<String>,
    chunk_count: i32,
    bytes: usize,
    updated_at: String,
    source_key: Option<String>,
    metadata: Value,
    pages: Vec<GroupedPage>,
    has_duplicates: bool,
}

row_type! {
    struct ViewRow {
        document: i64 = "d.id",
        slug: String = "d.slug",
        title: String = "d.title",
        category: Option<String> = "d.category",
        url: Option<String> = "coalesce(d.source_urls[1], d.metadata ->> 'url')",
        chunk_count: i32 = "d.chunk_count",
        bytes: i32 = "octet_length(d.body)",
        updated_at: String = as_iso("d.updated_at"),
        source_key: Option<String> = "CASE WHEN starts_with(d.source_root, 'table:') THEN d.source_path END",
        metadata: StoredJson = "d.metadata",
        pages: StoredJson = pages_column(),
        has_duplicates: bool = has_duplicates_column(),
    }
}

/// The visible documents of the sections. `folded` are the projects in which duplicates of a document count.
fn document_views(
    caller: &Caller,
    project: &Project,
    chunks: &[ChunkId],
    folded: &[i64],
) -> Result<HashMap<DocumentId, DocumentView>> {
    let documents: BTreeSet<DocumentId> = chunks.iter().map(|chunk| chunk.document).collect();
    let [projects, ids] = keys::document_arguments(&documents);
    let rows = statement::lookup(
        caller,
        &format!(
            "SELECT {} FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)",
            ViewRow::select_list()
        ),
        &[projects, ids, DatumWithOid::from(folded.to_vec())],
        |row| {
            let row = ViewRow::read(row)?;
            let root_url = project.root_url.as_deref();
            let document = DocumentView {
                project: project.name.clone(),
                title: row.title,
                category: row.category,
                url: row.url.or_else(|| project::address(root_url, &row.slug)),
                chunk_count: row.chunk_count,
                bytes: usize::try_from(row.bytes).unwrap_or_default(),
                updated_at: row.updated_at,
                source_key: row.source_key,
                metadata: row.metadata.0,
                pages: addressed_pages(row.pages, root_url),
                slug: row.slug,
                has_duplicates: row.has_duplicates,
            };
            let id = DocumentId {
                project: project.id,
                document: row.document,
            };
            Ok((id, document))
        },
    )?;
    Ok(rows.into_iter().collect())
}

#[derive(Clone, Default)]
struct SectionView {
    path: String,
    anchor: String,
    snippet: String,
}

impl SectionView {
    fn as_match(&self, score: f32) -> SectionMatch {
        SectionMatch {
            id: self.anchor.clone(),
            title: self.path.clone(),
            snippet: self.snippet.clone(),
            score,
        }
    }
}

/// The section that is wanted of a chunk.
struct WantedSection<'a> {
    title: &'a str,
    /// The terms to highlight.
    terms: &'a [LookupTerm],
    place: SectionPlace,
}

impl WantedSection<'_> {
    /// Its heading path, anchor and snippet.
    fn of(self, row: SectionRow, length: usize) -> SectionView {
        let start = SectionEntry {
            path: row.path,
            anchor: row.anchor,
        };
        let text = ChunkText::of(&row.body, start, chunk_sections::read(row.sections));
        let vector = TsVector::new(row.terms.as_bytes());
        let found = |weight| {
            vector
                .map(|vector| matches(vector, self.terms, weight))
                .unwrap_or_default()
        };
        let in_text = found(Weight::D);
        let is_shared = text.sections.len() > 1;
        let index = match &self.place {
            SectionPlace::ByWords if is_shared => {
                let last = text.sections[0].entry.path.last().map(String::as_str);
                let above = MatchesAbove::of(self.title, &found(Weight::A), last, &found(Weight::B));
                best_section(&text, &in_text, &above)
            }
            SectionPlace::ByWords | SectionPlace::Beginning => 0,
            SectionPlace::Entry(entry) => {
                let mut sections = text.sections.iter();
                sections
                    .position(|section| section.entry.anchor == entry.anchor)
                    .unwrap_or_default()
            }
        };
        let snippet = section_snippet(&text, index, &in_text, length);
        let SectionEntry { path, anchor } = match self.place {
            SectionPlace::Entry(entry) => entry.without_title(self.title),
            SectionPlace::ByWords | SectionPlace::Beginning => text.sections[index].entry.clone(),
        };
        SectionView {
            path: path.join(" > "),
            anchor,
            snippet,
        }
    }
}

row_type! {
    struct SectionRow {
        project: i64 = "c.project_id",
        document: i64 = "c.document_id",
        chunk: i32 = "c.chunk_no",
        path: Vec<String> = "c.heading_path",
        anchor: String = "c.anchor",
        body: String = "c.body",
        terms: TsVectorBytes = "c.terms",
        sections: StoredJson = chunk_sections::column(),
    }
}

/// Heading path and snippet of sections of visible documents.
fn section_views<'a, 't>(
    caller: &mut Caller,
    chunks: impl Iterator<Item = &'a ChunkId>,
    wanted: impl Fn(&ChunkId) -> WantedSection<'t>,
    length: usize,
) -> Result<HashMap<ChunkId, SectionView>> {
    let owner = &caller.as_owner()?;
    let rows = statement::lookup(
        owner,
        &format!(
            "SELECT {} FROM {WANTED_CHUNKS} JOIN docsearch.chunk c USING (project_id, document_id, chunk_no)",
            SectionRow::select_list()
        ),
        &keys::chunk_arguments(chunks),
        |row| {
            let row = SectionRow::read(row)?;
            let id = ChunkId {
                document: DocumentId {
                    project: row.project,
                    document: row.document,
                },
                chunk: row.chunk,
            };
            Ok((id, wanted(&id).of(row, length)))
        },
    )?;
    Ok(rows.into_iter().collect())
}

/// The positions of the query's words in one part of a chunk.
fn matches(chunk: TsVector<'_>, terms: &[LookupTerm], part: Weight) -> Vec<Match> {
    let mut matches = Vec::new();
    for (term, wanted) in terms.iter().enumerate() {
        // Longer words are rarer, which is good enough to choose a window.
        let weight = wanted.weight * wanted.lexemes.first().map_or(0, String::len) as f32;
        for (lexeme, closeness) in wanted.looked_up() {
            let found = chunk.positions(lexeme).filter(|&(_, weight)| weight == part);
            matches.extend(found.map(|(position, _)| Match {
                position,
                term,
                weight: weight * closeness,
            }));
        }
    }
    matches
}
