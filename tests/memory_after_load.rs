//! Goal: memory that memstores used while they were loaded is returned to the system when they are
//! flushed and the store is idle.
//!
//! Method: this test has its own process, without other tests. Threads write far more than an idle
//! store may hold, all of it is flushed, and the resident memory is compared with that before.

use std::time::{Duration, Instant};

use hblite::{
    ColumnFamilyDescriptor, Durability, FlushRequest, Options, Put, TableDescriptor, TableName,
};

const THREADS: usize = 4;
const ROWS_PER_THREAD: usize = 30_000;
const ROUNDS: usize = 2;
/// What an idle store may keep of it, memory of the allocator included.
const KEPT_MAX: u64 = 48 << 20;

/// Resident memory of this process that belongs to no file, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).expect("a line");
    let kib = line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok());
    kib.expect("a number") << 10
}

#[test]
fn an_idle_store_gives_back_what_its_memstores_took() {
    let dir = tempfile::tempdir().expect("a directory");
    let engine =
        Options::new().with_memstore_flush_size_bytes(512 << 20).with_compaction_enabled(false);
    let connection = engine.open(dir.path()).expect("it opens");
    let name: TableName = "t".parse().expect("a legal name");
    let table = TableDescriptor::new(name.clone()).with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&table).expect("created");
    let before = resident();
    let mut loaded = 0;
    for round in 0..ROUNDS {
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let connection = connection.clone();
                scope.spawn(move || {
                    let table = connection.table("t").expect("there");
                    for row in 0..ROWS_PER_THREAD {
                        let row = format!("{round}-{:08}-{thread}", row * 7919 % ROWS_PER_THREAD);
                        let put = Put::new(row).add("f", "q", vec![b'v'; 700]);
                        table.put(&put.with_durability(Durability::SkipWal)).expect("written");
                    }
                });
            }
        });
        loaded = resident();
        connection.admin().flush(&FlushRequest::from(name.clone())).expect("flushed");
    }
    // Memory is freed by epochs, which advance as the store is used.
    let deadline = Instant::now() + Duration::from_secs(20);
    let table = connection.table("t").expect("there");
    while resident() > before + KEPT_MAX && Instant::now() < deadline {
        table.get(&hblite::Get::new("0-00000000-0")).expect("read");
        std::thread::sleep(Duration::from_millis(10));
    }
    let (kept, took) = (resident().saturating_sub(before), loaded - before);
    println!("took {} MiB, kept {} MiB", took >> 20, kept >> 20);
    assert!(took > 80 << 20, "the load took only {} MiB", took >> 20);
    assert!(kept <= KEPT_MAX, "of {} MiB, {} MiB are kept", took >> 20, kept >> 20);
}
