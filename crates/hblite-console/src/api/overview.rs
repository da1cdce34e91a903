//! The whole store or cluster: servers, memory, files, rates, calls.

use std::collections::{BTreeSet, HashMap};

use hblite::bytes::to_string_binary;
use hblite::{RegionStatus, StoreStatus};
use serde_json::{Value, json};

use super::Answer;
use crate::history::History;
use crate::source::Target;
use crate::state::State;
use crate::window::Load;

/// The period over which rates are averaged.
pub(super) const RATE_SPAN_MS: i64 = 30_000;
/// The period of the charts.
const SERIES_SPAN_MS: i64 = 3_600_000;
/// Regions in the list of the busiest.
const BUSIEST: usize = 8;
/// Damaged files in the list.
const DAMAGED_MAX: usize = 50;

pub(super) fn overview(state: &State) -> Answer {
    let source = &state.source;
    let status = source.status()?;
    let history = state.recorder.history();
    let (recent, seconds) = history.recent(RATE_SPAN_MS);
    let tables: BTreeSet<_> = status.regions.iter().map(|region| region.region.table()).collect();
    let user_tables = tables.iter().filter(|table| !table.is_system()).count();
    let sum = |of: fn(&RegionStatus) -> u64| status.regions.iter().map(of).sum::<u64>();
    Ok(json!({
        "mode": source.mode(),
        "name": source.name(),
        "version": env!("CARGO_PKG_VERSION"),
        "now_ms": source.connection.now_millis(),
        "started_at_ms": status.opened_at_ms,
        "tables": user_tables,
        "regions": status.regions.len(),
        "memstore_bytes": status.memstore_size_bytes,
        "store_files": sum(|region| region.store_file_count),
        "store_file_bytes": sum(|region| region.store_file_size_bytes),
        "flushes": sum(|region| region.load.flushes),
        "compactions": sum(|region| region.load.compactions),
        "rates": rate_json(&total(recent.values()), seconds),
        "servers": servers(state, &status, &recent, seconds),
        "busiest": busiest(&status, &recent, seconds),
        "series": series(&history),
        "calls": calls(state),
        "callers": super::callers::callers(&history, RATE_SPAN_MS, None),
        "last_error": status.last_error,
        "damaged": damaged(&status),
        "history_problem": state.recorder.problem(),
    }))
}

fn total<'l>(loads: impl Iterator<Item = &'l Load>) -> Load {
    let mut total = Load::default();
    loads.for_each(|load| total.add(load));
    total
}

/// Requests and bytes per second.
pub(super) fn rate_json(load: &Load, seconds: f64) -> Value {
    let rate = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    json!({
        "reads": rate(load.reads),
        "writes": rate(load.writes),
        "bytes_read": rate(load.bytes_read),
        "bytes_written": rate(load.bytes_written),
    })
}

fn servers(
    state: &State,
    status: &StoreStatus,
    recent: &HashMap<&str, Load>,
    seconds: f64,
) -> Value {
    let servers = state.source.servers();
    let mut sums = vec![(0, 0, 0, Load::default()); servers.len()];
    for region in &status.regions {
        let Some(server) = state.source.server_of(&region.region) else { continue };
        let Some(sum) = sums.get_mut(server) else { continue };
        sum.0 += 1;
        sum.1 += region.memstore_size_bytes;
        sum.2 += region.store_file_size_bytes;
        sum.3.add(recent.get(region.region.encoded_name()).unwrap_or(&Load::default()));
    }
    let json = |(server, (regions, memstore, files, load)): (crate::source::ServerName, _)| {
        let (regions, memstore, files): (u64, u64, u64) = (regions, memstore, files);
        json!({
            "name": server.name,
            "is_alive": server.is_alive,
            "regions": regions,
            "memstore_bytes": memstore,
            "store_file_bytes": files,
            "rates": rate_json(&load, seconds),
        })
    };
    servers.into_iter().zip(sums).map(json).collect()
}

/// The regions with the most recent requests.
fn busiest(status: &StoreStatus, recent: &HashMap<&str, Load>, seconds: f64) -> Value {
    let of = |region: &RegionStatus| recent.get(region.region.encoded_name()).copied();
    let mut busy: Vec<(&RegionStatus, Load)> =
        status.regions.iter().filter_map(|region| Some((region, of(region)?))).collect();
    busy.sort_by_key(|(_, load)| std::cmp::Reverse(load.reads + load.writes));
    let json = |(region, load): &(&RegionStatus, Load)| {
        json!({
            "table": region.region.table().to_string(),
            "region": region.region.encoded_name(),
            "start_key": to_string_binary(region.region.start_key()),
            "end_key": to_string_binary(region.region.end_key()),
            "rates": rate_json(load, seconds),
        })
    };
    busy.iter().take(BUSIEST).map(json).collect()
}

/// Rates of the windows of the last hour.
fn series(history: &History) -> Value {
    let last_ms = history.windows().next_back().map_or(0, |window| window.end_ms);
    let windows = history.between(last_ms - SERIES_SPAN_MS, i64::MAX);
    let totals: Vec<_> = windows.map(|window| (window, window.total())).collect();
    let rates = |of: fn(&Load) -> u64| -> Value {
        totals.iter().map(|(window, load)| rounded(of(load) as f64 / window.seconds())).collect()
    };
    let calls: Option<Vec<f64>> = totals
        .iter()
        .map(|(window, _)| Some(rounded(window.calls? as f64 / window.seconds())))
        .collect();
    json!({
        "end_ms": totals.iter().map(|(window, _)| window.end_ms).collect::<Vec<_>>(),
        "reads": rates(|load| load.reads),
        "writes": rates(|load| load.writes),
        "calls": calls,
    })
}

fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Calls of a server; null for a store or cluster, whose calls the console does not see.
fn calls(state: &State) -> Value {
    let Target::Server(view) = &state.source.target else { return Value::Null };
    let figures = view.figures();
    let methods = figures.methods.iter().map(|method| {
        let mean = method.micros as f64 / method.calls.max(1) as f64;
        json!({ "method": method.method, "calls": method.calls, "mean_micros": mean })
    });
    let slow = figures.slow_calls.iter().map(|call| {
        let regions = call.regions.iter();
        json!({
            "at_ms": call.at_ms,
            "method": call.method,
            "micros": call.micros,
            "tables": regions.clone().map(|(table, _)| table).collect::<BTreeSet<_>>(),
            "regions": regions.map(|(_, region)| region).collect::<Vec<_>>(),
            "exception": call.exception,
        })
    });
    json!({
        "connections": figures.connections,
        "queued": figures.queued_calls,
        "scanners": figures.scanners,
        "memory_used_bytes": figures.memory_used_bytes,
        "memory_max_bytes": figures.memory_max_bytes,
        "exceptions": figures.exceptions,
        "methods": methods.collect::<Value>(),
        "slow": slow.collect::<Value>(),
    })
}

fn damaged(status: &StoreStatus) -> Value {
    let damaged = status.scrub.damaged.iter().take(DAMAGED_MAX);
    damaged
        .map(|file| {
            json!({
                "table": file.table.to_string(),
                "region": file.region,
                "file": file.file.display().to_string(),
                "message": file.message,
            })
        })
        .collect()
}
