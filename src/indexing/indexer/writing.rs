//! Writes a planned document with its chunks, names and vectors.

use std::collections::HashMap;

use docsearch_core::documents::keyword;
use docsearch_core::index::question::is_question;
use docsearch_core::index::statistics::{CountedChunk, Delta};
use docsearch_core::text::token;
use docsearch_core::values::id::{ChunkId, DocumentId, Map};
use pgrx::datum::DatumWithOid;
use serde_json::json;

use super::{DocumentPlan, Indexer, KnownDocument, Source};
use crate::indexing::embedding_queue;
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::postgres::tsvector::TsVectorBytes;
use crate::settings::IndexMode;
use crate::tables::schema::{self, Part};
use crate::tables::statistics::by_hand::CountedElsewhere;
use crate::tables::{names, postings, questions, rules};

/// The stored rows of a document that changes.
#[derive(Default)]
pub(crate) struct Stored {
    pub(crate) words: i64,
    pub(crate) chunks: Vec<CountedChunk>,
    /// Chunk numbers by hash, and hashes by chunk number.
    pub(super) by_hash: HashMap<String, i32>,
    by_number: HashMap<i32, String>,
}

/// The chunks of a document as columns.
#[derive(Default)]
struct ChunkRows<'a> {
    numbers: Vec<i32>,
    kinds: Vec<&'static str>,
    /// The heading paths of all chunks, one after the other, and the range of each, from 1.
    heading_paths: Vec<&'a str>,
    first_headings: Vec<i32>,
    last_headings: Vec<i32>,
    anchors: Vec<&'a str>,
    sections: Vec<Option<String>>,
    bodies: Vec<&'a str>,
    tokens: Vec<i32>,
    words: Vec<i32>,
    hashes: Vec<&'a str>,
    plain: Vec<&'a str>,
    /// The text that is indexed as headings.
    headings: Vec<String>,
}

impl<'a> ChunkRows<'a> {
    fn of(document: &'a DocumentPlan) -> Result<Self> {
        let mut rows = Self::default();
        let title = token::word_count(&document.input.title);
        for chunk in &document.chunks {
            let path = chunk.heading_path.iter().map(String::as_str);
            rows.first_headings
                .push(i32::try_from(rows.heading_paths.len() + 1).map_err(internal)?);
            rows.heading_paths.extend(path.clone());
            rows.last_headings
                .push(i32::try_from(rows.heading_paths.len()).map_err(internal)?);
            let also = chunk.also_under.iter().flatten().map(String::as_str);
            let headings = path.chain(also).collect::<Vec<&str>>().join("\n");
            let mut words = token::word_count(&chunk.plain);
            if !is_question(chunk.number) {
                words += token::word_count(&headings) + title;
            }
            rows.words.push(i32::try_from(words).map_err(internal)?);
            rows.headings.push(headings);
            rows.numbers.push(chunk.number);
            rows.kinds.push(chunk.kind);
            rows.anchors.push(&chunk.anchor);
            let sections = Some(&chunk.sections).filter(|sections| !sections.is_empty());
            rows.sections.push(sections.map(|sections| json!(sections).to_string()));
            rows.bodies.push(&chunk.body);
            rows.tokens.push(i32::try_from(chunk.token_count).map_err(internal)?);
            rows.hashes.push(&chunk.input_hash);
            rows.plain.push(&chunk.plain);
        }
        Ok(rows)
    }
}

