//! What judgments mean: the documents and sections of their references, as `load_doc` reads them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use docsearch_core::answer::delivery::readings;
use docsearch_core::documents::outline::Outline;
use docsearch_core::evaluation::exchange::reference;
use docsearch_core::evaluation::judgment::{JudgedSection, Judgment, Target, distinct};
use docsearch_core::evaluation::section::anchor_of_chunk;
use docsearch_core::index::question;
use docsearch_core::values::id::DocumentId;
use pgrx::datum::DatumWithOid;

use crate::evaluation::judgments::JudgedQuery;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::{interrupt, statement};
use crate::tables::document::{ambiguous, bodies_and_anchors};
use crate::tables::keys;

/// Documents whose texts are read at once.
const BATCH_SIZE: usize = 32;

/// A document as a text names it.
struct NamedDocument {
    id: DocumentId,
    project: String,
    slug: String,
    /// Whether the text is its slug; else it is project and slug.
    is_slug: bool,
}

/// What a reference means.
struct Meaning {
    id: DocumentId,
    /// The document as results name it.
    document: String,
    section: Option<String>,
}

/// What satisfies the judgments of each query. `project` is the one that is searched; results of several are named with their
/// project.
pub(super) fn targets(caller: &mut Caller, project: Option<&str>, queries: &[JudgedQuery]) -> Result<Vec<Vec<Target>>> {
    let written = |judgment: &Judgment| reference(&judgment.slug, &judgment.anchor);
    let references: BTreeSet<String> = queries
        .iter()
        .flat_map(|query| query.judgments.iter().map(written))
        .collect();
    let meanings = meanings(caller, project, &references)?;
    let sections = sections(caller, &meanings)?;
    let target = |judgment: &Judgment| {
        let meaning = meanings.get(&written(judgment));
        let named = match meaning {
            Some(meaning) => meaning.section.clone(),
            None => Some(judgment.anchor.clone()).filter(|anchor| !anchor.is_empty()),
        };
        Target {
            document: meaning.map_or(&judgment.slug, |meaning| &meaning.document).clone(),
            section: named.map(|named| {
                let known = meaning.and_then(|meaning| sections.get(&(meaning.id, named.clone())));
                known.cloned().unwrap_or_else(|| of_its_own(&named))
            }),
            grade: judgment.grade,
        }
    };
    Ok(queries
        .iter()
        .map(|query| distinct(query.judgments.iter().map(target)))
        .collect())
}

/// A document as results of a search of `searched` are named, or of all projects.
pub(super) fn document(searched: Option<&str>, project: &str, slug: &str) -> String {
    match searched {
        Some(_) => slug.to_owned(),
        None => format!("{project}/{slug}"),
    }
}

/// What each reference means that means anything.
fn meanings(caller: &Caller, project: Option<&str>, references: &BTreeSet<String>) -> Result<HashMap<String, Meaning>> {
    let texts: BTreeSet<String> = references
        .iter()
        .flat_map(|reference| readings(reference))
        .map(|reading| reading.document.into_owned())
        .collect();
    let documents = documents(caller, project, texts.into_iter().collect())?;
    let mut meanings = HashMap::new();
    for reference in references {
        for reading in readings(reference) {
            let Some(named) = documents.get(reading.document.as_ref()) else {
                continue;
            };
            // No section has an empty name.
            if reading.section.as_deref() == Some("") {
                break;
            }
            // A slug comes before project and slug.
            let is_slug = named.iter().any(|document| document.is_slug);
            let meant: Vec<&NamedDocument> = named.iter().filter(|document| document.is_slug == is_slug).collect();
            let &[only] = meant.as_slice() else {
                let meant = meant.into_iter().map(|document| (&document.project, &document.slug));
                return Err(ambiguous(reference, meant));
            };
            let meaning = Meaning {
                id: only.id,
                document: document(project, &only.project, &only.slug),
                section: reading.section.map(Cow::into_owned),
            };
            meanings.insert(reference.clone(), meaning);
            break;
        }
    }
    Ok(meanings)
}

