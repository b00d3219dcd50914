use proptest::prelude::*;

use super::*;

fn version(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

fn pgvector(catalog: &str, files: Option<&str>, loaded: Option<&str>) -> Versions {
    Versions {
        server: 180_006,
        catalog: Some(catalog.to_owned()),
        files: files.map(str::to_owned),
        loaded: loaded.map(str::to_owned),
    }
}

fn names(versions: &Versions) -> Vec<&'static str> {
    versions
        .faults()
        .into_iter()
        .map(|finding| finding.fault.fault)
        .collect()
}

#[test]
fn the_table_is_read_and_each_fault_has_rising_versions() {
    for fault in table() {
        assert!(!fault.fault.is_empty() && !fault.effect.is_empty(), "{fault:?}");
        assert!(!fault.good_from.is_empty(), "{fault:?}");
        assert!(
            fault.good_from.windows(2).all(|pair| pair[0].major() < pair[1].major()),
            "{fault:?}"
        );
    }
}

#[test]
fn versions_are_numbers_whatever_follows_them() {
    for (text, numbers) in [
        ("0.8.4", "0.8.4"),
        ("0.8.4-1.pgdg", "0.8.4"),
        ("0.8.4-1.pgdg13+1", "0.8.4"),
        ("18.6 (Debian 18.6-1.pgdg13+1)", "18.6"),
        (" 18.6\n", "18.6"),
        ("17.10 (Ubuntu 17.10-0ubuntu0.25.04.1)", "17.10"),
        ("0.8.0", "0.8"),
        ("18", "18"),
        ("0.8.", "0.8"),
        ("99999999999999999999", "18446744073709551615"),
    ] {
        assert_eq!(version(text), version(numbers), "{text}");
        assert_eq!(version(text).to_string(), version(numbers).to_string(), "{text}");
    }
    for text in ["", "latest", ".8", "v1", "-1"] {
        assert_eq!(Version::parse(text), None, "{text}");
    }
}

#[test]
fn numbers_are_compared_and_not_digits() {
    let rising = [
        "0.8",
        "0.8.1",
        "0.8.2",
        "0.8.4-beta1",
        "0.8.4",
        "0.8.10",
        "0.9.0",
        "0.10",
        "1.0",
        "16.9",
        "16.15",
        "17.2",
        "17.11",
        "18beta1",
        "18~rc1",
        "18.0",
        "18.1",
        "18.6",
        "18.10",
        "19devel",
        "19",
    ];
    for pair in rising.windows(2) {
        assert!(version(pair[0]) <= version(pair[1]), "{pair:?}");
    }
    assert!(version("0.8.10") > version("0.8.4"));
    assert!(version("18beta1") < version("18"));
}

#[test]
fn a_fault_ends_with_a_version_of_each_major() {
    let cve = |number| {
        let versions = Versions {
            server: number,
            ..pgvector("0.8.4", None, None)
        };
        names(&versions) == ["CVE-2026-14662"]
    };
    for bad in [150_099, 160_000, 160_014, 170_000, 170_010, 180_000, 180_005] {
        assert!(cve(bad), "{bad}");
    }
    for good in [160_015, 160_020, 170_011, 180_006, 180_010, 190_000, 200_001] {
        assert!(!cve(good), "{good}");
    }
}

#[test]
fn pgvector_has_the_faults_of_its_oldest_known_version() {
    const CVE: &str = "CVE-2026-3172";
    const VACUUM: &str = "HNSW broken by VACUUM";
    for (catalog, files, loaded, expected) in [
        ("0.8.4", None, None, &[] as &[&str]),
        ("0.8.10", Some("0.8.10"), Some("0.8.10"), &[]),
        ("1.0", Some("0.9.0"), None, &[]),
        ("0.8.3", None, None, &[VACUUM]),
        ("0.8.2", Some("0.8.2"), None, &[VACUUM]),
        ("0.8.1", None, None, &[CVE, VACUUM]),
        ("0.8.0", Some("0.8.6"), None, &[CVE, VACUUM]),
        ("0.8.6", Some("0.8.0"), None, &[CVE, VACUUM]),
        ("0.8.6", Some("0.8.6"), Some("0.8.1"), &[CVE, VACUUM]),
        ("0.7.4", None, None, &["pgvector too old", CVE, VACUUM]),
        ("0.8.0-fork", None, None, &[CVE, VACUUM]),
    ] {
        let versions = pgvector(catalog, files, loaded);
        assert_eq!(names(&versions), expected, "{versions:?}");
    }
}

