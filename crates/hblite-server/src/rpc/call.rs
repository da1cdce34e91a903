//! One call: who sent it, how much work it may do at a time, and how much memory it uses.
//!
//! Work is the number of cells that readers have examined (`RegionScan::allow_work`).

use std::cell::{Cell, RefCell};
use std::time::Instant;

use bytes::Bytes;
use hblite_wire::cell_block::Codec;
use hblite_wire::convert::ResultWriter;
use hblite_wire::decoded_size::decoded_bytes;
use hblite_wire::exception::class;
use hblite_wire::frame::{Request, Response};
use hblite_wire::memory::{MemoryCharge, Room};
use hblite_wire::{RemoteException, pb};
use prost::{Message, Name};

use super::link::Link;
use super::outgoing::Reply;
use super::peer::Client;
use crate::cluster::Cluster;
use crate::stop_handler::StopHandler;

/// The memory that a short call may use without its own charge: the connection's charge covers it.
const FREE_BYTES: usize = 64 * 1024;
/// A message of this size decodes to a few times its size, which is not charged.
const SMALL_MESSAGE_BYTES: usize = 256;
/// The charge of any other call before it begins.
pub(super) const WORKING_BYTES: usize = 64 * 1024;
/// The work of a short call: half a millisecond, or one millisecond for cells that a filter
/// evaluates.
pub(super) const QUICK_WORK: u64 = 16 * 1024;
/// The work after which a long call yields to others.
const SLICE_WORK: u64 = 128 * 1024;
/// The work after which a call checks whether its client still waits.
const STEP_WORK: u64 = 4 * 1024;
/// The maximum memory that this much work can fill, except for a single larger cell.
const STEP_BYTES: usize = 4 * 1024 * 1024;

/// The answer of a service.
pub(crate) type Answer = std::result::Result<Reply, RemoteException>;

/// The rest of a call.
pub(super) type Rest = Box<dyn FnOnce(&Cluster, &Call<'_>) -> Attempt + Send>;

/// The result of a call so far.
pub(super) enum Attempt {
    Done(Answer),
    /// It would have to wait, or takes long: a thread does the rest.
    Unfinished(Unfinished),
}

/// A call that is not finished.
pub(super) struct Unfinished {
    pub(super) rest: Rest,
    pub(super) pace: Pace,
    /// Whether completed work would be lost if the rest were refused or abandoned.
    pub(super) must_end: bool,
}

/// Where a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// On the task that read it, while the connection waits.
    Quick,
    /// On a thread.
    Ordinary,
    /// On one of a few threads, taking turns with other long reads.
    Long,
}

/// A call to be answered.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    pub(crate) client: &'c Client,
    pub(crate) request: &'c Request,
    /// When the client stops waiting for the answer.
    pub(crate) deadline: Option<Instant>,
    pace: Pace,
    link: &'c Link,
    /// The remaining work before it yields to others.
    work_left: Cell<u64>,
    /// The charge made before the call began.
    working: RefCell<Option<MemoryCharge>>,
    /// Its memory in addition to its answer, until it ends: messages, writes, and rows that a
    /// filter evaluates.
    decoded: RefCell<Option<MemoryCharge>>,
    held: RefCell<Option<MemoryCharge>>,
    collected: RefCell<Option<MemoryCharge>>,
}

impl<'c> Call<'c> {
    /// A call of a connection; `working` is its initial charge.
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

    /// Where it runs.
    pub(super) fn pace(&self) -> Pace {
        self.pace
    }

    /// Whether the connection waits for it, so that it must not take long.
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

    /// Records this much work.
    pub(super) fn note_work(&self, work: u64) {
        self.work_left.set(self.work_left.get().saturating_sub(work));
    }

    /// The remaining work.
    pub(super) fn work_left(&self) -> u64 {
        self.work_left.get()
    }

    /// Whether others should run before this continues.
    pub(super) fn is_turn_over(&self) -> bool {
        self.work_left.get() == 0 && self.pace != Pace::Ordinary
    }

    /// Fails if the client can no longer receive the answer.
    ///
    /// # Errors
    /// An exception that reaches no client.
    pub(super) fn check_is_wanted(&self) -> std::result::Result<(), RemoteException> {
        if self.is_quick() || !self.link.is_gone() {
            return Ok(());
        }
        Err(RemoteException::new(class::CALL_DROPPED, "the client has disconnected"))
    }

