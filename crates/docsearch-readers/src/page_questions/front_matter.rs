//! The questions in front matter: a list of texts, or of objects that can name a heading or an anchor.

use std::collections::HashSet;

use docsearch_core::index::question::{MAX_QUESTIONS_PER_DOCUMENT, Question};
use serde_json::{Map, Value};

use super::question_file::{FileQuestion, QuestionedPage, with_anchors};

const SHAPE_HINT: &str = "\nHINT:  Write a list of strings, or of objects with question and heading or anchor. Quote a string that has a \
                          colon.";

/// The questions that are left out: their number, and the problem of the first.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Their number.
    pub count: usize,
    /// The problem of the first.
    pub reason: String,
}

/// Reads the questions of a page from its front matter.
pub(crate) fn read(given: &Value, title: &str, body: &str) -> (Vec<Question>, Option<LeftOut>) {
    let items = match given {
        Value::Array(items) => items.as_slice(),
        Value::Null => &[],
        _ => {
            let reason = format!("front matter: questions must be a list{SHAPE_HINT}");
            return (Vec::new(), Some(LeftOut { count: 1, reason }));
        }
    };
    let (mut questions, mut known, mut problems) = (Vec::new(), HashSet::new(), Vec::new());
    for (index, item) in items.iter().enumerate() {
        let number = index + 1;
        match question(item).and_then(|(heading, question)| FileQuestion::new(number, heading, question)) {
            Ok(one) if !known.insert(one.clone().into_content()) => {}
            Ok(_) if questions.len() == MAX_QUESTIONS_PER_DOCUMENT => {
                problems.push((
                    number,
                    format!("a document has at most {MAX_QUESTIONS_PER_DOCUMENT} questions"),
                ));
            }
            Ok(one) => questions.push(one),
            Err(reason) => problems.push((number, reason)),
        }
    }
    let page = QuestionedPage {
        title,
        body,
        own: Vec::new(),
    };
    let (mut placed, warnings) = with_anchors("the page", &questions, &[page], 1);
    let (left_out, misplaced): (Vec<_>, Vec<_>) = warnings.into_iter().partition(|warning| warning.is_left_out);
    problems.extend(left_out.into_iter().map(|warning| (warning.line, warning.reason)));
    let (count, all) = (problems.len(), items.len());
    let left_out = problems.into_iter().min().map(|(number, reason)| LeftOut {
        count,
        reason: format!("front matter: {count} of {all} questions left out; number {number}: {reason}"),
    });
    let misplaced = misplaced.into_iter().next().map(|warning| LeftOut {
        count: 0,
        reason: format!("front matter: question {}: {}", warning.line, warning.reason),
    });
    let left_out = left_out.or(misplaced);
    (placed.pop().unwrap_or_default(), left_out)
}

/// The heading and the text of a question.
fn question(item: &Value) -> Result<(String, String), String> {
    let shape = || format!("not a question{SHAPE_HINT}");
    let Value::Object(table) = item else {
        return Ok((String::new(), text(item).ok_or_else(shape)?));
    };
    let known = ["question", "heading", "anchor"];
    if table.keys().any(|key| !known.contains(&key.as_str())) {
        return Err(shape());
    }
    let question = table.get("question").and_then(text).ok_or_else(shape)?;
    let string = |key: &str| string_at(table, key).ok_or_else(shape);
    match (string("heading")?, string("anchor")?) {
        (heading, anchor) if anchor.is_empty() => Ok((heading, question)),
        (heading, anchor) if heading.is_empty() => {
            Ok((format!("#{}", anchor.strip_prefix('#').unwrap_or(&anchor)), question))
        }
        _ => Err("both heading and anchor are set\nHINT:  Set one of them.".to_owned()),
    }
}

/// A text, empty if missing; `None` if it is something else.
fn string_at(table: &Map<String, Value>, key: &str) -> Option<String> {
    match table.get(key) {
        None | Some(Value::Null) => Some(String::new()),
        Some(value) => text(value),
    }
}

