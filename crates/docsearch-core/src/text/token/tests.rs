use super::*;
use proptest::prelude::*;

fn shown(text: &str) -> Vec<String> {
    tokens(text)
        .filter(|token| token.kind != TokenKind::Gap)
        .map(|token| format!("{}:{}", token.kind.alias(), &text[token.range]))
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
    assert_eq!(shown("文本文件"), ["bigram:文本", "bigram:本文", "bigram:文件"]);
    assert_eq!(shown("a文b"), ["word:a", "word:文", "word:b"]);
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
            .filter(|token| !token.kind.is_whole())
            .map(|token| &text[token.range])
            .collect();
        prop_assert_eq!(again, text);
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
