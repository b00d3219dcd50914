//! Locks that SQL cannot take. Every role of a database can take advisory locks and keep others waiting with them. The
//! lock manager sees these as locks on objects, but no statement can name the objects.

use pgrx::pg_sys;

/// Takes the place of a catalog's OID in the lock tags. Catalogs of Postgres have OIDs below 16384.
const CLASS: u32 = 0x646f_6373;

/// What is locked, in this database only.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lock {
    /// The version of the tables.
    Schema,
    /// The names of models.
    Models,
    /// Merging the statistics of a project.
    Statistics(i64),
    /// Merging the postings and the vector codes of a project.
    Merges(i64),
    /// Shared by merges of any kind and project.
    AnyMerge,
    /// Held by the background worker.
    Worker,
    /// Shared by transactions that leave work to the worker.
    PendingWork,
    /// Held by the background worker that tunes.
    Tuner,
    /// Shared by transactions that leave a tuning to it.
    PendingTuning,
}

impl Lock {
    fn tag(self) -> pg_sys::LOCKTAG {
        let (part, project) = match self {
            Self::Schema => (1, 0),
            Self::Models => (2, 0),
            // Two projects whose ids have the same last 32 bits wait for each other.
            Self::Statistics(project) => (3, project as u32),
            Self::Worker => (4, 0),
            Self::PendingWork => (5, 0),
            Self::Merges(project) => (6, project as u32),
            Self::Tuner => (7, 0),
            Self::PendingTuning => (8, 0),
            Self::AnyMerge => (9, 0),
        };
        pg_sys::LOCKTAG {
            // SAFETY: a variable that the server sets once, when a process starts.
            locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
            locktag_field2: CLASS,
            locktag_field3: project,
            locktag_field4: part,
            locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
            locktag_lockmethodid: pg_sys::DEFAULT_LOCKMETHOD as u8,
        }
    }

    /// Waits for the lock and holds it until the transaction ends.
    pub(crate) fn acquire(self) {
        // SAFETY: assigns a transaction id, by which `statement::rows` knows that it has to see what other sessions
        // did before they released the lock.
        unsafe { pg_sys::GetCurrentTransactionId() };
        self.take(pg_sys::ExclusiveLock, false, false);
    }

    /// Takes the lock until the transaction ends; false if another session has it.
    pub(crate) fn try_acquire(self) -> bool {
        self.take(pg_sys::ExclusiveLock, false, true)
    }

    /// Shares the lock with other sessions until the (sub)transaction ends. Waits only for those that
    /// [`acquire`](Self::acquire) it.
    pub(crate) fn share(self) {
        self.take(pg_sys::ShareLock, false, false);
    }

    /// The same if no other session waits for it or has acquired it; else false.
    pub(crate) fn try_share(self) -> bool {
        self.take(pg_sys::ShareLock, false, true)
    }

    /// Takes the lock beyond the transaction; false if another session has it. The session has to release it, also at
    /// the end of the process. Postgres releases it when a transaction fails.
    pub(crate) fn keep(self) -> bool {
        self.take(pg_sys::ExclusiveLock, true, true)
    }

    /// Releases what [`keep`](Self::keep) took, if this process still has it.
    pub(crate) fn release(self) {
        if self.is_mine() {
            // SAFETY: the tag outlives the call.
            unsafe { pg_sys::LockRelease(&self.tag(), pg_sys::ExclusiveLock as i32, true) };
        }
    }

    /// Whether this session keeps or has acquired the lock.
    pub(crate) fn is_mine(self) -> bool {
        let (tag, mode) = (self.tag(), pg_sys::ExclusiveLock as i32);
        // SAFETY: the tag outlives the call.
        unsafe {
            #[cfg(feature = "pg16")]
            return pg_sys::LockHeldByMe(&tag, mode);
            #[cfg(not(feature = "pg16"))]
            return pg_sys::LockHeldByMe(&tag, mode, false);
        }
    }

    /// Whether another session keeps or has acquired the lock.
    pub(crate) fn is_kept(self) -> bool {
        if !self.take(pg_sys::ShareLock, false, true) {
            return true;
        }
        let tag = self.tag();
        // SAFETY: releases the lock taken above.
        unsafe { pg_sys::LockRelease(&tag, pg_sys::ShareLock as i32, false) };
        false
    }

    /// Whether transactions of other sessions share the lock, including prepared ones. It takes no lock, so that no
    /// session waits for this one.
    pub(crate) fn is_shared(self) -> bool {
        let (tag, mut holders) = (self.tag(), 0);
        // SAFETY: the tag and the number outlive the call; the returned list is not used.
        unsafe { pg_sys::GetLockConflicts(&tag, pg_sys::ExclusiveLock as i32, &mut holders) };
        holders > 0
    }

    /// Whether another session is about to drop this database, or holds another exclusive lock on it.
    pub(crate) fn is_database_locked() -> bool {
        let tag = pg_sys::LOCKTAG {
            locktag_field1: pg_sys::InvalidOid.to_u32(),
            locktag_field2: pg_sys::DatabaseRelationId.to_u32(),
            // SAFETY: a variable that the server sets once, when a process starts.
            locktag_field3: unsafe { pg_sys::MyDatabaseId }.to_u32(),
            locktag_field4: 0,
            locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
            locktag_lockmethodid: pg_sys::DEFAULT_LOCKMETHOD as u8,
        };
        let mut holders = 0;
        // SAFETY: the tag and the number outlive the call; the returned list is not used.
        unsafe { pg_sys::GetLockConflicts(&tag, pg_sys::RowExclusiveLock as i32, &mut holders) };
        holders > 0
    }

    fn take(self, mode: u32, for_session: bool, at_once: bool) -> bool {
        let tag = self.tag();
        // SAFETY: the tag outlives the call.
        let outcome = unsafe { pg_sys::LockAcquire(&tag, mode as i32, for_session, at_once) };
        outcome != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
    }
}
