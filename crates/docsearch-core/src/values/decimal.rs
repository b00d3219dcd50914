//! Numbers in JSON in their shortest form.

use serde::{Serialize, Serializer};

/// The shortest decimal number that parses to the same `f32`: 0.93 instead of 0.9300000071525574.
pub(crate) fn decimal<S: Serializer>(number: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(shortest(*number))
}

/// The same for a number that may be missing.
pub(crate) fn optional_decimal<S: Serializer>(number: &Option<f32>, serializer: S) -> Result<S::Ok, S::Error> {
    number.map(shortest).serialize(serializer)
}

fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}
