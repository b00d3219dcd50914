use std::collections::BTreeSet;
use std::convert::Infallible;

use super::*;

#[test]
fn every_row_is_whole() {
    let names: BTreeSet<&str> = WEIGHTS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), WEIGHTS.len());
    for row in WEIGHTS {
        assert!(row.min <= row.default && row.default <= row.max, "{}", row.name);
        assert!(
            row.help.ends_with('.') && !row.unit.is_empty() && !row.source.is_empty(),
            "{}",
            row.name
        );
        assert!(!row.is_whole || [row.default, row.min, row.max].iter().all(|n| n.fract() == 0.0));
    }
}

#[test]
fn the_struct_has_the_defaults_of_the_table_in_its_order() {
    let of_table = Weights::from_fn(|place, row| {
        assert_eq!(row, &WEIGHTS[place]);
        Ok::<_, Infallible>(row.default)
    });
    assert_eq!(of_table, Ok(Weights::default()));
    let serde_json::Value::Object(fields) = serde_json::json!(Weights::default()) else {
        panic!("not an object")
    };
    assert!(WEIGHTS.iter().all(|row| fields.contains_key(row.name)));
}

#[test]
fn s2_17_what_is_given_takes_the_place_of_a_weight_within_its_bounds() {
    let own = |values: &[(&str, f64)]| {
        let own = values.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        Weights::default().with_own(&own)
    };
    assert_eq!(own(&[]), Weights::default());
    let changed = own(&[("boost_action_name", 0.7), ("candidates", 300.0), ("nosuch", 1.0)]);
    let expected = Weights {
        boost_action_name: 0.7,
        candidates: 300,
        ..Weights::default()
    };
    assert_eq!(changed, expected);
    assert_eq!(own(&[("hybrid_weight_words", 7.0)]).hybrid_weight_words, 1.0);
}

#[test]
fn one_share_for_all_classes_is_stronger_than_those_of_classes() {
    let weights = Weights::default();
    assert!(weights.hybrid(Class::Words) < weights.hybrid(Class::Question));
    let even = Weights {
        hybrid_weight: 0.7,
        ..weights
    };
    assert!(Class::ALL.iter().all(|&class| even.hybrid(class) == 0.7));
    assert!(
        Class::ALL
            .iter()
            .all(|&class| even.with_hybrid_at_most(0.3).hybrid(class) == 0.3)
    );
    assert_eq!(
        weights.with_hybrid_at_most(0.3).hybrid(Class::Generic),
        weights.hybrid(Class::Generic)
    );
}

/// `8000` as the reference writes bounds: `8,000`.
fn grouped(number: f64) -> String {
    let text = number.to_string();
    let (sign, digits) = text
        .strip_prefix('-')
        .map_or(("", text.as_str()), |digits| ("-", digits));
    if digits.contains('.') || digits.len() < 5 {
        return text;
    }
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    format!("{sign}{}", groups.join(","))
}

#[test]
fn the_reference_has_every_row() {
    let reference = include_str!("../../../../../docs/reference/settings.md");
    for row in WEIGHTS {
        let bounds = format!("{} to {}", grouped(row.min), grouped(row.max));
        let prefix = if row.is_setting { "docsearch." } else { "" };
        let line = format!("| `{prefix}{}` | {} | {bounds} | ", row.name, row.default);
        assert!(
            reference.contains(&line),
            "docs/reference/settings.md has no line that begins with: {line}"
        );
    }
}
