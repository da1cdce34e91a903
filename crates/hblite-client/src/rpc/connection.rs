//! One connection to one service of a server: many concurrent calls, answered in any order.
//!
//! One task owns the socket. It writes the frames that callers queue, and passes each response to
//! the caller that waits for it.
//!
//! Invariants:
//! - If a call is dropped, its answer is discarded when it arrives.
//! - When the connection ends, every call that waits for it fails.
//! - Beyond 4 MiB, the buffer grows with the bytes that arrive, not with the length that a peer
//!   announces.
//!
//! Threads: any.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use hblite_wire::client_frame::Reply;
use hblite_wire::frame::{LENGTH_SIZE, NO_CALL_ID};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use super::tls;
use super::transport::{self, Hello, Transport};
use crate::error::{CallError, Thrown};
use crate::metrics::Counters;
use crate::settings::ClientSettings;
use crate::url::ServerAddress;

/// Number of frames that wait to be written; further callers wait.
const QUEUE_LENGTH: usize = 256;
/// Number of frames in one write.
const FRAMES_AT_ONCE: usize = 64;
/// Frames up to this size are joined before they are written.
const JOINED_SIZE_MAX: usize = 64 * 1024;
/// If this many more callers were answered than have called again, they run before the next write,
/// so that their frames share it: with 64 callers that halves the processor time of a get. With
/// fewer, the server would have nothing to do meanwhile.
const JOINED_CALLERS_MIN: usize = 8;
/// How a server that speaks only TLS answers: an alert of version 3.
const TLS_ALERT: [u8; 2] = [21, 3];
const CLOSED_IN_SILENCE: &str = "the server closed it without an answer, as one does that is a \
     ZooKeeper (use hbase://), or accepts only TLS (hbase.client.netty.tls.enabled) or only \
     Kerberos (hbase.security.authentication)";
/// The buffer has at least this much room for a read.
const READ_SIZE: usize = 16 * 1024;
/// A buffer for a longer frame grows as the frame arrives; up to this size it has one buffer.
const TRUSTED_SIZE: usize = 4 * 1024 * 1024;

/// An open connection. It is closed when the last handle is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    shared: Arc<Shared>,
    frames: mpsc::Sender<Bytes>,
}

#[derive(Debug)]
struct Shared {
    server: ServerAddress,
    counters: Arc<Counters>,
    calls: Mutex<Calls>,
    next_id: AtomicU32,
    opened_at: Instant,
    /// When the last bytes arrived, in milliseconds after `opened_at`.
    read_at_ms: AtomicU64,
    /// Callers that were answered since the last write.
    answered: AtomicUsize,
    /// Ends the task.
    stop: Notify,
}

#[derive(Debug, Default)]
struct Calls {
    waiting: HashMap<u32, oneshot::Sender<Result<Reply, CallError>>>,
    /// Why the connection has ended.
    ended: Option<String>,
}

impl Connection {
    /// Opens a connection that begins with `hello`.
    pub(super) async fn open(
        server: &ServerAddress,
        hello: Hello,
        settings: &ClientSettings,
        counters: Arc<Counters>,
        deadline: Instant,
    ) -> Result<Self, CallError> {
        let Transport { reader, writer, first } =
            transport::open(server, hello, settings, deadline).await?;
        let (frames, queue) = mpsc::channel(QUEUE_LENGTH);
        let shared = Arc::new(Shared {
            server: server.clone(),
            counters,
            calls: Mutex::default(),
            next_id: AtomicU32::new(0),
            opened_at: Instant::now(),
            read_at_ms: AtomicU64::new(0),
            answered: AtomicUsize::new(0),
            stop: Notify::new(),
        });
        let of_task = Arc::clone(&shared);
        tokio::spawn(of_task.run(reader, writer, first, queue, settings.clone()));
        Ok(Self { shared, frames })
    }

    /// Whether calls can be made.
    pub(super) fn is_open(&self) -> bool {
        self.shared.calls.lock().ended.is_none()
    }

    /// Sends the frame that `frame` builds for a call id, and waits for its answer.
    pub(super) async fn call(
        &self,
        method: &'static str,
        frame: impl FnOnce(u32) -> Result<Bytes, CallError>,
        limit: Duration,
    ) -> Result<Reply, CallError> {
        let began = Instant::now();
        let (waiting, answer) = self.shared.register()?;
        let frame = frame(waiting.id)?;
        let exchange = async {
            // If nothing takes the frame, the task has ended, and the call got the reason as its
            // answer.
            let _ = self.frames.send(frame).await;
            answer.await
        };
        match timeout_at(began + limit, exchange).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(_)) => Err(self.shared.disconnected()),
            Err(_) => {
                self.shared.end_if_silent_since(began);
                let server = self.shared.server.clone();
                Err(CallError::TimedOut { server, method, after: limit })
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.stop.notify_one();
    }
}

