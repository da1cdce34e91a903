//! What counting rows costs a request.
//!
//! Gets of one column and puts of one cell, in memory: in a store that does not count; in one that
//! counts, and whose counts are read every 100,000 requests, which is often for one thread; and in
//! one in which they are read after every 1,000, so that all requests are counted. The three take
//! turns; a line has the nanoseconds of a request in the fastest of many short rounds, which other
//! processes disturb the least.

use std::time::Instant;

use hblite::{
    ColumnFamilyDescriptor, Connection, Durability, Get, Put, Table, TableDescriptor, TableName,
};

const ROWS: usize = 10_000;
const REQUESTS_OF_ROUND: usize = 1_000;
/// Rounds after which counts are read; 0 for a store that does not count.
const READ_AFTER: [(usize, &str); 3] =
    [(0, "not counted"), (100, "read every 100,000"), (1, "read every 1,000")];

fn main() {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let rounds = if is_measured { 600 } else { 1 };
    let stores = READ_AFTER.map(|_| {
        let connection = hblite::open_in_memory().expect("a store in memory");
        let table = filled(&connection);
        (connection, table)
    });
    let gets: Vec<Get> = (0..ROWS).map(|row| Get::new(key(row)).with_column("f", "q")).collect();
    let puts: Vec<Put> = (0..ROWS).map(put).collect();
    report("get", &stores, rounds, &|table, at| {
        assert!(!table.get(&gets[at % ROWS]).expect("a get").is_empty());
    });
    report("put", &stores, rounds, &|table, at| table.put(&puts[at % ROWS]).expect("a put"));
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

/// Runs a round in each store in turn, and prints the fastest round of each.
fn report(
    name: &str,
    stores: &[(Connection, Table)],
    rounds: usize,
    request: &dyn Fn(&Table, usize),
) {
    let mut fastest = [f64::INFINITY; READ_AFTER.len()];
    let mut at = 0;
    for round in 0..rounds {
        for ((fastest, (connection, table)), (read_after, _)) in
            fastest.iter_mut().zip(stores).zip(READ_AFTER)
        {
            if read_after > 0 && round % read_after == 0 {
                connection.admin().row_counts(u64::MAX).expect("counts");
            }
            let begin = Instant::now();
            for _ in 0..REQUESTS_OF_ROUND {
                at += 1;
                request(table, at);
            }
            let nanos = begin.elapsed().as_nanos() as f64 / REQUESTS_OF_ROUND as f64;
            *fastest = fastest.min(nanos);
        }
    }
    for (nanos, (_, how)) in fastest.iter().zip(READ_AFTER) {
        println!("{name:3}  {how:18}  {nanos:6.0} ns");
    }
}
