//! `hblite hotspot predict`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use hblite_hotspot::predict::{
    Calibration, KeyChoice, PredictOptions, Prediction, RecordedLoad, Servers, predict,
    prediction_table,
};
use hblite_hotspot::run::{ServiceLaw, Splits};
use hblite_hotspot::simulate::Kind;
use hblite_hotspot::study::split_designs;
use hblite_model::counted;
use hblite_rowkey::{Design, Spread};
use serde_json::json;

use super::recorded::Recorded;
use super::split_keys::SplitKeyArguments;
use crate::output::{FAILURE, fail, print};
use crate::transfer::place::connect;

/// Which recording, which keys, which servers.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PredictArguments {
    /// A file that 'hblite serve --record' wrote
    file: PathBuf,
    /// The recorded table
    #[arg(long, value_name = "TABLE")]
    table: String,
    /// Design of the recorded keys, such as 'ts:timestamp|host:str'
    #[arg(long, value_name = "DESIGN")]
    key: Option<String>,
    /// Other keys over the fields of --key, each as DESIGN or NAME=DESIGN
    #[arg(long, value_name = "A,B,…", requires = "key")]
    design: Option<String>,
    /// Region servers
    #[arg(long, default_value_t = 3)]
    servers: usize,
    /// Regions of the table [default: as many as servers]
    #[arg(long)]
    regions: Option<usize>,
    /// How the table is split: auto, uniform or quantiles
    #[arg(long, default_value_t = Splits::Auto)]
    splits: Splits,
    #[command(flatten)]
    present: SplitKeyArguments,
    /// Clients, each of which sends one call at a time
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// How many times as fast as recorded the requests come, for latencies
    #[arg(long, default_value_t = 1.0)]
    pace: f64,
    /// What the servers do, as 'hblite hotspot calibrate' measured it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["service", "handlers"])]
    calibration: Option<PathBuf>,
    /// Without a calibration, the service time of a call: exponential(MICROSECONDS) or
    /// constant(MICROSECONDS)
    #[arg(long, default_value_t = ServiceLaw::MODEL)]
    service: ServiceLaw,
    /// Without a calibration, the calls that each server handles concurrently
    #[arg(long, default_value_t = 1)]
    handlers: usize,
    /// Also measures on this cluster, with as many servers:
    /// hbase://zookeeper-host:2181/hbase or hbase+rpc://host:16000. The table
    /// hblite_hotspot_prediction must not exist; it is dropped at the end
    #[arg(long, value_name = "URL")]
    measure: Option<String>,
    /// Seed for everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
The recorded key is always predicted, as 'recorded'. A measured figure outside of its interval is
marked with '!'.";

/// The longest time that a measurement at the pace may take, in milliseconds.
const MEASURE_MAX_MS: f64 = 3_600_000.0;

pub(crate) fn run(arguments: &PredictArguments) -> ExitCode {
    match predictions(arguments) {
        Ok(text) => {
            print(&text);
            ExitCode::SUCCESS
        }
        Err(reason) => fail(&reason, FAILURE),
    }
}

fn predictions(arguments: &PredictArguments) -> Result<String, String> {
    let text = |error: hblite_hotspot::run::RunError| error.to_string();
    let key = arguments.key.as_deref().map(parsed).transpose()?;
    let choices = choices(arguments.design.as_deref())?;
    let servers = servers(arguments)?;
    let store = arguments.measure.as_deref().unwrap_or("./hblite-data");
    let split_keys = arguments.present.keys(store)?;
    let options = PredictOptions::default()
        .with_servers(arguments.servers)
        .with_regions(arguments.regions.unwrap_or(arguments.servers))
        .with_splits(arguments.splits)
        .with_split_keys(split_keys)
        .with_clients(arguments.clients)
        .with_pace(arguments.pace)
        .with_seed(arguments.seed);
    options.check().map_err(text)?;
    let mut recorded = Recorded::read(&arguments.file, &arguments.table)?;
    let value_bytes = recorded.value_bytes();
    let requests = std::mem::take(&mut recorded.requests);
    let load = RecordedLoad::new(requests, value_bytes, key.as_ref());
    let load = load.map_err(|error| format!("{}: {error}", arguments.file.display()))?;
    let paced_ms = load.span_ms() as f64 / options.pace;
    if arguments.measure.is_some() && paced_ms > MEASURE_MAX_MS {
        return Err("to measure at the recording's pace takes more than an hour: use a greater \
                    --pace"
            .to_owned());
    }
    let cluster = arguments.measure.as_deref().map(connect).transpose()?;
    let predictions = choices.iter().map(|choice| {
        predict(&load, key.as_ref(), choice, &servers, &options, cluster.as_ref())
            .map_err(|error| format!("{}: {error}", choice.name))
    });
    let predictions = predictions.collect::<Result<Vec<_>, _>>()?;
    let notes = notes(&recorded, &load, &predictions, &servers, &options);
    Ok(match arguments.json {
        true => json_text(&load, &predictions, &options, &notes),
        false => plain_text(arguments, &load, &predictions, &servers, &notes),
    })
}

