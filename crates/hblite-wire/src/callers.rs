//! Counts who sends requests: by client, user, operation and table, over all ports of a server.
//!
//! Off until [`CallerCounting::after`] is called for the first time. While it is on, a call, or a
//! region's part of a batch, takes a lock that few connections share, and looks for its caller in
//! a list of at most 64 ([`SpaceSaving`]). Nothing is done per row, and nothing in the store.
//!
//! **Bounded.** There are [`CALLERS_MAX`] callers in all lists together. A call of `after` ends the
//! counts until then, of which the last `PARTS_MAX` are kept, so that several observers see the
//! same requests.
//!
//! Threads: any.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hblite_model::{
    CALLERS_MAX, Caller, CallerCounts, Operation, Protocol, RowCounts, SpaceSaving, TableName,
    USER_MAX,
};
use parking_lot::Mutex;

/// Lists, which connections are assigned to in turn.
const LISTS: usize = 16;
/// Parts that are kept for other observers.
const PARTS_MAX: usize = 64;

/// What all connections share.
#[derive(Debug, Default)]
pub struct CallerCounting {
    is_on: AtomicBool,
    next: AtomicUsize,
    lists: [List; LISTS],
    ended: Mutex<VecDeque<(u64, CallerCounts)>>,
}

/// Alone on its lines of memory.
#[derive(Debug, Default)]
#[repr(align(128))]
struct List(Mutex<SpaceSaving<Caller>>);

/// A client whose requests are counted.
#[derive(Debug, Clone)]
pub struct CountedClient {
    counting: Arc<CallerCounting>,
    list: usize,
    protocol: Protocol,
    address: Option<IpAddr>,
    user: Option<Arc<str>>,
    hash: u64,
}

impl CallerCounting {
    /// The client of a new connection: its address, unless it is in this process, and its user, if
    /// that is known.
    pub fn client(
        self: &Arc<Self>,
        protocol: Protocol,
        address: Option<IpAddr>,
        user: Option<&str>,
    ) -> CountedClient {
        let user = user.filter(|user| !user.is_empty());
        let user = user.map(|user| Arc::from(&user[..user.floor_char_boundary(USER_MAX)]));
        let address = address.map(|address| address.to_canonical());
        let mut hasher = DefaultHasher::new();
        (protocol, address, &user).hash(&mut hasher);
        let list = self.next.fetch_add(1, Ordering::Relaxed) % LISTS;
        let counting = Arc::clone(self);
        CountedClient { counting, list, protocol, address, user, hash: hasher.finish() }
    }

    /// Adds to the counts of rows after the call that ended `after`, which `rows` returns, those of
    /// callers.
    pub fn after(&self, after: u64, rows: impl FnOnce(u64) -> RowCounts) -> RowCounts {
        let mut ended = self.ended.lock();
        self.is_on.store(true, Ordering::Relaxed);
        let mut counts = rows(after);
        // After a rewind, moments begin again.
        ended.retain(|(until, _)| *until < counts.until);
        let mut part = CallerCounts::default();
        for list in &self.lists {
            let (requests, error, callers) = std::mem::take(&mut *list.0.lock()).into_counts();
            part.add(&CallerCounts { requests, error, callers });
        }
        if part.requests > 0 {
            ended.push_back((counts.until, part));
        }
        while ended.len() > PARTS_MAX {
            ended.pop_front();
        }
        if after < counts.until {
            let later = ended.iter().filter(|(until, _)| *until > after);
            later.for_each(|(_, part)| counts.callers.add(part));
        }
        counts
    }
}

