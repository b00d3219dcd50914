//! Names of pages, and the key by which they are compared.

use std::collections::{BTreeMap, BTreeSet};

use strum::{EnumString, IntoStaticStr};
use unicode_normalization::UnicodeNormalization;

use crate::text::documented_name::{DocumentedName, TitleWords};
use crate::text::form::{Form, is_of_word, unaccented};
use crate::text::identifier::split_identifier;
use crate::text::title::{symbol, unqualified};
use crate::text::token::qualified_segments;
use crate::values::address::{address_key, without_extension};

/// Source of a name of a page, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum NameKind {
    /// The title.
    Title,
    /// The symbol in the title: `frame` of `frame(width:height:)`, `gc` of `gc — Garbage Collector`.
    Symbol,
    /// The last segment of the slug.
    Slug,
    /// Parent and leaf: `asyncimagephase` and `failure`.
    Path,
    /// Another name from the document's metadata (`aliases`).
    Alias,
    /// The name of code without its library's prefix: `TableView` of `UITableView`.
    Unprefixed,
    /// One of these names without its accents.
    Folded,
    /// The whole slug, or a URL of the page, see [`crate::values::address`].
    Address,
}

impl NameKind {
    /// The word stored in `docsearch.document_name.kind`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses [`NameKind::as_str`]; `None` for another word.
    pub fn parse(kind: &str) -> Option<Self> {
        kind.parse().ok()
    }
}

/// A name of a page, ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Comparable form, see [`key`].
    pub key: String,
    /// Its source.
    pub kind: NameKind,
}

/// Folders above a page that are part of its names: `std::io::Write` of `std/io/trait.Write`.
const MAX_PARENTS: usize = 3;

/// Longest key, in bytes: longer texts are sentences, and an index entry has to fit a page.
pub const MAX_KEY_BYTES: usize = 200;

/// The key of a name: compatibility-normalised (NFKC), in lower case, without separators of words. `UITableView`,
/// `uitableview`, `UI Table View` and `ui_table_view` have one key; `C`, `C++` and `C#` have three. A text without
/// letters and digits (`@>`) keeps its signs. Empty for blank texts and for those longer than [`MAX_KEY_BYTES`].
pub fn key(text: &str) -> String {
    if text.len() > 4 * MAX_KEY_BYTES {
        return String::new();
    }
    if text.is_ascii() {
        let mut key = String::with_capacity(text.len());
        key.extend(ascii_key(text).map(char::from));
        return if key.len() > MAX_KEY_BYTES { String::new() } else { key };
    }
    let folded: String = Form::of(text).text().chars().flat_map(char::to_lowercase).collect();
    let named = folded.contains(char::is_alphanumeric);
    let mut key = String::with_capacity(folded.len());
    let mut letters = Letters::default();
    for c in folded.chars() {
        let keeps_meaning = if named {
            letters.keep(c, is_of_word(c))
        } else {
            !c.is_whitespace()
        };
        if keeps_meaning {
            key.push(c);
        }
    }
    // Marks that were separate may combine now.
    let key: String = key.nfkc().collect();
    if key.len() > MAX_KEY_BYTES { String::new() } else { key }
}

/// Whether [`key`] of `text` is `key`. ASCII text, which most names are, is compared without an allocation.
pub fn has_key(text: &str, key: &str) -> bool {
    if key.is_empty() || text.len() > 4 * MAX_KEY_BYTES {
        return self::key(text) == key;
    }
    if text.is_ascii() {
        return ascii_key(text).eq(key.bytes());
    }
    // The last character may combine with the next.
    let ascii = text.find(|c: char| !c.is_ascii()).unwrap_or_default();
    let settled = ascii_key(&text[..ascii]).count().saturating_sub(1);
    let named = text[..ascii].contains(|c: char| c.is_ascii_alphanumeric());
    let differs = named && !ascii_key(&text[..ascii]).take(settled).eq(key.bytes().take(settled));
    !differs && self::key(text) == key
}

/// Decides which characters of a text belong to its key.
#[derive(Default)]
struct Letters {
    /// Characters of the key so far.
    kept: usize,
    /// Whether a `+` here belongs to the character before it.
    joins: bool,
}

