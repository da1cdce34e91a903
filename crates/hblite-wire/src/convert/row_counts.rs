//! The endpoint of the master that counts rows, which only hblite has: a client that finds none is
//! connected to an Apache HBase.

use hblite_model::{
    Caller, CallerCounts, Error, HeavyRows, LargeItem, Operation, Protocol, RegionRows, Result,
    RowCounts, RowWaits, SampledRow, WaitedRow,
};

use crate::pb;

/// The name of the service.
pub const ROW_COUNTS_SERVICE: &str = "hblite.RowCounts";
/// Its only method.
pub const ROW_COUNTS_METHOD: &str = "GetRowCounts";

/// Counts as a message.
pub fn row_counts_message(counts: RowCounts) -> pb::RowCountsResponse {
    let region = |region: RegionRows| pb::RegionRowsMessage {
        table: region.table.to_string(),
        region: region.region,
        reads: heavy_message(region.reads),
        writes: heavy_message(region.writes),
        waits: Some(waits_message(region.waits)),
    };
    let sampled = |sampled: SampledRow| pb::SampledRowMessage {
        region: sampled.region,
        is_write: sampled.is_write,
        row: sampled.row.into(),
    };
    pb::RowCountsResponse {
        until: counts.until,
        region: counts.regions.into_iter().map(region).collect(),
        sample: counts.sample.into_iter().map(sampled).collect(),
        callers: Some(callers_message(counts.callers)),
        large: counts.large.into_iter().map(large_message).collect(),
    }
}

fn heavy_message(heavy: HeavyRows) -> pb::HeavyRowsMessage {
    let (row, count) = heavy.rows.into_iter().map(|(row, count)| (row.into(), count)).unzip();
    pb::HeavyRowsMessage { requests: heavy.requests, error: heavy.error, row, count }
}

/// The counts in a message.
///
/// # Errors
/// `IllegalArgument` if a table has no valid name; `DoNotRetryIo` if a list is not complete, or
/// names what is not known.
pub fn row_counts(message: pb::RowCountsResponse) -> Result<RowCounts> {
    let region = |region: pb::RegionRowsMessage| {
        Ok(RegionRows {
            table: region.table.parse()?,
            region: region.region,
            reads: heavy(region.reads)?,
            writes: heavy(region.writes)?,
            waits: region.waits.map(waits).unwrap_or_default(),
        })
    };
    let sampled = |sampled: pb::SampledRowMessage| SampledRow {
        region: sampled.region,
        is_write: sampled.is_write,
        row: sampled.row.into(),
    };
    Ok(RowCounts {
        until: message.until,
        regions: message.region.into_iter().map(region).collect::<Result<_>>()?,
        sample: message.sample.into_iter().map(sampled).collect(),
        callers: message.callers.map(callers).transpose()?.unwrap_or_default(),
        large: message.large.into_iter().map(large).collect::<Result<_>>()?,
    })
}

fn large_message(item: LargeItem) -> pb::LargeMessage {
    let (family, qualifier) = item.column.unzip();
    pb::LargeMessage {
        table: item.table.to_string(),
        region: item.region,
        row: item.row.into(),
        family: family.map(Into::into),
        qualifier: qualifier.map(Into::into),
        bytes: item.bytes,
    }
}

fn large(message: pb::LargeMessage) -> Result<LargeItem> {
    let column = message.family.zip(message.qualifier);
    Ok(LargeItem {
        table: message.table.parse()?,
        region: message.region,
        row: message.row.into(),
        column: column.map(|(family, qualifier)| (family.into(), qualifier.into())),
        bytes: message.bytes,
    })
}

fn waits_message(waits: RowWaits) -> pb::RowWaitsMessage {
    let row = |row: WaitedRow| pb::WaitedRowMessage {
        row: row.row.into(),
        micros: row.micros,
        waits: row.waits,
    };
    pb::RowWaitsMessage {
        waits: waits.waits,
        micros: waits.micros,
        error_micros: waits.error_micros,
        row: waits.rows.into_iter().map(row).collect(),
    }
}

