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
//!            bit 1: hbase:meta has a manifest
//!            bit 2: the log has a head
//! ```
//!
//! All numbers are big-endian. The checksum covers everything before it. HBase ignores the file.
//!
//! The marker repeats the id in `hbase.id`. The two files therefore reveal a mixture of two stores,
//! and each can be restored from the other.
//!
//! Bit 0 distinguishes a new store from one that has lost its catalog. A new store keeps the rows
//! of hbase:meta only in the log. The bit is set, durably, before the log may drop them; from then
//! on an hbase:meta without files is damage. Bit 1 is set, durably, after the first manifest of
//! hbase:meta is durable. hbase:meta says the same of every other region (see
//! `store/manifest.rs`).
//!
//! Bit 2 is set, durably, after the first head of the log is durable, and before the log has a
//! record. `hbase.version` says whether the store was closed: if not, and the head is missing, the
//! log was lost. A closed store is in its files and needs no log. With any bit set, the directory
//! was not left by an interrupted creation.

use std::path::Path;

use hblite_env::FileSystem;
use hblite_model::{Error, Exception, RegionInfo, Result};

use super::{Layout, StoreId};
use crate::files::list;

const MAGIC: [u8; 8] = *b"hbliteST";
const VERSION: u32 = 1;
const CATALOG_HAS_FILES: u32 = 1;
const CATALOG_IS_LISTED: u32 = 2;
const HAS_LOG: u32 = 4;
const FLAGS: u32 = CATALOG_HAS_FILES | CATALOG_IS_LISTED | HAS_LOG;
const CHECKSUM_OFFSET: usize = SIZE - 4;
/// Bytes of the file.
pub(super) const SIZE: usize = 36;
const _: () = assert!(SIZE == MAGIC.len() + 4 + 4 + StoreId::SIZE + 4);

/// What the marker says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) store_id: StoreId,
    /// Whether hbase:meta has had a store file, so that its rows are not only in the log.
    pub(crate) catalog_has_files: bool,
    /// Whether hbase:meta must have a manifest.
    pub(crate) is_catalog_listed: bool,
    /// Whether the log has had a head, so that a store that was not closed must have one.
    pub(crate) has_log: bool,
}

impl Marker {
    /// The marker of a store that was just created.
    pub(crate) fn new(store_id: StoreId) -> Self {
        Self { store_id, ..Self::default() }
    }

    fn flags(&self) -> u32 {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        flag(self.catalog_has_files, CATALOG_HAS_FILES)
            | flag(self.is_catalog_listed, CATALOG_IS_LISTED)
            | flag(self.has_log, HAS_LOG)
    }

    /// Whether the store has been written to.
    pub(super) fn is_of_used_store(&self) -> bool {
        self.flags() != 0
    }

    pub(super) fn encode(&self) -> [u8; SIZE] {
        let flags = self.flags();
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
        if version != VERSION || flags & !FLAGS != 0 {
            let message = format!(
                "{}: a later version of hblite wrote this store (version {version}, flags \
                 {flags:#x}); open it with that version",
                path.display()
            );
            return Err(Error::new(Exception::UnsupportedOperation, message));
        }
        let mut store_id = [0; StoreId::SIZE];
        store_id.copy_from_slice(&bytes[16..32]);
        Ok(Some(Self {
            store_id: StoreId::from_bytes(store_id),
            catalog_has_files: flags & CATALOG_HAS_FILES != 0,
            is_catalog_listed: flags & CATALOG_IS_LISTED != 0,
            has_log: flags & HAS_LOG != 0,
        }))
    }
}

/// What the marker of this store says.
impl Layout {
    /// Records, durably, that hbase:meta has files, so that their absence is damage. Called before
    /// the log may drop what is in them.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn note_catalog_files(&self, fs: &dyn FileSystem) -> Result<()> {
        self.change_marker(fs, |marker| marker.catalog_has_files = true)
    }

    /// Records, durably, that hbase:meta has a manifest, so that its absence is damage.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn note_catalog_manifest(&self, fs: &dyn FileSystem) -> Result<()> {
        self.change_marker(fs, |marker| marker.is_catalog_listed = true)
    }

    fn change_marker(&self, fs: &dyn FileSystem, change: impl FnOnce(&mut Marker)) -> Result<()> {
        let mut state = self.root_state.lock();
        let mut marker = Marker { store_id: self.store_id(), ..state.marker };
        change(&mut marker);
        if marker == state.marker {
            return Ok(());
        }
        let path = self.marker_file();
        fs.write_atomically(&path, &marker.encode())
            .map_err(|error| Error::io("cannot write", &path, error))?;
        state.marker = marker;
        Ok(())
    }

    /// Whether hbase:meta is known to have had a store file.
    pub(crate) fn is_catalog_in_files(&self) -> bool {
        self.root_state.lock().marker.catalog_has_files
    }

    /// Whether hbase:meta is known to have a manifest.
    pub(crate) fn is_catalog_listed(&self) -> bool {
        self.root_state.lock().marker.is_catalog_listed
    }

    /// Whether the families of hbase:meta that rows are read from have store files.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn has_catalog_files(&self, fs: &dyn FileSystem) -> Result<bool> {
        for family in [&b"info"[..], b"table"] {
            let dir = self.family_dir(&RegionInfo::meta(), family);
            let files = list(fs, &dir)?;
            if !files.iter().any(|file| !file.is_dir && !file.name.contains('.')) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hblite_model::ErrorKind;

    fn marker() -> Marker {
        let store_id = "ca9fced8-4350-477d-9b81-eaf32ebf7024".parse().unwrap();
        Marker { catalog_has_files: true, ..Marker::new(store_id) }
    }

    fn decode(content: &[u8]) -> Result<Option<Marker>> {
        Marker::decode(Path::new("/d/hblite.store"), content)
    }

    #[test]
    fn a_marker_comes_back_and_any_flipped_bit_is_noticed() {
        for flags in 0..=FLAGS {
            let marker = Marker {
                catalog_has_files: flags & CATALOG_HAS_FILES != 0,
                is_catalog_listed: flags & CATALOG_IS_LISTED != 0,
                has_log: flags & HAS_LOG != 0,
                ..marker()
            };
            assert_eq!(marker.flags(), flags);
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
            bytes[at] += 0x80;
            let checksum = crc32fast::hash(&bytes[..CHECKSUM_OFFSET]);
            bytes[CHECKSUM_OFFSET..].copy_from_slice(&checksum.to_be_bytes());
            let error = decode(&bytes).unwrap_err();
            assert_eq!(error.exception(), Exception::UnsupportedOperation, "{error}");
        }
    }
}
