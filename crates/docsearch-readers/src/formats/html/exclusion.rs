//! Pages of a built site that are not documentation.

use std::path::{Component, Path};

use dom_query::Document;

use super::collapse;
use crate::site::{BuiltPage, GENERATORS};

/// A file in the root of every built site.
const FIRST_PAGE: &str = "index.html";
/// Maximum characters of a search page or redirect.
const SEARCH_PAGE_CHARACTERS: usize = 1500;

/// Why the file at `relative` is not documentation; `None` if its path does not show a reason.
pub(crate) fn no_documentation(root: &Path, relative: &Path) -> Option<&'static str> {
    let mut folder = root.to_owned();
    for component in relative.parent()?.components() {
        let Component::Normal(name) = component else {
            continue;
        };
        let is_asset = name.to_str().is_some_and(is_asset_folder);
        let root_files = GENERATORS.iter().flat_map(|generator| generator.root_files).copied();
        if is_asset && root_files.chain([FIRST_PAGE]).any(|file| folder.join(file).exists()) {
            return Some("source or asset of a site");
        }
        folder.push(name);
    }
    no_documentation_named(relative)
}

fn is_asset_folder(name: &str) -> bool {
    let mut folders = GENERATORS.iter().flat_map(|generator| generator.asset_folders);
    folders.any(|folder| *folder == name)
}

/// Why the page at `relative` is not documentation; `None` if its name does not show a reason.
pub(crate) fn no_documentation_named(relative: &Path) -> Option<&'static str> {
    let stem = relative.file_stem()?.to_str()?;
    if !super::is_named(relative) {
        return None;
    }
    if GENERATORS.iter().any(|generator| (generator.is_index_of_names)(stem)) {
        return Some("index of names");
    }
    let is_at_root = relative.components().count() == 1;
    (stem == "404" && is_at_root).then_some("error page")
}

/// Why the page is not documentation; `None` if its content does not show a reason.
pub(super) fn no_documentation_in(page: &Document, path: &Path) -> Option<&'static str> {
    if is_redirect(page) {
        return Some("redirect");
    }
    if page.select_single("frameset").exists() {
        return Some("frames");
    }
    let stem = path.file_stem()?.to_str()?;
    let generator = page
        .select_single("meta[name='generator']")
        .attr("content")
        .unwrap_or_default();
    let built = BuiltPage {
        page,
        path,
        stem,
        generator: &generator.to_lowercase(),
    };
    if let Some(reason) = GENERATORS.iter().find_map(|generator| (generator.exclusion)(&built)) {
        return Some(reason);
    }
    let is_search = stem == "search"
        && page.select_single("form, input, #search-results").exists()
        && page.select("body").text().chars().count() < SEARCH_PAGE_CHARACTERS;
    is_search.then_some("search page")
}

/// Whether the page redirects at once.
fn is_redirect(page: &Document) -> bool {
    page.select("meta[http-equiv]").iter().any(|meta| {
        let is_refresh = meta
            .attr("http-equiv")
            .is_some_and(|value| value.eq_ignore_ascii_case("refresh"));
        let content = meta.attr("content").unwrap_or_default().to_lowercase();
        // Without a URL, the page reloads itself.
        is_refresh
            && content
                .split_once(';')
                .is_some_and(|(_, address)| !address.trim().is_empty())
    }) && collapse(&page.select("body").text()).chars().count() < SEARCH_PAGE_CHARACTERS
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn sources_and_assets_of_a_site_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let reason = |path: &str| no_documentation(folder.path(), Path::new(path));
        assert_eq!(reason("_static/style.md"), None);
        fs::write(folder.path().join("index.html"), "").unwrap();
        assert_eq!(reason("_sources/a.rst.txt"), Some("source or asset of a site"));
        assert_eq!(reason("guide/_sources/a.rst.txt"), None);
        assert_eq!(reason("genindex-A.html"), Some("index of names"));
        assert_eq!(reason("404.html"), Some("error page"));
        assert_eq!(reason("status/404.html"), None);
        assert_eq!(reason("404.md"), None);
    }

    #[test]
    fn pages_without_documentation_are_detected_by_content() {
        let reason = |path: &str, html: &str| no_documentation_in(&Document::from(html), Path::new(path));
        for redirect in ["0; URL=new.html", "0;new.html"] {
            let page = format!("<meta http-equiv=Refresh content='{redirect}'><p>Moved</p>");
            assert_eq!(reason("old.html", &page), Some("redirect"));
        }
        assert_eq!(
            reason("status.html", "<meta http-equiv=refresh content=30><p>Up</p>"),
            None
        );
        let docbook = "<meta name=generator content='DocBook XSL Stylesheets V1.79.1'>";
        let index = "<div class=index><h1>Index</h1><dl><dt>vacuum</dt></dl></div>";
        let page = format!("{docbook}<body>{index}");
        assert_eq!(reason("bookindex.html", &page), Some("index of names"));
        let page = format!("{docbook}<body><div class=book><p>All of it.</p>{index}</div>");
        assert_eq!(reason("manual.html", &page), None);
        assert_eq!(reason("search.html", "<form><input></form>"), Some("search page"));
        assert_eq!(reason("search.html", "<h1>Search</h1><p>How search works.</p>"), None);
        assert_eq!(
            reason("print.html", "<p>x</p><script src='book.js'></script>"),
            Some("all pages in one")
        );
        assert_eq!(reason("print.html", "<p>Prints.</p>"), None);
        let jsdoc = "<article><pre class='prettyprint source linenums'><code>a()</code></pre></article>";
        assert_eq!(reason("ferry.js.html", jsdoc), Some("listing of code"));
        assert_eq!(reason("tutorial.html", jsdoc), None);
    }
}
