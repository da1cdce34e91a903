//! Settings of a column family.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::attribute;
use super::named::{BloomType, Compression, DataBlockEncoding, KeepDeletedCells};
use super::pretty::{FOREVER_SECONDS, format_bytes, format_interval, whole_seconds};
use crate::bytes::to_string_binary;
use crate::error::{Error, Result};

/// "Keep every version": `HConstants.ALL_VERSIONS`.
pub const VERSIONS_ALL: u32 = INT_MAX;

/// The greatest number in an attribute: HBase reads it as Java's `int`.
const INT_MAX: u32 = i32::MAX as u32;

/// Attributes that every family has, with their defaults.
const DEFAULTS: [(&str, &str); 12] = [
    ("BLOCKCACHE", "true"),
    ("BLOCKSIZE", "65536"),
    ("BLOOMFILTER", "ROW"),
    ("COMPRESSION", "NONE"),
    ("DATA_BLOCK_ENCODING", "NONE"),
    ("INDEX_BLOCK_ENCODING", "NONE"),
    ("IN_MEMORY", "false"),
    ("KEEP_DELETED_CELLS", "FALSE"),
    ("MIN_VERSIONS", "0"),
    ("REPLICATION_SCOPE", "0"),
    ("TTL", "2147483647"),
    ("VERSIONS", "1"),
];

/// Attributes that are printed outside METADATA, apart from those with defaults.
const RESERVED: [&str; 5] =
    ["ENCRYPTION", "ENCRYPTION_KEY", "IS_MOB", "MOB_THRESHOLD", "MOB_COMPACT_PARTITION_POLICY"];

/// A column family: its name and attributes.
///
/// ```
/// # use hblite_model as hblite;
/// use hblite::ColumnFamilyDescriptor;
/// use std::time::Duration;
/// let hour = Duration::from_secs(60 * 60);
/// let family = ColumnFamilyDescriptor::new("f").with_versions(3).with_time_to_live(hour);
/// assert_eq!(family.versions(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnFamilyDescriptor {
    name: Vec<u8>,
    attributes: BTreeMap<String, String>,
    configuration: BTreeMap<String, String>,
}

impl ColumnFamilyDescriptor {
    /// A family with default settings. Its name is checked when it is added to a table.
    pub fn new(name: impl AsRef<[u8]>) -> Self {
        let attributes =
            DEFAULTS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Self { name: name.as_ref().to_vec(), attributes, configuration: BTreeMap::new() }
    }

    /// A family with exactly these settings, as read from a file.
    pub fn from_parts(
        name: Vec<u8>,
        attributes: BTreeMap<String, String>,
        configuration: BTreeMap<String, String>,
    ) -> Self {
        Self { name, attributes, configuration }
    }

    /// The name.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// The name as text, for paths and messages.
    pub fn name_as_string(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }

    /// All attributes, with names and values as HBase stores them.
    pub fn attributes(&self) -> &BTreeMap<String, String> {
        &self.attributes
    }

    /// Configuration for this family only.
    pub fn configuration(&self) -> &BTreeMap<String, String> {
        &self.configuration
    }

    /// Sets a configuration value of this family.
    pub fn set_configuration(&mut self, key: &str, value: &str) {
        self.configuration.insert(key.to_owned(), value.to_owned());
    }

    /// Sets an attribute to a value in the form that HBase's shell accepts. `TTL` and `BLOCKSIZE`
    /// accept units. Attributes that HBase does not know are kept and printed under `METADATA`.
    ///
    /// # Errors
    /// `IllegalArgument` if the value is not valid for the attribute.
    pub fn set_attribute(&mut self, name: &str, value: &str) -> Result<()> {
        let stored = attribute::of_family(name, value)?;
        if name == "VERSIONS" {
            self.check_versions(&stored)?;
        }
        self.attributes.insert(name.to_owned(), stored);
        Ok(())
    }

    /// Removes an attribute; one that has a default is set to it.
    pub fn remove_attribute(&mut self, name: &str) {
        match DEFAULTS.iter().find(|(key, _)| *key == name) {
            Some((key, value)) => self.attributes.insert((*key).to_owned(), (*value).to_owned()),
            None => self.attributes.remove(name),
        };
    }

    /// `ColumnFamilyDescriptorBuilder.setMaxVersions` compares them.
    fn check_versions(&self, versions: &str) -> Result<()> {
        let versions_min = self.min_versions_raw();
        if versions.parse().is_ok_and(|versions: i64| versions < versions_min) {
            return Err(Error::illegal_argument(format!(
                "Set MaxVersion to {versions} while minVersion is {versions_min}. Maximum \
                 versions must be >= minimum versions "
            )));
        }
        Ok(())
    }

