//! Counts the messages from a server before the library stores them, because a faulty server may send without end.
//!
//! The library stores every parameter and every row of an answer, and trusts the declared length of a message. The
//! stream [`MeteredStream`] ends with an error once an answer exceeds the limit for a kind of message. Normal answers
//! stay below these limits.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsStream};

/// Limit for one message, in bytes: a piece of a value is smaller, an error much smaller.
const MESSAGE: usize = 64 << 20;

/// Limit for the rows of one answer that is kept in memory, in bytes of memory.
const ROWS: usize = 112 << 20;

/// Limit for reports of session parameters, in bytes of memory. A transaction sets four parameters, and the library
/// keeps each report.
const PARAMETERS: usize = 64 << 10;

/// Limit for notices and notifications, which are dropped, in bytes of memory.
const NOTICES: usize = 4 << 20;

/// Limit for all other messages, in bytes of memory.
const OTHERS: usize = 8 << 20;

/// The memory that each message takes in addition to its own bytes.
const EACH: usize = 160;

/// Counts of the memory that messages of the server have needed since the last question, by kind of message.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    rows: AtomicUsize,
    parameters: AtomicUsize,
    notices: AtomicUsize,
    others: AtomicUsize,
    /// The number of bytes received since the connection was opened.
    heard: AtomicU64,
    /// The number of bytes sent since the connection was opened.
    told: AtomicU64,
    /// The reason why the stream was ended, if a limit was exceeded.
    ended: OnceLock<&'static str>,
}

impl Meter {
    /// Resets the counts for a new question, or after a row was taken from the answer.
    pub(crate) fn begin(&self) {
        for count in [&self.rows, &self.parameters, &self.notices, &self.others] {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the number of bytes received since the connection was opened.
    pub(crate) fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes received and sent since the connection was opened.
    pub(crate) fn moved(&self) -> u64 {
        self.heard() + self.told.load(Ordering::Relaxed)
    }

    /// Returns the reason why the stream was ended, such as `the server sends rows without end`; `None` if no limit was
    /// exceeded.
    pub(crate) fn ended(&self) -> Option<&'static str> {
        self.ended.get().copied()
    }

    /// Counts a message by its kind and its declared length; fails if a limit is exceeded.
    fn take(&self, kind: u8, len: usize) -> io::Result<()> {
        let (count, most, what) = match kind {
            b'D' => (&self.rows, ROWS, "the server sends rows without end"),
            b'S' => (
                &self.parameters,
                PARAMETERS,
                "the server sends parameters without end",
            ),
            b'N' | b'A' => (
                &self.notices,
                NOTICES,
                "the server sends notices without end",
            ),
            _ => (
                &self.others,
                OTHERS,
                "the server sends messages without end",
            ),
        };
        let all = count.fetch_add(len.saturating_add(EACH), Ordering::Relaxed);
        let what = match len > MESSAGE {
            true => "the server sends a message of more than 64 MB",
            false if all.saturating_add(len) > most => what,
            false => return Ok(()),
        };
        let _ = self.ended.set(what);
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
    }
}

/// The part of a message that a stream receives next.
#[derive(Debug, Clone, Copy)]
enum MessagePart {
    /// The byte with which the server answers whether it supports TLS.
    Tls,
    /// Encrypted data, which is counted after decryption.
    Encrypted,
    /// The head of a message (kind and length), and the number of its bytes received so far.
    Head([u8; 5], usize),
    /// The body of a message: the number of its bytes that are still missing.
    Body(usize),
}

/// A stream whose messages are counted.
pub(crate) struct MeteredStream<S> {
    stream: S,
    meter: Arc<Meter>,
    at: MessagePart,
}

impl<S> MeteredStream<S> {
    /// Wraps a stream of unencrypted messages.
    pub(crate) fn messages(stream: S, meter: Arc<Meter>) -> MeteredStream<S> {
        MeteredStream {
            stream,
            meter,
            at: MessagePart::Head([0; 5], 0),
        }
    }

    /// Wraps a stream that begins with the server's answer whether it supports TLS.
    pub(crate) fn asked_for_tls(stream: S, meter: Arc<Meter>) -> MeteredStream<S> {
        MeteredStream {
            at: MessagePart::Tls,
            ..MeteredStream::messages(stream, meter)
        }
    }

    /// Wraps a stream that is encrypted from its first byte on.
    pub(crate) fn encrypted(stream: S, meter: Arc<Meter>) -> MeteredStream<S> {
        MeteredStream {
            at: MessagePart::Encrypted,
            ..MeteredStream::messages(stream, meter)
        }
    }

