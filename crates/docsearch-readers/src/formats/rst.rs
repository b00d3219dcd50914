//! Reads reStructuredText, as far as pages of Sphinx documentation need it. Unknown markup stays as text.

mod block;
mod directive;
mod identifier;
mod inline;
mod label;
mod labelled_folder;
mod line;
mod reference;
mod table;

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};

use crate::draft::{Draft, Unreadable};
use crate::folder::inclusion::{self, Language};
use crate::formats::format::{self, Format, SiteAnchors, TextSource};
#[cfg(test)]
use crate::formats::growth;
use block::{PageReader, Scope};
use label::FolderLabels;
use labelled_folder::LabelledFolders;

pub(crate) static FORMAT: Format = Format {
    extensions: &["rst"],
    media_types: &["text/x-rst", "text/prs.fallenstein.rst"],
    is_linked: true,
    includes: true,
    anchors: SiteAnchors::Headings,
    collect_shared: Some(|files| Box::new(LabelledFolders::of_files(files))),
    #[cfg(test)]
    fuzz_target: Some(Target::new("readers-rst", Grammar::RST, |input| {
        growth::check(&FORMAT, "guide/page.rst", input);
    })),
    ..Format::new(
        "rst",
        "reStructuredText",
        "reStructuredText, also in .txt",
        format::Reader::Text(read),
    )
};

fn read(source: &TextSource<'_>) -> Result<Vec<Draft>, Unreadable> {
    let draft = Draft::of_page(source.text, |text| {
        let (text, warning) = inclusion::expand(source.folder, source.path, text, Language::ReStructuredText);
        let labels = source.shared::<LabelledFolders>().zip(source.folder);
        let folder_labels = labels.map(|(labels, folder)| labels.of(&folder.root, source.path));
        let body = to_markdown_in(&text, folder_labels.unwrap_or_default());
        match is_filled_in(&text, &body) {
            true => Err(Unreadable::NoDocumentation(
                "generated from code by Sphinx: index the HTML that it builds",
            )),
            false => Ok((body, warning)),
        }
    })?;
    Ok(vec![draft])
}

/// Evidence for reStructuredText in a line without surrounding white space.
pub(crate) fn evidence(line: &str) -> usize {
    let directive = line
        .strip_prefix(".. ")
        .is_some_and(|rest| rest.starts_with('_') || rest.contains("::"));
    let role = line.find(":`").is_some_and(|end| line[..end].contains(':'));
    let literal = line.contains("``") && !line.starts_with("```");
    let reference = line.contains("`_");
    2 * usize::from(directive)
        + 2 * usize::from(role)
        + usize::from(literal)
        + usize::from(reference)
        + usize::from(line.ends_with("::"))
}

/// Converts a page to Markdown.
pub(crate) fn to_markdown(text: &str) -> String {
    to_markdown_in(text, FolderLabels::default())
}

/// Converts a page to Markdown, with the labels of the other pages of its folder.
fn to_markdown_in(text: &str, folder_labels: FolderLabels) -> String {
    let lines: Vec<String> = text.lines().map(line::without_tabs).collect();
    let mut reader = PageReader::new(&lines, folder_labels);
    let mut markdown = reader.blocks(&lines, &Scope::page()).join("\n\n");
    if !markdown.is_empty() {
        markdown.push('\n');
    }
    markdown
}

/// Directives that Sphinx fills in from code.
const FILLED_IN: [&str; 14] = [
    "automodule",
    "autoclass",
    "autofunction",
    "automethod",
    "autodata",
    "autoexception",
    "autosummary",
    "click",
    "argparse",
    "autoprogram",
    "automodapi",
    "autodoc_pydantic_model",
    "doxygenfile",
    "doxygenclass",
];

/// Whether a page, which converts to `markdown`, has only headings and directives that Sphinx fills in.
fn is_filled_in(text: &str, markdown: &str) -> bool {
    // Of such a directive, only the name is left.
    let is_silent = |line: &str| {
        let name = line.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        line.is_empty() || line.starts_with('#') || name.is_some_and(|name| !name.contains(' '))
    };
    let has_text = !markdown.lines().all(|line| is_silent(line.trim()));
    let is_directive = |line: &str| {
        let name = line
            .trim_start()
            .strip_prefix(".. ")
            .and_then(|rest| rest.split_once("::"));
        name.is_some_and(|(name, _)| FILLED_IN.contains(&name))
    };
    !has_text && text.lines().any(is_directive)
}

