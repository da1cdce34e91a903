//! HBase's endpoint AggregateService: each region counts or adds up its own rows.
//!
//! Values are 8 bytes, big-endian, as `LongColumnInterpreter` reads them; sums wrap.

use bytes::Bytes;
use hblite_model::{Error, Exception, Result, Scan};
use hblite_wire::{convert, pb};
use prost::Message;

use super::Table;
use super::endpoint::{Endpoint, RowRange};

const INTERPRETER: &str = "org.apache.hadoop.hbase.client.coprocessor.LongColumnInterpreter";

/// Aggregates that the servers calculate. The table needs the coprocessor
/// `org.apache.hadoop.hbase.coprocessor.AggregateImplementation`; `hblite serve` has it built in.
///
/// A calculation is not a snapshot: each region sees its rows as they are when it is asked. Other
/// aggregates can be called with [`Table::exec_service`].
///
/// # Errors
/// As [`Table::exec_service`]; `Io` if the rows of the scan are in the wrong order, or if the scan
/// does not have exactly one family.
impl Table {
    /// Number of rows that the scan finds. The scan need not select a family.
    ///
    /// ```no_run
    /// # async fn example(table: hblite_client::Table) -> hblite_model::Result<()> {
    /// let scan = hblite_model::Scan::new().with_prefix("2026-").with_family("f");
    /// println!("{} rows", table.row_count(&scan).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn row_count(&self, scan: &Scan) -> Result<u64> {
        let answers = self.aggregate("GetRowNum", scan, true).await?;
        let mut counts = answers.iter().filter_map(|answer| answer.first_part.first()).map(number);
        counts.try_fold(0_u64, |rows, count| Ok(rows.saturating_add(count?)))
    }

    /// Sum of the values; `None` if there are none.
    pub async fn sum(&self, scan: &Scan) -> Result<Option<i64>> {
        Ok(self.longs("GetSum", scan).await?.into_iter().reduce(i64::wrapping_add))
    }

    /// The greatest value; `None` if there are none.
    pub async fn max(&self, scan: &Scan) -> Result<Option<i64>> {
        Ok(self.longs("GetMax", scan).await?.into_iter().max())
    }

    /// The least value; `None` if there are none.
    pub async fn min(&self, scan: &Scan) -> Result<Option<i64>> {
        Ok(self.longs("GetMin", scan).await?.into_iter().min())
    }

    /// The sum of the values divided by the number of rows; `None` if there are no rows.
    pub async fn avg(&self, scan: &Scan) -> Result<Option<f64>> {
        let (mut sum, mut rows) = (0_i64, 0_u64);
        for answer in self.aggregate("GetAvg", scan, false).await? {
            if let (Some(part), Some(count)) = (answer.first_part.first(), &answer.second_part) {
                sum = sum.wrapping_add(long(part)?);
                rows = rows.saturating_add(number(count)?);
            }
        }
        Ok((rows > 0).then(|| sum as f64 / rows as f64))
    }

    async fn longs(&self, method: &'static str, scan: &Scan) -> Result<Vec<i64>> {
        let answers = self.aggregate(method, scan, false).await?;
        answers.iter().filter_map(|answer| answer.first_part.first()).map(long).collect()
    }

    async fn aggregate(
        &self,
        method: &'static str,
        scan: &Scan,
        may_lack_family: bool,
    ) -> Result<Vec<pb::AggregateResponse>> {
        check(scan, may_lack_family)?;
        let range = range_of(scan);
        let scan = scan.clone();
        let request = move |part: &RowRange| {
            let scan = scan.clone().with_start_row(&part.start).with_stop_row(&part.stop);
            let message = pb::AggregateRequest {
                interpreter_class_name: INTERPRETER.to_owned(),
                scan: convert::scan_message(&scan)?,
                interpreter_specific_bytes: Some(Bytes::new()),
            };
            Ok(message.encode_to_vec().into())
        };
        let endpoint = Endpoint { service: "AggregateService", method };
        let answers = self.exec_on_range(range, endpoint, request).await?;
        answers.into_iter().map(decode).collect()
    }
}

/// The checks of HBase's client.
fn check(scan: &Scan, may_lack_family: bool) -> Result<()> {
    let io = |message: &str| Err(Error::new(Exception::Io, message));
    let (start, stop) = (scan.start_row(), scan.stop_row());
    if !stop.is_empty() && start >= stop {
        return io("Agg client Exception: Startrow should be smaller than Stoprow");
    }
    let families = scan.columns().families().count();
    if families != 1 && !(families == 0 && may_lack_family) {
        return io("There must be only one family.");
    }
    scan.check()
}

/// The rows of the scan, with an inclusive start and an exclusive end.
fn range_of(scan: &Scan) -> RowRange {
    let after = |row: &[u8]| [row, b"\0"].concat();
    let (start, stop) = (scan.start_row(), scan.stop_row());
    RowRange {
        start: if scan.is_start_inclusive() { start.to_vec() } else { after(start) },
        stop: if scan.is_stop_inclusive() && !stop.is_empty() {
            after(stop)
        } else {
            stop.to_vec()
        },
    }
}

fn decode<M: Message + Default>(bytes: Bytes) -> Result<M> {
    M::decode(bytes).map_err(|error| {
        Error::do_not_retry(format!("the endpoint's answer is not valid: {error}"))
    })
}

fn long(bytes: &Bytes) -> Result<i64> {
    Ok(decode::<pb::LongMsg>(bytes.clone())?.long_msg)
}

fn number(bytes: &Bytes) -> Result<u64> {
    let wrong = |_| Error::do_not_retry("the endpoint's answer has no number of 8 bytes");
    Ok(u64::from_be_bytes(bytes.as_ref().try_into().map_err(wrong)?))
}
