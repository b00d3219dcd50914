//! Fuzz target for token files.

use docsearch_fuzz::{Format, Target, text};

use super::tokens;

pub(crate) const TARGETS: &[Target] = &[Target::new("cli-tokens", Format::LINES, |input| {
    let text = &*text(input);
    if let Ok(found) = tokens::parse(text, "tokens") {
        assert!(found.len() <= text.lines().count());
        tokens::position(found.iter(), text);
    }
})];
