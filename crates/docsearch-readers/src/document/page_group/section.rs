//! A page as a section of a document: its headings move below one heading, and their anchors get the page's prefix.

use std::collections::BTreeMap;

use docsearch_core::documents::markdown::{Section, close_fences, sections};
use docsearch_core::index::question::Question;
use docsearch_core::text::title::is_repeated_by;
use docsearch_core::values::bounds::title_in_one_line;

use crate::document::Document;
use crate::text::fence;

/// The longest anchor that is written; the chunker ignores longer ones.
const MAX_ANCHOR_BYTES: usize = 500;
const DEEPEST: u8 = 6;
/// What closes a block of HTML that a page leaves open; the first is for none.
const ENDS: [&str; 9] = [
    "",
    "-->",
    "</pre>",
    "</script>",
    "</style>",
    "</textarea>",
    "?>",
    "]]>",
    ">",
];

/// The Markdown of a section, and its anchors.
pub(super) struct PageSection {
    pub(super) markdown: String,
    /// Further anchors, each with the anchor of its section.
    pub(super) anchors: BTreeMap<String, String>,
    /// The headings below the page's own.
    pub(super) headings: Vec<String>,
    /// The questions of the page, with the anchors of its sections.
    pub(super) questions: Vec<Question>,
}

/// The section for a page, with the anchor `key`. `None` if text after it would not be parsed as a section.
pub(super) fn page_section(page: &Document, key: &str) -> Option<PageSection> {
    let closed = close_fences(&page.body);
    let body: &str = &closed;
    let page_title = title_in_one_line(&page.title);
    let sections = sections(body);
    let title = sections
        .iter()
        .find(|section| section.level > 0)
        .filter(|first| first.level == 1 && body[..first.range.start].trim().is_empty());
    let is_below = |section: &&Section| section.level > 0 && title.is_none_or(|title| title.range != section.range);
    let below: Vec<&Section> = sections.iter().filter(is_below).collect();
    let shift = u8::from(below.iter().any(|section| section.level == 1));
    let mut markdown = format!("# {} {{#{key}}}\n\n", page_title.trim());
    if let Some(heading) = title.and_then(|title| title.heading_path.last())
        && !is_repeated_by(&page_title, heading)
    {
        markdown.push_str(&format!("**{heading}**\n\n"));
    }
    if let Some(summary) = page.summary.as_deref().filter(|summary| !body.contains(summary)) {
        markdown.push_str(&format!("{}\n\n", title_in_one_line(summary).trim()));
    }
    if !page.keywords.is_empty() {
        let keywords = title_in_one_line(&page.keywords.join(", "));
        markdown.push_str(&format!("Keywords: {keywords}.\n\n"));
    }
    for section in &sections {
        if is_below(&section) {
            let level = usize::from((section.level + shift).min(DEEPEST));
            let text = heading_text(&body[section.range.start..section.body_start]);
            let anchor = anchor_below(key, &section.anchor);
            markdown.push_str(&format!("{} {text} {{#{anchor}}}\n", "#".repeat(level)));
        }
        let text = with_links_inside(&body[section.body_start..section.range.end], key);
        markdown.push_str(match markdown.ends_with("\n\n") {
            true => text.trim_start_matches('\n'),
            false => &text,
        });
        if !markdown.ends_with('\n') {
            markdown.push('\n');
        }
    }
    let ended = |end: &str| format!("{}\n{end}", markdown.trim_end()).trim_end().to_owned() + "\n\n";
    let markdown = ENDS.iter().map(|end| ended(end)).find(|text| is_followed(text, key))?;
    let title_anchor = title.map_or("", |title| &title.anchor);
    let anchor_in_document = |anchor: &str| match anchor == title_anchor {
        true => key.to_owned(),
        false => anchor_below(key, anchor),
    };
    let mut anchors: BTreeMap<String, String> = page
        .anchors
        .iter()
        .map(|(name, anchor)| {
            (
                anchor_below(key, name),
                if anchor.is_empty() {
                    key.to_owned()
                } else {
                    anchor_in_document(anchor)
                },
            )
        })
        .collect();
    if !title_anchor.is_empty() {
        anchors.insert(anchor_below(key, title_anchor), key.to_owned());
    }
    let questions = page.own_questions().into_iter().map(|question| Question {
        anchor: match question.anchor.is_empty() {
            true => key.to_owned(),
            false => anchor_in_document(&question.anchor),
        },
        ..question
    });
    let heading = |section: &&Section| section.heading_path.last().cloned();
    Some(PageSection {
        markdown,
        anchors,
        headings: below.iter().filter_map(heading).collect(),
        questions: questions.collect(),
    })
}

