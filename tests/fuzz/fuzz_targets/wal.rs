//! A log of several files with bytes changed anywhere, files cut off or swapped, and its head
//! changed: replay ends with an error or with entries, with `salvage` too; and whatever it returns
//! was written, in order. With `salvage` the log can be continued.
//!
//! The input is a list of changes of four bytes: which file and what to do, two bytes for a
//! position, and the byte to write there. The log to which they are applied is written once.

#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hblite::{ColumnFamilyDescriptor, Options, Put, TableDescriptor};
use hblite_engine::wal::{ReplayOptions, Wal, head_file, replay};
use hblite_engine::{StoreId, WalOptions};
use hblite_env::Env;
use libfuzzer_sys::fuzz_target;

const DIR: &str = "store/WALs";

/// A store's id, and the files of its log, the head the last.
static STORE: LazyLock<(StoreId, Vec<(PathBuf, Vec<u8>)>)> = LazyLock::new(write_log);
/// Region and sequence id of what is in it.
static ENTRIES: LazyLock<Vec<(String, u64)>> = LazyLock::new(|| {
    let mut entries = Vec::new();
    let (store, log) = &*STORE;
    let options = ReplayOptions::default().with_store(*store);
    replay(&env_of(log), Path::new(DIR), options, &mut |entry| {
        entries.push((entry.region.to_owned(), entry.sequence_id));
        Ok(())
    })
    .expect("the log is sound");
    entries
});

fn write_log() -> (StoreId, Vec<(PathBuf, Vec<u8>)>) {
    let env = Env::in_memory();
    let options = Options::new().with_flush_on_close(false).with_wal_roll_size_bytes(2048);
    let store = options.with_env(env.clone()).open("store").expect("a store");
    let descriptor = TableDescriptor::new("t".parse().expect("a name"))
        .with_family(ColumnFamilyDescriptor::new("f"));
    store.admin().create_table(&descriptor).expect("a table");
    let table = store.table("t").expect("the table");
    for row in 0..40 {
        table.put(&Put::new(format!("row{row}")).add("f", "q", [b'v'; 30])).expect("a put");
    }
    store.close().expect("the store closes");
    let dir = Path::new(DIR);
    let entries = env.fs.list_dir(dir).expect("the directory of the log");
    let paths = entries.into_iter().map(|entry| dir.join(entry.name)).chain([head_file(dir)]);
    let files = paths.map(|path| (path.clone(), env.fs.read(&path).expect("a log file")));
    let files = files.collect();
    let marker = env.fs.read(Path::new("store/hblite.store")).expect("a marker");
    let id = marker[16..32].try_into().expect("the id of the store");
    (StoreId::from_bytes(id), files)
}

fn env_of(files: &[(PathBuf, Vec<u8>)]) -> Env {
    let env = Env::in_memory();
    env.fs.create_dir_all(Path::new(DIR)).expect("a directory");
    for (path, content) in files {
        let mut file = env.fs.create(path).expect("a file");
        file.write_all(content).expect("a write to memory");
    }
    env
}

fn change(files: &mut [(PathBuf, Vec<u8>)], change: [u8; 4]) {
    let [what, high, low, byte] = change;
    let (count, place) = (files.len(), usize::from(u16::from_be_bytes([high, low])));
    let index = usize::from(what & 0x1f) % count;
    let length = files[index].1.len().max(1);
    match what >> 5 {
        0 => files[index].1.truncate(place % length),
        1 => {
            let content = files[place % count].1.clone();
            files[index].1 = content;
        }
        2 => files[index].1.extend_from_slice(&[byte; 40]),
        _ => files[index].1.iter_mut().skip(place % length).take(1).for_each(|at| *at = byte),
    }
}

fuzz_target!(|changes: &[u8]| {
    let (store, mut files) = STORE.clone();
    changes.as_chunks().0.iter().for_each(|each| change(&mut files, *each));
    for salvage in [false, true] {
        let env = env_of(&files);
        let options = ReplayOptions::default().with_store(store).with_salvage(salvage);
        let mut known = ENTRIES.iter();
        let replayed = replay(&env, Path::new(DIR), options, &mut |entry| {
            let is_known = known.any(|(r, id)| r == entry.region && *id == entry.sequence_id);
            assert!(is_known, "{} {}", entry.region, entry.sequence_id);
            Ok(())
        });
        match replayed {
            Ok(found) => drop(Wal::open(&env, Path::new(DIR), WalOptions::default(), &found)),
            Err(error) => assert!(!salvage, "{error}"),
        }
    }
});
