//! Which of the candidates become queries.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::candidate::Candidate;
use super::hiding::{Edit, HiddenPage, hide};
use super::phrase::{Corpus, MIN_CONTENT_WORDS};
use super::sides::stable_hash;
use super::{Derivation, DerivationLimits, DerivedKind, DerivedQuery, SourcePage};
use crate::documents::markdown::plain_text;
use crate::values::interrupt::check;

/// How often some edits of a page may fail before all do: Markdown that is that strange has no good queries.
const MAX_FAILURES: usize = 2;

/// Chooses queries by a hash of their texts, within the limits, and hides their texts.
pub(super) fn select(
    pages: &[SourcePage],
    candidates: Vec<Candidate>,
    held_out: &[bool],
    limits: &DerivationLimits,
    corpus: &Corpus,
) -> Derivation {
    let hash =
        |candidate: &Candidate| stable_hash(&[candidate.kind.as_str(), &pages[candidate.page].slug, &candidate.text]);
    let mut candidates: Vec<(u64, Candidate)> = candidates.into_iter().map(|found| (hash(&found), found)).collect();
    candidates.sort_by(|(a, first), (b, second)| a.cmp(b).then_with(|| first.text.cmp(&second.text)));
    let mut unusable = Unusable::default();
    let mut pages_by_edits = HashMap::new();
    loop {
        let chosen = chosen(&candidates, &unusable, held_out, limits);
        let failed = hide_all(pages, &chosen, &mut pages_by_edits);
        if !failed.is_empty() {
            unusable.add(failed);
            continue;
        }
        let emptying = emptying(&chosen, &pages_by_edits, corpus);
        if emptying.is_empty() {
            return derivation(pages, &chosen, pages_by_edits, held_out);
        }
        unusable.edits.extend(emptying);
    }
}

/// Edits that would change more than the hidden text.
#[derive(Default)]
struct Unusable {
    edits: HashSet<(usize, Edit)>,
    /// How often edits of a page have failed.
    failures: HashMap<usize, usize>,
}

impl Unusable {
    fn add(&mut self, failed: Vec<(usize, Edit)>) {
        let pages: HashSet<usize> = failed.iter().map(|(page, _)| *page).collect();
        for page in pages {
            *self.failures.entry(page).or_default() += 1;
        }
        self.edits.extend(failed);
    }

    fn contains(&self, edit: &(usize, Edit)) -> bool {
        let failures = self.failures.get(&edit.0).copied().unwrap_or_default();
        failures > MAX_FAILURES || self.edits.contains(edit)
    }
}

/// Pages without some of their texts, with the edits that were applied.
type HiddenPages = HashMap<usize, (BTreeSet<Edit>, HiddenPage)>;

/// The first candidates that the limits admit, and whose edits are usable.
fn chosen<'c>(
    candidates: &'c [(u64, Candidate)],
    unusable: &Unusable,
    held_out: &[bool],
    limits: &DerivationLimits,
) -> Vec<&'c Candidate> {
    let mut of_kind: HashMap<(DerivedKind, bool), usize> = HashMap::new();
    let mut of_page: HashMap<usize, usize> = HashMap::new();
    let mut of_both: HashMap<(DerivedKind, usize), usize> = HashMap::new();
    let mut edits: HashMap<usize, BTreeSet<&Edit>> = HashMap::new();
    let mut chosen = Vec::new();
    for (_, candidate) in candidates {
        check();
        let Candidate { kind, page, .. } = *candidate;
        let of_kind = of_kind.entry((kind, held_out[page])).or_default();
        let of_page = of_page.entry(page).or_default();
        let of_both = of_both.entry((kind, page)).or_default();
        let is_full = *of_kind >= limits.of_kind / 2
            || kind.is_hidden() && (*of_page >= limits.of_page || *of_both >= limits.of_kind_and_page);
        let is_usable = |edit: &(usize, Edit)| {
            let own = edits.get(&edit.0);
            own.is_none_or(|own| own.iter().all(|own| !own.conflicts(&edit.1))) && !unusable.contains(edit)
        };
        if is_full || !candidate.edits.iter().all(is_usable) {
            continue;
        }
        for (page, edit) in &candidate.edits {
            edits.entry(*page).or_default().insert(edit);
        }
        *of_kind += 1;
        *of_page += usize::from(kind.is_hidden());
        *of_both += 1;
        chosen.push(candidate);
    }
    chosen
}

