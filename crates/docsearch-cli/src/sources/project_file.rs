//! `docsearch.toml`: what to index into which project.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use docsearch_readers::detection::InputFormat;
use docsearch_readers::document::boost::BoostRule;
use docsearch_readers::document::page_group::GroupRule;
use serde::Deserialize;
use toml::{Table, Value};

use crate::process::error::Error;
use crate::sources::choice::Choice;
use crate::sources::git::RepositoryAddress;
use crate::sources::pin_rule::PinRule;
use crate::sources::source_options::SourceOptions;

pub(crate) const NAME: &str = "docsearch.toml";
const MAX_BYTES: u64 = 1 << 20;
/// Keys of a source.
pub(crate) const KEYS: [&str; 17] = [
    "paths",
    "title",
    "prefix",
    "version",
    "source_root",
    "format",
    "include",
    "exclude",
    "root_url",
    "url_suffix",
    "anchors",
    "content",
    "follow_links",
    "max_file_size",
    "groups",
    "boost",
    "pin",
];
/// The key of the project's name, or of the tables of several projects.
const PROJECT: &str = "project";
/// Minimum similarity of a suggested key.
const MIN_SIMILARITY: f64 = 0.75;

/// The settings of one source of a project.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SourceSettings {
    pub(crate) project: String,
    pub(crate) title: Option<String>,
    /// Absolute paths, or URLs of repositories.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) source_root: Option<String>,
    pub(crate) format: Option<InputFormat>,
    pub(crate) follow_links: bool,
    /// In MB (10^6 bytes).
    pub(crate) max_file_size: Option<u64>,
    pub(crate) options: SourceOptions,
    pub(crate) groups: Vec<GroupRule>,
    pub(crate) boosts: Vec<BoostRule>,
    /// `None` without a file.
    pub(crate) pins: Option<Vec<PinRule>>,
}

/// The table of a source, as written.
#[derive(Debug, Deserialize)]
struct SourceTable {
    #[serde(default)]
    paths: Vec<String>,
    title: Option<String>,
    prefix: Option<String>,
    version: Option<String>,
    source_root: Option<String>,
    format: Option<String>,
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    root_url: Option<String>,
    url_suffix: Option<String>,
    anchors: Option<String>,
    content: Option<String>,
    #[serde(default)]
    follow_links: bool,
    max_file_size: Option<u64>,
    #[serde(default)]
    groups: Vec<GroupRule>,
    #[serde(default)]
    boost: Vec<BoostRule>,
    #[serde(default)]
    pin: Vec<PinRule>,
}

/// The file in the nearest folder, from `folder` upwards.
pub(crate) fn nearest(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .map(|above| above.join(NAME))
        .find(|path| path.is_file())
}

/// The sources in the file at `path`, ordered by the names of their projects.
pub(crate) fn read(path: &Path) -> Result<Vec<SourceSettings>, Error> {
    let full = fs::canonicalize(path).map_err(Error::file(path))?;
    let mut text = String::new();
    let file = File::open(&full).map_err(Error::file(path))?;
    if !file.metadata().map_err(Error::file(path))?.is_file() {
        return Err(Error::Usage(format!("{} is not a file", path.display())));
    }
    file.take(MAX_BYTES)
        .read_to_string(&mut text)
        .map_err(Error::file(path))?;
    let folder = full.parent().unwrap_or(&full);
    parse(&text, folder).map_err(|problem| Error::Usage(format!("{}: {problem}", path.display())))
}

