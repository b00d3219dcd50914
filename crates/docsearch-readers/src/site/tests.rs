use std::fs;

use super::*;

fn rule(name: &str) -> AnchorRule {
    AnchorRule::all().find(|rule| rule.name() == name).unwrap()
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The slug and URL of a page in a folder with a configuration, and its anchor rule.
fn place(configuration: (&str, &str), indexed: &str, page: &str) -> (Option<String>, Option<String>, AnchorRule) {
    let folder = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(folder.path()).unwrap();
    write(&top, configuration.0, configuration.1);
    write(&top, page, "# Page\n");
    let root = top.join(indexed);
    let sites = Sites::new(&root, SiteOptions::default());
    let path = top.join(page);
    let site = sites.of(path.parent().unwrap());
    let place = site.address_of(&root, &path, None, &Map::new());
    (place.slug, place.url, site.anchors())
}

#[test]
fn the_configuration_gives_the_urls_of_pages() {
    let docusaurus = (
        "site/docusaurus.config.js",
        "export default {\n  url: 'https://a.test',\n  baseUrl: '/kit/',\n  presets: [['classic', { docs: {\n      routeBasePath: 'guide',\n  } }]],\n}",
    );
    for (configuration, indexed, page, slug, url) in [
        (
            docusaurus,
            "site/docs",
            "site/docs/01-a/02-b.md",
            "a/b",
            "https://a.test/kit/guide/a/b",
        ),
        (
            docusaurus,
            "site",
            "site/docs/01-a/02-b.md",
            "guide/a/b",
            "https://a.test/kit/guide/a/b",
        ),
        (docusaurus, "site", "site/src/pages/c.md", "c", "https://a.test/kit/c"),
        (
            (
                "docs/.vitepress/config.mts",
                "export default {\n  base: '/x/',\n  sitemap: {\n    hostname: 'https://a.test' }\n}",
            ),
            "docs",
            "docs/guide/index.md",
            "guide",
            "https://a.test/x/guide/",
        ),
        (
            (
                "docs/.vitepress/config.mts",
                "export default {\n  sitemap: {\n    hostname: 'https://a.test' }\n}",
            ),
            "docs",
            "docs/guide/b.md",
            "guide/b",
            "https://a.test/guide/b.html",
        ),
        (
            ("mkdocs.yml", "site_name: K\nsite_url: https://a.test/k/\n"),
            "docs",
            "docs/b/c.md",
            "b/c",
            "https://a.test/k/b/c/",
        ),
        (
            ("mkdocs.yml", "site_url: https://a.test/k/\nuse_directory_urls: false\n"),
            "",
            "docs/b/c.md",
            "b/c",
            "https://a.test/k/b/c.html",
        ),
        (
            ("doc/conf.py", "project = 'K'\nhtml_baseurl = 'https://a.test/k/'\n"),
            "doc",
            "doc/b/index.rst",
            "b",
            "https://a.test/k/b/index.html",
        ),
        (
            ("book.toml", "[output.html]\nsite-url = \"https://a.test/k/\"\n"),
            "src",
            "src/b.md",
            "b",
            "https://a.test/k/b.html",
        ),
        (
            ("hugo.toml", "baseURL = 'https://a.test/'\n"),
            "content",
            "content/Docs/B.md",
            "docs/b",
            "https://a.test/docs/b/",
        ),
        (
            ("_config.yml", "url: https://a.test\nbaseurl: /k\n"),
            "",
            "b/c.md",
            "b/c",
            "https://a.test/k/b/c.html",
        ),
        (
            (
                "astro.config.mjs",
                "import starlight from '@astrojs/starlight'\nexport default defineConfig({\n  site: 'https://a.test',\n})",
            ),
            "src/content/docs",
            "src/content/docs/b.mdx",
            "b",
            "https://a.test/b/",
        ),
    ] {
        let found = place(configuration, indexed, page);
        assert_eq!(
            (found.0.as_deref(), found.1.as_deref()),
            (Some(slug), Some(url)),
            "{configuration:?} {page}"
        );
    }
}

#[test]
fn files_outside_the_pages_are_of_no_site() {
    assert_eq!(
        place(("mkdocs.yml", "site_url: https://a.test/"), "", "README.md"),
        (None, None, AnchorRule::default())
    );
    assert_eq!(
        place(("mkdocs.yml", "site_url: https://a.test/"), "", "docs/a.md").2,
        rule("mkdocs")
    );
}

#[test]
fn options_override_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    write(&root, "guide/a b.md", "# A\n");
    let options = SiteOptions {
        root_url: Some("https://a.test/docs/".to_owned()),
        url_suffix: Some(".html".to_owned()),
        anchors: Some(rule("vitepress")),
    };
    let site = Sites::new(&root, options).of(&root.join("guide"));
    let place = site.address_of(&root, &root.join("guide/a b.md"), None, &Map::new());
    assert_eq!(place.url.as_deref(), Some("https://a.test/docs/guide/a%20b.html"));
    assert_eq!((place.slug, site.anchors()), (None, rule("vitepress")));
}

#[test]
fn a_book_has_the_pages_of_its_summary() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    write(&root, "book.toml", "[book]\nsrc = \"text\"\n");
    write(
        &root,
        "text/SUMMARY.md",
        "# Contents\n\n- [A](./a.md)\n  - [B](b/c%20d.md)\n",
    );
    let site = Sites::new(&root, SiteOptions::default()).of(&root.join("text"));
    assert_eq!(site.leaves_out(&root.join("text/a.md")), None);
    assert_eq!(site.leaves_out(&root.join("text/b/c d.md")), None);
    assert_eq!(site.leaves_out(&root.join("text/x.md")), Some("not in SUMMARY.md"));
}
