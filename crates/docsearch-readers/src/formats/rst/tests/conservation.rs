//! Each word that Sphinx shows is in the Markdown, in the same order.

use proptest::prelude::*;

use super::to_markdown;

/// Makes words that occur once.
#[derive(Default)]
struct Words(usize);

impl Words {
    fn next(&mut self) -> String {
        self.0 += 1;
        format!("w{}x", self.0)
    }
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|character: char| !character.is_alphanumeric());
    let is_word = |part: &&str| {
        let number = part.strip_prefix('w').and_then(|rest| rest.strip_suffix('x'));
        number.is_some_and(|number| number.parse::<usize>().is_ok())
    };
    parts.filter(is_word).map(str::to_owned).collect()
}

/// An element of a page, whose `W` become words.
fn element() -> impl Strategy<Value = String> {
    let simple = prop_oneof![
        "W W [a-z:]{1,8}W W",
        "W :[a-z]{2,9}:`W W` W",
        "W :[a-z]{2,4}:[a-z]{2,9}:`W` W",
        "W :[a-z]{2,9}:`W <[a-z.]{1,6}>` W `W <https://kit\\.test>`_",
        "[*-] W W\n  W\n[*-] W",
        "[*-] W\n\n  [*-] W\n\n    W",
        "W\n   W W\n\n   W",
        ":W: W W",
        "W::\n\n   W\n    W",
        ">>> W\nW",
        "| W\n| W W",
        "\\.\\. [a-z]{3,9}:: W\n\n   W W",
        "\\.\\. [a-z]{3,9}::\n\n   W W\n\n   W",
        "\\.\\. [a-z]{3,9}:: W\\.W\n   :type: W\n   :[a-z]{1,9}x: W W\n\n   W",
        "\\.\\. [a-z]{2,6}:[a-z]{3,9}:: W\\(W\\)\n   :value: W\n\n   W W",
        "\\.\\. [a-z]{3,9}::\n\n   W = [a-z]\\(\\);\n   W\\(\\)",
        "\\.\\. (tab-item|tab|card|dropdown|exercise|prf:theorem|admonition):: W W\n\n   W",
        "\\.\\. (note|warning|versionadded|seealso):: W W\n   W\n\n   W",
        "\\.\\. code-block:: [a-z]{1,4}\n   :caption: W W\n\n   W\n     W",
        "\\.\\. (table|rubric):: W W",
        "\\.\\. figure:: a\\.png\n   :alt: W\n\n   W W\n\n   W",
        "\\.\\. (list-table|flat-table):: W\n   :header-rows: [012]\n\n   \\* - W\n     - W\n\n       W\n   \\* - W\n     -",
        "\\.\\. csv-table:: W\n   :header: \"W\", W\n\n   W, \"W, W\"\n   W, ",
        "\\+-------\\+--------\\+\n\\|W      \\|W       \\|\n\\+-------\\+--------\\+\n\\|W      \\| W      \\|\n\\|       \\+--------\\+\n\\|       \\|W       \\|\n\\+-------\\+--------\\+",
        "\\+-------\\+--------\\+\n\\|W      \\|W       \\|\n\\+=======\\+========\\+\n\\|W       W       \\|\n\\+-------\\+--------\\+",
        "======= =======\nW       W\n======= =======\nW       W\n        W\nW\n======= =======",
    ];
    let nested = prop_oneof![
        Just(""),
        Just(".. note::\n\n   "),
        Just(".. unknown-box::\n\n   "),
        Just(".. tab:: W\n\n   "),
        Just("* "),
        Just("#. "),
    ];
    (simple, nested).prop_map(|(element, around)| {
        let indent = " ".repeat(around.lines().last().map_or(0, str::len));
        let inner = element.lines().enumerate().map(|(number, line)| match number {
            0 => format!("{around}{line}\n"),
            _ if line.is_empty() => "\n".to_owned(),
            _ => format!("{indent}{line}\n"),
        });
        inner.collect()
    })
}

/// The page with words in place of `W`. In drawings, each takes the blanks after it.
fn with_words(page: &str, words: &mut Words) -> String {
    let mut output = String::new();
    for line in page.lines() {
        let is_drawn = line.trim_start().starts_with('|') && line.trim_end().ends_with('|');
        let mut rest = line.to_owned();
        while let Some(at) = rest.find('W') {
            let word = words.next();
            let after = rest[at + 1..].to_owned();
            let blanks = after.len() - after.trim_start_matches(' ').len();
            let is_padded = is_drawn || after[blanks..].starts_with('W') && blanks > 1;
            let taken = if is_padded { word.len() - 1 } else { 0 };
            output.push_str(&rest[..at]);
            output.push_str(&word);
            rest = after[taken..].to_owned();
        }
        output.push_str(&rest);
        output.push('\n');
    }
    output
}

proptest! {
    #[test]
    fn every_word_is_kept_in_its_place(elements in proptest::collection::vec(element(), 1..6)) {
        let page = with_words(&elements.join("\n"), &mut Words::default());
        let markdown = to_markdown(&page);
        // A name can be in a heading and in a signature.
        let shown = words(&markdown);
        let mut rest = shown.iter();
        for word in words(&page) {
            prop_assert!(rest.any(|other| *other == word), "{} in\n{}\n->\n{}", word, page, markdown);
        }
    }
}
