//! What a page defines: names in its headings, and in lines that read like signatures.
//!
//! Reference manuals describe many functions on one page. A query for one of them asks for the page that
//! defines it, not for those that call it.

use std::collections::BTreeSet;

use crate::identifier::is_identifier;
use crate::markdown::{BlockKind, blocks, sections};
use crate::name::key;
use crate::token::qualified_segments;

/// A name that more documents of a project define says nothing of one (docs/decisions/0008-ranking.md). How the weight
/// falls up to there, see [`share`], is chosen.
pub const MAX_BEARERS: usize = 3;
/// Most names that one page may define: more are a list, or an attack.
const MAX_DEFINITIONS: usize = 5_000;
/// Longest signature that is read, in bytes. Like the next, chosen: prose is longer.
const MAX_SIGNATURE_BYTES: usize = 300;
/// Most words before the name of a signature.
const MAX_DECLARED: usize = 6;
/// Fewest words of a sentence. Chosen.
const MIN_SENTENCE_WORDS: usize = 3;

/// Most names that an anchor is read as.
const MAX_ANCHOR_NAMES: usize = 4;

/// Words that stand before a name where it is defined.
const DECLARING: [&str; 46] = [
    "abstract",
    "async",
    "attribute",
    "bool",
    "char",
    "class",
    "classmethod",
    "const",
    "constant",
    "coroutine",
    "data",
    "def",
    "double",
    "enum",
    "event",
    "exception",
    "export",
    "extern",
    "float",
    "fn",
    "func",
    "function",
    "inline",
    "int",
    "interface",
    "let",
    "long",
    "macro",
    "method",
    "module",
    "object",
    "private",
    "property",
    "protected",
    "protocol",
    "pub",
    "public",
    "short",
    "signed",
    "static",
    "staticmethod",
    "struct",
    "trait",
    "type",
    "unsigned",
    "void",
];

/// The keys (see [`key`]) of the names that the text of a page defines, each once, at most 5,000.
///
/// A heading defines itself and the name in it: `attrs.define(maybe_cls=None)` defines `attrs.define`. A line of
/// text defines a name if it reads like its signature; code blocks are examples and define nothing.
pub fn definitions(markdown: &str) -> BTreeSet<String> {
    let mut found = Definitions::default();
    for section in sections(markdown) {
        if let Some(heading) = section.heading_path.last() {
            found.heading(heading);
        }
    }
    let blocks = blocks(markdown);
    for (at, block) in blocks
        .iter()
        .enumerate()
        .filter(|(_, block)| block.kind == BlockKind::Prose)
    {
        let lines: Vec<&str> = markdown[block.range.clone()].lines().map(str::trim).collect();
        // What stands alone may be described in the next paragraph.
        let after = blocks
            .get(at + 1)
            .filter(|after| lines.len() == 1 && after.kind == BlockKind::Prose);
        let after = after.and_then(|after| markdown[after.range.clone()].lines().next());
        for (at, line) in lines.iter().enumerate() {
            found.name(signature(
                line,
                lines.get(at + 1).copied().or(after).unwrap_or_default().trim(),
            ));
        }
    }
    found.keys
}

/// Whether a section with this heading defines the name with this key.
pub fn heading_defines(heading: &str, key: &str) -> bool {
    let mut found = Definitions::default();
    found.heading(heading);
    found.keys.contains(key)
}

/// Whether a text defines the name with this key.
pub fn defines(markdown: &str, key: &str) -> bool {
    definitions(markdown).contains(key)
}

/// The keys of the names that an anchor may be made of, likeliest first: all of it, and what is left without its first parts.
pub fn anchor_names(anchor: &str) -> Vec<String> {
    let starts = anchor
        .match_indices(['-', '.', ':', '/'])
        .map(|(at, mark)| at + mark.len());
    let names = std::iter::once(0).chain(starts).take(MAX_ANCHOR_NAMES);
    let keys = names.map(|start| key(&anchor[start..]));
    keys.filter(|key| key.contains(char::is_alphanumeric)).collect()
}

/// Share of the strength of a definition when so many documents of a project define the name.
pub fn share(bearers: usize) -> f32 {
    match bearers {
        1 => 1.0,
        2 => 0.75,
        3 => 0.5,
        _ => 0.0,
    }
}

#[derive(Default)]
struct Definitions {
    keys: BTreeSet<String>,
}

impl Definitions {
    fn add(&mut self, text: &str) {
        if self.keys.len() < MAX_DEFINITIONS {
            let key = key(text);
            if !key.is_empty() {
                self.keys.insert(key);
            }
        }
    }

    fn heading(&mut self, heading: &str) {
        self.add(heading);
        self.name(heading_name(heading));
    }

    /// A name, and the last part of a qualified one if nobody would take it for a word of a language.
    fn name(&mut self, name: Option<&str>) {
        let Some(name) = name else { return };
        self.add(name);
        if let Some(member) = qualified_segments(name).last().map(|range| &name[range.clone()])
            && is_identifier(member)
        {
            self.add(member);
        }
    }
}

/// The name in a heading: before parameters or the dash of a description, the last word.
fn heading_name(heading: &str) -> Option<&str> {
    let end = ["(", " — ", " – ", " - ", ": "]
        .iter()
        .filter_map(|mark| heading.find(mark))
        .filter(|&at| at > 0)
        .min();
    let head = heading[..end.unwrap_or(heading.len())].trim_end();
    let name = bare(head.split_whitespace().next_back()?);
    let alone = name.len() == head.len() && end.is_some();
    (is_name(name) && (alone || is_identifier(name))).then_some(name)
}

