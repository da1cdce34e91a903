//! Connections: incoming frames, outgoing frames, and the end of a connection.
//!
//! A connection ends when its client closes its session, is silent for longer than the session's
//! timeout, does not read its answers for as long, sends something that is not a frame, or attaches
//! to the session from another connection. Dropping the future of [`Shim::serve`] ends them all.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hblite_wire::memory::{MemoryBudget, MemoryCharge, Room};
use hblite_wire::permits::Permits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, timeout, timeout_at};

use super::conversation::{Conversation, Next};
use super::sessions::{Detached, SessionName};
use super::{FRAME_BYTES_MAX, Shim, words};
use crate::log::Log;
use crate::place::Place;
use hblite_wire::greeting::other_protocol;
use hblite_wire::jute::{Decoder, Encoder, Malformed};

/// Further connections are closed immediately, or end one that has not identified itself.
const CONNECTIONS_MAX: usize = 10_000;
/// The memory of one connection: an incoming frame, its copy, and its answer.
const CONNECTION_BYTES_MAX: usize = 4 * FRAME_BYTES_MAX;
/// The memory of a connection in addition to its buffers, and per node of the tree that it has
/// seen.
const CONNECTION_BYTES: usize = 4 * 1024;
const NODE_BYTES: usize = 256;
/// Memory for the answer to a short request; a longer one may need as much as a frame can hold.
const SHORT_REQUEST_MAX: usize = 1024;
const SHORT_ANSWER_MAX: usize = 64 * 1024;
/// Size of a read.
const READ_SIZE: usize = 4 * 1024;
/// Time in which a client must identify itself.
const HELLO_WITHIN: Duration = Duration::from_secs(10);
/// Answers to pipelined requests are sent at the latest when they are this long.
const SEND_FROM_BYTES: usize = 256 * 1024;
/// How often sessions that have nodes are checked.
const EXPIRY_CHECK: Duration = Duration::from_secs(1);
/// How long to wait after `accept` has failed, for example for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

impl Shim {
    /// Answers clients until the future is dropped; `memory` is their budget.
    /// Connections that are refused go to `log`.
    pub(crate) async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        memory: Arc<MemoryBudget>,
        log: Option<Log>,
    ) {
        let permits = Permits::new(CONNECTIONS_MAX);
        let mut connections = JoinSet::new();
        let mut made_changes = self.made_changes.subscribe();
        // Not a sleep within the loop: clients that keep arriving would put the check off.
        let mut expiry = tokio::time::interval(EXPIRY_CHECK);
        expiry.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            while connections.try_join_next().is_some() {}
            let has_ephemeral = self.made.lock().has_ephemeral();
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = made_changes.changed() => continue,
                _ = expiry.tick(), if has_ephemeral => {
                    self.end_expired_sessions();
                    continue;
                }
            };
            match accepted {
                Ok((stream, client)) => {
                    let place = Place::enter(&permits, client.ip()).await;
                    let Some(place) = place else { continue };
                    let charge = memory.account(CONNECTION_BYTES_MAX).charge();
                    let served = connection(Arc::clone(&self), stream, place, charge);
                    let log = log.clone();
                    connections.spawn(async move {
                        if let (Err(error), Some(log)) = (served.await, log)
                            && error.kind() == io::ErrorKind::InvalidData
                        {
                            log.refuse("ZooKeeper", Some(client), &error);
                        }
                    });
                }
                Err(_) => {
                    permits.evict();
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

/// Counts a connection as long as it lives.
struct Counted(Arc<Shim>);

impl Counted {
    fn new(shim: Arc<Shim>) -> Self {
        shim.connection_count.fetch_add(1, Ordering::Relaxed);
        Self(shim)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.0.connection_count.fetch_sub(1, Ordering::Relaxed);
        debug_assert!(before > 0, "each connection was counted");
    }
}

async fn connection(
    shim: Arc<Shim>,
    stream: TcpStream,
    place: Place,
    charge: MemoryCharge,
) -> io::Result<()> {
    let counted = Counted::new(Arc::clone(&shim));
    let ended = converse(shim, stream, &place, charge).await;
    drop(counted);
    ended
}

async fn converse(
    shim: Arc<Shim>,
    stream: TcpStream,
    place: &Place,
    charge: MemoryCharge,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let reached = stream.local_addr()?;
    let mut frames = Frames { stream, bytes: Vec::new(), room: Room::new(charge, 0) };
    let hello = tokio::select! {
        hello = timeout(HELLO_WITHIN, frames.hello()) => hello.map_err(|_| timed_out())??,
        () = place.evicted() => return Ok(()),
    };
    let Some(hello) = hello else {
        return tokio::select! {
            told = tell_word(&shim, frames, reached) => told,
            () = place.evicted() => Ok(()),
        };
    };
    let Some((session, detached)) = connect(&shim, &mut frames, &hello).await? else {
        return Ok(());
    };
    if !place.work() {
        return Ok(());
    }
    let conversation = Conversation::new(Arc::clone(&shim), reached, session.id);
    Client { conversation, shim, frames, session }.run(detached).await
}

fn out_of_memory() -> io::Error {
    io::Error::from(io::ErrorKind::OutOfMemory)
}

fn timed_out() -> io::Error {
    io::Error::from(io::ErrorKind::TimedOut)
}

fn malformed(malformed: Malformed) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, malformed.to_string())
}

