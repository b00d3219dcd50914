//! The process that runs a target.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};

use crate::generator::Generator;
use crate::{Plan, Target};

/// Stack of the thread that runs a target: the default `max_stack_depth` of a backend.
const STACK: usize = 2 << 20;
/// How often the time limit is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Exit status after an input has exceeded the time limit.
pub(crate) const TIMED_OUT: i32 = 81;
/// Reported as the number of the current input when there are no more.
pub(crate) const DONE: u64 = u64::MAX;

/// Environment variables that configure the process.
pub(crate) const TARGET: &str = "DOCSEARCH_FUZZ_CHILD";
pub(crate) const STATE: &str = "DOCSEARCH_FUZZ_STATE";
pub(crate) const FROM: &str = "DOCSEARCH_FUZZ_FROM";
pub(crate) const UNTIL: &str = "DOCSEARCH_FUZZ_UNTIL";
pub(crate) const INPUT: &str = "DOCSEARCH_FUZZ_INPUT";
pub(crate) const PLAN: [&str; 3] = [
    "DOCSEARCH_FUZZ_PATIENCE",
    "DOCSEARCH_FUZZ_MEMORY",
    "DOCSEARCH_FUZZ_CASES",
];

/// Runs one target and exits, if [`check`](crate::check) has started this process for that.
pub fn execute(targets: &[Target]) {
    let Ok(name) = env::var(TARGET) else { return };
    let target = *targets
        .iter()
        .find(|target| target.name == name)
        .expect("a known target");
    let [time_limit, memory, cases] = PLAN.map(|name| variable(name).expect("the rest of the plan"));
    let plan = Plan {
        time_limit: Duration::from_millis(time_limit),
        memory,
        cases,
        ..Plan::from_environment()
    };
    setrlimit(Resource::RLIMIT_AS, plan.memory, plan.memory).expect("a limit of memory");
    setrlimit(Resource::RLIMIT_CORE, 0, 0).expect("no core files");
    let state = Arc::new(State::open(&PathBuf::from(
        env::var_os(STATE).expect("a place for the state"),
    )));
    let watched = Arc::clone(&state);
    let time_limit = plan.time_limit;
    let worker = thread::Builder::new()
        .name(format!("fuzz {name}"))
        .stack_size(STACK)
        .spawn(move || work(&target, &plan, &state))
        .expect("a thread");
    watched.watch(time_limit, || worker.is_finished());
    let status = match worker.join() {
        Ok(()) => watched.note(DONE, &[]).is_err(),
        Err(_) => true,
    };
    process::exit(i32::from(status));
}

fn variable(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

fn work(target: &Target, plan: &Plan, state: &State) {
    if let Some(file) = env::var_os(INPUT) {
        let input = fs::read(file).expect("the input to run");
        return state.run(0, &input, target.run);
    }
    let generator = Generator::new(target, plan);
    let until = variable(UNTIL).map(|millis| Instant::now() + Duration::from_millis(millis));
    for number in variable(FROM).unwrap_or(0).. {
        if until.is_some_and(|until| Instant::now() >= until) {
            return;
        }
        let Some(input) = generator.input(number) else { return };
        state.run(number, &input, target.run);
    }
}

/// Files in which the supervisor sees the current input and the progress.
struct State {
    input: File,
    progress: File,
    executions: AtomicU64,
    /// Processor time of the slowest input, in microseconds.
    slowest: AtomicU64,
    folder: PathBuf,
}

impl State {
    fn open(folder: &Path) -> Self {
        let open = |name| File::create(folder.join(name)).expect("a file for the state");
        Self {
            input: open("input"),
            progress: open("progress"),
            executions: AtomicU64::new(0),
            slowest: AtomicU64::new(0),
            folder: folder.to_owned(),
        }
    }

    fn run(&self, number: u64, input: &[u8], target: fn(&[u8])) {
        self.note(number, input).expect("a disk with room for the state");
        let begun = processor_time();
        target(input);
        let time = processor_time().saturating_sub(begun).as_micros() as u64;
        if self.slowest.fetch_max(time, Ordering::Relaxed) < time {
            fs::write(self.folder.join("slowest"), input).expect("a disk with room for the slowest input");
        }
        self.executions.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the current input and its number, the number of executions, and the time of the slowest input.
    fn note(&self, number: u64, input: &[u8]) -> io::Result<()> {
        self.input.set_len(input.len() as u64)?;
        self.input.write_all_at(input, 0)?;
        let done = self.executions.load(Ordering::Relaxed);
        let slowest = self.slowest.load(Ordering::Relaxed);
        let progress = format!("{done:020} {number:020} {slowest:020}");
        self.progress.write_all_at(progress.as_bytes(), 0)
    }

    /// Ends the process if one input takes more processor time than `time_limit`.
    fn watch(&self, time_limit: Duration, is_done: impl Fn() -> bool) {
        let mut last = (0, processor_time());
        while !is_done() {
            thread::sleep(CHECK_INTERVAL);
            let executions = self.executions.load(Ordering::Relaxed);
            let now = processor_time();
            if executions != last.0 {
                last = (executions, now);
            } else if now.saturating_sub(last.1) > time_limit {
                eprintln!(
                    "an input took more than {} s of processor time",
                    time_limit.as_secs_f32()
                );
                process::exit(TIMED_OUT);
            }
        }
    }
}

fn processor_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the use of this process");
    let time = usage.user_time();
    Duration::new(
        time.tv_sec().unsigned_abs(),
        time.tv_usec().unsigned_abs() as u32 * 1000,
    )
}
