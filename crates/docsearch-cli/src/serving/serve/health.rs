//! Whether the database responds, cached for frequent checks.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// Time for the database to respond.
const TIMEOUT: Duration = Duration::from_secs(2);
/// How long a result is reused.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The last result. Only one check runs at a time.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<Option<(Instant, bool)>>);

impl Health {
    /// Whether the database responds, or did within the last second.
    pub(super) async fn is_healthy<E>(&self, check: impl Future<Output = Result<(), E>>) -> bool {
        self.check_at(Instant::now, check).await
    }

    async fn check_at<E>(&self, clock: impl Fn() -> Instant, check: impl Future<Output = Result<(), E>>) -> bool {
        let mut last = self.0.lock().await;
        if let Some((when, is_up)) = *last
            && clock().duration_since(when) < MAX_AGE
        {
            return is_up;
        }
        let is_up = matches!(timeout(TIMEOUT, check).await, Ok(Ok(())));
        *last = Some((clock(), is_up));
        is_up
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::ready;

    use super::*;

    #[tokio::test]
    async fn checks_within_a_second_share_one_result() {
        let (health, start) = (Health::default(), Instant::now());
        let checks = Cell::new(0);
        let look = async |passed: u64, answer: Result<(), ()>| {
            let now = start + Duration::from_millis(passed);
            let check = async {
                checks.set(checks.get() + 1);
                answer
            };
            health.check_at(|| now, check).await
        };
        assert!(look(0, Ok(())).await);
        assert!(look(999, Err(())).await);
        assert_eq!(checks.get(), 1);
        assert!(!look(1000, Err(())).await);
        assert!(!look(1001, Ok(())).await);
        assert_eq!(checks.get(), 2);
        assert!(look(2000, Ok(())).await);
    }

    #[tokio::test]
    async fn a_dropped_check_does_not_block_others() {
        let health = Health::default();
        let mut first = Box::pin(health.is_healthy(std::future::pending::<Result<(), ()>>()));
        tokio::select! {
            biased;
            _ = &mut first => unreachable!(),
            () = ready(()) => {}
        }
        drop(first);
        assert!(health.is_healthy(ready(Ok::<(), ()>(()))).await);
    }
}
