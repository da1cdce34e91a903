//! The requests of a recording, and the calls that they are under a candidate key.
//!
//! A row is decoded with the recorded key, and its values are encoded with the candidate. A random
//! salt does not follow from them, so a read becomes a get for each salt.

use hblite_rowkey::{Access, Design, Query, Value};

use crate::mix::mixed;
use crate::run::{RunError, Splits, choose_splits, natural_splits};
use crate::simulate::{Kind, Request};

/// Longest time between the first and the last request: 30 days.
const SPAN_MAX_MS: u64 = 30 * 24 * 3600 * 1000;

/// A request of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRequest {
    /// When it came, by the server's clock, in milliseconds.
    pub at_ms: i64,
    /// What it did.
    pub kind: Kind,
    /// The row.
    pub row: Vec<u8>,
}

/// The requests of a recording about one table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedLoad {
    requests: Vec<RecordedRequest>,
    /// The mean number of bytes of a written row's values.
    pub value_bytes: usize,
    /// Requests whose row is not a key of the recorded design.
    pub undecoded: u64,
}

impl RecordedLoad {
    /// Puts requests in order. Those whose row `key` cannot decode are left out and counted.
    ///
    /// # Errors
    /// [`RunError::Settings`] if there are none, or if they span more than 30 days.
    pub fn new(
        mut requests: Vec<RecordedRequest>,
        value_bytes: usize,
        key: Option<&Design>,
    ) -> Result<Self, RunError> {
        let count = requests.len();
        if let Some(key) = key {
            requests.retain(|request| key.decode(&request.row).is_ok());
        }
        let undecoded = (count - requests.len()) as u64;
        // Requests of a millisecond keep their order.
        requests.sort_by_key(|request| request.at_ms);
        let load = Self { requests, value_bytes, undecoded };
        if load.is_empty() {
            let reason = match (count, key) {
                (0, _) => "there are no gets, puts or deletes to predict".to_owned(),
                (_, key) => format!(
                    "none of the {count} rows is a key of the design {}: --key describes the \
                     recorded rows",
                    key.map(Design::to_string).unwrap_or_default()
                ),
            };
            return Err(RunError::Settings(reason));
        }
        if load.span_ms() > SPAN_MAX_MS {
            return Err(RunError::Settings(
                "the first and the last request are more than 30 days apart: record less, or look \
                 for a clock that jumped"
                    .to_owned(),
            ));
        }
        Ok(load)
    }

    /// The number of requests.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// The number of requests of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.requests.iter().filter(|request| request.kind == kind).count()
    }

    /// From the first request to the last, in milliseconds.
    pub fn span_ms(&self) -> u64 {
        match (self.requests.first(), self.requests.last()) {
            (Some(first), Some(last)) => last.at_ms.abs_diff(first.at_ms),
            _ => 0,
        }
    }

    /// The requests in order, with their times since the first one, in nanoseconds.
    fn timed(&self) -> impl Iterator<Item = (u64, &RecordedRequest)> {
        let first_ms = self.requests.first().map_or(0, |first| first.at_ms);
        self.requests
            .iter()
            .map(move |request| (request.at_ms.abs_diff(first_ms) * 1_000_000, request))
    }
}

/// A key that the recorded requests could have.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyChoice {
    /// Its name.
    pub name: String,
    /// The design; `None` for the recorded rows as they are.
    pub design: Option<Design>,
}

/// A call under a candidate key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) at_ns: u64,
    pub(super) kind: Kind,
    pub(super) row: Vec<u8>,
}

/// The recorded load under a candidate key.
#[derive(Debug, Clone)]
pub(super) struct Keyed {
    /// Recorded requests that have a row under this key.
    pub(super) requests: usize,
    /// Recorded requests that have none.
    pub(super) left_out: u64,
    pub(super) calls: Vec<Call>,
    /// In ascending order.
    pub(super) splits: Vec<Vec<u8>>,
}

/// How a candidate's table is split.
#[derive(Debug, Clone)]
pub(super) struct Splitting<'a> {
    pub(super) regions: usize,
    pub(super) splits: Splits,
    /// The split keys of the recorded table.
    pub(super) present: Option<&'a [Vec<u8>]>,
    pub(super) seed: u64,
}

