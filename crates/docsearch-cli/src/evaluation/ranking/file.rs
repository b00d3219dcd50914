//! The ranking of a project as a file of a repository: TOML, with a line for each rule.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::process::error::Error;

/// Hexadecimal digits of a digest.
const DIGEST_DIGITS: usize = 16;

/// A ranking file.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RankingFile {
    /// The project that it is of.
    pub(super) project: Option<String>,
    /// Digest of the state of the server that it was written from.
    pub(super) base: Option<String>,
    #[serde(default)]
    settings: toml::Table,
    #[serde(default)]
    rules: BTreeMap<String, Vec<toml::Table>>,
}

impl RankingFile {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|problem| {
            let line = problem
                .span()
                .map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            Error::Usage(format!("line {line}: {}", problem.message()))
        })
    }

    /// The state, as `docsearch.apply_ranking` takes it.
    pub(super) fn state(&self) -> Value {
        json!({ "settings": self.settings, "rules": self.rules })
    }
}

/// A state of `docsearch.ranking_state` as a file. Columns that are empty or have their default are left out.
pub(super) fn write(project: &str, state: &Value) -> String {
    let mut text = format!(
        "# How project {} ranks. docsearch ranking diff compares it with the server, push applies it.\n\
         project = {}\n\
         # The state of the server that this file was written from.\n\
         base = \"{}\"\n\n[settings]\n",
        project.escape_debug(),
        toml::Value::from(project),
        digest(state)
    );
    // Writing to a String does not fail.
    for (name, value) in fields(&state["settings"]) {
        if let Some(value) = toml_value(value) {
            let _ = writeln!(text, "{name} = {value}");
        }
    }
    text.push_str("\n[rules]\n");
    for (table, rows) in fields(&state["rules"]) {
        let _ = writeln!(text, "{table} = [");
        for row in sorted_rows(rows) {
            let _ = writeln!(text, "  {},", rule(row));
        }
        text.push_str("]\n");
    }
    text
}

/// A rule as an inline table.
pub(super) fn rule(row: &Value) -> String {
    let given = fields(row).filter(|(name, value)| !(*name == "enabled" && **value == Value::Bool(true)));
    let table: toml::Table = given
        .filter_map(|(name, value)| Some((name.clone(), toml_value(value)?)))
        .collect();
    toml::Value::Table(table).to_string()
}

/// A value as TOML writes it; `None` for null.
pub(super) fn toml_value(value: &Value) -> Option<toml::Value> {
    match value {
        Value::Null => None,
        value => toml::Value::try_from(value).ok(),
    }
}

/// A digest of a state that does not depend on the order of its rules.
pub(super) fn digest(state: &Value) -> String {
    let rules = fields(&state["rules"]).map(|(table, rows)| {
        let rows = sorted_rows(rows).into_iter().cloned().collect::<Vec<_>>();
        (table.clone(), Value::from(rows))
    });
    let ordered = json!({ "settings": state["settings"], "rules": rules.collect::<Map<_, _>>() });
    let digest = base16ct::lower::encode_string(&Sha256::digest(ordered.to_string()));
    digest[..DIGEST_DIGITS].to_owned()
}

fn fields(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

fn sorted_rows(rows: &Value) -> Vec<&Value> {
    let mut rows: Vec<&Value> = rows.as_array().into_iter().flatten().collect();
    rows.sort_by_cached_key(|row| row.to_string());
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn state() -> Value {
        json!({
            "settings": {"penalty_news": 0.5, "candidates": 200.0},
            "rules": {"synonym": [
                {"term": "pc", "expansion": "pyramid cone", "enabled": true},
                {"term": "cn", "expansion": "say \"cone\"", "enabled": false},
            ]},
        })
    }

    #[test]
    fn a_file_has_a_line_for_each_rule() {
        let text = write("kiln", &state());
        let expected = "\
[settings]
candidates = 200.0
penalty_news = 0.5

[rules]
synonym = [
  { enabled = false, expansion = 'say \"cone\"', term = \"cn\" },
  { expansion = \"pyramid cone\", term = \"pc\" },
]
";
        let (head, body) = text.split_at(text.find("[settings]").unwrap());
        assert_eq!(body, expected);
        assert!(head.contains("project = \"kiln\"\n"), "{head}");
        let file = RankingFile::parse(&text).unwrap();
        assert_eq!(file.base.as_deref(), Some(digest(&state()).as_str()));
    }

    #[test]
    fn problems_name_their_line() {
        let said = |text: &str| RankingFile::parse(text).unwrap_err().to_string();
        assert!(said("project = \"kiln\"\nweights = 1\n").starts_with("line 2: unknown field"));
        assert!(said("[rules]\nsynonym = [\n{ term = 'a'\n]\n").starts_with("line "));
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            "\\PC{0,12}".prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
        ]
    }

    proptest! {
        /// What was written is read back, and the order of rules does not matter.
        #[test]
        fn files_read_back(
            project in "\\PC{1,12}",
            settings in prop::collection::btree_map("[a-z_]{1,12}", -1e3..1e3, 0..4),
            rules in prop::collection::btree_map(
                "[a-z_]{1,12}",
                prop::collection::vec(prop::collection::btree_map("[a-z_]{1,12}", value(), 1..4), 1..4),
                0..3,
            ),
        ) {
            let state = json!({"settings": settings, "rules": rules});
            let file = RankingFile::parse(&write(&project, &state)).unwrap();
            prop_assert_eq!(file.project.as_deref(), Some(project.as_str()));
            prop_assert_eq!(file.base.clone(), Some(digest(&state)));
            let mut expected = state.clone();
            for rows in expected["rules"].as_object_mut().unwrap().values_mut() {
                for row in rows.as_array_mut().unwrap() {
                    row.as_object_mut().unwrap().retain(|name, value| !(name == "enabled" && *value == true));
                }
                rows.as_array_mut().unwrap().sort_by_cached_key(Value::to_string);
            }
            let mut read = file.state();
            for rows in read["rules"].as_object_mut().unwrap().values_mut() {
                rows.as_array_mut().unwrap().sort_by_cached_key(Value::to_string);
            }
            prop_assert_eq!(&read, &expected);
            let mut turned = state.clone();
            for rows in turned["rules"].as_object_mut().unwrap().values_mut() {
                rows.as_array_mut().unwrap().reverse();
            }
            prop_assert_eq!(write(&project, &turned), write(&project, &state));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,80}|[a-z\\[\\]{}=\"', \n]{0,80}") {
            let _ = RankingFile::parse(&text);
        }
    }
}
