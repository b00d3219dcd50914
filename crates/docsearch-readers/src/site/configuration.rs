//! Reading the configuration of a site, as far as it says where pages are published.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::generator::Generator;
use super::{AnchorRule, Site};

/// Larger configurations are read no further.
const MAX_BYTES: u64 = 1 << 20;

/// The site that `folder` configures and the pages in `of` belong to.
pub(super) fn read(folder: &Path, of: &Path) -> Option<Site> {
    docusaurus(folder, of)
        .or_else(|| vitepress(folder))
        .or_else(|| mdbook(folder))
        .or_else(|| mkdocs(folder))
        .or_else(|| sphinx(folder))
        .or_else(|| starlight(folder))
        .or_else(|| hugo(folder))
        .or_else(|| jekyll(folder))
        .filter(|site| of.starts_with(&site.content))
}

fn docusaurus(folder: &Path, of: &Path) -> Option<Site> {
    let text = first_of(
        folder,
        &[
            "docusaurus.config.js",
            "docusaurus.config.ts",
            "docusaurus.config.mjs",
            "docusaurus.config.cjs",
        ],
    )?;
    let route = scalar(&text, "routeBasePath").unwrap_or_else(|| "docs".to_owned());
    let below = of.strip_prefix(folder).ok()?;
    let mut parts = below.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let docs = scalar(&text, "path").unwrap_or_else(|| "docs".to_owned());
    let (content, route) = match parts.next()? {
        first if docs.trim_matches('/').split('/').next() == Some(first) => {
            (folder.join(docs.trim_matches('/')), route)
        }
        "versioned_docs" => {
            let version = parts.next()?;
            let number = version.strip_prefix("version-").unwrap_or(version);
            (folder.join("versioned_docs").join(version), format!("{route}/{number}"))
        }
        "blog" => (folder.join("blog"), "blog".to_owned()),
        "src" if parts.next() == Some("pages") => (folder.join("src/pages"), String::new()),
        _ => return None,
    };
    let base = scalar(&text, "url").filter(|url| is_url(url)).map(|url| {
        let below = scalar(&text, "baseUrl").unwrap_or_default();
        join(&url, &below)
    });
    let slashed = scalar(&text, "trailingSlash").as_deref() == Some("true");
    Some(Site {
        generator: Some(Generator::Docusaurus),
        content,
        route: route.trim_matches('/').to_owned(),
        base,
        suffix: Some(if slashed { "/" } else { "" }.to_owned()),
        ..Site::default()
    })
}

fn vitepress(folder: &Path) -> Option<Site> {
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
        generator: Some(Generator::VitePress),
        content: inside(folder, &source),
        base,
        suffix: Some(if is_clean { "" } else { ".html" }.to_owned()),
        anchors: AnchorRule::Vitepress,
        excluded: excluded(&patterns(&text, "srcExclude"), true),
        ..Site::default()
    })
}

fn mdbook(folder: &Path) -> Option<Site> {
    let text = first_of(folder, &["book.toml"])?;
    let source = scalar(&text, "src").unwrap_or_else(|| "src".to_owned());
    let content = inside(folder, &source);
    let summary = text_of(&content.join("SUMMARY.md"));
    Some(Site {
        generator: Some(Generator::MdBook),
        base: scalar(&text, "site-url")
            .filter(|url| is_url(url))
            .map(|url| join(&url, "")),
        suffix: Some(".html".to_owned()),
        listed: summary.map(|summary| Arc::new(listed(&summary))),
        content,
        ..Site::default()
    })
}

/// The pages that a table of contents links to.
fn listed(summary: &str) -> Vec<PathBuf> {
    let targets = summary.match_indices("](").filter_map(|(at, mark)| {
        let target = summary[at + mark.len()..].split(')').next()?.trim();
        let target = target.trim_matches(['<', '>']).split(['#', '?']).next()?;
        let path = target.strip_prefix("./").unwrap_or(target);
        let decoded = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
        (!path.is_empty()).then(|| PathBuf::from(decoded.as_ref()))
    });
    targets.collect()
}

