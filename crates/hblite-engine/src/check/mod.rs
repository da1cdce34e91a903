//! Reads every file of a closed store, and reports what is wrong with it.
//!
//! ```text
//! the root's three files       are there, whole, and of one store                     here
//! the log                      every log file and record can be read                   `log`
//! hbase:meta                   its rows, from its files and the log, make sense       `catalog`
//!   regions of a table         one after the other, without hole or overlap           `chain`
//!   directories                those of the rows, with their files, and no others     `table`
//!     families                 have the files that the region's manifest lists, and
//!                              references lead to files                               `family`
//! snapshots                    can be read, with all of their files                    `snapshot`
//!       store files            blocks, index, filters, order, key range, family       `store_file`
//! ```
//!
//! Nothing is changed or written: if there is a lock file, it is locked for reading. Everything is
//! checked, whatever was found before: a damaged hbase:meta only means that directories cannot be
//! compared with it.
//!
//! A *defect* is something that an open refuses or that costs cells. A *note* is something that
//! kills and power cuts leave behind, and that an open cleans up or recreates automatically.
//!
//! If a rewind of the store was interrupted, what is checked is an image in memory in which the
//! rewind is complete.
//!
//! What no check can detect: that a region's directory and its manifest are both from the same
//! earlier moment; and a changed value in a table's settings if they have no checksum, as HBase
//! writes them.
//!
//! Threads: one check of a store at a time, ensured by the lock.

mod catalog;
mod chain;
mod clean;
mod family;
mod log;
mod region;
mod report;
mod snapshot;
mod store_file;
mod table;

#[cfg(test)]
mod tests;

use std::path::Path;

use hblite_env::time::Instant;
use hblite_env::{Env, FileSystem, LargeFiles};
use hblite_model::{Error, ErrorKind, Result};

use crate::catalog::survey::CatalogSurvey;
use crate::layout::{self, Layout, Marker, Place, RootFile, Tolerance, rewind};

pub use self::clean::{Cleaned, clean};
pub use self::report::{CheckProgress, CheckReport, Finding, FindingKind};

