//! The lines of a page.

/// A line and its position.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Line {
    /// Distance from the top.
    pub(super) y: f64,
    /// Horizontal start and end.
    pub(super) x: f64,
    pub(super) end: f64,
    /// Font size.
    pub(super) size: f64,
    pub(super) text: String,
    /// The width of all characters, if it is the same.
    pub(super) pitch: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Page {
    pub(super) number: usize,
    pub(super) height: f64,
    pub(super) lines: Vec<Line>,
}
