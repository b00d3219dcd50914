//! The supervisor: a background worker that runs the inference program, starts it again when it
//! ends, and ends it with the server.
//!
//! It needs no database and no shared memory of its own, so nothing has to be preloaded and it
//! works on a standby. What others have to know of it stands in files ([`run_directory`]).

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use docsearch_inference::{Readiness, ServiceSettings};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pgrx::bgworkers::{BackgroundWorker, BackgroundWorkerBuilder, BgWorkerStartTime, SignalWakeFlags};
use pgrx::pg_sys;
use pgrx::prelude::*;
use serde::{Deserialize, Serialize};

use crate::models::run_directory::{self, DIRECTORY, Lock, RESTART, SOCKET, STATE, private_file};
use crate::postgres::{latch, library};
use crate::settings;

/// A program that ran so long is started again at once when it ends.
const STEADY: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Pauses up to this are waited for by clients; longer ones they are told of.
const UNNOTICED_PAUSE: Duration = Duration::from_millis(500);
/// How long the program may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// How much of what the program says last is kept.
const LAST_WORDS: usize = 1000;

/// What the supervisor is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// The program was started, or will be in a moment.
    Started,
    /// It has failed too often and is tried again after a while.
    Failed,
}

/// What the supervisor tells others.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    /// Of the program.
    pub(crate) pid: Option<i32>,
    pub(crate) restarts: u32,
    pub(crate) last_error: Option<String>,
}

/// The state that the supervisor has left last, if there is one.
pub(crate) fn state() -> Option<State> {
    serde_json::from_slice(&fs::read(STATE).ok()?).ok()
}

/// Asks the server for a supervisor. If there is one by then, the new one gives way.
pub(crate) fn wake() -> std::result::Result<(), String> {
    // SAFETY: a flag that the server sets once, when a process starts.
    if !unsafe { pg_sys::IsUnderPostmaster } {
        return Err("there is no background worker in single-user mode".to_owned());
    }
    match worker().load_dynamic() {
        Ok(_) => Ok(()),
        Err(_) => Err("no background worker slot is free for its supervisor".to_owned()),
    }
}

/// Has the server start the supervisor with itself. Called while libraries are preloaded.
pub(crate) fn start_with_server() {
    worker().load();
}

fn worker() -> BackgroundWorkerBuilder {
    BackgroundWorkerBuilder::new("docsearch inference supervisor")
        .set_type("docsearch inference supervisor")
        .set_library(library::NAME)
        .set_function("docsearch_supervisor")
        .set_start_time(BgWorkerStartTime::ConsistentState)
        .set_restart_time(Some(Duration::from_secs(10)))
}

/// Asks the supervisor to end the program and to start the next one.
pub(crate) fn request_restart() -> io::Result<()> {
    private_file(RESTART, true)?;
    match run_directory::supervisor() {
        Some(supervisor) => Ok(kill(supervisor, Signal::SIGHUP)?),
        None => Ok(()),
    }
}

/// Whether the supervisor has not heard of a request yet.
pub(crate) fn restart_is_pending() -> bool {
    fs::exists(RESTART).unwrap_or_default() && run_directory::supervisor().is_some()
}

/// The entry point of the background worker. Returning ends it for good, until it is asked for
/// again.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn docsearch_supervisor(_argument: pg_sys::Datum) {
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP | SignalWakeFlags::SIGTERM);
    match Lock::take() {
        Ok(Some(_lock)) => {
            let _ = fs::remove_file(RESTART);
            Supervisor::default().run();
            let _ = fs::remove_file(STATE);
        }
        Ok(None) => {}
        Err(problem) => warning!("pg_docsearch cannot use the directory {DIRECTORY}: {problem}"),
    }
}

/// How the program is started. What differs between two of these takes a new program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Launch {
    program: PathBuf,
    runtime: PathBuf,
    memory_limit: Option<u64>,
}

impl Launch {
    fn of_settings() -> Self {
        Self {
            program: settings::inference_program(),
            runtime: settings::runtime_path(),
            memory_limit: settings::memory_limit(),
        }
    }

    fn start(&self, settings: &ServiceSettings) -> io::Result<Program> {
        let mut command = Command::new(&self.program);
        command
            .arg("serve")
            .args(["--socket", SOCKET])
            .arg("--runtime")
            .arg(&self.runtime)
            .args(["--threads", &settings.threads.to_string()])
            .args(["--cache-bytes", &settings.cache_bytes.to_string()])
            .args(["--text-limit-ms", &settings.text_limit_ms.to_string()]);
        if let Some(bytes) = self.memory_limit {
            command.args(["--memory-limit", &bytes.to_string()]);
        }
        // The program stays in this worker's process group: an immediate shutdown signals that.
        let child = command
            .env("ORT_DISABLE_TELEMETRY", "1")
            // An abort for want of memory shall leave legible last words.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(stderr) = &child.stderr {
            fcntl(stderr, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        Ok(Program {
            child,
            begun: Instant::now(),
            last_words: String::new(),
        })
    }
}

fn service_settings() -> ServiceSettings {
    ServiceSettings {
        threads: settings::threads(),
        cache_bytes: settings::query_cache_bytes(),
        text_limit_ms: settings::inference_text_limit().as_millis() as u64,
    }
}

/// Why the supervisor no longer waits for the program.
enum End {
    /// The server shuts down.
    Shutdown,
    /// Somebody asked for it, or other settings do.
    Restart,
    /// The program has ended by itself.
    Ended(ExitStatus),
}

#[derive(Default)]
struct Supervisor {
    restarts: u32,
    /// Times that the program has ended soon, one after the other.
    failures: u32,
    last_error: Option<String>,
}

impl Supervisor {
    fn run(&mut self) {
        while !BackgroundWorker::sigterm_received() {
            let launch = Launch::of_settings();
            let settings = service_settings();
            match launch.start(&settings) {
                Ok(program) => {
                    if !self.look_after(program, &launch, settings) {
                        return;
                    }
                }
                Err(problem) => {
                    let program = launch.program.display();
                    self.failed(format!("could not start program \"{program}\": {problem}"));
                    self.failures = self.failures.max(5);
                }
            }
            if !self.pause() {
                return;
            }
        }
    }

