//! One store file: whether every block can be read, whether the cells belong there, and whether the
//! file's parts agree.
//!
//! The first pass continues after a defect, to report all. A file that passes is then checked as a
//! whole by [`hblite_hfile::verify`], which reports the first inconsistency.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use hblite_hfile::verify::{DefectKind, verify_reader};
use hblite_hfile::{BlockUse, HFileReader, HFileScanner};
use hblite_model::bytes::to_string_binary;
use hblite_model::{BloomType, CellRef, CellType, Error, RegionInfo, Result, counted};

use super::{Finding, FindingKind};
use crate::store::manifest::Manifest;

/// Whose cells a file must have; unknown parts are not checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) region: Option<&'a RegionInfo>,
    pub(super) family: Option<&'a [u8]>,
    /// What the region's directory must have.
    pub(super) expected: Option<&'a Manifest>,
}

/// Reads a file from its first cell to its last and returns what is wrong: blocks, index, filters,
/// the order of cells, the file info about them, and their region and family. `visit` is called
/// with each cell.
pub(super) fn verify(
    reader: &Arc<HFileReader>,
    owner: Owner<'_>,
    visit: &mut dyn FnMut(),
) -> Vec<Finding> {
    let mut findings = Findings::new(reader.path());
    let mut checks = CellChecks::new(reader, owner);
    let mut scanner = HFileScanner::new(Arc::clone(reader)).with_block_use(BlockUse::Pass);
    let mut is_at_cell = scanner.seek_first();
    while let (Ok(true), Some(cell)) = (&is_at_cell, scanner.current()) {
        checks.check(&cell, &mut findings);
        visit();
        is_at_cell = scanner.next();
    }
    match is_at_cell {
        Ok(_) => findings.look_at_whole(reader),
        Err(error) => {
            findings.error(FindingKind::StoreFile, &error);
            if let Err(last) = read_backwards(reader) {
                findings.error(FindingKind::StoreFile, &last);
            }
        }
    }
    findings.finish()
}

/// Reads from the last cell back to the last damage, if there is any.
fn read_backwards(reader: &Arc<HFileReader>) -> Result<()> {
    let mut scanner = HFileScanner::new(Arc::clone(reader)).with_block_use(BlockUse::Pass);
    let mut is_at_cell = scanner.seek_last()?;
    while is_at_cell {
        is_at_cell = scanner.prev()?;
    }
    Ok(())
}

/// What is checked for each cell, and what that needs of the previous one.
struct CellChecks<'a> {
    reader: &'a HFileReader,
    owner: Owner<'a>,
    is_first: bool,
    /// Key and sequence id of the previous cell.
    before: (Vec<u8>, u64),
}

impl<'a> CellChecks<'a> {
    fn new(reader: &'a HFileReader, owner: Owner<'a>) -> Self {
        Self { reader, owner, is_first: true, before: (Vec::new(), 0) }
    }

    fn check(&mut self, cell: &CellRef<'_>, findings: &mut Findings) {
        let before =
            (!self.is_first).then(|| CellRef::new(&self.before.0, b"", b"", self.before.1));
        if before.is_some_and(|before| self.reader.comparator().compare(&before, cell).is_gt()) {
            findings.cell(FindingKind::CellOrder, "follow greater ones", cell);
        }
        if self.owner.region.is_some_and(|region| !region.contains_row(cell.row())) {
            findings.cell(FindingKind::ForeignCell, "are outside the region's rows", cell);
        }
        if self.owner.family.is_some_and(|family| family != cell.family()) {
            findings.cell(FindingKind::ForeignCell, "are of another family", cell);
        }
        let is_new_row = before.is_none_or(|before| before.row() != cell.row());
        let is_new_column =
            is_new_row || before.is_none_or(|before| before.qualifier() != cell.qualifier());
        self.check_filters(cell, is_new_row, is_new_column, findings);
        self.is_first = false;
        self.before.0.clear();
        self.before.0.extend_from_slice(cell.key());
        self.before.1 = cell.sequence_id();
    }

    fn check_filters(
        &self,
        cell: &CellRef<'_>,
        is_new_row: bool,
        is_new_column: bool,
        findings: &mut Findings,
    ) {
        let (row, reader) = (cell.row(), self.reader);
        let mut ask = |answer: Result<bool>, problem| match answer {
            Ok(true) => {}
            Ok(false) => findings.cell(FindingKind::Bloom, problem, cell),
            Err(error) => findings.error(FindingKind::Bloom, &error),
        };
        if reader.bloom_type() == BloomType::RowCol {
            if is_new_column {
                let answer = reader.may_contain_column(row, cell.qualifier());
                ask(answer, "are denied by the filter of columns");
            }
        } else if is_new_row {
            ask(reader.may_contain_row(row), "are denied by the filter of rows");
        }
        let code = cell.type_code();
        let is_family_marker = [CellType::DeleteFamily, CellType::DeleteFamilyVersion]
            .iter()
            .any(|t| t.code() == code);
        if is_family_marker {
            ask(reader.may_contain_delete_family(row), "are denied by the filter of deletes");
        }
    }
}

/// Findings of a file: damage once per place, cells once per problem.
struct Findings<'a> {
    path: &'a Path,
    found: Vec<Finding>,
    /// Places of damage that are in `found`.
    places: BTreeSet<Option<u64>>,
    problems: Vec<Problem>,
}

/// Cells with the same problem.
struct Problem {
    kind: FindingKind,
    what: &'static str,
    count: u64,
    first_row: Vec<u8>,
}

impl<'a> Findings<'a> {
    fn new(path: &'a Path) -> Self {
        Self { path, found: Vec::new(), places: BTreeSet::new(), problems: Vec::new() }
    }

    fn error(&mut self, kind: FindingKind, error: &Error) {
        if self.places.insert(error.offset()) {
            self.found.push(Finding::of_error(kind, self.path, error));
        }
    }

    /// Checks the file as a whole, unless something was found.
    fn look_at_whole(&mut self, reader: &HFileReader) {
        if !self.found.is_empty() || !self.problems.is_empty() {
            return;
        }
        if let Err(defect) = verify_reader(reader) {
            let kind = match defect.kind() {
                DefectKind::Cells => FindingKind::CellOrder,
                DefectKind::Bloom => FindingKind::Bloom,
                _ => FindingKind::StoreFile,
            };
            self.error(kind, &defect.into());
        }
    }

    fn cell(&mut self, kind: FindingKind, what: &'static str, cell: &CellRef<'_>) {
        match self.problems.iter_mut().find(|known| known.what == what) {
            Some(known) => known.count += 1,
            None => {
                let first_row = cell.row().to_vec();
                self.problems.push(Problem { kind, what, count: 1, first_row });
            }
        }
    }

    fn finish(mut self) -> Vec<Finding> {
        for Problem { kind, what, count, first_row } in self.problems {
            let row = to_string_binary(&first_row);
            let cells = counted(count, "cell");
            let what = format!("{cells} {what}, the first in row '{row}'");
            self.found.push(Finding::new(kind, self.path, None, what));
        }
        self.found
    }
}
