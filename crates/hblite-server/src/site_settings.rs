//! Settings of a cluster under their names in `hbase-site.xml`.

use std::time::Duration;

use hblite::Options;
use hblite_model::{Error, Result};

use crate::options::ServerOptions;

/// HBase's `hbase.catalogjanitor.interval`.
const JANITOR_PERIOD: Duration = Duration::from_secs(5 * 60);
/// HBase's `hbase.master.cleaner.snapshot.interval`.
const SNAPSHOT_CLEANER_PERIOD: Duration = Duration::from_secs(30 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);
/// HBase's `hbase.hstore.compaction.min` and `.max`.
const COMPACTION_FILES_MIN: u32 = 3;
const COMPACTION_FILES_MAX: u32 = 10;
/// The minimum flush size of a region.
const FLUSH_SIZE_MIN: u64 = 64 * 1024;

/// Options of a store and its server, which settings with HBase's names change.
///
/// ```
/// use hblite_server::{ServerOptions, SiteSettings};
/// let mut settings = SiteSettings::of_cluster(hblite::Options::new(), ServerOptions::default());
/// assert!(settings.apply("hbase.client.scanner.timeout.period", "2000")?);
/// assert_eq!(settings.server().limits.scanner_lease.as_secs(), 2);
/// assert!(!settings.apply("hbase.nothing", "1")?);
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Debug)]
pub struct SiteSettings {
    store: Options,
    compaction_files_min: u32,
    compaction_files_max: u32,
    server: ServerOptions,
}

type Set = fn(&mut SiteSettings, &str) -> Option<()>;

/// The settings, each with a function that applies its value, or returns `None` for an invalid one.
const KNOWN: &[(&str, Set)] = &[
    // HDFS verifies the blocks under an HBase.
    ("dfs.block.scanner.volume.bytes.per.second", |s, v| {
        s.set_store(unless_zero(number(v)?), Options::with_scrub_bytes_per_second_max)
    }),
    ("dfs.datanode.scan.period.hours", |s, v| {
        let hours: i64 = number(v)?;
        let hours = u32::try_from(hours.max(0)).unwrap_or(u32::MAX);
        let period = unless_zero(hours).map(|hours| HOUR.saturating_mul(hours));
        s.set_store(period, Options::with_scrub_period)
    }),
    ("hbase.busy.wait.duration", |s, v| s.set_store(millis(v)?, Options::with_busy_wait)),
    ("hbase.catalogjanitor.interval", |s, v| s.set_store(millis(v)?, Options::with_parents_kept)),
    ("hbase.client.scanner.timeout.period", |s, v| {
        set(&mut s.server.limits.scanner_lease, millis(v))
    }),
    ("hbase.column.max.version", |s, v| {
        let versions = number(v).filter(|versions| *versions > 0)?;
        s.server.family_versions = versions;
        s.set_store(versions, Options::with_family_versions)
    }),
    ("hbase.hregion.majorcompaction", |s, v| {
        s.set_store(unless_zero(millis(v)?), Options::with_major_compaction_period)
    }),
    ("hbase.hregion.max.filesize", |s, v| {
        s.set_store(number(v)?, Options::with_region_size_max_bytes)
    }),
    ("hbase.hregion.memstore.block.multiplier", |s, v| {
        s.set_store(number(v)?, Options::with_memstore_block_multiplier)
    }),
    ("hbase.hregion.memstore.flush.size", |s, v| {
        s.set_store(number::<u64>(v)?.max(FLUSH_SIZE_MIN), Options::with_memstore_flush_size_bytes)
    }),
    ("hbase.hstore.blockingStoreFiles", |s, v| {
        s.set_store(number(v)?, Options::with_blocking_store_files)
    }),
    ("hbase.hstore.compaction.max", |s, v| set(&mut s.compaction_files_max, number(v))),
    ("hbase.hstore.compaction.min", compaction_files_min),
    ("hbase.hstore.compaction.min.size", |s, v| {
        s.set_store(number(v)?, Options::with_compaction_small_file_bytes)
    }),
    ("hbase.hstore.compaction.ratio", |s, v| {
        s.set_store(number(v)?, Options::with_compaction_ratio)
    }),
    ("hbase.hstore.compaction.throughput.higher.bound", |s, v| {
        s.set_store(unless_zero(number(v)?), Options::with_compaction_bytes_per_second_max)
    }),
    // The former name of `hbase.hstore.compaction.min`.
    ("hbase.hstore.compactionThreshold", compaction_files_min),
    ("hbase.increasing.policy.initial.size", |s, v| {
        s.set_store(number::<u64>(v)?, Options::with_region_split_first_size_bytes)
    }),
    ("hbase.ipc.max.request.size", |s, v| {
        set(&mut s.server.limits.frame_size_max_bytes, number(v))
    }),
    ("hbase.ipc.server.max.callqueue.length", |s, v| {
        set(&mut s.server.limits.queued_calls_max, number(v))
    }),
    ("hbase.ipc.server.max.callqueue.size", |s, v| {
        set(&mut s.server.limits.memory_max_bytes, number(v))
    }),
    ("hbase.master.cleaner.snapshot.interval", |s, v| {
        s.set_store(millis(v)?, Options::with_expired_snapshots_kept)
    }),
    ("hbase.regionserver.handler.count", |s, v| set(&mut s.server.limits.handlers, number(v))),
    ("hbase.server.keyvalue.maxsize", |s, v| {
        s.set_store(unless_zero(number(v)?), Options::with_cell_size_max_bytes)
    }),
    ("hbase.server.scanner.max.result.size", |s, v| {
        set(&mut s.server.limits.result_size_max_bytes, number(v))
    }),
    ("hbase.table.quota.maxregions", |s, v| {
        s.set_store(number(v).filter(|regions| *regions > 0)?, Options::with_table_regions_max)
    }),
    ("hbase.table.sanity.checks", |s, v| s.set_store(number(v)?, Options::with_settings_checked)),
];

