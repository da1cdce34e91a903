//! `-D NAME=VALUE`: settings of a cluster under their names in `hbase-site.xml`.

use std::time::Duration;

use hblite::Options;
use hblite_rest::{BrowserPatterns, RestOptions};
use hblite_server::ServerOptions;
use hblite_thrift::ThriftOptions;

use crate::store_files::unmapped;

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

/// What a setting changes.
pub(crate) struct Settings {
    store: Options,
    compaction_files_min: u32,
    compaction_files_max: u32,
    pub(crate) server: ServerOptions,
    pub(crate) rest: RestOptions,
    pub(crate) thrift: ThriftOptions,
}

type Set = fn(&mut Settings, &str) -> Option<()>;

/// The settings, each with a function that applies its value, or returns `None` for an invalid one.
const KNOWN: &[(&str, Set)] = &[
    // HDFS verifies the blocks under an HBase.
    ("dfs.block.scanner.volume.bytes.per.second", |s, v| {
        let value = unless_zero(number(v)?);
        s.set(|store| store.with_scrub_bytes_per_second_max(value));
        Some(())
    }),
    ("dfs.datanode.scan.period.hours", |s, v| {
        let hours: i64 = number(v)?;
        let hours = u32::try_from(hours.max(0)).unwrap_or(u32::MAX);
        let period = unless_zero(hours).map(|hours| HOUR.saturating_mul(hours));
        s.set(|store| store.with_scrub_period(period));
        Some(())
    }),
    ("hbase.busy.wait.duration", |s, v| {
        let value = millis(v)?;
        s.set(|store| store.with_busy_wait(value));
        Some(())
    }),
    ("hbase.catalogjanitor.interval", |s, v| {
        let value = millis(v)?;
        s.set(|store| store.with_parents_kept(value));
        Some(())
    }),
    ("hbase.client.scanner.timeout.period", |s, v| {
        s.server.limits.scanner_lease = Duration::from_millis(number(v)?);
        Some(())
    }),
    ("hbase.column.max.version", |s, v| {
        let versions = number(v).filter(|versions| *versions > 0)?;
        s.server.family_versions = versions;
        s.set(|store| store.with_family_versions(versions));
        Some(())
    }),
    ("hbase.hregion.majorcompaction", |s, v| {
        let value = unless_zero(millis(v)?);
        s.set(|store| store.with_major_compaction_period(value));
        Some(())
    }),
    ("hbase.hregion.max.filesize", |s, v| {
        let value = number(v)?;
        s.set(|store| store.with_region_size_max_bytes(value));
        Some(())
    }),
    ("hbase.hregion.memstore.block.multiplier", |s, v| {
        let value = number(v)?;
        s.set(|store| store.with_memstore_block_multiplier(value));
        Some(())
    }),
    ("hbase.hregion.memstore.flush.size", |s, v| {
        let value = number::<u64>(v)?.max(FLUSH_SIZE_MIN);
        s.set(|store| store.with_memstore_flush_size_bytes(value));
        Some(())
    }),
    ("hbase.hstore.blockingStoreFiles", |s, v| {
        let value = number(v)?;
        s.set(|store| store.with_blocking_store_files(value));
        Some(())
    }),
    ("hbase.hstore.compaction.max", |s, v| {
        s.compaction_files_max = number(v)?;
        Some(())
    }),
    ("hbase.hstore.compaction.min", compaction_files_min),
    ("hbase.hstore.compaction.min.size", |s, v| {
        let value = number(v)?;
        s.set(|store| store.with_compaction_small_file_bytes(value));
        Some(())
    }),
    ("hbase.hstore.compaction.ratio", |s, v| {
        let value = number(v)?;
        s.set(|store| store.with_compaction_ratio(value));
        Some(())
    }),
    ("hbase.hstore.compaction.throughput.higher.bound", |s, v| {
        let value = unless_zero(number(v)?);
        s.set(|store| store.with_compaction_bytes_per_second_max(value));
        Some(())
    }),
    // The former name of `hbase.hstore.compaction.min`.
    ("hbase.hstore.compactionThreshold", compaction_files_min),
    ("hbase.http.filter.csp.value", |s, v| {
        s.rest.security_headers.content_policy = text(v)?;
        Some(())
    }),
    ("hbase.http.filter.hsts.value", |s, v| {
        s.rest.security_headers.transport_security = text(v)?;
        Some(())
    }),
    ("hbase.http.filter.xframeoptions.mode", |s, v| {
        s.rest.security_headers.frame_options = text(v)?;
        Some(())
    }),
    ("hbase.increasing.policy.initial.size", |s, v| {
        let value: u64 = number(v)?;
        s.set(|store| store.with_region_split_first_size_bytes(value));
        Some(())
    }),
    ("hbase.ipc.max.request.size", |s, v| {
        s.server.limits.frame_size_max_bytes = number(v)?;
        Some(())
    }),
    ("hbase.ipc.server.max.callqueue.length", |s, v| {
        s.server.limits.queued_calls_max = number(v)?;
        Some(())
    }),
    ("hbase.ipc.server.max.callqueue.size", |s, v| {
        s.server.limits.memory_max_bytes = number(v)?;
        Some(())
    }),
    ("hbase.master.cleaner.snapshot.interval", |s, v| {
        let value = millis(v)?;
        s.set(|store| store.with_expired_snapshots_kept(value));
        Some(())
    }),
    ("hbase.regionserver.handler.count", |s, v| {
        s.server.limits.handlers = number(v)?;
        Some(())
    }),
    ("hbase.rest-csrf.browser-useragents-regex", |s, v| {
        s.rest.csrf.browsers = BrowserPatterns::new(v).ok()?;
        Some(())
    }),
    ("hbase.rest-csrf.custom-header", |s, v| {
        s.rest.csrf.header = text(v)?;
        Some(())
    }),
    ("hbase.rest-csrf.methods-to-ignore", |s, v| {
        s.rest.csrf.methods_to_ignore = text(v)?;
        Some(())
    }),
    ("hbase.rest.csrf.enabled", |s, v| {
        s.rest.csrf.is_enabled = truth(v)?;
        Some(())
    }),
    ("hbase.rest.readonly", |s, v| {
        s.rest.read_only = truth(v)?.into();
        Some(())
    }),
    ("hbase.server.keyvalue.maxsize", |s, v| {
        let value = unless_zero(number(v)?);
        s.set(|store| store.with_cell_size_max_bytes(value));
        Some(())
    }),
    ("hbase.server.scanner.max.result.size", |s, v| {
        s.server.limits.result_size_max_bytes = number(v)?;
        Some(())
    }),
    ("hbase.table.quota.maxregions", |s, v| {
        let value = number(v).filter(|regions| *regions > 0)?;
        s.set(|store| store.with_table_regions_max(value));
        Some(())
    }),
    ("hbase.table.sanity.checks", |s, v| {
        let value = truth(v)?;
        s.set(|store| store.with_settings_checked(value));
        Some(())
    }),
    ("hbase.thrift.readonly", |s, v| {
        s.thrift.read_only = truth(v)?.into();
        Some(())
    }),
];

