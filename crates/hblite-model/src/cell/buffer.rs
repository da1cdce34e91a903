//! Many cells in one piece of memory.
//!
//! A [`CellBuffer`] collects the cells of a row that is read, and carries those of a put. It can be
//! refilled without releasing its memory. The cells are contiguous and in the format of the log, so
//! logging them takes one copy:
//!
//! ```text
//! u32 key length │ u32 value length │ key │ value │ u16 tags length │ tags
//! ```

use smallvec::SmallVec;

use super::{CellRef, KEY_VALUE_HEADER_SIZE, key};

/// Bytes of the length field before a cell's tags.
pub(super) const TAGS_LENGTH_SIZE: usize = 2;

/// The position of one cell in its memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// Offset of the key length field.
    pub(super) start: usize,
    pub(super) key_length: u32,
    pub(super) value_length: u32,
    pub(super) tags_length: u16,
    pub(super) sequence_id: u64,
}

impl Span {
    /// The position of `cell`, whose key length is at `start`.
    ///
    /// # Panics
    /// If its tags are longer than 65,535 bytes, which their length field cannot hold.
    #[inline]
    pub(super) fn of(start: usize, cell: &CellRef<'_>) -> Self {
        Self {
            start,
            key_length: cell.key().len() as u32,
            value_length: cell.value().len() as u32,
            tags_length: u16::try_from(cell.tags().len()).expect("tags of a cell are under 64 KiB"),
            sequence_id: cell.sequence_id(),
        }
    }

    #[inline]
    pub(super) fn resolve<'a>(&self, bytes: &'a [u8]) -> CellRef<'a> {
        let key_end = self.start + KEY_VALUE_HEADER_SIZE + self.key_length as usize;
        let value_end = key_end + self.value_length as usize;
        let tags = value_end + TAGS_LENGTH_SIZE;
        // A cell of an answer has no length field if it has no tags.
        let tags = match self.tags_length {
            0 => &[],
            length => &bytes[tags..tags + length as usize],
        };
        let key_bytes = &bytes[self.start + KEY_VALUE_HEADER_SIZE..key_end];
        CellRef::new(key_bytes, &bytes[key_end..value_end], tags, self.sequence_id)
    }
}

/// An append-only sequence of cells.
#[derive(Debug, Clone, Default)]
pub struct CellBuffer {
    bytes: Vec<u8>,
    /// One inline: most puts have one cell.
    spans: SmallVec<[Span; 1]>,
}

impl CellBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of cells.
    #[inline]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are no cells.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Bytes of all cells: their `KeyValue`s and tags.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len() - TAGS_LENGTH_SIZE * self.spans.len()
    }

    /// All cells in the buffer's format; see the head of the module.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Removes the cells, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    /// Keeps the first `count` cells; does nothing if there are no more than that.
    pub fn truncate(&mut self, count: usize) {
        if let Some(span) = self.spans.get(count) {
            self.bytes.truncate(span.start);
            self.spans.truncate(count);
        }
    }

    /// Appends a copy of `cell`.
    ///
    /// # Panics
    /// If its tags are longer than 65,535 bytes, which their length field cannot hold.
    #[inline]
    pub fn push(&mut self, cell: &CellRef<'_>) {
        let span = Span::of(self.bytes.len(), cell);
        self.bytes.reserve(cell.serialized_size() + TAGS_LENGTH_SIZE + cell.tags().len());
        self.bytes.extend_from_slice(&span.key_length.to_be_bytes());
        self.bytes.extend_from_slice(&span.value_length.to_be_bytes());
        self.bytes.extend_from_slice(cell.key());
        self.bytes.extend_from_slice(cell.value());
        self.bytes.extend_from_slice(&span.tags_length.to_be_bytes());
        self.bytes.extend_from_slice(cell.tags());
        self.spans.push(span);
    }

    /// Appends a copy of `cell`, whose lengths, key and value are also in `serialized`, as
    /// contiguous bytes in the buffer's format: one copy instead of four.
    ///
    /// # Panics
    /// If `serialized` and the cell differ in size; also as [`Self::push`].
    #[inline]
    pub fn push_stored(&mut self, cell: &CellRef<'_>, serialized: &[u8]) {
        assert_eq!(serialized.len(), cell.serialized_size(), "these are not the cell's bytes");
        let span = Span::of(self.bytes.len(), cell);
        self.bytes.reserve(serialized.len() + TAGS_LENGTH_SIZE + cell.tags().len());
        self.bytes.extend_from_slice(serialized);
        self.bytes.extend_from_slice(&span.tags_length.to_be_bytes());
        self.bytes.extend_from_slice(cell.tags());
        self.spans.push(span);
    }

    /// Appends a cell from its parts, without tags or a sequence id.
    ///
    /// # Panics
    /// If row, family or value are too long for their length fields; see [`key::write`].
    pub fn push_parts(
        &mut self,
        row: &[u8],
        family: &[u8],
        qualifier: &[u8],
        timestamp: i64,
        type_code: u8,
        value: &[u8],
    ) {
        let start = self.bytes.len();
        let length = |bytes| u32::try_from(bytes).expect("keys and values have less than 4 GiB");
        let key_length = length(key::encoded_length(row, family, qualifier));
        let value_length = length(value.len());
        let size = KEY_VALUE_HEADER_SIZE + key_length as usize + value.len() + TAGS_LENGTH_SIZE;
        self.bytes.reserve(size);
        self.bytes.extend_from_slice(&key_length.to_be_bytes());
        self.bytes.extend_from_slice(&value_length.to_be_bytes());
        key::write(&mut self.bytes, row, family, qualifier, timestamp, type_code);
        self.bytes.extend_from_slice(value);
        self.bytes.extend_from_slice(&[0; TAGS_LENGTH_SIZE]);
        assert_eq!(self.bytes.len(), start + size, "the lengths are those of the cell");
        self.spans.push(Span { start, key_length, value_length, tags_length: 0, sequence_id: 0 });
    }

    /// The cell at `index`; `None` if there are not that many.
    #[inline]
    pub fn get(&self, index: usize) -> Option<CellRef<'_>> {
        self.spans.get(index).map(|span| span.resolve(&self.bytes))
    }

    /// The last cell.
    pub fn last(&self) -> Option<CellRef<'_>> {
        self.spans.last().map(|span| span.resolve(&self.bytes))
    }

    /// The cells in insertion order.
    #[inline]
    pub fn iter(&self) -> CellBufferIter<'_> {
        CellBufferIter::new(&self.bytes, &self.spans)
    }

    /// The keys of the cells in insertion order.
    #[inline]
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        self.spans.iter().map(|span| {
            let start = span.start + KEY_VALUE_HEADER_SIZE;
            &self.bytes[start..start + span.key_length as usize]
        })
    }

    /// Replaces the timestamp of the cell at `index`, if it exists.
    pub fn set_timestamp(&mut self, index: usize, timestamp: i64) {
        if let Some(span) = self.spans.get(index) {
            let start = span.start + KEY_VALUE_HEADER_SIZE;
            key::set_timestamp(&mut self.bytes[start..start + span.key_length as usize], timestamp);
        }
    }

    /// Sets the sequence id of all cells.
    pub fn set_sequence_id(&mut self, sequence_id: u64) {
        for span in &mut self.spans {
            span.sequence_id = sequence_id;
        }
    }

    /// Removes the cells for which `keep` is false; `keep` is called in order.
    pub fn retain(&mut self, mut keep: impl FnMut(usize, CellRef<'_>) -> bool) {
        let mut kept = Self::new();
        for (index, cell) in self.iter().enumerate() {
            if keep(index, cell) {
                kept.push(&cell);
            }
        }
        *self = kept;
    }
}