impl Indexer<'_> {
    /// Writes a document and its derived rows; `vectors` are those of its new chunks. `None` if another transaction has
    /// written it since it was planned.
    pub(super) fn write(
        &self,
        caller: &mut Caller,
        document: &DocumentPlan,
        vectors: Vec<(i32, Vec<f32>)>,
    ) -> Result<Option<Delta>> {
        let _counted = CountedElsewhere::begin();
        let mut delta = Delta::default();
        let stored = match &document.known {
            Some(known)
                if !self.lock(caller, known)? || self.stored_questions(caller, known.id)? != known.questions =>
            {
                return Ok(None);
            }
            Some(known) => {
                let stored = self.stored(caller, self.document_id(known.id))?;
                delta.count(-1, stored.words, &stored.chunks);
                stored
            }
            None => match document.original {
                Some(original) => self.stored(caller, original)?,
                None => Stored::default(),
            },
        };
        let id = match (self.source, &document.known) {
            (Source::Caller | Source::Root(_) | Source::Copy(_), _) => self.write_document(caller, document)?,
            (Source::Table, Some(known)) => self.write_counts(caller, known.id, document)?,
            (Source::Table, None) => None,
        };
        let Some(id) = id else {
            return Ok(None);
        };
        let rules = rules::current(caller)?;
        let owner = &caller.as_owner()?;
        let moved = self.moved_vectors(owner, id, document, &stored)?;
        let chunks = self.write_chunks(owner, id, document)?;
        if let Some(questions) = &document.questions {
            questions::write(owner, self.chunk_id(id, 0).document, questions)?;
        }
        postings::add_pending(owner, self.project.id, vec![id])?;
        if self.mode == IndexMode::Deferred {
            self.defer(owner, id, document, &stored, &moved)?;
        }
        let vectors = moved.into_iter().chain(vectors);
        let vectors: Vec<_> = vectors
            .map(|(chunk_no, vector)| (self.chunk_id(id, chunk_no), vector))
            .collect();
        self.vectors.store(owner, self.project.id, &vectors)?;
        let rules = rules.of(self.project.id);
        names::write(
            owner,
            self.project.id,
            id,
            &document.input,
            document.known.is_some(),
            rules,
        )?;
        delta.count(1, document.words.into(), &chunks);
        Ok(Some(delta))
    }

    fn chunk_id(&self, document: i64, chunk: i32) -> ChunkId {
        ChunkId {
            document: self.document_id(document),
            chunk,
        }
    }

    pub(super) fn document_id(&self, document: i64) -> DocumentId {
        DocumentId {
            project: self.project.id,
            document,
        }
    }

    /// The document with a slug in the project that is copied.
    pub(super) fn original(&self, caller: &Caller, slug: &str) -> Result<Option<DocumentId>> {
        let Source::Copy(project) = self.source else {
            return Ok(None);
        };
        let document = statement::one(
            caller,
            "SELECT d.id FROM docsearch.document d WHERE d.project_id = $1 AND d.slug = $2",
            &[DatumWithOid::from(project), DatumWithOid::from(slug)],
            |row| row.required::<i64>(1),
        )?;
        Ok(document.map(|document| DocumentId { project, document }))
    }

    /// Locks a document; false if it has changed.
    fn lock(&self, caller: &Caller, known: &KnownDocument) -> Result<bool> {
        let hash = statement::change(
            caller,
            "SELECT d.content_hash FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2 FOR UPDATE",
            &[DatumWithOid::from(self.project.id), DatumWithOid::from(known.id)],
            |row| row.required::<String>(1),
        )?;
        Ok(hash.first() == Some(&known.content_hash))
    }

    /// Inserts or updates the row of the document as the caller, since row-level security applies to it.
    fn write_document(&self, caller: &Caller, document: &DocumentPlan) -> Result<Option<i64>> {
        let input = &document.input;
        let mut args = vec![
            DatumWithOid::from(self.project.id),
            DatumWithOid::from(input.slug.as_str()),
            DatumWithOid::from(input.title.as_str()),
            DatumWithOid::from(input.kind.as_deref()),
            DatumWithOid::from(input.category.as_deref()),
            DatumWithOid::from(input.version.as_deref()),
            DatumWithOid::from(document.summary.as_deref()),
            DatumWithOid::from(document.keywords.clone()),
            DatumWithOid::from(input.source_urls.clone()),
            DatumWithOid::from(input.source_path.as_deref()),
            DatumWithOid::from(input.source_root.as_deref()),
            DatumWithOid::from(input.metadata.clone().map(JsonB)),
            DatumWithOid::from(input.body.as_deref()),
            DatumWithOid::from(document.content_hash.as_str()),
            DatumWithOid::from(document.words),
            DatumWithOid::from(document.text_chunks),
            DatumWithOid::from(input.published_at.as_deref()),
        ];
        let is_outdated =
            !input.pages.is_empty() && !Part::Pages.exists() || !input.anchors.is_empty() && !Part::EntryShare.exists();
        if is_outdated {
            return Err(schema::outdated());
        }
        // Columns that tables of an older version lack.
        let later = [
            (
                Part::EntryShare,
                "entry_share",
                DatumWithOid::from(document.entry_share),
            ),
            (
                Part::EntryShare,
                "anchors",
                DatumWithOid::from(JsonB(json!(input.anchors))),
            ),
            (Part::Pages, "pages", DatumWithOid::from(JsonB(json!(input.pages)))),
            (
                Part::KeywordsChosen,
                "keywords_chosen",
                DatumWithOid::from(input.keywords.is_empty()),
            ),
        ];
        let (mut columns, mut values, mut set) = (String::new(), String::new(), String::new());
        for (_, column, value) in later.into_iter().filter(|(part, ..)| part.exists()) {
            args.push(value);
            let parameter = args.len();
            columns += &format!(", {column}");
            values += &format!(", ${parameter}");
            set += &format!(", {column} = ${parameter}");
        }
        let written = match &document.known {
            None => statement::change(
                caller,
                &format!("INSERT INTO docsearch.document
                     (project_id, slug, title, kind, category, version, summary, keywords, source_urls,
                      source_path, source_root, metadata, body, content_hash, term_count, chunk_count, published_at{columns})
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12, '{{}}'), $13, $14, $15, $16,
                         $17::timestamptz{values})
                 ON CONFLICT (project_id, slug) DO NOTHING RETURNING id"),
                &args,
                |row| row.required::<i64>(1),
            ),
            Some(known) => {
                args.push(DatumWithOid::from(known.id));
                let id = args.len();
                statement::change(
                    caller,
                    &format!("UPDATE docsearch.document d
                     SET slug = $2, title = $3, kind = $4, category = $5, version = $6, summary = $7,
                         keywords = $8, source_urls = $9, source_path = $10, source_root = $11,
                         metadata = coalesce($12, '{{}}'), body = $13, content_hash = $14, term_count = $15,
                         chunk_count = $16, published_at = $17::timestamptz{set}, updated_at = now()
                     WHERE d.project_id = $1 AND d.id = ${id} RETURNING d.id"),
                    &args,
                    |row| row.required::<i64>(1),
                )
            }
        }?;
        Ok(written.first().copied())
    }

    /// Writes the counts of a document whose row is otherwise unchanged.
    fn write_counts(&self, caller: &Caller, id: i64, document: &DocumentPlan) -> Result<Option<i64>> {
        let set = Part::EntryShare.or_else(", entry_share = $5", "");
        let written = statement::change(
            caller,
            &format!(
                "UPDATE docsearch.document d SET term_count = $3, chunk_count = $4{set}
             WHERE d.project_id = $1 AND d.id = $2 RETURNING d.id"
            ),
            &[
                DatumWithOid::from(self.project.id),
                DatumWithOid::from(id),
                DatumWithOid::from(document.words),
                DatumWithOid::from(document.text_chunks),
                DatumWithOid::from(document.entry_share),
            ],
            |row| row.required::<i64>(1),
        )?;
        Ok(written.first().copied())
    }

    /// Writes the chunks of a document in one statement; returns the words and the terms of each.
    fn write_chunks(&self, owner: &Owner<'_>, id: i64, document: &DocumentPlan) -> Result<Vec<CountedChunk>> {
        let rows = ChunkRows::of(document)?;
        if document.known.is_some() {
            statement::execute(
                owner,
                "DELETE FROM docsearch.chunk c WHERE c.project_id = $1 AND c.document_id = $2 AND c.chunk_no <> ALL ($3)",
                &[
                    DatumWithOid::from(self.project.id),
                    DatumWithOid::from(id),
                    DatumWithOid::from(rows.numbers.clone()),
                ],
            )?;
        }
        let (column, value, set) = match Part::ChunkSections.exists() {
            true => (", sections", ", c.sections::jsonb", ", sections = excluded.sections"),
            false => ("", "", ""),
        };
        let written = statement::change(
            owner,
            // The body comes first, so that positions count its own tokens.
            &format!(
                "WITH title AS MATERIALIZED (SELECT setweight(to_tsvector($4::regconfig, $5), 'A') AS terms)
             INSERT INTO docsearch.chunk
                 (project_id, document_id, chunk_no, kind, heading_path, anchor, body, token_count,
                  term_count, input_hash, document_term_count, terms{column})
             SELECT $1, $2, c.chunk_no, c.kind, ($6::text[])[c.first_heading:c.last_heading], c.anchor, c.body,
                    c.token_count, c.term_count, c.input_hash, $3,
                    CASE c.kind WHEN 'question' THEN setweight(to_tsvector($4::regconfig, c.plain), 'A')
                    ELSE to_tsvector($4::regconfig, c.plain)
                         || title.terms
                         || setweight(to_tsvector($4::regconfig, c.headings), 'B')
                         || setweight(to_tsvector($4::regconfig, CASE c.chunk_no WHEN 0 THEN $7 ELSE '' END), 'C')
                    END{value}
             FROM title, unnest($8::int[], $9::text[], $10::int[], $11::int[], $12::text[], $13::text[], $14::int[],
                                $15::int[], $16::text[], $17::text[], $18::text[], $19::text[])
                  AS c(chunk_no, kind, first_heading, last_heading, anchor, body, token_count,
                       term_count, input_hash, plain, headings, sections)
             ON CONFLICT (project_id, document_id, chunk_no) DO UPDATE
             SET kind = excluded.kind, heading_path = excluded.heading_path, anchor = excluded.anchor,
                 body = excluded.body, token_count = excluded.token_count, term_count = excluded.term_count,
                 document_term_count = excluded.document_term_count, input_hash = excluded.input_hash,
                 terms = excluded.terms{set}
             RETURNING chunk_no, term_count, terms"
            ),
            &[
                DatumWithOid::from(self.project.id),
                DatumWithOid::from(id),
                DatumWithOid::from(document.words),
                DatumWithOid::from(self.project.text_config.as_str()),
                DatumWithOid::from(document.input.title.as_str()),
                DatumWithOid::from(rows.heading_paths),
                // Keywords that indexing chose are words of the text already.
                DatumWithOid::from(keyword::given(
                    &document.input.keywords,
                    document.input.metadata.as_ref(),
                )),
                DatumWithOid::from(rows.numbers),
                DatumWithOid::from(rows.kinds),
                DatumWithOid::from(rows.first_headings),
                DatumWithOid::from(rows.last_headings),
                DatumWithOid::from(rows.anchors),
                DatumWithOid::from(rows.bodies),
                DatumWithOid::from(rows.tokens),
                DatumWithOid::from(rows.words),
                DatumWithOid::from(rows.hashes),
                DatumWithOid::from(rows.plain),
                DatumWithOid::from(rows.headings),
                DatumWithOid::from(rows.sections),
            ],
            |row| {
                let terms: TsVectorBytes = row.required(3)?;
                Ok(CountedChunk {
                    number: row.required(1)?,
                    words: row.required::<i32>(2)?.into(),
                    terms: terms.as_bytes().to_vec(),
                })
            },
        )?;
        Ok(written)
    }

    pub(super) fn stored(&self, caller: &mut Caller, id: DocumentId) -> Result<Stored> {
        let owner = &caller.as_owner()?;
        read_stored(owner, id)
    }

    /// Vectors of chunks with the same text under another number.
    fn moved_vectors(
        &self,
        owner: &Owner<'_>,
        id: i64,
        document: &DocumentPlan,
        stored: &Stored,
    ) -> Result<Vec<(i32, Vec<f32>)>> {
        let mut from_to = Vec::new();
        for planned in &document.chunks {
            let chunk_no = planned.number;
            let stays = document.original.is_none() && stored.by_number.get(&chunk_no) == Some(&planned.input_hash);
            let embedded = document.passages.iter().any(|&(number, _)| number == chunk_no);
            let Some(&from) = stored.by_hash.get(&planned.input_hash).filter(|_| !stays && !embedded) else {
                continue;
            };
            let from = ChunkId {
                document: document.original.unwrap_or_else(|| self.document_id(id)),
                chunk: from,
            };
            from_to.push((from, chunk_no));
        }
        let sources: Vec<ChunkId> = from_to.iter().map(|(from, _)| *from).collect();
        let vectors = if sources.is_empty() {
            Map::default()
        } else {
            self.vectors.vectors(owner, &sources)?
        };
        let moved = from_to.into_iter();
        Ok(moved
            .filter_map(|(from, chunk_no)| Some((chunk_no, vectors.get(&from)?.clone())))
            .collect())
    }

    /// Deletes vectors that do not belong to these chunks any more, and leaves the missing ones to the worker.
    fn defer(
        &self,
        owner: &Owner<'_>,
        id: i64,
        document: &DocumentPlan,
        stored: &Stored,
        moved: &[(i32, Vec<f32>)],
    ) -> Result<()> {
        let changed = document.chunks.iter().filter(|planned| {
            let stays = stored.by_number.get(&planned.number) == Some(&planned.input_hash);
            !stays && moved.iter().all(|(number, _)| *number != planned.number)
        });
        let without: Vec<i32> = changed.map(|planned| planned.number).collect();
        if without.is_empty() {
            return Ok(());
        }
        self.vectors.delete(owner, self.chunk_id(id, 0).document, without)?;
        embedding_queue::add(owner, self.project.id, id)
    }
}

