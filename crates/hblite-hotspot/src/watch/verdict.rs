//! What is hot in a watched table, in sentences.

use std::collections::HashMap;

use hblite::RowCounts;
use hblite::bytes::from_string_binary;

use super::{Reading, RegionReading, Watched, counters, grown};
use crate::condition::{counted, short};
use crate::figures::Figures;
use crate::findings::{
    HotCallers, Hottest, Method, Motion, Observed, RegionSeen, findings, large, latest,
};
use crate::result::{Counts, Metric, RunResult};

/// The writes of a table are uneven if the hottest region has this many times the mean.
const UNEVEN: f64 = 2.0;
/// Rows that the adviser gets.
const ADVISED_MAX: usize = 4_000;

/// What is hot in a watched table.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The sentences.
    pub lines: Vec<String>,
    /// The region with the most writes now, if the table's are uneven and its keys are known.
    pub hot: Option<Watched>,
    /// Whether the readings have the keys of regions.
    pub has_keys: bool,
    /// Rows that were written, in their order, if they are known.
    pub written: Vec<Vec<u8>>,
}

/// What is hot in a table. `result` is that of these readings. `written` has rows from elsewhere,
/// if the readings have none.
pub fn verdict(readings: &[Reading], result: &RunResult, written: Option<&RowCounts>) -> Verdict {
    let table = result.design.as_str();
    let latest = Latest::of(readings, table);
    let has_keys = latest.has_keys();
    let observed = latest.observed(&result.counts, written);
    let (mut lines, is_uneven) = summary(result);
    let found = findings(&observed);
    for finding in &found {
        lines.push(format!("{} {}", finding.text, finding.help));
    }
    let is_counted = latest.rows.is_some();
    if is_counted && !found.is_empty() {
        lines.push(format!(
            "Shares are of the last {:.0} s, in which hblite counted the rows.",
            observed.seconds
        ));
    }
    let callers = observed.rows.and_then(|rows| HotCallers::of(&rows.callers, Some(table)));
    lines.extend(callers.and_then(|callers| callers.text()));
    let large = observed.rows.map(|rows| large(rows, table)).unwrap_or_default();
    lines.extend(large.iter().map(|large| format!("{} {}", large.text, large.help)));
    let regions = &observed.regions;
    let hot = if is_uneven { hottest(regions, table, latest.times_ms) } else { None };
    let written = observed.written_in_proportion(ADVISED_MAX);
    Verdict { lines, hot, has_keys, written }
}

/// The region with the most writes, if there are any and its keys are known.
pub(super) fn hottest(
    regions: &[RegionSeen],
    table: &str,
    times_ms: (i64, i64),
) -> Option<Watched> {
    let region = regions.iter().max_by_key(|region| region.writes)?;
    let (start, end) = region.keys.clone().filter(|_| region.writes > 0)?;
    Some(Watched {
        table: table.to_owned(),
        region: region.name.clone(),
        start,
        end,
        times_ms,
        writes: region.writes,
        regions: regions.len(),
    })
}

/// The latest load of a table.
pub(super) struct Latest {
    /// In key order.
    pub(super) regions: Vec<RegionSeen>,
    pub(super) seconds: f64,
    pub(super) times_ms: (i64, i64),
    pub(super) rows: Option<RowCounts>,
}

impl Latest {
    fn has_keys(&self) -> bool {
        self.regions.iter().all(|region| region.keys.is_some())
    }

