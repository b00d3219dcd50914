//! A shortened answer names the call for the rest, and that call returns it.

use super::*;

/// A call in a notice of an answer in SQL.
#[derive(Debug, Default)]
struct Call {
    max_results: Option<usize>,
    offset: Option<usize>,
    max_chars: Option<usize>,
    max_tokens: Option<usize>,
}

impl Call {
    fn read(message: &str) -> Self {
        let number = |name: &str| {
            let (_, rest) = message.split_once(name)?;
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        };
        Self {
            max_results: number("max_results => "),
            offset: number("\"offset\": "),
            max_chars: number("max_chars => "),
            max_tokens: number("max_tokens => "),
        }
    }
}

/// The notice of a code in a delivered answer, and the ranks of its results.
fn read(text: &str, format: Format, code: &str) -> (Vec<u32>, Option<String>) {
    if format == Format::Raw {
        let json: Value = serde_json::from_str(text).expect("valid JSON");
        let results = json["results"].as_array().cloned().unwrap_or_default();
        let ranks = results
            .iter()
            .filter_map(|result| result["rank"].as_u64())
            .map(|rank| rank as u32);
        let notices = json["notices"].as_array().cloned().unwrap_or_default();
        let notice = notices.iter().find(|notice| notice["code"] == code);
        let message = notice.and_then(|notice| notice["message"].as_str()).map(str::to_owned);
        return (ranks.collect(), message);
    }
    let ranks = text.lines().filter_map(|line| line.split_once(". ")?.0.parse().ok());
    let prefix = format!("note ({code}): ");
    let notice = text.lines().find_map(|line| line.strip_prefix(&prefix));
    (ranks.collect(), notice.map(str::to_owned))
}

/// The answer to a call for `count` results after the first `offset`.
fn called(whole: &Answer, offset: usize, count: usize) -> Answer {
    Answer {
        results: whole.results.iter().skip(offset).take(count).cloned().collect(),
        offset,
        ..whole.clone()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn s4_41_the_parts_of_a_shortened_answer_are_the_whole(
        mut whole in any_answer(1..12),
        format in any_format(),
        max_chars in prop_oneof![MIN_MAX_CHARS..1_000, 1_000usize..6_000],
        max_tokens in proptest::option::of(MIN_MAX_TOKENS..1_500),
    ) {
        whole.offset = 0;
        let mut limits = (max_chars, max_tokens);
        let (mut offset, mut count) = (0, whole.results.len());
        let mut ranks = Vec::new();
        while count > 0 {
            let budget = Budget::new(limits.0, limits.1).expect("enough characters");
            let text = deliver(&called(&whole, offset, count), format, budget);
            let (shown, notice) = read(&text, format, "results_left_out");
            let Some(notice) = notice else {
                prop_assert_eq!(shown.len(), count, "{}", text);
                ranks.extend(shown);
                break;
            };
            let call = Call::read(&notice);
            ranks.extend(&shown);
            if shown.is_empty() {
                // Only a longer answer has any.
                prop_assert!(call.max_chars.is_some() || call.max_tokens.is_some(), "{}", notice);
                limits = (call.max_chars.unwrap_or(limits.0), call.max_tokens.or(limits.1));
            } else {
                prop_assert_eq!(call.offset, Some(offset + shown.len()), "{}", notice);
                prop_assert_eq!(call.max_results, Some(count - shown.len()), "{}", notice);
                offset += shown.len();
                count -= shown.len();
            }
        }
        let all: Vec<u32> = whole.results.iter().map(|result| result.rank).collect();
        prop_assert_eq!(ranks, all);
    }

    #[test]
    fn s4_41_details_are_given_where_their_notice_leads(
        whole in any_answer(0..8),
        format in prop_oneof![Just(Format::Detailed), Just(Format::Raw)],
        max_chars in MIN_MAX_CHARS..3_000,
        max_tokens in proptest::option::of(MIN_MAX_TOKENS..700),
    ) {
        let budget = Budget::new(max_chars, max_tokens).expect("enough characters");
        let text = deliver(&whole, format, budget);
        if let (_, Some(notice)) = read(&text, format, "switched_to_compact") {
            let call = Call::read(&notice);
            let raised = Budget::new(call.max_chars.unwrap_or(max_chars), call.max_tokens.or(max_tokens));
            let again = deliver(&whole, format, raised.expect("more characters"));
            prop_assert_eq!(again, deliver(&whole, format, budget_of_everything()), "{}", notice);
        }
    }
}

fn budget_of_everything() -> Budget {
    budget(usize::MAX)
}

#[test]
fn s4_41_each_front_end_reads_its_own_words() {
    for (syntax, rest, longer) in [
        (
            Syntax::Sql,
            "max_results => 3, config => '{\"offset\": 2}'",
            "max_chars => 900",
        ),
        (
            Syntax::CommandLine,
            "--max-results 3 --config '{\"offset\": 2}'",
            "--max-tokens 225",
        ),
        (Syntax::Mcp, "max_results: 3, offset: 2", "max_tokens: 225"),
        (Syntax::Http, "max_results=3&offset=2", "max_tokens=225"),
    ] {
        assert_eq!(syntax.results(3, 2).as_deref(), Some(rest));
        assert_eq!(syntax.length(900, budget(400)), longer);
        assert_eq!(syntax.results(3, MAX_OFFSET + 1), None);
    }
    // Only limits that are too low are raised.
    let both = Budget::new(5_000, Some(100)).expect("enough characters");
    assert_eq!(Syntax::Sql.length(900, both), "max_tokens => 225");
}
