//! `/metrics`: the counters in Prometheus' text format.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use hblite_engine::{Engine, RegionHandle};

use super::Admin;
use super::message::{Response, with_type};
use super::status::Files;

const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) fn metrics(admin: &Admin) -> Response {
    let cluster = &*admin.cluster.get();
    let mut text = Text::default();
    let connections = admin.dispatcher.connections().taken();
    text.single("hblite_connections", "Open connections.", connections);
    let used = cluster.memory.used_bytes();
    text.single("hblite_call_memory_bytes", "Memory that calls and scanners use.", used);
    let limit = cluster.memory.size_bytes();
    text.single("hblite_call_memory_limit_bytes", "Memory limit of calls and scanners.", limit);
    text.single(
        "hblite_queued_calls",
        "Calls waiting for a thread.",
        admin.dispatcher.queued_calls(),
    );
    text.single("hblite_scanners", "Open scanners.", cluster.scanners.len());
    text.head("hblite_server_up", "gauge", "Whether the region server is alive.");
    for server in 0..cluster.region_servers.len() {
        let is_up = u8::from(cluster.region_servers.is_alive(server));
        text.sample("hblite_server_up", &[("server", &server)], is_up);
    }
    text.head("hblite_fault_happened_total", "counter", "Calls affected by a fault.");
    for fault in admin.faults.list() {
        text.sample("hblite_fault_happened_total", &[("fault", &fault.id)], fault.happened);
    }
    scrub(&mut text, &cluster.engine);
    let regions = cluster.engine.online_regions();
    for (name, kind, help, value) in OF_REGIONS {
        text.head(name, kind, help);
        for region in &regions {
            let info = region.info();
            let server = cluster.place_of(info).server;
            let labels: [(&str, &dyn Display); 3] =
                [("table", info.table()), ("region", &info.encoded_name()), ("server", &server)];
            text.sample(name, &labels, value(region));
        }
    }
    with_type(CONTENT_TYPE, text.0)
}

/// The scrubber's work and findings.
fn scrub(text: &mut Text, engine: &Engine) {
    let scrub = engine.scrub_status();
    let counters = [
        ("hblite_scrub_rounds_total", "Times that all store files were verified.", scrub.rounds),
        ("hblite_scrub_files_total", "Store files that were verified.", scrub.files),
        ("hblite_scrub_bytes_total", "Bytes of blocks that were verified.", scrub.bytes),
    ];
    for (name, help, value) in counters {
        text.head(name, "counter", help);
        let _ = writeln!(text.0, "{name} {value}");
    }
    let name = "hblite_damaged_store_files";
    text.head(name, "gauge", "Store files that are damaged.");
    let mut counts = BTreeMap::<(String, &str), u64>::new();
    for file in &scrub.damaged {
        *counts.entry((file.table.to_string(), &file.region)).or_default() += 1;
    }
    for ((table, region), count) in &counts {
        text.sample(name, &[("table", table), ("region", region)], count);
    }
}

type OfRegion = (&'static str, &'static str, &'static str, fn(&RegionHandle) -> u64);

const OF_REGIONS: &[OfRegion] = &[
    ("hblite_region_read_requests_total", "counter", "Gets and rows of scans.", |region| {
        region.load().read_requests
    }),
    ("hblite_region_write_requests_total", "counter", "Rows that were written.", |region| {
        region.load().write_requests
    }),
    ("hblite_region_cells_read_total", "counter", "Cells returned to readers.", |region| {
        region.load().cells_read
    }),
    ("hblite_region_cells_written_total", "counter", "Cells written.", |region| {
        region.load().cells_written
    }),
    ("hblite_region_memstore_bytes", "gauge", "Bytes of the memstore.", |region| {
        region.memstore_size_bytes() as u64
    }),
    ("hblite_region_store_files", "gauge", "Number of store files.", |region| {
        Files::of(region).count as u64
    }),
    ("hblite_region_store_file_bytes", "gauge", "Bytes of store files.", |region| {
        Files::of(region).size_bytes
    }),
];

/// The text so far.
#[derive(Default)]
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// No label has a character that needs escaping: tables and encoded names are letters, digits
    /// and `_-.:`.
    fn sample(&mut self, name: &str, labels: &[(&str, &dyn Display)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
        let _ = writeln!(self.0, "{name}{{{}}} {value}", labels.join(","));
    }

    fn single(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "gauge", help);
        let _ = writeln!(self.0, "{name} {value}");
    }
}
