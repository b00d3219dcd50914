//! Interrupts of long work: every loop over a text calls [`check`] now and then.
//!
//! The extension sets the function that is called: it checks for interrupts of Postgres, and unwinds if the statement
//! was cancelled. No code between calls holds a lock or leaves a value half changed. Elsewhere nothing is called.

use std::cell::Cell;

/// Steps of a loop between two calls: a step takes far less than a microsecond.
const STEPS: u32 = 256;

thread_local! {
    static CHECK: Cell<fn()> = const { Cell::new(nothing) };
}

fn nothing() {}

/// Sets what [`check`] calls on this thread. It may unwind.
pub fn set(check: fn()) {
    CHECK.set(check);
}

/// Ends the work by unwinding if it was cancelled.
pub fn check() {
    CHECK.get()();
}

/// Counts the steps of a loop.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steps(u32);

impl Steps {
    /// Calls [`check`] at every 256th step.
    pub(crate) fn next(&mut self) {
        self.0 += 1;
        if self.0 >= STEPS {
            self.0 = 0;
            check();
        }
    }
}

/// An iterator whose loop can be interrupted.
pub(crate) trait Interruptible: Iterator + Sized {
    /// The same items.
    fn interruptible(self) -> impl Iterator<Item = Self::Item> {
        let mut steps = Steps::default();
        self.inspect(move |_| steps.next())
    }
}

impl<I: Iterator> Interruptible for I {}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::documents::chunk::{ChunkLimits, chunk_document};
    use crate::documents::document::{Document, Shape, render};
    use crate::documents::{definition, keyword, markdown};
    use crate::text::{identifier, token};
    use crate::values::digest;

    fn unwind() {
        std::panic::resume_unwind(Box::new("cancelled"));
    }

    type Work<'a> = (&'static str, Box<dyn Fn() + 'a>);

    fn of_markdown(text: &str) -> [Work<'_>; 5] {
        let words = |text: &str| text.len() / 5;
        let render = move || {
            let document = Document {
                body: text.to_owned(),
                ..Document::default()
            };
            let shape = Shape {
                sections: true,
                metadata: true,
                skip: 0,
                max_chars: Some(100_000),
            };
            drop(render(&document, Some("no-such-place"), shape));
            drop(render(&document, None, shape));
        };
        let chunks = move || drop(chunk_document("T", text, None, &words, &ChunkLimits::default()));
        [
            ("plain_text", Box::new(move || drop(markdown::plain_text(text)))),
            ("entry_share", Box::new(move || _ = markdown::entry_share(text))),
            ("chunk_document", Box::new(chunks)),
            (
                "definitions",
                Box::new(move || drop(definition::definitions("T", text))),
            ),
            ("render", Box::new(render)),
        ]
    }

    fn of_text(text: &str) -> [Work<'_>; 4] {
        [
            ("word_count", Box::new(move || _ = token::word_count(text))),
            ("candidates", Box::new(move || drop(keyword::candidates(text)))),
            ("split", Box::new(move || drop(identifier::split_identifier(text)))),
            ("digest", Box::new(move || drop(digest::digest(&[text])))),
        ]
    }

    /// Each checks for interrupts, and leaves nothing behind if that unwinds. `tests/test_interrupts.py` tests how
    /// soon.
    #[test]
    fn work_that_was_ended_can_be_done_again() {
        let text = "# Heading\n\nSome `code_name` and a [link](x), *em*.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| c | d |\n\n";
        let text = text.repeat(500);
        for (name, work) in of_markdown(&text).into_iter().chain(of_text(&text)) {
            set(unwind);
            let ended = catch_unwind(AssertUnwindSafe(&work));
            set(nothing);
            assert!(ended.is_err(), "{name} never looks");
            work();
        }
    }
}
