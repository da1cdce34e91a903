//! Goal: a write that fails, for lack of space or otherwise, is not in the log; everything
//! acknowledged is; and writes resume as soon as they can, without a restart. Method: space runs
//! out and comes back at every point of a workload, and single operations fail; what a replay finds
//! is compared with what was acknowledged, exactly.

use std::io::ErrorKind as IoErrorKind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use hblite_env::{Fault, FaultFileSystem, MemFileSystem, Operation};
use hblite_model::ErrorKind;

use super::*;

const DURABILITIES: [Durability; 4] =
    [Durability::SyncWal, Durability::AsyncWal, Durability::FsyncWal, Durability::SyncWal];

fn faulty() -> (FaultFileSystem, Env) {
    let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    (fs.clone(), env_on(fs))
}

fn assert_busy(error: &Error) {
    assert_eq!(error.exception(), hblite_model::Exception::RegionTooBusy, "{error}");
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.message().starts_with("nothing was written, because"), "{error}");
}

/// Writes one after another; returns those that were acknowledged. Every refusal can be retried.
fn write_some(wal: &Wal, writes: &[Write]) -> Vec<Write> {
    let durability = |index: usize| DURABILITIES[index % DURABILITIES.len()];
    let mut acknowledged = Vec::new();
    for (index, each) in writes.iter().enumerate() {
        match write(wal, each, durability(index)) {
            Ok(()) => acknowledged.push(each.clone()),
            Err(error) => assert_busy(&error),
        }
    }
    acknowledged
}

#[test]
fn writes_go_on_when_there_is_space_again_and_what_failed_is_not_in_the_log() {
    let writes = random_writes(31, 90);
    let mut refused = 0;
    for space in (0..7_000).step_by(53) {
        let (fs, env) = faulty();
        let (wal, _, _) = open_with(&env, small());
        fs.limit_space(space);
        let mut acknowledged = write_some(&wal, &writes[..60]);
        refused += 60 - acknowledged.len();
        fs.heal();
        let resumed = write_some(&wal, &writes[60..]);
        assert_eq!(resumed, writes[60..], "space {space}");
        acknowledged.extend(resumed);
        wal.sync_all().unwrap();
        let (replayed, report) = replay_all(&env);
        assert_eq!(replayed, acknowledged, "space {space}");
        assert_eq!(report.torn_tail, None, "space {space}");
        drop(wal);
        // The log continues after it, and its log files can be removed.
        let (wal, replayed, _) = open_with(&env, small());
        assert_eq!(replayed, acknowledged);
        for region in ["1588230740", "aa", "bb"] {
            wal.region_flushed(region, 90).unwrap();
        }
        wal.close().unwrap();
        assert!(log_file_names(&env).is_empty(), "space {space}");
    }
    assert!(refused > 1_000, "{refused}");
}

/// Space comes back for a moment and runs out again, many times.
#[test]
fn a_disk_that_is_full_again_and_again_loses_nothing() {
    for seed in 1..40 {
        let random = SeededRandom::new(seed);
        let (fs, env) = faulty();
        let (wal, _, _) = open_with(&env, small());
        let writes = random_writes(seed, 120);
        let mut acknowledged = Vec::new();
        for some in writes.chunks(6) {
            match random.next_u64() % 3 {
                0 => fs.limit_space(random.next_u64() % 600),
                1 => fs.free_space(random.next_u64() % 400),
                _ => fs.heal(),
            }
            acknowledged.extend(write_some(&wal, some));
        }
        fs.heal();
        wal.sync_all().unwrap();
        assert_eq!(replay_all(&env).0, acknowledged, "seed {seed}");
        wal.close().unwrap();
        let (replayed, report) = replay_all(&env);
        assert_eq!((replayed, report.unclosed), (acknowledged, None), "seed {seed}");
    }
}

