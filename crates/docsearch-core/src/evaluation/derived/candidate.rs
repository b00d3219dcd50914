//! Texts of documents that may be queries.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::hiding::{Edit, headed, hidden_slug};
use super::link::{Addresses, Anchors};
use super::name::name_of;
use super::phrase::{Corpus, MAX_WORDS, MIN_CONTENT_WORDS, normalized, stems, unnumbered};
use super::summary::summary;
use super::title::{self, Lines};
use super::{DerivedKind, SourcePage};
use crate::documents::markdown::{Section, introductions, links};
use crate::text::name::key;
use crate::text::token::is_unspaced;
use crate::values::interrupt::check;

/// Longest text of a query, in characters.
const MAX_CHARS: usize = 200;
/// Longest name, in words.
const MAX_NAME_WORDS: usize = 8;
/// The same for the description of an example, which says less about its page than a heading does.
const MIN_EXAMPLE_WORDS: usize = 3;
/// Marks at the end of a question in several scripts.
const QUESTION_MARKS: [char; 5] = ['?', '？', '؟', '\u{37e}', '՞'];

/// A text that may be a query.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) kind: DerivedKind,
    /// The query.
    pub(super) text: String,
    /// Place of the right page.
    pub(super) page: usize,
    /// The right section, counted among those with a heading.
    pub(super) section: Option<usize>,
    /// What has to be hidden, by page.
    pub(super) edits: Vec<(usize, Edit)>,
}

impl Candidate {
    /// What has to be hidden in a page.
    pub(super) fn edits_of(&self, page: usize) -> impl Iterator<Item = &Edit> {
        self.edits
            .iter()
            .filter(move |(edited, _)| *edited == page)
            .map(|(_, edit)| edit)
    }
}

/// All texts of the pages that may be queries.
pub(super) fn candidates(pages: &[SourcePage], root_url: Option<&str>, corpus: &Corpus) -> Vec<Candidate> {
    let mut texts = Texts::default();
    let sections: Vec<Vec<Section>> = pages.iter().map(|page| headed(&page.body)).collect();
    let anchors: Vec<Anchors<'_>> = pages
        .iter()
        .zip(&sections)
        .map(|(page, own)| Anchors::of(page, own))
        .collect();
    let addresses = Addresses::of(pages, root_url);
    for (place, page) in pages.iter().enumerate() {
        check();
        texts.headings(place, page, &sections[place]);
        texts.summary(place, page, &sections[place], corpus);
        texts.questions(place, page, &anchors[place]);
        texts.examples(place, page, &sections[place]);
        for (target, found) in linked(place, page, &addresses, &anchors) {
            texts.add(target, found);
        }
    }
    texts.titles(pages, &sections, corpus);
    let mut found: Vec<Candidate> = texts.distinct();
    found.retain(|candidate| {
        let least = match candidate.kind {
            DerivedKind::Title => return true,
            DerivedKind::Example => MIN_EXAMPLE_WORDS,
            _ => MIN_CONTENT_WORDS,
        };
        says_more(&pages[candidate.page], &candidate.text, corpus, least)
    });
    drop_repeated(&mut found, corpus);
    let tasks: Vec<Candidate> = found
        .iter()
        .filter_map(|found| task(&pages[found.page], found))
        .collect();
    let names = names(pages);
    // Where a title is hidden, nothing can be found by it.
    let renamed: HashSet<usize> = found
        .iter()
        .filter(|found| found.kind == DerivedKind::Title)
        .map(|found| found.page)
        .collect();
    let named = tasks.into_iter().chain(names);
    found.extend(named.filter(|named| !renamed.contains(&named.page)));
    found.extend(keywords(pages, corpus));
    found
}

/// Texts by their words and page.
#[derive(Default)]
struct Texts(BTreeMap<(String, usize), Vec<Candidate>>);

impl Texts {
    fn add(&mut self, phrase: String, candidate: Candidate) {
        let words = phrase.split(' ').count();
        let is_long = words > MAX_WORDS || candidate.text.chars().count() > MAX_CHARS;
        if phrase.is_empty() || is_long || candidate.text.contains("://") {
            return;
        }
        self.0.entry((phrase, candidate.page)).or_default().push(candidate);
    }

