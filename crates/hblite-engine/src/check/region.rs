//! The directory of a region: its manifest, its families, and bulk loads that an open finishes.

use std::collections::HashSet;
use std::path::Path;

use hblite_model::{RegionInfo, Result, TableDescriptor};

use super::store_file::Owner;
use super::{FindingKind, Inspection};
use crate::layout::{
    BULK_LOAD_DIR, MANIFEST_FILE, RECOVERED_EDITS_DIR, TEMPORARY_DIR, family_dir_name,
};
use crate::store::manifest::{self, Manifest};
use crate::store::store_file::{loaded_name, loaded_sequence_id};

impl Inspection<'_> {
    /// Checks the contents of a region's directory.
    pub(super) fn check_region_files(
        &mut self,
        dir: &Path,
        region: Option<&RegionInfo>,
        descriptor: Option<&TableDescriptor>,
    ) {
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        let read = Manifest::read_to_go_on(self.fs(), dir, &name);
        let mut expected = self.accept_manifest(dir, read);
        self.check_bulk_loads(&dir.join(BULK_LOAD_DIR), region, descriptor, expected.as_mut());
        let expected = expected.as_ref();
        let mut visited = HashSet::new();
        for name in self.directories(dir) {
            let path = dir.join(&name);
            let mut families = descriptor.iter().flat_map(|table| table.families());
            let family = families.find(|family| family_dir_name(family.name()) == name);
            let family = family.map(|family| family.name());
            if family.is_some() || (descriptor.is_none() && name != RECOVERED_EDITS_DIR) {
                // Without the settings, the name of a directory is its family, unless escaped.
                let family =
                    family.or_else(|| (!name.starts_with('\\')).then_some(name.as_bytes()));
                self.check_family(&path, Owner { region, family, expected });
            } else if name != RECOVERED_EDITS_DIR {
                self.note(FindingKind::Foreign, &path, "belongs to no family of the table");
            }
            visited.insert(name);
        }
        for family in descriptor.iter().flat_map(|table| table.families()) {
            let name = family_dir_name(family.name());
            if !visited.contains(&name) {
                let owner = Owner { region, family: Some(family.name()), expected };
                self.check_missing(&dir.join(name), owner, |_| false);
            }
        }
        let temporary = dir.join(TEMPORARY_DIR);
        if super::size_below(self.fs(), &temporary) > 0 {
            self.note(FindingKind::LeftOver, &temporary, "files that were being written");
        }
    }

    /// The manifest of a snapshot's region, or of a bulk load, if it is valid.
    pub(super) fn read_manifest(&mut self, dir: &Path, region: &str) -> Option<Manifest> {
        let read = Manifest::read(self.fs(), dir, region);
        self.accept_manifest(dir, read)
    }

    fn accept_manifest(&mut self, dir: &Path, read: Result<Option<Manifest>>) -> Option<Manifest> {
        let path = dir.join(MANIFEST_FILE);
        let manifest = self.or_failure(FindingKind::Manifest, &path, read)??;
        let opened = manifest::opened_by_hbase(self.fs(), dir);
        let opened = self.or_failure(FindingKind::Unreadable, dir, opened)?;
        if !manifest::is_void(manifest.hbase_opened, opened) {
            return Some(manifest);
        }
        let what = "HBase has had the region open since: its files were not compared with a list";
        self.note(FindingKind::Manifest, &path, what);
        None
    }

    /// Checks the files of bulk loads that the next open finishes, and adds those that were already
    /// moved to what the region must have.
    fn check_bulk_loads(
        &mut self,
        dir: &Path,
        region: Option<&RegionInfo>,
        descriptor: Option<&TableDescriptor>,
        mut of_region: Option<&mut Manifest>,
    ) {
        let region_name = dir.parent().and_then(Path::file_name).unwrap_or_default();
        for load in self.directories(dir) {
            let path = dir.join(&load);
            if super::size_below(self.fs(), &path) > 0 {
                self.note(FindingKind::LeftOver, &path, "a bulk load that an open finishes");
            }
            let Some(id) = loaded_sequence_id(&load) else { continue };
            let mut list = self.read_manifest(&path, &region_name.to_string_lossy());
            let mut moved = Vec::new();
            if let Some(list) = &mut list {
                let fs = self.env.fs.as_ref();
                list.files.retain(|(family, name), fingerprint| {
                    let staged = path.join(family_dir_name(family)).join(name);
                    let is_staged = fs.exists(&staged).unwrap_or(true);
                    if !is_staged {
                        moved.push(((family.clone(), loaded_name(name, id)), *fingerprint));
                    }
                    is_staged
                });
            }
            // A region that was never flushed has no manifest yet.
            if let Some(of_region) = of_region.as_deref_mut() {
                of_region.files.extend(moved);
            }
            for family in descriptor.iter().flat_map(|table| table.families()) {
                let family = family.name();
                let family_dir = path.join(family_dir_name(family));
                let expected = list.as_ref();
                self.check_family(&family_dir, Owner { region, family: Some(family), expected });
            }
        }
    }
}
