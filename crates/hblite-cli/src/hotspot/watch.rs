//! `hblite hotspot watch`: where the load of a running cluster goes.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use hblite::Connection;
use hblite::bytes::from_string_binary;
use hblite_hotspot::advise::Expected;
use hblite_hotspot::condition::NamedFigures;
use hblite_hotspot::findings::HotReport;
use hblite_hotspot::report::{greatest, terminal_heat_map};
use hblite_hotspot::result::{self, Metric, RunResult};
use hblite_hotspot::watch::{Reading, Verdict, changes, hot, tables, verdict, watched, written};

use super::source::{DOCUMENT_MAX, Source};
use super::{FailIf, judge_all};
use crate::output::{FAILURE, fail, print, tell};
use crate::terminal::width;
use crate::transfer::output_file::{check_directory, check_file, write_file};
use crate::transfer::place::connect;

/// Number of tables to show if none is named.
const TABLES_MAX: usize = 5;
/// Readings of a recording.
const READINGS_MAX: usize = 100_000;

/// What to watch, and for how long.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct WatchArguments {
    /// URLs of servers, or a file with a recording
    #[arg(value_name = "URL|FILE", required = true)]
    sources: Vec<String>,
    /// Table to show; may be given several times [default: the busiest five]
    #[arg(long, value_name = "TABLE")]
    table: Vec<String>,
    /// Seconds between two readings
    #[arg(long, value_name = "SECONDS", default_value_t = 5,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    every: u64,
    /// Windows to watch
    #[arg(long, value_name = "N", default_value_t = 12,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    windows: u32,
    /// What the heat map shows
    #[arg(long, value_enum, default_value_t = Shown::Writes)]
    metric: Shown,
    /// Design of the table's keys, such as 'ts:timestamp|host:str', for the proposal of other keys
    /// [default: the key is one field]
    #[arg(long, value_name = "DESIGN")]
    key: Option<String>,
    /// File with the expected queries, as for 'hblite hotspot advise' [default: lookups of whole
    /// keys, and a range]
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// Saves the readings to a file, one per line
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Replaces the file of --record if it exists
    #[arg(long, requires = "record")]
    overwrite: bool,
    /// Prints what is hot in the last minute as one JSON document, the answer to 'GET /hot'
    #[arg(long, conflicts_with = "out")]
    json: bool,
    /// Directory for results, a page and pictures, as from 'hblite hotspot run'
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    fail_if: FailIf,
}

/// What the heat map shows.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shown {
    Writes,
    Reads,
    Bytes,
}

impl Shown {
    fn metric(self) -> Metric {
        match self {
            Self::Writes => Metric::Writes,
            Self::Reads => Metric::Reads,
            Self::Bytes => Metric::Bytes,
        }
    }
}

