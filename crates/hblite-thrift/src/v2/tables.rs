//! Tables, regions and namespaces.

use hblite_model::{
    Error, Exception, RegionInfo, Result, SplitPoints, SystemTables, TableDescriptor, TableName,
};
use regex::Regex;

use super::types::{
    TColumnFamilyDescriptor, THRegionInfo, THRegionLocation, TLogQueryFilter, TNamespaceDescriptor,
    TOnlineLogRecord, TServerName, TTableDescriptor, TTableName,
};
use super::{Bytes, schema};
use crate::fault::{Answer, Fault};
use crate::protocol::wire::{List, Set};
use crate::requests::Requests;
use crate::store::table_name;

/// `TThriftServerType.TWO`.
pub(super) fn server_type(_: &Requests) -> Answer<i32> {
    Ok(2)
}

pub(super) fn region_location(
    store: &Requests,
    table: Bytes,
    row: Bytes,
    _reload: bool,
) -> Answer<THRegionLocation> {
    let location = store.admin().locate_region(table_name(&table)?, &row)?;
    Ok(location_of(store, &location.region)?)
}

pub(super) fn region_locations(store: &Requests, table: Bytes) -> Answer<List<THRegionLocation>> {
    let regions = store.table(&table)?.regions()?;
    let locations = regions.iter().map(|region| location_of(store, region));
    Ok(List(locations.collect::<Result<_>>()?))
}

fn location_of(store: &Requests, region: &RegionInfo) -> Result<THRegionLocation> {
    let (host, port) = store.server_of(region)?;
    let server_name = TServerName {
        host_name: host,
        port: Some(i32::from(port)),
        start_code: Some(store.started_at_ms()),
    };
    let region_info = THRegionInfo {
        region_id: 0,
        table_name: region.table().to_string().into_bytes(),
        start_key: Some(region.start_key().to_vec()),
        end_key: Some(region.end_key().to_vec()),
        offline: Some(false),
        split: Some(false),
        replica_id: Some(0),
    };
    Ok(THRegionLocation { server_name, region_info })
}

pub(super) fn table_descriptor(store: &Requests, table: TTableName) -> Answer<TTableDescriptor> {
    let table = schema::table_name(&table)?;
    Ok(schema::to_table(&store.admin().describe_table(&table)?))
}

/// Tables that do not exist are left out.
pub(super) fn table_descriptors(
    store: &Requests,
    tables: List<TTableName>,
) -> Answer<List<TTableDescriptor>> {
    let names: Result<Vec<_>> = tables.0.iter().map(schema::table_name).collect();
    let names = names?;
    if names.is_empty() {
        // The master takes an empty list for all tables of users.
        return descriptors_by_pattern(store, None, false);
    }
    let found = tables_where(store, SystemTables::Include, |name| names.contains(name))?;
    Ok(List(found.iter().map(schema::to_table).collect()))
}

pub(super) fn table_exists(store: &Requests, table: TTableName) -> Answer<bool> {
    Ok(store.admin().table_exists(schema::table_name(&table)?)?)
}

pub(super) fn descriptors_by_pattern(
    store: &Requests,
    pattern: Option<String>,
    system: bool,
) -> Answer<List<TTableDescriptor>> {
    let found = tables_matching(store, pattern.as_deref(), system)?;
    Ok(List(found.iter().map(schema::to_table).collect()))
}

pub(super) fn names_by_pattern(
    store: &Requests,
    pattern: Option<String>,
    system: bool,
) -> Answer<List<TTableName>> {
    let found = tables_matching(store, pattern.as_deref(), system)?;
    Ok(List(found.iter().map(|table| schema::to_table_name(table.name())).collect()))
}

pub(super) fn descriptors_by_namespace(
    store: &Requests,
    namespace: String,
) -> Answer<List<TTableDescriptor>> {
    let found = tables_of(store, &namespace)?;
    Ok(List(found.iter().map(schema::to_table).collect()))
}

