//! `hblite hotspot advise`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hblite_hotspot::advise::{AdviceOptions, Sample, Wanted, advise};

use crate::output::{FAILURE, fail, print};

/// Which keys, which queries.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AdviseArguments {
    /// The present key, as 'ts:timestamp|host:str|event:str'
    #[arg(long, value_name = "DESIGN")]
    key: String,
    /// File with a sample of keys in write order, one per line, as HBase's shell prints them
    #[arg(long, value_name = "FILE", required_unless_present = "table")]
    keys: Option<PathBuf>,
    /// Table to read the keys from, in the store of --dir
    #[arg(long, value_name = "TABLE", conflicts_with = "keys")]
    table: Option<String>,
    /// Directory of the store with the table
    #[arg(long, value_name = "DIR", default_value = "./hblite-data")]
    dir: PathBuf,
    /// File with the expected queries, one per line
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Regions of the new table
    #[arg(long, default_value_t = 16)]
    regions: usize,
    /// Rows that the table will have
    #[arg(long, default_value_t = 1_000_000)]
    rows: u64,
    /// Weight of even writes relative to cheap reads, 0 to 1
    #[arg(long, default_value_t = 0.5)]
    write_weight: f64,
    /// Name of the new table
    #[arg(long, default_value = "t")]
    name: String,
}

const AFTER_HELP: &str = "\
Write one query per line. A number before it is its relative frequency:
  10: host = ? and ts in 5 %
  3: host = ? and event = ? newest ts limit 10
  1: host begins 4";

pub(crate) fn run(arguments: &AdviseArguments) -> ExitCode {
    match advice(arguments) {
        Ok(text) => {
            print(&text);
            ExitCode::SUCCESS
        }
        Err(reason) => fail(&reason, FAILURE),
    }
}

fn advice(arguments: &AdviseArguments) -> Result<String, String> {
    let read = |path: &PathBuf| {
        fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let text = |error: hblite_hotspot::advise::NoAdvice| error.to_string();
    let key = hblite_hotspot::advise::design(&arguments.key).map_err(text)?;
    let wanted = Wanted::parse(&read(&arguments.queries)?)
        .map_err(|error| format!("{}: {error}", arguments.queries.display()))?;
    let sample = match (&arguments.keys, &arguments.table) {
        (Some(keys), _) => Sample::parse(key, &read(keys)?).map_err(text)?,
        (None, table) => {
            let store = crate::store_files::options().create_if_missing(false);
            let connection =
                store.open(&arguments.dir).map_err(|error| error.message().to_owned())?;
            let table = table.as_deref().unwrap_or_default();
            Sample::of_table(key, &connection, table).map_err(text)?
        }
    };
    let options = AdviceOptions {
        regions: arguments.regions,
        rows: arguments.rows,
        write_weight: arguments.write_weight,
        table: arguments.name.clone(),
        ..AdviceOptions::default()
    };
    Ok(advise(&sample, &wanted, &options).map_err(text)?.to_string())
}
