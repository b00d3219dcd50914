//! Runs the program `git` so that an untrusted repository cannot run programs on this machine.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::process::error::Error;
use crate::process::interrupt::Interrupt;

/// A git process without output for this long is stopped.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(120);
/// Poll interval.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Number of bytes of standard error that are kept, from the end.
const MAX_ERROR_BYTES: usize = 16 << 10;
/// Maximum size of output that is read into memory, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 << 20;
/// First version that takes configuration from the environment, where other users cannot see it in the process list.
const MIN_VERSION: (u32, u32) = (2, 31);

/// Overrides of a repository's configuration. Programs in configuration have to be overridden one by one: these are
/// the ones that reading could start, such as hooks, file system monitors and signature checks.
const OVERRIDES: [(&str, &str); 13] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.alternateRefsCommand", "true"),
    ("core.quotePath", "false"),
    ("log.showSignature", "false"),
    ("log.mailmap", "false"),
    ("log.follow", "false"),
    ("log.showRoot", "true"),
    ("diff.renames", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("gc.autoDetach", "false"),
    ("maintenance.autoDetach", "false"),
    ("advice.detachedHead", "false"),
];

/// Variables that could direct git to another repository, or make it run a program.
const REMOVED_VARIABLES: [&str; 16] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_PAGER",
    "GIT_TRACE",
];

/// Where a git process may read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// This machine only: missing objects of a partial clone are not fetched.
    Local,
    Network,
}

/// Why git returned no result.
#[derive(Debug)]
pub(super) enum GitFailure {
    /// The error message of git.
    Message(String),
    Fatal(Error),
}

impl From<GitFailure> for Error {
    fn from(failure: GitFailure) -> Self {
        match failure {
            GitFailure::Message(text) => Self::Usage(format!("git: {text}")),
            GitFailure::Fatal(error) => error,
        }
    }
}

/// Runs git in a folder.
#[derive(Debug, Clone)]
pub(super) struct Git {
    folder: PathBuf,
    access: Access,
    interrupt: Interrupt,
    /// Configuration for this instance, which may contain a password.
    configuration: Vec<(String, String)>,
}

impl Git {
    pub(super) fn new(folder: &Path, access: Access, interrupt: &Interrupt) -> Self {
        Self {
            folder: folder.to_owned(),
            access,
            interrupt: interrupt.clone(),
            configuration: Vec::new(),
        }
    }

