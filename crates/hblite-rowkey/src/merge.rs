//! Merges several ordered streams into one, reading no more than needed.
//!
//! A salted or bucketed table answers one query with n scans. Each is in order; merging them by
//! what follows the salt puts the whole answer in order.
//!
//! Invariant: of each stream, at most one item is held that was not yet returned. A stream is asked
//! for its next item only after its last one was returned and another is wanted. So the first
//! `limit` items cost at most `limit + n - 1` reads, far below n × `limit`.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// An item with a key to merge by.
pub trait Keyed {
    /// The whole row key.
    fn key(&self) -> &[u8];
}

impl Keyed for Vec<u8> {
    fn key(&self) -> &[u8] {
        self
    }
}

impl<T> Keyed for (Vec<u8>, T) {
    fn key(&self) -> &[u8] {
        &self.0
    }
}

/// Streams merged by their keys without the first bytes, in ascending or descending order.
///
/// ```
/// use hblite_rowkey::Merge;
/// let scans = [vec!["a-foo0003"], vec!["b-foo0001"], vec!["c-foo0003", "c-foo0004"]];
/// let scans = scans.map(|keys| {
///     keys.into_iter().map(|key| Ok::<_, std::io::Error>(key.as_bytes().to_vec()))
/// });
/// let merged: Result<Vec<_>, _> = Merge::new(scans, 2, false).collect();
/// assert_eq!(merged?, [b"b-foo0001", b"a-foo0003", b"c-foo0003", b"c-foo0004"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Merge<I, T> {
    streams: Vec<I>,
    heads: BinaryHeap<Head<T>>,
    /// Streams whose last item was returned.
    unread: Vec<usize>,
    skip: usize,
    is_reversed: bool,
    has_failed: bool,
}

/// The next item of a stream.
#[derive(Debug)]
struct Head<T> {
    item: T,
    stream: usize,
    skip: usize,
    is_reversed: bool,
}

impl<T: Keyed> Head<T> {
    fn place(&self) -> (&[u8], usize) {
        (self.item.key().get(self.skip..).unwrap_or(&[]), self.stream)
    }
}

/// The greatest head is the next item.
impl<T: Keyed> Ord for Head<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.place().cmp(&other.place());
        if self.is_reversed { order } else { order.reverse() }
    }
}

impl<T: Keyed> PartialOrd for Head<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Keyed> PartialEq for Head<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T: Keyed> Eq for Head<T> {}

impl<I, T, E> Merge<I, T>
where
    I: Iterator<Item = Result<T, E>>,
    T: Keyed,
{
    /// Merges streams that are each in order, by their keys without the first `skip` bytes.
    /// Descending streams (reversed scans) give a descending stream. Items with equal keys after
    /// the first `skip` bytes come in stream order, or in the opposite order if reversed.
    pub fn new(streams: impl IntoIterator<Item = I>, skip: usize, is_reversed: bool) -> Self {
        let streams: Vec<I> = streams.into_iter().collect();
        // Taken from the end.
        let unread = (0..streams.len()).rev().collect();
        Self { streams, heads: BinaryHeap::new(), unread, skip, is_reversed, has_failed: false }
    }

    /// Asks the streams whose last item was returned for another one.
    fn fill(&mut self) -> Result<(), E> {
        while let Some(stream) = self.unread.pop() {
            let (skip, is_reversed) = (self.skip, self.is_reversed);
            if let Some(item) = self.streams[stream].next().transpose()? {
                self.heads.push(Head { item, stream, skip, is_reversed });
            }
        }
        debug_assert!(self.heads.len() <= self.streams.len(), "one item per stream");
        Ok(())
    }
}

/// The items in order. After an error the iteration ends.
impl<I, T, E> Iterator for Merge<I, T>
where
    I: Iterator<Item = Result<T, E>>,
    T: Keyed,
{
    type Item = Result<T, E>;

    fn next(&mut self) -> Option<Result<T, E>> {
        if self.has_failed {
            return None;
        }
        if let Err(error) = self.fill() {
            self.has_failed = true;
            return Some(Err(error));
        }
        let head = self.heads.pop()?;
        self.unread.push(head.stream);
        Some(Ok(head.item))
    }
}
