//! Parses wordings of a question in the reply of a language model.

use crate::text::line::{clip, one_line};
use crate::text::name::key;

/// Most wordings that are taken from one reply.
pub const MAX_NEW_WORDINGS: usize = 3;
/// Fewest characters of a wording.
const MIN_NEW_WORDING_CHARS: usize = 3;
/// Most characters of a wording, which is a phrase; longer ones are cut. Chosen.
pub const MAX_NEW_WORDING_CHARS: usize = 200;

/// Marks that models put around a phrase.
const AROUND: [(&str, &str); 9] = [
    ("**", "**"),
    ("*", "*"),
    ("\"", "\""),
    ("'", "'"),
    ("`", "`"),
    ("“", "”"),
    ("„", "“"),
    ("‘", "’"),
    ("«", "»"),
];
/// Bullets that models put before items of a list.
const BULLETS: [char; 8] = ['-', '*', '+', '•', '·', '‣', '–', '—'];
/// End of the thoughts of a model.
const THOUGHT: &str = "</think>";

/// The wordings in a reply, one a line, without those that are `known` and without repetitions: up to
/// [`MAX_NEW_WORDINGS`], each of up to [`MAX_NEW_WORDING_CHARS`] characters.
pub fn read<'a>(answer: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let answer = after_thoughts(answer);
    let mut seen: Vec<String> = known.into_iter().map(compared).collect();
    let mut wordings = Vec::new();
    for wording in answer.lines().filter_map(wording) {
        let compared = compared(&wording);
        if wordings.len() < MAX_NEW_WORDINGS && !seen.contains(&compared) {
            seen.push(compared);
            wordings.push(wording);
        }
    }
    wordings
}

/// The reply after the thoughts of the model.
pub(crate) fn after_thoughts(answer: &str) -> &str {
    answer.rsplit(THOUGHT).next().unwrap_or(answer)
}

/// A wording as it is compared.
fn compared(text: &str) -> String {
    let key = key(text);
    if key.is_empty() {
        one_line(text).to_lowercase()
    } else {
        key
    }
}

/// The wording in a line. `None` if the line only introduces others, or is part of the form of the reply.
fn wording(line: &str) -> Option<String> {
    let line = one_line(line);
    if line.ends_with(':') || line.starts_with("```") {
        return None;
    }
    let text = clip(without_marks(&line), MAX_NEW_WORDING_CHARS);
    let text = text.trim_end_matches('…').trim_end();
    let is_text = text.chars().count() >= MIN_NEW_WORDING_CHARS && text.contains(char::is_alphanumeric);
    is_text.then(|| text.to_owned())
}

/// A line without the numbers, bullets and quotation marks around it.
pub(crate) fn without_marks(line: &str) -> &str {
    let mut text = line.trim();
    loop {
        let less = without_quotes(without_mark(text)).trim();
        if less == text {
            return text;
        }
        text = less;
    }
}

/// A line without the number or the bullet before it.
fn without_mark(line: &str) -> &str {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(char::is_whitespace);
    if let Some(rest) = line.strip_prefix(BULLETS).filter(|rest| ends(rest)) {
        return rest;
    }
    let number = line.strip_prefix('(').unwrap_or(line);
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = number.len() - rest.len();
    let rest = rest.strip_prefix(['.', ')', ':']).filter(|rest| ends(rest));
    rest.filter(|_| (1..=2).contains(&digits)).unwrap_or(line)
}

