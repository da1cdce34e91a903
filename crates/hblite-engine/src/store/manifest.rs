//! The list of a region's store files, in the region's directory.
//!
//! ```text
//! <region>/.manifest = "PBUF" | Manifest | seal                    see `sealed.rs`
//! Manifest {
//!   1 version          1
//!   2 region           encoded name of the region
//!   3 settled          see below
//!   4 hbase_opened     the number of recovered.edits/<n>.seqid that was there, if one was
//!   5 file { 1 family, 2 name, 3 length, 4 cells, 5 tail }*        by family and name
//! }
//! tail = CRC-32 of the HFile from its load-on-open section to its end, trailer included;
//!        of a reference, length, cells and tail are those of the file that it refers to
//!
//! HBLITE_ORIGIN in the file info of a store file that hblite wrote:
//! Origin { 1 region, 2 family, 3 name, 4 stamp }
//! ```
//!
//! The directories say which files a region has; the manifest says which ones it must have. A file
//! that is listed and missing, or is not the one that was listed, is an error. HBase ignores the
//! file: it only looks for directories with the name of a family.
//!
//! # Order
//!
//! A file is added first to its directory, durably, and then to the list. A crash can therefore
//! leave files that are in no list, and each of them explains itself. Every file gets a *stamp*, a
//! number that increases within the region, and records in its origin what it is. The manifest says
//! up to which stamp everything is *settled*: listed, or dead.
//!
//! 1. flush: write, rename, sync the directory; swap the store's list; write the manifest; only
//!    then does the log discard its entries
//! 2. compaction: like a flush; the replaced files are removed only after the manifest is durable
//! 3. bulk load: the staged directory has a list of its own when its rename commits it; the files
//!    are moved, the manifest is written durably, and the directory is removed
//! 4. split, merge, restore: the new region's manifest is written before hbase:meta names it
//!
//! An open therefore treats a file that is not listed
//!
//! - as live if its origin names this place and its stamp is not settled: a flush or compaction was
//!   interrupted after its rename, or the manifest is an older copy
//! - as a leftover if its stamp is settled, or if a live file replaced it: it is removed, after a
//!   manifest without it is durable
//! - as foreign otherwise, and refuses it
//!
//! A listed file that is missing is treated as replaced if a live file says so, and as lost
//! otherwise.
//!
//! A region without a manifest consists of what is in its directories. It was never flushed, or an
//! earlier version or HBase wrote it. HBase leaves a new `.seqid` file when it has had a region
//! open, unless it changed nothing or was killed. A manifest that does not know this file is void,
//! and so is every manifest while there are logs of a killed HBase. The next flush, compaction or
//! close writes a new one.
//!
//! # What names a manifest
//!
//! hbase:meta says which regions have a manifest, and `hblite.store` says it of hbase:meta: after
//! the first manifest is durable, and before the log discards entries. If such a manifest is
//! missing, the region has lost files, and an open refuses it. The exception is a region with a
//! `.seqid` file other than the recorded one: HBase had it open since, and may have emptied it
//! (`truncate_region`). HBase never removes that file without writing another, so its absence is
//! no sign of HBase.
//!
//! Threads: a `Manifest` is a value.

use std::collections::BTreeMap;
use std::path::Path;

use hblite_env::FileSystem;
use hblite_hfile::HFileReader;
use hblite_model::protobuf::{self, MessageWriter};
use hblite_model::{Error, Result, TableDescriptor};

use super::store_file::StoreFile;
use crate::files::{exists, sync_dir};
use crate::layout::{MANIFEST_FILE, RECOVERED_EDITS_DIR, TEMPORARY_DIR};
use crate::sealed::{self, Seal};

const VERSION: u64 = 1;
/// The key of a file's origin in its file info.
const ORIGIN: &[u8] = b"HBLITE_ORIGIN";
/// The largest stamp that a region can get to. Counting on from it cannot overflow.
const STAMP_MAX: u64 = 1 << 62;
/// The suffix of HBase's file with a region's sequence id.
const SEQUENCE_ID_SUFFIX: &str = ".seqid";
/// What to do about a manifest that cannot be read.
pub(crate) const REMEDY: &str = "restore the file from a backup, or open with salvage, which \
        rebuilds it from the files that are there";

/// The number of the `.seqid` file that a manifest has recorded; `None` if there was none.
pub(crate) type Recorded = Option<u64>;

