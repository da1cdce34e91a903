//! Kills a writing process at random moments and checks what is left.
//!
//! The test starts itself as a child that writes with several threads and reports every
//! acknowledged write on its standard output. At a random moment the child is killed with SIGKILL.
//! Then the store is opened and must hold every acknowledged row, no partial row, and counters
//! between the acknowledged and the attempted increments. The same directory serves all rounds, and
//! at the end everything that was acknowledged in any of them must still be there; it is used with
//! a small flush size, so that kills also hit flushes, compactions, log rolls and recoveries. The
//! number of rounds can be set in `HBLITE_CRASH_ROUNDS`.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use hblite::{
    ColumnFamilyDescriptor, Connection, Get, Options, Put, Result, Scan, Table, TableDescriptor,
};
use hblite_env::{Random as _, SeededRandom};

const CHILD_DIR: &str = "HBLITE_CRASH_CHILD_DIR";
const CHILD_ROUND: &str = "HBLITE_CRASH_CHILD_ROUND";
const ROUNDS_DEFAULT: u64 = 50;
const SIGKILL: i32 = 9;
const WRITERS: u64 = 4;
const COLUMNS: [(&str, &str); 4] = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "z")];

fn main() -> ExitCode {
    let outcome = match std::env::var_os(CHILD_DIR) {
        Some(dir) => run_child(Path::new(&dir)),
        None => run_parent(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("crash test: {error}");
            ExitCode::FAILURE
        }
    }
}

fn open(dir: &Path) -> Result<Connection> {
    let engine = Options::new()
        .with_flush_on_close(false)
        .with_memstore_flush_size_bytes(256 * 1024)
        .with_compaction_small_file_bytes(64 * 1024)
        .with_wal_roll_size_bytes(128 * 1024);
    engine.open(dir)
}

fn row_name(round: u64, writer: u64, number: u64) -> String {
    format!("{writer:02}-{round:05}-{number:08}")
}

fn value(row: &str, column: usize) -> Vec<u8> {
    format!("{row}/{column}/").repeat(1 + row.len() % 3).into_bytes()
}

/// Writes until it is killed. One line per acknowledged write: writer and number.
fn run_child(dir: &Path) -> Result<()> {
    let round = std::env::var(CHILD_ROUND).ok().and_then(|round| round.parse().ok()).unwrap_or(0);
    let connection = open(dir)?;
    let table = connection.table("t")?;
    tell("ready");
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let table = &table;
            scope.spawn(move || write(table, round, writer).expect("writes go through"));
        }
    });
    Ok(())
}

fn write(table: &Table, round: u64, writer: u64) -> Result<()> {
    for number in 0.. {
        let row = row_name(round, writer, number);
        if number % 5 == 4 {
            table.increment_column(format!("counter-{writer}"), "a", "n", 1)?;
            tell(&format!("{writer} counter"));
            continue;
        }
        let mut put = Put::new(&row);
        for (index, (family, qualifier)) in COLUMNS.iter().enumerate() {
            put = put.add(family, qualifier, value(&row, index));
        }
        table.put(&put)?;
        tell(&format!("{writer} {number}"));
    }
    Ok(())
}

/// One write to the pipe: what is in the pipe survives the kill.
fn tell(line: &str) {
    let _ = std::io::stdout().lock().write_all(format!("{line}\n").as_bytes());
}

