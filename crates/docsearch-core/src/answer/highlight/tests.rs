use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::select;
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::answer::snippet::{Match, Snippet, TextMatches, snippet};
use crate::query::lookup::{self, TermWeights};
use crate::text::line::is_hidden;
use crate::text::word::stem;

const WEIGHTS: TermWeights = TermWeights {
    part: 0.3,
    stop_word: 0.1,
    framed: false,
};

static RULES: LazyLock<Rules> = LazyLock::new(Rules::english);

/// Lexemes as the dictionaries of English give them.
fn lexemes(words: &[(TokenKind, String)]) -> Vec<Vec<String>> {
    let of_word = |(kind, word): &(TokenKind, String)| {
        let lower = word.to_lowercase();
        vec![match kind {
            TokenKind::Word | TokenKind::Part => stem(&lower).into_owned(),
            _ => lower,
        }]
    };
    words.iter().map(of_word).collect()
}

/// The terms of a query without an understanding of it, with what its mistyped words expand to.
fn terms(query: &str, corrections: &[(&str, &str)]) -> Vec<LookupTerm> {
    let tokens = lookup::query_tokens(query, None, &RULES);
    let words: Vec<(TokenKind, String)> = tokens.iter().map(|token| (token.kind, token.text.clone())).collect();
    let mut terms = lookup::terms(&tokens, &lexemes(&words), WEIGHTS);
    for (typed, meant) in corrections {
        let mistyped = terms.iter_mut().filter(|term| term.text == *typed);
        mistyped.for_each(|term| term.expansions.push(((*meant).to_owned(), 0.9)));
    }
    terms
}

fn query_words(wordings: &[Vec<LookupTerm>]) -> QueryWords<'_> {
    QueryWords::of(wordings.iter().map(|terms| (terms.as_slice(), &*RULES)))
}

/// The marks of a title.
fn title_marks(words: &mut QueryWords<'_>, title: &str) -> Vec<Mark> {
    let shown = distinct_words(std::iter::once(title));
    let found = lexemes(&shown);
    words.add(shown, &found);
    words.marks(title)
}

/// A snippet of a text, with the marks of its words by their positions.
fn snippet_of(words: &QueryWords<'_>, text: &str, max_chars: usize) -> Snippet {
    let form = Form::of(text);
    let shown: Vec<(TokenKind, String)> = tokens(form.text())
        .filter(|token| token.kind != TokenKind::Gap)
        .map(|token| (token.kind, token.word(form.text()).into_owned()))
        .collect();
    let known = |lexemes: &Vec<String>| {
        let known = lexemes.iter().filter_map(|lexeme| words.lexemes.get(lexeme.as_str()));
        known.copied().reduce(|any, one| any | one)
    };
    let found = (1..).zip(lexemes(&shown));
    let marked = found.filter_map(|(position, lexemes)| Some((position, known(&lexemes)?)));
    let marked: Vec<(u16, bool)> = marked.collect();
    let matches = marked.iter().map(|(position, _)| Match {
        position: *position,
        term: 0,
        weight: 1.0,
    });
    let matches: Vec<Match> = matches.collect();
    snippet(text, &TextMatches::of(text, &matches, &marked), max_chars)
}

/// The text with brackets around its marks.
fn bracketed(text: &str, marks: &[Mark]) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut shown = String::new();
    let mut at = 0;
    for Mark(start, end) in marks {
        let (start, end) = (*start as usize, *end as usize);
        shown.extend(&characters[at..start]);
        shown.push('[');
        shown.extend(&characters[start..end]);
        shown.push(']');
        at = end;
    }
    shown.extend(&characters[at..]);
    shown
}

/// Titles and snippets are marked alike.
fn check(query: &str, corrections: &[(&str, &str)], text: &str, expected: &str) {
    let wordings = [terms(query, corrections)];
    let mut words = query_words(&wordings);
    assert_eq!(bracketed(text, &title_marks(&mut words, text)), expected, "{query}");
    let shown = snippet_of(&words, text, 1_000);
    assert_eq!(bracketed(&shown.text, &shown.marks), expected, "snippet for {query}");
}

