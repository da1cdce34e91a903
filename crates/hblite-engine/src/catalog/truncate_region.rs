//! Empties one region (`TruncateRegionProcedure`).
//!
//! The region keeps its name, so hbase:meta cannot distinguish its new files from the old ones. The
//! commit is the rename that moves its directory away:
//!
//! 1. flush and close: none of its cells is only in the log
//! 2. hbase:meta records the id from which its log counts, so that nothing is replayed from the
//!    log, and no longer says that it has a manifest
//! 3. its directory goes to the trash, durably
//! 4. it is opened without files
//!
//! An error after step 3 puts the directory back. If the file system refuses the rename (see
//! `layout::moving`), or hblite did not write all that is in the directory, step 3 is:
//!
//! 3. commit: a mark in the trash says, durably, that the region is being emptied; its directory is
//!    removed, or set aside, in place; the mark is removed. An open repeats this if there is a mark

use std::path::Path;
use std::sync::Arc;

use hblite_model::{Error, Exception, RegionInfo, Result, TableState};

use super::create::prepare_regions;
use super::meta::{self, RegionRow};
use super::parked::settled_entry;
use super::procedures::{begin_procedure, bring_back, give_up};
use super::table::TableEntry;
use super::{Catalog, Procedures};
use crate::context::EngineContext;
use crate::files::sync_dir;
use crate::layout::{Shape, emptying, foreign_entry};
use crate::region::Region;

impl Procedures<'_> {
    /// Removes all cells of a region, named by its full or encoded name. Its name and boundaries
    /// stay.
    ///
    /// # Errors
    /// `UnknownRegion`, `TableNotEnabled`, `DoNotRetryIo` if it is not in service, `Io`: the region
    /// is unchanged. `RegionServerStopped`: its state is known only when the store is opened again.
    pub fn truncate_region(&self, name: &str) -> Result<()> {
        let catalog = self.0;
        let Some((table, row)) = catalog.find_row(name) else {
            let message = format!("Invalid region: {name}");
            return Err(Error::new(Exception::UnknownRegion, message));
        };
        let _procedure = begin_procedure(catalog)?;
        let entry = settled_entry(catalog, &table)?;
        entry.check_state(TableState::Enabled)?;
        if table.is_system() {
            let message = "Can't truncate region in catalog tables";
            return Err(Error::invalid_argument(Exception::Io, message));
        }
        let encoded = row.info.encoded_name();
        let Some(region) = entry.assigned_region(encoded) else {
            return Err(Error::do_not_retry(format!("{encoded} is not OPEN; state=CLOSED")));
        };
        // Most memory is flushed while the region still serves; if that fails, nothing has changed.
        region.flush()?;
        region.close()?;
        let emptied = truncate_closed(catalog, &entry, region);
        if emptied.is_err() && catalog.context.check_open().is_ok() {
            bring_back(catalog, &entry, std::slice::from_ref(region));
        }
        emptied
    }
}

fn truncate_closed(catalog: &Catalog, entry: &TableEntry, closed: &Region) -> Result<()> {
    let info = closed.info();
    let id = closed.last_sequence_id() + 1;
    let timestamp = catalog.meta.next_timestamp()?;
    // Emptied, it has no manifest.
    catalog.meta.write(&[
        meta::put_open_sequence_number(info, id, timestamp),
        meta::delete_manifest(info, timestamp),
    ])?;

    let mut rows = entry.rows.clone();
    let mut emptied = Vec::new();
    for row in rows.iter_mut().filter(|row| row.info == *info) {
        row.open_sequence_number = id;
        row.manifest = None;
        emptied.push(row.clone());
    }
    let (fs, layout) = (catalog.context.env.fs.as_ref(), &catalog.context.layout);
    let dir = layout.region_dir(info);
    let foreign = foreign_entry(fs, &dir, Shape::Region);
    let has_foreign = foreign.map_err(|e| Error::io("cannot list", &dir, e))?.is_some();
    // What is in the trash explains after a kill why the region has no directory.
    let trash = match has_foreign && fs.renames_dirs_in_use() {
        true => None,
        false => {
            layout.make_trash_durable(fs)?;
            layout.move_to_trash_unless_refused(fs, &dir)?
        }
    };
    let Some(trash) = trash else {
        return empty_in_place(catalog, entry, info, rows, &emptied);
    };
    let opened =
        open_emptied(&catalog.context, entry, &emptied, Some(&trash)).or_else(|error| {
            put_back(&catalog.context, info, &trash)?;
            Err(error)
        })?;
    publish_emptied(catalog, entry, info, rows, opened);
    // The next open removes what cannot be removed now.
    if let Ok(retired) = layout.remove_in_place(fs, &trash) {
        catalog.context.note_retired(&dir, &retired);
    }
    Ok(())
}

/// Step 3 for a directory that stays where it is, and step 4.
fn empty_in_place(
    catalog: &Catalog,
    entry: &TableEntry,
    info: &RegionInfo,
    rows: Vec<RegionRow>,
    emptied: &[RegionRow],
) -> Result<()> {
    let (fs, layout) = (catalog.context.env.fs.as_ref(), &catalog.context.layout);
    emptying::begin(fs, layout, info).or_else(|error| {
        emptying::end(fs, layout, info).map_err(|error| give_up(&catalog.context, error))?;
        Err(error)
    })?;
    let opened = emptying::finish(fs, layout, info).and_then(|retired| {
        catalog.context.note_retired(&layout.region_dir(info), &retired);
        open_emptied(&catalog.context, entry, emptied, None)
    });
    let opened = opened.map_err(|error| give_up(&catalog.context, error))?;
    publish_emptied(catalog, entry, info, rows, opened);
    Ok(())
}

fn publish_emptied(
    catalog: &Catalog,
    entry: &TableEntry,
    info: &RegionInfo,
    rows: Vec<RegionRow>,
    opened: Vec<Arc<Region>>,
) {
    let others = entry.regions().iter().filter(|region| region.info() != info).cloned();
    let regions = others.chain(opened).collect();
    catalog.publish(info.table(), Some(entry.with_rows(rows, regions)));
}

fn open_emptied(
    context: &Arc<EngineContext>,
    entry: &TableEntry,
    rows: &[RegionRow],
    moved: Option<&Path>,
) -> Result<Vec<Arc<Region>>> {
    let fs = context.env.fs.as_ref();
    // The files must not come back next to those that the region gets from now on.
    if let Some(parent) = moved.and_then(Path::parent) {
        sync_dir(fs, parent)?;
    }
    sync_dir(fs, &context.layout.table_dir(entry.descriptor.name()))?;
    prepare_regions(context, &entry.descriptor, rows)
}

/// Puts the directory of a region back, durably.
///
/// # Errors
/// `RegionServerStopped`: only the next open shows whether it is there, so nothing is done with the
/// store until then.
fn put_back(context: &EngineContext, info: &RegionInfo, moved: &Path) -> Result<()> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    let dir = layout.region_dir(info);
    let put_back = layout.retire_dir(fs, &dir, Shape::Region).and_then(|_| {
        let io = |error| Error::io("cannot put back", &dir, error);
        fs.rename(moved, &dir).map_err(io)?;
        sync_dir(fs, &layout.table_dir(info.table()))
    });
    put_back.map_err(|error| give_up(context, error))
}
