//! The commands: the name, arguments, function and help text of each.
//!
//! A command is a [`Command`] in the table of its group's file: one function and one help text.
//! Output lines, their order and the messages of errors are those of HBase's shell.

/// The table of a group's commands, a row each: the name, with any other names, the least and
/// greatest number of arguments, the help, and what the command does. The help is followed by an
/// example without the command's name, or by `=>` if it has its examples. Table objects have a
/// `method`, too: `t.scan`.
macro_rules! commands {
    (@is_method method) => { true };
    (@is_method) => { false };
    ($($name:literal $least:literal $most:expr, $usage:literal $example:literal $run:expr;)*) => {
        commands! {$(
            $name $least $most, concat!($usage, "\n\n  hbase> ", $name, $example) => $run;
        )*}
    };
    ($($($kind:ident)? $name:literal $(| $alias:literal)* $least:literal $most:expr,
        $usage:expr => $run:expr;)*) => {
        pub(super) const COMMANDS: &[super::Command] = &[$(super::Command {
            name: $name,
            aliases: &[$($alias),*],
            arity: ($least, $most),
            is_table_method: commands!(@is_method $($kind)?),
            usage: $usage,
            run: $run,
        },)*];
    };
}

mod alter;
mod cell_text;
mod columns;
mod data;
mod general;
mod groups;
pub(crate) mod help;
mod key;
mod master_work;
mod namespace;
mod operations;
mod pattern;
mod peers;
mod permissions;
mod placement;
mod quotas;
mod read;
mod region;
mod rows;
mod schema;
mod server_names;
mod snapshot;
mod switches;
mod tables;
mod tasks;

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hblite::{Connection, Error, ResultScanner, RowResult, ScanStep, Table, TableName};

use crate::format::Output;
use crate::lines::Lines;
use crate::options::ShellOptions;
use crate::value::{Hash, Value};

/// The maximum number of arguments of a command that accepts any number.
const MANY: usize = usize::MAX;

/// How long a scan looks for a row before it checks whether the user has ended the command.
const PATIENCE: Duration = Duration::from_millis(100);

/// A command.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    /// Least and greatest number of arguments.
    arity: (usize, usize),
    /// Whether table objects have it as a method: `t.scan`.
    pub(crate) is_table_method: bool,
    pub(crate) usage: &'static str,
    pub(crate) run: fn(&mut Context<'_>, Arguments) -> CommandResult,
}

/// What a command returns: a value to print after `=>`, or `nil`.
pub(crate) type CommandResult = Result<Value, Failure>;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command itself refuses.
    Refused(String),
    /// The store refuses or failed.
    Store(Error),
    /// The output cannot be written, or an answer cannot be read.
    Output(io::Error),
    /// The user ended the command.
    Interrupted,
}

impl Failure {
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// What commands work with.
pub(crate) struct Context<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) out: &'a mut Output,
    pub(crate) answers: &'a mut dyn Lines,
    pub(crate) options: &'a mut ShellOptions,
}

impl Context<'_> {
    /// Asks a yes-or-no question. Without an answer the command is refused.
    fn is_confirmed(&mut self, question: &str) -> Result<bool, Failure> {
        self.out.line(&format!("\n{question} (y/n)?"))?;
        self.out.flush()?;
        match self.answers.next_line()? {
            Some(answer) => Ok(answer.to_ascii_lowercase().contains('y')),
            None => Err(Failure::refused("the confirmation was not answered: the input has ended")),
        }
    }

    /// Fails if the user has ended the command.
    fn check_interrupt(&self) -> Result<(), Failure> {
        match self.options.interrupt.load(Ordering::Relaxed) {
            true => Err(Failure::Interrupted),
            false => Ok(()),
        }
    }

    /// Calls `visit` with each row of a scan and its number, counted from 1. Returns how many there
    /// were.
    fn for_each_row(
        &mut self,
        scanner: &mut ResultScanner,
        mut visit: impl FnMut(&mut Self, &RowResult, u64) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        let mut count = 0;
        loop {
            self.check_interrupt()?;
            match scanner.next_row_within(PATIENCE)? {
                ScanStep::Row(row) => {
                    count += 1;
                    visit(self, row, count)?;
                    self.progress(count);
                }
                ScanStep::Cursor(_) => {}
                ScanStep::End => return Ok(count),
            }
        }
    }

    /// Shows how many rows there are so far.
    fn progress(&mut self, rows: u64) {
        // Often enough to look smooth, too seldom to cost anything.
        if rows.is_multiple_of(256)
            && let Some(progress) = &mut self.options.progress
        {
            progress.rows(rows);
        }
    }
}

/// The arguments of a command.
#[derive(Debug)]
pub(crate) struct Arguments(Vec<Value>);

impl Arguments {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Self(values)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The first argument as error messages name it.
    pub(crate) fn subject(&self) -> String {
        match self.0.first() {
            Some(value) => value.as_name().unwrap_or_else(|| value.inspect()),
            None => String::new(),
        }
    }

