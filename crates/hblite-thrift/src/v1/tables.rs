//! Tables and regions.

use hblite_model::bytes::to_string_binary;
use hblite_model::{
    BloomType, ColumnFamilyDescriptor, CompactRequest, Compression, Error, ErrorKind, Exception,
    RegionInfo, Result, Scan, SystemTables, TableDescriptor, TableName,
};

use super::Text;
use super::types::{ColumnDescriptor, TRegionInfo, Texts};
use crate::fault::{Answer, Fault};
use crate::protocol::wire::{List, Map};
use crate::requests::Requests;
use crate::store::{parse_column, table_name};

/// `TThriftServerType.ONE`.
pub(super) fn server_type(_: &Requests) -> Answer<i32> {
    Ok(1)
}

/// `ThriftHBaseServiceHandler.HREGION_VERSION`.
const REGION_VERSION: i8 = 1;
const CATALOG_FAMILY: &[u8] = b"info";
const REGION_INFO_QUALIFIER: &[u8] = b"regioninfo";

pub(super) fn enable_table(store: &Requests, table: Text) -> Answer<()> {
    store.admin().enable_table(table_name(&table)?).map_err(Fault::of_master)
}

pub(super) fn disable_table(store: &Requests, table: Text) -> Answer<()> {
    store.admin().disable_table(table_name(&table)?).map_err(Fault::of_master)
}

pub(super) fn is_table_enabled(store: &Requests, table: Text) -> Answer<bool> {
    Ok(store.admin().is_table_enabled(table_name(&table)?)?)
}

/// HBase's gateway does the same for `compact` and `majorCompact`.
pub(super) fn compact(store: &Requests, table_or_region: Text) -> Answer<()> {
    let admin = store.admin();
    let region = String::from_utf8_lossy(&table_or_region).into_owned();
    match admin.compact(&CompactRequest::region(region)) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(admin.compact_table(table_name(&table_or_region)?)?)
        }
        result => Ok(result?),
    }
}

pub(super) fn table_names(store: &Requests) -> Answer<Texts> {
    let names = user_tables(store)?.into_iter().map(|name| name.to_string().into_bytes());
    Ok(List(names.collect()))
}

pub(super) fn table_states(store: &Requests) -> Answer<Map<Text, bool>> {
    let mut states = Vec::new();
    for name in user_tables(store)? {
        let is_enabled = store.admin().is_table_enabled(&name)?;
        states.push((name.to_string().into_bytes(), is_enabled));
    }
    Ok(Map(states))
}

fn user_tables(store: &Requests) -> Result<Vec<TableName>> {
    let tables = store.admin().list_tables(SystemTables::Exclude)?;
    Ok(tables.iter().map(|table| table.name().clone()).collect())
}

pub(super) fn column_descriptors(
    store: &Requests,
    table: Text,
) -> Answer<Map<Text, ColumnDescriptor>> {
    let table = store.table(&table)?.descriptor()?;
    let families = table.families().map(column_descriptor);
    Ok(Map(families.map(|family| (family.name.clone().unwrap_or_default(), family)).collect()))
}

pub(super) fn table_regions(store: &Requests, table: Text) -> Answer<List<TRegionInfo>> {
    match store.table(&table)?.regions() {
        Ok(regions) => {
            let described = regions.iter().map(|region| describe(store, region));
            Ok(List(described.collect::<Result<_>>()?))
        }
        Err(error) if error.exception() == Exception::TableNotFound => Ok(List::default()),
        Err(error) => Err(error.into()),
    }
}

fn describe(store: &Requests, region: &RegionInfo) -> Result<TRegionInfo> {
    let (host, port) = store.server_of(region)?;
    Ok(TRegionInfo {
        start_key: region.start_key().to_vec(),
        end_key: region.end_key().to_vec(),
        id: i64::try_from(region.region_id()).unwrap_or(i64::MAX),
        name: region.region_name(),
        version: REGION_VERSION,
        server_name: Some(host.into_bytes()),
        port: i32::from(port),
    })
}

