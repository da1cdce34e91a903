//! Tables by state, and how the store files of tables are found.

use hblite::Exception;

use super::pattern::matching_tables;
use super::{Arguments, CommandResult, Context, Failure, MANY};
use crate::value::Value;

commands! {
    "list_enabled_tables" 0 0, "Lists the tables that are enabled." ""
        |context, _| list(context, true);
    "list_disabled_tables" 0 0, "Lists the tables that are disabled." ""
        |context, _| list(context, false);
    "change_sft" 0 MANY, "Changes how the store files of a table or family are found."
        " 't1', 'FILE'\n  hbase> change_sft 't1', 'f1', 'FILE'" change_tracker;
    "change_sft_all" 0 MANY, "Changes how the store files of all tables that match are found."
        " 't.*', 'FILE'\n  hbase> change_sft_all 'ns:.*', 'FILE'" change_all_trackers;
}

fn list(context: &mut Context<'_>, is_enabled: bool) -> CommandResult {
    context.out.header(&["TABLE"])?;
    let tables = context.connection.admin().list_tables_by_state(is_enabled)?;
    let names: Vec<String> = tables.iter().map(ToString::to_string).collect();
    for name in &names {
        context.out.name("table", name)?;
    }
    context.out.footer(names.len() as u64)?;
    Ok(Value::Array(names.into_iter().map(Value::from).collect()))
}

fn change_tracker(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let (family, tracker_at) = match arguments.len() {
        2 => (None, 1),
        3 => (Some(arguments.bytes(1)), 2),
        _ => return Err(Failure::refused("Argument length should be two or three.")),
    };
    let tracker = arguments.name(tracker_at, "The store file tracker")?;
    let table = arguments.table_name(0)?;
    let admin = context.connection.admin();
    match admin.modify_file_tracker(table, family.as_deref(), &tracker) {
        // The change has begun, so HBase's shell gets the message alone.
        Err(error) if error.exception() == Exception::NoSuchColumnFamily => {
            Err(Failure::refused(error.message()))
        }
        done => done.map(|()| Value::Nil).map_err(Failure::Store),
    }
}

fn change_all_trackers(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    if arguments.len() != 2 {
        return Err(Failure::refused("Argument length should be two."));
    }
    let tracker = arguments.name(1, "The store file tracker")?;
    let tables = matching_tables(context, &arguments)?;
    for table in &tables {
        context.out.row(&table.to_string())?;
    }
    if tables.is_empty() {
        let pattern = arguments.subject();
        context.out.line(&format!("No tables matched the regex {pattern}"))?;
    } else if context.is_confirmed(&format!("Change the above {} tables's sft", tables.len()))? {
        for table in &tables {
            context.check_interrupt()?;
            context.connection.admin().modify_file_tracker(table, None, &tracker)?;
        }
        let names = tables.iter().map(|table| Value::from(table.to_string()));
        return Ok(Value::Array(names.collect()));
    }
    Ok(Value::Nil)
}
