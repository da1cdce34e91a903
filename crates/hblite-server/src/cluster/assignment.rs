//! Which region server a region appears to be on.
//!
//! Regions are assigned round-robin when they are first requested; hbase:meta is on the first
//! server. None of this is stored: regions are assigned anew at each start, as they may be in
//! HBase.
//!
//! Threads: any.

use std::collections::{BTreeSet, HashMap, HashSet};

use hblite_model::META_ENCODED_NAME;
use parking_lot::Mutex;

use super::ServerIndex;

/// Fewer regions than this are never cleaned up.
const TIDY_AT: usize = 1_000;

/// The location of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) server: ServerIndex,
    /// The server that had it before.
    pub(crate) came_from: Option<ServerIndex>,
    /// How often it moved.
    pub(crate) moves: u64,
    /// Taken out of service by `unassign`, or lost.
    pub(crate) is_closed: bool,
    /// Out of service since its server crashed.
    pub(crate) is_lost: bool,
}

impl Place {
    fn new(server: ServerIndex) -> Self {
        Self { server, came_from: None, moves: 0, is_closed: false, is_lost: false }
    }
}

/// Locations of regions by encoded name.
#[derive(Debug)]
pub(crate) struct Assignments {
    servers: usize,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    by_name: HashMap<String, Place>,
    next: ServerIndex,
    /// Servers that must not get regions.
    decommissioned: BTreeSet<ServerIndex>,
    /// Servers that have crashed.
    dead: BTreeSet<ServerIndex>,
    /// The number of regions at which to look for removed ones.
    tidy_at: usize,
}

impl Places {
    /// The next server in turn; none if no server may get regions.
    fn next_server(&mut self, servers: usize) -> Option<ServerIndex> {
        let turns = (0..servers).map(|turn| (self.next + turn) % servers);
        let is_wanted =
            |server: &usize| !self.decommissioned.contains(server) && !self.dead.contains(server);
        let server = turns.into_iter().find(is_wanted)?;
        self.next = (server + 1) % servers;
        Some(server)
    }
}

impl Assignments {
    pub(crate) fn new(servers: usize) -> Self {
        Self { servers: servers.max(1), places: Mutex::default() }
    }

    /// The location of the region, which is assigned if it was not.
    pub(crate) fn place_of(&self, encoded_name: &str) -> Place {
        let mut places = self.places.lock();
        if let Some(place) = places.by_name.get(encoded_name) {
            return *place;
        }
        let mut server = 0;
        if encoded_name != META_ENCODED_NAME {
            server = places.next_server(self.servers).unwrap_or(0);
        }
        let is_lost = places.dead.contains(&server);
        let place = Place { is_closed: is_lost, is_lost, ..Place::new(server) };
        assert!(place.server < self.servers, "{encoded_name} is on server {}", place.server);
        places.by_name.insert(encoded_name.to_owned(), place);
        place
    }

    /// Puts the region on `server`, in service.
    pub(crate) fn move_to(&self, encoded_name: &str, server: ServerIndex) {
        assert!(server < self.servers, "{encoded_name} cannot move to server {server}");
        let before = self.place_of(encoded_name);
        let came_from = (before.server != server).then_some(before.server).or(before.came_from);
        let place = Place { came_from, moves: before.moves + 1, ..Place::new(server) };
        self.places.lock().by_name.insert(encoded_name.to_owned(), place);
    }

    /// Puts a new region on the server of `other`, as HBase does with daughters.
    pub(crate) fn put_beside(&self, encoded_name: &str, other: Place) {
        let place = Place { came_from: None, moves: 0, ..other };
        self.places.lock().by_name.insert(encoded_name.to_owned(), place);
    }

    /// The server whose turn it is to get a region; none if no server may get one.
    pub(crate) fn next_server(&self) -> Option<ServerIndex> {
        self.places.lock().next_server(self.servers)
    }

    /// Whether a server may get regions.
    pub(crate) fn set_decommissioned(&self, server: ServerIndex, is_decommissioned: bool) {
        let mut places = self.places.lock();
        if is_decommissioned {
            places.decommissioned.insert(server);
        } else {
            places.decommissioned.remove(&server);
        }
    }

    /// Servers that must not get regions.
    pub(crate) fn decommissioned(&self) -> Vec<ServerIndex> {
        self.places.lock().decommissioned.iter().copied().collect()
    }

    /// Takes the region out of service, or puts it back: on another server if its own is dead.
    pub(crate) fn set_closed(&self, encoded_name: &str, is_closed: bool) {
        let before = self.place_of(encoded_name);
        let mut places = self.places.lock();
        let is_dead = places.dead.contains(&before.server);
        let other = if is_dead && !is_closed { places.next_server(self.servers) } else { None };
        let place = match other {
            Some(server) => moved(before, server),
            // While no server is alive, it stays lost.
            None if is_dead => Place { is_closed: true, is_lost: !is_closed, ..before },
            None => Place { is_closed, is_lost: false, ..before },
        };
        places.by_name.insert(encoded_name.to_owned(), place);
    }

