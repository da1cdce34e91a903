//! Makes a table from a snapshot: a new one (clone), or a disabled table as it was (restore).
//!
//! Both give the table new regions, whose directories are not read until hbase:meta names them. The
//! files of the snapshot are hard-linked there. For a reference, its half is written as a new file,
//! since the parent is not a region of the new table.
//!
//! Restoring changes hbase:meta and the table's settings, and only hbase:meta is the commit:
//!
//! 1. the regions' directories, durably
//! 2. `.tabledesc/.restored.<region id>`, durably: the settings, and which regions they belong to
//! 3. hbase:meta names the new regions instead of the old ones
//! 4. the settings become the newest `.tableinfo`, and the file of step 2 is removed
//!
//! An open that finds the file of step 2 does step 4 if hbase:meta names a region of that id, and
//! removes the file if it does not.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::FileSystem;
use hblite_hfile::{BlockUse, HFileWriter, HFileWriterOptions, StoreFileInfo};
use hblite_model::SnapshotOptions;
use hblite_model::{
    Error, Exception, FailSafeSnapshot, RegionInfo, Result, TableDescriptor, TableName, TableState,
};

use super::adopt;
use super::removal::remove_snapshot;
use super::stored::{StoredSnapshot, has_snapshot, snapshot_not_found};
use super::take::snapshot_within;
use crate::catalog::create::{commit_new_regions, prepare_regions};
use crate::catalog::descriptor_file::{self, Safety};
use crate::catalog::meta::{self, RegionRow};
use crate::catalog::parked::settled_entry;
use crate::catalog::procedures::{
    begin_procedure, claim, discard, give_up, remove_region_dirs, retire_dir,
};
use crate::catalog::table::TableEntry;
use crate::catalog::{Catalog, Procedures, orphans, region_info_file, sanity};
use crate::context::EngineContext;
use crate::files::{link_or_copy_hfile, list, make_dir, sync_dir};
use crate::layout::{Layout, Shape, UNCLAIMED_FILE, family_dir_name};
use crate::sealed;
use crate::store::key_value_scanner::KeyValueScanner;
use crate::store::manifest::Manifest;
use crate::store::standing::{Standing, standing};
use crate::store::store_file::{StoreFile, is_store_file_name, loaded_name};

/// What to do about a snapshot's file that is missing or was replaced.
const REMEDY: &str = "restore the snapshot's directory from a backup, or delete the snapshot";
/// The name of the file of step 2, before the id.
const RESTORED_PREFIX: &str = ".restored.";

/// Maps these settings to those of the new table.
pub(crate) type ChangeOfSettings<'c> = &'c dyn Fn(TableDescriptor) -> Result<TableDescriptor>;

impl Procedures<'_> {
    /// Creates a new table from a snapshot, with the snapshot's settings modified by `change`.
    ///
    /// # Errors
    /// `TableExists`, `SnapshotDoesNotExist`, `SnapshotTtlExpired`, `NamespaceNotFound`,
    /// `DoNotRetryIo` (see `sanity`), `CorruptHFile`, `Io`, what `change` returns: there is no such
    /// table.
    pub fn clone_snapshot(
        &self,
        name: &str,
        table: &TableName,
        change: ChangeOfSettings<'_>,
    ) -> Result<()> {
        let catalog = self.0;
        let _procedure = begin_procedure(catalog)?;
        clone_within(catalog, name, table, change)
    }

    /// Restores a disabled table to what it was when the snapshot was taken. A table that no longer
    /// exists is created again and enabled. If requested, a snapshot of the current table exists
    /// until the restore is done; it stays if the restore is interrupted.
    ///
    /// # Errors
    /// `RestoreSnapshot` if there is no such snapshot, `TableNotDisabled`, `SnapshotTtlExpired`,
    /// `CorruptHFile`, `Io`: the table is unchanged. `RegionServerStopped`: the next open shows the
    /// outcome.
    pub fn restore_snapshot(&self, name: &str, fail_safe: FailSafeSnapshot) -> Result<()> {
        let catalog = self.0;
        let _procedure = begin_procedure(catalog)?;
        if !has_snapshot(&catalog.context, name)? {
            let message = format!("The snapshot {name} does not exist.");
            return Err(Error::new(Exception::RestoreSnapshot, message));
        }
        let snapshot = open_snapshot(&catalog.context, name)?;
        let table = &snapshot.description().table;
        catalog.settle(table)?;
        let Ok(entry) = settled_entry(catalog, table) else {
            return clone_within(catalog, name, table, &Ok);
        };
        entry.check_state(TableState::Disabled)?;
        if fail_safe == FailSafeSnapshot::Skip {
            return restore_within(catalog, &snapshot, &entry);
        }
        let now = catalog.context.env.clock.now_millis();
        let fail_safe = format!("hbase-failsafe-{name}-{now}");
        snapshot_within(catalog, &fail_safe, table, &SnapshotOptions::default())?;
        let restored = restore_within(catalog, &snapshot, &entry);
        let is_known =
            restored.as_ref().err().is_none_or(|e| e.exception() != Exception::RegionServerStopped);
        if is_known {
            remove_snapshot(catalog, &fail_safe)?;
        }
        restored
    }
}

