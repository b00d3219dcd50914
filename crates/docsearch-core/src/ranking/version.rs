//! Versions of documented products: which is newer, and which pages are versions of one page.

use std::collections::{BTreeMap, HashMap};

mod queried;

pub use queried::QueriedVersions;

/// Names of the newest version.
const LATEST_ALIASES: [&str; 3] = ["latest", "current", "stable"];
/// Words after a number that do not affect its order.
const IGNORED_SUFFIXES: [&str; 7] = ["x", "final", "ga", "release", "lts", "stable", "docs"];
/// Words that begin a version after a release.
const POST_RELEASE_TAGS: [&str; 5] = ["post", "p", "sp", "patch", "hotfix"];

/// A version, ordered by age. Numbers are compared one by one: `1.10` is newer than `1.9`, and missing numbers are 0.
/// Pre-releases (`2.0-rc1`) come before their release, patches (`2.0-p1`) after it. Words without a number
/// (`nightly`) come before everything, `latest`, `current` and `stable` after everything.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    sort: Sort,
    numbers: Vec<Number>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Sort {
    Word,
    Numbered,
    Newest,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Stage {
    Before(Vec<Part>),
    Release,
    After(Vec<Part>),
}

/// A number of any length. The count of its digits decides, then the digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Number(usize, String);

impl Number {
    fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    Number(Number),
    /// Order of the stage before a release, and the word.
    Word(u8, String),
}

impl Part {
    fn read(token: &str) -> Self {
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = token.trim_start_matches('0');
            return Self::Number(Number(digits.len(), digits.to_owned()));
        }
        let (nearness, word) = match token {
            "dev" | "nightly" | "snapshot" | "canary" => (0, token),
            "a" | "alpha" => (1, "alpha"),
            "b" | "beta" => (2, "beta"),
            "c" | "cr" | "rc" => (4, "rc"),
            _ => (3, token),
        };
        Self::Word(nearness, word.to_owned())
    }

    fn is_word(&self, words: &[&str]) -> bool {
        matches!(self, Self::Word(_, word) if words.contains(&word.as_str()))
    }
}

impl Version {
    /// Parses a version. `None` for a text without letters and digits. A `+` and all that follows is ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.split('+').next().unwrap_or_default().to_lowercase();
        let parts: Vec<Part> = tokens(&text).into_iter().map(Part::read).collect();
        let numbered = parts.iter().position(|part| matches!(part, Part::Number(_)));
        // "v1.2" and "release-1.2" are 1.2; "beta 1" is no release.
        let number = numbered.filter(|&at| parts[..at].iter().all(|part| matches!(part, Part::Word(3, _))));
        let Some(number) = number else {
            let newest = parts.len() == 1 && parts[0].is_word(&LATEST_ALIASES);
            return (!parts.is_empty()).then_some(Self {
                sort: if newest { Sort::Newest } else { Sort::Word },
                numbers: Vec::new(),
                stage: if newest { Stage::Release } else { Stage::Before(parts) },
            });
        };
        let mut rest = parts.into_iter().skip(number).peekable();
        let mut numbers = Vec::new();
        while let Some(Part::Number(number)) = rest.next_if(|part| matches!(part, Part::Number(_))) {
            numbers.push(number);
        }
        while numbers.last().is_some_and(Number::is_zero) {
            numbers.pop();
        }
        let rest: Vec<Part> = rest.filter(|part| !part.is_word(&IGNORED_SUFFIXES)).collect();
        let stage = match rest.first() {
            None => Stage::Release,
            Some(first) if first.is_word(&POST_RELEASE_TAGS) => Stage::After(rest),
            Some(_) => Stage::Before(rest),
        };
        Some(Self {
            sort: Sort::Numbered,
            numbers,
            stage,
        })
    }

    /// The version in a name: `4.10` of `v4.10.0`, `whatsnew-4.10`, `Kit 4.10 release notes` and `release_4_10`. Of
    /// several numbers, the first with parts. Words after it count if they are stages before a release.
    pub fn within(name: &str) -> Option<Self> {
        let starts = name.char_indices().filter(|&(at, c)| {
            let before = &name[..at];
            let begins = before.strip_suffix(['v', 'V']).unwrap_or(before);
            c.is_ascii_digit() && !begins.ends_with(char::is_alphanumeric)
        });
        let mut texts = starts
            .map(|(at, _)| numbers(&name[at..]))
            .filter(|text| !text.is_empty());
        let first = texts.next()?;
        let has_parts = |text: &&str| text.contains(|c: char| !c.is_alphanumeric());
        let chosen = if has_parts(&first) {
            first
        } else {
            texts.find(has_parts).unwrap_or(first)
        };
        Self::parse(chosen)
    }

    /// A slug without the part that names this version: the same for all versions of a page. The part is
    /// a segment (`v1.9/install`) or the end of one after a mark (`guide-1.9/install`).
    pub fn page<'a>(&self, slug: &'a str) -> Vec<&'a str> {
        let mut found = false;
        let mut segments: Vec<&str> = Vec::new();
        for segment in slug.split('/') {
            match self.stem(segment).filter(|_| !found) {
                Some(stem) => {
                    found = true;
                    segments.extend((!stem.is_empty()).then_some(stem));
                }
                None => segments.push(segment),
            }
        }
        segments
    }

    /// The text before the version in a segment of a slug.
    fn stem<'a>(&self, segment: &'a str) -> Option<&'a str> {
        let is_numbered = self.sort == Sort::Numbered;
        if is_numbered && !segment.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let names_it = |text: &str| Self::parse(text).as_ref() == Some(self);
        if names_it(segment) && !self.is_prefixed(segment) {
            return Some("");
        }
        let marks = segment.match_indices(['-', '_', '@']);
        let mut ends = marks.map(|(at, _)| segment.split_at(at));
        ends.find(|(_, end)| names_it(end) && !self.is_prefixed(end))
            .map(|(stem, _)| stem)
    }

    /// Whether a segment that names the version begins with another word than `v`.
    fn is_prefixed(&self, segment: &str) -> bool {
        let word: &str = tokens(segment).first().copied().unwrap_or_default();
        self.sort == Sort::Numbered
            && !word.eq_ignore_ascii_case("v")
            && !word.starts_with(|c: char| c.is_ascii_digit())
    }
}

