//! `/rows`: which rows are requested, and by whom.

use hblite_model::bytes::to_string_binary;
use hblite_model::{
    Caller, CallerCounts, HeavyRows, LargeItem, RegionRows, RowWaits, SampledRow, WaitedRow,
};
use serde_json::{Value, json};

use super::Admin;
use super::message::{Answer, Refused};

/// The counts since the answer whose `until` is the parameter `after`; without it, none yet.
pub(super) fn rows(admin: &Admin, query: Option<&str>) -> Answer {
    let after = match query.unwrap_or_default() {
        "" => u64::MAX,
        query => {
            let number = query.strip_prefix("after=").and_then(|number| number.parse().ok());
            number.ok_or_else(|| Refused::bad("the only parameter is after=NUMBER"))?
        }
    };
    let counts = admin.cluster.get().row_counts(after);
    Ok(json!({
        "until": counts.until,
        "regions": counts.regions.iter().map(region_json).collect::<Value>(),
        "sample": counts.sample.iter().map(sampled_json).collect::<Value>(),
        "callers": callers_json(&counts.callers),
        "large": counts.large.iter().map(large_json).collect::<Value>(),
    }))
}

/// A cell or a row.
pub(super) fn large_json(item: &LargeItem) -> Value {
    let column = item.column.as_ref();
    json!({
        "table": item.table.to_string(),
        "region": item.region,
        "row": to_string_binary(&item.row),
        "family": column.map(|(family, _)| to_string_binary(family)),
        "qualifier": column.map(|(_, qualifier)| to_string_binary(qualifier)),
        "bytes": item.bytes,
    })
}

fn callers_json(counts: &CallerCounts) -> Value {
    let caller = |(caller, requests): &(Caller, u64)| {
        json!({
            "protocol": caller.protocol.name(),
            "address": caller.address,
            "user": caller.user.as_deref(),
            "operation": caller.operation.name(),
            "table": caller.table.to_string(),
            "requests": requests,
        })
    };
    json!({
        "requests": counts.requests,
        "error": counts.error,
        "callers": counts.callers.iter().map(caller).collect::<Value>(),
    })
}

fn region_json(region: &RegionRows) -> Value {
    json!({
        "table": region.table.to_string(),
        "region": region.region,
        "reads": heavy_json(&region.reads),
        "writes": heavy_json(&region.writes),
        "waits": waits_json(&region.waits),
    })
}

/// A row that is not known is empty.
fn waits_json(waits: &RowWaits) -> Value {
    let row = |row: &WaitedRow| json!([to_string_binary(&row.row), row.micros, row.waits]);
    json!({
        "waits": waits.waits,
        "micros": waits.micros,
        "error_micros": waits.error_micros,
        "rows": waits.rows.iter().map(row).collect::<Value>(),
    })
}

fn heavy_json(heavy: &HeavyRows) -> Value {
    let row = |(row, count): &(Vec<u8>, u64)| json!([to_string_binary(row), count]);
    json!({
        "requests": heavy.requests,
        "error": heavy.error,
        "rows": heavy.rows.iter().map(row).collect::<Value>(),
    })
}

/// The region's place, `r` or `w`, the row.
fn sampled_json(sampled: &SampledRow) -> Value {
    let kind = if sampled.is_write { "w" } else { "r" };
    json!([sampled.region, kind, to_string_binary(&sampled.row)])
}
