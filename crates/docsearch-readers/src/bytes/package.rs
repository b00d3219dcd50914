//! Untrusted ZIP archives: entries and total size are bounded, however well they are compressed.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use zip::ZipArchive;

use crate::bytes::xml::{self, Element};
use crate::draft::Unreadable;

const MAGIC: &[u8] = b"PK\x03\x04";
const MAX_ENTRIES: usize = 20_000;
/// Maximum bytes of one entry, and of all entries that are read.
const MAX_ENTRY_BYTES: u64 = 32 << 20;
const MAX_BYTES: u64 = 256 << 20;

/// An open archive.
pub(crate) struct Archive<R> {
    zip: ZipArchive<R>,
    format: &'static str,
    left: u64,
}

/// Whether bytes begin like a ZIP archive.
pub(crate) fn is_likely(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

impl<'a> Archive<Cursor<&'a [u8]>> {
    /// Opens an archive that is read as `format`.
    pub(crate) fn open(bytes: &'a [u8], format: &'static str) -> Result<Self, Unreadable> {
        Self::new(Cursor::new(bytes), format)
    }
}

impl Archive<BufReader<File>> {
    /// Opens the file at `path`; `None` if it is not an archive.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        Self::new(BufReader::new(file), "archive").ok()
    }
}

impl<R: Read + Seek> Archive<R> {
    fn new(source: R, format: &'static str) -> Result<Self, Unreadable> {
        let malformed = |reason: String| Unreadable::Malformed { format, reason };
        let zip = ZipArchive::new(source).map_err(|error| malformed(error.to_string()))?;
        if zip.len() > MAX_ENTRIES {
            return Err(malformed(format!("more than {MAX_ENTRIES} files in it")));
        }
        Ok(Self {
            zip,
            format,
            left: MAX_BYTES,
        })
    }

    /// Whether it has an entry of this name, with this content if one is given.
    pub(crate) fn has_content(&mut self, name: &str, content: Option<&[u8]>) -> bool {
        match content {
            None => self.has(name),
            Some(content) => {
                let entry = self.read(name).ok().flatten();
                entry.is_some_and(|entry| entry.trim_ascii() == content)
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// The bytes of an entry; `None` if there is none of this name.
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, Unreadable> {
        if !self.has(name) {
            return Ok(None);
        }
        let format = self.format;
        let malformed = |reason: String| Unreadable::Malformed { format, reason };
        let entry = self
            .zip
            .by_name(name)
            .map_err(|error| malformed(format!("{name}: {error}")))?;
        let limit = MAX_ENTRY_BYTES.min(self.left);
        let mut bytes = Vec::new();
        entry
            .take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| malformed(format!("{name}: {error}")))?;
        if bytes.len() as u64 > limit {
            return Err(malformed(format!("{name} is too large")));
        }
        self.left -= bytes.len() as u64;
        Ok(Some(bytes))
    }

    /// The root element of an XML entry; `None` if there is none of this name.
    pub(crate) fn read_xml(&mut self, name: &str) -> Result<Option<Element>, Unreadable> {
        let bytes = self.read(name)?;
        bytes.map(|bytes| xml::parse(bytes, self.format)).transpose()
    }
}

#[cfg(test)]
pub(crate) fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_by_name_and_bombs_are_refused() {
        let large = "a".repeat(MAX_ENTRY_BYTES as usize + 1);
        let bytes = packed(&[("a.txt", "text"), ("bomb", &large)]);
        assert!(bytes.len() < 1 << 20 && is_likely(&bytes));
        let mut archive = Archive::open(&bytes, "test").unwrap();
        assert_eq!(archive.read("a.txt").unwrap().unwrap(), b"text");
        assert_eq!(archive.read("b.txt").unwrap(), None);
        assert!(archive.read("bomb").is_err());
        assert!(Archive::open(&bytes[..100], "test").is_err());
    }
}