fn parse(text: &str, folder: &Path) -> Result<Vec<SourceSettings>, String> {
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let sources = match table.remove(PROJECT) {
        Some(Value::String(name)) => vec![(name, table)],
        Some(Value::Table(projects)) => {
            if let Some(key) = table.keys().next() {
                return Err(format!(
                    "key \"{key}\" is outside of a project\nHINT:  Move it below [project.NAME], or write project = \"NAME\" for a \
                     single project."
                ));
            }
            multiple_projects(projects)?
        }
        Some(_) => {
            return Err(format!(
                "project is neither a name nor a table\nHINT:  Write {PROJECT} = \"NAME\" at the top, or [project.NAME] for each of several projects."
            ));
        }
        None => {
            check_keys(&table)?;
            return Err(format!(
                "project is missing\nHINT:  Write {PROJECT} = \"NAME\" at the top, or [project.NAME] for each of several projects."
            ));
        }
    };
    let found = sources
        .into_iter()
        .map(|(name, table)| {
            settings(&name, table, folder).map_err(|problem| match name.is_empty() {
                true => problem,
                false => format!("project {name}: {problem}"),
            })
        })
        .collect::<Result<Vec<SourceSettings>, String>>()?;
    check_disjoint(&found)?;
    Ok(found)
}

/// Each source deletes pages that it no longer has, so two sources of a project must not own the same pages.
fn check_disjoint(sources: &[SourceSettings]) -> Result<(), String> {
    let mut owners = HashSet::new();
    for source in sources {
        let names: HashSet<&Path> = match &source.source_root {
            Some(name) => HashSet::from([Path::new(name)]),
            None => source.paths.iter().map(PathBuf::as_path).collect(),
        };
        for name in names {
            if !owners.insert((&source.project, source.source_root.is_some(), name)) {
                return Err(format!(
                    "project {}: two sources read {}, and each would delete the pages of the other\nHINT:  Give each source its \
                     own source_root.",
                    source.project,
                    name.display()
                ));
            }
        }
    }
    Ok(())
}

/// The sources of `[project.NAME]` and `[[project.NAME]]`.
fn multiple_projects(projects: Table) -> Result<Vec<(String, Table)>, String> {
    let mut sources = Vec::new();
    for (name, value) in projects {
        match value {
            Value::Table(table) => sources.push((name, table)),
            Value::Array(tables) => {
                for table in tables {
                    let Value::Table(table) = table else {
                        return Err(format!("project.{name} is not a table"));
                    };
                    sources.push((name.clone(), table));
                }
            }
            _ => {
                return Err(format!(
                    "project.{name} is not a table\nHINT:  Write [project.NAME] and its keys below."
                ));
            }
        }
    }
    if sources.is_empty() {
        return Err("the file names no project".to_owned());
    }
    Ok(sources)
}

fn check_keys(table: &Table) -> Result<(), String> {
    let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) else {
        return Ok(());
    };
    let wanted = unknown.replace('-', "_").to_lowercase();
    let nearest = KEYS
        .iter()
        .map(|key| (strsim::jaro_winkler(&wanted, key), *key))
        .filter(|(likeness, _)| *likeness >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match nearest {
        Some((_, key)) => format!("Did you mean {key}?"),
        None => format!("Known keys: {}.", KEYS.join(", ")),
    };
    Err(format!("unknown key \"{unknown}\"\nHINT:  {hint}"))
}

fn settings(project: &str, table: Table, folder: &Path) -> Result<SourceSettings, String> {
    check_keys(&table)?;
    let written: SourceTable = Value::Table(table)
        .try_into()
        .map_err(|error: toml::de::Error| error.to_string().trim_end().replace('\n', " "))?;
    if project.trim().is_empty() {
        return Err("the name of the project is empty".to_owned());
    }
    if written.paths.is_empty() {
        return Err("paths is missing\nHINT:  Name what to index, such as paths = [\"docs\"].".to_owned());
    }
    let format = written.format.map(|name| parse_choice("format", &name)).transpose()?;
    let anchors = written.anchors.map(|name| parse_choice("anchors", &name)).transpose()?;
    if let Some(size) = written.max_file_size
        && !(1..=200).contains(&size)
    {
        return Err(format!(
            "max_file_size {size} is out of range\nHINT:  Set it in MB, from 1 to 200."
        ));
    }
    let options = SourceOptions {
        prefix: written.prefix,
        version: written.version,
        include: written.include,
        exclude: written.exclude,
        root_url: written.root_url,
        url_suffix: written.url_suffix,
        anchors,
        content: written.content,
    };
    options.check(str::to_owned).map_err(|error| error.to_string())?;
    written.groups.iter().try_for_each(GroupRule::check)?;
    written.boost.iter().try_for_each(BoostRule::check)?;
    written.pin.iter().try_for_each(PinRule::check)?;
    Ok(SourceSettings {
        project: project.to_owned(),
        title: written.title,
        paths: written.paths.iter().map(|path| resolve(path, folder)).collect(),
        source_root: written.source_root,
        format,
        follow_links: written.follow_links,
        max_file_size: written.max_file_size,
        options,
        groups: written.groups,
        boosts: written.boost,
        pins: Some(written.pin),
    })
}

