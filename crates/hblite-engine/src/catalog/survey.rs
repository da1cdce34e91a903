//! Reads hbase:meta from its files and the log, without opening the store.
//!
//! Nothing is changed. An open reads it before it changes anything; a check reads it too.
//!
//! What hbase:meta *knew* is read from every cell, deleted or not: a region that was split, merged
//! or dropped is known until a major compaction of hbase:meta drops its delete marker. So the
//! directory of a removed region can be distinguished from one that hbase:meta never had.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use hblite_env::Env;
use hblite_hfile::file_info::{MAJOR_COMPACTION, is_true};
use hblite_model::{
    CellBuffer, CellComparator, CellRef, ErrorKind, META_ENCODED_NAME, RegionInfo, Result,
    RowResult, Scan, TableName,
};

use super::meta::{self, MetaRow, meta_descriptor};
use crate::files::list;
use crate::layout::Layout;
use crate::memstore::{ChunkPool, MemStore};
use crate::store::key_value_scanner::{KeyValueScanner as _, SourceScanner};
use crate::store::matcher::ScanInfo;
use crate::store::replaced_files;
use crate::store::store_file::{StoreFile, is_store_file_name, split_reference};
use crate::store::store_scanner::{RowBudget, StoreScanner};
use crate::wal::WalEntry;

/// An entry of the log for hbase:meta.
pub(crate) struct MetaEntry {
    sequence_id: u64,
    cells: CellBuffer,
}

impl MetaEntry {
    /// A copy of the entry, if it is for hbase:meta.
    pub(crate) fn of(entry: &WalEntry<'_>) -> Option<Self> {
        (entry.region == META_ENCODED_NAME).then(|| {
            let mut cells = CellBuffer::new();
            entry.cells().for_each(|cell| cells.push(&cell));
            Self { sequence_id: entry.sequence_id, cells }
        })
    }
}

/// What hbase:meta says, and what it once knew.
#[derive(Default)]
pub(crate) struct CatalogSurvey {
    /// Its rows, as an open would see them.
    pub(crate) rows: Vec<RowResult>,
    /// Its files that a salvage cannot use, each with what is wrong.
    pub(crate) unreadable: Vec<(PathBuf, String)>,
    /// A family that has no store file, if there is one.
    pub(crate) family_without_files: Option<&'static str>,
    /// Whether a major compaction may have dropped what hbase:meta knew. If so, an unknown region
    /// may be one that was removed.
    pub(crate) has_forgotten: bool,
    /// Every row that has a cell, even a deleted one, and every region that was merged.
    known: HashSet<Vec<u8>>,
}

impl CatalogSurvey {
    /// Reads hbase:meta from its files and from its entries in the log. With `salvage`, damaged
    /// files are left out and listed.
    ///
    /// # Errors
    /// `Io`; without `salvage`, `CorruptHFile`.
    pub(crate) fn read(
        env: &Env,
        layout: &Layout,
        entries: &[MetaEntry],
        salvage: bool,
    ) -> Result<Self> {
        let mut survey = Self::default();
        for family in meta_descriptor().families() {
            let mut wanted = [meta::INFO, meta::TABLE].into_iter();
            if let Some(name) = wanted.find(|name| name.as_bytes() == family.name()) {
                let info = ScanInfo::new(family, CellComparator::Meta).with_own_columns();
                let files = survey.open_files(env, layout, &info.family, salvage)?;
                if survey.read_family(env, files, &info, entries)? == 0 {
                    survey.family_without_files.get_or_insert(name);
                }
            }
        }
        Ok(survey)
    }

    /// Whether hbase:meta has, or had, a region with this encoded name.
    pub(crate) fn knew_region(&self, encoded_name: &str) -> bool {
        self.known.contains(encoded_name.as_bytes())
    }

    /// Whether hbase:meta has, or had, a table of this name.
    pub(crate) fn knew_table(&self, name: &str) -> bool {
        self.known.contains(name.as_bytes())
    }

