//! Mutations from cells that a client sent.

use super::{Append, Increment, Mutation, MutationKind, Put};
use crate::cell::CellBuffer;
use crate::ops::{Durability, TimeRange};

/// Builds a mutation from existing cells, as a server does.
///
/// ```
/// # use hblite_model as hblite;
/// use hblite::{CellBuffer, CellType, LATEST_TIMESTAMP, Mutation, MutationKind};
/// let mut cells = CellBuffer::new();
/// cells.push_parts(b"row", b"f", b"q", LATEST_TIMESTAMP, CellType::Put.code(), b"value");
/// let put = Mutation::from_cells(MutationKind::Put, b"row", cells);
/// assert!(put.check().is_ok());
/// ```
impl Mutation {
    /// A write of these cells, which all have this row.
    pub fn from_cells(kind: MutationKind, row: &[u8], cells: CellBuffer) -> Self {
        Self { cells, ..Self::new(kind, row) }
    }

    /// Sets the timestamp of the whole mutation.
    #[must_use]
    pub fn with_timestamp(mut self, timestamp: i64) -> Self {
        self.set_timestamp(timestamp);
        self
    }

    /// Sets the durability.
    #[must_use]
    pub fn with_durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Sets the time to live of its cells in milliseconds; `None` for no limit.
    #[must_use]
    pub fn with_time_to_live_ms(self, time_to_live_ms: Option<i64>) -> Self {
        Self { time_to_live_ms, ..self }
    }

    /// Sets the time range in which current values are looked for.
    #[must_use]
    pub fn with_time_range(self, time_range: TimeRange) -> Self {
        Self { time_range, ..self }
    }

    /// Sets whether new values are returned.
    #[must_use]
    pub fn with_returned_results(self, returns_results: bool) -> Self {
        Self { returns_results, ..self }
    }
}

macro_rules! time_to_live_of_client {
    ($($name:ident)*) => { $(
        impl $name {
            /// Sets the time to live in milliseconds that a client sent, which may be below zero.
            #[must_use]
            pub fn with_time_to_live_ms(mut self, millis: i64) -> Self {
                self.0.time_to_live_ms = Some(millis);
                self
            }
        }
    )* };
}

time_to_live_of_client! { Put Increment Append }
