//! Goal: what a log holds does not depend on the zeros that are written ahead of its records.
//! Method: logs on the real file system whose process ends without closing them; the last record
//! cut at every byte, with zeros after it.

use std::path::PathBuf;

use hblite_env::{StdFileSystem, files_below};

use super::*;
use crate::wal::log_file::HEADER_SIZE;

/// More than the small writes after which zeros are written ahead.
const WRITES: usize = 300;

fn writes_of(sequence_ids: std::ops::Range<u64>) -> Vec<Write> {
    let random = SeededRandom::new(sequence_ids.start);
    sequence_ids
        .map(|sequence_id| Write {
            region: "aa".to_owned(),
            sequence_id,
            nonce: None,
            cells: random_cells(&random, 1),
        })
        .collect()
}

fn open_real(root: &Path, options: WalOptions) -> (Wal, Vec<Write>, ReplayReport) {
    let env = Env::system().with_fs(Arc::new(StdFileSystem));
    let dir = root.join("WALs");
    let (found, report) = replay_in(&env, &dir, false).unwrap();
    (Wal::open(&env, &dir, options, &report).unwrap(), found, report)
}

fn log_files(root: &Path) -> Vec<PathBuf> {
    files_below(&StdFileSystem, &root.join("WALs")).unwrap()
}

#[test]
fn a_process_that_ends_leaves_zeros_that_are_not_read() {
    for are_files_mapped in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let options = || WalOptions { are_files_mapped, ..WalOptions::default() };
        let mut expected = Vec::new();
        for run in 0..3 {
            let (wal, found, report) = open_real(root.path(), options());
            assert_eq!(found, expected);
            assert!(report.torn_tail.is_none());
            if run > 0 {
                let unclosed = report.unclosed.unwrap();
                let content = std::fs::read(&unclosed.file).unwrap();
                let (records, zeros) = content.split_at(unclosed.offset as usize);
                assert!(records.len() > HEADER_SIZE && zeros.len() >= 4096);
                assert!(zeros.iter().all(|byte| *byte == 0));
            }
            let first = 1 + expected.len() as u64;
            for each in writes_of(first..first + WRITES as u64) {
                let is_synced = each.sequence_id.is_multiple_of(97);
                let durability = if is_synced { Durability::FsyncWal } else { Durability::SyncWal };
                write(&wal, &each, durability).unwrap();
                expected.push(each);
            }
            // As a kill: nothing is closed.
            std::mem::forget(wal);
        }
        let (wal, found, _) = open_real(root.path(), options());
        assert_eq!(found, expected);
        write(&wal, &writes_of(100_000..100_001)[0], Durability::SyncWal).unwrap();
        assert!(!wal.close().unwrap());
    }
}

#[test]
fn a_full_log_file_and_a_closed_one_end_with_their_last_record() {
    for are_files_mapped in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let options =
            WalOptions { roll_size_bytes: 20_000, are_files_mapped, ..WalOptions::default() };
        let (wal, _, _) = open_real(root.path(), options);
        let mut had_zeros = false;
        for each in writes_of(1..1 + 2 * WRITES as u64) {
            write(&wal, &each, Durability::SyncWal).unwrap();
            let newest = std::fs::read(log_files(root.path()).pop().unwrap()).unwrap();
            had_zeros |= newest.ends_with(&[0; 4096]);
        }
        assert!(had_zeros);
        assert!(!wal.close().unwrap());
        let closed = log_files(root.path());
        assert!(closed.len() > 1);
        for path in closed {
            assert!(!std::fs::read(&path).unwrap().ends_with(&[0; 512]), "{}", path.display());
        }
    }
}

#[test]
fn a_copy_that_a_kill_interrupts_is_a_torn_tail() {
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, WalOptions::default());
    let writes = writes_of(1..6);
    let path = Path::new(DIR).join("hblite-wal.0000000001");
    let mut ends = Vec::new();
    for each in &writes {
        write(&wal, each, Durability::SyncWal).unwrap();
        ends.push(env.fs.file_length(&path).unwrap() as usize);
    }
    drop(wal);
    let whole = env.fs.read(&path).unwrap();
    let [.., before, last] = ends[..] else { panic!("five writes have five ends") };
    for cut in before..=last {
        let mut content = whole[..cut].to_vec();
        content.resize(last + 4096, 0);
        put_file(&env, &path, &content);
        let (found, report) = replay_all(&env);
        let is_whole = content.starts_with(&whole);
        assert_eq!(found.len(), if is_whole { 5 } else { 4 }, "{cut}");
        let end = if is_whole { last } else { before };
        match (report.torn_tail, report.unclosed) {
            (Some(torn), None) => {
                assert!(cut > before && !is_whole, "{cut}");
                assert_eq!(torn.offset, before as u64);
            }
            (None, Some(unclosed)) => assert_eq!(unclosed.offset, end as u64, "{cut}"),
            other => panic!("{cut}: {other:?}"),
        }
    }
}
