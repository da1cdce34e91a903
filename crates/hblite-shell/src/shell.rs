//! Evaluates lines and prints the results.
//!
//! Every command prints its output, then how long it took; a value that is left at the end of a
//! statement is printed after `=>`. A command that is nested in another one's arguments runs and
//! prints first. An error ends the line.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hblite::{Connection, RegionLocation};

use crate::command::{self, Arguments, Command, Context, help};
use crate::constants;
use crate::error::{self, Failure};
use crate::format::Output;
use crate::lines::Lines;
use crate::options::ShellOptions;
use crate::parser::{Call, Expression, parse};
use crate::value::{Hash, Value};

/// The end of Ruby's message for a name that the shell does not have.
const RECEIVER: &str = " for #<HBaseReceiver>";

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
    variables: BTreeMap<String, Value>,
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
    pub fn new(connection: Connection, output: Box<dyn Write>, options: ShellOptions) -> Self {
        Self {
            connection,
            out: Output::new(output, options.width, options.is_colored),
            options,
            variables: BTreeMap::new(),
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
        let result = match parse(source) {
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
    pub fn is_complete(source: &str) -> bool {
        !parse(source).is_err_and(|error| error.is_incomplete())
    }

    /// Discards an unfinished statement and prints what is missing.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn give_up(&mut self, source: &str) -> io::Result<Outcome> {
        let Err(error) = parse(source) else {
            return Ok(Outcome::Done);
        };
        let failure = error.explain(source, self.first_line());
        self.count_lines(source);
        self.report(failure)
    }

    fn first_line(&self) -> u64 {
        self.script_line.unwrap_or(self.line_number + 1)
    }

    fn count_lines(&mut self, source: &str) {
        self.line_number += source.lines().count().max(1) as u64;
    }

    /// Prints a failure, if errors are printed, and returns the outcome of the line.
    fn report(&mut self, failure: Failure) -> io::Result<Outcome> {
        match failure {
            Failure::Exit(status) => Ok(Outcome::Exit(status)),
            Failure::Output(error) => Err(error),
            // Printed by the command that failed, before its time.
            Failure::Command(message) => Ok(Outcome::Failed(message)),
            Failure::Ruby { class, message, line, picture } => {
                if self.prints_errors {
                    let place = line.map(|line| format!("(hbase):{line}: ")).unwrap_or_default();
                    self.out.traceback(class, &format!("{place}{message}"), picture.as_deref())?;
                }
                let picture = picture.map(|picture| format!("\n{picture}")).unwrap_or_default();
                Ok(Outcome::Failed(format!("{class}: {message}{picture}")))
            }
            Failure::Interrupted => {
                if self.prints_errors {
                    self.out.interrupted()?;
                }
                Ok(Outcome::Failed("interrupted".to_owned()))
            }
        }
    }

    fn run_statements(
        &mut self,
        statements: &[Expression],
        answers: &mut dyn Lines,
    ) -> Result<(), Failure> {
        for statement in statements {
            if self.is_interrupted() {
                return Err(Failure::Interrupted);
            }
            let value = self.evaluate(statement, answers)?;
            if !matches!(value, Value::Nil) {
                self.out.line(&format!("=> {}", value.inspect()))?;
            }
        }
        Ok(())
    }

    fn evaluate(
        &mut self,
        expression: &Expression,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        Ok(match expression {
            Expression::Nil => Value::Nil,
            Expression::Bool(value) => Value::Bool(*value),
            Expression::Integer(value) => Value::Integer(*value),
            Expression::Float(value) => Value::Float(*value),
            Expression::String(bytes) => Value::String(bytes.clone()),
            Expression::Symbol(name) => Value::Symbol(name.clone()),
            Expression::Constant(name) => match constants::resolve(name) {
                Some(text) => Value::from(text),
                None => return Err(Failure::name_error(undefined_constant(name))),
            },
            Expression::Array(items) => Value::Array(self.evaluate_all(items, answers)?),
            Expression::Hash(pairs) => {
                let mut hash = Hash::default();
                for (key, value) in pairs {
                    let key = self.evaluate(key, answers)?;
                    hash.insert(key, self.operand(value, answers)?);
                }
                Value::Hash(hash)
            }
            Expression::Assign(name, value) => {
                let value = self.evaluate(value, answers)?;
                self.variables.insert(name.clone(), value.clone());
                value
            }
            Expression::Index(value, index) => {
                let value = self.evaluate(value, answers)?;
                let index = self.evaluate(index, answers)?;
                element(&value, &index)?
            }
            Expression::Call(call) => self.call(call, answers)?,
        })
    }

    /// Whether the running command should end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.options.interrupt.load(Ordering::Relaxed)
    }

    fn evaluate_all(
        &mut self,
        expressions: &[Expression],
        answers: &mut dyn Lines,
    ) -> Result<Vec<Value>, Failure> {
        expressions.iter().map(|expression| self.operand(expression, answers)).collect()
    }

    /// The value of an argument or of a part of one. A word that means nothing there was probably
    /// meant as a string, and the error says how to write it.
    fn operand(
        &mut self,
        expression: &Expression,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        self.evaluate(expression, answers).map_err(|failure| match (failure, expression.word()) {
            (Failure::Ruby { class, message, line, picture }, Some(word))
                if message == undefined_constant(word) || message.ends_with(RECEIVER) =>
            {
                let message = format!("{message}; a name or value needs quotes: '{word}'");
                Failure::Ruby { class, message, line, picture }
            }
            (failure, _) => failure,
        })
    }

    fn call(&mut self, call: &Call, answers: &mut dyn Lines) -> Result<Value, Failure> {
        let receiver = match &call.receiver {
            Some(receiver) => Some(self.evaluate(receiver, answers)?),
            None => None,
        };
        if let (None, None, Some(value)) =
            (&receiver, &call.arguments, self.variables.get(&call.name))
        {
            return Ok(value.clone());
        }
        let values = self.evaluate_all(call.arguments.as_deref().unwrap_or_default(), answers)?;
        match receiver {
            Some(Value::Table(table)) if help_or_method(&call.name).is_some() => {
                let mut arguments = vec![Value::Table(table)];
                arguments.extend(values);
                match help_or_method(&call.name) {
                    Some(Some(command)) => self.run_command(command, arguments, answers),
                    _ => self.help(arguments.get(1).unwrap_or(&Value::from("table_help"))),
                }
            }
            Some(receiver) => method(&receiver, &call.name, &values),
            None => match command::find(&call.name) {
                Some(command) => self.run_command(command, values, answers),
                None => self.builtin(call, &values),
            },
        }
    }

    /// Anything but a command: no time is printed.
    fn builtin(&mut self, call: &Call, values: &[Value]) -> Result<Value, Failure> {
        match call.name.as_str() {
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
            name if call.arguments.is_some() => {
                Err(Failure::no_method(format!("undefined method `{name}'{RECEIVER}")))
            }
            name => Err(Failure::name_error(format!(
                "undefined local variable or method `{name}'{RECEIVER}"
            ))),
        }
    }

    fn help(&mut self, topic: &Value) -> Result<Value, Failure> {
        let topic = topic.is_truthy().then(|| topic.to_text());
        self.out.line(&help::text(topic.as_deref()))?;
        Ok(Value::Nil)
    }

    fn run_command(
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
        let result = result.map_err(|failure| match failure {
            command::Failure::Refused(message) => Failure::Command(message),
            command::Failure::Store(error) => Failure::Command(error::describe(&error, &subject)),
            command::Failure::Output(error) => Failure::Output(error),
            command::Failure::Interrupted => Failure::Interrupted,
        });
        match &result {
            Err(Failure::Command(message)) if self.prints_errors => {
                self.out.error(message, command.name)?;
            }
            Err(Failure::Interrupted) if self.prints_errors => self.out.interrupted()?,
            _ => {}
        }
        self.out.took(start.elapsed())?;
        result.map_err(|failure| match failure {
            Failure::Interrupted => Failure::command("interrupted"),
            failure => failure,
        })
    }
}

