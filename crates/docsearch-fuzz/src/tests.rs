//! Targets that fail on purpose, each in another way.

use super::*;
use std::time::Duration;

const TARGETS: &[Target] = &[
    Target::new("sound", Format::MARKDOWN, |_| {}),
    Target::new("panics", Format::MARKDOWN, |input| {
        assert!(!input.windows(3).any(|part| part == b"```"))
    }),
    Target::new("recurses", Format::JSON, |input| {
        std::hint::black_box(depth(input));
    }),
    Target::new("grows", Format::JSON, |input| {
        if input.contains(&b'{') {
            std::hint::black_box(vec![1_u8; 8 << 30]);
        }
    }),
    Target::new("loops", Format::JSON, |input| {
        while std::hint::black_box(input.contains(&b'[')) {}
    }),
];

fn depth(input: &[u8]) -> usize {
    match input.split_first() {
        Some((b'[', rest)) => std::hint::black_box(depth(rest)) + 1,
        _ => 0,
    }
}

fn outcome(name: &str, minimise: bool) -> Outcome {
    let findings = tempfile::tempdir().expect("a folder");
    let plan = Plan {
        cases: 5,
        time_limit: Duration::from_secs(2),
        only: name.to_owned(),
        findings: findings.keep(),
        max_ends: 2,
        minimise,
        ..Plan::of_tests()
    };
    search(TARGETS, "tests::execute_targets", &plan).remove(0)
}

#[test]
#[ignore = "runs in the processes that the other tests start"]
fn execute_targets() {
    execute(TARGETS);
}

#[test]
fn every_input_of_a_sound_target_is_run_and_counted() {
    let outcome = outcome("sound", false);
    let grammar = Format::MARKDOWN.grammar();
    let expected = Format::MARKDOWN.corpus().len() + grammar.nests.len() * 3 + 5;
    assert_eq!((outcome.executions, outcome.findings.len()), (expected as u64, 0));
}

#[test]
fn a_panic_is_found_and_minimised() {
    let outcome = outcome("panics", true);
    assert_eq!(outcome.findings.len(), 1, "{outcome}");
    assert!(outcome.findings[0].reason.starts_with("panics "), "{outcome}");
    assert_eq!(std::fs::read(&outcome.findings[0].file).expect("the input"), b"```");
}

#[test]
fn a_stack_that_overflows_is_found_with_its_input() {
    let outcome = outcome("recurses", false);
    assert!(outcome.findings[0].reason.contains("overflowed its stack"), "{outcome}");
    let input = std::fs::read(&outcome.findings[0].file).expect("the input");
    assert!(input.starts_with(b"[[[[[[[["));
}

#[test]
fn memory_and_time_are_bounded() {
    assert!(outcome("grows", false).findings[0].reason.contains("memory allocation"));
    assert!(outcome("loops", false).findings[0].reason.starts_with("takes too long"));
}

#[test]
fn the_same_seed_gives_the_same_inputs() {
    let inputs = |seed| -> Vec<Vec<u8>> {
        let plan = Plan {
            seed,
            cases: 30,
            ..Plan::of_tests()
        };
        let generator = generator::Generator::new(&TARGETS[0], &plan);
        (0..).map_while(|number| generator.input(number)).collect()
    };
    assert_eq!(inputs(1), inputs(1));
    assert_ne!(inputs(1), inputs(2));
}
