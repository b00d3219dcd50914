use std::fs;

use super::*;
use crate::sources::project_file::SourceSettings;

/// The settings in the file that is written for a folder with these files.
fn settings(files: &[(&str, &str)]) -> Vec<SourceSettings> {
    let place = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(place.path()).unwrap();
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let path = folder.join(project_file::NAME);
    fs::write(&path, file_text("the \"kit\"", &Inspection::of(&folder).unwrap())).unwrap();
    let mut settings = project_file::read(&path).unwrap();
    for path in settings.iter_mut().flat_map(|source| &mut source.paths) {
        *path = path.strip_prefix(&folder).unwrap().to_owned();
    }
    settings
}

/// Paths, prefix, version and excluded patterns.
fn summary(settings: &[SourceSettings]) -> Vec<(String, &str, &str, String)> {
    let text = |value: &'_ Option<String>| value.clone().unwrap_or_default();
    settings
        .iter()
        .map(|source| {
            let paths: Vec<String> = source.paths.iter().map(|path| path.display().to_string()).collect();
            assert_eq!(source.project, "the \"kit\"");
            assert_eq!(text(&source.options.root_url), "");
            (
                paths.join(" "),
                source.options.prefix.as_deref().unwrap_or_default(),
                source.options.version.as_deref().unwrap_or_default(),
                source.options.exclude.join(" "),
            )
        })
        .collect()
}

fn entry(
    paths: &str,
    prefix: &'static str,
    version: &'static str,
    exclude: &str,
) -> (String, &'static str, &'static str, String) {
    (paths.to_owned(), prefix, version, exclude.to_owned())
}

#[test]
fn documentation_beside_code_is_found() {
    let found = settings(&[
        ("README.md", "# Kit"),
        ("docs/a.md", "# A"),
        ("docs/fixtures/b.md", "# B"),
        ("src/notes.md", "# Notes"),
    ]);
    assert_eq!(summary(&found), [entry("docs README.md", "", "", "**/fixtures/**")]);
}

#[test]
fn a_folder_with_only_pages_is_read_completely() {
    let found = settings(&[("a.md", "# A"), ("guide/LICENSE.md", "Free")]);
    assert_eq!(summary(&found), [entry("", "", "", "**/LICENSE.*")]);
}

#[test]
fn versions_of_a_generator_are_sources() {
    let found = settings(&[
        (
            "web/docusaurus.config.js",
            "export default { url: 'https://kit.test', baseUrl: '/' }",
        ),
        ("web/docs/a.md", "# A"),
        ("web/versioned_docs/version-1.2/a.md", "# A"),
        ("web/versioned_docs/version-1.10/a.md", "# A"),
        ("web/blog/news.md", "# News"),
        ("web/node_modules/x/docs/a.md", "# A"),
    ]);
    assert_eq!(
        summary(&found),
        [
            entry("web/docs", "web", "", ""),
            entry("web/versioned_docs/version-1.10", "web/1.10", "1.10", ""),
            entry("web/versioned_docs/version-1.2", "web/1.2", "1.2", ""),
        ]
    );
}

#[test]
fn folders_of_versions_are_sources_and_the_rest_is_one() {
    let found = settings(&[
        ("docs/v1/a.md", "# A"),
        ("docs/v2.x/a.md", "# A"),
        ("docs/news/a.md", "# A"),
    ]);
    assert_eq!(
        summary(&found),
        [
            entry("docs", "", "", "v1/ v2.x/"),
            entry("docs/v1", "1", "1", ""),
            entry("docs/v2.x", "2.x", "2.x", ""),
        ]
    );
    let single = settings(&[("docs/2024/a.md", "# A"), ("docs/b.md", "# B")]);
    assert_eq!(summary(&single), [entry("docs", "", "", "")]);
}

#[test]
fn an_existing_file_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join(project_file::NAME);
    write(&path, "first", false).unwrap();
    let error = write(&path, "second", false).unwrap_err().to_string();
    assert!(error.contains("nothing was changed\nHINT:"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "first");
    write(&path, "third", true).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "third");
}

#[test]
fn a_folder_without_documentation_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("main.c"), "int main;").unwrap();
    assert!(Inspection::of(place.path()).unwrap_err().to_string().contains("HINT:"));
}
