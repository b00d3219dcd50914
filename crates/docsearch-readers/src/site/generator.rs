//! Programs that make sites: where they publish pages, and how the pages that they build are made up.

mod antora;
mod docbook;
mod docusaurus;
mod doxygen;
mod github;
mod hugo;
mod javadoc;
mod jekyll;
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
use super::{Extensions, Site};
use crate::file::slug;
use crate::text::heading;

/// Every generator. The first whose configuration is there makes the site, and the first whose container is there has
/// built the page.
pub(crate) static GENERATORS: [&Generator; 14] = [
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
];

/// A program that makes a site of pages. Each is a `static` in a file of its own and a row of [`GENERATORS`].
pub struct Generator {
    /// As it writes itself.
    pub name: &'static str,
    /// The site that a folder configures, for the pages in a folder of it; `None` if it configures none.
    pub(crate) configuration: Option<fn(folder: &Path, pages: &Path) -> Option<Site>>,
    pub(crate) extensions: Extensions,
    pub(super) routes: Routes,
    /// Whether its URLs of a folder name the page: `/guide/index.html`.
    pub(super) names_index: bool,
    /// The title that the body of a page gives.
    pub(crate) title: fn(&str) -> Option<String>,
    /// The rules for anchors that it has beside GitHub's.
    pub(super) anchor_rules: &'static [&'static Rule],
    pub(crate) inclusion: Option<InclusionSyntax>,
    /// Folders of parts and templates that no site publishes.
    pub(crate) part_folders: &'static [&'static str],
    /// Whether its own sites publish nothing of a folder of this name.
    pub(crate) is_part_folder: fn(&str) -> bool,
    /// Folders of a built site that hold sources, listings of code and files for the browser.
    pub(crate) asset_folders: &'static [&'static str],
    /// Files that only the root of a built site has.
    pub(crate) root_files: &'static [&'static str],
    /// Whether an HTML file with this stem lists names.
    pub(crate) is_index_of_names: fn(&str) -> bool,
    /// Why a built page holds no documentation; `None` if it may.
    pub(crate) no_page: fn(&BuiltPage<'_>) -> Option<&'static str>,
    /// Selectors of the element that holds the text of a page and little else.
    pub(crate) containers: &'static [&'static str],
    /// Selectors of navigation, controls and marks.
    pub(crate) noise: &'static [&'static str],
    /// Selectors of headings of notes and warnings.
    pub(crate) admonition_titles: &'static [&'static str],
    /// How a description begins that only lists names.
    pub(crate) description_of_names: Option<&'static str>,
}

/// Where a generator publishes a page, by its path and its front matter.
pub(super) struct Routes {
    /// The whole path that the page sets itself.
    pub(super) path: for<'a> fn(slug: Option<&'a str>, matter: &'a Map<String, Value>) -> Option<&'a str>,
    /// Changes the segments of the path.
    pub(super) rewrite: fn(&mut Vec<String>),
    /// Whether a page of this name is the one of its folder, whose name is given; both in lower case.
    pub(super) stands_for_folder: fn(name: &str, folder: Option<&str>) -> bool,
    /// The last segment that the page sets itself.
    pub(super) name: for<'a> fn(slug: Option<&'a str>, matter: &'a Map<String, Value>) -> Option<&'a str>,
    /// Whether paths are in lower case, with hyphens for spaces.
    pub(super) is_lower_case: bool,
    /// The route of a post, where a blog has other routes.
    pub(super) post: Option<fn(relative: &Path, slug: Option<&str>) -> Route>,
}

impl Routes {
    pub(super) const DEFAULT: Self = Self {
        path: |_, _| None,
        rewrite: |_| {},
        stands_for_folder: |name, _| slug::is_folder_page(name),
        name: |_, _| None,
        is_lower_case: false,
        post: None,
    };
}

/// How a page of Markdown includes files.
pub(crate) struct InclusionSyntax {
    /// A text without any of these includes nothing.
    pub(crate) marks: &'static [&'static str],
    /// What a line includes.
    pub(crate) line: fn(&str) -> Option<Included>,
    /// A line that opens and ends a list of files.
    pub(crate) list_mark: Option<&'static str>,
    /// Opens a command within a line that includes a text and ends with `}}`.
    pub(crate) text_command: Option<&'static str>,
    /// The same for code.
    pub(crate) code_commands: &'static [&'static str],
    /// What opens and what ends a part of a file, and a text that the lines with them have.
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

/// The file that a line includes.
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
    /// The program that the page names, in lower case.
    pub(crate) generator: &'a str,
}

impl BuiltPage<'_> {
    /// Whether it has an element that matches `selector`.
    pub(super) fn has(&self, selector: &str) -> bool {
        self.page.select_single(selector).exists()
    }
}

impl Generator {
    /// A generator that says nothing of its pages; the rest is filled in with `..`.
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
            no_page: |_| None,
            containers: &[],
            noise: &[],
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
