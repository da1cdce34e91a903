//! Opens and closes the catalog.
//!
//! The descriptors of hbase:meta and hbase:namespace are built in, and their regions have fixed
//! names. A fresh store therefore writes their rows to memory only, and does not wait for the disk.
//! If these rows are lost, the next open writes them again.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use hblite_env::sync::{Mutex, RwLock};
use hblite_model::name::{DEFAULT_NAMESPACE, SYSTEM_NAMESPACE};
use hblite_model::{
    Durability, Error, ErrorKind, Exception, Mutation, NamespaceDescriptor, RegionInfo, Result,
    RowResult, Scan, TableDescriptor, TableName, TableState,
};

use super::Catalog;
use super::descriptor_file::{self, Safety};
use super::meta::{self, RegionRow, ServerName};
use super::meta_table::{MetaTables, for_each_row, highest_timestamp};
use super::namespace_family;
use super::open_regions::{open_all, open_region};
use super::open_report::OpenReport;
use super::orphans;
use super::parked;
use super::rebuild;
use super::region_info_file;
use super::replicas;
use super::snapshot;
use super::table::TableEntry;
use super::table_rows::{TableRows, group_rows, namespace_row};
use crate::context::EngineContext;
use crate::files::{exists, make_dir, sync_dir};
use crate::layout::emptying;
use crate::parallel;
use crate::region::Region;
use crate::store::{hfile_link, manifest};

impl Catalog {
    /// Opens the region of hbase:meta. The caller replays the log into it.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`.
    pub(crate) fn open_meta(context: &Arc<EngineContext>) -> Result<Arc<Region>> {
        let mut row = RegionRow::new(RegionInfo::meta(), 0);
        if context.layout.is_catalog_listed() {
            // The marker does not say what it has recorded. HBase never empties hbase:meta.
            let dir = context.layout.region_dir(&row.info);
            row.manifest = Some(manifest::opened_by_hbase(context.env.fs.as_ref(), &dir)?);
        }
        open_built_in(context, &row, meta::meta_descriptor())
    }

    /// Opens every region that `meta_region` names, after the rows of `rebuild` are in it. The
    /// caller replays the log into them before it does anything else with them. `in_log` has the
    /// regions in the log, by name, with their highest sequence ids.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` for an invalid row, descriptor or file.
    pub(crate) fn load(
        context: &Arc<EngineContext>,
        meta_region: Arc<Region>,
        rebuild: Option<rebuild::Plan>,
        in_log: &[(&str, u64)],
    ) -> Result<Self> {
        let server = ServerName::of_store();
        if let Some(plan) = &rebuild {
            let now = context.env.clock.now_millis();
            let timestamp = highest_timestamp(&meta_region)?.max(now - 1) + 1;
            plan.write(&meta_region, &server, timestamp)?;
        }
        let mut renames = Vec::new();
        let mut replicas = replicas::Named::new();
        let mut namespace_row = namespace_row();
        let namespace_key = namespace_row.info.region_name();
        let mut snapshots = snapshot::Named::new();
        let mut tables = read_rows(&meta_region, |row| {
            renames.extend(meta::rename_server(row, &server));
            replicas::note(row, &mut replicas);
            if row.row() == namespace_key {
                namespace_row.manifest = meta::manifest_of(row);
            }
            snapshots.extend(snapshot::named([row]));
        })?;
        let namespace_table = TableName::namespace_table();
        let (_, rows) =
            tables.remove(&namespace_table).unwrap_or_else(|| (TableState::Enabled, Vec::new()));
        let is_known = !rows.is_empty();
        let namespace_row = rows.into_iter().next().unwrap_or(namespace_row);
        let namespace_region =
            open_built_in(context, &namespace_row, meta::namespace_descriptor())?;
        let (meta, namespace) = (Arc::clone(&meta_region), Arc::clone(&namespace_region));
        let clock = Arc::clone(&context.env.clock);
        let mut catalog = Self {
            context: Arc::clone(context),
            meta: MetaTables::of(context, meta, namespace, clock),
            server,
            tables: RwLock::default(),
            regions: RwLock::default(),
            namespaces: RwLock::default(),
            procedure: Mutex::new(()),
            open_report: OpenReport::default(),
            parked: Mutex::default(),
            dispensable: Mutex::default(),
        };
        for (region, row) in [
            (Arc::clone(&meta_region), RegionRow::new(RegionInfo::meta(), 0)),
            (namespace_region, namespace_row.clone()),
        ] {
            let name = region.info().table().clone();
            let descriptor = Arc::clone(region.descriptor());
            let entry = TableEntry::new(descriptor, TableState::Enabled, vec![row], vec![region]);
            catalog.publish(&name, Some(entry));
        }
        // Before a region removes a file that one of HBase's snapshots needs.
        snapshot::settle_all(context)?;
        catalog.load_tables(tables, in_log)?;
        if !is_known {
            catalog.write_namespace_table(&meta_region, &namespace_row)?;
        }
        catalog.rename_servers(&renames)?;
        catalog.settle_replicas(&replicas)?;
        catalog.settle_named_snapshots(&snapshots)?;
        catalog.open_report = catalog.clean_up()?;
        catalog.open_report.rebuilt = rebuild.map(|plan| plan.report);
        Ok(catalog)
    }

