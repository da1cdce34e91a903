//! The phases: what each does, and the figures that it prints.

use std::io::{self, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use hblite::{Connection, Options, Put, Scan, Table};

use crate::arguments::{Arguments, Phase};
use crate::process::{bytes_written, descriptors_and_maps, memory};
use crate::workload::{self, mix};
use crate::{READY, Result};

const BATCH: u64 = 1_000;
/// Compactions have finished when nothing was written and no file changed for this long.
const REST: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Runs one phase.
pub(crate) fn run(phase: Phase, arguments: &Arguments) -> Result<()> {
    match phase {
        Phase::Load => load(arguments),
        Phase::Reopen => reopen(arguments),
        Phase::Fill => fill(arguments),
        Phase::Recover => recover(arguments),
    }
}

/// Reports a figure.
fn tell(name: &str, value: f64) -> Result<()> {
    writeln!(io::stdout(), "{name}={value}")?;
    Ok(())
}

fn tell_memory(phase: &str) -> Result<()> {
    let now = memory()?;
    tell(&format!("{phase}.own"), now.own as f64)?;
    tell(&format!("{phase}.mapped"), now.mapped as f64)
}

fn load(arguments: &Arguments) -> Result<()> {
    let connection = store(arguments)?;
    workload::create(&connection, arguments)?;
    let table = workload::table(&connection)?;
    let begun = Instant::now();
    put_all(&table, 0, arguments.cells)?;
    let seconds = begun.elapsed().as_secs_f64();
    tell("load.rate", arguments.cells as f64 / seconds)?;
    tell_memory("load")?;
    let end = Files::of(&connection, &table)?;
    tell("load.files", end.files as f64)?;
    tell("load.bytes", end.bytes as f64)?;
    // Flush first: the remaining memory belongs to the load, and the files alone are the debt.
    connection.admin().flush_table(table.name())?;
    tell("settle.seconds", wait_for_rest(&connection, &table)?.as_secs_f64())?;
    let settled = Files::of(&connection, &table)?;
    tell("settle.files", settled.files as f64)?;
    tell("settle.bytes", settled.bytes as f64)?;
    tell("settle.regions", settled.regions as f64)?;
    tell("settle.written", bytes_written()? as f64)?;
    tell_memory("settle")?;
    connection.close()?;
    Ok(())
}

fn put_all(table: &Table, from: u64, count: u64) -> Result<()> {
    let mut number = from;
    while number < from + count {
        let end = (number + BATCH).min(from + count);
        let puts: Vec<Put> = (number..end).map(workload::put).collect();
        table.put_all(&puts)?;
        number = end;
    }
    Ok(())
}

/// The files of the table at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Files {
    files: u64,
    bytes: u64,
    regions: usize,
}

impl Files {
    fn of(connection: &Connection, table: &Table) -> Result<Self> {
        let status = connection.admin().status()?;
        let regions = status.regions.iter().filter(|r| r.region.table() == table.name());
        Ok(regions.fold(Self { files: 0, bytes: 0, regions: 0 }, |sum, region| Self {
            files: sum.files + region.store_file_count,
            bytes: sum.bytes + region.store_file_size_bytes,
            regions: sum.regions + 1,
        }))
    }
}

/// Waits until background work has finished; returns the time until its last change.
fn wait_for_rest(connection: &Connection, table: &Table) -> Result<Duration> {
    let begun = Instant::now();
    let mut last = (Files::of(connection, table)?, bytes_written()?);
    let mut changed = begun;
    while changed.elapsed() < REST {
        thread::sleep(LOOK_AGAIN);
        let now = (Files::of(connection, table)?, bytes_written()?);
        if now != last {
            (last, changed) = (now, Instant::now());
        }
    }
    Ok(changed - begun)
}

fn store(arguments: &Arguments) -> Result<Connection> {
    let block_cache_size_bytes = arguments.block_cache_mib << 20;
    let options = Options::new().with_block_cache_size_bytes(block_cache_size_bytes);
    Ok(options.open(arguments.store_dir())?)
}

