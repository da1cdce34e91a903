//! Checks every block from the front to the trailer, whether or not anything points to it.
//!
//! ```text
//! data, leaf index, Bloom chunk | meta | intermediate index | root, root, info, Bloom metas
//! scanned                         non-scanned                  load-on-open
//! ```
//!
//! Payloads of data blocks are left to `cells`, which needs them anyway.

use hblite_model::DataBlockEncoding;

use super::{Checked, DefectKind, check, defect};
use crate::block::{BlockHeader, BlockType, HEADER_SIZE};
use crate::reader::HFileReader;
use crate::trailer::TRAILER_SIZE;

/// Offset and on-disk size.
pub(super) type Place = (u64, u32);

/// Where the blocks of a file are.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    by_type: [Vec<Place>; BlockType::COUNT],
    /// Uncompressed bytes as the trailer counts them.
    total: u64,
    /// Uncompressed payload bytes of the data index.
    index: u64,
}

/// The section of the file with blocks of this type.
fn section(block_type: BlockType) -> u32 {
    match block_type {
        BlockType::Data | BlockType::EncodedData | BlockType::LeafIndex | BlockType::BloomChunk => {
            0
        }
        BlockType::Meta => 1,
        BlockType::IntermediateIndex => 2,
        BlockType::RootIndex
        | BlockType::FileInfo
        | BlockType::GeneralBloomMeta
        | BlockType::DeleteFamilyBloomMeta => 3,
    }
}

impl Blocks {
    /// Iterates over the whole file.
    pub(super) fn walk(reader: &HFileReader) -> Checked<Self> {
        let mut blocks = Self { total: TRAILER_SIZE as u64, ..Self::default() };
        let mut last_section = 0;
        for item in reader.block_headers() {
            let (offset, header) = item?;
            let section = section(header.block_type);
            check(reader, section >= last_section, DefectKind::Blocks, offset, || {
                format!("{} block after its section", header.block_type.name())
            })?;
            last_section = section;
            blocks.add(reader, offset, &header)?;
        }
        blocks.check_trailer(reader)?;
        Ok(blocks)
    }

    fn add(&mut self, reader: &HFileReader, offset: u64, header: &BlockHeader) -> Checked<()> {
        let block_type = header.block_type;
        self.check_chain(reader, offset, header)?;
        let is_data = matches!(block_type, BlockType::Data | BlockType::EncodedData);
        if is_data {
            let is_encoded = reader.encoding() != DataBlockEncoding::None;
            let fits = is_encoded == (block_type == BlockType::EncodedData);
            check(reader, fits, DefectKind::Blocks, offset, || {
                format!("{} block in a file with {}", block_type.name(), reader.encoding())
            })?;
        } else {
            reader.file().read(offset, &[block_type], None)?;
        }
        let is_data_root = block_type == BlockType::RootIndex && self.of(block_type).is_empty();
        let size = header.uncompressed_size as u64;
        if is_data_root || block_type == BlockType::IntermediateIndex {
            self.index += size;
        } else {
            self.total += HEADER_SIZE as u64 + size;
            self.index += if block_type == BlockType::LeafIndex { size } else { 0 };
        }
        let place = (offset, header.on_disk_size() as u32);
        self.by_type[block_type as usize].push(place);
        Ok(())
    }

    /// Checks the offset by which HBase steps back from one data block to the previous one.
    fn check_chain(&self, reader: &HFileReader, offset: u64, header: &BlockHeader) -> Checked<()> {
        let chain = BlockType::ALL.into_iter().filter(|t| t.chain() == header.block_type.chain());
        let last = chain.filter_map(|block_type| self.of(block_type).last()).max();
        let expected = last.map_or(-1, |(offset, _)| *offset as i64);
        let found = header.previous_offset;
        check(reader, found == expected, DefectKind::Blocks, offset, || {
            let name = header.block_type.name();
            format!("{name} block gives {found} as the previous offset, but it is {expected}")
        })
    }

    fn check_trailer(&self, reader: &HFileReader) -> Checked<()> {
        let trailer = reader.trailer();
        let end = reader.file().end();
        let root = self.of(BlockType::RootIndex).first().map(|(offset, _)| *offset);
        let data = self.data();
        let number = |place: Option<&Place>| place.map_or(-1, |(offset, _)| *offset as i64);
        let numbers = [
            ("load-on-open offset", trailer.load_on_open_data_offset as i64, {
                root.map_or(-1, |root| root as i64)
            }),
            ("first data block offset", trailer.first_data_block_offset, number(data.first())),
            ("last data block offset", trailer.last_data_block_offset, number(data.last())),
            (
                "uncompressed data index size",
                trailer.uncompressed_data_index_size as i64,
                self.index as i64,
            ),
            (
                "total uncompressed bytes",
                trailer.total_uncompressed_bytes as i64,
                self.total as i64,
            ),
        ];
        for (name, found, expected) in numbers {
            check(reader, found == expected, DefectKind::Trailer, end, || {
                format!("trailer gives {found} as {name}, but it is {expected}")
            })?;
        }
        Ok(())
    }

    /// Checks that the meta index names every meta block, sorted by name.
    pub(super) fn check_meta_index(&self, reader: &HFileReader) -> Checked<()> {
        let mut last: Option<&[u8]> = None;
        let mut places = Vec::new();
        let root = self.of(BlockType::RootIndex).last().map_or(0, |(offset, _)| *offset);
        for entry in reader.meta_index() {
            let (name, offset, size) = entry?;
            check(
                reader,
                last.is_none_or(|last| last < name),
                DefectKind::MetaIndex,
                root,
                || "names in the meta index are not sorted".to_owned(),
            )?;
            last = Some(name);
            places.push((offset, size));
        }
        places.sort_unstable();
        if places != self.of(BlockType::Meta) {
            let message = "the meta index does not name the meta blocks".to_owned();
            return Err(defect(reader, DefectKind::MetaIndex, root, message));
        }
        Ok(())
    }

    /// Blocks of one type, front to back.
    pub(super) fn of(&self, block_type: BlockType) -> &[Place] {
        &self.by_type[block_type as usize]
    }

    /// Blocks with cells, front to back.
    pub(super) fn data(&self) -> &[Place] {
        // A file has one of the two.
        match self.of(BlockType::EncodedData) {
            [] => self.of(BlockType::Data),
            encoded => encoded,
        }
    }

    /// Number of blocks.
    pub(super) fn count(&self) -> u64 {
        self.by_type.iter().map(|places| places.len() as u64).sum()
    }
}
