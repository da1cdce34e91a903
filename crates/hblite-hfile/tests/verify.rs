//! Goal: `verify` accepts what Apache HBase and hblite write, and names what is wrong with others.
//!
//! Method: all recorded files are verified. Then parts of small files are changed and get correct
//! checksums again, so that only a check of the content can detect the change. Finally every byte
//! is flipped without fixing checksums.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use crate::support::{self, Golden, all};
use hblite_env::{FileSystem as _, MemFileSystem};
use hblite_hfile::BlockType;
use hblite_hfile::verify::{Defect, DefectKind, Verified, verify};
use hblite_model::ErrorKind;

const HEADER_SIZE: usize = 33;
const TRAILER_SIZE: usize = 4096;

fn verify_bytes(bytes: &[u8]) -> Result<Verified, Defect> {
    let fs = MemFileSystem::new();
    let path = Path::new("changed");
    fs.create(path).unwrap().write_all(bytes).unwrap();
    verify(&fs, path)
}

fn golden(name: &str) -> Golden {
    all().into_iter().find(|golden| golden.name == name).unwrap()
}

#[test]
fn recorded_files_and_those_written_again_have_no_defects() {
    for golden in all() {
        let verified = verify_bytes(&golden.bytes).unwrap_or_else(|d| panic!("{golden}: {d}"));
        assert_eq!(verified.cells, golden.number("/cell_count"), "{golden}");
        assert_eq!(verified.blocks, golden.number("/block_count"), "{golden}");
        assert_eq!(verified.length, golden.bytes.len() as u64, "{golden}");
        assert!(verified.data_blocks <= verified.blocks, "{golden}");
        let fs = MemFileSystem::new();
        support::write(&fs, Path::new("again"), &golden, &golden.scan());
        let again = verify(&fs, Path::new("again")).unwrap_or_else(|d| panic!("{golden}: {d}"));
        assert_eq!(again.cells, verified.cells, "{golden}");
    }
}

#[test]
fn a_file_that_is_not_there_is_unreadable() {
    let defect = verify(&MemFileSystem::new(), Path::new("absent")).unwrap_err();
    assert_eq!(defect.kind(), DefectKind::Unreadable);
    assert!(defect.to_string().starts_with("unreadable: opening absent"), "{defect}");
}

/// A recorded file being changed.
struct Changed {
    bytes: Vec<u8>,
    /// Where the blocks begin.
    blocks: Vec<(usize, BlockType)>,
}

impl Changed {
    fn new(name: &str) -> Self {
        let golden = golden(name);
        let headers = golden.reader().block_headers().collect::<Vec<_>>();
        let place = |item: hblite_model::Result<_>| {
            let (offset, header): (u64, hblite_hfile::BlockHeader) = item.unwrap();
            assert_eq!(header.checksum_type, hblite_hfile::ChecksumType::Crc32C);
            (offset as usize, header.block_type)
        };
        Self { bytes: golden.bytes, blocks: headers.into_iter().map(place).collect() }
    }

    /// Offset of the block of this type with this number among them.
    fn block(&self, block_type: BlockType, number: usize) -> usize {
        let mut blocks = self.blocks.iter().filter(|(_, found)| *found == block_type);
        blocks.nth(number).unwrap().0
    }

    /// Changes header and payload of a block and gives it correct checksums.
    fn change(&mut self, block_type: BlockType, number: usize, change: impl FnOnce(&mut [u8])) {
        let start = self.block(block_type, number);
        let field = |bytes: &[u8], at: usize| {
            let field = bytes[start + at..].first_chunk::<4>().unwrap();
            u32::from_be_bytes(*field) as usize
        };
        let (chunk, size) = (field(&self.bytes, 25), field(&self.bytes, 29));
        change(&mut self.bytes[start..start + size]);
        let (data, checksums) = self.bytes[start..].split_at_mut(size);
        for (chunk, checksum) in data.chunks(chunk).zip(checksums.chunks_mut(4)) {
            checksum.copy_from_slice(&crc32c::crc32c(chunk).to_be_bytes());
        }
    }

