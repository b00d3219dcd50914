//! Whether the database answers, for those who ask again and again.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// For the database to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// For how long an answer is the answer to everybody.
const FRESH: Duration = Duration::from_secs(1);

/// What the database said last. It is asked by one at a time.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<Option<(Instant, bool)>>);

impl Health {
    /// Whether the database answers, or did a moment ago.
    pub(super) async fn is_good<E>(&self, ask: impl Future<Output = Result<(), E>>) -> bool {
        self.at(Instant::now, ask).await
    }

    async fn at<E>(&self, clock: impl Fn() -> Instant, ask: impl Future<Output = Result<(), E>>) -> bool {
        let mut last = self.0.lock().await;
        if let Some((when, answers)) = *last
            && clock().duration_since(when) < FRESH
        {
            return answers;
        }
        let answers = matches!(timeout(PATIENCE, ask).await, Ok(Ok(())));
        *last = Some((clock(), answers));
        answers
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::ready;

    use super::*;

    #[tokio::test]
    async fn the_database_is_asked_once_for_all_who_want_to_know() {
        let (health, start) = (Health::default(), Instant::now());
        let asked = Cell::new(0);
        let look = async |passed: u64, answer: Result<(), ()>| {
            let now = start + Duration::from_millis(passed);
            let ask = async {
                asked.set(asked.get() + 1);
                answer
            };
            health.at(|| now, ask).await
        };
        assert!(look(0, Ok(())).await);
        assert!(look(999, Err(())).await);
        assert_eq!(asked.get(), 1);
        assert!(!look(1000, Err(())).await);
        assert!(!look(1001, Ok(())).await);
        assert_eq!(asked.get(), 2);
        assert!(look(2000, Ok(())).await);
    }

    #[tokio::test]
    async fn who_goes_away_while_asking_keeps_nobody_from_asking() {
        let health = Health::default();
        let mut first = Box::pin(health.is_good(std::future::pending::<Result<(), ()>>()));
        tokio::select! {
            biased;
            _ = &mut first => unreachable!(),
            () = ready(()) => {}
        }
        drop(first);
        assert!(health.is_good(ready(Ok::<(), ()>(()))).await);
    }
}
