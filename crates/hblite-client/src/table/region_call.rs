//! One call for one row: finds the region, calls its server, and retries if that can help.

use std::sync::Arc;

use hblite_model::{Error, TableName};
use hblite_wire::client_frame::Body;
use prost::Message;

use super::timeline::{Replicas, first_answer};
use crate::error::CallError;
use crate::locator::{LocateKind, Location};
use crate::retry::Retries;
use crate::rpc::{Answer, Limit, Method, Service};
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
    /// Repeats the call until it succeeds or fails for good, on the region or replicas of it.
    /// `read` parses the answer, which may itself be an error.
    pub(super) async fn run<Q, M, T>(
        &self,
        replicas: Replicas,
        shared: &Shared,
        read: impl Fn(&Location, Answer<M>) -> Result<T, CallError>,
    ) -> Result<T, Error>
    where
        F: Fn(&Location) -> Result<(Q, Vec<u8>), Error>,
        Q: Body,
        M: Message + Default,
    {
        let mut retries = Retries::new(&shared.rpc);
        let done = loop {
            let limit = retries.limit();
            let error = match self.attempt(replicas, shared, limit, &read).await {
                Ok(value) => break Ok(value),
                Err(error) => error,
            };
            if error.is_not_serving()
                && let Err(error) =
                    shared.locator.check_in_service(self.table, limit.deadline).await
            {
                break Err(error);
            }
            if let Err(error) = retries.after(error).await {
                break Err(error);
            }
        };
        shared.counted(done)
    }

    async fn attempt<Q, M, T>(
        &self,
        replicas: Replicas,
        shared: &Shared,
        limit: Limit,
        read: &impl Fn(&Location, Answer<M>) -> Result<T, CallError>,
    ) -> Result<T, CallError>
    where
        F: Fn(&Location) -> Result<(Q, Vec<u8>), Error>,
        Q: Body,
        M: Message + Default,
    {
        let (kind, deadline) = (LocateKind::Current, limit.deadline);
        let locator = &shared.locator;
        match replicas {
            Replicas::One(id) => {
                let found = locator.locate_replica(self.table, self.row, kind, id, deadline).await;
                self.once(shared, &found?, limit, read).await
            }
            Replicas::Any { after } => {
                let found = locator.locate(self.table, self.row, kind, deadline).await?;
                let call = |location| self.once(shared, location, limit, read);
                let others = found.replicas.iter().map(call).collect();
                first_answer(shared.rpc.counters(), after, call(&found), others).await
            }
        }
    }

    async fn once<Q, M, T>(
        &self,
        shared: &Shared,
        location: &Arc<Location>,
        limit: Limit,
        read: &impl Fn(&Location, Answer<M>) -> Result<T, CallError>,
    ) -> Result<T, CallError>
    where
        F: Fn(&Location) -> Result<(Q, Vec<u8>), Error>,
        Q: Body,
        M: Message + Default,
    {
        let method = method_of(self.table, self.method);
        let (message, cells) = (self.request)(location)?;
        let answer = shared.rpc.call(&location.server, method, &message, &cells, limit).await;
        let result = answer.and_then(|answer| read(location, answer));
        if let Err(error) = &result {
            shared.locator.learn(location, error).await;
        }
        result
    }
}

/// The method on regions of a table.
pub(super) fn method_of(table: &TableName, name: &'static str) -> Method {
    let method = Method::new(Service::Client, name);
    if table.is_meta() { method.of_meta() } else { method }
}
