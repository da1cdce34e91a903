//! The only place that switches stacks.
//!
//! Why unsafe: a simulated thread must stop in the middle of any call and continue later. Operating
//! system threads that pass a baton do that too, but each handover costs a wake-up: 5 to 10 µs on
//! an idle machine and milliseconds on a busy one, compared with 50 ns here, and a simulation makes
//! millions. This module is part of simulation builds only.
//!
//! Invariant: a fiber is resumed by the thread that created it, never after [`scheduler::run`] has
//! returned, and `scheduler::run` returns without a failure only after every fiber has ended. So
//! what a fiber borrows outlives everything that it does. After a failure the fibers are leaked:
//! they neither continue nor drop what they own.
//!
//! [`scheduler::run`]: super::scheduler::run

#![allow(unsafe_code)]

use std::mem::ManuallyDrop;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// The stack is reserved, not committed: untouched pages cost no memory.
const STACK_SIZE_BYTES: usize = 4 << 20;

/// A computation that can stop and continue. It is leaked unless it has ended.
pub(super) struct Fiber {
    coroutine: ManuallyDrop<Coroutine<(), (), ()>>,
}

/// How a running fiber stops itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pause(*const Yielder<(), ()>);

impl Fiber {
    /// A fiber that runs `work`, which gets its own [`Pause`].
    ///
    /// The caller upholds the invariant of this module: `work` may borrow what lives until the
    /// simulation has ended.
    pub(super) fn new<'a>(work: impl FnOnce(Pause) + 'a) -> Self {
        let work: Box<dyn FnOnce(Pause) + 'a> = Box::new(work);
        // SAFETY: only the lifetime changes. The module's invariant: the fiber is not resumed
        // after what it borrows has ended, and it is leaked rather than dropped.
        let work: Box<dyn FnOnce(Pause) + 'static> = unsafe { std::mem::transmute(work) };
        let stack = DefaultStack::new(STACK_SIZE_BYTES).expect("there is memory for a stack");
        let body = move |yielder: &Yielder<(), ()>, ()| work(Pause(yielder));
        Self { coroutine: ManuallyDrop::new(Coroutine::with_stack(stack, body)) }
    }

    /// Runs until the fiber pauses or ends; returns whether it ended.
    pub(super) fn resume(&mut self) -> bool {
        matches!(self.coroutine.resume(()), CoroutineResult::Return(()))
    }

    /// Frees the stack of a fiber that has ended.
    pub(super) fn free(self) {
        assert!(self.coroutine.done(), "a fiber is freed only after its end");
        drop(ManuallyDrop::into_inner(self.coroutine));
    }
}

impl Pause {
    /// Stops the fiber that this pause belongs to, which must be the running one.
    pub(super) fn pause(self) {
        // SAFETY: the yielder lives on the stack of the running fiber's body, which has not ended,
        // since it is the caller.
        unsafe { (*self.0).suspend(()) }
    }
}
