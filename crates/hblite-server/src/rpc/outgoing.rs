//! Answers on their way to the client.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf as _, Bytes};
use hblite_wire::RemoteException;
use hblite_wire::frame::Response;
use hblite_wire::memory::{MemoryBudget, MemoryCharge};

/// Number of buffers in one write.
const BUFFERS_MAX: usize = 64;
/// The memory of a buffer in addition to its bytes.
const OVERHEAD: usize = 64;

/// An answer, and its charge.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(super) response: Response,
    /// `None` if it is small: then the connection's own charge covers it.
    pub(super) charge: Option<MemoryCharge>,
}

impl Reply {
    /// An exception.
    pub(super) fn of_exception(call_id: u32, exception: &RemoteException) -> Self {
        Self { response: Response::of_exception(call_id, exception), charge: None }
    }

    /// Bytes to be sent.
    pub(super) fn size_bytes(&self) -> usize {
        self.response.size_bytes()
    }
}

/// Replies in the order in which they are sent.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    buffers: VecDeque<Bytes>,
    /// Bytes that are not sent yet.
    size_bytes: usize,
    /// Bytes sent or queued since the beginning.
    pushed_bytes: u64,
    /// The charges of replies, each with the position after its last byte.
    charges: VecDeque<(u64, MemoryCharge)>,
    charged_bytes: usize,
}

impl Outgoing {
    pub(super) fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Memory of replies that their charges do not cover.
    pub(super) fn uncharged_bytes(&self) -> usize {
        (self.size_bytes + self.buffers.len() * OVERHEAD).saturating_sub(self.charged_bytes)
    }

    pub(super) fn push(&mut self, reply: Reply) {
        let size = reply.size_bytes();
        self.size_bytes += size;
        self.pushed_bytes += size as u64;
        self.buffers.push_back(reply.response.head);
        if !reply.response.cells.is_empty() {
            self.buffers.push_back(reply.response.cells);
        }
        if let Some(charge) = reply.charge {
            self.charged_bytes += charge.size_bytes();
            self.charges.push_back((self.pushed_bytes, charge));
        }
    }

    /// The next bytes to write.
    pub(super) fn slices(&self) -> Vec<IoSlice<'_>> {
        let buffers = self.buffers.iter().take(BUFFERS_MAX);
        buffers.map(|buffer| IoSlice::new(buffer)).collect()
    }

    /// Records that this many bytes were written. The charge of a reply is released with its last
    /// byte; `budget` may keep the memory of its cells.
    pub(super) fn advance(&mut self, mut written: usize, budget: &MemoryBudget) {
        self.size_bytes -= written;
        let sent = self.pushed_bytes - self.size_bytes as u64;
        while let Some((_, charge)) = self.charges.pop_front_if(|(end, _)| *end <= sent) {
            self.charged_bytes -= charge.size_bytes();
        }
        while let Some(first) = self.buffers.front_mut() {
            if first.len() > written {
                first.advance(written);
                return;
            }
            written -= first.len();
            if let Some(buffer) = self.buffers.pop_front() {
                give_back(buffer, budget);
            }
        }
        debug_assert_eq!((self.size_bytes, self.charged_bytes), (0, 0), "all is sent");
    }
}

/// Lets `budget` keep the memory of a buffer, unless something else still has a part of it.
pub(super) fn give_back(buffer: Bytes, budget: &MemoryBudget) {
    if let Ok(mut buffer) = buffer.try_into_mut() {
        buffer.clear();
        budget.keep(buffer.into());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hblite_wire::memory::MemoryBudget;

    use super::*;

    fn reply(head: usize, cells: usize, charge: Option<MemoryCharge>) -> Reply {
        let (head, cells) = (Bytes::from(vec![1; head]), Bytes::from(vec![2; cells]));
        Reply { response: Response { head, cells }, charge }
    }

    #[test]
    fn what_is_sent_is_given_back() {
        let budget = Arc::new(MemoryBudget::new(1 << 20));
        let account = budget.account(1 << 20);
        for step in [1, 7, 50, 1000] {
            let mut charge = account.charge();
            assert!(charge.try_resize(300));
            let mut output = Outgoing::default();
            for reply in [reply(10, 0, None), reply(20, 300, Some(charge)), reply(5, 7, None)] {
                output.push(reply);
            }
            assert_eq!(output.size_bytes(), 342);
            assert_eq!(output.uncharged_bytes(), 342 + 5 * OVERHEAD - 300);
            while !output.is_empty() {
                let there: usize = output.slices().iter().map(|slice| slice.len()).sum();
                assert_eq!(there, output.size_bytes());
                output.advance(step.min(there), &budget);
            }
            assert_eq!((output.uncharged_bytes(), budget.used_bytes()), (0, 0));
        }
    }
}
