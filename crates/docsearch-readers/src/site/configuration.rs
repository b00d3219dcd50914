//! Reads the settings of a site's configuration.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Maximum bytes of a configuration that are read.
const MAX_BYTES: u64 = 1 << 20;

/// The value of the least indented setting `key`, in YAML, TOML, Python or JavaScript. These files may be programs;
/// what they compute is not known.
pub(super) fn scalar(text: &str, key: &str) -> Option<String> {
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

/// The patterns of the setting `key`: strings in brackets, items of a list, or lines of a block.
pub(super) fn patterns(text: &str, key: &str) -> Vec<String> {
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

/// The files that a site excludes. If `anchored`, patterns without a slash match at its folder only.
pub(super) fn excluded(patterns: &[String], anchored: bool) -> Option<Arc<Gitignore>> {
    if patterns.is_empty() {
        return None;
    }
    let mut rules = GitignoreBuilder::new("");
    for pattern in patterns {
        let line = match anchored && !pattern.starts_with(['/', '!', '*']) {
            true => format!("/{pattern}"),
            false => pattern.clone(),
        };
        // An invalid pattern excludes nothing.
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

pub(super) fn is_url(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// A URL and a path below it, without a trailing slash.
pub(super) fn join(url: &str, below: &str) -> String {
    let below = below.trim_matches('/');
    let url = url.trim_end_matches('/');
    if below.is_empty() {
        url.to_owned()
    } else {
        format!("{url}/{below}")
    }
}

/// A folder below another; components that lead out are ignored.
pub(super) fn inside(folder: &Path, below: &str) -> PathBuf {
    let parts = Path::new(below)
        .components()
        .filter(|part| matches!(part, Component::Normal(_)));
    parts.fold(folder.to_owned(), |path, part| path.join(part))
}

pub(super) fn first_of(folder: &Path, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| text_of(&folder.join(name)))
}

/// The first [`MAX_BYTES`] of a regular file.
pub(super) fn text_of(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