    pub(super) fn with(mut self, key: &str, value: &str) -> Self {
        self.configuration.push((key.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Fails if git is missing or too old.
    pub(super) fn check(&self) -> Result<(), Error> {
        let answer = self.output(&["version"]).map_err(Error::from)?;
        match version(&answer) {
            Some(version) if version < MIN_VERSION => Err(Error::Usage(format!(
                "git {}.{} is too old\nHINT:  Install git {}.{} or newer.",
                version.0, version.1, MIN_VERSION.0, MIN_VERSION.1
            ))),
            _ => Ok(()),
        }
    }

    /// Runs git and returns its output, without trailing newlines.
    pub(super) fn output<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<String, GitFailure> {
        let mut answer = Vec::new();
        self.read(arguments, Vec::new(), |output| read_limited(output, &mut answer))?;
        let mut text = String::from_utf8_lossy(&answer).into_owned();
        text.truncate(text.trim_end_matches('\n').len());
        Ok(text)
    }

    /// Runs git with `input`, and passes its output to `take`, which need not read all of it.
    pub(super) fn read<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: Vec<u8>,
        take: impl FnOnce(&mut dyn Read) -> io::Result<()>,
    ) -> Result<(), GitFailure> {
        let mut child = self.command(arguments).spawn().map_err(not_started)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let last_output = LastOutput::default();
        let child = Mutex::new(child);
        let (done, is_done) = channel();
        let (taken, stderr_text, ending) = thread::scope(|scope| {
            let writer = scope.spawn(move || {
                if let Some(mut stdin) = stdin {
                    // If git has exited, standard error has the reason.
                    stdin.write_all(&input).ok();
                }
            });
            let errors = scope.spawn(|| stderr.map(|stderr| last_bytes(last_output.monitor(stderr))));
            let watchdog = {
                let (child, last_output) = (&child, &last_output);
                scope.spawn(move || self.watch(child, last_output, &is_done))
            };
            let (taken, is_whole) = match stdout {
                Some(stdout) => {
                    let mut stdout = last_output.monitor(stdout);
                    let taken = take(&mut stdout);
                    (taken, matches!(stdout.read(&mut [0]), Ok(0)))
                }
                None => (Ok(()), true),
            };
            if taken.is_err() || !is_whole {
                kill(&child);
            }
            writer.join().ok();
            let stderr_text = errors.join().ok().flatten().unwrap_or_default();
            drop(done);
            let ending = watchdog.join().unwrap_or(ProcessEnd::Exited);
            (taken.map(|()| is_whole), stderr_text, ending)
        });
        let status = child
            .into_inner()
            .map_err(|_| io::Error::other("the git process is lost"))
            .and_then(|mut child| child.wait());
        match ending {
            ProcessEnd::Interrupted => return Err(GitFailure::Fatal(Error::Interrupted)),
            ProcessEnd::Silent => {
                return Err(GitFailure::Fatal(Error::Usage(format!(
                    "git sent no output for {} s and was stopped\nHINT:  Check that the host can be reached, and that it does not \
                     wait for a password.",
                    OUTPUT_TIMEOUT.as_secs()
                ))));
            }
            ProcessEnd::Exited => {}
        }
        let is_whole = taken.map_err(|error| GitFailure::Fatal(Error::Usage(format!("git: {error}"))))?;
        let succeeded = status.is_ok_and(|status| status.success());
        // A process that was killed because no more output was needed has succeeded.
        if succeeded || !is_whole {
            return Ok(());
        }
        Err(GitFailure::Message(reason(&stderr_text)))
    }

    fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = Command::new("git");
        command
            .arg("--no-pager")
            .arg("-C")
            .arg(&self.folder)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Its child processes, such as ssh, are killed with it.
            .process_group(0);
        for name in REMOVED_VARIABLES {
            command.env_remove(name);
        }
        let (protocols, no_fetch) = match self.access {
            Access::Local => ("", "1"),
            Access::Network => ("file:git:http:https:ssh", "0"),
        };
        command
            .env("GIT_ALLOW_PROTOCOL", protocols)
            .env("GIT_NO_LAZY_FETCH", no_fetch)
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("LC_ALL", "C")
            .env("TZ", "UTC");
        let own = self
            .configuration
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()));
        let mut count = 0;
        for (key, value) in OVERRIDES.into_iter().chain(own) {
            command
                .env(format!("GIT_CONFIG_KEY_{count}"), key)
                .env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
        command
    }

    /// Kills the child on an interrupt, or after a time without output.
    fn watch(&self, child: &Mutex<Child>, last_output: &LastOutput, is_done: &Receiver<()>) -> ProcessEnd {
        while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(POLL_INTERVAL) {
            let ending = if self.interrupt.is_raised() {
                ProcessEnd::Interrupted
            } else if last_output.idle_time() > OUTPUT_TIMEOUT {
                ProcessEnd::Silent
            } else {
                continue;
            };
            kill(child);
            return ending;
        }
        ProcessEnd::Exited
    }
}

/// Reads the whole output, up to a limit.
pub(super) fn read_limited(output: &mut dyn Read, answer: &mut Vec<u8>) -> io::Result<()> {
    output.take(MAX_ANSWER_BYTES).read_to_end(answer)?;
    match output.read(&mut [0])? {
        0 => Ok(()),
        _ => Err(io::Error::other("the output is too long")),
    }
}

enum ProcessEnd {
    Exited,
    Interrupted,
    Silent,
}

fn kill(child: &Mutex<Child>) {
    if let Ok(mut child) = child.lock() {
        // Fails if the process has exited.
        i32::try_from(child.id())
            .ok()
            .and_then(|id| killpg(Pid::from_raw(id), Signal::SIGKILL).ok())
            .or_else(|| child.kill().ok());
    }
}