/// Whether a text is a section with an anchor, and a heading after it opens another section.
fn is_followed(text: &str, key: &str) -> bool {
    let both = sections(&format!("{text}# x {{#{key}..}}\n"));
    let anchor = |section: Option<&Section>| section.map(|section| section.anchor.clone());
    anchor(both.first()).as_deref() == Some(key) && anchor(both.last()) == Some(format!("{key}.."))
}

/// The anchor in the document for an anchor on the page.
pub(super) fn anchor_below(key: &str, anchor: &str) -> String {
    let mut whole = format!("{key}.{anchor}");
    while whole.len() > MAX_ANCHOR_BYTES {
        whole.pop();
    }
    whole
}

/// The text of a heading in Markdown, without its marks and identifier.
pub(super) fn heading_text(heading: &str) -> String {
    let heading = heading.trim();
    let mut lines: Vec<&str> = heading.lines().map(str::trim).collect();
    let is_underlined = lines.len() > 1;
    let text = match is_underlined {
        true => {
            lines.pop();
            lines.join(" ")
        }
        false => {
            let text = heading.trim_start_matches('#').trim();
            let open = text.trim_end_matches('#');
            if open.ends_with([' ', '\t']) || open.is_empty() {
                open
            } else {
                text
            }
            .to_owned()
        }
    };
    let text = text.trim();
    let open = text.ends_with('}').then(|| text.rfind('{')).flatten();
    let is_identifier = |open: usize| text[open + 1..].trim_start().starts_with(['#', '.', ':', '/']);
    let text = &text[..open.filter(|open| is_identifier(*open)).unwrap_or(text.len())];
    text.trim_end().trim_end_matches(" ##").to_owned()
}

