//! Goal: damage of any kind never gives wrong cells. Method: cut and flip every byte of small
//! logs, and build the special cases by hand.

use super::*;
use crate::wal::segment::HEADER_SIZE;

const SYNC: Durability = Durability::SyncWal;

/// The writes and the only segment of a log of theirs.
fn one_segment(seed: u64, count: usize) -> (Vec<Write>, Vec<u8>) {
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, WalOptions::default());
    let writes = random_writes(seed, count);
    writes.iter().for_each(|each| write(&wal, each, SYNC).unwrap());
    (writes, env.fs.read(&segment_path(Path::new(DIR), 1)).unwrap())
}

fn env_with(segments: &[(u64, &[u8])]) -> Env {
    let env = Env::in_memory();
    env.fs.create_dir_all(Path::new(DIR)).unwrap();
    for (number, content) in segments {
        put_file(&env, &segment_path(Path::new(DIR), *number), content);
    }
    env
}

#[test]
fn what_was_appended_is_replayed() {
    for seed in 1..20 {
        let (writes, content) = one_segment(seed, 40);
        let (replayed, report) = replay_all(&env_with(&[(1, &content)]));
        assert_eq!(replayed, writes);
        assert_eq!((report.segments, report.entries), (1, 40));
        assert_eq!((report.torn_tail, report.bytes), (None, content.len() as u64));
    }
}

#[test]
fn an_entry_gives_its_cells_the_sequence_id_and_the_write_time() {
    let (_, content) = one_segment(1, 3);
    let env = env_with(&[(1, &content)]);
    let mut ids = Vec::new();
    replay(&env, Path::new(DIR), ReplayOptions::default(), &mut |entry| {
        assert_eq!((entry.write_time, entry.segment), (7, 1));
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
    let (writes, content) = one_segment(2, 12);
    for length in 0..content.len() {
        let env = env_with(&[(1, &content[..length])]);
        let (replayed, report) = replay_all(&env);
        assert_eq!(replayed, writes[..replayed.len()]);
        let whole = report.log.end().offset.max(length.min(HEADER_SIZE) as u64);
        // The first bytes of a length field are zeros, and zeros at the end are nothing.
        let is_zero = content[whole as usize..length].iter().all(|byte| *byte == 0);
        let torn = if is_zero { 0 } else { length as u64 - whole };
        assert_eq!(report.torn_tail.map_or(0, |tail| tail.bytes_lost), torn, "cut at {length}");
        assert!(replayed.len() < writes.len());
    }
}

#[test]
fn a_flipped_byte_is_an_error_or_a_torn_tail_and_salvage_skips_one_write() {
    let (writes, content) = one_segment(3, 8);
    let path = segment_path(Path::new(DIR), 1);
    let mut torn_count = 0;
    for at in 0..content.len() {
        let mut damaged = content.clone();
        damaged[at] ^= 1 << (at % 8);
        let env = env_with(&[(1, &damaged)]);
        match replay_with(&env, false) {
            Ok((replayed, report)) => {
                assert_eq!(replayed, writes[..7], "byte {at}");
                assert!(report.torn_tail.is_some());
                torn_count += 1;
            }
            Err(error) => {
                assert_corrupt(&error, &path);
                assert!(error.offset().unwrap() <= at as u64);
                let (salvaged, report) = replay_with(&env, true).unwrap();
                assert_eq!(report.salvaged.len(), 1);
                let expected = if at < HEADER_SIZE { 0 } else { 7 };
                assert_eq!(salvaged.len(), expected, "byte {at}");
                assert!(salvaged.iter().all(|each| writes.contains(each)));
            }
        }
    }
    assert!(torn_count > 0 && torn_count < content.len() / 2);
}

#[test]
fn zeros_after_the_last_record_are_nothing() {
    let (writes, mut content) = one_segment(4, 5);
    let length = content.len() as u64;
    content.resize(content.len() + 5000, 0);
    let (replayed, report) = replay_all(&env_with(&[(1, &content)]));
    assert_eq!((replayed, report.torn_tail.as_ref()), (writes, None));
    assert_eq!(report.log.end().offset, length);
}

#[test]
fn a_length_beyond_the_file_allocates_nothing_and_is_a_torn_tail() {
    let (writes, mut content) = one_segment(5, 5);
    content.extend_from_slice(&[0xff; 40]);
    let (replayed, report) = replay_all(&env_with(&[(1, &content)]));
    assert_eq!(replayed, writes);
    assert_eq!(report.torn_tail.unwrap().bytes_lost, 40);
}

/// A user keeps log files as values. After a kill in the middle of such a value, what stands in
/// the torn record looks like valid records, and must not be taken for them.
#[test]
fn a_log_inside_a_torn_value_is_not_mistaken_for_records() {
    let (_, inner) = one_segment(6, 10);
    let env = Env::in_memory();
    let (wal, _, _) = open_with(&env, WalOptions::default());
    let mut cells = CellBuffer::new();
    cells.push_parts(b"r", b"f", b"q", 1, CellType::Put.code(), &inner);
    let region = "aa".to_owned();
    write(&wal, &Write { region, sequence_id: 1, nonce: None, cells }, SYNC).unwrap();
    let content = env.fs.read(&segment_path(Path::new(DIR), 1)).unwrap();
    let (replayed, report) = replay_all(&env_with(&[(1, &content[..content.len() - 3])]));
    assert!(replayed.is_empty());
    assert_eq!(report.torn_tail.unwrap().offset, HEADER_SIZE as u64);
}

#[test]
fn a_copy_of_a_record_at_another_place_is_none() {
    let (writes, content) = one_segment(8, 3);
    let doubled = [&content, &content[HEADER_SIZE..]].concat();
    let (replayed, report) = replay_all(&env_with(&[(1, &doubled)]));
    assert_eq!(replayed, writes);
    assert_eq!(report.torn_tail.unwrap().offset, content.len() as u64);
}

#[test]
fn random_bytes_in_a_segment_never_panic() {
    let random = SeededRandom::new(7);
    let (writes, content) = one_segment(7, 30);
    for _ in 0..300 {
        let mut damaged = content.clone();
        for _ in 0..1 + random.next_u64() % 4 {
            let at = (random.next_u64() % damaged.len() as u64) as usize;
            let end = (at + (random.next_u64() % 200) as usize).min(damaged.len());
            damaged[at..end].iter_mut().for_each(|byte| *byte = random.next_u64() as u8);
        }
        let env = env_with(&[(1, &damaged)]);
        let (salvaged, _) = replay_with(&env, true).unwrap();
        assert!(salvaged.iter().all(|each| writes.contains(each)));
    }
}
