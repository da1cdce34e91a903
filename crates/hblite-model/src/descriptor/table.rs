//! Settings of a table: name, attributes, families.

use std::collections::BTreeMap;
use std::fmt;

use super::attribute;
use super::family::ColumnFamilyDescriptor;
use super::pretty::format_bytes;
use crate::bytes::to_string_binary;
use crate::error::{Error, Result};
use crate::name::TableName;
use crate::ops::Durability;

/// Attributes that are printed outside METADATA.
const RESERVED: [&str; 8] = [
    "DURABILITY",
    "ERASURE_CODING_POLICY",
    "IS_META",
    "MAX_FILESIZE",
    "MEMSTORE_FLUSHSIZE",
    "PRIORITY",
    "READONLY",
    "REGION_REPLICATION",
];

/// The most locations of a region: each is five cells of its row in hbase:meta.
pub const REGION_REPLICATION_MAX: u16 = 100;

/// The attribute that HBase 2.6 gives every new table.
const STORE_FILE_TRACKER: (&str, &str) = ("hbase.store.file-tracker.impl", "DEFAULT");

/// A table: its name, attributes and families.
///
/// ```
/// # use hblite_model as hblite;
/// use hblite::{ColumnFamilyDescriptor, TableDescriptor};
/// let table = TableDescriptor::new("t".parse()?)
///     .with_family(ColumnFamilyDescriptor::new("f").with_versions(3));
/// assert!(table.has_family(b"f"));
/// # Ok::<(), hblite_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDescriptor {
    name: TableName,
    attributes: BTreeMap<String, String>,
    families: BTreeMap<Vec<u8>, ColumnFamilyDescriptor>,
}

impl TableDescriptor {
    /// A table without families, with the attributes that HBase gives a new table.
    pub fn new(name: TableName) -> Self {
        let (key, value) = STORE_FILE_TRACKER;
        let attributes = BTreeMap::from([(key.to_owned(), value.to_owned())]);
        Self { name, attributes, families: BTreeMap::new() }
    }

    /// A table with exactly these attributes, as read from a file.
    pub fn from_parts(
        name: TableName,
        attributes: BTreeMap<String, String>,
        families: impl IntoIterator<Item = ColumnFamilyDescriptor>,
    ) -> Self {
        let families =
            families.into_iter().map(|family| (family.name().to_vec(), family)).collect();
        Self { name, attributes, families }
    }

    /// The name.
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// Sets the name.
    #[must_use]
    pub fn with_name(self, name: TableName) -> Self {
        Self { name, ..self }
    }

    /// All attributes as HBase stores them.
    pub fn attributes(&self) -> &BTreeMap<String, String> {
        &self.attributes
    }

    /// Sets an attribute; `MAX_FILESIZE` and `MEMSTORE_FLUSHSIZE` accept units (`1 GB`).
    ///
    /// # Errors
    /// `IllegalArgument` if the value is not valid for the attribute.
    pub fn set_attribute(&mut self, name: &str, value: &str) -> Result<()> {
        let stored = attribute::of_table(name, value)?;
        self.attributes.insert(name.to_owned(), stored);
        Ok(())
    }

    /// Checks that every attribute of the table and its families has a valid value, wherever it
    /// came from.
    ///
    /// # Errors
    /// `IllegalArgument`, as from [`set_attribute`](Self::set_attribute).
    pub fn check_attributes(&self) -> Result<()> {
        for (name, value) in &self.attributes {
            attribute::of_table(name, value)?;
        }
        self.families().try_for_each(ColumnFamilyDescriptor::check_attributes)
    }

    /// Removes an attribute.
    pub fn remove_attribute(&mut self, name: &str) {
        self.attributes.remove(name);
    }

    /// Families by name.
    pub fn families(&self) -> impl ExactSizeIterator<Item = &ColumnFamilyDescriptor> {
        self.families.values()
    }

    /// A family.
    pub fn family(&self, name: &[u8]) -> Option<&ColumnFamilyDescriptor> {
        self.families.get(name)
    }

    /// Whether the table has this family.
    pub fn has_family(&self, name: &[u8]) -> bool {
        self.families.contains_key(name)
    }

    /// Adds a family, or replaces the one with its name.
    #[must_use]
    pub fn with_family(mut self, family: ColumnFamilyDescriptor) -> Self {
        self.set_family(family);
        self
    }

