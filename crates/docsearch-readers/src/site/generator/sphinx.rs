//! Sphinx, with the themes of Read the Docs, pydata and Furo.

pub(super) mod settings;

use std::path::Path;
use std::sync::Arc;

use super::{Generator, Routes};
use crate::site::Site;
use crate::site::anchor::{AnchorRule, Rule, ascii};
use crate::site::configuration::{excluded, first_of, is_url, join, patterns, scalar};
use settings::SphinxSettings;

pub(crate) static GENERATOR: Generator = Generator {
    configuration: Some(configuration),
    routes: Routes {
        is_folder_page: |name, _| name == "index",
        ..Routes::DEFAULT
    },
    names_index: true,
    anchor_rules: &[&ANCHORS],
    part_folders: &["_templates", "_static", "_build"],
    asset_folders: &["_sources", "_static", "_modules", "_images", "_downloads"],
    root_files: &["genindex.html", "objects.inv", "searchindex.js"],
    is_index_of_names: |stem| stem.starts_with("genindex") || stem.ends_with("-modindex"),
    exclusion: |page| page.has(".viewcode-block, .viewcode-back").then_some("listing of code"),
    containers: &[
        // The themes of pydata.
        "article.bd-article",
        // Read the Docs.
        "[itemprop='articleBody']",
        // Furo.
        "article[role='main']",
    ],
    noise: &[
        ".headerlink",
        ".fn-backref",
        "[role='doc-backlink']:not(.toc-backref)",
        "[role='doc-noteref']",
        "a.footnote-reference",
        ".viewcode-link",
        ".copybtn",
        ".wy-breadcrumbs",
        ".rst-footer-buttons",
        ".prev-next-area",
        ".prev-next-footer",
        "div.related",
        ".sphinxsidebar",
        ".content-icon-container",
        ".bd-header-article",
        ".edit-this-page",
        ".toc-tree",
        ".toc-drawer",
        ".contents.local",
        ".contents.topic",
        ".page-toc",
    ],
    admonition_titles: &[".admonition-title", ".sidebar-title", ".topic-title"],
    ..Generator::new("Sphinx")
};

static ANCHORS: Rule = Rule {
    anchor: Some(docutils),
    numbers_unnamed: true,
    ..Rule::new("sphinx", "Sphinx")
};

fn configuration(folder: &Path, _pages: &Path) -> Option<Site> {
    let text = first_of(folder, &["conf.py"])?;
    if scalar(&text, "project").is_none() && !text.contains("extensions") {
        return None;
    }
    Some(Site {
        generator: Some(&GENERATOR),
        content: folder.to_owned(),
        base: scalar(&text, "html_baseurl")
            .filter(|url| is_url(url))
            .map(|url| join(&url, "")),
        suffix: Some(scalar(&text, "html_link_suffix").unwrap_or_else(|| ".html".to_owned())),
        anchors: AnchorRule::of(&ANCHORS),
        excluded: excluded(&patterns(&text, "exclude_patterns"), true),
        sphinx: Some(Arc::new(SphinxSettings::of(&text))),
        ..Site::default()
    })
}

/// `make_id` of docutils.
fn docutils(heading: &str) -> String {
    let plain: String = heading.to_lowercase().chars().map(without_marks).collect();
    let plain = ascii(&plain);
    let words: Vec<&str> = plain
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let joined = words.join("-");
    joined
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '-')
        .to_owned()
}

/// Letters that docutils writes otherwise and that have no marks to lose.
fn without_marks(letter: char) -> String {
    match letter {
        'ß' => "sz".to_owned(),
        'æ' => "ae".to_owned(),
        'œ' => "oe".to_owned(),
        'ø' => "o".to_owned(),
        'đ' => "d".to_owned(),
        'ħ' => "h".to_owned(),
        'ı' => "i".to_owned(),
        'ł' => "l".to_owned(),
        'ŧ' => "t".to_owned(),
        other => other.to_string(),
    }
}
