//! Tables: creating, changing, describing and listing them.

use std::collections::BTreeMap;

use hblite::bytes::to_string_binary;
use hblite::filter::supported_filters;
use hblite::{SplitPoints, TableDescriptor, TableName};
use serde_json::Value as Json;

use super::alter;
use super::pattern::{Change, for_all, matching_tables};
use super::{Arguments, CommandResult, Context, Failure, MANY, not_of, region};
use crate::format::Format;
use crate::object::Object;
use crate::value::Value;

commands! {
    "alter" 1 MANY, "\
Changes a table: adds or changes families, deletes them, sets or removes attributes. Several
changes can be given at once. The table stays in service.

  hbase> alter 't1', NAME => 'f1', VERSIONS => 5
  hbase> alter 't1', 'f1', {NAME => 'f2', TTL => '1 DAY'}, {NAME => 'f3', MIN_VERSIONS => 2}
  hbase> alter 't1', NAME => 'f1', METHOD => 'delete'
  hbase> alter 't1', 'delete' => 'f1'
  hbase> alter 't1', MAX_FILESIZE => '134217728', DURABILITY => 'FSYNC_WAL'
  hbase> alter 't1', METADATA => {'owner' => 'johndoe'}
  hbase> alter 't1', CONFIGURATION => {'hbase.table.sanity.checks' => 'false'}
  hbase> alter 't1', METHOD => 'table_att_unset', NAME => 'MAX_FILESIZE'
  hbase> alter 't1', METHOD => 'table_conf_unset', NAME => 'hbase.table.sanity.checks'"
        => alter::alter;

    "alter_async" 1 MANY, "\
Changes a table as alter does, and prints nothing. The change is complete when it returns.

  hbase> alter_async 't1', NAME => 'f1', VERSIONS => 5
  hbase> alter_status 't1'" => alter::alter_async;

    "alter_status" 1 1, "\
Prints how many regions of a table have its newest settings; in hblite, always all of them.

  hbase> alter_status 't1'" => alter::alter_status;

    "clone_table_schema" 2 3, "\
Creates a table with the settings of another one, and its splits unless the third argument is
false. No rows are copied.

  hbase> clone_table_schema 't1', 't2'
  hbase> clone_table_schema 't1', 't2', false" => clone_table_schema;

    "create" 1 MANY, "\
Creates a table with at least one family. A family is a name, or a hash with NAME and settings;
settings of the table follow. Regions are split at SPLITS, at the lines of SPLITS_FILE, or
evenly into NUMREGIONS by a SPLITALGO: HexStringSplit, DecimalStringSplit or UniformSplit.

  hbase> create 't1', 'f1', 'f2'
  hbase> create 'ns1:t1', {NAME => 'f1', VERSIONS => 5, TTL => 2592000, BLOOMFILTER => 'ROWCOL'}
  hbase> create 't1', {NAME => 'f1', COMPRESSION => 'SNAPPY', DATA_BLOCK_ENCODING => 'FAST_DIFF'}
  hbase> create 't1', 'f1', SPLITS => ['10', '20', '\\x80']
  hbase> create 't1', 'f1', SPLITS_FILE => 'splits.txt'
  hbase> create 't1', 'f1', {NUMREGIONS => 15, SPLITALGO => 'HexStringSplit'}
  hbase> create 't1', 'f1', {SPLIT_ENABLED => false, METADATA => {'mykey' => 'myvalue'}}

The table is returned, and can be used through a variable:

  hbase> t1 = create 't1', 'f1'
  hbase> t1.put 'r1', 'f1:q1', 'value'" => alter::create;

    method "describe" | "desc" 1 1, "\
Prints the settings of a table and its families.

  hbase> describe 'ns1:t1'
  hbase> desc 't1'
  hbase> t.describe" => describe;

    method "disable" 1 1, "\
Takes a table out of service.

  hbase> disable 't1'
  hbase> t.disable" => disable;

    "disable_all" 1 1, "\
Takes all tables whose name matches a regular expression out of service, after confirmation.

  hbase> disable_all 'ns:t.*'"
        => |context, arguments| for_all(context, &arguments, Change::Disable);

    method "drop" 1 1, "\
Deletes a table, which must be disabled.

  hbase> drop 't1'
  hbase> t.drop" => drop_table;

    "drop_all" 1 1, "\
Deletes all disabled tables whose name matches a regular expression, after confirmation.

  hbase> drop_all 'ns:t.*'" => |context, arguments| for_all(context, &arguments, Change::Drop);

    method "enable" 1 1, "\
Puts a table back in service.

  hbase> enable 't1'
  hbase> t.enable" => enable;

    "enable_all" 1 1, "\
Puts all tables whose name matches a regular expression back in service, after confirmation.

  hbase> enable_all 'ns:t.*'" => |context, arguments| for_all(context, &arguments, Change::Enable);

    "exists" 1 1, "\
Prints whether a table of this name exists.

  hbase> exists 'ns1:t1'" => exists;

    "get_table" 1 1, "\
Returns a table for use in a variable; see table_help.

  hbase> t = get_table 'ns1:t1'
  hbase> t.scan" => |_, arguments| Ok(Value::Table(arguments.table_name(0)?));

    "is_disabled" 1 1, "\
Prints whether a table is disabled.

  hbase> is_disabled 't1'" => |context, arguments| say_state(context, &arguments, false);

    "is_enabled" 1 1, "\
Prints whether a table is enabled.

  hbase> is_enabled 't1'" => |context, arguments| say_state(context, &arguments, true);

    "list" 0 1, "\
Lists tables, all or those whose name matches a regular expression.

  hbase> list
  hbase> list 'ns:abc.*'" => list;

    "list_regions" 1 3, "\
Lists the regions of a table: server, name, keys, megabytes in files, requests, locality. The
second argument selects servers by the beginning of their names, and regions by locality; the third
selects the columns.

  hbase> list_regions 't1'
  hbase> list_regions 't1', 'server'
  hbase> list_regions 't1', {SERVER_NAME => 'server', LOCALITY_THRESHOLD => 0.8}
  hbase> list_regions 't1', '', ['REGION_NAME', 'start_key']" => region::list_regions;

    "locate_region" 2 2, "\
Prints and returns the region that contains a row.

  hbase> locate_region 't1', 'r1'
  hbase> locate_region('t1', 'r1').getRegion.getEncodedName" => region::locate_region;

    "show_filters" 0 0, "\
Lists the filters that FILTER => \"...\" accepts.

  hbase> show_filters" => show_filters;
}

