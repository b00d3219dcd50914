//! The position of a block in a page.

/// The position of blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    /// Level of the heading above them.
    pub(super) level: usize,
    /// Whether terms become headings; not in an item, a cell or a quotation.
    pub(super) allows_headings: bool,
    /// In the section of a manual page that shows the syntax of a command.
    pub(super) is_synopsis: bool,
    pub(super) depth: usize,
}

impl Scope {
    /// Below the title of the page.
    pub(super) fn page() -> Self {
        Self {
            level: 1,
            allows_headings: true,
            is_synopsis: false,
            depth: 0,
        }
    }

    pub(super) fn below(self, level: usize) -> Self {
        Self {
            level,
            depth: self.depth + 1,
            ..self
        }
    }

    /// Inside an item, a cell or a quotation.
    pub(super) fn enclosed(self) -> Self {
        Self {
            allows_headings: false,
            depth: self.depth + 1,
            ..self
        }
    }
}
