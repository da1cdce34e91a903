//! The list of a snapshot's files, in HBase's format.
//!
//! ```text
//! <snapshot>/data.manifest = SnapshotDataManifest | seal           see `sealed.rs`
//! SnapshotDataManifest   { 1 table_schema TableSchema, 2 region SnapshotRegionManifest* }
//! SnapshotRegionManifest { 2 RegionInfo, 3 family { 1 name, 2 StoreFile* }* }
//! StoreFile              { 1 name, 2 Reference, 3 length }
//! ```
//!
//! HBase looks for each file in its region's directory and then in the archive. For a reference,
//! the list contains the `Reference` itself, and `length` is that of the file that it refers to. A
//! list without a seal was written by HBase.
//!
//! Threads: a `DataManifest` is a value. Source: HBase's `Snapshot.proto`, `SnapshotManifest`.

use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::protobuf::{self, FieldValue, MessageWriter};
use hblite_model::{Error, Exception, RegionInfo, Result, TableDescriptor, TableName};

use crate::catalog::{descriptor_file, region_info_file};
use crate::layout::{DATA_MANIFEST_FILE, Layout, family_dir_name};
use crate::sealed::{self, Seal};
use crate::store::hfile_link::HFileLink;
use crate::store::reference::Half;
use crate::store::store_file::split_reference;

/// What to do about a list that is damaged.
const REMEDY: &str = "restore the snapshot's directory from a backup, or delete the snapshot";

/// A snapshot's list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DataManifest {
    pub(super) table: TableDescriptor,
    pub(super) regions: Vec<ListedRegion>,
}

/// A region with its files.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ListedRegion {
    pub(super) info: RegionInfo,
    pub(super) families: Vec<(Vec<u8>, Vec<ListedFile>)>,
}

/// A store file, a reference or a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedFile {
    pub(super) name: String,
    /// For a reference: which half.
    pub(super) half: Option<Half>,
    /// Bytes of the store file.
    pub(super) length: u64,
}

impl DataManifest {
    /// The list in a snapshot's directory, and whether a checksum confirms it; `None` if there is
    /// no list.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` if it is damaged, or belongs to a table other than `table`.
    pub(super) fn read(
        fs: &dyn FileSystem,
        dir: &Path,
        table: &TableName,
    ) -> Result<Option<(Self, Seal)>> {
        Self::read_file(fs, &dir.join(DATA_MANIFEST_FILE), table)
    }

    /// Like [`DataManifest::read`], for a list in this file.
    ///
    /// # Errors
    /// As [`DataManifest::read`].
    pub(super) fn read_file(
        fs: &dyn FileSystem,
        path: &Path,
        table: &TableName,
    ) -> Result<Option<(Self, Seal)>> {
        let content = match fs.read(path) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("cannot read", path, error)),
        };
        let decoded = Self::decode(&content, table);
        decoded.map(Some).map_err(|what| sealed::damaged(path, what, REMEDY))
    }

    /// The content of the file.
    pub(super) fn encode(&self) -> Vec<u8> {
        let schema = descriptor_file::encode(&self.table).finish();
        let mut message = MessageWriter::new().bytes(1, schema);
        for region in &self.regions {
            message = message.bytes(2, region.encode());
        }
        sealed::seal(message)
    }

    fn decode(content: &[u8], table: &TableName) -> std::result::Result<(Self, Seal), String> {
        let (fields, seal) = sealed::unseal(content)?;
        let (mut schema, mut regions) = (None, Vec::new());
        let read = protobuf::read_message(fields, |field, value| {
            match field {
                1 => schema = Some(value.as_bytes()),
                2 => regions.push(ListedRegion::decode(value, table)?),
                _ => {}
            }
            Ok(())
        });
        read.map_err(|error| error.message().to_owned())?;
        let table = descriptor_file::decode_of(schema.ok_or("it has no table schema")?, table)?;
        Ok((Self { table, regions }, seal))
    }

    /// Where the store files of the list were when the snapshot was taken, or when HBase linked to
    /// them.
    pub(super) fn places(&self, layout: &Layout) -> Vec<PathBuf> {
        let mut places = Vec::new();
        for region in &self.regions {
            let region_dir = layout.region_dir(&region.info);
            for (family, files) in &region.families {
                let dir = region_dir.join(family_dir_name(family));
                places.extend(files.iter().map(|file| place(layout, &dir.join(&file.name))));
            }
        }
        // Both daughters refer to the same files.
        places.sort();
        places.dedup();
        places
    }
}

