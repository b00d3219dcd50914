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
                .names()
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
        ("how do I join two ray datasets?", Class::Question),
        ("how to show an alert in SwiftUI", Class::Question),
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
        assert_eq!(understood.names()[1].role, NameRole::Kindless);
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
    let names = read("btn").names();
    assert!(
        names
            .iter()
            .any(|name| name.key == "button" && name.role == NameRole::Expanded)
    );
    assert!(read("nav bar").names().iter().any(|name| name.key == "navigationbar"));
}

#[test]
fn marks_of_a_query_are_read() {
    let understood = read("latest alert \"for teams\" on iPhone -legacy");
    assert_eq!(understood.topic, "latest alert for teams on iPhone");
    assert_eq!(understood.phrases, ["for teams"]);
    assert_eq!(understood.excluded, ["legacy"]);
    assert_eq!(understood.platforms, ["ios"]);
    assert!(understood.recent && read("what's new today").recent && !read("news of the day").recent);
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
    assert_eq!(embedded("how do I grant RBAC roles?"), "how do I grant RBAC roles?");
}