/// The version that a text begins with: numbers, and a stage such as `rc1` or `-beta.2`.
fn numbers(text: &str) -> &str {
    let mut end = 0;
    let mut staged = false;
    loop {
        let rest = &text[end..];
        let mark = usize::from(end > 0 && rest.starts_with(['.', '-', '_']));
        let token = rest[mark..]
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default();
        let digits = token.starts_with(|c: char| c.is_ascii_digit());
        let length = token
            .find(|c: char| c.is_ascii_digit() != digits)
            .unwrap_or(token.len());
        let token = token[..length].to_lowercase();
        let is_stage = !digits && !staged && length > 0 && {
            let part = Part::read(&token);
            !matches!(part, Part::Word(3, _)) || part.is_word(&POST_RELEASE_TAGS)
        };
        // In "4-2 days" the second number is not part of a version; in "4.2" and "4-2" it is.
        if length == 0 || !(digits && (end == 0 || mark > 0 || staged) || is_stage) {
            return &text[..end];
        }
        staged |= is_stage;
        end += mark + length;
    }
}

/// Runs of digits and of letters.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let digits = first.is_ascii_digit();
            let end = rest.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(rest.len());
            let (token, after) = rest.split_at(end);
            tokens.push(token);
            rest = after;
        }
    }
    tokens
}

/// A range of versions with both ends.
#[derive(Clone, Debug)]
pub struct Interval {
    from: Option<Version>,
    to: Option<Version>,
}

impl Interval {
    /// `None` if a bound is no version.
    pub fn new(from: Option<&str>, to: Option<&str>) -> Option<Self> {
        let bound = |text: Option<&str>| text.map_or(Some(None), |text| Version::parse(text).map(Some));
        let (from, to) = (bound(from)?, bound(to)?);
        Some(Self { from, to })
    }

    /// Whether a text is a version in the range.
    pub fn contains(&self, text: &str) -> bool {
        Version::parse(text).is_some_and(|version| {
            self.from.as_ref().is_none_or(|from| *from <= version) && self.to.as_ref().is_none_or(|to| version <= *to)
        })
    }
}

/// A document with what identifies its page and version.
#[derive(Clone, Copy, Debug)]
pub struct DocumentVersion<'a, D> {
    /// The document.
    pub document: D,
    /// Its project. Versions of a page are in one project.
    pub project: i64,
    /// Its slug.
    pub slug: &'a str,
    /// Its version.
    pub version: &'a str,
}

