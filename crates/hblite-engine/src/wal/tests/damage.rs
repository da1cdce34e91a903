//! Goal: whatever happens to the files of a log, no record is lost silently. Method: logs of
//! several log files, of a killed process and closed; every file is cut, zeroed, flipped, swapped,
//! replaced, removed and duplicated in every way that time allows.
//!
//! The outcome must be all data; or an error with file and offset, and then a salvage keeps every
//! record that is intact; or, in the newest file of a log that was not closed, a note that names
//! the end of the log, for damage that a kill or a power cut explains. The counts are printed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::wal::head::head_path;
use crate::wal::log_file::{HEADER_SIZE, LogFileHeader, log_file_number};
use crate::wal::reader::{LogFileReader, Step};

const WRITES: usize = 24;
const SECTOR: usize = 512;

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A log of several files.
struct Log {
    writes: Vec<Write>,
    files: Files,
    /// Earlier contents of each file.
    older: Vec<Files>,
    is_closed: bool,
}

fn files_of(env: &Env) -> Files {
    let mut files = Files::new();
    for name in log_file_names(env) {
        let path = Path::new(DIR).join(name);
        files.insert(path.clone(), env.fs.read(&path).unwrap());
    }
    let head = head_path(Path::new(DIR));
    files.insert(head.clone(), env.fs.read(&head).unwrap());
    files
}

fn env_of(files: &Files) -> Env {
    let env = Env::in_memory();
    env.fs.create_dir_all(Path::new(DIR)).unwrap();
    files.iter().for_each(|(path, content)| put_file(&env, path, content));
    env
}

impl Log {
    fn new(seed: u64, store: StoreId, is_closed: bool) -> Self {
        let env = Env::in_memory();
        let options = ReplayOptions { store, salvage: false };
        let found = replay(&env, Path::new(DIR), options, &mut |_| Ok(())).unwrap();
        let wal = Wal::open(&env, Path::new(DIR), small(), &found).unwrap();
        let writes = random_writes(seed, WRITES);
        let mut older = Vec::new();
        for (index, each) in writes.iter().enumerate() {
            let durability =
                if index % 6 == 1 { Durability::FsyncWal } else { Durability::SyncWal };
            write(&wal, each, durability).unwrap();
            older.push(files_of(&env));
        }
        if is_closed {
            wal.close().unwrap();
        }
        Self { writes, files: files_of(&env), older, is_closed }
    }

    fn log_files(&self) -> Vec<PathBuf> {
        self.files.keys().filter(|path| path.parent() == Some(Path::new(DIR))).cloned().collect()
    }

    fn newest(&self) -> PathBuf {
        self.log_files().pop().unwrap()
    }

    /// The records in a log file: their positions, and for an edit, the index of its write.
    fn records(&self, path: &Path) -> Vec<(std::ops::Range<usize>, Option<usize>)> {
        let content = &self.files[path];
        let header = LogFileHeader::decode(content).unwrap();
        let mut reader = LogFileReader::new(content, &header, None);
        let mut records = Vec::new();
        while let Some(Step::Record { position, payload }) = reader.next() {
            let start = position.offset as usize;
            let index = match entry::decode(position, payload).unwrap() {
                entry::Payload::Edit(edit) => Some(edit.sequence_id as usize - 1),
                entry::Payload::Mark(_) => None,
            };
            records.push((start..start + entry::RECORD_HEADER_SIZE + payload.len(), index));
        }
        records
    }

    /// The writes without a record in `range` of `path`.
    fn intact(&self, path: &Path, range: std::ops::Range<usize>) -> Vec<usize> {
        let is_hit =
            |record: &std::ops::Range<usize>| record.start < range.end && range.start < record.end;
        let records = self.records(path);
        let lost: Vec<usize> =
            records.iter().filter(|(place, _)| is_hit(place)).filter_map(|(_, i)| *i).collect();
        (0..self.writes.len()).filter(|index| !lost.contains(index)).collect()
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    all_data: usize,
    note: usize,
    error: usize,
}

/// What is checked, and how often each outcome occurred.
struct Check<'a> {
    log: &'a Log,
    counts: BTreeMap<&'static str, Counts>,
}

