//! Logs errors of a server for its operator.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::process::background_log;
use crate::process::error::Error;
use crate::terminal::sanitize_line;

/// The same error is logged again only after this time: if the database is down, it is down for every request.
const REPEAT_INTERVAL: Duration = Duration::from_secs(60);

/// Writes errors to standard error, which may be a log.
#[derive(Debug, Default)]
pub(super) struct ErrorLog(Mutex<Option<(String, Instant)>>);

impl ErrorLog {
    pub(super) fn write(&self, error: &Error, request: Option<&str>) {
        let text = sanitize_line(&error.to_string());
        if self.is_new(&text, Instant::now()) {
            let request = request.map(|id| format!(" (request {id})")).unwrap_or_default();
            background_log::write_line(format!("docsearch: {text}{request}"));
        }
    }

    fn is_new(&self, text: &str, now: Instant) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((text_before, when)) = &*last
            && text_before == text
            && now.duration_since(*when) < REPEAT_INTERVAL
        {
            return false;
        }
        *last = Some((text.to_owned(), now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_errors_are_logged_once_a_minute() {
        let (log, start) = (ErrorLog::default(), Instant::now());
        let is_new = |text, seconds| log.is_new(text, start + Duration::from_secs(seconds));
        assert!(is_new("away", 0));
        assert!(!is_new("away", 59));
        assert!(is_new("away", 60));
        assert!(is_new("broken", 60));
        assert!(is_new("away", 61));
    }
}
