//! The types of blocks and their magics.

/// What a block holds (`BlockType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockType {
    /// Cells without encoding.
    Data,
    /// Encoded cells.
    EncodedData,
    /// Index of data blocks, lowest level.
    LeafIndex,
    /// One chunk of a Bloom filter.
    BloomChunk,
    /// Whatever a caller stored under a name.
    Meta,
    /// Index between root and leaves.
    IntermediateIndex,
    /// Root of the data index, and the meta index.
    RootIndex,
    /// File info.
    FileInfo,
    /// Where the chunks of the general Bloom filter are.
    GeneralBloomMeta,
    /// Where the chunks of the delete family Bloom filter are.
    DeleteFamilyBloomMeta,
}

/// Bytes of a magic.
pub(crate) const MAGIC_SIZE: usize = 8;

const MAGICS: [(BlockType, &[u8; MAGIC_SIZE]); 10] = [
    (BlockType::Data, b"DATABLK*"),
    (BlockType::EncodedData, b"DATABLKE"),
    (BlockType::LeafIndex, b"IDXLEAF2"),
    (BlockType::BloomChunk, b"BLMFBLK2"),
    (BlockType::Meta, b"METABLKc"),
    (BlockType::IntermediateIndex, b"IDXINTE2"),
    (BlockType::RootIndex, b"IDXROOT2"),
    (BlockType::FileInfo, b"FILEINF2"),
    (BlockType::GeneralBloomMeta, b"BLMFMET2"),
    (BlockType::DeleteFamilyBloomMeta, b"DFBLMET2"),
];

impl BlockType {
    /// Number of types.
    pub(crate) const COUNT: usize = MAGICS.len();

    /// All types.
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::Data,
        Self::EncodedData,
        Self::LeafIndex,
        Self::BloomChunk,
        Self::Meta,
        Self::IntermediateIndex,
        Self::RootIndex,
        Self::FileInfo,
        Self::GeneralBloomMeta,
        Self::DeleteFamilyBloomMeta,
    ];

    /// The first eight bytes of a block of this type.
    pub fn magic(self) -> &'static [u8; MAGIC_SIZE] {
        MAGICS[self as usize].1
    }

    /// HBase's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "DATA",
            Self::EncodedData => "ENCODED_DATA",
            Self::LeafIndex => "LEAF_INDEX",
            Self::BloomChunk => "BLOOM_CHUNK",
            Self::Meta => "META",
            Self::IntermediateIndex => "INTERMEDIATE_INDEX",
            Self::RootIndex => "ROOT_INDEX",
            Self::FileInfo => "FILE_INFO",
            Self::GeneralBloomMeta => "GENERAL_BLOOM_META",
            Self::DeleteFamilyBloomMeta => "DELETE_FAMILY_BLOOM_META",
        }
    }

    /// The type with this magic.
    pub(crate) fn from_magic(magic: &[u8]) -> Option<Self> {
        MAGICS.iter().find(|(_, known)| known.as_slice() == magic).map(|(kind, _)| *kind)
    }

    /// The type that names the chain of previous offsets that a block of this type is in: plain and
    /// encoded data blocks share one.
    pub(crate) fn chain(self) -> Self {
        if self == Self::EncodedData { Self::Data } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_magic_names_its_type() {
        for (position, (block_type, magic)) in MAGICS.iter().enumerate() {
            assert_eq!(*block_type as usize, position);
            assert_eq!(*block_type, BlockType::ALL[position]);
            assert_eq!(BlockType::from_magic(*magic), Some(*block_type));
        }
        assert_eq!(BlockType::from_magic(b"DATABLK?"), None);
    }
}
