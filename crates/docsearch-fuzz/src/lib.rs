//! Runs parsers with hostile inputs, on stable Rust.
//!
//! A crate names its parsers as [`Target`]s and has two tests: one that calls [`check`], and an ignored one that calls
//! [`execute`] in the processes that `check` starts. Each target runs in a process of its own, on a thread with the
//! stack of a backend and with bounded memory. The process writes every input to a file before it runs it, so the input
//! is known whatever ends the process.
//!
//! Inputs are the files of a corpus, openings of the format repeated up to 200,000 times, and mutations of both. Stable
//! Rust has no coverage feedback; the corpus and the words of a [`Format`] guide the search instead.

mod child;
mod format;
mod generator;
mod minimum;
mod mutation;
mod plan;
mod process;
mod supervisor;

pub use child::execute;
pub use format::Format;
pub use plan::Plan;
pub use supervisor::{Finding, Outcome, check, search};

#[cfg(test)]
mod tests;

/// A parser, or other code that reads untrusted input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, unique in the crate.
    pub name: &'static str,
    /// Format of its inputs.
    pub format: Format,
    /// Maximum size of an input, in bytes.
    pub max_bytes: usize,
    /// Runs an input. Panics if the result is wrong.
    pub run: fn(&[u8]),
}

impl Target {
    /// A target with inputs of up to 64 KiB.
    pub const fn new(name: &'static str, format: Format, run: fn(&[u8])) -> Self {
        Self {
            name,
            format,
            max_bytes: 64 * 1024,
            run,
        }
    }

    /// The same target with inputs of up to `bytes` bytes.
    pub const fn up_to(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }
}

/// An input as text; invalid UTF-8 is replaced.
pub fn text(input: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(input)
}