fn clone_within(
    catalog: &Catalog,
    name: &str,
    table: &TableName,
    change: ChangeOfSettings<'_>,
) -> Result<()> {
    if catalog.table_exists(table) {
        return Err(Error::new(Exception::TableExists, table.to_string()));
    }
    let snapshot = open_snapshot(&catalog.context, name)?;
    catalog.namespace(table.namespace())?;
    let descriptor = Arc::new(change(named(&snapshot.table, table))?);
    sanity::check(&descriptor, &catalog.context.options)?;
    let table_dir = catalog.context.layout.table_dir(table);
    orphans::retire_table(catalog, &table_dir)?;
    let timestamp = catalog.meta.next_timestamp()?;
    let rows = new_rows(&snapshot, table, timestamp);
    let prepared = prepare_clone(&catalog.context, &snapshot, &descriptor, &rows);
    let regions = prepared.inspect_err(|_| {
        // Leftovers do no harm: they are removed before the name is used again.
        retire_dir(&catalog.context, &table_dir, Shape::Table);
    })?;
    commit_new_regions(catalog, &descriptor, &[], &rows, timestamp)
        .inspect_err(|_| discard(&regions))?;
    claim(&catalog.context, &rows);
    let entry = TableEntry::new(descriptor, TableState::Enabled, rows, regions);
    catalog.publish(table, Some(entry));
    Ok(())
}

fn prepare_clone(
    context: &Arc<EngineContext>,
    snapshot: &StoredSnapshot,
    descriptor: &Arc<TableDescriptor>,
    rows: &[RegionRow],
) -> Result<Vec<Arc<crate::region::Region>>> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    let dir = layout.table_descriptor_dir(descriptor.name());
    make_dir(fs, &dir)?;
    descriptor_file::write(fs, &dir, descriptor, Safety::Durable)?;
    layout.make_durable(fs, &dir)?;
    place_files(context, snapshot, descriptor, rows)?;
    prepare_regions(context, descriptor, rows)
}

fn restore_within(catalog: &Catalog, snapshot: &StoredSnapshot, entry: &TableEntry) -> Result<()> {
    let table = &snapshot.description().table;
    let descriptor = Arc::new(named(&snapshot.table, table));
    sanity::check(&descriptor, &catalog.context.options)?;
    let timestamp = catalog.meta.next_timestamp()?;
    let rows = new_rows(snapshot, table, timestamp);
    let (fs, layout) = (catalog.context.env.fs.as_ref(), &catalog.context.layout);
    let dir = layout.table_descriptor_dir(table);
    let pending = dir.join(format!("{RESTORED_PREFIX}{timestamp}"));
    let prepared = place_files(&catalog.context, snapshot, &descriptor, &rows).and_then(|()| {
        layout.make_durable(fs, &dir)?;
        let content = descriptor_file::settings(&descriptor);
        let written = fs.write_atomically(&pending, &content);
        written.map_err(|error| Error::io("cannot write", &pending, error))
    });
    prepared.inspect_err(|_| {
        // What cannot be removed now is removed when the store is next opened.
        let _ = fs.remove_file(&pending);
        remove_region_dirs(&catalog.context, rows.iter().map(|row| &row.info));
    })?;
    let deletes = entry.rows.iter().map(|row| meta::delete_region(&row.info, timestamp));
    let puts = rows.iter().flat_map(|row| {
        let id = row.open_sequence_number;
        [
            meta::put_open_region(&row.info, &catalog.server, id, timestamp),
            meta::put_closed_region(&row.info, id, timestamp),
        ]
    });
    let manifests = meta::put_manifests(&rows, timestamp);
    catalog.meta.write(&deletes.chain(puts).chain(manifests).collect::<Vec<_>>())?;
    claim(&catalog.context, &rows);
    if let Err(error) = finish_restore(fs, &dir, &pending, &descriptor) {
        // The next open completes it; an alter before that would be lost.
        return Err(give_up(&catalog.context, error));
    }
    let restored = TableEntry::new(descriptor, TableState::Disabled, rows, Vec::new());
    catalog.publish(table, Some(restored));
    let before = entry.rows.iter().flat_map(|row| row.merge_parents.iter().chain([&row.info]));
    remove_region_dirs(&catalog.context, before);
    Ok(())
}