pub(super) fn names_by_namespace(store: &Requests, namespace: String) -> Answer<List<TTableName>> {
    let found = tables_of(store, &namespace)?;
    Ok(List(found.iter().map(|table| schema::to_table_name(table.name())).collect()))
}

fn tables_of(store: &Requests, namespace: &str) -> Result<Vec<TableDescriptor>> {
    // An empty name is that of all, as in HBase.
    if namespace.is_empty() {
        return tables_where(store, SystemTables::Include, |_| true);
    }
    store.admin().describe_namespace(namespace)?;
    tables_where(store, SystemTables::Include, |name| name.namespace() == namespace)
}

/// Tables whose whole name a regular expression matches. Those of the default namespace match with
/// or without its name.
fn tables_matching(
    store: &Requests,
    pattern: Option<&str>,
    system: bool,
) -> Result<Vec<TableDescriptor>> {
    let system = if system { SystemTables::Include } else { SystemTables::Exclude };
    let Some(pattern) = pattern else { return tables_where(store, system, |_| true) };
    let regex = Regex::new(&format!("^(?:{pattern})$"))
        .map_err(|error| Error::new(Exception::PatternSyntax, error.to_string()))?;
    tables_where(store, system, |name| {
        regex.is_match(&name.to_string())
            || regex.is_match(&format!("{}:{}", name.namespace(), name.qualifier()))
    })
}

fn tables_where(
    store: &Requests,
    system: SystemTables,
    is_wanted: impl Fn(&TableName) -> bool,
) -> Result<Vec<TableDescriptor>> {
    let mut tables = store.admin().list_tables(system)?;
    tables.retain(|table| is_wanted(table.name()));
    Ok(tables)
}

pub(super) fn create_table(
    store: &Requests,
    table: TTableDescriptor,
    split_keys: Option<List<Bytes>>,
) -> Answer<()> {
    let split_keys = split_keys.unwrap_or_default().0;
    hold_table(store, &table, split_keys.len())?;
    let table = schema::table(&table)?;
    store.admin().create_table_with_splits(&table, &split_keys).map_err(Fault::of_master)
}

/// Charges the memory for carrying out a request that describes a table.
fn hold_table(store: &Requests, table: &TTableDescriptor, split_keys: usize) -> Answer<()> {
    let families = table.columns.as_ref().map_or(0, |columns| columns.0.len());
    Fault::unless_held(store.allowance.try_hold_table(families, split_keys))
}

pub(super) fn delete_table(store: &Requests, table: TTableName) -> Answer<()> {
    store.admin().delete_table(schema::table_name(&table)?).map_err(Fault::of_master)
}

pub(super) fn truncate_table(store: &Requests, table: TTableName, preserve: bool) -> Answer<()> {
    let splits = if preserve { SplitPoints::Preserve } else { SplitPoints::Discard };
    store.admin().truncate_table(schema::table_name(&table)?, splits).map_err(Fault::of_master)
}

pub(super) fn enable_table(store: &Requests, table: TTableName) -> Answer<()> {
    store.admin().enable_table(schema::table_name(&table)?).map_err(Fault::of_master)
}

pub(super) fn disable_table(store: &Requests, table: TTableName) -> Answer<()> {
    store.admin().disable_table(schema::table_name(&table)?).map_err(Fault::of_master)
}

pub(super) fn is_table_enabled(store: &Requests, table: TTableName) -> Answer<bool> {
    Ok(store.admin().is_table_enabled(schema::table_name(&table)?)?)
}

pub(super) fn is_table_disabled(store: &Requests, table: TTableName) -> Answer<bool> {
    Ok(store.admin().is_table_disabled(schema::table_name(&table)?)?)
}

pub(super) fn is_table_available(store: &Requests, table: TTableName) -> Answer<bool> {
    is_available(store, &table, None)
}