    /// Returns when the program has ended; false if the supervisor has to end, too.
    fn look_after(&mut self, mut program: Program, launch: &Launch, settings: ServiceSettings) -> bool {
        self.publish(Phase::Started, Some(program.pid()));
        match self.watch(&mut program, launch, settings) {
            End::Shutdown => {
                program.stop();
                return false;
            }
            End::Restart => {
                program.stop();
                self.failures = 0;
                log!("pg_docsearch: the inference program is started again");
            }
            End::Ended(status) => {
                if program.begun.elapsed() >= STEADY {
                    self.failures = 0;
                }
                let words = program.last_words.trim();
                let said = if words.is_empty() { "" } else { ", its last words: " };
                self.failed(format!("the inference program ended with {status}{said}{words}"));
            }
        }
        self.restarts += 1;
        true
    }

    fn watch(&mut self, program: &mut Program, launch: &Launch, mut settings: ServiceSettings) -> End {
        loop {
            if BackgroundWorker::sigterm_received() {
                return End::Shutdown;
            }
            if BackgroundWorker::sighup_received() {
                reload();
                if fs::remove_file(RESTART).is_ok() || Launch::of_settings() != *launch {
                    return End::Restart;
                }
                let wanted = service_settings();
                if wanted != settings {
                    program.tell(&wanted);
                    settings = wanted;
                }
            }
            program.listen(Duration::from_secs(60));
            if let Some(status) = program.ended() {
                return End::Ended(status);
            }
        }
    }

    fn failed(&mut self, problem: String) {
        warning!("pg_docsearch: {problem}");
        self.failures += 1;
        self.last_error = Some(problem);
    }

    /// Waits before the next attempt; false if the supervisor has to end. Other settings are a
    /// reason to try at once.
    fn pause(&mut self) -> bool {
        let pause = pause_after(self.failures);
        if pause > UNNOTICED_PAUSE {
            self.publish(Phase::Failed, None);
        }
        let end = Instant::now() + pause;
        while !BackgroundWorker::sigterm_received() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            latch::wait(None, left);
            if BackgroundWorker::sighup_received() {
                reload();
                self.failures = 0;
                self.publish(Phase::Started, None);
                let _ = fs::remove_file(RESTART);
                return true;
            }
        }
        false
    }

    /// Tells others; if that fails they wait longer than they would have to.
    fn publish(&self, phase: Phase, pid: Option<i32>) {
        let state = State {
            phase,
            pid,
            restarts: self.restarts,
            last_error: self.last_error.clone(),
        };
        let written = serde_json::to_vec(&state).map_err(io::Error::from).and_then(|state| {
            let draft = format!("{STATE}.new");
            private_file(&draft, true)?.write_all(&state)?;
            fs::rename(draft, STATE)
        });
        if let Err(problem) = written {
            warning!("pg_docsearch cannot write {STATE}: {problem}");
        }
    }
}

/// None after the first failure, then twice as long each time.
fn pause_after(failures: u32) -> Duration {
    match failures.checked_sub(2) {
        None => Duration::ZERO,
        Some(more) => FIRST_PAUSE.saturating_mul(1 << more.min(16)).min(LONGEST_PAUSE),
    }
}

/// Takes over what was changed in the server's configuration.
fn reload() {
    // SAFETY: the way of every process of the server after SIGHUP.
    unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
}

/// The program while it runs.
struct Program {
    child: Child,
    begun: Instant,
    last_words: String,
}

impl Program {
    fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Sends other settings; a program that has ended meanwhile gets them at its start.
    fn tell(&mut self, settings: &ServiceSettings) {
        if let (Some(stdin), Ok(line)) = (&mut self.child.stdin, serde_json::to_string(settings)) {
            let _ = writeln!(stdin, "{line}");
        }
    }

    /// Waits for something to happen, and puts what the program says into the server log.
    fn listen(&mut self, wait: Duration) {
        let Some(stderr) = &mut self.child.stderr else {
            // It has nothing more to say: it is about to end.
            return latch::wait(None, Duration::from_millis(10));
        };
        latch::wait(Some((stderr.as_fd(), Readiness::Read)), wait);
        let mut words = [0; LAST_WORDS];
        match stderr.read(&mut words) {
            Ok(0) => self.child.stderr = None,
            Ok(length) => {
                let words = String::from_utf8_lossy(&words[..length]);
                log!("pg_docsearch: the inference program says: {}", words.trim_end());
                self.last_words.push_str(&words);
                let excess = self.last_words.len().saturating_sub(LAST_WORDS);
                self.last_words.drain(..self.last_words.ceil_char_boundary(excess));
            }
            Err(_) => {}
        }
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Ends the program; dropping it then uses force if it takes too long.
    fn stop(mut self) {
        let _ = kill(Pid::from_raw(self.pid()), Signal::SIGTERM);
        let end = Instant::now() + GRACE;
        while Instant::now() < end {
            if self.ended().is_some() {
                return;
            }
            latch::wait(None, Duration::from_millis(10));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.ended().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
