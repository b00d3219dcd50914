//! Means of what some calls have.

/// A mean, value by value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Mean {
    sum: f64,
    count: i64,
}

impl Mean {
    /// Adds the value of one call, if it has one.
    pub(super) fn add(&mut self, value: Option<f32>) {
        if let Some(value) = value {
            self.sum += f64::from(value);
            self.count += 1;
        }
    }

    /// The mean; `None` if no call has a value.
    pub(super) fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}
