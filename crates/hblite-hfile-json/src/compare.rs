//! Compares a file with a description.
//!
//! Every member that is present is compared. Of the settings, those are compared that leave traces
//! in a file; block size limits and rates leave none.

use std::fmt;
use std::sync::Arc;

use hblite_hfile::{BlockUse, BloomHash, HFileReader, HFileScanner, file_info};
use hblite_model::{CellComparator, DataBlockEncoding, Error};
use serde_json::Value;

use crate::description::{Description, InvalidDescription};
use crate::digest::{CellDigest, sha256};
use crate::hex;

/// Why a file and a description do not match.
#[derive(Debug)]
#[non_exhaustive]
pub enum Difference {
    /// They differ.
    Differs {
        /// Which member, as a JSON pointer.
        at: String,
        /// The value in the description.
        described: String,
        /// The value in the file.
        found: String,
    },
    /// The description is not valid.
    Invalid(InvalidDescription),
    /// The file cannot be read.
    File(Error),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differs { at, described, found } => {
                write!(f, "{at}: the file has {found}, the description {described}")
            }
            Self::Invalid(invalid) => write!(f, "description: {invalid}"),
            Self::File(error) => f.write_str(error.message()),
        }
    }
}

impl std::error::Error for Difference {}

impl From<InvalidDescription> for Difference {
    fn from(invalid: InvalidDescription) -> Self {
        Self::Invalid(invalid)
    }
}

impl From<Error> for Difference {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

type Compared = Result<(), Difference>;

/// Compares a value from the file with the member, if that is present.
fn same<T: PartialEq + fmt::Display>(at: &str, described: Option<T>, found: T) -> Compared {
    match described {
        Some(described) if described != found => Err(Difference::Differs {
            at: at.to_owned(),
            described: described.to_string(),
            found: found.to_string(),
        }),
        _ => Ok(()),
    }
}

impl Description {
    /// Compares everything in the description with the file.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(&self, reader: &Arc<HFileReader>) -> Result<(), Difference> {
        self.compare_settings(reader)?;
        self.compare_blooms(reader)?;
        self.compare_keys(reader)?;
        self.compare_cells(reader)?;
        for (name, content) in self.meta_blocks()? {
            let found = reader.meta_block(&name)?.map_or("none".to_owned(), |found| hex(&found));
            let at = format!("/meta_blocks/{}", String::from_utf8_lossy(&name));
            same(&at, Some(hex(&content)), found)?;
        }
        self.compare_file_info(reader)?;
        self.compare_trailer(reader)?;
        self.compare_blocks(reader)
    }

    fn compare_settings(&self, reader: &HFileReader) -> Compared {
        let (has_tags, has_mvcc) = reader.has_tags_and_mvcc();
        let comparator = match reader.comparator() {
            CellComparator::Default => "default",
            CellComparator::Meta => "meta",
        };
        for (name, found) in [
            ("encoding", reader.encoding().name()),
            ("compression", reader.compression().name()),
            ("comparator", comparator),
        ] {
            let at = format!("/settings/{name}");
            same(&at, self.text(&at)?, found)?;
        }
        let is_true = |key| file_info::is_true(reader.file_info(key));
        // A file without tags does not show whether they would have been compressed.
        let compress_tags = self
            .flag("/settings/compress_tags")?
            .map(|wanted| wanted && has_tags && reader.encoding() != DataBlockEncoding::None);
        for (at, described, found) in [
            ("/settings/include_tags", self.flag("/settings/include_tags")?, has_tags),
            ("/settings/include_mvcc", self.flag("/settings/include_mvcc")?, has_mvcc),
            ("/settings/compress_tags", compress_tags, is_true(file_info::TAGS_COMPRESSED)),
            (
                "/settings/major_compaction",
                self.flag("/settings/major_compaction")?,
                is_true(file_info::MAJOR_COMPACTION),
            ),
        ] {
            same(at, described, found)?;
        }
        let at = "/settings/max_seq_id";
        same(at, self.number(at)?, reader.max_sequence_id().unwrap_or(u64::MAX))?;
        let at = "/settings/create_time";
        same(at, self.number(at)?, reader.create_time().unwrap_or_default() as u64)
    }

    fn compare_blooms(&self, reader: &HFileReader) -> Compared {
        // A filter without keys leaves no trace.
        let is_empty = reader.entries() == 0;
        let bloom = self.text("/settings/bloom")?.filter(|_| !is_empty);
        same("/settings/bloom", bloom, reader.bloom_type().name())?;
        let prefix_length = self.number("/settings/bloom_param")?.filter(|_| !is_empty);
        same("/settings/bloom_param", prefix_length, reader.bloom_prefix_length() as u64)?;
        let hash = self.text("/settings/hash")?;
        let metas = [reader.bloom_meta(), reader.delete_family_bloom_meta()];
        for meta in metas.into_iter().flatten() {
            same("/settings/hash", hash, BloomHash::name(meta.hash))?;
        }
        Ok(())
    }

