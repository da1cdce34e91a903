//! The rows of requests, and who sent them, as JSON: in the answer of `hblite serve` to `/rows`,
//! and in recordings.

use std::net::IpAddr;

use hblite::bytes::{from_string_binary, to_string_binary};
use hblite::{
    Caller, CallerCounts, HeavyRows, LargeItem, Operation, Protocol, RegionRows, RowCounts,
    RowWaits, SampledRow, WaitedRow,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// [`RowCounts`], with rows as `Bytes.toStringBinary` prints them.
#[derive(Serialize, Deserialize)]
struct Document {
    until: u64,
    regions: Vec<RegionDocument>,
    /// The region's place, `r` or `w`, the row.
    sample: Vec<(u32, char, String)>,
    /// Older recordings have none.
    #[serde(default)]
    callers: CallersDocument,
    #[serde(default)]
    large: Vec<LargeDocument>,
}

/// A cell, or without family and qualifier a row.
#[derive(Serialize, Deserialize)]
struct LargeDocument {
    table: String,
    region: String,
    row: String,
    family: Option<String>,
    qualifier: Option<String>,
    bytes: u64,
}

#[derive(Default, Serialize, Deserialize)]
struct CallersDocument {
    requests: u64,
    error: u64,
    callers: Vec<CallerDocument>,
}

#[derive(Serialize, Deserialize)]
struct CallerDocument {
    protocol: String,
    address: Option<IpAddr>,
    user: Option<String>,
    operation: String,
    table: String,
    requests: u64,
}

#[derive(Serialize, Deserialize)]
struct RegionDocument {
    table: String,
    region: String,
    reads: HeavyDocument,
    writes: HeavyDocument,
    /// Older recordings have none.
    #[serde(default)]
    waits: WaitsDocument,
}

#[derive(Default, Serialize, Deserialize)]
struct WaitsDocument {
    waits: u64,
    micros: u64,
    error_micros: u64,
    rows: Vec<(String, u64, u64)>,
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
            waits: waits(region.waits),
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
        callers: callers(document.callers)?,
        large: document.large.iter().map(large).collect::<Result<_, String>>()?,
    })
}

fn large(document: &LargeDocument) -> Result<LargeItem, String> {
    let column = document.family.as_deref().zip(document.qualifier.as_deref());
    Ok(LargeItem {
        table: document.table.parse().map_err(|error: hblite::Error| error.to_string())?,
        region: document.region.clone(),
        row: from_string_binary(&document.row),
        column: column.map(|(f, q)| (from_string_binary(f), from_string_binary(q))),
        bytes: document.bytes,
    })
}

fn large_document(item: &LargeItem) -> LargeDocument {
    let column = item.column.as_ref();
    LargeDocument {
        table: item.table.to_string(),
        region: item.region.clone(),
        row: to_string_binary(&item.row),
        family: column.map(|(family, _)| to_string_binary(family)),
        qualifier: column.map(|(_, qualifier)| to_string_binary(qualifier)),
        bytes: item.bytes,
    }
}

fn waits(document: WaitsDocument) -> RowWaits {
    let row = |(row, micros, waits): (String, u64, u64)| WaitedRow {
        row: from_string_binary(&row),
        micros,
        waits,
    };
    RowWaits {
        waits: document.waits,
        micros: document.micros,
        error_micros: document.error_micros,
        rows: document.rows.into_iter().map(row).collect(),
    }
}

fn waits_document(waits: &RowWaits) -> WaitsDocument {
    let row = |row: &WaitedRow| (to_string_binary(&row.row), row.micros, row.waits);
    WaitsDocument {
        waits: waits.waits,
        micros: waits.micros,
        error_micros: waits.error_micros,
        rows: waits.rows.iter().map(row).collect(),
    }
}

fn callers(document: CallersDocument) -> Result<CallerCounts, String> {
    let caller = |caller: CallerDocument| {
        let CallerDocument { protocol, address, user, operation, table, requests } = caller;
        let unknown = |name: &str| format!("{name:?} is not known");
        let caller = Caller {
            protocol: Protocol::of_name(&protocol).ok_or_else(|| unknown(&protocol))?,
            address,
            user: user.map(Into::into),
            operation: Operation::of_name(&operation).ok_or_else(|| unknown(&operation))?,
            table: table.parse().map_err(|error: hblite::Error| error.to_string())?,
        };
        Ok((caller, requests))
    };
    Ok(CallerCounts {
        requests: document.requests,
        error: document.error,
        callers: document.callers.into_iter().map(caller).collect::<Result<_, String>>()?,
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
        waits: waits_document(&region.waits),
    };
    let sampled = |one: &SampledRow| {
        (one.region, if one.is_write { 'w' } else { 'r' }, to_string_binary(&one.row))
    };
    Document {
        until: counts.until,
        regions: counts.regions.iter().map(region).collect(),
        sample: counts.sample.iter().map(sampled).collect(),
        callers: callers_document(&counts.callers),
        large: counts.large.iter().map(large_document).collect(),
    }
}

fn callers_document(counts: &CallerCounts) -> CallersDocument {
    let caller = |(caller, requests): &(Caller, u64)| CallerDocument {
        protocol: caller.protocol.name().to_owned(),
        address: caller.address,
        user: caller.user.as_deref().map(str::to_owned),
        operation: caller.operation.name().to_owned(),
        table: caller.table.to_string(),
        requests: *requests,
    };
    CallersDocument {
        requests: counts.requests,
        error: counts.error,
        callers: counts.callers.iter().map(caller).collect(),
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
