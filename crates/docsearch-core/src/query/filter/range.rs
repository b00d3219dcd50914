//! Ranges of numbers, dates, versions and other texts.

use serde_json::{Number, Value};

/// A range of versions. Their order is that of [`crate::ranking::version::Version`], not that of texts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VersionRange {
    /// The key.
    pub key: String,
    /// The oldest version.
    pub from: Option<String>,
    /// The newest version.
    pub to: Option<String>,
}

/// A range with both ends. A value of another type is in none.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Range {
    Numbers(Option<Number>, Option<Number>),
    /// Dates and timestamps as in ISO 8601. The end includes what it is the beginning of: times of a day, days of a
    /// month.
    Dates(Option<String>, Option<String>),
    Texts(Option<String>, Option<String>),
}

/// A range as its bounds decide.
pub(super) enum Bounds {
    Values(Range),
    Versions(VersionRange),
}

impl Bounds {
    /// The range between two bounds, of which one may be missing.
    pub(super) fn read(key: &str, from: Option<&Value>, to: Option<&Value>) -> Option<Self> {
        let bounds = || from.into_iter().chain(to);
        if bounds().all(Value::is_number) {
            let number = |bound: Option<&Value>| bound.and_then(Value::as_number).cloned();
            return Some(Self::Values(Range::Numbers(number(from), number(to))));
        }
        let texts: Vec<&str> = bounds().map(Value::as_str).collect::<Option<_>>()?;
        let text = |bound: Option<&Value>| bound.and_then(Value::as_str).map(str::to_owned);
        let (from, to) = (text(from), text(to));
        let all = |is: fn(&str) -> bool| texts.iter().all(|text| is(text));
        if texts.iter().any(|text| is_date(text)) && all(|text| is_date(text) || is_year(text)) {
            return Some(Self::Values(Range::Dates(from, to)));
        }
        if key == "version" || all(is_version) {
            let key = key.to_owned();
            return Some(Self::Versions(VersionRange { key, from, to }));
        }
        Some(Self::Values(Range::Texts(from, to)))
    }
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a text begins with a year and a month.
fn is_date(text: &str) -> bool {
    let (year, rest) = text.split_at_checked(4).unwrap_or_default();
    let month = rest.strip_prefix('-').and_then(|rest| rest.get(..2));
    let after = rest.as_bytes().get(3);
    is_year(year)
        && month.is_some_and(|month| month.bytes().all(|b| b.is_ascii_digit()))
        && after.is_none_or(|&b| b == b'-')
}

/// Whether a text can be a version: a number, with `v` before it or not, and further parts.
pub(super) fn is_version(text: &str) -> bool {
    let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let is_mark = |c: char| matches!(c, '.' | '-' | '_' | '+');
    digits.starts_with(|c: char| c.is_ascii_digit()) && digits.chars().all(|c| c.is_alphanumeric() || is_mark(c))
}

impl VersionRange {
    /// Whether a text can be a version where the range compares versions: a field of versions has no other texts.
    pub fn compares(&self, text: &str) -> bool {
        self.key == "version" || is_version(text)
    }
}
