use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::text::form::is_mark;

fn shown(text: &str) -> Vec<String> {
    tokens(text)
        .filter(|token| token.kind != TokenKind::Gap)
        .map(|token| format!("{}:{}", token.kind.alias(), token.word(text)))
        .collect()
}

#[test]
fn an_identifier_comes_whole_and_in_parts() {
    assert_eq!(
        shown("UITableView"),
        ["identifier:UITableView", "part:UI", "part:Table", "part:View"]
    );
    assert_eq!(
        shown("snake_case"),
        ["identifier:snake_case", "part:snake", "part:case"]
    );
    assert_eq!(
        shown("std::vector"),
        ["qualified:std::vector", "part:std", "part:vector"]
    );
    assert_eq!(
        shown("AsyncImagePhase.failure"),
        [
            "qualified:AsyncImagePhase.failure",
            "identifier:AsyncImagePhase",
            "part:Async",
            "part:Image",
            "part:Phase",
            "part:failure"
        ]
    );
    assert_eq!(
        shown("--long-flag"),
        [
            "identifier:--long-flag",
            "identifier:long-flag",
            "folded:~longflag",
            "part:long",
            "part:flag"
        ]
    );
    assert_eq!(
        shown("C++ and C#"),
        ["identifier:C++", "part:C", "word:and", "identifier:C#", "part:C"]
    );
}

#[test]
fn a_sign_before_a_name_belongs_to_it() {
    for name in [
        ".gitignore",
        "$HOME",
        "@media",
        "-Wall",
        ":has",
        "::before",
        ":root",
        "%timeit",
        "%in%",
        "!important",
        "#include",
        "&mut",
    ] {
        let bare = name.trim_matches(|c: char| !c.is_alphabetic());
        for text in [
            name.to_owned(),
            format!("see `{name}`"),
            format!("({name})"),
            format!("a {name} b"),
        ] {
            let tokens = shown(&text);
            let whole = tokens.iter().position(|token| *token == format!("identifier:{name}"));
            let whole = whole.unwrap_or_else(|| panic!("{text}: {tokens:?}"));
            assert_eq!(tokens[whole + 1], format!("part:{bare}"), "{text}");
        }
    }
    assert_eq!(shown("a:b x%y, 50% off, it's #1!"), shown("a b x y, 50 off, it s 1"));
    assert_eq!(shown("sorted: by"), ["word:sorted", "word:by"]);
    assert_eq!(shown("'1'::int"), ["number:1", "operator:::", "word:int"]);
}

#[test]
fn operators_versions_and_codes_are_tokens() {
    assert_eq!(
        shown("a @> b || c"),
        ["word:a", "operator:@>", "word:b", "operator:||", "word:c"]
    );
    assert_eq!(shown("[["), ["operator:[["]);
    assert_eq!(shown("!"), ["operator:!"]);
    assert_eq!(shown("42P01"), ["numword:42P01"]);
    assert_eq!(
        shown("1.0.0-rc.15 v2.0 3.14 15"),
        ["version:1.0.0-rc.15", "version:v2.0", "number:3.14", "number:15"]
    );
}

#[test]
fn sentences_end_without_leaving_marks() {
    assert_eq!(shown("It works. (Really!)"), ["word:It", "word:works", "word:Really"]);
    assert_eq!(shown("x -- y - z"), ["word:x", "operator:--", "word:y", "word:z"]);
    assert_eq!(shown("======="), Vec::<String>::new());
}

#[test]
fn unspaced_scripts_give_bigrams() {
    assert_eq!(
        shown("文本件"),
        ["part:文", "bigram:文本", "part:本", "bigram:本件", "part:件"]
    );
    assert_eq!(shown("a文b"), ["word:a", "word:文", "word:b"]);
    assert_eq!(
        shown("ตั้งค่า ๑๒"),
        [
            "part:ตั้",
            "bigram:ตั้ง",
            "part:ง",
            "bigram:งค่",
            "part:ค่",
            "bigram:ค่า",
            "part:า",
            "word:๑๒"
        ]
    );
}

#[test]
fn marks_belong_to_their_words() {
    for word in [
        "सर्वर",
        "स्थापित",
        "हिन्दी",
        "தமிழ்நாடு",
        "সার্ভার",
        "ಸರ್ವರ್",
        "සේවාදායකය",
        "བོད་",
        "naive\u{331}",
        "ẹ\u{301}kọ\u{301}",
        "مُحَمَّد",
        "שָׁלוֹם",
        "ܫܠܳܡܳܐ",
    ] {
        let word = word.trim_end_matches('་');
        let tokens = shown(word);
        assert_eq!(tokens[0], format!("word:{word}"), "{tokens:?}");
        assert!(
            tokens[1..].iter().all(|token| token.starts_with("folded:")),
            "{tokens:?}"
        );
    }
    assert_eq!(shown("\u{301}a \u{301}"), ["word:a"]);
}

