//! A stream whose bytes are wrapped in messages: a length of four bytes, and the wrapped bytes.
//!
//! Where messages begin and end means nothing to the frames of calls inside them.
//!
//! Invariants:
//! - A message longer than the limit ends the connection, and allocates nothing.
//! - Bytes that a writer handed over are sent by its next flush.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use hblite_wire::frame::LENGTH_SIZE;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Failure;
use super::gssapi::{Layer, SecurityContext};

/// Bytes of one read.
const READ_SIZE: usize = 16 * 1024;
/// Bytes that wait to be sent; a writer waits while there are more.
const UNSENT_MAX: usize = 256 * 1024;

/// A stream that is wrapped if there is a layer, and as it is if there is none.
pub(in crate::rpc) struct Protected<S, C> {
    stream: S,
    layer: Option<Layer<C>>,
    message_size_max: usize,
    read: Box<[u8]>,
    received: BytesMut,
    plain: Bytes,
    unsent: BytesMut,
}

impl<S, C> fmt::Debug for Protected<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protected")
            .field("is_wrapped", &self.layer.is_some())
            .field("unsent", &self.unsent.len())
            .finish_non_exhaustive()
    }
}

impl<S, C> Protected<S, C> {
    /// A stream after the exchange of tokens.
    pub(in crate::rpc) fn new(stream: S, layer: Option<Layer<C>>, message_size_max: usize) -> Self {
        let read_size = if layer.is_some() { READ_SIZE } else { 0 };
        Self {
            stream,
            layer,
            message_size_max,
            read: vec![0; read_size].into(),
            received: BytesMut::new(),
            plain: Bytes::new(),
            unsent: BytesMut::new(),
        }
    }
}

impl<S: AsyncWrite + Unpin, C> Protected<S, C> {
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.unsent.is_empty() {
            let sent = ready!(Pin::new(&mut self.stream).poll_write(context, &self.unsent))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.unsent.advance(sent);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S, C: SecurityContext> Protected<S, C> {
    /// Unwraps the next message if it has arrived; false if it has not.
    fn unwrap_next(&mut self) -> io::Result<bool> {
        let Some(length) = self.received.first_chunk::<LENGTH_SIZE>() else { return Ok(false) };
        let length = u32::from_be_bytes(*length) as usize;
        if length > self.message_size_max {
            return Err(io::Error::other(format!(
                "a wrapped message of {length} bytes is over hbase.ipc.max.response.size"
            )));
        }
        if self.received.len() - LENGTH_SIZE < length {
            return Ok(false);
        }
        self.received.advance(LENGTH_SIZE);
        let message = self.received.split_to(length);
        if let Some(layer) = &mut self.layer {
            self.plain = layer.unwrap(&message).map_err(failed)?.into();
        }
        Ok(true)
    }
}

impl<S: AsyncRead + Unpin, C: SecurityContext + Unpin> AsyncRead for Protected<S, C> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.layer.is_none() {
            return Pin::new(&mut this.stream).poll_read(context, into);
        }
        while this.plain.is_empty() {
            if this.unwrap_next()? {
                continue;
            }
            let mut read = ReadBuf::new(&mut this.read);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                let is_whole = this.received.is_empty();
                let cut = || Err(io::ErrorKind::UnexpectedEof.into());
                return Poll::Ready(if is_whole { Ok(()) } else { cut() });
            }
            this.received.extend_from_slice(read.filled());
        }
        let taken = this.plain.split_to(this.plain.len().min(into.remaining()));
        into.put_slice(&taken);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin, C: SecurityContext + Unpin> AsyncWrite for Protected<S, C> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.layer.is_none() {
            return Pin::new(&mut this.stream).poll_write(context, bytes);
        }
        if this.unsent.len() > UNSENT_MAX {
            ready!(this.poll_send(context))?;
        }
        let Some(layer) = &mut this.layer else { return Poll::Ready(Ok(0)) };
        let taken = bytes.len().min(layer.chunk_max());
        let wrapped = layer.wrap(&bytes[..taken]).map_err(failed)?;
        this.unsent.put_u32(u32::try_from(wrapped.len()).map_err(io::Error::other)?);
        this.unsent.put_slice(&wrapped);
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send(context))?;
        Pin::new(&mut this.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send(context))?;
        Pin::new(&mut this.stream).poll_shutdown(context)
    }
}

fn failed(failure: Failure) -> io::Error {
    let (Failure::Refused(why) | Failure::Interrupted(why)) = failure;
    io::Error::new(io::ErrorKind::InvalidData, why)
}
