//! Reads that a replica of a region may answer (`Consistency.TIMELINE`).
//!
//! The region itself is asked first. If it has not answered after a short time, or cannot answer
//! now, all of its replicas are asked as well, and the first answer is used.
//!
//! Source: `ConnectionUtils.timelineConsistentRead` of HBase 2.6, which lets a failed replica fail
//! the read and waits for the time even if the region has failed. Neither is useful.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use hblite_model::{Consistency, Scan};
use tokio::time::timeout;

use crate::error::CallError;
use crate::metrics::Counters;

/// Which replicas may answer a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replicas {
    /// The one with this id; 0 is the region itself.
    One(u16),
    /// The region itself, or any replica if it has not answered after this time.
    Any { after: Duration },
}

impl Replicas {
    /// The region itself.
    pub(super) const PRIMARY: Self = Self::One(0);

    /// Those that may answer a read.
    pub(super) fn of(read: &Scan, primary_timeout: Duration) -> Self {
        match (read.consistency(), read.replica_id()) {
            (Consistency::Strong, _) => Self::PRIMARY,
            (Consistency::Timeline, Some(id)) => Self::One(id),
            (Consistency::Timeline, None) => Self::Any { after: primary_timeout },
        }
    }
}

/// The answer of the region itself, or of one of its replicas if it is late or fails. If none
/// answers, returns the error of the region itself.
pub(super) async fn first_answer<T>(
    counters: &Counters,
    wait: Duration,
    primary: impl Future<Output = Result<T, CallError>>,
    replicas: Vec<impl Future<Output = Result<T, CallError>>>,
) -> Result<T, CallError> {
    if replicas.is_empty() {
        return primary.await;
    }
    let mut primary = pin!(primary);
    let mut failed = match timeout(wait, primary.as_mut()).await {
        Ok(Err(error)) if error.is_retryable() => Some(error),
        Ok(answer) => return answer,
        Err(_) => None,
    };
    counters.hedged_reads.add(replicas.len());
    let mut replicas: Vec<_> = replicas.into_iter().map(Box::pin).collect();
    poll_fn(|context| {
        if failed.is_none()
            && let Poll::Ready(answer) = primary.as_mut().poll(context)
        {
            match answer {
                Err(error) if error.is_retryable() => failed = Some(error),
                answer => return Poll::Ready(answer),
            }
        }
        let mut first = None;
        replicas.retain_mut(|call| {
            if first.is_some() {
                return true;
            }
            let Poll::Ready(answer) = call.as_mut().poll(context) else { return true };
            first = answer.ok();
            false
        });
        if let Some(answer) = first {
            counters.hedged_read_wins.increment();
            return Poll::Ready(Ok(answer));
        }
        match failed.take_if(|_| replicas.is_empty()) {
            Some(error) => Poll::Ready(Err(error)),
            None => Poll::Pending,
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::pin::Pin;
    use std::sync::Arc;

    use hblite_model::Error;
    use tokio::sync::Notify;

    use super::*;

    type Call = Pin<Box<dyn Future<Output = Result<u16, CallError>>>>;

    const LONG: Duration = Duration::from_secs(3_600);

    fn answers(id: u16) -> Call {
        Box::pin(ready(Ok(id)))
    }

    fn is_silent() -> Call {
        Box::pin(pending())
    }

    fn fails() -> Call {
        Box::pin(ready(Err(CallError::Nowhere("in transition".to_owned()))))
    }

    /// The answer or the error's message, and how many replicas were asked and answered first.
    async fn read(
        wait: Duration,
        primary: Call,
        replicas: Vec<Call>,
    ) -> (Result<u16, String>, u64, u64) {
        let counters = Arc::new(Counters::default());
        let answer = first_answer(&counters, wait, primary, replicas).await;
        let metrics = counters.snapshot();
        let answer = answer.map_err(|error| Error::from(error).message().to_owned());
        (answer, metrics.hedged_reads, metrics.hedged_read_wins)
    }

    #[tokio::test]
    async fn the_first_answer_is_used() {
        assert_eq!(read(LONG, answers(0), vec![answers(1)]).await, (Ok(0), 0, 0));
        assert_eq!(read(Duration::ZERO, answers(0), vec![]).await, (Ok(0), 0, 0));
        let replicas = vec![is_silent(), answers(2)];
        assert_eq!(read(Duration::ZERO, is_silent(), replicas).await, (Ok(2), 2, 1));
    }

    #[tokio::test]
    async fn a_late_region_may_still_be_first() {
        let asked = Arc::new(Notify::new());
        let late = Arc::clone(&asked);
        let primary = Box::pin(async move {
            late.notified().await;
            Ok(0)
        });
        let replica: Call = Box::pin(async move {
            asked.notify_one();
            pending().await
        });
        let replicas = vec![replica, fails()];
        assert_eq!(read(Duration::ZERO, primary, replicas).await, (Ok(0), 2, 0));
    }

    #[tokio::test]
    async fn failures_of_some_are_no_failure() {
        assert_eq!(read(LONG, fails(), vec![fails(), answers(2)]).await, (Ok(2), 2, 1));
        let in_transition = Err("in transition".to_owned());
        assert_eq!(read(LONG, fails(), vec![fails(), fails()]).await, (in_transition, 2, 0));
        // What a retry cannot fix, a replica cannot fix either.
        let refused = Box::pin(ready(Err(Error::illegal_argument("no").into())));
        assert_eq!(read(LONG, refused, vec![answers(1)]).await, (Err("no".to_owned()), 0, 0));
    }
}
