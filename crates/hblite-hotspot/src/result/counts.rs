//! Requests per window and region, from the store's own counters.

use serde::{Deserialize, Serialize};

/// The matrix of the heat map.
///
/// Regions are numbered from 0 in the order in which they appeared, parents before their daughters.
/// A layout lists the regions at one moment in key order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Every region that ever existed.
    pub regions: Vec<Region>,
    /// Lists of region numbers, each in key order and without gaps between the first key and the
    /// last.
    pub layouts: Vec<Vec<u32>>,
    /// In order of time.
    pub windows: Vec<WindowCounts>,
}

/// A region.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Region {
    /// First key, as `Bytes.toStringBinary` prints it; empty for the first region.
    pub start: String,
    /// The first key after it; empty for the last region.
    pub end: String,
    /// The region that it was split from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
}

/// One window. Each list has a number per region of the layout.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WindowCounts {
    /// When it begins.
    pub start_ns: u64,
    /// When it ends.
    pub end_ns: u64,
    /// Index of its layout.
    pub layout: usize,
    /// Rows written.
    pub writes: Vec<u64>,
    /// Gets and scanned rows.
    pub reads: Vec<u64>,
    /// Bytes of cells written and read.
    pub bytes: Vec<u64>,
}

/// The maximum of windows times final regions that a picture can show.
pub const CELLS_MAX: usize = 20_000_000;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Rows written.
    Writes,
    /// Gets and scanned rows.
    Reads,
    /// Bytes of cells written and read.
    Bytes,
}

impl Metric {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Writes, Self::Reads, Self::Bytes];

    /// The name in tables and conditions.
    pub fn text(self) -> &'static str {
        match self {
            Self::Writes => "writes",
            Self::Reads => "reads",
            Self::Bytes => "bytes",
        }
    }
}

impl WindowCounts {
    /// The counts of one metric, in the order of the layout.
    pub fn of(&self, metric: Metric) -> &[u64] {
        match metric {
            Metric::Writes => &self.writes,
            Metric::Reads => &self.reads,
            Metric::Bytes => &self.bytes,
        }
    }
}

impl Counts {
    /// Checks that all numbers refer to something that exists.
    ///
    /// # Errors
    /// A description of the error.
    pub fn check(&self) -> Result<(), String> {
        if self.windows.is_empty() || self.layouts.is_empty() {
            return Err("it has no windows".to_owned());
        }
        let region_count = self.regions.len();
        for (index, region) in self.regions.iter().enumerate() {
            if region.parent.is_some_and(|parent| parent as usize >= index) {
                return Err(format!("region {index} has a parent that comes after it"));
            }
        }
        for (index, layout) in self.layouts.iter().enumerate() {
            if layout.is_empty() || layout.iter().any(|region| *region as usize >= region_count) {
                return Err(format!("layout {index} refers to unknown regions"));
            }
        }
        for (index, window) in self.windows.iter().enumerate() {
            let Some(layout) = self.layouts.get(window.layout) else {
                return Err(format!("window {index} refers to an unknown layout"));
            };
            if Metric::ALL.iter().any(|metric| window.of(*metric).len() != layout.len()) {
                return Err(format!("window {index} does not have one count per region"));
            }
        }
        if self.windows.len().saturating_mul(self.final_regions().len()) > CELLS_MAX {
            return Err(format!("windows times regions is more than {CELLS_MAX} cells"));
        }
        Ok(())
    }

    /// The final regions, in key order.
    pub fn final_regions(&self) -> &[u32] {
        let last = self.windows.last().map_or(0, |window| window.layout);
        self.layouts.get(last).map_or(&[], Vec::as_slice)
    }

    /// For every region its rows in the picture: the range `from..to` of the final regions that its
    /// keys went to.
    pub fn extents(&self) -> Vec<(usize, usize)> {
        let mut extents = vec![(usize::MAX, 0); self.regions.len()];
        for (position, &region) in self.final_regions().iter().enumerate() {
            extents[region as usize] = (position, position + 1);
        }
        for index in (0..self.regions.len()).rev() {
            let Some(parent) = self.regions[index].parent else { continue };
            let (from, to) = extents[index];
            let extent = &mut extents[parent as usize];
            *extent = (extent.0.min(from), extent.1.max(to));
        }
        extents.iter().map(|&(from, to)| (from.min(to), to)).collect()
    }

    /// Counts of the whole run per final region. The count of a region that was split is
    /// distributed evenly over its descendants.
    pub fn totals(&self, metric: Metric) -> Vec<u64> {
        let extents = self.extents();
        let mut totals = vec![0u64; self.final_regions().len()];
        for window in &self.windows {
            let layout = &self.layouts[window.layout];
            for (&region, &count) in layout.iter().zip(window.of(metric)) {
                let (from, to) = extents[region as usize];
                let parts = (to - from) as u64;
                for (position, total) in (0..parts).zip(&mut totals[from..to]) {
                    let share = count / parts + u64::from(position < count % parts);
                    *total = total.saturating_add(share);
                }
            }
        }
        totals
    }

    /// The sum of all counts.
    pub fn sum(&self, metric: Metric) -> u64 {
        let counts = self.windows.iter().flat_map(|window| window.of(metric));
        counts.fold(0, |sum, count| sum.saturating_add(*count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One region that is split, then its upper half again.
    fn growing() -> Counts {
        let region = |start: &str, end: &str, parent| Region {
            start: start.to_owned(),
            end: end.to_owned(),
            parent,
        };
        let window = |layout, writes: &[u64]| WindowCounts {
            layout,
            writes: writes.to_vec(),
            reads: vec![0; writes.len()],
            bytes: vec![0; writes.len()],
            ..WindowCounts::default()
        };
        Counts {
            regions: vec![
                region("", "", None),
                region("", "m", Some(0)),
                region("m", "", Some(0)),
                region("m", "t", Some(2)),
                region("t", "", Some(2)),
            ],
            layouts: vec![vec![0], vec![1, 2], vec![1, 3, 4]],
            windows: vec![window(0, &[10]), window(1, &[2, 8]), window(2, &[1, 1, 8])],
        }
    }

    #[test]
    fn what_a_region_had_goes_to_what_became_of_it() {
        let counts = growing();
        assert_eq!(counts.check(), Ok(()));
        assert_eq!(counts.extents(), [(0, 3), (0, 1), (1, 3), (1, 2), (2, 3)]);
        assert_eq!(counts.totals(Metric::Writes), [4 + 2 + 1, 3 + 4 + 1, 3 + 4 + 8]);
        assert_eq!(counts.sum(Metric::Writes), 30);
    }

    #[test]
    fn numbers_of_things_that_there_are_not_are_found() {
        assert!(Counts::default().check().is_err());
        let mut counts = growing();
        counts.windows[1].writes.pop();
        assert!(counts.check().is_err());
        let mut counts = growing();
        counts.layouts[0][0] = 9;
        assert!(counts.check().is_err());
        let mut counts = growing();
        counts.regions[1].parent = Some(3);
        assert!(counts.check().is_err());
        let mut counts = growing();
        counts.windows[0].layout = 7;
        assert!(counts.check().is_err());
    }
}
