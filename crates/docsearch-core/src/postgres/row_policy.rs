//! Rewrites policies on the rows of a table for the documents of these rows.

/// Words that Postgres writes without quotation marks and that are no columns: parts of types and of `EXTRACT`.
const WORDS: [&str; 11] = [
    "zone", "with", "without", "varying", "year", "month", "day", "hour", "minute", "second", "epoch",
];

/// The condition of a policy for documents: columns of the row become keys of `metadata`, cast to their type. Also
/// returns the columns in it, in order. `columns` are names and types, as Postgres writes them. `None` if the text
/// alone does not decide: it has a subquery, whose names may be of other tables, a whole row, or a column whose JSON
/// its type cannot read.
pub fn about_documents(condition: &str, columns: &[(String, String)]) -> Option<(String, Vec<String>)> {
    let (mut written, mut named) = (String::new(), Vec::new());
    let mut rest = condition;
    while let Some(first) = rest.chars().next() {
        let (text, after) = rest.split_at(token(rest, first));
        if text == "SELECT" || (text == "." && after.starts_with('*')) {
            return None;
        }
        let is_other = [".", "::", "COLLATE "].iter().any(|before| written.ends_with(before));
        let column = column(text, columns).filter(|_| !is_other && !after.starts_with(['(', '.']));
        match column {
            Some((name, type_name)) => {
                if WORDS.contains(&name.as_str()) || type_name.ends_with(']') || type_name.starts_with("json") {
                    return None;
                }
                written.push_str(&format!("(metadata ->> '{}')", name.replace('\'', "''")));
                if !matches!(type_name.as_str(), "text" | "name") && !type_name.starts_with("character varying") {
                    written.push_str(&format!("::{type_name}"));
                }
                if !named.contains(name) {
                    named.push(name.clone());
                }
            }
            None => written.push_str(text),
        }
        rest = after;
    }
    Some((written, named))
}

/// The length of a literal, of a name, quoted or not, or else of one character.
fn token(text: &str, first: char) -> usize {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    match first {
        '\'' | '"' => {
            let mut from = 1;
            // A doubled quote is part of the text.
            while let Some(end) = text[from..].find(first) {
                from += end + 1;
                if !text[from..].starts_with(first) {
                    return from;
                }
                from += 1;
            }
            text.len()
        }
        _ if is_name(first) => text.find(|c| !is_name(c)).unwrap_or(text.len()),
        _ => first.len_utf8(),
    }
}

/// The column of a name. Keywords are in capital letters, and names that need it in quotation marks.
fn column<'a>(text: &str, columns: &'a [(String, String)]) -> Option<&'a (String, String)> {
    let name = match text.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => text.to_owned(),
    };
    columns.iter().find(|(column, _)| *column == name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn columns() -> Vec<(String, String)> {
        [
            ("owner", "text"),
            ("tenant", "integer"),
            ("Team's", "uuid"),
            ("user", "text"),
            ("text", "text"),
            ("C", "text"),
            ("tags", "text[]"),
            ("zone", "text"),
        ]
        .map(|(name, type_name)| (name.to_owned(), type_name.to_owned()))
        .to_vec()
    }

    #[test]
    fn columns_become_metadata() {
        for (of_rows, of_documents, named) in [
            (
                "(owner = CURRENT_USER)",
                "((metadata ->> 'owner') = CURRENT_USER)",
                &["owner"][..],
            ),
            (
                "((tenant = (current_setting('app.tenant'::text))::integer) OR (owner = 'owner''s owner'::text))",
                "(((metadata ->> 'tenant')::integer = (current_setting('app.tenant'::text))::integer) OR ((metadata ->> 'owner') = 'owner''s owner'::text))",
                &["tenant", "owner"],
            ),
            (
                "(\"Team's\" IS NULL)",
                "((metadata ->> 'Team''s')::uuid IS NULL)",
                &["Team's"],
            ),
            (
                "app.owner(tenant) = \"user\"",
                "app.owner((metadata ->> 'tenant')::integer) = (metadata ->> 'user')",
                &["tenant", "user"],
            ),
            (
                "(text = ('C'::text COLLATE \"C\"))",
                "((metadata ->> 'text') = ('C'::text COLLATE \"C\"))",
                &["text"],
            ),
            ("true", "true", &[]),
        ] {
            let (written, found) = about_documents(of_rows, &columns()).expect("it can be written");
            assert_eq!(written, of_documents);
            assert_eq!(found, named);
        }
    }

    #[test]
    fn what_may_mean_something_else_is_not_written() {
        for condition in [
            "(EXISTS ( SELECT 1\n   FROM member m\n  WHERE (m.team = tenant)))",
            "app.may_read(articles.*)",
            "('a'::text = ANY (tags))",
            "(zone = 'x'::text)",
        ] {
            assert_eq!(about_documents(condition, &columns()), None, "{condition}");
        }
    }

    proptest! {
        #[test]
        fn what_names_no_column_stays(text in "[^a-zA-Z]{0,40}|['\"\\PC]{0,40}") {
            prop_assume!(!text.contains(".*") && !text.contains("SELECT"));
            prop_assert_eq!(about_documents(&text, &[]), Some((text, Vec::new())));
        }
    }
}
