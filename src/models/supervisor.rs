//! The supervisor: a background worker that runs the inference program, restarts it when it ends, and ends it with the
//! server.
//!
//! It needs no database and no shared memory of its own, so it need not be preloaded and works on a standby. It
//! publishes its state in files ([`run_directory`]).

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

/// A program that ran at least this long is restarted at once.
const MIN_UPTIME: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Clients wait for pauses up to this, and report an error for longer ones.
const MAX_HIDDEN_PAUSE: Duration = Duration::from_millis(500);
/// How long the program may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// Longest part of the program's last output that is kept, in bytes.
const LAST_OUTPUT: usize = 1000;

/// The phase of the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// The program has been started, or is about to be.
    Started,
    /// It has failed too often, and is started again after a pause.
    Failed,
}

/// The state that the supervisor publishes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    /// The process id of the program.
    pub(crate) pid: Option<i32>,
    pub(crate) restarts: u32,
    pub(crate) last_error: Option<String>,
}

/// The last state that the supervisor has published, if there is one.
pub(crate) fn state() -> Option<State> {
    serde_json::from_slice(&fs::read(STATE).ok()?).ok()
}

/// Starts a supervisor; if there is one already, the new one ends.
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

/// Requests that the supervisor restarts the program.
pub(crate) fn request_restart() -> io::Result<()> {
    private_file(RESTART, true)?;
    match run_directory::supervisor() {
        Some(supervisor) => Ok(kill(supervisor, Signal::SIGHUP)?),
        None => Ok(()),
    }
}

/// Whether the supervisor has not read a request yet.
pub(crate) fn restart_is_pending() -> bool {
    fs::exists(RESTART).unwrap_or_default() && run_directory::supervisor().is_some()
}

/// The entry point of the background worker. When it returns, the server does not restart it.
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

/// How the program is started. If it changes, a new program has to be started.
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
        // The program stays in this worker's process group, which an immediate shutdown signals.
        let child = command
            .env("ORT_DISABLE_TELEMETRY", "1")
            // Without it, the output of an abort for lack of memory would not be readable.
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
            last_output: String::new(),
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

/// Why the supervisor stops waiting for the program.
enum End {
    /// The server shuts down.
    Shutdown,
    /// A restart was requested, or other settings require it.
    Restart,
    /// The program has exited.
    Ended(ExitStatus),
}

#[derive(Default)]
struct Supervisor {
    restarts: u32,
    /// Number of times in a row that the program has exited early.
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
                    if !self.supervise(program, &launch, settings) {
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

    /// Waits for the end of the program; false if the supervisor has to end, too.
    fn supervise(&mut self, mut program: Program, launch: &Launch, settings: ServiceSettings) -> bool {
        self.publish(Phase::Started, Some(program.pid()));
        let instructions = docsearch_inference::instructions().map_or_else(String::new, |name| format!(", {name}"));
        log!(
            "pg_docsearch: started the inference program (process {}{instructions})",
            program.pid()
        );
        match self.watch(&mut program, launch, settings) {
            End::Shutdown => {
                program.stop();
                return false;
            }
            End::Restart => {
                program.stop();
                self.failures = 0;
                log!("pg_docsearch: restarting the inference program");
            }
            End::Ended(status) => {
                if program.begun.elapsed() >= MIN_UPTIME {
                    self.failures = 0;
                }
                let output = program.last_output.trim();
                let label = if output.is_empty() { "" } else { "; its last output: " };
                self.failed(format!("the inference program ended with {status}{label}{output}"));
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
                    program.send(&wanted);
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

    /// Waits before the next attempt; false if the supervisor has to end. Changed settings end the pause.
    fn pause(&mut self) -> bool {
        let pause = pause_after(self.failures);
        if pause > MAX_HIDDEN_PAUSE {
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

    /// Publishes the state. If that fails, clients wait longer than they would have to.
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

/// The pause after a number of failures: none after the first, then twice as long each time.
fn pause_after(failures: u32) -> Duration {
    match failures.checked_sub(2) {
        None => Duration::ZERO,
        Some(more) => FIRST_PAUSE.saturating_mul(1 << more.min(16)).min(LONGEST_PAUSE),
    }
}

/// Reloads the configuration of the server.
fn reload() {
    // SAFETY: as every process of the server does after SIGHUP.
    unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
}

/// The running program.
struct Program {
    child: Child,
    begun: Instant,
    last_output: String,
}

impl Program {
    fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Sends changed settings. A program that has just exited gets them when it is started again.
    fn send(&mut self, settings: &ServiceSettings) {
        if let (Some(stdin), Ok(line)) = (&mut self.child.stdin, serde_json::to_string(settings)) {
            let _ = writeln!(stdin, "{line}");
        }
    }

    /// Waits for an event, and writes the program's output to the server log.
    fn listen(&mut self, wait: Duration) {
        let Some(stderr) = &mut self.child.stderr else {
            // Its output has ended: it is about to exit.
            return latch::wait(None, Duration::from_millis(10));
        };
        latch::wait(Some((stderr.as_fd(), Readiness::Read)), wait);
        let mut output = [0; LAST_OUTPUT];
        match stderr.read(&mut output) {
            Ok(0) => self.child.stderr = None,
            Ok(length) => {
                let output = String::from_utf8_lossy(&output[..length]);
                log!("pg_docsearch: output of the inference program: {}", output.trim_end());
                self.last_output.push_str(&output);
                let excess = self.last_output.len().saturating_sub(LAST_OUTPUT);
                self.last_output.drain(..self.last_output.ceil_char_boundary(excess));
            }
            Err(_) => {}
        }
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Ends the program; dropping it kills it if that takes too long.
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