fn parsed(text: &str) -> Result<Design, String> {
    Design::parse(text).map_err(|error| format!("\n{}", error.pointing_into(text)))
}

/// The recorded key, and those of a list.
fn choices(list: Option<&str>) -> Result<Vec<KeyChoice>, String> {
    let mut choices = vec![KeyChoice { name: "recorded".to_owned(), design: None }];
    for text in list.map(split_designs).unwrap_or_default() {
        let is_name =
            |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        let named = text.split_once('=').filter(|(name, _)| !name.is_empty() && is_name(name));
        let (name, key) = named.unwrap_or((&text, &text));
        if choices.iter().any(|choice| choice.name == name) {
            return Err(format!("two keys are named {name}: name them NAME=DESIGN"));
        }
        choices.push(KeyChoice { name: name.to_owned(), design: Some(parsed(key)?) });
    }
    Ok(choices)
}

fn servers(arguments: &PredictArguments) -> Result<Servers, String> {
    match (&arguments.calibration, &arguments.service) {
        (Some(path), _) => Ok(Servers::Calibrated(read_calibration(path)?)),
        (None, _) if !(1..=10_000).contains(&arguments.handlers) => {
            Err("--handlers is 1 to 10000".to_owned())
        }
        (None, ServiceLaw::Given(time)) => Ok(Servers::Given(time.clone(), arguments.handlers)),
        (None, ServiceLaw::Measured) => {
            Err("--service measured is not for predictions: 'hblite hotspot calibrate' measures \
                 a cluster"
                .to_owned())
        }
    }
}

fn read_calibration(path: &Path) -> Result<Calibration, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
    Calibration::parse(&text).map_err(|error| wrong(&error))
}

/// What a calibration says, in lines.
pub(super) fn calibration_text(calibration: &Calibration) -> String {
    let mut text = String::new();
    let model = calibration.model();
    let kinds =
        [("put", Kind::Write, model.shared.write_ns), ("get", Kind::Read, model.shared.read_ns)];
    for (name, kind, shared_ns) in kinds {
        let (alone_us, one, all) = calibration.summary(kind);
        let servers = calibration.servers;
        let shared = if shared_ns > 0 { ", which share a limit" } else { "" };
        text += &format!(
            "a {name} alone: {:.2} ms; one server: {one:.0}/s; \
             {servers} servers: {all:.0}/s{shared}\n",
            alone_us / 1e3
        );
    }
    text
}

fn plain_text(
    arguments: &PredictArguments,
    load: &RecordedLoad,
    predictions: &[Prediction],
    servers: &Servers,
    notes: &[String],
) -> String {
    let seconds = load.span_ms() as f64 / 1e3;
    let mut text = format!(
        "{}: {} of {} in {seconds:.1} s: {}, {}\n",
        arguments.file.display(),
        counted(load.len() as u64, "request"),
        arguments.table,
        counted(load.count(Kind::Write) as u64, "write"),
        counted(load.count(Kind::Read) as u64, "read"),
    );
    if let Servers::Calibrated(calibration) = servers {
        text += &calibration_text(calibration);
    }
    let pace = match arguments.pace {
        1.0 => String::new(),
        pace => format!(" times {pace}"),
    };
    let title = format!(
        "\n{} and {}; latencies at the recording's pace{pace}",
        counted(arguments.servers as u64, "region server"),
        counted(arguments.clients as u64, "client"),
    );
    text += &prediction_table(&title, predictions).text();
    if !notes.is_empty() {
        text += "\n";
    }
    notes.iter().for_each(|note| text += &format!("{note}\n"));
    text
}