impl Keyed {
    /// The load under a key. `key` is the recorded one.
    pub(super) fn new(
        load: &RecordedLoad,
        key: Option<&Design>,
        choice: &KeyChoice,
        splitting: &Splitting<'_>,
    ) -> Result<Self, RunError> {
        let mut keyed = Self { requests: 0, left_out: 0, calls: Vec::new(), splits: Vec::new() };
        let encoder = choice.design.as_ref().map(|design| Encoder::new(key, design)).transpose()?;
        for (index, (at_ns, request)) in load.timed().enumerate() {
            let kind = request.kind;
            let rows = match &encoder {
                None => Ok(vec![request.row.clone()]),
                Some(encoder) => encoder.rows(request, mixed(splitting.seed ^ mixed(index as u64))),
            };
            match rows {
                Ok(rows) => {
                    keyed.requests += 1;
                    keyed.calls.extend(rows.into_iter().map(|row| Call { at_ns, kind, row }));
                }
                Err(error) if keyed.requests == 0 && keyed.left_out as usize + 1 == load.len() => {
                    return Err(RunError::Design(format!("no recorded row fits it: {error}")));
                }
                Err(_) => keyed.left_out += 1,
            }
        }
        keyed.splits = keyed.split(choice, splitting)?;
        Ok(keyed)
    }

    fn split(
        &self,
        choice: &KeyChoice,
        splitting: &Splitting<'_>,
    ) -> Result<Vec<Vec<u8>>, RunError> {
        if let (None, Some(present)) = (&choice.design, splitting.present) {
            return Ok(present.to_vec());
        }
        let Splitting { regions, splits, .. } = *splitting;
        let natural = || match &choice.design {
            Some(design) => natural_splits(design, regions),
            None => Ok(None),
        };
        let sample = || Ok(self.calls.iter().map(|call| call.row.clone()).collect());
        choose_splits(splits, regions, natural, sample)
    }

    /// The calls as the simulation sees them, and the number of regions.
    pub(super) fn traffic(&self) -> (Vec<Request>, usize) {
        let region = |row: &[u8]| self.splits.partition_point(|split| split.as_slice() <= row);
        let request = |call: &Call| Request {
            arrival_ns: call.at_ns,
            // There are at most 2^20 regions.
            region: region(&call.row) as u32,
            kind: call.kind,
        };
        (self.calls.iter().map(request).collect(), self.splits.len() + 1)
    }
}

/// Turns recorded rows into those of a candidate.
struct Encoder<'d> {
    key: &'d Design,
    design: &'d Design,
    /// For each field of the candidate its position in the recorded key.
    places: Vec<usize>,
}

impl<'d> Encoder<'d> {
    fn new(key: Option<&'d Design>, design: &'d Design) -> Result<Self, RunError> {
        let key = key.ok_or_else(|| {
            RunError::Settings("other keys need the design of the recorded one: --key".to_owned())
        })?;
        let place = |name: &str| {
            key.field_index(name).map_err(|_| {
                let fields = key.fields().iter().map(|field| field.name.as_str());
                let fields = fields.collect::<Vec<_>>().join(", ");
                RunError::Design(format!("the recorded key has no field {name}, only {fields}"))
            })
        };
        let places = design.fields().iter().map(|field| place(&field.name));
        let places = places.collect::<Result<_, _>>()?;
        Ok(Self { key, design, places })
    }

    /// The rows that a request is about.
    fn rows(&self, request: &RecordedRequest, random: u64) -> hblite_rowkey::Result<Vec<Vec<u8>>> {
        let values = self.key.decode(&request.row)?;
        let values: Vec<Value<'_>> =
            self.places.iter().map(|place| values[*place].clone()).collect();
        if self.design.has_random_salt() && request.kind == Kind::Read {
            let fields = self.design.fields().iter().zip(&values);
            let query = fields.fold(Query::new(), |query, (field, value)| {
                query.equals(&field.name, value.clone().into_owned())
            });
            let plan = self.design.plan(&query)?;
            if plan.access == Access::Rows {
                return Ok(plan.ranges.into_iter().map(|range| range.start).collect());
            }
        }
        let mut row = Vec::new();
        self.design.encode_into(&values, random, &mut row)?;
        Ok(vec![row])
    }
}
