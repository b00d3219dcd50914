//! What the user says about the pages of a source, on the command line or in `docsearch.toml`.

use std::path::Path;

use docsearch_readers::document::ReadOptions;
use docsearch_readers::folder::pattern::globs;
use docsearch_readers::is_selector;
use docsearch_readers::site::{AnchorRule, SiteOptions};
use globset::GlobSet;
use url::Url;

use crate::process::error::Error;
use crate::sources::choice;

/// Bytes of what follows a path.
const MAX_SUFFIX: usize = 100;

/// Options of the pages of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct SourceOptions {
    /// Put in front of every slug
    #[arg(long)]
    pub(crate) prefix: Option<String>,
    /// Version of the pages that do not say theirs
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// Of folders, only files with such a path in them; may be given again
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,
    /// Of folders, no files with such a path in them; may be given again
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Where the folder is published; links of pages are for there [default: as the configuration of its generator says]
    #[arg(long, value_name = "URL")]
    pub(crate) root_url: Option<String>,
    /// What follows the path of a page in its URL: .html, / or nothing
    #[arg(long, value_name = "SUFFIX")]
    pub(crate) url_suffix: Option<String>,
    /// How headings without an identifier get their anchors [default: as the generator does it]
    #[arg(long, value_parser = choice::parser::<AnchorRule>())]
    pub(crate) anchors: Option<AnchorRule>,
    /// Element of HTML pages that holds their text [default: the container of a known generator, or
    /// what the pages do not share]
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) content: Option<String>,
}

/// Which files of a folder are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathFilter {
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl SourceOptions {
    /// These, where they say something, or else `others`.
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

    /// The same for the readers, apart from the patterns of paths.
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

    /// Whether the values are such as there can be. What is wrong is told under the names that `named` gives to keys.
    pub(crate) fn check(&self, named: impl Fn(&str) -> String) -> Result<(), Error> {
        let problem = if let Some(root_url) = &self.root_url
            && !is_root(root_url)
        {
            Some((
                "root_url",
                root_url,
                "is no URL of a site\nHINT:  It is like https://kit.example.com/docs/, without a query or a password.",
            ))
        } else if let Some(suffix) = &self.url_suffix
            && !is_suffix(suffix)
        {
            Some((
                "url_suffix",
                suffix,
                "is no end of a URL\nHINT:  It is .html, or /, or empty.",
            ))
        } else if let Some(selector) = &self.content
            && !is_selector(selector)
        {
            Some((
                "content",
                selector,
                "is no CSS selector\nHINT:  It is like main, or article.docs, or #content.",
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
    /// Whether the file at `path`, or everything in the folder there, is unwanted whatever else is.
    pub(crate) fn excludes(&self, path: &Path) -> bool {
        self.exclude.is_match(path)
    }

    /// Whether the file at `path`, relative to the folder, is wanted.
    pub(crate) fn wants(&self, path: &Path) -> bool {
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

    fn wanted(include: &[&str], exclude: &[&str], path: &str) -> bool {
        let texts = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let options = SourceOptions {
            include: texts(include),
            exclude: texts(exclude),
            ..SourceOptions::default()
        };
        options.filter().unwrap().wants(Path::new(path))
    }

    #[test]
    fn patterns_are_for_whole_paths() {
        assert!(wanted(&[], &[], "a.md"));
        assert!(wanted(&["guide/**"], &[], "guide/deep/a.md"));
        assert!(wanted(&["/guide/*.md"], &[], "guide/a.md"));
        assert!(!wanted(&["guide/*.md"], &[], "guide/deep/a.md"));
        assert!(!wanted(&["*.md"], &[], "guide/a.md"));
        assert!(!wanted(&[], &["**/old-*"], "guide/old-a.md"));
        assert!(!wanted(&["guide/**"], &["guide/drafts/"], "guide/drafts/a.md"));
        assert!(wanted(&["guide/**"], &["guide/drafts/"], "guide/a.md"));
    }

    fn problem(options: &SourceOptions) -> Option<String> {
        let checked = options.check(|key| format!("--{}", key.replace('_', "-")));
        checked.err().map(|error| error.to_string())
    }

    #[test]
    fn a_value_that_cannot_be_is_told() {
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
                "--root-url \"kit.test/docs\" is no URL",
            ),
            (site(text("ftp://kit.test/"), None), "--root-url"),
            (site(text("https://ada:secret@kit.test/"), None), "--root-url"),
            (site(text("https://kit.test/?page="), None), "--root-url"),
            (site(None, text("?x=1")), "--url-suffix \"?x=1\" is no end"),
            (content("main >"), "--content \"main >\" is no CSS selector"),
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
    fn what_is_said_first_counts() {
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
