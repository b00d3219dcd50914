use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::minimum::minimise;
use crate::process::{self, Work};
use crate::{Plan, Target};

/// Maximum number of findings of one target.
const MAX_FINDINGS: usize = 5;

/// Result of a target.
#[derive(Debug)]
pub struct Outcome {
    /// Name of the target.
    pub target: &'static str,
    /// Number of inputs without a finding.
    pub executions: u64,
    /// Elapsed time.
    pub time: Duration,
    /// Processor time of the slowest of these inputs.
    pub slowest: Duration,
    /// Inputs that ended a process.
    pub findings: Vec<Finding>,
}

/// An input that ends a process.
#[derive(Debug)]
pub struct Finding {
    /// The file with the input.
    pub file: PathBuf,
    /// How the process ended, and its output.
    pub reason: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            target,
            executions,
            time,
            slowest,
            findings,
        } = self;
        write!(
            formatter,
            "fuzz {target}: {executions} executions in {} s, the slowest in {} ms, {} findings",
            time.as_secs(),
            slowest.as_millis(),
            findings.len()
        )?;
        for Finding { file, reason } in findings {
            write!(
                formatter,
                "\n  {}\n    {}",
                file.display(),
                reason.trim_end().replace('\n', "\n    ")
            )?;
        }
        Ok(())
    }
}

/// Runs all targets with the [plan of the environment](Plan::from_environment), and panics if one has a finding.
/// `executor` is the path of the ignored test that calls [`execute`](crate::execute) with the same targets.
pub fn check(targets: &[Target], executor: &str) {
    let outcomes = search(targets, executor, &Plan::from_environment());
    let bad: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !outcome.findings.is_empty())
        .map(Outcome::to_string)
        .collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Runs targets, one on each processor at a time, and prints the result of each.
pub fn search(targets: &[Target], executor: &str, plan: &Plan) -> Vec<Outcome> {
    let wanted: Vec<&Target> = targets
        .iter()
        .filter(|target| target.name.contains(&plan.only))
        .collect();
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..processors.min(wanted.len()) {
            scope.spawn(|| {
                while let Some(target) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = run(target, executor, plan);
                    println!("{outcome}");
                    outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
                }
            });
        }
    });
    outcomes.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn run(target: &Target, executor: &str, plan: &Plan) -> Outcome {
    let begun = Instant::now();
    let mut outcome = Outcome {
        target: target.name,
        executions: 0,
        time: Duration::ZERO,
        slowest: Duration::ZERO,
        findings: Vec::new(),
    };
    let mut places = Vec::new();
    let mut from = 0;
    for _ in 0..plan.max_ends {
        let left = plan.time.map(|time| time.saturating_sub(begun.elapsed()));
        if outcome.findings.len() >= MAX_FINDINGS || left == Some(Duration::ZERO) {
            break;
        }
        let work = match &plan.input {
            Some(file) => Work::Input(file),
            None => Work::From(from, left),
        };
        let run = process::run(target, executor, plan, &work);
        outcome.executions += run.executions;
        if run.slowest.0 > outcome.slowest {
            outcome.slowest = run.slowest.0;
            if plan.time.is_some() {
                keep(&plan.findings, &format!("slowest-{}", target.name), &run.slowest.1);
            }
        }
        let Some(end) = run.end else { break };
        from = end.number.saturating_add(1);
        if !places.iter().any(|place| place == end.place()) {
            places.push(end.place().to_owned());
            let end = if plan.minimise {
                minimise(target, executor, plan, end)
            } else {
                end
            };
            outcome.findings.push(Finding {
                file: keep(
                    &plan.findings,
                    &format!("{}-{:016x}", target.name, digest(&end.input)),
                    &end.input,
                ),
                reason: end.reason,
            });
        }
        if plan.input.is_some() {
            break;
        }
    }
    outcome.time = begun.elapsed();
    outcome
}

fn digest(input: &[u8]) -> u64 {
    input.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn keep(folder: &Path, name: &str, input: &[u8]) -> PathBuf {
    let file = folder.join(name);
    fs::create_dir_all(folder).expect("a folder for findings");
    fs::write(&file, input).expect("a disk with room for findings");
    file
}
