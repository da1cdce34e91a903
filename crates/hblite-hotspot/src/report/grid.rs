//! The heat map as numbers: windows by final regions, scaled to any picture size.

use crate::result::{Counts, Metric};

/// Counts by window and final region.
#[derive(Debug)]
pub(super) struct Grid {
    /// Windows.
    pub(super) columns: usize,
    /// Final regions, the first at the top.
    pub(super) rows: usize,
    /// Column by column.
    counts: Vec<u64>,
    /// The region of each cell.
    regions: Vec<u32>,
}

impl Grid {
    /// A region that is split later covers all rows that its keys went to, with all of its
    /// requests, because that is the work of its server.
    pub(super) fn new(counts: &Counts, metric: Metric) -> Self {
        let rows = counts.final_regions().len();
        let extents = counts.extents();
        let mut cells = vec![0; counts.windows.len() * rows];
        let mut regions = vec![0; cells.len()];
        let columns = cells.chunks_mut(rows.max(1)).zip(regions.chunks_mut(rows.max(1)));
        for (window, (column, regions)) in counts.windows.iter().zip(columns) {
            for (&region, &count) in counts.layouts[window.layout].iter().zip(window.of(metric)) {
                let (from, to) = extents[region as usize];
                column[from..to].fill(count);
                regions[from..to].fill(region);
            }
        }
        Self { columns: counts.windows.len(), rows, counts: cells, regions }
    }

    pub(super) fn count(&self, column: usize, row: usize) -> u64 {
        self.counts[column * self.rows + row]
    }

    /// The region numbers of all cells, column by column.
    pub(super) fn regions(&self) -> &[u32] {
        &self.regions
    }

    /// Whether a region begins at a pixel's cell: a region that is split later does not begin again
    /// in its own middle.
    pub(super) fn begins_at(&self, x: usize, y: usize, width: usize, height: usize) -> bool {
        let (column, row) = (x * self.columns / width, y * self.rows / height);
        let place = column * self.rows + row;
        row > 0 && self.regions[place] != self.regions[place - 1]
    }

    /// The greatest count of the cells of a pixel, so that nothing hot is lost when there are more
    /// cells than pixels.
    pub(super) fn pixel(&self, x: usize, y: usize, width: usize, height: usize) -> u64 {
        let range = |index: usize, pixels: usize, cells: usize| {
            let from = index * cells / pixels;
            let to = ((index + 1) * cells).div_ceil(pixels).clamp(from + 1, cells);
            if cells >= pixels { from..to } else { from..from + 1 }
        };
        let mut max = 0;
        for column in range(x, width, self.columns) {
            for row in range(y, height, self.rows) {
                max = max.max(self.count(column, row));
            }
        }
        max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Region, WindowCounts};

    fn grid(windows: &[&[u64]]) -> Grid {
        let regions = windows[0].len();
        let window = |writes: &&[u64]| WindowCounts {
            writes: writes.to_vec(),
            reads: vec![0; regions],
            bytes: vec![0; regions],
            ..WindowCounts::default()
        };
        let counts = Counts {
            regions: vec![Region::default(); regions],
            layouts: vec![(0..regions as u32).collect()],
            windows: windows.iter().map(window).collect(),
        };
        Grid::new(&counts, Metric::Writes)
    }

    #[test]
    fn a_hot_cell_is_seen_at_any_size() {
        let mut windows = vec![vec![1u64; 100]; 100];
        windows[57][31] = 1000;
        let windows: Vec<&[u64]> = windows.iter().map(Vec::as_slice).collect();
        let grid = grid(&windows);
        for (width, height) in [(1, 1), (7, 13), (99, 101), (100, 100), (640, 480)] {
            let pixels = (0..width).flat_map(|x| (0..height).map(move |y| (x, y)));
            let hot = pixels.filter(|(x, y)| grid.pixel(*x, *y, width, height) == 1000).count();
            assert!(hot > 0, "{width} × {height}");
        }
        assert_eq!(grid.pixel(0, 0, 1, 1), 1000);
    }
}
