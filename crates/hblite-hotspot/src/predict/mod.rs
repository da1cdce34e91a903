//! Predicts what recorded requests would see under other keys, on a number of region servers: the
//! throughput that the servers sustain, and latencies at the recording's pace.
//!
//! - [`RecordedLoad`]: the requests of a recording, and the calls that they are under a key
//! - [`Calibration`]: what a cluster was measured to do; [`calibrate()`] measures it
//! - [`predict`]: the calls through the simulation, and on request on a cluster
//!
//! An interval is the range of the figures of twenty simulations, each with its own service times
//! and with rounds of the calibration drawn anew, so that of further ones 19 in 21 lie within. It
//! includes the predicted figure, and is widened by [`Widening`], what the model itself was found
//! to be wrong by.

mod calibrate;
mod calibration;
mod clients;
mod load;
mod measure;
mod table;
#[cfg(test)]
mod tests;
mod text;

use hblite::Connection;
use hblite_model::setters;
use hblite_rowkey::Design;

pub use calibrate::{CalibrateOptions, calibrate};
pub use calibration::{BadCalibration, Calibration, Model, Observed, Round};
pub use load::{KeyChoice, RecordedLoad, RecordedRequest};
pub use text::table as prediction_table;

use crate::generate::random;
use crate::run::{RunError, Splits, check_split_keys};
use crate::simulate::{
    CallTimes, Cluster, Latency, Pace, Request, Service, ServiceTime, Traffic, Window, run,
};
use load::{Keyed, Splitting};

/// Simulations that an interval comes from.
const DRAWS: u64 = 20;
/// The purpose of random numbers that draw rounds.
const PURPOSE: u64 = 9;
/// The longest total service time, in nanoseconds: eleven years.
const TOTAL_MAX_NS: f64 = 3.5e17;
/// Calls that may wait at a server: those of HBase's 30 handlers.
const QUEUE_MAX: usize = 300;

/// The factors by which an interval is widened, downwards and upwards: what the model was found to
/// be wrong by. With them, nine of ten figures that `tools/oracle/predictions` measures on a real
/// HBase lie within.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Widening {
    /// Of the throughput.
    pub throughput: (f64, f64),
    /// Of latencies.
    pub latency: (f64, f64),
}

impl Widening {
    /// Of servers that have limits of their own.
    pub const OWN: Self = Self { throughput: (1.1, 1.1), latency: (1.25, 1.75) };
    /// Of servers that share a limit. Other work on the same processors shows in latencies.
    pub const SHARED: Self = Self { throughput: (1.25, 1.25), latency: (1.5, 3.0) };

    /// Those of a model.
    pub fn of(model: &Model) -> Self {
        match model.shared == CallTimes::default() {
            true => Self::OWN,
            false => Self::SHARED,
        }
    }
}

/// What is predicted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PredictOptions {
    /// Region servers.
    pub servers: usize,
    /// Regions of a table.
    pub regions: usize,
    /// How tables are split.
    pub splits: Splits,
    /// The split keys of the recorded table.
    pub split_keys: Option<Vec<Vec<u8>>>,
    /// Concurrent calls.
    pub clients: usize,
    /// How many times as fast as recorded the requests come.
    pub pace: f64,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for PredictOptions {
    fn default() -> Self {
        Self {
            servers: 3,
            regions: 3,
            splits: Splits::Auto,
            split_keys: None,
            clients: 64,
            pace: 1.0,
            seed: 1,
        }
    }
}

setters! { PredictOptions:
    with_servers sets servers: usize;
    with_regions sets regions: usize;
    with_splits sets splits: Splits;
    with_split_keys sets split_keys: impl Into<Option<Vec<Vec<u8>>>>;
    with_clients sets clients: usize;
    with_pace sets pace: f64;
    with_seed sets seed: u64;
}

impl PredictOptions {
    /// Rejects settings that cannot be predicted.
    ///
    /// # Errors
    /// [`RunError::Settings`] with the setting and its range.
    pub fn check(&self) -> Result<(), RunError> {
        let rules = [
            ((1..=10_000).contains(&self.servers), "--servers is 1 to 10000"),
            ((1..=100_000).contains(&self.regions), "--regions is 1 to 100000"),
            ((1..=10_000).contains(&self.clients), "--clients is 1 to 10000"),
            ((0.001..=1000.0).contains(&self.pace), "--pace is 0.001 to 1000"),
            (self.splits != Splits::Growing, "a recording has no table that grows: --splits"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(RunError::Settings((*rule).to_owned())),
            None => check_split_keys(self.split_keys.as_deref().unwrap_or_default()),
        }
    }
}

/// What servers are taken to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Servers {
    /// A model of service times, with this many handlers. It has no interval.
    Given(ServiceTime, usize),
    /// As measured.
    Calibrated(Calibration),
}

/// A figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// What is predicted.
    pub predicted: f64,
    /// The least and the greatest to expect; `None` without a calibration.
    pub interval: Option<(f64, f64)>,
    /// What was measured.
    pub measured: Option<f64>,
}

/// What is predicted for a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The key.
    pub choice: KeyChoice,
    /// The split keys of its table.
    pub splits: Vec<Vec<u8>>,
    /// Recorded requests that have a row under it.
    pub requests: usize,
    /// Recorded requests that have none.
    pub left_out: u64,
    /// Calls that these requests are.
    pub calls: usize,
    /// The busiest server's share of them.
    pub busiest_share: f64,
    /// Requests a second that the servers sustain.
    pub throughput: Figure,
    /// The median latency of a call at the pace, in nanoseconds.
    pub p50_ns: Figure,
    /// The 99th percentile, in nanoseconds.
    pub p99_ns: Figure,
}

