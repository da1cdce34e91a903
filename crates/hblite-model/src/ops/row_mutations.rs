//! Several writes to one row in one step.

use super::Mutation;
use super::mutation::check_row;
use crate::bytes::to_string_binary;
use crate::error::{Error, Exception, Result};

/// Several writes to one row that happen together or not at all.
#[derive(Debug, Clone)]
pub struct RowMutations {
    row: Vec<u8>,
    mutations: Vec<Mutation>,
}

impl RowMutations {
    /// An empty list of writes to this row.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self { row: row.as_ref().to_vec(), mutations: Vec::new() }
    }

    /// Adds a write.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "HBase's name for it")]
    pub fn add(mut self, mutation: impl Into<Mutation>) -> Self {
        self.mutations.push(mutation.into());
        self
    }

    /// The row.
    pub fn row(&self) -> &[u8] {
        &self.row
    }

    /// The writes in order.
    pub fn mutations(&self) -> &[Mutation] {
        &self.mutations
    }

    /// Refuses whatever HBase's client refuses.
    ///
    /// # Errors
    /// `IllegalArgument`; `WrongRowIo` if a write is for another row.
    pub fn check(&self) -> Result<()> {
        check_row(&self.row)?;
        for (index, mutation) in self.mutations.iter().enumerate() {
            if mutation.row() != self.row {
                return Err(Error::new(
                    Exception::WrongRowIo,
                    format!(
                        "The row in the recently added Mutation <{}> doesn't match the original \
                         one <{}>",
                        to_string_binary(mutation.row()),
                        to_string_binary(&self.row)
                    ),
                ));
            }
            mutation.check_as_item(index)?;
        }
        Ok(())
    }
}
