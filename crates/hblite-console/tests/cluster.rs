//! The console of a cluster. hblite counts rows. HBase counts requests per region, and the keys are
//! sampled from what was written.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hblite::{ColumnFamilyDescriptor, Connection, Get, Put, TableDescriptor};
use hblite_console::{Console, ConsoleOptions, Target};
use hblite_server::{FaultAction, FaultRule, PageServer, Pages, ServerOptions, TestServer};
use serde_json::Value;

/// How long the sample of a window may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A table of two regions on a server that the console knows only as a cluster.
struct Cluster {
    connection: Connection,
    console: Arc<Console>,
    url: String,
    _pages: PageServer,
    _server: TestServer,
}

impl Cluster {
    /// On a server that counts rows, or that refuses to say so, as HBase does.
    fn new(counts_rows: bool) -> Self {
        let options = ServerOptions::on_free_ports();
        let server = TestServer::start_with(hblite::Options::new(), options).unwrap();
        if !counts_rows {
            let rule = FaultRule::new(FaultAction::Error("UnknownProtocolException".to_owned()));
            server.faults().set(rule.methods(["ExecMasterService"])).unwrap();
        }
        let url = format!("hbase+rpc://127.0.0.1:{}", server.ports().master);
        let connection = hblite::connect(&url).unwrap();
        let family = ColumnFamilyDescriptor::new("f");
        let descriptor = TableDescriptor::new("t".parse().unwrap()).with_family(family);
        connection.admin().create_table_with_splits(&descriptor, &[b"m".to_vec()]).unwrap();
        // Windows end when the test says so.
        let options = ConsoleOptions::new().unwrap().with_period(Duration::from_secs(3600));
        let target = Target::Cluster(url);
        let console = Arc::new(Console::new(connection.clone(), target, options).unwrap());
        let pages: Arc<dyn Pages> = Arc::clone(&console) as _;
        let pages = PageServer::start(IpAddr::V4(Ipv4Addr::LOCALHOST), 0, pages).unwrap();
        let url = format!("http://127.0.0.1:{}/console/api/", pages.port());
        Self { connection, console, url, _pages: pages, _server: server }
    }

    fn heat(&self, metric: &str) -> Value {
        let config = ureq::Agent::config_builder().proxy(None).http_status_as_error(false);
        let agent = ureq::Agent::from(config.build());
        let url = format!("{}heat?table=t&rows=40&metric={metric}", self.url);
        let answer: Value = agent.get(url).call().unwrap().body_mut().read_json().unwrap();
        assert!(answer["ranges"].is_array(), "{answer}");
        answer
    }
}

/// The count of the range with this first key in the only window.
fn count(map: &Value, start: &str) -> Option<f64> {
    let ranges = map["ranges"].as_array().unwrap();
    let index = ranges.iter().position(|range| range["start"] == start)?;
    map["counts"][0][index].as_f64()
}

#[test]
fn written_keys_divide_regions_and_are_named() {
    let cluster = Cluster::new(false);
    let table = cluster.connection.table("t").unwrap();
    let mut written_at = 0;
    for row in 0..400 {
        table.put(&Put::new(format!("row{row:04}")).add("f", "q", "v")).unwrap();
        if row % 2 == 0 {
            // In the same millisecond, it would be the same cell.
            while cluster.connection.now_millis() <= written_at {}
            table.put(&Put::new("sun").add("f", "q", "v")).unwrap();
            written_at = cluster.connection.now_millis();
        }
        if row % 4 == 0 {
            table.get(&Get::new("a")).unwrap();
        }
    }
    cluster.console.record();
    let begin = Instant::now();
    // The sample is taken by a thread; until then, there are only the two regions.
    let map = loop {
        let map = cluster.heat("writes");
        if map["ranges"].as_array().unwrap().len() > 2 {
            break map;
        }
        assert!(begin.elapsed() < PATIENCE, "no keys were sampled: {map}");
    };
    assert_eq!(map["sampled"], "writes");
    assert_eq!(map["regions"], 2);
    let total: f64 =
        map["counts"][0].as_array().unwrap().iter().filter_map(|count| count.as_f64()).sum();
    assert!((total - 600.0).abs() < 0.1, "the regions' counts are exact: {total}");
    // A third of the writes went to one row, which has a range of its own.
    let hot = count(&map, "sun").unwrap();
    assert!((150.0..250.0).contains(&hot), "{hot} writes of the hot row: {map}");
    let findings = map["findings"].to_string();
    assert!(findings.contains("The row \\\"sun\\\" has 3"), "{findings}");

    // Reads leave no trace: they are counted per region.
    let reads = cluster.heat("reads");
    assert_eq!(reads["ranges"].as_array().unwrap().len(), 2, "{reads}");
    assert!(count(&reads, "").unwrap() >= 100.0, "{reads}");
}

#[test]
fn counted_rows_are_named_for_reads_and_writes() {
    let cluster = Cluster::new(true);
    let table = cluster.connection.table("t").unwrap();
    // Rows are counted from now on.
    cluster.console.record();
    for row in 0..400 {
        table.put(&Put::new(format!("row{row:04}")).add("f", "q", "v")).unwrap();
        table.get(&Get::new(if row % 2 == 0 { "sun" } else { "a" })).unwrap();
    }
    cluster.console.record();
    let reads = cluster.heat("reads");
    assert_eq!((&reads["sampled"], &reads["regions"]), (&"requests".into(), &2.into()));
    let findings = reads["findings"].to_string();
    assert!(findings.contains("The row \\\"sun\\\" has"), "{findings}");
}