    fn count(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.meter
            .heard
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        while let Some((first, rest)) = bytes.split_first() {
            match self.at {
                MessagePart::Encrypted => return Ok(()),
                MessagePart::Tls => {
                    self.at = match first {
                        b'S' => MessagePart::Encrypted,
                        _ => MessagePart::Head([0; 5], 0),
                    };
                    bytes = rest;
                }
                MessagePart::Head(mut head, had) => {
                    if let Some(place) = head.get_mut(had) {
                        *place = *first;
                    }
                    bytes = rest;
                    self.at = MessagePart::Head(head, had + 1);
                    if had + 1 == head.len() {
                        let [kind, len @ ..] = head;
                        let len = u32::from_be_bytes(len) as usize;
                        self.meter.take(kind, len)?;
                        self.at = MessagePart::Body(len.saturating_sub(4));
                    }
                }
                MessagePart::Body(left) => {
                    let here = left.min(bytes.len());
                    bytes = bytes.get(here..).unwrap_or_default();
                    self.at = MessagePart::Body(left - here);
                }
            }
            if let MessagePart::Body(0) = self.at {
                self.at = MessagePart::Head([0; 5], 0);
            }
        }
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MeteredStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let new = buf.filled().get(before..).unwrap_or_default();
        Poll::Ready(self.count(new))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MeteredStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let taken = ready!(Pin::new(&mut self.stream).poll_write(cx, buf))?;
        self.meter.told.fetch_add(taken as u64, Ordering::Relaxed);
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: TlsStream + Unpin> TlsStream for MeteredStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        self.stream.channel_binding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, body: usize) -> Vec<u8> {
        let len = u32::try_from(body + 4).unwrap().to_be_bytes();
        let mut bytes = vec![kind];
        bytes.extend(len);
        bytes.resize(bytes.len() + body, b'x');
        bytes
    }

    /// Counts messages in pieces of `piece` bytes until a limit is exceeded.
    fn counted(bytes: &[u8], piece: usize, times: usize) -> Option<&'static str> {
        let meter = Arc::new(Meter::default());
        let mut stream = MeteredStream::messages((), Arc::clone(&meter));
        for _ in 0..times {
            for piece in bytes.chunks(piece) {
                if stream.count(piece).is_err() {
                    return meter.ended();
                }
            }
        }
        None
    }

    #[test]
    fn an_answer_ends_that_has_more_than_any_needs() {
        for (bytes, times, ended) in [
            (message(b'S', 30), 100, None),
            (
                message(b'S', 30),
                1000,
                Some("the server sends parameters without end"),
            ),
            (message(b'N', 1000), 1000, None),
            (
                message(b'N', 10),
                100_000,
                Some("the server sends notices without end"),
            ),
            (message(b'D', 1 << 20), 100, None),
            (
                message(b'D', 1 << 20),
                120,
                Some("the server sends rows without end"),
            ),
            (
                message(b'Z', 1),
                100_000,
                Some("the server sends messages without end"),
            ),
            (message(b'D', 7), 100_000, None),
            (
                message(b'E', 9 << 20),
                1,
                Some("the server sends messages without end"),
            ),
        ] {
            for piece in [1 << 20, 8192] {
                assert_eq!(
                    counted(&bytes, piece, times),
                    ended,
                    "{piece} of {bytes:.5?}"
                );
            }
        }
        let long = [b'D', 0x7f, 0xff, 0xff, 0xff];
        let said = "the server sends a message of more than 64 MB";
        assert_eq!(counted(&long, 1, 1), Some(said));
    }

    #[test]
    fn each_question_is_counted_by_itself_and_what_is_encrypted_is_not() {
        let meter = Arc::new(Meter::default());
        let mut stream = MeteredStream::messages((), Arc::clone(&meter));
        for _ in 0..1000 {
            meter.begin();
            stream.count(&message(b'S', 30)).unwrap();
        }
        let mut stream = MeteredStream::asked_for_tls((), Arc::clone(&meter));
        stream.count(b"S").unwrap();
        stream.count(&[b'D', 0x7f, 0xff, 0xff, 0xff]).unwrap();
        let mut stream = MeteredStream::asked_for_tls((), meter);
        assert!(stream.count(&[b'N', b'D', 0x7f, 0xff, 0xff, 0xff]).is_err());
    }
}
