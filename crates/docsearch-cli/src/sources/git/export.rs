//! The files of a commit, written into a temporary folder as they are kept: no filter of the repository runs, and
//! what it does not export is there.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use docsearch_readers::file::extension;

use super::process::Failure;
use super::repository::{Entry, Kind, Repository};
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::sources::unpacked::Unpacked;

/// Files without a word of documentation, of which there are many and large ones.
const MEDIA: [&str; 24] = [
    "avif", "bmp", "eot", "flac", "gif", "ico", "jpeg", "jpg", "mov", "mp3", "mp4", "ogg", "otf", "png", "svg", "tif",
    "tiff", "ttf", "wav", "webm", "webp", "woff", "woff2", "zst",
];
/// Bytes of the target of a link.
const MAX_TARGET: u64 = 4_096;

/// Writes the files of the folder `below` of a commit, and those that lie directly in the folders above it, where
/// generators have their configuration.
pub(crate) fn export(
    repository: &Repository,
    commit: &str,
    below: &Path,
    interrupt: &Interrupt,
) -> Result<Unpacked, Error> {
    let Some(mut entries) = repository.tree(commit, below, true)? else {
        return Err(no_such_folder(repository, commit, below)?);
    };
    for above in below.ancestors().skip(1) {
        let beside = repository.tree(commit, above, false)?.unwrap_or_default();
        entries.extend(beside.into_iter().filter(|entry| entry.kind != Kind::Folder));
    }
    let mut files = Unpacked::new(interrupt)?;
    entries.retain(|entry| match entry.kind {
        Kind::File => extension::of(&entry.path).is_none_or(|extension| !MEDIA.contains(&extension.as_str())),
        Kind::Link => true,
        Kind::Submodule => {
            files.leave_out("submodule");
            false
        }
        Kind::Folder => false,
    });
    let objects: HashSet<&str> = entries.iter().map(|entry| entry.object.as_str()).collect();
    repository.complete(commit, &objects)?;

    let mut input = Vec::new();
    for entry in &entries {
        input.extend_from_slice(entry.object.as_bytes());
        input.push(b'\n');
    }
    let mut problem = None;
    let read = repository.git.read(&["cat-file", "--batch"], input, |output| {
        let mut output = BufReader::new(output);
        for entry in &entries {
            if let Err(error) = write(&mut files, entry, &mut output)? {
                problem = Some(error);
                return Ok(());
            }
        }
        Ok(())
    });
    if let Some(problem) = problem {
        return Err(problem);
    }
    match read {
        Ok(()) => {}
        Err(Failure::Message(reason)) => return Err(lacking(&reason)),
        Err(Failure::Fatal(error)) => return Err(error),
    }
    files.finish();
    Ok(files)
}

/// Writes the file that comes next: `1f7a... blob 12`, its bytes, and a line end. The outer error is one of git's
/// output.
fn write(files: &mut Unpacked, entry: &Entry, output: &mut impl BufRead) -> io::Result<Result<(), Error>> {
    let mut line = Vec::new();
    output.take(MAX_TARGET).read_until(b'\n', &mut line)?;
    let line = String::from_utf8_lossy(&line);
    let mut words = line.trim_end().split(' ');
    let (kind, size) = (words.nth(1), words.next().and_then(|size| size.parse::<u64>().ok()));
    let (Some("blob"), Some(size)) = (kind, size) else {
        return Ok(Err(lacking(line.trim_end())));
    };
    let mut contents = output.take(size);
    let written = match entry.kind {
        Kind::Link => {
            let mut target = Vec::new();
            (&mut contents).take(MAX_TARGET).read_to_end(&mut target)?;
            files.link(&entry.path, Path::new(std::ffi::OsStr::from_bytes(&target)))
        }
        _ => files.add(&entry.path, &mut contents),
    };
    if written.is_ok() {
        io::copy(&mut contents, &mut io::sink())?;
        output.read_exact(&mut [0])?;
    }
    Ok(written)
}

/// A file that a commit names and the repository does not have.
fn lacking(reason: &str) -> Error {
    Error::Usage(format!(
        "the repository lacks files of this commit: {reason}\nHINT:  It is a partial clone; give the address that it was \
         cloned from."
    ))
}

/// That there is no such folder, with those that there are.
fn no_such_folder(repository: &Repository, commit: &str, below: &Path) -> Result<Error, Error> {
    let above: PathBuf = below.parent().map(Path::to_owned).unwrap_or_default();
    let beside = repository.tree(commit, &above, false)?;
    let folders: Vec<String> = beside
        .unwrap_or_default()
        .iter()
        .filter(|entry| entry.kind == Kind::Folder)
        .take(10)
        .map(|entry| entry.path.display().to_string())
        .collect();
    let hint = match folders.is_empty() {
        true => "There are no folders beside it.".to_owned(),
        false => format!("There are {}.", folders.join(", ")),
    };
    Ok(Error::Usage(format!(
        "no folder {} in this commit\nHINT:  {hint}",
        below.display()
    )))
}