    /// Removes or sets aside what hbase:meta does not name.
    fn clean_up(&self) -> Result<OpenReport> {
        let context = &self.context;
        let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
        let taken = layout.take_moved_out_of_archive(fs);
        context.note_if_left(&layout.archive_dir(), taken);
        let mut report = orphans::retire(self)?;
        context.note_if_left(layout.root(), layout.remove_own_leftovers(fs));
        report.set_aside = layout.moved_dirs(fs)?;
        let moved = &report.moved;
        let is_old = |dir: &PathBuf| !moved.iter().any(|moved| moved.to.starts_with(dir));
        report.set_aside.retain(is_old);
        Ok(report)
    }

    fn load_tables(&self, tables: TableRows, in_log: &[(&str, u64)]) -> Result<()> {
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        let mut opening = Vec::new();
        let mut loaded = Vec::new();
        let in_trash = layout.names_in_trash(fs)?;
        for (name, (state, rows)) in tables {
            snapshot::settle(fs, layout, &name, &rows)?;
            let dir = layout.table_descriptor_dir(&name);
            let descriptor = descriptor_file::read(fs, &dir, &name)?.ok_or_else(|| {
                let message = format!("table {name} has no descriptor");
                Error::corrupt(Exception::CorruptHFile, &dir, 0, message)
            })?;
            let descriptor = Arc::new(descriptor);
            for row in rows.iter().filter(|row| !row.info.is_split) {
                let is_durable = match emptying::is_in_progress(&in_trash, &row.info) {
                    true => self.finish_emptying(&row.info).map(|()| false),
                    false => self.has_durable_directory(&row.info, &in_trash),
                }?;
                region_info_file::ensure(fs, layout, &row.info)?;
                if !is_durable {
                    sync_dir(fs, &layout.table_dir(&name))?;
                }
                if state == TableState::Enabled {
                    opening.push((row.clone(), Arc::clone(&descriptor)));
                    continue;
                }
                if parked::is_in_log(row, in_log) {
                    self.park(open_region(&self.context, row, &descriptor)?);
                    continue;
                }
                self.check_manifest(row, &descriptor)?;
                // A link points to a file that its own table may drop before this one is enabled.
                for family in descriptor.families() {
                    let dir = layout.family_dir(&row.info, family.name());
                    hfile_link::adopt_in(fs, layout, &dir)?;
                }
            }
            loaded.push((name, descriptor, state, rows));
        }
        let mut regions: BTreeMap<TableName, Vec<Arc<Region>>> = BTreeMap::new();
        for region in open_all(&self.context, &opening)? {
            regions.entry(region.info().table().clone()).or_default().push(region);
        }
        for (name, descriptor, state, rows) in loaded {
            let regions = regions.remove(&name).unwrap_or_default();
            self.publish(&name, Some(TableEntry::new(descriptor, state, rows, regions)));
        }
        Ok(())
    }

