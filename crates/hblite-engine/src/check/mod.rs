//! Looks at every file of a store that nobody has open, and tells what is wrong with it.
//!
//! ```text
//! hbase.id, hbase.version      are there and whole                                    here
//! the log                      every segment and record can be read                   `log`
//! hbase:meta                   its rows, from its files and the log, make sense       `catalog`
//!   regions of a table         one after the other, without hole or overlap           `chain`
//!   directories                those of the rows, with their files, and no others     `table`
//!     families                 references lead to files                               `family`
//! snapshots                    can be read, with all of their files                    `snapshot`
//!       store files            blocks, index, filters, order, key range, family       `store_file`
//! ```
//!
//! Nothing is changed, and nothing is written: the lock is held for reading, if its file is there.
//! Everything is looked at, whatever was found
//! before: a damaged hbase:meta only means that directories cannot be compared with it.
//!
//! A *defect* is what an open refuses or what costs cells. A *note* is what an open tidies up or
//! makes again by itself, as kills and power cuts leave it.
//!
//! What no look at a directory can tell: that a store file is gone which nothing refers to (no list
//! of the files is kept, here or in HBase), and a changed value in a table's settings, a file
//! without checksum.
//!
//! Threads: one check of a store at a time; the lock sees to it.

mod catalog;
mod chain;
mod family;
mod log;
mod report;
mod snapshot;
mod store_file;
mod table;

#[cfg(test)]
mod tests;

use std::path::Path;

use hblite_env::time::Instant;
use hblite_env::{Env, FileSystem};
use hblite_model::{Error, ErrorKind, Result};

use crate::layout::{Layout, RootFile};

pub use self::report::{CheckProgress, CheckReport, Finding, FindingKind};

/// Checks the store in `dir`. `progress` is called now and then.
///
/// # Errors
/// `Io` if there is no store, somebody has it open (the message names them) or its lock cannot be
/// taken. What is wrong inside of the store is in the report.
pub fn check(
    env: &Env,
    dir: &Path,
    progress: &mut dyn FnMut(CheckProgress),
) -> Result<CheckReport> {
    let began = Instant::now();
    let layout = Layout::new(dir);
    layout.require(env.fs.as_ref())?;
    let lock = layout.lock_existing(env)?;
    let store_id = layout.read_store_id(env.fs.as_ref())?.unwrap_or_default();
    let layout = layout.with_store_id(store_id);
    let (fs, folders) =
        (env.fs.as_ref(), [layout.data_dir(), layout.wal_dir(), layout.snapshots_dir()]);
    let bytes_total = folders.iter().map(|folder| size_below(fs, folder)).sum();
    let report = CheckReport::default();
    let mut inspection = Inspection { env, layout, report, progress, bytes_total };
    if lock.is_none() {
        let what = "is not there, so that the check keeps no process from opening the store";
        inspection.note(FindingKind::Store, &inspection.layout.lock_file(), what);
    }
    inspection.check_root();
    inspection.check_catalog();
    inspection.check_snapshots();
    let mut report = inspection.report;
    report.duration = began.elapsed();
    report.sort();
    Ok(report)
}

/// One check under way.
struct Inspection<'a> {
    env: &'a Env,
    layout: Layout,
    report: CheckReport,
    progress: &'a mut dyn FnMut(CheckProgress),
    bytes_total: u64,
}

impl Inspection<'_> {
    fn fs(&self) -> &dyn FileSystem {
        self.env.fs.as_ref()
    }

    fn defect(&mut self, kind: FindingKind, path: &Path, what: impl Into<String>) {
        self.report.defects.push(Finding::new(kind, path, None, what));
    }

    fn note(&mut self, kind: FindingKind, path: &Path, what: impl Into<String>) {
        self.report.notes.push(Finding::new(kind, path, None, what));
    }

    /// A defect that reading ran into; `path` is where, if the error does not say.
    fn failure(&mut self, kind: FindingKind, path: &Path, error: &Error) {
        let kind = if error.kind() == ErrorKind::Io { FindingKind::Unreadable } else { kind };
        self.report.defects.push(Finding::of_error(kind, path, error));
    }

    /// What `read` gives, or a defect of `path`.
    fn or_failure<T>(&mut self, kind: FindingKind, path: &Path, read: Result<T>) -> Option<T> {
        read.inspect_err(|error| self.failure(kind, path, error)).ok()
    }

    /// Tells how far the check has come, `bytes_ahead` beyond what is in the report.
    fn tell(&mut self, bytes_ahead: u64) {
        let bytes = (self.report.bytes + bytes_ahead).min(self.bytes_total);
        (self.progress)(CheckProgress { bytes, bytes_total: self.bytes_total });
    }

    fn check_root(&mut self) {
        let (id, version) = (self.layout.cluster_id_file(), self.layout.version_file());
        let id_state = self.layout.cluster_id_state(self.fs());
        let version_state = self.layout.version_state(self.fs());
        for (path, state) in [(id, id_state), (version, version_state)] {
            match self.or_failure(FindingKind::Store, &path, state) {
                None | Some(RootFile::Whole) => {}
                Some(RootFile::Missing) => self.note(FindingKind::Store, &path, "is not there"),
                Some(RootFile::Unfinished) => self.note(FindingKind::Store, &path, "is not whole"),
            }
        }
    }
}

/// Bytes of all files below a directory, as far as they can be seen: for the progress only.
fn size_below(fs: &dyn FileSystem, dir: &Path) -> u64 {
    let entries = fs.list_dir(dir).unwrap_or_default();
    let sizes = entries.iter().map(|entry| {
        let path = dir.join(&entry.name);
        if entry.is_dir { size_below(fs, &path) } else { fs.file_length(&path).unwrap_or(0) }
    });
    sizes.sum()
}
