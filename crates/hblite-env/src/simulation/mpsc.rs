//! Channels on the locks of this folder.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError};

use super::lock::{Condvar, Mutex};
use super::time::Instant;

#[derive(Debug)]
struct Shared<T> {
    queue: Mutex<Queue<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Queue<T> {
    values: VecDeque<T>,
    senders: usize,
    has_receiver: bool,
}

/// See `std::sync::mpsc::Sender`.
#[derive(Debug)]
pub struct Sender<T>(Arc<Shared<T>>);

/// See `std::sync::mpsc::Receiver`.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Shared<T>>);

/// A channel without bounds.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Queue { values: VecDeque::new(), senders: 1, has_receiver: true };
    let shared = Arc::new(Shared { queue: Mutex::new(queue), changed: Condvar::new() });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl<T> Sender<T> {
    /// Adds a value; an error without a receiver.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut queue = self.0.queue.lock();
        if !queue.has_receiver {
            return Err(SendError(value));
        }
        queue.values.push_back(value);
        drop(queue);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.queue.lock().senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.queue.lock().senders -= 1;
        self.0.changed.notify_all();
    }
}

impl<T> Receiver<T> {
    /// Waits for a value.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.receive(None).map_err(|_| RecvError)
    }

    /// Waits for a value for at most this long.
    pub fn recv_timeout(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        self.receive(Some(Instant::now() + limit))
    }

    /// A value, if there is one.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut queue = self.0.queue.lock();
        match queue.values.pop_front() {
            Some(value) => Ok(value),
            None if queue.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    fn receive(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        let mut queue = self.0.queue.lock();
        loop {
            if let Some(value) = queue.values.pop_front() {
                return Ok(value);
            }
            if queue.senders == 0 {
                return Err(RecvTimeoutError::Disconnected);
            }
            match deadline {
                None => self.0.changed.wait(&mut queue),
                Some(deadline) if Instant::now() >= deadline => {
                    return Err(RecvTimeoutError::Timeout);
                }
                Some(deadline) => {
                    self.0.changed.wait_until(&mut queue, deadline);
                }
            }
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.queue.lock().has_receiver = false;
    }
}
