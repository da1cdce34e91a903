//! What a call costs in a task of tokio: directly on a worker, and in `spawn_blocking`.
//!
//! ```text
//! cargo run --release --example tokio
//! ```
//!
//! Puts and gets of 10,000 rows of 100 bytes, on a store in a temporary directory and a runtime of
//! two workers. One task, then 64 at once; the fastest of ten rounds, which others disturbed least.
//! `--calls N` makes another number of calls.

use std::time::{Duration, Instant};

use hblite::{ColumnFamilyDescriptor, Durability, Error, Get, Put, Result, Table};
use hblite::{TableDescriptor, open};
use tokio::runtime::{Builder, Runtime};
use tokio::task::spawn_blocking;

const CALLS: u64 = 10_000;
const ROUNDS: u32 = 10;
/// Calls that wait for the disk.
const SYNCED: u64 = 50;
const TASKS: u64 = 64;

/// One call, with the number of its row.
type Call = fn(&Table, u64) -> Result<()>;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let calls = calls();
    let dir = tempfile::tempdir()?;
    let connection = open(dir.path().join("store"))?;
    let family = ColumnFamilyDescriptor::new("f");
    connection.admin().create_table(&TableDescriptor::new("t".parse()?).with_family(family))?;
    let table = connection.table("t")?;
    let runtime = Builder::new_multi_thread().worker_threads(2).build()?;
    println!("call         where             one task   {TASKS} tasks");
    let rows: [(&str, Call, u64); 3] =
        [("put", put, calls), ("get", get, calls), ("put, synced", put_synced, calls / SYNCED)];
    for (name, call, count) in rows {
        for (way, blocking) in [("on a worker", false), ("spawn_blocking", true)] {
            let fastest = |tasks| {
                let rounds =
                    (0..ROUNDS).map(|_| run(&runtime, &table, call, blocking, tasks, count));
                let times = rounds.collect::<Result<Vec<_>>>()?;
                Ok::<_, Error>(per_call(times.into_iter().min().unwrap_or_default(), count))
            };
            let (one, many) = (fastest(1)?, fastest(TASKS)?);
            println!("{name:12} {way:15} {one:8.2} µs {many:8.2} µs");
        }
    }
    connection.close()?;
    Ok(())
}

/// How many calls each row of the output makes.
fn calls() -> u64 {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--calls").skip(1);
    arguments.next().and_then(|number| number.parse().ok()).unwrap_or(CALLS).max(SYNCED * TASKS)
}

fn per_call(time: Duration, count: u64) -> f64 {
    time.as_secs_f64() * 1e6 / count as f64
}

fn key(number: u64) -> String {
    format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn put(table: &Table, number: u64) -> Result<()> {
    table.put(&Put::new(key(number)).add("f", "q", [7; 100]))
}

fn put_synced(table: &Table, number: u64) -> Result<()> {
    let put = Put::new(key(number)).add("f", "q", [7; 100]);
    table.put(&put.with_durability(Durability::FsyncWal))
}

fn get(table: &Table, number: u64) -> Result<()> {
    table.get(&Get::new(key(number))).map(|row| assert!(!row.is_empty(), "put before"))
}

/// The wall-clock time of `count` calls by this many tasks.
fn run(
    runtime: &Runtime,
    table: &Table,
    call: Call,
    blocking: bool,
    tasks: u64,
    count: u64,
) -> Result<Duration> {
    let start = Instant::now();
    runtime.block_on(async {
        let tasks = (0..tasks).map(|task| {
            let table = table.clone();
            runtime.spawn(async move {
                for number in (task..count).step_by(tasks as usize) {
                    if blocking {
                        let table = table.clone();
                        spawn_blocking(move || call(&table, number)).await.expect("no panic")?;
                    } else {
                        call(&table, number)?;
                    }
                }
                Ok::<(), Error>(())
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("no panic")?;
        }
        Ok(start.elapsed())
    })
}
