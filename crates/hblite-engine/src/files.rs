//! Small things that several parts do with files that are never written again.

use std::path::Path;

use hblite_env::FileSystem;
use hblite_hfile::HFileReader;
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

/// As [`link_or_copy`] for an HFile of which nothing is open: what the new name stands for is read,
/// and all checksums are verified.
///
/// # Errors
/// `Io`, `CorruptHFile` with the offset: the new name may be there.
pub(crate) fn link_or_copy_hfile(fs: &dyn FileSystem, from: &Path, to: &Path) -> Result<()> {
    link_or_copy(fs, from, to)?;
    verify_copy(fs, from, to)
}

/// Verifies all checksums of `copy`, a second name or a copy of the HFile `original`, which is the
/// name in errors.
///
/// # Errors
/// `Io`, `CorruptHFile` with the offset.
pub(crate) fn verify_copy(fs: &dyn FileSystem, original: &Path, copy: &Path) -> Result<()> {
    let reader = HFileReader::open_copy(fs, copy, original, None)?;
    reader.verify_checksums(&mut |_| true).map(drop)
}

/// Makes the names in a directory durable.
///
/// # Errors
/// `Io`.
pub(crate) fn sync_dir(fs: &dyn FileSystem, dir: &Path) -> Result<()> {
    fs.sync_dir(dir).map_err(|error| Error::io("cannot sync directory", dir, error))
}
