use super::*;
use crate::query::container::KnownNames;
use proptest::prelude::*;

/// 15 December 2025.
const NOW: Day = Day(20_437);

fn understood(query: &str) -> (Understanding, Rules) {
    let rules = Rules::english();
    (Understanding::read(query, &rules, &KnownNames::default()), rules)
}

fn needed(query: &str) -> Need {
    let (asked, rules) = understood(query);
    need(&asked, &rules)
}

fn transformed(query: &str, related: &[&str]) -> Transformation {
    let (asked, rules) = understood(query);
    let related: Vec<String> = related.iter().map(|&word| word.to_owned()).collect();
    transform(&asked, &rules, &related, &Usage::default(), NOW)
}

#[test]
fn s1_3_abbreviations_are_written_out() {
    let found = transformed("k8s rbac", &[]);
    assert!(found.transformed.to_lowercase().contains("kubernetes"), "{found:?}");
    assert!(
        found
            .added_terms
            .iter()
            .all(|added| added.source == TermSource::Synonym)
    );
}

#[test]
fn s1_4_vague_queries_get_words_of_the_documents() {
    assert_eq!(needed("memory tips"), Need::Context);
    let found = transformed("memory tips", &["buffer", "cache", "memory", "page", "heap"]);
    let added: Vec<&str> = found.added_terms.iter().map(|added| added.term.as_str()).collect();
    assert_eq!(added, ["buffer", "cache", "page"]);
    assert_eq!(found.transformed, "memory tips buffer cache page");
}

#[test]
fn s1_6_a_well_formed_question_is_left_alone() {
    let query = "How do I create a partial index?";
    assert_eq!(needed(query), Need::Synonyms);
    assert!(!transformed(query, &[]).changed);
}

#[test]
fn questions_get_abbreviations_written_out_and_nothing_else() {
    assert!(transformed("How do I grant RBAC roles to a user?", &[]).changed);
    assert!(!transformed("How do I open a folder with mail in it?", &[]).changed);
}

#[test]
fn s1_3_acronyms_of_questions_are_written_out_in_small_letters() {
    for (query, long) in [
        ("how do I set up mfa?", "multi factor authentication"),
        ("how does sso work", "single sign on"),
        ("how to rotate jwt keys?", "json web token"),
        ("what is rbac?", "role based access control"),
        ("how do i configure dns", "domain name system"),
        ("can I use ldap for this?", "lightweight directory access protocol"),
    ] {
        let found = transformed(query, &["alarms", "readings"]);
        assert!(found.transformed.contains(long), "{found:?}");
        assert_eq!(needed(query), Need::Synonyms, "{query}");
    }
}

#[test]
fn s1_3_what_documents_use_as_a_word_is_written_out_only_if_they_do_so() {
    let with = |query: &str, usage: &Usage| {
        let (asked, rules) = understood(query);
        transform(&asked, &rules, &[], usage, NOW).changed
    };
    let set = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<BTreeSet<String>>();
    for query in [
        "ids of sensors",
        "which ids do sensors have?",
        "how do I get the gist of it",
    ] {
        assert!(!with(query, &Usage::default()), "{query}");
    }
    let used = |word| Usage {
        used: set(&[word]),
        ..Usage::default()
    };
    assert!(!with("how many raids are there", &used("raids")) && !with("spa opening hours", &used("spa")));
    let both = Usage {
        used: set(&["ids"]),
        written_out: set(&["ids"]),
    };
    assert!(with("ids of sensors", &both) && with("IDS of sensors", &Usage::default()));
}

#[test]
fn s1_4_added_words_are_no_debris_of_markup() {
    let (asked, rules) = understood("memory tips");
    let debris = [
        "@click.command",
        "package deprecated",
        "associated",
        "func",
        ":ref:",
        "{doc}entry",
        "using",
        "the cache",
        "class_",
        "42",
    ];
    let kept = ["eviction", "page cache", "speed", "copy-on-write"];
    let documents: Vec<Vec<String>> = (0..2)
        .map(|_| debris.iter().chain(&kept).map(|&word| word.to_owned()).collect())
        .collect();
    let mut found: Vec<String> = related(&asked, &rules, documents.iter().map(Vec::as_slice))
        .into_iter()
        .map(|(word, _)| word)
        .collect();
    found.retain(|word| word != "class_");
    assert_eq!(found, ["copy-on-write", "eviction", "page cache", "speed"]);
}

