//! The Markdown that readers write.

pub(crate) mod fence;
pub(crate) mod heading;
pub(crate) mod line_end;
pub(crate) mod markdown_text;
pub(crate) mod target;
pub(crate) mod term;
