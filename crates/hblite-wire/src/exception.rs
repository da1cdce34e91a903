//! Converts between errors and Java exceptions; the only place that does.
//!
//! A client creates an exception of the class that it receives, and decides by it whether to retry,
//! to look in hbase:meta again, or to give up. So only classes that every client has are sent, and
//! errors that a client must not retry are marked.

use std::borrow::Cow;

use hblite_model::{Error, Exception};

use crate::pb;

/// Names of classes for [`RemoteException::new`].
#[allow(missing_docs, reason = "each is the class with its name")]
pub mod class {
    use hblite_model::Exception;

    pub const IO: &str = Exception::Io.class_name();
    pub const DO_NOT_RETRY_IO: &str = Exception::DoNotRetryIo.class_name();
    pub const CALL_QUEUE_TOO_BIG: &str = "org.apache.hadoop.hbase.CallQueueTooBigException";
    pub const CALL_DROPPED: &str = "org.apache.hadoop.hbase.CallDroppedException";
    pub const NOT_SERVING_REGION: &str = Exception::NotServingRegion.class_name();
    pub const UNKNOWN_SCANNER: &str = Exception::UnknownScanner.class_name();
    pub const UNKNOWN_REGION: &str = Exception::UnknownRegion.class_name();
    pub const REGION_MOVED: &str = "org.apache.hadoop.hbase.exceptions.RegionMovedException";
    pub const REGION_OPENING: &str = "org.apache.hadoop.hbase.exceptions.RegionOpeningException";
    pub const REQUEST_TOO_BIG: &str = "org.apache.hadoop.hbase.exceptions.RequestTooBigException";
    pub const SCANNER_RESET: &str = "org.apache.hadoop.hbase.exceptions.ScannerResetException";
    pub const OUT_OF_ORDER_SCANNER_NEXT: &str =
        "org.apache.hadoop.hbase.exceptions.OutOfOrderScannerNextException";
    pub const LEASE: &str = "org.apache.hadoop.hbase.regionserver.LeaseException";
    pub const TIMEOUT_IO: &str = "org.apache.hadoop.hbase.exceptions.TimeoutIOException";
    pub const UNKNOWN_PROTOCOL: &str = Exception::UnknownProtocol.class_name();
    pub const REPLICATION_PEER_NOT_FOUND: &str =
        "org.apache.hadoop.hbase.ReplicationPeerNotFoundException";
    pub const MULTI_ACTION_RESULT_TOO_LARGE: &str =
        "org.apache.hadoop.hbase.MultiActionResultTooLarge";
    pub const FATAL_CONNECTION: &str = "org.apache.hadoop.hbase.ipc.FatalConnectionException";
    pub const WRONG_VERSION: &str = "org.apache.hadoop.hbase.ipc.WrongVersionException";
    pub const BAD_AUTH: &str = "org.apache.hadoop.hbase.ipc.BadAuthException";
    pub const SECURITY_NOT_ENABLED: &str =
        "org.apache.hadoop.hbase.ipc.SecurityNotEnabledException";
    pub const SERVER_NOT_RUNNING_YET: &str =
        "org.apache.hadoop.hbase.ipc.ServerNotRunningYetException";
    pub const UNKNOWN_SNAPSHOT: &str = "org.apache.hadoop.hbase.snapshot.UnknownSnapshotException";
    pub const INVALID_PROTOCOL_BUFFER: &str =
        "org.apache.hbase.thirdparty.com.google.protobuf.InvalidProtocolBufferException";
    pub const TABLE_NOT_FOUND: &str = Exception::TableNotFound.class_name();
}

/// Classes derived from `DoNotRetryIOException`, in addition to those of [`Exception`].
const DO_NOT_RETRY: &[&str] = &[
    class::DO_NOT_RETRY_IO,
    class::UNKNOWN_SCANNER,
    class::UNKNOWN_REGION,
    class::REQUEST_TOO_BIG,
    class::SCANNER_RESET,
    class::OUT_OF_ORDER_SCANNER_NEXT,
    class::LEASE,
    class::UNKNOWN_PROTOCOL,
    class::REPLICATION_PEER_NOT_FOUND,
    class::FATAL_CONNECTION,
    class::WRONG_VERSION,
    class::BAD_AUTH,
    class::UNKNOWN_SNAPSHOT,
    class::TABLE_NOT_FOUND,
];

