//! Every setting of a store, with its default, range and HBase's name for it.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hblite_engine::{EngineOptions, Timeline};
use hblite_env::{Clock, Env};
use hblite_model::Result;

use crate::connection::Connection;

/// Opens the store in a directory, or creates one there.
///
/// Short for [`Options::new`] and [`Options::open`]; [`Options`] has all settings.
///
/// ```no_run
/// let connection = hblite::open("./hblite-data")?;
/// # Ok::<(), hblite::Error>(())
/// ```
///
/// # Errors
/// `Locked` if another process or handle has it open (the message names the process); `Io` if the
/// directory cannot be used, or is neither empty nor a store (then nothing in it is changed);
/// `Corrupt` with file and offset if something in it is damaged.
pub fn open(dir: impl AsRef<Path>) -> Result<Connection> {
    Options::new().open(dir)
}

/// Opens an empty store in memory, which is dropped with its last handle.
///
/// # Errors
/// None in practice; the signature is that of [`open`].
pub fn open_in_memory() -> Result<Connection> {
    Options::new().open_in_memory()
}

/// How to open a store. The defaults suit most programs.
///
/// ```
/// use std::sync::Arc;
/// use hblite::{Clock, ManualClock, Options};
/// let clock = Arc::new(ManualClock::new(1_000));
/// let connection = Options::new().with_clock(clock.clone()).open_in_memory()?;
/// clock.advance(60_000); // time to live, timestamps: all follow this clock
/// # drop(connection);
/// # Ok::<(), hblite::Error>(())
/// ```
///
/// # Errors
/// A setting out of range is an `IllegalArgument` when the store is opened.
#[derive(Debug, Clone, Default)]
pub struct Options {
    engine: EngineOptions,
    env: Option<Env>,
    clock: Option<Arc<dyn Clock>>,
    family_versions: Option<NonZeroU32>,
}

/// Opens a store with these settings.
impl Options {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the store in `dir`.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(self, dir: impl AsRef<Path>) -> Result<Connection> {
        let env = self.environment(Env::system);
        let versions = self.family_versions;
        let timeline = Timeline::open(env, dir.as_ref(), self.engine)?;
        Ok(Connection::from_backend(timeline).with_family_versions(versions))
    }

    /// Opens an empty store in memory. It is not flushed when it is closed, and not verified in the
    /// background. Blocks of its files are used in place: nothing can truncate them.
    ///
    /// # Errors
    /// As [`open_in_memory`].
    pub fn open_in_memory(self) -> Result<Connection> {
        let env = self.environment(Env::in_memory);
        let versions = self.family_versions;
        // Another file system may have files that something truncates.
        let are_mapped = self.env.is_none() || self.engine.are_files_mapped;
        let options = self.with_files_mapped(are_mapped).with_flush_on_close(false);
        let Self { engine, .. } = options.with_scrub_period(None);
        let timeline = Timeline::open(env, Path::new("/memory"), engine)?;
        Ok(Connection::from_backend(timeline).with_family_versions(versions))
    }

    /// Opens a copy of the store in `dir`, in memory. The directory is only read: nothing in it is
    /// changed, and another process may have it open.
    ///
    /// # Errors
    /// As [`open`]; `Io` if there is no store.
    pub fn open_copy(self, dir: impl AsRef<Path>) -> Result<Connection> {
        let env = self.environment(Env::system);
        let versions = self.family_versions;
        let timeline = Timeline::open_copy(env, dir.as_ref(), self.engine)?;
        Ok(Connection::from_backend(timeline).with_family_versions(versions))
    }

    /// The versions that [`Connection::new_family`] and the shell keep in a new family whose
    /// settings name no number (HBase's `hbase.column.max.version`); 0 means the default, 1.
    #[must_use]
    pub fn with_family_versions(mut self, versions: u32) -> Self {
        self.family_versions = NonZeroU32::new(versions);
        self
    }

    fn environment(&self, default: impl FnOnce() -> Env) -> Env {
        let env = self.env.clone().unwrap_or_else(default);
        match &self.clock {
            Some(clock) => env.with_clock(Arc::clone(clock)),
            None => env,
        }
    }
}

