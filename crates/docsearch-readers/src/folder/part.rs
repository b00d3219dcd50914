//! Parts of files, which an include names by numbers of lines or by marks in the file.

use crate::site::{GENERATORS, InclusionSyntax};

/// The syntax of each generator that has one.
pub(super) fn syntaxes() -> impl Iterator<Item = &'static InclusionSyntax> {
    GENERATORS.iter().filter_map(|generator| generator.inclusion.as_ref())
}

/// A file and its part: `file.rs:2:10`, `file.rs:name`, `file.ts#name`, `file.md{2,10}`.
pub(super) fn part_of(target: &str) -> (&str, Option<&str>) {
    let target = target.split('{').next().unwrap_or_default();
    match target.find([':', '#']) {
        Some(at) if at > 0 && at + 1 < target.len() => (&target[..at], Some(&target[at + 1..])),
        _ => (target, None),
    }
}

/// The lines with these numbers, or between the marks of a name.
pub(super) fn cut(text: &str, part: &str) -> Option<String> {
    let mut numbers = part.split(':');
    let from = numbers.next().unwrap_or_default();
    if from.is_empty() || from.bytes().all(|byte| byte.is_ascii_digit()) {
        let first: usize = if from.is_empty() { 1 } else { from.parse().ok()? };
        let last = match numbers.next() {
            None => first,
            Some("") => usize::MAX,
            Some(last) => last.parse().ok()?,
        };
        let lines = text
            .lines()
            .skip(first.max(1) - 1)
            .take((last.max(first) - first).saturating_add(1));
        return Some(lines.map(|line| format!("{line}\n")).collect());
    }
    let mut inside = false;
    let mut found = None;
    for line in text.lines() {
        match mark_in(line) {
            Some((true, name)) if name == part => inside = true,
            Some((false, name)) if name == part => inside = false,
            Some(_) => continue,
            None if inside => {
                let kept: &mut String = found.get_or_insert_default();
                kept.push_str(line);
                kept.push('\n');
                continue;
            }
            None => continue,
        }
        found.get_or_insert_default();
    }
    found
}

pub(super) fn without_marks(text: &str) -> String {
    let lines = text.lines().filter(|line| mark_in(line).is_none());
    lines.map(|line| format!("{line}\n")).collect()
}

/// Whether a line opens or ends a part, and the name of the part.
fn mark_in(line: &str) -> Option<(bool, &str)> {
    let named = |mark: &str| {
        let (_, rest) = line.split_once(mark)?;
        let name = rest.trim_start();
        let end = name.find(|c: char| c.is_whitespace() || c == ']').unwrap_or(name.len());
        (end > 0).then(|| &name[..end])
    };
    let parts = || syntaxes().filter_map(|syntax| syntax.part);
    if !parts().any(|(_, _, text)| line.contains(text)) {
        return None;
    }
    let opening = parts().find_map(|(opening, _, _)| Some((true, named(opening)?)));
    let ending = || parts().find_map(|(_, ending, _)| Some((false, named(ending)?)));
    opening.or_else(ending)
}
