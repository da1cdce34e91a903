//! A store whose process was killed on a full disk opens, and loses nothing.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{FaultFileSystem, FileSystem, MemFileSystem};
use hblite_model::{Put, Result, TableName};

use super::{DIR, env, name, options, rows, table};
use crate::{Engine, EngineOptions};

const FLUSH_SIZE_BYTES: usize = 64 << 10;

fn open(fs: &FaultFileSystem, memstore_flush_size_bytes: usize) -> Result<Arc<Engine>> {
    let options = EngineOptions { memstore_flush_size_bytes, ..options() };
    Engine::open(env(Arc::new(fs.clone()) as Arc<dyn FileSystem>), Path::new(DIR), options)
}

/// Writes rows of a kilobyte each until the disk is full; returns how many.
fn fill(engine: &Arc<Engine>, table: &TableName) -> usize {
    let put = |row: usize| Put::new(format!("{row:06}")).add("f", "q", vec![b'v'; 1_000]);
    let write = |row: &usize| engine.table(table.clone()).mutate(put(*row).as_mutation()).is_ok();
    (0..100_000).take_while(write).count()
}

#[test]
fn a_store_that_was_killed_on_a_full_disk_opens_and_has_everything() {
    let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    let engine = open(&fs, 128 << 20).unwrap();
    engine.procedures().create_table(&table("t", &["f", "g"]), &[]).unwrap();
    fs.limit_space(1 << 20);
    let written = fill(&engine, &name("t"));
    assert!(written * 1_000 > 4 * FLUSH_SIZE_BYTES, "{written}");
    engine.abandon();
    drop(engine);
    for is_full in [true, true, false] {
        if !is_full {
            fs.heal();
        }
        let engine = open(&fs, FLUSH_SIZE_BYTES).unwrap();
        assert_eq!(rows(&engine, "t").unwrap().len(), written, "{is_full}");
        if is_full {
            engine.abandon();
        } else {
            engine.flush(name("t")).unwrap();
            engine.close().unwrap();
        }
    }
    assert_eq!(rows(&open(&fs, FLUSH_SIZE_BYTES).unwrap(), "t").unwrap().len(), written);
}
