//! A table: its settings, the chain of its regions, and their directories.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use hblite_model::{Error, ErrorKind, RegionInfo, TableDescriptor, TableName};

use super::{FindingKind, Inspection, chain};
use crate::catalog::load::has_families_of;
use crate::catalog::meta::{self, RegionRow};
use crate::catalog::{descriptor_file, orphans, region_info_file};
use crate::layout::{MANIFEST_FILE, emptying};
use crate::store::manifest::{self, Recorded};

impl Inspection<'_> {
    /// Checks a table whose regions hbase:meta names in `rows`.
    pub(super) fn check_table(&mut self, table: &TableName, rows: &[RegionRow]) {
        self.report.tables += 1;
        let dir = self.layout.table_dir(table);
        let descriptor = self.read_descriptor(table);
        let live: Vec<&RegionInfo> =
            rows.iter().map(|row| &row.info).filter(|info| !info.is_split).collect();
        let breaks: Vec<_> = chain::breaks(live.iter().copied()).into_iter().collect();
        let is_whole = breaks.is_empty();
        for gap in breaks {
            let kind = match gap {
                chain::Break::Hole(..) => FindingKind::Hole,
                chain::Break::Overlap(..) => FindingKind::Overlap,
                chain::Break::Reversed(_) => FindingKind::Catalog,
            };
            self.defect(kind, &dir, format!("table {table}: {gap}"));
        }
        self.report.regions += live.len();
        // By name: a parent may be in several rows.
        let split = rows.iter().map(|row| &row.info).filter(|info| info.is_split);
        let parents: HashMap<&str, &RegionInfo> = split
            .chain(rows.iter().flat_map(|row| &row.merge_parents))
            .map(|info| (info.encoded_name(), info))
            .collect();
        let manifests: HashMap<&str, Recorded> =
            rows.iter().filter_map(|row| Some((row.info.encoded_name(), row.manifest?))).collect();
        let named = |info: &RegionInfo| manifests.get(info.encoded_name()).copied();
        for info in &live {
            self.check_region(info, descriptor.as_ref(), named(info), true);
        }
        for info in parents.values() {
            self.check_region(info, descriptor.as_ref(), named(info), false);
        }
        let mut known: HashSet<&str> = live.iter().map(|info| info.encoded_name()).collect();
        known.extend(parents.keys());
        for name in self.directories(&dir) {
            if !known.contains(name.as_str()) {
                let path = dir.join(&name);
                // Where rows are missing, the remains of a region may be all that is left of them.
                let was_known = is_whole && self.survey.knew_region(&name);
                let has_data = orphans::region_has_data(self.fs(), &path);
                self.unknown_directory(&path, has_data, "region", was_known);
            }
        }
    }

    /// Checks the files of a table whose regions are unknown.
    pub(super) fn check_files_of(&mut self, table: &TableName) {
        self.report.tables += 1;
        let dir = self.layout.table_dir(table);
        let descriptor = self.read_descriptor(table);
        for name in self.directories(&dir) {
            let path = dir.join(&name);
            let content = self.fs().read(&path.join(".regioninfo")).unwrap_or_default();
            let info = region_info_file::decode_file(&content);
            let info = info.filter(|info| info.encoded_name() == name && info.table() == table);
            self.report.regions += 1;
            self.check_region_files(&path, info.as_ref(), descriptor.as_ref());
        }
    }

    /// Reports a directory that hbase:meta does not name. `what` is "table" or "region";
    /// `was_known` says whether hbase:meta named it before.
    pub(super) fn unknown_directory(
        &mut self,
        path: &Path,
        has_data: Result<bool, Error>,
        what: &str,
        was_known: bool,
    ) {
        if orphans::is_left_alone(self.fs(), path) {
            return;
        }
        match self.or_failure(FindingKind::Unreadable, path, has_data) {
            None => {}
            Some(true) if was_known => {
                let what = format!("cells of a {what} that was removed when the process ended");
                self.note(FindingKind::UnknownDirectory, path, what);
            }
            Some(true) => {
                let what = format!("has cells of a {what} that hbase:meta does not name");
                self.defect(FindingKind::UnknownDirectory, path, what);
            }
            Some(false) => {
                let what = format!("of a {what} that hbase:meta does not name, without cells");
                self.note(FindingKind::UnknownDirectory, path, what);
            }
        }
    }

    /// Names of the directories in `dir`, without those that begin with a dot.
    pub(super) fn directories(&mut self, dir: &Path) -> Vec<String> {
        let names = orphans::directories(self.fs(), dir);
        self.or_failure(FindingKind::Unreadable, dir, names).unwrap_or_default()
    }

    /// The settings of a table; `None`, with a finding, if they cannot be used.
    fn read_descriptor(&mut self, table: &TableName) -> Option<TableDescriptor> {
        let dir = self.layout.table_descriptor_dir(table);
        let is_built_in = is_built_in(table);
        let what = match descriptor_file::read(self.fs(), &dir, table) {
            Ok(Some(descriptor)) => match unfitness(table, &descriptor) {
                None => return Some(descriptor),
                Some(what) => what,
            },
            Ok(None) => format!("table {table} has no settings"),
            Err(error) if is_built_in && error.kind() == ErrorKind::Corrupt => {
                error.message().to_owned()
            }
            Err(error) => {
                self.failure(FindingKind::Descriptor, &dir, &error);
                return None;
            }
        };
        if is_built_in {
            // An open writes them again.
            self.note(FindingKind::Descriptor, &dir, what);
        } else {
            self.defect(FindingKind::Descriptor, &dir, what);
        }
        None
    }

    fn check_region(
        &mut self,
        info: &RegionInfo,
        descriptor: Option<&TableDescriptor>,
        manifest: Option<Recorded>,
        is_live: bool,
    ) {
        let dir = self.layout.region_dir(info);
        let exists = self.fs().exists(&dir).map_err(|error| Error::io("look for", &dir, error));
        let Some(exists) = self.or_failure(FindingKind::Unreadable, &dir, exists) else { return };
        if exists {
            self.check_region_info(info);
            self.check_manifest_is_there(&dir, manifest);
            self.check_region_files(&dir, Some(info), descriptor);
        } else if is_live {
            let what = format!("the directory of region {info} is not there");
            let (fs, name) = (self.fs(), info.encoded_name());
            let was_emptied = self.layout.names_in_trash(fs).map(|in_trash| {
                in_trash.contains(name) || emptying::is_in_progress(&in_trash, info)
            });
            let was_emptied = self.or_failure(FindingKind::Unreadable, &dir, was_emptied);
            if was_emptied == Some(true) {
                let what = "the region was being emptied when the process ended";
                self.note(FindingKind::LeftOver, &dir, what);
            } else if is_built_in(info.table()) && manifest.is_none() {
                self.note(FindingKind::RegionMissing, &dir, what);
            } else {
                self.defect(FindingKind::RegionMissing, &dir, what);
            }
        }
        // A parent without a directory is no longer referred to; otherwise a reference shows it.
    }

    /// Checks that a region has the manifest that hbase:meta says it has.
    fn check_manifest_is_there(&mut self, dir: &Path, named: Option<Recorded>) {
        let fs = self.fs();
        let is_lost = manifest::opened_by_hbase(fs, dir)
            .and_then(|found| manifest::is_lost(fs, dir, named, found));
        if self.or_failure(FindingKind::Unreadable, dir, is_lost) == Some(true) {
            self.defect(FindingKind::Manifest, &dir.join(MANIFEST_FILE), manifest::LOST);
        }
    }

    fn check_region_info(&mut self, info: &RegionInfo) {
        let path = self.layout.region_info_file(info);
        let content = match self.fs().read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return self.note(FindingKind::RegionInfo, &path, "is not there");
            }
            Err(error) => {
                return self.defect(FindingKind::Unreadable, &path, error.to_string());
            }
        };
        match region_info_file::decode_file(&content) {
            Some(found) if region_info_file::is_same_region(&found, info) => {}
            Some(found) => {
                let what = region_info_file::other_region(&found, info);
                self.defect(FindingKind::RegionInfo, &path, what);
            }
            // It was never synced, and an open writes it again.
            None => self.note(FindingKind::RegionInfo, &path, "it does not describe a region"),
        }
    }
}

/// Why these cannot be the settings of a table that the store needs, if they cannot.
fn unfitness(table: &TableName, descriptor: &TableDescriptor) -> Option<String> {
    let built_in = match table {
        table if table.is_meta() => meta::meta_descriptor(),
        table if is_built_in(table) => meta::namespace_descriptor(),
        _ => return None,
    };
    let is_fit = has_families_of(descriptor, &built_in);
    (!is_fit).then(|| "the settings lack a family that the store needs".to_owned())
}

/// Whether the table's settings and first region are built in.
fn is_built_in(table: &TableName) -> bool {
    table.is_meta() || *table == TableName::namespace_table()
}
