//! Logs of a real HBase, plain and compressed: read as they are, cut off anywhere, with any bit
//! flipped.

use std::path::{Path, PathBuf};

use hblite_model::ErrorKind;

use super::*;

/// The log of the tables of `tests/fixtures/hbase-root`.
fn fixture(name: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/hbase-root");
    let dirs = std::fs::read_dir(root.join(name).join("WALs")).expect("it is there");
    let server = dirs.map(|entry| entry.expect("readable").path()).next().expect("one server");
    let logs = std::fs::read_dir(server).expect("it is there");
    let mut logs: Vec<PathBuf> = logs.map(|entry| entry.expect("readable").path()).collect();
    logs.retain(|log| !log.to_string_lossy().ends_with(".meta"));
    std::fs::read(logs.first().expect("one log")).expect("readable")
}

/// Row, sequence id and length of the tags of a cell.
type Cell = (Vec<u8>, u64, usize);

/// The cells, and the error that ended the log, if one did.
fn read(bytes: &[u8]) -> (Vec<Cell>, Option<Error>) {
    let mut cells = Vec::new();
    let path = Path::new("/log");
    let mut log = match HBaseLog::open(path, bytes, LogSource::Server) {
        Ok(log) => log,
        Err(error) => return (cells, Some(error)),
    };
    let mut entry = HBaseLogEntry::default();
    loop {
        match log.next(&mut entry) {
            Ok(true) => cells.extend(
                entry.cells.iter().map(|c| (c.row().to_vec(), entry.sequence_id, c.tags().len())),
            ),
            Ok(false) => return (cells, None),
            Err(error) => return (cells, Some(error)),
        }
    }
}

#[test]
fn plain_and_compressed_logs_hold_the_same() {
    let [(plain, no_error), (compressed, none)] =
        ["killed", "compressed"].map(|n| read(&fixture(n)));
    assert!(no_error.is_none() && none.is_none(), "{no_error:?} {none:?}");
    let rows = |cells: &[Cell]| {
        let rows = cells.iter().map(|(row, _, tags)| (row.clone(), *tags));
        rows.filter(|(row, _)| row.starts_with(b"row")).collect::<Vec<_>>()
    };
    assert_eq!(rows(&plain).len(), 2 + 20 + 1 + 1 + 2 + 2);
    assert_eq!(rows(&plain), rows(&compressed));
    // A time to live is a tag: its length, its type, and 8 bytes.
    assert_eq!(plain.iter().filter(|(_, _, tags)| *tags == 2 + 1 + 8).count(), 5);
}

#[test]
fn a_log_that_is_cut_anywhere_has_a_beginning_of_its_entries() {
    for name in ["killed", "compressed"] {
        let bytes = fixture(name);
        let (all, _) = read(&bytes);
        for length in 0..bytes.len() {
            let (cells, error) = read(&bytes[..length]);
            assert!(error.is_none(), "{name} {length}: {error:?}");
            assert!(all.starts_with(&cells), "{name} {length}");
        }
    }
}

#[test]
fn a_flipped_byte_is_an_error_or_another_log_and_never_a_panic() {
    for name in ["killed", "compressed"] {
        let bytes = fixture(name);
        let mut errors = 0;
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let Some(error) = read(&damaged).1 else { continue };
                errors += 1;
                let is_refused = error.exception() == Exception::UnsupportedOperation;
                assert!(is_refused || error.kind() == ErrorKind::Corrupt || at < 128, "{error}");
            }
        }
        assert!(errors > bytes.len() / 4, "{name}: {errors} of {}", bytes.len());
    }
}

#[test]
fn lengths_and_counts_that_lie_allocate_nothing() {
    let mut log = b"PWAL\0".to_vec();
    let key =
        protobuf::MessageWriter::new().bytes(1, "r").number(3, 1).number(7, u64::MAX).finish();
    protobuf::write_varint(&mut log, key.len() as u64);
    log.extend(key);
    log.extend([0xff, 0xff, 0xff, 0xff]);
    let (cells, error) = read(&log);
    assert!(cells.is_empty() && error.is_none(), "{error:?}");
}

#[test]
fn an_entry_that_runs_into_the_trailer_is_damage() {
    let mut log = fixture("killed");
    log.truncate(log.len() - 1);
    log.extend(0_u32.to_be_bytes());
    log.extend(TRAILER_MAGIC);
    let error = read(&log).1.expect("the last entry is not whole");
    assert_eq!(error.exception(), Exception::CorruptWal, "{error}");
}
