//! Words that only frame what is asked about: `hi! could you show me some Grid docs, please?`.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::query::mention::Identifier;
use crate::query::rule::Rules;
use crate::text::identifier::uncontracted;
use crate::text::word::folded;

/// Words that say what about a name is asked, or how, beside the stop words and question words of the rules.
const FRAMING: &str = "
    101 abt actually advanced advantages again alternative alternatives any anybody anyone anything anyway apart
    appropriate argument arguments asap available bad basic basically basics beginner beginners behave behavior
    behaviour benefit benefits best better brief briefly broadly btw ca called cannot case cases caveats cheat
    cheatsheet cheers clarify code common compare compared comparison complete concept confused cons correct
    correctly course crash crew deal deep default defaults define defined defines definition deprecated describe
    described describes description detail detailed details differ difference differences different differentiate
    differently difficult disadvantages discuss distinction distinguish dive doc docs documentation documented
    documents dummies easily easy elaborate eli5 else etc everybody everyone everything exact exactly example
    examples exist exists explain explained explainer explaining explains explanation explanations faq folks further
    fyi generally getting gimme gist give gives gonna good gotchas greetings guide guides guys happens hear heard
    hello hey hi hint hints hood hows howto hwo idea ideal ideally imo important info information instead intended
    intro introduce introduction issue issues know known learn lesson limitations lol looking lowdown manual mate
    matter mean meaning meanings means mention mentioned mind more morning most name necessary needed never newbie
    newbies noob noobs nutshell obsolete official often ok okay once ones only options overview page pages paragraph
    parameter parameters particular people pitfalls pls plz point pointer pointers practical practice practices
    prefer preferred primer problem problems proper properly pros purpose question questions quick quickly
    quickstart rather read really reason reasons recommended refer reference references refresh refresher related
    relevant remind reminder required return returns role rundown safe sample samples say saying says scenario scoop
    section sense short signature similar simple simply snippet snippets so somebody someone something soon sorry
    specifically specification specifics stand stands started steps still stuff sum summarize summary supported
    supports supposed syntax talks team teh tell term thank thanks they thing things thorough thoughts through thx
    tia tip tips tldr topic topics trick tricks trouble troubleshooting tutorial tutorials ty typical typically u
    unclear understand understanding ur usage used useful uses usual usually value values various waht walk
    walkthrough wanna wassup wat whats wheres whether whos whta within wondering work working works worth wut yall
    yes yet yo";
/// Verbs that frame a name in questions and where somebody speaks, and elsewhere say what a tool does: `show me Grid`,
/// `show grid`.
const ASKING: &str = "
    apply bring call check choose configure create declare enable find follow get go handle implement include install invoke like
    look love make open pick point recommend run see select set setup show start suggest switch take talk teach try wonder write";
/// Words for what is asked for with a name: `open the Grid documentation`.
const DOCUMENTATION: [&str; 6] = ["doc", "docs", "documentation", "manual", "page", "reference"];
/// Words of somebody who asks.
const ASKER: &str = "i i'm im me us we";
/// Words between two names that are compared.
const COMPARING: &str = "against and or over versus vs";
/// The same beside a word that says that names are compared.
const COMPARING_TOO: &str = "between for from of than to with";
/// Words that say so.
const COMPARISON: &str = "alternative apart better compare compared comparison differ difference differences different
    distinguish instead prefer rather";

static SETS: LazyLock<[HashSet<&'static str>; 6]> = LazyLock::new(|| {
    [FRAMING, ASKING, ASKER, COMPARING, COMPARING_TOO, COMPARISON].map(|words| words.split_whitespace().collect())
});

/// Names in a text, and whether others are compared with them.
pub(crate) type Names = Vec<(String, bool)>;

/// The names that a question is about if all its other words only frame them, first those that are asked for. A name has at
/// most `most` words.
pub(crate) fn names(question: &str, most: usize, rules: &Rules) -> Names {
    let [framing, asking, asker, comparing, comparing_too, comparison] = &*SETS;
    let words: Vec<&str> = question.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| folded(word).replace('’', "'")).collect();
    let shouted = !question.contains(char::is_lowercase);
    let opens = lower.iter().find(|word| !framing.contains(word.as_str()));
    let is_asked = lower.iter().any(|word| asker.contains(word.as_str()))
        || opens.is_some_and(|word| rules.tables().question_words.contains(uncontracted(word)))
        || lower.iter().any(|word| DOCUMENTATION.contains(&word.as_str()));
    let frames = |at: usize| {
        let word = lower[at].as_str();
        if word.is_empty() {
            return !is_sign(words[at]);
        }
        if word == "sheet" {
            return at > 0 && lower[at - 1] == "cheat";
        }
        let is_name = Identifier::read(words[at]).is_some()
            || (!shouted
                && word.len() > 1
                && !words[at].contains(char::is_lowercase)
                && words[at].contains(char::is_alphabetic));
        let says_little = |word: &str| {
            rules.says_little(word)
                || framing.contains(word)
                || asker.contains(word)
                || comparing.contains(word)
                || (is_asked && asking.contains(word))
        };
        !is_name && (says_little(word) || says_little(uncontracted(word)))
    };
    let within = |mut from: usize, mut to: usize| {
        let whole = (from, to);
        while from < to && frames(from) {
            from += 1;
        }
        while from < to && frames(to - 1) {
            to -= 1;
        }
        if from == to {
            // One of the words that frame names can be a name: "overview docs".
            let mut named = (whole.0..whole.1).filter(|&at| framing.contains(lower[at].as_str()));
            return named
                .next()
                .filter(|_| named.next().is_none())
                .map(|at| bare(words[at]).to_owned());
        }
        (1..=most).contains(&(to - from)).then(|| {
            let name: Vec<&str> = words[from..to].iter().map(|word| bare(word)).collect();
            name.join(" ")
        })
    };
    let mut names: Names = within(0, words.len()).map(|name| (name, false)).into_iter().collect();
    // "SwiftUI's Grid" says where Grid is.
    let owner = names.first().and_then(|(name, _)| name.split_once(' '));
    if let Some((_, owned)) = owner.filter(|(owner, _)| uncontracted(owner) != *owner) {
        names.push((owned.to_owned(), false));
    }
    let compares = lower.iter().any(|word| comparison.contains(word.as_str()));
    let divides = |at: &usize| {
        let word = lower[*at].as_str();
        comparing.contains(word) || (compares && comparing_too.contains(word))
    };
    let both = (1..words.len())
        .filter(divides)
        .find_map(|at| within(0, at).zip(within(at + 1, words.len())).map(|both| (at, both)));
    if let Some((at, (first, second))) = both {
        // Of two things side by side neither is the one that is asked for.
        names.push((first, lower[at] == "and" && !compares));
        names.push((second, true));
    }
    names
}

