//! A disk in memory that loses what was not synced when its power is cut.
//!
//! Goal: the rules that POSIX guarantees, not the stronger ones of one file system, so that a
//! missing `fsync` is detected.
//!
//! | what | durable after |
//! |---|---|
//! | a write, a change of a length | `fsync` or `fdatasync` of the file |
//! | a name: created, linked, removed, renamed | `fsync` of a directory that it changed |
//!
//! A cut keeps some of what is not durable. Of a file: writes up to one of them, and of the next
//! one, or now and then of all later ones, some sectors of 512 bytes, whose order among each other
//! is any. Of names: directories whose changes depend on each other keep a first part of these. A
//! rename happens or does not, also between two directories.
//!
//! Threads: none of its own; the mount serializes calls.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hblite_env::{Random, SeededRandom};

/// The number of the root directory.
pub(crate) const ROOT: u64 = 1;
const SECTOR: usize = 512;

/// Why a call failed, in the form that the kernel reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There is no such file or directory.
    NotFound,
    Exists,
    NotADirectory,
    IsADirectory,
    NotEmpty,
    /// The power is off.
    Off,
}

pub(crate) type Outcome<T> = Result<T, Refusal>;

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) content: Content,
    pub(crate) modified: SystemTime,
    pub(crate) mode: u16,
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    File(File),
    Dir(Dir),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    pub(crate) data: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Dir {
    pub(crate) names: BTreeMap<OsString, u64>,
    durable: BTreeMap<OsString, u64>,
}

#[derive(Debug, Clone)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
}

impl Change {
    fn apply(&self, data: &mut Vec<u8>) {
        match self {
            Change::Write { offset, bytes } => {
                let end = offset + bytes.len();
                if data.len() < end {
                    data.resize(end, 0);
                }
                data[*offset..end].copy_from_slice(bytes);
            }
            Change::SetLen(len) => data.resize(*len, 0),
        }
    }
}

/// A change of names: in each directory, what a name refers to afterwards.
#[derive(Debug, Clone)]
struct Renaming {
    names: Vec<(u64, OsString, Option<u64>)>,
}

impl Renaming {
    fn dirs(&self) -> impl Iterator<Item = u64> {
        self.names.iter().map(|(dir, _, _)| *dir)
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    nodes: BTreeMap<u64, Node>,
    next: u64,
    /// Changes of names that are not durable, in their order.
    journal: Vec<Renaming>,
    /// The number of further changes and syncs until the power is cut.
    left: u64,
    pub(crate) syncs: u64,
    pub(crate) changes: u64,
}

impl Disk {
    /// An empty disk.
    pub(crate) fn new() -> Self {
        let root = Node {
            content: Content::Dir(Dir::default()),
            modified: SystemTime::UNIX_EPOCH,
            mode: 0o755,
        };
        let nodes = BTreeMap::from([(ROOT, root)]);
        Self { nodes, next: ROOT + 1, journal: Vec::new(), left: u64::MAX, syncs: 0, changes: 0 }
    }

    /// Cuts the power after this many changes and syncs.
    pub(crate) fn power_off_after(&mut self, operations: u64) {
        self.left = operations;
    }

    pub(crate) fn is_off(&self) -> bool {
        self.left == 0
    }

    /// The contents of the disk when the power is back.
    pub(crate) fn after_cut(mut self, random: &SeededRandom) -> Self {
        self.keep_some_names(random);
        let mut left = Self::new();
        left.next = self.next;
        left.take_over(&mut self.nodes, ROOT, random);
        left
    }

    /// Writes the contents of the disk below a real directory.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub(crate) fn save(&self, number: u64, to: &Path) -> io::Result<()> {
        match self.nodes.get(&number).map(|node| &node.content) {
            None => Ok(()),
            Some(Content::File(file)) => std::fs::write(to, &file.data),
            Some(Content::Dir(dir)) => {
                std::fs::create_dir_all(to)?;
                dir.names.iter().try_for_each(|(name, number)| self.save(*number, &to.join(name)))
            }
        }
    }