impl Letters {
    /// Letters and digits with their marks, `+` after them, and `#` after a first one: `C++` and `C#` are names, and
    /// `add#2` is `add 2`.
    fn keep(&mut self, c: char, alphanumeric: bool) -> bool {
        let keep = match c {
            '+' => self.joins,
            '#' => self.joins && self.kept == 1,
            _ => alphanumeric,
        };
        self.kept += usize::from(keep);
        self.joins = keep;
        keep
    }
}

fn ascii_key(text: &str) -> impl Iterator<Item = u8> {
    let named = text.bytes().any(|b| b.is_ascii_alphanumeric());
    let mut letters = Letters::default();
    text.bytes().filter_map(move |b| {
        let keeps_meaning = if named {
            letters.keep(char::from(b), b.is_ascii_alphanumeric())
        } else {
            !char::from(b).is_whitespace()
        };
        keeps_meaning.then(|| b.to_ascii_lowercase())
    })
}

/// A spelling of a name or slug for which its page has to be first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum NameVariant {
    /// As written.
    Written,
    /// In lower case.
    Lower,
    /// Split into words.
    Split,
    /// Followed by "in" and the project.
    InProject,
    /// A slug.
    Slug,
    /// A slug after the project, as outputs print it.
    Reference,
    /// A slug as links between pages have it, with the extension of a file.
    Link,
}

impl NameVariant {
    /// Spellings of a name.
    pub const OF_NAMES: [Self; 4] = [Self::Written, Self::Lower, Self::Split, Self::InProject];
    /// Spelling of a slug with several segments, which is no name.
    pub const OF_PATHS: [Self; 1] = [Self::Slug];
    /// Spellings of every slug.
    pub const OF_SLUGS: [Self; 2] = [Self::Reference, Self::Link];

    /// Its word in a column `form`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// A name or slug in this spelling.
    pub fn of(self, name: &str, project: &str) -> String {
        match self {
            Self::Written | Self::Slug => name.to_owned(),
            Self::Reference => format!("{project}/{name}"),
            Self::Link => format!("{}.html", without_extension(name.trim_end_matches('/'))),
            Self::Lower => name.to_lowercase(),
            Self::Split => split_identifier(name),
            Self::InProject => format!("{name} in {project}"),
        }
    }
}

/// A name of code without a prefix of two or three capitals.
fn unprefixed(name: &str) -> Option<&str> {
    let capitals = name.bytes().take_while(u8::is_ascii_uppercase).count();
    let prefix = capitals.checked_sub(1).filter(|prefix| (2..=3).contains(prefix))?;
    let follows = name.as_bytes().get(capitals).is_some_and(u8::is_ascii_lowercase);
    (follows && name.bytes().all(|b| b.is_ascii_alphanumeric())).then(|| &name[prefix..])
}

/// Names that exactly one page has: titles, symbols and slug leaves, with the index of the page. `pages` are titles,
/// slugs and aliases.
pub fn unique_names<'a>(
    pages: impl IntoIterator<Item = (&'a str, &'a str, Vec<&'a str>)>,
    words: TitleWords<'_>,
) -> Vec<(usize, String)> {
    let mut pages_by_key: BTreeMap<String, Option<(usize, NameKind, String)>> = BTreeMap::new();
    for (index, (title, slug, aliases)) in pages.into_iter().enumerate() {
        let names = written_names(title, slug, aliases, words);
        let is_full = |kind| !matches!(kind, NameKind::Unprefixed | NameKind::Folded);
        for (text, Name { key, kind }) in names.into_iter().filter(|(_, name)| is_full(name.kind)) {
            pages_by_key
                .entry(key)
                .and_modify(|page| *page = None)
                .or_insert(Some((index, kind, text)));
        }
    }
    pages_by_key
        .into_values()
        .flatten()
        .filter(|(_, kind, _)| matches!(kind, NameKind::Title | NameKind::Symbol | NameKind::Slug))
        .map(|(index, _, text)| (index, text))
        .collect()
}

/// The last segment of a slug without a file's extension.
pub fn slug_leaf(slug: &str) -> &str {
    without_extension(slug.trim_end_matches('/').rsplit('/').next().unwrap_or(slug))
}