/// Family and name of a file.
pub(crate) type FileKey = (Vec<u8>, String);

/// The identity of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    length: u64,
    cells: u64,
    tail: u32,
}

impl Fingerprint {
    /// The identity of an open file; for a reference, that of its target.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`.
    pub(crate) fn of(file: &StoreFile) -> Result<Self> {
        Self::of_reader(file.reader())
    }

    fn of_reader(reader: &HFileReader) -> Result<Self> {
        Ok(Self { length: reader.length(), cells: reader.entries(), tail: reader.tail_checksum()? })
    }
}

/// What a region's directory must have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) region: String,
    /// Files with stamps up to this one are listed or dead.
    pub(crate) settled: u64,
    pub(crate) hbase_opened: Recorded,
    pub(crate) files: BTreeMap<FileKey, Fingerprint>,
}

impl Manifest {
    /// An empty list for the region with this encoded name.
    pub(crate) fn new(region: &str) -> Self {
        Self { region: region.to_owned(), ..Self::default() }
    }

    /// Adds a file.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`.
    pub(crate) fn add(&mut self, family: &[u8], file: &StoreFile) -> Result<()> {
        self.add_reader(family, file.name(), file.reader())
    }

    /// Like [`Manifest::add`], for a file that is to have this name.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`.
    pub(crate) fn add_reader(
        &mut self,
        family: &[u8],
        name: &str,
        reader: &HFileReader,
    ) -> Result<()> {
        let key = (family.to_vec(), name.to_owned());
        let before = self.files.insert(key, Fingerprint::of_reader(reader)?);
        assert!(before.is_none(), "{name} is listed twice");
        Ok(())
    }

    /// The listed files of a family.
    pub(crate) fn names<'m>(&'m self, family: &'m [u8]) -> impl Iterator<Item = &'m str> {
        let keys = self.files.keys().filter(move |(of, _)| of == family);
        keys.map(|(_, name)| name.as_str())
    }

    /// The manifest in a region's directory; `None` if it has none.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` if it is damaged or belongs to another region.
    pub(crate) fn read(fs: &dyn FileSystem, dir: &Path, region: &str) -> Result<Option<Self>> {
        let path = dir.join(MANIFEST_FILE);
        let content = match fs.read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("cannot read", &path, error)),
        };
        let manifest = Self::decode(&content).and_then(|manifest| {
            let fits = manifest.region == region;
            if fits { Ok(manifest) } else { Err("it is the manifest of another region") }
        });
        manifest.map(Some).map_err(|what| sealed::damaged(&path, what, REMEDY))
    }

    /// Removes the files of families that the table does not have. Returns whether there were any.
    pub(crate) fn keep_families(&mut self, table: &TableDescriptor) -> bool {
        let count = self.files.len();
        self.files.retain(|(family, _), _| table.has_family(family));
        self.files.len() != count
    }

    /// The manifest in the directory of a region that is being opened, and that will assign stamps
    /// from there on; `None` if it has none.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` if it is damaged or belongs to another region.
    pub(crate) fn read_to_go_on(
        fs: &dyn FileSystem,
        dir: &Path,
        region: &str,
    ) -> Result<Option<Self>> {
        let manifest = Self::read(fs, dir, region)?;
        if manifest.as_ref().is_some_and(|manifest| manifest.settled > STAMP_MAX) {
            let what = "no region gets to its stamp";
            return Err(sealed::damaged(&dir.join(MANIFEST_FILE), what, REMEDY));
        }
        Ok(manifest)
    }

    /// Writes the manifest into a region's directory, replacing an existing one. On return its
    /// content is durable; its name is durable after a sync of the directory.
    ///
    /// # Errors
    /// `Io`: either the previous manifest is in effect, or this one.
    pub(crate) fn write(&self, fs: &dyn FileSystem, dir: &Path) -> Result<()> {
        let (path, temporary_dir) = (dir.join(MANIFEST_FILE), dir.join(TEMPORARY_DIR));
        let io = |error| Error::io("cannot write", &path, error);
        let temporary = temporary_dir.join(MANIFEST_FILE);
        fs.create_dir_all(&temporary_dir).map_err(io)?;
        if fs.exists(&temporary).map_err(io)? {
            fs.remove_file(&temporary).map_err(io)?;
        }
        let mut file = fs.create(&temporary).map_err(io)?;
        file.write_all(&self.encode()).and_then(|()| file.sync()).map_err(io)?;
        drop(file);
        fs.rename(&temporary, &path).map_err(io)
    }

    /// Like [`Manifest::write`], and durable on return.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn write_durably(&self, fs: &dyn FileSystem, dir: &Path) -> Result<()> {
        self.write(fs, dir)?;
        sync_dir(fs, dir)
    }

    /// The content of the file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut message =
            MessageWriter::new().number(1, VERSION).bytes(2, &self.region).number(3, self.settled);
        if let Some(id) = self.hbase_opened {
            message = message.number(4, id);
        }
        for ((family, name), fingerprint) in &self.files {
            let file = MessageWriter::new()
                .bytes(1, family)
                .bytes(2, name)
                .number(3, fingerprint.length)
                .number(4, fingerprint.cells)
                .number(5, u64::from(fingerprint.tail));
            message = message.bytes(5, file.finish());
        }
        sealed::seal_with_magic(message)
    }

    fn decode(content: &[u8]) -> std::result::Result<Self, &'static str> {
        let (fields, seal) = sealed::unseal_with_magic(content)?;
        if seal == Seal::Absent {
            return Err("its checksum is missing");
        }
        let mut manifest = Self::default();
        let (mut version, mut is_sorted) = (0, true);
        let read = protobuf::read_message(fields, |field, value| {
            match field {
                1 => version = value.as_number(),
                2 => manifest.region = value.as_text(),
                3 => manifest.settled = value.as_number(),
                4 => manifest.hbase_opened = Some(value.as_number()),
                5 => {
                    let (key, fingerprint) = decode_file(value.as_bytes())?;
                    is_sorted &=
                        manifest.files.last_key_value().is_none_or(|(last, _)| *last < key);
                    manifest.files.insert(key, fingerprint);
                }
                _ => {}
            }
            Ok(())
        });
        match read {
            Err(_) => Err("it is not a protobuf message"),
            Ok(()) if version != VERSION => Err("it has a version that this hblite cannot read"),
            Ok(()) if !is_sorted => Err("its files are not in order"),
            Ok(()) => Ok(manifest),
        }
    }
}

