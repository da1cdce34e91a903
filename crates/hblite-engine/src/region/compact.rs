//! Compaction of a region: of each of its stores.

use std::sync::Arc;

use hblite_model::{CompactionKind, Error, Exception, Result};

use super::Region;
use crate::store::{CompactionTrigger, Store};

impl Region {
    /// Compacts every store. Returns whether there was anything to do.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`: the store in question is unchanged.
    pub(crate) fn compact(&self, trigger: CompactionTrigger) -> Result<bool> {
        let mut has_compacted = false;
        for store in &self.stores {
            has_compacted |= compact_store(self, store, trigger)?;
        }
        if has_compacted {
            self.counters().compactions(1);
        }
        Ok(has_compacted)
    }

    /// The store of a family that is to be compacted.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`.
    pub(crate) fn compacted_store(&self, family: &[u8]) -> Result<&Arc<Store>> {
        self.store_of(family).ok_or_else(|| {
            let family = String::from_utf8_lossy(family);
            let region = self.info.region_name_as_string();
            let message = format!("column family {family} does not exist in region {region}");
            Error::new(Exception::NoSuchColumnFamily, message)
        })
    }

    /// Compacts the store of one family. Returns whether there was anything to do.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`; and as [`Region::compact`].
    pub(crate) fn compact_family(&self, trigger: CompactionTrigger, family: &[u8]) -> Result<bool> {
        let store = self.compacted_store(family)?;
        let has_compacted = compact_store(self, store, trigger)?;
        if has_compacted {
            self.counters().compactions(1);
        }
        Ok(has_compacted)
    }

    /// Removes what compactions replaced, unless the region goes out of service.
    ///
    /// # Errors
    /// As [`Region::compact`].
    pub(crate) fn remove_replaced_files(&self) -> Result<()> {
        self.stores.iter().try_for_each(|store| store.remove_replaced_files())
    }

    /// The same for a caller that needs the files to be gone.
    ///
    /// # Errors
    /// `Io`: some may still exist.
    pub(crate) fn remove_dead_files(&self) -> Result<()> {
        self.stores.iter().try_for_each(|store| store.remove_dead_files())
    }

    /// Compacts the stores with values that are in other files (see `store::mob`).
    ///
    /// # Errors
    /// As [`Region::compact`].
    pub(crate) fn bring_in_values(&self) -> Result<()> {
        for store in &self.stores {
            if store.files().iter().any(|file| file.mob_files().is_some()) {
                let major = CompactionTrigger::Requested(CompactionKind::Major);
                compact_store(self, store, major)?;
            }
        }
        Ok(())
    }

    /// Whether a store is compacted after any flush, because it has so many files
    /// (`hbase.hstore.blockingStoreFiles`) or because no client can see much of what is in them.
    pub(crate) fn is_compaction_urgent(&self) -> bool {
        self.stores.iter().any(|store| store.is_compaction_urgent())
    }

    /// Whether a compaction would find many cells that no client can see.
    pub(crate) fn has_dead_cells(&self) -> bool {
        self.settings.is_compaction_enabled
            && self.stores.iter().any(|store| store.has_dead_cells(&store.files()))
    }

    /// Notifies the compactor if one of the stores has enough files.
    pub(crate) fn request_compaction(&self) {
        if self.settings.is_compaction_enabled
            && self.stores.iter().any(|store| store.needs_compaction())
        {
            self.context.chores.compact(self.info.encoded_name());
        }
    }
}

fn compact_store(region: &Region, store: &Store, trigger: CompactionTrigger) -> Result<bool> {
    let around_swap = |swap: &mut dyn FnMut()| {
        let _suspended = region.dead_rows.as_ref().map(|rows| rows.suspend());
        swap();
    };
    let mut has_compacted = false;
    // A store that was far behind may need more than one round.
    while !region.is_closing() && store.compact(trigger, region.mvcc.read_point(), &around_swap)? {
        has_compacted = true;
        if trigger == CompactionTrigger::Requested(CompactionKind::Major) {
            break;
        }
    }
    Ok(has_compacted)
}
