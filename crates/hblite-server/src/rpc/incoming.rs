//! Bytes from a client, divided into frames.
//!
//! An announced length allocates nothing. Small frames arrive in a buffer that grows with the
//! reads; a large frame gets its own memory, which grows as its bytes arrive and is charged before
//! it grows. If there is none, the call is refused and the rest of its frame is skipped.

use bytes::{Buf as _, Bytes, BytesMut};
use hblite_wire::RemoteException;
use hblite_wire::exception::class;
use hblite_wire::frame::{LENGTH_SIZE, Request};
use hblite_wire::memory::{MemoryAccount, MemoryCharge, Room};
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Minimum and maximum size of a read.
const READ_SIZE_MIN: usize = 4 * 1024;
const READ_SIZE_MAX: usize = 64 * 1024;
/// A larger frame gets its own memory.
pub(super) const SMALL_FRAME_MAX: usize = READ_SIZE_MAX - LENGTH_SIZE;

/// The bytes that have been read but not taken.
#[derive(Debug)]
pub(super) struct Incoming {
    input: BytesMut,
    /// The memory of `input`.
    block_bytes: usize,
    read_size: usize,
    large: Option<Large>,
    /// The rest of a frame that is skipped.
    passed_over: usize,
    frame_size_max: usize,
}

/// A frame that has begun to arrive.
#[derive(Debug)]
struct Large {
    bytes: Vec<u8>,
    length: usize,
    room: Room,
}

/// A complete frame, without its length, and its charge if it has its own memory.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: Bytes,
    pub(super) charge: Option<MemoryCharge>,
}

impl Incoming {
    pub(super) fn new(frame_size_max: usize) -> Self {
        Self {
            input: BytesMut::new(),
            block_bytes: 0,
            read_size: READ_SIZE_MIN,
            large: None,
            passed_over: 0,
            frame_size_max,
        }
    }

    /// Memory in use, without that of a large frame.
    pub(super) fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Bytes of the frame that has begun.
    pub(super) fn pending_bytes(&self) -> usize {
        self.input.len() + self.large.as_ref().map_or(0, |large| LENGTH_SIZE + large.bytes.len())
    }

    /// Whether the rest of a frame is awaited.
    pub(super) fn is_within_frame(&self) -> bool {
        self.pending_bytes() > 0 || self.passed_over > 0
    }

    /// The next frame, if it is complete.
    ///
    /// The error for a client whose frame is too long.
    pub(super) fn next_frame(
        &mut self,
        account: &Arc<MemoryAccount>,
    ) -> Result<Option<Frame>, RemoteException> {
        if self.passed_over > 0 {
            return Ok(None);
        }
        if self.large.is_none() {
            let Some(length) = self.input.first_chunk::<LENGTH_SIZE>() else {
                return Ok(None);
            };
            let length = u32::from_be_bytes(*length) as usize;
            if length > self.frame_size_max {
                return Err(too_long(length, self.frame_size_max));
            }
            if length <= SMALL_FRAME_MAX {
                return Ok(self.next_small_frame(length));
            }
            self.input.advance(LENGTH_SIZE);
            let room = Room::new(account.charge(), 0);
            self.large = Some(Large { bytes: Vec::new(), length, room });
        }
        self.fill_large();
        match self.large.take_if(|large| large.bytes.len() == large.length) {
            Some(Large { bytes, room, .. }) => {
                let charge = Some(room.into_charge());
                Ok(Some(Frame { bytes: Bytes::from(bytes), charge }))
            }
            None => Ok(None),
        }
    }

    fn next_small_frame(&mut self, length: usize) -> Option<Frame> {
        if self.input.len() - LENGTH_SIZE < length {
            return None;
        }
        self.input.advance(LENGTH_SIZE);
        Some(Frame { bytes: self.input.split_to(length).freeze(), charge: None })
    }

    /// Moves the received part of a large frame to its own memory.
    fn fill_large(&mut self) {
        let Some(large) = &mut self.large else { return };
        let count = self.input.len().min(large.length - large.bytes.len());
        let needed = large.bytes.len() + count;
        if count > 0 && large.room.try_grow_to(&mut large.bytes, needed, large.length) {
            large.bytes.extend_from_slice(&self.input[..count]);
            self.input.advance(count);
        }
    }

    /// Reserves memory for the next read: as much as has arrived, not as much as was announced.
    /// False if there is no memory; `charge` covers the bytes here and `others` bytes.
    pub(super) fn make_room(&mut self, charge: &mut MemoryCharge, others: usize) -> bool {
        self.fill_large();
        if let Some(large) = &mut self.large {
            let has_space = large.bytes.len() < large.bytes.capacity();
            let needed = (large.bytes.len() + READ_SIZE_MAX).min(large.length);
            return self.input.is_empty()
                && (has_space || large.room.try_grow_to(&mut large.bytes, needed, large.length));
        }
        if self.input.is_empty() && self.block_bytes > 4 * self.read_size {
            // An idle connection keeps little memory.
            (self.input, self.block_bytes) = (BytesMut::new(), 0);
        }
        if self.input.capacity() - self.input.len() >= self.read_size / 4 {
            return true;
        }
        let needed = self.input.len() + self.read_size;
        if needed > self.block_bytes && !charge.try_resize(needed + others) {
            return false;
        }
        self.input.reserve(self.read_size);
        self.block_bytes = self.input.capacity();
        true
    }

