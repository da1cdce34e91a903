//! The scheduler: the table of fibers, virtual time, and the choice at every switch point.
//!
//! Invariant: exactly one fiber runs; `State` is borrowed only for moments in which none can be
//!            switched. A fiber that waits names what it waits for by address and [`Reason`];
//!            whoever changes that wakes all who wait for it, and they look again.
//! Threads:   one world per operating system thread.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use super::fiber::{Fiber, Pause};
use super::{Options, Report};
use crate::panic_message;
use crate::rng::{Random as _, SeededRandom};

/// Maximum virtual duration of a step, in nanoseconds.
const STEP_NANOS_MAX: u64 = 4_000;

/// Which fiber continues at a switch point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Once in this many switch points, another fiber, chosen at random.
    Random {
        /// 1: at every switch point.
        switch_one_in: u64,
    },
    /// The thread with the highest priority. Priorities are random, and so are the steps at which
    /// the running thread drops to the lowest one (probabilistic concurrency testing).
    Priorities {
        /// How often the running thread drops.
        changes: usize,
        /// Number of steps over which the changes are distributed.
        steps: u64,
    },
}

/// Why a fiber waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Mutex,
    Read,
    Write,
    Condvar,
    Join,
    Sleep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Ready,
    Waiting { reason: Reason, address: usize, deadline: Option<u64> },
    Ended,
}

struct Entry {
    name: String,
    parent: usize,
    status: Status,
    /// Absent while it runs.
    fiber: Option<Fiber>,
    pause: Option<Pause>,
    priority: u64,
    is_timed_out: bool,
}

pub(super) struct World {
    state: RefCell<State>,
}

struct State {
    entries: Vec<Entry>,
    current: usize,
    next: Option<usize>,
    now: u64,
    random: SeededRandom,
    options: Options,
    falls_at: VecDeque<u64>,
    lowest_priority: u64,
    failure: Option<String>,
    report: Report,
}

