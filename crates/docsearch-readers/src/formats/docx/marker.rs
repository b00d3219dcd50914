//! The markers of list items in Markdown.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// A level without an item.
    Missing,
    Bullet,
    Number {
        number: u32,
        /// The sign after the number, in the document and in the text.
        written: char,
        shown: char,
    },
}

impl Marker {
    /// The marker of an item that the document numbers `label`, after the last one of the same level. `None` if
    /// Markdown does not read `label` as a number.
    ///
    /// Markdown counts on by itself: only another sign begins a list that does not continue the one before it.
    pub(super) fn after(last: Option<&Self>, label: &str) -> Option<Self> {
        let written = label.chars().next_back().filter(|sign| ['.', ')'].contains(sign))?;
        let digits = label.strip_suffix(written)?;
        let is_number = (1..=9).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| is_number)?;
        let shown = match last {
            Some(Self::Number {
                number: before,
                written: sign,
                shown,
            }) => {
                let goes_on = number == before + 1 && written == *sign;
                if goes_on { *shown } else { other(*shown) }
            }
            _ => written,
        };
        Some(Self::Number { number, written, shown })
    }

    pub(super) fn width(&self) -> usize {
        self.to_string().len()
    }
}

fn other(sign: char) -> char {
    if sign == '.' { ')' } else { '.' }
}

impl fmt::Display for Marker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => Ok(()),
            Self::Bullet => formatter.write_str("- "),
            Self::Number { number, shown, .. } => write!(formatter, "{number}{shown} "),
        }
    }
}
