//! Output of commands: colours and a pager on a terminal, plain text elsewhere.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::process::{Child, Command, Stdio};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::{Args, ColorChoice};
use docsearch_core::answer::delivery::reference_range;
use docsearch_core::answer::highlight::Mark;

use crate::library::OutputFormat;
use crate::process::error::Error;
use crate::terminal::{self, sanitize_document, sanitize_json};

/// Options of the output.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
    #[command(flatten)]
    display: DisplayArgs,
}

/// How output is shown.
#[derive(Debug, Clone, Args)]
pub(crate) struct DisplayArgs {
    /// When to use colours; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    color: ColorChoice,
    /// Do not use a pager (PAGER, or less)
    #[arg(long)]
    no_pager: bool,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const REFERENCE: Style = AnsiColor::Cyan.on_default();
const LABEL: Style = AnsiColor::Yellow.on_default();
const CODE: Style = AnsiColor::Green.on_default();

/// The kind of a text, which decides on its colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentKind {
    /// The output of `search_docs_text`, or similar lines.
    Answer,
    Markdown,
    /// A table with a header line.
    Table,
    /// Paragraphs and tables, each with a title on the line before.
    Sections,
    Json,
    /// Without colours.
    Plain,
}

impl OutputArgs {
    /// Prints a text.
    pub(crate) fn print(&self, text: &str, kind: ContentKind) -> Result<(), Error> {
        self.display.print(text, kind)
    }

    /// Prints an answer with its marks, in characters of the text.
    pub(crate) fn print_marked(&self, text: &str, marks: &[Mark]) -> Result<(), Error> {
        self.display.print_marked(text, ContentKind::Answer, marks)
    }
}

impl DisplayArgs {
    /// Prints a text. A reader that has closed the pipe is not a failure.
    pub(crate) fn print(&self, text: &str, kind: ContentKind) -> Result<(), Error> {
        self.print_marked(text, kind, &[])
    }

    fn print_marked(&self, text: &str, kind: ContentKind, marks: &[Mark]) -> Result<(), Error> {
        let is_terminal = io::stdout().is_terminal();
        let written = text;
        let mut text = match is_terminal {
            true if kind == ContentKind::Json => sanitize_json(text),
            true => sanitize_document(text),
            false => text.to_owned(),
        };
        if self.has_colours() && kind != ContentKind::Json {
            // Escapes for hidden characters move what follows them.
            let marks = if text == written { marks } else { &[] };
            text = colour(&text, kind, marks);
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if is_terminal && !self.no_pager && page(&text) {
            return Ok(());
        }
        terminal::write(&text)
    }

    fn has_colours(&self) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
        }
    }
}

/// Shows the text in a pager. Returns `false` if there is none.
fn page(text: &str) -> bool {
    let Some(mut child) = start_pager() else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        // The user may leave the pager early.
        input.write_all(text.as_bytes()).ok();
    }
    // A shell that does not find the program exits with 127.
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

fn colour(text: &str, kind: ContentKind, marks: &[Mark]) -> String {
    match kind {
        ContentKind::Answer => {
            let before = std::iter::once("").chain(text.lines());
            let mut start = 0;
            let paint = |(before, line): (&str, &str)| {
                let end = start + line.chars().count();
                let painted = answer_line(before, line, &within(marks, start, end));
                start = end + 1;
                painted
            };
            before.zip(text.lines()).map(paint).collect()
        }
        ContentKind::Markdown => markdown(text),
        ContentKind::Table => {
            let paint = |(at, line)| if at == 0 { paint_line(BOLD, line) } else { plain(line) };
            text.lines().enumerate().map(paint).collect()
        }
        ContentKind::Sections => {
            let before = std::iter::once("").chain(text.lines());
            let paint = |(before, line): (&str, _)| match before {
                "" => paint_line(BOLD, line),
                _ => plain(line),
            };
            before.zip(text.lines()).map(paint).collect()
        }
        ContentKind::Json | ContentKind::Plain => text.to_owned(),
    }
}

