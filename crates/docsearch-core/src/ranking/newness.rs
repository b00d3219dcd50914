//! Orders pages by newness, for queries that ask for nothing but what is new, or for release notes.
//!
//! Dates of publication come first, newest first. Without them the versions of release notes decide: 4.10 is newer
//! than 4.9. A page with neither is not new, whenever it was indexed.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use crate::query::rule::{NewsNames, Tables};
use crate::query::understanding::Understanding;
use crate::ranking::news;
use crate::ranking::page::Page;
use crate::ranking::version::Version;
use crate::values::calendar::Day;
use crate::values::id::{DocumentId, Map};

/// Newness of the oldest page with a date: pages with dates come before those without. Chosen.
const MIN_DATED: f32 = 0.4;
/// Greatest newness of release notes without a date, beside pages with dates.
const MAX_UNDATED: f32 = 0.38;
/// Greatest newness of release notes if no page has a date, or if the query asks for release notes.
const MAX_RELEASE_NOTES: f32 = 0.98;
/// Added to the divisor of the distance to the least newness, for each older version.
const VERSION_STEP: f32 = 0.5;
/// Factor of other pages, if the query asks for release notes.
const NOT_RELEASE_NOTES: f32 = 0.35;
/// Factor of news that are not known to be of the query's period. Chosen.
const NEWS_OUTSIDE_PERIOD: f32 = 0.6;

/// A page that may be new.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewnessCandidate<'a> {
    /// Its slug.
    pub slug: &'a str,
    /// Its title.
    pub title: &'a str,
    /// The documented version.
    pub version: Option<&'a str>,
    /// Days since it was published. `None` without a date of publication.
    pub age_days: Option<f32>,
    /// Day of publication.
    pub day: Option<Day>,
}

/// The period and the kind of news that a query asks for.
#[derive(Clone, Debug)]
pub struct Newness {
    releases: bool,
    period: Option<Range<Day>>,
    half_life: f32,
}

impl Newness {
    /// `half_life`: age in days at which a page is half as new.
    pub fn new(query: &Understanding, today: Day, half_life: f32) -> Self {
        Self {
            releases: query.releases,
            period: query.period.map(|period| period.days(today)),
            half_life: half_life.max(1.0),
        }
    }

    /// Whether a page was published in the query's period. `None` if the query has none.
    pub fn is_in_period(&self, day: Option<Day>) -> Option<bool> {
        let period = self.period.as_ref()?;
        Some(day.is_some_and(|day| period.contains(&day)))
    }

    /// Newness of the candidates, 0 to 1, newest first, each with its index. Pages that are not known to be new are
    /// left out.
    pub fn order(&self, candidates: &[NewnessCandidate<'_>], rules: &Tables) -> Vec<(usize, f32)> {
        let names = NewsNames::new(rules);
        let is_release = |page: &NewnessCandidate<'_>| names.is_release(page.slug, page.title);
        let releases: Vec<bool> = candidates.iter().map(is_release).collect();
        let wants_releases = self.releases && releases.contains(&true);
        let dated = candidates.iter().any(|page| page.age_days.is_some());
        let most = if wants_releases || !dated {
            MAX_RELEASE_NOTES
        } else {
            MAX_UNDATED
        };
        let least = if wants_releases || !dated {
            MIN_DATED
        } else {
            MAX_UNDATED / 2.0
        };
        let mut versioned: Vec<(usize, Release)> = Vec::new();
        let mut new: Vec<(usize, f32)> = Vec::new();
        for (at, page) in candidates.iter().enumerate() {
            if releases[at] && (wants_releases || page.age_days.is_none()) {
                versioned.push((at, self.release(page)));
            } else if let Some(share) = self.dated(page.age_days, page.day) {
                new.push((
                    at,
                    if wants_releases {
                        share * NOT_RELEASE_NOTES
                    } else {
                        share
                    },
                ));
            } else if names.is_news(page.slug, page.title) {
                let share = if wants_releases {
                    least * NOT_RELEASE_NOTES
                } else {
                    least
                };
                new.push((at, share * self.period_factor(page.day)));
            }
        }
        versioned.sort_by(|a, b| a.1.cmp(&b.1));
        // A changelog of all versions comes after the notes of the newest version.
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
        for (index, (at, release)) in versioned.iter().enumerate() {
            if index > 0 && versioned[index - 1].1.cmp(release).is_ne() {
                rank += VERSION_STEP;
            }
            let share = least + (most - least) / (1.0 + rank);
            new.push((*at, share * self.period_factor(candidates[*at].day)));
        }
        new.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        new
    }

    /// Factor of a page by the query's period.
    fn period_factor(&self, day: Option<Day>) -> f32 {
        match self.is_in_period(day) {
            Some(false) => NEWS_OUTSIDE_PERIOD,
            Some(true) | None => 1.0,
        }
    }

    /// Newness of a page by its date alone.
    pub fn dated(&self, age_days: Option<f32>, day: Option<Day>) -> Option<f32> {
        let age = age_days?.max(0.0);
        // Slower than the half-life of the boost, so that old pages keep their order.
        let newness = self.half_life / (self.half_life + age);
        let share = |least: f32| least + (1.0 - least) * newness;
        Some(match self.is_in_period(day) {
            None => share(MIN_DATED),
            Some(true) => share(0.5 + MIN_DATED / 2.0),
            Some(false) => MIN_DATED + (0.5 - MIN_DATED / 2.0) * newness,
        })
    }

    /// Sets the newness of pages: from `new` if given, or else by their dates. Without `new`, sets whether they are
    /// in the query's period, if any page is.
    pub fn mark(&self, pages: &mut Map<DocumentId, Page>, new: Option<&Map<DocumentId, f32>>) {
        for (id, page) in pages.iter_mut() {
            page.newness = new.map(|new| {
                let known = new.get(id).copied();
                let factor = if self.releases { NOT_RELEASE_NOTES } else { 1.0 };
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

    /// Whether a query asks for nothing but what is new among these pages. A query for release notes does so only if
    /// there are any.
    pub fn applies(&self, query: &Understanding, candidates: &[NewnessCandidate<'_>], rules: &Tables) -> bool {
        let names = NewsNames::new(rules);
        let is_release = |page: &NewnessCandidate<'_>| names.is_release(page.slug, page.title);
        query.only_recent || query.releases && candidates.iter().any(is_release)
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
    /// Whether it has neither version nor date, since it is about all versions.
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
