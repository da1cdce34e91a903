//! `hblite hotspot run`.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hblite::Connection;
use hblite_hotspot::generate::Distribution;
use hblite_hotspot::report::{Colours, greatest, terminal_heat_map};
use hblite_hotspot::result::{self, Metric, RunResult};
use hblite_hotspot::run::{
    Progress, RunOptions, ServiceLaw, Splits, Stream, Target, check_design, export_keys,
    run as run_design, run_on_cluster, settings, targets,
};
use hblite_hotspot::study::split_designs;

use super::own_data::OwnDataArguments;
use super::split_keys::SplitKeyArguments;
use super::{FailIf, judge, print_tables};
use crate::output::{FAILURE, fail, print, record_bar, tell};
use crate::terminal::{color_is_wanted, width};
use crate::transfer::output_file::{check_directory, check_file, write_file};
use crate::transfer::place::connect;

/// The study, its designs, and the settings of the run.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RunArguments {
    /// The study; 'hblite hotspot studies' lists them
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present_any = ["keys", "table"],
        conflicts_with_all = ["keys", "table"]
    )]
    study: Option<String>,
    #[command(flatten)]
    own: OwnDataArguments,
    /// Designs by name, or keys over the study's fields like 'bucket(ts, 8)|ts:timestamp|host:str';
    /// all designs of the study by default
    #[arg(long, value_name = "A,B,…")]
    design: Option<String>,
    /// Directory of the results, a file for each design
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Records to write
    #[arg(long, default_value_t = 200_000)]
    records: u64,
    /// Number of hosts, customers or cars in the records [default: depends on the study]
    #[arg(long)]
    entities: Option<u64>,
    /// Regions of the table
    #[arg(long, default_value_t = 16, conflicts_with_all = ["split_keys", "splits_from"])]
    regions: usize,
    /// Salts or buckets of the study's designs [default: the number of regions]
    #[arg(long)]
    buckets: Option<usize>,
    /// How the table is split: auto, uniform, quantiles or growing
    #[arg(long, default_value_t = Splits::Auto, conflicts_with_all = ["split_keys", "splits_from"])]
    splits: Splits,
    #[command(flatten)]
    given: SplitKeyArguments,
    /// Region servers of the simulation
    #[arg(long, default_value_t = 4)]
    servers: usize,
    /// Calls that each server handles concurrently
    #[arg(long, default_value_t = 1)]
    handlers: usize,
    /// Share of the servers' capacity at which latencies are simulated, 0 to 1
    #[arg(long, default_value_t = 0.5)]
    utilization: f64,
    /// Clients of the simulation
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Records per second of the simulated clock
    #[arg(long, default_value_t = 10_000.0)]
    rate: f64,
    /// uniform, zipfian(THETA), latest(THETA), power-law(ALPHA), bursty(RATIO), or one of the first
    /// four with +bursty(RATIO)
    #[arg(long, default_value = "uniform")]
    distribution: Distribution,
    /// How often each query runs
    #[arg(long, default_value_t = 100)]
    reads: u64,
    /// Windows of time
    #[arg(long, default_value_t = 60)]
    windows: usize,
    /// Bytes of a value
    #[arg(long, default_value_t = 64)]
    value_bytes: usize,
    /// Puts per batch
    #[arg(long, default_value_t = 1000)]
    batch: usize,
    /// Threads that write [default: the number of cores]
    #[arg(long)]
    threads: Option<usize>,
    /// Seed for everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Service time of a request in the simulation: exponential(MICROSECONDS) or
    /// constant(MICROSECONDS), which are models, or measured: the time that puts take here,
    /// relative to a baseline put timed alternately, which counts as 200 µs
    #[arg(long, default_value_t = ServiceLaw::MODEL)]
    service: ServiceLaw,
    /// Time for which a moved region accepts no calls in the simulation, in milliseconds
    #[arg(long, default_value_t = 0)]
    move_ms: u64,
    /// Keeps the tables in a store in this directory instead of in memory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Writes and reads on this cluster instead, and takes the counts from its region servers:
    /// hbase://zookeeper-host:2181/hbase or hbase+rpc://host:16000. The tables must not exist;
    /// they are dropped at the end
    #[arg(long, value_name = "URL", conflicts_with = "dir")]
    connect: Option<String>,
    /// Saves the split keys and the keys of the records to a file, to write them to another HBase;
    /// for a single design
    #[arg(long, value_name = "FILE")]
    keys_out: Option<PathBuf>,
    /// Replaces the file of --keys-out if it exists
    #[arg(long, requires = "keys_out")]
    overwrite: bool,
    #[command(flatten)]
    fail_if: FailIf,
}

const AFTER_HELP: &str = "\
The same settings give the same counts. Measured figures (puts per second, latencies,
service times) differ from run to run.

'hblite hotspot report DIR' creates a page and pictures from the results.";