pub(super) fn is_table_available_with_split(
    store: &Requests,
    table: TTableName,
    split_keys: Option<List<Bytes>>,
) -> Answer<bool> {
    is_available(store, &table, split_keys.map(|keys| keys.0))
}

/// Whether the table is enabled and, if keys are given, split at them.
fn is_available(
    store: &Requests,
    table: &TTableName,
    split_keys: Option<Vec<Bytes>>,
) -> Answer<bool> {
    let table = schema::table_name(table)?;
    let admin = store.admin();
    if !admin.table_exists(&table)? || !admin.is_table_enabled(&table)? {
        return Ok(false);
    }
    let Some(keys) = split_keys else { return Ok(true) };
    let regions = admin.regions(&table)?;
    let is_start = |key: &Bytes| regions.iter().any(|region| region.start_key() == key);
    Ok(keys.iter().all(is_start))
}

pub(super) fn add_family(
    store: &Requests,
    table: TTableName,
    family: TColumnFamilyDescriptor,
) -> Answer<()> {
    let family = schema::family(&family)?;
    store.admin().add_family(schema::table_name(&table)?, &family).map_err(Fault::of_master)
}

pub(super) fn delete_family(store: &Requests, table: TTableName, family: Bytes) -> Answer<()> {
    store.admin().delete_family(schema::table_name(&table)?, &family).map_err(Fault::of_master)
}

pub(super) fn modify_family(
    store: &Requests,
    table: TTableName,
    family: TColumnFamilyDescriptor,
) -> Answer<()> {
    let family = schema::family(&family)?;
    store.admin().modify_family(schema::table_name(&table)?, &family).map_err(Fault::of_master)
}

pub(super) fn modify_table(store: &Requests, table: TTableDescriptor) -> Answer<()> {
    hold_table(store, &table, 0)?;
    // The new attributes are those of the request, and no others.
    let descriptor = schema::table(&table)?;
    let families = descriptor.families().cloned();
    let wanted = schema::table_attributes(&table)?;
    let descriptor = TableDescriptor::from_parts(descriptor.name().clone(), wanted, families);
    store.admin().modify_table(&descriptor).map_err(Fault::of_master)
}

pub(super) fn create_namespace(store: &Requests, namespace: TNamespaceDescriptor) -> Answer<()> {
    store.admin().create_namespace(&schema::namespace(&namespace)).map_err(Fault::of_master)
}

pub(super) fn modify_namespace(store: &Requests, namespace: TNamespaceDescriptor) -> Answer<()> {
    store.admin().modify_namespace(&schema::namespace(&namespace)).map_err(Fault::of_master)
}

pub(super) fn delete_namespace(store: &Requests, name: String) -> Answer<()> {
    store.admin().delete_namespace(&name).map_err(Fault::of_master)
}

pub(super) fn namespace(store: &Requests, name: String) -> Answer<TNamespaceDescriptor> {
    Ok(schema::to_namespace(&store.admin().describe_namespace(&name)?))
}

pub(super) fn namespaces(store: &Requests) -> Answer<List<TNamespaceDescriptor>> {
    let namespaces = store.admin().list_namespaces()?;
    Ok(List(namespaces.iter().map(schema::to_namespace).collect()))
}

pub(super) fn namespace_names(store: &Requests) -> Answer<List<String>> {
    let namespaces = store.admin().list_namespaces()?;
    Ok(List(namespaces.into_iter().map(|namespace| namespace.name).collect()))
}

/// No calls are recorded as slow.
pub(super) fn slow_calls(
    _: &Requests,
    _: Set<TServerName>,
    _: TLogQueryFilter,
) -> Answer<List<TOnlineLogRecord>> {
    Ok(List::default())
}

pub(super) fn clear_slow_calls(_: &Requests, servers: Set<TServerName>) -> Answer<List<bool>> {
    Ok(List(vec![true; servers.0.len()]))
}
