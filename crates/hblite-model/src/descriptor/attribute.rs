//! The valid values of attributes: one table for families, one for tables.
//!
//! HBase checks a value where it is set, in the typed setters of `ColumnFamilyDescriptorBuilder`
//! and `TableDescriptorBuilder`; the kinds here are the parameter types of those setters. An
//! attribute that HBase does not know may have any text.

use std::ops::RangeInclusive;

use super::named::{BloomType, Compression, DataBlockEncoding, KeepDeletedCells};
use super::pretty::{parse_bytes, parse_interval};
use crate::error::{Error, Result};
use crate::ops::Durability;

/// The type of an attribute's value.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Java's `short`.
    Short,
    /// Java's `int`.
    Int,
    /// Java's `long`.
    Long,
    /// Seconds in an `int`, or as text with units.
    Seconds,
    /// Bytes in an `int`, or as text with units.
    SmallSize,
    /// Bytes in a `long`, or as text with units.
    Size,
    /// `true` in upper or lower case; any other text is `false`, as in Java.
    Bool,
    /// Exactly one of these: what Java's `valueOf` accepts.
    OneOf(&'static [&'static str]),
    /// One of these, in upper or lower case: HBase's shell converts it to upper case.
    OneOfAnyCase(&'static [&'static str]),
    /// Any text; HBase's shell converts it to upper case.
    UpperCase,
}

const FAMILY: [(&str, Kind); 24] = [
    ("BLOCKCACHE", Kind::Bool),
    ("BLOCKSIZE", Kind::SmallSize),
    ("BLOOMFILTER", Kind::OneOfAnyCase(BloomType::NAMES)),
    ("CACHE_BLOOMS_ON_WRITE", Kind::Bool),
    ("CACHE_DATA_ON_WRITE", Kind::Bool),
    ("CACHE_INDEX_ON_WRITE", Kind::Bool),
    ("COMPRESSION", Kind::OneOfAnyCase(Compression::NAMES)),
    ("COMPRESS_TAGS", Kind::Bool),
    ("DATA_BLOCK_ENCODING", Kind::OneOf(DataBlockEncoding::NAMES)),
    ("DFS_REPLICATION", Kind::Short),
    ("EVICT_BLOCKS_ON_CLOSE", Kind::Bool),
    ("INDEX_BLOCK_ENCODING", Kind::OneOf(&["NONE", "PREFIX_TREE"])),
    ("IN_MEMORY", Kind::Bool),
    ("IN_MEMORY_COMPACTION", Kind::OneOf(&["NONE", "BASIC", "EAGER", "ADAPTIVE"])),
    ("IS_MOB", Kind::Bool),
    ("KEEP_DELETED_CELLS", Kind::OneOfAnyCase(KeepDeletedCells::NAMES)),
    ("MIN_VERSIONS", Kind::Int),
    ("MOB_COMPACT_PARTITION_POLICY", Kind::OneOfAnyCase(&["DAILY", "WEEKLY", "MONTHLY"])),
    ("MOB_THRESHOLD", Kind::Long),
    ("NEW_VERSION_BEHAVIOR", Kind::Bool),
    ("PREFETCH_BLOCKS_ON_OPEN", Kind::Bool),
    ("REPLICATION_SCOPE", Kind::Int),
    ("TTL", Kind::Seconds),
    ("VERSIONS", Kind::Int),
];

const TABLE: [(&str, Kind); 14] = [
    ("COMPACTION_ENABLED", Kind::Bool),
    ("DURABILITY", Kind::OneOf(Durability::NAMES)),
    ("MAX_FILESIZE", Kind::Size),
    ("MEMSTORE_FLUSHSIZE", Kind::Size),
    ("MERGE_ENABLED", Kind::Bool),
    ("NORMALIZATION_ENABLED", Kind::Bool),
    ("NORMALIZER_TARGET_REGION_COUNT", Kind::Int),
    ("NORMALIZER_TARGET_REGION_SIZE", Kind::Long),
    ("NORMALIZER_TARGET_REGION_SIZE_MB", Kind::Long),
    ("PRIORITY", Kind::Int),
    ("READONLY", Kind::Bool),
    ("REGION_MEMSTORE_REPLICATION", Kind::Bool),
    ("REGION_REPLICATION", Kind::Int),
    ("SPLIT_ENABLED", Kind::Bool),
];

