//! Tests of the memstore as a whole, against a sorted map.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use hblite_env::sync::RwLock;
use hblite_model::cell::{Cell, CellBuffer, CellType, key};
use proptest::prelude::*;

use super::*;

fn put(row: &str, qualifier: &str, timestamp: i64, sequence_id: u64, value: &str) -> Cell {
    let (row, qualifier) = (row.as_bytes(), qualifier.as_bytes());
    let cell = Cell::new(row, b"f", qualifier, timestamp, CellType::Put, value.as_bytes());
    cell.as_ref().with_sequence_id(sequence_id).to_cell()
}

fn add(memstore: &MemStore, cells: &[Cell]) -> MemStoreSize {
    memstore.add(cells.iter().map(Cell::as_ref))
}

fn forward(scanner: &mut SegmentScanner) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut is_at_cell = scanner.seek_first().unwrap();
    while is_at_cell {
        cells.push(scanner.current().unwrap().to_cell());
        is_at_cell = scanner.next().unwrap();
    }
    assert!(scanner.current().is_none());
    cells
}

fn backward(scanner: &mut SegmentScanner) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut is_at_cell = scanner.seek_last().unwrap();
    while is_at_cell {
        cells.push(scanner.current().unwrap().to_cell());
        is_at_cell = scanner.prev().unwrap();
    }
    assert!(scanner.current().is_none());
    cells
}

fn only_scanner(memstore: &MemStore, read_point: u64) -> SegmentScanner {
    let mut scanners = memstore.scanners(read_point);
    assert_eq!(scanners.len(), 1);
    scanners.remove(0)
}

fn summary(cells: &[Cell]) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    cells
        .iter()
        .map(|cell| {
            let cell = cell.as_ref();
            format!("{}:{} {}", text(cell.row()), text(cell.value()), cell.sequence_id())
        })
        .collect()
}

#[test]
fn equal_keys_come_newest_sequence_id_first_and_all_are_kept() {
    let memstore = MemStore::new(CellComparator::Default, b"", Arc::default());
    let mut cells =
        vec![put("r", "q", 5, 2, "b"), put("r", "q", 5, 3, "c"), put("r", "q", 5, 1, "a")];
    // The same column and timestamp several times in one write: the last wins.
    cells.extend(["x", "y", "z"].map(|value| put("s", "q", 5, 4, value)));
    assert_eq!(add(&memstore, &cells).cell_count, 6);
    let expected = ["r:c 3", "r:b 2", "r:a 1", "s:z 4", "s:y 4", "s:x 4"];
    let mut scanner = only_scanner(&memstore, u64::MAX);
    assert_eq!(summary(&forward(&mut scanner)), expected);
    assert_eq!(
        summary(&backward(&mut scanner)),
        expected.map(String::from).into_iter().rev().collect::<Vec<_>>()
    );
    let mut scanner = only_scanner(&memstore, 2);
    assert_eq!(summary(&forward(&mut scanner)), ["r:b 2", "r:a 1"]);
}

#[test]
fn many_copies_of_one_cell_do_not_take_quadratic_time() {
    let memstore = MemStore::new(CellComparator::Default, b"", Arc::default());
    let cell = put("r", "q", 5, 1, "v");
    memstore.add(std::iter::repeat_n(cell.as_ref(), 50_000));
    assert_eq!(memstore.size().cell_count, 50_000);
}

