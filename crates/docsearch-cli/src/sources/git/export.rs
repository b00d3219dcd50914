//! Writes the files of a commit into a temporary folder, as they are stored: without filters and export attributes of
//! the repository.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use docsearch_readers::file::extension;

use super::process::GitFailure;
use super::repository::{EntryKind, Repository, TreeEntry};
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::sources::unpacked::UnpackedFiles;

/// Extensions of media files, which are many and large, and have no documentation.
const MEDIA: [&str; 24] = [
    "avif", "bmp", "eot", "flac", "gif", "ico", "jpeg", "jpg", "mov", "mp3", "mp4", "ogg", "otf", "png", "svg", "tif",
    "tiff", "ttf", "wav", "webm", "webp", "woff", "woff2", "zst",
];
/// Maximum length of a link target in bytes.
const MAX_TARGET: u64 = 4_096;

/// Writes the files of the folder `below` of a commit, and those directly in its parent folders, where generators have
/// their configuration.
pub(crate) fn export(
    repository: &Repository,
    commit: &str,
    below: &Path,
    interrupt: &Interrupt,
) -> Result<UnpackedFiles, Error> {
    let Some(mut entries) = repository.tree(commit, below, true)? else {
        return Err(unknown_folder_error(repository, commit, below)?);
    };
    for above in below.ancestors().skip(1) {
        let beside = repository.tree(commit, above, false)?.unwrap_or_default();
        entries.extend(beside.into_iter().filter(|entry| entry.kind != EntryKind::Folder));
    }
    let mut files = UnpackedFiles::new(interrupt)?;
    entries.retain(|entry| match entry.kind {
        EntryKind::File => extension::of(&entry.path).is_none_or(|extension| !MEDIA.contains(&extension.as_str())),
        EntryKind::Link => true,
        EntryKind::Submodule => {
            files.leave_out("submodule");
            false
        }
        EntryKind::Folder => false,
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
        Err(GitFailure::Message(reason)) => return Err(missing_file_error(&reason)),
        Err(GitFailure::Fatal(error)) => return Err(error),
    }
    files.finish();
    Ok(files)
}

/// Writes the next file of the output: `1f7a... blob 12`, its bytes, and a newline. The outer error is one of reading
/// git's output.
fn write(files: &mut UnpackedFiles, entry: &TreeEntry, output: &mut impl BufRead) -> io::Result<Result<(), Error>> {
    let mut line = Vec::new();
    output.take(MAX_TARGET).read_until(b'\n', &mut line)?;
    let line = String::from_utf8_lossy(&line);
    let mut words = line.trim_end().split(' ');
    let (kind, size) = (words.nth(1), words.next().and_then(|size| size.parse::<u64>().ok()));
    let (Some("blob"), Some(size)) = (kind, size) else {
        return Ok(Err(missing_file_error(line.trim_end())));
    };
    let mut contents = output.take(size);
    let written = match entry.kind {
        EntryKind::Link => {
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

/// The error for a file that a commit names and the repository lacks.
fn missing_file_error(reason: &str) -> Error {
    Error::Usage(format!(
        "the repository lacks files of this commit: {reason}\nHINT:  This is a partial clone: index the URL that it was \
         cloned from."
    ))
}

/// The error for an unknown folder, with the folders beside it.
fn unknown_folder_error(repository: &Repository, commit: &str, below: &Path) -> Result<Error, Error> {
    let above: PathBuf = below.parent().map(Path::to_owned).unwrap_or_default();
    let beside = repository.tree(commit, &above, false)?;
    let folders: Vec<String> = beside
        .unwrap_or_default()
        .iter()
        .filter(|entry| entry.kind == EntryKind::Folder)
        .take(10)
        .map(|entry| entry.path.display().to_string())
        .collect();
    let hint = match folders.is_empty() {
        true => "Its parent folder has no folders.".to_owned(),
        false => format!("Its parent folder has {}.", folders.join(", ")),
    };
    Ok(Error::Usage(format!(
        "no folder {} in this commit\nHINT:  {hint}",
        below.display()
    )))
}
