//! `AggregateService`: maximum, minimum, sum, count and what averages, deviations and medians are
//! made of, of the part of a scan that is in one region (`AggregateImplementation`).

use std::time::Instant;

use bytes::Bytes;
use hblite_engine::{RegionHandle, RegionStep};
use hblite_model::{CellBuffer, CellRef};
use hblite_wire::{RemoteException, convert, frame, pb};
use prost::Message as _;

use super::interpreter::{Interpreter, Number, sum};
use super::{EndpointResult, PACKAGE};

/// What one walk over the rows collects; each method takes from it what it answers.
#[derive(Debug, Default)]
struct Figures {
    rows: u64,
    max: Option<Number>,
    min: Option<Number>,
    sum: Option<Number>,
    sum_of_squares: Option<Number>,
    /// The sum of the second column of the scan, if it names two.
    weights: Option<Number>,
    /// The sum of the first one.
    weighted: Option<Number>,
}

pub(super) fn answer(
    region: &RegionHandle,
    method: &str,
    request: Bytes,
    deadline: Option<Instant>,
) -> EndpointResult {
    let request: pb::AggregateRequest = frame::decode(request)?;
    let interpreter = Interpreter::of_class(&request.interpreter_class_name)?;
    let figures = collect(region, &request.scan, interpreter, deadline)?;
    let rows = Bytes::copy_from_slice(&figures.rows.to_be_bytes());
    let parts = |numbers: &[Option<Number>]| -> Vec<Bytes> {
        numbers.iter().flatten().map(|number| number.encoded()).collect()
    };
    let (first_part, second_part) = match method {
        "GetMax" => (parts(&[figures.max]), None),
        "GetMin" => (parts(&[figures.min]), None),
        "GetSum" => (parts(&[figures.sum]), None),
        "GetRowNum" => (vec![rows], None),
        "GetAvg" => (parts(&[figures.sum]), Some(rows)),
        "GetStd" => (parts(&[figures.sum, figures.sum_of_squares]), Some(rows)),
        "GetMedian" => (parts(&[figures.weighted, figures.weights]), None),
        _ => {
            let message = format!("Unknown method {method} called on service AggregateService");
            return Err(RemoteException::do_not_retry(message));
        }
    };
    // A region without a value has nothing to say, however many rows it has.
    let is_silent = first_part.is_empty();
    let second_part = second_part.filter(|_| !is_silent);
    let response = pb::AggregateResponse { first_part, second_part };
    Ok(pb::NameBytesPair {
        name: format!("{PACKAGE}AggregateProtos$AggregateResponse"),
        value: Some(response.encode_to_vec().into()),
    })
}

fn collect(
    region: &RegionHandle,
    message: &pb::Scan,
    interpreter: Interpreter,
    deadline: Option<Instant>,
) -> Result<Figures, RemoteException> {
    let (scan, settings) = convert::scan(message)?;
    let mut rows = region.scan(&scan, settings.read_point)?;
    let qualifiers = message.column.first().map_or(&[][..], |column| &column.qualifier[..]);
    let (value, weight) = (qualifiers.first(), qualifiers.get(1));
    let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let mut figures = Figures::default();
    let mut cells = CellBuffer::new();
    loop {
        cells.clear();
        let step = rows.next(None, is_late, |cell| cells.push(cell))?;
        for cell in &cells {
            figures.add(interpreter.value(cell.value()));
            let is_of = |column: Option<&Bytes>| column.is_some_and(|it| cell.qualifier() == it);
            let number = |cell: CellRef<'_>| interpreter.value(cell.value());
            if is_of(weight) {
                figures.weights = sum(figures.weights, number(cell));
            } else if is_of(value) {
                figures.weighted = sum(figures.weighted, number(cell));
            }
        }
        match step {
            RegionStep::Row { may_have_more_cells } => {
                figures.rows += u64::from(!cells.is_empty() && !may_have_more_cells);
            }
            RegionStep::Paused => {
                return Err(RemoteException::do_not_retry("the time for this call is over"));
            }
            RegionStep::End => return Ok(figures),
        }
    }
}

impl Figures {
    fn add(&mut self, number: Option<Number>) {
        let Some(number) = number else { return };
        self.max =
            self.max.map_or(Some(number), |max| Some(if number > max { number } else { max }));
        self.min =
            self.min.map_or(Some(number), |min| Some(if number < min { number } else { min }));
        self.sum = sum(self.sum, Some(number));
        self.sum_of_squares = sum(self.sum_of_squares, Some(number.squared()));
    }
}
