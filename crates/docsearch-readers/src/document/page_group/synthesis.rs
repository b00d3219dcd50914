//! From the pages of a group to their document.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use docsearch_core::documents::grouped_page::GroupedPage;
use docsearch_core::text::title::is_repeated_by;
use docsearch_core::values::bounds::{GROUPED_PAGES, TEXT_BYTES};
use serde_json::{Map, Value, json};

use super::section::{PageSection, page_section};
use super::{Group, GroupRule, folder_page};
use crate::document::Document;
use crate::file::slug;
use crate::page_questions::question_file::QuestionList;

/// Maximum bytes of the text. In a larger one, searches do not look for the section of a name.
pub const MAX_BODY_BYTES: usize = 1 << 20;
/// Chosen: maximum keywords or headings of a page in the summary.
const SAID_OF_PAGE: usize = 6;
/// Maximum keywords of the document.
const MAX_KEYWORDS: usize = 200;
/// Maximum letters of the anchor of a page.
const MAX_KEY: usize = 80;

/// The document of a group, or why it cannot be made. `pages` are in the order of the document, except for the page of
/// the folder, which moves to the front.
pub fn synthesise(
    group: &Group,
    rule: &GroupRule,
    pages: &mut [Document],
    prefix: Option<&str>,
) -> Result<Document, String> {
    if pages.len() > GROUPED_PAGES {
        return Err(format!("{} pages are too many for one document", pages.len()));
    }
    let is_own = |page: &Document| rule.folder.is_some() && is_page_of(page, &group.name);
    pages.sort_by_key(|page| !is_own(page));
    let pages = &*pages;
    let own = pages.first().filter(|page| is_own(page));
    let slug = slug_of(group, rule, own, prefix);
    let title = rule.title.clone().or_else(|| own.map(|page| page.title.clone()));
    let title = title.unwrap_or_else(|| name_of(group, rule));
    let mut taken = HashSet::new();
    let keys: Vec<String> = pages.iter().map(|page| key_of(&page.slug, &slug, &mut taken)).collect();
    let section = |(page, key): (&Document, &String)| {
        let problem = || format!("the text of \"{}\" ends inside an open block", page.slug);
        page_section(page, key).ok_or_else(problem)
    };
    let sections: Vec<PageSection> = pages.iter().zip(&keys).map(section).collect::<Result<_, String>>()?;
    let body: String = sections.iter().map(|section| section.markdown.as_str()).collect();
    if body.len() > MAX_BODY_BYTES {
        return Err(format!("{} bytes are too many for one document", body.len()));
    }
    let own_summary = rule
        .summary
        .as_deref()
        .or_else(|| own.and_then(|page| page.summary.as_deref()));
    let summary = summary(own_summary, &title, pages, &sections);
    let grouped = pages.iter().zip(keys).map(|(page, anchor)| GroupedPage {
        anchor,
        slug: Some(page.slug.clone()),
        source_path: page.source_path.clone(),
        source_url: page.source_urls.first().cloned(),
    });
    let source_path = match rule.folder.is_some() {
        true => Some(group.name.clone()),
        false => pages.first().and_then(|page| page.source_path.clone()),
    };
    let have_questions = pages.iter().any(|page| page.questions.is_some());
    let questions = sections.iter().flat_map(|section| &section.questions);
    let questions = have_questions.then(|| json!(QuestionList::of(questions).questions));
    Ok(Document {
        slug,
        title,
        body,
        category: common(pages, |page| page.category.as_ref()),
        kind: common(pages, |page| page.kind.as_ref()),
        version: common(pages, |page| page.version.as_ref()),
        summary: Some(summary),
        keywords: keywords(rule, pages),
        source_urls: source_urls(pages),
        source_path,
        source_root: group.source_root.clone(),
        metadata: common_metadata(pages),
        published_at: pages.iter().filter_map(|page| page.published_at.clone()).max(),
        anchors: sections
            .into_iter()
            .flat_map(|section| section.anchors)
            .collect::<BTreeMap<_, _>>(),
        parent: None,
        pages: grouped.collect(),
        questions,
    })
}

/// Whether a page is the index page of a folder.
fn is_page_of(page: &Document, folder: &str) -> bool {
    let Some(path) = page.source_path.as_deref().map(Path::new) else {
        return false;
    };
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    path.parent() == Some(Path::new(folder)) && stem.is_some_and(|stem| slug::is_folder_page(&stem))
}

