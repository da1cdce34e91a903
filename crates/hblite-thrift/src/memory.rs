//! The memory of one connection, charged to the budget that all connections share.
//!
//! Charged before it is allocated: the buffer that a message arrives in, and what it is decoded to.
//! Charged as it grows: the rows of an answer, with room for their serialized form; one row is read
//! before it is charged. After each answer, only the buffers of the connection remain charged.
//!
//! Threads: one, that of the connection.

use std::cell::RefCell;
use std::sync::Arc;

use hblite_model::RowResult;
use hblite_model::filter::Filter;
use hblite_wire::memory::{MemoryBudget, MemoryCharge, table_request_bytes};

/// The memory for each byte of a row in an answer: itself, and a buffer that has doubled.
const ANSWER_FACTOR: usize = 3;
/// The overhead of a cell in an answer.
const CELL_BYTES: usize = 64;

/// The memory of a filter without its arguments: parsed, in a list that has doubled, and running.
const FILTER_BYTES: usize = 3 * size_of::<Filter>() + 256;
/// The overhead of an argument.
const ARGUMENT_BYTES: usize = 64;
/// The memory for each byte of a filter: as text, and in the parsed and the running filter; HBase's
/// messages for filters take a few times their size.
const FILTER_FACTOR: usize = 4;

/// The memory of one connection.
#[derive(Debug)]
pub(crate) struct Allowance(RefCell<MemoryCharge>);

impl Allowance {
    /// For a connection that may take half of the budget.
    pub(crate) fn of(budget: &Arc<MemoryBudget>) -> Self {
        Self(RefCell::new(budget.account(budget.size_bytes() / 2).charge()))
    }

    /// Bytes that are charged.
    pub(crate) fn taken_bytes(&self) -> usize {
        self.0.borrow().size_bytes()
    }

    /// Charges `bytes` more; false if they are not available.
    #[must_use]
    pub(crate) fn try_take(&self, bytes: usize) -> bool {
        self.0.borrow_mut().try_grow(bytes)
    }

    /// Charges a row of an answer; false if there is no memory for it.
    #[must_use]
    pub(crate) fn try_hold(&self, row: &RowResult) -> bool {
        self.try_take(answer_bytes(row))
    }

    /// Charges a row of an answer even if there is no memory for it, because the row must not be
    /// lost.
    pub(crate) fn overdraw(&self, row: &RowResult) {
        let mut charge = self.0.borrow_mut();
        let bytes = charge.size_bytes().saturating_add(answer_bytes(row));
        charge.overdraw(bytes);
    }

    /// Charges the memory for a table with as many families, to be split at as many keys; false if
    /// there is none.
    #[must_use]
    pub(crate) fn try_hold_table(&self, families: usize, split_keys: usize) -> bool {
        self.try_take(table_request_bytes(families, split_keys))
    }

    /// Charges the memory of a filter in the filter language, or in the form of HBase's clients,
    /// before it is parsed; false if there is none.
    #[must_use]
    pub(crate) fn try_hold_filter(&self, text: Option<&[u8]>, message: Option<&[u8]>) -> bool {
        let weight = |byte: &u8| match byte {
            b'(' => FILTER_BYTES,
            b',' => ARGUMENT_BYTES,
            _ => 0,
        };
        let parts = text.iter().flat_map(|text| text.iter()).map(weight).sum::<usize>();
        let size = text.map_or(0, <[u8]>::len) + message.map_or(0, <[u8]>::len);
        self.try_take(parts.saturating_add(size.saturating_mul(FILTER_FACTOR)))
    }

    /// Releases all but `bytes`.
    pub(crate) fn keep(&self, bytes: usize) {
        self.0.borrow_mut().shrink_to(bytes);
    }
}

/// The memory of a row in an answer.
fn answer_bytes(row: &RowResult) -> usize {
    let cells = row.cells().map(|cell| cell.serialized_size() + CELL_BYTES);
    cells.sum::<usize>().saturating_mul(ANSWER_FACTOR)
}
