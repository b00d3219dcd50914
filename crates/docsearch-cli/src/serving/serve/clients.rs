//! The connections of clients: how many there may be, and how long they may leave the server waiting.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::HeaderValue;
use axum::http::header::{CONNECTION, TRANSFER_ENCODING};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::framing::Framed;
use super::places::{Place, Places};

/// For the head of a request, and for what is read ahead of a body.
const BUFFER: usize = 64 * 1024;

/// For the last answer to be taken by a client whose place is given away.
const LAST_ANSWER: Duration = Duration::from_secs(1);

/// What clients may take together and each.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientLimits {
    /// Connections at the same time, at least 1. A further one takes the place of one that asks for nothing; if all
    /// have a request under way, it waits.
    pub(super) connections: usize,
    /// For the head of a request to be there, after the connection was made or the last answer sent; and for some
    /// of an answer to be taken.
    pub(super) patience: Duration,
    /// For connections to end once the server does.
    pub(super) grace: Duration,
}

/// Serves whoever connects until `ended`; then those who are connected get what is under way.
pub(super) async fn serve<L>(mut listener: L, router: &Router, limits: ClientLimits, ended: impl Future<Output = ()>)
where
    L: Listener<Addr = SocketAddr>,
{
    let places = Arc::new(Places::new(limits.connections));
    let (open, ending) = (TaskTracker::new(), CancellationToken::new());
    let mut ended = std::pin::pin!(ended);
    loop {
        let next = async {
            let (stream, address) = listener.accept().await;
            (stream, address, places.take().await)
        };
        let (stream, address, place) = tokio::select! {
            (stream, address, Some(place)) = next => (stream, address, place),
            () = &mut ended => break,
        };
        let stream = Impatient::new(stream, limits.patience);
        open.spawn(converse(
            stream,
            address,
            place,
            router.clone(),
            limits.patience,
            ending.clone(),
        ));
    }
    drop(listener);
    ending.cancel();
    open.close();
    timeout(limits.grace, open.wait()).await.ok();
}

