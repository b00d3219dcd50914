//! The name in a title as generators of references write it: `ns::Deque< T > Class Template Reference`, `Deque<T> Class
//! (Kit.Collections) | Docs`, `Enum.map/2`, `The Deque class`, `Trait Write (io)`.

use std::collections::BTreeSet;

use crate::text::identifier::is_identifier;
use crate::text::token::qualified_segments;

/// Longest word for a kind, in words: `class template reference`.
const MAX_KIND_WORDS: usize = 3;
/// Most words of a title that names one thing, with those of its kind. Longer ones are sentences.
const MAX_TITLE_WORDS: usize = 8;
/// Marks before the name of a site: `Deque class | Kit`.
const SITE_MARKS: [&str; 6] = [" | ", " — ", " – ", " - ", " -- ", " · "];

/// Words of titles that are no names.
#[derive(Clone, Copy, Debug)]
pub struct TitleWords<'a> {
    /// Kinds of things in lower case, of up to three words: `class`.
    pub kinds: &'a BTreeSet<String>,
    /// Articles in lower case.
    pub articles: &'a BTreeSet<String>,
}

/// The name that a title documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentedName {
    /// The name without arguments, generic parameters and arity: `ns::Deque`, `Enum.map`.
    pub name: String,
    /// What the title says that it belongs to: `Kit.Collections`.
    pub qualifier: Option<String>,
}

impl DocumentedName {
    /// Parses a title. `leaf` is the last part of the slug. `None` if the title is the name, has none, or is a
    /// sentence.
    ///
    /// A name has the form of code, or the leaf is made of it: `Macro write` documents `write` at `macro.write`, and
    /// `Interface design` at `interface-design` documents nothing.
    pub fn of_title(title: &str, leaf: &str, words: TitleWords<'_>) -> Option<Self> {
        let whole = title.trim();
        let ends = SITE_MARKS.iter().filter_map(|mark| whole.find(mark));
        let head = whole[..ends.min().unwrap_or(whole.len())].trim();
        let (head, qualifier) = split_qualifier(head);
        let bare = without_parameters(head);
        let all: Vec<&str> = bare.split_whitespace().collect();
        if all.len() > MAX_TITLE_WORDS {
            return None;
        }
        let rest = without_kinds(&all, words);
        let [name] = rest.as_slice() else {
            // "Button.Click Event (System.Windows)": the kind is not known.
            let [name, _] = rest.as_slice() else { return None };
            let stated = qualifier.filter(|qualifier| is_identifier(qualifier) && is_identifier(name));
            return stated.map(|qualifier| Self::new(name, Some(qualifier)));
        };
        let name = without_arity(name);
        let is_whole = name == whole;
        let is_name = is_identifier(name) || bare.len() < head.len() || is_made_of(leaf, name);
        (is_name && !is_whole && name.contains(char::is_alphabetic)).then(|| Self::new(name, qualifier))
    }

    fn new(name: &str, qualifier: Option<&str>) -> Self {
        Self {
            name: name.to_owned(),
            qualifier: qualifier.map(str::to_owned),
        }
    }

    /// Its last part: `Deque` of `ns::Deque`.
    pub fn member(&self) -> &str {
        let last = qualified_segments(&self.name).pop();
        last.map_or(&self.name, |last| &self.name[last])
    }

    /// Its spellings with less and less of the path before it, the member alone last: `a::b::C`, `b::C`, `C`.
    pub fn suffixes(&self) -> impl Iterator<Item = &str> {
        let segments = qualified_segments(&self.name).into_iter();
        segments.map(|segment| &self.name[segment.start..])
    }
}

/// Splits the qualifier in parentheses off the end.
fn split_qualifier(head: &str) -> (&str, Option<&str>) {
    let inside = head.strip_suffix(')').and_then(|open| open.rsplit_once(" ("));
    match inside {
        Some((before, inside)) if !before.trim().is_empty() && !inside.contains(['(', ')']) => {
            (before.trim(), Some(inside.trim()))
        }
        _ => (head, None),
    }
}

