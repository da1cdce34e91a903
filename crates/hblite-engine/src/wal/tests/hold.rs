//! Goal: a hold provides the log up to its moment, durable and unchanged, as long as it lives.
//! Method: a copy of just those files after a power cut, replayed.

use hblite_env::MemFileSystem;

use super::*;

/// Replays a sealed log alone, as a power cut now would leave its files.
fn replay_copy(fs: &CrashFileSystem, sealed: &SealedLog) -> Vec<Write> {
    let (left, copy) = (fs.after_power_cut(0), MemFileSystem::new());
    copy.create_dir_all(Path::new(DIR)).unwrap();
    for path in sealed.files() {
        copy.create(path).unwrap().write_all(&left.read(path).unwrap()).unwrap();
    }
    sealed.write_head(&copy, Path::new(DIR)).unwrap();
    let (writes, report) = replay_all(&env_on(copy));
    assert_eq!((report.torn_tail, report.unclosed), (None, None));
    writes
}

#[test]
fn a_seal_gives_all_that_was_appended_and_nothing_that_comes_after() {
    let (fs, env) = crash_env();
    let (wal, _, _) = open_with(&env, small());
    fs.sync_everything();
    assert!(wal.hold_log_files().seal().unwrap().files().is_empty());
    let writes = random_writes(3, 60);
    writes[..50].iter().for_each(|each| write(&wal, each, Durability::AsyncWal).unwrap());
    let hold = wal.hold_log_files();
    let sealed = hold.seal().unwrap();
    assert!(sealed.files().len() > 3);
    writes[50..].iter().for_each(|each| write(&wal, each, Durability::FsyncWal).unwrap());
    assert_eq!(replay_copy(&fs, &sealed), writes[..50]);
    drop(hold);

    // Log files of an earlier process, and nothing appended since.
    wal.close().unwrap();
    let (wal, _, _) = open_with(&env, small());
    let sealed = wal.hold_log_files().seal().unwrap();
    assert_eq!(replay_copy(&fs, &sealed), writes);
}

#[test]
fn log_files_stay_while_they_are_held_and_go_afterwards() {
    let (fs, env) = crash_env();
    let (wal, _, _) = open_with(&env, small());
    let writes = random_writes(4, 60);
    writes.iter().for_each(|each| write(&wal, each, Durability::FsyncWal).unwrap());
    let (first, second) = (wal.hold_log_files(), wal.hold_log_files());
    let sealed = first.seal().unwrap();
    for region in ["1588230740", "aa", "bb"] {
        wal.region_flushed(region, 60).unwrap();
    }
    drop(first);
    assert_eq!(replay_copy(&fs, &sealed), writes);
    drop(second);
    assert!(sealed.files().iter().all(|path| !env.fs.exists(path).unwrap()));
    wal.close().unwrap();
    assert!(log_file_names(&env).is_empty());
}

/// What was removed before the hold is not reported as missing.
#[test]
fn a_held_log_need_not_begin_at_its_beginning() {
    let (fs, env) = crash_env();
    let (wal, _, _) = open_with(&env, small());
    let writes = random_writes(5, 60);
    writes.iter().for_each(|each| write(&wal, each, Durability::FsyncWal).unwrap());
    for region in ["1588230740", "aa", "bb"] {
        wal.region_flushed(region, 40).unwrap();
    }
    let sealed = wal.hold_log_files().seal().unwrap();
    assert!(!sealed.files().contains(&log_file_path(Path::new(DIR), 1)));
    let replayed = replay_copy(&fs, &sealed);
    assert!(writes.ends_with(&replayed) && replayed.len() >= 20);
}
