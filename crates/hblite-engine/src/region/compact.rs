//! Compaction of a region: of each of its stores.

use hblite_model::Result;

use super::Region;
use crate::store::CompactionKind;

impl Region {
    /// Compacts every store. Says whether there was anything to do.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`: the store in question is as it was before.
    pub(crate) fn compact(&self, kind: CompactionKind) -> Result<bool> {
        let mut has_compacted = false;
        for store in &self.stores {
            // A store that was far behind may need more than one round.
            loop {
                if self.is_closing() || !store.compact(kind, self.mvcc.read_point())? {
                    break;
                }
                has_compacted = true;
                if kind == CompactionKind::Major {
                    break;
                }
            }
        }
        if has_compacted {
            self.load.compactions(1);
        }
        Ok(has_compacted)
    }

    /// Rings the compactor if one of the stores has enough files.
    pub(super) fn request_compaction(&self) {
        let wanted =
            self.context.options.is_compaction_enabled && self.descriptor.is_compaction_enabled();
        if wanted && self.stores.iter().any(|store| store.needs_compaction()) {
            self.context.chores.compact(self.info.encoded_name());
        }
    }
}
