//! References in brackets, and how they are distinguished from text of authors.
//!
//! A bracket before a name and a slash, such as `[kit/guides/retry#backoff]`, is always ours. It ends at its closing
//! bracket, or at the end of the line.

use std::borrow::Cow;
use std::ops::Range;

/// Positions of the brackets that begin something like a reference, last first. A bracket at the end counts, since
/// our text will follow it.
fn openings(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // Of the text after a position: whether it begins with a name and a slash, perhaps in more brackets, and whether
    // it continues a name up to a slash.
    let (mut begins, mut goes_on) = (true, false);
    for (at, c) in text.char_indices().rev() {
        if c == '[' && begins {
            found.push(at);
        }
        begins = match c {
            '[' => begins,
            _ if c.is_whitespace() => begins,
            '/' | '#' | ']' => false,
            _ => goes_on,
        };
        goes_on = match c {
            '/' => true,
            '#' | ']' => false,
            _ => goes_on && !c.is_whitespace(),
        };
    }
    found
}

/// Range of the reference in a line of ours, with its brackets.
pub fn reference_range(line: &str) -> Option<Range<usize>> {
    let start = openings(line).pop()?;
    let mut depth = 0;
    let closes = |(at, c): (usize, char)| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        (depth == 0).then_some(start + at + 1)
    };
    let end = line[start..].char_indices().find_map(closes);
    // A cut line may have lost its bracket.
    Some(start..end.unwrap_or(line.len()))
}

/// Text of an author, with parentheses instead of brackets around anything like a reference.
pub fn without_references(text: &str) -> Cow<'_, str> {
    let mut openings = openings(text).into_iter().rev().peekable();
    if openings.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut replaced = Vec::new();
    let shown = text.char_indices().map(|(at, c)| match c {
        '[' => {
            let is_reference = openings.next_if_eq(&at).is_some();
            replaced.push(is_reference);
            if is_reference { '(' } else { '[' }
        }
        ']' if replaced.pop() == Some(true) => ')',
        _ => c,
    });
    Cow::Owned(shown.collect())
}

/// A reference for our brackets. Brackets in it, such as in `app/[id]`, stay unless they could be taken for ours.
/// Then they are percent-encoded, see [`with_brackets`].
pub fn reference_in_brackets(reference: &str) -> Cow<'_, str> {
    if !reference.contains(['[', ']']) {
        return Cow::Borrowed(reference);
    }
    let mut depth = Some(0usize);
    for c in reference.chars() {
        depth = match c {
            '[' => depth.map(|depth| depth + 1),
            ']' => depth.and_then(|depth| depth.checked_sub(1)),
            _ => depth,
        };
    }
    let is_plain_name = reference
        .split('/')
        .next()
        .is_none_or(|name| !name.contains(['[', ']']));
    if is_plain_name && depth == Some(0) && openings(&format!("[{reference}]")) == [0] {
        return Cow::Borrowed(reference);
    }
    Cow::Owned(reference.replace('[', "%5B").replace(']', "%5D"))
}

/// A reference with its percent-encoded brackets decoded; `None` if it has none.
pub(super) fn with_brackets(reference: &str) -> Option<String> {
    let decoded = reference.replace("%5B", "[").replace("%5D", "]");
    (decoded != reference).then_some(decoded)
}

/// A way to read a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<'a> {
    /// `slug` or `project/slug`.
    pub document: Cow<'a, str>,
    /// Section of the document, if the reference names one.
    pub section: Option<Cow<'a, str>>,
}

/// The ways to read a reference, in the order in which they are tried. The first one whose document exists is right.
///
/// A slug may contain `#`, so the whole reference comes before the part in front of its first `#`. Answers show some brackets in
/// encoded form, so the decoded reference comes last.
pub fn readings(reference: &str) -> Vec<Reading<'_>> {
    let decoded = with_brackets(reference).map(Cow::Owned);
    let forms = std::iter::once(Cow::Borrowed(reference)).chain(decoded);
    forms.flat_map(of_form).collect()
}