#[test]
fn a_word_with_accents_or_hyphens_is_followed_by_its_folded_form() {
    assert_eq!(shown("Élève"), ["word:Élève", "folded:~eleve"]);
    assert_eq!(
        shown("E-Mail"),
        ["identifier:E-Mail", "folded:~email", "part:E", "part:Mail"]
    );
    assert_eq!(
        shown("größe_x"),
        [
            "identifier:größe_x",
            "folded:~grosse_x",
            "part:größe",
            "folded:~grosse",
            "part:x"
        ]
    );
    assert_eq!(word_count("un élève co-operative"), 3);
}

#[test]
fn signs_within_words_join_them() {
    assert_eq!(
        shown("col·lecció"),
        [
            "identifier:col·lecció",
            "folded:~colleccio",
            "part:col",
            "part:lecció",
            "folded:~leccio"
        ]
    );
    for word in ["צה״ל", "צה\"ל", "ג'ירפה", "об'єкт", "об’єкт"] {
        assert!(shown(word)[0] == format!("identifier:{word}"), "{word}");
    }
    assert_eq!(shown("l'eau"), ["word:l", "word:eau"]);
    assert_eq!(shown("\"слово\""), ["word:слово"]);
}

/// Words as the standard divides texts (UAX 29), without those that this parser divides on purpose: at apostrophes and
/// full stops, and in scripts without spaces.
fn words_of_the_standard(text: &str) -> Vec<&str> {
    let is_plain = |word: &&str| {
        let letters = |c: char| (c.is_alphabetic() || is_mark(c)) && !is_unspaced(c);
        word.chars().all(letters)
    };
    text.unicode_words().filter(is_plain).collect()
}

#[test]
fn lengths_count_original_words_only() {
    assert_eq!(word_count("UITableView shows os.path.join"), 3);
}

#[test]
fn a_long_run_is_cut() {
    let text = "x".repeat(5000);
    let lengths: Vec<usize> = tokens(&text)
        .filter(|t| t.kind != TokenKind::Gap)
        .map(|t| t.range.len())
        .collect();
    assert_eq!(lengths, [MAX_TOKEN_BYTES]);
}

proptest! {
    #[test]
    fn the_text_is_its_tokens_again(text in "(\\PC|[a-zA-Z0-9_.:\\-+#@$ \n]|[文本ファ]){0,60}") {
        let again: String = tokens(&text)
            .filter(|token| !token.kind.is_whole() && token.kind != TokenKind::Folded)
            .map(|token| &text[token.range])
            .collect();
        prop_assert_eq!(again, text);
    }

    #[test]
    fn words_are_those_of_the_standard(
        words in proptest::collection::vec(
            "[a-zé]{1,5}[\u{300}-\u{304}]?|[а-яё]{1,6}|[α-ω]{1,6}|[א-ת][\u{5b0}-\u{5bc}]?[א-ת]|([ا-ي][\u{64b}-\u{652}]?){1,5}\
             |([क-ह][ा-ौ्ं]?){1,4}|([க-ஹ][\u{bbe}\u{bbf}\u{bcd}]?){1,4}|([ক-হ][\u{9be}\u{9cd}]?){1,4}|[ա-ֆ]{1,5}|[ა-ჰ]{1,5}|[ሀ-ቆ]{1,4}",
            1..8,
        ),
        separator in "[ ,;()«»।]",
    ) {
        let text = words.join(&separator);
        let form = Form::of(&text);
        let found: Vec<&str> = tokens(form.text())
            .filter(|token| token.kind == TokenKind::Word)
            .map(|token| &form.text()[token.range])
            .collect();
        for word in words_of_the_standard(form.text()) {
            prop_assert!(found.contains(&word), "{:?} of {:?}", word, found);
        }
    }

    /// The text after a word only decides whether the word continues.
    #[test]
    fn a_word_is_the_same_before_any_end(word in "[a-z]{1,20}|[a-z]{250,260}", end in "|[ \n,;)]") {
        // With a mark after it, the word is scanned in full.
        let full = format!("{word}!");
        let text = format!("{word}{end}");
        let words = |text: &str| tokens(text).filter(|token| token.kind != TokenKind::Gap).collect::<Vec<_>>();
        prop_assert_eq!(words(&text), words(&full));
    }
}
