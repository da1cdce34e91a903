//! The directory of a family in a region: whether it has the files that the region's manifest
//! lists, its store files, and references to those of others.

use std::collections::HashSet;
use std::path::Path;

use hblite_model::Error;

use super::store_file::{Owner, verify};
use super::{Finding, FindingKind, Inspection};
use crate::files::list;
use crate::store::hfile_link::HFileLink;
use crate::store::replaced_files;
use crate::store::standing::{Standing, standing};
use crate::store::store_file::{Half, StoreFile, is_store_file_name, split_reference};

/// Cells between two calls of the progress.
const CELLS_BETWEEN_CALLS: u64 = 8192;
const CHANGED: &str = "it is not the file that the region's .manifest lists";
const UNLISTED: &str = "the region's .manifest does not list it";
const NEWER: &str = "it is newer than the region's .manifest. A kill leaves this, and so does an \
                     older copy of the store that was copied over it";
const MISSING: &str = "the region's .manifest lists this file, and it is missing";

impl Inspection<'_> {
    /// Checks the files in a family's directory.
    pub(super) fn check_family(&mut self, dir: &Path, owner: Owner<'_>) {
        let entries = list(self.fs(), dir);
        let Some(entries) = self.or_failure(FindingKind::Unreadable, dir, entries) else { return };
        let (mut whole, mut references) = (Vec::new(), Vec::new());
        let mut names = HashSet::new();
        for entry in entries {
            let path = dir.join(&entry.name);
            if let Some(link) = HFileLink::parse(&entry.name) {
                let target = link.target(self.fs(), &self.layout, &path);
                if self.or_failure(FindingKind::Reference, &path, target).is_some() {
                    names.insert(link.own_name());
                }
                continue;
            }
            if entry.is_dir || !is_store_file_name(&entry.name) {
                self.note(FindingKind::Foreign, &path, "is not the name of a store file");
                continue;
            }
            names.insert(entry.name);
            if split_reference(&path).is_some() {
                references.push(path);
            } else {
                whole.push(path);
            }
        }
        let files = whole.iter().filter_map(|path| {
            let file = StoreFile::open_with(&self.env.fs, &self.layout, None, path);
            let file = self.or_failure(FindingKind::StoreFile, path, file)?;
            let standing = self.standing(&file, owner)?;
            Some((file, standing))
        });
        let files: Vec<(StoreFile, Standing)> = files.collect();
        let live = files
            .iter()
            .filter(|(_, standing)| matches!(standing, Standing::Live | Standing::Unlisted));
        let replaced: HashSet<String> = live.flat_map(|(file, _)| replaced_files(file)).collect();
        for (file, standing) in &files {
            if *standing == Standing::Dead {
                self.note(FindingKind::LeftOver, file.path(), "it was being removed");
            } else if !self.is_replaced(&replaced, file.path()) {
                self.check_store_file(file, *standing, owner);
            }
        }
        for path in references {
            if !self.is_replaced(&replaced, &path) {
                self.check_reference(&path, owner);
            }
        }
        self.check_missing(dir, owner, |name| names.contains(name) || replaced.contains(name));
    }

    /// Reports the files of a family that are listed but missing.
    pub(super) fn check_missing(
        &mut self,
        dir: &Path,
        owner: Owner<'_>,
        is_explained: impl Fn(&str) -> bool,
    ) {
        let Some((expected, family)) = owner.expected.zip(owner.family) else { return };
        for name in expected.names(family).filter(|name| !is_explained(name)) {
            self.defect(FindingKind::StoreFileMissing, &dir.join(name), MISSING);
        }
    }

    fn standing(&mut self, file: &StoreFile, owner: Owner<'_>) -> Option<Standing> {
        let standing = standing(owner.expected, owner.family.unwrap_or_default(), file);
        self.or_failure(FindingKind::StoreFile, file.path(), standing)
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

    /// Checks a file in the archive.
    pub(super) fn check_archived_file(&mut self, path: &Path) {
        if path.file_name().is_some_and(|name| HFileLink::parse(&name.to_string_lossy()).is_some())
        {
            return;
        }
        if split_reference(path).is_some() {
            let half = Half::read(self.fs(), path);
            self.or_failure(FindingKind::Reference, path, half);
            return;
        }
        let file = StoreFile::open_with(&self.env.fs, &self.layout, None, path);
        let Some(file) = self.or_failure(FindingKind::StoreFile, path, file) else { return };
        let owner = Owner { region: None, family: None, expected: None };
        self.check_store_file(&file, Standing::Live, owner);
    }

    fn check_store_file(&mut self, file: &StoreFile, standing: Standing, owner: Owner<'_>) {
        let reader = file.reader();
        let (mut cells, told) = (0, reader.entries().max(1));
        let findings = verify(reader, owner, &mut || {
            cells += 1;
            if cells % CELLS_BETWEEN_CALLS == 0 {
                let share = cells.min(told) as f64 / told as f64;
                self.report_progress((reader.length() as f64 * share) as u64);
            }
        });
        // A defect in its cells says more than the fact that it is another file.
        if findings.is_empty() {
            self.check_standing(file.path(), standing);
            let _ = self.or_failure(FindingKind::StoreFile, file.path(), file.verify_values());
        }
        self.report.defects.extend::<Vec<Finding>>(findings);
        self.report.files += 1;
        self.report.cells += cells;
        self.report.bytes += reader.length();
        self.report_progress(0);
    }

    fn check_standing(&mut self, path: &Path, standing: Standing) {
        match standing {
            Standing::Live | Standing::Dead => {}
            Standing::Unlisted => self.note(FindingKind::UnlistedFile, path, NEWER),
            Standing::Changed => self.defect(FindingKind::StoreFile, path, CHANGED),
            Standing::Foreign => self.defect(FindingKind::UnlistedFile, path, UNLISTED),
        }
    }

    fn check_reference(&mut self, path: &Path, owner: Owner<'_>) {
        let half = Half::read(self.fs(), path);
        let Some(half) = self.or_failure(FindingKind::Reference, path, half) else { return };
        let Some((name, region)) = split_reference(path) else { return };
        let target = self.layout.referred_file(path, name, region);
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
        // Its cells are checked in its own directory; here only whether it can be opened.
        let file: Result<StoreFile, Error> =
            StoreFile::open_with(&self.env.fs, &self.layout, None, path);
        let Some(file) = self.or_failure(FindingKind::StoreFile, &target, file) else { return };
        if let Some(what) = owner.region.and_then(|region| half.misfit(file.reader(), region)) {
            return self.defect(FindingKind::Reference, path, what);
        }
        if let Some(standing) = self.standing(&file, owner) {
            self.check_standing(path, standing);
        }
    }
}
