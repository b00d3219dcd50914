use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::documents::chunk::{ChunkLimits, chunk_document};

fn question(anchor: &str, question: &str) -> Question {
    Question {
        anchor: anchor.to_owned(),
        question: question.to_owned(),
    }
}

#[test]
fn texts_and_objects_are_questions() {
    let given = json!(["how do I  start\nit", {"anchor": "stop", "question": "end it"}, " ", "how do I start it"]);
    assert_eq!(
        read(given),
        Ok(vec![question("", "how do I start it"), question("stop", "end it")])
    );
}

#[test]
fn what_hides_is_no_part_of_a_question() {
    let given = json!(["\u{200b}", "\u{3164}\u{feff}", "\u{202e}evil\u{202c} \u{1b}[2Jtail"]);
    assert_eq!(read(given), Ok(vec![question("", "evil [2Jtail")]));
}

#[test]
fn what_is_no_question_is_said() {
    let (form, size) = ("Give an array of texts", "up to 300 characters each");
    for (given, problem, hint) in [
        (json!({}), "must be an array", form),
        (json!([1]), "1 is no question", form),
        (json!(["a", null]), "null is no question", form),
        (json!([["a", "b"]]), r#"["a","b"] is no question"#, form),
        (json!([{"anchor": "a"}]), r#"{"anchor":"a"} is no question"#, form),
        (
            json!([{"question": "a", "heading": "A"}]),
            r#"a question has no "heading""#,
            form,
        ),
        (
            json!(["x".repeat(MAX_STORED_QUESTION_CHARS + 1)]),
            "300 characters",
            size,
        ),
        (
            json!([{"anchor": "a".repeat(ANCHOR_BYTES + 1), "question": "x"}]),
            "1024 bytes",
            size,
        ),
        (
            json!(
                (0..=MAX_QUESTIONS_PER_SECTION)
                    .map(|number| format!("question {number}"))
                    .collect::<Vec<_>>()
            ),
            "the page as a whole has more than 64 questions, with those of other sources",
            size,
        ),
        (
            json!(
                (0..=MAX_QUESTIONS_PER_DOCUMENT)
                    .map(|n| json!({"anchor": format!("a{}", n / 50), "question": n.to_string()}))
                    .collect::<Vec<_>>()
            ),
            "1000 questions",
            size,
        ),
    ] {
        let found = read(given).unwrap_err();
        assert!(found.to_string().contains(problem), "{found}");
        assert!(found.hint().contains(hint), "{found}: {}", found.hint());
    }
}

#[test]
fn headings_may_be_questions_already() {
    let asking = |title: &str, body: &str| -> Vec<(String, String)> {
        let asking = Sections::new(body).asking(title, &Rules::english());
        asking.into_iter().map(|asked| (asked.anchor, asked.question)).collect()
    };
    let body = "# FAQ\n\n## Is it **safe** to use?\n\nYes.\n\n## How to install\n\nSo.\n\n## Installing\n\n\
                ### Q: My file is left alone. Why?\n\nSo.\n\n### 安全吗？\n\n## `Int?`\n\n## empty?\n\n## New in 3.12\n";
    let found = asking("FAQ", body);
    let found: Vec<(&str, &str)> = found.iter().map(|(anchor, asked)| (&**anchor, &**asked)).collect();
    assert_eq!(
        found,
        [
            ("is-it-safe-to-use", "Is it safe to use?"),
            ("how-to-install", "How to install"),
            ("q-my-file-is-left-alone-why", "Q: My file is left alone. Why?"),
            ("安全吗", "安全吗？"),
        ]
    );
    // The title is a heading, too, and counts once.
    let page = asking(
        "How do I log in?",
        "# How do I log in?\n\nSo.\n\n## Why does it fail?\n\nSo.",
    );
    assert_eq!(page[0], (String::new(), "How do I log in?".to_owned()));
    assert_eq!(page.len(), 2);
    assert_eq!(asking("Settings", "Words."), []);
}

#[test]
fn a_question_is_misplaced_whose_answer_is_much_nearer_elsewhere() {
    assert!(is_misplaced(0.3, 0.6, 0.05));
    assert!(!is_misplaced(0.4, 0.6, 0.05) && !is_misplaced(0.6, 0.3, 0.05));
    // If unrelated texts are similar, smaller differences matter as much.
    assert!(is_misplaced(0.8, 0.9, 0.7));
}

#[test]
fn a_question_belongs_to_the_chunk_that_its_section_begins_in() {
    let long = "Words that say something at length. ".repeat(80);
    let markdown = format!("# Page\n\nLead.\n\n## Start\n\nShort.\n\n## Stop\n\nBrief.\n\n## Long\n\n{long}");
    let counter = |text: &str| text.split_whitespace().count();
    let chunks = chunk_document("Page", &markdown, None, &counter, &ChunkLimits::default()).chunks;
    let sections = Sections::new(&markdown);
    let in_chunks = sections.in_chunks(&chunks);
    let anchor = |of: &str| chunks[in_chunks.of(of)].anchor.as_str();
    assert_eq!(anchor("long"), "long");
    let together = in_chunks.of("stop");
    assert_eq!(together, in_chunks.of("start"));
    assert!(chunks[together].body.contains("Brief."));
    assert_eq!([in_chunks.of(""), in_chunks.of("none")], [0, 0]);
    assert!(sections.has("stop") && sections.has("") && !sections.has("none"));
}

#[test]
fn a_hash_is_of_its_section_alone() {
    let before = "# Page\n\nLead.\n\n## Start\n\nShort.\n\n## Stop\n\nBrief.\n";
    let after = "# Page\n\nLead.\n\n## New\n\nHere.\n\n## Start\n\nShort.\n\n\n## Stop\n\nOther.\n";
    let (before, after) = (Sections::new(before), Sections::new(after));
    assert_eq!(before.hash("start"), after.hash("start"));
    assert_ne!(before.hash("stop"), after.hash("stop"));
    assert_eq!(before.hash(""), after.hash(""));
    let wrapped = Sections::new("# Page\n\nLead.\n\n## Start\n\n  Short.  \n");
    assert_eq!(before.hash("start"), wrapped.hash("start"), "white space is no change");
    assert_eq!(before.hash("none"), "");
    assert_eq!(Sections::new("").hash("").len(), 64);
}

proptest! {
    #[test]
    fn the_number_of_a_question_says_its_chunk(section in 0usize..1 << 20, place in 0usize..MAX_QUESTIONS_PER_DOCUMENT) {
        let number = chunk_number(section, place).unwrap();
        prop_assert!(is_question(number) && !is_heading(number));
        prop_assert_eq!(section_chunk(number) as usize, section);
        prop_assert!(!is_question(section as i32));
        prop_assert_eq!(section_chunk(section as i32) as usize, section);
    }

    #[test]
    fn the_number_of_a_heading_says_its_chunk(section in 0usize..1 << 20, place in 0usize..24) {
        let number = heading_number(section, place).unwrap();
        prop_assert!(is_question(number) && is_heading(number));
        prop_assert_eq!(section_chunk(number) as usize, section);
        prop_assert_eq!(heading_number(section, 24), None);
    }

    #[test]
    fn checked_questions_are_checked(texts in proptest::collection::vec(".{0,40}", 0..20)) {
        let questions: Vec<Question> = texts.iter().map(|text| question("", text)).collect();
        let once = checked(questions).unwrap();
        prop_assert_eq!(checked(once.clone()).unwrap(), once);
    }
}

#[test]
fn sections_without_questions_have_text_of_their_own() {
    let words = "Several words that say what to do.";
    let body = format!("{words}\n\n# Only a heading\n\n## One\n\n{words}\n\n## Two\n\n{words} Again.\n");
    let sections = Sections::new(&body);
    let missing = |anchors: &[&str]| -> Vec<String> {
        let missing = sections.without(anchors.iter().copied());
        missing.iter().map(|section| section.anchor.to_owned()).collect()
    };
    assert_eq!(missing(&[]), ["", "one", "two"]);
    assert_eq!(missing(&["", "two", "gone"]), ["one"]);
    let one = sections.without(["", "two"])[0];
    assert_eq!(one.headings, ["Only a heading", "One"]);
    assert_eq!(one.text, format!("## One\n\n{words}"));
    // A question of the whole page is one of its first section, whatever its anchor.
    let titled = format!("# Page\n\n{words}");
    assert!(Sections::new(&titled).without([""]).is_empty());
    assert!(Sections::new("").without([]).is_empty());
}

proptest! {
    #[test]
    fn sections_without_questions_are_those_that_no_question_has(body in "(#{1,3} [a-c]{1,2}|[a-z ]{0,60}|\\PC|\n){0,30}") {
        let sections = Sections::new(&body);
        let all = sections.without([]);
        for section in &all {
            prop_assert!(sections.has(section.anchor) && body.contains(section.text));
            let rest = sections.without([section.anchor]);
            prop_assert_eq!(rest.len() + 1, all.len());
        }
        prop_assert!(sections.without(all.iter().map(|section| section.anchor)).is_empty());
    }
}
