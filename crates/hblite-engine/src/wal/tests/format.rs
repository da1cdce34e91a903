//! Goal: damage of any kind in one log file is detected and never yields wrong cells. Method: cut
//! and flip every byte of small logs, and build the special cases by hand.

use super::*;
use crate::wal::head::head_path;
use crate::wal::log_file::HEADER_SIZE;

const SYNC: Durability = Durability::SyncWal;

/// A log of one log file, of a process that was killed.
struct OneLogFile {
    writes: Vec<Write>,
    content: Vec<u8>,
    head: Vec<u8>,
}

impl OneLogFile {
    fn new(seed: u64, count: usize) -> Self {
        Self::of(random_writes(seed, count))
    }

    fn of(writes: Vec<Write>) -> Self {
        let env = Env::in_memory();
        let (wal, _, _) = open_with(&env, WalOptions::default());
        writes.iter().for_each(|each| write(&wal, each, SYNC).unwrap());
        let content = env.fs.read(&path()).unwrap();
        Self { writes, content, head: env.fs.read(&head_path(Path::new(DIR))).unwrap() }
    }

    /// The log with another content of its log file.
    fn with(&self, content: &[u8]) -> Env {
        let env = Env::in_memory();
        env.fs.create_dir_all(Path::new(DIR)).unwrap();
        put_file(&env, &path(), content);
        put_file(&env, &head_path(Path::new(DIR)), &self.head);
        env
    }
}

fn path() -> std::path::PathBuf {
    log_file_path(Path::new(DIR), 1)
}

#[test]
fn what_was_appended_is_replayed() {
    for seed in 1..20 {
        let log = OneLogFile::new(seed, 40);
        let (replayed, report) = replay_all(&log.with(&log.content));
        assert_eq!(replayed, log.writes);
        assert_eq!((report.log_files, report.entries), (1, 40));
        assert_eq!((report.torn_tail, report.bytes), (None, log.content.len() as u64));
        let (offset, synced_offset) = (log.content.len() as u64, HEADER_SIZE as u64);
        assert_eq!(report.unclosed, Some(UnclosedLog { file: path(), offset, synced_offset }));
    }
}

#[test]
fn an_entry_gives_its_cells_the_sequence_id_and_the_write_time() {
    let log = OneLogFile::new(1, 3);
    let env = log.with(&log.content);
    let mut ids = Vec::new();
    replay(&env, Path::new(DIR), ReplayOptions::default(), &mut |entry| {
        assert_eq!((entry.write_time, entry.log_file), (7, 1));
        assert!(entry.offset >= HEADER_SIZE as u64);
        assert!(entry.cells().all(|cell| cell.sequence_id() == entry.sequence_id));
        ids.push(entry.sequence_id);
        Ok(())
    })
    .unwrap();
    assert_eq!(ids, [1, 2, 3]);
}

#[test]
fn a_log_cut_at_any_byte_is_a_prefix() {
    let log = OneLogFile::new(2, 12);
    for length in 0..log.content.len() {
        let env = log.with(&log.content[..length]);
        if length < HEADER_SIZE {
            // The header was durable before the head named the log file.
            assert_corrupt(&replay_with(&env, false).unwrap_err(), &path());
            assert!(replay_with(&env, true).unwrap().0.is_empty());
            continue;
        }
        let (replayed, report) = replay_all(&env);
        assert_eq!(replayed, log.writes[..replayed.len()]);
        assert!(replayed.len() < log.writes.len());
        let whole = report.log.end().offset.max(HEADER_SIZE as u64);
        let torn = length as u64 - whole;
        assert_eq!(report.torn_tail.map_or(0, |tail| tail.bytes_lost), torn, "cut at {length}");
        assert_eq!(report.unclosed.map(|unclosed| unclosed.offset), (torn == 0).then_some(whole));
    }
}

#[test]
fn a_flipped_byte_is_an_error_and_salvage_skips_one_write_at_most() {
    let log = OneLogFile::new(3, 8);
    let mut torn_count = 0;
    for at in 0..log.content.len() {
        let mut damaged = log.content.clone();
        damaged[at] ^= 1 << (at % 8);
        let env = log.with(&damaged);
        match replay_with(&env, false) {
            // The length of the last record: as if a kill had cut it off.
            Ok((replayed, report)) => {
                assert_eq!(replayed, log.writes[..7], "byte {at}");
                assert!(report.torn_tail.is_some_and(|tail| at as u64 - tail.offset < 4));
                torn_count += 1;
            }
            Err(error) => {
                assert_corrupt(&error, &path());
                assert!(error.offset().unwrap() <= at as u64);
                let (salvaged, report) = replay_with(&env, true).unwrap();
                assert_eq!(report.salvaged.len(), 1);
                let expected = if at < HEADER_SIZE { 8 } else { 7 };
                assert_eq!(salvaged.len(), expected, "byte {at}");
                assert!(salvaged.iter().all(|each| log.writes.contains(each)));
            }
        }
    }
    assert!(torn_count <= 4, "{torn_count}");
}