fn json_text(
    load: &RecordedLoad,
    predictions: &[Prediction],
    options: &PredictOptions,
    notes: &[String],
) -> String {
    let document = json!({
        "requests": load.len(),
        "writes": load.count(Kind::Write),
        "reads": load.count(Kind::Read),
        "span_ms": load.span_ms(),
        "servers": options.servers,
        "clients": options.clients,
        "pace": options.pace,
        "predictions": predictions.iter().map(Prediction::json).collect::<Vec<_>>(),
        "notes": notes,
    });
    format!("{document}\n")
}

/// What the figures leave out.
fn notes(
    recorded: &Recorded,
    load: &RecordedLoad,
    predictions: &[Prediction],
    servers: &Servers,
    options: &PredictOptions,
) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |count: u64, noun: &str, text: &str| {
        if count > 0 {
            notes.push(format!("{} {text}", counted(count, noun)));
        }
    };
    note(recorded.dropped, "call", "missing: the recorder had no room for them");
    note(recorded.scans, "scan", "left out: 'hblite hotspot run --keys' measures what scans cost");
    note(recorded.others, "call", "of coprocessors and bulk loads left out");
    note(recorded.failed, "call", "left out that failed");
    note(recorded.unreadable, "call", "left out that cannot be read");
    note(load.undecoded, "request", "left out: --key cannot decode the row");
    note(recorded.in_batches, "request", "sent alone that came in batches, where they cost less");
    note(recorded.not_plain, "increment, append or conditional write", "counted as puts");
    if recorded.is_cut {
        notes.push("the recording has no end: its server was killed, or is running".to_owned());
    }
    for prediction in predictions {
        let name = &prediction.choice.name;
        if prediction.left_out > 0 {
            let count = counted(prediction.left_out, "request");
            notes.push(format!("{name}: {count} left out: the key cannot encode the row"));
        }
        if prediction.calls > prediction.requests {
            let (requests, calls) = (prediction.requests, prediction.calls);
            notes.push(format!(
                "{name}: {requests} requests are {calls} calls: a get asks each salt"
            ));
        }
        let spread = prediction.choice.design.as_ref().map(Design::spread);
        if let Some(Spread::Prefixes { count, .. }) = spread
            && recorded.scans > 0
        {
            notes.push(format!("{name}: a scan of a range would be {count} scans"));
        }
        let regions = prediction.splits.len() + 1;
        if regions < options.regions && options.split_keys.is_none() {
            notes.push(format!("{name}: {} only", counted(regions as u64, "region")));
        }
    }
    if (load.len() as u64) < 10 * options.clients as u64 {
        notes
            .push("few requests for as many clients: the throughput is that of a start".to_owned());
    }
    match servers {
        Servers::Given(..) => notes.push(
            "no intervals: the service time is a model; 'hblite hotspot calibrate' measures a \
             cluster"
                .to_owned(),
        ),
        Servers::Calibrated(calibration) => {
            notes.extend(notes_on(calibration, load.value_bytes, options));
        }
    }
    notes
}

/// What a calibration does not cover.
fn notes_on(
    calibration: &Calibration,
    value_bytes: usize,
    options: &PredictOptions,
) -> Vec<String> {
    let mut notes = Vec::new();
    let model = calibration.model();
    let servers = calibration.servers;
    if servers != options.servers && model.shared.write_ns.max(model.shared.read_ns) > 0 {
        notes.push(format!(
            "the {servers} calibrated servers share a limit, which {} keep here",
            options.servers
        ));
    }
    let calibrated = calibration.value_bytes;
    if value_bytes > 2 * calibrated.max(100) {
        notes.push(format!(
            "recorded values have {value_bytes} bytes, calibrated ones {calibrated}: calibrate \
             with --value-bytes {value_bytes}"
        ));
    }
    notes
}
