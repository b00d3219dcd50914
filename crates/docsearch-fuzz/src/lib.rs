//! Runs parsers with hostile inputs, on stable Rust.
//!
//! A crate names its parsers as [`Target`]s and has two tests: one that calls [`check`], and an ignored one that calls
//! [`execute`], which is what the processes do that `check` starts. Each target runs in a process of its own, on a
//! thread with the stack of a backend and with bounded memory, and notes every input before it runs it: whatever ends
//! the process, the input is there.
//!
//! Inputs are the files of a corpus, openings of the format repeated up to 200,000 times, and mutations of both. There
//! is no feedback of coverage, which stable Rust does not have: the corpus and the words of a [`Format`] lead instead.

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

/// A parser, or whatever else takes what strangers write.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, unique in the crate.
    pub name: &'static str,
    /// What its inputs look like.
    pub format: Format,
    /// Greatest size of an input, in bytes.
    pub max_bytes: usize,
    /// Takes an input; panics if something is wrong with what came of it.
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

    /// The same with inputs of up to so many bytes.
    pub const fn up_to(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }
}

/// An input as text: what is no UTF-8 is replaced.
pub fn text(input: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(input)
}