fn parse_choice<T: Choice>(key: &str, name: &str) -> Result<T, String> {
    T::named(name).ok_or_else(|| {
        let names: Vec<&str> = T::names().collect();
        format!("unknown {key} \"{name}\"\nHINT:  Choose from: {}.", names.join(", "))
    })
}

/// Resolves a path relative to the folder of the file.
fn resolve(path: &str, folder: &Path) -> PathBuf {
    match RepositoryAddress::is_remote(path) {
        true => PathBuf::from(path),
        false => folder.join(path),
    }
}

#[cfg(test)]
mod tests {
    use docsearch_readers::site::AnchorRule;

    use super::*;

    fn parsed(text: &str) -> Result<Vec<SourceSettings>, String> {
        parse(text, Path::new("/srv/kit"))
    }

    #[test]
    fn one_project_needs_no_table() {
        let settings = parsed(
            "project = 'kit'\npaths = ['docs', '/srv/other', 'https://host.test/x.git#v1', '../y#v2']\nformat = 'MDX'\n\
             include = ['guide/**']\nfollow_links = true\nmax_file_size = 20\nversion = '1.10'\n\
             root_url = 'https://kit.test/docs/'\nurl_suffix = ''\nanchors = 'mkdocs'\ncontent = '#main'\n",
        )
        .unwrap();
        assert_eq!(settings.len(), 1);
        let paths: Vec<&str> = settings[0].paths.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(
            paths,
            [
                "/srv/kit/docs",
                "/srv/other",
                "https://host.test/x.git#v1",
                "/srv/kit/../y#v2"
            ]
        );
        assert_eq!(settings[0].project, "kit");
        assert_eq!(
            settings[0].format,
            InputFormat::all().find(|format| format.name() == "mdx")
        );
        assert_eq!(settings[0].max_file_size, Some(20));
        assert!(settings[0].follow_links);
        assert_eq!(settings[0].options.include, ["guide/**"]);
        assert_eq!(settings[0].options.root_url.as_deref(), Some("https://kit.test/docs/"));
        assert_eq!(settings[0].options.url_suffix.as_deref(), Some(""));
        assert_eq!(
            settings[0].options.anchors,
            AnchorRule::all().find(|rule| rule.name() == "mkdocs")
        );
        assert_eq!(settings[0].options.content.as_deref(), Some("#main"));
        assert_eq!(settings[0].options.version.as_deref(), Some("1.10"));
    }

    #[test]
    fn a_project_may_have_several_sources() {
        let text = "[project.app]\npaths = ['app']\n[[project.kit]]\npaths = ['docs']\n[[project.kit]]\n\
                    paths = ['kit#v1']\nprefix = 'v1'\n";
        let settings = parsed(text).unwrap();
        let found: Vec<(&str, Option<&str>)> = settings
            .iter()
            .map(|source| (source.project.as_str(), source.options.prefix.as_deref()))
            .collect();
        assert_eq!(found, [("app", None), ("kit", None), ("kit", Some("v1"))]);
    }