/// Refuses a table that does not exist, in the words of HBase's shell.
fn check_exists(context: &Context<'_>, table: &TableName) -> Result<(), Failure> {
    if context.connection.admin().table_exists(table)? {
        return Ok(());
    }
    Err(Failure::refused(format!("Table {table} does not exist.")))
}

fn list(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    context.out.header(&["TABLE"])?;
    let tables = matching_tables(context, &arguments)?;
    for table in &tables {
        context.out.name("table", &table.to_string())?;
    }
    context.out.footer(tables.len() as u64)?;
    Ok(Value::Array(tables.iter().map(|table| Value::from(table.to_string())).collect()))
}

fn describe(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = arguments.table_name(0)?;
    check_exists(context, &table)?;
    let admin = context.connection.admin();
    let descriptor = admin.describe_table(&table)?;
    let state = if admin.is_table_enabled(&table)? { "ENABLED" } else { "DISABLED" };
    if context.out.format() == Format::Json {
        context.out.object(described(&descriptor, state))?;
        return Ok(Value::Nil);
    }
    context.out.header(&[&format!("Table {table} is {state}")])?;
    context.out.row(&format!("{table}{}", descriptor.attributes_to_string()))?;
    context.out.header(&["COLUMN FAMILIES DESCRIPTION"])?;
    for family in descriptor.families() {
        context.out.row(&family.to_string())?;
        context.out.line("")?;
    }
    context.out.footer(descriptor.families().len() as u64)?;
    context.out.line("Quota is disabled")?;
    Ok(Value::Nil)
}

