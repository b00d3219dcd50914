//! Documents as JSON lines on standard output, for `--dry-run`.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use crate::document::Document;
use crate::error::Error;

pub(crate) struct Printer {
    output: BufWriter<StdoutLock<'static>>,
}

/// Whether the reader still listens: one that has seen enough (`| head`) is no failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    Listens,
    HasGone,
}

impl Printer {
    pub(crate) fn new() -> Self {
        Self {
            output: BufWriter::new(io::stdout().lock()),
        }
    }

    pub(crate) fn print(&mut self, document: &Document) -> Result<Reader, Error> {
        serde_json::to_writer(&mut self.output, document)
            .map_err(io::Error::from)
            .and_then(|()| self.output.write_all(b"\n"))
            .map_or_else(gone, |()| Ok(Reader::Listens))
    }

    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.output.flush().or_else(|error| gone(error).map(|_| ()))
    }
}

fn gone(error: io::Error) -> Result<Reader, Error> {
    match error.kind() {
        ErrorKind::BrokenPipe => Ok(Reader::HasGone),
        _ => Err(Error::file("standard output")(error)),
    }
}
