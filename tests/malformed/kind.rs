//! The kinds of files that a store has. A file of no kind fails the test: someone added a format
//! and not its mutations.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Id,
    Version,
    Marker,
    Lock,
    LogHead,
    LogFile,
    Descriptor,
    RestoredDescriptor,
    RegionInfo,
    Manifest,
    Unclaimed,
    EditsMark,
    CatalogFile,
    StoreFile,
    Reference,
    LoadManifest,
    LoadedFile,
    SnapshotInfo,
    SnapshotList,
    SnapshotDescriptor,
    SnapshotRegionInfo,
    SnapshotManifest,
    SnapshotFile,
    SnapshotReference,
    UnfinishedSnapshot,
    Temporary,
    Archived,
    MasterData,
}

/// How the bytes of a kind of file are protected, so that their checksums can be corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// No checksum.
    Bare,
    /// A CRC-32 at the end covers everything before it; the file has this size.
    Fixed(usize),
    /// A message and its seal.
    SealedBare,
    /// "PBUF", a message, and its seal.
    Sealed,
    /// "PBUF", a length, a message, and its seal.
    SealedWithLength,
    /// A header and records, each with a checksum.
    Log,
    /// Blocks with checksums.
    HFile,
}

impl Kind {
    pub(crate) const ALL: [Self; 28] = [
        Self::Id,
        Self::Version,
        Self::Marker,
        Self::Lock,
        Self::LogHead,
        Self::LogFile,
        Self::Descriptor,
        Self::RestoredDescriptor,
        Self::RegionInfo,
        Self::Manifest,
        Self::Unclaimed,
        Self::EditsMark,
        Self::CatalogFile,
        Self::StoreFile,
        Self::Reference,
        Self::LoadManifest,
        Self::LoadedFile,
        Self::SnapshotInfo,
        Self::SnapshotList,
        Self::SnapshotDescriptor,
        Self::SnapshotRegionInfo,
        Self::SnapshotManifest,
        Self::SnapshotFile,
        Self::SnapshotReference,
        Self::UnfinishedSnapshot,
        Self::Temporary,
        Self::Archived,
        Self::MasterData,
    ];

    /// The kind of the file at this path below the store; nothing if it is of none.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let parts: Vec<&str> = path.iter().map(|part| part.to_str().expect("text")).collect();
        if parts.last().is_some_and(|name| name.ends_with(".tmp")) {
            return Some(Self::Temporary);
        }
        Some(match *parts.as_slice() {
            ["hbase.id"] => Self::Id,
            ["hbase.version"] => Self::Version,
            ["hblite.store"] => Self::Marker,
            ["LOCK"] => Self::Lock,
            ["WALs.head"] => Self::LogHead,
            ["WALs", name] if name.starts_with("hblite-wal.") => Self::LogFile,
            ["archive", ..] => Self::Archived,
            [aside, ..] if aside.starts_with("hblite-") && aside.ends_with("-moved") => {
                Self::Archived
            }
            ["MasterData", ..] => Self::MasterData,
            [".tmp", ..] => Self::Temporary,
            [".hbase-snapshot", ".tmp", ..] => Self::UnfinishedSnapshot,
            [".hbase-snapshot", _, ref rest @ ..] => Self::of_snapshot(rest)?,
            ["data", _, _, ".tabledesc", name] if name.starts_with(".tableinfo.") => {
                Self::Descriptor
            }
            ["data", _, _, ".tabledesc", name] if name.starts_with(".restored.") => {
                Self::RestoredDescriptor
            }
            ["data", namespace, _, _, ref rest @ ..] => Self::of_region(namespace, rest)?,
            _ => return None,
        })
    }

    fn of_snapshot(rest: &[&str]) -> Option<Self> {
        Some(match *rest {
            [".snapshotinfo"] => Self::SnapshotInfo,
            ["data.manifest"] => Self::SnapshotList,
            [".tabledesc", _] => Self::SnapshotDescriptor,
            [_, ".regioninfo"] => Self::SnapshotRegionInfo,
            [_, ".manifest"] => Self::SnapshotManifest,
            [_, _, file] if file.contains('.') => Self::SnapshotReference,
            [_, _, _] => Self::SnapshotFile,
            _ => return None,
        })
    }

    fn of_region(namespace: &str, rest: &[&str]) -> Option<Self> {
        Some(match *rest {
            [".regioninfo"] => Self::RegionInfo,
            [".manifest"] => Self::Manifest,
            [".unclaimed"] => Self::Unclaimed,
            [".tmp", ..] => Self::Temporary,
            [".bulk", _, ".manifest"] => Self::LoadManifest,
            [".bulk", _, _, _] => Self::LoadedFile,
            ["recovered.edits", _] => Self::EditsMark,
            [_, file] if file.contains('.') => Self::Reference,
            [_, _] if namespace == "hbase" => Self::CatalogFile,
            [family, _] if !family.starts_with('.') => Self::StoreFile,
            _ => return None,
        })
    }

    pub(crate) fn format(self) -> Format {
        match self {
            Self::Marker => Format::Fixed(36),
            Self::LogHead => Format::Fixed(64),
            Self::LogFile => Format::Log,
            Self::SnapshotInfo | Self::SnapshotList => Format::SealedBare,
            Self::Descriptor
            | Self::RestoredDescriptor
            | Self::Manifest
            | Self::Reference
            | Self::LoadManifest
            | Self::SnapshotDescriptor
            | Self::SnapshotManifest
            | Self::SnapshotReference => Format::Sealed,
            Self::RegionInfo | Self::SnapshotRegionInfo => Format::SealedWithLength,
            Self::CatalogFile | Self::StoreFile | Self::LoadedFile | Self::SnapshotFile => {
                Format::HFile
            }
            _ => Format::Bare,
        }
    }

    /// Whether a file of this kind belongs to a snapshot.
    pub(crate) fn is_of_snapshot(self) -> bool {
        self >= Self::SnapshotInfo && self <= Self::UnfinishedSnapshot
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.to_string() == name);
        found.ok_or_else(|| format!("{name} is not a kind of file; there are {:?}", Self::ALL))
    }
}
