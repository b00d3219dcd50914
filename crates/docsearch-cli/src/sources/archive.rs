//! Archives of a site or of sources: `.zip`, `.tar`, and `.tar` packed with gzip.

mod name;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use docsearch_readers::markup;
use flate2::read::MultiGzDecoder;
use tar::EntryType;
use zip::ZipArchive;

use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::sources::unpacked::Unpacked;
pub(crate) use name::without_version;

/// Bytes of a block of a tar, and where its mark stands.
const BLOCK: usize = 512;
const MARK: std::ops::Range<usize> = 257..262;
/// What is unpacked from each byte at most, beyond the first of them.
const MAX_RATIO: u64 = 200;
const FREE_BYTES: u64 = 100_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Zip,
    Tar,
    TarGz,
}

/// What kind of archive a regular file is by its content; `None` if it is none, or documentation that happens to be
/// packed, which its name or what it holds tells.
pub(crate) fn kind(path: &Path) -> Option<Kind> {
    if markup::is_documentation(path) {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let start = first_block(&mut file);
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        return (!markup::is_packed_document(path)).then_some(Kind::Zip);
    }
    if is_tar(&start) {
        return Some(Kind::Tar);
    }
    if !start.starts_with(&[0x1f, 0x8b]) {
        return None;
    }
    file.rewind().ok()?;
    is_tar(&first_block(&mut MultiGzDecoder::new(file))).then_some(Kind::TarGz)
}

/// Unpacks an archive. What is no file, or cannot be one here, is left out.
pub(crate) fn unpack(path: &Path, kind: Kind, interrupt: &Interrupt) -> Result<Unpacked, Error> {
    let unreadable = |reason: &dyn std::fmt::Display| {
        Error::Usage(format!(
            "{}: not a readable archive: {reason}; nothing was changed",
            path.display()
        ))
    };
    let file = File::open(path).map_err(Error::file(path))?;
    let length = file.metadata().map_err(Error::file(path))?.len();
    let mut target = Unpacking {
        files: Unpacked::new(interrupt)?,
        most: FREE_BYTES.max(length.saturating_mul(MAX_RATIO)),
    };
    match kind {
        Kind::Zip => target.zip(BufReader::new(file)),
        Kind::Tar => target.tar(BufReader::new(file)),
        Kind::TarGz => target.tar(MultiGzDecoder::new(BufReader::new(file))),
    }
    .map_err(|problem| match problem {
        Problem::Archive(reason) => unreadable(&reason),
        Problem::Error(Error::File { source, .. }) if source.kind() != io::ErrorKind::StorageFull => {
            unreadable(&source)
        }
        Problem::Error(Error::Usage(reason)) => Error::Usage(format!("{}: {reason}", path.display())),
        Problem::Error(error) => error,
    })?;
    target.files.finish();
    Ok(target.files)
}

enum Problem {
    Archive(String),
    Error(Error),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Archive(error.to_string())
    }
}

impl From<zip::result::ZipError> for Problem {
    fn from(error: zip::result::ZipError) -> Self {
        Self::Archive(error.to_string())
    }
}

struct Unpacking {
    files: Unpacked,
    /// Bytes that the archive may unpack to.
    most: u64,
}

impl Unpacking {
    fn zip(&mut self, file: impl Read + Seek) -> Result<(), Problem> {
        let mut archive = ZipArchive::new(file)?;
        for number in 0..archive.len() {
            let entry = archive.by_index_raw(number)?;
            let (is_encrypted, is_folder) = (entry.encrypted(), entry.is_dir());
            let name = entry.name().map(|name| Path::new(&*name).to_owned());
            let mode = entry.unix_mode().unwrap_or(0) & 0o170_000;
            drop(entry);
            if is_folder {
                continue;
            }
            if is_encrypted {
                self.files.leave_out("encrypted");
                continue;
            }
            let Ok(name) = name else {
                self.files.leave_out("name that no file can have");
                continue;
            };
            match mode {
                0o120_000 => {
                    let mut target = Vec::new();
                    archive.by_index(number)?.take(4_096).read_to_end(&mut target)?;
                    match std::str::from_utf8(&target) {
                        Ok(target) => self.files.link(&name, Path::new(target))?,
                        Err(_) => self.files.leave_out("link that leads nowhere in it"),
                    }
                }
                0 | 0o100_000 => {
                    let mut entry = match archive.by_index(number) {
                        Err(zip::result::ZipError::UnsupportedArchive(_)) => {
                            self.files.leave_out("packed in an unknown way");
                            continue;
                        }
                        entry => entry?,
                    };
                    self.add(&name, &mut entry)?;
                }
                _ => self.files.leave_out("neither file nor link"),
            }
        }
        Ok(())
    }

    fn tar(&mut self, file: impl Read) -> Result<(), Problem> {
        let mut archive = tar::Archive::new(file);
        for entry in archive.entries()? {
            let mut entry = entry?;
            let name = entry.path()?.into_owned();
            match entry.header().entry_type() {
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => self.add(&name, &mut entry)?,
                EntryType::Symlink => match entry.link_name()? {
                    Some(target) => self.files.link(&name, &target)?,
                    None => self.files.leave_out("link that leads nowhere in it"),
                },
                EntryType::Directory | EntryType::XGlobalHeader => {}
                EntryType::Link => self.files.leave_out("hard link"),
                _ => self.files.leave_out("neither file nor link"),
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &Path, contents: &mut dyn Read) -> Result<(), Problem> {
        let room = self.most.saturating_sub(self.files.bytes());
        let mut contents = contents.take(room + 1);
        self.files.add(name, &mut contents)?;
        if contents.limit() == 0 {
            return Err(Problem::Archive(format!(
                "it unpacks to more than {MAX_RATIO} times its size"
            )));
        }
        Ok(())
    }
}

/// The folder whose pages are meant: the only one at the top, as archives of releases have it.
pub(crate) fn inner_folder(top: &Path) -> std::path::PathBuf {
    let mut inner = None;
    let entries = std::fs::read_dir(top).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name() != ".git") {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || inner.is_some() {
            return top.to_owned();
        }
        inner = Some(entry.path());
    }
    inner.unwrap_or_else(|| top.to_owned())
}

fn first_block(file: &mut impl Read) -> Vec<u8> {
    let mut block = Vec::new();
    // What cannot be read is no archive.
    file.take(BLOCK as u64).read_to_end(&mut block).ok();
    block
}

fn is_tar(block: &[u8]) -> bool {
    block.len() == BLOCK && &block[MARK] == b"ustar"
}

#[cfg(test)]
mod tests;
