//! A connection as its calls see it: the client, the finished answers, the memory in use.

use std::fmt::Debug;
use std::sync::Arc;

use hblite_wire::RemoteException;
use hblite_wire::exception::class;
use hblite_wire::memory::MemoryAccount;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::outgoing::Reply;
use super::peer::Client;
use crate::stop_handler::StopHandler;

/// A call that waits until its client has read answers.
pub(super) trait Parked: Debug + Send {
    /// Lets it continue.
    fn resume(self: Box<Self>);
}

/// A connection of a client.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) client: Client,
    pub(super) memory: Arc<MemoryAccount>,
    unsent_max_bytes: usize,
    ready: Mutex<Ready>,
    is_ready: Notify,
}

#[derive(Debug, Default)]
struct Ready {
    /// Answers finished by threads, and their bytes.
    replies: Vec<Reply>,
    size_bytes: usize,
    /// Bytes that the connection has taken but not sent.
    unsent_bytes: usize,
    /// Calls that wait until the client has read answers.
    parked: Vec<Box<dyn Parked>>,
    /// Calls that were passed to threads and are not answered.
    open_calls: usize,
    /// The connection must end immediately.
    is_cut: bool,
    /// It has ended and accepts no answers.
    is_gone: bool,
    /// Ends the server, after the answers.
    stop: Option<StopHandler>,
}

impl Link {
    pub(super) fn new(client: Client, memory: Arc<MemoryAccount>, unsent_max_bytes: usize) -> Self {
        let (ready, is_ready) = (Mutex::default(), Notify::new());
        Self { client, memory, unsent_max_bytes, ready, is_ready }
    }

    /// A call was passed to a thread.
    pub(super) fn begin(&self) {
        self.ready.lock().open_calls += 1;
    }

    /// It has ended, with or without an answer.
    pub(super) fn end(&self, reply: Option<Reply>) {
        let mut ready = self.ready.lock();
        ready.open_calls -= 1;
        if !ready.is_gone {
            ready.size_bytes += reply.as_ref().map_or(0, Reply::size_bytes);
            ready.replies.extend(reply);
        }
        drop(ready);
        self.is_ready.notify_one();
    }

    /// Ends the connection without sending anything else.
    pub(super) fn cut(&self) {
        self.ready.lock().is_cut = true;
        self.is_ready.notify_one();
    }

    pub(super) fn is_cut(&self) -> bool {
        self.ready.lock().is_cut
    }

    /// Whether it accepts no more answers.
    pub(super) fn is_gone(&self) -> bool {
        self.ready.lock().is_gone
    }

    /// Ends the server once the client has its answers, or has gone.
    pub(super) fn stop_server(&self, handler: &StopHandler) {
        let mut ready = self.ready.lock();
        let is_gone = ready.is_gone;
        if !is_gone {
            ready.stop = Some(handler.clone());
        }
        drop(ready);
        if is_gone {
            handler.stop();
        }
    }

    /// What ends the server now: every call is answered, and the connection has the answers.
    pub(super) fn take_stop(&self) -> Option<StopHandler> {
        let mut ready = self.ready.lock();
        let is_answered = ready.open_calls == 0 && ready.replies.is_empty();
        if is_answered { ready.stop.take() } else { None }
    }

    pub(super) fn open_calls(&self) -> usize {
        self.ready.lock().open_calls
    }

    /// Waits until there is an answer or a call to take.
    pub(super) async fn ready(&self) {
        self.is_ready.notified().await;
    }

    /// Takes the finished answers, for a connection that already has this much to send; and the
    /// calls that can continue, if it took all of them.
    pub(super) fn take(&self, unsent_bytes: usize) -> (Vec<Reply>, Vec<Box<dyn Parked>>) {
        let mut ready = self.ready.lock();
        ready.unsent_bytes = unsent_bytes + std::mem::take(&mut ready.size_bytes);
        let replies = std::mem::take(&mut ready.replies);
        let goes_on = ready.unsent_bytes <= self.unsent_max_bytes;
        let parked = if goes_on { std::mem::take(&mut ready.parked) } else { Vec::new() };
        (replies, parked)
    }

    /// Keeps the call until the client has read answers, if it has too many unread; otherwise
    /// returns it.
    pub(super) fn park<P: Parked + 'static>(&self, call: P) -> Option<P> {
        let mut ready = self.ready.lock();
        if ready.size_bytes + ready.unsent_bytes <= self.unsent_max_bytes || ready.is_gone {
            return Some(call);
        }
        ready.parked.push(Box::new(call));
        None
    }

    /// Ends it: pending answers, and calls that wait for the client, are dropped.
    pub(super) fn close(&self) {
        let mut ready = self.ready.lock();
        ready.is_gone = true;
        let stop = ready.stop.take();
        let dropped = (std::mem::take(&mut ready.replies), std::mem::take(&mut ready.parked));
        drop(ready);
        drop(dropped);
        stop.iter().for_each(StopHandler::stop);
    }

    /// The answer to a call for which there is no memory. The client may retry.
    pub(super) fn out_of_memory(&self) -> RemoteException {
        let message = format!(
            "Call queue is full on {}, is hbase.ipc.server.max.callqueue.size too small?",
            self.client.server
        );
        RemoteException::new(class::CALL_QUEUE_TOO_BIG, message)
    }
}
