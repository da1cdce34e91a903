//! `hblite hotspot advise`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use hblite_hotspot::advise::{Advice, AdviceOptions, Sample, Wanted, advise};
use hblite_hotspot::condition::FigureCondition;
use hblite_hotspot::data::{Format, Records, Table, TimeUnit};
use hblite_hotspot::report::{front_png, front_svg};
use hblite_rowkey::Design;

use super::split_keys::SplitKeyArguments;
use crate::output::{FAILURE, fail, print, tell};
use crate::transfer::output_file::{check_file, write_file};
use crate::transfer::place::{self, Missing};

/// Which keys, which queries.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AdviseArguments {
    /// The current key, such as 'ts:timestamp|host:str|event:str' [default for recorded data:
    /// --fields in the order of the data]
    #[arg(long, value_name = "DESIGN", required_unless_present = "keys")]
    key: Option<String>,
    /// File with a sample of keys in write order, one per line, as HBase's shell prints them; or
    /// recorded data: .csv or .tsv with a header line, .jsonl, .parquet
    #[arg(long, value_name = "FILE", required_unless_present = "table")]
    keys: Option<PathBuf>,
    /// Table to read the keys from, in the store or cluster of --dir
    #[arg(long, value_name = "TABLE", conflicts_with = "keys")]
    table: Option<String>,
    /// Directory of the store with the table, or URL of its cluster
    #[arg(
        long,
        visible_alias = "connect",
        value_name = "DIR|URL",
        default_value = "./hblite-data"
    )]
    dir: String,
    /// Fields of recorded data for the key, separated by commas [default: those that queries name,
    /// and those that tell records apart]
    #[arg(long, value_name = "FIELDS", value_delimiter = ',',
        conflicts_with_all = ["table", "key"])]
    fields: Option<Vec<String>>,
    /// Unit of times that are numbers: s, ms, us or ns [default: by their magnitude]
    #[arg(long, value_name = "UNIT", conflicts_with = "table")]
    time_unit: Option<TimeUnit>,
    /// File with the expected queries, one per line
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Regions of the new table
    #[arg(long, default_value_t = 16)]
    regions: usize,
    #[command(flatten)]
    present: SplitKeyArguments,
    /// Rows that the table will have
    #[arg(long, default_value_t = 1_000_000)]
    rows: u64,
    /// Time in which these rows are written, such as 12h or 30d [default: at the sample's rate]
    #[arg(long, value_name = "DURATION", value_parser = period)]
    period: Option<u64>,
    /// Weight of even writes relative to cheap reads, 0 to 1
    #[arg(long, default_value_t = 0.5)]
    write_weight: f64,
    /// Maximum number of scans of a query
    #[arg(long, value_name = "N")]
    scans_max: Option<u64>,
    /// Maximum mean length of keys, in bytes
    #[arg(long, value_name = "BYTES")]
    key_bytes_max: Option<u64>,
    /// Draws the candidates, their writes against their reads, into a file: .svg or .png
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Name of the new table
    #[arg(long, default_value = "t")]
    name: String,
    /// Exits with status 1 if this holds for the current key in the next period, for example
    /// 'windowed max/mean > 2 or rows per query > 100000'; may be given several times
    #[arg(long, value_name = "CONDITION", value_parser = super::condition)]
    fail_if: Vec<FigureCondition>,
}

const AFTER_HELP: &str = "\
Write one query per line. A number before it is its relative frequency:
  10: host = ? and ts in 5 %
  3: host = ? and event = ? newest ts limit 10
  1: host begins 4
A query asks for one value (FIELD = ?), a range (FIELD in 5 %), the beginning (FIELD begins 4) or
the end of a text (FIELD ends 4), in order of a field (newest FIELD), with a limit (limit 10).";

pub(crate) fn run(arguments: &AdviseArguments) -> ExitCode {
    // At the end it would be too late to report this.
    let drawable = arguments.picture.as_ref().map_or(Ok(()), |path| check_picture(path));
    match drawable.and_then(|()| advice(arguments)) {
        Ok(advice) => {
            print(&advice.to_string());
            if let Some(path) = &arguments.picture
                && let Err(reason) = draw(&advice, path)
            {
                return fail(&reason, FAILURE);
            }
            super::judge_figures("the current key", &advice.present_figures(), &arguments.fail_if)
        }
        Err(reason) => fail(&reason, FAILURE),
    }
}

fn period(text: &str) -> Result<u64, String> {
    let millis = crate::state::millis_of(text).and_then(|millis| u64::try_from(millis).ok());
    millis.ok_or_else(|| format!("{text:?} is not a duration such as 90s, 12h or 30d"))
}

/// Another picture of the same data replaces a picture.
const OVERWRITE: bool = true;