#[test]
fn rows_of_meta_have_their_own_order() {
    let ascending = ["t,,1", "t,!,1", "t,a,1", "t,a,2", "t,a\u{1},1", "t!,,1"];
    let memstore = MemStore::new(CellComparator::Meta, b"t", Arc::default());
    for row in ascending.iter().rev() {
        add(&memstore, &[put(row, "q", 1, 1, "")]);
    }
    let mut scanner = only_scanner(&memstore, 1);
    let rows = |cells: &[Cell]| {
        cells.iter().map(|c| String::from_utf8_lossy(c.row()).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(rows(&forward(&mut scanner)), ascending);
    assert!(scanner.seek(&key::first_on_row(b"t,a,2")).unwrap());
    assert_eq!(scanner.current().unwrap().row(), b"t,a,2");
    let frozen = memstore.freeze().unwrap();
    frozen.segment().flatten();
    let mut scanner = frozen.segment().scanner(1);
    assert_eq!(rows(&forward(&mut scanner)), ascending);
    assert!(scanner.seek_before(&key::first_on_row(b"t,a,2")).unwrap());
    assert_eq!(scanner.current().unwrap().row(), b"t,a,1");
}

#[test]
fn a_frozen_segment_is_read_until_it_is_cleared() {
    let memstore = MemStore::new(CellComparator::Default, b"", Arc::default());
    assert!(memstore.freeze().is_none() && memstore.is_empty());
    add(&memstore, &[put("user1", "q", 5, 1, "old"), put("user2", "q", 5, 1, "old")]);
    let mut reading = only_scanner(&memstore, u64::MAX);
    assert!(reading.seek_first().unwrap());

    let frozen = memstore.freeze().unwrap();
    add(&memstore, &[put("user1", "q", 6, 2, "new")]);
    assert_eq!(memstore.freeze().unwrap().id(), frozen.id(), "the first was not cleared");
    assert_eq!(frozen.segment().size().cell_count, 2);
    assert_eq!(memstore.size().cell_count, 3);
    let values = |scanners: Vec<SegmentScanner>| -> Vec<Vec<String>> {
        scanners.into_iter().map(|mut scanner| summary(&forward(&mut scanner))).collect()
    };
    let both =
        vec![vec!["user1:new 2".to_string()], vec!["user1:old 1".into(), "user2:old 1".into()]];
    assert_eq!(values(memstore.scanners(u64::MAX)), both);
    frozen.segment().flatten();
    assert_eq!(values(memstore.scanners(u64::MAX)), both);
    assert_eq!(values(memstore.segments().scanners_of_row(u64::MAX, b"user2")), both[1..]);
    assert!(memstore.segments().scanners_of_row(u64::MAX, b"user3").is_empty());

    assert!(memstore.clear_frozen(frozen.id() + 1).is_err());
    assert_eq!(memstore.clear_frozen(frozen.id()).unwrap().cell_count, 2);
    assert!(memstore.clear_frozen(frozen.id()).is_err());
    assert_eq!(values(memstore.scanners(u64::MAX)), both[..1]);
    // An open scanner continues in a dropped segment.
    assert!(reading.next().unwrap());
    assert_eq!(reading.current().unwrap().row(), b"user2");
}

#[test]
fn a_segment_knows_times_and_tags() {
    let memstore = MemStore::new(CellComparator::Default, b"", Arc::default());
    add(&memstore, &[put("r", "q", 50, 1, ""), put("r", "q", 70, 1, "")]);
    assert_eq!(only_scanner(&memstore, 1).timestamps(), Some((50, 70)));
    let marker = Cell::new(b"r", b"f", b"", 60, CellType::DeleteFamily, b"");
    let tagged = CellRef::new(marker.as_ref().key(), b"", b"\0\x02\x08x", 1);
    let added = memstore.add([tagged]);
    assert_eq!(added.data_size, marker.as_ref().serialized_size() + 2 + 4);
    let frozen = memstore.freeze().unwrap();
    assert_eq!(frozen.segment().timestamps(), Some((0, 70)));
    assert!(frozen.segment().has_tags());
}

#[test]
fn what_adds_report_is_what_the_size_grows_by() {
    let memstore = MemStore::new(CellComparator::Default, b"", Arc::default());
    let mut expected = memstore.size();
    assert_eq!((expected.cell_count, expected.data_size), (0, 0));
    assert!(expected.heap_size < 2048, "an idle memstore takes {} bytes", expected.heap_size);
    for i in 0..5_000_u64 {
        let value = "v".repeat(i as usize * 37 % 900);
        expected += add(&memstore, &[put(&format!("row{}", i * 7919 % 5_000), "q", 1, i, &value)]);
    }
    assert_eq!(memstore.size(), expected);
    let frozen = memstore.freeze().unwrap();
    let before = frozen.segment().size();
    frozen.segment().flatten();
    let after = frozen.segment().size();
    assert_eq!((after.cell_count, after.data_size), (5_000, expected.data_size));
    assert!(after.heap_size < before.heap_size);
}

/// What the sorted map sorts by: (row, qualifier, timestamp and sequence id inverted).
type MapKey = (Vec<u8>, Vec<u8>, i64, u64);

fn map_key(cell: &CellRef<'_>) -> MapKey {
    let order = (-cell.timestamp(), u64::MAX - cell.sequence_id());
    (cell.row().to_vec(), cell.qualifier().to_vec(), order.0, order.1)
}

/// Few different bytes and lengths around 8, so that prefixes tie and rows extend each other.
fn row() -> impl Strategy<Value = Vec<u8>> {
    let tail = prop::collection::vec(prop::sample::select(vec![0, 1, b'a', 0xff]), 0..11);
    (any::<bool>(), tail).prop_map(
        |(is_shared, tail)| {
            if is_shared { [b"user0000", &*tail].concat() } else { tail }
        },
    )
}

#[derive(Debug, Clone)]
enum Step {
    Seek(Vec<u8>),
    SeekBefore(Vec<u8>),
    SeekFirst,
    SeekLast,
    Next,
    Prev,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => row().prop_map(Step::Seek),
        1 => row().prop_map(Step::SeekBefore),
        1 => Just(Step::SeekFirst),
        1 => Just(Step::SeekLast),
        5 => Just(Step::Next),
        5 => Just(Step::Prev),
    ]
}

/// Moves `scanner` and a position in the map alike and compares after each step.
fn check_steps(scanner: &mut SegmentScanner, map: &BTreeMap<MapKey, Cell>, steps: &[Step]) {
    let mut at: Option<MapKey> = None;
    let first = |mut range: std::collections::btree_map::Range<'_, MapKey, Cell>| {
        range.next().map(|(key, _)| key.clone())
    };
    let last = |mut range: std::collections::btree_map::Range<'_, MapKey, Cell>| {
        range.next_back().map(|(key, _)| key.clone())
    };
    for step in steps {
        let start = |row: &Vec<u8>| (row.clone(), Vec::new(), i64::MIN, 0);
        let (found, expected) = match step {
            Step::Seek(row) => {
                (scanner.seek(&key::first_on_row(row)), first(map.range(start(row)..)))
            }
            Step::SeekBefore(row) => {
                (scanner.seek_before(&key::first_on_row(row)), last(map.range(..start(row))))
            }
            Step::SeekFirst => (scanner.seek_first(), first(map.range::<MapKey, _>(..))),
            Step::SeekLast => (scanner.seek_last(), last(map.range::<MapKey, _>(..))),
            Step::Next => {
                let next = at.take().and_then(|key| {
                    map.range(key.clone()..).map(|(key, _)| key.clone()).find(|next| *next > key)
                });
                (scanner.next(), next)
            }
            Step::Prev => (scanner.prev(), at.take().and_then(|key| last(map.range(..key)))),
        };
        assert_eq!(found.unwrap(), expected.is_some(), "{step:?}");
        assert_eq!(scanner.current().map(|cell| map_key(&cell)), expected, "{step:?}");
        if let (Some(cell), Some(key)) = (scanner.current(), &expected) {
            assert_eq!(cell, map[key].as_ref());
        }
        at = expected;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn scanners_move_as_in_a_sorted_map(
        cells in prop::collection::vec((row(), 0..3_u8, 0..3_i64, 1..9_u64), 0..150),
        steps in prop::collection::vec(step(), 0..150),
        read_point in 0..10_u64,
        shared in prop::sample::select(vec![&b""[..], b"user0000", b"a", b"\xff"]),
    ) {
        let memstore = MemStore::new(CellComparator::Default, shared, Arc::default());
        let mut map = BTreeMap::new();
        for (i, (row, qualifier, timestamp, sequence_id)) in cells.iter().enumerate() {
            let value = i.to_string();
            let (put, value) = (CellType::Put, value.as_bytes());
            let cell = Cell::new(row, b"f", &[*qualifier], *timestamp, put, value);
            let cell = cell.as_ref().with_sequence_id(*sequence_id).to_cell();
            if map.contains_key(&map_key(&cell.as_ref())) {
                continue;
            }
            add(&memstore, std::slice::from_ref(&cell));
            if *sequence_id <= read_point {
                map.insert(map_key(&cell.as_ref()), cell);
            }
        }
        if memstore.is_empty() {
            return Ok(());
        }
        let mut scanner = only_scanner(&memstore, read_point);
        let sorted: Vec<_> = map.values().cloned().collect();
        prop_assert_eq!(&forward(&mut scanner), &sorted);
        let reversed: Vec<_> = sorted.iter().rev().cloned().collect();
        prop_assert_eq!(&backward(&mut scanner), &reversed);
        check_steps(&mut only_scanner(&memstore, read_point), &map, &steps);

        let frozen = memstore.freeze().unwrap();
        frozen.segment().flatten();
        let mut scanner = frozen.segment().scanner(read_point);
        prop_assert_eq!(&forward(&mut scanner), &sorted);
        prop_assert_eq!(&backward(&mut scanner), &reversed);
        check_steps(&mut frozen.segment().scanner(read_point), &map, &steps);
    }
}

