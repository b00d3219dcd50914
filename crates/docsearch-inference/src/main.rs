//! `docsearch-inference`: runs embedding models for a PostgreSQL server.
//!
//! The supervisor of the extension starts it. Its standard input is a pipe that brings other
//! settings, a line of JSON each, and whose end means that the supervisor has gone.

mod containment;

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use docsearch_inference::ServiceSettings;
use docsearch_inference::service::{self, Service};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long the lanes may take to finish the texts they are at.
const GRACE: Duration = Duration::from_secs(1);

/// Runs embedding models for a PostgreSQL server.
#[derive(Debug, Parser)]
#[command(version)]
enum Command {
    /// Serve embeddings at a Unix socket until standard input ends or SIGTERM comes.
    Serve(Serve),
}

#[derive(Debug, clap::Args)]
struct Serve {
    /// Where to listen; what is there is replaced.
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// The library libonnxruntime.so.
    #[arg(long, value_name = "FILE")]
    runtime: PathBuf,
    /// Greatest number of threads that embed passages; one more embeds queries only.
    #[arg(long, value_name = "NUMBER")]
    threads: NonZeroUsize,
    /// Greatest size of the cache of query vectors, in bytes.
    #[arg(long, value_name = "BYTES")]
    cache_bytes: u64,
    /// Greatest size of this program's data, in bytes; no limit if it is left out.
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

fn serve(options: Serve) -> Result<(), Box<dyn std::error::Error>> {
    containment::enter(options.memory_limit)?;
    let settings = ServiceSettings {
        threads: options.threads,
        cache_bytes: options.cache_bytes,
    };
    let service = Service::start(options.runtime, &settings)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let socket = options.socket;
    runtime.block_on(async {
        let signals = Signals::expect()?;
        let listener = service::listen(&socket)?;
        tokio::select! {
            failed = service.serve(listener) => failed,
            end = obey(&service) => end,
            () = signals.wait() => Ok(()),
        }
    })?;
    // Whoever comes now finds nobody and waits for the next program.
    let _ = std::fs::remove_file(&socket);
    // A lane may hang: the program ends all the same.
    std::thread::spawn(|| {
        std::thread::sleep(GRACE);
        std::process::exit(0);
    });
    service.stop();
    std::process::exit(0);
}

/// Takes over settings until standard input ends.
async fn obey(service: &Arc<Service>) -> io::Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        match serde_json::from_str::<ServiceSettings>(&line) {
            Ok(settings) => service.change(&settings),
            Err(problem) => eprintln!("ignored settings that are not valid: {problem}"),
        }
    }
    Ok(())
}

/// The signals that end the program. Expected before others can know of it.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
}

impl Signals {
    fn expect() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    async fn wait(mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            // An immediate shutdown of the server.
            _ = self.quit.recv() => std::process::exit(2),
        }
    }
}
