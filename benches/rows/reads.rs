//! Gets and scans of narrow rows, and gets and puts together, with one to sixteen threads.

use hblite::Scan;
use hblite::filter::{Comparator, CompareOperator, Filter};

use crate::store::{Store, mix, put_of, row_of};
use crate::{Run, SIZES, THREADS};

impl Run {
    pub(crate) fn reads(&self) {
        let store = self.settled();
        for threads in THREADS {
            self.gets(&store, threads);
            self.short_scans(&store, threads);
        }
        self.full_scans(&store);
    }

    pub(crate) fn mixed(&self) {
        for (name, writes_every) in [("ycsb_b", 20), ("ycsb_a", 2)] {
            for threads in THREADS {
                let name = format!("{name}_{threads}");
                if self.wants(&name) {
                    // A new store for each: puts leave memory and files to read.
                    self.ycsb(&self.settled(), threads, &name, writes_every);
                }
            }
        }
    }

    fn gets(&self, store: &Store, threads: u64) {
        let each = SIZES.gets / threads;
        let picks = |thread: u64, is_zipfian: bool| {
            (0..each).map(move |turn| {
                let random = mix(turn ^ ((thread + 1) << 40));
                if is_zipfian { zipfian(random) } else { random % SIZES.cells }
            })
        };
        let uniform = move |thread: u64| picks(thread, false);
        self.measure_reads(&format!("get_random_{threads}"), threads, SIZES.gets, |thread| {
            for number in uniform(thread) {
                assert_eq!(store.get(mix(number)), 1);
            }
        });
        self.memory(&format!("get_random_{threads}_memory"));
        let zipfian = move |thread: u64| picks(thread, true);
        self.measure_reads(&format!("get_zipfian_{threads}"), threads, SIZES.gets, |thread| {
            for number in zipfian(thread) {
                assert_eq!(store.get(mix(number)), 1);
            }
        });
        self.measure_reads(&format!("get_missing_{threads}"), threads, SIZES.gets, |thread| {
            for number in uniform(thread) {
                assert_eq!(store.get(mix(number + SIZES.cells)), 0);
            }
        });
    }

    /// Gets of rows by Zipf's law; one in `writes_every` is a put instead.
    fn ycsb(&self, store: &Store, threads: u64, name: &str, writes_every: u64) {
        let each = SIZES.gets / threads;
        self.measure(name, threads, SIZES.gets, |thread| {
            for turn in 0..each {
                let random = mix(turn ^ ((thread + 7) << 40));
                let row = mix(zipfian(random));
                if random.rotate_left(17).is_multiple_of(writes_every) {
                    store.table.put(&put_of(row)).expect("a put");
                } else {
                    assert_eq!(store.get(row), 1);
                }
            }
        });
    }

    fn short_scans(&self, store: &Store, threads: u64) {
        for is_reversed in [false, true] {
            let name = if is_reversed { "scan_100_reverse" } else { "scan_100" };
            let each = SIZES.short_scans / threads;
            self.measure_reads(
                &format!("{name}_{threads}"),
                threads,
                SIZES.short_scans,
                |thread| {
                    for turn in 0..each {
                        let row = row_of(mix(mix(turn ^ (thread << 40)) % SIZES.cells));
                        let scan = Scan::new().with_start_row(row).with_limit(100);
                        store.scan(&scan.with_reversed(is_reversed));
                    }
                },
            );
        }
    }

    fn full_scans(&self, store: &Store) {
        for (name, is_reversed) in [("scan_full", false), ("scan_full_reverse", true)] {
            self.measure_reads(name, 1, SIZES.cells, |_| {
                let cells = store.scan(&Scan::new().with_reversed(is_reversed));
                assert_eq!(cells, SIZES.cells);
            });
        }
        // The first byte of a value is random; this keeps one in ten.
        let smallest = Comparator::binary([0xe6]);
        let filter = Filter::value(CompareOperator::GreaterOrEqual, smallest);
        self.measure_reads("scan_filter", 1, SIZES.cells, |_| {
            let cells = store.scan(&Scan::new().with_filter(filter.clone()));
            assert!((SIZES.cells / 20..SIZES.cells / 5).contains(&cells), "{cells}");
        });
    }
}

/// A number of a row by Zipf's law with exponent 0.99, nearly (`u` to the power of 100).
fn zipfian(random: u64) -> u64 {
    let share = (random >> 11) as f64 / (1_u64 << 53) as f64;
    let place = (SIZES.cells as f64).powf(share);
    mix(place as u64) % SIZES.cells
}
