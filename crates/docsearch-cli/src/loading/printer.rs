//! Documents as JSON lines on standard output, for `--dry-run`.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, StdoutLock, Write};

use docsearch_readers::document::Document;

use crate::process::error::Error;
use crate::terminal::sanitize_json;

pub(crate) struct Printer {
    output: BufWriter<StdoutLock<'static>>,
    is_terminal: bool,
}

/// Whether the reader still reads. One that has closed the pipe (`| head`) is not a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputReader {
    IsReading,
    HasLeft,
}

impl Printer {
    pub(crate) fn new() -> Self {
        let output = io::stdout().lock();
        Self {
            is_terminal: output.is_terminal(),
            output: BufWriter::new(output),
        }
    }

    pub(crate) fn print(&mut self, document: &Document) -> Result<OutputReader, Error> {
        serde_json::to_string(document)
            .map_err(io::Error::from)
            .and_then(|line| match self.is_terminal {
                true => writeln!(self.output, "{}", sanitize_json(&line)),
                false => writeln!(self.output, "{line}"),
            })
            .map_or_else(write_failed, |()| Ok(OutputReader::IsReading))
    }

    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.output.flush().or_else(|error| write_failed(error).map(|_| ()))
    }
}

fn write_failed(error: io::Error) -> Result<OutputReader, Error> {
    match error.kind() {
        ErrorKind::BrokenPipe => Ok(OutputReader::HasLeft),
        _ => Err(Error::file("standard output")(error)),
    }
}