/// Writers add whole rounds; after each round the read point moves. Frozen segments come and go. A
/// reader must find each cell of each round up to its read point, in order, and none beyond.
#[test]
fn readers_see_all_that_was_complete_while_writers_and_flushes_work() {
    const WRITERS: u64 = 2;
    const ROUNDS: u64 = if cfg!(miri) { 5 } else { 300 };
    const CELLS_PER_ROUND: u64 = 20;
    let memstore = MemStore::new(CellComparator::Default, b"", Arc::default());
    // Completed rounds of each writer; a writer's sequence ids are its own, as are its rows.
    let completed: [AtomicU64; WRITERS as usize] = Default::default();
    let updates = RwLock::new(());
    // Represents the swap of files: what was flushed so far.
    let flushed = RwLock::new(Vec::<Cell>::new());
    let is_done = AtomicBool::new(false);

    let write = |writer: u64| {
        for round in 1..=ROUNDS {
            let mut cells = CellBuffer::new();
            for i in 0..CELLS_PER_ROUND {
                let row = format!("{writer}/{:04}", (round * 7919 + i * 104_729) % 10_000);
                let timestamp = (round * CELLS_PER_ROUND + i) as i64;
                let code = CellType::Put.code();
                cells.push_parts(row.as_bytes(), b"f", b"q", timestamp, code, row.as_bytes());
            }
            cells.set_sequence_id(round);
            let entered = updates.read();
            memstore.add(&cells);
            drop(entered);
            completed[writer as usize].store(round, Ordering::Release);
        }
    };
    let read = |writer: u64, is_reverse: bool| {
        while !is_done.load(Ordering::Acquire) {
            let files = flushed.read();
            let read_point = completed[writer as usize].load(Ordering::Acquire);
            let mut scanners = memstore.scanners(read_point);
            let mut visible = files.clone();
            drop(files);
            for scanner in &mut scanners {
                let mut cells = if is_reverse { backward(scanner) } else { forward(scanner) };
                if is_reverse {
                    cells.reverse();
                }
                let compare = |l: &Cell, r: &Cell| {
                    CellComparator::Default.compare(&l.as_ref(), &r.as_ref()).is_lt()
                };
                assert!(cells.is_sorted_by(compare));
                visible.append(&mut cells);
            }
            let head = format!("{writer}/");
            let is_own = |cell: &&Cell| {
                cell.row().starts_with(head.as_bytes()) && cell.sequence_id() <= read_point
            };
            let own: Vec<_> = visible.iter().filter(is_own).map(|cell| cell.timestamp()).collect();
            let distinct: std::collections::BTreeSet<_> = own.iter().copied().collect();
            assert_eq!(own.len() as u64, read_point * CELLS_PER_ROUND);
            assert_eq!(distinct.len(), own.len());
            assert!(distinct.iter().all(|ts| *ts < ((read_point + 1) * CELLS_PER_ROUND) as i64));
        }
    };
    let flush = || {
        while !is_done.load(Ordering::Acquire) {
            let stopped = updates.write();
            let taken = memstore.freeze();
            drop(stopped);
            let Some(frozen) = taken else {
                continue;
            };
            frozen.segment().flatten();
            let cells = forward(&mut frozen.segment().scanner(u64::MAX));
            let mut files = flushed.write();
            files.extend(cells);
            memstore.clear_frozen(frozen.id()).unwrap();
            drop(files);
            thread::yield_now();
        }
    };
    thread::scope(|scope| {
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        let readers = [scope.spawn(|| read(0, false)), scope.spawn(|| read(1, true))];
        let flusher = scope.spawn(flush);
        let results: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        is_done.store(true, Ordering::Release);
        for reader in readers {
            reader.join().unwrap();
        }
        flusher.join().unwrap();
        assert!(results.iter().all(|result| result.is_ok()));
    });
    let mut all = flushed.into_inner().len();
    all += memstore.scanners(u64::MAX).iter_mut().map(|s| forward(s).len()).sum::<usize>();
    assert_eq!(all as u64, WRITERS * ROUNDS * CELLS_PER_ROUND);
}