fn decode_file(message: &[u8]) -> Result<(FileKey, Fingerprint)> {
    let mut key = FileKey::default();
    let mut fingerprint = Fingerprint { length: 0, cells: 0, tail: 0 };
    protobuf::read_message(message, |field, value| {
        match field {
            1 => key.0 = value.as_bytes().to_vec(),
            2 => key.1 = value.as_text(),
            3 => fingerprint.length = value.as_number(),
            4 => fingerprint.cells = value.as_number(),
            5 => fingerprint.tail = u32::try_from(value.as_number()).unwrap_or(0),
            _ => {}
        }
        Ok(())
    })?;
    Ok((key, fingerprint))
}

/// Where a file was written, and its order among the region's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) region: String,
    pub(crate) family: Vec<u8>,
    pub(crate) name: String,
    pub(crate) stamp: u64,
}

impl Origin {
    /// Key and value for the file info.
    pub(crate) fn encode(&self) -> (&'static [u8], Vec<u8>) {
        let message = MessageWriter::new()
            .bytes(1, &self.region)
            .bytes(2, &self.family)
            .bytes(3, &self.name)
            .number(4, self.stamp);
        (ORIGIN, message.finish())
    }

    /// The stamp of a file that hblite wrote for this place under the name that it has; `None` as
    /// well if no region gets to its stamp.
    pub(crate) fn stamp_of(file: &StoreFile, region: &str, family: &[u8]) -> Option<u64> {
        let mut origin =
            Self { region: String::new(), family: Vec::new(), name: String::new(), stamp: 0 };
        if file.is_reference() {
            return None;
        }
        protobuf::read_message(file.reader().file_info(ORIGIN)?, |field, value| {
            match field {
                1 => origin.region = value.as_text(),
                2 => origin.family = value.as_bytes().to_vec(),
                3 => origin.name = value.as_text(),
                4 => origin.stamp = value.as_number(),
                _ => {}
            }
            Ok(())
        })
        .ok()?;
        let is_here =
            origin.region == region && origin.family == family && origin.name == file.name();
        (is_here && origin.stamp <= STAMP_MAX).then_some(origin.stamp)
    }
}

/// Whether HBase has had a region open since its manifest was written, so that the manifest is
/// void. `found` is the result of [`opened_by_hbase`].
pub(crate) fn is_void(recorded: Recorded, found: Recorded) -> bool {
    found.is_some() && found != recorded
}

