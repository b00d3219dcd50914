//! Doxygen.

use super::{BuiltPage, Generator};

pub(crate) static GENERATOR: Generator = Generator {
    exclusion,
    containers: &["#doc-content", ".contents > .textblock"],
    titles: &["div.headertitle > div.title"],
    noise: &[
        "#titlearea",
        "#main-nav",
        "#nav-path",
        "#side-nav",
        "#MSearchSelectWindow",
        "#MSearchResultsWindow",
        "div.header > div.summary",
        "div.title > div.ingroups",
        // Texts that a pointer over a name shows, and parts of addresses that no browser shows.
        ".ttc",
        ".obfuscator",
    ],
    code: &["div.fragment"],
    ..Generator::new("Doxygen")
};

/// Beginnings of the names of lists of every name, whole or by first letter.
const LISTS: [&str; 3] = ["functions", "globals", "namespacemembers"];

fn exclusion(page: &BuiltPage<'_>) -> Option<&'static str> {
    let is_of_doxygen = || page.generator.starts_with("doxygen");
    let is_part = |rest: &str| rest.is_empty() || rest.starts_with('_');
    let mut lists = LISTS.iter().filter_map(|list| page.stem.strip_prefix(list));
    if lists.any(is_part) && is_of_doxygen() {
        return Some("index of names");
    }
    if page.has("body.SRPage") && is_of_doxygen() {
        return Some("search page");
    }
    let is_listing = page.stem.ends_with("_source") && page.has("div.fragment .lineno") && is_of_doxygen();
    is_listing.then_some("listing of code")
}