    /// Keeps changes of names up to some moment, which differs between unrelated directories.
    fn keep_some_names(&mut self, random: &SeededRandom) {
        let journal = std::mem::take(&mut self.journal);
        let mut is_done = vec![false; journal.len()];
        for first in 0..journal.len() {
            if is_done[first] {
                continue;
            }
            let group = connected(&journal, first);
            let kept = below(random, group.len() as u64 + 1) as usize;
            for (position, &index) in group.iter().enumerate() {
                is_done[index] = true;
                if position < kept {
                    self.make_durable(&journal[index]);
                }
            }
        }
    }

    /// Takes what the durable names lead to from `nodes`.
    fn take_over(&mut self, nodes: &mut BTreeMap<u64, Node>, number: u64, random: &SeededRandom) {
        // A file with two names was taken with its first one.
        let Some(node) = nodes.remove(&number) else { return };
        let content = match node.content {
            Content::File(file) => {
                let data = file.after_cut(random);
                Content::File(File { durable: data.clone(), data, pending: Vec::new() })
            }
            Content::Dir(Dir { durable, .. }) => {
                Content::Dir(Dir { names: durable.clone(), durable })
            }
        };
        let children: Vec<u64> = match &content {
            Content::File(_) => Vec::new(),
            Content::Dir(dir) => dir.names.values().copied().collect(),
        };
        self.nodes.insert(number, Node { content, ..node });
        for child in children {
            self.take_over(nodes, child, random);
        }
    }

    fn make_durable(&mut self, renaming: &Renaming) {
        for (dir, name, number) in &renaming.names {
            // A directory that was removed since needs no names.
            let Some(Node { content: Content::Dir(dir), .. }) = self.nodes.get_mut(dir) else {
                continue;
            };
            set(&mut dir.durable, name, *number);
        }
    }

