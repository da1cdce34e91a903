//! Files that another implementation has written, and broken ones.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, GzipLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use proptest::prelude::*;

use super::*;

const SCHEMA: &str = "message m {
    required binary host (STRING);
    optional int64 at (TIMESTAMP(MICROS, true));
    optional binary kind (STRING);
    required int32 n (INTEGER(32, false));
    required boolean ok;
    required binary raw;
    required fixed_len_byte_array(16) id (UUID);
    required int64 price (DECIMAL(18, 2));
    required int32 day (DATE);
    required int96 old;
    required double level;
    optional group nested { required int32 inside; }
}";

/// The columns that are not nested.
const COLUMNS: [&str; 11] =
    ["host", "at", "kind", "n", "ok", "raw", "id", "price", "day", "old", "level"];

const ROWS: usize = 1_000;

fn host(index: usize) -> String {
    format!("host{:03}", index * 7919 % 97)
}

/// The text of each value of a row, computed here.
fn expected(index: usize) -> Vec<String> {
    let at = 1_700_000_000_000 + index as u64 * 250;
    vec![
        host(index),
        if index.is_multiple_of(10) { String::new() } else { at.to_string() },
        if index.is_multiple_of(3) { String::new() } else { format!("k{}", index % 4) },
        (u32::MAX - index as u32).to_string(),
        index.is_multiple_of(7).to_string(),
        format!("a\\x00\\x{:02X}", 0x80 | (index % 16)),
        format!("00000000-0000-0000-0000-{index:012x}"),
        format!("-{}.{:02}", index / 100, index % 100).replacen("-0.00", "0.00", 1),
        (19_000_u64 * 86_400_000 + index as u64 * 86_400_000).to_string(),
        (1_700_006_400_000_u64 + index as u64).to_string(),
        format!("{}", index as f64 / 4.0),
    ]
}

fn present<T>(values: impl Iterator<Item = Option<T>>) -> (Vec<T>, Vec<i16>) {
    let values: Vec<Option<T>> = values.collect();
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (values.into_iter().flatten().collect(), levels)
}

fn write_column(name: &str, writer: &mut ColumnWriter<'_>, from: usize, to: usize) {
    let rows = || from..to;
    let text = |text: String| ByteArray::from(text.as_str());
    match (name, writer) {
        ("host", ColumnWriter::ByteArrayColumnWriter(writer)) => {
            let values: Vec<_> = rows().map(|index| text(host(index))).collect();
            writer.write_batch(&values, None, None).unwrap();
        }
        ("at", ColumnWriter::Int64ColumnWriter(writer)) => {
            let at = |index: usize| (1_700_000_000_000 + index as i64 * 250) * 1_000;
            let (values, levels) =
                present(rows().map(|index| (index % 10 != 0).then(|| at(index))));
            writer.write_batch(&values, Some(&levels), None).unwrap();
        }
        ("kind", ColumnWriter::ByteArrayColumnWriter(writer)) => {
            let kind = |index| (index % 3 != 0).then(|| text(format!("k{}", index % 4)));
            let (values, levels) = present(rows().map(kind));
            writer.write_batch(&values, Some(&levels), None).unwrap();
        }
        ("n", ColumnWriter::Int32ColumnWriter(writer)) => {
            let values: Vec<_> = rows().map(|index| (u32::MAX - index as u32) as i32).collect();
            writer.write_batch(&values, None, None).unwrap();
        }
        ("ok", ColumnWriter::BoolColumnWriter(writer)) => {
            let values: Vec<_> = rows().map(|index| index % 7 == 0).collect();
            writer.write_batch(&values, None, None).unwrap();
        }
        ("raw", ColumnWriter::ByteArrayColumnWriter(writer)) => {
            let raw = |index| ByteArray::from(vec![b'a', 0, 0x80 | (index % 16) as u8]);
            let values: Vec<_> = rows().map(raw).collect();
            writer.write_batch(&values, None, None).unwrap();
        }
        ("id", ColumnWriter::FixedLenByteArrayColumnWriter(writer)) => {
            let id = |index: usize| FixedLenByteArray::from((index as u128).to_be_bytes().to_vec());
            let values: Vec<_> = rows().map(id).collect();
            writer.write_batch(&values, None, None).unwrap();
        }
        ("price", ColumnWriter::Int64ColumnWriter(writer)) => {
            let values: Vec<_> = rows().map(|index| -(index as i64)).collect();
            writer.write_batch(&values, None, None).unwrap();
        }
        ("day", ColumnWriter::Int32ColumnWriter(writer)) => {
            let values: Vec<_> = rows().map(|index| 19_000 + index as i32).collect();
            writer.write_batch(&values, None, None).unwrap();
        }
        ("old", ColumnWriter::Int96ColumnWriter(writer)) => {
            let nanos = |index: usize| {
                let mut value = Int96::new();
                let nanos = index as u64 * 1_000_000;
                value.set_data(nanos as u32, (nanos >> 32) as u32, 2_440_588 + 19_676);
                value
            };
            let values: Vec<_> = rows().map(nanos).collect();
            writer.write_batch(&values, None, None).unwrap();
        }
        ("level", ColumnWriter::DoubleColumnWriter(writer)) => {
            let values: Vec<_> = rows().map(|index| index as f64 / 4.0).collect();
            writer.write_batch(&values, None, None).unwrap();
        }
        ("inside", ColumnWriter::Int32ColumnWriter(writer)) => {
            let levels: Vec<i16> = rows().map(|_| 0).collect();
            writer.write_batch(&[], Some(&levels), None).unwrap();
        }
        (name, _) => panic!("no values for {name}"),
    }
}

