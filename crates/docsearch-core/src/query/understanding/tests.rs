use std::sync::LazyLock;

use super::*;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::english);

fn read(query: &str) -> Understanding {
    let known = ["swiftui", "UIKit", "Controls", "python docs"].into_iter().collect();
    Understanding::read(query, &RULES, &known)
}

fn words(query: &str, role: Role) -> Vec<String> {
    let terms = read(query).terms;
    let of_role = terms.into_iter().filter(|term| term.role == role);
    of_role.map(|term| term.word.text).collect()
}

#[test]
fn s0_1_x_in_y_and_s0_28_its_spellings() {
    for query in [
        "Button in SwiftUI",
        "Button in swift ui",
        "Button swiftui",
        "swift ui Button",
    ] {
        let understood = read(query);
        assert_eq!(understood.class, Class::InPattern, "{query}");
        assert_eq!(understood.symbol.as_deref(), Some("Button"), "{query}");
        assert_eq!(understood.framework.as_deref(), Some("swiftui"), "{query}");
    }
    assert_eq!(read("uibutton uikit").container.as_deref(), Some("UIKit"));
    assert_eq!(read("swiftui").container, None);
    assert_eq!(read("useState in reactjs").framework.as_deref(), Some("React"));
    assert_eq!(read("docker reactjs").framework, None, "no document has it");
    let elsewhere = read("a hair stylist in Berkeley");
    assert_eq!((elsewhere.class, elsewhere.framework), (Class::Words, None));
}

#[test]
fn s0_4_parent_and_child_with_a_dot_or_a_space() {
    for query in [
        "AsyncImagePhase.failure in SwiftUI",
        "AsyncImagePhase failure in SwiftUI",
    ] {
        let understood = read(query);
        let path = (understood.parent.as_deref(), understood.child.as_deref());
        assert_eq!(path, (Some("AsyncImagePhase"), Some("failure")), "{query}");
        assert!(
            understood
                .candidate_names()
                .iter()
                .any(|name| name.key == "asyncimagephasefailure"),
            "{query}"
        );
    }
}

#[test]
fn classes_of_queries() {
    for (query, class) in [
        ("UITableView", Class::Identifier),
        ("os.replace()", Class::Identifier),
        ("@>", Class::Identifier),
        ("?", Class::Identifier),
        ("NVL", Class::Identifier),
        ("lc_messages configuration parameter", Class::Identifier),
        ("failure in AsyncImagePhase", Class::InPattern),
        ("why do two ray datasets not join?", Class::Question),
        ("where is an alert shown in SwiftUI", Class::Question),
        ("how do I join two ray datasets?", Class::Words),
        ("how to show an alert in SwiftUI", Class::InPattern),
        ("Compile with optimizations for the current CPU", Class::Words),
        ("View protocol", Class::Words),
        ("frame modifier", Class::Words),
        ("frame", Class::Generic),
        ("init", Class::Generic),
        ("the frame size", Class::Generic),
        ("list", Class::Generic),
    ] {
        assert_eq!(read(query).class, class, "{query}");
    }
}

#[test]
fn s0_30_the_kind_of_thing_is_not_its_name() {
    for (query, symbol, kind) in [
        ("View protocol", "View", "protocol"),
        ("NOT (operator)", "NOT", "operator"),
        ("module curses.textpad", "curses.textpad", "module"),
        ("tsvector (data type)", "tsvector", "data type"),
    ] {
        let understood = read(query);
        assert_eq!(understood.symbol.as_deref(), Some(symbol));
        assert_eq!(understood.kind.as_deref(), Some(kind));
        assert_eq!(understood.candidate_names()[1].role, NameRole::WithoutKind);
    }
}

#[test]
fn s2_6_verbs_are_actions_where_they_open_a_clause() {
    assert_eq!(words("save a text file", Role::Action), ["save"]);
    assert_eq!(words("how do I delete all large files", Role::Action), ["delete"]);
    assert_eq!(words("list all session hosts in host pool", Role::Action), ["list"]);
    assert_eq!(words("List in Layout", Role::Action), [""; 0]);
    assert_eq!(words("I want to rename a folder", Role::Action), ["rename"]);
    assert_eq!(words("the list of open files", Role::Action), Vec::<String>::new());
    assert_eq!(words("View protocol", Role::Action), Vec::<String>::new());
    assert_eq!(words("save", Role::Action), Vec::<String>::new());
    assert_eq!(words("Get the key <key_name> from vault", Role::Object), ["vault"]);
}

#[test]
fn abbreviations_are_written_out() {
    let names = read("btn").candidate_names();
    assert!(
        names
            .iter()
            .any(|name| name.key == "button" && name.role == NameRole::Expanded)
    );
    assert!(
        read("nav bar")
            .candidate_names()
            .iter()
            .any(|name| name.key == "navigationbar")
    );
}

#[test]
fn marks_of_a_query_are_read() {
    let understood = read("latest alert \"for teams\" on iPhone -legacy");
    assert_eq!(understood.topic, "latest alert for teams on iPhone");
    assert_eq!(understood.phrases, ["for teams"]);
    assert_eq!(understood.excluded, ["legacy"]);
    assert_eq!(read("alert \"for teams\"").topic, "alert for teams");
    assert_eq!(read("show alert window -legacy").topic, "show alert window");
    assert_eq!(understood.platforms, ["ios"]);
    assert!(understood.recent && read("what's new today").recent && !read("news of the day").recent);
}

#[test]
fn classes_have_the_names_of_their_settings() {
    for &class in Class::ALL {
        let setting = format!("hybrid_weight_{}", class.as_str());
        assert!(
            crate::ranking::weight::WEIGHTS.iter().any(|row| row.name == setting),
            "{setting}"
        );
    }
}

