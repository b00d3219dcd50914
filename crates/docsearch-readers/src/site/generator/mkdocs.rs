//! MkDocs, with Material and the extensions of PyMdown.

use std::path::Path;

use unicode_normalization::UnicodeNormalization;

use super::{Generator, Included, InclusionSyntax, Routes};
use crate::file::slug;
use crate::site::Site;
use crate::site::anchor::{AnchorRule, Rule, ascii};
use crate::site::configuration::{excluded, first_of, inside, is_url, join, patterns, scalar};
use crate::text::heading;

pub(crate) static GENERATOR: Generator = Generator {
    configuration: Some(configuration),
    routes: Routes {
        is_folder_page: |name, _| slug::is_folder_page(name) && name != "_index",
        ..Routes::DEFAULT
    },
    title: heading::title,
    anchor_rules: &[&ANCHORS, &PYMDOWNX_ANCHORS],
    inclusion: Some(InclusionSyntax {
        marks: &[SNIPPET],
        line: included,
        list_mark: Some(SNIPPET),
        part: Some(("[start:", "[end:", SNIPPET)),
        ..InclusionSyntax::DEFAULT
    }),
    containers: &["article.md-content__inner"],
    noise: &[".footnote-backref", ".md-content__button", ".md-source-file"],
    ..Generator::new("MkDocs")
};

static ANCHORS: Rule = Rule {
    anchor: Some(|heading| python_markdown(&ascii(heading))),
    separator: '_',
    ..Rule::new("mkdocs", "MkDocs")
};

static PYMDOWNX_ANCHORS: Rule = Rule {
    anchor: Some(|heading| python_markdown(&heading.nfc().collect::<String>())),
    separator: '_',
    ..Rule::new("pymdownx", "MkDocs with slugs that keep letters of every script")
};

/// Opens an inclusion of PyMdown: `--8<-- "file:part"`, or a list of files between two lines with it.
const SNIPPET: &str = "--8<--";

fn configuration(folder: &Path, _pages: &Path) -> Option<Site> {
    let text = first_of(folder, &["mkdocs.yml", "mkdocs.yaml"])?;
    let docs = scalar(&text, "docs_dir").unwrap_or_else(|| "docs".to_owned());
    let is_flat = scalar(&text, "use_directory_urls").as_deref() == Some("false");
    let keeps_letters = text.contains("pymdownx.slugs");
    Some(Site {
        generator: Some(&GENERATOR),
        content: inside(folder, &docs),
        base: scalar(&text, "site_url")
            .filter(|url| is_url(url))
            .map(|url| join(&url, "")),
        suffix: Some(if is_flat { ".html" } else { "/" }.to_owned()),
        anchors: if keeps_letters {
            AnchorRule::of(&PYMDOWNX_ANCHORS)
        } else {
            AnchorRule::of(&ANCHORS)
        },
        excluded: excluded(&patterns(&text, "exclude_docs"), false),
        ..Site::default()
    })
}

fn included(line: &str) -> Option<Included> {
    let target = line.strip_prefix(SNIPPET)?.trim();
    let target = target.strip_prefix(['"', '\''])?.strip_suffix(['"', '\''])?;
    Some(Included::Text(target.to_owned()))
}

/// `slugify` of the extension `toc` of Python-Markdown.
fn python_markdown(heading: &str) -> String {
    let kept: String = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '_' || *c == '-' || c.is_whitespace())
        .collect();
    let words = kept.trim().to_lowercase();
    let words: Vec<&str> = words.split(|c: char| c == '-' || c.is_whitespace()).collect();
    // Runs in the text become one hyphen; one at either end stays.
    let mut slug = String::new();
    for (place, word) in words.iter().enumerate() {
        if place > 0 && !slug.ends_with('-') {
            slug.push('-');
        }
        slug.push_str(word);
    }
    slug
}
