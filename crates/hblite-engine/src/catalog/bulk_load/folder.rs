//! The contents of a folder that is to be loaded: `<folder>/<family>/<file>`.
//!
//! Names that begin with `_` or `.`, as jobs leave them, are ignored silently. Skipped and reported
//! are files in place of family directories, directories in place of files, and references to files
//! of other regions. A file that is not an HFile is refused later, when it is opened.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hblite_env::{DirEntry, FileSystem};
use hblite_model::{BulkLoadReport, Error, Exception, Result, TableDescriptor};

use crate::bulk_load::BulkLoadRequest;
use crate::layout::family_dir_name;
use crate::store::hfile_link::HFileLink;
use crate::store::store_file::{is_store_file_name, split_reference};

/// A file of the folder.
pub(super) struct Source {
    pub(super) family: Vec<u8>,
    pub(super) path: PathBuf,
}

/// The files of a folder, in the order of their names.
///
/// # Errors
/// `Io` if the folder cannot be read or has families that the table does not have.
pub(super) fn look(
    fs: &dyn FileSystem,
    folder: &Path,
    table: &TableDescriptor,
    request: &BulkLoadRequest,
    report: &mut BulkLoadReport,
) -> Result<Vec<Source>> {
    let (mut sources, mut unmatched) = (Vec::new(), BTreeSet::new());
    for entry in list(fs, folder)? {
        let dir = folder.join(&entry.name);
        if !entry.is_dir {
            report.skipped.push((dir, "is not a directory of a family"));
            continue;
        }
        let mut families = table.families().map(|family| family.name());
        let family = families.find(|family| family_dir_name(family) == entry.name);
        for file in list(fs, &dir)? {
            let path = dir.join(&file.name);
            if file.is_dir {
                report.skipped.push((path, "is a directory"));
            } else if is_reference(&path) {
                report.skipped.push((path, "refers to a file of another region"));
            } else if let Some(family) = family {
                sources.push(Source { family: family.to_vec(), path });
            } else {
                unmatched.insert(entry.name.clone());
                report.skipped.push((path, "belongs to a family that the table lacks"));
            }
        }
    }
    if unmatched.is_empty() || request.options.ignore_unmatched_families {
        return Ok(sources);
    }
    let known: Vec<String> = table.families().map(|family| family.name_as_string()).collect();
    let unmatched: Vec<String> = unmatched.into_iter().collect();
    Err(Error::invalid_argument(
        Exception::Io,
        format!(
            "Unmatched family names found: unmatched family names in HFiles to be bulkloaded: \
             [{}]; valid family names of table {} are: [{}]",
            unmatched.join(", "),
            table.name(),
            known.join(", ")
        ),
    ))
}

/// The contents of a directory, by name, without what jobs leave next to their results.
fn list(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<DirEntry>> {
    let entries = fs.list_dir(dir).map_err(|error| Error::io("cannot list", dir, error))?;
    let mut entries: Vec<DirEntry> =
        entries.into_iter().filter(|entry| !entry.name.starts_with(['_', '.'])).collect();
    entries.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(entries)
}

/// Whether the name is that of a reference, or of a link as HBase's snapshots have them.
fn is_reference(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_half = is_store_file_name(name) && split_reference(path).is_some();
    is_half || HFileLink::parse(name).is_some()
}
