//! Evaluates lines and prints the results.
//!
//! Every command prints its output, then how long it took; a value that is left at the end of a
//! statement is printed after `=>`. A command that is nested in another one's arguments runs and
//! prints first. An error ends the line, unless the script catches it.

mod evaluate;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hblite::Connection;

use self::evaluate::Scope;
use crate::ast::{Definition, Expression};
use crate::command::{self, Arguments, Command, Context, help};
use crate::error::{self, Failure, SyntaxError};
use crate::format::{Format, Output};
use crate::kernel;
use crate::lines::Lines;
use crate::object::Object;
use crate::options::ShellOptions;
use crate::parser::parse;
use crate::value::Value;

/// The outcome of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// Everything was done.
    Done,
    /// An error, which was printed; this is its message, with the position in the text for a syntax
    /// error.
    Failed(String),
    /// More lines are needed: brackets or quotes are open. Nothing was done.
    Incomplete,
    /// `exit` was called with this status.
    Exit(i32),
}

/// A shell on an open store. Used by one thread.
pub struct Shell {
    connection: Connection,
    pub(crate) out: Output,
    options: ShellOptions,
    pub(crate) scope: Scope,
    /// Methods that were defined.
    pub(crate) methods: BTreeMap<String, Rc<Definition>>,
    /// Classes of Java by the names under which they were imported.
    pub(crate) imports: BTreeMap<String, String>,
    /// Expressions that are being evaluated, each within the one before.
    pub(crate) depth: usize,
    /// Expressions that the statement has evaluated.
    pub(crate) steps: u64,
    /// Whether the value of the next expression is dropped.
    pub(crate) is_dropped: bool,
    /// What was added to values since one was weighed.
    pub(crate) added_bytes: usize,
    /// Lines read so far, for prompts and messages.
    line_number: u64,
    /// The line of a script on which the running statement begins, counted from 1.
    pub(crate) script_line: Option<u64>,
    /// Whether errors are printed; a script that stops at its first error returns it instead.
    pub(crate) prints_errors: bool,
}

impl fmt::Debug for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shell").field("connection", &self.connection).finish_non_exhaustive()
    }
}

impl Shell {
    /// A shell that prints to `output`.
    pub fn new(connection: Connection, output: Box<dyn Write>, mut options: ShellOptions) -> Self {
        let errors = std::mem::replace(&mut options.errors, Box::new(io::sink()));
        let out = Output::new(output, options.width, options.is_colored);
        Self {
            connection,
            out: out.with_format(options.format, errors),
            options,
            scope: Scope::default(),
            methods: BTreeMap::new(),
            imports: BTreeMap::new(),
            depth: 0,
            steps: 0,
            is_dropped: false,
            added_bytes: 0,
            line_number: 0,
            script_line: None,
            prints_errors: true,
        }
    }

