//! Writes that are collected and sent in batches.
//!
//! Order:     writes to one row are done in the order they were given; see [`Table::batch`].
//! Invariant: a buffered write is neither written nor reported yet; each write that fails is
//!            returned once, with its error.
//! Threads:   one at a time; each thread has its own buffer.

use std::fmt;

use hblite_model::{Action, Error, ErrorKind, Exception, Mutation, Result};

use crate::Table;

/// Default for the maximum number of buffered writes.
const COUNT_MAX: usize = 10_000;
/// Default for the maximum bytes of buffered cells (`hbase.client.write.buffer`).
const SIZE_MAX_BYTES: usize = 2 << 20;

/// Collects writes to a table and sends them in batches, each as one log entry per region.
///
/// A write that was accepted has not been sent yet: [`BufferedMutator::flush`] sends it, or the
/// buffer does when it reaches its limits. [`BufferedMutator::close`] flushes and returns the
/// writes that failed. Dropping the buffer flushes, too, but discards the errors.
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
#[derive(Debug)]
pub struct BufferedMutator {
    table: Table,
    writes: Vec<Mutation>,
    size_bytes: usize,
    count_max: usize,
    size_max_bytes: usize,
}

impl BufferedMutator {
    pub(crate) fn new(table: Table) -> Self {
        let (count_max, size_max_bytes) = (COUNT_MAX, SIZE_MAX_BYTES);
        Self { table, writes: Vec::new(), size_bytes: 0, count_max, size_max_bytes }
    }

    /// Sends the buffer when it has this many writes. Default 10,000, at least 1.
    #[must_use]
    pub fn with_count_max(mut self, writes: usize) -> Self {
        self.count_max = writes.max(1);
        self
    }

    /// Sends the buffer when its cells have this many bytes. Default 2 MiB.
    #[must_use]
    pub fn with_size_max_bytes(mut self, bytes: usize) -> Self {
        self.size_max_bytes = bytes;
        self
    }

    /// The number of writes at which the buffer is sent.
    pub fn count_max(&self) -> usize {
        self.count_max
    }

    /// The bytes of cells at which the buffer is sent.
    pub fn size_max_bytes(&self) -> usize {
        self.size_max_bytes
    }

    /// Number of writes in the buffer.
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Whether nothing is buffered.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Accepts a write, and sends the buffer if it is full.
    ///
    /// # Errors
    /// Those of [`BufferedMutator::flush`]; this write may be among those that failed.
    pub fn mutate(
        &mut self,
        mutation: impl Into<Mutation>,
    ) -> std::result::Result<(), FailedMutations> {
        let mutation = mutation.into();
        self.size_bytes += mutation.cells().size_bytes();
        self.writes.push(mutation);
        if self.writes.len() < self.count_max && self.size_bytes < self.size_max_bytes {
            return Ok(());
        }
        self.flush()
    }

    /// Sends and empties the buffer.
    ///
    /// # Errors
    /// The writes that failed, each with its error. All others succeeded.
    pub fn flush(&mut self) -> std::result::Result<(), FailedMutations> {
        let writes = std::mem::take(&mut self.writes);
        self.size_bytes = 0;
        if writes.is_empty() {
            return Ok(());
        }
        let count = writes.len();
        let actions: Vec<Action> = writes.into_iter().map(Action::Mutation).collect();
        let results = self.send(&actions);
        assert_eq!(results.len(), count, "a batch has a result per action");
        let failed: Vec<FailedMutation> = actions
            .into_iter()
            .zip(results)
            .filter_map(|(action, result)| match action {
                Action::Mutation(mutation) => {
                    Some(FailedMutation { mutation, error: result.err()? })
                }
                _ => None,
            })
            .collect();
        if failed.is_empty() { Ok(()) } else { Err(FailedMutations { failed, count }) }
    }

    /// Sends the buffer and ends.
    ///
    /// # Errors
    /// As [`BufferedMutator::flush`].
    pub fn close(mut self) -> std::result::Result<(), FailedMutations> {
        self.flush()
    }

    /// One result per action. A batch is refused as a whole if one of its actions can never
    /// succeed; each action is then sent alone, so that the others are not affected.
    fn send(&self, actions: &[Action]) -> Vec<Result<()>> {
        match self.table.batch(actions) {
            Ok(results) => results.into_iter().map(|result| result.map(drop)).collect(),
            Err(_) => actions.chunks(1).map(|action| self.send_one(action)).collect(),
        }
    }

    fn send_one(&self, action: &[Action]) -> Result<()> {
        self.table.batch(action)?.into_iter().try_for_each(|result| result.map(drop))
    }
}

/// Sends what is buffered; errors are discarded. [`BufferedMutator::close`] returns them.
impl Drop for BufferedMutator {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// A write that failed, and why.
#[derive(Debug)]
#[non_exhaustive]
pub struct FailedMutation {
    /// The write.
    pub mutation: Mutation,
    /// Why it failed.
    pub error: Error,
}

/// Writes of one buffer that failed; the others succeeded.
///
/// Converts into an [`Error`] of the first failure.
#[derive(Debug)]
pub struct FailedMutations {
    failed: Vec<FailedMutation>,
    count: usize,
}

impl FailedMutations {
    /// The writes, in the order they were given.
    pub fn failed(&self) -> &[FailedMutation] {
        &self.failed
    }

    /// The writes, by value, for example to retry them.
    pub fn into_failed(self) -> Vec<FailedMutation> {
        self.failed
    }
}

impl fmt::Display for FailedMutations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} writes failed", self.failed.len(), self.count)?;
        match self.failed.first() {
            Some(first) => write!(f, "; the first one: {}", first.error),
            None => Ok(()),
        }
    }
}

impl std::error::Error for FailedMutations {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.failed.first().map(|first| &first.error as _)
    }
}

impl From<FailedMutations> for Error {
    fn from(failures: FailedMutations) -> Self {
        let text = failures.to_string();
        let first =
            failures.failed.first().map(|first| (first.error.exception(), first.error.kind()));
        let (exception, kind) = first.unwrap_or((Exception::Io, ErrorKind::Io));
        Self::new(exception, text).with_kind(kind).with_source(failures)
    }
}
