//! Why a call failed, and what to do next.
//!
//! The layers of the client decide by `CallError` whether the call may be retried, whether the
//! location was wrong, and whether the server is overloaded. The caller gets it as an [`Error`].

use std::fmt;
use std::time::Duration;

use hblite_model::{Error, Exception};
use hblite_wire::exception::{class, is_do_not_retry_class};
use hblite_wire::{convert, pb};

use crate::url::ServerAddress;

/// Why a call failed.
#[derive(Debug, Clone)]
pub(crate) enum CallError {
    /// The server answered with an exception.
    Remote(Box<Thrown>),
    /// No connection could be opened: nothing was sent.
    Unreachable { server: ServerAddress, why: String },
    /// The name of the host is not known.
    UnknownHost { server: ServerAddress },
    /// The connection ended: the call may have been executed.
    Disconnected { server: ServerAddress, why: String },
    /// No answer within the time limit: the call may have been executed.
    TimedOut { server: ServerAddress, method: &'static str, after: Duration },
    /// TLS with the peer failed in a way that a retry cannot fix.
    Insecure { server: ServerAddress, why: String },
    /// Kerberos with the peer failed in a way that a retry cannot fix.
    Unauthenticated { server: ServerAddress, why: String },
    /// The peer is not an HBase server, or its answer is invalid.
    Malformed { server: ServerAddress, why: String },
    /// There is no server to call: the region is in transition.
    Nowhere(String),
    /// The registry does not say where hbase:meta or the master is.
    NotRegistered { exception: Exception, why: String },
    /// Any other failure that a retry cannot fix.
    Final(Error),
}

/// An exception of a server.
#[derive(Debug, Clone)]
pub(crate) struct Thrown {
    /// The full name of the Java class.
    pub(crate) class: String,
    /// Class and message, possibly followed by stack frames.
    trace: String,
    do_not_retry: bool,
    is_overloaded: bool,
    /// The current location of the region.
    pub(crate) moved_to: Option<ServerAddress>,
}

impl Thrown {
    /// From the header of a response.
    pub(crate) fn from_response(exception: pb::ExceptionResponse) -> Self {
        let class = exception.exception_class_name.unwrap_or_default();
        let port = exception.port.and_then(|port| u16::try_from(port).ok());
        let host = exception.hostname.filter(|host| !host.is_empty());
        let moved_to = host
            .zip(port)
            .filter(|_| class == class::REGION_MOVED)
            .map(|(host, port)| ServerAddress { host, port });
        Self {
            do_not_retry: exception.do_not_retry.unwrap_or_else(|| is_do_not_retry_class(&class)),
            is_overloaded: exception.server_overloaded.unwrap_or(false)
                || matches!(class.as_str(), class::CALL_QUEUE_TOO_BIG | class::CALL_DROPPED),
            trace: exception.stack_trace.unwrap_or_default(),
            moved_to,
            class,
        }
    }

    /// From one action or region of a `Multi`.
    pub(crate) fn from_pair(pair: &pb::NameBytesPair) -> Self {
        let trace = String::from_utf8_lossy(pair.value.as_deref().unwrap_or_default());
        let exception = pb::ExceptionResponse {
            exception_class_name: Some(pair.name.clone()),
            stack_trace: Some(trace.clone().into_owned()),
            ..pb::ExceptionResponse::default()
        };
        let moved_to = moved_to(&trace).filter(|_| pair.name == class::REGION_MOVED);
        Self { moved_to, ..Self::from_response(exception) }
    }

    /// From the result of a procedure.
    pub(crate) fn from_foreign(exception: pb::ForeignException) -> Self {
        let generic = exception.generic_exception.unwrap_or_default();
        let class = generic.class_name.unwrap_or_default();
        let trace = format!("{class}: {}", generic.message.unwrap_or_default());
        let (do_not_retry, is_overloaded, moved_to) = (true, false, None);
        Self { class, trace, do_not_retry, is_overloaded, moved_to }
    }

    pub(crate) fn is(&self, class: &str) -> bool {
        self.class == class
    }
}

/// The new location in the text of a `RegionMovedException`: `hostname=H port=P startCode=S`.
fn moved_to(text: &str) -> Option<ServerAddress> {
    let after = |name: &str| text.split_once(name)?.1.split([' ', '.']).next();
    let host = text.split_once("hostname=")?.1.split(' ').next()?.to_owned();
    let port = after("port=")?.parse().ok()?;
    Some(ServerAddress { host, port })
}

/// Exceptions that do not contradict the location: the server has the region, but cannot serve it
/// now.
const LOCATION_STAYS: &[&str] = &[
    class::REGION_OPENING,
    class::CALL_QUEUE_TOO_BIG,
    class::CALL_DROPPED,
    class::REQUEST_TOO_BIG,
    class::MULTI_ACTION_RESULT_TOO_LARGE,
    Exception::RegionTooBusy.class_name(),
    "org.apache.hadoop.hbase.quotas.RpcThrottlingException",
    "org.apache.hadoop.hbase.RetryImmediatelyException",
];

/// Exceptions after which a scan continues with a new scanner, although its call must not be
/// retried.
const SCANNER_IS_LOST: &[&str] =
    &[class::UNKNOWN_SCANNER, class::SCANNER_RESET, class::OUT_OF_ORDER_SCANNER_NEXT, class::LEASE];

impl CallError {
    /// Whether a retry of the call can succeed.
    pub(crate) fn is_retryable(&self) -> bool {
        match self {
            Self::Remote(thrown) => !thrown.do_not_retry,
            Self::Unreachable { .. }
            | Self::UnknownHost { .. }
            | Self::Disconnected { .. }
            | Self::TimedOut { .. }
            | Self::Nowhere(_)
            | Self::NotRegistered { .. } => true,
            Self::Insecure { .. }
            | Self::Unauthenticated { .. }
            | Self::Malformed { .. }
            | Self::Final(_) => false,
        }
    }

