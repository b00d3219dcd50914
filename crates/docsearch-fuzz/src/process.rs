//! Starts a process that runs a target, and reads how it ended.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::child::{DONE, FROM, INPUT, PLAN, STATE, TARGET, TIMED_OUT, UNTIL};
use crate::{Plan, Target};

/// Maximum number of characters of a process's output in a report.
const MAX_OUTPUT: usize = 600;

/// Result of a process.
pub(crate) struct Run {
    pub(crate) executions: u64,
    /// The input without a finding that took the most processor time, and the time.
    pub(crate) slowest: (Duration, Vec<u8>),
    /// What ended the process before it was done.
    pub(crate) end: Option<End>,
}

pub(crate) struct End {
    /// Number of the input that ended the process.
    pub(crate) number: u64,
    pub(crate) input: Vec<u8>,
    pub(crate) reason: String,
}

impl End {
    /// Where the target panicked, or the signal. Usually the same for the same cause.
    pub(crate) fn place(&self) -> &str {
        self.reason.lines().next().unwrap_or_default()
    }
}

/// The inputs that a process runs.
pub(crate) enum Work<'a> {
    /// All inputs from this number on, for at most this time.
    From(u64, Option<Duration>),
    /// The input in this file.
    Input(&'a Path),
}

/// Runs a target by the ignored test `executor` of this program.
pub(crate) fn run(target: &Target, executor: &str, plan: &Plan, work: &Work<'_>) -> Run {
    let state = TempDir::new().expect("a place for the state");
    let output = state.path().join("output");
    let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
    let limits = [plan.time_limit.as_millis() as u64, plan.memory, plan.cases];
    command
        .args([executor, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(TARGET, target.name)
        .env(STATE, state.path())
        .env("RUST_BACKTRACE", "0")
        .env("DOCSEARCH_FUZZ_SEED", plan.seed.to_string())
        .env_remove(INPUT)
        .envs(PLAN.into_iter().zip(limits.map(|limit| limit.to_string())))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&output).expect("a file for its output"));
    match work {
        Work::From(number, time) => {
            command.env(FROM, number.to_string());
            if let Some(time) = time {
                command.env(UNTIL, time.as_millis().to_string());
            }
        }
        Work::Input(file) => {
            command.env(INPUT, file);
        }
    }
    let status = command.status().expect("a process");
    let progress = fs::read_to_string(state.path().join("progress")).unwrap_or_default();
    let mut numbers = progress
        .split(' ')
        .map(|number| number.parse::<u64>().unwrap_or_default());
    let (Some(executions), Some(number), Some(slowest)) = (numbers.next(), numbers.next(), numbers.next()) else {
        panic!("the ignored test {executor} runs no target: {status}");
    };
    let input = fs::read(state.path().join("slowest")).unwrap_or_default();
    let mut run = Run {
        executions,
        slowest: (Duration::from_micros(slowest), input),
        end: None,
    };
    if status.success() && number == DONE {
        return run;
    }
    let output = fs::read(&output).unwrap_or_default();
    run.end = Some(End {
        number,
        input: fs::read(state.path().join("input")).expect("the current input"),
        reason: reason(status, &String::from_utf8_lossy(&output)),
    });
    run
}

fn reason(status: ExitStatus, output: &str) -> String {
    let heading = match (status.code(), status.signal()) {
        (Some(TIMED_OUT), _) => "takes too long",
        (Some(_), _) => "panics",
        (_, Some(signal)) => return format!("ended by signal {signal}\n{}", shortened(output)),
        _ => "ended",
    };
    let place = output.lines().find_map(|line| Some(line.split_once("panicked at ")?.1));
    format!("{heading} {}\n{}", place.unwrap_or_default(), shortened(output))
}

fn shortened(output: &str) -> String {
    output.trim().chars().take(MAX_OUTPUT).collect()
}
