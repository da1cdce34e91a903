//! The load of threads in this process: puts, batches, gets, scans, increments, deletes and checks
//! on a bounded set of rows, at a steady rate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hblite::{CheckAndMutate, Connection, Delete, Get, Increment, Put, Result, Scan, Table};

use crate::sample::Latencies;

const THREADS: u64 = 4;
const ROWS: u64 = 50_000;
const VALUE_BYTES: u64 = 500;

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn row(&mut self) -> String {
        format!("r{:05}", self.below(ROWS))
    }

    fn put(&mut self) -> Put {
        let value = vec![b'a' + self.below(26) as u8; 1 + self.below(VALUE_BYTES) as usize];
        Put::new(self.row()).add("f", "q", value)
    }
}

/// Starts the threads, which make `rate` calls a second together until `is_over`.
pub(crate) fn start(
    connection: &Connection,
    rate: u64,
    latencies: &Arc<Latencies>,
    is_over: &Arc<AtomicBool>,
) -> Result<Vec<JoinHandle<Result<()>>>> {
    let period = Duration::from_secs(THREADS) / u32::try_from(rate.max(1)).unwrap_or(u32::MAX);
    (1..=THREADS)
        .map(|number| {
            let table = connection.table("embedded")?;
            let (latencies, is_over) = (Arc::clone(latencies), Arc::clone(is_over));
            let mut random = Random(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            Ok(std::thread::spawn(move || {
                let mut next = Instant::now();
                while !is_over.load(Ordering::Relaxed) {
                    std::thread::sleep(next.saturating_duration_since(Instant::now()));
                    let began = Instant::now();
                    call(&table, &mut random)?;
                    let micros = began.elapsed().as_micros();
                    latencies.add(u32::try_from(micros).unwrap_or(u32::MAX));
                    // Calls that could not be made in time are not made up for later.
                    next = (next + period).max(began);
                }
                Ok(())
            }))
        })
        .collect()
}

fn call(table: &Table, random: &mut Random) -> Result<()> {
    match random.below(100) {
        0..35 => table.put(&random.put()),
        35..40 => {
            let puts: Vec<Put> = (0..20).map(|_| random.put()).collect();
            table.put_all(&puts)
        }
        40..75 => table.get(&Get::new(random.row())).map(drop),
        75..85 => {
            let scan = Scan::new().with_start_row(random.row()).with_limit(50);
            table.scan(&scan)?.try_for_each(|row| row.map(drop))
        }
        85..90 => {
            let counter = format!("r9c{}", random.below(100));
            table.increment(&Increment::new(counter).add("f", "n", 1)).map(drop)
        }
        90..95 => table.delete(&Delete::new(random.row())),
        _ => {
            let row = random.row();
            let put = Put::new(&row).add("f", "q", "new");
            let check = CheckAndMutate::new(row).if_not_exists("f", "q").then(put);
            table.check_and_mutate(&check).map(drop)
        }
    }
}
