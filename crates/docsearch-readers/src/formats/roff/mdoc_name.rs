//! Names of the macros of `mdoc`, and delimiters.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::text::Font;

/// Macros that set a font for the words after them, and macros without a visible effect.
pub(super) const BOLD: [&str; 7] = ["Nm", "Cm", "Ic", "Fn", "Fo", "Sy", "Cd"];
pub(super) const CODE: [&str; 9] = ["Li", "Ql", "Ev", "Er", "Dv", "Va", "Pa", "In", "Fd"];
pub(super) const ITALIC: [&str; 6] = ["Ar", "Em", "Fa", "Vt", "Ft", "Ad"];
pub(super) const ROMAN: [&str; 7] = ["No", "An", "Tn", "Ms", "Sx", "Xr", "Ot"];
/// Macros that write the name of a system before its version.
const SYSTEMS: [(&str, &str); 7] = [
    ("Bsx", "BSD/OS"),
    ("Bx", "BSD"),
    ("Dx", "DragonFly"),
    ("Fx", "FreeBSD"),
    ("Nx", "NetBSD"),
    ("Ox", "OpenBSD"),
    ("Ux", "UNIX"),
];
/// Macros that write a phrase.
const PHRASES: [(&str, &str); 2] = [
    ("Bt", "is currently in beta test."),
    ("Ud", "currently under development."),
];
/// Macros that enclose the rest of the line, with their delimiters.
pub(super) const ENCLOSURES: [(&str, &str, &str); 9] = [
    ("Op", "[", "]"),
    ("Bq", "[", "]"),
    ("Pq", "(", ")"),
    ("Aq", "<", ">"),
    ("Brq", "{", "}"),
    ("Dq", "\"", "\""),
    ("Qq", "\"", "\""),
    ("Sq", "'", "'"),
    ("Eq", "", ""),
];
pub(super) const OPENINGS: [(&str, &str); 8] = [
    ("Oo", "["),
    ("Bo", "["),
    ("Po", "("),
    ("Ao", "<"),
    ("Bro", "{"),
    ("Do", "\""),
    ("Qo", "\""),
    ("So", "'"),
];
pub(super) const CLOSINGS: [(&str, &str); 8] = [
    ("Oc", "]"),
    ("Bc", "]"),
    ("Pc", ")"),
    ("Ac", ">"),
    ("Brc", "}"),
    ("Dc", "\""),
    ("Qc", "\""),
    ("Sc", "'"),
];
pub(super) const OTHERS: [&str; 39] = [
    "Dd", "Dt", "Os", "Sh", "Ss", "Nd", "Fl", "Ns", "Pf", "Ap", "Lk", "Mt", "Dl", "D1", "Bd", "Ed", "Bl", "It", "El",
    "Pp", "Lp", "Bk", "Ek", "Rs", "Re", "Xo", "Xc", "Fc", "Rv", "Ex", "Sm", "Bf", "Ef", "Hf", "Es", "En", "Eo", "Ec",
    "Ta",
];

/// The full names of standards, versions of AT&T's UNIX and libraries.
static FULL_NAMES: LazyLock<HashMap<(&str, &str), &str>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let mut cells = line.split('\t');
        Some(((cells.next()?, cells.next()?), cells.next()?))
    };
    include_str!("../../../data/mdoc_names.tsv")
        .lines()
        .filter_map(row)
        .collect()
});

/// The text of `.St -susv3`, `.At v7` and `.Lb libc`.
pub(super) fn full_name(name: &str, argument: &str) -> String {
    match FULL_NAMES.get(&(name, argument)) {
        Some(full) => (*full).to_owned(),
        None if name == "Lb" => format!("library “{argument}”"),
        None if name == "At" => format!("AT&T UNIX {argument}").trim_end().to_owned(),
        None => argument.to_owned(),
    }
}

/// Whether a name is that of a macro whose argument has a full name.
pub(super) fn has_full_names(name: &str) -> bool {
    matches!(name, "St" | "At" | "Lb")
}

fn of<'a>(rows: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    rows.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub(super) fn system(name: &str) -> Option<&'static str> {
    of(&SYSTEMS, name)
}

pub(super) fn phrase(name: &str) -> Option<&'static str> {
    of(&PHRASES, name)
}

/// Whether a name is that of a macro of `mdoc`.
pub(super) fn is_macro(name: &str) -> bool {
    is_inline(name) || OTHERS.contains(&name)
}

pub(super) fn is_inline(name: &str) -> bool {
    font_of(name).is_some()
        || ENCLOSURES.iter().any(|(known, ..)| *known == name)
        || OPENINGS.iter().chain(&CLOSINGS).any(|(known, _)| *known == name)
        || system(name).is_some()
        || phrase(name).is_some()
        || has_full_names(name)
        || matches!(
            name,
            "Fl" | "Ns" | "Pf" | "Ap" | "Lk" | "Mt" | "Xo" | "Xc" | "Eo" | "Ec" | "En" | "Ta"
        )
}

pub(super) fn font_of(name: &str) -> Option<Font> {
    if BOLD.contains(&name) {
        Some(Font::Bold)
    } else if CODE.contains(&name) {
        Some(Font::Code)
    } else if ITALIC.contains(&name) {
        Some(Font::Italic)
    } else {
        ROMAN.contains(&name).then_some(Font::Roman)
    }
}

pub(super) fn is_punctuation(word: &str) -> bool {
    matches!(word, "." | "," | ":" | ";" | ")" | "]" | "?" | "!" | "(" | "[" | "|")
}

pub(super) fn is_opening(word: &str) -> bool {
    matches!(word, "(" | "[")
}

/// The sentence about the status of programs (`Ex`) or the value of functions (`Rv`).
pub(super) fn status(name: &str, mut names: Vec<String>) -> String {
    let is_one = names.len() == 1;
    let last = names.pop();
    let subject = match (names.join(", "), last) {
        (_, None) => String::new(),
        (others, Some(last)) if others.is_empty() => last,
        (others, Some(last)) => format!("{others} and {last}"),
    };
    let error = "the value -1 is returned and the global variable errno is set to indicate the error.";
    match (name, is_one) {
        ("Ex", true) => format!("The {subject} utility exits 0 on success, and >0 if an error occurs."),
        ("Ex", false) => format!("The {subject} utilities exit 0 on success, and >0 if an error occurs."),
        _ if subject.is_empty() => format!("Upon successful completion, the value 0 is returned; otherwise {error}"),
        (_, true) => format!("The {subject} function returns the value 0 if successful; otherwise {error}"),
        (_, false) => format!("The {subject} functions return the value 0 if successful; otherwise {error}"),
    }
}
