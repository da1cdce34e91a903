//! A log with bytes changed anywhere: replay ends with an error or with entries, and with
//! `salvage` too.
//!
//! The input is a list of changes: two bytes of a place, one byte to be put there. The log that
//! they are made to is written once.

#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hblite::{ColumnFamilyDescriptor, Options, Put, TableDescriptor};
use hblite_engine::EngineOptions;
use hblite_engine::wal::{ReplayOptions, replay};
use hblite_env::Env;
use libfuzzer_sys::fuzz_target;

static LOG: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(write_log);

fn write_log() -> Vec<(PathBuf, Vec<u8>)> {
    let env = Env::in_memory();
    let engine = EngineOptions { is_flushed_on_close: false, ..EngineOptions::default() };
    let store = Options::new().env(env.clone()).engine(engine).open("store").expect("a store");
    let descriptor = TableDescriptor::new("t".parse().expect("a name"))
        .with_family(ColumnFamilyDescriptor::new("f"));
    store.admin().create_table(&descriptor).expect("a table");
    let table = store.table("t").expect("the table");
    for row in 0..40 {
        table.put(&Put::new(format!("row{row}")).add("f", "q", [b'v'; 30])).expect("a put");
    }
    store.close().expect("the store closes");
    let dir = Path::new("store/WALs");
    let entries = env.fs.list_dir(dir).expect("the directory of the log");
    let paths = entries.into_iter().map(|entry| dir.join(entry.name));
    paths.map(|path| (path.clone(), env.fs.read(&path).expect("a segment"))).collect()
}

fuzz_target!(|changes: &[u8]| {
    for salvage in [false, true] {
        let env = Env::in_memory();
        env.fs.create_dir_all(Path::new("store/WALs")).expect("a directory");
        for (path, content) in LOG.iter() {
            let mut content = content.clone();
            for change in changes.chunks_exact(3) {
                let at = usize::from(u16::from_be_bytes([change[0], change[1]]));
                let length = content.len();
                content[at % length] = change[2];
            }
            let mut file = env.fs.create(path).expect("a file");
            file.write_all(&content).expect("a write to memory");
        }
        let options = ReplayOptions { salvage };
        let _ = replay(&env, Path::new("store/WALs"), options, &mut |_| Ok(()));
    }
});
