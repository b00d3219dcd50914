//! A comparison of two runs as JUnit XML, which services for continuous integration show.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::trial::{Trial, is_worse};

/// A test case.
struct Case {
    class: &'static str,
    name: String,
    message: String,
    is_failed: bool,
}

/// A test case for each group and measure, and one for each query that fell. The latter fail only if a group failed, too.
pub(super) fn write(trial: &Trial, max_loss: Option<f64>) -> io::Result<Vec<u8>> {
    let measures = trial.differences.iter().map(|difference| {
        let [low, high] = difference.interval;
        Case {
            class: "measures",
            name: format!("{} {}", difference.group, difference.measure),
            message: format!(
                "{:.4} to {:.4}: {:+.4}, interval {low:+.4} to {high:+.4}, {} queries better, {} worse",
                difference.first, difference.second, difference.difference, difference.better, difference.worse
            ),
            is_failed: is_worse(difference, max_loss),
        }
    });
    let is_failed = trial.is_worse(max_loss);
    let queries = trial.fallen.iter().map(|fallen| Case {
        class: "queries",
        name: format!("{}: {}", fallen.id, fallen.query),
        message: fallen.description(),
        is_failed,
    });
    let cases: Vec<Case> = measures.chain(queries).collect();
    let failures = cases.iter().filter(|case| case.is_failed).count().to_string();
    let tests = cases.len().to_string();
    let counts = [
        ("name", "docsearch ranking"),
        ("tests", &tests),
        ("failures", &failures),
    ];

    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer
        .create_element("testsuites")
        .with_attributes(counts)
        .write_inner_content(|writer| {
            writer
                .create_element("testsuite")
                .with_attributes(counts)
                .write_inner_content(|writer| cases.iter().try_for_each(|case| write_case(writer, case)))?;
            Ok(())
        })?;
    let mut text = writer.into_inner();
    text.push(b'\n');
    Ok(text)
}

fn write_case(writer: &mut Writer<Vec<u8>>, case: &Case) -> io::Result<()> {
    let (name, message) = (allowed(&case.name), allowed(&case.message));
    writer
        .create_element("testcase")
        .with_attributes([("classname", case.class), ("name", &name)])
        .write_inner_content(|writer| {
            match case.is_failed {
                true => writer
                    .create_element("failure")
                    .with_attribute(("message", message.as_str()))
                    .write_empty()?,
                false => writer
                    .create_element("system-out")
                    .write_text_content(BytesText::new(&message))?,
            };
            Ok(())
        })?;
    Ok(())
}

/// The characters that XML 1.0 allows, without line breaks.
fn allowed(text: &str) -> String {
    let is_allowed = |character: &char| !character.is_control() && !matches!(character, '\u{fffe}' | '\u{ffff}');
    text.chars().filter(is_allowed).collect()
}

#[cfg(test)]
mod tests {
    use docsearch_core::evaluation::comparison::Difference;
    use proptest::prelude::*;
    use quick_xml::{Reader, XmlVersion};

    use super::*;
    use crate::evaluation::ranking::trial::Fallen;

    fn trial(query: &str, interval: [f64; 2]) -> Trial {
        Trial {
            differences: vec![Difference {
                group: "overall".to_owned(),
                queries: 10,
                measure: "ndcg",
                first: 0.5,
                second: 0.4,
                difference: -0.1,
                interval,
                better: 0,
                worse: 1,
            }],
            fallen: vec![Fallen {
                id: "q1".to_owned(),
                query: query.to_owned(),
                before: 1.0,
                after: 0.0,
                ranks: [Some(1), None],
                firsts: [Some("guide".to_owned()), None],
            }],
        }
    }

    #[test]
    fn queries_fail_only_with_their_group() {
        let text = |interval| String::from_utf8(write(&trial("how?", interval), None).unwrap()).unwrap();
        assert!(text([-0.2, -0.1]).contains("failures=\"2\""));
        let good = text([-0.2, 0.1]);
        assert!(
            good.contains("tests=\"2\" failures=\"0\"") && !good.contains("<failure"),
            "{good}"
        );
        assert!(
            good.contains("<testcase classname=\"queries\" name=\"q1: how?\">"),
            "{good}"
        );
    }

    proptest! {
        /// Any query gives a well-formed document with its text.
        #[test]
        fn documents_are_well_formed(query in "(\\PC|[\\x00-\\x1f\\u{fffe}<>&\"'\\]]){0,40}") {
            let text = String::from_utf8(write(&trial(&query, [-0.2, -0.1]), None).unwrap()).unwrap();
            let mut reader = Reader::from_str(&text);
            let mut names = Vec::new();
            loop {
                match reader.read_event().unwrap() {
                    Event::Eof => break,
                    Event::Start(start) if start.name().as_ref() == "testcase" => {
                        let name = start.try_get_attribute("name").unwrap().unwrap();
                        names.push(name.normalized_value(XmlVersion::Implicit1_0).unwrap().into_owned());
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(names, ["overall ndcg".to_owned(), format!("q1: {}", allowed(&query))]);
        }
    }
}