    /// Makes hbase:meta name only the store's own server, after HBase had the directory. An HBase
    /// that starts on it must not wait for a server that it does not know.
    fn rename_servers(&self, renames: &[meta::ServerRename]) -> Result<()> {
        if renames.is_empty() || self.context.options.is_read_only {
            return Ok(());
        }
        let timestamp = self.meta.next_timestamp()?;
        let rows: Vec<_> =
            renames.iter().map(|rename| rename.put(&self.server, timestamp)).collect();
        self.meta.write(&rows)
    }

    /// Whether a region has a directory that a power cut does not take. A region without one is
    /// refused, because the directory was durable before hbase:meta named the region. The exception
    /// is a region whose truncation was interrupted: its old directory is in the trash, and its new
    /// one may be missing, or not be durable.
    fn has_durable_directory(
        &self,
        info: &RegionInfo,
        in_trash: &BTreeSet<String>,
    ) -> Result<bool> {
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        let dir = layout.region_dir(info);
        if in_trash.contains(info.encoded_name()) {
            return Ok(false);
        }
        if exists(fs, &dir)? {
            return Ok(true);
        }
        if self.context.options.salvage {
            let what = format!("region {info} has no directory: its files are lost, it is empty");
            self.context.note(&dir, what);
            return Ok(false);
        }
        let what = format!(
            "hbase:meta names region {info}, which has no directory. Restore it from a backup, or \
             open with salvage, which opens the region without the files that it had"
        );
        Err(Error::corrupt(Exception::CorruptHFile, &dir, 0, what))
    }

    fn finish_emptying(&self, info: &RegionInfo) -> Result<()> {
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        let retired = emptying::finish(fs, layout, info)?;
        self.context.note_retired(&layout.region_dir(info), &retired);
        Ok(())
    }

    /// Refuses a region of a disabled table that has lost its manifest. A salvage writes it again.
    fn check_manifest(&self, row: &RegionRow, descriptor: &Arc<TableDescriptor>) -> Result<()> {
        let (fs, dir) = (self.context.env.fs.as_ref(), self.context.layout.region_dir(&row.info));
        let found = manifest::opened_by_hbase(fs, &dir)?;
        if !manifest::is_lost(fs, &dir, row.manifest, found)? {
            return Ok(());
        }
        open_region(&self.context, row, descriptor)?.discard()
    }

    /// Writes the rows of hbase:namespace's own region, in memory.
    fn write_namespace_table(&self, meta_region: &Region, row: &RegionRow) -> Result<()> {
        let now = self.context.env.clock.now_millis();
        let id = row.open_sequence_number;
        let rows = [
            meta::put_open_region(&row.info, &self.server, id, now),
            meta::put_table_state(row.info.table(), TableState::Enabled, now),
        ];
        self.write_to_memory(meta_region, &rows)
    }

    /// Writes rows to memory only: the next open writes them again if they are lost.
    fn write_to_memory(&self, region: &Region, mutations: &[Mutation]) -> Result<()> {
        let is_empty = region.last_sequence_id() == 0;
        let mutations: Vec<&Mutation> = mutations.iter().collect();
        region.mutate_rows(&mutations, Some(Durability::SkipWal))?;
        let name = region.info().encoded_name();
        let mut dispensable = self.dispensable.lock();
        if is_empty || dispensable.contains_key(name) {
            dispensable.insert(name.to_owned(), region.last_sequence_id());
        }
        Ok(())
    }

