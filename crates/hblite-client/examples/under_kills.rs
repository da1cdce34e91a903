//! Writes to a cluster and scans it while its servers are killed; then checks that every
//! acknowledged write took place, and took place once.
//!
//!     cargo run --example under_kills URL SECONDS
//!
//! `tools/faults/cluster-kill` runs it on a real HBase and kills the servers. It prints
//! `writing` when it begins. The status is 1 if something was lost, counted twice, or missing in a
//! scan. A write that failed after all its attempts may have taken place or not.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hblite_client::{Client, Table};
use hblite_env::{Clock as _, SystemClock};
use hblite_model::{
    Action, Append, CheckAndMutate, ColumnFamilyDescriptor, Error, Get, Increment, Put, Result,
    RowMutations, RowResult, Scan, TableDescriptor,
};
use tokio::task::JoinSet;
use tokio::time::sleep;

const TABLE: &str = "under_kills";
/// One writer for each; each has its own region.
const WRITERS: &[&str] = &["a", "b", "c", "d", "e", "f"];
const COUNTERS: &[&str] = &["single", "batched", "checked", "together"];
const PUTS_IN_BATCH: u64 = 4;
/// Each round appends its number, alone and in the batch.
const APPENDED: [&str; 2] = ["appended", "appended_in_batch"];
/// Appends go to another column after this many rounds, so that values stay small.
const APPENDS: u64 = 50;
/// Rounds that take longer are reported.
const SLOW: Duration = Duration::from_secs(5);

/// What a writer knows of its writes.
#[derive(Default)]
struct Writer {
    name: &'static str,
    /// Rounds whose put was acknowledged, or failed and is in `unsure`.
    rounds: AtomicU64,
    state: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    /// Rows that may exist or not.
    unsure: HashSet<String>,
    /// Rows that must exist.
    sure: Vec<String>,
    /// Acknowledged and unsure additions to each counter.
    counters: [(u64, u64); COUNTERS.len()],
    /// Rounds whose append failed, and rounds with one.
    unsure_appends: [HashSet<u64>; APPENDED.len()],
    appends: u64,
    slowest: Duration,
}

