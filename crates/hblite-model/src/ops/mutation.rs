//! Writes: put, delete, increment, append, and several of them to one row.
//!
//! All four share one representation, [`Mutation`]: a row, its cells in stored form (timestamps not
//! yet assigned), and how to write them. The four public types differ in what they can express.

mod from_cells;
mod read_modify_write;

use std::time::Duration;

use smallvec::SmallVec;

use super::attributes::Attributes;
use super::value::IntoValue;
use super::{Durability, PermissionAction, TimeRange};
use crate::bytes::to_string_binary;
use crate::cell::key::{FAMILY_LENGTH_MAX, ROW_LENGTH_MAX};
use crate::cell::{self, CellBuffer, CellType, LATEST_TIMESTAMP, key};
use crate::error::{Error, Result};

/// Rows up to this size are stored without an allocation of their own.
const ROW_SIZE_IN_PLACE: usize = 24;

/// What kind of write a [`Mutation`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MutationKind {
    /// Stores values.
    Put,
    /// Stores delete markers.
    Delete,
    /// Adds to 64-bit counters.
    Increment,
    /// Extends values.
    Append,
}

/// A write to one row.
#[derive(Debug, Clone)]
pub struct Mutation {
    kind: MutationKind,
    row: SmallVec<[u8; ROW_SIZE_IN_PLACE]>,
    cells: CellBuffer,
    timestamp: i64,
    durability: Durability,
    time_to_live_ms: Option<i64>,
    time_range: TimeRange,
    returns_results: bool,
    attributes: Attributes,
    /// A part that was refused while building; reported when the mutation is passed to a table.
    refused: Option<String>,
}

/// Checks the length of a row.
///
/// # Errors
/// `IllegalArgument` with HBase's message if it is empty or over 32,767 bytes.
pub(crate) fn check_row(row: &[u8]) -> Result<()> {
    if row.is_empty() {
        return Err(Error::illegal_argument("Row length is 0"));
    }
    if row.len() > ROW_LENGTH_MAX {
        return Err(Error::illegal_argument(format!(
            "Row length {} is > {ROW_LENGTH_MAX}",
            row.len()
        )));
    }
    Ok(())
}

impl Mutation {
    fn new(kind: MutationKind, row: &[u8]) -> Self {
        Self {
            kind,
            row: SmallVec::from_slice(row),
            cells: CellBuffer::new(),
            timestamp: LATEST_TIMESTAMP,
            durability: Durability::UseDefault,
            time_to_live_ms: None,
            time_range: TimeRange::ALL,
            returns_results: true,
            attributes: Attributes::default(),
            refused: check_row(row).err().map(|error| error.message().to_owned()),
        }
    }

    fn push(
        &mut self,
        family: &[u8],
        qualifier: &[u8],
        timestamp: i64,
        cell_type: CellType,
        value: &[u8],
    ) {
        if self.refused.is_some() {
            return;
        }
        if timestamp < 0 {
            self.refuse(format!("Timestamp cannot be negative. ts={timestamp}"));
        } else if family.len() > FAMILY_LENGTH_MAX {
            self.refuse(format!("Family > {FAMILY_LENGTH_MAX}"));
        } else if let Err(error) = self.check_size(family, qualifier, value) {
            self.refuse(error.message().to_owned());
        } else {
            self.cells.push_parts(&self.row, family, qualifier, timestamp, cell_type.code(), value);
        }
    }

    fn check_size(&self, family: &[u8], qualifier: &[u8], value: &[u8]) -> Result<()> {
        cell::check_size(key::encoded_length(&self.row, family, qualifier), value.len())
    }

    fn refuse(&mut self, message: String) {
        self.refused.get_or_insert(message);
    }

    fn set_timestamp(&mut self, timestamp: i64) {
        if timestamp < 0 {
            self.refuse(format!("Timestamp cannot be negative. ts={timestamp}"));
        }
        self.timestamp = timestamp;
    }

    /// Also gives the timestamp to the cells that have none yet.
    fn set_timestamp_of_cells(&mut self, timestamp: i64) {
        self.set_timestamp(timestamp);
        for index in 0..self.cells.len() {
            if self.cells.get(index).is_some_and(|cell| cell.timestamp() == LATEST_TIMESTAMP) {
                self.cells.set_timestamp(index, timestamp);
            }
        }
    }

    /// What kind of write this is.
    #[inline]
    pub fn kind(&self) -> MutationKind {
        self.kind
    }

    /// The row.
    #[inline]
    pub fn row(&self) -> &[u8] {
        &self.row
    }

    /// The cells in insertion order. For an increment the values are the amounts, 8 bytes each;
    /// cells without a timestamp have [`LATEST_TIMESTAMP`].
    #[inline]
    pub fn cells(&self) -> &CellBuffer {
        &self.cells
    }

    /// The timestamp of the whole mutation.
    #[inline]
    pub fn timestamp(&self) -> i64 {
        self.timestamp
    }

