//! `/rows`: which rows are requested.

use hblite_model::bytes::to_string_binary;
use hblite_model::{HeavyRows, RegionRows, SampledRow};
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
    let counts = admin.cluster.get().engine.row_counts(after);
    Ok(json!({
        "until": counts.until,
        "regions": counts.regions.iter().map(region_json).collect::<Value>(),
        "sample": counts.sample.iter().map(sampled_json).collect::<Value>(),
    }))
}

fn region_json(region: &RegionRows) -> Value {
    json!({
        "table": region.table.to_string(),
        "region": region.region,
        "reads": heavy_json(&region.reads),
        "writes": heavy_json(&region.writes),
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
