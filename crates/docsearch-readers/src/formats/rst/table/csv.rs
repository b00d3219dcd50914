//! The directive `csv-table`.

use std::path::Path;

use super::{Cell, Table};
use crate::formats::rst::block::{PageReader, Scope};
use crate::formats::rst::directive::Directive;

pub(in crate::formats::rst) fn blocks(reader: &mut PageReader, directive: &Directive, scope: &Scope) -> Vec<String> {
    let dialect = Dialect::of(directive);
    let mut rows = Vec::new();
    if let Some(head) = directive.option("header") {
        rows.extend(dialect.rows(head));
    }
    let is_named = !rows.is_empty();
    let given = match (directive.option("file"), directive.option("url")) {
        (Some(file), _) => reader.file(Path::new(file)),
        (None, Some(address)) => {
            reader.missing.push(format!("{address} (an address)"));
            None
        }
        (None, None) => None,
    };
    let text = given.unwrap_or_else(|| directive.content.join("\n"));
    rows.extend(dialect.rows(&text));
    let has_head = is_named || super::head_rows(directive) > 0;
    super::blocks(reader, &Table { rows, has_head }, scope)
}

/// How fields are written, as Python's module `csv` reads them.
struct Dialect {
    delimiter: char,
    quote: char,
    /// Without one, a doubled quote in a quoted field is a quote.
    escape: Option<char>,
    keeps_space: bool,
}

impl Dialect {
    fn of(directive: &Directive) -> Self {
        let sign = |name: &str| match directive.option(name)? {
            "tab" => Some('\t'),
            "space" => Some(' '),
            text => text.chars().next(),
        };
        Self {
            delimiter: sign("delim").unwrap_or(','),
            quote: sign("quote").unwrap_or('"'),
            escape: sign("escape"),
            keeps_space: directive.option("keepspace").is_some(),
        }
    }

    fn rows(&self, text: &str) -> Vec<Vec<Cell>> {
        let mut rows = Vec::new();
        let mut row: Vec<Cell> = Vec::new();
        let mut field = String::new();
        let mut is_quoted = false;
        // Whether the field has begun, which a quotation mark or a character other than a space does.
        let mut has_begun = false;
        let mut characters = text.chars().peekable();
        let cell = |field: &mut String| std::mem::take(field).lines().map(str::to_owned).collect::<Cell>();
        while let Some(character) = characters.next() {
            if Some(character) == self.escape {
                field.extend(characters.next());
                has_begun = true;
            } else if is_quoted && character == self.quote {
                match characters.next_if_eq(&self.quote) {
                    Some(quote) if self.escape.is_none() => field.push(quote),
                    _ => is_quoted = false,
                }
            } else if is_quoted {
                field.push(character);
            } else if character == self.quote && !has_begun {
                is_quoted = true;
                has_begun = true;
            } else if character == self.delimiter {
                row.push(cell(&mut field));
                has_begun = false;
            } else if character == '\n' {
                if has_begun || !row.is_empty() {
                    row.push(cell(&mut field));
                    rows.push(std::mem::take(&mut row));
                }
                has_begun = false;
            } else if character != ' ' || has_begun || self.keeps_space {
                field.push(character);
                has_begun = true;
            }
        }
        if has_begun || !row.is_empty() {
            row.push(cell(&mut field));
            rows.push(row);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAS: Dialect = Dialect {
        delimiter: ',',
        quote: '"',
        escape: None,
        keeps_space: false,
    };

    #[test]
    fn fields_are_those_of_python() {
        let rows = |dialect: &Dialect, text: &str| -> Vec<Vec<String>> {
            let rows = dialect.rows(text).into_iter();
            rows.map(|row| row.into_iter().map(|cell| cell.join("/")).collect())
                .collect()
        };
        assert_eq!(
            rows(&COMMAS, "a, \"b, \"\"c\"\"\", d\n\n, ,\n"),
            [vec!["a", "b, \"c\"", "d"], vec!["", "", ""]]
        );
        assert_eq!(rows(&COMMAS, "\"a\nb\",c"), [["a/b", "c"]]);
        let other = Dialect {
            delimiter: ';',
            quote: '\'',
            escape: Some('\\'),
            keeps_space: true,
        };
        assert_eq!(rows(&other, "'a\\'b';  c"), [["a'b", "  c"]]);
    }

    proptest::proptest! {
        /// Fields that are quoted come back as they were.
        #[test]
        fn quoted_fields_keep_their_text(row in proptest::collection::vec("[a-z,\" ;]{1,6}", 1..5)) {
            let line: Vec<String> = row.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
            let read = COMMAS.rows(&line.join(", "));
            proptest::prop_assert_eq!(read, [row.iter().map(|field| vec![field.clone()]).collect::<Vec<_>>()]);
        }
    }
}
