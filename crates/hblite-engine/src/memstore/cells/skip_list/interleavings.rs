//! All interleavings of a few inserts and reads, with every value that the memory model lets a read
//! find (loom). `docs/testing-hblite.md` has the command.
//!
//! The links of nodes are loom's. So is what stands for a cell here: it is written before its key
//! is inserted, without any order but the one that the list itself establishes.

use std::cmp::Ordering as KeyOrder;
use std::ops::Bound;
use std::sync::Arc;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use super::SortedList;
use super::arena_list::SkipList;

#[derive(Clone, Copy)]
struct Key {
    number: u64,
    is_written: &'static AtomicBool,
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> KeyOrder {
        self.number.cmp(&other.number)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<KeyOrder> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Key {}

/// A key as a writer makes it.
fn written(number: u64) -> Key {
    let is_written = Box::leak(Box::new(AtomicBool::new(false)));
    is_written.store(true, Ordering::Relaxed);
    Key { number, is_written }
}

type List = SkipList<Key>;

/// Inserts keys, each with a number of levels; returns how many were not there.
fn insert(list: &List, keys: &[(u64, usize)]) -> usize {
    let mut finger = list.finger();
    let is_new = |key: &&(u64, usize)| list.insert_node(written(key.0), key.1, &mut finger).0;
    keys.iter().filter(is_new).count()
}

/// Reads all keys, which are in order and whose cells are written.
fn read(list: &List) -> Vec<u64> {
    let mut numbers = Vec::new();
    list.read_forward(Bound::Unbounded, usize::MAX, |key| {
        assert!(key.is_written.load(Ordering::Relaxed), "the cell of {} is there", key.number);
        numbers.push(key.number);
    });
    assert!(numbers.is_sorted_by(|left, right| left < right), "{numbers:?}");
    numbers
}

/// Lets two threads insert while a third reads, and checks what is there at the end.
fn try_all(first: &'static [(u64, usize)], second: &'static [(u64, usize)], expected: &[u64]) {
    let expected = expected.to_vec();
    loom::model(move || {
        let list = Arc::new(List::new(Arc::default()));
        list.raise(2);
        let writer = |keys| {
            let list = Arc::clone(&list);
            thread::spawn(move || insert(&list, keys))
        };
        let writers = [writer(first), writer(second)];
        let seen = read(&list);
        assert!(seen.iter().all(|number| expected.contains(number)));
        let inserted: usize = writers.map(|it| it.join().expect("it ends")).into_iter().sum();
        assert_eq!(inserted, expected.len());
        assert_eq!(read(&list), expected);
        for level in 0..2 {
            let keys = list.keys_on(level);
            assert!(keys.is_sorted_by(|left, right| left < right), "level {level}");
        }
    });
}

#[test]
fn inserts_into_one_gap() {
    try_all(&[(10, 2)], &[(20, 2)], &[10, 20]);
}

#[test]
fn inserts_of_one_key() {
    try_all(&[(10, 2)], &[(10, 1)], &[10]);
}

#[test]
fn two_inserts_of_two_keys() {
    try_all(&[(10, 1), (20, 2)], &[(15, 2), (20, 1)], &[10, 15, 20]);
}

#[test]
fn inserts_in_turn() {
    try_all(&[(10, 2), (30, 1)], &[(20, 2)], &[10, 20, 30]);
}