#[test]
fn one_failed_write_or_creation_is_undone() {
    for operation in [Operation::Write, Operation::Create, Operation::List] {
        for nth in 1..40 {
            let (fs, env) = faulty();
            let (wal, _, _) = open_with(&env, small());
            fs.inject(Fault::on(operation).in_path("WAL").nth(nth));
            let writes = random_writes(32, 60);
            let acknowledged = write_some(&wal, &writes);
            assert!(acknowledged.len() + 1 >= writes.len());
            fs.heal();
            wal.sync_all().unwrap();
            let place = format!("{operation:?} {nth}");
            assert_eq!(replay_all(&env).0, acknowledged, "{place}");
            drop(wal);
            assert_eq!(replay_all(&env).0, acknowledged, "{place}");
        }
    }
}

/// A sync that fails for lack of space does not affect old data if the file is new.
#[test]
fn a_new_log_file_that_finds_no_space_is_tried_again() {
    for operation in [Operation::Sync, Operation::SyncDir] {
        let (fs, env) = faulty();
        let (wal, _, _) = open_with(&env, small());
        let writes = random_writes(33, 3);
        fs.inject(Fault::on(operation).with_kind(IoErrorKind::StorageFull));
        assert_busy(&write(&wal, &writes[0], Durability::SyncWal).unwrap_err());
        write(&wal, &writes[1], Durability::SyncWal).unwrap();
        assert_eq!(replay_all(&env).0, writes[1..2]);
    }
}

/// What is on the disk is unknown then, so nothing may follow it.
#[test]
fn a_failed_sync_and_a_cut_that_fails_stop_the_log() {
    for (operation, kind) in [
        (Operation::Sync, IoErrorKind::Other),
        (Operation::Sync, IoErrorKind::StorageFull),
        (Operation::Truncate, IoErrorKind::Other),
    ] {
        let (fs, env) = faulty();
        let (wal, _, _) = open_with(&env, small());
        let writes = random_writes(34, 4);
        write(&wal, &writes[0], Durability::FsyncWal).unwrap();
        fs.inject(Fault::on(operation).with_kind(kind));
        fs.inject(Fault::on(Operation::Write).with_kind(IoErrorKind::StorageFull));
        let durability = match operation {
            Operation::Sync => Durability::FsyncWal,
            _ => Durability::SyncWal,
        };
        let failed = writes[1..].iter().find_map(|each| write(&wal, each, durability).err());
        assert!(failed.is_some());
        fs.heal();
        let later = Write { sequence_id: 9, ..writes[0].clone() };
        let error = write(&wal, &later, Durability::SyncWal).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed, "{operation:?}: {error}");
        drop(wal);
        let (replayed, _) = replay_all(&env);
        assert_eq!(replayed[0], writes[0]);
    }
}

/// ASYNC_WAL writes are acknowledged before they are written. They are kept, and no more are
/// accepted.
#[test]
fn while_the_disk_is_full_little_is_held_in_memory() {
    let (fs, env) = faulty();
    let (wal, _, _) = open_with(&env, WalOptions { buffer_size_bytes: 0, ..small() });
    let writes = random_writes(35, 2_000);
    write(&wal, &writes[0], Durability::SyncWal).unwrap();
    fs.limit_space(0);
    let accepted: Vec<&Write> = writes[1..1_900]
        .iter()
        .filter(|each| write(&wal, each, Durability::AsyncWal).is_ok())
        .collect();
    assert!(accepted.len() <= 2, "{}", accepted.len());
    assert!(wal.syncer.tail.lock().unwritten_bytes() < 10_000);
    fs.heal();
    write(&wal, &writes[1_999], Durability::SyncWal).unwrap();
    let kept = [&writes[..1], &accepted.into_iter().cloned().collect::<Vec<_>>()].concat();
    assert_eq!(replay_all(&env).0, [kept, writes[1_999..].to_vec()].concat());
}