#[cfg(test)]
mod tests {
    use super::is_filled_in;

    fn to_markdown(page: &str) -> String {
        crate::text::target::take(&super::to_markdown(page)).0
    }

    #[test]
    fn a_page_that_sphinx_fills_in_is_detected() {
        let page = "API\n===\n\n.. automodule:: kit.api\n   :members:\n";
        assert!(is_filled_in(page, &to_markdown(page)));
        let page = format!("{page}\nText.\n");
        assert!(!is_filled_in(&page, &to_markdown(&page)));
        assert!(!is_filled_in("API\n===\n", "# API\n"));
    }

    #[test]
    fn labels_lead_to_their_sections() {
        let page = "Top\n===\n\n.. _My label:\n.. _other_one:\n\nPart\n----\n\nText\n\n.. _here:\n\nMore.\n";
        let (text, anchors) = crate::text::target::take(&super::to_markdown(page));
        assert_eq!(text, "# Top\n\n## Part\n\nText\n\nMore.\n");
        let names: Vec<(&str, &str)> = anchors.iter().map(|(name, anchor)| (&**name, &**anchor)).collect();
        assert_eq!(
            names,
            [
                ("here", "part"),
                ("my label", "part"),
                ("my-label", "part"),
                ("other-one", "part"),
                ("other_one", "part")
            ]
        );
    }

    #[test]
    fn terms_that_are_names_open_sections() {
        let page = "Options\n=======\n\n``max_size``\n    How large.\n\nword\n    What it means.\n";
        assert_eq!(
            to_markdown(page),
            "# Options\n\n## `max_size`\n\nHow large.\n\n- **word**\n\n  What it means.\n"
        );
    }

    #[test]
    fn terms_that_are_questions_open_sections() {
        let page = "FAQ\n===\n\nWhy is it cold?\n    It is not lit.\n\nCold\n    Not lit.\n";
        assert_eq!(
            to_markdown(page),
            "# FAQ\n\n## Why is it cold?\n\nIt is not lit.\n\n- **Cold**\n\n  Not lit.\n"
        );
    }

    #[test]
    fn heading_levels_follow_the_order_of_the_styles() {
        let page = "\
=====
Title
=====

Part
====

Chapter
-------

Part two
========
";
        assert_eq!(to_markdown(page), "# Title\n\n## Part\n\n### Chapter\n\n## Part two\n");
    }

    #[test]
    fn literal_blocks_and_code_become_fences() {
        let page = "\
Run it::

    $ ls *.py

      indented

.. code-block:: python
    :caption: example.py

    x = \"``\"

.. console::

    $ django-admin check
";
        assert_eq!(
            to_markdown(page),
            "Run it:\n\n```\n$ ls *.py\n\n  indented\n```\n\n```python\nx = \"``\"\n```\n\n```console\n$ django-admin check\n```\n"
        );
    }

