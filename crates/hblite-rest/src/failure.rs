//! Requests that fail: the status for each exception of HBase, and the body of the response.

use hblite::{Error, Exception};
use hyper::StatusCode;
use hyper::header::RETRY_AFTER;

use crate::response::Response;

/// When a client may retry a request that was refused for lack of memory.
const RETRY_AFTER_SECONDS: &str = "1";

/// The response to a request, or its failure.
pub(crate) type Answer = Result<Response, Failure>;

/// A request that fails.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The resource itself returns the response.
    Answered(Response),
    /// No resource matches: the client gets a page with this status.
    Page(StatusCode),
    /// The method is not allowed; these are.
    NotAllowed(&'static [&'static str]),
}

impl Failure {
    /// HBase's response to an exception that no resource expects.
    pub(crate) const UNEXPECTED: Self = Self::Page(StatusCode::INTERNAL_SERVER_ERROR);
    /// No resource has this path.
    pub(crate) const NO_RESOURCE: Self = Self::Page(StatusCode::NOT_FOUND);

    /// No memory is available for the request or its answer; the client may retry.
    pub(crate) fn out_of_memory() -> Self {
        Self::Answered(out_of_memory())
    }

    /// A line of text.
    pub(crate) fn text(status: StatusCode, text: impl Into<String>) -> Self {
        Self::Answered(Response::text(status, text))
    }

    /// 400 and a line of text.
    pub(crate) fn bad_request(text: &str) -> Self {
        Self::text(StatusCode::BAD_REQUEST, format!("{text}\r\n"))
    }
}

/// 503 for a request for which there is no memory.
pub(crate) fn out_of_memory() -> Response {
    let text = "Unavailable\r\norg.apache.hadoop.hbase.CallQueueTooBigException: the gateway has \
                no memory left for the request or its answer; send less, or retry later\n\r\n";
    let response = Response::text(StatusCode::SERVICE_UNAVAILABLE, text);
    response.with_header(RETRY_AFTER, RETRY_AFTER_SECONDS)
}

/// `ResourceBase.processException`, without the stack trace.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (status, word) = match error.exception() {
            Exception::TableNotFound | Exception::NoSuchColumnFamily => {
                (StatusCode::NOT_FOUND, "Not found")
            }
            _ if is_runtime_exception(&error) => (StatusCode::BAD_REQUEST, "Bad request"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "Unavailable"),
        };
        Self::text(status, format!("{word}\r\n{}\n\r\n", error.to_java_string()))
    }
}

/// Whether HBase's client throws a `RuntimeException`.
pub(crate) fn is_runtime_exception(error: &Error) -> bool {
    matches!(
        error.exception(),
        Exception::IllegalArgument
            | Exception::ArrayIndexOutOfBounds
            | Exception::NullPointer
            | Exception::UnsupportedOperation
            | Exception::IncompatibleFilter
            | Exception::PatternSyntax
            | Exception::JoniSyntax
    )
}

/// Whether HBase's client throws a `DoNotRetryIOException`, which reads of rows treat as a missing
/// row.
pub(crate) fn is_do_not_retry(error: &Error) -> bool {
    let is_io = matches!(
        error.exception(),
        Exception::Io
            | Exception::HBaseIo
            | Exception::MasterNotRunning
            | Exception::NotServingRegion
            | Exception::RegionTooBusy
            | Exception::RegionServerStopped
            | Exception::CorruptHFile
            | Exception::CorruptWal
            | Exception::CharacterCoding
    );
    !is_io && !is_runtime_exception(error)
}
