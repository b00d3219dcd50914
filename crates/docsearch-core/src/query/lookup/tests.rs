use super::*;
use crate::query::container::KnownNames;

fn tokens_of(text: &str) -> Vec<QueryToken> {
    query_tokens(text, None, &Rules::english())
}

fn weighing(part: f32) -> TermWeights {
    TermWeights {
        part,
        stop_word: 0.1,
        framed: false,
    }
}

fn terms_of(tokens: &[QueryToken]) -> Vec<LookupTerm> {
    let lexemes: Vec<Vec<String>> = tokens.iter().map(|token| vec![token.text.to_lowercase()]).collect();
    terms(tokens, &lexemes, weighing(0.3))
}

#[test]
fn s0_21_synonyms_are_looked_up_too() {
    let terms = terms_of(&tokens_of("btn style"));
    assert_eq!(terms.len(), 2);
    assert_eq!(terms[0].lexemes, ["btn"]);
    assert_eq!(terms[0].expansions, [("button".to_owned(), SYNONYM_CLOSENESS)]);
}

#[test]
fn s2_3_verbs_are_looked_up_with_their_synonyms() {
    let rules = Rules::english();
    let terms = |text: &str| {
        let understood = Understanding::read(text, &rules, &KnownNames::default());
        terms_of(&query_tokens(text, Some(&understood), &rules))
    };
    let save = terms("save a file");
    assert!(
        save[0].expansions.iter().any(|(lexeme, _)| lexeme == "write"),
        "{save:?}"
    );
    let get_rid_of = terms("get rid of a file");
    assert!(get_rid_of[0].lexemes == ["get"] && get_rid_of[0].weight < 1.0);
    let delete = get_rid_of.iter().find(|term| term.lexemes == ["delete"]);
    assert!(delete.is_some_and(|term| term.expansions.iter().any(|(lexeme, _)| lexeme == "remove")));
}

#[test]
fn what_a_phrase_means_is_expanded_and_is_not_in_the_query() {
    let rules = Rules::english();
    let text = "get rid of a file";
    let understood = Understanding::read(text, &rules, &KnownNames::default());
    let tokens = query_tokens(text, Some(&understood), &rules);
    let expanded: Vec<&QueryToken> = tokens
        .iter()
        .filter(|token| !token.is_spelling)
        .filter_map(|token| token.expands)
        .map(|(at, _)| &tokens[at])
        .collect();
    assert!(!expanded.is_empty());
    for token in expanded {
        assert_eq!(
            (token.text.as_str(), token.expands, token.written),
            ("delete", None, false)
        );
    }
    let written: Vec<String> = terms_of(&tokens)
        .into_iter()
        .filter(|term| term.written)
        .map(|term| term.lexemes[0].clone())
        .collect();
    assert_eq!(written, ["get", "rid", "of", "a", "file"]);
}

#[test]
fn a_word_is_looked_up_with_and_without_accents_and_hyphens() {
    let spellings = |text: &str| terms_of(&tokens_of(text))[0].spellings.clone();
    assert_eq!(spellings("eleve"), ["~eleve"]);
    assert_eq!(spellings("élève"), ["eleve", "~eleve"]);
    assert_eq!(spellings("cooperative"), ["~cooperative"]);
    assert_eq!(spellings("co-operative"), ["cooperative", "~cooperative"]);
    assert_eq!(spellings("42"), Vec::<String>::new());
}

#[test]
fn queries_are_in_the_form_in_which_texts_are_compared() {
    for (written, plain) in [
        ("ﬁle", "file"),
        ("cafe\u{301}", "café"),
        ("re\u{ad}start", "restart"),
        ("ＡＰＩ", "API"),
    ] {
        assert_eq!(terms_of(&tokens_of(written)), terms_of(&tokens_of(plain)), "{written}");
    }
}

#[test]
fn of_a_run_without_spaces_pairs_are_looked_up_and_of_one_character_itself() {
    let words = |text: &str| tokens_of(text).into_iter().map(|token| token.text).collect::<Vec<_>>();
    assert_eq!(words("备份数据"), ["备份", "份数", "数据"]);
    assert_eq!(words("热"), ["热", "~热"]);
}

