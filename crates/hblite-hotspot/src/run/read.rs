//! Asking a study's questions, and what the answers cost.

use std::time::{Duration, Instant};

use hblite::{Connection, Get, ResultScanner, RowResult, Scan, Table, TableName};
use hblite_rowkey::{Access, KeyRange, Keyed, Merge, Order, Plan, Query, Value};

use super::FAMILY;
use super::error::RunError;
use super::options::RunOptions;
use super::sample::position_of;
use super::stream::Stream;
use crate::result::QueryCost;
use crate::simulate::Latencies;
use crate::study::{Candidate, Question, Record, mixed};

/// How often a question that reads the whole table is asked.
const FULL_SCANS_MAX: u64 = 3;
/// Asks questions and adds up costs.
pub(super) struct Reader<'r> {
    candidate: &'r Candidate,
    table: &'r Table,
    stream: &'r Stream,
    options: &'r RunOptions,
    asked: Vec<Asked>,
}

/// Sums over the runs of a question.
struct Asked {
    question: &'static Question,
    is_full_scan: bool,
    runs: u64,
    scans: u64,
    regions: u64,
    rows_read: u64,
    cells_examined: u64,
    rows_returned: u64,
    latencies: Latencies,
}

/// What one run of a question did.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) rows: Vec<(Vec<u8>, RowResult)>,
    pub(super) scans: u64,
    pub(super) rows_read: u64,
    /// Regions that were looked into, once for each scan.
    pub(super) regions: u64,
}

impl<'r> Reader<'r> {
    pub(super) fn new(
        candidate: &'r Candidate,
        table: &'r Table,
        stream: &'r Stream,
        options: &'r RunOptions,
    ) -> Self {
        let asked = |question| Asked {
            question,
            is_full_scan: false,
            runs: 0,
            scans: 0,
            regions: 0,
            rows_read: 0,
            cells_examined: 0,
            rows_returned: 0,
            latencies: Latencies::new(),
        };
        let asked = candidate.study().questions.iter().map(asked).collect();
        Self { candidate, table, stream, options, asked }
    }

    /// Asks the share of questions of a window, about records that were written by then.
    pub(super) fn ask(&mut self, connection: &Connection, window: usize) -> Result<(), RunError> {
        let written = self.stream.windows()[window].records.end;
        if written == 0 || self.options.reads == 0 {
            return Ok(());
        }
        let start_keys: Vec<Vec<u8>> =
            self.table.regions()?.iter().map(|region| region.start_key().to_vec()).collect();
        for index in 0..self.asked.len() {
            let cells_before = cells_examined(connection, self.table.name())?;
            let question = self.asked[index].question;
            for run in self.runs(index, window) {
                let (query, record) = self.query(question, index, run, written);
                let plan =
                    self.candidate.design.plan(&self.candidate.translate(&query, &record))?;
                self.asked[index].is_full_scan |= plan.access == Access::Table;
                let started = Instant::now();
                let answer = answer(self.candidate, self.table, &plan, &query, &start_keys)?;
                self.note(index, &answer, started.elapsed());
            }
            let cells = cells_examined(connection, self.table.name())?;
            self.asked[index].cells_examined += cells.saturating_sub(cells_before);
        }
        Ok(())
    }

    /// The runs of a question that fall into a window.
    fn runs(&self, index: usize, window: usize) -> std::ops::Range<u64> {
        let is_full_scan = self.is_full_scan(index);
        let total =
            if is_full_scan { FULL_SCANS_MAX.min(self.options.reads) } else { self.options.reads };
        let at = |window: usize| total * window as u64 / self.options.windows as u64;
        at(window)..at(window + 1)
    }

    /// Whether the design leaves a question nothing but to read the whole table.
    fn is_full_scan(&self, index: usize) -> bool {
        let (_, record) = self.stream.record(0);
        let question = self.asked[index].question;
        let query = question.fill(self.candidate.study(), &record, self.stream.duration_ms());
        let plan = self.candidate.design.plan(&self.candidate.translate(&query, &record));
        plan.is_ok_and(|plan| plan.access == Access::Table)
    }