    /// When it is acknowledged.
    #[inline]
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Time to live of its cells in milliseconds; below zero if a client sent such a number.
    #[inline]
    pub fn time_to_live_ms(&self) -> Option<i64> {
        self.time_to_live_ms
    }

    /// The time range in which an increment or append looks for the current value.
    pub fn time_range(&self) -> TimeRange {
        self.time_range
    }

    /// Whether an increment or append returns its new values.
    pub fn returns_results(&self) -> bool {
        self.returns_results
    }

    /// What coprocessors of a cluster's servers may read, by name. A store has no use for it.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.attributes.iter()
    }

    /// Whether this deletes all families of the row: a delete that names none.
    #[inline]
    pub fn is_whole_row_delete(&self) -> bool {
        self.kind == MutationKind::Delete && self.cells.is_empty()
    }

    /// Refuses whatever HBase's constructors and client refuse.
    ///
    /// # Errors
    /// `IllegalArgument` with HBase's message.
    pub fn check(&self) -> Result<()> {
        if let Some(message) = &self.refused {
            return Err(Error::illegal_argument(message.clone()));
        }
        if !self.cells.is_empty() {
            return Ok(());
        }
        match self.kind {
            MutationKind::Put => Err(Error::illegal_argument("No columns to insert")),
            MutationKind::Delete => Ok(()),
            MutationKind::Increment => Err(Error::illegal_argument(format!(
                "Invalid arguments to row={}, no columns set to be incremented, zero columns \
                 specified",
                to_string_binary(&self.row)
            ))),
            MutationKind::Append => Err(Error::illegal_argument(format!(
                "Invalid arguments to {{\"totalColumns\":0,\"row\":\"{}\",\"families\":{{}},\
                 \"ts\":\"{}\"}}, zero columns specified",
                to_string_binary(&self.row),
                self.timestamp
            ))),
        }
    }

    /// As [`Mutation::check`], with the message for items of a list.
    ///
    /// # Errors
    /// `IllegalArgument` with HBase's message; `index` counts from 0.
    pub fn check_as_item(&self, index: usize) -> Result<()> {
        let is_empty_put = self.kind == MutationKind::Put && self.cells.is_empty();
        if is_empty_put && self.refused.is_none() {
            return Err(Error::illegal_argument(format!(
                "No columns to insert for #{} item",
                index + 1
            )));
        }
        self.check()
    }

    /// Refuses a cell over the client's limit (`hbase.client.keyvalue.maxsize`); `None` for no
    /// limit.
    ///
    /// # Errors
    /// `IllegalArgument`: `KeyValue size too large`.
    pub fn check_cell_size(&self, size_max_bytes: Option<usize>) -> Result<()> {
        let is_too_large = |max| self.cells.iter().any(|cell| cell.serialized_size() > max);
        if size_max_bytes.is_some_and(is_too_large) {
            return Err(Error::illegal_argument("KeyValue size too large"));
        }
        Ok(())
    }
}

impl AsRef<Self> for Mutation {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// Half of the range at most: HBase adds it to a timestamp.
fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX).min(i64::MAX / 2)
}

macro_rules! mutation_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name(Mutation);

        impl $name {
            /// A write to this row.
            pub fn new(row: impl AsRef<[u8]>) -> Self {
                Self(Mutation::new(MutationKind::$name, row.as_ref()))
            }

            /// When the write is acknowledged.
            #[must_use]
            pub fn with_durability(mut self, durability: Durability) -> Self {
                self.0.durability = durability;
                self
            }

            /// An attribute, for coprocessors of a cluster's servers. A store has no use for it.
            #[must_use]
            pub fn with_attribute(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
                self.0.attributes.set(name, value.into());
                self
            }

            /// An expression of visibility labels, such as `SECRET & !PUBLIC`, for a cluster that
            /// has them: who sees the cells that are written, or which cells a delete applies to.
            #[must_use]
            pub fn with_cell_visibility(mut self, expression: &str) -> Self {
                self.0.attributes.set_expression(expression);
                self
            }

            /// What each user may do with the cells that are written, for a cluster with
            /// permissions.
            #[must_use]
            pub fn with_cell_permissions<'a>(
                mut self,
                users: impl IntoIterator<Item = (&'a str, &'a [PermissionAction])>,
            ) -> Self {
                self.0.attributes.set_permissions(users);
                self
            }

            /// The row.
            #[inline]
            pub fn row(&self) -> &[u8] {
                self.0.row()
            }

            /// The write as a [`Mutation`].
            pub fn as_mutation(&self) -> &Mutation {
                &self.0
            }
        }

        impl From<$name> for Mutation {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl AsRef<Mutation> for $name {
            fn as_ref(&self) -> &Mutation {
                &self.0
            }
        }
    };
}

