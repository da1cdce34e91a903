//! Figures of several designs in comparison, as text.

use super::scale::{duration, number, percent};
use crate::condition::short;
use crate::result::{Metric, RunResult, SpreadOf};

/// A table with a header; columns are as wide as they need to be.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The title.
    pub title: String,
    /// The names of the columns.
    pub head: Vec<String>,
    /// The lines; each has a text for every column.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    fn new(title: &str, head: &[&str]) -> Self {
        let head = head.iter().map(|name| (*name).to_owned()).collect();
        Self { title: title.to_owned(), head, rows: Vec::new() }
    }

    /// Numbers are right-aligned, names left-aligned.
    pub fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&self.head]).map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let mut text = format!("{}\n", self.title);
        for row in [&self.head].into_iter().chain(&self.rows) {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if column == 0 { format!("  {cell:<width$}") } else { format!("{cell:>width$}") }
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// The tables of a comparison, the windowed figures first.
pub fn tables(results: &[RunResult]) -> Vec<Table> {
    let watched = |metric| {
        results.iter().any(|result| result.is_watched() && result.spread.get(metric).is_some())
    };
    let is_watch = results.iter().all(RunResult::is_watched);
    let mut tables = Vec::new();
    if !is_watch || watched(Metric::Writes) {
        tables.push(spread(results, Metric::Writes));
    }
    if watched(Metric::Reads) {
        tables.push(spread(results, Metric::Reads));
    }
    if results.iter().any(|result| !result.simulations.is_empty()) {
        tables.push(simulation(results));
    }
    if results.iter().any(|result| !result.queries.is_empty()) {
        tables.push(reading(results));
        tables.push(spread(results, Metric::Reads));
    }
    if results.iter().any(|result| result.storage.rows > 0) {
        tables.push(storage(results));
    }
    tables
}

fn spread(results: &[RunResult], metric: Metric) -> Table {
    let mut table = Table::new(
        &format!("How evenly {} are spread over regions", metric.text()),
        &[
            "design",
            "windowed max/mean",
            "worst window",
            "hottest share",
            "cv",
            "gini",
            "entropy",
            "effective regions",
            "imbalance",
            "total max/mean",
        ],
    );
    for result in results {
        let mut row = vec![result.design.clone()];
        match result.spread.get(metric) {
            None => row.extend((0..9).map(|_| "–".to_owned())),
            Some(SpreadOf { windowed, total }) => {
                let mean = &windowed.mean;
                let regions = result.counts.final_regions().len();
                row.extend([
                    short(mean.max_over_mean),
                    short(windowed.worst.max_over_mean),
                    percent(mean.hottest_share),
                    short(mean.coefficient_of_variation),
                    short(mean.gini),
                    short(mean.normalised_entropy),
                    format!("{} of {regions}", short(mean.effective_count)),
                    // On one server nothing can be balanced.
                    match result.settings.servers {
                        0 | 1 => "–".to_owned(),
                        _ => short(result.imbalance.windowed.imbalance),
                    },
                    short(total.max_over_mean),
                ]);
            }
        }
        table.rows.push(row);
    }
    table
}

fn simulation(results: &[RunResult]) -> Table {
    let first = results.iter().find_map(|result| result.simulations.first());
    let (servers, clients) =
        first.map_or((0, 0), |first| (first.cluster.servers, first.cluster.clients.unwrap_or(0)));
    let settings = results.first().map(|result| &result.settings);
    let (load, service) = settings
        .map_or((0.5, "measured"), |settings| (settings.utilization, settings.service.as_str()));
    let handlers = first.map_or(1, |first| first.cluster.handlers);
    let service = match service {
        "measured" => "service times measured here, a baseline put counts as 200 µs".to_owned(),
        model => format!("service times {model} µs, a model"),
    };
    let handlers = if handlers == 1 { String::new() } else { format!(" with {handlers} handlers") };
    let mut table = Table::new(
        &format!(
            "Simulated on {servers} region servers{handlers} and {clients} clients; latencies at \
             {} of what they could do; {service}",
            percent(load)
        ),
        &[
            "design",
            "requests/s",
            "speed-up",
            "by load",
            "busiest",
            "idlest",
            "p50",
            "p99",
            "p99.9",
        ],
    );
    let is_measured = results.iter().any(|result| result.writing.measured.is_some());
    if is_measured {
        table.head.push("put cost (quartiles)".to_owned());
    }
    for result in results {
        let Some(simulation) = result.simulations.first() else { continue };
        let utilisation = || simulation.saturated.servers.iter().map(|server| server.utilisation);
        let latency = &simulation.paced.latency;
        let by_load = result.simulations.get(1).map(|other| other.speed_up);
        table.rows.push(vec![
            result.design.clone(),
            number(simulation.saturated.throughput),
            short(simulation.speed_up),
            by_load.map_or_else(String::new, short),
            percent(utilisation().fold(0.0, f64::max)),
            percent(utilisation().fold(1.0, f64::min)),
            duration(latency.p50_ns as f64),
            duration(latency.p99_ns as f64),
            duration(latency.p999_ns as f64),
        ]);
        if let (true, Some(row)) = (is_measured, table.rows.last_mut()) {
            row.push(result.writing.measured.map_or_else(String::new, |put| {
                format!(
                    "{} ({}–{})",
                    short(put.relative_cost),
                    short(put.relative_cost_low),
                    short(put.relative_cost_high)
                )
            }));
        }
    }
    table
}

fn reading(results: &[RunResult]) -> Table {
    let mut table = Table::new(
        "What reads cost, per query",
        &[
            "query, design",
            "scans",
            "regions",
            "rows read",
            "cells read",
            "answer",
            "mean",
            "p99",
            "",
        ],
    );
    let mut names: Vec<&str> = Vec::new();
    for query in results.iter().flat_map(|result| &result.queries) {
        if !names.contains(&query.name.as_str()) {
            names.push(&query.name);
        }
    }
    for name in names {
        for result in results {
            let Some(query) = result.queries.iter().find(|query| query.name == name) else {
                continue;
            };
            table.rows.push(vec![
                format!("{name}, {}", result.design),
                short(query.scans),
                short(query.regions),
                number(query.rows_read),
                if query.is_counted() { number(query.cells_examined) } else { NONE.to_owned() },
                number(query.rows_returned),
                duration(query.latency.mean_ns),
                duration(query.latency.p99_ns as f64),
                if query.is_full_scan { "whole table" } else { "" }.to_owned(),
            ]);
        }
    }
    table
}

/// Shown for what the servers of a cluster do not count.
const NONE: &str = "–";

/// Bytes of a record: clusters do not count those of cells, and files only in mebibytes.
fn bytes(value: f64) -> String {
    if value > 0.0 { short(value) } else { NONE.to_owned() }
}

fn storage(results: &[RunResult]) -> Table {
    let mut table = Table::new(
        "What is stored, per record",
        &["design", "key bytes", "cell bytes", "stored bytes", "puts/s here"],
    );
    for result in results {
        let rows = result.storage.rows.max(1) as f64;
        table.rows.push(vec![
            result.design.clone(),
            short(result.storage.key_bytes as f64 / rows),
            bytes(result.storage.cell_bytes as f64 / rows),
            bytes(result.storage.stored_bytes as f64 / rows),
            number(result.writing.puts_per_second),
        ]);
    }
    table
}
