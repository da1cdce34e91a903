//! Permits for a limited number of connections, or of anything else that clients hold.
//!
//! A connection is waiting while its client has to do something: identify itself, complete a
//! request, or take an answer. When all permits are taken, a new connection ends the one that has
//! waited longest, and takes its place once that one has gone. Clients that hold permits but send
//! or take nothing, or do so byte by byte, therefore do not lock out other clients.
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
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use parking_lot::Mutex;

/// What no address may hold alone is the number of permits divided by this.
const RESERVED_SHARE: usize = 8;

/// What all ports of this process have given together. Its lock is taken before that of a port.
static PROCESS: Mutex<Process> =
    Mutex::new(Process { max: usize::MAX, count: Count::NONE, ports: vec![], entering: vec![] });

struct Process {
    max: usize,
    count: Count,
    ports: Vec<Weak<Permits>>,
    /// Who waits for a connection to end, on any port.
    entering: Vec<Waker>,
}

/// Limits the connections of all ports of this process together.
pub fn limit_process(count_max: usize) {
    PROCESS.lock().max = count_max;
}

impl Process {
    /// Makes room on the port that has the most, if there is none.
    fn make_room(&mut self) -> Entrance {
        if self.count.taken < self.max {
            return Entrance::Free;
        }
        if self.count.ending > 0 {
            return Entrance::Soon;
        }
        let mut ports: Vec<Arc<Permits>> = self.ports.iter().filter_map(Weak::upgrade).collect();
        ports.sort_by_key(|port| Reverse(port.taken()));
        Entrance::soon_if(ports.iter().any(|port| port.taken.lock().evict(self, |_| true)))
    }
}

/// Whether a connection may enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entrance {
    Free,
    /// Another one is about to end.
    Soon,
    /// All others are busy.
    Closed,
}

impl Entrance {
    fn soon_if(is_ending: bool) -> Self {
        if is_ending { Self::Soon } else { Self::Closed }
    }
}

/// How many of `count_max` one address may hold.
pub fn share_of(count_max: usize) -> usize {
    count_max - count_max / RESERVED_SHARE
}

/// Ends a connection. It runs under a lock, and must neither wait nor use the permits.
pub type End = Arc<dyn Fn() + Send + Sync>;

/// The permits of one or several ports.
#[derive(Debug)]
pub struct Permits {
    count_max: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug)]
struct Taken {
    all: Count,
    /// The permits of each address that has any.
    of_address: HashMap<IpAddr, Count>,
    last_number: u64,
    /// The waiting connections, the one that has waited longest first.
    waiting: BTreeMap<u64, Waiting>,
}

#[derive(Debug, Clone, Copy)]
struct Count {
    taken: usize,
    /// Those among them whose connections have been told to end.
    ending: usize,
}

impl Count {
    const NONE: Self = Self { taken: 0, ending: 0 };

    fn leave(&mut self, was_ending: bool) {
        self.taken -= 1;
        self.ending -= usize::from(was_ending);
    }
}