/// Answers the requests of one connection.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    address: SocketAddr,
    place: Place,
    router: Router,
    patience: Duration,
    ending: CancellationToken,
) {
    let answers = TowerToHyperService::new(router);
    let (answers, place) = (&answers, &place);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        // Nothing looks for the next head behind chunks.
        let is_last = request.headers().contains_key(TRANSFER_ENCODING);
        place.asks();
        let answer = answers.call(request);
        async move {
            let mut answer = answer.await;
            if is_last && let Ok(answer) = &mut answer {
                answer
                    .headers_mut()
                    .insert(CONNECTION, HeaderValue::from_static("close"));
            }
            place.has_answer();
            answer
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(BUFFER)
        .max_header_size(BUFFER)
        .serve_connection(TokioIo::new(Framed::new(stream)), service);
    let mut connection = std::pin::pin!(connection);
    // How a connection ends is the client's affair.
    let _ = tokio::select! {
        end = &mut connection => end,
        () = place.is_given_away() => {
            if !place.has_asked() {
                return;
            }
            // The last answer may not have been sent.
            connection.as_mut().graceful_shutdown();
            return drop(timeout(LAST_ANSWER, connection).await);
        }
        () = ending.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
}

/// A stream that fails when the other side takes nothing of what is written for a while.
struct Impatient<S> {
    stream: S,
    patience: Duration,
    /// Runs while something waits to be taken.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Impatient<S> {
    fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            stalled: None,
        }
    }

    /// What has become of a write, unless it has waited for too long.
    fn judge(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::body::{Body, Bytes, HttpBody};
    use axum::routing::get;
    use hyper::body::Frame;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::Semaphore;
    use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

    use super::*;

    const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    /// Passes before a test can end.
    const SHORT: Duration = Duration::from_millis(20);
    /// Does not pass.
    const LONG: Duration = Duration::from_secs(24 * 60 * 60);

    async fn serving(router: Router, connections: usize, patience: Duration) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits = ClientLimits {
            connections,
            patience,
            grace: LONG,
        };
        tokio::spawn(async move { serve(listener, &router, limits, std::future::pending()).await });
        address
    }

    fn greeting() -> Router {
        Router::new().route("/", get(|| async { "hello" }))
    }

    /// What the server sends until it ends the connection.
    async fn rest(mut client: TcpStream) -> String {
        let mut text = Vec::new();
        // A connection may also be reset.
        client.read_to_end(&mut text).await.ok();
        String::from_utf8(text).unwrap()
    }

    #[tokio::test]
    async fn who_does_not_go_on_with_a_request_is_left() {
        let address = serving(greeting(), 10, SHORT).await;
        for beginning in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\n"] {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(beginning.as_bytes()).await.unwrap();
            assert!(!rest(client).await.contains("hello"), "{beginning}");
        }
    }

    #[tokio::test]
    async fn who_asks_nothing_more_is_left() {
        // Whoever is slower than the limit is left before: then it is tried with a longer one.
        for patience in (0..).map(|power| SHORT * 2_u32.pow(power)) {
            let mut client = TcpStream::connect(serving(greeting(), 10, patience).await)
                .await
                .unwrap();
            client.write_all(GET).await.unwrap();
            if rest(client).await.ends_with("hello") {
                return;
            }
        }
    }

    #[tokio::test]
    async fn who_asks_in_time_may_ask_again() {
        let mut client = TcpStream::connect(serving(greeting(), 10, LONG).await).await.unwrap();
        for _ in 0..3 {
            client.write_all(GET).await.unwrap();
            let mut answer = Vec::new();
            while !answer.ends_with(b"hello") {
                answer.push(client.read_u8().await.unwrap());
            }
        }
    }

    #[tokio::test]
    async fn a_head_that_does_not_end_is_not_kept() {
        let mut client = TcpStream::connect(serving(greeting(), 10, LONG).await).await.unwrap();
        client
            .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
            .await
            .unwrap();
        // Written until nobody takes it any more.
        while client.write_all(&[b'x'; 1024]).await.is_ok() {}
        assert!(!rest(client).await.contains("hello"));
    }

    /// A body without an end, which tells when it is given up.
    struct Endless(UnboundedSender<()>);

    impl HttpBody for Endless {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 64 * 1024])))))
        }
    }

    impl Drop for Endless {
        fn drop(&mut self) {
            self.0.send(()).ok();
        }
    }

    #[tokio::test]
    async fn who_does_not_read_an_answer_is_left() {
        let (given_up, mut is_given_up) = unbounded_channel();
        let router = Router::new().route("/", get(async move || Body::new(Endless(given_up.clone()))));
        let address = serving(router, 10, SHORT).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(GET).await.unwrap();
        // The client is there and reads nothing.
        is_given_up.recv().await.unwrap();
        drop(client);
    }

    #[tokio::test]
    async fn further_connections_wait_until_there_is_room() {
        static INSIDE: AtomicUsize = AtomicUsize::new(0);
        static MOST: AtomicUsize = AtomicUsize::new(0);
        let doors = Arc::new(Semaphore::new(0));
        let (entered, mut entering) = unbounded_channel();
        let router = Router::new().route(
            "/",
            get({
                let doors = Arc::clone(&doors);
                async move || {
                    MOST.fetch_max(INSIDE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    entered.send(()).ok();
                    doors.acquire().await.unwrap().forget();
                    INSIDE.fetch_sub(1, Ordering::SeqCst);
                    "hello"
                }
            }),
        );
        let address = serving(router, 2, LONG).await;
        let mut clients = Vec::new();
        for _ in 0..10 {
            let mut client = TcpStream::connect(address).await.unwrap();
            client
                .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                .await
                .unwrap();
            clients.push(tokio::spawn(rest(client)));
        }
        for _ in 0..2 {
            entering.recv().await.unwrap();
        }
        for _ in 0..8 {
            doors.add_permits(1);
            entering.recv().await.unwrap();
        }
        doors.add_permits(2);
        for client in clients {
            assert!(client.await.unwrap().ends_with("hello"));
        }
        assert_eq!(MOST.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn who_asks_nothing_makes_room_for_who_does() {
        for beginning in ["", "GET / HTTP/1.1\r\nHost: ", "GET / HTTP/1.1\r\nHost: localhost\r\n"] {
            let address = serving(greeting(), 1, LONG).await;
            let mut silent = TcpStream::connect(address).await.unwrap();
            silent.write_all(beginning.as_bytes()).await.unwrap();
            let mut asking = TcpStream::connect(address).await.unwrap();
            asking.write_all(GET).await.unwrap();
            assert_eq!(rest(silent).await, "");
            let mut answer = Vec::new();
            while !answer.ends_with(b"hello") {
                answer.push(asking.read_u8().await.unwrap());
            }
        }
    }

    #[tokio::test]
    async fn who_makes_room_still_gets_the_answer() {
        let address = serving(greeting(), 1, LONG).await;
        let mut clients = Vec::new();
        for _ in 0..50 {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(GET).await.unwrap();
            clients.push(client);
        }
        let last = clients.pop().unwrap();
        for client in clients {
            // It is told to go, having asked or not.
            let answer = rest(client).await;
            assert!(answer.ends_with("hello") || answer.is_empty(), "{answer}");
        }
        drop(last);
    }

    #[tokio::test]
    async fn those_who_say_nothing_do_not_hold_up_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits = ClientLimits {
            connections: 2,
            patience: LONG,
            grace: SHORT,
        };
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            serve(listener, &greeting(), limits, async move {
                ended.await.ok();
            })
            .await;
        });
        let mut silent = TcpStream::connect(address).await.unwrap();
        silent.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        let mut asking = TcpStream::connect(address).await.unwrap();
        asking.write_all(GET).await.unwrap();
        asking.read_u8().await.unwrap();
        end.send(()).unwrap();
        served.await.unwrap();
    }
}
