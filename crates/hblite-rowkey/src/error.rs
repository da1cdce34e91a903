//! Errors in a design, a value, a key or a query, with their position.

use std::fmt;
use std::ops::Range;

/// Short for this crate's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Which input was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text of a design does not follow the language.
    Syntax,
    /// The design cannot work: its keys could not be distinguished, ordered or found.
    Design,
    /// A value does not fit its field.
    Value,
    /// The bytes are not a key of the design.
    Key,
    /// A query refers to something that the design does not have.
    Query,
    /// The number of regions does not fit the design.
    Regions,
    /// Keys of the design begin in fewer places than there are regions: a sample of them must
    /// divide the rest.
    FewPlaces,
}

/// A refusal with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    part: Option<usize>,
    span: Option<Range<usize>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), part: None, span: None }
    }

    pub(crate) fn design(part: usize, message: impl Into<String>) -> Self {
        Self { part: Some(part), ..Self::new(ErrorKind::Design, message) }
    }

    pub(crate) fn value(field: &str, message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Value, format!("field {field}: {message}"))
    }

    pub(crate) fn key(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Key, message)
    }

    pub(crate) fn query(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Query, message)
    }

    pub(crate) fn regions(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Regions, message)
    }

    pub(crate) fn few_places(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::FewPlaces, message)
    }

    #[must_use]
    pub(crate) fn at(self, span: Range<usize>) -> Self {
        Self { span: Some(span), ..self }
    }

    /// Which input was wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The reason, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The rejected part of the design, counted from 0.
    pub fn part(&self) -> Option<usize> {
        self.part
    }

    /// The rejected bytes of the design's text, if it was given as text.
    pub fn span(&self) -> Option<Range<usize>> {
        self.span.clone()
    }

    /// The text with the error marked, and the reason: three lines for a terminal.
    ///
    /// ```
    /// use hblite_rowkey::Design;
    /// let text = "bucket(ts, 0)|ts:timestamp";
    /// let error = Design::parse(text).unwrap_err();
    /// assert_eq!(
    ///     error.pointing_into(text),
    ///     "bucket(ts, 0)|ts:timestamp\n\
    ///      ^^^^^^^^^^^^^\n\
    ///      there must be at least one bucket: use 1 to 65536"
    /// );
    /// ```
    pub fn pointing_into(&self, text: &str) -> String {
        let Some(span) = &self.span else { return self.message.clone() };
        let columns = |end: usize| text.get(..end).unwrap_or(text).chars().count();
        let (start, end) = (columns(span.start), columns(span.end));
        let marks = "^".repeat(end.saturating_sub(start).max(1));
        format!("{text}\n{}{marks}\n{}", " ".repeat(start), self.message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.span {
            Some(span) => write!(f, "{} (at {}..{})", self.message, span.start, span.end),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}
