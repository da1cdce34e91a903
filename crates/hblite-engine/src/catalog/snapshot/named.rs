//! Which snapshots a store must have: hbase:meta names each.
//!
//! A snapshot is named after its directory is durable, and no longer named before that is removed.
//! So a named snapshot without a directory was lost, unless HBase had the store since and may have
//! removed it: then hbase:meta's own region has a `.seqid` file other than the recorded one (see
//! `store/manifest.rs`). One that is not named was taken or copied by HBase, imported, or
//! interrupted, and is named by the next open.

use std::collections::BTreeMap;

use hblite_env::FileSystem;
use hblite_model::{
    Delete, Error, Exception, Mutation, Put, RegionInfo, Result, RowResult, TableName,
};

use crate::catalog::meta::{self, INFO};
use crate::catalog::table_rows::namespace_row;
use crate::catalog::{Catalog, orphans};
use crate::files::sync_dir;
use crate::layout::Layout;
use crate::store::manifest::{self, Recorded};

/// Named snapshots, and which `.seqid` file each name has recorded.
pub(crate) type Named = BTreeMap<String, Recorded>;

const PREFIX: &str = "hblite.snapshot.";

/// What is wrong with a snapshot that was lost.
pub(crate) const LOST: &str = "hbase:meta names this snapshot, and its directory is missing";

/// The snapshots that are named in `rows` of hbase:meta.
pub(crate) fn named<'r>(rows: impl IntoIterator<Item = &'r RowResult>) -> Named {
    let cells = rows.into_iter().flat_map(RowResult::cells);
    let named = cells.filter(|cell| cell.family() == INFO.as_bytes()).filter_map(|cell| {
        let name = cell.qualifier().strip_prefix(PREFIX.as_bytes())?;
        Some((String::from_utf8_lossy(name).into_owned(), meta::decode_recorded(cell.value())))
    });
    named.collect()
}

fn put_name(row: &[u8], name: &str, recorded: Recorded, timestamp: i64) -> Mutation {
    let put = Put::new(row).with_timestamp(timestamp);
    put.add(INFO, format!("{PREFIX}{name}"), meta::encode_recorded(recorded)).into()
}

fn delete_name(row: &[u8], name: &str, timestamp: i64) -> Mutation {
    let delete = Delete::new(row).with_timestamp(timestamp);
    delete.columns(INFO, format!("{PREFIX}{name}")).into()
}

/// The snapshots that were lost.
///
/// # Errors
/// `Io`.
pub(crate) fn lost(fs: &dyn FileSystem, layout: &Layout, named: &Named) -> Result<Vec<String>> {
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let found = opened_by_hbase(fs, layout)?;
    let there = orphans::directories(fs, &layout.snapshots_dir())?;
    let is_lost = |name: &String, recorded: Recorded| {
        !manifest::is_void(recorded, found) && !there.contains(name)
    };
    let lost = named.iter().filter(|(name, recorded)| is_lost(name, **recorded));
    Ok(lost.map(|(name, _)| name.clone()).collect())
}

/// Refuses a store that has lost snapshots.
///
/// # Errors
/// `CorruptHFile` that names one; `Io`.
pub(crate) fn check(fs: &dyn FileSystem, layout: &Layout, named: &Named) -> Result<()> {
    let Some(name) = lost(fs, layout, named)?.into_iter().next() else { return Ok(()) };
    let what = format!(
        "{LOST}. Restore {} from a backup; without one, open with --salvage \
         (Options::with_salvage), which continues without the snapshot",
        layout.snapshots_dir().display()
    );
    Err(Error::corrupt(Exception::CorruptHFile, &layout.snapshot_dir(&name), 0, what))
}

fn opened_by_hbase(fs: &dyn FileSystem, layout: &Layout) -> Result<Recorded> {
    manifest::opened_by_hbase(fs, &layout.region_dir(&RegionInfo::meta()))
}

impl Catalog {
    /// The row of hbase:meta that names snapshots: that of hbase:namespace's region, which HBase
    /// may have created. HBase counts a row without a region as damage.
    fn naming_row(&self) -> Vec<u8> {
        let regions = self.region_infos(&TableName::namespace_table());
        regions.first().map_or_else(|| namespace_row().info.region_name(), RegionInfo::region_name)
    }

    /// Names the snapshots that are there, and no others.
    ///
    /// # Errors
    /// `Io`.
    pub(in crate::catalog) fn settle_named_snapshots(&self, named: &Named) -> Result<()> {
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        let there = orphans::directories(fs, &layout.snapshots_dir())?;
        if self.context.options.is_read_only || (named.is_empty() && there.is_empty()) {
            return Ok(());
        }
        let found = opened_by_hbase(fs, layout)?;
        let gone = named.keys().filter(|name| !there.contains(*name));
        for name in lost(fs, layout, named)? {
            self.context.note(&layout.snapshot_dir(&name), LOST);
        }
        let new = there.iter().filter(|name| named.get(*name) != Some(&found));
        let has_new = new.clone().next().is_some();
        if gone.clone().next().is_none() && !has_new {
            return Ok(());
        }
        if has_new {
            // A kill keeps the name of a directory that a power cut takes.
            layout.make_durable(fs, &layout.snapshots_dir())?;
            sync_dir(fs, &layout.snapshots_dir())?;
        }
        let (row, timestamp) = (self.naming_row(), self.meta.next_timestamp()?);
        let changes = gone
            .map(|name| delete_name(&row, name, timestamp))
            .chain(new.map(|name| put_name(&row, name, found, timestamp)));
        self.meta.write(&changes.collect::<Vec<_>>())
    }
}

/// Names a snapshot that is there.
pub(super) fn name_snapshot(catalog: &Catalog, name: &str) -> Result<()> {
    let found = opened_by_hbase(catalog.context.env.fs.as_ref(), &catalog.context.layout)?;
    write_name(catalog, |row, timestamp| put_name(row, name, found, timestamp))
}

/// Called before a snapshot is removed.
pub(super) fn unname_snapshot(catalog: &Catalog, name: &str) -> Result<()> {
    write_name(catalog, |row, timestamp| delete_name(row, name, timestamp))
}

fn write_name(catalog: &Catalog, change: impl FnOnce(&[u8], i64) -> Mutation) -> Result<()> {
    let timestamp = catalog.meta.next_timestamp()?;
    catalog.meta.write(&[change(&catalog.naming_row(), timestamp)])
}
