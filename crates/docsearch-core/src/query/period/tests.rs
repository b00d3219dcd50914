use super::*;
use proptest::prelude::*;

fn read(query: &str) -> Option<Mention> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    mention(&words)
}

fn names(query: &str, today: Day) -> Vec<String> {
    read(query).map_or_else(Vec::new, |mention| mention.period.names(today))
}

fn dates(query: &str, today: Day) -> Range<Day> {
    read(query).expect("a period").period.days(today)
}

#[test]
fn s1_36_periods_have_a_month_and_a_year() {
    let december = Day::of(2025, 12, 15);
    for (query, expected) in [
        ("posts from last month", &["November 2025"][..]),
        ("articles from last year", &["2024"]),
        ("changes this week", &["December 2025"]),
        ("this year", &["2025"]),
        ("news of yesterday", &["December 2025"]),
        ("what happened in march", &["March 2025"]),
        ("posts in december", &["December 2025"]),
        ("posts from march 2023", &["March 2023"]),
        ("since last month", &["November 2025", "December 2025"]),
        ("since march", &["March 2025", "December 2025"]),
        ("in 2024", &["2024"]),
        ("dec 2024", &["December 2024"]),
        ("past 30 days", &["November 2025", "December 2025"]),
        ("3 months ago", &["September 2025"]),
        ("last quarter", &["July 2025", "September 2025"]),
        ("neues vom letzten monat", &["November 2025"]),
        ("le mois dernier", &["November 2025"]),
    ] {
        assert_eq!(names(query, december), expected, "{query}");
    }
}

#[test]
fn s1_36_years_and_weeks_end_as_in_the_calendar() {
    let january = Day::of(2026, 1, 5);
    assert_eq!(names("last month", january), ["December 2025"]);
    assert_eq!(names("last year", january), ["2025"]);
    assert_eq!(names("in march", january), ["March 2025"]);
    // 29 December to 4 January: most days are of January.
    assert_eq!(names("last week", january), ["January 2026"]);
    assert_eq!(names("last week", Day::of(2026, 1, 2)), ["December 2025"]);
    assert_eq!(names("this week", Day::of(2025, 12, 30)), ["December 2025"]);
    assert_eq!(names("yesterday", Day::of(2026, 1, 1)), ["December 2025"]);
    assert_eq!(
        dates("last month", Day::of(2024, 3, 31)),
        Day::of(2024, 2, 1)..Day::of(2024, 3, 1)
    );
    assert_eq!(
        dates("past 1 month", Day::of(2024, 3, 31)),
        Day::of(2024, 2, 29)..Day::of(2024, 4, 1)
    );
    assert_eq!(
        dates("since last week", january),
        Day::of(2025, 12, 29)..Day::of(2026, 1, 6)
    );
}

#[test]
fn words_for_months_and_years_alone_are_no_periods() {
    for query in [
        "may i",
        "march",
        "mar",
        "last value",
        "this page",
        "port 2024",
        "in 8080",
        "last",
        "month view",
        "5 days",
        "from dec to hex",
    ] {
        assert_eq!(read(query), None, "{query}");
    }
}

#[test]
fn the_words_of_a_period_are_separated_from_the_rest() {
    let words = |query| read(query).map(|mention| mention.words);
    assert_eq!(words("pump news from last month please"), Some(2..5));
    assert_eq!(words("since the last week"), Some(0..4));
    assert_eq!(words("pump in march 2024"), Some(1..4));
}

fn periods() -> impl Strategy<Value = String> {
    "(since |in |)((this|last) (day|week|month|quarter|year|march|february)|(last|past) [0-9]{1,3} (days|weeks|months|years)|[0-9]{1,2} (days|weeks|months|years) ago|today|yesterday|february 2024|december 1999)"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn s1_36_a_period_begins_no_later_than_today_and_has_no_day_in_its_name(query in periods(), today in 0i32..40_000) {
        let today = Day(today);
        let period = read(&query).expect("a period").period;
        let days = period.days(today);
        prop_assert!(days.start < days.end, "{days:?}");
        let dated = query.contains("2024") || query.contains("1999");
        prop_assert!(dated || days.start <= today);
        prop_assert!(!period.since || dated || days.end == today.later(1));
        for name in period.names(today) {
            let parts: Vec<&str> = name.split(' ').collect();
            prop_assert!(parts.last().is_some_and(|year| year.len() == 4 && year.parse::<i32>().is_ok()), "{name}");
            prop_assert!(parts.len() == 1 || parts.len() == 2 && parts[0].chars().all(char::is_alphabetic));
        }
    }

    #[test]
    fn s1_36_what_was_last_ends_where_what_is_now_begins(unit in "week|month|quarter|year", today in 0i32..40_000) {
        let today = Day(today);
        let (last, this) = (dates(&format!("last {unit}"), today), dates(&format!("this {unit}"), today));
        prop_assert_eq!(last.end, this.start);
        prop_assert!(this.contains(&today));
    }

    #[test]
    fn s1_36_the_month_before_is_named(today in 0i32..40_000) {
        let today = Day(today);
        let before = today.month().first().later(-1).month();
        prop_assert_eq!(names("posts from last month", today), [before.name()]);
        prop_assert_eq!(names("posts from last year", today), [(today.month().year - 1).to_string()]);
    }

    #[test]
    fn any_words_have_a_period_or_none(query in "\\PC{0,60}|((in|since|last|this|[0-9]{1,12}|days|march|years|ago) ){0,8}", today in any::<i32>()) {
        if let Some(found) = read(&query) {
            found.period.days(Day(today));
            found.period.names(Day(today));
        }
    }
}
