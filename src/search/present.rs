//! Reads what is shown of results: documents as the caller, sections as the owner.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use docsearch_core::answer::chunk_match::{MatchesAbove, best_section, section_snippet};
use docsearch_core::answer::delivery::{Confidence, Dedup, SearchResult, SectionMatch};
use docsearch_core::answer::highlight::{Highlights, Mark, QueryWords, SectionHighlights, html};
use docsearch_core::answer::hit::{Hit, SECTION_MATCHES};
use docsearch_core::answer::snippet::{Match, Snippet, TextMatches};
use docsearch_core::documents::chunk_section::{ChunkText, SectionEntry};
use docsearch_core::documents::document::LoadCost;
use docsearch_core::documents::grouped_page::GroupedPage;
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
use crate::search::marks;
use crate::search::retrieval::{Detail, Retrieval};
use crate::search::section_urls::{self, Publication};
use crate::tables::chunk_sections;
use crate::tables::document::{self, addressed_pages, pages_column};
use crate::tables::document_list::as_iso;
use crate::tables::keys::{self, WANTED_CHUNKS, WANTED_DOCUMENTS};
use crate::tables::project::{self, Project};
use crate::tables::terms;

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
        let mut visible_documents = document_views(caller, project, chunks, &folded)?;
        let visible = chunks
            .iter()
            .filter(|chunk| visible_documents.contains_key(&chunk.document));
        let mut words = marks::query_words(retrieval, project);
        let wanted = |id: &ChunkId| WantedSection {
            title: visible_documents
                .get(&id.document)
                .map_or("", |document| &document.title),
            terms: terms(id),
            words: &words,
            place: places.get(id).cloned().unwrap_or_default(),
        };
        let mut own_sections = section_views(caller, visible, wanted, config.snippet_length())?;
        let titles = visible_documents.values().map(|document| document.title.as_str());
        let paths = own_sections.values().map(|section| section.path.as_str());
        // Another parser counts other positions.
        let by_words = !terms::has_code_parser(caller, &project.text_config)?;
        let snippets = own_sections.values().filter(|_| by_words);
        let snippets = snippets.map(|section| section.snippet.text.as_str());
        marks::add_shown(caller, &mut words, project, titles.chain(paths).chain(snippets))?;
        for document in visible_documents.values_mut() {
            document.title_marks = words.marks(&document.title);
        }
        for section in own_sections.values_mut() {
            section.path_marks = words.marks(&section.path);
            if by_words {
                section.snippet.marks = words.marks(&section.snippet.text);
            }
        }
        sections.extend(own_sections);
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
            section.path_marks.clone_from(&question.path_marks);
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
            version: document.version.clone(),
            url: None,
            score: result.score,
            similarity: result.similarity,
            keyword_score: result.keyword_score,
            confidence: match Confidence::of(result.score, result.lead, &config.thresholds) {
                Confidence::High if result.of_text.guessed => Confidence::Medium,
                confidence => confidence,
            },
            anchor: section.anchor,
            snippet_html: Some(html(&section.snippet.text, &section.snippet.marks)),
            highlights: Some(Highlights {
                snippet: section.snippet.marks,
                title: document.title_marks.clone(),
                section: section.path_marks,
            }),
            snippet: section.snippet.text,
            project_id: result.chunk.document.project,
            document_id: result.chunk.document.document,
            chunk_no: result.chunk.chunk,
            chunk_count: document.chunk_count,
            of_text: result.of_text,
            additional_chunk: result.additional,
            section_tokens: None,
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
    section_urls::set(caller, &mut results, |id| {
        documents.get(&id).map(DocumentView::publication)
    })?;
    if config.counts_tokens(detail == Detail::Sections) {
        let bytes: HashMap<DocumentId, usize> = documents.iter().map(|(id, document)| (*id, document.bytes)).collect();
        count_section_tokens(caller, &mut results, &bytes)?;
    }
    let with_duplicates = documents.iter().filter(|(_, document)| document.has_duplicates);
    let mut with_duplicates: Vec<DocumentId> = with_duplicates.map(|(id, _)| *id).collect();
    with_duplicates.sort_unstable();
    Ok((results, with_duplicates))
}

/// Counts the tokens of loading each result.
fn count_section_tokens(
    caller: &Caller,
    results: &mut [SearchResult],
    bytes: &HashMap<DocumentId, usize>,
) -> Result<()> {
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
        result.section_tokens = known.and_then(|known| known.get(&result.anchor).copied()).flatten();
    }
    Ok(())
}

struct DocumentView {
    project: String,
    slug: String,
    title: String,
    title_marks: Vec<Mark>,
    category: Option<String>,
    version: Option<String>,
    url: Option<String>,
    chunk_count: i32,
    bytes: usize,
    updated_at: String,
    source_key: Option<String>,
    metadata: Value,
    pages: Vec<GroupedPage>,
    has_duplicates: bool,
}

impl DocumentView {
    fn publication(&self) -> Publication<'_> {
        Publication {
            url: self.url.as_deref(),
            pages: &self.pages,
        }
    }
}

row_type! {
    struct ViewRow {
        document: i64 = "d.id",
        slug: String = "d.slug",
        title: String = "d.title",
        category: Option<String> = "d.category",
        version: Option<String> = "d.version",
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
                title_marks: Vec::new(),
                category: row.category,
                version: row.version,
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
    path_marks: Vec<Mark>,
    anchor: String,
    snippet: Snippet,
}

impl SectionView {
    fn as_match(&self, score: f32) -> SectionMatch {
        SectionMatch {
            id: self.anchor.clone(),
            title: self.path.clone(),
            url: None,
            snippet: self.snippet.text.clone(),
            highlights: SectionHighlights {
                snippet: self.snippet.marks.clone(),
                title: self.path_marks.clone(),
            },
            score,
        }
    }
}

/// The section that is wanted of a chunk.
struct WantedSection<'a> {
    title: &'a str,
    /// The terms of the wording that found it.
    terms: &'a [LookupTerm],
    /// The words to mark.
    words: &'a QueryWords<'a>,
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
        let marked = vector.map(|vector| marked(vector, self.words)).unwrap_or_default();
        let in_text = TextMatches::of(&text.plain, &found(Weight::D), &marked);
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
            path_marks: Vec::new(),
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

/// The positions of words to mark in the text of a chunk, with whether each is significant.
fn marked(chunk: TsVector<'_>, words: &QueryWords<'_>) -> Vec<(u16, bool)> {
    let of_lexeme = |(lexeme, is_significant)| {
        let found = chunk.positions(lexeme).filter(|&(_, weight)| weight == Weight::D);
        found.map(move |(position, _)| (position, is_significant))
    };
    words.lexemes().flat_map(of_lexeme).collect()
}
