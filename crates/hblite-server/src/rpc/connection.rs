//! One connection: frames in, answers out, in the order in which they are ready.
//!
//! One task does all of it. It reads what is available, extracts complete frames, runs the short
//! calls itself, passes the others to threads, and writes the finished answers together. So
//! answering a client that sends one call after another wakes no thread, and a client that sends
//! many at once costs few system calls. After a number of calls it yields to other connections.
//!
//! Nothing is read while the client has too many open calls or unread answers, or while there is no
//! memory for its requests: the full socket slows it down.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hblite_wire::frame::{NO_CALL_ID, Request};
use hblite_wire::memory::MemoryCharge;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

use super::dispatch::{Dispatcher, Turn};
use super::hello::shake_hands;
use super::incoming::Incoming;
use super::link::Link;
use super::outgoing::{Outgoing, Reply};
use crate::cluster::Role;
use crate::options::Limits;
use crate::place::Place;
use crate::stop_handler::StopHandler;

/// A frame that arrives more slowly than this, after the time allowed for a stall, is being held
/// back deliberately.
const FRAME_BYTES_PER_SECOND_MIN: usize = 1024;
/// The memory that a short call may use without its own charge.
pub(super) const QUICK_BYTES: usize = 64 * 1024;
/// The connection's charge follows its memory in steps of this many bytes.
const CHARGE_STEP: usize = 16 * 1024;
/// A connection without memory checks again after this time.
const MEMORY_RETRY: Duration = Duration::from_millis(20);
/// A frame without memory for this long is refused.
const MEMORY_PATIENCE: Duration = Duration::from_secs(1);

/// Serves one client until it disconnects, or is ended in favour of another before it has
/// identified itself.
///
/// # Errors
/// Those of the socket.
pub(super) async fn serve(
    mut stream: TcpStream,
    dispatcher: Arc<Dispatcher>,
    role: Role,
    place: Place,
) -> io::Result<()> {
    let limits = dispatcher.limits();
    let memory = dispatcher.memory().account(limits.connection_memory_bytes());
    let mut charge = memory.charge();
    let now_ms = dispatcher.now_millis();
    let hello = shake_hands(&mut stream, dispatcher.shared(), role, &mut charge, now_ms);
    let client = tokio::select! {
        said = tokio::time::timeout(limits.hello_timeout, hello) => match said {
            Ok(Ok(Some(client))) => client,
            Ok(Ok(None)) => return stream.shutdown().await,
            Ok(Err(error)) => return Err(error),
            Err(_) => return Ok(()),
        },
        () = place.evicted() => return Ok(()),
    };
    if !place.work() {
        return Ok(());
    }
    let link = Arc::new(Link::new(client, memory, limits.connection_unsent_bytes()));
    let connection = Connection {
        incoming: Incoming::new(limits.frame_size_max_bytes.min(limits.connection_memory_bytes())),
        output: Outgoing::default(),
        charge,
        turn: Turn::new(),
        has_memory: true,
        starved_since: None,
        is_ending: false,
        dispatcher: Arc::clone(&dispatcher),
        link,
    };
    connection.run(stream).await
}

struct Connection {
    dispatcher: Arc<Dispatcher>,
    link: Arc<Link>,
    incoming: Incoming,
    output: Outgoing,
    /// The charge for what is read, and for answers without their own charge.
    charge: MemoryCharge,
    turn: Turn,
    /// Whether there was memory for a call at the last check.
    has_memory: bool,
    /// Since when there has been no memory for the incoming frame.
    starved_since: Option<Instant>,
    /// Nothing more is read; pending answers are sent.
    is_ending: bool,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.link.close();
    }
}

impl Connection {
    async fn run(mut self, mut stream: TcpStream) -> io::Result<()> {
        let mut progress = Instant::now();
        // When the incomplete frame began, or when the connection was last ready for more of it.
        let mut frame_began = progress;
        let (mut reader, mut writer) = stream.split();
        loop {
            let was_empty = self.output.is_empty();
            if self.do_calls().await {
                frame_began = Instant::now();
            }
            if self.link.is_cut() {
                return Ok(());
            }
            self.take_answers();
            if was_empty && !self.output.is_empty() {
                progress = Instant::now();
            }
            if self.output.is_empty() {
                self.link.take_stop().iter().for_each(StopHandler::stop);
            }
            if self.is_ending && self.output.is_empty() {
                return writer.shutdown().await;
            }
            self.settle();
            let may_read = !self.is_ending && !self.is_full();
            let has_room = may_read && self.has_room();
            if !self.incoming.is_within_frame() || !may_read {
                frame_began = Instant::now();
            }
            let is_under_way = !self.output.is_empty() || (may_read && self.is_within_frame());
            let patience = match is_under_way {
                true => self.patience(progress, frame_began),
                false => progress,
            };
            let lacks_memory = may_read && !has_room;
            let retry = Instant::now() + MEMORY_RETRY;
            let Self { incoming, output, link, .. } = &mut self;
            tokio::select! {
                biased;
                written = async { writer.write_vectored(&output.slices()).await },
                    if !output.is_empty() =>
                {
                    output.advance(written?, link.memory.budget());
                    progress = Instant::now();
                }
                () = link.ready() => {}
                read = incoming.read(&mut reader), if has_room => {
                    if read? == 0 {
                        return Ok(());
                    }
                    progress = Instant::now();
                }
                () = sleep_until(retry), if lacks_memory => {}
                () = sleep_until(patience), if is_under_way => return Ok(()),
            }
        }
    }

