//! Writes that are collected and sent in batches.
//!
//! Order:     writes to one row are applied in the order they were given; see [`Table::batch`].
//! Invariant: a buffered write is neither written nor reported yet; each write that fails is
//!            returned once, with its error, or passed to the listener.
//! Threads:   one at a time; each thread has its own buffer. With an age limit, a thread of the
//!            buffer sends writes as well.

mod buffer;
mod failed;
mod timer;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hblite_model::Mutation;

pub use self::failed::{FailedMutation, FailedMutations};

use self::buffer::Buffer;
use self::timer::Timer;
use crate::Table;
use crate::backend::WriteBuffer;

/// Default for the maximum number of buffered writes.
const COUNT_MAX: u32 = 10_000;

/// Collects writes to a table and sends them in batches, each as one log entry per region.
///
/// An accepted write is not sent immediately: [`BufferedMutator::flush`] sends it, or the buffer
/// does when it reaches its limits. [`BufferedMutator::close`] flushes and returns the writes that
/// failed. Dropping the buffer flushes, too, but discards the errors, unless there is a
/// listener ([`BufferedMutator::with_error_listener`]).
///
/// ```
/// # let connection = hblite::open_in_memory()?;
/// # let family = hblite::ColumnFamilyDescriptor::new("info");
/// # let users = hblite::TableDescriptor::new("users".parse()?).with_family(family);
/// # connection.admin().create_table(&users)?;
/// use hblite::Put;
///
/// let users = connection.table("users")?;
/// let mut writes = users.buffered_mutator().with_count_max(500);
/// for number in 0..1_000 {
///     writes.mutate(Put::new(format!("u{number:04}")).add("info", "name", "Ada"))?;
/// }
/// writes.close()?;
/// assert_eq!(users.scan(&hblite::Scan::new())?.count(), 1_000);
/// # Ok::<(), hblite::Error>(())
/// ```
pub struct BufferedMutator {
    buffer: Arc<Buffer>,
    count_max: u32,
    limits: WriteBuffer,
    timer: Option<Timer>,
}

