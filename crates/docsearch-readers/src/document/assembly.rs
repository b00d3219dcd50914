//! From a draft to a document: its slug, title, addresses and anchors.

use std::path::{Component, Path, PathBuf};

use docsearch_core::documents::markdown::sections;
use serde_json::json;

use super::{Document, Origin, ReadOptions, ReaderOutput, exclusion};
use crate::draft::front_matter::FrontMatter;
use crate::draft::{Draft, PART, Unreadable};
use crate::file::{extension, manual_page, slug};
use crate::folder::included::Inclusion;
use crate::formats::format::{Format, SiteAnchors};
use crate::page_questions;
use crate::site::PageAddress;
use crate::text::{heading, target};

/// The document of a draft.
pub(super) fn assemble(
    origin: &Origin<'_>,
    format: &Format,
    draft: Draft,
    options: &ReadOptions,
) -> Result<ReaderOutput, Unreadable> {
    let Draft {
        slug_suffix,
        matter,
        body,
        parent,
        warning,
        unknown,
    } = draft;
    if let Some(reason) = exclusion::by_front_matter(&matter).or_else(|| exclusion::by_text(&matter, &body)) {
        return Err(Unreadable::NoDocumentation(reason));
    }
    // In most formats, a file with a title of its own is a page even if others include it.
    let is_part = match origin.inclusion() {
        Inclusion::Whole if format.included_is_part => true,
        Inclusion::Nothing | Inclusion::IsBook => false,
        Inclusion::Whole | Inclusion::Parts => matter.title.is_none() && heading::title(&body).is_none(),
    };
    if is_part {
        return Err(Unreadable::NoDocumentation(PART));
    }
    let address = match origin.site {
        Some(file) => file
            .site
            .address_of(&file.root, &file.path, matter.slug.as_deref(), &matter.metadata),
        None => PageAddress::default(),
    };
    let mut slug = slug(origin, &matter, address.slug, options)?;
    if let Some(slug_suffix) = slug_suffix {
        slug = format!("{slug}/{}", slug::normalise(&slug_suffix));
    }
    let rule = origin.anchors();
    let body = match format.anchors {
        SiteAnchors::None | SiteAnchors::Identifiers => body,
        SiteAnchors::Headings => rule.apply(&body),
        SiteAnchors::HeadingsAndQuotations => rule.apply(&rule.mark_quoted(&body)),
    };
    let (body, mut anchors) = target::take(&body);
    if format.anchors == SiteAnchors::Identifiers {
        let made = sections(&body)
            .into_iter()
            .filter(|section| section.level > 0 && !section.is_named);
        // As in a browser, they lead to the beginning.
        anchors.extend(made.map(|section| (section.anchor, String::new())));
    }
    let title_of = origin
        .generator()
        .map_or(heading::first_heading as fn(&str) -> Option<String>, |generator| {
            generator.title
        });
    let title = matter.title.or_else(|| title_of(&body));
    let title = title.unwrap_or_else(|| file_title(origin.path));
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
        source_urls.extend(origin.url.map(str::to_owned).or(address.url));
    }
    let mut metadata = matter.metadata;
    let unusable = options.boosts.note(origin.path, &mut metadata);
    let document = Document {
        slug,
        title,
        body,
        category: matter.category.or_else(|| first_folder(origin.path)),
        kind: matter.kind,
        version: matter.version.or_else(|| options.version.clone()),
        summary: matter.summary,
        keywords: matter.keywords,
        source_urls,
        source_path: Some(origin.path.to_string_lossy().into_owned()),
        source_root: origin.source_root.to_owned(),
        metadata,
        published_at: matter.published_at,
        anchors,
        pages: Vec::new(),
        questions,
        parent,
    };
    Ok(ReaderOutput {
        document,
        warning: warning.or(unusable),
        left_out,
        unknown,
    })
}

/// The slug from the front matter, from the generator's route, or from the path.
fn slug(
    origin: &Origin<'_>,
    matter: &FrontMatter,
    published: Option<String>,
    options: &ReadOptions,
) -> Result<String, Unreadable> {
    let prefixed = |own: String| {
        let prefix = options.prefix.as_deref().map(slug::normalise);
        let prefix = prefix.filter(|prefix| !prefix.is_empty());
        prefix.into_iter().chain([own]).collect::<Vec<_>>().join("/")
    };
    if let Some(published) = published.map(|path| slug::normalise(&path)) {
        // The first page of a site has the slug of its file, whatever the source is.
        return Ok(match published.is_empty() {
            true => slug::from_path(Path::new("index.html"), options.prefix.as_deref()),
            false => prefixed(published),
        });
    }
    match &matter.slug {
        Some(own) if origin.generator().is_none() => {
            let own = slug::normalise(own);
            match own.is_empty() {
                true => Err(Unreadable::EmptySlug),
                false => Ok(prefixed(own)),
            }
        }
        _ => Ok(slug::from_path(&slug_path(origin.path), options.prefix.as_deref())),
    }
}

/// The path that gives the slug. The section of a manual page is part of its name: `crontab.1` is not `crontab.5`.
fn slug_path(path: &Path) -> PathBuf {
    let path = extension::uncompressed(path);
    match extension::may_be_manual_page(&path)
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
