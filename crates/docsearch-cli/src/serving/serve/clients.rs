//! Connections of clients: their maximum number, and timeouts.

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

use super::connection_slots::{ConnectionSlots, Slot};
use super::framing::StrictFraming;

/// Size of the buffer for a request head and for the beginning of a body.
const BUFFER: usize = 64 * 1024;

/// Time for a client to read its last response before its connection is closed.
const LAST_ANSWER: Duration = Duration::from_secs(1);

/// Limits for clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientLimits {
    /// Maximum number of connections, at least 1. A further one replaces an idle connection; if all have a running
    /// request, it waits.
    pub(super) connections: usize,
    /// Time for a client to send a request head, after connecting or after the last response, and to read more of a
    /// response.
    pub(super) client_timeout: Duration,
    /// Time for open connections to finish when the server stops.
    pub(super) grace: Duration,
}

/// Serves connections until `ended`; then lets open connections finish their requests.
pub(super) async fn serve<L>(mut listener: L, router: &Router, limits: ClientLimits, ended: impl Future<Output = ()>)
where
    L: Listener<Addr = SocketAddr>,
{
    let slots = Arc::new(ConnectionSlots::new(limits.connections));
    let (open, ending) = (TaskTracker::new(), CancellationToken::new());
    let mut ended = std::pin::pin!(ended);
    loop {
        let next = async {
            let (stream, address) = listener.accept().await;
            (stream, address, slots.take().await)
        };
        let (stream, address, slot) = tokio::select! {
            (stream, address, Some(slot)) = next => (stream, address, slot),
            () = &mut ended => break,
        };
        let stream = WriteTimeout::new(stream, limits.client_timeout);
        open.spawn(serve_connection(
            stream,
            address,
            slot,
            router.clone(),
            limits.client_timeout,
            ending.clone(),
        ));
    }
    drop(listener);
    ending.cancel();
    open.close();
    timeout(limits.grace, open.wait()).await.ok();
}