/// The background thread does it; no other thread writes.
#[test]
fn what_was_acknowledged_is_written_when_there_is_space_without_another_write() {
    let (fs, env) = faulty();
    let (wal, _, _) = open_with(&env, small());
    let writes = random_writes(36, 2);
    write(&wal, &writes[0], Durability::SyncWal).unwrap();
    fs.limit_space(0);
    write(&wal, &writes[1], Durability::AsyncWal).unwrap();
    let failed = |fs: &FaultFileSystem| fs.count(Operation::Truncate) > 0;
    wait_until(|| failed(&fs));
    assert_eq!(replay_all(&env).0, writes[..1]);
    fs.heal();
    wait_until(|| replay_all(&env).0 == writes);
}

/// Waits for another thread, half a minute at most.
fn wait_until(is_done: impl Fn() -> bool) {
    let waits = (0..30_000).take_while(|_| !is_done());
    let count = waits.map(|_| thread::sleep(std::time::Duration::from_millis(1))).count();
    assert!(count < 30_000, "it does not happen");
}

/// A power cut at any operation: synced writes are there, refused ones are not.
#[test]
fn a_power_cut_on_a_full_disk_brings_nothing_back_that_was_refused() {
    let writes = random_writes(37, 30);
    for point in (0..160).step_by(3) {
        let (crash, _) = crash_env();
        let fs = FaultFileSystem::new(Arc::new(crash.clone()));
        let env = env_on(fs.clone());
        let (wal, _, _) = open_with(&env, small());
        fs.limit_space(900);
        crash.power_off_after(point);
        let (mut synced, mut refused) = (Vec::new(), Vec::new());
        for (index, each) in writes.iter().enumerate() {
            let durability = DURABILITIES[index % DURABILITIES.len()];
            match write(&wal, each, durability) {
                Ok(()) if durability == Durability::FsyncWal => synced.push(each),
                Err(error) if error.kind() == ErrorKind::Busy => refused.push(each),
                _ => {}
            }
            if index == 20 {
                fs.free_space(2_000);
            }
        }
        drop(wal);
        for seed in 0..8 {
            let (replayed, _) = replay_all(&env_on(crash.after_power_cut(seed)));
            assert!(synced.iter().all(|each| replayed.contains(each)), "{point}, seed {seed}");
            assert!(!refused.iter().any(|each| replayed.contains(each)), "{point}, seed {seed}");
        }
    }
}

#[test]
fn threads_on_a_disk_that_fills_and_empties_agree_with_the_log() {
    const THREADS: usize = 6;
    let (fs, env) = faulty();
    let (wal, _, _) = open_with(&env, WalOptions { roll_size_bytes: 4096, ..small() });
    let id = AtomicU64::new(1);
    let (mut acknowledged, mut refused) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        let writers: Vec<_> = (0..THREADS)
            .map(|index| {
                let (fs, wal, id) = (&fs, &wal, &id);
                scope.spawn(move || write_many(fs, wal, id, index as u64))
            })
            .collect();
        for writer in writers {
            let (written, failed) = writer.join().unwrap();
            acknowledged.extend(written);
            refused.extend(failed);
        }
    });
    fs.heal();
    wal.close().unwrap();
    let ids: Vec<u64> = replay_all(&env).0.iter().map(|each| each.sequence_id).collect();
    assert!(ids.is_sorted_by(|left, right| left < right), "log order is id order");
    acknowledged.sort_unstable();
    assert_eq!(ids, acknowledged);
    assert!(!refused.is_empty() && refused.iter().all(|id| !ids.contains(id)));
}

