//! A copy of a store in another directory: its state at one moment, made of hard links.
//!
//! Every file of a store, except its lock and the last log file, is written once and never
//! modified. A hard link is therefore as good as a copy, and takes neither time nor space. If no
//! link can be made, for example on another file system, the file is copied.
//!
//! 1. a directory next to the target, `<target>.partial`, is created, locked and marked as a backup
//! 2. the files are linked into it; those that are not durable are synced
//! 3. its directories are made durable
//! 4. it is renamed to the target, durably
//!
//! Before the rename, every HFile of the copy is read and its checksums are verified: a damaged
//! file ends the backup with an error that names it. So a backup reads as many bytes as the store
//! has.
//!
//! The target is therefore complete or does not exist. The next backup to the same target removes
//! the partial directory that an interruption left; it refuses a directory without the mark.
//!
//! This module copies a closed store; `catalog/backup.rs` copies an open one.
//!
//! Threads: any. One backup to a target at a time, ensured by the lock of the directory.

mod target;
#[cfg(test)]
mod tests;
mod unfinished;

use std::path::Path;

use hblite_env::Env;
use hblite_model::{BackupReport, Result};

use crate::layout::{self, Layout, Tolerance, rewind};
use crate::wal;

pub(crate) use self::target::{Target, check_free};

/// Copies the closed store in `dir` to the new directory `to`.
///
/// # Errors
/// `NotFound` if there is no store; `Locked` if another process has it open (the message names
/// it); `Io` if the file system fails; `AlreadyExists` if `to` is not an empty directory;
/// `CorruptHFile` with the offset for a damaged store file; `IllegalArgument` if `to` is within the
/// store. In these cases, `to` does not exist, or is unchanged.
pub fn backup(env: &Env, dir: &Path, to: &Path) -> Result<BackupReport> {
    let layout = Layout::new(dir);
    let tolerance = Tolerance { rewind: true, ..Tolerance::default() };
    let place = layout::recognize(env.fs.as_ref(), &layout, tolerance)?;
    let layout = layout.with_store_id(place.require_store(dir)?);
    let _lock = layout.lock_if_possible(env)?;
    // The store is what the rewind makes of it; an open would begin with this, too.
    rewind::finish(env.fs.as_ref(), &layout)?;
    let target = Target::begin(env, dir, to)?;
    target.add_root_files(&layout)?;
    target.add_dir(&layout.data_dir())?;
    target.add_dir(&layout.snapshots_dir())?;
    // Everything else in the archive belongs to no table.
    target.add_dir(&layout.archived_file(&layout.data_dir()))?;
    target.add_dir(&layout.wal_dir())?;
    target.add_dir(&layout.master_data_dir())?;
    let log_head = wal::head_file(&layout.wal_dir());
    if target.exists(&log_head)? {
        target.add_file(&log_head)?;
    }
    target.finish()
}