    /// A time that advances with each change.
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.changes)
    }

    /// Counts a change or a sync.
    fn step(&mut self) -> Outcome<()> {
        match self.left {
            0 => return Err(Refusal::Off),
            u64::MAX => {}
            _ => self.left -= 1,
        }
        // The operation at which the power is cut does not happen.
        if self.left == 0 { Err(Refusal::Off) } else { Ok(()) }
    }

    pub(crate) fn node(&self, number: u64) -> Outcome<&Node> {
        if self.is_off() {
            return Err(Refusal::Off);
        }
        self.nodes.get(&number).ok_or(Refusal::NotFound)
    }

    pub(crate) fn file(&self, number: u64) -> Outcome<&File> {
        match &self.node(number)?.content {
            Content::File(file) => Ok(file),
            Content::Dir(_) => Err(Refusal::IsADirectory),
        }
    }

    pub(crate) fn dir(&self, number: u64) -> Outcome<&Dir> {
        match &self.node(number)?.content {
            Content::Dir(dir) => Ok(dir),
            Content::File(_) => Err(Refusal::NotADirectory),
        }
    }

    pub(crate) fn lookup(&self, dir: u64, name: &OsStr) -> Outcome<u64> {
        self.dir(dir)?.names.get(name).copied().ok_or(Refusal::NotFound)
    }

    /// How many names lead to it.
    pub(crate) fn links(&self, number: u64) -> u32 {
        let dirs = self.nodes.values().filter_map(|node| match &node.content {
            Content::Dir(dir) => Some(dir),
            Content::File(_) => None,
        });
        dirs.flat_map(|dir| dir.names.values()).filter(|&&other| other == number).count() as u32
    }

    /// Creates an empty file or directory.
    pub(crate) fn create(
        &mut self,
        dir: u64,
        name: &OsStr,
        is_dir: bool,
        mode: u16,
    ) -> Outcome<u64> {
        if self.dir(dir)?.names.contains_key(name) {
            return Err(Refusal::Exists);
        }
        self.step()?;
        let number = self.next;
        self.next += 1;
        let content =
            if is_dir { Content::Dir(Dir::default()) } else { Content::File(File::default()) };
        self.nodes.insert(number, Node { content, modified: self.now(), mode });
        self.rename_all(vec![(dir, name.to_owned(), Some(number))]);
        Ok(number)
    }

    pub(crate) fn link(&mut self, number: u64, dir: u64, name: &OsStr) -> Outcome<()> {
        self.file(number)?;
        if self.dir(dir)?.names.contains_key(name) {
            return Err(Refusal::Exists);
        }
        self.step()?;
        self.rename_all(vec![(dir, name.to_owned(), Some(number))]);
        Ok(())
    }

    /// Removes a name of a file, or an empty directory.
    pub(crate) fn remove(&mut self, dir: u64, name: &OsStr, is_dir: bool) -> Outcome<()> {
        let number = self.lookup(dir, name)?;
        match (&self.node(number)?.content, is_dir) {
            (Content::Dir(_), false) => return Err(Refusal::IsADirectory),
            (Content::File(_), true) => return Err(Refusal::NotADirectory),
            (Content::Dir(found), true) if !found.names.is_empty() => {
                return Err(Refusal::NotEmpty);
            }
            _ => {}
        }
        self.step()?;
        self.rename_all(vec![(dir, name.to_owned(), None)]);
        Ok(())
    }

    pub(crate) fn rename(
        &mut self,
        from: (u64, &OsStr),
        to: (u64, &OsStr),
        replaces: bool,
    ) -> Outcome<()> {
        let number = self.lookup(from.0, from.1)?;
        if let Some(&there) = self.dir(to.0)?.names.get(to.1) {
            let is_full = self.dir(there).is_ok_and(|dir| !dir.names.is_empty());
            if !replaces {
                return Err(Refusal::Exists);
            }
            if is_full {
                return Err(Refusal::NotEmpty);
            }
        }
        self.step()?;
        self.rename_all(vec![
            (from.0, from.1.to_owned(), None),
            (to.0, to.1.to_owned(), Some(number)),
        ]);
        Ok(())
    }

    fn rename_all(&mut self, names: Vec<(u64, OsString, Option<u64>)>) {
        self.changes += 1;
        let now = self.now();
        for (dir, name, number) in &names {
            let Some(node) = self.nodes.get_mut(dir) else { continue };
            node.modified = now;
            let Content::Dir(dir) = &mut node.content else { continue };
            set(&mut dir.names, name, *number);
        }
        self.journal.push(Renaming { names });
    }

    pub(crate) fn write(&mut self, number: u64, offset: u64, bytes: &[u8]) -> Outcome<()> {
        self.change(number, Change::Write { offset: offset as usize, bytes: bytes.to_vec() })
    }

    pub(crate) fn set_len(&mut self, number: u64, len: u64) -> Outcome<()> {
        self.change(number, Change::SetLen(len as usize))
    }

    fn change(&mut self, number: u64, change: Change) -> Outcome<()> {
        self.file(number)?;
        self.step()?;
        self.changes += 1;
        let now = self.now();
        let node = self.nodes.get_mut(&number).ok_or(Refusal::NotFound)?;
        node.modified = now;
        let Content::File(file) = &mut node.content else { return Err(Refusal::IsADirectory) };
        change.apply(&mut file.data);
        file.pending.push(change);
        Ok(())
    }

    pub(crate) fn sync_file(&mut self, number: u64) -> Outcome<()> {
        self.file(number)?;
        self.step()?;
        self.syncs += 1;
        let node = self.nodes.get_mut(&number).ok_or(Refusal::NotFound)?;
        let Content::File(file) = &mut node.content else { return Err(Refusal::IsADirectory) };
        for change in std::mem::take(&mut file.pending) {
            change.apply(&mut file.durable);
        }
        Ok(())
    }

    /// Makes the names in a directory durable, and what they depend on.
    pub(crate) fn sync_dir(&mut self, number: u64) -> Outcome<()> {
        self.dir(number)?;
        self.step()?;
        self.syncs += 1;
        let mut dirs = BTreeSet::from([number]);
        let mut is_needed = vec![false; self.journal.len()];
        for (index, renaming) in self.journal.iter().enumerate().rev() {
            if renaming.dirs().any(|dir| dirs.contains(&dir)) {
                is_needed[index] = true;
                dirs.extend(renaming.dirs());
            }
        }
        let journal = std::mem::take(&mut self.journal);
        for (renaming, is_needed) in journal.into_iter().zip(is_needed) {
            if is_needed {
                self.make_durable(&renaming);
            } else {
                self.journal.push(renaming);
            }
        }
        Ok(())
    }
}