    #[test]
    fn roles_and_references_become_code_text_and_links() {
        let page = "\
Use :class:`~django.db.models.Model`, :meth:`filter() <QuerySet.filter>` or
:ref:`the guide <guide-label>`; see :ref:`below`, :pep:`8`, :ticket:`42` and `PyPI`_
or `the site <https://example.test/>`__. Take ``a*b``\\s and \\*args, not :setting:`DEBUG`.
Constants like FOO_ and <tag> stay. Default: ``'``:class:`a.B`\\ ``'``.

.. _PyPI: https://pypi.example.test/
.. _below:

Further down
------------
";
        assert_eq!(
            to_markdown(page),
            "\
Use `Model`, `filter()` or
the guide; see [Further down](#below), PEP 8, #42 and [PyPI](https://pypi.example.test/)
or [the site](https://example.test/). Take `a*b`s and \\*args, not `DEBUG`.
Constants like FOO_ and \\<tag> stay. Default: `'a.B'`.

# Further down
"
        );
    }

    #[test]
    fn notes_versions_and_comments() {
        let page = "\
.. This is a comment

.. toctree::
   :maxdepth: 2

   intro
   usage

.. note::

    Mind the *gap*.

.. versionadded:: 4.2

    The ``x`` argument.

.. deprecated:: 5.0
    Use y instead.

.. admonition:: Why?

    Because.
";
        assert_eq!(
            to_markdown(page),
            "**Note:** Mind the *gap*.\n\n**New in version 4.2:** The `x` argument.\n\n**Deprecated since version 5.0:** Use y instead.\n\n**Why?**\n\nBecause.\n"
        );
    }

    #[test]
    fn definitions_become_headings_that_name_their_owner() {
        let page = "\
Fields
======

.. class:: Field(null=False, **options)

    A column.

    .. method:: clean(value)

        Validates.

    .. attribute:: Field.name

        Its name.

.. setting:: DEBUG

``DEBUG``
---------

.. method:: in_bulk(id_list=None)

Takes a list.
";
        assert_eq!(
            to_markdown(page),
            "\
# Fields

## `Field` {#Field}

`class Field(null=False, **options)`

A column.

### `Field.clean` {#Field.clean}

`clean(value)`

Validates.

### `Field.name` {#Field.name}

Its name.

## `DEBUG`

`in_bulk(id_list=None)`

Takes a list.
"
        );
    }

    #[test]
    fn lists_keep_their_nesting() {
        let page = "\
* One
  continues.

  * Inner::

        code

2. Second
#. Third

term : type
    What it means.

:Author: Ada
-v, --verbose  Talk more.
";
        assert_eq!(
            to_markdown(page),
            "\
- One
  continues.

  - Inner:

    ```
    code
    ```

2. Second
3. Third

- **term : type**

  What it means.

- **Author:** Ada
- `-v, --verbose`: Talk more.
"
        );
    }

    #[test]
    fn tables_keep_rows_and_columns() {
        let simple = "\
=====  =========
Type   Meaning
=====  =========
``a``  first
       line two
b|c    second
=====  =========
";
        let expected = "| Type | Meaning |\n| --- | --- |\n| `a` | first line two |\n| b\\|c | second |\n";
        assert_eq!(to_markdown(simple), expected);
        let grid = "\
+------+----------+
| Type | Meaning  |
+======+==========+
| a    | first    |
|      | line two |
+------+----------+
";
        let expected = "| Type | Meaning |\n| --- | --- |\n| a | first line two |\n";
        assert_eq!(to_markdown(grid), expected);
    }

    #[test]
    fn hostile_indentation_ends() {
        let staircase: String = (0..400).map(|depth| format!("{}* x\n\n", " ".repeat(depth))).collect();
        assert!(to_markdown(&staircase).contains("- x"));
    }

    proptest::proptest! {
        /// Code in directives, notes, lists and literal blocks.
        #[test]
        fn the_code_of_a_page_is_the_code_of_the_document(
            parts in proptest::collection::vec(
                (0usize..4, "[a-z]{1,4}\n([ ]{0,5}([.][.] note::|- l|====|:a: b|```|[*]b[*]|[|]s[|]|`x`_|\\\\|[!-~]{1,5})?\n){0,4}[!-~]\n"),
                1..5,
            )
        ) {
            let mut page = "Kiln\n====\n\n".to_owned();
            let mut expected = Vec::new();
            for (kind, code) in parts {
                let indented = |by: usize| -> String {
                    code.lines().map(|line| format!("{}{line}\n", " ".repeat(by))).collect()
                };
                page += &match kind {
                    0 => format!(".. code-block:: python\n\n{}", indented(3)),
                    1 => format!(".. note::\n\n   .. code-block:: c\n      :linenos:\n\n{}", indented(6)),
                    2 => format!("- An item\n\n  .. code-block:: c\n\n{}", indented(5)),
                    _ => format!("Like this::\n\n{}", indented(4)),
                };
                page += "\nBetween.\n\n";
                let code: Vec<&str> = code.lines().map(str::trim_end).collect();
                expected.push(code.join("\n") + "\n");
            }
            let markdown = to_markdown(&page);
            proptest::prop_assert_eq!(crate::formats::markdown::tests::code_blocks(&markdown), expected, "{}\n->\n{}", page, markdown);
        }
    }
}
