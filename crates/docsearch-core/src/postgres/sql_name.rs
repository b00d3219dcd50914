//! Parses names of database objects in SQL.

/// Schema and name in an SQL name such as `docsearch.english` or `"My schema"."x"`; without a schema only the name.
/// `None` if it is not such a name.
pub fn parse(text: &str) -> Option<(Option<String>, String)> {
    let (first, rest) = part(text.trim())?;
    match rest.trim_start().strip_prefix('.') {
        None if rest.trim().is_empty() => Some((None, first)),
        None => None,
        Some(rest) => match part(rest.trim_start())? {
            (second, "") => Some((Some(first), second)),
            _ => None,
        },
    }
}

/// An identifier at the beginning of a text, and the rest.
fn part(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find(|c: char| !is_plain(c)).unwrap_or(text.len());
        let starts = text.chars().next().is_some_and(|c| is_plain(c) && !c.is_ascii_digit());
        return starts.then(|| (text[..end].to_ascii_lowercase(), &text[end..]));
    };
    let mut name = String::new();
    loop {
        let (before, after) = rest.split_once('"')?;
        name.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return (!name.is_empty()).then_some((name, after)),
        }
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_read_as_sql_writes_them() {
        let read = |text| parse(text).map(|(schema, name)| (schema.unwrap_or_default(), name));
        let is = |schema: &str, name: &str| Some((schema.to_owned(), name.to_owned()));
        assert_eq!(read("docsearch.english"), is("docsearch", "english"));
        assert_eq!(read("English"), is("", "english"));
        assert_eq!(read(r#""My schema"."a""b""#), is("My schema", "a\"b"));
        assert_eq!(read(" a . b "), is("a", "b"));
        for text in [
            "",
            ".",
            "a.",
            ".b",
            "a.b.c",
            "a b",
            "\"a",
            "\"\"",
            "1a",
            "a.b; select 1",
            "docsearch.english'",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn quoted_names_are_read_back(schema in "[^\0]{1,12}", name in "[^\0]{1,12}") {
            let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
            let text = format!("{}.{}", quoted(&schema), quoted(&name));
            prop_assert_eq!(parse(&text), Some((Some(schema), name)));
        }

        #[test]
        fn any_text_is_survived(text in ".{0,40}") {
            let _ = parse(&text);
        }
    }
}
