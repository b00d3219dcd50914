//! What inference does to the process it runs in. One test, because a process has one library.

mod support;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use docsearch_inference::{Embedder, Error, Model, Options, Progress, Registry};
use support::{TinyModel, model_directory, options};

/// Names and blocked signals of the threads of this process.
fn threads() -> Vec<(String, u64)> {
    let field = |status: &str, name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.expect("a status of Linux").trim().to_owned()
    };
    fs::read_dir("/proc/self/task")
        .expect("Linux")
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("status")).ok())
        .map(|status| {
            let blocked = u64::from_str_radix(&field(&status, "SigBlk:"), 16);
            (field(&status, "Name:"), blocked.expect("a mask"))
        })
        .collect()
}

fn lanes() -> Vec<u64> {
    threads()
        .into_iter()
        .filter(|(name, _)| name == "docsearch-lane")
        .map(|(_, blocked)| blocked)
        .collect()
}

#[test]
fn the_process_gets_one_library_and_no_thread_but_its_lanes() {
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

    let before = threads();
    static MODELS: Registry = Registry::new();
    let options = options(2);
    let model = MODELS
        .get(&model_directory(), &options)
        .expect("a valid model and library");
    let again = MODELS.get(&model_directory().join("."), &options);
    assert!(std::ptr::eq(&*model, &*again.expect("the same model")));
    model.embed_query("Button in SwiftUI").expect("a vector");
    assert_eq!(
        threads(),
        before,
        "a query starts no thread, reports to nobody and leaves signals alone"
    );

    assert!(matches!(
        load("/proc/self/exe"),
        Some(Error::RuntimeAlreadyLoaded { .. })
    ));

    let passages = vec!["a passage of some length ".repeat(40); 100];
    let mut batch = model.embed_passages(passages).expect("lanes start");
    let first = batch.next_timeout(Duration::from_secs(60));
    assert!(matches!(first, Ok(Progress::Embedded(_))));
    // SIGKILL, SIGSTOP and the two that the C library keeps for itself cannot be blocked.
    let all_signals = !(1 << 8 | 1 << 18 | 1 << 31 | 1 << 32);
    assert_eq!(lanes(), [all_signals; 2]);

    model.embed_query("Button in SwiftUI").expect("a vector");
    let mut returned = 1;
    while let Ok(Progress::Embedded(_)) = batch.next_timeout(Duration::ZERO) {
        returned += 1;
    }
    assert!(returned < 100, "the query did not wait for the passages");

    MODELS.stop();
    // A joined thread is listed until the kernel has buried it, a moment later.
    let deadline = Instant::now() + Duration::from_secs(10);
    while threads().len() > before.len() && Instant::now() < deadline {
        thread::yield_now();
    }
    assert_eq!(threads(), before);
    while let Ok(Progress::Embedded(_)) = batch.next_timeout(Duration::from_secs(60)) {
        returned += 1;
    }
    assert!(matches!(batch.next_timeout(Duration::ZERO), Err(Error::Stopped)));
    assert!(returned < 100, "what had not begun was cancelled");
}
