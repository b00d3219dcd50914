use proptest::prelude::*;

use super::*;

fn form(text: &str) -> String {
    Form::of(text).into_text().into_owned()
}

/// Characters with the compositions and compatibility forms that documentation has.
const CHARACTERS: &str = "([a-zé ]|[àêïõüÿßœøłđ]|[\u{300}-\u{30a}\u{323}\u{327}]|[ﬀ-ﬆ№™…½²₂µ\u{212b}]|[！-ｚ]\
    |[\u{ad}\u{200b}-\u{200f}\u{2060}\u{feff}\u{fe0f}]|[\u{2010}\u{2011}-]|[\u{ff76}-\u{ff79}]\u{ff9e}\
    |[\u{ac00}-\u{ac20}\u{1100}-\u{1102}\u{1161}-\u{1163}\u{11a8}-\u{11aa}]|[\u{915}-\u{939}\u{93c}\u{94d}\u{901}]\
    |[\u{e01}-\u{e4b}\u{e33}]|[\u{5d0}-\u{5ea}\u{5b0}-\u{5bc}]|[\u{627}-\u{64a}\u{64b}-\u{655}]|\\PC)";

fn texts(most: usize) -> impl Strategy<Value = String> {
    proptest::string::string_regex(&format!("{CHARACTERS}{{0,{most}}}")).expect("a regular expression")
}

#[test]
fn characters_of_one_meaning_have_one_form() {
    for (text, expected) in [
        ("cafe\u{301}", "café"),
        ("ﬁle oﬃce ﬂush", "file office flush"),
        ("ＡＰＩ１２３", "API123"),
        ("H₂O µm 5 Å", "H2O μm 5 Å"),
        ("re\u{ad}start data\u{200b}base", "restart database"),
        ("e\u{ad}\u{301}t", "ét"),
        ("co‑operative co‐operative", "co-operative co-operative"),
        ("ｶﾞﾗｽ", "ガラス"),
        ("می\u{200c}خواهم", "میخواهم"),
        ("各自 한국어 सर्वर straße", "各自 한국어 सर्वर straße"),
    ] {
        assert_eq!(form(text), expected);
    }
}

#[test]
fn most_texts_are_their_own_form() {
    for text in ["", "plain", "Ärger “naïve”", "中文", "한국어", "сервер", "सर्वर", "שָׁלוֹם"]
    {
        assert!(matches!(Form::of(text).into_text(), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn ranges_are_those_of_the_text() {
    let text = "a ﬁne cafe\u{301} now";
    let form = Form::of(text);
    let range = |word: &str| {
        let start = form.text().find(word).expect("a word of the form");
        &text[form.source_range(start..start + word.len())]
    };
    assert_eq!(
        [
            range("a"),
            range("fine"),
            range("café"),
            range("now"),
            range("f"),
            range("i")
        ],
        ["a", "ﬁne", "cafe\u{301}", "now", "ﬁ", "ﬁ"]
    );
}

#[test]
fn accents_that_are_left_out_leave_the_same_word() {
    for (word, bare) in [
        ("élève", "eleve"),
        ("Straße", "strasse"),
        ("cœur", "coeur"),
        ("Würzburg", "wurzburg"),
        ("Łódź", "lodz"),
        ("İstanbul", "istanbul"),
        ("ışık", "isik"),
        ("smørrebrød", "smorrebrod"),
        ("Đường", "duong"),
        ("ελληνικός", "ελληνικοσ"),
        ("её", "ее"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("إدارة", "ادارة"),
        ("مـحـمـد", "محمد"),
        ("Hawaiʻi", "hawaii"),
    ] {
        assert_eq!(unaccented(word).as_deref(), Some(bare), "{word}");
    }
}

#[test]
fn letters_of_a_script_are_no_accents() {
    for word in [
        "eleve",
        "सर्वर",
        "हिन्दी",
        "ติดตั้ง",
        "ガラス",
        "мой",
        "한국어",
        "বাংলা",
        "தமிழ்",
        "မြန်မာ",
    ] {
        assert_eq!(unaccented(word), None, "{word}");
    }
}

#[test]
fn divided_words_are_folded_to_one() {
    for (word, joined) in [
        ("co-operative", Some("cooperative")),
        ("E-Mail", Some("email")),
        ("UTF-8", Some("utf8")),
        ("col·lecció", Some("colleccio")),
        ("об'єкт", Some("обєкт")),
        ("plain", None),
        ("--flag", None),
        ("1-2", None),
        ("a.b-c", None),
    ] {
        assert_eq!(folded(word).as_deref(), joined, "{word}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_form_is_that_of_unicode(text in texts(30)) {
        let shown: String = text.chars().filter(|&c| !is_ignorable(c)).collect();
        let expected: String = shown.nfkc().collect::<String>().replace(HYPHEN, "-");
        prop_assert_eq!(form(&text), expected);
    }

    #[test]
    fn a_form_is_its_own_form(text in texts(30)) {
        let once = form(&text);
        prop_assert_eq!(form(&once), once);
    }

    #[test]
    fn ranges_divide_no_character_and_leave_none_out(text in texts(30), cut in 0usize..40) {
        let form = Form::of(&text);
        let length = form.text().len();
        let cut = form.text().floor_char_boundary(cut.min(length));
        let (before, after) = (form.source_range(0..cut), form.source_range(cut..length));
        prop_assert!(text.get(before.clone()).is_some() && text.get(after.clone()).is_some());
        prop_assert!(before.end >= after.start || text[before.end..after.start].chars().all(is_ignorable));
        if length > 0 {
            prop_assert_eq!(form.source_range(0..length).end, text.len());
        }
    }

    #[test]
    fn folding_does_not_depend_on_the_form_and_ends(text in texts(12)) {
        let decomposed: String = form(&text).nfd().collect();
        prop_assert_eq!(unaccented(&decomposed), unaccented(&form(&text)));
        if let Some(bare) = unaccented(&form(&text)) {
            prop_assert_eq!(unaccented(&bare), None);
        }
    }
}
