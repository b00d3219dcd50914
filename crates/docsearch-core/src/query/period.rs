//! Periods in queries: `last month`, `since last week`, `in March`.
//!
//! Its words are a file and not rules: they only work together, as numbers, units and names of months.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::values::calendar::{Day, Month};

/// Numbers of four digits that are years.
const FOUR_DIGIT_YEARS: std::ops::RangeInclusive<i32> = 1990..=2100;
/// Most units of a period. What is further back makes no difference.
const MAX_COUNT: i32 = 1_000;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A day.
    Day,
    /// A week, from Monday on.
    Week,
    /// A month.
    Month,
    /// Three months of a year.
    Quarter,
    /// A year.
    Year,
}

/// A period in words, whatever today is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedPeriod {
    /// The unit this number before the present one, or 0 for the present one: `last month`, `2 weeks ago`.
    Before(Unit, i32),
    /// This number of units up to today: `past 30 days`.
    Past(Unit, i32),
    /// The last month with this number, or that of a year: `in March`, `March 2024`.
    Month(u8, Option<i32>),
    /// A year: `in 2024`.
    Year(i32),
}

/// A period that a query names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// Which one.
    pub named: NamedPeriod,
    /// Whether it goes on until today.
    pub since: bool,
}

/// A period with the words of the query that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) period: Period,
    /// Indexes of its words, and of the words that lead to it: `from last month`.
    pub(crate) words: Range<usize>,
}

#[derive(Deserialize)]
struct PeriodWords {
    this: Vec<String>,
    last: Vec<String>,
    last_behind: Vec<String>,
    ago: Vec<String>,
    since: Vec<String>,
    within: Vec<String>,
    today: Vec<String>,
    yesterday: Vec<String>,
    day: Vec<String>,
    week: Vec<String>,
    month: Vec<String>,
    quarter: Vec<String>,
    year: Vec<String>,
    months: Vec<Vec<String>>,
    short_months: Vec<Vec<String>>,
}

/// Meanings of a word in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PeriodPart {
    This,
    Last,
    LastBehind,
    Ago,
    Since,
    Within,
    Today,
    Yesterday,
    Unit(Unit),
    Month(u8),
    /// `dec` is a month only before a year: `from dec to hex`.
    ShortMonth(u8),
}

static PARTS: LazyLock<HashMap<String, Vec<PeriodPart>>> = LazyLock::new(|| {
    let words: PeriodWords =
        serde_json::from_str(include_str!("../../data/periods.json")).expect("the shipped file is valid");
    let short = (1..)
        .zip(words.short_months)
        .map(|(number, names)| (PeriodPart::ShortMonth(number), names));
    let months = (1..)
        .zip(words.months)
        .map(|(number, names)| (PeriodPart::Month(number), names))
        .chain(short);
    let parts = [
        (PeriodPart::This, words.this),
        (PeriodPart::Last, words.last),
        (PeriodPart::LastBehind, words.last_behind),
        (PeriodPart::Ago, words.ago),
        (PeriodPart::Since, words.since),
        (PeriodPart::Within, words.within),
        (PeriodPart::Today, words.today),
        (PeriodPart::Yesterday, words.yesterday),
        (PeriodPart::Unit(Unit::Day), words.day),
        (PeriodPart::Unit(Unit::Week), words.week),
        (PeriodPart::Unit(Unit::Month), words.month),
        (PeriodPart::Unit(Unit::Quarter), words.quarter),
        (PeriodPart::Unit(Unit::Year), words.year),
    ];
    let mut by_word: HashMap<String, Vec<PeriodPart>> = HashMap::new();
    for (part, names) in parts.into_iter().chain(months) {
        for name in names {
            by_word.entry(name).or_default().push(part);
        }
    }
    by_word
});

fn can_be(word: Option<&String>, part: PeriodPart) -> bool {
    word.and_then(|word| PARTS.get(word))
        .is_some_and(|parts| parts.contains(&part))
}

fn unit(word: Option<&String>) -> Option<Unit> {
    PARTS.get(word?)?.iter().find_map(|part| match part {
        PeriodPart::Unit(unit) => Some(*unit),
        _ => None,
    })
}

fn month(word: Option<&String>) -> Option<u8> {
    PARTS.get(word?)?.iter().find_map(|part| match part {
        PeriodPart::Month(month) => Some(*month),
        _ => None,
    })
}

fn short_month(word: Option<&String>) -> Option<u8> {
    PARTS.get(word?)?.iter().find_map(|part| match part {
        PeriodPart::ShortMonth(month) => Some(*month),
        _ => None,
    })
}

fn number(word: Option<&String>) -> Option<i32> {
    word?.parse().ok().filter(|number| (0..=MAX_COUNT).contains(number))
}

fn year(word: Option<&String>) -> Option<i32> {
    let digits = word.filter(|word| word.len() == 4)?;
    digits.parse().ok().filter(|year| FOUR_DIGIT_YEARS.contains(year))
}

