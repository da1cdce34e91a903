//! What a region's manifest says about a file in a family's directory. See `manifest.rs`.

use hblite_model::Result;

use super::manifest::{Fingerprint, Manifest, Origin};
use super::store_file::StoreFile;

/// What a file in a family's directory is to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// One of its files.
    Live,
    /// One of its files, and newer than the manifest.
    Unlisted,
    /// It was one, but no longer is.
    Dead,
    /// It has the name of one, but is a different file.
    Changed,
    /// Nothing says where it comes from, or what does contradicts itself.
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
        Some(stamp) if stamp > expected.settled => Standing::Unlisted,
        // Families that a table no longer has may be listed, so a wrong one is not noticed there.
        Some(_) if is_listed_elsewhere(expected, file)? => Standing::Foreign,
        Some(_) => Standing::Dead,
        None => Standing::Foreign,
    })
}

/// Whether the manifest lists this very file as that of another family.
fn is_listed_elsewhere(expected: &Manifest, file: &StoreFile) -> Result<bool> {
    for ((_, name), listed) in &expected.files {
        if name == file.name() && Fingerprint::of(file)? == *listed {
            return Ok(true);
        }
    }
    Ok(false)
}
