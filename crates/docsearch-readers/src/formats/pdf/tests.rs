use proptest::prelude::*;

use super::extraction::extract;
use super::outline::OutlineEntry;
use super::page::{Line, Page};
use super::*;

mod fonts;
mod properties;

/// A file with a page for each text; lines of a page begin with their font size.
fn file(pages: &[&str], info: &str) -> Vec<u8> {
    let pages: Vec<String> = pages
        .iter()
        .map(|page| {
            let mut y = 760;
            let lines = page.lines().map(|line| {
                let (size, text) = line.split_once(' ').unwrap();
                y -= size.parse::<i32>().unwrap() + 4;
                at("F1", size.parse().unwrap(), 72, y, text)
            });
            lines.collect()
        })
        .collect();
    drawn(&pages, info)
}

/// Draws `text` with a font: F1 is upright, F2 bold, F3 that of code, and F4 has Hebrew letters for small Latin ones.
fn at(font: &str, size: u32, x: i32, y: i32, text: &str) -> String {
    let text = text.replace('\\', r"\\").replace('(', r"\(").replace(')', r"\)");
    format!("BT /{font} {size} Tf {x} {y} Td ({text}) Tj ET\n")
}

/// A file with these contents of its pages.
fn drawn(pages: &[String], info: &str) -> Vec<u8> {
    drawn_with(pages, info, "")
}

/// `fonts` are others than F1 to F4.
fn drawn_with(pages: &[String], info: &str, fonts: &str) -> Vec<u8> {
    let hebrew = "1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <61> <7a> <05d0> endbfrange \
                  2 beginbfchar <20> <0020> <31> <0031> endbfchar";
    let font = |name: &str, more: &str| {
        format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding {more} >>")
    };
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        font("Helvetica", ""),
        font("Helvetica-Bold", ""),
        font("Courier", ""),
        font("Helvetica", "/ToUnicode 7 0 R"),
        format!("<< /Length {} >>\nstream\n{hebrew}\nendstream", hebrew.len()),
        format!("<< {info} >>"),
    ];
    let mut kids = String::new();
    for page in pages {
        objects.push(format!("<< /Length {} >>\nstream\n{page}endstream", page.len()));
        let content = objects.len();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R \
             /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R /F4 6 0 R {fonts} >> >> >>"
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
            "xref\n0 {count}\n0000000000 65535 f \n{entries}trailer\n<< /Size {count} /Root 1 0 R /Info 8 0 R >>\nstartxref\n{xref}\n%%EOF\n",
            count = objects.len() + 1
        )
        .bytes(),
    );
    bytes
}

/// The Markdown of a file.
fn body(pages: &[String]) -> String {
    read(&drawn(pages, "")).unwrap().body
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
        ..Line::default()
    }
}

fn page(number: usize, lines: Vec<Line>) -> Page {
    Page {
        number,
        lines,
        ..Page::default()
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

const SENTENCE: &str = "This sentence fills the page so that the size of the body text is known to its readers.";

/// Ten lines of text.
fn text_from(y: i32) -> String {
    (0..10).map(|line| at("F1", 11, 72, y - 13 * line, SENTENCE)).collect()
}

fn headings(body: &str) -> Vec<&str> {
    body.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.split(" {").next().unwrap_or(line))
        .collect()
}

#[test]
fn bold_lines_with_a_number_are_headings_and_labels_of_figures_are_not() {
    let mut page =
        at("F2", 16, 72, 760, "Measuring ferries") + &at("F2", 12, 72, 730, "1 Introduction") + &text_from(715);
    page += &(at("F2", 11, 72, 570, "1.1 Method of counting") + &text_from(555));
    for (x, y, label) in [
        (100, 200, "20"),
        (160, 200, "40"),
        (72, 230, "40"),
        (72, 260, "50"),
        (120, 180, "Number of ferries"),
    ] {
        page += &at("F1", 14, x, y, label);
    }
    page += &at("F1", 11, 72, 150, "Figure 1: Ferries.");
    let body = body(&[page]);
    assert_eq!(
        headings(&body),
        ["# Measuring ferries", "## 1 Introduction", "### 1.1 Method of counting"]
    );
    assert!(body.contains("20 40") && body.contains("Number of ferries"), "{body}");
}

#[test]
fn lines_below_the_heading_of_every_page_are_no_running_heads() {
    let pages: Vec<String> = ["kit_open", "kit_close", "kit_read", "kit_write"]
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let number = number + 1;
            at("F1", 9, 72, 760, &format!("Ferry manual - page {number}"))
                + &at("F2", 15, 72, 730, name)
                + &at("F2", 12, 72, 708, "Synopsis")
                + &at("F3", 10, 72, 692, &format!("int {name}(kit *k);"))
                + &at("F2", 12, 72, 668, "Description")
                + &at(
                    "F1",
                    10,
                    72,
                    652,
                    &format!("This function may block; see {name} of the other kit."),
                )
                + &at("F1", 9, 300, 40, &number.to_string())
        })
        .collect();
    let body = body(&pages);
    assert_eq!(
        headings(&body)
            .iter()
            .filter(|heading| heading.ends_with("Synopsis"))
            .count(),
        4,
        "{body}"
    );
    assert!(!body.contains("Ferry manual"), "{body}");
    assert!(!body.lines().any(|line| line.len() == 1), "{body}");
}

#[test]
fn left_and_right_pages_have_heads_of_their_own() {
    let pages: Vec<String> = (1..=8)
        .map(|number| {
            let (x, head) = match number % 2 {
                0 => (72, format!("{number} The Guide")),
                _ => (
                    400,
                    format!("Part {} of it {number}", if number < 5 { "one" } else { "two" }),
                ),
            };
            at("F1", 9, x, 770, &head) + &text_from(730)
        })
        .collect();
    let body = body(&pages);
    assert!(!body.contains("The Guide") && !body.contains("Part one"), "{body}");
}

