//! Splits and merges under load: writers and scanners keep running, and nothing is lost, duplicated
//! or out of order.
//!
//! `HBLITE_SPLITS` sets how many there are (default 150).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use hblite::{
    ColumnFamilyDescriptor, Connection, Get, Increment, MergeKind, Put, Result, Scan,
    TableDescriptor, TableName,
};
use hblite_env::{Random as _, SeededRandom};

use crate::testkit::SetOnDrop;

const SPLITS_AND_MERGES_DEFAULT: usize = 150;
const REGIONS_MAX: usize = 12;
const WRITERS: u64 = 2;
const ROWS: u64 = 1_000;
const COUNTERS: u64 = 50;

/// What the threads share.
struct Load {
    connection: Connection,
    /// The number of acknowledged rows of each writer.
    written: Vec<AtomicU64>,
    increments: AtomicU64,
    is_over: AtomicBool,
}

/// Rows of a writer, spread over the key space.
fn row(writer: u64, number: u64) -> String {
    format!("{:016x}-{writer}", (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl Load {
    fn write(&self, writer: u64) -> Result<()> {
        let _end = SetOnDrop(&self.is_over);
        let table = self.connection.table("t")?;
        for turn in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                break;
            }
            let number = turn % ROWS;
            table.put(&Put::new(row(writer, number)).add("f", "q", number.to_string()))?;
            self.written[writer as usize].fetch_max(number + 1, Ordering::Release);
            let counter = (turn % COUNTERS).wrapping_mul(0x0523_4567_89ab_cdef);
            let counter = format!("{counter:016x}-counter");
            table.increment(&Increment::new(counter).add("f", "n", 1))?;
            self.increments.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Each scan is sorted and returns all rows that existed when it began. Returns the number of
    /// scans.
    fn scan(&self) -> Result<usize> {
        let _end = SetOnDrop(&self.is_over);
        let table = self.connection.table("t")?;
        let mut scans = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            let is_reversed = scans % 2 == 1;
            let expected: Vec<u64> =
                self.written.iter().map(|count| count.load(Ordering::Acquire)).collect();
            let mut rows = Vec::new();
            let mut scanner = table.scan(&Scan::new().with_reversed(is_reversed))?;
            while let Some(found) = scanner.next_row()? {
                rows.push(found.row().to_vec());
            }
            if is_reversed {
                rows.reverse();
            }
            assert!(rows.is_sorted_by(|left, right| left < right), "doubled or out of order");
            for (writer, count) in expected.iter().enumerate() {
                for number in 0..*count {
                    let row = row(writer as u64, number).into_bytes();
                    assert!(rows.binary_search(&row).is_ok(), "row {number} is not in the scan");
                }
            }
            scans += 1;
        }
        Ok(scans)
    }

    /// Gets of acknowledged rows find them.
    fn get(&self, seed: u64) -> Result<()> {
        let _end = SetOnDrop(&self.is_over);
        let (random, table) = (SeededRandom::new(seed), self.connection.table("t")?);
        while !self.is_over.load(Ordering::Relaxed) {
            let count = self.written[0].load(Ordering::Acquire);
            if count > 0 {
                let number = random.next_u64() % count;
                let found = table.get(&Get::new(row(0, number)))?;
                assert_eq!(found.value("f", "q"), Some(number.to_string().as_bytes()));
            }
        }
        Ok(())
    }

    /// Splits at random rows and merges random neighbours, `wanted` times in all. Returns how many
    /// of each.
    fn split_and_merge(&self, seed: u64, wanted: usize) -> Result<(usize, usize)> {
        let _end = SetOnDrop(&self.is_over);
        let (random, admin) = (SeededRandom::new(seed), self.connection.admin());
        let name: TableName = "t".parse()?;
        let (mut splits, mut merges, mut refused) = (0, 0, 0);
        while splits + merges < wanted && !self.is_over.load(Ordering::Relaxed) {
            assert!(refused <= 20 + wanted, "{refused} refused, {splits} splits, {merges} merges");
            let regions = admin.regions(&name)?;
            let wants_merge = regions.len() >= REGIONS_MAX
                || (regions.len() > 1 && random.next_u64().is_multiple_of(3));
            if wants_merge {
                let at = random.next_u64() as usize % (regions.len() - 1);
                let pair = [regions[at].encoded_name(), regions[at + 1].encoded_name()];
                match admin.merge_regions(&pair, MergeKind::Adjacent) {
                    Ok(()) => merges += 1,
                    Err(_) => refused += 1,
                }
            } else {
                let key = format!("{:016x}", random.next_u64());
                match admin.split_table(&name, Some(key.as_bytes())) {
                    Ok(()) => splits += 1,
                    Err(_) => refused += 1,
                }
            }
            // Halves of files may not be split or merged before they are whole files.
            match random.next_u64().is_multiple_of(4) {
                true => admin.major_compact_table(&name)?,
                false => admin.compact_table(&name)?,
            }
        }
        Ok((splits, merges))
    }
}

#[test]
fn nothing_is_lost_doubled_or_out_of_order() -> Result<()> {
    let wanted = std::env::var("HBLITE_SPLITS").ok().and_then(|count| count.parse().ok());
    let wanted = wanted.unwrap_or(SPLITS_AND_MERGES_DEFAULT);
    let dir = tempfile::tempdir().expect("a directory for the test");
    let connection = hblite::open(dir.path())?;
    let family = ColumnFamilyDescriptor::new("f");
    connection.admin().create_table(&TableDescriptor::new("t".parse()?).with_family(family))?;
    let load = Load {
        connection,
        written: (0..WRITERS).map(|_| AtomicU64::new(0)).collect(),
        increments: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
    };
    let (scans, (splits, merges)) = thread::scope(|scope| {
        for writer in 0..WRITERS {
            let load = &load;
            scope.spawn(move || load.write(writer).expect("writes go through"));
        }
        scope.spawn(|| load.get(1).expect("gets go through"));
        let scanner = scope.spawn(|| load.scan().expect("scans go through"));
        let counts = load.split_and_merge(2, wanted).expect("regions are split and merged");
        (scanner.join().expect("the scanner's checks hold"), counts)
    });
    assert!(
        scans > 1 && splits > wanted / 8 && merges > wanted / 8,
        "{scans} scans, {splits} {merges}"
    );
    let table = load.connection.table("t")?;
    let mut sum = 0;
    for found in table.scan(&Scan::new().with_column("f", "n"))? {
        let value = found?.value("f", "n").and_then(|value| value.try_into().ok());
        sum += value.map_or(0, u64::from_be_bytes);
    }
    assert_eq!(sum, load.increments.load(Ordering::Relaxed));
    let rows: u64 = load.written.iter().map(|count| count.load(Ordering::Relaxed)).sum();
    assert_eq!(table.scan(&Scan::new().with_column("f", "q"))?.count() as u64, rows);
    Ok(())
}
