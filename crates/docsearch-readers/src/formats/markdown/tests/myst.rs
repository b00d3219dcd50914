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

#[test]
fn images_show_their_text() {
    shown(
        "```{image} a b.png\n:alt: A *boat*\n:width: 9\n```",
        "![A \\*boat\\*](a%20b.png)",
    );
    shown("```{image} a.png\n```\nText.", "Text.");
    for (opening, end) in [("```{figure}", "```"), (":::{figure}", ":::")] {
        let figure = format!("{opening} a.png\n:alt: \"A boat \\\n:  \\ at sea, 7\\xB0\"\n\nThe *caption*.\n{end}");
        shown(
            &figure,
            "![A boat  at sea, 7°](a.png)\n\nThe *caption*."
                .replace("  ", " ")
                .as_str(),
        );
    }
}

#[test]
fn comments_are_left_out() {
    shown(
        "% Licence\n(top)=\n\n# Sails\n\nOne\n% between\ntwo.",
        "<a id=\"top\"></a>\n\n# Sails\n\nOne\n\ntwo.",
    );
    shown("```{note}\nA\n% no\n\nB\n```", "**Note**\n\nA\n\nB");
    for code in ["```{code-block} matlab\n% yes\n```", "(top)=\n\n```text\n% yes\n```"] {
        assert!(read(code).contains("% yes"), "{code}");
    }
    shown("% no MyST", "% no MyST");
}

#[test]
fn links_without_a_text_have_the_name_of_their_target() {
    let page = "(top)=\n\nSee [](#hoisting-sails), [](../guide/at_night.md), [](own-label), `[](x)` and [text](y).";
    let expected = "See [hoisting sails](#hoisting-sails), [at night](../guide/at_night.md), [own label](own-label), `[](x)` and \
                    [text](y).";
    assert!(read(page).ends_with(&format!("{expected}\n")), "{}", read(page));
    shown("See [](#none).", "See [](#none).");
}

#[test]
fn directives_in_colons_are_those_in_backticks() {
    shown(":::{toctree}\n:hidden:\n\nguide\n:::\n\nText.", "Text.");
    shown(
        "::::{code-block} python\n:caption: A\n\n# x\n::::",
        "**A**\n\n```python\n# x\n```",
    );
    shown(
        ":::{list-table}\n:header-rows: 1\n\n* - A\n* - b\n:::",
        "| A |\n| --- |\n| b |",
    );
    shown(":::{eval-rst}\nSee :pep:`8`.\n:::", "See PEP 8.");
}

proptest::proptest! {
    /// Lines of MyST, of other Markdown, and of code, any of which may begin with a percent sign.
    #[test]
    fn only_comments_are_left_out(
        parts in proptest::collection::vec(("(% )?[a-z]{1,8}", 0usize..4), 1..9),
    ) {
        let (mut page, mut expected) = (String::from("(top)=\n\n# Sails\n\n"), vec!["Sails".to_owned()]);
        for (text, form) in &parts {
            page += &match form {
                0 => format!("{text}\n\n"),
                1 => format!("```text\n{text}\n```\n\n"),
                2 => format!("```{{note}}\n{text}\n```\n\n"),
                _ => format!("See [](#{}).\n\n", text.trim_start_matches("% ")),
            };
            let word = text.trim_start_matches("% ").to_owned();
            expected.extend(match form {
                0 if text.starts_with('%') => Vec::new(),
                0 | 1 => vec![word],
                2 if text.starts_with('%') => vec!["Note".to_owned()],
                2 => vec!["Note".to_owned(), word],
                _ => vec!["See".to_owned(), word.clone(), word],
            });
        }
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|character: char| !character.is_ascii_alphabetic());
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let stored = read(&page).replace("<a id=\"top\"></a>", "").replace("```text", "```");
        proptest::prop_assert_eq!(words(&stored), expected, "{}", stored);
    }
}
