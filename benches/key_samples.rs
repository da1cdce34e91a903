//! What the sample of keys for the console's heat map costs a request.
//!
//! Gets of one column and puts of one cell, in memory, without a sample, with the rate that the
//! console begins with (one key in 32 requests), and with every key. The three take turns; a line
//! has the nanoseconds of a request in the fastest of many short rounds, which other processes
//! disturb the least.

use std::time::Instant;

use hblite::{
    ColumnFamilyDescriptor, Connection, Durability, Get, Put, Table, TableDescriptor, TableName,
};

const ROWS: usize = 10_000;
const REQUESTS_OF_ROUND: usize = 1_000;
/// Requests per sampled key; 0 for no sample.
const RATES: [(u32, &str); 3] = [(0, "no sample"), (32, "1 in 32"), (1, "every key")];

fn main() {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let rounds = if is_measured { 300 } else { 1 };
    let connection = hblite::open_in_memory().expect("a store in memory");
    let table = filled(&connection);
    let gets: Vec<Get> = (0..ROWS).map(|row| Get::new(key(row)).with_column("f", "q")).collect();
    let puts: Vec<Put> = (0..ROWS).map(put).collect();
    let get = |at: usize| assert!(!table.get(&gets[at % ROWS]).expect("a get").is_empty());
    report("get", &connection, rounds, &get);
    let put = |at: usize| table.put(&puts[at % ROWS]).expect("a put");
    report("put", &connection, rounds, &put);
}

fn key(row: usize) -> String {
    // Neighbours in time are far apart in the table.
    format!("{:016x}", (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn put(row: usize) -> Put {
    Put::new(key(row)).add("f", "q", [b'v'; 100]).with_durability(Durability::SkipWal)
}

fn filled(connection: &Connection) -> Table {
    let name: TableName = "t".parse().expect("a name");
    let family = ColumnFamilyDescriptor::new("f");
    connection
        .admin()
        .create_table(&TableDescriptor::new(name).with_family(family))
        .expect("a new table");
    let table = connection.table("t").expect("the table");
    for row in 0..ROWS {
        table.put(&put(row)).expect("a put");
    }
    table
}

/// Runs each rate in turn, and prints the fastest round of each.
fn report(name: &str, connection: &Connection, rounds: usize, request: &dyn Fn(usize)) {
    let samples = connection.key_samples().expect("the samples");
    let mut fastest = [f64::INFINITY; RATES.len()];
    let mut at = 0;
    for _ in 0..rounds {
        for (fastest, (every, _)) in fastest.iter_mut().zip(RATES) {
            samples.set_every(every);
            let begin = Instant::now();
            for _ in 0..REQUESTS_OF_ROUND {
                at += 1;
                request(at);
            }
            let nanos = begin.elapsed().as_nanos() as f64 / REQUESTS_OF_ROUND as f64;
            *fastest = fastest.min(nanos);
            // As the console does every five seconds.
            let taken = samples.take().len();
            assert!((taken > 0) == (every > 0), "{taken} keys with one in {every}");
        }
    }
    samples.set_every(0);
    for (nanos, (_, rate)) in fastest.iter().zip(RATES) {
        println!("{name:3}  {rate:9}  {nanos:6.0} ns");
    }
}
