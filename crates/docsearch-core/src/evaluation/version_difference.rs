//! What changed between two versions of a documentation: pages, sections and links.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use strum::IntoStaticStr;

use crate::documents::similar_texts::{Shingles, similar_others};
use crate::evaluation::exchange::reference;
use crate::values::interrupt::check;

mod link;
mod page;
use page::Targets;
pub use page::{VersionPage, VersionSection};

/// Least similarity of a page or section with another name that is the same one. Chosen, not measured.
const RENAMED: f64 = 0.5;
/// Least similarity of a section that has moved to another page. Chosen, not measured.
const MOVED: f64 = 0.8;
/// Shingles of the shortest text that is recognised under another name: 10 words.
const MIN_SHINGLES: usize = 6;

/// What happened to a page, a section or a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ChangeKind {
    PageRemoved,
    PageRenamed,
    PageAdded,
    SectionRemoved,
    SectionRenamed,
    SectionMoved,
    SectionChanged,
    SectionAdded,
    LinkBroken,
    NameMissing,
    QueryWorse,
}

/// A change from one version to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// Reference in the earlier version.
    pub before: Option<String>,
    /// Reference in the later version.
    pub after: Option<String>,
    /// Similarity of the texts before and after, 0 to 1.
    pub similarity: Option<f64>,
    /// Title, with the earlier one before an arrow if it differs; or the link.
    pub detail: String,
}

/// The changes between two versions.
#[derive(Clone, Debug, Default)]
pub struct VersionDifference {
    /// In the order of kinds, then of references.
    pub changes: Vec<Change>,
    /// The slug after of each slug before, of pages that both versions have.
    pub counterparts: HashMap<String, String>,
}

impl VersionDifference {
    /// Compares two versions. `others` are slugs of pages that are not of the later version, to which links may lead.
    pub fn new(before: &[VersionPage], after: &[VersionPage], others: &HashSet<String>) -> Self {
        let pages = Matching::of_pages(before, after);
        let mut changes: Vec<Change> = Vec::new();
        for &(old, new, _) in &pages.pairs {
            let (old, new) = (&before[old], &after[new]);
            if old.key != new.key || old.title != new.title {
                let similarity = Some(old.shingles.similarity(&new.shingles));
                changes.push(change(
                    ChangeKind::PageRenamed,
                    Some((&old.slug, &old.title)),
                    Some((&new.slug, &new.title)),
                    similarity,
                ));
            }
        }
        for &old in &pages.removed {
            changes.push(change(
                ChangeKind::PageRemoved,
                Some((&before[old].slug, &before[old].title)),
                None,
                None,
            ));
        }
        for &new in &pages.added {
            changes.push(change(
                ChangeKind::PageAdded,
                None,
                Some((&after[new].slug, &after[new].title)),
                None,
            ));
        }
        changes.extend(section_changes(before, after, &pages));
        changes.extend(broken_links(before, after, others));
        changes.sort_by(|a, b| (a.kind, &a.before, &a.after, &a.detail).cmp(&(b.kind, &b.before, &b.after, &b.detail)));
        let pairs = pages.pairs.iter();
        let counterparts = pairs
            .map(|&(old, new, _)| (before[old].slug.clone(), after[new].slug.clone()))
            .collect();
        Self { changes, counterparts }
    }
}

fn change(
    kind: ChangeKind,
    before: Option<(&str, &str)>,
    after: Option<(&str, &str)>,
    similarity: Option<f64>,
) -> Change {
    let detail = match (before, after) {
        (Some((_, old)), Some((_, new))) if old != new => format!("{old} -> {new}"),
        (_, Some((_, title))) | (Some((_, title)), None) => title.to_owned(),
        (None, None) => String::new(),
    };
    Change {
        kind,
        before: before.map(|(reference, _)| reference.to_owned()),
        after: after.map(|(reference, _)| reference.to_owned()),
        similarity,
        detail,
    }
}