fn waits(message: pb::RowWaitsMessage) -> RowWaits {
    let row = |row: pb::WaitedRowMessage| WaitedRow {
        row: row.row.into(),
        micros: row.micros,
        waits: row.waits,
    };
    RowWaits {
        waits: message.waits,
        micros: message.micros,
        error_micros: message.error_micros,
        rows: message.row.into_iter().map(row).collect(),
    }
}

fn callers_message(counts: CallerCounts) -> pb::CallersMessage {
    let caller = |(caller, requests): (Caller, u64)| pb::CallerMessage {
        protocol: caller.protocol.name().to_owned(),
        address: caller.address.map(|address| address.to_string()),
        user: caller.user.map(|user| user.as_ref().to_owned()),
        operation: caller.operation.name().to_owned(),
        table: caller.table.to_string(),
        requests,
    };
    pb::CallersMessage {
        requests: counts.requests,
        error: counts.error,
        caller: counts.callers.into_iter().map(caller).collect(),
    }
}

fn callers(message: pb::CallersMessage) -> Result<CallerCounts> {
    let unknown = |what: &str| Error::do_not_retry(format!("the answer names {what:?}"));
    let caller = |caller: pb::CallerMessage| {
        let pb::CallerMessage { protocol, address, user, operation, table, requests } = caller;
        let address = address.map(|text| text.parse().map_err(|_| unknown(&text)));
        let caller = Caller {
            protocol: Protocol::of_name(&protocol).ok_or_else(|| unknown(&protocol))?,
            address: address.transpose()?,
            user: user.map(Into::into),
            operation: Operation::of_name(&operation).ok_or_else(|| unknown(&operation))?,
            table: table.parse()?,
        };
        Ok((caller, requests))
    };
    Ok(CallerCounts {
        requests: message.requests,
        error: message.error,
        callers: message.caller.into_iter().map(caller).collect::<Result<_>>()?,
    })
}

fn heavy(message: pb::HeavyRowsMessage) -> Result<HeavyRows> {
    let pb::HeavyRowsMessage { requests, error, row, count } = message;
    if row.len() != count.len() {
        let text = format!("{} rows have {} counts: the answer is damaged", row.len(), count.len());
        return Err(Error::do_not_retry(text));
    }
    let rows = row.into_iter().map(Vec::from).zip(count).collect();
    Ok(HeavyRows { requests, error, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_they_were_written() {
        let heavy = HeavyRows { requests: 9, error: 1, rows: vec![(b"a\0".to_vec(), 5)] };
        let waited = WaitedRow { row: b"a".to_vec(), micros: 60, waits: 2 };
        let region = RegionRows {
            table: "ns:t".parse().unwrap(),
            region: "0123".to_owned(),
            reads: HeavyRows::default(),
            writes: heavy,
            waits: RowWaits { waits: 3, micros: 70, error_micros: 1, rows: vec![waited] },
        };
        let sample = vec![SampledRow { region: 0, is_write: true, row: b"a\0".to_vec() }];
        let caller = Caller {
            protocol: Protocol::Thrift2,
            address: "::1".parse().ok(),
            user: Some("anna".into()),
            operation: Operation::Scan,
            table: "ns:t".parse().unwrap(),
        };
        let callers = vec![(caller, 3), (Caller::default(), 2)];
        let callers = CallerCounts { requests: 6, error: 1, callers };
        let item = |column| LargeItem {
            table: "ns:t".parse().unwrap(),
            region: "0123".to_owned(),
            row: b"a\0".to_vec(),
            column,
            bytes: 1 << 40,
        };
        let large = vec![item(None), item(Some((b"f".to_vec(), Vec::new())))];
        let counts = RowCounts { until: 7, regions: vec![region], sample, callers, large };
        let message = row_counts_message(counts.clone());
        assert_eq!(row_counts(message.clone()).unwrap(), counts);
        let mut unknown = message.clone();
        unknown.callers.as_mut().unwrap().caller[0].operation = "Fly".to_owned();
        assert!(row_counts(unknown).unwrap_err().message().contains("\"Fly\""));
        let mut damaged = message;
        damaged.region[0].writes.count.clear();
        assert!(row_counts(damaged).unwrap_err().message().contains("1 rows have 0 counts"));
    }
}
