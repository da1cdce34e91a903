//! `hblite replay`: sends the calls of a recording to a server, one after the other, and reports
//! what is answered differently.
//!
//! - `player` goes through the recording
//! - `target` finds servers and regions, `link` sends a call
//! - `ids` replaces recorded ids with those of the target
//! - `compare` finds differences, except for unavoidable ones

mod compare;
mod ids;
mod link;
mod player;
mod target;

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hblite::Options;
use hblite_server::{Server, ServerOptions};
use hblite_wire::recording::Reader;

use self::player::{Player, Summary};
use self::target::Target;
use crate::output::{fail, print};
use crate::seed::SeedArguments;

/// Exit status if something was answered differently.
const DIFFERENT: u8 = 1;
/// Exit status if the recording cannot be replayed.
const FAILED: u8 = 2;

/// Which recording, and where to.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReplayArguments {
    /// A file that `hblite serve --record` wrote
    file: PathBuf,
    /// The cluster or server: hbase://zookeeper-host:2181/hbase or hbase+rpc://host:16000. By
    /// default a new server in memory
    #[arg(long, value_name = "URL")]
    address: Option<String>,
    /// What the new server begins with, as for `hblite serve --seed`; may be given several times
    #[arg(long = "seed", value_name = "DIR|FILE", conflicts_with = "address")]
    sources: Vec<PathBuf>,
    /// Differences that are printed, at most
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    show: u64,
}

const AFTER_HELP: &str = "\
Examples:
  hblite serve --memory --record calls.jsonl
  hblite replay calls.jsonl
  hblite replay calls.jsonl --address hbase://localhost:2181/hbase

The target must hold what the recorded server held at the start. Calls are sent one at a time, in
the order in which they were answered. Names and ids of regions, ids of scanners and procedures,
addresses, and timestamps that the server assigned are not compared.
Exit status: 0 without differences; 1 with differences; 2 if the recording cannot be replayed.";

pub(crate) fn run(arguments: &ReplayArguments) -> ExitCode {
    match replay(arguments) {
        Ok(summary) => {
            print(&summary.to_string());
            ExitCode::from(if summary.differing == 0 { 0 } else { DIFFERENT })
        }
        Err(message) => fail(&message, FAILED),
    }
}

fn replay(arguments: &ReplayArguments) -> Result<Summary, String> {
    let text = |error: hblite::Error| error.message().to_owned();
    let path = arguments.file.display();
    let file = File::open(&arguments.file).map_err(|error| format!("{path}: {error}"))?;
    let reader = Reader::new(BufReader::new(file));
    if let Some(address) = &arguments.address {
        let target = Target::connect(address).map_err(text)?;
        return play(target, reader, arguments);
    }
    let connection = SeedArguments::of(&arguments.sources).open(None, Options::new())?;
    let server = Server::start(&connection, ServerOptions::on_free_ports()).map_err(text)?;
    let address = format!("hbase+rpc://127.0.0.1:{}", server.ports().master);
    let summary =
        Target::connect(&address).map_err(text).and_then(|target| play(target, reader, arguments));
    server.stop();
    connection.close().map_err(text)?;
    summary
}

fn play(
    target: Target,
    reader: Reader<BufReader<File>>,
    arguments: &ReplayArguments,
) -> Result<Summary, String> {
    let path = arguments.file.display();
    let played = Player::new(target, arguments.show).play(reader);
    played.map_err(|message| format!("{path}: {message}"))
}
