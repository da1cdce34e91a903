//! A disk after an end: checks that everything that must be on it is.
//!
//! The directory is checked as by `hblite check`, opened (occasionally with another cut during the
//! open) and read in several ways. Every row must be explained by the history, bulk loads must be
//! complete or absent, and acknowledged snapshots and backups must hold the rows of some moment
//! during their creation.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite::{
    Connection, Durability, ErrorKind, FindingKind, Get, Result, RowResult, Scan, TableName,
};
use hblite_env::{CrashFileSystem, Env, FileSystem as _};

use crate::disk::{Plan, SimulatedDisk};
use crate::history::atomic_row::{COLUMNS, Column, FAMILIES, Row};
use crate::history::recorder::NEVER;
use crate::machine::{Machine, Outcome, STORE, table_name};
use crate::oracle::{Found, Kept, explain, until};
use crate::settings::{below, pick};
use crate::stirrer::{Copy, LOAD_ROWS, load_row};

/// What is left of a machine's disk.
pub(crate) struct Image<'m> {
    machine: &'m Machine,
    files: CrashFileSystem,
    /// The moment of the end, on the clock of the history.
    at: u64,
    kept: Kept,
}

impl<'m> Image<'m> {
    pub(crate) fn new(machine: &'m Machine, files: CrashFileSystem, at: u64, kept: Kept) -> Self {
        Self { machine, files, at, kept }
    }

    fn count(&self, what: &'static str) {
        self.machine.rates.count(what);
    }

    /// Everything that must hold.
    pub(crate) fn check(mut self, end: &str) -> Outcome<()> {
        self.check_all().map_err(|failure| format!("{end}: {failure}"))
    }

    fn check_all(&mut self) -> Outcome<()> {
        let random = &self.machine.random;
        self.check_directory(STORE)?;
        if below(random, 4) == 0 {
            // The power is cut again while the disk is opened.
            self.files.power_off_after(below(random, 120));
            let opened = self.machine.options(self.disk()).open(STORE);
            drop(opened);
            // What a kill left need not be durable.
            let is_durable = self.machine.settings.durability == Durability::FsyncWal;
            self.files =
                if is_durable { self.machine.cut(&self.files) } else { self.files.after_kill() };
        }
        let connection = self.open(STORE)?;
        self.check_rows(&connection, &table_name(), self.kept)?;
        self.check_loads(&connection)?;
        self.check_copies(&connection)?;
        drop(connection);
        if below(random, 3) == 0 {
            self.files = self.files.after_kill();
            self.check_directory(STORE)?;
            let connection = self.open(STORE)?;
            self.check_rows(&connection, &table_name(), self.kept)?;
            self.count("check: opened twice");
        }
        Ok(())
    }

    /// The disk without faults.
    fn disk(&self) -> SimulatedDisk {
        let (rates, time) = (&self.machine.rates, &self.machine.time);
        let plan = Plan::default();
        SimulatedDisk::new(self.files.clone(), plan, 0, Arc::clone(rates), Arc::clone(time))
    }

    fn open(&self, dir: &str) -> Outcome<Connection> {
        let opened = self.machine.options(self.disk()).open(dir);
        opened.map_err(|error| format!("{dir} does not open: {error}"))
    }

    /// No defect in the directory.
    fn check_directory(&self, dir: &str) -> Outcome<()> {
        let is_made = self.machine.known.has_table || dir != STORE;
        let env = Env::in_memory().with_fs(Arc::new(self.files.fork()));
        let report = match hblite_engine::check(&env, Path::new(dir), &mut |_| {}) {
            // The power was cut while the store was created, before anything could be in it.
            Err(error) if !is_made && error.kind() == ErrorKind::NotFound => return Ok(()),
            report => report.map_err(|error| format!("{dir} cannot be checked: {error}"))?,
        };
        let known = [FindingKind::UnknownDirectory, FindingKind::RegionMissing];
        let is_known = |defect: &&hblite::Finding| known.contains(&defect.kind);
        match report.defects.iter().find(|defect| !is_known(defect)) {
            Some(defect) => Err(format!("{dir}: defect: {defect}")),
            None => {
                self.count("check: directory clean");
                Ok(())
            }
        }
    }

