//! Reads reStructuredText, as far as pages of Sphinx documentation need it. Unknown markup stays as text.

mod block;
mod context;
pub(crate) mod directive;
mod identifier;
mod inline;
mod label;
mod labelled_folder;
mod line;
mod myst_page;
mod reference;
mod role;
mod substitution;
mod table;
#[cfg(test)]
mod tests;

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};

use crate::draft::front_matter::FrontMatter;
use crate::draft::unknown_names::UnknownNames;
use crate::draft::{Draft, Unreadable};
use crate::folder::include_reader;
use crate::folder::inclusion::{self, Language};
use crate::formats::format::{self, Format, SiteAnchors, TextSource};
#[cfg(test)]
use crate::formats::growth;
use block::{PageReader, Scope};
use context::PageContext;
use directive::vocabulary;
pub(crate) use labelled_folder::LabelledFolders;
use myst_page::MystPage;
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
    let (mut matter, mut unknown) = (FrontMatter::default(), UnknownNames::default());
    let mut draft = Draft::of_page(source.text, |text, _| {
        let (text, warning) = inclusion::expand(
            source.folder,
            source.path,
            text,
            Language::ReStructuredText,
            vocabulary::is_code,
        );
        let labels = source.shared::<LabelledFolders>().zip(source.folder);
        let labels = labels.map(|(labels, folder)| labels.of(&folder.root, source.path));
        let page = page(&text, PageContext::new(source, labels.unwrap_or_default()));
        (matter, unknown) = (page.matter, page.unknown);
        let warning = warning.or_else(|| include_reader::warning(&page.missing));
        match is_filled_in(&text, &page.markdown) {
            true => Err(Unreadable::NoDocumentation(
                "generated from code by Sphinx: index the HTML that it builds",
            )),
            false => Ok((page.markdown, warning)),
        }
    })?;
    draft.matter.summary = draft.matter.summary.or(matter.summary);
    if draft.matter.keywords.is_empty() {
        draft.matter.keywords = matter.keywords;
    }
    draft.unknown = unknown;
    Ok(vec![draft])
}

/// Evidence for reStructuredText in a line without surrounding white space.
pub(crate) fn evidence(line: &str) -> usize {
    let directive = line
        .strip_prefix(".. ")
        .is_some_and(|rest| rest.starts_with('_') || rest.contains("::"));
    let has_mark = line.contains('`');
    let role = has_mark && line.find(":`").is_some_and(|end| line[..end].contains(':'));
    let literal = has_mark && line.contains("``") && !line.starts_with("```");
    let reference = has_mark && line.contains("`_");
    2 * usize::from(directive)
        + 2 * usize::from(role)
        + usize::from(literal)
        + usize::from(reference)
        + usize::from(line.ends_with("::"))
}

/// A page in Markdown, and what was found in it.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) markdown: String,
    /// The files that could not be included, each with the reason.
    pub(crate) missing: Vec<String>,
    /// What the page says of itself for search engines.
    pub(crate) matter: FrontMatter,
    pub(crate) unknown: UnknownNames,
}

/// Converts a text without a folder to Markdown.
pub(crate) fn to_markdown(text: &str) -> String {
    page(text, PageContext::default()).markdown
}

/// Converts a page or a part of one.
fn page(text: &str, context: PageContext) -> Page {
    let lines = lines_of(text);
    let added = lines_of(&context.added_text());
    let mut reader = PageReader::new(&lines, &added, context);
    let mut blocks = reader.blocks(&lines, &Scope::page());
    blocks.extend(reader.blocks(&added, &Scope::page().nested()));
    let mut markdown = blocks.join("\n\n");
    if !markdown.is_empty() {
        markdown.push('\n');
    }
    Page {
        markdown,
        missing: reader.missing,
        matter: reader.matter,
        unknown: reader.references.unknown.into_inner(),
    }
}

/// What surrounds the parts of reStructuredText in a page of another format.
#[derive(Debug, Default)]
pub(crate) struct HostPage {
    context: PageContext,
    references: References,
    /// What references in MyST to the page itself can name.
    own: MystPage,
}

/// Parts of references that show the title of their target, in roles of both syntaxes and in links of MyST.
const MARKS_OF_REFERENCES: [&str; 5] = ["ref}`", "{doc}`", "ref:`", ":doc:`", "[]("];

impl HostPage {
    pub(crate) fn of(source: &TextSource<'_>) -> Self {
        let refers = MARKS_OF_REFERENCES.iter().any(|mark| source.text.contains(mark));
        let folders = source.shared::<LabelledFolders>().zip(source.folder).filter(|_| refers);
        let labels = folders.map(|(folders, folder)| folders.of(&folder.root, source.path));
        let context = PageContext::of_part(source, labels.unwrap_or_default());
        let own = if refers {
            MystPage::of(source.text)
        } else {
            MystPage::default()
        };
        let mut references = References::of_page(&[], &[], &context);
        references.add_labels(&own);
        Self {
            context,
            references,
            own,
        }
    }

    /// The title of what a link of MyST leads to, and the address; `None` if neither page nor label is known.
    pub(crate) fn link_to(&self, target: &str) -> Option<(String, String)> {
        let target = target.strip_prefix("project:").unwrap_or(target);
        let (page, anchor) = target.split_once('#').unwrap_or((target, ""));
        let name = if page.is_empty() { anchor } else { page };
        if page.is_empty() || anchor.is_empty() {
            if let Some(title) = self.own.sections.get(anchor).filter(|_| page.is_empty()) {
                return Some((title.clone(), target.to_owned()));
            }
            if let Some((Some(title), address)) = self.references.label(name) {
                return Some((inline::title_markdown(title), address));
            }
        }
        let page = ["md", "rst"]
            .iter()
            .find_map(|end| page.strip_suffix(end)?.strip_suffix('.'))
            .unwrap_or(page);
        let title = match anchor {
            "" => inline::title_markdown(self.references.title(page)?),
            anchor => self.references.section(page, anchor)?.to_owned(),
        };
        Some((title, target.to_owned()))
    }

    /// Converts a part of the page.
    pub(crate) fn page(&self, text: &str) -> Page {
        page(text, self.context.clone())
    }

    /// The Markdown of a role with its content.
    pub(crate) fn role(&self, name: &str, content: &str) -> String {
        inline::role_markdown(name, content, &self.references)
    }

    /// The names of roles that nothing defines.
    pub(crate) fn unknown(self) -> UnknownNames {
        self.references.unknown.into_inner()
    }
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