    #[track_caller]
    fn expect(&self, kind: DefectKind, offset: usize, message: &str) {
        let defect = verify_bytes(&self.bytes).unwrap_err();
        assert_eq!(defect.kind(), kind, "{defect}");
        assert_eq!(defect.offset(), Some(offset as u64), "{defect}");
        assert_eq!(defect.file(), Some(Path::new("changed")));
        assert!(defect.message().contains(message), "{defect}");
        assert_eq!(hblite_model::Error::from(defect).kind(), ErrorKind::Corrupt);
    }
}

/// Where `part` begins in `bytes`.
fn position(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).position(|window| window == part).unwrap()
}

#[test]
fn changed_cells_are_found() {
    let golden = golden("small-tags-none");
    let cells = golden.scan();
    let first_key = cells[0].as_ref().key().to_vec();
    // The second cell of the first block moves after all others.
    let mut changed = Changed::new("small-tags-none");
    let at = changed.block(BlockType::Data, 0);
    changed.change(BlockType::Data, 0, |block| {
        let key = position(block, cells[1].as_ref().key());
        block[key + 2] = b'z';
    });
    changed.expect(DefectKind::Cells, at, "cell 2 of the block is smaller than the previous one");

    let mut changed = Changed::new("small-tags-none");
    changed.change(BlockType::Data, 0, |block| {
        let end = position(block, &first_key) + first_key.len();
        block[end - 1] = 5;
    });
    changed.expect(DefectKind::Index, at, "does not separate this block");

    let mut changed = Changed::new("small-tags-none");
    changed.change(BlockType::Data, 0, |block| {
        let key = cells[3].as_ref().key().to_vec();
        let end = position(block, &key) + key.len();
        block[end - 1] = 5;
    });
    changed.expect(DefectKind::Cells, at, "cell 3 of the block has a type that no cell has");

    let mut changed = Changed::new("small-tags-none");
    changed.change(BlockType::Data, 0, |block| {
        let tags = position(block, cells[0].tags());
        block[tags + 1] = 0xff;
    });
    changed.expect(DefectKind::Cells, at, "cell 0 of the block has malformed tags");
}

#[test]
fn a_changed_row_index_is_found() {
    let mut changed = Changed::new("small-tags-row-index-v1");
    let at = changed.block(BlockType::EncodedData, 1);
    changed.change(BlockType::EncodedData, 1, |block| {
        let last_row = block.len() - 5;
        block[last_row] ^= 1;
    });
    changed.expect(DefectKind::Cells, at, "row index");
}

#[test]
fn a_changed_index_is_found() {
    let golden = golden("small-tags-none");
    let keys: Vec<_> = golden.reader().root_index().unwrap();
    let mut changed = Changed::new("small-tags-none");
    changed.change(BlockType::RootIndex, 0, |block| {
        let key = position(block, &keys[2].key);
        block[key + 2] = b'z';
    });
    let at = changed.block(BlockType::Data, 2);
    changed.expect(DefectKind::Index, at, "does not separate this block");

    // The entry that is the mid-key ends the block.
    let mut changed = Changed::new("index-4level-small");
    let root = changed.block(BlockType::RootIndex, 0);
    changed.change(BlockType::RootIndex, 0, |block| *block.last_mut().unwrap() ^= 1);
    changed.expect(DefectKind::Index, root, "mid-key");

    let mut changed = Changed::new("index-4level-small");
    let at = changed.block(BlockType::IntermediateIndex, 1);
    changed.change(BlockType::IntermediateIndex, 1, |block| {
        let row = position(block, b"\x7f\xff\xff\xff\xff\xff\xff\xff\xff") - 2;
        block[row] ^= 1;
    });
    changed.expect(DefectKind::Damaged, at, "index node begins with another key");
}

