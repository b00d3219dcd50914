use pulldown_cmark::{Event, Parser, Tag};

use super::*;

/// A definition of levels: format and text of each.
fn definition(id: u8, levels: &[(&str, &str)]) -> String {
    let levels = levels.iter().enumerate().map(|(at, (format, text))| {
        format!(
            "<w:lvl w:ilvl='{at}'><w:start w:val='1'/><w:numFmt w:val='{format}'/><w:lvlText w:val='{text}'/></w:lvl>"
        )
    });
    format!(
        "<w:abstractNum w:abstractNumId='{id}'>{}</w:abstractNum>",
        levels.collect::<String>()
    )
}

fn list(id: u8, of: u8, more: &str) -> String {
    format!("<w:num w:numId='{id}'><w:abstractNumId w:val='{of}'/>{more}</w:num>")
}

fn item(list: u8, level: u8, text: &str) -> String {
    item_of("", list, level, &run(text))
}

fn item_of(style: &str, list: u8, level: u8, runs: &str) -> String {
    format!(
        "<w:p><w:pPr><w:pStyle w:val='{style}'/><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{list}'/></w:numPr></w:pPr>{runs}</w:p>"
    )
}

fn with_numbering(text: &str, numbering: &str) -> String {
    let numbering = format!("<w:numbering>{numbering}</w:numbering>");
    read(&file_with(
        text,
        &[("word/numbering.xml", &numbering), ("word/styles.xml", STYLES)],
    ))
    .unwrap()
    .body
}

const DECIMAL: [(&str, &str); 3] = [("decimal", "%1."), ("lowerLetter", "%2)"), ("decimal", "%1.%2.%3")];

#[test]
fn numbers_go_on_after_text_and_in_lists_of_one_definition() {
    let numbering = format!("{}{}{}", definition(1, &DECIMAL), list(1, 1, ""), list(2, 1, ""));
    let text = [
        item(1, 0, "a"),
        item(1, 0, "b"),
        paragraphs(&["Between."]),
        item(1, 0, "c"),
        item(2, 0, "d"),
    ]
    .concat();
    assert_eq!(
        with_numbering(&text, &numbering),
        "1. a\n2. b\n\nBetween.\n\n3. c\n4. d\n"
    );
}

#[test]
fn a_list_with_a_start_of_its_own_begins_there_once() {
    let start = "<w:lvlOverride w:ilvl='0'><w:startOverride w:val='5'/></w:lvlOverride>";
    let numbering = format!("{}{}{}", definition(1, &DECIMAL), list(1, 1, ""), list(2, 1, start));
    let text = [item(1, 0, "a"), item(2, 0, "b"), item(2, 0, "c")].concat();
    assert_eq!(with_numbering(&text, &numbering), "1. a\n5) b\n6) c\n");
}

#[test]
fn a_list_that_begins_again_is_another_list_in_markdown() {
    let restart = "<w:lvlOverride w:ilvl='0'><w:startOverride w:val='1'/></w:lvlOverride>";
    let lists = [1, 2, 3].map(|id| list(id, 1, restart)).concat();
    let numbering = format!("{}{lists}", definition(1, &DECIMAL));
    let text: String = [1, 1, 2, 2, 3]
        .iter()
        .map(|id| item(*id, 0, &format!("of {id}")))
        .collect();
    assert_eq!(
        with_numbering(&text, &numbering),
        "1. of 1\n2. of 1\n1) of 2\n2) of 2\n1. of 3\n"
    );
}

#[test]
fn every_level_counts_within_the_one_above_and_keeps_its_form() {
    let numbering = format!("{}{}", definition(1, &DECIMAL), list(1, 1, ""));
    let text = [
        item(1, 0, "a"),
        item(1, 1, "b"),
        item(1, 1, "c"),
        item(1, 2, "d"),
        item(1, 0, "e"),
        item(1, 1, "f"),
    ]
    .concat();
    assert_eq!(
        with_numbering(&text, &numbering),
        "1. a\n   - a) b\n   - b) c\n     - 1.b.1 d\n2. e\n   - a) f\n"
    );
    let other = definition(1, &[("upperRoman", "Article %1:"), ("bullet", "•")]);
    let numbering = format!("{other}{}", list(1, 1, ""));
    let text = [item(1, 0, "a"), item(1, 1, "b"), item(1, 0, "c")].concat();
    assert_eq!(
        with_numbering(&text, &numbering),
        "- Article I: a\n  - b\n- Article II: c\n"
    );
}

#[test]
fn numbered_headings_show_their_number() {
    let levels = "<w:abstractNum w:abstractNumId='1'>\
        <w:lvl w:ilvl='0'><w:numFmt w:val='decimal'/><w:pStyle w:val='berschrift1'/><w:lvlText w:val='%1'/></w:lvl>\
        <w:lvl w:ilvl='1'><w:numFmt w:val='decimal'/><w:pStyle w:val='Under'/><w:lvlText w:val='%1.%2'/></w:lvl></w:abstractNum>";
    let numbering = format!("<w:numbering>{levels}{}</w:numbering>", list(1, 1, ""));
    let styles = STYLES.replace(
        "<w:pPr><w:outlineLvl",
        "<w:pPr><w:numPr><w:numId w:val='1'/></w:numPr><w:outlineLvl",
    );
    let text = [
        ("berschrift1", "Kites"),
        ("Under", "Wind"),
        ("Under", "Rain"),
        ("berschrift1", "Boats"),
        ("Under", "Oars"),
    ];
    let text: String = text.iter().map(|(style, text)| paragraph(style, text)).collect();
    let bytes = file_with(
        &text,
        &[("word/numbering.xml", &numbering), ("word/styles.xml", &styles)],
    );
    assert_eq!(
        read(&bytes).unwrap().body,
        "# 1 Kites\n\n## 1.1 Wind\n\n## 1.2 Rain\n\n# 2 Boats\n\n## 2.1 Oars\n"
    );
}