impl<'a> Check<'a> {
    fn new(log: &'a Log) -> Self {
        Self { log, counts: BTreeMap::new() }
    }

    /// Replays the log with `damaged` files. `intact`: what a salvage must keep; `explained`:
    /// whether a kill or a power cut can have done this.
    fn check(&mut self, what: &'static str, damaged: &Files, intact: &[usize], explained: bool) {
        let log = self.log;
        let env = env_of(damaged);
        let counts = self.counts.entry(what).or_default();
        let salvage = || {
            let (kept, report) = replay_with(&env, true).unwrap();
            assert!(kept.iter().all(|each| log.writes.contains(each)), "{what}");
            for index in intact {
                assert!(kept.contains(&log.writes[*index]), "{what}: write {index} is intact");
            }
            report
        };
        match replay_with(&env, false) {
            Ok((writes, _)) if writes == log.writes => counts.all_data += 1,
            Ok((writes, report)) => {
                assert!(explained && !log.is_closed, "{what}: {} writes are left", writes.len());
                assert_eq!(writes, log.writes[..writes.len()], "{what}");
                let torn = report.torn_tail.map(|torn| torn.file);
                let unclosed = report.unclosed.map(|unclosed| unclosed.file);
                assert_eq!(torn.or(unclosed), Some(log.newest()), "{what}");
                salvage();
                counts.note += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), hblite_model::ErrorKind::Corrupt, "{what}: {error}");
                assert!(error.file().is_some() && error.offset().is_some(), "{what}: {error}");
                assert!(!salvage().salvaged.is_empty(), "{what}");
                counts.error += 1;
            }
        }
    }

    /// Damages `range` of one file by `damage`.
    fn check_range(
        &mut self,
        what: &'static str,
        path: &Path,
        range: std::ops::Range<usize>,
        damage: impl FnOnce(&mut [u8]),
        explained: bool,
    ) {
        let mut files = self.log.files.clone();
        damage(&mut files.get_mut(path).unwrap()[range.clone()]);
        self.check(what, &files, &self.log.intact(path, range), explained);
    }

    /// Gives one file another content.
    fn check_content(
        &mut self,
        what: &'static str,
        path: &Path,
        content: Option<&[u8]>,
        explained: bool,
    ) {
        let mut files = self.log.files.clone();
        let length = files.get(path).map_or(0, Vec::len);
        let common = content.map_or(0, |content| {
            let old = files.get(path).map_or(&[][..], |old| old);
            old.iter().zip(content).take_while(|(old, new)| old == new).count()
        });
        match content {
            Some(content) => drop(files.insert(path.to_path_buf(), content.to_vec())),
            None => drop(files.remove(path)),
        }
        let intact = if self.log.files.contains_key(path) && log_file_of(path).is_some() {
            self.log.intact(path, common..length)
        } else {
            (0..self.log.writes.len()).collect()
        };
        self.check(what, &files, &intact, explained);
    }
}

fn log_file_of(path: &Path) -> Option<u64> {
    log_file_number(path.file_name()?.to_str()?)
}

/// Cuts, zeros and flips of the log files.
fn check_bytes(check: &mut Check<'_>) {
    let log = check.log;
    for path in log.log_files() {
        let is_newest = path == log.newest();
        let content = &log.files[&path];
        let records = log.records(&path);
        let mut cuts = vec![0, 1, 40, HEADER_SIZE - 1, HEADER_SIZE];
        for (place, _) in &records {
            cuts.extend([place.start + 1, place.start + 9, place.end - 1, place.end]);
        }
        for cut in cuts.into_iter().filter(|cut| *cut < content.len()) {
            let explained = is_newest && cut >= HEADER_SIZE;
            check.check_content("cut off", &path, Some(&content[..cut]), explained);
        }
        for size in [SECTOR, 8 * SECTOR] {
            let starts = (0..content.len()).filter(|at| at % 101 == 0 || at % SECTOR == 0);
            for start in starts {
                let range = start..(start + size).min(content.len());
                // It begins with a sector, or reaches from a record to the end of its sector.
                let covers = |at: usize| {
                    let sector_end = (at / SECTOR + 1) * SECTOR;
                    start <= at && sector_end.min(content.len()) <= range.end + 3
                };
                let explained = is_newest
                    && start + 3 >= HEADER_SIZE
                    && (covers(start.next_multiple_of(SECTOR))
                        || records.iter().any(|(place, _)| covers(place.start)));
                let zero = |bytes: &mut [u8]| bytes.fill(0);
                check.check_range("zeros", &path, range, zero, explained);
            }
        }
        let last = records.last().unwrap().0.start;
        // Every byte of the header and of the newest log file, and of the others every fifth.
        let is_wanted = |at: &usize| is_newest || *at < HEADER_SIZE || at.is_multiple_of(5);
        for at in (0..content.len()).filter(is_wanted) {
            let explained = is_newest && (last..last + 4).contains(&at);
            let flip = |bytes: &mut [u8]| bytes[0] ^= 1 << (at % 8);
            check.check_range("flipped bit", &path, at..at + 1, flip, explained);
        }
    }
}

