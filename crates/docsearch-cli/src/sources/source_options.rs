//! Options for the pages of a source, from the command line or `docsearch.toml`.

use std::path::Path;

use docsearch_readers::document::ReadOptions;
use docsearch_readers::folder::pattern::globs;
use docsearch_readers::is_selector;
use docsearch_readers::site::{AnchorRule, SiteOptions};
use globset::GlobSet;
use url::Url;

use crate::process::error::Error;
use crate::sources::choice;

/// Maximum length of a URL suffix in bytes.
const MAX_SUFFIX: usize = 100;

/// Options of the pages of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct SourceOptions {
    /// Prefix of every slug
    #[arg(long)]
    pub(crate) prefix: Option<String>,
    /// Version of pages that do not name theirs
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// In folders, only files whose path matches; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,
    /// In folders, no files whose path matches; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// URL at which the folder is published, for links to its pages [default: from the configuration of its generator]
    #[arg(long, value_name = "URL")]
    pub(crate) root_url: Option<String>,
    /// Suffix of the path of a page in its URL: .html, / or nothing
    #[arg(long, value_name = "SUFFIX")]
    pub(crate) url_suffix: Option<String>,
    /// How to make anchors of headings without an identifier [default: as the generator does]
    #[arg(long, value_parser = choice::parser::<AnchorRule>())]
    pub(crate) anchors: Option<AnchorRule>,
    /// Element of HTML pages that contains their text [default: the container of a known generator,
    /// or what differs between pages]
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) content: Option<String>,
}

/// Selects files of a folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathFilter {
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl SourceOptions {
    /// These options, with `others` for those that are not set.
    pub(crate) fn or(&self, others: Self) -> Self {
        let patterns = |own: &Vec<String>, other| match own.is_empty() {
            true => other,
            false => own.clone(),
        };
        Self {
            prefix: self.prefix.clone().or(others.prefix),
            version: self.version.clone().or(others.version),
            include: patterns(&self.include, others.include),
            exclude: patterns(&self.exclude, others.exclude),
            root_url: self.root_url.clone().or(others.root_url),
            url_suffix: self.url_suffix.clone().or(others.url_suffix),
            anchors: self.anchors.or(others.anchors),
            content: self.content.clone().or(others.content),
        }
    }

    /// The options for the readers, without the patterns of paths.
    pub(crate) fn read_options(self) -> ReadOptions {
        ReadOptions {
            prefix: self.prefix,
            version: self.version,
            content: self.content,
            site: SiteOptions {
                root_url: self.root_url,
                url_suffix: self.url_suffix,
                anchors: self.anchors,
            },
            ..ReadOptions::default()
        }
    }

    /// Checks the values. `named` returns the name of a key in messages.
    pub(crate) fn check(&self, named: impl Fn(&str) -> String) -> Result<(), Error> {
        let problem = if let Some(root_url) = &self.root_url
            && !is_root(root_url)
        {
            Some((
                "root_url",
                root_url,
                "is not the URL of a site\nHINT:  Use one such as https://kit.example.com/docs/, without a query or a password.",
            ))
        } else if let Some(suffix) = &self.url_suffix
            && !is_suffix(suffix)
        {
            Some((
                "url_suffix",
                suffix,
                "is not a URL suffix\nHINT:  Use .html, / or nothing.",
            ))
        } else if let Some(selector) = &self.content
            && !is_selector(selector)
        {
            Some((
                "content",
                selector,
                "is not a CSS selector\nHINT:  Use one such as main, article.docs or #content.",
            ))
        } else {
            None
        };
        if let Some((key, value, problem)) = problem {
            return Err(Error::Usage(format!("{} \"{value}\" {problem}", named(key))));
        }
        self.filter().map(drop)
    }

    pub(crate) fn filter(&self) -> Result<PathFilter, Error> {
        Ok(PathFilter {
            include: match self.include.as_slice() {
                [] => None,
                patterns => Some(globs(patterns)?),
            },
            exclude: globs(&self.exclude)?,
        })
    }
}

impl PathFilter {
    /// Whether the file or folder at `path` is excluded.
    pub(crate) fn excludes(&self, path: &Path) -> bool {
        self.exclude.is_match(path)
    }

