//! Queries the Bloom filters of an open file.

use hblite_model::{BloomType, Result};

use crate::bloom::{BloomReader, KeyHash, RowProbe};
use crate::reader::HFileReader;

impl HFileReader {
    /// Which keys the general Bloom filter holds; NONE if there is no filter.
    pub fn bloom_type(&self) -> BloomType {
        self.opened().bloom.as_ref().map_or(BloomType::None, |_| self.opened().bloom_type)
    }

    /// Row prefix length of the general Bloom filter, 0 for the other types.
    pub fn bloom_prefix_length(&self) -> usize {
        self.opened().bloom_prefix_length
    }

    /// Whether the file may hold cells of `row`. Always true with a ROWCOL filter, which cannot
    /// decide this, and without a filter.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn may_contain_row(&self, row: &[u8]) -> Result<bool> {
        Ok(self.probe_row(row, &mut KeyHash::default())?.may_contain())
    }

    /// The same without looking at the bits of the filter, so that a reader of several files can
    /// ask for the memory of the next while it waits for that of the first. `hash` may be used
    /// again with the same row.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn probe_row(&self, row: &[u8], hash: &mut KeyHash) -> Result<RowProbe<'_>> {
        let Some(bloom) = &self.opened().bloom else {
            return Ok(RowProbe::decided(true));
        };
        let key = match self.opened().bloom_type {
            BloomType::Row => row,
            BloomType::RowPrefixFixedLength => {
                &row[..row.len().min(self.opened().bloom_prefix_length)]
            }
            BloomType::RowCol | BloomType::None => return Ok(RowProbe::decided(true)),
        };
        if self.is_after_last_bloom_key(bloom, key) {
            return Ok(RowProbe::decided(false));
        }
        bloom.probe(self.file(), key, hash)
    }

    /// Whether the file may hold cells of this column of `row`, or a marker that deletes the family
    /// there. The family is not a parameter, since a file has only one.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn may_contain_column(&self, row: &[u8], qualifier: &[u8]) -> Result<bool> {
        match &self.opened().bloom {
            Some(bloom) if self.opened().bloom_type == BloomType::RowCol => {
                // Family deletes are stored under the empty qualifier.
                Ok(bloom.may_contain_column(self.file(), row, qualifier)?
                    || bloom.may_contain_column(self.file(), row, b"")?)
            }
            _ => self.may_contain_row(row),
        }
    }

    /// Whether the file may hold a DeleteFamily or DeleteFamilyVersion cell of `row`.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn may_contain_delete_family(&self, row: &[u8]) -> Result<bool> {
        if self.opened().delete_family_count == Some(0) {
            return Ok(false);
        }
        match &self.opened().delete_family_bloom {
            Some(bloom) => bloom.may_contain_row(self.file(), row),
            None if self.opened().bloom_type == BloomType::RowCol => {
                self.may_contain_column(row, b"")
            }
            None => Ok(true),
        }
    }

    fn is_after_last_bloom_key(&self, bloom: &BloomReader, key: &[u8]) -> bool {
        let last = self.opened().last_bloom_key.as_deref();
        last.is_some_and(|last| bloom.compare(key, last).is_gt())
    }
}
