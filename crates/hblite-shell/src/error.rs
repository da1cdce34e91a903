//! What can go wrong in the shell, and how it is reported.

use std::fmt;
use std::io;

use hblite::{Error, Exception};

use crate::value::Value;

/// Text that is not in the shell's language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    message: String,
    /// Where reading stopped: the byte after the offending token.
    at: usize,
    /// Whether more text could make it valid.
    is_incomplete: bool,
    /// Where the unclosed string begins, after its quote.
    quote_at: Option<usize>,
}

impl SyntaxError {
    pub(crate) fn new(message: impl Into<String>, at: usize) -> Self {
        Self { message: message.into(), at, is_incomplete: false, quote_at: None }
    }

    pub(crate) fn incomplete(message: &str, at: usize) -> Self {
        Self { is_incomplete: true, ..Self::new(message, at) }
    }

    /// Text that ends inside the string that begins at `quote_at`.
    pub(crate) fn open_string(quote_at: usize, at: usize) -> Self {
        let message = "unterminated string meets end of file";
        Self { quote_at: Some(quote_at), ..Self::incomplete(message, at) }
    }

    pub(crate) fn unexpected(what: &str, at: usize) -> Self {
        Self::new(format!("syntax error, unexpected {what}"), at)
    }

    /// Adds what to do about it.
    pub(crate) fn with_advice(self, advice: &str) -> Self {
        Self { message: format!("{}; {advice}", self.message), ..self }
    }

    pub(crate) fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Where the unclosed string begins, after its quote; `None` if the text does not end in one.
    pub(crate) fn quote_at(&self) -> Option<usize> {
        self.quote_at
    }

    /// The failure as the Ruby console prints it: file and line, the source line and a caret.
    pub(crate) fn explain(&self, source: &str, line_number: u64) -> Failure {
        let before = &source[..self.at.min(source.len())];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = source[line_start..].lines().next().unwrap_or("");
        let line_number = line_number + before.matches('\n').count() as u64;
        let column = before[line_start..].chars().count().saturating_sub(1);
        Failure::Ruby {
            class: "SyntaxError".into(),
            message: self.message.clone(),
            line: Some(line_number),
            picture: Some(format!("{line}\n{:column$}^", "")),
        }
    }
}

/// Why a line ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A command refused or failed: HBase's `ERROR:` block.
    Command {
        /// HBase's exception class, or Ruby's for what the shell refuses itself.
        class: String,
        /// What is printed.
        message: String,
        /// The name of the command.
        command: &'static str,
    },
    /// The text was rejected as Ruby would: a `Traceback` block.
    Ruby {
        /// Ruby's exception class, or one that a script raises.
        class: std::borrow::Cow<'static, str>,
        /// Its message.
        message: String,
        /// The line that it concerns, if any.
        line: Option<u64>,
        /// The offending line with a caret under it.
        picture: Option<String>,
    },
    /// `exit` was called.
    Exit(i32),
    /// The output cannot be written.
    Output(io::Error),
    /// The user ended the command.
    Interrupted,
    /// A loop or a method with a block is left, with this value.
    Break(Value),
    /// A block is left.
    Next(Value),
    /// A method is left.
    Return(Value),
}

impl Failure {
    /// An error of something other than a command.
    pub(crate) fn command(message: impl Into<String>) -> Self {
        let class = "ArgumentError".to_owned();
        Self::Command { class, message: message.into(), command: "" }
    }

    /// The class and message of what a script can catch.
    pub(crate) fn class_and_message(&self) -> Option<(String, String)> {
        match self {
            Self::Command { class, message, .. } => Some((class.clone(), message.clone())),
            Self::Ruby { class, message, picture: None, .. } => {
                Some((class.to_string(), message.clone()))
            }
            _ => None,
        }
    }

    pub(crate) fn name_error(message: impl Into<String>) -> Self {
        Self::ruby("NameError", message.into())
    }

    pub(crate) fn no_method(message: impl Into<String>) -> Self {
        Self::ruby("NoMethodError", message.into())
    }

    pub(crate) fn ruby(class: impl Into<std::borrow::Cow<'static, str>>, message: String) -> Self {
        Self::Ruby { class: class.into(), message, line: None, picture: None }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// An error of the store in the words of HBase's shell; `subject` is the command's first argument
/// (`Command.translate_hbase_exceptions`).
pub(crate) fn describe(error: &Error, subject: &str) -> String {
    let message = error.message();
    match error.exception() {
        Exception::TableNotFound => format!("Unknown table {}!", one_word(message, subject)),
        Exception::TableNotEnabled => format!("Table {subject} is disabled!"),
        Exception::TableNotDisabled => format!("Table {message} should be disabled!"),
        Exception::TableExists => {
            format!("Table already exists: {}!", one_word(message, subject))
        }
        Exception::NamespaceNotFound => {
            format!("Unknown namespace {}!", one_word(message, subject))
        }
        Exception::SnapshotDoesNotExist => format!("Unknown snapshot {subject}!"),
        Exception::UnknownRegion => message.to_owned(),
        exception if is_raised_by_client(exception) => message.to_owned(),
        _ => error.to_java_string(),
    }
}

/// The class of an error's exception: also one that only the message names.
pub(crate) fn class_of(error: &Error) -> String {
    let message = error.message();
    let named = message.split_once(": ").map(|(class, _)| class).filter(|class| {
        let last = class.rsplit('.').next().unwrap_or(class);
        class.contains('.') && !class.contains(' ') && last.ends_with("Exception")
    });
    named.unwrap_or(error.exception().class_name()).to_owned()
}

fn one_word<'a>(message: &'a str, subject: &'a str) -> &'a str {
    if message.is_empty() || message.contains(' ') { subject } else { message }
}

/// Errors that the Java client detects itself reach the shell as a message only; those of a server
/// include their class.
fn is_raised_by_client(exception: Exception) -> bool {
    matches!(
        exception,
        Exception::Io
            | Exception::IllegalArgument
            | Exception::ArrayIndexOutOfBounds
            | Exception::NullPointer
            | Exception::UnsupportedOperation
            | Exception::PatternSyntax
            | Exception::CharacterCoding
    )
}

/// A script that did not run to its end.
#[derive(Debug)]
#[non_exhaustive]
pub struct ScriptError {
    /// The line, counted from 1, on which the failing statement begins.
    pub line: u64,
    /// What went wrong, without stack traces or usage hints.
    pub message: String,
    /// Whether it was printed, as errors are in [`Format::Json`](crate::Format::Json).
    pub is_printed: bool,
    /// The cause, if the input could not be read or the output could not be written.
    pub source: Option<io::Error>,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ScriptError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
