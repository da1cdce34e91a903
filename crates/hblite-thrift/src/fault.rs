//! Exceptions in the form in which clients receive them.
//!
//! HBase's gateways are clients of HBase. An exception of a region server or master reaches them
//! with the class and the stack trace of the server in its message; one of the client library has
//! the message alone. Thrift 1 then sends the stack trace of the exception, which begins with its
//! class and message, and Thrift 2 sends its message. Here, each text ends with its first line:
//!
//! ```text
//!            from a server            from the client library
//! Thrift 1   class: class: message    class: message
//! Thrift 2   class: message           message
//! ```

use hblite_model::{Error, Exception, counted};
use hblite_wire::exception::is_do_not_retry_class;

use crate::protocol::wire::thrift_struct;

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `IOError` of Thrift 1, `TIOError` of Thrift 2.
    Io(IoFailure),
    /// `IllegalArgument` of Thrift 1, `TIllegalArgument` of Thrift 2.
    IllegalArgument(String),
    /// `AlreadyExists` of Thrift 1.
    AlreadyExists(String),
    /// An exception that the method does not declare. HBase hides it from the client.
    Internal,
    /// A required argument is not a value of its type.
    Missing(&'static str),
}

/// The result of a call.
pub(crate) type Answer<T> = Result<T, Fault>;

/// An `IOException`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IoFailure {
    pub(crate) class: &'static str,
    text: String,
    /// Whether a server throws it, and not HBase's client library.
    is_remote: bool,
    pub(crate) can_retry: bool,
}

impl IoFailure {
    /// What Java's `getMessage` returns, without the server's stack trace.
    pub(crate) fn message(&self) -> String {
        match self.is_remote {
            true => format!("{}: {}", self.class, self.text),
            false => self.text.clone(),
        }
    }

    /// The first line of the stack trace.
    pub(crate) fn stack_trace(&self) -> String {
        format!("{}: {}", self.class, self.message())
    }

    fn new(error: &Error, is_remote: bool) -> Self {
        let class = error.exception().class_name();
        // Derived from HBaseIOException.
        let is_wrong_row = error.exception() == Exception::WrongRowIo;
        let can_retry = is_wrong_row || !is_do_not_retry_class(class);
        Self { class, text: error.message().to_owned(), is_remote, can_retry }
    }
}

/// Whether the Java class is not an `IOException`. The gateways forward such exceptions
/// differently.
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

/// Whether HBase's client throws this when it reads or writes rows, before it contacts a server.
fn is_of_client(exception: Exception) -> bool {
    matches!(
        exception,
        Exception::TableNotFound
            | Exception::TableNotEnabled
            | Exception::WrongRowIo
            | Exception::Io
            | Exception::HBaseIo
            | Exception::MasterNotRunning
    )
}

impl Fault {
    /// An `IOException` of the gateway itself.
    pub(crate) fn io(message: &str) -> Self {
        Self::Io(IoFailure::new(&Error::new(Exception::Io, message), false))
    }

    /// No memory is available for the answer; the client may retry.
    pub(crate) fn out_of_memory() -> Self {
        let class = "org.apache.hadoop.hbase.CallQueueTooBigException";
        let text = "the gateway has no memory left for the answer; request less, or retry later";
        Self::Io(IoFailure { class, text: text.to_owned(), is_remote: true, can_retry: true })
    }

    /// That of [`Fault::out_of_memory`], unless the memory is held.
    pub(crate) fn unless_held(is_held: bool) -> Answer<()> {
        if is_held { Ok(()) } else { Err(Self::out_of_memory()) }
    }

    /// The gateway only reads.
    pub(crate) fn read_only() -> Self {
        let error = Error::do_not_retry("Thrift Server is in Read-only mode.");
        Self::Io(IoFailure::new(&error, false))
    }

    /// An `IllegalArgumentException` where the method declares `IllegalArgument`.
    pub(crate) fn illegal_argument(error: &Error) -> Self {
        Self::IllegalArgument(error.to_java_string())
    }

    /// An error from a change of tables or namespaces, which the master performs.
    pub(crate) fn of_master(error: Error) -> Self {
        match error.exception() {
            exception if is_runtime(exception) => Self::Internal,
            exception => Self::Io(IoFailure::new(&error, !matches!(exception, Exception::Io))),
        }
    }

    /// An error of a region server for which HBase throws `DoNotRetryIOException`, with the class
    /// of a runtime exception in the message.
    pub(crate) fn of_region_server(error: Error) -> Self {
        match is_runtime(error.exception()) {
            true => {
                let error = Error::do_not_retry(error.to_java_string());
                Self::Io(IoFailure::new(&error, true))
            }
            false => error.into(),
        }
    }

    /// What HBase's client throws if some of `count` writes of a batch failed. `servers` are their
    /// destinations.
    pub(crate) fn exhausted(failures: &[(Self, usize)], servers: &str) -> Self {
        let count: usize = failures.iter().map(|(_, count)| count).sum();
        let description = |fault: &Self| match fault {
            Self::Io(failure) if !failure.can_retry => failure.message(),
            Self::Io(failure) => {
                failure.class.rsplit('.').next().unwrap_or(failure.class).to_owned()
            }
            _ => "IllegalArgumentException".to_owned(),
        };
        let described = failures.iter().map(|(fault, count)| {
            format!("{}: {}, ", description(fault), counted(*count as u64, "time"))
        });
        let described: String = described.collect();
        let text = format!(
            "Failed {}: {described}servers with issues: {servers}",
            counted(count as u64, "action")
        );
        let class = "org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException";
        Self::Io(IoFailure { class, text, is_remote: false, can_retry: true })
    }
}

/// `IOException`s are declared by all methods; other exceptions by few.
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error.exception() {
            exception if is_runtime(exception) => Self::Internal,
            exception => Self::Io(IoFailure::new(&error, !is_of_client(exception))),
        }
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
