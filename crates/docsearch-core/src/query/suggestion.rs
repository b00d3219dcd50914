//! Suggestions: completions and corrections of a typed text.

use std::collections::HashSet;

use serde::Serialize;
use strum::IntoStaticStr;

use crate::query::rule::{Intent, Rules};
use crate::query::understanding::{Role, Term, Understanding};
use crate::text::identifier::words;
use crate::text::name;
use crate::text::similarity::{NearName, Nearness, near};
use crate::values::decimal::decimal;

/// Least score of a suggestion. Below it are long titles whose initials happen to have the typed letters.
const MIN_SCORE: f32 = 0.35;

/// Why something is suggested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SuggestionKind {
    /// It is a name.
    Name,
    /// It continues the text.
    Completion,
    /// The text is a misspelling of it.
    Correction,
    /// It uses a plainer verb.
    Phrasing,
    /// Many documents are about it; nothing nearer was found.
    Topic,
}

impl SuggestionKind {
    /// Its name in the column `kind`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A name or a word of the documents that may be suggested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuggestionSource<'a> {
    /// A page's name, with the page's slug.
    Name {
        /// The name.
        name: &'a str,
        /// The slug.
        slug: &'a str,
        /// Its project.
        project: &'a str,
    },
    /// A word of the vocabulary.
    Word(&'a str),
}

/// A suggestion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// What to search for instead.
    pub suggestion: String,
    /// Why.
    pub kind: SuggestionKind,
    /// Slug of the page, if it is the name of one.
    pub slug: Option<String>,
    /// Project of the page.
    #[serde(skip)]
    pub project: Option<String>,
    /// Nearness, 0 to 1; 1 is the name itself.
    #[serde(serialize_with = "decimal")]
    pub score: f32,
}

/// Up to `limit` suggestions for a text, best first, each text once. Names are compared with the whole text, words
/// with each of its words. Of equal scores the shorter comes first, then alphabetical order decides, so that the
/// order of the sources does not matter.
pub fn suggestions<'a>(
    text: &str,
    sources: impl IntoIterator<Item = SuggestionSource<'a>>,
    limit: usize,
) -> Vec<Suggestion> {
    let text = text.trim();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found: Vec<Suggestion> = Vec::new();
    let mut put_in: Vec<Replacement<'a>> = Vec::new();
    for source in sources {
        match source {
            SuggestionSource::Name { name, slug, project } => found.extend(of_name(text, name, slug, project)),
            SuggestionSource::Word(word) => put_in.extend(of_word(&words, word)),
        }
    }
    found.extend(put_in.iter().map(|word| word.with_others(&words, &put_in)));
    found.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.suggestion.len().cmp(&b.suggestion.len()))
            .then_with(|| a.suggestion.cmp(&b.suggestion))
            .then_with(|| a.slug.cmp(&b.slug))
            .then_with(|| a.project.cmp(&b.project))
    });
    found.retain(|suggestion| suggestion.score >= MIN_SCORE);
    let mut seen = HashSet::new();
    found.retain(|suggestion| seen.insert((suggestion.suggestion.to_lowercase(), suggestion.slug.clone())));
    found.truncate(limit);
    found
}

/// Removes words that are also suggested as names of pages.
pub fn without_named(found: &mut Vec<Suggestion>) {
    let named = found.iter().filter(|suggestion| suggestion.slug.is_some());
    let named: HashSet<String> = named.map(|suggestion| suggestion.suggestion.to_lowercase()).collect();
    found.retain(|suggestion| suggestion.slug.is_some() || !named.contains(&suggestion.suggestion.to_lowercase()));
}

fn of_name(text: &str, name: &str, slug: &str, project: &str) -> Option<Suggestion> {
    let key = name::key(text);
    let (kind, score) = if !key.is_empty() && name::has_key(name, &key) {
        (SuggestionKind::Name, 1.0)
    } else {
        let near = near(text, name)?;
        (kind_of(near.nearness), near.strength)
    };
    Some(Suggestion {
        suggestion: name.to_owned(),
        kind,
        slug: Some(slug.to_owned()),
        project: Some(project.to_owned()),
        score,
    })
}

