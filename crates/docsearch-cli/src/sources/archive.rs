//! Archives of a site or of sources: `.zip`, `.tar` and `.tar.gz`.

mod name;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use docsearch_readers::detection;
use flate2::read::MultiGzDecoder;
use tar::EntryType;
use zip::ZipArchive;

use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::sources::unpacked::UnpackedFiles;
pub(crate) use name::without_version;

/// Size of a tar block in bytes, and the position of its magic number.
const BLOCK: usize = 512;
const MAGIC: std::ops::Range<usize> = 257..262;
/// Maximum ratio of unpacked to packed bytes; the first `FREE_BYTES` are always allowed.
const MAX_RATIO: u64 = 200;
const FREE_BYTES: u64 = 100_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArchiveKind {
    Zip,
    Tar,
    TarGz,
}

/// The kind of archive of a regular file, by its content. `None` if it is not one, or if it is a packed document such
/// as `.docx`.
pub(crate) fn kind(path: &Path) -> Option<ArchiveKind> {
    if detection::is_documentation(path) {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let start = first_block(&mut file);
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        return (!detection::is_packed_document(path)).then_some(ArchiveKind::Zip);
    }
    if is_tar(&start) {
        return Some(ArchiveKind::Tar);
    }
    if !start.starts_with(&[0x1f, 0x8b]) {
        return None;
    }
    file.rewind().ok()?;
    is_tar(&first_block(&mut MultiGzDecoder::new(file))).then_some(ArchiveKind::TarGz)
}

/// Unpacks an archive. Leaves out special files and invalid names.
pub(crate) fn unpack(path: &Path, kind: ArchiveKind, interrupt: &Interrupt) -> Result<UnpackedFiles, Error> {
    let unreadable = |reason: &dyn std::fmt::Display| {
        Error::Usage(format!(
            "{}: not a readable archive: {reason}; nothing was changed",
            path.display()
        ))
    };
    let file = File::open(path).map_err(Error::file(path))?;
    let length = file.metadata().map_err(Error::file(path))?.len();
    let mut target = Unpacker {
        files: UnpackedFiles::new(interrupt)?,
        max_bytes: FREE_BYTES.max(length.saturating_mul(MAX_RATIO)),
    };
    match kind {
        ArchiveKind::Zip => target.zip(BufReader::new(file)),
        ArchiveKind::Tar => target.tar(BufReader::new(file)),
        ArchiveKind::TarGz => target.tar(MultiGzDecoder::new(BufReader::new(file))),
    }
    .map_err(|problem| match problem {
        UnpackError::Archive(reason) => unreadable(&reason),
        UnpackError::Error(Error::File { source, .. }) if source.kind() != io::ErrorKind::StorageFull => {
            unreadable(&source)
        }
        UnpackError::Error(Error::Usage(reason)) => Error::Usage(format!("{}: {reason}", path.display())),
        UnpackError::Error(error) => error,
    })?;
    target.files.finish();
    Ok(target.files)
}

enum UnpackError {
    Archive(String),
    Error(Error),
}

impl From<Error> for UnpackError {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<io::Error> for UnpackError {
    fn from(error: io::Error) -> Self {
        Self::Archive(error.to_string())
    }
}

impl From<zip::result::ZipError> for UnpackError {
    fn from(error: zip::result::ZipError) -> Self {
        Self::Archive(error.to_string())
    }
}

struct Unpacker {
    files: UnpackedFiles,
    /// Maximum number of bytes that the archive may unpack to.
    max_bytes: u64,
}

impl Unpacker {
    fn zip(&mut self, file: impl Read + Seek) -> Result<(), UnpackError> {
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
                self.files.leave_out("invalid name");
                continue;
            };
            match mode {
                0o120_000 => {
                    let mut target = Vec::new();
                    archive.by_index(number)?.take(4_096).read_to_end(&mut target)?;
                    match std::str::from_utf8(&target) {
                        Ok(target) => self.files.link(&name, Path::new(target))?,
                        Err(_) => self.files.leave_out("link that leads outside"),
                    }
                }
                0 | 0o100_000 => {
                    let mut entry = match archive.by_index(number) {
                        Err(zip::result::ZipError::UnsupportedArchive(_)) => {
                            self.files.leave_out("unknown compression");
                            continue;
                        }
                        entry => entry?,
                    };
                    self.add(&name, &mut entry)?;
                }
                _ => self.files.leave_out("special file"),
            }
        }
        Ok(())
    }

    fn tar(&mut self, file: impl Read) -> Result<(), UnpackError> {
        let mut archive = tar::Archive::new(file);
        for entry in archive.entries()? {
            let mut entry = entry?;
            let name = entry.path()?.into_owned();
            match entry.header().entry_type() {
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => self.add(&name, &mut entry)?,
                EntryType::Symlink => match entry.link_name()? {
                    Some(target) => self.files.link(&name, &target)?,
                    None => self.files.leave_out("link that leads outside"),
                },
                EntryType::Directory | EntryType::XGlobalHeader => {}
                EntryType::Link => self.files.leave_out("hard link"),
                _ => self.files.leave_out("special file"),
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &Path, contents: &mut dyn Read) -> Result<(), UnpackError> {
        let room = self.max_bytes.saturating_sub(self.files.bytes());
        let mut contents = contents.take(room + 1);
        self.files.add(name, &mut contents)?;
        if contents.limit() == 0 {
            return Err(UnpackError::Archive(format!(
                "it unpacks to more than {MAX_RATIO} times its size"
            )));
        }
        Ok(())
    }
}

/// The folder with the pages: the only folder at the top if there is just one, as in archives of releases.
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
    // A file that cannot be read is not an archive.
    file.take(BLOCK as u64).read_to_end(&mut block).ok();
    block
}

fn is_tar(block: &[u8]) -> bool {
    block.len() == BLOCK && &block[MAGIC] == b"ustar"
}

#[cfg(test)]
mod tests;