    /// The greeting of an interactive shell.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn print_banner(&mut self) -> io::Result<()> {
        self.out.line("HBase Shell")?;
        self.out.line("Use \"help\" to get list of supported commands.")?;
        self.out.line("Use \"exit\" to quit this interactive shell.")?;
        self.out.line(&format!("Version {}", help::version()))?;
        self.out.line("")?;
        self.out.flush()
    }

    /// The prompt for the next line; `pending` is the number of lines of the unfinished statement
    /// before it.
    pub fn prompt(&self, pending: usize) -> String {
        let end = if pending > 0 { '*' } else { '>' };
        format!("hbase:{:03}:0{end} ", self.line_number + 1 + pending as u64)
    }

    /// Changes the width of the terminal.
    pub fn set_width(&mut self, width: Option<usize>) {
        self.out.set_width(width);
    }

    /// Runs one statement or several. `answers` supplies the lines that a command asks for.
    ///
    /// # Errors
    /// The output cannot be written. Errors of commands are [`Outcome::Failed`].
    pub fn run_line(&mut self, source: &str, answers: &mut dyn Lines) -> io::Result<Outcome> {
        let result = match self.parse(source) {
            Err(error) if error.is_incomplete() => return Ok(Outcome::Incomplete),
            Err(error) => Err(error.explain(source, self.first_line())),
            Ok(statements) => self.run_statements(&statements, answers),
        };
        self.count_lines(source);
        let outcome = match result {
            Ok(()) => Outcome::Done,
            Err(failure) => self.report(failure)?,
        };
        self.out.flush()?;
        Ok(outcome)
    }

    /// Whether `source` is complete: [`Shell::run_line`] runs it, or reports what is wrong with it.
    pub fn is_complete(&self, source: &str) -> bool {
        !self.parse(source).is_err_and(|error| error.is_incomplete())
    }

    /// Discards an unfinished statement and prints what is missing.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn give_up(&mut self, source: &str) -> io::Result<Outcome> {
        let Err(error) = self.parse(source) else {
            return Ok(Outcome::Done);
        };
        let failure = error.explain(source, self.first_line());
        self.count_lines(source);
        self.report(failure)
    }

    /// The variables that a line may name.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.scope.names()
    }

    fn parse(&self, source: &str) -> Result<Vec<Expression>, SyntaxError> {
        parse(source, self.names())
    }

    fn first_line(&self) -> u64 {
        self.script_line.unwrap_or(self.line_number + 1)
    }

    fn count_lines(&mut self, source: &str) {
        self.line_number += source.lines().count().max(1) as u64;
    }

    /// Prints a failure, if errors are printed, and returns the outcome of the line.
    fn report(&mut self, failure: Failure) -> io::Result<Outcome> {
        let (class, message, line, picture) = match failure {
            Failure::Exit(status) => return Ok(Outcome::Exit(status)),
            Failure::Output(error) => return Err(error),
            // Printed by the command that failed, before its time.
            Failure::Command { message, .. } => return Ok(Outcome::Failed(message)),
            Failure::Interrupted => {
                self.print_command_error(&failure)?;
                return Ok(Outcome::Failed("interrupted".to_owned()));
            }
            Failure::Break(_) | Failure::Next(_) | Failure::Return(_) => {
                let message = "there is no loop, block or method to leave here".to_owned();
                ("LocalJumpError".into(), message, None, None)
            }
            Failure::Ruby { class, message, line, picture } => (class, message, line, picture),
        };
        if self.prints_errors && self.out.format() == Format::Json {
            self.print_error_object(&class, &message, line, None)?;
        } else if self.prints_errors {
            let place = line.map(|line| format!("(hbase):{line}: ")).unwrap_or_default();
            self.out.traceback(&class, &format!("{place}{message}"), picture.as_deref())?;
        }
        let picture = picture.map(|picture| format!("\n{picture}")).unwrap_or_default();
        Ok(Outcome::Failed(format!("{class}: {message}{picture}")))
    }

    pub(crate) fn print_error_object(
        &mut self,
        class: &str,
        message: &str,
        line: Option<u64>,
        command: Option<&str>,
    ) -> io::Result<()> {
        let mut object = Object::new("error").with("class", class).with("message", message);
        if let Some(command) = command.filter(|command| !command.is_empty()) {
            object = object.with("command", command);
        }
        if let Some(line) = line.or(self.script_line) {
            object = object.with("line", line);
        }
        self.out.error_object(object)
    }

    fn run_statements(
        &mut self,
        statements: &[Expression],
        answers: &mut dyn Lines,
    ) -> Result<(), Failure> {
        for (at, statement) in statements.iter().enumerate() {
            if self.is_interrupted() {
                return Err(Failure::Interrupted);
            }
            (self.depth, self.steps) = (0, 0);
            self.out.object_count = 0;
            let value = self.evaluate(statement, answers);
            self.scope.reset();
            let value = value?;
            match self.out.format() {
                _ if matches!(value, Value::Nil) => {}
                // What a command has printed says more than what it returns.
                Format::Json if self.out.object_count > 0 => {}
                Format::Json => {
                    self.out.object(Object::new("value").with("value", value.to_json()))?;
                }
                // As Ruby's console, the value of a line is that of its last statement.
                Format::Text | Format::Csv if at + 1 < statements.len() => {}
                Format::Text | Format::Csv => self.out.line(&format!("=> {}", value.inspect()))?,
            }
        }
        Ok(())
    }

    /// Whether the running command should end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.options.interrupt.load(Ordering::Relaxed)
    }

    /// Anything but a command: no time is printed.
    pub(crate) fn builtin(
        &mut self,
        name: &str,
        is_call: bool,
        values: &[Value],
    ) -> Result<Value, Failure> {
        match name {
            "exit" | "quit" => Err(Failure::Exit(match values.first() {
                Some(Value::Integer(status)) => i32::try_from(*status).unwrap_or(1),
                Some(Value::Bool(false)) => 1,
                _ => 0,
            })),
            "sleep" => {
                let seconds = match values.first() {
                    Some(Value::Integer(seconds)) => *seconds as f64,
                    Some(Value::Float(seconds)) => *seconds,
                    _ => return Err(Failure::command("sleep takes a number of seconds")),
                };
                let duration = Duration::try_from_secs_f64(seconds)
                    .map_err(|_| Failure::command("time interval must not be negative"))?;
                self.out.flush()?;
                (self.options.sleep)(duration);
                if self.is_interrupted() {
                    return Err(Failure::Interrupted);
                }
                Ok(Value::Integer(seconds.round() as i64))
            }
            "help" => self.help(values.first().unwrap_or(&Value::Nil)),
            "tools" => self.help(&Value::from("tools")),
            "puts" => {
                let lines = flat(values);
                if values.is_empty() {
                    self.out.line("")?;
                }
                for line in lines {
                    self.out.line(&line.to_text())?;
                }
                Ok(Value::Nil)
            }
            name => match kernel::call(name, values)? {
                Some(kernel::Answer::Value(value)) => Ok(value),
                Some(kernel::Answer::Text(bytes)) => {
                    self.out.raw(&bytes)?;
                    Ok(Value::Nil)
                }
                None => Err(evaluate::undefined_name(name, is_call)),
            },
        }
    }

    /// The time of the store, in milliseconds.
    pub(crate) fn now_millis(&self) -> i64 {
        self.connection.now_millis()
    }

    pub(crate) fn help(&mut self, topic: &Value) -> Result<Value, Failure> {
        let topic = topic.is_truthy().then(|| topic.to_text());
        self.out.line(&help::text(topic.as_deref()))?;
        Ok(Value::Nil)
    }

    pub(crate) fn run_command(
        &mut self,
        command: &Command,
        values: Vec<Value>,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        let start = Instant::now();
        let arguments = Arguments::new(values);
        let subject = arguments.subject();
        let result = command.check_arity(arguments.len()).and_then(|()| {
            let mut context = Context {
                connection: &self.connection,
                out: &mut self.out,
                answers,
                options: &mut self.options,
            };
            (command.run)(&mut context, arguments)
        });
        if let Some(progress) = &mut self.options.progress {
            progress.end();
        }
        let result = result.map_err(|failure| {
            let (class, message) = match failure {
                command::Failure::Refused(message) => ("ArgumentError".to_owned(), message),
                command::Failure::Store(error) => {
                    (error::class_of(&error), error::describe(&error, &subject))
                }
                command::Failure::Output(error) => return Failure::Output(error),
                command::Failure::Interrupted => return Failure::Interrupted,
            };
            Failure::Command { class, message, command: command.name }
        });
        if let Err(failure) = &result
            && self.prints_errors
        {
            self.print_command_error(failure)?;
        }
        self.out.took(start.elapsed())?;
        result.map_err(|failure| match failure {
            Failure::Interrupted => Failure::command("interrupted"),
            failure => failure,
        })
    }

    /// Prints the error of a command, if errors are printed.
    pub(crate) fn print_command_error(&mut self, failure: &Failure) -> io::Result<()> {
        let is_json = self.out.format() == Format::Json;
        match failure {
            _ if !self.prints_errors => Ok(()),
            Failure::Command { class, message, command } if is_json => {
                self.print_error_object(class, message, None, Some(command))
            }
            Failure::Command { message, command, .. } => self.out.error(message, command),
            Failure::Interrupted if is_json => {
                self.print_error_object("Interrupt", "interrupted", None, None)
            }
            Failure::Interrupted => self.out.interrupted(),
            _ => Ok(()),
        }
    }
}

/// The values with the items of arrays in place of the arrays, as `puts` prints them.
fn flat(values: &[Value]) -> Vec<&Value> {
    let mut all = Vec::new();
    for value in values {
        match value {
            Value::Array(items) => all.extend(flat(items)),
            value => all.push(value),
        }
    }
    all
}
