//! Names: what a page answers to, and the form in which names are compared.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use crate::identifier::split_identifier;
use crate::token::qualified_segments;

/// Where a name of a page comes from, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// The title.
    Title,
    /// The symbol in the title: `frame` of `frame(width:height:)`, `gc` of `gc — Garbage Collector`.
    Symbol,
    /// The last segment of the slug.
    Slug,
    /// Parent and leaf: `asyncimagephase` and `failure`.
    Path,
    /// Another name that the document's metadata gives (`aliases`).
    Alias,
}

impl NameKind {
    /// The word stored in `docsearch.document_name.kind`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Symbol => "symbol",
            Self::Slug => "slug",
            Self::Path => "path",
            Self::Alias => "alias",
        }
    }

    /// Reads what [`NameKind::as_str`] wrote.
    pub fn parse(kind: &str) -> Option<Self> {
        [Self::Title, Self::Symbol, Self::Slug, Self::Path, Self::Alias]
            .into_iter()
            .find(|known| known.as_str() == kind)
    }
}

/// A name of a page, ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Comparable form, see [`key`].
    pub key: String,
    /// Where it comes from.
    pub kind: NameKind,
}

/// Longest key, in bytes: longer texts are sentences, and an index entry has to fit a page.
pub const MAX_KEY_BYTES: usize = 200;

/// The form in which names are compared: compatibility-normalised (NFKC), lower case, without what
/// separates words. `UITableView`, `uitableview`, `UI Table View` and `ui_table_view` have one key;
/// `C`, `C++` and `C#` have three. A text without letters and digits (`@>`) keeps its marks.
/// Empty for blank texts and for those longer than [`MAX_KEY_BYTES`].
pub fn key(text: &str) -> String {
    if text.len() > 4 * MAX_KEY_BYTES {
        return String::new();
    }
    let folded: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let named = folded.contains(char::is_alphanumeric);
    let mut key = String::with_capacity(folded.len());
    let mut before = ' ';
    for c in folded.chars() {
        let keeps_meaning = if named {
            c.is_alphanumeric() || (matches!(c, '+' | '#') && (before.is_alphanumeric() || before == c))
        } else {
            !c.is_whitespace()
        };
        if keeps_meaning {
            key.push(c);
        }
        before = c;
    }
    // Marks that stood apart may now combine.
    let key: String = key.nfkc().collect();
    if key.len() > MAX_KEY_BYTES { String::new() } else { key }
}

/// Whether [`key`] of `text` is `key`. Text in ASCII, which most names are, is compared in place, and
/// other text as far as it is ASCII.
pub fn has_key(text: &str, key: &str) -> bool {
    if text.len() > 4 * MAX_KEY_BYTES {
        return key.is_empty();
    }
    if text.is_ascii() {
        return ascii_key(text).eq(key.bytes());
    }
    // The last character may combine with what follows.
    let ascii = text.find(|c: char| !c.is_ascii()).unwrap_or_default();
    let settled = ascii_key(&text[..ascii]).count().saturating_sub(1);
    let named = text[..ascii].contains(|c: char| c.is_ascii_alphanumeric());
    let differs = named && !ascii_key(&text[..ascii]).take(settled).eq(key.bytes().take(settled));
    !differs && self::key(text) == key
}

/// The [`key`] of a text in ASCII, byte by byte.
fn ascii_key(text: &str) -> impl Iterator<Item = u8> {
    let named = text.bytes().any(|b| b.is_ascii_alphanumeric());
    let mut before = b' ';
    text.bytes().filter_map(move |b| {
        let keeps_meaning = if named {
            b.is_ascii_alphanumeric() || (matches!(b, b'+' | b'#') && (before.is_ascii_alphanumeric() || before == b))
        } else {
            !char::from(b).is_whitespace()
        };
        before = b;
        keeps_meaning.then(|| b.to_ascii_lowercase())
    })
}

/// The forms of a name that have to bring its page first, without duplicates: as written, in lower
/// case, split into words, and as written followed by "in" and the project.
pub fn forms(name: &str, project: &str) -> Vec<String> {
    let mut forms = vec![
        name.to_owned(),
        name.to_lowercase(),
        split_identifier(name),
        format!("{name} in {project}"),
    ];
    let mut seen = BTreeSet::new();
    forms.retain(|form| seen.insert(form.clone()));
    forms
}

/// The symbol that a title names, if it is more than the symbol: the text before parameters
/// (`frame(width:height:)`) or before a dash that introduces a description (`gc — Garbage …`).
pub fn symbol(title: &str) -> Option<&str> {
    let title = title.trim();
    let head = [" — ", " – ", " - ", " -- ", ": "]
        .iter()
        .filter_map(|dash| title.find(dash))
        .min()
        .map_or(title, |at| &title[..at]);
    let head = match head.find('(') {
        Some(at) if at > 0 => &head[..at],
        _ => head,
    };
    let symbol = head.trim();
    (symbol.len() < title.len() && !symbol.is_empty() && !symbol.contains(' ')).then_some(symbol)
}

/// The last segment of a slug without a file's extension.
pub fn slug_leaf(slug: &str) -> &str {
    let leaf = slug.trim_end_matches('/').rsplit('/').next().unwrap_or(slug);
    ["html", "htm", "md", "mdx", "rst", "txt"]
        .iter()
        .find_map(|extension| leaf.strip_suffix(extension)?.strip_suffix('.'))
        .filter(|stem| !stem.is_empty())
        .unwrap_or(leaf)
}

