//! Untrusted ZIP archives: entries and total size are bounded, however well they are compressed.

use std::collections::HashMap;
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
    /// The index of each entry by its path in the form that [`path`] gives it, without a folder that all entries share.
    entries: HashMap<String, usize>,
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
        let paths = (0..zip.len()).filter_map(|at| Some((path(&zip.name_for_index(at)?.ok()?), at)));
        let paths: Vec<(String, usize)> = paths.collect();
        let folder = shared_folder(&paths).to_owned();
        // The first of several entries with one path counts.
        let entries = paths
            .into_iter()
            .rev()
            .map(|(path, at)| (path[folder.len()..].to_owned(), at));
        Ok(Self {
            entries: entries.collect(),
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
        self.index(name).is_some()
    }

    fn index(&self, name: &str) -> Option<usize> {
        let exact = self.zip.index_for_name(name);
        exact.or_else(|| self.entries.get(&path(name)).copied())
    }

    /// The paths of the entries whose names end in `end`, in the order of the archive.
    pub(crate) fn paths_with_end(&self, end: &str) -> Vec<String> {
        let names = (0..self.zip.len()).filter_map(|at| self.zip.name_for_index(at)?.ok());
        names.filter(|name| path(name).ends_with(end)).map(Into::into).collect()
    }

    /// The bytes of an entry; `None` if there is none of this name.
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, Unreadable> {
        let Some(at) = self.index(name) else {
            return Ok(None);
        };
        let format = self.format;
        let malformed = |reason: String| Unreadable::Malformed { format, reason };
        let entry = self
            .zip
            .by_index(at)
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

/// The path of `reference` in the file `from`, without its fragment.
pub(crate) fn resolve(from: &str, reference: &str) -> String {
    let reference = reference.split(['#', '?']).next().unwrap_or_default();
    let reference = percent_encoding::percent_decode_str(reference).decode_utf8_lossy();
    let mut segments: Vec<&str> = match reference.starts_with('/') {
        true => Vec::new(),
        false => from.split('/').collect(),
    };
    segments.pop();
    for segment in reference.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    segments.join("/")
}

/// The path of an entry in the form in which paths are compared: some programs write `\` for `/`, or another case than
/// in the references.
fn path(name: &str) -> String {
    name.replace('\\', "/").trim_start_matches('/').to_lowercase()
}

/// The folder, with `/`, that is at the root of all paths: some programs pack a folder instead of what it contains.
fn shared_folder(paths: &[(String, usize)]) -> &str {
    let folder = paths
        .first()
        .and_then(|(first, _)| Some(first.split_at(first.find('/')? + 1).0));
    folder
        .filter(|folder| paths.iter().all(|(path, _)| path.starts_with(folder)))
        .unwrap_or_default()
}

#[cfg(test)]
pub(crate) fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    let files: Vec<(&str, Vec<u8>)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_bytes().to_vec()))
        .collect();
    packed_bytes(&files)
}

#[cfg(test)]
pub(crate) fn packed_bytes(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_paths_from_the_file_that_has_them() {
        assert_eq!(resolve("OPS/a/b.xhtml", "../c%20d.xhtml#x"), "OPS/c d.xhtml");
        assert_eq!(resolve("content.opf", "../../x"), "x");
        assert_eq!(resolve("a/b", "/c"), "c");
    }

    #[test]
    fn paths_are_compared_as_programs_write_them() {
        let bytes = packed(&[("OPS\\Text\\One.xhtml", "1"), ("a/book.OPF", "2")]);
        let mut archive = Archive::open(&bytes, "test").unwrap();
        assert_eq!(archive.read("ops/text/one.xhtml").unwrap().unwrap(), b"1");
        assert_eq!(archive.paths_with_end(".opf"), ["a/book.OPF"]);
    }

    #[test]
    fn a_folder_around_all_entries_does_not_count() {
        let bytes = packed(&[("Book/mimetype", "m"), ("Book/OPS/a.xhtml", "1")]);
        let mut archive = Archive::open(&bytes, "test").unwrap();
        assert_eq!(archive.read("mimetype").unwrap().unwrap(), b"m");
        assert_eq!(archive.read("OPS/a.xhtml").unwrap().unwrap(), b"1");
        assert_eq!(archive.read("Book/OPS/a.xhtml").unwrap().unwrap(), b"1");

        let bytes = packed(&[("Book/mimetype", "m"), ("Bookends", "1")]);
        assert_eq!(Archive::open(&bytes, "test").unwrap().read("mimetype").unwrap(), None);
    }

    #[test]
    fn entries_are_read_by_name_and_bombs_are_refused() {
        let large = "a".repeat(MAX_ENTRY_BYTES as usize + 1);
        let bytes = packed(&[("a.txt", "text"), ("bomb", &large)]);
        assert!(bytes.len() < 1 << 20 && is_likely(&bytes));
        let mut archive = Archive::open(&bytes, "test").unwrap();
        assert_eq!(archive.read("a.txt").unwrap().unwrap(), b"text");
        assert_eq!(archive.read("b.txt").unwrap(), None);
        assert_eq!(archive.read("/A.TXT").unwrap().unwrap(), b"text");
        assert!(archive.read("bomb").is_err());
        assert!(Archive::open(&bytes[..100], "test").is_err());
    }
}
