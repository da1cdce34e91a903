//! Which rows are requested: an endpoint that only hblite has.

use hblite_model::{Error, Exception, Result, RowCounts};
use hblite_wire::{convert, pb};
use prost::Message as _;

use super::Admin;

impl Admin {
    /// Which rows were requested since an earlier call, whose `until` is `after`; `None` if the
    /// cluster does not count them, as Apache HBase does not.
    pub async fn row_counts(&self, after: u64) -> Result<Option<RowCounts>> {
        let request = pb::CoprocessorServiceRequest {
            // A master has no regions.
            region: convert::region_specifier(b""),
            call: pb::CoprocessorServiceCall {
                row: Default::default(),
                service_name: convert::ROW_COUNTS_SERVICE.to_owned(),
                method_name: convert::ROW_COUNTS_METHOD.to_owned(),
                request: pb::RowCountsRequest { after }.encode_to_vec().into(),
            },
        };
        let answer: Result<pb::CoprocessorServiceResponse> =
            self.call("ExecMasterService", &request).await;
        match answer {
            Ok(answer) => {
                let value = answer.value.value.unwrap_or_default();
                let message = pb::RowCountsResponse::decode(value).map_err(|error| {
                    Error::do_not_retry(format!("the answer on rows is damaged: {error}"))
                })?;
                convert::row_counts(message).map(Some)
            }
            Err(error) if error.exception() == Exception::UnknownProtocol => Ok(None),
            Err(error) => Err(error),
        }
    }
}
