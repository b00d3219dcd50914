//! The program, reached through its socket.

#[path = "support/http.rs"]
mod http_server;
#[path = "support/program.rs"]
mod program;
mod support;

use std::fs;
use std::io::{Read, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::PermissionsExt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use docsearch_inference::{
    ChatRequest, Client, Embedder, Endpoint, Error, ErrorClass, Host, MAX_TEXT_BYTES, Model, PassageVector, Progress,
    Readiness, Sampling, ServedModel,
};
use http_server::{HttpServer, Reaction};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use program::{ONE_THREAD, PATIENT, Poll, Program, passages, served};
use support::{PATIENCE, embed_all, info, model_directory, options};
use tempfile::TempDir;

#[test]
fn vectors_are_those_of_the_same_model_in_process() {
    let program = Program::start();
    let (remote, local) = (
        program.model(),
        Model::load(&model_directory(), &options(1)).expect("a model"),
    );
    assert_eq!(
        remote.describe().expect("a description"),
        local.describe().expect("a description")
    );
    for text in ["Button in SwiftUI", "", "@>", &"long ".repeat(MAX_TEXT_BYTES / 2)] {
        assert_eq!(
            remote.embed_query(text).expect("a vector"),
            local.embed_query(text).expect("a vector")
        );
    }
    let texts = passages(150);
    assert_eq!(embed_all(&remote, &texts), embed_all(&local, &texts));
}

#[test]
fn a_repeated_query_comes_from_the_cache() {
    let program = Program::start();
    let client = program.client();
    let digest = info_digest(&program);
    let model = served(Rc::clone(&client), Some(digest));
    let first = model.embed_query("Button").expect("a vector");
    assert_eq!(model.embed_query("Button").expect("a vector"), first);
    let status = client.borrow_mut().status().expect("an answer").expect("a program");
    assert_eq!(
        (status.requests, status.runs, status.cache_hits, status.cache_entries),
        (2, 1, 1, 1)
    );
    assert_eq!(status.models.len(), 1);
    assert!(status.resident_bytes > 1 << 20 && status.p95_ms >= status.p50_ms);
}

fn info_digest(program: &Program) -> String {
    program.model().describe().expect("a description").digest
}

#[test]
fn other_files_than_expected_are_refused_even_if_the_vector_is_in_the_cache() {
    let program = Program::start();
    program.model().embed_query("Button").expect("a vector");
    let other = served(program.client(), Some("0".repeat(64)));
    let problem = other.embed_query("Button").expect_err("another digest");
    assert_eq!(problem.class(), ErrorClass::Changed);
    assert!(problem.hint().is_some());
}

#[test]
fn a_model_that_cannot_be_loaded_is_an_error_with_a_hint_and_affects_nothing_else() {
    let program = Program::start();
    let missing = ServedModel::new(program.client(), "/nonexistent".to_owned(), None);
    let problem = missing.embed_query("Button").expect_err("no model");
    assert_eq!(problem.class(), ErrorClass::Missing);
    assert!(problem.to_string().contains("/nonexistent") && problem.hint().is_some());
    let mut batch = missing.embed_passages(passages(2)).expect("a batch");
    assert!(matches!(batch.next_timeout(PATIENCE), Err(Error::Passage { .. })));
    assert_eq!(info(&program.model()).dimension, 384);
}

#[test]
fn a_client_survives_the_kill_of_the_program() {
    let mut program = Program::start();
    let model = program.model();
    let expected = model.embed_query("Button").expect("a vector");
    kill(program.pid(), Signal::SIGKILL).expect("a process");
    program.child.wait().expect("a child");
    program.child = Program::spawn(program.directory.path(), &ONE_THREAD);
    assert_eq!(model.embed_query("Button").expect("a vector"), expected);
}

#[test]
fn queries_that_were_begun_together_have_the_vectors_of_each_alone() {
    let program = Program::start();
    let (remote, local) = (
        program.model(),
        Model::load(&model_directory(), &options(1)).expect("a model"),
    );
    let texts: Vec<String> = ["Button", "detecting when clients abort", "", "Button", "a", "b"]
        .map(str::to_owned)
        .into();
    for model in [&remote as &dyn Embedder, &local] {
        let vectors = model.begin_queries(&texts).finish().into_iter();
        let vectors: Vec<Vec<f32>> = vectors.map(|vector| vector.expect("a vector")).collect();
        for (text, vector) in texts.iter().zip(vectors) {
            assert_eq!(vector, local.embed_query(text).expect("a vector"), "{text}");
        }
    }
    assert!(remote.begin_queries(&[]).finish().is_empty());
}

#[test]
fn cancelled_queries_leave_no_answer_for_the_next() {
    let program = Program::start();
    let model = program.model();
    let begun = |text: &str| model.begin_queries(&[text.to_owned(), "other".to_owned()]);
    drop(begun("first"));
    let second = begun("second");
    let alone = model.embed_query("alone").expect("a vector");
    assert_eq!(
        second.finish()[0].as_ref().expect("a vector"),
        &model.embed_query("second").expect("a vector")
    );
    assert_eq!(model.embed_query("alone").expect("a vector"), alone);
}

#[test]
fn queries_that_were_begun_survive_a_program_that_is_killed() {
    let mut program = Program::start();
    let model = program.model();
    let before = model.embed_query("Button").expect("a vector");
    let begun = model.begin_queries(&["Button".to_owned(), "Toggle".to_owned()]);
    kill(program.pid(), Signal::SIGKILL).expect("a process");
    program.child.wait().expect("a child");
    program.child = Program::spawn(program.directory.path(), &ONE_THREAD);
    let vectors = begun.finish();
    assert_eq!(vectors[0].as_ref().expect("a vector"), &before);
    assert!(vectors[1].is_ok());
}

#[test]
fn a_batch_continues_with_the_next_program() {
    let mut program = Program::start();
    let model = program.model();
    let texts = passages(300);
    let mut batch = model.embed_passages(texts.clone()).expect("a batch");
    let mut vectors = vec![None; texts.len()];
    let mut killed = false;
    loop {
        match batch.next_timeout(Duration::from_secs(1)).expect("the batch goes on") {
            Progress::Embedded(PassageVector { index, vector }) => {
                assert!(vectors[index].replace(vector).is_none());
                if index > 50 && !killed {
                    killed = true;
                    kill(program.pid(), Signal::SIGKILL).expect("a process");
                    program.child.wait().expect("a child");
                    program.child = Program::spawn(
                        program.directory.path(),
                        &["--threads", "2", "--cache-bytes", "0", PATIENT[0], PATIENT[1]],
                    );
                }
            }
            Progress::Pending => {}
            Progress::Finished => break,
        }
    }
    assert!(killed && vectors.iter().all(Option::is_some));
}

#[test]
fn a_hanging_program_fails_after_the_timeout() {
    let program = Program::start();
    let model = served(program.client_with_timeout(Duration::from_millis(300)), None);
    program.model().embed_query("Button").expect("a vector");
    program.freeze();
    let problem = model.embed_query("another").expect_err("no answer");
    assert_eq!(problem.class(), ErrorClass::TimedOut);
    let outcomes = model.begin_queries(&passages(5)).finish();
    let classes = outcomes
        .into_iter()
        .map(|outcome| outcome.map_err(|problem| problem.class()));
    assert!(classes.eq(vec![Err(ErrorClass::TimedOut); 5]));
    let mut batch = model.embed_passages(passages(3)).expect("a batch");
    let problem = loop {
        match batch.next_timeout(Duration::from_millis(50)) {
            Ok(Progress::Pending) => {}
            other => break other.expect_err("no answer"),
        }
    };
    assert_eq!(problem.class(), ErrorClass::TimedOut);
    kill(program.pid(), Signal::SIGCONT).expect("a process");
    assert!(program.model().embed_query("a third").is_ok());
}

#[test]
fn what_a_client_no_longer_waits_for_is_not_computed() {
    let program = Program::start_with(&ONE_THREAD);
    let client = program.client();
    // The only worker waits for the first file of this model until it is written below.
    let directory = TempDir::new().expect("a temporary directory");
    let modules = directory.path().join("modules.json");
    mkfifo(&modules, Mode::S_IRWXU).expect("a pipe");
    let path = directory.path().to_str().expect("a path in UTF-8").to_owned();
    let mut batch = ServedModel::new(Rc::clone(&client), path, None)
        .embed_passages(passages(60))
        .expect("a batch");
    let begun = batch.next_timeout(Duration::ZERO).expect("a program");
    assert!(matches!(begun, Progress::Pending));
    let wait_for_queue = |depth| {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let status = client.borrow_mut().status().expect("an answer").expect("a program");
            if status.queue_depth == depth {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "{} texts wait, not {depth}",
                status.queue_depth
            );
            thread::sleep(Duration::from_millis(5));
        }
    };
    wait_for_queue(59);
    drop(batch);
    wait_for_queue(0);
    fs::write(&modules, "[]").expect("a pipe");
    assert_eq!(info(&program.model()).dimension, 384);
}