fn kind_of(nearness: Nearness) -> SuggestionKind {
    match nearness {
        Nearness::Prefix | Nearness::Humps | Nearness::Part => SuggestionKind::Completion,
        Nearness::Typo => SuggestionKind::Correction,
    }
}

/// A word of the vocabulary that replaces one of the text.
#[derive(Clone, Copy, Debug)]
struct Replacement<'a> {
    at: usize,
    known: &'a str,
    near: NearName,
}

impl Replacement<'_> {
    /// The text with this replacement, and with the nearest ones for other mistyped words: a text with a mistake left
    /// finds no more than before.
    fn with_others(&self, words: &[&str], all: &[Replacement<'_>]) -> Suggestion {
        let mut written: Vec<&str> = words.to_vec();
        let mut score = self.near.strength;
        for (at, word) in written.iter_mut().enumerate() {
            let here = all.iter().filter(|other| other.at == at);
            let nearest = here
                .filter(|other| other.near.nearness == Nearness::Typo)
                .max_by(|a, b| {
                    a.near
                        .strength
                        .total_cmp(&b.near.strength)
                        .then_with(|| b.known.cmp(a.known))
                });
            if at == self.at {
                *word = self.known;
            } else if let Some(nearest) = nearest {
                *word = nearest.known;
                score = score.min(nearest.near.strength);
            }
        }
        Suggestion {
            suggestion: written.join(" "),
            kind: kind_of(self.near.nearness),
            slug: None,
            project: None,
            score,
        }
    }
}

/// The replacement of the nearest word of the text. Only the last word can be incomplete.
fn of_word<'a>(words: &[&str], known: &'a str) -> Option<Replacement<'a>> {
    if words.iter().any(|word| word.eq_ignore_ascii_case(known)) {
        return None;
    }
    let last = words.len().saturating_sub(1);
    let (at, near) = words
        .iter()
        .enumerate()
        .filter_map(|(at, word)| Some((at, near(word, known)?)))
        .filter(|(at, near)| *at == last || near.nearness == Nearness::Typo)
        .max_by(|a, b| a.1.strength.total_cmp(&b.1.strength))?;
    Some(Replacement { at, known, near })
}

/// The query with plainer verbs, closest first: `update data` for `manage data`.
pub fn phrasings(understanding: &Understanding, rules: &Rules, limit: usize) -> Vec<Suggestion> {
    let Some(action) = understanding.terms.iter().find(|term| term.role == Role::Action) else {
        return Vec::new();
    };
    let rest: Vec<&str> = understanding
        .terms
        .iter()
        .filter(|term| term.role != Role::Action)
        .map(|term| term.word.text.as_str())
        .collect();
    let synonyms = action
        .verb
        .as_ref()
        .and_then(|verb| rules.tables().action_synonyms.get(verb));
    let mut verbs: Vec<(&String, f32)> = synonyms
        .into_iter()
        .flatten()
        .map(|(verb, &closeness)| (verb, closeness))
        .collect();
    verbs.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    verbs
        .into_iter()
        .take(limit)
        .map(|(verb, score)| Suggestion {
            suggestion: format!("{verb} {}", rest.join(" ")),
            kind: SuggestionKind::Phrasing,
            slug: None,
            project: None,
            score,
        })
        .collect()
}

/// A page of the results.
#[derive(Clone, Copy, Debug)]
pub struct TitledPage<'a> {
    /// The title.
    pub title: &'a str,
    /// The slug.
    pub slug: &'a str,
    /// The project.
    pub project: &'a str,
    /// The score.
    pub score: f32,
}

/// Most words of a title that is a task.
const MAX_ORDER_WORDS: usize = 5;

/// Whether a text of several words names an object and no clear task: `user search functionality`, `work with files`,
/// `file operations`.
pub fn is_vague(understanding: &Understanding, rules: &Rules) -> bool {
    let verb = understanding.terms.iter().find_map(|term| term.verb.as_deref());
    let says_nothing = |verb: &str| is_vague_verb(verb, rules);
    let ends_in_verb = || {
        understanding
            .terms
            .last()
            .is_some_and(|term| rules.verb(&term.word.text).is_some())
    };
    let objects = understanding.terms.iter().filter(|term| is_object(term, rules)).count();
    objects > 0
        && understanding.terms.len() > 1
        && verb.map_or_else(
            || understanding.kind.is_some() || (!understanding.framed && ends_in_verb()),
            says_nothing,
        )
}

