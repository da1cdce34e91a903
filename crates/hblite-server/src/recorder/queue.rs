//! The calls that wait to be written, and their limit.
//!
//! Invariant: queue and unanswered calls together take at most [`QUEUE_MAX_BYTES`], and one event
//! beyond that. Threads: connections add events; the writing thread takes them.

use std::collections::VecDeque;
use std::time::Instant;

use bytes::Bytes;
use hblite_wire::recording::Connection;
use parking_lot::{Condvar, Mutex};

/// Bytes of calls that wait to be written, or for their answers.
const QUEUE_MAX_BYTES: usize = 64 << 20;
/// The overhead of an event in memory.
const EVENT_BYTES: usize = 256;

/// Events on their way to the writing thread.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    /// Of events, and of calls without an answer.
    size_bytes: usize,
    /// Requests left out since the last event.
    dropped: u64,
    /// Nothing more is added: the recording has ended, or the file cannot be written.
    is_closed: bool,
}

/// What happened on a connection.
pub(super) enum Event {
    Opened { connection: Connection, at_ms: i64 },
    Request { connection: u64, id: u32, at_ms: i64, since: Instant, request: Requested },
    Answer { connection: u64, after: Instant, head: Bytes, cells: Bytes },
    Closed { connection: u64 },
    Dropped { calls: u64 },
}

/// A request, copied from the memory of its connection.
pub(super) struct Requested {
    pub(super) method: String,
    pub(super) message: Bytes,
    pub(super) cells: Bytes,
}

impl Event {
    /// The memory that the event is counted with.
    pub(super) fn size_bytes(&self) -> usize {
        EVENT_BYTES
            + match self {
                Self::Opened { connection, .. } => connection.header.len(),
                Self::Request { request, .. } => request.message.len() + request.cells.len(),
                Self::Answer { head, cells, .. } => head.len() + cells.len(),
                Self::Closed { .. } | Self::Dropped { .. } => 0,
            }
    }
}

impl Queue {
    /// Adds an event, unless the queue is closed, or full and the event is part of a call.
    pub(super) fn add(&self, event: Event) {
        let mut state = self.state.lock();
        if state.is_closed {
            return;
        }
        let size = event.size_bytes();
        // The beginning and the end of a connection are small, and calls are unintelligible without
        // them.
        let is_call = matches!(event, Event::Request { .. } | Event::Answer { .. });
        if is_call && state.size_bytes + size > QUEUE_MAX_BYTES {
            // A request whose answer is left out is dropped with its connection's end.
            state.dropped += u64::from(matches!(event, Event::Request { .. }));
            return;
        }
        let calls = std::mem::take(&mut state.dropped);
        if calls > 0 {
            state.size_bytes += EVENT_BYTES;
            state.events.push_back(Event::Dropped { calls });
        }
        state.size_bytes += size;
        state.events.push_back(event);
        drop(state);
        self.changed.notify_one();
    }

    /// The added events; `None` once no more will follow.
    pub(super) fn take(&self) -> Option<VecDeque<Event>> {
        let mut state = self.state.lock();
        while state.events.is_empty() && !state.is_closed {
            self.changed.wait(&mut state);
        }
        let calls = std::mem::take(&mut state.dropped);
        if calls > 0 {
            state.size_bytes += EVENT_BYTES;
            state.events.push_back(Event::Dropped { calls });
        }
        (!state.events.is_empty()).then(|| std::mem::take(&mut state.events))
    }

    /// Releases the memory of events that are written.
    pub(super) fn release(&self, size_bytes: usize) {
        let mut state = self.state.lock();
        assert!(state.size_bytes >= size_bytes, "more bytes are released than were added");
        state.size_bytes -= size_bytes;
    }

    /// Ends the recording: the events so far are still taken.
    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Ends the recording because nothing can be written: drops the events so far.
    pub(super) fn abandon(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.events.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(size: usize) -> Event {
        let (message, cells) = (Bytes::from(vec![0; size]), Bytes::new());
        let request = Requested { method: "Get".to_owned(), message, cells };
        Event::Request { connection: 1, id: 1, at_ms: 0, since: Instant::now(), request }
    }

    #[test]
    fn what_the_queue_has_no_room_for_is_counted_and_left_out() {
        let queue = Queue::default();
        let third = QUEUE_MAX_BYTES / 3;
        (0..5).for_each(|_| queue.add(request(third)));
        assert!(queue.state.lock().size_bytes <= QUEUE_MAX_BYTES);
        let events = queue.take().unwrap();
        assert_eq!(events.len(), 3);
        assert!(matches!(events[2], Event::Dropped { calls: 3 }));
        // Events taken from the queue count until they are written.
        queue.add(request(2 * third));
        assert_eq!(queue.state.lock().dropped, 1);
        queue.release(events.iter().map(Event::size_bytes).sum());
        queue.add(request(2 * third));
        let events = queue.take().unwrap();
        assert!(matches!(events[0], Event::Dropped { calls: 1 }));
        assert_eq!(events.len(), 2);
    }
}
