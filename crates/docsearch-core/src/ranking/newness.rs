//! Which pages are new, where nothing but what is new is asked for, or nothing but release notes.
//!
//! Dates of publication come first, newest first. Where pages have none, the versions that release notes are named after
//! tell: 4.10 is newer than 4.9. A page with neither is not new, whenever it was indexed.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use crate::query::rule::{NewsNames, Tables};
use crate::query::understanding::Understanding;
use crate::ranking::news;
use crate::ranking::page::Page;
use crate::ranking::version::Version;
use crate::values::calendar::Day;
use crate::values::id::{DocumentId, Map};

/// Share of the oldest page with a date: dates come before everything that has none. Chosen.
const LEAST_DATED: f32 = 0.4;
/// Greatest share of release notes without a date beside pages with one.
const MOST_UNDATED: f32 = 0.38;
/// Greatest share of release notes where no page has a date, and of those that are asked for.
const MOST_RELEASED: f32 = 0.98;
/// Share of what each further version loses of the distance to the least.
const VERSION_STEP: f32 = 0.5;
/// Share of a page that is no release note, where these are asked for.
const OTHERWISE: f32 = 0.35;
/// Share of what is called like news and is not known to be of the period that is asked for. Chosen.
const NEWS_OUTSIDE_PERIOD: f32 = 0.6;

/// A page that may be new.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewnessCandidate<'a> {
    /// Its slug.
    pub slug: &'a str,
    /// Its title.
    pub title: &'a str,
    /// The version that it documents.
    pub version: Option<&'a str>,
    /// Days since it was published. `None` without a date of publication.
    pub age_days: Option<f32>,
    /// The day when it was published.
    pub day: Option<Day>,
}

/// What a query asks of time.
#[derive(Clone, Debug)]
pub struct Newness {
    releases: bool,
    period: Option<Range<Day>>,
    half_life: f32,
}

impl Newness {
    /// `half_life`: days after which a page is half as new.
    pub fn new(asked: &Understanding, today: Day, half_life: f32) -> Self {
        Self {
            releases: asked.releases,
            period: asked.period.map(|period| period.days(today)),
            half_life: half_life.max(1.0),
        }
    }

    /// Whether a page was published in the period that is asked for. `None` if none is.
    pub fn is_in_period(&self, day: Option<Day>) -> Option<bool> {
        let period = self.period.as_ref()?;
        Some(day.is_some_and(|day| period.contains(&day)))
    }

