//! Changes a table's settings and families.
//!
//! 1. check the new settings
//! 2. flush the regions, so that the log has no cells of a removed family
//! 3. for an added family: hbase:meta records the id from which the regions' logs count, and
//!    directories left by an earlier family of the same name are removed
//! 4. commit: the descriptor file, durably
//! 5. publish the settings
//! 6. close the regions and open them with the new settings, one after the other; the directories
//!    of removed families are deleted
//!
//! After a crash before step 4 the old settings are in effect, after it the new ones. Directories
//! of removed families are deleted by the next open, or before a family of the same name is added.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_env::FileSystem;
use hblite_model::{
    ColumnFamilyDescriptor, Error, Exception, RegionInfo, Result, TableDescriptor, TableName,
};

use super::descriptor_file::{self, Safety};
use super::meta::{self, RegionRow};
use super::open_regions::open_region;
use super::parked::settled_entry;
use super::procedures::begin_procedure;
use super::table::TableEntry;
use super::{Catalog, Procedures, file_tracker, sanity};
use crate::context::EngineContext;
use crate::layout::Shape;
use crate::region::Region;
use crate::store::manifest::Manifest;

impl Procedures<'_> {
    /// Replaces the settings of a table, families included. Its regions are flushed and opened
    /// again.
    ///
    /// # Errors
    /// `TableNotFound`, `IllegalArgument`, `DoNotRetryIo` (see `sanity`), `Io`: the table is as it
    /// was.
    pub fn modify_table(&self, table: &TableDescriptor) -> Result<()> {
        for family in table.families() {
            family.check_name()?;
        }
        modify(self.0, table.name(), |_| Ok(table.clone()))
    }

    /// Adds a family.
    ///
    /// # Errors
    /// As [`Procedures::modify_table`]; `InvalidFamilyOperation` if it exists.
    pub fn add_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        family.check_name()?;
        modify(self.0, table, |before| {
            if before.has_family(family.name()) {
                return Err(invalid_family(format!(
                    "Column family '{}' in table '{table}' already exists so cannot be added",
                    family.name_as_string()
                )));
            }
            Ok(before.clone().with_family(family.clone()))
        })
    }

    /// Replaces the settings of a family.
    ///
    /// # Errors
    /// As [`Procedures::modify_table`]; `InvalidFamilyOperation` if there is no such family.
    pub fn modify_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        modify(self.0, table, |before| {
            if !before.has_family(family.name()) {
                return Err(invalid_family(format!(
                    "Family '{}' does not exist, so it cannot be modified",
                    family.name_as_string()
                )));
            }
            Ok(before.clone().with_family(family.clone()))
        })
    }

    /// Deletes a family with its cells.
    ///
    /// # Errors
    /// As [`Procedures::modify_table`]; `InvalidFamilyOperation` if there is no such family, or no
    /// other.
    pub fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        let name = String::from_utf8_lossy(family);
        modify(self.0, table, |before| {
            if !before.has_family(family) {
                return Err(invalid_family(format!(
                    "Family '{name}' does not exist, so it cannot be deleted"
                )));
            }
            if before.families().len() == 1 {
                return Err(invalid_family(format!(
                    "Family '{name}' is the only column family in the table, so it cannot be \
                     deleted"
                )));
            }
            let mut after = before.clone();
            after.remove_family(family);
            Ok(after)
        })
    }
}

fn modify(
    catalog: &Catalog,
    table: &TableName,
    change: impl FnOnce(&TableDescriptor) -> Result<TableDescriptor>,
) -> Result<()> {
    if table.is_meta() {
        return Err(Error::invalid_argument(Exception::Io, "Can't modify catalog tables"));
    }
    let _procedure = begin_procedure(catalog)?;
    let entry = settled_entry(catalog, table)?;
    let after = Arc::new(change(&entry.descriptor)?);
    if after.families().len() > entry.descriptor.families().len() {
        sanity::check_size(&after, entry.regions().len(), &catalog.context.options)?;
    }
    sanity::check(&after, &catalog.context.options)?;
    file_tracker::check_change(&entry.descriptor, &after, entry.state)?;
    let rows = flush_all(&entry)?;
    prepare_new_families(catalog, &entry, &after, &rows)?;
    if let Err(error) = write_descriptor(&catalog.context, &after) {
        if error.exception() == Exception::RegionServerStopped {
            // Either settings may be in effect after the next open: nothing may be written or
            // removed that one of them does not know.
            catalog.context.is_closed.store(true, Ordering::Release);
            entry.regions().iter().for_each(|region| region.stop_serving());
        }
        return Err(error);
    }
    // From here on the new settings are in effect, whatever fails.
    let counts = (entry.descriptor.region_replication(), after.region_replication());
    let replicas_changed = catalog.change_replicas(&entry, counts.0, counts.1);
    let regions = entry.regions().to_vec();
    let altered = TableEntry::new(Arc::clone(&after), entry.state, rows, regions);
    catalog.publish(table, Some(altered));
    reopen_regions(catalog, &entry, &after).and(replicas_changed)
}

