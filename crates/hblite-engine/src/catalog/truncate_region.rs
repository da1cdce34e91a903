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
use std::sync::atomic::Ordering;

use hblite_model::{Error, Exception, RegionInfo, Result, TableState};

use super::Procedures;
use super::meta::{self, RegionRow};
use super::table::TableEntry;
use crate::files::sync_dir;
use crate::layout::{Shape, foreign_entry};
use crate::region::Region;

impl Procedures<'_> {
    /// Removes all cells of a region, named by its full or encoded name. Its name and boundaries
    /// stay.
    ///
    /// # Errors
    /// `UnknownRegion`, `TableNotEnabled`, `DoNotRetryIo` if it is not in service, `Io`: the region
    /// is unchanged. `RegionServerStopped`: its state is known only when the store is opened again.
    pub fn truncate_region(&self, name: &str) -> Result<()> {
        let Some((table, row)) = self.find_row(name) else {
            let message = format!("Invalid region: {name}");
            return Err(Error::new(Exception::UnknownRegion, message));
        };
        let _procedure = self.begin_procedure()?;
        let entry = self.entry(&table)?;
        if entry.state != TableState::Enabled {
            return Err(Error::new(Exception::TableNotEnabled, table.to_string()));
        }
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
        let emptied = self.truncate_closed(&entry, region);
        if emptied.is_err() && self.context.check_open().is_ok() {
            self.bring_back(&entry, std::slice::from_ref(region));
        }
        emptied
    }

    fn truncate_closed(&self, entry: &TableEntry, closed: &Region) -> Result<()> {
        let info = closed.info();
        let id = closed.last_sequence_id() + 1;
        let timestamp = self.meta.next_timestamp()?;
        // Emptied, it has no manifest.
        self.meta.write(&[
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
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
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
            return self.empty_in_place(entry, info, rows, &emptied);
        };
        let opened = self.open_emptied(entry, &emptied, Some(&trash)).or_else(|error| {
            self.put_back(info, &trash)?;
            Err(error)
        })?;
        self.publish_emptied(entry, info, rows, opened);
        // The next open removes what cannot be removed now.
        if let Ok(retired) = layout.remove_in_place(fs, &trash) {
            self.context.note_retired(&dir, &retired);
        }
        Ok(())
    }

    /// Step 3 for a directory that stays where it is, and step 4.
    fn empty_in_place(
        &self,
        entry: &TableEntry,
        info: &RegionInfo,
        rows: Vec<RegionRow>,
        emptied: &[RegionRow],
    ) -> Result<()> {
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        layout.begin_emptying(fs, info).or_else(|error| {
            layout.end_emptying(fs, info).map_err(|error| self.give_up(error))?;
            Err(error)
        })?;
        let opened = layout.finish_emptying(fs, info).and_then(|retired| {
            self.context.note_retired(&layout.region_dir(info), &retired);
            self.open_emptied(entry, emptied, None)
        });
        let opened = opened.map_err(|error| self.give_up(error))?;
        self.publish_emptied(entry, info, rows, opened);
        Ok(())
    }

    fn publish_emptied(
        &self,
        entry: &TableEntry,
        info: &RegionInfo,
        rows: Vec<RegionRow>,
        opened: Vec<Arc<Region>>,
    ) {
        let others = entry.regions().iter().filter(|region| region.info() != info).cloned();
        let regions = others.chain(opened).collect();
        let descriptor = Arc::clone(&entry.descriptor);
        let emptied = TableEntry::new(descriptor, entry.state, rows, regions);
        self.publish(info.table(), Some(emptied));
    }

    fn open_emptied(
        &self,
        entry: &TableEntry,
        rows: &[RegionRow],
        moved: Option<&Path>,
    ) -> Result<Vec<Arc<Region>>> {
        let fs = self.context.env.fs.as_ref();
        // The files must not come back next to those that the region gets from now on.
        if let Some(parent) = moved.and_then(Path::parent) {
            sync_dir(fs, parent)?;
        }
        sync_dir(fs, &self.context.layout.table_dir(entry.descriptor.name()))?;
        self.prepare_regions(&entry.descriptor, rows)
    }

    /// Puts the directory of a region back, durably.
    ///
    /// # Errors
    /// `RegionServerStopped`: only the next open shows whether it is there, so nothing is done with
    /// the store until then.
    fn put_back(&self, info: &RegionInfo, moved: &Path) -> Result<()> {
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        let dir = layout.region_dir(info);
        let put_back = layout.retire_dir(fs, &dir, Shape::Region).and_then(|_| {
            let io = |error| Error::io("cannot put back", &dir, error);
            fs.rename(moved, &dir).map_err(io)?;
            sync_dir(fs, &layout.table_dir(info.table()))
        });
        put_back.map_err(|error| self.give_up(error))
    }

    /// Only the next open shows the state of the region, so nothing is done with the store until
    /// then.
    fn give_up(&self, error: Error) -> Error {
        self.context.is_closed.store(true, Ordering::Release);
        let message = format!("{}; open the store again", error.message());
        Error::new(Exception::RegionServerStopped, message).with_source(error)
    }
}
