//! Texts that take too long or end the program: they fail, and nothing else does.

#[path = "support/program.rs"]
mod program;
mod support;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use docsearch_inference::{Embedder, Error, ErrorClass, Model, PassageVector, Progress, ServedModel};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use program::{ONE_THREAD, Poll, Program, served};
use support::{TinyModel, embed_all, options, slow_word};
use tempfile::TempDir;

/// Enough for any text but those that take for ever, on a machine that is not too busy.
const LIMITED: [&str; 6] = ["--threads", "1", "--cache-bytes", "0", "--text-limit-ms", "3000"];

fn tiny(program: &Program, model: &TinyModel) -> ServedModel<Poll> {
    let directory = model.path().to_str().expect("a path in UTF-8").to_owned();
    ServedModel::new(program.client(), directory, None)
}

/// What became of each passage: its vector or why it has none.
fn outcomes(model: &dyn Embedder, texts: &[String]) -> Vec<Result<Vec<f32>, ErrorClass>> {
    let mut outcomes = vec![Ok(Vec::new()); texts.len()];
    let mut batch = model.embed_passages(texts.to_vec()).expect("a batch");
    loop {
        match batch.next_timeout(Duration::from_millis(100)) {
            Ok(Progress::Embedded(PassageVector { index, vector })) => outcomes[index] = Ok(vector),
            Ok(Progress::Pending) => {}
            Ok(Progress::Finished) => return outcomes,
            Err(Error::Passage { index, source }) => outcomes[index] = Err(source.class()),
            Err(problem) => panic!("{problem}"),
        }
    }
}

#[test]
fn a_query_that_takes_too_long_fails_and_others_go_on() {
    let program = Program::start_with(&LIMITED);
    let slow = TinyModel::slow();
    let hanging = tiny(&program, &slow);
    let problem = hanging.embed_query(&slow_word()).expect_err("a text without end");
    assert_eq!(problem.class(), ErrorClass::TimedOut);
    assert!(problem.hint().is_some());
    // The thread is still at it.
    assert!(served(program.client(), None).embed_query("Button").is_ok());
    assert!(hanging.embed_query("x").is_ok());
}

#[test]
fn a_passage_that_takes_too_long_fails_and_others_go_on() {
    let program = Program::start_with(&LIMITED);
    let slow = TinyModel::slow();
    let texts = ["x".to_owned(), slow_word(), "x x".to_owned()];
    let outcomes = outcomes(&tiny(&program, &slow), &texts);
    assert_eq!(outcomes[1], Err(ErrorClass::TimedOut));
    assert!(outcomes[0].is_ok() && outcomes[2].is_ok());
}

#[test]
fn a_stuck_thread_ends_the_program() {
    let mut program = Program::start_with(&LIMITED);
    let slow = TinyModel::slow();
    let problem = tiny(&program, &slow).embed_query(&slow_word());
    assert_eq!(problem.expect_err("a text without end").class(), ErrorClass::TimedOut);
    assert!(program.end().success());
}

#[test]
fn a_model_that_is_never_loaded_fails() {
    let mut limited = LIMITED;
    limited[5] = "100";
    let program = Program::start_with(&limited);
    let directory = TempDir::new().expect("a temporary directory");
    // The first file is never written.
    mkfifo(&directory.path().join("modules.json"), Mode::S_IRWXU).expect("a pipe");
    let path = directory.path().to_str().expect("a path in UTF-8").to_owned();
    let model = ServedModel::new(program.client(), path, None);
    assert_eq!(outcomes(&model, &["x".to_owned()]), [Err(ErrorClass::TimedOut)]);
}

#[test]
fn a_passage_that_ends_the_program_fails_and_the_others_continue() {
    let mut program = Program::start_with(&ONE_THREAD);
    let slow = TinyModel::slow();
    let model = tiny(&program, &slow);
    let expected = embed_all(&model, &["x".to_owned()]);
    // It comes first, also when it is sent again: its runs are counted below.
    let texts = [slow_word(), "x".to_owned(), "x x".to_owned(), "x".to_owned()];
    // A program ends with the thread that has started it, so the thread waits for the outcomes.
    let (done, is_done) = mpsc::channel::<()>();
    // As a lack of memory or a crash would.
    let ending = thread::spawn(move || {
        // The text above and this one; then this one alone.
        for runs in [2, 1] {
            program.wait_for_runs(runs);
            kill(program.pid(), Signal::SIGKILL).expect("a process");
            program.child.wait().expect("a child");
            program.child = Program::spawn(program.directory.path(), &ONE_THREAD);
        }
        let _ = is_done.recv();
        program
    });
    let outcomes = outcomes(&model, &texts);
    drop(done);
    assert_eq!(outcomes[0], Err(ErrorClass::Unavailable));
    assert!(outcomes[2].is_ok());
    for place in [1, 3] {
        assert_eq!(outcomes[place].as_ref(), Ok(&expected[0]));
    }
    drop(ending.join().expect("the program is started again"));
}

#[test]
fn in_this_process_a_passage_that_takes_too_long_fails_and_its_worker_is_replaced() {
    let slow = TinyModel::slow();
    let limited = docsearch_inference::Options {
        text_limit: Duration::from_secs(3),
        ..options(1)
    };
    let model = Model::load(slow.path(), &limited).expect("a model");
    let outcomes = outcomes(&model, &[slow_word(), "x".to_owned()]);
    assert_eq!(outcomes[0], Err(ErrorClass::TimedOut));
    assert!(outcomes[1].is_ok());
    // Does not wait for the stuck thread.
    model.stop();
}
