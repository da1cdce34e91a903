//! Cell blocks, plain and compressed. Never allocates more than the room granted.

use hblite_wire::cell_block::{CellReader, Codec, Compressor};
use hblite_wire::memory::Room;

/// Most bytes that a compressed block may become, and for how many there is room.
const SIZE_MAX: usize = 1 << 20;
const ROOM: usize = 1 << 19;

pub(crate) fn run(data: &[u8]) {
    cells(data);
    for name in ["Gzip", "Lz4", "Snappy"] {
        let name = format!("org.apache.hadoop.io.compress.{name}Codec");
        let compressor = Compressor::from_class_name(&name).expect("a known name");
        let mut room = Room::of(ROOM);
        if let Ok(Some(plain)) = compressor.decompress(data, SIZE_MAX, &mut room) {
            assert!(plain.capacity() <= ROOM);
            let packed = compressor.compress(&plain).expect("memory");
            let again = compressor.decompress(&packed, SIZE_MAX, &mut Room::of(2 * SIZE_MAX));
            assert_eq!(again.expect("its own"), Some(plain));
        }
    }
}

/// What is read from a block, written again, is what was read.
fn cells(block: &[u8]) {
    let mut reader = CellReader::new(block);
    let mut again = Vec::new();
    while let Ok(cell) = reader.next_cell() {
        let _ = (cell.row(), cell.family(), cell.qualifier(), cell.value(), cell.timestamp());
        let before = again.len();
        Codec::KeyValueWithTags.push(&mut again, &cell);
        assert_eq!(again.len() - before, Codec::KeyValueWithTags.size_of(&cell));
    }
    assert!(again.len() <= block.len());
    let _ = CellReader::new(block).skip(block.len());
}
