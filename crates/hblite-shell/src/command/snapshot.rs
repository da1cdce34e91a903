//! Snapshots.

use std::time::Duration;

use hblite::{
    Exception, FailSafeSnapshot, SnapshotDescription, SnapshotOptions, SnapshotRights, TableName,
};

use super::pattern::{Pattern, matching_tables};
use super::{Arguments, CommandResult, Context, Failure, MANY, integer};
use crate::format::{Format, ruby_time};
use crate::object::Object;
use crate::value::{Hash, Value};

commands! {
    "clone_snapshot" 2 3, "\
Clones a snapshot to a new table with its settings and regions, without copying cells. Later changes
to the table do not affect the snapshot.

  hbase> clone_snapshot 'snapshotName', 'tableName'
  hbase> clone_snapshot 'snapshotName', 'namespace:tableName', {RESTORE_ACL => true}"
        => clone_snapshot;

    "delete_all_snapshot" 1 1, "\
Deletes all snapshots whose name matches a regular expression, after confirmation.

  hbase> delete_all_snapshot 's.*'" => delete_all_snapshot;

    "delete_snapshot" 1 1, "\
Deletes a snapshot. Tables cloned from it are not affected.

  hbase> delete_snapshot 'snapshotName'" => |context, arguments| {
        context.connection.admin().delete_snapshot(&arguments.name(0, NAME)?)?;
        Ok(Value::Nil)
    };

    "delete_table_snapshots" 1 2, "\
Deletes the snapshots of all tables whose name matches a regular expression, after confirmation. A
second expression selects snapshots by their own names.

  hbase> delete_table_snapshots 'tableName'
  hbase> delete_table_snapshots 'ns:tableName.*', 'snapshotName.*'" => delete_table_snapshots;

    "list_snapshots" 0 1, "\
Lists all snapshots, or those whose name matches a regular expression.

  hbase> list_snapshots
  hbase> list_snapshots 'abc.*'" => |context, arguments| {
        let list = snapshots(context, &Pattern::whole(&arguments, 0)?)?;
        list_all(context, &list, true, true)
    };

    "list_table_snapshots" 1 2, "\
Lists the snapshots of all tables whose name matches a regular expression. A second expression
selects snapshots by their own names.

  hbase> list_table_snapshots 'tableName'
  hbase> list_table_snapshots 'ns:tableName.*', 'snapshotName.*'" => |context, arguments| {
        let list = table_snapshots(context, &arguments)?;
        list_all(context, &list, true, false)
    };

    "restore_snapshot" 1 2, "\
Restores a disabled table, settings included, to its state when the snapshot was taken. A dropped
table is created again. RESTORE_ACL also restores the rights that users had.

  hbase> restore_snapshot 'snapshotName', {RESTORE_ACL => true}" => restore_snapshot;

    method "snapshot" 2 MANY, "\
Takes a snapshot of a table, without copying cells. Memory is flushed first; SKIP_FLUSH leaves it
out instead. TTL deletes the snapshot after that number of seconds. MAX_FILESIZE applies to tables
cloned from it.

  hbase> snapshot 'sourceTable', 'snapshotName'
  hbase> snapshot 'namespace:sourceTable', 'snapshotName', {SKIP_FLUSH => true, TTL => 86400}"
        => snapshot;
}

const NAME: &str = "Snapshot name";

fn snapshot(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let (table, name) = (arguments.name(0, "Table name")?, arguments.name(1, NAME)?);
    let table: TableName = table.parse()?;
    let settings = arguments.hash(2, "Arguments")?;
    let number = |key: &str| -> Result<Option<u64>, Failure> {
        let given = settings.truthy(key).map(|value| integer(value, key)).transpose()?;
        // HBase treats a value that is not positive as "not given".
        Ok(given.and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0))
    };
    let options = SnapshotOptions::default()
        .with_skip_flush(matches!(settings.get("SKIP_FLUSH"), Some(Value::Bool(true))))
        .with_time_to_live(number("TTL")?.map(Duration::from_secs))
        .with_max_file_size_bytes(number("MAX_FILESIZE")?);
    context.connection.admin().snapshot(&name, &table, &options)?;
    // HBase's shell prints the options again.
    let given: Vec<Value> = arguments.rest(2).into_iter().cloned().collect();
    Ok(if given.is_empty() { Value::Nil } else { Value::Array(given) })
}

fn clone_snapshot(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let options = arguments.hash(2, "Arguments")?;
    let (name, target) = (arguments.name(0, NAME)?, arguments.name(1, "Table name")?);
    let table: TableName = target.parse()?;
    match context.connection.admin().clone_snapshot_with(&name, &table, rights(&options)) {
        Ok(()) => {
            if let Some(tracker) = options.truthy("CLONE_SFT") {
                let admin = context.connection.admin();
                admin.modify_file_tracker(&table, None, &tracker.to_text())?;
            }
            Ok(Value::Nil)
        }
        Err(error) if error.exception() == Exception::TableExists => {
            Err(Failure::refused(format!("Table already exists: {target}!")))
        }
        Err(error) if error.exception() == Exception::NamespaceNotFound => {
            Err(Failure::refused(format!("Unknown namespace: {}!", table.namespace())))
        }
        Err(error) => Err(error.into()),
    }
}

