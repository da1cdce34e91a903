//! Creates, changes and lists tables.

use hblite_model::{
    Error, Exception, FlushRequest, Result, SplitPoints, SystemTables, TableDescriptor, TableName,
    TableState,
};
use hblite_wire::convert;
use hblite_wire::memory::table_request_bytes;
use hblite_wire::{RemoteException, pb};
use regex::Regex;

use super::{Method, failed_procedure, nonce, procedure};
use crate::cluster::Cluster;
use crate::rpc::call::{Answer, Call};

/// The store file tracker, which every new table specifies.
pub(super) const FILE_TRACKER: &str = "hbase.store.file-tracker.impl";
const DEFAULT_FILE_TRACKER: &str = "DEFAULT";
const FILE_TRACKERS: [&str; 2] = [DEFAULT_FILE_TRACKER, "FILE"];

pub(super) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "CreateTable" => create,
        "DeleteTable" => {
            |c, call| change(c, call, |c, table| c.engine.procedures().drop_table(table))
        }
        "EnableTable" => {
            |c, call| change(c, call, |c, table| c.engine.procedures().enable_table(table))
        }
        "DisableTable" => {
            |c, call| change(c, call, |c, table| c.engine.procedures().disable_table(table))
        }
        "truncateTable" => truncate,
        "ModifyTable" => modify,
        "AddColumn" => |c, call| change_family(c, call, true),
        "ModifyColumn" => |c, call| change_family(c, call, false),
        "DeleteColumn" => delete_family,
        "FlushTable" => flush,
        "ModifyTableStoreFileTracker" => modify_table_tracker,
        "ModifyColumnStoreFileTracker" => modify_family_tracker,
        "GetTableDescriptors" => describe,
        "GetTableNames" => list,
        "ListTableDescriptorsByState" => describe_by_state,
        "ListTableNamesByState" => list_by_state,
        "GetTableState" => state,
        "GetSchemaAlterStatus" => alter_status,
        _ => return None,
    })
}

fn create(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let mut request: pb::CreateTableRequest = call.parameter()?;
    let families = request.table_schema.column_families.len();
    call.hold_more(table_request_bytes(families, request.split_keys.len()))?;
    for family in &mut request.table_schema.column_families {
        complete(cluster, family);
    }
    let mut table = convert::table_schema_from(&request.table_schema)?;
    if !table.attributes().contains_key(FILE_TRACKER) {
        table.set_attribute(FILE_TRACKER, DEFAULT_FILE_TRACKER)?;
    }
    let keys: Vec<Vec<u8>> = request.split_keys.iter().map(|key| key.to_vec()).collect();
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        cluster.engine.procedures().create_table(&table, &keys)
    })
}

/// A new family whose request names no number of versions keeps as many as the cluster's default.
fn complete(cluster: &Cluster, family: &mut pb::ColumnFamilySchema) {
    const VERSIONS: &str = "VERSIONS";
    if !family.attributes.iter().any(|pair| pair.first == VERSIONS) {
        let versions = cluster.options.family_versions.to_string();
        let pair = pb::BytesBytesPair { first: VERSIONS.into(), second: versions.into() };
        family.attributes.push(pair);
    }
}

fn change(
    cluster: &Cluster,
    call: &Call<'_>,
    work: fn(&Cluster, &TableName) -> Result<()>,
) -> Answer {
    let request: pb::TableRequest = call.parameter()?;
    let table = convert::table_name_from(&request.table_name)?;
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || work(cluster, &table))
}

fn truncate(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::TruncateTableRequest = call.parameter()?;
    let table = convert::table_name_from(&request.table_name)?;
    let splits = match request.preserve_splits {
        Some(true) => SplitPoints::Preserve,
        _ => SplitPoints::Discard,
    };
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        cluster.engine.procedures().truncate_table(&table, splits)
    })
}

fn modify(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::ModifyTableRequest = call.parameter()?;
    call.hold_more(table_request_bytes(request.table_schema.column_families.len(), 0))?;
    let name = convert::table_name_from(&request.table_name)?;
    if name.is_meta() {
        // Clients would retry after the store's own refusal.
        return Err(RemoteException::unsupported("changing the settings of hbase:meta"));
    }
    let table = convert::table_schema_from(&request.table_schema)?.with_name(name);
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        cluster.engine.procedures().modify_table(&table)
    })
}