#[test]
fn malformed_and_oversized_frames_end_the_connection_and_nothing_else() {
    let program = Program::start();
    let version = 2;
    let too_long = u32::MAX.to_le_bytes().to_vec();
    let other_version = vec![1, 0, 0, 0, version + 1];
    let garbage = [vec![9, 0, 0, 0, version], vec![0xff; 8]].concat();
    let unfinished = vec![100, 0, 0, 0, version];
    for (frame, refused) in [
        (too_long, true),
        (other_version, true),
        (garbage, true),
        (unfinished, false),
    ] {
        let mut stream = program.connect();
        stream.write_all(&frame).expect("an open connection");
        if refused {
            stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
            assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
        }
    }
    assert_eq!(info(&program.model()).dimension, 384);
}

#[test]
fn other_users_cannot_connect() {
    let program = Program::start();
    drop(program.connect());
    let mode = fs::metadata(program.socket()).expect("a socket").permissions().mode();
    assert_eq!(mode & 0o077, 0);
}

#[test]
fn the_program_ends_with_its_supervisor_and_on_a_signal() {
    let mut program = Program::start();
    program.model().embed_query("Button").expect("a vector");
    drop(program.child.stdin.take());
    assert!(program.end().success());
    assert!(!program.socket().exists());

    let mut program = Program::start();
    drop(program.connect());
    kill(program.pid(), Signal::SIGTERM).expect("a process");
    assert!(program.end().success());
}