    /// Checks that every attribute has a valid value, wherever it came from.
    ///
    /// # Errors
    /// `IllegalArgument`, as from [`set_attribute`](Self::set_attribute).
    pub fn check_attributes(&self) -> Result<()> {
        let mut attributes = self.attributes.iter();
        attributes.try_for_each(|(name, value)| attribute::of_family(name, value).map(drop))
    }

    fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.attributes.insert(name.to_owned(), value.to_string());
        self
    }

    /// Sets the number of versions to keep; [`VERSIONS_ALL`] is the maximum.
    #[must_use]
    pub fn with_versions(self, versions: u32) -> Self {
        self.with("VERSIONS", versions.min(INT_MAX))
    }

    /// Sets the number of versions to keep even after the time to live.
    #[must_use]
    pub fn with_min_versions(self, versions: u32) -> Self {
        self.with("MIN_VERSIONS", versions.min(INT_MAX))
    }

    /// Sets the time to live, rounded up to seconds; `None`, and 68 years or more, mean forever.
    #[must_use]
    pub fn with_time_to_live(self, time: impl Into<Option<Duration>>) -> Self {
        let seconds = whole_seconds(time.into().unwrap_or(Duration::MAX));
        self.with("TTL", seconds.min(u64::from(INT_MAX)))
    }

    /// Sets the Bloom filter of new files.
    #[must_use]
    pub fn with_bloom(self, bloom: BloomType) -> Self {
        self.with("BLOOMFILTER", bloom)
    }

    /// Sets the compression of new files.
    #[must_use]
    pub fn with_compression(self, compression: Compression) -> Self {
        self.with("COMPRESSION", compression)
    }

    /// Sets the data block encoding of new files.
    #[must_use]
    pub fn with_data_block_encoding(self, encoding: DataBlockEncoding) -> Self {
        self.with("DATA_BLOCK_ENCODING", encoding)
    }

    /// Sets the block size of new files in bytes.
    #[must_use]
    pub fn with_block_size(self, bytes: u32) -> Self {
        self.with("BLOCKSIZE", bytes.min(INT_MAX))
    }

    /// Sets how deleted cells are treated.
    #[must_use]
    pub fn with_keep_deleted_cells(self, keep: KeepDeletedCells) -> Self {
        self.with("KEEP_DELETED_CELLS", keep)
    }

    /// Sets whether decoded blocks are cached.
    #[must_use]
    pub fn with_block_cache_enabled(self, enabled: bool) -> Self {
        self.with("BLOCKCACHE", enabled)
    }

    /// A number among the attributes; 0 for text that is not a number, which no setter accepts.
    fn number(&self, name: &str) -> i64 {
        self.number_or(name, 0)
    }

    fn number_or(&self, name: &str, default: i64) -> i64 {
        self.attributes.get(name).and_then(|value| value.parse().ok()).unwrap_or(default)
    }

    fn flag(&self, name: &str) -> bool {
        self.attributes.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Versions kept: 1 or more, [`VERSIONS_ALL`] for all. If a file contains an unreadable value,
    /// this is [`VERSIONS_ALL`], so that no version is dropped on a guess.
    pub fn versions(&self) -> u32 {
        let all = i64::from(VERSIONS_ALL);
        match self.number_or("VERSIONS", all) {
            versions if (1..all).contains(&versions) => versions as u32,
            _ => VERSIONS_ALL,
        }
    }

    /// Versions kept whatever the time to live, as it was set: possibly out of range until the
    /// table's sanity check refuses it.
    pub fn min_versions_raw(&self) -> i64 {
        self.number("MIN_VERSIONS")
    }

    /// Versions kept whatever the time to live.
    pub fn min_versions(&self) -> u32 {
        self.min_versions_raw().clamp(0, i64::from(INT_MAX)) as u32
    }

    /// Time to live in seconds as it was set; `2147483647` means forever.
    pub fn time_to_live_seconds(&self) -> i64 {
        self.number_or("TTL", FOREVER_SECONDS)
    }

    /// Time to live; `None` means forever (`HStore.determineTTLFromFamily`).
    pub fn time_to_live(&self) -> Option<Duration> {
        match self.time_to_live_seconds() {
            FOREVER_SECONDS | -1 => None,
            seconds => Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0))),
        }
    }

    /// How deleted cells are treated.
    pub fn keep_deleted_cells(&self) -> KeepDeletedCells {
        self.parsed("KEEP_DELETED_CELLS", KeepDeletedCells::from_name, KeepDeletedCells::False)
    }

    /// Whether versions are counted by write order (HBASE-15968).
    pub fn new_version_behavior(&self) -> bool {
        self.flag("NEW_VERSION_BEHAVIOR")
    }

    /// The Bloom filter of new files.
    pub fn bloom(&self) -> BloomType {
        self.parsed("BLOOMFILTER", BloomType::from_name, BloomType::Row)
    }

    /// Prefix length of a ROWPREFIX_FIXED_LENGTH filter.
    pub fn bloom_prefix_length(&self) -> u32 {
        let key = "RowPrefixBloomFilter.prefix_length";
        let value = self.configuration.get(key).or_else(|| self.attributes.get(key));
        value.and_then(|value| value.parse().ok()).unwrap_or(0)
    }

    /// The compression of new files.
    pub fn compression(&self) -> Compression {
        self.parsed("COMPRESSION", Compression::from_name, Compression::None)
    }

    /// The data block encoding of new files.
    pub fn data_block_encoding(&self) -> DataBlockEncoding {
        self.parsed("DATA_BLOCK_ENCODING", DataBlockEncoding::from_name, DataBlockEncoding::None)
    }

    /// The block size of new files in bytes, as it was set.
    pub fn block_size(&self) -> i64 {
        self.number("BLOCKSIZE")
    }

    /// Replication scope; hblite stores it and does not replicate.
    pub fn replication_scope(&self) -> i64 {
        self.number("REPLICATION_SCOPE")
    }

    /// Whether decoded blocks are cached.
    pub fn is_block_cache_enabled(&self) -> bool {
        self.flag("BLOCKCACHE")
    }

    /// Whether the family has priority in the cache.
    pub fn is_in_memory(&self) -> bool {
        self.flag("IN_MEMORY")
    }

    /// Whether flushed blocks go into the cache.
    pub fn caches_data_on_write(&self) -> bool {
        self.flag("CACHE_DATA_ON_WRITE")
    }

    /// Whether files are read into the cache when they are opened.
    pub fn prefetches_blocks_on_open(&self) -> bool {
        self.flag("PREFETCH_BLOCKS_ON_OPEN") && self.is_block_cache_enabled()
    }

    fn parsed<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>, default: T) -> T {
        self.attributes.get(name).and_then(|value| parse(value)).unwrap_or(default)
    }

    /// Checks the name (`ColumnFamilyDescriptorBuilder.isLegalColumnFamilyName`).
    ///
    /// # Errors
    /// `IllegalArgument` with HBase's message.
    pub fn check_name(&self) -> Result<()> {
        let name = &self.name;
        let printable = || String::from_utf8_lossy(name);
        if name.is_empty() {
            return Err(Error::illegal_argument("Column Family name can not be empty"));
        }
        if name[0] == b'.' {
            return Err(Error::illegal_argument(format!(
                "Column Family names cannot start with a period: {}",
                printable()
            )));
        }
        for &byte in name {
            let is_control = byte < 0x20 || byte == 0x7f;
            if is_control || matches!(byte, b':' | b'\\' | b'/') {
                return Err(Error::illegal_argument(format!(
                    "Illegal character <{byte}>. Column Family names cannot contain control \
                     characters or colons: {}",
                    printable()
                )));
            }
        }
        if name == b"recovered.edits" {
            return Err(Error::illegal_argument("Column Family name cannot be: recovered.edits"));
        }
        if name.len() > crate::cell::key::FAMILY_LENGTH_MAX {
            return Err(Error::illegal_argument("The length of family name is bigger than 127"));
        }
        Ok(())
    }
}