/// Opens the store and answers a get; reports the milliseconds as `name`.
fn open(arguments: &Arguments, name: &str) -> Result<(Connection, Table)> {
    let begun = Instant::now();
    let connection = store(arguments)?;
    let opened = begun.elapsed();
    let table = workload::table(&connection)?;
    if table.get(&workload::get(0))?.is_empty() {
        return Err("the first row is not there".into());
    }
    tell(&format!("{name}.open_ms"), opened.as_secs_f64() * 1e3)?;
    tell(&format!("{name}.first_get_ms"), (begun.elapsed() - opened).as_secs_f64() * 1e3)?;
    Ok((connection, table))
}

fn reopen(arguments: &Arguments) -> Result<()> {
    let (connection, table) = open(arguments, "reopen")?;
    tell_memory("reopen")?;
    let dir = arguments.store_dir();
    let dir = dir.file_name().unwrap_or_default().to_string_lossy();
    let (descriptors, maps) = descriptors_and_maps(&dir)?;
    tell("reopen.descriptors", descriptors as f64)?;
    tell("reopen.maps", maps as f64)?;
    // Once before the clock starts, to warm the page cache and the blocks.
    scan_rate(&table, &Scan::new(), arguments.cells)?;
    tell("scan.rate", scan_rate(&table, &Scan::new(), arguments.cells)?)?;
    tell(
        "scan.reverse_rate",
        scan_rate(&table, &Scan::new().with_reversed(true), arguments.cells)?,
    )?;
    for (kind, is_there) in [("hit", true), ("miss", false)] {
        get_all(&table, arguments, 1, is_there)?;
        let times = get_all(&table, arguments, 2, is_there)?;
        for (name, share) in [("p50", 50), ("p99", 99)] {
            tell(&format!("{kind}.{name}_us"), percentile(&times, share) / 1e3)?;
        }
    }
    tell_memory("read")?;
    connection.close()?;
    Ok(())
}

fn scan_rate(table: &Table, scan: &Scan, expected: u64) -> Result<f64> {
    let begun = Instant::now();
    let (mut cells, mut bytes) = (0_u64, 0_usize);
    table.scan(scan)?.for_each_cell(|cell| {
        cells += 1;
        bytes += cell.value().len();
    })?;
    if cells != expected || bytes == 0 {
        return Err(format!("the scan found {cells} cells of {expected}").into());
    }
    Ok(cells as f64 / begun.elapsed().as_secs_f64())
}

/// Gets of random rows; their times in nanoseconds, sorted.
fn get_all(table: &Table, arguments: &Arguments, turn: u64, is_there: bool) -> Result<Vec<u64>> {
    let mut times = Vec::new();
    for pick in 0..arguments.gets {
        let number = mix(pick ^ (turn << 40)) % arguments.cells;
        // Numbers that were never written give rows between those that were.
        let get = workload::get(if is_there { number } else { number + (1 << 50) });
        let begun = Instant::now();
        let row = table.get(&get)?;
        times.push(u64::try_from(begun.elapsed().as_nanos())?);
        if row.is_empty() == is_there {
            return Err(format!("row of {number}: there {}", !row.is_empty()).into());
        }
    }
    times.sort_unstable();
    Ok(times)
}

fn percentile(sorted: &[u64], share: usize) -> f64 {
    let index = (sorted.len() * share / 100).min(sorted.len().saturating_sub(1));
    sorted.get(index).map_or(f64::NAN, |nanos| *nanos as f64)
}

fn fill(arguments: &Arguments) -> Result<()> {
    let (_connection, table) = open(arguments, "fill")?;
    put_all(&table, arguments.cells, arguments.unflushed)?;
    writeln!(io::stdout(), "{READY}")?;
    io::stdout().flush()?;
    // Until the kill.
    loop {
        thread::park();
    }
}

fn recover(arguments: &Arguments) -> Result<()> {
    let (connection, table) = open(arguments, "recover")?;
    tell_memory("recover")?;
    if table.get(&workload::get(arguments.cells + arguments.unflushed - 1))?.is_empty() {
        return Err("an acknowledged cell is not there after the kill".into());
    }
    connection.close()?;
    Ok(())
}
