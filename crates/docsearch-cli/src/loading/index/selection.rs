//! From the command line and `docsearch.toml` to the jobs of a run.

use std::env;
use std::path::{Path, PathBuf};

use docsearch_readers::detection::InputFormat;
use docsearch_readers::document::ReadOptions;
use docsearch_readers::document::boost::Boosts;
use docsearch_readers::file::Links;

use super::IndexArgs;
use super::job::{Job, JobSource, PathSource};
use crate::process::error::Error;
use crate::sources::project_file::{self, SourceSettings};

/// The jobs of a run, and the configuration file that they come from, if any.
#[derive(Debug)]
pub(super) struct Selection {
    pub(super) jobs: Vec<Job>,
    pub(super) file: Option<PathBuf>,
}

impl Selection {
    /// The configuration file is read if it is given, or if the command line names nothing to index.
    pub(super) fn new(args: &IndexArgs) -> Result<Self, Error> {
        if let Some(path) = &args.jsonl {
            let project = args.project.clone().ok_or_else(no_project)?;
            let settings = SourceSettings {
                project,
                ..SourceSettings::default()
            };
            return Ok(Self {
                jobs: vec![job(args, settings, Some(path))?],
                file: None,
            });
        }
        let file = match &args.config {
            Some(file) => Some(file.clone()),
            None if args.paths.is_empty() => Some(nearest()?),
            None => None,
        };
        let settings = match &file {
            Some(file) => configured_sources(args, file)?,
            None => vec![SourceSettings {
                project: args.project.clone().ok_or_else(no_project)?,
                ..SourceSettings::default()
            }],
        };
        let of_one_source = [
            ("PATH", !args.paths.is_empty()),
            ("--title", args.title.is_some()),
            ("--prefix", args.options.prefix.is_some()),
            ("--root-url", args.options.root_url.is_some()),
            ("--source-root", args.source_root.is_some()),
        ];
        if let (2.., Some((option, _))) = (settings.len(), of_one_source.iter().find(|(_, given)| *given)) {
            return Err(Error::Usage(format!(
                "{option} applies to one source, but there are {}\nHINT:  Select a project with one source: --project NAME.",
                settings.len()
            )));
        }
        args.options.check(|key| format!("--{}", key.replace('_', "-")))?;
        let jobs = settings.into_iter().map(|settings| job(args, settings, None));
        Ok(Self {
            jobs: jobs.collect::<Result<_, _>>()?,
            file,
        })
    }
}

fn no_project() -> Error {
    Error::Usage(
        "--project is missing\nHINT:  Add --project NAME; the project is created if it does not exist.".to_owned(),
    )
}

fn nearest() -> Result<PathBuf, Error> {
    let here = env::current_dir().map_err(Error::file("."))?;
    project_file::nearest(&here).ok_or_else(|| {
        Error::Usage(format!(
            "nothing to index: no PATH, and no {} in {} or above\nHINT:  Run docsearch index PATH --project NAME, or docsearch \
             init to write the file.",
            project_file::NAME,
            here.display()
        ))
    })
}

/// The sources in the configuration file, or those of `--project`.
fn configured_sources(args: &IndexArgs, file: &Path) -> Result<Vec<SourceSettings>, Error> {
    let mut settings = project_file::read(file)?;
    let Some(project) = &args.project else {
        return Ok(settings);
    };
    let names: Vec<String> = settings.iter().map(|source| source.project.clone()).collect();
    settings.retain(|source| source.project == *project);
    if settings.is_empty() {
        return Err(Error::Usage(format!(
            "{} has no project \"{project}\"\nHINT:  Choose from: {}.",
            file.display(),
            names.join(", ")
        )));
    }
    Ok(settings)
}