#[test]
fn the_word_and_its_folded_form_are_one_occurrence() {
    let term = &terms_of(&tokens_of("élève"))[0];
    let count = |lexeme: &str| match lexeme {
        "élève" => 4.0,
        "eleve" => 2.0,
        "~eleve" => 5.0,
        _ => 0.0,
    };
    assert_eq!(term.frequency(count), 6.0);
}

#[test]
fn what_the_dictionaries_drop_is_not_looked_up() {
    let tokens = tokens_of("the button");
    let lexemes = [Vec::new(), vec!["button".to_owned()]];
    let terms = terms(&tokens, &lexemes, weighing(0.5));
    assert_eq!(terms.len(), 1);
    assert_eq!(terms[0].lexemes, ["button"]);
}

#[test]
fn a_repeated_word_counts_as_the_stronger() {
    // First a part of an identifier, then a word of its own.
    let terms = terms_of(&tokens_of("table_view view"));
    let view = terms.iter().find(|term| term.lexemes == ["view"]).expect("a term");
    assert_eq!((view.weight, view.written), (1.0, true));
    assert_eq!(terms.iter().filter(|term| term.lexemes == ["view"]).count(), 1);
}

#[test]
fn the_words_of_an_expansion_count_as_parts() {
    let terms = terms_of(&tokens_of("rbac"));
    assert_eq!((terms[0].weight, terms[0].whole), (1.0, true));
    let both = terms_of(&tokens_of("access rbac"));
    assert!(
        both[0].lexemes == ["access"] && both[0].written && both[0].weight == 1.0,
        "{both:?}"
    );
    let rest = terms[1..].iter().filter(|term| !term.whole);
    assert!(
        rest.clone().count() > 1 && rest.clone().all(|term| term.weight == 0.3),
        "{terms:?}"
    );
}

#[test]
fn a_word_is_also_looked_up_as_written() {
    let tokens = tokens_of("asyncimage Button button");
    let lexemes = [vec!["asyncimag".into()], vec!["button".into()], vec!["button".into()]];
    let terms = terms(&tokens, &lexemes, weighing(0.5));
    assert_eq!(terms.len(), 2);
    assert_eq!(terms[0].lexemes, ["asyncimag", "asyncimage"]);
    assert_eq!(terms[1].lexemes, ["button"]);
}

#[test]
fn parts_count_less_than_the_identifier() {
    let tokens = tokens_of("UITableView");
    let lexemes: Vec<Vec<String>> = tokens.iter().map(|token| vec![token.text.to_lowercase()]).collect();
    let weights: Vec<f32> = terms(&tokens, &lexemes, weighing(0.25))
        .iter()
        .map(|term| term.weight)
        .collect();
    assert_eq!(weights, [1.0, 0.25, 0.25, 0.25]);
}

#[test]
fn stop_words_weigh_less_in_sentences_only() {
    let weight = |text: &str, word: &str| {
        let term = terms_of(&tokens_of(text))
            .into_iter()
            .find(|term| term.lexemes == [word]);
        term.map(|term| term.weight)
    };
    let sentence = "what is the best way to keep old files";
    assert_eq!(weight(sentence, "the"), Some(0.1));
    assert_eq!(weight(sentence, "what"), Some(0.1));
    assert_eq!(weight(sentence, "keep"), Some(1.0));
    assert_eq!(
        weight("what is the best way", "the"),
        Some(1.0),
        "each of few words is meant"
    );
    let tokens = tokens_of("what is the best");
    let lexemes: Vec<Vec<String>> = tokens.iter().map(|token| vec![token.text.clone()]).collect();
    let framed = TermWeights {
        framed: true,
        ..weighing(0.3)
    };
    assert_eq!(
        terms(&tokens, &lexemes, framed)[2].weight,
        0.1,
        "but where they only frame a name"
    );
    let code = "how can I call an object's __the__ from a script";
    assert_eq!(weight(code, "__the__"), Some(1.0));
}

#[test]
fn lexemes_are_quoted() {
    assert_eq!(any_of(["it's", "a\\b"]), r"'it''s' | 'a\\b'");
}
