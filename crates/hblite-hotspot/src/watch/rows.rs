//! The rows of requests as JSON: in the answer of `hblite serve` to `/rows`, and in recordings.

use hblite::bytes::{from_string_binary, to_string_binary};
use hblite::{HeavyRows, RegionRows, RowCounts, SampledRow};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// [`RowCounts`], with rows as `Bytes.toStringBinary` prints them.
#[derive(Serialize, Deserialize)]
struct Document {
    until: u64,
    regions: Vec<RegionDocument>,
    /// The region's place, `r` or `w`, the row.
    sample: Vec<(u32, char, String)>,
}

#[derive(Serialize, Deserialize)]
struct RegionDocument {
    table: String,
    region: String,
    reads: HeavyDocument,
    writes: HeavyDocument,
}

#[derive(Serialize, Deserialize)]
struct HeavyDocument {
    requests: u64,
    error: u64,
    rows: Vec<(String, u64)>,
}

/// The counts in an answer to `/rows`.
///
/// # Errors
/// What is wrong with it.
pub fn row_counts_of(document: serde_json::Value) -> Result<RowCounts, String> {
    let read = serde_json::from_value(document).map_err(|error| error.to_string());
    read.and_then(counts)
}

fn counts(document: Document) -> Result<RowCounts, String> {
    let heavy = |heavy: HeavyDocument| HeavyRows {
        requests: heavy.requests,
        error: heavy.error,
        rows: heavy.rows.iter().map(|(row, count)| (from_string_binary(row), *count)).collect(),
    };
    let region = |region: RegionDocument| {
        Ok(RegionRows {
            table: region.table.parse().map_err(|error: hblite::Error| error.to_string())?,
            region: region.region,
            reads: heavy(region.reads),
            writes: heavy(region.writes),
        })
    };
    let sampled = |(region, kind, row): (u32, char, String)| SampledRow {
        region,
        is_write: kind == 'w',
        row: from_string_binary(&row),
    };
    Ok(RowCounts {
        until: document.until,
        regions: document.regions.into_iter().map(region).collect::<Result<_, String>>()?,
        sample: document.sample.into_iter().map(sampled).collect(),
    })
}

fn document(counts: &RowCounts) -> Document {
    let heavy = |heavy: &HeavyRows| HeavyDocument {
        requests: heavy.requests,
        error: heavy.error,
        rows: heavy.rows.iter().map(|(row, count)| (to_string_binary(row), *count)).collect(),
    };
    let region = |region: &RegionRows| RegionDocument {
        table: region.table.to_string(),
        region: region.region.clone(),
        reads: heavy(&region.reads),
        writes: heavy(&region.writes),
    };
    let sampled = |one: &SampledRow| {
        (one.region, if one.is_write { 'w' } else { 'r' }, to_string_binary(&one.row))
    };
    Document {
        until: counts.until,
        regions: counts.regions.iter().map(region).collect(),
        sample: counts.sample.iter().map(sampled).collect(),
    }
}

pub(super) fn serialize<S: Serializer>(
    rows: &Option<RowCounts>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    rows.as_ref().map(document).serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<RowCounts>, D::Error> {
    let found: Option<Document> = Option::deserialize(deserializer)?;
    found.map(counts).transpose().map_err(de::Error::custom)
}
