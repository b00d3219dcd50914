//! The places of connections, and who gives up theirs when there are too few.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// For the first request of a client to be there, before its place can be given away.
const ARRIVAL: Duration = Duration::from_secs(1);

/// The places there are.
pub(super) struct Places {
    free: Arc<Semaphore>,
    resting: Mutex<RestingConnections>,
    /// Somebody has begun to.
    rest: Notify,
}

/// Connections without a request under way, in the order in which they began to rest.
#[derive(Default)]
struct RestingConnections {
    last: u64,
    connections: BTreeMap<u64, RestingConnection>,
}

/// A connection without a request under way.
struct RestingConnection {
    since: Instant,
    has_asked: bool,
    given_away: CancellationToken,
}

impl RestingConnections {
    /// Takes the connection that has rested longest of those that have asked or had the time to; else tells when
    /// there may be one.
    fn choose(&mut self, now: Instant) -> Result<RestingConnection, Option<Instant>> {
        let is_free = |rest: &RestingConnection| rest.has_asked || now.duration_since(rest.since) >= ARRIVAL;
        let chosen = self.connections.iter().find(|(_, rest)| is_free(rest));
        let chosen = chosen.map(|(&number, _)| number);
        chosen
            .and_then(|number| self.connections.remove(&number))
            .ok_or_else(|| self.connections.values().next().map(|rest| rest.since + ARRIVAL))
    }
}

impl Places {
    pub(super) fn new(places: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(places)),
            resting: Mutex::default(),
            rest: Notify::new(),
        }
    }

    /// A place, once there is one; `None` if nobody gives out places any more.
    pub(super) async fn take(self: &Arc<Self>) -> Option<Place> {
        let permit = match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => self.take_away().await?,
        };
        let place = Place {
            places: Arc::clone(self),
            given_away: CancellationToken::new(),
            has_asked: AtomicBool::new(false),
            number: AtomicU64::new(0),
            _permit: permit,
        };
        place.rests();
        Some(place)
    }

    /// The place of a connection that rests, or the first that becomes free before one does.
    async fn take_away(&self) -> Option<OwnedSemaphorePermit> {
        let mut free = std::pin::pin!(Arc::clone(&self.free).acquire_owned());
        loop {
            let chosen = self.resting().choose(Instant::now());
            let wait = match chosen {
                Ok(rest) => {
                    rest.given_away.cancel();
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
                () = self.rest.notified() => {}
                () = wait => {}
            }
        }
    }

    fn resting(&self) -> MutexGuard<'_, RestingConnections> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a connection.
pub(super) struct Place {
    places: Arc<Places>,
    /// Somebody else has it now.
    given_away: CancellationToken,
    has_asked: AtomicBool,
    /// Under which it rests, or did last.
    number: AtomicU64,
    _permit: OwnedSemaphorePermit,
}

impl Place {
    /// The request has its answer.
    pub(super) fn has_answer(&self) {
        self.has_asked.store(true, Ordering::Relaxed);
        self.rests();
    }

    /// Whether there was a request.
    pub(super) fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    /// Done once the connection has to end.
    pub(super) async fn is_given_away(&self) {
        self.given_away.cancelled().await;
    }

    fn rests(&self) {
        let mut resting = self.places.resting();
        resting.last += 1;
        let number = resting.last;
        let rest = RestingConnection {
            since: Instant::now(),
            has_asked: self.has_asked(),
            given_away: self.given_away.clone(),
        };
        resting.connections.insert(number, rest);
        self.number.store(number, Ordering::Relaxed);
        drop(resting);
        self.places.rest.notify_one();
    }

    /// A request is under way.
    pub(super) fn asks(&self) {
        let number = self.number.load(Ordering::Relaxed);
        self.places.resting().connections.remove(&number);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.asks();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_asked_goes_first_and_who_has_just_come_not_yet() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let rest = |seconds, has_asked| RestingConnection {
            since: after(seconds),
            has_asked,
            given_away: CancellationToken::new(),
        };
        let mut resting = RestingConnections {
            last: 3,
            connections: BTreeMap::from([(1, rest(10, false)), (2, rest(10, true)), (3, rest(11, false))]),
        };
        let mut choose = |seconds| resting.choose(after(seconds)).map(|rest| (rest.since, rest.has_asked));
        assert_eq!(choose(10), Ok((after(10), true)));
        assert_eq!(choose(10), Err(Some(after(10) + ARRIVAL)));
        assert_eq!(choose(20), Ok((after(10), false)));
        assert_eq!(choose(20), Ok((after(11), false)));
        assert_eq!(choose(20), Err(None));
    }
}
