//! The numbers of a result, read from its JSON, against calculations that share no code with the
//! run: from the keys that were sent, from formulas written out, and from queues computed call by
//! call.

use std::collections::BinaryHeap;
use std::path::Path;

use serde_json::Value as Json;

use super::{RunOptions, Stream, Target, run};
use crate::study::{Candidate, Study};

const SERVICE_NS: u64 = 200_000;

struct Run {
    json: Json,
    options: RunOptions,
    /// Arrival and key of each record.
    records: Vec<(u64, Vec<u8>)>,
    dir: tempfile::TempDir,
}

fn run_of(study: &str, design: &str, reads: u64) -> Run {
    let dir = tempfile::tempdir().expect("a directory");
    let options = RunOptions {
        records: 4_000,
        regions: 6,
        windows: 8,
        reads,
        servers: 3,
        clients: 7,
        value_bytes: 11,
        threads: 2,
        batch: 50,
        utilization: 0.6,
        service: "constant(200)".parse().expect("a law"),
        dir: Some(dir.path().join("stores")),
        ..RunOptions::default()
    };
    let study = Study::find(study).expect("a study");
    let candidate = Candidate::new(study, design, options.regions).expect("a design");
    let stream = Stream::new(&candidate, &options).expect("good settings");
    let connection = hblite::open_in_memory().expect("a store");
    let table = &candidate.tables().expect("tables")[0];
    connection.admin().create_table(table).expect("a table");
    let opened = candidate.open(&connection).expect("a table");
    let mut key = Vec::new();
    let mut record = |index| {
        opened.row(&stream.moment(index), &mut key).expect("it fits");
        (stream.arrival_ns(index), key.clone())
    };
    let records = (0..stream.len()).map(&mut record).collect();
    let result = run(&candidate, &stream, &options, |_| {}).expect("a run");
    let results = dir.path().join("results");
    std::fs::create_dir(&results).expect("a directory");
    let path = crate::result::write(&results, &result).expect("written");
    let text = std::fs::read_to_string(path).expect("a file");
    Run { json: serde_json::from_str(&text).expect("JSON"), options, records, dir }
}

fn number(json: &Json) -> f64 {
    json.as_f64().unwrap_or_else(|| panic!("{json} is not a number"))
}

fn close(found: &Json, expected: f64, what: &str) {
    let found = number(found);
    let error = (found - expected).abs() / expected.abs().max(1.0);
    assert!(error < 1e-9, "{what}: {found}, not {expected}");
}

fn numbers(json: &Json) -> Vec<f64> {
    json.as_array().expect("a list").iter().map(number).collect()
}

impl Run {
    fn windows(&self) -> &[Json] {
        self.json["counts"]["windows"].as_array().expect("windows")
    }

    /// The position of the region of a key among the start keys.
    fn region_of(&self, key: &[u8]) -> usize {
        let regions = self.json["counts"]["regions"].as_array().expect("regions");
        let start = |region: &Json| {
            hblite::bytes::from_string_binary(region["start"].as_str().expect("a key"))
        };
        regions.iter().filter(|region| start(region).as_slice() <= key).count() - 1
    }
}

/// `counts` and `storage`: what was sent, cell by cell.
#[test]
fn counts_and_sizes_are_those_of_the_records_sent() {
    // Every name occurs once: a cell that replaces an equal one would not count.
    let run = run_of("salting", "hashed", 0);
    let end_ns = run.records[run.records.len() - 1].0 + 1;
    let mut cell_bytes = 0;
    for (index, window) in run.windows().iter().enumerate() {
        let border = |at: usize| end_ns * at as u64 / run.options.windows as u64;
        assert_eq!(window["start_ns"], border(index));
        assert_eq!(window["end_ns"], border(index + 1));
        let (mut writes, mut bytes) = (vec![0_u64; 6], vec![0_u64; 6]);
        for (arrival_ns, key) in &run.records {
            if (border(index)..border(index + 1)).contains(arrival_ns) {
                let region = run.region_of(key);
                writes[region] += 1;
                // Two lengths, the row with its length, family with its length, qualifier,
                // timestamp, type, value.
                bytes[region] += (4 + 4 + 2 + key.len() + 1 + 1 + 1 + 8 + 1 + 11) as u64;
            }
        }
        assert_eq!(window["writes"], Json::from(writes), "window {index}");
        assert_eq!(window["bytes"], Json::from(bytes.clone()), "window {index}");
        assert_eq!(window["reads"], Json::from(vec![0; 6]), "window {index}");
        cell_bytes += bytes.iter().sum::<u64>();
    }
    let storage = &run.json["storage"];
    assert_eq!(storage["rows"], 4_000);
    assert_eq!(storage["key_bytes"], run.records.iter().map(|r| r.1.len()).sum::<usize>());
    assert_eq!(storage["cell_bytes"], cell_bytes);
    assert_eq!(storage["stored_bytes"], store_file_bytes(run.dir.path()));
    let writing = &run.json["writing"];
    let rows = number(&writing["seconds"]) * number(&writing["puts_per_second"]);
    assert!((rows / 4_000.0 - 1.0).abs() < 1e-6, "{writing}");
    assert_eq!((&writing["threads"], &writing["measured"]), (&Json::from(2), &Json::Null));
}

