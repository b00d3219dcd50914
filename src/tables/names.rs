//! Names of pages: writes them, and is the name retriever, which finds pages by a name of the query or one near to it.

mod near;
mod within;

use std::collections::BTreeSet;

use docsearch_core::documents::definition::{Definition, MAX_DEFINING_DOCUMENTS, definitions};
use docsearch_core::query::rule::Rules;
use docsearch_core::query::understanding::{CandidateName, NameRole};
use docsearch_core::ranking::retrievers::NameMatch;
use docsearch_core::text::name::{self, Name, NameKind};
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::{Result, internal};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement::{self, Row};
use crate::tables::document_input::DocumentInput;
use crate::tables::keys;
use crate::tables::project::Projects;
use crate::tables::schema::Part;
use crate::tables::visibility::Visibility;
pub(crate) use near::near;

/// Most documents that names retrieve: a name of many pages distinguishes none of them.
const MAX_NAMED_DOCUMENTS: usize = 200;
/// Documents with a definition of a name that one statement reads for each name, where their visibility is checked
/// afterwards.
const DEFINING_TOGETHER: usize = 50;

/// The documents that have or define a name of the query.
pub(crate) struct NameMatches {
    /// Documents that have one of the names.
    pub(crate) matches: Map<DocumentId, NameMatch>,
    /// Documents with a section that defines one of the names, and the index of the name in the query's. A name that
    /// more than [`MAX_DEFINING_DOCUMENTS`] visible documents of a project define has none.
    pub(crate) defining: Vec<(DocumentId, usize)>,
    /// The visible documents with one of the given titles; `None` if there may be others.
    pub(crate) titled: Option<Set<DocumentId>>,
}

/// A document, and the key and kind of a name that it has.
type NamedDocument = (DocumentId, String, String);
/// Documents of a project that define the name at an index.
type Defining = (Vec<DocumentId>, usize);

/// A row of [`matches_sql`].
enum Match {
    Named(NamedDocument),
    Defining(Defining),
}

row_type! {
    /// A document with a name, or the documents that define the candidate name at an index.
    struct MatchRow {
        project: i64 = "m.project_id",
        document: Option<i64> = "m.document_id",
        key: Option<String> = "m.key",
        kind: Option<String> = "m.kind",
        defining: Option<Vec<i64>> = "m.defining",
        candidate: Option<i32> = "m.candidate",
    }
}

/// A statement for [`Match::read`], made of [`named_documents_sql`], [`within::sql`] or [`defining_sql`].
fn matches_sql(sql: &str) -> String {
    format!(
        "SELECT {} FROM ({sql}) AS m(project_id, document_id, key, kind, defining, candidate)",
        MatchRow::select_list()
    )
}

impl Match {
    fn read(row: &Row) -> Result<Self> {
        let row = MatchRow::read(row)?;
        let project = row.project;
        let of_project = |document| DocumentId { project, document };
        match (row.document, row.key, row.kind, row.defining, row.candidate) {
            (Some(document), Some(key), Some(kind), None, None) => Ok(Self::Named((of_project(document), key, kind))),
            (None, None, None, Some(documents), Some(candidate)) => {
                let index = usize::try_from(candidate).unwrap_or_default();
                Ok(Self::Defining((documents.into_iter().map(of_project).collect(), index)))
            }
            _ => Err(internal("a row of names is neither a name nor a definition")),
        }
    }

    fn named(self) -> Option<NamedDocument> {
        match self {
            Self::Named(document) => Some(document),
            Self::Defining(_) => None,
        }
    }
}

