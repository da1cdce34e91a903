//! hblite through its public API: one table with one family, and defaults for everything else.
//!
//! Set for this work: blocks of 16 KiB, since rows are read one by one. Scans visit cells where
//! they lie, as those of the peers do; `hblite-rows` collects each row first.

use std::path::Path;

use hblite::filter::{Comparator, CompareOperator, Filter};
use hblite::{
    ColumnFamilyDescriptor, Compression, Connection, Delete, Get, Options, Put, Scan, Table,
    TableDescriptor, TableName, TimeRange,
};

use super::{Direction, Durability, Engine, Opening, Part, Result, Span, Store, Version};
use crate::cells::{CellKind, FAMILY, Qualifier, SampleCell, Tally};
use crate::rows::Row;

const TABLE: &str = "cells";
const BLOCK_SIZE_BYTES: u32 = 16 << 10;

/// hblite in one of its set-ups.
pub(super) struct Hblite {
    /// The name in reports.
    pub(super) name: &'static str,
    /// Whether blocks are compressed by LZ4.
    pub(super) is_compressed: bool,
    /// Whether scans collect rows.
    pub(super) scans_rows: bool,
}

impl Engine for Hblite {
    fn name(&self) -> &'static str {
        self.name
    }

    fn open(&self, dir: &Path, opening: Opening) -> Result<Box<dyn Store>> {
        let options = Options::new()
            .with_memstore_flush_size_bytes(opening.write_buffer_bytes() as u64)
            .with_memstore_total_size_bytes(4 * opening.write_buffer_bytes() as u64);
        let connection = options.open(dir)?;
        let name: TableName = TABLE.parse()?;
        let admin = connection.admin();
        if !admin.table_exists(&name)? {
            let family = ColumnFamilyDescriptor::new(FAMILY)
                .with_block_size(BLOCK_SIZE_BYTES)
                .with_versions(opening.versions);
            let family = match self.is_compressed {
                true => family.with_compression(Compression::Lz4),
                false => family,
            };
            admin.create_table(&TableDescriptor::new(name.clone()).with_family(family))?;
        }
        let durability = match opening.durability {
            Durability::Process => hblite::Durability::SyncWal,
            Durability::Machine => hblite::Durability::FsyncWal,
        };
        let table = connection.table(&name)?;
        let scans_rows = self.scans_rows;
        Ok(Box::new(OpenHblite { connection, name, table, durability, scans_rows }))
    }
}

struct OpenHblite {
    connection: Connection,
    name: TableName,
    table: Table,
    durability: hblite::Durability,
    scans_rows: bool,
}

impl OpenHblite {
    fn put_of(&self, cell: &SampleCell) -> Put {
        Put::new(cell.row)
            .add_at(FAMILY, cell.qualifier, cell.timestamp, cell.value())
            .with_durability(self.durability)
    }

    fn delete_of(&self, cell: &SampleCell) -> Delete {
        Delete::new(cell.row)
            .columns_at(FAMILY, cell.qualifier, cell.timestamp)
            .with_durability(self.durability)
    }

    fn get_cells(&self, get: &Get, tally: &mut Tally) -> Result<()> {
        for cell in self.table.get(get)?.cells() {
            tally.add(cell.row(), cell.qualifier(), cell.timestamp(), cell.value());
        }
        Ok(())
    }

    fn scan(&self, scan: &Scan, tally: &mut Tally) -> Result<()> {
        let mut scanner = self.table.scan(scan)?;
        if !self.scans_rows {
            return Ok(scanner.for_each_cell(|cell| {
                tally.add(cell.row(), cell.qualifier(), cell.timestamp(), cell.value());
            })?);
        }
        while let Some(row) = scanner.next_row()? {
            for cell in row.cells() {
                tally.add(cell.row(), cell.qualifier(), cell.timestamp(), cell.value());
            }
        }
        Ok(())
    }
}

impl Store for OpenHblite {
    fn put(&self, cells: &[SampleCell]) -> Result<()> {
        if cells.iter().any(|cell| cell.kind == CellKind::Marker) {
            let deletes: Vec<Delete> = cells.iter().map(|cell| self.delete_of(cell)).collect();
            return Ok(self.table.delete_all(&deletes)?);
        }
        if let [cell] = cells {
            return Ok(self.table.put(&self.put_of(cell))?);
        }
        let puts: Vec<Put> = cells.iter().map(|cell| self.put_of(cell)).collect();
        Ok(self.table.put_all(&puts)?)
    }

    fn get(&self, row: &Row, qualifier: &Qualifier, tally: &mut Tally) -> Result<()> {
        self.get_cells(&Get::new(row).with_column(FAMILY, qualifier), tally)
    }

    fn get_version(&self, version: Version<'_>, tally: &mut Tally) -> Result<()> {
        let get = Get::new(version.row).with_column(FAMILY, version.qualifier);
        self.get_cells(&get.with_time_range(TimeRange::at(version.timestamp)?), tally)
    }

    fn read(&self, span: Span<'_>, tally: &mut Tally) -> Result<()> {
        let mut scan = Scan::new().with_reversed(span.direction == Direction::Reverse);
        match span.part {
            Part::All => {}
            Part::From(row) => scan = scan.with_start_row(row),
            Part::Row(row) => return self.get_cells(&Get::new(row), tally),
            Part::Column(row, qualifier) => {
                let get = Get::new(row).with_column(FAMILY, qualifier);
                let versions = u32::try_from(span.versions)?;
                return self.get_cells(&get.with_versions(versions), tally);
            }
        }
        if let Ok(rows) = u32::try_from(span.rows) {
            scan = scan.with_limit(rows);
        }
        if let Some(value_min) = span.value_min {
            let least = Comparator::binary(value_min);
            scan = scan.with_filter(Filter::value(CompareOperator::GreaterOrEqual, least));
        }
        self.scan(&scan, tally)
    }

    fn secure(&self) -> Result<()> {
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        let admin = self.connection.admin();
        admin.flush_table(&self.name)?;
        // What the policy would now do in the background: after the flush there may be enough
        // files.
        Ok(admin.compact_table(&self.name)?)
    }

    fn settle(&self) -> Result<()> {
        self.flush()?;
        Ok(self.connection.admin().major_compact_table(&self.name)?)
    }

    fn drop_markers(&self) -> Result<()> {
        self.settle()
    }
}
