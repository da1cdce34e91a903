//! Which files and directories hblite, or HBase, writes into the directory of a table or snapshot.
//!
//! ```text
//! <table>/.tabledesc/.tableinfo.<…>, .restored.<…>
//! <table>/.tmp/                                          HBase's; empty
//! <table>/<32 hex digits, or hbase:meta's>/              a region
//! <region>/.regioninfo, .manifest, .unclaimed
//! <region>/.tmp/…                                        see `removal`
//! <region>/.bulk/<load>/<family>/<store file>
//! <region>/recovered.edits/<number>.seqid                HBase's
//! <region>/<family>/<store file>, <store file>.<region>  a reference
//! <snapshot>/.snapshotinfo, data.manifest, .linked.manifest
//! <snapshot>/region-manifest.<…>                         HBase's
//! <snapshot>/.tabledesc/…, <region>/…                    as a table's
//! store file = 32 hex digits, of a bulk load with _SeqId_<number>_
//! ```
//!
//! Below what a rewind has replaced, it also covers the directories that hold tables, snapshots and
//! the log.
//!
//! Anything else is foreign: a directory that contains something foreign is never deleted, but
//! set aside (see `removal`). Names decide, not contents.
//!
//! There are two checks. Before a directory leaves its place, [`foreign_entry`] checks that
//! everything in it belongs there. Before it is deleted, in the trash or in a place that is no
//! longer read, [`stranger`] looks for files that hblite never writes: they may have arrived in
//! between.

use std::io;
use std::path::{Path, PathBuf};

use hblite_env::{DirEntry, FileSystem, is_kept_name};
use hblite_model::META_ENCODED_NAME;

use super::{
    ABSENT_SUFFIX, BACKUP_MARKER_FILE, BULK_LOAD_DIR, DATA_MANIFEST_FILE, HISTORY_FILE, ID_FILE,
    LINKED_MANIFEST_FILE, LOCK_FILE, LOG_HEAD_FILE, LOG_PREFIX, MANIFEST_FILE, MARKER_FILE,
    RECOVERED_EDITS_DIR, REGION_INFO_FILE, RESERVE_FILE, REWOUND_PARTS, SNAPSHOT_INFO_FILE,
    TABLE_DESCRIPTOR_DIR, TEMPORARY_DIR, UNCLAIMED_FILE, VERSION_FILE,
};

/// Files in the root of a store, or of a copy of it.
const FILES_OF_ROOT: [&str; 8] = [
    ID_FILE,
    VERSION_FILE,
    MARKER_FILE,
    LOCK_FILE,
    LOG_HEAD_FILE,
    BACKUP_MARKER_FILE,
    RESERVE_FILE,
    HISTORY_FILE,
];

/// What the names in a directory mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A directory with what a rewind has replaced, under the paths of the root.
    Rewound,
    /// The archive.
    Archive,
    /// A directory of namespaces.
    Namespaces,
    /// A namespace's directory.
    Namespace,
    /// The directory of all snapshots, or of those that are being taken.
    Snapshots,
    /// The directory of the log, with empty directories of HBase's servers.
    Log,
    /// A table's directory.
    Table,
    /// A snapshot's directory.
    Snapshot,
    /// A region's directory.
    Region,
    /// A family's directory.
    Family,
    /// The directory with a table's settings.
    Settings,
    /// A directory with HBase's marks of its log.
    Edits,
    /// Families of files that belong to a bulk load, or that are being written.
    Loads(usize),
    /// A directory that holds nothing.
    Empty,
}

impl Shape {
    /// The shape of a directory with this name in a directory of this shape; `None` if it is
    /// foreign.
    pub(super) fn of_dir(self, name: &str) -> Option<Self> {
        match self {
            Self::Rewound => match name {
                "data" => Some(Self::Namespaces),
                "archive" => Some(Self::Archive),
                ".hbase-snapshot" => Some(Self::Snapshots),
                "WALs" => Some(Self::Log),
                _ => None,
            },
            Self::Archive => (name == "data").then_some(Self::Namespaces),
            Self::Namespaces => Some(Self::Namespace),
            Self::Namespace => Some(Self::Table),
            Self::Snapshots if name == TEMPORARY_DIR => Some(Self::Snapshots),
            Self::Snapshots => Some(Self::Snapshot),
            Self::Log => Some(Self::Empty),
            Self::Table => match name {
                TABLE_DESCRIPTOR_DIR => Some(Self::Settings),
                TEMPORARY_DIR => Some(Self::Empty),
                _ => is_region_name(name).then_some(Self::Region),
            },
            Self::Snapshot => match name {
                TABLE_DESCRIPTOR_DIR => Some(Self::Settings),
                _ => is_region_name(name).then_some(Self::Region),
            },
            Self::Region => match name {
                TEMPORARY_DIR | BULK_LOAD_DIR => Some(Self::Loads(2)),
                RECOVERED_EDITS_DIR => Some(Self::Edits),
                _ => (!name.starts_with('.')).then_some(Self::Family),
            },
            Self::Loads(depth) => depth.checked_sub(1).map(Self::Loads),
            Self::Family | Self::Settings | Self::Edits | Self::Empty => None,
        }
    }