    /// Whether the file at `path`, relative to the folder, is selected.
    pub(crate) fn selects(&self, path: &Path) -> bool {
        self.include.as_ref().is_none_or(|set| set.is_match(path)) && !self.exclude.is_match(path)
    }
}

fn is_root(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    })
}

fn is_suffix(text: &str) -> bool {
    text.len() <= MAX_SUFFIX
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '-' | '_' | '~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_selected(include: &[&str], exclude: &[&str], path: &str) -> bool {
        let texts = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let options = SourceOptions {
            include: texts(include),
            exclude: texts(exclude),
            ..SourceOptions::default()
        };
        options.filter().unwrap().selects(Path::new(path))
    }

    #[test]
    fn patterns_match_whole_paths() {
        assert!(is_selected(&[], &[], "a.md"));
        assert!(is_selected(&["guide/**"], &[], "guide/deep/a.md"));
        assert!(is_selected(&["/guide/*.md"], &[], "guide/a.md"));
        assert!(!is_selected(&["guide/*.md"], &[], "guide/deep/a.md"));
        assert!(!is_selected(&["*.md"], &[], "guide/a.md"));
        assert!(!is_selected(&[], &["**/old-*"], "guide/old-a.md"));
        assert!(!is_selected(&["guide/**"], &["guide/drafts/"], "guide/drafts/a.md"));
        assert!(is_selected(&["guide/**"], &["guide/drafts/"], "guide/a.md"));
    }

    fn problem(options: &SourceOptions) -> Option<String> {
        let checked = options.check(|key| format!("--{}", key.replace('_', "-")));
        checked.err().map(|error| error.to_string())
    }

    #[test]
    fn invalid_values_are_errors() {
        let text = |text: &str| Some(text.to_owned());
        let site = |root_url, url_suffix| SourceOptions {
            root_url,
            url_suffix,
            ..SourceOptions::default()
        };
        let content = |selector: &str| SourceOptions {
            content: text(selector),
            ..SourceOptions::default()
        };
        let deep = format!("{}a{}", ":not(".repeat(10_000), ")".repeat(10_000));
        let pattern = SourceOptions {
            exclude: vec!["a[".to_owned()],
            ..SourceOptions::default()
        };
        for (options, expected) in [
            (pattern, "error parsing glob 'a['"),
            (
                site(text("kit.test/docs"), None),
                "--root-url \"kit.test/docs\" is not the URL",
            ),
            (site(text("ftp://kit.test/"), None), "--root-url"),
            (site(text("https://ada:secret@kit.test/"), None), "--root-url"),
            (site(text("https://kit.test/?page="), None), "--root-url"),
            (site(None, text("?x=1")), "--url-suffix \"?x=1\" is not a URL suffix"),
            (content("main >"), "--content \"main >\" is not a CSS selector"),
            (content(""), "--content"),
            (content(&deep), "--content"),
        ] {
            let problem = problem(&options).unwrap_or_default();
            assert!(problem.contains(expected) && problem.contains("HINT:"), "{problem}");
        }
        for options in [
            site(text("http://localhost:8000/kit"), text(".html")),
            site(None, text("/")),
            site(None, text("")),
            content("main > article.docs, [role=main]:not(.toc)"),
        ] {
            assert_eq!(problem(&options), None);
        }
    }

    #[test]
    fn the_first_options_override_others() {
        let first = SourceOptions {
            prefix: Some("a".to_owned()),
            exclude: vec!["x".to_owned()],
            ..SourceOptions::default()
        };
        let second = SourceOptions {
            prefix: Some("b".to_owned()),
            version: Some("2".to_owned()),
            include: vec!["y".to_owned()],
            exclude: vec!["z".to_owned()],
            content: Some("main".to_owned()),
            root_url: Some("https://kit.test".to_owned()),
            ..SourceOptions::default()
        };
        let expected = SourceOptions {
            prefix: Some("a".to_owned()),
            exclude: vec!["x".to_owned()],
            ..second.clone()
        };
        assert_eq!(first.or(second), expected);
    }
}