    /// Reads the namespaces, once the log's cells are back in hbase:namespace, and creates those
    /// that every store has.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn load_namespaces(&self) -> Result<()> {
        self.take_in_namespace_family()?;
        let region = self.route(&TableName::namespace_table(), b"")?;
        let found = namespace_family::namespaces(&region, meta::INFO)?.into_iter();
        let mut namespaces: BTreeMap<_, _> =
            found.map(|found| (found.name.clone(), found)).collect();
        for name in self.namespaces_of_rebuilt_tables() {
            if let Entry::Vacant(missing) = namespaces.entry(name) {
                let namespace = NamespaceDescriptor::new(missing.key());
                self.meta.put_namespace(&namespace)?;
                missing.insert(namespace);
            }
        }
        let now = self.context.env.clock.now_millis();
        for name in [DEFAULT_NAMESPACE, SYSTEM_NAMESPACE] {
            if !namespaces.contains_key(name) {
                let namespace = NamespaceDescriptor::new(name);
                self.write_to_memory(&region, &[meta::put_namespace(&namespace, now)])?;
                namespaces.insert(name.to_owned(), namespace);
            }
        }
        *self.namespaces.write() = namespaces;
        Ok(())
    }

    /// The namespaces of rebuilt tables: their rows may be lost, like those of the tables.
    fn namespaces_of_rebuilt_tables(&self) -> Vec<String> {
        let tables = self.open_report.rebuilt.iter().flat_map(|rebuilt| &rebuilt.tables);
        let names = tables.map(|table| table.namespace().to_owned());
        names.filter(|name| name != DEFAULT_NAMESPACE && name != SYSTEM_NAMESPACE).collect()
    }

    /// Flushes and closes every region, hbase:meta last.
    ///
    /// # Errors
    /// `Io` if a flush fails: the log still has its cells.
    pub(crate) fn close(&self) -> Result<()> {
        let _procedure = self.procedure.lock();
        let settled = self.settle_all();
        let is_of_catalog = |region: &Arc<Region>| region.info().table().is_system();
        let (mut catalog, users): (Vec<_>, Vec<_>) =
            self.all_regions().into_iter().partition(is_of_catalog);
        catalog.sort_by_key(|region| region.info().table().is_meta());
        let dispensable = self.dispensable.lock();
        let dispensable = &*dispensable;
        let close = |region: &Arc<Region>| {
            // The rows that a fresh store has only in memory are not worth files.
            let name = region.info().encoded_name();
            match dispensable.get(name) == Some(&region.last_sequence_id()) {
                true => region.discard(),
                false => region.close(),
            }
        };
        parallel::for_each(&users, close)?;
        catalog.iter().try_for_each(close)?;
        settled
    }

    /// Takes every region out of service, without flushing memory.
    pub(crate) fn stop_serving(&self) {
        let _procedure = self.procedure.lock();
        self.all_regions().iter().for_each(|region| region.stop_serving());
    }

    /// Waits for the flushes in progress; none begins later.
    pub(crate) fn end_flushes(&self) {
        self.all_regions().iter().for_each(|region| region.end_flushes());
    }
}

/// Reads hbase:meta, and passes each row to `visit`.
fn read_rows(meta_region: &Region, mut visit: impl FnMut(&RowResult)) -> Result<TableRows> {
    let mut rows = Vec::new();
    for_each_row(meta_region, &Scan::new(), |row| {
        visit(row);
        rows.push(meta::parse(row)?);
        Ok(())
    })?;
    Ok(group_rows(rows))
}

/// Opens a region of a table whose descriptor is `built_in` unless it was altered.
fn open_built_in(
    context: &Arc<EngineContext>,
    row: &RegionRow,
    built_in: TableDescriptor,
) -> Result<Arc<Region>> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    let dir = layout.table_descriptor_dir(row.info.table());
    let written = match descriptor_file::read(fs, &dir, built_in.name()) {
        Ok(Some(written)) if has_families_of(&written, &built_in) => Some(written),
        Err(error) if error.kind() != ErrorKind::Corrupt => return Err(error),
        // No open waited for the file to be durable: a power cut may have taken it.
        Ok(_) | Err(_) => None,
    };
    let descriptor = match (built_in.name().is_meta(), &written) {
        // Nothing alters hbase:meta, and a damaged file must not hide rows.
        (true, _) => namespace_family::meta_descriptor(fs, layout, written.as_ref())?,
        (false, Some(written)) => written.clone(),
        (false, None) => built_in,
    };
    if written.is_none() {
        make_dir(fs, &dir)?;
        descriptor_file::write(fs, &dir, &descriptor, Safety::Written)?;
    }
    region_info_file::ensure(fs, layout, &row.info)?;
    open_region(context, row, &Arc::new(descriptor))
}

/// Whether a table that the store needs can be used with this descriptor.
pub(crate) fn has_families_of(table: &TableDescriptor, built_in: &TableDescriptor) -> bool {
    table.name() == built_in.name()
        && built_in.families().all(|family| table.has_family(family.name()))
}
