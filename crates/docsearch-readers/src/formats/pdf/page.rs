//! The lines of a page.

/// A piece of a line: text without a wide gap, and its position.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Line {
    /// Distance from the top.
    pub(super) y: f64,
    /// Horizontal start and end.
    pub(super) x: f64,
    pub(super) end: f64,
    /// Font size of most of its letters.
    pub(super) size: f64,
    pub(super) text: String,
    /// The width of all characters, if the font is one of code.
    pub(super) pitch: Option<f64>,
    pub(super) is_bold: bool,
    /// Whether other pieces are beside it.
    pub(super) is_shared: bool,
    /// Whether it begins with the mark of an item, such as a bullet at a distance.
    pub(super) is_item: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Page {
    pub(super) number: usize,
    /// In the order in which they are drawn.
    pub(super) lines: Vec<Line>,
    /// Lines that do not run as most of the page does: labels of figures, watermarks.
    pub(super) turned: Vec<Line>,
}

impl Line {
    /// Whether another piece is on the same line.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        (self.y - other.y).abs() < 0.35 * self.size.max(other.size)
    }

    /// Appends a piece to the right, with the blanks between them.
    pub(super) fn append(&mut self, other: Self) {
        let gap = other.x - self.end;
        let blanks = match (self.pitch, other.pitch) {
            (Some(pitch), Some(_)) => ((gap / pitch.max(0.5)).round() as usize).clamp(1, 40),
            _ => 1,
        };
        if !self.text.ends_with(' ') {
            self.text.push_str(&" ".repeat(blanks));
        }
        self.text.push_str(&other.text);
        self.x = self.x.min(other.x);
        self.end = self.end.max(other.end);
        self.pitch = self.pitch.filter(|_| other.pitch.is_some());
        self.is_bold &= other.is_bold;
        if other.text.chars().count() * 2 > self.text.chars().count() {
            self.size = other.size;
        }
    }
}