struct Waiting {
    address: IpAddr,
    end: End,
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
    /// Its number among the waiting ones. It stays when the connection has to end.
    number: Mutex<Option<u64>>,
    end: End,
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Permits {
    /// `count_max` permits.
    pub fn new(count_max: usize) -> Arc<Self> {
        let taken = Taken {
            all: Count::NONE,
            of_address: HashMap::new(),
            last_number: 0,
            waiting: BTreeMap::new(),
        };
        let permits = Arc::new(Self { count_max, taken: Mutex::new(taken) });
        let mut process = PROCESS.lock();
        process.ports.retain(|port| port.strong_count() > 0);
        process.ports.push(Arc::downgrade(&permits));
        permits
    }

    /// The number of permits taken.
    pub fn taken(&self) -> usize {
        self.taken.lock().all.taken
    }

    /// Takes a permit for a client at `address`, in the waiting state; `end` is called when it must
    /// make room. Pending while another connection ends in favour of this one. `None` if there is
    /// no permit for it, and none whose holder is waiting.
    pub fn poll_enter(
        self: &Arc<Self>,
        address: IpAddr,
        end: &End,
        context: &Context<'_>,
    ) -> Poll<Option<Permit>> {
        let address = address.to_canonical();
        let mut process = PROCESS.lock();
        let mut entrance = process.make_room();
        if entrance == Entrance::Free {
            entrance = self.taken.lock().make_room(&mut process, address, self.count_max);
        }
        match entrance {
            Entrance::Free => {
                process.count.taken += 1;
                self.taken.lock().enter(address);
            }
            Entrance::Soon => {
                process.entering.push(context.waker().clone());
                return Poll::Pending;
            }
            Entrance::Closed => return Poll::Ready(None),
        }
        let (permits, end) = (Arc::clone(self), Arc::clone(end));
        let permit = Permit { permits, address, number: Mutex::new(None), end };
        permit.wait();
        Poll::Ready(Some(permit))
    }

    /// As [`poll_enter`](Self::poll_enter), but waits in this thread.
    pub fn enter(self: &Arc<Self>, address: IpAddr, end: &End) -> Option<Permit> {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        loop {
            match self.poll_enter(address, end, &Context::from_waker(&waker)) {
                Poll::Ready(permit) => return permit,
                Poll::Pending => thread::park(),
            }
        }
    }

    /// Ends the connection that has waited longest, if one is waiting.
    pub fn evict(&self) -> bool {
        let mut process = PROCESS.lock();
        self.taken.lock().evict(&mut process, |_| true)
    }
}

/// Wakes a thread that waits to enter.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Taken {
    /// Makes room for a connection of `address`, if there is none.
    fn make_room(&mut self, process: &mut Process, address: IpAddr, count_max: usize) -> Entrance {
        let of_address = self.of_address.get(&address).copied().unwrap_or(Count::NONE);
        if of_address.taken >= share_of(count_max) {
            let is_ending = of_address.ending > 0 || self.evict(process, |each| each == address);
            return Entrance::soon_if(is_ending);
        }
        if self.all.taken >= count_max {
            return Entrance::soon_if(self.all.ending > 0 || self.evict(process, |_| true));
        }
        Entrance::Free
    }

    fn enter(&mut self, address: IpAddr) {
        self.all.taken += 1;
        self.of_address.entry(address).or_insert(Count::NONE).taken += 1;
    }

    /// Ends the connection that has waited longest among those of certain addresses.
    fn evict(&mut self, process: &mut Process, is_of: impl Fn(IpAddr) -> bool) -> bool {
        let found = self.waiting.iter().find(|(_, waiting)| is_of(waiting.address));
        let Some(number) = found.map(|(number, _)| *number) else { return false };
        let Some(waiting) = self.waiting.remove(&number) else { return false };
        process.count.ending += 1;
        self.all.ending += 1;
        self.of_address.entry(waiting.address).or_insert(Count::NONE).ending += 1;
        (waiting.end)();
        true
    }

