//! Rows of many columns, of many versions and with delete markers, and a store of many files.

use std::time::{Duration, Instant};

use hblite::{Get, Put, Scan};

use crate::store::{BATCH, FAMILY, FLUSH_SIZE_BYTES, QUALIFIER, Store, mix, row_of, value_of};
use crate::{Run, SIZES};

const WIDE_COLUMNS: u64 = 1_000;
const VERSIONS: u64 = 10;

impl Run {
    pub(crate) fn wide_rows(&self) {
        let store = self.store();
        for number in 0..SIZES.wide_rows {
            let mut put = Put::new(row_of(mix(number)));
            for column in 0..WIDE_COLUMNS {
                put = put.add(FAMILY, qualifier_of(column), value_of(number ^ column));
            }
            store.table.put(&put).expect("a put");
        }
        store.settle();
        self.measure_reads("wide_column", 1, SIZES.gets, |_| {
            for turn in 0..SIZES.gets {
                let random = mix(turn);
                let row = row_of(mix(random % SIZES.wide_rows));
                let qualifier = qualifier_of((random >> 32) % WIDE_COLUMNS);
                let get = Get::new(row).with_column(FAMILY, qualifier);
                assert_eq!(store.table.get(&get).expect("an answer").len(), 1);
            }
        });
        self.measure_reads("wide_row", 1, 10 * SIZES.wide_rows * WIDE_COLUMNS, |_| {
            for turn in 0..10 * SIZES.wide_rows {
                let get = Get::new(row_of(mix(turn % SIZES.wide_rows)));
                let found = store.table.get(&get).expect("an answer");
                assert_eq!(found.len() as u64, WIDE_COLUMNS);
            }
        });
    }

    pub(crate) fn versions(&self) {
        let store = self.store();
        for version in 0..VERSIONS {
            let puts: Vec<Put> = (0..SIZES.version_rows)
                .map(|row| {
                    let timestamp = i64::try_from(1 + version).expect("small");
                    Put::new(row_of(mix(row))).add_at(FAMILY, QUALIFIER, timestamp, value_of(row))
                })
                .collect();
            for batch in puts.chunks(BATCH) {
                store.table.put_all(batch).expect("a batch of puts");
            }
        }
        store.settle();
        for (name, versions) in [("versions_newest", 1), ("versions_all", VERSIONS)] {
            self.measure_reads(name, 1, SIZES.gets, |_| {
                for turn in 0..SIZES.gets {
                    let get = Get::new(row_of(mix(mix(turn) % SIZES.version_rows)));
                    let get = get.with_column(FAMILY, QUALIFIER);
                    let get = get.with_versions(i32::try_from(versions).expect("small"));
                    let found = store.table.get(&get).expect("an answer");
                    assert_eq!(found.len() as u64, versions);
                }
            });
        }
    }

    /// A load with memstores of 1 MiB, which compactions cannot keep up with.
    pub(crate) fn pile_up(&self) {
        let store = Store::with_regions(self.dir.clone(), 1, 1 << 20);
        let (mut files_max, mut longest) = (0, Duration::ZERO);
        let began = Instant::now();
        for batch in 0..SIZES.cells / BATCH as u64 {
            let first = batch * BATCH as u64;
            let began = Instant::now();
            store.load((first..first + BATCH as u64).map(mix));
            longest = longest.max(began.elapsed());
            files_max = files_max.max(store.file_count());
        }
        println!(
            "{:<28} {files_max:>12} files, {:.1} ms for the slowest batch, {:.1} s in all",
            "pile_up",
            longest.as_secs_f64() * 1000.0,
            began.elapsed().as_secs_f64(),
        );
    }

    /// A scan over rows of which nine in ten are deleted.
    pub(crate) fn markers(&self) {
        // All markers fit in memory, so that nothing is flushed and compacted before its time.
        let store = Store::with_regions(self.dir.clone(), 1, 8 * FLUSH_SIZE_BYTES);
        store.load((0..SIZES.cells).map(mix));
        store.settle();
        let doomed: Vec<u64> = (0..SIZES.cells).filter(|number| number % 10 != 0).collect();
        for batch in doomed.chunks(BATCH) {
            let deletes = batch
                .iter()
                .map(|number| hblite::Delete::new(row_of(mix(*number))).columns(FAMILY, QUALIFIER));
            let deletes: Vec<_> = deletes.collect();
            store.table.delete_all(&deletes).expect("a batch of deletes");
        }
        self.measure_reads("markers_memory", 1, SIZES.cells, |_| {
            assert_eq!(store.scan(&Scan::new()), SIZES.cells / 10);
        });
        store.flush();
        self.measure_reads("markers_flushed", 1, SIZES.cells, |_| {
            assert_eq!(store.scan(&Scan::new()), SIZES.cells / 10);
        });
        // Unlike the flush of a table, that of a region has it compacted where that is due.
        store.load(std::iter::once(mix(0)));
        self.time("markers_dropped", 1, || {
            let began = Instant::now();
            store.flush_region();
            while store.file_count() > 1 {
                std::thread::sleep(Duration::from_millis(1));
            }
            began.elapsed()
        });
        self.measure_reads("markers_compacted", 1, SIZES.cells, |_| {
            assert_eq!(store.scan(&Scan::new()), SIZES.cells / 10);
        });
    }
}

fn qualifier_of(column: u64) -> [u8; 8] {
    let mut qualifier = *b"field000";
    for (place, digit) in qualifier[5..].iter_mut().zip([100, 10, 1]) {
        *place = b'0' + u8::try_from(column / digit % 10).expect("a digit");
    }
    qualifier
}