    /// Whether hbase:meta names a table other than the catalog's own.
    pub(super) fn names_tables(&self) -> bool {
        let own = [TableName::meta(), TableName::namespace_table()];
        self.rows.iter().any(|row| match meta::parse(row) {
            Ok(MetaRow::Region(row)) => !own.contains(row.info.table()),
            Ok(MetaRow::Table(table, _)) => !own.contains(&table),
            Ok(MetaRow::Other) => false,
            // It names something; an open will show what.
            Err(_) => true,
        })
    }

    /// Reads a family from its files and log entries; returns the number of files.
    fn read_family(
        &mut self,
        env: &Env,
        files: Vec<StoreFile>,
        info: &ScanInfo,
        entries: &[MetaEntry],
    ) -> Result<usize> {
        let file_count = files.len();
        let flushed = files.iter().map(StoreFile::sequence_id_max).max().unwrap_or(0);
        let memstore = MemStore::new(CellComparator::Meta, b"", Arc::new(ChunkPool::new(0)));
        for entry in entries.iter().filter(|entry| entry.sequence_id > flushed) {
            for cell in entry.cells.iter().filter(|cell| cell.family() == info.family) {
                self.note(&cell);
                memstore.add(std::iter::once(cell.with_sequence_id(entry.sequence_id)));
            }
        }
        for file in &files {
            self.has_forgotten |= is_true(file.reader().file_info(MAJOR_COMPACTION));
            for_each_cell(file, &mut |cell| self.note(cell))?;
        }
        let memory = memstore.scanners(u64::MAX).into_iter().map(SourceScanner::from);
        let files = files.iter().rev().map(|file| SourceScanner::from(file.scanner(u64::MAX)));
        let sources = memory.chain(files).collect();
        let now = env.clock.now_millis();
        let mut scanner = StoreScanner::new(sources, info, &Scan::new(), now)?;
        while scanner.is_at_cell() {
            let mut cells = CellBuffer::new();
            scanner.next_row(&mut None, &mut { RowBudget::UNLIMITED }, &mut cells)?;
            if !cells.is_empty() {
                self.rows.push(RowResult::new(cells));
            }
        }
        Ok(file_count)
    }

    /// Records what a cell is about: a table by its name, a region by its encoded name.
    fn note(&mut self, cell: &CellRef<'_>) {
        if let Some(parent) = meta::merge_parent(cell) {
            self.known.insert(parent.encoded_name().as_bytes().to_vec());
        }
        let name = meta::short_name(cell.row());
        if !self.known.contains(name) {
            self.known.insert(name.to_vec());
        }
    }
}

/// Reads all cells of a file.
fn for_each_cell(file: &StoreFile, visit: &mut dyn FnMut(&CellRef<'_>)) -> Result<()> {
    let mut scanner = file.scanner(u64::MAX);
    let mut is_at_cell = scanner.seek_first()?;
    while is_at_cell {
        if let Some(cell) = scanner.current() {
            visit(&cell);
        }
        is_at_cell = scanner.next()?;
    }
    Ok(())
}

impl CatalogSurvey {
    /// The files of a family of hbase:meta, oldest first, without those that were replaced.
    fn open_files(
        &mut self,
        env: &Env,
        layout: &Layout,
        family: &[u8],
        salvage: bool,
    ) -> Result<Vec<StoreFile>> {
        let dir = layout.family_dir(&RegionInfo::meta(), family);
        let mut files = Vec::new();
        for entry in list(env.fs.as_ref(), &dir)? {
            let path = dir.join(&entry.name);
            let is_file = !entry.is_dir && is_store_file_name(&entry.name);
            if !is_file || split_reference(&path).is_some() {
                continue;
            }
            let opened = StoreFile::open_with(&env.fs, layout, None, &path);
            let read = opened.and_then(|file| match salvage {
                true => for_each_cell(&file, &mut |_| {}).map(|()| file),
                false => Ok(file),
            });
            match read {
                Err(error) if salvage && error.kind() == ErrorKind::Corrupt => {
                    self.unreadable.push((path, error.message().to_owned()));
                }
                read => files.push(read?),
            }
        }
        let replaced: HashSet<String> = files.iter().flat_map(replaced_files).collect();
        files.retain(|file| !replaced.contains(file.name()));
        files.sort_by_key(StoreFile::sequence_id_max);
        Ok(files)
    }
}