/// Finds the documents that have or define one of the names; `titles` are keys of further titles to look for.
pub(crate) fn find(
    caller: &mut Caller,
    projects: &Projects,
    candidates: &[CandidateName],
    titles: &[String],
    visibility: &Visibility,
) -> Result<NameMatches> {
    let mut keys = keys_of(candidates);
    keys.extend(titles.iter().cloned());
    let within_keys: Vec<String> = within::keys(candidates)
        .into_iter()
        .filter(|key| !keys.contains(key))
        .collect();
    let (mut named, mut defining, mut within) = (Vec::new(), Vec::new(), Vec::new());
    if visibility.check().is_none() && Part::Definitions.exists() {
        // One statement is enough where visibility is known before.
        let mut args = named_documents_arguments(projects, &keys, MAX_NAMED_DOCUMENTS as i64);
        let named_sql = named_documents_sql(projects, visibility, &mut args);
        let defining_sql = defining_sql(projects, candidates, visibility, MAX_DEFINING_DOCUMENTS, &mut args);
        let within_sql = within::sql(projects, &within_keys, visibility, within::MAX_ROWS, &mut args);
        let owner = &caller.as_owner()?;
        let sql = matches_sql(&format!(
            "({named_sql}) UNION ALL {defining_sql} UNION ALL {within_sql}"
        ));
        for row in statement::lookup(owner, &sql, &args, Match::read)? {
            match row {
                Match::Named(document) if within_keys.contains(&document.1) => within.push(document),
                Match::Named(document) => named.push(document),
                Match::Defining(documents) => defining.push(documents),
            }
        }
    } else {
        named = named_documents(caller, projects, &keys, visibility)?;
        defining = defining_documents(caller, projects, candidates, visibility)?;
        within = within::named_documents(caller, projects, &within_keys, visibility)?;
    }
    let is_complete = named.len() < MAX_NAMED_DOCUMENTS;
    let own = keys_of(candidates);
    if !is_complete && own.len() < keys.len() {
        named = named_documents(caller, projects, &own, visibility)?;
    }
    let titled = named
        .iter()
        .filter(|(_, key, kind)| titles.contains(key) && NameKind::parse(kind) == Some(NameKind::Title));
    Ok(NameMatches {
        titled: is_complete.then(|| titled.map(|(document, ..)| *document).collect()),
        matches: best_matches(named.into_iter().chain(within::few(within)), candidates),
        defining: few_defining(caller, defining, candidates, visibility)?,
    })
}

/// Documents that have one of the names.
pub(crate) fn matches(
    caller: &mut Caller,
    projects: &Projects,
    candidates: &[CandidateName],
    visibility: &Visibility,
) -> Result<Map<DocumentId, NameMatch>> {
    Ok(best_matches(
        named_documents(caller, projects, &keys_of(candidates), visibility)?,
        candidates,
    ))
}

/// The keys of the query's names, without those that may only be names within it.
fn keys_of(candidates: &[CandidateName]) -> BTreeSet<String> {
    let own = candidates.iter().filter(|candidate| candidate.role != NameRole::Within);
    own.map(|candidate| candidate.key.clone()).collect()
}

/// The named documents of a statement like [`named_documents_sql`].
fn read_named(owner: &Owner<'_>, sql: &str, args: &[DatumWithOid<'_>]) -> Result<Vec<NamedDocument>> {
    let rows = statement::lookup(owner, &matches_sql(sql), args, Match::read)?;
    Ok(rows.into_iter().filter_map(Match::named).collect())
}

/// The documents that have a name with one of the keys.
fn named_documents(
    caller: &mut Caller,
    projects: &Projects,
    keys: &BTreeSet<String>,
    visibility: &Visibility,
) -> Result<Vec<NamedDocument>> {
    let read = |owner: &Owner<'_>, limit: i64| {
        let mut args = named_documents_arguments(projects, keys, limit);
        let sql = named_documents_sql(projects, visibility, &mut args);
        read_named(owner, &sql, &args)
    };
    visibility.first(caller, MAX_NAMED_DOCUMENTS, read, |(document, ..)| *document)
}

fn named_documents_arguments(projects: &Projects, keys: &BTreeSet<String>, limit: i64) -> Vec<DatumWithOid<'static>> {
    vec![
        projects.argument(),
        DatumWithOid::from(Vec::from_iter(keys.iter().cloned())),
        DatumWithOid::from(limit),
    ]
}

