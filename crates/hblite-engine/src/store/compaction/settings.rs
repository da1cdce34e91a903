//! When the files of a store are compacted, according to the settings of its family.
//!
//! A family's own settings take precedence over its table's, and those over the store's options, as
//! in HBase's `CompactionConfiguration`. A value that is not a number, or is below the valid range,
//! counts as not set.
//!
//! Threads: a value; altering the table opens the store again.

use std::str::FromStr;

use hblite_model::{ColumnFamilyDescriptor, TableDescriptor};

use super::policy::CompactionRules;
use crate::options::EngineOptions;

/// When a store is compacted.
#[derive(Debug, Clone)]
pub(crate) struct CompactionSettings {
    pub(super) rules: CompactionRules,
    /// All files are compacted when the oldest is older than this; `None` for never.
    pub(super) major_period_ms: Option<i64>,
}

impl CompactionSettings {
    /// The settings of a family of `table` in a store with these options.
    pub(crate) fn of(
        table: &TableDescriptor,
        family: &ColumnFamilyDescriptor,
        options: &EngineOptions,
    ) -> Self {
        let places = Places { table, family };
        let files_min = places
            .number("hbase.hstore.compaction.min")
            .or_else(|| places.number("hbase.hstore.compactionThreshold"))
            .map_or(options.compaction_files_min, |files: usize| files.max(2));
        let ratio = places.number("hbase.hstore.compaction.ratio").filter(|ratio| *ratio > 0.0);
        let period: Option<i64> = places.number("hbase.hregion.majorcompaction");
        Self {
            rules: CompactionRules {
                files_min,
                files_max: places
                    .number("hbase.hstore.compaction.max")
                    .unwrap_or(options.compaction_files_max),
                ratio: ratio.unwrap_or(options.compaction_ratio),
                small_bytes: places
                    .number("hbase.hstore.compaction.min.size")
                    .unwrap_or(options.compaction_small_file_bytes),
                blocking_files: places
                    .number("hbase.hstore.blockingStoreFiles")
                    .unwrap_or(options.blocking_store_files),
            },
            major_period_ms: match period {
                Some(period) => Some(period).filter(|period| *period > 0),
                None => options.major_compaction_period_ms,
            },
        }
    }
}

struct Places<'t> {
    table: &'t TableDescriptor,
    family: &'t ColumnFamilyDescriptor,
}

impl Places<'_> {
    fn number<N: FromStr>(&self, key: &str) -> Option<N> {
        self.table.setting_of_family(self.family, key)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(of_table: &[(&str, &str)], of_family: &[(&str, &str)]) -> CompactionSettings {
        let mut table = TableDescriptor::new("t".parse().unwrap());
        for (key, value) in of_table {
            table.set_attribute(key, value).unwrap();
        }
        let mut family = ColumnFamilyDescriptor::new("f");
        for (key, value) in of_family {
            family.set_configuration(key, value);
        }
        CompactionSettings::of(&table, &family, &EngineOptions::default())
    }

    #[test]
    fn a_family_overrides_its_table_and_that_the_store() {
        let options = EngineOptions::default();
        let CompactionSettings { rules, major_period_ms } = settings(&[], &[]);
        assert_eq!(rules.files_min, options.compaction_files_min);
        assert_eq!(rules.files_max, options.compaction_files_max);
        assert_eq!(major_period_ms, options.major_compaction_period_ms);
        let CompactionSettings { rules, major_period_ms } = settings(
            &[
                ("hbase.hstore.compaction.min", "5"),
                ("hbase.hstore.compaction.max", "7"),
                ("hbase.hstore.blockingStoreFiles", "40"),
                ("hbase.hregion.majorcompaction", "0"),
            ],
            &[
                ("hbase.hstore.compaction.min", "4"),
                ("hbase.hstore.compaction.ratio", "2.5"),
                ("hbase.hstore.compaction.min.size", "1000"),
            ],
        );
        assert_eq!((rules.files_min, rules.files_max), (4, 7));
        assert_eq!((rules.blocking_files, rules.small_bytes), (40, 1000));
        assert!((rules.ratio - 2.5).abs() < f64::EPSILON);
        assert_eq!(major_period_ms, None);
    }

    #[test]
    fn values_that_are_no_numbers_count_as_not_set() {
        let family = [
            ("hbase.hstore.compaction.min", "-1"),
            ("hbase.hstore.compaction.max", "many"),
            ("hbase.hstore.compaction.ratio", "NaN"),
        ];
        let (odd, plain) = (settings(&[], &family).rules, settings(&[], &[]).rules);
        assert_eq!((odd.files_min, odd.files_max), (plain.files_min, plain.files_max));
        assert!((odd.ratio - plain.ratio).abs() < f64::EPSILON);
        // A compaction needs more than one file.
        let one = [("hbase.hstore.compaction.min", "1")];
        assert_eq!(settings(&[], &one).rules.files_min, 2);
    }
}
