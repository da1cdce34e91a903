//! What both lists do.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{SortedList, arena_list, crossbeam};

type ArenaList = arena_list::SkipList<u64>;
type CrossbeamList = crossbeam::SkipList<u64>;

macro_rules! on_both {
    ($test:ident) => {
        $test::<ArenaList>();
        // crossbeam-epoch breaks the rules of Stacked Borrows, which Miri enforces.
        if !cfg!(miri) {
            $test::<CrossbeamList>();
        }
    };
}

/// Numbers without order, all different.
fn numbers(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn count(full: u64) -> u64 {
    if cfg!(miri) { full / 50 } else { full }
}

fn forward(list: &impl SortedList<u64>, from: Bound<&u64>, count: usize) -> Vec<u64> {
    let mut keys = Vec::new();
    list.read_forward(from, count, |key| keys.push(key));
    keys
}

fn backward(list: &impl SortedList<u64>, from: Bound<&u64>, count: usize) -> Vec<u64> {
    let mut keys = Vec::new();
    list.read_backward(from, count, |key| keys.push(key));
    keys
}

fn check(list: &impl SortedList<u64>, mut expected: Vec<u64>) {
    expected.sort_unstable();
    assert_eq!(list.len(), expected.len());
    assert_eq!(forward(list, Bound::Unbounded, usize::MAX), expected);
    expected.reverse();
    assert_eq!(backward(list, Bound::Unbounded, usize::MAX), expected);
}

fn keys_are_in_order<L: SortedList<u64>>() {
    let count = count(5_000);
    let mut ascending: Vec<u64> = numbers(count).collect();
    ascending.sort_unstable();
    let descending: Vec<u64> = ascending.iter().rev().copied().collect();
    let mut pieces: Vec<u64> = numbers(count).collect();
    pieces.chunks_mut(100).for_each(<[u64]>::sort_unstable);
    for keys in [numbers(count).collect(), ascending, descending, pieces] {
        for inserts_per_finger in [1, 7, usize::MAX] {
            let list = L::new(Arc::default());
            let mut grown = list.heap_size();
            for some in keys.chunks(inserts_per_finger.min(keys.len())) {
                let mut finger = list.finger();
                for key in some {
                    let (is_inserted, more) = list.insert(*key, &mut finger);
                    assert!(is_inserted);
                    grown += more;
                    assert_eq!(list.insert(*key, &mut finger), (false, 0));
                }
            }
            assert_eq!(grown, list.heap_size());
            check(&list, keys.clone());
        }
    }
}

#[test]
fn keys_are_in_order_however_they_come() {
    on_both!(keys_are_in_order);
}

fn present_keys_do_not_mislead<L: SortedList<u64>>() {
    let list = L::new(Arc::default());
    for key in [50, 40, 30] {
        list.insert(key, &mut list.finger());
    }
    let mut finger = list.finger();
    for (key, is_new) in [(10, true), (50, false), (20, true), (60, true), (45, true)] {
        assert_eq!(list.insert(key, &mut finger).0, is_new, "{key}");
    }
    check(&list, vec![10, 20, 30, 40, 45, 50, 60]);
}

#[test]
fn a_key_that_is_present_does_not_mislead_the_next() {
    on_both!(present_keys_do_not_mislead);
}

fn neighbors_are_found<L: SortedList<u64>>() {
    let list = L::new(Arc::default());
    let mut finger = list.finger();
    assert_eq!(forward(&list, Bound::Unbounded, 1), []);
    assert_eq!(backward(&list, Bound::Unbounded, 1), []);
    let count = count(1_000);
    for key in 0..count {
        list.insert(10 * (key * 7 % count), &mut finger);
    }
    let last = 10 * (count - 1);
    let from = |first: u64| (first..=last).step_by(10).take(2).collect::<Vec<_>>();
    let down_from = |first: u64| [Some(first), first.checked_sub(10)].into_iter().flatten();
    for key in 0..last + 20 {
        let (up, down) = (key.next_multiple_of(10), (key / 10 * 10).min(last));
        let next = if key.is_multiple_of(10) { key + 10 } else { up };
        let previous = if key <= last { key.div_ceil(10).checked_sub(1) } else { Some(last / 10) };
        let previous: Vec<u64> =
            previous.map(|tens| down_from(10 * tens)).into_iter().flatten().collect();
        assert_eq!(forward(&list, Bound::Included(&key), 2), from(up), "from {key}");
        assert_eq!(forward(&list, Bound::Excluded(&key), 2), from(next), "after {key}");
        assert!(
            backward(&list, Bound::Included(&key), 2).into_iter().eq(down_from(down)),
            "to {key}"
        );
        assert_eq!(backward(&list, Bound::Excluded(&key), 2), previous, "before {key}");
        // A walk only reads. It ends, and it changes nothing.
        let mut walk = list.walk();
        while L::step(&mut walk, |other| *other < key) {}
    }
}

#[test]
fn the_neighbors_of_any_key_are_found() {
    on_both!(neighbors_are_found);
}

fn threads_insert_at_once<L: SortedList<u64> + Sync>() {
    let list = L::new(Arc::default());
    let count = count(20_000);
    let insert = |thread: u64| {
        let mut finger = list.finger();
        // Half of the keys are common to two threads.
        let keys = numbers(count).skip((thread * count / 4) as usize).take(count as usize / 2);
        let mut keys: Vec<u64> = keys.collect();
        keys.chunks_mut(50).for_each(<[u64]>::sort_unstable);
        keys.into_iter().filter(|key| list.insert(*key, &mut finger).0).count()
    };
    let inserted: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|at| scope.spawn(move || insert(at))).collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).sum()
    });
    assert_eq!(inserted as u64, count);
    check(&list, numbers(count).collect());
}

#[test]
fn threads_insert_the_same_and_different_keys_at_once() {
    on_both!(threads_insert_at_once);
}

fn threads_find_what_was_inserted<L: SortedList<u64> + Sync>() {
    let list = L::new(Arc::default());
    let count = count(20_000);
    let inserted = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut finger = list.finger();
            for (key, done) in numbers(count).zip(1..) {
                list.insert(key, &mut finger);
                inserted.store(done, Ordering::Release);
            }
        });
        loop {
            let done = inserted.load(Ordering::Acquire);
            let newest: Vec<u64> = numbers(done).skip(done.saturating_sub(10) as usize).collect();
            for key in newest {
                assert_eq!(forward(&list, Bound::Included(&key), 1), [key]);
                assert_eq!(backward(&list, Bound::Included(&key), 1), [key]);
            }
            if done == count {
                break;
            }
        }
    });
}

#[test]
fn a_thread_finds_what_another_has_inserted() {
    on_both!(threads_find_what_was_inserted);
}
