//! Definitions of pages.

use super::*;
use proptest::prelude::*;

#[test]
fn dots_and_dashes_are_no_obstacle() {
    let found = definitions(
        "",
        "# Reply\n\n### `.code(statusCode)`\n\nText.\n\n### `-i`, `--interactive-mode=<when>`\n\nText.\n",
    );
    for name in ["reply.code", "interactive-mode", "--interactive-mode"] {
        assert!(found.contains_key(&key(name)), "{name}: {found:?}");
    }
    assert!(!found.contains_key(&key("code")) && !found.contains_key(&key("i")));
    let titled = definitions("Reply (fastify)", "## Methods\n\n### .code(statusCode)\n\nText.\n");
    assert!(titled.contains_key(&key("reply.code")) && !titled.contains_key(&key("fastify.code")));
}

#[test]
fn a_section_defines_a_member_of_its_page() {
    let is_defined = |owners: [&str; 2], heading| heading_defines(owners, heading, &key("reply.code"));
    assert!(is_defined(["Reply", "Methods"], ".code(statusCode)"));
    assert!(is_defined(["Reference", "Reply"], ".code(statusCode)"));
    assert!(is_defined(["Reference", "Methods"], "reply.code(statusCode)"));
    assert!(!is_defined(["Request", "Methods"], ".code(statusCode)"));
    assert!(!is_defined(["Reply", "Methods"], "code"));
}

#[test]
fn options_of_one_letter_stand_in_headings() {
    for heading in ["-i, --interactive", "`-i`", "--all | -i<n>", "-i [file]"] {
        assert!(heading_defines([], heading, "-i"), "{heading}");
    }
    for heading in ["-I", "--interactive", "i", "-in"] {
        assert!(!heading_defines([], heading, "-i"), "{heading}");
    }
    assert!(defines("## Options\n\n### -i, --interactive\n\nAsks.\n", "-i"));
    assert!(definitions("", "### -i\n\nAsks.\n").contains_key("i") && !defines("Say -i.\n", "-i"));
}

#[test]
fn tables_of_names_define_them() {
    let page = "| Key | Meaning |\n|---|---|\n| `max_size` | How large. |\n| `--dry-run` | Only reports. |\n";
    let found = definitions("", page);
    assert!(
        found.contains_key(&key("max_size")) && found.contains_key(&key("dry-run")),
        "{found:?}"
    );
    let prose = "| Key | Meaning |\n|---|---|\n| `max_size` | a |\n| plain | b |\n| other | c |\n";
    assert!(!definitions("", prose).contains_key(&key("max_size")));
}

#[test]
fn headings_define_themselves_and_the_names_in_them() {
    let page = "# attrs API\n\n## attrs.define(maybe_cls=None, *, slots=True)\n\nText.\n\n### work_mem (integer)\n\n\
                    ### `PyObject *PyList_New(Py_ssize_t len)`\n\n## Frozen instances\n\n## QuerySet.filter(*args)\n";
    let found = definitions("", page);
    for name in [
        "attrs.define",
        "work_mem",
        "PyList_New",
        "Frozen instances",
        "QuerySet.filter",
    ] {
        assert!(found.contains_key(&key(name)), "{name} in {found:?}");
    }
    assert!(
        !found.contains_key("define") && !found.contains_key("filter"),
        "plain words are no names"
    );
}

#[test]
fn signatures_are_distinguished_from_calls() {
    for (line, next, name) in [
        ("PyObject *PyList_New(Py_ssize_t len)", "", Some("PyList_New")),
        ("int PyList_Check(PyObject *p)", "", Some("PyList_Check")),
        (
            "exception multiprocessing.ProcessError",
            "",
            Some("multiprocessing.ProcessError"),
        ),
        ("PyTypeObject PyList_Type", "", Some("PyList_Type")),
        ("def retry(times)", "", Some("retry")),
        ("avg ( smallint )", "→ numeric", Some("avg")),
        ("to_jsonb ( anyelement ) → jsonb", "", Some("to_jsonb")),
        (
            "json.dumps(obj, *, indent=None)",
            "Serialize obj to a string.",
            Some("json.dumps"),
        ),
        ("json.dumps(obj)", "'{}'", None),
        ("PyList_New()", "PyList_Size()", None),
        ("This routine calls PyImport_Import(name)", "", None),
        ("loaded, use PyImport_ImportModule()", "", None),
        ("select the file(s)", "", None),
        ("pModule = PyImport_Import(pName);", "", None),
        ("This is the type", "", None),
        ("See also (below)", "→ there", None),
    ] {
        assert_eq!(signature(line, next), name, "{line}");
    }
}

