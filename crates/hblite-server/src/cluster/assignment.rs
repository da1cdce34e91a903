//! Which region server a region seems to be on.
//!
//! Regions are dealt out in turn when they are first asked for; hbase:meta is on the first server.
//! Nothing of it is stored: another start deals anew, as another start of HBase may.
//!
//! Threads: any.

use std::collections::{BTreeSet, HashMap};

use hblite_model::META_ENCODED_NAME;
use parking_lot::Mutex;

use super::ServerIndex;

/// Fewer regions than this are never looked through.
const TIDY_AT: usize = 1_000;

/// Where a region is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) server: ServerIndex,
    /// The server that had it before.
    pub(crate) came_from: Option<ServerIndex>,
    /// How often it moved.
    pub(crate) moves: u64,
    /// Taken out of service by `unassign`.
    pub(crate) is_closed: bool,
}

/// Places of regions by encoded name.
#[derive(Debug)]
pub(crate) struct Assignments {
    servers: usize,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    by_name: HashMap<String, Place>,
    next: ServerIndex,
    /// Servers that are to have no regions.
    decommissioned: BTreeSet<ServerIndex>,
    /// With so many regions it is time to look for those that are no more.
    tidy_at: usize,
}

impl Places {
    /// The server whose turn it is; none if none is to have regions.
    fn next_server(&mut self, servers: usize) -> Option<ServerIndex> {
        let turns = (0..servers).map(|turn| (self.next + turn) % servers);
        let server = turns.into_iter().find(|server| !self.decommissioned.contains(server))?;
        self.next = (server + 1) % servers;
        Some(server)
    }
}

impl Assignments {
    pub(crate) fn new(servers: usize) -> Self {
        Self { servers: servers.max(1), places: Mutex::default() }
    }

    /// Where the region is; it is dealt out if it was not.
    pub(crate) fn place_of(&self, encoded_name: &str) -> Place {
        let mut places = self.places.lock();
        if let Some(place) = places.by_name.get(encoded_name) {
            return *place;
        }
        let mut server = 0;
        if encoded_name != META_ENCODED_NAME {
            server = places.next_server(self.servers).unwrap_or(0);
        }
        let place = Place { server, came_from: None, moves: 0, is_closed: false };
        places.by_name.insert(encoded_name.to_owned(), place);
        place
    }

    /// Puts the region on `server`, in service.
    pub(crate) fn move_to(&self, encoded_name: &str, server: ServerIndex) {
        let before = self.place_of(encoded_name);
        let came_from = (before.server != server).then_some(before.server).or(before.came_from);
        let place = Place { server, came_from, moves: before.moves + 1, is_closed: false };
        self.places.lock().by_name.insert(encoded_name.to_owned(), place);
    }

    /// Puts a region that was just made where `other` is, as HBase does with daughters.
    pub(crate) fn put_beside(&self, encoded_name: &str, other: Place) {
        let place = Place { server: other.server, came_from: None, moves: 0, is_closed: false };
        self.places.lock().by_name.insert(encoded_name.to_owned(), place);
    }

    /// The server whose turn it is to get a region; none if none is to have some.
    pub(crate) fn next_server(&self) -> Option<ServerIndex> {
        self.places.lock().next_server(self.servers)
    }

    /// Whether a server is to have regions.
    pub(crate) fn set_decommissioned(&self, server: ServerIndex, is_decommissioned: bool) {
        let mut places = self.places.lock();
        if is_decommissioned {
            places.decommissioned.insert(server);
        } else {
            places.decommissioned.remove(&server);
        }
    }

    /// Servers that are to have no regions.
    pub(crate) fn decommissioned(&self) -> Vec<ServerIndex> {
        self.places.lock().decommissioned.iter().copied().collect()
    }

    /// Takes the region out of service, or back.
    pub(crate) fn set_closed(&self, encoded_name: &str, is_closed: bool) {
        let place = Place { is_closed, ..self.place_of(encoded_name) };
        self.places.lock().by_name.insert(encoded_name.to_owned(), place);
    }

    /// Forgets regions that are no more, once they are many.
    pub(crate) fn tidy(&self, is_there: impl Fn(&str) -> bool) {
        let names: Vec<String> = {
            let mut places = self.places.lock();
            if places.by_name.len() < places.tidy_at {
                return;
            }
            places.tidy_at = (2 * places.by_name.len()).max(TIDY_AT);
            places.by_name.keys().cloned().collect()
        };
        let gone = names.iter().filter(|name| !is_there(name));
        let gone: Vec<&String> = gone.collect();
        let mut places = self.places.lock();
        for name in gone {
            places.by_name.remove(name);
        }
        places.tidy_at = (2 * places.by_name.len()).max(TIDY_AT);
    }
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
}