/// The ids of the writes that were acknowledged, and of those that were refused after they had one.
/// Now and then the disk becomes full, or empty.
fn write_many(
    fs: &FaultFileSystem,
    wal: &Wal,
    next: &AtomicU64,
    seed: u64,
) -> (Vec<u64>, Vec<u64>) {
    let random = SeededRandom::new(seed);
    let (mut acknowledged, mut refused) = (Vec::new(), Vec::new());
    let region = wal.region("aa").unwrap();
    for turn in 0..300 {
        match turn % 10 {
            0 => fs.limit_space(random.next_u64() % 400),
            7 => fs.heal(),
            _ => {}
        }
        let durability = DURABILITIES[turn % DURABILITIES.len()];
        let (edit, mut id) = (random_cells(&random, 1), 0);
        let origin = EditOrigin { write_time: 0, nonce: None };
        let assign = || {
            id = next.fetch_add(1, Ordering::Relaxed);
            id
        };
        let ticket = wal.append(&region, origin, &(&edit).into(), durability, assign);
        match ticket.and_then(|ticket| wal.sync(ticket, durability)) {
            Ok(()) => acknowledged.push(id),
            Err(error) => {
                assert_busy(&error);
                refused.extend((id > 0).then_some(id));
            }
        }
    }
    (acknowledged, refused)
}

/// The head names the abandoned log file, or its predecessor: a rename that is reported as failed
/// may have happened. Wherever the power goes then, synced writes are there, and refused ones are
/// not.
#[test]
fn a_log_file_that_was_given_up_is_no_part_of_the_log_after_a_power_cut() {
    let writes = random_writes(38, 40);
    let mut given_up = 0;
    for (operation, is_renamed) in
        [(Operation::Sync, false), (Operation::Rename, false), (Operation::Rename, true)]
    {
        for nth in 1..6 {
            let (crash, _) = crash_env();
            let fs = FaultFileSystem::new(Arc::new(crash.clone()));
            let env = env_on(fs.clone());
            let (wal, _, _) = open_with(&env, small());
            let part = if operation == Operation::Sync { "head.tmp" } else { "WALs" };
            fs.inject(Fault::on(operation).in_path(part).nth(nth));
            let (mut synced, mut refused) = (Vec::new(), Vec::new());
            for each in &writes {
                match write(&wal, each, Durability::FsyncWal) {
                    Ok(()) => synced.push(each.clone()),
                    Err(error) => {
                        assert_busy(&error);
                        refused.push(each.clone());
                        let head = Path::new("/db/WALs.head");
                        if is_renamed {
                            crash.rename(&head.with_extension("head.tmp"), head).unwrap();
                        }
                    }
                }
                let has_failed = !refused.is_empty();
                for seed in 0..if has_failed { 4 } else { 0 } {
                    let left = env_on(crash.after_power_cut(seed));
                    let (wal, replayed, _) = open_with(&left, small());
                    let place = format!("{operation:?} {nth}, renamed: {is_renamed}, cut {seed}");
                    assert_eq!(replayed, synced, "{place}");
                    write(&wal, &refused[0], Durability::FsyncWal).unwrap();
                }
            }
            given_up += refused.len();
        }
    }
    assert_eq!(given_up, 15);
}

/// A panic is a bug, and the thread that has it is lost. The others must not wait for it.
#[test]
fn no_thread_waits_for_one_that_panicked_while_it_wrote_for_all() {
    let (fs, env) = faulty();
    let (wal, _, _) = open_with(&env, small());
    let wal = Arc::new(wal);
    let writes = random_writes(39, 2);
    let region = wal.region(&writes[0].region).unwrap();
    let origin = EditOrigin { write_time: 0, nonce: None };
    let durability = Durability::FsyncWal;
    wal.append(&region, origin, &(&writes[0].cells).into(), durability, || 1).unwrap();
    fs.inject(Fault::on(Operation::Write).in_path("hblite-wal").panic());
    let shared = Arc::clone(&wal);
    assert!(thread::spawn(move || shared.sync_all()).join().is_err(), "it panics");
    let (ended, outcome) = mpsc::channel();
    thread::spawn(move || ended.send(write(&wal, &writes[1], durability)));
    let outcome = outcome.recv_timeout(Duration::from_secs(60)).expect("it waits forever");
    let error = outcome.unwrap_err();
    assert_eq!(error.exception(), hblite_model::Exception::RegionServerStopped, "{error}");
    assert!(error.message().contains("a thread panicked during a write"), "{error}");
}
