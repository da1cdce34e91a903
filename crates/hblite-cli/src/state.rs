//! `hblite checkpoint`, `rewind`, `fork` and `clock`: the state of a running `hblite serve`,
//! through its admin endpoint.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Method};
use crate::output::{FAILURE, fail};

/// Which server, and the name of the checkpoint.
#[derive(Debug, Args)]
pub(crate) struct CheckpointArguments {
    #[command(flatten)]
    endpoint: Endpoint,
    /// A name for the current state; lists the checkpoints if omitted.
    name: Option<String>,
    /// Deletes the checkpoint of this name instead.
    #[arg(long, requires = "name")]
    delete: bool,
}

/// Which server, and the state to return to.
#[derive(Debug, Args)]
pub(crate) struct RewindArguments {
    #[command(flatten)]
    endpoint: Endpoint,
    /// The checkpoint.
    name: String,
}

/// Which server, and the state to begin with.
#[derive(Debug, Args)]
pub(crate) struct ForkArguments {
    #[command(flatten)]
    endpoint: Endpoint,
    /// The checkpoint; lists the forks if omitted.
    checkpoint: Option<String>,
    /// Ends the fork with this number instead.
    #[arg(long, value_name = "ID", conflicts_with_all = ["checkpoint", "close_all"])]
    close: Option<u64>,
    /// Ends all forks instead.
    #[arg(long, conflicts_with = "checkpoint")]
    close_all: bool,
}

/// Which server, and the change to its clock.
#[derive(Debug, Args)]
pub(crate) struct ClockArguments {
    #[command(flatten)]
    endpoint: Endpoint,
    #[command(subcommand)]
    command: Option<ClockCommand>,
}

#[derive(Debug, Subcommand)]
enum ClockCommand {
    /// Prints the time and the mode.
    Show,
    /// Sets the time, in milliseconds since 1970-01-01 UTC.
    Set {
        /// The time.
        #[arg(allow_negative_numbers = true)]
        millis: i64,
    },
    /// Moves the time: 500ms, 90s, 5m, 12h, 1d; a plain number is milliseconds. A negative duration
    /// sets it back.
    Advance {
        /// The duration.
        #[arg(allow_hyphen_values = true)]
        duration: String,
    },
    /// Stops the clock at the current time; it moves only when it is set or advanced.
    Manual,
    /// Lets the clock run from the current time.
    Offset,
    /// Follows the system's clock again.
    Real,
}

pub(crate) fn checkpoint(arguments: &CheckpointArguments) -> ExitCode {
    let endpoint = &arguments.endpoint;
    match &arguments.name {
        None => endpoint.print_answer(Method::Get, "/checkpoints", &Value::Null),
        Some(name) if arguments.delete => {
            let path = format!("/checkpoints/{}", escaped(name));
            endpoint.print_answer(Method::Delete, &path, &Value::Null)
        }
        Some(name) => endpoint.print_answer(Method::Post, "/checkpoints", &json!({ "name": name })),
    }
}

pub(crate) fn rewind(arguments: &RewindArguments) -> ExitCode {
    let path = format!("/checkpoints/{}/rewind", escaped(&arguments.name));
    arguments.endpoint.print_answer(Method::Post, &path, &json!({}))
}

pub(crate) fn fork(arguments: &ForkArguments) -> ExitCode {
    let (method, path, body) = match (&arguments.checkpoint, arguments.close) {
        (_, Some(id)) => (Method::Delete, format!("/forks/{id}"), Value::Null),
        (_, None) if arguments.close_all => (Method::Delete, "/forks".to_owned(), Value::Null),
        (Some(name), None) => (Method::Post, "/forks".to_owned(), json!({ "checkpoint": name })),
        (None, None) => (Method::Get, "/forks".to_owned(), Value::Null),
    };
    arguments.endpoint.print_answer(method, &path, &body)
}

pub(crate) fn clock(arguments: &ClockArguments) -> ExitCode {
    let change = match arguments.command.as_ref().unwrap_or(&ClockCommand::Show) {
        ClockCommand::Show => {
            return arguments.endpoint.print_answer(Method::Get, "/clock", &Value::Null);
        }
        ClockCommand::Set { millis } => json!({ "now_ms": millis }),
        ClockCommand::Advance { duration } => match millis_of(duration) {
            Some(millis) => json!({ "advance_ms": millis }),
            None => {
                let message =
                    format!("{duration:?} is not a duration: write 500ms, 90s, 5m, 12h or 1d");
                return fail(&message, FAILURE);
            }
        },
        ClockCommand::Manual => json!({ "mode": "manual" }),
        ClockCommand::Offset => json!({ "mode": "offset" }),
        ClockCommand::Real => json!({ "mode": "real" }),
    };
    arguments.endpoint.print_answer(Method::Post, "/clock", &change)
}

/// Milliseconds of a duration such as `1d`.
pub(crate) fn millis_of(text: &str) -> Option<i64> {
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let stripped = |(unit, millis)| Some((text.strip_suffix(unit)?, millis));
    let (number, unit) = units.into_iter().find_map(stripped).unwrap_or((text, 1));
    number.parse::<i64>().ok()?.checked_mul(unit)
}

/// A name as a part of a path. The server refuses invalid names of checkpoints.
fn escaped(name: &str) -> String {
    let escape = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'-' | b'.' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, millis) in [
            ("7", Some(7)),
            ("500ms", Some(500)),
            ("90s", Some(90_000)),
            ("5m", Some(300_000)),
            ("-2h", Some(-7_200_000)),
            ("1d", Some(86_400_000)),
            ("", None),
            ("d", None),
            ("1w", None),
            ("9999999999999999d", None),
        ] {
            assert_eq!(millis_of(text), millis, "{text}");
        }
    }

    #[test]
    fn a_name_stays_one_part_of_a_path() {
        assert_eq!(escaped("a-1._"), "a-1._");
        assert_eq!(escaped("../x ?"), "..%2Fx%20%3F");
    }
}