/// A verb whose synonyms have at least this number of intents is vague: `manage` reads, writes, creates and deletes.
const WIDE_INTENTS: usize = 3;
/// Closeness from which on a synonym with an intent makes a verb clear: `load` for `import`.
const MIN_CLEAR_CLOSENESS: f32 = 0.7;

/// Whether a verb is vague: by its own synonyms, by a vague synonym (`handle`, by `manage`), or by a synonym of that
/// (`process`, by `handle`).
fn is_vague_verb(verb: &str, rules: &Rules) -> bool {
    let expansions = |verb: &str| rules.tables().action_synonyms.get(verb).into_iter().flatten();
    let is_open = |verb: &str| rules.intent(verb).is_none();
    let is_wide = |verb: &str| {
        let clear = expansions(verb).filter_map(|(other, closeness)| Some((rules.intent(other)?, closeness)));
        let intents: HashSet<Intent> = clear.clone().map(|(intent, _)| intent).collect();
        is_open(verb)
            && intents.len() >= WIDE_INTENTS
            && clear.clone().all(|(_, closeness)| *closeness < MIN_CLEAR_CLOSENESS)
    };
    let leads_there = |verb: &str| is_wide(verb) || is_open(verb) && expansions(verb).any(|(other, _)| is_wide(other));
    leads_there(verb) || is_open(verb) && expansions(verb).any(|(other, _)| leads_there(other))
}

/// Whether a word is an object of a task.
fn is_object(term: &Term, rules: &Rules) -> bool {
    term.role != Role::Action && !rules.tables().kind_words.contains(&term.word.text)
}

/// Titles of pages that are tasks with the query's object, the verb first: `search users` for `user search
/// functionality`. In the order of the pages.
pub fn orders<'a>(
    understanding: &Understanding,
    rules: &Rules,
    pages: impl IntoIterator<Item = TitledPage<'a>>,
    limit: usize,
) -> Vec<Suggestion> {
    let objects: Vec<&Term> = understanding
        .terms
        .iter()
        .filter(|term| is_object(term, rules))
        .collect();
    let key = name::key(&understanding.topic);
    let mut found: Vec<Suggestion> = Vec::new();
    for page in pages {
        let mut words: Vec<String> = words(page.title)
            .into_iter()
            .map(|word| page.title[word].to_lowercase())
            .collect();
        let is_verb = |word: &String| rules.verb(word).is_some_and(|verb| verb == word);
        if !words.first().is_some_and(is_verb) && words.last().is_some_and(is_verb) {
            words.rotate_right(1);
        }
        let has = |term: &&Term| words.iter().skip(1).any(|word| term.word.matches(word));
        let is_order = words.first().is_some_and(is_verb) && words.len() <= MAX_ORDER_WORDS && objects.iter().any(has);
        let suggestion = words.join(" ");
        if is_order && name::key(&suggestion) != key && found.iter().all(|known| known.suggestion != suggestion) {
            found.push(Suggestion {
                suggestion,
                kind: SuggestionKind::Phrasing,
                slug: Some(page.slug.to_owned()),
                project: Some(page.project.to_owned()),
                score: page.score,
            });
        }
    }
    found.truncate(limit);
    found
}