impl File {
    /// Some of the pending changes: all up to one of them, and of the later ones, sector by sector,
    /// those up to another one.
    fn after_cut(self, random: &SeededRandom) -> Vec<u8> {
        let count = self.pending.len() as u64;
        let whole = below(random, count + 1);
        let (before, after) = self.pending.split_at(whole as usize);
        let mut data = self.durable;
        for change in before {
            change.apply(&mut data);
        }
        // Mostly the disk had reached one of the writes; occasionally it was far behind.
        let spread = if below(random, 4) == 0 { after.len() } else { after.len().min(1) } as u64;
        let mut len = data.len();
        let len_changes = below(random, spread + 1) as usize;
        let mut sectors: BTreeMap<usize, usize> = BTreeMap::new();
        for (index, change) in after[..spread as usize].iter().enumerate() {
            let (from, to) = match change {
                Change::Write { offset, bytes } => (*offset, offset + bytes.len()),
                Change::SetLen(to) => (*to, data.len().max(*to)),
            };
            if index < len_changes {
                len = if matches!(change, Change::SetLen(_)) { to.min(from) } else { len.max(to) };
            }
            data.resize(data.len().max(to), 0);
            for sector in from / SECTOR..to.div_ceil(SECTOR) {
                let limit =
                    sectors.entry(sector).or_insert_with(|| below(random, spread + 1) as usize);
                if index < *limit {
                    let (start, end) = (from.max(sector * SECTOR), to.min((sector + 1) * SECTOR));
                    match change {
                        Change::Write { offset, bytes } => {
                            data[start..end].copy_from_slice(&bytes[start - offset..end - offset]);
                        }
                        Change::SetLen(_) => data[start..end].fill(0),
                    }
                }
            }
        }
        data.resize(len, 0);
        data
    }
}

fn set(names: &mut BTreeMap<OsString, u64>, name: &OsStr, number: Option<u64>) {
    match number {
        Some(number) => names.insert(name.to_owned(), number),
        None => names.remove(name),
    };
}

/// The changes of names that depend on this one or that it depends on, by index.
fn connected(journal: &[Renaming], first: usize) -> Vec<usize> {
    let mut dirs: BTreeSet<u64> = journal[first].dirs().collect();
    loop {
        let count = dirs.len();
        for renaming in journal {
            if renaming.dirs().any(|dir| dirs.contains(&dir)) {
                dirs.extend(renaming.dirs());
            }
        }
        if dirs.len() == count {
            break;
        }
    }
    let is_in = |index: &usize| journal[*index].dirs().any(|dir| dirs.contains(&dir));
    (0..journal.len()).filter(is_in).collect()
}