    fn check_rows(&self, connection: &Connection, table: &TableName, kept: Kept) -> Outcome<()> {
        let known = &self.machine.known;
        let exists = connection.admin().table_exists(table);
        if !exists.map_err(|error| format!("is {table} there: {error}"))? {
            if known.has_table {
                return Err(format!("table {table} is lost"));
            }
            return Ok(());
        }
        let name = table.to_string();
        let scanned = scan_rows(connection, &name).map_err(|e| format!("scan of {table}: {e}"))?;
        for row in &self.machine.rows {
            let found = read_row(connection, &name, row).map_err(|e| format!("get {row}: {e}"))?;
            let in_scan = scanned.iter().find(|(name, _)| name == row);
            let in_scan = in_scan.map(|(_, row)| row.clone()).unwrap_or_default();
            if in_scan != found {
                return Err(format!("{row}: a get finds {found:?}, a scan {in_scan:?}"));
            }
            let start = known.start.get(row).cloned().unwrap_or_default();
            let events = known.events.get(row).map_or(&[][..], Vec::as_slice);
            let events = if self.at == u64::MAX { events.to_vec() } else { until(events, self.at) };
            for columns in self.columns_of_one_moment(kept) {
                let found = Found { columns: &columns, row: &found };
                explain(&start, &events, found, kept)
                    .map_err(|failure| format!("{table}, {row}: {failure}"))?;
            }
            self.count("check: row explained");
        }
        Ok(())
    }

    /// Columns whose values are those of one moment. The log keeps a row over two families whole:
    /// of a write that skipped the log, only one family may survive.
    fn columns_of_one_moment(&self, kept: Kept) -> Vec<Vec<Column>> {
        let skips_log = self.machine.settings.durability == Durability::SkipWal;
        if kept == Kept::All || !skips_log {
            return vec![COLUMNS.to_vec()];
        }
        self.count("check: row without the log explained");
        let of = |family: &str| COLUMNS.into_iter().filter(|c| c.starts_with(family)).collect();
        FAMILIES.into_iter().map(of).collect()
    }

    fn check_loads(&self, connection: &Connection) -> Outcome<()> {
        for load in &self.machine.known.loads {
            if load.invoked > self.at {
                continue;
            }
            for number in 0..LOAD_ROWS {
                let row = load_row(&load.name, number);
                let found = read_row(connection, "t", &row).map_err(|e| format!("{row}: {e}"))?;
                let is_whole = FAMILIES.iter().all(|family| {
                    found.get(format!("{family}:x").as_str()).map(Vec::as_slice)
                        == Some(load.name.as_bytes())
                });
                let must_be_there = load.returned.is_some_and(|returned| returned < self.at);
                if !(is_whole || (found.is_empty() && !must_be_there)) {
                    return Err(format!("bulk load {load:?}: row {row} is {found:?}"));
                }
            }
            self.count("check: bulk load looked for");
        }
        Ok(())
    }

    fn check_copies(&self, connection: &Connection) -> Outcome<()> {
        let known = &self.machine.known;
        let is_taken = |copy: &&Copy| copy.returned < self.at;
        let window = |copy: &Copy| Kept::Prefix(copy.invoked, copy.returned);
        for snapshot in known.snapshots.iter().filter(is_taken) {
            let name = &snapshot.name;
            let table: TableName = format!("of-{name}").parse().expect("a legal name");
            let cloned = connection.admin().clone_snapshot(name, &table);
            cloned.map_err(|error| format!("snapshot {name}: {error}"))?;
            self.check_rows(connection, &table, window(snapshot))
                .map_err(|failure| format!("snapshot {snapshot:?}: {failure}"))?;
            self.count("check: snapshot cloned");
        }
        for backup in known.backups.iter().filter(is_taken) {
            self.check_directory(&backup.name)?;
            let connection = self.open(&backup.name)?;
            self.check_rows(&connection, &table_name(), window(backup))
                .map_err(|failure| format!("backup {backup:?}: {failure}"))?;
            self.count("check: backup opened");
        }
        Ok(())
    }

