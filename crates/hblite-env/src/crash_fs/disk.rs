//! The disk under [`super::CrashFileSystem`]: inodes, visible names and durable names.
//!
//! Every directory has its names twice. A change of names is applied immediately to the visible
//! ones, and to the durable ones when its directory is synced or a power cut happens to keep it.
//! Files only grow, so the durable part of one is a length, minus the ranges of failed syncs: the
//! operating system no longer considers them dirty, and later syncs succeed without them. Copies of
//! a disk share the content of files until one of them writes.
//!
//! Threads: none of its own; the file system locks it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::Losses;
use crate::rng::{Random as _, SeededRandom};

/// The unit of a disk write: a sector, or a page of the operating system.
const SECTOR_SIZES: [usize; 2] = [512, 4096];

pub(super) type InodeId = usize;
/// A directory entry: directory and name in it.
pub(super) type Slot = (InodeId, String);

const ROOT: InodeId = 0;

#[derive(Debug, Clone)]
pub(super) struct Disk {
    pub(super) inodes: Vec<Inode>,
    /// Changes of names that no directory sync has covered, in order.
    pending: Vec<NameChange>,
    pub(super) locked: BTreeSet<PathBuf>,
    /// Changing operations so far.
    pub(super) operation_count: u64,
    /// The number of operations at which the power goes off.
    pub(super) power_off_at: Option<u64>,
}

#[derive(Debug, Clone)]
pub(super) enum Inode {
    Dir {
        live: BTreeMap<String, InodeId>,
        durable: BTreeMap<String, InodeId>,
    },
    File {
        content: Arc<Vec<u8>>,
        durable_length: usize,
        forgotten: Vec<Range<usize>>,
        /// Number of writes, for a log: after the first, zeros may follow the content.
        log_writes: Option<u32>,
    },
}

#[derive(Debug, Clone)]
pub(super) enum NameChange {
    Link { to: Slot, inode: InodeId },
    Unlink { from: Slot },
    Rename { from: Slot, to: Slot, inode: InodeId },
}

impl Inode {
    pub(super) fn empty_dir() -> Self {
        Self::Dir { live: BTreeMap::new(), durable: BTreeMap::new() }
    }

    pub(super) fn empty_file() -> Self {
        Self::file_of(Vec::new())
    }

    /// A file of which nothing is durable.
    pub(super) fn file_of(content: Vec<u8>) -> Self {
        Self::file(content, None)
    }

    pub(super) fn empty_log() -> Self {
        Self::file(Vec::new(), Some(0))
    }

    fn file(content: Vec<u8>, log_writes: Option<u32>) -> Self {
        let (content, forgotten) = (Arc::new(content), Vec::new());
        Self::File { content, durable_length: 0, forgotten, log_writes }
    }
}

impl NameChange {
    fn slots(&self) -> impl Iterator<Item = &Slot> {
        let (first, second) = match self {
            Self::Link { to, .. } => (to, None),
            Self::Unlink { from } => (from, None),
            Self::Rename { from, to, .. } => (to, Some(from)),
        };
        std::iter::once(first).chain(second)
    }

    /// The directory whose sync makes this durable.
    fn dir(&self) -> InodeId {
        match self {
            Self::Link { to, .. } | Self::Rename { to, .. } => to.0,
            Self::Unlink { from } => from.0,
        }
    }
}

pub(super) fn not_found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{} does not exist", path.display()))
}

pub(super) fn already_exists(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{} already exists", path.display()))
}