fn run_parent() -> Result<()> {
    let rounds = std::env::var("HBLITE_CRASH_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(ROUNDS_DEFAULT);
    let seed = SeededRandom::from_entropy().next_u64();
    println!("crash test: {rounds} rounds, seed {seed}");
    let random = SeededRandom::new(seed);
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let connection = open(dir.path())?;
    connection.admin().create_table(
        &TableDescriptor::new("t".parse()?)
            .with_family(ColumnFamilyDescriptor::new("a"))
            .with_family(ColumnFamilyDescriptor::new("b")),
    )?;
    connection.close()?;

    let mut counters = HashMap::new();
    let (mut acknowledged_rows, mut acknowledged_total) = (HashSet::new(), 0);
    for round in 0..rounds {
        let pause = Duration::from_micros(random.next_u64() % 60_000);
        let acknowledged = run_and_kill(dir.path(), round, pause);
        acknowledged_total += acknowledged.len();
        let rows = acknowledged.iter().filter_map(|(writer, number)| Some((*writer, (*number)?)));
        acknowledged_rows.extend(rows.map(|(writer, number)| row_name(round, writer, number)));
        let connection = open(dir.path())?;
        verify_round(&connection, round, &acknowledged)?;
        verify_counters(&connection, &acknowledged, &mut counters)?;
        // Some rounds leave the log to the next child, some begin with files only.
        if round % 3 == 0 {
            connection.admin().flush_table("t")?;
        }
    }
    let connection = open(dir.path())?;
    let rows = verify_whole_rows(&connection)?;
    let lost: Vec<&String> = acknowledged_rows.difference(&rows).collect();
    assert!(lost.is_empty(), "acknowledged rows were lost later: {lost:?}");
    assert!(acknowledged_total > 0, "the children wrote nothing");
    println!("{rounds} passed, 0 failed");
    println!(
        "crash test: {acknowledged_total} acknowledged writes kept, {} rows whole",
        rows.len()
    );
    Ok(())
}

fn run_and_kill(dir: &Path, round: u64, pause: Duration) -> Vec<(u64, Option<u64>)> {
    let program = std::env::current_exe().expect("the test knows its own path");
    let mut child = Command::new(program)
        .env(CHILD_DIR, dir)
        .env(CHILD_ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test can start itself");
    let output = child.stdout.take().expect("the output is piped");
    let (ready, is_ready) = std::sync::mpsc::channel();
    let killer = std::thread::spawn(move || {
        // One round in four is killed from its start on, so that kills hit recovery too.
        if !round.is_multiple_of(4) {
            let _ = is_ready.recv();
        }
        std::thread::sleep(pause);
        child.kill().expect("the child can be killed");
        let status = child.wait().expect("the child ends");
        assert_eq!(status.signal(), Some(SIGKILL), "the child ended by itself: {status}");
    });
    let mut acknowledged = Vec::new();
    for line in BufReader::new(output).lines().map_while(std::io::Result::ok) {
        if line == "ready" {
            let _ = ready.send(());
        }
        if let Some((writer, what)) = line.split_once(' ')
            && let Ok(writer) = writer.parse()
        {
            match what {
                "counter" => acknowledged.push((writer, None)),
                number => acknowledged.push((writer, number.parse().ok())),
            }
        }
    }
    killer.join().expect("the child lived until it was killed");
    acknowledged
}

fn verify_round(
    connection: &Connection,
    round: u64,
    acknowledged: &[(u64, Option<u64>)],
) -> Result<()> {
    let table = connection.table("t")?;
    for (writer, number) in acknowledged {
        let Some(number) = number else { continue };
        let row = row_name(round, *writer, *number);
        let found = table.get(&Get::new(&row))?;
        assert!(!found.is_empty(), "round {round}: acknowledged row {row} is lost");
        assert_whole(&row, &found);
    }
    Ok(())
}

fn assert_whole(row: &str, found: &hblite::RowResult) {
    assert_eq!(found.len(), COLUMNS.len(), "row {row} is not whole: {found:?}");
    for (index, (family, qualifier)) in COLUMNS.iter().enumerate() {
        let expected = value(row, index);
        assert_eq!(found.value(family, qualifier), Some(expected.as_slice()), "row {row}");
    }
}

/// A counter may exceed the reported number by one: the write whose report was cut off.
fn verify_counters(
    connection: &Connection,
    acknowledged: &[(u64, Option<u64>)],
    counters: &mut HashMap<u64, i64>,
) -> Result<()> {
    let table = connection.table("t")?;
    for writer in 0..WRITERS {
        let told = acknowledged.iter().filter(|(w, number)| *w == writer && number.is_none());
        let before = counters.get(&writer).copied().unwrap_or(0);
        let least = before + told.count() as i64;
        let row = table.get(&Get::new(format!("counter-{writer}")))?;
        let bytes = row.value("a", "n").map_or([0; 8], |v| v.try_into().expect("8 bytes"));
        let present = i64::from_be_bytes(bytes);
        assert!(
            (least..=least + 1).contains(&present),
            "counter {writer} is {present}, {least} increments were acknowledged"
        );
        counters.insert(writer, present);
    }
    Ok(())
}

/// The names of all rows, each of which must be complete.
fn verify_whole_rows(connection: &Connection) -> Result<HashSet<String>> {
    let mut rows = HashSet::new();
    let table = connection.table("t")?;
    let mut scanner = table.scan(&Scan::new())?;
    while let Some(row) = scanner.next_row()? {
        let name = String::from_utf8_lossy(row.row()).into_owned();
        if !name.starts_with("counter") {
            assert_whole(&name, row);
            rows.insert(name);
        }
    }
    Ok(rows)
}
