//! Two access paths: a table and an index table, for queries that no single key serves.
//!
//! A row of the index has a key of its own over the same fields, and the key of the table's row as
//! its value. A query through the index scans it, and then gets the rows of the table that it
//! names. Each record is written twice.

use std::fmt;

use super::AdviceOptions;
use super::front::Cost;
use super::proposal::create_command;
use super::score::{QueryScore, ROWS_PER_CALL, Score};
use super::wanted::Wanted;
use crate::condition::{counted, short};

/// A query is not served if it costs this many times what it costs the best key for it alone.
const NOT_SERVED: f64 = 10.0;
/// Two paths are proposed if they are this many times better than the best single key.
const BETTER: f64 = 1.25;
/// A get of a batch takes as long as reading this many rows of a scan.
const ROWS_PER_GET: f64 = 10.0;
/// Designs of which each pair is tried: the best ones, and the cheapest for each query.
pub(super) const PAIRED_MAX: usize = 64;
const PAIRED_BEST: usize = 32;
/// Bytes of a cell besides row, value and timestamp: lengths, family, type and column.
const CELL_BYTES: f64 = 24.0;

/// A table and its index.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoPaths {
    /// The table.
    pub table: Score,
    /// The index.
    pub index: Score,
    /// The path of each query, in order.
    pub queries: Vec<Path>,
    /// How many times the load of one even table the busiest server has: the sum of the windowed
    /// max/mean of both tables.
    pub max_over_mean: f64,
    /// The same, relative to what chance alone causes.
    pub writes: f64,
    /// How many times more reads cost than those of the best candidate for each query.
    pub reads: f64,
    /// How many times worse than the best candidate it is, for writes and reads together.
    pub total: f64,
    /// Bytes of a row of the index, before compression.
    pub row_bytes: f64,
}

/// How a query is answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// The scans, of the index or the table.
    pub scans: QueryScore,
    /// The rows of the table that the index names; `None` if the table itself is scanned.
    pub gets: Option<f64>,
    /// All of it, in calls to regions.
    pub cost: f64,
}

impl Path {
    fn of(table: &Score, index: &Score, query: usize) -> Self {
        let direct = table.queries[query];
        let direct = Self { scans: direct, gets: None, cost: direct.cost() };
        let scans = index.queries[query];
        let calls = scans.rows.min((table.splits.len() + 1) as f64);
        let gets = calls + scans.rows * ROWS_PER_GET / ROWS_PER_CALL;
        let through = Self { scans, gets: Some(scans.rows), cost: scans.cost() + gets };
        if !scans.is_full_scan && through.cost < direct.cost { through } else { direct }
    }
}

/// The designs of which pairs are tried, of designs in the order of their scores: at most
/// [`PAIRED_MAX`]. Beyond the best, the queries take turns, each with its cheapest design.
pub(super) fn paired(scores: Vec<&Score>, queries: usize) -> Vec<&Score> {
    let mut is_taken = vec![false; scores.len()];
    is_taken.iter_mut().take(PAIRED_BEST).for_each(|taken| *taken = true);
    let mut taken = scores.len().min(PAIRED_BEST);
    let by_cost = |query: usize| {
        let mut places: Vec<usize> = (0..scores.len()).collect();
        let cost = |place: &usize| scores[*place].queries[query].cost();
        places.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
        places
    };
    let orders: Vec<Vec<usize>> = (0..queries).map(by_cost).collect();
    let turns = (0..scores.len()).flat_map(|turn| orders.iter().map(move |order| order[turn]));
    for place in turns {
        if taken == PAIRED_MAX {
            break;
        }
        taken += usize::from(!std::mem::replace(&mut is_taken[place], true));
    }
    scores.into_iter().zip(is_taken).filter_map(|(score, taken)| taken.then_some(score)).collect()
}

