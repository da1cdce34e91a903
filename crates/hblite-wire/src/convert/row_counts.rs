//! The endpoint of the master that counts rows, which only hblite has: a client that finds none is
//! connected to an Apache HBase.

use hblite_model::{Error, HeavyRows, RegionRows, Result, RowCounts, SampledRow};

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
    }
}

fn heavy_message(heavy: HeavyRows) -> pb::HeavyRowsMessage {
    let (row, count) = heavy.rows.into_iter().map(|(row, count)| (row.into(), count)).unzip();
    pb::HeavyRowsMessage { requests: heavy.requests, error: heavy.error, row, count }
}

/// The counts in a message.
///
/// # Errors
/// `IllegalArgument` if a table has no valid name; `DoNotRetryIo` if a list is not complete.
pub fn row_counts(message: pb::RowCountsResponse) -> Result<RowCounts> {
    let region = |region: pb::RegionRowsMessage| {
        Ok(RegionRows {
            table: region.table.parse()?,
            region: region.region,
            reads: heavy(region.reads)?,
            writes: heavy(region.writes)?,
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
        let region = RegionRows {
            table: "ns:t".parse().unwrap(),
            region: "0123".to_owned(),
            reads: HeavyRows::default(),
            writes: heavy,
        };
        let sample = vec![SampledRow { region: 0, is_write: true, row: b"a\0".to_vec() }];
        let counts = RowCounts { until: 7, regions: vec![region], sample };
        let message = row_counts_message(counts.clone());
        assert_eq!(row_counts(message.clone()).unwrap(), counts);
        let mut damaged = message;
        damaged.region[0].writes.count.clear();
        assert!(row_counts(damaged).unwrap_err().message().contains("1 rows have 0 counts"));
    }
}
