use super::extraction::extract;
use super::outline::OutlineEntry;
use super::page::{Line, Page};
use super::*;

mod properties;

/// A file with a page for each text; lines of a page begin with their font size.
fn file(pages: &[&str], info: &str) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        format!("<< {info} >>"),
    ];
    let mut kids = String::new();
    for page in pages {
        let mut stream = String::new();
        let mut y = 760;
        for line in page.lines() {
            let (size, text) = line.split_once(' ').unwrap();
            y -= size.parse::<i32>().unwrap() + 4;
            stream.push_str(&format!("BT /F1 {size} Tf 72 {y} Td ({text}) Tj ET\n"));
        }
        objects.push(format!("<< /Length {} >>\nstream\n{stream}endstream", stream.len()));
        let content = objects.len();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        kids.push_str(&format!("{} 0 R ", objects.len()));
    }
    objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len());
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        offsets.push(bytes.len());
        bytes.extend(format!("{} 0 obj\n{object}\nendobj\n", at + 1).bytes());
    }
    let xref = bytes.len();
    let entries: String = offsets
        .iter()
        .map(|offset| format!("{offset:010} 00000 n \n"))
        .collect();
    bytes.extend(
        format!(
            "xref\n0 {count}\n0000000000 65535 f \n{entries}trailer\n<< /Size {count} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{xref}\n%%EOF\n",
            count = objects.len() + 1
        )
        .bytes(),
    );
    bytes
}

#[test]
fn larger_lines_are_headings_with_their_page() {
    let bytes = file(
        &[
            "24 The Guide\n16 First\n10 It begins with a hy-\n10 phen, and goes on for a while.",
            "16 Second\n10 Other words of the text.",
        ],
        "/Author (Ada) /ModDate (D:20240131120000Z) /Keywords (one, two)",
    );
    assert!(is_likely(&bytes));
    let draft = read(&bytes).unwrap();
    assert_eq!(
        draft.body,
        "\
# The Guide

## First {#page=1}

It begins with a hyphen, and goes on for a while.

## Second {#page=2}

Other words of the text.
"
    );
    assert_eq!(draft.matter.title.as_deref(), Some("The Guide"));
    assert_eq!(draft.matter.published_at.as_deref(), Some("2024-01-31"));
    assert_eq!(draft.matter.keywords, ["one", "two"]);
    assert_eq!(draft.matter.metadata["author"], "Ada");
    assert_eq!(draft.matter.metadata["pages"], 2);
}

#[test]
fn pages_are_sections_if_no_heading_is_found() {
    let bytes = file(&["10 One page of text.", "10 Another page."], "/Title (Notes)");
    assert_eq!(
        read(&bytes).unwrap().body,
        "# Notes\n\n## Page 1 {#page=1}\n\nOne page of text.\n\n## Page 2 {#page=2}\n\nAnother page.\n"
    );
}

#[test]
fn files_without_text_and_broken_files_are_reported() {
    let reason = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert!(reason(&file(&[""], "")).contains("no text"));
    assert!(reason(b"%PDF-1.4\nnothing").starts_with("cannot be read as PDF"));
    let bytes = file(&["10 text"], "");
    for length in (0..bytes.len()).step_by(97) {
        let _ = extract(&bytes[..length]);
    }
}

fn line(y: f64, size: f64, text: &str) -> Line {
    Line {
        y,
        x: 72.0,
        end: 300.0,
        size,
        text: text.to_owned(),
        pitch: None,
    }
}

fn page(number: usize, lines: Vec<Line>) -> Page {
    Page {
        number,
        height: 800.0,
        lines,
    }
}

#[test]
fn running_titles_and_page_numbers_are_left_out() {
    let pages = (1..=6)
        .map(|number| {
            page(
                number,
                vec![
                    line(20.0, 8.0, "The Guide, chapter 1"),
                    line(200.0, 10.0, &format!("Text of page {number}.")),
                    line(780.0, 8.0, &number.to_string()),
                ],
            )
        })
        .collect();
    let (_, body) = layout::markdown(pages, &[], None);
    assert!(!body.contains("chapter") && body.contains("Text of page 3."), "{body}");
    assert_eq!(
        body.lines()
            .filter(|line| line.chars().all(|c| c.is_ascii_digit()) && !line.is_empty())
            .count(),
        0
    );
}

#[test]
fn the_outline_gives_headings_and_their_levels() {
    let entry = |level, title: &str, page| OutlineEntry {
        level,
        title: title.to_owned(),
        page,
    };
    let outline = [entry(1, "1 Start", 1), entry(2, "Details", 1), entry(1, "Appendix", 2)];
    let pages = vec![
        page(
            1,
            vec![
                line(50.0, 10.0, "Start"),
                line(70.0, 10.0, "Words."),
                line(100.0, 10.0, "1.1 Details"),
            ],
        ),
        page(2, vec![line(50.0, 10.0, "Last words.")]),
    ];
    let (_, body) = layout::markdown(pages, &outline, None);
    assert_eq!(
        body,
        "## Start {#page=1}\n\nWords.\n\n### 1.1 Details\n\nLast words.\n\n## Appendix {#page=2}\n"
    );
}

#[test]
fn lines_of_one_width_are_code_with_its_columns() {
    let typed = |y: f64, x: f64, text: &str| Line {
        x,
        pitch: Some(6.0),
        ..line(y, 10.0, text)
    };
    let pages = vec![page(
        1,
        vec![
            line(50.0, 10.0, "Run it:"),
            typed(70.0, 72.0, "if x:"),
            typed(82.0, 96.0, "return  1"),
        ],
    )];
    let (_, body) = layout::markdown(pages, &[], None);
    assert_eq!(body, "Run it:\n\n```\nif x:\n    return  1\n```\n");
}