/// The segment of a slug above its leaf. `None` if there is none.
pub fn slug_parent(slug: &str) -> Option<&str> {
    slug.trim_end_matches('/')
        .rsplit('/')
        .nth(1)
        .filter(|parent| !parent.is_empty())
}

/// All names and addresses of a page, each key once, with its strongest kind.
pub fn page_names<'a>(
    title: &str,
    slug: &'a str,
    aliases: impl IntoIterator<Item = &'a str>,
    urls: impl IntoIterator<Item = &'a str>,
    words: TitleWords<'_>,
) -> Vec<Name> {
    let names = written_names(title, slug, aliases, words);
    let addresses: BTreeSet<String> = std::iter::once(slug).chain(urls).map(address_key).collect();
    let addresses = addresses.into_iter().filter(|key| !key.is_empty()).map(|key| Name {
        key,
        kind: NameKind::Address,
    });
    names.into_iter().map(|(_, name)| name).chain(addresses).collect()
}

fn written_names<'a>(
    title: &str,
    slug: &str,
    aliases: impl IntoIterator<Item = &'a str>,
    words: TitleWords<'_>,
) -> Vec<(String, Name)> {
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    let mut add = |text: &str, kind| {
        let key = key(text);
        if !key.is_empty() && seen.insert(key.clone()) {
            names.push((text.to_owned(), Name { key, kind }));
        }
    };
    let leaf = slug_leaf(slug);
    add(title, NameKind::Title);
    let symbol = symbol(title);
    if let Some(symbol) = symbol {
        add(symbol, NameKind::Symbol);
    }
    add(unqualified(title), NameKind::Symbol);
    let bare = symbol.unwrap_or(title);
    if let Some(member) = qualified_segments(bare).last().filter(|_| !bare.contains(' ')) {
        add(&bare[member.clone()], NameKind::Symbol);
    }
    if let Some(documented) = DocumentedName::of_title(title, leaf, words) {
        add(&documented.name, NameKind::Title);
        for suffix in documented.suffixes() {
            add(suffix, NameKind::Symbol);
        }
        if let Some(qualifier) = &documented.qualifier {
            add(&format!("{qualifier} {}", documented.name), NameKind::Path);
        }
        let mut path = documented.name;
        for parent in slug.trim_end_matches('/').rsplit('/').skip(1).take(MAX_PARENTS) {
            path = format!("{parent} {path}");
            add(&path, NameKind::Path);
        }
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
    if let Some(name) = unprefixed(bare) {
        add(name, NameKind::Unprefixed);
    }
    let folded: Vec<String> = names.iter().filter_map(|(text, _)| unaccented(text)).collect();
    for bare in folded {
        let key = key(&bare);
        if !key.is_empty() && seen.insert(key.clone()) {
            let kind = NameKind::Folded;
            names.push((bare, Name { key, kind }));
        }
    }
    names
}

/// Containers of a page: the levels of its category, and values of its metadata. Each name once.
pub fn containers<'a>(category: Option<&'a str>, metadata: Option<&'a serde_json::Value>) -> BTreeSet<&'a str> {
    let levels = category.into_iter().flat_map(|category| category.split('/'));
    let levels = levels.map(str::trim).filter(|name| !name.is_empty());
    levels.chain(stated_containers(metadata)).collect()
}

/// Metadata keys whose values are containers.
pub const CONTAINER_KEYS: [&str; 6] = ["framework", "module", "library", "package", "server", "namespace"];

/// Containers in the metadata of a page: texts, and lists of texts.
pub fn stated_containers(metadata: Option<&serde_json::Value>) -> impl Iterator<Item = &str> {
    let values = CONTAINER_KEYS.iter().filter_map(move |key| metadata?.get(key));
    let texts = values.flat_map(|value| match value {
        serde_json::Value::Array(texts) => texts.as_slice(),
        one => std::slice::from_ref(one),
    });
    texts
        .filter_map(|text| text.as_str())
        .map(str::trim)
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    static NO_SET: BTreeSet<String> = BTreeSet::new();
    const NO_WORDS: TitleWords<'static> = TitleWords {
        kinds: &NO_SET,
        articles: &NO_SET,
    };

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
    fn a_title_is_also_a_name_without_its_qualifier() {
        let names = page_names("Change history (The parser)", "parser/changes", [], [], NO_WORDS);
        assert!(names.contains(&Name {
            key: key("change history"),
            kind: NameKind::Symbol,
        }));
    }

    #[test]
    fn a_page_answers_to_its_names_without_accents() {
        let names = page_names("L'Élève", "pages/eleve-cœur", ["Größe"], [], NO_WORDS);
        let folded: Vec<&str> = names
            .iter()
            .filter(|name| name.kind == NameKind::Folded)
            .map(|name| name.key.as_str())
            .collect();
        assert_eq!(
            folded,
            ["leleve", "elevecoeur", "pageselevecoeur", "pagesleleve", "grosse"]
        );
        let plain = page_names("Pupil", "pages/pupil", [], [], NO_WORDS);
        assert!(plain.iter().all(|name| name.kind != NameKind::Folded));
    }

    #[test]
    fn marks_distinguish_names_and_forms_of_a_character_do_not() {
        assert_ne!(key("कर्म"), key("करम"));
        assert_eq!(key("cafe\u{301} ﬁle"), key("Café file"));
        assert_eq!(key("re\u{ad}start\u{200b}"), key("restart"));
    }

    #[test]
    fn s0_5_a_page_answers_to_its_path() {
        let names = page_names(
            "failure",
            "documentation/swiftui/asyncimagephase/failure.md",
            [],
            [],
            NO_WORDS,
        );
        let keys: Vec<_> = names.iter().map(|name| (name.key.as_str(), name.kind)).collect();
        assert_eq!(
            keys,
            [
                ("failure", NameKind::Title),
                ("asyncimagephasefailure", NameKind::Path),
                ("/documentation/swiftui/asyncimagephase/failure", NameKind::Address),
            ]
        );
    }

    #[test]
    fn a_page_of_a_reference_answers_to_every_path_of_its_name() {
        let words = TitleWords {
            kinds: &["trait".to_owned()].into(),
            articles: &BTreeSet::new(),
        };
        for title in ["Trait Write (io)", "Trait std::io::Write", "Trait Write"] {
            let names = page_names(title, "std/io/trait.Write", [], [], words);
            for name in ["Write", "io::Write", "std::io::Write"] {
                let is_name = |known: &Name| known.key == key(name) && known.kind != NameKind::Address;
                assert!(names.iter().any(is_name), "{name} of {title}: {names:?}");
            }
        }
    }

    #[test]
    fn a_name_has_four_forms() {
        let forms = NameVariant::OF_NAMES.map(|form| form.of("UITableView", "uikit"));
        assert_eq!(
            forms,
            ["UITableView", "uitableview", "UI Table View", "UITableView in uikit"]
        );
        assert!(forms[..3].iter().all(|form| key(form) == "uitableview"));
        assert_eq!(NameVariant::OF_PATHS.map(|form| form.of("a/b", "uikit")), ["a/b"]);
        assert_eq!(
            NameVariant::OF_SLUGS.map(|form| form.of("a/b", "uikit")),
            ["uikit/a/b", "a/b.html"]
        );
        assert_eq!(NameVariant::Link.of("options.md", "click"), "options.html");
    }

    #[test]
    fn a_prefix_of_the_library_can_be_left_out() {
        for (name, expected) in [
            ("UITableView", Some("TableView")),
            ("NSURLSession", None),
            ("URLSession", Some("Session")),
            ("Button", None),
            ("HTTP", None),
            ("UIImage.Configuration", None),
        ] {
            assert_eq!(unprefixed(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_of_two_pages_is_not_unique() {
        let pages = [
            ("Button", "controls/button", vec![]),
            ("Toggle", "controls/toggle", vec!["Switch"]),
            ("Overview", "controls/switch", vec![]),
        ];
        assert_eq!(
            unique_names(pages, NO_WORDS),
            [
                (0, "Button".to_owned()),
                (2, "Overview".to_owned()),
                (1, "Toggle".to_owned())
            ]
        );
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
