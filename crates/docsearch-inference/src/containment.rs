//! Keeps this process from harming the one that has started it.

use std::fs;
use std::io;

use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, Signal};

/// Closes inherited files, and makes this process the first victim of the out-of-memory killer.
///
/// # Errors
/// Errors of the operating system.
pub(crate) fn enter(memory_limit: Option<u64>) -> io::Result<()> {
    // If the supervisor dies, this process dies with it.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    SigSet::empty().thread_set_mask()?;
    close_inherited_files();
    // Raising one's own score is always allowed, where there is a score.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    if let Some(bytes) = memory_limit {
        setrlimit(Resource::RLIMIT_DATA, bytes, bytes)?;
    }
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    Ok(())
}

/// Closes files, sockets and pipes of the server, but not standard input, output and error.
fn close_inherited_files() {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return;
    };
    let inherited: Vec<i32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&file| file > 2)
        .collect();
    for file in inherited {
        // The directory's own descriptor is closed by now.
        let _ = nix::unistd::close(file);
    }
}
