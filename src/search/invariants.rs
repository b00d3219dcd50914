//! The promise that a unique name brings its page first.

use docsearch_core::text::name::{self, NameVariant};
use pgrx::datum::DatumWithOid;
use pgrx::memcxt::PgMemoryContexts;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::search::request::Arguments;
use crate::search::retrieval::Detail;
use crate::tables::project::Project;

/// A row of the result.
pub(crate) type Row = (
    String,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<i64>,
    Option<i64>,
);

/// Searches a project for each unique name and each slug of its documents, or for so many, in each of their forms: a row for
/// each that does not bring its page first, and one for each form with how many there are and how many hold.
pub(crate) fn verify(caller: &mut Caller, project: &Project, sample: Option<i32>) -> Result<Vec<Row>> {
    let pages: Vec<Page> = statement::rows(
        caller,
        "SELECT d.title, d.slug,
                ARRAY(SELECT a.alias FROM jsonb_array_elements_text(CASE WHEN jsonb_typeof(d.metadata -> 'aliases') = 'array'
                                                                         THEN d.metadata -> 'aliases' ELSE '[]' END) a(alias)
                      WHERE a.alias IS NOT NULL)
         FROM docsearch.document d WHERE d.project_id = $1 ORDER BY d.slug",
        &[DatumWithOid::from(project.id)],
        |row| Ok((row.required(1)?, row.required(2)?, row.required(3)?)),
    )?;
    let names = name::unique_names(pages.iter().map(|(title, slug, aliases)| {
        let aliases = aliases.iter().map(String::as_str).collect();
        (title.as_str(), slug.as_str(), aliases)
    }));
    let slugs: Vec<(usize, String)> = pages.iter().map(|(_, slug, _)| slug.clone()).enumerate().collect();
    // A slug of one part is a name.
    let paths: Vec<(usize, String)> = slugs.iter().filter(|(_, slug)| slug.contains('/')).cloned().collect();
    let mut rows = Vec::new();
    let checked = [
        (names, &NameVariant::OF_NAMES[..]),
        (paths, &NameVariant::OF_PATHS[..]),
        (slugs, &NameVariant::OF_SLUGS[..]),
    ];
    for (names, forms) in checked {
        let (missed, sums) = verify_forms(caller, project, &pages, &sampled(&names, sample), forms)?;
        let place = rows.iter().position(|row: &Row| row.1.is_none()).unwrap_or(rows.len());
        rows.splice(place..place, missed);
        rows.extend(sums);
    }
    Ok(rows)
}

/// So many of the names, evenly over their order.
fn sampled(names: &[(usize, String)], sample: Option<i32>) -> Vec<&(usize, String)> {
    let wanted = sample
        .and_then(|sample| usize::try_from(sample).ok())
        .unwrap_or(names.len());
    let step = names.len().div_ceil(wanted.max(1)).max(1);
    names.iter().step_by(step).collect()
}

/// A title, a slug and aliases.
type Page = (String, String, Vec<String>);

/// The forms that do not bring their page first, and for each form how many do.
fn verify_forms(
    caller: &mut Caller,
    project: &Project,
    pages: &[Page],
    names: &[&(usize, String)],
    forms: &[NameVariant],
) -> Result<(Vec<Row>, Vec<Row>)> {
    let mut missed = Vec::new();
    let mut holding: Vec<(NameVariant, i64)> = forms.iter().map(|&form| (form, 0)).collect();
    for (place, name) in names {
        let expected = &pages[*place].1;
        let mut searched: Vec<(String, bool)> = Vec::new();
        for (form, count) in &mut holding {
            let query = form.of(name, &project.name);
            let known = searched.iter().find(|(known, _)| *known == query);
            let holds = match known {
                Some((_, holds)) => *holds,
                None => {
                    let found = first(caller, project, &query)?;
                    let holds = found.as_ref() == Some(expected);
                    if !holds {
                        let form = form.as_str().to_owned();
                        missed.push((form, Some(query.clone()), Some(expected.clone()), found, None, None));
                    }
                    searched.push((query, holds));
                    holds
                }
            };
            *count += i64::from(holds);
        }
    }
    let names = i64::try_from(names.len()).ok();
    let sums = holding.into_iter();
    let sums = sums.map(|(form, holding)| (form.as_str().to_owned(), None, None, None, names, Some(holding)));
    Ok((missed, sums.collect()))
}

/// The slug of the page that comes first.
fn first(caller: &mut Caller, project: &Project, query: &str) -> Result<Option<String>> {
    pgrx::check_for_interrupts!();
    // What searches leave behind would add up: 37 kB each.
    // SAFETY: nothing that Postgres allocated meanwhile is used afterwards: the slug is Rust's own.
    unsafe { PgMemoryContexts::new("search").switch_to(|_| find_first(caller, project, query)) }
}

fn find_first(caller: &mut Caller, project: &Project, query: &str) -> Result<Option<String>> {
    let arguments = Arguments {
        query: Some(query),
        project: Some(&project.name),
        max_results: Some(1),
        ..Arguments::default()
    };
    let answer = arguments.resolve(caller)?.answer(caller, Detail::Rows)?;
    Ok(answer.results.into_iter().next().map(|result| result.slug))
}
