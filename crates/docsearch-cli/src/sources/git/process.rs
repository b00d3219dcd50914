//! The program `git`, started so that a repository of strangers runs nothing on this machine.

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

/// After which a git that says nothing is ended.
const SILENCE: Duration = Duration::from_secs(120);
/// Between two looks at whether it is to be ended.
const LOOK: Duration = Duration::from_millis(100);
/// Of what git says about errors, its end is kept.
const MAX_ERROR_BYTES: usize = 16 << 10;
/// Bytes of an answer that is kept whole.
const MAX_ANSWER_BYTES: u64 = 64 << 20;
/// The first with configuration in the environment, where neither other users nor a list of processes show it.
const OLDEST: (u32, u32) = (2, 31);

/// What a repository must not decide on. Programs run from its configuration are named there one by one; its hooks,
/// its file system monitor, its checks of signatures and transports by a program are those that reading could start.
const CONFIGURATION: [(&str, &str); 13] = [
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

/// Variables that would lead git to another repository, or have it run something.
const VARIABLES: [&str; 16] = [
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

/// What a run may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// This machine; what a partial clone lacks is not fetched.
    Local,
    Network,
}

/// Why git gave no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// It said why.
    Message(String),
    Fatal(Error),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Message(text) => Self::Usage(format!("git: {text}")),
            Failure::Fatal(error) => error,
        }
    }
}

/// Git in a folder.
#[derive(Debug, Clone)]
pub(super) struct Git {
    folder: PathBuf,
    reach: Reach,
    interrupt: Interrupt,
    /// Configuration of these runs, which may hold a password.
    configuration: Vec<(String, String)>,
}

