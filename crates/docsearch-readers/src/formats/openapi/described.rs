//! Descriptions, which are Markdown, in lists and below headings.

use crate::text::{fence, markdown_text};

/// A list item at a depth: a label and what is said of it.
pub(super) fn item(label: &str, description: &str, depth: usize) -> String {
    let indent = 2 * depth;
    let text = markdown_text::hang(&after(label, description), indent + 2);
    format!("{}- {text}", " ".repeat(indent))
}

/// A label and a description: on the same line if it is one paragraph, else in blocks below.
pub(super) fn after(label: &str, description: &str) -> String {
    let description = description.trim();
    match description {
        "" => label.to_owned(),
        paragraph if is_paragraph(paragraph) => format!("{label}: {}", line(paragraph)),
        blocks => format!("{label}:\n\n{}", without_headings(blocks)),
    }
}

/// Whether a description can be set on one line without a loss.
pub(super) fn is_paragraph(description: &str) -> bool {
    let description = description.trim();
    let opens_block = |line: &str| {
        let line = line.trim_start();
        line.is_empty()
            || line.starts_with(['#', '|', '>'])
            || line.starts_with("```")
            || line.starts_with("~~~")
            || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
            || line.split_once(['.', ')']).is_some_and(|(number, rest)| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with(' ')
            })
    };
    !description.lines().any(opens_block)
}

/// A description on one line, for a table or a list.
pub(super) fn line(description: &str) -> String {
    description.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Headings of a description move below a heading of this level.
pub(super) fn below_heading(description: &str, level: usize) -> String {
    rewrite_headings(description, |marks, text| {
        format!("{} {text}", "#".repeat((marks + level).min(6)))
    })
}

/// In an item, a heading would end the section around it.
fn without_headings(description: &str) -> String {
    rewrite_headings(description, |_, text| {
        format!("**{}**", text.trim_end_matches([' ', '#']))
    })
}

fn rewrite_headings(description: &str, heading: impl Fn(usize, &str) -> String) -> String {
    fence::lines_with_state(description)
        .map(|(line, outside)| {
            let marks = line.bytes().take_while(|&byte| byte == b'#').count();
            let is_heading = outside && (1..=6).contains(&marks) && line[marks..].starts_with(' ');
            match is_heading {
                true => {
                    let end = if line.ends_with('\n') { "\n" } else { "" };
                    heading(marks, line[marks..].trim()) + end
                }
                false => line.to_owned(),
            }
        })
        .collect()
}
