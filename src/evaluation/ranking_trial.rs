//! Runs of a set as if a project had another ranking. No other session sees it.

use docsearch_core::evaluation::summary::QueryRun;
use docsearch_core::ranking::weight::WEIGHTS;
use serde_json::{Map, Value, json};

use crate::administration::ranking_state;
use crate::evaluation::judgments;
use crate::evaluation::run::{self, Options};
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::postgres::subtransaction;
use crate::settings;

/// Runs the queries of a set as if a ranking state were applied to the project of `options`. Weights are tried as `config`. Rules are
/// applied with the rights of the caller in a subtransaction that is undone.
pub(crate) fn evaluate(
    caller: &mut Caller,
    set: &str,
    options: &Options<'_>,
    wanted: &Value,
) -> Result<(i64, Vec<QueryRun>)> {
    judgments::require_privilege(caller)?;
    let project = options.project.ok_or_else(|| {
        invalid(
            "a ranking state is of one project, and none is named",
            "Name it: project => 'name'.",
        )
    })?;
    let proposed = ranking_state::proposed(caller, project, wanted)?;
    let mut tried = match proposed.has_other_rules {
        true => subtransaction::undone(|| {
            ranking_state::apply(caller, Some(project), wanted, None)?;
            run::measure(caller, set, options)
        })?,
        false => {
            let without = proposed
                .removed
                .iter()
                .filter_map(|name| Some((name.clone(), without(name)?.into())));
            let mut config: Map<String, Value> = without.collect();
            config.extend(proposed.weights.clone());
            config.extend(options.config.as_object().cloned().unwrap_or_default());
            let mut options = options.clone();
            options.config = config.into();
            run::measure(caller, set, &options)?
        }
    };
    tried.state["weights"] = match proposed.weights.is_empty() {
        true => json!({}),
        false => json!({ project: proposed.weights }),
    };
    tried.state["proposed"] = true.into();
    run::keep(caller, set, options, tried)
}

/// The weight of a project that does not set it.
fn without(name: &str) -> Option<f64> {
    let (place, weight) = WEIGHTS.iter().enumerate().find(|(_, weight)| weight.name == name)?;
    Some(settings::weight(place, weight))
}