    /// The argument at `at`; `nil` counts as not given.
    fn get(&self, at: usize) -> Option<&Value> {
        self.0.get(at).filter(|value| !matches!(value, Value::Nil))
    }

    /// The arguments from `at` on, with arrays flattened and `nil` left out (Ruby's
    /// `args.flatten.compact`).
    fn rest(&self, at: usize) -> Vec<&Value> {
        fn open<'a>(value: &'a Value, into: &mut Vec<&'a Value>) {
            match value {
                Value::Nil => {}
                Value::Array(items) => items.iter().for_each(|item| open(item, into)),
                other => into.push(other),
            }
        }
        let mut values = Vec::new();
        for value in self.0.iter().skip(at) {
            open(value, &mut values);
        }
        values
    }

    /// A required string; `what` names it.
    fn name(&self, at: usize, what: &str) -> Result<String, Failure> {
        self.get(at)
            .and_then(Value::as_name)
            .ok_or_else(|| Failure::refused(format!("{what} must be of type String")))
    }

    /// An optional string.
    fn name_if_given(&self, at: usize, what: &str) -> Result<Option<String>, Failure> {
        self.get(at).map(|_| self.name(at, what)).transpose()
    }

    /// Required bytes: the text of any value.
    fn bytes(&self, at: usize) -> Vec<u8> {
        self.get(at).map(Value::to_bytes).unwrap_or_default()
    }

    /// A table's name.
    fn table_name(&self, at: usize) -> Result<TableName, Failure> {
        match self.get(at) {
            Some(Value::Table(name)) => Ok(name.clone()),
            _ => Ok(self.name(at, "Table name")?.parse()?),
        }
    }

    /// A hash, empty if it was left out.
    fn hash(&self, at: usize, what: &str) -> Result<Hash, Failure> {
        match self.get(at) {
            None => Ok(Hash::default()),
            Some(Value::Hash(hash)) => Ok(hash.clone()),
            Some(_) => Err(Failure::refused(format!("{what} should be a Hash"))),
        }
    }
}

/// The error for a value of another type.
fn not_of(value: &Value, wanted: &str) -> Failure {
    let (class, shown) = (value.class_name(), value.inspect());
    Failure::refused(format!("{class} of {shown} is not of {wanted} type"))
}

/// A whole number, from a number or its text.
fn integer(value: &Value, what: &str) -> Result<i64, Failure> {
    let number = match value {
        Value::Integer(number) => Some(*number),
        Value::String(_) | Value::Symbol(_) => value.to_text().trim().parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| {
        Failure::refused(format!("{what} must be a whole number, not {}", value.inspect()))
    })
}

/// A whole number that HBase keeps in 32 bits.
fn small_integer(value: &Value, what: &str) -> Result<i32, Failure> {
    i32::try_from(integer(value, what)?)
        .map_err(|_| Failure::refused(format!("{} is out of range for {what}", value.inspect())))
}

/// The table that the first argument names.
fn table(context: &Context<'_>, arguments: &Arguments) -> Result<Table, Failure> {
    Ok(context.connection.table(arguments.table_name(0)?)?)
}

impl Command {
    /// Refuses a wrong number of arguments in Ruby's words.
    pub(crate) fn check_arity(&self, given: usize) -> Result<(), Failure> {
        let (min, max) = self.arity;
        if (min..=max).contains(&given) {
            return Ok(());
        }
        let expected = match max {
            MANY => format!("{min}+"),
            max if max == min => min.to_string(),
            max => format!("{min}..{max}"),
        };
        Err(Failure::refused(format!(
            "wrong number of arguments (given {given}, expected {expected})"
        )))
    }
}

/// Commands that belong together.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) commands: &'static [Command],
}

/// All commands, in the groups of HBase's help.
pub(crate) const GROUPS: &[Group] = &[
    Group { name: "general", commands: general::COMMANDS },
    Group { name: "ddl", commands: schema::COMMANDS },
    Group { name: "namespace", commands: namespace::COMMANDS },
    Group { name: "dml", commands: data::COMMANDS },
    Group { name: "tools", commands: region::COMMANDS },
    Group { name: "tables", commands: tables::COMMANDS },
    Group { name: "snapshots", commands: snapshot::COMMANDS },
    Group { name: "switches", commands: switches::COMMANDS },
    Group { name: "operations", commands: operations::COMMANDS },
    Group { name: "replication", commands: peers::COMMANDS },
    Group { name: "placement", commands: placement::COMMANDS },
    Group { name: "procedures", commands: master_work::COMMANDS },
    Group { name: "tasks", commands: tasks::COMMANDS },
    Group { name: "quotas", commands: quotas::COMMANDS },
    Group { name: "security", commands: permissions::COMMANDS },
    Group { name: "rsgroup", commands: groups::COMMANDS },
];

/// All commands that hblite has.
pub(crate) fn all() -> impl Iterator<Item = &'static Command> {
    GROUPS.iter().flat_map(|group| group.commands)
}

/// The command of this name.
pub(crate) fn find(name: &str) -> Option<&'static Command> {
    all().find(|command| command.name == name || command.aliases.contains(&name))
}
