//! The writes of a buffer that failed.

use std::fmt;

use hblite_model::{Error, ErrorKind, Exception, Mutation};

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
    /// The failures among `count` writes; `None` if all succeeded.
    pub(super) fn of(failed: Vec<FailedMutation>, count: usize) -> Option<Self> {
        (!failed.is_empty()).then_some(Self { failed, count })
    }

    /// Adds those that failed later.
    pub(super) fn join(&mut self, later: Self) {
        self.failed.extend(later.failed);
        self.count += later.count;
    }

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
