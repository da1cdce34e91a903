//! The code of the fuzz targets for files of a store, on a small corpus and on random changes of
//! it. Coverage guidance needs a nightly compiler; here, some hundred inputs each run without it.

#[path = "fuzz/bodies/corpus.rs"]
mod corpus;
#[path = "fuzz/bodies/hbase_root.rs"]
mod hbase_root;
#[path = "fuzz/bodies/hfile_parts.rs"]
mod hfile_parts;
#[path = "fuzz/bodies/small_files.rs"]
mod small_files;
#[path = "fuzz/bodies/snapshot_import.rs"]
mod snapshot_import;

use hblite_env::{Random as _, SeededRandom};

/// Bytes that are likely to be a length, a number, or a field of a message.
const BYTES: [u8; 10] = [0, 1, 0x0a, 0x12, 0x1a, 0x20, 0x7f, 0x80, 0xcd, 0xff];

#[test]
fn what_the_fuzzer_kept_does_no_harm() {
    let mut count = 0;
    for input in corpus::inputs("hfile_parts") {
        hfile_parts::run(&input);
        count += 1;
    }
    for input in corpus::inputs("small_files") {
        small_files::run(&input);
        count += 1;
    }
    for input in corpus::inputs("hbase_root") {
        hbase_root::run(&input);
        count += 1;
    }
    for input in corpus::inputs("snapshot_import") {
        snapshot_import::run(&input);
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[test]
fn changed_parts_of_hfiles_do_no_harm() {
    let random = SeededRandom::new(1);
    for number in 0..3_000_u64 {
        let mut input = vec![number as u8];
        for _ in 0..1 + random.next_u64() % 4 {
            let place = random.next_u64() as u16;
            let byte = match random.next_u64() % 2 {
                0 => BYTES[(random.next_u64() % BYTES.len() as u64) as usize],
                _ => random.next_u64() as u8,
            };
            input.extend_from_slice(&place.to_be_bytes());
            input.push(byte);
        }
        hfile_parts::run(&input);
    }
}

#[test]
fn changed_snapshots_are_imported_or_refused() {
    for file in [0x80, 0x81] {
        assert_eq!(snapshot_import::run(&[file]), Some(3), "the snapshot without a change");
    }
    let random = SeededRandom::new(4);
    for number in 0..400_u64 {
        let mut input = vec![0x80 | number as u8 & 1];
        for _ in 0..1 + random.next_u64() % 3 {
            input.extend_from_slice(&(random.next_u64() as u16).to_be_bytes());
            input.push(random.next_u64() as u8);
            let byte = random.next_u64() as usize;
            input.push(BYTES.get(byte % 20).copied().unwrap_or((byte >> 8) as u8));
        }
        snapshot_import::run(&input);
    }
}

#[test]
fn changed_files_of_hbase_do_no_harm() {
    let random = SeededRandom::new(3);
    for _ in 0..250 {
        let mut input = Vec::new();
        for _ in 0..1 + random.next_u64() % 3 {
            let [file, place, byte] = [random.next_u64(), random.next_u64(), random.next_u64()];
            // One change in eight truncates the file.
            let cut = if file >> 32 & 7 == 0 { 0x80 } else { 0 };
            input.push(file as u8 & 0x7f | cut);
            input.extend_from_slice(&(place as u16).to_be_bytes());
            input.push(BYTES.get(byte as usize % 20).copied().unwrap_or((byte >> 8) as u8));
        }
        hbase_root::run(&input);
    }
}

#[test]
fn any_bytes_in_small_files_do_no_harm() {
    let random = SeededRandom::new(2);
    let messages: [&[u8]; 5] = [
        b"",
        b"\x0a\x01s\x12\x01t\x18\x01\x20\x01\x28\x02\x40\xff\xff\xff\xff\x0f",
        b"\x08\x01\x12\x0a\x0a\x07default\x12\x01t\x1a\x00\x22\x01b",
        b"\x0a\x0c\x0a\x07default\x12\x01t\x1a\x03\x0a\x01f",
        b"\x0a\x10\x00\x01b\x00\xff\xff\xff\xff\xff\xff\xff\x7f\xff\x00\x10\x01",
    ];
    for number in 0..150_u64 {
        let message = messages[(random.next_u64() % 5) as usize];
        let mut input = [&[random.next_u64() as u8], message].concat();
        for _ in 0..random.next_u64() % 4 {
            let at = (random.next_u64() % input.len() as u64) as usize;
            match random.next_u64() % 3 {
                0 => input[at] = BYTES[(random.next_u64() % BYTES.len() as u64) as usize],
                1 => input.truncate(at + 1),
                _ => input.insert(at + 1, random.next_u64() as u8),
            }
        }
        assert!(!input.is_empty(), "case {number}");
        small_files::run(&input);
    }
}
