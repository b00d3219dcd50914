//! Words of a query in the titles and heading paths of results.

use docsearch_core::answer::highlight::{QueryWords, distinct_words};

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::search::retrieval::Retrieval;
use crate::tables::project::Project;
use crate::tables::terms;

/// The words that a search looked up in a project.
pub(super) fn query_words<'a>(retrieval: &'a Retrieval<'_>, project: &Project) -> QueryWords<'a> {
    let groups = retrieval.all_groups();
    let groups = groups.filter(|group| group.projects.contains(project.id));
    QueryWords::of(groups.map(|group| (group.terms.as_slice(), group.rules())))
}

/// Adds the words of titles and heading paths of a project's documents to those of the query. Each word is looked up
/// once.
pub(super) fn add_shown<'t>(
    caller: &Caller,
    words: &mut QueryWords<'_>,
    project: &Project,
    texts: impl Iterator<Item = &'t str>,
) -> Result<()> {
    let shown = distinct_words(texts);
    let kinds: Vec<i32> = shown.iter().map(|(kind, _)| *kind as i32).collect();
    let of_shown: Vec<&str> = shown.iter().map(|(_, word)| word.as_str()).collect();
    let lexemes = terms::lexemes(caller, &project.text_config, &kinds, &of_shown)?;
    words.add(shown, &lexemes);
    Ok(())
}
