//! The settings of a table in the form that its regions need for each operation.
//!
//! They are parsed once, when a region is opened. Altering a table opens its regions again.
//!
//! Threads: any; the settings never change.

use hblite_model::{Durability, TableDescriptor};

use crate::options::EngineOptions;

/// The settings of a table's regions: from the table's descriptor, otherwise from the store's
/// options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RegionSettings {
    /// READONLY.
    pub(super) is_read_only: bool,
    /// DURABILITY; never [`Durability::UseDefault`].
    pub(super) durability: Durability,
    /// MEMSTORE_FLUSHSIZE: memory at which the region is flushed.
    pub(super) flush_size_bytes: usize,
    /// Memory at which writes wait for a flush.
    pub(super) blocking_size_bytes: usize,
    /// The largest cell that a client may write; `None` for no limit.
    pub(super) cell_size_max_bytes: Option<usize>,
    /// COMPACTION_ENABLED, unless compactions are off for the store.
    pub(super) is_compaction_enabled: bool,
}

impl RegionSettings {
    /// The settings of `table` in a store with these options.
    pub(super) fn new(table: &TableDescriptor, options: &EngineOptions) -> Self {
        let size = |name| table.number(name).and_then(|bytes| usize::try_from(bytes).ok());
        let flush_size = size("MEMSTORE_FLUSHSIZE").filter(|bytes| *bytes > 0);
        let flush_size_bytes = flush_size.unwrap_or(options.memstore_flush_size_bytes);
        let durability = match table.durability() {
            Durability::UseDefault => Durability::SyncWal,
            durability => durability,
        };
        Self {
            is_read_only: table.is_read_only(),
            durability,
            flush_size_bytes,
            blocking_size_bytes: flush_size_bytes.saturating_mul(options.memstore_block_multiplier),
            // In HBase, 0 means no limit.
            cell_size_max_bytes: size("hbase.server.keyvalue.maxsize")
                .map_or(options.cell_size_max_bytes, |bytes| Some(bytes).filter(|b| *b > 0)),
            is_compaction_enabled: options.is_compaction_enabled && table.is_compaction_enabled(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(attributes: &[(&str, &str)]) -> RegionSettings {
        let mut table = TableDescriptor::new("t".parse().unwrap());
        for (name, value) in attributes {
            table.set_attribute(name, value).unwrap();
        }
        RegionSettings::new(&table, &EngineOptions::default())
    }

    #[test]
    fn what_a_table_leaves_open_the_store_decides() {
        let (options, settings) = (EngineOptions::default(), settings(&[]));
        assert_eq!(settings.flush_size_bytes, options.memstore_flush_size_bytes);
        assert_eq!(settings.cell_size_max_bytes, options.cell_size_max_bytes);
        assert_eq!(settings.durability, Durability::SyncWal);
        assert!(!settings.is_read_only && settings.is_compaction_enabled);
    }

    #[test]
    fn a_table_overrides_the_store() {
        let settings = settings(&[
            ("MEMSTORE_FLUSHSIZE", "1000000"),
            ("READONLY", "true"),
            ("DURABILITY", "FSYNC_WAL"),
            ("COMPACTION_ENABLED", "false"),
            ("hbase.server.keyvalue.maxsize", "17"),
        ]);
        let multiplier = EngineOptions::default().memstore_block_multiplier;
        assert_eq!(settings.flush_size_bytes, 1_000_000);
        assert_eq!(settings.blocking_size_bytes, 1_000_000 * multiplier);
        assert_eq!(settings.durability, Durability::FsyncWal);
        assert_eq!(settings.cell_size_max_bytes, Some(17));
        assert!(settings.is_read_only && !settings.is_compaction_enabled);
    }

    #[test]
    fn a_flush_size_of_nothing_counts_as_none() {
        for size in ["0", "-1", "many"] {
            assert_eq!(settings(&[("MEMSTORE_FLUSHSIZE", size)]), settings(&[]), "{size}");
        }
    }
}
