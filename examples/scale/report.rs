//! Prints the figures as a row of Markdown.

use std::io::{self, Write as _};

use crate::Result;
use crate::arguments::Arguments;
use crate::measured::Measured;
use crate::workload::CELL_SIZE;

const MIB: f64 = 1024.0 * 1024.0;

/// Prints to standard error, which may be closed.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A column: its head and its value.
type Column = (&'static str, String);

/// Prints two tables with one row each: the costs of writing and of reading.
pub(crate) fn print(arguments: &Arguments, measured: &Measured) -> Result<()> {
    let tables = [table(&writing(arguments, measured)), table(&reading(arguments, measured))];
    io::stdout().write_all(tables.join("\n").as_bytes())?;
    Ok(())
}

fn writing(arguments: &Arguments, measured: &Measured) -> Vec<Column> {
    let get = |name: &str| measured.get(name);
    let raw = arguments.cells as f64 * CELL_SIZE as f64;
    let files = format!("{} → {}", get("load.files"), get("settle.files"));
    let own = format!("{}, {}", mib(get("load.own")), mib(get("settle.own")));
    vec![
        ("cells", millions(arguments.cells)),
        ("load, cells/s", rate(get("load.rate"))),
        ("own MiB after the load, at rest", own),
        ("regions", get("settle.regions").to_string()),
        ("files after the load → at rest", files),
        ("rest after, s", format!("{:.1}", get("settle.seconds"))),
        ("stored MiB", mib(get("settle.bytes"))),
        ("stored / raw", format!("{:.2}", get("settle.bytes") / raw)),
        ("written / raw", format!("{:.1}", get("settle.written") / raw)),
    ]
}

fn reading(arguments: &Arguments, measured: &Measured) -> Vec<Column> {
    let get = |name: &str| measured.get(name);
    let mib_pair = |kind: &str| {
        let (opened, read) = (get(&format!("reopen.{kind}")), get(&format!("read.{kind}")));
        format!("{}, {}", mib(opened), mib(read))
    };
    let times = |kind: &str| {
        let (p50, p99) = (get(&format!("{kind}.p50_us")), get(&format!("{kind}.p99_us")));
        format!("{p50:.1} / {p99:.1}")
    };
    vec![
        ("cells", millions(arguments.cells)),
        ("open, ms", format!("{:.1}", get("reopen.open_ms"))),
        ("open after a kill, ms", format!("{:.0}", get("recover.open_ms"))),
        ("own MiB after open, reads", mib_pair("own")),
        ("mapped MiB after open, reads", mib_pair("mapped")),
        ("descriptors, maps", format!("{}, {}", get("reopen.descriptors"), get("reopen.maps"))),
        ("get that hits p50 / p99, µs", times("hit")),
        ("get that misses p50 / p99, µs", times("miss")),
        ("scan, cells/s", rate(get("scan.rate"))),
        ("reverse", rate(get("scan.reverse_rate"))),
    ]
}

fn table(columns: &[Column]) -> String {
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let head = line(columns.iter().map(|(name, _)| *name).collect());
    let rule = line(columns.iter().map(|_| "---").collect());
    let row = line(columns.iter().map(|(_, value)| value.as_str()).collect());
    [head, rule, row].concat()
}

fn mib(bytes: f64) -> String {
    format!("{:.0}", bytes / MIB)
}

fn rate(per_second: f64) -> String {
    format!("{:.2} M", per_second / 1e6)
}

fn millions(cells: u64) -> String {
    if cells.is_multiple_of(1_000_000) {
        format!("{} M", cells / 1_000_000)
    } else {
        cells.to_string()
    }
}