mutation_type! {
    /// Stores values in columns of one row.
    ///
    /// ```
    /// # use hblite_model as hblite;
    /// use hblite::Put;
    /// let put = Put::new("row").add("f", "q", "value").add_at("f", "old", 7, "then");
    /// assert_eq!(put.as_mutation().cells().len(), 2);
    /// ```
    Put
}

mutation_type! {
    /// Deletes versions, columns, families or the whole row.
    ///
    /// Without any of them it deletes the whole row up to now.
    ///
    /// ```
    /// # use hblite_model as hblite;
    /// use hblite::Delete;
    /// let row = Delete::new("row");
    /// let column = Delete::new("row").columns("f", "q");
    /// # let _ = (row, column);
    /// ```
    Delete
}

mutation_type! {
    /// Adds to counters: 8-byte big-endian numbers. All of them or none.
    Increment
}

mutation_type! {
    /// Extends values. All of them or none.
    Append
}

impl Put {
    /// Gives this timestamp, in milliseconds, to all cells that do not specify their own.
    #[must_use]
    pub fn with_timestamp(mut self, timestamp: i64) -> Self {
        self.0.set_timestamp_of_cells(timestamp);
        self
    }

    /// Sets a column.
    #[must_use]
    pub fn add(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        value: impl IntoValue,
    ) -> Self {
        let timestamp = self.0.timestamp;
        self.add_at(family, qualifier, timestamp, value)
    }

    /// Sets a column at a timestamp in milliseconds.
    #[must_use]
    pub fn add_at(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: i64,
        value: impl IntoValue,
    ) -> Self {
        let (family, qualifier) = (family.as_ref(), qualifier.as_ref());
        self.0.push(family, qualifier, timestamp, CellType::Put, value.into_value().as_ref());
        self
    }

    /// Gives the cells a time to live, to the millisecond.
    #[must_use]
    pub fn with_time_to_live(mut self, time: Duration) -> Self {
        self.0.time_to_live_ms = Some(millis(time));
        self
    }
}

impl Delete {
    /// Deletes up to this timestamp, in milliseconds, or the version of [`Delete::column`] that has
    /// it. Does not apply to parts that specify their own.
    #[must_use]
    pub fn with_timestamp(mut self, timestamp: i64) -> Self {
        self.0.set_timestamp_of_cells(timestamp);
        self
    }

    fn marker(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: i64,
        cell_type: CellType,
    ) -> Self {
        self.0.push(family.as_ref(), qualifier.as_ref(), timestamp, cell_type, b"");
        self
    }

    /// Deletes the newest version of a column.
    #[must_use]
    pub fn column(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        let timestamp = self.0.timestamp;
        self.column_at(family, qualifier, timestamp)
    }

    /// Deletes the version of a column that has exactly this timestamp.
    #[must_use]
    pub fn column_at(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: i64,
    ) -> Self {
        self.marker(family, qualifier, timestamp, CellType::Delete)
    }

    /// Deletes all versions of a column.
    #[must_use]
    pub fn columns(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        let timestamp = self.0.timestamp;
        self.columns_at(family, qualifier, timestamp)
    }

    /// Deletes all versions of a column up to this timestamp.
    #[must_use]
    pub fn columns_at(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: i64,
    ) -> Self {
        self.marker(family, qualifier, timestamp, CellType::DeleteColumn)
    }

    /// Deletes all columns of a family.
    #[must_use]
    pub fn family(self, family: impl AsRef<[u8]>) -> Self {
        let timestamp = self.0.timestamp;
        self.family_at(family, timestamp)
    }

    /// Deletes all columns of a family up to this timestamp. Earlier deletes in the family are
    /// dropped from this operation, as in `Delete.addFamily`.
    #[must_use]
    pub fn family_at(mut self, family: impl AsRef<[u8]>, timestamp: i64) -> Self {
        self.0.cells.retain(|_, cell| cell.family() != family.as_ref());
        self.marker(family, b"", timestamp, CellType::DeleteFamily)
    }

    /// Deletes the cells of a family that have exactly this timestamp.
    #[must_use]
    pub fn family_version(self, family: impl AsRef<[u8]>, timestamp: i64) -> Self {
        self.marker(family, b"", timestamp, CellType::DeleteFamilyVersion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::CELL_SIZE_MAX;

    #[test]
    fn a_cell_that_no_file_could_hold_is_refused() {
        // These bytes are never read, so they occupy no memory.
        let huge = vec![0; CELL_SIZE_MAX];
        let refused: [Mutation; 4] = [
            Put::new("r").add("f", "q", &huge).into(),
            Append::new("r")
                .add("f", "q", &huge[key::encoded_length(b"r", b"f", b"q") - 1..])
                .into(),
            Delete::new("r").column("f", &huge).into(),
            Increment::new("r").add("f", &huge, 1).into(),
        ];
        for mutation in refused {
            let error = mutation.check().unwrap_err();
            assert_eq!(error.message(), "KeyValue size too large", "{:?}", mutation.kind());
            assert!(mutation.cells().is_empty());
        }
    }
}