#[test]
fn a_heading_names_the_text_before_parameters_or_a_dash() {
    for (heading, name) in [
        ("retry(times)", Some("retry")),
        ("retry — tries again", Some("retry")),
        ("call retry(times)", None),
        ("call re_try(times)", Some("re_try")),
        ("Introduction", None),
        ("work_mem", Some("work_mem")),
        ("(experimental) work_mem", Some("work_mem")),
        ("3.x: what is new", None),
    ] {
        assert_eq!(heading_name(heading), name, "{heading}");
    }
}

#[test]
fn a_signature_ends_after_its_parameters() {
    for (line, name) in [
        ("int add_two(int a)", Some("add_two")),
        ("int add_two(int a);", Some("add_two")),
        ("int add_two(int a) const", Some("add_two")),
        ("int call_it(int (*back)(int), int a)", Some("call_it")),
        ("def retry(times):", Some("retry")),
        ("def retry(times) -> bool", Some("retry")),
        ("def retry(times) is tried", None),
        ("int add_two(int a) { return a; }", None),
        ("int add_two(int a", None),
        ("int add_two (int a)", None),
        ("avg ( smallint )", None),
    ] {
        assert_eq!(signature(line, ""), name, "{line}");
    }
}

#[test]
fn a_signature_declares_a_name() {
    for (line, name) in [
        ("char* get_name(int a)", Some("get_name")),
        ("int _add_two(int a)", Some("_add_two")),
        ("int 3x_y(int a)", None),
        ("int add-two_x(int a)", None),
        ("int add_two.(int a)", None),
        ("PyTypeObject 3.x", None),
        ("select work_mem", None),
        ("some words", None),
        ("work_mem", None),
        ("event", None),
        ("pub static const unsigned long int add_two(int a)", Some("add_two")),
        ("pub extern static const unsigned long int add_two(int a)", None),
    ] {
        assert_eq!(signature(line, ""), name, "{line}");
    }
    let of_length = |bytes: usize| format!("int add_two({})", "a".repeat(bytes - "int add_two()".len()));
    assert_eq!(signature(&of_length(300), ""), Some("add_two"));
    assert_eq!(signature(&of_length(301), ""), None);
}

#[test]
fn without_a_declaration_a_sentence_has_to_follow_parameters() {
    for (line, next, name) in [
        ("json.dumps(obj)", "Serialize obj to a string.", Some("json.dumps")),
        ("json.dumps()", "Serialize nothing at all.", None),
        ("retry(times)", "Tries it so often.", Some("retry")),
        (
            "zip(*items, strict=False)",
            "Pairs what stands at the same place.",
            Some("zip"),
        ),
        ("temp_size (integer)", "Sets how much is kept.", Some("temp_size")),
        ("temp_size (integer)", "", None),
        ("size (integer)", "Sets how much is kept.", None),
        ("file(s)", "These are all the files.", None),
        ("retry(\"x\")", "Tries it so often.", None),
        ("retry(3)", "Tries it so often.", None),
        ("json.dumps(obj)", "serialize obj to a string", None),
        ("json.dumps(obj)", "Serialize it.", None),
    ] {
        assert_eq!(signature(line, next), name, "{line} {next}");
    }
    let page =
        "Text.\n\njson.dumps(obj)\nSerialize obj to a string.\n\nQuerySet.get_or_create(id)\nLooks it up first.\n";
    let found: Vec<String> = definitions("", page).into_keys().collect();
    let names = ["QuerySet.get_or_create", "get_or_create", "json.dumps"].map(key);
    assert!(
        names.iter().all(|name| found.contains(name)) && found.len() == 3,
        "{found:?}"
    );
}

