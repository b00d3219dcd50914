//! What inference does to its process. One test, since a process loads one library.

mod support;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use docsearch_inference::{Embedder, Error, Model, Options, Progress, Registry};
use support::{PATIENCE, TinyModel, model_directory, options};

fn field(status: &str, name: &str) -> String {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.expect("a status of Linux").trim().to_owned()
}

fn blocked_signals(status: &str) -> u64 {
    u64::from_str_radix(&field(status, "SigBlk:"), 16).expect("a mask")
}

/// `/proc/<pid>/task/<tid>/status` of every thread of this process.
fn statuses() -> Vec<String> {
    fs::read_dir("/proc/self/task")
        .expect("Linux")
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("status")).ok())
        .collect()
}

fn names_of_threads() -> Vec<String> {
    statuses().iter().map(|status| field(status, "Name:")).collect()
}

/// Signals that the calling thread blocks. Those of the test harness's thread are of no use: the C library blocks all
/// of them while it starts another thread.
fn own_blocked_signals() -> u64 {
    blocked_signals(&fs::read_to_string("/proc/thread-self/status").expect("Linux"))
}

fn blocked_signals_of_workers() -> Vec<u64> {
    let statuses = statuses();
    let workers = statuses
        .iter()
        .filter(|status| field(status, "Name:") == "docsearch-embed");
    workers.map(|status| blocked_signals(status)).collect()
}

fn wait_until(is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain");
        thread::yield_now();
    }
}

#[test]
fn the_process_gets_one_library_and_no_thread_but_its_workers() {
    let tiny = TinyModel::new();
    let load = |runtime: &str| {
        let options = Options {
            runtime: runtime.into(),
            ..options(1)
        };
        Model::load(tiny.path(), &options).err()
    };
    assert!(matches!(
        load("/nonexistent/libonnxruntime.so"),
        Some(Error::RuntimeMissing { .. })
    ));
    assert!(matches!(load("/proc/self/status"), Some(Error::RuntimeUnusable { .. })));

    let names_before = names_of_threads();
    let blocked_before = own_blocked_signals();
    static MODELS: Registry = Registry::new();
    let options = options(2);
    let model = MODELS
        .get(&model_directory(), &options)
        .expect("a valid model and library");
    let again = MODELS.get(&model_directory().join("."), &options);
    assert!(std::ptr::eq(&*model, &*again.expect("the same model")));
    model.embed_query("Button in SwiftUI").expect("a vector");
    assert_eq!(names_of_threads(), names_before, "a query starts no thread");
    assert_eq!(own_blocked_signals(), blocked_before);

    assert!(matches!(
        load("/proc/self/exe"),
        Some(Error::RuntimeAlreadyLoaded { .. })
    ));

    // Enough that a query finishes before them on every machine.
    let count = 20_000;
    let passages = vec!["a passage of some length ".repeat(40); count];
    let mut batch = model.embed_passages(passages).expect("workers start");
    let first = batch.next_timeout(PATIENCE);
    assert!(matches!(first, Ok(Progress::Embedded(_))));
    // A thread gets its name shortly after it starts.
    wait_until(|| blocked_signals_of_workers().len() == 2);
    // SIGKILL, SIGSTOP and the two that the C library reserves cannot be blocked.
    let all_signals = !(1 << 8 | 1 << 18 | 1 << 31 | 1 << 32);
    assert_eq!(blocked_signals_of_workers(), [all_signals; 2]);

    model.embed_query("Button in SwiftUI").expect("a vector");
    let mut returned = 1;
    while let Ok(Progress::Embedded(_)) = batch.next_timeout(Duration::ZERO) {
        returned += 1;
    }
    assert!(returned < count, "the query did not wait for the passages");

    MODELS.stop();
    // The kernel lists a joined thread for a moment.
    wait_until(|| names_of_threads().len() <= names_before.len());
    assert_eq!(names_of_threads(), names_before);
    assert_eq!(own_blocked_signals(), blocked_before);
    while let Ok(Progress::Embedded(_)) = batch.next_timeout(PATIENCE) {
        returned += 1;
    }
    assert!(matches!(batch.next_timeout(Duration::ZERO), Err(Error::Stopped)));
    assert!(returned < count, "what had not begun was cancelled");
}
