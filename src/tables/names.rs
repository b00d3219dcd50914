//! Names of pages: writing them, and their leg, pages that bear a name a query asks for or one near to it.

use std::collections::BTreeSet;

use docsearch_core::definition::{MAX_BEARERS as MAX_DEFINING, definitions};
use docsearch_core::legs::NameMatch;
use docsearch_core::name::{self, Name, NameKind};
use docsearch_core::rank::{DocumentId, Map, Set};
use docsearch_core::understanding::{NameForm, NameRole};
use docsearch_core::vocabulary::after;
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::{catalog, statement};
use crate::tables::document_input::DocumentInput;
use crate::tables::keys;
use crate::tables::project::Projects;
use crate::tables::sight::Sight;

/// Most documents that one name may bring; a name that many pages bear tells little.
const MAX_BEARERS: i64 = 200;
/// Most documents that each way of being near may bring.
const MAX_NEAR: i64 = 100;
/// Longest text, in characters of its key, that is taken for a name half typed or mistyped.
const MAX_NEAR_CHARS: usize = 64;

/// Documents that bear one of the names. Runs as the owner.
pub(crate) fn matches(projects: &Projects, forms: &[NameForm], sight: &Sight) -> Result<Map<DocumentId, NameMatch>> {
    let keys: BTreeSet<String> = forms.iter().map(|form| form.key.clone()).collect();
    let mut args = vec![
        projects.argument(),
        DatumWithOid::from(Vec::from_iter(keys)),
        DatumWithOid::from(MAX_BEARERS),
    ];
    let seen = sight.condition("n.document_id", &mut args);
    let rows = statement::lookup(
        &format!(
            "SELECT n.project_id, n.document_id, n.key, n.kind
             FROM unnest($2::text[]) AS wanted(key),
                  LATERAL (SELECT n.project_id, n.document_id, n.key, n.kind FROM docsearch.document_name n
                           WHERE {} AND n.key = wanted.key COLLATE \"C\" {seen} OFFSET 0) n
             LIMIT $3",
            projects.condition("n")
        ),
        &args,
        |row| {
            Ok((
                keys::document_id(row)?,
                row.required::<String>(3)?,
                row.required::<String>(4)?,
            ))
        },
    )?;
    let mut found: Map<DocumentId, NameMatch> = Map::default();
    for (document, key, kind) in rows {
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
    Ok(found)
}

/// Documents with a section that defines one of the names, and the place of the form. What more than a few
/// documents of a project define brings none, or than some where policies may hide most of them. Runs as the owner.
pub(crate) fn defining(projects: &Projects, forms: &[NameForm], sight: &Sight) -> Result<Vec<(DocumentId, usize)>> {
    let most = sight.most(MAX_DEFINING as i64);
    if catalog::table(c"definition").is_none() {
        return Ok(Vec::new());
    }
    let (keys, places): (Vec<String>, Vec<i32>) = forms
        .iter()
        .zip(0..)
        .filter(|(form, _)| form.role != NameRole::Qualifier)
        .map(|(form, place)| (form.key.clone(), place))
        .unzip();
    let mut args = vec![
        DatumWithOid::from(projects.ids()),
        DatumWithOid::from(keys),
        DatumWithOid::from(places),
        DatumWithOid::from(most + 1),
    ];
    let seen = sight.condition("d.document_id", &mut args);
    statement::lookup(
        &format!(
            "SELECT p.id, d.ids, f.place
             FROM unnest($1::bigint[]) AS p(id), unnest($2::text[], $3::int[]) AS f(key, place),
                  LATERAL (SELECT array_agg(few.document_id) AS ids
                           FROM (SELECT d.document_id FROM docsearch.definition d
                                 WHERE d.project_id = p.id AND d.key = f.key COLLATE \"C\" {seen} LIMIT $4) few) d
             WHERE cardinality(d.ids) < $4"
        ),
        &args,
        |row| {
            let (project, documents): (i64, Vec<i64>) = (row.required(1)?, row.required(2)?);
            let form = usize::try_from(row.required::<i32>(3)?).unwrap_or_default();
            let ids = documents.into_iter().map(|document| DocumentId { project, document });
            Ok(ids.map(|id| (id, form)).collect::<Vec<_>>())
        },
    )
    .map(|found| found.into_iter().flatten().collect())
}

/// Whether one of the matches is what the query asks for, and not only mentions.
pub(crate) fn any_asked(matches: &Map<DocumentId, NameMatch>, forms: &[NameForm]) -> bool {
    let mentioned = [NameRole::WrittenOut, NameRole::Mention, NameRole::Qualifier];
    matches
        .values()
        .any(|found| !mentioned.contains(&forms[found.form].role))
}

/// Documents with names that begin like `typed`, differ from it in a letter or two, or whose words
/// begin with its letters. `typed` is a key. Runs as the owner.
pub(crate) fn near(projects: &Projects, typed: &str, sight: &Sight) -> Result<Set<DocumentId>> {
    let length = typed.chars().count();
    let letters = typed.chars().all(char::is_alphanumeric);
    if !(3..=MAX_NEAR_CHARS).contains(&length) || !letters {
        return Ok(Set::default());
    }
    let trigram = catalog::trigram_schema()?;
    let first: String = typed.chars().take(1).collect();
    let spread: String = typed.chars().flat_map(|letter| [letter, '%']).collect();
    let mut args = vec![
        projects.argument(),
        DatumWithOid::from(typed),
        DatumWithOid::from(after(typed)),
        DatumWithOid::from(first.as_str()),
        DatumWithOid::from(after(&first)),
        DatumWithOid::from(spread),
        DatumWithOid::from(MAX_NEAR),
    ];
    let seen = sight.condition("n.document_id", &mut args);
    let condition = format!("{} {seen}", projects.condition("n"));
    let similar = format!("{} {seen}", projects.check("n"));
    let found = statement::rows(
        &format!(
            "(SELECT n.project_id, n.document_id FROM docsearch.document_name n
              WHERE {condition} AND n.key >= $2 AND n.key < $3 LIMIT $7)
             UNION ALL
             (SELECT n.project_id, n.document_id FROM docsearch.document_name n
              WHERE {similar} AND n.key OPERATOR({trigram}.%) $2
                AND length(n.key) BETWEEN length($2) - 2 AND length($2) + 2
              ORDER BY {trigram}.similarity(n.key, $2) DESC LIMIT $7)
             UNION ALL
             (SELECT n.project_id, n.document_id FROM docsearch.document_name n
              WHERE {condition} AND n.key >= $4 AND n.key < $5 AND n.key LIKE $6 AND n.kind <> 'path' LIMIT $7)"
        ),
        &args,
        keys::document_id,
    )?;
    Ok(found.into_iter().collect())
}

/// Writes the names of a document, those that it defines, and what it belongs to, in place of what may be there if
/// it is `known`. Runs as the owner.
pub(crate) fn write(project: i64, id: i64, input: &DocumentInput, known: bool) -> Result<()> {
    let (keys, kinds): (Vec<String>, Vec<String>) =
        names_of(&input.title, &input.slug, input.metadata.as_ref(), &input.source_urls)
            .into_iter()
            .map(|name| (name.key, name.kind.as_str().to_owned()))
            .unzip();
    if known {
        forget(project, id)?;
    }
    statement::execute(
        "INSERT INTO docsearch.document_name (project_id, document_id, key, kind)
         SELECT $1, $2, n.key, n.kind FROM unnest($3::text[], $4::text[]) AS n(key, kind)",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(id),
            DatumWithOid::from(keys),
            DatumWithOid::from(kinds),
        ],
    )?;
    write_definitions(project, id, input)?;
    write_containers(project, input)
}

fn forget(project: i64, id: i64) -> Result<()> {
    let document = [DatumWithOid::from(project), DatumWithOid::from(id)];
    statement::execute(
        "DELETE FROM docsearch.document_name n WHERE n.project_id = $1 AND n.document_id = $2",
        &document,
    )?;
    if catalog::table(c"definition").is_none() {
        return Ok(());
    }
    statement::execute(
        "DELETE FROM docsearch.definition d WHERE d.project_id = $1 AND d.document_id = $2",
        &document,
    )
}

fn write_definitions(project: i64, id: i64, input: &DocumentInput) -> Result<()> {
    if catalog::table(c"definition").is_none() {
        return Ok(());
    }
    let body = input.body.as_deref().unwrap_or_default();
    let keys: Vec<String> = definitions(&input.title, body).into_iter().collect();
    if keys.is_empty() {
        return Ok(());
    }
    statement::execute(
        "INSERT INTO docsearch.definition (project_id, document_id, key) SELECT $1, $2, unnest($3::text[])",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(id),
            DatumWithOid::from(keys),
        ],
    )
}

/// Rows that are there already are left alone, so that two loads never wait for each other.
fn write_containers(project: i64, input: &DocumentInput) -> Result<()> {
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