    fn leave(&mut self, address: IpAddr, was_ending: bool) {
        self.all.leave(was_ending);
        if let Some(of_address) = self.of_address.get_mut(&address) {
            of_address.leave(was_ending);
            if of_address.taken == 0 {
                self.of_address.remove(&address);
            }
        }
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

    /// The connection is busy from now on. False if it has been told to end: what it would do, its
    /// client will repeat on another connection.
    pub fn work(&self) -> bool {
        let mut taken = self.permits.taken.lock();
        let mut number = self.number.lock();
        let is_ending = number.is_some_and(|number| taken.waiting.remove(&number).is_none());
        if !is_ending {
            *number = None;
        }
        !is_ending
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut process = PROCESS.lock();
        let was_ending = !self.work();
        process.count.leave(was_ending);
        self.permits.taken.lock().leave(self.address, was_ending);
        process.entering.drain(..).for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

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

    /// A client of a host that comes.
    struct Coming {
        permits: Arc<Permits>,
        address: IpAddr,
        is_ended: Arc<AtomicBool>,
    }

    impl Coming {
        fn new(permits: &Arc<Permits>, host: u8) -> Self {
            let address = IpAddr::from([10, 0, 0, host]);
            Self { permits: Arc::clone(permits), address, is_ended: Arc::default() }
        }

        fn poll(&mut self) -> Poll<Option<Holder>> {
            let is_ended = Arc::clone(&self.is_ended);
            let flag = Arc::clone(&is_ended);
            let end: End = Arc::new(move || flag.store(true, Ordering::Relaxed));
            let context = Context::from_waker(Waker::noop());
            let polled = self.permits.poll_enter(self.address, &end, &context);
            polled.map(|permit| permit.map(|permit| Holder { permit, is_ended }))
        }

        fn is_in(&mut self) -> Holder {
            match self.poll() {
                Poll::Ready(Some(holder)) => holder,
                _ => panic!("it has to wait, or is refused"),
            }
        }
    }

    fn enter(permits: &Arc<Permits>, host: u8) -> Holder {
        Coming::new(permits, host).is_in()
    }

    fn is_refused(permits: &Arc<Permits>, host: u8) -> bool {
        matches!(Coming::new(permits, host).poll(), Poll::Ready(None))
    }

    #[test]
    fn who_has_waited_longest_makes_room() {
        let permits = Permits::new(3);
        let mut all: Vec<Holder> = (0..3).map(|_| enter(&permits, 1)).collect();
        assert!(all[0].permit.work());
        let mut fourth = Coming::new(&permits, 1);
        assert!(fourth.poll().is_pending());
        let ended: Vec<bool> = all.iter().map(Holder::is_ended).collect();
        assert_eq!(ended, [false, true, false]);
        // It has its place until it has gone, but begins nothing.
        assert!(fourth.poll().is_pending() && !all[1].permit.work());
        all[1].permit.wait();
        assert_eq!(permits.taken(), 3);
        drop(all.remove(1));
        let fourth = fourth.is_in();
        // A connection that starts waiting again moves to the end of the order.
        all[0].permit.wait();
        all[0].permit.wait();
        let mut fifth = Coming::new(&permits, 2);
        assert!(fifth.poll().is_pending() && all[1].is_ended() && !fourth.is_ended());
        drop(all);
        let fifth = fifth.is_in();
        let sixth = enter(&permits, 3);
        for holder in [&fourth, &fifth, &sixth] {
            assert!(holder.permit.work());
        }
        assert!(is_refused(&permits, 3) && !permits.evict());
        assert_eq!(permits.taken(), 3);
        drop((fourth, fifth, sixth));
        assert_eq!(permits.taken(), 0);
    }

    #[test]
    fn one_address_does_not_hold_everything() {
        let permits = Permits::new(16);
        let mut greedy: Vec<Holder> = (0..14).map(|_| enter(&permits, 1)).collect();
        assert!(greedy.iter().all(|holder| holder.permit.work()));
        assert!(is_refused(&permits, 1), "it holds its share of 14");
        let others = [enter(&permits, 2), enter(&permits, 3)];
        greedy[5].permit.wait();
        let mut replacing = Coming::new(&permits, 1);
        assert!(replacing.poll().is_pending());
        assert!(greedy[5].is_ended() && !others[0].is_ended(), "it replaces only its own");
        drop(greedy.remove(5));
        let replaced = replacing.is_in();
        drop(greedy);
        drop(replaced);
        assert_eq!(permits.taken(), 2);
        drop(others);
        assert!(permits.taken.lock().of_address.is_empty());
    }

    #[test]
    fn a_thread_waits_until_another_has_gone() {
        let permits = Permits::new(1);
        let (ended, is_ended) = mpsc::channel();
        let address = IpAddr::from([10, 0, 0, 1]);
        let end: End = Arc::new(move || ended.send(()).unwrap());
        let first = permits.enter(address, &end);
        let others = Arc::clone(&permits);
        let second = thread::spawn(move || others.enter(address, &(Arc::new(|| {}) as End)));
        is_ended.recv().unwrap();
        assert!(!second.is_finished() && permits.taken() == 1);
        drop(first);
        assert!(second.join().unwrap().is_some() && permits.taken() == 0);
    }

    #[test]
    fn an_address_has_one_share_in_both_families() {
        let permits = Permits::new(8);
        let end: End = Arc::new(|| {});
        let v4: IpAddr = "10.0.0.1".parse().unwrap();
        let mapped: IpAddr = "::ffff:10.0.0.1".parse().unwrap();
        let held: Vec<Permit> = (0..7).filter_map(|_| permits.enter(v4, &end)).collect();
        assert!(held.len() == 7 && held.iter().all(Permit::work));
        assert!(permits.enter(mapped, &end).is_none());
    }
}
