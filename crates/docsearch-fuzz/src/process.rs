//! A process that runs a target, seen from the one that starts it.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::child::{DONE, FROM, INPUT, OUT_OF_PATIENCE, PLAN, STATE, TARGET, UNTIL};
use crate::{Plan, Target};

/// Characters of what a process said that are kept.
const SAID: usize = 600;

/// How a process went.
pub(crate) struct Run {
    pub(crate) executions: u64,
    /// The input that took most processor time of those that ended well, and how much.
    pub(crate) slowest: (Duration, Vec<u8>),
    /// What ended it, if anything did before it was done.
    pub(crate) end: Option<End>,
}

pub(crate) struct End {
    /// The number of the input that was under way.
    pub(crate) number: u64,
    pub(crate) input: Vec<u8>,
    pub(crate) reason: String,
}

impl End {
    /// What tells ends apart that have the same cause, most of the time: where it panicked, or the signal.
    pub(crate) fn place(&self) -> &str {
        self.reason.lines().next().unwrap_or_default()
    }
}

/// What a process runs.
pub(crate) enum Work<'a> {
    /// Inputs from a number on, for some time or until there are no more.
    From(u64, Option<Duration>),
    /// This one.
    Input(&'a Path),
}

/// Runs a target by the ignored test `executor` of this program.
pub(crate) fn run(target: &Target, executor: &str, plan: &Plan, work: &Work<'_>) -> Run {
    let state = TempDir::new().expect("a place for the state");
    let said = state.path().join("said");
    let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
    let limits = [plan.patience.as_millis() as u64, plan.memory, plan.cases];
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
        .stderr(File::create(&said).expect("a file for what it says"));
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
    let said = fs::read(&said).unwrap_or_default();
    run.end = Some(End {
        number,
        input: fs::read(state.path().join("input")).expect("the input under way"),
        reason: reason(status, &String::from_utf8_lossy(&said)),
    });
    run
}

fn reason(status: ExitStatus, said: &str) -> String {
    let heading = match (status.code(), status.signal()) {
        (Some(OUT_OF_PATIENCE), _) => "takes too long",
        (Some(_), _) => "panics",
        (_, Some(signal)) => return format!("ended by signal {signal}\n{}", shortened(said)),
        _ => "ended",
    };
    let place = said.lines().find_map(|line| Some(line.split_once("panicked at ")?.1));
    format!("{heading} {}\n{}", place.unwrap_or_default(), shortened(said))
}

fn shortened(said: &str) -> String {
    said.trim().chars().take(SAID).collect()
}
