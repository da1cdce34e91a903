//! Permits for a limited number of connections, or of anything else that clients hold.
//!
//! A connection is waiting while its client has to do something: identify itself, complete a
//! request, or take an answer. When all permits are taken, a new connection ends the one that has
//! waited longest. Clients that hold permits but send or take nothing, or do so byte by byte,
//! therefore do not lock out other clients.
//!
//! One address may hold seven eighths of the permits. At its share, its new connections replace
//! only its own. Clients of other addresses are therefore served, whatever one of them does.
//!
//! All ports of a process together may be limited as well ([`limit_process`]), since each
//! connection takes a descriptor, and files need some.
//!
//! Threads: any.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// What no address may hold alone is the number of permits divided by this.
const RESERVED_SHARE: usize = 8;

/// How many permits all ports of this process may give, and have given.
static PROCESS_MAX: AtomicUsize = AtomicUsize::new(usize::MAX);
static PROCESS_TAKEN: AtomicUsize = AtomicUsize::new(0);
/// The permits of these ports.
static PORTS: Mutex<Vec<Weak<Permits>>> = Mutex::new(Vec::new());

/// Limits the connections of all ports of this process together.
pub fn limit_process(count_max: usize) {
    PROCESS_MAX.store(count_max, Ordering::Relaxed);
}

/// Whether the process may have another connection, if need be in place of one of the port that has
/// the most.
fn has_process_room() -> bool {
    if PROCESS_TAKEN.load(Ordering::Relaxed) < PROCESS_MAX.load(Ordering::Relaxed) {
        return true;
    }
    let mut ports: Vec<Arc<Permits>> = PORTS.lock().iter().filter_map(Weak::upgrade).collect();
    ports.sort_by_key(|port| Reverse(port.taken()));
    ports.iter().any(|port| port.evict())
}

/// How many of `count_max` one address may hold.
pub fn share_of(count_max: usize) -> usize {
    count_max - count_max / RESERVED_SHARE
}

/// Ends a connection. It runs under a lock, and must neither wait nor use the permits.
pub type End = Box<dyn Fn() + Send + Sync>;

/// The permits of one or several ports.
#[derive(Debug)]
pub struct Permits {
    count_max: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    count: usize,
    last_number: u64,
    /// The permits of each address that has any.
    of_address: HashMap<IpAddr, usize>,
    /// The waiting connections, the one that has waited longest first.
    waiting: BTreeMap<u64, Waiting>,
}

struct Waiting {
    address: IpAddr,
    end: Arc<End>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Waiting({})", self.address)
    }
}

/// A permit, held until it is dropped.
pub struct Permit {
    permits: Arc<Permits>,
    address: IpAddr,
    /// Its number among the waiting ones.
    number: Mutex<Option<u64>>,
    end: Arc<End>,
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Permits {
    /// `count_max` permits.
    pub fn new(count_max: usize) -> Arc<Self> {
        let permits = Arc::new(Self { count_max, taken: Mutex::default() });
        let mut ports = PORTS.lock();
        ports.retain(|port| port.strong_count() > 0);
        ports.push(Arc::downgrade(&permits));
        permits
    }

    /// The number of permits taken.
    pub fn taken(&self) -> usize {
        self.taken.lock().count
    }

    /// Takes a permit for a client at `address`, in the waiting state; `end` is called when it must
    /// make room. `None` if there is no permit for it, and none whose holder is waiting.
    pub fn enter(self: &Arc<Self>, address: IpAddr, end: End) -> Option<Permit> {
        // Before the lock is taken: it may look at those of all ports.
        if !has_process_room() {
            return None;
        }
        let address = address.to_canonical();
        let mut taken = self.taken.lock();
        let of_address = taken.of_address.get(&address).copied().unwrap_or(0);
        let has_room = match () {
            () if of_address >= share_of(self.count_max) => taken.evict(|each| each == address),
            () if taken.count >= self.count_max => taken.evict(|_| true),
            () => true,
        };
        if !has_room {
            return None;
        }
        taken.count += 1;
        PROCESS_TAKEN.fetch_add(1, Ordering::Relaxed);
        *taken.of_address.entry(address).or_default() += 1;
        drop(taken);
        let permits = Arc::clone(self);
        let permit = Permit { permits, address, number: Mutex::new(None), end: Arc::new(end) };
        permit.wait();
        Some(permit)
    }

    /// Ends the connection that has waited longest, if one is waiting.
    pub fn evict(&self) -> bool {
        self.taken.lock().evict(|_| true)
    }
}

impl Taken {
    /// Ends the connection that has waited longest among those of certain addresses.
    fn evict(&mut self, is_of: impl Fn(IpAddr) -> bool) -> bool {
        let found = self.waiting.iter().find(|(_, waiting)| is_of(waiting.address));
        let Some(number) = found.map(|(number, _)| *number) else { return false };
        if let Some(waiting) = self.waiting.remove(&number) {
            (waiting.end)();
        }
        true
    }
}

impl Permit {
    /// The connection is waiting from now on, if it is not already, and may be ended.
    pub fn wait(&self) {
        let mut taken = self.permits.taken.lock();
        let mut number = self.number.lock();
        if number.is_none() {
            taken.last_number += 1;
            *number = Some(taken.last_number);
            let last = taken.last_number;
            let waiting = Waiting { address: self.address, end: Arc::clone(&self.end) };
            taken.waiting.insert(last, waiting);
        }
    }

