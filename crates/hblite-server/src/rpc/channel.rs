//! Calls of this process, without a socket.
//!
//! A call has a link to itself while it lasts, as if each thread had its own connection. Quick
//! calls run on the calling thread; it waits for the others, which run on the server's threads.
//!
//! Threads: any.

use std::error::Error;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use bytes::Bytes;
use hblite_wire::frame::{NO_CALL_ID, Request};
use hblite_wire::memory::MemoryCharge;
use hblite_wire::{RemoteException, pb};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::connection::QUICK_BYTES;
use super::dispatch::{Dispatcher, Turn, deadline_of};
use super::hello::client_of;
use super::incoming::{SMALL_FRAME_MAX, too_long};
use super::link::Link;
use super::outgoing::{Reply, give_back};
use crate::cluster::Role;

/// The charge of a link: for a small frame and its answer.
const LINK_BYTES: usize = 16 * 1024;

/// A client's connection to one service of one server in this process.
///
/// Threads may share it: their calls run at the same time. It works until its server is closed.
#[derive(Debug)]
pub struct Channel {
    dispatcher: Arc<Dispatcher>,
    runtime: Handle,
    /// Whether the server is closed.
    closed: watch::Receiver<bool>,
    role: Role,
    header: pb::ConnectionHeader,
    /// The links that no call uses, the last used at the end.
    idle: Mutex<Vec<Line>>,
}

/// A link, and what it occupies.
#[derive(Debug)]
struct Line {
    link: Arc<Link>,
    /// The server that it belongs to, which a restart replaces.
    start_code: u64,
    _charge: MemoryCharge,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.link.close();
    }
}

/// The answer to a call: HBase's frame, which begins with its length. It may be an exception.
#[derive(Debug)]
pub struct CallAnswer {
    reply: Reply,
}

impl CallAnswer {
    /// Length, header and message.
    pub fn head(&self) -> &[u8] {
        &self.reply.response.head
    }

    /// The cell block, which follows the head; empty if there is none.
    pub fn cells(&self) -> &[u8] {
        &self.reply.response.cells
    }

    /// The size of the frame with its length.
    pub fn size_bytes(&self) -> usize {
        self.reply.size_bytes()
    }
}

impl Drop for CallAnswer {
    fn drop(&mut self) {
        if let Some(charge) = &self.reply.charge {
            give_back(std::mem::take(&mut self.reply.response.cells), charge.account().budget());
        }
    }
}

/// Why a call has no answer. Over a socket, the client would see a failure of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallFailure {
    /// The server has crashed: no process listens.
    Refused,
    /// The connection ended before the answer. The call may have been executed.
    Dropped,
    /// The time in the header of the call has passed. The call may be executed nevertheless.
    TimedOut,
    /// The server in this process is closed. The call may have been executed.
    Closed,
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "the region server has crashed and refuses connections",
            Self::Dropped => "the server closed the connection before it answered",
            Self::TimedOut => "the call was not answered within its timeout",
            Self::Closed => "the embedded store is closed",
        })
    }
}

impl Error for CallFailure {}

impl Channel {
    /// # Errors
    /// What the header asks for that the server does not have.
    pub(crate) fn open(
        dispatcher: &Arc<Dispatcher>,
        runtime: Handle,
        closed: watch::Receiver<bool>,
        role: Role,
        header: pb::ConnectionHeader,
    ) -> Result<Self, String> {
        let (dispatcher, idle) = (Arc::clone(dispatcher), Mutex::default());
        let channel = Self { dispatcher, runtime, closed, role, header, idle };
        let identity = channel.dispatcher.shared().identity(role);
        let line = channel.line(identity.start_code)?;
        channel.idle.lock().push(line);
        Ok(channel)
    }

    /// Runs a call and returns its answer. `frame` is that of HBase's protocol without its length:
    /// a header, a message and a cell block. Its call id is returned with the answer, and need not
    /// be unique.
    ///
    /// The calling thread waits until the timeout in the header, or without one as long as it
    /// takes.
    ///
    /// # Errors
    /// Those without an answer; every other failure is an answer.
    pub fn call(&self, frame: &[u8]) -> Result<CallAnswer, CallFailure> {
        if *self.closed.borrow() {
            return Err(CallFailure::Closed);
        }
        let line = self.take_line()?;
        let _context = self.runtime.enter();
        // A failure drops the line, which ends what the call has begun.
        let reply = self.answer(&line.link, frame)?;
        if let Some(recorded) = &line.link.client.recorded {
            recorded.answer(&reply.response.head, &reply.response.cells);
        }
        self.idle.lock().push(line);
        Ok(CallAnswer { reply })
    }