impl Writer {
    fn written(&self) -> std::sync::MutexGuard<'_, Written> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_row<T>(&self, row: String, result: &Result<T>) {
        match result {
            Ok(_) => self.written().sure.push(row),
            Err(error) => {
                eprintln!("{row}: {error}");
                self.written().unsure.insert(row);
            }
        }
    }

    fn note_counter<T>(&self, counter: usize, result: &Result<T>) {
        let counters = &mut self.written().counters[counter];
        match result {
            Ok(_) => counters.0 += 1,
            Err(error) => {
                eprintln!("{} {}: {error}", self.name, COUNTERS[counter]);
                counters.1 += 1;
            }
        }
    }

    /// Writes until the time is over.
    async fn run(&self, table: &Table, until: Instant) -> Result<()> {
        let name = self.name;
        let add = |counter: usize| Increment::new(name).add("f", COUNTERS[counter], 1);
        for round in 0.. {
            let began = Instant::now();
            if began >= until {
                break;
            }
            let row = format!("{name}{round:08}");
            let put = table.mutate(Put::new(&row).add("f", "q", row.as_str()).as_mutation()).await;
            self.note_row(row, &put);
            self.rounds.store(round + 1, Ordering::Release);
            let one = add(0);
            self.note_counter(0, &table.read_modify_write(one.as_mutation(), None).await);
            let append = self.append(0, round);
            let appended = table.read_modify_write(append.as_mutation(), None).await;
            self.note_append(0, round, &appended);
            let rows = (0..PUTS_IN_BATCH).map(|number| format!("{name}{round:08}-{number}"));
            let rows: Vec<String> = rows.collect();
            let mut actions: Vec<Action> =
                rows.iter().map(|row| Put::new(row).add("f", "q", "v").into()).collect();
            let check = CheckAndMutate::new(name).if_not_exists("f", "never").then(add(2));
            let put = Put::new(name).add("f", "round", round.to_string());
            let together = RowMutations::new(name).add(put).add(add(3));
            actions.extend([add(1).into(), check.into(), together.into()]);
            actions.push(self.append(1, round).into());
            let mut results = table.batch(&actions).await?;
            let appended = results.pop().unwrap_or_else(|| Err(Error::do_not_retry("no result")));
            self.note_append(1, round, &appended);
            let (puts, counted) = results.split_at(rows.len());
            rows.into_iter().zip(puts).for_each(|(row, result)| self.note_row(row, result));
            counted.iter().enumerate().for_each(|(at, told)| self.note_counter(at + 1, told));
            if began.elapsed() > SLOW {
                eprintln!("{} {name}{round:08} took {:?}", time_of_day(), began.elapsed());
            }
            let mut written = self.written();
            written.slowest = written.slowest.max(began.elapsed());
        }
        Ok(())
    }

    fn append(&self, kind: usize, round: u64) -> Append {
        let column = format!("{}{}", APPENDED[kind], round / APPENDS);
        Append::new(self.name).add("f", column, format!("{round} "))
    }

    fn note_append<T>(&self, kind: usize, round: u64, result: &Result<T>) {
        let mut written = self.written();
        written.appends = written.appends.max(round + 1);
        if let Err(error) = result {
            eprintln!("{} {} {round}: {error}", self.name, APPENDED[kind]);
            written.unsure_appends[kind].insert(round);
        }
    }

    /// Rounds whose append is lost or there twice.
    fn wrong_appends(&self, written: &Written, row: &RowResult) -> Vec<String> {
        let mut wrong = Vec::new();
        for (name, unsure) in APPENDED.iter().zip(&written.unsure_appends) {
            let columns = 0..written.appends.div_ceil(APPENDS);
            let values = columns.filter_map(|column| row.value("f", format!("{name}{column}")));
            let text = String::from_utf8_lossy(&values.collect::<Vec<_>>().concat()).into_owned();
            let mut times: BTreeMap<u64, usize> = BTreeMap::new();
            for round in text.split_whitespace().filter_map(|round| round.parse().ok()) {
                *times.entry(round).or_default() += 1;
            }
            for round in 0..written.appends {
                let times = times.get(&round).copied().unwrap_or(0);
                if times > 1 || (times == 0 && !unsure.contains(&round)) {
                    wrong.push(format!("{}{round:08} {name}: {times} times", self.name));
                }
            }
        }
        wrong
    }

    /// Compares with what the cluster has.
    async fn check(&self, table: &Table, found: &HashSet<String>) -> Result<Vec<String>> {
        let row = table.get(&Get::new(self.name)).await?;
        let written = self.written();
        let mut wrong: Vec<String> = written
            .sure
            .iter()
            .filter(|row| !found.contains(*row))
            .map(|row| format!("{row} was acknowledged and is lost"))
            .collect();
        let mut compare = |what: &str, value: u64, (sure, unsure): (u64, u64)| {
            if value < sure || value > sure + unsure {
                let name = self.name;
                wrong.push(format!("{name} {what}: {value} of {sure} and perhaps {unsure}"));
            }
        };
        for (counter, counts) in COUNTERS.iter().zip(written.counters) {
            let value: i64 = row.value_as("f", counter)?.unwrap_or(0);
            compare(counter, value as u64, counts);
        }
        wrong.extend(self.wrong_appends(&written, &row));
        Ok(wrong)
    }
}

/// All rows, in the order of the scan.
async fn rows_of(table: &Table, scan: &Scan) -> Result<Vec<String>> {
    let mut scanner = table.scan(scan).await?;
    let mut rows = Vec::new();
    while let Some(row) = scanner.next_row().await? {
        rows.push(String::from_utf8_lossy(row.row()).into_owned());
    }
    Ok(rows)
}

/// Scans until the time is over. Returns the number of scans, and what was wrong with them.
async fn scan(table: Table, writers: Arc<Vec<Writer>>, until: Instant) -> (u64, Vec<String>) {
    let (mut scans, mut wrong) = (0, Vec::new());
    while Instant::now() < until {
        let rounds: Vec<u64> =
            writers.iter().map(|writer| writer.rounds.load(Ordering::Acquire)).collect();
        let is_reversed = scans % 2 == 1;
        let found = rows_of(&table, &Scan::new().with_caching(50).with_reversed(is_reversed)).await;
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                eprintln!("scan: {error}");
                continue;
            }
        };
        scans += 1;
        for pair in found.windows(2) {
            if (pair[0] >= pair[1]) != is_reversed || pair[0] == pair[1] {
                wrong.push(format!("a scan has {} before {}", pair[0], pair[1]));
            }
        }
        let found: HashSet<String> = found.into_iter().collect();
        for (writer, rounds) in writers.iter().zip(rounds) {
            let written = writer.written();
            let rows = (0..rounds).map(|round| format!("{}{round:08}", writer.name));
            let lost = rows.filter(|row| !found.contains(row) && !written.unsure.contains(row));
            wrong.extend(lost.map(|row| format!("a scan lacks {row}")));
        }
    }
    (scans, wrong)
}

