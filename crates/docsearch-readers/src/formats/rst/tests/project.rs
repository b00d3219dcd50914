//! Pages of a Sphinx project.

use std::fs;
use std::path::{Path, PathBuf};

use crate::document::{Folders, InputFile, ReadOptions, ReaderOutput, read};

const CONFIGURATION: &str = "\
project = 'Kit'
version = '4.2'
release = version + '.1'
extlinks = {'issue': ('https://kit.test/issues/%s', 'issue %s'), 'src': ('https://kit.test/src/%s', None)}
rst_epilog = f\"\"\"
.. |product| replace:: Harbour Kit
.. |whole| replace:: |product| {release}
.. _home: https://kit.test
\"\"\"
rst_prolog = '.. |vendor| replace:: *Harbour* Ltd'
";

/// The page `install.rst` of a folder with these files.
fn page(files: &[(&str, &str)]) -> ReaderOutput {
    let place = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(place.path()).unwrap();
    for (name, text) in files {
        let file = root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let relative = PathBuf::from("install.rst");
    let options = ReadOptions {
        max_file_size: 1 << 24,
        ..ReadOptions::default()
    };
    let folders = Folders::new(&[(root.as_path(), relative.as_path())], &options);
    let file = InputFile {
        root: &root,
        relative: Path::new("install.rst"),
        source_root: "docs",
    };
    read(&file, &options, Some(&folders)).unwrap().remove(0)
}

fn body(text: &str) -> String {
    page(&[("conf.py", CONFIGURATION), ("install.rst", text)]).document.body
}

#[test]
fn substitutions_of_the_project_are_replaced() {
    for (text, expected) in [
        (
            "|product| |release| by |vendor|, version |version|: |whole|. See home_ and |other|.",
            "Harbour Kit 4.2.1 by *Harbour* Ltd, version 4.2: Harbour Kit 4.2.1. See [home](https://kit.test) and |other|.",
        ),
        (
            ".. |product| replace:: My\n   kit\n\n|product| is |Product|_.\n\n.. _product: https://kit.test/p",
            "My kit is [My kit](https://kit.test/p).",
        ),
        (
            "+---+-----------+\n| A | |product| |\n+---+-----------+",
            "|  |  |\n| --- | --- |\n| A | Harbour Kit |",
        ),
        (
            ".. parsed-literal::\n\n   curl -O *kit*-|version|.tar.gz\n     :ref:`x <y>` \\*",
            "```\ncurl -O kit-4.2.tar.gz\n  x *\n```",
        ),
        (
            ".. code-block:: sh\n   :substitutions:\n\n   curl kit-|version| | sh",
            "```sh\ncurl kit-4.2 | sh\n```",
        ),
        (
            ".. code-block:: sh\n\n   curl kit-|version|",
            "```sh\ncurl kit-|version|\n```",
        ),
        (
            ":issue:`42`, :issue:`that <7>`, :src:`a.c`.",
            "[issue 42](https://kit.test/issues/42), [that](https://kit.test/issues/7), \
             [https://kit.test/src/a.c](https://kit.test/src/a.c).",
        ),
    ] {
        assert_eq!(
            body(&format!("Top\n===\n\n{text}\n")),
            format!("# Top\n\n{expected}\n"),
            "{text}"
        );
    }
}

#[test]
fn text_that_is_added_to_all_pages_is_at_their_end() {
    let page = page(&[
        (
            "conf.py",
            "project = 'Kit'\nrst_prolog = 'Draft.'\nrst_epilog = '''\n.. note:: Old.\n'''\n",
        ),
        ("install.rst", "Top\n===\n\nText.\n"),
    ]);
    assert_eq!(page.document.body, "# Top\n\nText.\n\nDraft.\n\n**Note:** Old.\n");
}

#[test]
fn tables_read_files_of_the_folder() {
    let text = "Top\n===\n\n.. csv-table:: Birds\n   :file: data/birds.csv\n   :header-rows: 1\n";
    let page = page(&[("install.rst", text), ("data/birds.csv", "Bird,Eggs\nsanderling,2\n")]);
    assert_eq!(
        page.document.body,
        "# Top\n\n**Birds**\n\n| Bird | Eggs |\n| --- | --- |\n| sanderling | 2 |\n"
    );
    assert_eq!(page.warning, None);
}

#[test]
fn files_that_cannot_be_read_are_reported() {
    let text =
        "Top\n===\n\n.. csv-table:: Birds\n   :file: ../birds.csv\n\n.. csv-table::\n   :url: https://kit.test/a.csv\n";
    assert_eq!(
        page(&[("install.rst", text)]).warning.as_deref(),
        Some("not included: ../birds.csv (cannot be read) and 1 more")
    );
}

#[test]
fn substitutions_that_refer_to_each_other_end() {
    let text: String = ('a'..='y')
        .map(|name| format!(".. |{name}| replace:: |{0}| |{0}|\n", char::from(name as u8 + 1)))
        .collect();
    let page = format!("Top\n===\n\n{text}\n.. |z| replace:: |z|\n\n{}\n", "|a| ".repeat(1000));
    assert!(super::to_markdown(&page).len() < 16 * page.len() + (64 << 10));
}

#[test]
fn what_the_author_says_for_search_engines_is_kept() {
    let text = "Kit\n===\n\n.. meta::\n   :description lang=en: How to build\n      a kit.\n   :keywords: sail, mast and boom,\n   \
                :og:title: Kit\n\n.. meta::\n\n   :description: Another.\n   :keywords: other\n\nText.\n";
    let document = page(&[("install.rst", text)]).document;
    assert_eq!(document.summary.as_deref(), Some("How to build a kit."));
    assert_eq!(document.keywords, ["sail", "mast and boom"]);
    assert_eq!(document.body, "# Kit\n\nText.\n");
}

#[test]
fn names_that_nothing_defines_are_counted() {
    let text = ".. role:: own\n\n.. sail:: *High*\n\n   Text.\n\n.. sea:wave:: x\n\n.. py:function:: f()\n\n.. note:: n\n\n.. \
                tab:: t\n\nA :own:`b`, :sea:`c`, :py:func:`d`, :issue:`7`, :term:`e` and :sea:`f g`.\n";
    let unknown = page(&[("conf.py", CONFIGURATION), ("install.rst", text)]).unknown;
    assert_eq!(
        unknown.text().unwrap(),
        "kept the text of 4 unknown names (role sea: 2, directive sail: 1, directive sea:wave: 1)"
    );
}