    /// What was observed, with rows from elsewhere if the readings have none. `counts` are those of
    /// the windows in which the hottest region is followed.
    pub(super) fn observed<'o>(
        &'o self,
        counts: &Counts,
        elsewhere: Option<&'o RowCounts>,
    ) -> Observed<'o> {
        let motion = |metric| Motion::of(&hottest_in_windows(counts, metric), self.has_keys());
        let (rows, method) = match &self.rows {
            Some(rows) => (Some(rows), Method::Counted),
            None => (elsewhere, Method::Sampled),
        };
        Observed {
            regions: self.regions.clone(),
            seconds: self.seconds,
            rows,
            method,
            motion: (motion(Metric::Writes), motion(Metric::Reads)),
        }
    }

    fn of(readings: &[Reading], table: &str) -> Self {
        let windows: Vec<(u64, f64)> = readings
            .windows(2)
            .map(|pair| {
                let regions = between(&pair[0], &pair[1], table);
                let sum = regions.iter().fold(0_u64, |sum, region| {
                    sum.saturating_add(region.reads).saturating_add(region.writes)
                });
                (sum, seconds(pair[0].time_ms, pair[1].time_ms))
            })
            .collect();
        Self::of_windows(readings, table, latest(&windows))
    }

    /// The load of the last so many windows.
    pub(super) fn of_windows(readings: &[Reading], table: &str, taken: usize) -> Self {
        let (Some(first), Some(last)) =
            (readings.len().checked_sub(taken + 1).map(|at| &readings[at]), readings.last())
        else {
            let times_ms = (0, 0);
            return Self { regions: Vec::new(), seconds: 0.0, times_ms, rows: None };
        };
        let mut rows: Option<RowCounts> = None;
        for counts in readings[readings.len() - taken..].iter().filter_map(|one| one.rows.as_ref())
        {
            rows.get_or_insert_default().add(counts);
        }
        Self {
            regions: between(first, last, table),
            seconds: seconds(first.time_ms, last.time_ms),
            times_ms: (first.time_ms, last.time_ms),
            rows,
        }
    }
}

fn seconds(from_ms: i64, to_ms: i64) -> f64 {
    to_ms.saturating_sub(from_ms).max(0) as f64 / 1_000.0
}

/// The requests of a table between two readings, by the regions of the second.
fn between(before: &Reading, now: &Reading, table: &str) -> Vec<RegionSeen> {
    let before: HashMap<&str, &RegionReading> = counters(before, Some(table));
    let own = now.regions.iter().filter(|region| region.table == table);
    let mut regions: Vec<RegionSeen> = own
        .map(|region| {
            let (reads, writes, _) = grown(before.get(region.name.as_str()).copied(), region);
            let keys = region.start.as_deref().map(|start| {
                let end = region.end.as_deref().unwrap_or_default();
                (from_string_binary(start), from_string_binary(end))
            });
            RegionSeen { name: region.name.clone(), keys, reads, writes }
        })
        .collect();
    regions.sort_by(|one, other| (&one.keys, &one.name).cmp(&(&other.keys, &other.name)));
    regions
}

/// The figures of all windows, and whether the writes are uneven.
fn summary(result: &RunResult) -> (Vec<String>, bool) {
    let (mut lines, mut is_uneven) = (Vec::new(), false);
    for metric in [Metric::Writes, Metric::Reads] {
        let totals = result.counts.totals(metric);
        let (Some(figures), Some(spread)) = (Figures::of(&totals), result.spread.get(metric))
        else {
            continue;
        };
        let (what, count) = (metric.text(), totals.len());
        let regions = counted(count as f64, "region");
        let windowed = spread.windowed.mean.max_over_mean;
        // Counters come from other programs, so their sum may be larger than any number.
        let sum = totals.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        lines.push(format!(
            "{sum} {what} in {regions}: in a window, the hottest has {} times the mean; \
             over the whole time, {} times.",
            short(windowed),
            short(figures.max_over_mean)
        ));
        is_uneven |= metric == Metric::Writes && (count == 1 || windowed >= UNEVEN);
    }
    (lines, is_uneven)
}

/// The hottest region of each window with load.
fn hottest_in_windows(counts: &Counts, metric: Metric) -> Vec<Hottest> {
    let windows = counts.windows.iter().filter_map(|window| {
        let loads = window.of(metric);
        let place = (0..loads.len()).max_by_key(|place| loads[*place])?;
        let region = *counts.layouts[window.layout].get(place)?;
        let hottest = Hottest { place, regions: loads.len(), region: region.to_string() };
        (loads[place] > 0).then_some(hottest)
    });
    windows.collect()
}
