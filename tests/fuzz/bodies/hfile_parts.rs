//! HFiles without checksums in which bytes are changed: blocks of every encoding and codec, index
//! nodes, Bloom chunks, file info and trailer. If the file opens, every operation of a reader is
//! tried.
//!
//! The first byte selects the file. Each further three bytes are a position, counted from the end
//! if the highest bit is set, and the byte to write there.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use hblite_env::{FileSystem as _, MemFileSystem};
use hblite_hfile::verify::verify_reader;
use hblite_hfile::{
    ChecksumType, HFileReader, HFileScanner, HFileWriter, HFileWriterOptions, StoreFileInfo,
};
use hblite_model::{BloomType, Cell, CellType, Compression, DataBlockEncoding, Result};

const PATH: &str = "file";
const FROM_END: usize = 0x8000;

static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let encodings = [
        (Compression::None, DataBlockEncoding::None),
        (Compression::None, DataBlockEncoding::Prefix),
        (Compression::None, DataBlockEncoding::Diff),
        (Compression::None, DataBlockEncoding::FastDiff),
        (Compression::None, DataBlockEncoding::RowIndexV1),
        (Compression::Gz, DataBlockEncoding::None),
        (Compression::Snappy, DataBlockEncoding::None),
        (Compression::Lz4, DataBlockEncoding::FastDiff),
        (Compression::Zstd, DataBlockEncoding::None),
    ];
    encodings.into_iter().map(|(codec, encoding)| write(codec, encoding)).collect()
});

fn write(compression: Compression, encoding: DataBlockEncoding) -> Vec<u8> {
    let fs = MemFileSystem::new();
    let options = HFileWriterOptions::default()
        .with_compression(compression)
        .with_encoding(encoding)
        .with_checksum(ChecksumType::Null)
        .with_bloom(BloomType::RowCol)
        .with_block_size(300)
        .with_bloom_block_size(64)
        .with_index_chunk_size(128)
        .with_index_min_entries(2)
        .with_tags(true);
    let mut writer = HFileWriter::create(&fs, Path::new(PATH), options).expect("a file");
    for number in 0..80_u32 {
        let row = format!("row{number:03}");
        let value = format!("{number:>20}");
        let cell = Cell::new(row.as_bytes(), b"f", b"q", 5, CellType::Put, value.as_bytes());
        writer.append(&cell.as_ref()).expect("sorted");
    }
    writer.finish(&StoreFileInfo::default()).expect("memory");
    fs.read(Path::new(PATH)).expect("a file")
}

pub(crate) fn run(data: &[u8]) {
    let Some((first, changes)) = data.split_first() else { return };
    let mut file = FILES[usize::from(*first) % FILES.len()].clone();
    for [high, low, byte] in changes.as_chunks().0 {
        let place = usize::from(u16::from_be_bytes([*high, *low]));
        let length = file.len();
        let at = match place < FROM_END {
            true => place % length,
            false => length - 1 - (place - FROM_END) % length,
        };
        file[at] = *byte;
    }
    let fs = MemFileSystem::new();
    let mut created = fs.create(Path::new(PATH)).expect("a file");
    created.write_all(&file).expect("memory");
    let _ = read(&fs);
}

fn read(fs: &MemFileSystem) -> Result<()> {
    let reader = Arc::new(HFileReader::open(fs, Path::new(PATH), None)?);
    let _ = verify_reader(&reader);
    let _ = reader.mid_key();
    let _ = reader.may_contain_row(b"row007");
    let _ = reader.may_contain_column(b"row007", b"q");
    let _ = reader.may_contain_delete_family(b"row007");
    let mut scanner = HFileScanner::new(reader);
    let mut keys = Vec::new();
    let mut is_at_cell = scanner.seek_first()?;
    while is_at_cell {
        let cell = scanner.current().expect("a cell where the scanner stands").to_cell();
        keys.push(cell.as_ref().key().to_vec());
        is_at_cell = scanner.next()?;
    }
    is_at_cell = scanner.seek_last()?;
    while is_at_cell {
        is_at_cell = scanner.prev()?;
    }
    for key in keys.iter().step_by(11) {
        scanner.seek(key)?;
        scanner.seek_before(key)?;
        scanner.reseek(key)?;
    }
    Ok(())
}