fn mkdocs(folder: &Path) -> Option<Site> {
    let text = first_of(folder, &["mkdocs.yml", "mkdocs.yaml"])?;
    let docs = scalar(&text, "docs_dir").unwrap_or_else(|| "docs".to_owned());
    let is_flat = scalar(&text, "use_directory_urls").as_deref() == Some("false");
    let keeps_letters = text.contains("pymdownx.slugs");
    Some(Site {
        generator: Some(Generator::MkDocs),
        content: inside(folder, &docs),
        base: scalar(&text, "site_url")
            .filter(|url| is_url(url))
            .map(|url| join(&url, "")),
        suffix: Some(if is_flat { ".html" } else { "/" }.to_owned()),
        anchors: if keeps_letters {
            AnchorRule::Pymdownx
        } else {
            AnchorRule::Mkdocs
        },
        excluded: excluded(&patterns(&text, "exclude_docs"), false),
        ..Site::default()
    })
}

fn sphinx(folder: &Path) -> Option<Site> {
    let text = first_of(folder, &["conf.py"])?;
    if scalar(&text, "project").is_none() && !text.contains("extensions") {
        return None;
    }
    Some(Site {
        generator: Some(Generator::Sphinx),
        content: folder.to_owned(),
        base: scalar(&text, "html_baseurl")
            .filter(|url| is_url(url))
            .map(|url| join(&url, "")),
        suffix: Some(scalar(&text, "html_link_suffix").unwrap_or_else(|| ".html".to_owned())),
        anchors: AnchorRule::Sphinx,
        excluded: excluded(&patterns(&text, "exclude_patterns"), true),
        ..Site::default()
    })
}

fn starlight(folder: &Path) -> Option<Site> {
    let text = first_of(folder, &["astro.config.mjs", "astro.config.ts", "astro.config.js"])?;
    if !text.contains("starlight") {
        return None;
    }
    Some(Site {
        generator: Some(Generator::Starlight),
        content: folder.join("src/content/docs"),
        base: scalar(&text, "site").filter(|url| is_url(url)).map(|url| {
            let below = scalar(&text, "base").unwrap_or_default();
            join(&url, &below)
        }),
        suffix: Some(
            if scalar(&text, "trailingSlash").as_deref() == Some("never") {
                ""
            } else {
                "/"
            }
            .to_owned(),
        ),
        ..Site::default()
    })
}

fn hugo(folder: &Path) -> Option<Site> {
    let named = ["hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json"];
    let text = first_of(folder, &named).or_else(|| {
        let old = [
            "config.toml",
            "config.yaml",
            "config.yml",
            "config/_default/hugo.toml",
            "config/_default/config.toml",
        ];
        first_of(folder, &old).filter(|text| scalar(text, "baseURL").is_some())
    })?;
    let content = scalar(&text, "contentDir").unwrap_or_else(|| "content".to_owned());
    let is_flat = scalar(&text, "uglyURLs").as_deref() == Some("true");
    Some(Site {
        generator: Some(Generator::Hugo),
        content: inside(folder, &content),
        base: scalar(&text, "baseURL")
            .filter(|url| is_url(url))
            .map(|url| join(&url, "")),
        suffix: Some(if is_flat { ".html" } else { "/" }.to_owned()),
        ..Site::default()
    })
}

fn jekyll(folder: &Path) -> Option<Site> {
    let text = first_of(folder, &["_config.yml", "_config.yaml"])?;
    let is_pretty = scalar(&text, "permalink").is_some_and(|style| style == "pretty" || style.ends_with('/'));
    let plain = scalar(&text, "input").is_none_or(|input| input.eq_ignore_ascii_case("gfm"));
    Some(Site {
        generator: Some(Generator::Jekyll),
        content: folder.to_owned(),
        base: scalar(&text, "url").filter(|url| is_url(url)).map(|url| {
            let below = scalar(&text, "baseurl").unwrap_or_default();
            join(&url, &below)
        }),
        excluded: excluded(&patterns(&text, "exclude"), true),
        suffix: Some(if is_pretty { "/" } else { ".html" }.to_owned()),
        anchors: if plain {
            AnchorRule::Github
        } else {
            AnchorRule::Kramdown
        },
        ..Site::default()
    })
}

