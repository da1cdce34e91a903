//! The interface of a compared store, and the list of stores.
//!
//! One file per store: how its users would keep HBase cells in it, and the settings that they would
//! choose for this work. All stores but hblite hold the cells in the form of `codec`. A `Store` is
//! shared by the threads of a workload.

mod fjall;
mod hblite;
mod lmdb;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;

use std::path::Path;

use crate::cells::{Qualifier, SampleCell, Tally};
use crate::codec;
pub(crate) use crate::codec::{Direction, Part, Result, Span};
use crate::rows::Row;

/// Bytes of unflushed cells at which a log-structured store starts to flush.
const WRITE_BUFFER_BYTES: usize = 64 << 20;
/// The same, when a workload wants everything to stay in the log.
const WRITE_BUFFER_HOLD_BYTES: usize = 1 << 30;
/// Bytes of a data block.
const BLOCK_SIZE_BYTES: usize = 8 << 10;

/// The failure that an acknowledged put survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A process crash.
    Process,
    /// A machine crash.
    Machine,
}

/// How to open a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// The failure that each put survives.
    pub(crate) durability: Durability,
    /// Bytes of the block or page cache of the stores that have one, except hblite.
    pub(crate) cache_bytes: usize,
    /// Flush nothing until asked: written cells stay in the log and in memory.
    pub(crate) hold_in_log: bool,
    /// Versions of a column to keep, for a store that drops others.
    pub(crate) versions: u32,
    /// Whether a full compaction drops delete markers and what they hide.
    pub(crate) drops_markers: bool,
}

impl Opening {
    /// Puts survive a process crash; flushes as usual; keeps the newest version.
    pub(crate) fn usual(cache_bytes: usize) -> Self {
        Self {
            durability: Durability::Process,
            cache_bytes,
            hold_in_log: false,
            versions: 1,
            drops_markers: false,
        }
    }

    fn write_buffer_bytes(self) -> usize {
        if self.hold_in_log { WRITE_BUFFER_HOLD_BYTES } else { WRITE_BUFFER_BYTES }
    }
}

/// One kind of store.
pub(crate) trait Engine: Sync {
    /// The name in reports.
    fn name(&self) -> &'static str;

    /// Opens the store in `dir`, making what is not there; ready for the first put.
    fn open(&self, dir: &Path, opening: Opening) -> Result<Box<dyn Store>>;
}

/// A version of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version<'v> {
    pub(crate) row: &'v Row,
    pub(crate) qualifier: &'v Qualifier,
    /// Milliseconds since 1970.
    pub(crate) timestamp: i64,
}

impl Version<'_> {
    /// Its key in a store of plain bytes.
    fn key(&self) -> Vec<u8> {
        let mut key = codec::key_buffer();
        codec::encode_version(&mut key, self.row, self.qualifier, self.timestamp);
        key
    }

    /// Puts its cell into `tally`.
    fn emit(&self, tally: &mut Tally, value: Option<&[u8]>) {
        if let Some(value) = value {
            tally.add(self.row, self.qualifier, self.timestamp, value);
        }
    }
}

/// An open store. Dropping it closes it.
pub(crate) trait Store: Send + Sync {
    /// Writes cells in one operation: a put, or a batch of puts, or of delete markers.
    fn put(&self, cells: &[SampleCell]) -> Result<()>;

    /// Puts the newest version of the column into `tally`, if it exists.
    fn get(&self, row: &Row, qualifier: &Qualifier, tally: &mut Tally) -> Result<()>;

    /// Puts the version of the column with this timestamp into `tally`, if it exists.
    fn get_version(&self, version: Version<'_>, tally: &mut Tally) -> Result<()>;

    /// Puts the cells of `span` into `tally`: a scan, or a get of a row or of versions.
    fn read(&self, span: Span<'_>, tally: &mut Tally) -> Result<()>;

    /// Does the minimum after which a process crash loses no acknowledged put.
    fn secure(&self) -> Result<()>;

    /// Writes everything to files, and waits until all background work has ended.
    fn flush(&self) -> Result<()>;

    /// Rewrites the files into the form that is fastest to read.
    fn settle(&self) -> Result<()>;

    /// Removes delete markers and what they hide, with a full compaction where there is one. The
    /// store was opened for it.
    fn drop_markers(&self) -> Result<()>;
}

/// All stores, in the order of the report.
pub(crate) const ENGINES: &[&dyn Engine] = &[
    #[cfg(feature = "rocksdb")]
    &rocksdb::RocksDb { is_compressed: true },
    #[cfg(feature = "rocksdb")]
    &rocksdb::RocksDb { is_compressed: false },
    &fjall::Fjall { is_compressed: true },
    &fjall::Fjall { is_compressed: false },
    &redb::Redb,
    &lmdb::Lmdb,
    &hblite::Hblite { name: "hblite", is_compressed: false, scans_rows: false },
    &hblite::Hblite { name: "hblite-rows", is_compressed: false, scans_rows: true },
    &hblite::Hblite { name: "hblite-lz4", is_compressed: true, scans_rows: false },
];
