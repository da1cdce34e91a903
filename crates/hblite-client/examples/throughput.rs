//! Repeats one operation on the tables of `tools/throughput`, and prints how often it ran.
//!
//!     cargo run --release --example throughput URL OPERATION CALLERS SECONDS ROWS
//!
//! `tools/throughput/clients` runs it in turn with the same operations of HBase's Java client. The
//! callers share one client. It prints units per second, and microseconds of its processor time per
//! unit.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use hblite_client::{Client, Table};
use hblite_model::{Action, Error, Get, Put, Result, Scan};
use tokio::task::JoinSet;

const WRITTEN_ROWS: u32 = 1_000_000;
const VALUE_BYTES: usize = 100;
const BATCH_ROWS: u32 = 100;
const WARM_UP: Duration = Duration::from_millis(300);
/// The unit of processor times in `/proc`.
const TICKS_PER_SECOND: f64 = 100.0;

/// What a caller does.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Put,
    Get,
    PutList,
    GetList,
    Scan { rows: Option<u32>, prefetch: bool },
}

impl Operation {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "put" => Self::Put,
            "get" => Self::Get,
            "put of a list of 100" => Self::PutList,
            "get of a list of 100" => Self::GetList,
            "scan of 100 rows" => Self::Scan { rows: Some(BATCH_ROWS), prefetch: false },
            "scan of the table" => Self::Scan { rows: None, prefetch: false },
            "scan of the table, prefetching" => Self::Scan { rows: None, prefetch: true },
            _ => return None,
        })
    }
}

/// One caller.
struct Caller {
    operation: Operation,
    read: Table,
    written: Table,
    rows: u32,
    random: fastrand::Rng,
}

impl Caller {
    fn key(row: u32) -> String {
        format!("row{row:013}")
    }

    fn put(&mut self) -> Put {
        let mut value = vec![0; VALUE_BYTES];
        self.random.fill(&mut value);
        Put::new(Self::key(self.random.u32(..WRITTEN_ROWS))).add("f", "q", value)
    }

    fn get(&mut self) -> Get {
        Get::new(Self::key(self.random.u32(..self.rows)))
    }

    /// Does its work once. Returns the number of units.
    async fn run(&mut self) -> Result<u64> {
        match self.operation {
            Operation::Put => {
                let put = self.put();
                self.written.mutate(put.as_mutation()).await?;
                Ok(1)
            }
            Operation::Get => {
                let get = self.get();
                expect(!self.read.get(&get).await?.is_empty())?;
                Ok(1)
            }
            Operation::PutList => {
                let actions: Vec<Action> = (0..BATCH_ROWS).map(|_| self.put().into()).collect();
                let results = self.written.batch(&actions).await?;
                results.into_iter().try_for_each(|result| result.map(drop))?;
                Ok(u64::from(BATCH_ROWS))
            }
            Operation::GetList => {
                let actions: Vec<Action> = (0..BATCH_ROWS).map(|_| self.get().into()).collect();
                for result in self.read.batch(&actions).await? {
                    expect(result?.row().is_some_and(|row| !row.is_empty()))?;
                }
                Ok(u64::from(BATCH_ROWS))
            }
            Operation::Scan { rows, prefetch } => self.scan(rows, prefetch).await,
        }
    }

    async fn scan(&mut self, limit: Option<u32>, prefetch: bool) -> Result<u64> {
        let count = limit.unwrap_or(self.rows);
        let start = Self::key(self.random.u32(..=self.rows - count));
        let scan = Scan::new().with_start_row(start).with_async_prefetch(prefetch);
        let scan = if let Some(limit) = limit { scan.with_limit(limit) } else { scan };
        let mut scanner = self.read.scan(&scan).await?;
        let mut found = 0;
        while scanner.next_row().await?.is_some() {
            found += 1;
        }
        expect(found == u64::from(count))?;
        Ok(found)
    }

    async fn repeat(&mut self, time: Duration) -> Result<u64> {
        let end = Instant::now() + time;
        let mut units = 0;
        while Instant::now() < end {
            units += self.run().await?;
        }
        Ok(units)
    }
}

fn expect(holds: bool) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::illegal_argument("something else was found than what was written")),
    }
}

/// The processor time of all threads of this process.
fn cpu_seconds() -> std::io::Result<f64> {
    let line = std::fs::read_to_string("/proc/self/stat")?;
    // After the name, which may contain spaces: the state is field 3, utime 14, stime 15.
    let fields = line.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    Ok(ticks.sum::<f64>() / TICKS_PER_SECOND)
}

async fn all(callers: Vec<Caller>, time: Duration) -> Result<(Vec<Caller>, u64)> {
    let mut tasks = JoinSet::new();
    for mut caller in callers {
        tasks.spawn(async move {
            let units = caller.repeat(time).await?;
            Ok::<_, Error>((caller, units))
        });
    }
    let (mut callers, mut units) = (Vec::new(), 0);
    while let Some(done) = tasks.join_next().await {
        let (caller, count) = done.map_err(|error| Error::do_not_retry(error.to_string()))??;
        callers.push(caller);
        units += count;
    }
    Ok((callers, units))
}

async fn measure(url: &str, operation: Operation, numbers: [u32; 3]) -> Result<()> {
    let [count, seconds, rows] = numbers;
    let client = Client::connect(url).await?;
    let (read, written) = (client.table("read".parse()?), client.table("written".parse()?));
    let caller = |number: u32| Caller {
        operation,
        read: read.clone(),
        written: written.clone(),
        rows,
        random: fastrand::Rng::with_seed(u64::from(number)),
    };
    let (callers, _) = all((0..count).map(caller).collect(), WARM_UP).await?;
    let io = |error| Error::io_of("reading /proc/self/stat", error);
    let (began, cpu) = (Instant::now(), cpu_seconds().map_err(io)?);
    let (_, units) = all(callers, Duration::from_secs(u64::from(seconds))).await?;
    let (took, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds().map_err(io)? - cpu);
    println!("{:.1} {:.3}", units as f64 / took, cpu * 1e6 / units as f64);
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, name, numbers @ ..] = arguments.as_slice() else {
        eprintln!("usage: throughput URL OPERATION CALLERS SECONDS ROWS");
        return ExitCode::from(2);
    };
    let numbers: Vec<u32> = numbers.iter().filter_map(|number| number.parse().ok()).collect();
    let (Some(operation), Ok(numbers)) = (Operation::parse(name), numbers.try_into()) else {
        eprintln!("throughput: an unknown operation, or a number is missing");
        return ExitCode::from(2);
    };
    match measure(url, operation, numbers).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("throughput: {error}");
            ExitCode::FAILURE
        }
    }
}
