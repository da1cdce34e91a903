//! The namespaces of HBase 3, which it keeps in hbase:meta.
//!
//! ```text
//! hbase:meta
//!   row: namespace     ns:d                   NamespaceDescriptor { 1 name, 2 configuration }
//! ```
//!
//! hblite keeps namespaces in hbase:namespace, as HBase 2 does. An open that finds rows in the
//! family moves them there: it makes hbase:namespace equal to them, enables that table, and deletes
//! them. HBase 3 does the reverse when it starts on the directory again, as in an upgrade from
//! HBase 2 (`TableNamespaceManager.migrateNamespaceTable`): it copies the enabled hbase:namespace
//! to the family, and disables it. So at any time one of the two is empty or out of service.
//!
//! The rows of the family are deleted last, in one entry of the log. After an interruption before
//! that, the next open begins again, and no client writes in between. What hbase:namespace gets has
//! higher timestamps than these deletes: HBase 3 keeps timestamps when it copies the rows back.
//!
//! Threads: one, before the store is open.

use hblite_env::FileSystem;
use hblite_model::{
    NamespaceDescriptor, RegionInfo, Result, Scan, TableDescriptor, TableName, TableState,
};

use super::Catalog;
use super::meta;
use super::meta_table::for_each_row;
use crate::files::exists;
use crate::layout::Layout;
use crate::region::Region;

/// The built-in settings of hbase:meta, with the family for namespaces if HBase 3 made one.
/// `written` is what the settings file says, if it is valid.
///
/// # Errors
/// `Io`.
pub(super) fn meta_descriptor(
    fs: &dyn FileSystem,
    layout: &Layout,
    written: Option<&TableDescriptor>,
) -> Result<TableDescriptor> {
    let family = meta::NAMESPACES.as_bytes();
    let dir = layout.family_dir(&RegionInfo::meta(), family);
    // Either may be lost: a damaged settings file must not hide rows.
    let is_there = written.is_some_and(|written| written.has_family(family)) || exists(fs, &dir)?;
    let descriptor = meta::meta_descriptor();
    Ok(if is_there { descriptor.with_family(meta::namespace_family()) } else { descriptor })
}

impl Catalog {
    /// Moves the namespaces that HBase 3 has in hbase:meta to hbase:namespace.
    ///
    /// # Errors
    /// `Io`: the next open begins again.
    pub(super) fn take_in_namespace_family(&self) -> Result<()> {
        let meta_region = self.route(&TableName::meta(), b"")?;
        if !meta_region.descriptor().has_family(meta::NAMESPACES.as_bytes()) {
            return Ok(());
        }
        let wanted = namespaces(&meta_region, meta::NAMESPACES)?;
        if wanted.is_empty() {
            return Ok(());
        }
        let emptied_at = self.meta.next_timestamp()?;
        let table = TableName::namespace_table();
        for old in namespaces(&*self.route(&table, b"")?, meta::INFO)? {
            if !wanted.iter().any(|namespace| namespace.name == old.name) {
                self.meta.delete_namespace(&old.name)?;
            }
        }
        for namespace in &wanted {
            self.meta.put_namespace(namespace)?;
        }
        let now = self.meta.next_timestamp()?;
        let entry = self.entry(&table)?;
        let put_region = |row: &meta::RegionRow| {
            meta::put_open_region(&row.info, &self.server, row.open_sequence_number, now)
        };
        let mut rows: Vec<_> = entry.rows.iter().map(put_region).collect();
        rows.push(meta::put_table_state(&table, TableState::Enabled, now));
        assert!(emptied_at < now, "HBase 3 would not see what it copies back");
        let emptied = wanted.iter();
        rows.extend(emptied.map(|old| meta::empty_namespace_family(&old.name, emptied_at)));
        self.meta.write(&rows)
    }
}

/// The namespaces in a family of hbase:meta or hbase:namespace.
pub(super) fn namespaces(region: &Region, family: &str) -> Result<Vec<NamespaceDescriptor>> {
    let mut found = Vec::new();
    for_each_row(region, &Scan::new().with_family(family), |row| {
        found.extend(meta::parse_namespace(row, family)?);
        Ok(())
    })?;
    Ok(found)
}