/// Two buffers are equal if their cells are, in order; sequence ids are not compared.
impl PartialEq for CellBuffer {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for CellBuffer {}

impl<'a> IntoIterator for &'a CellBuffer {
    type Item = CellRef<'a>;
    type IntoIter = CellBufferIter<'a>;

    #[inline]
    fn into_iter(self) -> CellBufferIter<'a> {
        self.iter()
    }
}

/// Iterates over the cells of a [`CellBuffer`] or of a [`SharedCells`](super::SharedCells).
#[derive(Debug, Clone)]
pub struct CellBufferIter<'a> {
    bytes: &'a [u8],
    spans: std::slice::Iter<'a, Span>,
}

impl<'a> CellBufferIter<'a> {
    pub(super) fn new(bytes: &'a [u8], spans: &'a [Span]) -> Self {
        Self { bytes, spans: spans.iter() }
    }
}

impl<'a> Iterator for CellBufferIter<'a> {
    type Item = CellRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<CellRef<'a>> {
        self.spans.next().map(|span| span.resolve(self.bytes))
    }

    /// In constant time: each write of a batch skips to its own cells.
    #[inline]
    fn nth(&mut self, n: usize) -> Option<CellRef<'a>> {
        self.spans.nth(n).map(|span| span.resolve(self.bytes))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.spans.size_hint()
    }
}

impl DoubleEndedIterator for CellBufferIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.spans.next_back().map(|span| span.resolve(self.bytes))
    }
}

impl ExactSizeIterator for CellBufferIter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{CellType, LATEST_TIMESTAMP};

    #[test]
    fn cells_come_back_as_they_were_pushed() {
        let mut buffer = CellBuffer::new();
        let put = CellType::Put.code();
        buffer.push_parts(b"r", b"f", b"q", LATEST_TIMESTAMP, put, b"v1");
        let key = key::build(b"r", b"f", b"q2", 7, put);
        buffer.push(&CellRef::new(&key, b"v2", b"\0\x02\x08x", 9));
        buffer.set_timestamp(0, 5);
        let mut copy = CellBuffer::new();
        for cell in &buffer {
            let (key, value) = (cell.key(), cell.value());
            let lengths = [(key.len() as u32).to_be_bytes(), (value.len() as u32).to_be_bytes()];
            copy.push_stored(&cell, &[lengths.as_flattened(), key, value].concat());
        }
        assert_eq!((copy.as_bytes(), &copy), (buffer.as_bytes(), &buffer));
        assert_eq!(copy.last().map(|cell| cell.sequence_id()), Some(9));
        assert_eq!(buffer.len(), 2);
        let cells: Vec<_> = buffer.iter().collect();
        assert!(buffer.keys().eq(cells.iter().map(|cell| cell.key())));
        assert_eq!((cells[0].timestamp(), cells[0].value()), (5, b"v1".as_slice()));
        assert_eq!((cells[1].sequence_id(), cells[1].tags()), (9, b"\0\x02\x08x".as_slice()));
        assert_eq!(buffer.iter().skip(1).map(|cell| cell.sequence_id()).collect::<Vec<_>>(), [9]);
        assert!(buffer.iter().nth(2).is_none());
        buffer.retain(|index, _| index == 1);
        assert_eq!(buffer.get(0).map(|cell| cell.qualifier().to_vec()), Some(b"q2".to_vec()));
        buffer.truncate(0);
        assert!(buffer.is_empty() && buffer.size_bytes() == 0);
    }
}
