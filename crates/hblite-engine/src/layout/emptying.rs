//! Empties the directory of a region in place, where the file system refuses to rename it.
//!
//! A mark in the trash says, durably, that it is being emptied, so that an open can finish it.
//!
//! Threads: one, which runs the procedure or opens the store.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hblite_env::FileSystem;
use hblite_model::{RegionInfo, Result};

use super::removal::Retired;
use super::{Layout, Shape};
use crate::files::{make_dir, sync_dir};

/// What the name of a mark begins with.
const EMPTIED: &str = "emptied-";

/// Begins, durably, to empty the directory of a region in place, because it cannot be renamed.
/// If [`finish`] is interrupted, the next open repeats it.
///
/// # Errors
/// `Io`.
pub(crate) fn begin(fs: &dyn FileSystem, layout: &Layout, region: &RegionInfo) -> Result<()> {
    layout.make_trash_durable(fs)?;
    let mark = mark_of(layout, region);
    make_dir(fs, &mark)?;
    sync_dir(fs, &layout.trash_dir())
}

/// Removes, durably, the mark of [`begin`].
///
/// # Errors
/// `Io`: the mark may be there.
pub(crate) fn end(fs: &dyn FileSystem, layout: &Layout, region: &RegionInfo) -> Result<()> {
    match layout.remove_in_place(fs, &mark_of(layout, region))? {
        Retired::Absent => Ok(()),
        _ => sync_dir(fs, &layout.trash_dir()),
    }
}

fn mark_of(layout: &Layout, region: &RegionInfo) -> PathBuf {
    layout.trash_dir().join(layout.own_name(&format!("{EMPTIED}{}", region.encoded_name())))
}

/// Whether the emptying of a region has begun and not ended. `in_trash` is what
/// [`Layout::names_in_trash`] returns.
pub(crate) fn is_in_progress(in_trash: &BTreeSet<String>, region: &RegionInfo) -> bool {
    in_trash.contains(&format!("{EMPTIED}{}", region.encoded_name()))
}

/// Removes, durably, what is in the directory of a region, and then ends its emptying. Until
/// then, the region gets no files.
///
/// # Errors
/// `Io`: [`is_in_progress`] says whether it is to be repeated.
pub(crate) fn finish(fs: &dyn FileSystem, layout: &Layout, region: &RegionInfo) -> Result<Retired> {
    let dir = layout.region_dir(region);
    let retired = layout.retire_in_place(fs, &dir, Shape::Region)?;
    // hbase:meta names the region, so it must have a directory.
    make_dir(fs, &dir)?;
    // A mount point was there before.
    sync_dir(fs, &dir)?;
    sync_dir(fs, &layout.table_dir(region.table()))?;
    end(fs, layout, region)?;
    Ok(retired)
}