fn compaction_files_min(settings: &mut Settings, value: &str) -> Option<()> {
    settings.compaction_files_min = number(value)?;
    Some(())
}

fn millis(value: &str) -> Option<Duration> {
    number(value).map(Duration::from_millis)
}

fn number<N: std::str::FromStr>(value: &str) -> Option<N> {
    value.trim().parse().ok()
}

fn truth(value: &str) -> Option<bool> {
    value.trim().parse().ok()
}

/// Text that can be a header's name or value.
fn text(value: &str) -> Option<String> {
    let value = value.trim();
    (!value.contains(|c: char| c.is_control())).then(|| value.to_owned())
}

/// The number, or `None` for 0, which means "off" or "no limit" in HBase.
fn unless_zero<N: Default + PartialEq>(number: N) -> Option<N> {
    (number != N::default()).then_some(number)
}

impl Settings {
    /// The defaults of a cluster.
    pub(crate) fn new(server: ServerOptions) -> Self {
        let store = unmapped(
            Options::new()
                .with_parents_kept(JANITOR_PERIOD)
                .with_expired_snapshots_kept(SNAPSHOT_CLEANER_PERIOD),
        );
        Self::with_store(store, server)
    }

    /// The settings of a store that is not served.
    pub(crate) fn of(store: Options) -> Self {
        Self::with_store(store, ServerOptions::default())
    }

