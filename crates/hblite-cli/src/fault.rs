//! `hblite fault`: injects faults into a running `hblite serve` through its admin endpoint.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use crate::endpoint::{Endpoint, Method};

/// Which server, and what.
#[derive(Debug, Args)]
pub(crate) struct FaultArguments {
    #[command(flatten)]
    endpoint: Endpoint,
    #[command(subcommand)]
    command: FaultCommand,
}

#[derive(Debug, Subcommand)]
enum FaultCommand {
    /// Injects a fault into calls until it is cleared. Prints the fault's number.
    Set(SetArguments),
    /// Lists the current faults, and how often each happened.
    List,
    /// Clears a fault, or all of them.
    Clear {
        /// The fault's number; all faults if omitted.
        id: Option<u64>,
    },
    /// Moves a region to a region server.
    Move {
        /// Its encoded name.
        region: String,
        /// The server's number, from 0.
        server: usize,
    },
    /// Splits a region.
    Split {
        /// Its encoded name.
        region: String,
        /// The row to split at; the middle of the region if omitted. Bytes as the shell prints
        /// them: \x00
        row: Option<String>,
    },
    /// Takes a region out of service.
    Unassign {
        /// Its encoded name.
        region: String,
    },
    /// Puts a region back in service.
    Assign {
        /// Its encoded name.
        region: String,
    },
    /// Crashes a region server: closes its connections and recovers its regions from the log.
    Crash {
        /// Its number, from 0.
        server: usize,
        /// Moves its regions to the other servers after this many milliseconds; without it, they
        /// wait for the restart.
        #[arg(long, value_name = "MS")]
        reassign_after: Option<u64>,
    },
    /// Restarts a crashed region server.
    Restart {
        /// Its number, from 0.
        server: usize,
    },
    /// Prints servers, regions, counters and faults.
    Status,
}

#[derive(Debug, Args)]
struct SetArguments {
    #[command(flatten)]
    action: ActionArguments,
    /// Only for this RPC method (Get, Mutate, Multi, Scan...); may be repeated.
    #[arg(long = "method", value_name = "NAME")]
    methods: Vec<String>,
    /// Only for this table; may be repeated.
    #[arg(long = "table", value_name = "NAME")]
    tables: Vec<String>,
    /// Only for the region with this encoded name; may be repeated.
    #[arg(long = "region", value_name = "NAME")]
    regions: Vec<String>,
    /// Only on this server, a number or "master"; may be repeated.
    #[arg(long = "server", value_name = "SERVER")]
    servers: Vec<String>,
    /// Only for this fraction of the calls, 0 to 1.
    #[arg(long)]
    rate: Option<f64>,
    /// Skips this many calls first.
    #[arg(long, value_name = "CALLS", default_value_t = 0)]
    skip: u64,
    /// For at most this many calls.
    #[arg(long, value_name = "CALLS")]
    count: Option<u64>,
    /// Selects the calls; the same seed selects the same calls.
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct ActionArguments {
    /// Calls fail with this exception, such as NotServingRegionException.
    #[arg(long, value_name = "EXCEPTION")]
    error: Option<String>,
    /// Calls wait: milliseconds, or a range such as 5-50.
    #[arg(long, value_name = "MS", value_parser = delay)]
    delay: Option<(u64, u64)>,
    /// Connections are closed before or after the call is executed.
    #[arg(long, value_name = "WHEN")]
    drop: Option<When>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum When {
    Before,
    After,
}

fn delay(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is not a number"));
    Ok((number(from)?, number(to)?))
}

pub(crate) fn run(arguments: &FaultArguments) -> ExitCode {
    let (method, path, body) = request(&arguments.command);
    arguments.endpoint.print_answer(method, &path, &body)
}

fn request(command: &FaultCommand) -> (Method, String, Value) {
    let get = |path: &str| (Method::Get, path.to_owned(), Value::Null);
    let post = |path: String, body| (Method::Post, path, body);
    let region = |name: &str, action: &str, body| post(format!("/regions/{name}/{action}"), body);
    match command {
        FaultCommand::Set(arguments) => post("/faults".to_owned(), rule(arguments)),
        FaultCommand::List => get("/faults"),
        FaultCommand::Status => get("/status"),
        FaultCommand::Clear { id: None } => (Method::Delete, "/faults".to_owned(), Value::Null),
        FaultCommand::Clear { id: Some(id) } => {
            (Method::Delete, format!("/faults/{id}"), Value::Null)
        }
        FaultCommand::Move { region: name, server } => {
            region(name, "move", json!({ "server": server }))
        }
        FaultCommand::Split { region: name, row } => region(name, "split", json!({ "row": row })),
        FaultCommand::Unassign { region: name } => region(name, "unassign", json!({})),
        FaultCommand::Assign { region: name } => region(name, "assign", json!({})),
        FaultCommand::Crash { server, reassign_after } => {
            let body = json!({ "reassign_after_ms": reassign_after });
            post(format!("/servers/{server}/crash"), body)
        }
        FaultCommand::Restart { server } => post(format!("/servers/{server}/restart"), json!({})),
    }
}

/// The rule as the server reads it.
fn rule(arguments: &SetArguments) -> Value {
    let mut rule = Map::new();
    let action = &arguments.action;
    if let Some(name) = &action.error {
        rule.insert("error".to_owned(), json!(name));
    }
    if let Some((from, to)) = action.delay {
        rule.insert("delay_ms".to_owned(), json!([from, to]));
    }
    if let Some(when) = action.drop {
        let when = if matches!(when, When::Before) { "before" } else { "after" };
        rule.insert("drop".to_owned(), json!(when));
    }
    let server =
        |server: &String| server.parse().map_or(json!(server), |number: u64| json!(number));
    let servers: Vec<Value> = arguments.servers.iter().map(server).collect();
    for (name, value) in [
        ("methods", json!(arguments.methods)),
        ("tables", json!(arguments.tables)),
        ("regions", json!(arguments.regions)),
        ("servers", json!(servers)),
        ("rate", json!(arguments.rate)),
        ("skip", json!(arguments.skip)),
        ("count", json!(arguments.count)),
        ("seed", json!(arguments.seed)),
    ] {
        rule.insert(name.to_owned(), value);
    }
    Value::Object(rule)
}