    fn headings(&mut self, place: usize, page: &SourcePage, sections: &[Section]) {
        if page.is_grouped {
            return;
        }
        for (number, section) in sections.iter().enumerate() {
            let Some(heading) = section.heading_path.last() else {
                continue;
            };
            let is_question = heading.trim_end().ends_with(QUESTION_MARKS);
            let text = unnumbered(heading);
            let candidate = Candidate {
                kind: if is_question {
                    DerivedKind::Question
                } else {
                    DerivedKind::Heading
                },
                text: text.to_owned(),
                page: place,
                section: Some(number),
                edits: vec![(place, Edit::of_heading(&page.body, section))],
            };
            self.add(normalized(text), candidate);
        }
    }

    fn questions(&mut self, place: usize, page: &SourcePage, anchors: &Anchors<'_>) {
        for (number, question) in page.questions.iter().enumerate() {
            let candidate = Candidate {
                kind: DerivedKind::Question,
                text: question.question.clone(),
                page: place,
                section: anchors.find(&question.anchor),
                edits: vec![(place, Edit::Question(number))],
            };
            self.add(normalized(&question.question), candidate);
        }
    }

    fn examples(&mut self, place: usize, page: &SourcePage, sections: &[Section]) {
        for example in introductions(&page.body) {
            let after = sections.partition_point(|section| section.range.start <= example.range.start);
            let candidate = Candidate {
                kind: DerivedKind::Example,
                page: place,
                section: after.checked_sub(1),
                edits: vec![(place, text_of(example.range))],
                text: unnumbered(&example.text).to_owned(),
            };
            self.add(normalized(&candidate.text), candidate);
        }
    }

    fn summary(&mut self, place: usize, page: &SourcePage, sections: &[Section], corpus: &Corpus) {
        // One of title and summary stays, to say what the page is about.
        if !sections.is_empty() || page.is_grouped || title::may_be_hidden(page) {
            return;
        }
        if let Some((text, edits)) = summary(page, corpus) {
            let candidate = Candidate {
                kind: DerivedKind::Summary,
                page: place,
                section: None,
                edits: edits.into_iter().map(|edit| (place, edit)).collect(),
                text,
            };
            self.add(normalized(&candidate.text), candidate);
        }
    }

    fn titles(&mut self, pages: &[SourcePage], sections: &[Vec<Section>], corpus: &Corpus) {
        let slugs: HashSet<&str> = pages.iter().map(|page| page.slug.as_str()).collect();
        let titled = pages.iter().enumerate().filter_map(|(place, page)| {
            let is_usable = title::may_be_hidden(page) && !slugs.contains(hidden_slug(&page.slug).as_str());
            let text = title::query(&page.title, corpus).filter(|_| is_usable)?;
            Some((place, page, text))
        });
        let titled: Vec<(usize, &SourcePage, String)> = titled.collect();
        let wanted: HashSet<String> = titled
            .iter()
            .flat_map(|(_, page, text)| title::phrases(page, text))
            .collect();
        let lines = Lines::of(pages, |phrase| wanted.contains(phrase));
        for (place, page, text) in titled {
            let candidate = Candidate {
                kind: DerivedKind::Title,
                page: place,
                section: None,
                edits: lines.edits(place, page, &text, &sections[place]),
                text,
            };
            self.add(normalized(&candidate.text), candidate);
        }
    }

    /// The texts that are about one page and one section of it, each once.
    fn distinct(self) -> Vec<Candidate> {
        let mut pages_of: HashMap<String, usize> = HashMap::new();
        for (phrase, _) in self.0.keys() {
            *pages_of.entry(phrase.clone()).or_default() += 1;
        }
        let about_one_page = self.0.into_iter().filter(|((phrase, _), _)| pages_of[phrase] == 1);
        about_one_page.filter_map(|(_, same)| merged(same)).collect()
    }
}

/// One candidate for texts with the same words: the strongest kind, with the edits of all. `None` if they name different
/// sections.
fn merged(mut same: Vec<Candidate>) -> Option<Candidate> {
    same.sort_by(|a, b| (a.kind, &a.text).cmp(&(b.kind, &b.text)));
    let sections: HashSet<usize> = same.iter().filter_map(|candidate| candidate.section).collect();
    if sections.len() > 1 {
        return None;
    }
    let mut edits: Vec<(usize, Edit)> = same.iter().flat_map(|candidate| candidate.edits.clone()).collect();
    edits.sort();
    edits.dedup();
    let first = same.into_iter().next()?;
    let section = sections.into_iter().next();
    Some(Candidate {
        section: section.filter(|_| first.kind != DerivedKind::Title),
        edits,
        ..first
    })
}

