//! Policies of a table that were made for its rows, written again for the documents made of them.

/// The condition of a policy as it reads about documents: columns of the row become keys of `metadata`, cast to their
/// type. Also gives the columns that it names, in their order. `columns` are names and types, as Postgres writes them.
pub fn about_documents(condition: &str, columns: &[(String, String)]) -> (String, Vec<String>) {
    let (mut written, mut named) = (String::new(), Vec::new());
    let mut rest = condition;
    while let Some(first) = rest.chars().next() {
        let length = token(rest, first);
        let (text, after) = rest.split_at(length);
        let column = column(text, columns).filter(|_| !written.ends_with('.') && !after.starts_with(['(', '.']));
        match column {
            Some((name, type_name)) => {
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
    (written, named)
}

/// The length of a literal, of a name, quoted or not, or else of one character.
fn token(text: &str, first: char) -> usize {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    match first {
        '\'' | '"' => {
            let mut from = 1;
            // A quote that is doubled is part of the text.
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

/// The column that a name means; keywords are in capital letters, and names that need it in quotation marks.
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
            ("true", "true", &[]),
        ] {
            let (written, found) = about_documents(of_rows, &columns());
            assert_eq!(written, of_documents);
            assert_eq!(found, named);
        }
    }

    proptest! {
        #[test]
        fn what_names_no_column_stays(text in "[^a-zA-Z]{0,40}|['\"\\PC]{0,40}") {
            prop_assert_eq!(about_documents(&text, &[]).0, text);
        }
    }
}
