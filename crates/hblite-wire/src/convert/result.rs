//! The result of a read: cells in a block after the answer, or in the answer itself.

use bytes::Bytes;
use hblite_model::CellRef;

use crate::cell_block::Codec;
use crate::memory::Room;
use crate::pb;

/// The memory of a cell as a message in addition to its bytes: four buffers with their counts.
const CELL_MESSAGE_OVERHEAD: usize = size_of::<pb::Cell>() + 4 * 32;

/// A cell as a message, for clients without a codec.
pub fn cell(cell: &CellRef<'_>) -> pb::Cell {
    let bytes = |bytes: &[u8]| Some(Bytes::copy_from_slice(bytes));
    pb::Cell {
        row: bytes(cell.row()),
        family: bytes(cell.family()),
        qualifier: bytes(cell.qualifier()),
        timestamp: Some(cell.timestamp() as u64),
        cell_type: Some(i32::from(cell.type_code())),
        value: bytes(cell.value()),
        tags: None,
    }
}

/// Collects the results of one answer. Cells are added one by one; [`ResultWriter::finish`] ends a
/// result.
///
/// It takes no more memory than its [`Room`] has: a cell without memory, and every cell after it,
/// is left out, which [`ResultWriter::is_out_of_memory`] reports.
#[derive(Debug)]
pub struct ResultWriter {
    codec: Option<Codec>,
    room: Room,
    is_out_of_memory: bool,
    /// Memory of the cells that are messages.
    messages_bytes: usize,
    block: Vec<u8>,
    messages: Vec<pb::Cell>,
    /// Cells of the current result.
    count: usize,
    /// Where the current result began in the block.
    begin: usize,
    /// Serialized size of all cells that were added as messages.
    size_bytes: usize,
    /// The same without the current result.
    size_bytes_before: usize,
}

impl ResultWriter {
    /// Writes cells into a block of this codec, or into the messages.
    pub fn new(codec: Option<Codec>, room: Room) -> Self {
        Self {
            codec,
            room,
            is_out_of_memory: false,
            messages_bytes: 0,
            block: Vec::new(),
            messages: Vec::new(),
            count: 0,
            begin: 0,
            size_bytes: 0,
            size_bytes_before: 0,
        }
    }

    /// Whether cells were left out because there is no memory for them.
    pub fn is_out_of_memory(&self) -> bool {
        self.is_out_of_memory
    }

    /// Whether this many bytes of cells can be added without leaving one out.
    pub fn has_room_for(&mut self, bytes: usize) -> bool {
        let used = self.block.len() + self.messages_bytes;
        !self.is_out_of_memory && self.room.try_hold(used.saturating_add(bytes))
    }

    /// Memory of the cells that are messages, in bytes.
    pub fn messages_bytes(&self) -> usize {
        self.messages_bytes
    }

    /// Charges all memory in use, so that none of it counts as free. False if that is not possible.
    pub fn charge_all(&mut self) -> bool {
        self.room.try_charge(self.block.capacity() + self.messages_bytes)
    }

    /// Whether cells go into a block.
    pub fn has_block(&self) -> bool {
        self.codec.is_some()
    }

    /// Adds a cell to the current result.
    #[inline]
    pub fn push(&mut self, one: &CellRef<'_>) {
        match self.codec {
            Some(codec) => {
                let size = codec.size_of(one);
                if self.block.capacity() - self.block.len() < size && !self.make_room(size) {
                    return;
                }
                codec.push(&mut self.block, one);
            }
            None => {
                let size = one.serialized_size();
                let taken = self.messages_bytes + size + CELL_MESSAGE_OVERHEAD;
                if self.is_out_of_memory || !self.room.try_hold(taken) {
                    self.is_out_of_memory = true;
                    return;
                }
                self.messages_bytes = taken;
                self.size_bytes += size;
                self.messages.push(cell(one));
            }
        }
        self.count += 1;
    }

    #[cold]
    fn make_room(&mut self, size: usize) -> bool {
        self.is_out_of_memory |= !self.room.try_reserve(&mut self.block, size);
        !self.is_out_of_memory
    }

    /// Cells of the current result.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes of everything added so far.
    pub fn size_bytes(&self) -> usize {
        self.block.len() + self.size_bytes
    }

    /// Removes the cells of the current result.
    pub fn discard(&mut self) {
        self.block.truncate(self.begin);
        let size = self.size_bytes - self.size_bytes_before;
        self.messages_bytes -= size + self.messages.len() * CELL_MESSAGE_OVERHEAD;
        self.size_bytes = self.size_bytes_before;
        self.messages.clear();
        self.count = 0;
    }

    /// Ends the current result. The message has its cells or their number.
    pub fn finish(&mut self) -> pb::Result {
        let count = i32::try_from(self.count).unwrap_or(i32::MAX);
        self.begin = self.block.len();
        self.size_bytes_before = self.size_bytes;
        self.count = 0;
        if self.codec.is_some() {
            return pb::Result { associated_cell_count: Some(count), ..pb::Result::default() };
        }
        pb::Result { cell: std::mem::take(&mut self.messages), ..pb::Result::default() }
    }

    /// The block, and its room.
    pub fn into_block(self) -> (Vec<u8>, Room) {
        (self.block, self.room)
    }
}
