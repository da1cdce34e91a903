//! Open scanners: their ids, and the leases without which they would stay open forever.
//!
//! A call takes its scanner out and puts it back when it is done, so that only one call has it at a
//! time. Leases follow the store's clock. They are checked when a scanner is requested, and once a
//! second to free abandoned ones.
//!
//! Ids of scanners that were closed a moment ago are remembered, because clients of older versions
//! close what the server has closed itself.
//!
//! Threads: any.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite_engine::RegionScan;
use hblite_model::RegionInfo;
use hblite_wire::RemoteException;
use hblite_wire::convert::ScanSettings;
use hblite_wire::exception::class;
use hblite_wire::memory::{MemoryAccount, MemoryBudget, MemoryCharge};
use parking_lot::Mutex;

use crate::options::Limits;
use crate::role::Role;

/// The memory of an open scanner in addition to its request: positions in memory and files, and
/// their keys.
const SCANNER_BYTES: usize = 16 * 1024;
/// Number of closed scanners to remember.
const CLOSED_MAX: usize = 10_000;

/// A scanner between two calls.
#[derive(Debug)]
pub(crate) struct OpenScanner {
    pub(crate) scan: RegionScan,
    pub(crate) role: Role,
    /// The replica that the client reads.
    pub(crate) replica: u16,
    pub(crate) settings: ScanSettings,
    /// The sequence number that the next call must have, if it sends one.
    pub(crate) next_call_sequence: u64,
    /// The row of the last result, if that was partial.
    pub(crate) open_row: Option<Vec<u8>>,
    /// Its charge while it is open.
    pub(crate) _charge: MemoryCharge,
}

#[derive(Debug)]
enum Slot {
    /// When its lease ends, by the store's clock.
    Free(Box<OpenScanner>, i64),
    /// A call is using it.
    Busy,
}

/// All scanners of all servers.
#[derive(Debug)]
pub(crate) struct Scanners {
    known: Mutex<Known>,
    /// Shared with the state before a rewind, whose ids must not be reused.
    last_id: Arc<AtomicU64>,
    lease_ms: i64,
    scanners_max: usize,
    memory: Arc<MemoryAccount>,
}

#[derive(Debug, Default)]
struct Known {
    slots: HashMap<u64, Slot>,
    /// Closed ones with their last call sequence number, in order.
    closed: HashMap<u64, u64>,
    closed_order: VecDeque<u64>,
}

/// The result of [`Scanners::take`].
pub(crate) enum Taken {
    Scanner(Box<OpenScanner>),
    /// It was closed a moment ago.
    AlreadyClosed,
}

impl Scanners {
    pub(crate) fn new(limits: &Limits, memory: &Arc<MemoryBudget>) -> Self {
        let lease_ms = i64::try_from(limits.scanner_lease.as_millis()).unwrap_or(i64::MAX);
        Self {
            known: Mutex::default(),
            last_id: Arc::default(),
            lease_ms,
            scanners_max: limits.scanners_max,
            memory: memory.account(limits.memory_max_bytes / 2),
        }
    }

    /// An empty set with the same limits, for the store after a rewind. Earlier scanners are
    /// unknown.
    pub(crate) fn after_rewind(&self) -> Self {
        Self {
            known: Mutex::default(),
            last_id: Arc::clone(&self.last_id),
            lease_ms: self.lease_ms,
            scanners_max: self.scanners_max,
            memory: Arc::clone(&self.memory),
        }
    }

    /// How long a scanner lives without a call.
    pub(crate) fn lease_ms(&self) -> i64 {
        self.lease_ms
    }

    /// The charge for a scanner with a request of this many bytes; `None` if there is no memory.
    pub(crate) fn charge(&self, request_bytes: usize) -> Option<MemoryCharge> {
        let mut charge = self.memory.charge();
        // Decoded, a filter takes more than its bytes.
        charge.try_resize(SCANNER_BYTES + 4 * request_bytes).then_some(charge)
    }

    /// An id that no other scanner of this server has, nor one of a server started at another time
    /// than `started_at_ms`.
    ///
    /// # Errors
    /// `DoNotRetryIo` if there are too many scanners.
    pub(crate) fn new_id(&self, started_at_ms: i64) -> Result<u64, RemoteException> {
        if self.known.lock().slots.len() >= self.scanners_max {
            let message = format!("more than {} scanners are open", self.scanners_max);
            return Err(RemoteException::new(class::CALL_QUEUE_TOO_BIG, message));
        }
        let number = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        // The middle bits of the clock: another start of the server uses other ids.
        Ok((started_at_ms as u64 & 0x7fff_ffff) << 32 | (number & 0xffff_ffff))
    }

