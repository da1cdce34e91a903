//! What a table's settings must be: HBase's `TableDescriptorChecker`.
//!
//! Some rules are the Java client's and were checked when the descriptor was built; these are the
//! server's. A table with `hbase.table.sanity.checks` = `false` passes them all; so does a table
//! without that setting in a store that does not check.

use hblite_model::descriptor::REGION_REPLICATION_MAX;
use hblite_model::{BloomType, ColumnFamilyDescriptor, Error, Result, TableDescriptor};

use super::classes;
use crate::options::EngineOptions;
use crate::region::split_policy::SplitPolicy;

const SWITCH: &str = "hbase.table.sanity.checks";
const MAX_FILE_SIZE_MIN: i64 = 2 * 1024 * 1024;
const FLUSH_SIZE_MIN: i64 = 1024 * 1024;
const BLOCK_SIZES: std::ops::RangeInclusive<i64> = 1024..=16 * 1024 * 1024;
/// `WALProtos.ScopeType` has no others.
const REPLICATION_SCOPES: std::ops::RangeInclusive<i64> = 0..=2;

/// The number of families that a region may have without counting as several.
const FAMILIES_OF_REGION: usize = 10;

/// Refuses a table that is so large that one request must not create it.
///
/// # Errors
/// `DoNotRetryIo`, as the exception for HBase's quotas is one.
pub(super) fn check_size(
    table: &TableDescriptor,
    regions: usize,
    options: &EngineOptions,
) -> Result<()> {
    let max = options.table_regions_max;
    let families = table.families().len();
    let counted = regions.saturating_mul(families.div_ceil(FAMILIES_OF_REGION).max(1));
    if counted <= max {
        return Ok(());
    }
    Err(Error::do_not_retry(format!(
        "The table {} would have {regions} regions with {families} families each, which count as \
         {counted} regions. A request may create at most {max}: split the regions later, or raise \
         hbase.table.quota.maxregions",
        table.name()
    )))
}

/// What HBase says of encryption when it has no keys.
const NO_KEYS: &str = "Key provider org.apache.hadoop.hbase.io.crypto.KeyStoreKeyProvider failed \
                       test: java.lang.RuntimeException: KeyProvider scheme should specify \
                       KeyStore type";

/// Refuses settings that HBase's master refuses.
///
/// # Errors
/// `DoNotRetryIo` with HBase's message; `IllegalArgument` for an invalid value.
pub(super) fn check(table: &TableDescriptor, options: &EngineOptions) -> Result<()> {
    table.check_attributes()?;
    if table.families().any(|family| family.attributes().contains_key("ENCRYPTION")) {
        // Whatever the switch says: a table must not look encrypted without being so.
        return Err(refused(NO_KEYS));
    }
    if let Some(problem) = classes::compaction_problem(table) {
        // HBase always checks it, whatever the switch says, after the classes.
        let first = table.flag(SWITCH, options.are_settings_checked).then(|| early_problem(table));
        return Err(refused(&first.flatten().unwrap_or(problem)));
    }
    if !table.flag(SWITCH, options.are_settings_checked) {
        return Ok(());
    }
    let problem = early_problem(table)
        .or_else(|| {
            let is_empty = table.families().len() == 0;
            is_empty.then(|| "Table should have at least one column family.".to_owned())
        })
        .or_else(|| replication_problem(table))
        .or_else(|| table.families().find_map(scope_problem))
        .or_else(|| table.families().find_map(bloom_problem))
        .or_else(|| table.families().find_map(family_problem));
    problem.map_or(Ok(()), |problem| Err(refused(&problem)))
}

/// What HBase checks before the compaction policies.
fn early_problem(table: &TableDescriptor) -> Option<String> {
    table_problem(table)
        .or_else(|| SplitPolicy::of(table).err().map(|error| error.message().to_owned()))
        .or_else(|| classes::loading_problem(table))
        .or_else(|| table.families().find_map(compression_problem))
}

fn refused(problem: &str) -> Error {
    Error::do_not_retry(format!(
        "{problem} Set {SWITCH} to false at conf or table descriptor if you want to bypass sanity \
         checks"
    ))
}

fn table_problem(table: &TableDescriptor) -> Option<String> {
    if let Some(size) = table.number("MAX_FILESIZE")
        && size < MAX_FILE_SIZE_MIN
    {
        return Some(format!(
            "MAX_FILESIZE for table descriptor or \"hbase.hregion.max.filesize\" ({size}) is too \
             small, which might cause over splitting into unmanageable number of regions."
        ));
    }
    if let Some(size) = table.number("MEMSTORE_FLUSHSIZE")
        && size < FLUSH_SIZE_MIN
    {
        return Some(format!(
            "MEMSTORE_FLUSHSIZE for table descriptor or \"hbase.hregion.memstore.flush.size\" \
             ({size}) is too small, which might cause very frequent flushing."
        ));
    }
    None
}

fn replication_problem(table: &TableDescriptor) -> Option<String> {
    match table.number("REGION_REPLICATION") {
        Some(count) if count < 1 => {
            Some("Table region replication should be at least one.".to_owned())
        }
        Some(count) if count > i64::from(REGION_REPLICATION_MAX) => {
            Some(format!("Table region replication should be at most {REGION_REPLICATION_MAX}."))
        }
        _ => None,
    }
}

/// Refuses a compression as HBase does without the native library for it.
fn compression_problem(family: &ColumnFamilyDescriptor) -> Option<String> {
    let missing = hblite_codec::ensure_available(family.compression()).err()?;
    let refused =
        format!("Compression algorithm '{}' previously failed test.", missing.compression);
    Some(match missing.feature {
        // HBase's text, which clients compare.
        None => refused,
        Some(_) => format!("{refused} {missing}"),
    })
}