impl Git {
    pub(super) fn new(folder: &Path, reach: Reach, interrupt: &Interrupt) -> Self {
        Self {
            folder: folder.to_owned(),
            reach,
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

    /// An error if git is not there, or too old.
    pub(super) fn check(&self) -> Result<(), Error> {
        let answer = self.ask(&["version"]).map_err(Error::from)?;
        match version(&answer) {
            Some(version) if version < OLDEST => Err(Error::Usage(format!(
                "git {}.{} is too old\nHINT:  Repositories need git {}.{} or newer.",
                version.0, version.1, OLDEST.0, OLDEST.1
            ))),
            _ => Ok(()),
        }
    }

    /// The answer of git, a short text, without the end of its last line.
    pub(super) fn ask<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<String, Failure> {
        let mut answer = Vec::new();
        self.read(arguments, Vec::new(), |output| whole(output, &mut answer))?;
        let mut text = String::from_utf8_lossy(&answer).into_owned();
        text.truncate(text.trim_end_matches('\n').len());
        Ok(text)
    }

    /// Gives git `input` and its output to `take`, which need not read all of it.
    pub(super) fn read<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: Vec<u8>,
        take: impl FnOnce(&mut dyn Read) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut child = self.command(arguments).spawn().map_err(not_started)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let watched = Watched::default();
        let child = Mutex::new(child);
        let (done, is_done) = channel();
        let (taken, told, ending) = thread::scope(|scope| {
            let writer = scope.spawn(move || {
                if let Some(mut stdin) = stdin {
                    // A git that has gone says why on its standard error.
                    stdin.write_all(&input).ok();
                }
            });
            let errors = scope.spawn(|| stderr.map(|stderr| last_bytes(watched.reading(stderr))));
            let watchman = {
                let (child, watched) = (&child, &watched);
                scope.spawn(move || self.watch(child, watched, &is_done))
            };
            let (taken, is_whole) = match stdout {
                Some(stdout) => {
                    let mut stdout = watched.reading(stdout);
                    let taken = take(&mut stdout);
                    (taken, matches!(stdout.read(&mut [0]), Ok(0)))
                }
                None => (Ok(()), true),
            };
            if taken.is_err() || !is_whole {
                end(&child);
            }
            writer.join().ok();
            let told = errors.join().ok().flatten().unwrap_or_default();
            drop(done);
            let ending = watchman.join().unwrap_or(Ending::Itself);
            (taken.map(|()| is_whole), told, ending)
        });
        let status = child
            .into_inner()
            .map_err(|_| io::Error::other("git is lost"))
            .and_then(|mut child| child.wait());
        match ending {
            Ending::Interrupted => return Err(Failure::Fatal(Error::Interrupted)),
            Ending::Silent => {
                return Err(Failure::Fatal(Error::Usage(format!(
                    "git said nothing for {} s and was ended\nHINT:  Look whether the host can be reached, and whether \
                     it waits for a password.",
                    SILENCE.as_secs()
                ))));
            }
            Ending::Itself => {}
        }
        let is_whole = taken.map_err(|error| Failure::Fatal(Error::Usage(format!("git: {error}"))))?;
        let succeeded = status.is_ok_and(|status| status.success());
        // One that was ended because nobody wanted more has done what it should.
        if succeeded || !is_whole {
            return Ok(());
        }
        Err(Failure::Message(reason(&told)))
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
            // What it starts, such as ssh, ends with it.
            .process_group(0);
        for name in VARIABLES {
            command.env_remove(name);
        }
        let (protocols, no_fetch) = match self.reach {
            Reach::Local => ("", "1"),
            Reach::Network => ("file:git:http:https:ssh", "0"),
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
        for (key, value) in CONFIGURATION.into_iter().chain(own) {
            command
                .env(format!("GIT_CONFIG_KEY_{count}"), key)
                .env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
        command
    }

    /// Ends the child if the user wants to, or if it says nothing for too long.
    fn watch(&self, child: &Mutex<Child>, watched: &Watched, is_done: &Receiver<()>) -> Ending {
        while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(LOOK) {
            let ending = if self.interrupt.is_raised() {
                Ending::Interrupted
            } else if watched.silence() > SILENCE {
                Ending::Silent
            } else {
                continue;
            };
            end(child);
            return ending;
        }
        Ending::Itself
    }
}

/// The whole output of a git, which has a bound.
pub(super) fn whole(output: &mut dyn Read, answer: &mut Vec<u8>) -> io::Result<()> {
    output.take(MAX_ANSWER_BYTES).read_to_end(answer)?;
    match output.read(&mut [0])? {
        0 => Ok(()),
        _ => Err(io::Error::other("the answer is too long")),
    }
}

enum Ending {
    Itself,
    Interrupted,
    Silent,
}

fn end(child: &Mutex<Child>) {
    if let Ok(mut child) = child.lock() {
        // One that has ended by itself cannot be ended.
        i32::try_from(child.id())
            .ok()
            .and_then(|id| killpg(Pid::from_raw(id), Signal::SIGKILL).ok())
            .or_else(|| child.kill().ok());
    }
}

fn not_started(error: io::Error) -> Failure {
    Failure::Fatal(Error::Usage(match error.kind() {
        ErrorKind::NotFound => "git is not installed\nHINT:  Repositories are read by the program git; install it, or \
                                give a folder or an archive."
            .to_owned(),
        _ => format!("git cannot be started: {error}"),
    }))
}

/// When something was read last.
#[derive(Debug, Clone)]
struct Watched(Arc<Mutex<Instant>>);

impl Default for Watched {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }
}

impl Watched {
    fn reading<R: Read>(&self, inner: R) -> Heard<R> {
        Heard {
            inner,
            watched: self.clone(),
        }
    }

    fn note(&self) {
        if let Ok(mut last) = self.0.lock() {
            *last = Instant::now();
        }
    }

    fn silence(&self) -> Duration {
        self.0.lock().map_or(Duration::ZERO, |last| last.elapsed())
    }
}

struct Heard<R> {
    inner: R,
    watched: Watched,
}

impl<R: Read> Read for Heard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Before, too: what is slow to take the output is no silence of git.
        self.watched.note();
        let read = self.inner.read(buffer);
        self.watched.note();
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

/// What git says is wrong: its lines of errors, without those of progress.
fn reason(told: &[u8]) -> String {
    let text = String::from_utf8_lossy(told);
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
        true => "it failed without a word".to_owned(),
        false => lines.join("; "),
    }
}

/// Major and minor of `git version 2.47.3`.
fn version(answer: &str) -> Option<(u32, u32)> {
    let mut numbers = answer.split_whitespace().nth(2)?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_is_cut_to_what_is_wrong() {
        let told = b"Cloning\nremote: Counting objects: 5\rremote: Compressing\n\
                     error: RPC failed\nfatal: could not read Username for 'https://x.test': terminal prompts disabled\n";
        assert_eq!(
            reason(told),
            "remote: Compressing; RPC failed; could not read Username for 'https://x.test': terminal prompts disabled"
        );
        assert_eq!(reason(b"ssh: no route\n\n"), "ssh: no route");
        assert_eq!(reason(b""), "it failed without a word");
    }

    #[test]
    fn versions_of_every_system_are_read() {
        assert_eq!(version("git version 2.47.3"), Some((2, 47)));
        assert_eq!(version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(version("git version 3.0.windows.1"), Some((3, 0)));
        assert_eq!(version("hub"), None);
    }

    #[test]
    fn a_user_who_ends_it_ends_git() {
        let place = tempfile::tempdir().unwrap();
        let interrupt = Interrupt::default();
        let git = Git::new(place.path(), Reach::Local, &interrupt);
        interrupt.raise();
        let git = git.with("alias.wait", "!sleep 600");
        let started = Instant::now();
        let ended = git.read(&["wait"], Vec::new(), |output| {
            output.read_to_end(&mut Vec::new()).map(drop)
        });
        assert!(matches!(ended, Err(Failure::Fatal(Error::Interrupted))), "{ended:?}");
        assert!(started.elapsed() < SILENCE);
    }
}
