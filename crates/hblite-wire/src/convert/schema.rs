//! Descriptors of tables, families and namespaces.

use std::collections::BTreeMap;

use bytes::Bytes;
use hblite_model::{ColumnFamilyDescriptor, Error, NamespaceDescriptor, Result, TableDescriptor};

use super::names::{table_name, table_name_from};
use crate::pb;

/// The attribute that distinguishes hbase:meta from other tables; every schema on the wire has it.
const IS_META: &str = "IS_META";

fn text(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn pair(key: &str, value: &str) -> pb::BytesBytesPair {
    let bytes = |text: &str| Bytes::from(text.to_owned().into_bytes());
    pb::BytesBytesPair { first: bytes(key), second: bytes(value) }
}

fn name_pair((name, value): (&String, &String)) -> pb::NameStringPair {
    pb::NameStringPair { name: name.clone(), value: value.clone() }
}

fn attributes(pairs: &[pb::BytesBytesPair]) -> BTreeMap<String, String> {
    pairs.iter().map(|pair| (text(&pair.first), text(&pair.second))).collect()
}

/// The table as a message.
pub fn table_schema(table: &TableDescriptor) -> pb::TableSchema {
    let mut attributes = table.attributes().clone();
    attributes.insert(IS_META.to_owned(), table.name().is_meta().to_string());
    pb::TableSchema {
        table_name: Some(table_name(table.name())),
        attributes: attributes.iter().map(|(key, value)| pair(key, value)).collect(),
        column_families: table.families().map(family).collect(),
        configuration: Vec::new(),
    }
}

/// The table in a message.
///
/// # Errors
/// `IllegalArgument` if a name is not legal, `DoNotRetryIo` if there is none.
pub fn table_schema_from(message: &pb::TableSchema) -> Result<TableDescriptor> {
    let name = message.table_name.as_ref();
    let name = name.ok_or_else(|| Error::do_not_retry("a table schema without a name"))?;
    let name = table_name_from(name)?;
    let mut attributes = attributes(&message.attributes);
    for pair in &message.configuration {
        attributes.insert(pair.name.clone(), pair.value.clone());
    }
    if !name.is_meta() {
        attributes.remove(IS_META);
    }
    let families = message.column_families.iter().map(family_from);
    Ok(TableDescriptor::from_parts(name, attributes, families))
}

/// The family as a message.
pub fn family(family: &ColumnFamilyDescriptor) -> pb::ColumnFamilySchema {
    let attributes = family.attributes().iter();
    pb::ColumnFamilySchema {
        name: Bytes::copy_from_slice(family.name()),
        attributes: attributes.map(|(key, value)| pair(key, value)).collect(),
        configuration: family.configuration().iter().map(name_pair).collect(),
    }
}

/// The family in a message. Missing settings have their defaults.
pub fn family_from(message: &pb::ColumnFamilySchema) -> ColumnFamilyDescriptor {
    let configuration = message.configuration.iter();
    let configuration = configuration.map(|pair| (pair.name.clone(), pair.value.clone()));
    let name = message.name.to_vec();
    let mut all = ColumnFamilyDescriptor::new(&name).attributes().clone();
    all.extend(attributes(&message.attributes));
    ColumnFamilyDescriptor::from_parts(name, all, configuration.collect())
}

/// The namespace as a message.
pub fn namespace(namespace: &NamespaceDescriptor) -> pb::NamespaceDescriptor {
    pb::NamespaceDescriptor {
        name: namespace.name.clone().into_bytes().into(),
        configuration: namespace.properties.iter().map(name_pair).collect(),
    }
}

/// The namespace in a message.
pub fn namespace_from(message: &pb::NamespaceDescriptor) -> NamespaceDescriptor {
    let mut namespace = NamespaceDescriptor::new(&text(&message.name));
    for pair in &message.configuration {
        namespace.properties.insert(pair.name.clone(), pair.value.clone());
    }
    namespace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_settings_come_back() {
        let mut table = TableDescriptor::new("n:t".parse().unwrap())
            .with_family(ColumnFamilyDescriptor::new("f").with_versions(3));
        table.set_attribute("my key", "my value").unwrap();
        let message = table_schema(&table);
        assert!(message.attributes.contains(&pair("IS_META", "false")));
        assert_eq!(table_schema_from(&message).unwrap(), table);
    }

    #[test]
    fn a_family_that_says_little_has_defaults() {
        let message = pb::ColumnFamilySchema { name: "f".into(), ..Default::default() };
        assert_eq!(family_from(&message), ColumnFamilyDescriptor::new("f"));
    }
}
