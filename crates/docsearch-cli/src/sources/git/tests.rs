use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cache::{fetch_into, folder_of};
use super::*;
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::sources::unpacked::UnpackedFiles;

/// Runs git like a user, at a given time.
fn git(folder: &Path, time: &str, arguments: &[&str]) {
    let done = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args([
            "-c",
            "user.name=ada",
            "-c",
            "user.email=ada@kit.test",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_COMMITTER_DATE", time)
        .env("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn commit(folder: &Path, time: &str, files: &[(&str, &str)]) {
    write(folder, files);
    git(folder, time, &["add", "--all"]);
    git(folder, time, &["commit", "--quiet", "--message=change"]);
}

/// Three commits: v1.0, v1.1 and one more on `main`.
fn kit(place: &Path) -> PathBuf {
    let folder = place.join("kit");
    fs::create_dir(&folder).unwrap();
    git(&folder, "", &["init", "--quiet", "--initial-branch=main"]);
    symlink("docs/a.md", folder.join("README.md")).unwrap();
    commit(
        &folder,
        "2024-01-01T10:00:00+02:00",
        &[
            ("docs/a.md", "# A"),
            ("docs/old.md", "# Old"),
            ("docs/logo.png", "no page"),
            ("mkdocs.yml", "site_name: Kit"),
            (".gitattributes", "docs/** export-ignore\n*.md filter=evil\n"),
        ],
    );
    git(
        &folder,
        "2024-01-01T10:00:00Z",
        &["tag", "--annotate", "--message=first", "v1.0"],
    );
    fs::remove_file(folder.join("docs/old.md")).unwrap();
    commit(&folder, "2024-06-01T10:00:00Z", &[("docs/b.md", "# B")]);
    git(&folder, "2024-06-01T10:00:00Z", &["tag", "v1.1"]);
    commit(
        &folder,
        "2025-02-03T04:05:06Z",
        &[("docs/a.md", "# A\n\nmore"), ("c.md", "# C")],
    );
    folder
}

fn open(folder: &Path) -> Repository {
    Repository::open(folder, &Interrupt::default()).unwrap()
}

fn names(files: &UnpackedFiles) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![files.top().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => names.push(entry.path().strip_prefix(files.top()).unwrap().display().to_string()),
            }
        }
    }
    names.sort();
    names
}

fn exported(repository: &Repository, commit: &str, below: &str) -> UnpackedFiles {
    export(repository, commit, Path::new(below), &Interrupt::default()).unwrap()
}

#[test]
fn all_files_of_a_tag_are_exported_without_a_work_tree() {
    let place = tempfile::tempdir().unwrap();
    let repository = open(&kit(place.path()));
    let files = exported(&repository, &repository.commit("v1.0").unwrap(), "");
    let first = [".gitattributes", "README.md", "docs/a.md", "docs/old.md", "mkdocs.yml"];
    assert_eq!(names(&files), first);
    assert_eq!(fs::read_to_string(files.top().join("README.md")).unwrap(), "# A");
    let files = exported(&repository, &repository.commit("v1.1").unwrap(), "docs");
    assert_eq!(
        names(&files),
        [".gitattributes", "README.md", "docs/a.md", "docs/b.md", "mkdocs.yml"]
    );
}

#[test]
fn an_untrusted_repository_runs_nothing() {
    let place = tempfile::tempdir().unwrap();
    let folder = kit(place.path());
    let trap = place.path().join("trap");
    let touch = format!("touch '{}'", trap.display());
    for (key, value) in [
        ("core.fsmonitor", touch.as_str()),
        ("core.sshCommand", &touch),
        ("core.pager", &touch),
        ("core.editor", &touch),
        ("core.alternateRefsCommand", &touch),
        ("core.gitProxy", &touch),
        ("filter.evil.smudge", &touch),
        ("filter.evil.clean", &touch),
        ("filter.evil.process", &touch),
        ("diff.external", &touch),
        ("gpg.program", &touch),
        ("log.showSignature", "true"),
        ("tar.tar.command", &touch),
        ("credential.helper", &format!("!{touch}")),
        ("alias.log", &format!("!{touch}")),
        ("uploadpack.packObjectsHook", &touch),
        ("remote.origin.uploadpack", &touch),
        ("remote.origin.url", &format!("ext::sh -c {touch}")),
    ] {
        git(&folder, "", &["config", key, value]);
    }
    for hook in [
        "post-checkout",
        "reference-transaction",
        "fsmonitor-watchman",
        "post-index-change",
    ] {
        write(
            &folder,
            &[(&format!(".git/hooks/{hook}"), &format!("#!/bin/sh\n{touch}\n"))],
        );
    }
    let interrupt = Interrupt::default();
    let checkout = Checkout::around(&fs::canonicalize(&folder).unwrap(), &interrupt)
        .unwrap()
        .unwrap();
    let head = checkout.head().unwrap();
    let files = exported(&checkout.repository, &head, "");
    let pages = HashSet::from([PathBuf::from("c.md")]);
    assert!(
        changes(&checkout.repository, &head, Path::new(""), &pages)
            .unwrap()
            .of(Path::new("c.md"))
            .is_some()
    );
    assert!(names(&files).contains(&"c.md".to_owned()));
    assert!(checkout.repository.commit("no-such").is_err());
    checkout.repository.name().unwrap();
    // Its settings are ignored, too, if it is fetched like a remote.
    let cache = place.path().join("cache");
    let address = format!("file://{}", folder.display());
    let fetched = fetch_into(&cache, &address, Some("v1.0"), &interrupt, |_| {}).unwrap();
    exported(&fetched.repository, &fetched.commit, "docs");
    assert!(!trap.exists());
}

