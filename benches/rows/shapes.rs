//! Rows of many columns, of many versions and with delete markers, and a store of many files.

use std::time::{Duration, Instant};

use hblite::{Delete, Get, Put, Scan};

use crate::store::{BATCH, FAMILY, QUALIFIER, Store, mix, put_of, row_of, value_of};
use crate::{Run, SIZES};

const WIDE_COLUMNS: u64 = 1_000;
const VERSIONS: u64 = 10;
const QUEUE_LENGTH: u64 = 1_000;

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
                    let get = get.with_versions(u32::try_from(versions).expect("small"));
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

    /// A queue: a row is put at the tail, a scan finds the head, which is deleted.
    pub(crate) fn queue(&self) {
        let store = self.store();
        store.load(0..QUEUE_LENGTH);
        let mut times = Vec::new();
        for round in 0..SIZES.queue_rounds {
            store.table.put(&put_of(QUEUE_LENGTH + round)).expect("a put");
            let began = Instant::now();
            let mut scanner = store.table.scan(&Scan::new().with_limit(1)).expect("a scanner");
            let head = scanner.next().expect("a head").expect("a row");
            times.push(began.elapsed());
            assert_eq!(head.row(), row_of(round));
            store.table.delete(&hblite::Delete::new(head.row())).expect("a delete");
        }
        times.sort_unstable();
        let at = |part: usize| times[times.len() / 1_000 * part].as_secs_f64() * 1e6;
        println!(
            "{:<28} {:>12.1} µs for a scan, {:.1} for one in a thousand, {:.0} for the slowest",
            "queue",
            at(500),
            at(999),
            times.last().copied().unwrap_or_default().as_secs_f64() * 1e6,
        );
    }

    /// Scans over rows of which all but one in a hundred are deleted, by markers of each kind, and
    /// over as many cells without markers.
    pub(crate) fn markers(&self) {
        let marker = |kind: &str, row: u64| {
            let delete = Delete::new(row_of(row));
            match kind {
                "row" => delete,
                "family_version" => delete.family_version(FAMILY, 1),
                "column" => delete.columns(FAMILY, QUALIFIER),
                _ => delete.column_at(FAMILY, QUALIFIER, 1),
            }
        };
        let store = Store::at_rest(self.dir.clone());
        store.load(0..SIZES.cells);
        self.markers_scan(&store, "none_memory", SIZES.cells);
        store.flush();
        self.markers_scan(&store, "none_file", SIZES.cells);
        drop(store);
        for kind in ["row", "family_version", "column", "version"] {
            let store = Store::at_rest(self.dir.clone());
            let rows = SIZES.cells / 2;
            for first in (0..rows).step_by(BATCH) {
                store.load(first..first + BATCH as u64);
                let doomed = first + 1..first + BATCH as u64;
                let deletes: Vec<_> = doomed.map(|row| marker(kind, row)).collect();
                store.table.delete_all(&deletes).expect("a batch of deletes");
            }
            self.markers_scan(&store, &format!("{kind}_memory"), rows / 100);
            store.flush();
            self.markers_scan(&store, &format!("{kind}_file"), rows / 100);
        }
    }

    fn markers_scan(&self, store: &Store, kind: &str, found: u64) {
        self.measure_reads(&format!("markers_{kind}"), 1, SIZES.cells, |_| {
            assert_eq!(store.scan(&Scan::new()), found);
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
