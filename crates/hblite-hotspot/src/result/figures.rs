//! The figures of a result: spread over regions, balancer, and all figures by name.

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Metric};
use super::{Imbalances, QueryCost, RunResult};
use crate::condition::NamedFigures;
use crate::figures::balancer::Imbalance;
use crate::figures::{Figures, Windowed};

/// How evenly requests are spread over regions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Rows written; `None` if there were none.
    pub writes: Option<SpreadOf>,
    /// Rows read.
    pub reads: Option<SpreadOf>,
    /// Bytes written and read.
    pub bytes: Option<SpreadOf>,
}

/// How evenly one thing is spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpreadOf {
    /// Per window: look at these figures first.
    pub windowed: Windowed,
    /// Over the whole run, which hides a moving hot spot.
    pub total: Figures,
}

impl Spread {
    /// The spread of counts.
    pub fn of(counts: &Counts) -> Self {
        let of = |metric| {
            let windowed = Windowed::of(counts.windows.iter().map(|window| window.of(metric)))?;
            Some(SpreadOf { windowed, total: Figures::of(&counts.totals(metric))? })
        };
        Self { writes: of(Metric::Writes), reads: of(Metric::Reads), bytes: of(Metric::Bytes) }
    }

    /// The spread of one metric.
    pub fn get(&self, metric: Metric) -> Option<&SpreadOf> {
        match metric {
            Metric::Writes => self.writes.as_ref(),
            Metric::Reads => self.reads.as_ref(),
            Metric::Bytes => self.bytes.as_ref(),
        }
    }
}

impl Imbalances {
    /// The spread of counts over this many servers, with regions assigned in key order.
    pub fn of(counts: &Counts, servers: usize) -> Self {
        let servers = servers.max(1);
        let mut sum = Imbalance::of(&[], &[], &[]);
        let mut weight_sum = 0.0;
        for window in &counts.windows {
            let imbalance = of_regions(&window.writes, &window.reads, servers);
            let requests = window.writes.iter().chain(&window.reads);
            let weight: f64 = requests.map(|count| *count as f64).sum();
            weight_sum += weight;
            sum.region_count_cost += imbalance.region_count_cost * weight;
            sum.write_request_cost += imbalance.write_request_cost * weight;
            sum.read_request_cost += imbalance.read_request_cost * weight;
            sum.imbalance += imbalance.imbalance * weight;
        }
        if weight_sum > 0.0 {
            sum.region_count_cost /= weight_sum;
            sum.write_request_cost /= weight_sum;
            sum.read_request_cost /= weight_sum;
            sum.imbalance /= weight_sum;
        }
        let (writes, reads) = (counts.totals(Metric::Writes), counts.totals(Metric::Reads));
        Self { windowed: sum, total: of_regions(&writes, &reads, servers) }
    }
}

fn of_regions(writes: &[u64], reads: &[u64], servers: usize) -> Imbalance {
    let mut on: Vec<(usize, f64, f64)> = vec![(0, 0.0, 0.0); servers];
    for (index, (&writes, &reads)) in writes.iter().zip(reads).enumerate() {
        let server = &mut on[index % servers];
        *server = (server.0 + 1, server.1 + writes as f64, server.2 + reads as f64);
    }
    let regions: Vec<usize> = on.iter().map(|server| server.0).collect();
    let writes: Vec<f64> = on.iter().map(|server| server.1).collect();
    let reads: Vec<f64> = on.iter().map(|server| server.2).collect();
    Imbalance::of(&regions, &writes, &reads)
}

impl RunResult {
    /// Whether it is of a watched cluster, of which only its counters are known.
    pub fn is_watched(&self) -> bool {
        self.study == super::WATCH
    }

    /// All figures by name, for conditions and tables. Times are in seconds.
    pub fn named_figures(&self) -> NamedFigures {
        let mut named = NamedFigures::new();
        for metric in Metric::ALL {
            let Some(spread) = self.spread.get(metric) else { continue };
            let scopes = [
                ("windowed", &spread.windowed.mean),
                ("worst", &spread.windowed.worst),
                ("total", &spread.total),
            ];
            for (scope, figures) in scopes {
                for (name, value) in figures.named() {
                    named.insert(format!("{} {scope} {}", metric.text(), name.text()), value);
                }
            }
        }
        for (scope, imbalance) in
            [("windowed", self.imbalance.windowed), ("total", self.imbalance.total)]
        {
            named.insert(format!("writes {scope} imbalance"), imbalance.imbalance);
            named.insert(format!("writes {scope} balancer cost"), imbalance.write_request_cost);
            named.insert(format!("reads {scope} balancer cost"), imbalance.read_request_cost);
        }
        self.name_storage(&mut named);
        self.name_queries(&mut named);
        self.name_simulation(&mut named);
        named
    }

