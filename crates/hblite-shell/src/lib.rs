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
//! The part of Ruby that HBase's shell users type: commands with or without parentheses, strings
//! (`'a'`, `"\x00"`), numbers, symbols, arrays, hashes with `=>` with or without braces, bare
//! constants (`STARTROW`, `LIMIT`), variables (`t = get_table 't'`), and methods of what commands
//! return (`locate_region('t', 'r').getRegion.getEncodedName`). Three things go beyond HBase's
//! shell: typographic quotes are quotes, a pasted prompt (`hbase> `) is skipped, and [script
//! directives](Shell::run_script) are comments with a meaning.
//!
//! # The layers
//!
//! `lexer` → `parser` → `shell` (evaluates, prints results and errors) → `command` (one function
//! and one help text each) → the client API of [`hblite`], and nothing below that. `format` prints.

#![forbid(unsafe_code)]

mod command;
mod constants;
mod error;
mod format;
mod lexer;
mod lines;
mod options;
mod parser;
mod script;
mod shell;
mod value;

pub use constants::CONSTANTS;
pub use error::ScriptError;
pub use lines::{Lines, NoLines, ReadLines};
pub use options::{Progress, ShellOptions};
pub use script::{ScriptOptions, ScriptReport, strip_prompt};
pub use shell::{Outcome, Shell};

/// The names of all commands, for completion.
pub fn command_names() -> impl Iterator<Item = &'static str> {
    command::all()
        .flat_map(|command| std::iter::once(command.name).chain(command.aliases.iter().copied()))
}
