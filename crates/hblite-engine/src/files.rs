//! Shared helpers for directories, and for files that are never modified once written.

use std::io::ErrorKind;
use std::path::Path;

use hblite_env::{DirEntry, FileSystem};
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

/// Whether there is a file or directory.
///
/// # Errors
/// `Io`.
pub(crate) fn exists(fs: &dyn FileSystem, path: &Path) -> Result<bool> {
    fs.exists(path).map_err(|error| Error::io("cannot look for", path, error))
}

/// Creates a directory, and those above it.
///
/// # Errors
/// `Io`.
pub(crate) fn make_dir(fs: &dyn FileSystem, dir: &Path) -> Result<()> {
    fs.create_dir_all(dir).map_err(|error| Error::io("cannot create directory", dir, error))
}

/// The entries of a directory; none if it does not exist.
///
/// # Errors
/// `Io`.
pub(crate) fn list(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<DirEntry>> {
    match fs.list_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.map_err(|error| Error::io("cannot list", dir, error)),
    }
}
