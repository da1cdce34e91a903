//! Threads that are fibers inside a simulation, and the standard library's outside.

use std::io;
use std::marker::PhantomData;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use super::scheduler::World;

/// Inside a simulation every machine has two cores.
const SIMULATED_CORES: NonZero<usize> = NonZero::new(2).expect("two is not zero");

/// See `std::thread::Builder`.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
}

/// See `std::thread::JoinHandle`.
#[derive(Debug)]
pub struct JoinHandle<T>(Handle<std::thread::JoinHandle<T>, T>);

/// See `std::thread::ScopedJoinHandle`.
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T>(Handle<std::thread::ScopedJoinHandle<'scope, T>, T>);

#[derive(Debug)]
enum Handle<S, T> {
    Real(S),
    Fiber { number: usize, slot: Slot<T> },
}

/// Where a fiber leaves its result.
type Slot<T> = Arc<parking_lot::Mutex<Option<T>>>;

fn spawn_fiber<'a, T: 'a>(
    world: &std::rc::Rc<World>,
    name: Option<String>,
    work: impl FnOnce() -> T + 'a,
) -> (usize, Slot<T>) {
    let slot: Slot<T> = Arc::default();
    let result = Arc::clone(&slot);
    let number = world.spawn(name.unwrap_or_default(), move || {
        let value = work();
        *result.lock() = Some(value);
    });
    (number, slot)
}

fn join_fiber<T>(number: usize, slot: &Slot<T>) -> std::thread::Result<T> {
    let world = World::current().expect("a fiber is joined inside of its simulation");
    world.join(number);
    let value = slot.lock().take();
    value.ok_or_else(|| Box::new("the thread panicked") as Box<dyn std::any::Any + Send>)
}

impl Builder {
    /// A thread with no name yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the thread.
    pub fn name(self, name: String) -> Self {
        Self { name: Some(name) }
    }

    /// Starts it.
    pub fn spawn<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<T>> {
        if let Some(world) = World::current() {
            let (number, slot) = spawn_fiber(&world, self.name, work);
            world.point("spawn");
            return Ok(JoinHandle(Handle::Fiber { number, slot }));
        }
        self.real().spawn(work).map(|handle| JoinHandle(Handle::Real(handle)))
    }

    /// Starts it in a scope.
    pub fn spawn_scoped<'scope, T: Send + 'scope>(
        self,
        scope: Scope<'scope, '_>,
        work: impl FnOnce() -> T + Send + 'scope,
    ) -> io::Result<ScopedJoinHandle<'scope, T>> {
        match (scope.real, World::current()) {
            (Some(real), _) => {
                let handle = self.real().spawn_scoped(real, work)?;
                Ok(ScopedJoinHandle(Handle::Real(handle)))
            }
            (None, Some(world)) => {
                let (number, slot) = spawn_fiber(&world, self.name, work);
                world.point("spawn");
                Ok(ScopedJoinHandle(Handle::Fiber { number, slot }))
            }
            (None, None) => Err(io::Error::other("the scope belongs to a simulation")),
        }
    }

    fn real(self) -> std::thread::Builder {
        let builder = std::thread::Builder::new();
        self.name.into_iter().fold(builder, std::thread::Builder::name)
    }
}

impl<T> JoinHandle<T> {
    /// Waits for its end.
    pub fn join(self) -> std::thread::Result<T> {
        match self.0 {
            Handle::Real(handle) => handle.join(),
            Handle::Fiber { number, slot } => join_fiber(number, &slot),
        }
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Handle::Real(handle) => handle.is_finished(),
            Handle::Fiber { number, .. } => {
                World::current().is_none_or(|world| world.has_ended(*number))
            }
        }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for its end.
    pub fn join(self) -> std::thread::Result<T> {
        match self.0 {
            Handle::Real(handle) => handle.join(),
            Handle::Fiber { number, slot } => join_fiber(number, &slot),
        }
    }
}

/// See `std::thread::Scope`.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'scope, 'env: 'scope> {
    real: Option<&'scope std::thread::Scope<'scope, 'env>>,
    lifetimes: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread that may borrow what outlives the scope.
    pub fn spawn<T: Send + 'scope>(
        self,
        work: impl FnOnce() -> T + Send + 'scope,
    ) -> ScopedJoinHandle<'scope, T> {
        Builder::new().spawn_scoped(self, work).expect("a thread can be started")
    }
}

/// See `std::thread::scope`: all threads started in it have ended when it returns.
pub fn scope<'env, T>(work: impl for<'scope> FnOnce(Scope<'scope, 'env>) -> T) -> T {
    let Some(world) = World::current() else {
        return std::thread::scope(|real| work(Scope { real: Some(real), lifetimes: PhantomData }));
    };
    let first = world.fiber_count();
    // If this panics, the simulation ends before any of the scope's fibers continues.
    let value = work(Scope { real: None, lifetimes: PhantomData });
    // Threads that others started meanwhile are not waited for.
    for number in world.children_since(first) {
        world.join(number);
    }
    value
}

/// See `std::thread::sleep`.
pub fn sleep(duration: Duration) {
    match World::current() {
        Some(world) => world.sleep(duration),
        None => std::thread::sleep(duration),
    }
}

/// See `std::thread::yield_now`.
pub fn yield_now() {
    match World::current() {
        Some(world) => world.yield_now(),
        None => std::thread::yield_now(),
    }
}

/// See `std::thread::available_parallelism`.
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    match World::current() {
        Some(_) => Ok(SIMULATED_CORES),
        None => std::thread::available_parallelism(),
    }
}
