//! Rejects requests whose end is ambiguous.
//!
//! If a proxy and a server disagree on where a request ends, requests can be smuggled past the proxy. hyper is as
//! lenient as the standard allows: a line feed alone ends a line, and `Content-Length` may be repeated or appear beside
//! `Transfer-Encoding`. Here, none of this is allowed. The first byte that makes a head ambiguous is replaced by one
//! that no head may contain; hyper then answers 400 and closes the connection, as for other invalid heads.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Number of bytes of a line that are examined, more than the relevant fields need.
const MAX_LINE: usize = 256;

/// A stream of requests that rejects ambiguous heads.
pub(super) struct StrictFraming<S> {
    stream: S,
    framing: Framing,
}

impl<S> StrictFraming<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            framing: Framing::default(),
        }
    }
}

/// The parser state of a connection.
#[derive(Debug, Default)]
struct Framing {
    position: Position,
    /// The beginning of the line, with its carriage return.
    line: Vec<u8>,
    last: u8,
    is_behind_request_line: bool,
    length: Option<u64>,
    is_chunked: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Position {
    #[default]
    Head,
    /// Within a body, with the number of bytes left.
    Body(u64),
    /// Within a chunked body, after which the connection is closed.
    Chunks,
    /// After an ambiguous head.
    Rejected,
}

/// The error for an ambiguous head.
struct Ambiguous;

impl Framing {
    /// Parses bytes up to the first ambiguous one, and overwrites that.
    fn parse(&mut self, bytes: &mut [u8]) {
        let mut at = 0;
        while at < bytes.len() {
            match self.position {
                Position::Head => {
                    if self.head(bytes[at]).is_err() {
                        bytes[at] = 0;
                        self.position = Position::Rejected;
                    }
                    at += 1;
                }
                Position::Body(left) => {
                    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len() - at);
                    at += taken;
                    self.position = match left - taken as u64 {
                        0 => Position::Head,
                        left => Position::Body(left),
                    };
                }
                Position::Chunks | Position::Rejected => return,
            }
        }
    }

    fn head(&mut self, byte: u8) -> Result<(), Ambiguous> {
        let last = std::mem::replace(&mut self.last, byte);
        match (last, byte) {
            (b'\r', b'\n') => self.end_of_line(),
            (_, b'\n') | (b'\r', _) => Err(Ambiguous),
            _ => {
                if self.line.len() < MAX_LINE {
                    self.line.push(byte);
                }
                Ok(())
            }
        }
    }

    fn end_of_line(&mut self) -> Result<(), Ambiguous> {
        self.last = 0;
        let mut line = std::mem::take(&mut self.line);
        let is_whole = line.len() < MAX_LINE;
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if !self.is_behind_request_line {
            // Blank lines before a request are allowed.
            self.is_behind_request_line = !line.is_empty();
        } else if line.is_empty() {
            return self.end_of_head();
        } else if let Some(colon) = line.iter().position(|byte| *byte == b':') {
            self.field(&line[..colon], line[colon + 1..].trim_ascii(), is_whole)?;
        }
        line.clear();
        self.line = line;
        Ok(())
    }

    fn field(&mut self, name: &[u8], value: &[u8], is_whole: bool) -> Result<(), Ambiguous> {
        if name.eq_ignore_ascii_case(b"content-length") {
            let digits = is_whole && !value.is_empty() && value.iter().all(u8::is_ascii_digit);
            let length = std::str::from_utf8(value)
                .ok()
                .filter(|_| digits)
                .and_then(|digits| digits.parse().ok());
            if length.is_none() || self.length.is_some() {
                return Err(Ambiguous);
            }
            self.length = length;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if self.is_chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Ambiguous);
            }
            self.is_chunked = true;
        }
        Ok(())
    }

    fn end_of_head(&mut self) -> Result<(), Ambiguous> {
        self.position = match (self.length, self.is_chunked) {
            (Some(_), true) => return Err(Ambiguous),
            (None, true) => Position::Chunks,
            (None | Some(0), false) => Position::Head,
            (Some(length), false) => Position::Body(length),
        };
        self.is_behind_request_line = false;
        self.length = None;
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StrictFraming<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.framing.position == Position::Rejected {
            // Signals the end of the stream: nothing follows the head.
            return Poll::Ready(Ok(()));
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, into))?;
        self.framing.parse(&mut into.filled_mut()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StrictFraming<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
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
    use proptest::prelude::*;

    use super::*;

    /// The position of the first ambiguous byte, if the bytes are read in pieces of this size.
    fn rejected(sent: &[u8], piece: usize) -> Option<usize> {
        let (mut framing, mut read) = (Framing::default(), sent.to_vec());
        for piece in read.chunks_mut(piece) {
            framing.parse(piece);
            if framing.position == Position::Rejected {
                break;
            }
        }
        sent.iter().zip(&read).position(|(sent, read)| sent != read)
    }

    #[test]
    fn unambiguous_requests_are_not_changed() {
        for sent in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length:  12\t\r\n\r\nno\nhead\r\n\n\nGET / HTTP/1.1\r\n\r\nGET / HTTP/1.0\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\na\nb\n\n\r\n0\r\n\r\n",
        ] {
            for piece in [1, 7, sent.len()] {
                assert_eq!(rejected(sent.as_bytes(), piece), None, "{sent}");
            }
        }
    }

    #[test]
    fn ambiguous_requests_are_rejected() {
        let long = format!("POST / HTTP/1.1\r\nContent-Length: {}5\r\n|", "0".repeat(300));
        for sent in [
            "GET / HTTP/1.1\n|Host: a\n\n",
            "\n|GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\n|\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\n|",
            "GET / HTTP/1.1\r\nHost: a\rX|: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\r|\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n|\r\n",
            "POST / HTTP/1.1\r\nContent-Length: +5\r\n|\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 0x5\r\n|\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5,5\r\n|\r\n",
            "POST / HTTP/1.1\r\nContent-Length:\r\n|\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n|\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n|",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n|",
            "POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\n|\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n|\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n|\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nabGET / HTTP/1.1\n|\r\n",
            &long,
        ] {
            let end = sent.find('|').unwrap();
            let sent = sent.replace('|', "");
            for piece in [1, 7, sent.len()] {
                assert_eq!(rejected(sent.as_bytes(), piece), Some(end - 1), "{sent}");
            }
        }
    }

    proptest! {
        #[test]
        fn bodies_are_not_changed(
            bodies in proptest::collection::vec(proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..40), 1..5),
            piece in 1usize..30,
        ) {
            let mut sent = Vec::new();
            for body in &bodies {
                sent.extend(format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len()).bytes());
                sent.extend(body);
            }
            prop_assert_eq!(rejected(&sent, piece), None);
            let end = sent.len();
            sent.extend(b"GET / HTTP/1.1\n");
            prop_assert_eq!(rejected(&sent, piece), Some(end + b"GET / HTTP/1.1".len()));
        }
    }
}
