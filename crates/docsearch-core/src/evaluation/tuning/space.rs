//! The weights that a tuning varies, and their values.

use std::collections::BTreeMap;

use crate::ranking::weight::{Scale, WEIGHTS, Weight};

/// Values of weights, by name.
pub type Settings = BTreeMap<String, f64>;

/// How far a weight on a logarithmic scale is varied from its default, as a factor.
const FACTOR: f64 = 4.0;
/// Values have this number of decimals: finer steps change no order.
const DECIMALS: f64 = 1000.0;

/// A weight that is varied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dimension {
    row: &'static Weight,
    scale: Scale,
    low: f64,
    high: f64,
}

impl Dimension {
    fn of(row: &'static Weight) -> Option<Self> {
        let scale = row.tuned?;
        let (low, high) = match scale {
            Scale::Linear => (row.min, row.max),
            Scale::Logarithmic => (
                (row.default / FACTOR).max(row.min),
                (row.default.max(1.0) * FACTOR).min(row.max),
            ),
        };
        Some(Self { row, scale, low, high })
    }

    /// The dimensions of all rows that are varied, without those that are `fixed`.
    pub fn all(fixed: impl Fn(&str) -> bool) -> Vec<Self> {
        let rows = WEIGHTS.iter().filter(|row| !fixed(row.name));
        rows.filter_map(Self::of).collect()
    }

    /// Its key in settings.
    pub fn name(&self) -> &'static str {
        self.row.name
    }

    /// The value in settings; the default if they have none.
    pub fn value(&self, settings: &Settings) -> f64 {
        settings.get(self.row.name).copied().unwrap_or(self.row.default)
    }

    /// The settings with this value. The default is no entry.
    #[must_use]
    pub fn with(&self, settings: &Settings, value: f64) -> Settings {
        let mut settings = settings.clone();
        if value == self.row.default {
            settings.remove(self.row.name);
        } else {
            settings.insert(self.row.name.to_owned(), value);
        }
        settings
    }

    /// The value that is this share of the scale away, within the bounds. `None` if that is the same value.
    pub fn moved(&self, value: f64, share: f64) -> Option<f64> {
        let place = (self.place(value) + share).clamp(0.0, 1.0);
        let exact = match self.scale {
            Scale::Linear => self.low + place * (self.high - self.low),
            Scale::Logarithmic => ((1.0 - place) * self.low.ln_1p() + place * self.high.ln_1p()).exp_m1(),
        };
        let rounded = match self.row.is_whole {
            true => exact.round(),
            false => (exact * DECIMALS).round() / DECIMALS,
        };
        let moved = rounded.clamp(self.low, self.high);
        (moved != value).then_some(moved)
    }

    /// How far a value is from the default, as a share of the scale.
    pub fn distance(&self, value: f64) -> f64 {
        (self.place(value) - self.place(self.row.default)).abs()
    }

    /// The place of a value on the scale, 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Logarithmic => (value.ln_1p() - self.low.ln_1p()) / (self.high.ln_1p() - self.low.ln_1p()),
        };
        place.clamp(0.0, 1.0)
    }
}
