use proptest::prelude::*;

use super::*;

/// Events, with consecutive texts joined: where they are split means nothing.
fn joined<'a>(events: impl Iterator<Item = (Event<'a>, Range<usize>)>) -> Vec<(String, Range<usize>)> {
    let mut joined: Vec<(String, Range<usize>)> = Vec::new();
    let mut is_text = false;
    for (event, range) in events {
        if let (Event::Text(text), true) = (&event, is_text) {
            let (last, place) = joined.last_mut().unwrap();
            last.push_str(text);
            place.end = range.end;
            continue;
        }
        is_text = matches!(event, Event::Text(_));
        let shown = match &event {
            Event::Text(text) => text.to_string(),
            Event::Start(Tag::Link { dest_url, title, .. } | Tag::Image { dest_url, title, .. }) => {
                format!("link {dest_url} {title}")
            }
            other => format!("{other:?}"),
        };
        joined.push((shown, range));
    }
    joined
}

fn whole(markdown: &str) -> Vec<(String, Range<usize>)> {
    joined(Parser::new_ext(markdown, OPTIONS).into_offset_iter())
}

fn in_parts(markdown: &str, bytes: usize) -> Vec<(String, Range<usize>)> {
    joined(Events::in_parts(markdown, bytes))
}

/// Blocks of documents, each shorter than 100 bytes.
const BLOCKS: [&str; 22] = [
    "# Heading *em*\n",
    "Heading\n=======\n\n",
    "Some words\nof a paragraph with `code`.\n\n",
    "- one\n- two\n  - nested\n\n      code\n\n",
    "1. first\n\n   more of it\n2. second\n\n",
    "> quoted\n> - list\nlazy\n\n",
    "```sh\n# no heading\n\n- no list\n```\n",
    "~~~~\n```\n~~~\n~~~~\n\n",
    "    indented\n\n    code\n\n",
    "| a | b |\n|---|---|\n| `c` | d |\n\n",
    "<div>\n*no em*\n</div>\n\n",
    "<!-- a\n\ncomment -->\n",
    "---\n",
    "***\n\n",
    "A [link][one] and [Two] and [none][].\n\n",
    "[one]: /first \"title\"\n",
    "[two]:\n  /second\n\n",
    "\n\n\n",
    "\\[escaped\\] &amp; **bold** ![image][one]\n",
    "Größe und Maß, 日本語\r\n\r\n",
    "   \t \n",
    "* a\n+ b\n\n",
];

proptest! {
    /// Where a long document is divided changes nothing, as long as its blocks are shorter than a part.
    #[test]
    fn a_document_in_parts_is_the_whole(
        blocks in proptest::collection::vec(0..BLOCKS.len(), 0..60), bytes in 250usize..1000,
    ) {
        // The order of the blocks matters: a list is as long as its items.
        let markdown: String = blocks.iter().map(|block| format!("{}\n", BLOCKS[*block])).collect();
        let longest = longest_block(&markdown);
        prop_assert_eq!(in_parts(&markdown, bytes.max(2 * longest)), whole(&markdown));
    }

    /// Events are in order, whatever the document is.
    #[test]
    fn any_text_in_parts_is_read_to_its_end(markdown in "([-*+>#|`~=_\\[\\]()<!&]{1,3}|[a-c]{1,5}| |\n|    |1\\. |\r\n|é){0,200}", bytes in 4usize..60) {
        let mut depth = 0i32;
        let mut at = 0;
        for (event, range) in Events::in_parts(&markdown, bytes) {
            prop_assert!(range.start <= range.end && range.end <= markdown.len());
            prop_assert!(markdown.is_char_boundary(range.start) && markdown.is_char_boundary(range.end));
            match event {
                Event::Start(_) => {
                    prop_assert!(depth > 0 || range.start >= at, "{range:?} after {at}");
                    depth += 1;
                }
                Event::End(_) => {
                    depth -= 1;
                    if depth == 0 {
                        at = range.end;
                    }
                }
                _ => {}
            }
        }
        prop_assert_eq!(depth, 0);
    }

    /// No word is lost where a long block is split.
    #[test]
    fn a_text_in_parts_has_all_its_words(
        markdown in "([-*+>#=_]{1,3}|[a-c]{1,5}| |\n|    |1\\. |\r\n|é){0,200}", bytes in 4usize..60,
    ) {
        let letters = |text: &str| text.chars().filter(char::is_ascii_lowercase).count();
        let read: usize = Events::in_parts(&markdown, bytes)
            .map(|(event, _)| if let Event::Text(text) = event { letters(&text) } else { 0 })
            .sum();
        prop_assert_eq!(read, letters(&markdown));
    }
}

fn longest_block(markdown: &str) -> usize {
    let mut depth = 0;
    let mut longest = 0;
    for (event, range) in Parser::new_ext(markdown, OPTIONS).into_offset_iter() {
        if depth == 0 {
            longest = longest.max(range.len());
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    longest
}

#[test]
fn code_that_is_longer_than_a_part_is_one_block() {
    for (open, close, after) in [
        ("```sh\n", "```\n", "# After\n\n- a\n"),
        ("~~~~\n", "~~~~~  \n", "Text\n"),
        ("  ```\n", "   ```", ""),
        ("```\n", "", ""),
        ("```\n", "    ```\n", ""),
    ] {
        let code = "# no heading\n\n  indented `code`\n<div>\n".repeat(100);
        let markdown = format!("Before.\n\n{open}{code}{close}{after}");
        assert_eq!(in_parts(&markdown, 300), whole(&markdown), "{open}{close}{after}");
    }
}

#[test]
fn a_block_that_is_longer_than_a_part_ends_with_it() {
    let markdown = "word ".repeat(100);
    let paragraphs = in_parts(&markdown, 101);
    assert_eq!(paragraphs.len(), 3 * 5);
    assert_eq!(paragraphs[1].1, 0..99);
    let list = "- item\n".repeat(100);
    let items = in_parts(&list, 100)
        .iter()
        .filter(|(event, _)| event == "Start(Item)")
        .count();
    assert_eq!(items, 100);
}

#[test]
fn definitions_hold_before_and_behind_their_part() {
    let list = format!("- [early]\n- b\n\n{}", "[early]: /f\n[foo bar]: /g\n".repeat(5));
    let lists = format!("{list}\n").repeat(20);
    assert_eq!(in_parts(&lists, 311), whole(&lists));
    let text = "Some words, and others.\n\n".repeat(40);
    let markdown =
        format!("[Foo  bar]\n\n[early]: /e\n\n{text}[x][FOO BAR] [early]\n\n{text}[foo bar]: <a b> 'Title'\n");
    assert_eq!(in_parts(&markdown, 300), whole(&markdown));
    assert!(
        in_parts(&markdown, 300)
            .iter()
            .any(|(event, _)| event == "link a b Title")
    );
}