/// As `ColumnFamilyDescriptor.toString` prints it, in the order of Java's hash map.
impl fmt::Display for ColumnFamilyDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{NAME => '{}'", String::from_utf8_lossy(&self.name))?;
        let mut entries: Vec<(&String, &String)> = self.attributes.iter().collect();
        let buckets = (entries.len() * 4 / 3 + 1).next_power_of_two().max(32);
        entries.sort_by_key(|(key, _)| java_bucket(java_bytes_hash(key), buckets));
        let is_reserved =
            |key: &str| DEFAULTS.iter().any(|(name, _)| *name == key) || RESERVED.contains(&key);
        for (key, value) in entries.iter().filter(|(key, _)| is_reserved(key)) {
            write!(f, ", {key} => '{}'", format_attribute(key, value))?;
        }
        let mut others = entries.iter().filter(|(key, _)| !is_reserved(key)).peekable();
        if others.peek().is_some() {
            f.write_str(", METADATA => {")?;
            for (index, (key, value)) in others.enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                write!(f, "{comma}'{key}' => '{}'", format_attribute(key, value))?;
            }
            f.write_str("}")?;
        }
        if !self.configuration.is_empty() {
            f.write_str(", CONFIGURATION => {")?;
            let mut entries: Vec<(&String, &String)> = self.configuration.iter().collect();
            // A copy of a map has as few buckets as its entries need.
            let buckets = (entries.len() * 4 / 3 + 1).next_power_of_two();
            entries.sort_by_key(|(key, _)| java_bucket(java_string_hash(key), buckets));
            for (index, (key, value)) in entries.into_iter().enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                write!(f, "{comma}'{key}' => '{value}'")?;
            }
            f.write_str("}")?;
        }
        f.write_str("}")
    }
}

