//! Locks that SQL cannot take. Advisory locks are open to every role of a database, and whoever holds one
//! would keep others waiting; these are objects to the lock manager that no statement names.

use pgrx::pg_sys;

/// What stands where the objects of Postgres have the number of their catalog, which is below 16384.
const CLASS: u32 = 0x646f_6373;

/// What is locked, each in this database only.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lock {
    /// The version of the tables.
    Schema,
    /// The names of models.
    Models,
    /// The statistics of a project, to be added up.
    Statistics(i64),
    /// The postings and the codes of vectors of a project, to be merged.
    Merges(i64),
    /// Being the background worker.
    Worker,
    /// Being about to leave something to the worker.
    Leaving,
}

impl Lock {
    fn tag(self) -> pg_sys::LOCKTAG {
        let (part, project) = match self {
            Self::Schema => (1, 0),
            Self::Models => (2, 0),
            // Two projects whose numbers end in the same 32 bits wait for each other.
            Self::Statistics(project) => (3, project as u32),
            Self::Worker => (4, 0),
            Self::Leaving => (5, 0),
            Self::Merges(project) => (6, project as u32),
        };
        pg_sys::LOCKTAG {
            // SAFETY: a variable of the server that holds for the life of the process.
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
        // SAFETY: gives the transaction an id, by which `statement::rows` knows that it has to see what
        // others did before they gave up the lock.
        unsafe { pg_sys::GetCurrentTransactionId() };
        self.take(pg_sys::ExclusiveLock, false, false);
    }

    /// Takes the lock until the transaction ends, unless somebody else has it.
    pub(crate) fn try_acquire(self) -> bool {
        self.take(pg_sys::ExclusiveLock, false, true)
    }

    /// Holds the lock together with others until the (sub)transaction ends. Waits only for those who
    /// [`acquire`](Self::acquire) it.
    pub(crate) fn share(self) {
        self.take(pg_sys::ShareLock, false, false);
    }

    /// Takes the lock beyond the transaction, unless somebody else has it. It is for whoever took it to
    /// give it back, at the end of the process too; when a transaction fails, Postgres releases it.
    pub(crate) fn keep(self) -> bool {
        self.take(pg_sys::ExclusiveLock, true, true)
    }

    /// Gives back what [`keep`](Self::keep) took, if this process still has it.
    pub(crate) fn give_back(self) {
        let (tag, mode) = (self.tag(), pg_sys::ExclusiveLock as i32);
        // SAFETY: the tag outlives the calls.
        unsafe {
            #[cfg(feature = "pg16")]
            let held = pg_sys::LockHeldByMe(&tag, mode);
            #[cfg(not(feature = "pg16"))]
            let held = pg_sys::LockHeldByMe(&tag, mode, false);
            if held {
                pg_sys::LockRelease(&tag, mode, true);
            }
        }
    }

    /// Whether somebody else keeps or has acquired the lock.
    pub(crate) fn is_kept(self) -> bool {
        if !self.take(pg_sys::ShareLock, false, true) {
            return true;
        }
        let tag = self.tag();
        // SAFETY: gives back what was taken above.
        unsafe { pg_sys::LockRelease(&tag, pg_sys::ShareLock as i32, false) };
        false
    }

    /// Whether transactions of others share the lock, prepared ones too. Takes nothing, so that nobody
    /// ever waits for who asks.
    pub(crate) fn is_shared(self) -> bool {
        let (tag, mut holders) = (self.tag(), 0);
        // SAFETY: the tag and the number outlive the call; the list it gives is not needed.
        unsafe { pg_sys::GetLockConflicts(&tag, pg_sys::ExclusiveLock as i32, &mut holders) };
        holders > 0
    }

    fn take(self, mode: u32, for_session: bool, at_once: bool) -> bool {
        let tag = self.tag();
        // SAFETY: the tag outlives the call.
        let outcome = unsafe { pg_sys::LockAcquire(&tag, mode as i32, for_session, at_once) };
        outcome != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
    }
}