/// The value of a family's attribute in stored form.
///
/// # Errors
/// `IllegalArgument` if the value is not valid for the attribute.
pub(super) fn of_family(name: &str, value: &str) -> Result<String> {
    let kind = match name {
        "STORAGE_POLICY" => Some(Kind::UpperCase),
        _ => kind_of(&FAMILY, name),
    };
    let stored = stored(kind, name, value)?;
    match name {
        // HBase checks these two in the setters.
        "VERSIONS" if number(&stored) < 1 => {
            Err(Error::illegal_argument("Maximum versions must be positive"))
        }
        "DFS_REPLICATION" if number(&stored) < 0 => Err(Error::illegal_argument(
            "DFS replication factor cannot be less than 1 if explicitly set.",
        )),
        _ => Ok(stored),
    }
}

/// The value of a table's attribute in stored form.
///
/// # Errors
/// `IllegalArgument` if the value is not valid for the attribute.
pub(super) fn of_table(name: &str, value: &str) -> Result<String> {
    stored(kind_of(&TABLE, name), name, value)
}

fn kind_of(kinds: &[(&str, Kind)], name: &str) -> Option<Kind> {
    kinds.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

fn number(stored: &str) -> i64 {
    stored.parse().unwrap_or(0)
}

fn stored(kind: Option<Kind>, name: &str, value: &str) -> Result<String> {
    const SHORT: RangeInclusive<i64> = i16::MIN as i64..=i16::MAX as i64;
    const INT: RangeInclusive<i64> = i32::MIN as i64..=i32::MAX as i64;
    const LONG: RangeInclusive<i64> = i64::MIN..=i64::MAX;
    let within = |parsed: Option<i64>, range: RangeInclusive<i64>| match parsed {
        Some(number) if range.contains(&number) => Ok(number.to_string()),
        _ => Err(Error::illegal_argument(format!(
            "{value} is not a value of the attribute {name}, a number from {} to {}",
            range.start(),
            range.end()
        ))),
    };
    match kind {
        None => Ok(value.to_owned()),
        Some(Kind::Short) => within(value.parse().ok(), SHORT),
        Some(Kind::Int) => within(value.parse().ok(), INT),
        Some(Kind::Long) => within(value.parse().ok(), LONG),
        Some(Kind::Seconds) => within(parse_interval(value), INT),
        Some(Kind::SmallSize) => within(parse_bytes(value), INT),
        Some(Kind::Size) => within(parse_bytes(value), LONG),
        Some(Kind::Bool) => Ok(value.eq_ignore_ascii_case("true").to_string()),
        Some(Kind::UpperCase) => Ok(value.to_ascii_uppercase()),
        Some(Kind::OneOf(names)) => {
            one_of(names, name, value, |known| known == value).map(str::to_owned)
        }
        Some(Kind::OneOfAnyCase(names)) => {
            one_of(names, name, value, |known| known.eq_ignore_ascii_case(value)).map(str::to_owned)
        }
    }
}

fn one_of(
    names: &'static [&'static str],
    name: &str,
    value: &str,
    is_it: impl Fn(&str) -> bool,
) -> Result<&'static str> {
    names.iter().copied().find(|known| is_it(known)).ok_or_else(|| match name {
        "COMPRESSION" => Error::illegal_argument(format!(
            "Compression {} is not supported. Use one of \
             LZO GZ ZSTD EnumDesc LZ4 NONE SNAPPY BZIP2",
            value.to_ascii_uppercase()
        )),
        "MOB_COMPACT_PARTITION_POLICY" => Error::illegal_argument(format!(
            "{name} {} is not supported. Use one of WEEKLY EnumDesc DAILY MONTHLY",
            value.to_ascii_uppercase()
        )),
        "DURABILITY" => Error::illegal_argument(format!(
            "No enum constant org.apache.hadoop.hbase.client.Durability.{value}"
        )),
        _ => Error::illegal_argument(format!(
            "{value} is not a value of the attribute {name}, which is one of {}",
            names.join(", ")
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(result: Result<String>) -> String {
        result.unwrap_err().message().to_owned()
    }

    /// The values, and which of them are refused, are those of HBase's setters.
    #[test]
    fn numbers_fit_the_types_of_the_setters() {
        for name in ["VERSIONS", "MIN_VERSIONS", "TTL", "BLOCKSIZE", "REPLICATION_SCOPE"] {
            assert_eq!(of_family(name, "2147483647").unwrap(), "2147483647");
            for value in ["2147483648", "4294967296", "-2147483649", "99999999999999999999"] {
                let expected = format!("{value} is not a value of the attribute {name}, a ");
                assert!(refusal(of_family(name, value)).starts_with(&expected), "{name} {value}");
            }
        }
        for name in ["PRIORITY", "REGION_REPLICATION", "NORMALIZER_TARGET_REGION_COUNT"] {
            assert_eq!(of_table(name, "-1").unwrap(), "-1");
            assert!(of_table(name, "2147483648").is_err() && of_table(name, "x").is_err());
        }
        for name in ["MAX_FILESIZE", "MEMSTORE_FLUSHSIZE", "NORMALIZER_TARGET_REGION_SIZE"] {
            assert_eq!(of_table(name, "9223372036854775807").unwrap(), "9223372036854775807");
            assert!(of_table("NORMALIZER_TARGET_REGION_SIZE", "9223372036854775808").is_err());
        }
        for value in ["", "three", "1.5", " 3", "0x10"] {
            assert!(of_family("VERSIONS", value).is_err(), "{value}");
        }
        assert_eq!(of_family("VERSIONS", "+3").unwrap(), "3");
        assert_eq!(refusal(of_family("VERSIONS", "0")), "Maximum versions must be positive");
        assert!(of_family("TTL", "100000 DAYS").is_err());
        assert!(of_family("BLOCKSIZE", "4GB").is_err());
        assert_eq!(of_family("BLOCKSIZE", "64K").unwrap(), "65536");
        assert_eq!(of_table("MAX_FILESIZE", "10G").unwrap(), "10737418240");
    }

    #[test]
    fn replicas_of_files_are_a_short_and_not_negative() {
        for value in ["0", "3", "32767"] {
            assert_eq!(of_family("DFS_REPLICATION", value).unwrap(), value);
        }
        assert!(of_family("DFS_REPLICATION", "40000").is_err());
        assert_eq!(
            refusal(of_family("DFS_REPLICATION", "-1")),
            "DFS replication factor cannot be less than 1 if explicitly set."
        );
    }

    #[test]
    fn names_are_exact_where_the_shell_does_not_change_them() {
        assert_eq!(of_family("BLOOMFILTER", "rowcol").unwrap(), "ROWCOL");
        assert_eq!(of_family("KEEP_DELETED_CELLS", "true").unwrap(), "TRUE");
        assert_eq!(of_family("COMPRESSION", "gz").unwrap(), "GZ");
        assert_eq!(of_family("STORAGE_POLICY", "all_ssd").unwrap(), "ALL_SSD");
        for (name, good, bad) in [
            ("DATA_BLOCK_ENCODING", "DIFF", "diff"),
            ("INDEX_BLOCK_ENCODING", "NONE", "none"),
            ("IN_MEMORY_COMPACTION", "BASIC", "basic"),
        ] {
            assert_eq!(of_family(name, good).unwrap(), good);
            let expected = format!("{bad} is not a value of the attribute {name}, which is one of");
            assert!(refusal(of_family(name, bad)).starts_with(&expected));
        }
        assert_eq!(of_table("DURABILITY", "FSYNC_WAL").unwrap(), "FSYNC_WAL");
        assert_eq!(
            refusal(of_table("DURABILITY", "fsync_wal")),
            "No enum constant org.apache.hadoop.hbase.client.Durability.fsync_wal"
        );
    }

    /// The tables of names are those that the values know themselves.
    #[test]
    fn names_are_those_of_the_values() {
        for name in Durability::NAMES {
            assert_eq!(Durability::from_name(name).map(Durability::name), Some(*name));
        }
        for name in DataBlockEncoding::NAMES {
            assert_eq!(DataBlockEncoding::from_name(name).map(|known| known.name()), Some(*name));
        }
    }

    #[test]
    fn flags_are_true_or_false_and_other_names_hold_any_text() {
        for name in ["NORMALIZATION_ENABLED", "REGION_MEMSTORE_REPLICATION", "READONLY"] {
            assert_eq!(of_table(name, "TRUE").unwrap(), "true");
            assert_eq!(of_table(name, "yes").unwrap(), "false");
        }
        assert_eq!(of_table("OWNER", "TRUE").unwrap(), "TRUE");
        assert_eq!(of_family("my.key", "4294967296").unwrap(), "4294967296");
    }
}