/// A waiting call. Dropping it cancels the wait.
struct Waiting<'c> {
    shared: &'c Shared,
    id: u32,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.calls.lock().waiting.remove(&self.id);
    }
}

type Answer = oneshot::Receiver<Result<Reply, CallError>>;

impl Shared {
    fn register(&self) -> Result<(Waiting<'_>, Answer), CallError> {
        let mut calls = self.calls.lock();
        if let Some(why) = &calls.ended {
            return Err(CallError::Unreachable { server: self.server.clone(), why: why.clone() });
        }
        let mut id = self.next_id.fetch_add(1, Ordering::Relaxed);
        while id == NO_CALL_ID || calls.waiting.contains_key(&id) {
            id = self.next_id.fetch_add(1, Ordering::Relaxed);
        }
        let (sender, answer) = oneshot::channel();
        calls.waiting.insert(id, sender);
        Ok((Waiting { shared: self, id }, answer))
    }

    fn disconnected(&self) -> CallError {
        let why = self.calls.lock().ended.clone();
        let why = why.unwrap_or_else(|| "it was closed".to_owned());
        CallError::Disconnected { server: self.server.clone(), why }
    }

    /// Ends a connection on which a call was not answered and nothing else arrived meanwhile: its
    /// peer may have disappeared silently.
    fn end_if_silent_since(&self, began: Instant) {
        let read_at =
            self.opened_at + Duration::from_millis(self.read_at_ms.load(Ordering::Relaxed));
        if read_at <= began {
            self.calls.lock().ended.get_or_insert_with(|| "the server is silent".to_owned());
            self.stop.notify_one();
        }
    }

    async fn run(
        self: Arc<Self>,
        reader: impl AsyncRead + Unpin,
        writer: impl AsyncWrite + Unpin,
        first: Bytes,
        queue: mpsc::Receiver<Bytes>,
        settings: ClientSettings,
    ) {
        let error = tokio::select! {
            error = self.read(reader, &settings) => error,
            error = self.write(writer, first, queue) => self.error_of(error),
            () = self.stop.notified() => self.disconnected(),
        };
        let waiting = {
            let mut calls = self.calls.lock();
            let text = hblite_model::Error::from(error.clone());
            calls.ended.get_or_insert_with(|| text.message().to_owned());
            tracing::debug!(server = %self.server, waiting = calls.waiting.len(), "{text}");
            std::mem::take(&mut calls.waiting)
        };
        for sender in waiting.into_values() {
            // This fails if the caller has stopped waiting.
            let _ = sender.send(Err(error.clone()));
        }
    }

    fn error_of(&self, error: std::io::Error) -> CallError {
        if let Some(refused) = tls::of_connection(&self.server, &error) {
            return refused;
        }
        CallError::Disconnected { server: self.server.clone(), why: error.to_string() }
    }

    fn malformed(&self, why: impl Into<String>) -> CallError {
        CallError::Malformed { server: self.server.clone(), why: why.into() }
    }

    /// Reads responses until the connection ends, and returns the reason.
    async fn read(
        &self,
        mut reader: impl AsyncRead + Unpin,
        settings: &ClientSettings,
    ) -> CallError {
        let mut buffer = BytesMut::new();
        loop {
            while let Some(length) = announced(&buffer) {
                if let Err(error) = self.check_length(&buffer, length, settings) {
                    return error;
                }
                if buffer.len() - LENGTH_SIZE < length {
                    break;
                }
                buffer.advance(LENGTH_SIZE);
                if let Err(error) = self.deliver(buffer.split_to(length).freeze()) {
                    return error;
                }
            }
            buffer.reserve(room_to_read(&buffer));
            match timeout(settings.idle_timeout, reader.read_buf(&mut buffer)).await {
                Err(_) if self.calls.lock().waiting.is_empty() => {
                    return self.error_of(std::io::Error::other("it was idle"));
                }
                Err(_) => {}
                Ok(Ok(0)) => {
                    let was_silent = self.read_at_ms.load(Ordering::Relaxed) == 0;
                    let why = if was_silent && !settings.tls.is_enabled {
                        CLOSED_IN_SILENCE
                    } else {
                        "the server closed it"
                    };
                    return self.error_of(std::io::Error::other(why));
                }
                Ok(Ok(count)) => {
                    self.counters.bytes_received.add(count);
                    let millis = self.opened_at.elapsed().as_millis();
                    self.read_at_ms.store(millis as u64 + 1, Ordering::Relaxed);
                }
                Ok(Err(error)) => return self.error_of(error),
            }
        }
    }

