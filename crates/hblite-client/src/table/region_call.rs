//! One call for one row: finds the region, calls its server, and retries if that can help.

use std::sync::Arc;

use hblite_model::{Error, TableName};
use prost::Message;

use crate::error::CallError;
use crate::locator::{LocateKind, Location};
use crate::retry::Retries;
use crate::rpc::{Answer, Limit, Method, Rpc, Service};
use crate::shared::Shared;

/// `Get`, `Mutate`, `Multi` or `ExecService` with its message for a region.
pub(super) struct RegionCall<'c, F> {
    pub(super) table: &'c TableName,
    pub(super) row: &'c [u8],
    pub(super) method: &'static str,
    /// Builds the message and its cells for a region.
    pub(super) request: F,
}

impl<F> RegionCall<'_, F> {
    /// Repeats the call until it succeeds or fails for good. `read` parses the answer, which may
    /// itself be an error.
    pub(super) async fn run<Q, M, T>(
        &self,
        shared: &Shared,
        read: impl Fn(&Location, Answer<M>) -> Result<T, CallError>,
    ) -> Result<T, Error>
    where
        F: Fn(&Location) -> Result<(Q, Vec<u8>), Error>,
        Q: Message,
        M: Message + Default,
    {
        shared.counted(self.attempts(shared, read).await)
    }

    async fn attempts<Q, M, T>(
        &self,
        shared: &Shared,
        read: impl Fn(&Location, Answer<M>) -> Result<T, CallError>,
    ) -> Result<T, Error>
    where
        F: Fn(&Location) -> Result<(Q, Vec<u8>), Error>,
        Q: Message,
        M: Message + Default,
    {
        let mut retries = Retries::new(&shared.rpc);
        loop {
            let deadline = retries.deadline();
            let found =
                shared.locator.locate(self.table, self.row, LocateKind::Current, deadline).await;
            let error = match found {
                Ok(location) => {
                    let limit = retries.limit();
                    let answer = self.once(&shared.rpc, &location, limit).await;
                    match answer.and_then(|answer| read(&location, answer)) {
                        Ok(value) => return Ok(value),
                        Err(error) => {
                            shared.locator.learn(&location, &error).await;
                            error
                        }
                    }
                }
                Err(error) => error,
            };
            if error.is_not_serving() {
                shared.locator.check_in_service(self.table, deadline).await?;
            }
            retries.after(error).await?;
        }
    }

    async fn once<Q, M>(
        &self,
        rpc: &Rpc,
        location: &Arc<Location>,
        limit: Limit,
    ) -> Result<Answer<M>, CallError>
    where
        F: Fn(&Location) -> Result<(Q, Vec<u8>), Error>,
        Q: Message,
        M: Message + Default,
    {
        let method = method_of(self.table, self.method);
        let (message, cells) = (self.request)(location)?;
        rpc.call(&location.server, method, &message, &cells, limit).await
    }
}

/// The method on regions of a table.
pub(super) fn method_of(table: &TableName, name: &'static str) -> Method {
    let method = Method::new(Service::Client, name);
    if table.is_meta() { method.of_meta() } else { method }
}