fn named_documents_sql(projects: &Projects, visibility: &Visibility, args: &mut Vec<DatumWithOid<'_>>) -> String {
    let condition = visibility.condition("n.document_id", args);
    format!(
        "SELECT n.project_id, n.document_id, n.key, n.kind, NULL::bigint[], NULL::int
         FROM unnest($2::text[]) AS wanted(key),
              LATERAL (SELECT n.project_id, n.document_id, n.key, n.kind FROM docsearch.document_name n
                       WHERE {} AND n.key = wanted.key COLLATE \"C\" {condition} OFFSET 0) n
         LIMIT $3",
        projects.condition("n")
    )
}

fn best_matches(
    names: impl IntoIterator<Item = NamedDocument>,
    candidates: &[CandidateName],
) -> Map<DocumentId, NameMatch> {
    let mut found: Map<DocumentId, NameMatch> = Map::default();
    for (document, key, kind) in names {
        let of_project =
            |candidate: &&CandidateName| candidate.project.is_none_or(|project| project == document.project);
        let index = candidates
            .iter()
            .position(|candidate| candidate.key == key && of_project(&candidate));
        let (Some(kind), Some(index)) = (NameKind::parse(&kind), index) else {
            continue;
        };
        // Candidates are in descending order of evidence.
        let this = NameMatch { kind, candidate: index };
        match found.get(&document) {
            Some(known) if (known.candidate, known.kind) <= (index, kind) => {}
            _ => {
                found.insert(document, this);
            }
        }
    }
    found
}

/// Documents that define the names: of each name, one more at most than [`read_together`], to know that there are more.
fn defining_documents(
    caller: &mut Caller,
    projects: &Projects,
    candidates: &[CandidateName],
    visibility: &Visibility,
) -> Result<Vec<Defining>> {
    if !Part::Definitions.exists() {
        return Ok(Vec::new());
    }
    let mut args = Vec::new();
    let sql = defining_sql(projects, candidates, visibility, read_together(visibility), &mut args);
    let owner = &caller.as_owner()?;
    let rows = statement::lookup(owner, &matches_sql(&sql), &args, Match::read)?.into_iter();
    let defining = rows.filter_map(|row| match row {
        Match::Defining(documents) => Some(documents),
        Match::Named(_) => None,
    });
    Ok(defining.collect())
}

/// Documents with a definition of a name that one statement reads.
fn read_together(visibility: &Visibility) -> usize {
    visibility.check().map_or(MAX_DEFINING_DOCUMENTS, |_| DEFINING_TOGETHER)
}

/// The statement of [`defining_documents`], which appends its arguments.
fn defining_sql(
    projects: &Projects,
    candidates: &[CandidateName],
    visibility: &Visibility,
    together: usize,
    args: &mut Vec<DatumWithOid<'_>>,
) -> String {
    let (keys, indices): (Vec<String>, Vec<i32>) = candidates
        .iter()
        .zip(0..)
        .filter(|(candidate, _)| !matches!(candidate.role, NameRole::Qualifier | NameRole::Within))
        .map(|(candidate, index)| (candidate.key.clone(), index))
        .unzip();
    let first = args.len() + 1;
    args.extend([
        DatumWithOid::from(projects.ids()),
        DatumWithOid::from(keys),
        DatumWithOid::from(indices),
        DatumWithOid::from(i64::try_from(together + 1).unwrap_or(i64::MAX)),
    ]);
    let condition = visibility.condition("d.document_id", args);
    format!(
        "SELECT p.id, NULL::bigint, NULL::text, NULL::text, d.ids, f.ordinal
         FROM unnest(${first}::bigint[]) AS p(id), unnest(${}::text[], ${}::int[]) AS f(key, ordinal),
              LATERAL (SELECT array_agg(few.document_id) AS ids
                       FROM (SELECT d.document_id FROM docsearch.definition d
                             WHERE d.project_id = p.id AND d.key = f.key COLLATE \"C\" {condition} LIMIT ${}) few) d
         WHERE d.ids IS NOT NULL",
        first + 1,
        first + 2,
        first + 3
    )
}

/// The visible ones of the documents, without those of a name that more than [`MAX_DEFINING_DOCUMENTS`] define.
fn few_defining(
    caller: &mut Caller,
    found: Vec<Defining>,
    candidates: &[CandidateName],
    visibility: &Visibility,
) -> Result<Vec<(DocumentId, usize)>> {
    let together = read_together(visibility);
    let mut defining = Vec::new();
    for (documents, index) in found {
        let documents = match (documents.first().copied(), visibility.check()) {
            (Some(first), Some(check)) if documents.len() > together => {
                let read = |owner: &Owner<'_>, limit| defining_one(owner, first.project, &candidates[index].key, limit);
                check.first(caller, MAX_DEFINING_DOCUMENTS + 1, read, |id| *id)?
            }
            (_, Some(check)) => check.among(caller, documents)?.into_iter().collect(),
            (_, None) => documents,
        };
        if documents.len() <= MAX_DEFINING_DOCUMENTS {
            defining.extend(documents.into_iter().map(|id| (id, index)));
        }
    }
    Ok(defining)
}

/// The first `limit` documents of a project with a section that defines a name.
fn defining_one(owner: &Owner<'_>, project: i64, key: &str, limit: i64) -> Result<Vec<DocumentId>> {
    statement::lookup(
        owner,
        "SELECT d.project_id, d.document_id FROM docsearch.definition d
         WHERE d.project_id = $1 AND d.key = $2::text COLLATE \"C\" LIMIT $3",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(key),
            DatumWithOid::from(limit),
        ],
        keys::document_id,
    )
}

/// Whether a match is a name that the query is about, not one that it only mentions.
pub(crate) fn any_direct(matches: &Map<DocumentId, NameMatch>, candidates: &[CandidateName]) -> bool {
    let mentioned = [
        NameRole::WrittenOut,
        NameRole::Mention,
        NameRole::Within,
        NameRole::Qualifier,
    ];
    matches
        .values()
        .any(|found| !mentioned.contains(&candidates[found.candidate].role))
}

/// Writes the names of a document, the names that it defines, and its containers. Replaces those stored before if the
/// document is `known`.
pub(crate) fn write(
    owner: &Owner<'_>,
    project: i64,
    id: i64,
    input: &DocumentInput,
    known: bool,
    rules: &Rules,
) -> Result<()> {
    let names = names_of(
        &input.title,
        &input.slug,
        input.metadata.as_ref(),
        &input.source_urls,
        rules,
    );
    let (keys, kinds): (Vec<String>, Vec<String>) = names
        .into_iter()
        .map(|name| (name.key, name.kind.as_str().to_owned()))
        .unzip();
    if known {
        delete(owner, project, id)?;
    }
    statement::execute(
        owner,
        "INSERT INTO docsearch.document_name (project_id, document_id, key, kind)
         SELECT $1, $2, n.key, n.kind FROM unnest($3::text[], $4::text[]) AS n(key, kind)",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(id),
            DatumWithOid::from(keys),
            DatumWithOid::from(kinds),
        ],
    )?;
    write_definitions(owner, project, id, input)?;
    write_containers(owner, project, input)
}

fn delete(owner: &Owner<'_>, project: i64, id: i64) -> Result<()> {
    let document = [DatumWithOid::from(project), DatumWithOid::from(id)];
    statement::execute(
        owner,
        "DELETE FROM docsearch.document_name n WHERE n.project_id = $1 AND n.document_id = $2",
        &document,
    )?;
    if !Part::Definitions.exists() {
        return Ok(());
    }
    statement::execute(
        owner,
        "DELETE FROM docsearch.definition d WHERE d.project_id = $1 AND d.document_id = $2",
        &document,
    )
}

fn write_definitions(owner: &Owner<'_>, project: i64, id: i64, input: &DocumentInput) -> Result<()> {
    if !Part::Definitions.exists() {
        return Ok(());
    }
    let body = input.body.as_deref().unwrap_or_default();
    let (keys, places): (Vec<String>, Vec<Definition>) = definitions(&input.title, body).into_iter().unzip();
    if keys.is_empty() {
        return Ok(());
    }
    let mut args = vec![
        DatumWithOid::from(project),
        DatumWithOid::from(id),
        DatumWithOid::from(keys),
    ];
    if !Part::DefinedNames.exists() {
        return statement::execute(
            owner,
            "INSERT INTO docsearch.definition (project_id, document_id, key) SELECT $1, $2, unnest($3::text[])",
            &args,
        );
    }
    let texts = |of: fn(&Definition) -> &String| DatumWithOid::from(places.iter().map(of).cloned().collect::<Vec<_>>());
    args.extend([
        texts(|place| &place.name),
        texts(|place| &place.section),
        texts(|place| &place.anchor),
    ]);
    statement::execute(
        owner,
        "INSERT INTO docsearch.definition (project_id, document_id, key, name, section, anchor)
         SELECT $1, $2, d.key, d.name, d.section, d.anchor
         FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS d(key, name, section, anchor)",
        &args,
    )
}

/// Leaves existing rows alone, so that two loads never wait for each other.
fn write_containers(owner: &Owner<'_>, project: i64, input: &DocumentInput) -> Result<()> {
    let (keys, names): (Vec<String>, Vec<String>) =
        name::containers(input.category.as_deref(), input.metadata.as_ref())
            .into_iter()
            .map(|container| (name::key(container), container.to_owned()))
            .filter(|(key, _)| !key.is_empty())
            .unzip();
    if keys.is_empty() {
        return Ok(());
    }
    statement::execute(
        owner,
        "INSERT INTO docsearch.container (project_id, key, name)
         SELECT DISTINCT ON (c.key) $1, c.key, c.name FROM unnest($2::text[], $3::text[]) AS c(key, name)
         WHERE NOT EXISTS (SELECT FROM docsearch.container known
                           WHERE known.project_id = $1 AND known.key = c.key COLLATE \"C\")",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(keys),
            DatumWithOid::from(names),
        ],
    )
}

/// The names and addresses of a document.
pub(crate) fn names_of(
    title: &str,
    slug: &str,
    metadata: Option<&serde_json::Value>,
    source_urls: &[String],
    rules: &Rules,
) -> Vec<Name> {
    let url = metadata.and_then(|metadata| metadata.get("url")?.as_str());
    let urls = source_urls.iter().map(String::as_str).chain(url);
    name::page_names(title, slug, aliases(metadata), urls, rules.title_words())
}

/// The other names that a document's metadata give.
fn aliases(metadata: Option<&serde_json::Value>) -> impl Iterator<Item = &str> {
    let aliases = metadata.and_then(|metadata| metadata.get("aliases")?.as_array());
    aliases.into_iter().flatten().filter_map(|alias| alias.as_str())
}
