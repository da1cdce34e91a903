//! One step of a scan that is read under a time limit.

/// What a step of a scan under a time limit found.
///
/// `R` is the row: a reference to it where the reader owns the memory, `()` where the caller
/// passed a row to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanStep<R = ()> {
    /// A row.
    Row(R),
    /// No row yet. A scan that starts at this row continues where this one stands
    /// (`Result.isCursor`).
    Cursor(Vec<u8>),
    /// No more rows.
    End,
}

impl<R> ScanStep<R> {
    /// The same step with another form of the row.
    pub fn map_row<S>(self, row: impl FnOnce(R) -> S) -> ScanStep<S> {
        match self {
            Self::Row(found) => ScanStep::Row(row(found)),
            Self::Cursor(cursor) => ScanStep::Cursor(cursor),
            Self::End => ScanStep::End,
        }
    }
}