/// Makes sure that added families find nothing left by earlier families of the same names.
fn prepare_new_families(
    catalog: &Catalog,
    entry: &TableEntry,
    after: &TableDescriptor,
    rows: &[RegionRow],
) -> Result<()> {
    let before = &entry.descriptor;
    if after.families().all(|family| before.has_family(family.name())) {
        return Ok(());
    }
    let timestamp = catalog.meta.next_timestamp()?;
    let live = rows.iter().filter(|row| !row.info.is_split);
    let mutations: Vec<_> = live
        .map(|row| {
            let id = row.open_sequence_number;
            meta::put_open_sequence_number(&row.info, id, timestamp)
        })
        .collect();
    catalog.meta.write(&mutations)?;
    let fs = catalog.context.env.fs.as_ref();
    for row in rows {
        // Cells that no request deleted, if there are any, are kept.
        remove_family_dirs(&catalog.context, &row.info, before, after, Shape::Empty)?;
        let dir = catalog.context.layout.region_dir(&row.info);
        if entry.region(row.info.encoded_name()).is_none() {
            forget_other_families(fs, &dir, &row.info, before)?;
        }
        // A power cut must not bring back what was removed, now or earlier.
        let io = |error| Error::io("cannot sync directory", &dir, error);
        if fs.exists(&dir).map_err(io)? {
            fs.sync_dir(&dir).map_err(io)?;
        }
    }
    Ok(())
}

/// Makes the manifest of a region that is not in service list files of the table's families only:
/// since a family was deleted, the region may not have been opened.
fn forget_other_families(
    fs: &dyn FileSystem,
    dir: &Path,
    region: &RegionInfo,
    table: &TableDescriptor,
) -> Result<()> {
    let Some(mut manifest) = Manifest::read(fs, dir, region.encoded_name())? else {
        return Ok(());
    };
    if manifest.keep_families(table) { manifest.write(fs, dir) } else { Ok(()) }
}

/// Removes a region's directories of families that are in `with` but not in `without`. Anything
/// that does not look like one is set aside.
fn remove_family_dirs(
    context: &EngineContext,
    region: &RegionInfo,
    without: &TableDescriptor,
    with: &TableDescriptor,
    shape: Shape,
) -> Result<()> {
    let layout = &context.layout;
    for family in with.families().filter(|family| !without.has_family(family.name())) {
        let dir = layout.family_dir(region, family.name());
        let retired = layout.retire_in_place(context.env.fs.as_ref(), &dir, shape)?;
        context.note_retired(&dir, &retired);
    }
    Ok(())
}

fn write_descriptor(context: &EngineContext, table: &TableDescriptor) -> Result<()> {
    let layout = &context.layout;
    let dir = layout.table_descriptor_dir(table.name());
    let fs = context.env.fs.as_ref();
    // First, so that nothing can fail after the descriptor is written.
    layout.make_durable(fs, &dir)?;
    descriptor_file::write(fs, &dir, table, Safety::Durable)
}

/// Takes the regions out of service and back, one after the other. A failure of one does not affect
/// the others.
fn reopen_regions(
    catalog: &Catalog,
    before: &TableEntry,
    after: &Arc<TableDescriptor>,
) -> Result<()> {
    let mut first_error = None;
    let mut left_open = Vec::new();
    for region in before.regions() {
        if let Err(error) = reopen_region(catalog, region, &before.descriptor, after) {
            first_error.get_or_insert(error);
            if !region.is_closing() {
                left_open.push(region.info());
            }
        }
    }
    // Also for regions out of service: the remains of removed families.
    for row in before.rows.iter().filter(|row| !left_open.contains(&&row.info)) {
        let _ = remove_family_dirs(
            &catalog.context,
            &row.info,
            after,
            &before.descriptor,
            Shape::Family,
        );
    }
    first_error.map_or(Ok(()), Err)
}

fn reopen_region(
    catalog: &Catalog,
    region: &Arc<Region>,
    before: &TableDescriptor,
    after: &Arc<TableDescriptor>,
) -> Result<()> {
    region.close()?;
    // What cannot be removed now is removed, at the latest, before a family of the same name is
    // added.
    let _ = remove_family_dirs(&catalog.context, region.info(), after, before, Shape::Family);
    let table = region.info().table();
    let entry = settled_entry(catalog, table)?;
    let mut rows = entry.rows.clone();
    let mut regions = entry.regions().to_vec();
    regions.retain(|other| other.info() != region.info());
    let mut result = Ok(());
    for row in rows.iter_mut().filter(|row| row.info == *region.info()) {
        row.open_sequence_number = region.last_sequence_id() + 1;
        match open_region(&catalog.context, row, after) {
            Ok(opened) => {
                if region.is_unassigned() {
                    // HBase opens again only what was open.
                    opened.set_unassigned(true);
                }
                regions.push(opened);
            }
            Err(error) => result = Err(error),
        }
    }
    let altered = TableEntry::new(Arc::clone(after), entry.state, rows, regions);
    catalog.publish(table, Some(altered));
    result
}

/// Flushes every region. Returns the rows with the ids from which the logs count.
fn flush_all(entry: &TableEntry) -> Result<Vec<RegionRow>> {
    let mut rows = entry.rows.clone();
    for region in entry.regions() {
        let last_id = region.last_sequence_id();
        region.flush()?;
        for row in rows.iter_mut().filter(|row| row.info == *region.info()) {
            row.open_sequence_number = last_id + 1;
        }
    }
    Ok(rows)
}

fn invalid_family(message: String) -> Error {
    Error::new(Exception::InvalidFamilyOperation, message)
}
