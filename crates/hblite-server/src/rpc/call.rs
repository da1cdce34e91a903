//! One call: who sent it, how far it may go at once, and what memory it uses.
//!
//! Work is what readers count: cells that were looked at (`RegionScan::allow_work`).

use std::cell::{Cell, RefCell};
use std::time::Instant;

use bytes::Bytes;
use hblite_wire::cell_block::Codec;
use hblite_wire::convert::ResultWriter;
use hblite_wire::decoded_size::decoded_bytes;
use hblite_wire::exception::class;
use hblite_wire::frame::{self, Request, Response};
use hblite_wire::memory::{MemoryCharge, Room};
use hblite_wire::{RemoteException, pb};
use prost::{Message, Name};

use super::link::Link;
use super::outgoing::Reply;
use super::peer::Client;
use crate::cluster::Cluster;

/// What a quick call may use without a charge: its connection is charged for what is left of it.
const FREE_BYTES: usize = 64 * 1024;
/// A message of this size decodes to a few times as much, which is not charged.
const SMALL_MESSAGE_BYTES: usize = 256;
/// What another call is charged before it is begun.
pub(super) const WORKING_BYTES: usize = 64 * 1024;
/// The work of a quick call: half a millisecond, or one for cells that a filter judges.
pub(super) const QUICK_WORK: u64 = 16 * 1024;
/// The work after which a long call lets others go on.
const SLICE_WORK: u64 = 128 * 1024;
/// The work after which it is asked whether the call is still wanted.
const STEP_WORK: u64 = 4 * 1024;
/// The memory that so much work can fill at most, but for a cell that is larger.
const STEP_BYTES: usize = 4 * 1024 * 1024;

/// What a service answers.
pub(crate) type Answer = std::result::Result<Reply, RemoteException>;

/// What is left to do of a call.
pub(super) type Rest = Box<dyn FnOnce(&Cluster, &Call<'_>) -> Attempt + Send>;

/// What came of a call so far.
pub(super) enum Attempt {
    Done(Answer),
    /// It would have to wait, or takes long: the rest is done on a thread.
    Unfinished(Unfinished),
}

/// A call of which something is left to do.
pub(super) struct Unfinished {
    pub(super) rest: Rest,
    pub(super) pace: Pace,
    /// A part is done that would be lost if the rest were refused or given up.
    pub(super) must_end: bool,
}

/// How a call is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Where it was read: the connection waits meanwhile.
    Quick,
    /// On a thread.
    Ordinary,
    /// On one of few threads, by turns with others that read much.
    Long,
}

/// A call that is to be answered.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    pub(crate) client: &'c Client,
    pub(crate) request: &'c Request,
    /// When the client stops waiting for the answer.
    pub(crate) deadline: Option<Instant>,
    pace: Pace,
    link: &'c Link,
    /// The work that is left before others get their turn.
    work_left: Cell<u64>,
    /// What was charged before the call was begun.
    working: RefCell<Option<MemoryCharge>>,
    /// What it uses beside its answer, until it ends: for its messages, for what it writes, and for
    /// rows that a filter judges.
    decoded: RefCell<Option<MemoryCharge>>,
    held: RefCell<Option<MemoryCharge>>,
    collected: RefCell<Option<MemoryCharge>>,
}

impl<'c> Call<'c> {
    /// A call of a connection; `working` is what it was charged for being begun.
    pub(super) fn new(
        link: &'c Link,
        request: &'c Request,
        deadline: Option<Instant>,
        pace: Pace,
        working: Option<MemoryCharge>,
    ) -> Self {
        Self {
            client: &link.client,
            request,
            deadline,
            pace,
            link,
            work_left: Cell::new(if pace == Pace::Quick { QUICK_WORK } else { SLICE_WORK }),
            working: RefCell::new(working),
            decoded: RefCell::new(None),
            held: RefCell::new(None),
            collected: RefCell::new(None),
        }
    }

    /// How it is done.
    pub(super) fn pace(&self) -> Pace {
        self.pace
    }

    /// Whether the connection waits while this is done, so that it must not take long.
    pub(crate) fn is_quick(&self) -> bool {
        self.pace == Pace::Quick
    }

    /// The work that it may do in one step.
    pub(super) fn step_work(&self) -> u64 {
        match self.pace {
            Pace::Quick => self.work_left.get(),
            Pace::Ordinary | Pace::Long => STEP_WORK,
        }
    }

    /// So much work was done.
    pub(super) fn note_work(&self, work: u64) {
        self.work_left.set(self.work_left.get().saturating_sub(work));
    }

    /// The work that was not done.
    pub(super) fn work_left(&self) -> u64 {
        self.work_left.get()
    }

    /// Whether others are to go on before this does.
    pub(super) fn is_turn_over(&self) -> bool {
        self.work_left.get() == 0 && self.pace != Pace::Ordinary
    }

    /// Refuses to go on if the client can no longer take the answer.
    ///
    /// # Errors
    /// An exception that reaches no client.
    pub(super) fn check_is_wanted(&self) -> std::result::Result<(), RemoteException> {
        if self.is_quick() || !self.link.is_gone() {
            return Ok(());
        }
        Err(RemoteException::new(class::CALL_DROPPED, "the client has gone"))
    }

    /// Refuses to go on if the client has given up, too.
    ///
    /// # Errors
    /// As [`Call::check_is_wanted`].
    pub(super) fn check_is_waited_for(&self) -> std::result::Result<(), RemoteException> {
        if self.deadline.is_some_and(|deadline| deadline < Instant::now()) {
            return Err(RemoteException::new(class::CALL_DROPPED, "the time for the call is over"));
        }
        self.check_is_wanted()
    }

