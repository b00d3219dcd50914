//! What each session saw and opened.

use crate::values::id::Map;

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
    /// Whether an assistant did it. Assistants ask for the next thing within seconds.
    pub by_assistant: bool,
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
    /// Said whether the answer as a whole helped.
    Voted {
        /// Number of the query.
        query: u32,
        /// What the reader said.
        helped: bool,
    },
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
    pub place: u32,
    /// The part that was opened or helped last.
    pub part: Option<u32>,
    /// What became of it.
    pub outcome: Outcome,
}

/// What sessions saw and did. An opened page or a vote belongs to the latest search of its session that showed the page. However
/// often a session repeats itself, it is one observation.
pub fn observations(mut events: Vec<Event>) -> Vec<Observation> {
    events.sort_by_key(|event| (event.session, event.at));
    let (mut seen, mut maps) = (Vec::new(), SessionMaps::default());
    for of_session in events.chunk_by(|a, b| a.session == b.session) {
        // Emptying a large map takes as long as filling it.
        match maps.places.capacity() > LARGE {
            true => maps = SessionMaps::default(),
            false => maps.clear(),
        }
        observe(of_session, &mut seen, &mut maps);
    }
    seen
}

/// Pages that a session was shown, of which the maps are not used again.
const LARGE: usize = 1_024;

/// What is remembered of one session.
#[derive(Default)]
struct SessionMaps<'a> {
    /// Places of the observations of queries and pages.
    places: Map<(u32, u32), usize>,
    /// The latest search that showed a page.
    shown: Map<u32, Search<'a>>,
}

impl SessionMaps<'_> {
    fn clear(&mut self) {
        self.places.clear();
        self.shown.clear();
    }
}

/// Adds the observations of one session.
fn observe<'a>(events: &'a [Event], seen: &mut Vec<Observation>, maps: &mut SessionMaps<'a>) {
    let begin = seen.len();
    for (number, event) in events.iter().enumerate() {
        let (page, part, outcome) = match event.action {
            Action::Searched { query, ref pages } => {
                for (place, page) in (0..).zip(pages) {
                    let Some(page) = *page else { continue };
                    let known = *maps.places.entry((query, page)).or_insert_with(|| {
                        seen.push(Observation {
                            query,
                            page,
                            place,
                            part: None,
                            outcome: Outcome::Passed,
                        });
                        seen.len() - 1
                    });
                    seen[known].place = seen[known].place.min(place);
                    let at = event.at;
                    maps.shown.insert(page, Search { query, at, pages });
                }
                continue;
            }
            Action::Opened(page, part) => (page, Some(part), Outcome::Opened),
            Action::Helped(page, part) => (page, Some(part), Outcome::Helped),
            Action::DidNotHelp(page) => (page, None, Outcome::DidNotHelp),
            Action::Voted { query, helped } => {
                vote(seen[begin..].iter_mut().filter(|seen| seen.query == query), helped);
                continue;
            }
        };
        let searched = maps.shown.get(&page).filter(|search| event.at - search.at <= WINDOW);
        let Some(search) = searched else { continue };
        let Some(&known) = maps.places.get(&(search.query, page)) else {
            continue;
        };
        let known = &mut seen[known];
        let outcome = match outcome {
            Outcome::Opened if search.is_repeated(&events[number..]) => Outcome::Left,
            outcome => outcome,
        };
        if outcome.says_more_than(known.outcome) {
            known.outcome = outcome;
            known.part = part;
        }
    }
}

/// A vote on an answer is about the pages of it that were opened. Of several, it is not known which one helped.
fn vote<'a>(of_query: impl Iterator<Item = &'a mut Observation>, helped: bool) {
    let opened = |seen: &&mut Observation| matches!(seen.outcome, Outcome::Opened | Outcome::Left);
    let mut opened: Vec<&mut Observation> = of_query.filter(opened).collect();
    match (opened.as_mut_slice(), helped) {
        ([only], true) => only.outcome = Outcome::Helped,
        (several, false) => several.iter_mut().for_each(|seen| seen.outcome = Outcome::DidNotHelp),
        (_, true) => {}
    }
}

/// A search of a session.
#[derive(Clone, Copy)]
struct Search<'a> {
    query: u32,
    at: i64,
    pages: &'a [Option<u32>],
}

impl Search<'_> {
    /// Whether it is repeated in other words within a minute of the first of these events. What an assistant asks next is about the
    /// same if it finds a page of this search again.
    fn is_repeated(&self, events: &[Event]) -> bool {
        let begin = events.first().map_or(0, |event| event.at);
        let mut soon = events.iter().take_while(|event| event.at - begin <= MINUTE);
        soon.any(|event| match &event.action {
            Action::Searched { query, pages } if *query != self.query => {
                let is_again = |page: &Option<u32>| page.is_some() && self.pages.contains(page);
                !event.by_assistant || pages.iter().any(is_again)
            }
            _ => false,
        })
    }
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
        let by_assistant = false;
        Event {
            session,
            at,
            by_assistant,
            action,
        }
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

    #[test]
    fn an_assistant_asks_for_the_next_thing_at_once() {
        let next = |pages: &[u32]| {
            let mut events = vec![
                event(1, 0, search(1, &[7, 8])),
                event(1, 1, Action::Opened(7, 0)),
                event(1, 2, search(2, pages)),
            ];
            events.iter_mut().for_each(|event| event.by_assistant = true);
            observations(events)[0].outcome
        };
        assert_eq!(next(&[9]), Outcome::Opened);
        assert_eq!(next(&[9, 8]), Outcome::Left);
    }

    #[test]
    fn a_vote_on_an_answer_is_about_what_was_opened() {
        let vote = |at, helped| event(1, at, Action::Voted { query: 1, helped });
        let mut events = vec![
            event(1, 0, search(1, &[7, 8])),
            event(1, 1, Action::Opened(7, 0)),
            vote(2, true),
        ];
        let outcomes = |events: &[Event]| {
            let seen = observations(events.to_vec());
            seen.iter().map(|seen| seen.outcome).collect::<Vec<_>>()
        };
        assert_eq!(outcomes(&events), [Outcome::Helped, Outcome::Passed]);
        events[2] = vote(2, false);
        assert_eq!(outcomes(&events), [Outcome::DidNotHelp, Outcome::Passed]);
        events[2] = event(1, 2, Action::Opened(8, 0));
        events.push(vote(3, true));
        assert_eq!(outcomes(&events), [Outcome::Opened, Outcome::Opened]);
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let action = prop_oneof![
            (0..3_u32, proptest::collection::btree_set(0..5_u32, 0..4))
                .prop_map(|(query, pages)| search(query, &pages.into_iter().collect::<Vec<_>>())),
            (0..5_u32, 0..2_u32).prop_map(|(page, part)| Action::Opened(page, part)),
            (0..5_u32, 0..2_u32).prop_map(|(page, part)| Action::Helped(page, part)),
            (0..5_u32).prop_map(Action::DidNotHelp),
            (0..3_u32, any::<bool>()).prop_map(|(query, helped)| Action::Voted { query, helped }),
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
