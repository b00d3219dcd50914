//! Questions about a name: `what is Grid?`, `when should I use Grid instead of Table?`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::form::NameRole;
use super::kindless;
use crate::query::framing::{self, Names, bare};
use crate::query::rule::Rules;

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// As written, without articles.
    pub text: String,
    /// Without what kind of thing it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kindless: Option<String>,
    /// Whether the question says where it is: `what is Grid in SwiftUI?`.
    pub placed: bool,
    /// Whether another subject is compared with this one.
    pub compared: bool,
}

impl Subject {
    /// The subjects of a question without the place that it names, or else of the whole question.
    pub(super) fn all(placeless: Option<&str>, question: &str, rules: &Rules) -> Vec<Self> {
        let placed = placeless.map(|text| names(text, rules)).unwrap_or_default();
        let (names, placed) = match placed.is_empty() {
            true => (names(question, rules), false),
            false => (placed, true),
        };
        let subject = |(text, compared): (String, bool)| Self {
            kindless: kindless(&text, false, rules).map(|(name, _)| name),
            placed,
            compared,
            text,
        };
        names.into_iter().map(subject).collect()
    }

    /// As which a page of this name is brought.
    pub(super) fn role(&self) -> NameRole {
        match self {
            Self { compared: true, .. } => NameRole::Compared,
            Self { placed: true, .. } => NameRole::Symbol,
            _ => NameRole::Subject,
        }
    }
}

/// Words around the name that is asked about, which stands for `{}`: `a|b` is one of them, `a|b?` one or none.
const FRAMES: [&str; 34] = [
    "what is|are the? difference|differences between {} and|or {}",
    "difference|differences between {} and|or {}",
    "when should|do|would|to i|you|we? use|prefer {} instead of {}",
    "when should|do|would|to i|you|we? use|prefer {} rather than {}",
    "when should|do|would|to i|you|we? use|prefer {} over|or|versus|vs {}",
    "should i|you|we use|prefer {} or|over {}",
    "how does|do|is|are {} compare|differ|different to|with|from {}",
    "compare {} and|with|to {}",
    "{} vs|versus {}",
    "{} or {}",
    "what|who exactly? is|are the? purpose|meaning|definition|role of {}",
    "what|who exactly? is|are {} used? for?",
    "what|who exactly? does|do|can {} do|mean|return|stand for?",
    "what's|whats|what’s {} for?",
    "how does|do|did {} work",
    "how do|can|should|would|could|to i|you|we|one? use|call|configure|define|create|declare {} properly|correctly?",
    "how is|are {} used|defined|implemented|configured",
    "when should|do|would|to i|you|we? use|need|prefer {}",
    "when is|are {} used|needed|called|useful",
    "why should|do|would? i|you|we? use|need {}",
    "where is|are {} documented|defined|described|explained",
    "where do|can i|you|we find|read docs|documentation|something? for|on|about? {}",
    "which page documents|describes|explains {}",
    "can|could you please? explain|describe {} to? me?",
    "please? explain|describe {} to? me?",
    "can|could? you? please? tell|show|teach me about {}",
    "please? show|teach me how to use {}",
    "i want|need to use {}",
    "an? example|examples of|for using? {}",
    "the? documentation|docs|reference|tutorial|usage|syntax|meaning|purpose|definition of|for|on {}",
    "using|learn|understanding {}",
    "{} usage|code? example|examples|sample",
    "{} explained|tutorial|documentation|docs|reference|syntax|usage|definition",
    "{} how to use it?",
];
/// Most words of a name.
const MAX_WORDS: usize = 4;
/// Words before a name that are no part of it.
const ARTICLES: [&str; 7] = ["a", "an", "the", "this", "that", "my", "your"];
/// Words that stand for a name, and are none.
const PRONOUNS: [&str; 10] = [
    "it", "this", "that", "these", "those", "they", "i", "you", "we", "there",
];

/// A part of a frame.
#[derive(Debug)]
enum Part {
    /// One of these words, or none if it is `optional`.
    Words { words: Vec<&'static str>, optional: bool },
    /// The name.
    Name,
}

static PARSED: LazyLock<Vec<Vec<Part>>> = LazyLock::new(|| FRAMES.iter().map(|frame| parse(frame)).collect());

fn parse(frame: &'static str) -> Vec<Part> {
    let part = |word: &'static str| match word.strip_suffix('?') {
        _ if word == "{}" => Part::Name,
        Some(words) => Part::Words {
            words: words.split('|').collect(),
            optional: true,
        },
        None => Part::Words {
            words: word.split('|').collect(),
            optional: false,
        },
    };
    frame.split(' ').map(part).collect()
}

