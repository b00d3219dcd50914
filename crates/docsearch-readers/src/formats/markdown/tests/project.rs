//! Pages in MyST of a Sphinx project.

use std::fs;
use std::path::Path;

use crate::document::{Folders, InputFile, ReadOptions, ReaderOutput, read};

const CONFIGURATION: &str = "\
project = 'Kit'
extensions = ['myst_parser']
version = '4.2'
rst_prolog = 'Added.'
myst_substitutions = {
    'product': f'**Kit** {version}',
    'steps': '''```sh
kit {{ product }}
```''',
}
";

fn page(text: &str) -> ReaderOutput {
    page_among(
        &[("part.md", "Part of {{ product }}.\n"), ("a.csv", "b,c\n")],
        "install.md",
        text,
    )
}

/// The page at a path beside these files.
fn page_among(files: &[(&str, &str)], path: &str, text: &str) -> ReaderOutput {
    let place = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(place.path()).unwrap();
    let own = [("conf.py", CONFIGURATION), (path, text)];
    for (name, text) in own.iter().chain(files) {
        let file = root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let relative = Path::new(path);
    let options = ReadOptions {
        max_file_size: 1 << 24,
        ..ReadOptions::default()
    };
    let all = files.iter().map(|(name, _)| (root.as_path(), Path::new(name)));
    let all: Vec<(&Path, &Path)> = all.chain([(root.as_path(), relative)]).collect();
    let folders = Folders::new(&all, &options);
    let file = InputFile {
        root: &root,
        relative,
        source_root: "docs",
    };
    read(&file, &options, Some(&folders)).unwrap().remove(0)
}

#[test]
fn values_of_the_project_and_of_the_page_are_shown() {
    for (text, expected) in [
        (
            "Get {{ product }} or {{product}}, not `{{ product }}` or {{ other }}.\n",
            "Get **Kit** 4.2 or **Kit** 4.2, not `{{ product }}` or {{ other }}.\n",
        ),
        ("# The {{ product }}\n", "# The **Kit** 4.2 {#the-kit-4-2}\n"),
        (
            "---\nmyst:\n  substitutions:\n    product: It\n    year: 2026\n---\n{{ product }} in {{ year }}.\n",
            "It in 2026.\n",
        ),
        ("{{ steps }}\n", "```sh\nkit {{ product }}\n```\n"),
        ("```\n{{ product }}\n```\n", "```\n{{ product }}\n```\n"),
        ("```{include} part.md\n```\n", "Part of **Kit** 4.2.\n"),
        ("```{note}\n{{ product }}\n```\n", "**Note**\n\n**Kit** 4.2\n\n"),
        ("```{eval-rst}\nThis is |version|.\n```\n", "This is 4.2.\n\n"),
        ("This is {sub-ref}`version`.\n", "This is 4.2.\n"),
    ] {
        assert_eq!(page(text).document.body, expected, "{text}");
    }
}

#[test]
fn files_of_embedded_directives_are_read_or_named() {
    let table = page("```{csv-table}\n:file: a.csv\n```\n");
    assert_eq!(table.document.body, "|  |  |\n| --- | --- |\n| b | c |\n\n");
    let missing = page("```{csv-table}\n:file: none.csv\n```\n\n```{include} ../README.md\n```\nText.\n");
    assert_eq!(
        missing.warning.as_deref(),
        Some("not included: ../README.md (outside the folder)")
    );
    let missing = page("```{eval-rst}\n.. csv-table::\n   :file: none.csv\n```\n");
    assert_eq!(
        missing.warning.as_deref(),
        Some("not included: none.csv (cannot be read)")
    );
}

#[test]
fn what_the_author_says_for_search_engines_is_kept() {
    for text in [
        "---\nmyst:\n  html_meta:\n    \"description lang=en\": How to\n    keywords: sail, mast\n---\n# Kit\n",
        "# Kit\n\n```{eval-rst}\n.. meta::\n   :description: How to\n   :keywords: sail, mast\n```\n",
    ] {
        let document = page(text).document;
        assert_eq!(document.summary.as_deref(), Some("How to"), "{text}");
        assert_eq!(document.keywords, ["sail", "mast"], "{text}");
    }
}

#[test]
fn names_that_nothing_defines_are_counted() {
    let text = "```{sea} The sea\nIt is *very* deep.\n```\n\n:::{wave}\nText.\n:::\n\n:::{note}\n{sea}`a` {func}`b`\n:::\n\n```{r}\ny \
                <- 1\n```\n\n```{eval-rst}\n.. wave::\n\n   Text.\n```\n";
    assert_eq!(
        page(text).unknown.text().unwrap(),
        "kept the text of 4 unknown names (directive wave: 2, directive sea: 1, role sea: 1)"
    );
}

proptest::proptest! {
    /// Values take no more space than the page and a constant allow, however they refer to each other.
    #[test]
    fn values_are_limited(names in proptest::collection::vec("[ab]", 1..60), depth in 1_usize..6) {
        let value = "{{ a }}{{ b }}".repeat(depth);
        let matter = format!("---\nsubstitutions:\n  a: \"{value}\"\n  b: \"{value} x\"\n---\n");
        let uses: String = names.iter().map(|name| format!("{{{{ {name} }}}}\n\n")).collect();
        let body = page(&format!("{matter}{uses}")).document.body;
        proptest::prop_assert!(body.len() < (80 << 10) + 16 * uses.len(), "{}", body.len());
    }
}

#[test]
fn references_without_a_text_show_the_title_of_their_target() {
    let files = [
        (
            "guide/sails.md",
            "(top)=\n# Hoisting `red` sails\n\n## At night\n\n(in-storms)=\n\n## In *storms*\n\n(place)=\nText.\n",
        ),
        ("ropes.rst", ".. _knots:\n\nRopes & *knots*\n===============\n"),
    ];
    for (reference, shown) in [
        ("{doc}`sails`", "[Hoisting `red` sails](sails)"),
        ("{doc}`/ropes`", "[Ropes & *knots*](/ropes)"),
        ("{doc}`the ropes <../ropes>`", "[the ropes](../ropes)"),
        ("{doc}`gone`", "[gone](gone)"),
        ("{ref}`in-storms`", "[In *storms*](sails#in-storms)"),
        ("{ref}`knots`", "[Ropes & *knots*](../ropes#knots)"),
        ("{ref}`here`", "[Masts](#here)"),
        ("{ref}`place`", "place"),
        ("[](sails.md)", "[Hoisting `red` sails](sails.md)"),
        ("[](/ropes.rst)", "[Ropes & *knots*](/ropes.rst)"),
        ("[](sails.md#at-night)", "[At night](sails.md#at-night)"),
        ("[](#the-boom)", "[The boom](#the-boom)"),
        ("[](#knots)", "[Ropes & *knots*](../ropes#knots)"),
        ("[](in-storms)", "[In *storms*](sails#in-storms)"),
        ("[](gone.md#at-sea)", "[at sea](gone.md#at-sea)"),
        ("`[](sails.md)`", "`[](sails.md)`"),
    ] {
        let text = format!("(here)=\n# Masts\n\n## The boom\n\nSee {reference}.\n");
        let body = page_among(&files, "guide/masts.md", &text).document.body;
        assert!(body.ends_with(&format!("\nSee {shown}.\n")), "{reference}: {body}");
    }
}

#[test]
fn pages_in_both_syntaxes_refer_to_each_other() {
    let files = [("sails.md", "(red)=\n# Red sails\n")];
    let text = "Ropes\n=====\n\nSee :doc:`sails` and :ref:`red`.\n";
    let body = page_among(&files, "ropes.rst", text).document.body;
    assert!(
        body.contains("See [Red sails](sails) and [Red sails](sails#red).\n"),
        "{body}"
    );
    let body = page_among(&files, "a.md", "# A\n\n```{eval-rst}\nSee :doc:`sails`.\n```\n")
        .document
        .body;
    assert!(body.contains("See [Red sails](sails)."), "{body}");
}