    /// How new the candidates are, those first that are newest, each with its place: a share from 0 to 1. Pages that are
    /// not known to be new are left out.
    pub fn order(&self, candidates: &[NewnessCandidate<'_>], rules: &Tables) -> Vec<(usize, f32)> {
        let names = NewsNames::new(rules);
        let is_release = |page: &NewnessCandidate<'_>| names.is_release(page.slug, page.title);
        let releases: Vec<bool> = candidates.iter().map(is_release).collect();
        let asked = self.releases && releases.contains(&true);
        let dated = candidates.iter().any(|page| page.age_days.is_some());
        let most = if asked || !dated { MOST_RELEASED } else { MOST_UNDATED };
        let least = if asked || !dated {
            LEAST_DATED
        } else {
            MOST_UNDATED / 2.0
        };
        let mut versioned: Vec<(usize, Release)> = Vec::new();
        let mut new: Vec<(usize, f32)> = Vec::new();
        for (at, page) in candidates.iter().enumerate() {
            if releases[at] && (asked || page.age_days.is_none()) {
                versioned.push((at, self.release(page)));
            } else if let Some(share) = self.dated(page.age_days, page.day) {
                new.push((at, if asked { share * OTHERWISE } else { share }));
            } else if names.is_news(page.slug, page.title) {
                let share = if asked { least * OTHERWISE } else { least };
                new.push((at, share * self.kept(page.day)));
            }
        }
        versioned.sort_by(|a, b| a.1.cmp(&b.1));
        // A changelog of all versions comes behind the notes of the newest.
        if versioned.first().is_some_and(|(_, first)| first.version.is_some())
            && let Some(whole) = versioned.iter().position(|(_, release)| release.is_whole())
        {
            let rest = versioned.split_off(whole);
            let (wholes, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(_, release)| release.is_whole());
            let newest = versioned.partition_point(|(_, release)| release.cmp(&versioned[0].1).is_eq());
            drop(versioned.splice(newest..newest, wholes));
            versioned.extend(others);
        }
        let mut rank = 0.0;
        for (place, (at, release)) in versioned.iter().enumerate() {
            if place > 0 && versioned[place - 1].1.cmp(release).is_ne() {
                rank += VERSION_STEP;
            }
            let share = least + (most - least) / (1.0 + rank);
            new.push((*at, share * self.kept(candidates[*at].day)));
        }
        new.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        new
    }

    /// What a page keeps of its share if it is not known to be of the period.
    fn kept(&self, day: Option<Day>) -> f32 {
        match self.is_in_period(day) {
            Some(false) => NEWS_OUTSIDE_PERIOD,
            Some(true) | None => 1.0,
        }
    }

    /// How new a page is by its date alone.
    pub fn dated(&self, age_days: Option<f32>, day: Option<Day>) -> Option<f32> {
        let age = age_days?.max(0.0);
        // Slower than the half-lives of a boost, so that old pages keep their order.
        let newness = self.half_life / (self.half_life + age);
        let share = |least: f32| least + (1.0 - least) * newness;
        Some(match self.is_in_period(day) {
            None => share(LEAST_DATED),
            Some(true) => share(0.5 + LEAST_DATED / 2.0),
            Some(false) => LEAST_DATED + (0.5 - LEAST_DATED / 2.0) * newness,
        })
    }

    /// Marks the pages that were found: with their share of `new`, or else by their dates, if it is given; and whether they lie
    /// in the period that is asked for, if one of them does.
    pub fn mark(&self, pages: &mut Map<DocumentId, Page>, new: Option<&Map<DocumentId, f32>>) {
        for (id, page) in pages.iter_mut() {
            page.newness = new.map(|new| {
                let known = new.get(id).copied();
                let factor = if self.releases { OTHERWISE } else { 1.0 };
                known
                    .or_else(|| Some(self.dated(page.age_days, page.day)? * factor))
                    .unwrap_or(0.0)
            });
        }
        if new.is_none() && pages.values().any(|page| self.is_in_period(page.day) == Some(true)) {
            for page in pages.values_mut() {
                page.in_period = self.is_in_period(page.day);
            }
        }
    }

    /// Whether such a query asks for what is new among these pages, and for nothing else: release notes only where there are
    /// any.
    pub fn applies(&self, asked: &Understanding, candidates: &[NewnessCandidate<'_>], rules: &Tables) -> bool {
        let names = NewsNames::new(rules);
        let is_release = |page: &NewnessCandidate<'_>| names.is_release(page.slug, page.title);
        asked.only_recent || asked.releases && candidates.iter().any(is_release)
    }

    fn release(&self, page: &NewnessCandidate<'_>) -> Release {
        Release {
            outside: self.is_in_period(page.day) == Some(false),
            version: news::release_version(page.slug, page.title, page.version),
            day: page.day,
        }
    }
}

/// Release notes, newest first.
#[derive(Debug, PartialEq, Eq)]
struct Release {
    outside: bool,
    version: Option<Version>,
    day: Option<Day>,
}

impl Release {
    /// Whether it says nothing of when it was, since it is about all versions.
    fn is_whole(&self) -> bool {
        self.version.is_none() && self.day.is_none()
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let key = |release: &Self| (release.outside, Reverse(release.version.clone()), Reverse(release.day));
        key(self).cmp(&key(other))
    }
}

#[cfg(test)]
mod tests;