/// The best pair of the scored designs, if no single one serves the queries.
pub(super) fn find(scores: &[Score], wanted: &Wanted, options: &AdviceOptions) -> Option<TwoPaths> {
    let single = scores.first()?;
    let cheapest = |query: usize| {
        let costs = scores.iter().map(|score| score.queries[query].cost());
        costs.fold(f64::INFINITY, f64::min).max(1e-9)
    };
    let best: Vec<f64> = (0..wanted.queries.len()).map(cheapest).collect();
    let is_served = |query: usize| single.queries[query].cost() < NOT_SERVED * best[query];
    if (0..best.len()).all(is_served) {
        return None;
    }
    let weights: f64 = wanted.queries.iter().map(|query| query.weight).sum();
    let is_short =
        |score: &&Score| options.key_bytes_max.is_none_or(|max| score.key_bytes <= max as f64);
    let paired = paired(scores.iter().filter(is_short).collect(), best.len());
    let mut found: Option<TwoPaths> = None;
    for &table in &paired {
        for &index in &paired {
            let queries: Vec<Path> =
                (0..best.len()).map(|query| Path::of(table, index, query)).collect();
            let scans = queries.iter().map(|path| path.scans.scans).fold(0.0, f64::max);
            let has_index = queries.iter().any(|path| path.gets.is_some());
            if !has_index || options.scans_max.is_some_and(|max| scans > max as f64) {
                continue;
            }
            let reads = wanted
                .queries
                .iter()
                .zip(&queries)
                .zip(&best)
                .map(|((query, path), best)| query.weight / weights * (path.cost / best).ln());
            let (reads, writes) = (reads.sum::<f64>().exp(), table.unevenness + index.unevenness);
            let weight = options.write_weight;
            let total = (weight * writes.ln() + (1.0 - weight) * reads.ln()).exp();
            if found.as_ref().is_none_or(|found| total < found.total) {
                let (table, index) = (table.clone(), index.clone());
                let row_bytes = index.key_bytes + table.key_bytes + CELL_BYTES;
                let max_over_mean = table.max_over_mean + index.max_over_mean;
                found = Some(TwoPaths {
                    table,
                    index,
                    queries,
                    max_over_mean,
                    writes,
                    reads,
                    total,
                    row_bytes,
                });
            }
        }
    }
    found.filter(|found| found.total * BETTER < single.total)
}

impl TwoPaths {
    /// The HBase shell commands that create the table and its index table.
    pub fn create_commands(&self, table: &str) -> [String; 2] {
        let index = format!("{table}_index");
        [create_command(table, &self.table.splits), create_command(&index, &self.index.splits)]
    }

    /// Both keys.
    pub fn name(&self) -> String {
        format!("{} with the index {}", self.table.design, self.index.design)
    }

    /// What both cost and give, against the best single key.
    pub(super) fn explain(
        &self,
        f: &mut fmt::Formatter<'_>,
        wanted: &Wanted,
        (single, options): (&Score, &AdviceOptions),
    ) -> fmt::Result {
        writeln!(f, "\nTwo access paths: no single key serves all of these queries")?;
        writeln!(f, "  table:  {}", self.table.design)?;
        writeln!(f, "  index:  {}, whose rows have the table's keys", self.index.design)?;
        writeln!(
            f,
            "  writes: each record twice: the busiest server has {} times the load of one even \
             table, with the single key {} times",
            short(self.max_over_mean),
            short(single.max_over_mean)
        )?;
        let total = self.row_bytes * options.rows as f64 / f64::from(1 << 20);
        writeln!(
            f,
            "  space:  {} bytes a row of the index, {} MiB for {} rows, before compression",
            short(self.row_bytes.round()),
            short(total),
            options.rows
        )?;
        for (place, (query, path)) in wanted.queries.iter().zip(&self.queries).enumerate() {
            let (what, gets) = match path.gets {
                Some(gets) => ("the index", format!(", then {}", counted(gets, "get"))),
                None => ("the table", String::new()),
            };
            let alone = Cost(&single.queries[place]);
            writeln!(
                f,
                "  query:  {}\n          through {what}: {}{gets}; with the single key {alone}",
                query.text,
                Cost(&path.scans)
            )?;
        }
        writeln!(f, "  score:  {}, the single key {}", short(self.total), short(single.total),)
    }
}