/// A text without parentheses, angle and square brackets after a name, and what is in them. Brackets without a partner stay.
fn without_parameters(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['(', '<', '[']) {
        let (before, inside) = rest.split_at(at);
        let follows_name = before.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let end = closing(inside).filter(|_| follows_name);
        let Some(end) = end else {
            let next = at + inside.chars().next().map_or(0, char::len_utf8);
            kept.push_str(&rest[..next]);
            rest = &rest[next..];
            continue;
        };
        kept.push_str(before.trim_end());
        rest = &inside[end..];
        // A part of the path goes on at once; a word does not.
        if rest.starts_with(char::is_alphanumeric) {
            kept.push(' ');
        }
    }
    kept.push_str(rest);
    kept
}

/// The end of the brackets that a text begins with. Arrows (`->`) close nothing.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '<' | '[' => depth += 1,
            '>' if before == '-' || before == '=' => {}
            ')' | '>' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
        before = c;
    }
    None
}

/// The words that are neither kinds nor articles.
fn without_kinds<'a>(all: &[&'a str], words: TitleWords<'_>) -> Vec<&'a str> {
    let folded: Vec<String> = all
        .iter()
        .map(|word| word.trim_end_matches([':', ',']).to_lowercase())
        .collect();
    let mut rest = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let longest = MAX_KIND_WORDS.min(all.len() - at);
        let kind = (1..=longest)
            .rev()
            .find(|count| words.kinds.contains(&folded[at..at + count].join(" ")));
        match kind {
            Some(count) => at += count,
            None => {
                if !words.articles.contains(&folded[at]) {
                    rest.push(all[at].trim_end_matches([':', ',']));
                }
                at += 1;
            }
        }
    }
    rest
}

/// A name without the number of its arguments: `Enum.map` of `Enum.map/2`.
fn without_arity(name: &str) -> &str {
    match name.rsplit_once('/') {
        Some((before, arity))
            if !before.is_empty() && !arity.is_empty() && arity.bytes().all(|b| b.is_ascii_digit()) =>
        {
            before
        }
        _ => name,
    }
}

