//! Slugs of pages.

use std::path::Path;

use percent_encoding::percent_decode_str;
use url::Url;

/// Stems of files that are the page of their folder.
const FOLDER_PAGES: [&str; 3] = ["index", "_index", "readme"];

/// The slug of the file at `relative`, a path below the indexed folder: the path without its extension, with `-` for
/// white space. `index` and `README` get the slug of their folder. `prefix` goes in front.
pub fn from_path(relative: &Path, prefix: Option<&str>) -> String {
    let stem = relative.with_extension("");
    let mut segments: Vec<String> = stem
        .components()
        .flat_map(|component| {
            let segment = component.as_os_str().to_string_lossy();
            segment.split('\\').map(segment_text).collect::<Vec<_>>()
        })
        .filter(|segment| !matches!(segment.as_str(), "" | "." | ".."))
        .collect();
    let prefix = prefix.map(normalise).filter(|prefix| !prefix.is_empty());
    let names_folder = segments.last().is_some_and(|last| is_folder_page(last));
    if names_folder && (segments.len() > 1 || prefix.is_some()) {
        segments.pop();
    }
    prefix.into_iter().chain(segments).collect::<Vec<_>>().join("/")
}

/// Whether a page with this stem is the page of its folder.
pub fn is_folder_page(stem: &str) -> bool {
    FOLDER_PAGES.contains(&stem.to_lowercase().as_str())
}

/// The relative path that the page at `location` would have as a file: decoded, and always with an extension, since a
/// name may contain dots. Without a prefix, the first page of a site is named after the host. `names_file` tests
/// whether a path ends in the name of a file.
pub(crate) fn path_of_url(location: &Url, prefix: Option<&str>, names_file: impl Fn(&Path) -> bool) -> String {
    let decoded = percent_decode_str(location.path()).decode_utf8_lossy();
    let segments: Vec<&str> = decoded
        .split(['/', '\\', '\0'])
        .filter(|segment| !matches!(*segment, "" | "." | ".."))
        .collect();
    let path = segments.join("/");
    let is_first_page = match segments.as_slice() {
        [] => true,
        [only] => matches!(*only, "index.html" | "index.htm"),
        _ => false,
    };
    if is_first_page && prefix.is_none() {
        format!("{}.html", location.host_str().unwrap_or_default())
    } else if is_first_page {
        "index.html".to_owned()
    } else if names_file(Path::new(&path)) && !location.path().ends_with('/') {
        path
    } else {
        format!("{path}.html")
    }
}

/// Normalises a slug from front matter: without empty segments.
pub(crate) fn normalise(slug: &str) -> String {
    slug.split(['/', '\\'])
        .map(segment_text)
        .filter(|segment| !segment.is_empty())
        .collect::<Vec<_>>()
        .join("/")
}

/// A slug for a title: words in lower case, separated by hyphens.
pub(crate) fn from_title(title: &str) -> String {
    let words: Vec<String> = title
        .split(|character: char| !(character.is_alphanumeric() || matches!(character, '_' | '.')))
        .map(|word| word.trim_matches('.').to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        "page".to_owned()
    } else {
        words.join("-")
    }
}

fn segment_text(segment: &str) -> String {
    segment.split_whitespace().collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slug(path: &str) -> String {
        from_path(Path::new(path), None)
    }

    #[test]
    fn the_slug_is_the_path_without_extension_in_its_own_case() {
        assert_eq!(slug("ref/models/QuerySet.txt"), "ref/models/QuerySet");
        assert_eq!(slug("releases/4.2.1.txt"), "releases/4.2.1");
        assert_eq!(slug("User Guide/Getting  Started.md"), "User-Guide/Getting-Started");
        assert_eq!(slug("guide\\windows.md"), "guide/windows");
    }

    #[test]
    fn folder_pages_get_the_slug_of_the_folder() {
        assert_eq!(slug("guide/index.md"), "guide");
        assert_eq!(slug("guide/README.md"), "guide");
        assert_eq!(slug("guide/_index.md"), "guide");
        assert_eq!(slug("README.md"), "README");
        assert_eq!(from_path(Path::new("index.md"), Some("/django/")), "django");
    }

    #[test]
    fn the_prefix_comes_first() {
        assert_eq!(from_path(Path::new("a/b.md"), Some("django/5.2/")), "django/5.2/a/b");
    }

    #[test]
    fn urls_name_paths() {
        let is_page = |path: &Path| path.extension().is_some_and(|own| own == "html" || own == "md");
        let path = |url: &str| path_of_url(&Url::parse(url).unwrap(), None, is_page);
        assert_eq!(path("https://a.test/guide/intro.html"), "guide/intro.html");
        assert_eq!(path("https://a.test/guide/v1.2"), "guide/v1.2.html");
        assert_eq!(path("https://a.test/a%20b/%2e%2e/c.md/"), "c.md.html");
        assert_eq!(path("https://a.test/"), "a.test.html");
        assert_eq!(path("https://a.test/index.html"), "a.test.html");
        let root = Url::parse("https://a.test/").unwrap();
        assert_eq!(path_of_url(&root, Some("kit"), is_page), "index.html");
    }
}
