//! How often each kind of fault, work and check happened, over all seeds.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What must have happened at least once. Faults come first, then ends, work and checks.
const NEEDED: &[&str] = &[
    "fault: EIO on create",
    "fault: EIO on directory sync",
    "fault: EIO on list",
    "fault: EIO on open",
    "fault: EIO on read",
    "fault: EIO on remove",
    "fault: EIO on rename",
    "fault: EIO on sync",
    "fault: EIO on write",
    "fault: bit rot",
    "fault: no space",
    "fault: short read",
    "fault: slow disk",
    "loss: 4 KiB page behind a hole",
    "loss: 512 B sector behind a hole",
    "loss: name kept without a directory sync",
    "loss: name lost before a directory sync",
    "loss: sync that failed and was forgotten",
    "loss: unsynced tail, all",
    "loss: unsynced tail, torn",
    "end: close",
    "end: kill",
    "end: kill in the midst",
    "end: power cut",
    "end: power cut in the midst",
    "end: power cut while opening",
    "work: add and delete a family",
    "work: alter",
    "work: append",
    "work: backup",
    "work: batch",
    "work: bulk load",
    "work: checkAndMutate",
    "work: create and drop a table",
    "work: delete",
    "work: flush",
    "work: flush of a family",
    "work: get",
    "work: increment",
    "work: major compaction",
    "work: merge",
    "work: minor compaction",
    "work: mutateRow",
    "work: put",
    "work: puts",
    "work: scan",
    "work: snapshot",
    "work: split",
    "check: backup opened",
    "check: bulk load looked for",
    "check: cut of a fork",
    "check: directory clean",
    "check: opened twice",
    "check: row explained",
    "check: row without the log explained",
    "check: rotten store refused or right",
    "check: snapshot cloned",
];

/// Counters by name; shared by all seeds.
#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<BTreeMap<&'static str, u64>>);

impl Rates {
    pub(crate) fn count(&self, what: &'static str) {
        self.add(what, 1);
    }

    pub(crate) fn add(&self, what: &'static str, count: u64) {
        if count > 0 {
            *self.lock().entry(what).or_default() += count;
        }
    }

    /// Adds the counts of a run when it ends.
    pub(crate) fn add_all(&self, other: &Self) {
        for (what, count) in &*other.lock() {
            self.add(what, *count);
        }
    }

    pub(crate) fn of(&self, what: &str) -> u64 {
        self.lock().get(what).copied().unwrap_or(0)
    }

    /// How many faults were injected.
    pub(crate) fn faults(&self) -> u64 {
        let rates = self.lock();
        rates.iter().filter(|(what, _)| what.starts_with("fault")).map(|(_, count)| count).sum()
    }

    /// What must have happened and did not.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        let rates = self.lock();
        NEEDED.iter().filter(|what| !rates.contains_key(*what)).copied().collect()
    }

    /// A line each.
    pub(crate) fn show(&self) -> String {
        self.lock().iter().map(|(what, count)| format!("{count:>10}  {what}\n")).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