    /// Whether the region must be looked up again.
    pub(crate) fn clears_location(&self) -> bool {
        match self {
            Self::Remote(thrown) => {
                !thrown.do_not_retry && !LOCATION_STAYS.contains(&thrown.class.as_str())
            }
            Self::Final(_) => false,
            _ => true,
        }
    }

    /// Whether the server does not serve the region, which is also the case for disabled tables.
    pub(crate) fn is_not_serving(&self) -> bool {
        let class = Exception::NotServingRegion.class_name();
        matches!(self, Self::Nowhere(_)) || matches!(self, Self::Remote(thrown) if thrown.is(class))
    }

    /// Whether the server could not be reached, or did not answer.
    pub(crate) fn is_of_connection(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::UnknownHost { .. }
                | Self::Disconnected { .. }
                | Self::TimedOut { .. }
        )
    }

    /// Whether the scanner is lost and the scan can continue with another one.
    pub(crate) fn is_scanner_lost(&self) -> bool {
        let lost = |thrown: &Thrown| SCANNER_IS_LOST.contains(&thrown.class.as_str());
        matches!(self, Self::Remote(thrown) if lost(thrown))
    }

    /// Whether the longer pauses apply.
    pub(crate) fn is_overload(&self) -> bool {
        matches!(self, Self::Remote(thrown) if thrown.is_overloaded)
    }

    /// Whether the call may be retried without a pause.
    pub(crate) fn is_immediate(&self) -> bool {
        let classes = [
            class::MULTI_ACTION_RESULT_TOO_LARGE,
            "org.apache.hadoop.hbase.RetryImmediatelyException",
        ];
        matches!(self, Self::Remote(thrown) if classes.contains(&thrown.class.as_str()))
    }

    /// The location of the region, if the server sent it.
    pub(crate) fn moved_to(&self) -> Option<&ServerAddress> {
        match self {
            Self::Remote(thrown) => thrown.moved_to.as_ref(),
            _ => None,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Error::from(self.clone()).fmt(f)
    }
}

impl From<Thrown> for CallError {
    fn from(thrown: Thrown) -> Self {
        Self::Remote(Box::new(thrown))
    }
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        let io = |message: String| Self::new(Exception::Io, message);
        match error {
            CallError::Remote(thrown) => convert::error_of_class(&thrown.class, &thrown.trace),
            CallError::UnknownHost { server } => io(format!("{server} could not be resolved")),
            CallError::Unreachable { server, why } => io(format!("cannot reach {server}: {why}")),
            CallError::Disconnected { server, why } => {
                io(format!("the connection to {server} ended: {why}"))
            }
            CallError::TimedOut { server, method, after } => {
                let millis = after.as_millis();
                io(format!("{server} did not answer {method} within {millis} ms"))
            }
            CallError::Insecure { server, why } => {
                io(format!("no TLS connection to {server}: {why}"))
            }
            CallError::Unauthenticated { server, why } => {
                io(format!("no authentication with Kerberos at {server}: {why}"))
            }
            CallError::Malformed { server, why } => {
                io(format!("{server} does not answer as HBase does: {why}"))
            }
            CallError::Nowhere(why) => Self::new(Exception::NotServingRegion, why),
            CallError::NotRegistered { exception, why } => Self::new(exception, why),
            CallError::Final(error) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_place_is_in_the_text() {
        let pair = pb::NameBytesPair {
            name: class::REGION_MOVED.to_owned(),
            value: Some(
                "x.RegionMovedException: Region moved to: hostname=a.b-c port=16020 startCode=7. \
                 As of locationSeqNum=5."
                    .into(),
            ),
        };
        let error = CallError::from(Thrown::from_pair(&pair));
        let place = ServerAddress { host: "a.b-c".to_owned(), port: 16020 };
        assert_eq!(error.moved_to(), Some(&place));
        assert!(error.is_retryable() && error.clears_location());
    }

    #[test]
    fn a_busy_region_stays_where_it_is() {
        let class = Exception::RegionTooBusy.class_name();
        let pair = pb::NameBytesPair { name: class.to_owned(), value: None };
        let error = CallError::from(Thrown::from_pair(&pair));
        assert!(error.is_retryable() && !error.clears_location());
        let pair = pb::NameBytesPair { name: class::SCANNER_RESET.to_owned(), value: None };
        let error = CallError::from(Thrown::from_pair(&pair));
        assert!(!error.is_retryable() && error.is_scanner_lost());
    }
}
