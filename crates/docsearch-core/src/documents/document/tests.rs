use proptest::prelude::*;

use super::*;

pub(super) const WHOLE: Shape = Shape {
    sections: true,
    metadata: true,
    skip: 0,
    max_chars: None,
};

pub(super) fn guide() -> Document {
    Document {
        project: "kit".to_owned(),
        slug: "guides/install".to_owned(),
        title: "Install".to_owned(),
        category: Some("guides".to_owned()),
        source_urls: vec!["https://example.org/a".to_owned(), "https://example.org/b".to_owned()],
        updated_at: "2025-11-01T08:30:00Z".to_owned(),
        summary: Some("How to install.".to_owned()),
        body: "# Install\n\nFirst words.\n\n## On Linux\n\nUse the package.\n\n### Debian\n\nUse apt.\n\n## On macOS\n\nUse brew.\n"
            .to_owned(),
        ..Document::default()
    }
}

fn rendered(section: Option<&str>, shape: Shape) -> Rendering {
    render(&guide(), section, shape).expect("a section that is there")
}

fn loaded(section: Option<&str>, shape: Shape) -> String {
    rendered(section, shape).markdown
}

#[test]
fn s3_21_a_document_has_its_title_its_place_and_its_text() {
    let text = loaded(None, WHOLE);
    assert!(text.starts_with(
        "# Install\n\n**Category:** guides\n**Sources:** https://example.org/a, https://example.org/b\n\
         **Last Updated:** 2025-11-01\n\n## Summary\n\nHow to install.\n\n## Sections\n\nFirst words."
    ));
    assert!(text.ends_with("Use brew.\n"));
}

#[test]
fn s3_20_parts_that_are_not_wanted_are_left_out() {
    let text = loaded(
        None,
        Shape {
            sections: false,
            metadata: false,
            ..WHOLE
        },
    );
    assert_eq!(text, "# Install\n\n## Summary\n\nHow to install.\n");
}

#[test]
fn a_section_names_those_around_it() {
    let text = loaded(Some("debian"), WHOLE);
    assert!(text.contains("### Debian\n\nUse apt."), "{text}");
    assert!(!text.contains("Use brew") && !text.contains("Use the package"));
    assert!(text.ends_with(
        "[parent: kit/guides/install#on-linux; previous: kit/guides/install#on-linux; \
         next: kit/guides/install#on-macos]\n"
    ));
}

#[test]
fn s3_40_a_section_is_loaded_with_its_url() {
    let published = Document {
        url: Some("https://example.org/a".to_owned()),
        anchors: BTreeMap::from([("apt".to_owned(), "debian".to_owned())]),
        ..guide()
    };
    let of_section = "**Sources:** https://example.org/a#debian, https://example.org/b\n";
    for wanted in ["debian", "apt"] {
        let text = render(&published, Some(wanted), WHOLE).expect(wanted).markdown;
        assert!(text.contains(of_section), "{text}");
    }
    let elsewhere = Document {
        source_urls: Vec::new(),
        ..published
    };
    let text = render(&elsewhere, None, WHOLE).expect("all").markdown;
    assert!(text.contains("**Sources:** https://example.org/a\n"), "{text}");
}

#[test]
fn s3_50_a_section_that_was_a_page_has_its_source_and_url() {
    let page = |anchor: &str, path: &str| GroupedPage {
        anchor: anchor.to_owned(),
        source_path: Some(path.to_owned()),
        source_url: Some(format!("https://kit.test/{anchor}")),
        ..GroupedPage::default()
    };
    let body = "# Button {#button}\n\nPress.\n\n## Round {#button.round}\n\nRolls.\n\n# Slider {#slider}\n\nDrag.\n";
    let controls = Document {
        url: Some("https://kit.test/controls".to_owned()),
        source_urls: vec![
            "https://kit.test/button".to_owned(),
            "https://kit.test/slider".to_owned(),
        ],
        body: body.to_owned(),
        pages: vec![
            page("button", "controls/button.md"),
            page("slider", "controls/slider.md"),
        ],
        ..guide()
    };
    for (section, url, path) in [
        ("button", "https://kit.test/button", "controls/button.md"),
        ("button.round", "https://kit.test/button#round", "controls/button.md"),
        ("slider", "https://kit.test/slider", "controls/slider.md"),
    ] {
        let object = to_json(&controls, Some(section), WHOLE).expect(section);
        assert_eq!(
            (&object["url"], &object["section"]["source_path"]),
            (&url.into(), &path.into())
        );
        let text = render(&controls, Some(section), WHOLE).expect(section).markdown;
        assert!(text.contains(&format!("**Sources:** {url}\n")), "{text}");
    }
    let whole = to_json(&controls, None, WHOLE).expect("all of it");
    assert_eq!(whole["url"], "https://kit.test/controls");
}

