//! Goal: log files are created and removed correctly, a failure is recorded, threads do not mix up
//! the order. Method: small log files, injected faults, many threads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use hblite_env::{Fault, FaultFileSystem, MemFileSystem, Operation};
use hblite_model::ErrorKind;

use super::*;

#[test]
fn opening_an_empty_directory_creates_no_log_file() {
    let env = Env::in_memory();
    let (wal, writes, report) = open_with(&env, WalOptions::default());
    assert!(writes.is_empty() && log_file_names(&env).is_empty());
    assert_eq!((report.log_files, wal.log_file_count()), (0, 0));
    wal.close().unwrap();
    assert!(log_file_names(&env).is_empty());
}

#[test]
fn log_files_roll_and_go_when_their_regions_have_flushed() {
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, WalOptions { files_max: 3, ..small() });
    let writes = random_writes(1, 100);
    writes.iter().for_each(|each| write(&wal, each, Durability::SyncWal).unwrap());
    let count = wal.log_file_count();
    assert!(count > 5 && log_file_names(&env).len() == count);
    assert_eq!(wal.regions_to_flush(), ["1588230740", "aa", "bb"]);
    wal.region_flushed("1588230740", 100).unwrap();
    wal.region_flushed("aa", 100).unwrap();
    assert_eq!(wal.regions_to_flush(), ["bb"]);
    wal.region_flushed("bb", 50).unwrap();
    assert!(wal.log_file_count() < count);
    wal.region_flushed("bb", 100).unwrap();
    assert_eq!((wal.log_file_count(), log_file_names(&env).len()), (1, 1));
    assert!(wal.regions_to_flush().is_empty());
    wal.close().unwrap();
    assert!(log_file_names(&env).is_empty());
}

#[test]
fn log_files_of_an_earlier_process_go_when_their_regions_have_flushed() {
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, small());
    let writes = random_writes(2, 60);
    writes.iter().for_each(|each| write(&wal, each, Durability::SyncWal).unwrap());
    drop(wal);
    let (wal, replayed, report) = open_with(&env, small());
    assert_eq!(replayed, writes);
    let regions: Vec<(String, u64)> =
        report.regions().into_iter().map(|(name, id)| (name.to_owned(), id)).collect();
    assert_eq!(regions.iter().map(|(_, id)| *id).max(), Some(60));
    let last = Write { sequence_id: 61, ..writes[0].clone() };
    write(&wal, &last, Durability::FsyncWal).unwrap();
    for (region, highest) in &regions {
        wal.region_flushed(region, *highest).unwrap();
    }
    assert_eq!(wal.log_file_count(), 1);
    drop(wal);
    assert_eq!(replay_all(&env).0, [last]);
}

/// A small record that a caller waits for is copied to the log, unless something waits there.
#[test]
fn records_are_in_the_log_in_their_order_however_they_are_written() {
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, WalOptions::default());
    let writes = random_writes(4, 40);
    let durabilities = [Durability::AsyncWal, Durability::SyncWal, Durability::SyncWal];
    for (each, durability) in writes.iter().zip(durabilities.iter().cycle()) {
        let region = wal.region(&each.region).unwrap();
        let origin = EditOrigin { write_time: 7, nonce: each.nonce };
        let id = || each.sequence_id;
        let ticket = wal.append(&region, origin, &(&each.cells).into(), *durability, id).unwrap();
        if *durability == Durability::SyncWal {
            wal.sync(ticket, *durability).unwrap();
            let count = replay_all(&env).0.len();
            assert_eq!(writes[..count].last(), Some(each), "it is written when its caller goes on");
        }
    }
    drop(wal);
    assert_eq!(replay_all(&env).0, writes);
}

#[test]
fn a_region_that_is_gone_holds_no_log_file() {
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, small());
    let writes = random_writes(3, 30);
    writes.iter().for_each(|each| write(&wal, each, Durability::AsyncWal).unwrap());
    for region in ["1588230740", "aa", "bb"] {
        wal.region_removed(region).unwrap();
    }
    wal.close().unwrap();
    assert!(log_file_names(&env).is_empty());
    assert!(write(&wal, &writes[0], Durability::SyncWal).is_err());
}