/// A number from 0 to `limit`, without it.
pub(crate) fn below(random: &SeededRandom, limit: u64) -> u64 {
    random.next_u64() % limit.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> &OsStr {
        OsStr::new(name)
    }

    /// What is left of a disk after cuts with many seeds, as text.
    fn left(make: impl Fn(&mut Disk)) -> BTreeSet<String> {
        (0..200)
            .map(|seed| {
                let mut disk = Disk::new();
                make(&mut disk);
                text(&disk.after_cut(&SeededRandom::new(seed)), ROOT)
            })
            .collect()
    }

    fn text(disk: &Disk, number: u64) -> String {
        let entry = |(name, number): (&OsString, &u64)| {
            let name = name.to_string_lossy();
            match &disk.node(*number).expect("a name leads somewhere").content {
                Content::File(file) => format!("{name}={}", String::from_utf8_lossy(&file.data)),
                Content::Dir(_) => format!("{name}/({})", text(disk, *number)),
            }
        };
        let names = &disk.dir(number).expect("a directory").names;
        names.iter().map(entry).collect::<Vec<_>>().join(" ")
    }

    fn set_of(texts: &[&str]) -> BTreeSet<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_name_is_lost_unless_its_directory_was_synced() {
        let made = left(|disk| {
            let file = disk.create(ROOT, name("a"), false, 0o644).expect("power");
            disk.write(file, 0, b"x").expect("power");
            disk.sync_file(file).expect("power");
        });
        assert_eq!(made, set_of(&["", "a=x"]));
    }

    #[test]
    fn content_is_lost_unless_the_file_was_synced() {
        let made = left(|disk| {
            let file = disk.create(ROOT, name("a"), false, 0o644).expect("power");
            disk.sync_dir(ROOT).expect("power");
            disk.write(file, 0, b"x").expect("power");
            disk.sync_file(file).expect("power");
            disk.write(file, 1, b"y").expect("power");
        });
        // The length may be there without the byte.
        assert_eq!(made, set_of(&["a=x", "a=x\0", "a=xy"]));
    }

    #[test]
    fn sectors_of_a_write_are_lost_one_by_one() {
        let made = left(|disk| {
            let file = disk.create(ROOT, name("a"), false, 0o644).expect("power");
            disk.sync_dir(ROOT).expect("power");
            disk.write(file, 0, &[b"x".repeat(SECTOR), b"y".repeat(SECTOR)].concat())
                .expect("power");
        });
        let zeros = "\0".repeat(SECTOR);
        let [x, y] = ["x", "y"].map(|letter| letter.repeat(SECTOR));
        let all = [(&zeros, &zeros), (&zeros, &y), (&x, &zeros), (&x, &y)];
        let mut expected: BTreeSet<String> =
            all.iter().map(|(first, second)| format!("a={first}{second}")).collect();
        expected.insert("a=".to_owned());
        assert_eq!(made, expected);
    }

    #[test]
    fn a_rename_happens_or_does_not() {
        let made = left(|disk| {
            let dir = disk.create(ROOT, name("d"), true, 0o755).expect("power");
            let file = disk.create(ROOT, name("a"), false, 0o644).expect("power");
            disk.write(file, 0, b"x").expect("power");
            disk.sync_file(file).expect("power");
            disk.sync_dir(ROOT).expect("power");
            disk.rename((ROOT, name("a")), (dir, name("b")), true).expect("power");
        });
        assert_eq!(made, set_of(&["a=x d/()", "d/(b=x)"]));
    }

    #[test]
    fn a_directory_that_is_synced_brings_what_its_names_depend_on() {
        let made = left(|disk| {
            let dir = disk.create(ROOT, name("d"), true, 0o755).expect("power");
            disk.sync_dir(ROOT).expect("power");
            let file = disk.create(ROOT, name("a"), false, 0o644).expect("power");
            disk.sync_file(file).expect("power");
            disk.rename((ROOT, name("a")), (dir, name("b")), true).expect("power");
            disk.sync_dir(dir).expect("power");
        });
        assert_eq!(made, set_of(&["d/(b=)"]));
    }

    #[test]
    fn after_the_cut_nothing_succeeds() {
        let mut disk = Disk::new();
        disk.power_off_after(2);
        assert!(disk.create(ROOT, name("a"), false, 0o644).is_ok());
        assert_eq!(disk.create(ROOT, name("b"), false, 0o644), Err(Refusal::Off));
        assert_eq!(disk.lookup(ROOT, name("a")), Err(Refusal::Off));
        assert_eq!(disk.sync_dir(ROOT), Err(Refusal::Off));
    }
}