/// Other files in the place of log files.
fn check_files(check: &mut Check<'_>, other_stores: &Log, other_times: &Log) {
    let log = check.log;
    let (log_files, newest) = (log.log_files(), log.newest());
    let all: Vec<usize> = (0..log.writes.len()).collect();
    let next = log_file_path(Path::new(DIR), log_file_of(&newest).unwrap() + 1);
    let in_none = |paths: &[&Path]| -> Vec<usize> {
        let lost: Vec<usize> =
            paths.iter().flat_map(|path| log.records(path)).filter_map(|(_, i)| i).collect();
        all.iter().copied().filter(|index| !lost.contains(index)).collect()
    };
    for path in &log_files {
        let is_newest = *path == newest;
        check.check_content("removed", path, None, false);
        for older in log.older.iter().filter_map(|files| files.get(path)) {
            check.check_content("older copy", path, Some(older), is_newest);
        }
        for (what, other) in [("another store's", other_stores), ("another time's", other_times)] {
            let log_files = other.log_files();
            let content = other.files.get(path).unwrap_or(&other.files[log_files.last().unwrap()]);
            check.check_content(what, path, Some(content), false);
            check.check_content(what, &next, Some(content), false);
        }
        for length in [0, 10, HEADER_SIZE, 1000, 5000] {
            let text: Vec<u8> =
                b"Lorem ipsum dolor ".iter().copied().cycle().take(length).collect();
            check.check_content("unrelated file", path, Some(&text), false);
            if length > 0 {
                check.check_content("unrelated file", &next, Some(&text), false);
            }
        }
        for other in log_files.iter().filter(|other| *other > path) {
            let mut files = log.files.clone();
            files.insert(path.clone(), log.files[other].clone());
            files.insert(other.clone(), log.files[path].clone());
            check.check("swapped", &files, &in_none(&[path, other]), false);
            let mut files = log.files.clone();
            files.insert(other.clone(), log.files[path].clone());
            check.check("duplicated over another", &files, &in_none(&[other]), false);
        }
        let mut files = log.files.clone();
        files.insert(next.clone(), log.files[path].clone());
        check.check("duplicated", &files, &all, false);
        files.remove(path);
        check.check("renamed", &files, &in_none(&[path]), false);
    }
}

/// The head: it is checked against the log files, and a salvage does not need it.
fn check_head(check: &mut Check<'_>, other_stores: &Log, other_times: &Log) {
    let log = check.log;
    let head = head_path(Path::new(DIR));
    let content = &log.files[&head];
    check.check_content("head removed", &head, None, false);
    for length in 0..content.len() {
        check.check_content("head cut off", &head, Some(&content[..length]), false);
    }
    for at in 0..content.len() {
        let mut flipped = content.clone();
        flipped[at] ^= 1 << (at % 8);
        check.check_content("head flipped", &head, Some(&flipped), false);
    }
    for older in &log.older {
        check.check_content("older head", &head, Some(&older[&head]), false);
    }
    for other in [other_stores, other_times] {
        check.check_content("another's head", &head, Some(&other.files[&head]), false);
    }
    let text = [b'x'; 5000];
    check.check_content("unrelated head", &head, Some(&text), false);
}