/// Hides the texts of the chosen candidates, unless it was done before. Returns the edits that cannot be applied.
fn hide_all(pages: &[SourcePage], chosen: &[&Candidate], done: &mut HiddenPages) -> Vec<(usize, Edit)> {
    let mut edits: HashMap<usize, BTreeSet<Edit>> = (0..pages.len()).map(|page| (page, BTreeSet::new())).collect();
    for (page, edit) in chosen.iter().flat_map(|candidate| &candidate.edits) {
        edits.entry(*page).or_default().insert(edit.clone());
    }
    let mut failed = Vec::new();
    for (place, edits) in edits {
        if done.get(&place).is_some_and(|(known, _)| *known == edits) {
            continue;
        }
        check();
        match hide(&pages[place], &edits) {
            Some(hidden) => {
                done.insert(place, (edits, hidden));
            }
            None => {
                let fails_alone = |edit: &Edit| hide(&pages[place], &BTreeSet::from([edit.clone()])).is_none();
                let alone: Vec<Edit> = edits.iter().filter(|edit| fails_alone(edit)).cloned().collect();
                let failing = if alone.is_empty() {
                    edits.into_iter().collect()
                } else {
                    alone
                };
                failed.extend(failing.into_iter().map(|edit| (place, edit)));
            }
        }
    }
    failed
}

/// Edits without which each page whose summary is hidden says something: those of queries about other pages, or else that
/// of the summary. So another page with such a query does not change what is asked about this one.
fn emptying(chosen: &[&Candidate], hidden: &HiddenPages, corpus: &Corpus) -> Vec<(usize, Edit)> {
    let mut emptying = Vec::new();
    for summary in chosen.iter().filter(|found| found.kind == DerivedKind::Summary) {
        let page = summary.page;
        let (edits, without) = &hidden[&page];
        // The summary alone leaves enough, or it would be no candidate.
        let is_alone = edits.len() == summary.edits_of(page).count();
        let left = || corpus.distinct_content_words(&plain_text(&without.body)).len();
        if is_alone || left() >= MIN_CONTENT_WORDS {
            continue;
        }
        let of_own: HashSet<&Edit> = chosen
            .iter()
            .filter(|found| found.page == page)
            .flat_map(|found| found.edits_of(page))
            .collect();
        let mut unwanted: Vec<&Edit> = edits.iter().filter(|edit| !of_own.contains(edit)).collect();
        if unwanted.is_empty() {
            unwanted.extend(summary.edits_of(page));
        }
        emptying.extend(unwanted.into_iter().map(|edit| (page, edit.clone())));
    }
    emptying
}

fn derivation(pages: &[SourcePage], chosen: &[&Candidate], mut hidden: HiddenPages, held_out: &[bool]) -> Derivation {
    let pages_in_order = (0..pages.len()).map(|place| hidden.remove(&place).unwrap_or_default().1);
    let hidden: Vec<HiddenPage> = pages_in_order.collect();
    let mut queries: Vec<DerivedQuery> = chosen
        .iter()
        .map(|candidate| {
            let page = candidate.page;
            let section = candidate.section.and_then(|section| hidden[page].sections.get(section));
            let (anchor, hidden_anchor) = section.cloned().unwrap_or_default();
            DerivedQuery {
                kind: candidate.kind,
                text: candidate.text.clone(),
                slug: pages[page].slug.clone(),
                anchor,
                hidden_anchor,
                hidden_slug: hidden[page].slug.clone(),
                held_out: held_out[page],
            }
        })
        .collect();
    queries.sort_by(|a, b| (a.kind, &a.text, &a.slug).cmp(&(b.kind, &b.text, &b.slug)));
    Derivation { queries, pages: hidden }
}
