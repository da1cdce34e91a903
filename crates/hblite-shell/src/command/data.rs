//! The commands that read and write rows; what reads them is in `rows`.

use hblite::filter::Filter;
use hblite::{
    Append, Delete, Exception, Get, Increment, LATEST_TIMESTAMP, Put, Scan, SplitPoints, Table,
    bytes,
};

use super::cell_text::counter;
use super::columns::Column;
use super::region::regions_of;
use super::{
    Arguments, CommandResult, Context, Failure, MANY, integer, not_of, rows, schema, table,
};
use crate::format::Format;
use crate::object::Object;
use crate::value::{Hash, Value};

commands! {
    method "append" 4 5, "\
Appends to a cell's value and prints the result.

  hbase> append 't1', 'r1', 'f1:q1', 'more'
  hbase> t.append 'r1', 'f1:q1', 'more'" => append;

    method "count" 1 2, "\
Counts the rows of a table and returns their number. The count so far is printed every INTERVAL
rows (default 1000). Accepts options of a scan: COLUMNS, STARTROW, STOPROW, ROWPREFIXFILTER, FILTER,
CACHE.

  hbase> count 'ns1:t1'
  hbase> count 't1', INTERVAL => 100000
  hbase> count 't1', COLUMNS => ['f1'], STARTROW => 'abc', STOPROW => 'xyz'
  hbase> t.count FILTER => \"PrefixFilter('a')\"" => rows::count;

    method "delete" 3 5, "\
Deletes the newest version of a cell, or the one with exactly this timestamp.

  hbase> delete 't1', 'r1', 'f1:q1'
  hbase> delete 't1', 'r1', 'f1:q1', 1303668804000
  hbase> t.delete 'r1', 'f1:q1'" => |context, arguments| delete(context, &arguments, Versions::One);

    method "deleteall" 2 5, "\
Deletes all versions of a row, a family or a column, up to a timestamp if there is one. With
ROWPREFIXFILTER, does so in all rows with that prefix, CACHE rows at a time (default 100).

  hbase> deleteall 't1', 'r1'
  hbase> deleteall 't1', 'r1', 'f1:q1'
  hbase> deleteall 't1', 'r1', 'f1', 1303668804000
  hbase> deleteall 't1', 'r1', '', 1303668804000
  hbase> deleteall 't1', {ROWPREFIXFILTER => 'prefix', CACHE => 1000}
  hbase> t.deleteall 'r1'" => |context, arguments| delete(context, &arguments, Versions::All);

    method "get" 2 MANY, "\
Reads a row: all of it, some families or columns, versions, a time or time range, through a
filter.

  hbase> get 't1', 'r1'
  hbase> get 't1', 'r1', 'f1:q1', 'f2'
  hbase> get 't1', 'r1', {COLUMN => 'f1:q1', VERSIONS => 4}
  hbase> get 't1', 'r1', {COLUMN => ['f1:q1', 'f2'], TIMERANGE => [1, 1303668804000]}
  hbase> get 't1', 'r1', {COLUMN => 'f1', TIMESTAMP => 1303668804000}
  hbase> get 't1', 'r1', {FILTER => \"ValueFilter(=, 'binary:abc')\"}
  hbase> t.get \"r\\x00\\x01\"

A column may name a converter for its values (toLong, toInt, toShort, toString, toHex, toDouble,
toFloat, toBoolean); FORMATTER sets one for all output. MAXLENGTH limits the printed characters of a
cell.

  hbase> get 't1', 'r1', 'f1:counter:toLong'
  hbase> get 't1', 'r1', {COLUMN => 'f1', FORMATTER => 'toString'}" => rows::get;

    method "get_counter" 3 3, "\
Prints the value of a counter: a cell of eight bytes, as incr writes it.

  hbase> get_counter 't1', 'r1', 'f1:q1'
  hbase> t.get_counter 'r1', 'f1:q1'" => get_counter;

    method "get_splits" 1 1, "\
Prints and returns the keys at which a table is split.

  hbase> get_splits 't1'
  hbase> t.get_splits" => get_splits;

    method "incr" 3 5, "\
Adds to a counter, 1 by default, and prints its new value.

  hbase> incr 't1', 'r1', 'f1:q1'
  hbase> incr 't1', 'r1', 'f1:q1', -10
  hbase> t.incr 'r1', 'f1:q1'" => increment;

    method "put" 4 6, "\
Writes a cell, with a timestamp in milliseconds if one is given, and a time to live in
milliseconds with TTL.

  hbase> put 'ns1:t1', 'r1', 'f1:q1', 'value'
  hbase> put 't1', \"r\\x00\\xff\", 'f1:q1', 'value', 1303668804000
  hbase> put 't1', 'r1', 'f1:q1', 'value', {TTL => 60000}
  hbase> t.put 'r1', 'f1:q1', 'value'" => put;

    method "scan" 1 2, "\
Reads rows in the order of their keys. Options: STARTROW, STOPROW, ROWPREFIXFILTER, LIMIT, COLUMNS,
VERSIONS, TIMESTAMP, TIMERANGE, FILTER, REVERSED, RAW, BATCH, CACHE, MAX_RESULT_SIZE,
ALLOW_PARTIAL_RESULTS, MAXLENGTH and FORMATTER. ALL_METRICS and METRICS print what the scan did.

  hbase> scan 't1'
  hbase> scan 't1', {COLUMNS => ['f1:q1', 'f2'], LIMIT => 10, STARTROW => 'xyz'}
  hbase> scan 't1', {ROWPREFIXFILTER => 'user1', REVERSED => false}
  hbase> scan 't1', {TIMERANGE => [1303668804000, 1303668904000], VERSIONS => 5}
  hbase> scan 't1', {REVERSED => true, LIMIT => 1}
  hbase> scan 't1', {FILTER => \"PrefixFilter('a') AND QualifierFilter(=, 'binary:x')\"}
  hbase> scan 't1', {RAW => true, VERSIONS => 10}
  hbase> scan 't1', {COLUMNS => 'f1:counter:toLong'}
  hbase> scan 't1', {METRICS => ['ROWS_SCANNED', 'ROWS_FILTERED']}
  hbase> scan 'hbase:meta', {COLUMNS => 'info:regioninfo'}
  hbase> t.scan LIMIT => 5

The first argument must be the table. Ruby reads a brace directly after 'scan' as the beginning of a
block. show_filters lists the filters. RAW also shows delete markers." => rows::scan;

    "truncate" 1 1, "\
Deletes all rows of a table, which then has one region.

  hbase> truncate 't1'"
        => |context, arguments| schema::truncate(context, &arguments, SplitPoints::Discard);

    "truncate_preserve" 1 1, "\
Deletes all rows of a table and keeps its regions.

  hbase> truncate_preserve 't1'"
        => |context, arguments| schema::truncate(context, &arguments, SplitPoints::Preserve);
}

/// What the writes have in common.
pub(super) trait Write: Sized {
    fn with_attribute(self, name: &str, value: Vec<u8>) -> Self;
    fn with_cell_visibility(self, expression: &str) -> Self;

    /// Adds what `ATTRIBUTES` and `VISIBILITY` say. A store, like an HBase without visibility
    /// labels, has no use for either.
    fn with_options(mut self, options: &Hash) -> Result<Self, Failure> {
        match options.truthy("ATTRIBUTES") {
            None => {}
            Some(Value::Hash(attributes)) => {
                for (name, value) in attributes.iter() {
                    self = self.with_attribute(&name.to_text(), value.to_bytes());
                }
            }
            Some(_) => return Err(Failure::refused("Attributes must be a Hash type")),
        }
        Ok(match options.truthy("VISIBILITY") {
            Some(expression) => self.with_cell_visibility(&expression.to_text()),
            None => self,
        })
    }
}

macro_rules! write {
    ($($write:ident)*) => {
        $(impl Write for $write {
            fn with_attribute(self, name: &str, value: Vec<u8>) -> Self {
                $write::with_attribute(self, name, value)
            }

            fn with_cell_visibility(self, expression: &str) -> Self {
                $write::with_cell_visibility(self, expression)
            }
        })*
    };
}

write!(Append Increment Put);

fn time_to_live(options: &Hash) -> Result<Option<i64>, Failure> {
    options.truthy("TTL").map(|millis| integer(millis, "TTL")).transpose()
}

/// A timestamp and a hash of options, either of which may be left out.
fn timestamp_and_options(arguments: &Arguments, at: usize) -> Result<(Option<i64>, Hash), Failure> {
    let (timestamp, options) = match arguments.get(at) {
        Some(Value::Hash(options)) => (None, options.clone()),
        Some(timestamp) => {
            (Some(integer(timestamp, "a timestamp")?), arguments.hash(at + 1, "the last argument")?)
        }
        None => (None, arguments.hash(at + 1, "the last argument")?),
    };
    Ok((timestamp, options))
}

fn column(arguments: &Arguments, at: usize) -> Result<Column, Failure> {
    Column::parse(arguments.get(at).unwrap_or(&Value::Nil))
}

fn put(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = table(context, &arguments)?;
    let column = column(&arguments, 2)?;
    let (timestamp, options) = timestamp_and_options(&arguments, 4)?;
    let value = arguments.bytes(3);
    let timestamp = timestamp.unwrap_or(LATEST_TIMESTAMP);
    let mut put = Put::new(arguments.bytes(1)).add_at(
        &column.family,
        column.qualifier_or_empty(),
        timestamp,
        value,
    );
    if let Some(millis) = time_to_live(&options)? {
        put = put.with_time_to_live_ms(millis);
    }
    table.put(&put.with_options(&options)?)?;
    Ok(Value::Nil)
}

fn increment(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = table(context, &arguments)?;
    let column = column(&arguments, 2)?;
    let (amount, options) = match arguments.get(3) {
        None => (1, arguments.hash(4, "the last argument")?),
        Some(Value::Hash(options)) => (1, options.clone()),
        Some(amount) => (whole(amount)?, arguments.hash(4, "the last argument")?),
    };
    let mut increment =
        Increment::new(arguments.bytes(1)).add(&column.family, column.qualifier_or_empty(), amount);
    if let Some(millis) = time_to_live(&options)? {
        increment = increment.with_time_to_live_ms(millis);
    }
    let result = table.increment(&increment.with_options(&options)?)?;
    print_counter(context, result.cells().next().map(|cell| cell.value()))
}

/// The amount of an increment: a number without its fraction, and no text.
fn whole(amount: &Value) -> Result<i64, Failure> {
    match amount {
        Value::Integer(number) => Ok(*number),
        #[expect(clippy::cast_possible_truncation, reason = "as Java reads a fraction")]
        Value::Float(number) => Ok(*number as i64),
        other => Err(not_of(other, "Integer")),
    }
}

fn get_counter(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = table(context, &arguments)?;
    let column = column(&arguments, 2)?;
    let get = Get::new(arguments.bytes(1)).with_column(&column.family, column.qualifier_or_empty());
    let result = table.get(&get)?;
    print_counter(context, result.cells().next().map(|cell| cell.value()))
}

fn print_counter(context: &mut Context<'_>, value: Option<&[u8]>) -> CommandResult {
    match value {
        Some(value) => {
            let value = counter(value)?;
            match context.out.format() {
                Format::Json => {
                    context.out.object(Object::new("counter").with("value", value.to_json()))?;
                }
                _ => context.out.line(&format!("COUNTER VALUE = {}", value.inspect()))?,
            }
        }
        None => context.out.line("No counter found at specified coordinates")?,
    }
    Ok(Value::Nil)
}

fn append(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = table(context, &arguments)?;
    let column = column(&arguments, 2)?;
    let options = arguments.hash(4, "the last argument")?;
    let mut append = Append::new(arguments.bytes(1)).add(
        &column.family,
        column.qualifier_or_empty(),
        arguments.bytes(3),
    );
    if let Some(millis) = time_to_live(&options)? {
        append = append.with_time_to_live_ms(millis);
    }
    let result = table.append(&append.with_options(&options)?)?;
    if let Some(cell) = result.cells().next() {
        let value = bytes::to_string_binary(cell.value());
        context.out.line(&format!("CURRENT VALUE = {value}"))?;
    }
    Ok(Value::Nil)
}

/// Which versions of a column or family to delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Versions {
    One,
    All,
}

fn delete(context: &mut Context<'_>, arguments: &Arguments, versions: Versions) -> CommandResult {
    let table = table(context, arguments)?;
    let column = match arguments.get(2) {
        Some(spec) if !spec.to_bytes().is_empty() => Some(Column::parse(spec)?),
        _ => None,
    };
    let (timestamp, options) = timestamp_and_options(arguments, 3)?;
    let timestamp = timestamp.unwrap_or(LATEST_TIMESTAMP);
    let delete = |row: &[u8]| {
        let delete = delete_of(row, column.as_ref(), timestamp, versions);
        match options.truthy("VISIBILITY") {
            Some(expression) => delete.with_cell_visibility(&expression.to_text()),
            None => delete,
        }
    };
    match arguments.get(1) {
        Some(Value::Hash(rows)) => delete_prefix(context, &table, rows, delete)?,
        _ => table.delete(&delete(&arguments.bytes(1)))?,
    }
    Ok(Value::Nil)
}

fn delete_of(row: &[u8], column: Option<&Column>, timestamp: i64, versions: Versions) -> Delete {
    let delete = Delete::new(row).with_timestamp(timestamp);
    let Some(Column { family, qualifier, .. }) = column else {
        return delete;
    };
    match (qualifier, versions) {
        (Some(qualifier), Versions::One) => delete.column(family, qualifier),
        (Some(qualifier), Versions::All) => delete.columns(family, qualifier),
        (None, Versions::One) => delete.family_version(family, timestamp),
        (None, Versions::All) => delete.family(family),
    }
}

fn delete_prefix(
    context: &mut Context<'_>,
    table: &Table,
    options: &Hash,
    delete: impl Fn(&[u8]) -> Delete,
) -> Result<(), Failure> {
    let Some(prefix) = options.truthy("ROWPREFIXFILTER") else {
        return Err(Failure::refused("deleteall takes a row or {ROWPREFIXFILTER => 'prefix'}"));
    };
    let batch = options.truthy("CACHE").map_or(Ok(100), |rows| integer(rows, "CACHE"))?;
    let batch = usize::try_from(batch).unwrap_or(1).clamp(1, 10_000);
    let scan = Scan::new().with_prefix(prefix.to_bytes()).with_filter(Filter::first_key_only());
    let mut scanner = table.scan(&scan)?;
    let mut deletes = Vec::with_capacity(batch);
    context.for_each_row(&mut scanner, |_, row, _| {
        deletes.push(delete(row.row()));
        if deletes.len() == batch {
            table.delete_all(&deletes)?;
            deletes.clear();
        }
        Ok(())
    })?;
    Ok(table.delete_all(&deletes)?)
}

fn get_splits(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = table(context, &arguments)?;
    // A table that does not exist has no splits.
    let regions = match regions_of(context, table.name()) {
        Err(Failure::Store(error)) if error.exception() == Exception::TableNotFound => Vec::new(),
        regions => regions?,
    };
    let splits: Vec<String> = regions
        .iter()
        .map(|region| bytes::to_string_binary(region.start_key()))
        .filter(|key| !key.is_empty())
        .collect();
    context.out.line(&format!("Total number of splits = {}", splits.len() + 1))?;
    // Ruby prints an empty list as an empty line.
    context.out.line(&splits.join("\n"))?;
    Ok(Value::Array(splits.into_iter().map(Value::from).collect()))
}
