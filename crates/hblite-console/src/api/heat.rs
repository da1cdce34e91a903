//! The heat map of a table with its findings, and the adviser's answer for its sampled keys.

use std::sync::Arc;

use hblite::bytes::{from_string_binary, to_string_binary};
use hblite::{RegionInfo, TableName};
use hblite_hotspot::advise::{AdviceOptions, Expected, advise};
use hblite_hotspot::findings::{Finding, large, thinned};
use serde_json::{Value, json};

use super::{Answer, Failure, Query};
use crate::findings::findings;
use crate::heat::{Frame, HeatMap, Metric, heat_map};
use crate::state::State;

/// Rows of a map.
const ROWS_DEFAULT: usize = 120;
const ROWS_MAX: usize = 400;
/// Maximum number of counts in a map, windows times rows. The number of rows is reduced to keep it.
const CELLS_MAX: usize = 200_000;
/// The maximum number of sampled keys for the adviser.
const ADVISED_KEYS_MAX: usize = 4_000;
/// Maximum length of a design, and of the queries, in bytes.
const TEXT_MAX: usize = 4 * 1024;

pub(super) fn heat(state: &State, query: &Query) -> Answer {
    let table = query.required("table")?;
    let (name, metric) = metric(query)?;
    let rows_max = query.number("rows", ROWS_DEFAULT, (1, ROWS_MAX))?;
    let key = |name| query.text(name).map(from_string_binary).unwrap_or_default();
    let times_ms = super::times(query)?;
    let last = query.text("last").map(|_| query.number("last", 0_u32, (1, u32::MAX)));
    let last = last.transpose()?;
    let regions = regions(state, table)?;
    let history = state.recorder.history();
    let until_ms = history.windows().next_back().map_or(0, |window| window.end_ms);
    let since_ms = last.map_or(i64::MIN, |last| until_ms - i64::from(last) * 1_000);
    let times_ms = times_ms.unwrap_or((since_ms, i64::MAX));
    let columns = history.between(times_ms.0, times_ms.1).count();
    let rows_max = rows_max.min(CELLS_MAX / columns.max(1));
    let frame = Frame { metric, from: key("from"), to: key("to"), rows_max, times_ms };
    let map = heat_map(&history, &regions, &frame);
    let mut found: Vec<Value> = findings(&history, &regions).iter().map(finding_json).collect();
    let rows = history.windows().rev().find_map(|window| window.rows.as_ref());
    found.extend(rows.iter().flat_map(|rows| large(rows, table)).map(|large| json!(large)));
    let callers = super::callers::callers(&history, super::overview::RATE_SPAN_MS, Some(table));
    let recorded_ms = history.windows().next().map(|window| window.start_ms);
    drop(history);
    let servers = state.source.servers();
    Ok(json!({
        "table": table,
        "metric": name,
        "regions": regions.len(),
        "sampled": state.source.sampled(),
        "servers": servers.iter().map(|server| &server.name).collect::<Vec<_>>(),
        "ranges": ranges_json(state, &map, &regions),
        "recorded_since_ms": recorded_ms,
        "windows": map.windows,
        "sampled_requests": map.sampled,
        "counts": map.counts.iter().map(|column| rounded(column)).collect::<Value>(),
        "findings": found,
        "callers": callers,
    }))
}

/// What is to be shown, with its name.
pub(super) fn metric(query: &Query) -> Result<(&str, Metric), Failure> {
    let name = query.text("metric").unwrap_or("requests");
    let metric = Metric::of_name(name).ok_or_else(|| {
        let names: Vec<&str> = Metric::ALL.iter().map(|(name, _)| *name).collect();
        Failure::bad(format!("metric is one of {}", names.join(", ")))
    })?;
    Ok((name, metric))
}