    fn with_store(store: Options, server: ServerOptions) -> Self {
        let (rest, thrift) = (RestOptions::default(), ThriftOptions::default());
        Self {
            store,
            compaction_files_min: COMPACTION_FILES_MIN,
            compaction_files_max: COMPACTION_FILES_MAX,
            server,
            rest,
            thrift,
        }
    }

    /// The settings of the store. A larger minimum of files raises the maximum.
    pub(crate) fn store(&self) -> Options {
        let (min, max) = (self.compaction_files_min, self.compaction_files_max);
        let store = self.store.clone().with_compaction_files_min(min);
        store.with_compaction_files_max(max.max(min))
    }

    fn set(&mut self, set: impl FnOnce(Options) -> Options) {
        self.store = set(std::mem::take(&mut self.store));
    }

    /// Applies `NAME=VALUE`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn apply(&mut self, setting: &str) -> Result<(), String> {
        let (name, value) = setting
            .split_once('=')
            .ok_or_else(|| format!("-D takes NAME=VALUE, and {setting} has no '='"))?;
        let Some((_, set)) = KNOWN.iter().find(|(known, _)| *known == name.trim()) else {
            let known: Vec<&str> = KNOWN.iter().map(|(known, _)| *known).collect();
            return Err(format!(
                "{name} is not a setting of hblite; these are: {}",
                known.join(", ")
            ));
        };
        set(self, value).ok_or_else(|| format!("{value} is not a value of {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings::new(ServerOptions::default())
    }

    #[test]
    fn settings_have_hbases_names() {
        let mut settings = settings();
        for setting in [
            "hbase.client.scanner.timeout.period=2000",
            "hbase.column.max.version=3",
            "hbase.hregion.memstore.flush.size=25000",
            "hbase.hstore.compaction.min=12",
            "hbase.hstore.compaction.throughput.higher.bound=1048576",
            "hbase.table.sanity.checks=false",
        ] {
            settings.apply(setting).unwrap();
        }
        assert_eq!(settings.server.limits.scanner_lease, Duration::from_secs(2));
        assert_eq!(settings.server.family_versions, 3);
        assert!(settings.apply("hbase.column.max.version=0").is_err());
        let store = format!("{:?}", settings.store());
        for value in [
            "memstore_flush_size_bytes: 65536",
            "compaction_files_min: 12",
            "compaction_files_max: 12",
            "compaction_bytes_per_second_max: Some(1048576)",
            "are_settings_checked: false",
            "are_files_mapped: false",
        ] {
            assert!(store.contains(value), "{value}: {store}");
        }
        settings.apply("hbase.hstore.compaction.throughput.higher.bound=0").unwrap();
        let store = format!("{:?}", settings.store());
        assert!(store.contains("compaction_bytes_per_second_max: None"), "{store}");
        assert!(settings.store().open_in_memory().is_ok());
    }

    #[test]
    fn every_setting_refuses_what_is_no_value() {
        for (name, _) in KNOWN {
            let is_text = name.starts_with("hbase.rest-csrf.") || name.contains(".filter.");
            let bad = if is_text { "a\n(" } else { "some" };
            let message = settings().apply(&format!("{name}={bad}")).unwrap_err();
            assert_eq!(message, format!("{bad} is not a value of {name}"));
        }
    }

    #[test]
    fn settings_of_gateways_are_theirs() {
        let mut settings = settings();
        assert!(!settings.rest.csrf.is_enabled && !settings.thrift.read_only.is_on());
        for setting in [
            "hbase.rest.csrf.enabled=true",
            "hbase.rest-csrf.custom-header=X-Mine",
            "hbase.rest-csrf.browser-useragents-regex=.*",
            "hbase.rest.readonly=true",
            "hbase.thrift.readonly=true",
            "hbase.http.filter.hsts.value=max-age=1;preload",
        ] {
            settings.apply(setting).unwrap();
        }
        let rest = settings.rest;
        assert!(
            rest.csrf.is_enabled && rest.read_only.is_on() && settings.thrift.read_only.is_on()
        );
        assert_eq!(rest.csrf.header, "X-Mine");
        assert_eq!(rest.security_headers.transport_security, "max-age=1;preload");
    }

    #[test]
    fn unknown_settings_are_named() {
        let message = settings().apply("hbase.nothing=1").unwrap_err();
        assert!(message.starts_with("hbase.nothing is not a setting of hblite; "), "{message}");
        assert!(settings().apply("word").is_err());
    }
}
