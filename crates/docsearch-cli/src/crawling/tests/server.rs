//! A web server on the loopback interface with scripted responses.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use url::Url;

/// A received request.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) path: String,
    headers: Vec<(String, String)>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name))?;
        Some(&header.1)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Reply {
    pub(super) fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub(super) fn html(body: &str) -> Self {
        Self::status(200)
            .header("Content-Type", "text/html; charset=utf-8")
            .body(body)
    }

    pub(super) fn redirect(target: &str) -> Self {
        Self::status(302).header("Location", target)
    }

    pub(super) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = body.as_ref().to_vec();
        self
    }
}

/// A server until the end of the test process.
pub(super) struct Server {
    pub(super) origin: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Starts a server; `answer` also gets the number of earlier requests for the same path.
    pub(super) fn start(answer: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", answer)
    }

    pub(super) fn start_at(address: &str, answer: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &log, &*answer));
            }
        });
        Self { origin, requests }
    }

    pub(super) fn url(&self, path: &str) -> Url {
        Url::parse(&self.origin).unwrap().join(path).unwrap()
    }

    /// The requests so far, without those for `robots.txt`.
    pub(super) fn requests(&self) -> Vec<Request> {
        let requests = self.requests.lock().unwrap();
        let pages = requests.iter().filter(|request| request.path != "/robots.txt");
        pages.cloned().collect()
    }

    pub(super) fn paths(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.path).collect()
    }
}

fn serve(mut stream: TcpStream, log: &Mutex<Vec<Request>>, answer: &dyn Fn(&Request, usize) -> Reply) {
    let mut lines = BufReader::new(stream.try_clone().unwrap())
        .lines()
        .map_while(Result::ok);
    let Some(path) = lines.next().and_then(|line| Some(line.split(' ').nth(1)?.to_owned())) else {
        return;
    };
    let headers = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            line.split_once(": ")
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
        })
        .collect();
    let request = Request { path, headers };
    let earlier = {
        let mut log = log.lock().unwrap();
        log.push(request.clone());
        log.iter().filter(|other| other.path == request.path).count() - 1
    };
    let reply = answer(&request, earlier);
    let mut head = format!("HTTP/1.1 {} Status\r\nConnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", reply.body.len()));
    // The client may hang up early.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(&reply.body));
}