#[test]
fn s4_46_words_are_marked_in_every_form_in_which_they_are_found() {
    for (query, text, expected) in [
        (
            "installing",
            "Install it, then installed",
            "[Install] it, then [installed]",
        ),
        ("k8s", "Kubernetes and K8s", "[Kubernetes] and [K8s]"),
        ("btn", "A button", "A [button]"),
        ("usereducer", "The hook useReducer.", "The hook [useReducer]."),
        ("useReducer", "a reducer of useReducer", "a [reducer] of [useReducer]"),
        ("reducer", "useReducer(state)", "use[Reducer](state)"),
        ("work mem", "work_mem is work", "[work]_[mem] is [work]"),
        ("work_mem", "work_mem: the work mem", "[work_mem]: the [work] [mem]"),
        (
            "asyncio.run",
            "call asyncio.run() to run",
            "call [asyncio.run]() to [run]",
        ),
        ("eleve", "Un élève", "Un [élève]"),
        ("élève", "un eleve", "un [eleve]"),
        ("eleve", "e\u{301}le\u{300}ve", "[e\u{301}le\u{300}ve]"),
        ("cooperative", "co-operative work", "[co-operative] work"),
        ("file", "a ﬁle, a ｆｉｌｅ", "a [ﬁle], a [ｆｉｌｅ]"),
        ("co-op", "co\u{ad}op", "[co\u{ad}op]"),
        ("coop", "co\u{ad}op", "[co\u{ad}op]"),
        ("東京", "東京都の東京", "[東京]都の[東京]"),
        ("東京都", "東京都", "[東京都]"),
        ("strasse", "Die Straße", "Die [Straße]"),
        ("C++", "C++ and C", "[C++] and C"),
        ("--force", "with --force or -f", "with [--force] or -f"),
        ("15.4", "since 15.4, not 15", "since [15.4], not 15"),
    ] {
        check(query, &[], text, expected);
    }
}

#[test]
fn what_a_mistyped_word_expands_to_is_marked() {
    check(
        "buton",
        &[("buton", "button")],
        "Button, buttons",
        "[Button], [buttons]",
    );
}

#[test]
fn stop_words_are_marked_within_a_phrase_only() {
    for (query, text, expected) in [
        (
            "how to install the kit",
            "To install the kit, open the box of the kit",
            "To [install] [the] [kit], open the box of the [kit]",
        ),
        (
            "list and tuple",
            "Lists and sets. And tuples",
            "[Lists] and sets. And [tuples]",
        ),
        ("state of the art", "state-of-the-art", "[state]-[of]-[the]-[art]"),
        ("to be or not", "not to be", "[not] [to] [be]"),
        (
            "the IN operator",
            "IN in the operator in",
            "[IN] [in] [the] [operator] [in]",
        ),
        ("isAdmin", "it is an admin", "it is an [admin]"),
        ("x_1", "1 x and x_1", "1 x and [x_1]"),
    ] {
        check(query, &[], text, expected);
    }
}

#[test]
fn the_words_of_every_wording_are_marked() {
    let wordings = [terms("the browser went away", &[]), terms("clients abort", &[])];
    let mut words = query_words(&wordings);
    let title = "Abort: when a browser is away";
    let marks = title_marks(&mut words, title);
    assert_eq!(bracketed(title, &marks), "[Abort]: when a [browser] is [away]");
    assert_eq!(title_marks(&mut query_words(&[]), title), []);
}

#[test]
fn marks_are_of_the_text_that_is_shown() {
    let wordings = [terms("kiln", &[])];
    let words = query_words(&wordings);
    let text = format!(
        "{}A\n ki\u{200b}ln \u{202e}burns {}",
        "é word ".repeat(99),
        "more ".repeat(99)
    );
    let shown = snippet_of(&words, &text, 24);
    assert_eq!(bracketed(&shown.text, &shown.marks), "… [kiln] burns more more …");
}

#[test]
fn html_is_safe_in_elements_and_attributes() {
    let text = "a <b> & \"c\" 'd'";
    assert_eq!(
        html(text, &[Mark(0, 1), Mark(3, 4), Mark(14, 15)]),
        "<mark>a</mark> &lt;<mark>b</mark>&gt; &amp; &quot;c&quot; &#39;d<mark>&#39;</mark>"
    );
}

