//! Requests whose ends everybody finds in the same place.
//!
//! A head that one program takes for one request and the next for two is how requests are smuggled past a proxy. hyper is
//! as lenient as the standard allows: a line feed alone ends a line, `Content-Length` may stand there twice or beside
//! `Transfer-Encoding`. Here nothing of this is allowed: the first byte that makes a head ambiguous becomes one that no head may
//! hold, and hyper answers 400 and ends the connection, as for all that it refuses itself.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of a line that are looked at; more than the fields that count here need.
const LOOKED_AT: usize = 256;

/// A stream of requests that gives no head that could be read in two ways.
pub(super) struct Framed<S> {
    stream: S,
    framing: Framing,
}

impl<S> Framed<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            framing: Framing::default(),
        }
    }
}

/// Where in the requests a connection is.
#[derive(Debug, Default)]
struct Framing {
    place: Place,
    /// The beginning of the line, with its carriage return.
    line: Vec<u8>,
    last: u8,
    is_behind_request_line: bool,
    length: Option<u64>,
    is_chunked: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Head,
    /// So many bytes of a body are left.
    Body(u64),
    /// A body in chunks, behind which the connection ends.
    Chunks,
    /// Behind what is ambiguous.
    Spoilt,
}

/// That a head can be read in two ways.
struct Ambiguous;

impl Framing {
    /// Follows what is read, up to what is ambiguous, and spoils that.
    fn follow(&mut self, bytes: &mut [u8]) {
        let mut at = 0;
        while at < bytes.len() {
            match self.place {
                Place::Head => {
                    if self.head(bytes[at]).is_err() {
                        bytes[at] = 0;
                        self.place = Place::Spoilt;
                    }
                    at += 1;
                }
                Place::Body(left) => {
                    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len() - at);
                    at += taken;
                    self.place = match left - taken as u64 {
                        0 => Place::Head,
                        left => Place::Body(left),
                    };
                }
                Place::Chunks | Place::Spoilt => return,
            }
        }
    }

    fn head(&mut self, byte: u8) -> Result<(), Ambiguous> {
        let last = std::mem::replace(&mut self.last, byte);
        match (last, byte) {
            (b'\r', b'\n') => self.end_of_line(),
            (_, b'\n') | (b'\r', _) => Err(Ambiguous),
            _ => {
                if self.line.len() < LOOKED_AT {
                    self.line.push(byte);
                }
                Ok(())
            }
        }
    }

    fn end_of_line(&mut self) -> Result<(), Ambiguous> {
        self.last = 0;
        let mut line = std::mem::take(&mut self.line);
        let is_whole = line.len() < LOOKED_AT;
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
        self.place = match (self.length, self.is_chunked) {
            (Some(_), true) => return Err(Ambiguous),
            (None, true) => Place::Chunks,
            (None | Some(0), false) => Place::Head,
            (Some(length), false) => Place::Body(length),
        };
        self.is_behind_request_line = false;
        self.length = None;
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Framed<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.framing.place == Place::Spoilt {
            // The end: what is there of the head is all that there will be.
            return Poll::Ready(Ok(()));
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, into))?;
        self.framing.follow(&mut into.filled_mut()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Framed<S> {
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

    /// Where the first byte stands that is ambiguous, read in pieces of this size.
    fn spoilt(sent: &[u8], piece: usize) -> Option<usize> {
        let (mut framing, mut read) = (Framing::default(), sent.to_vec());
        for piece in read.chunks_mut(piece) {
            framing.follow(piece);
            if framing.place == Place::Spoilt {
                break;
            }
        }
        sent.iter().zip(&read).position(|(sent, read)| sent != read)
    }

    #[test]
    fn requests_that_can_be_read_in_one_way_only_are_left_alone() {
        for sent in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length:  12\t\r\n\r\nno\nhead\r\n\n\nGET / HTTP/1.1\r\n\r\nGET / HTTP/1.0\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\na\nb\n\n\r\n0\r\n\r\n",
        ] {
            for piece in [1, 7, sent.len()] {
                assert_eq!(spoilt(sent.as_bytes(), piece), None, "{sent}");
            }
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_spoilt() {
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
                assert_eq!(spoilt(sent.as_bytes(), piece), Some(end - 1), "{sent}");
            }
        }
    }

    proptest! {
        #[test]
        fn bodies_are_left_alone_whatever_they_hold(
            bodies in proptest::collection::vec(proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..40), 1..5),
            piece in 1usize..30,
        ) {
            let mut sent = Vec::new();
            for body in &bodies {
                sent.extend(format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len()).bytes());
                sent.extend(body);
            }
            prop_assert_eq!(spoilt(&sent, piece), None);
            let end = sent.len();
            sent.extend(b"GET / HTTP/1.1\n");
            prop_assert_eq!(spoilt(&sent, piece), Some(end + b"GET / HTTP/1.1".len()));
        }
    }
}
