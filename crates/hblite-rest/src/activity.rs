//! Detects activity on a connection: bytes that move, or a request in progress.
//!
//! Threads: any.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;

/// The activity on a connection.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// Counts reads and writes that moved bytes.
    moves: AtomicUsize,
    /// Requests in progress.
    at_work: AtomicUsize,
}

impl Activity {
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

/// A request in progress, and what it holds until it ends.
#[derive(Debug)]
pub(crate) struct Work {
    activity: Arc<Activity>,
    held: Vec<OwnedSemaphorePermit>,
}

impl Work {
    pub(crate) fn begin(activity: &Arc<Activity>) -> Self {
        activity.at_work.fetch_add(1, Ordering::Relaxed);
        Self { activity: Arc::clone(activity), held: Vec::new() }
    }

    pub(crate) fn hold(&mut self, permit: Option<OwnedSemaphorePermit>) {
        self.held.extend(permit);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let before = self.activity.at_work.fetch_sub(1, Ordering::Relaxed);
        debug_assert!(before > 0, "each request at work was counted");
    }
}

/// A stream whose reads and writes are counted, and its permit among the connections.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Released before the stream is closed: a client that sees the end of its connection may
    /// connect again at once. Fields are dropped in their order.
    place: Option<OwnedSemaphorePermit>,
    stream: TcpStream,
    activity: Arc<Activity>,
}

impl Watched {
    pub(crate) fn new(
        stream: TcpStream,
        activity: Arc<Activity>,
        place: OwnedSemaphorePermit,
    ) -> Self {
        Self { place: Some(place), stream, activity }
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
        self.place = None;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
