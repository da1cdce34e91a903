//! From the counters of regions to counts per window.
//!
//! Counters start when a region is opened, so a window's count is a difference. A region that was
//! split since the last sample has taken its counter with it, and one that a cluster moved to
//! another server starts from 0. Both are assigned what the writers sent to their keys.

use std::collections::HashMap;

use hblite::{Connection, RegionLoad, RegionStatus, TableName, bytes};

use super::error::RunError;
use super::stream::WindowOfStream;
use super::target::position_of;
use crate::result::{Counts, Region, WindowCounts};

/// Reads counters and keeps counts.
pub(super) struct Sampler<'s> {
    connection: &'s Connection,
    table: &'s TableName,
    counts: Counts,
    numbers: HashMap<String, u32>,
    last: HashMap<String, RegionLoad>,
    /// First keys of the regions in the last sample, in order.
    start_keys: Vec<Vec<u8>>,
    /// Positions in the layout of regions that appeared in the last window.
    fresh: Vec<usize>,
    bytes_written: u64,
    writes_of_split_regions: u64,
}

impl<'s> Sampler<'s> {
    pub(super) fn new(connection: &'s Connection, table: &'s TableName) -> Result<Self, RunError> {
        let mut sampler = Self {
            connection,
            table,
            counts: Counts::default(),
            numbers: HashMap::new(),
            last: HashMap::new(),
            start_keys: Vec::new(),
            fresh: Vec::new(),
            bytes_written: 0,
            writes_of_split_regions: 0,
        };
        let regions = sampler.regions()?;
        sampler.enter_layout(&regions);
        sampler.fresh.clear();
        sampler.last = loads(&regions);
        Ok(sampler)
    }

    fn regions(&self) -> Result<Vec<RegionStatus>, RunError> {
        let status = self.connection.admin().status()?;
        let own = status.regions.into_iter();
        let mut own: Vec<RegionStatus> =
            own.filter(|status| status.region.table() == self.table).collect();
        own.sort_by(|left, right| left.region.start_key().cmp(right.region.start_key()));
        Ok(own)
    }

    /// Reads the counters at the end of a window.
    pub(super) fn sample(&mut self, window: &WindowOfStream) -> Result<(), RunError> {
        let regions = self.regions()?;
        self.enter_layout(&regions);
        let mut counts = WindowCounts {
            start_ns: window.start_ns,
            end_ns: window.end_ns,
            layout: self.counts.layouts.len() - 1,
            ..WindowCounts::default()
        };
        for (position, status) in regions.iter().enumerate() {
            let before = self.last.get(status.region.encoded_name()).copied().unwrap_or_default();
            let load = status.load;
            let has_restarted = load.write_requests < before.write_requests
                || load.read_requests < before.read_requests;
            let before = if has_restarted { RegionLoad::default() } else { before };
            if has_restarted {
                self.fresh.push(position);
            }
            let written = load.bytes_written - before.bytes_written;
            self.bytes_written += written;
            counts.writes.push(load.write_requests - before.write_requests);
            counts.reads.push(load.read_requests - before.read_requests);
            counts.bytes.push(written + load.bytes_read - before.bytes_read);
        }
        self.counts.windows.push(counts);
        self.last = loads(&regions);
        Ok(())
    }

    /// Numbers new regions, and starts a new layout if the regions have changed.
    fn enter_layout(&mut self, regions: &[RegionStatus]) {
        self.fresh.clear();
        let mut layout = Vec::with_capacity(regions.len());
        for (position, status) in regions.iter().enumerate() {
            let name = status.region.encoded_name();
            let number = self.numbers.get(name).copied().unwrap_or_else(|| {
                self.fresh.push(position);
                let number = self.counts.regions.len() as u32;
                self.counts.regions.push(Region {
                    start: bytes::to_string_binary(status.region.start_key()),
                    end: bytes::to_string_binary(status.region.end_key()),
                    parent: self.number_before(status.region.start_key()),
                });
                self.numbers.insert(name.to_owned(), number);
                number
            });
            layout.push(number);
        }
        if self.counts.layouts.last() != Some(&layout) {
            self.counts.layouts.push(layout);
            self.start_keys =
                regions.iter().map(|status| status.region.start_key().to_vec()).collect();
        }
    }

    /// The region of the last layout that contained a key.
    fn number_before(&self, key: &[u8]) -> Option<u32> {
        let layout = self.counts.layouts.last()?;
        layout.get(position_of(&self.start_keys, key)).copied()
    }

    /// First keys and numbers of the regions in the last sample, in key order.
    pub(super) fn layout(&self) -> (&[Vec<u8>], &[u32]) {
        (&self.start_keys, self.counts.layouts.last().map_or(&[], Vec::as_slice))
    }

    /// Supplies the number of writes sent to each region of the layout in the last sampled window.
    pub(super) fn settle(&mut self, sent: &[u64]) {
        let Some(window) = self.counts.windows.last_mut() else { return };
        for &position in &self.fresh {
            let counted = window.writes[position];
            let missing = sent[position].saturating_sub(counted);
            let bytes_per_write = window.bytes.iter().sum::<u64>() as f64
                / window.writes.iter().sum::<u64>().max(1) as f64;
            self.writes_of_split_regions += missing;
            window.writes[position] += missing;
            window.bytes[position] += (missing as f64 * bytes_per_write) as u64;
        }
        self.fresh.clear();
    }

    pub(super) fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    pub(super) fn finish(self) -> (Counts, u64) {
        (self.counts, self.writes_of_split_regions)
    }
}

fn loads(regions: &[RegionStatus]) -> HashMap<String, RegionLoad> {
    let load = |status: &RegionStatus| (status.region.encoded_name().to_owned(), status.load);
    regions.iter().map(load).collect()
}