/// Options override the configuration file.
fn job(args: &IndexArgs, settings: SourceSettings, lines: Option<&PathBuf>) -> Result<Job, Error> {
    let megabytes = args.max_file_size.or(settings.max_file_size);
    let max_file_size = megabytes.unwrap_or(super::DEFAULT_MAX_FILE_MEGABYTES) * 1_000_000;
    let source = match lines {
        Some(path) => JobSource::Lines {
            path: path.clone(),
            max_line: max_file_size,
        },
        None => {
            let options = args.options.or(settings.options);
            let format = args.format.or(settings.format).unwrap_or(InputFormat::AUTO);
            JobSource::Paths(Box::new(PathSource {
                paths: match args.paths.is_empty() {
                    true => settings.paths,
                    false => args.paths.clone(),
                },
                filter: options.filter()?,
                options: ReadOptions {
                    format: format.format(),
                    links: match args.follow_links || settings.follow_links {
                        true => Links::Anywhere,
                        false => Links::Inside,
                    },
                    max_file_size,
                    boosts: Boosts::new(settings.boosts)?,
                    ..options.read_options()
                },
                groups: settings.groups,
            }))
        }
    };
    Ok(Job {
        project: settings.project,
        title: args.title.clone().or(settings.title),
        source,
        source_root: args.source_root.clone().or(settings.source_root),
        pins: settings.pins,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: IndexArgs,
    }

    fn selected(arguments: &[&str]) -> Result<Vec<Job>, String> {
        let line = Line::try_parse_from(["index"].iter().chain(arguments)).map_err(|error| error.to_string())?;
        Selection::new(&line.args)
            .map(|selection| selection.jobs)
            .map_err(|error| error.to_string())
    }

    fn paths(job: &Job) -> (Vec<String>, Option<String>) {
        match &job.source {
            JobSource::Paths(source) => (
                source.paths.iter().map(|path| path.display().to_string()).collect(),
                source.options.prefix.clone(),
            ),
            JobSource::Lines { path, .. } => (vec![path.display().to_string()], None),
        }
    }

    fn max_file_size(job: &Job) -> u64 {
        match &job.source {
            JobSource::Paths(source) => source.options.max_file_size,
            JobSource::Lines { max_line, .. } => *max_line,
        }
    }

    #[test]
    fn options_override_the_file() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("any.toml");
        fs::write(
            &file,
            "[project.kit]\npaths = ['docs']\nprefix = 'kit'\ntitle = 'Kit'\nmax_file_size = 5\n[project.app]\npaths = ['app']\n",
        )
        .unwrap();
        let file = file.to_str().unwrap();
        let jobs = selected(&["--config", file]).unwrap();
        let names: Vec<&str> = jobs.iter().map(|job| job.project.as_str()).collect();
        assert_eq!(names, ["app", "kit"]);

        let jobs = selected(&["--config", file, "--project", "kit"]).unwrap();
        let folder = fs::canonicalize(place.path()).unwrap();
        let docs = folder.join("docs").display().to_string();
        assert_eq!(paths(&jobs[0]), (vec![docs], Some("kit".to_owned())));
        assert_eq!(
            (max_file_size(&jobs[0]), jobs[0].title.as_deref()),
            (5_000_000, Some("Kit"))
        );

        let line = [
            "other",
            "--config",
            file,
            "--project",
            "kit",
            "--prefix",
            "x",
            "--max-file-size",
            "7",
        ];
        let jobs = selected(&line).unwrap();
        assert_eq!(paths(&jobs[0]), (vec!["other".to_owned()], Some("x".to_owned())));
        assert_eq!(max_file_size(&jobs[0]), 7_000_000);
    }

    #[test]
    fn contradictions_are_reported() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("docsearch.toml");
        fs::write(&file, "[project.kit]\npaths = ['a']\n[project.app]\npaths = ['b']\n").unwrap();
        let file = file.to_str().unwrap();
        for (arguments, expected) in [
            (vec!["docs"], "--project is missing"),
            (
                vec!["--config", file, "--prefix", "x"],
                "--prefix applies to one source, but there are 2",
            ),
            (
                vec!["--config", file, "--project", "kti"],
                "has no project \"kti\"\nHINT:  Choose from: app, kit.",
            ),
            (vec!["--jsonl", "-"], "--project is missing"),
            (vec!["--jsonl", "-", "--config", file], "cannot be used with"),
            (vec!["--config", "/no/such/file"], "/no/such/file: "),
        ] {
            let error = selected(&arguments).unwrap_err();
            assert!(error.contains(expected), "{arguments:?}: {error}");
        }
    }
}
