//! Errors: what went wrong, in HBase's words, and what the caller can do about it.
//!
//! An [`Error`] carries the exception class that HBase throws in the same case, because clients act
//! on it. [`ErrorKind`] is the short form for Rust callers. Both come from a single table,
//! [`Exception`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of every operation that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller should do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is wrong: it can never succeed unchanged.
    InvalidArgument,
    /// The table, region, namespace or family does not exist.
    NotFound,
    /// The table or namespace already exists.
    AlreadyExists,
    /// The table is in a state that forbids this.
    WrongState,
    /// The region moved, split or closed: locate it again.
    NotServing,
    /// Too much at once: try again later.
    Busy,
    /// Stored bytes are damaged; the message names file and offset.
    Corrupt,
    /// The operating system failed.
    Io,
    /// The store is open elsewhere: close it there, or open it read-only.
    Locked,
    /// The store is closed, or refuses writes after a failed sync: reopen it.
    Closed,
    /// hblite does not support this.
    Unsupported,
}

impl ErrorKind {
    /// What happened, in plain words.
    fn words(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid request",
            Self::NotFound => "not found",
            Self::AlreadyExists => "already exists",
            Self::WrongState => "wrong state",
            Self::NotServing => "region not in service",
            Self::Busy => "too busy",
            Self::Corrupt => "damaged data",
            Self::Io => "I/O error",
            Self::Locked => "store locked",
            Self::Closed => "store closed",
            Self::Unsupported => "not supported",
        }
    }
}

