//! The reader process: this program, with limited memory and time.

use std::env;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use nix::sys::resource::{Resource, setrlimit};

use super::{Extract, extraction};
use crate::error::Error;

/// The hidden command that reads a file from standard input. Programs that read PDF implement it by [`answer`].
pub const COMMAND: &str = "read-pdf";
/// Limits of memory and processor time for a file.
const MEMORY_BYTES: u64 = 3 << 30;
const SECONDS: u64 = 120;
/// Maximum bytes of a file, which the options allow.
const MAX_INPUT_BYTES: u64 = 200_000_000;
/// Maximum bytes of the result.
const MAX_OUTPUT_BYTES: u64 = 256 << 20;

/// The result of the process: an extract, or an error.
type Answer = Result<Extract, String>;

/// Reads `bytes` in a process.
pub(super) fn extract(bytes: &[u8]) -> Answer {
    // A test binary cannot be started as the program.
    if cfg!(test) {
        return extraction::extract(bytes);
    }
    let failed = |error: io::Error| format!("cannot start a process to read it: {error}");
    let program = env::current_exe().map_err(failed)?;
    let mut process = Command::new(program)
        .arg(COMMAND)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let (input, output) = (process.stdin.take(), process.stdout.take());
    let answer = thread::scope(|scope| {
        // The process may end before it has read everything.
        scope.spawn(move || input.map(|mut input| input.write_all(bytes)));
        let mut answer = Vec::new();
        let read = output.map(|output| output.take(MAX_OUTPUT_BYTES).read_to_end(&mut answer));
        match read {
            Some(Ok(_)) => answer,
            _ => Vec::new(),
        }
    });
    let status = process.wait().map_err(failed)?;
    match serde_json::from_slice(&answer) {
        Ok(answer) if status.success() => answer,
        _ => Err("the reader ran out of memory or time, or crashed".to_owned()),
    }
}

/// Reads the file from standard input, and writes the result to standard output.
pub fn answer() -> Result<(), Error> {
    for (resource, limit) in [
        (Resource::RLIMIT_AS, MEMORY_BYTES),
        (Resource::RLIMIT_CPU, SECONDS),
        (Resource::RLIMIT_CORE, 0),
    ] {
        setrlimit(resource, limit, limit)?;
    }
    let mut bytes = Vec::new();
    io::stdin().take(MAX_INPUT_BYTES).read_to_end(&mut bytes)?;
    let answer: Answer = extraction::extract(&bytes);
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, &answer).map_err(io::Error::from)?;
    Ok(output.flush()?)
}
