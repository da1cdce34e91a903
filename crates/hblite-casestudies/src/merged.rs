//! From a plan to rows: gets and scans, in sequence or merged, each opened when its first row is
//! needed.

use hblite::Get;
use hblite_rowkey::{KeyRange, Merge, Plan};

use crate::error::Result;
use crate::trace::{Row, TableReader, Trace, TracedScan};

/// The rows of a plan, in its order.
pub struct MergedRows<'t>(Box<dyn Iterator<Item = Result<Row>> + 't>);

impl Iterator for MergedRows<'_> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        self.0.next()
    }
}

/// The rows in a plan's ranges, lazily. The caller applies the plan's checks and limit. A scan that
/// fails ends the rows with its error.
pub fn merged<'t>(table: &'t TableReader, plan: &Plan, trace: &'t Trace) -> MergedRows<'t> {
    let (is_reversed, limit) = (plan.is_reversed, plan.limit_per_scan());
    let source = move |range: KeyRange| Source {
        table,
        trace,
        range: Some(range),
        is_reversed,
        limit,
        scan: None,
    };
    let ranges = plan.ranges.clone().into_iter();
    MergedRows(match (plan.merge_skip, is_reversed) {
        (Some(skip), _) => Box::new(Merge::new(ranges.map(source), skip, is_reversed)),
        (None, true) => Box::new(ranges.rev().flat_map(source)),
        (None, false) => Box::new(ranges.flat_map(source)),
    })
}

/// The rows of one range.
struct Source<'t> {
    table: &'t TableReader,
    trace: &'t Trace,
    /// The range, until it is opened.
    range: Option<KeyRange>,
    is_reversed: bool,
    limit: Option<u64>,
    scan: Option<TracedScan>,
}

impl Iterator for Source<'_> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        if let Some(range) = self.range.take() {
            if let Some(row) = range.as_row() {
                return match self.table.get(&Get::new(row), "", self.trace) {
                    Ok(row) => (!row.is_empty()).then_some(Ok(Row(row))),
                    Err(error) => Some(Err(error)),
                };
            }
            let bounds = range.scan(self.is_reversed);
            match self.table.scan(&bounds, self.limit, "", |scan| scan, self.trace) {
                Ok(scan) => self.scan = Some(scan),
                Err(error) => return Some(Err(error)),
            }
        }
        let row = self.scan.as_mut()?.next();
        if row.is_none() {
            self.scan = None;
        }
        row
    }
}