#[test]
fn tasks_are_known_by_their_bullet_or_their_box() {
    let bullets = [("bullet", "☐"), ("bullet", "☒"), ("bullet", "•")];
    let numbering = format!("{}{}", definition(1, &bullets), list(1, 1, ""));
    let control =
        "<w:sdt><w:sdtPr><w14:checkbox/></w:sdtPr><w:sdtContent><w:r><w:t>☒</w:t></w:r></w:sdtContent></w:sdt>";
    let text = [
        item(1, 0, "open"),
        item(1, 1, "done"),
        item_of("", 1, 2, &format!("{control}{}", run(" packed"))),
        item(1, 2, "no task"),
    ]
    .concat();
    assert_eq!(
        with_numbering(&text, &numbering),
        "- [ ] open\n  - [x] done\n    - [x] packed\n    - no task\n"
    );
}

/// The numbers of items as a renderer of Markdown counts them.
fn shown_numbers(body: &str) -> Vec<u64> {
    let (mut next, mut numbers) = (0, Vec::new());
    for event in Parser::new(body) {
        match event {
            Event::Start(Tag::List(first)) => next = first.unwrap(),
            Event::Start(Tag::Item) => {
                numbers.push(next);
                next += 1;
            }
            _ => {}
        }
    }
    numbers
}

fn typed(text: &str) -> String {
    format!("<w:r><w:rPr><w:rFonts w:ascii='Courier New'/></w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>")
}

#[test]
fn items_and_prose_in_a_typewriter_font_are_no_code() {
    let numbering = format!("{}{}", definition(1, &DECIMAL), list(1, 1, ""));
    let text = [
        item_of("", 1, 0, &typed("Take the kite out of its bag.")),
        item_of("", 1, 0, &typed("kite --up")),
        format!("<w:p>{}</w:p>", typed("The wind was strong, and the kite rose.")),
        format!("<w:p>{}</w:p>", typed("kite.fly(height=3)")),
        format!("<w:p>{}</w:p>", typed("  kite.land()")),
    ]
    .concat();
    assert_eq!(
        with_numbering(&text, &numbering),
        "1. Take the kite out of its bag.\n2. `kite --up`\n\n```\nThe wind was strong, and the kite rose.\nkite.fly(height=3)\n  kite.land()\n```\n"
    );
    let prose = format!(
        "<w:p>{}</w:p>{}",
        typed("The wind was strong, and the kite rose."),
        paragraphs(&["Then it fell."])
    );
    assert_eq!(
        body(&prose),
        "The wind was strong, and the kite rose.\n\nThen it fell.\n"
    );
}

#[test]
fn a_font_says_nothing_where_all_text_has_it() {
    let styles = "<w:styles><w:style w:type='paragraph' w:default='1' w:styleId='Normal'><w:name w:val='Normal'/>\
        <w:rPr><w:rFonts w:ascii='Courier New'/></w:rPr></w:style></w:styles>";
    let text = format!("<w:p>{}</w:p>", typed("kite.fly()"));
    let read = read(&file_with(&text, &[("word/styles.xml", styles)])).unwrap();
    assert_eq!(read.body, "kite.fly()\n");
}

proptest::proptest! {
    #[test]
    fn markdown_shows_the_numbers_of_the_document(starts in proptest::collection::vec((1u32..4, 1usize..4), 1..6)) {
        let changes = starts.iter().zip(1..).map(|((start, _), id)| {
            list(id, 1, &format!("<w:lvlOverride w:ilvl='0'><w:startOverride w:val='{start}'/></w:lvlOverride>"))
        });
        let numbering = format!("{}{}", definition(1, &DECIMAL), changes.collect::<String>());
        let items = starts.iter().zip(1..).map(|((_, count), id)| item(id, 0, "text").repeat(*count));
        let body = with_numbering(&items.collect::<String>(), &numbering);
        let written: Vec<u64> = starts.iter().flat_map(|(start, count)| (0..*count).map(|at| u64::from(*start) + at as u64)).collect();
        proptest::prop_assert_eq!(shown_numbers(&body), written);
    }

    #[test]
    fn every_item_is_kept_in_order_whatever_its_level(levels in proptest::collection::vec(0u8..12, 1..30)) {
        let numbering = format!("{}{}", definition(1, &DECIMAL), list(1, 1, ""));
        let words: Vec<String> = (0..levels.len()).map(|number| format!("word{number}x")).collect();
        let text: String = levels.iter().zip(&words).map(|(level, word)| item(1, *level, word)).collect();
        let body = with_numbering(&text, &numbering);
        let kept: Vec<&str> = body.split_whitespace().filter(|word| word.starts_with("word")).collect();
        proptest::prop_assert_eq!(kept, words);
    }
}
