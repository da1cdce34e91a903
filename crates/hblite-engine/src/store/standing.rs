//! What a region's manifest says about a file in a family's directory. See `manifest.rs`.

use hblite_model::Result;

use super::manifest::{Fingerprint, Manifest, Origin};
use super::store_file::StoreFile;

/// What a file in a family's directory is to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// One of its files.
    Live,
    /// It was one, but no longer is.
    Dead,
    /// It has the name of one, but is a different file.
    Changed,
    /// Nothing says where it comes from.
    Foreign,
}

/// The standing of a file of this family according to the manifest, without regard to replacements.
///
/// # Errors
/// `Io`, `CorruptHFile`.
pub(crate) fn standing(
    expected: Option<&Manifest>,
    family: &[u8],
    file: &StoreFile,
) -> Result<Standing> {
    let Some(expected) = expected else { return Ok(Standing::Live) };
    if let Some(listed) = expected.files.get(&(family.to_vec(), file.name().to_owned())) {
        let is_same = Fingerprint::of(file)? == *listed;
        return Ok(if is_same { Standing::Live } else { Standing::Changed });
    }
    Ok(match Origin::stamp_of(file, &expected.region, family) {
        Some(stamp) if stamp > expected.settled => Standing::Live,
        Some(_) => Standing::Dead,
        None => Standing::Foreign,
    })
}