/// The first period in words in lower case.
pub(crate) fn mention(words: &[String]) -> Option<Mention> {
    (0..words.len()).find_map(|at| {
        let is_led =
            at > 0 && (can_be(words.get(at - 1), PeriodPart::Since) || can_be(words.get(at - 1), PeriodPart::Within));
        let (named, length) = named(words, at, is_led)?;
        let mut from = at;
        let mut since = false;
        while from > 0 && !since {
            since = can_be(words.get(from - 1), PeriodPart::Since);
            if !since && !can_be(words.get(from - 1), PeriodPart::Within) {
                break;
            }
            from -= 1;
        }
        Some(Mention {
            period: Period { named, since },
            words: from..at + length,
        })
    })
}

/// The period that begins with a word, and its number of words. `is_led`: a preposition is before it.
fn named(words: &[String], at: usize, is_led: bool) -> Option<(NamedPeriod, usize)> {
    let word = |ahead: usize| words.get(at + ahead);
    let (this, last) = (can_be(word(0), PeriodPart::This), can_be(word(0), PeriodPart::Last));
    if this || last {
        if let Some((count, unit)) = number(word(1)).zip(unit(word(2))).filter(|_| last) {
            return Some((NamedPeriod::Past(unit, count), 3));
        }
        if let Some(month) = month(word(1)) {
            return Some((NamedPeriod::Month(month, None), 2));
        }
        return unit(word(1)).map(|unit| (NamedPeriod::Before(unit, i32::from(last)), 2));
    }
    if let Some(unit) = unit(word(0)).filter(|_| can_be(word(1), PeriodPart::LastBehind)) {
        return Some((NamedPeriod::Before(unit, 1), 2));
    }
    if let Some((count, unit)) = number(word(0))
        .zip(unit(word(1)))
        .filter(|_| can_be(word(2), PeriodPart::Ago))
    {
        return Some((NamedPeriod::Before(unit, count), 3));
    }
    if let Some(month) = month(word(0)) {
        let of_year = year(word(1));
        return (is_led || of_year.is_some())
            .then(|| (NamedPeriod::Month(month, of_year), 1 + usize::from(of_year.is_some())));
    }
    if let Some((month, year)) = short_month(word(0)).zip(year(word(1))) {
        return Some((NamedPeriod::Month(month, Some(year)), 2));
    }
    if let Some(year) = year(word(0)).filter(|_| is_led) {
        return Some((NamedPeriod::Year(year), 1));
    }
    if can_be(word(0), PeriodPart::Today) {
        return Some((NamedPeriod::Before(Unit::Day, 0), 1));
    }
    can_be(word(0), PeriodPart::Yesterday).then_some((NamedPeriod::Before(Unit::Day, 1), 1))
}

impl Period {
    /// Its days up to the day after the last, if today is this day.
    pub fn days(&self, today: Day) -> Range<Day> {
        let Range { start, end } = self.named.days(today);
        let end = if self.since {
            today.later(1).max(start.later(1))
        } else {
            end
        };
        start..end
    }

    /// Its name in a query: a year, a month and its year, or the first and the last month. Never a day.
    pub fn names(&self, today: Day) -> Vec<String> {
        if let (NamedPeriod::Year(_) | NamedPeriod::Before(Unit::Year, _), false) = (self.named, self.since) {
            return vec![format!("{:04}", self.days(today).start.month().year)];
        }
        let Range { start, end } = self.days(today);
        let (first, last) = match (self.named, self.since) {
            // A week belongs to the month with most of its days, the present week to the present month.
            (NamedPeriod::Before(Unit::Week, 0), false) => (today.month(), today.month()),
            (NamedPeriod::Before(Unit::Week, _), false) => (start.later(3).month(), start.later(3).month()),
            _ => (start.month(), end.later(-1).max(start).month()),
        };
        let mut names = vec![first.name()];
        if last != first {
            names.push(last.name());
        }
        names
    }
}

impl NamedPeriod {
    fn days(self, today: Day) -> Range<Day> {
        match self {
            Self::Before(unit, count) => {
                let start = |back: i32| match unit {
                    Unit::Day => today.later(-back),
                    Unit::Week => today.monday().later(-7 * back),
                    Unit::Month => today.month().later(-back).first(),
                    Unit::Quarter => {
                        let Month { year, month } = today.month();
                        Month::of(year, (month - 1) / 3 * 3 + 1).later(-3 * back).first()
                    }
                    Unit::Year => Month::of(today.month().year.saturating_sub(back), 1).first(),
                };
                start(count)..start(count - 1)
            }
            Self::Past(unit, count) => {
                let start = match unit {
                    Unit::Day => today.later(-count),
                    Unit::Week => today.later(-7 * count),
                    Unit::Month => same_day(today, -count),
                    Unit::Quarter => same_day(today, -3 * count),
                    Unit::Year => same_day(today, -12 * count),
                };
                start..today.later(1)
            }
            Self::Month(month, year) => {
                let present = today.month();
                let year = year.unwrap_or(present.year - i32::from(month > present.month));
                Month::of(year, month).first()..Month::of(year, month).later(1).first()
            }
            Self::Year(year) => Month::of(year, 1).first()..Month::of(year.saturating_add(1), 1).first(),
        }
    }
}

/// The same day of another month, or the last day of it.
fn same_day(day: Day, months: i32) -> Day {
    let month = day.month();
    let of_month = u8::try_from(day.0 - month.first().0 + 1).unwrap_or(1);
    let Month { year, month } = month.later(months);
    Day::of(year, month, of_month)
}

#[cfg(test)]
mod tests;
