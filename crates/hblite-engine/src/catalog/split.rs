//! Splits a region (`SplitTableRegionProcedure`).
//!
//! 1. check, and flush while the region still serves
//! 2. close the region
//! 3. create the daughters' directories, with links and references to the parent's files, and open
//!    them
//! 4. make the references durable: the parent's cells are reachable only through them
//! 5. commit: hbase:meta says that the parent is split, and names the daughters
//! 6. publish the daughters, and request their compaction
//!
//! After a crash before step 5 the parent is opened again, and the next open retires the daughters'
//! directories. After step 5 the daughters are opened; `parents` removes the parent once nothing
//! refers to it.

use std::sync::Arc;

use hblite_model::bytes::to_string_binary;
use hblite_model::{Error, Exception, Mutation, RegionInfo, Result, Switch, TableName};

use super::meta::{self, RegionRow};
use super::procedures::discard;
use super::table::TableEntry;
use super::{OpenReport, Procedures, orphans, replicas};
use crate::layout::UNCLAIMED_FILE;
use crate::region::split_policy::SplitPolicy;
use crate::region::{Region, split};

/// With this many regions in service, none is split automatically
/// (`hbase.regionserver.regionSplitLimit`).
const REGIONS_MAX: usize = 1000;

impl Procedures<'_> {
    /// Splits the region that holds `split_key` there; without a key, every region of the table at
    /// its middle.
    ///
    /// # Errors
    /// `TableNotFound`, and as for [`Procedures::split_region`]; regions before the one that failed
    /// stay split.
    pub fn split_table(&self, table: &TableName, split_key: Option<&[u8]>) -> Result<()> {
        let entry = self.entry(table)?;
        for row in entry.live_rows() {
            if split_key.is_none_or(|key| row.info.contains_row(key)) {
                self.split(&row.info, split_key)?;
            }
        }
        Ok(())
    }

    /// Splits a region, named by its full or encoded name, at a key or at its middle.
    ///
    /// # Errors
    /// `IllegalArgument` (no such region), `Io`, `DoNotRetryIo`: the region is as it was.
    pub fn split_region(&self, region: &str, split_key: Option<&[u8]>) -> Result<()> {
        let (_, row) = self
            .find_row(region)
            .ok_or_else(|| Error::illegal_argument(format!("Invalid region: {region}")))?;
        self.split(&row.info, split_key)
    }

    /// Splits the region if it has grown so large that its table's policy requires a split. Returns
    /// whether it did.
    ///
    /// # Errors
    /// As [`Procedures::split_region`].
    pub(crate) fn split_if_due(&self, region: &Region) -> Result<bool> {
        let is_due = self.is_split_due(region) && region.split_point().is_some();
        if is_due {
            self.split(region.info(), None)?;
        }
        Ok(is_due)
    }

    /// Whether the region has grown so large that its table's policy requires a split, and may be
    /// split.
    pub(crate) fn is_split_due(&self, region: &Region) -> bool {
        let table = region.info().table();
        self.context.options.is_split_enabled
            && self.context.switches.is_on(Switch::Split)
            && !table.is_system()
            && region.descriptor().is_split_enabled()
            && !region.has_references()
            && self.all_regions().len() < REGIONS_MAX
            && self.0.entry(table).is_ok_and(|entry| region.is_split_due(entry.regions().len()))
    }

    fn split(&self, parent: &RegionInfo, split_key: Option<&[u8]>) -> Result<()> {
        self.context.switches.check(Switch::Split, || {
            let name = parent.region_name_as_string();
            format!("Split region {name} failed due to split switch off")
        })?;
        if split_key == Some(parent.start_key()) {
            let message = "should not give a splitkey which equals to startkey!";
            return Err(Error::invalid_argument(Exception::Io, message));
        }
        let _procedure = self.begin_procedure()?;
        let table = parent.table();
        let entry = self.entry(table)?;
        if !entry.descriptor.is_split_enabled() {
            return Err(Error::do_not_retry(format!(
                "Split region {} failed as region split is disabled for the table",
                parent.region_name_as_string()
            )));
        }
        let encoded = parent.encoded_name();
        let Some(region) = entry.assigned_region(encoded) else {
            return Err(Error::do_not_retry(format!("{encoded} is not OPEN; state=CLOSED")));
        };
        self.clean_parents_of(table, std::slice::from_ref(parent))?;
        // From here on all readers see the new regions.
        let entry = self.entry(table)?;
        let split_key = check_splittable(region, split_key)?;
        // Most memory is flushed while the region still serves; if that fails, nothing has changed.
        region.flush()?;
        region.close()?;
        let result = self.split_closed(&entry, region, &split_key);
        if result.is_err() {
            self.bring_back(&entry, std::slice::from_ref(region));
        }
        result
    }

    fn split_closed(
        &self,
        entry: &TableEntry,
        parent: &Arc<Region>,
        split_key: &[u8],
    ) -> Result<()> {
        let id = parent.last_sequence_id() + 1;
        let (low, high) = split::create_daughters(&self.context, parent, split_key)
            .inspect_err(|_| self.retire_half_made(entry))?;
        let daughters = [RegionRow::new(low, id), RegionRow::new(high, id)];
        let regions = self
            .prepare_heirs(entry, &daughters)
            .inspect_err(|_| self.remove_region_dirs(daughters.iter().map(|row| &row.info)))?;
        let committed = self.meta.next_timestamp().and_then(|timestamp| {
            let [low, high] = [&daughters[0].info, &daughters[1].info];
            let mut mutations = vec![
                meta::put_split_parent(parent.info(), [low, high], timestamp),
                meta::put_open_region(low, &self.server, id, timestamp),
                meta::put_open_region(high, &self.server, id, timestamp),
            ];
            let count = entry.descriptor.region_replication();
            mutations.extend(replicas::put_closed(parent.info(), 1..count, timestamp));
            let open = |row| replicas::put_open(row, 1..count, &self.server, timestamp);
            mutations.extend(daughters.iter().filter_map(open));
            mutations.extend(manifests_of(&regions, timestamp));
            self.meta.write(&mutations)
        });
        committed.inspect_err(|_| discard(&regions))?;
        regions.iter().for_each(|region| region.files().note_named());
        self.claim(&daughters);
        let mut rows = entry.rows.clone();
        for row in rows.iter_mut().filter(|row| row.info == *parent.info()) {
            row.info.is_split = true;
            row.info.is_offline = true;
            row.daughters = daughters.iter().map(|row| row.info.clone()).collect();
        }
        rows.extend(daughters);
        self.publish_heirs(entry, rows, std::slice::from_ref(parent), regions);
        Ok(())
    }

    /// Makes the files of regions that replace closed ones durable, and opens them.
    pub(super) fn prepare_heirs(
        &self,
        entry: &TableEntry,
        heirs: &[RegionRow],
    ) -> Result<Vec<Arc<Region>>> {
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        let regions = self.prepare_regions(&entry.descriptor, heirs)?;
        for (row, family) in heirs
            .iter()
            .flat_map(|row| entry.descriptor.families().map(move |family| (row, family)))
        {
            let dir = layout.family_dir(&row.info, family.name());
            let exists = fs.exists(&dir).map_err(|e| Error::io("cannot look for", &dir, e))?;
            // The parents' cells are reachable only through these names.
            if exists && let Err(error) = layout.make_durable(fs, &dir) {
                discard(&regions);
                return Err(error);
            }
        }
        Ok(regions)
    }

    /// Replaces closed regions with the heirs created from them.
    pub(super) fn publish_heirs(
        &self,
        entry: &TableEntry,
        rows: Vec<RegionRow>,
        closed: &[Arc<Region>],
        heirs: Vec<Arc<Region>>,
    ) {
        assert_same_rows(closed, &heirs);
        let is_closed = |region: &&Arc<Region>| closed.iter().any(|c| c.info() == region.info());
        let names: Vec<String> =
            heirs.iter().map(|region| region.info().encoded_name().to_owned()).collect();
        let others = entry.regions().iter().filter(|region| !is_closed(region)).cloned();
        let regions = others.chain(heirs).collect();
        let descriptor = Arc::clone(&entry.descriptor);
        let table = descriptor.name().clone();
        self.publish(&table, Some(TableEntry::new(descriptor, entry.state, rows, regions)));
        if self.context.options.is_compaction_enabled {
            // Soon the heirs have files of their own, and the parents can be removed.
            for name in names {
                self.context.chores.compact(&name);
            }
        }
    }

    /// Claims the files of regions that hbase:meta now names.
    pub(in crate::catalog) fn claim(&self, rows: &[RegionRow]) {
        for row in rows {
            let path = self.context.layout.region_dir(&row.info).join(UNCLAIMED_FILE);
            // It matters only for regions that hbase:meta does not name.
            let _ = self.context.env.fs.remove_file(&path);
        }
    }

    /// Removes heirs whose creation failed halfway; the next open removes what cannot be removed
    /// now.
    pub(super) fn retire_half_made(&self, entry: &TableEntry) {
        let dir = self.context.layout.table_dir(entry.descriptor.name());
        let _ = orphans::retire_regions(self, &dir, entry, &mut OpenReport::default());
    }

    /// Opens regions again that were closed for a procedure that failed.
    pub(super) fn bring_back(&self, entry: &TableEntry, closed: &[Arc<Region>]) {
        let is_closed = |region: &&Arc<Region>| closed.iter().any(|c| c.info() == region.info());
        let open = entry.regions().iter().filter(|region| !is_closed(region)).cloned().collect();
        let mut rows = entry.rows.clone();
        for region in closed {
            for row in rows.iter_mut().filter(|row| row.info == *region.info()) {
                row.open_sequence_number = region.last_sequence_id() + 1;
                // The procedure may have removed what hbase:meta says.
                row.manifest = None;
            }
        }
        self.reopen(entry.descriptor.name(), entry, &rows, open);
    }
}

