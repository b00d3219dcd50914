//! Roles and directives of MyST.

use super::read;

fn shown(page: &str, expected: &str) {
    let text = read(page);
    assert_eq!(
        text.split("\n\n\n").collect::<Vec<_>>().join("\n\n").trim_matches('\n'),
        expected,
        "{page}"
    );
}

#[test]
fn roles_are_text_or_links() {
    shown(
        "See {func}`kit.sail`, {doc}`the guide </guide>`, {ref}`a label <top>`, {ref}`own-label`, {term}`berth` and \
         {marine}`the open sea`.",
        "See `kit.sail`, [the guide](/guide), a label, own label, berth and the open sea.",
    );
    shown("## The {class}`~kit.Boat`", "## The `Boat`");
    for text in ["Code `{func}` and ``{a}`b` ``.", "A {word} and `{x}`y", "\\{func}`x`"] {
        shown(text, text);
    }
}

#[test]
fn titles_and_labels_are_shown() {
    shown("```{tab-item} Linux\n:sync: l\n\nText.\n```", "**Linux**\n\nText.");
    shown(
        "```{exercise} Knots\nTie *one*.\n```",
        "**Exercise: Knots**\n\nTie *one*.",
    );
    shown("```{versionadded} 4.2\nSails.\n```", "**New in version 4.2**\n\nSails.");
    shown(":::{tip} A title\n:class: wide\nText.\n:::", "**A title**\n\nText.");
    shown("```{grid} 1 2\n:gutter: 2\n\nText.\n```", "Text.");
    shown("```{py:function} sail(to)\n\nSails.\n```", "`sail(to)`\n\nSails.");
}

#[test]
fn options_in_yaml_are_no_text() {
    shown(
        "```{code-cell} python\n---\ntags: [hide]\n---\nx = 1\n```",
        "```python\nx = 1\n```",
    );
    shown(
        "```{code-block} c\n:caption: The file\n\nint x;\n```",
        "**The file**\n\n```c\nint x;\n```",
    );
}

#[test]
fn tables_of_directives_are_tables() {
    shown(
        "```{list-table} Options\n:header-rows: 1\n\n* - Option\n  - Meaning\n* - `a`\n  -\n```",
        "**Options**\n\n| Option | Meaning |\n| --- | --- |\n| `a` |  |",
    );
}

#[test]
fn text_of_unknown_directives_is_text_and_code_is_code() {
    shown(
        "```{marine} The sea\n:depth: 40 m\n\nIt is *very* deep.\n```",
        "**The sea**\n\n- **depth:** 40 m\n\nIt is *very* deep.",
    );
    for code in [
        "```{r}\ny <- 1\n```",
        "```{python}\n#| echo: false\nx\n```",
        "```{r, echo=FALSE}\nplot(y)\n```",
    ] {
        shown(code, code);
    }
    shown("```{eval-rst}\n.. marine::\n\n   x = f(1)\n```", "```\nx = f(1)\n```");
}
