//! What goes wrong behind a server, for who runs it.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::process::error::Error;
use crate::terminal::shown;

/// The same is not said again for so long: a database that is away is away for every request.
const QUIET: Duration = Duration::from_secs(60);

/// Tells standard error, which may be a log.
#[derive(Debug, Default)]
pub(super) struct Complaints(Mutex<Option<(String, Instant)>>);

impl Complaints {
    pub(super) fn tell(&self, error: &Error) {
        let text = shown(&error.to_string());
        if self.is_news(&text, Instant::now()) {
            // A server goes on without somebody to complain to.
            writeln!(io::stderr(), "docsearch: {text}").ok();
        }
    }

    fn is_news(&self, text: &str, now: Instant) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((said, when)) = &*last
            && said == text
            && now.duration_since(*when) < QUIET
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
    fn the_same_is_said_once_in_a_while() {
        let (complaints, start) = (Complaints::default(), Instant::now());
        let is_news = |text, seconds| complaints.is_news(text, start + Duration::from_secs(seconds));
        assert!(is_news("away", 0));
        assert!(!is_news("away", 59));
        assert!(is_news("away", 60));
        assert!(is_news("broken", 60));
        assert!(is_news("away", 61));
    }
}
