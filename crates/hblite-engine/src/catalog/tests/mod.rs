//! The catalog from outside: through an open store.

mod crash;
mod creation;
mod faults;
mod flush;
mod foreign;
mod full_disk;
mod growth;
mod losses;
mod lost_catalog;
mod lost_files;
mod open_files;
mod procedures;
mod queue;
mod refused_renames;
mod region_crash;
mod reopen;
mod replicas;
mod sorted_runs;

use std::path::Path;
use std::sync::Arc;

use hblite_env::{Env, FileSystem, ManualClock, SeededRandom};
use hblite_model::{
    ColumnFamilyDescriptor, Error, Get, Put, Result, Scan, SystemTables, TableDescriptor, TableName,
};

use crate::{Engine, EngineOptions};

const DIR: &str = "/store";

fn env(fs: Arc<dyn FileSystem>) -> Env {
    Env {
        fs,
        // A stopped clock: order must come from elsewhere.
        clock: Arc::new(ManualClock::new(1_700_000_000_000)),
        random: Arc::new(SeededRandom::new(7)),
    }
}

/// Nothing happens in the background, so that tests decide what happens when.
fn options() -> EngineOptions {
    EngineOptions { is_compaction_enabled: false, ..EngineOptions::default() }
}

fn open(fs: &Arc<dyn FileSystem>) -> Result<Arc<Engine>> {
    Engine::open(env(Arc::clone(fs)), Path::new(DIR), options())
}

/// A store on `fs`, prepared by `prepare`, and the handle to `fs`.
fn prepared<F: FileSystem + Clone + 'static>(
    fs: F,
    prepare: impl Fn(&Arc<Engine>),
) -> (F, Arc<Engine>) {
    let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
    let engine = open(&shared).unwrap();
    prepare(&engine);
    (fs, engine)
}

fn name(name: &str) -> TableName {
    name.parse().unwrap()
}

fn table(table: &str, families: &[&str]) -> TableDescriptor {
    families.iter().fold(TableDescriptor::new(name(table)), |table, family| {
        table.with_family(ColumnFamilyDescriptor::new(family))
    })
}

fn put(engine: &Arc<Engine>, table: &str, row: &str) -> Result<()> {
    put_in(engine, table, row, "f")
}

fn put_in(engine: &Arc<Engine>, table: &str, row: &str, family: &str) -> Result<()> {
    let put = Put::new(row).add(family, "q", row);
    engine.table(name(table)).mutate(put.as_mutation())
}

fn has(engine: &Arc<Engine>, table: &str, row: &str) -> Result<bool> {
    engine.table(name(table)).exists(&Get::new(row))
}

/// The rows of a table, by a scan.
fn rows(engine: &Arc<Engine>, table: &str) -> Result<Vec<String>> {
    let mut scanner = engine.table(name(table)).scan(&Scan::new())?;
    let mut rows = Vec::new();
    let mut row = hblite_model::RowResult::default();
    while scanner.next_row(&mut row)? {
        rows.push(String::from_utf8_lossy(row.row()).into_owned());
    }
    Ok(rows)
}

/// Everything that a user sees of the store.
fn picture(engine: &Arc<Engine>) -> String {
    let mut lines = Vec::new();
    for namespace in engine.catalog().namespaces() {
        lines.push(namespace.to_string());
    }
    for table in engine.catalog().list_tables(SystemTables::Exclude) {
        let text = table.name().to_string();
        let state = engine.catalog().table_state(table.name()).unwrap();
        lines.push(format!("{table} {state} {:?}", starts(engine, &text)));
        if let Ok(rows) = rows(engine, &text) {
            lines.push(format!("{rows:?}"));
        }
    }
    lines.join("\n")
}

/// Start keys of a table's regions.
fn starts(engine: &Arc<Engine>, table: &str) -> Vec<String> {
    let regions = engine.catalog().region_infos(&name(table));
    regions.iter().map(|info| String::from_utf8_lossy(info.start_key()).into_owned()).collect()
}

fn told(result: Result<impl Sized>) -> (&'static str, String) {
    let Err(error) = result else { panic!("it went well") };
    parts(&error)
}

fn parts(error: &Error) -> (&'static str, String) {
    (error.exception().simple_name(), error.message().to_owned())
}