#[test]
fn zeros_after_the_last_record_are_written_ahead_unless_they_may_begin_a_length() {
    let log = OneLogFile::new(4, 5);
    let end = log.content.len();
    for count in [1, 3, 4, 5, 600, 5000] {
        let mut content = log.content.clone();
        content.resize(end + count, 0);
        let (replayed, report) = replay_all(&log.with(&content));
        assert_eq!(replayed, log.writes);
        let torn = report.torn_tail.map(|torn| (torn.offset, torn.bytes_lost));
        assert_eq!(torn, (count < 4).then_some((end as u64, count as u64)));
        let unclosed = report.unclosed.map(|unclosed| unclosed.offset);
        assert_eq!(unclosed, (count >= 4).then_some(end as u64));
        assert_eq!(report.log.end().offset, end as u64);
    }
}

/// Neither a kill nor a power cut appends bytes that were never written.
#[test]
fn foreign_bytes_after_the_last_record_are_damage() {
    let log = OneLogFile::new(5, 5);
    for tail in [&[0xff; 40][..], &log.content[HEADER_SIZE..], b"\0\0\0\x40too short a record"] {
        let content = [&log.content, tail].concat();
        let env = log.with(&content);
        let error = replay_with(&env, false).unwrap_err();
        assert_corrupt(&error, &path());
        assert_eq!(error.offset(), Some(log.content.len() as u64));
        let (salvaged, report) = replay_with(&env, true).unwrap();
        assert_eq!((salvaged, report.salvaged.len()), (log.writes.clone(), 1));
    }
}

/// A length beyond the end of the file allocates nothing.
#[test]
fn a_length_beyond_the_file_is_a_torn_tail() {
    let log = OneLogFile::new(5, 5);
    let content = [&log.content[..], b"\x3f\xff\xff\xff", &[7; 4]].concat();
    let (replayed, report) = replay_all(&log.with(&content));
    assert_eq!((replayed, report.torn_tail.unwrap().bytes_lost), (log.writes, 8));
}

/// A user keeps log files as values. After a kill in the middle of such a value, the torn record
/// contains what looks like valid records, which must not be accepted.
#[test]
fn a_log_inside_a_torn_value_is_not_mistaken_for_records() {
    let inner = OneLogFile::new(6, 10).content;
    let mut cells = CellBuffer::new();
    cells.push_parts(b"r", b"f", b"q", 1, CellType::Put.code(), &inner);
    let region = "aa".to_owned();
    let log = OneLogFile::of(vec![Write { region, sequence_id: 1, nonce: None, cells }]);
    let (replayed, report) = replay_all(&log.with(&log.content[..log.content.len() - 3]));
    assert!(replayed.is_empty());
    assert_eq!(report.torn_tail.unwrap().offset, HEADER_SIZE as u64);
}

#[test]
fn random_bytes_in_a_log_file_never_panic() {
    let random = SeededRandom::new(7);
    let log = OneLogFile::new(7, 30);
    for _ in 0..300 {
        let mut damaged = log.content.clone();
        for _ in 0..1 + random.next_u64() % 4 {
            let at = (random.next_u64() % damaged.len() as u64) as usize;
            let end = (at + (random.next_u64() % 200) as usize).min(damaged.len());
            damaged[at..end].iter_mut().for_each(|byte| *byte = random.next_u64() as u8);
        }
        let (salvaged, _) = replay_with(&log.with(&damaged), true).unwrap();
        assert!(salvaged.iter().all(|each| log.writes.contains(each)));
    }
}

/// The record's checksum may be right: a program other than hblite wrote it.
#[test]
fn a_sequence_id_that_no_store_gets_to_is_refused() {
    let payload = |sequence_id: u64| {
        let (kind, name) = (1_u8, b"region");
        let mut payload = vec![kind, name.len() as u8];
        payload.extend_from_slice(name);
        payload.extend_from_slice(&sequence_id.to_be_bytes());
        // Write time and count of cells.
        payload.extend_from_slice(&[0; 8 + 4]);
        payload
    };
    let position = log_file::LogPosition { log_file: 1, offset: 0 };
    assert!(entry::decode(position, &payload(1 << 62)).is_ok());
    for sequence_id in [(1 << 62) + 1, u64::MAX] {
        let error = entry::decode(position, &payload(sequence_id)).unwrap_err();
        assert!(error.contains("sequence id"), "{error}");
    }
}
