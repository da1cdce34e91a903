//! `hblite hotspot calibrate`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hblite_hotspot::predict::{CalibrateOptions, calibrate};

use super::predict::calibration_text;
use crate::output::{FAILURE, fail, print};
use crate::transfer::output_file::{check_file, write_file};
use crate::transfer::place::connect;

/// Which cluster.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CalibrateArguments {
    /// The cluster: hbase://zookeeper-host:2181/hbase or hbase+rpc://host:16000
    #[arg(value_name = "URL")]
    cluster: String,
    /// File of the calibration, for 'hblite hotspot predict --calibration'
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replaces the file if it exists
    #[arg(long)]
    overwrite: bool,
    /// Seconds that it takes, about
    #[arg(long, default_value_t = CalibrateOptions::default().seconds)]
    seconds: f64,
    /// The most clients of one server
    #[arg(long, default_value_t = CalibrateOptions::default().clients)]
    clients: usize,
    /// Bytes of a value
    #[arg(long, default_value_t = CalibrateOptions::default().value_bytes)]
    value_bytes: usize,
}

const AFTER_HELP: &str = "\
The cluster is under full load meanwhile. The table hblite_hotspot_calibration must not exist; it
is dropped at the end.";

pub(crate) fn run(arguments: &CalibrateArguments) -> ExitCode {
    match measure(arguments) {
        Ok(text) => {
            print(&text);
            ExitCode::SUCCESS
        }
        Err(reason) => fail(&reason, FAILURE),
    }
}

fn measure(arguments: &CalibrateArguments) -> Result<String, String> {
    // At the end it would be too late to report this.
    check_file(&arguments.out, arguments.overwrite)?;
    let options = CalibrateOptions::default()
        .with_seconds(arguments.seconds)
        .with_clients(arguments.clients)
        .with_value_bytes(arguments.value_bytes);
    let cluster = connect(&arguments.cluster)?;
    let calibration = calibrate(&cluster, &options).map_err(|error| error.to_string())?;
    write_file(&arguments.out, arguments.overwrite, |output| {
        output.write_all(calibration.to_text().as_bytes())
    })?;
    Ok(calibration_text(&calibration))
}
