//! Exceptions as clients get them.
//!
//! HBase's gateways put the stack trace of an exception into its message. Its first line is the
//! Java class and message; that line is the message here.

use hblite_model::{Error, Exception};
use hblite_wire::exception::is_do_not_retry_class;

use crate::protocol::wire::thrift_struct;

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `IOError` of Thrift 1, `TIOError` of Thrift 2.
    Io { message: String, can_retry: bool },
    /// `IllegalArgument` of Thrift 1, `TIllegalArgument` of Thrift 2.
    IllegalArgument(String),
    /// `AlreadyExists` of Thrift 1.
    AlreadyExists(String),
    /// An exception that the method does not declare. HBase hides it from the client.
    Internal,
}

/// The result of a call.
pub(crate) type Answer<T> = Result<T, Fault>;

/// Whether the Java class is no `IOException`. The gateways pass such exceptions on by other rules.
pub(crate) fn is_runtime(exception: Exception) -> bool {
    matches!(
        exception,
        Exception::IllegalArgument
            | Exception::ArrayIndexOutOfBounds
            | Exception::NullPointer
            | Exception::UnsupportedOperation
            | Exception::JoniSyntax
            | Exception::PatternSyntax
            | Exception::IncompatibleFilter
    )
}

impl Fault {
    /// An `IOException` of the gateway itself.
    pub(crate) fn io(message: &str) -> Self {
        let message = format!("{}: {message}", Exception::Io.class_name());
        Self::Io { message, can_retry: true }
    }

    /// An `IllegalArgumentException` where the method declares `IllegalArgument`.
    pub(crate) fn illegal_argument(error: &Error) -> Self {
        Self::IllegalArgument(error.to_java_string())
    }
}

/// `IOException`s are declared by all methods; other exceptions by few.
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        if is_runtime(error.exception()) {
            return Self::Internal;
        }
        let can_retry = !is_do_not_retry_class(error.exception().class_name());
        Self::Io { message: error.to_java_string(), can_retry }
    }
}

thrift_struct! {
    /// `IOError` and `TIOError`.
    IoError {
        1 message: String,
        2 can_retry: bool,
    }

    /// `IllegalArgument`, `TIllegalArgument`, and `AlreadyExists`.
    PlainError {
        1 message: String,
    }

    /// Thrift's own exception.
    ApplicationException {
        1 message: String,
        2 kind: i32,
    }
}

/// Kinds of [`ApplicationException`].
pub(crate) mod kind {
    pub(crate) const UNKNOWN_METHOD: i32 = 1;
    pub(crate) const INVALID_MESSAGE_TYPE: i32 = 2;
    pub(crate) const INTERNAL_ERROR: i32 = 6;
    pub(crate) const PROTOCOL_ERROR: i32 = 7;
}
