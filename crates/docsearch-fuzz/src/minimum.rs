//! Minimises inputs that end a process.

use std::fs;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::process::{self, End, Work};
use crate::{Plan, Target};

/// Maximum time for one input.
const TIME: Duration = Duration::from_secs(60);

/// Removes parts, from halves down to single bytes, as long as the process ends in the same place.
pub(crate) fn minimise(target: &Target, executor: &str, plan: &Plan, end: End) -> End {
    let begun = Instant::now();
    let folder = TempDir::new().expect("a place for inputs");
    let file = folder.path().join("input");
    let mut least = end;
    let mut size = least.input.len() / 2;
    while size > 0 && begun.elapsed() < TIME {
        let mut place = 0;
        while place < least.input.len() && begun.elapsed() < TIME {
            let mut shorter = least.input.clone();
            shorter.drain(place..(place + size).min(least.input.len()));
            fs::write(&file, &shorter).expect("a disk with room for an input");
            match process::run(target, executor, plan, &Work::Input(&file)).end {
                Some(end) if end.place() == least.place() => least = end,
                _ => place += size,
            }
        }
        size /= 2;
    }
    least
}