/// Now in UTC, for comparison with the servers' logs.
fn time_of_day() -> String {
    let since = SystemClock.now_millis() / 1_000;
    format!("{:02}:{:02}:{:02}", since / 3_600 % 24, since / 60 % 60, since % 60)
}

/// A client, as soon as the cluster answers and has the table.
async fn connect(url: &str) -> Result<(Client, Table)> {
    let family = ColumnFamilyDescriptor::new("f");
    let descriptor = TableDescriptor::new(TABLE.parse()?).with_family(family);
    let splits: Vec<Vec<u8>> = WRITERS[1..].iter().map(|name| name.as_bytes().to_vec()).collect();
    let client = loop {
        match Client::connect(url).await {
            Ok(client) => break client,
            Err(error) => eprintln!("{error}"),
        }
        sleep(Duration::from_secs(1)).await;
    };
    let admin = client.admin();
    if admin.table_exists(descriptor.name()).await? {
        return Err(Error::illegal_argument(format!("the cluster has a table {TABLE}")));
    }
    admin.create_table(&descriptor, &splits).await?;
    let table = client.table(descriptor.name().clone());
    Ok((client, table))
}

async fn run(url: &str, seconds: u64) -> Result<bool> {
    let (client, table) = connect(url).await?;
    println!("writing");
    let until = Instant::now() + Duration::from_secs(seconds);
    let new = |name: &&'static str| Writer { name, ..Writer::default() };
    let writers: Arc<Vec<Writer>> = Arc::new(WRITERS.iter().map(new).collect());
    let scans = tokio::spawn(scan(table.clone(), Arc::clone(&writers), until));
    let mut tasks = JoinSet::new();
    for at in 0..writers.len() {
        let (writers, table) = (Arc::clone(&writers), table.clone());
        tasks.spawn(async move { writers[at].run(&table, until).await });
    }
    let stopped = |error| Error::do_not_retry(format!("a task stopped: {error}"));
    while let Some(done) = tasks.join_next().await {
        done.map_err(stopped)??;
    }
    let (scans, mut wrong) = scans.await.map_err(stopped)?;
    let metrics = client.metrics();
    let found: HashSet<String> = rows_of(&table, &Scan::new()).await?.into_iter().collect();
    let (mut sure, mut unsure, mut slowest) = (0, 0, Duration::ZERO);
    for writer in &*writers {
        wrong.extend(writer.check(&table, &found).await?);
        let written = writer.written();
        let appends = written.appends * APPENDED.len() as u64;
        let unsure_appends = written.unsure_appends.iter().map(HashSet::len).sum::<usize>() as u64;
        let counters = |of: fn(&(u64, u64)) -> u64| written.counters.iter().map(of).sum::<u64>();
        sure += written.sure.len() as u64 + counters(|counts| counts.0) + appends - unsure_appends;
        unsure += written.unsure.len() as u64 + counters(|counts| counts.1) + unsure_appends;
        slowest = slowest.max(written.slowest);
    }
    println!("{sure} writes acknowledged, {unsure} unsure, {scans} scans");
    println!(
        "{} calls, {} retries; the slowest round of writes took {:.1} s",
        metrics.calls(),
        metrics.retries,
        slowest.as_secs_f64()
    );
    wrong.iter().for_each(|what| println!("WRONG: {what}"));
    println!("{} wrong", wrong.len());
    Ok(wrong.is_empty() && sure > 0 && scans > 0)
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let seconds = |text: String| text.parse::<u64>().ok();
    let (Some(url), Some(seconds)) = (arguments.next(), arguments.next().and_then(seconds)) else {
        eprintln!("usage: under_kills URL SECONDS");
        return ExitCode::from(2);
    };
    match run(&url, seconds).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