    fn check_length(
        &self,
        buffer: &BytesMut,
        length: usize,
        settings: &ClientSettings,
    ) -> Result<(), CallError> {
        let max = settings.response_size_max_bytes;
        if length <= max {
            return Ok(());
        }
        if buffer.starts_with(b"HTTP") {
            return Err(self.malformed("it speaks HTTP; this is the port of a web page"));
        }
        if buffer.starts_with(&TLS_ALERT) {
            return Err(self.malformed("it speaks TLS; set hbase.client.netty.tls.enabled=true"));
        }
        let why =
            format!("a response of {length} bytes is over hbase.ipc.max.response.size, {max}");
        Err(self.malformed(why))
    }

    /// Passes a response to its call.
    fn deliver(&self, frame: Bytes) -> Result<(), CallError> {
        let reply = Reply::parse(frame).map_err(|error| self.malformed(error.message()))?;
        let id = reply.call_id();
        if id == NO_CALL_ID {
            // The server refuses the connection as a whole.
            let exception = reply.header.exception.unwrap_or_default();
            return Err(Thrown::from_response(exception).into());
        }
        if let Some(sender) = self.calls.lock().waiting.remove(&id) {
            let _ = sender.send(Ok(reply));
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Writes frames until that fails.
    async fn write(
        &self,
        mut writer: impl AsyncWrite + Unpin,
        first: Bytes,
        mut queue: mpsc::Receiver<Bytes>,
    ) -> std::io::Error {
        let mut joined = BytesMut::from(first.as_ref());
        let mut frames = Vec::with_capacity(FRAMES_AT_ONCE);
        loop {
            if queue.recv_many(&mut frames, FRAMES_AT_ONCE).await == 0 {
                return std::io::Error::other("it was closed");
            }
            // Callers that were answered together usually call again.
            if self.answered.swap(0, Ordering::Relaxed) >= frames.len() + JOINED_CALLERS_MIN {
                tokio::task::yield_now().await;
                let more = std::iter::from_fn(|| queue.try_recv().ok());
                frames.extend(more.take(FRAMES_AT_ONCE));
            }
            for frame in frames.drain(..) {
                if joined.len() + frame.len() <= JOINED_SIZE_MAX {
                    joined.extend_from_slice(&frame);
                    continue;
                }
                for part in [&joined[..], &frame[..]] {
                    if let Err(error) = writer.write_all(part).await {
                        return error;
                    }
                    self.counters.bytes_sent.add(part.len());
                }
                joined.clear();
            }
            if let Err(error) = writer.write_all(&joined).await {
                return error;
            }
            // TLS keeps what the socket did not take.
            if let Err(error) = writer.flush().await {
                return error;
            }
            self.counters.bytes_sent.add(joined.len());
            joined.clear();
        }
    }
}

/// The room that the buffer needs: for the rest of its frame, or for whatever comes next.
fn room_to_read(buffer: &BytesMut) -> usize {
    let rest = announced(buffer)
        .map_or(0, |length| length.saturating_add(LENGTH_SIZE).saturating_sub(buffer.len()));
    rest.min(buffer.len().max(TRUSTED_SIZE)).max(READ_SIZE)
}

/// The length of the frame that the buffer begins with.
fn announced(buffer: &BytesMut) -> Option<usize> {
    let length = buffer.first_chunk::<LENGTH_SIZE>()?;
    Some(u32::from_be_bytes(*length) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_trusts_short_frames_and_follows_long_ones() {
        let with = |length: u32, arrived: usize| {
            let mut buffer = BytesMut::from(&length.to_be_bytes()[..]);
            buffer.resize(LENGTH_SIZE + arrived, 0);
            room_to_read(&buffer)
        };
        assert_eq!(room_to_read(&BytesMut::new()), READ_SIZE);
        assert_eq!(with(10, 4), READ_SIZE, "there may be more frames");
        assert_eq!(with(1_000_000, 400_000), 600_000, "the rest, in one buffer");
        assert_eq!(with(u32::MAX, 0), TRUSTED_SIZE);
        assert_eq!(with(u32::MAX, 8 << 20), (8 << 20) + LENGTH_SIZE, "it doubles");
    }
}
