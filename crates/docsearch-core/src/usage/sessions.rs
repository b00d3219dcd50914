//! What each session saw and opened.

use std::collections::BTreeMap;

const MINUTE: i64 = 60 * 1_000_000;
/// Time after a search in which a page that is opened counts for it, in microseconds.
const WINDOW: i64 = 30 * MINUTE;

/// A call or a vote of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Number of the session.
    pub session: u32,
    /// Microseconds.
    pub at: i64,
    /// What happened.
    pub action: Action,
}

/// What a reader did.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Searched, and was shown these pages.
    Searched {
        /// Number of the query.
        query: u32,
        /// Number of the page at each place; `None` for one that does not count.
        pages: Vec<Option<u32>>,
    },
    /// Opened a part of a page.
    Opened(u32, u32),
    /// Said that a part of a page helped.
    Helped(u32, u32),
    /// Said that a page did not help.
    DidNotHelp(u32),
}

/// What became of a page that was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was not opened.
    Passed,
    /// It was opened.
    Opened,
    /// It was opened, and the reader asked something else within a minute.
    Left,
    /// The reader says that it helped.
    Helped,
    /// The reader says that it did not help.
    DidNotHelp,
}

/// A page that a session was shown for a query. There is one of each session, query and page.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Number of the query.
    pub query: u32,
    /// Number of the page.
    pub page: u32,
    /// Its best place, from 0.
    pub place: usize,
    /// The part that was opened or helped last.
    pub part: Option<u32>,
    /// What became of it.
    pub outcome: Outcome,
}

/// What sessions saw and did. An opened page or a vote belongs to the latest search of its session that showed the page. However
/// often a session repeats itself, it is one observation.
pub fn observations(mut events: Vec<Event>) -> Vec<Observation> {
    events.sort_by_key(|event| (event.session, event.at));
    events
        .chunk_by(|a, b| a.session == b.session)
        .flat_map(of_session)
        .collect()
}

fn of_session(events: &[Event]) -> Vec<Observation> {
    let mut seen: BTreeMap<(u32, u32), Observation> = BTreeMap::new();
    // The latest search that showed a page, with its time.
    let mut shown: BTreeMap<u32, (u32, i64)> = BTreeMap::new();
    for (number, event) in events.iter().enumerate() {
        let (page, part, outcome) = match event.action {
            Action::Searched { query, ref pages } => {
                for (place, page) in pages.iter().enumerate() {
                    let Some(page) = *page else { continue };
                    let new = Observation {
                        query,
                        page,
                        place,
                        part: None,
                        outcome: Outcome::Passed,
                    };
                    let known = seen.entry((query, page)).or_insert(new);
                    known.place = known.place.min(place);
                    shown.insert(page, (query, event.at));
                }
                continue;
            }
            Action::Opened(page, part) => (page, Some(part), Outcome::Opened),
            Action::Helped(page, part) => (page, Some(part), Outcome::Helped),
            Action::DidNotHelp(page) => (page, None, Outcome::DidNotHelp),
        };
        let searched = shown.get(&page).filter(|(_, at)| event.at - at <= WINDOW);
        let Some((query, known)) = searched.and_then(|&(query, _)| Some((query, seen.get_mut(&(query, page))?))) else {
            continue;
        };
        let outcome = match outcome {
            Outcome::Opened if asks_again(&events[number..], query) => Outcome::Left,
            outcome => outcome,
        };
        if outcome.says_more_than(known.outcome) {
            known.outcome = outcome;
            known.part = part;
        }
    }
    seen.into_values().collect()
}

/// Whether something else than a query is asked within a minute of the first event.
fn asks_again(events: &[Event], asked: u32) -> bool {
    let begin = events.first().map_or(0, |event| event.at);
    let soon = events.iter().take_while(|event| event.at - begin <= MINUTE);
    soon.into_iter()
        .any(|event| matches!(event.action, Action::Searched { query, .. } if query != asked))
}

impl Outcome {
    /// Whether this replaces what was known: a vote says more than an opened page, and a later vote more than an earlier one.
    fn says_more_than(self, known: Self) -> bool {
        match self {
            Self::Passed => false,
            Self::Left => known == Self::Passed,
            Self::Opened => matches!(known, Self::Passed | Self::Left | Self::Opened),
            Self::Helped | Self::DidNotHelp => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(session: u32, at: i64, action: Action) -> Event {
        Event { session, at, action }
    }

    fn search(query: u32, pages: &[u32]) -> Action {
        let pages = pages.iter().copied().map(Some).collect();
        Action::Searched { query, pages }
    }

    #[test]
    fn an_opened_page_belongs_to_the_latest_search_that_showed_it() {
        let events = vec![
            event(1, 0, search(1, &[7, 8])),
            event(1, MINUTE, search(2, &[9, 8])),
            event(1, 2 * MINUTE, Action::Opened(8, 0)),
            event(2, 3 * MINUTE, Action::Opened(7, 0)),
            event(1, 40 * MINUTE, Action::Opened(7, 0)),
        ];
        let opened: Vec<_> = observations(events)
            .into_iter()
            .filter(|observation| observation.outcome == Outcome::Opened)
            .map(|observation| (observation.query, observation.page, observation.place))
            .collect();
        assert_eq!(opened, [(2, 8, 1)]);
    }

    #[test]
    fn who_asks_something_else_was_not_helped() {
        let events = vec![
            event(1, 0, search(1, &[7])),
            event(1, MINUTE, Action::Opened(7, 2)),
            event(1, MINUTE + 1, search(1, &[7])),
            event(1, 2 * MINUTE + 1, search(2, &[9])),
            event(2, 0, search(1, &[7])),
            event(2, MINUTE, Action::Opened(7, 2)),
            event(2, 2 * MINUTE, search(2, &[9])),
        ];
        let outcomes = observations(events).into_iter().filter(|seen| seen.page == 7);
        let outcomes: Vec<_> = outcomes.map(|seen| (seen.outcome, seen.part)).collect();
        assert_eq!(outcomes, [(Outcome::Opened, Some(2)), (Outcome::Left, Some(2))]);
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let action = prop_oneof![
            (0..3_u32, proptest::collection::btree_set(0..5_u32, 0..4))
                .prop_map(|(query, pages)| search(query, &pages.into_iter().collect::<Vec<_>>())),
            (0..5_u32, 0..2_u32).prop_map(|(page, part)| Action::Opened(page, part)),
            (0..5_u32, 0..2_u32).prop_map(|(page, part)| Action::Helped(page, part)),
            (0..5_u32).prop_map(Action::DidNotHelp),
        ];
        proptest::collection::vec((0..3_u32, action), 0..20).prop_map(|actions| {
            let numbered = actions.into_iter().zip(0..);
            numbered
                .map(|((session, action), at)| event(session, at * 1_000_000, action))
                .collect()
        })
    }

    proptest! {
        /// What one session does again changes nothing.
        #[test]
        fn repeating_oneself_is_no_evidence(events in events(), times in 1..4_i64) {
            let again = events.iter().flat_map(|event| {
                (0..times).map(|_| event.clone())
            });
            prop_assert_eq!(observations(again.collect()), observations(events));
        }

        #[test]
        fn sessions_do_not_depend_on_each_other(events in events()) {
            let of = |session: u32| events.iter().filter(|event| event.session == session).cloned().collect::<Vec<_>>();
            let apart: Vec<Observation> = (0..3).flat_map(|session| observations(of(session))).collect();
            let mut mixed = events.clone();
            mixed.reverse();
            prop_assert_eq!(observations(mixed), apart);
        }
    }
}
