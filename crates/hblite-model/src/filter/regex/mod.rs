//! Regular expressions in Java's syntax (`RegexStringComparator`).
//!
//! The pattern is translated once and then matched in time linear in the text, so no client can
//! make a scan hang. In return, look-around, backreferences, possessive quantifiers and atomic
//! groups are refused with a `PatternSyntaxException` that names them.
//!
//! Two rare cases differ from Java. A pattern that continues after a `$` or `\Z` cannot match the
//! line end that these skipped. Under MULTILINE, `^` also matches at the very end, and only `\r`
//! and `\n` end lines.

mod class;
mod translate;

use std::fmt;

use crate::error::{Error, Exception, Result};

/// The flags of `java.util.regex.Pattern`, with Java's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RegexFlags(pub i32);

impl RegexFlags {
    /// Only `\n` ends a line.
    pub const UNIX_LINES: Self = Self(1);
    /// Ignores the case of ASCII letters.
    pub const CASE_INSENSITIVE: Self = Self(2);
    /// Ignores white space and comments in the pattern.
    pub const COMMENTS: Self = Self(4);
    /// `^` and `$` match at line ends too.
    pub const MULTILINE: Self = Self(8);
    /// The pattern is a literal string.
    pub const LITERAL: Self = Self(16);
    /// `.` also matches line ends. HBase's default.
    pub const DOTALL: Self = Self(32);
    /// Ignores the case of all letters, not only ASCII.
    pub const UNICODE_CASE: Self = Self(64);
    /// Characters are compared in canonical decomposition. Not supported.
    pub const CANON_EQ: Self = Self(128);
    /// `\w`, `\d` and the like cover all of Unicode.
    pub const UNICODE_CHARACTER_CLASS: Self = Self(256);

    const ALL: Self = Self(511);

    /// Whether all flags of `other` are set here.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Which of HBase's two regular expression engines a client requested. The answers are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RegexEngine {
    /// `java.util.regex`.
    #[default]
    Java,
    /// Joni.
    Joni,
}

/// A compiled pattern.
#[derive(Clone)]
pub struct RegexString {
    pattern: String,
    flags: RegexFlags,
    engine: RegexEngine,
    is_latin1: bool,
    regex: ::regex::Regex,
}

impl RegexString {
    /// Compiles `pattern`.
    ///
    /// # Errors
    /// `PatternSyntaxException` (Joni: `SyntaxException`) for invalid, unsupported or oversized
    /// patterns; `IllegalArgumentException` for unknown flags.
    pub fn new(pattern: &str, flags: RegexFlags, engine: RegexEngine) -> Result<Self> {
        if !RegexFlags::ALL.contains(flags) {
            return Err(Error::illegal_argument(format!("Unknown flag 0x{:x}", flags.0)));
        }
        let regex = compile(pattern, flags).map_err(|error| match engine {
            RegexEngine::Java => error,
            RegexEngine::Joni => {
                Error::new(Exception::JoniSyntax, error.message()).with_source(error)
            }
        })?;
        Ok(Self { pattern: pattern.to_owned(), flags, engine, is_latin1: false, regex })
    }

    /// Reads text as `ISO-8859-1`, in which every byte is a character, instead of UTF-8. This is
    /// for patterns over bytes.
    #[must_use]
    pub fn over_latin1(self) -> Self {
        Self { is_latin1: true, ..self }
    }

    /// Whether text is read as `ISO-8859-1`.
    pub fn is_over_latin1(&self) -> bool {
        self.is_latin1
    }

    /// The original pattern.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The original flags.
    pub fn flags(&self) -> RegexFlags {
        self.flags
    }

    /// The requested engine.
    pub fn engine(&self) -> RegexEngine {
        self.engine
    }

    /// Whether the pattern matches somewhere in `bytes`, read as UTF-8. Invalid UTF-8 is read as
    /// replacement characters; only then are the bytes copied.
    pub fn is_found_in(&self, bytes: &[u8]) -> bool {
        if self.is_latin1 && !bytes.is_ascii() {
            let text: String = bytes.iter().copied().map(char::from).collect();
            return self.regex.is_match(&text);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => self.regex.is_match(text),
            Err(_) => self.regex.is_match(&String::from_utf8_lossy(bytes)),
        }
    }
}

impl PartialEq for RegexString {
    fn eq(&self, other: &Self) -> bool {
        (&self.pattern, self.flags, self.engine, self.is_latin1)
            == (&other.pattern, other.flags, other.engine, other.is_latin1)
    }
}

impl Eq for RegexString {}

impl fmt::Debug for RegexString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegexString")
            .field("pattern", &self.pattern)
            .field("flags", &self.flags.0)
            .field("engine", &self.engine)
            .finish()
    }
}

fn compile(pattern: &str, flags: RegexFlags) -> Result<::regex::Regex> {
    let translated = translate::translate(pattern, flags)?;
    ::regex::Regex::new(&translated).map_err(|error| {
        let what = match error {
            ::regex::Error::CompiledTooBig(_) => "Pattern too large",
            _ => "Unknown character property or nesting too deep",
        };
        syntax_error(what, pattern, None).with_source(error)
    })
}

/// A `PatternSyntaxException` with Java's layout of the message.
fn syntax_error(what: &str, pattern: &str, index: Option<usize>) -> Error {
    let message = match index {
        Some(index) => {
            // Java marks no place behind the pattern.
            let is_within = index < pattern.chars().count();
            let mark = if is_within { format!("\n{}^", " ".repeat(index)) } else { String::new() };
            format!("{what} near index {index}\n{pattern}{mark}")
        }
        None => format!("{what}\n{pattern}"),
    };
    Error::new(Exception::PatternSyntax, message)
}

#[cfg(test)]
mod tests;
