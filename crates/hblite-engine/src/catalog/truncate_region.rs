//! Empties one region (`TruncateRegionProcedure`).
//!
//! The region keeps its name, so hbase:meta cannot distinguish its new files from the old ones. The
//! commit is the rename that moves its directory away:
//!
//! 1. flush and close: none of its cells is only in the log
//! 2. hbase:meta records the id from which its log counts, so that nothing is replayed from the log
//! 3. its directory goes to the trash, durably; if hblite did not write all of it, an empty
//!    directory in the trash marks the removal for the next open, and then it is set aside
//! 4. it is opened without files
//!
//! An error after step 3 puts the directory back.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_model::{Error, Exception, RegionInfo, Result, TableState};

use super::meta::{self, RegionRow};
use super::table::TableEntry;
use super::{Procedures, encoded_part};
use crate::files::sync_dir;
use crate::layout::{Retired, Shape, foreign_entry};
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
            let message = format!("No RegionState found for {}", encoded_part(name));
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
        let Some(region) = entry.region(encoded) else {
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
        self.meta.write(&[meta::put_open_sequence_number(info, id, timestamp)])?;

        let mut rows = entry.rows.clone();
        let mut emptied = Vec::new();
        for row in rows.iter_mut().filter(|row| row.info == *info) {
            row.open_sequence_number = id;
            emptied.push(row.clone());
        }
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        let dir = layout.region_dir(info);
        let foreign = foreign_entry(fs, &dir, Shape::Region);
        let has_foreign = foreign.map_err(|e| Error::io("cannot list", &dir, e))?.is_some();
        // What is in the trash explains after a kill why the region has no directory.
        let (moved, trash) = match has_foreign {
            true => {
                let mark = layout.mark_in_trash(fs, info.encoded_name())?;
                (layout.set_aside(fs, &dir)?, Some(mark))
            }
            false => {
                layout.make_trash_durable(fs)?;
                let trash = layout.move_to_trash(fs, &dir)?;
                (trash.clone(), trash)
            }
        };
        let opened = self.open_emptied(entry, &emptied, moved.as_deref()).or_else(|error| {
            self.put_back(info, moved.as_deref())?;
            Err(error)
        })?;
        let others = entry.regions().iter().filter(|region| region.info() != info).cloned();
        let regions = others.chain(opened).collect();
        let descriptor = Arc::clone(&entry.descriptor);
        let emptied = TableEntry::new(descriptor, entry.state, rows, regions);
        self.publish(info.table(), Some(emptied));
        if let Some(to) = moved.filter(|_| has_foreign) {
            self.context.note_retired(&dir, &Retired::SetAside(to));
        }
        // The next open removes what cannot be removed now.
        if let Some(Ok(retired)) = trash.map(|trash| layout.remove_in_place(fs, &trash)) {
            self.context.note_retired(&dir, &retired);
        }
        Ok(())
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
    fn put_back(&self, info: &RegionInfo, moved: Option<&Path>) -> Result<()> {
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        let dir = layout.region_dir(info);
        let put_back = layout.retire_dir(fs, &dir, Shape::Region).and_then(|_| {
            if let Some(moved) = moved {
                let io = |error| Error::io("cannot put back", &dir, error);
                fs.rename(moved, &dir).map_err(io)?;
            }
            sync_dir(fs, &layout.table_dir(info.table()))
        });
        put_back.map_err(|error| {
            self.context.is_closed.store(true, Ordering::Release);
            let message = format!("{}; open the store again", error.message());
            Error::new(Exception::RegionServerStopped, message).with_source(error)
        })
    }
}
