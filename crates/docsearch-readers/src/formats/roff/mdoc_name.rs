//! Names of the macros of `mdoc`, and delimiters.

use super::text::Font;

/// Macros that set a font for the words after them, and macros without a visible effect.
pub(super) const BOLD: [&str; 7] = ["Nm", "Cm", "Ic", "Fn", "Fo", "Sy", "Cd"];
pub(super) const CODE: [&str; 9] = ["Li", "Ql", "Ev", "Er", "Dv", "Va", "Pa", "In", "Fd"];
pub(super) const ITALIC: [&str; 6] = ["Ar", "Em", "Fa", "Vt", "Ft", "Ad"];
pub(super) const ROMAN: [&str; 14] = [
    "No", "An", "Tn", "Ms", "Lb", "St", "At", "Bx", "Nx", "Fx", "Ox", "Ux", "Sx", "Xr",
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
pub(super) const OTHERS: [&str; 32] = [
    "Dd", "Dt", "Os", "Sh", "Ss", "Nd", "Fl", "Ns", "Pf", "Ap", "Lk", "Mt", "Dl", "D1", "Bd", "Ed", "Bl", "It", "El",
    "Pp", "Lp", "Bk", "Ek", "Rs", "Re", "Xo", "Xc", "Fc", "Rv", "Ex", "Sm", "Bf",
];

/// Whether a name is that of a macro of `mdoc`.
pub(super) fn is_macro(name: &str) -> bool {
    is_inline(name) || OTHERS.contains(&name)
}

pub(super) fn is_inline(name: &str) -> bool {
    font_of(name).is_some()
        || ENCLOSURES.iter().any(|(known, ..)| *known == name)
        || OPENINGS.iter().chain(&CLOSINGS).any(|(known, _)| *known == name)
        || matches!(name, "Fl" | "Ns" | "Pf" | "Ap" | "Lk" | "Mt" | "Xo" | "Xc")
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
