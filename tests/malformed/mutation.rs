//! What can happen to a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::Random;

use crate::checksum;
use crate::kind::Kind;
use crate::stores::Store;

const SECTOR: usize = 512;

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mutation {
    FlippedBit,
    ChangedByte,
    /// A length or count that requests much memory.
    LargeNumber,
    ZeroedSector,
    Cut,
    Extended,
    Emptied,
    Deleted,
    Duplicated,
    Swapped,
    OlderCopy,
}

impl Mutation {
    pub(crate) const ALL: [Self; 11] = [
        Self::FlippedBit,
        Self::ChangedByte,
        Self::LargeNumber,
        Self::ZeroedSector,
        Self::Cut,
        Self::Extended,
        Self::Emptied,
        Self::Deleted,
        Self::Duplicated,
        Self::Swapped,
        Self::OlderCopy,
    ];

    /// Whether it changes bytes within a file, so that checksums can be computed again.
    fn is_within(self) -> bool {
        self <= Self::Extended
    }
}

/// New contents of files, by their paths below the store; nothing for a file that is deleted.
pub(crate) type Changes = BTreeMap<PathBuf, Option<Arc<Vec<u8>>>>;

/// A store with a mutated file.
pub(crate) struct Mutated {
    /// The new contents of files; nothing for a file that is deleted.
    pub(crate) changes: Changes,
    pub(crate) mutation: Mutation,
    /// Whether the checksums were corrected.
    pub(crate) is_corrected: bool,
    /// The changed files.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) what: String,
}

/// Mutates the file at `path`; nothing if that does not change it.
pub(crate) fn mutate(
    mutation: Mutation,
    store: &Store,
    kind: Kind,
    path: &Path,
    random: &dyn Random,
) -> Option<Mutated> {
    let mut changes = Changes::new();
    let before = Arc::clone(&store.image.files[path]);
    let mut paths = vec![path.to_path_buf()];
    if mutation.is_within() {
        let (changed, what) = change(mutation, &before, random)?;
        let wants_right = random.next_u64().is_multiple_of(2);
        let corrected = checksum::corrected(kind.format(), &before, &changed);
        let corrected = corrected.filter(|_| wants_right);
        let is_corrected = corrected.is_some();
        if is_corrected {
            forget_fingerprint(store, &mut changes, path);
        }
        changes.insert(path.to_path_buf(), Some(Arc::new(corrected.unwrap_or(changed))));
        return Some(Mutated { changes, mutation, is_corrected, paths, what });
    }
    let mut what = String::new();
    match mutation {
        Mutation::Emptied if before.is_empty() => return None,
        Mutation::Emptied => drop(changes.insert(path.to_path_buf(), Some(Arc::default()))),
        Mutation::Deleted => drop(changes.insert(path.to_path_buf(), None)),
        Mutation::Duplicated => {
            let copy = path.with_file_name(name_of_copy(kind, path, before.len(), random)?);
            what = copy.display().to_string();
            changes.insert(copy.clone(), Some(before));
            paths.push(copy);
        }
        Mutation::Swapped => {
            let others: Vec<&PathBuf> = store
                .image
                .files
                .keys()
                .filter(|other| {
                    Kind::of(other) == Some(kind) && store.image.files[*other] != before
                })
                .collect();
            let other = (*others.get(below(random, others.len()))?).clone();
            what = other.display().to_string();
            let content = Arc::clone(&store.image.files[&other]);
            changes.insert(other.clone(), Some(before));
            changes.insert(path.to_path_buf(), Some(content));
            paths.push(other);
        }
        _ => {
            let older = store.older(kind, path);
            let older = Arc::clone(older.get(below(random, older.len()))?);
            what = format!("{} bytes instead of {}", older.len(), before.len());
            changes.insert(path.to_path_buf(), Some(older));
        }
    }
    Some(Mutated { changes, mutation, is_corrected: false, paths, what })
}

fn below(random: &dyn Random, bound: usize) -> usize {
    (random.next_u64() % bound.max(1) as u64) as usize
}

/// The bytes after a change, and where it is.
fn change(mutation: Mutation, before: &[u8], random: &dyn Random) -> Option<(Vec<u8>, String)> {
    let mut bytes = before.to_vec();
    let length = bytes.len();
    if length == 0 && mutation != Mutation::Extended {
        return None;
    }
    let at = below(random, length);
    match mutation {
        Mutation::FlippedBit => bytes[at] ^= 1 << below(random, 8),
        Mutation::ChangedByte => bytes[at] = random.next_u64() as u8,
        Mutation::LargeNumber => {
            let number: &[u8] = match below(random, 4) {
                0 => &[0x7f, 0xff, 0xff, 0xff],
                1 => &[0xff; 8],
                2 => &[0x3f, 0xff, 0xff, 0x00],
                _ => &[0xff, 0xff, 0xff, 0xff, 0x07],
            };
            let end = length.min(at + number.len());
            bytes[at..end].copy_from_slice(&number[..end - at]);
        }
        Mutation::ZeroedSector => {
            let from = at / SECTOR * SECTOR;
            let to = length.min(from + SECTOR);
            bytes[from..to].fill(0);
        }
        Mutation::Cut => bytes.truncate(at),
        _ => {
            let count = 1 + below(random, 700);
            let filling = if below(random, 2) == 0 { 0 } else { random.next_u64() as u8 };
            bytes.resize(length + count, filling);
        }
    }
    (bytes != before).then(|| (bytes, format!("at {at} of {length}")))
}

/// A store file's fingerprint is in the manifest of its region, which would stop the change there.
fn forget_fingerprint(store: &Store, changes: &mut Changes, path: &Path) {
    let manifest = path.ancestors().nth(2).map(|region| region.join(".manifest"));
    if let Some(manifest) = manifest.filter(|path| store.image.files.contains_key(path)) {
        changes.insert(manifest, None);
    }
}

/// The name of a copy: one that the store could give to a file of its own, where that matters.
fn name_of_copy(kind: Kind, path: &Path, length: usize, random: &dyn Random) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let hex = || format!("{:016x}{:016x}", random.next_u64(), random.next_u64());
    Some(match kind {
        Kind::CatalogFile | Kind::StoreFile | Kind::LoadedFile | Kind::SnapshotFile => hex(),
        Kind::Reference | Kind::SnapshotReference => {
            let (_, region) = name.split_once('.')?;
            format!("{}.{region}", hex())
        }
        Kind::LogFile => {
            let (prefix, number) = name.split_once('.')?;
            let number: u64 = number.parse().ok()?;
            format!("{prefix}.{:010}", number + 1 + random.next_u64() % 6)
        }
        Kind::Descriptor | Kind::SnapshotDescriptor => {
            format!(".tableinfo.{:010}.{length}", 1 + random.next_u64() % 9)
        }
        _ => format!("{name}.copy"),
    })
}