fn described(table: &TableDescriptor, state: &str) -> Object {
    let attributes = |attributes: &BTreeMap<String, String>| -> Json {
        attributes.iter().map(|(name, value)| (name.clone(), Json::from(value.as_str()))).collect()
    };
    let families = table.families().map(|family| {
        Object::nested()
            .with("name", to_string_binary(family.name()))
            .with("attributes", attributes(family.attributes()))
    });
    Object::new("table")
        .with("name", table.name().to_string())
        .with("state", state)
        .with("attributes", attributes(table.attributes()))
        .with_objects("families", families)
}

fn exists(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = arguments.table_name(0)?;
    let exists = context.connection.admin().table_exists(&table)?;
    let does = if exists { "does" } else { "does not" };
    context.out.row(&format!("Table {table} {does} exist"))?;
    Ok(Value::Bool(exists))
}

fn say_state(context: &mut Context<'_>, arguments: &Arguments, enabled: bool) -> CommandResult {
    let admin = context.connection.admin();
    let table = arguments.table_name(0)?;
    let answer =
        if enabled { admin.is_table_enabled(&table)? } else { admin.is_table_disabled(&table)? };
    context.out.row(if answer { "true" } else { "false" })?;
    Ok(Value::Bool(answer))
}

fn enable(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = arguments.table_name(0)?;
    check_exists(context, &table)?;
    let admin = context.connection.admin();
    if !admin.is_table_enabled(&table)? {
        admin.enable_table(&table)?;
    }
    Ok(Value::Nil)
}

fn disable(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = arguments.table_name(0)?;
    check_exists(context, &table)?;
    let admin = context.connection.admin();
    if !admin.is_table_disabled(&table)? {
        admin.disable_table(&table)?;
    }
    Ok(Value::Nil)
}

fn drop_table(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = arguments.table_name(0)?;
    check_exists(context, &table)?;
    let admin = context.connection.admin();
    if admin.is_table_enabled(&table)? {
        return Err(Failure::refused(format!("Table {table} is enabled. Disable it first.")));
    }
    admin.delete_table(&table)?;
    Ok(Value::Nil)
}

/// Empties a table.
pub(super) fn truncate(
    context: &mut Context<'_>,
    arguments: &Arguments,
    splits: SplitPoints,
) -> CommandResult {
    let table = arguments.table_name(0)?;
    context.out.line(&format!("Truncating '{table}' table (it may take a while):"))?;
    let admin = context.connection.admin();
    if admin.is_table_enabled(&table)? {
        context.out.line("Disabling table...")?;
        admin.disable_table(&table)?;
    }
    context.out.line("Truncating table...")?;
    admin.truncate_table(&table, splits)?;
    Ok(Value::Nil)
}

fn clone_table_schema(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let (from, to) = (arguments.table_name(0)?, arguments.table_name(1)?);
    let preserves_splits = match arguments.get(2) {
        None => true,
        Some(Value::Bool(given)) => *given,
        Some(other) => return Err(not_of(other, "boolean")),
    };
    let admin = context.connection.admin();
    let descriptor = admin.describe_table(&from)?.with_name(to);
    let mut splits = Vec::new();
    if preserves_splits {
        let regions = admin.regions(&from)?;
        splits.extend(regions.iter().skip(1).map(|region| region.start_key().to_vec()));
    }
    admin.create_table_with_splits(&descriptor, &splits)?;
    Ok(Value::Nil)
}

fn show_filters(context: &mut Context<'_>, _: Arguments) -> CommandResult {
    let mut names: Vec<&str> = supported_filters().collect();
    // Of those that share a slot, HBase adds the filter of keys first.
    names.sort_by_key(|name| (hash_map_slot(name), !name.ends_with("KeyOnlyFilter")));
    for filter in names {
        context.out.row(filter)?;
    }
    Ok(Value::Nil)
}

/// Where Java's hash map of so many names has this one: HBase's shell prints them in that order.
fn hash_map_slot(name: &str) -> u32 {
    const SLOTS: u32 = 32;
    let hash =
        name.bytes().fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
    (hash ^ hash >> 16) % SLOTS
}
