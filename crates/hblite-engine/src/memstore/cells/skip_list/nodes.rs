//! The nodes of a skip list, in an arena: how they are laid out, linked and followed.
//!
//! ```text
//! key | pointer to the links of the next node on level 0 | … on level 1 | …
//! ```
//!
//! Invariants:
//! 1. The arena of a list's nodes has nothing else, so each node begins where a pointer may be. A
//!    node is written before it is linked. Afterwards only its links change, which are atomic.
//! 2. A [`Place`] on a level, and every node linked there, have a link for that level.
//! 3. A [`Place`], [`Linked`] or [`NewNode`] is used only while its [`Nodes`] are alive. Only the
//!    sibling modules see them; `super` says how they uphold this.
//!
//! Threads: every method may be called from any thread.
#![allow(unsafe_code)] // Measured: loads are a fifth faster than with nodes from the allocator.

use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;

#[cfg(all(test, loom))]
use loom::sync::atomic::AtomicPtr;
#[cfg(not(all(test, loom)))]
use std::sync::atomic::AtomicPtr;

use super::super::arena::{Arena, CHUNK_ALIGNMENT};
use crate::prefetch::prefetch;

/// The most levels of a skip list: enough for 16 million nodes, and slower beyond.
pub(super) const LEVELS_MAX: usize = 24;

/// Points to the links of the next node on a level; null after the last.
#[repr(transparent)]
struct Link<K>(AtomicPtr<Link<K>>, PhantomData<K>);

/// The nodes of a skip list.
pub(super) struct Nodes<K: Copy + Send + Sync> {
    arena: Arena,
    /// The links in front of the first node of each level.
    head: Box<[Link<K>; LEVELS_MAX]>,
}

/// A place on a level, behind which there may be a node: that of a node, or in front of the first.
#[derive(Clone, Copy)]
pub(super) struct Place<K> {
    links: NonNull<Link<K>>,
    level: usize,
}

/// A node on a level where it is linked.
#[derive(Clone, Copy)]
pub(super) struct Linked<K> {
    pub(super) key: K,
    place: Place<K>,
}

/// A node on the levels below its height, of which none or some link it.
pub(super) struct NewNode<K> {
    links: NonNull<Link<K>>,
    height: usize,
    _key: PhantomData<K>,
}

impl<K: Copy + Send + Sync> Nodes<K> {
    /// No nodes; `arena` is used for nothing else.
    pub(super) fn new(arena: Arena) -> Self {
        const { assert!(align_of::<K>() <= CHUNK_ALIGNMENT) }
        const { assert!(align_of::<Link<K>>() <= CHUNK_ALIGNMENT) }
        const { assert!(size_of::<K>().is_multiple_of(align_of::<Link<K>>())) }
        assert_eq!(arena.allocated_bytes(), 0, "an arena of nodes has nothing else");
        let link = |_| Link(AtomicPtr::new(ptr::null_mut()), PhantomData);
        Self { arena, head: Box::new(std::array::from_fn(link)) }
    }

    /// Heap bytes.
    pub(super) fn heap_size(&self) -> usize {
        size_of_val(&*self.head) + self.arena.allocated_bytes()
    }

    /// Tells the processor where the next node is going to be written.
    pub(super) fn prefetch_free(&self) {
        self.arena.prefetch_free();
    }

    /// In front of the first node on `level`.
    #[inline]
    pub(super) fn head(&self, level: usize) -> Place<K> {
        assert!(level < LEVELS_MAX);
        Place { links: NonNull::from(&*self.head).cast(), level }
    }

    /// A node of `height` levels. Also returns how many bytes the arena grew by.
    pub(super) fn add(&self, key: K, height: usize) -> (NewNode<K>, usize) {
        let size = size_of::<K>() + height * size_of::<Link<K>>();
        let (start, grown) = self.arena.reserve(size.next_multiple_of(CHUNK_ALIGNMENT));
        // SAFETY: key and links fit in the bytes from `start`, which no other thread uses
        // (invariant 2 of the arena). They are aligned, since all nodes have a multiple of the
        // alignment.
        let links = unsafe {
            start.cast::<K>().write(key);
            let links = start.cast::<K>().add(1).cast::<Link<K>>();
            for level in 0..height {
                links.add(level).write(Link(AtomicPtr::new(ptr::null_mut()), PhantomData));
            }
            links
        };
        (NewNode { links, height, _key: PhantomData }, grown)
    }
}

impl<K: Copy + Send + Sync> Place<K> {
    /// The next node on the level.
    #[inline]
    pub(super) fn next(self) -> Option<Linked<K>> {
        let links = NonNull::new(self.link().0.load(Ordering::Acquire))?;
        // SAFETY: a linked node was written before (invariant 1), with its key in front of the
        // links, and its arena is alive (invariant 3).
        let key = unsafe { links.cast::<K>().sub(1).read() };
        Some(Linked { key, place: Self { links, level: self.level } })
    }

    /// Whether both are the same place, on whatever levels.
    #[inline]
    pub(super) fn is_same(self, other: Self) -> bool {
        self.links == other.links
    }

    /// The same place on the level below; `None` on level 0.
    #[inline]
    pub(super) fn below(self) -> Option<Self> {
        Some(Self { links: self.links, level: self.level.checked_sub(1)? })
    }

    /// Whether `next` is the next node on the level. Reads nothing of it.
    #[inline]
    pub(super) fn leads_to(self, next: Option<Linked<K>>) -> bool {
        let links = next.map_or(ptr::null_mut(), |next| next.place.links.as_ptr());
        self.link().0.load(Ordering::Relaxed) == links
    }

    /// Tells the processor that the next node is going to be read.
    #[inline]
    pub(super) fn prefetch_next(self) {
        let links = self.link().0.load(Ordering::Relaxed);
        // The key, and the link on this level, which may be in another cache line.
        prefetch(links.cast::<K>().wrapping_sub(1));
        prefetch(links.wrapping_add(self.level));
    }

    fn link(&self) -> &Link<K> {
        // SAFETY: there is a link for the level (invariant 2), and its arena is alive
        // (invariant 3).
        unsafe { self.links.add(self.level).as_ref() }
    }
}

impl<K: Copy + Send + Sync> Linked<K> {
    /// Where the next node follows.
    #[inline]
    pub(super) fn place(self) -> Place<K> {
        self.place
    }

    /// Whether both are the same node, on whatever levels.
    #[inline]
    pub(super) fn is_same_node(&self, other: &Self) -> bool {
        self.place.is_same(other.place)
    }
}

impl<K: Copy + Send + Sync> NewNode<K> {
    /// Links the node on the level of `before`, between two neighbors. False if they no longer are:
    /// nothing was linked.
    pub(super) fn link(&self, before: Place<K>, after: Option<Linked<K>>) -> bool {
        assert!(after.is_none_or(|after| after.place.level == before.level), "one level");
        let after = after.map_or(ptr::null_mut(), |after| after.place.links.as_ptr());
        self.place(before.level).link().0.store(after, Ordering::Relaxed);
        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
        let link = &before.link().0;
        link.compare_exchange(after, self.links.as_ptr(), success, failure).is_ok()
    }

    /// The node's place on a level.
    pub(super) fn place(&self, level: usize) -> Place<K> {
        assert!(level < self.height, "a node is on the levels below its height");
        Place { links: self.links, level }
    }
}
