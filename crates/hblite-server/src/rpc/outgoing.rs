//! Answers on their way to the client.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf as _, Bytes};
use hblite_wire::RemoteException;
use hblite_wire::frame::Response;
use hblite_wire::memory::MemoryCharge;

/// Buffers that are written at once.
const BUFFERS_MAX: usize = 64;
/// What an answer takes beside its bytes.
const OVERHEAD: usize = 128;

/// An answer, and the memory that it is charged to.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(super) response: Response,
    /// `None` if it is small: the connection's own charge has it then.
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

    fn charged_bytes(&self) -> usize {
        self.charge.as_ref().map_or(0, MemoryCharge::size_bytes)
    }
}

/// Replies in the order in which they are sent.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    replies: VecDeque<Reply>,
    /// Bytes that are not sent yet.
    size_bytes: usize,
    /// Memory of the replies without their charges.
    uncharged_bytes: usize,
}

/// What a reply takes that it is not charged for.
fn uncharged(charged: usize, size: usize) -> usize {
    (size + OVERHEAD).saturating_sub(charged)
}

impl Outgoing {
    pub(super) fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    pub(super) fn uncharged_bytes(&self) -> usize {
        self.uncharged_bytes
    }

    pub(super) fn push(&mut self, reply: Reply) {
        self.size_bytes += reply.size_bytes();
        self.uncharged_bytes += uncharged(reply.charged_bytes(), reply.size_bytes());
        self.replies.push_back(reply);
    }

    pub(super) fn extend(&mut self, replies: impl IntoIterator<Item = Reply>) {
        replies.into_iter().for_each(|reply| self.push(reply));
    }

    /// What is to be written next.
    pub(super) fn slices(&self) -> Vec<IoSlice<'_>> {
        let buffers = self.replies.iter().flat_map(|reply| {
            let Response { head, cells } = &reply.response;
            [head, cells].into_iter().filter(|buffer| !buffer.is_empty())
        });
        buffers.take(BUFFERS_MAX).map(|buffer| IoSlice::new(buffer)).collect()
    }

    /// So many bytes were written. Memory is given back with the last byte of its reply.
    pub(super) fn advance(&mut self, mut written: usize) {
        self.size_bytes -= written;
        while let Some(first) = self.replies.front_mut() {
            let before = first.size_bytes();
            let charged = first.charged_bytes();
            let Response { head, cells } = &mut first.response;
            for buffer in [head, cells] {
                let part = written.min(buffer.len());
                buffer.advance(part);
                written -= part;
                if buffer.is_empty() {
                    *buffer = Bytes::new();
                }
            }
            let left = first.size_bytes();
            self.uncharged_bytes -= uncharged(charged, before);
            if left > 0 {
                self.uncharged_bytes += uncharged(charged, left);
                return;
            }
            self.replies.pop_front();
        }
        debug_assert_eq!((self.size_bytes, self.uncharged_bytes), (0, 0), "all is sent");
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
            output.extend([reply(10, 0, None), reply(20, 300, Some(charge)), reply(5, 7, None)]);
            assert_eq!(output.uncharged_bytes(), 10 + OVERHEAD + 20 + OVERHEAD + 12 + OVERHEAD);
            assert_eq!(output.size_bytes(), 342);
            while !output.is_empty() {
                let there: usize = output.slices().iter().map(|slice| slice.len()).sum();
                assert_eq!(there, output.size_bytes());
                output.advance(step.min(there));
            }
            assert_eq!((output.uncharged_bytes(), budget.used_bytes()), (0, 0));
        }
    }
}
