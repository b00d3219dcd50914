//! Lines on standard error of a server. A thread writes them: a reader that has stopped reading delays no request.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of lines that wait. Further ones are lost.
const MAX_WAITING: usize = 1024;
/// Time between two looks for room.
const PAUSE: Duration = Duration::from_millis(5);

static LOG: LazyLock<BackgroundLog> = LazyLock::new(|| match io::stderr().as_fd().try_clone_to_owned() {
    // Not through the lock of the standard library, which other threads wait for.
    Ok(own) => BackgroundLog::new(File::from(own)),
    Err(_) => BackgroundLog::new(io::sink()),
});

/// Writes a line some time later, if standard error is read.
pub(crate) fn write_line(line: String) {
    LOG.write(line);
}

/// Waits until all lines are written, but not for long.
pub(crate) fn flush(limit: Duration) {
    LOG.flush(limit);
}

enum Entry {
    Line(String),
    Flush(SyncSender<()>),
}

struct BackgroundLog {
    entries: SyncSender<Entry>,
    /// Number of lines that found no room.
    lost: Arc<AtomicU64>,
}

impl BackgroundLog {
    fn new(mut output: impl Write + Send + 'static) -> Self {
        let (entries, waiting) = sync_channel(MAX_WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let missing = Arc::clone(&lost);
        let write = move || {
            for entry in waiting {
                // Without standard error, the server goes on.
                match entry {
                    Entry::Line(line) => output.write_all(format!("{line}\n").as_bytes()).ok(),
                    Entry::Flush(done) => done.send(()).ok(),
                };
                let lost = missing.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    let report = format!("docsearch: {lost} lines are lost: standard error was not read in time\n");
                    output.write_all(report.as_bytes()).ok();
                }
            }
        };
        // Without the thread, all lines are lost.
        thread::Builder::new().name("log".to_owned()).spawn(write).ok();
        Self { entries, lost }
    }

    fn write(&self, line: String) {
        if self.entries.try_send(Entry::Line(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn flush(&self, limit: Duration) {
        let end = Instant::now() + limit;
        let (done, is_done) = sync_channel(1);
        let mut entry = Entry::Flush(done);
        while let Err(failure) = self.entries.try_send(entry) {
            match failure {
                TrySendError::Full(waiting) if Instant::now() < end => entry = waiting,
                TrySendError::Full(_) | TrySendError::Disconnected(_) => return,
            }
            thread::sleep(PAUSE);
        }
        is_done.recv_timeout(end.saturating_duration_since(Instant::now())).ok();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// An output that fails, or waits for permission for each write.
    struct Output {
        written: Arc<Mutex<String>>,
        permits: Option<Receiver<()>>,
    }

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let permits = self.permits.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
            permits.recv().ok();
            self.written.lock().unwrap().push_str(str::from_utf8(bytes).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_stops_delays_no_writer() {
        let written = Arc::new(Mutex::new(String::new()));
        let (permit, permits) = channel();
        let log = BackgroundLog::new(Output {
            written: Arc::clone(&written),
            permits: Some(permits),
        });
        // One is being written.
        for number in 0..MAX_WAITING + 11 {
            log.write(format!("line {number}"));
        }
        log.flush(Duration::ZERO);
        drop(permit);
        log.flush(LONG);
        let written = written.lock().unwrap();
        assert!(written.starts_with("line 0\ndocsearch: "), "{written}");
        let lost = |lines: usize| written.contains(&format!("{lines} lines are lost"));
        assert!(lost(10) || lost(11), "{written}");
    }

    #[test]
    fn a_closed_output_is_no_failure() {
        let log = BackgroundLog::new(Output {
            written: Arc::default(),
            permits: None,
        });
        log.write("line".to_owned());
        log.flush(LONG);
        log.write("line".to_owned());
        assert_eq!(log.lost.load(Ordering::Relaxed), 0);
    }
}