/// The marks between two characters, counted from the first.
fn within(marks: &[Mark], start: usize, end: usize) -> Vec<Range<usize>> {
    let marks = marks.iter().map(|mark| mark.0 as usize..mark.1 as usize);
    let inside = marks.filter(|mark| start <= mark.start && mark.end <= end);
    inside.map(|mark| mark.start - start..mark.end - start).collect()
}

/// A line with its marks in bold.
fn marked_line(line: &str, marks: &[Range<usize>]) -> String {
    let end_of = |characters: usize, text: &str| {
        let end = text.char_indices().nth(characters);
        end.map_or(text.len(), |(end, _)| end)
    };
    let (mut painted, mut rest, mut at) = (String::new(), line, 0);
    for mark in marks {
        let (before, after) = rest.split_at(end_of(mark.start - at, rest));
        let (marked, after) = after.split_at(end_of(mark.len(), after));
        painted += &format!("{before}{BOLD}{marked}{BOLD:#}");
        (rest, at) = (after, mark.end);
    }
    painted + &plain(rest)
}

fn paint_line(style: Style, line: &str) -> String {
    format!("{style}{line}{style:#}\n")
}

fn plain(line: &str) -> String {
    format!("{line}\n")
}

/// Lines without indentation are results or notes.
fn answer_line(before: &str, line: &str, marks: &[Range<usize>]) -> String {
    if !marks.is_empty() {
        return marked_line(line, marks);
    }
    if line.starts_with(|first: char| first.is_ascii_digit()) || line.starts_with('[') {
        return match reference(line) {
            Some((before, reference, after)) => {
                format!("{BOLD}{before}{BOLD:#}{REFERENCE}{reference}{REFERENCE:#}{after}\n")
            }
            None => paint_line(BOLD, line),
        };
    }
    match line.split_once(": ") {
        Some((label, rest)) if !line.starts_with(' ') => format!("{LABEL}{label}:{LABEL:#} {rest}\n"),
        _ if is_facts(before, line) => paint_line(DIM, line),
        _ => plain(line),
    }
}

/// The `[reference]` of a line, and the text before and after.
fn reference(line: &str) -> Option<(&str, &str, &str)> {
    let range = reference_range(line)?;
    Some((&line[..range.start], &line[range.clone()], &line[range.end..]))
}

/// Whether a line has the score and cost of a compact result, and is not an excerpt that looks like it.
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
            _ if inside => paint_line(CODE, line),
            _ if line.starts_with('#') => paint_line(BOLD, line),
            _ => plain(line),
        }
    };
    text.lines().map(paint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_do_not_change_the_text() {
        let text =
            "1. Button [swiftui/button]\n   1.00 high | 297 tokens to load\n   A control: it runs\nnote (x): y\n";
        let shown = colour(text, ContentKind::Answer, &[]);
        assert!(
            shown.contains(&format!("{REFERENCE}[swiftui/button]{REFERENCE:#}")),
            "{shown}"
        );
        assert_eq!(anstream::adapter::strip_str(&shown).to_string(), text);

        let text = "1. a[0] [next/app/[id]]\n   0.50 high | 2 tokens to load\n   0.99 high | 1 tokens to load\n";
        let shown = colour(text, ContentKind::Answer, &[]);
        assert!(
            shown.contains(&format!("{REFERENCE}[next/app/[id]]{REFERENCE:#}")),
            "{shown}"
        );
        assert_eq!(shown.matches(&DIM.to_string()).count(), 1, "{shown}");
        assert_eq!(anstream::adapter::strip_str(&shown).to_string(), text);

        let text = "1. a [x/a]\n   0.50 high\n   Élan runs\n";
        let shown = colour(text, ContentKind::Answer, &[Mark(27, 31), Mark(32, 36)]);
        assert!(
            shown.contains(&format!("   {BOLD}Élan{BOLD:#} {BOLD}runs{BOLD:#}\n")),
            "{shown}"
        );
        assert_eq!(anstream::adapter::strip_str(&shown).to_string(), text);

        let text = "# Title\n\n```c\n# not a heading\n```\n";
        assert_eq!(
            anstream::adapter::strip_str(&colour(text, ContentKind::Markdown, &[])).to_string(),
            text
        );
    }
}
