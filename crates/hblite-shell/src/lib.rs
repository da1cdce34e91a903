//! HBase's shell as a library: a line in, text out.
//!
//! ```
//! use hblite_shell::{NoLines, Outcome, Shell, ShellOptions};
//!
//! let connection = hblite::open_in_memory()?;
//! let mut shell = Shell::new(connection, Box::new(std::io::sink()), ShellOptions::default());
//! let outcome = shell.run_line("create 't', {NAME => 'f', VERSIONS => 3}", &mut NoLines)?;
//! assert!(matches!(outcome, Outcome::Done));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The language
//!
//! The part of Ruby that HBase's shell users write: commands with or without parentheses, strings
//! (`'a'`, `"\x00"`, `"row#{i}"`), numbers, symbols, ranges, arrays, hashes with `=>` with or
//! without braces, bare constants (`STARTROW`, `LIMIT`), variables (`t = get_table 't'`),
//! operators, `if`, `unless`, `case`, `while`, `for`, blocks, `def`, `begin` with `rescue`, the
//! usual methods of texts, numbers, arrays and hashes, and methods of what commands return
//! (`locate_region('t', 'r').getRegion.getEncodedName`). Of Java's names there are `Bytes`,
//! `HConstants`, `MD5Hash`, and constructors of filters and comparators
//! (`org.apache.hadoop.hbase.filter.PrefixFilter.new(Bytes.toBytes('a'))`). The grammar is in
//! `parser`, and the limits are in `shell::evaluate`: values are copied rather than shared, whole
//! numbers have 64 bits, and there are no classes, lambdas or random numbers.
//!
//! Three things go beyond HBase's shell: typographic quotes are quotes, a pasted prompt (`hbase> `)
//! is skipped, and [script directives](Shell::run_script) are comments with a meaning.
//!
//! # The layers
//!
//! `lexer` → `parser` → `shell` (evaluates with `method` and `kernel`, runs commands, prints
//! results and errors) → `command` (one function and one help text each) → the client API of
//! [`hblite`], and nothing below that. `format` prints.

#![forbid(unsafe_code)]

mod ast;
mod command;
mod constants;
mod error;
mod format;
mod kernel;
mod lexer;
mod lines;
mod method;
mod object;
mod options;
mod parser;
mod script;
mod shell;
mod value;

pub use constants::CONSTANTS;
pub use error::ScriptError;
pub use format::Format;
pub use lines::{Lines, NoLines, ReadLines};
pub use object::Object;
pub use options::{Progress, ShellOptions};
pub use script::{ScriptOptions, ScriptReport};
pub use shell::{Outcome, Shell};

/// The names of all commands, for completion.
pub fn command_names() -> impl Iterator<Item = &'static str> {
    command::all()
        .flat_map(|command| std::iter::once(command.name).chain(command.aliases.iter().copied()))
}
