//! What a read asks for, and the same as a get or scan of the data model.

use hblite_model::{Get, Scan, TimeRange, row_bound};

use crate::filter::FilterSpec;

/// Settings that a read shares with every other: of a get the row is both start and stop.
#[derive(Debug, Clone)]
pub struct Read {
    pub start: Vec<u8>,
    pub is_start_inclusive: bool,
    pub stop: Vec<u8>,
    pub is_stop_inclusive: bool,
    pub is_reversed: bool,
    pub is_raw: bool,
    /// Families, or columns of them.
    pub columns: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    pub versions: i32,
    pub range: Option<(i64, i64)>,
    pub family_range: Option<(Vec<u8>, (i64, i64))>,
    pub filter: Option<FilterSpec>,
    pub family_limit: i32,
    pub family_offset: i32,
    pub limit: i32,
    pub batch: i32,
    pub is_on_demand: bool,
}

impl Read {
    /// The newest version of everything.
    pub fn all() -> Self {
        Self {
            start: Vec::new(),
            is_start_inclusive: true,
            stop: Vec::new(),
            is_stop_inclusive: false,
            is_reversed: false,
            is_raw: false,
            columns: Vec::new(),
            versions: 1,
            range: None,
            family_range: None,
            filter: None,
            family_limit: -1,
            family_offset: 0,
            limit: -1,
            batch: -1,
            is_on_demand: true,
        }
    }

    pub fn of_row(row: &[u8]) -> Self {
        let is_stop_inclusive = true;
        Self { start: row.to_vec(), stop: row.to_vec(), is_stop_inclusive, ..Self::all() }
    }

    /// The named columns of a family: `None` if nothing of it is wanted, `Some(None)` if all is.
    pub fn columns_of(&self, family: &[u8]) -> Option<Option<Vec<&[u8]>>> {
        let mut wanted: Option<Option<Vec<&[u8]>>> = self.columns.is_empty().then_some(None);
        for (_, qualifier) in self.columns.iter().filter(|(name, _)| name == family) {
            wanted = match (qualifier, wanted) {
                (None, _) => Some(None),
                (Some(qualifier), Some(Some(mut columns))) => {
                    columns.push(qualifier.as_slice());
                    Some(Some(columns))
                }
                (Some(qualifier), _) => Some(Some(vec![qualifier.as_slice()])),
            };
        }
        wanted
    }

    pub fn range_of(&self, family: &[u8]) -> (i64, i64) {
        match &self.family_range {
            Some((name, range)) if name == family => *range,
            _ => self.range.unwrap_or((0, i64::MAX)),
        }
    }

    pub fn to_get(&self) -> Get {
        let mut get = Get::new(&self.start).with_versions(self.versions.unsigned_abs());
        for (family, qualifier) in &self.columns {
            get = match qualifier {
                Some(qualifier) => get.with_column(family, qualifier),
                None => get.with_family(family),
            };
        }
        if let Some(range) = self.range {
            get = get.with_time_range(time_range(range));
        }
        if let Some((family, range)) = &self.family_range {
            get = get.with_family_time_range(family, time_range(*range));
        }
        if let Some(filter) = &self.filter {
            get = get.with_filter(filter.to_filter());
        }
        if let Ok(limit) = u32::try_from(self.family_limit) {
            get = get.with_family_limit(limit);
        }
        get.with_family_offset(natural(self.family_offset))
    }

    pub fn to_scan(&self) -> Scan {
        let mut scan = Scan::new()
            .with_start_bound(row_bound(&self.start, self.is_start_inclusive))
            .with_stop_bound(row_bound(&self.stop, self.is_stop_inclusive))
            .with_reversed(self.is_reversed)
            .with_raw(self.is_raw)
            .with_versions(self.versions.unsigned_abs())
            .with_family_offset(natural(self.family_offset))
            .with_batch(natural(self.batch))
            .with_families_on_demand(self.is_on_demand);
        if let Ok(limit) = u32::try_from(self.limit) {
            scan = scan.with_limit(limit);
        }
        if let Ok(limit) = u32::try_from(self.family_limit) {
            scan = scan.with_family_limit(limit);
        }
        for (family, qualifier) in &self.columns {
            scan = match qualifier {
                Some(qualifier) => scan.with_column(family, qualifier),
                None => scan.with_family(family),
            };
        }
        if let Some(range) = self.range {
            scan = scan.with_time_range(time_range(range));
        }
        if let Some((family, range)) = &self.family_range {
            scan = scan.with_family_time_range(family, time_range(*range));
        }
        match &self.filter {
            Some(filter) => scan.with_filter(filter.to_filter()),
            None => scan,
        }
    }

    /// Whether the row lies between start and stop, which a reverse read has the other way round.
    pub fn wants_row(&self, row: &[u8]) -> bool {
        let (low, is_low_inclusive, high, is_high_inclusive) = match self.is_reversed {
            false => (&self.start, self.is_start_inclusive, &self.stop, self.is_stop_inclusive),
            true => (&self.stop, self.is_stop_inclusive, &self.start, self.is_start_inclusive),
        };
        (low.is_empty() || row > low.as_slice() || (is_low_inclusive && row == low))
            && (high.is_empty() || row < high.as_slice() || (is_high_inclusive && row == high))
    }
}

/// A range of timestamps, as the data model has it.
pub fn time_range((min, max): (i64, i64)) -> TimeRange {
    TimeRange::new(min, max).expect("generated ranges are the right way round")
}

fn natural(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}