/// A scalar in its original spelling: YAML reads some texts as numbers.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use docsearch_core::index::question::{MAX_QUESTIONS_PER_SECTION, MAX_STORED_QUESTION_CHARS};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const BODY: &str = "# Kit\n\nText.\n\n## Set it up {#setup}\n\nA.\n\n## Options\n\nB.\n\n## Options\n\nC.\n";

    type Pairs = Vec<(String, String)>;

    fn of(given: &Value) -> (Pairs, Option<(usize, String)>) {
        let (questions, left_out) = read(given, "Kit", BODY);
        let pairs = questions
            .into_iter()
            .map(|question| (question.anchor, question.question));
        (
            pairs.collect(),
            left_out.map(|left_out| (left_out.count, left_out.reason)),
        )
    }

    fn pairs(pairs: &[(&str, &str)]) -> Pairs {
        pairs
            .iter()
            .map(|(one, other)| ((*one).to_owned(), (*other).to_owned()))
            .collect()
    }

    #[test]
    fn texts_are_of_the_page_and_objects_of_sections() {
        let given = json!(["what is\n it", 404, "what is it", {"question": "p"}, {"question": "q", "heading": "Kit"},
                           {"question": "r", "heading": "set it up!"}, {"question": "s", "anchor": "options-1"},
                           {"question": "t", "anchor": "#setup", "heading": null}, {"question": "u", "anchor": ""}]);
        let expected = [
            ("", "what is it"),
            ("", "404"),
            ("", "p"),
            ("", "q"),
            ("setup", "r"),
            ("options-1", "s"),
            ("setup", "t"),
            ("", "u"),
        ];
        assert_eq!(of(&given), (pairs(&expected), None));
        for none in [json!([]), json!(null)] {
            assert_eq!(of(&none), (Vec::new(), None));
        }
    }

    #[test]
    fn only_invalid_questions_are_left_out_with_one_warning() {
        let given = json!(["kept", " ", {"how do I": "begin"}, true, null, ["a"], {"heading": "Options"}, {"question": 1.5, "anchor": []},
                           {"question": "a", "anchor": "setup", "heading": "Options"}, {"question": "b", "heading": "Optoins"},
                           {"question": "c", "anchor": "gone"}, "x".repeat(MAX_STORED_QUESTION_CHARS + 1), {"question": "last", "heading": "Options"}]);
        let (questions, left_out) = of(&given);
        assert_eq!(
            questions,
            pairs(&[("", "kept"), ("", "b"), ("", "c"), ("options", "last")])
        );
        let (count, reason) = left_out.unwrap();
        assert_eq!(count, 9);
        assert!(
            reason.starts_with("front matter: 9 of 13 questions left out; number 2: "),
            "{reason}"
        );
        for wrong in [json!("text"), json!({"question": "a"}), json!(3), json!(false)] {
            let (questions, left_out) = of(&wrong);
            assert!(questions.is_empty() && left_out.unwrap().1.contains("must be a list"));
        }
    }

    #[test]
    fn a_question_whose_section_is_not_there_is_of_the_page() {
        let given = json!(["a", {"question": "b", "heading": "Optoins"}, {"question": "c", "anchor": "gone"}]);
        let (questions, left_out) = of(&given);
        assert_eq!(questions, pairs(&[("", "a"), ("", "b"), ("", "c")]));
        let (count, reason) = left_out.unwrap();
        assert_eq!(count, 0);
        assert!(
            reason.starts_with("front matter: question 2: the page has no heading \"Optoins\"; ")
                && reason.contains("\"Options\""),
            "{reason}"
        );
        let gone = of(&json!([{"question": "c", "anchor": "gone"}])).1.unwrap().1;
        assert!(gone.contains("the page has no anchor \"gone\""), "{gone}");
    }

    #[test]
    fn surplus_questions_are_left_out() {
        let many: Vec<String> = (0..MAX_QUESTIONS_PER_SECTION + 6)
            .map(|number| format!("q{number}"))
            .collect();
        let (questions, left_out) = of(&json!(many));
        assert_eq!((questions.len(), left_out.unwrap().0), (MAX_QUESTIONS_PER_SECTION, 6));
        let more: Vec<String> = (0..3 * MAX_QUESTIONS_PER_DOCUMENT)
            .map(|number| format!("q{number}"))
            .collect();
        let (questions, left_out) = of(&json!(more));
        assert_eq!(questions.len() + left_out.unwrap().0, 3 * MAX_QUESTIONS_PER_DOCUMENT);
    }

    proptest! {
        #[test]
        fn what_is_read_can_be_stored(items in prop::collection::vec((any::<String>(), "#?[a-z{}# -]{0,8}", any::<bool>()), 0..20)) {
            let item = |(question, place, is_anchor): &(String, String, bool)| match is_anchor {
                true => json!({"question": question, "anchor": place}),
                false => json!({"question": question, "heading": place}),
            };
            let given: Vec<Value> = items.iter().map(item).collect();
            let (questions, _) = read(&json!(given), "Kit", BODY);
            prop_assert_eq!(docsearch_core::index::question::checked(questions.clone()), Ok(questions));
        }
    }
}