/// A regular expression (PostgreSQL's advanced ones) for words that begin with a lexeme. The stemmer turns a final
/// "y" into an "i". All other characters match themselves.
pub fn beginning(lexeme: &str) -> String {
    let stem = lexeme.strip_suffix('i');
    let mut pattern = String::with_capacity(lexeme.len() + 3);
    for c in stem.unwrap_or(lexeme).chars() {
        if !c.is_alphanumeric() {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    if stem.is_some() {
        pattern.push_str("[iy]");
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::container::KnownNames;
    use proptest::prelude::*;

    const SOURCES: [SuggestionSource<'_>; 6] = [
        SuggestionSource::Name {
            name: "NavigationView",
            slug: "navigationview",
            project: "apple",
        },
        SuggestionSource::Name {
            name: "NavigationStack",
            slug: "navigationstack",
            project: "apple",
        },
        SuggestionSource::Name {
            name: "Button",
            slug: "button",
            project: "apple",
        },
        SuggestionSource::Name {
            name: "ButtonStyle",
            slug: "buttonstyle",
            project: "apple",
        },
        SuggestionSource::Word("navigation"),
        SuggestionSource::Word("button"),
    ];

    fn texts(text: &str) -> Vec<String> {
        suggestions(text, SOURCES, 10)
            .into_iter()
            .map(|found| found.suggestion)
            .collect()
    }

    #[test]
    fn s0_23_names_are_suggested_for_what_was_typed() {
        assert_eq!(texts("navvie"), ["NavigationView"]);
        assert_eq!(texts("nav"), ["navigation", "NavigationView", "NavigationStack"]);
        assert_eq!(texts("button")[..2], ["Button", "ButtonStyle"]);
        assert_eq!(texts("press the buton"), ["press the button"]);
        assert_eq!(texts(""), Vec::<String>::new());
    }

    /// A correction leaves no mistake that another word corrects.
    #[test]
    fn every_mistyped_word_is_corrected() {
        let known = ["create", "table", "navigation"].map(SuggestionSource::Word);
        let suggested = |text: &str| -> Vec<String> {
            let found = suggestions(text, known, 10).into_iter();
            found.map(|found| found.suggestion).collect()
        };
        assert_eq!(suggested("creaet tabel"), ["create table"]);
        assert_eq!(suggested("creaet a tabel"), ["create a table"]);
        assert_eq!(suggested("create tabel"), ["create table"]);
        assert_eq!(suggested("creaet tab"), ["create tab", "create table"]);
        assert_eq!(
            suggested("creaet the navig"),
            ["create the navig", "create the navigation"]
        );
    }

    #[test]
    fn s2_15_a_vague_verb_gets_plainer_ones() {
        let rules = Rules::english();
        let understanding = Understanding::read("manage data", &rules, &KnownNames::default());
        let found = phrasings(&understanding, &rules, 5);
        assert!(found.iter().any(|found| found.suggestion == "update data"), "{found:?}");
    }

    #[test]
    fn s2_23_a_text_that_names_its_object_first_gets_titles_that_are_tasks() {
        let rules = Rules::english();
        let read = |text: &str| Understanding::read(text, &rules, &KnownNames::default());
        let pages = [
            ("search_users", "Find people"),
            ("user_delete", "b"),
            ("write_file", "c"),
            ("Files and users", "d"),
            ("update parcel", "e"),
            ("send_message", "f"),
        ];
        let pages = || {
            pages.iter().map(|&(title, slug)| TitledPage {
                title,
                slug,
                project: "kit",
                score: 0.5,
            })
        };
        let suggested = |text: &str| -> Vec<String> {
            assert!(is_vague(&read(text), &rules), "{text}");
            let found = orders(&read(text), &rules, pages(), 5).into_iter();
            found.map(|found| found.suggestion).collect()
        };
        assert_eq!(suggested("user search functionality"), ["search users", "delete user"]);
        assert_eq!(suggested("user search"), ["search users", "delete user"]);
        for text in [
            "file operations",
            "deal with files",
            "file handling",
            "process files",
            "work with a file",
        ] {
            assert_eq!(suggested(text), ["write file"], "{text}");
        }
        assert_eq!(suggested("work with parcels"), ["update parcel"]);
        for text in ["handle messages", "manage messages", "message management"] {
            assert_eq!(suggested(text), ["send message"], "{text}");
        }
        for text in [
            "search users",
            "delete the user",
            "users",
            "state",
            "red users",
            "how do users sign in?",
        ] {
            assert!(!is_vague(&read(text), &rules), "{text}");
        }
    }

    #[test]
    fn a_lexeme_means_itself_in_a_regular_expression() {
        assert_eq!(beginning("retri"), "retr[iy]");
        assert_eq!(beginning("libstdc++"), "libstdc\\+\\+");
        assert_eq!(beginning("naïv"), "naïv");
    }

    proptest! {
        #[test]
        fn the_order_of_the_sources_does_not_matter(text in "[abnotuvi ]{0,8}", shuffled in Just(SOURCES.to_vec()).prop_shuffle()) {
            prop_assert_eq!(suggestions(&text, SOURCES, 4), suggestions(&text, shuffled, 4));
        }
    }
}
