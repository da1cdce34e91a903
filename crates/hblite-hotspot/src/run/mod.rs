//! Runs a design on a store: writes the stream, runs the queries, and counts with the store's own
//! counters.
//!
//! A window is a slice of the simulated clock. First several threads write all of its records in
//! batches, then the window's share of queries runs, then the counters of all regions are read.
//! Only a growing table waits for real time, for its splits; on other tables the counts depend on
//! the settings alone.
//!
//! On a cluster the same happens through its client, and the counters are those of its region
//! servers. A run creates and drops its own tables there, and does not touch others.
//!
//! Steps: `stream` decides which entity comes when; `splits` splits the table; `write` and `read`
//! do the work; `sample` turns counters into counts; `simulation` puts the stream on region
//! servers.

mod baseline;
mod error;
mod export;
#[cfg(test)]
mod independent;
mod options;
mod place;
#[cfg(test)]
mod queues;
mod read;
mod sample;
mod simulation;
mod splits;
mod stream;
mod target;
#[cfg(test)]
mod tests;
mod write;

use std::time::{Duration, Instant};

use hblite::{Connection, RegionStatus, TableName};

pub use baseline::BASELINE_NS;
pub use error::RunError;
pub use export::export_keys;
pub use options::{RunOptions, ServiceLaw, Splits, check_split_keys};
pub use splits::check_design;
pub(crate) use splits::choose_splits;
pub use stream::Stream;
pub(crate) use target::natural_splits;
pub use target::{About, Asked, CaseStudyDesign, Opened, Target, targets};

use crate::result::{Imbalances, RunResult, Settings, Spread, Storage, VERSION, Writing};
use place::{Place, Tables};
use read::Reader;
use sample::Sampler;
use write::Writer;

/// How long a window waits for due splits.
const SPLIT_WAIT: Duration = Duration::from_millis(500);

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Records written.
    pub records: u64,
    /// Records to write.
    pub records_total: u64,
}

/// Runs a design on a stream and counts; `progress` is called after each window.
///
/// ```
/// use hblite_hotspot::run::{run, RunOptions, Stream};
/// use hblite_hotspot::study::{Candidate, Study};
/// let options = RunOptions::default().with_records(2_000).with_windows(10);
/// let study = Study::find("salting")?;
/// let spread = |design: &str| -> Result<f64, Box<dyn std::error::Error>> {
///     let candidate = Candidate::new(study, design, options.regions)?;
///     let stream = Stream::new(&candidate, &options)?;
///     let result = run(&candidate, &stream, &options, |_| {})?;
///     Ok(result.spread.writes.expect("there were writes").windowed.mean.max_over_mean)
/// };
/// assert!(spread("sequential")? > 3.0);
/// assert!(spread("hashed")? < 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RunError`] if the settings do not fit together or the store fails.
pub fn run(
    target: &dyn Target,
    stream: &Stream,
    options: &RunOptions,
    progress: impl FnMut(Progress),
) -> Result<RunResult, RunError> {
    options.check()?;
    run_in(&Place::own(target, options)?, target, stream, options, progress)
}

/// As [`run`], on a cluster: `cluster` is from `hblite::connect`. The tables of the design must
/// not exist there. They are dropped at the end, also after an error.
///
/// # Errors
/// As [`run`]; [`RunError::Settings`] if the tables are to grow, [`RunError::Design`] if one of
/// them exists.
pub fn run_on_cluster(
    cluster: &Connection,
    target: &dyn Target,
    stream: &Stream,
    options: &RunOptions,
    progress: impl FnMut(Progress),
) -> Result<RunResult, RunError> {
    options.check()?;
    if options.splits == Splits::Growing {
        let message = "tables cannot grow on a cluster: use other --splits";
        return Err(RunError::Settings(message.to_owned()));
    }
    run_in(&Place::cluster(cluster), target, stream, options, progress)
}

