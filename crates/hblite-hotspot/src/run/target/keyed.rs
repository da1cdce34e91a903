//! A candidate key over the fields of a study of keys: one table, queries by plans.

use hblite::{
    ColumnFamilyDescriptor, Connection, Durability, Get, Put, ResultScanner, RowResult, Scan,
    Table, TableDescriptor,
};
use hblite_rowkey::{Access, Design, KeyRange, Keyed, Merge, Order, Plan, Query, Spread, Value};

use super::{About, Asked, Opened, Target, position_of};
use crate::run::error::RunError;
use crate::study::{Candidate, Moment};

/// The family of all cells.
const FAMILY: &[u8] = b"d";
/// The column of the value.
const VALUE: &[u8] = b"v";
/// The purpose of the random number that selects a salt.
const SALT: u64 = 0;

impl Target for Candidate {
    fn study(&self) -> &str {
        self.workload().name()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn key(&self) -> String {
        self.key.clone()
    }

    fn entities(&self, records: u64) -> u64 {
        (records / self.workload().records_per_entity()).max(1)
    }

    fn tables(&self) -> Result<Vec<TableDescriptor>, RunError> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let design: String = self.name.chars().map(plain).take(60).collect();
        let study: String = self.workload().name().chars().map(plain).take(60).collect();
        let name = format!("{study}_{design}").parse()?;
        Ok(vec![TableDescriptor::new(name).with_family(ColumnFamilyDescriptor::new(FAMILY))])
    }

    fn natural_splits(&self, regions: usize) -> Result<Option<Vec<Vec<u8>>>, RunError> {
        natural_splits(&self.design, regions)
    }

    fn open(&self, connection: &Connection) -> Result<Box<dyn Opened + '_>, RunError> {
        let name = self.tables()?[0].name().clone();
        Ok(Box::new(OpenCandidate { candidate: self, table: connection.table(name)? }))
    }
}

/// Keys that split a table at the salts, buckets or hashes of its keys; `None` if they begin with a
/// field.
pub(crate) fn natural_splits(
    design: &Design,
    regions: usize,
) -> Result<Option<Vec<Vec<u8>>>, RunError> {
    match design.spread() {
        Spread::Growing { .. } | Spread::ByValue { .. } => Ok(None),
        _ => Ok(Some(design.natural_splits(regions)?)),
    }
}

struct OpenCandidate<'t> {
    candidate: &'t Candidate,
    table: Table,
}

impl Opened for OpenCandidate<'_> {
    fn tables(&self) -> Vec<&Table> {
        vec![&self.table]
    }

    fn puts(&self, moment: &Moment, value: &[u8], puts: &mut [Vec<Put>]) -> Result<(), RunError> {
        let record = self.candidate.workload().record(moment);
        let mut key = Vec::with_capacity(64);
        self.candidate.encode_into(&record, moment.random(SALT), &mut key)?;
        let timestamp = i64::try_from(moment.millis()).unwrap_or(i64::MAX);
        let mut put = Put::new(key)
            .with_timestamp(timestamp)
            .with_durability(Durability::SkipWal)
            .add(FAMILY, VALUE, value);
        for (name, value) in self.candidate.columns(&record) {
            put = put.add(FAMILY, name, value);
        }
        puts[0].push(put);
        Ok(())
    }

    fn row(&self, moment: &Moment, key: &mut Vec<u8>) -> Result<(), RunError> {
        let record = self.candidate.workload().record(moment);
        Ok(self.candidate.encode_into(&record, moment.random(SALT), key)?)
    }

    fn questions(&self) -> Vec<(String, String)> {
        self.candidate.workload().questions()
    }

    fn ask(&self, question: usize, about: &About<'_>) -> Result<Asked, RunError> {
        let candidate = self.candidate;
        let record = candidate.workload().record(&about.moment);
        let query = candidate.workload().query(question, &record, about.duration_ms);
        let plan = candidate.design.plan(&candidate.translate(&query, &record))?;
        let answer = answer(candidate, &self.table, &plan, &query, about.start_keys)?;
        Ok(Asked {
            scans: answer.scans,
            regions: answer.regions,
            rows_read: answer.rows_read,
            rows_returned: answer.rows.len() as u64,
            is_full_scan: plan.access == Access::Table,
        })
    }
}

/// The result of one run of a query.
#[derive(Debug, Default)]
pub(in crate::run) struct Answer {
    pub(in crate::run) rows: Vec<(Vec<u8>, RowResult)>,
    scans: u64,
    rows_read: u64,
    /// Regions opened, counted once for each scan.
    regions: u64,
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
pub(in crate::run) fn answer(
    candidate: &Candidate,
    table: &Table,
    plan: &Plan,
    query: &Query,
    start_keys: &[Vec<u8>],
) -> Result<Answer, RunError> {
    let mut answer = Answer { scans: plan.ranges.len() as u64, ..Answer::default() };
    let limit = query.row_limit().map_or(usize::MAX, |limit| limit as usize);
    // If rows come in the requested order, reading can stop at the limit.
    let is_in_order =
        plan.is_in_order && (query.order() == &Order::Any || plan_has_order(candidate, query));
    let enough = if is_in_order { limit } else { usize::MAX };
    if plan.access == Access::Rows {
        for range in &plan.ranges {
            let row = table.get(&Get::new(&range.start).with_family(FAMILY))?;
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
            // A query that stops early stops the scan, so the scan needs no limit of its own.
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

/// Whether the requested order is by a field of the key.
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
        .with_family(FAMILY)
        .with_start_bound(hblite::row_bound(bounds.start, bounds.is_start_inclusive))
        .with_stop_bound(hblite::row_bound(bounds.stop, bounds.is_stop_inclusive))
        .with_reversed(is_reversed)
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

/// Sorts rows as requested.
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
        // The stop is exclusive: a region that starts there is not opened.
        start_keys.partition_point(|start| *start < range.stop).saturating_sub(1)
    };
    if !progress.is_at_end {
        let reached = position_of(start_keys, &progress.last);
        if is_reversed { first = reached } else { last = reached }
    }
    last.max(first) as u64 - first as u64 + 1
}