    fn query(
        &self,
        question: &Question,
        index: usize,
        run: u64,
        written: usize,
    ) -> (Query, Record) {
        let random = mixed(self.options.seed ^ mixed(run << 8 | index as u64));
        let (_, record) = self.stream.record((random % written as u64) as usize);
        let query = question.fill(self.candidate.study(), &record, self.stream.duration_ms());
        (query, record)
    }

    fn note(&mut self, index: usize, answer: &Answer, latency: Duration) {
        let latency_ns = latency.as_nanos() as u64;
        let asked = &mut self.asked[index];
        asked.runs += 1;
        asked.scans += answer.scans;
        asked.regions += answer.regions;
        asked.rows_read += answer.rows_read;
        asked.rows_returned += answer.rows.len() as u64;
        asked.latencies.record(latency_ns);
    }

    pub(super) fn finish(self) -> Vec<QueryCost> {
        let cost = |asked: Asked| {
            let runs = asked.runs.max(1) as f64;
            QueryCost {
                name: asked.question.name.to_owned(),
                about: asked.question.about.to_owned(),
                is_full_scan: asked.is_full_scan,
                runs: asked.runs,
                scans: asked.scans as f64 / runs,
                regions: asked.regions as f64 / runs,
                rows_read: asked.rows_read as f64 / runs,
                cells_examined: asked.cells_examined as f64 / runs,
                rows_returned: asked.rows_returned as f64 / runs,
                latency: asked.latencies.summary(),
            }
        };
        self.asked.into_iter().filter(|asked| asked.runs > 0).map(cost).collect()
    }
}

fn cells_examined(connection: &Connection, table: &TableName) -> Result<u64, RunError> {
    let status = connection.admin().status()?;
    let own = status.regions.iter().filter(|status| status.region.table() == table);
    Ok(own.map(|status| status.load.cells_examined).sum())
}

/// A row with its key.
struct Row(RowResult);

impl Keyed for Row {
    fn key(&self) -> &[u8] {
        self.0.row()
    }
}

/// The rows of one range, and how far it was read.
struct RangeRows<'a> {
    scanner: ResultScanner,
    progress: &'a std::cell::RefCell<ReadSoFar>,
}

/// How far a range was read.
#[derive(Default)]
struct ReadSoFar {
    rows: u64,
    last: Vec<u8>,
    is_at_end: bool,
}

impl Iterator for RangeRows<'_> {
    type Item = hblite::Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.scanner.next();
        let mut progress = self.progress.borrow_mut();
        match &next {
            Some(Ok(row)) => {
                progress.rows += 1;
                progress.last.clear();
                progress.last.extend_from_slice(row.row());
            }
            _ => progress.is_at_end = true,
        }
        next.map(|row| row.map(Row))
    }
}

/// Answers a query by a plan. `start_keys` are those of the table's regions.
pub(super) fn answer(
    candidate: &Candidate,
    table: &Table,
    plan: &Plan,
    query: &Query,
    start_keys: &[Vec<u8>],
) -> Result<Answer, RunError> {
    let mut answer = Answer { scans: plan.ranges.len() as u64, ..Answer::default() };
    let limit = query.row_limit().map_or(usize::MAX, |limit| limit as usize);
    // Rows that come in the wanted order are enough when the limit is reached.
    let is_in_order =
        plan.is_in_order && (query.order() == &Order::Any || plan_has_order(candidate, query));
    let enough = if is_in_order { limit } else { usize::MAX };
    if plan.access == Access::Rows {
        for range in &plan.ranges {
            let row = table.get(&Get::new(&range.start).family(FAMILY))?;
            answer.regions += 1;
            answer.rows_read += u64::from(!row.is_empty());
            if !row.is_empty() {
                keep(candidate, query, row, &mut answer)?;
            }
        }
    } else {
        let progress: Vec<_> = plan.ranges.iter().map(|_| Default::default()).collect();
        let mut scanners = Vec::new();
        for (range, progress) in plan.ranges.iter().zip(&progress) {
            // A query that stops early, stops the scan: no limit of its own is needed.
            let scanner = table.scan(&scan(range, plan.is_reversed))?;
            scanners.push(RangeRows { scanner, progress });
        }
        if plan.is_reversed && plan.merge_skip.is_none() {
            scanners.reverse();
        }
        match plan.merge_skip {
            Some(skip) => {
                let merged = Merge::new(scanners, skip, plan.is_reversed);
                collect(candidate, query, merged, enough, &mut answer)?;
            }
            None => {
                let chained = scanners.into_iter().flatten();
                collect(candidate, query, chained, enough, &mut answer)?;
            }
        }
        for (range, progress) in plan.ranges.iter().zip(progress) {
            let progress = progress.into_inner();
            answer.rows_read += progress.rows;
            answer.regions += regions(range, &progress, plan.is_reversed, start_keys);
        }
    }
    if !is_in_order {
        sort(candidate, query, &mut answer.rows)?;
    }
    answer.rows.truncate(limit);
    Ok(answer)
}

