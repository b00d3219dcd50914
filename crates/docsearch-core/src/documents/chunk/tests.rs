use super::*;
use crate::documents::markdown::{close_fences, plain_text};
use proptest::prelude::*;
use std::collections::HashSet;

const SMALL: ChunkLimits = ChunkLimits {
    max_tokens: 24,
    overlap_tokens: 6,
    min_tokens: 5,
    special_tokens: 2,
};

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn chunked(title: &str, markdown: &str) -> DocumentChunks {
    chunk_document(title, markdown, None, &words, &SMALL)
}

fn sentences(count: usize) -> String {
    (0..count).map(|n| format!("Sentence {n} has five words. ")).collect()
}

fn bodies(chunked: &DocumentChunks) -> Vec<&str> {
    chunked.chunks.iter().map(|chunk| chunk.body.as_str()).collect()
}

/// Words of a text in the sense of a search: runs of letters and digits.
fn vocabulary(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn lost_words(title: &str, markdown: &str, chunked: &DocumentChunks) -> Vec<String> {
    let mut known = vocabulary(title);
    for chunk in &chunked.chunks {
        known.extend(vocabulary(&plain_text(&chunk.body)));
        for heading in chunk.heading_path.iter().chain(chunk.also_under.iter().flatten()) {
            known.extend(vocabulary(heading));
        }
    }
    let mut lost: Vec<String> = vocabulary(&plain_text(markdown)).difference(&known).cloned().collect();
    lost.sort();
    lost
}

#[test]
fn a_short_document_is_one_summary_chunk() {
    let chunked = chunked("Button", "# Button\n\nA control.\n\n## Usage\n\nTap it.\n");
    assert_eq!(bodies(&chunked), ["# Button\n\nA control.\n\n## Usage\n\nTap it."]);
    assert_eq!(chunked.chunks[0].kind, ChunkKind::Summary);
    assert_eq!(chunked.chunks[0].token_count, 8);
}

#[test]
fn an_empty_document_is_one_empty_summary() {
    for markdown in ["", " \n\n"] {
        assert_eq!(bodies(&chunked("T", markdown)), [""]);
    }
}

#[test]
fn a_given_summary_comes_first_and_takes_the_place_of_the_lead() {
    let text = format!("Lead paragraph.\n\n{}", sentences(10));
    let given = chunk_document("T", &text, Some("By the author."), &words, &SMALL);
    assert_eq!(given.chunks[0].body, "By the author.");
    assert_eq!(chunked("T", &text).chunks[0].body, "Lead paragraph.");
    let short = chunk_document("T", "Tiny text.", Some("By the author."), &words, &SMALL);
    assert_eq!(bodies(&short), ["By the author.\n\nTiny text."]);
}

#[test]
fn the_lead_is_cut_at_a_sentence_within_half_of_the_budget() {
    let chunked = chunked("T", &sentences(10));
    assert_eq!(
        chunked.chunks[0].body,
        "Sentence 0 has five words. Sentence 1 has five words."
    );
}

#[test]
fn heading_paths_leave_out_the_title_and_bodies_their_own_heading() {
    let markdown = format!("# The Guide\n\n{}\n\n## Setup\n\n{}", sentences(3), sentences(4));
    let chunked = chunked("the guide", &markdown);
    let found: Vec<_> = chunked.chunks[1..]
        .iter()
        .map(|chunk| {
            (
                chunk.heading_path.join(" > "),
                chunk.anchor.as_str(),
                chunk.body.contains('#'),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (String::new(), "the-guide", false),
            ("Setup".to_owned(), "setup", false)
        ]
    );
}

#[test]
fn long_prose_is_cut_at_sentences_that_overlap() {
    let chunked = chunked("T", &sentences(7));
    let expected = [
        "Sentence 0 has five words. Sentence 1 has five words. Sentence 2 has five words. Sentence 3 has five words.",
        "Sentence 3 has five words. Sentence 4 has five words. Sentence 5 has five words. Sentence 6 has five words.",
    ];
    assert_eq!(bodies(&chunked)[1..], expected);
    assert_eq!(chunked.chunks[1].token_count, 20);
}

#[test]
fn a_sentence_above_the_budget_is_cut_at_lines_then_words() {
    let line = "a b c d e f g h i j k l m n o p\n";
    let chunked = chunked("T", &format!("{line}{line}{}", line.trim().repeat(2)));
    assert!(bodies(&chunked)[1].starts_with("a b c") && bodies(&chunked)[1].ends_with("o p"));
    assert!(chunked.chunks.iter().all(|chunk| chunk.token_count <= 21));
}

#[test]
fn a_first_heading_that_repeats_the_title_is_no_part_of_the_paths() {
    let text = format!(
        "# Examples\n\n## First\n\n{}",
        "A tree is searched from its root. ".repeat(80)
    );
    for title in ["Examples", "Examples (GIN indexes)"] {
        let paths: HashSet<_> = chunked(title, &text)
            .chunks
            .into_iter()
            .map(|chunk| chunk.heading_path)
            .collect();
        assert!(paths.contains(&vec!["First".to_owned()]), "{title}: {paths:?}");
    }
    let range = crate::documents::markdown::without_title(&text, "Examples (GIN indexes)");
    assert!(text[range].starts_with("## First"));
}

#[test]
fn small_neighbours_under_one_parent_share_a_chunk() {
    let markdown = format!(
        "## A\n\n### One\n\nx y\n\n### Two\n\nz\n\n## B\n\n### Three\n\nw\n\n## C\n\n{}",
        sentences(3)
    );
    let chunked = chunked("T", &markdown);
    let found: Vec<_> = chunked.chunks[1..]
        .iter()
        .map(|chunk| {
            (
                chunk.heading_path.join(" > "),
                chunk.anchor.as_str(),
                chunk.body.lines().next().unwrap_or(""),
            )
        })
        .collect();
    let expected = [
        ("A", "one", "### One"),
        ("B > Three", "three", "w"),
        (
            "C",
            "c",
            "Sentence 0 has five words. Sentence 1 has five words. Sentence 2 has five words.",
        ),
    ];
    assert_eq!(
        found,
        expected.map(|(path, anchor, line)| (path.to_owned(), anchor, line))
    );
}

#[test]
fn code_above_the_budget_stays_whole_up_to_four_budgets() {
    let code = format!("```rust\n{}```", "let a = 1;\n".repeat(15));
    let chunked = chunked("T", &format!("See this:\n\n{code}\n\nafter the code\n"));
    assert!(
        chunked
            .chunks
            .iter()
            .any(|chunk| chunk.body == format!("See this:\n\n{code}")),
        "{chunked:#?}"
    );
}

#[test]
fn code_above_four_budgets_is_cut_at_lines_under_the_same_info_string() {
    let code: String = (0..40).map(|n| format!("let a{n} = 1;\n")).collect();
    let chunked = chunked(
        "T",
        &format!("- item\n\n  ```rust ignore\n{}  ```\n", code.replace("let", "  let")),
    );
    let pieces: Vec<_> = chunked.chunks[1..]
        .iter()
        .filter(|chunk| chunk.body.contains("let"))
        .collect();
    assert!(pieces.len() > 8);
    assert!(
        pieces
            .iter()
            .all(|piece| piece.body.contains("```rust ignore\nlet a") && piece.body.ends_with(";\n```"))
    );
}

#[test]
fn a_table_above_four_budgets_repeats_its_header() {
    let rows: String = (0..60).map(|n| format!("| k{n} | v |\n")).collect();
    let chunked = chunked("T", &format!("| key | value |\n|---|---|\n{rows}"));
    assert!(chunked.chunks.len() > 10);
    assert!(
        chunked.chunks[1..]
            .iter()
            .all(|chunk| chunk.body.starts_with("| key | value |\n|---|---|\n| k"))
    );
}

#[test]
fn lists_are_cut_between_items() {
    let list: String = (0..6)
        .map(|n| format!("- item {n} of the list. Two sentences.\n"))
        .collect();
    let chunked = chunked("T", &list);
    let lines: Vec<&str> = chunked.chunks[1..]
        .iter()
        .flat_map(|chunk| chunk.body.lines())
        .collect();
    assert!(chunked.chunks.len() > 2);
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("- item") && line.ends_with("sentences.")),
        "{lines:?}"
    );
}

