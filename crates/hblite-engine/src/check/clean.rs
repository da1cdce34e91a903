//! Deletes what opens and changes of tables set aside, and nothing else.
//!
//! Threads: the store's lock excludes all others.

use std::path::{Path, PathBuf};

use hblite_env::{Env, FileSystem};
use hblite_model::{Error, Result};

use super::size_below;
use crate::layout::{self, Layout, Tolerance};

/// A directory that a clean deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    /// Its path; the end of the path says where in the store it was before.
    pub path: PathBuf,
    /// Bytes of the files in it.
    pub bytes: u64,
}

/// Deletes every directory that an open, or a change of tables, set aside in the closed store in
/// `dir`, and lists them.
///
/// # Errors
/// `Io` if there is no store, if it is open (the message names the process), or if a directory
/// cannot be deleted: those before it are deleted.
pub fn clean(env: &Env, dir: &Path) -> Result<Vec<Cleaned>> {
    let (layout, fs) = (Layout::new(dir), env.fs.as_ref());
    let tolerance = Tolerance { rewind: true, ..Tolerance::default() };
    let store_id = layout::recognize(fs, &layout, tolerance)?.require_store(dir)?;
    let layout = layout.with_store_id(store_id);
    let _lock = layout.lock(env)?;
    layout.take_moved_out_of_archive(fs)?;
    let mut cleaned = Vec::new();
    for path in layout.moved_dirs(fs)? {
        cleaned.push(Cleaned { path: what_was_moved(fs, &path), bytes: size_below(fs, &path) });
        fs.remove_dir_all(&path).map_err(|error| Error::io("cannot delete", &path, error))?;
    }
    Ok(cleaned)
}

/// The first directory below `path` that is not just a step on the way to one other.
fn what_was_moved(fs: &dyn FileSystem, path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    // From the number through "data", the namespace and the table at most.
    for _ in 0..4 {
        match fs.list_dir(&path).unwrap_or_default().as_slice() {
            [only] if only.is_dir => path.push(&only.name),
            _ => break,
        }
    }
    path
}