#[test]
fn too_little_memory_ends_the_program_or_the_request_with_an_error() {
    let limit = ["--memory-limit", "40000000"];
    let program = Program::start_with(&[&ONE_THREAD[..], &limit].concat());
    let model = served(program.client_with_timeout(Duration::from_secs(5)), None);
    let problem = model.embed_query("Button").expect_err("40 MB are too little");
    assert!(!problem.to_string().is_empty());
}

#[test]
fn settings_change_while_it_runs() {
    let mut program = Program::start();
    let client = program.client();
    let model = served(Rc::clone(&client), None);
    model.embed_query("Button").expect("a vector");
    let stdin = program.child.stdin.as_mut().expect("a pipe");
    stdin
        .write_all(b"nonsense\n{\"threads\": 1, \"cache_bytes\": 0, \"text_limit_ms\": 300000}\n")
        .expect("a pipe");
    let deadline = Instant::now() + PATIENCE;
    while client
        .borrow_mut()
        .status()
        .expect("an answer")
        .expect("a program")
        .cache_entries
        > 0
    {
        assert!(Instant::now() < deadline, "the cache is not emptied");
        thread::sleep(Duration::from_millis(5));
    }
}

fn request(url: &str) -> ChatRequest {
    ChatRequest {
        endpoint: Endpoint {
            url: url.to_owned(),
            model: "small".to_owned(),
            key_file: None,
        },
        system: "Be brief.".to_owned(),
        user: "Hello".to_owned(),
        sampling: Sampling {
            temperature: 0.0,
            top_p: None,
            top_k: None,
            max_tokens: 10,
        },
        limit: PATIENCE,
    }
}

#[test]
fn the_program_calls_a_language_model() {
    let program = Program::start();
    let client = program.client();
    let server = HttpServer::start(vec![Reaction::chat("Hi."), Reaction::status(401)]);
    let answer = client.borrow_mut().chat(request(&server.url));
    assert_eq!(answer.expect("an answer").text, "Hi.");
    let problem = client.borrow_mut().chat(request(&server.url)).expect_err("no answer");
    assert_eq!(problem.class(), ErrorClass::Authentication);
    assert!(problem.remote().is_some_and(|failure| failure.detail.is_some()));
    let long = ChatRequest {
        user: "x".repeat(MAX_TEXT_BYTES),
        ..request(&server.url)
    };
    let problem = client.borrow_mut().chat(long).expect_err("too long");
    assert_eq!((problem.class(), server.received().len()), (ErrorClass::Refused, 2));
}

/// A host that unwinds out of a wait when it is cancelled, as a backend does.
#[derive(Clone)]
struct Cancellable {
    inner: Poll,
    cancelled: Arc<AtomicBool>,
}

impl Host for Cancellable {
    fn wait(&mut self, socket: Option<(BorrowedFd<'_>, Readiness)>, timeout: Duration) {
        if self.cancelled.load(Ordering::SeqCst) {
            std::panic::resume_unwind(Box::new("cancelled"));
        }
        self.inner.wait(socket, timeout.min(Duration::from_millis(10)));
    }

    fn start_service(&mut self) -> Result<(), Error> {
        self.inner.start_service()
    }

    fn timeout(&self) -> Duration {
        self.inner.timeout()
    }
}

#[test]
fn texts_are_embedded_while_language_models_hang_and_a_cancelled_question_is_withdrawn() {
    let program = Program::start_with(&ONE_THREAD);
    let server = HttpServer::start(vec![Reaction::Hang]);
    let cancelled = Arc::new(AtomicBool::new(false));
    let hanging: Vec<_> = (0..8)
        .map(|_| {
            let host = Cancellable {
                inner: Poll { timeout: PATIENCE },
                cancelled: Arc::clone(&cancelled),
            };
            let (socket, url) = (program.socket(), server.url.clone());
            thread::spawn(move || Client::new(socket, host).chat(request(&url)).map(drop))
        })
        .collect();
    server.wait_for_open(4);
    assert_eq!(embed_all(&program.model(), &passages(4)).len(), 4);
    program.model().embed_query("Button").expect("a vector");
    cancelled.store(true, Ordering::SeqCst);
    for thread in hanging {
        assert!(thread.join().is_err());
    }
    server.wait_for_open(0);
}