#[test]
fn short_words_are_excluded_if_the_rules_or_the_documents_know_them() {
    let known = ["Qt"].into_iter().collect();
    let excluded = |query: &str| Understanding::read(query, &RULES, &known).excluded;
    assert!(RULES.verb("get").is_some() && RULES.tables().synonyms.contains_key("btn"));
    for word in ["get", "ios", "btn", "qt"] {
        assert_eq!(excluded(&format!("show alert -{word}")), [word]);
    }
    assert_eq!(excluded("show alert -xzf"), Vec::<String>::new());
}

#[test]
fn a_question_has_three_words() {
    for (query, class) in [
        ("what is vacuum", Class::Question),
        ("what vacuum", Class::Words),
        ("vacuum works how?", Class::Question),
        ("vacuum works", Class::Words),
    ] {
        assert_eq!(read(query).class, class, "{query}");
    }
}

#[test]
fn a_kind_is_taken_off_names_of_up_to_three_words() {
    let symbol = |query: &str| read(query).symbol;
    assert_eq!(symbol("one two three operator").as_deref(), Some("one two three"));
    assert_eq!(symbol("one two three four operator"), None);
    assert_eq!(
        symbol("one two three command line option"),
        None,
        "too long for a name and its kind"
    );
    assert_eq!(
        symbol("data type").as_deref(),
        Some("data"),
        "something is left to be named"
    );
}

#[test]
fn two_words_are_parent_and_child_only_in_a_place() {
    let path = |query: &str| read(query).parent.zip(read(query).child);
    let of = |parent: &str, child: &str| Some((parent.to_owned(), child.to_owned()));
    assert_eq!(path("AsyncImagePhase failure"), None);
    assert_eq!(path("image phase failure in SwiftUI"), of("image phase", "failure"));
    assert_eq!(path("one two three child in SwiftUI"), of("one two three", "child"));
    assert_eq!(path("one two three four child in SwiftUI"), None);
}

#[test]
fn capitals_are_a_name_if_there_are_two() {
    assert_eq!(read("R").class, Class::Words);
    assert_eq!(read("IO").class, Class::Identifier);
    assert_eq!(read("Io").class, Class::Words);
}

#[test]
fn a_place_is_no_platform() {
    let known = ["Linux"].into_iter().collect();
    let platforms = |query: &str| Understanding::read(query, &RULES, &known).platforms;
    assert_eq!(platforms("sound in Linux"), Vec::<String>::new());
    assert_eq!(platforms("sound for iphone in Linux"), ["ios"]);
    assert_eq!(platforms("sound on the linux desktop with speakers"), ["linux"]);
}

#[test]
fn a_query_has_an_action_if_a_verb_opens_it() {
    assert!(read("save a text file").has_action());
    assert!(!read("a text file").has_action());
    assert!(!read("").has_action());
}

#[test]
fn a_known_place_may_begin_with_a_small_word() {
    let placed = |known: &[&'static str]| {
        let understood = Understanding::read("button in the docs", &RULES, &known.iter().copied().collect());
        (understood.subject, understood.container, understood.implicit)
    };
    assert_eq!(
        placed(&["The Docs"]),
        (Some("button".to_owned()), Some("The Docs".to_owned()), false)
    );
    assert_eq!(placed(&[]), (None, None, false));
}

#[test]
fn a_place_alone_is_what_is_asked_for() {
    assert_eq!(read("python docs").container, None);
    assert_eq!(read("lists python docs").container.as_deref(), Some("python docs"));
    assert_eq!(read("python docs lists").container.as_deref(), Some("python docs"));
}

#[test]
fn an_understanding_is_plain_data() {
    let understood = read("AsyncImagePhase.failure in SwiftUI");
    let json = serde_json::to_string(&understood).expect("json");
    assert_eq!(
        serde_json::from_str::<Understanding>(&json).expect("read again"),
        understood
    );
    assert_eq!(read(" ").terms, []);
}

#[test]
fn s0_21_few_words_are_embedded_with_what_they_are_short_for() {
    let embedded = |query: &str| read(query).embedded().into_owned();
    assert_eq!(embedded("FFI"), "FFI foreign function");
    assert_eq!(embedded("grant RBAC"), "grant RBAC role based access control");
    assert_eq!(embedded("report a bug"), "report a bug");
    assert_eq!(
        embedded("how do I grant RBAC?"),
        "grant RBAC role based access control",
        "the same as without the words around it"
    );
    assert_eq!(embedded("what does RBAC grant"), "what does RBAC grant");
}

#[test]
fn s2_14_what_is_done_to_how_many_of_which_objects() {
    let read = read("delete all large files");
    let roles: Vec<(&str, Role)> = read
        .terms
        .iter()
        .map(|term| (term.word.text.as_str(), term.role))
        .collect();
    assert_eq!(
        roles,
        [
            ("delete", Role::Action),
            ("large", Role::Modifier),
            ("files", Role::Object)
        ]
    );
    assert_eq!(
        read.scope
            .iter()
            .map(|term| term.word.text.as_str())
            .collect::<Vec<_>>(),
        ["all"]
    );
    assert_eq!(
        words("show old", Role::Modifier),
        Vec::<String>::new(),
        "it is a placeholder"
    );
    assert_eq!(words("archive every stale branch", Role::Modifier), ["stale"]);
}

#[test]
fn a_sign_is_asked_about_without_the_mark_of_the_question() {
    for (query, topic) in [
        ("what is ->>?", "what is ->>"),
        ("what is ???", "what is ??"),
        ("what is ??", "what is ??"),
        ("what is it?", "what is it?"),
        ("->?", "->?"),
    ] {
        assert_eq!(read(query).topic, topic, "{query}");
    }
}