#[test]
fn a_body_that_repeats_is_stored_once_and_remembers_its_other_headings() {
    let text = sentences(3);
    let chunked = chunked("T", &format!("## Linux\n\n{text}\n\n## macOS\n\n{text}"));
    assert_eq!(chunked.duplicates, 1);
    let body = chunked
        .chunks
        .iter()
        .find(|chunk| chunk.heading_path == ["Linux"])
        .map(|chunk| &chunk.also_under);
    assert_eq!(body, Some(&vec![vec!["macOS".to_owned()]]));
}

#[test]
fn a_long_context_leaves_a_quarter_of_the_model_to_the_body() {
    let title = "word ".repeat(100);
    let chunked = chunk_document(&title, &sentences(4), None, &words, &SMALL);
    assert!(
        chunked.chunks[1..]
            .iter()
            .all(|chunk| (1..=6).contains(&chunk.token_count))
    );
}

fn block() -> impl Strategy<Value = String> {
    let word = "[a-z]{1,6}|`[a-z_.]{1,8}`|\\*\\*[a-z]{2,5}\\*\\*|[0-9]{1,4}\\.|\\[[a-z]{1,5}\\]\\(/\\)|[-#>+=|]";
    let words = proptest::collection::vec(word, 1..40);
    let prose = words.prop_map(|words| words.join(" ").replace(". ", ".\n"));
    let lines = proptest::collection::vec("[a-z {}()=;]{0,30}", 0..40).prop_map(|lines| lines.join("\n"));
    prop_oneof![
        3 => prose.clone(),
        2 => (1..5usize, "[a-z]{1,8}( [a-z]{1,8})?").prop_map(|(level, text)| format!("{} {text}", "#".repeat(level))),
        2 => lines.prop_map(|code| format!("```js\n{code}\n```")),
        1 => Just("~~~\nopen".to_owned()),
        1 => proptest::collection::vec("[a-z]{1,9} \\| [a-z]{1,9}", 1..30)
            .prop_map(|rows| format!("| h | i |\n|---|---|\n| {} |", rows.join(" |\n| "))),
        2 => proptest::collection::vec((0..3usize, prose), 1..8).prop_map(|items| items
            .iter()
            .map(|(depth, text)| format!("{}- {}", "  ".repeat(*depth), text.replace('\n', " ")))
            .collect::<Vec<_>>()
            .join("\n")),
    ]
}

