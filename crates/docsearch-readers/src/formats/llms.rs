//! `llms.txt`, an index of pages, and `llms-full.txt`, the pages themselves in one file.
//!
//! Generators mark the beginning of a page in one of three ways: a heading with the URL below it (`# Title`, `Source:
//! URL`), front matter, or a heading of level one alone.

use std::collections::HashMap;
use std::path::Path;

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};
use serde_json::Value;
use url::Url;

use crate::draft::Draft;
use crate::draft::front_matter::{self, FrontMatter};
use crate::file::{extension, slug};
use crate::formats::format::{Format, Reader, TextSource};
#[cfg(test)]
use crate::formats::growth;
use crate::formats::has_page_extension;
use crate::text::{fence, heading};

pub(crate) static FORMAT: Format = Format {
    help: Some("llms.txt, llms-full.txt"),
    name_patterns: &["llms.txt", "llms-full.txt"],
    is_named: Some(is_named),
    #[cfg(test)]
    fuzz_target: Some(Target::new("readers-llms", Grammar::LLMS, |input| {
        growth::check(&FORMAT, "llms-full.txt", input);
        growth::check(&FORMAT, "llms.txt", input);
    })),
    ..Format::new(
        "llms",
        "llms.txt",
        "an index, and a document for every page of the full text",
        Reader::Text(|source: &TextSource<'_>| Ok(read(source.path, source.text))),
    )
};

const ADDRESS_KEYS: [&str; 5] = ["Source:", "URL:", "Url:", "URL Source:", "source_url:"];
/// Front matter keys that distinguish a page from settings in an example.
const PAGE_KEYS: [&str; 5] = ["title", "url", "source", "source_url", "slug"];
const MAX_FRONT_MATTER_LINES: usize = 40;

/// Whether the name of the file identifies the format.
fn is_named(path: &Path) -> bool {
    let is_text = extension::of(&extension::uncompressed(path)).is_some_and(|own| own == "txt");
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let stem = stem.to_ascii_lowercase();
    is_text && (stem == "llms" || stem.starts_with("llms-"))
}

/// The pages in `text`: one for an index, or else those in the file.
pub(crate) fn read(path: &Path, text: &str) -> Vec<Draft> {
    let is_index = path.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("llms"));
    if is_index {
        return vec![index(text)];
    }
    let pages = pages(text);
    if pages.len() < 2 {
        return vec![index(text)];
    }
    let mut taken = HashMap::new();
    let mut drafts: Vec<Draft> = pages.into_iter().filter_map(page).collect();
    for draft in &mut drafts {
        let slug = draft.matter.slug.as_mut().or(draft.slug_suffix.as_mut());
        if let Some(slug) = slug {
            number(slug, &mut taken);
        }
    }
    drafts
}

/// One document. By convention, the quotation below its heading is the summary.
fn index(text: &str) -> Draft {
    let quotation =
        fence::lines_with_state(text).find_map(|(line, outside)| line.strip_prefix("> ").filter(|_| outside));
    Draft {
        body: text.to_owned(),
        ..Draft::new(FrontMatter {
            summary: quotation.map(|line| line.trim().to_owned()),
            ..FrontMatter::default()
        })
    }
}

/// Splits at the most specific mark that occurs more than once.
fn pages(text: &str) -> Vec<&str> {
    let lines = lines(text);
    let cuts = [addressed_headings(&lines), front_matters(&lines), headings(&lines)];
    let starts = cuts.into_iter().find(|starts| starts.len() > 1).unwrap_or_default();
    let mut pages = Vec::with_capacity(starts.len() + 1);
    let mut from = 0;
    for start in starts.into_iter().chain([text.len()]) {
        if !text[from..start].trim().is_empty() {
            pages.push(&text[from..start]);
        }
        from = start;
    }
    pages
}

struct Line<'a> {
    start: usize,
    text: &'a str,
    is_outside: bool,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    fence::lines_with_state(text)
        .map(|(line, is_outside)| {
            let line_start = start;
            start += line.len();
            Line {
                start: line_start,
                text: line.trim_end(),
                is_outside,
            }
        })
        .collect()
}

