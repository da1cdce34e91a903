//! Snapshots: the description of each, and its files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::store_file::Owner;
use super::{FindingKind, Inspection};
use crate::catalog::orphans;
use crate::catalog::snapshot::{
    self, StoredSnapshot, archived_files, files_of_hbase, half_removed,
};
use crate::layout::family_dir_name;

impl Inspection<'_> {
    pub(super) fn check_snapshots(&mut self) {
        let dir = self.layout.snapshots_dir();
        let names = orphans::directories(self.fs(), &dir);
        let Some(mut names) = self.or_failure(FindingKind::Unreadable, &dir, names) else { return };
        names.sort();
        let removed = half_removed(self.fs(), &self.layout);
        let removed = self.or_failure(FindingKind::Unreadable, &dir, removed).unwrap_or_default();
        let lost = snapshot::lost(self.fs(), &self.layout, &snapshot::named(&self.survey.rows));
        for name in self.or_failure(FindingKind::Snapshot, &dir, lost).unwrap_or_default() {
            self.defect(FindingKind::Snapshot, &dir.join(name), snapshot::LOST);
        }
        let mut archived = BTreeSet::new();
        for path in names.iter().map(|name| dir.join(name)) {
            match removed.contains(&path) {
                true => self.note(FindingKind::LeftOver, &path, "a partly removed snapshot"),
                false => self.check_snapshot(&path, &mut archived),
            }
        }
        // HBase reads these names. Where they are links, the same bytes are read again.
        for path in archived {
            self.check_archived_file(&path);
        }
        let working = self.layout.snapshot_working_dir("");
        if super::size_below(self.fs(), &working) > 0 {
            self.note(FindingKind::LeftOver, &working, "an unfinished or partly removed snapshot");
        }
    }

    /// Checks a snapshot, and adds its files in the archive to `archived`.
    fn check_snapshot(&mut self, dir: &Path, archived: &mut BTreeSet<PathBuf>) {
        let files = files_of_hbase(self.fs(), &self.layout, dir);
        let Some(files) = self.or_failure(FindingKind::Snapshot, dir, files) else { return };
        if let Some(files) = files {
            let what = "HBase took it: the next open links its files";
            self.note(FindingKind::LeftOver, dir, what);
            // Files in regions are checked there.
            let archived_files = files.into_iter().filter(|found| found.path != found.place);
            archived.extend(archived_files.map(|found| found.path));
            return;
        }
        let snapshot = StoredSnapshot::read(self.fs(), dir);
        let Some(snapshot) = self.or_failure(FindingKind::Snapshot, dir, snapshot) else { return };
        let found = archived_files(self.fs(), &self.layout, dir);
        let (there, lost) = self.or_failure(FindingKind::Snapshot, dir, found).unwrap_or_default();
        archived.extend(there);
        for path in lost {
            let what = "HBase finds the file neither here nor in its region. HBase 2.6 loses files \
                        of snapshots when it truncates a table that was split before; \
                        docs/move-to-hbase.md says how to prevent that";
            self.defect(FindingKind::StoreFileMissing, &path, what);
        }
        // Parents that references point to are not regions of the table, but have files too.
        for name in self.directories(dir) {
            let region_dir = dir.join(&name);
            let mut regions = snapshot.regions.iter().map(|(info, dir)| (info, dir.as_path()));
            let region = regions.find(|(_, dir)| *dir == region_dir).map(|(info, _)| info);
            let expected = region.and_then(|_| self.read_manifest(&region_dir, &name));
            for family in snapshot.table.families() {
                let family = family.name();
                let family_dir = region_dir.join(family_dir_name(family));
                let expected = expected.as_ref();
                self.check_family(&family_dir, Owner { region, family: Some(family), expected });
            }
        }
    }
}