    /// A server has crashed: its regions go out of service. Returns their names.
    pub(crate) fn lose(&self, server: ServerIndex) -> Vec<String> {
        let mut places = self.places.lock();
        places.dead.insert(server);
        let here = places.by_name.iter_mut().filter(|(_, place)| place.server == server);
        let open = here.filter(|(_, place)| !place.is_closed);
        open.map(|(name, place)| {
            (place.is_closed, place.is_lost) = (true, true);
            name.clone()
        })
        .collect()
    }

    /// Assigns the regions of a dead server to the live ones. Returns how many; none if no server
    /// is alive.
    pub(crate) fn deal_out_lost(&self, server: ServerIndex) -> usize {
        let mut places = self.places.lock();
        let is_lost = |place: &Place| place.server == server && place.is_lost;
        let lost = places.by_name.iter().filter(|(_, place)| is_lost(place));
        // In order of their names, so that the same crash has the same outcome.
        let mut lost: Vec<(String, Place)> = lost.map(|(name, at)| (name.clone(), *at)).collect();
        lost.sort_by(|left, right| left.0.cmp(&right.0));
        let mut count = 0;
        for (name, before) in lost {
            let Some(other) = places.next_server(self.servers) else { break };
            places.by_name.insert(name, moved(before, other));
            count += 1;
        }
        count
    }

    /// A dead server is back: it regains the lost regions that no other server got. Returns how
    /// many.
    pub(crate) fn regain(&self, server: ServerIndex) -> usize {
        let mut places = self.places.lock();
        places.dead.remove(&server);
        let lost = places.by_name.values_mut().filter(|at| at.server == server && at.is_lost);
        lost.map(|place| *place = Place { moves: place.moves + 1, ..Place::new(server) }).count()
    }

    /// Once there are many regions, forgets those that no longer exist, that is, are not in
    /// `present`. All are kept if that is currently unknown.
    pub(crate) fn tidy(&self, present: impl FnOnce() -> Option<HashSet<String>>) {
        let known: HashSet<String> = {
            let mut places = self.places.lock();
            if places.by_name.len() < places.tidy_at {
                return;
            }
            places.tidy_at = (2 * places.by_name.len()).max(TIDY_AT);
            places.by_name.keys().cloned().collect()
        };
        // Regions created since then are not among the known ones.
        let Some(present) = present() else { return };
        let mut places = self.places.lock();
        places.by_name.retain(|name, _| present.contains(name) || !known.contains(name));
        places.tidy_at = (2 * places.by_name.len()).max(TIDY_AT);
    }
}

fn moved(before: Place, server: ServerIndex) -> Place {
    Place { came_from: Some(before.server), moves: before.moves + 1, ..Place::new(server) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_dealt_out_in_turn_and_stay() {
        let assignments = Assignments::new(3);
        let servers: Vec<_> =
            ["a", "b", "c", "d", "a"].map(|name| assignments.place_of(name).server).into();
        assert_eq!(servers, [0, 1, 2, 0, 0]);
        assert_eq!(assignments.place_of(META_ENCODED_NAME).server, 0);
        assignments.move_to("a", 2);
        let place = assignments.place_of("a");
        assert_eq!((place.server, place.came_from, place.moves), (2, Some(0), 1));
    }

    #[test]
    fn what_a_dead_server_had_is_lost_until_others_get_it_or_it_comes_back() {
        let assignments = Assignments::new(3);
        let names = ["a", "b", "c", "d"];
        for name in names {
            assignments.place_of(name);
        }
        assignments.set_closed("d", true);
        assert_eq!(assignments.lose(0), ["a"]);
        assert!(assignments.place_of("a").is_lost);
        // New regions go to live servers.
        assert_eq!(["e", "f", "g"].map(|name| assignments.place_of(name).server), [1, 2, 1]);
        assert_eq!(assignments.deal_out_lost(0), 1);
        let place = assignments.place_of("a");
        assert_eq!((place.server, place.came_from, place.is_closed), (2, Some(0), false));
        // An unassigned region is assigned elsewhere if its server is dead.
        assignments.set_closed("d", false);
        assert_eq!(
            (assignments.place_of("d").server, assignments.place_of("d").is_closed),
            (1, false)
        );

        assignments.lose(1);
        assignments.lose(2);
        assert_eq!(assignments.deal_out_lost(2), 0);
        assert!(assignments.place_of("h").is_lost);
        assignments.set_closed("a", false);
        assert!(assignments.place_of("a").is_lost);
        assert_eq!(assignments.regain(2), 3);
        assert_eq!(assignments.place_of("a").server, 2);
        assert_eq!(assignments.deal_out_lost(1), 4);
    }
}
