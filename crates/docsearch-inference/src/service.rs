//! The service: one process that runs models for many others, reached through a Unix socket.

mod cache;
mod counters;
mod endpoints;
#[cfg(test)]
pub(crate) mod fuzz;
mod models;
mod query_sessions;
mod replies;
mod requests;

use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use self::cache::AnswerCache;
use self::counters::Counters;
use self::endpoints::Endpoints;
use self::models::Models;
use self::query_sessions::QuerySessions;
use crate::pool::WorkerPool;
use crate::status::{ServiceSettings, Status};
use crate::telemetry;

/// Answers of language models may take another eighth of the cache size. They are few: each takes seconds.
const ANSWERS: u64 = 8;

/// How often time limits are checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The models, threads and counters that all connections share.
pub struct Service {
    pool: WorkerPool,
    query_sessions: QuerySessions,
    models: Models,
    cache: AnswerCache<[f32]>,
    /// Of language models.
    answers: AnswerCache<str>,
    counters: Counters,
    endpoints: Endpoints,
}

impl Service {
    /// A service that runs models with the ONNX Runtime library at `runtime`. The first text loads it.
    ///
    /// Sets the environment variable `ORT_DISABLE_TELEMETRY`: other threads may read the environment only through the
    /// Rust standard library.
    pub fn new(runtime: PathBuf, settings: &ServiceSettings) -> Self {
        telemetry::disable();
        Self {
            pool: WorkerPool::new(settings.threads, settings.text_limit()),
            query_sessions: QuerySessions::new(settings.threads, settings.text_limit()),
            models: Models::new(runtime),
            cache: AnswerCache::new(settings.cache_bytes),
            answers: AnswerCache::new(settings.cache_bytes / ANSWERS),
            counters: Counters::default(),
            endpoints: Endpoints::default(),
        }
    }

    /// Applies new settings.
    pub fn change(&self, settings: &ServiceSettings) {
        self.pool.resize(settings.threads);
        self.query_sessions.resize(settings.threads);
        self.pool.set_text_limit(settings.text_limit());
        self.query_sessions.set_text_limit(settings.text_limit());
        self.cache.resize(settings.cache_bytes);
        self.answers.resize(settings.cache_bytes / ANSWERS);
    }

    /// Serves every connection on a thread of its own until the listener fails.
    ///
    /// # Errors
    /// Permanent errors of accepting a connection.
    pub fn serve(self: &Arc<Self>, listener: &UnixListener) -> io::Result<()> {
        loop {
            let served = listener.accept().and_then(|(stream, _)| {
                let service = Arc::clone(self);
                thread::Builder::new()
                    .name("docsearch-client".to_owned())
                    .spawn(move || requests::serve(stream, &service))
            });
            match served {
                Ok(_) => {}
                // Out of descriptors, threads or memory: ending connections free some.
                Err(error) if is_shortage(&error) => thread::sleep(Duration::from_millis(50)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Checks time limits until a thread is stuck, which only the end of the process can end.
    pub fn watch(&self) {
        // Not `||`: both are checked.
        while !(self.pool.check_limits() | self.query_sessions.check_limits()) {
            thread::sleep(CHECK_INTERVAL);
        }
    }

    /// Ends all threads, each after its current text.
    pub fn stop(&self) {
        self.pool.stop();
        self.query_sessions.stop();
    }

    fn status(&self) -> Status {
        let passages = self.pool.queue().lock().waiting();
        let mut status = Status {
            pid: std::process::id(),
            models: self.models.status(),
            resident_bytes: resident_bytes().unwrap_or(0),
            queue_depth: (self.query_sessions.waiting() + passages + self.endpoints.waiting()) as u64,
            cache_entries: self.cache.entries(),
            ..Status::default()
        };
        self.counters.report(&mut status);
        status
    }
}

/// A listener at `path`, which replaces the socket of an earlier process. Only the process's own user can connect.
///
/// # Errors
/// Those of the file system.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(listener)
}

fn is_shortage(error: &io::Error) -> bool {
    use nix::errno::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(
        errno,
        Some(
            Errno::EMFILE
                | Errno::ENFILE
                | Errno::ENOMEM
                | Errno::ENOBUFS
                | Errno::EAGAIN
                | Errno::ECONNABORTED
                | Errno::EINTR
        )
    )
}

/// Resident memory of this process.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
