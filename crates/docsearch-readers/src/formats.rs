//! The formats, each with a reader from text or bytes to drafts.

pub(crate) mod asciidoc;
pub(crate) mod docx;
pub(crate) mod epub;
pub(crate) mod format;
#[cfg(test)]
pub(crate) mod growth;
pub(crate) mod html;
pub(crate) mod llms;

pub(crate) mod markdown;
pub(crate) mod mdx;
pub(crate) mod notebook;
pub(crate) mod openapi;
pub mod pdf;
pub(crate) mod plain;
pub(crate) mod roff;
pub(crate) mod rst;

use std::path::Path;

use format::Format;

/// Every format, in the order of the help of `--format`.
pub static FORMATS: [&Format; 13] = [
    &markdown::FORMAT,
    &mdx::FORMAT,
    &html::FORMAT,
    &rst::FORMAT,
    &asciidoc::FORMAT,
    &roff::FORMAT,
    &notebook::FORMAT,
    &openapi::FORMAT,
    &llms::FORMAT,
    &pdf::FORMAT,
    &docx::FORMAT,
    &epub::FORMAT,
    &plain::FORMAT,
];

/// Whether a path ends in the extension of a page. The extension of a manual page is part of its name.
pub(crate) fn has_page_extension(path: &Path) -> bool {
    FORMATS
        .iter()
        .any(|format| format.may_be_named.is_none() && format.has_extension(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = include_str!("../../../README.md");
    const REFERENCE: &str = include_str!("../../../docs/reference/command-line.md");

    #[test]
    fn the_documentation_names_every_format() {
        let line = |start: &str| REFERENCE.lines().find(|line| line.starts_with(start)).expect(start);
        let option = line("| `--format FORMAT` | `auto`");
        let rows = REFERENCE
            .split_once("| file | becomes |")
            .expect("the table of files")
            .1;
        let rows = rows.lines().skip(1).take_while(|line| line.starts_with('|'));
        let files: Vec<&str> = rows.filter_map(|row| row.split('|').nth(1)).collect();
        for format in FORMATS {
            assert!(
                option.contains(&format!("`{}`", format.name)),
                "--format {}",
                format.name
            );
            for extension in format.all_extensions() {
                let name = format!("`.{extension}`");
                assert!(
                    files.iter().any(|cell| cell.contains(&name)),
                    "{name} in command-line.md"
                );
            }
            let names = || format.name_patterns.iter().copied().chain([format.title]);
            assert!(
                names().any(|name| README.contains(name)),
                "{} in README.md",
                format.title
            );
        }
    }

    #[test]
    fn names_and_extensions_are_of_one_format() {
        for (number, format) in FORMATS.iter().enumerate() {
            for other in &FORMATS[..number] {
                assert_ne!(format.name, other.name);
                assert!(
                    format
                        .all_extensions()
                        .all(|own| other.all_extensions().all(|extension| extension != own))
                );
                assert!(format.media_types.iter().all(|own| !other.media_types.contains(own)));
            }
        }
    }
}
