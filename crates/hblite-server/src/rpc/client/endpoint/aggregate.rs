//! AggregateService: maximum, minimum, sum, count, average, deviation and median of a region.
//!
//! A client calls every region of its range and combines the answers. The column interpreter
//! defines the meaning of a cell's value (`interpreter`). As in HBase's endpoint, an empty row at a
//! deleted or filtered end of the region counts in averages.
//!
//! Source: `AggregateImplementation` of hbase-endpoint.

use std::time::Instant;

use bytes::Bytes;
use hblite_engine::{RegionHandle, RegionStep};
use hblite_model::{CellBuffer, Qualifiers, Scan};
use hblite_wire::exception::class;
use hblite_wire::{RemoteException, convert, pb};
use prost::Message as _;

use super::interpreter::{BigDecimals, Doubles, Interpreter, Longs};
use crate::rpc::call::Call;

/// The package of HBase's column interpreters.
const INTERPRETERS: &str = "org.apache.hadoop.hbase.client.coprocessor.";

type RemoteResult<T> = Result<T, RemoteException>;

/// Answers a method of the service; `None` if it has no such method.
pub(super) fn answer(
    call: &Call<'_>,
    region: &RegionHandle,
    method: &str,
    request: &Bytes,
) -> Option<RemoteResult<pb::AggregateResponse>> {
    let aggregate = Aggregate::of_name(method)?;
    let decoded = call.decode(request);
    Some(decoded.and_then(|request| run(region, aggregate, &request, call.deadline)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aggregate {
    Max,
    Min,
    Sum,
    RowNum,
    Avg,
    Std,
    Median,
}

impl Aggregate {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "GetMax" => Self::Max,
            "GetMin" => Self::Min,
            "GetSum" => Self::Sum,
            "GetRowNum" => Self::RowNum,
            "GetAvg" => Self::Avg,
            "GetStd" => Self::Std,
            "GetMedian" => Self::Median,
            _ => return None,
        })
    }
}

fn run(
    region: &RegionHandle,
    aggregate: Aggregate,
    request: &pb::AggregateRequest,
    deadline: Option<Instant>,
) -> RemoteResult<pb::AggregateResponse> {
    let (scan, _) = convert::scan(&request.scan)?;
    if aggregate == Aggregate::RowNum {
        return row_number(region, scan, deadline);
    }
    let families: Vec<_> = scan.columns().families().collect();
    let Some((_, qualifiers)) = families.first() else {
        let message = "java.lang.NullPointerException: the scan names no family";
        return Err(RemoteException::do_not_retry(message));
    };
    let is_weighted = matches!(qualifiers, Qualifiers::Some(names) if names.len() > 1);
    let name = request.interpreter_class_name.as_str();
    let task = Task { region, scan: &scan, aggregate, is_weighted, deadline };
    match name.strip_prefix(INTERPRETERS) {
        Some("LongColumnInterpreter") => task.run::<Longs>(),
        Some("DoubleColumnInterpreter") => task.run::<Doubles>(),
        Some("BigDecimalColumnInterpreter") => task.run::<BigDecimals>(),
        _ => Err(RemoteException::do_not_retry(format!(
            "java.lang.ClassNotFoundException: {name}; hblite has LongColumnInterpreter, \
             DoubleColumnInterpreter and BigDecimalColumnInterpreter"
        ))),
    }
}

/// Passes the cells of each row to `visit` (an empty list for an empty row) while HBase's scanner
/// says that there may be more.
fn for_each_row(
    region: &RegionHandle,
    scan: &Scan,
    deadline: Option<Instant>,
    mut visit: impl FnMut(&CellBuffer) -> RemoteResult<()>,
) -> RemoteResult<()> {
    let mut scanner = region.scan(scan, None)?;
    let mut cells = CellBuffer::new();
    let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    loop {
        cells.clear();
        let step = scanner.next(None, is_late, |cell| cells.push(cell))?;
        if step == RegionStep::Cursor(()) {
            return Err(RemoteException::do_not_retry("the call's deadline has passed"));
        }
        visit(&cells)?;
        if !matches!(step, RegionStep::Row(_)) || !scanner.may_have_more() {
            return Ok(());
        }
    }
}

fn row_number(
    region: &RegionHandle,
    scan: Scan,
    deadline: Option<Instant>,
) -> RemoteResult<pb::AggregateResponse> {
    let first = scan.columns().families().next();
    let has_qualifier = matches!(first, Some((_, Qualifiers::Some(names))) if !names.is_empty());
    let is_whole = scan.filter().is_none() && !has_qualifier;
    let scan = if is_whole {
        scan.with_filter(hblite_model::filter::Filter::first_key_only())
    } else {
        scan
    };
    let mut count: u64 = 0;
    for_each_row(region, &scan, deadline, |cells| {
        count += u64::from(!cells.is_empty());
        Ok(())
    })?;
    Ok(parts(vec![bytes_of(count)], None))
}

