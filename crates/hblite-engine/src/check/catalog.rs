//! hbase:meta: its rows as an open would see them, and the directories that they stand for.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use hblite_model::{
    CellBuffer, CellComparator, Error, RegionInfo, Result, RowResult, Scan, TableName, TableState,
};

use super::log::MetaEntry;
use super::{FindingKind, Inspection};
use crate::catalog::load::{TableRows, group_rows, namespace_row};
use crate::catalog::meta::{self, meta_descriptor};
use crate::catalog::{create, orphans};
use crate::memstore::{ChunkPool, MemStore};
use crate::store::key_value_scanner::SourceScanner;
use crate::store::matcher::ScanInfo;
use crate::store::replaced_files;
use crate::store::scanner::{RowBudget, StoreScanner};
use crate::store::store_file::{StoreFile, is_store_file_name, split_reference};

impl Inspection<'_> {
    /// Checks the log, hbase:meta and everything that it names.
    pub(super) fn check_catalog(&mut self) {
        let meta = TableName::meta();
        self.check_table(&meta, &[create::new_row(RegionInfo::meta(), 0)]);
        let meta_dir = self.layout.table_dir(&meta);
        let entries = self.check_log();
        match self.read_meta(&entries) {
            Ok(rows) => {
                let tables = self.parse_rows(&rows);
                for (table, (_, rows)) in &tables {
                    self.check_table(table, rows);
                }
                self.check_directories(&tables);
            }
            Err(error) => {
                let is_told = |path: &Path| path.starts_with(&meta_dir);
                if !self.report.defects.iter().any(|defect| is_told(&defect.path)) {
                    self.failure(FindingKind::Catalog, &meta_dir, &error);
                }
                let what = "hbase:meta cannot be read: nothing was compared with it";
                self.note(FindingKind::NotChecked, &meta_dir, what);
                for table in self.tables_on_disk() {
                    self.check_files_of(&table);
                }
            }
        }
    }

    /// The rows of hbase:meta: those of its files, and what the log has beyond them.
    fn read_meta(&self, entries: &[MetaEntry]) -> Result<Vec<RowResult>> {
        let mut rows = Vec::new();
        for family in meta_descriptor().families() {
            let is_wanted = [meta::INFO, meta::TABLE].iter().any(|n| n.as_bytes() == family.name());
            if is_wanted {
                let info = ScanInfo::new(family, CellComparator::Meta);
                self.read_meta_family(&info, entries, &mut rows)?;
            }
        }
        Ok(rows)
    }

    fn read_meta_family(
        &self,
        info: &ScanInfo,
        entries: &[MetaEntry],
        rows: &mut Vec<RowResult>,
    ) -> Result<()> {
        let files = self.open_meta_files(&info.family)?;
        let flushed = files.iter().map(StoreFile::sequence_id_max).max().unwrap_or(0);
        let memstore = MemStore::new(CellComparator::Meta, b"", Arc::new(ChunkPool::new(0)));
        for entry in entries.iter().filter(|entry| entry.sequence_id > flushed) {
            for cell in entry.cells.iter().filter(|cell| cell.family() == info.family) {
                memstore.add(std::iter::once(cell.with_sequence_id(entry.sequence_id)));
            }
        }
        let memory = memstore.scanners(u64::MAX).into_iter().map(SourceScanner::from);
        let files = files.iter().rev().map(|file| SourceScanner::from(file.scanner(u64::MAX)));
        let now = self.env.clock.now_millis();
        let sources = memory.chain(files).collect();
        let mut scanner = StoreScanner::new(sources, info, &Scan::new(), now)?;
        while scanner.is_at_cell() {
            let mut cells = CellBuffer::new();
            scanner.next_row(&mut None, &mut { RowBudget::UNLIMITED }, &mut cells)?;
            if !cells.is_empty() {
                rows.push(RowResult::new(cells));
            }
        }
        Ok(())
    }

    /// The files of a family of hbase:meta, oldest first, without those that were replaced.
    fn open_meta_files(&self, family: &[u8]) -> Result<Vec<StoreFile>> {
        let dir = self.layout.family_dir(&RegionInfo::meta(), family);
        let mut files = Vec::new();
        for entry in orphans::list(self.fs(), &dir)? {
            let path = dir.join(&entry.name);
            let is_file = !entry.is_dir && is_store_file_name(&entry.name);
            if is_file && split_reference(&path).is_none() {
                files.push(StoreFile::open_with(self.fs(), &self.layout, None, &path)?);
            }
        }
        let replaced: HashSet<String> = files.iter().flat_map(replaced_files).collect();
        files.retain(|file| !replaced.contains(file.name()));
        files.sort_by_key(StoreFile::sequence_id_max);
        Ok(files)
    }

    fn parse_rows(&mut self, rows: &[RowResult]) -> TableRows {
        let meta_dir = self.layout.table_dir(&TableName::meta());
        let mut parsed = Vec::new();
        for row in rows {
            match meta::parse(row) {
                Ok(row) => parsed.push(row),
                Err(error) => self.defect(FindingKind::Catalog, &meta_dir, error.message()),
            }
        }
        let mut tables = group_rows(parsed);
        // A fresh store keeps this row in memory only.
        let (_, rows) = tables
            .entry(TableName::namespace_table())
            .or_insert_with(|| (TableState::Enabled, Vec::new()));
        if rows.is_empty() {
            rows.push(namespace_row());
        }
        tables
    }

    /// Tells directories of tables that hbase:meta does not have.
    fn check_directories(&mut self, tables: &TableRows) {
        let data_dir = self.layout.data_dir();
        for namespace in self.directories(&data_dir) {
            let dir = data_dir.join(&namespace);
            for qualifier in self.directories(&dir) {
                let table = TableName::new(&namespace, &qualifier).ok();
                let is_known =
                    table.is_some_and(|table| table.is_meta() || tables.contains_key(&table));
                if !is_known {
                    let path = dir.join(&qualifier);
                    let has_data = orphans::table_has_data(self.fs(), &path);
                    self.unknown_directory(&path, has_data, "table");
                }
            }
        }
    }

    /// Every table that has a directory, hbase:meta left out.
    fn tables_on_disk(&mut self) -> Vec<TableName> {
        let data_dir = self.layout.data_dir();
        let mut tables = Vec::new();
        for namespace in self.directories(&data_dir) {
            for qualifier in self.directories(&data_dir.join(&namespace)) {
                let table: std::result::Result<TableName, Error> =
                    TableName::new(&namespace, &qualifier);
                tables.extend(table.ok().filter(|table| !table.is_meta()));
            }
        }
        tables
    }
}
