//! Messages through pipes, one a line. Unlike the transport of `rmcp`, this one answers lines that are invalid or too
//! long, so that their sender does not wait forever.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::message::{self, ParsedLine};

/// Maximum length of a line in bytes. In memory, its parsed values may take thirty times as much.
const MAX_LINE: usize = 4 * 1024 * 1024;
/// Number of bytes of a longer line that are kept, to find its id.
const BEGINNING: usize = 64 * 1024;
/// Time for the client to read pending responses after it has closed its input.
const GRACE: Duration = Duration::from_secs(5);

/// A transport for the messages of a client.
pub(super) struct Lines<R, W> {
    input: BufReader<R>,
    /// The part of a line that was read: reading may be cancelled.
    line: Vec<u8>,
    /// Whether the line is too long.
    is_too_long: bool,
    /// An error to send to the client.
    error: Option<Vec<u8>>,
    output: Arc<Mutex<Output<W>>>,
}

/// The output to a client.
struct Output<W> {
    writer: Option<W>,
    /// Unwritten bytes: writing may be cancelled within a line.
    waiting: VecDeque<u8>,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    async fn send(&mut self, line: &[u8]) -> io::Result<()> {
        self.waiting.extend(line);
        self.waiting.push_back(b'\n');
        self.flush().await
    }

    async fn flush(&mut self) -> io::Result<()> {
        let writer = self.writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        writer.write_all_buf(&mut self.waiting).await?;
        writer.flush().await
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Lines<R, W> {
    pub(super) fn new((input, output): (R, W)) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_too_long: false,
            error: None,
            output: Arc::new(Mutex::new(Output {
                writer: Some(output),
                waiting: VecDeque::new(),
            })),
        }
    }

    /// Reads to the end of the line or of the input. Returns whether there was anything.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let available = self.input.fill_buf().await?;
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            let taken = end.map_or(part.len(), |end| end + 1);
            if !self.is_too_long {
                self.line.extend_from_slice(part);
                if self.line.len() > MAX_LINE {
                    self.is_too_long = true;
                    self.line.truncate(BEGINNING);
                    self.line.shrink_to_fit();
                }
            }
            self.input.consume(taken);
            if end.is_some() {
                return Ok(true);
            }
            if taken == 0 {
                return Ok(!self.line.is_empty());
            }
        }
    }

    /// Parses the line that was read, and clears it.
    fn parse_line(&mut self) -> ParsedLine {
        let reading = match self.is_too_long {
            true => ParsedLine::Error(message::too_long(&self.line, MAX_LINE)),
            false => message::read(&self.line),
        };
        self.is_too_long = false;
        self.line.clear();
        self.line.shrink_to(BEGINNING);
        reading
    }

    /// Sends the error before reading more: a client that does not read its responses is not read either.
    async fn send_error(&mut self) -> io::Result<()> {
        if self.error.is_none() {
            return Ok(());
        }
        let mut output = self.output.lock().await;
        if let Some(line) = self.error.as_mut().filter(|line| !line.is_empty()) {
            output.waiting.extend(std::mem::take(line));
        }
        output.flush().await?;
        self.error = None;
        Ok(())
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            let line = serde_json::to_vec(&item)?;
            output.lock().await.send(&line).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.send_error().await.ok()?;
            if !self.read_line().await.ok()? {
                return None;
            }
            match self.parse_line() {
                ParsedLine::Message(message) => return Some(*message),
                ParsedLine::Ignored => {}
                ParsedLine::Error(error) => self.error = Some(format!("{error}\n").into_bytes()),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A response that the client does not read must not keep the program from ending.
        if let Ok(mut output) = timeout(GRACE, self.output.lock()).await {
            output.writer = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt, duplex, split};

    use super::*;

    /// The responses to the input, and the methods of the messages in it.
    async fn answers(input: Vec<u8>, room: usize) -> (Vec<Value>, Vec<Value>) {
        let (here, there) = duplex(room);
        let mut lines = Lines::new(split(there));
        let (mut reader, mut writer) = split(here);
        let sending = tokio::spawn(async move {
            writer.write_all(&input).await.unwrap();
            writer.shutdown().await.unwrap();
        });
        let reading = tokio::spawn(async move {
            let mut answers = String::new();
            reader.read_to_string(&mut answers).await.unwrap();
            answers
        });
        let mut methods = Vec::new();
        while let Some(message) = lines.receive().await {
            methods.push(serde_json::to_value(message).unwrap()["method"].clone());
        }
        drop(lines);
        sending.await.unwrap();
        let answers = reading.await.unwrap();
        let answers = answers.lines().map(|line| serde_json::from_str(line).unwrap());
        (answers.collect(), methods)
    }

    const PING: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

    #[tokio::test]
    async fn lines_after_an_invalid_one_are_read() {
        let long = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":5,\"params\":\"{}\"}}",
            "x".repeat(2 * MAX_LINE)
        );
        let parts = [b"nonsense", long.as_bytes(), b"", b"\r", PING, b"[]", PING];
        for room in [64, 1 << 20] {
            let (answers, methods) = answers(parts.join(&b'\n'), room).await;
            let said: Vec<_> = answers
                .iter()
                .map(|answer| (&answer["error"]["code"], &answer["id"]))
                .collect();
            let expected = [
                (json!(-32700), Value::Null),
                (json!(-32600), json!(5)),
                (json!(-32600), Value::Null),
            ];
            assert_eq!(said, expected.iter().map(|(code, id)| (code, id)).collect::<Vec<_>>());
            assert_eq!(methods, ["ping", "ping"]);
        }
    }

    #[tokio::test]
    async fn a_long_line_is_not_kept() {
        let mut lines = Lines::new((&[b'x'; 3 * MAX_LINE][..], Vec::new()));
        assert!(lines.read_line().await.unwrap());
        assert!(lines.is_too_long && lines.line.capacity() <= 2 * BEGINNING);
    }

    #[tokio::test]
    async fn an_error_is_sent_even_if_reading_is_cancelled() {
        let (here, there) = duplex(1);
        let (mut reader, _) = split(here);
        let mut lines = Lines::new((
            &b"nonsense\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"[..],
            there,
        ));
        tokio::select! {
            biased;
            _ = lines.receive() => panic!("the error was not read"),
            () = std::future::ready(()) => {}
        }
        let reading = tokio::spawn(async move {
            let mut answer = String::new();
            reader.read_to_string(&mut answer).await.unwrap();
            answer
        });
        assert!(lines.receive().await.is_some());
        drop(lines);
        let answer: Value = serde_json::from_str(&reading.await.unwrap()).unwrap();
        assert_eq!(answer["error"]["code"], -32700);
    }
}
