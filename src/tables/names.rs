//! Names of pages: writing them, and their leg, pages that bear a name a query asks for or one near to it.

mod within;

use std::collections::BTreeSet;

use docsearch_core::documents::definition::{MAX_DEFINING, definitions};
use docsearch_core::index::vocabulary::after;
use docsearch_core::query::understanding::{NameForm, NameRole};
use docsearch_core::ranking::legs::NameMatch;
use docsearch_core::text::name::{self, Name, NameKind};
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::catalog;
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement::{self, Row};
use crate::tables::document_input::DocumentInput;
use crate::tables::keys;
use crate::tables::project::Projects;
use crate::tables::schema::Part;
use crate::tables::sight::Sight;

/// Most documents that one name may bring; a name that many pages bear tells little.
const MAX_NAMED_DOCUMENTS: usize = 200;
/// Most documents that each way of being near may bring.
const MAX_NEAR: usize = 100;
/// Documents that define a name are read together for all names, so many of each.
const DEFINING_TOGETHER: usize = 50;
/// Least trigram similarity of a name, whatever the session has set: two neighbours that are swapped in the middle of a short
/// name leave little of it (`pg_dmup`). What is too far is left out later, by its letters.
const LEAST_SIMILARITY: &str = "0.1";
/// Longest text, in characters of its key, that is taken for a name half typed or mistyped.
const MAX_NEAR_CHARS: usize = 64;

/// What is known of the names that a query asks for.
pub(crate) struct Asked {
    /// Documents that bear one of the names.
    pub(crate) matches: Map<DocumentId, NameMatch>,
    /// Documents with a section that defines one of the names, and the place of the form. What more than a few documents of a
    /// project define that the caller sees brings none.
    pub(crate) defining: Vec<(DocumentId, usize)>,
    /// Of the documents that the caller sees, those with one of the titles that were looked for; `None` if there may be others.
    pub(crate) titled: Option<Set<DocumentId>>,
}

/// A name that a document has: its key and kind.
type Borne = (DocumentId, String, String);
/// Documents of a project that define the name at a place.
type Defining = (Vec<DocumentId>, usize);

/// A row of [`BEARING`] or [`DEFINING`].
enum Found {
    Borne(Borne),
    Defining(Defining),
}

impl Found {
    fn read(row: &Row) -> Result<Self> {
        let project: i64 = row.required(1)?;
        Ok(match row.optional::<Vec<i64>>(5)? {
            None => Self::Borne(borne(row)?),
            Some(documents) => {
                let form = usize::try_from(row.required::<i32>(6)?).unwrap_or_default();
                let ids = documents.into_iter().map(|document| DocumentId { project, document });
                Self::Defining((ids.collect(), form))
            }
        })
    }
}

fn borne(row: &Row) -> Result<Borne> {
    Ok((keys::document_id(row)?, row.required(3)?, row.required(4)?))
}

/// Documents that bear and define names; `titles` are keys of titles to look for besides.
pub(crate) fn asked(
    caller: &mut Caller,
    projects: &Projects,
    forms: &[NameForm],
    titles: &[String],
    sight: &Sight,
) -> Result<Asked> {
    let mut keys = keys_of(forms);
    keys.extend(titles.iter().cloned());
    let within_keys: Vec<String> = within::keys(forms)
        .into_iter()
        .filter(|key| !keys.contains(key))
        .collect();
    let (mut borne, mut found, mut within) = (Vec::new(), Vec::new(), Vec::new());
    if sight.checks().is_none() && Part::Definitions.exists() {
        // In one statement: what is visible is known before.
        let mut args = bearing_arguments(projects, &keys, MAX_NAMED_DOCUMENTS as i64);
        let bearing = bearing(projects, sight, &mut args);
        let defining = defining_sql(projects, forms, sight, MAX_DEFINING, &mut args);
        let sentence = within::sql(projects, &within_keys, sight, within::MAX_ROWS, &mut args);
        let owner = &caller.as_owner()?;
        let sql = format!("({bearing}) UNION ALL {defining} UNION ALL {sentence}");
        for row in statement::lookup(owner, &sql, &args, Found::read)? {
            match row {
                Found::Borne(name) if within_keys.contains(&name.1) => within.push(name),
                Found::Borne(name) => borne.push(name),
                Found::Defining(documents) => found.push(documents),
            }
        }
    } else {
        borne = bearers(caller, projects, &keys, sight)?;
        found = definers(caller, projects, forms, sight)?;
        within = within::bearers(caller, projects, &within_keys, sight)?;
    }
    let is_whole = borne.len() < MAX_NAMED_DOCUMENTS;
    let own = keys_of(forms);
    if !is_whole && own.len() < keys.len() {
        borne = bearers(caller, projects, &own, sight)?;
    }
    let titled = borne
        .iter()
        .filter(|(_, key, kind)| titles.contains(key) && NameKind::parse(kind) == Some(NameKind::Title));
    Ok(Asked {
        titled: is_whole.then(|| titled.map(|(document, ..)| *document).collect()),
        matches: best_matches(borne.into_iter().chain(within::few(within)), forms),
        defining: few_defining(caller, found, forms, sight)?,
    })
}