#[test]
fn a_roll_on_request_begins_a_log_file_once() {
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, WalOptions::default());
    wal.roll().unwrap();
    let writes = random_writes(4, 2);
    write(&wal, &writes[0], Durability::SyncWal).unwrap();
    wal.roll().unwrap();
    wal.roll().unwrap();
    assert_eq!(log_file_names(&env).len(), 2);
    write(&wal, &writes[1], Durability::SyncWal).unwrap();
    assert_eq!((log_file_names(&env).len(), replay_all(&env).0), (2, writes));
}

#[test]
fn a_missing_log_file_is_noticed() {
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, small());
    let writes = random_writes(5, 60);
    writes.iter().for_each(|each| write(&wal, each, Durability::SyncWal).unwrap());
    drop(wal);
    let path = log_file_path(Path::new(DIR), 2);
    env.fs.remove_file(&path).unwrap();
    assert_corrupt(&replay_with(&env, false).unwrap_err(), &path);
    let (salvaged, report) = replay_with(&env, true).unwrap();
    assert_eq!((report.salvaged.len(), &report.salvaged[0].file), (1, &path));
    assert!(salvaged.len() > 30 && salvaged.iter().all(|each| writes.contains(each)));
}

#[test]
fn an_async_write_reaches_the_file_by_itself() {
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, WalOptions::default());
    let writes = random_writes(6, 5);
    writes.iter().for_each(|each| write(&wal, each, Durability::AsyncWal).unwrap());
    let arrived = (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(1));
        replay_all(&env).0 == writes
    });
    assert!(arrived);
}

#[test]
fn nothing_is_written_for_a_skipped_wait_until_somebody_waits() {
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, WalOptions::default());
    let writes = random_writes(7, 2);
    write(&wal, &writes[0], Durability::SkipWal).unwrap();
    assert!(log_file_names(&env).is_empty());
    write(&wal, &writes[1], Durability::SyncWal).unwrap();
    assert_eq!(replay_all(&env).0, writes);
}

fn assert_refused(error: &Error, cause: &str) {
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    let message = error.message();
    assert!(message.contains(cause) && message.contains("reopen the store"), "{message}");
}

/// Of the syncs of files, those of a new log file and of the head that is to name it do not matter
/// yet: these files are abandoned, and the write can be retried.
#[test]
fn after_a_failed_sync_of_records_or_names_all_is_refused_until_reopened() {
    for (operation, path) in [
        (Operation::Sync, "WAL"),
        (Operation::SyncDir, "WAL"),
        (Operation::SyncDir, "/db"),
        (Operation::Sync, "WALs.head"),
        (Operation::Rename, "WAL"),
    ] {
        let (mut refused, mut retried) = (0, 0);
        for nth in 1..6 {
            let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
            let env = env_on(fs.clone());
            let (wal, _, _) = open_with(&env, small());
            fs.inject(Fault::on(operation).in_path(path).nth(nth));
            let writes = random_writes(nth, 80);
            let (failed_at, error) = writes
                .iter()
                .enumerate()
                .find_map(|(at, each)| Some((at, write(&wal, each, Durability::FsyncWal).err()?)))
                .expect("the fault was met");
            if error.kind() == ErrorKind::Busy {
                retried += 1;
                let again = |each| write(&wal, each, Durability::FsyncWal).unwrap();
                writes[failed_at..].iter().for_each(again);
                wal.sync_all().unwrap();
                assert_eq!(replay_all(&env).0, writes, "{operation:?} {nth} in {path}");
                continue;
            }
            refused += 1;
            let again = write(&wal, &writes[failed_at], Durability::AsyncWal).unwrap_err();
            assert_refused(&again, "injected");
            assert_refused(&wal.close().unwrap_err(), "injected");
            drop(wal);
            let (wal, replayed, _) = open_with(&env, small());
            assert_eq!(replayed[..failed_at], writes[..failed_at]);
            assert!(replayed.len() <= failed_at + 1);
            write(&wal, &writes[79], Durability::FsyncWal).unwrap();
            assert_eq!(replay_all(&env).0.len(), replayed.len() + 1);
        }
        let expected = match (operation, path) {
            // The header of the first log file, the head, and three writes.
            (Operation::Sync, "WAL") => (3, 2),
            (Operation::SyncDir, _) => (5, 0),
            _ => (0, 5),
        };
        assert_eq!((refused, retried), expected, "{operation:?} in {path}");
    }
}

