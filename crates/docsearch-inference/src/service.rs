//! The service: one process that runs models for many others, reached through a Unix socket.

mod cache;
mod counters;
mod endpoints;
#[cfg(test)]
pub(crate) mod fuzz;
mod models;
mod query_lanes;
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
use self::query_lanes::QueryLanes;
use crate::pool::LanePool;
use crate::status::{ServiceSettings, Status};
use crate::telemetry;

/// One part in so many of the size of the cache is what answers of language models have beside it: there are few,
/// since each took seconds.
const ANSWERS: u64 = 8;

/// How often it is looked whether a text takes too long.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The models, lanes and counters that all connections share.
pub struct Service {
    pool: LanePool,
    query_lanes: QueryLanes,
    models: Models,
    cache: AnswerCache<[f32]>,
    /// Of language models.
    answers: AnswerCache<str>,
    counters: Counters,
    endpoints: Endpoints,
}

impl Service {
    /// A service that runs models with the ONNX Runtime library at `runtime`. Nothing is loaded
    /// before the first text, but the environment variable `ORT_DISABLE_TELEMETRY` is set: no
    /// other thread may be reading the environment other than through the Rust standard library.
    pub fn new(runtime: PathBuf, settings: &ServiceSettings) -> Self {
        telemetry::disable();
        Self {
            pool: LanePool::new(settings.threads, settings.text_limit()),
            query_lanes: QueryLanes::new(settings.threads, settings.text_limit()),
            models: Models::new(runtime),
            cache: AnswerCache::new(settings.cache_bytes),
            answers: AnswerCache::new(settings.cache_bytes / ANSWERS),
            counters: Counters::default(),
            endpoints: Endpoints::default(),
        }
    }

    /// Obeys other settings from now on.
    pub fn change(&self, settings: &ServiceSettings) {
        self.pool.resize(settings.threads);
        self.query_lanes.resize(settings.threads);
        self.pool.set_text_limit(settings.text_limit());
        self.query_lanes.set_text_limit(settings.text_limit());
        self.cache.resize(settings.cache_bytes);
        self.answers.resize(settings.cache_bytes / ANSWERS);
    }

    /// Serves every connection on a thread of its own until the listener fails.
    ///
    /// # Errors
    /// Those of accepting a connection that do not pass by themselves.
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
                // Out of descriptors, threads or memory: connections that end give some back.
                Err(error) if is_shortage(&error) => thread::sleep(Duration::from_millis(50)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives up texts that take too long, from time to time, until a thread does not come back from one: nothing but
    /// the end of the process ends it.
    pub fn watch(&self) {
        // Both are looked at.
        while !(self.pool.look() | self.query_lanes.look()) {
            thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Ends the lanes, which finish the text they are at.
    pub fn stop(&self) {
        self.pool.stop();
        self.query_lanes.stop();
    }

    fn status(&self) -> Status {
        let passages = self.pool.queue().lock().waiting();
        let mut status = Status {
            pid: std::process::id(),
            models: self.models.status(),
            resident_bytes: resident_bytes().unwrap_or(0),
            queue_depth: (self.query_lanes.waiting() + passages + self.endpoints.waiting()) as u64,
            cache_entries: self.cache.entries(),
            ..Status::default()
        };
        self.counters.report(&mut status);
        status
    }
}

/// A listener at `path`, in the place of what an earlier process has left there. Only the
/// process's own user can connect: the directory and the socket are for nobody else.
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