    #[test]
    fn errors_say_what_to_write() {
        for (text, expected) in [
            (
                "project = 'kit'\npathes = ['docs']",
                "project kit: unknown key \"pathes\"\nHINT:  Did you mean paths?",
            ),
            (
                "project = 'kit'\nsource-root = 'x'",
                "project kit: unknown key \"source-root\"\nHINT:  Did you mean source_root?",
            ),
            ("project = 'kit'\nzzz = 1", "HINT:  Known keys: paths, title"),
            ("project = 'kit'", "project kit: paths is missing"),
            ("project = ' '\npaths = ['a']", "the name of the project is empty"),
            ("paths = ['docs']", "project is missing\nHINT:"),
            ("pats = ['docs']", "unknown key \"pats\""),
            (
                "title = 'x'\n[project.kit]\npaths = ['a']",
                "key \"title\" is outside of a project",
            ),
            ("project = 3", "neither a name nor a table\nHINT:"),
            ("[[project]]\nname = 'kit'", "neither a name nor a table\nHINT:"),
            ("[project]\nkit = 'docs'", "project.kit is not a table"),
            ("[project]", "the file names no project"),
            ("project = 'kit'\npaths = 'docs'", "expected a sequence"),
            (
                "project = 'kit'\npaths = ['a']\nformat = 'word'",
                "unknown format \"word\"\nHINT:  Choose from: auto, markdown",
            ),
            (
                "project = 'kit'\npaths = ['a']\nmax_file_size = 0",
                "max_file_size 0 is out of range",
            ),
            ("[project.kit]\npaths = ['a']\nproject = 'x'", "unknown key \"project\""),
            (
                "project = 'kit'\npaths = ['a']\nanchors = 'gihtub'",
                "unknown anchors \"gihtub\"\nHINT:  Choose from: github, vitepress",
            ),
            (
                "project = 'kit'\npaths = ['a']\nroot_url = 'kit.test'",
                "project kit: root_url \"kit.test\" is not the URL",
            ),
            (
                "project = 'kit'\npaths = ['a']\ncontent = 'a['",
                "is not a CSS selector",
            ),
            ("project = 'kit'\npaths = ['a']\ninclude = ['a[']", "error parsing glob"),
            ("project = 'kit'\npaths = [", "TOML parse error at line 2"),
            (
                "project = 'kit'\npaths = ['a']\n[[groups]]\nfolders = 'b'",
                "unknown field `folders`",
            ),
            (
                "project = 'kit'\npaths = ['a']\n[[groups]]\nslug = 'b'",
                "has not one of folder",
            ),
            (
                "project = 'kit'\npaths = ['a']\n[[boost]]\npaths = ['b']\nboost = 3",
                "project kit: boost 3 is out of range\nHINT:",
            ),
            (
                "project = 'kit'\npaths = ['a']\n[[pin]]\nquery = 'b'",
                "project kit: the pin of \"b\" names no page\nHINT:",
            ),
        ] {
            let problem = parsed(text).unwrap_err();
            assert!(problem.contains(expected), "{text}: {problem}");
        }
    }

    #[test]
    fn sources_of_a_project_must_not_share_pages() {
        let two = |first: &str, second: &str| {
            format!("[[project.kit]]\npaths = ['docs']\n{first}\n[[project.kit]]\npaths = ['docs']\n{second}\n")
        };
        for text in [
            two("include = ['a/**']", "exclude = ['a/**']"),
            two("source_root = 'x'", "source_root = 'x'"),
        ] {
            let problem = parsed(&text).unwrap_err();
            assert!(
                problem.contains("would delete the pages of the other\nHINT:"),
                "{problem}"
            );
        }
        assert_eq!(parsed(&two("", "source_root = 'x'")).unwrap().len(), 2);
        let apart = "[project.kit]\npaths = ['docs']\n[project.app]\npaths = ['docs', 'docs']\n";
        assert_eq!(parsed(apart).unwrap().len(), 2);
    }

    #[test]
    fn the_nearest_file_is_used() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("docs/guide");
        fs::create_dir_all(&inner).unwrap();
        let outer = place.path().join(NAME);
        fs::write(&outer, "").unwrap();
        assert_eq!(nearest(&inner), Some(outer));
        let nearer = place.path().join("docs").join(NAME);
        fs::write(&nearer, "").unwrap();
        assert_eq!(nearest(&inner), Some(nearer));
    }
}