    fn has_file(self, name: &str) -> bool {
        // A file that is written atomically has this name before its own.
        let name = name.strip_suffix(".tmp").unwrap_or(name);
        match self {
            Self::Rewound => name == LOG_HEAD_FILE,
            Self::Log => is_log_file(name),
            Self::Archive | Self::Namespaces | Self::Namespace | Self::Snapshots => false,
            Self::Table | Self::Empty => false,
            Self::Snapshot => {
                matches!(name, SNAPSHOT_INFO_FILE | DATA_MANIFEST_FILE | LINKED_MANIFEST_FILE)
                    || name.starts_with("region-manifest.")
            }
            Self::Region => matches!(name, REGION_INFO_FILE | UNCLAIMED_FILE | MANIFEST_FILE),
            Self::Loads(_) if name == MANIFEST_FILE => true,
            Self::Family | Self::Loads(_) => {
                // A link that HBase wrote: see `store::hfile_link`.
                let linked = name.rsplit_once('=').and_then(|(_, file)| file.split_once('-'));
                let name =
                    linked.filter(|(region, _)| is_region_name(region)).map_or(name, |l| l.1);
                let (file, region) = name.split_once('.').unwrap_or((name, ""));
                is_store_file(file) && (region.is_empty() || is_hex_name(region))
            }
            Self::Settings => name.starts_with(".tableinfo.") || name.starts_with(".restored."),
            Self::Edits => name.strip_suffix(".seqid").unwrap_or(name).parse::<u64>().is_ok(),
        }
    }
}

/// A file or directory below `dir` that hblite does not write there, if there is one. A missing
/// directory has none.
pub(crate) fn foreign_entry(
    fs: &dyn FileSystem,
    dir: &Path,
    shape: Shape,
) -> io::Result<Option<PathBuf>> {
    Ok(foreign_entries(fs, dir, shape)?.into_iter().next())
}

/// All files and directories below `dir` that hblite does not write there. A missing directory has
/// none.
pub(super) fn foreign_entries(
    fs: &dyn FileSystem,
    dir: &Path,
    shape: Shape,
) -> io::Result<Vec<PathBuf>> {
    let entries = match fs.list_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut foreign = Vec::new();
    for entry in entries {
        foreign.extend(foreign_at(fs, dir, &entry, shape)?);
    }
    Ok(foreign)
}

/// An entry of the directory `dir`, or what is below it, if hblite does not write it there.
pub(super) fn foreign_at(
    fs: &dyn FileSystem,
    dir: &Path,
    entry: &DirEntry,
    shape: Shape,
) -> io::Result<Vec<PathBuf>> {
    let path = dir.join(&entry.name);
    match (entry.is_dir, shape.of_dir(&entry.name)) {
        (true, Some(below)) => foreign_entries(fs, &path, below),
        (false, _) if shape.has_file(&entry.name) => Ok(Vec::new()),
        _ => Ok(vec![path]),
    }
}

