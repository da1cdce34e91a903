//! Writers, scanners and splits during loads.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use hblite::{Cell, CompactRequest, Env, Get, Options, Put, Scan};
use hblite_engine::BulkLoadRequest;
use hblite_env::MemFileSystem;

use super::{FAMILIES, FOLDER, STORE, create, engine, in_folder, name, put_cell, write_file};

/// Far beyond what a split takes: the test ends even if there never is one.
const PATIENCE: Duration = Duration::from_secs(600);

/// Loads add rows that agree in both families, concurrent with writers, scanners and splits.
#[test]
fn scanners_see_loads_whole_while_regions_split() {
    const LOADS: u64 = 40;
    let connection = Options::new()
        .with_env(Env::in_memory())
        .with_memstore_flush_size_bytes(64 * 1024)
        .open(STORE)
        .expect("an empty store");
    create(&connection, &[]).expect("a new table");
    let (done, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let row = |number: u64| format!("row-{:02}", number % 20);
    let (split, is_split) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let table = connection.table("t").expect("a name");
            while !is_over.load(Ordering::Relaxed) {
                let known = done.load(Ordering::SeqCst);
                let rows = table.scan(&Scan::new()).expect("the table is there");
                let mut seen = 0;
                for row in rows {
                    let row = row.expect("nothing is damaged");
                    if row.row().starts_with(b"row-") {
                        assert_eq!(row.value("a", "q"), row.value("b", "q"), "half of a load");
                        seen += 1;
                    }
                }
                assert!(known == 0 || seen == 20, "{seen} rows of 20 after {known} loads");
            }
        });
        scope.spawn(|| {
            let table = connection.table("t").expect("a name");
            for number in 0_u64.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let put = Put::new(format!("put-{number:08}")).add("a", "p", vec![7; 200]);
                table.put(&put).expect("the table takes it");
            }
        });
        let (connection, is_over) = (&connection, &is_over);
        scope.spawn(move || {
            for number in (0_u64..).step_by(7) {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let key = row(number);
                if connection.admin().split_table(name("t"), Some(key.as_bytes())).is_ok() {
                    // The receiver may have all that it waits for.
                    let _ = split.send(());
                }
                let _ = connection.admin().compact(&match number % 2 {
                    0 => CompactRequest::from(name("t")).major(),
                    _ => CompactRequest::from(name("t")),
                });
                std::thread::yield_now();
            }
        });
        let _end = super::testkit::SetOnDrop(is_over);
        for number in 1..=LOADS {
            if number == LOADS / 2 {
                // Half of the loads meet regions that were split, on a busy machine as well.
                is_split.recv_timeout(PATIENCE).expect("a split");
            }
            let source = MemFileSystem::new();
            for family in FAMILIES {
                let value = number.to_string();
                let cells: Vec<Cell> = (0..20)
                    .map(|n| put_cell(&row(n), family, "q", number as i64, &value))
                    .collect();
                write_file(&source, &in_folder(family, "00"), &cells);
            }
            let request = BulkLoadRequest { source: Some(Arc::new(source)), ..Default::default() };
            let report =
                engine(connection).procedures().bulk_load(&name("t"), Path::new(FOLDER), &request);
            report.unwrap_or_else(|error| panic!("load {number}: {error}"));
            done.store(number, Ordering::SeqCst);
        }
    });
    let regions = connection.admin().regions(name("t")).expect("the table is there");
    assert!(regions.len() > 1, "regions were split meanwhile");
    let table = connection.table("t").expect("a name");
    for number in 0..20 {
        let found =
            table.get(&Get::new(row(number)).with_versions(100)).expect("nothing is damaged");
        assert_eq!(found.len(), 2 * LOADS as usize, "{}", row(number));
    }
}