/// Puts that the heirs have manifests, as far as they do.
pub(super) fn manifests_of(
    heirs: &[Arc<Region>],
    timestamp: i64,
) -> impl Iterator<Item = Mutation> {
    heirs.iter().filter_map(move |region| {
        let recorded = region.files().recorded()?;
        Some(meta::put_manifest(region.info(), recorded, timestamp))
    })
}

/// Heirs hold the rows of the closed regions, without a hole or an overlap. Both lists are sorted.
fn assert_same_rows(closed: &[Arc<Region>], heirs: &[Arc<Region>]) {
    let bounds = |regions: &[Arc<Region>]| {
        let meet = |pair: &[Arc<Region>]| pair[0].info().end_key() == pair[1].info().start_key();
        assert!(regions.windows(2).all(meet), "regions follow one another: {regions:?}");
        let (first, last) = (regions.first()?.info(), regions.last()?.info());
        Some((first.start_key().to_vec(), last.end_key().to_vec()))
    };
    assert_eq!(bounds(closed), bounds(heirs), "heirs hold the rows of the regions before them");
}

/// The key where the region can be split.
fn check_splittable(region: &Region, split_key: Option<&[u8]>) -> Result<Vec<u8>> {
    let info = region.info();
    let policy = SplitPolicy::of(region.descriptor());
    let is_never_split = matches!(policy, Ok(SplitPolicy::Disabled));
    if info.table().is_meta() || region.has_references() || is_never_split {
        return Err(Error::do_not_retry(format!("{} NOT splittable", info.encoded_name())));
    }
    let split_key = match split_key {
        Some(key) if !key.is_empty() => key.to_vec(),
        _ => region.split_point().ok_or_else(|| {
            Error::do_not_retry(
                "Region not splittable because bestSplitPoint = null, maybe table is too small \
                 for auto split. For force split, try specifying split row",
            )
        })?,
    };
    if split_key == info.start_key() {
        return Err(Error::do_not_retry(format!(
            "Split row is equal to startkey: {}",
            to_string_binary(&split_key)
        )));
    }
    if !info.contains_row(&split_key) {
        return Err(Error::do_not_retry(format!(
            "Split row is not inside region key range splitKey:{} region: {info}",
            to_string_binary(&split_key)
        )));
    }
    Ok(split_key)
}