/// The segment of a slug above its leaf.
pub fn slug_parent(slug: &str) -> Option<&str> {
    slug.trim_end_matches('/')
        .rsplit('/')
        .nth(1)
        .filter(|parent| !parent.is_empty())
}

/// Every name that a page answers to, without duplicates; of equal keys the strongest kind stays.
pub fn page_names<'a>(title: &str, slug: &str, aliases: impl IntoIterator<Item = &'a str>) -> Vec<Name> {
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    let mut add = |text: &str, kind| {
        let key = key(text);
        if !key.is_empty() && seen.insert(key.clone()) {
            names.push(Name { key, kind });
        }
    };
    let leaf = slug_leaf(slug);
    add(title, NameKind::Title);
    let symbol = symbol(title);
    if let Some(symbol) = symbol {
        add(symbol, NameKind::Symbol);
    }
    let bare = symbol.unwrap_or(title);
    if let Some(member) = qualified_segments(bare).last().filter(|_| !bare.contains(' ')) {
        add(&bare[member.clone()], NameKind::Symbol);
    }
    add(leaf, NameKind::Slug);
    if let Some(parent) = slug_parent(slug) {
        add(&format!("{parent} {leaf}"), NameKind::Path);
        if !bare.contains(' ') {
            add(&format!("{parent} {bare}"), NameKind::Path);
        }
    }
    for alias in aliases {
        add(alias, NameKind::Alias);
    }
    names
}

/// Metadata keys whose value says what a page belongs to.
const CONTAINER_KEYS: [&str; 6] = ["framework", "module", "library", "package", "server", "namespace"];

/// Whether a page lies in the container that Y of "X in Y" names. `container` is a [`key`]; the
/// page's project and category, the segments of its slug above the leaf, and the values of
/// `framework`, `module`, `library`, `package`, `server` and `namespace` in its metadata count.
pub fn is_inside<'a>(
    container: &str,
    names: impl IntoIterator<Item = &'a str>,
    slug: &str,
    metadata: Option<&serde_json::Value>,
) -> bool {
    let is = |text: &str| has_key(text, container);
    let mut above = slug.trim_end_matches('/').rsplit('/').skip(1);
    let stated = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => is(text),
        serde_json::Value::Array(texts) => texts.iter().filter_map(|text| text.as_str()).any(is),
        _ => false,
    };
    names.into_iter().flat_map(|name| name.split('/')).any(is)
        || above.any(is)
        || metadata.is_some_and(|metadata| CONTAINER_KEYS.iter().filter_map(|key| metadata.get(key)).any(stated))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_form_of_a_name_has_one_key() {
        for form in [
            "UITableView",
            "uitableview",
            "UI Table View",
            "ui_table_view",
            "ui-table-view",
        ] {
            assert_eq!(key(form), "uitableview");
        }
        assert_eq!(key("AsyncImagePhase.failure"), key("asyncimagephase failure"));
        assert_eq!(key("os.read()"), "osread");
        let languages: BTreeSet<_> = ["C", "C++", "C#"].map(key).into();
        assert_eq!(languages.len(), 3);
        assert_eq!(key("@>"), "@>");
        assert_eq!(key("  "), "");
    }

    #[test]
    fn titles_name_symbols() {
        assert_eq!(symbol("frame(width:height:)"), Some("frame"));
        assert_eq!(symbol("gc — Garbage Collector interface"), Some("gc"));
        assert_eq!(symbol("Button"), None);
        assert_eq!(symbol("A long story: the end"), None);
    }

    #[test]
    fn s0_5_a_page_answers_to_its_path() {
        let names = page_names("failure", "documentation/swiftui/asyncimagephase/failure.md", []);
        let keys: Vec<_> = names.iter().map(|name| (name.key.as_str(), name.kind)).collect();
        assert_eq!(
            keys,
            [("failure", NameKind::Title), ("asyncimagephasefailure", NameKind::Path)]
        );
    }

    #[test]
    fn s0_28_a_container_has_many_spellings() {
        let metadata = serde_json::json!({"framework": "SwiftUI", "platforms": ["ios"]});
        let inside =
            |container: &str| is_inside(&key(container), ["docs", "Controls"], "guides/button", Some(&metadata));
        for container in ["SwiftUI", "swift ui", "docs", "controls", "Guides"] {
            assert!(inside(container), "{container}");
        }
        for container in ["UIKit", "button", "ios"] {
            assert!(!inside(container), "{container}");
        }
    }

    #[test]
    fn a_name_has_four_forms() {
        let forms = forms("UITableView", "uikit");
        assert_eq!(
            forms,
            ["UITableView", "uitableview", "UI Table View", "UITableView in uikit"]
        );
        assert!(forms[..3].iter().all(|form| key(form) == "uitableview"));
    }

    proptest! {
        #[test]
        fn keys_are_fixed_points(text in "\\PC{0,80}") {
            let once = key(&text);
            prop_assert_eq!(key(&once), once);
        }

        #[test]
        fn keys_are_compared_as_they_are_made(text in "([a-cA-C+#@_ .-]|\\PC|[\u{301}\u{345}]){0,12}", other in "[a-cA-C+#@_ .-]{0,12}") {
            prop_assert!(has_key(&text, &key(&text)));
            prop_assert_eq!(has_key(&text, &key(&other)), key(&text) == key(&other));
        }
    }
}
