//! Javadoc.

use super::{BuiltPage, Generator};

pub(crate) static GENERATOR: Generator = Generator {
    exclusion,
    noise: &[".topNav", ".bottomNav", ".subNav", ".skipNav", ".skip-nav", ".sub-nav"],
    // Followed by the names that the page declares.
    description_of_names: Some("declaration: "),
    ..Generator::new("Javadoc")
};

/// Lists of every name.
const LISTS: [&str; 15] = [
    "allclasses",
    "allclasses-frame",
    "allclasses-index",
    "allclasses-noframe",
    "allpackages-index",
    "constant-values",
    "deprecated-list",
    "help-doc",
    "index-all",
    "overview-frame",
    "overview-tree",
    "package-frame",
    "package-tree",
    "package-use",
    "serialized-form",
];

fn exclusion(page: &BuiltPage<'_>) -> Option<&'static str> {
    let is_javadoc = || page.generator.starts_with("javadoc") || page.has("script[src$='member-search-index.js']");
    let is_list = LISTS.contains(&page.stem) && is_javadoc();
    let is_use = page.path.components().any(|part| part.as_os_str() == "class-use");
    (is_list || is_use).then_some("index of names")
}