#[test]
fn files_have_the_time_of_the_last_commit_that_changed_them() {
    let place = tempfile::tempdir().unwrap();
    let repository = open(&kit(place.path()));
    let times = |reference: &str, below: &str, files: &[&str]| {
        let commit = repository.commit(reference).unwrap();
        let wanted = files.iter().map(PathBuf::from).collect();
        let changes = changes(&repository, &commit, Path::new(below), &wanted).unwrap();
        files
            .iter()
            .map(|file| changes.of(Path::new(file)).map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let some = |time: &str| Some(time.to_owned());
    assert_eq!(
        times("main", "docs", &["docs/a.md", "docs/b.md", "docs/new.md"]),
        [some("2025-02-03T04:05:06Z"), some("2024-06-01T10:00:00Z"), None]
    );
    assert_eq!(
        times("v1.0", "", &["docs/a.md", "docs/old.md", "c.md"]),
        [some("2024-01-01T08:00:00Z"), some("2024-01-01T08:00:00Z"), None]
    );
    // Names with characters of patterns are taken literally.
    assert_eq!(times("main", ":(top)docs", &["docs/a.md"]), [None]);
}

#[test]
fn a_shallow_history_gives_no_times() {
    let place = tempfile::tempdir().unwrap();
    let folder = kit(place.path());
    for (depth, known) in [("1", None), ("2", Some("2025-02-03T04:05:06Z"))] {
        let shallow = place.path().join(depth);
        let (depth, address) = (format!("--depth={depth}"), format!("file://{}", folder.display()));
        git(
            place.path(),
            "",
            &["clone", "--quiet", &depth, &address, shallow.to_str().unwrap()],
        );
        let repository = open(&shallow);
        let files = HashSet::from([PathBuf::from("docs/a.md"), PathBuf::from("docs/b.md")]);
        let commit = repository.commit("HEAD").unwrap();
        let changes = changes(&repository, &commit, Path::new(""), &files).unwrap();
        assert_eq!(changes.of(Path::new("docs/a.md")), known);
        assert_eq!(changes.of(Path::new("docs/b.md")), None);
        assert!(changes.is_cut);
    }
}

#[test]
fn a_checkout_has_the_name_of_its_remote() {
    let place = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(kit(place.path())).unwrap();
    let around = |folder: &Path| Checkout::around(folder, &Interrupt::default()).unwrap();
    assert!(around(place.path()).is_none());
    let checkout = around(&folder.join("docs")).unwrap();
    assert_eq!(checkout.below, Path::new("docs"));
    assert_eq!(checkout.repository.name().unwrap(), None);
    git(
        &folder,
        "",
        &["remote", "add", "origin", "https://ada:secret@host.test/x/kit.git"],
    );
    let name = checkout.repository.name().unwrap().unwrap();
    assert_eq!(name_below(&name, &checkout.below), "host.test/x/kit/docs");
    git(&folder, "", &["remote", "set-url", "origin", "../kit"]);
    assert_eq!(checkout.repository.name().unwrap(), None);
    // A submodule and a separate work tree belong to other repositories.
    write(
        &folder,
        &[("vendor/lib/.git", "gitdir: nowhere"), ("vendor/lib/a.md", "# A")],
    );
    let error = Checkout::around(&folder.join("vendor/lib"), &Interrupt::default()).unwrap_err();
    assert!(error.to_string().contains("as a git repository"), "{error}");
}

#[test]
fn a_bare_repository_is_read_too() {
    let place = tempfile::tempdir().unwrap();
    let folder = kit(place.path());
    let bare = place.path().join("bare.git");
    git(
        place.path(),
        "",
        &[
            "clone",
            "--quiet",
            "--bare",
            folder.to_str().unwrap(),
            bare.to_str().unwrap(),
        ],
    );
    let address = RepositoryAddress::parse(&bare).unwrap().unwrap();
    assert_eq!(address.location, RepositoryLocation::Local(bare.clone()));
    let repository = open(&bare);
    let files = exported(&repository, &repository.commit("HEAD").unwrap(), "docs");
    assert!(names(&files).contains(&"docs/b.md".to_owned()));
}

#[test]
fn a_second_fetch_transfers_only_new_objects() {
    let place = tempfile::tempdir().unwrap();
    let folder = kit(place.path());
    git(&folder, "", &["config", "uploadpack.allowFilter", "true"]);
    let address = format!("file://{}", folder.display());
    let cache = place.path().join("cache");
    let interrupt = Interrupt::default();
    let fetched = |reference: Option<&str>| {
        let notes = std::cell::RefCell::new(Vec::new());
        let fetched = fetch_into(&cache, &address, reference, &interrupt, |note| {
            notes.borrow_mut().push(note.to_owned());
        })?;
        let files = exported(&fetched.repository, &fetched.commit, "docs");
        Ok::<_, Error>((names(&files), notes.into_inner().len(), fetched.commit.clone()))
    };
    let (first, notes, _) = fetched(Some("v1.0")).unwrap();
    assert_eq!(
        first,
        [".gitattributes", "README.md", "docs/a.md", "docs/old.md", "mkdocs.yml"]
    );
    assert_eq!(notes, 1);
    // Files of other commits were not fetched.
    let folder_in_cache = folder_of(&cache, &address);
    let count = |of: &str| {
        let counting = Command::new("git")
            .arg("-C")
            .arg(&folder_in_cache)
            .args(["cat-file", "--batch-all-objects", of])
            .output();
        String::from_utf8(counting.unwrap().stdout).unwrap()
    };
    let blobs = |listing: String| listing.lines().filter(|line| line.contains(" blob ")).count();
    assert_eq!(blobs(count("--batch-check")), 5);
    assert_eq!(fetched(Some("v1.0")).unwrap().1, 0);

    let (main, notes, before) = fetched(None).unwrap();
    assert!(main.contains(&"docs/b.md".to_owned()) && notes == 1);
    commit(&folder, "2025-03-01T00:00:00Z", &[("docs/d.md", "# D")]);
    let (main, notes, after) = fetched(Some("main")).unwrap();
    assert!(main.contains(&"docs/d.md".to_owned()) && notes == 1);
    assert_ne!(before, after);
    // A commit by its hash, and a branch that was reset.
    assert_eq!(fetched(Some(&before)).unwrap().2, before);
    git(&folder, "", &["reset", "--quiet", "--hard", "v1.0"]);
    assert!(fetched(Some("main")).unwrap().0.contains(&"docs/old.md".to_owned()));

    let error = fetched(Some("v1.2")).unwrap_err().to_string();
    assert!(error.contains("HINT:  Did you mean v1."), "{error}");
    fs::remove_dir_all(folder_in_cache.join("objects")).unwrap();
    assert_eq!(fetched(Some("v1.0")).unwrap().0, first);
}

#[test]
fn the_error_of_a_failed_fetch_has_a_hint() {
    let place = tempfile::tempdir().unwrap();
    let fetch = |address: &str| {
        let fetched = fetch_into(
            &place.path().join("cache"),
            address,
            None,
            &Interrupt::default(),
            |_| {},
        );
        fetched.unwrap_err().to_string()
    };
    let error = fetch(&format!("file://{}/none.git", place.path().display()));
    assert!(
        error.contains("cannot fetch file://") && error.contains("HINT:  Check the URL"),
        "{error}"
    );
    let error = fetch("https://ada:secret@127.0.0.1:1/kit.git");
    assert!(error.contains("HINT:  Check that the host can be reached"), "{error}");
    assert!(!error.contains("secret"), "{error}");
}

#[test]
fn the_error_for_an_unknown_folder_lists_folders() {
    let place = tempfile::tempdir().unwrap();
    let repository = open(&kit(place.path()));
    let commit = repository.commit("main").unwrap();
    let error = export(&repository, &commit, Path::new("doc"), &Interrupt::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no folder doc in this commit\nHINT:  Its parent folder has docs."
    );
    let error = repository.commit("v1.3").unwrap_err().to_string();
    assert!(error.contains("Did you mean v1."), "{error}");
}