/// The path of the store file behind this entry: the file itself, or the target of a reference or
/// link.
pub(super) fn place(layout: &Layout, path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let family = path.parent().and_then(Path::file_name).unwrap_or_default();
    if let Some(link) = HFileLink::parse(name) {
        return link.place(layout, Path::new(family));
    }
    match split_reference(path) {
        Some((name, parent)) => layout.referred_file(path, name, parent),
        None => path.to_path_buf(),
    }
}

impl ListedRegion {
    fn encode(&self) -> Vec<u8> {
        let info = region_info_file::message(&self.info).finish();
        let mut message = MessageWriter::new().bytes(2, info);
        for (name, files) in &self.families {
            let family = MessageWriter::new().bytes(1, name);
            let family = files.iter().fold(family, |family, file| family.bytes(2, file.encode()));
            message = message.bytes(3, family.finish());
        }
        message.finish()
    }

    fn decode(value: FieldValue<'_>, table: &TableName) -> Result<Self> {
        let (mut info, mut families) = (None, Vec::new());
        protobuf::read_message(value.as_bytes(), |field, value| {
            match field {
                2 => info = RegionInfo::from_bytes(value.as_bytes()),
                3 => families.push(decode_family(value)?),
                _ => {}
            }
            Ok(())
        })?;
        let info = info.filter(|info| info.table() == table);
        let info = info.ok_or_else(|| wrong("it lists a region that is not one of the table's"))?;
        Ok(Self { info, families })
    }
}

fn decode_family(value: FieldValue<'_>) -> Result<(Vec<u8>, Vec<ListedFile>)> {
    let (mut name, mut files) = (Vec::new(), Vec::new());
    protobuf::read_message(value.as_bytes(), |field, value| {
        match field {
            1 => name = value.as_bytes().to_vec(),
            2 => files.push(ListedFile::decode(value)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok((name, files))
}

impl ListedFile {
    fn encode(&self) -> Vec<u8> {
        let mut message = MessageWriter::new().bytes(1, &self.name);
        if let Some(half) = &self.half {
            message = message.bytes(2, half.message().finish());
        }
        message.number(3, self.length).finish()
    }

    fn decode(value: FieldValue<'_>) -> Result<Self> {
        let mut file = Self { name: String::new(), half: None, length: 0 };
        protobuf::read_message(value.as_bytes(), |field, value| {
            match field {
                1 => file.name = value.as_text(),
                2 => file.half = Some(Half::decode_message(value.as_bytes()).map_err(wrong)?),
                3 => file.length = value.as_number(),
                _ => {}
            }
            Ok(())
        })?;
        // It becomes a part of paths.
        if file.name.is_empty() || file.name.starts_with('.') || file.name.contains(['/', '\\']) {
            return Err(wrong("it lists a file with an invalid name"));
        }
        Ok(file)
    }
}

fn wrong(what: &str) -> Error {
    Error::new(Exception::CorruptHFile, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists that HBase wrote are reproduced byte for byte, region by region.
    #[test]
    fn regions_are_listed_with_hbases_bytes() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/fixtures/hbase-snapshots/hbase-snapshot");
        for (snapshot, table, count) in
            [("plain", "plain", 2), ("halves", "n:t", 4), ("links", "n:u", 4)]
        {
            let content = std::fs::read(fixture.join(snapshot).join(DATA_MANIFEST_FILE));
            let content = content.expect("it is there");
            let table: TableName = table.parse().expect("a name");
            let (listed, seal) = DataManifest::decode(&content, &table).expect("HBase wrote it");
            assert_eq!((listed.regions.len(), seal), (count, Seal::Absent), "{snapshot}");
            let mut raw = Vec::new();
            protobuf::read_message(&content, |field, value| {
                raw.extend((field == 2).then(|| value.as_bytes().to_vec()));
                Ok(())
            })
            .expect("it is a message");
            let encoded: Vec<Vec<u8>> = listed.regions.iter().map(ListedRegion::encode).collect();
            assert_eq!(encoded, raw, "{snapshot}");
            let (again, seal) = DataManifest::decode(&listed.encode(), &table).expect("its own");
            assert_eq!((again, seal), (listed, Seal::Verified), "{snapshot}");
        }
    }
}
