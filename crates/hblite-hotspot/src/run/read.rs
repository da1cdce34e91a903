//! Runs a study's queries and measures what the answers cost.

use std::ops::Range;
use std::time::{Duration, Instant};

use hblite::TableName;

use super::error::RunError;
use super::options::RunOptions;
use super::place::Place;
use super::stream::Stream;
use super::target::{About, Asked, Opened};
use crate::mix::mixed;
use crate::result::QueryCost;
use crate::simulate::Latencies;

/// How often a query that reads the whole table runs.
const FULL_SCANS_MAX: u64 = 3;

/// Runs queries and adds up their costs.
pub(super) struct Reader<'r> {
    opened: &'r dyn Opened,
    stream: &'r Stream,
    options: &'r RunOptions,
    questions: Vec<Sums>,
}

/// Sums over the runs of a query.
struct Sums {
    name: String,
    about: String,
    is_full_scan: bool,
    runs: u64,
    asked: Asked,
    cells_examined: u64,
    latencies: Latencies,
}

impl<'r> Reader<'r> {
    pub(super) fn new(opened: &'r dyn Opened, stream: &'r Stream, options: &'r RunOptions) -> Self {
        let sums = |(name, about)| Sums {
            name,
            about,
            is_full_scan: false,
            runs: 0,
            asked: Asked::default(),
            cells_examined: 0,
            latencies: Latencies::new(),
        };
        let questions = opened.questions().into_iter().map(sums).collect();
        Self { opened, stream, options, questions }
    }

    /// Runs a window's share of queries, about records already written.
    pub(super) fn ask(&mut self, place: &Place, window: usize) -> Result<(), RunError> {
        let written = self.stream.windows()[window].records.end;
        if written == 0 || self.options.reads == 0 {
            return Ok(());
        }
        let tables = self.opened.tables();
        let names: Vec<&TableName> = tables.iter().map(|table| table.name()).collect();
        let regions = tables[0].regions()?;
        let start_keys: Vec<Vec<u8>> =
            regions.iter().map(|region| region.start_key().to_vec()).collect();
        for index in 0..self.questions.len() {
            if window == 0 {
                // Run once beforehand, to learn what kind of query it is for this design.
                let about = self.about(0, &start_keys);
                self.questions[index].is_full_scan = self.opened.ask(index, &about)?.is_full_scan;
            }
            let cells_before = cells_examined(place, &names)?;
            for run in self.runs(index, window) {
                let random = mixed(self.options.seed ^ mixed(run << 8 | index as u64));
                let about = self.about((random % written as u64) as usize, &start_keys);
                let started = Instant::now();
                let asked = self.opened.ask(index, &about)?;
                self.questions[index].add(&asked, started.elapsed());
            }
            let cells = cells_examined(place, &names)?;
            self.questions[index].cells_examined += cells.saturating_sub(cells_before);
        }
        Ok(())
    }

    fn about<'a>(&self, index: usize, start_keys: &'a [Vec<u8>]) -> About<'a> {
        About {
            moment: self.stream.moment(index),
            records: self.stream.len() as u64,
            entities: self.stream.entities(),
            duration_ms: self.stream.duration_ms(),
            start_keys,
        }
    }

    /// The runs of a query that fall into a window.
    fn runs(&self, index: usize, window: usize) -> Range<u64> {
        let reads = self.options.reads;
        let is_full_scan = self.questions[index].is_full_scan;
        let total = if is_full_scan { FULL_SCANS_MAX.min(reads) } else { reads };
        let at = |window: usize| total * window as u64 / self.options.windows as u64;
        at(window)..at(window + 1)
    }

    pub(super) fn finish(self) -> Vec<QueryCost> {
        self.questions.into_iter().filter(|sums| sums.runs > 0).map(Sums::cost).collect()
    }
}

impl Sums {
    fn add(&mut self, asked: &Asked, latency: Duration) {
        self.runs += 1;
        self.asked.scans += asked.scans;
        self.asked.regions += asked.regions;
        self.asked.rows_read += asked.rows_read;
        self.asked.rows_returned += asked.rows_returned;
        self.latencies.record(latency.as_nanos() as u64);
    }

    fn cost(self) -> QueryCost {
        let mean = |sum: u64| sum as f64 / self.runs as f64;
        QueryCost {
            is_full_scan: self.is_full_scan,
            runs: self.runs,
            scans: mean(self.asked.scans),
            regions: mean(self.asked.regions),
            rows_read: mean(self.asked.rows_read),
            cells_examined: mean(self.cells_examined),
            rows_returned: mean(self.asked.rows_returned),
            latency: self.latencies.summary(),
            name: self.name,
            about: self.about,
        }
    }
}

/// Cells examined so far by regions of these tables; 0 where they are not counted.
fn cells_examined(place: &Place, tables: &[&TableName]) -> Result<u64, RunError> {
    if !place.counts_cells() {
        return Ok(0);
    }
    let status = place.connection().admin().status()?;
    let own = status.regions.iter().filter(|status| tables.contains(&status.region.table()));
    Ok(own.map(|status| status.load.cells_examined).sum())
}