/// Documents that bear one of the names.
pub(crate) fn matches(
    caller: &mut Caller,
    projects: &Projects,
    forms: &[NameForm],
    sight: &Sight,
) -> Result<Map<DocumentId, NameMatch>> {
    Ok(best_matches(bearers(caller, projects, &keys_of(forms), sight)?, forms))
}

/// The keys of names that the query asks for or mentions.
fn keys_of(forms: &[NameForm]) -> BTreeSet<String> {
    let asked = forms.iter().filter(|form| form.role != NameRole::Within);
    asked.map(|form| form.key.clone()).collect()
}

/// The names of documents that have one of the keys.
fn bearers(caller: &mut Caller, projects: &Projects, keys: &BTreeSet<String>, sight: &Sight) -> Result<Vec<Borne>> {
    let read = |owner: &Owner<'_>, limit: i64| {
        let mut args = bearing_arguments(projects, keys, limit);
        let sql = bearing(projects, sight, &mut args);
        statement::lookup(owner, &sql, &args, borne)
    };
    sight.first(caller, MAX_NAMED_DOCUMENTS, read, |(document, ..)| *document)
}

fn bearing_arguments(projects: &Projects, keys: &BTreeSet<String>, limit: i64) -> Vec<DatumWithOid<'static>> {
    vec![
        projects.argument(),
        DatumWithOid::from(Vec::from_iter(keys.iter().cloned())),
        DatumWithOid::from(limit),
    ]
}