    /// A bit of a store file flips while the store is open: whatever reads it afterwards returns an
    /// error or the original data.
    pub(crate) fn check_rot(self, seed: &str) -> Outcome<()> {
        let random = &self.machine.random;
        let connection = self.open(STORE)?;
        let told = |error: hblite::Error| format!("before the rot: {error}");
        if !connection.admin().table_exists(table_name()).map_err(told)? {
            return Ok(());
        }
        connection.admin().flush_table(table_name()).map_err(told)?;
        let before = scan_rows(&connection, "t").map_err(told)?;
        let store_files = self.store_files(Path::new("/store/data/default/t"));
        if store_files.is_empty() {
            return Ok(());
        }
        let path = &store_files[below(random, store_files.len() as u64) as usize];
        let length = self.files.file_length(path).map_err(|error| error.to_string())?;
        let (offset, bit) = (below(random, length.max(1)), below(random, 8));
        self.files.flip_bit(path, offset as usize, bit as u32).map_err(|e| e.to_string())?;
        self.machine.rates.count("fault: bit rot");
        let context = format!("seed {seed}: bit {bit} at {offset} of {}", path.display());
        // An alter closes the files and opens them again; a compaction reads all of them.
        let admin = connection.admin();
        let described = admin.describe_table(table_name()).map_err(told)?;
        let _ = pick(random, &[true, false]).then(|| admin.modify_table(&described));
        same_or_error(&before, &connection).map_err(|e| format!("{context}: {e}"))?;
        let _ = admin.major_compact_table(table_name());
        same_or_error(&before, &connection).map_err(|e| format!("{context}, compacted: {e}"))?;
        drop(connection);
        self.files.fork();
        if let Ok(connection) = self.open(STORE) {
            same_or_error(&before, &connection).map_err(|e| format!("{context}, reopened: {e}"))?;
        }
        self.count("check: rotten store refused or right");
        Ok(())
    }

    /// The HFiles of the families below a directory; references and the like have other names, and
    /// unfinished files are in directories whose names begin with a dot.
    fn store_files(&self, dir: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in self.files.list_dir(dir).unwrap_or_default() {
            let path = dir.join(&entry.name);
            if entry.is_dir && entry.name.starts_with('.') {
                continue;
            }
            if entry.is_dir {
                found.extend(self.store_files(&path));
            } else if entry.name.len() == 32 && !entry.name.contains('.') {
                found.push(path);
            }
        }
        found
    }
}

fn same_or_error(before: &[(String, Row)], connection: &Connection) -> Outcome<()> {
    match scan_rows(connection, "t") {
        Ok(after) if after == before => {}
        Ok(after) => return Err(format!("a scan gives {after:?} instead of {before:?}")),
        Err(_) => {}
    }
    for (row, expected) in before {
        match read_row(connection, "t", row) {
            Ok(found) if found != *expected => {
                return Err(format!("get of {row} gives {found:?} instead of {expected:?}"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The row as an atomic row has it.
pub(crate) fn read_row(connection: &Connection, table: &str, row: &str) -> Result<Row> {
    connection.table(table)?.get(&Get::new(row)).map(|found| to_row(&found))
}

fn scan_rows(connection: &Connection, table: &str) -> Result<Vec<(String, Row)>> {
    let mut rows = Vec::new();
    for row in connection.table(table)?.scan(&Scan::new())? {
        let row = row?;
        rows.push((String::from_utf8_lossy(row.row()).into_owned(), to_row(&row)));
    }
    Ok(rows)
}

fn to_row(found: &RowResult) -> Row {
    let mut row = Row::default();
    for cell in found.cells() {
        let name = [cell.family(), b":", cell.qualifier()].concat();
        let column = COLUMNS.iter().find(|column| column.as_bytes() == name);
        if let Some(column) = column {
            row.insert(column, cell.value().to_vec());
        }
    }
    row
}

const _: () = assert!(NEVER == u64::MAX);