fn run_in(
    place: &Place,
    target: &dyn Target,
    stream: &Stream,
    options: &RunOptions,
    mut progress: impl FnMut(Progress),
) -> Result<RunResult, RunError> {
    let connection = place.connection();
    let splits = splits::split_keys(target, stream, options)?;
    let mut descriptors = target.tables()?;
    if options.service == ServiceLaw::Measured {
        descriptors.push(baseline::table()?);
    }
    let tables = Tables::create(place, &descriptors, &splits)?;
    let table_name = tables.first(target.name())?.clone();
    let opened = target.open(connection)?;
    let mut sampler = Sampler::new(connection, &table_name)?;
    let baseline = match options.service {
        ServiceLaw::Measured => Some(baseline::Baseline::open(connection)?),
        ServiceLaw::Given(_) => None,
    };
    let mut writer = Writer::new(&*opened, options, baseline);
    let mut reader = Reader::new(&*opened, stream, options);
    let mut traffic = simulation::TrafficBuilder::new(&*opened, stream);

    for (index, window) in stream.windows().iter().enumerate() {
        writer.write(stream, window)?;
        if options.splits == Splits::Growing {
            grow(connection, &table_name, options)?;
        }
        reader.ask(place, index)?;
        sampler.sample(window)?;
        let sent = traffic.window(window, sampler.layout())?;
        sampler.settle(&sent);
        progress(Progress {
            records: window.records.end as u64,
            records_total: stream.len() as u64,
        });
    }
    let storage = finish_storage(connection, &table_name, &writer, &sampler)?;
    tables.remove()?;
    let (counts, writes_of_split_regions) = sampler.finish();
    let service = simulation::service(options, writer.relative_ns());
    let simulations = traffic.simulate(&counts, &service, options)?;
    Ok(RunResult {
        version: VERSION,
        study: target.study().to_owned(),
        design: target.name().to_owned(),
        key: target.key(),
        settings: settings(stream, options),
        spread: Spread::of(&counts),
        imbalance: Imbalances::of(&counts, options.servers),
        counts,
        storage,
        writing: Writing { writes_of_split_regions, ..writer.writing() },
        queries: reader.finish(),
        simulations,
    })
}

/// The size at which regions are split, chosen to end with about the requested number.
fn split_bytes(options: &RunOptions) -> u64 {
    let cell_bytes = (options.value_bytes + 80) as u64;
    (options.records * cell_bytes / options.regions as u64).max(128 << 10)
}

/// Waits for the store to split grown regions. It does so in the background, and a window of the
/// simulated clock ends long before. A split that takes too long happens in a later window.
fn grow(connection: &Connection, table: &TableName, options: &RunOptions) -> Result<(), RunError> {
    let admin = connection.admin();
    admin.flush_table(table)?;
    let until = Instant::now() + SPLIT_WAIT;
    let is_large = |status: &RegionStatus| {
        status.region.table() == table && status.store_file_size_bytes > split_bytes(options)
    };
    while Instant::now() < until && admin.status()?.regions.iter().any(is_large) {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn finish_storage(
    connection: &Connection,
    table: &TableName,
    writer: &Writer<'_>,
    sampler: &Sampler<'_>,
) -> Result<Storage, RunError> {
    let admin = connection.admin();
    admin.flush_table(table)?;
    admin.major_compact_table(table)?;
    let regions = admin.status()?.regions;
    let own = regions.iter().filter(|status| status.region.table() == table);
    Ok(Storage {
        rows: writer.rows(),
        key_bytes: writer.key_bytes(),
        cell_bytes: sampler.bytes_written(),
        stored_bytes: own.map(|status| status.store_file_size_bytes).sum(),
    })
}

/// The settings in the form that results store.
pub fn settings(stream: &Stream, options: &RunOptions) -> Settings {
    Settings {
        records: options.records,
        entities: stream.entities(),
        regions: options.regions,
        splits: options.splits.to_string(),
        servers: options.servers,
        handlers: options.handlers,
        clients: options.clients,
        utilization: options.utilization,
        service: options.service.to_string(),
        rate: stream.rate(),
        distribution: options.distribution.to_string(),
        reads: options.reads,
        windows: options.windows,
        value_bytes: options.value_bytes,
        seed: options.seed,
    }
}