fn format_attribute(key: &str, value: &str) -> String {
    match (key, value.parse()) {
        ("TTL", Ok(seconds)) => format_interval(seconds),
        ("BLOCKSIZE", Ok(bytes)) => format_bytes(bytes),
        _ => to_string_binary(value.as_bytes()),
    }
}

/// The bucket of a Java `HashMap` with this many buckets: HBase prints in that order.
fn java_bucket(hash: u32, buckets: usize) -> usize {
    (hash ^ (hash >> 16)) as usize & (buckets - 1)
}

/// `Bytes.hashCode`.
fn java_bytes_hash(key: &str) -> u32 {
    let next =
        |hash: u32, byte: u8| hash.wrapping_mul(31).wrapping_add(i32::from(byte as i8) as u32);
    key.bytes().fold(1, next)
}

/// `String.hashCode`.
fn java_string_hash(key: &str) -> u32 {
    key.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_hbase_prints() {
        let mut family = ColumnFamilyDescriptor::new("g");
        for (name, value) in [
            ("VERSIONS", "3"),
            ("KEEP_DELETED_CELLS", "TRUE"),
            ("DATA_BLOCK_ENCODING", "FAST_DIFF"),
            ("TTL", "3600"),
            ("MIN_VERSIONS", "1"),
            ("REPLICATION_SCOPE", "1"),
            ("BLOOMFILTER", "ROWCOL"),
            ("IN_MEMORY", "true"),
            ("BLOCKSIZE", "8192"),
        ] {
            family.set_attribute(name, value).unwrap();
        }
        assert_eq!(
            family.to_string(),
            "{NAME => 'g', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '3', KEEP_DELETED_CELLS \
             => 'TRUE', DATA_BLOCK_ENCODING => 'FAST_DIFF', TTL => '3600 SECONDS (1 HOUR)', \
             MIN_VERSIONS => '1', REPLICATION_SCOPE => '1', BLOOMFILTER => 'ROWCOL', IN_MEMORY => \
             'true', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '8192 B (8KB)'}"
        );
    }

    #[test]
    fn impossible_settings_are_refused() {
        let mut family = ColumnFamilyDescriptor::new("f");
        assert!(family.set_attribute("VERSIONS", "0").is_err());
        assert!(family.set_attribute("COMPRESSION", "NOPE").is_err());
        family.set_attribute("MIN_VERSIONS", "3").unwrap();
        assert!(family.set_attribute("VERSIONS", "2").is_err());
        assert!(ColumnFamilyDescriptor::new("a:b").check_name().is_err());
        assert!(ColumnFamilyDescriptor::new("a b").check_name().is_ok());
    }

    /// A descriptor from a file may contain anything; an unreadable value keeps cells.
    #[test]
    fn what_cannot_be_read_loses_nothing() {
        for versions in ["4294967296", "99999999999999999999", "many", "-1", "0"] {
            let attributes = [("VERSIONS", versions), ("TTL", "long")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()));
            let family = ColumnFamilyDescriptor::from_parts(
                b"f".to_vec(),
                BTreeMap::from(attributes),
                BTreeMap::new(),
            );
            assert_eq!(family.versions(), VERSIONS_ALL, "{versions}");
            assert_eq!(family.time_to_live(), None);
            assert!(family.check_attributes().is_err());
        }
        let family = ColumnFamilyDescriptor::new("f").with_versions(u32::MAX);
        assert_eq!(family.versions(), VERSIONS_ALL);
        family.check_attributes().unwrap();
        assert!(family.with_versions(0).check_attributes().is_err());
    }
}