/// The region whose row in hbase:meta is this one, or the last before it.
pub(super) fn region_info(store: &Requests, row: Text) -> Answer<TRegionInfo> {
    let meta = store.table(TableName::meta().to_string().as_bytes())?;
    let scan = Scan::new().with_start_row(&row).with_reversed(true).with_family(CATALOG_FAMILY);
    let mut scanner = meta.scan(&scan.with_limit(1))?;
    let text = to_string_binary(&row);
    let Some(found) = scanner.next_row()? else {
        return Err(Fault::io(&format!("Cannot find row in hbase:meta, row={text}")));
    };
    let region = found.value(CATALOG_FAMILY, REGION_INFO_QUALIFIER);
    match region.and_then(RegionInfo::from_bytes) {
        Some(region) => Ok(describe(store, &region)?),
        None => Err(Fault::io(&format!(
            "RegionInfo REGIONINFO was null or  empty in Meta for row={text}"
        ))),
    }
}

pub(super) fn create_table(
    store: &Requests,
    table: Text,
    families: List<ColumnDescriptor>,
) -> Answer<()> {
    let name = table_name(&table)?;
    let admin = store.admin();
    if admin.table_exists(&name)? {
        return Err(Fault::AlreadyExists("table name already in use".to_owned()));
    }
    Fault::unless_held(store.allowance.try_hold_table(families.0.len(), 0))?;
    let mut table = TableDescriptor::new(name);
    for family in &families.0 {
        if table.has_family(&family_name(family)) {
            let name = String::from_utf8_lossy(&family_name(family)).into_owned();
            let message = format!("Family '{name}' already exists so cannot be added");
            return Err(Fault::illegal_argument(&Error::illegal_argument(message)));
        }
        table = table.with_family(family_descriptor(family)?);
    }
    admin.create_table(&table).map_err(|error| match error.exception() {
        Exception::IllegalArgument => Fault::illegal_argument(&error),
        _ => Fault::of_master(error),
    })
}

pub(super) fn delete_table(store: &Requests, table: Text) -> Answer<()> {
    let name = table_name(&table)?;
    let admin = store.admin();
    if !admin.table_exists(&name)? {
        return Err(Fault::io("table does not exist"));
    }
    admin.delete_table(&name).map_err(Fault::of_master)
}

fn family_name(family: &ColumnDescriptor) -> Vec<u8> {
    parse_column(family.name.as_deref().unwrap_or_default()).0.to_vec()
}

/// A family as a client describes it.
fn family_descriptor(family: &ColumnDescriptor) -> Answer<ColumnFamilyDescriptor> {
    let illegal = |message: String| Fault::illegal_argument(&Error::illegal_argument(message));
    let compression = family.compression.to_uppercase();
    if Compression::from_name(&compression).is_none() {
        let name = family.compression.to_lowercase();
        return Err(illegal(format!("Unsupported compression algorithm name: {name}")));
    }
    if !BloomType::NAMES.contains(&family.bloom_filter_type.as_str()) {
        let class = "org.apache.hadoop.hbase.regionserver.BloomType";
        return Err(illegal(format!("No enum constant {class}.{}", family.bloom_filter_type)));
    }
    if family.name.as_ref().is_none_or(Vec::is_empty) {
        return Err(Fault::IllegalArgument("column name is empty".to_owned()));
    }
    let seconds = if family.time_to_live > 0 { family.time_to_live } else { i32::MAX };
    let mut descriptor = ColumnFamilyDescriptor::new(family_name(family));
    let attributes = [
        ("VERSIONS", family.max_versions.to_string()),
        ("COMPRESSION", compression),
        ("IN_MEMORY", family.in_memory.to_string()),
        ("BLOCKCACHE", family.block_cache_enabled.to_string()),
        ("TTL", seconds.to_string()),
        ("BLOOMFILTER", family.bloom_filter_type.clone()),
    ];
    for (name, value) in attributes {
        let set = descriptor.set_attribute(name, &value);
        set.map_err(|error| Fault::illegal_argument(&error))?;
    }
    Ok(descriptor)
}

/// A family as a client sees it.
fn column_descriptor(family: &ColumnFamilyDescriptor) -> ColumnDescriptor {
    let time_to_live = i32::try_from(family.time_to_live_seconds()).unwrap_or(i32::MAX);
    ColumnDescriptor {
        name: Some([family.name(), b":"].concat()),
        max_versions: i32::try_from(family.versions()).unwrap_or(i32::MAX),
        compression: family.compression().name().to_owned(),
        in_memory: family.is_in_memory(),
        bloom_filter_type: family.bloom().name().to_owned(),
        block_cache_enabled: family.is_block_cache_enabled(),
        time_to_live,
        ..ColumnDescriptor::default()
    }
}