fn utf8(name: &OsStr) -> io::Result<&str> {
    name.to_str().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

impl Default for Disk {
    fn default() -> Self {
        Self {
            inodes: vec![Inode::empty_dir()],
            pending: Vec::new(),
            locked: BTreeSet::new(),
            operation_count: 0,
            power_off_at: None,
        }
    }
}

impl Disk {
    pub(super) fn check_power(&self) -> io::Result<()> {
        match self.power_off_at {
            Some(at) if self.operation_count >= at => Err(io::Error::other("the power is off")),
            _ => Ok(()),
        }
    }

    /// Counts one changing operation.
    pub(super) fn change(&mut self) -> io::Result<()> {
        self.check_power()?;
        self.operation_count += 1;
        Ok(())
    }

    pub(super) fn names(&self, dir: InodeId) -> io::Result<&BTreeMap<String, InodeId>> {
        match &self.inodes[dir] {
            Inode::Dir { live, .. } => Ok(live),
            Inode::File { .. } => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn content(&self, file: InodeId) -> io::Result<&Arc<Vec<u8>>> {
        match &self.inodes[file] {
            Inode::File { content, .. } => Ok(content),
            Inode::Dir { .. } => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<InodeId> {
        let mut at = ROOT;
        for component in path.components() {
            match component {
                Component::RootDir | Component::CurDir => {}
                Component::Normal(name) => {
                    let below = self.names(at)?.get(utf8(name)?);
                    at = *below.ok_or_else(|| not_found(path))?;
                }
                _ => return Err(io::ErrorKind::InvalidInput.into()),
            }
        }
        Ok(at)
    }

    /// Whether `path` refers to this inode.
    pub(super) fn is_at(&self, inode: InodeId, path: &Path) -> io::Result<bool> {
        self.check_power()?;
        match self.find(path) {
            Ok(found) => Ok(found == inode),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The entry of `path` in its directory, which must exist.
    pub(super) fn slot(&self, path: &Path) -> io::Result<Slot> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let dir = self.find(path.parent().unwrap_or(Path::new("")))?;
        Ok((dir, utf8(name)?.to_owned()))
    }

    pub(super) fn at(&self, slot: &Slot) -> Option<InodeId> {
        self.names(slot.0).ok()?.get(&slot.1).copied()
    }

    /// Changes what a running process sees, and records it for a directory sync.
    pub(super) fn apply(&mut self, change: NameChange) {
        self.apply_to(&change, |inode| match inode {
            Inode::Dir { live, .. } => Some(live),
            Inode::File { .. } => None,
        });
        self.pending.push(change);
    }

    pub(super) fn apply_durably(&mut self, change: &NameChange) {
        self.apply_to(change, |inode| match inode {
            Inode::Dir { durable, .. } => Some(durable),
            Inode::File { .. } => None,
        });
    }

    pub(super) fn apply_to(
        &mut self,
        change: &NameChange,
        names: impl Fn(&mut Inode) -> Option<&mut BTreeMap<String, InodeId>>,
    ) {
        if let NameChange::Unlink { from } | NameChange::Rename { from, .. } = change
            && let Some(names) = names(&mut self.inodes[from.0])
        {
            names.remove(&from.1);
        }
        if let NameChange::Link { to, inode } | NameChange::Rename { to, inode, .. } = change
            && let Some(names) = names(&mut self.inodes[to.0])
        {
            names.insert(to.1.clone(), *inode);
        }
    }

    pub(super) fn add(&mut self, slot: Slot, inode: Inode) -> InodeId {
        let id = self.inodes.len();
        self.inodes.push(inode);
        self.apply(NameChange::Link { to: slot, inode: id });
        id
    }

    /// Removes the names below a directory, deepest first, then its own.
    pub(super) fn unlink_all(&mut self, slot: Slot) {
        if let Some(inode) = self.at(&slot)
            && let Ok(names) = self.names(inode)
        {
            for name in names.keys().cloned().collect::<Vec<_>>() {
                self.unlink_all((inode, name));
            }
        }
        self.apply(NameChange::Unlink { from: slot });
    }

    /// Makes the pending changes of `dir` durable, and earlier ones of the same names with them.
    pub(super) fn sync_names(&mut self, dir: InodeId) {
        let mut covered: BTreeSet<Slot> = BTreeSet::new();
        let (mut durable, mut rest) = (Vec::new(), Vec::new());
        for change in std::mem::take(&mut self.pending).into_iter().rev() {
            if change.dir() == dir || change.slots().any(|slot| covered.contains(slot)) {
                covered.extend(change.slots().cloned());
                durable.push(change);
            } else {
                rest.push(change);
            }
        }
        for change in durable.iter().rev() {
            self.apply_durably(change);
        }
        rest.reverse();
        self.pending = rest;
    }

    pub(super) fn sync_content(&mut self, file: InodeId) -> io::Result<()> {
        match &mut self.inodes[file] {
            Inode::File { content, durable_length, .. } => {
                *durable_length = content.len();
                Ok(())
            }
            Inode::Dir { .. } => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// A failed sync: what it should have written is not written by later syncs either.
    pub(super) fn forget_unsynced(&mut self, file: InodeId) {
        if let Inode::File { content, durable_length, forgotten, .. } = &mut self.inodes[file]
            && *durable_length < content.len()
        {
            forgotten.push(*durable_length..content.len());
        }
    }

    /// The content from `from` on is written again, so failed syncs no longer matter for it.
    pub(super) fn write_again(&mut self, file: InodeId, from: usize) {
        if let Inode::File { forgotten, .. } = &mut self.inodes[file] {
            forgotten.retain_mut(|range| {
                range.end = range.end.min(from);
                range.start < range.end
            });
        }
    }

    pub(super) fn sync_everything(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            self.apply_durably(&change);
        }
        for inode in &mut self.inodes {
            if let Inode::File { content, durable_length, forgotten, .. } = inode {
                *durable_length = content.len();
                forgotten.clear();
            }
        }
    }

    pub(super) fn cut_power(&mut self, seed: u64) -> Losses {
        let random = SeededRandom::new(seed);
        let chance = |one_in: u64| seed != 0 && random.next_u64().is_multiple_of(one_in);
        let mut losses = Losses::default();
        for change in std::mem::take(&mut self.pending) {
            if chance(2) {
                losses.names_kept_unsynced += 1;
                self.apply_durably(&change);
            } else {
                losses.names_lost += 1;
            }
        }
        for inode in &mut self.inodes {
            match inode {
                Inode::Dir { live, durable } => live.clone_from(durable),
                Inode::File { content, durable_length, forgotten, log_writes } => {
                    let has_zeros = take_zeros_ahead(log_writes) && chance(2);
                    if content.len() == *durable_length && forgotten.is_empty() && !has_zeros {
                        continue;
                    }
                    let unsynced = (content.len() - *durable_length) as u64;
                    let kept = if seed == 0 { 0 } else { random.next_u64() % (unsynced + 1) };
                    let kept = if chance(4) { unsynced } else { kept };
                    losses.tails_torn += u64::from(kept > 0 && kept < unsynced);
                    losses.tails_lost += u64::from(kept == 0 && unsynced > 0);
                    let content = Arc::make_mut(content);
                    content.truncate(*durable_length + kept as usize);
                    let unsynced = *durable_length..content.len();
                    if chance(3) {
                        lose_sectors(content, unsynced, &random, &mut losses);
                    }
                    for range in forgotten.drain(..) {
                        if chance(2) {
                            lose_sectors(content, range, &random, &mut losses);
                            losses.syncs_forgotten += 1;
                        }
                    }
                    if has_zeros {
                        append_zeros(content);
                    }
                    *durable_length = content.len();
                }
            }
        }
        self.locked.clear();
        self.power_off_at = None;
        self.drop_unreachable();
        losses
    }

    /// Lets zeros follow the content of logs, as their writer left them.
    pub(super) fn show_zeros_ahead(&mut self) {
        for inode in &mut self.inodes {
            if let Inode::File { content, log_writes, .. } = inode
                && take_zeros_ahead(log_writes)
            {
                append_zeros(Arc::make_mut(content));
            }
        }
    }

    /// Frees the content of files without a name. They must not be open.
    pub(super) fn drop_unreachable(&mut self) {
        let mut reached = vec![false; self.inodes.len()];
        let mut open = vec![ROOT];
        while let Some(inode) = open.pop() {
            if !std::mem::replace(&mut reached[inode], true)
                && let Inode::Dir { live, durable } = &self.inodes[inode]
            {
                open.extend(live.values().chain(durable.values()));
            }
        }
        for change in &self.pending {
            if let NameChange::Link { inode, .. } | NameChange::Rename { inode, .. } = change {
                reached[*inode] = true;
            }
        }
        for (inode, _) in self.inodes.iter_mut().zip(reached).filter(|(_, reached)| !reached) {
            if let Inode::File { .. } = inode {
                *inode = Inode::empty_file();
            }
        }
    }
}

/// Whether zeros may follow the content of a file, which is not written to from now on.
fn take_zeros_ahead(log_writes: &mut Option<u32>) -> bool {
    log_writes.take().is_some_and(|count| count > 1)
}

/// A page of zeros and what is left of the last one.
fn append_zeros(content: &mut Vec<u8>) {
    let [_, page] = SECTOR_SIZES;
    content.resize(content.len().next_multiple_of(page) + page, 0);
}

/// Zeroes some of the sectors in a range, as if sectors had been written out of order and the power
/// had failed before these.
fn lose_sectors(
    content: &mut [u8],
    range: Range<usize>,
    random: &SeededRandom,
    losses: &mut Losses,
) {
    let kind = (random.next_u64() % 2) as usize;
    let size = SECTOR_SIZES[kind];
    let (mut start, end) = (range.start, range.end.min(content.len()));
    while start < end {
        let next = (start / size * size + size).min(end);
        if random.next_u64().is_multiple_of(4) {
            content[start..next].fill(0);
            losses.sectors_lost[kind] += 1;
        }
        start = next;
    }
}