/// The sizes of the store files of tables below a directory, apart from the archive.
fn store_file_bytes(dir: &Path) -> u64 {
    let mut sum = 0;
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let entry = entry.expect("an entry");
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            let is_other = ["archive", "results", "hbase", "WALs", "MasterData"];
            if !is_other.contains(&name.as_str()) {
                sum += store_file_bytes(&path);
            }
        } else if path.parent().is_some_and(|family| family.ends_with("d")) {
            sum += entry.metadata().expect("a file").len();
        }
    }
    sum
}

/// The figures of a list of loads, by definitions that differ from those of the code.
fn figures(loads: &[f64]) -> [(&'static str, f64); 6] {
    let n = loads.len() as f64;
    let total: f64 = loads.iter().sum();
    let greatest = loads.iter().copied().fold(0.0, f64::max);
    let squares: f64 = loads.iter().map(|load| load * load).sum();
    let variance = squares / n - (total / n) * (total / n);
    let mut differences = 0.0;
    for one in loads {
        for other in loads {
            differences += (one - other).abs();
        }
    }
    let bits: f64 = loads
        .iter()
        .filter(|load| **load > 0.0)
        .map(|load| load / total * (total / load).log2())
        .sum();
    [
        ("hottest_share", greatest / total),
        ("max_over_mean", greatest * n / total),
        ("coefficient_of_variation", variance.max(0.0).sqrt() * n / total),
        ("gini", differences / (2.0 * n * total)),
        ("normalised_entropy", bits / n.log2()),
        ("effective_count", total * total / squares),
    ]
}

/// `spread`: recomputed from the counts, for each metric, window by window and in total.
#[test]
fn spread_follows_from_the_counts() {
    let run = run_of("log-keys", "host-lead", 40);
    for metric in ["writes", "reads", "bytes"] {
        let spread = &run.json["spread"][metric];
        let windows: Vec<Vec<f64>> = run.windows().iter().map(|w| numbers(&w[metric])).collect();
        let totals: Vec<f64> =
            (0..6).map(|region| windows.iter().map(|window| window[region]).sum()).collect();
        let all: f64 = totals.iter().sum();
        for (place, (name, total)) in figures(&totals).into_iter().enumerate() {
            close(&spread["total"][name], total, &format!("{metric} total {name}"));
            let loaded = || windows.iter().filter(|window| window.iter().sum::<f64>() > 0.0);
            let of = |window: &&Vec<f64>| (figures(window)[place].1, window.iter().sum::<f64>());
            let mean: f64 = loaded().map(|w| of(&w)).map(|(f, load)| f * load / all).sum();
            close(&spread["windowed"]["mean"][name], mean, &format!("{metric} mean {name}"));
            let values = loaded().map(|window| of(&window).0);
            let is_least_worst = ["normalised_entropy", "effective_count"].contains(&name);
            let worst = if is_least_worst {
                values.fold(f64::INFINITY, f64::min)
            } else {
                values.fold(0.0, f64::max)
            };
            close(&spread["windowed"]["worst"][name], worst, &format!("{metric} worst {name}"));
            assert_eq!(spread["windowed"]["windows"], loaded().count());
        }
    }
}

/// HBase's cost of amounts per server, for whole amounts that are more than the servers.
fn balancer_cost(amounts: &[f64]) -> f64 {
    let n = amounts.len() as f64;
    let total: f64 = amounts.iter().sum();
    if total == 0.0 {
        return 0.0;
    }
    let mean = total / n;
    let skew = amounts.iter().map(|amount| (amount - mean) * (amount - mean)).sum::<f64>().sqrt();
    let above = total % n;
    let best = (above * (1.0 - mean.fract()).powi(2) + (n - above) * mean.fract().powi(2)).sqrt();
    let best = if above == 0.0 { 0.0 } else { best };
    let worst = ((total - mean).powi(2) + (n - 1.0) * mean * mean).sqrt();
    ((skew - best) / (worst - best)).max(0.0)
}

/// `imbalance`: regions dealt out to the servers in key order.
#[test]
fn imbalance_follows_from_the_counts() {
    let run = run_of("log-keys", "host-lead", 40);
    let on_servers = |loads: &[f64]| -> Vec<f64> {
        (0..3).map(|server| loads.iter().skip(server).step_by(3).sum()).collect()
    };
    let (mut weights, mut sums) = (0.0, [0.0; 3]);
    let mut totals = [vec![0.0; 6], vec![0.0; 6]];
    for window in run.windows() {
        let loads = [numbers(&window["writes"]), numbers(&window["reads"])];
        let costs = loads.each_ref().map(|loads| balancer_cost(&on_servers(loads)));
        let weight: f64 = loads.iter().flatten().sum();
        weights += weight;
        let imbalance = (costs[0] + costs[1]) * 5.0 / 510.0;
        for (sum, cost) in sums.iter_mut().zip([costs[0], costs[1], imbalance]) {
            *sum += cost * weight;
        }
        for (totals, loads) in totals.iter_mut().zip(&loads) {
            totals.iter_mut().zip(loads).for_each(|(total, load)| *total += load);
        }
    }
    let total = totals.each_ref().map(|loads| balancer_cost(&on_servers(loads)));
    let imbalance = &run.json["imbalance"];
    for (place, name) in
        ["write_request_cost", "read_request_cost", "imbalance"].into_iter().enumerate()
    {
        close(&imbalance["windowed"][name], sums[place] / weights, name);
    }
    close(&imbalance["total"]["write_request_cost"], total[0], "writes in total");
    close(&imbalance["total"]["read_request_cost"], total[1], "reads in total");
    close(&imbalance["total"]["imbalance"], (total[0] + total[1]) * 5.0 / 510.0, "in total");
    close(&imbalance["windowed"]["region_count_cost"], 0.0, "six regions on three servers");
}

/// `queries`: what a filter over the sent keys finds, and the counters of the regions.
#[test]
fn queries_cost_what_the_sent_keys_say() {
    let run = run_of("salting", "sequential", 16);
    let queries = run.json["queries"].as_array().expect("queries");
    let reads: f64 = run.windows().iter().flat_map(|window| numbers(&window["reads"])).sum();
    let mut rows = 0.0;
    for query in queries {
        assert_eq!((&query["runs"], &query["is_full_scan"]), (&16.into(), &false.into()));
        close(&query["scans"], 1.0, "a sequential key needs one scan");
        // One cell a row, and every row that is read is in the answer.
        close(&query["cells_examined"], number(&query["rows_read"]), "cells");
        close(&query["rows_returned"], number(&query["rows_read"]), "rows");
        assert!((1.0..=2.0).contains(&number(&query["regions"])), "{query}");
        rows += number(&query["rows_read"]) * 16.0;
        let latency = &query["latency"];
        let order = ["p50_ns", "p99_ns", "p999_ns", "max_ns"].map(|name| number(&latency[name]));
        assert!(order[0] > 0.0 && order.is_sorted(), "{latency}");
        assert!((order[0] / 20.0..=order[3]).contains(&number(&latency["mean_ns"])), "{latency}");
    }
    close(&queries[0]["rows_read"], 1.0, "one name");
    // Each question is asked once beforehand, which the counters of the first window show. A
    // region in which a scan finds nothing counts one request.
    let crossings: f64 = queries.iter().map(|query| (number(&query["regions"]) - 1.0) * 16.0).sum();
    let empty = reads - rows - 101.0;
    assert!((0.0..=crossings).contains(&empty), "{reads} counted, {rows} reported");
    let run = run_of("salting", "hashed", 16);
    let scan = &run.json["queries"][1];
    assert_eq!((&scan["runs"], &scan["is_full_scan"]), (&3.into(), &true.into()));
    close(&scan["regions"], 6.0, "all regions");
}

/// Latencies of calls on servers with constant service, call by call.
struct Queues {
    latencies: Vec<u64>,
    requests: [u64; 3],
    end_ns: u64,
}

/// Calls are sent at their times or, if there are clients, as soon as one is free.
fn queues(run: &Run, sends: impl Fn(usize) -> u64, clients: usize, servers: usize) -> Queues {
    let mut free = [0_u64; 3];
    let mut idle: BinaryHeap<std::cmp::Reverse<u64>> =
        (0..clients).map(|_| std::cmp::Reverse(0)).collect();
    let mut queues = Queues { latencies: Vec::new(), requests: [0; 3], end_ns: 0 };
    for (index, (_, key)) in run.records.iter().enumerate() {
        let send_ns = idle.pop().map_or_else(|| sends(index), |free| free.0);
        let server = run.region_of(key) % servers;
        let end_ns = free[server].max(send_ns) + SERVICE_NS;
        free[server] = end_ns;
        queues.latencies.push(end_ns - send_ns);
        queues.requests[server] += 1;
        queues.end_ns = queues.end_ns.max(end_ns);
        if clients > 0 {
            idle.push(std::cmp::Reverse(end_ns));
        }
    }
    queues.latencies.sort_unstable();
    queues
}

fn check_latency(latency: &Json, sorted: &[u64]) {
    let mean = sorted.iter().sum::<u64>() as f64 / sorted.len() as f64;
    let near = |found: &Json, expected: f64| {
        // Three significant digits are kept.
        let error = (number(found) / expected - 1.0).abs();
        assert!(error < 2e-3, "{latency}: {found}, not {expected}");
    };
    near(&latency["mean_ns"], mean);
    for (name, share) in [("p50_ns", 0.5), ("p99_ns", 0.99), ("p999_ns", 0.999)] {
        let place = (sorted.len() as f64 * share).ceil() as usize;
        near(&latency[name], sorted[place - 1] as f64);
    }
    near(&latency["max_ns"], sorted[sorted.len() - 1] as f64);
}

/// `simulations`: with constant service every latency follows from arrivals and regions.
#[test]
fn simulations_are_those_of_queues_computed_call_by_call() {
    let run = run_of("car-keys", "car-ts", 0);
    let simulation = &run.json["simulations"][0];
    assert_eq!(simulation["cluster"]["balancer"], "region-count");
    close(&simulation["write_service_ns"], SERVICE_NS as f64, "service");

    let saturated = &simulation["saturated"];
    let expected = queues(&run, |_| 0, 7, 3);
    check_latency(&saturated["latency"], &expected.latencies);
    check_outcome(saturated, &expected, 0);
    let one = queues(&run, |_| 0, 7, 1);
    let one_server = 4_000.0 / (one.end_ns as f64 / 1e9);
    close(&simulation["one_server_throughput"], one_server, "one server");
    let throughput = 4_000.0 / (expected.end_ns as f64 / 1e9);
    close(&simulation["speed_up"], throughput / one_server, "speed-up");

    // 60 % of what three servers can do.
    close(&simulation["paced_rate"], 3.0 * 5_000.0 * 0.6, "the paced rate");
    let last_ns = run.records[3_999].0;
    let factor = 9_000.0 / (4_000.0 / (last_ns as f64 / 1e9));
    let sends = |index: usize| (run.records[index].0 as f64 / factor) as u64;
    let expected = queues(&run, sends, 0, 3);
    check_latency(&simulation["paced"]["latency"], &expected.latencies);
    check_outcome(&simulation["paced"], &expected, sends(0));
}

fn check_outcome(outcome: &Json, expected: &Queues, start_ns: u64) {
    assert_eq!(outcome["completed"], 4_000);
    for nothing in ["failed", "retries", "moves"] {
        assert_eq!(outcome[nothing], 0, "{nothing}");
    }
    let duration_ns = expected.end_ns - start_ns;
    assert_eq!(outcome["duration_ns"], duration_ns);
    close(&outcome["throughput"], 4_000.0 / (duration_ns as f64 / 1e9), "throughput");
    let step_ns = number(&outcome["timeline"]["step_ns"]);
    for (index, server) in outcome["servers"].as_array().expect("servers").iter().enumerate() {
        let requests = expected.requests[index];
        assert_eq!(server["requests"], requests);
        let busy_ns = (requests * SERVICE_NS) as f64;
        close(&server["utilisation"], busy_ns / duration_ns as f64, "utilization");
        // The strips of the plot add up to the same work.
        let steps = numbers(&outcome["timeline"]["servers"][index]);
        close(&(steps.iter().sum::<f64>() * step_ns).into(), busy_ns, "timeline");
        assert!(steps.iter().all(|share| (0.0..=1.0 + 1e-9).contains(share)), "{steps:?}");
    }
}
