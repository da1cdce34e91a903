//! Scripts: many lines, their directives, and what stops them.

use std::collections::BTreeSet;
use std::io;

use crate::error::ScriptError;
use crate::format::Format;
use crate::lines::Lines;
use crate::parser::{ends_in_string, opening_of};
use crate::shell::{Outcome, Shell};

/// The class of what is wrong with a script itself, as Ruby has it.
const SCRIPT_ERROR: &str = "ScriptError";
/// The maximum number of lines in a statement: each new line parses the statement again.
const STATEMENT_LINES_MAX: u64 = 2_000;
/// The maximum number of bytes of a statement, for the same reason.
const STATEMENT_SIZE_MAX: usize = 1 << 20;

/// How a script is run.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ScriptOptions {
    /// Whether the script continues after an error.
    pub keep_going: bool,
    /// Whether each line is printed before its output.
    pub echo: bool,
}

impl ScriptOptions {
    /// Sets [`keep_going`](ScriptOptions::keep_going).
    #[must_use]
    pub fn with_keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Sets [`echo`](ScriptOptions::echo).
    #[must_use]
    pub fn with_echo(mut self, echo: bool) -> Self {
        self.echo = echo;
        self
    }
}

/// How a script that was not stopped by an error ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScriptReport {
    /// Statements that failed, with [`ScriptOptions::keep_going`].
    pub failures: u64,
    /// The status that `exit` was called with.
    pub exit: Option<i32>,
}

impl Shell {
    /// `line` without a prompt that was pasted with it: `hbase> `, `hbase(main):001:0> `,
    /// `hbase:001:0> `. `pending` is the unfinished statement before it; if that ends inside a
    /// string, the line belongs to the string and is not changed.
    pub fn strip_prompt<'a>(&self, line: &'a str, pending: &str) -> &'a str {
        let stripped = without_prompt(line);
        let is_changed = stripped.len() < line.len();
        if is_changed && ends_in_string(pending, self.names()) { line } else { stripped }
    }
}

fn without_prompt(line: &str) -> &str {
    let text = line.trim_start();
    let Some(rest) = text.strip_prefix("hbase") else {
        return line;
    };
    let rest = match rest.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
        Some((_, rest)) => rest,
        None => rest,
    };
    let rest = rest.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
    rest.strip_prefix(['>', '*'])
        .map_or(line, |command| command.strip_prefix(' ').unwrap_or(command))
}

/// What a directive says about the next statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Expectation {
    #[default]
    Success,
    /// It must fail.
    Error,
    /// It may fail.
    Any,
}

impl Shell {
    /// Runs the lines of a script up to its end, an `exit`, or the first statement that fails.
    ///
    /// A failing statement's message is in the error that is returned; with
    /// [`ScriptOptions::keep_going`], and where a directive allows it to fail, it is printed as an
    /// interactive shell prints it. If a command asks a question, as `drop_all` does, the next line
    /// answers it. A line `#: …` is a directive; to HBase's shell it is a comment:
    ///
    /// | directive | meaning |
    /// |---|---|
    /// | `#: echo` | print each line before its output, from here on |
    /// | `#: expect-error` | the next statement must fail; its error is printed |
    /// | `#: allow-error` | the next statement may fail |
    /// | `#: keep-going` | continue after errors, from here on |
    ///
    /// In [`Format::Json`](crate::Format::Json), every error is printed.
    ///
    /// # Errors
    /// [`ScriptError`] with the line where the statement begins.
    pub fn run_script(
        &mut self,
        lines: &mut dyn Lines,
        options: ScriptOptions,
    ) -> Result<ScriptReport, ScriptError> {
        let runner = Runner {
            shell: self,
            lines: Counted { lines, count: 0 },
            options,
            expectation: Expectation::default(),
            report: ScriptReport::default(),
        };
        let result = runner.run();
        self.prints_errors = true;
        self.script_line = None;
        let report = result.map_err(|error| self.printed(error))?;
        // Comments that were echoed after the last statement.
        self.out.flush().map_err(|source| io_error(0, source))?;
        Ok(report)
    }

    /// The error of a script, printed if it is to be.
    fn printed(&mut self, error: ScriptError) -> ScriptError {
        if error.is_printed || error.source.is_some() || self.out.format() != Format::Json {
            return error;
        }
        let printed = self.print_error_object(SCRIPT_ERROR, &error.message, Some(error.line), None);
        match printed {
            Ok(()) => ScriptError { is_printed: true, ..error },
            Err(source) => io_error(error.line, source),
        }
    }
}

/// Lines and how many were read.
struct Counted<'a> {
    lines: &'a mut dyn Lines,
    count: u64,
}

impl Lines for Counted<'_> {
    fn next_line(&mut self) -> io::Result<Option<String>> {
        let line = self.lines.next_line()?;
        self.count += u64::from(line.is_some());
        Ok(line)
    }
}

struct Runner<'a> {
    shell: &'a mut Shell,
    lines: Counted<'a>,
    options: ScriptOptions,
    expectation: Expectation,
    report: ScriptReport,
}

