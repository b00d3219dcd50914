use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

fn titles(markdown: &str) -> Vec<String> {
    sections(markdown)
        .iter()
        .map(|section| section.heading_path.join(" > "))
        .collect()
}

fn anchors(markdown: &str) -> Vec<String> {
    sections(markdown).into_iter().map(|section| section.anchor).collect()
}

#[test]
fn sections_follow_headings_of_both_kinds() {
    let markdown = "intro\n\n# Guide\n\nSetup\n-----\n\n### Deep `code` *here* ###\n\n## Next\n";
    assert_eq!(
        titles(markdown),
        [
            "",
            "Guide",
            "Guide > Setup",
            "Guide > Setup > Deep code here",
            "Guide > Next"
        ]
    );
}

#[test]
fn headings_inside_code_lists_and_quotations_are_text() {
    let markdown = "# A\n\n```sh\n# not a heading\n```\n\n> # quoted\n\n- # listed\n\n    # indented\n";
    assert_eq!(titles(markdown), ["A"]);
}

#[test]
fn anchors_are_those_of_github() {
    let markdown =
        "# What's new in C++?\n## frame(width:height:)\n## Setup\n## Setup\n## Setup-1\n## Über uns\n## A {#own}\n";
    let expected = [
        "whats-new-in-c",
        "framewidthheight",
        "setup",
        "setup-1",
        "setup-1-1",
        "über-uns",
        "own",
    ];
    assert_eq!(anchors(markdown), expected);
}

#[test]
fn an_identifier_of_the_author_is_never_renamed_by_an_anchor_that_is_made_from_a_heading() {
    assert_eq!(
        anchors(
            "# Berths\n## Berths\n## Where to moor {#berths}\n## Berths\n## Other {#berths}\n## Part-1 {#berths-1}\n"
        ),
        ["berths-2", "berths-3", "berths", "berths-4", "berths-5", "berths-1"]
    );
}

#[test]
fn plain_text_has_the_words_a_reader_sees() {
    for (markdown, expected) in [
        ("**bold** and [text](http://target)", "bold and text"),
        ("![alt text](a.png) after", "alt text after"),
        ("- one\n- two\n  - three", "one\ntwo\nthree"),
        ("| a | b |\n|---|---|\n| 1 | `x|y` |", "a\tb\n1\t`x\ty`"),
        ("para\nsame\n\nnext", "para same\nnext"),
        ("```rust\nlet a = \"*b*\";\n```", "let a = \"*b*\";"),
        (
            "<div align=\"center\">\n<b>Fast</b> &amp; small<br>two</div>",
            "Fast & small\ntwo",
        ),
        (
            "H<sub>2</sub>O <!-- hidden -->and <img src=x alt=\"a drop\">",
            "H2O and a drop",
        ),
        ("[ref][1]\n\n[1]: http://target \"title\"", "ref"),
        ("## Title {#id}\n\ntext", "Title\ntext"),
    ] {
        assert_eq!(plain_text(markdown), expected, "{markdown}");
    }
}

#[test]
fn text_that_is_not_markdown_keeps_its_words() {
    for (text, expected) in [
        ("set <service-name> to <key>", "set <service-name> to <key>"),
        ("<service-name>\nfollows", "<service-name>\nfollows"),
        ("Vec<T> and <Button>", "Vec<T> and <Button>"),
        ("override __init__ in __init__.py", "override __init__ in __init__.py"),
        ("the Partitioning` object and `its", "the Partitioning object and its"),
        ("from -2**31 to 2**31 - 1", "from -2**31 to 2**31 - 1"),
        ("a | b\n--|--\n1 | 2 | three four", "a\tb\n1\t2\tthree four"),
        ("[WARN]: something", "[WARN]: something"),
        ("1984. A novel", "1984. A novel"),
        ("a <!-- never closed", "a <!-- never closed"),
        ("if a < b and c > d", "if a < b and c > d"),
    ] {
        assert_eq!(plain_text(text), expected, "{text}");
    }
}

#[test]
fn code_identifiers_come_from_code_spans_in_order() {
    let markdown = "# `Button`\n\nUse `frame(width:)` and `Button`.\n\n```\nblock\n```";
    assert_eq!(code_identifiers(markdown), ["Button", "frame(width:)", "Button"]);
}

#[test]
fn open_fences_are_closed_where_their_block_ends() {
    for (markdown, expected) in [
        ("```js\ncode", "```js\ncode\n```"),
        ("- ~~~~\n  code\n- next", "- ~~~~\n  code\n  ~~~~\n- next"),
        ("> ```\n> code\n\nafter", "> ```\n> code\n> ```\n\nafter"),
        ("```\nclosed\n```\n", "```\nclosed\n```\n"),
        ("```", "```\n```"),
    ] {
        assert_eq!(close_fences(markdown), expected, "{markdown}");
        assert_eq!(plain_text(expected), plain_text(markdown), "{markdown}");
    }
}

#[test]
fn a_carriage_return_ends_a_line() {
    let markdown = "#\r# Two\rtext";
    let found = sections(markdown);
    let parts: Vec<&str> = found.iter().map(|section| &markdown[section.range.clone()]).collect();
    assert_eq!(parts, ["#\r", "# Two\rtext"]);
    assert_eq!(&markdown[found[1].body_start..], "text");
}

#[test]
fn a_document_has_a_bounded_number_of_sections_and_the_rest_is_text_of_the_last() {
    let markdown = "# a\n".repeat(section::MAX_SECTIONS + 2);
    let found = sections(&markdown);
    assert_eq!(found.len(), section::MAX_SECTIONS);
    let last = found.last().map(|section| &markdown[section.range.clone()]);
    assert_eq!(last, Some("# a\n# a\n# a\n"));
}

/// Text of characters that are special in Markdown.
fn markup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-c]{1,3}",
        2 => Just("\n".to_owned()),
        1 => Just("\n\n".to_owned()),
        2 => Just(" ".to_owned()),
        3 => "[-#>*_~`\\[\\]()|:<!/=+1.{}&\t\r\\\\]{1,4}",
        1 => Just("```".to_owned()),
        1 => Just("\n    ".to_owned()),
        1 => Just("é漢".to_owned()),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn sections_cover_the_source_and_have_unique_anchors(markdown in prop_oneof![markup(), any::<String>()]) {
        let sections = sections(&markdown);
        let covered: String = sections.iter().map(|section| &markdown[section.range.clone()]).collect();
        prop_assert_eq!(covered.trim(), markdown.trim());
        let distinct: HashSet<&str> = sections.iter().map(|section| section.anchor.as_str()).collect();
        prop_assert_eq!(distinct.len(), sections.len());
        for section in &sections {
            prop_assert!(section.range.start <= section.body_start && section.body_start <= section.range.end);
        }
    }

    #[test]
    fn closed_fences_stay_closed(markdown in prop_oneof![markup(), any::<String>()]) {
        let closed = close_fences(&markdown).into_owned();
        prop_assert_eq!(&*close_fences(&closed), closed.as_str());
    }

    #[test]
    fn plain_text_of_words_is_those_words(words in proptest::collection::vec("[A-Za-z]{1,8}", 1..30)) {
        let text = words.join(" ");
        prop_assert_eq!(plain_text(&text), text);
    }
}
