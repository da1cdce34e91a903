//! One connection: detects the transport and protocol of its client, and answers its calls one by
//! one.
//!
//! The first bytes decide for the whole connection:
//!
//! ```text
//! 80 01                  binary                     82                     compact
//! size 80 01             binary, framed             size 82                compact, framed
//! length of name, name   binary without a version   size length of name    the same, framed
//! POST, or another method of HTTP: see `http.rs`
//! ```
//!
//! Sizes and lengths have four bytes, of which the first is below 0x80.
//!
//! Threads: one for each connection. A call waits for the store in that thread, so a connection has
//! one call at a time, and answers are in the order of the calls.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hblite_wire::permits::Permit;

use crate::http;
use crate::memory::Allowance;
use crate::options::Terms;
use crate::protocol::Protocol;
use crate::protocol::error::Result;
use crate::protocol::input::{Input, Source};
use crate::protocol::reader::{COMPACT_ID, Reader};
use crate::protocol::writer::Writer;
use crate::service::{Service, answer};

/// A larger buffer for answers is freed after the answer.
const BUFFER_KEPT: usize = 16 * 1024;
/// The size of a frame, in bytes.
const FRAME_HEAD: usize = 4;

/// Answers calls until either side ends the connection.
///
/// # Errors
/// The client sent something that is not a message, or is too large. The connection must be closed;
/// the client has received an error if its protocol allows one.
pub(crate) fn serve(
    stream: &TcpStream,
    permit: Permit,
    service: &dyn Service,
    terms: Terms<'_>,
    allowance: Rc<Allowance>,
) -> Result<()> {
    let limits = terms.limits;
    let permit = Rc::new(permit);
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(limits.idle_timeout))?;
    stream.set_write_timeout(Some(limits.idle_timeout))?;
    let source = TimedSource {
        stream: stream.try_clone()?,
        permit: Rc::clone(&permit),
        begun: None,
        message_timeout: limits.message_timeout,
    };
    let mut output = TimedOutput { stream, permit, message_timeout: limits.message_timeout };
    serve_messages(Box::new(source), &mut output, service, terms, allowance)
}

/// Answers the calls that come from `source`.
pub(crate) fn serve_messages(
    source: Box<dyn Source>,
    output: &mut dyn Write,
    service: &dyn Service,
    terms: Terms<'_>,
    allowance: Rc<Allowance>,
) -> Result<()> {
    let limits = terms.limits;
    let mut input = Input::new(source, Rc::clone(&allowance));
    let mut buffer = Vec::new();
    if !input.await_message()? {
        return Ok(());
    }
    if http::is_begun_by(input.peek(FRAME_HEAD)?) {
        return http::serve(&mut input, output, service, terms);
    }
    let Some((is_framed, protocol)) = detect(&mut input)? else { return Ok(()) };
    loop {
        match is_framed {
            true => input.start_frame(limits.message_size_max_bytes)?,
            false => input.start_message(limits.message_size_max_bytes),
        }
        buffer.clear();
        if is_framed {
            buffer.extend([0; FRAME_HEAD]);
        }
        let empty = buffer.len();
        let mut writer = Writer::new(protocol, buffer);
        let mut reader = Reader::new(&mut input, protocol, limits.message_size_max_bytes);
        answer(service, &mut reader, &mut writer)?;
        input.end_message()?;
        buffer = writer.into_bytes();
        if buffer.len() > empty {
            if is_framed {
                let size = u32::try_from(buffer.len() - FRAME_HEAD).unwrap_or(u32::MAX);
                buffer[..FRAME_HEAD].copy_from_slice(&size.to_be_bytes());
            }
            output.write_all(&buffer)?;
        }
        if buffer.capacity() > BUFFER_KEPT {
            buffer = Vec::new();
        }
        allowance.keep(input.kept_bytes() + buffer.capacity());
        if !input.await_message()? {
            return Ok(());
        }
    }
}

/// Whether messages are framed, and their protocol. `None` if the connection ends before that is
/// known, or its first bytes match neither.
fn detect(input: &mut Input) -> Result<Option<(bool, Protocol)>> {
    match input.peek(1)?.first() {
        Some(0x80) => return Ok(Some((false, Protocol::Binary))),
        Some(&COMPACT_ID) => return Ok(Some((false, Protocol::Compact))),
        _ => {}
    }
    Ok(match input.peek(FRAME_HEAD + 1)?.get(FRAME_HEAD) {
        Some(0x80 | 0) => Some((true, Protocol::Binary)),
        Some(&COMPACT_ID) => Some((true, Protocol::Compact)),
        // The first letter of a method's name.
        Some(b'a'..=b'z' | b'A'..=b'Z') => Some((false, Protocol::Binary)),
        _ => None,
    })
}

/// A connection as messages are read from it. It is waiting whenever it is read from, and working
/// once a message is complete. A message, once begun, must arrive within a time limit.
struct TimedSource {
    stream: TcpStream,
    permit: Rc<Permit>,
    /// When the first bytes of the message arrived.
    begun: Option<Instant>,
    message_timeout: Duration,
}

impl Read for TimedSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.begun.is_some_and(|begun| begun.elapsed() > self.message_timeout) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.permit.wait();
        let count = self.stream.read(buffer)?;
        self.begun.get_or_insert_with(Instant::now);
        Ok(count)
    }
}

impl Source for TimedSource {
    fn expect_message(&mut self) {
        self.begun = None;
    }

    fn message_is_read(&mut self) -> io::Result<()> {
        if self.permit.work() { Ok(()) } else { Err(io::ErrorKind::ConnectionAborted.into()) }
    }
}

/// A connection that must receive an answer within a time limit, and is waiting meanwhile.
struct TimedOutput<'s> {
    stream: &'s TcpStream,
    permit: Rc<Permit>,
    message_timeout: Duration,
}

impl Write for TimedOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let begun = Instant::now();
        self.permit.wait();
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if !bytes.is_empty() && begun.elapsed() > self.message_timeout {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
