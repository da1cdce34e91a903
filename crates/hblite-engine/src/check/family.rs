//! The directory of a family in a region: its store files, and references to those of others.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hblite_hfile::HFileReader;
use hblite_model::{RegionInfo, Result};

use super::store_file::{Owner, verify};
use super::{FindingKind, Inspection};
use crate::catalog::orphans;
use crate::store::replaced_files;
use crate::store::store_file::{Half, StoreFile, is_store_file_name, split_reference};

/// Cells between two calls of the progress.
const CELLS_BETWEEN_CALLS: u64 = 8192;

impl Inspection<'_> {
    /// Checks the files in a family's directory.
    pub(super) fn check_family(&mut self, dir: &Path, owner: Owner<'_>) {
        let entries = orphans::list(self.fs(), dir);
        let Some(entries) = self.or_failure(FindingKind::Unreadable, dir, entries) else { return };
        let (mut whole, mut references) = (Vec::new(), Vec::new());
        for entry in entries {
            let path = dir.join(&entry.name);
            if entry.is_dir || !is_store_file_name(&entry.name) {
                self.note(FindingKind::Foreign, &path, "is not the name of a store file");
            } else if split_reference(&path).is_some() {
                references.push(path);
            } else {
                whole.push(path);
            }
        }
        let files = whole.iter().filter_map(|path| {
            let file = StoreFile::open_with(self.env.fs.as_ref(), &self.layout, None, path);
            self.or_failure(FindingKind::StoreFile, path, file)
        });
        let files: Vec<StoreFile> = files.collect();
        let replaced: HashSet<String> = files.iter().flat_map(replaced_files).collect();
        for file in &files {
            if !self.is_replaced(&replaced, file.path()) {
                self.check_store_file(file, owner);
            }
        }
        for path in references {
            if !self.is_replaced(&replaced, &path) {
                self.check_reference(&path, owner.region);
            }
        }
    }

    /// Whether the file is one that a compaction replaced.
    fn is_replaced(&mut self, replaced: &HashSet<String>, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_replaced = replaced.contains(name);
        if is_replaced {
            self.note(FindingKind::LeftOver, path, "a compaction has replaced it");
        }
        is_replaced
    }

    fn check_store_file(&mut self, file: &StoreFile, owner: Owner<'_>) {
        let reader = file.reader();
        let (mut cells, told) = (0, reader.entries().max(1));
        let findings = verify(reader, owner, &mut || {
            cells += 1;
            if cells % CELLS_BETWEEN_CALLS == 0 {
                let share = cells.min(told) as f64 / told as f64;
                self.tell((reader.length() as f64 * share) as u64);
            }
        });
        self.report.defects.extend(findings);
        self.report.files += 1;
        self.report.cells += cells;
        self.report.bytes += reader.length();
        self.tell(0);
    }

    fn check_reference(&mut self, path: &Path, region: Option<&RegionInfo>) {
        let half = Half::read(self.fs(), path);
        let Some(half) = self.or_failure(FindingKind::Reference, path, half) else { return };
        let Some(target) = self.referred_file(path) else { return };
        match self.fs().exists(&target) {
            Ok(true) => {}
            Ok(false) => {
                let what = format!("refers to {}, which is not there", target.display());
                return self.defect(FindingKind::DanglingReference, path, what);
            }
            Err(error) => {
                return self.defect(FindingKind::Unreadable, &target, error.to_string());
            }
        }
        // Its cells are checked where it stands; here only that it can be opened.
        let reader = HFileReader::open(self.fs(), &target, None);
        let reader: Result<HFileReader> = reader;
        let Some(reader) = self.or_failure(FindingKind::StoreFile, &target, reader) else { return };
        if let Some(what) = region.and_then(|region| half.misfit(&reader, region)) {
            self.defect(FindingKind::Reference, path, what);
        }
    }

    fn referred_file(&self, path: &Path) -> Option<PathBuf> {
        let (name, region) = split_reference(path)?;
        Some(self.layout.referred_file(path, name, region))
    }
}