/// Whether a creation was interrupted before it wrote the files that every store has.
fn is_unfinished(layout: &Layout, fs: &dyn FileSystem) -> Result<bool> {
    let is_missing = |file: &Path| fs.exists(file).map(|is_there| !is_there);
    let files = [layout.cluster_id_file(), layout.version_file()];
    for file in &files {
        if is_missing(file).map_err(|error| Error::io("cannot look for", file, error))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks the store in `dir`. `progress` is called at intervals.
///
/// # Errors
/// `NotFound` if there is no store; `Locked` if another process has it open (the message names it);
/// `Io` if its lock cannot be taken. Damage inside the store is in the report.
pub fn check(
    env: &Env,
    dir: &Path,
    progress: &mut dyn FnMut(CheckProgress),
) -> Result<CheckReport> {
    let began = Instant::now();
    let layout = Layout::new(dir);
    let tolerance = Tolerance { salvage: true, rewind: true, ..Tolerance::default() };
    let place = match layout::recognize(env.fs.as_ref(), &layout, tolerance) {
        Ok(place) => place,
        Err(error) if error.kind() == ErrorKind::Io => return Err(error),
        Err(error) => return Ok(unrecognizable(dir, &error)),
    };
    let store_id = place.require_store(dir)?;
    if matches!(place, Place::Free(_)) && is_unfinished(&layout, env.fs.as_ref())? {
        return Place::Free(None).require_store(dir).map(|_| CheckReport::default());
    }
    let layout = layout.with_store_id(store_id);
    let lock = layout.lock_existing(env)?;
    let rewound = rewound(env, &layout)?;
    let env = rewound.as_ref().unwrap_or(env);
    let (fs, folders) =
        (env.fs.as_ref(), [layout.data_dir(), layout.wal_dir(), layout.snapshots_dir()]);
    let bytes_total = folders.iter().map(|folder| size_below(fs, folder)).sum();
    let report = CheckReport::default();
    let marker = layout.marker_of(fs, place)?;
    let survey = CatalogSurvey::default();
    let is_unmarked = matches!(place, Place::Unmarked(_));
    let mut inspection = Inspection { env, layout, marker, survey, report, progress, bytes_total };
    if lock.is_none() {
        let what = "is missing, or cannot be locked, so the check does not keep other processes \
                    from opening the store";
        inspection.note(FindingKind::Store, &inspection.layout.lock_file(), what);
    }
    if rewound.is_some() {
        let what = "a rewind was interrupted; the next open, or backup, finishes it. What was \
                    checked is the store after that";
        inspection.note(FindingKind::Store, &inspection.layout.rewind_dir(), what);
    }
    inspection.check_root(is_unmarked);
    inspection.check_catalog();
    inspection.check_snapshots();
    let mut report = inspection.report;
    report.duration = began.elapsed();
    report.sort();
    Ok(report)
}

/// The store as the next open makes it, in memory, if a rewind of it was interrupted.
fn rewound(env: &Env, layout: &Layout) -> Result<Option<Env>> {
    if !rewind::is_interrupted(env.fs.as_ref(), layout, layout.store_id())? {
        return Ok(None);
    }
    let image = layout::image_of(env, layout.root(), LargeFiles::Open, false)?;
    rewind::finish(image.as_ref(), layout)?;
    Ok(Some(env.clone().with_fs(image)))
}

/// The report on a directory whose files say that it was a store, but not which.
fn unrecognizable(dir: &Path, error: &Error) -> CheckReport {
    let what = "nothing else was checked: the files do not identify the store";
    CheckReport {
        defects: vec![Finding::of_error(FindingKind::Store, dir, error)],
        notes: vec![Finding::new(FindingKind::NotChecked, dir, None, what)],
        ..CheckReport::default()
    }
}

/// A check in progress.
struct Inspection<'a> {
    env: &'a Env,
    layout: Layout,
    /// What hbase:meta must have.
    marker: Marker,
    /// What hbase:meta says, once it is read.
    survey: CatalogSurvey,
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

    /// A defect found while reading; `path` is used if the error does not name a place.
    fn failure(&mut self, kind: FindingKind, path: &Path, error: &Error) {
        let kind = if error.kind() == ErrorKind::Io { FindingKind::Unreadable } else { kind };
        self.report.defects.push(Finding::of_error(kind, path, error));
    }

    /// What `read` returns, or a defect of `path`.
    fn or_failure<T>(&mut self, kind: FindingKind, path: &Path, read: Result<T>) -> Option<T> {
        read.inspect_err(|error| self.failure(kind, path, error)).ok()
    }

    /// Reports progress, `bytes_ahead` beyond what is in the report.
    fn report_progress(&mut self, bytes_ahead: u64) {
        let bytes = (self.report.bytes + bytes_ahead).min(self.bytes_total);
        (self.progress)(CheckProgress { bytes, bytes_total: self.bytes_total });
    }

    /// `is_unmarked` says that only a salvage opens the store, since its marker is lost.
    fn check_root(&mut self, is_unmarked: bool) {
        let (fs, layout) = (self.env.fs.as_ref(), &self.layout);
        let (id, version, marker) =
            (layout.read_id(fs), layout.read_version(fs), layout.read_marker(fs));
        let is_marked = matches!(marker, Ok(RootFile::Whole(_)));
        let files = [
            (layout.cluster_id_file(), id.map(RootFile::forget), is_marked),
            (layout.version_file(), version.map(RootFile::forget), is_marked),
            (layout.marker_file(), marker.map(RootFile::forget), is_unmarked),
        ];
        for (path, state, is_required) in files {
            match self.or_failure(FindingKind::Store, &path, state) {
                None | Some(RootFile::Whole(())) => {}
                Some(RootFile::Missing) if is_required => {
                    self.defect(FindingKind::Store, &path, "is not there");
                }
                Some(RootFile::Missing) => self.note(FindingKind::Store, &path, "is not there"),
                Some(RootFile::Unfinished) if is_required && is_unmarked => {
                    self.defect(FindingKind::Store, &path, "is not whole");
                }
                Some(RootFile::Unfinished) => self.note(FindingKind::Store, &path, "is not whole"),
            }
        }
    }
}

/// Bytes of all files below a directory that can be listed; only for the progress.
fn size_below(fs: &dyn FileSystem, dir: &Path) -> u64 {
    let entries = fs.list_dir(dir).unwrap_or_default();
    let sizes = entries.iter().map(|entry| {
        let path = dir.join(&entry.name);
        if entry.is_dir { size_below(fs, &path) } else { fs.file_length(&path).unwrap_or(0) }
    });
    sizes.sum()
}
