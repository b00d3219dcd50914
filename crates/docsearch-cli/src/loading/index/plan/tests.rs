use std::io::Write;
use std::process::Command;

use super::*;
use crate::sources::source_options::SourceOptions;

/// A plan for paths, with options.
fn planned(paths: &[&Path], source_root: Option<&str>, prefix: Option<&str>) -> Result<Plan, Error> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    let options = SourceOptions {
        prefix: prefix.map(str::to_owned),
        exclude: vec!["/drafts/**".to_owned()],
        ..SourceOptions::default()
    };
    let context = PlanContext {
        source_root,
        filter: &options.filter().unwrap(),
        options: &options.read_options(),
        interrupt: &Interrupt::default(),
        report: &Report::plain(),
    };
    Plan::new(&paths, &context)
}

fn read(plan: &Plan) -> Vec<(String, &str, Option<&str>)> {
    plan.inputs
        .iter()
        .map(|input| {
            let path = input.relative.display().to_string();
            (path, input.source_root.as_str(), input.committed.as_deref())
        })
        .collect()
}

fn git(folder: &Path, arguments: &[&str]) {
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
        .env("GIT_COMMITTER_DATE", "2024-01-01T10:00:00Z")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// A repository `kit` with `README.md`, `docs/a.md`, and a page that is in no commit.
fn kit(place: &Path, remote: Option<&str>) -> PathBuf {
    let folder = fs::canonicalize(place).unwrap().join("kit");
    fs::create_dir_all(folder.join("docs")).unwrap();
    fs::write(folder.join("README.md"), "# Kit").unwrap();
    fs::write(folder.join("docs/a.md"), "# A").unwrap();
    git(&folder, &["init", "--quiet", "--initial-branch=main"]);
    git(&folder, &["add", "--all"]);
    git(&folder, &["commit", "--quiet", "--message=first"]);
    git(&folder, &["tag", "v1"]);
    fs::write(folder.join("docs/new.md"), "# New").unwrap();
    if let Some(remote) = remote {
        git(&folder, &["remote", "add", "origin", remote]);
    }
    folder
}

#[test]
fn files_belong_to_their_folder_and_only_folders_are_complete() {
    let place = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(place.path()).unwrap();
    fs::create_dir(root.join("docs")).unwrap();
    fs::write(root.join("docs/a.md"), "# A").unwrap();
    fs::write(root.join("b.md"), "# B").unwrap();
    let plan = planned(&[&root.join("docs"), &root.join("b.md")], None, Some("kit")).unwrap();
    let (folder, parent) = (root.join("docs"), root.clone());
    let (folder, parent) = (folder.to_str().unwrap(), parent.to_str().unwrap());
    assert_eq!(
        read(&plan),
        [("a.md".to_owned(), folder, None), ("b.md".to_owned(), parent, None)]
    );
    assert_eq!(plan.folders, [SourceRoot::named(folder)]);
    let plan = planned(&[&root.join("docs"), &root.join("docs")], Some("kit"), None).unwrap();
    assert_eq!(plan.folders, [SourceRoot::named("kit")]);
}

#[test]
fn an_empty_folder_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    assert!(matches!(planned(&[place.path()], None, None), Err(Error::Usage(_))));
}

#[test]
fn a_checkout_belongs_to_its_remote_and_replaces_pages_of_its_path() {
    let place = tempfile::tempdir().unwrap();
    let folder = kit(place.path(), Some("https://ci:token@host.test/x/kit.git"));
    let date = Some("2024-01-01T10:00:00Z");
    let docs = folder.join("docs");
    let plan = planned(&[&docs, &folder.join("README.md")], None, None).unwrap();
    assert_eq!(
        read(&plan),
        [
            ("a.md".to_owned(), "host.test/x/kit/docs", date),
            ("new.md".to_owned(), "host.test/x/kit/docs", None),
            ("README.md".to_owned(), "host.test/x/kit", date),
        ]
    );
    let root = SourceRoot {
        former_name: Some(docs.to_string_lossy().into_owned()),
        ..SourceRoot::named("host.test/x/kit/docs")
    };
    assert_eq!(plan.folders, [root]);
    // Versions side by side do not delete each other's pages.
    let plan = planned(&[&docs], None, Some("/v1/")).unwrap();
    assert_eq!(plan.folders[0].name, "host.test/x/kit/docs?prefix=v1");
    let plan = planned(&[&docs], Some("mine"), Some("v1")).unwrap();
    assert_eq!(plan.folders, [SourceRoot::named("mine")]);
}

#[test]
fn a_checkout_without_a_remote_belongs_to_its_path() {
    let place = tempfile::tempdir().unwrap();
    let docs = kit(place.path(), None).join("docs");
    let plan = planned(&[&docs], None, Some("v1")).unwrap();
    assert_eq!(plan.folders, [SourceRoot::named(docs.to_str().unwrap())]);
    assert_eq!(plan.inputs[0].committed.as_deref(), Some("2024-01-01T10:00:00Z"));
}

#[test]
fn a_commit_has_the_same_pages_as_its_checkout() {
    let place = tempfile::tempdir().unwrap();
    let folder = kit(place.path(), Some("git@host.test:x/kit"));
    let date = Some("2024-01-01T10:00:00Z");
    for argument in [
        format!("{}#v1:docs", folder.display()),
        format!("{}/docs#v1", folder.display()),
    ] {
        let plan = planned(&[Path::new(&argument)], None, None).unwrap();
        assert_eq!(read(&plan), [("a.md".to_owned(), "host.test/x/kit/docs", date)]);
        assert_eq!(plan.folders, [SourceRoot::named("host.test/x/kit/docs")]);
        let copy = plan.unpacked[0].top().to_owned();
        assert!(copy.join("docs/a.md").exists());
        drop(plan);
        assert!(!copy.exists());
    }
}

#[test]
fn a_broken_repository_is_read_as_a_folder() {
    let place = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(place.path()).unwrap();
    fs::write(folder.join(".git"), "gitdir: /nowhere").unwrap();
    fs::write(folder.join("a.md"), "# A").unwrap();
    let plan = planned(&[&folder], None, None).unwrap();
    assert_eq!(plan.folders, [SourceRoot::named(folder.to_str().unwrap())]);
    assert_eq!(plan.inputs.len(), 1);
}

#[test]
fn the_next_release_of_an_archive_replaces_the_last() {
    let place = tempfile::tempdir().unwrap();
    for (file, top, expected) in [
        ("kit-1.2.zip", "", "kit"),
        ("kit-1.10.zip", "site/", "kit"),
        ("v1.3.zip", "kit-1.3/", "kit"),
        ("v1.4.zip", "", "archive"),
    ] {
        let path = place.path().join(file);
        let mut writer = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        for name in ["index.md", "guide/a.md"] {
            writer
                .start_file(format!("{top}{name}"), zip::write::SimpleFileOptions::default())
                .unwrap();
            writer.write_all(b"# Page").unwrap();
        }
        writer.finish().unwrap();
        let plan = planned(&[&path], None, None).unwrap();
        let expected = SourceRoot {
            is_guess: true,
            ..SourceRoot::named(expected)
        };
        assert_eq!(plan.folders, [expected]);
        let paths: Vec<String> = read(&plan).into_iter().map(|(path, ..)| path).collect();
        assert_eq!(paths, ["guide/a.md", "index.md"]);
        assert_eq!(
            planned(&[&path], Some("kit"), None).unwrap().folders,
            [SourceRoot::named("kit")]
        );
    }
}