fn change_family(cluster: &Cluster, call: &Call<'_>, is_new: bool) -> Answer {
    let mut request: pb::ColumnRequest = call.parameter()?;
    if is_new {
        complete(cluster, &mut request.column_families);
    }
    let table = convert::table_name_from(&request.table_name)?;
    let family = convert::family_from(&request.column_families);
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || match is_new {
        true => cluster.engine.procedures().add_family(&table, &family),
        false => cluster.engine.procedures().modify_family(&table, &family),
    })
}

fn delete_family(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::DeleteColumnRequest = call.parameter()?;
    let table = convert::table_name_from(&request.table_name)?;
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        cluster.engine.procedures().delete_family(&table, &request.column_name)
    })
}

fn flush(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::FlushTableRequest = call.parameter()?;
    let table = convert::table_name_from(&request.table_name)?;
    let families = &request.column_family;
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        let request = FlushRequest::table(&table);
        if families.is_empty() {
            return cluster.engine.flush(request);
        }
        families.iter().try_for_each(|f| cluster.engine.flush(request.clone().with_family(f)))
    })
}

fn modify_table_tracker(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::ModifyTableStoreFileTrackerRequest = call.parameter()?;
    let name = convert::table_name_from(&request.table_name)?;
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        check_not_blank(&request.dst_sft)?;
        cluster.engine.procedures().modify_file_tracker(&name, None, &request.dst_sft)
    })
}

fn modify_family_tracker(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::ModifyColumnStoreFileTrackerRequest = call.parameter()?;
    let name = convert::table_name_from(&request.table_name)?;
    let mut absent = None;
    let answer = procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        check_not_blank(&request.dst_sft)?;
        let family = Some(request.family.as_ref());
        let done = cluster.engine.procedures().modify_file_tracker(&name, family, &request.dst_sft);
        done.inspect_err(|error| {
            absent = (error.exception() == Exception::NoSuchColumnFamily).then(|| error.clone());
        })
    });
    match absent {
        Some(absent) => failed_procedure(cluster, call, absent),
        None => answer,
    }
}

fn check_not_blank(tracker: &str) -> Result<()> {
    if tracker.trim().is_empty() {
        return Err(Error::do_not_retry(
            "The destination store file tracker implementation is blank",
        ));
    }
    Ok(())
}

pub(super) fn check_file_tracker(name: &str) -> Result<()> {
    check_not_blank(name)?;
    if !FILE_TRACKERS.contains(&name.to_uppercase().as_str()) {
        return Err(Error::do_not_retry(format!("Unable to find store file tracker {name}")));
    }
    Ok(())
}

/// Tables in the order of `TreeMap`s of names: as HBase lists them.
fn wanted_tables(
    cluster: &Cluster,
    regex: Option<&str>,
    includes_system: Option<bool>,
    namespace: Option<&str>,
) -> Result<Vec<TableDescriptor>> {
    let namespace = namespace.filter(|namespace| !namespace.is_empty());
    if let Some(namespace) = namespace {
        cluster.engine.catalog().namespace(namespace)?;
    }
    let system = match includes_system {
        Some(true) => SystemTables::Include,
        _ => SystemTables::Exclude,
    };
    let mut tables = cluster.engine.catalog().list_tables(system);
    tables.retain(|table| namespace.is_none_or(|namespace| table.name().namespace() == namespace));
    retain_matches(&mut tables, regex)?;
    Ok(tables)
}

/// Keeps the tables that a pattern matches. An empty pattern matches none; only a request without
/// one means all tables.
fn retain_matches(tables: &mut Vec<TableDescriptor>, regex: Option<&str>) -> Result<()> {
    let Some(regex) = regex.map(pattern).transpose()? else { return Ok(()) };
    tables.retain(|table| is_match(&regex, table.name()));
    Ok(())
}

