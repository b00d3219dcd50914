//! Days and months of the Gregorian calendar.

/// Days of a week.
const WEEK: i32 = 7;
/// Years of a date, which include those of Postgres's dates.
const DATE_YEARS: std::ops::RangeInclusive<i32> = -10_000..=300_000;
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A day, as the number of days since 1 January 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i32);

/// A month of a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    /// Year.
    pub year: i32,
    /// Month, 1 to 12.
    pub month: u8,
}

impl Day {
    /// The day of this date. Years, months and days beyond the calendar are clamped.
    pub fn of(year: i32, month: u8, day: u8) -> Self {
        let month = Month::of(year, month);
        let first = month.first();
        // The last December of the calendar has no month after it.
        let days = match month.later(1).first().0 - first.0 {
            days if days > 0 => days,
            _ => 31,
        };
        Self(first.0 + (i32::from(day).clamp(1, days) - 1))
    }

    /// Its month.
    pub fn month(self) -> Month {
        // Years of this count begin in March, so that a leap day is the last day of its year.
        let days = i64::from(self.0) + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        Month::of((year + era * 400 + next) as i32, month as u8)
    }

    /// `2025-12-15`.
    pub fn date(self) -> String {
        let month = self.month();
        format!(
            "{:04}-{:02}-{:02}",
            month.year,
            month.month,
            self.0 - month.first().0 + 1
        )
    }

    /// The Monday of its week.
    pub fn monday(self) -> Self {
        // 1 January 1970 was a Thursday.
        Self(self.0.saturating_sub((self.0.rem_euclid(WEEK) + 3) % WEEK))
    }

    /// The day this number of days later.
    #[must_use]
    pub fn later(self, days: i32) -> Self {
        Self(self.0.saturating_add(days))
    }
}

impl Month {
    /// A month, clamped to the calendar.
    pub fn of(year: i32, month: u8) -> Self {
        Self {
            year: year.clamp(*DATE_YEARS.start(), *DATE_YEARS.end()),
            month: month.clamp(1, 12),
        }
    }

    /// Its first day.
    pub fn first(self) -> Day {
        let month = i64::from(self.month.clamp(1, 12));
        let year = i64::from(self.year) - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5;
        let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
        Day(days as i32)
    }

    /// The month this number of months later.
    #[must_use]
    pub fn later(self, months: i32) -> Self {
        let count = i64::from(self.year) * 12 + i64::from(self.month) - 1 + i64::from(months);
        let year = count
            .div_euclid(12)
            .clamp(i64::from(*DATE_YEARS.start()), i64::from(*DATE_YEARS.end()));
        Self::of(year as i32, count.rem_euclid(12) as u8 + 1)
    }

    /// `December 2025`.
    pub fn name(self) -> String {
        let month = usize::from(self.month.clamp(1, 12)) - 1;
        format!("{} {:04}", MONTHS[month], self.year)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn days_are_counted_from_1970_and_leap_years_have_one_more() {
        assert_eq!(Day::of(1970, 1, 1), Day(0));
        assert_eq!(Day::of(2000, 3, 1).0 - Day::of(2000, 2, 1).0, 29);
        assert_eq!(Day::of(1900, 3, 1).0 - Day::of(1900, 2, 1).0, 28);
        assert_eq!(Day::of(2024, 2, 31), Day::of(2024, 2, 29));
        let last = *DATE_YEARS.end();
        assert_eq!(Day::of(last, 12, 31).0 - Day::of(last, 12, 1).0, 30);
        assert_eq!(Day::of(2025, 12, 15).0, 20_437);
        assert_eq!(Day::of(2025, 12, 15).date(), "2025-12-15");
        assert_eq!(Day::of(2024, 2, 29).date(), "2024-02-29");
        assert_eq!(Day::of(2026, 1, 1).date(), "2026-01-01");
        assert_eq!(Day::of(2025, 12, 15).monday(), Day::of(2025, 12, 15));
        assert_eq!(Day::of(2026, 1, 4).monday(), Day::of(2025, 12, 29));
        assert_eq!(Month::of(2025, 12).name(), "December 2025");
    }

    proptest! {
        #[test]
        fn a_day_lies_in_its_month_and_the_next_one_begins_when_it_ends(day in -3_000_000i32..3_000_000) {
            let month = Day(day).month();
            prop_assert!(month.first() <= Day(day) && Day(day) < month.later(1).first());
            let length = month.later(1).first().0 - month.first().0;
            prop_assert!((28..=31).contains(&length));
            let of_month = Day(day).0 - month.first().0 + 1;
            prop_assert_eq!(Day::of(month.year, month.month, of_month as u8), Day(day));
        }

        #[test]
        fn weeks_have_seven_days(day in -3_000_000i32..3_000_000) {
            let monday = Day(day).monday();
            prop_assert!((0..WEEK).contains(&(day - monday.0)));
            prop_assert_eq!(monday.later(6).monday(), monday);
            prop_assert_eq!(monday.later(7).monday(), monday.later(7));
        }

        #[test]
        fn months_are_counted_across_years(year in 1i32..9_999, month in 1u8..=12, by in -500i32..500) {
            let from = Month::of(year, month);
            prop_assert_eq!(from.later(by).later(-by), from);
            prop_assert_eq!(from.later(12), Month::of(year + 1, month));
        }
    }
}