const AFTER_HELP: &str = "\
Sources:
  hbase://zookeeper-host:2181/hbase    a cluster, through the client protocol
  hbase+rpc://host:16000               the same, without ZooKeeper
  http://regionserver:16030/jmx        metrics of a region server; give one URL for each server
  http://rest-host:8080/status/cluster HBase's REST server
  http://127.0.0.1:16010/status        hblite serve
  FILE                                 a recording: --record writes one. A line may also be
                                       {\"time_ms\": ..., \"documents\": [...]} with answers of
                                       the URLs above
Keys: hblite serve counts the rows of requests, and who sends them. On Apache HBase, hbase://
searches the hot region for the cells that were written meanwhile. JMX and REST have no keys, and
JMX has only the encoded names of regions. For known keys, the adviser of 'hblite hotspot advise'
proposes others.";

pub(crate) fn run(arguments: &WatchArguments) -> ExitCode {
    match watch(arguments) {
        Ok(figures) => judge_all(&figures, &arguments.fail_if),
        Err(reason) => fail(&reason, FAILURE),
    }
}

/// Shows what was seen, and returns the figures of each table.
fn watch(arguments: &WatchArguments) -> Result<Vec<(String, NamedFigures)>, String> {
    let expected = expected(arguments)?;
    // At the end it would be too late to report this.
    arguments.record.as_ref().map_or(Ok(()), |file| check_file(file, arguments.overwrite))?;
    arguments.out.as_ref().map_or(Ok(()), |dir| check_directory(dir))?;
    let (first, others) = arguments.sources.split_first().ok_or("a source is missing")?;
    let is_url = first.contains("://");
    if !others.is_empty() && !arguments.sources.iter().all(|source| source.starts_with("http://")) {
        return Err("only http:// URLs can be given together".to_owned());
    }
    let cluster = match is_url && !first.starts_with("http://") {
        true => Some(connect(first)?),
        false => None,
    };
    let readings = match is_url {
        true => live(arguments, cluster.as_ref())?,
        false => recorded(Path::new(first))?,
    };
    if let Some(path) = &arguments.record {
        write_file(path, arguments.overwrite, |output| {
            readings.iter().try_for_each(|reading| writeln!(output, "{}", reading.to_line()))
        })?;
    }
    let mut names = arguments.table.clone();
    if names.is_empty() {
        names = tables(&readings);
        names.retain(|name| !name.starts_with("hbase:"));
        names.truncate(TABLES_MAX);
    }
    if names.is_empty() && !arguments.json {
        return Err("no table had requests while it was watched".to_owned());
    }
    let servers = if is_url { arguments.sources.len() } else { 1 };
    let results = names.iter().map(|name| watched(&readings, name, servers));
    let results: Vec<RunResult> = results.collect::<Result<_, _>>()?;
    let mut figures: Vec<(String, NamedFigures)> =
        results.iter().map(|result| (result.design.clone(), result.named_figures())).collect();
    if arguments.json || arguments.fail_if.is_any() {
        let report = hot_report(&readings, &names, cluster.as_ref())?;
        for ((_, figures), table) in figures.iter_mut().zip(&report.tables) {
            figures.extend(table.figures());
        }
        if arguments.json {
            print(&format!("{}\n", serde_json::json!(report)));
            return Ok(figures);
        }
    }
    show(arguments, &expected, cluster.as_ref(), &readings, &results)?;
    Ok(figures)
}

/// What was hot in the last minute.
fn hot_report(
    readings: &[Reading],
    names: &[String],
    cluster: Option<&Connection>,
) -> Result<HotReport, String> {
    let mut report = HotReport::of_last_minute(readings);
    for name in names {
        let mut found = hot(readings, name, None)?;
        if let (Some(cluster), Some(region)) = (cluster, &found.unknown) {
            found = match written(cluster, region) {
                Ok(written) => hot(readings, name, Some(&written))?,
                Err(error) => {
                    let text = format!("The rows of the hottest region are not known: {error}");
                    found.with_text(text)
                }
            };
        }
        report.tables.push(found.hot);
    }
    Ok(report)
}

/// The known design of the keys, and the known queries.
fn expected(arguments: &WatchArguments) -> Result<Expected, String> {
    let read = |path: &PathBuf| {
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let queries = arguments.queries.as_ref().map(read).transpose()?;
    let expected = Expected::parse(arguments.key.as_deref(), queries.as_deref());
    expected.map_err(|error| error.to_string())
}

fn show(
    arguments: &WatchArguments,
    expected: &Expected,
    cluster: Option<&Connection>,
    readings: &[Reading],
    results: &[RunResult],
) -> Result<(), String> {
    let metric = arguments.metric.metric();
    let max = greatest(results, metric);
    for result in results {
        let columns = width().unwrap_or(100);
        let colours = super::run::colours();
        print(&terminal_heat_map(result, (metric, max), columns, 16, colours));
        for line in lines(expected, cluster, readings, result) {
            print(&format!("  {line}\n"));
        }
        print("\n");
    }
    let Some(dir) = &arguments.out else { return Ok(()) };
    let text = |error: result::ResultError| error.to_string();
    for result in results {
        result::write(dir, result).map_err(text)?;
    }
    let files = hblite_hotspot::report::write(dir, results).map_err(text)?;
    for file in files {
        print(&format!("{}\n", file.display()));
    }
    Ok(())
}

/// What is hot in a table, and which other keys would help.
fn lines(
    expected: &Expected,
    cluster: Option<&Connection>,
    readings: &[Reading],
    result: &RunResult,
) -> Vec<String> {
    let counted = verdict(readings, result, None);
    let is_counted = readings.iter().any(|reading| reading.rows.is_some());
    let Some(hot) = counted.hot.clone() else {
        let note = (!counted.has_keys).then(|| NO_KEYS.to_owned());
        return counted.lines.into_iter().chain(note).collect();
    };
    let (known, method) = match cluster.filter(|_| !is_counted).map(|one| written(one, &hot)) {
        _ if is_counted => (counted, None),
        None => {
            let note = NO_KEYS.to_owned();
            return counted.lines.into_iter().chain([note]).collect();
        }
        Some(Ok(found)) => (verdict(readings, result, Some(&found.rows)), Some(found.method)),
        Some(Err(error)) => {
            let reason = format!("The keys of {} are not known: {error}", hot.table);
            return counted.lines.into_iter().chain([reason]).collect();
        }
    };
    let Verdict { mut lines, written, .. } = known;
    lines.extend(method);
    // Only the rows of the hot region are known if they were not counted.
    let is_within = |key: &[u8]| *key > *hot.start && (hot.end.is_empty() || *key < *hot.end);
    let starts: Vec<Vec<u8>> = starts(readings, &hot.table);
    let is_new = |key: &[u8]| match is_counted {
        true => !starts.iter().any(|start| *start == key),
        false => is_within(key),
    };
    lines.extend(changes(&written, &hot, expected, is_new));
    lines
}

/// The first keys of a table's regions now.
fn starts(readings: &[Reading], table: &str) -> Vec<Vec<u8>> {
    let regions = readings.last().map_or(&[][..], |reading| &reading.regions);
    let own = regions.iter().filter(|region| region.table == table);
    own.filter_map(|region| region.start.as_deref().map(from_string_binary)).collect()
}

/// The source of the keys.
const NO_KEYS: &str = "The metrics have no keys of requests: watch hbase://ZOOKEEPER:2181/hbase \
    instead to see which keys are written.";

/// Reads counters for the requested time.
fn live(
    arguments: &WatchArguments,
    connection: Option<&Connection>,
) -> Result<Vec<Reading>, String> {
    let mut source = Source::new(&arguments.sources, connection);
    let mut readings = vec![source.read()?];
    tell(&format!(
        "watching for {} seconds; Ctrl-C ends without a result\n",
        u64::from(arguments.windows) * arguments.every
    ));
    for _ in 0..arguments.windows {
        std::thread::sleep(Duration::from_secs(arguments.every));
        readings.push(source.read()?);
    }
    Ok(readings)
}

fn recorded(path: &Path) -> Result<Vec<Reading>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut input = BufReader::new(File::open(path).map_err(|error| wrong(&error))?);
    let mut readings = Vec::new();
    loop {
        let mut line = Vec::new();
        let size = input.by_ref().take(DOCUMENT_MAX).read_until(b'\n', &mut line);
        if size.map_err(|error| wrong(&error))? == 0 {
            return Ok(readings);
        }
        let number = readings.len() + 1;
        let wrong = |reason: &str| format!("{}, line {number}: {reason}", path.display());
        if number > READINGS_MAX {
            return Err(wrong(&format!("a recording has at most {READINGS_MAX} readings")));
        }
        let line = std::str::from_utf8(&line).map_err(|error| wrong(&error.to_string()))?;
        readings.push(Reading::parse(line).map_err(|reason| wrong(&reason))?);
    }
}
