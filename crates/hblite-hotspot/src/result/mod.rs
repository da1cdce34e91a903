//! The result of running one design: a JSON file, `DIR/<design>.json`.
//!
//! The format has a version, [`VERSION`]; files of other versions are refused. Keys are written as
//! HBase's `Bytes.toStringBinary` does. Times are nanoseconds of the simulated clock since the
//! start of the run, except where a name says that they were measured. The crate's README describes
//! the file for readers with other tools.

mod counts;
mod figures;
mod file;

use serde::{Deserialize, Serialize};

pub use counts::{CELLS_MAX, Counts, Metric, Region, WindowCounts};
pub use figures::{Spread, SpreadOf};
pub(crate) use file::file_name;
pub use file::{ResultError, check_same_run, read, read_all, write};

use crate::figures::balancer::Imbalance;
use crate::simulate::{Cluster, Latency, Outcome};

/// The version of the format that this crate writes and reads.
pub const VERSION: u32 = 1;

/// The result of running one design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`VERSION`].
    pub version: u32,
    /// The study's name.
    pub study: String,
    /// The design's name.
    pub design: String,
    /// Its keys, in the language of `hblite-rowkey`.
    pub key: String,
    /// The settings of the run.
    pub settings: Settings,
    /// Requests per window and region.
    pub counts: Counts,
    /// How evenly they are spread over regions.
    pub spread: Spread,
    /// How HBase's balancer rates the spread over servers.
    pub imbalance: Imbalances,
    /// What is stored.
    pub storage: Storage,
    /// The rate of the puts.
    pub writing: Writing,
    /// What the queries cost.
    pub queries: Vec<QueryCost>,
    /// The stream on region servers.
    pub simulations: Vec<Simulation>,
}

/// The study of a watched cluster.
pub(crate) const WATCH: &str = "watch";

/// The settings of a run. The same settings give the same counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Records written.
    pub records: u64,
    /// The number of hosts, customers or cars that records are about.
    pub entities: u64,
    /// Requested regions; a growing table begins with one.
    pub regions: usize,
    /// How the table is split: `uniform`, `quantiles` or `growing`.
    pub splits: String,
    /// Region servers of the simulation.
    pub servers: usize,
    /// Calls that a server of the simulation handles concurrently.
    #[serde(default = "one")]
    pub handlers: usize,
    /// Clients of the simulation.
    pub clients: usize,
    /// The share of what all servers can do at which latencies are simulated.
    #[serde(default = "half")]
    pub utilization: f64,
    /// How long servers work on a request: `exponential(200)` in microseconds, or `measured`.
    #[serde(default = "measured")]
    pub service: String,
    /// Requests per second of the simulated clock.
    pub rate: f64,
    /// The law of the requests, like `zipfian(0.99)`.
    pub distribution: String,
    /// How often each query should run.
    pub reads: u64,
    /// Windows of time.
    pub windows: usize,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// The seed of all random numbers.
    pub seed: u64,
}

// Settings that results of earlier versions do not state.
fn one() -> usize {
    1
}

fn half() -> f64 {
    0.5
}

fn measured() -> String {
    "measured".to_owned()
}

/// How HBase's balancer rates the spread, with regions assigned by count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Imbalances {
    /// Mean over the windows, weighted by their requests.
    pub windowed: Imbalance,
    /// For the whole run.
    pub total: Imbalance,
}

/// What is stored at the end.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Storage {
    /// Rows written.
    pub rows: u64,
    /// Bytes of their keys.
    pub key_bytes: u64,
    /// Bytes of the cells written, keys and all, by the regions' own counters.
    pub cell_bytes: u64,
    /// Bytes of the store files after a flush and a major compaction.
    pub stored_bytes: u64,
}

/// Timings of the puts; measured, so different each time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Writing {
    /// Seconds that the writers took.
    pub seconds: f64,
    /// Puts a second.
    pub puts_per_second: f64,
    /// Threads that wrote.
    pub threads: usize,
    /// Writes that no counter shows, because their region was split in the window. The halves are
    /// assigned what the writers sent.
    pub writes_of_split_regions: u64,
    /// What single puts cost; `None` unless `--service measured` was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredPuts>,
}

/// Single puts of a design against puts of a common baseline, timed alternately.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeasuredPuts {
    /// Pairs of a put and a baseline put.
    pub pairs: u64,
    /// Median time of a baseline put, in nanoseconds: how busy the machine was.
    pub baseline_ns: f64,
    /// Median over the windows: the time of a put over that of a baseline put.
    pub relative_cost: f64,
    /// Lower quartile over the windows.
    pub relative_cost_low: f64,
    /// Upper quartile over the windows.
    pub relative_cost_high: f64,
}

/// What one query cost, on average over its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryCost {
    /// The query's name.
    pub name: String,
    /// What it asks for.
    pub about: String,
    /// Whether the design must read the whole table.
    pub is_full_scan: bool,
    /// How often it was run.
    pub runs: u64,
    /// Scans of a run.
    pub scans: f64,
    /// Regions that these opened, each with at least one call to a server.
    pub regions: f64,
    /// Rows that were read.
    pub rows_read: f64,
    /// Cells that regions examined; 0 if they were on a cluster, whose servers do not count them.
    pub cells_examined: f64,
    /// Rows in the answer.
    pub rows_returned: f64,
    /// Duration of a run, measured.
    pub latency: Latency,
}

impl QueryCost {
    /// Whether cells were counted.
    pub(crate) fn is_counted(&self) -> bool {
        self.cells_examined > 0.0 || self.rows_read == 0.0
    }
}

/// The writes of the stream on region servers under one balancer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// Servers, clients, balancer.
    pub cluster: Cluster,
    /// Mean simulated time of a put, in nanoseconds.
    pub write_service_ns: f64,
    /// All clients send as fast as they are answered: the sustained throughput.
    pub saturated: Outcome,
    /// What one server sustains, in requests a second.
    pub one_server_throughput: f64,
    /// Sustained throughput over that of one server.
    pub speed_up: f64,
    /// Requests arrive as in the stream.
    pub paced: Outcome,
    /// Requests a second of that stream.
    pub paced_rate: f64,
}