/// A file with two row groups.
fn file(properties: WriterProperties) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    for (from, to) in [(0, 600), (600, ROWS)] {
        let mut group = writer.next_row_group().unwrap();
        for name in COLUMNS.into_iter().chain(["inside"]) {
            let mut column = group.next_column().unwrap().unwrap();
            write_column(name, column.untyped(), from, to);
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn builder() -> parquet::file::properties::WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(50)
}

fn parsed(bytes: &[u8]) -> std::result::Result<Table, String> {
    read(bytes).map_err(|BadRecords(reason)| reason)
}

fn check(properties: WriterProperties) {
    let table = parsed(&file(properties)).unwrap();
    assert_eq!(table.len(), ROWS);
    assert_eq!(table.fields(), COLUMNS);
    for (index, row) in table.rows.iter().enumerate() {
        assert_eq!(*row, expected(index), "row {index}");
    }
}

#[test]
fn values_become_text_under_every_compression_and_version() {
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4_RAW,
    ];
    for compression in compressions {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            check(builder().set_compression(compression).set_writer_version(version).build());
        }
    }
}

#[test]
fn values_are_read_under_every_encoding() {
    check(builder().set_dictionary_enabled(false).build());
    let encodings = [
        (Encoding::DELTA_BINARY_PACKED, &["at", "n", "price", "day"][..]),
        (Encoding::DELTA_LENGTH_BYTE_ARRAY, &["host", "kind", "raw"]),
        (Encoding::DELTA_BYTE_ARRAY, &["host", "kind", "raw", "id"]),
        (Encoding::BYTE_STREAM_SPLIT, &["n", "at", "id", "level"]),
    ];
    for (encoding, columns) in encodings {
        let plain = builder().set_dictionary_enabled(false);
        let properties = columns.iter().fold(plain, |properties, name| {
            properties.set_column_encoding(ColumnPath::from(*name), encoding)
        });
        check(properties.build());
    }
}

#[test]
fn a_broken_file_is_an_error_that_says_what_is_wrong() {
    let good = file(builder().build());
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        parsed(&bytes).unwrap_err()
    };
    let length = good.len();
    for (reason, change) in [
        ("too short", &(|bytes: &mut Vec<u8>| bytes.truncate(3)) as &dyn Fn(&mut Vec<u8>)),
        ("does not end with PAR1", &|bytes| bytes.truncate(length / 2)),
        ("encrypted", &|bytes| bytes[length - 1] = b'E'),
        ("the footer is longer", &|bytes| bytes[length - 8..length - 4].fill(0xFF)),
        ("footer: ", &|bytes| bytes[length - 8..length - 4].copy_from_slice(&[1, 0, 0, 0])),
    ] {
        let error = changed(change);
        assert!(error.contains(reason), "{error}");
    }
    // The data are gone, the footer remains.
    let error = changed(&|bytes| drop(bytes.drain(4..length / 2)));
    assert!(error.contains("row group 1, column") || error.contains("beyond the end"), "{error}");
}