#[test]
fn a_version_that_says_nothing_is_no_fault() {
    let unknown = pgvector("unpackaged", None, None);
    assert_eq!(names(&unknown), [""; 0]);
    let missing = Versions {
        catalog: None,
        ..unknown
    };
    assert_eq!(names(&missing), [""; 0]);
}

#[test]
fn the_remedy_is_what_is_missing_and_ends_with_a_version_without_any_fault() {
    let remedy = |versions: Versions| versions.faults().remove(0).remedy;
    assert_eq!(
        remedy(pgvector("0.8.1", Some("0.8.1"), Some("0.8.1"))),
        "Install pgvector 0.8.4 or newer on the server, then connect again (restart the server if it preloads vector), \
         then run ALTER EXTENSION vector UPDATE."
    );
    assert_eq!(
        remedy(pgvector("0.8.1", Some("0.8.6"), None)),
        "Run ALTER EXTENSION vector UPDATE."
    );
    assert_eq!(
        remedy(pgvector("0.8.3", Some("0.8.6"), None)),
        "Run ALTER EXTENSION vector UPDATE, then run REINDEX INDEX for each HNSW index."
    );
    assert_eq!(
        remedy(pgvector("0.8.6", Some("0.8.6"), Some("0.8.1"))),
        "Connect again (restart the server if it preloads vector)."
    );
    let server = Versions {
        server: 170_010,
        ..pgvector("0.8.6", None, None)
    };
    assert_eq!(
        remedy(server),
        "Update PostgreSQL to 17.11 or newer, and restart the server."
    );
    let detail = pgvector("0.8.1", Some("0.8.6"), None).faults().remove(0).detail;
    assert!(
        detail.ends_with("(catalog 0.8.1, files on the server 0.8.6)"),
        "{detail}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn versions_compare_as_their_numbers(
        a in proptest::collection::vec(0u64..40, 1..5),
        b in proptest::collection::vec(0u64..40, 1..5),
        after in "( \\(Debian .*\\)|-[0-9]+\\.pgdg.*|\\+[0-9]{1,3})?",
    ) {
        let text = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
        let filled = |numbers: &[u64]| (0..5).map(|at| numbers.get(at).copied().unwrap_or(0)).collect::<Vec<_>>();
        let read = |numbers: &[u64]| version(&format!("{}{after}", text(numbers)));
        prop_assert_eq!(read(&a).cmp(&version(&text(&b))), filled(&a).cmp(&filled(&b)));
    }

    #[test]
    fn a_server_says_the_same_by_number_and_by_text(major in 10u64..99, minor in 0u64..99) {
        let number = i32::try_from(major * 10_000 + minor).expect("a small number");
        let written = version(&format!("{major}.{minor} (Debian {major}.{minor}-1.pgdg13+1)"));
        prop_assert_eq!(Version::of_server(number), written);
    }

    #[test]
    fn a_newer_version_of_the_same_major_has_no_more_faults(major in 14u64..22, a in 0u64..30, b in 0u64..30) {
        for fault in table() {
            let [older, newer] = [a.min(b), a.max(b)].map(|minor| Version::new(vec![major, minor], true));
            prop_assert!(fault.affects(&older) || !fault.affects(&newer));
            prop_assert!(!fault.affects(fault.good_from(&newer)));
        }
    }

    #[test]
    fn any_text_is_read(catalog in ".{0,30}", files in ".{0,30}", server in any::<i32>()) {
        let versions = Versions { server, ..pgvector(&catalog, Some(&files), None) };
        for finding in versions.faults() {
            prop_assert!(!finding.remedy.is_empty());
        }
    }
}
