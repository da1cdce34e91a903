//! What a read gives: cells in a block beside the answer, or in the answer itself.

use bytes::Bytes;
use hblite_model::CellRef;

use crate::cell_block::Codec;
use crate::pb;

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

/// Collects the results of one answer. Cells are given one by one; [`ResultWriter::finish`] ends
/// a result.
#[derive(Debug)]
pub struct ResultWriter {
    codec: Option<Codec>,
    block: Vec<u8>,
    messages: Vec<pb::Cell>,
    /// Cells and bytes of the result that is being given.
    count: usize,
    /// Where the result began in the block.
    begin: usize,
    size_bytes: usize,
}

impl ResultWriter {
    /// Cells go into a block of this codec, or into the messages.
    pub fn new(codec: Option<Codec>) -> Self {
        let (block, messages) = (Vec::new(), Vec::new());
        Self { codec, block, messages, count: 0, begin: 0, size_bytes: 0 }
    }

    /// Whether cells go into a block.
    pub fn has_block(&self) -> bool {
        self.codec.is_some()
    }

    /// One more cell of the present result.
    #[inline]
    pub fn push(&mut self, one: &CellRef<'_>) {
        self.count += 1;
        match self.codec {
            Some(codec) => codec.push(&mut self.block, one),
            None => {
                self.size_bytes += one.serialized_size();
                self.messages.push(cell(one));
            }
        }
    }

    /// Cells of the present result.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes of everything given so far.
    pub fn size_bytes(&self) -> usize {
        self.block.len() + self.size_bytes
    }

    /// Forgets the cells of the present result.
    pub fn discard(&mut self) {
        self.block.truncate(self.begin);
        self.messages.clear();
        self.count = 0;
    }

    /// Ends the present result. Its cells are in the message, or their number is.
    pub fn finish(&mut self) -> pb::Result {
        let count = i32::try_from(self.count).unwrap_or(i32::MAX);
        self.begin = self.block.len();
        self.count = 0;
        if self.codec.is_some() {
            return pb::Result { associated_cell_count: Some(count), ..pb::Result::default() };
        }
        pb::Result { cell: std::mem::take(&mut self.messages), ..pb::Result::default() }
    }

    /// The block.
    pub fn into_block(self) -> Vec<u8> {
        self.block
    }
}
