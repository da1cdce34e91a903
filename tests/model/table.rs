//! A table: regions, the walks of gets and scans over them, and their splits and merges.

use hblite::Exception;
use hblite_reference::cell::{Family, StoredCell};
use hblite_reference::filter::FilterRun;
use hblite_reference::read::Read;
use hblite_reference::reader::FamilyRead;

use super::answer::{AnsweredCell, AnsweredRow, Failure};
use super::store::Store;

/// The rows from `start` to before `end`; empty ends are open.
#[derive(Debug, Clone)]
pub(crate) struct Region {
    pub(crate) start: Vec<u8>,
    pub(crate) end: Vec<u8>,
    /// In the order of the families.
    pub(crate) stores: Vec<Store>,
    /// As the engine calls it, for messages.
    pub(crate) name: String,
    pub(crate) encoded_name: String,
}

impl Region {
    pub(crate) fn contains(&self, row: &[u8]) -> bool {
        row >= self.start.as_slice() && (self.end.is_empty() || row < self.end.as_slice())
    }

    pub(crate) fn has_references(&self) -> bool {
        self.stores.iter().any(Store::has_references)
    }

    fn each_store(&mut self, work: impl FnMut(&mut Store)) {
        self.stores.iter_mut().for_each(work);
    }
}

/// Regions in order.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) regions: Vec<Region>,
    /// The id of the last write.
    pub(crate) sequence_id: u64,
    /// As the engine prints its settings, for messages.
    pub(crate) description: String,
}

type RowCells = (Vec<u8>, Vec<AnsweredCell>);

/// Reading.
impl Table {
    pub(crate) fn new(families: &[Family]) -> Self {
        let region = Region {
            start: Vec::new(),
            end: Vec::new(),
            stores: families.iter().cloned().map(Store::new).collect(),
            name: String::new(),
            encoded_name: String::new(),
        };
        Self { regions: vec![region], sequence_id: 0, description: String::new() }
    }

    pub(crate) fn region_of(&self, row: &[u8]) -> &Region {
        let found = self.regions.iter().find(|region| region.contains(row));
        found.expect("regions cover every row")
    }

    pub(crate) fn check_family(&self, region: &Region, family: &[u8]) -> Result<(), Failure> {
        if region.stores.iter().any(|store| store.family.name == family) {
            return Ok(());
        }
        let message = format!(
            "Column family {} does not exist in region {} in table {}",
            String::from_utf8_lossy(family),
            region.name,
            self.description
        );
        Err(Failure::new(Exception::NoSuchColumnFamily, message))
    }

    pub(crate) fn get(&self, read: &Read, now: i64) -> Result<Vec<AnsweredCell>, Failure> {
        if read.start.is_empty() {
            return Err(Failure::new(Exception::IllegalArgument, "Row length is 0"));
        }
        if read.versions <= 0 {
            return Err(Failure::new(Exception::Io, "versions must be positive"));
        }
        let rows = self.scan_region(self.region_of(&read.start), read, now)?;
        Ok(rows.into_iter().next().map(|(_, cells)| cells).unwrap_or_default())
    }

    pub(crate) fn scan(&self, read: &Read, now: i64) -> Result<Vec<AnsweredRow>, Failure> {
        let judges_rows = read.filter.as_ref().is_some_and(|filter| filter.judges_rows());
        if read.batch > 0 && judges_rows {
            let message = "Cannot set batch on a scan using a filter that returns true for \
                           filter.hasFilterRow";
            return Err(Failure::new(Exception::IncompatibleFilter, message));
        }
        let mut rows: Vec<RowCells> = Vec::new();
        for region in self.regions_of(read) {
            rows.extend(self.scan_region(region, read, now)?);
            if read.limit > 0 && rows.len() >= read.limit as usize {
                break;
            }
        }
        if read.limit > 0 {
            rows.truncate(read.limit as usize);
        }
        Ok(rows.into_iter().flat_map(|row| pieces(row, read.batch)).collect())
    }

    /// The regions from the one with the first row that may be wanted on: in reverse without the
    /// start row, the one with the rows before it, as in HBase's client. Those after the stop row
    /// have no wanted row.
    fn regions_of(&self, read: &Read) -> Vec<&Region> {
        let mut regions: Vec<&Region> = self.regions.iter().collect();
        if read.is_reversed {
            regions.reverse();
        }
        let starts_below = read.is_reversed && !read.is_start_inclusive;
        let is_before_start = |region: &&Region| match read.start.is_empty() {
            true => false,
            false if starts_below => region.start >= read.start,
            false => !region.contains(&read.start),
        };
        regions.into_iter().skip_while(is_before_start).collect()
    }

    fn scan_region(
        &self,
        region: &Region,
        read: &Read,
        now: i64,
    ) -> Result<Vec<RowCells>, Failure> {
        for (family, _) in &read.columns {
            self.check_family(region, family)?;
        }
        let mut needed = Vec::new();
        let mut on_demand = Vec::new();
        for store in &region.stores {
            let Some(reader) = FamilyRead::new(read, &store.family, now) else { continue };
            if read.is_raw && matches!(read.columns_of(&store.family.name), Some(Some(_))) {
                let message = "Cannot specify any column for a raw scan";
                return Err(Failure::new(Exception::DoNotRetryIo, message));
            }
            let name = &store.family.name;
            let is_needed = read.filter.as_ref().is_none_or(|filter| filter.needs_family(name));
            let list = if is_needed || !read.is_on_demand { &mut needed } else { &mut on_demand };
            list.push((store, reader));
        }
        if read.is_reversed && !on_demand.is_empty() {
            let message = "Reverse scan with loading CFs on demand is not supported";
            return Err(Failure::new(Exception::DoNotRetryIo, message));
        }
        let mut filter = read.filter.as_ref().map(FilterRun::new);
        let mut rows = Vec::new();
        for row in rows_of(needed.iter().map(|(store, _)| *store), read) {
            if filter.as_ref().is_some_and(FilterRun::is_over) {
                break;
            }
            if filter.as_mut().is_some_and(|filter| !filter.begin_row(&row)) {
                continue;
            }
            let mut cells = row_cells(&needed, &row, &mut filter);
            if cells.is_empty() || filter.as_mut().is_some_and(FilterRun::rejects_row) {
                continue;
            }
            cells.extend(row_cells(&on_demand, &row, &mut filter));
            // By families, whichever way they were read.
            cells.sort_by(|left, right| left.family.cmp(&right.family));
            rows.push((row, cells));
        }
        Ok(rows)
    }
}

