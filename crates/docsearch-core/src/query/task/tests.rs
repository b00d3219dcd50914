use proptest::prelude::*;

use super::*;
use crate::query::container::KnownNames;
use crate::query::understanding::Understanding;

const TASKS: [&str; 18] = [
    "rotate the signing keys",
    "stop a running job",
    "move a volume to another host",
    "attach a debugger to a child process",
    "limit the memory of a worker",
    "send a mail when a build fails",
    "rename a column without downtime",
    "read a value from the environment",
    "find out why a request was refused",
    "do a rolling restart",
    "use a proxy for downloads",
    "not lose messages on a restart",
    "sort rows by two columns",
    "schedule a nightly backup",
    "share a cache between branches",
    "set `retry_limit` for one queue",
    "mount /srv/data read-only",
    "get the size of an index",
];

/// `{}` is replaced by a task.
const FRAMES: [&str; 52] = [
    "how to {}",
    "How do I {}?",
    "how can I {}",
    "how should we {} properly?",
    "I want to {}",
    "i'd like to {}",
    "I need to {}.",
    "I'm trying to {}",
    "what is the best way to {}",
    "What's the easiest way to {}?",
    "what would be the recommended approach to {}?",
    "is there a way to {}?",
    "Is there any way I can {}",
    "is it possible to {}?",
    "can I {}?",
    "can you tell me how to {}?",
    "could someone please explain how to {}",
    "does anyone know how to {}?",
    "any idea how to {}?",
    "ok so how do I {}",
    "Hi all, how can I {}? Thanks!",
    "what do I need to do in order to {}?",
    "what steps are needed to {}",
    "how does one {}",
    "I don't know how to {}",
    "please help me {}",
    "how to {} please",
    "wie kann ich {}?",
    "Wie kann man am besten {}",
    "ich möchte {}",
    "was ist der beste Weg, um {}?",
    "Gibt es eine Möglichkeit, {}?",
    "ist es möglich, {}?",
    "Kann mir jemand sagen, wie ich {}?",
    "weiß jemand, wie man {}",
    "{} bitte",
    "comment puis-je {} ?",
    "Comment faire pour {}",
    "comment est-ce que je peux {} ?",
    "je voudrais {}",
    "j'aimerais {}",
    "quelle est la meilleure façon de {} ?",
    "est-il possible de {}",
    "y a-t-il un moyen de {} ?",
    "pouvez-vous m'expliquer comment {}, s'il vous plaît ?",
    "¿cómo puedo {}?",
    "Cómo {}",
    "quiero {}",
    "me gustaría {}",
    "¿cuál es la mejor manera de {}?",
    "¿es posible {}?",
    "¿hay alguna forma de {}? Gracias",
];

#[test]
fn a_frame_in_any_language_leaves_the_task() {
    let rules = Rules::english();
    for task in TASKS {
        for frame in FRAMES {
            for (query, ends) in [
                (frame.replace("{}", task), true),
                (frame.trim_end_matches(['?', '.', ' ']).replace("{}", task), false),
            ] {
                assert_eq!(super::task(&query, &rules), task, "{query} {ends}");
                assert_eq!(
                    super::task(&query.to_uppercase(), &rules).to_lowercase(),
                    task,
                    "{query}"
                );
            }
        }
        for query in [task.to_owned(), format!("{task}?"), format!("{task}.")] {
            assert_eq!(super::task(&query, &rules), task, "{query}");
        }
    }
}

/// Both queries are parsed alike, but for the names that a question may be about.
#[test]
fn a_framed_task_is_understood_as_the_task() {
    let rules = Rules::english();
    let read = |query: &str| {
        let read = Understanding::read(query, &rules, &KnownNames::default());
        Understanding {
            text: String::new(),
            subjects: Vec::new(),
            framed: false,
            ..read
        }
    };
    for task in TASKS {
        for frame in FRAMES {
            assert_eq!(read(&frame.replace("{}", task)), read(task), "{frame} {task}");
        }
    }
}

#[test]
fn other_questions_and_names_stay() {
    let rules = Rules::english();
    for query in [
        "what is Grid",
        "why does the server crash on start",
        "when should I use Grid",
        "which methods does Grid have",
        "where are the logs kept",
        "how does replication work",
        "what is the way",
        "how to",
        "how-to guides",
        "to_json method of arrays",
        "hello world",
        "comment on a column",
        "Int?",
        "Optional Int?",
        "spread operator ...",
        "jsonb operator ?",
        "what is ->>?",
        "is null",
        "show me the keys",
        "",
        "?",
    ] {
        assert_eq!(super::task(query, &rules), query);
    }
    for (query, kept) in [
        ("how do I use ->>", "use ->>"),
        ("set retry_limit?", "set retry_limit"),
        ("how do I escape the jsonb operator ? ?", "escape the jsonb operator"),
        ("why can I not log in", "why can I not log in"),
        ("can you tell me what a pool is?", "what a pool is"),
    ] {
        assert_eq!(super::task(query, &rules), kept);
    }
}

#[test]
fn patterns_are_rows() {
    let row = |rule| crate::query::rule::Row { rule, enabled: true };
    let rules = Rules::english()
        .overlay([
            row(crate::query::rule::Rule::OpeningPattern {
                word: "come  posso|devo?".into(),
            }),
            row(crate::query::rule::Rule::ClosingPattern {
                word: "per favore".into(),
            }),
        ])
        .expect("valid rows");
    assert_eq!(
        super::task("Come posso spegnere la pompa, per favore?", &rules),
        "spegnere la pompa"
    );
}

proptest! {
    #[test]
    fn a_task_is_a_part_of_its_query(query in "((how|do|I|want|to|what|is|the|best|way|grid|please|\\PC{1,5})[ ?,.']{0,2}){0,14}") {
        let rules = Rules::english();
        let task = super::task(&query, &rules);
        prop_assert!(query.contains(task));
        prop_assert!(task.is_empty() == query.is_empty());
        prop_assert_eq!(super::task(task, &rules).is_empty(), task.is_empty());
    }
}
