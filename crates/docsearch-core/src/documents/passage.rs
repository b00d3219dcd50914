//! The text of a chunk that a model embeds.

use crate::documents::markdown;
use crate::documents::question_chunk::{self, is_question};
use crate::text::identifier::{is_identifier, split_identifier};

/// `title > heading path`, identifiers also in split form (`UITableView (UI Table View)`), then the
/// text without markup.
pub fn passage(title: &str, heading_path: &[String], body: &str) -> String {
    let mut passage = context(title, heading_path);
    passage.push('\n');
    passage.push_str(&markdown::plain_text(body));
    passage
}

/// The first line of a [`passage`].
pub fn context(title: &str, heading_path: &[String]) -> String {
    std::iter::once(title)
        .chain(heading_path.iter().map(String::as_str))
        .filter(|heading| !heading.trim().is_empty())
        .map(in_both_forms)
        .collect::<Vec<_>>()
        .join(" > ")
}

fn in_both_forms(heading: &str) -> String {
    let split = split_identifier(heading);
    if is_identifier(heading) && split != heading {
        format!("{heading} ({split})")
    } else {
        heading.to_owned()
    }
}

/// The text of a document that is embedded as one vector: title and text.
pub fn document_passage(title: &str, body: &str) -> String {
    format!("{title} {body}")
}

/// The text that is embedded for a chunk: a [`passage`], or the [`document_passage`] if a project has one vector for
/// a document. A question is embedded as it is.
pub fn embedded_text(chunk: i32, one_vector: bool, title: &str, heading_path: &[String], body: &str) -> String {
    if is_question(chunk) {
        question_chunk::passage(body)
    } else if one_vector {
        document_passage(title, body)
    } else {
        passage(title, heading_path, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_22_both_forms_are_embedded() {
        let passage = passage("UITableView", &["Declaration".into()], "Shows *rows*.");
        assert_eq!(passage, "UITableView (UI Table View) > Declaration\nShows rows.");
    }
}
