//! Restores the session's advisory locks after code of another role has run in it: the session then holds the same
//! locks, as often as before.

use std::cell::{Cell, RefCell};
use std::os::raw::c_void;

use pgrx::pg_sys;
use pgrx::prelude::*;

thread_local! {
    /// The guards that are alive, outermost first, each with the level of its transaction.
    static GUARDS: RefCell<Vec<(i32, Snapshot)>> = const { RefCell::new(Vec::new()) };
    static IS_REGISTERED: Cell<bool> = const { Cell::new(false) };
}

/// While this lives, code of another role may take and release advisory locks. The session has its own again when this
/// is dropped, or when the transaction that created it fails.
pub(crate) struct AdvisoryLocks {
    /// Index in [`GUARDS`].
    place: usize,
}

impl AdvisoryLocks {
    pub(crate) fn guard() -> Self {
        if !IS_REGISTERED.replace(true) {
            // SAFETY: both functions live as long as the process, and take no argument.
            unsafe {
                pg_sys::RegisterXactCallback(Some(transaction_ended), std::ptr::null_mut());
                pg_sys::RegisterSubXactCallback(Some(subtransaction_ended), std::ptr::null_mut());
            }
        }
        let snapshot = Snapshot::take();
        // SAFETY: reads the state of the transaction.
        let level = unsafe { pg_sys::GetCurrentTransactionNestLevel() };
        let place = GUARDS.with_borrow_mut(|guards| {
            guards.push((level, snapshot));
            guards.len() - 1
        });
        Self { place }
    }
}

impl Drop for AdvisoryLocks {
    fn drop(&mut self) {
        // After an error, the callbacks do it: nothing may be locked before Postgres has cleaned up.
        if !std::thread::panicking()
            && let Some(snapshot) = taken_from(self.place)
        {
            snapshot.restore(Until::Now);
        }
    }
}

/// The snapshot of the guard at this index; guards that began later end with it.
fn taken_from(place: usize) -> Option<Snapshot> {
    GUARDS.with_borrow_mut(|guards| {
        let mut ended = guards.split_off(place.min(guards.len()));
        (!ended.is_empty()).then(|| ended.swap_remove(0).1)
    })
}