/// Which texts of two lists are the same.
#[derive(Default)]
struct Matching {
    /// Places before and after, with the similarity of those with different names.
    pairs: Vec<(usize, usize, f64)>,
    removed: Vec<usize>,
    added: Vec<usize>,
}

impl Matching {
    /// Pages with one key are the same; of the others, those with the most similar texts.
    fn of_pages(before: &[VersionPage], after: &[VersionPage]) -> Self {
        let mut matching = Self::by_key(
            before.iter().map(|page| page.key.as_str()),
            after.iter().map(|page| page.key.as_str()),
        );
        matching.match_similar(
            RENAMED,
            |place| (&before[place].shingles, before[place].slug.clone()),
            |place| (&after[place].shingles, after[place].slug.clone()),
        );
        matching
    }

    /// Matches equal keys, several of one key in order.
    fn by_key<'a>(before: impl Iterator<Item = &'a str>, after: impl Iterator<Item = &'a str>) -> Self {
        let mut places: BTreeMap<&str, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (place, key) in before.enumerate() {
            places.entry(key).or_default().0.push(place);
        }
        for (place, key) in after.enumerate() {
            places.entry(key).or_default().1.push(place);
        }
        let mut matching = Self::default();
        for (old, new) in places.into_values() {
            let both = old.len().min(new.len());
            matching
                .pairs
                .extend(old.iter().zip(&new).map(|(old, new)| (*old, *new, 1.0)));
            matching.removed.extend(&old[both..]);
            matching.added.extend(&new[both..]);
        }
        matching
    }

    /// Matches what is left by text, the most similar first. `old` and `new` give text and reference of a place.
    fn match_similar<'a>(
        &mut self,
        threshold: f64,
        old: impl Fn(usize) -> (&'a Shingles, String),
        new: impl Fn(usize) -> (&'a Shingles, String),
    ) {
        let olds: Vec<(&Shingles, String)> = self.removed.iter().map(|place| old(*place)).collect();
        let news: Vec<(&Shingles, String)> = self.added.iter().map(|place| new(*place)).collect();
        let [from, to] = [&olds, &news].map(|texts| texts.iter().map(|(shingles, _)| *shingles).collect::<Vec<_>>());
        let similar = similar_others(&from, &to, threshold);
        let mut candidates: Vec<(f64, [&str; 2], usize, usize)> = Vec::new();
        let is_long = |shingles: &Shingles| shingles.are_at_least(MIN_SHINGLES);
        for (a, similar) in similar.iter().enumerate().filter(|(a, _)| is_long(olds[*a].0)) {
            let similar = similar.iter().filter(|(b, _)| is_long(news[*b].0));
            candidates.extend(similar.map(|&(b, similarity)| {
                // The order is the same in both directions.
                let mut references = [olds[a].1.as_str(), news[b].1.as_str()];
                references.sort_unstable();
                (similarity, references, a, b)
            }));
        }
        candidates.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        let (mut old_done, mut new_done) = (BTreeSet::new(), BTreeSet::new());
        for (similarity, _, a, b) in candidates {
            let (from, to) = (self.removed[a], self.added[b]);
            if !old_done.contains(&from) && !new_done.contains(&to) {
                old_done.insert(from);
                new_done.insert(to);
                self.pairs.push((from, to, similarity));
            }
        }
        self.removed.retain(|place| !old_done.contains(place));
        self.added.retain(|place| !new_done.contains(place));
    }
}

/// A section with its page.
#[derive(Clone, Copy)]
struct Place<'a> {
    page: &'a VersionPage,
    section: &'a VersionSection,
    /// Whether the other version has the page.
    is_kept: bool,
}

impl Place<'_> {
    fn reference(&self) -> String {
        reference(&self.page.slug, &self.section.anchor)
    }
}

