//! Detects activity on a connection: bytes that move, or a request in progress.
//!
//! Threads: any.

use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hblite_wire::permits::{End, Permit, Permits};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::turns::{Turn, Turns};

/// The activity on a connection, and its permit.
#[derive(Debug)]
pub(crate) struct Activity {
    pub(crate) address: IpAddr,
    permit: Mutex<Option<Permit>>,
    eviction: Arc<Notify>,
    /// Counts reads and writes that moved bytes.
    moves: AtomicUsize,
    /// Requests in progress.
    at_work: AtomicUsize,
}

impl Activity {
    /// That of a connection from `address`, waiting for a request; `None` if there are too many
    /// connections that are busy.
    pub(crate) async fn begin(permits: &Arc<Permits>, address: IpAddr) -> Option<Arc<Self>> {
        let eviction = Arc::new(Notify::new());
        let notified = Arc::clone(&eviction);
        let end: End = Arc::new(move || notified.notify_one());
        let permit = poll_fn(|context| permits.poll_enter(address, &end, context)).await?;
        let (moves, at_work) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let permit = Mutex::new(Some(permit));
        Some(Arc::new(Self { address, permit, eviction, moves, at_work }))
    }

    /// The client has to send or to take something.
    pub(crate) fn wait(&self) {
        self.permit.lock().as_ref().inspect(|permit| permit.wait());
    }

    /// A request is complete, or the next piece of an answer is read. False if the connection is
    /// ending.
    pub(crate) fn work(&self) -> bool {
        self.permit.lock().as_ref().is_some_and(Permit::work)
    }

    /// Resolves when the connection must end in favour of a new one.
    pub(crate) async fn evicted(&self) {
        self.eviction.notified().await;
    }

    /// Returns after `limit` to twice `limit` without activity.
    pub(crate) async fn stalled(&self, limit: Duration) {
        let mut seen = self.moves.load(Ordering::Relaxed);
        loop {
            tokio::time::sleep(limit).await;
            let moves = self.moves.load(Ordering::Relaxed);
            if moves == seen && self.at_work.load(Ordering::Relaxed) == 0 {
                return;
            }
            seen = moves;
        }
    }
}

/// A request in progress.
#[derive(Debug)]
pub(crate) struct Work {
    activity: Arc<Activity>,
    turns: Arc<Turns>,
}

impl Work {
    pub(crate) fn begin(activity: &Arc<Activity>, turns: &Arc<Turns>) -> Self {
        activity.at_work.fetch_add(1, Ordering::Relaxed);
        Self { activity: Arc::clone(activity), turns: Arc::clone(turns) }
    }

    /// Waits for a turn of its client.
    pub(crate) async fn turn(&self) -> Turn {
        self.turns.next(self.activity.address).await
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let before = self.activity.at_work.fetch_sub(1, Ordering::Relaxed);
        debug_assert!(before > 0, "each request at work was counted");
    }
}

/// A stream whose reads and writes are counted. It releases the permit of the connection before it
/// is closed: a client that sees the end of its connection may connect again at once.
#[derive(Debug)]
pub(crate) struct Watched {
    stream: TcpStream,
    activity: Arc<Activity>,
}

impl Watched {
    pub(crate) fn new(stream: TcpStream, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }

    fn moved<T>(&self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Ok(_)) = &polled {
            self.activity.moves.fetch_add(1, Ordering::Relaxed);
        }
        polled
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.moved(polled)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.moved(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.moved(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.activity.permit.lock().take();
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.activity.permit.lock().take();
    }
}
