//! Completions.

use proptest::prelude::*;

use super::*;

fn marked(typed: &str, suggestion: &str) -> String {
    let mut ranges = Typed::new(typed).highlights(suggestion).into_iter().peekable();
    let mut marked = String::new();
    let chars = suggestion.chars().count();
    for (at, c) in suggestion.chars().chain([' ']).enumerate() {
        if ranges.next_if(|range| range.1 == at).is_some() {
            marked.push(']');
        }
        if ranges.peek().is_some_and(|range| range.0 == at) {
            marked.push('[');
        }
        if at < chars {
            marked.push(c);
        }
    }
    marked
}

#[test]
fn what_was_typed_is_marked() {
    for (typed, expected) in [
        ("useRed", "[useRed]ucer"),
        ("reducer", "use[Reducer]"),
        ("render_temp", "flask.[render_temp]late"),
        ("import.meta.en", "[import.meta.en]v"),
        ("git com", "[git com]mit"),
        ("async comp", "[Async] Server [Comp]onents"),
        ("congif", "[Config]uration"),
        ("git comit", "[git commit]"),
        ("c++", "About [C++]"),
        ("größ", "[Größ]e"),
        ("cafe\u{301}", "[cafe\u{301}] au lait"),
        ("ﬁl", "[Fil]ter"),
        ("fil", "[ﬁl]ter"),
        ("@", "[@]>"),
        ("ducer", "useReducer"),
        ("", "useReducer"),
    ] {
        let suggestion = expected.replace(['[', ']'], "");
        assert_eq!(marked(typed, &suggestion), expected, "{typed}");
    }
}

#[test]
fn one_error_is_found() {
    for (typed, name) in [
        ("congif", "configuration"),
        ("ocnfig", "configuration"),
        ("git comit", "git commit"),
        ("gitt com", "git commit"),
        ("rendre_templ", "render_template"),
        ("render_tmpl", "render_template"),
    ] {
        assert!(is_looked_up(typed, name), "{typed} {name}");
    }
    assert!(
        Typed::new("cnf").mistyped().is_empty(),
        "three letters resemble too many names"
    );
    assert!(!is_looked_up("cnofgi", "configuration"), "two errors");
}

#[test]
fn patterns_match_their_own_characters_only() {
    assert_eq!(escaped(r"a%b_c\"), r"a\%b\_c\\");
    assert_eq!(Typed::new("server comp").containing().as_deref(), Some("%server%comp%"));
    assert_eq!(Typed::new("a bc").containing(), None);
}

/// Whether a key is in a range and matches its pattern.
fn has(range: &KeyRange, key: &str) -> bool {
    let mut rest = key.chars();
    let literal = range.pattern.trim_end_matches('%');
    *range.from <= *key
        && *key < *range.until
        && literal.chars().all(|c| rest.next().is_some_and(|k| c == '_' || c == k))
}

/// Whether the name is among those that are read and accepted.
fn is_looked_up(typed: &str, name: &str) -> bool {
    let (typed, key) = (Typed::new(typed), name::key(name));
    typed.mistyped().iter().any(|range| has(range, &key)) && typed.mistyped_length(&key).is_some()
}

fn candidate(evidence: Evidence, key: &str) -> Candidate {
    Candidate {
        evidence,
        source: Source::Page,
        key: key.to_owned(),
        document: DocumentId {
            project: 1,
            document: 1,
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Each error behind the first character of a beginning is corrected.
    #[test]
    fn every_error_is_found(key in "[a-dé]{5,24}", typed in 4usize..24, at in 1usize..24, kind in 0usize..5, wrong in prop::char::range('a', 'e')) {
        let letters: Vec<char> = key.chars().collect();
        let typed = typed.min(letters.len() - 1);
        let at = at.min(typed - 1);
        let mut mistyped = letters[..typed].to_vec();
        match kind {
            0 => { mistyped.remove(at); }
            1 => mistyped.insert(at, wrong),
            2 => mistyped[at] = wrong,
            3 => mistyped.swap(at - 1, at),
            _ => mistyped.swap(at.max(2) - 2, at.max(2)),
        }
        prop_assume!(mistyped.len() >= MIN_MISTYPED);
        let mistyped: String = mistyped.into_iter().collect();
        prop_assert!(is_looked_up(&mistyped, &key), "{} {}", mistyped, key);
    }

    /// A name that a range without the intact beginning has is the text with one error.
    #[test]
    fn nothing_else_is_found(typed in "[ab]{4,8}", key in "[ab]{3,12}") {
        let typed = Typed::new(&typed);
        if typed.mistyped().iter().any(|range| has(range, &key)) {
            prop_assert!(typed.mistyped_length(&key).is_some());
        }
    }

    /// While the text is a beginning of a name, a further letter removes names before it and adds none.
    #[test]
    fn s0_23_a_further_letter_adds_no_name_before(names in prop::collection::btree_set("[ab]{1,9}", 2..40), target in any::<prop::sample::Index>(), length in 1usize..8) {
        let names = Vec::from_iter(names);
        let target = target.get(&names);
        prop_assume!(length < target.len());
        let before = |typed: &str| {
            let typed = Typed::new(typed);
            let range = typed.beginning().expect("letters");
            let mut found: Vec<Candidate> = names.iter().filter(|name| has(&range, name)).map(|name| candidate(Evidence::Beginning, name)).collect();
            found.sort_by(Candidate::by_order);
            let found = found.into_iter().take_while(|found| found.key != *target).map(|found| found.key);
            found.collect::<Vec<String>>()
        };
        let (shorter, longer) = (before(&target[..length]), before(&target[..=length]));
        prop_assert!(longer.iter().all(|name| shorter.contains(name)));
    }

    /// Scores fall in the order of completions.
    #[test]
    fn scores_fall(typed in "[a-c]{1,6}", keys in prop::collection::vec(("[a-c]{0,6}", 0usize..2, prop::bool::ANY), 2..9)) {
        let typed = Typed::new(&typed);
        let evidence = [Evidence::Beginning, Evidence::Words];
        let of = |(rest, place, is_page): &(String, usize, bool)| Candidate {
            source: if *is_page { Source::Page } else { Source::Definition },
            ..candidate(evidence[*place], &format!("{}{rest}", typed.key))
        };
        let mut found: Vec<Candidate> = keys.iter().map(of).collect();
        found.sort_by(Candidate::by_order);
        let scores: Vec<f32> = found.iter().map(|found| typed.score(found)).collect();
        prop_assert!(scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|score| (0.0..=1.0).contains(score)));
    }

    /// Ranges are in the text, in order and apart, and have the letters that were typed.
    #[test]
    fn marks_are_ranges_of_the_text(typed in "\\PC{0,12}", suggestion in "\\PC{0,30}") {
        let length = suggestion.chars().count();
        let mut end = 0;
        for (from, until) in Typed::new(&typed).highlights(&suggestion) {
            prop_assert!(end <= from && from < until && until <= length);
            end = until;
        }
    }

    #[test]
    fn a_beginning_is_marked_whole(name in "([A-Z]?[a-zé]{1,5}[ ._]?){1,4}", typed in 1usize..20) {
        let typed: String = name.chars().take(typed).collect();
        let marks = Typed::new(&typed).highlights(&name);
        prop_assert_eq!(marks.len(), 1);
        let (from, until) = marks[0];
        let marked: String = name.chars().skip(from).take(until - from).collect();
        prop_assert_eq!(name::key(&marked), name::key(&typed));
        prop_assert_eq!(from, 0);
    }
}
