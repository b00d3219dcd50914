//! What the rules of ranking changed, by class of the query.

use crate::usage::mean::Mean;

/// One search, as far as rules are concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedSearch {
    /// The page that would come first without rules.
    pub original_top: Option<i64>,
    /// The page that came first.
    pub final_top: i64,
    /// What rules added to its score.
    pub delta: Option<f32>,
    /// The page that the reader opened first.
    pub opened: Option<i64>,
}

impl RankedSearch {
    /// Whether rules put another page first.
    #[must_use]
    pub fn is_moved(&self) -> bool {
        self.original_top.is_some_and(|original| original != self.final_top)
    }
}

/// What rules changed in the searches of one class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleEffect {
    /// Class of the query.
    pub class: Option<String>,
    /// Searches.
    pub searches: i64,
    /// Searches in which rules put another page first.
    pub moved: i64,
    /// Of these, those in which the page that was first before was opened first.
    pub opened_original: i64,
    /// Of these, those in which the page that is first was opened first.
    pub opened_final: i64,
    delta: Mean,
}

impl RuleEffect {
    /// What rules added to the score of the first result, on average.
    #[must_use]
    pub fn mean_delta(&self) -> Option<f64> {
        self.delta.value()
    }

    fn add(&mut self, search: &RankedSearch) {
        self.searches += 1;
        self.delta.add(search.delta);
        if search.is_moved() {
            self.moved += 1;
            self.opened_original += i64::from(search.opened.is_some() && search.opened == search.original_top);
            self.opened_final += i64::from(search.opened == Some(search.final_top));
        }
    }
}

/// Effects by class, search by search. There are few classes.
#[derive(Debug, Default)]
pub struct RuleEffects(Vec<RuleEffect>);

impl RuleEffects {
    /// Counts a search.
    pub fn add(&mut self, class: Option<&str>, search: &RankedSearch) {
        let known = self.0.iter().position(|effect| effect.class.as_deref() == class);
        let place = known.unwrap_or_else(|| {
            self.0.push(RuleEffect {
                class: class.map(str::to_owned),
                ..RuleEffect::default()
            });
            self.0.len() - 1
        });
        self.0[place].add(search);
    }

    /// The classes with the most searches; equal ones by name, without a class last.
    #[must_use]
    pub fn most_searches(self, limit: usize) -> Vec<RuleEffect> {
        let mut effects = self.0;
        effects.sort_unstable_by(|a, b| {
            let by_class = (a.class.is_none(), &a.class).cmp(&(b.class.is_none(), &b.class));
            b.searches.cmp(&a.searches).then(by_class)
        });
        effects.truncate(limit);
        effects
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn search() -> impl Strategy<Value = (Option<&'static str>, RankedSearch)> {
        let class = prop::sample::select(vec![None, Some("words"), Some("question")]);
        let delta = prop::option::of((-8..8_i8).prop_map(|delta| f32::from(delta) / 8.0));
        (
            class,
            prop::option::of(0..3_i64),
            0..3_i64,
            delta,
            prop::option::of(0..4_i64),
        )
            .prop_map(|(class, original_top, final_top, delta, opened)| {
                let search = RankedSearch {
                    original_top,
                    final_top,
                    delta,
                    opened,
                };
                (class, search)
            })
    }

    proptest! {
        #[test]
        fn each_class_has_the_counts_of_its_searches(searches in prop::collection::vec(search(), 0..60), limit in 0..5_usize) {
            let mut effects = RuleEffects::default();
            for (class, search) in &searches {
                effects.add(*class, search);
            }
            let effects = effects.most_searches(limit);
            prop_assert!(effects.windows(2).all(|pair| pair[0].searches >= pair[1].searches));
            let classes: std::collections::BTreeSet<_> = searches.iter().map(|(class, _)| *class).collect();
            prop_assert_eq!(effects.len(), classes.len().min(limit));
            for effect in &effects {
                let own: Vec<RankedSearch> = searches
                    .iter()
                    .filter(|(class, _)| *class == effect.class.as_deref())
                    .map(|(_, search)| *search)
                    .collect();
                let count = |is: &dyn Fn(&RankedSearch) -> bool| own.iter().filter(|search| is(search)).count() as i64;
                prop_assert_eq!(effect.searches, own.len() as i64);
                prop_assert_eq!(effect.moved, count(&RankedSearch::is_moved));
                prop_assert_eq!(
                    effect.opened_original + effect.opened_final,
                    count(&|search| search.is_moved()
                        && search.opened.is_some_and(|opened| {
                            Some(opened) == search.original_top || opened == search.final_top
                        }))
                );
                let deltas: Vec<f64> = own.iter().filter_map(|search| search.delta.map(f64::from)).collect();
                let mean = (!deltas.is_empty()).then(|| deltas.iter().sum::<f64>() / deltas.len() as f64);
                prop_assert_eq!(effect.mean_delta(), mean);
            }
        }
    }
}
