//! Tables, families, namespaces and their names, from and to the structs of Thrift 2.

use std::collections::BTreeMap;

use hblite_model::{
    BloomType, ColumnFamilyDescriptor, Compression, DataBlockEncoding, Error, KeepDeletedCells,
    NamespaceDescriptor, Result, TableDescriptor, TableName,
};

use super::convert::{durability, durability_number};
use super::types::{TColumnFamilyDescriptor, TNamespaceDescriptor, TTableDescriptor, TTableName};
use crate::protocol::wire::{List, Map};

/// The name at this position of the list. HBase's Thrift numbers Bloom filters and the like in the
/// order of their names; an unknown number means the default.
fn name_at(names: &[&'static str], number: u64, default: &'static str) -> &'static str {
    usize::try_from(number).ok().and_then(|at| names.get(at)).copied().unwrap_or(default)
}

fn place_of(names: &[&str], name: &str) -> Option<i32> {
    names.iter().zip(0..).find(|(known, _)| **known == name).map(|(_, place)| place)
}

fn text(bytes: &[u8]) -> Result<&str> {
    let failed = |_| Error::illegal_argument("a name or setting is not UTF-8");
    std::str::from_utf8(bytes).map_err(failed)
}

/// Without a namespace, or with an empty one, the table is in `default`.
pub(super) fn table_name(name: &TTableName) -> Result<TableName> {
    let namespace = name.ns.as_deref().filter(|namespace| !namespace.is_empty());
    TableName::new(text(namespace.unwrap_or(b"default"))?, text(&name.qualifier)?)
}

pub(super) fn to_table_name(name: &TableName) -> TTableName {
    TTableName {
        ns: Some(name.namespace().as_bytes().to_vec()),
        qualifier: name.qualifier().as_bytes().to_vec(),
    }
}

/// # Errors
/// `IllegalArgument` for a setting that HBase refuses.
pub(super) fn table(wanted: &TTableDescriptor) -> Result<TableDescriptor> {
    let mut table = TableDescriptor::new(table_name(&wanted.table_name)?);
    let no_columns = || Error::new(hblite_model::Exception::NullPointer, "no columns");
    for column in &wanted.columns.as_ref().ok_or_else(no_columns)?.0 {
        table.set_family(family(column)?);
    }
    for (name, value) in table_attributes(wanted)? {
        table.set_attribute(&name, &value)?;
    }
    Ok(table)
}

/// The attributes that a request names, durability included.
pub(super) fn table_attributes(wanted: &TTableDescriptor) -> Result<BTreeMap<String, String>> {
    let mut attributes = BTreeMap::new();
    for (name, value) in wanted.attributes.iter().flat_map(|attributes| &attributes.0) {
        attributes.insert(text(name)?.to_owned(), text(value)?.to_owned());
    }
    if wanted.durability.is_some() {
        let name = durability(wanted.durability).name();
        attributes.insert("DURABILITY".to_owned(), name.to_owned());
    }
    Ok(attributes)
}

pub(super) fn to_table(table: &TableDescriptor) -> TTableDescriptor {
    let mut attributes = table.attributes().clone();
    attributes.insert("IS_META".to_owned(), table.name().is_meta().to_string());
    TTableDescriptor {
        table_name: to_table_name(table.name()),
        columns: unless_empty(table.families().map(to_family).collect()).map(List),
        attributes: bytes_map(&attributes),
        durability: durability_number(table.durability()),
    }
}