/// A regular expression over whole names.
fn pattern(text: &str) -> Result<Regex> {
    Regex::new(&format!("^(?:{text})$")).map_err(|error| {
        Error::new(Exception::PatternSyntax, format!("{text}: {error}")).with_source(error)
    })
}

/// Names of the default namespace are matched with and without it (`MasterServices`).
fn is_match(regex: &Regex, name: &TableName) -> bool {
    let is_default = name.namespace() == hblite_model::name::DEFAULT_NAMESPACE;
    regex.is_match(&name.to_string())
        || (is_default && regex.is_match(&format!("{}:{}", name.namespace(), name.qualifier())))
}

fn describe(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::GetTableDescriptorsRequest = call.parameter()?;
    if request.table_names.is_empty() {
        let tables = wanted_tables(
            cluster,
            request.regex.as_deref(),
            request.include_sys_tables,
            request.namespace.as_deref(),
        )?;
        return answer_descriptors(call, &tables);
    }
    let mut tables = Vec::new();
    for name in &request.table_names {
        // Missing tables are left out.
        let table = cluster.engine.catalog().descriptor(&convert::table_name_from(name)?);
        tables.extend(table.map(|table| table.as_ref().clone()));
    }
    retain_matches(&mut tables, request.regex.as_deref())?;
    answer_descriptors(call, &tables)
}

fn answer_descriptors(call: &Call<'_>, tables: &[TableDescriptor]) -> Answer {
    let table_schema = tables.iter().map(convert::table_schema).collect();
    call.answer(&pb::TableDescriptorsResponse { table_schema })
}

fn answer_names(call: &Call<'_>, tables: &[TableDescriptor]) -> Answer {
    let table_names = tables.iter().map(|table| convert::table_name(table.name())).collect();
    call.answer(&pb::TableNamesResponse { table_names })
}

fn list(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::GetTableNamesRequest = call.parameter()?;
    let tables = wanted_tables(
        cluster,
        request.regex.as_deref(),
        request.include_sys_tables,
        request.namespace.as_deref(),
    )?;
    answer_names(call, &tables)
}

fn tables_by_state(
    cluster: &Cluster,
    call: &Call<'_>,
) -> std::result::Result<Vec<TableDescriptor>, RemoteException> {
    let request: pb::TablesByStateRequest = call.parameter()?;
    let wanted = if request.is_enabled { TableState::Enabled } else { TableState::Disabled };
    let mut tables = cluster.engine.catalog().list_tables(SystemTables::Exclude);
    tables.retain(|table| {
        let state = cluster.engine.catalog().table_state(table.name());
        state.is_ok_and(|state| state == wanted)
    });
    Ok(tables)
}

fn describe_by_state(cluster: &Cluster, call: &Call<'_>) -> Answer {
    answer_descriptors(call, &tables_by_state(cluster, call)?)
}

fn list_by_state(cluster: &Cluster, call: &Call<'_>) -> Answer {
    answer_names(call, &tables_by_state(cluster, call)?)
}

fn state(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::GetTableStateRequest = call.parameter()?;
    let table = convert::table_name_from(&request.table_name)?;
    let state =
        cluster.engine.catalog().table_state(&table).map_err(|error| match error.exception() {
            Exception::TableNotFound => {
                Error::new(Exception::TableNotFound, format!("No state found for {table}"))
            }
            _ => error,
        })?;
    let state = pb::TableState { state: i32::try_from(state.code()).unwrap_or(0) };
    call.answer(&pb::GetTableStateResponse { table_state: state })
}

/// A change is complete when it is answered.
fn alter_status(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::GetSchemaAlterStatusRequest = call.parameter()?;
    let table = convert::table_name_from(&request.table_name)?;
    let catalog = cluster.engine.catalog();
    let replicas = match catalog.table_state(&table) {
        Ok(TableState::Enabled) => catalog.descriptor(&table)?.region_replication(),
        _ => 0,
    };
    let count = catalog.region_infos(&table).len() * usize::from(replicas);
    call.answer(&pb::GetSchemaAlterStatusResponse {
        yet_to_update_regions: Some(0),
        total_regions: Some(u32::try_from(count).unwrap_or(u32::MAX)),
    })
}
