//! The marker: the file `hblite.store`, by which hblite recognizes its own directories.
//!
//! ```text
//! ┌────────────┬─────────┬───────┬────────────┬───────┐
//! │ "hbliteST" │ u32     │ u32   │ store id   │ u32   │
//! │            │ version │ flags │            │ crc32 │
//! │            │ 1       │       │            │       │
//! │ 8          │ 4       │ 4     │ 16         │ 4     │
//! └────────────┴─────────┴───────┴────────────┴───────┘
//! flags      bit 0: hbase:meta has had a store file
//! ```
//!
//! All numbers are big-endian. The checksum covers everything before it. HBase ignores the file.
//!
//! The marker repeats the id in `hbase.id`. The two files therefore reveal a mixture of two stores,
//! and each can be restored from the other.
//!
//! Bit 0 distinguishes a new store from one that has lost its catalog. A new store keeps the rows
//! of hbase:meta only in the log. The bit is set, durably, before the log may drop them; from then
//! on an hbase:meta without files is damage.

use hblite_model::{Error, Exception, Result};
use std::path::Path;

use super::StoreId;

const MAGIC: [u8; 8] = *b"hbliteST";
const VERSION: u32 = 1;
const CATALOG_HAS_FILES: u32 = 1;
const CHECKSUM_OFFSET: usize = SIZE - 4;
/// Bytes of the file.
pub(super) const SIZE: usize = 36;
const _: () = assert!(SIZE == MAGIC.len() + 4 + 4 + StoreId::SIZE + 4);

/// What the marker says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) store_id: StoreId,
    /// Whether hbase:meta has had a store file, so that its rows are not only in the log.
    pub(crate) catalog_has_files: bool,
}

impl Marker {
    pub(super) fn encode(&self) -> [u8; SIZE] {
        let flags = if self.catalog_has_files { CATALOG_HAS_FILES } else { 0 };
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_be_bytes());
        bytes[12..16].copy_from_slice(&flags.to_be_bytes());
        bytes[16..32].copy_from_slice(self.store_id.as_bytes());
        let checksum = crc32fast::hash(&bytes[..CHECKSUM_OFFSET]);
        bytes[CHECKSUM_OFFSET..].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    /// The marker with this content; `None` if it may be the remains of a power cut.
    ///
    /// # Errors
    /// `CorruptHFile` for anything else that is not a marker; `UnsupportedOperation` for the
    /// marker of a later version of hblite.
    pub(super) fn decode(path: &Path, content: &[u8]) -> Result<Option<Self>> {
        let corrupt = |what: String| Err(Error::corrupt(Exception::CorruptHFile, path, 0, what));
        let is_cut = content.len() < SIZE && content.iter().zip(MAGIC).all(|(l, r)| *l == r);
        if is_cut || (content.len() <= SIZE && content.iter().all(|byte| *byte == 0)) {
            return Ok(None);
        }
        let Ok(bytes) = <&[u8; SIZE]>::try_from(content) else {
            let length = content.len();
            return corrupt(format!(
                "the marker of a store has {SIZE} bytes, and this file {length}"
            ));
        };
        let u32_at = |at: usize| {
            let mut field = [0; 4];
            field.copy_from_slice(&bytes[at..at + 4]);
            u32::from_be_bytes(field)
        };
        if bytes[..8] != MAGIC {
            return corrupt("not the marker of a store: wrong magic".to_owned());
        }
        let (stored, computed) =
            (u32_at(CHECKSUM_OFFSET), crc32fast::hash(&bytes[..CHECKSUM_OFFSET]));
        if stored != computed {
            return corrupt(format!("its checksum is {computed:#010x}, expected {stored:#010x}"));
        }
        let (version, flags) = (u32_at(8), u32_at(12));
        if version != VERSION || flags & !CATALOG_HAS_FILES != 0 {
            let message = format!(
                "{}: a later version of hblite wrote this store (version {version}, flags \
                 {flags:#x}); open it with that version",
                path.display()
            );
            return Err(Error::new(Exception::UnsupportedOperation, message));
        }
        let mut store_id = [0; StoreId::SIZE];
        store_id.copy_from_slice(&bytes[16..32]);
        let catalog_has_files = flags & CATALOG_HAS_FILES != 0;
        Ok(Some(Self { store_id: StoreId::from_bytes(store_id), catalog_has_files }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hblite_model::ErrorKind;

    fn marker() -> Marker {
        let store_id = "ca9fced8-4350-477d-9b81-eaf32ebf7024".parse().unwrap();
        Marker { store_id, catalog_has_files: true }
    }

    fn decode(content: &[u8]) -> Result<Option<Marker>> {
        Marker::decode(Path::new("/d/hblite.store"), content)
    }

    #[test]
    fn a_marker_comes_back_and_any_flipped_bit_is_noticed() {
        for catalog_has_files in [false, true] {
            let marker = Marker { catalog_has_files, ..marker() };
            assert_eq!(decode(&marker.encode()).unwrap(), Some(marker));
        }
        let bytes = marker().encode();
        for bit in 0..SIZE * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            let error = decode(&damaged).unwrap_err();
            assert_eq!(error.file(), Some(Path::new("/d/hblite.store")), "bit {bit}");
        }
    }

    #[test]
    fn what_a_power_cut_leaves_is_no_damage() {
        let bytes = marker().encode();
        for length in 0..SIZE {
            assert_eq!(decode(&bytes[..length]).unwrap(), None, "{length}");
            assert_eq!(decode(&vec![0; length]).unwrap(), None, "{length}");
        }
        assert_eq!(decode(&[0; SIZE]).unwrap(), None);
        for strange in [&b"my own file"[..], &[0; SIZE + 1], &[&bytes[..], b"x"].concat()] {
            assert_eq!(decode(strange).unwrap_err().kind(), ErrorKind::Corrupt, "{strange:?}");
        }
    }

    #[test]
    fn a_later_version_is_refused_as_such() {
        for at in [11, 15] {
            let mut bytes = marker().encode();
            bytes[at] += 2;
            let checksum = crc32fast::hash(&bytes[..CHECKSUM_OFFSET]);
            bytes[CHECKSUM_OFFSET..].copy_from_slice(&checksum.to_be_bytes());
            let error = decode(&bytes).unwrap_err();
            assert_eq!(error.exception(), Exception::UnsupportedOperation, "{error}");
        }
    }
}