/// Whether the last part of a slug is a name, alone, after a dot or underscore, or after a word without a mark between
/// (`classDeque`), as files of references are named.
fn is_made_of(leaf: &str, name: &str) -> bool {
    let member = qualified_segments(name).pop().map_or(name, |last| &name[last]);
    if leaf.eq_ignore_ascii_case(member) {
        return true;
    }
    let Some(start) = leaf
        .len()
        .checked_sub(member.len())
        .filter(|start| leaf.is_char_boundary(*start))
    else {
        return false;
    };
    let (before, end) = leaf.split_at(start);
    let after_mark = before.ends_with(['.', '_', '/', '#']) && end.eq_ignore_ascii_case(member);
    let after_word =
        end == member && end.starts_with(char::is_uppercase) && before.bytes().all(|b| b.is_ascii_lowercase());
    after_mark || after_word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KINDS: [&str; 12] = [
        "class",
        "class template reference",
        "member function reference",
        "struct",
        "trait",
        "macro",
        "method",
        "behaviour",
        "func",
        "module",
        "interface",
        "function",
    ];

    fn of(title: &str, leaf: &str) -> Option<DocumentedName> {
        let words = TitleWords {
            kinds: &KINDS.map(str::to_owned).into(),
            articles: &["the".to_owned()].into(),
        };
        DocumentedName::of_title(title, leaf, words)
    }

    fn name_of(title: &str, leaf: &str) -> Option<String> {
        of(title, leaf).map(|name| name.name)
    }

    #[test]
    fn titles_of_references_document_a_name() {
        for (title, leaf, name) in [
            (
                "ns::Deque< T > Class Template Reference",
                "classns_1_1Deque",
                "ns::Deque",
            ),
            ("Foo::bar() Member Function Reference", "classFoo", "Foo::bar"),
            (
                "Deque<T> Class (Kit.Collections) | Docs",
                "kit.collections.deque-1",
                "Deque",
            ),
            ("String.Split Method (System)", "system.string.split", "String.Split"),
            (
                "Dictionary<TKey,TValue>.Add(TKey, TValue) Method",
                "x",
                "Dictionary.Add",
            ),
            ("Button.Click Event (System.Windows)", "x", "Button.Click"),
            ("Enum.map/2", "enum", "Enum.map"),
            ("Collections.Deque behaviour", "Collections.Deque", "Collections.Deque"),
            ("The Deque class", "class.deque", "Deque"),
            ("Class: Collections::Deque", "Deque", "Collections::Deque"),
            ("Trait Write (io)", "trait.Write", "Write"),
            ("Trait std::io::Write", "trait.Write", "std::io::Write"),
            ("Macro write", "macro.write", "write"),
            ("Class Button", "classButton", "Button"),
            (
                "std::vector<T,Allocator>::push_back - Reference",
                "push_back",
                "std::vector::push_back",
            ),
            ("aws_instance | Resources | Provider", "instance", "aws_instance"),
            ("func (f *File) Close() error", "x", "-"),
            ("Function array_map(fn: (a) => b)", "array-map", "array_map"),
        ] {
            let expected = Some(name.to_owned()).filter(|name| name != "-");
            assert_eq!(name_of(title, leaf), expected, "{title}");
        }
        let write = of("Trait Write (io)", "trait.Write").expect("a name");
        assert_eq!(write.qualifier.as_deref(), Some("io"));
        let deque = of("a::b::Deque class", "x").expect("a name");
        assert_eq!(
            deque.suffixes().collect::<Vec<_>>(),
            ["a::b::Deque", "b::Deque", "Deque"]
        );
        assert_eq!(deque.member(), "Deque");
    }

    #[test]
    fn sentences_and_plain_titles_document_none() {
        for (title, leaf) in [
            ("ArrayDeque in practice", "deque"),
            ("Choosing between ArrayDeque and LinkedList", "choosing"),
            ("Interface design", "interface-design"),
            ("Module loading", "module-loading"),
            ("The class", "the-class"),
            ("ArrayDeque", "arraydeque"),
            ("Install", "install"),
            ("", ""),
            ("Using the ArrayDeque class", "using"),
            ("> < ) (", "x"),
        ] {
            assert_eq!(name_of(title, leaf), None, "{title}");
        }
    }

    prop_compose! {
        fn path()(segments in proptest::collection::vec("[A-Z][a-z]{2,6}[A-Z][a-z]{1,5}", 1..4), separator in prop_oneof![Just("::"), Just(".")]) -> String {
            segments.join(separator)
        }
    }

    proptest! {
        /// Whatever kinds, parameters, articles and names of sites surround it.
        #[test]
        fn a_decorated_name_is_documented(
            path in path(),
            parameters in prop_oneof![Just(""), Just("<T>"), Just("< K, V >"), Just("(int, char)"), Just("()"), Just("[T any]"), Just("/3")],
            frame in prop_oneof![
                Just(("The ", " class")), Just(("", " Class Template Reference")), Just(("Class: ", "")), Just(("Struct ", " (kit.core)")),
                Just(("", " Method (Kit)")), Just(("", " behaviour — Kit v1.2")), Just(("trait ", " | Kit docs | 2.0")), Just(("", " | Kit")),
            ],
        ) {
            let title = format!("{}{path}{parameters}{}", frame.0, frame.1);
            prop_assert_eq!(name_of(&title, "x"), Some(path), "{}", title);
        }

        #[test]
        fn a_name_is_made_of_letters_of_its_title(title in "([A-Z][a-z]{1,4}|class|the|[<>()\\[\\]:./ |-]|\\PC){0,16}", leaf in "[a-zA-Z._-]{0,8}") {
            if let Some(found) = of(&title, &leaf) {
                let mut letters = title.chars();
                prop_assert!(found.name.chars().all(|c| letters.any(|other| other == c)));
                prop_assert!(!found.name.is_empty() && !found.member().is_empty() || found.name.ends_with(['.', ':']));
            }
        }
    }
}