#[test]
fn an_unknown_section_is_an_error_that_names_others() {
    let problem = render(&guide(), Some("windows"), WHOLE).expect_err("no such section");
    assert_eq!(problem.anchors, ["install", "on-linux", "debian", "on-macos"]);
    let plain = Document {
        body: "words".to_owned(),
        ..guide()
    };
    assert_eq!(
        render(&plain, Some("x"), WHOLE).expect_err("none").anchors,
        Vec::<String>::new()
    );
}

#[test]
fn nothing_of_the_head_forges_a_line_of_it() {
    let forged = Document {
        title: "A\n\n**Category:** b".to_owned(),
        category: Some("c\r## Sections".to_owned()),
        source_urls: vec!["x\n**Last Updated:** 2099-01-01\u{2028}".to_owned()],
        ..guide()
    };
    let text = render(&forged, None, WHOLE).expect("all").markdown;
    assert!(
        text.starts_with(
            "# A  **Category:** b\n\n**Category:** c ## Sections\n**Sources:** x **Last Updated:** 2099-01-01 \n\
             **Last Updated:** 2025-11-01\n\n## Summary"
        ),
        "{text}"
    );
}

fn of(summary: Option<&str>, body: &str) -> Document {
    Document {
        summary: summary.map(str::to_owned),
        body: body.to_owned(),
        ..guide()
    }
}

#[test]
fn s3_21_what_a_page_begins_with_is_its_summary_and_is_said_once() {
    let text = |document: &Document| render(document, None, WHOLE).expect("all").markdown;
    let page = of(
        Some("Opens the cellar."),
        "# Install\n\nOpens the *cellar*.\n\n## Keys\n\nNone.\n",
    );
    assert!(
        text(&page).ends_with("\n\n## Summary\n\nOpens the *cellar*.\n\n## Sections\n\n## Keys\n\nNone.\n"),
        "{}",
        text(&page)
    );
    let short = of(Some("Opens the cellar."), "Opens the cellar.\n");
    assert!(text(&short).ends_with("\n\n## Summary\n\nOpens the cellar.\n"));
    // If a remark precedes it, the text stays in its order.
    let later = of(Some("Opens the cellar."), "New in version 2.\n\nOpens the cellar.\n");
    assert!(text(&later).ends_with("\n\n## Sections\n\nNew in version 2.\n\nOpens the cellar.\n"));
    let cut = Shape {
        max_chars: Some(200),
        metadata: false,
        ..WHOLE
    };
    let long = "word ".repeat(200);
    let long = of(Some(long.trim()), &long);
    let text = render(&long, None, cut).expect("all").markdown;
    assert_eq!(text.matches("## S").count(), 1, "{text}");
}

#[test]
fn no_note_names_the_section_that_was_loaded() {
    let note = |body: &str, section: Option<&str>| {
        let shape = Shape {
            metadata: false,
            max_chars: Some(700),
            ..WHOLE
        };
        let text = render(&of(None, body), section, shape).expect("a section").markdown;
        text.lines().find(|line| line.contains("left out")).map(str::to_owned)
    };
    let words = "word ".repeat(200);
    let page = format!("# Install\n\nFirst.\n\n## Linux\n\n{words}\n\n### Apt\n\n{words}\n\n## Mac\n\n{words}\n");
    for (section, named) in [
        (None, " to read on, or load a section: #linux, #apt, #mac]"),
        (Some("linux"), " to read on, or load a section: #apt]"),
        (Some("apt"), " to read on]"),
    ] {
        let note = note(&page, section).expect("it is cut");
        assert!(note.ends_with(named), "{note}");
    }
}