async fn tell_word(shim: &Shim, mut frames: Frames, reached: SocketAddr) -> io::Result<()> {
    let word = frames.bytes.first_chunk::<4>().copied().unwrap_or_default();
    if let Some(text) = words::answer(word, &shim.figures(reached)) {
        timeout(HELLO_WITHIN, frames.stream.write_all(text.as_bytes()))
            .await
            .map_err(|_| timed_out())??;
    }
    frames.stream.shutdown().await
}

/// Reads the `ConnectRequest` and answers it; `None` if there is no session for the client.
async fn connect(
    shim: &Shim,
    frames: &mut Frames,
    hello: &[u8],
) -> io::Result<Option<(SessionName, Detached)>> {
    let mut request = Decoder::new(hello);
    let mut read = || {
        request.int()?;
        request.long()?;
        let wanted_ms = request.int()?;
        let id = request.long()?;
        let password = request.buffer()?;
        // Clients before ZooKeeper 3.4, and today's Go client, do not state whether they are
        // read-only.
        let says_read_only = !request.is_empty();
        Ok((wanted_ms, id, password, says_read_only))
    };
    let (wanted_ms, id, password, says_read_only) = read().map_err(malformed)?;
    let wanted = Duration::from_millis(u64::try_from(wanted_ms).unwrap_or(0));
    let session = {
        let mut sessions = shim.sessions.lock();
        match id {
            0 => sessions.open(wanted, &*shim.env.random),
            _ => sessions.attach(id, password, wanted),
        }
    };
    if session.is_none() && id == 0 {
        // Too many: the client tries again later.
        return Ok(None);
    }
    let mut answer = Encoder::default();
    answer.frame(|out| {
        // Timeout and id 0 mean that the session has expired.
        let name = session.as_ref().map(|(name, _)| *name);
        out.int(0);
        out.int(name.map_or(0, |name| i32::try_from(name.timeout.as_millis()).unwrap_or(0)));
        out.long(name.map_or(0, |name| name.id));
        out.buffer(&name.map_or([0; 16], |name| name.password));
        if says_read_only {
            out.boolean(false);
        }
    });
    timeout(HELLO_WITHIN, frames.stream.write_all(answer.as_slice()))
        .await
        .map_err(|_| timed_out())??;
    Ok(session)
}

/// A connection with its session.
struct Client {
    shim: Arc<Shim>,
    frames: Frames,
    session: SessionName,
    conversation: Conversation,
}

impl Client {
    async fn run(mut self, mut detached: Detached) -> io::Result<()> {
        let mut changes = self.shim.changes.clone();
        let mut made_changes = self.shim.made_changes.subscribe();
        let mut silent_until = Instant::now() + self.session.timeout;
        loop {
            tokio::select! {
                _ = &mut detached => return Ok(()),
                received = timeout_at(silent_until, self.frames.receive()) => {
                    received.map_err(|_| timed_out())??;
                    self.shim.sessions.lock().touch(self.session.id);
                    silent_until = Instant::now() + self.session.timeout;
                }
                // The sender lives as long as the shim.
                _ = made_changes.changed() => self.conversation.look_again(),
                changed = changes.changed() => match changed {
                    Ok(()) => self.conversation.look_again(),
                    // The cluster has ended, and the server with it.
                    Err(_) => return Ok(()),
                },
            }
            let next = self.answer_frames().await?;
            self.send().await?;
            if next == Next::SessionEnds {
                self.shim.end_session(self.session.id);
            }
            if next != Next::GoOn {
                return self.frames.stream.shutdown().await;
            }
        }
    }