macro_rules! exceptions {
    ($($(#[$doc:meta])* $name:ident = $class:literal, $kind:ident;)*) => {
        /// The exception classes of HBase and Java that hblite uses.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Exception {
            $($(#[$doc])* $name,)*
        }

        impl Exception {
            /// Every class, for tools and tests.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The full name of the Java class.
            pub const fn class_name(self) -> &'static str {
                match self { $(Self::$name => $class,)* }
            }

            /// What the caller should do next.
            pub fn kind(self) -> ErrorKind {
                match self { $(Self::$name => ErrorKind::$kind,)* }
            }
        }
    };
}

exceptions! {
    /// A plain I/O error; HBase's clients retry it.
    Io = "java.io.IOException", Io;
    /// Stored bytes are damaged.
    CorruptHFile = "org.apache.hadoop.hbase.io.hfile.CorruptHFileException", Corrupt;
    /// A log record is damaged.
    CorruptWal = "org.apache.hadoop.hbase.regionserver.wal.WALHeaderEOFException", Corrupt;
    /// An I/O error of HBase's client.
    HBaseIo = "org.apache.hadoop.hbase.HBaseIOException", Io;
    /// The cluster has no active master at the moment.
    MasterNotRunning = "org.apache.hadoop.hbase.MasterNotRunningException", Io;
    /// A regular expression that the Joni engine cannot read.
    JoniSyntax = "org.joni.exception.SyntaxException", InvalidArgument;
    /// An invalid argument, found before anything was sent.
    IllegalArgument = "java.lang.IllegalArgumentException", InvalidArgument;
    /// A number out of range.
    ArrayIndexOutOfBounds = "java.lang.ArrayIndexOutOfBoundsException", InvalidArgument;
    /// The operation is not possible in the current state.
    IllegalState = "java.lang.IllegalStateException", WrongState;
    /// An argument that must not be null.
    NullPointer = "java.lang.NullPointerException", InvalidArgument;
    /// A request that cannot succeed on retry.
    DoNotRetryIo = "org.apache.hadoop.hbase.DoNotRetryIOException", InvalidArgument;
    /// A region is not in the state that a change of it requires.
    DoNotRetryRegion =
        "org.apache.hadoop.hbase.client.DoNotRetryRegionException", InvalidArgument;
    /// There is no such replication peer.
    ReplicationPeerNotFound =
        "org.apache.hadoop.hbase.ReplicationPeerNotFoundException", NotFound;
    /// An operation that hblite does not support.
    UnsupportedOperation = "java.lang.UnsupportedOperationException", Unsupported;
    /// The table has no such family.
    NoSuchColumnFamily =
        "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException", NotFound;
    /// The family to alter does not exist.
    InvalidFamilyOperation =
        "org.apache.hadoop.hbase.InvalidFamilyOperationException", InvalidArgument;
    /// The row does not belong to the region of the call.
    WrongRow = "org.apache.hadoop.hbase.regionserver.WrongRegionException", NotServing;
    /// A mutation inside RowMutations is for another row.
    WrongRowIo = "org.apache.hadoop.hbase.client.WrongRowIOException", InvalidArgument;
    /// A request that fails HBase's sanity checks.
    FailedSanityCheck =
        "org.apache.hadoop.hbase.exceptions.FailedSanityCheckException", InvalidArgument;
    /// The table does not exist.
    TableNotFound = "org.apache.hadoop.hbase.TableNotFoundException", NotFound;
    /// The table already exists.
    TableExists = "org.apache.hadoop.hbase.TableExistsException", AlreadyExists;
    /// The table is disabled.
    TableNotEnabled = "org.apache.hadoop.hbase.TableNotEnabledException", WrongState;
    /// The table is enabled and must not be.
    TableNotDisabled = "org.apache.hadoop.hbase.TableNotDisabledException", WrongState;
    /// The namespace does not exist.
    NamespaceNotFound = "org.apache.hadoop.hbase.NamespaceNotFoundException", NotFound;
    /// The namespace already exists.
    NamespaceExist = "org.apache.hadoop.hbase.NamespaceExistException", AlreadyExists;
    /// A rule forbids the change (of a reserved namespace, or one that is not empty).
    Constraint = "org.apache.hadoop.hbase.constraint.ConstraintException", InvalidArgument;
    /// This server does not serve the region.
    NotServingRegion = "org.apache.hadoop.hbase.NotServingRegionException", NotServing;
    /// The region is unknown.
    UnknownRegion = "org.apache.hadoop.hbase.UnknownRegionException", NotFound;
    /// No endpoint of a coprocessor has this name.
    UnknownProtocol =
        "org.apache.hadoop.hbase.exceptions.UnknownProtocolException", Unsupported;
    /// Regions that may not be merged or split.
    MergeRegion = "org.apache.hadoop.hbase.exceptions.MergeRegionException", InvalidArgument;
    /// Too many writes wait for memory.
    RegionTooBusy = "org.apache.hadoop.hbase.RegionTooBusyException", Busy;
    /// The scanner was closed or its lease ran out.
    UnknownScanner = "org.apache.hadoop.hbase.UnknownScannerException", NotFound;
    /// A filter, or its text, that cannot be used.
    IncompatibleFilter =
        "org.apache.hadoop.hbase.filter.IncompatibleFilterException", InvalidArgument;
    /// The family's settings contradict each other.
    InvalidTableDescriptor = "org.apache.hadoop.hbase.InvalidTableDescriptorException",
        InvalidArgument;
    /// The region server stopped.
    RegionServerStopped =
        "org.apache.hadoop.hbase.regionserver.RegionServerStoppedException", Closed;
    /// A character that is not allowed in a name; Java's syntax errors in regular expressions.
    PatternSyntax = "java.util.regex.PatternSyntaxException", InvalidArgument;
    /// A snapshot with this name already exists.
    SnapshotExists = "org.apache.hadoop.hbase.snapshot.SnapshotExistsException", AlreadyExists;
    /// The snapshot does not exist.
    SnapshotDoesNotExist =
        "org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException", NotFound;
    /// A snapshot cannot be taken.
    SnapshotCreation = "org.apache.hadoop.hbase.snapshot.SnapshotCreationException",
        InvalidArgument;
    /// The snapshot has expired.
    SnapshotTtlExpired =
        "org.apache.hadoop.hbase.snapshot.SnapshotTTLExpiredException", NotFound;
    /// A table cannot be restored from a snapshot.
    RestoreSnapshot = "org.apache.hadoop.hbase.snapshot.RestoreSnapshotException", InvalidArgument;
    /// Unreadable text, such as a filter that ends too early.
    CharacterCoding = "java.nio.charset.CharacterCodingException", InvalidArgument;
}

impl Exception {
    /// The name of the Java class without its package.
    pub fn simple_name(self) -> &'static str {
        let name = self.class_name();
        name.rsplit('.').next().unwrap_or(name)
    }
}

/// An error: what happened, HBase's exception class and message, and where applicable the position
/// in a file.
///
/// Where HBase has a message for the case, the message is HBase's, without a stack trace. Messages
/// are for people; programs should use [`Error::kind`] or [`Error::exception`].
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    exception: Exception,
    kind: ErrorKind,
    message: String,
    summary: Option<String>,
    file: Option<PathBuf>,
    offset: Option<u64>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of this class.
    pub fn new(exception: Exception, message: impl Into<String>) -> Self {
        let (message, kind) = (message.into(), exception.kind());
        Self(Box::new(Inner {
            exception,
            kind,
            message,
            summary: None,
            file: None,
            offset: None,
            source: None,
        }))
    }

    /// An invalid request for which HBase throws a class that usually means something else, such as
    /// `IOException`.
    pub fn invalid_argument(exception: Exception, message: impl Into<String>) -> Self {
        Self::new(exception, message).with_kind(ErrorKind::InvalidArgument)
    }

    /// An `IllegalArgumentException`: the request itself is wrong.
    pub fn illegal_argument(message: impl Into<String>) -> Self {
        Self::new(Exception::IllegalArgument, message)
    }

    /// A `DoNotRetryIOException`.
    pub fn do_not_retry(message: impl Into<String>) -> Self {
        Self::new(Exception::DoNotRetryIo, message)
    }

    /// Stored bytes that are not in the expected form, for which HBase throws an `IOException`.
    /// Use [`Error::corrupt`] where the file is known.
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::new(Exception::Io, message).with_kind(ErrorKind::Corrupt)
    }

    /// The operating system failed while `doing` something with `file`.
    pub fn io(doing: &str, file: &Path, source: std::io::Error) -> Self {
        let message = format!("{doing} {}: {source}{}", file.display(), advice(&source));
        Self(Box::new(Inner {
            exception: Exception::Io,
            kind: ErrorKind::Io,
            message,
            summary: None,
            file: Some(file.to_path_buf()),
            offset: None,
            source: Some(Arc::new(source)),
        }))
    }

    /// The operating system failed while `doing` something without a file.
    pub fn io_of(doing: &str, source: std::io::Error) -> Self {
        let message = format!("{doing}: {source}{}", advice(&source));
        Self::new(Exception::Io, message).with_source(source)
    }

    /// The operating system starts no thread.
    pub fn no_thread(source: std::io::Error) -> Self {
        let limit = if cfg!(unix) { " (ulimit -u, or that of the container)" } else { "" };
        let doing = "cannot start a thread; the limit on processes and threads";
        Self::io_of(&format!("{doing}{limit}, or on memory, is reached"), source)
    }

    /// Damaged bytes in `file` at `offset`.
    pub fn corrupt(
        exception: Exception,
        file: &Path,
        offset: u64,
        message: impl fmt::Display,
    ) -> Self {
        let message = format!("{} at offset {offset}: {message}", file.display());
        Self(Box::new(Inner {
            exception,
            kind: exception.kind(),
            message,
            summary: None,
            file: Some(file.to_path_buf()),
            offset: Some(offset),
            source: None,
        }))
    }

    /// Sets the kind, for an `IOException` of HBase that is not a failure of a file or device.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Sets what [`Display`](fmt::Display) shows instead of a message of HBase that is long.
    #[must_use]
    pub fn with_summary(mut self, summary: impl Into<String>) -> Self {
        self.0.summary = Some(summary.into());
        self
    }

    /// Sets the cause.
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// The exception class that HBase throws.
    pub fn exception(&self) -> Exception {
        self.0.exception
    }

    /// What the caller should do next.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Class and message, as Java's `Throwable.toString`: what HBase's shell and clients show.
    pub fn to_java_string(&self) -> String {
        format!("{}: {}", self.0.exception.class_name(), self.0.message)
    }

    /// HBase's message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The file that is damaged or could not be used.
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The offset in the file.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }
}