fn document() -> impl Strategy<Value = String> {
    proptest::collection::vec((any::<bool>(), block()), 0..12).prop_map(|blocks| {
        blocks
            .into_iter()
            .map(|(quoted, block)| if quoted { block.replace('\n', "\n> ") } else { block })
            .collect::<Vec<_>>()
            .join("\n\n")
    })
}

fn limits() -> impl Strategy<Value = ChunkLimits> {
    (4..60usize, 0..20usize, 0..20usize).prop_map(|(max_tokens, overlap_tokens, min_tokens)| ChunkLimits {
        max_tokens,
        overlap_tokens,
        min_tokens,
        special_tokens: 2,
    })
}

#[test]
fn s3_50_pages_that_would_fit_one_chunk_have_one_each() {
    let text = "# Button {#button}\n\nPress.\n\n# Slider {#slider}\n\nDrag.\n";
    let anchors = |pages: &[&str]| -> Vec<String> {
        let pages = pages.iter().copied().collect();
        let chunked = chunk_pages("Controls", text, Some("All."), &pages, &words, &ChunkLimits::default());
        chunked.chunks.into_iter().map(|chunk| chunk.anchor).collect()
    };
    assert_eq!(anchors(&["button", "slider"]), ["", "button", "slider"]);
    assert_eq!(anchors(&[]), [""]);
    // Text after a page is no part of it, and without a summary the titles are one.
    assert_eq!(anchors(&["button"]), ["", "button", "slider"]);
    let pages = ["button", "slider"].into();
    let chunked = chunk_pages("Controls", text, None, &pages, &words, &ChunkLimits::default());
    assert_eq!(chunked.chunks[0].body, "Button. Slider.");
}