    /// Adds a family.
    ///
    /// # Errors
    /// `IllegalArgument` if the table has it, or its name is not legal.
    pub fn add_family(&mut self, family: ColumnFamilyDescriptor) -> Result<()> {
        family.check_name()?;
        if self.has_family(family.name()) {
            return Err(Error::illegal_argument(format!(
                "Family '{}' already exists so cannot be added",
                family.name_as_string()
            )));
        }
        self.set_family(family);
        Ok(())
    }

    /// Adds or replaces a family.
    pub fn set_family(&mut self, family: ColumnFamilyDescriptor) {
        self.families.insert(family.name().to_vec(), family);
    }

    /// Removes a family; returns whether it existed.
    pub fn remove_family(&mut self, name: &[u8]) -> bool {
        self.families.remove(name).is_some()
    }

    /// A setting of a family: its own, or else the table's (HBase's `createStoreConfiguration`).
    pub fn setting_of_family<'t>(
        &'t self,
        family: &'t ColumnFamilyDescriptor,
        key: &str,
    ) -> Option<&'t str> {
        [family.attributes(), family.configuration(), &self.attributes]
            .into_iter()
            .find_map(|settings| settings.get(key))
            .map(String::as_str)
    }

    /// Whether an attribute is `true`; `default` if it is not set.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.attributes.get(name).map_or(default, |value| value.eq_ignore_ascii_case("true"))
    }

    /// Whether writes are refused.
    pub fn is_read_only(&self) -> bool {
        self.flag("READONLY", false)
    }

    /// Whether regions may be split.
    pub fn is_split_enabled(&self) -> bool {
        self.flag("SPLIT_ENABLED", true)
    }

    /// Whether regions may be merged.
    pub fn is_merge_enabled(&self) -> bool {
        self.flag("MERGE_ENABLED", true)
    }

    /// Whether files are compacted automatically.
    pub fn is_compaction_enabled(&self) -> bool {
        self.flag("COMPACTION_ENABLED", true)
    }

    /// Durability of writes that do not specify one.
    pub fn durability(&self) -> Durability {
        self.attributes
            .get("DURABILITY")
            .and_then(|name| Durability::from_name(name))
            .unwrap_or(Durability::UseDefault)
    }

    /// A number among the attributes, such as `MEMSTORE_FLUSHSIZE`.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.attributes.get(name).and_then(|value| value.parse().ok())
    }

    /// How many locations each region has (`REGION_REPLICATION`), from 1 to
    /// [`REGION_REPLICATION_MAX`].
    pub fn region_replication(&self) -> u16 {
        let max = i64::from(REGION_REPLICATION_MAX);
        self.number("REGION_REPLICATION").unwrap_or(1).clamp(1, max) as u16
    }

    /// The attributes as `describe` prints them: `, {TABLE_ATTRIBUTES => {…}}`, or nothing.
    pub fn attributes_to_string(&self) -> String {
        let is_reserved = |key: &str| RESERVED.contains(&key) || key.starts_with("coprocessor$");
        let mut reserved = Vec::new();
        let mut others = Vec::new();
        for (key, value) in &self.attributes {
            if key == "IS_META" && !value.eq_ignore_ascii_case("true") {
                continue;
            }
            if is_reserved(key) {
                reserved.push(format!("{key} => '{}'", format_attribute(key, value)));
            } else {
                others.push(format!("'{key}' => '{}'", to_string_binary(value.as_bytes())));
            }
        }
        if !others.is_empty() {
            reserved.push(format!("METADATA => {{{}}}", others.join(", ")));
        }
        if reserved.is_empty() {
            return String::new();
        }
        format!(", {{TABLE_ATTRIBUTES => {{{}}}}}", reserved.join(", "))
    }
}

fn format_attribute(key: &str, value: &str) -> String {
    match (key, value.parse()) {
        ("MAX_FILESIZE" | "MEMSTORE_FLUSHSIZE", Ok(bytes)) => format_bytes(bytes),
        _ => to_string_binary(value.as_bytes()),
    }
}

/// As `TableDescriptor.toString`.
impl fmt::Display for TableDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'{}", self.name, self.attributes_to_string())?;
        for family in self.families.values() {
            write!(f, ", {family}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_attributes_as_hbase_prints_them() {
        let mut table = TableDescriptor::new("t".parse().unwrap());
        table.set_attribute("MAX_FILESIZE", "1234567890").unwrap();
        table.set_attribute("custom", "x").unwrap();
        assert_eq!(
            table.to_string(),
            "'t', {TABLE_ATTRIBUTES => {MAX_FILESIZE => '1234567890 B (1GB 153MB 384KB 722B)', \
             METADATA => {'custom' => 'x', 'hbase.store.file-tracker.impl' => 'DEFAULT'}}}"
        );
    }
}