fn undefined_constant(name: &str) -> String {
    format!("uninitialized constant HBaseReceiver::{name}")
}

/// The command that a table object has under this name; `Some(None)` is its help.
fn help_or_method(name: &str) -> Option<Option<&'static Command>> {
    if name == "help" {
        return Some(None);
    }
    command::find(name).filter(|command| command.is_table_method).map(Some)
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

fn element(value: &Value, index: &Value) -> Result<Value, Failure> {
    match (value, index) {
        (Value::Array(items), Value::Integer(index)) => {
            let at = if *index < 0 { index + items.len() as i64 } else { *index };
            let item = usize::try_from(at).ok().and_then(|at| items.get(at));
            Ok(item.cloned().unwrap_or(Value::Nil))
        }
        (Value::Hash(hash), key) => Ok(hash.get(&key.to_text()).cloned().unwrap_or(Value::Nil)),
        _ => Err(no_method("[]", value)),
    }
}

fn no_method(name: &str, receiver: &Value) -> Failure {
    let shown = match receiver {
        Value::Nil => "nil".to_owned(),
        other => other.inspect(),
    };
    Failure::no_method(format!("undefined method `{name}' for {shown}:{}", receiver.class_name()))
}

/// Methods of values, those of Ruby and those of the Java objects that commands return.
fn method(receiver: &Value, name: &str, arguments: &[Value]) -> Result<Value, Failure> {
    if !arguments.is_empty() {
        return Err(Failure::ruby(
            "ArgumentError",
            format!("wrong number of arguments (given {}, expected 0)", arguments.len()),
        ));
    }
    let value = match (receiver, name) {
        (_, "to_s") => Some(Value::from(receiver.to_text())),
        (_, "inspect") => Some(Value::from(receiver.inspect())),
        (_, "nil?") => Some(Value::Bool(matches!(receiver, Value::Nil))),
        (Value::Array(items), "length" | "size" | "count") => {
            Some(Value::Integer(items.len() as i64))
        }
        (Value::Array(items), "first") => Some(items.first().cloned().unwrap_or(Value::Nil)),
        (Value::Array(items), "last") => Some(items.last().cloned().unwrap_or(Value::Nil)),
        (Value::String(bytes), "length" | "size") => {
            Some(Value::Integer(String::from_utf8_lossy(bytes).chars().count() as i64))
        }
        (Value::String(_), "to_i") => Some(Value::Integer(receiver.to_text().parse().unwrap_or(0))),
        (Value::Table(table), "name" | "getName") => Some(Value::from(table.to_string())),
        (Value::Location(location), _) => location_method(location, name),
        (Value::Region(region), _) => match name {
            "getEncodedName" => Some(Value::from(region.encoded_name())),
            "getRegionNameAsString" => Some(Value::from(region.region_name_as_string())),
            "getRegionName" => Some(Value::String(region.region_name())),
            "getStartKey" => Some(Value::String(region.start_key().to_vec())),
            "getEndKey" => Some(Value::String(region.end_key().to_vec())),
            "getRegionId" => Some(Value::Integer(region.region_id() as i64)),
            "getTable" => Some(Value::from(region.table().to_string())),
            _ => None,
        },
        _ => None,
    };
    value.ok_or_else(|| no_method(name, receiver))
}

fn location_method(location: &RegionLocation, name: &str) -> Option<Value> {
    let (host, port) = location.server.split_once(':').unwrap_or((&location.server, ""));
    Some(match name {
        "getRegion" | "getRegionInfo" => Value::Region(Box::new(location.region.clone())),
        "getHostname" => Value::from(host),
        "getPort" => Value::Integer(port.parse().unwrap_or(0)),
        "getHostnamePort" => Value::from(location.server.as_str()),
        _ => return None,
    })
}
