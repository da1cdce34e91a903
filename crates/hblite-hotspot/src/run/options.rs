//! The settings of a run.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use hblite_model::setters;

use super::error::RunError;
use crate::generate::{Distribution, EntityLaw};
use crate::result::CELLS_MAX;
use crate::simulate::ServiceTime;

/// The settings of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunOptions {
    /// Records to write.
    pub records: u64,
    /// The number of entities; `None` for as many as the study suggests.
    pub entities: Option<u64>,
    /// Regions of the table; a growing one ends with about this many.
    pub regions: usize,
    /// How the table is split.
    pub splits: Splits,
    /// The split keys of [`Splits::Given`].
    pub split_keys: Vec<Vec<u8>>,
    /// Region servers of the simulation.
    pub servers: usize,
    /// Calls that a server of the simulation handles concurrently.
    pub handlers: usize,
    /// Clients of the simulation: concurrent calls.
    pub clients: usize,
    /// The share of what all servers can do at which latencies are simulated, above 0, below 1.
    pub utilization: f64,
    /// Requests a second of the simulated clock.
    pub rate: f64,
    /// Which entities requests are about, and whether they come in bursts.
    pub distribution: Distribution,
    /// How often each query runs; at most three times if it reads the whole table.
    pub reads: u64,
    /// Windows of time.
    pub windows: usize,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Puts per batch.
    pub batch: usize,
    /// Threads that write.
    pub threads: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// How long the servers of the simulation work on a request.
    pub service: ServiceLaw,
    /// How long a region that the simulated balancer moves accepts no calls, in milliseconds.
    pub move_ms: u64,
    /// Directory of the store; `None` to keep it in memory.
    pub dir: Option<PathBuf>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            records: 200_000,
            entities: None,
            regions: 4,
            splits: Splits::Auto,
            split_keys: Vec::new(),
            servers: 4,
            handlers: 1,
            clients: 64,
            utilization: 0.5,
            rate: 10_000.0,
            distribution: Distribution { entities: EntityLaw::Uniform, burst: None },
            reads: 100,
            windows: 60,
            value_bytes: 64,
            batch: 1000,
            threads: std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(8),
            seed: 1,
            service: ServiceLaw::MODEL,
            move_ms: 0,
            dir: None,
        }
    }
}

setters! { RunOptions:
    with_records sets records: u64;
    with_entities sets entities: impl Into<Option<u64>>;
    with_regions sets regions: usize;
    with_splits sets splits: Splits;
    with_split_keys sets split_keys: Vec<Vec<u8>>;
    with_servers sets servers: usize;
    with_handlers sets handlers: usize;
    with_clients sets clients: usize;
    with_utilization sets utilization: f64;
    with_rate sets rate: f64;
    with_distribution sets distribution: Distribution;
    with_reads sets reads: u64;
    with_windows sets windows: usize;
    with_value_bytes sets value_bytes: usize;
    with_batch sets batch: usize;
    with_threads sets threads: usize;
    with_seed sets seed: u64;
    with_service sets service: ServiceLaw;
    with_move_ms sets move_ms: u64;
    with_dir sets dir: impl Into<Option<PathBuf>>;
}

/// The maximum number of regions, and of windows.
const MANY: usize = 100_000;

impl RunOptions {
    /// Rejects settings that cannot be run.
    ///
    /// # Errors
    /// [`RunError::Settings`] with the setting and its range.
    pub fn check(&self) -> Result<(), RunError> {
        let entities = self.entities.unwrap_or(1);
        let rules = [
            ((1..=1 << 32).contains(&self.records), "--records is 1 to 4294967296"),
            ((1..=u64::from(u32::MAX)).contains(&entities), "--entities is 1 to 4294967295"),
            ((1..=MANY).contains(&self.regions), "--regions is 1 to 100000"),
            ((1..=MANY).contains(&self.windows), "--windows is 1 to 100000"),
            (
                self.regions.saturating_mul(self.windows) <= CELLS_MAX,
                "--regions times --windows is at most 20000000",
            ),
            ((1..=10_000).contains(&self.servers), "--servers is 1 to 10000"),
            ((1..=10_000).contains(&self.handlers), "--handlers is 1 to 10000"),
            ((1..=1_000_000).contains(&self.clients), "--clients is 1 to 1000000"),
            (
                self.utilization > 0.0 && self.utilization < 1.0,
                "--utilization is above 0 and below 1",
            ),
            (self.rate > 0.0 && self.rate <= 1e9, "--rate is above 0 and at most 1000000000"),
            (self.value_bytes <= 1 << 20, "--value-bytes is at most 1048576"),
            ((1..=100_000).contains(&self.batch), "--batch is 1 to 100000"),
            ((1..=256).contains(&self.threads), "--threads is 1 to 256"),
            (self.reads <= 1_000_000, "--reads is at most 1000000"),
            (
                self.windows as u64 <= self.records,
                "--windows is at most --records: an empty window shows nothing",
            ),
        ];
        if let Some((_, rule)) = rules.iter().find(|(holds, _)| !holds) {
            return Err(RunError::Settings((*rule).to_owned()));
        }
        match self.splits {
            Splits::Given if self.split_keys.len() + 1 != self.regions => {
                let message = "there is one region more than split keys";
                Err(RunError::Settings(message.to_owned()))
            }
            Splits::Given => check_split_keys(&self.split_keys),
            _ => Ok(()),
        }
    }
}