    fn compare_keys(&self, reader: &HFileReader) -> Compared {
        let at = "/cell_count";
        same(at, self.number(at)?, reader.entries())?;
        let mid_key = reader.mid_key()?;
        for (at, key) in [
            ("/first_key", reader.first_key()),
            ("/last_key", reader.last_key()),
            ("/mid_key", mid_key.as_deref()),
        ] {
            let found = key.map_or("null".to_owned(), hex);
            // Here, null has a meaning.
            let described = match self.member(at) {
                Some(Value::Null) => Some("null".to_owned()),
                _ => self.text(at)?.map(str::to_owned),
            };
            same(at, described, found)?;
        }
        Ok(())
    }

    fn compare_cells(&self, reader: &Arc<HFileReader>) -> Compared {
        let family = self.text("/settings/family")?.map(|name| name.as_bytes().to_vec());
        let listed = self.cells()?;
        let mut digest = CellDigest::default();
        let mut scanner = HFileScanner::new(reader.clone()).with_block_use(BlockUse::Pass);
        let mut more = scanner.seek_first()?;
        let mut count = 0;
        while more {
            let Some(cell) = scanner.current() else { break };
            digest.add(&cell);
            if let Some(family) = family.as_deref() {
                same("/settings/family", Some(hex(family)), hex(cell.family()))?;
            }
            if let Some(listed) = &listed {
                let described = listed.get(count).map(|cell| cell.as_ref());
                let is_same = described.is_some_and(|described| {
                    described == cell && described.sequence_id() == cell.sequence_id()
                });
                if !is_same {
                    return Err(Difference::Differs {
                        at: format!("/cells/{count}"),
                        described: described.map_or("none".to_owned(), |cell| cell.to_string()),
                        found: cell.to_string(),
                    });
                }
            }
            count += 1;
            more = scanner.next()?;
        }
        let described = listed.map(|listed| format!("{} cells", listed.len()));
        same("/cells", described, format!("{count} cells"))?;
        same("/digest", self.text("/digest")?, &*digest.finish())
    }

    fn compare_file_info(&self, reader: &HFileReader) -> Compared {
        let Some(described) = self.object("/file_info")? else { return Ok(()) };
        for (name, found) in reader.file_info_map().iter() {
            let name = String::from_utf8_lossy(name);
            let at = format!("/file_info/{name}");
            let Some(value) = described.get(&*name).and_then(Value::as_str) else {
                return same(&at, Some("none".to_owned()), hex(found));
            };
            let found = match value.strip_prefix("sha256:") {
                Some(_) => format!("sha256:{}:{}", sha256(found), found.len()),
                None => hex(found),
            };
            same(&at, Some(value), &found)?;
        }
        for name in described.keys() {
            let found = reader.file_info(name.as_bytes()).map(|_| name.as_str());
            same(&format!("/file_info/{name}"), Some(name.as_str()), found.unwrap_or("none"))?;
        }
        Ok(())
    }

    fn compare_trailer(&self, reader: &HFileReader) -> Compared {
        for (name, found) in crate::describe::trailer_numbers(reader) {
            let at = format!("/trailer/{name}");
            same(&at, self.number(&at)?.map(|number| number as i64), found)?;
        }
        Ok(())
    }

    fn compare_blocks(&self, reader: &HFileReader) -> Compared {
        let listed = self.typed("/blocks", "an array", Value::as_array)?;
        let checksum = self.text("/settings/checksum")?;
        let bytes_per_checksum = self.number("/settings/bytes_per_checksum")?;
        let mut count = 0;
        for item in reader.block_headers() {
            let (offset, header) = item?;
            same("/settings/checksum", checksum, header.checksum_type.name())?;
            let bytes = header.bytes_per_checksum as u64;
            same("/settings/bytes_per_checksum", bytes_per_checksum, bytes)?;
            if let Some(described) = listed.and_then(|listed| listed.get(count)) {
                let found = crate::describe::block(offset, &header);
                same(&format!("/blocks/{count}"), Some(described), &found)?;
            }
            count += 1;
        }
        let is_long = listed.is_some_and(|listed| listed.len() > count);
        same("/blocks", listed.filter(|_| is_long).map(Vec::len), count)?;
        same("/block_count", self.number("/block_count")?, count as u64)
    }
}