/// # Errors
/// `IllegalArgument` for a setting that HBase refuses.
pub(super) fn family(wanted: &TColumnFamilyDescriptor) -> Result<ColumnFamilyDescriptor> {
    let mut family = ColumnFamilyDescriptor::new(&wanted.name);
    family.check_name()?;
    for (name, value) in wanted.attributes.iter().flat_map(|attributes| &attributes.0) {
        family.set_attribute(text(name)?, text(value)?)?;
    }
    for (name, value) in wanted.configuration.iter().flat_map(|settings| &settings.0) {
        family.set_configuration(name, value);
    }
    let number = |number: Option<i32>| number.map(|number| number.to_string());
    let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string());
    let named = |number: Option<i32>, name: fn(u64) -> &'static str| {
        number.map(|number| name(u64::try_from(number).unwrap_or(u64::MAX)).to_owned())
    };
    let bloom = |number| name_at(BloomType::NAMES, number, BloomType::Row.name());
    let keep = |number| name_at(KeepDeletedCells::NAMES, number, KeepDeletedCells::False.name());
    // In Thrift these have the numbers that they have in files.
    let compression = |number| Compression::from_number(number).unwrap_or(Compression::None).name();
    let encoding =
        |number| DataBlockEncoding::from_number(number).unwrap_or(DataBlockEncoding::None).name();
    let settings = [
        ("BLOCKSIZE", number(wanted.block_size)),
        ("BLOOMFILTER", named(wanted.bloom_filter_type, bloom)),
        ("COMPRESSION", named(wanted.compression_type, compression)),
        ("DFS_REPLICATION", number(wanted.dfs_replication.map(i32::from))),
        ("DATA_BLOCK_ENCODING", named(wanted.data_block_encoding, encoding)),
        ("KEEP_DELETED_CELLS", named(wanted.keep_deleted_cells, keep)),
        ("VERSIONS", number(wanted.max_versions)),
        ("MIN_VERSIONS", number(wanted.min_versions)),
        ("REPLICATION_SCOPE", number(wanted.scope)),
        ("TTL", number(wanted.time_to_live)),
        ("BLOCKCACHE", flag(wanted.block_cache_enabled)),
        ("CACHE_BLOOMS_ON_WRITE", flag(wanted.cache_blooms_on_write)),
        ("CACHE_DATA_ON_WRITE", flag(wanted.cache_data_on_write)),
        ("CACHE_INDEX_ON_WRITE", flag(wanted.cache_indexes_on_write)),
        ("COMPRESS_TAGS", flag(wanted.compress_tags)),
        ("EVICT_BLOCKS_ON_CLOSE", flag(wanted.evict_blocks_on_close)),
        ("IN_MEMORY", flag(wanted.in_memory)),
    ];
    for (name, value) in settings {
        if let Some(value) = value {
            family.set_attribute(name, &value)?;
        }
    }
    Ok(family)
}

fn to_family(family: &ColumnFamilyDescriptor) -> TColumnFamilyDescriptor {
    let clamped = |number: i64| i32::try_from(number).unwrap_or(i32::MAX);
    let flag = |name: &str, default| {
        let value = family.attributes().get(name);
        value.map_or(default, |value| value.eq_ignore_ascii_case("true"))
    };
    let settings = family.configuration();
    let replication = family.attributes().get("DFS_REPLICATION");
    TColumnFamilyDescriptor {
        name: family.name().to_vec(),
        attributes: bytes_map(family.attributes()),
        configuration: text_map(settings),
        block_size: Some(clamped(family.block_size())),
        bloom_filter_type: place_of(BloomType::NAMES, family.bloom().name()),
        compression_type: Some(family.compression().number().into()),
        dfs_replication: Some(replication.and_then(|number| number.parse().ok()).unwrap_or(0)),
        data_block_encoding: Some(family.data_block_encoding().number().into()),
        keep_deleted_cells: place_of(KeepDeletedCells::NAMES, family.keep_deleted_cells().name()),
        max_versions: Some(clamped(i64::from(family.versions()))),
        min_versions: Some(clamped(i64::from(family.min_versions()))),
        scope: Some(clamped(family.replication_scope())),
        time_to_live: Some(clamped(family.time_to_live_seconds())),
        block_cache_enabled: Some(family.is_block_cache_enabled()),
        cache_blooms_on_write: Some(flag("CACHE_BLOOMS_ON_WRITE", false)),
        cache_data_on_write: Some(family.caches_data_on_write()),
        cache_indexes_on_write: Some(flag("CACHE_INDEX_ON_WRITE", false)),
        compress_tags: Some(flag("COMPRESS_TAGS", true)),
        evict_blocks_on_close: Some(flag("EVICT_BLOCKS_ON_CLOSE", false)),
        in_memory: Some(family.is_in_memory()),
    }
}

pub(super) fn namespace(wanted: &TNamespaceDescriptor) -> NamespaceDescriptor {
    let properties = wanted.configuration.iter().flat_map(|settings| &settings.0);
    let namespace = NamespaceDescriptor::new(&wanted.name);
    properties.fold(namespace, |namespace, (key, value)| namespace.with_property(key, value))
}

pub(super) fn to_namespace(namespace: &NamespaceDescriptor) -> TNamespaceDescriptor {
    let configuration = text_map(&namespace.properties);
    TNamespaceDescriptor { name: namespace.name.clone(), configuration }
}

/// HBase's gateway leaves empty lists and maps out.
fn unless_empty<T>(values: Vec<T>) -> Option<Vec<T>> {
    (!values.is_empty()).then_some(values)
}

fn bytes_map(map: &BTreeMap<String, String>) -> Option<Map<Vec<u8>, Vec<u8>>> {
    let bytes = |text: &String| text.as_bytes().to_vec();
    unless_empty(map.iter().map(|(key, value)| (bytes(key), bytes(value))).collect()).map(Map)
}

fn text_map(map: &BTreeMap<String, String>) -> Option<Map<String, String>> {
    unless_empty(map.iter().map(|(key, value)| (key.clone(), value.clone())).collect()).map(Map)
}