/// A line without quotation marks around all of it. Quoted parts stay.
fn without_quotes(line: &str) -> &str {
    let line = match line.strip_suffix(',') {
        Some(item) if item.ends_with(['"', '\'']) => item,
        _ => line,
    };
    let inside = AROUND.iter().find_map(|(open, close)| {
        let inside = line.strip_prefix(open)?.strip_suffix(close)?;
        (!inside.contains(open) && !inside.contains(close)).then_some(inside)
    });
    match inside {
        Some(inside) => inside,
        // The other quotation mark is in another line.
        None if line.matches('"').count() == 1 => line.trim_matches('"'),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_of(answer: &str) -> Vec<String> {
        read(answer, ["why is it slow?"])
    }

    #[test]
    fn s1_45_each_line_is_a_wording_however_it_is_marked() {
        for answer in [
            "slow queries\nEXPLAIN ANALYZE",
            "1. slow queries\n2. EXPLAIN ANALYZE",
            "(1) slow queries\r\n(2) EXPLAIN ANALYZE",
            "- slow queries\n\n- EXPLAIN ANALYZE\n",
            "* \"slow queries\"\n* `EXPLAIN ANALYZE`",
            "\u{2022} slow  queries\n\u{2022} EXPLAIN\tANALYZE",
            "Here are two wordings:\n\n1) **slow queries**\n2) **EXPLAIN ANALYZE**",
            "```text\n“slow queries”\n‘EXPLAIN ANALYZE’\n```",
            "[\n  \"slow queries\",\n  \"EXPLAIN ANALYZE\"\n]",
            "1. \"slow queries\n2. EXPLAIN ANALYZE\"",
            "<think>\nThey mean:\nplans\n</think>\n\nslow queries\nEXPLAIN ANALYZE",
        ] {
            assert_eq!(read_of(answer), ["slow queries", "EXPLAIN ANALYZE"], "{answer}");
        }
    }

    #[test]
    fn s1_45_what_belongs_to_a_wording_stays() {
        for wording in [
            "3D rotation",
            "2.0 migration guide",
            "100. Psalm",
            "-Wall of the compiler",
            "--force",
            "**kwargs in a call",
            "__init__",
            "`pg_dump` and `pg_restore`",
            "\"exact phrase\" in \"another\"",
            "the users' table",
            "operator[] of std::vector",
        ] {
            assert_eq!(read_of(wording), [wording]);
        }
    }

    #[test]
    fn s1_45_only_what_is_new_is_taken() {
        let answer = "Why is it slow\nslow queries\nSlow Queries.\n- slow-queries\nplans\nindexes\nstatistics";
        assert_eq!(read_of(answer), ["slow queries", "plans", "indexes"]);
        assert_eq!(
            read(answer, ["why is it slow?", "slow queries", "Plans"]),
            ["indexes", "statistics"]
        );
        for nothing in [
            "",
            " \n\t",
            "x",
            "\"ok\"",
            "1.",
            "---",
            "...",
            "why is it slow?",
            "Wordings:",
        ] {
            assert!(read_of(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn s1_45_a_long_line_is_cut() {
        let wordings = read_of(&"many words ".repeat(1_000));
        assert_eq!(wordings.len(), 1);
        assert!(wordings[0].chars().count() <= MAX_NEW_WORDING_CHARS && wordings[0].ends_with(['s', 'y']));
        assert!(read_of(&"\u{e4}".repeat(10_000))[0].chars().count() <= MAX_NEW_WORDING_CHARS);
    }

    proptest! {
        #[test]
        fn s1_45_wordings_are_few_short_lines_that_were_not_known(
            answer in "([-*\"'`(0-9.):, \n\r\u{2022}“”„]|\\PC|</think>|why is it slow|[a-c]{1,3}){0,60}",
            known in proptest::collection::vec("[a-c]{1,3}", 0..3),
        ) {
            let wordings = read(&answer, known.iter().map(String::as_str));
            prop_assert!(wordings.len() <= MAX_NEW_WORDINGS);
            let mut compared_with: Vec<String> = known.iter().map(|text| compared(text)).collect();
            for wording in &wordings {
                let length = wording.chars().count();
                prop_assert!((MIN_NEW_WORDING_CHARS..=MAX_NEW_WORDING_CHARS).contains(&length) && wording.trim() == wording);
                prop_assert!(!wording.contains(['\n', '\r']) && wording.contains(char::is_alphanumeric));
                prop_assert!(!compared_with.contains(&compared(wording)), "{:?}", wording);
                compared_with.push(compared(wording));
            }
            prop_assert!(read(&answer, wordings.iter().map(String::as_str)).iter().all(|new| !wordings.contains(new)));
        }

        #[test]
        fn s1_45_a_plain_phrase_is_read_as_it_is_with_any_mark(
            phrase in "[a-z]{2,8}( [a-z_]{1,8}){1,4}", mark in "([1-9][0-9]?[.):] |[-*+\u{2022}] |)", around in 0usize..=AROUND.len(),
        ) {
            let (open, close) = AROUND.get(around).copied().unwrap_or_default();
            prop_assert_eq!(read(&format!("{mark}{open}{phrase}{close}"), []), [phrase]);
        }
    }
}