row_type! {
    struct StoredChunk {
        number: i32 = "c.chunk_no",
        input_hash: String = "c.input_hash",
        words: i64 = "c.term_count::bigint",
        terms: TsVectorBytes = "c.terms",
    }
}

/// The stored rows of a document.
pub(crate) fn read_stored(owner: &Owner<'_>, id: DocumentId) -> Result<Stored> {
    let words = statement::one(
        owner,
        "SELECT d.term_count::bigint FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2",
        &[DatumWithOid::from(id.project), DatumWithOid::from(id.document)],
        |row| row.required::<i64>(1),
    )?;
    let mut stored = Stored {
        words: words.unwrap_or(0),
        ..Stored::default()
    };
    let chunks = statement::rows(
        owner,
        &format!(
            "SELECT {} FROM docsearch.chunk c WHERE c.project_id = $1 AND c.document_id = $2",
            StoredChunk::select_list()
        ),
        &[DatumWithOid::from(id.project), DatumWithOid::from(id.document)],
        |row| {
            let row = StoredChunk::read(row)?;
            let counted = CountedChunk {
                number: row.number,
                words: row.words,
                terms: row.terms.as_bytes().to_vec(),
            };
            Ok((row.input_hash, counted))
        },
    )?;
    for (hash, chunk) in chunks {
        stored.by_hash.insert(hash.clone(), chunk.number);
        stored.by_number.insert(chunk.number, hash);
        stored.chunks.push(chunk);
    }
    Ok(stored)
}
