//! One step of a scan, on every layer that reads rows.

/// What a step of a scan found.
///
/// `R` is the row: a reference to it where the reader owns the memory, `()` where the caller passed
/// a row to fill in, [`RowPart`] where its cells went to the caller one by one. `C` is the position
/// of a scan without a row; a scanner that is kept open needs none and has `()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanStep<R = (), C = Vec<u8>> {
    /// A row.
    Row(R),
    /// No row yet: a limit of time or work was reached. A scan that starts at this row continues
    /// where this one is (`Result.isCursor`).
    Cursor(C),
    /// No more rows.
    End,
}

/// How much of a row a step returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPart {
    /// A limit cut the row before what may be its end.
    pub may_have_more_cells: bool,
}

impl<R, C> ScanStep<R, C> {
    /// Replaces the row by what the function makes of it.
    pub fn map_row<S>(self, row: impl FnOnce(R) -> S) -> ScanStep<S, C> {
        match self {
            Self::Row(found) => ScanStep::Row(row(found)),
            Self::Cursor(cursor) => ScanStep::Cursor(cursor),
            Self::End => ScanStep::End,
        }
    }
}
