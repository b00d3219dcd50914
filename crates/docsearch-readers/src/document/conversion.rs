//! From the text of a file to drafts, by the reader of its markup.

use std::sync::Arc;

use super::{ReadOptions, Source};
use crate::draft::{Draft, Unreadable, front_matter};
use crate::folder::inclusion::{self, Language};
use crate::formats::markdown::{self, Extensions};
use crate::formats::rst::Elsewhere;
use crate::formats::{asciidoc, html, llms, notebook, openapi, roff, rst};
use crate::markup::Markup;

/// The documents of a text.
pub(super) fn drafts(
    source: &Source<'_>,
    markup: Markup,
    text: &str,
    options: &ReadOptions<'_>,
) -> Result<Vec<Draft>, Unreadable> {
    Ok(match markup {
        Markup::Plain => vec![page(text, |text| Ok((text.to_owned(), None)))?],
        Markup::Markdown | Markup::Mdx => vec![page(text, |text| {
            let own = source.home.map(|home| home.site.extensions()).unwrap_or_default();
            let extensions = Extensions {
                mdx: own.mdx || markup == Markup::Mdx,
                ..own
            };
            let (text, warning) = inclusion::expand(source.folder, source.path, text, Language::Markdown);
            let rule = source.home.map(|home| home.site.anchors()).unwrap_or_default();
            let body = rule.mark_quoted(&markdown::to_markdown(&text, extensions));
            Ok((body, warning))
        })?],
        Markup::ReStructuredText => vec![page(text, |text| {
            let (text, warning) = inclusion::expand(source.folder, source.path, text, Language::ReStructuredText);
            let elsewhere = match (options.labels, source.folder) {
                (Some(labels), Some(folder)) => labels.of(&folder.root, source.path),
                _ => Elsewhere::default(),
            };
            let body = rst::to_markdown_in(&text, elsewhere);
            match rst::is_filled_in(&text, &body) {
                true => Err(Unreadable::NoDocumentation(
                    "filled in from code by Sphinx: index the HTML that it builds",
                )),
                false => Ok((body, warning)),
            }
        })?],
        Markup::AsciiDoc => asciidoc::read(source.folder, source.path, text)?,
        Markup::Roff => vec![roff::read(text)?],
        Markup::Html => vec![html_draft(source, text, options)?],
        Markup::Notebook => vec![notebook::read(text)?],
        Markup::OpenApi => openapi::read(text)?,
        Markup::Llms => llms::read(source.path, text),
        Markup::Pdf | Markup::Docx | Markup::Epub => Vec::new(),
    })
}

/// A page with front matter, whose text becomes Markdown, maybe with a warning.
fn page(
    text: &str,
    convert: impl FnOnce(&str) -> Result<(String, Option<String>), Unreadable>,
) -> Result<Draft, Unreadable> {
    let page = front_matter::split(text);
    let (body, warning) = convert(page.body)?;
    let problem = page.problem.map(|reason| format!("front matter ignored: {reason}"));
    Ok(Draft {
        body,
        warning: problem.or(warning),
        ..Draft::new(page.front_matter)
    })
}

fn html_draft(source: &Source<'_>, text: &str, options: &ReadOptions<'_>) -> Result<Draft, Unreadable> {
    let frame = match (options.frames, source.folder) {
        (Some(frames), Some(folder)) => frames.of(&folder.root),
        _ => Arc::default(),
    };
    html::read(source.path, text, options.content, &frame)
}
