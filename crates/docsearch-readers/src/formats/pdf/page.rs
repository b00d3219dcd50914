//! What stands on a page.

/// A line as it stands on its page.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Line {
    /// From the top.
    pub(super) y: f64,
    /// Where it begins and ends.
    pub(super) x: f64,
    pub(super) end: f64,
    /// Of the font.
    pub(super) size: f64,
    pub(super) text: String,
    /// How wide every character is, where all are of one width.
    pub(super) pitch: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Page {
    pub(super) number: usize,
    pub(super) height: f64,
    pub(super) lines: Vec<Line>,
}