fn bytes_of(count: u64) -> Bytes {
    Bytes::copy_from_slice(&count.to_be_bytes())
}

fn parts(first: Vec<Bytes>, second: Option<Bytes>) -> pb::AggregateResponse {
    pb::AggregateResponse { first_part: first, second_part: second }
}

struct Task<'t> {
    region: &'t RegionHandle,
    scan: &'t Scan,
    aggregate: Aggregate,
    /// A second column has the weights of a median.
    is_weighted: bool,
    deadline: Option<Instant>,
}

impl Task<'_> {
    fn run<I: Interpreter>(&self) -> RemoteResult<pb::AggregateResponse> {
        match self.aggregate {
            Aggregate::Max => self.extreme::<I>(|new, old| new.is_gt(old)),
            Aggregate::Min => self.extreme::<I>(|new, old| new.is_lt(old)),
            Aggregate::Sum => {
                let sums = self.sums::<I>()?;
                Ok(parts(sums.sum.iter().map(encode).collect(), None))
            }
            Aggregate::Avg => {
                let sums = self.sums::<I>()?;
                let rows = sums.sum.is_some().then(|| bytes_of(sums.rows));
                Ok(parts(sums.sum.iter().map(encode).collect(), rows))
            }
            Aggregate::Std => {
                let sums = self.sums::<I>()?;
                let rows = sums.sum.is_some().then(|| bytes_of(sums.rows));
                let both = sums.sum.iter().chain(&sums.sum_of_squares);
                Ok(parts(both.map(encode).collect(), rows))
            }
            Aggregate::RowNum | Aggregate::Median => self.median::<I>(),
        }
    }

    fn extreme<I: Interpreter>(
        &self,
        is_better: impl Fn(&I, &I) -> bool,
    ) -> RemoteResult<pb::AggregateResponse> {
        let mut best: Option<I> = None;
        for_each_row(self.region, self.scan, self.deadline, |cells| {
            for cell in cells {
                let value = I::of_value(cell.value())?;
                let is_best = |value: &I| best.as_ref().is_none_or(|best| is_better(value, best));
                if let Some(value) = value.filter(is_best) {
                    best = Some(value);
                }
            }
            Ok(())
        })?;
        Ok(parts(best.iter().map(encode).collect(), None))
    }

    fn sums<I: Interpreter>(&self) -> RemoteResult<Sums<I>> {
        let mut sums = Sums { sum: None, sum_of_squares: None, rows: 0 };
        for_each_row(self.region, self.scan, self.deadline, |cells| {
            let of_row = sum_of::<I>(cells)?;
            if self.aggregate == Aggregate::Std {
                let square = of_row.as_ref().map(|sum| sum.times(sum));
                sums.sum_of_squares = plus(sums.sum_of_squares.take(), square);
            }
            sums.sum = plus(sums.sum.take(), of_row);
            sums.rows += 1;
            Ok(())
        })?;
        Ok(sums)
    }

    /// The sums of values and of weights. Each covers all cells of both columns, as in HBase.
    fn median<I: Interpreter>(&self) -> RemoteResult<pb::AggregateResponse> {
        let sums = self.sums::<I>()?;
        let Some(sum) = sums.sum else {
            let name = self.region.info().region_name_as_string();
            let message = format!("java.lang.NullPointerException: {name} has no value");
            // As with HBase, the client repeats the call endlessly.
            return Err(RemoteException::new(class::IO, message));
        };
        let weights = if self.is_weighted { encode(&sum) } else { encode(&I::least()) };
        Ok(parts(vec![encode(&sum), weights], None))
    }
}

struct Sums<I> {
    sum: Option<I>,
    /// From the sums of rows.
    sum_of_squares: Option<I>,
    rows: u64,
}

fn sum_of<I: Interpreter>(cells: &CellBuffer) -> RemoteResult<Option<I>> {
    let mut sum = None;
    for cell in cells {
        sum = plus(sum, I::of_value(cell.value())?);
    }
    Ok(sum)
}

fn plus<I: Interpreter>(left: Option<I>, right: Option<I>) -> Option<I> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.plus(&right)),
        (left, right) => left.or(right),
    }
}

fn encode<I: Interpreter>(value: &I) -> Bytes {
    value.message()
}

/// The serialized answer.
pub(super) fn encoded(response: &pb::AggregateResponse) -> Bytes {
    response.encode_to_vec().into()
}
