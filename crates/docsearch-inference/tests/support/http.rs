//! An HTTP server on the loopback interface that reacts as a test requires.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any step here takes, even on a slow machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// What the server does with a request.
#[derive(Clone)]
pub(crate) enum Reaction {
    /// Status, further header lines, and the body.
    Answer(u16, &'static str, String),
    /// Nothing, until the client ends the connection.
    Hang,
    /// A byte of the body now and then, without end.
    Drip,
    /// A body of this many bytes.
    Pour(u64),
    /// The end of the connection in the middle of the answer.
    Break,
    /// An error whose text repeats the whole request.
    Echo(u16),
}

impl Reaction {
    /// The answer of a language model.
    pub(crate) fn chat(content: &str) -> Self {
        let body = serde_json::json!({"choices": [{"message": {"role": "assistant", "content": content}}]});
        Self::Answer(200, "", body.to_string())
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::Answer(status, "", r#"{"error": {"message": "no"}}"#.to_owned())
    }
}

/// A request as received.
#[derive(Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) body: serde_json::Value,
}

#[derive(Default)]
struct State {
    received: Vec<ReceivedRequest>,
    open: usize,
    most_open: usize,
}

pub(crate) struct HttpServer {
    pub(crate) url: String,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl HttpServer {
    /// A server that reacts to its requests in this order, and to further ones as to the last.
    pub(crate) fn start(reactions: Vec<Reaction>) -> Self {
        let mut reactions = reactions.into_iter().peekable();
        let mut last = None;
        Self::answering(move |_| {
            last = reactions.next().or(last.take());
            last.clone().expect("a reaction")
        })
    }

    /// A server that reacts as `react` says.
    pub(crate) fn answering(react: impl FnMut(&ReceivedRequest) -> Reaction + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new((Mutex::new(State::default()), Condvar::new()));
        let react = Arc::new(Mutex::new(react));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, react) = (Arc::clone(&shared), Arc::clone(&react));
                thread::spawn(move || {
                    let _ = serve(&stream, &state, &react);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Self {
            url: format!("http://{address}/v1"),
            state,
        }
    }

    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.state.0.lock().expect("a lock").received.clone()
    }

    pub(crate) fn most_open(&self) -> usize {
        self.state.0.lock().expect("a lock").most_open
    }

    /// Waits until `open` requests are being answered.
    pub(crate) fn wait_for_open(&self, open: usize) {
        let end = Instant::now() + PATIENCE;
        let mut state = self.state.0.lock().expect("a lock");
        while state.open != open {
            let left = end.checked_duration_since(Instant::now());
            let left = left.unwrap_or_else(|| panic!("{} requests are open, not {open}", state.open));
            state = self.state.1.wait_timeout(state, left).expect("a lock").0;
        }
    }
}

type Shared = (Mutex<State>, Condvar);

fn serve(
    stream: &TcpStream,
    shared: &Shared,
    react: &Mutex<impl FnMut(&ReceivedRequest) -> Reaction>,
) -> std::io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let Some(received) = read(stream)? else {
        return Ok(());
    };
    let count = |change: fn(&mut State)| {
        change(&mut shared.0.lock().expect("a lock"));
        shared.1.notify_all();
    };
    let reaction = {
        // Reactions are in the order of `received`, and decided once a request counts as open.
        let mut react = react.lock().expect("a lock");
        shared.0.lock().expect("a lock").received.push(received.clone());
        react(&received)
    };
    count(|state| {
        state.open += 1;
        state.most_open = state.most_open.max(state.open);
    });
    let done = answer(stream, &received, &reaction);
    count(|state| state.open -= 1);
    done
}

fn read(stream: &TcpStream) -> std::io::Result<Option<ReceivedRequest>> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let start = head.len();
        if reader.read_line(&mut head)? == 0 {
            return Ok(None);
        }
        if head[start..].trim().is_empty() {
            break;
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(ReceivedRequest { head, body }))
}

fn answer(mut stream: &TcpStream, received: &ReceivedRequest, reaction: &Reaction) -> std::io::Result<()> {
    let head = |status: u16, more: &str, length: u64| {
        format!("HTTP/1.1 {status} Reason\r\nConnection: close\r\n{more}Content-Length: {length}\r\n\r\n")
    };
    match reaction {
        Reaction::Answer(status, more, body) => {
            stream.write_all((head(*status, more, body.len() as u64) + body).as_bytes())
        }
        Reaction::Echo(status) => {
            let body = format!("{}{}", received.head, received.body);
            stream.write_all((head(*status, "", body.len() as u64) + &body).as_bytes())
        }
        Reaction::Hang => stream.read(&mut [0]).map(|_| ()),
        Reaction::Break => stream.write_all((head(200, "", 1000) + "{").as_bytes()),
        Reaction::Drip => {
            stream.write_all(head(200, "", 1 << 30).as_bytes())?;
            loop {
                stream.write_all(b" ")?;
                thread::sleep(Duration::from_millis(5));
            }
        }
        Reaction::Pour(bytes) => {
            stream.write_all(head(200, "", *bytes).as_bytes())?;
            let block = [b' '; 64 * 1024];
            for _ in 0..bytes.div_ceil(block.len() as u64) {
                stream.write_all(&block)?;
            }
            Ok(())
        }
    }
}
