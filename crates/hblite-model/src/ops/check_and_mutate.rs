//! Writes that happen only if a condition on the row holds, in one step.

use super::{Mutation, RowMutations, RowResult, TimeRange};
use crate::error::{Error, Result};
use crate::filter::{Comparator, CompareOperator, Filter};

/// A condition on the row.
#[derive(Debug, Clone)]
pub enum Condition {
    /// Compares a column with a value: *given operator stored*, as in HBase (`LESS "a"` holds if
    /// `"a"` is less than the stored value). With `Equal`, a comparator without a value also holds
    /// for a missing column.
    Column {
        /// The family.
        family: Vec<u8>,
        /// The qualifier.
        qualifier: Vec<u8>,
        /// How to compare.
        operator: CompareOperator,
        /// With what.
        comparator: Comparator,
    },
    /// The filter passes part of the row.
    Filter(Filter),
}

/// A condition and what to write if it holds (`CheckAndMutate`).
///
/// ```
/// # use hblite_model as hblite;
/// use hblite::{CheckAndMutate, Put};
/// let put = Put::new("row").add("f", "q", "new");
/// let check = CheckAndMutate::new("row").if_equals("f", "q", "old").then(put);
/// # let _ = check;
/// ```
#[derive(Debug, Clone)]
pub struct CheckAndMutate {
    row: Vec<u8>,
    condition: Option<Condition>,
    time_range: TimeRange,
    action: Option<RowMutations>,
}

impl CheckAndMutate {
    /// A check of `row`, still without condition and action.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self {
            row: row.as_ref().to_vec(),
            condition: None,
            time_range: TimeRange::ALL,
            action: None,
        }
    }

    /// If the column has this value.
    #[must_use]
    pub fn if_equals(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Self {
        self.if_matches(family, qualifier, CompareOperator::Equal, value)
    }

    /// If the column has no value, or an empty one.
    #[must_use]
    pub fn if_not_exists(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        self.if_matches(family, qualifier, CompareOperator::Equal, b"")
    }

    /// If *value operator stored* holds.
    #[must_use]
    pub fn if_matches(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        operator: CompareOperator,
        value: impl AsRef<[u8]>,
    ) -> Self {
        self.if_compares(family, qualifier, operator, Comparator::binary(value.as_ref()))
    }

    /// If *comparator operator stored* holds.
    #[must_use]
    pub fn if_compares(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        operator: CompareOperator,
        comparator: Comparator,
    ) -> Self {
        let condition = Condition::Column {
            family: family.as_ref().to_vec(),
            qualifier: qualifier.as_ref().to_vec(),
            operator,
            comparator,
        };
        Self { condition: Some(condition), ..self }
    }

    /// If the filter passes part of the row.
    #[must_use]
    pub fn if_filter(self, filter: Filter) -> Self {
        Self { condition: Some(Condition::Filter(filter)), ..self }
    }

    /// Restricts the condition to cells in this time range.
    #[must_use]
    pub fn with_time_range(self, time_range: TimeRange) -> Self {
        Self { time_range, ..self }
    }

    /// Then one write.
    #[must_use]
    pub fn then(self, mutation: impl Into<Mutation>) -> Self {
        let action = RowMutations::new(&self.row).add(mutation);
        Self { action: Some(action), ..self }
    }

    /// Then several writes.
    #[must_use]
    pub fn then_mutate_row(self, mutations: RowMutations) -> Self {
        Self { action: Some(mutations), ..self }
    }

    /// The row.
    pub fn row(&self) -> &[u8] {
        &self.row
    }

    /// The time range of the condition.
    pub fn time_range(&self) -> TimeRange {
        self.time_range
    }

    /// The condition, if there is one.
    pub fn condition(&self) -> Option<&Condition> {
        self.condition.as_ref()
    }

    /// The condition and the writes.
    ///
    /// # Errors
    /// `IllegalArgument` if one of them is missing, and whatever HBase's client refuses in them.
    pub fn parts(&self) -> Result<(&Condition, &RowMutations)> {
        let condition = self
            .condition
            .as_ref()
            .ok_or_else(|| Error::illegal_argument("condition is null. You need to specify it"))?;
        let action = self
            .action
            .as_ref()
            .ok_or_else(|| Error::illegal_argument("CheckAndMutate has no action"))?;
        super::mutation::check_row(&self.row)?;
        for mutation in action.mutations() {
            if mutation.row() != self.row {
                let printable = crate::bytes::to_string_binary;
                return Err(Error::illegal_argument(format!(
                    "The row of the action <{}> doesn't match the original one <{}>",
                    printable(mutation.row()),
                    printable(&self.row)
                )));
            }
        }
        action.check()?;
        Ok((condition, action))
    }
}

/// Whether the condition held, and what increments and appends returned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckAndMutateResult {
    /// Whether the condition held and the writes took place.
    pub is_success: bool,
    /// New values of increments and appends, if there were any.
    pub result: Option<RowResult>,
}
