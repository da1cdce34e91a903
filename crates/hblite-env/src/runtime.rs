//! Runtimes of tokio whose work waits for a thread if the system refuses another one.

use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// Builds a runtime with sockets and timers; its name and numbers of threads are those of the
/// builder. Before, [`check_startable`](crate::thread::check_startable) has said whether the system
/// allows its workers and one thread more.
///
/// `spawn_blocking` panics where the system refuses a thread, unless the runtime has one already:
/// then the work waits for that. So the first one is started here, and none ends before the runtime
/// does.
///
/// # Errors
/// What the system says.
pub fn build(mut builder: Builder) -> io::Result<Runtime> {
    let runtime = builder.enable_io().enable_time().thread_keep_alive(Duration::MAX).build()?;
    drop(runtime.spawn_blocking(|| ()));
    Ok(runtime)
}
