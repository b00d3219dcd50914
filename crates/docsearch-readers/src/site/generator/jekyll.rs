//! Jekyll.

use std::path::Path;

use serde_json::Value;

use super::{Generator, Routes};
use crate::site::anchor::{AnchorRule, Rule};
use crate::site::configuration::{excluded, first_of, is_url, join, patterns, scalar};
use crate::site::published::dated;
use crate::site::{Extensions, Site};

pub(crate) static GENERATOR: Generator = Generator {
    configuration: Some(configuration),
    extensions: Extensions {
        mdx: false,
        liquid: true,
    },
    routes: Routes {
        path: |_, matter| {
            let permalink = matter.get("permalink").and_then(Value::as_str).map(str::trim);
            permalink.filter(|path| !path.contains(':'))
        },
        rewrite,
        ..Routes::DEFAULT
    },
    anchor_rules: &[&ANCHORS],
    part_folders: &["_includes", "_include", "_layouts", "_data"],
    is_part_folder: |name| matches!(name, "_drafts" | "_sass" | "_plugins"),
    ..Generator::new("Jekyll")
};

static ANCHORS: Rule = Rule {
    anchor: Some(kramdown),
    ..Rule::new("kramdown", "Jekyll")
};

fn configuration(folder: &Path, _pages: &Path) -> Option<Site> {
    let text = first_of(folder, &["_config.yml", "_config.yaml"])?;
    let is_pretty = scalar(&text, "permalink").is_some_and(|style| style == "pretty" || style.ends_with('/'));
    let plain = scalar(&text, "input").is_none_or(|input| input.eq_ignore_ascii_case("gfm"));
    Some(Site {
        generator: Some(&GENERATOR),
        content: folder.to_owned(),
        base: scalar(&text, "url").filter(|url| is_url(url)).map(|url| {
            let below = scalar(&text, "baseurl").unwrap_or_default();
            join(&url, &below)
        }),
        excluded: excluded(&patterns(&text, "exclude"), true),
        suffix: Some(if is_pretty { "/" } else { ".html" }.to_owned()),
        anchors: if plain {
            AnchorRule::default()
        } else {
            AnchorRule::of(&ANCHORS)
        },
        ..Site::default()
    })
}

/// The segments of the address of a page. Posts are published by date.
fn rewrite(segments: &mut Vec<String>) {
    let is_post = segments.len() > 1 && segments[0] == "_posts";
    if is_post {
        segments.remove(0);
    }
    // A collection is a folder whose name begins with an underscore, which its addresses do not have.
    if let [first, _, ..] = segments.as_mut_slice()
        && let Some(name) = first.strip_prefix('_')
    {
        *first = name.to_owned();
    }
    if is_post && let Some(last) = segments.pop() {
        match dated(&last) {
            Some((date, name)) => {
                segments.extend(date);
                segments.push(name.to_owned());
            }
            None => segments.push(last),
        }
    }
}

/// `basic_generate_id` of kramdown.
fn kramdown(heading: &str) -> String {
    let from = heading.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(heading.len());
    let kept = heading[from..]
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == ' ' || *c == '-');
    let slug: String = kept
        .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
        .collect();
    if slug.is_empty() { "section".to_owned() } else { slug }
}