fn bearing(projects: &Projects, sight: &Sight, args: &mut Vec<DatumWithOid<'_>>) -> String {
    let seen = sight.condition("n.document_id", args);
    format!(
        "SELECT n.project_id, n.document_id, n.key, n.kind, NULL::bigint[], NULL::int
         FROM unnest($2::text[]) AS wanted(key),
              LATERAL (SELECT n.project_id, n.document_id, n.key, n.kind FROM docsearch.document_name n
                       WHERE {} AND n.key = wanted.key COLLATE \"C\" {seen} OFFSET 0) n
         LIMIT $3",
        projects.condition("n")
    )
}

fn best_matches(names: impl IntoIterator<Item = Borne>, forms: &[NameForm]) -> Map<DocumentId, NameMatch> {
    let mut found: Map<DocumentId, NameMatch> = Map::default();
    for (document, key, kind) in names {
        let of_project = |form: &&NameForm| form.project.is_none_or(|project| project == document.project);
        let form = forms.iter().position(|form| form.key == key && of_project(&form));
        let (Some(kind), Some(form)) = (NameKind::parse(&kind), form) else {
            continue;
        };
        // The forms stand in the order of what they say.
        let this = NameMatch { kind, form };
        match found.get(&document) {
            Some(known) if (known.form, known.kind) <= (form, kind) => {}
            _ => {
                found.insert(document, this);
            }
        }
    }
    found
}

/// Documents that define the names, of each name one more at most than are read together.
fn definers(caller: &mut Caller, projects: &Projects, forms: &[NameForm], sight: &Sight) -> Result<Vec<Defining>> {
    if !Part::Definitions.exists() {
        return Ok(Vec::new());
    }
    let mut args = Vec::new();
    let sql = defining_sql(projects, forms, sight, read_together(sight), &mut args);
    let owner = &caller.as_owner()?;
    let rows = statement::lookup(owner, &sql, &args, Found::read)?.into_iter();
    let defining = rows.filter_map(|row| match row {
        Found::Defining(documents) => Some(documents),
        Found::Borne(_) => None,
    });
    Ok(defining.collect())
}

/// How many documents that define a name are read together.
fn read_together(sight: &Sight) -> usize {
    sight.checks().map_or(MAX_DEFINING, |_| DEFINING_TOGETHER)
}

/// The statement of [`definers`], with further arguments.
fn defining_sql(
    projects: &Projects,
    forms: &[NameForm],
    sight: &Sight,
    together: usize,
    args: &mut Vec<DatumWithOid<'_>>,
) -> String {
    let (keys, places): (Vec<String>, Vec<i32>) = forms
        .iter()
        .zip(0..)
        .filter(|(form, _)| !matches!(form.role, NameRole::Qualifier | NameRole::Within))
        .map(|(form, place)| (form.key.clone(), place))
        .unzip();
    let first = args.len() + 1;
    args.extend([
        DatumWithOid::from(projects.ids()),
        DatumWithOid::from(keys),
        DatumWithOid::from(places),
        DatumWithOid::from(i64::try_from(together + 1).unwrap_or(i64::MAX)),
    ]);
    let seen = sight.condition("d.document_id", args);
    format!(
        "SELECT p.id, NULL::bigint, NULL::text, NULL::text, d.ids, f.place
         FROM unnest(${first}::bigint[]) AS p(id), unnest(${}::text[], ${}::int[]) AS f(key, place),
              LATERAL (SELECT array_agg(few.document_id) AS ids
                       FROM (SELECT d.document_id FROM docsearch.definition d
                             WHERE d.project_id = p.id AND d.key = f.key COLLATE \"C\" {seen} LIMIT ${}) few) d
         WHERE d.ids IS NOT NULL",
        first + 1,
        first + 2,
        first + 3
    )
}

/// Those of the documents that the caller sees, without what more than a few of them define.
fn few_defining(
    caller: &mut Caller,
    found: Vec<Defining>,
    forms: &[NameForm],
    sight: &Sight,
) -> Result<Vec<(DocumentId, usize)>> {
    let together = read_together(sight);
    let mut defining = Vec::new();
    for (documents, form) in found {
        let documents = match (documents.first().copied(), sight.checks()) {
            (Some(first), Some(visibility)) if documents.len() > together => {
                let read = |owner: &Owner<'_>, limit| defining_one(owner, first.project, &forms[form].key, limit);
                visibility.first(caller, MAX_DEFINING + 1, read, |id| *id)?
            }
            (_, Some(visibility)) => visibility.among(caller, documents)?.into_iter().collect(),
            (_, None) => documents,
        };
        if documents.len() <= MAX_DEFINING {
            defining.extend(documents.into_iter().map(|id| (id, form)));
        }
    }
    Ok(defining)
}

/// Documents of a project with a section that defines a name, at most so many.
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

/// Whether one of the matches is what the query asks for, and not only mentions.
pub(crate) fn any_asked(matches: &Map<DocumentId, NameMatch>, forms: &[NameForm]) -> bool {
    let mentioned = [
        NameRole::WrittenOut,
        NameRole::Mention,
        NameRole::Within,
        NameRole::Qualifier,
    ];
    matches
        .values()
        .any(|found| !mentioned.contains(&forms[found.form].role))
}

/// Documents with names that begin like `typed`, differ from it in a letter or two, or whose words begin with its letters.
/// `typed` is a key.
pub(crate) fn near(caller: &mut Caller, projects: &Projects, typed: &str, sight: &Sight) -> Result<Set<DocumentId>> {
    let length = typed.chars().count();
    let letters = typed.chars().all(char::is_alphanumeric);
    if !(3..=MAX_NEAR_CHARS).contains(&length) || !letters {
        return Ok(Set::default());
    }
    let trigram = catalog::trigram_schema()?;
    let _settings = LocalSettings::apply(&[("pg_trgm.similarity_threshold", LEAST_SIMILARITY)])?;
    let first: String = typed.chars().take(1).collect();
    let spread: String = typed.chars().flat_map(|letter| [letter, '%']).collect();
    let most = i64::try_from(MAX_NEAR).unwrap_or(i64::MAX);
    let arguments = |limit: i64| {
        vec![
            projects.argument(),
            DatumWithOid::from(typed),
            DatumWithOid::from(after(typed)),
            DatumWithOid::from(first.as_str()),
            DatumWithOid::from(after(&first)),
            DatumWithOid::from(spread.as_str()),
            DatumWithOid::from(limit),
        ]
    };
    let mut args = arguments(most);
    let seen = sight.condition("n.document_id", &mut args);
    let condition = format!("{} {seen}", projects.condition("n"));
    let similar = format!("{} {seen}", projects.check("n"));
    // Those that are visible must come in one order, however many are read.
    let (by_key, last) = match sight.checks() {
        Some(_) => (
            "ORDER BY n.key, n.project_id, n.document_id",
            ", n.key, n.project_id, n.document_id",
        ),
        None => ("", ""),
    };
    let ways = [
        format!(
            "SELECT n.project_id, n.document_id FROM docsearch.document_name n
             WHERE {condition} AND n.key >= $2 AND n.key < $3 {by_key} LIMIT $7"
        ),
        format!(
            "SELECT n.project_id, n.document_id FROM docsearch.document_name n
             WHERE {similar} AND n.key OPERATOR({trigram}.%) $2
               AND length(n.key) BETWEEN length($2) - 2 AND length($2) + 2
             ORDER BY {trigram}.similarity(n.key, $2) DESC{last} LIMIT $7"
        ),
        format!(
            "SELECT n.project_id, n.document_id FROM docsearch.document_name n
             WHERE {condition} AND n.key >= $4 AND n.key < $5 AND n.key LIKE $6 AND n.kind <> 'path' {by_key} LIMIT $7"
        ),
    ];
    let Some(visibility) = sight.checks() else {
        let owner = &caller.as_owner()?;
        let found = statement::rows(
            owner,
            &format!("({})", ways.join(") UNION ALL (")),
            &args,
            keys::document_id,
        )?;
        return Ok(found.into_iter().collect());
    };
    let mut found = Set::default();
    for way in &ways {
        let read = |owner: &Owner<'_>, limit| statement::rows(owner, way, &arguments(limit), keys::document_id);
        found.extend(visibility.first(caller, MAX_NEAR, read, |id| *id)?);
    }
    Ok(found)
}

/// Writes the names of a document, those that it defines, and what it belongs to, in place of what may be there if it is
/// `known`.
pub(crate) fn write(owner: &Owner<'_>, project: i64, id: i64, input: &DocumentInput, known: bool) -> Result<()> {
    let (keys, kinds): (Vec<String>, Vec<String>) =
        names_of(&input.title, &input.slug, input.metadata.as_ref(), &input.source_urls)
            .into_iter()
            .map(|name| (name.key, name.kind.as_str().to_owned()))
            .unzip();
    if known {
        forget(owner, project, id)?;
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

fn forget(owner: &Owner<'_>, project: i64, id: i64) -> Result<()> {
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
    let keys: Vec<String> = definitions(&input.title, body).into_iter().collect();
    if keys.is_empty() {
        return Ok(());
    }
    statement::execute(
        owner,
        "INSERT INTO docsearch.definition (project_id, document_id, key) SELECT $1, $2, unnest($3::text[])",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(id),
            DatumWithOid::from(keys),
        ],
    )
}

/// Rows that are there already are left alone, so that two loads never wait for each other.
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
) -> Vec<Name> {
    let url = metadata.and_then(|metadata| metadata.get("url")?.as_str());
    let urls = source_urls.iter().map(String::as_str).chain(url);
    name::page_names(title, slug, aliases(metadata), urls)
}

/// The other names that a document's metadata give.
fn aliases(metadata: Option<&serde_json::Value>) -> impl Iterator<Item = &str> {
    let aliases = metadata.and_then(|metadata| metadata.get("aliases")?.as_array());
    aliases.into_iter().flatten().filter_map(|alias| alias.as_str())
}
