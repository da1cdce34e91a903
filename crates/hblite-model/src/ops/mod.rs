//! The operations of the client API and their results.
//!
//! Each is a value that is built step by step and passed to a table; nothing happens before that.
//! Building never fails. Whatever HBase's constructors refuse is refused with the same message when
//! the operation is passed to the table ([`Mutation::check`] and its counterparts).

mod check_and_mutate;
mod columns;
mod durability;
mod get;
#[cfg(feature = "serde")]
mod json;
mod mutation;
mod nonce;
mod row_mutations;
mod row_result;
mod scan;
mod scan_step;
mod time_range;
mod value;

pub use check_and_mutate::{CheckAndMutate, CheckAndMutateResult, Condition};
pub use columns::{ColumnSelection, Qualifiers};
pub use durability::Durability;
pub use get::Get;
pub use mutation::{Append, Delete, Increment, Mutation, MutationKind, Put};
pub use nonce::Nonce;
pub use row_mutations::RowMutations;
pub use row_result::RowResult;
pub use scan::{Scan, row_bound};
pub use scan_step::{RowPart, ScanStep};
pub use time_range::TimeRange;
pub use value::{FromValue, IntoValue};

use crate::Result;

/// One action of a batch.
#[derive(Debug, Clone)]
pub enum Action {
    /// A read.
    Get(Get),
    /// A write.
    Mutation(Mutation),
    /// Several writes to one row, all or none.
    RowMutations(RowMutations),
}

impl Action {
    /// The row that it reads or writes.
    pub fn row(&self) -> &[u8] {
        match self {
            Self::Get(get) => get.row(),
            Self::Mutation(mutation) => mutation.row(),
            Self::RowMutations(mutations) => mutations.row(),
        }
    }

    /// Refuses what HBase's client refuses before it sends a batch. `index` counts from 0.
    /// `cell_size_max_bytes` is the limit for the cells of a put; `None` for no limit.
    ///
    /// # Errors
    /// `IllegalArgument` with HBase's message.
    pub fn check_as_item(&self, index: usize, cell_size_max_bytes: Option<usize>) -> Result<()> {
        match self {
            Self::Get(get) => get.check(),
            Self::Mutation(mutation) => {
                mutation.check_as_item(index)?;
                match mutation.kind() {
                    MutationKind::Put => mutation.check_cell_size(cell_size_max_bytes),
                    // The new values of the others are known to the server only.
                    _ => Ok(()),
                }
            }
            Self::RowMutations(mutations) => mutations.check(),
        }
    }
}

impl From<Get> for Action {
    fn from(get: Get) -> Self {
        Self::Get(get)
    }
}

impl From<RowMutations> for Action {
    fn from(mutations: RowMutations) -> Self {
        Self::RowMutations(mutations)
    }
}

impl<M: Into<Mutation>> From<M> for Action {
    fn from(mutation: M) -> Self {
        Self::Mutation(mutation.into())
    }
}