proptest! {
    #[test]
    fn no_word_is_lost_and_every_fence_is_closed(markdown in document(), limits in limits()) {
        let chunked = chunk_document("a title", &markdown, None, &words, &limits);
        prop_assert_eq!(lost_words("a title", &markdown, &chunked), Vec::<String>::new());
        for (number, chunk) in chunked.chunks.iter().enumerate() {
            prop_assert_eq!(&*close_fences(&chunk.body), chunk.body.as_str());
            prop_assert_eq!(chunk.chunk_no as usize, number);
        }
        prop_assert_eq!(bodies(&chunked).into_iter().collect::<HashSet<_>>().len(), chunked.chunks.len());
    }

    #[test]
    fn prose_stays_within_the_budget(
        paragraphs in proptest::collection::vec("([a-z]{1,5}[.,]? ){0,60}", 0..9),
        limits in limits(),
    ) {
        let chunked = chunk_document("a title", &paragraphs.join("\n\n"), None, &words, &limits);
        let budget = limits.budget(2);
        for chunk in &chunked.chunks {
            prop_assert!(words(&chunk.body) <= budget && chunk.token_count <= budget, "{:?}", chunk);
        }
    }

    #[test]
    fn s3_50_a_page_that_changes_leaves_the_chunks_of_the_others(
        pages in proptest::collection::vec((0usize..60, 0usize..3), 1..6),
        changed in any::<proptest::sample::Index>(),
        to in (0usize..60, 0usize..3),
        limits in limits(),
    ) {
        let cut = |pages: &[(usize, usize)]| {
            let numbers: Vec<String> = (0..pages.len()).map(|number| format!("p{number}")).collect();
            let text: String = pages.iter().zip(&numbers).map(|((lead, parts), page)| {
                let below: String = (0..*parts)
                    .map(|part| format!("## Part {part} {{#{page}.{part}}}\n\n{page}x{part}\n\n"))
                    .collect();
                format!("# Page {page} {{#{page}}}\n\n{}\n\n{below}", format!("{page} ").repeat(*lead))
            }).collect();
            let starts = numbers.iter().map(String::as_str).collect();
            chunk_pages("Group", &text, Some("All."), &starts, &words, &limits).chunks
        };
        let changed = changed.index(pages.len());
        let of_others = |chunks: Vec<Chunk>| -> Vec<(String, Vec<String>, String)> {
            let own = format!("p{changed}");
            let chunks = chunks.into_iter().filter(|chunk| chunk.anchor.split('.').next() != Some(own.as_str()));
            chunks.map(|chunk| (chunk.anchor, chunk.heading_path, chunk.body)).collect()
        };
        let before = cut(&pages);
        for chunk in &before[1..] {
            let page = chunk.anchor.split('.').next().unwrap_or_default();
            prop_assert!((0..pages.len()).map(|number| format!("p{number}")).all(|other| {
                other == page || !chunk.body.contains(&format!("{other} "))
            }), "{:?}", chunk);
        }
        let mut after = pages.clone();
        after[changed] = to;
        prop_assert_eq!(of_others(before), of_others(cut(&after)));
    }

    #[test]
    fn any_text_gives_the_same_chunks_twice(text in prop_oneof![any::<String>(), document()], limits in limits()) {
        let bytes = |text: &str| text.len().div_ceil(4);
        let chunked = chunk_document("t", &text, None, &bytes, &limits);
        prop_assert!(!chunked.chunks.is_empty());
        prop_assert_eq!(chunked, chunk_document("t", &text, None, &bytes, &limits));
    }
}