#[test]
fn s1_36_the_period_that_is_asked_for_is_added() {
    for (query, expected) in [
        ("posts from last month", "November 2025"),
        ("articles from last year", "2024"),
        ("changes this week", "December 2025"),
        ("pump alarms in March", "March 2025"),
    ] {
        let found = transformed(query, &[]);
        assert!(found.transformed.ends_with(expected), "{found:?}");
        assert!(!found.transformed.contains("2025-"));
    }
}

#[test]
fn s1_7_new_means_this_month_and_never_a_day() {
    let found = transformed("latest articles", &[]);
    assert!(found.transformed.contains("December 2025") && found.recency);
    assert!(!found.transformed.contains("2025-12"));
}

#[test]
fn s1_8_a_query_of_nothing_but_time_gets_topics() {
    assert_eq!(needed("What's new today?"), Need::Topics);
    let found = transformed("What's new today?", &["vacuum", "replication"]);
    assert_eq!(found.transformed, "What's new today? vacuum replication December 2025");
}

#[test]
fn names_say_what_they_mean() {
    for query in ["UITableView", "Button in SwiftUI", "os.replace()"] {
        assert_eq!(needed(query), Need::Nothing, "{query}");
    }
}

#[test]
fn an_abbreviation_alone_is_written_out_though_it_looks_like_a_name() {
    assert_eq!(needed("FFI"), Need::Synonyms);
    assert_eq!(transformed("FFI", &[]).transformed, "FFI foreign function");
    assert_eq!(needed("os.replace"), Need::Nothing);
}

#[test]
fn s1_12_what_a_model_says_in_less_than_three_characters_is_nothing() {
    for nothing in [" \"ok\" ", "", "- \"Memory\"\n- x"] {
        assert_eq!(Transformation::by_model("memory", &[], &[], nothing, false), None);
    }
    let found = Transformation::by_model("memory", &[], &[], "\"memory management\"", false);
    assert_eq!(
        found.map(|found| found.transformed).as_deref(),
        Some("memory management")
    );
}

#[test]
fn s1_45_wordings_of_a_model_come_behind_its_earlier_ones() {
    let earlier = ["shared buffers".to_owned()];
    let by_model = |answer| Transformation::by_model("memory", &["page cache"], &earlier, answer, true);
    assert_eq!(by_model("Page cache\nShared buffers\nmemory"), None);
    let found = by_model("1. eviction\n2. page cache\n3. huge pages").expect("something new");
    assert_eq!(found.wordings, ["shared buffers", "eviction", "huge pages"]);
    assert_eq!(found.transformed, "shared buffers; eviction; huge pages");
    assert_eq!(found.length_ratio, 6.0);
    let terms: Vec<&str> = found.added_terms.iter().map(|added| added.term.as_str()).collect();
    assert_eq!(terms, found.wordings);
    assert!(found.changed && found.recency && found.is_by_model());
}

#[test]
fn related_words_are_those_that_documents_share() {
    let (asked, rules) = understood("memory tips");
    let documents = [
        ["buffers", "memory"],
        ["buffers", "cache"],
        ["cache", "buffers"],
        ["alone", "memories"],
    ]
    .map(|words| words.map(str::to_owned));
    let found = related(&asked, &rules, documents.iter().map(|words| words.as_slice()));
    assert_eq!(found, [("buffers".to_owned(), 3), ("cache".to_owned(), 2)]);
    assert_eq!(telling(found, &[0.5, 4.0]), ["cache", "buffers"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn s1_5_the_words_of_the_query_stay(query in "(k8s|memory|RBAC|latest|how do|[a-z]{1,8}| ){1,8}", related in proptest::collection::vec("[a-z]{1,9}", 0..6)) {
        let (asked, rules) = understood(&query);
        let found = transform(&asked, &rules, &related, &Usage::default(), NOW);
        prop_assert!(found.transformed.starts_with(&asked.text));
        prop_assert_eq!(found.changed, found.transformed != found.query);
        prop_assert!(found.added_terms.len() <= MAX_ADDED && found.wordings.is_empty());
    }

    #[test]
    fn s1_a_transformation_never_takes_from_a_score(own in 0.0f32..=1.0, other in 0.0f32..=1.0, share in 0.0f32..=1.0) {
        let score = fused(own, other, share, 0.93);
        prop_assert!(score >= own && score <= 1.0);
        prop_assert!(own > 0.93 || score <= 0.93);
    }
}