#[test]
fn threads_share_syncs_and_keep_the_order_of_each_region() {
    const THREADS: usize = 8;
    const WRITES: usize = 200;
    let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    let env = env_on(fs.clone());
    let (wal, _, _) = open_with(&env, WalOptions { roll_size_bytes: 20_000, ..small() });
    let ids = [AtomicU64::new(1), AtomicU64::new(1)];
    thread::scope(|scope| {
        for index in 0..THREADS {
            let (wal, ids) = (&wal, &ids);
            scope.spawn(move || {
                let random = SeededRandom::new(index as u64);
                for turn in 0..WRITES {
                    let which = (random.next_u64() % 2) as usize;
                    let region = wal.region(["aa", "bb"][which]).unwrap();
                    let edit = random_cells(&random, 1);
                    let assign = || ids[which].fetch_add(1, Ordering::Relaxed);
                    let origin = EditOrigin { write_time: 0, nonce: None };
                    let durability = durability_of(turn);
                    let ticket =
                        wal.append(&region, origin, &(&edit).into(), durability, assign).unwrap();
                    wal.sync(ticket, durability).unwrap();
                }
            });
        }
    });
    wal.close().unwrap();
    let mut next: HashMap<String, u64> = HashMap::new();
    for each in replay_all(&env).0 {
        let expected = next.entry(each.region).or_insert(1);
        assert_eq!(each.sequence_id, *expected);
        *expected += 1;
    }
    assert_eq!(next.values().map(|next| next - 1).sum::<u64>(), (THREADS * WRITES) as u64);
}

#[test]
fn threads_that_wait_for_a_slow_disk_share_its_syncs() {
    const THREADS: usize = 8;
    const WRITES: usize = 15;
    let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    fs.inject(Fault::on(Operation::Sync).forever().delay(Duration::from_millis(2)));
    let (wal, _, _) = open_with(&env_on(fs.clone()), WalOptions::default());
    thread::scope(|scope| {
        for number in 0..THREADS {
            // Ids ascend within a region: a region has one thread.
            let mut writes = random_writes(9, WRITES);
            writes.iter_mut().for_each(|each| each.region = number.to_string());
            let wal = &wal;
            let all =
                move || writes.iter().try_for_each(|each| write(wal, each, Durability::FsyncWal));
            scope.spawn(move || all().unwrap());
        }
    });
    let syncs = fs.count(Operation::Sync);
    assert!(syncs as usize <= THREADS * WRITES / 2, "{syncs} syncs");
}

/// The mark of a clean end says that nothing before it can be missing.
#[test]
fn after_a_clean_end_a_damaged_last_record_is_no_torn_tail() {
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, WalOptions::default());
    let writes = random_writes(10, 1);
    write(&wal, &writes[0], Durability::SyncWal).unwrap();
    wal.close().unwrap();
    let path = log_file_path(Path::new(DIR), 1);
    let mut content = env.fs.read(&path).unwrap();
    assert_eq!(replay_all(&env).0, writes);
    content[100] ^= 1;
    put_file(&env, &path, &content);
    assert_corrupt(&replay_with(&env, false).unwrap_err(), &path);
}

fn durability_of(turn: usize) -> Durability {
    [Durability::SyncWal, Durability::FsyncWal, Durability::AsyncWal][turn % 3]
}

#[test]
fn names_of_regions_and_settings_are_checked() {
    let env = Env::in_memory();
    let (wal, _, report) = open_with(&env, WalOptions::default());
    for name in ["", "a/b", "é", &"a".repeat(65)] {
        assert_eq!(wal.region(name).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    let options = WalOptions { roll_size_bytes: 10, ..WalOptions::default() };
    assert!(Wal::open(&env, Path::new(DIR), options, &report).is_err());
    drop(wal);
    // Replayed as the log of any store, which may be all that is known of a damaged one.
    let any = ReplayOptions { store: StoreId::NIL, salvage: true };
    let report = replay(&env, Path::new(DIR), any, &mut |_| Ok(())).unwrap();
    let error = Wal::open(&env, Path::new(DIR), WalOptions::default(), &report).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("with_store"), "{error}");
}