/// Whether a region's directory has lost the manifest that hbase:meta says it has.
///
/// # Errors
/// `Io`.
pub(crate) fn is_lost(
    fs: &dyn FileSystem,
    dir: &Path,
    named: Option<Recorded>,
    found: Recorded,
) -> Result<bool> {
    let Some(recorded) = named else { return Ok(false) };
    let path = dir.join(MANIFEST_FILE);
    Ok(!exists(fs, &path)? && !is_void(recorded, found))
}

/// What is wrong with a region that has lost its manifest.
pub(crate) const LOST: &str = "the list of the region's store files is missing, and files may be \
        missing with it";

/// The number that HBase left in a region's directory when it last had the region open.
///
/// # Errors
/// `Io`.
pub(crate) fn opened_by_hbase(fs: &dyn FileSystem, dir: &Path) -> Result<Recorded> {
    let edits = dir.join(RECOVERED_EDITS_DIR);
    let entries = match fs.list_dir(&edits) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("cannot list", &edits, error)),
    };
    let number = |name: &str| name.strip_suffix(SEQUENCE_ID_SUFFIX)?.parse().ok();
    Ok(entries.iter().filter_map(|entry| number(&entry.name)).max())
}

#[cfg(test)]
mod tests {
    use hblite_env::MemFileSystem;

    use super::*;

    fn manifest() -> Manifest {
        let mut manifest = Manifest { settled: 7, hbase_opened: Some(3), ..Manifest::new("00ff") };
        for (family, name) in [("a", "02"), ("a", "01"), ("\u{1}", "03.00aa")] {
            let fingerprint = Fingerprint { length: 1 << 40, cells: 12, tail: u32::MAX };
            manifest.files.insert((family.into(), name.to_owned()), fingerprint);
        }
        manifest
    }

    #[test]
    fn manifests_come_back() {
        for manifest in [manifest(), Manifest::new("00ff")] {
            assert_eq!(Manifest::decode(&manifest.encode()), Ok(manifest));
        }
        let manifest = manifest();
        assert_eq!(manifest.names(b"a").collect::<Vec<_>>(), ["01", "02"]);
    }

    #[test]
    fn what_is_written_is_read_and_another_regions_is_refused() {
        let fs = MemFileSystem::new();
        let dir = Path::new("/t/00ff");
        assert_eq!(Manifest::read(&fs, dir, "00ff").unwrap(), None);
        Manifest::new("00ff").write_durably(&fs, dir).unwrap();
        manifest().write_durably(&fs, dir).unwrap();
        assert_eq!(Manifest::read(&fs, dir, "00ff").unwrap(), Some(manifest()));
        let error = Manifest::read(&fs, dir, "00fe").unwrap_err();
        assert_eq!(error.file(), Some(&*dir.join(MANIFEST_FILE)));
    }

    #[test]
    fn a_stamp_after_which_no_other_can_be_assigned_is_refused() {
        let fs = MemFileSystem::new();
        let dir = Path::new("/t/00ff");
        for (settled, is_fit) in [(STAMP_MAX, true), (STAMP_MAX + 1, false), (u64::MAX, false)] {
            Manifest { settled, ..manifest() }.write_durably(&fs, dir).unwrap();
            assert!(Manifest::read(&fs, dir, "00ff").is_ok(), "of a snapshot");
            let read = Manifest::read_to_go_on(&fs, dir, "00ff");
            assert_eq!(read.is_ok(), is_fit, "{settled}");
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let content = manifest().encode();
        for bit in 0..content.len() * 8 {
            let mut damaged = content.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Manifest::decode(&damaged).is_err(), "bit {bit}");
        }
        for cut in 0..content.len() {
            assert!(Manifest::decode(&content[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn the_newest_number_that_hbase_left_is_found() {
        let fs = MemFileSystem::new();
        let dir = Path::new("/t/00ff");
        assert_eq!(opened_by_hbase(&fs, dir).unwrap(), None);
        fs.create_dir_all(&dir.join(RECOVERED_EDITS_DIR)).unwrap();
        for name in ["4.seqid", "12.seqid", "0000000000000000099", "x.seqid"] {
            fs.create(&dir.join(RECOVERED_EDITS_DIR).join(name)).unwrap();
        }
        assert_eq!(opened_by_hbase(&fs, dir).unwrap(), Some(12));
    }
}