/// Whether a word stands between two things that are compared.
pub(crate) fn compares(word: &str) -> bool {
    let [.., comparing, comparing_too, comparison] = &*SETS;
    let word = word.to_lowercase();
    [comparing, comparing_too, comparison]
        .iter()
        .any(|set| set.contains(word.as_str()))
}

/// Whether a word, in lower case, says what about a name is asked.
pub(crate) fn frames(word: &str) -> bool {
    SETS[0].contains(word)
}

/// What stands around a sign in a sentence.
const QUOTES: [char; 7] = ['"', '\'', '`', '“', '”', '‘', '’'];

/// Whether a word is a name without letters, such as an operator: `->>`, `:=`.
fn is_sign(word: &str) -> bool {
    let sign = word.trim_matches(QUOTES);
    !sign.contains(char::is_alphanumeric) && sign.chars().count() > 1 && !sign.chars().all(|c| "?!.,…-–—".contains(c))
}

/// A word without quotation marks and punctuation around it.
pub(crate) fn bare(word: &str) -> &str {
    if is_sign(word) {
        // What ends a question ends no operator, as a rule.
        return word.trim_matches(QUOTES).trim_end_matches(['?', ',']);
    }
    word.trim_matches(['"', '\'', '`', '“', '”', '‘', ',', ';', '?', '!'])
        .trim_end_matches(['.', ':'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(question: &str) -> Vec<String> {
        let names = names(question, 4, &Rules::english());
        names.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn what_only_frames_a_name_is_left_out() {
        for (question, name) in [
            ("hi! how would I use Grid, please?", "Grid"),
            ("so what is Grid anyway", "Grid"),
            ("what is the Grid good for?", "Grid"),
            ("docs about select_related", "select_related"),
            ("could anyone give me some table view docs", "table view"),
            ("I don't understand table view", "table view"),
            ("introduction to Grid", "Grid"),
            ("best practices for Grid", "Grid"),
            ("Grid parameters", "Grid"),
            ("is Grid deprecated?", "Grid"),
            ("what is the overview?", "overview"),
            ("open the Grid documentation", "Grid"),
            ("show me EXPLAIN examples", "EXPLAIN"),
            ("tell us more about the `NOT` operator", "NOT operator"),
            ("what is ->>?", "->>"),
            ("how do I use |> ?", "|>"),
            ("what does `:=` mean", ":="),
        ] {
            assert_eq!(asked(question), [name], "{question}");
        }
    }

    #[test]
    fn a_name_may_have_an_owner() {
        assert_eq!(asked("what does SwiftUI's Grid do"), ["SwiftUI's Grid", "Grid"]);
    }

    #[test]
    fn two_names_are_compared() {
        for question in [
            "which is better, Grid or Table",
            "Grid compared to Table",
            "how is Grid different from Table?",
            "I can't tell Grid apart from Table",
        ] {
            assert!(
                names(question, 4, &Rules::english()).ends_with(&[("Grid".into(), false), ("Table".into(), true)]),
                "{question}"
            );
        }
        assert!(names("Grid and Table", 4, &Rules::english()).contains(&("Grid".into(), true)));
    }

    #[test]
    fn what_a_tool_does_frames_nothing() {
        assert_eq!(asked("show hosts"), ["show hosts"]);
        assert_eq!(asked("show me hosts"), ["hosts"]);
        assert_eq!(
            asked("how do I keep people from logging in twice on one machine"),
            Vec::<String>::new()
        );
        assert_eq!(asked("what is it?"), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn names_are_parts_of_the_question(question in "((what|is|a|how|Grid|the|docs|and|vs|than|compared|\\PC{1,5})[ ?,]{1,2}){0,12}") {
            let text: Vec<&str> = question.split_whitespace().map(bare).collect();
            for (name, _) in names(&question, 4, &Rules::english()) {
                prop_assert!(text.join(" ").contains(&name));
            }
        }
    }
}