    fn name_storage(&self, named: &mut NamedFigures) {
        let rows = self.storage.rows.max(1) as f64;
        named.insert("puts per second".to_owned(), self.writing.puts_per_second);
        named.insert("key bytes".to_owned(), self.storage.key_bytes as f64 / rows);
        // What was not counted has no name, so that a condition on it is an error.
        let counted =
            [("cell bytes", self.storage.cell_bytes), ("stored bytes", self.storage.stored_bytes)];
        for (name, bytes) in counted.into_iter().filter(|(_, bytes)| *bytes > 0) {
            named.insert(name.to_owned(), bytes as f64 / rows);
        }
        named.insert("regions".to_owned(), self.counts.final_regions().len() as f64);
    }

    fn name_queries(&self, named: &mut NamedFigures) {
        for query in &self.queries {
            let values = [
                ("scans", query.scans),
                ("regions read", query.regions),
                ("rows read", query.rows_read),
                ("cells read", query.cells_examined),
                ("latency", query.latency.mean_ns / 1e9),
            ];
            let is_counted = |what| what != "cells read" || query.is_counted();
            for (what, value) in values.into_iter().filter(|(what, _)| is_counted(*what)) {
                named.insert(format!("{} {what}", query.name), value);
            }
        }
        let cost = self.read_cost();
        named.insert("scans per query".to_owned(), cost.scans);
        named.insert("regions per query".to_owned(), cost.regions);
        named.insert("rows per query".to_owned(), cost.rows_read);
        if self.queries.iter().all(QueryCost::is_counted) {
            named.insert("cells per query".to_owned(), cost.cells_examined);
        }
        named.insert("latency per query".to_owned(), cost.latency_s);
    }

    fn name_simulation(&self, named: &mut NamedFigures) {
        let Some(simulation) = self.simulations.first() else { return };
        named.insert("throughput".to_owned(), simulation.saturated.throughput);
        named.insert("speed-up".to_owned(), simulation.speed_up);
        let latency = simulation.paced.latency;
        for (name, value_ns) in
            [("p50", latency.p50_ns), ("p99", latency.p99_ns), ("p99.9", latency.p999_ns)]
        {
            named.insert(name.to_owned(), value_ns as f64 / 1e9);
        }
        let utilisations = simulation.saturated.servers.iter().map(|server| server.utilisation);
        named.insert("hottest utilisation".to_owned(), utilisations.clone().fold(0.0, f64::max));
        named.insert("idlest utilisation".to_owned(), utilisations.fold(1.0, f64::min));
    }

    /// The mean over the queries, with equal weights.
    pub fn read_cost(&self) -> ReadCost {
        let count = self.queries.len().max(1) as f64;
        let mean =
            |of: fn(&super::QueryCost) -> f64| self.queries.iter().map(of).sum::<f64>() / count;
        ReadCost {
            scans: mean(|query| query.scans),
            regions: mean(|query| query.regions),
            rows_read: mean(|query| query.rows_read),
            cells_examined: mean(|query| query.cells_examined),
            latency_s: mean(|query| query.latency.mean_ns / 1e9),
        }
    }
}

/// What a query costs, averaged over the queries of a study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadCost {
    /// Scans.
    pub scans: f64,
    /// Regions that these opened.
    pub regions: f64,
    /// Rows that were read.
    pub rows_read: f64,
    /// Cells that regions examined.
    pub cells_examined: f64,
    /// Seconds.
    pub latency_s: f64,
}

#[cfg(test)]
mod tests {
    use super::super::counts::{Region, WindowCounts};
    use super::*;

    #[test]
    fn sequential_keys_are_even_in_total_and_hot_in_each_window() {
        let window = |writes: [u64; 4]| WindowCounts {
            writes: writes.to_vec(),
            reads: vec![0; 4],
            bytes: vec![0; 4],
            ..WindowCounts::default()
        };
        let counts = Counts {
            regions: vec![Region::default(); 4],
            layouts: vec![vec![0, 1, 2, 3]],
            windows: vec![
                window([8, 0, 0, 0]),
                window([0, 8, 0, 0]),
                window([0, 0, 8, 0]),
                window([0, 0, 0, 8]),
            ],
        };
        let spread = Spread::of(&counts).writes.expect("there were writes");
        assert_eq!(spread.windowed.mean.max_over_mean, 4.0);
        assert_eq!(spread.total.max_over_mean, 1.0);
        assert_eq!(Spread::of(&counts).reads, None);
        let imbalances = Imbalances::of(&counts, 2);
        assert_eq!(imbalances.windowed.write_request_cost, 1.0);
        assert_eq!(imbalances.total.write_request_cost, 0.0);
    }
}
