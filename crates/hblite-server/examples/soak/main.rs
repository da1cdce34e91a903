//! A soak: hours of mixed load by threads of this process and by clients of the server in it, while
//! memory, descriptors, disk and latency are sampled each second.
//!
//! ```text
//! soak --dir DIR --out DIR [--seconds N] [--rate N] [--port-file FILE] [--clients FILE]
//! ```
//!
//! `--rate` is the number of calls per second of the threads together. `--clients` is a file in
//! which clients write `second,calls,p50 in us,p99 in us` each second. At the end, it writes
//! `soak.csv` and `soak.svg` to `--out`, prints the result of [`verdict`], and exits with 1 if
//! something grew. `tools/faults/soak` runs it with Java clients.

mod load;
mod plot;
mod sample;
mod verdict;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hblite::{ColumnFamilyDescriptor, Options, TableDescriptor};
use hblite_server::{Server, ServerOptions};

use sample::{Latencies, Sample};

struct Arguments {
    dir: PathBuf,
    out: PathBuf,
    seconds: u64,
    rate: u64,
    port_file: Option<PathBuf>,
    clients: Option<PathBuf>,
}

fn arguments() -> Arguments {
    let (mut dir, mut out) = (None, None);
    let (mut seconds, mut rate, mut port_file, mut clients) = (60, 800, None, None);
    let mut given = std::env::args().skip(1);
    while let (Some(name), Some(value)) = (given.next(), given.next()) {
        let number = || value.parse().expect("a number");
        match name.as_str() {
            "--dir" => dir = Some(PathBuf::from(&value)),
            "--out" => out = Some(PathBuf::from(&value)),
            "--seconds" => seconds = number(),
            "--rate" => rate = number(),
            "--port-file" => port_file = Some(PathBuf::from(&value)),
            "--clients" => clients = Some(PathBuf::from(&value)),
            _ => panic!("{name} is not an option"),
        }
    }
    let (dir, out) = (dir.expect("--dir DIR"), out.expect("--out DIR"));
    Arguments { dir, out, seconds, rate, port_file, clients }
}

/// Small enough that memstores are flushed and files compacted every few seconds.
const FLUSH_SIZE: u64 = 1 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments();
    std::fs::create_dir_all(&arguments.out)?;
    let engine = Options::new().with_memstore_flush_size_bytes(FLUSH_SIZE);
    let connection = engine.open(&arguments.dir)?;
    let family = ColumnFamilyDescriptor::new("f").with_versions(1);
    for name in ["embedded", "clients"] {
        let table = TableDescriptor::new(name.parse()?).with_family(family.clone());
        connection.admin().create_table_with_splits(&table, &[b"r5".to_vec()])?;
    }
    let server = Server::start(&connection, ServerOptions::on_free_ports())?;
    if let Some(file) = &arguments.port_file {
        let zookeeper = server.ports().zookeeper.expect("a port");
        std::fs::write(file, format!("{zookeeper}\n"))?;
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let latencies = Arc::new(Latencies::default());
    let threads = load::start(&connection, arguments.rate, &latencies, &is_over)?;
    let mut samples = observe(&arguments, &latencies);
    is_over.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().expect("no panic")?;
    }
    drop(server);
    connection.close()?;
    if let Some(file) = &arguments.clients {
        sample::add_clients(&mut samples, &std::fs::read_to_string(file)?);
    }
    std::fs::write(arguments.out.join("soak.csv"), sample::csv(&samples))?;
    std::fs::write(arguments.out.join("soak.svg"), plot::svg(&samples))?;
    let findings = verdict::judge(&samples);
    findings.iter().for_each(|finding| println!("{finding}"));
    if findings.iter().any(|finding| !finding.is_flat()) {
        std::process::exit(1);
    }
    Ok(())
}

fn observe(arguments: &Arguments, latencies: &Latencies) -> Vec<Sample> {
    let began = Instant::now();
    let mut samples = Vec::new();
    for second in 1..=arguments.seconds {
        let next = began + Duration::from_secs(second);
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        samples.push(Sample::take(second, &arguments.dir, latencies));
    }
    samples
}