/// A file below `dir` with a name that hblite gives to no file anywhere in a store, if there is
/// one. A directory that is missing has none.
pub(super) fn stranger(fs: &dyn FileSystem, dir: &Path) -> io::Result<Option<PathBuf>> {
    let entries = match fs.list_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    for DirEntry { name, is_dir } in entries {
        let path = dir.join(&name);
        let found = match is_dir {
            true => stranger(fs, &path)?,
            false => (!is_name_of_some_file(&name)).then_some(path),
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Whether a file of this name can be one of a store, or of a copy of a store.
fn is_name_of_some_file(name: &str) -> bool {
    if let Some(part) = name.strip_suffix(ABSENT_SUFFIX) {
        return REWOUND_PARTS.iter().any(|path| Path::new(path).ends_with(part));
    }
    let shapes = [Shape::Snapshot, Shape::Region, Shape::Loads(0), Shape::Settings, Shape::Edits];
    shapes.iter().any(|shape| shape.has_file(name)) || {
        let name = name.strip_suffix(".tmp").unwrap_or(name);
        FILES_OF_ROOT.contains(&name) || is_log_file(name) || is_kept_name(name)
    }
}

/// Whether this can be the name of a log file.
fn is_log_file(name: &str) -> bool {
    let number = name.strip_prefix(LOG_PREFIX).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether this can be the encoded name of a region.
pub(crate) fn is_region_name(name: &str) -> bool {
    name == META_ENCODED_NAME || is_hex_name(name)
}

/// Whether these are 32 hex digits, as in the names of regions and store files.
pub(crate) fn is_hex_name(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_store_file(name: &str) -> bool {
    let Some((name, loaded)) = name.split_once("_SeqId_") else {
        return is_hex_name(name);
    };
    let id = loaded.strip_suffix('_').unwrap_or_default();
    is_hex_name(name) && id.parse::<u64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hblite_env::MemFileSystem;

    const HEX: &str = "0123456789abcdef0123456789abcdef";

    fn foreign(files: &[&str]) -> Option<PathBuf> {
        let fs = MemFileSystem::new();
        for file in files {
            let path = Path::new("/t").join(file.replace("HEX", HEX));
            fs.create_dir_all(path.parent().unwrap()).unwrap();
            fs.create(&path).unwrap();
        }
        foreign_entry(&fs, Path::new("/t"), Shape::Table).unwrap()
    }

    #[test]
    fn what_stores_write_is_their_own() {
        let files = [
            ".tabledesc/.tableinfo.0000000001.345",
            ".tabledesc/.tableinfo.0000000002.345.tmp",
            ".tabledesc/.restored.17",
            "HEX/.regioninfo",
            "HEX/.unclaimed",
            "HEX/.manifest",
            "HEX/.tmp/.manifest",
            "HEX/.bulk/HEX_SeqId_7_/.manifest",
            "HEX/f/HEX",
            "HEX/f/HEX_SeqId_7_",
            "HEX/f/HEX.HEX",
            "HEX/f/HEX_SeqId_7_.HEX",
            "HEX/f/HEX.HEX.tmp",
            "HEX/.tmp/f/HEX",
            "HEX/.tmp/HEX/f/HEX",
            "HEX/.bulk/HEX_SeqId_7_/f/HEX",
            "HEX/recovered.edits/4.seqid",
            "1588230740/info/HEX",
        ];
        assert_eq!(foreign(&files), None);
        assert_eq!(foreign(&[]), None);
    }

    #[test]
    fn a_snapshot_has_settings_regions_and_what_it_is() {
        let fs = MemFileSystem::new();
        let dir = Path::new("/s");
        let put = |file: &str| {
            let path = dir.join(file.replace("HEX", HEX));
            fs.create_dir_all(path.parent().unwrap()).unwrap();
            fs.create(&path).unwrap();
            path
        };
        for file in [
            ".snapshotinfo",
            ".tabledesc/.tableinfo.0000000001.345",
            "HEX/.regioninfo",
            "HEX/.manifest",
            "HEX/f/HEX",
            "HEX/f/HEX.HEX",
            "data.manifest",
        ] {
            put(file);
        }
        let found = || foreign_entry(&fs, dir, Shape::Snapshot).unwrap();
        assert_eq!(found(), None);
        for file in ["notes.txt", "HEX/notes.txt", "HEX/f/notes.txt", "mine/HEX"] {
            let path = put(file);
            assert!(path.starts_with(found().expect(file)), "{file}");
            match path.parent().filter(|parent| parent.ends_with("mine")) {
                Some(mine) => fs.remove_dir_all(mine).unwrap(),
                None => fs.remove_file(&path).unwrap(),
            }
        }
    }

    #[test]
    fn a_stranger_is_a_file_that_belongs_nowhere() {
        let fs = MemFileSystem::new();
        let dir = Path::new("/d");
        let put = |file: &str| {
            let path = dir.join(file.replace("HEX", HEX));
            fs.create_dir_all(path.parent().unwrap()).unwrap();
            fs.create(&path).unwrap();
            path
        };
        for file in [
            "LOCK",
            "hbase.id",
            "hblite.store.tmp",
            "hblite.backup",
            "WALs.head",
            "hblite.history",
            "WALs/hblite-wal.0000000017",
            "archive/data.absent",
            ".hbase-snapshot.absent",
            "data/ns/t/.tabledesc/.tableinfo.0000000001.345",
            "data/ns/t/HEX/.regioninfo",
            "data/ns/t/HEX/.unclaimed",
            "data/ns/t/HEX/f/HEX.HEX",
            "data/ns/t/HEX/recovered.edits/4.seqid",
            ".hbase-snapshot/s/.snapshotinfo",
            "HEX/.manifest",
            "t/f/HEX_SeqId_7_",
        ] {
            put(file);
        }
        let found = || stranger(&fs, dir).unwrap();
        assert_eq!(found(), None);
        for file in ["a.jpg", "WALs/hblite-wal.old", "f/HEX.jpg", "x/y/notes.absent", "HEX/f/HEXx"]
        {
            let path = put(file);
            assert_eq!(found(), Some(path.clone()), "{file}");
            fs.remove_file(&path).unwrap();
        }
        assert_eq!(stranger(&fs, Path::new("/missing")).unwrap(), None);
    }

    #[test]
    fn anything_else_is_found() {
        for file in [
            "notes.txt",
            "2026/a.jpg",
            ".tmp/mine",
            ".tabledesc/mine",
            "HEX/notes.txt",
            "HEX/.mine/a",
            "HEX/f/a.jpg",
            "HEX/f/HEX.jpg",
            "HEX/f/HEX_SeqId_x_",
            "HEX/f/dir/HEX",
            "HEX/.tmp/mine",
            "HEX/.bulk/HEX/f/d/HEX",
            "HEX/recovered.edits/mine",
        ] {
            let found = foreign(&["HEX/f/HEX", file]).expect(file);
            assert!(Path::new("/t").join(file.replace("HEX", HEX)).starts_with(&found), "{file}");
        }
    }
}
