//! Removes a snapshot: in one step, so that no half of it is mistaken for a snapshot.
//!
//! 1. hbase:meta no longer names it
//! 2. commit: its directory is renamed to its working directory, durably
//! 3. the links in the archive that only it has are removed, and then the working directory
//!
//! Where the file system refuses the rename (see `layout::moving`):
//!
//! 2. its lists are copied to the working directory, durably
//! 3. commit: its description is removed, durably
//! 4. the rest of its directory is removed, then as step 3 above
//!
//! An open finishes a removal whose commit is done.

use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::{Error, Result};

use super::archive;
use super::named::unname_snapshot;
use crate::catalog::Catalog;
use crate::context::EngineContext;
use crate::files::{exists, link_or_copy, list, make_dir, sync_dir};
use crate::layout::{
    DATA_MANIFEST_FILE, LINKED_MANIFEST_FILE, Layout, SNAPSHOT_INFO_FILE, Shape, foreign_entry,
};

/// Durable on return. A snapshot that contains foreign files is set aside.
pub(super) fn remove_snapshot(catalog: &Catalog, name: &str) -> Result<()> {
    let (fs, layout) = (catalog.context.env.fs.as_ref(), &catalog.context.layout);
    let (dir, working) = (layout.snapshot_dir(name), layout.snapshot_working_dir(name));
    unname_snapshot(catalog, name)?;
    let foreign = foreign_entry(fs, &dir, Shape::Snapshot);
    if let Some(path) = foreign.map_err(|error| Error::io("cannot list", &dir, error))? {
        let moved = layout.set_aside(fs, &dir)?;
        catalog.context.note_moved(&dir, moved.as_deref(), &path);
        return Ok(());
    }
    remove_working(&catalog.context, &working)?;
    let working_dir = layout.snapshots_working_dir();
    make_dir(fs, &working_dir)?;
    if layout.rename_unless_refused(fs, &dir, &working)? {
        archive::make_moves_durable(fs, layout)?;
    } else {
        remove_where_it_is(fs, layout, &dir, &working)?;
    }
    // The next open removes what cannot be removed now.
    let _ = clear_working(&catalog.context, &working);
    Ok(())
}

/// Removes a snapshot's working directory if there is one, after the links in the archive that only
/// it has.
pub(super) fn remove_working(context: &EngineContext, working: &Path) -> Result<()> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    if !exists(fs, working)? {
        return Ok(());
    }
    archive::make_moves_durable(fs, layout)?;
    clear_working(context, working)
}

/// Like [`remove_working`]; a power cut cannot bring back the snapshot.
fn clear_working(context: &EngineContext, working: &Path) -> Result<()> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    archive::unlink_all(fs, layout, working)?;
    let retired = layout.remove_in_place(fs, working)?;
    context.note_retired(working, &retired);
    Ok(())
}

fn remove_where_it_is(
    fs: &dyn FileSystem,
    layout: &Layout,
    dir: &Path,
    working: &Path,
) -> Result<()> {
    make_dir(fs, working)?;
    for name in [LINKED_MANIFEST_FILE, DATA_MANIFEST_FILE, SNAPSHOT_INFO_FILE] {
        let path = dir.join(name);
        if exists(fs, &path)? {
            link_or_copy(fs, &path, &working.join(name))?;
        }
    }
    sync_dir(fs, working)?;
    layout.make_durable(fs, working)?;
    let description = dir.join(SNAPSHOT_INFO_FILE);
    fs.remove_file(&description)
        .map_err(|error| Error::io("cannot remove", &description, error))?;
    sync_dir(fs, dir)?;
    remove_rest(fs, layout, dir)
}

/// Finishes the removals that were committed.
///
/// # Errors
/// `Io`.
pub(super) fn finish_removals(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    for dir in half_removed(fs, layout)? {
        // A kill keeps a commit that a power cut undoes.
        sync_dir(fs, &dir)?;
        remove_rest(fs, layout, &dir)?;
    }
    Ok(())
}

/// The directories of snapshots whose removal was committed and interrupted.
///
/// # Errors
/// `Io`.
pub(crate) fn half_removed(fs: &dyn FileSystem, layout: &Layout) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in list(fs, &layout.snapshots_working_dir())? {
        let Some(name) = entry.name.strip_prefix(&layout.own_name("")) else { continue };
        let dir = layout.snapshot_dir(name);
        if exists(fs, &dir)? && !exists(fs, &dir.join(SNAPSHOT_INFO_FILE))? {
            found.push(dir);
        }
    }
    Ok(found)
}

fn remove_rest(fs: &dyn FileSystem, layout: &Layout, dir: &Path) -> Result<()> {
    layout.remove_in_place(fs, dir)?;
    sync_dir(fs, &layout.snapshots_dir())
}