/// Words of many scripts, text that looks like markup, and characters that combine with others or are not seen.
const PIECES: [&str; 42] = [
    "install",
    "Installing",
    "the",
    "useReducer",
    "work_mem",
    "kiln",
    "zebra",
    "élève",
    "e\u{301}le\u{300}ve",
    "ﬁle",
    "ｆｕｌｌ",
    "東京都",
    "が",
    "か\u{3099}",
    "가각",
    "\u{1100}\u{1161}\u{11a8}",
    "नमस्ते",
    "क्षि",
    "ไทยภาษา",
    "שָׁלוֹם",
    "عَرَبِي",
    "\u{600}12",
    "👨\u{200d}👩\u{200d}👧",
    "🇩🇪🇫🇷",
    "❤\u{fe0f}",
    "<b>",
    "&amp;",
    "\"'",
    "</mark>",
    "\u{202e}",
    "\u{2067}",
    "\u{200b}",
    "\u{ad}",
    "\u{301}",
    "\u{a0}\u{301}",
    "\u{1b}[31m",
    "-",
    ".",
    " ",
    "\n",
    "\r\n",
    "  ",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![8 => select(&PIECES[..]).prop_map(str::to_owned), 1 => "\\PC", 1 => Just(" ".to_owned())];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

fn spaced() -> impl Strategy<Value = String> {
    proptest::collection::vec(select(&PIECES[..31]), 1..40).prop_map(|pieces| pieces.join(" "))
}

/// Asserts that marks are in bounds, in order and apart, and divide no character.
fn assert_marks(text: &str, marks: &[Mark]) -> Result<(), TestCaseError> {
    let mut boundaries: Vec<u32> = vec![0];
    for cluster in text.graphemes(true) {
        boundaries.push(boundaries[boundaries.len() - 1] + cluster.chars().count() as u32);
    }
    let mut end = 0;
    for (number, mark) in marks.iter().enumerate() {
        prop_assert!(
            mark.0 < mark.1 && (mark.0 > end || number == 0),
            "{:?} in {:?}",
            marks,
            text
        );
        prop_assert!(
            boundaries.contains(&mark.0) && boundaries.contains(&mark.1),
            "{:?} in {:?}",
            marks,
            text
        );
        end = mark.1;
    }
    Ok(())
}

/// The text of an element, as a browser reads it.
fn text_of(html: &str) -> String {
    let without_tags = html.replace("<mark>", "").replace("</mark>", "");
    let names = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    names.iter().fold(without_tags, |text, (name, c)| text.replace(name, c))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn s4_46_marks_of_any_text_divide_no_character_and_html_has_the_same_text(
        text in hostile(), query in hostile(), max_chars in 10usize..200,
    ) {
                let wordings = [terms(&query, &[])];
        let mut words = query_words(&wordings);
        let marks = title_marks(&mut words, &text);
        assert_marks(&text, &marks)?;
        let shown = snippet_of(&words, &text, max_chars);
        assert_marks(&shown.text, &shown.marks)?;
        prop_assert!(!shown.text.contains(is_hidden), "{:?}", shown.text);
        for (text, marks) in [(&text, &marks), (&shown.text, &shown.marks)] {
            let html = html(text, marks);
            prop_assert_eq!(&text_of(&html), text);
            let bare = html.replace("<mark>", "").replace("</mark>", "");
            prop_assert!(!bare.contains(['<', '>', '"', '\'']));
            prop_assert_eq!(html.matches("<mark>").count(), marks.len());
        }
    }

    #[test]
    fn marks_of_any_ranges_divide_no_character(text in hostile(), ends in proptest::collection::vec((0usize..200, 0usize..12, any::<bool>()), 0..12)) {
        let edges: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let found = ends.iter().map(|&(start, length, is_significant)| {
            let start = start % edges.len();
            let end = (start + length).min(edges.len() - 1);
            FoundWord { range: edges[start]..edges[end], is_significant }
        });
        assert_marks(&text, &marks(&text, found.collect()))?;
    }

    #[test]
    fn s4_46_every_word_of_the_query_is_marked_and_no_other(
        text in spaced(), words in proptest::collection::vec(select(vec!["install", "kiln", "work_mem", "ﬁle", "東京都", "नमस्ते"]), 1..4), max_chars in 20usize..300,
    ) {
                let wordings = [terms(&words.join(" "), &[])];
        let mut own = query_words(&wordings);
        let marks = title_marks(&mut own, &text);
        let shown = snippet_of(&own, &text, max_chars);
        for (text, marks) in [(text.as_str(), marks.as_slice()), (&shown.text, &shown.marks)] {
            let mut start = 0;
            for word in text.split(' ') {
                let end = start + word.chars().count() as u32;
                let is_marked = marks.iter().any(|mark| mark.0 <= start && end <= mark.1);
                let is_touched = marks.iter().any(|mark| mark.0 < end && start < mark.1);
                prop_assert!(is_marked || !words.contains(&word), "{} in {:?} of {:?}", word, marks, text);
                prop_assert!(!is_touched || !["zebra", "useReducer", "the", "élève"].contains(&word), "{}", word);
                start = end + 1;
            }
        }
    }
}
