//! `verify_invariants`: a search for a unique name returns its page first.

use docsearch_core::text::name::{self, NameVariant};
use pgrx::datum::DatumWithOid;
use pgrx::memcxt::PgMemoryContexts;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::search::arguments::Arguments;
use crate::search::retrieval::Detail;
use crate::tables::project::Project;
use crate::tables::rules;

/// A row of the result.
pub(crate) type Row = (
    String,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<i64>,
    Option<i64>,
);

/// Searches a project for each unique name and slug of its documents, or for a sample, in each of their variants.
/// Returns a row for each search that does not return its page first, and a row for each variant with the number of
/// searches and of successes.
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
    let named = pages.iter().map(|(title, slug, aliases)| {
        let aliases = aliases.iter().map(String::as_str).collect();
        (title.as_str(), slug.as_str(), aliases)
    });
    let rules = rules::current(caller)?;
    let names = name::unique_names(named, rules.of(project.id).title_words());
    let slugs: Vec<(usize, String)> = pages.iter().map(|(_, slug, _)| slug.clone()).enumerate().collect();
    // A slug of one part is checked as a name.
    let paths: Vec<(usize, String)> = slugs.iter().filter(|(_, slug)| slug.contains('/')).cloned().collect();
    let mut rows = Vec::new();
    let checked = [
        (names, &NameVariant::OF_NAMES[..]),
        (paths, &NameVariant::OF_PATHS[..]),
        (slugs, &NameVariant::OF_SLUGS[..]),
    ];
    for (names, variants) in checked {
        let (failures, sums) = verify_variants(caller, project, &pages, &sampled(&names, sample), variants)?;
        let index = rows.iter().position(|row: &Row| row.1.is_none()).unwrap_or(rows.len());
        rows.splice(index..index, failures);
        rows.extend(sums);
    }
    Ok(rows)
}

/// A sample of about `sample` names, evenly spaced.
fn sampled(names: &[(usize, String)], sample: Option<i32>) -> Vec<&(usize, String)> {
    let wanted = sample
        .and_then(|sample| usize::try_from(sample).ok())
        .unwrap_or(names.len());
    let step = names.len().div_ceil(wanted.max(1)).max(1);
    names.iter().step_by(step).collect()
}

/// A title, a slug and aliases.
type Page = (String, String, Vec<String>);

/// The searches that do not return their page first, and the counts of each variant.
fn verify_variants(
    caller: &mut Caller,
    project: &Project,
    pages: &[Page],
    names: &[&(usize, String)],
    variants: &[NameVariant],
) -> Result<(Vec<Row>, Vec<Row>)> {
    let mut failures = Vec::new();
    let mut succeeded: Vec<(NameVariant, i64)> = variants.iter().map(|&variant| (variant, 0)).collect();
    for (page, name) in names {
        let expected = &pages[*page].1;
        let mut searched: Vec<(String, bool)> = Vec::new();
        for (variant, count) in &mut succeeded {
            let query = variant.of(name, &project.name);
            let known = searched.iter().find(|(known, _)| *known == query);
            let succeeds = match known {
                Some((_, succeeds)) => *succeeds,
                None => {
                    let found = first(caller, project, &query)?;
                    let succeeds = found.as_ref() == Some(expected);
                    if !succeeds {
                        let variant = variant.as_str().to_owned();
                        failures.push((variant, Some(query.clone()), Some(expected.clone()), found, None, None));
                    }
                    searched.push((query, succeeds));
                    succeeds
                }
            };
            *count += i64::from(succeeds);
        }
    }
    let names = i64::try_from(names.len()).ok();
    let sums = succeeded.into_iter();
    let sums = sums.map(|(variant, succeeded)| (variant.as_str().to_owned(), None, None, None, names, Some(succeeded)));
    Ok((failures, sums.collect()))
}

/// The slug of the first result.
fn first(caller: &mut Caller, project: &Project, query: &str) -> Result<Option<String>> {
    pgrx::check_for_interrupts!();
    // Frees the memory of each search, 37 kB.
    // SAFETY: nothing that PostgreSQL allocates in the context is used afterwards; Rust owns the slug.
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
