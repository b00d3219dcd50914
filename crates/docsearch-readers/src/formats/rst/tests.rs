mod conservation;
mod directive;
mod project;
mod table;

use super::is_filled_in;

pub(super) fn to_markdown(page: &str) -> String {
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
fn quotations_after_labels_are_text() {
    assert_eq!(
        to_markdown(".. _a:\n\n   Quoted.\n\n.. _b: https://kit.test/\n   long\n\n.. c\n\n   Comment.\n"),
        "Quoted.\n"
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
        "Run it:\n\n```\n$ ls *.py\n\n  indented\n```\n\n**example.py**\n\n```python\nx = \"``\"\n```\n\n```console\n$ django-admin check\n```\n"
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