/// The value of the setting `key` that stands furthest to the left, in YAML, TOML, Python or JavaScript alike: these
/// files may be programs, and what they compute is not known.
fn scalar(text: &str, key: &str) -> Option<String> {
    let mut found: Option<(usize, String)> = None;
    let inline = text.lines().find_map(|line| {
        let places = line
            .match_indices(key)
            .map(|(at, _)| at)
            .filter(|&at| line[..at].ends_with(['{', ' ', ',']));
        let is_code = !line.trim_start().starts_with(['#', '/', '*']);
        places.filter(|_| is_code).find_map(|at| value(&line[at..], key))
    });
    for line in text.lines() {
        let trimmed = line.trim_start();
        let indentation = line.len() - trimmed.len();
        if found.as_ref().is_some_and(|(least, _)| *least <= indentation) {
            continue;
        }
        if let Some(value) = value(trimmed, key) {
            found = Some((indentation, value));
        }
    }
    found.map(|(_, value)| value).or(inline)
}

/// The patterns of the setting `key`: strings in brackets, items of a list, or the lines of a block.
fn patterns(text: &str, key: &str) -> Vec<String> {
    let Some(at) = text.match_indices(key).map(|(at, _)| at).find(|&at| {
        let line = text[..at].rsplit('\n').next().unwrap_or_default();
        line.trim_matches(['"', '\'', ' ', '{', ',', '\t']).is_empty()
    }) else {
        return Vec::new();
    };
    let rest = text[at + key.len()..].trim_start_matches(['"', '\'', ' ']);
    let Some(rest) = rest.strip_prefix([':', '=']) else {
        return Vec::new();
    };
    if let Some(list) = rest.trim_start().strip_prefix('[') {
        let list = list.split(']').next().unwrap_or_default();
        let quoted = list.split(['"', '\'']).skip(1).step_by(2);
        return quoted.map(str::to_owned).collect();
    }
    let lines = rest
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with([' ', '\t', '-']) || line.is_empty());
    lines
        .map(|line| {
            line.trim()
                .trim_start_matches("- ")
                .trim_matches(['"', '\''])
                .to_owned()
        })
        .filter(|line| !line.is_empty())
        .collect()
}

/// What a site leaves out. Patterns that are `anchored` begin at its folder even without a slash in them.
fn excluded(patterns: &[String], anchored: bool) -> Option<Arc<Gitignore>> {
    if patterns.is_empty() {
        return None;
    }
    let mut rules = GitignoreBuilder::new("");
    for pattern in patterns {
        let line = match anchored && !pattern.starts_with(['/', '!', '*']) {
            true => format!("/{pattern}"),
            false => pattern.clone(),
        };
        // A pattern that is none leaves nothing out.
        rules.add_line(None, &line).ok();
    }
    rules.build().ok().map(Arc::new)
}

fn value(line: &str, key: &str) -> Option<String> {
    let quoted = line.strip_prefix(['"', '\'']).unwrap_or(line);
    let rest = quoted.strip_prefix(key)?.trim_start_matches(['"', '\'']).trim_start();
    let rest = rest
        .strip_prefix([':', '='])
        .filter(|rest| !rest.starts_with('='))?
        .trim();
    let value = match rest.chars().next()? {
        quote @ ('"' | '\'' | '`') => rest[1..].split_once(quote)?.0,
        _ => rest.split([',', '#', ' ']).next()?.trim_end_matches(';'),
    };
    (!value.is_empty()).then(|| value.to_owned())
}

fn is_url(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// An address and a path below it, without a slash at the end.
fn join(url: &str, below: &str) -> String {
    let below = below.trim_matches('/');
    let url = url.trim_end_matches('/');
    if below.is_empty() {
        url.to_owned()
    } else {
        format!("{url}/{below}")
    }
}

/// A folder below another, wherever a setting says.
fn inside(folder: &Path, below: &str) -> PathBuf {
    let parts = Path::new(below)
        .components()
        .filter(|part| matches!(part, Component::Normal(_)));
    parts.fold(folder.to_owned(), |path, part| path.join(part))
}

fn first_of(folder: &Path, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| text_of(&folder.join(name)))
}

/// The beginning of a regular file.
fn text_of(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