    /// The connection is busy from now on.
    pub fn work(&self) {
        let mut taken = self.permits.taken.lock();
        if let Some(number) = self.number.lock().take() {
            taken.waiting.remove(&number);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.work();
        let mut taken = self.permits.taken.lock();
        taken.count -= 1;
        PROCESS_TAKEN.fetch_sub(1, Ordering::Relaxed);
        if let Some(of_address) = taken.of_address.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                taken.of_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    struct Holder {
        permit: Permit,
        is_ended: Arc<AtomicBool>,
    }

    impl Holder {
        fn is_ended(&self) -> bool {
            self.is_ended.load(Ordering::Relaxed)
        }
    }

    fn enter(permits: &Arc<Permits>, host: u8) -> Option<Holder> {
        let is_ended = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_ended);
        let end: End = Box::new(move || flag.store(true, Ordering::Relaxed));
        let permit = permits.enter(IpAddr::from([10, 0, 0, host]), end)?;
        Some(Holder { permit, is_ended })
    }

    #[test]
    fn who_has_waited_longest_makes_room() {
        let permits = Permits::new(3);
        let all: Vec<Holder> = (0..3).filter_map(|_| enter(&permits, 1)).collect();
        all[0].permit.work();
        let fourth = enter(&permits, 1).unwrap();
        let ended: Vec<bool> = all.iter().map(Holder::is_ended).collect();
        assert_eq!(ended, [false, true, false]);
        // A connection that starts waiting again moves to the end of the order.
        all[0].permit.wait();
        all[0].permit.wait();
        let fifth = enter(&permits, 2).unwrap();
        assert!(all[2].is_ended() && !fourth.is_ended());
        drop(all);
        fourth.permit.work();
        fifth.permit.work();
        let sixth = enter(&permits, 3).unwrap();
        sixth.permit.work();
        assert!(enter(&permits, 3).is_none() && !permits.evict());
        assert_eq!(permits.taken(), 3);
        drop((fourth, fifth, sixth));
        assert_eq!(permits.taken(), 0);
    }

    #[test]
    fn one_address_does_not_hold_everything() {
        let permits = Permits::new(16);
        let greedy: Vec<Holder> = (0..14).filter_map(|_| enter(&permits, 1)).collect();
        greedy.iter().for_each(|holder| holder.permit.work());
        assert!(enter(&permits, 1).is_none(), "it holds its share of 14");
        let others = [enter(&permits, 2).unwrap(), enter(&permits, 3).unwrap()];
        greedy[5].permit.wait();
        let replaced = enter(&permits, 1).unwrap();
        assert!(greedy[5].is_ended() && !others[0].is_ended(), "it replaces only its own");
        drop(greedy);
        drop(replaced);
        assert_eq!(permits.taken(), 2);
        drop(others);
        assert!(permits.taken.lock().of_address.is_empty());
    }

    #[test]
    fn an_address_has_one_share_in_both_families() {
        let permits = Permits::new(8);
        let end = || -> End { Box::new(|| {}) };
        let v4: IpAddr = "10.0.0.1".parse().unwrap();
        let mapped: IpAddr = "::ffff:10.0.0.1".parse().unwrap();
        let held: Vec<Permit> = (0..7).filter_map(|_| permits.enter(v4, end())).collect();
        held.iter().for_each(Permit::work);
        assert!(permits.enter(mapped, end()).is_none());
    }
}