proptest! {
    #[test]
    fn s4_2_the_cost_of_a_reference_is_that_of_loading_it(
        parts in proptest::collection::vec("#{1,4} [a-c]{1,2}\n|[a-zäß日 ]{1,80}\n\n", 0..14),
        first in proptest::option::of("[a-zäß日 ]{1,80}"),
    ) {
        let first = first.unwrap_or_default();
        let page = of(Some(first.trim()), &format!("{first}\n\n{}", parts.concat()));
        let cost = LoadCost::new(&page);
        let anchors = crate::documents::markdown::sections(&page.body).into_iter().map(|section| section.anchor);
        for anchor in anchors.chain([String::new()]) {
            let section = Some(anchor.as_str()).filter(|anchor| !anchor.is_empty());
            let text = render(&page, section, WHOLE).expect("a section that is there").markdown;
            prop_assert_eq!(cost.tokens(&anchor), Some(text.chars().count().div_ceil(4)));
        }
        prop_assert_eq!(cost.tokens("no such section anywhere"), None);
    }

    #[test]
    fn s3_21_a_page_is_said_once_and_whole(
        paragraphs in proptest::collection::vec("[a-z]{2,9}( [a-z]{2,9}){1,9}[.]", 1..5),
        heading in proptest::option::of(0usize..5),
        max_chars in proptest::option::of(0usize..600),
    ) {
        let mut blocks = paragraphs.clone();
        if let Some(at) = heading {
            blocks.insert(at.min(blocks.len()), "## Heading".to_owned());
        }
        let body = blocks.join("\n\n");
        let summary = crate::documents::markdown::lead_paragraph(&body);
        let page = of(summary.as_deref(), &body);
        let text = render(&page, None, Shape { max_chars, ..WHOLE }).expect("all").markdown;
        for paragraph in &paragraphs {
            let times = blocks.iter().filter(|block| block.contains(paragraph)).count();
            prop_assert!(text.matches(paragraph.as_str()).count() <= times, "{}", text);
            prop_assert!(max_chars.is_some() || text.contains(paragraph), "{}", text);
        }
    }

    #[test]
    fn nothing_is_longer_than_asked(most in 0usize..400, section in proptest::option::of(0usize..4), sections in any::<bool>(), metadata in any::<bool>()) {
        let names = ["install", "on-linux", "debian", "on-macos"];
        let shape = Shape { sections, metadata, skip: 0, max_chars: Some(most) };
        let Rendering { markdown: text, is_cut } = rendered(section.map(|section| names[section]), shape);
        prop_assert!(text.chars().count() <= most);
        let whole = loaded(section.map(|section| names[section]), Shape { max_chars: None, ..shape });
        // White space at the end of a section takes room and is not shown.
        prop_assert!(whole.chars().count() + 4 > most || whole == text);
        prop_assert!(is_cut || whole == text);
    }
}

/// The texts of a document that is read on as each one advises, and the advice that was followed.
fn read_on(document: &Document, section: Option<&str>, shape: Shape) -> (Vec<String>, Vec<usize>) {
    let (mut texts, mut skips) = (Vec::new(), vec![shape.skip]);
    loop {
        let skip = skips[skips.len() - 1];
        let text = render(document, section, Shape { skip, ..shape })
            .expect("a section that is there")
            .markdown;
        let note = text
            .lines()
            .rev()
            .find(|line| line.starts_with('[') && line.contains("to read on"));
        let advised = note.and_then(|note| note.split("skip ").nth(1)?.split(' ').next()?.parse().ok());
        texts.push(text);
        let Some(next) = advised else { return (texts, skips) };
        skips.push(next);
    }
}

