//! The watches of one connection, and the events that a change of the tree fires.
//!
//! An ordinary watch fires once and is then removed; persistent ones (ZooKeeper 3.6) stay. Watches
//! live as long as their connection: a client sets them again when it reconnects (`setWatches`).

use std::collections::HashSet;

use super::history::Change;
use super::znodes::parent;

/// More watches than this on one connection are refused.
const WATCHES_MAX: usize = 10_000;

/// The type of an event, with ZooKeeper's numbers (`Watcher.Event.EventType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventType {
    Created = 1,
    Deleted = 2,
    DataChanged = 3,
    ChildrenChanged = 4,
}

/// The kinds of watches of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchKind {
    /// Set by `getData` and `exists`.
    Data,
    /// Set by `getChildren`.
    Children,
    /// Stays, and reports changes of data and children.
    Persistent,
    /// Stays, and reports all changes at and below the path.
    Recursive,
}

/// The watches of one connection.
#[derive(Debug, Default)]
pub(super) struct Watches {
    data: HashSet<String>,
    children: HashSet<String>,
    persistent: HashSet<String>,
    recursive: HashSet<String>,
}

impl Watches {
    pub(super) fn len(&self) -> usize {
        self.data.len() + self.children.len() + self.persistent.len() + self.recursive.len()
    }

    /// Whether there are no watches.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn of(&mut self, kind: WatchKind) -> &mut HashSet<String> {
        match kind {
            WatchKind::Data => &mut self.data,
            WatchKind::Children => &mut self.children,
            WatchKind::Persistent => &mut self.persistent,
            WatchKind::Recursive => &mut self.recursive,
        }
    }

    /// Sets a watch; `false` if there are too many.
    #[must_use]
    pub(super) fn set(&mut self, kind: WatchKind, path: &str) -> bool {
        if self.len() >= WATCHES_MAX && !self.of(kind).contains(path) {
            return false;
        }
        self.of(kind).insert(path.to_owned());
        true
    }

    /// Whether there is a watch of one of these kinds.
    pub(super) fn has(&mut self, kinds: &[WatchKind], path: &str) -> bool {
        kinds.iter().any(|kind| self.of(*kind).contains(path))
    }

    /// Removes the watches of these kinds; `false` if there are none.
    pub(super) fn remove(&mut self, kinds: &[WatchKind], path: &str) -> bool {
        let mut was_there = false;
        for kind in kinds {
            was_there |= self.of(*kind).remove(path);
        }
        was_there
    }

    fn is_below_recursive(&self, path: &str) -> bool {
        let mut at = Some(path);
        while let Some(each) = at {
            if self.recursive.contains(each) {
                return true;
            }
            at = parent(each);
        }
        false
    }

    /// The events that these changes fire, in order. Removes watches that fire only once.
    pub(super) fn fire(&mut self, changes: &[Change<'_>]) -> Vec<(EventType, String)> {
        let mut events = Vec::new();
        // A persistent watch fires once for several children that changed together.
        let mut parents_told = HashSet::new();
        for change in changes {
            let path = change.path();
            let event = match change {
                Change::Created(_) => EventType::Created,
                Change::Modified(_) => EventType::DataChanged,
                Change::Deleted(_) => EventType::Deleted,
            };
            let mut hears = self.data.remove(path);
            if event == EventType::Deleted {
                hears |= self.children.remove(path);
            }
            if hears || self.persistent.contains(path) || self.is_below_recursive(path) {
                events.push((event, path.to_owned()));
            }
            if event == EventType::DataChanged {
                continue;
            }
            if let Some(above) = parent(path) {
                let hears = self.children.remove(above) || self.persistent.contains(above);
                if hears && parents_told.insert(above) {
                    events.push((EventType::ChildrenChanged, above.to_owned()));
                }
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = "/hbase/meta-region-server";

    #[test]
    fn ordinary_watches_fire_once_and_persistent_ones_stay() {
        let mut watches = Watches::default();
        assert!(watches.set(WatchKind::Data, META));
        assert!(watches.set(WatchKind::Persistent, META));
        let moved = [Change::Modified(META)];
        assert_eq!(watches.fire(&moved), [(EventType::DataChanged, META.to_owned())]);
        assert_eq!(watches.fire(&moved).len(), 1);
        assert!(watches.remove(&[WatchKind::Persistent], META));
        assert!(watches.fire(&moved).is_empty());
        assert!(!watches.remove(&[WatchKind::Persistent], META));
    }

    #[test]
    fn a_watch_of_children_hears_of_coming_and_going() {
        let mut watches = Watches::default();
        assert!(watches.set(WatchKind::Children, "/hbase/rs"));
        let changes = [Change::Deleted("/hbase/rs/a"), Change::Created("/hbase/rs/b")];
        let expected = [(EventType::ChildrenChanged, "/hbase/rs".to_owned())];
        assert_eq!(watches.fire(&changes), expected);
    }

    #[test]
    fn recursive_watches_hear_of_everything_below() {
        let mut watches = Watches::default();
        assert!(watches.set(WatchKind::Recursive, "/hbase"));
        let changes = [Change::Created("/hbase/rs/b"), Change::Modified(META)];
        let expected = [
            (EventType::Created, "/hbase/rs/b".to_owned()),
            (EventType::DataChanged, META.to_owned()),
        ];
        assert_eq!(watches.fire(&changes), expected);
    }

    #[test]
    fn the_number_of_watches_is_limited() {
        let mut watches = Watches::default();
        for index in 0..WATCHES_MAX {
            assert!(watches.set(WatchKind::Data, &format!("/{index}")));
        }
        assert!(!watches.set(WatchKind::Children, "/one more"));
        assert!(watches.set(WatchKind::Data, "/0"));
    }
}