/// Throughput, median and 99th percentile of one simulation or measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Trio([f64; 3]);

impl Trio {
    fn of(keyed: &Keyed, calls_per_second: f64, latency: &Latency) -> Self {
        let requests = keyed.requests as f64 / keyed.calls.len().max(1) as f64;
        Self([calls_per_second * requests, latency.p50_ns as f64, latency.p99_ns as f64])
    }
}

/// Predicts a key, and measures it on a cluster if there is one: with a table
/// `hblite_hotspot_prediction`, which must not exist, and which is dropped at the end.
///
/// # Errors
/// [`RunError::Settings`] for settings that do not fit together, [`RunError::Design`] for a key
/// that the recorded rows cannot have, or those of the cluster.
pub fn predict(
    load: &RecordedLoad,
    key: Option<&Design>,
    choice: &KeyChoice,
    servers: &Servers,
    options: &PredictOptions,
    cluster: Option<&Connection>,
) -> Result<Prediction, RunError> {
    options.check()?;
    let splitting = Splitting {
        regions: options.regions,
        splits: options.splits,
        present: options.split_keys.as_deref(),
        seed: options.seed,
    };
    let keyed = Keyed::new(load, key, choice, &splitting)?;
    let simulated = Simulated::new(&keyed, options);
    let Trio(predicted) = simulated.run(&servers.model(), options.seed)?;
    let intervals = match servers {
        Servers::Given(..) => None,
        Servers::Calibrated(calibration) => {
            Some(simulated.intervals(calibration, predicted, options.seed)?)
        }
    };
    let measured = match cluster {
        Some(cluster) => Some(measure::measure(cluster, &keyed, load.value_bytes, options)?.0),
        None => None,
    };
    let figure = |index: usize| Figure {
        predicted: predicted[index],
        interval: intervals.map(|intervals| intervals[index]),
        measured: measured.map(|measured| measured[index]),
    };
    let busiest_share = simulated.busiest_share();
    Ok(Prediction {
        choice: choice.clone(),
        requests: keyed.requests,
        left_out: keyed.left_out,
        calls: keyed.calls.len(),
        busiest_share,
        throughput: figure(0),
        p50_ns: figure(1),
        p99_ns: figure(2),
        splits: keyed.splits,
    })
}

impl Servers {
    /// The model of the figures between the ends of their intervals.
    pub fn model(&self) -> Model {
        match self {
            Self::Given(time, handlers) => Model {
                handlers: *handlers,
                service: Service::alike(time.clone()),
                shared: CallTimes::default(),
                outside: CallTimes::default(),
            },
            Self::Calibrated(calibration) => calibration.model(),
        }
    }
}

/// Calls to simulate.
struct Simulated<'k> {
    keyed: &'k Keyed,
    options: &'k PredictOptions,
    requests: Vec<Request>,
    windows: [Window; 1],
    parents: Vec<Option<u32>>,
}

impl<'k> Simulated<'k> {
    fn new(keyed: &'k Keyed, options: &'k PredictOptions) -> Self {
        let (requests, regions) = keyed.traffic();
        let windows = [Window { first_request: 0, regions: (0..regions as u32).collect() }];
        Self { keyed, options, requests, windows, parents: vec![None; regions] }
    }

    fn run(&self, model: &Model, seed: u64) -> Result<Trio, RunError> {
        let service = &model.service;
        let service_ns = service.write.mean_ns().max(service.read.mean_ns());
        if service_ns * self.requests.len() as f64 > TOTAL_MAX_NS {
            return Err(RunError::Settings(
                "so many calls with so long service times would take years: they are not simulated"
                    .to_owned(),
            ));
        }
        let Self { requests, windows, parents, .. } = self;
        let traffic = Traffic { requests, windows, parents };
        let cluster = Cluster {
            servers: self.options.servers,
            handlers: model.handlers,
            queue_max: QUEUE_MAX.max(10 * model.handlers),
            clients: Some(self.options.clients),
            shared: model.shared,
            outside: model.outside,
            seed,
            ..Cluster::default()
        };
        let saturated = run(traffic, &model.service, &cluster, Pace::Saturating)?;
        let paced = run(traffic, &model.service, &cluster, Pace::Faster(self.options.pace))?;
        Ok(Trio::of(self.keyed, saturated.throughput, &paced.latency))
    }

    /// The intervals around the three predicted figures.
    fn intervals(
        &self,
        calibration: &Calibration,
        predicted: [f64; 3],
        seed: u64,
    ) -> Result<[(f64, f64); 3], RunError> {
        let mut random = random(seed, PURPOSE);
        let mut intervals = predicted.map(|figure| (figure, figure));
        for draw in 1..=DRAWS {
            let model = calibration.drawn(&mut random);
            let Trio(figures) = self.run(&model, seed.wrapping_add(draw))?;
            for ((low, high), figure) in intervals.iter_mut().zip(figures) {
                (*low, *high) = (low.min(figure), high.max(figure));
            }
        }
        let Widening { throughput, latency } = Widening::of(&calibration.model());
        let factors = [throughput, latency, latency];
        for ((low, high), (down, up)) in intervals.iter_mut().zip(factors) {
            (*low, *high) = (*low / down, *high * up);
        }
        Ok(intervals)
    }

    fn busiest_share(&self) -> f64 {
        let mut counts = vec![0_u64; self.options.servers];
        for request in &self.requests {
            counts[request.region as usize % self.options.servers] += 1;
        }
        let busiest = counts.iter().max().copied().unwrap_or(0);
        busiest as f64 / self.requests.len().max(1) as f64
    }
}