/// The names that a question may be about: what stands in a frame, and what is left of it and of the whole question without
/// the words that only frame a name.
fn names(question: &str, rules: &Rules) -> Names {
    let framed = subjects(question);
    let mut names: Names = Vec::new();
    let mut add = |(text, compared): (String, bool)| {
        if names.iter().all(|(known, _)| *known != text) {
            names.push((text, compared));
        }
    };
    for (place, name) in framed.into_iter().enumerate() {
        let left = framing::names(&name, MAX_WORDS, rules);
        add((name, place > 0));
        left.into_iter()
            .for_each(|(name, compared)| add((name, compared || place > 0)));
    }
    framing::names(question, MAX_WORDS, rules)
        .into_iter()
        .filter(|(name, _)| name != question)
        .for_each(add);
    names
}

/// The names that stand in a frame, the first one first; none if it is no question about names. The texts are as
/// written, without articles.
fn subjects(question: &str) -> Vec<String> {
    let words: Vec<&str> = question.split_whitespace().map(bare).collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    PARSED
        .iter()
        .find_map(|frame| fill(frame, &words, &lower))
        .unwrap_or_default()
}

/// The names of a question that is made like this frame.
fn fill(frame: &[Part], words: &[&str], lower: &[String]) -> Option<Vec<String>> {
    match frame.split_first() {
        None => words.is_empty().then(Vec::new),
        Some((Part::Words { words: known, optional }, rest)) => {
            let here = lower.first().is_some_and(|word| known.contains(&word.as_str()));
            let taken = if here {
                fill(rest, &words[1..], &lower[1..])
            } else {
                None
            };
            taken.or_else(|| optional.then(|| fill(rest, words, lower)).flatten())
        }
        Some((Part::Name, rest)) => {
            let articles = lower
                .iter()
                .take_while(|word| ARTICLES.contains(&word.as_str()))
                .count();
            let least = articles + 1;
            (least..=words.len().min(articles + MAX_WORDS)).find_map(|end| {
                let pronoun = end == least && PRONOUNS.contains(&lower[articles].as_str());
                let mut names = fill(rest, &words[end..], &lower[end..]).filter(|_| !pronoun)?;
                names.insert(0, words[articles..end].join(" "));
                Some(names)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_question_about_a_name_has_the_name() {
        for (question, name) in [
            ("what is Grid?", "Grid"),
            ("What is a Table?", "Table"),
            ("what are the generic views", "generic views"),
            ("what does makemigrations do?", "makemigrations"),
            ("What's State for?", "State"),
            ("how do I use Grid?", "Grid"),
            ("how to use @State properly", "@State"),
            ("how does C++ work", "C++"),
            ("when should I use Menu", "Menu"),
            ("why use select_related", "select_related"),
            ("where is QuerySet.filter() documented?", "QuerySet.filter()"),
            ("can you please explain the ORM to me", "ORM"),
            ("ContentView example", "ContentView"),
            ("an example of ContentView", "ContentView"),
            ("documentation for table view", "table view"),
            ("what is the purpose of __slots__?", "__slots__"),
        ] {
            assert_eq!(subjects(question), [name], "{question}");
        }
    }

    #[test]
    fn a_comparison_has_both_names() {
        for question in [
            "when should I use Grid instead of Table?",
            "difference between Grid and Table",
            "What is the difference between a Grid and a Table?",
            "Grid vs Table",
            "should I use Grid or Table?",
            "how does Grid differ from Table?",
        ] {
            assert_eq!(subjects(question), ["Grid", "Table"], "{question}");
        }
    }

    #[test]
    fn other_questions_are_about_no_name() {
        for question in [
            "how do I keep people from logging in twice",
            "what is it?",
            "why does my view flicker when the list scrolls",
            "Grid",
            "show all hosts in a pool",
            "",
            "what is the best way to keep people from logging in twice",
        ] {
            assert_eq!(subjects(question), Vec::<String>::new(), "{question}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_a_part_of_its_question(question in "((what|is|a|how|to|use|vs|Grid|the|for|do)[ ?]{1,2}){0,12}") {
            let found = subjects(&question);
            prop_assert!(found.len() <= 2);
            let text: Vec<&str> = question.split_whitespace().map(bare).collect();
            prop_assert!(found.iter().all(|name| text.join(" ").contains(name.as_str())));
        }
    }
}
