//! Small things that several parts do with files that are never written again.

use std::path::Path;

use hblite_env::FileSystem;
use hblite_model::{Error, Result};

/// Gives a file a second name, or copies it where no link can be made: another file system, too
/// many links, no links at all. Its content is durable then, its new name not yet.
///
/// # Errors
/// `Io`.
pub(crate) fn link_or_copy(fs: &dyn FileSystem, from: &Path, to: &Path) -> Result<()> {
    // As a rule it is durable, and nothing is to be done.
    fs.sync_file(from).map_err(|error| Error::io("cannot sync", from, error))?;
    if fs.hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs.copy(from, to).map_err(|error| Error::io("cannot copy", from, error))
}

/// Makes the names in a directory durable.
///
/// # Errors
/// `Io`.
pub(crate) fn sync_dir(fs: &dyn FileSystem, dir: &Path) -> Result<()> {
    fs.sync_dir(dir).map_err(|error| Error::io("cannot sync directory", dir, error))
}