fn slug_of(group: &Group, rule: &GroupRule, own: Option<&Document>, prefix: Option<&str>) -> String {
    let given = match (&rule.slug, own) {
        (Some(given), _) => slug::normalise(given),
        (None, Some(own)) => return own.slug.clone(),
        (None, None) if rule.folder.is_some() => return slug::from_path(&folder_page(&group.name), prefix),
        (None, None) => slug::from_title(&group.name),
    };
    let prefix = prefix.map(slug::normalise).filter(|prefix| !prefix.is_empty());
    prefix.into_iter().chain([given]).collect::<Vec<_>>().join("/")
}

/// The name of the folder, or the value in the front matter.
fn name_of(group: &Group, rule: &GroupRule) -> String {
    let name = match rule.folder.is_some() {
        true => group.name.rsplit('/').next().unwrap_or_default(),
        false => group.name.as_str(),
    };
    if name.is_empty() {
        "Pages".to_owned()
    } else {
        name.to_owned()
    }
}

/// The anchor of a page: its slug below that of the document. Dots are replaced, since they separate it from the
/// anchors on the page.
fn key_of(page: &str, document: &str, taken: &mut HashSet<String>) -> String {
    let below = page.strip_prefix(document).and_then(|below| below.strip_prefix('/'));
    let name = below.unwrap_or_else(|| page.rsplit('/').next().unwrap_or(page));
    let plain: String = name
        .chars()
        .flat_map(char::to_lowercase)
        .map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' })
        .take(MAX_KEY)
        .collect();
    let plain = match plain.trim_matches('-') {
        "" => "page",
        plain => plain,
    };
    let mut key = plain.to_owned();
    let mut number = 1;
    while !taken.insert(key.clone()) {
        number += 1;
        key = format!("{plain}-{number}");
    }
    key
}

/// The summary of the document, and a sentence for each page with its keywords, or else its headings.
fn summary(own_summary: Option<&str>, title: &str, pages: &[Document], sections: &[PageSection]) -> String {
    let mut text = own_summary.map(|own| format!("{}\n\n", own.trim())).unwrap_or_default();
    for (page, section) in pages.iter().zip(sections) {
        let words = match page.keywords.is_empty() {
            true => &section.headings,
            false => &page.keywords,
        };
        let words: Vec<&str> = words.iter().take(SAID_OF_PAGE).map(String::as_str).collect();
        let is_title = is_repeated_by(title, &page.title);
        let name = page.title.trim_end_matches(['.', ' ']);
        let sentence = match (is_title, words.is_empty()) {
            (true, true) => continue,
            (true, false) => format!("{}. ", words.join(", ")),
            (false, true) => format!("{name}. "),
            (false, false) => format!("{name}: {}. ", words.join(", ")),
        };
        if text.len() + sentence.len() > TEXT_BYTES {
            break;
        }
        text.push_str(&sentence);
    }
    match text.trim() {
        "" => title.to_owned(),
        text => text.to_owned(),
    }
}

fn keywords(rule: &GroupRule, pages: &[Document]) -> Vec<String> {
    let all = rule.keywords.iter().chain(pages.iter().flat_map(|page| &page.keywords));
    let mut seen = HashSet::new();
    let distinct = all.filter(|keyword| seen.insert(keyword.to_lowercase()));
    within(distinct).take(MAX_KEYWORDS).collect()
}

fn source_urls(pages: &[Document]) -> Vec<String> {
    let mut seen = HashSet::new();
    let urls = pages
        .iter()
        .flat_map(|page| &page.source_urls)
        .filter(|url| seen.insert(*url));
    within(urls).take(GROUPED_PAGES).collect()
}

/// Up to the maximum length of a list.
fn within<'a>(texts: impl Iterator<Item = &'a String>) -> impl Iterator<Item = String> {
    let mut bytes = 0;
    texts
        .take_while(move |text| {
            bytes += text.len();
            bytes <= TEXT_BYTES
        })
        .cloned()
        .collect::<Vec<_>>()
        .into_iter()
}

/// The value that all pages share, if they do.
fn common(pages: &[Document], value: impl Fn(&Document) -> Option<&String>) -> Option<String> {
    let first = value(pages.first()?)?;
    pages
        .iter()
        .all(|page| value(page) == Some(first))
        .then(|| first.clone())
}

fn common_metadata(pages: &[Document]) -> Map<String, Value> {
    let Some(first) = pages.first() else {
        return Map::new();
    };
    let is_common = |key: &str, value: &Value| pages.iter().all(|page| page.metadata.get(key) == Some(value));
    let common = first.metadata.iter().filter(|(key, value)| is_common(key, value));
    common.map(|(key, value)| (key.clone(), value.clone())).collect()
}
