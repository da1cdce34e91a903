//! The objects behind the handles that C has.
//!
//! A handle looks like a pointer to C and is a number, which nothing dereferences: one that was
//! freed, is of another kind or was never made is an error. No number is used for two objects.
//! Whoever uses an object shares it, so that one that another thread frees meanwhile stays until
//! then.
//!
//! A process that forked has neither the threads of its parent's stores nor, perhaps, what other
//! threads had locked at that moment. So it gets a registry of its own, which it finds without a
//! lock, and its parent's handles are refused.

use std::any::Any;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;

use crate::error::{Code, Failure};
use crate::memory::forks;

/// What can have a handle.
pub(crate) trait Object: Any + Send + Sync {
    /// The name of the handle in C.
    const NAME: &'static str;
}

// The parts of a handle, from the lowest bit. The bit above them is set: the number is neither NULL
// nor the address of anything in a process.
const INDEX_BITS: u32 = 24;
const USE_BITS: u32 = 26;
const SHARD_BITS: u32 = 4;
const FORK_BITS: u32 = 8;
const SHARDS: usize = 1 << SHARD_BITS;
const _: () = assert!(INDEX_BITS + USE_BITS + SHARD_BITS + FORK_BITS < usize::BITS);

/// The parts of a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parts {
    /// How many forks are between the process that made it and the first one.
    forks: usize,
    shard: usize,
    /// How often the slot was used before.
    uses: usize,
    index: usize,
}

impl Parts {
    fn of(handle: usize) -> Option<Self> {
        let mut rest = handle;
        let mut next = |bits: u32| {
            let part = rest & ((1 << bits) - 1);
            rest >>= bits;
            part
        };
        let (index, uses, shard) = (next(INDEX_BITS), next(USE_BITS), next(SHARD_BITS));
        let forks = next(FORK_BITS);
        (rest == 1).then_some(Self { forks, shard, uses, index })
    }

    fn to_handle(self) -> usize {
        let mut handle = 1;
        for (part, bits) in [
            (self.forks, FORK_BITS),
            (self.shard, SHARD_BITS),
            (self.uses, USE_BITS),
            (self.index, INDEX_BITS),
        ] {
            handle = handle << bits | part;
        }
        handle
    }
}

#[derive(Clone)]
struct Held {
    name: &'static str,
    object: Arc<dyn Any + Send + Sync>,
}

struct Slot {
    uses: usize,
    held: Option<Held>,
}

struct Shard {
    slots: Vec<Slot>,
    free: Vec<usize>,
}

impl Shard {
    const EMPTY: Self = Self { slots: Vec::new(), free: Vec::new() };

    /// The slot and its use.
    fn insert(&mut self, held: Held) -> Option<(usize, usize)> {
        let index = self.free.pop().unwrap_or(self.slots.len());
        if index >= 1 << INDEX_BITS {
            return None;
        }
        if index == self.slots.len() {
            self.slots.push(Slot { uses: 0, held: None });
        }
        let slot = &mut self.slots[index];
        slot.held = Some(held);
        Some((index, slot.uses))
    }

    fn find(&self, parts: Parts) -> Option<&Held> {
        let slot = self.slots.get(parts.index).filter(|slot| slot.uses == parts.uses)?;
        slot.held.as_ref()
    }

    fn remove(&mut self, parts: Parts) -> Option<Held> {
        let slot = self.slots.get_mut(parts.index).filter(|slot| slot.uses == parts.uses)?;
        let held = slot.held.take()?;
        slot.uses += 1;
        if slot.uses < 1 << USE_BITS {
            self.free.push(parts.index);
        }
        Some(held)
    }
}

struct Registry {
    forks: usize,
    shards: [RwLock<Shard>; SHARDS],
    /// That of a process that forked from this one.
    next: OnceLock<Box<Registry>>,
}

static FIRST: Registry = Registry::new(0);

impl Registry {
    const fn new(forks: usize) -> Self {
        let shards = [const { RwLock::new(Shard::EMPTY) }; SHARDS];
        Self { forks, shards, next: OnceLock::new() }
    }

    /// The registry of this process.
    fn of_process() -> Result<&'static Self, Failure> {
        let forks = forks();
        if forks >= 1 << FORK_BITS {
            return Err(Failure::new(Code::Forked, "this process is the result of 256 forks"));
        }
        let mut registry = &FIRST;
        while registry.forks < forks {
            registry = registry.next.get_or_init(|| Box::new(Self::new(registry.forks + 1)));
        }
        Ok(registry)
    }

    /// The place of a handle of this process.
    fn locate(&self, handle: usize, wanted: &str) -> Result<Parts, Failure> {
        if handle == 0 {
            return Err(invalid(format!("the {wanted} is NULL")));
        }
        match Parts::of(handle) {
            Some(parts) if parts.forks == self.forks => Ok(parts),
            Some(parts) if parts.forks < self.forks => Err(Failure::new(
                Code::Forked,
                format!("this process forked after the {wanted} was made: open a store after it"),
            )),
            _ => Err(invalid(format!("the {wanted} is not a handle of hblite"))),
        }
    }
}

fn invalid(message: String) -> Failure {
    Failure::new(Code::InvalidHandle, message)
}

fn freed(wanted: &str) -> Failure {
    invalid(format!("the {wanted} was freed"))
}

/// A shard for each thread, as far as there are shards: threads that make handles do not wait for
/// each other.
fn shard_of_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static SHARD: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
    }
    SHARD.try_with(|shard| *shard).unwrap_or(0)
}