/// The visible documents that each text names.
fn documents(
    caller: &Caller,
    project: Option<&str>,
    texts: Vec<String>,
) -> Result<HashMap<String, Vec<NamedDocument>>> {
    // The name of a project has no slash.
    let found = statement::rows(
        caller,
        "SELECT d.project_id, d.id, w.text, p.name, d.slug, true
         FROM unnest($1::text[]) AS w(text)
              JOIN docsearch.project p ON $2::text IS NULL OR p.name = $2
              JOIN docsearch.document d ON d.project_id = p.id AND d.slug = w.text
         UNION ALL
         SELECT d.project_id, d.id, w.text, p.name, d.slug, false
         FROM unnest($1::text[]) AS w(text)
              JOIN docsearch.project p
                   ON p.name = pg_catalog.split_part(w.text, '/', 1) AND ($2::text IS NULL OR p.name = $2)
              JOIN docsearch.document d
                   ON d.project_id = p.id AND d.slug = pg_catalog.substr(w.text, pg_catalog.length(p.name) + 2)
         ORDER BY 4",
        &[DatumWithOid::from(texts), DatumWithOid::from(project)],
        |row| {
            let document = NamedDocument {
                id: keys::document_id(row)?,
                project: row.required(4)?,
                slug: row.required(5)?,
                is_slug: row.required(6)?,
            };
            Ok((row.required::<String>(3)?, document))
        },
    )?;
    let mut documents: HashMap<String, Vec<NamedDocument>> = HashMap::new();
    for (text, document) in found {
        documents.entry(text).or_default().push(document);
    }
    Ok(documents)
}

/// A section that is alone in its chunk, or that its document does not have.
fn of_its_own(anchor: &str) -> JudgedSection {
    JudgedSection {
        anchors: vec![anchor.to_owned()],
        chunk: anchor.to_owned(),
    }
}

/// The sections that documents have, by their names in references.
fn sections(
    caller: &mut Caller,
    meanings: &HashMap<String, Meaning>,
) -> Result<HashMap<(DocumentId, String), JudgedSection>> {
    let mut wanted: BTreeMap<DocumentId, BTreeSet<&str>> = BTreeMap::new();
    for meaning in meanings.values() {
        if let Some(section) = &meaning.section {
            wanted.entry(meaning.id).or_default().insert(section);
        }
    }
    let ids: Vec<DocumentId> = wanted.keys().copied().collect();
    let chunks = chunks(caller, &ids)?;
    let mut found = HashMap::new();
    // Most sections have a chunk of their own, so few texts are parsed.
    let mut parsed: Vec<DocumentId> = Vec::new();
    for (id, sections) in &wanted {
        let of_chunks = chunks.get(id).map_or(&[][..], |chunks| chunks.anchors.as_slice());
        for &section in sections {
            let is_plain = section == section.trim() && !section.is_empty() && !section.starts_with('#');
            if is_plain && of_chunks.iter().any(|anchor| anchor == section) {
                found.insert((*id, section.to_owned()), of_its_own(section));
            } else if parsed.last() != Some(id) {
                parsed.push(*id);
            }
        }
    }
    for batch in parsed.chunks(BATCH_SIZE) {
        interrupt::check();
        for (id, body, aliases) in bodies_and_anchors(caller, batch)? {
            let outline = Outline::new(&body);
            let of_chunks = chunks.get(&id).map_or(&[][..], |chunks| chunks.anchors.as_slice());
            let summary = chunks.get(&id).map_or("", |chunks| chunks.summary.as_str());
            for &section in wanted.get(&id).into_iter().flatten() {
                let alias = |fragment: &str| aliases.get(fragment).map(String::as_str);
                let Some(index) = outline.find_with(section, alias) else {
                    continue;
                };
                let target = JudgedSection {
                    anchors: vec![outline.sections()[index].anchor.clone()],
                    chunk: anchor_of_chunk(&outline, of_chunks, summary, index).to_owned(),
                };
                found.insert((id, section.to_owned()), target);
            }
        }
    }
    Ok(found)
}

/// The chunks of a document, without questions.
struct Chunks {
    /// Their anchors, in order.
    anchors: Vec<String>,
    /// The text of the first one.
    summary: String,
}

/// The chunks of visible documents.
fn chunks(caller: &mut Caller, ids: &[DocumentId]) -> Result<HashMap<DocumentId, Chunks>> {
    let owner = &caller.as_owner()?;
    let [projects, documents] = keys::document_arguments(ids);
    let found = statement::lookup(
        owner,
        "SELECT c.project_id, c.document_id, pg_catalog.array_agg(c.anchor ORDER BY c.chunk_no),
                coalesce(pg_catalog.min(c.body) FILTER (WHERE c.chunk_no = 0), '')
         FROM unnest($1::bigint[], $2::bigint[]) AS wanted(project_id, document_id)
              JOIN docsearch.chunk c USING (project_id, document_id)
         WHERE c.chunk_no < $3 GROUP BY c.project_id, c.document_id",
        &[projects, documents, DatumWithOid::from(question::FIRST)],
        |row| {
            let chunks = Chunks {
                anchors: row.required(3)?,
                summary: row.required(4)?,
            };
            Ok((keys::document_id(row)?, chunks))
        },
    )?;
    Ok(found.into_iter().collect())
}