/// What happened in plain words, HBase's message or its summary, and HBase's class in parentheses.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = self.0.exception.class_name();
        let message = self.0.summary.as_ref().unwrap_or(&self.0.message);
        write!(f, "{}: {message} ({class})", self.0.kind.words())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// What to do about a limit of the operating system that its error does not name.
fn advice(error: &std::io::Error) -> &'static str {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    match error.raw_os_error() {
        Some(EMFILE) if cfg!(unix) => {
            ". This process may have no more files and connections open: raise that limit \
             (ulimit -n)"
        }
        Some(ENFILE) if cfg!(unix) => {
            ". The system may have no more files open: raise that limit (sysctl fs.file-max)"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn limits_of_the_system_are_named() {
        let of = std::io::Error::from_raw_os_error;
        let message = |code| Error::io("open", Path::new("/d"), of(code)).message().to_owned();
        assert!(message(24).ends_with("raise that limit (ulimit -n)"), "{}", message(24));
        assert!(message(23).contains("fs.file-max"), "{}", message(23));
        assert_eq!(message(2), "open /d: No such file or directory (os error 2)");
        assert!(Error::io_of("listen", of(24)).message().contains("ulimit -n"));
        assert!(Error::no_thread(of(11)).message().contains("ulimit -u"));
    }

    #[test]
    fn an_error_says_class_message_and_place() {
        let error = Error::corrupt(Exception::CorruptHFile, Path::new("/d/f"), 7, "bad checksum");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!((error.file(), error.offset()), (Some(Path::new("/d/f")), Some(7)));
        assert_eq!(
            error.to_string(),
            "damaged data: /d/f at offset 7: bad checksum \
             (org.apache.hadoop.hbase.io.hfile.CorruptHFileException)"
        );
        assert_eq!(
            error.to_java_string(),
            "org.apache.hadoop.hbase.io.hfile.CorruptHFileException: \
             /d/f at offset 7: bad checksum"
        );
        assert_eq!(error.exception().simple_name(), "CorruptHFileException");
    }

    #[test]
    fn a_wrong_request_is_no_failure_of_the_disk_whatever_its_class() {
        let error = Error::invalid_argument(Exception::Io, "Row length is 0");
        assert_eq!((error.kind(), error.exception()), (ErrorKind::InvalidArgument, Exception::Io));
        let expected = "invalid request: Row length is 0 (java.io.IOException)";
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.clone().kind(), ErrorKind::InvalidArgument);
    }
}