fn scope_problem(family: &ColumnFamilyDescriptor) -> Option<String> {
    let scope = family.replication_scope();
    (!REPLICATION_SCOPES.contains(&scope)).then(|| {
        format!(
            "Replication scope for column family {} is {scope} which is invalid.",
            family.name_as_string()
        )
    })
}

fn bloom_problem(family: &ColumnFamilyDescriptor) -> Option<String> {
    let lacks_length =
        family.bloom() == BloomType::RowPrefixFixedLength && family.bloom_prefix_length() == 0;
    lacks_length.then(|| "Failed to get bloom filter param".to_owned())
}

fn family_problem(family: &ColumnFamilyDescriptor) -> Option<String> {
    let name = family.name_as_string();
    if family.time_to_live_seconds() <= 0 {
        return Some(format!("TTL for column family {name} must be positive."));
    }
    if !BLOCK_SIZES.contains(&family.block_size()) {
        return Some(format!("Block size for column family {name}  must be between 1K and 16MB."));
    }
    if family.min_versions_raw() < 0 {
        return Some(format!("Min versions for column family {name}  must be positive."));
    }
    if family.min_versions_raw() > i64::from(family.versions()) {
        return Some(format!(
            "Min versions for column family {name} must be less than the Max versions."
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYPASS: &str = " Set hbase.table.sanity.checks to false at conf or table descriptor if \
                          you want to bypass sanity checks";

    fn family(settings: &[(&str, &str)]) -> ColumnFamilyDescriptor {
        let mut family = ColumnFamilyDescriptor::new("f");
        for (name, value) in settings {
            family.set_attribute(name, value).unwrap();
        }
        family
    }

    fn problem(table: &TableDescriptor) -> Option<String> {
        let error = check(table, &EngineOptions::default()).err()?;
        assert_eq!(error.exception(), hblite_model::Exception::DoNotRetryIo);
        Some(error.message().strip_suffix(BYPASS).expect("the way round").to_owned())
    }

    /// `hbase.table.sanity.checks` does not bypass the check of types.
    #[test]
    fn values_that_are_none_are_refused() {
        let keeps_none = ColumnFamilyDescriptor::new("f").with_versions(0);
        let mut table = TableDescriptor::new("t".parse().unwrap()).with_family(keeps_none);
        table.set_attribute(SWITCH, "false").unwrap();
        let error = check(&table, &EngineOptions::default()).unwrap_err();
        assert_eq!(error.exception(), hblite_model::Exception::IllegalArgument);
        assert_eq!(error.message(), "Maximum versions must be positive");
    }

    /// Settings and messages as recorded from Apache HBase 2.6.1.
    #[test]
    fn families_get_hbases_messages() {
        type Case = (&'static [(&'static str, &'static str)], Option<&'static str>);
        let cases: &[Case] = &[
            (&[], None),
            (&[("REPLICATION_SCOPE", "2")], None),
            (&[("MIN_VERSIONS", "1")], None),
            (&[("TTL", "FOREVER")], None),
            (&[("TTL", "12 HOURS")], None),
            (&[("TTL", "0")], Some("TTL for column family f must be positive.")),
            (&[("TTL", "bogus")], Some("TTL for column family f must be positive.")),
            (&[("TTL", "-1")], Some("TTL for column family f must be positive.")),
            (
                &[("BLOCKSIZE", "100")],
                Some("Block size for column family f  must be between 1K and 16MB."),
            ),
            (
                &[("BLOCKSIZE", "99999999")],
                Some("Block size for column family f  must be between 1K and 16MB."),
            ),
            (
                &[("REPLICATION_SCOPE", "-1")],
                Some("Replication scope for column family f is -1 which is invalid."),
            ),
            (
                &[("MIN_VERSIONS", "-1")],
                Some("Min versions for column family f  must be positive."),
            ),
            (
                &[("VERSIONS", "2"), ("MIN_VERSIONS", "3")],
                Some("Min versions for column family f must be less than the Max versions."),
            ),
            (&[("VERSIONS", "2"), ("MIN_VERSIONS", "2")], None),
        ];
        for (settings, expected) in cases {
            let table = TableDescriptor::new("t".parse().unwrap()).with_family(family(settings));
            assert_eq!(problem(&table).as_deref(), *expected, "{settings:?}");
        }
    }

    #[test]
    fn tables_get_hbases_messages() {
        let empty = TableDescriptor::new("t".parse().unwrap());
        let expected = "Table should have at least one column family.";
        assert_eq!(problem(&empty).as_deref(), Some(expected));
        let mut table = empty.with_family(family(&[]));
        table.set_attribute("MAX_FILESIZE", "1000").unwrap();
        let expected = "MAX_FILESIZE for table descriptor or \"hbase.hregion.max.filesize\" (1000) \
                        is too small, which might cause over splitting into unmanageable number \
                        of regions.";
        assert_eq!(problem(&table).as_deref(), Some(expected));
        table.set_attribute("MAX_FILESIZE", "2 MB").unwrap();
        table.set_attribute("MEMSTORE_FLUSHSIZE", "1").unwrap();
        assert!(problem(&table).is_some_and(|message| message.starts_with("MEMSTORE_FLUSHSIZE")));
        let lax = EngineOptions { are_settings_checked: false, ..EngineOptions::default() };
        assert!(check(&table, &lax).is_ok());
        table.set_attribute(SWITCH, "true").unwrap();
        assert!(check(&table, &lax).is_err());
        table.set_attribute(SWITCH, "false").unwrap();
        assert_eq!(problem(&table), None);
    }
}