/// Rejects split keys that are not those of a table: in ascending order, each once, none empty.
///
/// # Errors
/// [`RunError::Settings`] with the first wrong key.
pub fn check_split_keys(keys: &[Vec<u8>]) -> Result<(), RunError> {
    let mut before: &[u8] = b"";
    for key in keys {
        if **key <= *before {
            let text = hblite::bytes::to_string_binary;
            let message = format!(
                "split keys ascend: \"{}\" does not come after \"{}\"",
                text(key),
                text(before)
            );
            return Err(RunError::Settings(message));
        }
        before = key;
    }
    Ok(())
}

/// How a table is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Splits {
    /// At the salts, buckets or hashes that keys begin with; by quantiles if these are fewer than
    /// the regions, or keys begin with a field.
    Auto,
    /// The key space in equal parts: at the salts, buckets or hashes, otherwise as HBase's
    /// `UniformSplit` does, without knowledge of the keys.
    Uniform,
    /// At the quantiles of a sample of the keys that will be written.
    Quantiles,
    /// One region at first, which the store splits as it grows.
    Growing,
    /// At the keys of [`RunOptions::split_keys`].
    Given,
}

impl fmt::Display for Splits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Uniform => "uniform",
            Self::Quantiles => "quantiles",
            Self::Growing => "growing",
            Self::Given => "given",
        })
    }
}

impl FromStr for Splits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Auto, Self::Uniform, Self::Quantiles, Self::Growing]
            .into_iter()
            .find(|splits| splits.to_string() == text)
            .ok_or_else(|| format!("{text:?} is not auto, uniform, quantiles or growing"))
    }
}

/// How long the servers of the simulation work on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceLaw {
    /// As long as single puts took in this store, relative to a common baseline put, which counts
    /// as [`BASELINE_NS`](super::BASELINE_NS).
    Measured,
    /// As given, for writes and reads.
    Given(ServiceTime),
}

impl ServiceLaw {
    /// The default: a model, so that designs with equal keys get equal figures. The mean is about
    /// what a put takes in HBase.
    pub const MODEL: Self = Self::Given(ServiceTime::Exponential(200_000));
}

impl fmt::Display for ServiceLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |nanos: u64| nanos as f64 / 1000.0;
        match self {
            Self::Given(ServiceTime::Constant(nanos)) => write!(f, "constant({})", micros(*nanos)),
            Self::Given(ServiceTime::Exponential(nanos)) => {
                write!(f, "exponential({})", micros(*nanos))
            }
            Self::Given(ServiceTime::Measured(_)) | Self::Measured => f.write_str("measured"),
        }
    }
}

impl Eq for ServiceTime {}

impl FromStr for ServiceLaw {
    type Err = String;

    /// `measured`, `constant(200)` or `exponential(200)`, in microseconds.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("{text:?} is not measured, constant(MICROSECONDS) or exponential(MICROSECONDS)")
        };
        if text == "measured" {
            return Ok(Self::Measured);
        }
        let (name, rest) = text.split_once('(').ok_or_else(wrong)?;
        let micros: f64 = rest.strip_suffix(')').and_then(|n| n.parse().ok()).ok_or_else(wrong)?;
        if !(micros > 0.0 && micros <= 1e9) {
            return Err(wrong());
        }
        let nanos = (micros * 1000.0) as u64;
        match name {
            "constant" => Ok(Self::Given(ServiceTime::Constant(nanos))),
            "exponential" => Ok(Self::Given(ServiceTime::Exponential(nanos))),
            _ => Err(wrong()),
        }
    }
}
