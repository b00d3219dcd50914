//! When a check of this database was last made by any process of the server: the time of a file.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pgrx::pg_sys;

/// Relative to the data directory. `pg_basebackup` and `pg_rewind` leave out `pg_stat_tmp`.
const PREFIX: &str = "pg_stat_tmp/pg_docsearch_check.";

/// Seconds from the Unix epoch to that of Postgres.
const POSTGRES_EPOCH: Duration =
    Duration::from_secs((pg_sys::POSTGRES_EPOCH_JDATE - pg_sys::UNIX_EPOCH_JDATE) as u64 * pg_sys::SECS_PER_DAY as u64);

/// Whether a process has recorded a check since the start of the server, less than `interval` ago.
pub(crate) fn is_recent(interval: Duration) -> bool {
    let Ok(checked) = path().metadata().and_then(|file| file.modified()) else {
        return false;
    };
    checked >= started()
        && SystemTime::now()
            .duration_since(checked)
            .is_ok_and(|age| age < interval)
}

/// Records a check. A file that cannot be written only means that other processes check again.
pub(crate) fn record() {
    let mut options = OpenOptions::new();
    let file = options.create(true).write(true).truncate(false).open(path());
    let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
}

/// Makes the next process check again.
pub(crate) fn forget() {
    let _ = std::fs::remove_file(path());
}

fn path() -> PathBuf {
    // SAFETY: a variable that the server sets once, when a process starts.
    let database = unsafe { pg_sys::MyDatabaseId };
    PathBuf::from(format!("{PREFIX}{}", database.to_u32()))
}

/// When the server was started.
fn started() -> SystemTime {
    // SAFETY: a variable that the server sets once, before it starts other processes.
    let microseconds = unsafe { pg_sys::PgStartTime };
    UNIX_EPOCH + POSTGRES_EPOCH + Duration::from_micros(microseconds.try_into().unwrap_or_default())
}
