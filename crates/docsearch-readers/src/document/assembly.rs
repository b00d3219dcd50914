//! From what a reader hands over to a document: its slug, title, addresses and anchors.

use std::path::{Component, Path, PathBuf};

use serde_json::json;

use super::{Document, ReadOptions, Reading, Source, no_page};
use crate::draft::front_matter::FrontMatter;
use crate::draft::{Draft, PART, Unreadable};
use crate::file::{extension, manual_page, slug};
use crate::markup::Markup;
use crate::page_questions;
use crate::site::{Generator, Place};
use crate::text::{heading, target};

/// The document of a draft.
pub(super) fn assemble(
    source: &Source<'_>,
    markup: Markup,
    draft: Draft,
    options: &ReadOptions<'_>,
) -> Result<Reading, Unreadable> {
    let Draft {
        below,
        matter,
        body,
        parent,
        warning,
    } = draft;
    if let Some(reason) = no_page::by_front_matter(&matter).or_else(|| no_page::by_text(&matter, &body)) {
        return Err(Unreadable::NoDocumentation(reason));
    }
    // A file with a title of its own is a page, whoever includes it.
    if source.is_included && matter.title.is_none() && heading::title(&body).is_none() {
        return Err(Unreadable::NoDocumentation(PART));
    }
    let place = match source.home {
        Some(home) => home
            .site
            .place(&home.root, &home.file, matter.slug.as_deref(), &matter.metadata),
        None => Place::default(),
    };
    let mut slug = slug(source, &matter, place.slug, options)?;
    if let Some(below) = below {
        slug = format!("{slug}/{}", slug::normalise(&below));
    }
    let body = match (source.home, markup) {
        (Some(home), Markup::Markdown | Markup::Mdx | Markup::ReStructuredText) => home.site.anchors().apply(&body),
        _ => body,
    };
    let (body, anchors) = target::take(&body);
    let generator = source.home.and_then(|home| home.site.generator());
    let title = matter.title.or_else(|| match generator {
        Some(Generator::MkDocs) => heading::title(&body),
        _ => heading::first_heading(&body),
    });
    let title = title.unwrap_or_else(|| file_title(source.path));
    let (questions, left_out) = match &matter.questions {
        Some(given) => {
            let (questions, left_out) = page_questions::front_matter::read(given, &title, &body);
            (
                (given.is_array() || given.is_null()).then(|| json!(questions)),
                left_out,
            )
        }
        None => (None, None),
    };
    let mut source_urls = matter.source_urls;
    if source_urls.is_empty() {
        source_urls.extend(source.url.map(str::to_owned).or(place.url));
    }
    let document = Document {
        slug,
        title,
        body,
        category: matter.category.or_else(|| first_folder(source.path)),
        kind: matter.kind,
        version: matter.version,
        summary: matter.summary,
        keywords: matter.keywords,
        source_urls,
        source_path: Some(source.path.to_string_lossy().into_owned()),
        source_root: options.source_root.to_owned(),
        metadata: matter.metadata,
        published_at: matter.published_at,
        anchors,
        pages: Vec::new(),
        questions,
        parent,
    };
    Ok(Reading {
        document,
        warning,
        left_out,
    })
}

/// As the page says, as its generator makes it, or as its path is.
fn slug(
    source: &Source<'_>,
    matter: &FrontMatter,
    published: Option<String>,
    options: &ReadOptions<'_>,
) -> Result<String, Unreadable> {
    let prefixed = |own: String| {
        let prefix = options.prefix.map(slug::normalise).filter(|prefix| !prefix.is_empty());
        prefix.into_iter().chain([own]).collect::<Vec<_>>().join("/")
    };
    if let Some(published) = published.map(|path| slug::normalise(&path)) {
        // The first page of a site is called as its file will be, whatever its source is.
        return Ok(match published.is_empty() {
            true => slug::from_path(Path::new("index.html"), options.prefix),
            false => prefixed(published),
        });
    }
    match &matter.slug {
        Some(own) if source.home.is_none_or(|home| home.site.generator().is_none()) => {
            let own = slug::normalise(own);
            match own.is_empty() {
                true => Err(Unreadable::EmptySlug),
                false => Ok(prefixed(own)),
            }
        }
        _ => Ok(slug::from_path(&slug_path(source.path), options.prefix)),
    }
}

/// The path that names the slug. The section of a page of the manual is part of its name: `crontab.1` is another page
/// than `crontab.5`.
fn slug_path(path: &Path) -> PathBuf {
    let path = extension::uncompressed(path);
    match extension::is_of_manual(&path)
        && extension::of(&path).is_some_and(|section| manual_page::is_section(&section))
    {
        true => path.with_added_extension("man"),
        false => path,
    }
}

fn file_title(relative: &Path) -> String {
    relative.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn first_folder(relative: &Path) -> Option<String> {
    let mut components = relative.components();
    match (components.next(), components.next()) {
        (Some(Component::Normal(folder)), Some(_)) => Some(folder.to_string_lossy().into_owned()),
        _ => None,
    }
}