/// The regions of a table in key order.
pub(super) fn regions(state: &State, table: &str) -> Result<Vec<Arc<RegionInfo>>, Failure> {
    let table: TableName = table.parse()?;
    let admin = state.source.connection.admin();
    if !table.is_meta() && !admin.table_exists(&table)? {
        return Err(Failure::new(
            http::StatusCode::NOT_FOUND,
            format!("no table is called {table}"),
        ));
    }
    Ok(admin.regions(&table)?.into_iter().map(Arc::new).collect())
}

fn ranges_json(state: &State, map: &HeatMap, regions: &[Arc<RegionInfo>]) -> Value {
    let json = |range: &crate::heat::Range| {
        let region = &regions[range.region];
        json!({
            "start": to_string_binary(&range.start),
            "end": to_string_binary(&range.end),
            "region": range.region,
            "name": region.encoded_name(),
            "server": state.source.server_of(region),
        })
    };
    map.ranges.iter().map(json).collect()
}

/// Counts with three digits after the point; most are whole.
fn rounded(column: &[f64]) -> Value {
    let number = |count: &f64| {
        let rounded = (count * 1000.0).round() / 1000.0;
        if rounded.fract() == 0.0 { json!(rounded as u64) } else { json!(rounded) }
    };
    column.iter().map(number).collect()
}

fn finding_json(finding: &Finding) -> Value {
    let keys = finding.keys.as_ref().map(
        |(start, end)| json!({ "start": to_string_binary(start), "end": to_string_binary(end) }),
    );
    json!({
        "kind": finding.kind,
        "text": finding.text,
        "help": finding.help,
        "share": finding.share,
        "low": finding.low,
        "high": finding.high,
        "keys": keys,
    })
}

/// What the adviser proposes for the rows that were sampled.
pub(super) fn advice(state: &State, query: &Query) -> Answer {
    let table = query.required("table")?;
    let regions = regions(state, table)?;
    let keys = sampled(state, table);
    let (design, queries) = (query.text("design"), query.text("queries"));
    if [design, queries].into_iter().flatten().any(|text| text.len() > TEXT_MAX) {
        return Err(Failure::bad("the design or the queries are too long"));
    }
    // This takes a while, so only one runs at a time.
    let Some(_turn) = state.advice.try_lock() else {
        let message = "another request for advice is running; wait for it";
        return Err(Failure::new(http::StatusCode::TOO_MANY_REQUESTS, message));
    };
    let bad = |error: hblite_hotspot::advise::NoAdvice| Failure::bad(error.to_string());
    let count = keys.len();
    let expected = Expected::parse(design, queries).map_err(bad)?;
    let sample = expected.sample(keys).map_err(bad)?;
    let wanted = expected.wanted(&sample);
    let options = AdviceOptions::default().with_regions(regions.len().max(8)).with_table(table);
    let advice = advise(&sample, &wanted, &options).map_err(bad)?;
    let is_new = |key: &[u8]| !regions.iter().any(|region| region.start_key() == key);
    Ok(json!({
        "keys": count,
        "design": advice.best().design.to_string(),
        "command": advice.create_command(),
        "text": advice.to_string(),
        "changes": advice.changes(is_new),
    }))
}

/// Written rows of a table, in the order of their windows; the rows that were read if few were
/// written.
fn sampled(state: &State, table: &str) -> Vec<Vec<u8>> {
    let history = state.recorder.history();
    let of_kind = |is_write: bool| -> Vec<Vec<u8>> {
        let keys = history.windows().flat_map(|window| &window.keys);
        let mine =
            keys.filter(|key| key.is_write == is_write && key.region.table().to_string() == table);
        mine.map(|key| key.row.to_vec()).collect()
    };
    let (written, read) = (of_kind(true), of_kind(false));
    let keys = if written.len() * 4 >= read.len() { written } else { read };
    let alike = vec![1.0; keys.len()];
    let kept = thinned(&alike, ADVISED_KEYS_MAX).take(ADVISED_KEYS_MAX);
    kept.map(|at| keys[at].clone()).collect()
}
