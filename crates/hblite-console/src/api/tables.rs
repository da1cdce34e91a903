//! Tables: the list, and one with its families and regions.

use std::collections::BTreeMap;

use hblite::bytes::to_string_binary;
use hblite::{RegionStatus, SystemTables, TableDescriptor, TableName};
use serde_json::{Value, json};

use super::overview::{RATE_SPAN_MS, rate_json};
use super::{Answer, Failure, Query};
use crate::state::State;
use crate::window::Load;

/// Tables in one answer.
const TABLES_MAX: usize = 5_000;
/// Regions in one answer.
const REGIONS_MAX: usize = 5_000;

#[derive(Default)]
struct Sums {
    regions: u64,
    memstore_bytes: u64,
    store_files: u64,
    store_file_bytes: u64,
    reads: u64,
    writes: u64,
    recent: Load,
}

pub(super) fn tables(state: &State) -> Answer {
    let admin = state.source.connection.admin();
    let descriptors = admin.list_tables(SystemTables::Include)?;
    let status = state.source.status()?;
    let history = state.recorder.history();
    let (recent, seconds) = history.recent(RATE_SPAN_MS);
    let mut sums: BTreeMap<&TableName, Sums> = BTreeMap::new();
    for region in &status.regions {
        let sum = sums.entry(region.region.table()).or_default();
        sum.regions += 1;
        sum.memstore_bytes += region.memstore_size_bytes;
        sum.store_files += region.store_file_count;
        sum.store_file_bytes += region.store_file_size_bytes;
        sum.reads += region.load.read_requests;
        sum.writes += region.load.write_requests;
        sum.recent.add(recent.get(region.region.encoded_name()).unwrap_or(&Load::default()));
    }
    let none = Sums::default();
    let json = |table: &TableDescriptor| {
        let sum = sums.get(table.name()).unwrap_or(&none);
        json!({
            "name": table.name().to_string(),
            "is_system": table.name().is_system(),
            "families": table.families().map(|family| family.name_as_string()).collect::<Value>(),
            // A table out of service has no region with counters.
            "is_in_service": sum.regions > 0,
            "regions": sum.regions,
            "memstore_bytes": sum.memstore_bytes,
            "store_files": sum.store_files,
            "store_file_bytes": sum.store_file_bytes,
            "read_requests": sum.reads,
            "write_requests": sum.writes,
            "rates": rate_json(&sum.recent, seconds),
        })
    };
    Ok(json!({
        "tables": descriptors.iter().take(TABLES_MAX).map(json).collect::<Value>(),
        "count": descriptors.len(),
    }))
}

pub(super) fn table(state: &State, query: &Query) -> Answer {
    let name: TableName = query.required("name")?.parse()?;
    let admin = state.source.connection.admin();
    let descriptor = match admin.describe_table(&name) {
        Ok(descriptor) => descriptor,
        Err(error) => return Err(Failure::new(http::StatusCode::NOT_FOUND, error.to_string())),
    };
    let table_state = admin.table_state(&name)?;
    let status = state.source.status()?;
    let history = state.recorder.history();
    let (recent, seconds) = history.recent(RATE_SPAN_MS);
    let mut regions: Vec<&RegionStatus> =
        status.regions.iter().filter(|region| *region.region.table() == name).collect();
    regions.sort_by(|left, right| left.region.start_key().cmp(right.region.start_key()));
    let json = |region: &&RegionStatus| {
        let (info, load) = (&region.region, &region.load);
        let recent = recent.get(info.encoded_name()).copied().unwrap_or_default();
        json!({
            "name": info.encoded_name(),
            "start_key": to_string_binary(info.start_key()),
            "end_key": to_string_binary(info.end_key()),
            "server": state.source.server_of(info),
            "memstore_bytes": region.memstore_size_bytes,
            "store_files": region.store_file_count,
            "store_file_bytes": region.store_file_size_bytes,
            "read_requests": load.read_requests,
            "write_requests": load.write_requests,
            "flushes": load.flushes,
            "compactions": load.compactions,
            "rates": rate_json(&recent, seconds),
        })
    };
    let servers = state.source.servers();
    Ok(json!({
        "name": name.to_string(),
        "state": table_state.name(),
        "is_system": name.is_system(),
        "attributes": descriptor.attributes(),
        "families": families(&descriptor),
        "servers": servers.iter().map(|server| &server.name).collect::<Vec<_>>(),
        "region_count": regions.len(),
        "regions": regions.iter().take(REGIONS_MAX).map(json).collect::<Value>(),
    }))
}

fn families(table: &TableDescriptor) -> Value {
    let json = |family: &hblite::ColumnFamilyDescriptor| {
        json!({
            "name": family.name_as_string(),
            "attributes": family.attributes(),
            "configuration": family.configuration(),
        })
    };
    table.families().map(json).collect()
}