fn compaction_files_min(settings: &mut SiteSettings, value: &str) -> Option<()> {
    set(&mut settings.compaction_files_min, number(value))
}

fn set<T>(place: &mut T, value: Option<T>) -> Option<()> {
    *place = value?;
    Some(())
}

fn millis(value: &str) -> Option<Duration> {
    number(value).map(Duration::from_millis)
}

fn number<N: std::str::FromStr>(value: &str) -> Option<N> {
    value.trim().parse().ok()
}

/// The number, or `None` for 0, which means "off" or "no limit" in HBase.
fn unless_zero<N: Default + PartialEq>(number: N) -> Option<N> {
    (number != N::default()).then_some(number)
}

impl SiteSettings {
    /// Settings over these options.
    pub fn new(store: Options, server: ServerOptions) -> Self {
        Self {
            store,
            compaction_files_min: COMPACTION_FILES_MIN,
            compaction_files_max: COMPACTION_FILES_MAX,
            server,
        }
    }

    /// The same for a store that clients use as a cluster: parents of split regions and expired
    /// snapshots are kept as long as HBase keeps them.
    pub fn of_cluster(store: Options, server: ServerOptions) -> Self {
        let store = store
            .with_parents_kept(JANITOR_PERIOD)
            .with_expired_snapshots_kept(SNAPSHOT_CLEANER_PERIOD);
        Self::new(store, server)
    }

    /// The names of all settings, sorted.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|(name, _)| *name)
    }

    /// Applies a setting. Returns false if there is none of this name.
    ///
    /// # Errors
    /// `IllegalArgument` for a value that the setting cannot have.
    pub fn apply(&mut self, name: &str, value: &str) -> Result<bool> {
        let Some((_, set)) = KNOWN.iter().find(|(known, _)| *known == name) else {
            return Ok(false);
        };
        let invalid = || Error::illegal_argument(format!("{value} is not a value of {name}"));
        set(self, value).ok_or_else(invalid)?;
        Ok(true)
    }

    /// The options of the store. A larger minimum of files raises the maximum.
    pub fn store(&self) -> Options {
        let (min, max) = (self.compaction_files_min, self.compaction_files_max);
        let store = self.store.clone().with_compaction_files_min(min);
        store.with_compaction_files_max(max.max(min))
    }

    /// The options of the server.
    pub fn server(&self) -> &ServerOptions {
        &self.server
    }

    /// Sets an option of the store; `Some`, for functions that end with it.
    fn set_store<T>(&mut self, value: T, set: fn(Options, T) -> Options) -> Option<()> {
        self.store = set(std::mem::take(&mut self.store), value);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> SiteSettings {
        SiteSettings::of_cluster(Options::new(), ServerOptions::default())
    }

    #[test]
    fn settings_have_hbases_names() {
        let mut settings = settings();
        for (name, value) in [
            ("hbase.client.scanner.timeout.period", "2000"),
            ("hbase.column.max.version", "3"),
            ("hbase.hregion.memstore.flush.size", "25000"),
            ("hbase.hstore.compaction.min", "12"),
            ("hbase.hstore.compaction.throughput.higher.bound", "1048576"),
            ("hbase.table.sanity.checks", "false"),
        ] {
            assert!(settings.apply(name, value).unwrap());
        }
        assert_eq!(settings.server.limits.scanner_lease, Duration::from_secs(2));
        assert_eq!(settings.server.family_versions, 3);
        assert!(settings.apply("hbase.column.max.version", "0").is_err());
        let store = format!("{:?}", settings.store());
        for value in [
            "memstore_flush_size_bytes: 65536",
            "compaction_files_min: 12",
            "compaction_files_max: 12",
            "compaction_bytes_per_second_max: Some(1048576)",
            "are_settings_checked: false",
        ] {
            assert!(store.contains(value), "{value}: {store}");
        }
        settings.apply("hbase.hstore.compaction.throughput.higher.bound", "0").unwrap();
        let store = format!("{:?}", settings.store());
        assert!(store.contains("compaction_bytes_per_second_max: None"), "{store}");
        assert!(settings.store().open_in_memory().is_ok());
    }

    #[test]
    fn every_setting_refuses_what_is_no_value() {
        for name in SiteSettings::names() {
            let error = settings().apply(name, "some").unwrap_err();
            assert_eq!(error.message(), format!("some is not a value of {name}"));
        }
        assert!(SiteSettings::names().is_sorted());
    }
}
