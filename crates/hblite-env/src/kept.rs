//! What a writer keeps while a directory is being read: the journal of the names that it changes.
//!
//! ```text
//! <kept>/<generation>/kept.journal     changes, in order
//! <kept>/<generation>/kept.<number>    a file that was replaced or removed
//!
//! journal = change*
//! ┌─────────────┬────────┬──────────────────┬────────┬──────────────────────────────────────┐
//! │ u32 length  │ u32    │ path, u64 length │ u32    │ path, u8 what was there before:      │
//! │ of the rest │ number │ of each log that │ number │ 0 nothing, 1 a directory, 2 the file │
//! │             │        │ is being written │        │ that is now kept.<number>; u64       │
//! │             │        │                  │        │ number of that file, otherwise 0     │
//! └─────────────┴────────┴──────────────────┴────────┴──────────────────────────────────────┘
//! path = u32 length, UTF-8, relative to the directory; all numbers are big-endian
//! ```
//!
//! A change is in the journal before it is made, with all paths that it concerns: those below a
//! directory that is renamed or removed, too. So whoever knows a position in the journal, and looks
//! at the directory at any time after, can tell what was there at that position: for each path what
//! the first change after it says, otherwise what is there. The lengths of the logs say what had
//! been written to them then.
//!
//! Invariants:
//! 1. Changes are made one at a time while there is a journal.
//! 2. Journals are removed oldest first, and all of them before a change is made without one. So if
//!    a journal is there, it and the later ones are complete.
//! 3. The name of a generation is never used again.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::fs::FileSystem;

const JOURNAL: &str = "kept.journal";

/// What was at a path before a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    Nothing,
    Directory,
    /// The file that now has this number.
    File(u64),
}

/// A change of names. Paths are relative to the directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// The logs that are being written, and how much had been.
    pub(crate) logs: Vec<(PathBuf, u64)>,
    pub(crate) paths: Vec<(PathBuf, Before)>,
}

impl Change {
    /// Its record; `None` if a path is not UTF-8.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let mut record = vec![0; size_of::<u32>()];
        record.extend(u32::try_from(self.logs.len()).ok()?.to_be_bytes());
        for (path, length) in &self.logs {
            put_path(&mut record, path)?;
            record.extend(length.to_be_bytes());
        }
        record.extend(u32::try_from(self.paths.len()).ok()?.to_be_bytes());
        for (path, before) in &self.paths {
            put_path(&mut record, path)?;
            let (kind, number) = match before {
                Before::Nothing => (0, 0),
                Before::Directory => (1, 0),
                Before::File(number) => (2, *number),
            };
            record.push(kind);
            record.extend(number.to_be_bytes());
        }
        let length = u32::try_from(record.len() - size_of::<u32>()).ok()?;
        record[..size_of::<u32>()].copy_from_slice(&length.to_be_bytes());
        Some(record)
    }

    fn decode(mut record: &[u8]) -> Option<Self> {
        let bytes = &mut record;
        let mut change = Self::default();
        for _ in 0..take_u32(bytes)? {
            change.logs.push((take_path(bytes)?, take_u64(bytes)?));
        }
        for _ in 0..take_u32(bytes)? {
            let path = take_path(bytes)?;
            let kind = take(bytes, 1)?[0];
            let number = take_u64(bytes)?;
            let before = match kind {
                0 => Before::Nothing,
                1 => Before::Directory,
                2 => Before::File(number),
                _ => return None,
            };
            change.paths.push((path, before));
        }
        bytes.is_empty().then_some(change)
    }
}

fn put_path(record: &mut Vec<u8>, path: &Path) -> Option<()> {
    let path = path.to_str()?;
    record.extend(u32::try_from(path.len()).ok()?.to_be_bytes());
    record.extend_from_slice(path.as_bytes());
    Some(())
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    take(bytes, size_of::<u32>())?.try_into().ok().map(u32::from_be_bytes)
}

fn take_u64(bytes: &mut &[u8]) -> Option<u64> {
    take(bytes, size_of::<u64>())?.try_into().ok().map(u64::from_be_bytes)
}

fn take_path(bytes: &mut &[u8]) -> Option<PathBuf> {
    let length = take_u32(bytes)? as usize;
    std::str::from_utf8(take(bytes, length)?).ok().map(PathBuf::from)
}

/// The path of the journal of a generation.
pub(crate) fn journal_path(generation: &Path) -> PathBuf {
    generation.join(JOURNAL)
}

/// The path of a kept file of a generation.
pub(crate) fn kept_path(generation: &Path, number: u64) -> PathBuf {
    generation.join(format!("kept.{number}"))
}

