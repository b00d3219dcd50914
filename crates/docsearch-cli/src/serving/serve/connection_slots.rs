//! Slots for connections, and which connection is closed if there are too few.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Time for a client to send its first request, before its slot can be reused.
const FIRST_REQUEST_TIME: Duration = Duration::from_secs(1);

/// The slots of all connections.
pub(super) struct ConnectionSlots {
    free: Arc<Semaphore>,
    idle: Mutex<IdleConnections>,
    /// A connection has become idle.
    became_idle: Notify,
}

/// Idle connections, in the order in which they became idle.
#[derive(Default)]
struct IdleConnections {
    last: u64,
    connections: BTreeMap<u64, IdleConnection>,
}

/// A connection without a running request.
struct IdleConnection {
    since: Instant,
    has_requested: bool,
    eviction: CancellationToken,
}

impl IdleConnections {
    /// Removes the connection that was idle the longest, of those that have sent a request or had time to. Otherwise
    /// returns when there may be one.
    fn choose(&mut self, now: Instant) -> Result<IdleConnection, Option<Instant>> {
        let is_free =
            |idle: &IdleConnection| idle.has_requested || now.duration_since(idle.since) >= FIRST_REQUEST_TIME;
        let chosen = self.connections.iter().find(|(_, idle)| is_free(idle));
        let chosen = chosen.map(|(&number, _)| number);
        chosen
            .and_then(|number| self.connections.remove(&number))
            .ok_or_else(|| {
                self.connections
                    .values()
                    .next()
                    .map(|idle| idle.since + FIRST_REQUEST_TIME)
            })
    }
}

impl ConnectionSlots {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(slots)),
            idle: Mutex::default(),
            became_idle: Notify::new(),
        }
    }

    /// Waits for a slot; `None` if the semaphore is closed.
    pub(super) async fn take(self: &Arc<Self>) -> Option<Slot> {
        let permit = match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => self.evict().await?,
        };
        let slot = Slot {
            slots: Arc::clone(self),
            eviction: CancellationToken::new(),
            has_requested: AtomicBool::new(false),
            number: AtomicU64::new(0),
            _permit: permit,
        };
        slot.become_idle();
        Some(slot)
    }

    /// The slot of an idle connection, or the first that becomes free.
    async fn evict(&self) -> Option<OwnedSemaphorePermit> {
        let mut free = std::pin::pin!(Arc::clone(&self.free).acquire_owned());
        loop {
            let chosen = self.idle().choose(Instant::now());
            let wait = match chosen {
                Ok(rest) => {
                    rest.eviction.cancel();
                    return free.await.ok();
                }
                Err(until) => {
                    async move {
                        match until {
                            Some(until) => sleep_until(until).await,
                            None => std::future::pending().await,
                        }
                    }
                }
            };
            tokio::select! {
                permit = &mut free => return permit.ok(),
                () = self.became_idle.notified() => {}
                () = wait => {}
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, IdleConnections> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot of a connection.
pub(super) struct Slot {
    slots: Arc<ConnectionSlots>,
    /// Another connection takes the slot.
    eviction: CancellationToken,
    has_requested: AtomicBool,
    /// The number in `IdleConnections`.
    number: AtomicU64,
    _permit: OwnedSemaphorePermit,
}

impl Slot {
    /// Ends a request.
    pub(super) fn end_request(&self) {
        self.has_requested.store(true, Ordering::Relaxed);
        self.become_idle();
    }

    /// Whether there was a request.
    pub(super) fn has_requested(&self) -> bool {
        self.has_requested.load(Ordering::Relaxed)
    }

    /// Completes when the connection has to close.
    pub(super) async fn evicted(&self) {
        self.eviction.cancelled().await;
    }

    fn become_idle(&self) {
        let mut idle = self.slots.idle();
        idle.last += 1;
        let number = idle.last;
        let rest = IdleConnection {
            since: Instant::now(),
            has_requested: self.has_requested(),
            eviction: self.eviction.clone(),
        };
        idle.connections.insert(number, rest);
        self.number.store(number, Ordering::Relaxed);
        drop(idle);
        self.slots.became_idle.notify_one();
    }

    /// Begins a request.
    pub(super) fn begin_request(&self) {
        let number = self.number.load(Ordering::Relaxed);
        self.slots.idle().connections.remove(&number);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.begin_request();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_with_requests_are_evicted_first_and_new_ones_later() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let rest = |seconds, has_requested| IdleConnection {
            since: after(seconds),
            has_requested,
            eviction: CancellationToken::new(),
        };
        let mut idle = IdleConnections {
            last: 3,
            connections: BTreeMap::from([(1, rest(10, false)), (2, rest(10, true)), (3, rest(11, false))]),
        };
        let mut choose = |seconds| idle.choose(after(seconds)).map(|idle| (idle.since, idle.has_requested));
        assert_eq!(choose(10), Ok((after(10), true)));
        assert_eq!(choose(10), Err(Some(after(10) + FIRST_REQUEST_TIME)));
        assert_eq!(choose(20), Ok((after(10), false)));
        assert_eq!(choose(20), Ok((after(11), false)));
        assert_eq!(choose(20), Err(None));
    }
}