/// Puts the snapshot's files into the directories of new regions, durably.
fn place_files(
    context: &EngineContext,
    snapshot: &StoredSnapshot,
    descriptor: &TableDescriptor,
    rows: &[RegionRow],
) -> Result<()> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    for ((info, from), row) in snapshot.regions.iter().zip(rows) {
        region_info_file::ensure(fs, layout, &row.info)?;
        let unclaimed = layout.region_dir(&row.info).join(UNCLAIMED_FILE);
        fs.create(&unclaimed).map_err(|error| Error::io("cannot create", &unclaimed, error))?;
        // Created first: a region with files but without this one would be taken for their owner.
        let region_dir = layout.region_dir(&row.info);
        layout.make_durable(fs, &region_dir)?;
        sync_dir(fs, &region_dir)?;
        let listed = Manifest::read(fs, from, info.encoded_name())?;
        let mut files = Manifest::new(row.info.encoded_name());
        for family in descriptor.families() {
            let source = from.join(family_dir_name(family.name()));
            let dir = layout.family_dir(&row.info, family.name());
            make_dir(fs, &dir)?;
            let source = Source { region: info, family: family.name(), dir: &source };
            place_family(context, &source, listed.as_ref(), &dir, &mut files)?;
            sync_dir(fs, &dir)?;
            layout.make_durable(fs, &dir)?;
        }
        files.write_durably(fs, &layout.region_dir(&row.info))?;
    }
    Ok(())
}

/// Puts the files of a family into a directory of a new region, and lists them in `files`. `listed`
/// is what the region must have, if the snapshot says so.
fn place_family(
    context: &EngineContext,
    source: &Source<'_>,
    listed: Option<&Manifest>,
    dir: &Path,
    files: &mut Manifest,
) -> Result<()> {
    let fs = context.env.fs.as_ref();
    let mut names = HashSet::new();
    for entry in list(fs, source.dir)? {
        let path = source.dir.join(&entry.name);
        // A list says what must be there, so files that hblite did not write do no harm.
        if listed.is_some() && (entry.is_dir || !is_store_file_name(&entry.name)) {
            continue;
        }
        // A damaged file would prevent the table from being enabled or compacted.
        let file = StoreFile::open_with(&context.env.fs, &context.layout, None, &path)?;
        file.check_owner(source.region, source.family)?;
        if standing(listed, source.family, &file)? != Standing::Live {
            let what = "it is not a file that the region's .manifest lists";
            return Err(sealed::damaged(&path, what, REMEDY));
        }
        if file.is_reference() || file.mob_files().is_some() {
            let copy = write_copy(context, &file, dir)?;
            files.add(source.family, &copy)?;
        } else {
            link_or_copy_hfile(fs, &path, &dir.join(file.name()))?;
            files.add(source.family, &file)?;
        }
        names.insert(entry.name);
    }
    let mut expected = listed.iter().flat_map(|listed| listed.names(source.family));
    match expected.find(|name| !names.contains(*name)) {
        None => Ok(()),
        Some(missing) => {
            let what = "the region's .manifest lists this file, and it is missing";
            Err(sealed::damaged(&source.dir.join(missing), what, REMEDY))
        }
    }
}