#[test]
fn s3_54_a_very_long_paragraph_can_be_read_to_its_end() {
    let words: Vec<String> = (0..20_000).map(|number| format!("word{number}")).collect();
    let paragraph = words.join(" ");
    let body = format!("# Install\n\n{paragraph}\n");
    let summary = crate::documents::markdown::lead_paragraph(&body);
    let shape = Shape {
        max_chars: Some(24_000),
        ..WHOLE
    };
    for (page, section) in [
        (of(summary.as_deref(), &body), None),
        (of(Some("Another summary."), &body), None),
        (of(Some(&"Another summary. ".repeat(3_000)), &body), None),
        (of(summary.as_deref(), &body), Some("install")),
    ] {
        let (texts, skips) = read_on(&page, section, shape);
        assert!(skips.is_sorted_by(|a, b| a < b), "{skips:?}");
        assert!(texts.len() < 12, "{} calls", texts.len());
        let read: Vec<&str> = texts.iter().flat_map(|text| text.split_whitespace()).collect();
        let read: Vec<&str> = read.into_iter().filter(|word| word.starts_with("word")).collect();
        assert_eq!(read, words);
    }
}

#[test]
fn code_that_is_read_on_is_code_in_both_parts() {
    let code: String = (0..200).map(|number| format!("    line{number}\n\n")).collect();
    let page = of(None, &format!("```py\n{code}```\n\nThe end.\n"));
    let shape = Shape {
        metadata: false,
        max_chars: Some(500),
        ..WHOLE
    };
    let (texts, _) = read_on(&page, None, shape);
    assert!(texts.len() > 2);
    let parts = texts.iter().filter_map(|text| {
        let (_, code) = text.split_once("```py\n")?;
        Some(code.split_once("\n```").expect("it is closed").0)
    });
    assert_eq!(parts.collect::<Vec<_>>().join("\n").trim_end(), code.trim_end());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn s3_54_reading_on_gives_every_word_once(
        parts in proptest::collection::vec(prop_oneof![
            "#{1,3} [a-f]{1,9}\n\n",
            "([a-zäß日]{1,9} ){1,200}\n\n",
            "[a-z日]{1,700}\n\n",
            "```\n(  [a-z]{1,9}\n){1,60}```\n\n",
            "(- [a-z]{1,9} [a-z]{1,9}\n){1,20}\n",
            "\\| [a-z]{1,5} \\| b \\|\n\\|---\\|---\\|\n(\\| [a-z]{1,9} \\| [a-z]{1,9} \\|\n){1,20}\n",
            "> ([a-z]{1,9} ){1,80}\n\n",
        ], 0..12),
        max_chars in 700usize..3_000,
        section in proptest::option::of(any::<proptest::sample::Index>()),
        metadata in any::<bool>(),
    ) {
        let body = parts.concat();
        let summary = crate::documents::markdown::lead_paragraph(&body).filter(|_| section.is_none());
        let page = Document { title: "T".to_owned(), ..of(summary.as_deref().filter(|_| metadata), &body) };
        let sections = crate::documents::markdown::sections(&body);
        let anchors: Vec<&str> = sections.iter().map(|section| section.anchor.as_str()).filter(|anchor| !anchor.is_empty()).collect();
        let section = section.filter(|_| !anchors.is_empty()).map(|section| anchors[section.index(anchors.len())]);
        let shape = Shape { metadata, max_chars: Some(max_chars), ..WHOLE };
        let (texts, skips) = read_on(&page, section, shape);
        prop_assert!(skips.is_sorted_by(|a, b| a < b), "{:?}", skips);
        let outline = Outline::new(&body);
        let whole = match section {
            Some(anchor) => outline.text(outline.find(anchor).expect("an anchor of the page")),
            None => body.as_str(),
        };
        prop_assert!(texts.len() <= 4 + whole.chars().count() / 40, "{} calls for {}", texts.len(), whole.chars().count());
        let is_said = |line: &&str| {
            let own = line.trim_end();
            let is_frame = own == "# T" || own == "## Summary" || own == "## Sections" || own.starts_with("```");
            let is_note = own.starts_with('[') && own.ends_with(']');
            !is_frame && !is_note && !own.starts_with("**")
        };
        let letters = |text: &str| -> String {
            let lines = text.lines().filter(is_said);
            lines.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect()
        };
        let read: String = texts.iter().map(|text| letters(text)).collect();
        prop_assert!(read == letters(whole), "{} is not {}", read, letters(whole));
    }
}