/// Ignores fences: one that a page leaves open would hide all pages after it.
fn addressed_headings(lines: &[Line<'_>]) -> Vec<usize> {
    let below = |at: usize| lines[at + 1..].iter().find(|line| !line.text.is_empty());
    let starts = lines.iter().enumerate().filter(|(at, line)| {
        line.text.starts_with("# ") && below(*at).is_some_and(|line| address(line.text).is_some())
    });
    starts.map(|(_, line)| line.start).collect()
}

fn front_matters(lines: &[Line<'_>]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let block = &lines[at + 1..lines.len().min(at + 1 + MAX_FRONT_MATTER_LINES)];
        let end = block.iter().position(|line| line.text == "---");
        match end {
            Some(end) if lines[at].text == "---" && lines[at].is_outside && is_about_a_page(&block[..end]) => {
                starts.push(lines[at].start);
                at += end + 2;
            }
            _ => at += 1,
        }
    }
    starts
}

fn is_about_a_page(block: &[Line<'_>]) -> bool {
    let key = |line: &Line<'_>| line.text.split_once(':').map(|(key, _)| key.trim().to_lowercase());
    let opens_with_key = block
        .first()
        .is_some_and(|line| key(line).is_some_and(|key| !key.contains(' ')));
    opens_with_key
        && block
            .iter()
            .filter_map(key)
            .any(|key| PAGE_KEYS.contains(&key.as_str()))
}

fn headings(lines: &[Line<'_>]) -> Vec<usize> {
    let starts = lines
        .iter()
        .filter(|line| line.is_outside && line.text.starts_with("# "));
    starts.map(|line| line.start).collect()
}

fn address(line: &str) -> Option<&str> {
    let value = ADDRESS_KEYS.iter().find_map(|key| line.strip_prefix(key))?.trim();
    let value = value.trim_matches(['<', '>']);
    (value.starts_with("https://") || value.starts_with("http://") || value.starts_with('/')).then_some(value)
}

fn page(text: &str) -> Option<Draft> {
    let page = front_matter::split(text.trim_start());
    let mut matter = page.front_matter;
    let mut body = String::with_capacity(page.body.len());
    let mut location = location(&mut matter);
    let mut looks_for_address = location.is_none();
    for line in page.body.trim_start().split_inclusive('\n') {
        if looks_for_address && let Some(url) = address(line.trim_end()) {
            location = Some(url.to_owned());
            looks_for_address = false;
            continue;
        }
        looks_for_address &= line.trim().is_empty() || line.starts_with("# ");
        body.push_str(line);
    }
    let end = body.trim_end().trim_end_matches(['-', '*', '=']).trim_end().len();
    body.truncate(end);
    body.push('\n');
    if body.trim().is_empty() {
        return None;
    }
    let title = matter.title.clone().or_else(|| heading::first_heading(&body));
    let mut slug_suffix = None;
    if matter.slug.is_none() {
        matter.slug = location.as_deref().and_then(slug_of);
        if matter.slug.is_none() {
            slug_suffix = Some(slug::from_title(title.as_deref().unwrap_or("page")));
        }
    }
    matter.title = title;
    matter.source_urls.extend(location.filter(|url| !url.starts_with('/')));
    Some(Draft {
        slug_suffix,
        body,
        warning: page.problem.map(|reason| format!("front matter ignored: {reason}")),
        ..Draft::new(matter)
    })
}

/// The URL in the front matter, under one of several keys.
fn location(matter: &mut FrontMatter) -> Option<String> {
    ["url", "source", "canonical", "canonical_url"].iter().find_map(|key| {
        let is_address = |value: &Value| value.as_str().is_some_and(|text| text.starts_with(['/', 'h']));
        let value = matter.metadata.get(*key).filter(|value| is_address(value))?;
        let url = value.as_str()?.to_owned();
        matter.metadata.remove(*key);
        Some(url)
    })
}

fn slug_of(location: &str) -> Option<String> {
    let base = Url::parse("https://site.invalid").ok()?;
    let url = base.join(location).ok()?;
    if url.path() == "/" {
        return Some("index".to_owned());
    }
    Some(slug::from_path(
        Path::new(&slug::path_of_url(&url, None, has_page_extension)),
        None,
    ))
}

/// Numbers pages of the same name.
fn number(slug: &mut String, taken: &mut HashMap<String, usize>) {
    let count = taken.entry(slug.clone()).or_insert(0);
    *count += 1;
    if *count > 1 {
        *slug = format!("{slug}-{count}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slugs(drafts: &[Draft]) -> Vec<&str> {
        drafts
            .iter()
            .filter_map(|draft| draft.matter.slug.as_deref().or(draft.slug_suffix.as_deref()))
            .collect()
    }

    fn full(text: &str) -> Vec<Draft> {
        read(Path::new("llms-full.txt"), text)
    }

    #[test]
    fn headings_with_an_address_open_pages() {
        let drafts = full(
            "# Quickstart\nSource: https://docs.example.test/quickstart\n\nInstall it:\n\n```sh\n# a comment\nnpm i\n\n\n# Errors\nSource: https://docs.example.test/api/errors.md\n\nCodes.\n\n# Not a page\n\nText\n",
        );
        assert_eq!(slugs(&drafts), ["quickstart", "api/errors"]);
        assert_eq!(drafts[1].matter.title.as_deref(), Some("Errors"));
        assert_eq!(
            drafts[1].matter.source_urls,
            ["https://docs.example.test/api/errors.md"]
        );
        assert_eq!(drafts[1].body, "# Errors\n\nCodes.\n\n# Not a page\n\nText\n");
    }

    #[test]
    fn front_matter_opens_pages() {
        let drafts = full(
            "---\ntitle: Overview\nurl: https://a.test/docs/overview\n---\n\nText\n\n```yaml\n---\ntitle: example\n---\n```\n\n---\ntitle: \"Models\"\nurl: /docs/models\n---\n# Models\n",
        );
        assert_eq!(slugs(&drafts), ["docs/overview", "docs/models"]);
        assert!(drafts[0].body.contains("title: example"));
        assert!(drafts[1].matter.source_urls.is_empty());
    }

    #[test]
    fn headings_of_level_one_open_pages_if_nothing_else_does() {
        let drafts =
            full("Preface\n\n# Install\n\na\n\n---\n\n# Use it\n\nb\n\n```sh\n# comment\n```\n\n# Use it\n\nc\n");
        assert_eq!(slugs(&drafts), ["page", "install", "use-it", "use-it-2"]);
        assert_eq!(drafts[1].body, "# Install\n\na\n");
    }

    #[test]
    fn an_index_is_one_document() {
        let index = "# Kit\n\n> A kit for tests.\n\n## Docs\n\n- [Start](https://a.test/start.md): begin\n\n# More\n";
        let drafts = read(Path::new("llms.txt"), index);
        assert_eq!(drafts.len(), 1);
        assert_eq!(drafts[0].body, index);
        assert_eq!(drafts[0].matter.summary.as_deref(), Some("A kit for tests."));
        assert_eq!(slugs(&drafts), [""; 0]);
    }
}
