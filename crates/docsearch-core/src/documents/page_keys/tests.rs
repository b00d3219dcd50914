use proptest::prelude::*;

use super::*;
use crate::text::identifier::words;
use crate::text::word::Word;

/// Names and prose of all scripts, with marks of names of code, ligatures, combining marks, and words with stems.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[A-Za-z]{1,9}",
        2 => "(creat|delet|fil|stor|dy|sk|librar|organiz|relat|happ|us)(e|es|ed|ing|ies|ation|ational|y|ily)?",
        2 => "[ _./:()#+-]{1,2}( — )?",
        1 => "[0-9]{1,3}",
        1 => "\\PC{0,4}",
        1 => "[ΣσςİıßﬁK\u{301}\u{345}Åé文件メЖ\u{3099}ﷺ]{1,3}",
    ];
    proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

/// Slugs and categories.
fn paths() -> impl Strategy<Value = String> {
    let segment = prop_oneof![3 => texts(), 1 => "(v[0-9]\\.[0-9]|blog|releases|index)(\\.md|\\.html)?"];
    let path = proptest::collection::vec(segment, 0..4).prop_map(|segments| segments.join("/"));
    (path, "/{0,2}").prop_map(|(path, end)| path + &end)
}

fn texts_of<'a>(words: impl Iterator<Item = KeyWord<'a>>) -> Vec<String> {
    let text = |word: KeyWord<'_>| String::from_utf8(word.text.to_vec()).expect("UTF-8");
    words.map(text).collect()
}

fn keys_of<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<Vec<u8>> {
    texts.map(|text| key(text).into_bytes()).collect()
}

#[test]
fn keys_of_a_page_are_hardly_longer_than_its_texts() {
    for (title, slug, category) in [
        ("UITableView", "uikit/uitableview", "Views"),
        (
            "frame(width:height:)",
            "documentation/swiftui/view/frame.md",
            "SwiftUI/View",
        ),
        (
            "Working with files",
            "guides/storage/working-with-files.html",
            "Guides/Storage",
        ),
    ] {
        let texts = title.len() + slug.len() + category.len();
        let keys = PageKeys::of(title, slug, Some(category)).0.len();
        assert!(keys <= texts * 3 / 2, "{title}: {keys} of {texts}");
    }
}

#[test]
fn what_is_too_long_is_not_stored() {
    assert_eq!(PageKeys::of(&"many words ".repeat(90), "x", None).stored(), None);
    let other = PageKeys::of("A", "b", None);
    let mut longer = other.0.clone();
    longer.resize(MAX_STORED_BYTES + 1, 0);
    assert_eq!(PageKeys::read(longer), None);
}

#[test]
fn other_versions_are_not_read() {
    let mut stored = PageKeys::of("A", "b", None).0;
    assert!(PageKeys::read(stored.clone()).is_some());
    stored[0] = VERSION + 1;
    assert_eq!(PageKeys::read(stored), None);
    assert_eq!(PageKeys::read(Vec::new()), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn keys_say_what_the_texts_say(title in texts(), slug in paths(), category in proptest::option::of(paths())) {
        let keys = PageKeys::of(&title, &slug, category.as_deref());
        let parts = keys.parts();
        let title_words: Vec<String> = words(&title).into_iter().map(|word| folded(&title[word])).collect();
        prop_assert_eq!(texts_of(parts.title.words()), title_words.clone());
        prop_assert!(parts.title.key == key(&title).as_bytes());
        prop_assert!(parts.symbol == key(symbol(&title).unwrap_or(&title)).as_bytes());
        let leaf = slug_leaf(&slug);
        prop_assert!(parts.leaf == key(leaf).as_bytes());
        let mut leaf_words: Vec<String> = words(leaf).into_iter().map(|word| folded(&leaf[word])).collect();
        leaf_words.retain(|word| !title_words.contains(word));
        prop_assert_eq!(texts_of(parts.leaf_words.words()), leaf_words);
        let mut above = keys_of(slug.trim_end_matches('/').rsplit('/').skip(1));
        above.reverse();
        prop_assert_eq!(parts.above().map(<[u8]>::to_vec).collect::<Vec<_>>(), above);
        let mut segments = keys_of(slug.rsplit('/').skip(1));
        segments.reverse();
        prop_assert_eq!(parts.segments().map(<[u8]>::to_vec).collect::<Vec<_>>(), segments);
        let category = category.unwrap_or_default();
        let levels = keys_of(category.split('/'));
        prop_assert_eq!(parts.levels().map(|level| level.key.to_vec()).collect::<Vec<_>>(), levels);
        let plain = category.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty());
        prop_assert_eq!(texts_of(parts.levels().flat_map(|level| level.words())), plain.map(folded).collect::<Vec<_>>());
    }

    #[test]
    fn a_word_has_its_stem_and_matches_by_it(text in texts(), long in any::<bool>(), other in "[a-z]{1,9}") {
        let title = if long { text.clone() + &" ".repeat(MAX_STORED_BYTES) } else { text };
        let keys = PageKeys::of(&title, "", None);
        let mut buffer = Vec::new();
        for word in keys.parts().title.words() {
            let text = std::str::from_utf8(word.text).expect("UTF-8");
            prop_assert!(word.any_stem(&mut buffer) == stem(text).as_bytes());
            for asked in [Word::new(&other), Word::new(text), Word::new(&stem(text))] {
                if let Some(stem) = word.stem(&mut buffer) {
                    prop_assert_eq!(stem == asked.stem.as_bytes(), asked.matches(text), "{} {}", asked.text, text);
                }
            }
        }
    }

    #[test]
    fn what_is_stored_is_read_again(title in texts(), slug in paths(), category in proptest::option::of(paths())) {
        let keys = PageKeys::of(&title, &slug, category.as_deref());
        if let Some(stored) = keys.stored() {
            prop_assert_eq!(PageKeys::read(stored.to_vec()), Some(keys.clone()));
            for length in 0..stored.len() {
                prop_assert_eq!(PageKeys::read(stored[..length].to_vec()), None);
            }
        }
    }

    #[test]
    fn any_bytes_are_keys_or_none(
        title in texts(), slug in paths(), changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        bytes in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut changed = PageKeys::of(&title, &slug, Some("a/b")).0;
        for (place, byte) in changes {
            let place = place.index(changed.len());
            changed[place] = byte;
        }
        let bytes = [vec![VERSION], bytes].concat();
        for keys in [changed, bytes].into_iter().filter_map(PageKeys::read) {
            let parts = keys.parts();
            let words = parts.title.words().chain(parts.leaf_words.words());
            let words = words.chain(parts.levels().flat_map(|level| level.words()));
            let mut buffer = Vec::new();
            for word in words {
                let length = word.stem(&mut buffer).map_or(0, <[u8]>::len);
                prop_assert!(length <= word.text.len());
                word.any_stem(&mut buffer);
            }
            prop_assert!(parts.above().count() <= parts.segments().count());
        }
    }
}
