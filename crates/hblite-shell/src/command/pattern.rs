//! Regular expressions over names, and changes of all tables that match one.

use hblite::{Exception, SystemTables, TableName, check_pattern};
use regex::Regex;

use super::{Arguments, CommandResult, Context, Failure};
use crate::value::Value;

/// A regular expression over names.
pub(super) struct Pattern(Regex);

impl Pattern {
    /// One that the whole name must match; without an argument, all names match.
    pub(super) fn whole(arguments: &Arguments, at: usize) -> Result<Self, Failure> {
        Self::new(arguments, at, |text| format!("^(?:{text})$"))
    }

    /// One that some part of the name must match.
    pub(super) fn searching(arguments: &Arguments, at: usize) -> Result<Self, Failure> {
        Self::new(arguments, at, |text| text)
    }

    fn new(
        arguments: &Arguments,
        at: usize,
        wrap: impl Fn(String) -> String,
    ) -> Result<Self, Failure> {
        // An argument that is `nil` by mistake must not mean all names.
        let text = match at < arguments.len() {
            true => arguments.name(at, "A regular expression")?,
            false => ".*".to_owned(),
        };
        regex(&text, &wrap(text.clone())).map(Self)
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// A regular expression that a whole name must match.
pub(super) fn whole_name(text: &str) -> Result<Regex, Failure> {
    regex(text, &format!("^(?:{text})$"))
}

/// The regular expression that a user wrote as `text`.
pub(super) fn regex(text: &str, wrapped: &str) -> Result<Regex, Failure> {
    // In the words of Java if it finds the fault, too.
    check_pattern(text)?;
    Regex::new(wrapped).map_err(|error| {
        // Its last line is the reason; the lines before it show the pattern.
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        Failure::refused(format!("'{text}' is not a regular expression: {reason}"))
    })
}

/// User tables whose names match the first argument. Tables of the default namespace match with or
/// without its name (`HMaster.filterTablesByRegex`).
pub(super) fn matching_tables(
    context: &Context<'_>,
    arguments: &Arguments,
) -> Result<Vec<TableName>, Failure> {
    let pattern = Pattern::whole(arguments, 0)?;
    let tables = context.connection.admin().list_tables(SystemTables::Exclude)?;
    let names = tables.iter().map(|table| table.name().clone());
    let is_match = |name: &TableName| {
        pattern.matches(&name.to_string())
            || pattern.matches(&format!("{}:{}", name.namespace(), name.qualifier()))
    };
    Ok(names.filter(is_match).collect())
}

/// A change of all tables that match a pattern.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    Enable,
    Disable,
    Drop,
}

/// Makes the change, after confirmation.
pub(super) fn for_all(
    context: &mut Context<'_>,
    arguments: &Arguments,
    change: Change,
) -> CommandResult {
    let tables = matching_tables(context, arguments)?;
    for table in &tables {
        context.out.row(&table.to_string())?;
    }
    if tables.is_empty() {
        let pattern = arguments.subject();
        context.out.line(&format!("No tables matched the regex {pattern}"))?;
        return Ok(Value::Nil);
    }
    let (verb, done) = match change {
        Change::Enable => ("Enable", "enabled"),
        Change::Disable => ("Disable", "disabled"),
        Change::Drop => ("Drop", "dropped"),
    };
    if !context.is_confirmed(&format!("{verb} the above {} tables", tables.len()))? {
        return Ok(Value::Nil);
    }
    let admin = context.connection.admin();
    let mut failed = Vec::new();
    for table in &tables {
        context.check_interrupt()?;
        let result = match change {
            Change::Enable => admin.enable_table(table),
            Change::Disable => admin.disable_table(table),
            Change::Drop => admin.delete_table(table),
        };
        if let Err(error) = result {
            let mut shown = error.to_java_string();
            if error.exception() == Exception::TableNotEnabled {
                // It arrives as the message of another one of its class.
                shown = format!("{}: {shown}", error.exception().class_name());
            }
            context.out.line(&format!("table:{table}, error:{shown}"))?;
            failed.push(table.to_string());
        }
    }
    let succeeded = tables.len() - failed.len();
    context.out.line(&format!("{succeeded} tables successfully {done}"))?;
    if !failed.is_empty() {
        let (count, names) = (failed.len(), failed.join(","));
        context.out.line(&format!("{count} tables not {done} due to an exception: {names}"))?;
    }
    Ok(Value::Nil)
}
