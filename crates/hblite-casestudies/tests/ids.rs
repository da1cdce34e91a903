//! Numbers of the lookup table stay unique when many register the same names at once, each with a
//! cache of its own as another process would have.

use std::collections::{BTreeMap, BTreeSet};

use hblite::{ColumnFamilyDescriptor, TableDescriptor};
use hblite_casestudies::IdTable;
use hblite_rowkey::{IdStore, Ids};

const NAMES: u64 = 60;

fn table() -> hblite::Table {
    let connection = hblite::open_in_memory().expect("a store");
    let table = TableDescriptor::new("LOG_TYPES".parse().expect("a name"))
        .with_family(ColumnFamilyDescriptor::new("i"));
    connection.admin().create_table(&table).expect("a table");
    connection.table("LOG_TYPES").expect("a table")
}

#[test]
fn concurrent_registration_gives_each_name_one_number() {
    let table = table();
    let registered: Vec<BTreeMap<(u8, u64), u64>> = std::thread::scope(|scope| {
        let threads = (0..8_u64).map(|thread| {
            let ids = Ids::new(IdTable::new(table.clone(), "i"));
            scope.spawn(move || {
                let mut found = BTreeMap::new();
                for step in 0..NAMES {
                    // Each begins elsewhere, so that all meet on every name.
                    let name = (step + thread * 7) % NAMES;
                    for kind in [b'h', b'e'] {
                        let id = ids.id(kind, format!("name{name}").as_bytes()).expect("an id");
                        found.insert((kind, name), id);
                    }
                }
                found
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    for found in &registered {
        assert_eq!(found, &registered[0], "all processes have the same numbers");
    }
    for kind in [b'h', b'e'] {
        let of_kind = registered[0].iter().filter(|((of, _), _)| *of == kind);
        let numbers: BTreeSet<u64> = of_kind.map(|(_, number)| *number).collect();
        assert_eq!(numbers.len() as u64, NAMES, "no number has two names");
    }
}

/// Counts what goes to the table.
struct Counting {
    ids: IdTable,
    finds: std::cell::Cell<u64>,
}

impl IdStore for Counting {
    type Error = hblite_casestudies::Error;

    fn find(&self, kind: u8, name: &[u8]) -> Result<Option<u64>, Self::Error> {
        self.finds.set(self.finds.get() + 1);
        self.ids.find(kind, name)
    }

    fn next_number(&self, kind: u8) -> Result<u64, Self::Error> {
        self.ids.next_number(kind)
    }

    fn register_if_absent(&self, kind: u8, name: &[u8], number: u64) -> Result<bool, Self::Error> {
        self.ids.register_if_absent(kind, name, number)
    }
}

#[test]
fn names_are_asked_for_once_and_the_cache_is_bounded() {
    let counting = |capacity| {
        let store = Counting { ids: IdTable::new(table(), "i"), finds: std::cell::Cell::new(0) };
        Ids::with_capacity(store, capacity)
    };
    let ids = counting(100);
    for _ in 0..1_000 {
        assert_eq!(ids.id(b'h', b"web1").expect("an id"), 1);
    }
    assert_eq!(ids.store().finds.get(), 1);
    // Ten names do not fit into a cache of four; every one is still right.
    let ids = counting(4);
    for round in 0..3 {
        for name in 0..10_u64 {
            let id = ids.id(b'h', format!("{name}").as_bytes()).expect("an id");
            assert_eq!(id, name + 1, "round {round}");
        }
    }
    assert!(ids.store().finds.get() > 10);
    // What is used all the time stays while others come and go.
    let ids = counting(4);
    for name in 0..50_u64 {
        ids.id(b'h', b"hot").expect("an id");
        ids.id(b'h', format!("{name}").as_bytes()).expect("an id");
    }
    assert_eq!(ids.store().finds.get(), 51);
}

#[test]
fn a_query_registers_nothing() {
    let table = table();
    let ids = Ids::new(IdTable::new(table.clone(), "i"));
    assert_eq!(ids.find(b'h', b"unknown").expect("an answer"), None);
    assert_eq!(table.scan(&hblite::Scan::new()).expect("a scan").count(), 0);
}