#[test]
fn short_lines_of_code_do_not_break_it() {
    let code = [
        "for f in *; do",
        "  if [ -f $f ]",
        "  then",
        "    cat $f",
        "  fi",
        "done",
        "----",
        "{",
        "}",
    ];
    let page: String = text_from(760)
        + &code
            .iter()
            .enumerate()
            .map(|(line, text)| at("F3", 10, 72, 600 - 12 * line as i32, text))
            .collect::<String>();
    let body = body(&[page]);
    assert!(body.contains(&format!("```\n{}\n```", code.join("\n"))), "{body}");
}

#[test]
fn words_of_one_width_are_no_code_if_the_font_is_none() {
    // These letters are equally wide in Helvetica.
    let body = body(&[at("F1", 11, 72, 700, "node done") + &text_from(680)]);
    assert!(!body.contains("```"), "{body}");
}

#[test]
fn letters_drawn_twice_to_look_bold_are_read_once() {
    let by_word = at("F1", 11, 72, 740, "BOLD words") + &"BT /F1 11 Tf 72.3 740 Td (BOLD words) Tj ET\n".repeat(2);
    let by_letter: String = [("B", 72.0), ("O", 79.3), ("L", 87.9), ("D", 94.0)]
        .iter()
        .flat_map(|(letter, x)| [*x, x + 0.4].map(|x| format!("BT /F1 11 Tf {x} 720 Td ({letter}) Tj ET\n")))
        .collect();
    let body = body(&[by_word + &by_letter + &at("F1", 11, 72, 700, "bookkeeper")]);
    assert_eq!(body, "BOLD words\n\nBOLD\n\nbookkeeper\n");
}

#[test]
fn text_from_right_to_left_is_in_reading_order() {
    // "cba fed" is seen; the letters are read from the right, whichever is drawn first.
    let seen = at("F4", 11, 164, 700, "cba fed");
    let places = [164, 170, 176, 182, 185, 188, 194];
    let letters: Vec<(&i32, char)> = places.iter().zip("cba fed".chars()).collect();
    let backwards: String = letters
        .into_iter()
        .rev()
        .map(|(&x, letter)| at("F4", 11, x, 680, &letter.to_string()))
        .collect();
    let mixed = |x: i32| {
        at("F4", 11, x, 660, "cba ") + &at("F1", 11, x + 21, 660, "and English ") + &at("F4", 11, x + 85, 660, "fed")
    };
    let at_the_right = body(&[seen + &backwards + &mixed(100)]);
    assert_eq!(at_the_right.trim(), "דהו אבג\n\nדהו אבג\n\nדהו and English אבג");
    // Lines that begin at one place on the left are read from there, even if a program has turned their words.
    let at_the_left = body(&[at("F4", 11, 72, 700, "cba fed") + &mixed(72)]);
    assert_eq!(at_the_left.trim(), "דהו אבג\n\nאבג and English דהו");
}

#[test]
fn turned_text_is_kept() {
    let turned = "BT /F1 9 Tf 0 1 -1 0 60 300 Tm (Height of the tide) Tj ET\n";
    let body = body(&[text_from(760) + turned]);
    assert!(body.ends_with("Height of the tide\n"), "{body}");
}

#[test]
fn tables_without_rules_are_tables() {
    let cells = [
        ["Port", "Ships", "Year"],
        ["Oban", "12", "1998"],
        ["Mallaig", "7", "2004"],
    ];
    let rows = cells.iter().enumerate().flat_map(|(row, cells)| {
        let y = 600 - 14 * row as i32;
        [72, 200, 300]
            .into_iter()
            .zip(cells)
            .map(move |(x, cell)| at("F1", 11, x, y, cell))
    });
    let body = body(&[text_from(760) + &rows.collect::<String>()]);
    assert!(
        body.contains("| Port | Ships | Year |\n| --- | --- | --- |\n| Oban | 12 | 1998 |\n| Mallaig | 7 | 2004 |"),
        "{body}"
    );
}

/// A word that no other number gives.
fn word(number: usize) -> String {
    let mut rest = number;
    let letters = std::iter::from_fn(|| {
        let letter = (b'a' + (rest % 26) as u8) as char;
        rest /= 26;
        Some(letter)
    });
    letters.take(4).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Whatever is wherever on the pages: no word is lost, and only those of the title may come again.
    #[test]
    fn no_word_is_lost(
        places in prop::collection::vec((0..4_i32, 0..3_usize, 8..20_u32, 0..5_i32, 0..50_i32, 1..6_usize), 1..40)
    ) {
        let fonts = ["F1", "F2", "F3"];
        let mut pages = vec![String::new(); 4];
        let mut count = 0;
        let mut taken = std::collections::HashSet::new();
        for (page, font, size, column, row, words) in places {
            // Words on top of each other cannot be read.
            if !taken.insert((page, column, row)) {
                continue;
            }
            let text: Vec<String> = (count..count + words).map(word).collect();
            count += words;
            let y = 770 - 15 * row;
            pages[page as usize] += &at(fonts[font], size.min(12), 20 + 250 * column, y, &text.join(" "));
        }
        let body = body(&pages);
        let title = body.lines().next().unwrap_or_default();
        let found: Vec<&str> = body.split(|letter: char| !letter.is_alphanumeric()).collect();
        for number in 0..count {
            let times = found.iter().filter(|own| **own == word(number)).count();
            let most = if title.contains(&word(number)) { 2 } else { 1 };
            prop_assert!((1..=most).contains(&times), "{} in {}", word(number), body);
        }
    }
}