/// The documents of a page with a newer version, with the index of the newest.
pub fn superseded<D: Copy>(documents: &[DocumentVersion<'_, D>]) -> Vec<(D, usize)> {
    let mut older = Vec::new();
    for versions in versions_of_pages(documents) {
        let newest = versions.iter().map(|(_, version)| version).max();
        let index = versions.iter().find(|(_, version)| Some(version) == newest);
        let (Some(newest), Some((index, _))) = (newest, index) else {
            continue;
        };
        let of_page = versions.iter().filter(|(_, version)| version < newest);
        older.extend(of_page.map(|(own, _)| (*own, *index)));
    }
    older.sort_unstable();
    older
        .into_iter()
        .map(|(own, newest)| (documents[own].document, newest))
        .collect()
}

/// The documents of a page, by index, with their versions.
pub type Versions = Vec<(usize, Version)>;

/// The documents of each page that has several versions.
pub fn versions_of_pages<D>(documents: &[DocumentVersion<'_, D>]) -> Vec<Versions> {
    // Most projects have few versions, and many only one.
    let mut parsed: HashMap<&str, Option<Version>> = HashMap::new();
    let mut of_project: HashMap<i64, (&str, bool)> = HashMap::new();
    for document in documents {
        let text = document.version;
        parsed.entry(text).or_insert_with(|| Version::parse(text));
        let (first, several) = of_project.entry(document.project).or_insert((text, false));
        *several |= *first != text;
    }
    let mut pages: BTreeMap<(i64, Vec<&str>), Versions> = BTreeMap::new();
    for (index, document) in documents.iter().enumerate() {
        if let (Some(version), true) = (&parsed[document.version], of_project[&document.project].1) {
            let page = (document.project, version.page(document.slug));
            pages.entry(page).or_default().push((index, version.clone()));
        }
    }
    pages.into_values().filter(|versions| versions.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn version(text: &str) -> Version {
        Version::parse(text).expect("a version")
    }

    #[test]
    fn versions_are_ordered_by_age() {
        let rising = [
            "nightly",
            "0",
            "0.9",
            "1.0-dev",
            "1.0a1",
            "1.0-alpha.2",
            "1.0-beta",
            "1.0b2",
            "1.0-preview",
            "1.0rc1",
            "1.0-rc.2",
            "1.0-rc10",
            "v1",
            "1.0.post1",
            "1.0.1",
            "1.9",
            "1.10",
            "2.0",
            "2024-01-15",
            "2024.2",
            "99999999999999999999999999",
            "latest",
        ];
        for (index, a) in rising.iter().enumerate() {
            for b in &rising[index + 1..] {
                assert!(version(a) < version(b), "{a} is older than {b}");
            }
        }
    }

    #[test]
    fn a_range_of_versions_has_both_ends() {
        let range = Interval::new(Some("4.9"), Some("4.10")).expect("versions");
        let versions = [
            "4.8", "4.9", "v4.9.0", "4.10rc1", "4.10", "4.10.1", "latest", "nightly", "?",
        ];
        let within = versions.map(|version| range.contains(version));
        assert_eq!(within, [false, true, true, true, true, false, false, false, false]);
        let open = Interval::new(Some("4.10"), None).expect("a version");
        assert!(open.contains("latest") && !open.contains("4.10rc1"));
        assert!(Interval::new(None, Some("?")).is_none());
    }

    #[test]
    fn one_version_has_several_spellings() {
        for (a, b) in [
            ("1.2", "v1.2.0"),
            ("1.2", "release-1.2"),
            ("5.3.0.Final", "5.3"),
            ("3.x", "3"),
            ("0", "0.0"),
            ("1.0.0+build.7", "1"),
            ("2.0-RC1", "2.0rc1"),
            ("1.0a1", "1.0-alpha.1"),
            ("1.0b1", "1.0-beta1"),
            ("1.0c1", "1.0rc1"),
            ("1.0.CR1", "1.0rc1"),
            ("latest", "Stable"),
        ] {
            assert_eq!(version(a), version(b), "{a} and {b}");
        }
        assert_eq!(Version::parse(" - "), None);
    }

    #[test]
    fn names_of_release_notes_say_their_version() {
        for (name, expected) in [
            ("v4.5.0", Some("4.5")),
            ("4.10", Some("4.10")),
            ("release-15-3", Some("15.3")),
            ("release_4_10", Some("4.10")),
            ("3_17_0", Some("3.17")),
            ("Release notes 2.1", Some("2.1")),
            ("What’s New In Python 3.12", Some("3.12")),
            ("2.1-release-notes", Some("2.1")),
            ("Kit 2.0rc1 is out", Some("2.0rc1")),
            ("Kit 2.0-beta.2", Some("2.0-beta.2")),
            ("Log4j 2.1", Some("2.1")),
            ("10 reasons for 2.1", Some("2.1")),
            ("Version 7", Some("7")),
            ("2024-11-02", Some("2024.11.2")),
            ("Changelog", None),
            ("log4j", None),
        ] {
            assert_eq!(Version::within(name), expected.map(version), "{name}");
        }
    }

    #[test]
    fn slugs_of_a_page_differ_in_their_version() {
        let page = |slug: &'static str, text| version(text).page(slug).join("/");
        assert_eq!(page("v1.9/guide/install", "1.9"), "guide/install");
        assert_eq!(page("1.10.0/guide/install", "1.10"), "guide/install");
        assert_eq!(page("python-3.12/library/os", "3.12"), "python/library/os");
        assert_eq!(page("docs/2.0-rc1/install", "2.0rc1"), "docs/install");
        assert_eq!(page("guide/install", "2.0"), "guide/install");
        assert_eq!(page("stable/guide/stable", "stable"), "guide/stable");
        assert_eq!(page("2/chapter/2", "2"), "chapter/2");
        assert_eq!(page("release-1.9/install", "1.9"), "release/install");
        assert_eq!(page("docs-release-1.9/install", "1.9"), "docs-release/install");
        assert_eq!(page("nightly/install", "nightly"), "install");
    }

    #[test]
    fn only_a_newer_version_of_the_same_page_supersedes() {
        let documents = [
            (1, "1.9/install", "1.9"),
            (1, "1.10/install", "1.10"),
            (1, "1.9/removed", "1.9"),
            (2, "2.0/install", "2.0"),
            (1, "install", "-"),
            (1, "v1.10/install", "1.10.0"),
        ];
        let documents: Vec<_> = (0..)
            .zip(documents)
            .map(|(document, (project, slug, version))| DocumentVersion {
                document,
                project,
                slug,
                version,
            })
            .collect();
        assert_eq!(superseded(&documents), [(0, 1)]);
    }

    fn texts() -> impl Strategy<Value = String> {
        "(v|release-)?[0-9]{0,3}([.-]?([0-9]{1,2}|a|beta|rc|dev|post|x|final|q)){0,4}|\\PC{0,8}|latest|stable|nightly"
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_order_is_total(a in texts(), b in texts(), c in texts()) {
            let (a, b, c) = (Version::parse(&a), Version::parse(&b), Version::parse(&c));
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            prop_assert_eq!(a == b, a.cmp(&b).is_eq());
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
        }

        #[test]
        fn a_name_says_the_version_that_it_holds(
            version in "[0-9]{1,3}([._-][0-9]{1,2}){0,3}(-?rc[0-9]|b2)?",
            before in "(releases/|whatsnew-|Kit |v|What’s new in )?",
            after in "( release notes|, the best|-notes|/)?",
            text in "\\PC{0,30}",
        ) {
            prop_assert_eq!(Version::within(&format!("{before}{version}{after}")), Version::parse(&version));
            Version::within(&text);
        }

        #[test]
        fn dotted_numbers_are_compared_one_by_one(
            a in proptest::collection::vec(0u32..30, 1..5),
            b in proptest::collection::vec(0u32..30, 1..5),
        ) {
            let text = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
            let filled = |numbers: &[u32]| (0..5).map(|at| numbers.get(at).copied().unwrap_or(0)).collect::<Vec<_>>();
            prop_assert_eq!(version(&text(&a)).cmp(&version(&text(&b))), filled(&a).cmp(&filled(&b)));
        }

        #[test]
        fn a_release_is_between_its_candidates_and_its_patches(number in "[0-9]{1,3}(\\.[0-9]{1,3}){0,3}") {
            let [before, after, next] = ["-rc1", "-p1", ".1"].map(|end| version(&format!("{number}{end}")));
            let release = version(&number);
            prop_assert!(before < release && release < after && after < next);
        }

        #[test]
        fn a_page_is_found_in_every_version(
            number in "[0-9]{1,2}\\.[0-9]{1,2}(-rc[1-9])?",
            page in "[a-z]{1,6}(/[a-z]{1,6}){0,2}",
            slug in any::<String>(),
        ) {
            let (version, placed) = (version(&number), format!("v{number}/{page}"));
            prop_assert_eq!(version.page(&placed), version.page(&page));
            prop_assert_eq!(version.page(&page).join("/"), page);
            version.page(&slug);
        }
    }
}