    /// Makes a charge of the call so many bytes, if it is less.
    fn hold(
        &self,
        held: &RefCell<Option<MemoryCharge>>,
        bytes: usize,
    ) -> std::result::Result<(), RemoteException> {
        let mut held = held.borrow_mut();
        let charge = held.get_or_insert_with(|| self.link.memory.charge());
        if bytes <= charge.size_bytes() || charge.try_resize(bytes) {
            return Ok(());
        }
        Err(self.out_of_memory())
    }

    /// Charges what a step of a reader may collect that has collected so much.
    ///
    /// # Errors
    /// `CallQueueTooBig` if it is not there.
    pub(super) fn hold_collected(
        &self,
        collected: usize,
    ) -> std::result::Result<(), RemoteException> {
        match self.pace {
            Pace::Quick => Ok(()),
            // What grows by copying is there twice for a moment.
            Pace::Ordinary | Pace::Long => self.hold(&self.collected, 2 * collected + STEP_BYTES),
        }
    }

    /// The answer to a call for which there is no memory.
    pub(super) fn out_of_memory(&self) -> RemoteException {
        self.link.out_of_memory()
    }

    /// Room for an answer.
    fn room(&self) -> Room {
        let charge = self.working.borrow_mut().take().unwrap_or_else(|| self.link.memory.charge());
        Room::new(charge, if self.is_quick() { FREE_BYTES } else { 0 })
    }

    /// The parameter.
    ///
    /// # Errors
    /// As [`Call::decode`].
    pub(crate) fn parameter<M: Message + Name + Default>(
        &self,
    ) -> std::result::Result<M, RemoteException> {
        self.decode(&self.request.message)
    }

    /// The parameter, or a message in it. What it takes decoded is charged before it is.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the bytes are no such message; `CallQueueTooBig` if there is no memory for
    /// it.
    pub(crate) fn decode<M: Message + Name + Default>(
        &self,
        message: &Bytes,
    ) -> std::result::Result<M, RemoteException> {
        if message.len() > SMALL_MESSAGE_BYTES {
            let charged = self.decoded.borrow().as_ref().map_or(0, MemoryCharge::size_bytes);
            self.hold(&self.decoded, charged + decoded_bytes::<M>(message))?;
        }
        Ok(frame::decode(message.clone())?)
    }

    /// The cells beside the parameter, plain.
    ///
    /// # Errors
    /// `DoNotRetryIo` if they cannot be decompressed, or are more than `size_max_bytes`;
    /// `CallQueueTooBig` if there is no memory for them.
    pub(crate) fn cells(
        &self,
        size_max_bytes: usize,
    ) -> std::result::Result<Bytes, RemoteException> {
        let Some(compressor) = self.client.compressor.filter(|_| !self.request.cells.is_empty())
        else {
            return Ok(self.request.cells.clone());
        };
        let mut room = Room::new(self.link.memory.charge(), 0);
        let plain = compressor.decompress(&self.request.cells, size_max_bytes, &mut room)?;
        let plain = plain.ok_or_else(|| self.out_of_memory())?;
        self.held.replace(Some(room.into_charge()));
        Ok(Bytes::from(plain))
    }

    /// Charges what a write takes on its way to the memstore: its mutations, and the entry of the
    /// log. `cells` are beside its message.
    ///
    /// # Errors
    /// `CallQueueTooBig` if it is not there.
    pub(crate) fn hold_write(&self, cells: &Bytes) -> std::result::Result<(), RemoteException> {
        if self.is_quick() {
            return Ok(());
        }
        let is_plain = self.client.compressor.is_none();
        let plain = if is_plain { 0 } else { cells.len() };
        self.hold(&self.held, plain + 2 * (cells.len() + self.request.message.len()))
    }

    /// A writer of results as this client wants them.
    pub(crate) fn results(&self) -> ResultWriter {
        self.results_with(self.client.codec)
    }

    /// A writer of results with this codec.
    pub(crate) fn results_with(&self, codec: Option<Codec>) -> ResultWriter {
        ResultWriter::new(codec, self.room())
    }

    /// An answer without cells beside it.
    pub(crate) fn answer(&self, message: &impl Message) -> Answer {
        self.reply(message, Vec::new(), 0, self.room())
    }

    /// An answer with the cells that `results` has beside it.
    pub(crate) fn answer_with(&self, message: &impl Message, results: ResultWriter) -> Answer {
        let messages = results.messages_bytes();
        let (block, mut room) = results.into_block();
        let block = match self.client.compressor {
            Some(compressor) if !block.is_empty() => {
                if !room.try_hold(block.capacity() + block.len()) {
                    return Err(self.out_of_memory());
                }
                compressor.compress(&block)?
            }
            _ => block,
        };
        self.reply(message, block, messages, room)
    }

    /// `cells` is what cells take that are in the message.
    fn reply(
        &self,
        message: &impl Message,
        block: Vec<u8>,
        cells: usize,
        mut room: Room,
    ) -> Answer {
        let size = block.capacity() + message.encoded_len();
        if !room.try_hold(size + cells) {
            // What is no larger than its call may be the answer to a write, which is done.
            if cells > 0 || size > WORKING_BYTES + self.request.message.len() {
                return Err(self.out_of_memory());
            }
            room.overdraw(size);
        }
        let response = Response::new(self.request.call_id(), message, Bytes::from(block));
        let mut charge = room.into_charge();
        charge.shrink_to(size);
        Ok(Reply { response, charge: (charge.size_bytes() > 0).then_some(charge) })
    }

    /// An empty answer.
    pub(crate) fn answer_empty(&self) -> Answer {
        self.answer(&pb::Empty {})
    }
}
