use std::fs;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

fn zipped(folder: &Path, entries: &[(&str, &[u8])]) -> PathBuf {
    let path = folder.join("kit-1.2.bin");
    let mut writer = ZipWriter::new(File::create(&path).unwrap());
    for (name, contents) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(contents).unwrap();
    }
    writer.finish().unwrap();
    path
}

/// A tar with names that the writer of the crate would reject.
fn tarred(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, contents) in entries {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o777);
        let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
        if is_link {
            header.set_link_name_literal(contents).unwrap();
        }
        let contents = if is_link { "" } else { contents };
        header.set_size(contents.len() as u64);
        header.set_cksum();
        builder.append(&header, contents.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn unpacked(path: &Path) -> Result<UnpackedFiles, Error> {
    unpack(path, kind(path).unwrap(), &Interrupt::default())
}

#[test]
fn archives_are_recognized_by_their_content() {
    let place = tempfile::tempdir().unwrap();
    let zip = zipped(place.path(), &[("guide/a.md", b"# A")]);
    assert_eq!(kind(&zip), Some(ArchiveKind::Zip));
    let tar = tarred(&[("guide/a.md", EntryType::Regular, "# A")]);
    let file = place.path().join("download");
    for (bytes, expected) in [
        (tar.clone(), Some(ArchiveKind::Tar)),
        (packed(&tar), Some(ArchiveKind::TarGz)),
        (packed(b"a packed page"), None),
        (b"PK or not".to_vec(), None),
        (Vec::new(), None),
    ] {
        fs::write(&file, bytes).unwrap();
        assert_eq!(kind(&file), expected);
    }
    // A page that looks like an archive is a page.
    fs::rename(&zip, place.path().join("page.md")).unwrap();
    assert_eq!(kind(&place.path().join("page.md")), None);
}

#[test]
fn every_kind_is_unpacked_and_a_single_top_folder_is_entered() {
    let place = tempfile::tempdir().unwrap();
    let tar = tarred(&[
        ("kit-1.2/", EntryType::Directory, ""),
        ("kit-1.2/guide/a.md", EntryType::Regular, "# A"),
        ("kit-1.2/b.md", EntryType::Symlink, "guide/a.md"),
    ]);
    for bytes in [tar.clone(), packed(&tar)] {
        let file = place.path().join("kit");
        fs::write(&file, bytes).unwrap();
        let files = unpacked(&file).unwrap();
        let folder = inner_folder(files.top());
        assert!(folder.ends_with("kit-1.2"));
        assert_eq!(fs::read(folder.join("guide/a.md")).unwrap(), b"# A");
        assert_eq!(fs::read(folder.join("b.md")).unwrap(), b"# A");
        assert_eq!(files.left_out_text("kit"), None);
    }
    let zip = zipped(place.path(), &[("a.md", b"# A"), ("guide/b.md", b"# B")]);
    let files = unpacked(&zip).unwrap();
    assert_eq!(inner_folder(files.top()), files.top());
    assert_eq!(fs::read(files.top().join("guide/b.md")).unwrap(), b"# B");
}

#[test]
fn special_files_and_outside_names_are_left_out() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("kit.tar");
    let tar = tarred(&[
        ("/etc/passwd", EntryType::Regular, "root"),
        ("../../up.md", EntryType::Regular, "up"),
        ("a.md", EntryType::Regular, "# A"),
        ("secret", EntryType::Symlink, "/etc/passwd"),
        ("hard", EntryType::Link, "/etc/passwd"),
        ("disk", EntryType::Block, ""),
        ("pipe", EntryType::Fifo, ""),
    ]);
    fs::write(&file, tar).unwrap();
    let files = unpacked(&file).unwrap();
    assert_eq!(
        files.left_out_text("kit.tar").unwrap(),
        "left out 6 entries of kit.tar (hard link: 1, link that leads outside: 1, name that leads outside: 2, \
         special file: 2)"
    );
    assert_eq!(fs::read_dir(files.top()).unwrap().count(), 2);
}

#[test]
fn names_of_a_zip_stay_inside() {
    let place = tempfile::tempdir().unwrap();
    let zip = zipped(place.path(), &[("../../up.md", b"up"), ("/a.md", b"A"), ("b.md", b"B")]);
    let files = unpacked(&zip).unwrap();
    assert!(files.left_out_text("kit").unwrap().contains("name that leads outside"));
    assert!(files.top().join("b.md").exists());
    assert!(!place.path().parent().unwrap().join("up.md").exists());
}

#[test]
fn a_decompression_bomb_is_stopped() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("bomb");
    let mut encoder = GzEncoder::new(File::create(&file).unwrap(), Compression::best());
    let mut header = tar::Header::new_ustar();
    header.set_path("a.md").unwrap();
    header.set_size(1 << 40);
    header.set_cksum();
    encoder.write_all(header.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..200 {
        encoder.write_all(&zeros).unwrap();
    }
    encoder.finish().unwrap();
    let error = unpacked(&file).unwrap_err().to_string();
    assert!(error.contains("200 times its size"), "{error}");
}

#[test]
fn the_error_for_a_broken_archive_names_it() {
    let place = tempfile::tempdir().unwrap();
    let whole = tarred(&[("a.md", EntryType::Regular, &"text ".repeat(10_000))]);
    let file = place.path().join("kit.tgz");
    let bytes = packed(&whole);
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let error = unpacked(&file).unwrap_err().to_string();
    assert!(error.contains("kit.tgz: not a readable archive"), "{error}");

    let zip = zipped(place.path(), &[("a.md", b"# A")]);
    let bytes = fs::read(&zip).unwrap();
    fs::write(&zip, &bytes[..bytes.len() - 10]).unwrap();
    let error = unpacked(&zip).unwrap_err().to_string();
    assert!(error.contains("not a readable archive"), "{error}");
}