impl RunArguments {
    fn options(&self) -> Result<RunOptions, String> {
        let default = RunOptions::default();
        let options = RunOptions::default()
            .with_records(self.records)
            .with_entities(self.entities)
            .with_regions(self.regions)
            .with_splits(self.splits)
            .with_servers(self.servers)
            .with_handlers(self.handlers)
            .with_clients(self.clients)
            .with_utilization(self.utilization)
            .with_rate(self.rate)
            .with_distribution(self.distribution)
            .with_reads(self.reads)
            .with_windows(self.windows)
            .with_value_bytes(self.value_bytes)
            .with_batch(self.batch)
            .with_threads(self.threads.unwrap_or(default.threads))
            .with_seed(self.seed)
            .with_service(self.service.clone())
            .with_move_ms(self.move_ms)
            .with_dir(self.dir.clone());
        Ok(match self.given.keys(self.own.store(self.connect.as_deref()))? {
            Some(keys) => options
                .with_regions(keys.len() + 1)
                .with_splits(Splits::Given)
                .with_split_keys(keys),
            None => options,
        })
    }
}

pub(crate) fn run(arguments: &RunArguments) -> ExitCode {
    match run_all(arguments) {
        Ok(results) => {
            let max = greatest(&results, Metric::Writes);
            for result in &results {
                let columns = width().unwrap_or(100);
                let map = terminal_heat_map(result, (Metric::Writes, max), columns, 16, colours());
                print(&format!("{map}\n"));
            }
            print_tables(&results);
            print(&format!(
                "Results are in {0}. For a page and pictures: hblite hotspot report {0}\n",
                arguments.out.display()
            ));
            judge(&results, &arguments.fail_if)
        }
        Err(reason) => fail(&reason, FAILURE),
    }
}

fn run_all(arguments: &RunArguments) -> Result<Vec<RunResult>, String> {
    if arguments.own.has_store_only() && !arguments.given.may_be_of_table() {
        return Err("--store is where the table of --table or --splits-from is".to_owned());
    }
    if arguments.own.is_given() {
        return run_own(arguments);
    }
    let options = arguments.options()?;
    options.check().map_err(|error| error.to_string())?;
    let buckets = arguments.buckets.unwrap_or(options.regions);
    let names = arguments.design.as_deref().map(split_designs).unwrap_or_default();
    let study = arguments.study.as_deref().unwrap_or_default();
    let designs = targets(study, &names, buckets).map_err(|error| error.to_string())?;
    let [first, ..] = designs.as_slice() else { return Err("no design was given".to_owned()) };
    let stream = Stream::new(&**first, &options).map_err(|error| error.to_string())?;
    run_designs(arguments, &designs, &stream, &options)
}

/// Runs designs over recorded data.
fn run_own(arguments: &RunArguments) -> Result<Vec<RunResult>, String> {
    let loaded = arguments
        .own
        .load(arguments.design.as_deref().unwrap_or_default(), arguments.connect.as_deref())?;
    let mut options = arguments.options()?;
    options.records = loaded.records;
    options.windows = options.windows.min(usize::try_from(loaded.records).unwrap_or(usize::MAX));
    let stream = Stream::recorded(loaded.times_ms.as_deref(), &options);
    let stream = stream.map_err(|error| error.to_string())?;
    run_designs(arguments, &loaded.designs, &stream, &options)
}

fn run_designs(
    arguments: &RunArguments,
    designs: &[Box<dyn Target>],
    stream: &Stream,
    options: &RunOptions,
) -> Result<Vec<RunResult>, String> {
    let [first, ..] = designs else { return Err("no design was given".to_owned()) };
    if arguments.keys_out.is_some() && designs.len() != 1 {
        return Err("--keys-out writes the keys of one design: name it with --design".to_owned());
    }
    result::check_same_run(&arguments.out, first.study(), &settings(stream, options))
        .map_err(|error| error.to_string())?;
    for design in designs {
        let note = check_design(&**design, stream, options)
            .map_err(|error| format!("{}: {error}", design.name()))?;
        if let Some(note) = note {
            tell(&format!("{}: {note}\n", design.name()));
        }
    }
    // At the end it would be too late to report this.
    arguments.keys_out.as_ref().map_or(Ok(()), |file| check_file(file, arguments.overwrite))?;
    check_directory(&arguments.out)?;
    let cluster = arguments.connect.as_deref().map(connect).transpose()?;
    let mut results = Vec::new();
    for design in designs {
        let result = run_one(arguments, cluster.as_ref(), &**design, stream, options)
            .map_err(|reason| format!("{}: {reason}", design.name()))?;
        results.push(result);
    }
    Ok(results)
}

fn run_one(
    arguments: &RunArguments,
    cluster: Option<&Connection>,
    design: &dyn Target,
    stream: &Stream,
    options: &RunOptions,
) -> Result<RunResult, String> {
    let bar = record_bar();
    let progress = |progress: Progress| {
        bar.set_length(progress.records_total);
        bar.set_position(progress.records);
    };
    let result = match cluster {
        Some(cluster) => run_on_cluster(cluster, design, stream, options, progress),
        None => run_design(design, stream, options, progress),
    };
    bar.finish_and_clear();
    let result = result.map_err(|error| error.to_string())?;
    result::write(&arguments.out, &result).map_err(|error| error.to_string())?;
    if let Some(path) = &arguments.keys_out {
        write_file(path, arguments.overwrite, |output| {
            export_keys(design, stream, options, output)
        })?;
    }
    Ok(result)
}

/// What the terminal can display.
pub(super) fn colours() -> Colours {
    if !std::io::stdout().is_terminal() || !color_is_wanted() {
        return Colours::Plain;
    }
    let has_true = std::env::var("COLORTERM")
        .is_ok_and(|term| term.contains("truecolor") || term.contains("24bit"));
    if has_true { Colours::True } else { Colours::Palette }
}