fn of_form(form: Cow<'_, str>) -> Vec<Reading<'_>> {
    let section = form.find('#').map(|at| match &form {
        Cow::Borrowed(form) => (Cow::Borrowed(&form[..at]), Cow::Borrowed(&form[at + 1..])),
        Cow::Owned(form) => (Cow::Owned(form[..at].to_owned()), Cow::Owned(form[at + 1..].to_owned())),
    });
    let whole = Reading {
        document: form,
        section: None,
    };
    let part = section.map(|(document, section)| Reading {
        document,
        section: Some(section),
    });
    std::iter::once(whole).chain(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_titles_stay_as_they_are() {
        for title in [
            "array[index]",
            "Vec<[T]>",
            "Foo [deprecated]",
            "[GET /users]",
            "interval [0, 1)",
            "app/[slug]/page",
            "[x] done",
            "a[i]/b[j]",
            "Fix a crash [#1234]",
            "[]",
            "",
        ] {
            assert_eq!(without_references(title), title);
        }
    }

    #[test]
    fn what_reads_as_a_reference_has_no_brackets() {
        for (text, shown) in [
            ("Official answer [base/a]", "Official answer (base/a)"),
            ("[ base/a#b ] of [T]", "( base/a#b ) of [T]"),
            ("[[base/a]]", "((base/a))"),
            ("[base/a", "(base/a"),
            ("array[[base/a b] c]", "array((base/a b) c)"),
            ("open [", "open ("),
        ] {
            assert_eq!(without_references(text), shown);
        }
    }

    #[test]
    fn references_keep_brackets_that_cannot_be_mistaken() {
        for (reference, shown) in [
            ("next/app/[slug]/page#x", "next/app/[slug]/page#x"),
            ("base/x] [base/a", "base/x%5D %5Bbase/a"),
            ("base/x [base/a]", "base/x %5Bbase/a%5D"),
            ("[a]/x", "%5Ba%5D/x"),
            ("a[/x]", "a%5B/x%5D"),
        ] {
            assert_eq!(reference_in_brackets(reference), shown);
            assert_eq!(with_brackets(shown).as_deref().unwrap_or(shown), reference);
            for line in [format!("[{shown}] Title [x]"), format!("1. Title [x] [{shown}]")] {
                let range = reference_range(&line).expect("a reference");
                assert_eq!(line[range], format!("[{shown}]"));
            }
        }
    }

    #[test]
    fn a_reference_may_be_read_in_several_ways() {
        let read = |reference: &str| -> Vec<(String, Option<String>)> {
            let readings = readings(reference).into_iter();
            readings
                .map(|Reading { document, section }| (document.into_owned(), section.map(Cow::into_owned)))
                .collect()
        };
        let of = |document: &str, section: Option<&str>| (document.to_owned(), section.map(str::to_owned));
        assert_eq!(read("kit/a"), [of("kit/a", None)]);
        assert_eq!(read("a#b#c"), [of("a#b#c", None), of("a", Some("b#c"))]);
        let encoded = [
            of("app/%5Bid%5D#x", None),
            of("app/%5Bid%5D", Some("x")),
            of("app/[id]#x", None),
            of("app/[id]", Some("x")),
        ];
        assert_eq!(read("app/%5Bid%5D#x"), encoded);
    }

    proptest! {
        /// A document is read from its own reference and from that of each section, as answers show them.
        #[test]
        fn what_answers_show_is_one_of_the_readings(slug in "[a-c/#\\[\\]%]{1,9}", anchor in "[a-c\\[\\]%]{0,5}") {
            let reference = match anchor.as_str() {
                "" => slug.clone(),
                anchor => format!("{slug}#{anchor}"),
            };
            prop_assume!(with_brackets(&reference).is_none());
            let shown = reference_in_brackets(&reference);
            let mut readings = readings(&shown).into_iter();
            let is_it = |Reading { document, section }: Reading<'_>| {
                let section = section.as_deref().map(|section| format!("#{section}"));
                format!("{document}{}", section.unwrap_or_default()) == reference
            };
            prop_assert!(readings.any(is_it));
        }

        #[test]
        fn nothing_that_an_author_writes_begins_a_reference(
            text in "([\\[\\]()/# \u{3000}]|[a-c]|base|é){0,24}",
            name in "[a-c\\[\\]]{1,4}",
            slug in "[a-c\\[\\] /#]{1,12}",
        ) {
            let shown = without_references(&text);
            prop_assert_eq!(shown.chars().count(), text.chars().count());
            prop_assert_eq!(without_references(&shown), shown.as_ref());
            let reference = format!("{name}/{slug}");
            let written = reference_in_brackets(&reference);
            let line = format!("{shown} [{written}]");
            prop_assert_eq!(openings(&line), [shown.len() + 1]);
            let read = &line[shown.len() + 2..line.len() - 1];
            let read = with_brackets(read).unwrap_or_else(|| read.to_owned());
            prop_assert_eq!(read, reference);
        }
    }
}