#[test]
fn changed_filters_are_found() {
    let mut changed = Changed::new("bloom-row-deletefamily");
    changed.change(BlockType::BloomChunk, 0, |block| block[HEADER_SIZE..].fill(0));
    changed.expect(DefectKind::Bloom, 0, "filter denies");

    for (block_type, name) in [
        (BlockType::GeneralBloomMeta, "the general filter gives"),
        (BlockType::DeleteFamilyBloomMeta, "the delete family filter gives"),
    ] {
        let mut changed = Changed::new("bloom-row-deletefamily");
        let info = changed.block(BlockType::FileInfo, 0);
        // i64 keys follows version, bytes, hash count and hash.
        let keys = HEADER_SIZE + 4 + 8 + 4 + 4;
        changed.change(block_type, 0, |block| block[keys + 7] ^= 1);
        changed.expect(DefectKind::Bloom, info, name);
    }

    let mut changed = Changed::new("bloom-rowcol");
    let info = changed.block(BlockType::FileInfo, 0);
    changed.change(BlockType::FileInfo, 0, |block| {
        let name = b"LAST_BLOOM_KEY";
        let value = position(block, name) + name.len() + 2;
        block[value + 5] ^= 1;
    });
    changed.expect(DefectKind::Bloom, info, "another last key");
}

#[test]
fn changed_file_info_is_found() {
    // Name, and the byte of the value that changes.
    let changes: [(&[u8], usize); 6] = [
        (b"DELETE_FAMILY_COUNT", 7),
        (b"EARLIEST_PUT_TS", 7),
        (b"MAX_MEMSTORE_TS_KEY", 7),
        (b"TIMERANGE", 15),
        (b"hfile.AVG_VALUE_LEN", 3),
        (b"hfile.LASTKEY", 3),
    ];
    for (name, byte) in changes {
        let mut changed = Changed::new("small-tags-diff");
        let info = changed.block(BlockType::FileInfo, 0);
        changed.change(BlockType::FileInfo, 0, |block| {
            // After the name: the field's number and length.
            let value = position(block, name) + name.len() + 2;
            block[value + byte] ^= 1;
        });
        changed.expect(DefectKind::FileInfo, info, std::str::from_utf8(name).unwrap());
    }
}

#[test]
fn a_broken_chain_of_blocks_is_found() {
    for (name, block_type) in [
        ("index-4level-small", BlockType::Data),
        ("index-4level-small", BlockType::LeafIndex),
        ("bloom-rowcol", BlockType::BloomChunk),
    ] {
        let mut changed = Changed::new(name);
        let at = changed.block(block_type, 1);
        changed.change(block_type, 1, |block| block[16..24].fill(0xff));
        changed.expect(DefectKind::Blocks, at, "as the previous offset");
    }
}

#[test]
fn numbers_of_the_trailer_are_compared() {
    let golden = golden("small-none");
    let end = golden.bytes.len() - TRAILER_SIZE;
    let cells = golden.number("/cell_count") as u8;
    let mut changed = Changed::new("small-none");
    // Field 7, a varint.
    let at = position(&changed.bytes[end..], &[0x38, cells]);
    changed.bytes[end + at + 1] += 1;
    changed.expect(DefectKind::Trailer, end, "cells");
    let mut changed = Changed::new("meta-blocks");
    let end = changed.bytes.len() - TRAILER_SIZE;
    let at = position(&changed.bytes[end..], &[0x30, 2, 0x38]);
    changed.bytes[end + at + 1] = 1;
    let meta_index = changed.block(BlockType::RootIndex, 1);
    changed.expect(DefectKind::MetaIndex, meta_index, "meta index");
}

#[test]
fn a_flipped_byte_is_a_defect_or_leaves_the_cells() {
    let names = ["one-tags", "small-ctags-diff", "small-tags-row-index-v1", "meta-blocks-gz"];
    for golden in all().iter().filter(|golden| names.contains(&golden.name.as_str())) {
        let blocks_end = golden.bytes.len() - TRAILER_SIZE;
        for at in 0..blocks_end + 160 {
            let mut bytes = golden.bytes.clone();
            bytes[at] ^= 1 << (at % 8);
            match verify_bytes(&bytes) {
                Err(defect) => assert!(defect.message().starts_with("changed"), "{defect}"),
                Ok(_) => {
                    assert!(at >= blocks_end, "{golden}: byte {at} is under a checksum");
                    let fs = MemFileSystem::new();
                    fs.create(Path::new("f")).unwrap().write_all(&bytes).unwrap();
                    let cells = support::scan(&support::open(&fs, Path::new("f")));
                    assert!(cells == golden.scan(), "{golden}: byte {at}");
                }
            }
        }
    }
}
