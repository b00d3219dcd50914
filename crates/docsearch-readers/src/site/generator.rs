//! Site generators: where they publish pages, and the structure of the HTML that they build.

mod antora;
mod docbook;
mod docusaurus;
mod doxygen;
mod github;
mod hugo;
mod javadoc;
mod jekyll;
mod jsdoc;
mod mdbook;
mod mkdocs;
mod rustdoc;
mod sphinx;
mod starlight;
mod vitepress;

use std::fmt;
use std::path::Path;

use dom_query::Document;
use serde_json::{Map, Value};

use super::anchor::Rule;
use super::published::Route;
pub(crate) use sphinx::settings::{ExternalLink, SphinxSettings};

use super::{Extensions, Site};
use crate::file::slug;
use crate::text::heading;

/// Every generator, in order of precedence: for a folder with several configurations, and for a page with several
/// containers.
pub(crate) static GENERATORS: [&Generator; 15] = [
    &docusaurus::GENERATOR,
    &vitepress::GENERATOR,
    &mdbook::GENERATOR,
    &mkdocs::GENERATOR,
    &sphinx::GENERATOR,
    &starlight::GENERATOR,
    &antora::GENERATOR,
    &hugo::GENERATOR,
    &jekyll::GENERATOR,
    &github::GENERATOR,
    &rustdoc::GENERATOR,
    &docbook::GENERATOR,
    &doxygen::GENERATOR,
    &javadoc::GENERATOR,
    &jsdoc::GENERATOR,
];

/// A site generator. Each is a `static` in a file of its own and a row of [`GENERATORS`].
pub struct Generator {
    /// The name that it uses itself.
    pub name: &'static str,
    /// Reads the configuration in `folder`: the site of the pages in `pages`; `None` if there is no configuration.
    pub(crate) configuration: Option<fn(folder: &Path, pages: &Path) -> Option<Site>>,
    pub(crate) extensions: Extensions,
    pub(super) routes: Routes,
    /// Whether the URL of a folder names the file: `/guide/index.html`.
    pub(super) names_index: bool,
    /// Finds the title of a page in its body.
    pub(crate) title: fn(&str) -> Option<String>,
    /// Its anchor rules, other than GitHub's.
    pub(super) anchor_rules: &'static [&'static Rule],
    pub(crate) inclusion: Option<InclusionSyntax>,
    /// Folders of parts and templates, which no site publishes.
    pub(crate) part_folders: &'static [&'static str],
    /// Whether sites of this generator do not publish a folder of this name.
    pub(crate) is_part_folder: fn(&str) -> bool,
    /// Folders of a built site with sources, listings of code, and files for the browser.
    pub(crate) asset_folders: &'static [&'static str],
    /// Files that are only in the root of a built site.
    pub(crate) root_files: &'static [&'static str],
    /// Whether an HTML file with this stem is an index of names.
    pub(crate) is_index_of_names: fn(&str) -> bool,
    /// Why a built page is not documentation; `None` if it may be.
    pub(crate) exclusion: fn(&BuiltPage<'_>) -> Option<&'static str>,
    /// Selectors of the element that contains the text of a page and little else.
    pub(crate) containers: &'static [&'static str],
    /// Selectors of titles that are no headings.
    pub(crate) titles: &'static [&'static str],
    /// Selectors of navigation, controls and marks.
    pub(crate) noise: &'static [&'static str],
    /// Selectors of blocks of code that are in no `pre`.
    pub(crate) code: &'static [&'static str],
    /// Selectors of headings of notes and warnings.
    pub(crate) admonition_titles: &'static [&'static str],
    /// The beginning of a description that only lists names.
    pub(crate) description_of_names: Option<&'static str>,
}

/// How a generator derives the path of a page from its file and front matter.
pub(super) struct Routes {
    /// The path that the front matter sets.
    pub(super) path: for<'a> fn(slug: Option<&'a str>, matter: &'a Map<String, Value>) -> Option<&'a str>,
    /// Rewrites the segments of the path.
    pub(super) rewrite: fn(&mut Vec<String>),
    /// Whether a page of this name is the page of its folder. Both names are in lower case.
    pub(super) is_folder_page: fn(name: &str, folder: Option<&str>) -> bool,
    /// The last segment that the front matter sets.
    pub(super) name: for<'a> fn(slug: Option<&'a str>, matter: &'a Map<String, Value>) -> Option<&'a str>,
    /// Whether paths are in lower case, with hyphens for spaces.
    pub(super) is_lower_case: bool,
    /// The route of a blog post, if blogs differ.
    pub(super) post: Option<fn(relative: &Path, slug: Option<&str>) -> Route>,
}

impl Routes {
    pub(super) const DEFAULT: Self = Self {
        path: |_, _| None,
        rewrite: |_| {},
        is_folder_page: |name, _| slug::is_folder_page(name),
        name: |_, _| None,
        is_lower_case: false,
        post: None,
    };
}

/// The include syntax of a Markdown dialect.
pub(crate) struct InclusionSyntax {
    /// A text without any of these has no includes.
    pub(crate) marks: &'static [&'static str],
    /// Parses a line that includes a file.
    pub(crate) line: fn(&str) -> Option<Included>,
    /// The line that opens and closes a list of files.
    pub(crate) list_mark: Option<&'static str>,
    /// The start of an inline command that includes text; it ends with `}}`.
    pub(crate) text_command: Option<&'static str>,
    /// The same for commands that include code.
    pub(crate) code_commands: &'static [&'static str],
    /// What opens a part of a file, what closes it, and a text that is on both lines.
    pub(crate) part: Option<(&'static str, &'static str, &'static str)>,
}

impl InclusionSyntax {
    pub(crate) const DEFAULT: Self = Self {
        marks: &[],
        line: |_| None,
        list_mark: None,
        text_command: None,
        code_commands: &[],
        part: None,
    };

    pub(crate) fn commands(&self) -> impl Iterator<Item = &'static str> {
        self.text_command.into_iter().chain(self.code_commands.iter().copied())
    }
}

/// An included file.
pub(crate) enum Included {
    Text(String),
    Code(String),
}

/// A page of a built site.
pub(crate) struct BuiltPage<'a> {
    pub(crate) page: &'a Document,
    pub(crate) path: &'a Path,
    /// The name of its file without the extension.
    pub(crate) stem: &'a str,
    /// The generator that the page names, in lower case.
    pub(crate) generator: &'a str,
}

impl BuiltPage<'_> {
    /// Whether it has an element that matches `selector`.
    pub(super) fn has(&self, selector: &str) -> bool {
        self.page.select_single(selector).exists()
    }
}

impl Generator {
    /// A generator with defaults only; rows override them with `..`.
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            configuration: None,
            extensions: Extensions {
                mdx: false,
                liquid: false,
            },
            routes: Routes::DEFAULT,
            names_index: false,
            title: heading::first_heading,
            anchor_rules: &[],
            inclusion: None,
            part_folders: &[],
            is_part_folder: |_| false,
            asset_folders: &[],
            root_files: &[],
            is_index_of_names: |_| false,
            exclusion: |_| None,
            containers: &[],
            titles: &[],
            noise: &[],
            code: &[],
            admonition_titles: &[],
            description_of_names: None,
        }
    }
}

/// A name is unique among the generators.
impl PartialEq for Generator {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Generator {}

impl fmt::Debug for Generator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}