fn restore_snapshot(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let (name, options) = (arguments.name(0, NAME)?, arguments.hash(1, "Arguments")?);
    // HBase's shell takes no snapshot of the previous contents unless its settings say so.
    let fail_safe = FailSafeSnapshot::Skip;
    match context.connection.admin().restore_snapshot_with(&name, fail_safe, rights(&options)) {
        Err(error)
            if matches!(
                error.exception(),
                Exception::SnapshotDoesNotExist | Exception::RestoreSnapshot
            ) && !has_snapshot(context, &name)? =>
        {
            let message = format!("Unable to find the table name for snapshot={name}");
            Err(Failure::refused(message))
        }
        done => Ok(done.map(|()| Value::Nil)?),
    }
}

/// Whose rights a table from a snapshot has.
fn rights(options: &Hash) -> SnapshotRights {
    match options.truthy("RESTORE_ACL") {
        Some(_) => SnapshotRights::Restore,
        None => SnapshotRights::Ignore,
    }
}

fn has_snapshot(context: &Context<'_>, name: &str) -> Result<bool, Failure> {
    let all = context.connection.admin().list_snapshots()?;
    Ok(all.iter().any(|snapshot| snapshot.name == name))
}

/// Snapshots whose name matches.
fn snapshots(
    context: &Context<'_>,
    pattern: &Pattern,
) -> Result<Vec<SnapshotDescription>, Failure> {
    let mut list = context.connection.admin().list_snapshots()?;
    list.retain(|snapshot| pattern.matches(&snapshot.name));
    Ok(list)
}

/// Snapshots of the tables that the first argument matches, if the second matches them too.
fn table_snapshots(
    context: &Context<'_>,
    arguments: &Arguments,
) -> Result<Vec<SnapshotDescription>, Failure> {
    let tables = matching_tables(context, arguments)?;
    let mut list = snapshots(context, &Pattern::whole(arguments, 1)?)?;
    list.retain(|snapshot| tables.contains(&snapshot.table));
    Ok(list)
}

fn list_all(
    context: &mut Context<'_>,
    list: &[SnapshotDescription],
    has_footer: bool,
    has_ttl: bool,
) -> CommandResult {
    let ttl_title = if has_ttl { " + TTL(Sec)" } else { "" };
    context.out.header(&["SNAPSHOT", &format!("TABLE + CREATION TIME{ttl_title}")])?;
    let now = context.connection.now_millis();
    for snapshot in list {
        if context.out.format() == Format::Json {
            let object = Object::new("snapshot")
                .with("name", &*snapshot.name)
                .with("table", snapshot.table.to_string())
                .with("created_at_ms", snapshot.created_at_ms);
            context.out.object(object)?;
            continue;
        }
        let offset = (context.options.utc_offset_seconds)(snapshot.created_at_ms);
        let time = ruby_time(snapshot.created_at_ms, offset);
        let (name, table) = (&snapshot.name, &snapshot.table);
        let ttl = if has_ttl { ttl_text(snapshot, now) } else { String::new() };
        context.out.row_of_two(name, &format!("{table} ({time}){ttl}"))?;
    }
    if has_footer {
        context.out.footer(list.len() as u64)?;
    }
    Ok(Value::Array(list.iter().map(|snapshot| Value::from(snapshot.name.as_str())).collect()))
}

/// After how many seconds a snapshot expires.
fn ttl_text(snapshot: &SnapshotDescription, now_ms: i64) -> String {
    let Some(ttl) = snapshot.time_to_live else { return " FOREVER".to_owned() };
    match snapshot.has_expired(now_ms) {
        true => format!(" {} (Expired) ", ttl.as_secs()),
        false => format!(" {}", ttl.as_secs()),
    }
}

fn delete_all_snapshot(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let pattern = Pattern::whole(&arguments, 0)?;
    let list = snapshots(context, &pattern)?;
    list_all(context, &list, false, false)?;
    if list.is_empty() {
        let line = format!("No snapshots matched the regex {}", arguments.subject());
        context.out.line(&line)?;
        return Ok(Value::Nil);
    }
    if !context.is_confirmed(&format!("Delete the above {} snapshots", list.len()))? {
        return Ok(Value::Nil);
    }
    let admin = context.connection.admin();
    let left: Vec<SnapshotDescription> = list
        .iter()
        .filter(|snapshot| admin.delete_snapshot(&snapshot.name).is_err())
        .cloned()
        .collect();
    let deleted = list.len() - left.len();
    if deleted > 0 {
        context.out.line(&format!("{deleted} snapshots successfully deleted."))?;
    }
    if !left.is_empty() {
        let line = format!("\nFailed to delete the below {} snapshots.", left.len());
        context.out.line(&line)?;
        list_all(context, &left, false, false)?;
    }
    Ok(Value::Nil)
}

fn delete_table_snapshots(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let list = table_snapshots(context, &arguments)?;
    list_all(context, &list, false, false)?;
    if list.is_empty() {
        let names = arguments.name_if_given(1, NAME)?.unwrap_or_else(|| ".*".to_owned());
        context.out.line(&format!(
            "No snapshots matched the table name regular expression {} and the snapshot name \
             regular expression {names}",
            arguments.subject()
        ))?;
        return Ok(Value::Nil);
    }
    if !context.is_confirmed(&format!("Delete the above {} snapshots", list.len()))? {
        return Ok(Value::Nil);
    }
    for SnapshotDescription { name, .. } in &list {
        match context.connection.admin().delete_snapshot(name) {
            Ok(()) => context.out.line(&format!("Successfully deleted snapshot: {name}\n"))?,
            Err(error) => context.out.line(&format!(
                "Failed to delete snapshot: {name}, due to below exception,\n{}\n",
                error.to_java_string()
            ))?,
        }
    }
    Ok(Value::Nil)
}