    /// Takes a scanner for a call.
    ///
    /// # Errors
    /// `UnknownScanner`, `OutOfOrderScannerNext` (for a closed one), `Lease` if another call has
    /// it.
    pub(crate) fn take(
        &self,
        id: u64,
        call_sequence: Option<u64>,
        now_ms: i64,
    ) -> Result<Taken, RemoteException> {
        let mut known = self.known.lock();
        match known.slots.insert(id, Slot::Busy) {
            Some(Slot::Free(scanner, until)) if until > now_ms => Ok(Taken::Scanner(scanner)),
            Some(Slot::Busy) => {
                let message = format!("lease '{id}' does not exist");
                Err(RemoteException::new(class::LEASE, message))
            }
            _ => {
                known.slots.remove(&id);
                match known.closed.get(&id) {
                    None => Err(unknown_scanner(id)),
                    Some(last) if call_sequence.is_some_and(|given| given != last + 1) => {
                        let message = format!(
                            "Expected nextCallSeq for closed request: {} But the nextCallSeq got \
                             from client: {}",
                            last + 1,
                            call_sequence.unwrap_or(0)
                        );
                        Err(RemoteException::new(class::OUT_OF_ORDER_SCANNER_NEXT, message))
                    }
                    Some(_) => Ok(Taken::AlreadyClosed),
                }
            }
        }
    }

    /// Returns a scanner, or adds a new one. Its lease begins.
    pub(crate) fn put(&self, id: u64, mut scanner: Box<OpenScanner>, now_ms: i64) {
        scanner.scan.release_buffers();
        let until = now_ms.saturating_add(self.lease_ms);
        let before = self.known.lock().slots.insert(id, Slot::Free(scanner, until));
        assert!(!matches!(before, Some(Slot::Free(..))), "scanner {id} is there twice");
    }

    /// Ends a scanner that was taken.
    pub(crate) fn close(&self, id: u64, scanner: Box<OpenScanner>) {
        let mut known = self.known.lock();
        known.slots.remove(&id);
        known.closed.insert(id, scanner.next_call_sequence.saturating_sub(1));
        known.closed_order.push_back(id);
        if known.closed_order.len() > CLOSED_MAX
            && let Some(oldest) = known.closed_order.pop_front()
        {
            known.closed.remove(&oldest);
        }
        drop(known);
        // Its files are released outside the lock.
        drop(scanner);
    }

    /// Ends scanners whose lease has expired, and those whose region is closed.
    pub(crate) fn expire(&self, now_ms: i64) {
        let mut known = self.known.lock();
        let over: Vec<u64> = known
            .slots
            .iter()
            .filter(|(_, slot)| matches!(slot, Slot::Free(_, until) if *until <= now_ms))
            .map(|(id, _)| *id)
            .collect();
        let ended: Vec<Slot> = over.iter().filter_map(|id| known.slots.remove(id)).collect();
        drop(known);
        drop(ended);
    }

    /// The region of an open scanner that no call has.
    pub(crate) fn region_of(&self, id: u64) -> Option<RegionInfo> {
        match self.known.lock().slots.get(&id) {
            Some(Slot::Free(scanner, _)) => Some(scanner.scan.info().clone()),
            _ => None,
        }
    }

    /// Forgets the scanners of a server that died.
    pub(crate) fn drop_of(&self, role: Role) {
        let mut known = self.known.lock();
        let dropped = known
            .slots
            .extract_if(|_, slot| matches!(slot, Slot::Free(scanner, _) if scanner.role == role));
        let dropped: Vec<(u64, Slot)> = dropped.collect();
        drop(known);
        // Their files are released outside the lock.
        drop(dropped);
    }

    /// The number of open scanners.
    pub(crate) fn len(&self) -> usize {
        self.known.lock().slots.len()
    }
}

fn unknown_scanner(id: u64) -> RemoteException {
    let message = format!(
        "Unknown scanner '{id}'. This can happen due to any of the following reasons: \
         a) Scanner id given is wrong, \
         b) Scanner lease expired because of long wait between consecutive client checkins, \
         c) Server may be closing down, \
         d) RegionServer restart during upgrade.\n\
         If the issue is due to reason (b), a possible fix would be increasing the value \
         of'hbase.client.scanner.timeout.period' configuration."
    );
    RemoteException::new(class::UNKNOWN_SCANNER, message)
}
