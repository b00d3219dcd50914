//! Weights of pages: from their front matter, or from rules for paths.

use std::fmt;
use std::path::Path;

use docsearch_core::values::bounds::PAGE_BOOST;
use globset::GlobSet;
use serde::Deserialize;
use serde_json::{Map, Number, Value};

use crate::error::Error;
use crate::folder::pattern::globs;

/// The metadata key of the weight, and its key in front matter.
const KEY: &str = "boost";

/// A rule in `docsearch.toml`: the weight of pages without one of their own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoostRule {
    /// Paths in the folder, which may be patterns.
    pub paths: Vec<String>,
    /// Their weight.
    pub boost: f64,
}

/// The rules of a source. The first that matches a page counts.
#[derive(Clone, Default)]
pub struct Boosts(Vec<(BoostRule, GlobSet)>);

/// Without the compiled patterns, so that equal rules look the same.
impl fmt::Debug for Boosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(rule, _)| rule)).finish()
    }
}

impl BoostRule {
    /// Checks that the weight is within bounds, and that there are paths.
    pub fn check(&self) -> Result<(), String> {
        if !is_within(self.boost) {
            return Err(format!(
                "boost {} is out of range\nHINT:  Set it from {} to {}; 1 changes nothing.",
                self.boost,
                PAGE_BOOST.start(),
                PAGE_BOOST.end()
            ));
        }
        if self.paths.is_empty() {
            return Err("a boost has no paths\nHINT:  Name pages, such as paths = [\"reference/**\"].".to_owned());
        }
        globs(&self.paths).map(drop).map_err(|error| error.to_string())
    }
}

impl Boosts {
    /// Compiles the patterns of rules.
    pub fn new(rules: Vec<BoostRule>) -> Result<Self, Error> {
        let compiled = rules.into_iter().map(|rule| {
            let paths = globs(&rule.paths)?;
            Ok((rule, paths))
        });
        compiled.collect::<Result<_, Error>>().map(Self)
    }

    /// Writes the weight of a page into its metadata. Some formats have no numbers: there, a text is read as one. Returns a problem of the
    /// page's own weight.
    pub(super) fn note(&self, path: &Path, metadata: &mut Map<String, Value>) -> Option<String> {
        let Some(own) = metadata.get_mut(KEY) else {
            let rule = self.0.iter().find(|(_, paths)| paths.is_match(path));
            let weight = rule.and_then(|(rule, _)| Number::from_f64(rule.boost));
            metadata.extend(weight.map(|weight| (KEY.to_owned(), Value::Number(weight))));
            return None;
        };
        if let Value::String(text) = &*own
            && let Some(number) = text.trim().parse().ok().and_then(Number::from_f64)
        {
            *own = Value::Number(number);
        }
        let (least, most) = (PAGE_BOOST.start(), PAGE_BOOST.end());
        match own.as_f64() {
            Some(number) if is_within(number) => None,
            Some(number) => Some(format!(
                "boost {number} is not between {least} and {most}: the nearer one counts"
            )),
            None => Some(format!(
                "boost is not a number between {least} and {most}, and has no effect"
            )),
        }
    }
}

fn is_within(boost: f64) -> bool {
    (f64::from(*PAGE_BOOST.start())..=f64::from(*PAGE_BOOST.end())).contains(&boost)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(path: &str, boost: f64) -> BoostRule {
        BoostRule {
            paths: vec![path.to_owned()],
            boost,
        }
    }

    #[test]
    fn front_matter_then_the_first_rule_decides() {
        let boosts = Boosts::new(vec![rule("api/new.md", 1.5), rule("api/**", 0.8)]).unwrap();
        let noted = |path: &str, metadata: Value| {
            let Value::Object(mut metadata) = metadata else {
                panic!()
            };
            let problem = boosts.note(Path::new(path), &mut metadata);
            (metadata.get(KEY).cloned(), problem)
        };
        assert_eq!(noted("api/new.md", json!({})), (Some(json!(1.5)), None));
        assert_eq!(noted("api/a/b.md", json!({})), (Some(json!(0.8)), None));
        assert_eq!(noted("guide.md", json!({})), (None, None));
        assert_eq!(noted("api/a.md", json!({"boost": 2})), (Some(json!(2)), None));
        assert_eq!(noted("api/a.md", json!({"boost": " 1.2 "})), (Some(json!(1.2)), None));
        for (wrong, said) in [
            (json!(3), "boost 3 is not between 0.5 and 2"),
            (json!("much"), "not a number"),
        ] {
            let (kept, problem) = noted("api/a.md", json!({"boost": wrong}));
            assert_eq!(kept, Some(wrong));
            assert!(problem.is_some_and(|problem| problem.contains(said)));
        }
    }

    #[test]
    fn rules_are_checked() {
        for (rule, expected) in [
            (rule("a", 0.4), "boost 0.4 is out of range\nHINT:"),
            (rule("a", f64::NAN), "out of range"),
            (rule("a[", 1.0), "error parsing glob"),
            (
                BoostRule {
                    paths: Vec::new(),
                    boost: 1.0,
                },
                "has no paths\nHINT:",
            ),
        ] {
            assert!(
                rule.check().is_err_and(|problem| problem.contains(expected)),
                "{rule:?}"
            );
        }
        assert_eq!(rule("api/", 2.0).check(), Ok(()));
    }
}
