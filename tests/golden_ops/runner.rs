//! Plays one recorded file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hblite::{
    Action, Connection, Error, Exception, ManualClock, MergeKind, NamespaceDescriptor, Options,
    RegionInfo, Result, RowResult, SplitPoints, SystemTables,
};
use serde_json::{Value, json};

use super::answer::{self, CLOCK_START};
use super::arguments::{self, bytes, table_name, text};

const FILES_NEVER_REACHED: u32 = 10_000;
/// How long regions may refer to the files of their parents.
const REFERENCES_MAX: Duration = Duration::from_secs(60);

/// The result of a file.
#[derive(Default)]
pub(crate) struct FileOutcome {
    pub passed: usize,
    pub failed: usize,
    pub first_difference: Option<String>,
}

/// Plays a file on an empty store in memory.
#[allow(dead_code, reason = "other tests play on other connections")]
pub(crate) fn run_file(path: &Path) -> FileOutcome {
    let (connection, clock) = empty_store();
    play(path, &connection, || {
        wait_for_heirs(&connection);
        clock.advance(1);
    })
}

/// An empty store in memory, as the recordings need it, and its clock.
#[allow(dead_code, reason = "other tests play on other connections")]
pub(crate) fn empty_store() -> (Connection, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(CLOCK_START));
    // As the server of the recordings: only the files of split and merged regions are compacted
    // without a request.
    let engine = Options::new()
        .with_compaction_files_max(FILES_NEVER_REACHED)
        .with_compaction_files_min(FILES_NEVER_REACHED)
        .with_blocking_store_files(FILES_NEVER_REACHED)
        .with_major_compaction_period(None);
    let connection =
        engine.with_clock(clock.clone()).open_in_memory().expect("an empty store in memory opens");
    (connection, clock)
}

