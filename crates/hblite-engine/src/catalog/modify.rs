//! Changing a table's settings and families.
//!
//! The descriptor file is the commit. A family that goes takes its directories along; one that
//! comes finds none, and the log's cells of an earlier family of its name do not count, because
//! the regions were flushed and hbase:meta says from which id on their logs count.

use std::sync::Arc;

use hblite_model::{ColumnFamilyDescriptor, Error, Exception, Result, TableDescriptor, TableName};

use super::descriptor_file::{self, Safety};
use super::meta::{self, RegionRow};
use super::table::TableEntry;
use super::{Catalog, TableState, sanity};
use crate::region::Region;

impl Catalog {
    /// Replaces the settings of a table, families included. Its regions are flushed and opened
    /// again.
    ///
    /// # Errors
    /// `TableNotFound`, `IllegalArgument`, `DoNotRetryIo` (see `sanity`), `Io`: the table is as it
    /// was.
    pub(crate) fn modify_table(&self, table: &TableDescriptor) -> Result<()> {
        for family in table.families() {
            family.check_name()?;
        }
        self.modify(table.name(), |_| Ok(table.clone()))
    }

    /// Adds a family.
    ///
    /// # Errors
    /// As [`Catalog::modify_table`]; `InvalidFamilyOperation` if it is there.
    pub(crate) fn add_family(
        &self,
        table: &TableName,
        family: &ColumnFamilyDescriptor,
    ) -> Result<()> {
        family.check_name()?;
        self.modify(table, |before| {
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
    /// As [`Catalog::modify_table`]; `InvalidFamilyOperation` if it is not there.
    pub(crate) fn modify_family(
        &self,
        table: &TableName,
        family: &ColumnFamilyDescriptor,
    ) -> Result<()> {
        self.modify(table, |before| {
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
    /// As [`Catalog::modify_table`]; `InvalidFamilyOperation` if it is not there or the only one.
    pub(crate) fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        let name = String::from_utf8_lossy(family);
        self.modify(table, |before| {
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

    fn modify(
        &self,
        table: &TableName,
        change: impl FnOnce(&TableDescriptor) -> Result<TableDescriptor>,
    ) -> Result<()> {
        if table.is_meta() {
            return Err(Error::new(Exception::Io, "Can't modify catalog tables"));
        }
        let _procedure = self.procedure.lock();
        let entry = self.entry(table)?;
        let after = Arc::new(change(&entry.descriptor)?);
        sanity::check(&after)?;
        // A flush that fails now has changed nothing; after this the regions close quickly.
        for region in entry.regions() {
            region.flush()?;
        }
        let rows = self.close_regions(&entry, table)?;
        if let Err(error) = self.commit_descriptor(&entry, &after, &rows) {
            self.reopen(table, &entry, &rows, Vec::new());
            return Err(error);
        }
        // From here on the new settings hold, whatever fails. What is left of a family that went
        // is removed, at the latest, before one of its name comes.
        let _ = self.remove_family_dirs(&rows, &after, &entry.descriptor);
        let regions = match entry.state {
            TableState::Enabled => self.open_what_can_be_opened(&rows, &after),
            _ => Ok(Vec::new()),
        };
        let (regions, result) = match regions {
            Ok(regions) => (regions, Ok(())),
            Err((regions, error)) => (regions, Err(error)),
        };
        self.publish(table, Some(TableEntry::new(after, entry.state, rows, regions)));
        result
    }

    fn commit_descriptor(
        &self,
        before: &TableEntry,
        after: &TableDescriptor,
        rows: &[RegionRow],
    ) -> Result<()> {
        let has_new = after.families().any(|family| !before.descriptor.has_family(family.name()));
        if has_new {
            let timestamp = self.meta.next_timestamp()?;
            let live = rows.iter().filter(|row| !row.info.is_split);
            let mutations: Vec<_> = live
                .map(|row| {
                    let id = row.open_sequence_number;
                    meta::put_open_sequence_number(&row.info, id, timestamp)
                })
                .collect();
            self.meta.write(&mutations)?;
            self.remove_family_dirs(rows, &before.descriptor, after)?;
            self.make_removals_durable(rows)?;
        }
        let layout = &self.context.layout;
        let dir = layout.table_descriptor_dir(after.name());
        let fs = self.context.env.fs.as_ref();
        descriptor_file::write(fs, &dir, after, Safety::Durable)?;
        layout.make_durable(fs, &dir)
    }

    /// Removes the directories of families that `with` has and `without` has not.
    fn remove_family_dirs(
        &self,
        rows: &[RegionRow],
        without: &TableDescriptor,
        with: &TableDescriptor,
    ) -> Result<()> {
        let layout = &self.context.layout;
        for family in with.families().filter(|family| !without.has_family(family.name())) {
            for row in rows {
                let dir = layout.family_dir(&row.info, family.name());
                layout.remove_in_place(self.context.env.fs.as_ref(), &dir)?;
            }
        }
        Ok(())
    }

    /// A power cut must not bring back what was removed, now or earlier, once the descriptor has a
    /// family of its name again.
    fn make_removals_durable(&self, rows: &[RegionRow]) -> Result<()> {
        let fs = self.context.env.fs.as_ref();
        for row in rows {
            let dir = self.context.layout.region_dir(&row.info);
            let io = |error| Error::io("cannot sync directory", &dir, error);
            if fs.exists(&dir).map_err(io)? {
                fs.sync_dir(&dir).map_err(io)?;
            }
        }
        Ok(())
    }

    /// Opens every region that can be; the others are out of service until the next open.
    fn open_what_can_be_opened(
        &self,
        rows: &[RegionRow],
        descriptor: &Arc<TableDescriptor>,
    ) -> std::result::Result<Vec<Arc<Region>>, (Vec<Arc<Region>>, Error)> {
        let (mut regions, mut first_error) = (Vec::new(), None);
        for row in rows.iter().filter(|row| !row.info.is_split) {
            match self.open_region(row, descriptor) {
                Ok(region) => regions.push(region),
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
        }
        match first_error {
            None => Ok(regions),
            Some(error) => Err((regions, error)),
        }
    }
}

fn invalid_family(message: String) -> Error {
    Error::new(Exception::InvalidFamilyOperation, message)
}
