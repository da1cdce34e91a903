//! Every setting of the engine, with its default, range and HBase's name for it.
//!
//! Settings are plain data: given once when a store is opened, checked there, and handed down. Each
//! field is read under its name and set with a method `with_<name>`, so that a new setting breaks
//! no caller.

use hblite_model::{Error, Result, setters};

use crate::wal::WalOptions;

const MIB: usize = 1024 * 1024;

/// Settings of a store.
///
/// ```
/// # use hblite_engine as hblite;
/// use hblite::EngineOptions;
/// let options = EngineOptions::default().with_memstore_flush_size_bytes(8 << 20);
/// assert!(options.check().is_ok());
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EngineOptions {
    /// Memory of a region at which it is flushed; a table's `MEMSTORE_FLUSHSIZE` takes precedence.
    /// Default 32 MiB, at least 64 KiB (`hbase.hregion.memstore.flush.size`).
    pub memstore_flush_size_bytes: usize,
    /// A region that holds this many times its flush size accepts no more writes until a flush is
    /// done. Default 4, at least 2 (`hbase.hregion.memstore.block.multiplier`).
    pub memstore_block_multiplier: usize,
    /// Memory of all regions at which writes wait; from 95 % of it on the largest regions are
    /// flushed. Default 512 MiB (`hbase.regionserver.global.memstore.size`).
    pub memstore_total_size_bytes: usize,
    /// How long a write waits for memory before it is refused with `RegionTooBusy`, in
    /// milliseconds. Default 60,000 (`hbase.busy.wait.duration`).
    pub busy_wait_ms: u64,
    /// Largest cell that a client may write; `None` for no limit. Default 10 MiB
    /// (`hbase.client.keyvalue.maxsize`).
    pub cell_size_max_bytes: Option<usize>,
    /// Maximum number of regions with which a request may leave a table that it creates, or adds
    /// families to; a region counts once for every ten families. Default 10,000. HBase has such a
    /// quota for namespaces (`hbase.namespace.quota.maxregions`).
    pub table_regions_max: usize,
    /// Whether settings of tables are checked (`sanity`); a table's own `hbase.table.sanity.checks`
    /// takes precedence. Default true (`hbase.table.sanity.checks`).
    pub are_settings_checked: bool,
    /// Minimum number of files of a store for a compaction. Default 3, at least 2
    /// (`hbase.hstore.compaction.min`).
    pub compaction_files_min: usize,
    /// Maximum number of files in one minor compaction. Default 10 (`hbase.hstore.compaction.max`).
    pub compaction_files_max: usize,
    /// A file joins a compaction if it is at most this many times the size of the others
    /// together. Default 0.6, which writes less than HBase's 1.2
    /// (`hbase.hstore.compaction.ratio`).
    pub compaction_ratio: f64,
    /// Files below this size join any compaction. Larger ones without common rows count as one
    /// file, up to 64 of them, and are compacted only when a store has more than 512 files, or
    /// more than 128 when the hourly check finds that nothing was flushed for ten minutes. Default
    /// 16 MiB (`hbase.hstore.compaction.min.size`).
    pub compaction_small_file_bytes: u64,
    /// With this many files in a store, a compaction takes the cheapest of them even if none
    /// satisfy the ratio, and writes to the region are slowed down, the more the more files there
    /// are. Default 16 (`hbase.hstore.blockingStoreFiles`).
    pub blocking_store_files: usize,
    /// Size of a store at which its region is split, unless its table sets `MAX_FILESIZE`. Default
    /// 10 GiB (`hbase.hregion.max.filesize`).
    pub region_size_max_bytes: u64,
    /// The same for the only region of a table, if the split policy distinguishes it. Default twice
    /// the table's `MEMSTORE_FLUSHSIZE`, or 256 MiB (`hbase.increasing.policy.initial.size`).
    pub region_split_first_size_bytes: Option<u64>,
    /// Whether regions that have grown are split in the background. Default true (the switch of
    /// `splitormerge_switch`).
    pub is_split_enabled: bool,
    /// All files of a store are compacted when the oldest is older than this, in milliseconds;
    /// `None` for never. Default seven days (`hbase.hregion.majorcompaction`).
    pub major_compaction_period_ms: Option<i64>,
    /// Minimum time for which hbase:meta keeps the parents of a split or merge, in milliseconds,
    /// even if nothing reads from them any longer. Default 0 (`hbase.catalogjanitor.interval`).
    pub parents_kept_ms: i64,
    /// Minimum time for which an expired snapshot is still listed, in milliseconds. Default 0
    /// (`hbase.master.cleaner.snapshot.interval`).
    pub expired_snapshots_kept_ms: i64,
    /// How many background compactions may run at the same time, of several stores or of one.
    /// Default half of the processors, but at least 2 and at most 8
    /// (`hbase.regionserver.thread.compaction.small` and `.large`).
    pub compaction_threads_max: usize,
    /// Maximum bytes per second that each background compaction writes, which leaves disk bandwidth
    /// for other work; `None` for no limit, which is the default
    /// (`hbase.hstore.compaction.throughput.higher.bound`).
    pub compaction_bytes_per_second_max: Option<u64>,
    /// Whether files are compacted in the background. Default true.
    pub is_compaction_enabled: bool,
    /// Memory for blocks that are decompressed, or copied from files that are not mapped. Default
    /// 64 MiB, 0 for none (`hfile.block.cache.size`).
    pub block_cache_size_bytes: usize,
    /// Whether store files are mapped into memory and plain blocks are used in place, or blocks are
    /// read into the block cache. Default true, which is faster when the data does not fit into the
    /// block cache. If a mapped file of an open store is truncated, reading the missing part kills
    /// the process (SIGBUS); if the file is not mapped, it is a `Corrupt` error. Files that are
    /// not mapped take up to a quarter of the descriptors; further ones take none on Linux, and one
    /// each elsewhere. Single writes to the log go through a mapping too, on Linux
    /// and on file systems that overwrite in place (ext4, XFS, tmpfs).
    pub are_files_mapped: bool,
    /// How often the background thread reads and verifies every store file again, in milliseconds;
    /// `None` for never. Default seven days. Damage is listed in the store's status. The first
    /// round begins a minute after the store was opened.
    pub scrub_period_ms: Option<u64>,
    /// Maximum bytes per second that the background verification reads, which leaves disk bandwidth
    /// for other work; `None` for no limit. Default 8 MiB.
    pub scrub_bytes_per_second_max: Option<u64>,
    /// The log.
    pub wal: WalOptions,
    /// Whether to create a store in a directory without one, instead of failing. Default true.
    pub create_if_missing: bool,
    /// Whether to work around damage instead of returning an error: damaged records of the log are
    /// skipped, and a lost hbase:meta is rebuilt. Both are reported. Default false.
    pub salvage: bool,
    /// Whether the root directory of an Apache HBase that has ended is converted to a store: its
    /// logs are replayed, and what hblite cannot read is refused by name before anything is
    /// changed. HBase must not be running. A store is opened as usual. Default false: such a
    /// directory is refused.
    pub adopts_hbase: bool,
    /// Whether the store is opened as it is at this moment, and changes are refused with
    /// `DoNotRetryIOException`. Nothing is written to the directory, and another process may have
    /// the store open. Default false.
    pub is_read_only: bool,
    /// Whether closing writes memory to files, which spares the next open a replay of the log.
    /// Default true; a store in memory has no next open.
    pub is_flushed_on_close: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            memstore_flush_size_bytes: 32 * MIB,
            memstore_block_multiplier: 4,
            memstore_total_size_bytes: 512 * MIB,
            busy_wait_ms: 60_000,
            cell_size_max_bytes: Some(10 * MIB),
            table_regions_max: 10_000,
            are_settings_checked: true,
            compaction_files_min: 3,
            compaction_files_max: 10,
            compaction_ratio: 0.6,
            compaction_small_file_bytes: 16 * MIB as u64,
            blocking_store_files: 16,
            region_size_max_bytes: 10 << 30,
            region_split_first_size_bytes: None,
            is_split_enabled: true,
            major_compaction_period_ms: Some(7 * 24 * 60 * 60 * 1000),
            parents_kept_ms: 0,
            expired_snapshots_kept_ms: 0,
            compaction_threads_max: default_compaction_threads(),
            compaction_bytes_per_second_max: None,
            is_compaction_enabled: true,
            block_cache_size_bytes: 64 * MIB,
            // Windows cannot remove a file that is mapped.
            are_files_mapped: cfg!(unix),
            scrub_period_ms: Some(7 * 24 * 60 * 60 * 1000),
            scrub_bytes_per_second_max: Some(8 << 20),
            wal: WalOptions::default(),
            create_if_missing: true,
            salvage: false,
            adopts_hbase: false,
            is_read_only: false,
            is_flushed_on_close: true,
        }
    }
}