/// Sizes that a few bytes declare take no memory.
#[test]
fn declared_sizes_are_checked_before_memory_is_taken() {
    // 2^31 - 1 children, a list of 2^32 elements, a text of 4 GiB.
    for footer in [
        &b"\x15\x02\x19\x1C\x48\x01m\x15\xFE\xFF\xFF\xFF\x0F\x00\x00"[..],
        b"\x15\x02\x19\xFC\xFF\xFF\xFF\xFF\x0F\x00",
        b"\x28\xFF\xFF\xFF\xFF\x0F",
    ] {
        let mut bytes = b"PAR1".to_vec();
        bytes.extend_from_slice(footer);
        bytes.extend_from_slice(&(footer.len() as u32).to_le_bytes());
        bytes.extend_from_slice(b"PAR1");
        let error = parsed(&bytes).unwrap_err();
        assert!(error.starts_with("footer: "), "{error}");
    }
    // A page that declares 2 GiB, and one that is a gzip bomb of 1 MiB for 10 bytes.
    let error = declared(i32::MAX, b"", 1).unwrap_err();
    assert!(error.contains("larger than 256 MiB"), "{error}");
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut bomb, &vec![0; 1 << 20]).unwrap();
    let error = declared(10, &bomb.finish().unwrap(), 2).unwrap_err();
    assert!(error.contains("the 10 bytes that it declares"), "{error}");
    let error = declared(i32::MAX >> 4, b"\xFF\xFF\xFF\xFF\x07", 1).unwrap_err();
    assert!(error.contains("bytes that it declares"), "{error}");
}

/// The bytes of a data page of one value that declares its size.
fn declared(size: i32, compressed: &[u8], codec: i64) -> std::result::Result<Vec<u8>, String> {
    let zigzag = |value: i32| varint((value as u64) << 1);
    let mut chunk = vec![0x15, 0x00, 0x15];
    chunk.extend(zigzag(size));
    chunk.push(0x15);
    chunk.extend(zigzag(compressed.len() as i32));
    chunk.extend([0x2C, 0x15, 0x02, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x00, 0x00]);
    chunk.extend_from_slice(compressed);
    let mut bytes = Vec::new();
    let read = page::for_each_page(&chunk, codec, |page| {
        bytes = page.bytes;
        Ok(())
    });
    read.map(|()| bytes).map_err(|Bad(reason)| reason)
}

/// The writer of the other tests is built without C code.
#[cfg(feature = "zstd")]
#[test]
fn pages_under_zstd_are_read_up_to_their_size() {
    let text = b"what was compressed";
    let compressed = zstd::encode_all(&text[..], 0).unwrap();
    assert_eq!(declared(text.len() as i32, &compressed, 6).unwrap(), text);
    let error = declared(10, &compressed, 6).unwrap_err();
    assert!(error.contains("the 10 bytes that it declares"), "{error}");
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

proptest! {
    /// Any change of bytes gives records or an error, and any cut an error.
    #[test]
    fn damaged_files_do_not_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        kind in 0..4_usize,
    ) {
        static FILES: std::sync::OnceLock<Vec<Vec<u8>>> = std::sync::OnceLock::new();
        let files = FILES.get_or_init(|| {
            let v2 = || builder().set_writer_version(WriterVersion::PARQUET_2_0);
            vec![
                file(builder().build()),
                file(builder().set_compression(Compression::SNAPPY).build()),
                file(v2().set_dictionary_enabled(false).build()),
                file(v2().set_compression(Compression::LZ4_RAW).build()),
            ]
        });
        let mut bytes = files[kind].clone();
        let length = bytes.len();
        for (place, byte) in changes {
            bytes[place.index(length)] = byte;
        }
        let _ = parsed(&bytes);
        prop_assert!(parsed(&files[kind][..cut.index(length)]).is_err());
    }
}