/// The name that a line defines, if it reads like a signature: `PyObject *PyList_New(Py_ssize_t len)`,
/// `exception subprocess.CalledProcessError`, `to_jsonb ( anyelement ) → jsonb`. `next` is the line after it.
fn signature<'a>(line: &'a str, next: &str) -> Option<&'a str> {
    let line = line.trim_matches('`');
    if line.len() > MAX_SIGNATURE_BYTES {
        return None;
    }
    let Some((head, parameters, rest)) = parenthesised(line) else {
        let (declared, name) = last_word(line)?;
        let typed = declared.len() == 1 && is_identifier(declared[0]) && is_identifier(name);
        return (is_name(name) && (typed || is_keyword_declaration(&declared))).then_some(name);
    };
    let (declared, name) = last_word(head)?;
    let returns = |text: &str| ["→", "->"].iter().any(|arrow| text.starts_with(arrow));
    let arrow = returns(rest) || rest.is_empty() && returns(next);
    let spaced = head.ends_with(' ');
    let ended = rest.is_empty() || rest == ";" || rest == ":" || rest == "const" || arrow;
    // `work_mem (integer)` and the sentence that says what it is.
    let typed = declared.is_empty() && is_identifier(name) && rest.is_empty() && is_sentence(next);
    if !is_name(name) || !ended || spaced && !arrow && !typed {
        return None;
    }
    let defines = match declared.as_slice() {
        [] => arrow || are_parameters(parameters) && is_sentence(next),
        declared => is_declaration(declared) && (is_identifier(name) || is_keyword_declaration(declared)),
    };
    defines.then_some(name)
}

/// What stands before the first parenthesis, in it, and after the one that closes it.
fn parenthesised(line: &str) -> Option<(&str, &str, &str)> {
    let open = line.find('(')?;
    let mut depth = 0usize;
    for (at, c) in line[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let close = open + at;
            return Some((&line[..open], &line[open + 1..close], line[close + 1..].trim()));
        }
    }
    None
}

/// The words before the last one, and the last one without what marks a pointer.
fn last_word(head: &str) -> Option<(Vec<&str>, &str)> {
    let mut words: Vec<&str> = head.split_whitespace().collect();
    let name = words.pop()?;
    (words.len() <= MAX_DECLARED).then_some((words, bare(name)))
}

fn bare(word: &str) -> &str {
    word.trim_start_matches(['*', '&', '`']).trim_end_matches('`')
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || "_.:$".contains(c))
        && !text.ends_with(['.', ':'])
}

/// Whether every word can stand in a declaration: a keyword or a type.
fn is_declaration(words: &[&str]) -> bool {
    let is_type = |word: &str| word.ends_with('*') || is_name(word) && is_identifier(word);
    words.iter().all(|word| DECLARING.contains(word) || is_type(word))
}

fn is_keyword_declaration(words: &[&str]) -> bool {
    !words.is_empty() && words.iter().all(|word| DECLARING.contains(word))
}

/// Whether what stands in parentheses is what a function takes: names, and no plural of the word before it.
fn are_parameters(text: &str) -> bool {
    let is_parameter = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_,*/=[]|:.'<>".contains(c);
    !matches!(text.trim(), "" | "s" | "es")
        && text.chars().all(is_parameter)
        && text.starts_with(|c| !char::is_numeric(c))
}

/// Whether a line begins like a sentence that describes what stands above it.
fn is_sentence(line: &str) -> bool {
    line.starts_with(char::is_uppercase) && line.split_whitespace().count() >= MIN_SENTENCE_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headings_define_themselves_and_the_names_in_them() {
        let page = "# attrs API\n\n## attrs.define(maybe_cls=None, *, slots=True)\n\nText.\n\n### work_mem (integer)\n\n\
                    ### `PyObject *PyList_New(Py_ssize_t len)`\n\n## Frozen instances\n\n## QuerySet.filter(*args)\n";
        let found = definitions(page);
        for name in [
            "attrs.define",
            "work_mem",
            "PyList_New",
            "Frozen instances",
            "QuerySet.filter",
        ] {
            assert!(found.contains(&key(name)), "{name} in {found:?}");
        }
        assert!(
            !found.contains("define") && !found.contains("filter"),
            "plain words are no names"
        );
    }

    #[test]
    fn signatures_are_told_from_calls() {
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
    fn a_heading_names_what_stands_before_parameters_or_a_dash() {
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
        let found: Vec<String> = definitions(page).into_iter().collect();
        let names = ["QuerySet.get_or_create", "get_or_create", "json.dumps"].map(key);
        assert!(
            names.iter().all(|name| found.contains(name)) && found.len() == 3,
            "{found:?}"
        );
    }

    #[test]
    fn what_stands_alone_is_described_in_the_next_paragraph() {
        let page = "Text of it.\n\ntemp_size (integer)\n\nSets how much is kept.\n\nfold(a, b)\n\n- no sentence\n\nSee temp_files (integer)\nand more\n\nSets nothing at all.\n";
        assert_eq!(definitions(page), BTreeSet::from(["tempsize".to_owned()]));
    }

    #[test]
    fn a_name_says_less_the_more_documents_define_it() {
        assert_eq!([1, 2, 3, 4].map(share), [1.0, 0.75, 0.5, 0.0]);
    }

    #[test]
    fn a_page_defines_so_many_names_and_no_more() {
        let mut found = Definitions::default();
        (0..=MAX_DEFINITIONS).for_each(|number| found.add(&format!("name{number}")));
        assert_eq!(found.keys.len(), MAX_DEFINITIONS);
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
        assert!(definitions("Text.\n\n```c\nint add_two(int a)\n```\n\n    int add_three(int a)\n").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(\\PC|[()*`# \n→])*") {
            prop_assert!(definitions(&text).iter().all(|key| !key.is_empty()));
        }
    }
}