fn section_changes(before: &[VersionPage], after: &[VersionPage], pages: &Matching) -> Vec<Change> {
    let mut changes = Vec::new();
    let (mut old_left, mut new_left): (Vec<Place<'_>>, Vec<Place<'_>>) = (Vec::new(), Vec::new());
    let of = |page, is_kept| move |section| Place { page, section, is_kept };
    for &place in &pages.removed {
        old_left.extend(before[place].sections.iter().map(of(&before[place], false)));
    }
    for &place in &pages.added {
        new_left.extend(after[place].sections.iter().map(of(&after[place], false)));
    }
    for &(old, new, _) in &pages.pairs {
        check();
        let (old_page, new_page) = (&before[old], &after[new]);
        let [olds, news] = [old_page, new_page].map(|page| page.sections.as_slice());
        let mut sections = Matching::by_key(
            olds.iter().map(|section| section.anchor.as_str()),
            news.iter().map(|section| section.anchor.as_str()),
        );
        sections.match_similar(
            RENAMED,
            |place| (&olds[place].shingles, olds[place].anchor.clone()),
            |place| (&news[place].shingles, news[place].anchor.clone()),
        );
        for (old, new, _) in sections.pairs {
            let (old, new) = (&olds[old], &news[new]);
            let kind = match (old.anchor != new.anchor || old.title != new.title, old.text != new.text) {
                (true, _) => ChangeKind::SectionRenamed,
                (false, true) => ChangeKind::SectionChanged,
                (false, false) => continue,
            };
            let (from, to) = (
                reference(&old_page.slug, &old.anchor),
                reference(&new_page.slug, &new.anchor),
            );
            let similarity = if old.text == new.text {
                1.0
            } else {
                old.shingles.similarity(&new.shingles)
            };
            let titles = (old.shown_title(old_page), new.shown_title(new_page));
            changes.push(change(
                kind,
                Some((&from, titles.0)),
                Some((&to, titles.1)),
                Some(similarity),
            ));
        }
        old_left.extend(sections.removed.iter().map(|place| of(old_page, true)(&olds[*place])));
        new_left.extend(sections.added.iter().map(|place| of(new_page, true)(&news[*place])));
    }
    let mut moves = Matching {
        pairs: Vec::new(),
        removed: (0..old_left.len()).collect(),
        added: (0..new_left.len()).collect(),
    };
    moves.match_similar(
        MOVED,
        |place| (&old_left[place].section.shingles, old_left[place].reference()),
        |place| (&new_left[place].section.shingles, new_left[place].reference()),
    );
    for (old, new, similarity) in moves.pairs {
        let (old, new) = (&old_left[old], &new_left[new]);
        let titles = (old.section.shown_title(old.page), new.section.shown_title(new.page));
        changes.push(change(
            ChangeKind::SectionMoved,
            Some((&old.reference(), titles.0)),
            Some((&new.reference(), titles.1)),
            Some(similarity),
        ));
    }
    // The sections of a page that is gone, or is new, go without saying.
    for old in moves
        .removed
        .iter()
        .map(|place| &old_left[*place])
        .filter(|old| old.is_kept)
    {
        changes.push(change(
            ChangeKind::SectionRemoved,
            Some((&old.reference(), old.section.shown_title(old.page))),
            None,
            None,
        ));
    }
    for new in moves
        .added
        .iter()
        .map(|place| &new_left[*place])
        .filter(|new| new.is_kept)
    {
        changes.push(change(
            ChangeKind::SectionAdded,
            None,
            Some((&new.reference(), new.section.shown_title(new.page))),
            None,
        ));
    }
    changes
}

/// Links of the later version to pages and sections that only the earlier one has.
fn broken_links(before: &[VersionPage], after: &[VersionPage], others: &HashSet<String>) -> Vec<Change> {
    let (old, new) = (Targets::of(before), Targets::of(after));
    let mut changes = Vec::new();
    for page in after {
        check();
        for link in page.links.iter().filter(|link| !link.leads_to(others)) {
            if let Some(target) = old.resolve(link)
                && new.resolve(link).is_none()
            {
                changes.push(Change {
                    kind: ChangeKind::LinkBroken,
                    before: Some(target),
                    after: Some(page.slug.clone()),
                    similarity: None,
                    detail: link.written.clone(),
                });
            }
        }
    }
    changes
}

#[cfg(test)]
mod tests;