fn not_started(error: io::Error) -> GitFailure {
    GitFailure::Fatal(Error::Usage(match error.kind() {
        ErrorKind::NotFound => "git is not installed\nHINT:  Install git, or index a folder or an archive.".to_owned(),
        _ => format!("cannot start git: {error}"),
    }))
}

/// The time of the last output.
#[derive(Debug, Clone)]
struct LastOutput(Arc<Mutex<Instant>>);

impl Default for LastOutput {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }
}

impl LastOutput {
    fn monitor<R: Read>(&self, inner: R) -> MonitoredReader<R> {
        MonitoredReader {
            inner,
            last_output: self.clone(),
        }
    }

    fn update(&self) {
        if let Ok(mut last) = self.0.lock() {
            *last = Instant::now();
        }
    }

    fn idle_time(&self) -> Duration {
        self.0.lock().map_or(Duration::ZERO, |last| last.elapsed())
    }
}

struct MonitoredReader<R> {
    inner: R,
    last_output: LastOutput,
}

impl<R: Read> Read for MonitoredReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Also before reading: a slow consumer of the output does not count as silence of git.
        self.last_output.update();
        let read = self.inner.read(buffer);
        self.last_output.update();
        read
    }
}

fn last_bytes(mut from: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..read]);
        if kept.len() > 2 * MAX_ERROR_BYTES {
            kept.drain(..kept.len() - MAX_ERROR_BYTES);
        }
    }
    kept
}

/// The error lines in the standard error of git, without progress.
fn reason(stderr_text: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr_text);
    let lines: Vec<&str> = text
        .split(['\n', '\r'])
        .filter_map(|line| {
            let line = line.trim();
            ["fatal: ", "error: "]
                .iter()
                .find_map(|mark| line.strip_prefix(mark))
                .or_else(|| line.starts_with("remote: ").then_some(line))
        })
        .filter(|line| !line.starts_with("remote: Enumerating") && !line.starts_with("remote: Counting"))
        .collect();
    let lines = match lines.len() {
        0 => text
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .into_iter()
            .collect(),
        count => lines[count.saturating_sub(4)..].to_vec(),
    };
    match lines.is_empty() {
        true => "it failed without a message".to_owned(),
        false => lines.join("; "),
    }
}

/// Major and minor version in `git version 2.47.3`.
fn version(answer: &str) -> Option<(u32, u32)> {
    let mut numbers = answer.split_whitespace().nth(2)?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_error_lines_of_git_are_shown() {
        let stderr_text = b"Cloning\nremote: Counting objects: 5\rremote: Compressing\n\
                     error: RPC failed\nfatal: could not read Username for 'https://x.test': terminal prompts disabled\n";
        assert_eq!(
            reason(stderr_text),
            "remote: Compressing; RPC failed; could not read Username for 'https://x.test': terminal prompts disabled"
        );
        assert_eq!(reason(b"ssh: no route\n\n"), "ssh: no route");
        assert_eq!(reason(b""), "it failed without a message");
    }

    #[test]
    fn version_numbers_of_all_systems_are_parsed() {
        assert_eq!(version("git version 2.47.3"), Some((2, 47)));
        assert_eq!(version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(version("git version 3.0.windows.1"), Some((3, 0)));
        assert_eq!(version("hub"), None);
    }

    #[test]
    fn an_interrupt_kills_git() {
        let place = tempfile::tempdir().unwrap();
        let interrupt = Interrupt::default();
        let git = Git::new(place.path(), Access::Local, &interrupt);
        interrupt.raise();
        let git = git.with("alias.wait", "!sleep 600");
        let started = Instant::now();
        let ended = git.read(&["wait"], Vec::new(), |output| {
            output.read_to_end(&mut Vec::new()).map(drop)
        });
        assert!(matches!(ended, Err(GitFailure::Fatal(Error::Interrupted))), "{ended:?}");
        assert!(started.elapsed() < OUTPUT_TIMEOUT);
    }
}
