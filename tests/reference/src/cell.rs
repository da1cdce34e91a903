//! Cells, their order and what markers mask, as the data model defines it.

use hblite_model::{CellType, KeepDeletedCells};

/// A stored cell of one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCell {
    pub row: Vec<u8>,
    /// Empty for markers of the family.
    pub qualifier: Vec<u8>,
    pub timestamp: i64,
    pub cell_type: CellType,
    pub sequence_id: u64,
    pub value: Vec<u8>,
    pub time_to_live_ms: Option<i64>,
}

impl StoredCell {
    pub fn is_marker(&self) -> bool {
        self.cell_type != CellType::Put
    }

    pub fn is_of_family(&self) -> bool {
        matches!(self.cell_type, CellType::DeleteFamily | CellType::DeleteFamilyVersion)
    }

    /// Row, qualifier, newest timestamp, highest type; of equal keys the one written last.
    fn order(&self) -> impl Ord + '_ {
        let newest_first = std::cmp::Reverse((self.timestamp, self.cell_type as u8));
        (&self.row, &self.qualifier, newest_first, std::cmp::Reverse(self.sequence_id))
    }

    pub fn has_key_of(&self, other: &Self) -> bool {
        (&self.row, &self.qualifier, self.timestamp, self.cell_type)
            == (&other.row, &other.qualifier, other.timestamp, other.cell_type)
    }

    /// A cell's own time to live is over when timestamp and time to live lie before now.
    pub fn is_expired_itself(&self, now: i64) -> bool {
        self.time_to_live_ms.is_some_and(|time_to_live| self.timestamp + time_to_live < now)
    }

    /// Whether this marker masks `put`, whenever that was written.
    pub fn masks(&self, put: &Self) -> bool {
        let is_same_column = self.qualifier == put.qualifier;
        match self.cell_type {
            CellType::DeleteFamily => put.timestamp <= self.timestamp,
            CellType::DeleteFamilyVersion => put.timestamp == self.timestamp,
            CellType::DeleteColumn => is_same_column && put.timestamp <= self.timestamp,
            CellType::Delete => is_same_column && put.timestamp == self.timestamp,
            CellType::Put => false,
        }
    }
}

/// Cells in their order.
pub fn sorted(cells: impl IntoIterator<Item = StoredCell>) -> Vec<StoredCell> {
    let mut cells: Vec<StoredCell> = cells.into_iter().collect();
    cells.sort_by(|left, right| left.order().cmp(&right.order()));
    cells
}

/// The settings of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    pub name: Vec<u8>,
    pub versions: i32,
    pub min_versions: i32,
    pub time_to_live_ms: Option<i64>,
    pub keep_deleted_cells: KeepDeletedCells,
    pub new_version_behavior: bool,
}

impl Family {
    /// Cells with a lower timestamp are past the family's time to live.
    pub fn oldest_unexpired(&self, now: i64) -> i64 {
        self.time_to_live_ms.map_or(i64::MIN, |time_to_live| now - time_to_live)
    }
}