fn default_compaction_threads() -> usize {
    let processors = hblite_env::thread::available_parallelism().map_or(1, usize::from);
    (processors / 2).clamp(2, 8)
}

setters! { EngineOptions:
    with_memstore_flush_size_bytes sets memstore_flush_size_bytes: usize;
    with_memstore_block_multiplier sets memstore_block_multiplier: usize;
    with_memstore_total_size_bytes sets memstore_total_size_bytes: usize;
    with_busy_wait_ms sets busy_wait_ms: u64;
    with_cell_size_max_bytes sets cell_size_max_bytes: impl Into<Option<usize>>;
    with_table_regions_max sets table_regions_max: usize;
    with_settings_checked sets are_settings_checked: bool;
    with_compaction_files_min sets compaction_files_min: usize;
    with_compaction_files_max sets compaction_files_max: usize;
    with_compaction_ratio sets compaction_ratio: f64;
    with_compaction_small_file_bytes sets compaction_small_file_bytes: u64;
    with_blocking_store_files sets blocking_store_files: usize;
    with_region_size_max_bytes sets region_size_max_bytes: u64;
    with_region_split_first_size_bytes sets region_split_first_size_bytes: impl Into<Option<u64>>;
    with_split_enabled sets is_split_enabled: bool;
    with_major_compaction_period_ms sets major_compaction_period_ms: impl Into<Option<i64>>;
    with_parents_kept_ms sets parents_kept_ms: i64;
    with_expired_snapshots_kept_ms sets expired_snapshots_kept_ms: i64;
    with_compaction_threads_max sets compaction_threads_max: usize;
    with_compaction_bytes_per_second_max sets
        compaction_bytes_per_second_max: impl Into<Option<u64>>;
    with_compaction_enabled sets is_compaction_enabled: bool;
    with_block_cache_size_bytes sets block_cache_size_bytes: usize;
    with_files_mapped sets are_files_mapped: bool;
    with_scrub_period_ms sets scrub_period_ms: impl Into<Option<u64>>;
    with_scrub_bytes_per_second_max sets scrub_bytes_per_second_max: impl Into<Option<u64>>;
    with_wal sets wal: WalOptions;
    with_create_if_missing sets create_if_missing: bool;
    with_salvage sets salvage: bool;
    with_hbase_adopted sets adopts_hbase: bool;
    with_read_only sets is_read_only: bool;
    with_flush_on_close sets is_flushed_on_close: bool;
}

