//! Calls of coprocessor endpoints on regions: any service, with messages as bytes.
//!
//! Invariant: every row of a range is in exactly one of the requested parts, even if regions split
//! or merge meanwhile.

use bytes::Bytes;
use hblite_model::{Error, Result};
use hblite_wire::{convert, pb};
use tokio::task::JoinSet;

use super::Table;
use super::region_call::RegionCall;
use super::timeline::Replicas;
use crate::locator::{LocateKind, Location};
use crate::retry::Retries;
use crate::rpc::Answer;

/// A service and a method of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Endpoint {
    pub(super) service: &'static str,
    pub(super) method: &'static str,
}

/// Rows from `start`, inclusive, to `stop`, exclusive. An empty row is the table's start or end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowRange {
    pub(super) start: Vec<u8>,
    pub(super) stop: Vec<u8>,
}

impl RowRange {
    /// The part of this range in the region, and the rest of the range if there is one.
    fn split_at(&self, region_end: &[u8]) -> (Self, Option<Self>) {
        let ends_here =
            region_end.is_empty() || (!self.stop.is_empty() && *self.stop <= *region_end);
        if ends_here {
            return (self.clone(), None);
        }
        assert!(*self.start < *region_end, "the region of a row ends after it");
        let boundary = region_end.to_vec();
        let part = Self { start: self.start.clone(), stop: boundary.clone() };
        (part, Some(Self { start: boundary, stop: self.stop.clone() }))
    }
}

/// Calls of coprocessor endpoints.
impl Table {
    /// Calls a method of a coprocessor endpoint on the region that has `row`. The request and the
    /// answer are the encoded messages of the endpoint.
    ///
    /// A call whose answer was lost is repeated, as by HBase's client: the endpoint may run twice.
    ///
    /// ```no_run
    /// # async fn example(table: hblite_client::Table) -> hblite_model::Result<()> {
    /// let request = b""; // an encoded message
    /// let answer = table.exec_service(b"row", "example.RowCountService", "getRowCount", request);
    /// println!("{} bytes", answer.await?.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`]; `UnknownProtocolException` if the region has no such service or method.
    pub async fn exec_service(
        &self,
        row: &[u8],
        service: &str,
        method: &str,
        request: &[u8],
    ) -> Result<Bytes> {
        let request = Bytes::copy_from_slice(request);
        let call = |_: &Location| Ok(request.clone());
        Ok(self.exec(row, service, method, call).await?.1)
    }

    /// Makes one call. Returns the end key of the region that answered, and the answer.
    async fn exec(
        &self,
        row: &[u8],
        service: &str,
        method: &str,
        request: impl Fn(&Location) -> Result<Bytes>,
    ) -> Result<(Vec<u8>, Bytes)> {
        let message = |location: &Location| {
            let call = pb::CoprocessorServiceCall {
                row: Bytes::copy_from_slice(row),
                service_name: service.to_owned(),
                method_name: method.to_owned(),
                request: request(location)?,
            };
            let region = convert::region_specifier(&location.region_name);
            Ok((pb::CoprocessorServiceRequest { region, call }, Vec::new()))
        };
        let call = RegionCall { table: self.name(), row, method: "ExecService", request: message };
        let read = |location: &Location, answer: Answer<pb::CoprocessorServiceResponse>| {
            let value = answer.message.value.value.unwrap_or_default();
            Ok((location.region.end_key().to_vec(), value))
        };
        call.run(Replicas::PRIMARY, &self.shared, read).await
    }

    /// Calls a method on all regions of a range at once. `request` builds the message for a part of
    /// the range. The answers are in no particular order.
    pub(super) async fn exec_on_range(
        &self,
        range: RowRange,
        endpoint: Endpoint,
        request: impl Fn(&RowRange) -> Result<Bytes> + Clone + Send + Sync + 'static,
    ) -> Result<Vec<Bytes>> {
        let mut calls = JoinSet::new();
        for part in self.parts_of(range).await? {
            let (table, request) = (self.clone(), request.clone());
            calls.spawn(async move { table.exec_on_part(part, endpoint, request).await });
        }
        let mut answers = Vec::new();
        while let Some(done) = calls.join_next().await {
            let stopped = |error| Error::do_not_retry(format!("a call stopped: {error}"));
            answers.extend(done.map_err(stopped)??);
        }
        Ok(answers)
    }

    /// Calls the regions of a range one after another: more than one if a region has split.
    async fn exec_on_part(
        &self,
        range: RowRange,
        endpoint: Endpoint,
        request: impl Fn(&RowRange) -> Result<Bytes> + Send + Sync,
    ) -> Result<Vec<Bytes>> {
        let Endpoint { service, method } = endpoint;
        let (mut answers, mut left) = (Vec::new(), Some(range));
        while let Some(range) = left {
            let message =
                |location: &Location| request(&range.split_at(location.region.end_key()).0);
            let (region_end, answer) = self.exec(&range.start, service, method, message).await?;
            answers.push(answer);
            left = range.split_at(&region_end).1;
        }
        Ok(answers)
    }

    /// The parts of a range, one for each region.
    async fn parts_of(&self, range: RowRange) -> Result<Vec<RowRange>> {
        let (mut parts, mut left) = (Vec::new(), Some(range));
        let mut retries = Retries::new(&self.shared.rpc);
        while let Some(range) = left {
            let (locator, deadline) = (&self.shared.locator, retries.deadline());
            let found =
                locator.locate(self.name(), &range.start, LocateKind::Current, deadline).await;
            match found {
                Ok(location) => {
                    let (part, rest) = range.split_at(location.region.end_key());
                    parts.push(part);
                    left = rest;
                }
                Err(error) => {
                    if error.is_not_serving() {
                        locator.check_in_service(self.name(), deadline).await?;
                    }
                    retries.after(error).await?;
                    left = Some(range);
                }
            }
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: &str, stop: &str) -> RowRange {
        RowRange { start: start.into(), stop: stop.into() }
    }

    #[test]
    fn a_range_is_split_where_the_region_ends() {
        assert_eq!(range("a", "").split_at(b""), (range("a", ""), None));
        assert_eq!(range("a", "c").split_at(b""), (range("a", "c"), None));
        assert_eq!(range("a", "c").split_at(b"c"), (range("a", "c"), None));
        assert_eq!(range("a", "c").split_at(b"b"), (range("a", "b"), Some(range("b", "c"))));
        assert_eq!(range("a", "").split_at(b"b"), (range("a", "b"), Some(range("b", ""))));
    }
}
