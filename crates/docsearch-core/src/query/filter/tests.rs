//! Filters and the predicates that they become. `tests/test_filters.py` compares what these match with the grammar.

use serde_json::json;

use super::*;

fn filter(filter: &Value) -> Filter {
    let parsed = ParsedFilter::parse(filter).expect("a filter");
    let versions = vec![vec!["4.9".to_owned(), "4.10".to_owned()]; parsed.version_ranges().len()];
    parsed.with_versions(&versions)
}

fn metadata(of: Value) -> String {
    filter(&of).metadata.unwrap_or_default()
}

fn refused(filter: Value) -> FilterError {
    ParsedFilter::parse(&filter).expect_err("no filter")
}

/// The predicate that a value of `key`, or of the key with its other ending, satisfies `test`.
fn of_key(key: &str, other: &str, test: &str) -> String {
    format!(r#"(exists($."{key}" ? ({test})) || exists($."{other}" ? ({test})))"#)
}

#[test]
fn s0_15_scalars_arrays_negations_and_ranges() {
    for (value, test) in [
        (json!(1), "@ == 1"),
        (json!([1, 2]), "(@ == 1 || @ == 2)"),
        (json!([1, 2, 3]), "(@ == 1 || (@ == 2 || @ == 3))"),
        (json!({"any": [1, 2]}), "(@ == 1 || @ == 2)"),
        (json!({"from": 2020}), "@ >= 2020"),
        (json!({"from": 2020, "to": 2022}), "(@ >= 2020 && @ <= 2022)"),
        (json!([1, {"from": 5}]), "(@ == 1 || @ >= 5)"),
        (json!({"from": "a", "to": "m"}), r#"(@ >= "a" && @ <= "m")"#),
        (json!({"exists": true}), "@ != null"),
        (json!({"prefix": "Re."}), r#"@ like_regex "^Re\\." flag "i""#),
    ] {
        assert_eq!(metadata(json!({"n": value})), of_key("n", "ns", test));
    }
    assert_eq!(
        metadata(json!({"a": {"not": true}})),
        format!("!({})", of_key("a", "as", "@ == true"))
    );
    assert_eq!(
        metadata(json!({"a": {"exists": false}})),
        format!("!({})", of_key("a", "as", "@ != null"))
    );
    assert_eq!(
        metadata(json!({"a": {"all": [1, 2]}})),
        format!("({} && {})", of_key("a", "as", "@ == 1"), of_key("a", "as", "@ == 2"))
    );
    assert_eq!(
        metadata(json!({"a": {"from": 1, "not": 5}})),
        format!(
            "(!({}) && {})",
            of_key("a", "as", "@ == 5"),
            of_key("a", "as", "@ >= 1")
        )
    );
}

#[test]
fn words_match_in_their_usual_spellings() {
    assert_eq!(
        metadata(json!({"level": "low"})),
        of_key("level", "levels", r#"(@ == "low" || (@ == "Low" || @ == "LOW"))"#)
    );
    assert_eq!(
        metadata(json!({"level": "GraphQL"})),
        of_key("level", "levels", r#"@ == "GraphQL""#)
    );
}

#[test]
fn s0_15_names_of_platforms_and_containers_match_in_any_case() {
    let test = |pattern: &str| {
        of_key(
            "platform",
            "platforms",
            &format!(r#"@ like_regex "{pattern}" flag "i""#),
        )
    };
    assert_eq!(metadata(json!({"platform": "iOS"})), test("^(?:iOS)$"));
    assert_eq!(
        metadata(json!({"platform": ["iOS", "mac.OS|"]})),
        test(r"^(?:iOS|mac\\.OS\\|)$")
    );
    for (key, folds) in [
        ("framework", true),
        ("packages", true),
        ("level", false),
        ("plat", false),
    ] {
        let predicate = metadata(json!({key: "X"}));
        assert_eq!(predicate.contains("like_regex"), folds, "{key}");
    }
    let long = "x".repeat(5_000);
    assert!(metadata(json!({"platform": long})).contains("=="));
}

#[test]
fn texts_are_compared_as_dates_or_versions_if_the_bounds_are_such() {
    let dates = r#"@ like_regex "^[0-9]{4}-[0-9]{2}(-|$)""#;
    for (value, start) in [
        (json!({"from": "2025-01-15"}), r#"(@ >= "2025-01-15" && "#),
        (
            json!({"from": "2025", "to": "2025-02"}),
            "(@ >= \"2025\" && (@ <= \"2025-02\u{10FFFF}\" && ",
        ),
    ] {
        let predicate = metadata(json!({"day": value}));
        assert!(predicate.contains(start) && predicate.contains(dates), "{predicate}");
    }
    let parsed = ParsedFilter::parse(&json!({"since": {"from": "4.9"}, "version": {"to": "next"}})).expect("a filter");
    let range = |key: &str, from: Option<&str>, to: Option<&str>| VersionRange {
        key: key.to_owned(),
        from: from.map(str::to_owned),
        to: to.map(str::to_owned),
    };
    assert_eq!(
        parsed.version_ranges(),
        [range("since", Some("4.9"), None), range("version", None, Some("next"))]
    );
    let compiled = parsed.with_versions(&[vec!["4.9".to_owned(), "4.10".to_owned()], Vec::new()]);
    assert_eq!(
        compiled.metadata,
        Some(of_key("since", "sinces", r#"(@ == "4.9" || @ == "4.10")"#))
    );
    assert_eq!(compiled.fields.as_deref(), Some(r#"exists($."version" ? (1 == 0))"#));
    assert!(parsed.version_ranges()[0].compares("v4.10-rc1") && !parsed.version_ranges()[0].compares("soon"));
}

#[test]
fn fields_of_the_document_are_reserved() {
    let filter = filter(&json!({"category": "Layout", "after": "2025-11-01"}));
    assert_eq!(
        filter.fields.as_deref(),
        Some(r#"exists($."category" ? (@ like_regex "^(?:Layout)$" flag "i"))"#)
    );
    assert_eq!(filter.after.as_deref(), Some("2025-11-01"));
    assert_eq!(filter.metadata, None);
}

#[test]
fn filters_are_combined_where_their_keys_are() {
    let level = of_key("level", "levels", "@ == 1");
    let size = of_key("size", "sizes", "@ == 2");
    let any = filter(&json!({"any": [{"level": 1}, {"size": 2}]}));
    assert_eq!((any.metadata, any.fields), (Some(format!("({level} || {size})")), None));
    let not = filter(&json!({"not": {"level": 1, "size": 2}}));
    assert_eq!(not.metadata, Some(format!("!(({level} && {size}))")));
    let both = filter(&json!({"any": [{"level": 1}, {"version": "GraphQL"}]}));
    let level = level.replace("$.", r#"$."metadata"."#);
    assert_eq!(
        (both.metadata, both.fields, both.joins_metadata),
        (
            None,
            Some(format!(r#"({level} || exists($."version" ? (@ == "GraphQL")))"#)),
            true
        )
    );
    // Keys of that name with other values are keys of the metadata.
    assert_eq!(metadata(json!({"any": 1})), of_key("any", "anys", "@ == 1"));
    for key in ["after", "before", "version", "project"] {
        assert_eq!(
            refused(json!({"not": {key: "latest"}})),
            FilterError::Nested { key: key.into() }
        );
    }
}

#[test]
fn a_project_is_found_by_its_name_in_any_case() {
    let filter = filter(&json!({"project": {"not": ["Kit", "rpi"]}}));
    assert_eq!(
        filter.projects.as_deref(),
        Some(r#"!(exists($."project" ? (@ like_regex "^(?:Kit|rpi)$" flag "i")))"#)
    );
    assert_eq!((filter.metadata, filter.fields), (None, None));
    let parsed = ParsedFilter::parse(&json!({"projects": "kit"})).expect("a filter");
    assert!(parsed.projects().is_none() && parsed.with_versions(&[]).metadata.is_some());
}

#[test]
fn keys_of_metadata_have_two_spellings() {
    let keys = metadata_keys(&json!({
        "platforms": {"not": "ios"}, "kind": "guide", "after": "2026-01-01", "project": "kit", "any": [{"level": 1}]
    }));
    assert_eq!(keys, [["platforms".to_owned(), "platform".to_owned()]]);
    assert_eq!(metadata_keys(&Value::Null), <[[String; 2]; 0]>::default());
}

#[test]
fn the_latest_version_is_no_text_to_be_compared() {
    let latest = filter(&json!({"version": "latest", "kind": "guide"}));
    assert!(latest.latest);
    assert_eq!(
        latest.fields.as_deref(),
        Some(r#"exists($."kind" ? (@ like_regex "^(?:guide)$" flag "i"))"#)
    );
    // It is refused and not compared as a text.
    for other in [
        json!({"not": "latest"}),
        json!(["latest"]),
        json!(["1.0", "latest"]),
        json!({"not": ["latest"]}),
        json!({"from": "1.0", "to": "latest"}),
        json!({"any": [{"not": "latest"}]}),
    ] {
        assert_eq!(refused(json!({"version": other})), FilterError::Latest);
    }
    assert!(ParsedFilter::parse(&json!({"platform": {"not": "latest"}})).is_ok());
}

#[test]
fn what_cannot_be_matched_is_refused() {
    assert_eq!(refused(json!([1])), FilterError::NotAnObject);
    for bad in [
        json!({"a": []}),
        json!({"a": {}}),
        json!({"a": [[1]]}),
        json!({"a": {"any": 1}}),
        json!({"a": {"all": []}}),
        json!({"a": {"exists": "yes"}}),
        json!({"a": {"prefix": 1}}),
        json!({"a": {"from": 1, "to": "b"}}),
        json!({"a": {"from": true}}),
    ] {
        assert_eq!(refused(bad), FilterError::Value { key: "a".into() });
    }
    let (key, operator) = ("a".to_owned(), "like".to_owned());
    assert_eq!(
        refused(json!({"a": {"like": 1}})),
        FilterError::Operator { key, operator }
    );
    assert_eq!(refused(json!({"after": 3})), FilterError::Date { key: "after".into() });
}

#[test]
fn depth_and_size_are_bounded() {
    let nested = |levels: usize| (1..levels).fold(json!(1), |inner, _| json!({"not": inner}));
    assert!(ParsedFilter::parse(&json!({"a": nested(15)})).is_ok());
    assert_eq!(refused(json!({"a": nested(17)})), FilterError::TooDeep);
    let filters = |levels: usize| (1..levels).fold(json!({"a": 1}), |inner, _| json!({"any": [inner]}));
    assert!(ParsedFilter::parse(&filters(15)).is_ok());
    assert_eq!(refused(filters(17)), FilterError::TooDeep);
    assert_eq!(refused(json!({"n": "x".repeat(MAX_BYTES)})), FilterError::TooLarge);
    // Each of these conditions repeats the key.
    let key = "k".repeat(2_000);
    let values: Vec<Value> = (0..600).map(|n| json!({"from": n})).collect();
    assert_eq!(refused(json!({key: {"all": values}})), FilterError::TooLarge);
}

#[test]
fn many_values_nest_a_little() {
    let predicate = metadata(json!({"n": (0..20_000).collect::<Vec<i32>>()}));
    let depths = predicate.bytes().scan(0, |depth, byte| {
        *depth += i32::from(byte == b'(') - i32::from(byte == b')');
        Some(*depth)
    });
    assert!(depths.max() < Some(20));
}

#[test]
fn keys_and_values_cannot_leave_their_quotes() {
    let predicate = metadata(json!({"a\" || true": "x\" || TRUE b"}));
    assert!(
        predicate.contains(r#"$."a\" || true" ? (@ == "x\" || TRUE b")"#),
        "{predicate}"
    );
}
