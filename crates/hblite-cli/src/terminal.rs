//! Features of a terminal: line editing, history, completion, colors, progress.
//!
//! Standard output belongs to results; progress is shown on standard error, and only if that is a
//! terminal. Both may be one terminal, so the progress line is removed while results are printed.

use std::cell::Cell;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hblite::Connection;
use hblite_shell::{CONSTANTS, Lines, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Helper};

use crate::completion::{complete, names};

/// Maximum number of lines of history.
const HISTORY_LENGTH_MAX: usize = 1_000;
/// Shorter commands show no progress.
const DELAY: Duration = Duration::from_secs(1);

/// Whether the user lets programs print colors (<https://no-color.org>).
pub(crate) fn color_is_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Columns of the terminal at standard output.
pub(crate) fn width() -> Option<usize> {
    let terminal = console::Term::stdout();
    terminal.size_checked().map(|(_, columns)| usize::from(columns))
}

/// What the user typed.
pub(crate) enum Input {
    Line(String),
    /// Ctrl-C: discards an unfinished statement.
    Interrupted,
    /// Ctrl-D.
    End,
}

/// Reads lines from the terminal.
pub(crate) struct Editor {
    editor: rustyline::Editor<Words, DefaultHistory>,
    history: Option<PathBuf>,
}

impl Editor {
    /// An editor with the history of earlier shells, which completes names of the store.
    pub(crate) fn new(connection: Connection) -> io::Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY_LENGTH_MAX)
            .and_then(|builder| builder.history_ignore_dups(true))
            .map_err(io::Error::other)?
            .completion_type(CompletionType::List)
            .build();
        let mut editor = rustyline::Editor::with_config(config).map_err(io::Error::other)?;
        editor.set_helper(Some(Words { connection, is_colored: color_is_wanted() }));
        let history = history_path();
        if let Some(path) = &history {
            // Ignored: there is no history before the first shell.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history })
    }

    /// Adds a statement to the history, and immediately to the file, since a shell may be killed.
    pub(crate) fn remember(&mut self, statement: &str) {
        // False if it is empty or the same as before.
        let is_new = self.editor.add_history_entry(statement).unwrap_or_default();
        if is_new && let Some(path) = &self.history {
            // A full disk or a read-only home is not worth a message. Only the owner can read the
            // file.
            let _ = self.editor.append_history(path);
        }
    }

    /// A line typed after `prompt`.
    pub(crate) fn read(&mut self, prompt: &str) -> io::Result<Input> {
        match self.editor.readline(prompt) {
            Ok(line) => Ok(Input::Line(line)),
            Err(ReadlineError::Interrupted) => Ok(Input::Interrupted),
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

/// Answers to questions are typed too.
impl Lines for Editor {
    fn next_line(&mut self) -> io::Result<Option<String>> {
        Ok(match self.read("")? {
            Input::Line(line) => Some(line),
            Input::Interrupted | Input::End => None,
        })
    }
}

/// The path of the history: `HBLITE_HISTORY`, or a file in the home directory.
fn history_path() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("HBLITE_HISTORY") {
        return Some(PathBuf::from(path)).filter(|path| !path.as_os_str().is_empty());
    }
    std::env::home_dir().map(|home| home.join(".hblite_history"))
}

/// Completes words, and colors strings and constants.
struct Words {
    connection: Connection,
    is_colored: bool,
}

impl Helper for Words {}
impl Validator for Words {}

impl Hinter for Words {
    type Hint = String;
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(&line[..position], |wanted| names(&self.connection, wanted)))
    }
}

impl Highlighter for Words {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> std::borrow::Cow<'l, str> {
        if self.is_colored { colored(line).into() } else { line.into() }
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.is_colored
    }
}

/// `line` with strings in green and constants in cyan.
fn colored(line: &str) -> String {
    let mut text = String::with_capacity(line.len() + 32);
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (length, color) = match first {
            '\'' | '"' => (string_length(rest, first), "32"),
            c if c.is_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                let length = end.unwrap_or(rest.len());
                let is_constant = CONSTANTS.binary_search(&&rest[..length]).is_ok();
                (length, if is_constant { "36" } else { "" })
            }
            c => (c.len_utf8(), ""),
        };
        let (part, after) = rest.split_at(length);
        match color {
            "" => text.push_str(part),
            color => text.push_str(&format!("\x1b[{color}m{part}\x1b[0m")),
        }
        rest = after;
    }
    text
}

/// Length of the string at the start of `text`, up to the end of the line if it is not closed.
fn string_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// The number of rows so far, on standard error, for commands that take long.
#[derive(Clone)]
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    /// Whether the line is on the terminal; shared with [`Screen`].
    is_shown: Rc<Cell<bool>>,
    /// When the first rows of the running count or scan appeared.
    start: Option<Instant>,
}

impl ProgressLine {
    /// A line that shows nothing yet, and never does if standard error is not a terminal.
    pub(crate) fn new() -> Self {
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(5)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} rows, {per_sec}") {
            bar.set_style(style);
        }
        Self { bar, is_shown: Rc::default(), start: None }
    }
}

impl Progress for ProgressLine {
    fn rows(&mut self, count: u64) {
        let start = *self.start.get_or_insert_with(Instant::now);
        if start.elapsed() >= DELAY {
            self.is_shown.set(true);
            self.bar.set_position(count);
        }
    }

    fn end(&mut self) {
        self.start = None;
        if self.is_shown.take() {
            self.bar.finish_and_clear();
            self.bar.reset();
        }
    }
}

/// Standard output, which clears the progress line before it prints.
pub(crate) struct Screen {
    progress: ProgressLine,
    is_terminal: bool,
    buffer: io::BufWriter<io::Stdout>,
}

impl Screen {
    pub(crate) fn new(progress: ProgressLine) -> Self {
        let is_terminal = io::stdout().is_terminal();
        Self { progress, is_terminal, buffer: io::BufWriter::new(io::stdout()) }
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.buffer.write(bytes);
        }
        // Line by line, so that rows appear when they are found.
        self.buffer.write_all(bytes)?;
        if bytes.ends_with(b"\n") {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.progress.is_shown.get() {
            self.progress.bar.suspend(|| self.buffer.flush())
        } else {
            self.buffer.flush()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_strings_and_constants() {
        assert_eq!(
            colored("get 't\\'', LIMIT => NOPE, \"x"),
            "get \x1b[32m't\\''\x1b[0m, \x1b[36mLIMIT\x1b[0m => NOPE, \x1b[32m\"x\x1b[0m"
        );
    }
}
