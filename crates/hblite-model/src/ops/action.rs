//! What a batch consists of, and what it returns.

use super::{
    CheckAndMutate, CheckAndMutateResult, Get, Mutation, MutationKind, RowMutations, RowResult,
};
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
    /// Writes to one row if a condition on it holds.
    CheckAndMutate(CheckAndMutate),
}

impl Action {
    /// The row that it reads or writes.
    pub fn row(&self) -> &[u8] {
        match self {
            Self::Get(get) => get.row(),
            Self::Mutation(mutation) => mutation.row(),
            Self::RowMutations(mutations) => mutations.row(),
            Self::CheckAndMutate(check) => check.row(),
        }
    }

    /// Refuses what HBase's client refuses before it sends a batch. `index` counts from 0.
    /// `cell_size_max_bytes` is the limit for the cells of a put; `None` for no limit.
    ///
    /// # Errors
    /// `IllegalArgument` with HBase's message.
    pub fn check_as_item(&self, index: usize, cell_size_max_bytes: Option<usize>) -> Result<()> {
        // Only the server knows the new values of other writes.
        let check_size = |mutation: &Mutation| match mutation.kind() {
            MutationKind::Put => mutation.check_cell_size(cell_size_max_bytes),
            _ => Ok(()),
        };
        match self {
            Self::Get(get) => get.check(),
            Self::Mutation(mutation) => {
                mutation.check_as_item(index)?;
                check_size(mutation)
            }
            Self::RowMutations(mutations) => mutations.check(),
            Self::CheckAndMutate(check) => {
                check.parts()?.1.mutations().iter().try_for_each(check_size)
            }
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

impl From<CheckAndMutate> for Action {
    fn from(check: CheckAndMutate) -> Self {
        Self::CheckAndMutate(check)
    }
}

impl<M: Into<Mutation>> From<M> for Action {
    fn from(mutation: M) -> Self {
        Self::Mutation(mutation.into())
    }
}

/// What one action of a batch returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionResult {
    /// The row of a get; new values of increments and appends; empty for other writes.
    Row(RowResult),
    /// Whether a condition held, and new values.
    Check(CheckAndMutateResult),
}

impl ActionResult {
    /// Whether the action took place. Only a condition that did not hold prevents it.
    pub fn is_success(&self) -> bool {
        match self {
            Self::Row(_) => true,
            Self::Check(check) => check.is_success,
        }
    }

    /// What was read, or the new values; `None` for a conditional write without new values.
    pub fn row(&self) -> Option<&RowResult> {
        match self {
            Self::Row(row) => Some(row),
            Self::Check(check) => check.result.as_ref(),
        }
    }

    /// Like [`ActionResult::row`], by value, with an empty result instead of `None`.
    ///
    /// ```
    /// # use hblite_model::{ActionResult, CheckAndMutateResult};
    /// let failed = ActionResult::Check(CheckAndMutateResult::default());
    /// assert!(!failed.is_success() && failed.into_row().is_empty());
    /// ```
    pub fn into_row(self) -> RowResult {
        match self {
            Self::Row(row) => row,
            Self::Check(check) => check.result.unwrap_or_default(),
        }
    }
}
