//! Writes a memstore's frozen segment to a new file, which then replaces it.
//!
//! Threads: the region runs one flush at a time.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_hfile::{HFileWriterOptions, StoreFileInfo};
use hblite_model::Result;

use super::key_value_scanner::SourceScanner;
use super::store_scanner::{CompactionScanner, ScanType};
use super::{Store, whole_steps};
use crate::memstore::FrozenMemStore;

/// A frozen segment that is being written to a file.
pub(crate) struct StoreFlush {
    frozen: FrozenMemStore,
}

impl Store {
    /// Freezes what is in memory; `None` if there is nothing. Under the region's updates lock.
    pub(crate) fn prepare_flush(&self) -> Option<StoreFlush> {
        let replacing = self.replacing.lock();
        let frozen = self.memstore.freeze()?;
        self.set_view(self.files());
        drop(replacing);
        let charged = whole_steps(self.charged.active.swap(0, Ordering::Relaxed));
        self.charged.frozen.fetch_add(charged, Ordering::Relaxed);
        Some(StoreFlush { frozen })
    }

    /// Writes the file, then replaces the frozen segment with it. The caller updates the region's
    /// manifest.
    pub(crate) fn write_and_commit(&self, flush: &StoreFlush, flush_id: u64) -> Result<()> {
        let segment = flush.frozen.segment();
        segment.flatten();
        let new = self.create_file(segment.has_tags(), |writer| {
            let mut scanner = CompactionScanner::new(
                vec![SourceScanner::Memory(segment.scanner(u64::MAX))],
                &self.scan_info,
                ScanType::CompactRetainDeletes,
                flush_id,
                self.context.env.clock.now_millis(),
            )?;
            while let Some(cell) = scanner.next()? {
                assert!(cell.sequence_id() <= flush_id, "a flush id covers the cells of its file");
                writer.append(&cell)?;
            }
            Ok(Some(StoreFileInfo { max_sequence_id: Some(flush_id), ..StoreFileInfo::default() }))
        })?;
        if let Some(new) = new.as_ref().filter(|_| self.family.caches_data_on_write()) {
            // Damage shows when the data is read.
            let _ = new.file.reader().fill_cache();
        }
        if let Some(new) = &new {
            // Before a compaction can see the file, replace it, and remove it.
            self.list_file(new, &[]);
        }
        let replacing = self.replacing.lock();
        self.memstore.clear_frozen(flush.frozen.id())?;
        let new_file = new.iter().map(|new| Arc::clone(&new.file));
        self.set_files(self.files().iter().cloned().chain(new_file).collect());
        drop(replacing);
        self.discharge_frozen();
        Ok(())
    }

    /// The settings for new files of this family.
    pub(crate) fn writer_options(&self, include_tags: bool) -> HFileWriterOptions {
        HFileWriterOptions::of_family(&self.family)
            .with_tags(include_tags)
            .with_comparator(self.comparator)
            .with_create_time(self.context.env.clock.now_millis())
    }
}