impl Runner<'_> {
    fn run(mut self) -> Result<ScriptReport, ScriptError> {
        while let Some(line) = self.next_line()? {
            let start = self.lines.count;
            if let Some(directive) = line.trim().strip_prefix("#:") {
                self.direct(directive.trim())?;
                continue;
            }
            self.echo(&line, "")?;
            let text = without_prompt(&line);
            if text.trim().is_empty() || text.trim_start().starts_with('#') {
                continue;
            }
            let outcome = self.run_statement(text.to_owned(), start)?;
            if let Outcome::Exit(status) = outcome {
                return Ok(ScriptReport { exit: Some(status), ..self.report });
            }
            self.judge(outcome, start)?;
        }
        Ok(self.report)
    }

    fn next_line(&mut self) -> Result<Option<String>, ScriptError> {
        let at = self.lines.count + 1;
        self.lines.next_line().map_err(|source| io_error(at, source))
    }

    fn direct(&mut self, directive: &str) -> Result<(), ScriptError> {
        match directive {
            "echo" => self.options.echo = true,
            "keep-going" => self.options.keep_going = true,
            "expect-error" => self.expectation = Expectation::Error,
            "allow-error" => self.expectation = Expectation::Any,
            unknown => {
                let message = format!(
                    "unknown directive '#: {unknown}'; the directives are echo, keep-going, \
                     expect-error and allow-error"
                );
                return Err(error(self.lines.count, message));
            }
        }
        Ok(())
    }

    fn echo(&mut self, line: &str, pending: &str) -> Result<(), ScriptError> {
        if !self.options.echo {
            return Ok(());
        }
        let text = self.shell.strip_prompt(line, pending);
        let is_comment = text.trim().is_empty() || text.trim_start().starts_with('#');
        let pending_lines = pending.lines().count();
        let prompt = if is_comment { String::new() } else { self.shell.prompt(pending_lines) };
        let at = self.lines.count;
        self.shell.out.line(&format!("{prompt}{text}")).map_err(|source| io_error(at, source))
    }

    /// Runs the statement that begins with `source`, reading the lines that complete it.
    fn run_statement(&mut self, mut source: String, start: u64) -> Result<Outcome, ScriptError> {
        self.shell.script_line = Some(start);
        self.shell.prints_errors = self.options.keep_going
            || self.expectation != Expectation::Success
            || self.shell.out.format() == Format::Json;
        loop {
            let outcome = self
                .shell
                .run_line(&source, &mut self.lines)
                .map_err(|source| io_error(start, source))?;
            if outcome != Outcome::Incomplete {
                return Ok(outcome);
            }
            if self.lines.count - start >= STATEMENT_LINES_MAX {
                let size = format!("{STATEMENT_LINES_MAX} lines");
                return Err(too_long(&source, self.shell.names(), start, &size));
            }
            let Some(line) = self.next_line()? else {
                let given_up = self.shell.give_up(&source);
                return given_up.map_err(|source| io_error(start, source));
            };
            if source.len() + line.len() >= STATEMENT_SIZE_MAX {
                let size = format!("{STATEMENT_SIZE_MAX} bytes on several lines");
                return Err(too_long(&source, self.shell.names(), start, &size));
            }
            self.echo(&line, &source)?;
            let text = self.shell.strip_prompt(&line, &source).to_owned();
            source.push('\n');
            source.push_str(&text);
        }
    }

    fn judge(&mut self, outcome: Outcome, start: u64) -> Result<(), ScriptError> {
        let expectation = std::mem::take(&mut self.expectation);
        if self.shell.is_interrupted() {
            return Err(error(start, "interrupted".to_owned()));
        }
        match (outcome, expectation) {
            (Outcome::Failed(message), Expectation::Success) => {
                if !self.options.keep_going {
                    let is_printed = self.shell.out.format() == Format::Json;
                    return Err(ScriptError { is_printed, ..error(start, message) });
                }
                self.report.failures += 1;
            }
            (Outcome::Done, Expectation::Error) => {
                return Err(error(start, "an error was expected, and there was none".to_owned()));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Refuses the unfinished statement `source`, which begins on the line `start`.
fn too_long(source: &str, variables: BTreeSet<String>, start: u64, size: &str) -> ScriptError {
    let what_is_open = match opening_of(source, variables.clone()) {
        Some(at) => {
            let line = start + source[..at].matches('\n').count() as u64;
            let opening = match source[at..].chars().next() {
                Some(bracket @ ('(' | '[' | '{')) if !ends_in_string(source, variables.clone()) => {
                    format!("the '{bracket}'")
                }
                _ => "the quote".to_owned(),
            };
            format!(": {opening} of line {line} is not closed")
        }
        None => String::new(),
    };
    error(start, format!("a statement of more than {size}{what_is_open}"))
}

fn error(line: u64, message: String) -> ScriptError {
    ScriptError { line, message, is_printed: false, source: None }
}

fn io_error(line: u64, source: io::Error) -> ScriptError {
    ScriptError { line, message: source.to_string(), is_printed: false, source: Some(source) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_prompts_are_skipped() {
        for line in ["list", "hbase> list", "  hbase>list", "hbase(main):001:0> list"] {
            assert_eq!(without_prompt(line), "list");
        }
        for line in ["hbase = 1", "hbasex> a", "scan 'hbase> '"] {
            assert_eq!(without_prompt(line), line);
        }
    }
}