/// The rows with stored cells that a scan wants, in its order.
fn rows_of<'s>(stores: impl Iterator<Item = &'s Store>, read: &Read) -> Vec<Vec<u8>> {
    let mut rows: Vec<Vec<u8>> = Vec::new();
    for store in stores {
        rows.extend(store.rows().cloned());
    }
    rows.sort();
    rows.dedup();
    rows.retain(|row| read.wants_row(row));
    if read.is_reversed {
        rows.reverse();
    }
    rows
}

fn row_cells(
    stores: &[(&Store, FamilyRead<'_>)],
    row: &[u8],
    filter: &mut Option<FilterRun<'_>>,
) -> Vec<AnsweredCell> {
    let mut cells = Vec::new();
    for (store, reader) in stores {
        let found = reader.row(&store.row(row, reader.range()), filter);
        cells.extend(found.into_iter().map(|cell| answered(&store.family.name, cell)));
    }
    cells
}

pub(crate) fn answered(family: &[u8], cell: StoredCell) -> AnsweredCell {
    AnsweredCell {
        family: family.to_vec(),
        qualifier: cell.qualifier,
        timestamp: cell.timestamp,
        cell_type: Some(cell.cell_type),
        value: cell.value,
    }
}

/// A row under a batch limit: every piece but the last indicates that more follow.
fn pieces((row, cells): RowCells, batch: i32) -> Vec<AnsweredRow> {
    let size = if batch > 0 { batch as usize } else { usize::MAX };
    let mut pieces: Vec<AnsweredRow> = cells
        .chunks(size.min(cells.len()))
        .map(|piece| AnsweredRow { row: row.clone(), cells: piece.to_vec(), has_more: true })
        .collect();
    if let Some(last) = pieces.last_mut() {
        last.has_more = false;
    }
    pieces
}

/// Changing files and regions.
impl Table {
    pub(crate) fn flush(&mut self, now: i64) {
        for region in &mut self.regions {
            region.each_store(|store| store.flush(now));
        }
    }

    pub(crate) fn compact(&mut self, is_major: bool, now: i64) {
        for region in &mut self.regions {
            match is_major {
                true => region.each_store(|store| store.compact_major(now)),
                false => region.each_store(|store| store.compact_minor(now)),
            }
        }
    }

    /// One minor compaction of each store; false if none has any.
    pub(crate) fn compact_once(&mut self, now: i64) -> bool {
        let mut has_compacted = false;
        for region in &mut self.regions {
            region.each_store(|store| has_compacted |= store.compact_once(now));
        }
        has_compacted
    }

    pub(crate) fn split(&mut self, row: &[u8], now: i64) -> Result<(), Failure> {
        let place = self.regions.iter().position(|region| region.contains(row)).unwrap_or(0);
        let parent = &mut self.regions[place];
        if parent.start == row {
            let message = "should not give a splitkey which equals to startkey!";
            return Err(Failure::new(Exception::Io, message));
        }
        if parent.has_references() {
            let message = format!("{} NOT splittable", parent.encoded_name);
            return Err(Failure::new(Exception::DoNotRetryIo, message));
        }
        parent.each_store(|store| store.flush(now));
        let part = |start: &[u8], end: &[u8]| Region {
            start: start.to_vec(),
            end: end.to_vec(),
            stores: parent.stores.iter().map(|store| store.part(start, end)).collect(),
            name: String::new(),
            encoded_name: String::new(),
        };
        let daughters = [part(&parent.start, row), part(row, &parent.end)];
        self.regions.splice(place..=place, daughters);
        Ok(())
    }

    pub(crate) fn merge(&mut self, first: usize, now: i64) -> Result<(), Failure> {
        let pair = &mut self.regions[first..first + 2];
        if let Some(parent) = pair.iter().find(|region| region.has_references()) {
            let message = format!(
                "Skip merging [{}, {}], because a parent, {}, is not mergeable",
                pair[0].encoded_name, pair[1].encoded_name, parent.encoded_name
            );
            return Err(Failure::new(Exception::MergeRegion, message));
        }
        for region in pair.iter_mut() {
            region.each_store(|store| store.flush(now));
        }
        let both = pair[0].stores.iter().zip(&pair[1].stores);
        let merged = Region {
            start: pair[0].start.clone(),
            end: pair[1].end.clone(),
            stores: both.map(|(one, other)| one.merged_with(other)).collect(),
            name: String::new(),
            encoded_name: String::new(),
        };
        self.regions.splice(first..first + 2, [merged]);
        Ok(())
    }

    /// New settings close the regions and open them again.
    pub(crate) fn alter(&mut self, family: &[u8], versions: i32, now: i64) {
        self.flush(now);
        for store in self.regions.iter_mut().flat_map(|region| &mut region.stores) {
            if store.family.name == family {
                store.family.versions = versions;
            }
        }
    }
}
