//! Why a query counts as failed.

use strum::{Display, EnumString, IntoStaticStr};

use crate::evaluation::measures::first_relevant;
use crate::text::name;

/// What became of the right answer of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// A relevant result comes first.
    Right,
    /// A page whose name begins like that of a relevant one comes before it, such as `UITableViewController` before
    /// `UITableView`.
    LookAlike,
    /// A relevant result is among the first, but does not come first.
    TooLow,
    /// No relevant result is among the first.
    Missing,
    /// The search found nothing.
    NoResults,
}

impl Outcome {
    /// By the gains of the first results, the slug of the first result, and the slugs of the relevant documents.
    pub fn of<'a>(
        gains: &[i32],
        cutoff: usize,
        first_slug: Option<&str>,
        relevant: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let Some(first_slug) = first_slug else {
            return Self::NoResults;
        };
        let first = last_part(first_slug);
        let rank = first_relevant(gains);
        if rank == Some(1) {
            Self::Right
        } else if relevant
            .into_iter()
            .map(last_part)
            .any(|name| first.len() > name.len() && !name.is_empty() && first.starts_with(&name))
        {
            Self::LookAlike
        } else if rank.is_some_and(|rank| rank <= cutoff) {
            Self::TooLow
        } else {
            Self::Missing
        }
    }
}

fn last_part(slug: &str) -> String {
    name::key(slug.rsplit('/').next().unwrap_or(slug))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_33_classes_of_failure() {
        let outcome = |gains: &[i32], first| Outcome::of(gains, 3, first, ["api/uitableview"]);
        assert_eq!(outcome(&[1], Some("api/uitableview")), Outcome::Right);
        assert_eq!(outcome(&[0, 1], Some("api/uitableviewcontroller")), Outcome::LookAlike);
        assert_eq!(outcome(&[0, 1], Some("api/button")), Outcome::TooLow);
        assert_eq!(outcome(&[0, 0, 0, 1], Some("api/button")), Outcome::Missing);
        assert_eq!(outcome(&[], None), Outcome::NoResults);
    }
}
