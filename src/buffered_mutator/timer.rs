//! Sends a buffer when its oldest write is old enough.

use std::sync::Arc;

use hblite_env::thread::{Builder, JoinHandle};
use hblite_env::time::{Duration, Instant};

use super::buffer::Buffer;

/// A thread that watches a buffer. It ends with the buffer, or when this handle is dropped.
#[derive(Debug)]
pub(super) struct Timer {
    thread: Option<JoinHandle<()>>,
    stop: Stop,
}

struct Stop(Arc<Buffer>);

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stop")
    }
}

impl Timer {
    /// Starts the thread; `None` if the system cannot start one.
    pub(super) fn start(buffer: &Arc<Buffer>, age_max: Duration) -> Option<Self> {
        let watched = Arc::clone(buffer);
        let thread = Builder::new()
            .name("hblite-buffer".to_owned())
            .spawn(move || watch(&watched, age_max))
            .ok()?;
        Some(Self { thread: Some(thread), stop: Stop(Arc::clone(buffer)) })
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let buffer = &self.stop.0;
        buffer.state.lock().is_closed = true;
        buffer.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A listener that panicked has ended it already.
            let _ = thread.join();
        }
        buffer.state.lock().is_closed = false;
    }
}

fn watch(buffer: &Buffer, age_max: Duration) {
    let mut state = buffer.state.lock();
    while !state.is_closed {
        let Some(oldest) = state.oldest else {
            buffer.changed.wait(&mut state);
            continue;
        };
        let left = (oldest + age_max).saturating_duration_since(Instant::now());
        if left.is_zero() {
            state.send(&buffer.table);
        } else {
            buffer.changed.wait_for(&mut state, left);
        }
    }
}