/// One word before a name with its owner and parameters, above a sentence, is a declaration in any language.
#[test]
fn a_word_that_no_list_has_declares_a_name_with_its_owner() {
    for word in ["awaitable", "native", "virtual", "final"] {
        for name in ["asyncio.gather", "Dock::moor", "a.b.c"] {
            let page = format!("{word} {name}(*aws, return_exceptions=False)\nRuns what can be awaited.\n");
            assert!(defines(&page, &key(name)), "{page}");
        }
    }
    for other in [
        "awaitable gather(*aws)\nRuns what can be awaited.\n",
        "awaitable asyncio.gather(*aws)\nand then waits for it.\n",
        "awaitable asyncio.gather(*aws)\n",
        "Call asyncio.gather(*aws)\nRuns what can be awaited.\n",
        "then call asyncio.gather(*aws)\nRuns what can be awaited.\n",
        "with asyncio.gather() around it\nRuns what can be awaited.\n",
        "see asyncio.gather()\nRuns what can be awaited.\n",
    ] {
        assert!(
            !defines(other, &key("asyncio.gather")) && !defines(other, &key("gather")),
            "{other}"
        );
    }
}

#[test]
fn a_line_of_its_own_is_described_in_the_next_paragraph() {
    let page = "Text of it.\n\ntemp_size (integer)\n\nSets how much is kept.\n\nfold(a, b)\n\n- no sentence\n\nSee temp_files (integer)\nand more\n\nSets nothing at all.\n";
    assert!(definitions("", page).into_keys().eq(["tempsize".to_owned()]));
}

#[test]
fn a_name_says_less_the_more_documents_define_it() {
    assert_eq!([1, 2, 3, 4].map(share), [1.0, 0.75, 0.5, 0.0]);
}

#[test]
fn a_definition_says_where_it_is() {
    let page = "intro_size (integer)\n\nSets the size of it.\n\n# Server {#server}\n\n## useReducer(reducer)\n\nText.\n\n\
                temp_size (integer)\n\nSets how much is kept.\n\n# More\n\n| Key | Meaning |\n|---|---|\n| `max_size` | How large. |\n";
    let found = definitions("", page);
    for (written, section, anchor) in [
        ("intro_size", "", ""),
        ("Server", "Server", "server"),
        ("useReducer(reducer)", "useReducer(reducer)", "usereducerreducer"),
        ("useReducer", "useReducer(reducer)", "usereducerreducer"),
        ("temp_size", "useReducer(reducer)", "usereducerreducer"),
        ("max_size", "More", "more"),
    ] {
        let [name, section, anchor] = [written, section, anchor].map(str::to_owned);
        assert_eq!(found.get(&key(written)), Some(&Definition { name, section, anchor }));
    }
}

#[test]
fn a_page_defines_a_bounded_number_of_names() {
    let mut found = Definitions::default();
    (0..=MAX_DEFINITIONS).for_each(|number| found.add(&format!("name{number}")));
    assert_eq!(found.found.len(), MAX_DEFINITIONS);
}

#[test]
fn an_anchor_is_made_of_names() {
    assert_eq!(anchor_names("json.loads"), ["jsonloads", "loads"]);
    assert_eq!(anchor_names("GUC-WORK-MEM"), ["gucworkmem", "workmem", "mem"]);
    assert_eq!(anchor_names("--"), Vec::<String>::new());
    assert_eq!(anchor_names(&"a-".repeat(99)).len(), MAX_ANCHOR_NAMES);
}

#[test]
fn examples_define_nothing() {
    assert!(
        definitions(
            "",
            "Text.\n\n```c\nint add_two(int a)\n```\n\n    int add_three(int a)\n"
        )
        .is_empty()
    );
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(\\PC|[()*`# \n→])*") {
        prop_assert!(definitions("", &text).keys().all(|key| !key.is_empty()));
    }
}
