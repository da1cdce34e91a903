//! A copy of a store in another directory: the state of one moment, made of hard links.
//!
//! Every file of a store but its lock and the log's last segment is written once and never again,
//! so a second name is as good as a copy, and takes neither time nor room. Where no link can be
//! made, as on another file system, the file is copied.
//!
//! 1. a directory beside the target, `<target>.partial`, is made, locked and marked as a backup's
//! 2. the files get names in it, those that are not durable are made so
//! 3. its directories are made durable
//! 4. it takes the target's name, durably
//!
//! Before the rename, every HFile of the copy is read and its checksums are verified: a damaged
//! file ends the backup with an error that names it. So a backup reads as many bytes as the store
//! has.
//!
//! So the target is whole or not there. What an interruption leaves of the other directory is
//! removed by the next backup to the same target, which refuses a directory without the mark.
//!
//! Here is the copy of a closed store; that of an open one is `catalog/backup.rs`.
//!
//! Threads: any. One backup to a target at a time; the lock of the directory sees to it.

mod target;
#[cfg(test)]
mod tests;
mod unfinished;

use std::path::Path;

use hblite_env::Env;
use hblite_model::{BackupReport, Result};

use crate::layout::{self, Layout, Tolerance};
use crate::wal;

pub(crate) use self::target::{Target, check_free};

/// Makes a copy of the closed store in `dir` as a new directory `to`.
///
/// # Errors
/// `NotFound` if there is no store; `Io` if another process has it open (the message names it) or
/// the file system fails; `AlreadyExists` if `to` is not an empty directory; `CorruptHFile` with
/// the offset for a damaged store file; `IllegalArgument` if `to` is within the store.
/// There is no `to` then, or it is as it was.
pub fn backup(env: &Env, dir: &Path, to: &Path) -> Result<BackupReport> {
    let layout = Layout::new(dir);
    layout::recognize(env.fs.as_ref(), &layout, Tolerance::default())?.require_store(dir)?;
    let _lock = layout.lock(env)?;
    let target = Target::begin(env, dir, to)?;
    target.add_root_files(&layout)?;
    target.add_dir(&layout.data_dir())?;
    target.add_dir(&layout.snapshots_dir())?;
    // What else is in the archive belongs to no table.
    target.add_dir(&layout.archived_file(&layout.data_dir()))?;
    target.add_dir(&layout.wal_dir())?;
    target.add_dir(&layout.master_data_dir())?;
    let log_head = wal::head_file(&layout.wal_dir());
    if target.exists(&log_head)? {
        target.add_file(&log_head)?;
    }
    target.finish()
}