/// The text with links to anchors of its page changed to anchors of the document.
fn with_links_inside(text: &str, key: &str) -> String {
    if !text.contains("](#") {
        return text.to_owned();
    }
    let lines = fence::lines_with_state(text);
    lines
        .map(|(line, is_text)| match is_text {
            true => line.replace("](#", &format!("](#{key}.")),
            false => line.to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn section(title: &str, body: &str) -> PageSection {
        let page = Document {
            title: title.to_owned(),
            body: body.to_owned(),
            anchors: BTreeMap::from([
                ("old".to_owned(), "round".to_owned()),
                ("top".to_owned(), String::new()),
            ]),
            ..Document::default()
        };
        page_section(&page, "button").unwrap()
    }

    #[test]
    fn headings_have_the_anchors_of_their_page() {
        let body = "# Button {#b}\n\nPress. [More](#round) or [that](other.md#x).\n\n## Round ##\n\nIt rolls.\n\n\
                    Own\n---\n\n```md\n# no {#heading}\n[x](#y)\n```\n\n### C# {#c-sharp .wide}\n";
        let found = section("Button", body);
        assert_eq!(
            found.markdown,
            "# Button {#button}\n\nPress. [More](#button.round) or [that](other.md#x).\n\n## Round {#button.round}\n\nIt \
             rolls.\n\n## Own {#button.own}\n\n```md\n# no {#heading}\n[x](#y)\n```\n\n### C# {#button.c-sharp}\n\n"
        );
        let expected = [
            ("button.b", "button"),
            ("button.old", "button.round"),
            ("button.top", "button"),
        ];
        let expected = expected.map(|(name, anchor)| (name.to_owned(), anchor.to_owned()));
        assert_eq!(found.anchors, expected.into());
        assert_eq!(found.headings, ["Round", "Own", "C#"]);
        let underlined = section("Button", "#round\nand flat\n---\n\nIt rolls.\n");
        assert!(
            underlined
                .markdown
                .contains("## #round and flat {#button.round-and-flat}\n\nIt rolls.")
        );
        let anchors: Vec<String> = sections(&found.markdown)
            .into_iter()
            .map(|section| section.anchor)
            .collect();
        assert_eq!(anchors, ["button", "button.round", "button.own", "button.c-sharp"]);
    }

    #[test]
    fn a_page_has_one_heading_of_the_first_level() {
        let levels =
            |found: &PageSection| -> Vec<u8> { sections(&found.markdown).iter().map(|own| own.level).collect() };
        let several = section("Button", "# Button\n\nPress.\n\n# Round\n\n###### Deep\n\nText.\n");
        assert_eq!(levels(&several), [1, 2, 6]);
        let other = section("Press it", "# Button\n\nPress.\n\n## Round\n");
        assert!(
            other
                .markdown
                .starts_with("# Press it {#button}\n\n**Button**\n\nPress."),
            "{}",
            other.markdown
        );
        let without = section("Button", "Press.\n\n## Round\n\nText.");
        assert_eq!(
            without.markdown,
            "# Button {#button}\n\nPress.\n\n## Round {#button.round}\n\nText.\n\n"
        );
        assert_eq!(section("Button", "").markdown, "# Button {#button}\n\n");
    }

    #[test]
    fn what_a_page_says_of_itself_is_in_its_section() {
        let page = Document {
            title: "Button".to_owned(),
            body: "# Button\n\nPress.\n".to_owned(),
            summary: Some("Starts something.".to_owned()),
            keywords: vec!["press".to_owned(), "tap".to_owned()],
            ..Document::default()
        };
        let found = page_section(&page, "b").unwrap();
        assert_eq!(
            found.markdown,
            "# Button {#b}\n\nStarts something.\n\nKeywords: press, tap.\n\nPress.\n\n"
        );
    }

    #[test]
    fn blocks_that_a_page_leaves_open_are_closed() {
        for (body, end) in [
            ("```sh\nls", "ls\n```\n\n"),
            ("<!-- to be written", "written\n-->\n\n"),
            ("<pre>\n\n# x", "# x\n</pre>\n\n"),
            ("<div>\ntext", "text\n\n"),
        ] {
            let markdown = section("Button", body).markdown;
            assert!(markdown.ends_with(end), "{markdown:?}");
        }
        let page = Document {
            title: "a\n# b".to_owned(),
            ..Document::default()
        };
        assert!(page_section(&page, "x").unwrap().markdown.starts_with("# a # b {#x}\n"));
    }

    fn markdown() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-z#=<>`{}\\[\\]() \n*-]{0,12}",
            Just("\n\n# One\n\n".to_owned()),
            Just("\n\n## Two {#two}\n".to_owned()),
            Just("\n```\n".to_owned()),
            Just("\n\n<!-- ".to_owned()),
            Just("\n\n<script>\n".to_owned()),
            Just("\n\n- item\n\n  # inside\n".to_owned()),
            Just("[x](#two)".to_owned()),
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn s3_50_every_section_belongs_to_one_page(bodies in proptest::collection::vec(markdown(), 1..4)) {
            let pages = bodies.into_iter().enumerate().filter_map(|(number, body)| {
                let page = Document { title: format!("Page {number}"), body, ..Document::default() };
                Some((format!("p{number}"), page_section(&page, &format!("p{number}"))?.markdown))
            });
            let pages: Vec<(String, String)> = pages.collect();
            let whole: String = pages.iter().map(|(_, markdown)| markdown.as_str()).collect();
            let found: Vec<String> = sections(&whole).into_iter().map(|section| section.anchor).collect();
            let owners: Vec<&str> = found.iter().filter_map(|anchor| anchor.split('.').next()).collect();
            let mut met = owners.clone();
            met.dedup();
            let expected: Vec<&str> = pages.iter().map(|(key, _)| key.as_str()).collect();
            prop_assert_eq!(met, expected, "{:?}", whole);
        }
    }
}