/// Writes the half that a reference refers to, or a file with its values that are elsewhere, as a
/// file of its own.
fn write_copy(context: &EngineContext, source: &StoreFile, dir: &Path) -> Result<StoreFile> {
    let fs = context.env.fs.as_ref();
    let reader = source.reader();
    reader.verify_checksums_except_cells()?;
    let name = context.random_name();
    let name = source.loaded_id().map_or(name.clone(), |id| loaded_name(&name, id));
    let has_tags = reader.has_tags_and_mvcc().0;
    let options = HFileWriterOptions::default()
        .with_encoding(reader.encoding())
        .with_compression(reader.compression())
        .with_bloom(reader.bloom_type())
        .with_bloom_prefix_length(u32::try_from(reader.bloom_prefix_length()).unwrap_or(0))
        .with_tags(has_tags)
        .with_comparator(reader.comparator())
        .with_create_time(reader.create_time().unwrap_or(0));
    let path = dir.join(name);
    let mut writer = HFileWriter::create(fs, &path, options)?;
    let mut scanner = source.scanner(u64::MAX).with_block_use(BlockUse::Verify);
    let mut is_at_cell = scanner.seek_first()?;
    while is_at_cell {
        if let Some(cell) = scanner.current() {
            writer.append(&cell)?;
        }
        is_at_cell = scanner.next()?;
    }
    let max_sequence_id = Some(source.sequence_id_max());
    writer.finish(&StoreFileInfo { max_sequence_id, ..StoreFileInfo::default() })?;
    StoreFile::open_with(&context.env.fs, &context.layout, None, &path)
}

/// The snapshot of this name, if it has not expired.
fn open_snapshot(context: &EngineContext, name: &str) -> Result<StoredSnapshot> {
    if !has_snapshot(context, name)? {
        return Err(snapshot_not_found(name));
    }
    let (fs, layout) = (&context.env.fs, &context.layout);
    adopt::ensure(fs, layout, name)?;
    let snapshot = StoredSnapshot::read(fs.as_ref(), &layout.snapshot_dir(name))?;
    if snapshot.stored.has_expired(context.env.clock.now_millis()) {
        let message = format!("TTL for snapshot '{name}' has already expired.");
        return Err(Error::new(Exception::SnapshotTtlExpired, message));
    }
    Ok(snapshot)
}

/// A family of a region of a snapshot.
struct Source<'a> {
    region: &'a RegionInfo,
    family: &'a [u8],
    dir: &'a Path,
}

/// The same settings for another table.
fn named(table: &TableDescriptor, name: &TableName) -> TableDescriptor {
    let (attributes, families) = (table.attributes().clone(), table.families().cloned());
    TableDescriptor::from_parts(name.clone(), attributes, families)
}

/// New regions with the boundaries of those in the snapshot.
fn new_rows(snapshot: &StoredSnapshot, table: &TableName, id: i64) -> Vec<RegionRow> {
    let id = u64::try_from(id).unwrap_or(0);
    let region = |info: &RegionInfo| {
        let info = RegionInfo::new(table.clone(), info.start_key(), info.end_key(), id);
        RegionRow::new(info, 1).with_new_manifest()
    };
    snapshot.regions.iter().map(|(info, _)| region(info)).collect()
}

/// Files of step 2 in a table's directory, with their ids.
///
/// # Errors
/// `Io`.
fn restored_files(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let entries = list(fs, dir)?.into_iter();
    let files = entries.filter_map(|entry| {
        let id = entry.name.strip_prefix(RESTORED_PREFIX)?.parse().ok()?;
        Some((id, dir.join(&entry.name)))
    });
    Ok(files.collect())
}

/// Step 4.
///
/// # Errors
/// `Io`: it must be done again.
fn finish_restore(
    fs: &dyn FileSystem,
    dir: &Path,
    pending: &Path,
    table: &TableDescriptor,
) -> Result<()> {
    descriptor_file::write(fs, dir, table, Safety::Durable)?;
    fs.remove_file(pending).map_err(|error| Error::io("cannot remove", pending, error))?;
    sync_dir(fs, dir)
}

/// What an open does with the files of step 2: completes the restore that hbase:meta committed.
///
/// # Errors
/// `Io`, `CorruptHFile`.
pub(crate) fn settle(
    fs: &dyn FileSystem,
    layout: &Layout,
    table: &TableName,
    rows: &[RegionRow],
) -> Result<()> {
    let dir = layout.table_descriptor_dir(table);
    for (id, pending) in restored_files(fs, &dir)? {
        if rows.iter().any(|row| row.info.region_id() == id) {
            let content = fs.read(&pending).map_err(|e| Error::io("cannot read", &pending, e))?;
            let descriptor = descriptor_file::parse_settings(&pending, &content, table)?;
            finish_restore(fs, &dir, &pending, &descriptor)?;
        } else {
            fs.remove_file(&pending).map_err(|e| Error::io("cannot remove", &pending, e))?;
        }
    }
    Ok(())
}