    /// Runs the available calls, as far as allowed. Returns whether there were any.
    async fn do_calls(&mut self) -> bool {
        let mut has_frames = false;
        while !self.is_ending && !self.is_full() {
            self.has_memory = self.link.memory.has_room(QUICK_BYTES);
            if !self.has_memory {
                break;
            }
            match self.incoming.next_frame(&self.link.memory) {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    has_frames = true;
                    let request = Request::parse(frame.bytes);
                    if let (Some(recorded), Ok(request)) = (&self.link.client.recorded, &request) {
                        recorded.request(request, self.dispatcher.now_millis());
                    }
                    let (link, turn) = (&self.link, &mut self.turn);
                    let reply = self.dispatcher.dispatch(link, request, frame.charge, turn);
                    self.push(reply);
                }
                Err(exception) => {
                    self.push([Reply::of_exception(NO_CALL_ID, &exception)]);
                    self.is_ending = true;
                }
            }
            self.settle();
            if self.turn.is_over() {
                self.turn = Turn::new();
                tokio::task::yield_now().await;
            }
        }
        has_frames
    }

    /// Takes the answers finished by threads, and lets calls continue that wait for the client.
    fn take_answers(&mut self) {
        let (replies, parked) = self.link.take(self.output.size_bytes());
        self.push(replies);
        for call in parked {
            call.resume();
        }
    }

    /// Lets answers be sent.
    fn push(&mut self, replies: impl IntoIterator<Item = Reply>) {
        for reply in replies {
            if let Some(recorded) = &self.link.client.recorded {
                recorded.answer(&reply.response.head, &reply.response.cells);
            }
            self.output.push(reply);
        }
    }

    /// Charges the memory of the connection.
    fn settle(&mut self) {
        let held = self.incoming.block_bytes() + self.output.uncharged_bytes();
        let charged = held.next_multiple_of(CHARGE_STEP);
        if charged != self.charge.size_bytes() {
            self.charge.overdraw(charged);
        }
    }

    /// Whether there is memory for what comes next. A frame without memory is refused after a
    /// while.
    fn has_room(&mut self) -> bool {
        let others = self.output.uncharged_bytes();
        if self.has_memory && self.incoming.make_room(&mut self.charge, others) {
            self.starved_since = None;
            return true;
        }
        let now = Instant::now();
        let since = *self.starved_since.get_or_insert(now);
        if self.incoming.has_large_frame() && now >= since + MEMORY_PATIENCE {
            self.starved_since = None;
            let exception = self.link.out_of_memory();
            let id = self.incoming.refuse_frame();
            self.is_ending = id.is_none();
            self.push([Reply::of_exception(id.unwrap_or(NO_CALL_ID), &exception)]);
        }
        false
    }

    fn is_within_frame(&self) -> bool {
        self.incoming.is_within_frame()
    }

    /// When the connection is closed if no byte moves, or if the frame is not completed.
    fn patience(&self, progress: Instant, frame_began: Instant) -> Instant {
        let limits = self.limits();
        let bytes = self.incoming.pending_bytes();
        let slowest = Duration::from_secs((bytes / FRAME_BYTES_PER_SECOND_MIN) as u64);
        let stalled = progress.min(frame_began + slowest) + limits.stall_timeout;
        match self.is_within_frame() {
            true => stalled.min(frame_began + limits.frame_timeout),
            false => stalled,
        }
    }

    fn limits(&self) -> &Limits {
        self.dispatcher.limits()
    }

    fn is_full(&self) -> bool {
        let limits = self.limits();
        self.output.size_bytes() > limits.connection_unsent_bytes()
            || self.link.open_calls() >= limits.connection_calls_max
    }
}
