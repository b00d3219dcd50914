//! Reads reStructuredText, as far as pages of Sphinx documentation need it. Unknown markup stays as text.

mod block;
mod context;
pub(crate) mod directive;
mod identifier;
mod inline;
mod label;
mod labelled_folder;
mod line;
mod reference;
mod substitution;
mod table;
#[cfg(test)]
mod tests;

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};

use crate::draft::{Draft, Unreadable};
use crate::folder::include_reader;
use crate::folder::inclusion::{self, Language};
use crate::formats::format::{self, Format, SiteAnchors, TextSource};
#[cfg(test)]
use crate::formats::growth;
use block::{PageReader, Scope};
use context::PageContext;
use labelled_folder::LabelledFolders;
use reference::References;

pub(crate) static FORMAT: Format = Format {
    extensions: &["rst"],
    media_types: &["text/x-rst", "text/prs.fallenstein.rst"],
    is_linked: true,
    includes: true,
    anchors: SiteAnchors::Headings,
    collect_shared: Some(|files| Box::new(LabelledFolders::of_files(files))),
    #[cfg(test)]
    fuzz_target: Some(Target::new("readers-rst", Grammar::RST, |input| {
        growth::check(&FORMAT, "guide/page.rst", input);
    })),
    ..Format::new(
        "rst",
        "reStructuredText",
        "reStructuredText, also in .txt",
        format::Reader::Text(read),
    )
};

fn read(source: &TextSource<'_>) -> Result<Vec<Draft>, Unreadable> {
    let draft = Draft::of_page(source.text, |text| {
        let (text, warning) = inclusion::expand(source.folder, source.path, text, Language::ReStructuredText);
        let labels = source.shared::<LabelledFolders>().zip(source.folder);
        let labels = labels.map(|(labels, folder)| labels.of(&folder.root, source.path));
        let context = PageContext::new(source, labels.unwrap_or_default());
        let (body, missing) = to_markdown_in(&text, context);
        let warning = warning.or_else(|| include_reader::warning(&missing));
        match is_filled_in(&text, &body) {
            true => Err(Unreadable::NoDocumentation(
                "generated from code by Sphinx: index the HTML that it builds",
            )),
            false => Ok((body, warning)),
        }
    })?;
    Ok(vec![draft])
}

/// Evidence for reStructuredText in a line without surrounding white space.
pub(crate) fn evidence(line: &str) -> usize {
    let directive = line
        .strip_prefix(".. ")
        .is_some_and(|rest| rest.starts_with('_') || rest.contains("::"));
    let role = line.find(":`").is_some_and(|end| line[..end].contains(':'));
    let literal = line.contains("``") && !line.starts_with("```");
    let reference = line.contains("`_");
    2 * usize::from(directive)
        + 2 * usize::from(role)
        + usize::from(literal)
        + usize::from(reference)
        + usize::from(line.ends_with("::"))
}

/// Converts a page to Markdown.
pub(crate) fn to_markdown(text: &str) -> String {
    to_markdown_in(text, PageContext::default()).0
}

/// The Markdown of a role with its content, outside a page.
pub(crate) fn role(name: &str, content: &str) -> String {
    inline::role_markdown(name, content, &References::default())
}

/// Converts a page to Markdown; also returns the files that could not be included.
fn to_markdown_in(text: &str, context: PageContext) -> (String, Vec<String>) {
    let lines = lines_of(text);
    let added = lines_of(&context.added_text());
    let mut reader = PageReader::new(&lines, &added, context);
    let mut blocks = reader.blocks(&lines, &Scope::page());
    blocks.extend(reader.blocks(&added, &Scope::page().nested()));
    let mut markdown = blocks.join("\n\n");
    if !markdown.is_empty() {
        markdown.push('\n');
    }
    (markdown, reader.missing)
}

fn lines_of(text: &str) -> Vec<String> {
    text.lines().map(line::without_tabs).collect()
}

/// Directives that Sphinx fills in from code.
const FILLED_IN: [&str; 14] = [
    "automodule",
    "autoclass",
    "autofunction",
    "automethod",
    "autodata",
    "autoexception",
    "autosummary",
    "click",
    "argparse",
    "autoprogram",
    "automodapi",
    "autodoc_pydantic_model",
    "doxygenfile",
    "doxygenclass",
];

/// Whether a page, which converts to `markdown`, has only headings and directives that Sphinx fills in.
fn is_filled_in(text: &str, markdown: &str) -> bool {
    // Of such a directive, only the name is left.
    let is_silent = |line: &str| {
        let name = line.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        line.is_empty() || line.starts_with('#') || name.is_some_and(|name| !name.contains(' '))
    };
    let has_text = !markdown.lines().all(|line| is_silent(line.trim()));
    let is_directive = |line: &str| {
        let name = line
            .trim_start()
            .strip_prefix(".. ")
            .and_then(|rest| rest.split_once("::"));
        name.is_some_and(|(name, _)| FILLED_IN.contains(&name))
    };
    !has_text && text.lines().any(is_directive)
}
