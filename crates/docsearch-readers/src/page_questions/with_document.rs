//! The questions of a document in a line of JSON. The database stores them, and does not report those that it changes.

use docsearch_core::index::question;
use docsearch_core::values::bounds;
use serde_json::Value;

use super::front_matter::LeftOut;
use super::headings::Headings;

/// The problems with the questions of a document. Those without a text are not stored; those for sections that do not
/// exist belong to the page as a whole. Also `None` if the database will reject them.
pub fn problem(given: &Value, title: &str, body: &str) -> Option<LeftOut> {
    let items = given.as_array()?;
    let (mut headings, mut count, mut problems) = (None, 0, Vec::new());
    for (index, item) in items.iter().enumerate() {
        let number = index + 1;
        let Ok(read) = question::read(Value::Array(vec![item.clone()])) else {
            return None;
        };
        let Some(question) = read.first() else {
            count += 1;
            problems.push(format!("question {number} is empty, and left out"));
            continue;
        };
        let headings = headings.get_or_insert_with(|| Headings::new(title, body));
        if !headings.has_anchor(&question.anchor) {
            let mut problem = format!(
                "question {number}: the page has no anchor \"{}\"",
                bounds::shown(&question.anchor)
            );
            problem.push_str("; the question counts for the page as a whole");
            if let Some(nearest) = headings.nearest_anchor(&question.anchor) {
                problem.push_str(&format!("\nHINT:  Perhaps you mean \"{nearest}\"."));
            }
            problems.push(problem);
        }
    }
    let more = problems.len().saturating_sub(1);
    let first = problems.into_iter().next()?;
    let reason = match more {
        0 => first,
        more => format!("{} of {} questions: {first}", more + 1, items.len()),
    };
    Some(LeftOut { count, reason })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BODY: &str = "# Kit\n\nText.\n\n## Set it up {#setup}\n\nA.\n\n## Options\n\nB.\n";

    fn problem_of(given: &Value) -> Option<(usize, String)> {
        problem(given, "Kit", BODY).map(|problem| (problem.count, problem.reason))
    }

    #[test]
    fn an_anchor_that_is_not_there_is_named_with_the_nearest() {
        let given =
            json!(["what is it", {"anchor": "optoins", "question": "which"}, {"anchor": "setup", "question": "how"}]);
        let (count, reason) = problem_of(&given).unwrap();
        assert_eq!(count, 0);
        assert!(
            reason.starts_with("question 2: the page has no anchor \"optoins\"; ")
                && reason.ends_with("Perhaps you mean \"options\"."),
            "{reason}"
        );
        assert_eq!(
            problem_of(&json!([{"anchor": "options", "question": "which"}, "x", {"anchor": "", "question": "y"}])),
            None
        );
        let bare = problem(&json!([{"anchor": "a", "question": "b"}]), "T", "Text.").unwrap();
        assert!(!bare.reason.contains("HINT"));
    }

    #[test]
    fn questions_without_text_are_counted_as_left_out() {
        let (count, reason) = problem_of(&json!([" ", {"anchor": "gone", "question": "x"}, "\u{200b}"])).unwrap();
        assert_eq!(count, 2);
        assert!(
            reason.starts_with("3 of 3 questions: question 1 is empty, and left out"),
            "{reason}"
        );
    }

    #[test]
    fn values_that_the_database_rejects_are_passed_on() {
        for refused in [
            json!("text"),
            json!([3]),
            json!([{"heading": "Kit", "question": "x"}, " "]),
            json!(null),
        ] {
            assert_eq!(problem_of(&refused), None);
        }
    }
}