    fn take_line(&self) -> Result<Line, CallFailure> {
        let shared = self.dispatcher.shared();
        let identity = shared.live_identity(self.role).ok_or(CallFailure::Refused)?;
        let mut idle = self.idle.lock();
        idle.retain(|line| line.start_code == identity.start_code);
        let line = idle.pop();
        drop(idle);
        match line {
            Some(line) => Ok(line),
            None => self.line(identity.start_code).map_err(|_| CallFailure::Refused),
        }
    }

    fn line(&self, start_code: u64) -> Result<Line, String> {
        let (shared, limits) = (self.dispatcher.shared(), self.dispatcher.limits());
        let reached = (shared.options.bind, shared.identity(self.role).port).into();
        let mut client = client_of(&self.header, shared, self.role, reached, None)?;
        client.recorded = shared.options.recorder.as_ref().map(|recorder| {
            let service = self.header.service_name.clone().unwrap_or_default();
            let header = Bytes::from(prost::Message::encode_to_vec(&self.header));
            let (server, peer) = (self.role.to_string(), "this process".to_owned());
            recorder.connection(server, service, peer, header, self.dispatcher.now_millis())
        });
        let memory = self.dispatcher.memory().account(limits.connection_memory_bytes());
        let mut charge = memory.charge();
        charge.overdraw(LINK_BYTES);
        let link = Arc::new(Link::new(client, memory, limits.connection_unsent_bytes()));
        Ok(Line { link, start_code, _charge: charge })
    }

    fn answer(&self, link: &Arc<Link>, frame: &[u8]) -> Result<Reply, CallFailure> {
        let charge = match self.charge(link, frame.len()) {
            Ok(charge) => charge,
            Err(exception) => {
                let id = Request::peek_call_id(frame).unwrap_or(NO_CALL_ID);
                return Ok(Reply::of_exception(id, &exception));
            }
        };
        let request = Request::parse(Bytes::copy_from_slice(frame));
        if let (Some(recorded), Ok(request)) = (&link.client.recorded, &request) {
            recorded.request(request, self.dispatcher.now_millis());
        }
        let timeout = request.as_ref().ok().and_then(|request| request.header.timeout);
        match self.dispatcher.dispatch(link, request, charge, &mut Turn::new()) {
            Some(reply) => Ok(reply),
            None => {
                let deadline = deadline_of(timeout, Instant::now());
                wait(self.finished(link), deadline).unwrap_or(Err(CallFailure::TimedOut))
            }
        }
    }

    /// The charge for a frame of this size, if it is large.
    fn charge(&self, link: &Link, bytes: usize) -> Result<Option<MemoryCharge>, RemoteException> {
        let limits = self.dispatcher.limits();
        let size_max = limits.frame_size_max_bytes.min(limits.connection_memory_bytes());
        if bytes > size_max {
            return Err(too_long(bytes, size_max));
        }
        if !link.memory.has_room(QUICK_BYTES) {
            return Err(link.out_of_memory());
        }
        if bytes <= SMALL_FRAME_MAX {
            return Ok(None);
        }
        let mut charge = link.memory.charge();
        if charge.try_resize(bytes) { Ok(Some(charge)) } else { Err(link.out_of_memory()) }
    }

    /// The answer of a thread.
    async fn finished(&self, link: &Link) -> Result<Reply, CallFailure> {
        let mut closed = self.closed.clone();
        loop {
            if link.is_cut() {
                return Err(CallFailure::Dropped);
            }
            let open_calls = link.open_calls();
            let (mut replies, parked) = link.take(0);
            for call in parked {
                call.resume();
            }
            if let Some(reply) = replies.pop() {
                // It is no longer unread.
                link.take(0);
                return Ok(reply);
            }
            if open_calls == 0 {
                // The server does not answer a call that is late.
                return Err(CallFailure::TimedOut);
            }
            tokio::select! {
                () = link.ready() => {}
                _ = closed.wait_for(|closed| *closed) => return Err(CallFailure::Closed),
            }
        }
    }
}

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs `future` on this thread, also if the thread belongs to an async runtime. `None` if it has
/// not finished by the deadline.
fn wait<T>(future: impl Future<Output = T>, deadline: Option<Instant>) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return Some(result);
        }
        match deadline {
            None => thread::park(),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return None;
                }
                thread::park_timeout(left);
            }
        }
    }
}