/// Whether a client must not retry after this class, for answers with only the class: those of
/// single actions of a `Multi`.
pub fn is_do_not_retry_class(class_name: &str) -> bool {
    let is_io_exception = ["org.apache.hadoop.hbase.", "java.io.", "java.net."]
        .iter()
        .any(|package| class_name.starts_with(package));
    let known = Exception::ALL.iter().find(|one| one.class_name() == class_name);
    !is_io_exception
        || DO_NOT_RETRY.contains(&class_name)
        || DO_NOT_RETRY_REMOTE.contains(&class_name)
        || known.is_some_and(|one| is_do_not_retry(*one))
}

/// Classes derived from `DoNotRetryIOException` that only other servers send.
const DO_NOT_RETRY_REMOTE: &[&str] = &[
    "org.apache.hadoop.hbase.security.AccessDeniedException",
    "org.apache.hadoop.hbase.quotas.QuotaExceededException",
    "org.apache.hadoop.hbase.quotas.SpaceLimitingException",
    "org.apache.hadoop.hbase.client.DoNotRetryRegionException",
    "org.apache.hadoop.hbase.exceptions.UnmodifyableTableException",
    "org.apache.hadoop.hbase.ipc.UnsupportedCellCodecException",
    "org.apache.hadoop.hbase.ipc.UnsupportedCompressionCodecException",
    "org.apache.hadoop.hbase.exceptions.MasterStoppedException",
];

/// An exception as sent on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteException {
    /// The full name of the Java class.
    pub class_name: &'static str,
    /// The message, without the class.
    pub message: Cow<'static, str>,
    /// The new location of the region, if it has moved.
    pub moved_to: Option<(String, u16)>,
    /// Whether a retry cannot succeed, whatever the class.
    pub is_final: bool,
}

impl RemoteException {
    /// An exception of this class, one of [`class`].
    pub fn new(class_name: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { class_name, message: message.into(), moved_to: None, is_final: false }
    }

    /// A `DoNotRetryIOException`.
    pub fn do_not_retry(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(class::DO_NOT_RETRY_IO, message)
    }

    /// A `DoNotRetryIOException` that names something hblite does not support.
    pub fn unsupported(what: &str) -> Self {
        let message = format!("hblite does not support {what}; see docs/compatibility.md");
        Self::do_not_retry(message)
    }

    /// The region is served by another server now.
    pub fn moved(host: &str, port: u16, start_code: u64, sequence_number: u64) -> Self {
        let message = format!(
            "Region moved to: hostname={host} port={port} startCode={start_code}. As of \
             locationSeqNum={sequence_number}."
        );
        let moved_to = Some((host.to_owned(), port));
        Self { moved_to, ..Self::new(class::REGION_MOVED, message) }
    }

    /// The same exception, after which clients do not retry.
    #[must_use]
    pub fn without_retry(self) -> Self {
        Self { is_final: true, ..self }
    }

    /// Whether a retry cannot succeed.
    pub fn is_do_not_retry(&self) -> bool {
        self.is_final
            || DO_NOT_RETRY.contains(&self.class_name)
            || Exception::ALL
                .iter()
                .any(|one| one.class_name() == self.class_name && is_do_not_retry(*one))
    }

    /// Whether the server is overloaded.
    pub fn is_server_overloaded(&self) -> bool {
        matches!(self.class_name, class::CALL_QUEUE_TOO_BIG | class::CALL_DROPPED)
    }

    /// As Java's `Throwable.toString`, which clients use as the message of the exception.
    pub fn text(&self) -> String {
        format!("{}: {}", self.class_name, self.message)
    }

