//! Fuzz targets for everything that reads text of users: nothing ends the process, and results have their properties.
//! See `docsearch_fuzz`.

mod answer;
mod document;
mod query;
mod stored;

use docsearch_fuzz::{Format, Target, check, execute};

const TARGETS: &[Target] = &[
    Target::new("core-markdown", Format::MARKDOWN, document::markdown),
    Target::new("core-chunk", Format::MARKDOWN, document::chunks),
    Target::new("core-outline", Format::MARKDOWN, document::outline),
    Target::new("core-passage", Format::MARKDOWN, document::passages),
    Target::new("core-definition", Format::MARKDOWN, document::definitions),
    Target::new("core-token", Format::QUERY, document::tokens),
    Target::new("core-keyword", Format::MARKDOWN, document::keywords),
    Target::new("core-snippet", Format::MARKDOWN, document::snippets),
    Target::new("core-query", Format::QUERY, query::understanding),
    Target::new("core-identifier", Format::QUERY, query::identifiers),
    Target::new("core-name", Format::QUERY, query::names),
    Target::new("core-near-name", Format::QUERY, query::near_names),
    Target::new("core-version", Format::QUERY, query::versions),
    Target::new("core-suggestion", Format::QUERY, query::suggestions),
    Target::new("core-language", Format::QUERY, query::languages),
    Target::new("core-transformation", Format::QUERY, query::transformations),
    Target::new("core-rule", Format::QUERY, query::rules),
    Target::new("core-filter", Format::FILTER, stored::filters),
    Target::new("core-metadata", Format::JSON, stored::metadata),
    Target::new("core-tsvector", Format::TSVECTOR, stored::vectors),
    Target::new("core-postings", Format::TSVECTOR, stored::postings),
    Target::new("core-vector-code", Format::TSVECTOR, stored::vector_codes),
    Target::new("core-listing", Format::LINES, stored::listings),
    Target::new("core-delivery", Format::MARKDOWN, answer::delivery).up_to(16 * 1024),
    Target::new("core-prompt", Format::MARKDOWN, answer::prompts),
    Target::new("core-model-answer", Format::REPLY, answer::of_models),
];

#[test]
fn no_input_ends_the_process() {
    check(TARGETS, "execute_targets");
}

#[test]
#[ignore = "is what the processes do that the other test starts"]
fn execute_targets() {
    execute(TARGETS);
}

/// Fields of an input, which is split at its first lines: one input gives several texts.
fn fields<const N: usize>(text: &str) -> [&str; N] {
    let mut lines = text.splitn(N, '\n');
    std::array::from_fn(|_| lines.next().unwrap_or_default())
}
