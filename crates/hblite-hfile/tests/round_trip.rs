//! Goal: whatever the cells and settings, reading returns what was written.
//!
//! Method: random cells in order, random settings; the file is read forward, backward and by key
//! and compared with the list.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use hblite_env::MemFileSystem;
use hblite_hfile::{
    BlockCache, BloomHash, ChecksumType, HFileReader, HFileScanner, HFileWriter,
    HFileWriterOptions, StoreFileInfo,
};
use hblite_model::cell::key;
use hblite_model::{
    BloomType, Cell, CellComparator, CellRef, CellType, Compression, DataBlockEncoding, ErrorKind,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::support;

fn some_bytes(length_max: usize) -> impl Strategy<Value = Vec<u8>> {
    // Few letters, so that prefixes and equal parts happen.
    vec(select(vec![0, b'a', b'b', b'c', 0xff]), 0..=length_max)
}

fn tags() -> impl Strategy<Value = Vec<u8>> {
    let tag = (select(vec![1_u8, 8, 9]), some_bytes(4));
    vec(tag, 0..3).prop_map(|tags| {
        let mut bytes = Vec::new();
        for (code, value) in tags {
            hblite_model::cell::push_tag(&mut bytes, hblite_model::cell::TagType(code), &value);
        }
        bytes
    })
}

fn cell() -> impl Strategy<Value = Cell> {
    let timestamp = prop_oneof![0_i64..20, any::<i64>(), Just(i64::MAX), 0..i64::MAX];
    let type_code = select(vec![4_u8, 4, 4, 8, 10, 12, 14]);
    let value = prop_oneof![vec(any::<u8>(), 0..40), vec(Just(b'v'), 0..900)];
    let sequence_id = prop_oneof![0_u64..200, 0..i64::MAX as u64];
    (some_bytes(12), some_bytes(6), timestamp, type_code, value, tags(), sequence_id).prop_map(
        |(row, qualifier, timestamp, type_code, value, tags, sequence_id)| {
            // Markers that delete a family have no qualifier.
            let qualifier = if matches!(type_code, 10 | 14) { Vec::new() } else { qualifier };
            let flat_key = key::build(&row, b"cf", &qualifier, timestamp, type_code);
            CellRef::new(&flat_key, &value, &tags, sequence_id).to_cell()
        },
    )
}

prop_compose! {
    fn layout()(
        encoding in select(vec![
            DataBlockEncoding::None,
            DataBlockEncoding::Prefix,
            DataBlockEncoding::Diff,
            DataBlockEncoding::FastDiff,
            DataBlockEncoding::RowIndexV1,
        ]),
        compression in select(vec![
            Compression::None,
            Compression::None,
            Compression::Gz,
            Compression::Snappy,
            Compression::Lz4,
            Compression::Zstd,
        ]),
        bloom in select(vec![
            BloomType::None,
            BloomType::Row,
            BloomType::RowCol,
            BloomType::RowPrefixFixedLength,
        ]),
        comparator in select(vec![CellComparator::Default, CellComparator::Meta]),
        flags in any::<(bool, bool, bool)>(),
    ) -> HFileWriterOptions {
        HFileWriterOptions::default()
            .with_encoding(encoding)
            .with_compression(compression)
            .with_bloom(bloom)
            .with_comparator(comparator)
            .with_mvcc(flags.0)
            .with_tags(flags.1)
            .with_compressed_tags(flags.2)
    }
}

prop_compose! {
    fn options()(
        layout in layout(),
        block_size in select(vec![1_usize, 100, 1_000, 65_536]),
        bloom_prefix_length in 1_u32..6,
        bloom_block_size in select(vec![1_usize, 128, 131_072]),
        hash in select(vec![BloomHash::Jenkins, BloomHash::Murmur, BloomHash::Murmur3]),
        checksum in select(vec![ChecksumType::Null, ChecksumType::Crc32, ChecksumType::Crc32C]),
        bytes_per_checksum in select(vec![33_usize, 512, 16_384]),
        index_chunk_size in select(vec![1_usize, 100, 131_072]),
        index_min_entries in select(vec![1_usize, 2, 16]),
    ) -> HFileWriterOptions {
        layout
            .with_block_size(block_size)
            .with_bloom_prefix_length(bloom_prefix_length)
            .with_bloom_block_size(bloom_block_size)
            .with_hash(hash)
            .with_checksum(checksum)
            .with_bytes_per_checksum(bytes_per_checksum)
            .with_index_chunk_size(index_chunk_size)
            .with_index_min_entries(index_min_entries)
    }
}

/// Sorts the cells and removes what the file will not keep.
fn prepare(cells: &mut [Cell], options: &HFileWriterOptions) {
    for cell in cells.iter_mut() {
        let whole = cell.as_ref();
        let tags = if options.include_tags { whole.tags() } else { b"" };
        let sequence_id = if options.include_mvcc { whole.sequence_id() } else { 0 };
        *cell = CellRef::new(whole.key(), whole.value(), tags, sequence_id).to_cell();
    }
    cells.sort_by(|left, right| options.comparator.compare(&left.as_ref(), &right.as_ref()));
}

fn write(fs: &MemFileSystem, cells: &[Cell], options: &HFileWriterOptions) {
    let mut writer = HFileWriter::create(fs, Path::new("f"), options.clone()).unwrap();
    for cell in cells {
        writer.append(&cell.as_ref()).unwrap();
    }
    writer.append_file_info(b"foreign", b"value");
    let summary = writer.finish(&StoreFileInfo::default()).unwrap();
    assert_eq!(summary.cells, cells.len() as u64);
}

fn check_positions(reader: &Arc<HFileReader>, cells: &[Cell]) {
    let comparator = reader.comparator();
    let mut scanner = HFileScanner::new(reader.clone());
    assert_eq!(support::read_backwards(&mut scanner), cells);
    for key in support::keys_around(cells, 8) {
        let at = cells
            .partition_point(|cell| comparator.compare_keys(cell.as_ref().key(), &key).is_lt());
        scanner.seek(&key).unwrap();
        assert_eq!(scanner.current(), cells.get(at).map(Cell::as_ref));
        scanner.seek_before(&key).unwrap();
        let before = at.checked_sub(1).map(|index| cells[index].as_ref());
        assert_eq!(scanner.current(), before);
        scanner.seek_first().unwrap();
        scanner.reseek(&key).unwrap();
        assert_eq!(scanner.current(), cells.get(at).map(Cell::as_ref));
    }
}

fn check_questions(reader: &HFileReader, cells: &[Cell]) {
    for cell in cells {
        assert!(reader.may_contain_row(cell.row()).unwrap());
        assert!(reader.may_contain_column(cell.row(), cell.qualifier()).unwrap());
        if matches!(cell.as_ref().type_code(), 10 | 14) {
            assert!(reader.may_contain_delete_family(cell.row()).unwrap());
        }
    }
    let key = |cell: Option<&Cell>| cell.map(|cell| cell.as_ref().key().to_vec());
    assert_eq!(reader.first_key().map(<[u8]>::to_vec), key(cells.first()));
    assert_eq!(reader.last_key().map(<[u8]>::to_vec), key(cells.last()));
    assert_eq!(reader.mid_key().unwrap().is_some(), !cells.is_empty());
    assert_eq!(reader.file_info(b"foreign"), Some(b"value".as_slice()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_comes_back(mut cells in vec(cell(), 0..120), options in options()) {
        prepare(&mut cells, &options);
        let fs = MemFileSystem::new();
        write(&fs, &cells, &options);
        let cache = Some(Arc::new(BlockCache::new(40_000)));
        let [read, mapped] = support::WAYS;
        for (open, cache) in [(read, None), (read, cache.clone()), (mapped, cache)] {
            let reader = Arc::new(open(&fs, Path::new("f"), cache).unwrap());
            let scanned = support::scan(&reader);
            prop_assert_eq!(&scanned, &cells);
            for (scanned, cell) in scanned.iter().zip(&cells) {
                prop_assert_eq!(scanned.sequence_id(), cell.sequence_id());
            }
            check_positions(&reader, &cells);
            check_questions(&reader, &cells);
        }
    }
}

#[test]
fn every_codec_gives_back_blocks_of_every_encoding() {
    let cell = |row: u32| {
        let (row, value) = (format!("user{row:06}"), vec![row as u8; row as usize % 97]);
        let flat_key = key::build(row.as_bytes(), b"f", b"q", 5, CellType::Put.code());
        CellRef::new(&flat_key, &value, b"\0\x02\x08x", 7).to_cell()
    };
    let cells: Vec<Cell> = (0..2_000).map(cell).collect();
    let codecs = [
        Compression::None,
        Compression::Gz,
        Compression::Snappy,
        Compression::Lz4,
        Compression::Zstd,
    ];
    let encodings = [
        DataBlockEncoding::None,
        DataBlockEncoding::Prefix,
        DataBlockEncoding::Diff,
        DataBlockEncoding::FastDiff,
        DataBlockEncoding::RowIndexV1,
    ];
    for (compression, encoding) in
        codecs.iter().flat_map(|codec| encodings.map(|encoding| (*codec, encoding)))
    {
        let options = HFileWriterOptions::default()
            .with_compression(compression)
            .with_encoding(encoding)
            .with_tags(true)
            .with_compressed_tags(true)
            .with_block_size(8_192);
        let fs = MemFileSystem::new();
        write(&fs, &cells, &options);
        for (open, is_mapped) in support::WAYS.into_iter().zip([false, true]) {
            let cache = Arc::new(BlockCache::new(1 << 20));
            let reader = Arc::new(open(&fs, Path::new("f"), Some(cache.clone())).unwrap());
            for _ in 0..2 {
                assert_eq!(support::scan(&reader), cells, "{compression} {encoding}");
            }
            check_positions(&reader, &cells);
            let is_in_place = is_mapped
                && compression == Compression::None
                && matches!(encoding, DataBlockEncoding::None | DataBlockEncoding::RowIndexV1);
            assert_eq!(cache.hits() > 0, !is_in_place, "{compression} {encoding}");
        }
    }
}

/// In the order of hbase:meta the first and the last row of a block may share more bytes than a row
/// between them has.
#[test]
fn rows_of_meta_are_found_that_are_out_of_order_as_bytes() {
    let put = |row: &str| Cell::new(row.as_bytes(), b"f", b"q", 1, CellType::Put, b"v");
    let mut cells = vec![put("t,a,bbbbbbb"), put("t,a,bbbbbbb,c")];
    cells.extend((0..60).map(|id| put(&format!("t,a!,{id}"))));
    let options = HFileWriterOptions::default().with_comparator(CellComparator::Meta);
    prepare(&mut cells, &options);
    assert_eq!(cells[0].row(), b"t,a,bbbbbbb");
    assert_eq!(cells[61].row(), b"t,a,bbbbbbb,c");
    let fs = MemFileSystem::new();
    write(&fs, &cells, &options);
    check_positions(&support::open(&fs, Path::new("f")), &cells);
}

#[test]
fn what_no_file_can_hold_is_refused() {
    let fs = MemFileSystem::new();
    let put = |row: &[u8], family: &[u8], tags: &[u8]| {
        let flat_key = key::build(row, family, b"q", 1, 4);
        CellRef::new(&flat_key, b"v", tags, 0).to_cell()
    };
    let create = |name: &str, options| HFileWriter::create(&fs, Path::new(name), options);
    let mut writer = create("plain", HFileWriterOptions::default()).unwrap();
    writer.append(&put(b"b", b"f", b"").as_ref()).unwrap();
    let error = writer.append(&put(b"a", b"f", b"").as_ref()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().starts_with("Added a key not lexically larger than previous."));
    let error = writer.append(&put(b"c", b"f", b"\0\x02\x08x").as_ref()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);

    let tagged =
        HFileWriterOptions::default().with_encoding(DataBlockEncoding::Diff).with_tags(true);
    let mut writer = create("tagged", tagged).unwrap();
    writer.append(&put(b"a", b"f", b"\0\x02\x08x").as_ref()).unwrap();
    for refused in [put(b"b", b"f", b"\0\x09\x08x"), put(b"b", b"g", b"")] {
        assert_eq!(
            writer.append(&refused.as_ref()).unwrap_err().kind(),
            ErrorKind::InvalidArgument
        );
    }
    assert!(create("tagged", HFileWriterOptions::default()).is_err(), "it is there already");

    let refused: [fn(&mut HFileWriterOptions); 4] = [
        |options| options.bytes_per_checksum = 32,
        |options| options.bloom_error_rate = 0.0,
        |options| options.bloom = BloomType::RowPrefixFixedLength,
        |options| options.block_size = usize::MAX,
    ];
    for change in refused {
        let mut options = HFileWriterOptions::default();
        change(&mut options);
        assert_eq!(create("refused", options).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    let lzo = HFileWriterOptions::default().with_compression(Compression::Lzo);
    assert_eq!(create("lzo", lzo).unwrap_err().kind(), ErrorKind::Unsupported);
}