/// Whether this can be the name of a file that is kept, or of the journal.
pub fn is_kept_name(name: &str) -> bool {
    let number = name.strip_prefix("kept.").unwrap_or_default();
    name == JOURNAL || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// A position in the journal.
#[derive(Debug)]
pub(crate) struct Position {
    kept: PathBuf,
    generation: String,
    offset: usize,
}

/// The changes after a position, in order.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// What was at the paths that were changed. Kept files are named by their paths.
    pub(crate) before: BTreeMap<PathBuf, (Before, PathBuf)>,
    /// The logs that were being written, and how much had been. `None` if nothing was changed.
    pub(crate) logs: Option<BTreeMap<PathBuf, u64>>,
}

/// The end of the journal in `kept`; `None` if there is none.
pub(crate) fn end_of_journal(fs: &dyn FileSystem, kept: &Path) -> io::Result<Option<Position>> {
    let Some(generation) = generations(fs, kept)?.pop() else { return Ok(None) };
    let Some(content) = read(fs, &kept.join(&generation))? else { return Ok(None) };
    let offset = Records(&content).map(|record| size_of::<u32>() + record.len()).sum();
    Ok(Some(Position { kept: kept.to_path_buf(), generation, offset }))
}

/// Whether there is a journal in `kept`.
pub(crate) fn has_journal(fs: &dyn FileSystem, kept: &Path) -> io::Result<bool> {
    let newest = generations(fs, kept)?.pop();
    newest.map_or(Ok(false), |generation| fs.exists(&journal_path(&kept.join(generation))))
}

/// The changes after `position`; `None` if they are no longer known.
pub(crate) fn changes_after(
    fs: &dyn FileSystem,
    position: &Position,
) -> io::Result<Option<Changes>> {
    let mut generations = generations(fs, &position.kept)?;
    let Some(first) = generations.iter().position(|name| *name == position.generation) else {
        return Ok(None);
    };
    let mut changes = Changes::default();
    for (index, generation) in generations.drain(first..).enumerate() {
        let generation = position.kept.join(generation);
        let Some(content) = read(fs, &generation)? else { return Ok(None) };
        let offset = if index == 0 { position.offset } else { 0 };
        for record in Records(content.get(offset..).unwrap_or_default()) {
            let Some(Change { logs, paths }) = Change::decode(record) else { return Ok(None) };
            changes.logs.get_or_insert_with(|| logs.into_iter().collect());
            for (path, before) in paths {
                let file = match before {
                    Before::File(number) => kept_path(&generation, number),
                    Before::Nothing | Before::Directory => PathBuf::new(),
                };
                changes.before.entry(path).or_insert((before, file));
            }
        }
    }
    Ok(Some(changes))
}

/// The complete records of a journal. The last one may be in the middle of being written.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let length = take_u32(&mut self.0)? as usize;
        take(&mut self.0, length)
    }
}

/// The names of the generations, oldest first.
fn generations(fs: &dyn FileSystem, kept: &Path) -> io::Result<Vec<String>> {
    match fs.list_dir(kept) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => Ok(entries?.into_iter().map(|entry| entry.name).collect()),
    }
}

/// The content of a journal; `None` if it was removed.
fn read(fs: &dyn FileSystem, generation: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs.read_large(&journal_path(generation)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        content => content.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change() -> Change {
        let path = |name: &str| PathBuf::from(name);
        Change {
            logs: vec![(path("WALs/1"), 7)],
            paths: vec![
                (path("a"), Before::Nothing),
                (path("b/c"), Before::Directory),
                (path("d"), Before::File(u64::MAX)),
            ],
        }
    }

    #[test]
    fn a_change_comes_back_and_a_part_of_it_is_none() {
        let record = change().encode().unwrap();
        let journal = [record.clone(), record.clone()].concat();
        let found: Vec<Change> =
            Records(&journal).map(|record| Change::decode(record).unwrap()).collect();
        assert_eq!(found, [change(), change()]);
        for end in 0..record.len() {
            assert_eq!(Records(&record[..end]).count(), 0);
            assert_eq!(Change::decode(&record[4..end.max(4)]), None);
        }
        let mut unknown = record;
        let kind = unknown.len() - 9;
        unknown[kind] = 3;
        assert_eq!(Change::decode(&unknown[4..]), None);
    }

    #[test]
    fn only_these_files_are_kept() {
        assert!(["kept.journal", "kept.0", "kept.12"].into_iter().all(is_kept_name));
        assert!(!["kept.", "kept.1a", "kept", "journal"].into_iter().any(is_kept_name));
    }
}