/// The environment.
impl Options {
    /// Where files, time and randomness come from.
    #[must_use]
    pub fn with_env(self, env: Env) -> Self {
        Self { env: Some(env), ..self }
    }

    /// Uses this clock instead of the environment's.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock: Some(clock), ..self }
    }
}

/// A method for each setting, which assigns it to a field of the engine's settings.
macro_rules! settings {
    ($block:literal $($(#[doc = $doc:expr])*
        $setter:ident($name:ident: $value:ty) sets $($field:ident).+ = $converted:expr;)*) => {
        #[doc = $block]
        impl Options {
            $(
                $(#[doc = $doc])*
                #[must_use]
                pub fn $setter(mut self, $name: $value) -> Self {
                    self.engine.$($field).+ = $converted;
                    self
                }
            )*
        }
    };
}

settings! {
    "How the store is opened and closed."

    /// Whether to create a store in a directory without one, or to fail. Default true.
    ///
    /// ```
    /// let dir = tempfile::tempdir()?;
    /// let options = hblite::Options::new().with_create_if_missing(false);
    /// let missing = options.open(dir.path().join("typo"));
    /// assert!(missing.unwrap_err().message().ends_with("typo: no store is there"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    with_create_if_missing(create: bool) sets create_if_missing = create;

    /// Opens a damaged store, which is otherwise an error. Damaged records of the log are skipped
    /// and listed by [`Connection::recovery`]. A lost hbase:meta is rebuilt from the files of the
    /// tables, as [`Connection::open_report`] describes. Default false.
    with_salvage(salvage: bool) sets salvage = salvage;

    /// Opens the store only to read it, as it is at this moment: recovery after a kill happens in
    /// memory, nothing is written to the directory, and changes are refused with
    /// `DoNotRetryIOException`. This works on read-only media, without permission to write, and
    /// while another process has the store open. Default false.
    ///
    /// Later writes of other processes are not visible. [`Options::open`] fails with `Io` if the
    /// store changes so quickly that no consistent state can be read.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = tempfile::tempdir()?;
    /// let writer = hblite::open(dir.path())?;
    /// let family = hblite::ColumnFamilyDescriptor::new("f");
    /// let t = hblite::TableDescriptor::new("t".parse()?).with_family(family);
    /// writer.admin().create_table(&t)?;
    /// writer.table("t")?.put(&hblite::Put::new("r").add("f", "q", "v"))?;
    ///
    /// let reader = hblite::Options::new().with_read_only(true).open(dir.path())?;
    /// let row = reader.table("t")?.get(&hblite::Get::new("r"))?;
    /// assert_eq!(row.value("f", "q"), Some(&b"v"[..]));
    /// assert!(reader.table("t")?.put(&hblite::Put::new("s").add("f", "q", "v")).is_err());
    /// # Ok(())
    /// # }
    /// ```
    with_read_only(read_only: bool) sets is_read_only = read_only;

    /// Converts a root directory of Apache HBase to a store, if HBase has stopped or was killed:
    /// its logs are replayed into store files, and its servers in hbase:meta are replaced by
    /// hblite's. Without this, such a directory is refused. HBase must not be running on it; hblite
    /// cannot detect whether it is. A store is opened as usual. Default false.
    ///
    /// Everything is tried in memory first. What hblite cannot read (an unfinished procedure of the
    /// master, an encrypted log, medium objects, …) is refused by name, and nothing is changed.
    /// With [`Options::with_read_only`], the directory is never changed, and the tables can be
    /// read.
    with_hbase_adopted(adopted: bool) sets adopts_hbase = adopted;

    /// Whether closing writes memory to files, which spares the next open a replay of the log.
    /// Default true.
    with_flush_on_close(flush: bool) sets is_flushed_on_close = flush;
}

settings! {
    "Memory."

    /// Memory of a region at which it is flushed; a table's `MEMSTORE_FLUSHSIZE` takes precedence.
    /// Default 32 MiB, at least 64 KiB (`hbase.hregion.memstore.flush.size`).
    with_memstore_flush_size_bytes(bytes: u64) sets memstore_flush_size_bytes = size(bytes);

    /// A region that holds this many times its flush size accepts no more writes until a flush is
    /// done. Default 4, at least 2 (`hbase.hregion.memstore.block.multiplier`).
    with_memstore_block_multiplier(times: u32) sets memstore_block_multiplier = times as usize;

    /// Memory of all regions at which writes wait; from 95 % of it on the largest regions are
    /// flushed. Default 512 MiB (`hbase.regionserver.global.memstore.size`).
    with_memstore_total_size_bytes(bytes: u64) sets memstore_total_size_bytes = size(bytes);

    /// How long a write waits for memory before it is refused with `RegionTooBusy`. Default one
    /// minute (`hbase.busy.wait.duration`).
    with_busy_wait(wait: Duration) sets busy_wait_ms = unsigned_millis(wait);

    /// Memory for blocks that are decompressed, or copied from files that are not mapped. Default
    /// 64 MiB, 0 for none (`hfile.block.cache.size`).
    with_block_cache_size_bytes(bytes: u64) sets block_cache_size_bytes = size(bytes);

    /// Whether store files are mapped into memory and plain blocks are used in place, or blocks are
    /// read into the block cache. Default true, which is faster when the data does not fit into the
    /// block cache. If a mapped file of an open store is truncated, reading the missing part kills
    /// the process (SIGBUS); if the file is not mapped, it is a `Corrupt` error. Files that are
    /// not mapped take up to a quarter of the descriptors; further ones take none on Linux, and one
    /// each elsewhere. Single writes to the log go through a mapping too, on Linux
    /// and on file systems that overwrite in place (ext4, XFS, tmpfs).
    with_files_mapped(mapped: bool) sets are_files_mapped = mapped;
}

settings! {
    "Limits."

    /// Largest cell that a client may write; `None` for no limit. Default 10 MiB
    /// (`hbase.client.keyvalue.maxsize`).
    with_cell_size_max_bytes(bytes: impl Into<Option<u64>>) sets
        cell_size_max_bytes = bytes.into().map(size);

    /// Maximum number of regions with which a request may leave a table that it creates, or adds
    /// families to; a region counts once for every ten families. Default 10,000. HBase has such a
    /// quota for namespaces (`hbase.namespace.quota.maxregions`).
    with_table_regions_max(regions: u32) sets table_regions_max = regions as usize;

    /// Whether settings of tables are checked; a table's own `hbase.table.sanity.checks` takes
    /// precedence. Default true (`hbase.table.sanity.checks`).
    with_settings_checked(checked: bool) sets are_settings_checked = checked;
}

settings! {
    "Compactions."

    /// Whether files are compacted in the background. Default true.
    with_compaction_enabled(enabled: bool) sets is_compaction_enabled = enabled;

    /// How many background compactions may run at the same time, of several stores or of one.
    /// Default half of the processors, but at least 2 and at most 8
    /// (`hbase.regionserver.thread.compaction.small` and `.large`).
    with_compaction_threads_max(threads: u32) sets compaction_threads_max = threads as usize;

    /// Maximum bytes per second that each background compaction writes, which leaves disk bandwidth
    /// for other work; `None` for no limit, which is the default
    /// (`hbase.hstore.compaction.throughput.higher.bound`).
    with_compaction_bytes_per_second_max(bytes: impl Into<Option<u64>>) sets
        compaction_bytes_per_second_max = bytes.into();

    /// Minimum number of files of a store for a compaction. Default 3, at least 2
    /// (`hbase.hstore.compaction.min`).
    with_compaction_files_min(files: u32) sets compaction_files_min = files as usize;

    /// Maximum number of files in one minor compaction. Default 10 (`hbase.hstore.compaction.max`).
    with_compaction_files_max(files: u32) sets compaction_files_max = files as usize;

    /// A file joins a compaction if it is at most this many times the size of the others
    /// together. Default 0.6, which writes less than HBase's 1.2
    /// (`hbase.hstore.compaction.ratio`).
    with_compaction_ratio(ratio: f64) sets compaction_ratio = ratio;

    /// Files below this size join any compaction. Larger ones without common rows count as one
    /// file, up to 64 of them, and are compacted only when a store has more than 512 files, or
    /// more than 128 when the hourly check finds that nothing was flushed for ten minutes. Default
    /// 16 MiB (`hbase.hstore.compaction.min.size`).
    with_compaction_small_file_bytes(bytes: u64) sets compaction_small_file_bytes = bytes;

    /// With this many files in a store, a compaction takes the cheapest of them even if none
    /// satisfy the ratio, and writes to the region are slowed down, the more the more files there
    /// are. Default 16 (`hbase.hstore.blockingStoreFiles`).
    with_blocking_store_files(files: u32) sets blocking_store_files = files as usize;

    /// All files of a store are compacted when the oldest is older than this; `None` for never.
    /// Default seven days, at least a millisecond (`hbase.hregion.majorcompaction`).
    with_major_compaction_period(period: impl Into<Option<Duration>>) sets
        major_compaction_period_ms = period.into().map(millis);
}

settings! {
    "Regions."

    /// Whether regions that have grown are split in the background. Default true (the switch of
    /// `splitormerge_switch`).
    with_split_enabled(enabled: bool) sets is_split_enabled = enabled;

    /// Size of a store at which its region is split, unless its table sets `MAX_FILESIZE`. Default
    /// 10 GiB (`hbase.hregion.max.filesize`).
    with_region_size_max_bytes(bytes: u64) sets region_size_max_bytes = bytes;

    /// The same for the only region of a table, if the split policy distinguishes it. Default twice
    /// the table's `MEMSTORE_FLUSHSIZE`, or 256 MiB (`hbase.increasing.policy.initial.size`).
    with_region_split_first_size_bytes(bytes: impl Into<Option<u64>>) sets
        region_split_first_size_bytes = bytes.into();

    /// Minimum time for which hbase:meta keeps the parents of a split or merge, even if nothing
    /// reads from them any longer. Default 0 (`hbase.catalogjanitor.interval`).
    with_parents_kept(time: Duration) sets parents_kept_ms = millis(time);

    /// Minimum time for which an expired snapshot is still listed. Default 0
    /// (`hbase.master.cleaner.snapshot.interval`).
    with_expired_snapshots_kept(time: Duration) sets expired_snapshots_kept_ms = millis(time);
}

settings! {
    "Verification."

    /// How often the background thread reads and verifies every store file again; `None` for never.
    /// Default seven days, at least a millisecond. Damage is listed in the store's status. The
    /// first round begins a minute after the store was opened.
    with_scrub_period(period: impl Into<Option<Duration>>) sets
        scrub_period_ms = period.into().map(unsigned_millis);

    /// Maximum bytes per second that the background verification reads, which leaves disk bandwidth
    /// for other work; `None` for no limit. Default 8 MiB.
    with_scrub_bytes_per_second_max(bytes: impl Into<Option<u64>>) sets
        scrub_bytes_per_second_max = bytes.into();
}

settings! {
    "The log."

    /// A log file that has reached this size gets no more records; 1 KiB to 1 GiB, default 64 MiB
    /// (`hbase.regionserver.logroll.multiplier` times the block size).
    with_wal_roll_size_bytes(bytes: u64) sets wal.roll_size_bytes = bytes;

    /// With more log files than this, the regions that need the oldest are flushed. Default 32
    /// (`hbase.regionserver.maxlogs`).
    with_wal_segments_max(log_files: u32) sets wal.files_max = log_files as usize;

    /// If more bytes than this wait to be written to the log, a write writes them itself. Default
    /// 1 MiB.
    with_wal_buffer_size_bytes(bytes: u64) sets wal.buffer_size_bytes = size(bytes);
}

/// On a platform with smaller addresses, as many as it has.
fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

fn unsigned_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