/// A new handle.
///
/// # Errors
/// If too many objects have one.
pub(crate) fn add<T: Object>(object: T) -> Result<*mut T, Failure> {
    let registry = Registry::of_process()?;
    let shard = shard_of_thread();
    let held = Held { name: T::NAME, object: Arc::new(object) };
    let place = registry.shards[shard].write().insert(held);
    let (index, uses) =
        place.ok_or_else(|| Failure::new(Code::Busy, "too many handles: free those not in use"))?;
    let handle = Parts { forks: registry.forks, shard, uses, index }.to_handle();
    Ok(std::ptr::without_provenance_mut(handle))
}

/// The object of a handle.
///
/// # Errors
/// If the handle is NULL, freed, of another kind, or of the process from which this one forked.
pub(crate) fn get<T: Object>(handle: *mut T) -> Result<Arc<T>, Failure> {
    let registry = Registry::of_process()?;
    let parts = registry.locate(handle.addr(), T::NAME)?;
    let held = registry.shards[parts.shard].read().find(parts).cloned();
    typed(held)
}

/// The object of a handle, if there is one.
///
/// # Errors
/// As [`get`], except for NULL.
pub(crate) fn get_if_any<T: Object>(handle: *mut T) -> Result<Option<Arc<T>>, Failure> {
    if handle.is_null() { Ok(None) } else { get(handle).map(Some) }
}

fn typed<T: Object>(held: Option<Held>) -> Result<Arc<T>, Failure> {
    let Held { name, object } = held.ok_or_else(|| freed(T::NAME))?;
    let other = |_| invalid(format!("the {} is a {name}", T::NAME));
    object.downcast().map_err(other)
}

/// The object of a handle that ends.
///
/// # Errors
/// As [`get`].
pub(crate) fn take<T: Object>(handle: *mut T) -> Result<Arc<T>, Failure> {
    let object = get(handle)?;
    remove(handle.cast(), T::NAME)?;
    Ok(object)
}

/// Ends a handle of any kind except `but`.
///
/// # Errors
/// As [`get`].
pub(crate) fn free<But: Object>(handle: *mut c_void) -> Result<(), Failure> {
    let registry = Registry::of_process()?;
    let parts = registry.locate(handle.addr(), "handle")?;
    let held = registry.shards[parts.shard].read().find(parts).map(|held| held.name);
    if held == Some(But::NAME) {
        return Err(invalid(format!("a {} ends with its own function", But::NAME)));
    }
    remove(handle, "handle")
}

fn remove(handle: *mut c_void, wanted: &str) -> Result<(), Failure> {
    let registry = Registry::of_process()?;
    let parts = registry.locate(handle.addr(), wanted)?;
    let held = registry.shards[parts.shard].write().remove(parts);
    // Dropped without the lock: the last use of an object may wait for threads.
    held.map(drop).ok_or_else(|| freed(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Apple(u32);
    #[derive(Debug)]
    struct Pear;

    impl Object for Apple {
        const NAME: &'static str = "apple";
    }

    impl Object for Pear {
        const NAME: &'static str = "pear";
    }

    fn message(result: Result<impl std::fmt::Debug, Failure>) -> String {
        format!("{:?}", result.unwrap_err())
    }

    #[test]
    fn handles_consist_of_their_parts() {
        let parts = Parts { forks: 3, shard: 15, uses: 77, index: 1 << 20 };
        assert_eq!(Parts::of(parts.to_handle()), Some(parts));
        let mark = 1 << (INDEX_BITS + USE_BITS + SHARD_BITS + FORK_BITS);
        for other in [0, 1, 4096, usize::MAX, mark - 1, mark << 1] {
            assert_eq!(Parts::of(other), None, "{other:x}");
        }
    }

    #[test]
    fn a_handle_leads_to_its_object_until_it_is_freed() {
        let apple = add(Apple(7)).expect("a handle");
        let shared = get(apple).expect("it is there");
        assert!(message(get(apple.cast::<Pear>())).contains("the pear is a apple"));
        free::<Pear>(apple.cast()).expect("it is there");
        assert_eq!(shared.0, 7);
        assert!(message(get(apple)).contains("the apple was freed"));
        assert!(message(free::<Pear>(apple.cast())).contains("the handle was freed"));
        // The slot is used again, the number is not.
        let next = add(Apple(8)).expect("a handle");
        assert_ne!(next, apple);
        assert!(message(get(apple)).contains("the apple was freed"));
        assert!(message(free::<Apple>(next.cast())).contains("ends with its own function"));
        assert_eq!(take(next).expect("it is there").0, 8);
        assert!(message(get::<Apple>(std::ptr::null_mut())).contains("the apple is NULL"));
        let wild = std::ptr::without_provenance_mut::<Apple>(0xdead_beef);
        assert!(message(get(wild)).contains("not a handle of hblite"));
    }

    #[test]
    fn a_slot_ends_with_its_last_number() {
        let mut shard = Shard::EMPTY;
        let held = || Held { name: "apple", object: Arc::new(Apple(1)) };
        shard.slots.push(Slot { uses: (1 << USE_BITS) - 1, held: None });
        shard.free.push(0);
        let (index, uses) = shard.insert(held()).expect("a slot");
        assert_eq!((index, uses), (0, (1 << USE_BITS) - 1));
        assert!(shard.remove(Parts { forks: 0, shard: 0, uses, index }).is_some());
        assert_eq!(shard.insert(held()), Some((1, 0)));
    }

    impl std::fmt::Debug for Held {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.name)
        }
    }
}