thread_local! {
    static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

/// Runs `main` as the first fiber until all fibers have ended or one failed.
pub(super) fn run(options: Options, main: impl FnOnce()) -> (Option<String>, Report) {
    let world = Rc::new(World { state: RefCell::new(State::new(options)) });
    let before = WORLD.replace(Some(Rc::clone(&world)));
    assert!(before.is_none(), "simulations do not nest");
    world.spawn("main".to_owned(), main);
    while let Some(running) = world.begin_turn() {
        let fiber = world.state.borrow_mut().entries[running].fiber.take();
        let mut fiber = fiber.expect("a fiber that is not running is in its entry");
        if fiber.resume() {
            fiber.free();
            world.state.borrow_mut().entries[running].status = Status::Ended;
            world.wake(running, Reason::Join);
        } else {
            world.state.borrow_mut().entries[running].fiber = Some(fiber);
        }
    }
    WORLD.replace(None);
    let mut state = world.state.borrow_mut();
    state.report.fibers = state.entries.len();
    state.report.elapsed = Duration::from_nanos(state.now);
    (state.failure.take(), std::mem::take(&mut state.report))
}

impl World {
    pub(super) fn current() -> Option<Rc<Self>> {
        // Destructors of the thread itself run outside every simulation.
        WORLD.try_with(|world| world.borrow().clone()).ok().flatten()
    }

    /// Adds a fiber that is ready to run; its number.
    pub(super) fn spawn<'a>(self: &Rc<Self>, name: String, work: impl FnOnce() + 'a) -> usize {
        let mut state = self.state.borrow_mut();
        let number = state.entries.len();
        let world = Rc::downgrade(self);
        let fiber = Fiber::new(move |pause| {
            let world = world.upgrade().expect("the world outlives its fibers");
            world.state.borrow_mut().entries[number].pause = Some(pause);
            if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
                let message = panic_message::of(&*panic);
                world.fail(format!("thread {number} panicked: {message}"));
            }
        });
        let priority = state.random.next_u64() >> 1 | 1 << 62;
        let (parent, status, fiber) = (state.current, Status::Ready, Some(fiber));
        state.entries.push(Entry {
            name,
            parent,
            status,
            fiber,
            pause: None,
            priority,
            is_timed_out: false,
        });
        number
    }

    pub(super) fn thread_number(&self) -> usize {
        self.state.borrow().current
    }

    pub(super) fn now(&self) -> u64 {
        self.state.borrow().now
    }

    pub(super) fn record(&self, label: &'static str, data: &[u8]) {
        self.state.borrow_mut().record(label, data);
    }

    /// A point where another fiber may continue.
    pub(super) fn point(&self, label: &'static str) {
        // A fiber must not stop while it unwinds.
        if std::thread::panicking() {
            return;
        }
        if self.state.borrow_mut().step(label, false) {
            self.pause();
        }
    }

    /// Lets another fiber continue, if any can.
    pub(super) fn yield_now(&self) {
        if !std::thread::panicking() && self.state.borrow_mut().step("yield", true) {
            self.pause();
        }
    }

    pub(super) fn sleep(&self, duration: Duration) {
        self.wait(0, Reason::Sleep, Some(duration));
    }

    /// Waits to be woken; returns whether the time limit passed first.
    pub(super) fn wait(&self, address: usize, reason: Reason, limit: Option<Duration>) -> bool {
        if std::thread::panicking() {
            // The message of the panic is already on standard error; nothing can be finished.
            std::process::exit(101);
        }
        {
            let mut state = self.state.borrow_mut();
            state.step(reason.label(), false);
            state.next = None;
            let nanos = limit.map(|limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
            let deadline = nanos.map(|nanos| state.now.saturating_add(nanos));
            let current = state.current;
            state.entries[current].status = Status::Waiting { reason, address, deadline };
            state.entries[current].is_timed_out = false;
        }
        self.pause();
        let state = self.state.borrow();
        state.entries[state.current].is_timed_out
    }

    /// Wakes all that wait for this.
    pub(super) fn wake(&self, address: usize, reason: Reason) {
        let mut state = self.state.borrow_mut();
        for entry in &mut state.entries {
            if entry.is_waiting_for(address, reason) {
                entry.status = Status::Ready;
            }
        }
    }

    /// Wakes one of those that wait for this.
    pub(super) fn wake_one(&self, address: usize, reason: Reason) {
        let mut state = self.state.borrow_mut();
        let entries = state.entries.iter().enumerate();
        let waiting: Vec<usize> = entries
            .filter(|(_, entry)| entry.is_waiting_for(address, reason))
            .map(|(number, _)| number)
            .collect();
        if !waiting.is_empty() {
            let chosen = waiting[state.below(waiting.len() as u64) as usize];
            state.entries[chosen].status = Status::Ready;
        }
    }

    pub(super) fn is_awaited(&self, address: usize, reason: Reason) -> bool {
        self.state.borrow().entries.iter().any(|entry| entry.is_waiting_for(address, reason))
    }

    pub(super) fn fiber_count(&self) -> usize {
        self.state.borrow().entries.len()
    }

    /// The fibers that the running one started, from this number on.
    pub(super) fn children_since(&self, first: usize) -> Vec<usize> {
        let state = self.state.borrow();
        let current = state.current;
        let entries = state.entries.iter().enumerate().skip(first);
        entries.filter(|(_, entry)| entry.parent == current).map(|(number, _)| number).collect()
    }

    pub(super) fn has_ended(&self, number: usize) -> bool {
        self.state.borrow().entries[number].status == Status::Ended
    }

    /// Waits for the end of a fiber.
    pub(super) fn join(&self, number: usize) {
        while !self.has_ended(number) {
            self.wait(number, Reason::Join, None);
        }
    }

    fn pause(&self) {
        let pause = {
            let state = self.state.borrow();
            state.entries[state.current].pause
        };
        pause.expect("a fiber that runs knows how to pause").pause();
    }

    fn fail(&self, failure: String) {
        self.state.borrow_mut().failure.get_or_insert(failure);
    }

    /// The next fiber to run; none when all have ended or one has failed.
    fn begin_turn(&self) -> Option<usize> {
        let mut state = self.state.borrow_mut();
        if state.failure.is_some() || state.entries.iter().all(|e| e.status == Status::Ended) {
            return None;
        }
        let next = match state.next.take() {
            Some(next) => next,
            None => state.choose_after_wait()?,
        };
        if next != state.current {
            state.report.switches += 1;
        }
        state.current = next;
        state.record("turn", &[]);
        Some(next)
    }
}

impl Entry {
    fn is_waiting_for(&self, wanted: usize, why: Reason) -> bool {
        matches!(self.status, Status::Waiting { reason, address, .. }
            if reason == why && address == wanted)
    }
}

impl Reason {
    fn label(self) -> &'static str {
        match self {
            Self::Mutex => "wait for a mutex",
            Self::Read => "wait to read",
            Self::Write => "wait to write",
            Self::Condvar => "wait for a condition",
            Self::Join => "wait for a thread",
            Self::Sleep => "sleep",
        }
    }
}

