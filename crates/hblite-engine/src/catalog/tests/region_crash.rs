//! Regions that crash while the store keeps running.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{FileSystem, MemFileSystem};
use hblite_model::{Durability, FlushRequest, Increment, Nonce, Put};

use super::{env, has, name, open, options, prepared, put, rows, table};
use crate::wal::WalOptions;
use crate::{Engine, EngineOptions};

fn names(engine: &Engine, table: &str) -> Vec<String> {
    let regions = engine.catalog().region_infos(&name(table));
    regions.iter().map(|info| info.encoded_name().to_owned()).collect()
}

fn crash(engine: &Engine, names: &[String]) -> crate::CrashReport {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    engine.procedures().crash_regions(&names).unwrap()
}

#[test]
fn what_was_acknowledged_is_there_again_and_what_skipped_the_log_is_not() {
    let (fs, engine) = prepared(MemFileSystem::new(), |engine| {
        engine.procedures().create_table(&table("t", &["f"]), &[b"m".to_vec()]).unwrap();
    });
    put(&engine, "t", "a").unwrap();
    engine.flush(name("t")).unwrap();
    put(&engine, "t", "b").unwrap();
    put(&engine, "t", "z").unwrap();
    let skipped = Put::new("c").add("f", "q", "v").with_durability(Durability::SkipWal);
    engine.table(name("t")).mutate(skipped.as_mutation()).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "b", "c", "z"]);

    let lost = names(&engine, "t");
    let report = crash(&engine, &lost[..1]);
    assert_eq!(report.regions, 1);
    assert!(report.log_entries >= 1);
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "b", "z"]);
    // It keeps working, also the second time.
    put(&engine, "t", "d").unwrap();
    assert_eq!(crash(&engine, &lost).regions, 2);
    put(&engine, "t", "e").unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "b", "d", "e", "z"]);
    // The log is also complete for the real end.
    engine.abandon();
    drop(engine);
    let fs: Arc<dyn FileSystem> = Arc::new(fs);
    let engine = open(&fs).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "b", "d", "e", "z"]);
    assert_eq!(crash(&engine, &names(&engine, "t")).regions, 2);
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "b", "d", "e", "z"]);
    engine.flush(name("t")).unwrap();
    assert_eq!(rows(&engine, "t").unwrap(), ["a", "b", "d", "e", "z"]);
    engine.close().unwrap();
}

#[test]
fn system_regions_and_disabled_tables_do_not_crash() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    put(&engine, "t", "a").unwrap();
    let lost = ["1588230740".to_owned(), "none".to_owned()];
    assert_eq!(crash(&engine, &lost), crate::CrashReport::default());
    assert!(has(&engine, "t", "a").unwrap());
    engine.procedures().disable_table(&name("t")).unwrap();
    assert_eq!(crash(&engine, &names(&engine, "t")), crate::CrashReport::default());
    engine.procedures().enable_table(&name("t")).unwrap();
    assert!(has(&engine, "t", "a").unwrap());
}

#[test]
fn writers_of_this_and_other_regions_lose_nothing_and_count_each_increment_once() {
    // Small log files, so that crashes and rolls meet.
    let wal = WalOptions { roll_size_bytes: 4096, ..WalOptions::default() };
    let options = EngineOptions { wal, ..options() };
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = Engine::open(env(fs), Path::new("/store"), options).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[b"m".to_vec()]).unwrap();
    let lost = names(&engine, "t");
    const EACH: u64 = 400;
    std::thread::scope(|scope| {
        let writers: Vec<_> = ["a", "b", "x", "y"]
            .into_iter()
            .enumerate()
            .map(|(group, prefix)| {
                let engine = &engine;
                scope.spawn(move || {
                    let table = engine.table(name("t"));
                    for number in 0..EACH {
                        let increment = Increment::new(prefix).add("f", "n", 1);
                        let nonce = Nonce { group: group as u64 + 1, number: number + 1 };
                        table
                            .read_modify_write(increment.as_mutation(), Some(nonce))
                            .and_then(|_| {
                                // A client whose answer got lost.
                                table.read_modify_write(increment.as_mutation(), Some(nonce))
                            })
                            .unwrap();
                        put(engine, "t", &format!("{prefix}{number}")).unwrap();
                    }
                })
            })
            .collect();
        let mut turn = 0;
        while writers.iter().any(|writer| !writer.is_finished()) {
            crash(&engine, &lost[turn % 2..=turn % 2]);
            if turn % 3 == 0 {
                engine.flush(FlushRequest::region(&lost[turn / 3 % 2])).unwrap();
            }
            turn += 1;
        }
    });
    assert_eq!(rows(&engine, "t").unwrap().len() as u64, 4 * EACH + 4);
    for row in ["a", "b", "x", "y"] {
        let found = engine.table(name("t")).get(&hblite_model::Get::new(row)).unwrap();
        assert_eq!(found.value("f", "n").unwrap(), EACH.to_be_bytes());
    }
}
