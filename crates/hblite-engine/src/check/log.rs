//! The log: whether all of it can be read, and its entries for hbase:meta.

use hblite_model::Error;

use super::{Finding, FindingKind, Inspection};
use crate::catalog::survey::MetaEntry;
use crate::layout;
use crate::wal::{self, ReplayOptions, ReplayReport, Salvaged};

impl Inspection<'_> {
    /// Reads the log; returns its contents, and its entries for hbase:meta.
    pub(super) fn check_log(&mut self) -> (ReplayReport, Vec<MetaEntry>) {
        let dir = self.layout.wal_dir();
        let is_lost = layout::has_lost_log(self.fs(), &self.layout, self.marker);
        if is_lost.unwrap_or(false) {
            self.defect(FindingKind::Log, &wal::head_file(&dir), layout::LOST_LOG);
        }
        let (mut report, entries) = match self.replay(false) {
            Ok(replayed) => replayed,
            Err(first) => match self.replay(true) {
                Ok((mut report, entries)) => {
                    self.report_first(&mut report, &first);
                    (report, entries)
                }
                Err(error) => {
                    self.failure(FindingKind::Log, &dir, &error);
                    return Default::default();
                }
            },
        };
        for damage in report.salvaged.drain(..) {
            let Salvaged { file, offset, bytes_lost, what } = damage;
            let what = format!("{what}: {bytes_lost} bytes");
            self.report.defects.push(Finding::new(FindingKind::Log, &file, Some(offset), what));
        }
        if let Some(torn) = &report.torn_tail {
            let what = format!("the log ends here; {} bytes follow", torn.bytes_lost);
            let (file, offset) = (&torn.file, Some(torn.offset));
            self.report.notes.push(Finding::new(FindingKind::TornTail, file, offset, what));
        }
        if let Some(end) = &report.unclosed {
            let what = format!(
                "the store was not closed: its log ends here, and is on disk up to offset {} at \
                 least; a power cut may have cost writes after that",
                end.synced_offset
            );
            let (file, offset) = (&end.file, Some(end.offset));
            self.report.notes.push(Finding::new(FindingKind::UnclosedLog, file, offset, what));
        }
        self.report.log_segments = report.log_files;
        self.report.log_entries = report.entries;
        self.report.bytes += report.bytes;
        self.report_progress(0);
        (report, entries)
    }

    fn replay(&self, salvage: bool) -> Result<(ReplayReport, Vec<MetaEntry>), Error> {
        let mut entries = Vec::new();
        let options = ReplayOptions { store: self.layout.store_id(), salvage };
        let report = wal::replay(self.env, &self.layout.wal_dir(), options, &mut |entry| {
            entries.extend(MetaEntry::of(&entry));
            Ok(())
        })?;
        Ok((report, entries))
    }

    /// Reports the error that ended the read without salvage, unless the read with salvage did.
    fn report_first(&mut self, report: &mut ReplayReport, first: &Error) {
        let is_reported = |damage: &Salvaged| {
            Some(&*damage.file) == first.file() && Some(damage.offset) == first.offset()
        };
        if !report.salvaged.iter().any(is_reported) {
            let dir = self.layout.wal_dir();
            self.failure(FindingKind::Log, &dir, first);
        }
    }
}
