//! `docsearch init`: writes a `docsearch.toml` for a repository.

mod inspection;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use toml::Value;

use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::process::outcome::Outcome;
use crate::sources::git::Checkout;
use crate::sources::project_file;
use crate::terminal::sanitize_line;
use inspection::{InspectedSource, Inspection};

const AFTER_HELP: &str = "\
Examples:
  docsearch init
  docsearch init ../kit --project kit
  docsearch init --print | less

It looks at the files and at the configuration of their generator: where the pages are, their
versions, where they are published, and what to leave out. Edit the file as you like;
docsearch index needs nothing else.";

/// Write docsearch.toml, which says what docsearch index reads.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct InitArgs {
    /// Folder to look at; the file is written there
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Name of the project [default: the name of the repository or folder]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Print the file instead of writing it
    #[arg(long, conflicts_with = "force")]
    print: bool,
}

pub(crate) fn run(args: &InitArgs) -> Result<Outcome, Error> {
    let folder = fs::canonicalize(&args.folder).map_err(Error::file(&args.folder))?;
    if !folder.is_dir() {
        return Err(Error::Usage(format!("{} is not a folder", args.folder.display())));
    }
    let project = match &args.project {
        Some(name) if name.trim().is_empty() => {
            return Err(Error::Usage(
                "--project is empty\nHINT:  Omit it to name the project after the folder.".to_owned(),
            ));
        }
        Some(name) => name.clone(),
        None => name_of(&folder)?,
    };
    let inspection = Inspection::of(&folder)?;
    let text = file_text(&project, &inspection);
    if args.print {
        return match io::stdout().write_all(text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::file("standard output")(error)),
            _ => Ok(Outcome::Complete),
        };
    }
    let path = args.folder.join(project_file::NAME);
    write(&path, &text, args.force)?;
    println!(
        "{}",
        sanitize_line(&format!(
            "wrote {}: project {project}, {} sources, {} files\nnext: docsearch index --config {0}",
            path.display(),
            inspection.sources.len(),
            inspection.files
        ))
    );
    Ok(Outcome::Complete)
}

fn write(path: &Path, text: &str, is_forced: bool) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    options.write(true);
    match is_forced {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let mut file = options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::Usage(format!(
            "{} already exists; nothing was changed\nHINT:  Use --print to see the new file, or --force to overwrite.",
            path.display()
        )),
        _ => Error::file(path)(error),
    })?;
    file.write_all(text.as_bytes()).map_err(Error::file(path))
}

/// The name of the repository, or else of the folder.
fn name_of(folder: &Path) -> Result<String, Error> {
    let remote = match Checkout::around(folder, &Interrupt::default()) {
        Ok(Some(checkout)) if checkout.below.as_os_str().is_empty() => checkout.repository.name()?,
        _ => None,
    };
    let name = remote.and_then(|name| name.rsplit('/').next().map(str::to_owned));
    let name = name.or_else(|| Some(folder.file_name()?.to_string_lossy().into_owned()));
    name.ok_or_else(|| Error::Usage("the folder has no name\nHINT:  Add --project NAME.".to_owned()))
}

/// The text of the file.
fn file_text(project: &str, inspection: &Inspection) -> String {
    let mut text = "# What docsearch index reads. Paths are relative to the folder of this file.\n".to_owned();
    let is_single = inspection.sources.len() == 1;
    for source in &inspection.sources {
        match is_single {
            true => text.push_str(&format!("project = {}\n", quote(project))),
            false => text.push_str(&format!("\n[[project.{}]]\n", quote(project))),
        }
        describe(source, &mut text);
    }
    text
}

fn describe(source: &InspectedSource, text: &mut String) {
    let list = |values: &[String]| values.iter().map(|value| quote(value)).collect::<Vec<_>>().join(", ");
    text.push_str(&format!("paths = [{}]\n", list(&source.paths)));
    for (key, value) in [("prefix", &source.prefix), ("version", &source.version)] {
        if let Some(value) = value {
            text.push_str(&format!("{key} = {}\n", quote(value)));
        }
    }
    if !source.exclude.is_empty() {
        text.push_str(&format!("exclude = [{}]\n", list(&source.exclude)));
    }
    match (source.generator, &source.address) {
        (Some(generator), Some(address)) => text.push_str(&format!(
            "# From the configuration of {generator}; root_url overrides it.\n# root_url = {}\n",
            quote(address)
        )),
        _ => text.push_str(
            "# The URL at which the folder is published, for links in results:\n# root_url = \"https://…\"\n",
        ),
    }
}

fn quote(text: &str) -> String {
    let escaped = text.chars().any(|c| c.is_control() || c == '"' || c == '\\');
    match escaped {
        true => Value::String(text.replace(['\n', '\r'], " ")).to_string(),
        false => format!("\"{text}\""),
    }
}

#[cfg(test)]
mod tests;
