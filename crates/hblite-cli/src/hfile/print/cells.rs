//! Iterates over the cells: prints, checks, counts.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use hblite_hfile::{BlockUse, HFileReader, HFileScanner};
use hblite_model::cell::key;
use hblite_model::{Cell, CellRef};

use super::PrintArguments;
use super::statistics::FileStatistics;
use crate::hfile::Failure;
use crate::hfile::text::{cell_text, value_text};

/// What is known about the cells so far.
pub(super) struct CellPrinter<'a> {
    arguments: &'a PrintArguments,
    path: &'a Path,
    pub(super) statistics: FileStatistics,
    /// Cells read.
    pub(super) count: u64,
    /// Whether the checks found nothing.
    pub(super) is_clean: bool,
    previous: Option<Cell>,
}

impl<'a> CellPrinter<'a> {
    pub(super) fn new(arguments: &'a PrintArguments, path: &'a Path) -> Self {
        let statistics = FileStatistics::default();
        Self { arguments, path, statistics, count: 0, is_clean: true, previous: None }
    }

    /// Reads the whole file, or one row of it.
    pub(super) fn print(
        &mut self,
        out: &mut dyn Write,
        reader: &Arc<HFileReader>,
        row: Option<&[u8]>,
    ) -> Result<(), Failure> {
        let mut scanner = HFileScanner::new(reader.clone()).with_block_use(BlockUse::Pass);
        let mut more = match row {
            Some(row) if row.len() > key::ROW_LENGTH_MAX => {
                let length = row.len();
                return Err(Failure::Input(format!("a row cannot have {length} bytes")));
            }
            Some(row) => scanner.seek(&key::first_on_row(row))?,
            None => scanner.seek_first()?,
        };
        while more {
            let Some(cell) = scanner.current() else { break };
            if row.is_some_and(|row| row != cell.row()) {
                break;
            }
            self.print_cell(out, &cell, reader)?;
            more = scanner.next()?;
        }
        Ok(())
    }

    fn print_cell(
        &mut self,
        out: &mut dyn Write,
        cell: &CellRef<'_>,
        reader: &HFileReader,
    ) -> Result<(), Failure> {
        let arguments = self.arguments;
        if arguments.stats {
            self.statistics.add(cell);
        }
        if arguments.printkv {
            writeln!(out, "K: {} V: {}", cell_text(cell), value_text(cell))?;
        } else if arguments.printkey {
            writeln!(out, "K: {}", cell_text(cell))?;
        }
        self.count += 1;
        if arguments.checkrow {
            self.check_order(out, cell, reader)?;
        }
        if arguments.checkfamily {
            self.check_family(out, cell)?;
        }
        Ok(())
    }

    fn check_order(
        &mut self,
        out: &mut dyn Write,
        cell: &CellRef<'_>,
        reader: &HFileReader,
    ) -> Result<(), Failure> {
        if let Some(previous) = &self.previous {
            let previous = previous.as_ref();
            if reader.comparator().compare_keys(previous.key(), cell.key()).is_gt() {
                self.is_clean = false;
                writeln!(out, "WARNING, cells are out of order")?;
                writeln!(out, "\tfilename -> {}", self.path.display())?;
                writeln!(out, "\tprevious -> {}", cell_text(&previous))?;
                writeln!(out, "\tcurrent  -> {}", cell_text(cell))?;
            }
        }
        self.previous = Some(cell.to_cell());
        Ok(())
    }

    fn check_family(&mut self, out: &mut dyn Write, cell: &CellRef<'_>) -> Result<(), Failure> {
        let family = self.path.parent().and_then(Path::file_name).unwrap_or_default();
        if family.as_encoded_bytes() != cell.family() {
            self.is_clean = false;
            writeln!(out, "WARNING, cell of another family than the file")?;
            writeln!(out, "\tfilename -> {}", self.path.display())?;
            writeln!(out, "\tkeyvalue -> {}", cell_text(cell))?;
        }
        Ok(())
    }
}
