use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

fn observation(query: u32, page: u32, place: usize, outcome: Outcome) -> Observation {
    Observation {
        query,
        page,
        place: place as u32,
        part: None,
        outcome,
    }
}

/// `sessions` of them, the first `opened` with the page opened.
fn seen(query: u32, page: u32, place: usize, sessions: usize, opened: usize) -> Vec<Observation> {
    (0..sessions)
        .map(|number| {
            let outcome = if number < opened {
                Outcome::Opened
            } else {
                Outcome::Passed
            };
            observation(query, page, place, outcome)
        })
        .collect()
}

fn grade_of(model: &ClickModel, query: u32, page: u32) -> i32 {
    let found = model
        .pages
        .iter()
        .find(|found| (found.query, found.page) == (query, page));
    found.map_or(0, |found| found.grade)
}

#[test]
fn no_log_is_no_judgment() {
    let model = ClickModel::of(&[], 3);
    assert_eq!(model.examination, [] as [f64; 0]);
    assert_eq!(model.pages, []);
}

#[test]
fn votes_count_as_looked_at() {
    let mut log = seen(1, 1, 8, 10, 0);
    log.extend((0..5).map(|_| observation(1, 1, 8, Outcome::Helped)));
    log.extend((0..20).map(|_| observation(1, 2, 0, Outcome::DidNotHelp)));
    log.extend(seen(1, 2, 0, 5, 5));
    let model = ClickModel::of(&log, 3);
    assert!(grade_of(&model, 1, 1) > grade_of(&model, 1, 2), "{model:?}");
}

/// A number from 0 to 1 by a linear congruential generator.
fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

/// Readers of 40 queries, each with 5 pages in an order that never changes, one of which is the best. The places are looked at as
/// often as the reciprocal of their number.
#[test]
fn the_best_page_is_found_more_often_than_by_counting() {
    let state = &mut 42;
    let (mut log, mut best, mut counted) = (Vec::new(), Vec::new(), 0);
    for query in 0..40 {
        let of_query = (random(state) * 5.0) as usize;
        let attraction: Vec<f64> = (0..5)
            .map(|page| {
                if page == of_query {
                    0.75
                } else {
                    0.05 + 0.25 * random(state)
                }
            })
            .collect();
        let mut opened = [0; 5];
        for (place, attraction) in attraction.iter().enumerate() {
            let share = attraction / (place as f64 + 1.0);
            opened[place] = (0..30).filter(|_| random(state) < share).count();
            log.extend(seen(query, place as u32, place, 30, opened[place]));
        }
        let most = opened.iter().max().copied().unwrap_or_default();
        counted += usize::from(opened[of_query] == most);
        best.push(of_query as u32);
    }
    let model = ClickModel::of(&log, 3);
    let first = |query: usize| model.pages.iter().find(|page| page.query as usize == query);
    let found = (0..best.len()).filter(|&query| first(query).is_some_and(|page| page.page == best[query]));
    let found = found.count();
    assert!(found >= 35 && found > counted, "{found} of 40, by counting {counted}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Planted attraction and bias of places are found again, if pages are shown at several places.
    #[test]
    fn what_was_planted_is_recovered(
        seed in any::<u64>(),
        falls in prop::collection::vec(0.6..1.0_f64, 5),
        attraction in prop::collection::vec(0.05..0.95_f64, 60),
    ) {
        let places: Vec<f64> = falls.iter().scan(1.0, |share, fall| { let now = *share; *share *= fall; Some(now) }).collect();
        let state = &mut seed.clone();
        let mut log = Vec::new();
        for query in 0..12_u32 {
            for _ in 0..400 {
                // The order of the pages of a query changes from search to search.
                let first = (random(state) * 5.0) as usize;
                for (place, share) in places.iter().enumerate() {
                    let page = (first + place) % 5;
                    let is_opened = random(state) < share * attraction[query as usize * 5 + page];
                    let outcome = if is_opened { Outcome::Opened } else { Outcome::Passed };
                    log.push(observation(query, page as u32, place, outcome));
                }
            }
        }
        let model = ClickModel::of(&log, 3);
        for (found, planted) in model.examination.iter().zip(&places) {
            prop_assert!((found - planted).abs() < 0.1, "{:?} for {:?}", model.examination, places);
        }
        for page in &model.pages {
            let planted = attraction[page.query as usize * 5 + page.page as usize];
            prop_assert!((page.attraction - planted).abs() < 0.15, "{page:?} for {planted}");
        }
    }
}

proptest! {
    /// A page that is opened as often at a worse place has no lower grade.
    #[test]
    fn a_better_place_is_no_merit(
        others in prop::collection::vec((2..6_u32, 0..6_u32, 0..10_usize, 1..30_usize, 0..30_usize), 0..20),
        sessions in 1..40_usize,
        opened in 0..40_usize,
        more in 0..10_usize,
        place in 0..10_usize,
        lower in 0..10_usize,
    ) {
        let opened = opened.min(sessions);
        let mut log = seen(1, 1, place, sessions, opened);
        log.extend(seen(1, 2, (place + lower).min(9), sessions, (opened + more).min(sessions)));
        for (query, page, place, sessions, opened) in others {
            log.extend(seen(query, page, place, sessions, opened.min(sessions)));
        }
        let model = ClickModel::of(&log, 1);
        prop_assert!(grade_of(&model, 1, 2) >= grade_of(&model, 1, 1), "{model:?}");
        prop_assert!(model.examination.is_sorted_by(|a, b| a >= b), "{model:?}");
        prop_assert!(model.examination.iter().all(|share| (0.0..=1.0).contains(share)), "{model:?}");
    }

    /// Fewer sessions than asked for make no judgment, whatever they do.
    #[test]
    fn few_sessions_make_no_judgment(min_sessions in 1..6_u32, passed in 0..20_usize, place in 0..10_usize) {
        let opened = min_sessions as usize - 1;
        let log = seen(1, 1, place, passed + opened, opened);
        prop_assert_eq!(ClickModel::of(&log, min_sessions).pages, []);
        let log = seen(1, 1, place, opened + 1, opened + 1);
        prop_assert!(grade_of(&ClickModel::of(&log, min_sessions), 1, 1) > 0);
    }

    /// The order of the log does not matter.
    #[test]
    fn order_does_not_matter(pages in prop::collection::vec((0..3_u32, 0..4_u32, 0..10_usize, 1..9_usize, 0..9_usize), 0..12)) {
        let mut log: Vec<Observation> = pages
            .into_iter()
            .flat_map(|(query, page, place, sessions, opened)| seen(query, page, place, sessions, opened.min(sessions)))
            .collect();
        let model = ClickModel::of(&log, 1);
        log.reverse();
        prop_assert_eq!(ClickModel::of(&log, 1), model);
    }
}
