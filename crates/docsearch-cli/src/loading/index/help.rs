//! The formats in the help of `docsearch index`.

use docsearch_readers::{FORMATS, Format};

/// Column where the description of a format starts.
const RESULT_COLUMN: usize = 36;
const LINE_WIDTH: usize = 100;

/// The description of the command, with all formats.
pub(super) fn about() -> String {
    let titles: Vec<&str> = FORMATS.iter().map(|format| format.title).collect();
    format!("Index files and folders: {}, JSON lines", titles.join(", "))
}

/// A line for each format: its files, and what they become.
pub(super) fn formats() -> String {
    FORMATS.iter().map(|format| entry(format)).collect()
}

fn entry(format: &Format) -> String {
    let extensions = format.all_extensions().map(|extension| format!(".{extension}"));
    let patterns = format.name_patterns.iter().map(|pattern| (*pattern).to_owned());
    let files: Vec<String> = extensions.chain(patterns).collect();
    let mut entry = format!("  {:<width$}", files.join(" "), width = RESULT_COLUMN - 2);
    let mut column = RESULT_COLUMN;
    for (number, word) in format.result.split(' ').enumerate() {
        if number > 0 && column + 1 + word.len() > LINE_WIDTH {
            entry.push('\n');
            entry.push_str(&" ".repeat(RESULT_COLUMN));
            column = RESULT_COLUMN;
        } else if number > 0 {
            entry.push(' ');
            column += 1;
        }
        entry.push_str(word);
        column += word.len();
    }
    entry.push('\n');
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_results_continue_below_their_beginning() {
        let html = FORMATS.iter().find(|format| format.name == "html").unwrap();
        let entry = entry(html);
        let lines: Vec<&str> = entry.lines().collect();
        assert!(lines.len() > 1 && lines.iter().all(|line| line.len() <= LINE_WIDTH));
        assert!(lines[0].starts_with("  .html .htm .xhtml "));
        assert!(lines[1].starts_with(&" ".repeat(RESULT_COLUMN)));
    }
}