    /// Answers all available frames.
    async fn answer_frames(&mut self) -> io::Result<Next> {
        let mut next = Next::GoOn;
        while next == Next::GoOn
            && let Some(frame) = self.frames.frame()?
        {
            self.shim.received.fetch_add(1, Ordering::Relaxed);
            self.hold(&frame)?;
            next = self.conversation.answer(&frame).map_err(malformed)?;
            self.shim.sent.fetch_add(1, Ordering::Relaxed);
            if self.conversation.out.len() >= SEND_FROM_BYTES {
                self.send().await?;
            }
        }
        Ok(next)
    }

    /// Reserves memory for the answer to this frame in addition to what is there.
    fn hold(&mut self, frame: &[u8]) -> io::Result<()> {
        let is_short = frame.len() <= SHORT_REQUEST_MAX;
        let answer = if is_short { SHORT_ANSWER_MAX } else { FRAME_BYTES_MAX };
        let out = self.conversation.out.capacity().max(self.conversation.out.len() + answer);
        let shown = self.conversation.node_count() * NODE_BYTES;
        match self.frames.room.try_hold(self.frames.held_bytes() + frame.len() + out + shown) {
            true => Ok(()),
            false => Err(out_of_memory()),
        }
    }

    async fn send(&mut self) -> io::Result<()> {
        let out = &mut self.conversation.out;
        if !out.as_slice().is_empty() {
            let sending = self.frames.stream.write_all(out.as_slice());
            timeout(self.session.timeout, sending).await.map_err(|_| timed_out())??;
            out.clear();
        }
        // Memory that was needed only temporarily is released.
        out.shrink_to(READ_SIZE);
        let kept = out.capacity() + self.conversation.node_count() * NODE_BYTES;
        self.frames.release(kept);
        Ok(())
    }
}

/// The received bytes, divided into frames.
struct Frames {
    stream: TcpStream,
    bytes: Vec<u8>,
    /// The charge for the bytes, for the answers, and for the connection itself.
    room: Room,
}

impl Frames {
    /// The first frame; `None` if a four-letter word came instead, which stays in `bytes`.
    async fn hello(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(word) = self.bytes.first_chunk::<4>()
                && word.iter().all(u8::is_ascii_lowercase)
            {
                return Ok(None);
            }
            if let Some(frame) = self.frame()? {
                return Ok(Some(frame));
            }
            self.receive().await?;
        }
    }

    /// Waits for more bytes. Nothing is lost if it is cancelled.
    async fn receive(&mut self) -> io::Result<()> {
        if self.bytes.capacity() == self.bytes.len() {
            let wanted = (2 * self.bytes.len()).clamp(READ_SIZE, FRAME_BYTES_MAX + READ_SIZE);
            if !self.room.try_hold(CONNECTION_BYTES + wanted) {
                return Err(out_of_memory());
            }
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
        if self.stream.read_buf(&mut self.bytes).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        Ok(())
    }

    fn held_bytes(&self) -> usize {
        CONNECTION_BYTES + self.bytes.capacity()
    }

    /// Keeps only what is needed for the present bytes, and `others`.
    fn release(&mut self, others: usize) {
        if self.bytes.is_empty() {
            self.bytes.shrink_to(READ_SIZE);
        }
        self.room.shrink_to(self.held_bytes() + others);
    }

    /// Takes the next complete frame.
    fn frame(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some((length, rest)) = self.bytes.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*length) as usize;
        if length > FRAME_BYTES_MAX {
            let text = match other_protocol(&self.bytes) {
                Some(what) => what.to_owned(),
                None => {
                    format!("a frame of {length} bytes; at most {FRAME_BYTES_MAX} are accepted")
                }
            };
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let Some(frame) = rest.get(..length) else {
            return Ok(None);
        };
        let frame = frame.to_vec();
        self.bytes.drain(..4 + length);
        Ok(Some(frame))
    }
}