impl CountedClient {
    /// Whether requests are counted.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.counting.is_on.load(Ordering::Relaxed)
    }

    /// Counts requests.
    #[inline]
    pub fn note(&self, operation: Operation, table: &TableName, requests: u64) {
        if requests > 0 && self.is_on() {
            self.count(operation, table, requests);
        }
    }

    fn count(&self, operation: Operation, table: &TableName, requests: u64) {
        let mut hasher = DefaultHasher::new();
        (self.hash, operation, table).hash(&mut hasher);
        let is_it = |known: &Caller| {
            known.operation == operation
                && known.table == *table
                && (known.protocol, known.address) == (self.protocol, self.address)
                && known.user == self.user
        };
        let write = |known: &mut Caller| {
            let Self { protocol, address, user, .. } = self;
            let (protocol, address, user) = (*protocol, *address, user.clone());
            *known = Caller { protocol, address, user, operation, table: table.clone() };
        };
        let mut list = self.counting.lists[self.list].0.lock();
        list.add((hasher.finish(), requests), CALLERS_MAX / LISTS, is_it, write);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn counting() -> (Arc<CallerCounting>, TableName) {
        let counting = Arc::new(CallerCounting::default());
        observed(&counting, u64::MAX, 1);
        (counting, "t".parse().unwrap())
    }

    fn observed(counting: &CallerCounting, after: u64, until: u64) -> CallerCounts {
        counting.after(after, |_| RowCounts { until, ..RowCounts::default() }).callers
    }

    #[test]
    fn observers_see_what_came_after_their_own_moments() {
        let counting = Arc::new(CallerCounting::default());
        let table: TableName = "t".parse().unwrap();
        let client = counting.client(Protocol::Rpc, None, Some("anna"));
        client.note(Operation::Put, &table, 1);
        assert_eq!(observed(&counting, u64::MAX, 1).requests, 0, "it was off");
        client.note(Operation::Put, &table, 5);
        assert_eq!(observed(&counting, 1, 2).requests, 5);
        client.note(Operation::Get, &table, 2);
        let counts = observed(&counting, 1, 3);
        let of = |operation| Caller {
            user: Some("anna".into()),
            operation,
            table: table.clone(),
            ..Caller::default()
        };
        assert_eq!(counts.callers, [(of(Operation::Put), 5), (of(Operation::Get), 2)]);
        assert_eq!((counts.requests, counts.error), (7, 0));
        assert_eq!(observed(&counting, 2, 4).requests, 2);
        assert_eq!(observed(&counting, 4, 5).requests, 0);
        // Another store, after a rewind, counts its moments from the beginning.
        client.note(Operation::Get, &table, 3);
        assert_eq!(observed(&counting, 5, 1).requests, 0);
        client.note(Operation::Get, &table, 4);
        assert_eq!(observed(&counting, 1, 2).requests, 4);
    }

    /// A connection is one of many of its client, and a name may be long, and of many bytes a
    /// letter.
    #[test]
    fn connections_of_a_client_are_one_caller() {
        let (counting, table) = counting();
        let long = "ä".repeat(1_000);
        for address in ["10.1.2.3", "::ffff:10.1.2.3"] {
            let address = address.parse().ok();
            counting.client(Protocol::Rest, address, Some(&long)).note(Operation::Get, &table, 2);
        }
        let counts = observed(&counting, 1, 2);
        let (caller, count) = &counts.callers[0];
        assert_eq!((counts.callers.len(), *count), (1, 4));
        assert_eq!(caller.user.as_deref(), Some(&*"ä".repeat(USER_MAX / 2)));
        assert_eq!(caller.address, "10.1.2.3".parse().ok());
    }

    /// More clients than the lists have room for, one of them with a third of the requests.
    #[test]
    fn memory_is_bounded_and_the_error_is_stated() {
        let (counting, table) = counting();
        let mut truth: HashMap<Option<IpAddr>, u64> = HashMap::new();
        let heavy = counting.client(Protocol::Rpc, "9.9.9.9".parse().ok(), None);
        for number in 0..20_000_u32 {
            let address = Some(IpAddr::from((0x0a00_0000 + number).to_be_bytes()));
            let client = counting.client(Protocol::Rpc, address, None);
            let requests = u64::from(number % 3);
            client.note(Operation::Put, &table, requests);
            heavy.note(Operation::Put, &table, 1);
            *truth.entry(address).or_default() += requests;
            *truth.entry(heavy.address).or_default() += 1;
        }
        let counts = observed(&counting, 1, 2);
        assert_eq!(counts.requests, truth.values().sum::<u64>());
        assert!(counts.callers.len() <= CALLERS_MAX);
        for (caller, count) in &counts.callers {
            let truth = truth[&caller.address];
            assert!(*count <= truth && truth <= *count + counts.error, "{caller:?}");
        }
        assert_eq!(counts.callers[0].0.address, heavy.address);
        for until in 3..200 {
            heavy.note(Operation::Put, &table, 1);
            observed(&counting, 1, until);
        }
        assert_eq!(counting.ended.lock().len(), PARTS_MAX);
    }
}
