//! Classes of HBase's servers that a table names: coprocessors, store engines, compaction policies.
//!
//! There is no JVM to load them. Classes whose work hblite does itself are accepted, and so are
//! HBase's store engines: they decide how files are arranged, and never change an answer. Every
//! other class is refused the way HBase refuses a missing one, so that no table seems to have an
//! observer that does not run.

use hblite_model::{ColumnFamilyDescriptor, Coprocessor, TableDescriptor};

/// Endpoints that every table has.
const ENDPOINTS: [&str; 2] = [
    "org.apache.hadoop.hbase.coprocessor.AggregateImplementation",
    "org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint",
];
const STORE_ENGINE: &str = "hbase.hstore.engine.class";
const STORE_ENGINES: [&str; 4] = [
    "org.apache.hadoop.hbase.regionserver.DefaultStoreEngine",
    "org.apache.hadoop.hbase.regionserver.StripeStoreEngine",
    "org.apache.hadoop.hbase.regionserver.DateTieredStoreEngine",
    "org.apache.hadoop.hbase.mob.MobStoreEngine",
];
const COMPACTION_POLICY: &str = "hbase.hstore.defaultengine.compactionpolicy.class";
const FIFO_POLICY: &str = "org.apache.hadoop.hbase.regionserver.compactions.FIFOCompactionPolicy";
const BLOCKING_FILES: &str = "hbase.hstore.blockingStoreFiles";
const BLOCKING_FILES_DEFAULT: i64 = 16;
const BLOCKING_FILES_OF_FIFO_MIN: i64 = 1000;

/// What is wrong with the classes that a table's servers would load.
pub(super) fn loading_problem(table: &TableDescriptor) -> Option<String> {
    coprocessor_problem(table).or_else(|| {
        let engine_of = |family| table.setting_of_family(family, STORE_ENGINE);
        let is_missing = |class: &&str| !STORE_ENGINES.contains(class);
        let class = table.families().filter_map(engine_of).find(is_missing)?;
        Some(format!("Unable to load configured store engine '{class}'"))
    })
}

fn coprocessor_problem(table: &TableDescriptor) -> Option<String> {
    let is_missing = |one: &Coprocessor<'_>| !one.jar.is_empty() || !ENDPOINTS.contains(&one.class);
    let class = table.coprocessors().find(is_missing)?.class;
    Some(format!("Class {class} cannot be loaded"))
}

/// What is wrong with a compaction policy: the FIFO policy's own check, which no setting bypasses.
pub(super) fn compaction_problem(table: &TableDescriptor) -> Option<String> {
    let has_policy = |family: &&ColumnFamilyDescriptor| {
        table.setting_of_family(family, COMPACTION_POLICY) == Some(FIFO_POLICY)
    };
    table.families().filter(has_policy).find_map(|family| {
        if family.time_to_live_seconds() == i64::from(i32::MAX) {
            return Some("Default TTL is not supported for FIFO compaction".to_owned());
        }
        if family.min_versions_raw() > 0 {
            return Some("MIN_VERSION > 0 is not supported for FIFO compaction".to_owned());
        }
        let files =
            table.setting_of_family(family, BLOCKING_FILES).and_then(|value| value.parse().ok());
        let files: i64 = files.unwrap_or(BLOCKING_FILES_DEFAULT);
        (files < BLOCKING_FILES_OF_FIFO_MIN).then(|| {
            format!(
                "Blocking file count '{BLOCKING_FILES}' {files} is below recommended minimum of \
                 {BLOCKING_FILES_OF_FIFO_MIN} for column family {}",
                family.name_as_string()
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_of_hbase_are_accepted_and_others_refused() {
        let family = ColumnFamilyDescriptor::new("f");
        let mut table = TableDescriptor::new("t".parse().unwrap()).with_family(family);
        assert_eq!(loading_problem(&table), None);
        for engine in STORE_ENGINES {
            table.set_attribute(STORE_ENGINE, engine).unwrap();
            assert_eq!(loading_problem(&table), None, "{engine}");
        }
        table.set_attribute(STORE_ENGINE, "com.example.Engine").unwrap();
        let expected = "Unable to load configured store engine 'com.example.Engine'";
        assert_eq!(loading_problem(&table).as_deref(), Some(expected));
    }

    #[test]
    fn observers_and_jars_are_refused() {
        let mut table = TableDescriptor::new("t".parse().unwrap());
        for (spec, class) in [
            (
                "|org.apache.hadoop.hbase.constraint.ConstraintProcessor|1|",
                "org.apache.hadoop.hbase.constraint.ConstraintProcessor",
            ),
            ("hdfs:///a.jar|com.example.Observer|1001|x=1", "com.example.Observer"),
        ] {
            table.set_attribute("coprocessor$1", spec).unwrap();
            let expected = format!("Class {class} cannot be loaded");
            assert_eq!(loading_problem(&table), Some(expected), "{spec}");
        }
    }
}