    /// Reads what is available into the reserved memory. Nothing is lost if it is cancelled.
    ///
    /// # Errors
    /// Those of the socket.
    pub(super) async fn read(&mut self, from: &mut (impl AsyncRead + Unpin)) -> io::Result<usize> {
        if let Some(large) = &mut self.large {
            debug_assert!(large.bytes.len() < large.bytes.capacity(), "there is room");
            return from.read_buf(&mut large.bytes).await;
        }
        let room = self.input.capacity() - self.input.len();
        let count = from.read_buf(&mut self.input).await?;
        if count >= room {
            self.read_size = (2 * self.read_size).min(READ_SIZE_MAX);
        } else if count < self.read_size / 8 {
            self.read_size = (self.read_size / 2).max(READ_SIZE_MIN);
        }
        self.pass_over();
        Ok(count)
    }

    fn pass_over(&mut self) {
        let count = self.passed_over.min(self.input.len());
        self.input.advance(count);
        self.passed_over -= count;
    }

    /// Drops the incoming large frame, and skips the rest of it. Returns the id of its call, if
    /// known.
    pub(super) fn refuse_frame(&mut self) -> Option<u32> {
        let large = self.large.take()?;
        let front = if large.bytes.is_empty() { &self.input[..] } else { &large.bytes[..] };
        let id = Request::peek_call_id(front);
        self.passed_over = large.length - large.bytes.len();
        self.pass_over();
        id
    }

    /// Whether a large frame is arriving.
    pub(super) fn has_large_frame(&self) -> bool {
        self.large.is_some()
    }
}

pub(super) fn too_long(length: usize, size_max: usize) -> RemoteException {
    let message = format!(
        "RPC data length of {length} received is greater than max allowed {size_max}. Set \
         \"hbase.ipc.max.request.size\" on server to override this limit (not recommended)"
    );
    RemoteException::new(class::REQUEST_TOO_BIG, message)
}

#[cfg(test)]
mod tests {
    use hblite_wire::memory::MemoryBudget;

    use super::*;

    const MIB: usize = 1 << 20;

    /// Frames of these lengths, each of one repeated byte.
    fn frames(lengths: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (index, length) in lengths.iter().enumerate() {
            bytes.extend_from_slice(&(*length as u32).to_be_bytes());
            bytes.resize(bytes.len() + length, index as u8);
        }
        bytes
    }

    #[tokio::test]
    async fn frames_of_all_sizes_come_whole_in_whatever_pieces() {
        let budget = Arc::new(MemoryBudget::new(64 * MIB));
        let account = budget.account(32 * MIB);
        let mut charge = account.charge();
        let lengths = [0, 1, 5000, SMALL_FRAME_MAX, SMALL_FRAME_MAX + 1, 10, 3 * MIB, 0, 70_000, 8];
        let bytes = frames(&lengths);
        for step in [1000, 4096, 100_000, 10 * MIB] {
            let mut incoming = Incoming::new(4 * MIB);
            let mut given = Vec::new();
            for piece in bytes.chunks(step) {
                let mut piece = piece;
                while !piece.is_empty() {
                    assert!(incoming.make_room(&mut charge, 0));
                    incoming.read(&mut piece).await.unwrap();
                    while let Some(frame) = incoming.next_frame(&account).unwrap() {
                        assert_eq!(frame.charge.is_some(), frame.bytes.len() > SMALL_FRAME_MAX);
                        let index = given.len() as u8;
                        assert!(frame.bytes.iter().all(|byte| *byte == index));
                        given.push(frame.bytes.len());
                    }
                    assert!(incoming.block_bytes() <= 4 * READ_SIZE_MAX);
                }
            }
            assert_eq!(given, lengths);
            assert!(!incoming.is_within_frame());
        }
        drop(charge);
        assert_eq!(budget.used_bytes(), 0);
    }

    #[tokio::test]
    async fn a_frame_takes_what_has_come_of_it_and_not_what_it_announces() {
        let budget = Arc::new(MemoryBudget::new(64 * MIB));
        let account = budget.account(32 * MIB);
        let mut charge = account.charge();
        let mut incoming = Incoming::new(30 * MIB);
        let bytes = frames(&[25 * MIB]);
        let mut sent = &bytes[..MIB];
        while !sent.is_empty() {
            assert!(incoming.make_room(&mut charge, 0));
            incoming.read(&mut sent).await.unwrap();
            assert!(incoming.next_frame(&account).unwrap().is_none());
        }
        assert!(budget.used_bytes() <= 2 * MIB + READ_SIZE_MAX, "{}", budget.used_bytes());
    }

    #[tokio::test]
    async fn a_refused_frame_is_passed_over_and_the_next_is_read() {
        let budget = Arc::new(MemoryBudget::new(2 * MIB));
        let account = budget.account(MIB);
        let mut charge = account.charge();
        let mut incoming = Incoming::new(30 * MIB);
        let bytes = frames(&[5 * MIB, 3]);
        let mut sent = &bytes[..];
        let mut given = Vec::new();
        while !sent.is_empty() {
            if !incoming.make_room(&mut charge, 0) {
                assert!(incoming.has_large_frame());
                assert_eq!(incoming.refuse_frame(), None);
                assert!(account.used_bytes() <= READ_SIZE_MAX, "its memory is free");
                continue;
            }
            incoming.read(&mut sent).await.unwrap();
            while let Some(frame) = incoming.next_frame(&account).unwrap() {
                given.push(frame.bytes.to_vec());
            }
        }
        assert_eq!(given, [[1; 3]]);
    }
}