/// Whether the order wanted is one of a field that the key has.
fn plan_has_order(candidate: &Candidate, query: &Query) -> bool {
    match query.order() {
        Order::Any => true,
        Order::Ascending(field) | Order::Descending(field) => {
            candidate.design.field_index(field).is_ok()
        }
    }
}

fn scan(range: &KeyRange, is_reversed: bool) -> Scan {
    let bounds = range.scan(is_reversed);
    Scan::new()
        .family(FAMILY)
        .start_row_with(bounds.start, bounds.is_start_inclusive)
        .stop_row_with(bounds.stop, bounds.is_stop_inclusive)
        .reversed(is_reversed)
}

fn collect(
    candidate: &Candidate,
    query: &Query,
    rows: impl Iterator<Item = hblite::Result<Row>>,
    enough: usize,
    answer: &mut Answer,
) -> Result<(), RunError> {
    for row in rows {
        keep(candidate, query, row?.0, answer)?;
        if answer.rows.len() >= enough {
            break;
        }
    }
    Ok(())
}

/// Keeps a row if all conditions hold.
fn keep(
    candidate: &Candidate,
    query: &Query,
    row: RowResult,
    answer: &mut Answer,
) -> Result<(), RunError> {
    let values = candidate.design.decode(row.row())?;
    let column = |name: &str| row.value(FAMILY, name).map(<[u8]>::to_vec);
    if query.matches(|name| candidate.field_of_row(name, &values, column)) {
        answer.rows.push((row.row().to_vec(), row));
    }
    Ok(())
}

/// Puts rows into the order wanted.
fn sort(
    candidate: &Candidate,
    query: &Query,
    rows: &mut [(Vec<u8>, RowResult)],
) -> Result<(), RunError> {
    let (Order::Ascending(field) | Order::Descending(field)) = query.order() else {
        return Ok(());
    };
    let value = |key: &[u8], row: &RowResult| -> Result<Option<Value<'static>>, RunError> {
        let values = candidate.design.decode(key)?;
        let column = |name: &str| row.value(FAMILY, name).map(<[u8]>::to_vec);
        Ok(candidate.field_of_row(field, &values, column))
    };
    for (key, row) in rows.iter() {
        value(key, row)?;
    }
    rows.sort_by_cached_key(|(key, row)| value(key, row).ok().flatten());
    if matches!(query.order(), Order::Descending(_)) {
        rows.reverse();
    }
    Ok(())
}

/// How many regions a range was read in.
fn regions(
    range: &KeyRange,
    progress: &ReadSoFar,
    is_reversed: bool,
    start_keys: &[Vec<u8>],
) -> u64 {
    if progress.rows == 0 && !progress.is_at_end {
        return 0;
    }
    let mut first = position_of(start_keys, &range.start);
    let mut last = if range.stop.is_empty() {
        start_keys.len() - 1
    } else {
        // The stop is not part of the range: a region that starts there is not looked into.
        start_keys.partition_point(|start| *start < range.stop).saturating_sub(1)
    };
    if !progress.is_at_end {
        let reached = position_of(start_keys, &progress.last);
        if is_reversed { first = reached } else { last = reached }
    }
    last.max(first) as u64 - first as u64 + 1
}
