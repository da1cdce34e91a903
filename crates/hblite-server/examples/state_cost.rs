//! What checkpoints, rewinds and forks cost.
//!
//! `cargo run --release -p hblite-server --example state_cost -- [--dir DIR] [--tables N]
//! [--megabytes N] [--forks N] [--pause-ms N]` fills a store in memory, or in a new directory, with
//! tables and data, and prints the medians of 30 rewinds, back to back and with a pause between
//! them as in tests, and the time, memory and threads of forks.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hblite::{ColumnFamilyDescriptor, Connection, Get, Options, Put, TableDescriptor};
use hblite_server::{Server, ServerOptions};

const ROUNDS: usize = 30;
const VALUE_BYTES: usize = 1000;

struct Arguments {
    dir: Option<PathBuf>,
    tables: usize,
    megabytes: usize,
    forks: usize,
    /// Between two rewinds: a test.
    pause_ms: usize,
}

fn arguments() -> Arguments {
    let mut arguments =
        Arguments { dir: None, tables: 100, megabytes: 1, forks: 100, pause_ms: 50 };
    let mut given = std::env::args().skip(1);
    while let (Some(name), Some(value)) = (given.next(), given.next()) {
        let number = || value.parse().expect("a number");
        match name.as_str() {
            "--dir" => arguments.dir = Some(PathBuf::from(&value)),
            "--tables" => arguments.tables = number(),
            "--megabytes" => arguments.megabytes = number(),
            "--forks" => arguments.forks = number(),
            "--pause-ms" => arguments.pause_ms = number(),
            _ => panic!("{name} is not an option"),
        }
    }
    arguments
}

fn fill(connection: &Connection, arguments: &Arguments) -> hblite::Result<()> {
    let rows = (arguments.megabytes * 1_000_000 / VALUE_BYTES / arguments.tables).max(1);
    for number in 0..arguments.tables {
        let name = format!("t{number}");
        let table = TableDescriptor::new(name.parse()?);
        let table = table.with_family(ColumnFamilyDescriptor::new("f"));
        connection.admin().create_table(&table)?;
        let table = connection.table(name)?;
        for row in 0..rows {
            let value = vec![b'a' + (row % 26) as u8; VALUE_BYTES];
            table.put(&Put::new(format!("{row:08}")).add("f", "q", value))?;
        }
    }
    Ok(())
}

/// A field of the process's status, as the system prints it.
fn status(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|line| line.trim_start_matches(':').split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{what}: median {median:.2?}, slowest {worst:.2?} of {}", times.len());
}

fn main() -> hblite::Result<()> {
    let arguments = arguments();
    let connection = match &arguments.dir {
        Some(dir) => Options::new().open(dir)?,
        None => Options::new().open_in_memory()?,
    };
    let server = Server::start(&connection, ServerOptions::on_free_ports())?;
    fill(&connection, &arguments)?;
    let state = server.state();
    let began = Instant::now();
    state.checkpoint("base")?;
    println!("checkpoint: {:.2?}", began.elapsed());
    let began = Instant::now();
    state.checkpoint("base")?;
    println!("checkpoint, nothing to flush: {:.2?}", began.elapsed());

    let table = connection.table("t0")?;
    let pause = Duration::from_millis(arguments.pause_ms as u64);
    for (what, pause) in [("rewind after a pause", pause), ("rewinds in a row", Duration::ZERO)] {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            table.put(&Put::new("new").add("f", "q", "v"))?;
            std::thread::sleep(pause);
            let began = Instant::now();
            state.rewind("base")?;
            times.push(began.elapsed());
            assert!(table.get(&Get::new("new"))?.is_empty());
        }
        show(what, times);
    }

    let (threads, memory) = (status("Threads"), status("VmRSS"));
    let mut times = Vec::new();
    for _ in 0..arguments.forks {
        let began = Instant::now();
        state.open_fork("base")?;
        times.push(began.elapsed());
    }
    show("forks in a row", times);
    let count = arguments.forks.max(1) as u64;
    println!(
        "a fork: {} threads, {} KiB",
        status("Threads").saturating_sub(threads) / count,
        status("VmRSS").saturating_sub(memory) / count,
    );
    let began = Instant::now();
    state.close_forks();
    println!("closing all forks: {:.2?}", began.elapsed());
    drop(server);
    connection.close()
}
