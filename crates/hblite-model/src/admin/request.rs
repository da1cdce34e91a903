//! Requests to flush and to compact: which part of a table, and how.

use crate::{RegionInfo, TableName};

/// What a request applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestTarget {
    /// Every region of a table.
    Table(TableName),
    /// One region, by its full or encoded name.
    Region(String),
}

/// A request to write memory to files; see [`FlushRequest::table`] and [`FlushRequest::region`].
///
/// ```
/// # use hblite_model as hblite;
/// use hblite::{FlushRequest, TableName};
/// let request = FlushRequest::table("users".parse::<TableName>()?).with_family("info");
/// # assert_eq!(request.family(), Some(&b"info"[..]));
/// # Ok::<(), hblite_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlushRequest {
    target: RequestTarget,
    family: Option<Vec<u8>>,
}

impl FlushRequest {
    /// Flushes every region of a table.
    pub fn table(table: impl Into<TableName>) -> Self {
        Self { target: RequestTarget::Table(table.into()), family: None }
    }

    /// Flushes one region, named by its full or encoded name.
    pub fn region(region: impl Into<String>) -> Self {
        Self { target: RequestTarget::Region(region.into()), family: None }
    }

    /// Flushes only this family. The log discards nothing then, because its entries may also
    /// contain cells of the other families.
    #[must_use]
    pub fn with_family(mut self, family: impl AsRef<[u8]>) -> Self {
        self.family = Some(family.as_ref().to_vec());
        self
    }

    /// The table or region.
    pub fn target(&self) -> &RequestTarget {
        &self.target
    }

    /// The family; `None` for all.
    pub fn family(&self) -> Option<&[u8]> {
        self.family.as_deref()
    }
}

impl From<TableName> for FlushRequest {
    fn from(table: TableName) -> Self {
        Self::table(table)
    }
}

impl From<&TableName> for FlushRequest {
    fn from(table: &TableName) -> Self {
        Self::table(table.clone())
    }
}

/// Which files a compaction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompactionKind {
    /// The files that the policy chooses, if it chooses any.
    #[default]
    Minor,
    /// All files of a store: deleted and expired cells are dropped.
    Major,
}

/// A request to compact files; see [`CompactRequest::table`] and [`CompactRequest::region`].
///
/// ```
/// # use hblite_model as hblite;
/// use hblite::{CompactRequest, CompactionKind, TableName};
/// let request = CompactRequest::table("users".parse::<TableName>()?).major();
/// # assert_eq!(request.kind(), CompactionKind::Major);
/// # Ok::<(), hblite_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactRequest {
    target: RequestTarget,
    family: Option<Vec<u8>>,
    kind: CompactionKind,
    is_mob: bool,
}

impl CompactRequest {
    /// A minor compaction of every region of a table.
    pub fn table(table: impl Into<TableName>) -> Self {
        Self::new(RequestTarget::Table(table.into()))
    }

    /// A minor compaction of one region, named by its full or encoded name.
    pub fn region(region: impl Into<String>) -> Self {
        Self::new(RequestTarget::Region(region.into()))
    }

    fn new(target: RequestTarget) -> Self {
        Self { target, family: None, kind: CompactionKind::Minor, is_mob: false }
    }

    /// A compaction of a table's medium objects (`CompactType.MOB`). HBase 2.6 has no such
    /// compaction separate from that of the table, and refuses the request.
    pub fn mob(table: impl Into<TableName>) -> Self {
        Self { is_mob: true, ..Self::table(table) }
    }

    /// Compacts only this family.
    #[must_use]
    pub fn with_family(mut self, family: impl AsRef<[u8]>) -> Self {
        self.family = Some(family.as_ref().to_vec());
        self
    }

    /// Makes it a major compaction.
    #[must_use]
    pub fn major(mut self) -> Self {
        self.kind = CompactionKind::Major;
        self
    }

    /// The table or region.
    pub fn target(&self) -> &RequestTarget {
        &self.target
    }

    /// The family; `None` for all.
    pub fn family(&self) -> Option<&[u8]> {
        self.family.as_deref()
    }

    /// Minor or major.
    pub fn kind(&self) -> CompactionKind {
        self.kind
    }

    /// The region that represents the table's medium objects, if the request is for those.
    pub fn mob_region(&self) -> Option<RegionInfo> {
        match &self.target {
            RequestTarget::Table(table) if self.is_mob => Some(RegionInfo::mob(table)),
            _ => None,
        }
    }
}

impl From<TableName> for CompactRequest {
    fn from(table: TableName) -> Self {
        Self::table(table)
    }
}

impl From<&TableName> for CompactRequest {
    fn from(table: &TableName) -> Self {
        Self::table(table.clone())
    }
}
