//! VitePress.

use std::path::Path;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{Generator, Included, InclusionSyntax, Routes};
use crate::file::slug;
use crate::site::Site;
use crate::site::anchor::{AnchorRule, Rule};
use crate::site::configuration::{excluded, first_of, inside, is_url, join, patterns, scalar};

pub(crate) static GENERATOR: Generator = Generator {
    configuration: Some(configuration),
    routes: Routes {
        is_folder_page: |name, _| slug::is_folder_page(name) && name != "readme",
        ..Routes::DEFAULT
    },
    anchor_rules: &[&ANCHORS],
    inclusion: Some(InclusionSyntax {
        marks: &["@include:", "<<<"],
        line: included,
        part: Some(("#region ", "#endregion ", "region")),
        ..InclusionSyntax::DEFAULT
    }),
    containers: &[".vp-doc"],
    noise: &["button.copy ~ span.lang", ".line-numbers-wrapper", ".header-anchor"],
    admonition_titles: &[".custom-block-title"],
    ..Generator::new("VitePress")
};

static ANCHORS: Rule = Rule {
    anchor: Some(anchor),
    ..Rule::new("vitepress", "VitePress")
};

/// Characters that become hyphens in anchors.
const SPECIAL: &str = "~`!@#$%^&*()-_+=[]{}|\\;:\"'“”‘’<>,.?/";

fn configuration(folder: &Path, _pages: &Path) -> Option<Site> {
    let inner = folder.join(".vitepress");
    let names = ["config.js", "config.ts", "config.mjs", "config.mts"];
    let text = match first_of(&inner, &names) {
        Some(text) => text,
        None if inner.is_dir() => {
            first_of(&inner.join("config"), &["index.js", "index.ts", "index.mts"]).unwrap_or_default()
        }
        None => return None,
    };
    let source = scalar(&text, "srcDir").unwrap_or_default();
    let base = scalar(&text, "hostname").filter(|url| is_url(url)).map(|url| {
        let below = scalar(&text, "base").unwrap_or_default();
        // With a base, the documentation of VitePress says, the host of its list of pages has it, too.
        match url.trim_end_matches('/').ends_with(below.trim_end_matches('/')) {
            true => join(&url, ""),
            false => join(&url, &below),
        }
    });
    let is_clean = scalar(&text, "cleanUrls").as_deref() == Some("true");
    Some(Site {
        generator: Some(&GENERATOR),
        content: inside(folder, &source),
        base,
        suffix: Some(if is_clean { "" } else { ".html" }.to_owned()),
        anchors: AnchorRule::of(&ANCHORS),
        excluded: excluded(&patterns(&text, "srcExclude"), true),
        ..Site::default()
    })
}

/// `<!--@include: file-->` and `<<< file#part`.
fn included(line: &str) -> Option<Included> {
    if let Some(comment) = line.strip_prefix("<!--") {
        let target = comment.trim_start().strip_prefix("@include:")?.strip_suffix("-->")?;
        return Some(Included::Text(target.trim().to_owned()));
    }
    let target = line.strip_prefix("<<< ")?.trim();
    let end = target.find(['{', ' ', '[']).unwrap_or(target.len());
    Some(Included::Code(target[..end].to_owned()))
}

/// `slugify` of @mdit-vue/shared.
fn anchor(heading: &str) -> String {
    let plain = heading.nfkd().filter(|c| !is_combining_mark(*c) && !c.is_control());
    let spaced: String = plain
        .map(|c| match c.is_whitespace() || SPECIAL.contains(c) {
            true => '-',
            false => c,
        })
        .collect();
    let words: Vec<&str> = spaced.split('-').filter(|word| !word.is_empty()).collect();
    let slug = words.join("-").to_lowercase();
    match slug.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!("_{slug}"),
        false => slug,
    }
}
