//! hbase:meta: its rows as an open would see them, and the directories that they describe.

use std::path::Path;

use hblite_model::{Error, RegionInfo, RowResult, TableName, TableState};

use super::{FindingKind, Inspection};
use crate::catalog::survey::CatalogSurvey;
use crate::catalog::table_rows::{TableRows, group_rows, namespace_row};
use crate::catalog::{loss, meta, orphans};
use crate::wal::ReplayReport;

impl Inspection<'_> {
    /// Checks the log, hbase:meta and everything that it names.
    pub(super) fn check_catalog(&mut self) {
        let meta = TableName::meta();
        self.check_table(&meta, &[meta::RegionRow::new(RegionInfo::meta(), 0)]);
        let meta_dir = self.layout.table_dir(&meta);
        let (log, entries) = self.check_log();
        match CatalogSurvey::read(self.env, &self.layout, &entries, false) {
            Ok(survey) => {
                let tables = self.parse_rows(&survey.rows);
                self.check_losses(&survey, &log);
                self.survey = survey;
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

    /// Checks that hbase:meta has not lost rows, as an open does.
    fn check_losses(&mut self, survey: &CatalogSurvey, log: &ReplayReport) {
        let meta_dir = self.layout.table_dir(&TableName::meta());
        let losses = loss::find(self.fs(), &self.layout, self.marker, survey, log);
        for loss in self.or_failure(FindingKind::Unreadable, &meta_dir, losses).unwrap_or_default()
        {
            self.defect(FindingKind::Catalog, &meta_dir, loss);
        }
    }

    fn parse_rows(&mut self, rows: &[RowResult]) -> TableRows {
        let meta_dir = self.layout.table_dir(&TableName::meta());
        let mut parsed = Vec::new();
        let mut namespace_row = namespace_row();
        let namespace_key = namespace_row.info.region_name();
        for row in rows {
            if row.row() == namespace_key {
                namespace_row.manifest = meta::manifest_of(row);
            }
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
            rows.push(namespace_row);
        }
        tables
    }

    /// Reports directories of tables that hbase:meta does not have.
    fn check_directories(&mut self, tables: &TableRows) {
        let data_dir = self.layout.data_dir();
        for namespace in self.directories(&data_dir) {
            let dir = data_dir.join(&namespace);
            for qualifier in self.directories(&dir) {
                let table = TableName::new(&namespace, &qualifier).ok();
                let is_known = table
                    .as_ref()
                    .is_some_and(|table| table.is_meta() || tables.contains_key(table));
                if !is_known {
                    let path = dir.join(&qualifier);
                    let name = table.map(|table| table.to_string()).unwrap_or_default();
                    let was_known = self.survey.knew_table(&name);
                    let has_data = orphans::table_has_data(self.fs(), &path);
                    self.unknown_directory(&path, has_data, "table", was_known);
                }
            }
        }
    }

    /// Every table that has a directory, except hbase:meta.
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
