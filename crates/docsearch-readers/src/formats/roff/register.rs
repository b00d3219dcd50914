//! Number registers: their values, the steps of `\n+x`, and the formats of `.af`.

use std::fmt;

/// The greatest number with Roman numerals of its own.
const MAX_ROMAN: i64 = 3_999;
const ROMAN: [(i64, &str); 13] = [
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
];
/// Maximum digits of a number with leading zeros.
const MAX_DIGITS: usize = 20;

#[derive(Debug, Default)]
pub(super) struct Register {
    pub(super) value: i64,
    pub(super) step: i64,
    format: Format,
}

#[derive(Debug, Default)]
enum Format {
    #[default]
    Plain,
    /// With at least this number of digits.
    Digits(usize),
    Roman,
    UpperRoman,
    Letters,
    UpperLetters,
}

impl Register {
    pub(super) fn of(value: i64) -> Self {
        Self {
            value,
            ..Self::default()
        }
    }

    /// Changes the format to that of an example: `1`, `001`, `i`, `I`, `a` or `A`.
    pub(super) fn set_format(&mut self, example: &str) {
        self.format = match example {
            "i" => Format::Roman,
            "I" => Format::UpperRoman,
            "a" => Format::Letters,
            "A" => Format::UpperLetters,
            _ if example.bytes().all(|byte| byte.is_ascii_digit()) => Format::Digits(example.len().min(MAX_DIGITS)),
            _ => Format::Plain,
        };
    }

    /// Adds `steps` times the step of the register.
    pub(super) fn advance(&mut self, steps: i64) {
        self.value = self.value.saturating_add(self.step.saturating_mul(steps));
    }
}

impl fmt::Display for Register {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, .. } = *self;
        match self.format {
            Format::Plain => write!(formatter, "{value}"),
            Format::Digits(digits) => write!(formatter, "{value:0digits$}"),
            Format::Roman => formatter.write_str(&roman(value)),
            Format::UpperRoman => formatter.write_str(&roman(value).to_uppercase()),
            Format::Letters => formatter.write_str(&letters(value)),
            Format::UpperLetters => formatter.write_str(&letters(value).to_uppercase()),
        }
    }
}

fn roman(value: i64) -> String {
    if !(1..=MAX_ROMAN).contains(&value) {
        return value.to_string();
    }
    let mut rest = value;
    let mut numerals = String::new();
    for (number, numeral) in ROMAN {
        while rest >= number {
            numerals.push_str(numeral);
            rest -= number;
        }
    }
    numerals
}

/// `a` to `z`, then `aa`.
fn letters(value: i64) -> String {
    let mut rest = value;
    let mut letters = Vec::new();
    while let Ok(number @ 1..) = u64::try_from(rest) {
        let letter = (number - 1) % 26;
        letters.push(char::from(b'a' + letter as u8));
        rest = i64::try_from((number - 1) / 26).unwrap_or(0);
    }
    match letters.is_empty() {
        true => value.to_string(),
        false => letters.into_iter().rev().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: i64, example: &str) -> String {
        let mut register = Register::of(value);
        register.set_format(example);
        register.to_string()
    }

    #[test]
    fn numbers_have_the_format_of_the_example() {
        assert_eq!(shown(7, "1"), "7");
        assert_eq!(shown(7, "001"), "007");
        assert_eq!(shown(-7, "001"), "-07");
        assert_eq!(shown(49, "i"), "xlix");
        assert_eq!(shown(2026, "I"), "MMXXVI");
        assert_eq!(shown(5_000, "i"), "5000");
        assert_eq!(shown(26, "a"), "z");
        assert_eq!(shown(28, "A"), "AB");
        assert_eq!(shown(0, "a"), "0");
        assert_eq!(shown(7, "?"), "7");
    }

    #[test]
    fn steps_stay_within_the_range_of_numbers() {
        let mut register = Register::of(i64::MAX);
        register.step = i64::MAX;
        register.advance(1);
        assert_eq!(register.value, i64::MAX);
    }
}