impl fmt::Debug for BufferedMutator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferedMutator")
            .field("table", self.buffer.table.name())
            .field("len", &self.len())
            .field("count_max", &self.count_max)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl BufferedMutator {
    pub(crate) fn new(table: Table, limits: WriteBuffer) -> Self {
        Self { buffer: Arc::new(Buffer::new(table)), count_max: COUNT_MAX, limits, timer: None }
    }

    /// Sends the buffer when it has this many writes. Default 10,000, at least 1.
    #[must_use]
    pub fn with_count_max(mut self, writes: u32) -> Self {
        self.count_max = writes.max(1);
        self
    }

    /// Sends the buffer when its cells have this many bytes. Default 2 MiB; on a cluster,
    /// `hbase.client.write.buffer`.
    #[must_use]
    pub fn with_size_max_bytes(mut self, bytes: u64) -> Self {
        self.limits.size_max_bytes = bytes;
        self
    }

    /// Sends the buffer when its oldest write has waited this long. Default never; on a cluster,
    /// `hbase.client.write.buffer.periodicflush.timeout.ms`.
    ///
    /// A thread of the buffer does this. Writes that fail there are returned by the next call, or
    /// passed to the listener.
    ///
    /// ```
    /// # let connection = hblite::open_in_memory()?;
    /// # let family = hblite::ColumnFamilyDescriptor::new("info");
    /// # let users = hblite::TableDescriptor::new("users".parse()?).with_family(family);
    /// # connection.admin().create_table(&users)?;
    /// # let users = connection.table("users")?;
    /// use std::time::Duration;
    ///
    /// let mut writes = users.buffered_mutator().with_age_max(Duration::from_millis(5));
    /// writes.mutate(hblite::Put::new("u1").add("info", "name", "Ada"))?;
    /// while !users.exists(&hblite::Get::new("u1"))? {
    ///     std::thread::yield_now();
    /// }
    /// # Ok::<(), hblite::Error>(())
    /// ```
    #[must_use]
    pub fn with_age_max(mut self, age: Duration) -> Self {
        self.limits.age_max = Some(age);
        self.timer = None;
        self
    }

    /// Calls `listener` with writes that failed, as soon as they fail. The failures that it returns
    /// as an error are returned to the caller of the buffer. Without a listener, all of them are.
    ///
    /// The listener runs in the thread that sends, which may be the buffer's own, and must not wait
    /// for a call of this buffer.
    ///
    /// ```
    /// # let connection = hblite::open_in_memory()?;
    /// # let family = hblite::ColumnFamilyDescriptor::new("info");
    /// # let users = hblite::TableDescriptor::new("users".parse()?).with_family(family);
    /// # connection.admin().create_table(&users)?;
    /// # let users = connection.table("users")?;
    /// let mut writes = users.buffered_mutator().with_error_listener(|failures| {
    ///     for one in failures.failed() {
    ///         eprintln!("{:?}: {}", one.mutation.row(), one.error);
    ///     }
    ///     Ok(())
    /// });
    /// writes.mutate(hblite::Put::new("u1").add("nowhere", "name", "Ada"))?;
    /// writes.close()?;
    /// # Ok::<(), hblite::Error>(())
    /// ```
    #[must_use]
    pub fn with_error_listener(
        self,
        listener: impl FnMut(FailedMutations) -> Result<(), FailedMutations> + Send + 'static,
    ) -> Self {
        self.buffer.state.lock().listener = Some(Box::new(listener));
        self
    }

    /// The number of writes at which the buffer is sent.
    pub fn count_max(&self) -> u32 {
        self.count_max
    }

    /// The bytes of cells at which the buffer is sent.
    pub fn size_max_bytes(&self) -> u64 {
        self.limits.size_max_bytes
    }

    /// The age of the oldest write at which the buffer is sent; `None` for no limit.
    pub fn age_max(&self) -> Option<Duration> {
        self.limits.age_max
    }

    /// Number of writes in the buffer.
    pub fn len(&self) -> usize {
        self.buffer.state.lock().writes.len()
    }

    /// Whether nothing is buffered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Accepts a write, and sends the buffer if it is full.
    ///
    /// # Errors
    /// Those of [`BufferedMutator::flush`]. This write may be among those that failed; if it is
    /// not, it was accepted.
    pub fn mutate(&mut self, mutation: impl Into<Mutation>) -> Result<(), FailedMutations> {
        let has_timer = self.start_timer();
        let Self { count_max, limits, .. } = self;
        let is_full = |count: usize, bytes: usize| {
            count >= *count_max as usize || bytes as u64 >= limits.size_max_bytes || !has_timer
        };
        self.buffer.push(mutation.into(), is_full);
        self.buffer.report()
    }

    /// Sends and empties the buffer.
    ///
    /// # Errors
    /// The writes that failed since an error was last returned, each with its error. All others
    /// succeeded.
    pub fn flush(&mut self) -> Result<(), FailedMutations> {
        self.buffer.flush();
        self.buffer.report()
    }

    /// Sends the buffer, and drops it.
    ///
    /// # Errors
    /// As [`BufferedMutator::flush`].
    pub fn close(mut self) -> Result<(), FailedMutations> {
        self.flush()
    }

    /// Returns false if a timer is needed and could not be started: writes must not wait then.
    fn start_timer(&mut self) -> bool {
        let Some(age) = self.limits.age_max.filter(|_| self.timer.is_none()) else { return true };
        self.timer = Timer::start(&self.buffer, age);
        self.timer.is_some()
    }
}

/// Sends what is buffered; only a listener sees the errors. [`BufferedMutator::close`] returns
/// them.
impl Drop for BufferedMutator {
    fn drop(&mut self) {
        self.timer = None;
        self.buffer.flush();
    }
}