    /// For the header of a response.
    pub fn to_response(&self) -> pb::ExceptionResponse {
        pb::ExceptionResponse {
            exception_class_name: Some(self.class_name.to_owned()),
            stack_trace: Some(self.text()),
            hostname: self.moved_to.as_ref().map(|(host, _)| host.clone()),
            port: self.moved_to.as_ref().map(|(_, port)| i32::from(*port)),
            do_not_retry: Some(self.is_do_not_retry()),
            server_overloaded: self.is_server_overloaded().then_some(true),
        }
    }

    /// For one action of a `Multi`.
    pub fn to_pair(&self) -> pb::NameBytesPair {
        pb::NameBytesPair {
            name: self.class_name.to_owned(),
            value: Some(self.text().into_bytes().into()),
        }
    }

    /// For the result of a procedure.
    pub fn to_foreign(&self) -> pb::ForeignException {
        let generic_exception = pb::GenericException {
            class_name: Some(self.class_name.to_owned()),
            message: Some(self.message.to_string()),
            error_info: None,
            trace: Vec::new(),
        };
        pb::ForeignException {
            source: Some("hblite".to_owned()),
            generic_exception: Some(generic_exception),
        }
    }
}

impl From<Error> for RemoteException {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl From<&Error> for RemoteException {
    fn from(error: &Error) -> Self {
        let exception = error.exception();
        match wire_class(exception) {
            Some(class_name) => Self::new(class_name, error.message().to_owned()),
            // HBase also wraps what is not an IOException. Unlike HBase's wrapper, this one says
            // not to retry, because a retry would fail in the same way.
            None => Self::do_not_retry(error.to_java_string()),
        }
    }
}

impl std::fmt::Display for RemoteException {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl std::error::Error for RemoteException {}

/// The class sent for an error; `None` if clients do not have it or it is not an `IOException`.
fn wire_class(exception: Exception) -> Option<&'static str> {
    match exception {
        Exception::JoniSyntax
        | Exception::IllegalArgument
        | Exception::ArrayIndexOutOfBounds
        | Exception::NullPointer
        | Exception::UnsupportedOperation
        | Exception::IncompatibleFilter
        | Exception::PatternSyntax
        | Exception::CharacterCoding
        | Exception::CorruptHFile
        | Exception::CorruptWal
        | Exception::InvalidTableDescriptor
        | Exception::WrongRowIo => None,
        _ => Some(exception.class_name()),
    }
}

/// Whether the class is derived from `DoNotRetryIOException`.
fn is_do_not_retry(exception: Exception) -> bool {
    !matches!(
        exception,
        Exception::Io
            | Exception::HBaseIo
            | Exception::MasterNotRunning
            | Exception::WrongRow
            | Exception::NotServingRegion
            | Exception::RegionTooBusy
            | Exception::RegionServerStopped
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_must_not_repeat_says_so() {
        let flag = |exception| {
            let error = Error::new(exception, "m");
            RemoteException::from(&error).to_response().do_not_retry
        };
        assert_eq!(flag(Exception::NotServingRegion), Some(false));
        assert_eq!(flag(Exception::RegionTooBusy), Some(false));
        assert_eq!(flag(Exception::NoSuchColumnFamily), Some(true));
        assert_eq!(flag(Exception::IllegalArgument), Some(true));
        let busy = RemoteException::new(class::CALL_QUEUE_TOO_BIG, "m").to_response();
        assert_eq!((busy.do_not_retry, busy.server_overloaded), (Some(false), Some(true)));
    }

    #[test]
    fn a_class_that_clients_lack_is_named_in_the_text() {
        let remote = RemoteException::from(&Error::illegal_argument("no"));
        assert_eq!(remote.class_name, class::DO_NOT_RETRY_IO);
        assert_eq!(remote.message, "java.lang.IllegalArgumentException: no");
    }

    #[test]
    fn a_move_names_the_new_server() {
        let response = RemoteException::moved("h", 7, 8, 9).to_response();
        assert_eq!((response.hostname.as_deref(), response.port), (Some("h"), Some(7)));
        let text = response.stack_trace.unwrap();
        assert!(
            text.ends_with(
                "Region moved to: hostname=h port=7 startCode=8. As of locationSeqNum=9."
            )
        );
    }
}