/// Serves the requests of one connection.
async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    address: SocketAddr,
    slot: Slot,
    router: Router,
    client_timeout: Duration,
    ending: CancellationToken,
) {
    let answers = TowerToHyperService::new(router);
    let (answers, slot) = (&answers, &slot);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        // The framing does not parse heads after chunked bodies.
        let is_last = request.headers().contains_key(TRANSFER_ENCODING);
        slot.begin_request();
        let answer = answers.call(request);
        async move {
            let mut answer = answer.await;
            if is_last && let Ok(answer) = &mut answer {
                answer
                    .headers_mut()
                    .insert(CONNECTION, HeaderValue::from_static("close"));
            }
            slot.end_request();
            answer
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(client_timeout)
        .max_buf_size(BUFFER)
        .max_header_size(BUFFER)
        .serve_connection(TokioIo::new(StrictFraming::new(stream)), service);
    let mut connection = std::pin::pin!(connection);
    // Errors of the connection are up to the client.
    let _ = tokio::select! {
        end = &mut connection => end,
        () = slot.evicted() => {
            if !slot.has_requested() {
                return;
            }
            // The last response may not have been sent yet.
            connection.as_mut().graceful_shutdown();
            return drop(timeout(LAST_ANSWER, connection).await);
        }
        () = ending.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
}

/// A stream whose writes fail if the client reads nothing for a while.
struct WriteTimeout<S> {
    stream: S,
    client_timeout: Duration,
    /// Runs while a write is pending.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    fn new(stream: S, client_timeout: Duration) -> Self {
        Self {
            stream,
            client_timeout,
            stalled: None,
        }
    }

    /// The result of a write, or an error if it was pending for too long.
    fn check(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let client_timeout = self.client_timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(client_timeout)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.check(context, written)
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
    /// Passes within a test.
    const SHORT: Duration = Duration::from_millis(20);
    /// Does not pass within a test.
    const LONG: Duration = Duration::from_secs(24 * 60 * 60);

    async fn start_server(router: Router, connections: usize, client_timeout: Duration) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits = ClientLimits {
            connections,
            client_timeout,
            grace: LONG,
        };
        tokio::spawn(async move { serve(listener, &router, limits, std::future::pending()).await });
        address
    }

    fn hello_router() -> Router {
        Router::new().route("/", get(|| async { "hello" }))
    }

    /// The data that the server sends until it closes the connection.
    async fn read_rest(mut client: TcpStream) -> String {
        let mut text = Vec::new();
        // A connection may also be reset.
        client.read_to_end(&mut text).await.ok();
        String::from_utf8(text).unwrap()
    }

    #[tokio::test]
    async fn an_incomplete_request_times_out() {
        let address = start_server(hello_router(), 10, SHORT).await;
        for beginning in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\n"] {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(beginning.as_bytes()).await.unwrap();
            assert!(!read_rest(client).await.contains("hello"), "{beginning}");
        }
    }

    #[tokio::test]
    async fn an_idle_connection_times_out() {
        // The limit may be shorter than the client needs: then it is doubled.
        for client_timeout in (0..).map(|power| SHORT * 2_u32.pow(power)) {
            let mut client = TcpStream::connect(start_server(hello_router(), 10, client_timeout).await)
                .await
                .unwrap();
            client.write_all(GET).await.unwrap();
            if read_rest(client).await.ends_with("hello") {
                return;
            }
        }
    }

    #[tokio::test]
    async fn a_connection_may_send_several_requests() {
        let mut client = TcpStream::connect(start_server(hello_router(), 10, LONG).await)
            .await
            .unwrap();
        for _ in 0..3 {
            client.write_all(GET).await.unwrap();
            let mut answer = Vec::new();
            while !answer.ends_with(b"hello") {
                answer.push(client.read_u8().await.unwrap());
            }
        }
    }

    #[tokio::test]
    async fn an_endless_head_is_rejected() {
        let mut client = TcpStream::connect(start_server(hello_router(), 10, LONG).await)
            .await
            .unwrap();
        client
            .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
            .await
            .unwrap();
        // Writes until the server stops reading.
        while client.write_all(&[b'x'; 1024]).await.is_ok() {}
        assert!(!read_rest(client).await.contains("hello"));
    }

    /// An endless body that reports when it is dropped.
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
    async fn a_client_that_does_not_read_times_out() {
        let (given_up, mut is_given_up) = unbounded_channel();
        let router = Router::new().route("/", get(async move || Body::new(Endless(given_up.clone()))));
        let address = start_server(router, 10, SHORT).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(GET).await.unwrap();
        // The client stays connected and reads nothing.
        is_given_up.recv().await.unwrap();
        drop(client);
    }

    #[tokio::test]
    async fn further_connections_wait_for_a_slot() {
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
        let address = start_server(router, 2, LONG).await;
        let mut clients = Vec::new();
        for _ in 0..10 {
            let mut client = TcpStream::connect(address).await.unwrap();
            client
                .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                .await
                .unwrap();
            clients.push(tokio::spawn(read_rest(client)));
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
    async fn an_idle_connection_is_replaced() {
        for beginning in ["", "GET / HTTP/1.1\r\nHost: ", "GET / HTTP/1.1\r\nHost: localhost\r\n"] {
            let address = start_server(hello_router(), 1, LONG).await;
            let mut silent = TcpStream::connect(address).await.unwrap();
            silent.write_all(beginning.as_bytes()).await.unwrap();
            let mut asking = TcpStream::connect(address).await.unwrap();
            asking.write_all(GET).await.unwrap();
            assert_eq!(read_rest(silent).await, "");
            let mut answer = Vec::new();
            while !answer.ends_with(b"hello") {
                answer.push(asking.read_u8().await.unwrap());
            }
        }
    }

    #[tokio::test]
    async fn a_replaced_connection_still_gets_its_response() {
        let address = start_server(hello_router(), 1, LONG).await;
        let mut clients = Vec::new();
        for _ in 0..50 {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(GET).await.unwrap();
            clients.push(client);
        }
        let last = clients.pop().unwrap();
        for client in clients {
            // The server closes the connection, with or without a response.
            let answer = read_rest(client).await;
            assert!(answer.ends_with("hello") || answer.is_empty(), "{answer}");
        }
        drop(last);
    }

    #[tokio::test]
    async fn silent_clients_do_not_delay_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits = ClientLimits {
            connections: 2,
            client_timeout: LONG,
            grace: SHORT,
        };
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            serve(listener, &hello_router(), limits, async move {
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