/// Waits until the regions of an embedded store have compacted the files of their parents, as the
/// recording did.
#[allow(dead_code, reason = "other tests play on other connections")]
pub(crate) fn wait_for_heirs(store: &Connection) {
    let engine = store
        .backend_as::<hblite_engine::Timeline>()
        .map(|timeline| timeline.engine())
        .expect("the store is embedded");
    let start = Instant::now();
    while engine.online_regions().iter().any(|region| region.has_references()) {
        assert!(start.elapsed() < REFERENCES_MAX, "references are compacted");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Plays a file on a connection. `tick` moves the clock before each operation.
pub(crate) fn play(path: &Path, connection: &Connection, tick: impl Fn()) -> FileOutcome {
    let mut outcome = FileOutcome::default();
    let content = match std::fs::read_to_string(path) {
        Ok(content) => content,
        Err(error) => {
            outcome.failed = 1;
            outcome.first_difference = Some(format!("{}: {error}", path.display()));
            return outcome;
        }
    };
    let mut history: Vec<(usize, Value)> = Vec::new();
    for (index, line) in content.lines().enumerate() {
        let op: Value = serde_json::from_str(line).expect("a line is JSON");
        if op.get("op").is_none() {
            continue;
        }
        tick();
        let actual = run(connection, &op).unwrap_or_else(|error| answer::error(&error));
        match answer::compare(&op["expect"], &actual) {
            Ok(()) => outcome.passed += 1,
            Err(why) => {
                outcome.failed += 1;
                outcome
                    .first_difference
                    .get_or_insert_with(|| describe(path, index, &op, &actual, &why, &history));
            }
        }
        history.push((index, op));
    }
    outcome
}

fn describe(
    path: &Path,
    index: usize,
    op: &Value,
    actual: &Value,
    why: &str,
    history: &[(usize, Value)],
) -> String {
    let mut arguments = op.clone();
    arguments.as_object_mut().map(|fields| fields.remove("expect"));
    let mut told = format!(
        "{}:{}: {why}\n  op       {}\n  expected {}\n  actual   {}",
        path.display(),
        index + 1,
        shorten(&arguments.to_string()),
        shorten(&op["expect"].to_string()),
        shorten(&actual.to_string())
    );
    let touched = |other: &&(usize, Value)| {
        other.1.get("t") == op.get("t")
            && (other.1.get("row").is_none() || other.1.get("row") == op.get("row"))
            && !matches!(other.1["op"].as_str(), Some("get" | "scan" | "exists"))
    };
    let before: Vec<_> = history.iter().filter(touched).collect();
    for (line, earlier) in before.iter().rev().take(12).rev() {
        let mut earlier = earlier.clone();
        earlier.as_object_mut().map(|fields| fields.remove("expect"));
        told.push_str(&format!(
            "\n    before, line {}: {}",
            line + 1,
            shorten(&earlier.to_string())
        ));
    }
    told
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(1_500) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn ok() -> Value {
    json!({"ok": true})
}

fn run(connection: &Connection, op: &Value) -> Result<Value> {
    match op["op"].as_str().unwrap_or("") {
        "put"
        | "delete"
        | "get"
        | "exists"
        | "scan"
        | "increment"
        | "increment_column"
        | "append"
        | "mutate_row"
        | "check_and_mutate"
        | "check_and_mutate_batch"
        | "batch" => run_data(connection, op),
        "create_ns" | "alter_ns" | "drop_ns" | "describe_ns" | "list_ns" | "list_ns_tables" => {
            run_namespace(connection, op)
        }
        "flush" | "major_compact" | "split" | "merge" | "regions" | "region_of" => {
            run_store(connection, op)
        }
        _ => run_admin(connection, op),
    }
}

fn run_data(connection: &Connection, op: &Value) -> Result<Value> {
    let table = connection.table(&table_name(op)?)?;
    let result = |row: RowResult| json!({"cells": answer::cells(&row)});
    Ok(match op["op"].as_str().unwrap_or("") {
        // Rust has no null: this is the Java client's error for it.
        "put" if has_null_family(op) => {
            return Err(Error::new(Exception::HBaseIo, "java.lang.NullPointerException"));
        }
        "put" => {
            table.put(&arguments::put(op))?;
            ok()
        }
        "delete" => {
            table.delete(&arguments::delete(op))?;
            ok()
        }
        "get" if op["exists_only"] == true => {
            json!({"exists": table.exists(&arguments::get(op)?)?})
        }
        "get" => result(table.get(&arguments::get(op)?)?),
        "exists" => json!({"value": table.exists(&arguments::get(op)?)?}),
        "increment" => result(table.increment(&arguments::increment(op)?)?),
        "append" => result(table.append(&arguments::append(op)?)?),
        "increment_column" => {
            let (row, family, qualifier) = (bytes(&op["row"]), bytes(&op["f"]), bytes(&op["q"]));
            let amount = op["amount"].as_i64().unwrap_or(0);
            json!({"value": table.increment_column(row, family, qualifier, amount)?})
        }
        "mutate_row" => {
            let found = table.mutate_row(&arguments::row_mutations(op)?)?;
            match op["expect"].get("cells") {
                Some(_) => json!({"ok": true, "cells": answer::cells(&found)}),
                None if found.is_empty() => ok(),
                None => json!({"ok": true, "cells": answer::cells(&found)}),
            }
        }
        "check_and_mutate" => {
            answer::checked(&table.check_and_mutate(&arguments::check_and_mutate(op)?)?)
        }
        "check_and_mutate_batch" => {
            let mut results = Vec::new();
            for check in op["checks"].as_array().into_iter().flatten() {
                let check = arguments::check_and_mutate(check)?;
                results.push(answer::checked(&table.check_and_mutate(&check)?));
            }
            json!({"results": results})
        }
        "batch" => run_batch(&table, op)?,
        _ => run_scan(&table, op)?,
    })
}

fn has_null_family(op: &Value) -> bool {
    op["cells"].as_array().into_iter().flatten().any(|cell| cell[0].is_null())
}

fn run_scan(table: &hblite::Table, op: &Value) -> Result<Value> {
    let take = op.get("take").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let mut rows = Vec::new();
    let mut scanner = table.scan(&arguments::scan(op)?)?;
    while (rows.len() as u64) < take {
        match scanner.next_row()? {
            Some(row) => rows.push(answer::row(row)),
            None => break,
        }
    }
    Ok(json!({"rows": rows}))
}

fn run_batch(table: &hblite::Table, op: &Value) -> Result<Value> {
    let mut actions = Vec::new();
    for action in op["actions"].as_array().into_iter().flatten() {
        actions.push(match action["op"].as_str().unwrap_or("") {
            "get" => Action::Get(arguments::get(action)?),
            "mutate_row" => Action::RowMutations(arguments::row_mutations(action)?),
            _ => Action::Mutation(arguments::mutation(action)?),
        });
    }
    let results = table.batch(&actions)?;
    let wanted = op["actions"].as_array().into_iter().flatten();
    let told: Vec<Value> = results
        .iter()
        .zip(wanted)
        .map(|(result, action)| match result {
            Ok(told) => {
                let row = told.clone().into_row();
                match action["exists_only"] == true {
                    true => json!({"exists": !row.is_empty()}),
                    false => json!({"cells": answer::cells(&row)}),
                }
            }
            Err(error) => answer::error(error),
        })
        .collect();
    Ok(json!({"results": told}))
}

fn borders(regions: &[RegionInfo]) -> Value {
    let printable = |key: &[u8]| hblite::bytes::to_string_binary(key);
    let border =
        |info: &RegionInfo| json!([printable(info.start_key()), printable(info.end_key())]);
    json!({"regions": regions.iter().map(border).collect::<Vec<_>>()})
}

fn run_store(connection: &Connection, op: &Value) -> Result<Value> {
    let admin = connection.admin();
    let table = table_name(op)?;
    Ok(match op["op"].as_str().unwrap_or("") {
        "flush" => {
            admin.flush_table(&table)?;
            ok()
        }
        "major_compact" => {
            admin.major_compact_table(&table)?;
            ok()
        }
        "split" => {
            admin.split_table(&table, Some(&bytes(&op["at"])))?;
            if op["major_compact"] != false {
                admin.major_compact_table(&table)?;
            }
            borders(&admin.regions(&table)?)
        }
        "merge" => {
            let regions = admin.regions(&table)?;
            let starts = arguments::byte_lists(&op["starts"]);
            let named: Vec<&str> = starts
                .iter()
                .filter_map(|start| regions.iter().find(|info| info.start_key() == start))
                .map(RegionInfo::encoded_name)
                .collect();
            admin.merge_regions(&named, MergeKind::Adjacent)?;
            if op["major_compact"] != false {
                admin.major_compact_table(&table)?;
            }
            borders(&admin.regions(&table)?)
        }
        "regions" => borders(&admin.regions(&table)?),
        _ => {
            let region = admin.locate_region(&table, bytes(&op["row"]))?.region;
            let mut answer = borders(std::slice::from_ref(&region));
            json!({"region": answer["regions"][0].take()})
        }
    })
}

fn run_admin(connection: &Connection, op: &Value) -> Result<Value> {
    let admin = connection.admin();
    if op["op"] == "list" {
        let names = admin
            .list_tables(SystemTables::Exclude)?
            .into_iter()
            .map(|table| table.name().to_string());
        let mut names: Vec<String> = match op.get("regex").and_then(Value::as_str) {
            Some(pattern) => {
                let pattern = format!("^(?:{pattern})$");
                let regex = regex::Regex::new(&pattern)
                    .map_err(|error| Error::illegal_argument(error.to_string()))?;
                names.filter(|name| regex.is_match(name)).collect()
            }
            None => names.collect(),
        };
        names.sort();
        return Ok(json!({"names": names}));
    }
    let table = table_name(op)?;
    match op["op"].as_str().unwrap_or("") {
        "create" => {
            let splits = arguments::byte_lists(&op["splits"]);
            admin.create_table_with_splits(&arguments::table(op)?, &splits)?;
        }
        "alter" => {
            let present = admin.describe_table(&table)?;
            admin.modify_table(&arguments::altered(op, present)?)?;
        }
        "add_family" => admin.add_family(&table, &arguments::family(&op["family"], None)?)?,
        "modify_family" => admin.modify_family(&table, &arguments::family(&op["family"], None)?)?,
        "delete_family" => admin.delete_family(&table, bytes(&op["family"]))?,
        "disable" => admin.disable_table(&table)?,
        "enable" => admin.enable_table(&table)?,
        "drop" => admin.delete_table(&table)?,
        "truncate" => {
            let keeps = op["preserve_splits"] == true;
            let splits = if keeps { SplitPoints::Preserve } else { SplitPoints::Discard };
            admin.truncate_table(&table, splits)?;
        }
        "describe" => return Ok(json!({"text": admin.describe_table(&table)?.to_string()})),
        "table_exists" => return Ok(json!({"value": admin.table_exists(&table)?})),
        "is_enabled" => return Ok(json!({"value": admin.is_table_enabled(&table)?})),
        "is_disabled" => return Ok(json!({"value": admin.is_table_disabled(&table)?})),
        other => panic!("unknown operation {other}"),
    }
    Ok(ok())
}

fn run_namespace(connection: &Connection, op: &Value) -> Result<Value> {
    let admin = connection.admin();
    let name = text(&op["ns"]);
    let descriptor = || {
        let mut descriptor = NamespaceDescriptor::new(&name);
        for (key, value) in op["properties"].as_object().into_iter().flatten() {
            descriptor = descriptor.with_property(key, &text(value));
        }
        descriptor
    };
    match op["op"].as_str().unwrap_or("") {
        "create_ns" => admin.create_namespace(&descriptor())?,
        "alter_ns" => admin.modify_namespace(&descriptor())?,
        "drop_ns" => admin.delete_namespace(&name)?,
        "describe_ns" => {
            let found = admin.describe_namespace(&name)?;
            let properties: BTreeMap<_, _> = found.properties.into_iter().collect();
            return Ok(json!({"name": found.name, "properties": properties}));
        }
        "list_ns" => {
            let names: Vec<_> = admin.list_namespaces()?.into_iter().map(|n| n.name).collect();
            return Ok(json!({"names": names}));
        }
        _ => {
            let mut names: Vec<String> =
                admin.list_namespace_tables(&name)?.iter().map(ToString::to_string).collect();
            names.sort();
            return Ok(json!({"names": names}));
        }
    }
    Ok(ok())
}
