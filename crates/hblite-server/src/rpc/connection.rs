//! One connection: frames in, answers out, in whatever order they are ready.
//!
//! One task does all of it. It reads what is there, takes out whole frames, does the quick calls
//! itself and hands the others over, and writes the answers that are ready in one go. So a client
//! that sends one call after the other is answered without a thread being woken, and one that sends
//! many at once costs few system calls.
//!
//! Nothing is read while the client has too many calls open or leaves too many answers unread: it
//! is slowed down by its own socket.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use hblite_wire::RemoteException;
use hblite_wire::exception::class;
use hblite_wire::frame::{LENGTH_SIZE, NO_CALL_ID, Request, Response};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::dispatch::Dispatcher;
use super::hello::shake_hands;
use crate::cluster::Role;
use crate::options::Limits;

/// What is read at once, if there is so much.
const READ_SIZE: usize = 64 * 1024;
/// Buffers that are written at once.
const WRITE_BUFFERS_MAX: usize = 64;
/// A frame that comes more slowly than this, once it has had the time that a stall may take, is
/// held back on purpose.
const FRAME_BYTES_PER_SECOND_MIN: usize = 1024;

/// Answers that were made elsewhere.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    ready: Mutex<Ready>,
    is_ready: Notify,
}

#[derive(Debug, Default)]
struct Ready {
    responses: Vec<Response>,
    /// Calls that were handed over and are not answered.
    open_calls: usize,
    /// The connection is to end at once.
    is_cut: bool,
}

impl Outbox {
    /// A call was handed over.
    pub(super) fn begin(&self) {
        self.ready.lock().open_calls += 1;
    }

    /// It has ended, with an answer or without.
    pub(super) fn end(&self, response: Option<Response>) {
        let mut ready = self.ready.lock();
        ready.open_calls -= 1;
        ready.responses.extend(response);
        drop(ready);
        self.is_ready.notify_one();
    }

    /// The connection ends without another word.
    pub(super) fn cut(&self) {
        self.ready.lock().is_cut = true;
        self.is_ready.notify_one();
    }

    fn is_cut(&self) -> bool {
        self.ready.lock().is_cut
    }

    fn open_calls(&self) -> usize {
        self.ready.lock().open_calls
    }
}

/// Serves one client until it goes.
///
/// # Errors
/// Those of the socket.
pub(super) async fn serve(
    mut stream: TcpStream,
    dispatcher: Arc<Dispatcher>,
    role: Role,
) -> io::Result<()> {
    let limits = dispatcher.limits().clone();
    let hello = shake_hands(&mut stream, dispatcher.cluster(), role);
    let client = match tokio::time::timeout(limits.hello_timeout, hello).await {
        Ok(Ok(Some(client))) => Arc::new(client),
        Ok(Ok(None)) => return stream.shutdown().await,
        Ok(Err(error)) => return Err(error),
        Err(_) => return Ok(()),
    };
    let outbox = Arc::new(Outbox::default());
    let mut input = BytesMut::with_capacity(4096);
    let mut output = Output::default();
    let mut is_ending = false;
    let mut progress = Instant::now();
    // When the frame began that is not whole, or we were ready for more of it.
    let mut frame_began = progress;
    let (mut reader, mut writer) = stream.split();
    loop {
        let was_empty = output.is_empty();
        while !is_ending && !is_full(&output, &outbox, &limits) {
            match take_frame(&mut input, limits.frame_size_max_bytes) {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    frame_began = Instant::now();
                    let request = Request::parse(frame);
                    output.extend(dispatcher.dispatch(&client, request, &outbox));
                }
                Err(exception) => {
                    output.push(Response::of_exception(NO_CALL_ID, &exception));
                    is_ending = true;
                }
            }
        }
        if outbox.is_cut() {
            return Ok(());
        }
        output.extend(std::mem::take(&mut outbox.ready.lock().responses));
        if was_empty && !output.is_empty() {
            progress = Instant::now();
        }
        if is_ending && output.is_empty() {
            return writer.shutdown().await;
        }
        let may_read = !is_ending && !is_full(&output, &outbox, &limits);
        if input.is_empty() || !may_read {
            frame_began = Instant::now();
        }
        let slowest = Duration::from_secs((input.len() / FRAME_BYTES_PER_SECOND_MIN) as u64);
        let is_under_way = !output.is_empty() || (may_read && !input.is_empty());
        reserve(&mut input, &limits);
        tokio::select! {
            biased;
            written = async { writer.write_vectored(&output.slices()).await },
                if !output.is_empty() =>
            {
                output.advance(written?);
                progress = Instant::now();
            }
            () = outbox.is_ready.notified() => {}
            read = reader.read_buf(&mut input), if may_read => {
                if read? == 0 {
                    return Ok(());
                }
                progress = Instant::now();
            }
            () = sleep_until(progress.min(frame_began + slowest) + limits.stall_timeout),
                if is_under_way => return Ok(()),
        }
    }
}

fn is_full(output: &Output, outbox: &Outbox, limits: &Limits) -> bool {
    output.size_bytes > limits.connection_unsent_max_bytes
        || outbox.open_calls() >= limits.connection_calls_max
}

/// Makes room for what comes next: as much as has come, not as much as is announced.
fn reserve(input: &mut BytesMut, limits: &Limits) {
    if input.capacity() - input.len() < READ_SIZE / 16 {
        input.reserve(input.len().min(limits.frame_size_max_bytes).max(READ_SIZE));
    }
}

/// The next whole frame, without its length.
///
/// # Errors
/// What to tell a client whose frame is too long.
fn take_frame(input: &mut BytesMut, size_max: usize) -> Result<Option<Bytes>, RemoteException> {
    let Some(length) = input.first_chunk::<LENGTH_SIZE>() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(*length) as usize;
    if length > size_max {
        let message = format!(
            "RPC data length of {length} received is greater than max allowed {size_max}. Set \
             \"hbase.ipc.max.request.size\" on server to override this limit (not recommended)"
        );
        return Err(RemoteException::new(class::REQUEST_TOO_BIG, message));
    }
    if input.len() - LENGTH_SIZE < length {
        return Ok(None);
    }
    input.advance(LENGTH_SIZE);
    Ok(Some(input.split_to(length).freeze()))
}

/// Bytes on their way to the client.
#[derive(Debug, Default)]
struct Output {
    buffers: VecDeque<Bytes>,
    size_bytes: usize,
}

impl Output {
    fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    fn push(&mut self, response: Response) {
        self.size_bytes += response.size_bytes();
        self.buffers.push_back(response.head);
        if !response.cells.is_empty() {
            self.buffers.push_back(response.cells);
        }
    }

    fn extend(&mut self, responses: impl IntoIterator<Item = Response>) {
        responses.into_iter().for_each(|response| self.push(response));
    }

    fn slices(&self) -> Vec<IoSlice<'_>> {
        let buffers = self.buffers.iter().take(WRITE_BUFFERS_MAX);
        buffers.map(|buffer| IoSlice::new(buffer)).collect()
    }

    fn advance(&mut self, mut written: usize) {
        self.size_bytes -= written;
        while let Some(first) = self.buffers.front_mut() {
            if first.len() > written {
                first.advance(written);
                return;
            }
            written -= first.len();
            self.buffers.pop_front();
        }
    }
}
