//! A buffer for the documents of a run: in memory, or in a temporary file if they are large.

use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};

use docsearch_readers::document::Document;
use tempfile::SpooledTempFile;

/// Maximum size in memory, in bytes.
const MAX_IN_MEMORY: usize = 64 << 20;

pub(crate) struct DocumentBuffer(BufWriter<SpooledTempFile>);

impl DocumentBuffer {
    pub(crate) fn new() -> Self {
        Self(BufWriter::new(SpooledTempFile::new(MAX_IN_MEMORY)))
    }

    pub(crate) fn push(&mut self, document: &Document) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, document)?;
        self.0.write_all(b"\n")
    }

    /// The documents, in the order in which they were added.
    pub(crate) fn documents(self) -> io::Result<BufferedDocuments> {
        let mut file = self.0.into_inner()?;
        file.rewind()?;
        Ok(BufferedDocuments {
            lines: BufReader::new(file),
            line: Vec::new(),
        })
    }
}

pub(crate) struct BufferedDocuments {
    lines: BufReader<SpooledTempFile>,
    line: Vec<u8>,
}

impl BufferedDocuments {
    /// `None` after the last one.
    pub(crate) fn next(&mut self) -> io::Result<Option<Document>> {
        self.line.clear();
        match self.lines.read_until(b'\n', &mut self.line)? {
            0 => Ok(None),
            _ => Ok(serde_json::from_slice(&self.line)?),
        }
    }
}