    /// Also fails if the client has given up.
    ///
    /// # Errors
    /// As [`Call::check_is_wanted`].
    pub(super) fn check_is_waited_for(&self) -> std::result::Result<(), RemoteException> {
        if self.deadline.is_some_and(|deadline| deadline < Instant::now()) {
            return Err(RemoteException::new(
                class::CALL_DROPPED,
                "the call's deadline has passed",
            ));
        }
        self.check_is_wanted()
    }

    /// Raises a charge of the call to this many bytes, if it is less.
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

    /// Charges the memory that the next step of a reader may need, given what it has collected.
    ///
    /// # Errors
    /// `CallQueueTooBig` if there is no memory for it.
    pub(super) fn hold_collected(
        &self,
        collected: usize,
    ) -> std::result::Result<(), RemoteException> {
        match self.pace {
            Pace::Quick => Ok(()),
            // A buffer that grows by copying briefly exists twice.
            Pace::Ordinary | Pace::Long => self.hold(&self.collected, 2 * collected + STEP_BYTES),
        }
    }

    /// The answer to a call for which there is no memory.
    pub(super) fn out_of_memory(&self) -> RemoteException {
        self.link.out_of_memory()
    }

    /// Memory for an answer.
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

    /// The parameter, or a message in it. Its decoded size is charged before it is decoded.
    ///
    /// # Errors
    /// `InvalidProtocolBufferException` if the bytes are not such a message; `CallQueueTooBig` if
    /// there is no memory for it.
    pub(crate) fn decode<M: Message + Name + Default>(
        &self,
        message: &Bytes,
    ) -> std::result::Result<M, RemoteException> {
        if message.len() > SMALL_MESSAGE_BYTES {
            self.hold_more(decoded_bytes::<M>(message))?;
        }
        M::decode(message.clone()).map_err(|error| {
            let message = format!("unable to read call parameter; {error}");
            RemoteException::new(class::INVALID_PROTOCOL_BUFFER, message)
        })
    }

    /// Charges `bytes` for carrying out the call, in addition to its message.
    ///
    /// # Errors
    /// `CallQueueTooBig` if there is no memory for it.
    pub(crate) fn hold_more(&self, bytes: usize) -> std::result::Result<(), RemoteException> {
        let charged = self.decoded.borrow().as_ref().map_or(0, MemoryCharge::size_bytes);
        self.hold(&self.decoded, charged.saturating_add(bytes))
    }

    /// The cells that follow the parameter, decompressed.
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

    /// Charges the memory of a write on its way to the memstore: its mutations, and the log entry.
    /// `cells` follow its message.
    ///
    /// # Errors
    /// `CallQueueTooBig` if there is no memory for it.
    pub(crate) fn hold_write(&self, cells: &Bytes) -> std::result::Result<(), RemoteException> {
        if self.is_quick() {
            return Ok(());
        }
        let is_plain = self.client.compressor.is_none();
        let plain = if is_plain { 0 } else { cells.len() };
        self.hold(&self.held, plain + 2 * (cells.len() + self.request.message.len()))
    }

    /// A writer of results in this client's format.
    pub(crate) fn results(&self) -> ResultWriter {
        self.results_with(self.client.codec)
    }

    /// A writer of results with this codec.
    pub(crate) fn results_with(&self, codec: Option<Codec>) -> ResultWriter {
        ResultWriter::new(codec, self.room())
    }

    /// An answer without separate cells.
    pub(crate) fn answer(&self, message: &impl Message) -> Answer {
        self.reply(message, Vec::new(), 0, self.room())
    }

    /// An answer with the separate cells of `results`.
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

    /// `cells` is the size of the cells in the message.
    fn reply(
        &self,
        message: &impl Message,
        block: Vec<u8>,
        cells: usize,
        mut room: Room,
    ) -> Answer {
        let size = block.capacity() + message.encoded_len();
        if !room.try_hold(size + cells) {
            // An answer no larger than its call may belong to a write that is already done.
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

    /// Ends the server, after an empty answer.
    pub(crate) fn stop_server(&self, handler: Option<&StopHandler>) -> Answer {
        let Some(handler) = handler else {
            let message = "this server ends with the program that runs it";
            return Err(RemoteException::do_not_retry(message));
        };
        self.link.stop_server(handler);
        self.answer_empty()
    }
}
