//! `docsearch man` and `docsearch completions`, whose output packages install.

use std::io;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::process::error::Error;
use crate::process::outcome::Outcome;

/// Write the manual pages.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  docsearch man | man -l -
  docsearch man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write docsearch.1 and a page for each command into this folder; without it, print
    /// docsearch.1
    #[arg(value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
}

/// Print the completions of a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  docsearch completions bash > ~/.local/share/bash-completion/completions/docsearch
  docsearch completions zsh > ~/.zfunc/_docsearch
  docsearch completions fish > ~/.config/fish/completions/docsearch.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn man(args: &ManArgs, program: Command) -> Result<Outcome, Error> {
    match &args.directory {
        Some(directory) => clap_mangen::generate_to(program, directory).map_err(Error::file(directory))?,
        None => Man::new(program).render(&mut io::stdout()).or_else(write_failed)?,
    }
    Ok(Outcome::Complete)
}

pub(crate) fn completions(args: &CompletionsArgs, mut program: Command) -> Result<Outcome, Error> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program, "docsearch", &mut text);
    io::Write::write_all(&mut io::stdout(), &text).or_else(write_failed)?;
    Ok(Outcome::Complete)
}

fn write_failed(error: io::Error) -> Result<(), Error> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(Error::file("standard output")(error)),
    }
}