impl State {
    fn new(options: Options) -> Self {
        let random = SeededRandom::new(options.seed);
        let mut falls_at = Vec::new();
        if let Policy::Priorities { changes, steps } = options.policy {
            falls_at = (0..changes).map(|_| random.next_u64() % steps.max(1)).collect();
            falls_at.sort_unstable();
        }
        Self {
            entries: Vec::new(),
            current: 0,
            next: None,
            now: 0,
            random,
            options,
            falls_at: falls_at.into(),
            lowest_priority: 1 << 62,
            failure: None,
            report: Report::default(),
        }
    }

    fn below(&self, limit: u64) -> u64 {
        self.random.next_u64() % limit
    }

    /// Counts a switch point and chooses the next fiber; returns whether it is a different one.
    fn step(&mut self, label: &'static str, is_yielding: bool) -> bool {
        self.report.steps += 1;
        self.now += 1 + self.below(STEP_NANOS_MAX);
        self.record(label, &[]);
        if self.report.steps >= self.options.steps_max {
            let limit = self.options.steps_max;
            let waiting = self.describe();
            self.failure.get_or_insert(format!("no end after {limit} steps: {waiting}"));
            // The run ends at this fiber's next pause.
            self.next = None;
            return true;
        }
        self.expire();
        let chosen = self.choose(is_yielding);
        self.next = (chosen != self.current).then_some(chosen);
        self.next.is_some()
    }

    fn choose(&mut self, is_yielding: bool) -> usize {
        let current = self.current;
        match self.options.policy {
            Policy::Random { switch_one_in } => {
                if !is_yielding && self.below(switch_one_in.max(1)) != 0 {
                    return current;
                }
                let ready = |entry: &Entry| entry.status == Status::Ready;
                let others = self.entries.iter().enumerate();
                let others: Vec<usize> = others
                    .filter(|(number, entry)| *number != current && ready(entry))
                    .map(|(number, _)| number)
                    .collect();
                match others.len() as u64 {
                    0 => current,
                    count => others[self.below(count) as usize],
                }
            }
            Policy::Priorities { .. } => {
                let falls = self.falls_at.front().is_some_and(|at| *at <= self.report.steps);
                if falls {
                    self.falls_at.pop_front();
                }
                if falls || is_yielding {
                    self.lowest_priority -= 1;
                    self.entries[current].priority = self.lowest_priority;
                }
                self.highest().unwrap_or(current)
            }
        }
    }

    fn highest(&self) -> Option<usize> {
        let ready = self.entries.iter().enumerate().filter(|(_, e)| e.status == Status::Ready);
        ready.max_by_key(|(_, entry)| entry.priority).map(|(number, _)| number)
    }

    /// The next fiber when the running one cannot continue; time jumps if none can.
    fn choose_after_wait(&mut self) -> Option<usize> {
        self.expire();
        if self.highest().is_none() {
            let deadlines = self.entries.iter().filter_map(|entry| match entry.status {
                Status::Waiting { deadline, .. } => deadline,
                _ => None,
            });
            match deadlines.min() {
                Some(deadline) => self.now = self.now.max(deadline),
                None => {
                    self.failure = Some(format!("deadlock: {}", self.describe()));
                    return None;
                }
            }
            self.expire();
        }
        if let Policy::Priorities { .. } = self.options.policy {
            return self.highest();
        }
        let ready = self.entries.iter().enumerate().filter(|(_, e)| e.status == Status::Ready);
        let ready: Vec<usize> = ready.map(|(number, _)| number).collect();
        Some(ready[self.below(ready.len() as u64) as usize])
    }

    /// Wakes those whose time limit has passed.
    fn expire(&mut self) {
        let now = self.now;
        for entry in &mut self.entries {
            if let Status::Waiting { deadline: Some(deadline), .. } = entry.status
                && deadline <= now
            {
                entry.status = Status::Ready;
                entry.is_timed_out = true;
            }
        }
    }

    fn record(&mut self, label: &'static str, data: &[u8]) {
        let mut hash = self.report.trace_hash ^ self.current as u64;
        for byte in label.bytes().chain(data.iter().copied()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.report.trace_hash = hash.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if self.options.keeps_trace {
            let text = String::from_utf8_lossy(data);
            let event = format!("{} {} {label} {text}", self.now, self.current);
            self.report.trace.push(event);
        }
    }

    fn describe(&self) -> String {
        let alive = self.entries.iter().filter(|entry| entry.status != Status::Ended);
        let each = alive.map(|entry| match entry.status {
            Status::Waiting { reason, .. } => format!("{}: {}", entry.name, reason.label()),
            _ => format!("{}: ready", entry.name),
        });
        each.collect::<Vec<_>>().join(", ")
    }
}
