//! Shared helpers for files that are never modified once written.

use std::path::Path;

use hblite_env::FileSystem;
use hblite_hfile::HFileReader;
use hblite_model::{Error, Result};

/// Hard-links a file, or copies it if no link can be made (another file system, too many links, no
/// links at all). On return, the content is durable; the new name is not.
///
/// # Errors
/// `Io`.
pub(crate) fn link_or_copy(fs: &dyn FileSystem, from: &Path, to: &Path) -> Result<()> {
    // Usually it is durable already, and this does nothing.
    fs.sync_file(from).map_err(|error| Error::io("cannot sync", from, error))?;
    link_or_copy_durable(fs, from, to)
}

/// Like [`link_or_copy`], for a file whose content is durable.
///
/// # Errors
/// `Io`.
pub(crate) fn link_or_copy_durable(fs: &dyn FileSystem, from: &Path, to: &Path) -> Result<()> {
    if fs.hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs.copy(from, to).map_err(|error| Error::io("cannot copy", from, error))
}

/// Like [`link_or_copy`], for an HFile that is not open: the file is read through its new name, and
/// all checksums are verified.
///
/// # Errors
/// `Io`, `CorruptHFile` with the offset: the new name may exist.
pub(crate) fn link_or_copy_hfile(fs: &dyn FileSystem, from: &Path, to: &Path) -> Result<()> {
    link_or_copy(fs, from, to)?;
    verify_copy(fs, from, to)
}

/// Verifies all checksums of `copy`, a hard link to or a copy of the HFile `original`. Errors name
/// `original`.
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
