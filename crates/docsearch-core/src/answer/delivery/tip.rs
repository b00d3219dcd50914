//! Advice for poor answers, with examples from the database.

use super::answer::SearchResult;
use crate::text::name::{slug_leaf, stated_containers};

/// Most characters of a title in an example: longer ones are sentences. Chosen.
const MAX_EXAMPLE: usize = 60;

/// Advice with examples from the caller's results. In a row of `search_tip`, `{page}` is the title of a page,
/// `{place}` its container, `{path}` a slug of several parts, `{word}` the query if it is one generic term, and
/// `{phrase}` a title with this word. A part in brackets is left out if there is no such name. A tip with such a
/// placeholder outside of brackets is left out as a whole.
pub fn tips(rows: &[String], query: &str, lone_generic_term: bool, results: &[SearchResult]) -> Vec<String> {
    let examples = Examples::of(query.trim(), lone_generic_term, results);
    rows.iter().filter_map(|row| examples.fill(row)).collect()
}

#[derive(Debug, Default)]
struct Examples<'a> {
    page: Option<&'a str>,
    place: Option<&'a str>,
    path: Option<&'a str>,
    word: Option<&'a str>,
    phrase: Option<&'a str>,
}

impl<'a> Examples<'a> {
    fn of(query: &'a str, lone_generic_term: bool, results: &'a [SearchResult]) -> Self {
        let is_short =
            |text: &&str| !text.is_empty() && text.chars().count() <= MAX_EXAMPLE && !text.contains(['"', '\n']);
        let titled = || results.iter().filter(|result| is_short(&result.title.as_str()));
        let placed = titled().find(|result| stated_containers(Some(&result.metadata)).next().is_some());
        let shown = placed.or_else(|| titled().next());
        let place = shown.map(|shown| {
            stated_containers(Some(&shown.metadata))
                .next()
                .unwrap_or(&shown.project)
        });
        let is_nested = |slug: &&str| slug.contains('/') && slug_leaf(slug) != *slug;
        let has_word = |title: &&str| {
            let mut words = title.split(|c: char| !c.is_alphanumeric());
            title.contains(' ') && words.any(|word| word.eq_ignore_ascii_case(query))
        };
        Self {
            page: shown.map(|shown| shown.title.as_str()),
            place,
            path: results
                .iter()
                .map(|result| result.slug.as_str())
                .filter(is_short)
                .find(is_nested),
            word: lone_generic_term.then_some(query),
            phrase: titled()
                .map(|result| result.title.as_str())
                .find(|title| lone_generic_term && has_word(title)),
        }
    }

    fn fill(&self, row: &str) -> Option<String> {
        let mut tip = String::new();
        let mut rest = row;
        while let Some((before, inside)) = rest.split_once('[') {
            let (optional, after) = inside.split_once(']')?;
            tip.push_str(&self.named(before)?);
            tip.push_str(&self.named(optional).unwrap_or_default());
            rest = after;
        }
        tip.push_str(&self.named(rest)?);
        Some(tip)
    }

    /// A text with all placeholders replaced; `None` if a name is missing.
    fn named(&self, text: &str) -> Option<String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, inside)) = rest.split_once('{') {
            let (name, after) = inside.split_once('}')?;
            filled.push_str(before);
            filled.push_str(match name {
                "page" => self.page,
                "place" => self.place,
                "path" => self.path,
                "word" => self.word,
                "phrase" => self.phrase,
                _ => None,
            }?);
            rest = after;
        }
        filled.push_str(rest);
        Some(filled)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::tests::result;
    use super::*;
    use crate::query::rule::Rules;

    fn page(slug: &str, title: &str, framework: Option<&str>) -> SearchResult {
        SearchResult {
            slug: slug.into(),
            title: title.into(),
            project: "boats".into(),
            metadata: framework.map_or(json!({}), |framework| json!({"framework": framework})),
            ..result(1, 1, 0.2)
        }
    }

    fn shipped(query: &str, lone: bool, results: &[SearchResult]) -> Vec<String> {
        let rows: Vec<String> = Rules::english().tables().tips.values().cloned().collect();
        tips(&rows, query, lone, results)
    }

    #[test]
    fn s0_14_examples_are_pages_of_the_answer() {
        let results = [
            page("pump/start", "start", Some("Bilge")),
            page("frame", "Frame of the hull", None),
        ];
        assert_eq!(
            shipped("frame", true, &results),
            [
                "Name the thing and where it belongs: \"X in Y\", such as \"start in Bilge\".",
                "Add context to a general word: \"Frame of the hull\" instead of \"frame\".",
                "Include the framework or project: \"start Bilge\".",
                "Include the parent of a nested name: \"pump/start\".",
            ]
        );
    }

    #[test]
    fn s0_14_without_examples_there_is_the_advice_alone() {
        assert_eq!(
            shipped("zzqqxx", false, &[]),
            [
                "Name the thing and where it belongs: \"X in Y\".",
                "Add context to a general word.",
                "Include the framework or project.",
                "Include the parent of a nested name.",
            ]
        );
    }

    #[test]
    fn a_row_without_brackets_needs_its_names() {
        let rows = [
            "Try {page}.".to_owned(),
            "Ask again.".to_owned(),
            "Odd {name".to_owned(),
            "Odd [".to_owned(),
        ];
        assert_eq!(
            tips(&rows, "x", false, &[page("a", "Anchor", None)]),
            ["Try Anchor.", "Ask again."]
        );
        assert_eq!(tips(&rows, "x", false, &[]), ["Ask again."]);
    }

    proptest! {
        #[test]
        fn any_row_and_any_title_can_be_read(row in "(\\{page\\}|\\{|\\}|\\[|\\]|\\PC){0,12}", title in "\\PC{0,70}") {
            tips(&[row], "x", true, &[page("a/b", &title, None)]);
        }
    }
}