impl EngineOptions {
    /// Bytes that memstores and cached blocks may take together.
    pub fn memory_max_bytes(&self) -> usize {
        self.memstore_total_size_bytes.saturating_add(self.block_cache_size_bytes)
    }

    /// Refuses settings out of range.
    ///
    /// # Errors
    /// `IllegalArgument` that names the setting and its range.
    pub fn check(&self) -> Result<()> {
        let rules = [
            (self.memstore_flush_size_bytes >= 64 * 1024, "memstore_flush_size_bytes >= 65536"),
            (self.memstore_block_multiplier >= 2, "memstore_block_multiplier >= 2"),
            (self.memstore_total_size_bytes >= 64 * 1024, "memstore_total_size_bytes >= 65536"),
            (self.table_regions_max > 0, "table_regions_max > 0"),
            (self.compaction_files_min >= 2, "compaction_files_min >= 2"),
            (
                self.compaction_files_max >= self.compaction_files_min,
                "compaction_files_max >= compaction_files_min",
            ),
            (self.compaction_ratio > 0.0, "compaction_ratio > 0"),
            (self.compaction_threads_max > 0, "compaction_threads_max > 0"),
            (
                self.major_compaction_period_ms.is_none_or(|period| period > 0),
                "major_compaction_period >= 1 ms",
            ),
            (self.scrub_period_ms != Some(0), "scrub_period >= 1 ms"),
            (self.scrub_bytes_per_second_max != Some(0), "scrub_bytes_per_second_max > 0"),
            (
                self.compaction_bytes_per_second_max != Some(0),
                "compaction_bytes_per_second_max > 0",
            ),
            (self.parents_kept_ms >= 0, "parents_kept >= 0"),
            (self.expired_snapshots_kept_ms >= 0, "expired_snapshots_kept >= 0"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(Error::illegal_argument(format!(
                "a setting of the store is out of range: {rule} does not hold"
            ))),
            None => Ok(()),
        }
    }
}