fn check_picture(path: &Path) -> Result<(), String> {
    if !["svg", "png"].map(Some).contains(&extension(path)) {
        let reason = "the name of a picture ends with .svg or .png";
        return Err(format!("{}: {reason}", path.display()));
    }
    check_file(path, OVERWRITE)
}

fn draw(advice: &Advice, path: &Path) -> Result<(), String> {
    let bytes = match extension(path) {
        Some("svg") => front_svg(advice).into_bytes(),
        _ => front_png(advice).map_err(|error| format!("{}: {error}", path.display()))?,
    };
    write_file(path, OVERWRITE, |output| output.write_all(&bytes))
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|extension| extension.to_str())
}

fn advice(arguments: &AdviseArguments) -> Result<Advice, String> {
    let read = |path: &PathBuf| {
        fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let text = |error: hblite_hotspot::advise::NoAdvice| error.to_string();
    let key = arguments.key.as_deref().map(hblite_hotspot::advise::design);
    let key = key.transpose().map_err(text)?;
    let wanted = Wanted::parse(&read(&arguments.queries)?)
        .map_err(|error| format!("{}: {error}", arguments.queries.display()))?;
    let sample = match (&arguments.keys, &arguments.table) {
        (Some(path), _) => match (Format::of_name(&path.to_string_lossy()), key) {
            (Some(format), key) => recorded(path, format, key, &wanted, arguments)?,
            (None, Some(key)) => Sample::parse(key, &read(path)?).map_err(text)?,
            (None, None) => return Err("a file of keys needs their design: --key".to_owned()),
        },
        (None, table) => {
            let key = key.ok_or("--table needs the design of its keys: --key")?;
            let connection =
                place::open(&arguments.dir, Missing::Read).map_err(|error| error.to_string())?;
            let table = table.as_deref().unwrap_or_default();
            Sample::of_table(key, &connection, table).map_err(text)?
        }
    };
    let options = AdviceOptions::default()
        .with_regions(arguments.regions)
        .with_present_splits(arguments.present.keys(&arguments.dir)?)
        .with_rows(arguments.rows)
        .with_period_ms(arguments.period)
        .with_write_weight(arguments.write_weight)
        .with_table(arguments.name.clone())
        .with_scans_max(arguments.scans_max)
        .with_key_bytes_max(arguments.key_bytes_max);
    advise(&sample, &wanted, &options).map_err(text)
}

/// A sample of recorded data.
fn recorded(
    path: &Path,
    format: Format,
    key: Option<Design>,
    wanted: &Wanted,
    arguments: &AdviseArguments,
) -> Result<Sample, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = fs::File::open(path).map_err(|error| wrong(&error))?;
    let table = Table::read(file, format).map_err(|error| wrong(&error))?;
    let designs: Vec<Design> = key.into_iter().collect();
    let records =
        table.typed(&designs, None, arguments.time_unit).map_err(|error| wrong(&error))?;
    records.notes.iter().for_each(|note| tell(&format!("{note}\n")));
    let (key, places) = match designs.into_iter().next() {
        Some(key) => {
            let names = key.fields().iter().map(|field| field.name.as_str());
            let places = places(&records, &names.collect::<Vec<_>>())?;
            (key, places)
        }
        None => {
            let places = match &arguments.fields {
                Some(names) => places(&records, names)?,
                None => chosen(&records, wanted),
            };
            let key = table.plain_design(&records, &places).map_err(|error| wrong(&error))?;
            (key, places)
        }
    };
    let rows: Vec<_> = records
        .rows
        .iter()
        .map(|row| places.iter().map(|place| row[*place].clone()).collect())
        .collect();
    Sample::of_records(key, &rows).map_err(|error| error.to_string())
}

/// The positions of fields.
fn places(records: &Records, names: &[impl AsRef<str>]) -> Result<Vec<usize>, String> {
    let place = |name: &str| records.fields.iter().position(|field| field.name == name);
    let all = || records.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>();
    let names = names.iter().map(|name| name.as_ref().trim());
    let found = names.map(|name| {
        place(name).ok_or_else(|| format!("no field {name}; the fields are {}", all().join(", ")))
    });
    found.collect()
}

/// The fields for the key, and a note on the others.
fn chosen(records: &Records, wanted: &Wanted) -> Vec<usize> {
    let fields = records.key_fields(&wanted.fields());
    let names = |places: &[usize]| {
        let names = places.iter().map(|place| records.fields[*place].name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    if !fields.left_out.is_empty() {
        let (chosen, left_out) = (names(&fields.chosen), names(&fields.left_out));
        tell(&format!("keys have {chosen}, and not {left_out}: --fields chooses others\n"));
    }
    if fields.repeated > 0 {
        tell(&format!(
            "{} of {} records have the same key as another and would replace it: add a field \
             that differs\n",
            fields.repeated,
            records.rows.len()
        ));
    }
    fields.chosen
}
