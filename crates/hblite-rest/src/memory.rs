//! The memory of one request, charged to the budget that all requests share.
//!
//! Charged before it is allocated: the body, as it arrives and as it is decompressed, and what
//! body and path are decoded to. Charged as it grows: the rows of an answer; one row is read before
//! it is charged. The charge of an answer lasts until it has been written to the connection.
//! Not charged: the head of a request, whose length and number are limited.
//!
//! Threads: any.

use std::sync::Arc;

use bytes::Bytes;
use hblite::{CellRef, RowResult};
use hblite_wire::memory::{MemoryAccount, MemoryCharge};
use parking_lot::Mutex;

/// The memory for each byte of a cell in an answer: as read, in the model, and as two texts in
/// Base64.
const ANSWER_FACTOR: usize = 5;
/// The overhead of a cell in an answer, before it is multiplied: the parts of the model and of its
/// message, their allocations, and the names in XML or JSON.
const CELL_BYTES: usize = 100;

/// The memory of one request.
#[derive(Debug)]
pub(crate) struct Allowance(Mutex<MemoryCharge>);

impl Allowance {
    /// Begins with `charge`, that of the body.
    pub(crate) fn new(charge: MemoryCharge) -> Self {
        Self(Mutex::new(charge))
    }

    /// The account of the connection, for charges with another lifetime.
    pub(crate) fn account(&self) -> Arc<MemoryAccount> {
        Arc::clone(self.0.lock().account())
    }

    /// Bytes that are charged.
    pub(crate) fn taken_bytes(&self) -> usize {
        self.0.lock().size_bytes()
    }

    /// Charges `bytes` more; false if they are not available.
    #[must_use]
    pub(crate) fn try_take(&self, bytes: usize) -> bool {
        self.0.lock().try_grow(bytes)
    }

    /// Charges a row of an answer; false if there is no memory for it.
    #[must_use]
    pub(crate) fn try_hold(&self, row: &RowResult) -> bool {
        self.try_take(row_bytes(row))
    }

    /// Charges a cell of an answer; false if there is no memory for it.
    #[must_use]
    pub(crate) fn try_hold_cell(&self, cell: &CellRef<'_>) -> bool {
        self.try_take(cell_bytes(cell))
    }

    /// Charges a row of an answer even if there is no memory for it, because the row must not be
    /// lost.
    pub(crate) fn overdraw(&self, row: &RowResult) {
        let mut charge = self.0.lock();
        let bytes = charge.size_bytes().saturating_add(row_bytes(row));
        charge.overdraw(bytes);
    }

    /// Releases all but the size of `bytes`, which hold that until they are dropped.
    pub(crate) fn hold(self: Arc<Self>, bytes: Bytes) -> Bytes {
        self.0.lock().shrink_to(bytes.len());
        match bytes.is_empty() {
            true => bytes,
            false => Bytes::from_owner(Held { bytes, _allowance: self }),
        }
    }
}

/// Bytes of an answer, and the account to which they are charged.
struct Held {
    bytes: Bytes,
    _allowance: Arc<Allowance>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn cell_bytes(cell: &CellRef<'_>) -> usize {
    (cell.serialized_size() + CELL_BYTES).saturating_mul(ANSWER_FACTOR)
}

/// The memory of a row in an answer.
pub(crate) fn row_bytes(row: &RowResult) -> usize {
    row.cells().map(|cell| cell_bytes(&cell)).fold(0, usize::saturating_add)
}
