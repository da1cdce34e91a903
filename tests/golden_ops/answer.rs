//! Answers in the shape of the recordings.

use hblite::bytes::to_string_binary;
use hblite::{CellRef, CellType, CheckAndMutateResult, Error, RowResult};
use serde_json::{Map, Value, json};

/// Timestamps from here on were stamped by the store.
pub(crate) const CLOCK_START: i64 = 1_700_000_000_000;
/// Explicit timestamps are small, or from here on.
const EXPLICIT_FROM: i64 = 4_000_000_000_000;

fn printable(bytes: &[u8]) -> Value {
    Value::String(to_string_binary(bytes))
}

fn cell(cell: &CellRef<'_>) -> Value {
    let timestamp = cell.timestamp();
    let stamped = (CLOCK_START..EXPLICIT_FROM).contains(&timestamp);
    let mut parts = vec![
        printable(cell.family()),
        printable(cell.qualifier()),
        if stamped { json!("now") } else { json!(timestamp) },
        printable(cell.value()),
    ];
    match cell.cell_type() {
        Some(CellType::Put) => {}
        Some(other) => parts.push(json!(other.to_string())),
        None => parts.push(json!(cell.type_code())),
    }
    Value::Array(parts)
}

pub(crate) fn cells(row: &RowResult) -> Value {
    Value::Array(row.cells().map(|c| cell(&c)).collect())
}

pub(crate) fn row(row: &RowResult) -> Value {
    let mut answer = Map::new();
    answer.insert("row".into(), printable(row.row()));
    answer.insert("cells".into(), cells(row));
    if row.may_have_more_cells() {
        answer.insert("more".into(), json!(true));
    }
    Value::Object(answer)
}

pub(crate) fn checked(result: &CheckAndMutateResult) -> Value {
    match &result.result {
        Some(found) => json!({"success": result.is_success, "cells": cells(found)}),
        None => json!({"success": result.is_success}),
    }
}

pub(crate) fn error(error: &Error) -> Value {
    // A client of a cluster reports how often it tried.
    let message = error.message().split(" (gave up after ").next().unwrap_or_default();
    json!({"error": error.exception().simple_name(), "message": message})
}

/// Whether an answer is the recorded one. Returns why not.
pub(crate) fn compare(expected: &Value, actual: &Value) -> Result<(), String> {
    if let (Some(wanted), Some(got)) = (expected.get("error"), actual.get("error")) {
        return compare_errors(expected, wanted, actual, got);
    }
    if let (Some(wanted), Some(got)) = (expected.get("results"), actual.get("results")) {
        let (wanted, got) = (wanted.as_array(), got.as_array());
        let (Some(wanted), Some(got)) = (wanted, got) else {
            return Err("results are not lists".into());
        };
        if wanted.len() != got.len() {
            return Err(format!("{} results instead of {}", got.len(), wanted.len()));
        }
        for (index, (wanted, got)) in wanted.iter().zip(got).enumerate() {
            compare(wanted, got).map_err(|why| format!("result {index}: {why}"))?;
        }
        return Ok(());
    }
    if expand(expected) == *actual { Ok(()) } else { Err("the answer differs".into()) }
}

/// Long byte strings are recorded as a repeated part and a count.
fn expand(value: &Value) -> Value {
    match value {
        Value::Object(fields) if fields.contains_key("repeat") => {
            let times = fields["times"].as_u64().unwrap_or(0) as usize;
            Value::String(fields["repeat"].as_str().unwrap_or("").repeat(times))
        }
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), expand(field))).collect()
        }
        Value::Array(items) => items.iter().map(expand).collect(),
        other => other.clone(),
    }
}

fn compare_errors(
    expected: &Value,
    wanted: &Value,
    actual: &Value,
    got: &Value,
) -> Result<(), String> {
    if expected.get("internal").is_some() {
        return Ok(());
    }
    // The client gave up after six tries; an embedded store returns the cause immediately.
    if let Some(cause) = expected.get("cause") {
        return compare(cause, actual);
    }
    if wanted != got {
        return Err("the exception differs".into());
    }
    if matches!(wanted.as_str(), Some("PatternSyntaxException" | "SyntaxException")) {
        return Ok(());
    }
    let text = |value: &Value| value["message"].as_str().unwrap_or("").to_owned();
    if mask(&text(expected)) == mask(&text(actual)) {
        Ok(())
    } else {
        Err("the message differs".into())
    }
}

/// Replaces what differs from run to run: region ids, encoded names, times, servers.
fn mask(message: &str) -> String {
    let mut masked = String::new();
    let mut rest = message;
    while let Some(first) = rest.chars().next() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let hex = rest.bytes().take_while(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).count();
        if hex == 32 {
            masked.push_str("<hash>");
            rest = &rest[32..];
        } else if digits == 13 {
            masked.push_str("<id>");
            rest = &rest[13..];
        } else {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    // A cluster's servers have other names.
    let server = regex::Regex::new(r" on [\w.-]+,\d{1,5},<id>").expect("a pattern");
    let masked = server.replace_all(&masked, " on <server>");
    // The second is the name of the server that a store represents.
    masked.replace("localhost,16020,<id>", "<server>").replace("localhost,16020,1", "<server>")
}
