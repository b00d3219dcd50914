use proptest::prelude::*;
use pulldown_cmark::{Event, Tag, TagEnd};

use super::{MAX_DEPTH, presentation};
use crate::documents::markdown::{plain_text, sections};

fn anchors(markdown: &str) -> Vec<String> {
    let sections = sections(markdown).into_iter().filter(|section| section.level > 0);
    sections.map(|section| section.anchor).collect()
}

fn events(markdown: &str) -> Vec<Event<'_>> {
    presentation(markdown, anchors(markdown)).collect()
}

/// What a renderer writes, in a short notation.
fn shown(markdown: &str) -> String {
    let mut out = String::new();
    for event in events(markdown) {
        match event {
            Event::Start(Tag::Heading { id, .. }) => {
                out.push_str(&format!("<h#{}>", id.as_deref().unwrap_or_default()))
            }
            Event::Start(Tag::Link { dest_url, .. }) => out.push_str(&format!("<link {dest_url}>")),
            Event::Start(Tag::Image { dest_url, .. }) => out.push_str(&format!("<image {dest_url}>")),
            Event::End(TagEnd::Link | TagEnd::Image | TagEnd::Heading(_)) => out.push_str("</>"),
            Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) | Event::Html(text) => out.push_str(&text),
            Event::SoftBreak | Event::HardBreak => out.push(' '),
            _ => {}
        }
    }
    out
}

#[test]
fn headings_have_the_anchors_of_their_sections_and_no_notation_of_them() {
    assert_eq!(
        shown("# Berths {#moor}\n\n- # listed {#no}\n\n## Berths\n\n## Berths {: .wide }\n"),
        "<h#moor>Berths</><h#>listed</><h#berths>Berths</><h#berths-1>Berths</>"
    );
}

#[test]
fn words_that_only_look_like_markup_stay() {
    for (markdown, expected) in [
        ("call __init__ or 2**31 or 2**63", "call __init__ or 2**31 or 2**63"),
        ("start <service-name> of Vec<T>", "start <service-name> of Vec<T>"),
        ("[section]: text\n\nrest", "[section]: textrest"),
        ("| a |\n|---|\n| b | c |\n", "abc"),
        ("a <!-- not\nshown --> b", "a  b"),
        ("if a <!-- b", "if a <!-- b"),
    ] {
        assert_eq!(shown(markdown), expected, "{markdown}");
    }
}

#[test]
fn raw_html_keeps_text_links_and_identifiers() {
    for (markdown, expected) in [
        ("<b onclick='x()' id=i>bold</b>", "<b>bold</b>"),
        (
            "<a href='x.md?a&amp;b' id=q target=_top>x</a>",
            "<span id=\"q\"></span><link x.md?a&b>x</>",
        ),
        ("<a name='\"&lt;x'></a>y", "<span id=\"&quot;&lt;x\"></span>y"),
        ("<img src=a.png alt='A &lt;B&gt;' onerror=x>", "<image a.png>A <B></>"),
        (
            "[![alt](a.png)](b.md) <a href=c><img src=d alt=e></a>",
            "<link b.md>alt</> <link c>e</>",
        ),
        ("<script>\nalert(1)\n</script>\n\nnext", "\nnext"),
        ("the tag <script> starts one", "the tag  starts one"),
        ("<iframe src=x>\ninside\n</iframe>", " \ninside\n "),
        ("<b>bold\n\nnext", "<b>bold</b>next"),
        ("<div id=d>\n\ntext\n\n</div></div>", "<div id=\"d\">\ntext</div>"),
        (
            "![an <b>*image*</b> `of` [x](y)](z.png)",
            "<image z.png>an image of x</>",
        ),
        (
            "![an<br>image <img src=y.png alt='of &lt;x&gt;'>](z.png)",
            "<image z.png>an image of <x></>",
        ),
    ] {
        assert_eq!(shown(markdown), expected, "{markdown}");
    }
}

/// Levels of markup and of raw HTML.
fn depth(events: &[Event<'_>]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for event in events {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::InlineHtml(source) if source.starts_with("</") => depth -= 1,
            Event::InlineHtml(source) if !source.ends_with("></span>") => {
                depth += usize::from(!["<br>", "<hr>"].contains(&source.as_ref()))
            }
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[test]
fn nesting_is_limited() {
    for part in [
        "> ",
        "- ",
        "<div>",
        "<b>",
        "<div></p>",
        "*a **b ",
        "[",
        "![",
        "<a href=x>",
        "<table><tr><td>",
        "> <div>\n",
    ] {
        let markdown = part.repeat(5_000);
        let text = events(&markdown);
        assert!(depth(&text) <= 3 * MAX_DEPTH, "{part}: {}", depth(&text));
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn page() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,5}[ \n]",
        "\\PC{0,6}",
        "(#{1,3} |> |- |1\\. |```\n|\n\n|\n|`|\\*\\*?|__?|!?\\[|\\]\\([a-z]{1,3}\\)|\\]: |\\| |\\|-\\|\n|\\{#[a-z]\\})",
        "</?(a|b|div|p|table|td|li|pre|img|svg|x-y|T|option|summary)( (href|id|name|src|alt)=['\"]?[a-z]{1,3}['\"]?)?/?>",
        "(<!--|-->|&amp;|&lt;|<|>|\\\\)",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_word_of_the_plain_text_is_shown(markdown in page()) {
        let text: String = events(&markdown).into_iter().filter_map(|event| match event {
            Event::Text(text) | Event::Code(text) => Some(text.into_string()),
            Event::Start(Tag::List(Some(first))) => Some(first.to_string()),
            _ => None,
        }).collect();
        let shown = words(&text).concat();
        for word in words(&plain_text(&markdown)) {
            prop_assert!(shown.contains(&word), "{word} of {markdown:?} in {shown:?}");
        }
    }

    #[test]
    fn headings_have_the_anchors_of_all_sections(markdown in page()) {
        let found: Vec<String> = events(&markdown).into_iter().filter_map(|event| match event {
            Event::Start(Tag::Heading { id, .. }) => id.map(|id| id.into_string()),
            _ => None,
        }).collect();
        prop_assert_eq!(found, anchors(&markdown));
    }

    #[test]
    fn markup_is_balanced(markdown in page()) {
        let mut open = Vec::new();
        for event in events(&markdown) {
            match event {
                Event::Start(tag) => open.push(tag.to_end()),
                Event::End(tag) => prop_assert!(open.iter().rposition(|opened| *opened == tag).map(|at| open.remove(at)).is_some()),
                _ => {}
            }
        }
        prop_assert!(open.is_empty(), "{:?} in {:?}", open, markdown);
    }
}
