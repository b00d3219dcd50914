//! `docsearch-inference`: runs embedding models for a PostgreSQL server.
//!
//! The extension's supervisor starts it. Standard input is a pipe with new settings, one line of JSON each. Its end means
//! that the supervisor has ended.

mod containment;

use std::fs;
use std::io::{self, BufRead};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Parser;
use docsearch_inference::ServiceSettings;
use docsearch_inference::service::{self, Service};
use nix::sys::signal::{SigSet, Signal};

/// How long the threads may take to finish their current texts.
const GRACE: Duration = Duration::from_secs(1);

/// Runs embedding models for a PostgreSQL server.
#[derive(Debug, Parser)]
#[command(version)]
enum Command {
    /// Serve embeddings on a Unix socket until standard input ends or SIGTERM arrives.
    Serve(Serve),
}

#[derive(Debug, clap::Args)]
struct Serve {
    /// Path of the socket; an existing file is replaced.
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// The library libonnxruntime.so.
    #[arg(long, value_name = "FILE")]
    runtime: PathBuf,
    /// Maximum number of threads that embed passages; one more embeds only queries.
    #[arg(long, value_name = "NUMBER")]
    threads: NonZeroUsize,
    /// Size of the cache of query vectors, in bytes.
    #[arg(long, value_name = "BYTES")]
    cache_bytes: u64,
    /// Time limit of one text, in milliseconds.
    #[arg(long, value_name = "MILLISECONDS")]
    text_limit_ms: u64,
    /// Maximum size of this program's data, in bytes; no limit by default.
    #[arg(long, value_name = "BYTES")]
    memory_limit: Option<u64>,
}

fn main() -> ExitCode {
    let Command::Serve(options) = Command::parse();
    match serve(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn serve(options: Serve) -> io::Result<()> {
    containment::enter(options.memory_limit)?;
    let ends = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGQUIT]);
    // Inherited by every thread, so that only the thread that waits for signals receives them.
    ends.thread_block()?;
    let settings = ServiceSettings {
        threads: options.threads,
        cache_bytes: options.cache_bytes,
        text_limit_ms: options.text_limit_ms,
    };
    let service = Arc::new(Service::new(options.runtime, &settings));
    let socket = Arc::new(options.socket);
    watch("docsearch-signals", &service, &socket, move |_| {
        // An immediate shutdown of the server.
        if ends.wait() == Ok(Signal::SIGQUIT) {
            std::process::exit(2);
        }
    })?;
    watch("docsearch-settings", &service, &socket, apply_settings)?;
    watch("docsearch-watch", &service, &socket, |service| {
        service.watch();
        eprintln!("ending the program: a thread is stuck after a text exceeded the time limit");
    })?;
    let listener = service::listen(&socket)?;
    service.serve(&listener)
}

/// Starts a thread whose end is the end of the program.
fn watch(
    name: &str,
    service: &Arc<Service>,
    socket: &Arc<PathBuf>,
    until: impl FnOnce(&Service) + Send + 'static,
) -> io::Result<()> {
    let (service, socket) = (Arc::clone(service), Arc::clone(socket));
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        until(&service);
        end(&service, &socket);
    })?;
    Ok(())
}

/// Applies settings until standard input ends.
fn apply_settings(service: &Service) {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        match serde_json::from_str::<ServiceSettings>(&line) {
            Ok(settings) => service.change(&settings),
            Err(problem) => eprintln!("ignored invalid settings: {problem}"),
        }
    }
}

fn end(service: &Service, socket: &Path) -> ! {
    // New clients find no socket and wait for the next program.
    let _ = fs::remove_file(socket);
    // A thread may hang; the program ends anyway.
    thread::spawn(|| {
        thread::sleep(GRACE);
        std::process::exit(0);
    });
    // The library must not be unloaded while a thread runs a graph.
    service.stop();
    std::process::exit(0);
}