#[test]
fn no_damage_to_any_file_loses_a_record_in_silence() {
    for is_closed in [false, true] {
        let log = Log::new(21, STORE, is_closed);
        assert!(log.log_files().len() >= 4, "{}", log.log_files().len());
        let other_stores = Log::new(22, StoreId::from_bytes([7; 16]), is_closed);
        let other_times = Log::new(21, STORE, is_closed);
        let mut check = Check::new(&log);
        check_bytes(&mut check);
        check_files(&mut check, &other_stores, &other_times);
        check_head(&mut check, &other_stores, &other_times);
        println!("a log of {} files, closed: {is_closed}", log.log_files().len());
        for (what, Counts { all_data, note, error }) in &check.counts {
            println!("{what:>24}: {all_data:>5} all data {note:>5} note {error:>5} error");
        }
        let noted: usize = check.counts.values().map(|counts| counts.note).sum();
        assert_eq!(noted == 0, is_closed);
        let all = check.counts.values().map(|counts| counts.error).sum::<usize>();
        assert!(all > 2_000, "{all}");
    }
}

/// A log that is restored with its head is complete, however it was stopped.
#[test]
fn a_sound_log_is_all_data_and_says_whether_it_was_closed() {
    for is_closed in [false, true] {
        let log = Log::new(23, STORE, is_closed);
        let (writes, report) = replay_all(&env_of(&log.files));
        assert_eq!(writes, log.writes);
        assert_eq!((report.torn_tail, report.unclosed.is_none()), (None, is_closed));
    }
}

/// Log files that a salvage could not read completely are not removed with those that it flushed.
#[test]
fn a_salvage_sets_files_aside_that_are_no_log_files() {
    let log = Log::new(24, STORE, true);
    let mut files = log.files.clone();
    let (newest, second) = (log.newest(), log.log_files()[1].clone());
    files.insert(second.clone(), b"not a log file".to_vec());
    let env = env_of(&files);
    for round in 0..2 {
        let (kept, report) = replay_with(&env, true).unwrap();
        let wal = Wal::open(&env, Path::new(DIR), small(), &report).unwrap();
        let aside = Path::new("/db").join(format!("hblite-{STORE}-moved"));
        let name = Path::new("WALs").join(second.file_name().unwrap());
        assert_eq!(env.fs.list_dir(&aside).unwrap().len(), 1 + round);
        let content = env.fs.read(&aside.join("1").join(name)).unwrap();
        assert_eq!(content, b"not a log file");
        assert!(kept.len() < log.writes.len() && env.fs.exists(&newest).unwrap());
        assert!(!env.fs.exists(&second).unwrap());
        drop(wal);
        put_file(&env, &second, b"another one");
    }
}

/// The files of a closed log of these writes.
fn closed_log(writes: &[Write]) -> Files {
    let env = Env::in_memory();
    let (wal, ..) = open_with(&env, small());
    writes.iter().for_each(|each| write(&wal, each, Durability::SyncWal).unwrap());
    wal.close().unwrap();
    files_of(&env)
}

/// As from two copies of a store that diverged: number, store, sizes and checksums are correct.
#[test]
fn a_log_file_of_another_copy_of_the_store_is_an_error() {
    let writes = random_writes(25, WRITES);
    let apart: Vec<Write> = writes
        .iter()
        .map(|each| {
            let region = if each.region == "aa" { "bb" } else { "aa" }.to_owned();
            let is_meta = each.region.len() > region.len();
            Write { region: if is_meta { each.region.clone() } else { region }, ..each.clone() }
        })
        .collect();
    let (files, others) = (closed_log(&writes), closed_log(&apart));
    let log_files: Vec<&PathBuf> =
        files.keys().filter(|path| **path != head_path(Path::new(DIR))).collect();
    let same_size = |path: &&&PathBuf| files[**path].len() == others[**path].len();
    assert!(log_files.iter().filter(same_size).count() > 3, "{log_files:?}");
    for path in log_files {
        let mut mixed = files.clone();
        mixed.insert(path.clone(), others[path].clone());
        assert_corrupt(&replay_with(&env_of(&mixed), false).unwrap_err(), path);
    }
}
