mod myst;
mod project;

use std::path::Path;

use proptest::prelude::*;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::*;

fn read(text: &str) -> String {
    to_markdown(text, Extensions::default())
}

pub(crate) fn to_markdown(text: &str, extensions: Extensions) -> String {
    let source = TextSource::alone(Path::new("page.md"), text);
    converted(text, &PageContext::of(&source, extensions))
}

#[test]
fn containers_become_labels_before_their_text() {
    for (opening, label) in [
        ("::: tip Feedback", "**Feedback**\n\n"),
        (":::note", "**Note**\n\n"),
        (":::caution[Take care]", "**Take care**\n\n"),
        ("::: code-group", ""),
        (":::{warning}", "**Warning**\n\n"),
        ("::: details Show more", "**Show more**\n\n"),
        ("::: {.callout-note}", ""),
    ] {
        let page = format!("Before.\n\n{opening}\n\nInside.\n\n:::\n\nAfter.\n");
        let text = read(&page).replace("\n\n\n", "\n\n").replace("\n\n\n", "\n\n");
        assert_eq!(text, format!("Before.\n\n{label}Inside.\n\nAfter.\n"), "{opening}");
    }
    assert_eq!(
        read("::: kit.oven\n    options:\n      show: true\n\nAfter.\n"),
        "`kit.oven`\n\n\nAfter.\n"
    );
}

#[test]
fn admonitions_and_tabs_lose_the_indentation_of_their_text() {
    let page = "!!! note \"Mind this\"\n    Text:\n\n    ```py\n    if x:\n        y\n    ```\n\n=== \"Linux\"\n\n    - one\n\n        !!! tip\n\n            inner\n\nAfter.\n\n    code\n";
    assert_eq!(
        read(page),
        "**Mind this**\n\nText:\n\n```py\nif x:\n    y\n```\n\n**Linux**\n\n\n- one\n\n    **Tip**\n\n\n    inner\n\nAfter.\n\n    code\n"
    );
}

#[test]
fn attributes_and_icons_go_and_identifiers_stay() {
    assert_eq!(
        read(
            "## Part\n{: #own .no_toc }\n\n[Get it](x){ .md-button } and [this](y){:target=\"_blank\"} :material-check: here.\n{: .lead }\n(label)=\n## Two\n"
        ),
        "## Part {#own}\n\n[Get it](x) and [this](y) here.\n<a id=\"label\"></a>\n## Two\n"
    );
    for text in [
        "Call `f(){ .x }` with {a}.\n",
        "Take f(x){ return 1 }.\n",
        "A :smile: face.\n",
    ] {
        assert_eq!(read(text), text);
    }
}

#[test]
fn directives_of_myst_are_text() {
    assert_eq!(
        read(
            "```{note}\n:class: wide\nMind the *gap*.\n```\n\n```{code-block} python\n:linenos:\n\nx = 1\n```\n\n```{toctree}\na\nb\n```\n\n```{r}\ny <- 1\n```\n"
        ),
        "**Note**\n\nMind the *gap*.\n\n\n```python\nx = 1\n```\n\n\n\n```{r}\ny <- 1\n```\n"
    );
}

#[test]
fn shortcodes_leave_their_visible_text() {
    assert_eq!(
        read(
            "{{< alert title=\"Careful\" >}}\nHot.\n{{< /alert >}}\n\n{{< highlight go \"linenos=table\" >}}\nx := `{{< y >}}`\n{{< /highlight >}}\n\nSee [it]({{< ref \"oven.md\" >}}) and `{{< ref >}}`.\n"
        ),
        "**Careful**\nHot.\n\n\n```go\nx := `{{< y >}}`\n```\n\nSee [it](oven.md) and `{{< ref >}}`.\n"
    );
    let liquid = Extensions {
        liquid: true,
        mdx: false,
    };
    assert_eq!(
        to_markdown("{% include nav.html %}\nVersion {{ site.version }}.\n", liquid),
        "\nVersion .\n"
    );
    assert_eq!(read("Version {{ x }}.\n"), "Version {{ x }}.\n");
}

#[test]
fn terms_that_are_names_become_headings() {
    assert_eq!(
        read(
            "# Options\n\n`--hot`\n:   Fires it.\n\n    ```sh\n    oven --hot\n    ```\n\n:   Or else.\n\nA kind of clay\n: Soft.\n"
        ),
        "# Options\n\n## `--hot`\n\nFires it.\n\n```sh\noven --hot\n```\n\n\nOr else.\n\n**A kind of clay**\n\nSoft.\n"
    );
}

#[test]
fn terms_that_are_questions_become_headings() {
    assert_eq!(
        read("# FAQ\n\nWhy is it cold?\n: It is not lit.\n\nIs *it* safe to touch?\n:   No.\n"),
        "# FAQ\n\n## Why is it cold?\n\nIt is not lit.\n\n## Is *it* safe to touch?\n\nNo.\n"
    );
}

/// The code blocks of a text.
pub(crate) fn code_blocks(markdown: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut open = false;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                blocks.push(String::new());
                open = true;
            }
            Event::End(TagEnd::CodeBlock) => open = false,
            Event::Text(text) if open => blocks.last_mut().unwrap().push_str(&text),
            _ => {}
        }
    }
    blocks
}

proptest! {
    /// Code in admonitions, tabs, lists and definitions of any depth.
    #[test]
    fn the_code_of_a_page_is_the_code_of_the_document(
        parts in proptest::collection::vec(
            (0usize..4, 0usize..3, "([ ]{0,5}(!!! x|::: y|=== \"z\"|:   d|\\{: #i \\}|# h|\\{\\{< s >\\}\\}|- l|[a-z]{1,6})\n){1,4}"),
            1..5,
        )
    ) {
        let openings = ["!!! note", "=== \"Tab\"", "??? tip \"More\""];
        let mut page = String::new();
        let mut expected = Vec::new();
        for (depth, kind, code) in parts {
            for level in 0..depth {
                page += &format!("{}{}\n\n", "    ".repeat(level), openings[kind]);
            }
            let indent = "    ".repeat(depth);
            page += &format!("{indent}~~~ text\n");
            for line in code.lines() {
                page += &format!("{indent}{line}\n");
            }
            page += &format!("{indent}~~~\n\nBetween.\n\n");
            expected.push(code);
        }
        let markdown = read(&page);
        prop_assert_eq!(code_blocks(&markdown), expected, "{}\n->\n{}", page, markdown);
    }

    #[test]
    fn plain_markdown_stays_as_it_is(text in "([#>*-] [a-z `]{1,12}\n|[a-z ,.]{1,20}\n|\n|```\n[a-z{}:! ]{0,20}\n```\n|\\| a \\| b \\|\n){0,12}") {
        prop_assert_eq!(read(&text), text);
    }
}

#[test]
fn badges_are_no_part_of_a_heading() {
    let read = |text: &str| to_markdown(text, Extensions::default());
    assert_eq!(read("## Example <Badge type=\"tip\" text=\"new\" />\n"), "## Example\n");
    assert_eq!(read("## `Vec<T />` and a<B\n"), "## `Vec<T />` and a<B\n");
}
