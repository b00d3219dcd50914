//! What a command prints: colours and a pager on a terminal, plain text elsewhere.

use std::env;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::{Args, ColorChoice};
use docsearch_core::answer::delivery::reference_range;

use crate::library::OutputFormat;
use crate::process::error::Error;
use crate::terminal::{shown_document, shown_json};

/// How the answer is written.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// How the answer is written
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
    /// Colours: on a terminal unless NO_COLOR is set, always or never
    #[arg(long, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    color: ColorChoice,
    /// Print directly, not through PAGER (less)
    #[arg(long)]
    no_pager: bool,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const REFERENCE: Style = AnsiColor::Cyan.on_default();
const LABEL: Style = AnsiColor::Yellow.on_default();
const CODE: Style = AnsiColor::Green.on_default();

/// What the lines of a text are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An answer of `search_docs_text`, or lines like its.
    Answer,
    Markdown,
    /// A table whose first line is its head.
    Table,
    Json,
}

impl OutputArgs {
    /// Prints a text. A reader who has seen enough is no failure.
    pub(crate) fn print(&self, text: &str, kind: Kind) -> Result<(), Error> {
        let is_terminal = io::stdout().is_terminal();
        let mut text = match is_terminal {
            true if kind == Kind::Json => shown_json(text),
            true => shown_document(text),
            false => text.to_owned(),
        };
        if self.has_colours() && kind != Kind::Json {
            text = coloured(&text, kind);
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if is_terminal && !self.no_pager && page(&text) {
            return Ok(());
        }
        let mut output = io::stdout().lock();
        match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::file("standard output")(error)),
            _ => Ok(()),
        }
    }

    fn has_colours(&self) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
        }
    }
}

/// Whether a pager has shown the text.
fn page(text: &str) -> bool {
    let Some(mut child) = start_pager() else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        // Whoever leaves the pager early has seen enough.
        input.write_all(text.as_bytes()).ok();
    }
    // A shell that does not find the program ends with 127.
    child.wait().is_ok_and(|status| status.code() != Some(127))
}

fn start_pager() -> Option<Child> {
    let mut command = match env::var_os("PAGER") {
        None => Command::new("less"),
        Some(pager) if pager.is_empty() || pager == "cat" => return None,
        Some(pager) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(pager);
            shell
        }
    };
    if env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    command.stdin(Stdio::piped()).spawn().ok()
}

fn coloured(text: &str, kind: Kind) -> String {
    match kind {
        Kind::Answer => {
            let before = std::iter::once("").chain(text.lines());
            before
                .zip(text.lines())
                .map(|(before, line)| answer_line(before, line))
                .collect()
        }
        Kind::Markdown => markdown(text),
        Kind::Table => {
            let paint = |(at, line)| if at == 0 { painted(BOLD, line) } else { plain(line) };
            text.lines().enumerate().map(paint).collect()
        }
        Kind::Json => text.to_owned(),
    }
}

fn painted(style: Style, line: &str) -> String {
    format!("{style}{line}{style:#}\n")
}

fn plain(line: &str) -> String {
    format!("{line}\n")
}

/// Lines that begin in the first column are results or say something about the answer.
fn answer_line(before: &str, line: &str) -> String {
    if line.starts_with(|first: char| first.is_ascii_digit()) || line.starts_with('[') {
        return match reference(line) {
            Some((before, reference, after)) => {
                format!("{BOLD}{before}{BOLD:#}{REFERENCE}{reference}{REFERENCE:#}{after}\n")
            }
            None => painted(BOLD, line),
        };
    }
    match line.split_once(": ") {
        Some((label, rest)) if !line.starts_with(' ') => format!("{LABEL}{label}:{LABEL:#} {rest}\n"),
        _ if is_facts(before, line) => painted(DIM, line),
        _ => plain(line),
    }
}

/// The `[reference]` of a line, with what stands around it.
fn reference(line: &str) -> Option<(&str, &str, &str)> {
    let range = reference_range(line)?;
    Some((&line[..range.start], &line[range.clone()], &line[range.end..]))
}

/// Score and cost below a compact result, and not an excerpt that says the like.
fn is_facts(before: &str, line: &str) -> bool {
    before.starts_with(|first: char| first.is_ascii_digit())
        && (line.starts_with("   0.") || line.starts_with("   1.00 "))
}

fn markdown(text: &str) -> String {
    let mut fenced = false;
    let paint = |line: &str| {
        let is_fence = line.trim_start().starts_with("```");
        let inside = fenced || is_fence;
        fenced ^= is_fence;
        match line {
            _ if inside => painted(CODE, line),
            _ if line.starts_with('#') => painted(BOLD, line),
            _ => plain(line),
        }
    };
    text.lines().map(paint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_leave_the_text_as_it_is() {
        let text =
            "1. Button [swiftui/button]\n   1.00 high | 297 tokens to load\n   A control: it runs\nnote (x): y\n";
        let shown = coloured(text, Kind::Answer);
        assert!(
            shown.contains(&format!("{REFERENCE}[swiftui/button]{REFERENCE:#}")),
            "{shown}"
        );
        assert_eq!(anstream::adapter::strip_str(&shown).to_string(), text);

        let text = "1. a[0] [next/app/[id]]\n   0.50 high | 2 tokens to load\n   0.99 high | 1 tokens to load\n";
        let shown = coloured(text, Kind::Answer);
        assert!(
            shown.contains(&format!("{REFERENCE}[next/app/[id]]{REFERENCE:#}")),
            "{shown}"
        );
        assert_eq!(shown.matches(&DIM.to_string()).count(), 1, "{shown}");
        assert_eq!(anstream::adapter::strip_str(&shown).to_string(), text);

        let text = "# Title\n\n```c\n# not a heading\n```\n";
        assert_eq!(
            anstream::adapter::strip_str(&coloured(text, Kind::Markdown)).to_string(),
            text
        );
    }
}