/// The texts of the links of a page that lead to others.
fn linked(place: usize, page: &SourcePage, addresses: &Addresses, anchors: &[Anchors<'_>]) -> Vec<(String, Candidate)> {
    let others = links(&page.body).into_iter().filter_map(|link| {
        let (target, fragment) = addresses.resolve(page, &link.target)?;
        let text = link.text.split_whitespace().collect::<Vec<&str>>().join(" ");
        if target == place {
            return None;
        }
        let candidate = Candidate {
            kind: DerivedKind::Link,
            page: target,
            section: anchors[target].find(fragment),
            edits: vec![(place, text_of(link.range))],
            text,
        };
        Some((normalized(&candidate.text), candidate))
    });
    others.collect()
}

fn text_of(range: Range<usize>) -> Edit {
    Edit::Text {
        start: range.start,
        end: range.end,
    }
}

/// Whether a query has words enough, and others than the title and the slug of its page.
pub(super) fn says_more(page: &SourcePage, text: &str, corpus: &Corpus, least: usize) -> bool {
    let content = corpus.distinct_content_words(text);
    let mut known = stems(&page.title);
    known.extend(stems(&page.slug));
    let is_new = |word: &String| stems(word).iter().any(|stem| !known.contains(stem));
    content.len() >= least && content.iter().any(is_new)
}

/// Drops the candidates whose words are also on another page, besides what is hidden there.
fn drop_repeated(candidates: &mut Vec<Candidate>, corpus: &Corpus) {
    let phrases: Vec<&str> = candidates.iter().map(|candidate| candidate.text.as_str()).collect();
    let mut occurrences = corpus.occurrences(&phrases).into_iter();
    candidates.retain(|candidate| {
        let of_pages = occurrences.next().unwrap_or_default();
        of_pages.into_iter().all(|(page, times)| {
            let hidden = candidate.edits.iter().filter(|(edited, _)| *edited == page).count();
            page == candidate.page || times <= hidden
        })
    });
}

/// The name of the page with the text of a heading or example.
fn task(page: &SourcePage, found: &Candidate) -> Option<Candidate> {
    if !matches!(found.kind, DerivedKind::Heading | DerivedKind::Example) {
        return None;
    }
    let name = name_of(&page.title)?;
    let phrase = format!(" {} ", normalized(&found.text));
    let has_name = phrase.contains(&format!(" {} ", normalized(name)));
    (!has_name).then(|| Candidate {
        kind: DerivedKind::SymbolTask,
        text: format!("{name} {}", found.text),
        ..found.clone()
    })
}

/// Keywords of several words. Those of one word say too little, and indexing chooses only such.
fn keywords(pages: &[SourcePage], corpus: &Corpus) -> Vec<Candidate> {
    let mut by_words: BTreeMap<String, Vec<Option<Candidate>>> = BTreeMap::new();
    for (place, page) in pages.iter().enumerate() {
        let is_phrase = |keyword: &str| keyword.contains(|c: char| c.is_whitespace() || is_unspaced(c));
        let numbered = page.keywords.iter().enumerate();
        let phrases =
            numbered.filter(|(_, keyword)| is_phrase(keyword) && says_more(page, keyword, corpus, MIN_CONTENT_WORDS));
        for (among, (number, keyword)) in phrases.enumerate() {
            let candidate = Candidate {
                kind: DerivedKind::Keyword,
                text: keyword.clone(),
                page: place,
                section: None,
                edits: vec![(place, Edit::Keyword(number))],
            };
            // Indexing would choose keywords for a page without any.
            let stays = among + 1 == page.keywords.len();
            by_words
                .entry(normalized(keyword))
                .or_default()
                .push((!stays).then_some(candidate));
        }
    }
    let unique = by_words.into_values().filter(|same| same.len() == 1).flatten();
    unique.flatten().collect()
}

/// Titles, or the symbols in them, that one page has.
fn names(pages: &[SourcePage]) -> Vec<Candidate> {
    let mut by_key: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
    for (place, page) in pages.iter().enumerate() {
        let name = name_of(&page.title).unwrap_or(page.title.trim());
        let key = key(name);
        if key.is_empty() || name.split_whitespace().count() > MAX_NAME_WORDS {
            continue;
        }
        by_key.entry(key).or_default().push(Candidate {
            kind: DerivedKind::Name,
            text: name.to_owned(),
            page: place,
            section: None,
            edits: Vec::new(),
        });
    }
    by_key.into_values().filter(|same| same.len() == 1).flatten().collect()
}
