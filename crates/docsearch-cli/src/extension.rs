//! Extensions of the names of files that can be read.

use std::path::Path;

const PROSE: [&str; 12] = [
    "md", "mdx", "markdown", "txt", "rst", "html", "htm", "xhtml", "ipynb", "adoc", "asciidoc", "asc",
];
const DATA: [&str; 3] = ["json", "yaml", "yml"];

/// The extension in lower case; `None` for a name without one, or with one that is not UTF-8.
pub(crate) fn of(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// Whether the name is one of a page.
pub(crate) fn is_of_prose(path: &Path) -> bool {
    of(path).is_some_and(|extension| PROSE.contains(&extension.as_str()))
}

/// Whether the name is one of data, which may describe an interface.
pub(crate) fn is_of_data(path: &Path) -> bool {
    of(path).is_some_and(|extension| DATA.contains(&extension.as_str()))
}