#[pg_guard]
unsafe extern "C-unwind" fn transaction_ended(event: pg_sys::XactEvent::Type, _argument: *mut c_void) {
    if event == pg_sys::XactEvent::XACT_EVENT_ABORT
        && let Some(snapshot) = taken_from(0)
    {
        snapshot.restore(Until::Abort);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn subtransaction_ended(
    event: pg_sys::SubXactEvent::Type,
    _own: pg_sys::SubTransactionId,
    _parent: pg_sys::SubTransactionId,
    _argument: *mut c_void,
) {
    if event != pg_sys::SubXactEvent::SUBXACT_EVENT_ABORT_SUB {
        return;
    }
    // SAFETY: reads the state of the transaction, which is still the one that ends.
    let ended = unsafe { pg_sys::GetCurrentTransactionNestLevel() };
    let place = GUARDS.with_borrow(|guards| guards.iter().position(|(level, _)| *level >= ended));
    if let Some(snapshot) = place.and_then(taken_from) {
        snapshot.restore(Until::Abort);
    }
}

/// When the locks are restored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// After the code has returned.
    Now,
    /// After an error: locks of the transaction are released with it.
    Abort,
}

/// How often a holder has a lock: a resource owner, or the session if there is none.
struct Share {
    owner: pg_sys::ResourceOwner,
    count: i64,
}

/// An advisory lock in one mode, held by this process.
struct Held {
    tag: pg_sys::LOCKTAG,
    mode: i32,
    shares: Vec<Share>,
}

/// The advisory locks of this process at one time.
struct Snapshot {
    held: Vec<Held>,
    /// Holds each lock of the session until it is restored, so that no other session can take a lock that the code
    /// releases.
    keeper: pg_sys::ResourceOwner,
}

impl Snapshot {
    fn take() -> Self {
        let snapshot = Self {
            held: held(),
            // SAFETY: reads a variable of this process.
            keeper: unsafe { pg_sys::CurrentResourceOwner },
        };
        for lock in snapshot.held.iter().filter(|lock| lock.of_session() > 0) {
            lock.acquire(snapshot.keeper);
        }
        snapshot
    }

    fn restore(self, until: Until) {
        for now in held() {
            let before = self.held.iter().find(|before| before.is(&now));
            let shares = now.shares.iter();
            for share in shares.filter(|share| share.owner.is_null() || until == Until::Now) {
                let kept = before.map_or(0, |before| before.count(share.owner));
                let keeps = before.is_some_and(|before| before.of_session() > 0) && share.owner == self.keeper;
                for _ in kept + i64::from(keeps)..share.count {
                    now.release(share.owner);
                }
            }
        }
        for before in self.held.iter().filter(|before| before.of_session() > 0) {
            for _ in before.present()..before.of_session() {
                before.acquire(std::ptr::null_mut());
            }
            if until == Until::Now {
                before.release(self.keeper);
            }
        }
    }
}

impl Held {
    fn is(&self, other: &Self) -> bool {
        let key = |held: &Self| {
            let tag = &held.tag;
            let fields = [tag.locktag_field1, tag.locktag_field2, tag.locktag_field3];
            (fields, tag.locktag_field4, tag.locktag_type, held.mode)
        };
        key(self) == key(other)
    }

    fn count(&self, owner: pg_sys::ResourceOwner) -> i64 {
        let share = self.shares.iter().find(|share| share.owner == owner);
        share.map_or(0, |share| share.count)
    }

    /// How often the session held it.
    fn of_session(&self) -> i64 {
        self.count(std::ptr::null_mut())
    }

    /// How often the session holds it now.
    fn present(&self) -> i64 {
        let shares = shares(&self.tag, self.mode);
        shares
            .iter()
            .filter(|share| share.owner.is_null())
            .map(|share| share.count)
            .sum()
    }

    /// Acquires it once more.
    fn acquire(&self, owner: pg_sys::ResourceOwner) {
        // SAFETY: the tag outlives the call, which does not wait: the process holds the lock.
        as_owner(owner, || unsafe {
            pg_sys::LockAcquire(&self.tag, self.mode, owner.is_null(), true);
        });
    }

    fn release(&self, owner: pg_sys::ResourceOwner) {
        // SAFETY: the tag outlives the call; the owner holds the lock, so it exists.
        as_owner(owner, || unsafe {
            pg_sys::LockRelease(&self.tag, self.mode, owner.is_null());
        });
    }
}

/// Runs `work` with this current resource owner, to which locks other than the session's belong.
fn as_owner(owner: pg_sys::ResourceOwner, work: impl FnOnce()) {
    if owner.is_null() {
        return work();
    }
    // SAFETY: the owner is one of this transaction, and the present one is set back.
    unsafe {
        let present = pg_sys::CurrentResourceOwner;
        pg_sys::CurrentResourceOwner = owner;
        work();
        pg_sys::CurrentResourceOwner = present;
    }
}

/// All advisory locks of this process.
fn held() -> Vec<Held> {
    // SAFETY: the list has the length that it names, and is freed after it was read.
    let locks = unsafe {
        let data = pg_sys::GetLockStatusData();
        let all = std::slice::from_raw_parts((*data).locks, usize::try_from((*data).nelements).unwrap_or_default());
        let own = all.iter().filter(|lock| {
            lock.pid == pg_sys::MyProcPid && u32::from(lock.locktag.locktag_lockmethodid) == pg_sys::USER_LOCKMETHOD
        });
        let own: Vec<(pg_sys::LOCKTAG, i32)> = own.map(|lock| (lock.locktag, lock.holdMask)).collect();
        pg_sys::pfree((*data).locks.cast());
        pg_sys::pfree(data.cast());
        own
    };
    let modes = locks.into_iter().flat_map(|(tag, mask)| {
        let modes = (1..=pg_sys::AccessExclusiveLock as i32).filter(move |mode| mask & (1 << mode) != 0);
        modes.map(move |mode| (tag, mode))
    });
    let held = modes.map(|(tag, mode)| Held {
        shares: shares(&tag, mode),
        tag,
        mode,
    });
    held.collect()
}

/// How often each holder in this process has a lock. Postgres shows it only where the lock is acquired.
fn shares(tag: &pg_sys::LOCKTAG, mode: i32) -> Vec<Share> {
    let mut local: *mut pg_sys::LOCALLOCK = std::ptr::null_mut();
    // SAFETY: the tag outlives the calls. The pointer is to what the process keeps of a lock until it has released it;
    // the lock is acquired once more for the session, without waiting, and released.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        let taken = pg_sys::LockAcquireExtended(tag, mode, true, true, false, &mut local);
        #[cfg(feature = "pg18")]
        let taken = pg_sys::LockAcquireExtended(tag, mode, true, true, false, &mut local, false);
        if taken == pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL || local.is_null() {
            return Vec::new();
        }
        let owners = std::slice::from_raw_parts(
            (*local).lockOwners,
            usize::try_from((*local).numLockOwners).unwrap_or_default(),
        );
        let shares = owners.iter().map(|share| Share {
            owner: share.owner,
            count: share.nLocks - i64::from(share.owner.is_null()),
        });
        let shares = shares.collect();
        pg_sys::LockRelease(tag, mode, true);
        shares
    }
}
